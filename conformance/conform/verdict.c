/* A CUnit test for each clause and each declared capability, told as TAP. */
#include "conformance/conform/conform.h"

#include <stdio.h>

#include <CUnit/CUnit.h>

#include "conformance/suites/refusal.h"
#include "sdk/base/clock.h"
#include "sdk/base/string.h"

/* CUnit's functions take no argument. */
static struct conform *running;
static struct conform_item *running_item;
static uint64_t running_bit;

const char *
conform_result_name (enum conform_result result)
{
  static const char *const names[] = { "passed", "failed", "skipped", "not applicable" };

  return names[result];
}

/* ---- the tests ---- */

/* TEXT is "FILE:LINE: what". */
static void
take_failure (const char *text)
{
  const char *colon = strchr (text, ':');
  unsigned int line = 0;

  if (colon != NULL)
    {
      char *end;

      line = (unsigned int) strtoul (colon + 1, &end, 10);
      colon = end + strspn (end, ": ");
    }
  CU_assertImplementation (CU_FALSE, line, colon != NULL ? colon : text, "", "", CU_FALSE);
}

static void
test_clause (void)
{
  const char *line = NULL;

  conform_await (running, running_item);
  while ((line = conform_line (running_item, 'F', line)) != NULL)
    take_failure (line + 1);
  CU_PASS ("its end was reached");
}

static bool
was_left_out (const struct conform *run, const struct suite_clause *clause)
{
  for (size_t i = 0; i < run->count; i++)
    if (run->items[i].clause == clause)
      return false;
  return true;
}

static void
show_item (const struct conform_item *item, struct conform_shown *shown)
{
  berth_buffer_appendf (&shown->by, "%s%s", shown->by.size > 0 ? " " : "", item->clause->id);
  if (item->result == CONFORM_PASSED)
    shown->passed = true;
  /* What this machine cannot show, or a backend that executes nothing, is not the declaration's fault. */
  if (item->result == CONFORM_SKIPPED || item->why_not != NULL)
    shown->judged = false;
}

void
conform_shown (const struct conform *run, uint64_t bit, struct conform_shown *shown)
{
  *shown = (struct conform_shown) { .judged = true };
  for (const struct suite *const *suite = conform_suites; *suite != NULL; suite++)
    for (const struct suite_clause *clause = (*suite)->clauses; clause->id != NULL; clause++)
      if (((clause->needs | clause->shows) & bit) != 0 && was_left_out (run, clause))
        shown->judged = false;
  for (size_t i = 0; i < run->count; i++)
    if (((run->items[i].clause->needs | run->items[i].clause->shows) & bit) != 0 && run->items[i].missing == 0)
      show_item (&run->items[i], shown);
}

static void
test_capability (void)
{
  struct conform_shown shown;

  conform_shown (running, running_bit, &shown);
  if (!shown.passed && shown.judged)
    CU_FAIL ("it is declared, and no clause about it passed");
  CU_PASS ("its end was reached");
  berth_buffer_free (&shown.by);
}

/* ---- TAP ---- */

static void
print_notes (const struct conform_item *item)
{
  const char *line = NULL;

  while ((line = conform_line (item, 'F', line)) != NULL)
    printf ("#     %s\n", line + 1);
  while ((line = conform_line (item, 'W', line)) != NULL)
    printf ("#     warning: %s\n", line + 1 + strspn (line + 1, ":0 "));
}

static void
print_item (const struct conform_item *item, unsigned int number)
{
  printf ("%s %u - %s", item->result == CONFORM_FAILED ? "not ok" : "ok", number, item->name);
  if (item->result == CONFORM_SKIPPED)
    printf (" # SKIP %s\n", item->reason);
  else if (item->result == CONFORM_NOT_APPLICABLE)
    printf (" # SKIP not applicable: %s\n", item->reason);
  else
    printf (" # time=%lldms\n", (long long) item->duration_ms);
  print_notes (item);
  fflush (stdout);
}

static bool
run_test (CU_pSuite suite, const char *name, void (*function) (void))
{
  CU_pTest test = CU_add_test (suite, name, function);

  return test != NULL && CU_run_test (suite, test) == CUE_SUCCESS && CU_get_number_of_failures () == 0;
}

static void
run_item (struct conform *run, CU_pSuite suite, struct conform_item *item, unsigned int number)
{
  running_item = item;
  if (!run_test (suite, item->name, test_clause))
    item->result = CONFORM_FAILED;
  else if (!item->done)
    return;
  run->results[item->result]++;
  print_item (item, number);
}

/* One line for what the plugin declares and this instance has. */
static void
run_capability (struct conform *run, CU_pSuite suite, uint64_t bit, unsigned int number)
{
  struct conform_shown shown;
  BERTH_AUTO_FREE char *name = berth_string_format ("capability %s is shown", berth_capability_name (bit));
  bool passed;

  running_bit = bit;
  conform_shown (run, bit, &shown);
  passed = name != NULL && run_test (suite, name, test_capability);
  printf ("%s %u - capability %s", passed ? "ok" : "not ok", number, berth_capability_name (bit));
  if (passed && !shown.passed)
    printf (" # SKIP not applicable: nothing of it can be run here\n");
  else
    printf (" is shown by %s\n", shown.by.size > 0 ? berth_buffer_string (&shown.by) : "no clause");
  if (!passed)
    puts ("#     it is declared, and no clause about it passed");
  run->unshown += !passed;
  run->results[passed ? shown.passed ? CONFORM_PASSED : CONFORM_NOT_APPLICABLE : CONFORM_FAILED]++;
  berth_buffer_free (&shown.by);
}

/* Capabilities are judged when everything was to run. */
static uint64_t
judged_capabilities (const struct conform *run)
{
  return run->name_count == 0 && run->backend.opens ? run->backend.capabilities & ~berth_capabilities_given () : 0;
}

static unsigned int
count_bits (uint64_t bits)
{
  return (unsigned int) __builtin_popcountll (bits);
}

/* ---- the summary ---- */

static void
print_summary (const struct conform *run)
{
  uint64_t judged = judged_capabilities (run);
  char declared[1000];

  suite_capability_names (run->backend.declared, declared, sizeof declared);
  printf ("# backend: %s\n", run->backend.opens ? run->backend.text : "the host does not open it");
  printf ("# declared: %s\n", declared[0] != '\0' ? declared : "no capability");
  if (run->backend.declared != run->backend.capabilities)
    {
      suite_capability_names (run->backend.declared & ~run->backend.capabilities, declared, sizeof declared);
      printf ("# sandboxes here do not have: %s\n", declared);
    }
  if (judged != 0)
    printf ("# capabilities: %u declared, %u not shown\n", count_bits (judged), run->unshown);
  printf ("# clauses and capabilities: %u covered, %u not applicable, %u failed, %u skipped; %lld.%lld s\n",
          run->results[CONFORM_PASSED], run->results[CONFORM_NOT_APPLICABLE], run->results[CONFORM_FAILED],
          run->results[CONFORM_SKIPPED], (long long) run->duration_ms / 1000, (long long) run->duration_ms / 100 % 10);
  printf ("%u passed, %u failed, %u skipped\n", run->results[CONFORM_PASSED], run->results[CONFORM_FAILED],
          run->results[CONFORM_SKIPPED]);
}

static int
exit_status (const struct conform *run)
{
  if (child_interrupted () != 0)
    return 128 + child_interrupted ();
  if (run->results[CONFORM_FAILED] > 0)
    return 1;
  return run->results[CONFORM_PASSED] == 0 || run->backend.unreachable[0] != '\0' ? 77 : 0;
}

static void
run_all (struct conform *run, CU_pSuite suite)
{
  uint64_t judged = judged_capabilities (run);
  unsigned int number = 0;

  printf ("TAP version 13\n1..%zu\n", run->count + count_bits (judged));
  fflush (stdout);
  if (run->stress_ms > 0)
    conform_stress (run);
  for (size_t i = 0; i < run->count; i++)
    run_item (run, suite, &run->items[i], ++number);
  for (unsigned int bit = 0; bit < 64 && child_interrupted () == 0; bit++)
    if ((judged & BERTH_CAP (bit)) != 0)
      run_capability (run, suite, BERTH_CAP (bit), ++number);
  if (child_interrupted () != 0)
    printf ("Bail out! interrupted by signal %d\n", child_interrupted ());
}

int
conform_run (struct conform *run)
{
  int64_t started_ms = berth_clock_monotonic_ms ();
  CU_pSuite suite;

  if (CU_initialize_registry () != CUE_SUCCESS || (suite = CU_add_suite (run->setup.plugin, NULL, NULL)) == NULL)
    {
      fprintf (stderr, "berth-conform: %s\n", CU_get_error_msg ());
      return 1;
    }
  running = run;
  run_all (run, suite);
  run->duration_ms = berth_clock_monotonic_ms () - started_ms;
  print_summary (run);
  CU_cleanup_registry ();
  return exit_status (run);
}

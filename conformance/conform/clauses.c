/* Which clauses there are, and which of them are chosen. */
#include "conformance/conform/conform.h"

#include <stdio.h>

#include "conformance/suites/refusal.h"
#include "conformance/suites/role.h"
#include "sdk/base/string.h"

#define CLAUSE_SECONDS 30

const struct suite *const conform_suites[]
    = { &suite_structure, &suite_lifecycle, &suite_commands, &suite_files, &suite_workspace, &suite_processes,
        &suite_network, &suite_isolation, &suite_escape, NULL };

/* ---- what the backend says of itself ---- */

/* What sandboxes have here; of all that is declared where nothing can be asked. */
static uint64_t
sandbox_capabilities (struct suite_context *suite)
{
  struct berth_effective effective = { 0 };
  struct suite_box *box = suite_box_new (suite);
  struct suite_plan plan;

  suite_plan_init (&plan, box);
  if (suite_box_validate (box, &plan.spec, &effective) != 0)
    return suite->backend->capabilities;
  return suite->backend->capabilities & (effective.capabilities | berth_capabilities_given ());
}

static void
describe (struct suite_context *suite, const struct child_job *job)
{
  struct berth_error error;
  const struct berth_backend *backend;
  unsigned int facts = 0;
  uint32_t code;

  (void) job;
  if (!suite_open (suite))
    return;
  backend = suite->backend;
  code = suite_ping (suite, &facts, &error);
  dprintf (suite->report, "D%llx %llx %llx %.60s %.60s: %.200s\n", (unsigned long long) backend->capabilities,
           (unsigned long long) sandbox_capabilities (suite), (unsigned long long) backend->flags,
           backend->name, backend->version, backend->summary);
  if (code != 0)
    dprintf (suite->report, "U%s: %.300s (%.100s)\n", suite_code_name (code), error.message, error.hint);
  suite_close (suite);
}

static void
take_answer (struct conform_backend *backend, const char *line)
{
  unsigned long long declared, capabilities, flags;
  int text = 0;

  if (line[0] == 'U')
    snprintf (backend->unreachable, sizeof backend->unreachable, "%s", line + 1);
  if (sscanf (line, "D%llx %llx %llx %n", &declared, &capabilities, &flags, &text) < 3 || text == 0)
    return;
  backend->opens = true;
  backend->declared = declared;
  backend->capabilities = capabilities;
  backend->flags = flags;
  snprintf (backend->text, sizeof backend->text, "%s", line + text);
}

void
conform_ask_backend (struct conform *run)
{
  BERTH_AUTO_BUFFER struct berth_buffer report = { 0 };
  char *next;

  child_perform (&run->setup, &(struct child_job) { .run = describe, .seconds = CLAUSE_SECONDS }, &report);
  next = berth_buffer_append_byte (&report, '\0') == 0 ? report.data : NULL;
  for (char *line; (line = strsep (&next, "\n")) != NULL;)
    take_answer (&run->backend, line);
}

/* ---- which clauses ---- */

static void
open_nothing (struct suite_context *suite)
{
  SUITE_CHECK (suite, suite->state != NULL, "no state");
}

static const struct suite_clause opening
    = { .id = "open", .title = "the host opens an instance of it", .run = open_nothing };

static bool
is_named (const struct conform *run, const char *name)
{
  for (size_t i = 0; i < run->name_count; i++)
    if (strcmp (run->names[i], name) == 0)
      return true;
  return false;
}

static bool
is_known (const char *name)
{
  if (strcmp (name, opening.id) == 0)
    return true;
  for (const struct suite *const *suite = conform_suites; *suite != NULL; suite++)
    {
      if (strcmp (name, (*suite)->name) == 0)
        return true;
      for (const struct suite_clause *clause = (*suite)->clauses; clause->id != NULL; clause++)
        if (strcmp (name, clause->id) == 0)
          return true;
    }
  return false;
}

static bool
is_wanted (const struct conform *run, const char *suite, const struct suite_clause *clause)
{
  if (is_named (run, clause->id))
    return true;
  return (run->name_count == 0 || is_named (run, suite)) && (clause->flags & run->left_out) == 0;
}

/* The caller frees it; NULL: it is run. */
static char *
reason_not_to_run (const struct conform *run, const struct suite_clause *clause, enum conform_result *result)
{
  *result = CONFORM_NOT_APPLICABLE;
  if ((clause->flags & SUITE_PROGRAM) != 0 && (run->backend.flags & BERTH_BACKEND_EXECUTES_NOTHING) != 0)
    return strdup ("it executes nothing");
  *result = CONFORM_SKIPPED;
  if ((clause->flags & SUITE_ROOT) != 0 && geteuid () != 0)
    return strdup ("needs root");
  if (run->backend.unreachable[0] != '\0' && (clause->flags & SUITE_NO_INSTANCE) == 0 && clause != &opening)
    return berth_string_format ("the runtime cannot be reached: %s", run->backend.unreachable);
  *result = CONFORM_PASSED;
  return NULL;
}

static bool
choose (struct conform *run, const char *suite, const struct suite_clause *clause)
{
  struct conform_item *item = &run->items[run->count];
  char missing[200];

  if (!run->backend.opens && (clause->flags & SUITE_NO_INSTANCE) == 0 && clause != &opening)
    return true;
  *item = (struct conform_item) { .suite = suite, .clause = clause };
  item->missing = clause->needs & ~run->backend.capabilities;
  suite_capability_names (item->missing, missing, sizeof missing);
  item->name = item->missing != 0 ? berth_string_format ("%s refusal: no %s here", clause->id, missing)
                                  : berth_string_format ("%s %s", clause->id, clause->title);
  item->why_not = reason_not_to_run (run, clause, &item->result);
  item->reason = item->why_not;
  item->done = item->why_not != NULL;
  run->count++;
  return item->name != NULL;
}

/* Those that run beside others, or those that do not. */
static bool
choose_some (struct conform *run, uint32_t alone)
{
  bool ok = true;

  for (const struct suite *const *suite = conform_suites; *suite != NULL; suite++)
    for (const struct suite_clause *clause = (*suite)->clauses; clause->id != NULL; clause++)
      if ((clause->flags & SUITE_ALONE) == alone && is_wanted (run, (*suite)->name, clause))
        ok = choose (run, (*suite)->name, clause) && ok;
  return ok;
}

static int
compare_starts (const void *left, const void *right)
{
  const struct conform_item *const *a = left, *const *b = right;
  bool alone = ((*a)->clause->flags & SUITE_ALONE) != 0;

  if (alone != (((*b)->clause->flags & SUITE_ALONE) != 0))
    return alone ? 1 : -1;
  if ((*a)->clause->seconds != (*b)->clause->seconds)
    return (*a)->clause->seconds > (*b)->clause->seconds ? -1 : 1;
  return *a < *b ? -1 : 1;
}

static bool
find_order (struct conform *run)
{
  run->order = calloc (run->count + 1, sizeof (struct conform_item *));
  if (run->order == NULL)
    return false;
  for (size_t i = 0; i < run->count; i++)
    run->order[i] = &run->items[i];
  qsort (run->order, run->count, sizeof (struct conform_item *), compare_starts);
  return true;
}

bool
conform_choose (struct conform *run)
{
  size_t most = 1;

  for (size_t i = 0; i < run->name_count; i++)
    if (!is_known (run->names[i]))
      {
        fprintf (stderr, "berth-conform: there is no suite and no clause \"%s\"; --list tells all\n", run->names[i]);
        return false;
      }
  for (const struct suite *const *suite = conform_suites; *suite != NULL; suite++)
    for (const struct suite_clause *clause = (*suite)->clauses; clause->id != NULL; clause++)
      most++;
  run->items = calloc (most, sizeof *run->items);
  if (run->items == NULL)
    return false;
  if ((!run->backend.opens || is_wanted (run, "", &opening)) && !choose (run, "structure", &opening))
    return false;
  return choose_some (run, 0) && choose_some (run, SUITE_ALONE) && find_order (run);
}

void
conform_list (void)
{
  for (const struct suite *const *suite = conform_suites; *suite != NULL; suite++)
    for (const struct suite_clause *clause = (*suite)->clauses; clause->id != NULL; clause++)
      printf ("%s %s %s\n", clause->id, (*suite)->name, clause->title);
}

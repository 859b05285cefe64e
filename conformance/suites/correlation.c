/* L20: a create whose answer was lost is found again. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "conformance/suites/lifecycle.h"
#include "conformance/suites/role.h"
#include "sdk/base/string.h"

/* Makes a sandbox with the assignment id that it was given, and dies without a word of it. */
void
suite_role_lose_answer (struct suite_context *suite, int count, char **arguments)
{
  struct suite_box *box = suite_box_new (suite);
  struct suite_plan plan;

  suite_plan_init (&plan, box);
  if (count > 0)
    plan.spec.assignment_id = arguments[0];
  if (suite_box_create (box, &plan.spec) == 0)
    kill (getpid (), SIGKILL);
}

struct found
{
  const char *assignment_id;
  struct suite_box *box; /* gets the id */
  unsigned int count;
  unsigned int wrong; /* of another assignment */
};

static int
take_found (void *context, const struct berth_found *told)
{
  struct found *found = context;

  bool right = (told->has & BERTH_FOUND_LABELS) != 0 && berth_string_equal (told->assignment_id, found->assignment_id);

  found->count++;
  found->wrong += !right;
  /* also of a backend that finds too much: the one that is meant is to be destroyed in the end */
  if ((right || found->box->native_id[0] == '\0') && strlen (told->native_id) < sizeof found->box->native_id)
    strcpy (found->box->native_id, told->native_id);
  return 0;
}

static void
check_find (struct suite_context *suite, const char *assignment_id, struct suite_box *box, unsigned int want)
{
  struct found found = { .assignment_id = assignment_id, .box = box };
  struct berth_found_sink sink = { .struct_size = sizeof sink, .context = &found, .found = take_found };
  struct suite_call call;
  struct berth_call *made = suite_call_begin (&call, suite, NULL, NULL, 0);

  SUITE_CHECK_CODE (suite, "find_by_assignment",
                    suite_call_end (&call, suite->backend->correlation->find_by_assignment (made, suite->state,
                                                                                            assignment_id, &sink),
                                    &box->error),
                    0);
  SUITE_CHECK (suite, found.count == want && found.wrong == 0,
               "assignment %s: %u found, %u of them with other labels; want %u", assignment_id, found.count,
               found.wrong, want);
}

void
suite_l20 (struct suite_context *suite)
{
  BERTH_AUTO_BUFFER struct berth_buffer printed = { 0 };
  struct suite_box *lost = suite_box_new (suite), *other = suite_box_make (suite), *nobody = suite_box_new (suite);
  const char *const arguments[] = { lost->assignment_id, NULL };
  uint32_t verdict = 0;

  SUITE_CHECK (suite, suite_role_run (suite, "lose-answer", arguments, &printed) == 128 + SIGKILL,
               "the maker did not die after create");
  check_find (suite, lost->assignment_id, lost, 1);
  lost->made = lost->native_id[0] != '\0';
  SUITE_REQUIRE (suite, lost->made && strcmp (lost->native_id, other->native_id) != 0, "it is not found");
  SUITE_CHECK (suite, suite_box_is_running (lost) == 1, "what was found does not run");
  SUITE_CHECK_CODE (suite, "connect", suite_box_connect (lost, NULL, &lost->handle), 0);
  check_find (suite, nobody->assignment_id, nobody, 0);
  SUITE_CHECK_CODE (suite, "destroy", suite_box_destroy (lost, false, &verdict), 0);
  check_find (suite, lost->assignment_id, lost, 0);
  check_find (suite, other->assignment_id, other, 1);
}

/* L07, L12, L26, L27: sandboxes outlive handles and processes, and are found again. */
#include <signal.h>
#include <stdio.h>

#include "conformance/suites/content.h"
#include "conformance/suites/leftovers.h"
#include "conformance/suites/lifecycle.h"
#include "conformance/suites/role.h"

void
suite_role_create (struct suite_context *suite, int count, char **arguments)
{
  struct suite_box *box = suite_box_make (suite);
  BERTH_AUTO_FREE char *saved = suite_box_save (box);

  SUITE_CHECK_CODE (suite, "write", suite_write_text (box, SUITE_WORKSPACE "/mark", "made elsewhere"), 0);
  printf ("%s", saved);
  fflush (stdout);
  if (count > 0 && strcmp (arguments[0], "killed") == 0)
    kill (getpid (), SIGKILL);
  suite_box_release (box, box->handle);
}

/* Prints what /workspace/mark holds. */
void
suite_role_connect (struct suite_context *suite, int count, char **arguments)
{
  BERTH_AUTO_BUFFER struct berth_buffer bytes = { 0 };
  struct suite_box *box;

  if (count < 1)
    return;
  box = suite_box_load (suite, arguments[0]);
  SUITE_CHECK_CODE (suite, "connect", suite_box_connect (box, NULL, &box->handle), 0);
  if (box->handle == NULL)
    return;
  SUITE_CHECK_CODE (suite, "read", suite_read (box, SUITE_WORKSPACE "/mark", &bytes), 0);
  printf ("%s", berth_buffer_string (&bytes));
  suite_box_release (box, box->handle);
}

static void
print_and_die (struct suite_box *box)
{
  BERTH_AUTO_FREE char *saved = suite_box_save (box);

  printf ("%s", saved);
  fflush (stdout);
  kill (getpid (), SIGKILL);
}

/* Dies with the id on its disk and nothing else known. */
void
suite_role_die_in_create (struct suite_context *suite, int count, char **arguments)
{
  struct suite_box *box = suite_box_new (suite);
  struct suite_plan plan;

  (void) count;
  (void) arguments;
  suite_plan_init (&plan, box);
  box->on_created = print_and_die;
  suite_box_create (box, &plan.spec);
}

static int64_t
remaining (struct suite_box *box)
{
  struct suite_context *suite = box->suite;
  struct berth_native native = suite_box_native (box);
  struct berth_expiry expiry = { 0 };
  struct suite_call call;
  struct berth_call *made = suite_call_begin (&call, suite, native.id, NULL, 0);
  uint32_t code = suite_call_end (&call, suite->backend->expiry->expires_at (made, suite->state, &native, &expiry),
                                  &box->error);

  SUITE_CHECK (suite, code == 0, "expires_at: %s: %s", suite_code_name (code), box->error.message);
  return expiry.kind == BERTH_EXPIRES_AT ? expiry.remaining_ms : INT64_MAX;
}

void
suite_l07 (struct suite_context *suite)
{
  bool expiry = (berth_instance_capabilities (suite->instance) & BERTH_CAP_EXPIRY) != 0;
  BERTH_AUTO_BUFFER struct berth_buffer printed = { 0 };
  struct suite_box *box = suite_box_make (suite);
  BERTH_AUTO_FREE char *saved = suite_box_save (box);
  const char *const arguments[] = { saved, NULL };
  int64_t before = expiry ? remaining (box) : 0;

  SUITE_CHECK_CODE (suite, "write", suite_write_text (box, SUITE_WORKSPACE "/mark", "the same one"), 0);
  SUITE_CHECK (suite, suite_role_run (suite, "connect", arguments, &printed) == 0, "the other process failed");
  SUITE_CHECK (suite, strcmp (berth_buffer_string (&printed), "the same one") == 0, "the other process read \"%s\"",
               berth_buffer_string (&printed));
  if (expiry)
    SUITE_CHECK (suite, before == INT64_MAX ? remaining (box) == INT64_MAX : remaining (box) <= before,
                 "connect moved the end");
}

void
suite_l07_unknown (struct suite_context *suite)
{
  static const char *const ids[] = { SUITE_IMPOSSIBLE_IDS };

  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
    {
      struct suite_box *box = suite_box_named (suite, ids[i]);

      SUITE_CHECK_CODE (suite, ids[i], suite_box_connect (box, NULL, &box->handle), BERTH_E_SANDBOX_NOT_FOUND);
      SUITE_CHECK (suite, box->handle == NULL || suite_count (suite, NULL) == 0, "a handle on nothing");
    }
  SUITE_CHECK (suite, suite_count (suite, NULL) == 0, "connect to an unknown id made something");
}

static void
check_survivor (struct suite_context *suite, const char *how, int status)
{
  BERTH_AUTO_BUFFER struct berth_buffer printed = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer bytes = { 0 };
  const char *const arguments[] = { how, NULL };
  struct suite_box *box = suite_box_new (suite);

  SUITE_CHECK (suite, suite_role_run (suite, "create", arguments, &printed) == status, "the maker did not end as told");
  suite_box_take (box, berth_buffer_string (&printed));
  SUITE_CHECK (suite, suite_box_is_running (box) == 1, "maker %s: is_running does not say 1", how);
  SUITE_REQUIRE (suite, suite_box_connect (box, NULL, &box->handle) == 0, "maker %s: connect: %s", how,
                 box->error.message);
  SUITE_CHECK_CODE (suite, how, suite_read (box, SUITE_WORKSPACE "/mark", &bytes), 0);
  SUITE_CHECK (suite, strcmp (berth_buffer_string (&bytes), "made elsewhere") == 0, "maker %s: its file is lost", how);
}

void
suite_l12 (struct suite_context *suite)
{
  check_survivor (suite, "ended", 0);
  check_survivor (suite, "killed", 128 + SIGKILL);
}

void
suite_l26 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);

  for (int round = 0; round < 2; round++)
    {
      suite_box_release (box, box->handle);
      box->handle = NULL;
      SUITE_CHECK (suite, suite_box_is_running (box) == 1, "not running after release %d", round + 1);
      SUITE_REQUIRE (suite, suite_box_connect (box, NULL, &box->handle) == 0, "connect after release %d: %s", round + 1,
                     box->error.message);
      SUITE_CHECK_CODE (suite, "write after release", suite_write_text (box, SUITE_WORKSPACE "/a", "x"), 0);
    }
}

void
suite_l27 (struct suite_context *suite)
{
  BERTH_AUTO_BUFFER struct berth_buffer printed = { 0 };
  const char *const arguments[] = { NULL };
  struct suite_box *box = suite_box_new (suite);
  uint32_t verdict = 0;

  SUITE_CHECK (suite, suite_role_run (suite, "die-in-create", arguments, &printed) == 128 + SIGKILL,
               "the maker did not die in `created`");
  suite_box_take (box, berth_buffer_string (&printed));
  SUITE_CHECK (suite, suite_count (suite, NULL) <= 1, "more than the half-made one is listed");
  SUITE_CHECK_CODE (suite, "destroy", suite_box_destroy (box, false, &verdict), 0);
  SUITE_CHECK (suite, verdict == BERTH_GONE, "destroy of the half-made one: verdict %u", verdict);
  suite_check_gone (suite, suite->tag, 1000, "a create that was killed");
}

/* Pausing, resuming, stopping and starting. */
#include <string.h>

#include "core/manager/tests/place.h"

#define BOX                                                                                                            \
  PLACE place;                                                                                                         \
  place_make (&place, "fake");                                                                                         \
  place_open (&place);                                                                                                 \
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;                                                             \
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, NULL, &sandbox, NULL), 0)

static void
note_state (void *context, const struct berth_sandbox_info *info)
{
  snprintf (context, 16, "%s", info->state);
}

static bool
state_is (struct berth_sandbox *sandbox, const char *wanted)
{
  char state[16] = "";

  berth_sandbox_inspect (sandbox, note_state, state, NULL);
  return strcmp (state, wanted) == 0;
}

static void
test_pause (void)
{
  BOX;
  struct berth_sandbox *other = NULL;
  struct berth_error error = { 0 };

  CU_ASSERT_EQUAL (berth_sandbox_pause (sandbox, NULL, NULL), 0);
  CU_ASSERT_EQUAL (berth_sandbox_pause (sandbox, NULL, NULL), 0);
  CU_ASSERT_TRUE (state_is (sandbox, "paused"));
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_open (place.host, berth_sandbox_id (sandbox), &other, NULL), 0);
  CU_ASSERT_EQUAL (place_run (other, "exit 5", &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_WRONG_STATE, "is paused"));
  CU_ASSERT_PTR_NOT_NULL (strstr (error.hint, "berth resume"));
  CU_ASSERT_EQUAL (berth_sandbox_start (other, NULL, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_WRONG_STATE, "cannot be started"));
  CU_ASSERT_EQUAL (berth_sandbox_resume (sandbox, NULL, NULL), 0);
  CU_ASSERT_EQUAL (berth_sandbox_resume (sandbox, NULL, NULL), 0);
  CU_ASSERT_TRUE (state_is (sandbox, "running"));
  /* both a handle that was made while it was paused, and the one of before */
  CU_ASSERT_EQUAL (place_run (other, "exit 5", NULL), 5);
  CU_ASSERT_EQUAL (place_run (sandbox, "exit 5", NULL), 5);
  berth_sandbox_close (other);
}

static void
test_restart (void)
{
  BOX;
  struct berth_error error = { 0 };

  CU_ASSERT_EQUAL (place_run (sandbox, "exit 5", NULL), 5);
  CU_ASSERT_EQUAL (berth_sandbox_stop (sandbox, NULL, NULL), 0);
  CU_ASSERT_EQUAL (berth_sandbox_stop (sandbox, NULL, NULL), 0);
  CU_ASSERT_TRUE (state_is (sandbox, "stopped"));
  CU_ASSERT_EQUAL (place_run (sandbox, "exit 5", &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_WRONG_STATE);
  CU_ASSERT_EQUAL (berth_sandbox_pause (sandbox, NULL, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_WRONG_STATE, "is stopped and cannot be paused"));
  CU_ASSERT_EQUAL (berth_sandbox_start (sandbox, NULL, NULL), 0);
  CU_ASSERT_EQUAL (berth_sandbox_start (sandbox, NULL, NULL), 0);
  CU_ASSERT_TRUE (state_is (sandbox, "running"));
  CU_ASSERT_EQUAL (place_run (sandbox, "exit 5", NULL), 5);
}

static void
test_failures (void)
{
  BOX;
  struct berth_error error = { 0 };

  place_faults (&place, "pause.pause=fail:UNREACHABLE");
  CU_ASSERT_EQUAL (berth_sandbox_pause (sandbox, NULL, &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_UNREACHABLE);
  place_faults (&place, "");
  CU_ASSERT_TRUE (state_is (sandbox, "running"));
  CU_ASSERT_EQUAL (berth_sandbox_destroy (sandbox, NULL, NULL), 0);
  CU_ASSERT_EQUAL (berth_sandbox_pause (sandbox, NULL, &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_SANDBOX_NOT_FOUND);
}

/* I02: without the capability the backend is not asked. */
static void
test_not_declared (void)
{
  PLACE place;
  struct berth_error error = { 0 };

  place_make (&place, "fake");
  place.config = "[backend fake]\ncapabilities = PROBE,NETWORK_POLICY\n";
  place_open (&place);
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, NULL, &sandbox, NULL), 0);
  CU_ASSERT_EQUAL (berth_sandbox_pause (sandbox, NULL, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_CAPABILITY_NOT_SUPPORTED, "PAUSE"));
  CU_ASSERT_EQUAL (berth_sandbox_start (sandbox, NULL, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_CAPABILITY_NOT_SUPPORTED, "RESTART"));
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "L21 pause and resume", test_pause },
    { "L22 stop and start", test_restart },
    { "D-046 I05 what fails changes no record", test_failures },
    { "I02 not declared is refused", test_not_declared },
    { NULL, NULL },
  };

  return berth_test_main ("life", tests);
}

/* Death: whatever moment a process is killed at, the next host finds a consistent record and
 * clears away what nobody is responsible for any more. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/manager/sweep.h"
#include "core/manager/tests/place.h"
#include "sdk/base/clock.h"
#include "sdk/base/string.h"

static void
create_once (const struct place *place, int number)
{
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
  struct berth_sandbox *sandbox = NULL;

  options.request_id = number > 0 ? "once" : NULL;
  berth_sandbox_create (place_own_host (place), &options, &sandbox, NULL);
}

static void
kill_at (struct place *place, const char *point, int step, void (*work) (const struct place *place, int number),
         int number)
{
  BERTH_AUTO_FREE char *fault = berth_string_format ("%s.%d=kill", point, step);

  place_faults (place, fault);
  int status = place_child (work, place, number);
  CU_ASSERT_TRUE (WIFSIGNALED (status) && WTERMSIG (status) == SIGKILL);
  place_faults (place, "");
}

static void
test_create_steps (void)
{
  PLACE place;

  place_make (&place, "fake");
  for (int step = 1; step <= 8; step++)
    {
      kill_at (&place, "lifecycle.create", step, create_once, 0);
      place_check_swept (&place);
    }
}

static void
destroy_once (const struct place *place, int number)
{
  struct berth_sandbox *sandbox = NULL;

  (void) number;
  if (berth_sandbox_open (place_own_host (place), "sb-", &sandbox, NULL) == 0)
    berth_sandbox_destroy (sandbox, NULL, NULL);
}

static void
test_destroy_steps (void)
{
  PLACE place;

  place_make (&place, "fake");
  for (int step = 1; step <= 3; step++)
    {
      place_child (create_once, &place, 0);
      kill_at (&place, "lifecycle.destroy", step, destroy_once, 0);
      place_check_swept (&place);
    }
}

/* The same request again: what the first left is proven gone, and it is made anew, once. */
static void
test_request_after_crash (void)
{
  PLACE place;

  place_make (&place, "fake");
  for (int step = 1; step <= 8; step++)
    {
      struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
      struct berth_sandbox *sandbox = NULL;
      struct berth_error error = { 0 };
      kill_at (&place, "lifecycle.create", step, create_once, 1);
      place_open (&place);
      options.request_id = "once";
      CU_ASSERT_EQUAL (berth_sandbox_create (place.host, &options, &sandbox, &error), 0);
      if (sandbox == NULL)
        fprintf (stderr, "     step %d: %s\n", step, error.message);
      CU_ASSERT_EQUAL (place_sightings (&place), 1);
      CU_ASSERT_EQUAL (place_records (&place), 1);
      berth_sandbox_cleanup (&sandbox);
      berth_host_close (BERTH_STEAL_POINTER (place.host));
      place_check_swept (&place);
    }
}

/* One that is being created is not taken for one whose creator died. */
static void
test_living_creator (void)
{
  PLACE place;
  struct berth_sandbox *sandbox = NULL;

  place_make (&place, "fake");
  place_faults (&place, "lifecycle.create.4=slow:600");
  pid_t pid = berth_test_start (create_once, &place, 0);
  place_open (&place);
  for (int i = 0; i < 500 && place_records (&place) == 0; i++)
    berth_clock_sleep_ms (10);
  berth_sweep (place.host);
  CU_ASSERT_EQUAL (place_records (&place), 1);
  CU_ASSERT_EQUAL (berth_test_end (pid), 0);
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_open (place.host, "sb-", &sandbox, NULL), 0);
  CU_ASSERT_EQUAL (place_run (sandbox, "exit 3", NULL), 3);
  berth_sandbox_cleanup (&sandbox);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "L06 L27 a creator killed at every step", test_create_steps },
    { "L08 a destroyer killed at every step", test_destroy_steps },
    { "L14 a request repeated after a crash at every step", test_request_after_crash },
    { "one that is being created is left alone", test_living_creator },
    { NULL, NULL },
  };

  return berth_test_main ("crash", tests);
}

/* pause.c - L21: a sandbox that is held, and what is done to one. */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugins/ns/tests/host.h"
#include "sdk/base/clock.h"
#include "sdk/base/tests/runner.h"

#define COUNTING "(while :; do echo x >> /workspace/count; sleep 0.01; done) >/dev/null 2>&1 &"

static long
count (struct guest *guest)
{
  char path[256], line[32] = "";
  FILE *pipe;

  snprintf (path, sizeof path, "wc -c < %s/boxes/%s/workspace/count", guest->host->directory[0], guest->id);
  pipe = popen (path, "r");
  if (pipe != NULL && fgets (line, sizeof line, pipe) == NULL)
    line[0] = '\0';
  if (pipe != NULL)
    pclose (pipe);
  return strtol (line, NULL, 10);
}

static void
nothing_goes_on (void)
{
  struct host host;
  struct guest guest;
  struct host_call call;

  if (!guest_pausable (&host, &guest))
    return;
  CU_ASSERT_EQUAL (guest_run (&guest, NULL, COUNTING " echo kept > /workspace/file", NULL, NULL, NULL), 0);
  for (int i = 0; i < 100 && count (&guest) < 6; i++)
    berth_clock_sleep_ms (20);
  CU_ASSERT_EQUAL (guest_pause (&guest, &call), 0);
  CU_ASSERT_EQUAL (guest_pause (&guest, &call), 0);
  long before = count (&guest);
  CU_ASSERT (before > 0);
  berth_clock_sleep_ms (300);
  CU_ASSERT_EQUAL (count (&guest), before);
  CU_ASSERT_FALSE (guest_is_running (&guest));
  CU_ASSERT_TRUE (guest_is_present (&guest));
  CU_ASSERT_EQUAL (guest_life (&guest), BERTH_LIFE_PAUSED);
  CU_ASSERT_EQUAL (guest_resume (&guest, &call), 0);
  CU_ASSERT_EQUAL (guest_resume (&guest, &call), 0);
  CU_ASSERT_EQUAL (guest_life (&guest), BERTH_LIFE_RUNNING);
  CU_ASSERT_TRUE (guest_is_running (&guest));
  CU_ASSERT_STRING_EQUAL (guest_output (&guest, "cat /workspace/file"), "kept");
  for (int i = 0; i < 100 && count (&guest) <= before; i++)
    berth_clock_sleep_ms (20);
  CU_ASSERT (count (&guest) > before);
  guest_alone_end (&host, &guest);
}

static void
a_run_is_refused_at_once (void)
{
  struct host host;
  struct guest guest;
  struct host_call call;
  const char *const arguments[] = { "/bin/true", NULL };
  const struct berth_run run = { .struct_size = sizeof run, .argument_count = 1, .arguments = arguments };
  const struct berth_run_sink sink = { .struct_size = sizeof sink };

  if (!guest_pausable (&host, &guest))
    return;
  CU_ASSERT_EQUAL (guest_pause (&guest, &call), 0);
  int64_t begin = berth_clock_monotonic_ms ();
  host_call_start (&host, &call);
  CU_ASSERT_EQUAL (host.backend->commands->run (&call.call, guest.handle, &run, &sink), -1);
  CU_ASSERT_EQUAL (call.code, BERTH_E_WRONG_STATE);
  CU_ASSERT_PTR_NOT_NULL (strstr (call.message, "paused"));
  CU_ASSERT (berth_clock_monotonic_ms () - begin < 4000); /* below the time that a dumb agent is given */
  guest_alone_end (&host, &guest);
}

static void
unknown_and_dead_are_told_apart (void)
{
  struct host host;
  struct guest guest, other = { .id = "sb-nobody.1" };
  struct host_call call;

  if (!guest_pausable (&host, &guest))
    return;
  other.host = &host;
  CU_ASSERT_EQUAL (guest_pause (&other, &call), -1);
  CU_ASSERT_EQUAL (call.code, BERTH_E_SANDBOX_NOT_FOUND);
  CU_ASSERT_EQUAL (guest_resume (&other, &call), -1);
  CU_ASSERT_EQUAL (call.code, BERTH_E_SANDBOX_NOT_FOUND);
  guest_kill_agent (&guest);
  CU_ASSERT_EQUAL (guest_pause (&guest, &call), -1);
  CU_ASSERT_EQUAL (call.code, BERTH_E_WRONG_STATE);
  guest_alone_end (&host, &guest);
}

/* For a user without a cgroup of his it is not declared, and not tried. */
static void
without_a_freezer (void)
{
  struct host host;
  struct guest guest;
  struct host_call call;

  if (!guest_alone (&host, &guest, NULL))
    return;
  CU_ASSERT_EQUAL (guest.effective.capabilities & BERTH_CAP_PAUSE, 0);
  CU_ASSERT_EQUAL (guest_pause (&guest, &call), -1);
  CU_ASSERT_EQUAL (call.code, BERTH_E_CAPABILITY_NOT_SUPPORTED);
  CU_ASSERT_EQUAL (guest_resume (&guest, &call), -1);
  CU_ASSERT_EQUAL (call.code, BERTH_E_CAPABILITY_NOT_SUPPORTED);
  CU_ASSERT_STRING_EQUAL (guest_output (&guest, "echo runs"), "runs");
  guest_alone_end (&host, &guest);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "L21 paused processes make no progress, and go on", nothing_goes_on },
    { "D-046 L21 a run in a paused sandbox is refused, and destroy takes it", a_run_is_refused_at_once },
    { "L21 what does not run cannot be paused", unknown_and_dead_are_told_apart },
    { NULL, NULL },
  };

  static const struct berth_test refusal[] = {
    { "L21 without a freezer it is refused", without_a_freezer },
    { NULL, NULL },
  };

  return berth_test_main ("ns: pause", geteuid () == 0 || getenv ("BERTH_TEST_CGROUPS") != NULL ? tests : refusal);
}

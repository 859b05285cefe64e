/* Cases about what goes on beside a command, and after it: D-004, D-005, D-035, D-043, D-047, D-048. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "conformance/suites/commands.h"
#include "conformance/suites/content.h"
#include "conformance/suites/leftovers.h"
#include "conformance/suites/run.h"
#include "sdk/base/clock.h"
#include "sdk/base/tests/runner.h"

#define PATIENCE_MS 10000 /* far below what a child sleeps, far above what a busy machine needs */

/* Whoever keeps which of the pipes, the result is the leader's. */
void
suite_d004 (struct suite_context *suite)
{
  static const char *const keepers[] = {
    "sleep 30 > /dev/null & printf word",
    "sleep 30 2> /dev/null & printf word",
    "setsid sleep 30 & printf word",
    "(setsid sh -c 'sleep 30 & exit 0' &); printf word",
    "(sleep 8; echo late; sleep 30) & printf word",
  };
  struct suite_box *box = suite_box_make (suite);

  for (size_t i = 0; i < sizeof keepers / sizeof *keepers; i++)
    {
      SUITE_AUTO_RAN struct suite_ran ran = { 0 };

      suite_sh (box, &ran, 25000, keepers[i]);
      SUITE_CHECK_EXIT (suite, &ran, 0, keepers[i]);
      SUITE_CHECK_PRINTED (suite, &ran, "word", keepers[i]);
      SUITE_CHECK (suite, ran.ended_ms < PATIENCE_MS, "%s: the result came after %lld ms", keepers[i],
                   (long long) ran.ended_ms);
      SUITE_CHECK (suite, (ran.exit.has & BERTH_EXIT_PIPE_HELD) != 0, "%s: it is not told that the output is held",
                   keepers[i]);
    }
}

static uint64_t
size_of (struct suite_box *box, const char *path)
{
  struct suite_entry entry;

  return suite_stat (box, path, false, &entry) == 0 ? entry.info.size : 0;
}

/* What is left behind writes more than a pipe holds, and ends where it cannot. */
void
suite_d005 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  int64_t until = berth_clock_monotonic_ms () + PATIENCE_MS;
  uint64_t first;

  suite_sh (box, &ran, 0,
            "(while :; do head -c 100000 /dev/zero && head -c 100000 /dev/zero >&2 || exit; echo x >> beats; sleep 0.05; done) & "
            "echo started");
  SUITE_CHECK_EXIT (suite, &ran, 0, "the leader");
  first = size_of (box, SUITE_WORKSPACE "/beats");
  while (size_of (box, SUITE_WORKSPACE "/beats") < first + 10 && berth_clock_monotonic_ms () < until)
    berth_clock_sleep_ms (50);
  SUITE_CHECK (suite, size_of (box, SUITE_WORKSPACE "/beats") >= first + 10,
               "a service that goes on printing stands still after %llu beats", (unsigned long long) first / 2);
}

/* What wrote PATH is ended soon; that it did write is the control. */
static void
check_stops (struct suite_box *box, const char *path)
{
  int64_t until = berth_clock_monotonic_ms () + PATIENCE_MS;
  uint64_t before, after = size_of (box, path);

  SUITE_CHECK (box->suite, after > 0, "nothing ever wrote %s", path);
  do
    {
      before = after;
      berth_clock_sleep_ms (300);
      after = size_of (box, path);
    }
  while (after != before && berth_clock_monotonic_ms () < until);
  SUITE_CHECK (box->suite, after == before, "%s still grows", path);
}

static void
run_both (struct suite_box *box, struct suite_job jobs[2], int64_t short_ms)
{
  jobs[0] = (struct suite_job) { .command = { .timeout_ms = short_ms, .deadline_ms = short_ms + 25000 } };
  jobs[1] = (struct suite_job) { .command = { .timeout_ms = short_ms + 25000, .deadline_ms = short_ms } };
  suite_job_start (&jobs[0], box, "(while :; do echo x >> command; sleep 0.05; done) & sleep 60");
  suite_job_start (&jobs[1], box, "(while :; do echo x >> call; sleep 0.05; done) & sleep 60");
  for (int i = 0; i < 2; i++)
    suite_job_join (&jobs[i]);
}

/* The command's time and the call's are two; the one that is up first is told, and the tree ends with
 * either, since the command is attached. */
void
suite_d035 (struct suite_context *suite)
{
  static const char *const paths[] = { SUITE_WORKSPACE "/command", SUITE_WORKSPACE "/call" };
  struct suite_box *box = suite_box_make (suite);
  struct suite_job jobs[2];
  int64_t short_ms = 700;

  /* Longer where this machine does not start them in that time. */
  for (run_both (box, jobs, short_ms); short_ms < PATIENCE_MS && (size_of (box, paths[0]) == 0 || size_of (box, paths[1]) == 0);
       run_both (box, jobs, short_ms *= 2))
    for (int i = 0; i < 2; i++)
      suite_ran_free (&jobs[i].ran);
  for (int i = 0; i < 2; i++)
    SUITE_CHECK (suite, jobs[i].ran.ended_ms >= short_ms - 10 && jobs[i].ran.ended_ms < short_ms + PATIENCE_MS,
                 "the %s's %lld ms were up after %lld ms", i == 0 ? "command" : "call", (long long) short_ms,
                 (long long) jobs[i].ran.ended_ms);
  SUITE_CHECK (suite, jobs[0].ran.code == 0 && jobs[0].ran.exits == 1 && jobs[0].ran.exit.reason == BERTH_TIMED_OUT,
               "the command's time is up: %s", suite_ran_text (&jobs[0].ran));
  SUITE_CHECK_CODE (suite, "the call's time is up", jobs[1].ran.code, BERTH_E_TIMEOUT);
  SUITE_CHECK (suite, jobs[1].ran.exits == 0, "a call without an answer told an exit");
  for (int i = 0; i < 2; i++)
    check_stops (box, paths[i]);
  for (int i = 0; i < 2; i++)
    suite_ran_free (&jobs[i].ran);
}

/* ---- D-043 ---- */

#define ROUNDS (berth_test_is_long () ? 200 : 6)
#define JOBS 4

/* What was started in time has a true result, what was not has none; neither leaves a process. */
void
suite_d043 (struct suite_context *suite)
{
  static const char *const scripts[JOBS]
      = { "sleep 300", "exit 3", "setsid sleep 300 > /dev/null 2>&1 & exit 3", "exit 3" };

  int rounds = ROUNDS;

  for (int round = 0; round < rounds; round++)
    {
      struct suite_box *box = suite_box_make (suite);
      struct suite_job jobs[JOBS] = { { .command = { .deadline_ms = 25000 } },
                                      { .command = { .deadline_ms = 25000 } },
                                      { .command = { .deadline_ms = 25000 } },
                                      { .command = { .deadline_ms = 25000 } } };

      for (int i = 0; i < JOBS; i++)
        suite_job_start (&jobs[i], box, scripts[i]);
      berth_clock_sleep_ms (round % 6);
      SUITE_CHECK_CODE (suite, "destroy", suite_box_destroy (box, true, NULL), 0);
      for (int i = 0; i < JOBS; i++)
        {
          struct suite_ran *ran = &jobs[i].ran;

          suite_job_join (&jobs[i]);
          SUITE_CHECK (suite,
                       ran->code == BERTH_E_UNREACHABLE || ran->code == BERTH_E_SANDBOX_NOT_FOUND
                           || (ran->code == 0 && ran->exit.reason == BERTH_SIGNALLED) || (i > 0 && suite_ran_exited (ran, 3)),
                       "%s, destroyed after %d ms: %s %s", scripts[i], round % 6, suite_code_name (ran->code),
                       suite_ran_text (ran));
          suite_ran_free (ran);
        }
    }
  suite_check_gone (suite, suite->tag, 30000, "sandboxes that were destroyed while commands started");
}

/* ---- D-047, D-048 ---- */

static const char count_zombies[] = "cat /proc/[0-9]*/stat 2>/dev/null | sed 's/.*) //' | grep -c '^Z'";

void
suite_d047 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  SUITE_AUTO_RAN struct suite_ran control = { 0 };
  SUITE_AUTO_RAN struct suite_ran after = { 0 };
  int64_t until;

  if (!suite_has_own_pids (box))
    suite_not_applicable (suite, "zombies of this machine's cannot be told from its sandboxes'");
  /* A shell becomes a program that waits for no child. */
  suite_argv (box, &control,
              (const char *const[]) { "/bin/sh", "-c", "sh -c 'true & exec sleep 60' & i=0; while [ $i -lt 100 ] && [ \"$(eval \"$0\")\" = 0 ]; do sleep 0.1; i=$((i+1)); done;"
                                               " eval \"$0\"; kill $!", count_zombies,
                                      NULL });
  SUITE_CHECK (suite, control.out.size > 0 && berth_buffer_string (&control.out)[0] != '0', "the control sees no zombie: %s",
               berth_buffer_string (&control.out));
  for (int i = 0; i < 100; i++)
    {
      SUITE_AUTO_RAN struct suite_ran ran = { 0 };

      suite_sh (box, &ran, 0, "sleep 0.1 > /dev/null 2>&1 & (true &) ; :");
      SUITE_CHECK_EXIT (suite, &ran, 0, "a command that leaves a child");
    }
  until = berth_clock_monotonic_ms () + 20000;
  do
    {
      suite_ran_free (&after);
      berth_clock_sleep_ms (100);
      suite_sh (box, &after, 0, count_zombies);
    }
  while (!suite_ran_printed (&after, "0\n") && berth_clock_monotonic_ms () < until);
  SUITE_CHECK_PRINTED (suite, &after, "0\n", "zombies after 100 commands");
}

#define AT_ONCE 20

/* Who reaps orphans takes nobody's status: neither that of another command nor that of a child of the
 * program that uses the library. */
void
suite_d048 (struct suite_context *suite)
{
  pid_t own = fork ();
  struct suite_job jobs[AT_ONCE] = { { 0 } };
  char scripts[AT_ONCE][128];
  struct suite_box *box;
  int status = 0;

  if (own == 0)
    _exit (77);
  box = suite_box_make (suite);
  for (int i = 0; i < AT_ONCE; i++)
    {
      snprintf (scripts[i], sizeof scripts[i], "for i in 1 2 3 4 5 6 7 8; do (sleep 0.01 > /dev/null 2>&1 & exit $i); done; exit %d",
                i + 10);
      jobs[i].command.timeout_ms = 25000;
      suite_job_start (&jobs[i], box, scripts[i]);
    }
  for (int i = 0; i < AT_ONCE; i++)
    {
      suite_job_join (&jobs[i]);
      SUITE_CHECK (suite, suite_ran_exited (&jobs[i].ran, i + 10), "%s: %s", scripts[i], suite_ran_text (&jobs[i].ran));
      suite_ran_free (&jobs[i].ran);
    }
  SUITE_CHECK_CODE (suite, "destroy", suite_box_destroy (box, false, NULL), 0);
  SUITE_CHECK (suite, waitpid (own, &status, 0) == own && WIFEXITED (status) && WEXITSTATUS (status) == 77,
               "a child of this program's own was reaped by somebody else");
}

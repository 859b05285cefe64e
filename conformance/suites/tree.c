/* E09, E10, E15, E17: ending a command with everything that it started. */
#include <signal.h>
#include <stdio.h>

#include "conformance/suites/commands.h"
#include "conformance/suites/content.h"
#include "conformance/suites/role.h"
#include "conformance/suites/run.h"
#include "sdk/base/clock.h"

#define LATE_MS 8000 /* for a timeout of one second, on a busy machine */

static uint64_t
size_of (struct suite_box *box, const char *path)
{
  struct suite_entry entry;

  return suite_stat (box, path, false, &entry) == 0 ? entry.info.size : 0;
}

/* What wrote PATH does not any more; that it did is the control. */
static void
check_stopped (struct suite_box *box, const char *path)
{
  uint64_t first = size_of (box, path);

  SUITE_CHECK (box->suite, first > 0, "nothing ever wrote %s", path);
  berth_clock_sleep_ms (1200);
  SUITE_CHECK (box->suite, size_of (box, path) == first, "%s still grows: %llu, then %llu bytes", path,
               (unsigned long long) first, (unsigned long long) size_of (box, path));
}

static void
check_timed_out (struct suite_context *suite, struct suite_ran *ran)
{
  SUITE_CHECK (suite, ran->code == 0 && ran->exits == 1 && ran->exit.reason == BERTH_TIMED_OUT, "want TIMED_OUT, got %s",
               suite_ran_text (ran));
  SUITE_CHECK (suite, ran->ended_ms < LATE_MS, "the result came after %lld ms", (long long) ran->ended_ms);
}

void
suite_e09 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  SUITE_AUTO_RAN struct suite_ran after = { 0 };

  suite_sh (box, &ran, 1000,
            "echo partial; printf half; echo words >&2; (while :; do echo x >> child; sleep 0.1; done) & "
            "trap '' TERM HUP INT; while :; do sleep 0.2; done");
  check_timed_out (suite, &ran);
  SUITE_CHECK_PRINTED (suite, &ran, "partial\nhalf", "what was printed before");
  SUITE_CHECK (suite, strcmp (berth_buffer_string (&ran.err), "words\n") == 0, "stderr: %s",
               berth_buffer_string (&ran.err));
  SUITE_CHECK (suite, ran.ended_ms >= 900, "a timeout of 1 s came after %lld ms", (long long) ran.ended_ms);
  check_stopped (box, SUITE_WORKSPACE "/child");
  suite_sh (box, &after, 0, "echo next");
  SUITE_CHECK_PRINTED (suite, &after, "next\n", "the next command");
}

void
suite_d033 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };

  suite_sh (box, &ran, 1500, "(while :; do echo x >> loop; sleep 0.1; done) & wait");
  check_timed_out (suite, &ran);
  check_stopped (box, SUITE_WORKSPACE "/loop");
}

void
suite_d034 (struct suite_context *suite)
{
  static const char *const writers[] = { "setsid", "forked", "nohup", "handler" };
  struct suite_box *box = suite_box_make (suite);
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };

  suite_sh (box, &ran, 3000,
            "w='while :; do echo x >> $0; sleep 0.1; done'\n"
            "setsid sh -c \"$w\" setsid &\n"
            "(setsid sh -c \"sh -c '$w' forked & exit 0\" &)\n"
            "nohup sh -c \"$w\" nohup > /dev/null 2>&1 &\n"
            "cat > again <<'END'\n"
            "again () { sh ./again & }\n"
            "trap again TERM HUP INT\n"
            "while :; do echo x >> handler; sleep 0.1; done\n"
            "END\n"
            "sh ./again &\n"
            "wait; sleep 100");
  check_timed_out (suite, &ran);
  for (size_t i = 0; i < sizeof writers / sizeof *writers; i++)
    {
      char path[64];

      snprintf (path, sizeof path, SUITE_WORKSPACE "/%s", writers[i]);
      check_stopped (box, path);
    }
}

void
suite_e10 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  struct suite_entry entry;
  int64_t until;

  suite_sh (box, &ran, 20000, "(sleep 5; echo late && echo late && echo lived > lived; sleep 60) & echo first");
  SUITE_CHECK_EXIT (suite, &ran, 0, "the leader");
  SUITE_CHECK_PRINTED (suite, &ran, "first\n", "the leader");
  SUITE_CHECK (suite, ran.ended_ms < 4000, "the child delayed the exit to %lld ms", (long long) ran.ended_ms);
  SUITE_CHECK (suite, (ran.exit.has & BERTH_EXIT_PIPE_HELD) != 0, "it is not told that the output is still held");
  until = berth_clock_monotonic_ms () + 30000;
  while (suite_stat (box, SUITE_WORKSPACE "/lived", false, &entry) != 0 && berth_clock_monotonic_ms () < until)
    berth_clock_sleep_ms (100);
  suite_check_content (box, SUITE_WORKSPACE "/lived", "lived\n", 6);
}

static void *
trigger_soon (void *context)
{
  berth_clock_sleep_ms (700);
  berth_cancel_trigger (context);
  return NULL;
}

void
suite_e15 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  const char *const arguments[]
      = { "/bin/sh", "-c", "setsid sh -c 'while :; do echo x >> loop; sleep 0.1; done' & trap '' TERM; sleep 100; sleep 100",
          NULL };
  struct berth_cancel *cancel;
  pthread_t thread;

  SUITE_REQUIRE (suite, berth_cancel_new (&cancel, NULL) == 0, "no cancel token");
  SUITE_REQUIRE (suite, pthread_create (&thread, NULL, trigger_soon, cancel) == 0, "no thread");
  suite_run (box, &(struct suite_command) { .arguments = arguments, .cancel = cancel }, &ran);
  pthread_join (thread, NULL);
  SUITE_CHECK (suite,
               ran.code == BERTH_E_CANCELLED
                   || (ran.code == 0 && ran.exits == 1 && ran.exit.reason == BERTH_WAS_CANCELLED),
               "a cancelled command: %s %s", suite_code_name (ran.code), suite_ran_text (&ran));
  SUITE_CHECK (suite, ran.ended_ms < 700 + 3000, "it ended %lld ms after the start, cancelled at 700",
               (long long) ran.ended_ms);
  berth_clock_sleep_ms (1000);
  check_stopped (box, SUITE_WORKSPACE "/loop");
  berth_cancel_free (cancel);
}

/* Runs the script ARGUMENTS[1] in the box ARGUMENTS[0]. */
void
suite_role_command (struct suite_context *suite, int count, char **arguments)
{
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  struct suite_box *box;

  if (count < 2)
    return;
  box = suite_box_load (suite, arguments[0]);
  SUITE_CHECK_CODE (suite, "connect", suite_box_connect (box, NULL, &box->handle), 0);
  if (box->handle != NULL)
    suite_sh (box, &ran, 0, arguments[1]);
}

void
suite_e15_gone (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  BERTH_AUTO_FREE char *saved = suite_box_save (box);
  const char *const arguments[]
      = { saved, "setsid sh -c 'while :; do echo x >> loop; sleep 0.1; done' & sleep 100; sleep 100", NULL };
  struct suite_child child = suite_role_start (suite, "command", arguments);
  int64_t until = berth_clock_monotonic_ms () + 10000;

  while (size_of (box, SUITE_WORKSPACE "/loop") == 0 && berth_clock_monotonic_ms () < until)
    berth_clock_sleep_ms (50);
  kill (child.pid, SIGKILL);
  suite_role_finish (suite, &child, NULL);
  berth_clock_sleep_ms (2000);
  check_stopped (box, SUITE_WORKSPACE "/loop");
}

void
suite_e17 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_new (suite);
  struct berth_effective effective = { 0 };
  SUITE_AUTO_RAN struct suite_ran bomb = { 0 };
  SUITE_AUTO_RAN struct suite_ran after = { 0 };
  struct suite_plan plan;
  int64_t until;

  suite_plan_init (&plan, box);
  plan.spec.pids = 64;
  plan.spec.must = BERTH_SPEC_PIDS;
  if (suite_box_validate (box, &plan.spec, &effective) != 0 || (effective.enforced & BERTH_SPEC_PIDS) == 0)
    suite_not_applicable (suite, "it cannot limit pids");
  SUITE_REQUIRE (suite, suite_box_create (box, &plan.spec) == 0, "create: %s", box->error.message);
  suite_sh (box, &bomb, 3000, "b () { b | b & }; b; while :; do b; done");
  until = berth_clock_monotonic_ms () + 5000;
  SUITE_CHECK (suite, bomb.code == 0 && bomb.exits == 1, "the bomb: %s %s", suite_code_name (bomb.code), suite_ran_text (&bomb));
  /* What was killed is counted until it is reaped. */
  do
    {
      suite_ran_free (&after);
      suite_sh (box, &after, 20000, "echo usable");
    }
  while (!suite_ran_exited (&after, 0) && berth_clock_monotonic_ms () < until);
  SUITE_CHECK_PRINTED (suite, &after, "usable\n", "the next command");
}

/* E09, E10, E15, E17: ending a command with everything that it started. */
#include <signal.h>
#include <stdio.h>

#include "conformance/suites/commands.h"
#include "conformance/suites/content.h"
#include "conformance/suites/role.h"
#include "conformance/suites/run.h"
#include "sdk/base/clock.h"
#include "sdk/base/tests/stall.h"

#define LATE_MS 8000 /* beyond the timeout, on a busy machine */
#define SLOWEST_MS 5000 /* for a script to begin */

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

/* SCRIPT with a time that is enough for it to have written all of PATHS, which end with NULL: doubled until
 * this machine is fast enough for that. */
static void
run_timed (struct suite_box *box, struct suite_ran *ran, int64_t *time_ms, const char *script, const char *const *paths)
{
  for (;; *time_ms *= 2)
    {
      bool began = true;

      suite_sh (box, ran, *time_ms, script);
      for (const char *const *path = paths; *path != NULL; path++)
        began = began && size_of (box, *path) > 0;
      if (began || *time_ms > SLOWEST_MS || ran->code != 0 || ran->exit.reason != BERTH_TIMED_OUT)
        return;
      suite_ran_free (ran);
    }
}

static void
check_timed_out (struct suite_context *suite, struct suite_ran *ran, int64_t time_ms)
{
  SUITE_CHECK (suite, ran->code == 0 && ran->exits == 1 && ran->exit.reason == BERTH_TIMED_OUT, "want TIMED_OUT, got %s",
               suite_ran_text (ran));
  SUITE_CHECK (suite, ran->ended_ms >= time_ms && ran->ended_ms < time_ms + LATE_MS, "the result came after %lld ms of %lld", (long long) ran->ended_ms, (long long) time_ms);
}

void
suite_e09 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  SUITE_AUTO_RAN struct suite_ran after = { 0 };
  int64_t time_ms = 1000;

  run_timed (box, &ran, &time_ms,
             "echo partial; printf half; echo words >&2; (while :; do echo x >> child; sleep 0.1; done) & "
             "trap '' TERM HUP INT; while :; do sleep 0.2; done",
             (const char *const[]) { SUITE_WORKSPACE "/child", NULL });
  check_timed_out (suite, &ran, time_ms);
  SUITE_CHECK_PRINTED (suite, &ran, "partial\nhalf", "what was printed before");
  SUITE_CHECK (suite, strcmp (berth_buffer_string (&ran.err), "words\n") == 0, "stderr: %s",
               berth_buffer_string (&ran.err));
  check_stopped (box, SUITE_WORKSPACE "/child");
  suite_sh (box, &after, 0, "echo next");
  SUITE_CHECK_PRINTED (suite, &after, "next\n", "the next command");
}

void
suite_d033 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  int64_t time_ms = 400;

  run_timed (box, &ran, &time_ms, "(while :; do echo x >> loop; sleep 0.1; done) & wait",
             (const char *const[]) { SUITE_WORKSPACE "/loop", NULL });
  check_timed_out (suite, &ran, time_ms);
  check_stopped (box, SUITE_WORKSPACE "/loop");
}

void
suite_d034 (struct suite_context *suite)
{
  static const char *const writers[] = { SUITE_WORKSPACE "/setsid", SUITE_WORKSPACE "/forked", SUITE_WORKSPACE "/nohup",
                                         SUITE_WORKSPACE "/handler", NULL };
  struct suite_box *box = suite_box_make (suite);
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  int64_t time_ms = 1500;

  run_timed (box, &ran, &time_ms,
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
            "wait; sleep 100", writers);
  check_timed_out (suite, &ran, time_ms);
  for (const char *const *path = writers; *path != NULL; path++)
    check_stopped (box, *path);
}

/* The child goes on only once the leader's exit was told. */
void
suite_e10 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  int64_t until;

  suite_sh (box, &ran, 20000,
            "(until [ -e go ]; do sleep 0.05; done; echo late && echo late && echo lived > lived; sleep 60) & echo first");
  SUITE_CHECK_EXIT (suite, &ran, 0, "the leader");
  SUITE_CHECK_PRINTED (suite, &ran, "first\n", "the leader");
  SUITE_CHECK (suite, (ran.exit.has & BERTH_EXIT_PIPE_HELD) != 0, "it is not told that the output is still held");
  SUITE_CHECK_CODE (suite, "write", suite_write_text (box, SUITE_WORKSPACE "/go", ""), 0);
  until = berth_clock_monotonic_ms () + 30000;
  while (size_of (box, SUITE_WORKSPACE "/lived") < 6 && berth_clock_monotonic_ms () < until)
    berth_clock_sleep_ms (50);
  suite_check_content (box, SUITE_WORKSPACE "/lived", "lived\n", 6);
}

/* ---- E15 ---- */

#define PROMISED_MS 1000
#define LONGEST_MS 20000 /* on a machine that withholds nearly everything */
#define WRITER "setsid sh -c 'while :; do echo x >> loop; sleep 0.1; done' > /dev/null 2>&1 & until [ -s loop ]; do sleep 0.05; done; "

/* When what a tree lives on was taken from it, and what the machine withholds from then on. */
struct cut
{
  struct berth_cancel *cancel;
  struct berth_test_stall stall;
  int64_t at_ms;
};

static void
cut_start (struct suite_context *suite, struct cut *cut)
{
  SUITE_REQUIRE (suite, berth_test_stall_start (&cut->stall), "no thread");
}

static void
cut_now (void *context)
{
  struct cut *cut = context;

  berth_test_stall_reset (&cut->stall);
  cut->at_ms = berth_clock_monotonic_ms ();
  if (cut->cancel != NULL)
    berth_cancel_trigger (cut->cancel);
}

/* How long it has, by now. */
static int64_t
cut_patience_ms (struct cut *cut)
{
  return PROMISED_MS + berth_test_stall_ms (&cut->stall);
}

/* Nothing writes LOOP any more once the time that was promised is over. */
static void
cut_check_stopped (struct suite_box *box, struct cut *cut)
{
  int64_t latest = cut->at_ms + LONGEST_MS;

  while (berth_clock_monotonic_ms () < latest && berth_clock_monotonic_ms () < cut->at_ms + cut_patience_ms (cut))
    berth_clock_sleep_ms (10);
  berth_test_stall_stop (&cut->stall);
  check_stopped (box, SUITE_WORKSPACE "/loop");
}

void
suite_e15 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  const char *const arguments[] = { "/bin/sh", "-c", WRITER "trap '' TERM; echo going; sleep 100; sleep 100", NULL };
  struct cut cut = { .at_ms = 0 };
  int64_t took, patience;

  SUITE_REQUIRE (suite, berth_cancel_new (&cut.cancel, NULL) == 0, "no cancel token");
  cut_start (suite, &cut);
  suite_run (box,
             &(struct suite_command) { .arguments = arguments, .cancel = cut.cancel, .at_output = cut_now, .context = &cut },
             &ran);
  took = berth_clock_monotonic_ms () - cut.at_ms;
  patience = cut_patience_ms (&cut);
  SUITE_REQUIRE (suite, cut.at_ms > 0, "the command never began: %s", suite_ran_text (&ran));
  SUITE_CHECK (suite,
               ran.code == BERTH_E_CANCELLED
                   || (ran.code == 0 && ran.exits == 1 && ran.exit.reason == BERTH_WAS_CANCELLED),
               "a cancelled command: %s %s", suite_code_name (ran.code), suite_ran_text (&ran));
  SUITE_CHECK (suite, took <= patience, "its result came %lld ms after it was cancelled, on this machine it has %lld",
               (long long) took, (long long) patience);
  cut_check_stopped (box, &cut);
  berth_cancel_free (cut.cancel);
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
  const char *const arguments[] = { saved, WRITER "sleep 100; sleep 100", NULL };
  struct suite_child child = suite_role_start (suite, "command", arguments);
  int64_t until = berth_clock_monotonic_ms () + 25000;
  struct cut cut = { .at_ms = 0 };

  cut_start (suite, &cut);
  while (size_of (box, SUITE_WORKSPACE "/loop") == 0 && berth_clock_monotonic_ms () < until)
    berth_clock_sleep_ms (50);
  kill (child.pid, SIGKILL);
  cut_now (&cut);
  cut_check_stopped (box, &cut);
  suite_role_finish (suite, &child, NULL);
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
  until = berth_clock_monotonic_ms () + 30000;
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

/* What becomes of the sandbox and of the command when berth is told to stop, or killed.  Built
 * once for each of the backends it is run on. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/cli/tests/process.h"
#include "sdk/base/clock.h"
#include "sdk/base/tests/stall.h"
#include "sdk/base/tests/runner.h"

/* Starts `berth run` of a command that would last, and waits until its sandbox is there. */
static void
start_sleeping (struct process *process, const struct process_setup *setup)
{
  static const char *const arguments[] = { "run", "sleep", "54321", NULL };

  CU_ASSERT_EQUAL_FATAL (process_start (process, setup, arguments), 0);
  CU_ASSERT (process_wait_for_sandboxes (1));
#ifdef EXECUTES
  CU_ASSERT (process_wait_there ("sleep", "54321"));
#endif
}

static void
expect_clean (void)
{
  CU_ASSERT_EQUAL (process_count_sandboxes (), 0);
  CU_ASSERT (process_wait_gone ("sleep", "54321"));
}

static void
expect_signal_ends_all (int number)
{
  AUTO_RESULT struct process_result result = { 0 };
  struct process process;

  start_sleeping (&process, NULL);
  CU_ASSERT_EQUAL (kill (process.pid, number), 0);
  process_finish (&process, &result);
  CU_ASSERT_EQUAL (result.signal, number);
  CU_ASSERT_EQUAL (result.err.size, 0);
  expect_clean ();
}

static void
test_interrupt (void)
{
  expect_signal_ends_all (SIGINT);
}

static void
test_terminate (void)
{
  expect_signal_ends_all (SIGTERM);
}

static void
test_hang_up (void)
{
  expect_signal_ends_all (SIGHUP);
}

static void
test_pipe_signal (void)
{
  expect_signal_ends_all (SIGPIPE);
}

/* Impatience does not keep the sandbox. */
static void
test_many_signals (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  struct process process;
  int i;

  start_sleeping (&process, NULL);
  for (i = 0; i < 20; i++)
    kill (process.pid, i % 2 == 0 ? SIGTERM : SIGINT);
  process_finish (&process, &result);
  CU_ASSERT (result.signal == SIGTERM || result.signal == SIGINT);
  expect_clean ();
}

/* At any moment of the life of a run. */
static void
test_signal_at_any_time (void)
{
  static const char *const arguments[] = { "run", "sleep", "54321", NULL };
  int i;

  for (i = 0; i < 15; i++)
    {
      AUTO_RESULT struct process_result result = { 0 };
      struct process process;

      CU_ASSERT_EQUAL_FATAL (process_start (&process, NULL, arguments), 0);
      berth_clock_sleep_ms (i * 4);
      kill (process.pid, SIGTERM);
      process_finish (&process, &result);
      CU_ASSERT_EQUAL (result.signal, SIGTERM);
    }
  expect_clean ();
}

/* Nobody is left to destroy it: the backend ends it, the next berth clears the record away. */
static void
test_killed (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  struct process process;
  struct berth_test_stall stall;
  int64_t start;

  start_sleeping (&process, NULL);
  CU_ASSERT_FATAL (berth_test_stall_start (&stall));
  start = berth_clock_monotonic_ms ();
  kill (process.pid, SIGKILL);
  process_finish (&process, &result);
  CU_ASSERT_EQUAL (result.signal, SIGKILL);
  CU_ASSERT (process_wait_gone ("sleep", "54321"));
  CU_ASSERT (berth_clock_monotonic_ms () - start <= 5000 + berth_test_stall_ms (&stall));
  berth_test_stall_stop (&stall);
  CU_ASSERT (process_wait_for_sandboxes (0));
}

static void
test_timeout (void)
{
  AUTO_RESULT struct process_result result = { 0 };

  berth (&result, "run", "--timeout", "200ms", "sleep", "54321");
  CU_ASSERT_EQUAL (result.status, 124);
  expect_clean ();
}

/* `berth run seq | head -1` */
static void
test_reader_goes (void)
{
  static const char *const arguments[] = { "run", "seq", "1000000", NULL };
  AUTO_RESULT struct process_result result = { 0 };
  struct process process;
  char first[2];

  CU_ASSERT_EQUAL_FATAL (process_start (&process, NULL, arguments), 0);
  CU_ASSERT_EQUAL (read (process.out, first, 2), 2);
  close (process.out);
  process.out = -1;
  process_finish (&process, &result);
  CU_ASSERT_EQUAL (result.signal, SIGPIPE);
  CU_ASSERT_EQUAL (result.err.size, 0);
  CU_ASSERT_EQUAL (process_count_sandboxes (), 0);
}

/* A reader that stays and does not read does not keep the sandbox. */
static void
test_reader_stalls (void)
{
  static const char *const arguments[] = { "run", "seq", "1000000", NULL };
  AUTO_RESULT struct process_result result = { 0 };
  struct process process;
  char first[2];

  CU_ASSERT_EQUAL_FATAL (process_start (&process, NULL, arguments), 0);
  CU_ASSERT_EQUAL (read (process.out, first, 2), 2);
  berth_clock_sleep_ms (300);
  kill (process.pid, SIGTERM);
  CU_ASSERT (process_finish_unread (&process, &result));
  CU_ASSERT_EQUAL (result.signal, SIGTERM);
  CU_ASSERT (result.out.size < 1 << 20);
  CU_ASSERT_EQUAL (process_count_sandboxes (), 0);
}

/* Nor does a writer that does not write keep `berth write`, of which nothing is left. */
static void
test_writer_stalls (void)
{
  static const char *const arguments[] = { "write", "stalled", "file", NULL };
  AUTO_RESULT struct process_result result = { 0 };
  struct process process;
  int ends[2];

  CU_ASSERT_EQUAL_FATAL (pipe2 (ends, O_CLOEXEC), 0);
  berth (&result, "create", "--name", "stalled");
  CU_ASSERT_EQUAL (result.status, 0);
  CU_ASSERT_EQUAL_FATAL (process_start (&process, &(struct process_setup){ .in = ends[0] }, arguments), 0);
  CU_ASSERT_EQUAL (write (ends[1], "half", 4), 4);
  berth_clock_sleep_ms (300);
  kill (process.pid, SIGINT);
  CU_ASSERT (process_finish_unread (&process, &result));
  CU_ASSERT_EQUAL (result.signal, SIGINT);
  berth (&result, "files", "stalled", "-0");
  CU_ASSERT_EQUAL (result.status, 0);
  CU_ASSERT_EQUAL (result.out.size, 0);
  berth (&result, "rm", "stalled");
  CU_ASSERT_EQUAL (result.status, 0);
  close (ends[0]);
  close (ends[1]);
}

static void
test_output_is_closed (void)
{
  AUTO_RESULT struct process_result result = { 0 };

  berth_with (&result, (&(struct process_setup){ .out = -1 }), "run", "echo", "lost");
  CU_ASSERT_EQUAL (result.status, 125);
  CU_ASSERT_PTR_NOT_NULL (strstr (berth_buffer_string (&result.err), "cannot write standard output: Bad file descriptor"));
  CU_ASSERT_EQUAL (process_count_sandboxes (), 0);
  berth_with (&result, (&(struct process_setup){ .out = -1 }), "version");
  CU_ASSERT_EQUAL (result.status, 125);
}

static void
test_output_is_full (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  int full = open ("/dev/full", O_WRONLY | O_CLOEXEC);
  struct process_setup setup = { .out = full };

  CU_ASSERT_FATAL (full >= 0);
  berth_with (&result, &setup, "run", "echo", "lost");
  CU_ASSERT_EQUAL (result.status, 125);
  CU_ASSERT_PTR_NOT_NULL (strstr (berth_buffer_string (&result.err), "No space left on device"));
  berth_with (&result, &setup, "ls");
  CU_ASSERT_EQUAL (result.status, 125);
  berth_with (&result, &setup, "create");
  CU_ASSERT_EQUAL (result.status, 125);
  CU_ASSERT_EQUAL (process_count_sandboxes (), 0);
  close (full);
}

/* A hang-up that was ignored from the start stays so, as under nohup. */
static void
test_ignored_hang_up (void)
{
  static const char *const arguments[] = { "run", "sleep", "1", NULL };
  AUTO_RESULT struct process_result result = { 0 };
  struct process process;

  signal (SIGHUP, SIG_IGN);
  CU_ASSERT_EQUAL_FATAL (process_start (&process, NULL, arguments), 0);
  signal (SIGHUP, SIG_DFL);
  CU_ASSERT (process_wait_for_sandboxes (1));
  kill (process.pid, SIGHUP);
  process_finish (&process, &result);
  CU_ASSERT_EQUAL (result.status, 0);
}

/* Ending an exec ends the command and all it started, and leaves the sandbox. */
static void
test_exec_ended (void)
{
  static const char *const arguments[] = { "exec", "stays", "sh", "-c", "echo on; sleep 54321", NULL };
  static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGKILL };
  AUTO_RESULT struct process_result result = { 0 };
  struct process process;
  char line[3];

  berth (&result, "create", "--name", "stays");
  CU_ASSERT_EQUAL (result.status, 0);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    {
      CU_ASSERT_EQUAL_FATAL (process_start (&process, NULL, arguments), 0);
      CU_ASSERT_EQUAL (read (process.out, line, 3), 3);
      kill (process.pid, numbers[i]);
      process_finish (&process, &result);
      CU_ASSERT_EQUAL (result.signal, numbers[i]);
      CU_ASSERT (process_wait_gone ("sleep", "54321"));
      berth (&result, "exec", "stays", "true");
      CU_ASSERT_EQUAL (result.status, 0);
    }
  berth (&result, "rm", "stays");
  CU_ASSERT_EQUAL (result.status, 0);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "SIGINT destroys the sandbox of run", test_interrupt },
    { "SIGTERM destroys the sandbox of run", test_terminate },
    { "SIGHUP destroys the sandbox of run", test_hang_up },
    { "SIGPIPE destroys the sandbox of run", test_pipe_signal },
    { "many signals end what one ends", test_many_signals },
    { "a signal at any time leaves nothing", test_signal_at_any_time },
    { "SIGKILL: the sandbox ends within 5 s", test_killed },
    { "a timeout destroys the sandbox of run", test_timeout },
    { "a reader that goes ends the command", test_reader_goes },
    { "a reader that stalls keeps nothing", test_reader_stalls },
    { "a writer that stalls keeps nothing", test_writer_stalls },
    { "closed standard output", test_output_is_closed },
    { "full standard output", test_output_is_full },
    { "a signal that was ignored stays ignored", test_ignored_hang_up },
    { "D-042 a signal ends an exec and keeps the sandbox", test_exec_ended },
    { NULL, NULL },
  };

  return process_main ("ends of berth on " BACKEND, BACKEND, tests);
}

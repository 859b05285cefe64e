/* Sandboxes that nobody uses, through the command.  Built once for each of the backends. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/cli/tests/process.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/clock.h"
#include "sdk/base/tests/runner.h"

#define PATIENCE_MS (60 * 1000)

static const char *
text_of (const struct berth_json *object, const char *key)
{
  const char *text = berth_json_string (berth_json_get (object, key));

  return text != NULL ? text : "";
}

static struct berth_json *
inspect (const char *name)
{
  AUTO_RESULT struct process_result result = { 0 };

  berth (&result, "inspect", name, "--json");
  return result.status == 0 ? process_json (&result.out) : NULL;
}

/* After another command has looked for idle ones. */
static bool
state_is (const char *name, const char *wanted)
{
  AUTO_RESULT struct process_result result = { 0 };

  berth (&result, "ls", "-q");
  BERTH_AUTO_JSON struct berth_json *sandbox = inspect (name);
  return strcmp (text_of (sandbox, "state"), wanted) == 0;
}

static bool
becomes (const char *name, const char *wanted)
{
  int64_t end_ms = berth_clock_monotonic_ms () + PATIENCE_MS;

  while (!state_is (name, wanted))
    {
      if (berth_clock_monotonic_ms () > end_ms)
        return false;
      berth_clock_sleep_ms (20);
    }
  return true;
}

/* Where the machine has nothing to freeze with, the backend does not declare it, and says so at create. */
static bool
make (const char *action, const char *more)
{
  AUTO_RESULT struct process_result result = { 0 };

  berth (&result, "create", "--name", "box", "--idle", "1ms", "--idle-action", action, more);
  if (result.status != 0 && strcmp (action, "pause") == 0 && strstr (berth_buffer_string (&result.err), "PAUSE") != NULL)
    {
      berth_test_skip ("nothing can be paused here");
      return false;
    }
  EXPECT_STATUS (result, 0);
  return result.status == 0;
}

static void
check_round (const char *action, const char *state, bool resume)
{
  AUTO_RESULT struct process_result result = { 0 };

  if (!make (action, resume ? "--idle-resume" : NULL))
    return;
  CU_ASSERT_TRUE (becomes ("box", state));
  berth (&result, "exec", "box", "sh", "-c", "exit 7");
  EXPECT_STATUS (result, resume ? 7 : 125);
  if (!resume)
    EXPECT_IN (result.err, strcmp (state, "paused") == 0 ? "`berth resume " : "`berth start ");
  CU_ASSERT_TRUE (becomes ("box", state));
  berth (&result, "rm", "box");
  EXPECT_STATUS (result, 0);
}

static void
test_pause (void)
{
  check_round ("pause", "paused", true);
  check_round ("pause", "paused", false);
}

static void
test_stop (void)
{
  check_round ("stop", "stopped", true);
  check_round ("stop", "stopped", false);
}

static void
test_destroy (void)
{
  int64_t end_ms = berth_clock_monotonic_ms () + PATIENCE_MS;
  AUTO_RESULT struct process_result result = { 0 };

  if (!make ("destroy", NULL))
    return;
  while (process_count_sandboxes () != 0 && berth_clock_monotonic_ms () < end_ms)
    berth_clock_sleep_ms (20);
  berth (&result, "exec", "box", "true");
  EXPECT_STATUS (result, 125);
  EXPECT_IN (result.err, "no sandbox");
  berth (&result, "events", "--json");
  EXPECT_IN (result.out, "nobody used it");
}

#ifdef EXECUTES
/* What was just written, and not synced, is whole after it was held, or ended, by nobody's word. */
static void
check_content (const char *action, const char *state)
{
  AUTO_RESULT struct process_result before = { 0 }, after = { 0 };

  if (!make (action, "--idle-resume"))
    return;
  berth (&before, "exec", "box", "sh", "-c", "head -c 16000000 /dev/urandom > data; sha256sum data");
  EXPECT_STATUS (before, 0);
  CU_ASSERT_TRUE (becomes ("box", state));
  berth (&after, "exec", "box", "sha256sum", "data");
  EXPECT_STATUS (after, 0);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&before.out), berth_buffer_string (&after.out));
  berth (&after, "rm", "box");
  EXPECT_STATUS (after, 0);
}

static void
test_content (void)
{
  check_content ("stop", "stopped");
  check_content ("pause", "paused");
}

static bool
is_in_use (const char *name)
{
  BERTH_AUTO_JSON struct berth_json *sandbox = inspect (name);
  int64_t unused_ms = -1;

  return berth_json_to_int64 (berth_json_get (berth_json_get (sandbox, "idle"), "unused_ms"), &unused_ms) == 0
         && unused_ms == 0 && strcmp (text_of (sandbox, "state"), "running") == 0;
}

/* A command that runs is a use.  Its client is killed: then nobody counts as using it, whatever was left
 * of the command.  What it had in its workspace is there when it goes on. */
static void
test_running (void)
{
  static const char *const line[]
      = { "exec", "box", "--timeout", "10m", "sh", "-c", "echo kept > file; exec sleep 600", NULL };
  AUTO_RESULT struct process_result result = { 0 };
  struct process process;
  int64_t end_ms = berth_clock_monotonic_ms () + PATIENCE_MS;

  if (!make ("stop", "--idle-resume"))
    return;
  CU_ASSERT_EQUAL_FATAL (process_start (&process, NULL, line), 0);
  while (!is_in_use ("box") && berth_clock_monotonic_ms () < end_ms)
    berth_clock_sleep_ms (20);
  for (int i = 0; i < 3; i++)
    CU_ASSERT_TRUE (state_is ("box", "running"));
  berth (&result, "reap", "--json");
  EXPECT_IN (result.out, "[]");
  while (berth_clock_monotonic_ms () < end_ms)
    {
      berth (&result, "read", "box", "file");
      if (result.status == 0 && strcmp (berth_buffer_string (&result.out), "kept\n") == 0)
        break;
    }
  kill (process.pid, SIGKILL);
  process_finish (&process, &result);
  CU_ASSERT_TRUE (becomes ("box", "stopped"));
  berth (&result, "read", "box", "file");
  EXPECT_STATUS (result, 0);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&result.out), "kept\n");
  berth (&result, "rm", "box");
  EXPECT_STATUS (result, 0);
}
#endif

static void
test_reap (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  int64_t end_ms = berth_clock_monotonic_ms () + PATIENCE_MS;

  if (!make ("stop", NULL))
    return;
  do
    {
      berth (&result, "reap", "--json");
      EXPECT_STATUS (result, 0);
    }
  while (strstr (berth_buffer_string (&result.out), "\"idle\"") == NULL && berth_clock_monotonic_ms () < end_ms);
  {
    BERTH_AUTO_JSON struct berth_json *list = process_json (&result.out), *box = inspect ("box");
    CU_ASSERT_STRING_EQUAL (text_of (berth_json_at (list, 0), "reason"), "idle");
    CU_ASSERT_STRING_EQUAL (text_of (berth_json_at (list, 0), "action"), "stop");
    CU_ASSERT_STRING_EQUAL (text_of (box, "state"), "running");
  }
  berth (&result, "reap", "--kill", "--json");
  EXPECT_STATUS (result, 0);
  BERTH_AUTO_JSON struct berth_json *done = process_json (&result.out);
  CU_ASSERT_STRING_EQUAL (text_of (berth_json_at (done, 0), "detail"), "stopped");
  BERTH_AUTO_JSON struct berth_json *box = inspect ("box");
  CU_ASSERT_STRING_EQUAL (text_of (box, "state"), "stopped");
  berth (&result, "rm", "box");
  EXPECT_STATUS (result, 0);
}

/* What is in force is shown, and half a wish refused. */
static void
test_told (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  int64_t after_ms = 0;

  berth (&result, "env", "save", "work", "--idle", "10m", "--idle-action", "stop", "--idle-resume");
  EXPECT_STATUS (result, 0);
  berth (&result, "env", "show", "work");
  EXPECT_IN (result.out, "stop");
  EXPECT_IN (result.out, "10m");
  berth (&result, "env", "show", "work", "--json");
  EXPECT_IN (result.out, "\"idle_action\"");
  berth (&result, "create", "--name", "box", "--environment", "work");
  EXPECT_STATUS (result, 0);
  BERTH_AUTO_JSON struct berth_json *sandbox = inspect ("box");
  const struct berth_json *idle = berth_json_get (sandbox, "idle");
  CU_ASSERT_STRING_EQUAL (text_of (idle, "action"), "stop");
  CU_ASSERT_EQUAL (berth_json_to_int64 (berth_json_get (idle, "after_ms"), &after_ms), 0);
  CU_ASSERT_EQUAL (after_ms, 600 * 1000);
  berth (&result, "ls", "--json");
  EXPECT_IN (result.out, "\"after_ms\"");
  berth (&result, "inspect", "box");
  EXPECT_IN (result.out, "stop after 10m, goes on when used");
  berth (&result, "rm", "box");
  berth (&result, "create", "--idle", "10m");
  EXPECT_STATUS (result, 125);
  EXPECT_IN (result.err, "--idle-action");
  berth (&result, "create", "--idle-action", "pause");
  EXPECT_STATUS (result, 125);
  EXPECT_IN (result.err, "after how long");
  berth (&result, "create", "--idle", "0", "--idle-action", "pause");
  EXPECT_STATUS (result, 2);
  berth (&result, "env", "rm", "work");
  EXPECT_STATUS (result, 0);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "what is idle is paused, and goes on where it was made so", test_pause },
    { "what is idle is stopped, and started where it was made so", test_stop },
    { "what is idle is destroyed", test_destroy },
#ifdef EXECUTES
    { "D-089 what was just written is whole after idleness", test_content },
    { "a command that runs is a use, and ends with its client", test_running },
#endif
    { "reap tells idle ones, and does what they were made for", test_reap },
    { "what becomes of idle ones is shown", test_told },
    { NULL, NULL },
  };

  return process_main ("idle-" BACKEND, BACKEND, tests);
}

/* Faults of others in how commands are started and ended, tried on the real agent. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sdk/agentlink/tests/support.h"
#include "sdk/base/clock.h"
#include "sdk/base/fs.h"
#include "sdk/base/tests/runner.h"

static const char *
output (struct run_result *result)
{
  return berth_buffer_string (&result->streams[0]);
}

static int
count_descriptors (pid_t pid)
{
  char path[64];
  BERTH_AUTO_DIR DIR *dir = NULL;
  int count = 0;

  snprintf (path, sizeof path, "/proc/%d/fd", (int) pid);
  dir = opendir (path);
  while (dir != NULL && readdir (dir) != NULL)
    count++;
  return count;
}

/* ---- D-029 ---- */

/* Each of them fails at another step of the start. */
static void
fail_to_start (struct agent_under_test *agent)
{
  static char longest[131072 + 1];
  struct berth_run nowhere = { .struct_size = sizeof nowhere, .asks = BERTH_RUN_WORKDIR, .workdir = "/no/such" };
  struct berth_run nobody = { .struct_size = sizeof nobody, .asks = BERTH_RUN_USER, .user = "nosuch" };
  struct run_result result;

  run_in_agent (agent, NULL, (const char *const[]) { "/no/such/program", NULL }, &result);
  CU_ASSERT (result.status == 0 && result.exit.code == 127);
  run_result_free (&result);
  run_script (agent, &nowhere, "true", &result);
  CU_ASSERT_EQUAL (result.status, -1);
  run_result_free (&result);
  run_script (agent, &nobody, "true", &result);
  CU_ASSERT_EQUAL (result.status, -1);
  run_result_free (&result);
  memset (longest, 'a', sizeof longest - 1);
  run_in_agent (agent, NULL, (const char *const[]) { "true", longest, NULL }, &result);
  CU_ASSERT_EQUAL (result.status, -1);
  run_result_free (&result);
}

static void
test_failing_starts (void)
{
  struct agent_under_test agent;
  struct run_result result;
  int64_t until;
  int inside, outside;

  if (!agent_start (&agent, NULL))
    return;
  fail_to_start (&agent);
  berth_clock_sleep_ms (50);
  inside = count_descriptors (agent.pid);
  outside = count_descriptors (getpid ());
  for (int i = 0; i < (berth_test_is_long () ? 500 : 100); i++)
    fail_to_start (&agent);
  CU_ASSERT_EQUAL (count_descriptors (getpid ()), outside);
  /* What served the last one may still be on its way out. */
  until = berth_clock_monotonic_ms () + 30000;
  while (count_descriptors (agent.pid) > inside && berth_clock_monotonic_ms () < until)
    berth_clock_sleep_ms (20);
  CU_ASSERT (inside > 2 && count_descriptors (agent.pid) <= inside);
  run_script (&agent, NULL, "cat & wait; echo end; cat; echo END", &result);
  CU_ASSERT_STRING_EQUAL (output (&result), "end\nEND\n");
  run_result_free (&result);
  agent_stop (&agent);
}

/* ---- D-041 ---- */

#define ROUNDS 13

/* The end by itself and the end by the timeout come at about the same time: one of them is told, and
 * nothing that is of both. */
static void
test_races_of_ends (void)
{
  struct agent_under_test agent;
  struct berth_run run = { .struct_size = sizeof run, .asks = BERTH_RUN_TIMEOUT };
  struct run_result result;
  int exited = 0, killed = 0;

  if (!agent_start (&agent, NULL))
    return;
  for (int i = 0; i < ROUNDS; i++)
    {
      run.timeout_ms = INT64_C (1) << i;
      run_script (&agent, &run, "sleep 0.02; sleep 100 & exit 3", &result);
      CU_ASSERT (result.status == 0 && result.exits == 1);
      if (result.exit.reason == BERTH_EXITED)
        exited += result.exit.code == 3 && result.exit.signal == 0;
      else
        killed += result.exit.reason == BERTH_TIMED_OUT && result.exit.code == -1
                  && result.exit.duration_ns >= (uint64_t) (run.timeout_ms - 1) * 1000000;
      run_result_free (&result);
    }
  CU_ASSERT (exited > 0 && killed > 0);
  CU_ASSERT_EQUAL (exited + killed, ROUNDS);
  agent_stop (&agent);
}

/* ---- D-049 ---- */

static void
check_waits (struct agent_under_test *agent)
{
  struct agentlink_facts facts = { .processes = 1 };
  int64_t until = berth_clock_monotonic_ms () + 30000;
  struct run_result result;

  run_script (agent, NULL, "(sleep 0.05 >/dev/null 2>&1 &); false & wait $!; echo $?; exit 5", &result);
  CU_ASSERT_STRING_EQUAL (output (&result), "1\n");
  CU_ASSERT (result.status == 0 && result.exit.reason == BERTH_EXITED && result.exit.code == 5);
  CU_ASSERT (result.duration_ms < 5000);
  run_result_free (&result);
  while (facts.processes > 0 && berth_clock_monotonic_ms () < until)
    {
      CU_ASSERT_EQUAL (agentlink_ping (&agent->recorded.call, &agent->handle.link, &facts), 0);
      berth_clock_sleep_ms (10);
    }
  CU_ASSERT_EQUAL (facts.processes, 0);
}

/* As a child, as the first process, and as a child of one who waits for no child and blocks signals. */
static void
test_ways_of_starting (void)
{
  struct agent_under_test agent;
  sigset_t all, before;
  bool started;

  if (agent_start_as (&agent, AGENT_WITH_TOKEN, NULL))
    {
      check_waits (&agent);
      CU_ASSERT_EQUAL (agent_stop (&agent), 0);
    }
  if (agent_start_as (&agent, AGENT_IN_NAMESPACE, NULL))
    {
      check_waits (&agent);
      CU_ASSERT_EQUAL (agent_stop (&agent), 0);
    }
  sigfillset (&all);
  sigprocmask (SIG_BLOCK, &all, &before);
  signal (SIGCHLD, SIG_IGN);
  started = agent_start (&agent, NULL);
  signal (SIGCHLD, SIG_DFL);
  sigprocmask (SIG_SETMASK, &before, NULL);
  if (started)
    {
      check_waits (&agent);
      CU_ASSERT_EQUAL (agent_stop (&agent), 0);
    }
}

/* ---- D-063 ---- */

static void
check_who (struct agent_under_test *agent, const char *user, const char *expected, uid_t uid, gid_t gid)
{
  struct berth_run run = { .struct_size = sizeof run, .asks = user != NULL ? BERTH_RUN_USER : 0, .user = user };
  struct run_result result;
  struct stat status = { .st_uid = 4242 };

  run_script (agent, &run, "echo \"$HOME $USER $LOGNAME\"; id -u; id -G; umask; touch made", &result);
  CU_ASSERT_STRING_EQUAL (output (&result), expected);
  if (strcmp (output (&result), expected) != 0)
    fprintf (stderr, "%s: %s%s", user, output (&result), berth_buffer_string (&result.streams[1]));
  run_result_free (&result);
  CU_ASSERT_EQUAL (lstat (in_workspace (agent, "made"), &status), 0);
  CU_ASSERT (status.st_uid == uid && status.st_gid == gid && (status.st_mode & 07777) == 0644);
  unlink (in_workspace (agent, "made"));
}

static void
test_accounts (void)
{
  struct agent_under_test agent;
  struct berth_run run = { .struct_size = sizeof run, .asks = BERTH_RUN_USER, .user = "nosuch" };
  struct run_result result;

  if (!agent_start (&agent, NULL))
    return;
  CU_ASSERT_EQUAL (chmod (agent.workspace, 01777), 0);
  check_who (&agent, NULL, "/nonexistent nobody nobody\n65534\n65534\n0022\n", 65534, 65534);
  check_who (&agent, "root", "/root root root\n0\n0\n0022\n", 0, 0);
  check_who (&agent, "daemon:65534", "/usr/sbin daemon daemon\n1\n65534\n0022\n", 1, 65534);
  check_who (&agent, "4321:1234", "/ 4321 4321\n4321\n1234\n0022\n", 4321, 1234);
  run_script (&agent, &run, "true", &result);
  CU_ASSERT (result.status == -1 && agent.recorded.code == BERTH_E_INVALID_REQUEST);
  CU_ASSERT_PTR_NOT_NULL (strstr (agent.recorded.message, "nosuch"));
  run_result_free (&result);
  agent_stop (&agent);
}

/* ---- D-005, D-022 ---- */

static long
resident_kib (pid_t pid)
{
  BERTH_AUTO_BUFFER struct berth_buffer status = { 0 };
  char path[64];
  const char *line;

  snprintf (path, sizeof path, "/proc/%d/status", (int) pid);
  if (berth_fs_read (AT_FDCWD, path, &status, 65536) < 0)
    return -1;
  line = strstr (berth_buffer_string (&status), "VmRSS:");
  return line != NULL ? strtol (line + 6, NULL, 10) : -1;
}

/* What is printed when nobody listens any more is thrown away, not kept: the nanny, which is the parent of
 * what its command left behind, stays as small as it was. */
static void
test_dropped_output (void)
{
  struct agent_under_test agent;
  struct run_result result;
  char nanny_text[16] = "";
  struct stat status = { 0 };
  int64_t until = berth_clock_monotonic_ms () + 60000;
  long before;
  pid_t nanny;

  if (!agent_start (&agent, NULL))
    return;
  run_script (&agent, NULL, "echo $PPID; (sleep 0.3; head -c 300000000 /dev/zero; echo x >done; sleep 100) &", &result);
  snprintf (nanny_text, sizeof nanny_text, "%s", output (&result));
  run_result_free (&result);
  nanny = (pid_t) strtol (nanny_text, NULL, 10);
  before = resident_kib (nanny);
  while ((stat (in_workspace (&agent, "done"), &status) < 0 || status.st_size < 2) && berth_clock_monotonic_ms () < until)
    berth_clock_sleep_ms (20);
  CU_ASSERT_EQUAL (status.st_size, 2);
  CU_ASSERT (before > 0 && resident_kib (nanny) > 0 && resident_kib (nanny) < before + 1024);
  agent_stop (&agent);
}

static const struct berth_test tests[] = {
  { "D-029 starts that fail leave no descriptor", test_failing_starts },
  { "D-041 an end is of one kind", test_races_of_ends },
  { "D-049 it waits the same in every way of starting", test_ways_of_starting },
  { "D-063 E08 home, groups and umask are the account's", test_accounts },
  { "D-005 D-022 dropped output is not kept", test_dropped_output },
  { NULL, NULL },
};

int
main (void)
{
  return berth_test_main ("agent cases", tests);
}

/* Commands in the real agent. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sdk/agentlink/tests/support.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/clock.h"
#include "sdk/base/fd.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"
#include "sdk/base/tests/runner.h"
#include "sdk/base/tests/stall.h"

#define SLOWEST_MS 20000 /* for a script to begin */
#define GRACE_MS 2000

static const char *
output (struct run_result *result)
{
  return berth_buffer_string (&result->streams[0]);
}

/* Runs SCRIPT and compares its output. */
static void
check_output (struct agent_under_test *agent, struct berth_run *run, const char *script, const char *expected)
{
  struct run_result result;

  run_script (agent, run, script, &result);
  CU_ASSERT_EQUAL (result.status, 0);
  CU_ASSERT_EQUAL (result.exits, 1);
  CU_ASSERT_STRING_EQUAL (output (&result), expected);
  if (strcmp (output (&result), expected) != 0)
    fprintf (stderr, "%s\n-> %s", script, output (&result));
  run_result_free (&result);
}

static void
check_exit (struct agent_under_test *agent, const char *const *arguments, uint32_t reason, int code, int number)
{
  struct run_result result;

  run_in_agent (agent, NULL, arguments, &result);
  CU_ASSERT_EQUAL (result.status, 0);
  CU_ASSERT_EQUAL (result.exits, 1);
  CU_ASSERT_EQUAL (result.exit.reason, reason);
  CU_ASSERT_EQUAL (result.exit.code, code);
  CU_ASSERT_EQUAL (result.exit.signal, number);
  if (result.exit.code != code || result.exit.signal != number)
    fprintf (stderr, "%s: code %d, signal %d\n", arguments[0], result.exit.code, result.exit.signal);
  run_result_free (&result);
}

static void
test_argv (void)
{
  struct agent_under_test agent;
  struct run_result result;
  const char *const arguments[] = { "printf", "%s|", "$HOME", "a b", "", "*", "\xff\n", NULL };

  if (!agent_start (&agent, NULL))
    return;
  run_in_agent (&agent, NULL, arguments, &result);
  CU_ASSERT_STRING_EQUAL (output (&result), "$HOME|a b||*|\xff\n|");
  run_result_free (&result);
  agent_stop (&agent);
}

static void
test_streams (void)
{
  struct agent_under_test agent;
  struct run_result result;

  if (!agent_start (&agent, NULL))
    return;
  run_script (&agent, NULL, "cat; printf 'a\\0b'; printf 'c\\377' >&2; exit 42", &result);
  CU_ASSERT_EQUAL (result.status, 0);
  CU_ASSERT_EQUAL (result.exit.code, 42);
  CU_ASSERT (result.streams[0].size == 3 && memcmp (result.streams[0].data, "a\0b", 3) == 0);
  CU_ASSERT (result.streams[1].size == 2 && memcmp (result.streams[1].data, "c\xff", 2) == 0);
  run_result_free (&result);
  agent_stop (&agent);
}

static void
make_file (const char *path, const char *content, mode_t mode)
{
  CU_ASSERT_EQUAL (berth_fs_replace (AT_FDCWD, path, content, strlen (content), mode), 0);
  CU_ASSERT_EQUAL (chmod (path, mode), 0);
}

static void
test_exit_codes (void)
{
  struct agent_under_test agent;
  const char *plain, *closed, *orphan, *unmarked;

  if (!agent_start (&agent, NULL))
    return;
  plain = in_workspace (&agent, "plain");
  closed = in_workspace (&agent, "closed");
  orphan = in_workspace (&agent, "orphan");
  unmarked = in_workspace (&agent, "unmarked");
  make_file (plain, "x", 0644);
  make_file (closed, "x", 0);
  make_file (orphan, "#!/no/such/interpreter\n", 0755);
  make_file (unmarked, "echo no\n", 0755);
  check_exit (&agent, (const char *const[]) { "/no/such/command", NULL }, BERTH_EXITED, 127, 0);
  check_exit (&agent, (const char *const[]) { "no-such-command", NULL }, BERTH_EXITED, 127, 0);
  check_exit (&agent, (const char *const[]) { "/etc", NULL }, BERTH_EXITED, 126, 0);
  check_exit (&agent, (const char *const[]) { plain, NULL }, BERTH_EXITED, 126, 0);
  check_exit (&agent, (const char *const[]) { closed, NULL }, BERTH_EXITED, 126, 0);
  check_exit (&agent, (const char *const[]) { orphan, NULL }, BERTH_EXITED, 127, 0);
  check_exit (&agent, (const char *const[]) { unmarked, NULL }, BERTH_EXITED, 126, 0);
  check_exit (&agent, (const char *const[]) { "", NULL }, BERTH_EXITED, 127, 0);
  check_exit (&agent, (const char *const[]) { "true", NULL }, BERTH_EXITED, 0, 0);
  check_exit (&agent, (const char *const[]) { "false", NULL }, BERTH_EXITED, 1, 0);
  agent_stop (&agent);
}

static void
test_no_argument (void)
{
  struct agent_under_test agent;
  struct run_result result;

  if (!agent_start (&agent, NULL))
    return;
  run_in_agent (&agent, NULL, (const char *const[]) { NULL }, &result);
  CU_ASSERT_EQUAL (result.status, -1);
  CU_ASSERT_EQUAL (agent.recorded.code, BERTH_E_INVALID_REQUEST);
  run_result_free (&result);
  agent_stop (&agent);
}

static void
test_signals (void)
{
  static const int numbers[] = { SIGKILL, SIGTERM, SIGSEGV, SIGPIPE, SIGABRT };
  struct agent_under_test agent;
  char script[64];

  if (!agent_start (&agent, NULL))
    return;
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    {
      snprintf (script, sizeof script, "ulimit -c 0; kill -%d $$", numbers[i]);
      check_exit (&agent, (const char *const[]) { "sh", "-c", script, NULL }, BERTH_SIGNALLED, -1, numbers[i]);
    }
  check_exit (&agent, (const char *const[]) { "sh", "-c", "exit 137", NULL }, BERTH_EXITED, 137, 0);
  agent_stop (&agent);
}

static void
test_environment (void)
{
  struct agent_under_test agent;
  struct berth_pair pairs[] = { { "A", "x\ny", 0, 0 },          { "B", "", 0, 0 },       { "C", "a=b=c", 0, 0 },
                                { "D", "'\"\\$HOME`id`", 0, 0 }, { "E", "\xff", 0, 0 },   { "F", " first ", 0, 0 },
                                { "F", " last ", 0, 0 },         { "HOME", "/x", 0, 0 } };
  struct berth_run run = { .struct_size = sizeof run,
                           .asks = BERTH_RUN_ENVIRONMENT,
                           .environment = pairs,
                           .environment_count = sizeof pairs / sizeof *pairs };
  static const char *const bad[] = { "", "has space", "A=B", "new\nline", "\xc3\xa9" };
  struct run_result result;

  if (!agent_start (&agent, NULL))
    return;
  run_in_agent (&agent, &run, (const char *const[]) { "env", "-0", NULL }, &result);
  for (size_t i = 0; i < result.streams[0].size; i++)
    if (result.streams[0].data[i] == '\0')
      result.streams[0].data[i] = ';';
  CU_ASSERT_STRING_EQUAL (output (&result),
                          "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin;LANG=C.UTF-8;HOME=/x;"
                          "USER=nobody;LOGNAME=nobody;A=x\ny;B=;C=a=b=c;D='\"\\$HOME`id`;E=\xff;F= last ;");
  run_result_free (&result);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    {
      pairs[0].name = bad[i];
      run_in_agent (&agent, &run, (const char *const[]) { "true", NULL }, &result);
      CU_ASSERT_EQUAL (result.status, -1);
      CU_ASSERT_EQUAL (agent.recorded.code, BERTH_E_INVALID_REQUEST);
      run_result_free (&result);
    }
  agent_stop (&agent);
}

static void
test_own_path (void)
{
  struct agent_under_test agent;
  struct berth_pair pair = { "PATH", NULL, 0, 0 };
  struct berth_run run = { .struct_size = sizeof run,
                           .asks = BERTH_RUN_ENVIRONMENT,
                           .environment = &pair,
                           .environment_count = 1 };
  struct run_result result;

  if (!agent_start (&agent, NULL))
    return;
  make_file (in_workspace (&agent, "only-here"), "#!/bin/sh\necho found\n", 0755);
  pair.value = agent.workspace;
  run_in_agent (&agent, &run, (const char *const[]) { "only-here", NULL }, &result);
  CU_ASSERT_STRING_EQUAL (output (&result), "found\n");
  run_result_free (&result);
  run_in_agent (&agent, NULL, (const char *const[]) { "only-here", NULL }, &result);
  CU_ASSERT_EQUAL (result.exit.code, 127);
  run_result_free (&result);
  agent_stop (&agent);
}

static void
test_workdir (void)
{
  struct agent_under_test agent;
  struct berth_run run = { .struct_size = sizeof run, .asks = BERTH_RUN_WORKDIR };
  struct run_result result;
  char expected[128];

  if (!agent_start (&agent, NULL))
    return;
  make_file (in_workspace (&agent, "file"), "", 0644);
  CU_ASSERT_EQUAL (symlink ("nowhere", in_workspace (&agent, "dangling")), 0);
  CU_ASSERT_EQUAL (mkdir (in_workspace (&agent, "closed"), 0700), 0);
  snprintf (expected, sizeof expected, "%s\n", agent.workspace);
  check_output (&agent, NULL, "pwd", expected);
  run.workdir = "/usr";
  check_output (&agent, &run, "pwd", "/usr\n");
  for (const char *const *name = (const char *const[]) { "missing", "file", "dangling", "closed", NULL }; *name != NULL;
       name++)
    {
      run.workdir = in_workspace (&agent, *name);
      run_script (&agent, &run, "touch started", &result);
      CU_ASSERT_EQUAL (result.status, -1);
      CU_ASSERT_EQUAL (agent.recorded.code, BERTH_E_INVALID_REQUEST);
      CU_ASSERT_PTR_NOT_NULL (strstr (agent.recorded.message, "bad working directory"));
      run_result_free (&result);
    }
  CU_ASSERT_PTR_NOT_NULL (strstr (agent.recorded.message, strerror (EACCES)));
  run.workdir = "relative";
  run_script (&agent, &run, "true", &result);
  CU_ASSERT_EQUAL (agent.recorded.code, BERTH_E_INVALID_REQUEST);
  run_result_free (&result);
  CU_ASSERT_NOT_EQUAL (access (in_workspace (&agent, "started"), F_OK), 0);
  agent_stop (&agent);
}

static void
test_user (void)
{
  struct agent_under_test agent;
  struct berth_run run = { .struct_size = sizeof run, .asks = BERTH_RUN_USER };
  struct run_result result;

  if (!agent_start (&agent, NULL))
    return;
  check_output (&agent, NULL, "id -u; id -g", "65534\n65534\n");
  run.user = "root";
  check_output (&agent, &run, "id -u; id -G; cd; pwd", "0\n0\n/root\n");
  run.user = "daemon:65534";
  check_output (&agent, &run, "id -u; id -g", "1\n65534\n");
  run.user = "4321";
  check_output (&agent, &run, "id -u; id -g; echo $HOME", "4321\n4321\n/\n");
  for (const char *const *user = (const char *const[]) { "nosuch", "root:nosuch", "-1", "4294967295", "", NULL };
       *user != NULL; user++)
    {
      run.user = *user;
      run_script (&agent, &run, "true", &result);
      CU_ASSERT_EQUAL (result.status, -1);
      CU_ASSERT_EQUAL (agent.recorded.code, BERTH_E_INVALID_REQUEST);
      run_result_free (&result);
    }
  agent_stop (&agent);
}

static void
test_forbidden_root (void)
{
  struct agent_under_test agent;
  struct berth_run run = { .struct_size = sizeof run, .asks = BERTH_RUN_USER };
  struct run_result result;

  if (!agent_start (&agent, (const char *const[]) { "--forbid-root", NULL }))
    return;
  for (const char *const *user = (const char *const[]) { "root", "0", "0:65534", NULL }; *user != NULL; user++)
    {
      run.user = *user;
      run_script (&agent, &run, "true", &result);
      CU_ASSERT_EQUAL (result.status, -1);
      CU_ASSERT_EQUAL (agent.recorded.code, BERTH_E_POLICY_DENIED);
      run_result_free (&result);
    }
  check_output (&agent, NULL, "id -u", "65534\n");
  agent_stop (&agent);
}

static void
test_state (void)
{
  struct agent_under_test agent;
  struct berth_run run = { .struct_size = sizeof run, .asks = BERTH_RUN_USER, .user = "root" };

  if (!agent_start (&agent, (const char *const[]) { "--limit-open-files", "77", "--limit-core", "0", NULL }))
    return;
  check_output (&agent, NULL, "ls /proc/self/fd | wc -l; umask; ulimit -n; ulimit -c", "4\n0022\n77\n0\n");
  check_output (&agent, &run, "grep -E 'Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs|Sig(Blk|Ign)' /proc/self/status | tr -d '\\t\\n'",
                "SigBlk:0000000000000000SigIgn:0000000000000000CapInh:0000000000000000CapPrm:0000000000000000"
                "CapEff:0000000000000000CapBnd:0000000000000000CapAmb:0000000000000000NoNewPrivs:1");
  check_output (&agent, NULL, "readlink /proc/self/fd/0; test \"$(cut -d ' ' -f 6 /proc/$$/stat)\" -eq $$ && echo leader",
                "/dev/null\nleader\n");
  agent_stop (&agent);
}

/* The nanny is the command's parent: neither its user nor root without capabilities may look into it. */
static void
test_closed_nanny (void)
{
  struct agent_under_test agent;
  struct berth_run run = { .struct_size = sizeof run, .asks = BERTH_RUN_USER, .user = "root" };
  static const char script[] = "cat /proc/$PPID/environ /proc/$PPID/maps >/dev/null 2>&1 && echo open;"
                               "readlink /proc/$PPID/fd/0 /proc/$PPID/exe /proc/$PPID/root && echo open; cat /proc/self/maps >/dev/null && echo control";

  if (!agent_start (&agent, NULL))
    return;
  check_output (&agent, NULL, script, "control\n");
  check_output (&agent, &run, script, "control\n");
  agent_stop (&agent);
}

#ifdef SYS_mkdir
#define MKDIR SYS_mkdir
#else
#define MKDIR SYS_mkdirat
#endif

/* A filter that allows everything but one call, which fails with a number of its own. */
static void
test_filter (void)
{
  const struct sock_filter filter[] = {
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, nr)),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, MKDIR, 0, 1),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EXDEV),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct agent_under_test agent;
  int pair[2];
  char number[16];

  CU_ASSERT_EQUAL_FATAL (pipe (pair), 0);
  CU_ASSERT_EQUAL (berth_fd_write_all (pair[1], filter, sizeof filter), 0);
  close (pair[1]);
  snprintf (number, sizeof number, "%d", pair[0]);
  if (agent_start (&agent, (const char *const[]) { "--seccomp-fd", number, NULL }))
    {
      check_output (&agent, NULL, "grep Seccomp: /proc/self/status; mkdir x 2>&1 | grep -o cross-device",
                    "Seccomp:\t2\ncross-device\n");
      agent_stop (&agent);
    }
  close (pair[0]);
}

/* ---- time and trees ---- */

static long
size_of (const char *path)
{
  struct stat status;

  return stat (path, &status) == 0 ? (long) status.st_size : -1;
}

/* What was just killed may need a moment to be reaped. */
static void
check_no_process_left (struct agent_under_test *agent)
{
  struct agentlink_facts facts = { .processes = 1 };

  for (int round = 0; round < 3000 && facts.processes > 0; round++)
    {
      CU_ASSERT_EQUAL (agentlink_ping (&agent->recorded.call, &agent->handle.link, &facts), 0);
      if (facts.processes > 0)
        berth_clock_sleep_ms (10);
    }
  CU_ASSERT_EQUAL (facts.processes, 0);
}

/* What wrote ticks has ended, and does not write any more. */
static void
check_ticks_stopped (struct agent_under_test *agent)
{
  long before;

  check_no_process_left (agent);
  before = size_of (in_workspace (agent, "ticks"));
  CU_ASSERT (before > 0);
  berth_clock_sleep_ms (200);
  CU_ASSERT_EQUAL (size_of (in_workspace (agent, "ticks")), before);
  unlink (in_workspace (agent, "ticks"));
}

/* The time is doubled until the machine is fast enough for SCRIPT to have begun before it was up. */
static void
check_killed (struct agent_under_test *agent, const char *script)
{
  struct berth_run run = { .struct_size = sizeof run, .asks = BERTH_RUN_TIMEOUT, .timeout_ms = 200 };
  struct berth_test_stall stall;
  struct run_result result;
  int64_t withheld_ms;

  CU_ASSERT_FATAL (berth_test_stall_start (&stall));
  for (;; run.timeout_ms *= 2)
    {
      berth_test_stall_reset (&stall);
      unlink (in_workspace (agent, "ticks"));
      run_script (agent, &run, script, &result);
      withheld_ms = berth_test_stall_ms (&stall);
      if (size_of (in_workspace (agent, "ticks")) > 0 || result.exit.reason != BERTH_TIMED_OUT || run.timeout_ms > SLOWEST_MS)
        break;
      run_result_free (&result);
    }
  berth_test_stall_stop (&stall);
  CU_ASSERT_EQUAL (result.status, 0);
  CU_ASSERT_EQUAL (result.exit.reason, BERTH_TIMED_OUT);
  CU_ASSERT_EQUAL (result.exit.code, -1);
  CU_ASSERT_STRING_EQUAL (output (&result), "partial\n");
  CU_ASSERT (result.duration_ms >= run.timeout_ms && result.duration_ms < run.timeout_ms + GRACE_MS + withheld_ms);
  run_result_free (&result);
  check_ticks_stopped (agent);
}

#define TICK "while :; do printf x >>ticks; sleep 0.02; done"

static void
test_timeout (void)
{
  struct agent_under_test agent;

  if (!agent_start (&agent, NULL))
    return;
  check_killed (&agent, "echo partial; (" TICK ") & wait");
  check_killed (&agent, "echo partial; setsid sh -c '" TICK "' & sleep 100");
  check_killed (&agent, "echo partial; (setsid sh -c '(" TICK ") &' &) ; sleep 100");
  check_killed (&agent, "echo partial; nohup sh -c '" TICK "' >/dev/null 2>&1 & sleep 100");
  check_killed (&agent, "echo partial; trap '' TERM HUP INT; sh -c 'trap \"(" TICK ") &\" TERM HUP INT; " TICK "'");
  agent_stop (&agent);
}

/* What comes soon after the exit is still waited for; how soon that is depends on the machine. */
static void
check_soon (struct agent_under_test *agent)
{
  struct run_result result;
  bool whole = false;

  for (int i = 0; i < 50 && !whole; i++)
    {
      run_script (agent, NULL, "(sleep 0.03; echo soon) & echo now", &result);
      whole = strcmp (output (&result), "now\nsoon\n") == 0 && (result.exit.has & BERTH_EXIT_PIPE_HELD) == 0;
      run_result_free (&result);
    }
  CU_ASSERT_TRUE (whole);
}

static void
test_background (void)
{
  struct agent_under_test agent;
  struct run_result result;

  if (!agent_start (&agent, NULL))
    return;
  run_script (&agent, NULL, "(until [ -e go ]; do sleep 0.02; done; echo late; echo survived >survivor) & echo now", &result);
  CU_ASSERT_EQUAL (result.exit.code, 0);
  CU_ASSERT_STRING_EQUAL (output (&result), "now\n");
  CU_ASSERT ((result.exit.has & BERTH_EXIT_PIPE_HELD) != 0);
  run_result_free (&result);
  CU_ASSERT_EQUAL (write_file (&agent, in_workspace (&agent, "go"), "", 0, NULL), 0);
  check_no_process_left (&agent);
  CU_ASSERT_EQUAL (size_of (in_workspace (&agent, "survivor")), 9);
  check_soon (&agent);
  agent_stop (&agent);
}

/* What comes late comes that much less than the pause before the exit. */
static void
check_prompt (struct agent_under_test *agent, const char *script, int stream)
{
  struct berth_test_stall stall;
  struct run_result result;
  int64_t withheld_ms;

  CU_ASSERT_FATAL (berth_test_stall_start (&stall));
  run_script (agent, NULL, script, &result);
  withheld_ms = berth_test_stall_ms (&stall);
  berth_test_stall_stop (&stall);
  CU_ASSERT (result.first_output_ms >= 0 && result.duration_ms - result.first_output_ms >= 1000 - 500 - withheld_ms);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&result.streams[stream]), "early");
  run_result_free (&result);
}

static void
test_prompt_output (void)
{
  struct agent_under_test agent;

  if (!agent_start (&agent, NULL))
    return;
  check_prompt (&agent, "printf early; sleep 1", 0);
  check_prompt (&agent, "printf early >&2; sleep 1", 1);
  agent_stop (&agent);
}

static int
count_output (void *context, uint32_t stream, const void *bytes, size_t size)
{
  (void) stream;
  (void) bytes;
  *(uint64_t *) context += size;
  return 0;
}

static int
ignore_exit (void *context, const struct berth_exit *ended)
{
  (void) context;
  return ended->code;
}

static void
test_much_output (void)
{
  struct agent_under_test agent;
  const char *arguments[] = { "sh", "-c", "head -c 50000000 /dev/zero & head -c 50000000 /dev/zero >&2; wait", NULL };
  struct berth_run run = { .struct_size = sizeof run, .arguments = arguments, .argument_count = 3 };
  uint64_t bytes = 0;
  struct berth_run_sink sink = { sizeof sink, 0, &bytes, count_output, ignore_exit };

  if (!agent_start (&agent, NULL))
    return;
  CU_ASSERT_EQUAL (agentlink_run (&agent.recorded.call, &agent.handle, &run, &sink), 0);
  CU_ASSERT_EQUAL (bytes, 100000000);
  agent_stop (&agent);
}

static void
test_longest_arguments (void)
{
  struct agent_under_test agent;
  struct run_result result;
  char *longest = malloc (131072 + 1);

  if (longest == NULL || !agent_start (&agent, NULL))
    {
      free (longest);
      return;
    }
  memset (longest, 'a', 131072);
  longest[131071] = '\0';
  run_in_agent (&agent, NULL, (const char *const[]) { "sh", "-c", "echo ${#1}", "sh", longest, NULL }, &result);
  CU_ASSERT_STRING_EQUAL (output (&result), "131071\n");
  run_result_free (&result);
  longest[131071] = 'a';
  longest[131072] = '\0';
  run_in_agent (&agent, NULL, (const char *const[]) { "sh", "-c", "echo ${#1}", "sh", longest, NULL }, &result);
  CU_ASSERT_EQUAL (result.status, -1);
  CU_ASSERT_EQUAL (agent.recorded.code, BERTH_E_INVALID_REQUEST);
  CU_ASSERT_PTR_NOT_NULL (strcasestr (agent.recorded.message, "argument 4 has 131072 bytes"));
  run_result_free (&result);
  free (longest);
  agent_stop (&agent);
}

/* E15: within a second of the end of the call. */
static void
test_cancel (void)
{
  struct agent_under_test agent;
  struct berth_test_stall stall;
  struct run_result result;
  int64_t gone_ms;

  if (!agent_start (&agent, NULL))
    return;
  CU_ASSERT_FATAL (berth_test_stall_start (&stall));
  for (int64_t ms = 300; ms < SLOWEST_MS && size_of (in_workspace (&agent, "ticks")) <= 0; ms *= 2)
    {
      agent.recorded.deadline_ns = berth_clock_monotonic_ns () + ms * 1000000;
      berth_test_stall_reset (&stall);
      run_script (&agent, NULL, TICK, &result);
      gone_ms = agent.recorded.deadline_ns / 1000000;
      CU_ASSERT_EQUAL (result.status, -1);
      CU_ASSERT_EQUAL (result.exits, 0);
      CU_ASSERT_EQUAL (agent.recorded.code, BERTH_E_TIMEOUT);
      run_result_free (&result);
      agent.recorded.deadline_ns = 0;
      check_no_process_left (&agent);
      gone_ms = berth_clock_monotonic_ms () - gone_ms;
      CU_ASSERT (gone_ms <= 1000 + berth_test_stall_ms (&stall));
    }
  berth_test_stall_stop (&stall);
  check_ticks_stopped (&agent);
  agent_stop (&agent);
}

static void
test_dead_nanny (void)
{
  struct agent_under_test agent;
  struct berth_run run = { .struct_size = sizeof run, .asks = BERTH_RUN_USER, .user = "root" };
  struct run_result result;

  if (!agent_start (&agent, NULL))
    return;
  /* Root has no capability here that would let it write to another's directory. */
  CU_ASSERT_EQUAL (chmod (agent.workspace, 0777), 0);
  run_script (&agent, &run, "setsid sh -c '" TICK "' & until [ -s ticks ]; do sleep 0.02; done; kill -9 $PPID; sleep 100", &result);
  CU_ASSERT_EQUAL (result.status, -1);
  CU_ASSERT_EQUAL (agent.recorded.code, BERTH_E_UNREACHABLE);
  run_result_free (&result);
  check_ticks_stopped (&agent);
  check_output (&agent, NULL, "echo next", "next\n");
  agent_stop (&agent);
}

/* Uid 0 kills, stops, slows and limits what has its id, and no process of the agent's has. */
static void
test_own_id (void)
{
  struct agent_under_test agent;
  struct berth_run run = { .struct_size = sizeof run, .asks = BERTH_RUN_USER, .user = "root" };
  struct run_result result;
  static const char script[] = "for s in 0 STOP KILL; do kill -$s $PPID && echo $s; done;"
                               "renice 19 $PPID && echo slowed; prlimit --pid $PPID --nofile=0 && echo limited;"
                               "sleep 100 & kill $! && echo control";

  if (!agent_start (&agent, (const char *const[]) { "--own-id", "54321", NULL }))
    return;
  check_output (&agent, &run, script, "control\n");
  /* What commands and files have is theirs as before. */
  check_output (&agent, &run, "id -u; grep -c '^Cap.*:.0000000000000000$' /proc/self/status; cat /proc/self/oom_score_adj", "0\n5\n500\n");
  check_output (&agent, NULL, "id -u; grep -c '^Cap.*:.0000000000000000$' /proc/self/status", "65534\n5\n");
  CU_ASSERT_EQUAL (write_file (&agent, in_workspace (&agent, "new"), "x", 1, NULL), 0);
  check_output (&agent, NULL, "stat -c %u new", "65534\n");
  for (const char *const *user = (const char *const[]) { "54321", "54321:0", NULL }; *user != NULL; user++)
    {
      run.user = *user;
      run_script (&agent, &run, "id", &result);
      CU_ASSERT_EQUAL (result.status, -1);
      CU_ASSERT_EQUAL (agent.recorded.code, BERTH_E_INVALID_REQUEST);
      CU_ASSERT_PTR_NOT_NULL (strstr (agent.recorded.message, "the agent's own number"));
      run_result_free (&result);
    }
  agent_stop (&agent);
}

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#endif

/* The place is root's, so that nothing else keeps it from it. */
static void
test_landlock (void)
{
  struct agent_under_test agent;
  struct berth_run run = { .struct_size = sizeof run, .asks = BERTH_RUN_USER, .user = "root" };
  char place[] = "/var/lib/berth-test-XXXXXX";
  BERTH_AUTO_FREE char *outside = NULL;
  static const char inside[] = "mkdir a b && echo x > a/f && mv a/f b/f && ln b/f a/g && ln -s g a/s && mkfifo a/p && mv a/p b &&"
                               "truncate -s 9 b/f && mv b a && rm -r a && echo x > /dev/null && echo x > /proc/self/comm &&"
                               "f=$(mktemp) && rm $f && (exec 3<>/dev/ptmx) && echo works";

  if (syscall (SYS_landlock_create_ruleset, NULL, 0, 1) < 2)
    {
      berth_test_skip ("the kernel has no Landlock, or its first version");
      return;
    }
  if (!agent_start (&agent, NULL))
    return;
  CU_ASSERT_PTR_NOT_NULL_FATAL (mkdtemp (place));
  outside = berth_string_format ("cd %s && (echo x > file) 2>/dev/null && rm file && echo file; mkdir x 2>/dev/null && rmdir x &&"
                                 "echo directory; ln -s x link 2>/dev/null && rm link && echo link; echo tried", place);
  check_output (&agent, &run, outside, "file\ndirectory\nlink\ntried\n");
  agent_stop (&agent);
  if (!agent_start (&agent, (const char *const[]) { "--landlock", NULL }))
    {
      rmdir (place);
      return;
    }
  check_output (&agent, &run, outside, "tried\n");
  check_output (&agent, NULL, inside, "works\n");
  CU_ASSERT_EQUAL (write_file (&agent, in_workspace (&agent, "new"), "x", 1, NULL), 0);
  agent_stop (&agent);
  CU_ASSERT_EQUAL (rmdir (place), 0);
}

static void
test_many (void)
{
  struct agent_under_test agent;

  if (!agent_start (&agent, NULL))
    return;
  for (int i = 0; i < 200; i++)
    {
      const char *const arguments[] = { "true", NULL };

      check_exit (&agent, arguments, BERTH_EXITED, 0, 0);
    }
  check_no_process_left (&agent);
  agent_stop (&agent);
}

static const struct berth_test tests[] = {
  { "E01 arguments arrive as they are", test_argv },
  { "E02 E03 E05 input is empty, streams are exact and distinct", test_streams },
  { "D-025 E05 what cannot be started is 127 or 126", test_exit_codes },
  { "D-025 no argument at all is an error", test_no_argument },
  { "D-027 E05 death by signal is told as such", test_signals },
  { "D-028 E06 the environment is exact", test_environment },
  { "E06 a command is looked up in its own PATH", test_own_path },
  { "D-026 E07 a bad working directory is one typed error", test_workdir },
  { "E08 accounts by name and number", test_user },
  { "E08 root can be forbidden", test_forbidden_root },
  { "E18 what a command starts with", test_state },
  { "L15 the nanny cannot be looked into", test_closed_nanny },
  { "E18 the filter is on everything", test_filter },
  { "D-033 D-034 E09 a timeout kills the whole tree", test_timeout },
  { "E10 a background process neither delays nor dies", test_background },
  { "E20 output comes while the command runs", test_prompt_output },
  { "E11 E12 much output on both streams", test_much_output },
  { "E13 D-181 the longest argument, and one byte more", test_longest_arguments },
  { "E15 a client that goes takes its command along", test_cancel },
  { "what a dead nanny leaves is killed", test_dead_nanny },
  { "L15 root has no power over the agent's processes", test_own_id },
  { "E18 with Landlock only the sandbox's own places are written to", test_landlock },
  { "E16 nothing is left of many commands", test_many },
  { NULL, NULL },
};

int
main (void)
{
  return berth_test_main ("agent commands", tests);
}

#include "sdk/agentlink/tests/support.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sdk/base/clock.h"
#include "sdk/base/fd.h"
#include "sdk/base/fs.h"
#include "sdk/base/tests/runner.h"

static const char token[] = "0123456789abcdef0123456789abcdef";

/* ---- the agent ---- */

static int
connect_agent (struct berth_call *call, void *context)
{
  return agentlink_connect_unix (call, ((struct agent_under_test *) context)->socket);
}

static _Noreturn void
become_agent (int listener, int token_fd, const struct agent_under_test *agent, const char *const *options)
{
  char listen_text[16], token_text[16];
  const char *arguments[32] = { "berth-agent", "--listen-fd", listen_text, "--user", TEST_USER, "--workspace",
                                agent->workspace, "--grace-ms", "0" };
  size_t count = 9;

  if (token_fd >= 0)
    {
      arguments[count++] = "--token-fd";
      arguments[count++] = token_text;
      snprintf (token_text, sizeof token_text, "%d", token_fd);
      berth_fd_set_cloexec (token_fd, false);
    }
  for (; options != NULL && *options != NULL && count < 31; options++)
    arguments[count++] = *options;
  snprintf (listen_text, sizeof listen_text, "%d", listener);
  berth_fd_set_cloexec (listener, false);
  execv (getenv ("BERTH_AGENT"), (char **) arguments);
  _exit (127);
}

/* The agent becomes process 1 of a namespace; this process stays outside and ends with it. */
static void
enter_namespace (void)
{
  int status = -1;
  pid_t inside;

  if (unshare (CLONE_NEWPID | CLONE_NEWNS) < 0)
    _exit (126);
  inside = fork ();
  if (inside == 0)
    {
      if (mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 || mount ("proc", "/proc", "proc", 0, NULL) < 0)
        _exit (126);
      return;
    }
  waitpid (inside, &status, 0);
  _exit (WIFEXITED (status) ? WEXITSTATUS (status) : 125);
}

static bool
make_directory (struct agent_under_test *agent)
{
  const char *top = getenv ("TMPDIR") == NULL ? "/tmp" : getenv ("TMPDIR");

  snprintf (agent->directory, sizeof agent->directory, "%.43s/berth-test-XXXXXX", top);
  if (mkdtemp (agent->directory) == NULL)
    return false;
  snprintf (agent->workspace, sizeof agent->workspace, "%s/workspace", agent->directory);
  snprintf (agent->socket, sizeof agent->socket, "%s/socket", agent->directory);
  return chmod (agent->directory, 0755) == 0 && mkdir (agent->workspace, 0755) == 0
         && chown (agent->workspace, 65534, 65534) == 0;
}

static bool
launch (struct agent_under_test *agent, enum agent_kind kind, const char *const *options)
{
  BERTH_AUTO_FD int listener = agentlink_listen_unix (&agent->recorded.call, agent->socket);
  int pair[2];

  if (listener < 0 || pipe2 (pair, O_CLOEXEC) < 0)
    return false;
  if (berth_fd_write_all (pair[1], token, sizeof token - 1) < 0)
    return false;
  close (pair[1]);
  agent->pid = fork ();
  if (agent->pid == 0)
    {
      if (kind == AGENT_IN_NAMESPACE)
        enter_namespace ();
      become_agent (listener, kind == AGENT_WITH_TOKEN ? pair[0] : -1, agent, options);
    }
  close (pair[0]);
  return agent->pid > 0;
}

bool
agent_start_as (struct agent_under_test *agent, enum agent_kind kind, const char *const *options)
{
  const struct agentlink_transport transport = { .context = agent, .connect = connect_agent };
  bool with_token = kind == AGENT_WITH_TOKEN;

  memset (agent, 0, sizeof *agent);
  agent->pid = -1;
  if (geteuid () != 0)
    {
      berth_test_skip ("the agent needs to be root of its user namespace");
      return false;
    }
  recorded_start (&agent->recorded);
  agentlink_init (&agent->handle.link, &transport, with_token ? token : NULL, with_token ? sizeof token - 1 : 0);
  if (getenv ("BERTH_AGENT") != NULL && make_directory (agent) && launch (agent, kind, options)
      && (kind == AGENT_WITHOUT_TOKEN || agentlink_ping (&agent->recorded.call, &agent->handle.link, NULL) == 0))
    return true;
  CU_FAIL ("the agent does not start");
  agent_stop (agent);
  return false;
}

bool
agent_start (struct agent_under_test *agent, const char *const *options)
{
  return agent_start_as (agent, AGENT_WITH_TOKEN, options);
}

int
agent_stop (struct agent_under_test *agent)
{
  int status = -1;
  struct recorded quiet;

  if (agent->pid > 0)
    {
      recorded_start (&quiet);
      if (waitpid (agent->pid, &status, WNOHANG) == 0)
        {
          if (agentlink_end (&quiet.call, &agent->handle.link) < 0)
            kill (agent->pid, SIGKILL);
          waitpid (agent->pid, &status, 0);
        }
    }
  if (agent->directory[0] != '\0')
    berth_fs_remove_tree (AT_FDCWD, agent->directory);
  agent->pid = -1;
  return status;
}

const char *
in_workspace (const struct agent_under_test *agent, const char *name)
{
  static char paths[8][4400];
  static unsigned next;
  char *path = paths[next++ % 8];

  snprintf (path, sizeof paths[0], "%s/%s", agent->workspace, name);
  return path;
}

/* ---- commands ---- */

struct collector
{
  struct run_result *result;
  int64_t started_ms;
};

static int
collect_output (void *context, uint32_t stream, const void *bytes, size_t size)
{
  struct collector *collector = context;
  struct run_result *result = collector->result;

  if (result->first_output_ms < 0)
    result->first_output_ms = berth_clock_monotonic_ms () - collector->started_ms;
  return berth_buffer_append (&result->streams[stream == BERTH_STDOUT ? 0 : 1], bytes, size);
}

static int
collect_exit (void *context, const struct berth_exit *ended)
{
  struct collector *collector = context;

  collector->result->exit = *ended;
  collector->result->exits++;
  return 0;
}

void
run_in_agent (struct agent_under_test *agent, struct berth_run *run, const char *const *arguments,
              struct run_result *result)
{
  struct berth_run plain = { .struct_size = sizeof plain };
  struct collector collector = { result, berth_clock_monotonic_ms () };
  struct berth_run_sink sink = { sizeof sink, 0, &collector, collect_output, collect_exit };

  if (run == NULL)
    run = &plain;
  memset (result, 0, sizeof *result);
  result->first_output_ms = -1;
  run->arguments = arguments;
  for (run->argument_count = 0; arguments[run->argument_count] != NULL;)
    run->argument_count++;
  result->status = agentlink_run (&agent->recorded.call, &agent->handle, run, &sink);
  result->duration_ms = berth_clock_monotonic_ms () - collector.started_ms;
}

void
run_script (struct agent_under_test *agent, struct berth_run *run, const char *script, struct run_result *result)
{
  const char *const arguments[] = { "/bin/sh", "-c", script, NULL };

  run_in_agent (agent, run, arguments, result);
}

void
run_result_free (struct run_result *result)
{
  berth_buffer_free (&result->streams[0]);
  berth_buffer_free (&result->streams[1]);
}

/* ---- files ---- */

static int
ignore_info (void *context, const struct berth_file_info *info)
{
  (void) context;
  (void) info;
  return 0;
}

static int
append_data (void *context, const void *bytes, size_t size)
{
  return berth_buffer_append (context, bytes, size);
}

int
read_file (struct agent_under_test *agent, const char *path, struct berth_buffer *content)
{
  struct berth_read how = { .struct_size = sizeof how, .max_bytes = 64u << 20 };
  struct berth_read_sink sink = { sizeof sink, 0, content, ignore_info, append_data };

  return agentlink_read (&agent->recorded.call, &agent->handle, path, &how, &sink);
}

int
write_file (struct agent_under_test *agent, const char *path, const void *bytes, size_t size,
            struct berth_change *how)
{
  struct berth_change plain = { .struct_size = sizeof plain };
  struct memory memory = { bytes, size, 0, 0 };
  struct berth_source source = memory_source (&memory);

  if (how == NULL)
    how = &plain;
  how->beneath = agent->workspace;
  return agentlink_write (&agent->recorded.call, &agent->handle, path, how, &source);
}

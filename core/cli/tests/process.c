#include "core/cli/tests/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sdk/base/clock.h"
#include "sdk/base/fd.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"

#define PATIENCE_MS 60000

extern char **environ;

/* The tests of a program run one after the other in one directory. */
static char directory[4096];
static char program[4096];

const char *
process_path (const char *name)
{
  static char path[2 * sizeof directory];

  snprintf (path, sizeof path, "%s/%s", directory, name);
  return path;
}

const char *
process_program (void)
{
  return program;
}

int
process_write_file (const char *name, const char *content)
{
  return berth_fs_replace (AT_FDCWD, process_path (name), content, strlen (content), 0644);
}

void
process_faults (const char *faults)
{
  CU_ASSERT_EQUAL (berth_fs_make_directories (AT_FDCWD, process_path ("state/backends/fake"), 0700), 0);
  CU_ASSERT_EQUAL (process_write_file ("state/backends/fake/faults", faults), 0);
}

/* The program itself where libtool has put a script in front of it. */
static int
find_program (void)
{
  const char *top = getenv ("BERTH_TEST_BUILDDIR");
  BERTH_AUTO_FREE char *libraries = NULL;

  if (top == NULL)
    return -1;
  snprintf (program, sizeof program, "%s/core/cli/.libs/berth", top);
  if (access (program, X_OK) < 0)
    snprintf (program, sizeof program, "%s/core/cli/berth", top);
  libraries = berth_string_format ("%s/core/.libs", top);
  return libraries == NULL ? -1 : setenv ("LD_LIBRARY_PATH", libraries, 1);
}

static int
begin (const char *backend)
{
  static const int signals[] = { SIGHUP, SIGINT, SIGPIPE, SIGTERM };
  const char *base = getenv ("TMPDIR");

  snprintf (directory, sizeof directory, "%s/berth-test-XXXXXX", base != NULL ? base : "/tmp");
  if (find_program () < 0 || mkdtemp (directory) == NULL)
    return -1;
  setenv ("BERTH_STATE_DIR", process_path ("state"), 1);
  setenv ("BERTH_RUNTIME_DIR", process_path ("run"), 1);
  setenv ("BERTH_CONFIG", process_path ("berth.conf"), 1);
  setenv ("BERTH_BACKENDS", backend, 1);
  setenv ("BERTH_BACKEND", backend, 1);
  setenv ("BERTH_ALLOW_TEST_BACKENDS", "1", 1);
  unsetenv ("NO_COLOR");
  /* what runs the tests may ignore some, and berth leaves what is ignored so */
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
    signal (signals[i], SIG_DFL);
  return process_write_file ("berth.conf", "");
}

/* How many sandboxes were left, or -1. */
static int
end (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  int left = (int) process_count_sandboxes ();

  if (left != 0)
    berth (&result, "rm", "--all", "--yes");
  return berth_fs_remove_tree (AT_FDCWD, directory) < 0 ? -1 : left;
}

/* As an ordinary user `ns` has its limits in cgroups of his: as-ordinary-user gives them. */
static bool
can_work (const char *backend)
{
  if (strcmp (backend, "ns") != 0 || geteuid () == 0 || getenv ("BERTH_TEST_CGROUPS") != NULL)
    return true;
  printf ("SKIP: ns needs root, or cgroups that are this user's\n");
  return false;
}

int
process_main (const char *suite, const char *backend, const struct berth_test *tests)
{
  int status, left;

  if (!can_work (backend))
    {
      printf ("0 passed, 0 failed, 1 skipped\n");
      return 77;
    }
  if (begin (backend) < 0)
    {
      printf ("FAIL %s: %s\n0 passed, 1 failed, 0 skipped\n", suite, strerror (errno));
      return 1;
    }
  status = berth_test_main (suite, tests);
  left = end ();
  if (left == 0)
    return status;
  printf ("FAIL %s: %d sandboxes or files were left\n0 passed, 1 failed, 0 skipped\n", suite, left);
  return 1;
}

void
process_result_free (struct process_result *result)
{
  berth_buffer_free (&result->out);
  berth_buffer_free (&result->err);
}

/* ---- starting ---- */

/* Standard input is a file: it needs nobody who writes. */
static int
open_input (const char *text)
{
  int fd = open (directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

  if (fd < 0 || text == NULL)
    return fd;
  if (berth_fd_write_all (fd, text, strlen (text)) < 0 || lseek (fd, 0, SEEK_SET) < 0)
    {
      close (fd);
      return -1;
    }
  return fd;
}

static void
be_berth (const struct process_setup *setup, int in, int out, int err, const char *const *arguments)
{
  const char *argv[32] = { "berth" };
  size_t i;

  for (i = 0; arguments[i] != NULL && i + 2 < sizeof argv / sizeof *argv; i++)
    argv[i + 1] = arguments[i];
  for (i = 0; setup->environment != NULL && setup->environment[i] != NULL; i++)
    putenv ((char *) setup->environment[i]);
  dup2 (in, STDIN_FILENO);
  dup2 (err, STDERR_FILENO);
  if (setup->out >= 0)
    dup2 (out, STDOUT_FILENO);
  else
    close (STDOUT_FILENO);
  execv (program, (char *const *) argv);
  _exit (99);
}

int
process_start (struct process *process, const struct process_setup *setup, const char *const *arguments)
{
  static const struct process_setup plain = { 0 };
  BERTH_AUTO_FD int in = -1;
  int out[2], err[2];

  setup = setup != NULL ? setup : &plain;
  in = open_input (setup->input);
  if (in < 0 || pipe2 (out, O_CLOEXEC) < 0)
    return -1;
  if (pipe2 (err, O_CLOEXEC) < 0)
    {
      close (out[0]);
      close (out[1]);
      return -1;
    }
  process->pid = fork ();
  if (process->pid == 0)
    be_berth (setup, setup->in > 0 ? setup->in : in, setup->out > 0 ? setup->out : out[1], err[1], arguments);
  close (out[1]);
  close (err[1]);
  process->out = out[0];
  process->err = err[0];
  return process->pid < 0 ? -1 : 0;
}

/* ---- finishing ---- */

static void
take (int *fd, struct berth_buffer *buffer)
{
  char bytes[65536];
  ssize_t got = read (*fd, bytes, sizeof bytes);

  if (got > 0)
    berth_buffer_append (buffer, bytes, (size_t) got);
  else if (got == 0 || errno != EINTR)
    {
      close (*fd);
      *fd = -1;
    }
}

static void
read_both (struct process *process, struct process_result *result, int64_t deadline)
{
  while (process->out >= 0 || process->err >= 0)
    {
      struct pollfd fds[2] = { { process->out, POLLIN, 0 }, { process->err, POLLIN, 0 } };

      if (poll (fds, 2, berth_clock_poll_timeout (deadline)) <= 0)
        {
          kill (process->pid, SIGKILL);
          deadline = INT64_MAX;
          continue;
        }
      if (fds[0].revents != 0)
        take (&process->out, &result->out);
      if (fds[1].revents != 0)
        take (&process->err, &result->err);
    }
}

void
process_finish (struct process *process, struct process_result *result)
{
  int status = 0;

  read_both (process, result, berth_clock_monotonic_ms () + PATIENCE_MS);
  while (waitpid (process->pid, &status, 0) < 0 && errno == EINTR)
    continue;
  result->signal = WIFSIGNALED (status) ? WTERMSIG (status) : 0;
  result->status = result->signal != 0 ? 128 + result->signal : WEXITSTATUS (status);
}

int
process_finish_unread (struct process *process, struct process_result *result)
{
  int64_t deadline = berth_clock_monotonic_ms () + 10000;
  siginfo_t ended = { 0 };

  while (waitid (P_PID, (id_t) process->pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == 0
         && berth_clock_monotonic_ms () < deadline)
    berth_clock_sleep_ms (10);
  if (ended.si_pid == 0)
    kill (process->pid, SIGKILL);
  process_finish (process, result);
  return ended.si_pid != 0;
}

void
process_run (struct process_result *result, const struct process_setup *setup, const char *const *arguments)
{
  struct process process;

  process_result_free (result);
  *result = (struct process_result) { .status = -1 };
  if (process_start (&process, setup, arguments) == 0)
    process_finish (&process, result);
}

/* ---- looking ---- */

unsigned int
process_count_sandboxes (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  unsigned int lines = 0;
  size_t i;

  berth (&result, "ls", "-q");
  for (i = 0; i < result.out.size; i++)
    lines += result.out.data[i] == '\n';
  return result.status == 0 ? lines : 9999;
}

int
process_wait_for_sandboxes (unsigned int count)
{
  int64_t deadline = berth_clock_monotonic_ms () + 10000;

  while (process_count_sandboxes () != count)
    {
      if (berth_clock_monotonic_ms () > deadline)
        return 0;
      berth_clock_sleep_ms (20);
    }
  return 1;
}

static bool
runs (const char *pid, const char *wanted, size_t size)
{
  BERTH_AUTO_BUFFER struct berth_buffer line = { 0 };
  char path[64];

  snprintf (path, sizeof path, "/proc/%.20s/cmdline", pid);
  return berth_fs_read (AT_FDCWD, path, &line, 65536) == 0 && line.size >= size
         && memcmp (line.data, wanted, size) == 0;
}

static bool
any_runs (const char *wanted, size_t size)
{
  BERTH_AUTO_DIR DIR *processes = opendir ("/proc");
  struct dirent *entry;

  while (processes != NULL && (entry = readdir (processes)) != NULL)
    if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9' && runs (entry->d_name, wanted, size))
      return true;
  return false;
}

static int
wait_for (const char *name, const char *argument, bool there)
{
  int64_t deadline = berth_clock_monotonic_ms () + 10000;
  char wanted[256];
  /* Both with the NUL at their ends, as they stand in cmdline. */
  int size = snprintf (wanted, sizeof wanted, "%s%c%s", name, '\0', argument) + 1;

  while (any_runs (wanted, (size_t) size) != there)
    {
      if (berth_clock_monotonic_ms () > deadline)
        return 0;
      berth_clock_sleep_ms (20);
    }
  return 1;
}

int
process_wait_there (const char *name, const char *argument)
{
  return wait_for (name, argument, true);
}

int
process_wait_gone (const char *name, const char *argument)
{
  return wait_for (name, argument, false);
}

struct berth_json *
process_json (const struct berth_buffer *text)
{
  return berth_json_parse (berth_buffer_string (text), text->size, BERTH_JSON_SIZE, NULL);
}

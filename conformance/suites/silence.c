/* F16: a sandbox that is there and does not answer, and one that is not there. */
#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>

#include "conformance/suites/content.h"
#include "conformance/suites/files.h"
#include "conformance/suites/silence.h"
#include "conformance/suites/run.h"
#include "sdk/base/clock.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"

#define PIDS_MAX 256

static pid_t
parent_of (pid_t pid)
{
  BERTH_AUTO_FREE char *path = berth_string_format ("/proc/%ld/stat", (long) pid);
  BERTH_AUTO_BUFFER struct berth_buffer stat = { 0 };
  const char *after;
  long parent;

  if (path == NULL || berth_fs_read (AT_FDCWD, path, &stat, 65536) < 0)
    return 0;
  after = strrchr (berth_buffer_string (&stat), ')');
  return after != NULL && sscanf (after, ") %*c %ld", &parent) == 1 ? (pid_t) parent : 0;
}

/* The process on this machine that has WORD among its arguments, or 0. */
static pid_t
find_process (const char *word)
{
  BERTH_AUTO_DIR DIR *proc = opendir ("/proc");
  struct dirent *entry;

  while (proc != NULL && (entry = readdir (proc)) != NULL)
    {
      BERTH_AUTO_FREE char *path = berth_string_format ("/proc/%s/cmdline", entry->d_name);
      BERTH_AUTO_BUFFER struct berth_buffer line = { 0 };

      if (isdigit ((unsigned char) entry->d_name[0]) && path != NULL && berth_fs_read (AT_FDCWD, path, &line, 65536) == 0
          && line.size > 0 && memmem (line.data, line.size, word, strlen (word)) != NULL)
        return (pid_t) strtol (entry->d_name, NULL, 10);
    }
  return 0;
}

static bool
is_within (pid_t pid, pid_t root)
{
  for (; pid > 0; pid = parent_of (pid))
    if (pid == root)
      return true;
  return false;
}

/* The outermost process between a command and us: with all below it, it serves the sandbox.  0:
 * not on this machine. */
static pid_t
find_server (pid_t command)
{
  pid_t server = 0;

  for (pid_t pid = parent_of (command); pid > 1 && !is_within (getpid (), pid); pid = parent_of (pid))
    server = pid;
  return server;
}

/* SERVER and all below it. */
static unsigned int
collect (pid_t server, pid_t *pids)
{
  BERTH_AUTO_DIR DIR *proc = opendir ("/proc");
  struct dirent *entry;
  unsigned int count = 0;

  while (proc != NULL && (entry = readdir (proc)) != NULL && count < PIDS_MAX)
    {
      pid_t pid = (pid_t) strtol (entry->d_name, NULL, 10);

      if (pid > 1 && is_within (pid, server))
        pids[count++] = pid;
    }
  return count;
}

/* Stops them all, again until there is no new one; what is stopped forks no more. */
static unsigned int
stop_tree (pid_t server, pid_t *pids)
{
  unsigned int known = 0;
  unsigned int count;

  while ((count = collect (server, pids)) != known)
    {
      for (unsigned int i = 0; i < count; i++)
        kill (pids[i], SIGSTOP);
      known = count;
    }
  return count;
}

static void
check_silent (struct suite_context *suite, struct suite_box *box, const char *what)
{
  static const char *const arguments[] = { "true", NULL };
  BERTH_AUTO_BUFFER struct berth_buffer bytes = { 0 };
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  uint64_t count = 0;

  SUITE_CHECK_CODE (suite, what, suite_read (box, SUITE_WORKSPACE "/a", &bytes), BERTH_E_UNREACHABLE, BERTH_E_SANDBOX_NOT_FOUND);
  SUITE_CHECK_CODE (suite, what, suite_list_files (box, SUITE_WORKSPACE, NULL, NULL, &count), BERTH_E_UNREACHABLE,
                    BERTH_E_SANDBOX_NOT_FOUND);
  suite_run (box, &(struct suite_command) { .arguments = arguments, .deadline_ms = 15000 }, &ran);
  SUITE_CHECK_CODE (suite, what, ran.code, BERTH_E_UNREACHABLE, BERTH_E_SANDBOX_NOT_FOUND);
  SUITE_CHECK (suite, bytes.size == 0 && count == 0 && ran.exits == 0, "%s: something was told all the same", what);
}

bool
suite_kill_server (struct suite_box *box, void (*stopped) (struct suite_box *box))
{
  struct suite_context *suite = box->suite;
  BERTH_AUTO_FREE char *script = berth_string_format ("exec tail -f a /dev/null mark-%s", box->sandbox_id);
  BERTH_AUTO_FREE char *word = berth_string_format ("mark-%s", box->sandbox_id);
  struct suite_job job = { .command = { .deadline_ms = 50000 } };
  int64_t until = berth_clock_monotonic_ms () + 5000;
  pid_t pids[PIDS_MAX];
  unsigned int count = 0;
  pid_t server = 0;
  pid_t command;

  SUITE_CHECK_CODE (suite, "write", suite_write_text (box, SUITE_WORKSPACE "/a", "x"), 0);
  suite_job_start (&job, box, script);
  while ((command = find_process (word)) == 0 && berth_clock_monotonic_ms () < until)
    berth_clock_sleep_ms (20);
  if (command > 0)
    server = find_server (command);
  if (server > 0)
    {
      count = stop_tree (server, pids);
      if (stopped != NULL)
        stopped (box);
      while (count > 0)
        kill (pids[--count], SIGKILL);
    }
  else
    SUITE_CHECK_CODE (suite, "destroy", suite_box_destroy (box, true, NULL), 0);
  suite_job_join (&job);
  SUITE_CHECK_CODE (suite, "the running command", job.ran.code, BERTH_E_UNREACHABLE, BERTH_E_SANDBOX_NOT_FOUND);
  suite_ran_free (&job.ran);
  return server > 0;
}

static void
check_stopped (struct suite_box *box)
{
  check_silent (box->suite, box, "what serves it is stopped");
}

void
suite_f16 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  bool killed = suite_kill_server (box, check_stopped);

  check_silent (suite, box, "what served it was killed");
  if (!killed)
    suite_not_applicable (suite, "what serves its sandboxes is not on this machine");
}

void
suite_f16_gone (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  BERTH_AUTO_BUFFER struct berth_buffer bytes = { 0 };
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  struct suite_entry entry;
  uint64_t count = 0;

  SUITE_CHECK_CODE (suite, "write", suite_write_text (box, SUITE_WORKSPACE "/a", "x"), 0);
  SUITE_CHECK_CODE (suite, "destroy", suite_box_destroy (box, true, NULL), 0);
  SUITE_CHECK_CODE (suite, "read", suite_read (box, SUITE_WORKSPACE "/a", &bytes), BERTH_E_SANDBOX_NOT_FOUND);
  SUITE_CHECK_CODE (suite, "list", suite_list_files (box, SUITE_WORKSPACE, NULL, NULL, &count), BERTH_E_SANDBOX_NOT_FOUND);
  SUITE_CHECK_CODE (suite, "stat", suite_stat (box, SUITE_WORKSPACE "/a", false, &entry), BERTH_E_SANDBOX_NOT_FOUND);
  SUITE_CHECK_CODE (suite, "write", suite_write_text (box, SUITE_WORKSPACE "/b", "x"), BERTH_E_SANDBOX_NOT_FOUND);
  suite_argv (box, &ran, (const char *const[]) { "true", NULL });
  SUITE_CHECK_CODE (suite, "run", ran.code, BERTH_E_SANDBOX_NOT_FOUND);
  SUITE_CHECK (suite, bytes.size == 0 && count == 0 && ran.exits == 0, "something was told all the same");
}

/* A state directory that is full, read-only or gone: what the command says, and that nothing is lost.
 * Built once for each of the backends. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/cli/tests/process.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/clock.h"
#include "sdk/base/fs.h"
#include "sdk/base/tests/runner.h"

#define PATIENCE_MS (60 * 1000)

/* ---- a file system of our own ---- */

/* At the state directory, seen by this program and what it starts. */
static bool
mount_state (const char *options)
{
  static bool is_own;

  if (!is_own && (unshare (CLONE_NEWNS) != 0 || mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0))
    {
      berth_test_skip ("needs mounts of its own");
      return false;
    }
  is_own = true;
  CU_ASSERT_EQUAL (berth_fs_make_directories (AT_FDCWD, process_path ("state"), 0700), 0);
  CU_ASSERT_EQUAL_FATAL (mount ("berth-test", process_path ("state"), "tmpfs", 0, options), 0);
  return true;
}

static void
unmount_state (void)
{
  CU_ASSERT_EQUAL (umount2 (process_path ("state"), MNT_DETACH), 0);
}

/* Until nothing more goes in, whatever the size of a piece. */
static void
fill_state (void)
{
  static const char zeros[4096];
  BERTH_AUTO_FD int fd = open (process_path ("state/ballast"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

  CU_ASSERT_TRUE_FATAL (fd >= 0);
  for (size_t size = sizeof zeros; size > 0; size /= 2)
    while (write (fd, zeros, size) > 0)
      continue;
  CU_ASSERT_EQUAL (errno, ENOSPC);
}

static void
make_room (void)
{
  CU_ASSERT_EQUAL (unlink (process_path ("state/ballast")), 0);
}

static void
make (const char *name)
{
  AUTO_RESULT struct process_result result = { 0 };

  berth (&result, "create", "--name", name);
  EXPECT_STATUS (result, 0);
}

static bool
state_is (const char *name, const char *state)
{
  AUTO_RESULT struct process_result result = { 0 };

  berth (&result, "inspect", name, "--json");
  BERTH_AUTO_JSON struct berth_json *sandbox = process_json (&result.out);
  const char *text = berth_json_string (berth_json_get (sandbox, "state"));
  return text != NULL && strcmp (text, state) == 0;
}

/* What is kept in them is there, and they can be used. */
static void
check_whole (const char *name)
{
  AUTO_RESULT struct process_result result = { 0 };

  CU_ASSERT_TRUE (state_is (name, "running"));
  berth (&result, "read", name, "file");
  EXPECT_STATUS (result, 0);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&result.out), "kept");
  berth (&result, "exec", name, "--", "sh", "-c", "exit 0");
  EXPECT_STATUS (result, 0);
}

static void
put_file (const char *name)
{
  AUTO_RESULT struct process_result result = { 0 };

  berth (&result, "write", name, "file", "--content", "kept");
  EXPECT_STATUS (result, 0);
}

static void
remove_all (void)
{
  AUTO_RESULT struct process_result result = { 0 };

  berth (&result, "rm", "--all", "--yes");
  EXPECT_STATUS (result, 0);
  CU_ASSERT_EQUAL (process_count_sandboxes (), 0);
}

/* ---- full ---- */

static void
check_no_room (const char *const *arguments, int status)
{
  AUTO_RESULT struct process_result result = { 0 };

  process_run (&result, NULL, arguments);
  EXPECT_STATUS (result, status);
  EXPECT_IN (result.err, "RESOURCE_EXHAUSTED");
  EXPECT_IN (result.err, "\"hint\"");
  EXPECT_IN (result.err, "free some");
}

static void
test_full (void)
{
  AUTO_RESULT struct process_result result = { 0 };

  if (!mount_state ("size=6m,mode=700"))
    return;
  make ("a");
  put_file ("a");
  make ("b");
  put_file ("b");
  fill_state ();
  check_no_room ((const char *const[]){ "create", "--name", "c", "--json", NULL }, 125);
  check_no_room ((const char *const[]){ "run", "--json", "true", NULL }, 125);
  check_no_room ((const char *const[]){ "snapshot", "a", "--json", NULL }, 125);
  check_no_room ((const char *const[]){ "write", "a", "file", "--content", "lost", "--json", NULL }, 125);
  CU_ASSERT_TRUE (state_is ("a", "running"));
  CU_ASSERT_TRUE (state_is ("b", "running"));
  make_room ();
  CU_ASSERT_EQUAL (process_count_sandboxes (), 2);
  check_whole ("a");
  check_whole ("b");
  berth (&result, "snapshots", "-q");
  CU_ASSERT_EQUAL (result.out.size, 0);
  make ("c");
  remove_all ();
  unmount_state ();
}

/* What fills the disk may be what is to be destroyed.  Where its end cannot be written, that is said, and
 * nobody is told that it runs. */
static void
test_destroy_when_full (void)
{
  AUTO_RESULT struct process_result result = { 0 };

  if (!mount_state ("size=6m,mode=700"))
    return;
  make ("a");
  put_file ("a");
  make ("b");
  fill_state ();
  berth (&result, "rm", "b");
  CU_ASSERT_TRUE (result.status == 0 || result.status == 1);
  CU_ASSERT_TRUE (result.status == 0 || strstr (berth_buffer_string (&result.err), "no space") != NULL);
  CU_ASSERT_FALSE (state_is ("b", "running"));
  make_room ();
  check_whole ("a");
  remove_all ();
  unmount_state ();
}

/* ---- read-only ---- */

static void
test_read_only (void)
{
  static const char *const lines[][5] = { { "create", NULL },       { "run", "true", NULL },  { "ls", NULL },
                                          { "inspect", "a", NULL }, { "exec", "a", "true", NULL },
                                          { "snapshot", "a", NULL }, { "rm", "a", NULL },      { "reap", "--kill", NULL },
                                          { "env", "save", "work", NULL } };

  if (!mount_state ("size=6m,mode=700"))
    return;
  make ("a");
  put_file ("a");
  CU_ASSERT_EQUAL_FATAL (mount (process_path ("state"), process_path ("state"), NULL, MS_BIND, NULL), 0);
  CU_ASSERT_EQUAL_FATAL (mount (NULL, process_path ("state"), NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL), 0);
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    {
      AUTO_RESULT struct process_result result = { 0 };
      process_run (&result, NULL, lines[i]);
      EXPECT_STATUS (result, 125);
      EXPECT_IN (result.err, "Read-only file system");
      EXPECT_IN (result.err, "on a writable file system");
    }
  unmount_state ();
  check_whole ("a");
  remove_all ();
  unmount_state ();
}

/* ---- gone ---- */

static void
move (const char *from, const char *to)
{
  char path[4096];

  snprintf (path, sizeof path, "%s", process_path (from));
  CU_ASSERT_EQUAL_FATAL (rename (path, process_path (to)), 0);
}

static bool
waits_for_sandbox (const char *state)
{
  int64_t end_ms = berth_clock_monotonic_ms () + PATIENCE_MS;

  while (!state_is ("box", state))
    {
      if (berth_clock_monotonic_ms () > end_ms)
        return false;
      berth_clock_sleep_ms (20);
    }
  return true;
}

/* Somebody moves it away, or it is unmounted, under a command that is making a sandbox, or using one.  It
 * says so, and what it has made is found once the directory is back. */
static void
test_gone (void)
{
#ifdef EXECUTES
  static const char *const line[] = { "run", "--name", "box", "--timeout", "10m", "sleep", "600", NULL };
  const char *state = "running";
#else
  static const char *const line[] = { "create", "--name", "box", NULL };
  const char *state = "creating";
#endif
  AUTO_RESULT struct process_result result = { 0 };
  struct process process;
  int64_t end_ms = berth_clock_monotonic_ms () + PATIENCE_MS;

  make ("a");
  put_file ("a");
  process_faults ("lifecycle.create=hang");
  CU_ASSERT_EQUAL_FATAL (process_start (&process, NULL, line), 0);
  CU_ASSERT_TRUE (waits_for_sandbox (state));
  move ("state", "away");
  kill (process.pid, SIGTERM);
  process_finish (&process, &result);
  CU_ASSERT_EQUAL (result.signal, SIGTERM);
  EXPECT_IN (result.err, "was removed or replaced");
  /* to whoever comes it is a new one, in which nothing is */
  berth (&result, "exec", "a", "true");
  EXPECT_STATUS (result, 125);
  EXPECT_IN (result.err, "no sandbox");
  CU_ASSERT_EQUAL (process_count_sandboxes (), 0);
  CU_ASSERT_EQUAL (berth_fs_remove_tree (AT_FDCWD, process_path ("state")), 0);
  move ("away", "state");
  process_faults ("");
  while (process_count_sandboxes () != 1 && berth_clock_monotonic_ms () < end_ms)
    berth_clock_sleep_ms (20);
  check_whole ("a");
  remove_all ();
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "D-120 a full disk loses nothing, and is told", test_full },
    { "a full disk keeps nothing from being destroyed", test_destroy_when_full },
    { "a read-only state directory is refused, and loses nothing", test_read_only },
    { "a state directory that is gone loses nothing", test_gone },
    { NULL, NULL },
  };

  return process_main ("disk-" BACKEND, BACKEND, tests);
}

/* What the runner does about tests that fail, crash or leave something: this program runs itself
 * with tests that do. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sdk/base/fs.h"
#include "sdk/base/path.h"
#include "sdk/base/tests/runner.h"

#define BAD "BERTH_TEST_BAD"

static void
leave_something (void)
{
  BERTH_AUTO_FREE char *path = berth_path_join (getenv ("TMPDIR"), "left");

  CU_ASSERT_EQUAL (mkdir (path, 0700), 0);
}

static void
fail (void)
{
  leave_something ();
  CU_FAIL_FATAL ("as it should");
}

static void
crash (void)
{
  static const struct rlimit none = { 0, 0 };

  leave_something ();
  setrlimit (RLIMIT_CORE, &none);
  raise (SIGKILL);
}

static void
hang (void)
{
  leave_something ();
  pause ();
}

static const struct berth_test bad_tests[] = {
  { "fails", fail },
  { "crashes", crash },
  { "hangs", hang },
  { "passes", leave_something },
  { NULL, NULL },
};

static _Noreturn void
become_bad (const char *top, const char *which)
{
  BERTH_AUTO_FD int null = open ("/dev/null", O_WRONLY | O_CLOEXEC);

  setenv (BAD, "1", 1);
  setenv ("TMPDIR", top, 1);
  setenv ("BERTH_TEST_TIMEOUT", "1", 1);
  dup2 (null, STDOUT_FILENO);
  execl ("/proc/self/exe", "ends", which, (char *) NULL);
  _exit (127);
}

static int
run_bad (const char *top, const char *which)
{
  int status = -1;
  pid_t pid = fork ();

  if (pid == 0)
    become_bad (top, which);
  CU_ASSERT_EQUAL (waitpid (pid, &status, 0), pid);
  return status;
}

/* The directory is a short one: the runner would not make its own in another. */
static void
test_nothing_stays (void)
{
  char top[] = "/tmp/XXXXXX";

  CU_ASSERT_PTR_NOT_NULL_FATAL (mkdtemp (top));
  for (const struct berth_test *test = bad_tests; test->name != NULL; test++)
    {
      CU_ASSERT_EQUAL (run_bad (top, test->name), 1 << 8);
      CU_ASSERT_EQUAL (rmdir (top), 0);
      CU_ASSERT_EQUAL (mkdir (top, 0700), 0);
    }
  berth_fs_remove_tree (AT_FDCWD, top);
}

static const struct berth_test tests[] = {
  { "a test that fails, crashes, hangs or forgets leaves nothing", test_nothing_stays },
  { NULL, NULL },
};

int
main (void)
{
  return berth_test_main ("ends", getenv (BAD) != NULL ? bad_tests : tests);
}

#include "sdk/base/tests/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sdk/base/fs.h"

/* A directory of this length leaves room for the names of sockets below it. */
#define TMPDIR_MAXIMUM 12

/* CUnit's test functions take no argument, so what belongs to the running test is here. */
static char skip_reason[512];
static bool is_skipped;
static const char *running_name;

/* Signal handlers take no argument either. */
static volatile pid_t tested;

void
berth_test_skip (const char *reason)
{
  is_skipped = true;
  snprintf (skip_reason, sizeof skip_reason, "%s", reason);
}

bool
berth_test_is_long (void)
{
  const char *text = getenv ("BERTH_TEST_LONG");

  return text != NULL && strcmp (text, "1") == 0;
}

pid_t
berth_test_fork (void)
{
  pid_t pid = fork ();

  CU_ASSERT_NOT_EQUAL_FATAL (pid, -1);
  return pid;
}

int
berth_test_end (pid_t pid)
{
  int status = -1;

  while (waitpid (pid, &status, 0) < 0 && errno == EINTR)
    continue;
  return status;
}

static void
say_hang (int signal_number)
{
  static const char text[] = "HANG ";

  if (write (STDOUT_FILENO, text, sizeof text - 1) > 0
      && write (STDOUT_FILENO, running_name, strlen (running_name)) > 0)
    (void) !write (STDOUT_FILENO, "\n", 1);
  _exit (1);
}

static unsigned int
test_seconds (void)
{
  const char *text = getenv ("BERTH_TEST_TIMEOUT");
  unsigned long seconds = text != NULL ? strtoul (text, NULL, 10) : 0;

  return seconds > 0 && seconds < 86400 ? (unsigned int) seconds : 300;
}

static void
print_failures (void)
{
  const CU_FailureRecord *failure;

  for (failure = CU_get_failure_list (); failure != NULL; failure = failure->pNext)
    printf ("     %s:%u: %s\n", failure->strFileName, failure->uiLineNumber, failure->strCondition);
}

/* Returns 0 passed, 1 failed, 2 skipped. */
static int
run_one (CU_pSuite suite, CU_pTest test)
{
  bool failed;

  is_skipped = false;
  running_name = test->pName;
  alarm (test_seconds ());
  failed = CU_run_test (suite, test) != CUE_SUCCESS || CU_get_number_of_failures () > 0;
  alarm (0);
  if (failed)
    {
      printf ("FAIL %s\n", test->pName);
      print_failures ();
    }
  else if (is_skipped)
    printf ("SKIP %s: %s\n", test->pName, skip_reason);
  else
    printf ("PASS %s\n", test->pName);
  fflush (stdout);
  return failed ? 1 : is_skipped ? 2 : 0;
}

/* The filter is read from /proc so that a test's main stays one line. */
static char *
read_filter (void)
{
  static char line[4096];
  int fd = open ("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  ssize_t size = fd >= 0 ? read (fd, line, sizeof line - 1) : 0;
  size_t first;

  if (fd >= 0)
    close (fd);
  line[size > 0 ? size : 0] = '\0';
  first = strlen (line) + 1;
  return (ssize_t) first < size ? line + first : NULL;
}

static int
run_all (CU_pSuite suite, const struct berth_test *tests, const char *filter)
{
  unsigned int counts[3] = { 0, 0, 0 };

  for (; tests->name != NULL; tests++)
    {
      CU_pTest test;

      if (filter != NULL && strstr (tests->name, filter) == NULL)
        continue;
      test = CU_add_test (suite, tests->name, tests->run);
      if (test == NULL)
        {
          printf ("FAIL %s: %s\n", tests->name, CU_get_error_msg ());
          counts[1]++;
          continue;
        }
      counts[run_one (suite, test)]++;
    }
  printf ("%u passed, %u failed, %u skipped\n", counts[0], counts[1], counts[2]);
  if (counts[1] > 0 || (counts[0] == 0 && counts[2] == 0))
    return 1;
  return counts[0] == 0 ? 77 : 0;
}

int
berth_test_run (const char *name, const struct berth_test *tests, const char *filter)
{
  struct sigaction action = { .sa_handler = say_hang };
  CU_pSuite suite;
  int status;

  sigaction (SIGALRM, &action, NULL);
  if (CU_initialize_registry () != CUE_SUCCESS || (suite = CU_add_suite (name, NULL, NULL)) == NULL)
    {
      fprintf (stderr, "%s: %s\n", name, CU_get_error_msg ());
      return 1;
    }
  status = run_all (suite, tests, filter);
  CU_cleanup_registry ();
  return status;
}

/* ---- a directory for temporary files that goes whatever happens ---- */

/* Others must reach what is below it: tests give up being root. */
static bool
make_directory (char *path, size_t size)
{
  const char *top = getenv ("TMPDIR");

  if (top == NULL || *top == '\0' || strlen (top) > TMPDIR_MAXIMUM)
    top = "/tmp";
  snprintf (path, size, "%s/berth-XXXXXX", top);
  return mkdtemp (path) != NULL && chmod (path, 0755) == 0 && setenv ("TMPDIR", path, 1) == 0;
}

static void
pass_on (int signal_number)
{
  kill (tested, signal_number);
}

/* The exit status of the tests' process; 1 when it has none. */
static int
await (const char *name)
{
  struct sigaction action = { .sa_handler = pass_on, .sa_flags = SA_RESTART };
  int status;

  sigaction (SIGINT, &action, NULL);
  sigaction (SIGTERM, &action, NULL);
  sigaction (SIGHUP, &action, NULL);
  while (waitpid (tested, &status, 0) < 0)
    if (errno != EINTR)
      return 1;
  if (WIFEXITED (status))
    return WEXITSTATUS (status);
  printf ("FAIL %s: ended by signal %d\n", name, WTERMSIG (status));
  return 1;
}

/* A test that fails skips its cleanup, and one that crashes all of it: so the tests run in a child,
 * and what they leave is removed here.  Left by tests that passed, it is a failure. */
int
berth_test_main (const char *name, const struct berth_test *tests)
{
  char directory[TMPDIR_MAXIMUM + 16];
  int status;

  if (!make_directory (directory, sizeof directory) || (tested = fork ()) < 0)
    {
      printf ("FAIL %s: no directory or no process for it: %s\n", name, strerror (errno));
      return 1;
    }
  if (tested == 0)
    {
      prctl (PR_SET_PDEATHSIG, SIGKILL);
      exit (berth_test_run (name, tests, read_filter ()));
    }
  status = await (name);
  if (rmdir (directory) == 0)
    return status;
  if (status == 0)
    printf ("FAIL %s: its tests passed and left something in %s\n", name, directory);
  berth_fs_remove_tree (AT_FDCWD, directory);
  return status == 0 ? 1 : status;
}

/* runner.h - how every CUnit program of the tree runs and reports. */
#ifndef BERTH_TEST_RUNNER_H
#define BERTH_TEST_RUNNER_H

#include <stdbool.h>
#include <sys/types.h>
#include <unistd.h>

#include <CUnit/CUnit.h>

struct berth_test
{
  const char *name; /* begins with the clause or case it shows, where there is one */
  void (*run) (void);
};

/* Runs the tests of `tests`, which ends with a NULL name, one line each, then "N passed, N failed,
 * N skipped".  argv[1], where given, is a part of the names to run.  Returns what main returns:
 * 0, 1, or 77 when every test was skipped.  A test that takes longer than BERTH_TEST_TIMEOUT
 * seconds (300) ends the program.  TMPDIR is a directory of its own meanwhile, short enough for
 * sockets, and is removed with all that is in it, also after a crash. */
int berth_test_main (const char *suite, const struct berth_test *tests);

/* The same for a program with a command line and directories of its own; FILTER may be NULL. */
int berth_test_run (const char *suite, const struct berth_test *tests, const char *filter);

/* Says that the running test cannot be made here.  The test itself returns after that. */
void berth_test_skip (const char *reason);

/* BERTH_TEST_LONG=1: whether there is time for all of it, not for a sample only. */
bool berth_test_is_long (void);

/* WORK (...) in a child, which ends with 0 should it return: its process id. */
#define berth_test_start(work, ...)                                                               \
  ({                                                                                              \
    pid_t started = berth_test_fork ();                                                           \
    if (started == 0)                                                                             \
      {                                                                                           \
        work (__VA_ARGS__);                                                                       \
        _exit (0);                                                                                \
      }                                                                                           \
    started;                                                                                      \
  })
/* A failure that ends the test where there is none. */
pid_t berth_test_fork (void);
/* Waits for it: its wait status. */
int berth_test_end (pid_t pid);

#endif

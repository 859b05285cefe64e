/* process.h - running the built `berth` and looking at what it does. */
#ifndef BERTH_CLI_TESTS_PROCESS_H
#define BERTH_CLI_TESTS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "sdk/base/buffer.h"
#include "sdk/base/json.h"
#include "sdk/base/tests/runner.h"

/* Runs TESTS as berth_test_main does, in a temporary state and runtime directory with BACKEND as
 * the only one; fails when a sandbox is left.  Skips all where the backend cannot work. */
int process_main (const char *suite, const char *backend, const struct berth_test *tests);

/* A path below the temporary directory; good until the next call. */
const char *process_path (const char *name);
/* The built `berth`, for who starts it in a way of his own. */
const char *process_program (void);
/* Writes a file there. */
int process_write_file (const char *name, const char *content);
/* What the fake backend does wrong from now on, "" for nothing; see plugins/fake/faults.c. */
void process_faults (const char *faults);

/* A program that runs. */
struct process
{
  pid_t pid;
  int out; /* its standard output and error, for reading; -1: given away */
  int err;
};

struct process_setup
{
  const char *input;  /* standard input; NULL: empty */
  int in;             /* standard input where it is not 0 */
  int out;            /* standard output; 0: a pipe, -1: closed */
  const char *const *environment; /* NAME=VALUE to add; NULL: none */
};

/* What became of one. */
struct process_result
{
  int status; /* as a shell tells it: 128 + n for a signal */
  int signal; /* that ended it, or 0 */
  struct berth_buffer out;
  struct berth_buffer err;
};

#define AUTO_RESULT __attribute__ ((cleanup (process_result_free)))
void process_result_free (struct process_result *result);

/* Starts the built `berth` with ARGUMENTS, which end with NULL and do not name it. */
int process_start (struct process *process, const struct process_setup *setup, const char *const *arguments);
/* Reads all it writes and waits.  What takes longer than 60 s is killed and fails. */
void process_finish (struct process *process, struct process_result *result);

/* Waits for its end without reading a byte of what it writes; the rest as process_finish, what it
 * wrote left aside.  Ten seconds, then it is killed: 0, else 1. */
int process_finish_unread (struct process *process, struct process_result *result);

/* Both at once: `berth (&result, "ls", "-q")`. */
#define berth(result, ...) process_run ((result), NULL, (const char *const[]){ __VA_ARGS__, NULL })
#define berth_with(result, setup, ...) process_run ((result), (setup), (const char *const[]){ __VA_ARGS__, NULL })
void process_run (struct process_result *result, const struct process_setup *setup, const char *const *arguments);

/* Waits until `berth ls -q` prints COUNT lines: 1; 0 after ten seconds. */
int process_wait_for_sandboxes (unsigned int count);
unsigned int process_count_sandboxes (void);

/* Waits until a process of this machine was called as NAME ARGUMENT, or none is: 1; 0 after ten
 * seconds. */
int process_wait_there (const char *name, const char *argument);
int process_wait_gone (const char *name, const char *argument);

/* The status as wanted, else shown with what was said on standard error. */
#define EXPECT_STATUS(result, wanted)                                                             \
  do                                                                                              \
    {                                                                                             \
      CU_ASSERT_EQUAL ((result).status, wanted);                                                  \
      if ((result).status != (wanted))                                                            \
        fprintf (stderr, "%s:%d: status %d, want %d\n%s", __FILE__, __LINE__, (result).status, (wanted),             \
                 berth_buffer_string (&(result).err));                                            \
    }                                                                                             \
  while (0)
/* TEXT somewhere in a buffer. */
#define EXPECT_IN(buffer, text) CU_ASSERT_PTR_NOT_NULL (strstr (berth_buffer_string (&(buffer)), text))

/* The JSON document that TEXT is, or NULL. */
struct berth_json *process_json (const struct berth_buffer *text);

#endif

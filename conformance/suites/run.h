/* run.h - commands in a box, and what became of them. */
#ifndef CONFORMANCE_SUITES_RUN_H
#define CONFORMANCE_SUITES_RUN_H

#include <pthread.h>

#include "conformance/suites/box.h"
#include "sdk/base/buffer.h"

/* What shall run; all zero but `arguments` is a plain command. */
struct suite_command
{
  const char *const *arguments; /* ends with NULL */
  const struct berth_pair *environment;
  uint64_t environment_count;
  const char *workdir;
  const char *user;
  int64_t timeout_ms;
  uint64_t more_asks;           /* beside those of the members above */
  struct berth_handle *handle;  /* NULL: the box's own */
  struct berth_cancel *cancel;
  int64_t deadline_ms;
  int64_t slow_ms;     /* the reader sleeps so long at each piece */
  void (*at_output) (void *context); /* called at the first byte of either stream; may be NULL */
  void *context;
  bool discard;        /* count the output, keep nothing */
};

struct suite_ran
{
  struct suite_box *box;
  uint32_t code; /* 0, or why run answered -1 */
  struct berth_error error;
  struct berth_buffer out;
  struct berth_buffer err;
  uint64_t out_bytes;
  uint64_t err_bytes;
  unsigned int exits;
  unsigned int strange; /* output on no stream we know, or after the exit */
  struct berth_exit exit;
  const struct suite_command *command;
  int64_t started_ms;
  int64_t first_out_ms; /* since the start; -1: none came */
  int64_t first_err_ms;
  int64_t exit_ms;  /* when the exit was told, since the start; -1: it was not */
  int64_t ended_ms; /* since the start */
};

#define SUITE_AUTO_RAN BERTH_CLEANUP (suite_ran_free)

void suite_ran_free (struct suite_ran *ran);
/* RAN is overwritten; free it first when it was used before. */
void suite_run (struct suite_box *box, const struct suite_command *command, struct suite_ran *ran);
/* /bin/sh -c SCRIPT, with at most TIMEOUT_MS (0: a minute). */
void suite_sh (struct suite_box *box, struct suite_ran *ran, int64_t timeout_ms, const char *script);
/* The command of ARGUMENTS (ends with NULL), at most a minute. */
void suite_argv (struct suite_box *box, struct suite_ran *ran, const char *const *arguments);

/* Elsewhere its processes and this machine's see each other, and signals reach them. */
bool suite_has_own_pids (struct suite_box *box);

/* A script in a thread of its own. */
struct suite_job
{
  struct suite_box *box;
  struct suite_command command;
  const char *arguments[4];
  struct suite_ran ran;
  pthread_t thread;
};
void suite_job_start (struct suite_job *job, struct suite_box *box, const char *script);
void suite_job_join (struct suite_job *job);

/* One exit, last, EXITED with CODE. */
bool suite_ran_exited (const struct suite_ran *ran, int32_t code);
/* "EXITED code 3 signal 0, 1 exit, stderr: …", for messages; a part of RAN's memory. */
const char *suite_ran_text (struct suite_ran *ran);
bool suite_ran_printed (const struct suite_ran *ran, const char *text);

#define SUITE_CHECK_EXIT(suite, ran, want, what)                                                  \
  SUITE_CHECK ((suite), suite_ran_exited ((ran), (want)), "%s: want exit %d, got %s", (what),     \
               (int) (want), suite_ran_text (ran))
#define SUITE_REQUIRE_EXIT(suite, ran, want, what)                                                \
  SUITE_REQUIRE ((suite), suite_ran_exited ((ran), (want)), "%s: want exit %d, got %s", (what),   \
                 (int) (want), suite_ran_text (ran))
#define SUITE_CHECK_PRINTED(suite, ran, text, what)                                               \
  SUITE_CHECK ((suite), suite_ran_printed ((ran), (text)), "%s: want \"%s\", got \"%.300s\", %s", \
               (what), (text), berth_buffer_string (&(ran)->out), suite_ran_text (ran))

#endif

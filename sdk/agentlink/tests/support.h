/* support.h - a real agent on this machine, with a host's services that only record. */
#ifndef BERTH_SDK_AGENTLINK_TESTS_SUPPORT_H
#define BERTH_SDK_AGENTLINK_TESTS_SUPPORT_H

#include <stdbool.h>
#include <sys/types.h>

#include "sdk/agentlink/tests/recorded.h"
#include "sdk/base/buffer.h"

/* One agent, as root, in this machine's own namespaces. */
struct agent_under_test
{
  struct berth_handle handle;
  struct recorded recorded;
  pid_t pid;
  char directory[64]; /* holds "socket" and "workspace" */
  char workspace[80];
  char socket[80];
};

#define TEST_USER "nobody"

enum agent_kind
{
  AGENT_WITH_TOKEN,
  AGENT_WITHOUT_TOKEN, /* it serves nobody of its own pid namespace */
  AGENT_IN_NAMESPACE   /* without a token, as the first process of a pid namespace */
};

bool agent_start_as (struct agent_under_test *agent, enum agent_kind kind, const char *const *options);

/* With a token.  OPTIONS are further arguments, ending with NULL; or NULL.  Skips or fails the test and returns
 * false when it cannot be started. */
bool agent_start (struct agent_under_test *agent, const char *const *options);
/* Ends it by its protocol where it still lives, reaps it, removes its directory.  Its exit status. */
int agent_stop (struct agent_under_test *agent);

/* ---- results ---- */
struct run_result
{
  int status; /* what agentlink_run returned */
  struct berth_exit exit;
  int exits;
  struct berth_buffer streams[2];
  int64_t first_output_ms; /* after the start; -1: none */
  int64_t duration_ms;
};

/* Runs a command; LAST is its last argument.  RUN may hold asks; its arguments are set here. */
void run_in_agent (struct agent_under_test *agent, struct berth_run *run, const char *const *arguments,
                   struct run_result *result);
/* /bin/sh -c SCRIPT */
void run_script (struct agent_under_test *agent, struct berth_run *run, const char *script,
                 struct run_result *result);
void run_result_free (struct run_result *result);

/* 0 or -1 as agentlink's; the whole content in CONTENT. */
int read_file (struct agent_under_test *agent, const char *path, struct berth_buffer *content);
int write_file (struct agent_under_test *agent, const char *path, const void *bytes, size_t size,
                struct berth_change *how);

/* DIRECTORY/NAME in memory that the next call of the same depth of eight reuses. */
const char *in_workspace (const struct agent_under_test *agent, const char *name);

#endif

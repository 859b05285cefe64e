/* agent.h - one running agent: what it was started with, and what its children share. */
#ifndef BERTH_SDK_AGENT_AGENT_H
#define BERTH_SDK_AGENT_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sdk/agent/failure.h"
#include "sdk/agent/protocol.h"
#include "sdk/base/buffer.h"

#define AGENT_VERSION PACKAGE_VERSION
#define AGENT_WORKERS_MAXIMUM 1024
#define AGENT_HANDSHAKE_MS 10000

/* What the process that serves a connection tells the agent about itself. */
enum worker_role
{
  WORKER_PLAIN = 0,
  WORKER_WAITING = 3, /* for the next connection */
  WORKER_OWNER = 1,  /* its end, however it comes, ends the sandbox */
  WORKER_DONE = 4,    /* all is said: nobody needs the connection any more */
  WORKER_ENDING = 2, /* the sandbox is to end now; this process is killed last */
};

/* Shared between the agent and its children: PID and FD are the agent's to write, and ROLE before the
 * fork; afterwards ROLE is the child's. */
struct worker
{
  pid_t pid; /* 0: the slot is free; WORKER_KILLED: it was, and what it left is not dead yet */
  uint32_t role;
  int fd; /* its connection, where the agent holds it too; 0: it does not */
};
#define WORKER_KILLED (-1)

struct agent
{
  int listener;
  int timer; /* boot-time clock: fires at the end and its grace; children set it, since they share it */
  int proc;  /* /proc, opened before anything else could be mounted there */
  int root;
  unsigned char token[WIRE_TOKEN_MAXIMUM];
  size_t token_size;
  struct berth_buffer environment; /* NAME=VALUE strings, each with its NUL */
  const char *user;
  const char *workspace;
  uint64_t limit_open_files; /* UINT64_MAX: as it is; so are the next three */
  uint64_t limit_processes;
  uint64_t limit_file_size;
  uint64_t limit_core;
  int64_t grace_ms;
  bool forbid_root;
  bool landlock;
  uid_t own_id;     /* what the agent's processes are and no command can be; 0: what it was started as */
  bool single_user; /* no other account can be had here: nothing maps to it */
  bool use_openat2;
  struct worker *workers; /* AGENT_WORKERS_MAXIMUM of them */
};

/* accept.c: serves until the sandbox has to end, and has killed everything when it returns. */
void agent_serve (struct agent *agent);

/* serve.c: one connection, in a process of its own; returns that process's exit status. */
int agent_serve_connection (struct agent *agent, struct worker *self, int fd, bool trusted);

#endif

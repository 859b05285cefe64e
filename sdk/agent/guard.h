/* guard.h - the other program in berth-agent's file: what keeps a sandbox's network, outside.
 *
 * It is asked for by the name GUARD_NAME as argument 0; the other arguments are pasta's path and the
 * options of pasta's that differ from sandbox to sandbox.  What it gets are descriptors. */
#ifndef BERTH_AGENT_GUARD_H
#define BERTH_AGENT_GUARD_H

#include <stdint.h>

#define GUARD_NAME "berth-guard"
/* The id that it has in a sandbox with ids of its own: that of the agent's processes, which no command gets. */
#define GUARD_ID 65535

enum guard_descriptor
{
  GUARD_SANDBOX = 3, /* pidfd of the sandbox's first process */
  GUARD_USERS,       /* its user namespace */
  GUARD_NETWORK,     /* its network namespace */
  GUARD_FILTER,      /* a file of struct sock_filter: which frames may leave */
  GUARD_NEWS         /* a pipe for struct guard_news */
};

/* Why it failed is on its standard error. */
struct guard_news
{
  int32_t what;  /* GUARD_STARTED or GUARD_READY */
  int32_t value; /* STARTED: the pid of the guard, as its parent sees it */
  int32_t error;
};
enum
{
  GUARD_STARTED = 1,
  GUARD_READY = 3
};

_Noreturn void guard_main (int argc, char **argv);

#endif

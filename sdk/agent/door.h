/* door.h - the third program in berth-agent's file: a way into a sandbox whose agent is held.
 *
 * It is asked for by the name DOOR_NAME as argument 0, and what it gets are descriptors.  It joins the
 * sandbox from outside, where no freezer of the sandbox's holds it, serves one connection with the agent's
 * protocol, and ends.  It can read the sandbox's files and change nothing. */
#ifndef BERTH_AGENT_DOOR_H
#define BERTH_AGENT_DOOR_H

#define DOOR_NAME "berth-door"
/* Its id in a sandbox with ids of its own: that of the agent's processes, which no command gets. */
#define DOOR_ID 65535

enum door_descriptor
{
  DOOR_SANDBOX = 3, /* pidfd of the sandbox's first process */
  DOOR_FILTER,      /* the sandbox's filter of system calls: an array of struct sock_filter */
  DOOR_LINE         /* the connection; where it cannot come in it answers CAPABILITY_NOT_SUPPORTED there */
};

_Noreturn void door_main (void);

#endif

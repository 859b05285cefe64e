/* tree.h - all descendants of a process, whatever sessions and groups they made. */
#ifndef BERTH_SDK_AGENT_TREE_H
#define BERTH_SDK_AGENT_TREE_H

#include "sdk/agent/agent.h"

/* Tells whether a process, and with it what it started, is left out. */
typedef bool tree_filter (const struct agent *agent, pid_t pid);

/* How many living descendants ROOT has that are not of the caller's session: every command begins a
 * session, and none of the agent's own processes does.  -1 when /proc could not be read. */
int tree_count (const struct agent *agent, pid_t root);

/* Ends all descendants of the calling process, which must be their reaper: first stops them, so
 * that none makes another, then kills, until none is left or five seconds have passed.  REAP is
 * called after each round and takes what has ended. */
void tree_end (const struct agent *agent, tree_filter *skip, void (*reap) (void *context), void *context);

#endif

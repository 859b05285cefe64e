/* deadline.h - the end that the agent keeps by itself. */
#ifndef BERTH_SDK_AGENT_DEADLINE_H
#define BERTH_SDK_AGENT_DEADLINE_H

#include "sdk/agent/agent.h"

/* The sandbox ends TTL_MS from now, and the agent's grace.  -1 with errno. */
int deadline_set (const struct agent *agent, uint64_t ttl_ms);

#endif

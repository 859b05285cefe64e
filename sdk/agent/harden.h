/* harden.h - what the agent gives up before it serves anybody; everything it starts inherits that. */
#ifndef BERTH_SDK_AGENT_HARDEN_H
#define BERTH_SDK_AGENT_HARDEN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Default dispositions whatever was inherited; SIGCHLD blocked, nothing else. */
void harden_signals (void);

/* The user id ID with all the capabilities: no account of the sandbox, its root included, then has
 * power over the agent's processes by having their id. */
int harden_identity (uid_t id);

/* What the agent and all that it starts may write of a core: a filter may forbid it later. */
int harden_core (uint64_t limit);

/* landlock.c: what is written lies below WORKSPACE and the places for temporary files, NULL: nothing is
 * written, where the kernel can hold that; after harden_process.  -1 with errno. */
int harden_writes (const char *workspace);

/* Undumpable; no new privileges; empty bounding, ambient and inheritable sets; reaper of all that it
 * starts; then the seccomp FILTER of SIZE bytes, if any.  NULL, or what failed, with errno. */
const char *harden_process (const void *filter, size_t size);

#endif

/* target.h - what an operation changes: a place below its write root, and the attributes asked for. */
#ifndef BERTH_SDK_AGENT_TARGET_H
#define BERTH_SDK_AGENT_TARGET_H

#include "sdk/agent/operations.h"
#include "sdk/agent/path.h"

struct target
{
  const char *path; /* for messages */
  const char *relative;
  int root;
  struct path_place place;
  uid_t uid; /* -1: leave it */
  gid_t gid;
};

#define TARGET_AUTO __attribute__ ((cleanup (target_close)))
#define TARGET_NONE ((struct target) { .root = -1, .place = { .directory = -1 } })

/* Finds PATH below the request's write root, which it must not be itself.  With FOLLOW, a link in
 * the last component is followed.  Missing parents are made where PARENTS was asked. */
int target_find (struct operation *operation, const char *path, bool follow, struct target *target);
void target_close (struct target *target);

/* The owner and group that the request names; with DEFAULTS, the sandbox's user where it names none. */
int target_find_owner (struct operation *operation, bool defaults, struct target *target);

/* "cannot VERB PATH: reason" */
int target_fail (struct operation *operation, const struct target *target, const char *verb);

#endif

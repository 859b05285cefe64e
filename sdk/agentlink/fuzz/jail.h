/* jail.h - a small tree with a workspace in it, and everything else in it watched. */
#ifndef BERTH_SDK_AGENTLINK_FUZZ_JAIL_H
#define BERTH_SDK_AGENTLINK_FUZZ_JAIL_H

#include <sys/types.h>

#include "sdk/base/buffer.h"

struct jail
{
  char path[96];
  int root;
  int workspace;
  uid_t uid; /* owns all of it, so that only the agent's own care protects it */
  struct berth_buffer before;
};

/* Below TMPDIR.  -1 with errno. */
int jail_make (struct jail *jail);
void jail_remove (struct jail *jail);

/* Makes the calling thread, and no other, one that has the jail as its root and no privileges.  Who is not
 * root has none and cannot change his root: nothing is done. */
int jail_enter (const struct jail *jail);

/* Ends the program when anything outside the workspace has changed, or the workspace holds what nobody
 * may bring there.  Then empties the workspace. */
void jail_check (const struct jail *jail);

#endif

/* still.h - holding a sandbox still for the length of a snapshot.
 *
 * The sandbox's own record does not change: to everybody else it runs, and their calls wait.  That it
 * is held is on record with the snapshot before it happens, so that whoever comes after a maker that
 * died lets it go on. */
#ifndef CORE_MANAGER_STILL_H
#define CORE_MANAGER_STILL_H

#include "core/manager/call.h"
#include "core/manager/ids.h"
#include "core/state/snapshot.h"

bool berth_still_is_possible (struct berth_instance *instance, const struct berth_record *sandbox);
/* The caller holds the locks of both. */
int berth_still_hold (struct berth_host *host, struct berth_instance *instance, const struct berth_record *sandbox,
                      struct berth_snapshot_record *snapshot, struct berth_cancel *cancel, struct berth_error *error);
/* Does nothing when the snapshot holds nothing. */
int berth_still_let_go (struct berth_host *host, struct berth_instance *instance, const struct berth_record *sandbox,
                        struct berth_snapshot_record *snapshot, struct berth_error *error);

/* ---- for everybody else ---- */

/* Whether the sandbox ID is held for a snapshot, by one who lives or one who died of it. */
bool berth_still_is_held (struct berth_host *host, const char *id);

/* All zero before the first call. */
struct berth_still_patience
{
  int64_t deadline_ms; /* of all waiting */
  int unseen;          /* refusals in a row with nothing that holds it */
};
/* After a call on SANDBOX that was refused with CODE before anything came of it: whether to make it again, since
 * the sandbox was held for a snapshot and is so no more.  Waits for the end of that, and lets go what a dead maker
 * holds.  False: ERROR stays, or says why waiting came to nothing. */
bool berth_still_wait (struct berth_still_patience *patience, struct berth_sandbox *sandbox, uint32_t code,
                       struct berth_cancel *cancel, struct berth_error *error);

#endif

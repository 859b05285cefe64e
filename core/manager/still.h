/* still.h - holding a sandbox still for the length of a snapshot.
 *
 * The sandbox's own record does not change: to everybody else it runs.  That it is held is on
 * record with the snapshot before it happens, so that whoever comes after a maker that died lets
 * it go on. */
#ifndef CORE_MANAGER_STILL_H
#define CORE_MANAGER_STILL_H

#include "core/manager/call.h"
#include "core/state/snapshot.h"

bool berth_still_is_possible (struct berth_instance *instance, const struct berth_record *sandbox);
/* The caller holds the locks of both. */
int berth_still_hold (struct berth_host *host, struct berth_instance *instance, const struct berth_record *sandbox,
                      struct berth_snapshot_record *snapshot, struct berth_cancel *cancel, struct berth_error *error);
/* Does nothing when the snapshot holds nothing. */
int berth_still_let_go (struct berth_host *host, struct berth_instance *instance, const struct berth_record *sandbox,
                        struct berth_snapshot_record *snapshot, struct berth_error *error);

#endif

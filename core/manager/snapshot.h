/* snapshot.h - snapshots of workspaces: what `create`, `rollback` and `fork` take of them. */
#ifndef CORE_MANAGER_SNAPSHOT_H
#define CORE_MANAGER_SNAPSHOT_H

#include "core/manager/ids.h"
#include "core/manager/lock.h"
#include "core/manager/manager.h"
#include "core/state/snapshot.h"

/* As berth_sandbox_snapshot, of one that goes with its maker: it is there for as long as LOCK is held,
 * and whoever finds it without takes it away. */
int berth_snapshot_lend (struct berth_sandbox *sandbox, const struct berth_snapshot_options *options,
                         struct berth_lock *lock, char id[BERTH_ID_SIZE], struct berth_error *error);

/* The record of the ready one called NAME (id, name or prefix), for the caller to clear. */
int berth_snapshot_open (struct berth_host *host, const char *name, struct berth_snapshot_record *out,
                         struct berth_error *error);

/* Takes away what berth_snapshot_lend gave, and lets the lock go. */
int berth_snapshot_take_back (struct berth_host *host, const char *id, struct berth_lock *lock,
                              struct berth_error *error);

/* Fills the workspace of a new sandbox that OPTIONS are of; the file is verified before the first byte
 * goes in. */
int berth_snapshot_restore (struct berth_sandbox *sandbox, const struct berth_snapshot_record *snapshot,
                            const struct berth_create_options *options, struct berth_error *error);

/* Takes away what makers and removers that died have left, and lets go on what they held still.
 * Failures are only logged. */
void berth_snapshot_sweep (struct berth_host *host);
/* The same for halves of files that no record knows. */
void berth_snapshot_sweep_files (struct berth_host *host);

/* As the user is told; good for as long as the record is. */
struct berth_snapshot_info berth_snapshot_tell (const struct berth_snapshot_record *record);

#endif

/* Snapshots that are there: finding, telling, restoring, removing, and clearing away. */
#include "core/manager/audit.h"
#include "core/manager/ids.h"
#include "core/manager/lock.h"
#include "core/manager/snapshot.h"
#include "core/manager/snapshot_file.h"
#include "core/manager/still.h"
#include "core/manager/workspace.h"

#define LOCK_MS (60 * 1000)

struct berth_snapshot_info
berth_snapshot_tell (const struct berth_snapshot_record *record)
{
  return (struct berth_snapshot_info) {
    .struct_size = sizeof (struct berth_snapshot_info),
    .consistent = record->consistent != 0,
    .id = record->id,
    .name = record->name,
    .owner = record->owner,
    .kind = "workspace",
    .sandbox = record->sandbox,
    .backend = record->backend,
    .image = record->image,
    .checksum = record->checksum,
    .created_wall_ms = record->created_wall_ms,
    .bytes = (uint64_t) record->bytes,
    .tar_bytes = (uint64_t) record->tar_bytes,
    .entries = (uint64_t) record->entries,
  };
}

int
berth_snapshot_open (struct berth_host *host, const char *name, struct berth_snapshot_record *out,
                     struct berth_error *error)
{
  char id[BERTH_ID_SIZE];

  if (berth_id_resolve_snapshot (host, name, id, error) != 0
      || berth_store_load_snapshot (host->store, id, out, error) != 0)
    return -1;
  if (out->state == BERTH_SNAPSHOT_READY || out->state == BERTH_SNAPSHOT_LENT)
    return 0;
  berth_error_set (error, BERTH_E_CONFLICT, "snapshot %s is just being %s", id,
                   out->state == BERTH_SNAPSHOT_MAKING ? "made" : "removed");
  berth_snapshot_record_clear (out);
  return -1;
}

int
berth_snapshot_inspect (struct berth_host *host, const char *name,
                        void (*visit) (void *context, const struct berth_snapshot_info *info), void *context,
                        struct berth_error *error)
{
  BERTH_AUTO_SNAPSHOT struct berth_snapshot_record record = { 0 };

  if (berth_snapshot_open (host, name, &record, error) != 0)
    return -1;
  struct berth_snapshot_info info = berth_snapshot_tell (&record);
  visit (context, &info);
  return 0;
}

int
berth_snapshot_list (struct berth_host *host, const struct berth_snapshot_list_options *options,
                     int (*visit) (void *context, const struct berth_snapshot_info *info), void *context,
                     struct berth_error *error)
{
  struct berth_snapshot_list_options ours = BERTH_SNAPSHOT_LIST_OPTIONS_INIT;
  BERTH_AUTO_IDS struct berth_store_ids ids = { 0 };

  berth_snapshot_sweep (host);
  if (berth_options_take (&ours, options, error) != 0
      || berth_store_list_snapshots (host->store, ours.all_owners != 0 ? NULL : host->owner, ours.sandbox, &ids, error)
             != 0)
    return -1;
  for (size_t i = 0; i < ids.count; i++)
    {
      BERTH_AUTO_SNAPSHOT struct berth_snapshot_record record = { 0 };
      struct berth_error gone = { 0 };
      if (berth_store_load_snapshot (host->store, ids.items[i], &record, &gone) != 0)
        {
          if (gone.code == BERTH_E_NOT_FOUND)
            continue;
          if (error != NULL)
            *error = gone;
          return -1;
        }
      struct berth_snapshot_info info = berth_snapshot_tell (&record);
      if (visit (context, &info) != 0)
        break;
    }
  return 0;
}

/* ---- restoring ---- */

/* What is wrong with the file explains what else went wrong; a caller who gave up does not wait for it. */
static int
end_restore (struct berth_snapshot_reader *reader, int result, const struct berth_error *failed, struct berth_error *error)
{
  bool given_up = result != 0 && reader->error.code == 0
                  && (failed->code == BERTH_E_CANCELLED || failed->code == BERTH_E_TIMEOUT);

  if (!given_up && berth_snapshot_reader_verdict (reader, error) != 0)
    return -1;
  if (result != 0 && error != NULL)
    *error = reader->error.code != 0 ? reader->error : *failed;
  return result;
}

/* Into a sandbox that is new, and goes again when this fails. */
int
berth_snapshot_restore (struct berth_sandbox *sandbox, const struct berth_snapshot_record *snapshot,
                        const struct berth_create_options *options, struct berth_error *error)
{
  BERTH_AUTO_SNAPSHOT_READER struct berth_snapshot_reader reader = { .fd = -1 };
  struct berth_tar_limits limits = { .struct_size = sizeof limits,
                                     .max_bytes = (uint64_t) snapshot->tar_bytes,
                                     .max_entries = (uint64_t) sandbox->host->limits.max_entries };
  struct berth_error failed = { 0 };
  uint64_t bytes = 0;

  if (berth_snapshot_reader_open (sandbox->host, snapshot->id, (uint64_t) snapshot->bytes, snapshot->checksum, &reader,
                                  error)
      != 0)
    return -1;
  reader.progress = options->progress;
  reader.progress_context = options->progress_context;
  reader.total = (uint64_t) snapshot->tar_bytes;
  int result = berth_workspace_import_within (sandbox, &limits, options->cancel, berth_snapshot_reader_give, &reader,
                                              &bytes, &failed);
  return end_restore (&reader, result, &failed, error);
}

/* ---- removing ---- */

/* The caller holds the snapshot's lock. */
static int
remove_locked (struct berth_host *host, struct berth_snapshot_record *record, struct berth_error *error)
{
  if (record->state == BERTH_SNAPSHOT_READY)
    {
      record->state = BERTH_SNAPSHOT_REMOVING;
      if (berth_store_update_snapshot (host->store, record, error) != 0)
        return -1;
    }
  return berth_snapshot_file_remove (host, record->id, error) != 0
                 || berth_store_remove_snapshot (host->store, record->id, error) != 0
             ? -1
             : 0;
}

/* Its maker died while it held the sandbox still. */
static int
let_go (struct berth_host *host, struct berth_snapshot_record *record, struct berth_error *error)
{
  BERTH_AUTO_LOCK struct berth_lock lock = BERTH_LOCK_NONE;
  BERTH_AUTO_RECORD struct berth_record sandbox = { 0 };
  struct berth_instance *instance = NULL;
  struct berth_error gone = { 0 };
  int taken = berth_lock_try (host, record->sandbox, &lock, error);

  if (taken <= 0)
    return taken;
  if (berth_store_load (host->store, record->sandbox, 0, &sandbox, &gone) != 0)
    return gone.code == BERTH_E_SANDBOX_NOT_FOUND ? 1 : berth_error_set (error, gone.code, "%s", gone.message);
  /* which of its natives is the one that is held is known when its rollback is settled */
  if (sandbox.state == BERTH_RECORD_REPLACING)
    return 0;
  /* one that was paused or stopped since then is held by its owner's word */
  if (sandbox.state != BERTH_RECORD_RUNNING || berth_record_current (&sandbox) == NULL)
    return 1;
  return berth_registry_instance (host->registry, sandbox.backend, "an abandoned snapshot", &instance, error) != 0
                 || berth_still_let_go (host, instance, &sandbox, record, error) != 0
             ? -1
             : 1;
}

/* 1 it is gone; 0 not yet, since what it holds still cannot be let go on now; -1. */
static int
clear_locked (struct berth_host *host, struct berth_snapshot_record *record, struct berth_error *error)
{
  int let = record->frozen != 0 ? let_go (host, record, error) : 1;

  return let <= 0 ? let : remove_locked (host, record, error) != 0 ? -1 : 1;
}

int
berth_snapshot_take_back (struct berth_host *host, const char *id, struct berth_lock *lock, struct berth_error *error)
{
  BERTH_AUTO_SNAPSHOT struct berth_snapshot_record record = { 0 };
  int result = berth_store_load_snapshot (host->store, id, &record, error);

  if (result == 0)
    result = remove_locked (host, &record, error);
  berth_lock_release (lock);
  return result;
}

static int
remove_named (struct berth_host *host, const char *name, struct berth_error *error)
{
  BERTH_AUTO_LOCK struct berth_lock lock = BERTH_LOCK_NONE;
  BERTH_AUTO_SNAPSHOT struct berth_snapshot_record record = { 0 };
  char id[BERTH_ID_SIZE];

  berth_snapshot_sweep (host);
  if (berth_id_resolve_snapshot (host, name, id, error) != 0
      || berth_lock_take (host, id, LOCK_MS, NULL, &lock, error) != 0
      || berth_store_load_snapshot (host->store, id, &record, error) != 0)
    return -1;
  int cleared = clear_locked (host, &record, error);
  return cleared < 0 ? -1
         : cleared > 0 ? 0
                       : berth_error_set (error, BERTH_E_CONFLICT, "sandbox %s is still held for snapshot %s",
                                          record.sandbox, id);
}

int
berth_snapshot_remove (struct berth_host *host, const char *name, struct berth_error *error)
{
  struct berth_audit audit = { .to = name };

  if (berth_audit_begin (&audit, host, "snapshot.remove", NULL, &error) != 0)
    return -1;
  return berth_audit_end (&audit, remove_named (host, name, error));
}

/* ---- what others have left ---- */

static int
sweep_one (struct berth_host *host, const char *id, struct berth_error *error)
{
  BERTH_AUTO_LOCK struct berth_lock lock = BERTH_LOCK_NONE;
  BERTH_AUTO_SNAPSHOT struct berth_snapshot_record record = { 0 };
  int taken = berth_lock_try (host, id, &lock, error);

  if (taken <= 0)
    return taken;
  if (berth_store_load_snapshot (host->store, id, &record, error) != 0)
    return error->code == BERTH_E_NOT_FOUND ? 0 : -1;
  if (record.state == BERTH_SNAPSHOT_READY)
    return 0;
  return clear_locked (host, &record, error) < 0 ? -1 : 0;
}

/* Of a maker whose record went, or was lost, before it.  A whole file without a record is left alone: it
 * may be all that is left after a database was lost. */
static void
sweep_file (void *context, const char *id)
{
  struct berth_host *host = context;
  BERTH_AUTO_LOCK struct berth_lock lock = BERTH_LOCK_NONE;
  BERTH_AUTO_SNAPSHOT struct berth_snapshot_record record = { 0 };
  struct berth_error error = { 0 };

  if (berth_lock_try (host, id, &lock, &error) != 1)
    return;
  if (berth_store_load_snapshot (host->store, id, &record, &error) != 0 && error.code == BERTH_E_NOT_FOUND
      && berth_snapshot_file_remove (host, id, &error) == 0)
    berth_host_logf (host, BERTH_LOG_INFO, "snapshot %s: half a file without a record was removed", id);
}

void
berth_snapshot_sweep (struct berth_host *host)
{
  BERTH_AUTO_IDS struct berth_store_ids ids = { 0 };
  struct berth_error error = { 0 };

  if (berth_store_list_unfinished_snapshots (host->store, &ids, &error) != 0)
    berth_host_logf (host, BERTH_LOG_WARNING, "unfinished snapshots were not looked for: %s", error.message);
  for (size_t i = 0; i < ids.count; i++)
    if (sweep_one (host, ids.items[i], &error) < 0)
      berth_host_logf (host, BERTH_LOG_WARNING, "snapshot %s is unfinished and could not be cleared away: %s",
                       ids.items[i], error.message);
}

void
berth_snapshot_sweep_files (struct berth_host *host)
{
  struct berth_error error = { 0 };

  if (berth_snapshot_file_list (host, false, sweep_file, host, &error) != 0)
    berth_host_logf (host, BERTH_LOG_WARNING, "files of snapshots were not looked at: %s", error.message);
}

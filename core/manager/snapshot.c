/* Making a snapshot: intent, a file that grows, and the record that says it is whole. */
#include "core/manager/audit.h"
#include "core/manager/snapshot.h"

#include <string.h>

#include "core/manager/ids.h"
#include "core/manager/lock.h"
#include "core/manager/snapshot_file.h"
#include "core/manager/still.h"
#include "core/manager/workspace.h"
#include "sdk/base/clock.h"

#define LOCK_MS (60 * 1000)

struct making
{
  struct berth_sandbox *sandbox;
  struct berth_snapshot_options options; /* of this library's size */
  struct berth_snapshot_record record;
  struct berth_snapshot_writer writer;
  struct berth_tar_limits limits;
  int64_t whole; /* its state when it is made */
  uint64_t told; /* bytes, at the last progress */
};

/* ---- the intent ---- */

static int
take_options (struct making *making, const struct berth_snapshot_options *options, struct berth_error *error)
{
  const struct berth_limits *limits = &making->sandbox->host->limits;
  int64_t most = 0;

  making->options = (struct berth_snapshot_options) BERTH_SNAPSHOT_OPTIONS_INIT;
  if (berth_options_take (&making->options, options, error) != 0
      || (making->options.name != NULL && berth_name_check (making->options.name, error) != 0)
      || berth_limit_apply ("snapshot", making->options.max_bytes, limits->default_snapshot, limits->max_snapshot, &most,
                            error)
             != 0)
    return -1;
  if (making->options.memory != 0)
    {
      berth_error_set (error, BERTH_E_CAPABILITY_NOT_SUPPORTED, "a snapshot holds a workspace, no processes or memory");
      berth_error_hint (error, "leave the memory out");
      return -1;
    }
  making->limits = (struct berth_tar_limits) { .struct_size = sizeof making->limits,
                                               .max_bytes = (uint64_t) most,
                                               .max_entries = (uint64_t) limits->max_entries };
  return 0;
}

static char *
copy (const char *text, bool *complete)
{
  char *result = text != NULL ? strdup (text) : NULL;

  *complete = *complete && (text == NULL || result != NULL);
  return result;
}

static int
fill_record (struct making *making, const struct berth_record *sandbox, const char *id, struct berth_error *error)
{
  bool complete = true;

  making->record = (struct berth_snapshot_record) {
    .id = copy (id, &complete),
    .name = copy (making->options.name, &complete),
    .owner = copy (making->sandbox->host->owner, &complete),
    .sandbox = copy (sandbox->id, &complete),
    .backend = copy (sandbox->backend, &complete),
    .image = copy (sandbox->image, &complete),
    .state = BERTH_SNAPSHOT_MAKING,
    .created_wall_ms = berth_clock_wall_ms (),
  };
  return complete ? 0 : berth_no_memory (error);
}

static int
check_runs (const struct berth_record *record, struct berth_error *error)
{
  if (record->state == BERTH_RECORD_RUNNING && berth_record_current (record) != NULL)
    return 0;
  berth_error_set (error, BERTH_E_WRONG_STATE, "sandbox %s is %s: a snapshot needs one that runs", record->id,
                   berth_record_state_name (record->state));
  if (record->state == BERTH_RECORD_PAUSED)
    berth_error_hint (error, "`berth resume %s` first; it is held still for the snapshot where that is possible",
                      record->id);
  else if (record->state == BERTH_RECORD_STOPPED)
    berth_error_hint (error, "`berth start %s` first", record->id);
  return -1;
}

/* ---- the content ---- */

static int
take_bytes (void *context, const void *bytes, size_t size)
{
  struct making *making = context;
  const struct berth_snapshot_options *options = &making->options;

  if (berth_snapshot_writer_take (&making->writer, bytes, size) != 0)
    return -1;
  if (options->progress != NULL && making->writer.tar_bytes - making->told >= 1024 * 1024)
    {
      making->told = making->writer.tar_bytes;
      options->progress (options->progress_context, "saving", making->told, 0);
    }
  return 0;
}

static int
export_once (struct making *making, uint64_t asks, struct berth_error *error)
{
  struct berth_tar_report report = { 0 };
  struct berth_error failed = { 0 };
  uint64_t bytes = 0; /* the writer counts them, too */

  making->limits.asks = asks;
  if (berth_workspace_export_within (making->sandbox, &making->limits, making->options.cancel, take_bytes, making, &report,
                                     &bytes, &failed)
      == 0)
    {
      making->record.entries = (int64_t) report.entries;
      /* also of what stands still something may not be had: a file that one of its processes has a lease on */
      making->record.consistent = (asks & BERTH_TAR_FROZEN) != 0 && (report.has & BERTH_TAR_CHANGED) == 0;
      return 0;
    }
  /* a full disk of ours looks to the backend like a reader that went away */
  *error = making->writer.error.code != 0 ? making->writer.error : failed;
  return -1;
}

/* Held still where the backend can pause, and export what is paused; else as it runs. */
static int
export_workspace (struct making *making, struct berth_instance *instance, const struct berth_record *sandbox,
                  struct berth_error *error)
{
  struct berth_host *host = making->sandbox->host;
  struct berth_error failed = { 0 };

  if (!berth_still_is_possible (instance, sandbox))
    return export_once (making, 0, error);
  int result = berth_still_hold (host, instance, sandbox, &making->record, making->options.cancel, error);
  if (result == 0)
    result = export_once (making, BERTH_TAR_FROZEN, &failed);
  else
    failed = *error;
  if (berth_still_let_go (host, instance, sandbox, &making->record, error) != 0)
    return -1;
  if (result == 0)
    return 0;
  *error = failed;
  if ((failed.code != BERTH_E_WRONG_STATE && failed.code != BERTH_E_CAPABILITY_NOT_SUPPORTED)
      || making->writer.tar_bytes != 0)
    return -1;
  return export_once (making, 0, error);
}

static int
make_file (struct making *making, struct berth_instance *instance, const struct berth_record *sandbox,
           struct berth_error *error)
{
  char checksum[BERTH_CHECKSUM_SIZE];

  if (berth_snapshot_writer_open (making->sandbox->host, making->record.id, &making->writer, error) != 0
      || export_workspace (making, instance, sandbox, error) != 0)
    return -1;
  making->record.tar_bytes = (int64_t) making->writer.tar_bytes;
  /* one that goes with its maker is nothing to find again */
  if (berth_snapshot_writer_finish (&making->writer, making->whole == BERTH_SNAPSHOT_READY ? &making->record : NULL,
                                    checksum, error)
      != 0)
    return -1;
  making->record.bytes = (int64_t) making->writer.bytes;
  making->record.state = making->whole;
  if ((making->record.checksum = strdup (checksum)) == NULL)
    return berth_no_memory (error);
  return berth_store_update_snapshot (making->sandbox->host->store, &making->record, error);
}

/* ---- the whole ---- */

static int
make_locked (struct making *making, struct berth_instance *instance, const char *id, struct berth_error *error)
{
  struct berth_host *host = making->sandbox->host;
  struct berth_store_quota quota = { host->limits.host_snapshots, host->limits.owner_snapshots };
  BERTH_AUTO_RECORD struct berth_record sandbox = { 0 };
  struct berth_error failed = { 0 };

  if (berth_store_load (host->store, making->sandbox->record.id, 0, &sandbox, error) != 0
      || check_runs (&sandbox, error) != 0 || fill_record (making, &sandbox, id, error) != 0
      || berth_store_reserve_snapshot (host->store, &making->record, &quota, error) != 0)
    return -1;
  if (make_file (making, instance, &sandbox, &failed) == 0)
    return 0;
  berth_snapshot_writer_clear (&making->writer);
  /* what cannot be taken back now is for the next sweep */
  if (berth_snapshot_file_remove (host, id, NULL) == 0 && making->record.frozen == 0)
    berth_store_remove_snapshot (host->store, id, NULL);
  *error = failed;
  return -1;
}

/* OURS is the lock of the new one, for the caller to release. */
static int
make (struct making *making, const struct berth_snapshot_options *options, struct berth_lock *ours,
      struct berth_error *error)
{
  BERTH_AUTO_LOCK struct berth_lock theirs = BERTH_LOCK_NONE;
  BERTH_AUTO_USE struct berth_use use = BERTH_USE_NONE;
  struct berth_sandbox *sandbox = making->sandbox;
  struct berth_instance *instance = NULL;
  char id[BERTH_ID_SIZE];
  int result = -1;

  berth_snapshot_sweep (sandbox->host);
  berth_snapshot_sweep_files (sandbox->host);
  if (take_options (making, options, error) == 0
      && berth_use_begin (sandbox, making->options.cancel, &use, error) == 0 && berth_sandbox_instance (sandbox, &instance, error) == 0
      && berth_id_new_snapshot (id, error) == 0 && berth_lock_take (sandbox->host, id, 0, NULL, ours, error) == 0
      && berth_lock_take (sandbox->host, sandbox->record.id, LOCK_MS, making->options.cancel, &theirs, error) == 0)
    result = make_locked (making, instance, id, error);
  berth_snapshot_writer_clear (&making->writer);
  return result;
}

static int
snapshot (struct berth_sandbox *sandbox, const struct berth_snapshot_options *options,
          void (*visit) (void *context, const struct berth_snapshot_info *info), void *context,
          struct berth_error *error)
{
  BERTH_AUTO_LOCK struct berth_lock lock = BERTH_LOCK_NONE;
  struct making making
      = { .sandbox = sandbox, .writer = { .fd = -1, .directory = -1 }, .whole = BERTH_SNAPSHOT_READY };
  int result = make (&making, options, &lock, error);

  if (result == 0 && visit != NULL)
    {
      struct berth_snapshot_info info = berth_snapshot_tell (&making.record);
      visit (context, &info);
    }
  berth_snapshot_record_clear (&making.record);
  return result;
}

int
berth_snapshot_lend (struct berth_sandbox *sandbox, const struct berth_snapshot_options *options,
                     struct berth_lock *lock, char id[BERTH_ID_SIZE], struct berth_error *error)
{
  struct making making
      = { .sandbox = sandbox, .writer = { .fd = -1, .directory = -1 }, .whole = BERTH_SNAPSHOT_LENT };
  struct berth_audit audit = { 0 };

  if (berth_audit_begin (&audit, sandbox->host, "snapshot", sandbox, &error) != 0)
    return -1;
  int result = make (&making, options, lock, error);

  if (result == 0)
    snprintf (id, BERTH_ID_SIZE, "%s", making.record.id);
  berth_snapshot_record_clear (&making.record);
  return berth_audit_end (&audit, result);
}

int
berth_sandbox_snapshot (struct berth_sandbox *sandbox, const struct berth_snapshot_options *options,
                        void (*visit) (void *context, const struct berth_snapshot_info *info), void *context,
                        struct berth_error *error)
{
  struct berth_audit audit = { 0 };

  if (berth_audit_begin (&audit, sandbox->host, "snapshot", sandbox, &error) != 0)
    return -1;
  return berth_audit_end (&audit, snapshot (sandbox, options, visit, context, error));
}

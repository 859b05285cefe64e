/* Back to a snapshot: the replacement is made and filled first, and takes the place of the old one in
 * one change of the record. */
#include "core/manager/rollback.h"

#include <string.h>

#include "core/manager/audit.h"
#include "core/manager/creation.h"
#include "core/manager/expiry.h"
#include "core/manager/inventory.h"
#include "core/manager/snapshot.h"
#include "core/manager/sweep.h"
#include "sdk/base/string.h"

#define LOCK_MS (60 * 1000)

/* ---- what is not in use ---- */

static int
add_native (struct berth_record *to, const struct berth_record_native *native, struct berth_error *error)
{
  return berth_record_add_native (to, native->id, native->assignment_id, native->generation, native->private_data,
                                  native->private_size)
                 != 0
             ? berth_no_memory (error)
             : 0;
}

/* Where there is no way to look nobody will ever know. */
static int
look (struct berth_host *host, struct berth_instance *instance, const struct berth_record *record,
      struct berth_inventory *out, struct berth_error *error)
{
  struct berth_error failed = { 0 };

  if (berth_inventory_look (host, instance, record->assignment_id, out, &failed) >= 0)
    return 0;
  if (failed.code != BERTH_E_CAPABILITY_NOT_SUPPORTED)
    return berth_error_set (error, failed.code, "%s", failed.message);
  berth_host_logf (host, BERTH_LOG_WARNING,
                   "sandbox %s: its rollback was interrupted, and its backend cannot say whether it made a replacement",
                   record->id);
  return 0;
}

int
berth_rollback_find_lost_locked (struct berth_host *host, struct berth_instance *instance, struct berth_record *record,
                                 struct berth_error *error)
{
  BERTH_AUTO_INVENTORY struct berth_inventory inventory = { 0 };

  for (uint64_t i = 0; i < record->native_count; i++)
    if (record->assignment_id == NULL || strcmp (record->natives[i].assignment_id, record->assignment_id) == 0)
      return 0;
  if (look (host, instance, record, &inventory, error) != 0)
    return -1;
  for (size_t i = 0; i < inventory.count; i++)
    {
      const struct berth_seen *seen = &inventory.items[i];
      if (berth_inventory_is_of (seen, record) && seen->assignment_id != NULL && berth_string_equal (seen->assignment_id, record->assignment_id)
          && berth_inventory_write_down (host, seen, record->generation + 1, record, error) != 0)
        return -1;
    }
  return 0;
}

static int
pick_others (const struct berth_record *record, struct berth_record *out, struct berth_error *error)
{
  if ((out->id = strdup (record->id)) == NULL)
    return berth_no_memory (error);
  out->capabilities = record->capabilities;
  for (uint64_t i = 0; i < record->native_count; i++)
    if (record->natives[i].generation != record->generation && add_native (out, &record->natives[i], error) != 0)
      return -1;
  return 0;
}

int
berth_rollback_settle_locked (struct berth_host *host, struct berth_instance *instance, const char *id,
                              struct berth_destroy_budget budget, struct berth_error *error)
{
  BERTH_AUTO_RECORD struct berth_record record = { 0 }, others = { 0 };
  struct berth_destruction outcome = { .outcome = BERTH_OUTCOME_CONFIRMED };

  if (berth_store_load (host->store, id, 0, &record, error) != 0
      || berth_rollback_find_lost_locked (host, instance, &record, error) != 0
      || pick_others (&record, &others, error) != 0
      || berth_destroy_natives_locked (host, instance, &others, budget, &outcome, error) != 0)
    return -1;
  if (outcome.outcome != BERTH_OUTCOME_CONFIRMED)
    return berth_error_set (error, BERTH_E_CONFLICT, "what sandbox %s was before or should have been is still there: %s",
                            id, outcome.detail);
  return berth_store_set_state (host->store, id, BERTH_RECORD_RUNNING, error);
}

/* ---- the replacement ---- */

static int
check_old (const struct berth_sandbox *sandbox, const struct berth_record *record, struct berth_error *error)
{
  if (record->owned != 0 && !sandbox->creator)
    return berth_error_set (error, BERTH_E_WRONG_STATE,
                            "sandbox %s ends with the process that made it, and only that one can roll it back", record->id);
  if (record->state == BERTH_RECORD_RUNNING && berth_record_current (record) != NULL)
    return 0;
  berth_error_set (error, BERTH_E_WRONG_STATE, "sandbox %s is %s and cannot be rolled back", record->id,
                   berth_record_state_name (record->state));
  if (record->state == BERTH_RECORD_PAUSED || record->state == BERTH_RECORD_STOPPED)
    berth_error_hint (error, "`berth %s %s` first", record->state == BERTH_RECORD_PAUSED ? "resume" : "start", record->id);
  return -1;
}

/* The record of the replacement: that of the old one but for what is new. */
static int
prepare (struct berth_creation *creation, const struct berth_record *old, struct berth_error *error)
{
  struct berth_host *host = creation->host;
  struct berth_record *record;

  if ((creation->sandbox = berth_sandbox_new (host)) == NULL)
    return berth_no_memory (error);
  creation->sandbox->instance = creation->instance;
  record = &creation->sandbox->record;
  if (berth_store_load (host->store, old->id, 0, record, error) != 0)
    return -1;
  berth_record_clear_natives (record);
  record->generation = (int64_t) creation->wish.spec.generation;
  free (record->assignment_id);
  if ((record->assignment_id = strdup (creation->wish.assignment_id)) == NULL)
    return berth_no_memory (error);
  return 0;
}

/* On record before the backend is asked: what it makes then is found by the assignment id. */
static int
write_intent (struct berth_creation *creation, struct berth_record *old, struct berth_error *error)
{
  free (old->assignment_id);
  if ((old->assignment_id = strdup (creation->wish.assignment_id)) == NULL)
    return berth_no_memory (error);
  old->state = BERTH_RECORD_REPLACING;
  return berth_store_update (creation->host->store, old, error);
}

/* The end on record stays; that of the replacement's backend was asked for before it was filled, and
 * may be another after a renewal. */
static int
swap (struct berth_creation *creation, struct berth_error *error)
{
  struct berth_record *record = &creation->sandbox->record;

  if (berth_creation_record (creation, BERTH_RECORD_REPLACING, error) != 0
      || berth_store_update (creation->host->store, record, error) != 0)
    return -1;
  berth_expiry_follow (creation->host, creation->instance, record, berth_expiry_left (record));
  return 0;
}

/* What the backend refuses to make since it is there already is somebody else's, and not touched. */
static void
disown (struct berth_creation *creation)
{
  const struct berth_record *record = &creation->sandbox->record;

  for (uint64_t i = 0; i < record->native_count; i++)
    berth_store_remove_native (creation->host->store, record->id, record->natives[i].id, NULL);
}

static int
make_and_swap (struct berth_creation *creation, struct berth_error *error)
{
  if (berth_creation_call (creation, error) != 0)
    {
      if (error->code == BERTH_E_CONFLICT)
        disown (creation);
      return -1;
    }
  return berth_creation_restore (creation, error) != 0 || swap (creation, error) != 0 ? -1 : 0;
}

static void
settle (struct berth_creation *creation, const char *id)
{
  struct berth_destroy_budget budget = BERTH_DESTROY_PATIENT;
  struct berth_error error = { 0 };

  if (berth_rollback_settle_locked (creation->host, creation->instance, id, budget, &error) != 0)
    berth_host_logf (creation->host, BERTH_LOG_WARNING, "sandbox %s: the rollback is not cleared away: %s", id,
                     error.message);
}

static int
roll_back_locked (struct berth_creation *creation, struct berth_sandbox *sandbox,
                  const struct berth_rollback_options *options, struct berth_error *error)
{
  BERTH_AUTO_RECORD struct berth_record old = { 0 };
  const char *id = sandbox->record.id;

  if (berth_store_load (creation->host->store, id, BERTH_STORE_PAIRS, &old, error) != 0
      || check_old (sandbox, &old, error) != 0
      || berth_wish_replacement (creation->host, &old, &creation->wish, error) != 0)
    return -1;
  creation->wish.options.cancel = options->cancel;
  creation->wish.options.progress = options->progress;
  creation->wish.options.progress_context = options->progress_context;
  if (prepare (creation, &old, error) != 0 || berth_creation_validate (creation, error) != 0
      || write_intent (creation, &old, error) != 0)
    return -1;
  struct berth_error failed = { 0 };
  int result = make_and_swap (creation, &failed);
  if (result != 0)
    berth_sandbox_disconnect (creation->sandbox);
  settle (creation, id);
  if (result == 0)
    return berth_sandbox_succeed (sandbox, creation->sandbox, error);
  if (error != NULL)
    *error = failed;
  return -1;
}

static int
roll_back (struct berth_sandbox *sandbox, const char *snapshot,
           const struct berth_rollback_options *options, struct berth_error *error)
{
  struct berth_rollback_options ours = BERTH_ROLLBACK_OPTIONS_INIT;
  struct berth_creation creation = { .host = sandbox->host, .lock = BERTH_LOCK_NONE };
  BERTH_AUTO_USE struct berth_use use = BERTH_USE_NONE;
  int result = -1;

  berth_sweep (sandbox->host);
  if (berth_options_take (&ours, options, error) == 0
      && berth_snapshot_open (sandbox->host, snapshot, &creation.snapshot, error) == 0
      && berth_use_begin (sandbox, ours.cancel, &use, error) == 0
      && berth_sandbox_instance (sandbox, &creation.instance, error) == 0
      && berth_lock_take (sandbox->host, sandbox->record.id, LOCK_MS, ours.cancel, &creation.lock, error) == 0)
    result = roll_back_locked (&creation, sandbox, &ours, error);
  if (creation.sandbox != NULL)
    berth_sandbox_close (creation.sandbox);
  berth_creation_clear (&creation);
  return result;
}

int
berth_sandbox_rollback (struct berth_sandbox *sandbox, const char *snapshot,
                        const struct berth_rollback_options *options, struct berth_error *error)
{
  struct berth_audit audit = { .to = snapshot };

  if (berth_audit_begin (&audit, sandbox->host, "rollback", sandbox, &error) != 0)
    return -1;
  return berth_audit_end (&audit, roll_back (sandbox, snapshot, options, error));
}

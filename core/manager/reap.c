/* Reaping: telling, or ending, what has no right to be there any more: by its record (expired,
 * interrupted, without its owner), by its use (none, for as long as it was made for), and by its labels
 * (ours, and on no record).  Never what is being
 * created, what merely stands still, or what anybody else may own. */
#include <string.h>

#include "core/manager/audit.h"
#include "core/manager/destroy.h"
#include "core/manager/expiry.h"
#include "core/manager/idle.h"
#include "core/manager/ids.h"
#include "core/manager/inventory.h"
#include "core/manager/snapshot.h"
#include "core/manager/sweep.h"

struct reaping
{
  struct berth_host *host;
  struct berth_reap_options options;
  int (*visit) (void *context, const struct berth_reaped *what);
  void *context;
};

/* 1 stop, 0. */
static int
tell (const struct reaping *reaping, uint32_t reason, const struct berth_record *record,
      const struct berth_destruction *outcome)
{
  const struct berth_record_native *native = berth_record_current (record);
  const struct berth_reaped what = {
    .struct_size = sizeof what,
    .reason = reason,
    .outcome = outcome->outcome,
    .action = reason == BERTH_REAP_IDLE ? (uint32_t) record->idle_action : BERTH_IDLE_DESTROY,
    .backend = record->backend,
    .id = record->id,
    .name = record->name,
    .owner = record->owner,
    .native_id = native != NULL ? native->id : NULL,
    .detail = outcome->detail[0] != '\0' ? outcome->detail : NULL,
    .labels = record->labels.items,
    .label_count = record->labels.count,
  };

  return reaping->visit (reaping->context, &what) != 0 ? 1 : 0;
}

/* The error of one is its detail: the others are still to be looked at. */
static void
failed (struct berth_destruction *outcome, const struct berth_error *error)
{
  outcome->outcome = BERTH_OUTCOME_UNCONFIRMED;
  snprintf (outcome->detail, sizeof outcome->detail, "%.*s", (int) sizeof outcome->detail - 1, error->message);
}

static bool
is_wanted (const struct reaping *reaping, const struct berth_record *record)
{
  const struct berth_reap_options *options = &reaping->options;

  return (options->all_owners != 0 || record->owner == NULL || strcmp (record->owner, reaping->host->owner) == 0)
         && (options->backend == NULL || strcmp (options->backend, record->backend) == 0)
         && berth_labels_match (&record->labels, options->labels, options->label_count);
}

/* ---- by record ---- */

static int
destroy_locked (struct berth_host *host, struct berth_instance *instance, struct berth_record *record, uint32_t reason,
                struct berth_destruction *outcome, struct berth_error *error)
{
  struct berth_abandonment why = { reason };
  struct berth_destroy_budget budget = BERTH_DESTROY_PATIENT;
  struct berth_audit audit = { .id = record->id, .backend = record->backend, .reason = berth_abandonment_text (why) };

  if (berth_audit_begin (&audit, host, "reap", NULL, &error) != 0)
    return -1;
  int result = 0;
  if (reason == BERTH_REAP_ORPHANED)
    berth_destroy_unrecorded_locked (host, instance, record, budget, outcome);
  else
    result = berth_destroy_record_locked (host, instance, record, budget, outcome, error);
  audit.outcome = outcome->outcome;
  return berth_audit_end (&audit, result);
}

/* 1 it goes, or has gone; 0 it stays; -1 with *OUTCOME saying why that is not known. */
static int
end_recorded_locked (const struct reaping *reaping, struct berth_record *record, uint32_t reason,
                     struct berth_destruction *outcome)
{
  struct berth_host *host = reaping->host;
  struct berth_instance *instance = NULL;
  struct berth_error error = { 0 };
  bool kill = reaping->options.kill != 0;
  int ended = berth_registry_instance (host->registry, record->backend, "`berth reap`", &instance, &error);

  if (ended == 0)
    ended = reason != BERTH_REAP_EXPIRED ? 1
            : kill                       ? berth_expiry_decide_locked (host, instance, record, &error)
                                         : berth_expiry_judge_locked (host, instance, record, &error);
  if (kill && ended == 1)
    ended = destroy_locked (host, instance, record, reason, outcome, &error) != 0 ? -1 : 1;
  if (ended < 0)
    failed (outcome, &error);
  if (!kill)
    outcome->outcome = 0; /* nothing was done */
  return ended;
}

/* 1 with the lock and the record; 0 there is nothing to do: somebody is at it, and finishes it, or has; -1. */
static int
take_record (struct berth_host *host, const char *id, struct berth_lock *lock, struct berth_record *record,
             struct berth_error *error)
{
  struct berth_error missing = { 0 };
  int taken = berth_lock_try (host, id, lock, error);

  if (taken <= 0 || berth_store_load (host->store, id, BERTH_STORE_PAIRS, record, &missing) == 0)
    return taken;
  if (missing.code == BERTH_E_SANDBOX_NOT_FOUND)
    return 0;
  if (error != NULL)
    *error = missing;
  return -1;
}

static int
reap_record (const struct reaping *reaping, const char *id, struct berth_error *error)
{
  BERTH_AUTO_LOCK struct berth_lock lock = BERTH_LOCK_NONE;
  BERTH_AUTO_RECORD struct berth_record record = { 0 };
  struct berth_destruction outcome = { 0 };
  int taken = take_record (reaping->host, id, &lock, &record, error);

  if (taken <= 0)
    return taken;
  struct berth_abandonment why = berth_abandonment_of_locked (&record);
  if (why.reason == 0 || !is_wanted (reaping, &record)
      || end_recorded_locked (reaping, &record, why.reason, &outcome) == 0)
    return 0;
  return tell (reaping, why.reason, &record, &outcome);
}

/* ---- by its use ---- */

static int
end_idle_locked (struct berth_host *host, struct berth_instance *instance, struct berth_record *record,
                 struct berth_destruction *outcome, struct berth_error *error)
{
  struct berth_destroy_budget budget = BERTH_DESTROY_PATIENT;

  if (berth_idle_act_locked (host, instance, record, budget, outcome, error) != 0)
    return -1;
  if (record->idle_action != BERTH_IDLE_DESTROY)
    snprintf (outcome->detail, sizeof outcome->detail, "%s", berth_record_state_name (record->state));
  return 0;
}

static int
reap_unused (const struct reaping *reaping, const char *id, struct berth_error *error)
{
  BERTH_AUTO_LOCK struct berth_lock lock = BERTH_LOCK_NONE;
  BERTH_AUTO_RECORD struct berth_record record = { 0 };
  BERTH_AUTO_FD int free = -1;
  struct berth_instance *instance = NULL;
  struct berth_destruction outcome = { 0 };
  struct berth_error why = { 0 };
  int taken = take_record (reaping->host, id, &lock, &record, error);

  if (taken <= 0)
    return taken;
  if (!is_wanted (reaping, &record))
    return 0;
  int idle = berth_idle_judge_locked (reaping->host, &record, &instance, &free, &why);
  if (idle == 1 && reaping->options.kill != 0)
    idle = end_idle_locked (reaping->host, instance, &record, &outcome, &why) != 0 ? -1 : 1;
  if (idle < 0)
    failed (&outcome, &why);
  if (reaping->options.kill == 0)
    outcome.outcome = 0;
  return idle == 0 ? 0 : tell (reaping, BERTH_REAP_IDLE, &record, &outcome);
}

/* ---- by labels ---- */

/* Under the lock of its sandbox, since a create or a destroy holds that from before anything is made
 * until all is on record, or gone. */
static bool
is_on_record_locked (struct berth_host *host, const struct berth_seen *seen)
{
  BERTH_AUTO_RECORD struct berth_record record = { 0 };
  struct berth_error error = { 0 };

  if (berth_store_load (host->store, seen->sandbox_id, 0, &record, &error) != 0)
    return error.code != BERTH_E_SANDBOX_NOT_FOUND;
  for (uint64_t i = 0; i < record.native_count; i++)
    if (strcmp (record.natives[i].id, seen->native_id) == 0)
      return true;
  /* one without natives may be of a create whose answer was lost: that looks for it itself */
  return record.native_count == 0;
}

/* What would be its record. */
static int
make_up (const char *backend, const struct berth_seen *seen, struct berth_record *record)
{
  const char *owner = berth_pairs_value (&seen->metadata, BERTH_LABEL_OWNER);
  const char *name = berth_pairs_value (&seen->metadata, BERTH_LABEL_NAME);

  record->id = strdup (seen->sandbox_id);
  record->backend = strdup (backend);
  record->owner = owner != NULL ? strdup (owner) : NULL;
  record->name = name != NULL ? strdup (name) : NULL;
  return record->id == NULL || record->backend == NULL || (owner != NULL && record->owner == NULL)
                 || (name != NULL && record->name == NULL)
                 || berth_record_set_pairs (&record->labels, seen->metadata.items, seen->metadata.count) != 0
                 || berth_record_add_native (record, seen->native_id, seen->assignment_id, 1, NULL, 0) != 0
             ? -1
             : 0;
}

static int
reap_seen (const struct reaping *reaping, struct berth_instance *instance, const struct berth_seen *seen,
           struct berth_error *error)
{
  struct berth_host *host = reaping->host;
  BERTH_AUTO_LOCK struct berth_lock lock = BERTH_LOCK_NONE;
  BERTH_AUTO_RECORD struct berth_record record = { 0 };
  struct berth_destruction outcome = { 0 };
  struct berth_error why = { 0 };
  int taken = berth_lock_try (host, seen->sandbox_id, &lock, error);

  if (taken <= 0)
    return taken;
  if (is_on_record_locked (host, seen))
    return 0;
  if (make_up (berth_instance_name (instance), seen, &record) != 0)
    return berth_no_memory (error);
  if (!is_wanted (reaping, &record))
    return 0;
  if (reaping->options.kill != 0
      && destroy_locked (host, instance, &record, BERTH_REAP_ORPHANED, &outcome, &why) != 0)
    failed (&outcome, &why);
  return tell (reaping, BERTH_REAP_ORPHANED, &record, &outcome);
}

/* Whether something is left there is not known, which is not the same as nothing. */
static int
tell_unreachable (const struct reaping *reaping, const char *name, const struct berth_error *why)
{
  const struct berth_reaped what = {
    .struct_size = sizeof what,
    .reason = BERTH_REAP_UNREACHABLE,
    .backend = name,
    .detail = why->message[0] != '\0' ? why->message : NULL,
  };

  berth_host_logf (reaping->host, BERTH_LOG_WARNING, "backend %s was not asked for orphans: %s", name, why->message);
  return reaping->visit (reaping->context, &what) != 0 ? 1 : 0;
}

static int
reap_backend (const struct reaping *reaping, const char *name, struct berth_error *error)
{
  struct berth_host *host = reaping->host;
  BERTH_AUTO_INVENTORY struct berth_inventory inventory = { 0 };
  struct berth_instance *instance = NULL;
  struct berth_error unreachable = { 0 };
  int result = 0;

  if (berth_registry_instance (host->registry, name, "`berth reap`", &instance, &unreachable) != 0
      || berth_inventory_read (host, instance, BERTH_CONTROL_MS, &inventory, &unreachable) != 0)
    return tell_unreachable (reaping, name, &unreachable);
  for (size_t i = 0; result == 0 && i < inventory.count; i++)
    if (inventory.items[i].ownership.claimant == BERTH_MINE)
      result = reap_seen (reaping, instance, &inventory.items[i], error);
  return result;
}

/* ---- all ---- */

static int
reap_records (const struct reaping *reaping, struct berth_error *error)
{
  BERTH_AUTO_IDS struct berth_store_ids ids = { 0 };
  int result = berth_store_list_unsettled (reaping->host->store, &ids, error);

  for (size_t i = 0; result == 0 && i < ids.count; i++)
    result = reap_record (reaping, ids.items[i], error);
  return result;
}

static int
reap_all_unused (const struct reaping *reaping, struct berth_error *error)
{
  BERTH_AUTO_IDS struct berth_store_ids ids = { 0 };
  int result = berth_store_list_unused (reaping->host->store, &ids, error);

  for (size_t i = 0; result == 0 && i < ids.count; i++)
    result = reap_unused (reaping, ids.items[i], error);
  return result;
}

/* All that are in use, or the one that is named, which then has to be one of them. */
static int
reap_backends (const struct reaping *reaping, struct berth_error *error)
{
  struct berth_host *host = reaping->host;
  const char *wanted = reaping->options.backend;
  BERTH_AUTO_NAMES struct berth_names names = { 0 };
  struct berth_instance *instance = NULL;
  bool found = false;
  int result = berth_names_of_backends (host, &names, error);

  for (size_t i = 0; result == 0 && i < names.count; i++)
    if (wanted == NULL || strcmp (wanted, names.items[i]) == 0)
      {
        found = true;
        result = reap_backend (reaping, names.items[i], error);
      }
  if (result == 0 && wanted != NULL && !found)
    result = berth_registry_instance (host->registry, wanted, "`berth reap`", &instance, error);
  return result;
}

int
berth_reap (struct berth_host *host, const struct berth_reap_options *options,
            int (*visit) (void *context, const struct berth_reaped *what), void *context, struct berth_error *error)
{
  struct reaping reaping = { host, BERTH_REAP_OPTIONS_INIT, visit, context };

  if (berth_options_take (&reaping.options, options, error) != 0)
    return -1;
  if (reaping.options.kill != 0)
    berth_snapshot_sweep (host);
  int result = reap_records (&reaping, error);
  if (result == 0)
    result = reap_all_unused (&reaping, error);
  if (result == 0)
    result = reap_backends (&reaping, error);
  return result < 0 ? -1 : 0;
}

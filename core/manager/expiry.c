#include "core/manager/audit.h"
#include "core/manager/expiry.h"

#include <string.h>

#include "core/manager/inventory.h"
#include "core/manager/lock.h"
#include "core/manager/snapshot.h"
#include "sdk/base/clock.h"
#include "sdk/base/process.h"

#define LOCK_MS (60 * 1000)
#define FOUND_LEFT_MS (60 * 1000)

/* ---- the record ---- */

void
berth_expiry_set (struct berth_record *record, int64_t milliseconds)
{
  char boot_id[BERTH_BOOT_ID_SIZE];

  record->deadline_wall_ms = berth_clock_wall_ms () + milliseconds;
  record->deadline_boot_ms = berth_clock_boottime_ms () + milliseconds;
  if (berth_record_is_of_this_boot (record) || berth_boot_id (boot_id) != 0)
    return;
  /* without memory for it the record stays of another boot: then the wall clock counts */
  char *copy = strdup (boot_id);
  if (copy == NULL)
    return;
  free (record->boot_id);
  record->boot_id = copy;
}

int64_t
berth_expiry_left (const struct berth_record *record)
{
  if (record->deadline_wall_ms == 0)
    return record->left_ms != 0 ? record->left_ms : INT64_MAX;
  if (berth_record_is_of_this_boot (record))
    return record->deadline_boot_ms - berth_clock_boottime_ms ();
  return record->deadline_wall_ms - berth_clock_wall_ms ();
}

bool
berth_expiry_has_passed (const struct berth_record *record)
{
  return record->deadline_wall_ms != 0 && berth_expiry_left (record) <= 0;
}

struct berth_expiry
berth_expiry_tell (const struct berth_record *record)
{
  int64_t left_ms = berth_expiry_left (record);

  if (left_ms == INT64_MAX || record->state == BERTH_RECORD_CREATING)
    return (struct berth_expiry) { 0 };
  return (struct berth_expiry) { .kind = BERTH_EXPIRES_AT,
                                 .remaining_ms = left_ms,
                                 .wall_ms = record->deadline_wall_ms != 0 ? record->deadline_wall_ms
                                                                          : berth_clock_wall_ms () + left_ms };
}

void
berth_expiry_hold (struct berth_record *record)
{
  int64_t left_ms = berth_expiry_left (record);

  if (record->deadline_wall_ms == 0)
    return;
  record->left_ms = left_ms > 1 ? left_ms : 1;
  record->deadline_wall_ms = record->deadline_boot_ms = 0;
}

void
berth_expiry_go_on (struct berth_record *record)
{
  if (record->left_ms == 0)
    return;
  berth_expiry_set (record, record->left_ms);
  record->left_ms = 0;
}

void
berth_expiry_hold_found (struct berth_record *record, int64_t state)
{
  record->state = state;
  berth_expiry_hold (record);
  if (record->left_ms < FOUND_LEFT_MS)
    record->left_ms = FOUND_LEFT_MS;
}

/* ---- the backend ---- */

int
berth_expiry_tell_backend (struct berth_instance *instance, const struct berth_record *record,
                           int64_t milliseconds, struct berth_error *error)
{
  struct berth_manager_call call;
  struct berth_expiry told = { 0 };

  if (((uint64_t) record->capabilities & BERTH_CAP_EXPIRY) == 0 || berth_instance_backend (instance)->expiry == NULL)
    return 0;
  struct berth_native native = berth_native_of (instance, berth_record_current (record));
  berth_call_begin (&call, instance, native.id, NULL, BERTH_CONTROL_MS);
  int result = berth_call_backend (&call)->expiry->renew (&call.host.call, berth_instance_state (instance), &native,
                                                          milliseconds, &told);
  return berth_call_end (&call, result, error);
}

void
berth_expiry_follow (struct berth_host *host, struct berth_instance *instance, const struct berth_record *record,
                     int64_t milliseconds)
{
  struct berth_error error = { 0 };

  if (milliseconds != INT64_MAX && berth_expiry_tell_backend (instance, record, milliseconds, &error) != 0)
    berth_host_logf (host, BERTH_LOG_WARNING, "sandbox %s: its backend may end it by itself: %s", record->id,
                     error.message);
}

/* ---- decisions, with the lock held ---- */

int
berth_expiry_judge_locked (struct berth_host *host, struct berth_instance *instance, struct berth_record *record,
                           struct berth_error *error)
{
  BERTH_AUTO_INVENTORY struct berth_inventory seen = { 0 };
  const struct berth_record_native *native = berth_record_current (record);

  if (!berth_expiry_has_passed (record))
    return 0;
  int found = native != NULL ? berth_inventory_describe (host, instance, native, &seen, error) : 0;
  if (found <= 0)
    return found < 0 ? -1 : 1;
  uint32_t life = seen.items[0].life;
  /* within the boot it was its own end that stopped it */
  if (life != BERTH_LIFE_PAUSED && (life != BERTH_LIFE_STOPPED || berth_record_is_of_this_boot (record)))
    return 1;
  berth_expiry_hold_found (record, life == BERTH_LIFE_PAUSED ? BERTH_RECORD_PAUSED : BERTH_RECORD_STOPPED);
  return 0;
}

int
berth_expiry_decide_locked (struct berth_host *host, struct berth_instance *instance, struct berth_record *record,
                            struct berth_error *error)
{
  int64_t before = record->state;
  int ended = berth_expiry_judge_locked (host, instance, record, error);

  if (ended == 0 && record->state != before && berth_store_update (host->store, record, error) != 0)
    return -1;
  return ended;
}

static int
refuse_renewal (const struct berth_record *record, struct berth_error *error)
{
  if (record->state == BERTH_RECORD_RUNNING)
    {
      berth_error_set (error, BERTH_E_WRONG_STATE, "the end of sandbox %s has passed: it is removed, not renewed",
                       record->id);
      berth_error_hint (error, "renew earlier, or create it with a longer --ttl");
    }
  else
    berth_error_set (error, BERTH_E_WRONG_STATE, "sandbox %s is %s and cannot be renewed", record->id,
                     berth_record_state_name (record->state));
  return -1;
}

/* One whose time stands still gets as much as that for when it goes on. */
static int
renew_locked (struct berth_host *host, struct berth_instance *instance, struct berth_record *record, int64_t ttl_ms,
              struct berth_error *error)
{
  bool held = record->state == BERTH_RECORD_PAUSED || record->state == BERTH_RECORD_STOPPED;

  if ((!held && record->state != BERTH_RECORD_RUNNING) || berth_expiry_has_passed (record))
    return refuse_renewal (record, error);
  /* the backend first: when we die in between, its end is the later one and ours decides */
  if (!held && berth_expiry_tell_backend (instance, record, ttl_ms, error) != 0)
    return -1;
  if (held)
    record->left_ms = ttl_ms;
  else
    berth_expiry_set (record, ttl_ms);
  return berth_store_update (host->store, record, error);
}

static int
renew (struct berth_sandbox *sandbox, int64_t ttl_ms, struct berth_expiry *out,
       struct berth_error *error)
{
  struct berth_host *host = sandbox->host;
  BERTH_AUTO_LOCK struct berth_lock lock = BERTH_LOCK_NONE;
  BERTH_AUTO_RECORD struct berth_record record = { 0 };
  struct berth_instance *instance = NULL;
  int64_t wanted_ms = 0;

  berth_snapshot_sweep (host); /* the backend of one that a dead one holds still takes no end */
  if (berth_sandbox_instance (sandbox, &instance, error) != 0
      || berth_lock_take (host, sandbox->record.id, LOCK_MS, NULL, &lock, error) != 0
      || berth_store_load (host->store, sandbox->record.id, 0, &record, error) != 0
      || berth_limit_apply ("ttl", ttl_ms, record.ttl_ms, host->limits.max_ttl, &wanted_ms, error) != 0)
    return -1;
  /* its own time, when none was said, never brings the end nearer */
  if (ttl_ms == BERTH_UNSET && !berth_expiry_has_passed (&record) && berth_expiry_left (&record) > wanted_ms)
    wanted_ms = berth_expiry_left (&record);
  if (wanted_ms != INT64_MAX && renew_locked (host, instance, &record, wanted_ms, error) != 0)
    return -1;
  if (out != NULL)
    *out = berth_expiry_tell (&record);
  return 0;
}

int
berth_sandbox_renew (struct berth_sandbox *sandbox, int64_t ttl_ms, struct berth_expiry *out,
                     struct berth_error *error)
{
  struct berth_audit audit = { 0 };

  if (berth_audit_begin (&audit, sandbox->host, "renew", sandbox, &error) != 0)
    return -1;
  return berth_audit_end (&audit, renew (sandbox, ttl_ms, out, error));
}

#include "core/manager/expiry.h"

#include <string.h>

#include "core/manager/lock.h"
#include "sdk/base/clock.h"
#include "sdk/base/process.h"

#define LOCK_MS (60 * 1000)

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

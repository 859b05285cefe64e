#include "core/manager/sweep.h"

#include <string.h>

#include "core/manager/audit.h"
#include "core/manager/destroy.h"
#include "core/manager/expiry.h"
#include "core/manager/idle.h"
#include "core/manager/rollback.h"
#include "core/manager/snapshot.h"
#include "sdk/base/process.h"

#define LINGER_MS 1000

/* By its start too: a later process with its number is another. */
static bool
owner_lives (const struct berth_record *record)
{
  return berth_record_is_of_this_boot (record) && record->owner_start != 0
         && berth_process_start ((pid_t) record->owner_pid) == (uint64_t) record->owner_start;
}

struct berth_abandonment
berth_abandonment_of_locked (const struct berth_record *record)
{
  uint32_t reason = 0;

  /* one with a request id waits, for as long as its create might have taken, for the request to be repeated */
  if (record->state == BERTH_RECORD_CREATING)
    reason = record->request_id == NULL || berth_expiry_has_passed (record) ? BERTH_REAP_CREATE_INTERRUPTED : 0;
  else if (record->state == BERTH_RECORD_DESTROYING)
    reason = BERTH_REAP_DESTROY_INTERRUPTED;
  else if (record->owned != 0 && !owner_lives (record))
    reason = BERTH_REAP_OWNER_DIED;
  else if (berth_expiry_has_passed (record))
    reason = BERTH_REAP_EXPIRED;
  return (struct berth_abandonment) { reason };
}

const char *
berth_abandonment_text (struct berth_abandonment abandonment)
{
  switch (abandonment.reason)
    {
    case BERTH_REAP_CREATE_INTERRUPTED:
      return "its creator died";
    case BERTH_REAP_DESTROY_INTERRUPTED:
      return "its destruction was not finished";
    case BERTH_REAP_OWNER_DIED:
      return "its owner died";
    case BERTH_REAP_ORPHANED:
      return "it is on no record";
    case BERTH_REAP_IDLE:
      return "nobody used it";
    default:
      return "its end has passed";
    }
}

/* As berth_lock_try.  A process that a dead creator was just starting may hold its lock until it runs for
 * the first time; the lock of a living one is not waited for. */
static int
lock_or_linger (struct berth_host *host, const char *id, struct berth_lock *lock, struct berth_error *error)
{
  BERTH_AUTO_RECORD struct berth_record record = { 0 };
  struct berth_error missing = { 0 };
  int taken = berth_lock_try (host, id, lock, error);

  if (taken != 0 || berth_store_load (host->store, id, 0, &record, &missing) != 0
      || record.state != BERTH_RECORD_CREATING || owner_lives (&record))
    return taken;
  return berth_lock_take (host, id, LINGER_MS, NULL, lock, &missing) == 0;
}

static int
sweep_one (struct berth_host *host, const char *id, struct berth_error *error)
{
  BERTH_AUTO_LOCK struct berth_lock lock = BERTH_LOCK_NONE;
  BERTH_AUTO_RECORD struct berth_record record = { 0 };
  struct berth_destroy_budget budget = BERTH_DESTROY_QUICK;
  struct berth_destruction outcome = { 0 };
  struct berth_instance *instance = NULL;
  int taken = lock_or_linger (host, id, &lock, error);

  if (taken <= 0)
    return taken;
  if (berth_store_load (host->store, id, 0, &record, error) != 0)
    return error->code == BERTH_E_SANDBOX_NOT_FOUND ? 0 : -1;
  struct berth_abandonment why = berth_abandonment_of_locked (&record);
  if (why.reason == 0 && record.state != BERTH_RECORD_REPLACING)
    return 0;
  if (berth_registry_instance (host->registry, record.backend, "an abandoned sandbox", &instance, error) != 0)
    return -1;
  if (why.reason == 0)
    return berth_rollback_settle_locked (host, instance, id, budget, error);
  int ended = why.reason == BERTH_REAP_EXPIRED ? berth_expiry_decide_locked (host, instance, &record, error) : 1;
  if (ended <= 0)
    return ended;
  struct berth_audit audit = { .id = id, .backend = record.backend, .reason = berth_abandonment_text (why) };
  if (berth_audit_begin (&audit, host, "reap", NULL, &error) != 0)
    return -1;
  int result = berth_destroy_record_locked (host, instance, &record, budget, &outcome, error);
  audit.outcome = outcome.outcome;
  if (berth_audit_end (&audit, result) != 0)
    return -1;
  berth_host_logf (host, BERTH_LOG_INFO, "sandbox %s: %s: %s", id, berth_abandonment_text (why), outcome.detail);
  return 0;
}

void
berth_sweep (struct berth_host *host)
{
  BERTH_AUTO_IDS struct berth_store_ids ids = { 0 };
  struct berth_error error = { 0 };

  /* what a dead one holds still would look like paused, and keep its time */
  berth_snapshot_sweep (host);
  if (berth_store_list_unsettled (host->store, &ids, &error) != 0)
    berth_host_logf (host, BERTH_LOG_WARNING, "abandoned sandboxes were not looked for: %s", error.message);
  for (size_t i = 0; i < ids.count; i++)
    if (sweep_one (host, ids.items[i], &error) != 0)
      berth_host_logf (host, BERTH_LOG_WARNING, "sandbox %s is abandoned and could not be destroyed: %s", ids.items[i],
                       error.message);
  if (ids.count > 0)
    berth_snapshot_sweep (host); /* what was in the middle of a rollback could not be let go before */
  berth_idle_sweep (host);
}

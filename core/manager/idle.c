#include "core/manager/idle.h"

#include "core/manager/audit.h"
#include "core/manager/expiry.h"
#include "core/manager/inventory.h"
#include "core/manager/life.h"
#include "core/manager/still.h"
#include "core/manager/sweep.h"
#include "core/manager/use.h"
#include "sdk/base/clock.h"

#define TRY_AGAIN_MS (10 * 1000)

/* ---- when to look ---- */

/* By both clocks: whichever comes first, since one can be set and the other begins with each boot. */
static void
look_in (struct berth_record *record, int64_t milliseconds)
{
  record->idle_look_wall_ms = berth_clock_wall_ms () + milliseconds;
  record->idle_look_boot_ms = berth_clock_boottime_ms () + milliseconds;
}

int
berth_idle_begin_locked (struct berth_host *host, struct berth_record *record, struct berth_error *error)
{
  if (record->idle_action <= BERTH_IDLE_KEEP)
    return 0;
  look_in (record, record->idle_ms);
  return berth_use_mark_locked (host, record->id, error);
}

/* ---- deciding ---- */

/* What its runtime holds paused, and what another boot of the machine left stopped, only stands still, as
 * is on record from now on.  What is dead waits for the end of its time.  1 it runs; 0; -1. */
static int
check_runs_locked (struct berth_host *host, struct berth_instance *instance, struct berth_record *record,
                   struct berth_error *error)
{
  BERTH_AUTO_INVENTORY struct berth_inventory seen = { 0 };
  const struct berth_record_native *native = berth_record_current (record);
  int found = native != NULL ? berth_inventory_describe (host, instance, native, &seen, error) : 0;

  if (found < 0)
    return -1;
  uint32_t life = found > 0 ? seen.items[0].life : BERTH_LIFE_ENDING;
  if (life == BERTH_LIFE_RUNNING)
    return 1;
  bool is_held = life == BERTH_LIFE_PAUSED && berth_still_is_held (host, record->id);
  if ((life == BERTH_LIFE_PAUSED && !is_held) || (life == BERTH_LIFE_STOPPED && !berth_record_is_of_this_boot (record)))
    berth_expiry_hold_found (record, life == BERTH_LIFE_PAUSED ? BERTH_RECORD_PAUSED : BERTH_RECORD_STOPPED);
  else
    look_in (record, record->idle_ms);
  return berth_store_update (host->store, record, error);
}

int
berth_idle_judge_locked (struct berth_host *host, struct berth_record *record, struct berth_instance **instance,
                         int *free, struct berth_error *error)
{
  BERTH_AUTO_FD int nobody = -1;
  int64_t unused_ms = 0;

  if (record->state != BERTH_RECORD_RUNNING || record->idle_action <= BERTH_IDLE_KEEP
      || berth_expiry_has_passed (record))
    return 0;
  if (berth_use_exclude_locked (host, record->id, &nobody, &unused_ms, error) < 0)
    return -1;
  if (nobody < 0 || unused_ms < record->idle_ms)
    {
      look_in (record, record->idle_ms - unused_ms);
      return berth_store_update (host->store, record, error);
    }
  if (berth_registry_instance (host->registry, record->backend, "an idle sandbox", instance, error) != 0)
    return -1;
  int runs = check_runs_locked (host, *instance, record, error);
  if (runs == 1)
    *free = BERTH_STEAL_FD (nobody);
  return runs;
}

/* ---- doing it ---- */

static int
destroy_locked (struct berth_host *host, struct berth_instance *instance, struct berth_record *record,
                struct berth_destroy_budget budget, struct berth_destruction *out, struct berth_error *error)
{
  struct berth_audit audit = { .id = record->id,
                               .backend = record->backend,
                               .reason = berth_abandonment_text ((struct berth_abandonment) { BERTH_REAP_IDLE }) };

  if (berth_audit_begin (&audit, host, "reap", NULL, &error) != 0)
    return -1;
  int result = berth_destroy_record_locked (host, instance, record, budget, out, error);
  audit.outcome = out->outcome;
  return berth_audit_end (&audit, result);
}

static int
hold_locked (struct berth_host *host, struct berth_instance *instance, struct berth_record *record,
             struct berth_error *error)
{
  uint32_t action = (uint32_t) record->idle_action;
  struct berth_audit audit = { .id = record->id,
                               .backend = record->backend,
                               .reason = berth_abandonment_text ((struct berth_abandonment) { BERTH_REAP_IDLE }) };

  if (berth_audit_begin (&audit, host, action == BERTH_IDLE_PAUSE ? "pause" : "stop", NULL, &error) != 0)
    return -1;
  return berth_audit_end (&audit, berth_life_idle_locked (host, instance, record, action, error));
}

int
berth_idle_act_locked (struct berth_host *host, struct berth_instance *instance, struct berth_record *record,
                       struct berth_destroy_budget budget, struct berth_destruction *out, struct berth_error *error)
{
  BERTH_AUTO_RECORD struct berth_record later = { 0 };

  if (record->idle_action == BERTH_IDLE_DESTROY)
    return destroy_locked (host, instance, record, budget, out, error);
  if (hold_locked (host, instance, record, error) == 0)
    return 0;
  /* not again by each command of everybody */
  if (berth_store_load (host->store, record->id, 0, &later, NULL) == 0)
    {
      look_in (&later, TRY_AGAIN_MS);
      berth_store_update (host->store, &later, NULL);
    }
  return -1;
}

/* ---- all of them ---- */

static int
sweep_one (struct berth_host *host, const char *id, struct berth_error *error)
{
  BERTH_AUTO_LOCK struct berth_lock lock = BERTH_LOCK_NONE;
  BERTH_AUTO_RECORD struct berth_record record = { 0 };
  BERTH_AUTO_FD int free = -1;
  struct berth_destroy_budget budget = BERTH_DESTROY_QUICK;
  struct berth_destruction outcome = { 0 };
  struct berth_instance *instance = NULL;
  int taken = berth_lock_try (host, id, &lock, error);

  if (taken <= 0)
    return taken;
  if (berth_store_load (host->store, id, 0, &record, error) != 0)
    return error->code == BERTH_E_SANDBOX_NOT_FOUND ? 0 : -1;
  int idle = berth_idle_judge_locked (host, &record, &instance, &free, error);
  if (idle <= 0)
    return idle;
  if (berth_idle_act_locked (host, instance, &record, budget, &outcome, error) != 0)
    return -1;
  berth_host_logf (host, BERTH_LOG_INFO, "sandbox %s: nobody used it: %s", id,
                   outcome.outcome != 0 ? outcome.detail : berth_record_state_name (record.state));
  return 0;
}

void
berth_idle_sweep (struct berth_host *host)
{
  BERTH_AUTO_IDS struct berth_store_ids ids = { 0 };
  struct berth_error error = { 0 };

  if (berth_store_list_unused (host->store, &ids, &error) != 0)
    berth_host_logf (host, BERTH_LOG_WARNING, "idle sandboxes were not looked for: %s", error.message);
  for (size_t i = 0; i < ids.count; i++)
    if (sweep_one (host, ids.items[i], &error) != 0)
      berth_host_logf (host, BERTH_LOG_WARNING, "sandbox %s is idle, and stays as it is: %s", ids.items[i],
                       error.message);
}

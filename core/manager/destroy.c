#include "core/manager/audit.h"
#include "core/manager/destroy.h"

#include <string.h>

#include "core/manager/call.h"
#include "core/manager/interrupted.h"
#include "core/manager/inventory.h"
#include "core/manager/rollback.h"
#include "sdk/base/clock.h"

#define LOCK_MS (60 * 1000)
#define ASK_AGAIN_MS 1000

static void
say (struct berth_destruction *out, uint32_t outcome, const char *detail)
{
  out->outcome = outcome;
  snprintf (out->detail, sizeof out->detail, "%.*s", (int) sizeof out->detail - 1, detail);
}

/* ---- one native id ---- */

struct target
{
  struct berth_instance *instance;
  struct berth_native native;
  int64_t deadline_ms; /* monotonic */
  bool can_probe;
};

static int64_t
remaining (const struct target *target)
{
  int64_t left = target->deadline_ms - berth_clock_monotonic_ms ();

  return left > 1 ? left : 1;
}

/* A verdict of 0 comes with *ERROR. */
static struct berth_destroyed
ask_destroy (const struct target *target, struct berth_error *error)
{
  struct berth_manager_call call;
  struct berth_destroyed answer = { 0 };

  berth_call_begin (&call, target->instance, target->native.id, NULL, remaining (target));
  int result = berth_call_backend (&call)->lifecycle->destroy (
      &call.host.call, berth_instance_state (target->instance), &target->native, &answer);
  if (result == 0 && answer.verdict == BERTH_REFUSED)
    *error = call.host.error;
  if (berth_call_end (&call, result, error) != 0)
    answer.verdict = 0;
  else if (answer.verdict != BERTH_GONE && answer.verdict != BERTH_REFUSED)
    answer.verdict = BERTH_ACCEPTED;
  return answer;
}

/* The second observation: a verdict of 0 comes with *ERROR. */
static struct berth_presence
ask_probe (const struct target *target, struct berth_error *error)
{
  struct berth_manager_call call;
  struct berth_presence answer = { 0 };

  berth_call_begin (&call, target->instance, target->native.id, NULL, remaining (target));
  int result = berth_call_backend (&call)->probe->probe (&call.host.call, berth_instance_state (target->instance),
                                                         &target->native, &answer);
  if (berth_call_end (&call, result, error) != 0)
    answer.verdict = 0;
  else if (answer.verdict != BERTH_PRESENT && answer.verdict != BERTH_ABSENT)
    {
      answer.verdict = 0;
      berth_error_set (error, BERTH_E_INTERNAL, "the probe gave no verdict");
    }
  return answer;
}

/* One round of asking and looking. */
static void
observe (const struct target *target, struct berth_destruction *out)
{
  struct berth_error error = { 0 };
  struct berth_destroyed destroyed = ask_destroy (target, &error);

  if (destroyed.verdict == BERTH_REFUSED)
    {
      say (out, BERTH_OUTCOME_REFUSED, error.message[0] != '\0' ? error.message : "the runtime will not remove it");
      return;
    }
  if (destroyed.verdict == 0)
    {
      say (out, BERTH_OUTCOME_UNCONFIRMED, error.message);
      return;
    }
  struct berth_presence seen = target->can_probe ? ask_probe (target, &error) : (struct berth_presence) { 0 };
  if (seen.verdict == BERTH_ABSENT)
    say (out, BERTH_OUTCOME_CONFIRMED, "destroyed, and seen to be gone");
  else if (seen.verdict == BERTH_PRESENT)
    say (out, BERTH_OUTCOME_UNCONFIRMED, "the runtime accepted it, but it is still there");
  else if (target->can_probe && error.code != BERTH_E_CAPABILITY_NOT_SUPPORTED)
    say (out, BERTH_OUTCOME_UNCONFIRMED, error.message);
  else if (destroyed.verdict == BERTH_GONE)
    say (out, BERTH_OUTCOME_CONFIRMED, "the runtime says that it is gone");
  else
    say (out, BERTH_OUTCOME_UNCONFIRMED, "the runtime accepted it and has not said that it is gone");
}

/* What its labels say now goes before what is on record: ids may be given again, and a database may
 * be a copy.  Silence, and what cannot be read, leave the record's word. */
static bool
belongs_to_others (struct berth_host *host, struct berth_instance *instance, const struct berth_record *record,
                   const struct berth_record_native *native)
{
  BERTH_AUTO_INVENTORY struct berth_inventory seen = { 0 };

  if (berth_instance_backend (instance)->inventory == NULL
      || berth_inventory_describe (host, instance, native, &seen, NULL) != 1)
    return false;
  const struct berth_seen *now = &seen.items[0];
  return now->ownership.claimant == BERTH_FOREIGN
         || (now->ownership.claimant == BERTH_MINE && strcmp (now->sandbox_id, record->id) != 0);
}

static void
destroy_native (struct berth_host *host, struct berth_instance *instance, const struct berth_record *record,
                const struct berth_record_native *native, struct berth_destroy_budget budget, int64_t start_ms,
                struct berth_destruction *out)
{
  struct target target = {
    .instance = instance,
    .native = berth_native_of (instance, native),
    .deadline_ms = start_ms + budget.deadline_ms,
    /* a create that was interrupted has no answer yet: then what the backend declares counts */
    .can_probe = ((record->capabilities != 0 ? (uint64_t) record->capabilities : berth_instance_capabilities (instance))
                  & BERTH_CAP_PROBE)
                     != 0
                 && berth_instance_backend (instance)->probe != NULL,
  };

  if (belongs_to_others (host, instance, record, native))
    {
      say (out, BERTH_OUTCOME_RETAINED, "by its labels it belongs to another installation or sandbox");
      return;
    }
  for (;;)
    {
      observe (&target, out);
      if (out->outcome != BERTH_OUTCOME_UNCONFIRMED
          || berth_clock_monotonic_ms () + ASK_AGAIN_MS > start_ms + budget.settle_ms)
        return;
      berth_clock_sleep_ms (ASK_AGAIN_MS);
    }
}

/* ---- the record ---- */

/* Ends the natives one by one; each is forgotten as soon as it is proven gone.  The weakest
 * outcome is that of the whole. */
int
berth_destroy_natives_locked (struct berth_host *host, struct berth_instance *instance,
                              const struct berth_record *record, struct berth_destroy_budget budget,
                              struct berth_destruction *out, struct berth_error *error)
{
  int64_t start_ms = berth_clock_monotonic_ms ();

  for (uint64_t i = 0; i < record->native_count; i++)
    {
      struct berth_destruction one = { 0 };
      destroy_native (host, instance, record, &record->natives[i], budget, start_ms, &one);
      if (i == 0 || one.outcome != BERTH_OUTCOME_CONFIRMED)
        *out = one;
      if (one.outcome == BERTH_OUTCOME_CONFIRMED
          && berth_store_remove_native (host->store, record->id, record->natives[i].id, error) != 0)
        return -1;
    }
  return 0;
}

/* The intent.  A full disk does not keep a sandbox, which may be what fills it: its record stands
 * until its end is proven and written, so that nothing is lost without the word. */
static int
record_destroying (struct berth_host *host, const struct berth_record *record, struct berth_error *error)
{
  struct berth_error failed = { 0 };

  if (record->state == BERTH_RECORD_DESTROYING
      || berth_store_set_state (host->store, record->id, BERTH_RECORD_DESTROYING, &failed) == 0
      || failed.code == BERTH_E_RESOURCE_EXHAUSTED)
    return 0;
  if (error != NULL)
    *error = failed;
  return -1;
}

int
berth_destroy_record_locked (struct berth_host *host, struct berth_instance *instance, struct berth_record *record,
                             struct berth_destroy_budget budget, struct berth_destruction *out,
                             struct berth_error *error)
{
  bool certain = true;
  int looked = berth_interrupted_look_locked (host, instance, record, &certain, error);

  if (looked < 0)
    return -1;
  if (looked > 0)
    {
      say (out, BERTH_OUTCOME_UNCONFIRMED, "its create was interrupted, and its backend may be making it still");
      return 0;
    }
  if ((record->state == BERTH_RECORD_REPLACING
       && berth_rollback_find_lost_locked (host, instance, record, error) != 0)
      || record_destroying (host, record, error) != 0)
    return -1;
  say (out, BERTH_OUTCOME_NOTHING_NAMED, "nothing had been made");
  if (berth_destroy_natives_locked (host, instance, record, budget, out, error) != 0)
    return -1;
  if (out->outcome != BERTH_OUTCOME_CONFIRMED && out->outcome != BERTH_OUTCOME_NOTHING_NAMED)
    return 0;
  berth_use_forget_locked (host, record->id);
  return berth_store_remove (host->store, record->id, error);
}

void
berth_destroy_unrecorded_locked (struct berth_host *host, struct berth_instance *instance,
                                 const struct berth_record *record, struct berth_destroy_budget budget,
                                 struct berth_destruction *out)
{
  int64_t start_ms = berth_clock_monotonic_ms ();

  for (uint64_t i = 0; i < record->native_count; i++)
    destroy_native (host, instance, record, &record->natives[i], budget, start_ms, out);
}

static int
destroy (struct berth_sandbox *sandbox, struct berth_destruction *out, struct berth_error *error)
{
  struct berth_host *host = sandbox->host;
  BERTH_AUTO_RECORD struct berth_record record = { 0 };
  BERTH_AUTO_LOCK struct berth_lock lock = BERTH_LOCK_NONE;
  struct berth_destroy_budget budget = BERTH_DESTROY_PATIENT;
  struct berth_error missing = { 0 };
  struct berth_instance *instance = NULL;

  *out = (struct berth_destruction) { 0 };
  if (berth_sandbox_instance (sandbox, &instance, error) != 0
      || berth_lock_take (host, sandbox->record.id, LOCK_MS, NULL, &lock, error) != 0)
    return -1;
  if (berth_store_load (host->store, sandbox->record.id, 0, &record, &missing) != 0)
    {
      if (missing.code != BERTH_E_SANDBOX_NOT_FOUND)
        {
          if (error != NULL)
            *error = missing;
          return -1;
        }
      say (out, BERTH_OUTCOME_CONFIRMED, "it was destroyed before");
      return 0;
    }
  return berth_destroy_record_locked (host, instance, &record, budget, out, error);
}

int
berth_sandbox_destroy (struct berth_sandbox *sandbox, struct berth_destruction *out, struct berth_error *error)
{
  struct berth_audit audit = { 0 };
  struct berth_destruction ignored;

  if (out == NULL)
    out = &ignored;
  if (berth_audit_begin (&audit, sandbox->host, "destroy", sandbox, &error) != 0)
    return -1;
  int result = destroy (sandbox, out, error);
  audit.outcome = out->outcome;
  return berth_audit_end (&audit, result);
}

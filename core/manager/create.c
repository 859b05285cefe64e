/* Making a sandbox: intent, validation, creation, record; undone on every way that fails. */
#include <inttypes.h>
#include <string.h>

#include "core/manager/audit.h"
#include "core/manager/creation.h"
#include "core/manager/destroy.h"
#include "core/manager/expiry.h"
#include "core/manager/idle.h"
#include "core/manager/interrupted.h"
#include "core/manager/sweep.h"

/* Runs, as recorded; the deadline counts from now on.  The backend's began when it made the sandbox: a
 * while ago, where that had to be filled first. */
static int
record_running (struct berth_creation *creation, struct berth_error *error)
{
  struct berth_record *record = &creation->sandbox->record;

  if (berth_creation_record (creation, BERTH_RECORD_RUNNING, error) != 0
      || berth_idle_begin_locked (creation->host, record, error) != 0)
    return -1;
  berth_expiry_set (record, record->ttl_ms);
  if (berth_store_update (creation->host->store, record, error) != 0)
    return -1;
  if (creation->snapshot.id != NULL)
    berth_expiry_follow (creation->host, creation->instance, record, record->ttl_ms);
  return 0;
}

/* From now on the backend may make something: what that is, it tells, or is found by this id. */
static int
record_asking (struct berth_creation *creation, struct berth_error *error)
{
  struct berth_record *record = &creation->sandbox->record;

  record->assignment_id = strdup (creation->wish.assignment_id);
  if (record->assignment_id == NULL)
    return berth_no_memory (error);
  return berth_store_update (creation->host->store, record, error);
}

static int
provision (struct berth_creation *creation, struct berth_error *error)
{
  return berth_creation_validate (creation, error) != 0 || record_asking (creation, error) != 0
                 || berth_creation_call (creation, error) != 0 || berth_creation_restore (creation, error) != 0
                 || record_running (creation, error) != 0
             ? -1
             : 0;
}

/* ---- undoing ---- */

/* What was told exists until it is proven gone; the record stays until then, so that the next
 * host goes on with it.  After CONFLICT it is somebody else's, and not touched. */
static void
undo (struct berth_creation *creation, const struct berth_error *why)
{
  struct berth_host *host = creation->host;
  struct berth_record *record = &creation->sandbox->record;
  struct berth_destroy_budget budget = BERTH_DESTROY_PATIENT;
  struct berth_destruction outcome = { 0 };
  struct berth_error error = { 0 };
  int result = 0;

  berth_sandbox_disconnect (creation->sandbox);
  if (why->code == BERTH_E_CONFLICT)
    for (uint64_t i = 0; result == 0 && i < record->native_count; i++)
      result = berth_store_remove_native (host->store, record->id, record->natives[i].id, &error);
  if (result == 0 && why->code == BERTH_E_CONFLICT)
    result = berth_store_remove (host->store, record->id, &error);
  else if (result == 0)
    result = berth_destroy_record_locked (host, creation->instance, record, budget, &outcome, &error);
  if (result != 0)
    berth_host_logf (host, BERTH_LOG_WARNING, "sandbox %s could not be undone: %s", record->id, error.message);
  else if (outcome.outcome == BERTH_OUTCOME_UNCONFIRMED || outcome.outcome == BERTH_OUTCOME_REFUSED)
    berth_host_logf (host, BERTH_LOG_WARNING, "what was made of sandbox %s may be left: %s", record->id, outcome.detail);
}

/* ---- a request that was made before ---- */

static int
interrupted (const struct berth_record *record, const char *why, struct berth_error *error)
{
  berth_error_set (error, BERTH_E_CREATE_INTERRUPTED, "the create of request \"%s\" (sandbox %s) was interrupted: %s",
                   record->request_id, record->id, why);
  berth_error_hint (error, "repeat the request later; `berth rm %s` gives it up", record->id);
  return -1;
}

/* Without a way to find it again nobody knows whether it was made: it is never made twice. */
static int
resume_locked (struct berth_creation *creation, struct berth_instance *instance, struct berth_record *record,
               struct berth_error *error)
{
  bool certain = true;

  if (record->state != BERTH_RECORD_CREATING)
    return 1;
  int looked = berth_interrupted_look_locked (creation->host, instance, record, &certain, error);
  if (looked > 0)
    return interrupted (record, "its backend may be making it still", error);
  if (looked == 0 && !certain)
    return interrupted (record, "its backend cannot say whether it was made", error);
  return looked < 0 ? -1 : berth_interrupted_continue_locked (creation->host, instance, &creation->wish, record, error);
}

/* The sandbox that the same request id made.  Its lock is free once its creator is done, or
 * dead: then it is gone on with, or what is left of it is cleared away.  1: there is none any
 * more, make it. */
static int
adopt (struct berth_creation *creation, const char *id, struct berth_sandbox **out, struct berth_error *error)
{
  struct berth_host *host = creation->host;
  BERTH_AUTO_LOCK struct berth_lock lock = BERTH_LOCK_NONE;
  BERTH_AUTO_RECORD struct berth_record record = { 0 };
  struct berth_destroy_budget budget = BERTH_DESTROY_PATIENT;
  struct berth_destruction outcome = { 0 };
  struct berth_error missing = { 0 };
  struct berth_instance *instance = NULL;

  if (berth_lock_take (host, id, creation->wish.timeout_ms, creation->wish.options.cancel, &lock, error) != 0)
    return -1;
  if (berth_store_load (host->store, id, 0, &record, &missing) != 0)
    {
      if (missing.code == BERTH_E_SANDBOX_NOT_FOUND)
        return 1;
      if (error != NULL)
        *error = missing;
      return -1;
    }
  if (record.state != BERTH_RECORD_CREATING && record.state != BERTH_RECORD_DESTROYING)
    return berth_sandbox_load (host, id, out, error);
  if (berth_registry_instance (host->registry, record.backend, "an interrupted create", &instance, error) != 0)
    return -1;
  int resumed = resume_locked (creation, instance, &record, error);
  if (resumed <= 0)
    return resumed < 0 ? -1 : berth_sandbox_load (host, id, out, error);
  if (berth_destroy_record_locked (host, instance, &record, budget, &outcome, error) != 0)
    return -1;
  if (outcome.outcome == BERTH_OUTCOME_CONFIRMED || outcome.outcome == BERTH_OUTCOME_NOTHING_NAMED)
    return 1;
  return interrupted (&record, outcome.detail, error);
}

/* ---- the whole ---- */

/* 0 reserved, 1 *OUT is the sandbox of an earlier request, -1. */
static int
reserve (struct berth_creation *creation, struct berth_sandbox **out, struct berth_error *error)
{
  struct berth_host *host = creation->host;
  struct berth_store_quota quota = { host->limits.host_sandboxes, host->limits.owner_sandboxes };
  struct berth_record *record = &creation->sandbox->record;

  /* nobody knows the id yet, so it is free; from the first moment of the record it is not */
  if (berth_lock_take (host, record->id, 0, NULL, &creation->lock, error) != 0)
    return -1;
  for (;;)
    {
      BERTH_AUTO_FREE char *existing = NULL;
      int result = berth_store_reserve (host->store, record, &quota, &existing, error);
      if (result == 1)
        result = adopt (creation, existing, out, error);
      else if (result == 0)
        return 0;
      if (result == 1)
        continue;
      return result == 0 ? 1 : -1;
    }
}

static int
prepare (struct berth_creation *creation, const struct berth_create_options *options, struct berth_error *error)
{
  struct berth_host *host = creation->host;

  if (berth_creation_prepare (creation, options, error) != 0)
    return -1;
  berth_keep_secrets (creation->instance, creation->wish.spec.environment, creation->wish.spec.environment_count);
  creation->sandbox = berth_sandbox_new (host);
  if (creation->sandbox == NULL)
    return berth_no_memory (error);
  creation->sandbox->instance = creation->instance;
  creation->sandbox->creator = true;
  return berth_wish_record (host, &creation->wish, berth_instance_name (creation->instance),
                            &creation->sandbox->record, error);
}

static int
run_creation (struct berth_creation *creation, struct berth_sandbox **out, struct berth_error *error)
{
  struct berth_error why = { 0 };
  int reserved = reserve (creation, out, error);

  if (reserved != 0)
    return reserved > 0 ? 0 : -1;
  if (provision (creation, &why) == 0)
    {
      *out = BERTH_STEAL_POINTER (creation->sandbox);
      return 0;
    }
  undo (creation, &why);
  if (error != NULL)
    *error = why;
  return -1;
}

static int
create (struct berth_host *host, const struct berth_create_options *options, struct berth_sandbox **out,
        struct berth_error *error)
{
  struct berth_creation creation = { .host = host, .lock = BERTH_LOCK_NONE };

  berth_sweep (host);
  int result = prepare (&creation, options, error);
  if (result == 0)
    result = run_creation (&creation, out, error);
  if (creation.sandbox != NULL)
    {
      creation.sandbox->creator = false; /* what failed has been undone above */
      berth_sandbox_close (creation.sandbox);
    }
  berth_creation_clear (&creation);
  return result;
}

int
berth_sandbox_create (struct berth_host *host, const struct berth_create_options *options, struct berth_sandbox **out,
                      struct berth_error *error)
{
  struct berth_audit audit = { 0 };

  if (berth_audit_begin (&audit, host, "create", NULL, &error) != 0)
    return -1;
  int result = create (host, options, out, error);
  if (result == 0)
    {
      audit.sandbox = *out;
      audit.network = (uint32_t) (*out)->record.network_default;
    }
  return berth_audit_end (&audit, result);
}

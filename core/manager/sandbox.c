#include <string.h>

#include "core/manager/call.h"
#include "core/manager/destroy.h"
#include "core/manager/expiry.h"
#include "sdk/base/process.h"

struct berth_sandbox *
berth_sandbox_new (struct berth_host *host)
{
  struct berth_sandbox *sandbox = calloc (1, sizeof *sandbox);

  if (sandbox == NULL)
    return NULL;
  sandbox->host = host;
  pthread_mutex_init (&sandbox->mutex, NULL);
  return sandbox;
}

int
berth_sandbox_load (struct berth_host *host, const char *id, struct berth_sandbox **out, struct berth_error *error)
{
  struct berth_sandbox *sandbox = berth_sandbox_new (host);

  if (sandbox == NULL)
    return berth_no_memory (error);
  if (berth_store_load (host->store, id, 0, &sandbox->record, error) != 0)
    {
      berth_sandbox_close (sandbox);
      return -1;
    }
  *out = sandbox;
  return 0;
}

/* What is built to replace it, or has been replaced, is of another generation. */
const struct berth_record_native *
berth_record_current (const struct berth_record *record)
{
  for (uint64_t i = record->native_count; i > 0; i--)
    if (record->natives[i - 1].generation == record->generation)
      return &record->natives[i - 1];
  return NULL;
}

const struct berth_record_native *
berth_sandbox_native (struct berth_sandbox *sandbox)
{
  pthread_mutex_lock (&sandbox->mutex);
  const struct berth_record *record = sandbox->known != NULL ? &sandbox->known->record : &sandbox->record;
  pthread_mutex_unlock (&sandbox->mutex);
  return berth_record_current (record);
}

/* Takes NOW, which runs, over when it has another native than is known. */
static int
know (struct berth_sandbox *sandbox, struct berth_record *now, struct berth_error *error)
{
  const struct berth_record_native *old = berth_sandbox_native (sandbox);

  if (old != NULL && strcmp (old->id, berth_record_current (now)->id) == 0)
    return 0;
  struct berth_known *known = calloc (1, sizeof *known);
  if (known == NULL)
    return berth_no_memory (error);
  known->record = *now;
  *now = (struct berth_record) { 0 };
  pthread_mutex_lock (&sandbox->mutex);
  known->older = sandbox->known;
  sandbox->known = known;
  pthread_mutex_unlock (&sandbox->mutex);
  return 0;
}

bool
berth_record_is_of_this_boot (const struct berth_record *record)
{
  char boot_id[BERTH_BOOT_ID_SIZE];

  return record->boot_id != NULL && berth_boot_id (boot_id) == 0 && strcmp (record->boot_id, boot_id) == 0;
}

int
berth_sandbox_instance (struct berth_sandbox *sandbox, struct berth_instance **out, struct berth_error *error)
{
  char who[64];

  pthread_mutex_lock (&sandbox->mutex);
  *out = sandbox->instance;
  pthread_mutex_unlock (&sandbox->mutex);
  if (*out != NULL)
    return 0;
  snprintf (who, sizeof who, "sandbox %s", sandbox->record.id);
  if (berth_registry_instance (sandbox->host->registry, sandbox->record.backend, who, out, error) != 0)
    return -1;
  pthread_mutex_lock (&sandbox->mutex);
  sandbox->instance = *out; /* the registry gives everybody the same one */
  pthread_mutex_unlock (&sandbox->mutex);
  return 0;
}

static int
refuse_use (const struct berth_record *record, struct berth_error *error)
{
  const char *id = record->id;

  if (record->state == BERTH_RECORD_RUNNING && berth_record_current (record) != NULL)
    {
      berth_error_set (error, BERTH_E_WRONG_STATE, "the end of sandbox %s has passed", id);
      berth_error_hint (error, "`berth renew` moves it, before it has passed");
      return -1;
    }
  berth_error_set (error, BERTH_E_WRONG_STATE, "sandbox %s is %s, not running", id,
                   berth_record_state_name (record->state));
  if (record->state == BERTH_RECORD_PAUSED)
    berth_error_hint (error, "`berth resume %s` lets it go on", id);
  else if (record->state == BERTH_RECORD_STOPPED)
    berth_error_hint (error, "`berth start %s` starts it", id);
  else
    berth_error_hint (error, "it cannot be used any more; `berth rm %s` removes it", id);
  return -1;
}

static bool
runs (const struct berth_record *record)
{
  return (record->state == BERTH_RECORD_RUNNING || record->state == BERTH_RECORD_REPLACING)
         && berth_record_current (record) != NULL && !berth_expiry_has_passed (record);
}

int
berth_sandbox_check_runs (const struct berth_record *record, struct berth_error *error)
{
  return runs (record) ? 0 : refuse_use (record, error);
}

/* What each recorded state answers to the data plane, as it is now: since the handle was made it may
 * have been started, renewed or rolled back.  That one that ran has stopped, its backend knows. */
static int
check_runs (struct berth_sandbox *sandbox, struct berth_error *error)
{
  BERTH_AUTO_RECORD struct berth_record now = { 0 };

  if (berth_store_load (sandbox->host->store, sandbox->record.id, 0, &now, error) != 0)
    return -1;
  return berth_sandbox_check_runs (&now, error) != 0 ? -1 : know (sandbox, &now, error);
}

void
berth_handle_release (struct berth_instance *instance, struct berth_handle *handle)
{
  struct berth_manager_call call;

  berth_call_begin (&call, instance, NULL, NULL, BERTH_CONTROL_MS);
  berth_call_backend (&call)->lifecycle->release (&call.host.call, handle);
  berth_call_end (&call, 0, NULL);
}

static struct berth_handle *
current_handle (struct berth_sandbox *sandbox)
{
  pthread_mutex_lock (&sandbox->mutex);
  struct berth_handle *handle = sandbox->handle;
  pthread_mutex_unlock (&sandbox->mutex);
  return handle;
}

/* Two threads that connect at once each get a handle, and the later one gives its own back: so
 * nobody waits for another's call. */
static struct berth_handle *
adopt_handle (struct berth_sandbox *sandbox, struct berth_instance *instance, struct berth_handle *handle)
{
  pthread_mutex_lock (&sandbox->mutex);
  struct berth_handle *winner = sandbox->handle != NULL ? sandbox->handle : handle;
  sandbox->handle = winner;
  pthread_mutex_unlock (&sandbox->mutex);
  if (winner != handle)
    berth_handle_release (instance, handle);
  return winner;
}

int
berth_sandbox_connect (struct berth_sandbox *sandbox, struct berth_cancel *cancel, struct berth_handle **out,
                       struct berth_error *error)
{
  struct berth_instance *instance = NULL;
  struct berth_handle *handle = NULL;
  struct berth_manager_call call;

  if ((*out = current_handle (sandbox)) != NULL)
    return 0;
  if (check_runs (sandbox, error) != 0 || berth_sandbox_instance (sandbox, &instance, error) != 0)
    return -1;
  struct berth_native native = berth_native_of (instance, berth_sandbox_native (sandbox));
  berth_call_begin (&call, instance, native.id, cancel, BERTH_CONTROL_MS);
  int result = berth_call_backend (&call)->lifecycle->connect (&call.host.call, berth_instance_state (instance),
                                                               &native, NULL, &handle);
  if (berth_call_end (&call, result, error) != 0)
    return -1;
  *out = adopt_handle (sandbox, instance, handle);
  return 0;
}

void
berth_sandbox_disconnect (struct berth_sandbox *sandbox)
{
  pthread_mutex_lock (&sandbox->mutex);
  struct berth_handle *handle = BERTH_STEAL_POINTER (sandbox->handle);
  pthread_mutex_unlock (&sandbox->mutex);
  if (handle != NULL)
    berth_handle_release (sandbox->instance, handle);
}

void
berth_sandbox_retire (struct berth_sandbox *sandbox)
{
  pthread_mutex_lock (&sandbox->mutex);
  struct berth_handle **more = sandbox->handle != NULL
                                   ? realloc (sandbox->retired, (sandbox->retired_count + 1) * sizeof *more)
                                   : NULL;
  if (more != NULL)
    {
      sandbox->retired = more;
      more[sandbox->retired_count++] = BERTH_STEAL_POINTER (sandbox->handle);
    }
  pthread_mutex_unlock (&sandbox->mutex);
}

void
berth_sandbox_follow_starts (struct berth_sandbox *sandbox, int64_t starts)
{
  pthread_mutex_lock (&sandbox->mutex);
  bool started = sandbox->starts != starts;
  sandbox->starts = starts;
  pthread_mutex_unlock (&sandbox->mutex);
  if (started)
    berth_sandbox_retire (sandbox);
}

int
berth_sandbox_succeed (struct berth_sandbox *sandbox, struct berth_sandbox *replacement, struct berth_error *error)
{
  berth_sandbox_retire (sandbox);
  if (know (sandbox, &replacement->record, error) != 0)
    return -1;
  pthread_mutex_lock (&sandbox->mutex);
  struct berth_handle *late = sandbox->handle; /* another thread's, which may still be of the old one */
  sandbox->handle = BERTH_STEAL_POINTER (replacement->handle);
  pthread_mutex_unlock (&sandbox->mutex);
  if (late != NULL)
    berth_handle_release (sandbox->instance, late);
  return 0;
}

void
berth_sandbox_close (struct berth_sandbox *sandbox)
{
  if (sandbox == NULL)
    return;
  /* not in a child that only inherited the memory */
  bool ends = sandbox->creator && sandbox->record.owned != 0 && sandbox->record.owner_pid == (int64_t) getpid ();
  berth_sandbox_disconnect (sandbox);
  for (size_t i = 0; i < sandbox->retired_count; i++)
    berth_handle_release (sandbox->instance, sandbox->retired[i]);
  free (sandbox->retired);
  for (struct berth_known *known = sandbox->known, *older; known != NULL; known = older)
    {
      older = known->older;
      berth_record_clear (&known->record);
      free (known);
    }
  if (ends)
    berth_sandbox_destroy (sandbox, NULL, NULL);
  berth_record_clear (&sandbox->record);
  pthread_mutex_destroy (&sandbox->mutex);
  free (sandbox);
}

void
berth_sandbox_cleanup (struct berth_sandbox **sandbox)
{
  int saved = errno;

  if (*sandbox != NULL)
    {
      berth_sandbox_destroy (*sandbox, NULL, NULL);
      berth_sandbox_close (*sandbox);
    }
  errno = saved;
}

const char *
berth_sandbox_id (const struct berth_sandbox *sandbox)
{
  return sandbox->record.id;
}

int
berth_require_capability (const char *backend, uint64_t have, uint64_t needed, struct berth_error *error)
{
  uint64_t missing = needed & ~have;

  if (missing == 0)
    return 0;
  const char *name = berth_capability_name (missing & -missing);
  berth_error_set (error, BERTH_E_CAPABILITY_NOT_SUPPORTED, "backend %s cannot do that: %s is not among its capabilities",
                   backend, name != NULL ? name : "an unknown capability");
  berth_error_hint (error, "`berth backends` shows what each backend can do");
  return -1;
}

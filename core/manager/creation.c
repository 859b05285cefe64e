/* One sandbox that a backend is asked to make: the question first, then the making. */
#include "core/manager/creation.h"
#include "core/manager/environment.h"
#include "core/manager/snapshot.h"

#include <inttypes.h>
#include <string.h>

static void
begin (struct berth_creation *creation, struct berth_manager_call *call)
{
  const struct berth_create_options *options = &creation->wish.options;

  berth_call_begin (call, creation->instance, NULL, options->cancel, creation->wish.timeout_ms);
  call->host.progress = options->progress;
  call->host.progress_context = options->progress_context;
  creation->call = creation->validated.call = creation->got.call = &call->host;
}

/* ---- asking first ---- */

int
berth_creation_prepare (struct berth_creation *creation, const struct berth_create_options *options,
                        struct berth_error *error)
{
  struct berth_host *host = creation->host;

  if (berth_wish_make (host, options, &creation->wish, error) != 0
      || berth_registry_instance (host->registry, creation->wish.options.backend,
                                  creation->wish.options.backend != NULL ? "--backend" : NULL, &creation->instance, error)
             != 0)
    return -1;
  if (creation->wish.network.rules.count > 0
      && berth_require_capability (berth_instance_name (creation->instance),
                                   berth_instance_capabilities (creation->instance), BERTH_CAP_NETWORK_RULES, error)
             != 0)
    return -1;
  return creation->wish.options.snapshot != NULL
             ? berth_snapshot_open (host, creation->wish.options.snapshot, &creation->snapshot, error)
             : 0;
}

static int
ask (struct berth_creation *creation, struct berth_error *error)
{
  struct berth_manager_call call;
  struct berth_effective_sink sink
      = { .struct_size = sizeof sink, .context = &creation->validated, .effective = berth_answer_take };

  begin (creation, &call);
  int result = berth_call_backend (&call)->lifecycle->validate (
      &call.host.call, berth_instance_state (creation->instance), &creation->wish.spec, &sink);
  if (berth_call_end (&call, result, error) != 0
      || berth_answer_check (&creation->wish, creation->instance, &creation->validated, error) != 0)
    return -1;
  if (creation->validated.pin != NULL)
    {
      creation->wish.spec.pin = creation->validated.pin;
      creation->wish.spec.asks |= BERTH_SPEC_PIN;
    }
  return 0;
}

/* True for the first time in this process. */
static bool
is_news (struct berth_host *host, const char *backend)
{
  bool news = true;

  pthread_mutex_lock (&host->mutex);
  for (size_t i = 0; news && i < host->warned_count; i++)
    news = strcmp (host->warned[i], backend) != 0;
  char **more = news ? realloc (host->warned, (host->warned_count + 1) * sizeof *more) : NULL;
  if (more != NULL)
    {
      host->warned = more;
      if ((more[host->warned_count] = strdup (backend)) != NULL)
        host->warned_count++;
    }
  pthread_mutex_unlock (&host->mutex);
  return news;
}

static void
warn_of_tier (struct berth_creation *creation)
{
  const char *backend = berth_instance_name (creation->instance);

  if (creation->validated.effective.tier == BERTH_TIER_UNKNOWN && is_news (creation->host, backend))
    berth_host_logf (creation->host, BERTH_LOG_WARNING,
                     "backend %s claims no isolation tier: do not run code there that you do not trust", backend);
}

static uint64_t
idle_capabilities (uint32_t action)
{
  return action == BERTH_IDLE_PAUSE ? BERTH_CAP_PAUSE : action == BERTH_IDLE_STOP ? BERTH_CAP_RESTART : 0;
}

int
berth_creation_validate (struct berth_creation *creation, struct berth_error *error)
{
  if (ask (creation, error) != 0)
    return -1;
  warn_of_tier (creation);
  return berth_require_capability (berth_instance_name (creation->instance),
                                   berth_instance_capabilities (creation->instance)
                                       & creation->validated.effective.capabilities,
                                   berth_sessions_capabilities (creation->wish.saved.sessions)
                                       | idle_capabilities (creation->wish.options.idle_action),
                                   error);
}

/* ---- making it ---- */

/* On disk when this returns. */
static int
take_native (void *context, const struct berth_native *native)
{
  struct berth_creation *creation = context;
  struct berth_record *record = &creation->sandbox->record;
  struct berth_error error = { 0 };

  if (!berth_native_id_is_valid (native->id))
    return berth_host_call_fail (creation->call, BERTH_E_INTERNAL, "the backend told a native id that is none");
  if (native->private_size > BERTH_PRIVATE_MAX)
    return berth_host_call_fail (creation->call, BERTH_E_INTERNAL,
                                 "the backend told %" PRIu32 " bytes of private data, at most %u are kept",
                                 native->private_size, BERTH_PRIVATE_MAX);
  berth_instance_redact (creation->instance, native->private_data, native->private_size);
  if (berth_record_add_native (record, native->id, record->assignment_id, record->generation, native->private_data,
                               native->private_size)
      != 0)
    return berth_host_call_fail (creation->call, BERTH_E_RESOURCE_EXHAUSTED, "no memory left");
  if (berth_store_add_native (creation->host->store, record->id, berth_record_current (record), &error) != 0)
    return berth_host_call_fail (creation->call, error.code, "%s", error.message);
  return 0;
}

static int
take_effective (void *context, const struct berth_effective *effective)
{
  struct berth_creation *creation = context;

  return berth_answer_take (&creation->got, effective);
}

int
berth_creation_call (struct berth_creation *creation, struct berth_error *error)
{
  struct berth_manager_call call;
  struct berth_create_sink sink
      = { .struct_size = sizeof sink, .context = creation, .created = take_native, .effective = take_effective };

  begin (creation, &call);
  int result = berth_call_backend (&call)->lifecycle->create (&call.host.call, berth_instance_state (creation->instance),
                                                              &creation->wish.spec, &sink, &creation->sandbox->handle);
  if (berth_call_end (&call, result, error) != 0)
    return -1;
  if (creation->sandbox->record.native_count == 0)
    return berth_error_set (error, BERTH_E_INTERNAL, "backend %s made a sandbox without telling its id",
                            berth_instance_name (creation->instance));
  return berth_answer_compare (berth_instance_name (creation->instance), &creation->validated, &creation->got, error);
}

int
berth_creation_restore (struct berth_creation *creation, struct berth_error *error)
{
  return creation->snapshot.id == NULL ? 0
                                       : berth_snapshot_restore (creation->sandbox, &creation->snapshot,
                                                                 &creation->wish.options, error);
}

int
berth_creation_record (struct berth_creation *creation, int64_t state, struct berth_error *error)
{
  struct berth_record *record = &creation->sandbox->record;

  if (berth_answer_record (&creation->got, creation->instance, record, error) != 0)
    return -1;
  if (record->pin == NULL)
    record->pin = BERTH_STEAL_POINTER (creation->validated.pin);
  record->state = state;
  return 0;
}

void
berth_creation_clear (struct berth_creation *creation)
{
  berth_lock_release (&creation->lock);
  berth_wish_clear (&creation->wish);
  berth_answer_clear (&creation->validated);
  berth_answer_clear (&creation->got);
  berth_snapshot_record_clear (&creation->snapshot);
}

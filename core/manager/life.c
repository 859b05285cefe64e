/* Pausing, resuming, stopping and starting: what changes the life of a whole sandbox and keeps
 * its record. */
#include "core/manager/call.h"
#include "core/manager/lock.h"

#define LOCK_MS (60 * 1000)
#define STATE(name) (1u << BERTH_RECORD_##name)

struct life_change
{
  const char *verb; /* of the refusal */
  uint64_t capability;
  uint32_t from;       /* STATE of what it may be in; among them what it becomes, since twice is harmless */
  int64_t to;          /* enum berth_record_state */
  int64_t time_ms;     /* deadline of the backend's call */
  bool ends_handles;   /* a handle of before answers no more */
  int (*ask) (struct berth_manager_call *call, const struct berth_native *native);
};

static int
ask_pause (struct berth_manager_call *call, const struct berth_native *native)
{
  struct berth_options options = { .struct_size = sizeof options };

  return berth_call_backend (call)->pause->pause (&call->host.call, berth_instance_state (call->instance), native,
                                                  &options);
}

static int
ask_resume (struct berth_manager_call *call, const struct berth_native *native)
{
  return berth_call_backend (call)->pause->resume (&call->host.call, berth_instance_state (call->instance), native);
}

static int
ask_stop (struct berth_manager_call *call, const struct berth_native *native)
{
  struct berth_options options = { .struct_size = sizeof options };

  return berth_call_backend (call)->restart->stop (&call->host.call, berth_instance_state (call->instance), native,
                                                   &options);
}

static int
ask_start (struct berth_manager_call *call, const struct berth_native *native)
{
  return berth_call_backend (call)->restart->start (&call->host.call, berth_instance_state (call->instance), native);
}

/* A running sandbox may be started: it does nothing there, and brings back one whose machine or
 * first process died without the host's knowing. */
static const struct life_change pause_it = { "be paused", BERTH_CAP_PAUSE, STATE (RUNNING) | STATE (PAUSED),
                                             BERTH_RECORD_PAUSED, BERTH_CONTROL_MS, false, ask_pause };
static const struct life_change resume_it = { "be resumed", BERTH_CAP_PAUSE, STATE (RUNNING) | STATE (PAUSED),
                                              BERTH_RECORD_RUNNING, BERTH_CONTROL_MS, false, ask_resume };
static const struct life_change stop_it
    = { "be stopped", BERTH_CAP_RESTART, STATE (RUNNING) | STATE (PAUSED) | STATE (STOPPED), BERTH_RECORD_STOPPED,
        BERTH_CONTROL_MS, true, ask_stop };
static const struct life_change start_it = { "be started", BERTH_CAP_RESTART, STATE (RUNNING) | STATE (STOPPED),
                                             BERTH_RECORD_RUNNING, BERTH_CREATE_MS, true, ask_start };

static int
refuse_state (const struct berth_record *record, const struct life_change *change, struct berth_error *error)
{
  berth_error_set (error, BERTH_E_WRONG_STATE, "sandbox %s is %s and cannot %s", record->id,
                   berth_record_state_name (record->state), change->verb);
  if (record->state == BERTH_RECORD_PAUSED)
    berth_error_hint (error, "`berth resume %s` first", record->id);
  else if (record->state == BERTH_RECORD_STOPPED)
    berth_error_hint (error, "`berth start %s` first", record->id);
  return -1;
}

static int
change_locked (struct berth_sandbox *sandbox, struct berth_instance *instance, const struct life_change *change,
               struct berth_cancel *cancel, struct berth_error *error)
{
  BERTH_AUTO_RECORD struct berth_record record = { 0 };
  struct berth_manager_call call;

  if (berth_store_load (sandbox->host->store, sandbox->record.id, 0, &record, error) != 0
      || berth_require_capability (record.backend, (uint64_t) record.capabilities, change->capability, error) != 0)
    return -1;
  if ((change->from & (1u << record.state)) == 0 || berth_record_current (&record) == NULL)
    return refuse_state (&record, change, error);
  struct berth_native native = berth_native_of (instance, berth_record_current (&record));
  berth_call_begin (&call, instance, native.id, cancel, change->time_ms);
  int result = change->ask (&call, &native);
  if (berth_call_end (&call, result, error) != 0)
    return -1;
  return record.state == change->to ? 0
                                    : berth_store_set_state (sandbox->host->store, record.id, change->to, error);
}

static int
change_life (struct berth_sandbox *sandbox, const struct life_change *change, struct berth_cancel *cancel,
             struct berth_error *error)
{
  BERTH_AUTO_LOCK struct berth_lock lock = BERTH_LOCK_NONE;
  struct berth_instance *instance = NULL;

  if (berth_sandbox_instance (sandbox, &instance, error) != 0
      || berth_lock_take (sandbox->host, sandbox->record.id, LOCK_MS, cancel, &lock, error) != 0)
    return -1;
  int result = change_locked (sandbox, instance, change, cancel, error);
  if (change->ends_handles)
    berth_sandbox_retire (sandbox);
  return result;
}

int
berth_sandbox_pause (struct berth_sandbox *sandbox, struct berth_cancel *cancel, struct berth_error *error)
{
  return change_life (sandbox, &pause_it, cancel, error);
}

int
berth_sandbox_resume (struct berth_sandbox *sandbox, struct berth_cancel *cancel, struct berth_error *error)
{
  return change_life (sandbox, &resume_it, cancel, error);
}

int
berth_sandbox_stop (struct berth_sandbox *sandbox, struct berth_cancel *cancel, struct berth_error *error)
{
  return change_life (sandbox, &stop_it, cancel, error);
}

int
berth_sandbox_start (struct berth_sandbox *sandbox, struct berth_cancel *cancel, struct berth_error *error)
{
  return change_life (sandbox, &start_it, cancel, error);
}

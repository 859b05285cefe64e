/* Pausing, resuming, stopping and starting: what changes the life of a whole sandbox and keeps
 * its record. */
#include "core/manager/life.h"

#include "core/manager/audit.h"
#include "core/manager/expiry.h"
#include "core/manager/idle.h"
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
  bool first_on_record; /* what is recorded before it is done: see below */
  int (*ask) (struct berth_manager_call *call, const struct berth_native *native);
};

/* The order of record and call, for the process that dies in between.  Its end must never be
 * forgotten, so what makes it go on is recorded first (resume), and what makes it stand still last
 * (pause); a reaper that finds an ended one paused holds its time.  A stop is recorded first, since
 * a stopped one whose end passes looks as if it had ended by itself; should it not have been
 * stopped, its backend's own end is still there.  A start comes before its record likewise. */
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
                                             BERTH_RECORD_PAUSED, BERTH_CONTROL_MS, false, false, ask_pause };
static const struct life_change resume_it = { "be resumed", BERTH_CAP_PAUSE, STATE (RUNNING) | STATE (PAUSED),
                                              BERTH_RECORD_RUNNING, BERTH_CONTROL_MS, false, true, ask_resume };
static const struct life_change stop_it
    = { "be stopped", BERTH_CAP_RESTART, STATE (RUNNING) | STATE (PAUSED) | STATE (STOPPED), BERTH_RECORD_STOPPED,
        BERTH_CONTROL_MS, true, true, ask_stop };
static const struct life_change start_it = { "be started", BERTH_CAP_RESTART, STATE (RUNNING) | STATE (STOPPED),
                                             BERTH_RECORD_RUNNING, BERTH_CREATE_MS, true, false, ask_start };

static int
refuse_ended (const struct berth_record *record, const struct life_change *change, struct berth_error *error)
{
  berth_error_set (error, BERTH_E_WRONG_STATE, "the end of sandbox %s has passed: it cannot %s", record->id,
                   change->verb);
  berth_error_hint (error, "`berth rm %s` removes it", record->id);
  return -1;
}

/* The machine's restart stopped it, and nobody has recorded that. */
static bool
is_left_by_restart (const struct berth_record *record, const struct life_change *change)
{
  return change->to == BERTH_RECORD_RUNNING && change->ends_handles && record->state == BERTH_RECORD_RUNNING
         && !berth_record_is_of_this_boot (record);
}

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
call_backend (struct berth_instance *instance, const struct berth_record *record, const struct life_change *change,
              struct berth_cancel *cancel, struct berth_error *error)
{
  struct berth_native native = berth_native_of (instance, berth_record_current (record));
  struct berth_manager_call call;

  berth_call_begin (&call, instance, native.id, cancel, change->time_ms);
  return berth_call_end (&call, change->ask (&call, &native), error);
}

/* Writes that RECORD is now in state TO, and what that does to its time; AGAIN: also when it was so before. */
static int
record_state (struct berth_host *host, struct berth_record *record, int64_t to, bool again, struct berth_error *error)
{
  if (record->state == to && !again)
    return 0;
  record->state = to;
  if (to != BERTH_RECORD_RUNNING)
    berth_expiry_hold (record);
  else
    {
      berth_expiry_go_on (record);
      record->idled = 0;
      if (berth_idle_begin_locked (host, record, error) != 0)
        return -1;
    }
  return berth_store_update (host->store, record, error);
}

static int
change_record_locked (struct berth_host *host, struct berth_instance *instance, struct berth_record *record,
                      const struct life_change *change, bool was_idled, struct berth_cancel *cancel,
                      struct berth_error *error)
{
  /* on record before anything else: a start that fails leaves it stopped, with its time standing still */
  if (is_left_by_restart (record, change))
    {
      berth_expiry_hold_found (record, BERTH_RECORD_STOPPED);
      if (berth_store_update (host->store, record, error) != 0)
        return -1;
    }
  int64_t before = record->state;
  bool again = change->ends_handles || was_idled;
  if (change->to == BERTH_RECORD_PAUSED && before == BERTH_RECORD_RUNNING)
    berth_expiry_follow (host, instance, record, BERTH_EXPIRY_FAR_MS);
  if (change->first_on_record && record_state (host, record, change->to, again, error) != 0)
    return -1;
  if (call_backend (instance, record, change, cancel, error) != 0)
    {
      record_state (host, record, before, false, NULL);
      if (change->to == BERTH_RECORD_PAUSED && before == BERTH_RECORD_RUNNING)
        berth_expiry_follow (host, instance, record, berth_expiry_left (record));
      return -1;
    }
  if (change->to == BERTH_RECORD_RUNNING && change->ends_handles)
    record->starts++;
  if (record_state (host, record, change->to, again && !change->first_on_record, error) != 0)
    return -1;
  if (change->to == BERTH_RECORD_RUNNING)
    berth_expiry_follow (host, instance, record, berth_expiry_left (record));
  return 0;
}

/* WAKES: only what stands still since it was idle.  Whoever asks, from then on it does so by somebody's
 * word. */
static int
change_locked (struct berth_sandbox *sandbox, struct berth_instance *instance, const struct life_change *change,
               bool wakes, struct berth_cancel *cancel, struct berth_error *error)
{
  BERTH_AUTO_RECORD struct berth_record record = { 0 };

  if (berth_store_load (sandbox->host->store, sandbox->record.id, 0, &record, error) != 0
      || berth_require_capability (record.backend, (uint64_t) record.capabilities, change->capability, error) != 0)
    return -1;
  if ((change->from & (1u << record.state)) == 0 || berth_record_current (&record) == NULL)
    return refuse_state (&record, change, error);
  if (berth_expiry_has_passed (&record) && !is_left_by_restart (&record, change))
    return refuse_ended (&record, change, error);
  bool was_idled = record.idled != 0;
  if (wakes && !was_idled)
    return record.state == change->to ? 0 : refuse_state (&record, change, error);
  record.idled = 0;
  return change_record_locked (sandbox->host, instance, &record, change, was_idled, cancel, error);
}

static int
change_life (struct berth_sandbox *sandbox, const struct life_change *change, bool wakes, struct berth_cancel *cancel,
             struct berth_error *error)
{
  BERTH_AUTO_LOCK struct berth_lock lock = BERTH_LOCK_NONE;
  struct berth_instance *instance = NULL;

  if (berth_sandbox_instance (sandbox, &instance, error) != 0
      || berth_lock_take (sandbox->host, sandbox->record.id, LOCK_MS, cancel, &lock, error) != 0)
    return -1;
  int result = change_locked (sandbox, instance, change, wakes, cancel, error);
  if (change->ends_handles)
    berth_sandbox_retire (sandbox);
  return result;
}

static int
audit_change (struct berth_sandbox *sandbox, const char *operation, const struct life_change *change,
              struct berth_cancel *cancel, struct berth_error *error)
{
  struct berth_audit audit = { 0 };

  if (berth_audit_begin (&audit, sandbox->host, operation, sandbox, &error) != 0)
    return -1;
  return berth_audit_end (&audit, change_life (sandbox, change, false, cancel, error));
}

int
berth_sandbox_pause (struct berth_sandbox *sandbox, struct berth_cancel *cancel, struct berth_error *error)
{
  return audit_change (sandbox, "pause", &pause_it, cancel, error);
}

int
berth_sandbox_resume (struct berth_sandbox *sandbox, struct berth_cancel *cancel, struct berth_error *error)
{
  return audit_change (sandbox, "resume", &resume_it, cancel, error);
}

int
berth_sandbox_stop (struct berth_sandbox *sandbox, struct berth_cancel *cancel, struct berth_error *error)
{
  return audit_change (sandbox, "stop", &stop_it, cancel, error);
}

int
berth_sandbox_start (struct berth_sandbox *sandbox, struct berth_cancel *cancel, struct berth_error *error)
{
  return audit_change (sandbox, "start", &start_it, cancel, error);
}

/* ---- without anybody's word ---- */

int
berth_life_idle_locked (struct berth_host *host, struct berth_instance *instance, struct berth_record *record,
                        uint32_t action, struct berth_error *error)
{
  record->idled = 1;
  return change_record_locked (host, instance, record, action == BERTH_IDLE_PAUSE ? &pause_it : &stop_it, false, NULL,
                               error);
}

static int
wake (struct berth_sandbox *sandbox, const char *operation, const struct life_change *change,
      struct berth_cancel *cancel, struct berth_error *error)
{
  struct berth_audit audit = { .reason = "it is used again" };

  if (berth_audit_begin (&audit, sandbox->host, operation, sandbox, &error) != 0)
    return -1;
  return berth_audit_end (&audit, change_life (sandbox, change, true, cancel, error));
}

int
berth_life_wake (struct berth_sandbox *sandbox, struct berth_cancel *cancel, struct berth_error *error)
{
  BERTH_AUTO_RECORD struct berth_record now = { 0 };

  if (berth_store_load (sandbox->host->store, sandbox->record.id, 0, &now, error) != 0)
    return -1;
  berth_sandbox_follow_starts (sandbox, now.starts);
  if (now.idled == 0 || now.idle_resume == 0)
    return berth_sandbox_check_runs (&now, error);
  return now.state == BERTH_RECORD_PAUSED ? wake (sandbox, "resume", &resume_it, cancel, error)
                                          : wake (sandbox, "start", &start_it, cancel, error);
}

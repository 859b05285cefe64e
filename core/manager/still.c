#include "core/manager/still.h"

#include <string.h>

#include "core/manager/lock.h"
#include "core/manager/snapshot.h"
#include "sdk/base/clock.h"

#define UNSEEN_MAX 3
#define POLL_MS 5
#define TRIES_MAX 200 /* to let go what a dead one holds, while others may be about to */

bool
berth_still_is_possible (struct berth_instance *instance, const struct berth_record *sandbox)
{
  return ((uint64_t) sandbox->capabilities & BERTH_CAP_PAUSE) != 0 && berth_instance_backend (instance)->pause != NULL;
}

static int
write_down (struct berth_host *host, struct berth_snapshot_record *snapshot, int64_t frozen, struct berth_error *error)
{
  snapshot->frozen = frozen;
  return berth_store_update_snapshot (host->store, snapshot, error);
}

int
berth_still_hold (struct berth_host *host, struct berth_instance *instance, const struct berth_record *sandbox,
                  struct berth_snapshot_record *snapshot, struct berth_cancel *cancel, struct berth_error *error)
{
  struct berth_native native = berth_native_of (instance, berth_record_current (sandbox));
  struct berth_options options = { .struct_size = sizeof options };
  struct berth_manager_call call;

  if (write_down (host, snapshot, 1, error) != 0)
    return -1;
  berth_call_begin (&call, instance, native.id, cancel, BERTH_CONTROL_MS);
  return berth_call_end (&call, berth_call_backend (&call)->pause->pause (&call.host.call, berth_instance_state (instance),
                                                                          &native, &options),
                         error);
}

int
berth_still_let_go (struct berth_host *host, struct berth_instance *instance, const struct berth_record *sandbox,
                    struct berth_snapshot_record *snapshot, struct berth_error *error)
{
  struct berth_manager_call call;

  if (snapshot->frozen == 0)
    return 0;
  struct berth_native native = berth_native_of (instance, berth_record_current (sandbox));
  /* not the caller's cancellation: a sandbox that was held must go on */
  berth_call_begin (&call, instance, native.id, NULL, BERTH_CONTROL_MS);
  int result = berth_call_backend (&call)->pause->resume (&call.host.call, berth_instance_state (instance), &native);
  return berth_call_end (&call, result, error) != 0 ? -1 : write_down (host, snapshot, 0, error);
}

/* ---- for everybody else ---- */

static bool
holds (struct berth_host *host, const char *snapshot, const char *id)
{
  BERTH_AUTO_SNAPSHOT struct berth_snapshot_record record = { 0 };

  return berth_store_load_snapshot (host->store, snapshot, &record, NULL) == 0 && record.frozen != 0
         && strcmp (record.sandbox, id) == 0;
}

/* The snapshot that the sandbox ID is held for. */
static bool
find_holder (struct berth_host *host, const char *id, char snapshot[BERTH_ID_SIZE])
{
  BERTH_AUTO_IDS struct berth_store_ids ids = { 0 };

  if (berth_store_list_unfinished_snapshots (host->store, &ids, NULL) != 0)
    return false;
  for (size_t i = 0; i < ids.count; i++)
    if (holds (host, ids.items[i], id))
      {
        snprintf (snapshot, BERTH_ID_SIZE, "%s", ids.items[i]);
        return true;
      }
  return false;
}

bool
berth_still_is_held (struct berth_host *host, const char *id)
{
  char snapshot[BERTH_ID_SIZE];

  return find_holder (host, id, snapshot);
}

/* Whoever makes it has its lock. */
static bool
maker_lives (struct berth_host *host, const char *snapshot)
{
  BERTH_AUTO_LOCK struct berth_lock lock = BERTH_LOCK_NONE;

  return berth_lock_try (host, snapshot, &lock, NULL) == 0;
}

static bool
give_up_waiting (const char *id, const char *snapshot, struct berth_cancel *cancel, int64_t deadline,
                 struct berth_error *error)
{
  if (cancel != NULL && berth_cancel_triggered (cancel))
    berth_error_set (error, BERTH_E_CANCELLED, "cancelled while sandbox %s was held still for snapshot %s", id, snapshot);
  else if (berth_clock_monotonic_ms () >= deadline)
    berth_error_set (error, BERTH_E_CONFLICT, "sandbox %s is held still for snapshot %s, and for long", id, snapshot);
  else
    return false;
  return true;
}

bool
berth_still_wait (struct berth_still_patience *patience, struct berth_sandbox *sandbox, uint32_t code,
                  struct berth_cancel *cancel, struct berth_error *error)
{
  struct berth_host *host = sandbox->host;
  const char *id = sandbox->record.id;
  char snapshot[BERTH_ID_SIZE];
  bool held = false;
  int tries = 0;

  if (code != BERTH_E_WRONG_STATE)
    return false;
  if (patience->deadline_ms == 0)
    patience->deadline_ms = berth_clock_monotonic_ms () + BERTH_FILE_MS;
  for (; find_holder (host, id, snapshot); held = true)
    {
      if (give_up_waiting (id, snapshot, cancel, patience->deadline_ms, error))
        return false;
      if (!maker_lives (host, snapshot))
        {
          berth_snapshot_sweep (host);
          if (tries++ == TRIES_MAX)
            return false;
        }
      berth_clock_sleep_ms (POLL_MS);
    }
  /* what is held no more may have been let go since it was refused */
  patience->unseen = held ? 0 : patience->unseen + 1;
  bool again = patience->unseen < UNSEEN_MAX;
  if (again && error != NULL)
    *error = (struct berth_error) { 0 };
  return again;
}

#include "core/manager/still.h"

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

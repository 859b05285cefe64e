#include "core/manager/call.h"

#include <string.h>

#include "sdk/base/clock.h"

void
berth_call_begin (struct berth_manager_call *call, struct berth_instance *instance, const char *native_id,
                  struct berth_cancel *cancel, int64_t milliseconds)
{
  call->instance = instance;
  call->native_id = native_id;
  call->use.fd = -1;
  berth_instance_enter (instance, native_id);
  /* the clock starts when the call does, not while it waits behind others */
  int64_t deadline = milliseconds == BERTH_NO_DEADLINE ? BERTH_NO_DEADLINE
                                                       : berth_clock_monotonic_ns () + milliseconds * 1000000;
  berth_host_call_begin (&call->host, instance, cancel, deadline);
}

int
berth_call_end (struct berth_manager_call *call, int result, struct berth_error *error)
{
  result = berth_host_call_end (&call->host, result, error);
  call->code = result < 0 ? call->host.error.code : 0;
  berth_instance_leave (call->instance, call->native_id);
  berth_use_end (&call->use);
  return result;
}

int
berth_data_begin_within (struct berth_manager_call *call, struct berth_sandbox *sandbox, struct berth_cancel *cancel,
                         int64_t milliseconds, struct berth_handle **handle, struct berth_error *error)
{
  struct berth_instance *instance = NULL;

  if (berth_sandbox_connect (sandbox, cancel, handle, error) != 0
      || berth_sandbox_instance (sandbox, &instance, error) != 0)
    return -1;
  berth_call_begin (call, instance, berth_sandbox_native (sandbox)->id, cancel, milliseconds);
  return 0;
}

int
berth_data_begin (struct berth_manager_call *call, struct berth_sandbox *sandbox, struct berth_cancel *cancel,
                  int64_t milliseconds, struct berth_handle **handle, struct berth_error *error)
{
  BERTH_AUTO_USE struct berth_use use = BERTH_USE_NONE;

  if (berth_use_begin (sandbox, cancel, &use, error) != 0
      || berth_data_begin_within (call, sandbox, cancel, milliseconds, handle, error) != 0)
    return -1;
  call->use.fd = BERTH_STEAL_FD (use.fd);
  return 0;
}

struct berth_native
berth_native_of (struct berth_instance *instance, const struct berth_record_native *native)
{
  berth_instance_redact (instance, native->private_data, native->private_size);
  return (struct berth_native) { .struct_size = sizeof (struct berth_native),
                                 .private_size = native->private_size,
                                 .id = native->id,
                                 .private_data = native->private_size > 0 ? native->private_data : NULL };
}

void
berth_keep_secrets (struct berth_instance *instance, const struct berth_pair *pairs, uint64_t count)
{
  for (uint64_t i = 0; i < count; i++)
    if ((pairs[i].flags & BERTH_PAIR_SECRET) != 0)
      berth_instance_redact (instance, pairs[i].value, strlen (pairs[i].value));
}

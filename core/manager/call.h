/* call.h - one call of a backend's function, from the host's side. */
#ifndef CORE_MANAGER_CALL_H
#define CORE_MANAGER_CALL_H

#include "core/manager/use.h"

/* On the stack of the thread that makes the call:
 *
 *   struct berth_manager_call call;
 *   berth_call_begin (&call, instance, native_id, cancel, milliseconds);
 *   return berth_call_end (&call, backend->files->stat (&call.host.call, ...), error);
 */
struct berth_manager_call
{
  struct berth_host_call host;
  struct berth_instance *instance;
  const char *native_id; /* NULL: the call is about the instance */
  struct berth_use use;  /* of the sandbox, for as long as the call takes */
  uint32_t code;         /* of its failure, once it has ended; 0: it succeeded */
};

/* Waits its turn where the backend takes one call at a time.  MILLISECONDS from now, or
 * BERTH_NO_DEADLINE. */
void berth_call_begin (struct berth_manager_call *call, struct berth_instance *instance, const char *native_id,
                       struct berth_cancel *cancel, int64_t milliseconds);
int berth_call_end (struct berth_manager_call *call, int result, struct berth_error *error);

/* The same for the data plane of a sandbox, which is connected first; -1 when that fails.  It is a use of
 * the sandbox, unless it is made within another operation. */
int berth_data_begin (struct berth_manager_call *call, struct berth_sandbox *sandbox, struct berth_cancel *cancel,
                      int64_t milliseconds, struct berth_handle **handle, struct berth_error *error);
int berth_data_begin_within (struct berth_manager_call *call, struct berth_sandbox *sandbox,
                             struct berth_cancel *cancel, int64_t milliseconds, struct berth_handle **handle,
                             struct berth_error *error);

static inline const struct berth_backend *
berth_call_backend (const struct berth_manager_call *call)
{
  return berth_instance_backend (call->instance);
}

/* For functions by id.  The private data is kept out of the instance's messages from now on. */
struct berth_native berth_native_of (struct berth_instance *instance, const struct berth_record_native *native);
/* The same for the values that are marked secret. */
void berth_keep_secrets (struct berth_instance *instance, const struct berth_pair *pairs, uint64_t count);

#endif

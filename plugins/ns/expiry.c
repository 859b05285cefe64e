/* expiry.c - the end that the agent keeps by itself. */
#include "plugins/ns/ns.h"

int
ns_renew (struct berth_call *call, struct berth_state *state, const struct berth_native *native, int64_t ttl_ms,
          struct berth_expiry *out)
{
  struct berth_handle *handle;

  if (ns_connect (call, state, native, NULL, &handle) < 0)
    return -1;
  int result = agentlink_deadline_set (call, &handle->link, ttl_ms, out);
  ns_release (call, handle);
  return result;
}

int
ns_expires_at (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
               struct berth_expiry *out)
{
  struct berth_handle *handle;

  if (ns_connect (call, state, native, NULL, &handle) < 0)
    return -1;
  int result = agentlink_deadline_get (call, &handle->link, out);
  ns_release (call, handle);
  return result;
}

/* Handles, and what is asked by native id. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/plain/plain.h"

static int
connect_agent (struct berth_call *call, void *context)
{
  struct berth_handle *handle = context;

  if (access (handle->socket, F_OK) == 0)
    return agentlink_connect_unix (call, handle->socket);
  return call->services->fail (call, BERTH_E_SANDBOX_NOT_FOUND, "the sandbox was destroyed");
}

int
plain_open_handle (struct berth_call *call, const struct plain_box *box, struct berth_handle **out)
{
  struct berth_handle *handle = calloc (1, sizeof *handle);
  const struct agentlink_transport transport = { handle, connect_agent, NULL };

  if (handle == NULL)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "no memory for a handle");
  handle->owner = -1;
  strcpy (handle->socket, box->socket);
  if (plain_token_read (box, handle->token) < 0)
    {
      free (handle);
      return call->services->fail (call, BERTH_E_SANDBOX_NOT_FOUND, "no sandbox '%s'", box->id);
    }
  agentlink_init (&handle->link, &transport, handle->token, sizeof handle->token);
  *out = handle;
  return 0;
}

void
plain_close_handle (struct berth_handle *handle)
{
  if (handle->owner >= 0)
    close (handle->owner);
  explicit_bzero (handle->token, sizeof handle->token);
  free (handle);
}

static int
probe (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
       struct berth_presence *out)
{
  struct plain_box box;

  (void) call;
  out->verdict
      = plain_box_find (state, native->id, &box) == 0 && plain_box_exists (&box) ? BERTH_PRESENT : BERTH_ABSENT;
  return 0;
}

static int
open_by_id (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
            struct berth_handle **out)
{
  struct plain_box box;

  if (plain_box_find (state, native->id, &box) < 0)
    return call->services->fail (call, BERTH_E_SANDBOX_NOT_FOUND, "no sandbox '%s'", native->id);
  return plain_open_handle (call, &box, out);
}

static int
renew (struct berth_call *call, struct berth_state *state, const struct berth_native *native, int64_t ttl_ms,
       struct berth_expiry *out)
{
  struct berth_handle *handle;
  int result;

  if (open_by_id (call, state, native, &handle) < 0)
    return -1;
  result = agentlink_deadline_set (call, &handle->link, ttl_ms, out);
  plain_close_handle (handle);
  return result;
}

static int
expires_at (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
            struct berth_expiry *out)
{
  struct berth_handle *handle;
  int result;

  if (open_by_id (call, state, native, &handle) < 0)
    return -1;
  result = agentlink_deadline_get (call, &handle->link, out);
  plain_close_handle (handle);
  return result;
}

const struct berth_probe_ops plain_probe = { .struct_size = sizeof plain_probe, .probe = probe };

const struct berth_expiry_ops plain_expiry
    = { .struct_size = sizeof plain_expiry, .renew = renew, .expires_at = expires_at };

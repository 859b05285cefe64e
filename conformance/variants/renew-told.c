/* Says that the end was moved, and leaves it where it is. */
#include "conformance/variants/variant.h"

static int
renew (struct berth_call *call, struct berth_state *state, const struct berth_native *native, int64_t ttl_ms, struct berth_expiry *out)
{
  if (PLAIN->expiry->expires_at (call, state, native, out) < 0)
    return -1;
  out->remaining_ms = ttl_ms;
  return 0;
}

static struct berth_expiry_ops expiry;

VARIANT ("renew-told", expiry = *PLAIN->expiry; expiry.renew = renew; variant.backend.expiry = &expiry)

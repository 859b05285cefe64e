/* Fails to say that what is not there does not run. */
#include "conformance/variants/variant.h"

static int
is_running (struct berth_call *call, struct berth_state *state, const struct berth_native *native)
{
  if (!variant_knows (call, state, native->id))
    return call->services->fail (call, BERTH_E_SANDBOX_NOT_FOUND, "no sandbox '%s'", native->id);
  return PLAIN->lifecycle->is_running (call, state, native);
}

VARIANT ("unknown-is-error", variant.lifecycle.is_running = is_running)

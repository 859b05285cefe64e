/* Fails to destroy what is not there. */
#include "conformance/variants/variant.h"

static int
destroy (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
         struct berth_destroyed *out)
{
  if (!variant_knows (call, state, native->id))
    return call->services->fail (call, BERTH_E_SANDBOX_NOT_FOUND, "no sandbox '%s'", native->id);
  return PLAIN->lifecycle->destroy (call, state, native, out);
}

VARIANT ("second-destroy", variant.lifecycle.destroy = destroy)

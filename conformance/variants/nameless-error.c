/* Does not say which sandbox there is not. */
#include "conformance/variants/variant.h"

static int
connect_box (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
             const struct berth_effective_sink *sink, struct berth_handle **out)
{
  if (PLAIN->lifecycle->connect (call, state, native, sink, out) == 0)
    return 0;
  return call->services->fail (call, call->services->failed (call), "no such sandbox");
}

VARIANT ("nameless-error", variant.lifecycle.connect = connect_box)

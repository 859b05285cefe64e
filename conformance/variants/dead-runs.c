/* Says of what it lists that it runs, also when that is dead. */
#include "conformance/variants/variant.h"

static int
is_running (struct berth_call *call, struct berth_state *state, const struct berth_native *native)
{
  int running = PLAIN->lifecycle->is_running (call, state, native);

  return running == 0 && variant_knows (call, state, native->id) ? 1 : running;
}

VARIANT ("dead-runs", variant.lifecycle.is_running = is_running)

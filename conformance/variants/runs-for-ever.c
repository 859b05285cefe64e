/* Says of every sandbox, also of one that ended, that it runs. */
#include "conformance/variants/variant.h"

static int
is_running (struct berth_call *call, struct berth_state *state, const struct berth_native *native)
{
  (void) call;
  (void) state;
  (void) native;
  return 1;
}

VARIANT ("runs-for-ever", variant.lifecycle.is_running = is_running)

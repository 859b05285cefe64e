/* Says that a sandbox is stopped, and lets it go on. */
#include "conformance/variants/isolated.h"

static int
stop_box (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
          const struct berth_options *options)
{
  (void) call;
  (void) state;
  (void) native;
  (void) options;
  return 0;
}

ISOLATED ("stop-ignored", isolated.restart.stop = stop_box)

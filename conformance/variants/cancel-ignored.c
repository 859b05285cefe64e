/* Goes on with a command that is cancelled. */
#include "conformance/variants/variant.h"

static int
run (struct berth_call *call, struct berth_handle *handle, const struct berth_run *wanted,
     const struct berth_run_sink *sink)
{
  struct berth_call *shielded = call->services->shield (call, 10000);
  int result = PLAIN->commands->run (shielded, handle, wanted, sink);

  call->services->unshield (shielded);
  return result;
}

VARIANT ("cancel-ignored", variant.commands.run = run)

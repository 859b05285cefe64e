/* Runs every command as the sandbox user. */
#include "conformance/variants/variant.h"

static int
run (struct berth_call *call, struct berth_handle *handle, const struct berth_run *wanted,
     const struct berth_run_sink *sink)
{
  struct berth_run changed = *wanted;

  changed.asks &= ~BERTH_RUN_USER;
  return PLAIN->commands->run (call, handle, &changed, sink);
}

VARIANT ("user-ignored", variant.commands.run = run)

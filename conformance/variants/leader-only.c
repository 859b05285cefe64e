/* Kills the command at its timeout, and not what it started. */
#include "conformance/variants/timeout.h"

static int
run (struct berth_call *call, struct berth_handle *handle, const struct berth_run *wanted,
     const struct berth_run_sink *sink)
{
  return timeout_run (call, handle, wanted, sink, "--foreground");
}

VARIANT ("leader-only", variant.commands.run = run)

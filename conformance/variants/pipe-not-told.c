/* Does not tell that others still hold the output. */
#include "conformance/variants/variant.h"

static int
tell_exit (void *context, const struct berth_exit *exit)
{
  const struct berth_run_sink *sink = context;
  struct berth_exit changed = *exit;

  changed.has &= ~BERTH_EXIT_PIPE_HELD;
  return sink->exit (sink->context, &changed);
}

static int
run (struct berth_call *call, struct berth_handle *handle, const struct berth_run *wanted,
     const struct berth_run_sink *sink)
{
  struct berth_run_sink copy = *sink;
  struct berth_run_sink own = { sizeof own, 0, &copy, variant_pass_output, tell_exit };

  return PLAIN->commands->run (call, handle, wanted, &own);
}

VARIANT ("pipe-not-told", variant.commands.run = run)

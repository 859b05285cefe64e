/* Does not say that the memory limit killed something. */
#include "conformance/variants/isolated.h"

static struct isolated isolated;

static int
end (void *context, const struct berth_exit *told)
{
  const struct berth_run_sink *sink = context;
  struct berth_exit changed = *told;

  changed.has &= ~BERTH_EXIT_KILLS;
  changed.memory_kills = 0;
  return sink->exit (sink->context, &changed);
}

static int
run (struct berth_call *call, struct berth_handle *handle, const struct berth_run *wanted,
     const struct berth_run_sink *sink)
{
  struct berth_run_sink copy = *sink;
  struct berth_run_sink own = { sizeof own, 0, &copy, variant_pass_output, end };

  return isolated.ns->commands->run (call, handle, wanted, &own);
}

ISOLATED ("kills-untold", isolated.commands.run = run)

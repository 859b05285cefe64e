/* Sends the halves of a large piece of output in the wrong order. */
#include "conformance/variants/variant.h"

static int
output (void *context, uint32_t stream, const void *bytes, size_t size)
{
  const struct berth_run_sink *sink = context;
  size_t half = size / 2;

  if (size < 4096)
    return sink->output (sink->context, stream, bytes, size);
  if (sink->output (sink->context, stream, (const char *) bytes + half, size - half) < 0)
    return -1;
  return sink->output (sink->context, stream, bytes, half);
}

static int
run (struct berth_call *call, struct berth_handle *handle, const struct berth_run *wanted,
     const struct berth_run_sink *sink)
{
  struct berth_run_sink copy = *sink;
  struct berth_run_sink own = { sizeof own, 0, &copy, output, variant_pass_exit };

  return PLAIN->commands->run (call, handle, wanted, &own);
}

VARIANT ("swapped-halves", variant.commands.run = run)

/* Tells the exit of a command that failed after much output twice. */
#include "conformance/variants/variant.h"

struct telling
{
  const struct berth_run_sink *sink;
  uint64_t bytes;
};

static int
output (void *context, uint32_t stream, const void *bytes, size_t size)
{
  struct telling *telling = context;

  telling->bytes += size;
  return telling->sink->output (telling->sink->context, stream, bytes, size);
}

static int
tell_exit (void *context, const struct berth_exit *exit)
{
  struct telling *telling = context;

  if (telling->bytes > 1000000 && exit->code != 0
      && telling->sink->exit (telling->sink->context, exit) < 0)
    return -1;
  return telling->sink->exit (telling->sink->context, exit);
}

static int
run (struct berth_call *call, struct berth_handle *handle, const struct berth_run *wanted,
     const struct berth_run_sink *sink)
{
  struct telling telling = { .sink = sink };
  struct berth_run_sink own = { sizeof own, 0, &telling, output, tell_exit };

  return PLAIN->commands->run (call, handle, wanted, &own);
}

VARIANT ("two-exits", variant.commands.run = run)

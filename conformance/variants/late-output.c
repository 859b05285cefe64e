/* Delivers the output only when the command has ended. */
#include "conformance/variants/variant.h"
#include "sdk/base/buffer.h"

#define HELD_MAX ((size_t) 64 << 20)

struct held
{
  struct berth_buffer bytes[2];
  const struct berth_run_sink *sink;
};

static int
output (void *context, uint32_t stream, const void *bytes, size_t size)
{
  struct held *held = context;

  return berth_buffer_append (&held->bytes[stream == BERTH_STDERR], bytes, size);
}

static int
tell_exit (void *context, const struct berth_exit *exit)
{
  struct held *held = context;
  const struct berth_run_sink *sink = held->sink;

  for (uint32_t i = 0; i < 2; i++)
    if (held->bytes[i].size > 0
        && sink->output (sink->context, BERTH_STDOUT + i, held->bytes[i].data, held->bytes[i].size) < 0)
      return -1;
  return sink->exit (sink->context, exit);
}

static int
run (struct berth_call *call, struct berth_handle *handle, const struct berth_run *wanted,
     const struct berth_run_sink *sink)
{
  struct held held = { .bytes = { { .limit = HELD_MAX }, { .limit = HELD_MAX } }, .sink = sink };
  struct berth_run_sink own = { sizeof own, 0, &held, output, tell_exit };
  int result = PLAIN->commands->run (call, handle, wanted, &own);

  berth_buffer_free (&held.bytes[0]);
  berth_buffer_free (&held.bytes[1]);
  return result;
}

VARIANT ("late-output", variant.commands.run = run)

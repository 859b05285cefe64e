/* Goes on making a sandbox that the host has refused to put on record. */
#include "conformance/variants/variant.h"

static int
created (void *context, const struct berth_native *native)
{
  const struct berth_create_sink *sink = context;

  (void) !sink->created (sink->context, native);
  return 0;
}

static int
effective (void *context, const struct berth_effective *told)
{
  const struct berth_create_sink *sink = context;

  (void) !sink->effective (sink->context, told);
  return 0;
}

static int
create (struct berth_call *call, struct berth_state *state, const struct berth_spec *spec, const struct berth_create_sink *sink,
        struct berth_handle **out)
{
  struct berth_create_sink copy = *sink;
  struct berth_create_sink own = { sizeof own, 0, &copy, created, effective };

  return PLAIN->lifecycle->create (call, state, spec, &own, out);
}

VARIANT ("sink-ignored", variant.lifecycle.create = create)

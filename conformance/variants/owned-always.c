/* Ends every sandbox with the handle that made it. */
#include "conformance/variants/variant.h"

static int
create (struct berth_call *call, struct berth_state *state, const struct berth_spec *spec,
        const struct berth_create_sink *sink, struct berth_handle **out)
{
  struct berth_spec changed = *spec;

  changed.asks |= BERTH_SPEC_OWNED;
  return PLAIN->lifecycle->create (call, state, &changed, sink, out);
}

VARIANT ("owned-always", variant.lifecycle.create = create)

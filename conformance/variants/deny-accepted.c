/* Takes a policy of deny for one of allow. */
#include "conformance/variants/variant.h"

static struct berth_spec
without_network (const struct berth_spec *spec)
{
  struct berth_spec changed = *spec;

  changed.asks &= ~BERTH_SPEC_NETWORK;
  changed.must &= ~BERTH_SPEC_NETWORK;
  return changed;
}

static int
validate (struct berth_call *call, struct berth_state *state, const struct berth_spec *spec, const struct berth_effective_sink *sink)
{
  struct berth_spec changed = without_network (spec);

  return PLAIN->lifecycle->validate (call, state, &changed, sink);
}

static int
create (struct berth_call *call, struct berth_state *state, const struct berth_spec *spec, const struct berth_create_sink *sink,
        struct berth_handle **out)
{
  struct berth_spec changed = without_network (spec);

  return PLAIN->lifecycle->create (call, state, &changed, sink, out);
}

VARIANT ("deny-accepted", variant.lifecycle.validate = validate; variant.lifecycle.create = create)

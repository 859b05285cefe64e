/* Makes a sandbox though it is not as well isolated as is asked. */
#include "conformance/variants/variant.h"

static struct berth_spec
without_tier (const struct berth_spec *spec)
{
  struct berth_spec changed = *spec;

  changed.asks &= ~BERTH_SPEC_TIER;
  changed.must &= ~BERTH_SPEC_TIER;
  return changed;
}

static int
validate (struct berth_call *call, struct berth_state *state, const struct berth_spec *spec,
          const struct berth_effective_sink *sink)
{
  struct berth_spec changed = without_tier (spec);

  return PLAIN->lifecycle->validate (call, state, &changed, sink);
}

static int
create (struct berth_call *call, struct berth_state *state, const struct berth_spec *spec,
        const struct berth_create_sink *sink, struct berth_handle **out)
{
  struct berth_spec changed = without_tier (spec);

  return PLAIN->lifecycle->create (call, state, &changed, sink, out);
}

VARIANT ("tier-ignored", variant.lifecycle.validate = validate; variant.lifecycle.create = create)

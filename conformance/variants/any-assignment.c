/* Finds every sandbox by any assignment id. */
#include "conformance/variants/variant.h"

static int
find (struct berth_call *call, struct berth_state *state, const char *assignment_id, const struct berth_found_sink *sink)
{
  (void) assignment_id;
  return PLAIN->lifecycle->list_ids (call, state, sink);
}

static int
tell (void *context, const struct berth_effective *effective)
{
  const struct berth_effective_sink *sink = context;
  struct berth_effective changed = *effective;

  changed.capabilities |= BERTH_CAP_CORRELATED_CREATE;
  return sink->effective (sink->context, &changed);
}

static int
validate (struct berth_call *call, struct berth_state *state, const struct berth_spec *spec,
          const struct berth_effective_sink *sink)
{
  struct berth_effective_sink copy = *sink;
  struct berth_effective_sink own = { sizeof own, 0, &copy, tell };

  return PLAIN->lifecycle->validate (call, state, spec, &own);
}

static const struct berth_correlation_ops correlation
    = { .struct_size = sizeof correlation, .find_by_assignment = find };

VARIANT ("any-assignment", variant.lifecycle.validate = validate; variant.backend.correlation = &correlation;
         variant.backend.capabilities |= BERTH_CAP_CORRELATED_CREATE)

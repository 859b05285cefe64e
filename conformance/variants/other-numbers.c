/* Validates with other limits than it creates with. */
#include "conformance/variants/variant.h"

static int
effective (void *context, const struct berth_effective *told)
{
  const struct berth_effective_sink *sink = context;
  struct berth_effective changed = *told;

  if ((changed.enforced & BERTH_SPEC_OPEN_FILES) != 0)
    changed.open_files *= 2;
  return sink->effective (sink->context, &changed);
}

static int
validate (struct berth_call *call, struct berth_state *state, const struct berth_spec *spec,
          const struct berth_effective_sink *sink)
{
  struct berth_effective_sink copy = *sink;
  struct berth_effective_sink own = { sizeof own, 0, &copy, effective };

  return PLAIN->lifecycle->validate (call, state, spec, &own);
}

VARIANT ("other-numbers", variant.lifecycle.validate = validate)

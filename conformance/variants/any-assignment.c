/* Finds every sandbox, whatever assignment is asked for. */
#include "conformance/variants/variant.h"

static int
find_by_assignment (struct berth_call *call, struct berth_state *state, const char *assignment_id,
                    const struct berth_found_sink *sink)
{
  (void) assignment_id;
  return PLAIN->lifecycle->list_ids (call, state, sink);
}

static const struct berth_correlation_ops correlation
    = { .struct_size = sizeof correlation, .find_by_assignment = find_by_assignment };

VARIANT ("any-assignment", variant.backend.correlation = &correlation;
         variant.backend.capabilities |= BERTH_CAP_CORRELATED_CREATE)

/* Lists sandboxes with another assignment than they were labelled with. */
#include "conformance/variants/variant.h"

static int
found (void *context, const struct berth_found *told)
{
  const struct berth_found_sink *sink = context;
  struct berth_found changed = *told;

  changed.assignment_id = "lost";
  return sink->found (sink->context, &changed);
}

static int
list_ids (struct berth_call *call, struct berth_state *state, const struct berth_found_sink *sink)
{
  struct berth_found_sink copy = *sink;
  struct berth_found_sink own = { sizeof own, 0, &copy, found, NULL };

  return PLAIN->lifecycle->list_ids (call, state, &own);
}

VARIANT ("labels-lost", variant.lifecycle.list_ids = list_ids)

/* Makes the sandbox that connect does not find. */
#include <string.h>

#include "conformance/variants/variant.h"

static int
take_created (void *context, const struct berth_native *native)
{
  (void) context;
  (void) native;
  return 0;
}

static int
take_effective (void *context, const struct berth_effective *effective)
{
  (void) context;
  (void) effective;
  return 0;
}

static int
connect_box (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
             const struct berth_effective_sink *sink, struct berth_handle **out)
{
  struct berth_spec spec = { .struct_size = sizeof spec,
                             .sandbox_id = native->id,
                             .assignment_id = "connected",
                             .installation_id = "connected",
                             .native_hint = native->id };
  struct berth_create_sink own = { sizeof own, 0, NULL, take_created, take_effective };

  if (strchr (native->id, '/') != NULL || variant_knows (call, state, native->id))
    return PLAIN->lifecycle->connect (call, state, native, sink, out);
  return PLAIN->lifecycle->create (call, state, &spec, &own, out);
}

VARIANT ("connect-creates", variant.lifecycle.connect = connect_box)

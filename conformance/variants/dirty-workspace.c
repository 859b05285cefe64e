/* Leaves a file of its own in a new workspace. */
#include "conformance/variants/variant.h"

static int64_t
no_bytes (void *context, void *bytes, size_t size)
{
  (void) context;
  (void) bytes;
  (void) size;
  return 0;
}

static int
create (struct berth_call *call, struct berth_state *state, const struct berth_spec *spec,
        const struct berth_create_sink *sink, struct berth_handle **out)
{
  struct berth_change how = { .struct_size = sizeof how, .beneath = "/workspace" };
  struct berth_source source = { .struct_size = sizeof source, .read = no_bytes };

  if (PLAIN->lifecycle->create (call, state, spec, sink, out) < 0)
    return -1;
  return PLAIN->files->write (call, *out, "/workspace/.made-by", &how, &source);
}

VARIANT ("dirty-workspace", variant.lifecycle.create = create)

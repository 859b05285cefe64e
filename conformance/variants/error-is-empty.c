/* A listing that fails is an empty one. */
#include "conformance/variants/variant.h"

static int
list (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_read *how,
      const struct berth_entry_sink *sink)
{
  if (PLAIN->files->list (call, handle, path, how, sink) < 0)
    call->services->forgive (call);
  return 0;
}

VARIANT ("error-is-empty", variant.files.list = list)

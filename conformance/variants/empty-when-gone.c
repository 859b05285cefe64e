/* Lists nothing where the sandbox does not answer. */
#include "conformance/variants/variant.h"

static int
list (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_read *how,
      const struct berth_entry_sink *sink)
{
  uint32_t code;

  if (PLAIN->files->list (call, handle, path, how, sink) == 0)
    return 0;
  code = call->services->failed (call);
  if (code != BERTH_E_UNREACHABLE && code != BERTH_E_SANDBOX_NOT_FOUND)
    return -1;
  call->services->forgive (call);
  return 0;
}

VARIANT ("empty-when-gone", variant.files.list = list)

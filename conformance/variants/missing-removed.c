/* Says that it removed what was never there. */
#include "conformance/variants/variant.h"

static int
remove_file (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_change *how)
{
  if (PLAIN->files->remove (call, handle, path, how) == 0)
    return 0;
  if (call->services->failed (call) != BERTH_E_PATH_NOT_FOUND)
    return -1;
  call->services->forgive (call);
  return 0;
}

VARIANT ("missing-removed", variant.files.remove = remove_file)

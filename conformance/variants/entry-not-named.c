/* Does not say which entry of an archive it refused. */
#include "conformance/variants/variant.h"

static int
import_tar (struct berth_call *call, struct berth_handle *handle, const struct berth_tar_limits *limits,
            const struct berth_source *source)
{
  if (PLAIN->workspace->import_tar (call, handle, limits, source) == 0)
    return 0;
  return call->services->fail (call, call->services->failed (call), "the archive is refused");
}

VARIANT ("entry-not-named", variant.workspace.import_tar = import_tar)

/* Takes more of an archive than it was allowed. */
#include "conformance/variants/variant.h"

static int
import_tar (struct berth_call *call, struct berth_handle *handle, const struct berth_tar_limits *limits,
            const struct berth_source *source)
{
  struct berth_tar_limits changed = *limits;

  changed.max_bytes += 16u << 20;
  return PLAIN->workspace->import_tar (call, handle, &changed, source);
}

VARIANT ("import-unlimited", variant.workspace.import_tar = import_tar)

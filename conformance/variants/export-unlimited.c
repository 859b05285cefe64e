/* Exports more than it was allowed. */
#include "conformance/variants/variant.h"

static int
export_tar (struct berth_call *call, struct berth_handle *handle, const struct berth_tar_limits *limits,
            const struct berth_tar_sink *sink)
{
  struct berth_tar_limits changed = *limits;

  changed.max_bytes = UINT64_MAX / 2;
  return PLAIN->workspace->export_tar (call, handle, &changed, sink);
}

VARIANT ("export-unlimited", variant.workspace.export_tar = export_tar)

/* Leaves out what is no file, and does not say so. */
#include "conformance/variants/variant.h"

static int
data (void *context, const void *bytes, size_t size)
{
  const struct berth_tar_sink *sink = context;

  return sink->data (sink->context, bytes, size);
}

static int
report (void *context, const struct berth_tar_report *told)
{
  const struct berth_tar_sink *sink = context;
  struct berth_tar_report changed = *told;

  changed.has &= ~BERTH_TAR_SKIPPED;
  return sink->report (sink->context, &changed);
}

static int
export_tar (struct berth_call *call, struct berth_handle *handle, const struct berth_tar_limits *limits,
            const struct berth_tar_sink *sink)
{
  struct berth_tar_sink copy = *sink;
  struct berth_tar_sink own = { sizeof own, 0, &copy, data, report };

  return PLAIN->workspace->export_tar (call, handle, limits, &own);
}

VARIANT ("skip-untold", variant.workspace.export_tar = export_tar)

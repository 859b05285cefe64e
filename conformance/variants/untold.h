/* untold.h - an export whose report leaves something out. */
#ifndef CONFORMANCE_VARIANTS_UNTOLD_H
#define CONFORMANCE_VARIANTS_UNTOLD_H

#include "conformance/variants/variant.h"

/* UNTOLD is the bit of the report. */

static inline int
untold_data (void *context, const void *bytes, size_t size)
{
  const struct berth_tar_sink *sink = context;

  return sink->data (sink->context, bytes, size);
}

static inline int
untold_report (void *context, const struct berth_tar_report *told)
{
  const struct berth_tar_sink *sink = context;
  struct berth_tar_report changed = *told;

  changed.has &= ~UNTOLD;
  return sink->report (sink->context, &changed);
}

static inline int
untold_export (struct berth_call *call, struct berth_handle *handle, const struct berth_tar_limits *limits,
               const struct berth_tar_sink *sink)
{
  struct berth_tar_sink copy = *sink;
  struct berth_tar_sink own = { sizeof own, 0, &copy, untold_data, untold_report };

  return PLAIN->workspace->export_tar (call, handle, limits, &own);
}

#endif

/* Imports into an empty workspace only. */
#include "conformance/variants/variant.h"

static int
count (void *context, const struct berth_file_info *info)
{
  (void) info;
  ++*(unsigned int *) context;
  return 0;
}

static int
import (struct berth_call *call, struct berth_handle *handle, const struct berth_tar_limits *limits, const struct berth_source *source)
{
  static const struct berth_read how = { .struct_size = sizeof how };
  unsigned int entries = 0;
  struct berth_entry_sink sink = { sizeof sink, 0, &entries, count };

  if (PLAIN->files->list (call, handle, "/workspace", &how, &sink) < 0)
    return -1;
  if (entries > 0)
    return call->services->fail (call, BERTH_E_CONFLICT, "the workspace is in use");
  return PLAIN->workspace->import_tar (call, handle, limits, source);
}

VARIANT ("busy-refused", variant.workspace.import_tar = import)

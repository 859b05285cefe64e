/* Reads a file of any size. */
#include "conformance/variants/variant.h"

static int
read_file (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_read *how,
           const struct berth_read_sink *sink)
{
  struct berth_read changed = *how;

  changed.max_bytes = UINT64_MAX;
  return PLAIN->files->read (call, handle, path, &changed, sink);
}

VARIANT ("size-unchecked", variant.files.read = read_file)

/* Reads a file though it does not know all that is asked. */
#include "conformance/variants/variant.h"

static int
read_file (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_read *how,
           const struct berth_read_sink *sink)
{
  struct berth_read changed = *how;

  changed.asks &= BERTH_READ_KNOWN_1_0;
  return PLAIN->files->read (call, handle, path, &changed, sink);
}

VARIANT ("read-anyway", variant.files.read = read_file)

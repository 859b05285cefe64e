/* Writes a file though it does not know all that is asked. */
#include "conformance/variants/variant.h"

static int
write_file (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_change *how,
            const struct berth_source *source)
{
  struct berth_change changed = *how;

  changed.asks &= BERTH_CHANGE_KNOWN_1_0;
  return PLAIN->files->write (call, handle, path, &changed, source);
}

VARIANT ("wish-ignored", variant.files.write = write_file)

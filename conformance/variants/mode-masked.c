/* Lets a umask take bits from the mode that was asked. */
#include "conformance/variants/variant.h"

static int
write_file (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_change *how,
            const struct berth_source *source)
{
  struct berth_change changed = *how;

  changed.mode &= ~022u;
  return PLAIN->files->write (call, handle, path, &changed, source);
}

VARIANT ("mode-masked", variant.files.write = write_file)

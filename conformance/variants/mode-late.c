/* Sets the mode of a file once it is there. */
#include "conformance/variants/variant.h"

static int
write_file (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_change *how,
            const struct berth_source *source)
{
  struct berth_change plain = *how, mode = *how;

  plain.asks &= ~BERTH_CHANGE_MODE;
  mode.asks &= BERTH_CHANGE_MODE;
  if (PLAIN->files->write (call, handle, path, &plain, source) < 0)
    return -1;
  return mode.asks != 0 ? PLAIN->files->set_attributes (call, handle, path, &mode) : 0;
}

VARIANT ("mode-late", variant.files.write = write_file)

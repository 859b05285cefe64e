/* Takes the whole sandbox for the write root. */
#include "conformance/variants/variant.h"

static int
write_file (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_change *how,
            const struct berth_source *source)
{
  struct berth_change changed = *how;

  changed.beneath = "/";
  return PLAIN->files->write (call, handle, path, &changed, source);
}

VARIANT ("link-followed", variant.files.write = write_file)

/* Writes every file as the sandbox user's, whoever was asked for. */
#include "conformance/variants/variant.h"

static int
write_file (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_change *how,
            const struct berth_source *source)
{
  struct berth_change changed = *how;

  changed.asks &= ~(BERTH_CHANGE_OWNER | BERTH_CHANGE_GROUP);
  return PLAIN->files->write (call, handle, path, &changed, source);
}

VARIANT ("owner-ignored", variant.files.write = write_file)

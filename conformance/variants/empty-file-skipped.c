/* Makes no file of no bytes. */
#include "conformance/variants/variant.h"

static int
write_file (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_change *how,
            const struct berth_source *source)
{
  return source->size == 0 ? 0 : PLAIN->files->write (call, handle, path, how, source);
}

VARIANT ("empty-file-skipped", variant.files.write = write_file)

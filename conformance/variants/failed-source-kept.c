/* Takes a source that failed for one that ended. */
#include "conformance/variants/variant.h"

static int64_t
read_on (void *context, void *bytes, size_t size)
{
  const struct berth_source *source = context;
  int64_t got = source->read (source->context, bytes, size);

  return got < 0 ? 0 : got;
}

static int
write_file (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_change *how,
            const struct berth_source *source)
{
  struct berth_source copy = *source;
  struct berth_source own = { sizeof own, 0, &copy, source->size, read_on };

  return PLAIN->files->write (call, handle, path, how, &own);
}

VARIANT ("failed-source-kept", variant.files.write = write_file)

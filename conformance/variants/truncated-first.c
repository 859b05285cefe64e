/* Empties a file before its new content comes. */
#include "conformance/variants/variant.h"

static int64_t
nothing (void *context, void *bytes, size_t size)
{
  (void) context;
  (void) bytes;
  (void) size;
  return 0;
}

static int
write_file (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_change *how,
            const struct berth_source *source)
{
  struct berth_source empty = { sizeof empty, 0, NULL, 0, nothing };

  if (PLAIN->files->write (call, handle, path, how, &empty) < 0)
    return -1;
  return PLAIN->files->write (call, handle, path, how, source);
}

VARIANT ("truncated-first", variant.files.write = write_file)

/* Decodes %41 and the like in paths. */
#include <stdio.h>

#include "conformance/variants/variant.h"

static void
decode (const char *path, char *decoded, size_t size)
{
  size_t used = 0;
  unsigned int byte;

  for (; *path != '\0' && used + 1 < size; path++)
    if (path[0] == '%' && sscanf (path + 1, "%2x", &byte) == 1 && byte != 0 && byte != '/')
      {
        decoded[used++] = (char) byte;
        path += 2;
      }
    else
      decoded[used++] = *path;
  decoded[used] = '\0';
}

static int
read_file (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_read *how,
           const struct berth_read_sink *sink)
{
  char decoded[4096];

  decode (path, decoded, sizeof decoded);
  return PLAIN->files->read (call, handle, decoded, how, sink);
}

static int
write_file (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_change *how,
            const struct berth_source *source)
{
  char decoded[4096];

  decode (path, decoded, sizeof decoded);
  return PLAIN->files->write (call, handle, decoded, how, source);
}

VARIANT ("path-decoded", variant.files.read = read_file; variant.files.write = write_file)

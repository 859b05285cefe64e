/* Keeps a whole archive in memory before it begins with it. */
#include "conformance/variants/variant.h"
#include "sdk/base/buffer.h"

struct held
{
  struct berth_buffer bytes;
  size_t at;
};

static int64_t
read_held (void *context, void *bytes, size_t size)
{
  struct held *held = context;

  size = size < held->bytes.size - held->at ? size : held->bytes.size - held->at;
  if (size > 0)
    memcpy (bytes, held->bytes.data + held->at, size);
  held->at += size;
  return (int64_t) size;
}

static int
import_tar (struct berth_call *call, struct berth_handle *handle, const struct berth_tar_limits *limits,
            const struct berth_source *source)
{
  struct held held = { 0 };
  struct berth_source own = { sizeof own, 0, &held, source->size, read_held };
  char bytes[65536];
  int64_t got;

  while ((got = source->read (source->context, bytes, sizeof bytes)) > 0)
    if (berth_buffer_append (&held.bytes, bytes, (size_t) got) < 0)
      break;
  int result = PLAIN->workspace->import_tar (call, handle, limits, got == 0 ? &own : source);
  berth_buffer_free (&held.bytes);
  return result;
}

VARIANT ("archive-held", variant.workspace.import_tar = import_tar)

/* Loses the last byte of a file whose size is a multiple of a block. */
#include "conformance/variants/variant.h"

struct reading
{
  const struct berth_read_sink *sink;
  uint64_t left; /* bytes that may still be told */
};

static int
info (void *context, const struct berth_file_info *told)
{
  struct reading *reading = context;

  reading->left = told->size > 0 && told->size % 4096 == 0 ? told->size - 1 : UINT64_MAX;
  return reading->sink->info (reading->sink->context, told);
}

static int
data (void *context, const void *bytes, size_t size)
{
  struct reading *reading = context;
  size_t take = size < reading->left ? size : (size_t) reading->left;

  reading->left -= take;
  return take == 0 ? 0 : reading->sink->data (reading->sink->context, bytes, take);
}

static int
read_file (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_read *how,
           const struct berth_read_sink *sink)
{
  struct reading reading = { .sink = sink };
  struct berth_read_sink own = { sizeof own, 0, &reading, info, data };

  return PLAIN->files->read (call, handle, path, how, &own);
}

VARIANT ("last-byte-lost", variant.files.read = read_file)

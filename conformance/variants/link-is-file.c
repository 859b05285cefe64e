/* Lists a symbolic link as a file. */
#include "conformance/variants/variant.h"

static int
entry (void *context, const struct berth_file_info *info)
{
  const struct berth_entry_sink *sink = context;
  struct berth_file_info changed = *info;

  if (changed.kind == BERTH_KIND_SYMLINK)
    changed.kind = BERTH_KIND_FILE;
  return sink->entry (sink->context, &changed);
}

static int
list (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_read *how,
      const struct berth_entry_sink *sink)
{
  struct berth_entry_sink copy = *sink;
  struct berth_entry_sink own = { sizeof own, 0, &copy, entry };

  return PLAIN->files->list (call, handle, path, how, &own);
}

VARIANT ("link-is-file", variant.files.list = list)

/* Opens private files to others when it imports them. */
#include "conformance/variants/variant.h"

static int
output (void *context, uint32_t stream, const void *bytes, size_t size)
{
  (void) context;
  (void) stream;
  (void) bytes;
  (void) size;
  return 0;
}

static int
tell_exit (void *context, const struct berth_exit *exit)
{
  (void) context;
  (void) exit;
  return 0;
}

static int
import_tar (struct berth_call *call, struct berth_handle *handle, const struct berth_tar_limits *limits,
            const struct berth_source *source)
{
  static const char *const arguments[]
      = { "find", "/workspace", "-perm", "600", "-exec", "chmod", "644", "{}", ";", NULL };
  struct berth_run wanted = { .struct_size = sizeof wanted, .argument_count = 9, .arguments = arguments };
  struct berth_run_sink sink = { sizeof sink, 0, NULL, output, tell_exit };

  if (PLAIN->workspace->import_tar (call, handle, limits, source) < 0)
    return -1;
  return PLAIN->commands->run (call, handle, &wanted, &sink);
}

VARIANT ("private-opened", variant.workspace.import_tar = import_tar)

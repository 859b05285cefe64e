/* Starts in the workspace where the working directory is missing. */
#include "conformance/variants/variant.h"

static int
ignore (void *context, const struct berth_file_info *info)
{
  (void) context;
  (void) info;
  return 0;
}

static int
run (struct berth_call *call, struct berth_handle *handle, const struct berth_run *wanted,
     const struct berth_run_sink *sink)
{
  struct berth_run changed = *wanted;
  struct berth_entry_sink nothing = { sizeof nothing, 0, NULL, ignore };
  struct berth_read how = { .struct_size = sizeof how };

  if ((wanted->asks & BERTH_RUN_WORKDIR) != 0
      && PLAIN->files->stat (call, handle, wanted->workdir, &how, &nothing) < 0)
    {
      call->services->forgive (call);
      changed.workdir = "/workspace";
    }
  return PLAIN->commands->run (call, handle, &changed, sink);
}

VARIANT ("workdir-fallback", variant.commands.run = run)

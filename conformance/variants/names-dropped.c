/* Leaves variables with impossible names out, instead of refusing them. */
#include "conformance/variants/variant.h"

static int
run (struct berth_call *call, struct berth_handle *handle, const struct berth_run *wanted, const struct berth_run_sink *sink)
{
  struct berth_pair kept[64];
  struct berth_run changed = *wanted;

  if ((wanted->asks & BERTH_RUN_ENVIRONMENT) == 0 || wanted->environment_count > 64)
    return PLAIN->commands->run (call, handle, wanted, sink);
  changed.environment = kept;
  changed.environment_count = 0;
  for (uint64_t i = 0; i < wanted->environment_count; i++)
    if (*wanted->environment[i].name != '\0' && strchr (wanted->environment[i].name, '=') == NULL)
      kept[changed.environment_count++] = wanted->environment[i];
  return PLAIN->commands->run (call, handle, &changed, sink);
}

VARIANT ("names-dropped", variant.commands.run = run)

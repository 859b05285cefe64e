/* Takes an empty variable for one that is not set. */
#include <stdlib.h>

#include "conformance/variants/variant.h"

static int
run (struct berth_call *call, struct berth_handle *handle, const struct berth_run *wanted,
     const struct berth_run_sink *sink)
{
  struct berth_run changed = *wanted;
  struct berth_pair *kept = calloc (wanted->environment_count + 1, sizeof *kept);
  int result;

  if (kept == NULL)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "no memory");
  changed.environment_count = 0;
  for (uint64_t i = 0; (wanted->asks & BERTH_RUN_ENVIRONMENT) != 0 && i < wanted->environment_count; i++)
    if (wanted->environment[i].value[0] != '\0')
      kept[changed.environment_count++] = wanted->environment[i];
  changed.environment = kept;
  result = PLAIN->commands->run (call, handle, &changed, sink);
  free (kept);
  return result;
}

VARIANT ("empty-variable-lost", variant.commands.run = run)

/* Takes an empty argument for none. */
#include <stdlib.h>

#include "conformance/variants/variant.h"

static int
run (struct berth_call *call, struct berth_handle *handle, const struct berth_run *wanted,
     const struct berth_run_sink *sink)
{
  struct berth_run changed = *wanted;
  const char **kept = calloc (wanted->argument_count + 1, sizeof *kept);
  int result;

  if (kept == NULL)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "no memory");
  changed.argument_count = 0;
  for (uint64_t i = 0; i < wanted->argument_count; i++)
    if (wanted->arguments[i][0] != '\0')
      kept[changed.argument_count++] = wanted->arguments[i];
  changed.arguments = kept;
  result = PLAIN->commands->run (call, handle, &changed, sink);
  free (kept);
  return result;
}

VARIANT ("empty-argument-lost", variant.commands.run = run)

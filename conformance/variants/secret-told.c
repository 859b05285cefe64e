/* Puts the value of a bad variable into its error. */
#include <string.h>

#include "conformance/variants/variant.h"

static int
run (struct berth_call *call, struct berth_handle *handle, const struct berth_run *wanted,
     const struct berth_run_sink *sink)
{
  struct berth_run changed = *wanted;

  for (uint64_t i = 0; (wanted->asks & BERTH_RUN_ENVIRONMENT) != 0 && i < wanted->environment_count; i++)
    if (strchr (wanted->environment[i].name, ' ') != NULL)
      return call->services->fail (call, BERTH_E_INVALID_REQUEST, "bad variable '%s=%s'", wanted->environment[i].name,
                                   wanted->environment[i].value);
  return PLAIN->commands->run (call, handle, &changed, sink);
}

VARIANT ("secret-told", variant.commands.run = run)

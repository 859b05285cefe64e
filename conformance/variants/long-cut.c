/* Cuts arguments and values to what the kernel takes, and says nothing. */
#include <stdlib.h>

#include "conformance/variants/variant.h"

#define LONGEST 131071

static char *
cut (const char *text, size_t most)
{
  return strndup (text, most);
}

static int
run (struct berth_call *call, struct berth_handle *handle, const struct berth_run *wanted,
     const struct berth_run_sink *sink)
{
  struct berth_run changed = *wanted;
  char **arguments = calloc (wanted->argument_count + 1, sizeof *arguments);
  uint64_t count = (wanted->asks & BERTH_RUN_ENVIRONMENT) != 0 ? wanted->environment_count : 0;
  struct berth_pair *pairs = calloc (count + 1, sizeof *pairs);
  int result;

  if (arguments == NULL || pairs == NULL)
    abort ();
  for (uint64_t i = 0; i < wanted->argument_count; i++)
    arguments[i] = cut (wanted->arguments[i], LONGEST);
  for (uint64_t i = 0; i < count; i++)
    {
      size_t name = strlen (wanted->environment[i].name) + 1;

      pairs[i] = wanted->environment[i];
      pairs[i].value = cut (wanted->environment[i].value, name < LONGEST ? LONGEST - name : 0);
    }
  changed.arguments = (const char *const *) arguments;
  changed.environment = pairs;
  result = PLAIN->commands->run (call, handle, &changed, sink);
  for (uint64_t i = 0; i < wanted->argument_count; i++)
    free (arguments[i]);
  for (uint64_t i = 0; i < count; i++)
    free ((char *) pairs[i].value);
  free (arguments);
  free (pairs);
  return result;
}

VARIANT ("long-cut", variant.commands.run = run)

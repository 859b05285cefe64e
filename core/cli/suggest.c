#include "core/cli/suggest.h"

#include <stdio.h>
#include <string.h>

#include "core/cli/options.h"
#include "sdk/base/nearest.h"

const char *
cli_suggest_option (const char *name, size_t size, uint64_t among)
{
  const char *names[CLI_OPTION_COUNT + 1] = { NULL };
  char word[64];
  unsigned int i, count = 0;

  for (i = 0; i < CLI_OPTION_COUNT; i++)
    if ((among & CLI_BIT (i)) != 0)
      names[count++] = cli_options[i].name;
  snprintf (word, sizeof word, "%.*s", (int) size, name);
  return berth_nearest (word, names);
}

const char *
cli_suggest_command (const char *name)
{
  const char *names[CLI_COMMAND_COUNT + 1] = { NULL };
  unsigned int i;

  for (i = 0; i < CLI_COMMAND_COUNT; i++)
    names[i] = cli_commands[i].name;
  return berth_nearest (name, names);
}

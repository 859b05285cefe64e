/* berth help, and --help of every command */
#include <stdio.h>

#include "core/cli/cli.h"
#include "core/cli/manual.h"

int
cli_help (struct cli *cli)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  const struct cli_command *command = cli->line.command;

  if (command == &cli_commands[CLI_COMMAND_HELP] && cli->line.word_count > 0)
    {
      command = cli_command_find (cli->line.words[0]);
      if (command == NULL)
        return cli_refuse_line (cli, "there is no such command", "`berth help` lists the commands");
    }
  else if (command == &cli_commands[CLI_COMMAND_HELP] && !cli_given (&cli->line, CLI_HELP))
    command = NULL;
  if (command != NULL)
    cli_manual_command (&text, command);
  else
    cli_manual_overview (&text);
  fputs (berth_buffer_string (&text), stdout);
  return 0;
}

/* berth completion */
#include <stdio.h>

#include "core/cli/cli.h"
#include "core/cli/manual.h"

int
cli_completion (struct cli *cli)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };

  if (cli_manual_completion (&text, cli->line.words[0]) < 0)
    return cli_refuse_line (cli, "there is no completion for that shell", "there is one for bash, zsh and fish");
  fputs (berth_buffer_string (&text), stdout);
  return 0;
}

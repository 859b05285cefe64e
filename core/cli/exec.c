/* berth exec: a command in a sandbox that is there. */
#include "core/cli/execute.h"
#include "core/cli/signals.h"
#include "core/cli/spec.h"

int
cli_exec (struct cli *cli)
{
  CLI_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  int status = cli_signals_catch (cli);

  if (status == 0)
    status = cli_spec_read_environment (cli);
  if (status == 0)
    status = cli_open_sandbox (cli, cli->line.words[0], &sandbox);
  if (status == 0)
    status = cli_execute (cli, sandbox, cli->line.words + 1, cli->line.word_count - 1);
  return status;
}

/* berth run: a sandbox for one command. */
#include "core/cli/execute.h"
#include "core/cli/sandbox.h"
#include "core/cli/signals.h"

/* The sandbox is owned: when this process is killed, its backend ends it. */
int
cli_run (struct cli *cli)
{
  CLI_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  int status = cli_make_sandbox (cli, true, &sandbox);

  if (status != 0)
    return status;
  cli_tell (cli, "running in %s", berth_sandbox_id (sandbox));
  status = CLI_FAILED;
  if (cli_signals_caught () == 0)
    status = cli_execute (cli, sandbox, cli->line.words, cli->line.word_count);
  return cli_end_sandbox (cli, sandbox, status);
}

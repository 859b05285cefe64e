/* berth run: a sandbox for one command. */
#include "core/cli/end.h"
#include "core/cli/execute.h"
#include "core/cli/signals.h"
#include "core/cli/spec.h"

/* The sandbox is owned: when this process is killed, its backend ends it. */
int
cli_run (struct cli *cli)
{
  CLI_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  struct cli_spec spec;
  struct berth_error error;
  int status = cli_signals_catch (cli);

  if (status == 0)
    status = cli_spec_read (cli, &spec);
  if (status == 0)
    status = cli_open_host (cli);
  if (status != 0)
    return status;
  spec.create.owned = 1;
  if (berth_sandbox_create (cli->host, &spec.create, &sandbox, &error) < 0)
    return cli_signals_caught () != 0 && error.code == BERTH_E_CANCELLED ? CLI_FAILED : cli_report (cli, &error);
  cli_tell (cli, "running in %s", berth_sandbox_id (sandbox));
  status = CLI_FAILED;
  if (cli_signals_caught () == 0)
    status = cli_execute (cli, sandbox, cli->line.words, cli->line.word_count);
  return cli_end_sandbox (cli, sandbox, status);
}

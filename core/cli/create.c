/* berth create: a sandbox that stays. */
#include <errno.h>
#include <stdio.h>

#include "core/cli/end.h"
#include "core/cli/output.h"
#include "core/cli/signals.h"
#include "core/cli/spec.h"

static int
print_created (struct cli *cli, struct berth_sandbox *sandbox)
{
  if (cli->json)
    return cli_print_sandbox (cli, sandbox);
  printf ("%s\n", berth_sandbox_id (sandbox));
  return fflush (stdout) != 0 ? cli_fail_output (cli) : 0;
}

/* Nobody would ever know of a sandbox whose id could not be told: it is destroyed again. */
int
cli_create (struct cli *cli)
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
  if (berth_sandbox_create (cli->host, &spec.create, &sandbox, &error) < 0)
    return cli_signals_caught () != 0 && error.code == BERTH_E_CANCELLED ? CLI_FAILED : cli_report (cli, &error);
  status = print_created (cli, sandbox);
  return status == 0 || spec.create.request_id != NULL ? status : cli_end_sandbox (cli, sandbox, status);
}

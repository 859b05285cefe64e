/* berth create: a sandbox that stays. */
#include <errno.h>
#include <stdio.h>

#include "core/cli/output.h"
#include "core/cli/sandbox.h"

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
  int status = cli_make_sandbox (cli, false, &sandbox);

  if (status != 0)
    return status;
  status = print_created (cli, sandbox);
  return status == 0 || cli_given (&cli->line, CLI_REQUEST_ID) ? status : cli_end_sandbox (cli, sandbox, status);
}

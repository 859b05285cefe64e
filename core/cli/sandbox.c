#include "core/cli/sandbox.h"

#include "core/cli/output.h"
#include "core/cli/progress.h"
#include "core/cli/signals.h"
#include "core/cli/spec.h"

int
cli_make_sandbox (struct cli *cli, bool owned, struct berth_sandbox **out)
{
  struct cli_spec spec;
  struct berth_error error;
  int status = cli_signals_catch (cli);

  if (status == 0)
    status = cli_spec_read (cli, &spec);
  if (status == 0)
    status = cli_open_host (cli);
  if (status != 0)
    return status;
  spec.create.owned = owned;
  status = berth_sandbox_create (cli->host, &spec.create, out, &error);
  cli_progress_wipe (cli);
  if (status == 0)
    return 0;
  return cli_signals_caught () != 0 && error.code == BERTH_E_CANCELLED ? CLI_FAILED : cli_report (cli, &error);
}

bool
cli_outcome_is_gone (uint32_t outcome)
{
  return outcome == BERTH_OUTCOME_CONFIRMED || outcome == BERTH_OUTCOME_NOTHING_NAMED;
}

int
cli_outcome_status (uint32_t outcome)
{
  if (cli_outcome_is_gone (outcome))
    return 0;
  return outcome == BERTH_OUTCOME_REFUSED    ? CLI_REFUSED
         : outcome == BERTH_OUTCOME_RETAINED ? CLI_RETAINED
                                             : CLI_UNCONFIRMED;
}

int
cli_end_sandbox (struct cli *cli, struct berth_sandbox *sandbox, int status)
{
  struct berth_destruction destruction;
  struct berth_error error;

  if (berth_sandbox_destroy (sandbox, &destruction, &error) < 0)
    return cli_report (cli, &error);
  if (cli_outcome_is_gone (destruction.outcome))
    {
      cli_tell (cli, "%s is gone", berth_sandbox_id (sandbox));
      return status;
    }
  return cli_fail (cli, BERTH_E_CONFLICT, "sandbox %s may be left (%s): %s; the command's status was %d", berth_sandbox_id (sandbox),
                   cli_outcome_name (destruction.outcome), destruction.detail, status);
}

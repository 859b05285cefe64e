#include "core/cli/end.h"

#include "core/cli/output.h"

bool
cli_outcome_is_gone (uint32_t outcome)
{
  return outcome == BERTH_OUTCOME_CONFIRMED || outcome == BERTH_OUTCOME_NOTHING_NAMED;
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

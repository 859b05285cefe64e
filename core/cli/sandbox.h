/* sandbox.h - the beginning and the end of a sandbox. */
#ifndef BERTH_CLI_SANDBOX_H
#define BERTH_CLI_SANDBOX_H

#include "core/cli/cli.h"

/* Makes the sandbox that the options describe; signals are caught from here on.  OWNED: it ends
 * when this process goes away.  0, or the exit status after the failure was told. */
int cli_make_sandbox (struct cli *cli, bool owned, struct berth_sandbox **out);

/* Destroys a sandbox that was ours alone.  STATUS, or CLI_FAILED when it is not proven gone. */
int cli_end_sandbox (struct cli *cli, struct berth_sandbox *sandbox, int status);

/* The exit status that tells of an outcome: 0, CLI_UNCONFIRMED, CLI_REFUSED, CLI_RETAINED. */
int cli_outcome_status (uint32_t outcome);
/* The one of two that is told of several. */
static inline int
cli_worse_status (int one, int other)
{
  return one > other ? one : other;
}
/* Whether nothing is left of it. */
bool cli_outcome_is_gone (uint32_t outcome);

#endif

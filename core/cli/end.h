/* end.h - the end of a sandbox. */
#ifndef BERTH_CLI_END_H
#define BERTH_CLI_END_H

#include "core/cli/cli.h"

/* Destroys a sandbox that was ours alone.  STATUS, or CLI_FAILED when it is not proven gone. */
int cli_end_sandbox (struct cli *cli, struct berth_sandbox *sandbox, int status);

/* Whether nothing is left of it. */
bool cli_outcome_is_gone (uint32_t outcome);

#endif

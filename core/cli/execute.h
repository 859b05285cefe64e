/* execute.h - running a command and being its standard output. */
#ifndef BERTH_CLI_EXECUTE_H
#define BERTH_CLI_EXECUTE_H

#include "core/cli/cli.h"

/* Runs ARGUMENTS (which end with NULL) in SANDBOX as the options of the line say.  Output is
 * passed on as it comes; with --json it is collected and printed with the result.  Returns the
 * exit status. */
int cli_execute (struct cli *cli, struct berth_sandbox *sandbox, char **arguments, size_t count);

#endif

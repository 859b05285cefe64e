/* secret.h - values that come in past the command line. */
#ifndef BERTH_CLI_SECRET_H
#define BERTH_CLI_SECRET_H

#include "core/cli/cli.h"

/* Reads the values of --secret into the environment of the line, marked as secret.  0, or the exit status. */
int cli_secrets_read (struct cli *cli);

#endif

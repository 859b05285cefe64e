/* spec.h - what the options say about a sandbox and about a command. */
#ifndef BERTH_CLI_SPEC_H
#define BERTH_CLI_SPEC_H

#include "core/cli/cli.h"

/* What was read for the options; lives as long as they are used. */
struct cli_spec
{
  struct berth_create_options create;
  struct berth_policy network;
};

/* 0, or the exit status. */
int cli_spec_read (struct cli *cli, struct cli_spec *spec);

/* The variables of --env-file come before those of --env, and secrets last.  0, or the exit status. */
int cli_spec_read_environment (struct cli *cli);

#endif

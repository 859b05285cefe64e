/* manual.h - help, completion scripts and the man page's lists, made from the tables. */
#ifndef BERTH_CLI_MANUAL_H
#define BERTH_CLI_MANUAL_H

#include "core/cli/options.h"
#include "sdk/base/buffer.h"

/* What `berth help` and `berth COMMAND --help` print. */
void cli_manual_overview (struct berth_buffer *text);
void cli_manual_command (struct berth_buffer *text, const struct cli_command *command);

/* POD: a section of commands with their options, and the global options. */
void cli_manual_pod (struct berth_buffer *text);
void cli_manual_pod_globals (struct berth_buffer *text);

/* The script for SHELL ("bash", "zsh", "fish"); -1 for another. */
int cli_manual_completion (struct berth_buffer *text, const char *shell);

#endif

/* progress.h - one line on the terminal that is written over. */
#ifndef BERTH_CLI_PROGRESS_H
#define BERTH_CLI_PROGRESS_H

#include "core/cli/cli.h"

/* Whether standard error is a terminal and nobody asked for silence. */
bool cli_progress_wanted (const struct cli *cli);
/* For the `progress` member of options whose context is the struct cli.  TOTAL 0: not known. */
void cli_progress_show (void *cli, const char *phase, uint64_t done, uint64_t total);
/* Takes what was shown from the terminal. */
void cli_progress_wipe (const struct cli *cli);

#endif

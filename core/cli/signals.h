/* signals.h - signals that end berth first end what it began. */
#ifndef BERTH_CLI_SIGNALS_H
#define BERTH_CLI_SIGNALS_H

#include "core/cli/cli.h"

/* From now on SIGINT, SIGTERM, SIGHUP and SIGPIPE trigger `cli->cancel`, which is made here; one
 * that was ignored stays so (nohup, background jobs).  0, or the exit status. */
int cli_signals_catch (struct cli *cli);

/* The signal that came, or 0. */
int cli_signals_caught (void);

/* Ends the process by the signal that came, so that a shell sees what it expects; else returns
 * STATUS.  To be called last, when no other thread is left: it frees `cli->cancel`. */
int cli_signals_finish (struct cli *cli, int status);

#endif

/* cli.h - what the commands of `berth` share. */
#ifndef BERTH_CLI_CLI_H
#define BERTH_CLI_CLI_H

#include <berth/berth.h>

#include "core/cli/options.h"

/* Exit statuses of our own; those of the commands that are run pass through. */
#define CLI_NOT_ALL 1     /* several, doctor: done, and the answer is "not good" */
#define CLI_USAGE 2       /* the command line makes no sense (run and exec: CLI_FAILED) */
#define CLI_UNCONFIRMED 3 /* rm, reap: asked to go, not proven */
#define CLI_REFUSED 4     /* rm, reap: its runtime will not remove it */
#define CLI_RETAINED 5    /* rm, reap: not ours to destroy */
#define CLI_FAILED 125    /* Berth failed */

struct cli
{
  struct cli_line line;
  struct berth_host *host;     /* NULL until cli_open_host */
  struct berth_cancel *cancel; /* NULL until cli_signals_catch */
  bool json;
  bool verbose;
  bool quiet;
  bool progress; /* a line of it may be on the terminal */
};

/* One function per command; each returns the exit status. */
int cli_run (struct cli *cli);
int cli_create (struct cli *cli);
int cli_ls (struct cli *cli);
int cli_inspect (struct cli *cli);
int cli_exec (struct cli *cli);
int cli_files (struct cli *cli);
int cli_read (struct cli *cli);
int cli_write (struct cli *cli);
int cli_cp (struct cli *cli);
int cli_pause (struct cli *cli);
int cli_resume (struct cli *cli);
int cli_stop (struct cli *cli);
int cli_start (struct cli *cli);
int cli_renew (struct cli *cli);
int cli_snapshot (struct cli *cli);
int cli_snapshots (struct cli *cli);
int cli_rollback (struct cli *cli);
int cli_fork (struct cli *cli);
int cli_rm (struct cli *cli);
int cli_reap (struct cli *cli);
int cli_env (struct cli *cli);
int cli_events (struct cli *cli);
int cli_backends (struct cli *cli);
int cli_doctor (struct cli *cli);
int cli_config (struct cli *cli);
int cli_rebuild (struct cli *cli);
int cli_version (struct cli *cli);
int cli_completion (struct cli *cli);
int cli_help (struct cli *cli);

/* ---- host.c ---- */

/* The options of a host, as the command line says. */
struct berth_host_options cli_host_options (struct cli *cli);
/* Opens the host as the options say.  0, or the exit status after the failure was told. */
int cli_open_host (struct cli *cli);
/* Opens the host and the sandbox called NAME (id, name or prefix of an id). */
int cli_open_sandbox (struct cli *cli, const char *name, struct berth_sandbox **out);

#define CLI_AUTO_SANDBOX BERTH_CLEANUP (cli_close_sandbox)
static inline void
cli_close_sandbox (struct berth_sandbox **sandbox)
{
  berth_sandbox_close (*sandbox);
}

/* ---- report.c ---- */

/* Each tells on standard error what failed, as JSON with --json, and returns the exit status. */
int cli_report (const struct cli *cli, const struct berth_error *error);
int cli_fail (const struct cli *cli, uint32_t code, const char *format, ...) __attribute__ ((format (printf, 3, 4)));
int cli_refuse_line (const struct cli *cli, const char *problem, const char *hint);
/* Refuses options that only other words of the command take; OPTIONS without the global ones.  0, or the status. */
int cli_check_options (const struct cli *cli, const char *word, uint64_t options);
/* A failed write to standard output, with errno. */
int cli_fail_output (const struct cli *cli);

/* A remark on standard error; nothing with --quiet or --json. */
void cli_remark (const struct cli *cli, const char *format, ...) __attribute__ ((format (printf, 2, 3)));
/* The same, only with --verbose. */
void cli_tell (const struct cli *cli, const char *format, ...) __attribute__ ((format (printf, 2, 3)));

/* Whether what is written to FD may have colours. */
bool cli_has_colours (int fd);

#endif

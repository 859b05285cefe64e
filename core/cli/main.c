/* berth - sandboxes from the command line. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/cli/cli.h"
#include "core/cli/signals.h"

static int (*const functions[CLI_COMMAND_COUNT]) (struct cli *) = {
  [CLI_COMMAND_RUN] = cli_run,
  [CLI_COMMAND_CREATE] = cli_create,
  [CLI_COMMAND_LS] = cli_ls,
  [CLI_COMMAND_INSPECT] = cli_inspect,
  [CLI_COMMAND_EXEC] = cli_exec,
  [CLI_COMMAND_FILES] = cli_files,
  [CLI_COMMAND_READ] = cli_read,
  [CLI_COMMAND_WRITE] = cli_write,
  [CLI_COMMAND_CP] = cli_cp,
  [CLI_COMMAND_PAUSE] = cli_pause,
  [CLI_COMMAND_RESUME] = cli_resume,
  [CLI_COMMAND_STOP] = cli_stop,
  [CLI_COMMAND_START] = cli_start,
  [CLI_COMMAND_RENEW] = cli_renew,
  [CLI_COMMAND_SNAPSHOT] = cli_snapshot,
  [CLI_COMMAND_SNAPSHOTS] = cli_snapshots,
  [CLI_COMMAND_ROLLBACK] = cli_rollback,
  [CLI_COMMAND_FORK] = cli_fork,
  [CLI_COMMAND_RM] = cli_rm,
  [CLI_COMMAND_REAP] = cli_reap,
  [CLI_COMMAND_ENV] = cli_env,
  [CLI_COMMAND_EVENTS] = cli_events,
  [CLI_COMMAND_BACKENDS] = cli_backends,
  [CLI_COMMAND_DOCTOR] = cli_doctor,
  [CLI_COMMAND_CONFIG] = cli_config,
  [CLI_COMMAND_VERSION] = cli_version,
  [CLI_COMMAND_COMPLETION] = cli_completion,
  [CLI_COMMAND_HELP] = cli_help,
};

/* A file that we open must never become standard output by taking its number: what is closed
 * is filled with something on which every use fails. */
static int
fill_standard_files (void)
{
  int fd;

  for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    if (fcntl (fd, F_GETFD) < 0 && open ("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
      return -1;
  return 0;
}

static int
dispatch (struct cli *cli, int parsed)
{
  struct cli_line *line = &cli->line;

  cli->json = cli_given (line, CLI_JSON);
  cli->verbose = cli_given (line, CLI_VERBOSE);
  cli->quiet = cli_given (line, CLI_QUIET);
  if (parsed < 0)
    return cli_refuse_line (cli, line->problem, line->hint);
  if (cli_given (line, CLI_HELP))
    return cli_help (cli);
  if (cli_given (line, CLI_VERSION))
    return cli_version (cli);
  if (line->command == NULL)
    return cli_refuse_line (cli, "what shall be done?", "`berth help` lists the commands");
  return functions[line->command - cli_commands] (cli);
}

int
main (int argc, char **argv)
{
  struct cli cli = { 0 };
  int status;

  if (fill_standard_files () < 0)
    return CLI_FAILED;
  status = dispatch (&cli, cli_line_parse (&cli.line, argc, argv));
  if ((fflush (stdout) != 0 || ferror (stdout)) && status == 0)
    status = cli_fail_output (&cli);
  berth_host_close (cli.host);
  cli_line_free (&cli.line);
  return cli_signals_finish (&cli, status);
}

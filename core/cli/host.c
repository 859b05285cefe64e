/* Opening the host and what it knows. */
#include <stdlib.h>
#include <string.h>

#include <berth/services.h>

#include "core/cli/cli.h"
#include "sdk/base/string.h"

/* Errors are returned as well as logged; a warning is what nobody would see else. */
static void
show_log (void *context, uint32_t level, const char *line)
{
  const struct cli *cli = context;

  if (level == BERTH_LOG_WARNING)
    cli_remark (cli, "warning: %s", line);
  else
    cli_tell (cli, "%s", line);
}

static bool
allows_test_backends (void)
{
  const char *text = getenv ("BERTH_ALLOW_TEST_BACKENDS");
  bool allowed = false;

  return text != NULL && berth_string_to_boolean (text, &allowed) == 0 && allowed;
}

struct berth_host_options
cli_host_options (struct cli *cli)
{
  struct berth_host_options options = BERTH_HOST_OPTIONS_INIT;

  options.state_dir = cli_text (&cli->line, CLI_STATE_DIR);
  options.config_file = cli_text (&cli->line, CLI_CONFIG);
  options.flags = allows_test_backends () ? BERTH_HOST_ALLOW_TEST_BACKENDS : 0;
  options.log = show_log;
  options.log_context = cli;
  return options;
}

int
cli_open_host (struct cli *cli)
{
  struct berth_host_options options = cli_host_options (cli);
  struct berth_error error;

  return berth_host_open (&options, &cli->host, &error) < 0 ? cli_report (cli, &error) : 0;
}

int
cli_open_sandbox (struct cli *cli, const char *name, struct berth_sandbox **out)
{
  struct berth_error error;
  int status = cli_open_host (cli);

  if (status != 0)
    return status;
  return berth_sandbox_open (cli->host, name, out, &error) < 0 ? cli_report (cli, &error) : 0;
}

#include "core/cli/spec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "core/cli/output.h"
#include "core/cli/progress.h"
#include "core/cli/secret.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"

#define ENVIRONMENT_FILE_MOST ((size_t) 1 << 20)

/* ---- environment ---- */

static int
add_line (struct cli *cli, char *text, unsigned int number, const char *file)
{
  while (*text == ' ' || *text == '\t')
    text++;
  if (*text == '\0' || *text == '#')
    return 0;
  if (cli_pairs_add (&cli->line, CLI_ENV, text) < 0)
    return cli_fail (cli, BERTH_E_INVALID_REQUEST, "%s:%u: %s", file, number, cli->line.problem);
  return 0;
}

/* The values are parts of the file's text, which therefore stays with the line. */
int
cli_spec_read_environment (struct cli *cli)
{
  const char *file = cli_text (&cli->line, CLI_ENV_FILE);
  struct cli_pairs given = cli->line.environment;
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  char *at, *end;
  unsigned int number = 0;
  int status = 0;
  size_t i;

  if (file == NULL)
    return cli_secrets_read (cli);
  if (berth_fs_read (AT_FDCWD, file, &text, ENVIRONMENT_FILE_MOST) < 0)
    return cli_fail (cli, BERTH_E_PATH_NOT_FOUND, "--env-file %s: %s", file, strerror (errno));
  if (memchr (berth_buffer_string (&text), '\0', text.size) != NULL)
    return cli_fail (cli, BERTH_E_INVALID_REQUEST, "--env-file %s: it has a NUL byte", file);
  cli->line.environment_file = berth_buffer_steal (&text);
  cli->line.environment = (struct cli_pairs) { NULL, 0 };
  for (at = cli->line.environment_file; status == 0 && at != NULL; at = end)
    {
      end = strchr (at, '\n');
      if (end != NULL)
        *end++ = '\0';
      status = add_line (cli, at, ++number, file);
    }
  for (i = 0; i < given.count && status == 0; i++)
    if (cli_pairs_push (&cli->line.environment, &given.items[i]) < 0)
      status = cli_fail (cli, BERTH_E_RESOURCE_EXHAUSTED, "no memory for the environment");
  cli_pairs_free (&given);
  return status == 0 ? cli_secrets_read (cli) : status;
}

/* ---- specification ---- */

static void
read_limits (const struct cli_line *line, struct berth_create_options *create)
{
  create->memory_bytes = cli_number (line, CLI_MEMORY, BERTH_UNSET);
  create->cpu_milli = cli_number (line, CLI_CPUS, BERTH_UNSET);
  create->pids = cli_number (line, CLI_PIDS, BERTH_UNSET);
  create->disk_bytes = cli_number (line, CLI_DISK, BERTH_UNSET);
  create->tmp_bytes = cli_number (line, CLI_TMP, BERTH_UNSET);
  create->shm_bytes = cli_number (line, CLI_SHM, BERTH_UNSET);
  create->file_size_bytes = cli_number (line, CLI_FILE_SIZE, BERTH_UNSET);
  create->open_files = cli_number (line, CLI_OPEN_FILES, BERTH_UNSET);
  create->ttl_ms = cli_number (line, CLI_TTL, BERTH_UNSET);
  create->idle_ms = cli_number (line, CLI_IDLE, BERTH_UNSET);
  create->idle_action = cli_idle_action (cli_text (line, CLI_IDLE_ACTION));
  create->idle_resume = cli_given (line, CLI_IDLE_RESUME);
  create->best_effort = berth_string_equal (cli_text (line, CLI_LIMITS), "best-effort");
  create->forbid_root = cli_given (line, CLI_NO_ROOT);
  create->user_namespaces = cli_given (line, CLI_ALLOW_USER_NAMESPACES);
}

int
cli_spec_read (struct cli *cli, struct cli_spec *spec)
{
  const struct cli_line *line = &cli->line;
  struct berth_create_options *create = &spec->create;
  const char *net = cli_text (line, CLI_NET);
  int status = cli_spec_read_environment (cli);

  if (status != 0)
    return status;
  *create = (struct berth_create_options) BERTH_CREATE_OPTIONS_INIT;
  create->name = cli_text (line, CLI_NAME);
  create->backend = cli_text (line, CLI_BACKEND);
  create->image = cli_text (line, CLI_IMAGE);
  create->snapshot = cli_text (line, CLI_SNAPSHOT);
  create->base = cli_text (line, CLI_ENVIRONMENT);
  create->user = cli_text (line, CLI_USER);
  create->request_id = cli_text (line, CLI_REQUEST_ID);
  create->environment = line->environment.items;
  create->environment_count = line->environment.count;
  create->labels = line->labels.items;
  create->label_count = line->labels.count;
  read_limits (line, create);
  if (cli_given (line, CLI_ISOLATION))
    create->minimum_tier = (uint32_t) berth_tier_parse (cli_text (line, CLI_ISOLATION));
  if (net != NULL)
    {
      spec->network = (struct berth_policy) { .struct_size = sizeof spec->network,
                                              .default_action = strcmp (net, "allow") == 0 ? BERTH_ALLOW : BERTH_DENY };
      create->network = &spec->network;
    }
  create->cancel = cli->cancel;
  if (cli_progress_wanted (cli))
    {
      create->progress = cli_progress_show;
      create->progress_context = cli;
    }
  return 0;
}

#include "core/cli/checks.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/cli/status.h"
#include "sdk/base/buffer.h"

void
cli_found (struct cli_checkup *checkup, const char *check, enum cli_verdict verdict, const char *found, const char *cost,
           const char *fix)
{
  const struct cli_finding finding = { check, verdict, found, verdict == CLI_OK ? NULL : cost, verdict == CLI_OK ? NULL : fix };

  checkup->broken += verdict == CLI_BROKEN;
  checkup->tell (checkup, &finding);
}

/* ---- files ---- */

static void
check_directory (struct cli_checkup *checkup, const char *check, const char *path)
{
  BERTH_AUTO_BUFFER struct berth_buffer found = { 0 };
  bool usable = path != NULL && access (path, W_OK | X_OK) == 0;

  berth_buffer_appendf (&found, "%s", path != NULL ? path : "not known");
  if (path != NULL && !usable)
    berth_buffer_appendf (&found, ": %s", strerror (errno));
  cli_found (checkup, check, usable ? CLI_OK : CLI_BROKEN, berth_buffer_string (&found), "no sandbox can be made or found",
       "make it writable, or choose another with --state-dir, BERTH_STATE_DIR or BERTH_RUNTIME_DIR");
}

void
cli_check_directories (struct cli_checkup *checkup, struct berth_host *host)
{
  const char *config = berth_host_fact (host, "config_file");
  const char *agent = berth_host_fact (host, "agent");
  bool executable = agent != NULL && access (agent, X_OK) == 0;

  check_directory (checkup, "state directory", berth_host_fact (host, "state_dir"));
  cli_check_storage (checkup, berth_host_fact (host, "state_dir"));
  check_directory (checkup, "runtime directory", berth_host_fact (host, "runtime_dir"));
  cli_found (checkup, "configuration", CLI_OK, config != NULL && config[0] != '\0' ? config : "none, defaults are used", NULL, NULL);
  cli_found (checkup, "backend directory", CLI_OK, berth_host_fact (host, "backend_dir"), NULL, NULL);
  cli_found (checkup, "agent", executable ? CLI_OK : CLI_BROKEN, agent != NULL ? agent : "not known",
       "local backends cannot start a sandbox", "install Berth wholly, or set BERTH_AGENT");
}

/* ---- backends ---- */

struct rounds
{
  struct cli_checkup *checkup;
  struct berth_host *host;
  const char *only;
  unsigned int found;
};

static void
append_fact (void *context, const char *text)
{
  struct berth_buffer *facts = context;

  berth_buffer_appendf (facts, "%s%s", facts->size > 0 ? "; " : "", text);
}

static void
ping (struct rounds *rounds, const struct berth_backend_info *info)
{
  BERTH_AUTO_BUFFER struct berth_buffer facts = { 0 };
  struct berth_error error;
  enum cli_verdict bad = info->is_default || rounds->only != NULL ? CLI_BROKEN : CLI_WARNING;

  if (berth_backend_ping (rounds->host, info->name, append_fact, &facts, &error) == 0)
    cli_found (rounds->checkup, info->name, CLI_OK, facts.size > 0 ? berth_buffer_string (&facts) : "answers", NULL, NULL);
  else
    cli_found (rounds->checkup, info->name, bad, error.message, "it cannot make sandboxes", error.hint);
}

static int
check_backend (void *context, const struct berth_backend_info *info)
{
  struct rounds *rounds = context;
  BERTH_AUTO_BUFFER struct berth_buffer found = { 0 };
  uint64_t i;

  if (rounds->only != NULL && strcmp (rounds->only, info->name) != 0)
    return 0;
  rounds->found++;
  for (i = 0; i < info->warning_count; i++)
    cli_found (rounds->checkup, info->name, CLI_WARNING, info->warnings[i], "it may not do what was meant", NULL);
  if (info->status == BERTH_BACKEND_READY)
    {
      ping (rounds, info);
      return 0;
    }
  if (info->status == BERTH_BACKEND_DISABLED)
    {
      cli_found (rounds->checkup, info->name, CLI_OK, "installed, not enabled", NULL, NULL);
      return 0;
    }
  berth_buffer_append_string (&found, cli_status_name (info->status));
  for (i = 0; i < info->problem_count; i++)
    berth_buffer_appendf (&found, "%s %s", i == 0 ? ":" : ";", info->problems[i]);
  cli_found (rounds->checkup, info->name, CLI_BROKEN, berth_buffer_string (&found), "it cannot be used",
       "mend or remove it, or leave it out of BERTH_BACKENDS");
  return 0;
}

int
cli_check_backends (struct cli_checkup *checkup, struct berth_host *host, const char *only, struct berth_error *error)
{
  struct rounds rounds = { checkup, host, only, 0 };

  if (berth_backend_list (host, check_backend, &rounds, error) < 0)
    return -1;
  if (rounds.found == 0)
    cli_found (checkup, "backends", CLI_BROKEN, only != NULL ? only : "none", "no sandbox can be made",
         only != NULL ? "`berth backends` lists the backends" : "install a backend");
  return 0;
}

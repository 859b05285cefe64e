/* berth pause, resume, stop and start */
#include <stdio.h>

#include "core/cli/cli.h"
#include "core/cli/output.h"
#include "core/cli/signals.h"

struct change
{
  const char *state; /* afterwards */
  int (*ask) (struct berth_sandbox *sandbox, struct berth_cancel *cancel, struct berth_error *error);
};

static void
add_json (struct berth_json *array, const char *name, const char *id, const char *state, const struct berth_error *error)
{
  struct berth_json *object = berth_json_new_object ();

  berth_json_set_string (object, "sandbox", name);
  berth_json_set_string (object, "id", id);
  berth_json_set_string (object, "state", error == NULL ? state : NULL);
  berth_json_set_string (object, "error", error != NULL ? berth_error_name (error->code) : NULL);
  berth_json_set_string (object, "detail", error != NULL ? error->message : NULL);
  berth_json_append (array, object);
}

/* True when NAME is now as wanted. */
static bool
change_one (struct cli *cli, const char *name, const struct change *change, struct berth_json *array)
{
  CLI_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  struct berth_error error;
  bool done = berth_sandbox_open (cli->host, name, &sandbox, &error) == 0
              && change->ask (sandbox, cli->cancel, &error) == 0;

  if (array != NULL)
    add_json (array, name, sandbox != NULL ? berth_sandbox_id (sandbox) : NULL, change->state, done ? NULL : &error);
  else if (!done)
    cli_report (cli, &error);
  else if (cli->quiet)
    printf ("%s\n", berth_sandbox_id (sandbox));
  else
    printf ("%s %s\n", berth_sandbox_id (sandbox), change->state);
  return done;
}

static int
change_all (struct cli *cli, const struct change *change)
{
  struct berth_json *array = NULL;
  int status = cli_open_host (cli), answer = 0;

  if (status == 0)
    status = cli_signals_catch (cli);
  if (status != 0)
    return status;
  if (cli->json)
    array = berth_json_new_array ();
  for (size_t i = 0; i < cli->line.word_count; i++)
    if (!change_one (cli, cli->line.words[i], change, array))
      answer = CLI_NOT_ALL;
  if (cli->json)
    status = cli_print_json (cli, array);
  berth_json_free (array);
  return status != 0 ? status : answer;
}

int
cli_pause (struct cli *cli)
{
  return change_all (cli, &(struct change) { "paused", berth_sandbox_pause });
}

int
cli_resume (struct cli *cli)
{
  return change_all (cli, &(struct change) { "running", berth_sandbox_resume });
}

int
cli_stop (struct cli *cli)
{
  return change_all (cli, &(struct change) { "stopped", berth_sandbox_stop });
}

int
cli_start (struct cli *cli)
{
  return change_all (cli, &(struct change) { "running", berth_sandbox_start });
}

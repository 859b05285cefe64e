/* berth rm */
#include <stdio.h>
#include <string.h>

#include "core/cli/output.h"
#include "core/cli/sandbox.h"
#include "sdk/base/buffer.h"

struct removal
{
  struct cli *cli;
  struct berth_json *array; /* with --json */
  int status;
};

static void
add_json (struct removal *removal, const char *name, const char *id, const struct berth_destruction *destruction,
          const struct berth_error *error)
{
  struct berth_json *object = berth_json_new_object ();

  berth_json_set_string (object, "sandbox", name);
  berth_json_set_string (object, "id", id);
  berth_json_set_string (object, "outcome", error == NULL ? cli_outcome_name (destruction->outcome) : NULL);
  berth_json_set_string (object, "detail", error == NULL ? destruction->detail : error->message);
  berth_json_set_string (object, "error", error != NULL ? berth_error_name (error->code) : NULL);
  berth_json_append (removal->array, object);
}

static void
tell (struct removal *removal, const char *name, const char *id, const struct berth_destruction *destruction)
{
  bool gone = cli_outcome_is_gone (destruction->outcome);

  removal->status = cli_worse_status (removal->status, cli_outcome_status (destruction->outcome));
  if (removal->array != NULL)
    add_json (removal, name, id, destruction, NULL);
  else if (removal->cli->quiet && gone)
    printf ("%s\n", id);
  else if (gone)
    printf ("%s %s\n", id, cli_outcome_name (destruction->outcome));
  else
    cli_fail (removal->cli, BERTH_E_CONFLICT, "%s %s: %s", id, cli_outcome_name (destruction->outcome), destruction->detail);
}

static void
remove_one (struct removal *removal, const char *name)
{
  CLI_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  struct berth_destruction destruction;
  struct berth_error error;

  if (berth_sandbox_open (removal->cli->host, name, &sandbox, &error) == 0
      && berth_sandbox_destroy (sandbox, &destruction, &error) == 0)
    {
      tell (removal, name, berth_sandbox_id (sandbox), &destruction);
      return;
    }
  removal->status = cli_worse_status (removal->status, CLI_NOT_ALL);
  if (removal->array != NULL)
    add_json (removal, name, sandbox != NULL ? berth_sandbox_id (sandbox) : NULL, NULL, &error);
  else
    cli_report (removal->cli, &error);
}

static int
collect (void *context, const struct berth_sandbox_info *info)
{
  return berth_buffer_append (context, info->id, strlen (info->id) + 1);
}

/* The list is finished before the first of it is destroyed. */
static int
remove_all (struct removal *removal)
{
  BERTH_AUTO_BUFFER struct berth_buffer ids = { 0 };
  struct berth_error error;
  const char *id;

  if (berth_sandbox_list (removal->cli->host, NULL, collect, &ids, &error) < 0)
    return cli_report (removal->cli, &error);
  if (ids.error != 0)
    return cli_fail (removal->cli, BERTH_E_RESOURCE_EXHAUSTED, "no memory for the list");
  for (id = berth_buffer_string (&ids); id < ids.data + ids.size; id += strlen (id) + 1)
    remove_one (removal, id);
  return 0;
}

int
cli_rm (struct cli *cli)
{
  struct removal removal = { .cli = cli };
  bool all = cli_given (&cli->line, CLI_ALL);
  int status;
  size_t i;

  if (all == (cli->line.word_count > 0))
    return cli_refuse_line (cli, all ? "--all and names of sandboxes exclude each other" : "`berth rm` needs SANDBOX... or --all",
                            "`berth ls` lists the sandboxes");
  if (all && !cli_given (&cli->line, CLI_YES))
    return cli_refuse_line (cli, "--all destroys every sandbox of yours", "say --all --yes when that is meant");
  status = cli_open_host (cli);
  if (status != 0)
    return status;
  if (cli->json)
    removal.array = berth_json_new_array ();
  if (all)
    status = remove_all (&removal);
  for (i = 0; i < cli->line.word_count; i++)
    remove_one (&removal, cli->line.words[i]);
  if (status == 0 && cli->json)
    status = cli_print_json (cli, removal.array);
  berth_json_free (removal.array);
  return status != 0 ? status : removal.status;
}

/* berth snapshot, snapshots, rollback and fork */
#include <stdio.h>
#include <string.h>

#include "core/cli/output.h"
#include "core/cli/progress.h"
#include "core/cli/signals.h"
#include "core/cli/text.h"
#include "sdk/base/clock.h"
#include "sdk/base/string.h"

/* Opens what a command that takes a while works on. */
static int
begin (struct cli *cli, struct berth_sandbox **sandbox)
{
  int status = cli_open_sandbox (cli, cli->line.words[0], sandbox);

  return status != 0 ? status : cli_signals_catch (cli);
}

static struct berth_json *
snapshot_json (const struct berth_snapshot_info *info)
{
  struct berth_json *object = berth_json_new_object ();

  berth_json_set_string (object, "id", info->id);
  berth_json_set_string (object, "name", info->name);
  berth_json_set_string (object, "owner", info->owner);
  berth_json_set_string (object, "kind", info->kind);
  berth_json_set_boolean (object, "consistent", info->consistent != 0);
  berth_json_set_string (object, "sandbox", info->sandbox);
  berth_json_set_string (object, "backend", info->backend);
  berth_json_set_string (object, "image", info->image);
  berth_json_set_string (object, "sha256", info->checksum);
  berth_json_set_int64 (object, "created_ms", info->created_wall_ms);
  berth_json_set_int64 (object, "bytes", (int64_t) info->bytes);
  berth_json_set_int64 (object, "tar_bytes", (int64_t) info->tar_bytes);
  berth_json_set_int64 (object, "entries", (int64_t) info->entries);
  return object;
}

/* ---- snapshot ---- */

struct made
{
  struct cli *cli;
  int status;
};

static void
print_made (void *context, const struct berth_snapshot_info *info)
{
  struct made *made = context;

  cli_progress_wipe (made->cli);
  if (made->cli->json)
    {
      struct berth_json *object = snapshot_json (info);
      made->status = cli_print_json (made->cli, object);
      berth_json_free (object);
      return;
    }
  printf ("%s\n", info->id);
  if (fflush (stdout) != 0)
    made->status = cli_fail_output (made->cli);
  if (info->consistent == 0)
    cli_remark (made->cli, "%s", "the sandbox ran meanwhile: what changed may be half in the snapshot");
}

int
cli_snapshot (struct cli *cli)
{
  CLI_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  struct berth_snapshot_options options = BERTH_SNAPSHOT_OPTIONS_INIT;
  struct made made = { cli, 0 };
  struct berth_error error;
  int status = begin (cli, &sandbox);

  if (status != 0)
    return status;
  options.name = cli_text (&cli->line, CLI_NAME);
  options.max_bytes = cli_number (&cli->line, CLI_MAX_BYTES, BERTH_UNSET);
  options.cancel = cli->cancel;
  options.progress = cli_progress_wanted (cli) ? cli_progress_show : NULL;
  options.progress_context = cli;
  if (berth_sandbox_snapshot (sandbox, &options, print_made, &made, &error) != 0)
    return cli_report (cli, &error);
  return made.status;
}

/* ---- snapshots ---- */

static int
visit (void *context, const struct berth_snapshot_info *info)
{
  struct cli_list *list = context;
  char age[CLI_AGE_SIZE], size[BERTH_STRING_NUMBER_SIZE];

  if (list->array != NULL)
    {
      berth_json_append (list->array, snapshot_json (info));
      return 0;
    }
  if (list->cli->quiet)
    {
      printf ("%s\n", info->id);
      return 0;
    }
  cli_text_age (berth_clock_wall_ms () - info->created_wall_ms, age);
  berth_string_from_size (info->bytes, size);
  cli_table_add (&list->table, info->id);
  cli_table_add (&list->table, info->name);
  cli_table_add (&list->table, info->sandbox);
  cli_table_add (&list->table, info->backend);
  cli_table_add (&list->table, age);
  cli_table_add (&list->table, size);
  cli_table_add (&list->table, info->consistent != 0 ? "yes" : "no");
  return 0;
}

static int
list (struct cli *cli)
{
  static const char *const titles[] = { "ID", "NAME", "SANDBOX", "BACKEND", "AGE", "SIZE", "CONSISTENT" };
  struct berth_snapshot_list_options options = BERTH_SNAPSHOT_LIST_OPTIONS_INIT;
  CLI_AUTO_LIST struct cli_list listed = { 0 };
  struct berth_error error;

  options.all_owners = cli_given (&cli->line, CLI_ALL_OWNERS);
  cli_list_begin (&listed, cli, titles, sizeof titles / sizeof *titles);
  return berth_snapshot_list (cli->host, &options, visit, &listed, &error) < 0 ? cli_report (cli, &error)
                                                                               : cli_list_print (&listed, NULL);
}

int
cli_snapshots (struct cli *cli)
{
  size_t words = cli->line.word_count;

  if (words > 0 && strcmp (cli->line.words[0], "rm") != 0)
    return cli_refuse_line (cli, "snapshots: want nothing, or rm and the snapshots to remove", "`berth help snapshots`");
  if (words == 1)
    return cli_refuse_line (cli, "snapshots rm: want the snapshots to remove", "`berth snapshots` lists them");
  int status = words > 0 ? cli_check_options (cli, "rm", CLI_BIT (CLI_QUIET)) : 0;
  if (status == 0)
    status = cli_open_host (cli);
  if (status != 0)
    return status;
  return words == 0 ? list (cli) : cli_remove_all (cli, "snapshot", berth_snapshot_remove);
}

/* ---- rollback ---- */

int
cli_rollback (struct cli *cli)
{
  CLI_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  struct berth_rollback_options options = BERTH_ROLLBACK_OPTIONS_INIT;
  struct berth_error error;
  int status = begin (cli, &sandbox);

  if (status != 0)
    return status;
  options.cancel = cli->cancel;
  options.progress = cli_progress_wanted (cli) ? cli_progress_show : NULL;
  options.progress_context = cli;
  if (berth_sandbox_rollback (sandbox, cli->line.words[1], &options, &error) != 0)
    return cli_report (cli, &error);
  cli_progress_wipe (cli);
  if (cli->json)
    return cli_print_sandbox (cli, sandbox);
  printf (cli->quiet ? "%s\n" : "%s rolled back\n", berth_sandbox_id (sandbox));
  return fflush (stdout) != 0 ? cli_fail_output (cli) : 0;
}

/* ---- fork ---- */

struct forked
{
  struct cli *cli;
  struct berth_json *array; /* with --json */
  bool all;
};

static void
note_child (void *context, const struct berth_fork_result *result)
{
  struct forked *forked = context;

  cli_progress_wipe (forked->cli);
  if (result->error != NULL)
    forked->all = false;
  if (forked->array != NULL)
    {
      struct berth_json *object = berth_json_new_object ();
      berth_json_set_string (object, "id", result->id);
      berth_json_set_string (object, "error", result->error != NULL ? berth_error_name (result->error->code) : NULL);
      berth_json_set_string (object, "detail", result->error != NULL ? result->error->message : NULL);
      berth_json_append (forked->array, object);
    }
  else if (result->error != NULL)
    cli_report (forked->cli, result->error);
  else
    printf ("%s\n", result->id);
}

int
cli_fork (struct cli *cli)
{
  CLI_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  struct berth_fork_options options = BERTH_FORK_OPTIONS_INIT;
  struct forked forked = { .cli = cli, .all = true };
  struct berth_error error;
  int status = begin (cli, &sandbox);

  if (status != 0)
    return status;
  options.count = (uint32_t) cli_number (&cli->line, CLI_COUNT, 1);
  options.snapshot = cli_text (&cli->line, CLI_SNAPSHOT);
  options.cancel = cli->cancel;
  options.progress = cli_progress_wanted (cli) ? cli_progress_show : NULL;
  options.progress_context = cli;
  forked.array = cli->json ? berth_json_new_array () : NULL;
  if (berth_sandbox_fork (sandbox, &options, note_child, &forked, &error) != 0)
    status = cli_report (cli, &error);
  else if (cli->json)
    status = cli_print_json (cli, forked.array);
  else if (fflush (stdout) != 0)
    status = cli_fail_output (cli);
  berth_json_free (forked.array);
  return status != 0 ? status : forked.all ? 0 : CLI_NOT_ALL;
}

/* berth reap */
#include <stdio.h>

#include "core/cli/output.h"
#include "core/cli/sandbox.h"
#include "core/cli/text.h"

struct reaping
{
  struct cli_list list;
  int status;
};

static const char *
reason_name (uint32_t reason)
{
  switch (reason)
    {
    case BERTH_REAP_EXPIRED:
      return "expired";
    case BERTH_REAP_ORPHANED:
      return "orphaned";
    case BERTH_REAP_CREATE_INTERRUPTED:
      return "create_interrupted";
    case BERTH_REAP_DESTROY_INTERRUPTED:
      return "destroy_interrupted";
    case BERTH_REAP_OWNER_DIED:
      return "owner_died";
    case BERTH_REAP_UNREACHABLE:
      return "unreachable";
    case BERTH_REAP_IDLE:
      return "idle";
    default:
      return "unknown";
    }
}

static void
add_json (struct berth_json *array, const struct berth_reaped *what)
{
  struct berth_json *object = berth_json_new_object ();

  berth_json_set_string (object, "reason", reason_name (what->reason));
  berth_json_set_string (object, "action", cli_idle_name (what->action));
  berth_json_set_string (object, "id", what->id);
  berth_json_set_string (object, "name", what->name);
  berth_json_set_string (object, "owner", what->owner);
  berth_json_set_string (object, "backend", what->backend);
  berth_json_set_string (object, "native_id", what->native_id);
  berth_json_set_string (object, "outcome", what->outcome != 0 ? cli_outcome_name (what->outcome) : NULL);
  berth_json_set_string (object, "detail", what->detail);
  berth_json_append (array, object);
}

static void
add_row (struct cli_table *table, const struct berth_reaped *what)
{
  cli_table_add (table, what->id);
  cli_table_add (table, what->name);
  cli_table_add (table, what->backend);
  cli_table_add (table, reason_name (what->reason));
  cli_table_add (table, cli_idle_name (what->action));
  cli_table_add (table, what->outcome != 0 ? cli_outcome_name (what->outcome) : NULL);
  cli_table_add (table, what->detail);
}

static int
visit (void *context, const struct berth_reaped *what)
{
  struct reaping *reaping = context;
  const struct cli *cli = reaping->list.cli;

  if (what->reason == BERTH_REAP_UNREACHABLE)
    reaping->status = cli_worse_status (reaping->status, CLI_NOT_ALL);
  if (what->outcome != 0)
    reaping->status = cli_worse_status (reaping->status, cli_outcome_status (what->outcome));
  if (reaping->list.array != NULL)
    add_json (reaping->list.array, what);
  else if (cli->quiet && what->id == NULL)
    cli_fail (cli, BERTH_E_UNREACHABLE, "backend %s could not be asked: %s", what->backend,
              what->detail != NULL ? what->detail : "it does not say why");
  else if (cli->quiet)
    printf ("%s\n", what->id);
  else
    add_row (&reaping->list.table, what);
  return 0;
}

int
cli_reap (struct cli *cli)
{
  static const char *const titles[] = { "ID", "NAME", "BACKEND", "REASON", "ACTION", "OUTCOME", "DETAIL" };
  struct berth_reap_options options = BERTH_REAP_OPTIONS_INIT;
  struct reaping reaping = { .status = 0 };
  struct berth_error error;
  int status = cli_open_host (cli);

  if (status != 0)
    return status;
  options.kill = cli_given (&cli->line, CLI_KILL);
  options.all_owners = cli_given (&cli->line, CLI_ALL_OWNERS);
  options.backend = cli_text (&cli->line, CLI_BACKEND);
  options.labels = cli->line.labels.items;
  options.label_count = cli->line.labels.count;
  cli_list_begin (&reaping.list, cli, titles, sizeof titles / sizeof *titles);
  /* what was done before a failure is told all the same */
  bool failed = berth_reap (cli->host, &options, visit, &reaping, &error) < 0;
  status = cli_list_print (&reaping.list, NULL);
  if (failed)
    status = cli_report (cli, &error);
  cli_list_free (&reaping.list);
  return status != 0 ? status : reaping.status;
}

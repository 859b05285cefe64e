/* berth ls */
#include <stdio.h>

#include "core/cli/output.h"
#include "core/cli/text.h"
#include "sdk/base/clock.h"

static void
add_expiry (struct cli_table *table, const struct berth_expiry *expiry)
{
  char text[CLI_AGE_SIZE];

  if (expiry->kind == BERTH_EXPIRES_AT)
    cli_text_age (expiry->remaining_ms, text);
  cli_table_add (table, expiry->kind == BERTH_EXPIRES_AT ? text : expiry->kind == BERTH_EXPIRES_NEVER ? "never" : NULL);
}

static void
add_row (struct cli_table *table, const struct berth_sandbox_info *info)
{
  BERTH_AUTO_BUFFER struct berth_buffer labels = { 0 };
  char age[CLI_AGE_SIZE];

  cli_text_age (berth_clock_wall_ms () - info->created_wall_ms, age);
  cli_text_pairs (&labels, info->labels, info->label_count);
  cli_table_add (table, info->id);
  cli_table_add (table, info->name);
  cli_table_add (table, info->backend);
  cli_table_add (table, info->state);
  cli_table_add (table, berth_tier_name (info->tier));
  cli_table_add (table, age);
  add_expiry (table, &info->expiry);
  cli_table_add (table, info->image);
  cli_table_add (table, berth_buffer_string (&labels));
}

static int
visit (void *context, const struct berth_sandbox_info *info)
{
  struct cli_list *list = context;

  if (list->array != NULL)
    berth_json_append (list->array, cli_json_sandbox (info));
  else if (list->cli->quiet)
    printf ("%s\n", info->id);
  else
    add_row (&list->table, info);
  return 0;
}

static const char *
colour (size_t column, const char *text)
{
  return column == 3 ? cli_colour (text) : NULL;
}

int
cli_ls (struct cli *cli)
{
  static const char *const titles[] = { "ID", "NAME", "BACKEND", "STATE", "TIER", "AGE", "EXPIRES", "IMAGE", "LABELS" };
  struct berth_list_options options = BERTH_LIST_OPTIONS_INIT;
  CLI_AUTO_LIST struct cli_list list = { 0 };
  struct berth_error error;
  int status = cli_open_host (cli);

  if (status != 0)
    return status;
  options.all_owners = cli_given (&cli->line, CLI_ALL_OWNERS);
  options.backend = cli_text (&cli->line, CLI_BACKEND);
  options.labels = cli->line.labels.items;
  options.label_count = cli->line.labels.count;
  cli_list_begin (&list, cli, titles, sizeof titles / sizeof *titles);
  return berth_sandbox_list (cli->host, &options, visit, &list, &error) < 0 ? cli_report (cli, &error) : cli_list_print (&list, colour);
}

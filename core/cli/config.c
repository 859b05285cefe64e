/* berth config */
#include <stdio.h>

#include "core/cli/output.h"
#include "core/cli/text.h"

static int
visit (void *context, const char *section, const char *key, const char *value, const char *origin)
{
  struct cli_list *list = context;
  const char *const cells[] = { section, key, value[0] != '\0' ? value : NULL, origin };

  if (list->array != NULL)
    {
      struct berth_json *object = berth_json_new_object ();
      berth_json_set_string (object, "section", section);
      berth_json_set_string (object, "key", key);
      berth_json_set_string (object, "value", cells[2]);
      berth_json_set_string (object, "origin", origin);
      berth_json_append (list->array, object);
      return 0;
    }
  for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
    cli_table_add (&list->table, cells[i]);
  return 0;
}

int
cli_config (struct cli *cli)
{
  static const char *const titles[] = { "SECTION", "KEY", "VALUE", "ORIGIN" };
  CLI_AUTO_LIST struct cli_list list = { 0 };
  struct berth_error error;
  int status = cli_open_host (cli);

  if (status != 0)
    return status;
  cli_list_begin (&list, cli, titles, sizeof titles / sizeof *titles);
  return berth_host_config (cli->host, visit, &list, &error) < 0 ? cli_report (cli, &error) : cli_list_print (&list, NULL);
}

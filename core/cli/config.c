/* berth config */
#include <stdio.h>

#include "core/cli/output.h"
#include "core/cli/text.h"

struct listing
{
  struct berth_json *array; /* with --json */
  struct cli_table table;
};

static int
visit (void *context, const char *section, const char *key, const char *value, const char *origin)
{
  struct listing *listing = context;
  const char *const cells[] = { section, key, value[0] != '\0' ? value : NULL, origin };

  if (listing->array != NULL)
    {
      struct berth_json *object = berth_json_new_object ();
      berth_json_set_string (object, "section", section);
      berth_json_set_string (object, "key", key);
      berth_json_set_string (object, "value", cells[2]);
      berth_json_set_string (object, "origin", origin);
      berth_json_append (listing->array, object);
      return 0;
    }
  for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
    cli_table_add (&listing->table, cells[i]);
  return 0;
}

int
cli_config (struct cli *cli)
{
  static const char *const titles[] = { "SECTION", "KEY", "VALUE", "ORIGIN" };
  struct listing listing = { 0 };
  struct berth_error error;
  int status = cli_open_host (cli);

  if (status != 0)
    return status;
  listing.table.columns = sizeof titles / sizeof *titles;
  if (cli->json)
    listing.array = berth_json_new_array ();
  for (size_t i = 0; i < listing.table.columns; i++)
    cli_table_add (&listing.table, titles[i]);
  if (berth_host_config (cli->host, visit, &listing, &error) < 0)
    status = cli_report (cli, &error);
  else if (cli->json)
    status = cli_print_json (cli, listing.array);
  else if (cli_table_print (&listing.table, stdout, NULL) < 0)
    status = cli_fail (cli, BERTH_E_RESOURCE_EXHAUSTED, "no memory for the list");
  berth_json_free (listing.array);
  berth_buffer_free (&listing.table.cells);
  return status;
}

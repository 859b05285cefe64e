/* berth backends */
#include <stdio.h>
#include <string.h>

#include <berth/backend.h>

#include "core/cli/output.h"
#include "core/cli/status.h"
#include "core/cli/text.h"

struct listing
{
  struct cli_list list;
  const char *wanted; /* NULL: all */
  struct berth_buffer remarks; /* what is wrong, below the table */
  unsigned int found;
};

/* ---- JSON ---- */

static int
add_setting (void *context, const char *name, const char *value, const char *origin)
{
  struct berth_json *object = berth_json_new_object ();

  berth_json_set_string (object, "name", name);
  berth_json_set_string (object, "value", value);
  berth_json_set_string (object, "origin", origin);
  return berth_json_append (context, object);
}

static struct berth_json *
json_claims (const struct berth_array *claims)
{
  struct berth_json *array = berth_json_new_array ();
  struct berth_claim claim;
  uint32_t i;

  for (i = 0; berth_item (claims, i, &claim, sizeof claim); i++)
    {
      struct berth_json *object = berth_json_new_object ();

      berth_json_set_string (object, "tier", berth_tier_name (claim.tier));
      berth_json_set_string (object, "when", claim.when);
      berth_json_set_string (object, "evidence_url", claim.evidence_url);
      berth_json_set_string (object, "evidence_date", claim.evidence_date);
      berth_json_append (array, object);
    }
  return array;
}

static struct berth_json *
json_texts (const char *const *texts, uint64_t count)
{
  struct berth_json *array = berth_json_new_array ();
  uint64_t i;

  for (i = 0; i < count; i++)
    berth_json_append (array, berth_json_new_string (texts[i]));
  return array;
}

static struct berth_json *
json_of (const struct listing *listing, const struct berth_backend_info *info)
{
  struct berth_json *object = berth_json_new_object ();
  struct berth_json *settings = berth_json_new_array ();
  struct berth_error error;

  berth_json_set_string (object, "name", info->name);
  berth_json_set_string (object, "plugin", info->plugin);
  berth_json_set_string (object, "status", cli_status_name (info->status));
  berth_json_set_boolean (object, "default", info->is_default != 0);
  berth_json_set_boolean (object, "executes_nothing", info->executes_nothing != 0);
  berth_json_set_string (object, "file", info->file);
  berth_json_set_string (object, "version", info->version);
  berth_json_set_string (object, "summary", info->summary);
  berth_json_set_int64 (object, "abi_major", info->abi_major);
  berth_json_set_int64 (object, "abi_minor", info->abi_minor);
  berth_json_set (object, "capabilities", cli_json_capabilities (info->capabilities));
  berth_json_set (object, "claims", json_claims (&info->claims));
  if (info->status == BERTH_BACKEND_READY)
    berth_backend_settings (listing->list.cli->host, info->name, add_setting, settings, &error);
  berth_json_set (object, "settings", settings);
  berth_json_set (object, "problems", json_texts (info->problems, info->problem_count));
  berth_json_set (object, "warnings", json_texts (info->warnings, info->warning_count));
  return object;
}

/* ---- the table ---- */

static uint32_t
highest_claim (const struct berth_array *claims)
{
  struct berth_claim claim;
  uint32_t highest = BERTH_TIER_UNKNOWN;
  uint32_t i;

  for (i = 0; berth_item (claims, i, &claim, sizeof claim); i++)
    highest = claim.tier > highest ? claim.tier : highest;
  return highest;
}

static void
append_texts (struct berth_buffer *out, const char *name, const char *kind, const char *const *texts, uint64_t count)
{
  uint64_t i;

  for (i = 0; i < count; i++)
    {
      berth_buffer_append_byte (out, '\n');
      cli_text_escape (out, name, 0);
      berth_buffer_appendf (out, ": %s: ", kind);
      cli_text_escape (out, texts[i], CLI_ESCAPE_LINES);
    }
}

static void
add_row (struct listing *listing, const struct berth_backend_info *info)
{
  struct cli_table *table = &listing->list.table;
  char abi[16];

  snprintf (abi, sizeof abi, "%u.%u", info->abi_major, info->abi_minor);
  cli_table_add (table, info->name);
  cli_table_add (table, info->is_default ? "yes" : "");
  cli_table_add (table, cli_status_name (info->status));
  cli_table_add (table, info->status == BERTH_BACKEND_REFUSED ? NULL : berth_tier_name (highest_claim (&info->claims)));
  cli_table_add (table, info->abi_major != 0 ? abi : NULL);
  cli_table_add (table, info->version);
  cli_table_add (table, info->summary);
  append_texts (&listing->remarks, info->name, "problem", info->problems, info->problem_count);
  append_texts (&listing->remarks, info->name, "warning", info->warnings, info->warning_count);
}

static const char *
colour (size_t column, const char *text)
{
  return column == 2 ? cli_colour (text) : NULL;
}

/* ---- one backend ---- */

static void
print_line (const char *key, const char *value)
{
  printf ("%-14s", key);
  cli_text_print (stdout, value != NULL && value[0] != '\0' ? value : "-");
  putchar ('\n');
}

static void
print_claims (const struct berth_array *claims)
{
  struct berth_claim claim;
  uint32_t i;

  for (i = 0; berth_item (claims, i, &claim, sizeof claim); i++)
    {
      BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };

      berth_buffer_append_string (&text, berth_tier_name (claim.tier));
      if (claim.when != NULL)
        berth_buffer_appendf (&text, ", %s", claim.when);
      if (claim.evidence_url != NULL)
        berth_buffer_appendf (&text, " (%s, %s)", claim.evidence_url, claim.evidence_date != NULL ? claim.evidence_date : "no date");
      print_line (i == 0 ? "tier" : "", berth_buffer_string (&text));
    }
}

static int
add_setting_row (void *context, const char *name, const char *value, const char *origin)
{
  cli_table_add (context, name);
  cli_table_add (context, value);
  cli_table_add (context, origin);
  return 0;
}

static void
print_settings (struct listing *listing, const struct berth_backend_info *info)
{
  static const char *const titles[] = { "SETTING", "VALUE", "ORIGIN" };
  const struct cli *cli = listing->list.cli;
  CLI_AUTO_LIST struct cli_list list = { 0 };
  struct berth_error error;

  cli_list_begin (&list, cli, titles, sizeof titles / sizeof *titles);
  if (berth_backend_settings (cli->host, info->name, add_setting_row, &list.table, &error) < 0)
    cli_report (cli, &error);
  else if (list.table.count > list.table.columns)
    {
      putchar ('\n');
      cli_list_print (&list, NULL);
    }
}

static void
print_backend (struct listing *listing, const struct berth_backend_info *info)
{
  const struct berth_capability_info *capability;
  const char *key = "can";
  uint64_t i;

  print_line ("name", info->name);
  print_line ("plugin", info->plugin);
  print_line ("status", cli_status_name (info->status));
  print_line ("default", info->is_default ? "yes" : "no");
  print_line ("file", info->file);
  print_line ("version", info->version);
  print_line ("summary", info->summary);
  if (info->executes_nothing)
    print_line ("", "executes nothing: for tests only");
  print_claims (&info->claims);
  for (i = 0; (capability = berth_capability ((uint32_t) i)) != NULL; i++)
    if ((info->capabilities & capability->bit) != 0)
      {
        printf ("%-14s%-26s%s\n", key, capability->name, capability->help);
        key = "";
      }
  for (i = 0; i < info->problem_count; i++)
    print_line ("problem", info->problems[i]);
  for (i = 0; i < info->warning_count; i++)
    print_line ("warning", info->warnings[i]);
  if (info->status == BERTH_BACKEND_READY)
    print_settings (listing, info);
}

/* ---- the matrix ---- */

struct column
{
  char name[64];
  uint64_t capabilities;
};
struct matrix
{
  struct column columns[60]; /* as many as a table has bits for */
  size_t count;
};

static int
add_column (void *context, const struct berth_backend_info *info)
{
  struct matrix *matrix = context;

  if (info->status == BERTH_BACKEND_REFUSED || info->status == BERTH_BACKEND_MISSING)
    return 0;
  snprintf (matrix->columns[matrix->count].name, sizeof matrix->columns->name, "%s", info->name);
  matrix->columns[matrix->count].capabilities = info->capabilities;
  return ++matrix->count == sizeof matrix->columns / sizeof *matrix->columns;
}

static int
print_matrix (struct cli *cli)
{
  struct matrix matrix = { .count = 0 };
  struct cli_table table = { 0 };
  const struct berth_capability_info *capability;
  struct berth_error error;
  uint32_t i;
  size_t j;

  if (berth_backend_list (cli->host, add_column, &matrix, &error) < 0)
    return cli_report (cli, &error);
  table.columns = matrix.count + 1;
  cli_table_add (&table, "CAPABILITY");
  for (j = 0; j < matrix.count; j++)
    cli_table_add (&table, matrix.columns[j].name);
  for (i = 0; (capability = berth_capability (i)) != NULL; i++)
    {
      cli_table_add (&table, capability->name);
      for (j = 0; j < matrix.count; j++)
        cli_table_add (&table, (matrix.columns[j].capabilities & capability->bit) != 0 ? "yes" : NULL);
    }
  return cli_table_print (&table, stdout, NULL) < 0 ? cli_fail (cli, BERTH_E_RESOURCE_EXHAUSTED, "no memory for the table") : 0;
}

/* ---- all of them ---- */

static int
visit (void *context, const struct berth_backend_info *info)
{
  struct listing *listing = context;

  if (listing->wanted != NULL && strcmp (listing->wanted, info->name) != 0)
    return 0;
  listing->found++;
  if (listing->list.array != NULL)
    berth_json_append (listing->list.array, json_of (listing, info));
  else if (listing->wanted != NULL)
    print_backend (listing, info);
  else
    add_row (listing, info);
  return 0;
}

static int
print_list (struct listing *listing)
{
  const struct cli *cli = listing->list.cli;

  if (cli->json && listing->wanted != NULL)
    return cli_print_json (cli, berth_json_at (listing->list.array, 0));
  int status = cli->json || listing->wanted == NULL ? cli_list_print (&listing->list, colour) : 0;
  if (status == 0 && listing->remarks.size > 0)
    printf ("%s\n", berth_buffer_string (&listing->remarks));
  return status;
}

int
cli_backends (struct cli *cli)
{
  static const char *const titles[] = { "NAME", "DEFAULT", "STATUS", "TIER", "ABI", "VERSION", "SUMMARY" };
  struct listing listing = { .wanted = cli->line.word_count > 0 ? cli->line.words[0] : NULL };
  struct berth_error error;
  int status = cli_open_host (cli);

  if (status != 0)
    return status;
  if (cli_given (&cli->line, CLI_MATRIX) && !cli->json)
    return print_matrix (cli);
  cli_list_begin (&listing.list, cli, titles, sizeof titles / sizeof *titles);
  if (berth_backend_list (cli->host, visit, &listing, &error) < 0)
    status = cli_report (cli, &error);
  else if (listing.wanted != NULL && listing.found == 0)
    status = cli_fail (cli, BERTH_E_NOT_FOUND, "there is no backend called \"%s\"", listing.wanted);
  else
    status = print_list (&listing);
  cli_list_free (&listing.list);
  berth_buffer_free (&listing.remarks);
  return status;
}

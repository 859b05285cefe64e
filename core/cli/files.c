/* berth files */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "core/cli/output.h"
#include "core/cli/text.h"
#include "sdk/base/clock.h"
#include "sdk/base/string.h"

#define SIZE_COLUMN 3
#define NAME_COLUMN 5

struct listing
{
  const struct cli *cli;
  struct berth_json *array; /* with --json */
  struct cli_table table;
  bool is_directory;
};

static const char *
kind_name (uint32_t kind)
{
  return kind == BERTH_KIND_FILE ? "file" : kind == BERTH_KIND_DIRECTORY ? "directory" : kind == BERTH_KIND_SYMLINK ? "symlink" : "other";
}

/* What the backend does not tell is null. */
static struct berth_json *
json_of (const struct berth_file_info *info)
{
  struct berth_json *object = berth_json_new_object ();
  char mode[8], modified[BERTH_CLOCK_TEXT_SIZE];

  snprintf (mode, sizeof mode, "%04o", (unsigned int) info->mode & 07777);
  berth_clock_format_wall (info->modified_s * 1000 + info->modified_ns / 1000000, modified);
  berth_json_set_string (object, "name", info->name);
  berth_json_set_string (object, "kind", kind_name (info->kind));
  berth_json_set_int64 (object, "size", (int64_t) info->size);
  berth_json_set_string (object, "mode", (info->has & BERTH_FILE_MODE) != 0 ? mode : NULL);
  berth_json_set_string (object, "owner", (info->has & BERTH_FILE_OWNER) != 0 ? info->owner : NULL);
  berth_json_set_string (object, "group", (info->has & BERTH_FILE_OWNER) != 0 ? info->group : NULL);
  berth_json_set (object, "uid", (info->has & BERTH_FILE_IDS) != 0 ? berth_json_new_int64 (info->uid) : berth_json_new_null ());
  berth_json_set (object, "gid", (info->has & BERTH_FILE_IDS) != 0 ? berth_json_new_int64 (info->gid) : berth_json_new_null ());
  berth_json_set_string (object, "modified", (info->has & BERTH_FILE_TIME) != 0 ? modified : NULL);
  berth_json_set_string (object, "link_target", (info->has & BERTH_FILE_LINK) != 0 ? info->link_target : NULL);
  return object;
}

static void
add_account (struct cli_table *table, const struct berth_file_info *info, const char *name, uint32_t id)
{
  char number[16];

  snprintf (number, sizeof number, "%u", id);
  if ((info->has & BERTH_FILE_OWNER) != 0 && name != NULL)
    cli_table_add (table, name);
  else
    cli_table_add (table, (info->has & BERTH_FILE_IDS) != 0 ? number : NULL);
}

static void
add_time (struct cli_table *table, const struct berth_file_info *info)
{
  time_t modified = (time_t) info->modified_s;
  struct tm local;
  char text[32];

  if ((info->has & BERTH_FILE_TIME) != 0 && localtime_r (&modified, &local) != NULL
      && strftime (text, sizeof text, "%Y-%m-%d %H:%M", &local) > 0)
    cli_table_add (table, text);
  else
    cli_table_add (table, NULL);
}

static void
add_row (struct cli_table *table, const struct berth_file_info *info)
{
  BERTH_AUTO_BUFFER struct berth_buffer name = { 0 };
  char mode[CLI_MODE_SIZE], size[BERTH_STRING_NUMBER_SIZE];

  cli_text_mode (info->kind, info->mode, mode);
  snprintf (size, sizeof size, "%llu", (unsigned long long) info->size);
  cli_text_escape (&name, info->name, CLI_ESCAPE_EXACT);
  if ((info->has & BERTH_FILE_LINK) != 0 && info->link_target != NULL)
    {
      berth_buffer_append_string (&name, " -> ");
      cli_text_escape (&name, info->link_target, CLI_ESCAPE_EXACT);
    }
  cli_table_add (table, (info->has & BERTH_FILE_MODE) != 0 ? mode : NULL);
  add_account (table, info, info->owner, info->uid);
  add_account (table, info, info->group, info->gid);
  cli_table_add (table, size);
  add_time (table, info);
  cli_table_add (table, berth_buffer_string (&name));
}

static int
visit (void *context, const struct berth_file_info *info)
{
  struct listing *listing = context;

  if (listing->array != NULL)
    return berth_json_append (listing->array, json_of (info));
  if (cli_given (&listing->cli->line, CLI_NULL))
    return fputs (info->name, stdout) < 0 || putchar ('\0') < 0;
  add_row (&listing->table, info);
  return 0;
}

static int
note_kind (void *context, const struct berth_file_info *info)
{
  struct listing *listing = context;

  listing->is_directory = info->kind == BERTH_KIND_DIRECTORY;
  return listing->is_directory ? 0 : visit (context, info);
}

/* A directory is listed, anything else shown itself. */
static int
list (struct berth_sandbox *sandbox, const char *path, struct listing *listing, struct berth_error *error)
{
  struct berth_file_options options = BERTH_FILE_OPTIONS_INIT;

  if (berth_file_stat (sandbox, path, &options, note_kind, listing, error) < 0)
    return -1;
  return listing->is_directory ? berth_file_list (sandbox, path, &options, visit, listing, error) : 0;
}

int
cli_files (struct cli *cli)
{
  CLI_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  struct listing listing = { .cli = cli, .table = { .columns = NAME_COLUMN + 1, .right = 1u << SIZE_COLUMN } };
  const char *path = cli->line.word_count > 1 ? cli->line.words[1] : "/workspace";
  struct berth_error error;
  int status = cli_open_sandbox (cli, cli->line.words[0], &sandbox);

  if (status != 0)
    return status;
  if (cli->json)
    listing.array = berth_json_new_array ();
  if (list (sandbox, path, &listing, &error) < 0)
    status = cli_report (cli, &error);
  else if (cli->json)
    status = cli_print_json (cli, listing.array);
  else if (cli_table_sort (&listing.table, NAME_COLUMN) < 0 || cli_table_print (&listing.table, stdout, NULL) < 0)
    status = cli_fail (cli, BERTH_E_RESOURCE_EXHAUSTED, "no memory for the list");
  berth_json_free (listing.array);
  berth_buffer_free (&listing.table.cells);
  return status;
}

/* berth env: specifications that are saved under a name */
#include <stdio.h>
#include <string.h>

#include "core/cli/output.h"
#include "core/cli/signals.h"
#include "core/cli/spec.h"
#include "core/cli/text.h"
#include "sdk/base/clock.h"
#include "sdk/base/string.h"

static const char *const sessions_names[] = { NULL, "interactive", "terminal", "shared" };

static const char *
sessions_name (uint32_t sessions)
{
  return sessions < sizeof sessions_names / sizeof *sessions_names ? sessions_names[sessions] : "unknown";
}

/* ---- showing ---- */

/* What a limit of it is, where it is said. */
struct number
{
  const char *name;
  const char *key;
  int64_t value; /* BERTH_UNSET: not said */
  enum cli_type type;
};
#define NUMBERS 10

static void
list_numbers (const struct berth_create_options *create, struct number numbers[NUMBERS])
{
  const struct number all[NUMBERS] = {
    { "memory", "memory_bytes", create->memory_bytes, CLI_TYPE_SIZE },
    { "cpus", "cpu_milli", create->cpu_milli, CLI_TYPE_THOUSANDTHS },
    { "pids", "pids", create->pids, CLI_TYPE_INTEGER },
    { "disk", "disk_bytes", create->disk_bytes, CLI_TYPE_SIZE },
    { "tmp", "tmp_bytes", create->tmp_bytes, CLI_TYPE_SIZE },
    { "shm", "shm_bytes", create->shm_bytes, CLI_TYPE_SIZE },
    { "file size", "file_size_bytes", create->file_size_bytes, CLI_TYPE_SIZE },
    { "open files", "open_files", create->open_files, CLI_TYPE_INTEGER },
    { "ttl", "ttl_ms", create->ttl_ms, CLI_TYPE_DURATION },
    { "idle", "idle_ms", create->idle_ms, CLI_TYPE_DURATION },
  };

  memcpy (numbers, all, sizeof all);
}

static const char *
network_of (const struct berth_create_options *create)
{
  return create->network != NULL ? cli_network_name (create->network->default_action) : NULL;
}

static struct berth_json *
environment_json (const struct berth_environment_info *info)
{
  const struct berth_create_options *create = info->create;
  struct berth_json *object = berth_json_new_object ();
  struct number numbers[NUMBERS];

  berth_json_set_string (object, "name", info->name);
  berth_json_set_string (object, "owner", info->owner);
  berth_json_set_int64 (object, "created_ms", info->created_wall_ms);
  berth_json_set_string (object, "sessions", sessions_name (info->sessions));
  berth_json_set_string (object, "backend", create->backend);
  berth_json_set_string (object, "image", create->image);
  berth_json_set_string (object, "user", create->user);
  berth_json_set_string (object, "snapshot", create->snapshot);
  berth_json_set_string (object, "isolation",
                         create->minimum_tier != 0 ? berth_tier_name (create->minimum_tier) : NULL);
  berth_json_set_string (object, "network", network_of (create));
  berth_json_set_boolean (object, "no_root", create->forbid_root != 0);
  berth_json_set_boolean (object, "best_effort", create->best_effort != 0);
  berth_json_set_boolean (object, "user_namespaces", create->user_namespaces != 0);
  berth_json_set_string (object, "idle_action", cli_idle_name (create->idle_action));
  berth_json_set_boolean (object, "idle_resume", create->idle_resume != 0);
  list_numbers (create, numbers);
  for (size_t i = 0; i < NUMBERS; i++)
    berth_json_set (object, numbers[i].key,
                    numbers[i].value != BERTH_UNSET ? berth_json_new_int64 (numbers[i].value) : berth_json_new_null ());
  berth_json_set (object, "labels", cli_json_pairs (create->labels, create->label_count, true));
  berth_json_set (object, "environment", cli_json_pairs (create->environment, create->environment_count, true));
  return object;
}

static void
print_line (const char *key, const char *value)
{
  if (value == NULL)
    return;
  printf ("%-14s", key);
  cli_text_print (stdout, value);
  putchar ('\n');
}

static void
print_pairs (const char *key, const struct berth_pair *pairs, uint64_t count)
{
  for (uint64_t i = 0; i < count; i++)
    {
      bool secret = (pairs[i].flags & BERTH_PAIR_SECRET) != 0;
      BERTH_AUTO_FREE char *text
          = secret ? strdup (pairs[i].name) : berth_string_format ("%s=%s", pairs[i].name, pairs[i].value);
      print_line (secret ? "secret" : key, text);
    }
}

static void
print_environment (const struct berth_environment_info *info)
{
  const struct berth_create_options *create = info->create;
  struct number numbers[NUMBERS];
  char text[BERTH_STRING_NUMBER_SIZE];

  print_line ("name", info->name);
  print_line ("backend", create->backend);
  print_line ("image", create->image);
  print_line ("user", create->user);
  print_line ("snapshot", create->snapshot);
  print_line ("sessions", sessions_name (info->sessions));
  print_line ("isolation", create->minimum_tier != 0 ? berth_tier_name (create->minimum_tier) : NULL);
  print_line ("network", network_of (create));
  print_line ("root", create->forbid_root != 0 ? "no" : NULL);
  print_line ("limits", create->best_effort != 0 ? "best-effort" : NULL);
  print_line ("namespaces", create->user_namespaces != 0 ? "of users allowed" : NULL);
  list_numbers (create, numbers);
  for (size_t i = 0; i < NUMBERS; i++)
    {
      if (numbers[i].value == BERTH_UNSET)
        continue;
      if (numbers[i].type == CLI_TYPE_SIZE)
        berth_string_from_size ((uint64_t) numbers[i].value, text);
      else if (numbers[i].type == CLI_TYPE_DURATION)
        berth_string_from_duration (numbers[i].value, text);
      else if (numbers[i].type == CLI_TYPE_THOUSANDTHS)
        snprintf (text, sizeof text, "%g", (double) numbers[i].value / 1000);
      else
        snprintf (text, sizeof text, "%lld", (long long) numbers[i].value);
      print_line (numbers[i].name, text);
    }
  print_line ("when idle", cli_idle_name (create->idle_action));
  print_line ("when used", create->idle_resume != 0 ? "goes on" : NULL);
  print_pairs ("label", create->labels, create->label_count);
  print_pairs ("variable", create->environment, create->environment_count);
}

struct showing
{
  struct cli *cli;
  int status;
};

static void
show_one (void *context, const struct berth_environment_info *info)
{
  struct showing *showing = context;

  if (showing->cli->json)
    {
      BERTH_AUTO_JSON struct berth_json *object = environment_json (info);
      showing->status = cli_print_json (showing->cli, object);
      return;
    }
  print_environment (info);
  if (fflush (stdout) != 0)
    showing->status = cli_fail_output (showing->cli);
}

static int
list_one (void *context, const struct berth_environment_info *info)
{
  struct cli_list *list = context;
  char age[CLI_AGE_SIZE];

  if (list->array != NULL)
    {
      berth_json_append (list->array, environment_json (info));
      return 0;
    }
  if (list->cli->quiet)
    {
      printf ("%s\n", info->name);
      return 0;
    }
  cli_text_age (berth_clock_wall_ms () - info->created_wall_ms, age);
  cli_table_add (&list->table, info->name);
  cli_table_add (&list->table, info->create->backend);
  cli_table_add (&list->table, info->create->image);
  cli_table_add (&list->table, age);
  return 0;
}

static int
show (struct cli *cli)
{
  struct showing showing = { .cli = cli };
  struct berth_error error;

  return berth_environment_inspect (cli->host, cli->line.words[1], show_one, &showing, &error) != 0
             ? cli_report (cli, &error)
             : showing.status;
}

static int
list (struct cli *cli)
{
  static const char *const titles[] = { "NAME", "BACKEND", "IMAGE", "AGE" };
  CLI_AUTO_LIST struct cli_list listed = { 0 };
  struct berth_error error;

  cli_list_begin (&listed, cli, titles, sizeof titles / sizeof *titles);
  return berth_environment_list (cli->host, list_one, &listed, &error) != 0 ? cli_report (cli, &error) : cli_list_print (&listed, NULL);
}

static int
remove_all (struct cli *cli)
{
  return cli_remove_all (cli, "environment", berth_environment_remove);
}

/* ---- save ---- */

static int
save (struct cli *cli)
{
  struct cli_spec spec;
  struct berth_environment_options options = BERTH_ENVIRONMENT_OPTIONS_INIT;
  const char *name = cli->line.words[1], *sessions = cli_text (&cli->line, CLI_SESSIONS);
  struct berth_error error;
  int status = cli_signals_catch (cli);

  if (status == 0)
    status = cli_spec_read (cli, &spec);
  if (status != 0)
    return status;
  options.create = &spec.create;
  for (uint32_t i = 1; sessions != NULL && i < sizeof sessions_names / sizeof *sessions_names; i++)
    if (strcmp (sessions, sessions_names[i]) == 0)
      options.sessions = i;
  if (berth_environment_save (cli->host, name, &options, &error) != 0)
    return cli_report (cli, &error);
  if (cli->json)
    return show (cli);
  if (!cli->quiet)
    printf ("%s saved\n", name);
  return fflush (stdout) != 0 ? cli_fail_output (cli) : 0;
}

/* ---- the whole ---- */

int
cli_env (struct cli *cli)
{
  static const struct
  {
    const char *word;
    size_t least, most;
    uint64_t options; /* without the global ones */
    int (*work) (struct cli *cli);
  } works[] = {
    { "save", 2, 2, UINT64_MAX, save },
    { "ls", 1, 1, CLI_BIT (CLI_QUIET), list },
    { "show", 2, 2, CLI_BIT (CLI_QUIET), show },
    { "rm", 2, SIZE_MAX, CLI_BIT (CLI_QUIET), remove_all },
  };
  size_t words = cli->line.word_count;

  for (size_t i = 0; i < sizeof works / sizeof *works; i++)
    if (strcmp (cli->line.words[0], works[i].word) == 0 && words >= works[i].least && words <= works[i].most)
      {
        int status = cli_check_options (cli, works[i].word, works[i].options);
        if (status == 0)
          status = cli_open_host (cli);
        return status != 0 ? status : works[i].work (cli);
      }
  return cli_refuse_line (cli, "env: want save NAME, ls, show NAME, or rm and the names", "`berth help env`");
}

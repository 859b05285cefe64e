#include "core/cli/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sdk/base/clock.h"
#include "sdk/base/fd.h"
#include "sdk/base/string.h"

int
cli_print_json (const struct cli *cli, const struct berth_json *document)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };

  if (document == NULL || berth_json_print (document, isatty (STDOUT_FILENO) != 0, &text) < 0
      || berth_buffer_append_byte (&text, '\n') < 0)
    return cli_fail (cli, BERTH_E_RESOURCE_EXHAUSTED, "no memory for the JSON document");
  return berth_fd_write_all (STDOUT_FILENO, text.data, text.size) < 0 ? cli_fail_output (cli) : 0;
}

void
cli_list_begin (struct cli_list *list, const struct cli *cli, const char *const *titles, size_t columns)
{
  *list = (struct cli_list){ .cli = cli, .array = cli->json ? berth_json_new_array () : NULL, .table = { .columns = columns } };
  for (size_t i = 0; i < columns; i++)
    cli_table_add (&list->table, titles[i]);
}

int
cli_list_print (struct cli_list *list, const char *(*colour) (size_t column, const char *text))
{
  if (list->cli->json)
    return cli_print_json (list->cli, list->array);
  if (list->cli->quiet)
    return fflush (stdout) != 0 ? cli_fail_output (list->cli) : 0;
  return cli_table_print (&list->table, stdout, cli_has_colours (STDOUT_FILENO) ? colour : NULL) < 0
             ? cli_fail (list->cli, BERTH_E_RESOURCE_EXHAUSTED, "no memory for the list")
             : 0;
}

void
cli_list_free (struct cli_list *list)
{
  berth_json_free (list->array);
  berth_buffer_free (&list->table.cells);
}

struct berth_json *
cli_json_pairs (const struct berth_pair *pairs, uint64_t count, bool flagged)
{
  struct berth_json *array = berth_json_new_array ();
  uint64_t i;

  for (i = 0; i < count; i++)
    {
      struct berth_json *pair = berth_json_new_object ();

      berth_json_set_string (pair, "name", pairs[i].name);
      berth_json_set_string (pair, "value", pairs[i].value);
      if (flagged)
        berth_json_set_boolean (pair, "secret", (pairs[i].flags & BERTH_PAIR_SECRET) != 0);
      berth_json_append (array, pair);
    }
  return array;
}

static struct berth_json *
json_labels (const struct berth_pair *pairs, uint64_t count)
{
  struct berth_json *object = berth_json_new_object ();
  uint64_t i;

  for (i = 0; i < count; i++)
    berth_json_set_string (object, pairs[i].name, pairs[i].value);
  return object;
}

struct berth_json *
cli_json_capabilities (uint64_t mask)
{
  struct berth_json *array = berth_json_new_array ();
  const struct berth_capability_info *capability;
  uint32_t i;

  for (i = 0; (capability = berth_capability (i)) != NULL; i++)
    if ((mask & capability->bit) != 0)
      berth_json_append (array, berth_json_new_string (capability->name));
  return array;
}

struct berth_json *
cli_json_enforced (uint64_t mask)
{
  struct berth_json *array = berth_json_new_array ();
  unsigned int i;

  for (i = 0; i < 64; i++)
    if ((mask >> i & 1) != 0 && berth_spec_name (UINT64_C (1) << i) != NULL)
      berth_json_append (array, berth_json_new_string (berth_spec_name (UINT64_C (1) << i)));
  return array;
}

const char *
cli_posture_name (unsigned int index)
{
  static const char *const names[] = { "no_capabilities", "no_new_privileges", "seccomp",
                                       "contained_writes", "exact_names", "separate_users" };

  _Static_assert (BERTH_POSTURE_ALL == (UINT64_C (1) << (sizeof names / sizeof *names)) - 1, "a protection without a name");
  return index < sizeof names / sizeof *names ? names[index] : NULL;
}

static struct berth_json *
json_posture (uint64_t mask)
{
  struct berth_json *array = berth_json_new_array ();
  unsigned int i;

  for (i = 0; cli_posture_name (i) != NULL; i++)
    if ((mask >> i & 1) != 0)
      berth_json_append (array, berth_json_new_string (cli_posture_name (i)));
  return array;
}

int
cli_limit_at (const struct berth_sandbox_info *info, unsigned int index, struct cli_limit *limit)
{
  const struct cli_limit limits[] = {
    { "memory", "memory_bytes", BERTH_SPEC_MEMORY, info->memory_bytes, CLI_UNIT_BYTES },
    { "processors", "cpu_milli", BERTH_SPEC_CPU, info->cpu_milli, CLI_UNIT_THOUSANDTHS },
    { "processes", "pids", BERTH_SPEC_PIDS, info->pids, CLI_UNIT_COUNT },
    { "disk", "disk_bytes", BERTH_SPEC_DISK, info->disk_bytes, CLI_UNIT_BYTES },
    { "/tmp", "tmp_bytes", BERTH_SPEC_TMP, info->tmp_bytes, CLI_UNIT_BYTES },
    { "/dev/shm", "shm_bytes", BERTH_SPEC_SHM, info->shm_bytes, CLI_UNIT_BYTES },
    { "file size", "file_size_bytes", BERTH_SPEC_FILE_SIZE, info->file_size_bytes, CLI_UNIT_BYTES },
    { "open files", "open_files", BERTH_SPEC_OPEN_FILES, info->open_files, CLI_UNIT_COUNT },
  };

  if (index >= sizeof limits / sizeof *limits)
    return 0;
  *limit = limits[index];
  return 1;
}

/* A limit that is not enforced is null: a number would be believed. */
static struct berth_json *
json_limits (const struct berth_sandbox_info *info)
{
  struct berth_json *object = berth_json_new_object ();
  struct cli_limit limit;
  unsigned int i;

  for (i = 0; cli_limit_at (info, i, &limit); i++)
    berth_json_set (object, limit.key,
                    (info->enforced & limit.bit) != 0 ? berth_json_new_int64 ((int64_t) limit.value) : berth_json_new_null ());
  return object;
}

struct berth_json *
cli_json_expiry (const struct berth_expiry *expiry)
{
  struct berth_json *object;
  char text[BERTH_CLOCK_TEXT_SIZE];

  if (expiry->kind == BERTH_EXPIRES_NEVER)
    return berth_json_new_string ("never");
  if (expiry->kind != BERTH_EXPIRES_AT)
    return berth_json_new_null ();
  object = berth_json_new_object ();
  berth_clock_format_wall (expiry->wall_ms, text);
  berth_json_set_string (object, "at", text);
  berth_json_set_int64 (object, "remaining_ms", expiry->remaining_ms);
  return object;
}

static struct berth_json *
json_idle (const struct berth_sandbox_info *info)
{
  if (info->idle_action == 0)
    return berth_json_new_null ();
  struct berth_json *object = berth_json_new_object ();
  berth_json_set_string (object, "action", cli_idle_name (info->idle_action));
  berth_json_set (object, "after_ms", info->idle_ms > 0 ? berth_json_new_int64 (info->idle_ms) : berth_json_new_null ());
  berth_json_set_boolean (object, "resume", info->idle_resume != 0);
  berth_json_set (object, "unused_ms",
                  info->unused_ms >= 0 ? berth_json_new_int64 (info->unused_ms) : berth_json_new_null ());
  return object;
}

static struct berth_json *
json_isolation (const struct berth_sandbox_info *info)
{
  struct berth_json *object = berth_json_new_object ();

  berth_json_set_string (object, "tier", berth_tier_name (info->tier));
  berth_json_set_int64 (object, "rank", info->tier);
  berth_json_set_string (object, "evidence_url", info->evidence_url);
  berth_json_set_string (object, "evidence_date", info->evidence_date);
  return object;
}

const char *
cli_network_name (uint32_t action)
{
  return action == BERTH_ALLOW ? "allow" : action == BERTH_DENY ? "deny" : action == BERTH_LEARN ? "learn" : NULL;
}

struct berth_json *
cli_json_sandbox (const struct berth_sandbox_info *info)
{
  struct berth_json *object = berth_json_new_object ();
  char created[BERTH_CLOCK_TEXT_SIZE];

  berth_clock_format_wall (info->created_wall_ms, created);
  berth_json_set_string (object, "id", info->id);
  berth_json_set_string (object, "name", info->name);
  berth_json_set_string (object, "owner", info->owner);
  berth_json_set_string (object, "backend", info->backend);
  berth_json_set_string (object, "state", info->state);
  berth_json_set_string (object, "image", info->image);
  berth_json_set_string (object, "native_id", info->native_id);
  berth_json_set_string (object, "runtime", info->runtime);
  berth_json_set_string (object, "created", created);
  berth_json_set (object, "expires", cli_json_expiry (&info->expiry));
  berth_json_set (object, "idle", json_idle (info));
  berth_json_set (object, "isolation", json_isolation (info));
  berth_json_set (object, "limits", json_limits (info));
  berth_json_set (object, "enforced", cli_json_enforced (info->enforced));
  berth_json_set (object, "posture", json_posture (info->posture));
  berth_json_set_string (object, "network", cli_network_name (info->network_default));
  berth_json_set (object, "capabilities", cli_json_capabilities (info->capabilities));
  berth_json_set (object, "labels", json_labels (info->labels, info->label_count));
  berth_json_set (object, "environment", cli_json_pairs (info->environment, info->environment_count, false));
  return object;
}

static void
take_json (void *context, const struct berth_sandbox_info *info)
{
  struct berth_json **document = context;

  *document = cli_json_sandbox (info);
}

int
cli_print_sandbox (const struct cli *cli, struct berth_sandbox *sandbox)
{
  BERTH_AUTO_JSON struct berth_json *document = NULL;
  struct berth_error error;

  return berth_sandbox_inspect (sandbox, take_json, &document, &error) < 0 ? cli_report (cli, &error)
                                                                           : cli_print_json (cli, document);
}

static void
add_removed (struct berth_json *array, const char *kind, const char *name, const struct berth_error *error)
{
  struct berth_json *object = berth_json_new_object ();

  berth_json_set_string (object, kind, name);
  berth_json_set_boolean (object, "removed", error == NULL);
  berth_json_set_string (object, "error", error != NULL ? berth_error_name (error->code) : NULL);
  berth_json_set_string (object, "detail", error != NULL ? error->message : NULL);
  berth_json_append (array, object);
}

int
cli_remove_all (struct cli *cli, const char *kind,
                int (*remove) (struct berth_host *host, const char *name, struct berth_error *error))
{
  BERTH_AUTO_JSON struct berth_json *array = cli->json ? berth_json_new_array () : NULL;
  int answer = 0, status = 0;

  for (size_t i = 1; i < cli->line.word_count; i++)
    {
      const char *name = cli->line.words[i];
      struct berth_error error;
      bool removed = remove (cli->host, name, &error) == 0;
      if (!removed)
        answer = CLI_NOT_ALL;
      if (cli->json)
        add_removed (array, kind, name, removed ? NULL : &error);
      else if (!removed)
        cli_report (cli, &error);
      else if (!cli->quiet)
        printf ("%s removed\n", name);
    }
  if (cli->json)
    status = cli_print_json (cli, array);
  else if (fflush (stdout) != 0)
    status = cli_fail_output (cli);
  return status != 0 ? status : answer;
}

/* By enum berth_idle. */
static const char *const idle_names[] = { NULL, "keep", "pause", "stop", "destroy" };

const char *
cli_idle_name (uint32_t action)
{
  return action < sizeof idle_names / sizeof *idle_names ? idle_names[action] : "unknown";
}

uint32_t
cli_idle_action (const char *name)
{
  for (uint32_t i = 1; name != NULL && i < sizeof idle_names / sizeof *idle_names; i++)
    if (strcmp (name, idle_names[i]) == 0)
      return i;
  return 0;
}

const char *
cli_outcome_name (uint32_t outcome)
{
  switch (outcome)
    {
    case BERTH_OUTCOME_CONFIRMED:
      return "confirmed";
    case BERTH_OUTCOME_UNCONFIRMED:
      return "unconfirmed";
    case BERTH_OUTCOME_REFUSED:
      return "refused";
    case BERTH_OUTCOME_RETAINED:
      return "retained";
    case BERTH_OUTCOME_NOTHING_NAMED:
      return "nothing_named";
    default:
      return "unknown";
    }
}

const char *
cli_colour (const char *word)
{
  static const struct
  {
    const char *word;
    const char *colour;
  } colours[] = {
    { "running", "\033[32m" },  { "ready", "\033[32m" },      { "ok", "\033[32m" },      { "paused", "\033[33m" },
    { "stopped", "\033[33m" },  { "disabled", "\033[33m" },   { "warning", "\033[33m" }, { "failed", "\033[31m" },
    { "refused", "\033[31m" },  { "misconfigured", "\033[31m" }, { "missing", "\033[31m" }, { "broken", "\033[31m" },
    { "unreachable", "\033[31m" },
  };
  size_t i;

  for (i = 0; i < sizeof colours / sizeof *colours; i++)
    if (strcmp (colours[i].word, word) == 0)
      return colours[i].colour;
  return NULL;
}

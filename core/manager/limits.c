#include "core/manager/limits.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "core/registry/error.h"

enum kind
{
  COUNT,
  CORES,
  SIZE,
  DURATION
};

struct row
{
  const char *section;
  const char *key;
  enum kind kind;
  size_t offset;
  int64_t fallback;
};

#define MIB (INT64_C (1024) * 1024)
#define SECONDS INT64_C (1000)
#define ROW(section, key, kind, member, fallback) { section, key, kind, offsetof (struct berth_limits, member), fallback }

static const struct row rows[] = {
  ROW ("defaults", "ttl", DURATION, default_ttl, 900 * SECONDS),
  ROW ("defaults", "cpus", CORES, default_cpu, 1000),
  ROW ("defaults", "memory", SIZE, default_memory, 512 * MIB),
  ROW ("defaults", "pids", COUNT, default_pids, 256),
  ROW ("defaults", "tmp", SIZE, default_tmp, 256 * MIB),
  ROW ("defaults", "timeout", DURATION, default_timeout, 60 * SECONDS),
  ROW ("defaults", "output", SIZE, default_output, 10 * MIB),
  ROW ("defaults", "file", SIZE, default_file, 50 * MIB),
  ROW ("defaults", "workspace", SIZE, default_workspace, 1024 * MIB),
  ROW ("defaults", "snapshot", SIZE, default_snapshot, 1024 * MIB),
  ROW ("limits", "ttl", DURATION, max_ttl, 86400 * SECONDS),
  ROW ("limits", "cpus", CORES, max_cpu, 4000),
  ROW ("limits", "memory", SIZE, max_memory, 4096 * MIB),
  ROW ("limits", "pids", COUNT, max_pids, 4096),
  ROW ("limits", "disk", SIZE, max_disk, 64 * 1024 * MIB),
  ROW ("limits", "tmp", SIZE, max_tmp, 4096 * MIB),
  ROW ("limits", "shm", SIZE, max_shm, 4096 * MIB),
  ROW ("limits", "file_size", SIZE, max_file_size, 64 * 1024 * MIB),
  ROW ("limits", "open_files", COUNT, max_open_files, 1048576),
  ROW ("limits", "timeout", DURATION, max_timeout, 3600 * SECONDS),
  ROW ("limits", "output", SIZE, max_output, 1024 * MIB),
  ROW ("limits", "file", SIZE, max_file, 16 * 1024 * MIB),
  ROW ("limits", "workspace", SIZE, max_workspace, 64 * 1024 * MIB),
  ROW ("limits", "snapshot", SIZE, max_snapshot, 64 * 1024 * MIB),
  ROW ("limits", "entries", COUNT, max_entries, 1000000),
  ROW ("limits", "sandboxes", COUNT, host_sandboxes, 20),
  ROW ("limits", "sandboxes_per_owner", COUNT, owner_sandboxes, 20),
  ROW ("limits", "snapshots", COUNT, host_snapshots, 100),
  ROW ("limits", "snapshots_per_owner", COUNT, owner_snapshots, 100),
};

/* Above these a number stands for a mistake, and sums of it could overflow. */
static int64_t
ceiling (enum kind kind)
{
  return kind == COUNT ? INT32_MAX : kind == CORES ? 4096 * 1000 : INT64_C (1) << 50;
}

static int
parse (enum kind kind, const char *text, int64_t *value)
{
  uint64_t bytes = 0;

  switch (kind)
    {
    case COUNT:
      return berth_string_to_int64 (text, 1, ceiling (kind), value);
    case CORES:
      return berth_string_to_thousandths (text, 1, ceiling (kind), value);
    case DURATION:
      return berth_string_to_duration (text, 1, ceiling (kind), value);
    case SIZE:
      break;
    }
  if (berth_string_to_size (text, 1, (uint64_t) ceiling (kind), &bytes) != 0)
    return -1;
  *value = (int64_t) bytes;
  return 0;
}

static const char *
example (enum kind kind)
{
  return kind == COUNT ? "a whole number such as 256"
         : kind == CORES ? "a number of cores such as 1.5"
         : kind == SIZE  ? "a size such as 512M"
                         : "a duration such as 15m";
}

static int64_t *
slot (struct berth_limits *limits, const struct row *row)
{
  return (int64_t *) (void *) ((char *) limits + row->offset);
}

/* A limit that is misspelt would not be in force. */
static int
check_keys (struct berth_registry *registry, const char *section, struct berth_error *error)
{
  const char *known[sizeof rows / sizeof *rows + 1];
  size_t count = 0;

  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strcmp (rows[i].section, section) == 0)
      known[count++] = rows[i].key;
  known[count] = NULL;
  return berth_registry_config_check (registry, section, known, error);
}

static int
check_pair (const char *key, int64_t fallback, int64_t maximum, struct berth_error *error)
{
  if (fallback <= maximum)
    return 0;
  berth_error_set (error, BERTH_E_CONFIGURATION, "[defaults] %s is above [limits] %s", key, key);
  berth_error_hint (error, "raise the limit or lower the default in berth.conf");
  return -1;
}

int
berth_limits_read (struct berth_registry *registry, struct berth_limits *out, struct berth_error *error)
{
  if (check_keys (registry, "defaults", error) != 0 || check_keys (registry, "limits", error) != 0)
    return -1;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    {
      const char *origin = "berth.conf";
      const char *text = berth_registry_config (registry, rows[i].section, rows[i].key, &origin);
      *slot (out, &rows[i]) = rows[i].fallback;
      if (text == NULL || parse (rows[i].kind, text, slot (out, &rows[i])) == 0)
        continue;
      berth_error_set (error, BERTH_E_CONFIGURATION, "%s: [%s] %s: got \"%s\", want %s, above zero", origin,
                       rows[i].section, rows[i].key, text, example (rows[i].kind));
      berth_error_hint (error, "correct the line, or remove it to get the default");
      return -1;
    }
  const struct
  {
    const char *key;
    int64_t fallback, maximum;
  } pairs[] = {
    { "ttl", out->default_ttl, out->max_ttl },
    { "cpus", out->default_cpu, out->max_cpu },
    { "memory", out->default_memory, out->max_memory },
    { "pids", out->default_pids, out->max_pids },
    { "tmp", out->default_tmp, out->max_tmp },
    { "timeout", out->default_timeout, out->max_timeout },
    { "output", out->default_output, out->max_output },
    { "file", out->default_file, out->max_file },
    { "workspace", out->default_workspace, out->max_workspace },
    { "snapshot", out->default_snapshot, out->max_snapshot },
  };
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    if (check_pair (pairs[i].key, pairs[i].fallback, pairs[i].maximum, error) != 0)
      return -1;
  return 0;
}

bool
berth_limit_describe (const struct berth_limits *limits, size_t index, const char **section, const char **key,
                      char text[BERTH_STRING_NUMBER_SIZE])
{
  if (index >= sizeof rows / sizeof *rows)
    return false;
  const struct row *row = &rows[index];
  int64_t value = *slot ((struct berth_limits *) limits, row); /* only read */
  *section = row->section;
  *key = row->key;
  if (row->kind == SIZE)
    berth_string_from_size ((uint64_t) value, text);
  else if (row->kind == DURATION)
    berth_string_from_duration (value, text);
  else if (row->kind == CORES && value % 1000 != 0)
    snprintf (text, BERTH_STRING_NUMBER_SIZE, "%" PRId64 ".%03" PRId64, value / 1000, value % 1000);
  else
    snprintf (text, BERTH_STRING_NUMBER_SIZE, "%" PRId64, row->kind == CORES ? value / 1000 : value);
  return true;
}

int
berth_limit_apply (const char *what, int64_t value, int64_t fallback, int64_t maximum, int64_t *out,
                   struct berth_error *error)
{
  *out = value == BERTH_UNSET ? fallback : value;
  if (*out >= 1 && *out <= maximum)
    return 0;
  berth_error_set (error, BERTH_E_INVALID_REQUEST, "%s: got %" PRId64 ", want 1 to %" PRId64, what, *out, maximum);
  if (*out < 1)
    berth_error_hint (error, "leave it out to get the default; there is no \"unlimited\"");
  else
    berth_error_hint (error, "the administrator can raise `%s` in [limits] of berth.conf", what);
  return -1;
}

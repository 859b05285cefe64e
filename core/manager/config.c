/* What is in force, and where it came from. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/manager/manager.h"

struct telling
{
  int (*visit) (void *context, const char *section, const char *key, const char *value, const char *origin);
  void *context;
};

static int
tell (const struct telling *telling, const char *section, const char *key, const char *value, const char *origin)
{
  return telling->visit (telling->context, section, key, value != NULL ? value : "",
                         origin != NULL ? origin : "default");
}

static int
tell_host (struct berth_host *host, const struct telling *telling)
{
  const struct
  {
    const char *key;
    const char *value;
    enum berth_origin origin;
  } rows[] = {
    { "config_file", host->config_file, BERTH_ORIGIN_CONFIG },
    { "state_dir", host->state_dir, BERTH_ORIGIN_STATE },
    { "runtime_dir", host->runtime_dir, BERTH_ORIGIN_RUNTIME },
    { "cache_dir", host->cache_dir, BERTH_ORIGIN_CACHE },
    { "owner", host->owner, BERTH_ORIGIN_OWNER },
    { "agent", host->agent, BERTH_ORIGIN_AGENT },
  };
  static const char *const choices[] = { "backends", "backend" };

  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (tell (telling, "berth", rows[i].key, rows[i].value, host->origins[rows[i].origin]) != 0)
      return 1;
  for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
    {
      const char *origin = NULL, *value = berth_registry_choice (host->registry, choices[i], &origin);
      if (tell (telling, "berth", choices[i], value, origin) != 0)
        return 1;
    }
  return 0;
}

int
berth_host_config (struct berth_host *host,
                   int (*visit) (void *context, const char *section, const char *key, const char *value,
                                 const char *origin),
                   void *context, struct berth_error *error)
{
  const struct telling telling = { visit, context };
  const char *section, *key;
  char text[BERTH_STRING_NUMBER_SIZE];

  static const char *const targets[] = { NULL, "file", "journald", "off" };
  char size[BERTH_STRING_NUMBER_SIZE], keep[BERTH_STRING_NUMBER_SIZE];

  (void) error; /* all of it is known since the host was opened */
  if (tell_host (host, &telling) != 0)
    return 0;
  for (size_t i = 0; berth_limit_describe (&host->limits, i, &section, &key, text); i++)
    {
      const char *origin = NULL;
      berth_registry_config (host->registry, section, key, &origin);
      if (tell (&telling, section, key, text, origin) != 0)
        return 0;
    }
  berth_string_from_size ((uint64_t) host->audit.size, size);
  snprintf (keep, sizeof keep, "%" PRId64, host->audit.keep);
  const char *const audit[][2] = { { "to", targets[host->audit.target] },
                                   { "required", host->audit.required ? "yes" : "no" },
                                   { "size", size },
                                   { "keep", keep },
                                   { "socket", host->audit.socket } };
  for (size_t i = 0; i < sizeof audit / sizeof *audit; i++)
    {
      const char *origin = NULL;
      berth_registry_config (host->registry, "audit", audit[i][0], &origin);
      if (tell (&telling, "audit", audit[i][0], audit[i][1], origin) != 0)
        break;
    }
  return 0;
}

#include <stdarg.h>
#include <string.h>

#include "core/manager/directories.h"
#include "core/manager/rebuild.h"

int
berth_no_memory (struct berth_error *error)
{
  return berth_error_set (error, BERTH_E_RESOURCE_EXHAUSTED, "no memory left");
}

int
berth_options_take (void *ours, const void *theirs, struct berth_error *error)
{
  uint32_t own_size, size;

  if (theirs == NULL)
    return 0;
  memcpy (&own_size, ours, sizeof own_size);
  memcpy (&size, theirs, sizeof size);
  if (size < 2 * sizeof size || size > BERTH_ABI_SIZE_MAX)
    return berth_error_set (error, BERTH_E_INVALID_REQUEST,
                            "options of %u bytes: initialise them with their _INIT macro", (unsigned) size);
  memcpy (ours, theirs, size < own_size ? size : own_size);
  memcpy (ours, &own_size, sizeof own_size);
  return 0;
}

void
berth_host_logf (struct berth_host *host, uint32_t level, const char *format, ...)
{
  char line[1024];
  va_list arguments;

  if (host->log == NULL)
    return;
  va_start (arguments, format);
  vsnprintf (line, sizeof line, format, arguments);
  va_end (arguments);
  host->log (host->log_context, level, line);
}

/* ---- opening ---- */

static int
find_agent (struct berth_host *host, struct berth_error *error)
{
  const char *agent = secure_getenv ("BERTH_AGENT");
  bool said = agent != NULL && agent[0] != '\0';

  host->origins[BERTH_ORIGIN_AGENT] = strdup (said ? "environment BERTH_AGENT" : "default");
  host->agent = strdup (said ? agent : BERTH_AGENT_PATH);
  return host->agent != NULL ? 0 : berth_no_memory (error);
}

static int
open_registry (struct berth_host *host, const struct berth_host_options *options, struct berth_config **config,
               struct berth_error *error)
{
  struct berth_registry_options registry = {
    .backend_path = options->backend_path,
    .installed_dir = BERTH_BACKENDDIR,
    .config = BERTH_STEAL_POINTER (*config),
    .state_dir = host->state_dir,
    .runtime_dir = host->runtime_dir,
    .cache_dir = host->cache_dir,
    .agent_path = host->agent,
    .installation_id = berth_store_installation_id (host->store),
    .allow_test_backends = (options->flags & BERTH_HOST_ALLOW_TEST_BACKENDS) != 0,
    .log = host->log,
    .log_context = host->log_context,
  };

  return berth_registry_open (&registry, &host->registry, error);
}

static void
free_config (struct berth_config **config)
{
  berth_config_free (*config);
}

/* ASIDE: NULL, or the database is damaged and a new one is begun. */
static int
open_host (const struct berth_host_options *options, char **aside, struct berth_host **out, struct berth_error *error)
{
  struct berth_host_options ours = BERTH_HOST_OPTIONS_INIT;
  BERTH_CLEANUP (free_config) struct berth_config *config = NULL;
  struct berth_host *host = calloc (1, sizeof *host);

  if (host == NULL)
    return berth_no_memory (error);
  pthread_mutex_init (&host->mutex, NULL);
  if (berth_options_take (&ours, options, error) != 0)
    goto failed;
  host->log = ours.log;
  host->log_context = ours.log_context;
  if (find_agent (host, error) != 0 || berth_directories_find (host, &ours, &config, error) != 0
      || (aside != NULL ? berth_store_rebuild (host->state_dir, &host->store, aside, error)
                        : berth_store_open (host->state_dir, &host->store, error))
             != 0
      || open_registry (host, &ours, &config, error) != 0 || berth_limits_read (host->registry, &host->limits, error) != 0
      || berth_audit_read_settings (host->registry, &host->audit, error) != 0)
    goto failed;
  *out = host;
  return 0;

failed:
  berth_host_close (host);
  return -1;
}

int
berth_host_open (const struct berth_host_options *options, struct berth_host **out, struct berth_error *error)
{
  return open_host (options, NULL, out, error);
}

int
berth_host_rebuild (const struct berth_host_options *options,
                    void (*visit) (void *context, const struct berth_recovery *what), void *context,
                    struct berth_error *error)
{
  BERTH_AUTO_FREE char *aside = NULL;
  struct berth_error local = { 0 };
  struct berth_host *host = NULL;

  if (error == NULL)
    error = &local;
  if (open_host (options, &aside, &host, error) != 0)
    return -1;
  int result = berth_rebuild_records (host, aside, visit, context, error);
  berth_host_close (host);
  return result;
}

void
berth_host_close (struct berth_host *host)
{
  if (host == NULL)
    return;
  if (host->registry != NULL)
    berth_registry_close (host->registry);
  berth_store_close (host->store);
  for (size_t i = 0; i < host->warned_count; i++)
    free (host->warned[i]);
  free (host->warned);
  free (host->state_dir);
  free (host->runtime_dir);
  free (host->cache_dir);
  free (host->config_file);
  free (host->system_config_file);
  for (size_t i = 0; i < BERTH_ORIGINS; i++)
    free (host->origins[i]);
  free (host->agent);
  free (host->audit.socket);
  free (host->owner);
  pthread_mutex_destroy (&host->mutex);
  free (host);
}

const char *
berth_host_fact (struct berth_host *host, const char *key)
{
  const struct
  {
    const char *key;
    const char *value;
  } facts[] = {
    { "state_dir", host->state_dir },
    { "runtime_dir", host->runtime_dir },
    { "config_file", host->config_file },
    { "backend_dir", BERTH_BACKENDDIR },
    { "agent", host->agent },
    { "owner", host->owner },
    { "installation_id", berth_store_installation_id (host->store) },
  };

  for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
    if (strcmp (facts[i].key, key) == 0)
      return facts[i].value;
  return NULL;
}

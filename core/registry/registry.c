#include "core/registry/registry.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/registry/error.h"
#include "core/registry/inside.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/nearest.h"
#include "sdk/base/string.h"

void
berth_registry_log (const struct berth_registry *registry, uint32_t level, const char *format, ...)
{
  BERTH_AUTO_FREE char *line = NULL;
  va_list arguments;

  if (registry->facts.log == NULL)
    return;
  va_start (arguments, format);
  line = berth_string_vformat (format, arguments);
  va_end (arguments);
  if (line != NULL)
    registry->facts.log (registry->facts.log_context, level, line);
}

/* ---- what is enabled ---- */

/* A value of the environment, else of [berth] in berth.conf; its origin is the caller's.  NULL when
 * neither has one. */
static const char *
read_own (const struct berth_registry *registry, const char *variable, const char *key, char **origin)
{
  const struct berth_config_entry *entry = berth_config_entry (berth_config_section (registry->config, "berth"), key);
  const char *text = secure_getenv (variable);

  if (text != NULL && text[0] != '\0')
    {
      *origin = berth_string_format ("environment %s", variable);
      return text;
    }
  if (entry == NULL)
    return NULL;
  *origin = strdup (entry->origin);
  return entry->value;
}

static int
check_own_name (const char *name, const char *origin, struct berth_error *error)
{
  if (berth_name_is_valid (name))
    return 0;
  return berth_error_set (error, BERTH_E_CONFIGURATION,
                          "%s: \"%s\" is not the name of a backend (want [a-z][a-z0-9-]{0,30})",
                          origin != NULL ? origin : "", name);
}

/* Names with commas or white space between them. */
static int
read_enabled (struct berth_registry *registry, struct berth_error *error)
{
  static const char separators[] = ", \t";
  const char *text = read_own (registry, "BERTH_BACKENDS", "backends", &registry->enabled_origin);
  BERTH_AUTO_FREE char *copy = text != NULL ? strdup (text) : NULL;
  size_t count = 0;
  char *rest = NULL;

  if (text == NULL)
    return 0;
  registry->enabled = calloc (strlen (text) / 2 + 2, sizeof *registry->enabled);
  if (copy == NULL || registry->enabled == NULL)
    return berth_error_set (error, BERTH_E_RESOURCE_EXHAUSTED, "no memory for the enabled backends");
  for (char *name = strtok_r (copy, separators, &rest); name != NULL; name = strtok_r (NULL, separators, &rest))
    {
      if (check_own_name (name, registry->enabled_origin, error) < 0)
        return -1;
      registry->enabled[count] = strdup (name);
      if (registry->enabled[count++] == NULL)
        return berth_error_set (error, BERTH_E_RESOURCE_EXHAUSTED, "no memory for the enabled backends");
    }
  return 0;
}

static int
read_default (struct berth_registry *registry, struct berth_error *error)
{
  const char *name = read_own (registry, "BERTH_BACKEND", "backend", &registry->default_origin);

  registry->default_name = strdup (name != NULL ? name : BERTH_DEFAULT_BACKEND);
  if (registry->default_name == NULL)
    return berth_error_set (error, BERTH_E_RESOURCE_EXHAUSTED, "no memory for the default backend");
  return check_own_name (registry->default_name, registry->default_origin, error);
}

int
berth_registry_is_listed (const struct berth_registry *registry, const char *name)
{
  for (size_t i = 0; registry->enabled != NULL && registry->enabled[i] != NULL; i++)
    if (strcmp (registry->enabled[i], name) == 0)
      return 1;
  return registry->enabled == NULL;
}

int
berth_registry_allows (const struct berth_registry *registry, const char *name, const struct berth_backend *backend,
                       struct berth_error *error)
{
  if (!berth_registry_is_listed (registry, name))
    {
      berth_error_set (error, BERTH_E_BACKEND_DISABLED, "backend \"%s\" is installed and not enabled by %s", name,
                       registry->enabled_origin != NULL ? registry->enabled_origin : "the list");
      return -1;
    }
  if ((backend->flags & BERTH_BACKEND_EXECUTES_NOTHING) == 0 || registry->allow_test_backends)
    return 0;
  berth_error_set (error, BERTH_E_BACKEND_DISABLED, "backend \"%s\" executes nothing: it is for tests only", name);
  berth_error_hint (error, "set BERTH_ALLOW_TEST_BACKENDS=1 in a test");
  return -1;
}

/* ---- opening and closing ---- */

static char *
copy_or_null (const char *text, int *failed)
{
  char *copy = text != NULL ? strdup (text) : NULL;

  *failed |= text != NULL && copy == NULL;
  return copy;
}

static int
copy_facts (struct berth_registry_facts *facts, const struct berth_registry_options *options)
{
  const char *agent = options->agent_path != NULL ? options->agent_path : secure_getenv ("BERTH_AGENT");
  int failed = 0;

  facts->state_dir = copy_or_null (options->state_dir, &failed);
  facts->runtime_dir = copy_or_null (options->runtime_dir, &failed);
  facts->cache_dir = copy_or_null (options->cache_dir, &failed);
  facts->agent_path = copy_or_null (agent != NULL && agent[0] != '\0' ? agent : BERTH_AGENT_PATH, &failed);
  facts->installation_id = copy_or_null (options->installation_id != NULL ? options->installation_id : "", &failed);
  facts->log = options->log;
  facts->log_context = options->log_context;
  return failed ? -1 : 0;
}

static int
read_options (struct berth_registry *registry, const struct berth_registry_options *options, struct berth_error *error)
{
  BERTH_AUTO_PROBLEMS struct berth_problems problems = { 0 };
  const char *allow = secure_getenv ("BERTH_ALLOW_TEST_BACKENDS");

  if (copy_facts (&registry->facts, options) < 0
      || berth_search_init (&registry->search, options->backend_path,
                            options->installed_dir != NULL ? options->installed_dir : BERTH_BACKENDDIR, &problems)
             < 0)
    return berth_error_set (error, BERTH_E_RESOURCE_EXHAUSTED, "no memory for the registry");
  for (uint32_t i = 0; i < problems.count; i++)
    berth_registry_log (registry, BERTH_LOG_WARNING, "%s", problems.items[i].text);
  registry->allow_test_backends = options->allow_test_backends || (allow != NULL && strcmp (allow, "1") == 0);
  if ((registry->config == NULL && berth_config_read (options->config_file, &registry->config, error) < 0)
      || read_enabled (registry, error) < 0)
    return -1;
  return read_default (registry, error);
}

int
berth_registry_open (const struct berth_registry_options *options, struct berth_registry **out,
                     struct berth_error *error)
{
  struct berth_registry *registry = calloc (1, sizeof *registry);

  if (registry == NULL)
    {
      berth_config_free (options->config);
      return berth_error_set (error, BERTH_E_RESOURCE_EXHAUSTED, "no memory for the registry");
    }
  registry->config = options->config;
  pthread_mutex_init (&registry->mutex, NULL);
  pthread_cond_init (&registry->changed, NULL);
  if (read_options (registry, options, error) < 0)
    {
      berth_registry_close (registry);
      return -1;
    }
  *out = registry;
  return 0;
}

void
berth_registry_close (struct berth_registry *registry)
{
  if (registry == NULL)
    return;
  berth_slots_free (registry);
  berth_plugins_free (registry);
  for (size_t i = 0; registry->enabled != NULL && registry->enabled[i] != NULL; i++)
    free (registry->enabled[i]);
  free (registry->enabled);
  free (registry->enabled_origin);
  free (registry->default_name);
  free (registry->default_origin);
  berth_search_clear (&registry->search);
  berth_config_free (registry->config);
  free (registry->facts.state_dir);
  free (registry->facts.runtime_dir);
  free (registry->facts.cache_dir);
  free (registry->facts.agent_path);
  free (registry->facts.installation_id);
  pthread_cond_destroy (&registry->changed);
  pthread_mutex_destroy (&registry->mutex);
  free (registry);
}

/* ---- instances ---- */

const char *
berth_registry_default (struct berth_registry *registry)
{
  return registry->default_name;
}

const char *
berth_registry_plugin_name (const struct berth_registry *registry, const char *name)
{
  const struct berth_config_entry *entry
      = berth_config_entry (berth_config_instance (registry->config, name), "plugin");

  return entry != NULL ? entry->value : name;
}

static int
complain_of_missing (struct berth_registry *registry, const char *name, const char *plugin, struct berth_error *error)
{
  BERTH_AUTO_BUFFER struct berth_buffer places = { .limit = 512 };

  for (uint32_t i = 0; i < registry->search.count; i++)
    berth_buffer_appendf (&places, i > 0 ? ", %s" : "%s", registry->search.directories[i]);
  berth_error_set (error, BERTH_E_NOT_FOUND, "backend \"%s\" is not installed (looked for " BERTH_BACKEND_PREFIX
                   "%s" BERTH_BACKEND_SUFFIX " in %s)", name, plugin,
                   places.size > 0 ? berth_buffer_string (&places) : "no directory");
  berth_error_hint (error, "`berth backends` shows what is installed");
  return -1;
}

struct berth_plugin *
berth_registry_plugin (struct berth_registry *registry, const char *name, struct berth_error *error)
{
  const char *plugin_name = berth_registry_plugin_name (registry, name);
  BERTH_AUTO_FREE char *file = berth_search_find (&registry->search, plugin_name);
  struct berth_plugin *plugin;

  if (file == NULL)
    {
      complain_of_missing (registry, name, plugin_name, error);
      return NULL;
    }
  plugin = berth_plugin_get (registry, file, error);
  if (plugin != NULL && plugin->registered == NULL)
    {
      berth_plugin_refusal (plugin, name, error);
      return NULL;
    }
  return plugin;
}

/* Refusals say who wanted it: the one who asked, or who named the default. */
static void
name_asker (struct berth_error *error, const char *who)
{
  size_t length;

  if (error == NULL || who == NULL)
    return;
  length = strlen (error->message);
  snprintf (error->message + length, sizeof error->message - length, " (asked for by %s)", who);
}

int
berth_registry_instance (struct berth_registry *registry, const char *name, const char *who,
                         struct berth_instance **out, struct berth_error *error)
{
  struct berth_slot *slot;

  if (name == NULL)
    {
      name = registry->default_name;
      who = who != NULL ? who : registry->default_origin;
    }
  if (!berth_name_is_valid (name))
    berth_error_set (error, BERTH_E_INVALID_REQUEST, "\"%s\" is not the name of a backend (want [a-z][a-z0-9-]{0,30})", name);
  else if ((slot = berth_slot_get (registry, name, error)) != NULL)
    {
      *out = slot->instance;
      if (slot->instance != NULL)
        return 0;
      if (error != NULL)
        *error = slot->error;
    }
  name_asker (error, who);
  return -1;
}

int
berth_registry_settings (struct berth_registry *registry, const char *instance,
                         int (*visit) (void *context, const char *name, const char *value, const char *origin),
                         void *context, struct berth_error *error)
{
  BERTH_AUTO_PROBLEMS struct berth_problems problems = { 0 };
  const char *name = instance != NULL ? instance : registry->default_name;
  struct berth_settings settings = { 0 };
  struct berth_plugin *plugin;
  int stop = 0;

  if (!berth_name_is_valid (name))
    return berth_error_set (error, BERTH_E_INVALID_REQUEST, "\"%s\" is not the name of a backend", name);
  plugin = berth_registry_plugin (registry, name, error);
  if (plugin == NULL)
    return -1;
  if (berth_settings_read (&settings, berth_registered_backend (plugin->registered), name, registry->config, &problems) < 0)
    return berth_error_set (error, BERTH_E_RESOURCE_EXHAUSTED, "no memory for the settings of \"%s\"", name);
  for (uint32_t i = 0; i < settings.count && stop == 0; i++)
    {
      const struct berth_setting_value *value = &settings.values[i];
      const char *shown = value->text != NULL && (value->flags & BERTH_SETTING_SECRET) != 0 ? BERTH_REDACTED : value->text;

      stop = visit (context, value->name, shown, value->origin != NULL ? value->origin : "");
    }
  berth_settings_clear (&settings);
  return 0;
}

const char *
berth_registry_choice (struct berth_registry *registry, const char *key, const char **origin)
{
  bool is_list = strcmp (key, "backends") == 0;
  BERTH_AUTO_FREE char *where = NULL;

  *origin = is_list ? registry->enabled_origin : registry->default_origin;
  if (is_list)
    return read_own (registry, "BERTH_BACKENDS", "backends", &where);
  return registry->default_name;
}

const char *
berth_registry_config (struct berth_registry *registry, const char *section, const char *key, const char **origin)
{
  const struct berth_config_entry *entry = berth_config_entry (berth_config_section (registry->config, section), key);

  if (entry != NULL && origin != NULL)
    *origin = entry->origin;
  return entry != NULL ? entry->value : NULL;
}

int
berth_registry_config_check (struct berth_registry *registry, const char *section, const char *const *known,
                             struct berth_error *error)
{
  const struct berth_config_section *found = berth_config_section (registry->config, section);

  for (uint32_t i = 0; found != NULL && i < found->count; i++)
    {
      const struct berth_config_entry *entry = &found->entries[i];
      const char *nearest = berth_nearest (entry->key, known);
      const char *const *at = known;

      while (*at != NULL && strcmp (*at, entry->key) != 0)
        at++;
      if (*at != NULL)
        continue;
      berth_error_set (error, BERTH_E_CONFIGURATION, "%s: unknown key \"%s\" in [%s]%s%s%s", entry->origin, entry->key,
                       section, nearest != NULL ? ", did you mean \"" : "", nearest != NULL ? nearest : "",
                       nearest != NULL ? "\"?" : "");
      berth_error_hint (error, "correct the file");
      return -1;
    }
  return 0;
}

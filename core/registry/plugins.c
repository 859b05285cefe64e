/* Backend files, each loaded once per registry. */
#include <stdlib.h>
#include <string.h>

#include "core/registry/error.h"
#include "core/registry/inside.h"
#include "core/registry/load.h"

int
berth_work_begin_locked (struct berth_registry *registry, struct berth_work *work)
{
  if (work->started && !work->done && pthread_equal (work->by, pthread_self ()))
    return -1;
  while (work->started && !work->done)
    pthread_cond_wait (&registry->changed, &registry->mutex);
  if (work->done)
    return 0;
  work->started = 1;
  work->by = pthread_self ();
  return 1;
}

void
berth_work_end (struct berth_registry *registry, struct berth_work *work)
{
  pthread_mutex_lock (&registry->mutex);
  work->done = 1;
  pthread_cond_broadcast (&registry->changed);
  pthread_mutex_unlock (&registry->mutex);
}

static struct berth_plugin *
find_plugin_locked (struct berth_registry *registry, const char *file)
{
  struct berth_plugin *plugin = registry->plugins;

  while (plugin != NULL && strcmp (plugin->file, file) != 0)
    plugin = plugin->next;
  if (plugin != NULL)
    return plugin;
  plugin = calloc (1, sizeof *plugin);
  if (plugin == NULL || (plugin->file = strdup (file)) == NULL)
    {
      free (plugin);
      return NULL;
    }
  plugin->next = registry->plugins;
  registry->plugins = plugin;
  return plugin;
}

static void
load_plugin (struct berth_registry *registry, struct berth_plugin *plugin)
{
  berth_load (plugin->file, &plugin->registered, &plugin->problems, &plugin->warnings);
  for (uint32_t i = 0; i < plugin->warnings.count; i++)
    berth_registry_log (registry, BERTH_LOG_DEBUG, "%s: %s", plugin->file, plugin->warnings.items[i].text);
}

struct berth_plugin *
berth_plugin_get (struct berth_registry *registry, const char *file, struct berth_error *error)
{
  struct berth_plugin *plugin;
  int mine = 0;

  pthread_mutex_lock (&registry->mutex);
  plugin = find_plugin_locked (registry, file);
  if (plugin != NULL)
    mine = berth_work_begin_locked (registry, &plugin->work);
  pthread_mutex_unlock (&registry->mutex);
  if (plugin == NULL)
    berth_error_set (error, BERTH_E_RESOURCE_EXHAUSTED, "no memory for backend file %s", file);
  else if (mine < 0)
    {
      berth_error_set (error, BERTH_E_CONFLICT, "%s is just being loaded by this thread", file);
      return NULL;
    }
  else if (mine > 0)
    {
      load_plugin (registry, plugin);
      berth_work_end (registry, &plugin->work);
    }
  return plugin;
}

int
berth_plugin_refusal (const struct berth_plugin *plugin, const char *name, struct berth_error *error)
{
  BERTH_AUTO_BUFFER struct berth_buffer what = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer remedies = { 0 };

  berth_problems_describe (&plugin->problems, sizeof error->message - 256, &what);
  berth_problems_remedies (&plugin->problems, sizeof error->hint - 1, &remedies);
  berth_error_set (error, BERTH_E_CONFIGURATION, "backend \"%s\" is refused: %s: %s", name, plugin->file,
                   berth_buffer_string (&what));
  if (remedies.size > 0)
    berth_error_hint (error, "%s", berth_buffer_string (&remedies));
  return -1;
}

void
berth_plugins_free (struct berth_registry *registry)
{
  struct berth_plugin *next;

  for (struct berth_plugin *plugin = registry->plugins; plugin != NULL; plugin = next)
    {
      next = plugin->next;
      berth_registered_free (plugin->registered);
      berth_problems_clear (&plugin->problems);
      berth_problems_clear (&plugin->warnings);
      free (plugin->file);
      free (plugin);
    }
  registry->plugins = NULL;
}

/* Instances, each opened once per registry, at its first use. */
#include <stdlib.h>
#include <string.h>

#include "core/registry/error.h"
#include "core/registry/inside.h"
#include "sdk/base/cleanup.h"

static struct berth_slot *
find_slot_locked (struct berth_registry *registry, const char *name)
{
  struct berth_slot *slot = registry->slots;

  while (slot != NULL && strcmp (slot->name, name) != 0)
    slot = slot->next;
  if (slot != NULL)
    return slot;
  slot = calloc (1, sizeof *slot);
  if (slot == NULL || (slot->name = strdup (name)) == NULL)
    {
      free (slot);
      return NULL;
    }
  slot->next = registry->slots;
  registry->slots = slot;
  return slot;
}

/* The settings of the instance, or what is wrong with them. */
static int
read_settings (struct berth_registry *registry, struct berth_slot *slot, const struct berth_backend *backend,
               struct berth_settings *settings)
{
  BERTH_AUTO_BUFFER struct berth_buffer what = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer remedies = { 0 };

  if (berth_settings_read (settings, backend, slot->name, registry->config, &slot->problems) < 0)
    return berth_error_set (&slot->error, BERTH_E_RESOURCE_EXHAUSTED, "no memory for the settings of \"%s\"", slot->name);
  if (!berth_problems_any (&slot->problems))
    return 0;
  berth_problems_describe (&slot->problems, sizeof slot->error.message - 256, &what);
  berth_problems_remedies (&slot->problems, sizeof slot->error.hint - 1, &remedies);
  berth_error_set (&slot->error, BERTH_E_CONFIGURATION, "backend \"%s\" is not configured: %s", slot->name,
                   berth_buffer_string (&what));
  if (remedies.size > 0)
    berth_error_hint (&slot->error, "%s", berth_buffer_string (&remedies));
  return -1;
}

static void
open_slot (struct berth_registry *registry, struct berth_slot *slot)
{
  struct berth_plugin *plugin = berth_registry_plugin (registry, slot->name, &slot->error);
  struct berth_settings settings = { 0 };
  const struct berth_backend *backend;

  if (plugin == NULL)
    return;
  backend = berth_registered_backend (plugin->registered);
  if (berth_registry_allows (registry, slot->name, backend, &slot->error) < 0
      || read_settings (registry, slot, backend, &settings) < 0)
    {
      berth_settings_clear (&settings);
      return;
    }
  berth_instance_open (&registry->facts, slot->name, plugin->registered, &settings, &slot->instance, &slot->error);
}

struct berth_slot *
berth_slot_get (struct berth_registry *registry, const char *name, struct berth_error *error)
{
  struct berth_slot *slot;
  int mine = 0;

  pthread_mutex_lock (&registry->mutex);
  slot = find_slot_locked (registry, name);
  if (slot != NULL)
    mine = berth_work_begin_locked (registry, &slot->work);
  pthread_mutex_unlock (&registry->mutex);
  if (slot == NULL)
    berth_error_set (error, BERTH_E_RESOURCE_EXHAUSTED, "no memory for backend \"%s\"", name);
  else if (mine < 0)
    {
      berth_error_set (error, BERTH_E_CONFLICT, "backend \"%s\" is just being opened by this thread", name);
      return NULL;
    }
  else if (mine > 0)
    {
      open_slot (registry, slot);
      snprintf (slot->error.backend, sizeof slot->error.backend, "%s", slot->name);
      berth_work_end (registry, &slot->work);
    }
  return slot;
}

void
berth_slots_free (struct berth_registry *registry)
{
  struct berth_slot *next;

  for (struct berth_slot *slot = registry->slots; slot != NULL; slot = next)
    {
      next = slot->next;
      berth_instance_close (slot->instance);
      berth_problems_clear (&slot->problems);
      free (slot->name);
      free (slot);
    }
  registry->slots = NULL;
}

/* Every backend and instance, for those who want to see them all. */
#include <stdlib.h>
#include <string.h>

#include "core/registry/error.h"
#include "core/registry/inside.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/string.h"

/* An instance that is installed, configured or enabled; or a second file of a name. */
struct entry
{
  char *name;
  char *file;  /* NULL: none */
  char *taken; /* the file that has the name already; NULL: this one has it */
};

struct entries
{
  struct berth_registry *registry;
  struct entry *items;
  uint32_t count;
};

static struct entry *
find_entry (struct entries *entries, const char *name)
{
  for (uint32_t i = 0; i < entries->count; i++)
    if (entries->items[i].taken == NULL && strcmp (entries->items[i].name, name) == 0)
      return &entries->items[i];
  return NULL;
}

static int
add_entry (struct entries *entries, const char *name, const char *file, const char *taken)
{
  struct entry *items = reallocarray (entries->items, entries->count + 1, sizeof *items), *entry;

  if (items == NULL)
    return -1;
  entries->items = items;
  entry = &items[entries->count++];
  entry->name = strdup (name);
  entry->file = file != NULL ? strdup (file) : NULL;
  entry->taken = taken != NULL ? strdup (taken) : NULL;
  return entry->name != NULL && (entry->file != NULL) == (file != NULL) && (entry->taken != NULL) == (taken != NULL) ? 0 : -1;
}

static int
add_file (void *context, const char *name, const char *file)
{
  struct entries *entries = context;
  const struct entry *same = find_entry (entries, name);

  return add_entry (entries, name, file, same != NULL ? same->file : NULL);
}

static void
skip_file (void *context, const char *directory, const char *entry)
{
  const struct entries *entries = context;

  berth_registry_log (entries->registry, BERTH_LOG_DEBUG, "%s/%s is not named like a backend and is left out", directory,
                      entry);
}

/* An instance of a name of its own gets the file of its plugin. */
static int
add_named (struct entries *entries, const char *name)
{
  const char *plugin = berth_registry_plugin_name (entries->registry, name);
  BERTH_AUTO_FREE char *file = berth_search_find (&entries->registry->search, plugin);
  struct entry *same = find_entry (entries, name);

  if (same == NULL)
    return add_entry (entries, name, file, NULL);
  if (strcmp (plugin, name) == 0)
    return 0;
  free (same->file);
  same->file = BERTH_STEAL_POINTER (file);
  return 0;
}

static int
compare_entries (const void *left, const void *right)
{
  const struct entry *a = left, *b = right;
  int order = strcmp (a->name, b->name);

  return order != 0 ? order : (a->taken != NULL) - (b->taken != NULL);
}

static int
collect (struct entries *entries)
{
  struct berth_registry *registry = entries->registry;

  if (berth_search_list (&registry->search, add_file, skip_file, entries) < 0)
    return -1;
  for (uint32_t i = 0; i < registry->config->count; i++)
    {
      const char *name = berth_config_instance_name (&registry->config->sections[i]);

      if (name != NULL && add_named (entries, name) < 0)
        return -1;
    }
  for (size_t i = 0; registry->enabled != NULL && registry->enabled[i] != NULL; i++)
    if (add_named (entries, registry->enabled[i]) < 0)
      return -1;
  if (registry->default_origin != NULL && add_named (entries, registry->default_name) < 0)
    return -1;
  if (entries->count > 0)
    qsort (entries->items, entries->count, sizeof *entries->items, compare_entries);
  return 0;
}

static void
free_entries (struct entries *entries)
{
  for (uint32_t i = 0; i < entries->count; i++)
    {
      free (entries->items[i].name);
      free (entries->items[i].file);
      free (entries->items[i].taken);
    }
  free (entries->items);
}

/* What is wrong and what is odd with one entry, beside what its plugin has. */
struct findings
{
  struct berth_problems problems;
  struct berth_problems warnings;
};

static void
take_backend (struct berth_backend_info *info, const struct berth_backend *backend)
{
  info->plugin = backend->name;
  info->version = backend->version;
  info->summary = backend->summary;
  info->capabilities = backend->capabilities;
  info->claims = backend->claims;
  info->settings = backend->settings;
  info->abi_major = backend->abi.abi_major;
  info->abi_minor = backend->abi.abi_minor;
  info->concurrency = backend->concurrency;
  info->executes_nothing = (backend->flags & BERTH_BACKEND_EXECUTES_NOTHING) != 0;
}

static void
copy_problems (struct berth_problems *to, const struct berth_problems *from)
{
  for (uint32_t i = 0; i < from->count; i++)
    berth_problem (to, from->items[i].remedy, "%s", from->items[i].what);
  to->dropped += from->dropped;
}

static void
judge_instance (struct berth_registry *registry, const struct entry *entry, struct berth_backend_info *info,
                struct findings *findings)
{
  struct berth_error error = { 0 };
  struct berth_slot *slot = berth_slot_get (registry, entry->name, &error);

  info->status = slot != NULL && slot->instance != NULL ? BERTH_BACKEND_READY : BERTH_BACKEND_MISCONFIGURED;
  if (slot == NULL)
    berth_problem (&findings->problems, NULL, "%s", error.message);
  else if (slot->instance == NULL && berth_problems_any (&slot->problems))
    copy_problems (&findings->problems, &slot->problems);
  else if (slot->instance == NULL)
    berth_problem (&findings->problems, slot->error.hint[0] != '\0' ? slot->error.hint : NULL, "%s", slot->error.message);
}

static void
judge_plugin (struct berth_registry *registry, const struct entry *entry, struct berth_backend_info *info,
              struct findings *findings)
{
  struct berth_error error = { 0 };
  struct berth_plugin *plugin = berth_plugin_get (registry, entry->file, &error);
  const struct berth_backend *backend;

  info->status = BERTH_BACKEND_REFUSED;
  if (plugin == NULL)
    {
      berth_problem (&findings->problems, NULL, "%s", error.message);
      return;
    }
  copy_problems (&findings->problems, &plugin->problems);
  copy_problems (&findings->warnings, &plugin->warnings);
  if (plugin->registered == NULL)
    return;
  backend = berth_registered_backend (plugin->registered);
  take_backend (info, backend);
  if (berth_registry_allows (registry, entry->name, backend, &error) == 0)
    {
      judge_instance (registry, entry, info, findings);
      return;
    }
  info->status = BERTH_BACKEND_DISABLED;
  berth_owned_settings (backend, entry->name, &findings->warnings);
}

static void
judge (struct berth_registry *registry, const struct entry *entry, struct berth_backend_info *info,
       struct findings *findings)
{
  info->struct_size = sizeof *info;
  info->name = entry->name;
  info->file = entry->file;
  info->plugin = berth_registry_plugin_name (registry, entry->name);
  info->is_default = entry->taken == NULL && strcmp (entry->name, registry->default_name) == 0;
  if (entry->taken != NULL)
    {
      info->status = BERTH_BACKEND_REFUSED;
      berth_problem (&findings->problems, "remove one of the two files", "the name \"%s\" is taken by %s", entry->name,
                     entry->taken);
    }
  else if (entry->file == NULL)
    {
      info->status = BERTH_BACKEND_MISSING;
      berth_problem (&findings->problems, "install it, or take it out of the configuration", "backend \"%s\" is not installed",
                     info->plugin);
    }
  else
    judge_plugin (registry, entry, info, findings);
}

/* The texts of LIST as an array, which the caller frees; NULL for none. */
static const char **
texts_of (const struct berth_problems *list)
{
  const char **texts = list->count > 0 ? calloc (list->count, sizeof *texts) : NULL;

  for (uint32_t i = 0; texts != NULL && i < list->count; i++)
    texts[i] = list->items[i].text;
  return texts;
}

static int
tell (struct berth_registry *registry, const struct entry *entry,
      int (*visit) (void *context, const struct berth_backend_info *info), void *context)
{
  struct berth_backend_info info = { 0 };
  struct findings findings = { 0 };
  const char **problems, **warnings;
  int result;

  judge (registry, entry, &info, &findings);
  problems = texts_of (&findings.problems);
  warnings = texts_of (&findings.warnings);
  info.problems = problems;
  info.problem_count = problems != NULL ? findings.problems.count : 0;
  info.warnings = warnings;
  info.warning_count = warnings != NULL ? findings.warnings.count : 0;
  result = visit (context, &info);
  free (problems);
  free (warnings);
  berth_problems_clear (&findings.problems);
  berth_problems_clear (&findings.warnings);
  return result;
}

int
berth_registry_scan (struct berth_registry *registry, int (*visit) (void *context, const struct berth_backend_info *info),
                     void *context, struct berth_error *error)
{
  struct entries entries = { .registry = registry };
  int result = collect (&entries);

  if (result < 0)
    berth_error_set (error, BERTH_E_RESOURCE_EXHAUSTED, "no memory for the list of backends");
  for (uint32_t i = 0; i < entries.count && result == 0; i++)
    result = tell (registry, &entries.items[i], visit, context) != 0;
  free_entries (&entries);
  return result < 0 ? -1 : 0;
}

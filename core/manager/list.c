#include <string.h>

#include "core/manager/info.h"
#include "core/manager/inventory.h"
#include "core/manager/sweep.h"

/* What each backend sees, asked once however many sandboxes it has. */
struct view
{
  char *backend;
  struct berth_sightings sightings;
};
struct views
{
  struct view *items;
  size_t count;
};

static void
views_clear (struct views *views)
{
  for (size_t i = 0; i < views->count; i++)
    {
      free (views->items[i].backend);
      berth_sightings_clear (&views->items[i].sightings);
    }
  free (views->items);
}

/* One that cannot be opened (disabled, refused) is one that cannot be asked. */
static const struct berth_sightings *
view_of (struct berth_host *host, struct views *views, const char *backend, struct berth_error *error)
{
  struct berth_instance *instance = NULL;

  for (size_t i = 0; i < views->count; i++)
    if (strcmp (views->items[i].backend, backend) == 0)
      return &views->items[i].sightings;
  struct view *more = realloc (views->items, (views->count + 1) * sizeof *more);
  char *name = strdup (backend);
  if (more != NULL)
    views->items = more;
  if (more == NULL || name == NULL)
    {
      free (name);
      berth_no_memory (error);
      return NULL;
    }
  more[views->count] = (struct view) { .backend = name };
  if (berth_registry_instance (host->registry, backend, "the list of sandboxes", &instance, NULL) == 0)
    berth_sightings_read (instance, &more[views->count].sightings);
  return &more[views->count++].sightings;
}

/* 1 stop, 0 go on, -1. */
static int
tell (struct berth_host *host, struct views *views, const char *id, const struct berth_list_options *options,
      int (*visit) (void *context, const struct berth_sandbox_info *info), void *context, struct berth_error *error)
{
  BERTH_AUTO_RECORD struct berth_record record = { 0 };
  struct berth_error missing = { 0 };
  struct berth_sandbox_info info;

  if (berth_store_load (host->store, id, BERTH_STORE_PAIRS, &record, &missing) != 0)
    {
      /* destroyed since the list was read */
      if (missing.code == BERTH_E_SANDBOX_NOT_FOUND)
        return 0;
      if (error != NULL)
        *error = missing;
      return -1;
    }
  if (!berth_labels_match (&record.labels, options->labels, options->label_count))
    return 0;
  const struct berth_sightings *sightings = view_of (host, views, record.backend, error);
  if (sightings == NULL)
    return -1;
  berth_info_fill (host, &record, berth_info_state (host, &record, sightings), &info);
  return visit (context, &info) != 0 ? 1 : 0;
}

int
berth_sandbox_list (struct berth_host *host, const struct berth_list_options *options,
                    int (*visit) (void *context, const struct berth_sandbox_info *info), void *context,
                    struct berth_error *error)
{
  struct berth_list_options ours = BERTH_LIST_OPTIONS_INIT;
  BERTH_AUTO_IDS struct berth_store_ids ids = { 0 };
  BERTH_CLEANUP (views_clear) struct views views = { 0 };
  int result = 0;

  if (berth_options_take (&ours, options, error) != 0)
    return -1;
  berth_sweep (host);
  if (berth_store_list (host->store, ours.all_owners != 0 ? NULL : host->owner, ours.backend, &ids, error) != 0)
    return -1;
  for (size_t i = 0; result == 0 && i < ids.count; i++)
    result = tell (host, &views, ids.items[i], &ours, visit, context, error);
  return result < 0 ? -1 : 0;
}

#include "core/manager/inventory.h"

#include <string.h>

#include "core/manager/ids.h"
#include "sdk/base/string.h"

struct berth_ownership
berth_ownership_of (const struct berth_host *host, const struct berth_found *found)
{
  if ((found->has & BERTH_FOUND_LABELS) == 0)
    return (struct berth_ownership) { BERTH_NOT_KNOWN };
  if (found->installation_id == NULL || found->sandbox_id == NULL
      || !berth_id_is_valid (found->sandbox_id, "sb-", BERTH_ID_CHARACTERS))
    return (struct berth_ownership) { BERTH_UNCLAIMED };
  bool mine = strcmp (found->installation_id, berth_store_installation_id (host->store)) == 0;
  return (struct berth_ownership) { mine ? BERTH_MINE : BERTH_FOREIGN };
}

const char *
berth_pairs_value (const struct berth_record_pairs *pairs, const char *name)
{
  for (uint64_t i = 0; i < pairs->count; i++)
    if (strcmp (pairs->items[i].name, name) == 0)
      return pairs->items[i].value;
  return NULL;
}

bool
berth_labels_match (const struct berth_record_pairs *labels, const struct berth_pair *wanted, uint64_t count)
{
  for (uint64_t i = 0; i < count; i++)
    {
      const char *value = berth_pairs_value (labels, wanted[i].name);
      if (value == NULL || (wanted[i].value != NULL && strcmp (value, wanted[i].value) != 0))
        return false;
    }
  return true;
}

void
berth_names_clear (struct berth_names *names)
{
  for (size_t i = 0; i < names->count; i++)
    free (names->items[i]);
  free (names->items);
  *names = (struct berth_names) { 0 };
}

static int
take_name (void *context, const struct berth_backend_info *info)
{
  struct berth_names *names = context;
  char **more = NULL;

  if (info->status == BERTH_BACKEND_DISABLED || info->status == BERTH_BACKEND_REFUSED)
    return 0;
  if ((more = realloc (names->items, (names->count + 1) * sizeof *more)) == NULL)
    return 0;
  names->items = more;
  if ((more[names->count] = strdup (info->name)) != NULL)
    names->count++;
  return 0;
}

int
berth_names_of_backends (struct berth_host *host, struct berth_names *out, struct berth_error *error)
{
  return berth_registry_scan (host->registry, take_name, out, error);
}

static void
seen_clear (struct berth_seen *seen)
{
  free (seen->native_id);
  free (seen->sandbox_id);
  free (seen->assignment_id);
  berth_record_clear_pairs (&seen->metadata);
}

void
berth_inventory_clear (struct berth_inventory *inventory)
{
  for (size_t i = 0; i < inventory->count; i++)
    seen_clear (&inventory->items[i]);
  free (inventory->items);
  *inventory = (struct berth_inventory) { 0 };
}

/* ---- reading ---- */

struct reading
{
  struct berth_host *host;
  struct berth_inventory *out;
  struct berth_host_call *call;
  bool only_mine;
};

/* -1 without memory. */
static int
copy (const struct berth_found *found, struct berth_ownership ownership, struct berth_seen *seen)
{
  bool mine = ownership.claimant == BERTH_MINE;

  *seen = (struct berth_seen) {
    .native_id = strdup (found->native_id),
    .sandbox_id = mine ? strdup (found->sandbox_id) : NULL,
    .assignment_id = mine ? strdup (found->assignment_id != NULL ? found->assignment_id : "") : NULL,
    .ownership = ownership,
    .life = found->life,
    .partial = (found->has & BERTH_FOUND_PARTIAL) != 0,
    .created_wall_ms = (found->has & BERTH_FOUND_CREATED) != 0 ? found->created_wall_ms : 0,
  };
  if ((found->has & BERTH_FOUND_EXPIRY) != 0)
    seen->expiry = found->expiry;
  if (mine && (found->has & BERTH_FOUND_METADATA) != 0
      && berth_record_set_pairs (&seen->metadata, found->metadata, found->metadata_count) != 0)
    return -1;
  return seen->native_id == NULL || (mine && (seen->sandbox_id == NULL || seen->assignment_id == NULL)) ? -1 : 0;
}

static int
take_found (void *context, const struct berth_found *told)
{
  struct reading *reading = context;
  struct berth_found found = { 0 };

  memcpy (&found, told, told->struct_size < sizeof found ? told->struct_size : sizeof found);
  if (!berth_native_id_is_valid (found.native_id))
    return berth_host_call_fail (reading->call, BERTH_E_INTERNAL, "the backend told a native id that is none");
  struct berth_ownership ownership = berth_ownership_of (reading->host, &found);
  if (reading->only_mine && ownership.claimant != BERTH_MINE)
    return 0;
  struct berth_seen *more = realloc (reading->out->items, (reading->out->count + 1) * sizeof *more);
  if (more == NULL)
    return berth_host_call_fail (reading->call, BERTH_E_RESOURCE_EXHAUSTED, "no memory left");
  reading->out->items = more;
  if (copy (&found, ownership, &more[reading->out->count++]) != 0)
    return berth_host_call_fail (reading->call, BERTH_E_RESOURCE_EXHAUSTED, "no memory left");
  return 0;
}

int
berth_inventory_read (struct berth_host *host, struct berth_instance *instance, int64_t milliseconds,
                      struct berth_inventory *out, struct berth_error *error)
{
  struct berth_manager_call call;
  struct reading reading = { host, out, &call.host, false };
  struct berth_found_sink sink = { .struct_size = sizeof sink, .context = &reading, .found = take_found };

  berth_call_begin (&call, instance, NULL, NULL, milliseconds);
  int result = berth_call_backend (&call)->lifecycle->list_ids (&call.host.call, berth_instance_state (instance), &sink);
  return berth_call_end (&call, result, error);
}

int
berth_inventory_find (struct berth_host *host, struct berth_instance *instance, const char *assignment_id,
                      int64_t milliseconds, struct berth_inventory *out, struct berth_error *error)
{
  struct berth_manager_call call;
  struct reading reading = { host, out, &call.host, true };
  struct berth_found_sink sink = { .struct_size = sizeof sink, .context = &reading, .found = take_found };

  if (berth_require_capability (berth_instance_name (instance), berth_instance_capabilities (instance),
                                BERTH_CAP_CORRELATED_CREATE, error)
      != 0)
    return -1;
  berth_call_begin (&call, instance, NULL, NULL, milliseconds);
  int result = berth_call_backend (&call)->correlation->find_by_assignment (
      &call.host.call, berth_instance_state (instance), assignment_id, &sink);
  return berth_call_end (&call, result, error);
}

int
berth_inventory_look (struct berth_host *host, struct berth_instance *instance, const char *assignment_id,
                      struct berth_inventory *out, struct berth_error *error)
{
  struct berth_error failed = { 0 };

  if (berth_inventory_find (host, instance, assignment_id, BERTH_CONTROL_MS, out, &failed) == 0)
    return 1;
  if (failed.code == BERTH_E_CAPABILITY_NOT_SUPPORTED)
    return berth_inventory_read (host, instance, BERTH_CONTROL_MS, out, error);
  if (error != NULL)
    *error = failed;
  return -1;
}

bool
berth_inventory_is_of (const struct berth_seen *seen, const struct berth_record *record)
{
  return seen->ownership.claimant == BERTH_MINE && strcmp (seen->sandbox_id, record->id) == 0;
}

int
berth_inventory_write_down (struct berth_host *host, const struct berth_seen *seen, int64_t generation,
                            struct berth_record *record, struct berth_error *error)
{
  const struct berth_record_native native = { seen->native_id, seen->assignment_id, generation, NULL, 0 };

  if (berth_store_add_native (host->store, record->id, &native, error) != 0)
    return -1;
  return berth_record_add_native (record, native.id, native.assignment_id, generation, NULL, 0) != 0 ? berth_no_memory (error) : 0;
}

/* Without INVENTORY it is one of all. */
static int
pick (struct berth_host *host, struct berth_instance *instance, const char *native_id, struct berth_inventory *out,
      struct berth_error *error)
{
  BERTH_AUTO_INVENTORY struct berth_inventory all = { 0 };

  if (berth_inventory_read (host, instance, BERTH_CONTROL_MS, &all, error) != 0)
    return -1;
  for (size_t i = 0; i < all.count; i++)
    if (strcmp (all.items[i].native_id, native_id) == 0)
      {
        if ((out->items = malloc (sizeof *out->items)) == NULL)
          return berth_no_memory (error);
        out->items[out->count++] = all.items[i];
        all.items[i] = (struct berth_seen) { 0 };
        return 1;
      }
  return 0;
}

int
berth_inventory_describe (struct berth_host *host, struct berth_instance *instance,
                          const struct berth_record_native *native, struct berth_inventory *out,
                          struct berth_error *error)
{
  struct berth_manager_call call;
  struct reading reading = { host, out, &call.host, false };
  struct berth_found_sink sink = { .struct_size = sizeof sink, .context = &reading, .found = take_found };
  struct berth_native named = berth_native_of (instance, native);
  struct berth_error failed = { 0 };

  if (berth_instance_backend (instance)->inventory == NULL)
    return pick (host, instance, native->id, out, error);
  berth_call_begin (&call, instance, named.id, NULL, BERTH_CONTROL_MS);
  int result = berth_call_backend (&call)->inventory->describe (&call.host.call, berth_instance_state (instance), &named,
                                                                &sink);
  if (berth_call_end (&call, result, &failed) == 0)
    return out->count > 0 ? 1 : 0;
  if (failed.code == BERTH_E_SANDBOX_NOT_FOUND)
    return 0;
  if (failed.code == BERTH_E_CAPABILITY_NOT_SUPPORTED)
    return pick (host, instance, native->id, out, error);
  if (error != NULL)
    *error = failed;
  return -1;
}

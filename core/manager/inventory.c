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

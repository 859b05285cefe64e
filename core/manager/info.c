#include "core/manager/info.h"

#include <string.h>

#include "core/manager/expiry.h"
#include "core/manager/still.h"

static int
add_sighting (void *context, const struct berth_found *found)
{
  struct berth_sightings *sightings = context;
  struct berth_sighting *more = realloc (sightings->items, (sightings->count + 1) * sizeof *more);

  if (more == NULL)
    return -1;
  sightings->items = more;
  more[sightings->count] = (struct berth_sighting) { strdup (found->native_id), found->life };
  if (more[sightings->count].native_id == NULL)
    return -1;
  sightings->count++;
  return 0;
}

static int
by_native_id (const void *left, const void *right)
{
  return strcmp (((const struct berth_sighting *) left)->native_id, ((const struct berth_sighting *) right)->native_id);
}

void
berth_sightings_read (struct berth_instance *instance, struct berth_sightings *out)
{
  struct berth_manager_call call;
  struct berth_found_sink sink = { .struct_size = sizeof sink, .context = out, .found = add_sighting };

  berth_call_begin (&call, instance, NULL, NULL, BERTH_CONTROL_MS);
  int result = berth_call_backend (&call)->lifecycle->list_ids (&call.host.call, berth_instance_state (instance), &sink);
  out->reached = berth_call_end (&call, result, NULL) == 0;
  if (out->count > 1)
    qsort (out->items, out->count, sizeof *out->items, by_native_id);
}

void
berth_sightings_read_one (struct berth_instance *instance, const struct berth_record_native *native, struct berth_sightings *out)
{
  struct berth_manager_call call;
  struct berth_found_sink sink = { .struct_size = sizeof sink, .context = out, .found = add_sighting };
  struct berth_error failed = { 0 };

  if (native == NULL || berth_instance_backend (instance)->inventory == NULL)
    {
      berth_sightings_read (instance, out);
      return;
    }
  struct berth_native named = berth_native_of (instance, native);
  berth_call_begin (&call, instance, named.id, NULL, BERTH_CONTROL_MS);
  int result = berth_call_backend (&call)->inventory->describe (&call.host.call, berth_instance_state (instance), &named, &sink);
  out->reached = berth_call_end (&call, result, &failed) == 0 || failed.code == BERTH_E_SANDBOX_NOT_FOUND;
  if (failed.code == BERTH_E_CAPABILITY_NOT_SUPPORTED)
    berth_sightings_read (instance, out);
}

void
berth_sightings_clear (struct berth_sightings *sightings)
{
  for (size_t i = 0; i < sightings->count; i++)
    free (sightings->items[i].native_id);
  free (sightings->items);
  *sightings = (struct berth_sightings) { 0 };
}

static const char *
life_name (uint32_t life)
{
  switch (life)
    {
    case BERTH_LIFE_CREATING:
      return "creating";
    case BERTH_LIFE_RUNNING:
      return "running";
    case BERTH_LIFE_PAUSED:
      return "paused";
    case BERTH_LIFE_STOPPED:
      return "stopped";
    case BERTH_LIFE_ENDING:
      return "destroying";
    default:
      return "failed";
    }
}

const char *
berth_info_state (struct berth_host *host, const struct berth_record *record, const struct berth_sightings *sightings)
{
  const struct berth_record_native *native = berth_record_current (record);

  /* what the host is in the middle of, only the host knows */
  if (record->state == BERTH_RECORD_CREATING || record->state == BERTH_RECORD_DESTROYING)
    return berth_record_state_name (record->state);
  /* proven gone, on a disk that was too full to say so */
  if (native == NULL)
    return berth_record_state_name (BERTH_RECORD_DESTROYING);
  if (!sightings->reached)
    return "unreachable";
  struct berth_sighting wanted = { native->id, 0 };
  const struct berth_sighting *seen = sightings->count > 0 ? bsearch (&wanted, sightings->items, sightings->count,
                                                                      sizeof wanted, by_native_id)
                                                           : NULL;
  if (seen == NULL)
    return "failed";
  /* held for a snapshot it runs, to everybody else */
  if (seen->life == BERTH_LIFE_PAUSED && record->state == BERTH_RECORD_RUNNING && berth_still_is_held (host, record->id))
    return life_name (BERTH_LIFE_RUNNING);
  return life_name (seen->life);
}

void
berth_info_fill (struct berth_host *host, const struct berth_record *record, const char *state,
                 struct berth_sandbox_info *info)
{
  const struct berth_record_native *native = berth_record_current (record);

  *info = (struct berth_sandbox_info) {
    .struct_size = sizeof *info,
    .tier = (uint32_t) record->tier,
    .id = record->id,
    .name = record->name,
    .owner = record->owner,
    .backend = record->backend,
    .state = state,
    .image = record->image,
    .native_id = native != NULL ? native->id : NULL,
    .runtime = record->runtime,
    .evidence_url = record->evidence_url,
    .evidence_date = record->evidence_date,
    .labels = record->labels.items,
    .label_count = record->labels.count,
    .environment = record->environment.items,
    .environment_count = record->environment.count,
    .capabilities = (uint64_t) record->capabilities,
    .enforced = (uint64_t) record->enforced,
    .posture = (uint64_t) record->posture,
    .created_wall_ms = record->created_wall_ms,
    .expiry = berth_expiry_tell (record),
    .memory_bytes = (uint64_t) record->memory_bytes,
    .disk_bytes = (uint64_t) record->disk_bytes,
    .tmp_bytes = (uint64_t) record->tmp_bytes,
    .shm_bytes = (uint64_t) record->shm_bytes,
    .file_size_bytes = (uint64_t) record->file_size_bytes,
    .cpu_milli = (uint32_t) record->cpu_milli,
    .pids = (uint32_t) record->pids,
    .open_files = (uint32_t) record->open_files,
    .network_default = (uint32_t) record->network_default,
    .idle_ms = record->idle_ms,
    .idle_action = (uint32_t) record->idle_action,
    .idle_resume = (uint32_t) record->idle_resume,
    .unused_ms = record->idle_action > BERTH_IDLE_KEEP && record->state == BERTH_RECORD_RUNNING
                     ? berth_use_unused_ms (host, record->id)
                     : -1,
  };
}

static int
take_policy (void *context, const struct berth_policy *policy)
{
  *(uint32_t *) context = policy->default_action;
  return 0;
}

void
berth_info_read_network (struct berth_instance *instance, const struct berth_record *record, uint32_t *action)
{
  struct berth_manager_call call;
  uint32_t told = 0;
  const struct berth_policy_sink sink = { .struct_size = sizeof sink, .context = &told, .policy = take_policy };

  if (((uint64_t) record->capabilities & BERTH_CAP_NETWORK_POLICY) == 0 || berth_instance_backend (instance)->network == NULL)
    return;
  struct berth_native native = berth_native_of (instance, berth_record_current (record));
  berth_call_begin (&call, instance, native.id, NULL, BERTH_CONTROL_MS);
  int result = berth_call_backend (&call)->network->read_policy (&call.host.call, berth_instance_state (instance), &native, &sink);
  if (berth_call_end (&call, result, NULL) == 0 && told != 0)
    *action = told;
}

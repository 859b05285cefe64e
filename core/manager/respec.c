/* What is on record of a sandbox, as a specification again. */
#include "core/manager/expiry.h"
#include "core/manager/spec.h"

int
berth_record_options (const struct berth_record *record, struct berth_create_options *out, struct berth_error *error)
{
  uint64_t asks = (uint64_t) record->asks;
  const struct
  {
    uint64_t bit;
    int64_t in_force;
    int64_t *option;
  } numbers[] = {
    { BERTH_SPEC_MEMORY, record->memory_bytes, &out->memory_bytes },
    { BERTH_SPEC_CPU, record->cpu_milli, &out->cpu_milli },
    { BERTH_SPEC_PIDS, record->pids, &out->pids },
    { BERTH_SPEC_DISK, record->disk_bytes, &out->disk_bytes },
    { BERTH_SPEC_TMP, record->tmp_bytes, &out->tmp_bytes },
    { BERTH_SPEC_SHM, record->shm_bytes, &out->shm_bytes },
    { BERTH_SPEC_FILE_SIZE, record->file_size_bytes, &out->file_size_bytes },
    { BERTH_SPEC_OPEN_FILES, record->open_files, &out->open_files },
  };

  if (record->unkept != 0)
    {
      berth_error_set (error, BERTH_E_WRONG_STATE,
                       "sandbox %s was made with secrets or network rules, which are not kept, or its record was made again"
                       " from labels: it cannot be made again",
                       record->id);
      berth_error_hint (error, "make another one with `berth create --snapshot` and give them again");
      return -1;
    }
  *out = (struct berth_create_options) BERTH_CREATE_OPTIONS_INIT;
  /* the default of its backend and owner may have changed, its isolation may not become weaker */
  out->minimum_tier = record->tier != BERTH_TIER_UNKNOWN ? (uint32_t) record->tier : 0;
  out->backend = record->backend;
  out->image = record->image;
  out->user = record->user;
  out->environment = record->environment.items;
  out->environment_count = record->environment.count;
  out->labels = record->labels.items;
  out->label_count = record->labels.count;
  out->ttl_ms = record->ttl_ms;
  out->forbid_root = (asks & BERTH_SPEC_FORBID_ROOT) != 0;
  out->user_namespaces = (asks & BERTH_SPEC_USER_NAMESPACES) != 0;
  out->idle_ms = record->idle_ms != 0 ? record->idle_ms : BERTH_UNSET;
  out->idle_action = (uint32_t) record->idle_action;
  out->idle_resume = (uint32_t) record->idle_resume;
  /* only on the user's word was it made without these */
  out->best_effort = (asks & BERTH_ALWAYS_LIMITED & ~(uint64_t) record->enforced) != 0;
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (((uint64_t) record->enforced & numbers[i].bit) != 0 && numbers[i].in_force > 0)
      *numbers[i].option = numbers[i].in_force;
  return 0;
}

int
berth_wish_replacement (struct berth_host *host, const struct berth_record *record, struct berth_wish *wish,
                        struct berth_error *error)
{
  struct berth_policy policy = { .struct_size = sizeof policy, .default_action = berth_record_network (record) };
  struct berth_create_options options;
  int64_t left_ms = berth_expiry_left (record);

  *wish = (struct berth_wish) { 0 };
  if (berth_record_options (record, &options, error) != 0)
    return -1;
  options.name = record->name;
  options.network = &policy;
  /* what is left of a renewed one may be more than can be asked for: its backend is told the end anyway */
  if (left_ms < options.ttl_ms)
    options.ttl_ms = left_ms > 1 ? left_ms : 1;
  if (berth_wish_make (host, &options, wish, error) != 0)
    return -1;
  wish->options.network = NULL; /* wish->network is a copy of it */
  wish->spec.generation = (uint64_t) record->generation + 1;
  wish->spec.must = (uint64_t) record->must;
  snprintf (wish->sandbox_id, sizeof wish->sandbox_id, "%s", record->id);
  berth_id_native_hint (record->id, (int64_t) wish->spec.generation, wish->native_hint);
  return 0;
}

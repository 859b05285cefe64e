#include "core/manager/info.h"

/* The host goes by the end on record; a backend that ends it sooner by itself has the last word. */
static void
read_expiry (struct berth_instance *instance, const struct berth_record *record, struct berth_expiry *expiry)
{
  struct berth_manager_call call;
  struct berth_expiry told = { 0 };

  if (((uint64_t) record->capabilities & BERTH_CAP_EXPIRY) == 0 || berth_instance_backend (instance)->expiry == NULL)
    return;
  struct berth_native native = berth_native_of (instance, berth_record_current (record));
  berth_call_begin (&call, instance, native.id, NULL, BERTH_CONTROL_MS);
  int result = berth_call_backend (&call)->expiry->expires_at (&call.host.call, berth_instance_state (instance), &native,
                                                               &told);
  if (berth_call_end (&call, result, NULL) == 0 && told.kind == BERTH_EXPIRES_AT
      && (expiry->kind != BERTH_EXPIRES_AT || told.remaining_ms < expiry->remaining_ms))
    *expiry = told;
}

int
berth_sandbox_inspect (struct berth_sandbox *sandbox,
                       void (*visit) (void *context, const struct berth_sandbox_info *info), void *context,
                       struct berth_error *error)
{
  BERTH_AUTO_RECORD struct berth_record record = { 0 };
  BERTH_CLEANUP (berth_sightings_clear) struct berth_sightings sightings = { 0 };
  struct berth_sandbox_info info;
  struct berth_instance *instance = NULL;

  if (berth_store_load (sandbox->host->store, sandbox->record.id, BERTH_STORE_PAIRS, &record, error) != 0)
    return -1;
  if (berth_sandbox_instance (sandbox, &instance, NULL) == 0)
    berth_sightings_read_one (instance, berth_record_current (&record), &sightings);
  berth_info_fill (sandbox->host, &record, berth_info_state (sandbox->host, &record, &sightings), &info);
  if (sightings.reached && record.state == BERTH_RECORD_RUNNING && berth_record_current (&record) != NULL)
    {
      read_expiry (instance, &record, &info.expiry);
      berth_info_read_network (instance, &record, &info.network_default);
    }
  visit (context, &info);
  return 0;
}

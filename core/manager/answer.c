#include "core/manager/answer.h"

#include <string.h>

#include "sdk/base/buffer.h"

#define PIN_MAX 4095


int
berth_answer_take (void *context, const struct berth_effective *effective)
{
  struct berth_answer *answer = context;
  size_t size = effective->struct_size < sizeof answer->effective ? effective->struct_size : sizeof answer->effective;

  if (answer->given)
    return berth_host_call_fail (answer->call, BERTH_E_INTERNAL, "the backend answered twice what is in force");
  memcpy (&answer->effective, effective, size);
  if (answer->effective.pin != NULL && strlen (answer->effective.pin) > PIN_MAX)
    return berth_host_call_fail (answer->call, BERTH_E_INTERNAL, "the backend answered a pin of more than %d bytes", PIN_MAX);
  answer->pin = answer->effective.pin != NULL ? strdup (answer->effective.pin) : NULL;
  answer->runtime = answer->effective.runtime != NULL ? strdup (answer->effective.runtime) : NULL;
  answer->effective.pin = answer->pin;
  answer->effective.runtime = answer->runtime;
  answer->given = true;
  return 0;
}

int
berth_answer_ask (struct berth_instance *instance, const struct berth_native *native, struct berth_answer *answer)
{
  struct berth_manager_call call;
  struct berth_effective_sink sink = { .struct_size = sizeof sink, .context = answer, .effective = berth_answer_take };
  struct berth_handle *handle = NULL;

  answer->call = &call.host;
  berth_call_begin (&call, instance, native->id, NULL, BERTH_CONTROL_MS);
  int result = berth_call_backend (&call)->lifecycle->connect (&call.host.call, berth_instance_state (instance), native,
                                                               &sink, &handle);
  answer->call = NULL;
  if (berth_call_end (&call, result, NULL) != 0)
    return -1;
  berth_handle_release (instance, handle);
  return answer->given ? 0 : -1;
}

void
berth_answer_clear (struct berth_answer *answer)
{
  free (answer->pin);
  free (answer->runtime);
  *answer = (struct berth_answer) { 0 };
}

static int
check_given (const char *backend, const struct berth_answer *answer, struct berth_error *error)
{
  if (answer->given)
    return 0;
  return berth_error_set (error, BERTH_E_INTERNAL, "backend %s did not say what is in force", backend);
}

static int
check_tier (const char *backend, const struct berth_answer *answer, uint32_t minimum, struct berth_error *error)
{
  if (minimum == 0 || berth_tier_satisfies (answer->effective.tier, minimum))
    return 0;
  berth_error_set (error, BERTH_E_CAPABILITY_NOT_SUPPORTED, "isolation %s is required, backend %s gives %s",
                   berth_tier_name (minimum), backend, berth_tier_name (answer->effective.tier));
  berth_error_hint (error, "choose a backend of that tier; `berth backends` shows what each claims");
  return -1;
}

int
berth_answer_check (const struct berth_wish *wish, struct berth_instance *instance,
                    const struct berth_answer *answer, struct berth_error *error)
{
  const char *backend = berth_instance_name (instance);
  BERTH_AUTO_BUFFER struct berth_buffer names = { 0 };

  if (check_given (backend, answer, error) != 0
      || check_tier (backend, answer, wish->options.minimum_tier, error) != 0)
    return -1;
  uint64_t needed = wish->spec.must;
  if (wish->options.best_effort == 0)
    needed |= wish->spec.asks & BERTH_ALWAYS_LIMITED;
  uint64_t missing = needed & ~answer->effective.enforced;
  for (uint64_t rest = missing; rest != 0; rest &= rest - 1)
    {
      const char *name = berth_spec_name (rest & -rest);
      berth_buffer_appendf (&names, "%s%s", names.size > 0 ? ", " : "", name != NULL ? name : "unknown");
    }
  if (missing == 0)
    return 0;
  berth_error_set (error, BERTH_E_CONFIGURATION, "backend %s cannot enforce: %s", backend, berth_buffer_string (&names));
  berth_error_hint (error, "`berth doctor` says what would make it possible; `--limits best-effort` goes without limits"
                           " that cannot be enforced");
  return -1;
}

int
berth_answer_compare (const char *backend, const struct berth_answer *validated, const struct berth_answer *got,
                      struct berth_error *error)
{
  const struct berth_effective *want = &validated->effective, *have = &got->effective;
  const char *weaker = have->tier < want->tier                         ? "its isolation"
                       : (want->capabilities & ~have->capabilities) != 0 ? "its capabilities"
                       : (want->enforced & ~have->enforced) != 0         ? "what it enforces"
                       : (want->posture & ~have->posture) != 0           ? "its protections"
                                                                         : NULL;

  if (check_given (backend, got, error) != 0)
    return -1;
  if (weaker == NULL)
    return 0;
  berth_error_set (error, BERTH_E_INTERNAL, "backend %s made a sandbox that is weaker than it had answered: %s", backend,
                   weaker);
  berth_error_hint (error, "it was destroyed again; please report it to the backend's authors");
  return -1;
}

static int
record_evidence (struct berth_instance *instance, uint32_t tier, struct berth_record *record, struct berth_error *error)
{
  const struct berth_backend *backend = berth_instance_backend (instance);
  struct berth_claim claim;

  for (uint32_t i = 0; berth_item (&backend->claims, i, &claim, sizeof claim); i++)
    if (claim.tier == tier && claim.evidence_url != NULL && claim.evidence_date != NULL)
      {
        free (record->evidence_url);
        free (record->evidence_date);
        record->evidence_url = strdup (claim.evidence_url);
        record->evidence_date = strdup (claim.evidence_date);
        return record->evidence_url != NULL && record->evidence_date != NULL ? 0 : berth_no_memory (error);
      }
  return 0;
}

int
berth_answer_record (struct berth_answer *answer, struct berth_instance *instance, struct berth_record *record,
                     struct berth_error *error)
{
  const struct berth_effective *effective = &answer->effective;

  record->tier = effective->tier;
  /* never more than the backend declares, whatever an instance claims */
  record->capabilities = (int64_t) (effective->capabilities & berth_instance_capabilities (instance));
  record->enforced = (int64_t) effective->enforced;
  record->run_asks = (int64_t) effective->run_asks;
  record->posture = (int64_t) effective->posture;
  record->memory_bytes = (int64_t) effective->memory_bytes;
  record->disk_bytes = (int64_t) effective->disk_bytes;
  record->tmp_bytes = (int64_t) effective->tmp_bytes;
  record->shm_bytes = (int64_t) effective->shm_bytes;
  record->file_size_bytes = (int64_t) effective->file_size_bytes;
  record->cpu_milli = effective->cpu_milli;
  record->pids = effective->pids;
  record->open_files = effective->open_files;
  free (record->pin);
  free (record->runtime);
  record->pin = BERTH_STEAL_POINTER (answer->pin);
  record->runtime = BERTH_STEAL_POINTER (answer->runtime);
  return record_evidence (instance, effective->tier, record, error);
}

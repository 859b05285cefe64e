/* lifecycle.c - the group `lifecycle`, and what belongs to it: probe, inventory, correlation. */
#include "plugins/fake/fake.h"
#include "plugins/fake/instance.h"
#include "sdk/base/string.h"

static int
fake_ping (struct berth_call *call, struct berth_state *state, const struct berth_text_sink *facts)
{
  BERTH_AUTO_FREE char *fact = NULL;

  if (fake_point (call, state, "lifecycle.ping") < 0)
    {
      if (call->services->failed (call) == BERTH_E_UNREACHABLE)
        call->services->hint (call, "take lifecycle.ping out of the setting `faults`");
      return -1;
    }
  fact = berth_string_format ("fake: executes nothing; its clock is at %lld ms", (long long) fake_now_ms (state));
  return fact == NULL ? fake_failed (call, "tell facts") : facts->text (facts->context, fact);
}

static int
fake_validate (struct berth_call *call, struct berth_state *state, const struct berth_spec *spec,
               const struct berth_effective_sink *sink)
{
  BERTH_AUTO_JSON struct berth_json *record = NULL;
  struct berth_effective effective;

  if (fake_spec_check (call, state, spec) < 0 || fake_point (call, state, "lifecycle.validate") < 0)
    return -1;
  record = fake_spec_record (state, spec);
  if (record == NULL)
    return fake_failed (call, "answer a specification");
  fake_effective_from_record (state, record, &effective);
  return sink->effective (sink->context, &effective);
}

static int
fake_create_new (struct berth_call *call, struct berth_state *state, const struct berth_spec *spec,
                 const struct berth_create_sink *sink, struct berth_handle **out)
{
  static const struct fake_origin origin = { "lifecycle.create", NULL, NULL, NULL };

  return fake_create (call, state, spec, &origin, sink, out);
}

static int
fake_connect (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
              const struct berth_effective_sink *sink, struct berth_handle **out)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  struct berth_effective effective;
  struct berth_handle *handle;

  if (fake_point (call, state, "lifecycle.connect") < 0 || fake_box_for_native (call, state, native, &box) < 0)
    return -1;
  handle = fake_handle_new (call, state, &box);
  if (handle == NULL)
    return -1;
  fake_effective_from_record (state, box.record, &effective);
  fake_box_close (&box);
  if (sink != NULL && sink->effective (sink->context, &effective) < 0)
    {
      fake_handle_free (handle);
      return -1;
    }
  *out = handle;
  return 0;
}

/* The handle that an OWNED sandbox was created on ends it. */
static void
fake_release (struct berth_call *call, struct berth_handle *handle)
{
  struct berth_state *state = handle->state;
  BERTH_AUTO_FREE char *id = strdup (handle->native_id);
  int owned = handle->owner >= 0;
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;

  fake_handle_free (handle);
  if (!owned || id == NULL)
    return;
  (void) fake_box_find (call, state, id, &box); /* which sees that the owner is gone */
  call->services->forgive (call);
}

/* --- destroy ------------------------------------------------------------------------------------------- */

/* Accepted: it is gone MILLISECONDS later by the instance's clock; without a number, never. */
static int
accept_destroy (struct berth_call *call, struct fake_box *box, const char *milliseconds)
{
  int64_t after;

  if (fake_number (box->record, "life") != BERTH_LIFE_ENDING
      && berth_string_to_int64 (milliseconds, 0, INT64_C (86400000), &after) == 0
      && berth_json_set_int64 (box->record, "ending", fake_now_ms (box->state) + after) < 0)
    return fake_failed (call, "write a record");
  if (berth_json_set_int64 (box->record, "life", BERTH_LIFE_ENDING) < 0)
    return fake_failed (call, "write a record");
  return fake_box_save (call, box);
}

/* The actions of lifecycle.destroy: `refuse`, `accept[:MS]`, and `lie`, which says that it is gone
 * though it is not.  Steps: 1 before all, 2 once it is marked as ending, 3 once it is removed. */
static int
destroy_box (struct berth_call *call, struct fake_box *box, struct berth_destroyed *out)
{
  char argument[64];

  out->verdict = BERTH_GONE;
  if (fake_fault (box->state, "lifecycle.destroy", "lie", NULL))
    return 0;
  if (fake_fault (box->state, "lifecycle.destroy", "refuse", NULL))
    {
      call->services->fail (call, BERTH_E_FORBIDDEN, "sandbox `%s` is not to be removed, as the setting `faults` asks",
                            box->id);
      out->verdict = BERTH_REFUSED;
      return 0;
    }
  if (box->record != NULL && fake_fault (box->state, "lifecycle.destroy", "accept", argument))
    {
      out->verdict = BERTH_ACCEPTED;
      return accept_destroy (call, box, argument);
    }
  if (box->record != NULL
      && (berth_json_set_int64 (box->record, "life", BERTH_LIFE_ENDING) < 0 || fake_box_save (call, box) < 0))
    return -1;
  if (fake_step (call, box->state, "lifecycle.destroy", 2) < 0)
    return -1;
  return fake_box_remove (call, box);
}

static int
fake_destroy (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
              struct berth_destroyed *out)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  struct berth_destroyed answer = { 0 };
  int found;

  if (fake_point (call, state, "lifecycle.destroy") < 0 || fake_step (call, state, "lifecycle.destroy", 1) < 0)
    return -1;
  found = fake_box_find (call, state, native->id, &box);
  if (found < 0)
    return -1;
  answer.verdict = BERTH_GONE;
  if (found == 1
      && ((box.record != NULL && fake_private_check (call, native, &box) < 0) || destroy_box (call, &box, &answer) < 0))
    return -1;
  fake_box_close (&box);
  if (fake_step (call, state, "lifecycle.destroy", 3) < 0)
    return -1;
  *out = answer;
  return 0;
}

/* --- finding ------------------------------------------------------------------------------------------- */

struct find
{
  struct berth_state *state;
  const struct berth_found_sink *sink;
  const char *assignment_id; /* NULL: all */
  uint32_t left;             /* of a page */
  char last[FAKE_ID_MAX + 1];
};

static int
visit_found (void *context, struct berth_call *call, struct fake_box *box)
{
  struct find *find = context;

  if (find->assignment_id != NULL
      && !berth_string_equal (fake_text (box->record, "assignment_id"), find->assignment_id))
    return 0;
  if (find->left == 0)
    return 1;
  find->left--;
  memcpy (find->last, box->id, sizeof find->last);
  return fake_box_tell (box, find->sink->found, find->sink->context);
}

static int
fake_list_ids (struct berth_call *call, struct berth_state *state, const struct berth_found_sink *sink)
{
  struct find find = { state, sink, NULL, UINT32_MAX, "" };

  if (fake_point (call, state, "lifecycle.list_ids") < 0)
    return -1;
  return fake_box_each (call, state, NULL, visit_found, &find);
}

static int
fake_is_running (struct berth_call *call, struct berth_state *state, const struct berth_native *native)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  int found;

  if (fake_point (call, state, "lifecycle.is_running") < 0)
    return -1;
  found = fake_box_find (call, state, native->id, &box);
  return found < 0 ? -1 : found == 1 && fake_number (box.record, "life") == BERTH_LIFE_RUNNING;
}

/* The actions of probe.probe: `present` and `absent`, whatever is the case. */
static int
fake_probe_one (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
                struct berth_presence *out)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  int found;

  if (fake_needs (call, state, BERTH_CAP_PROBE, "PROBE") < 0 || fake_point (call, state, "probe.probe") < 0)
    return -1;
  found = fake_box_find (call, state, native->id, &box);
  if (found < 0)
    return -1;
  if (fake_fault (state, "probe.probe", "present", NULL))
    found = 1;
  if (fake_fault (state, "probe.probe", "absent", NULL))
    found = 0;
  out->verdict = found ? BERTH_PRESENT : BERTH_ABSENT;
  return 0;
}

static int
fake_list_page (struct berth_call *call, struct berth_state *state, const char *cursor, uint32_t limit,
                const struct berth_found_sink *sink)
{
  struct find find = { state, sink, NULL, limit, "" };
  int result;

  if (fake_needs (call, state, BERTH_CAP_INVENTORY, "INVENTORY") < 0
      || fake_point (call, state, "inventory.list_page") < 0)
    return -1;
  if (limit == 0)
    return call->services->fail (call, BERTH_E_INVALID_REQUEST, "a page of 0 sandboxes");
  result = fake_box_each (call, state, cursor, visit_found, &find);
  return result == 1 ? sink->cursor (sink->context, find.last) : result;
}

static int
fake_describe (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
               const struct berth_found_sink *sink)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  int found;

  if (fake_needs (call, state, BERTH_CAP_INVENTORY, "INVENTORY") < 0
      || fake_point (call, state, "inventory.describe") < 0)
    return -1;
  found = fake_box_find (call, state, native->id, &box);
  if (found < 0)
    return -1;
  if (found == 0)
    return call->services->fail (call, BERTH_E_SANDBOX_NOT_FOUND, "no sandbox `%s`", native->id);
  return fake_box_tell (&box, sink->found, sink->context);
}

static int
fake_find_by_assignment (struct berth_call *call, struct berth_state *state, const char *assignment_id,
                         const struct berth_found_sink *sink)
{
  struct find find = { state, sink, assignment_id, UINT32_MAX, "" };

  if (fake_needs (call, state, BERTH_CAP_CORRELATED_CREATE, "CORRELATED_CREATE") < 0
      || fake_point (call, state, "correlation.find_by_assignment") < 0)
    return -1;
  return fake_box_each (call, state, NULL, visit_found, &find);
}

const struct berth_lifecycle_ops fake_lifecycle = {
  .struct_size = sizeof fake_lifecycle,
  .open = fake_instance_open,
  .close = fake_instance_close,
  .ping = fake_ping,
  .validate = fake_validate,
  .create = fake_create_new,
  .connect = fake_connect,
  .release = fake_release,
  .destroy = fake_destroy,
  .list_ids = fake_list_ids,
  .is_running = fake_is_running,
};

const struct berth_probe_ops fake_probe = {
  .struct_size = sizeof fake_probe,
  .probe = fake_probe_one,
};

const struct berth_inventory_ops fake_inventory = {
  .struct_size = sizeof fake_inventory,
  .list_page = fake_list_page,
  .describe = fake_describe,
};

const struct berth_correlation_ops fake_correlation = {
  .struct_size = sizeof fake_correlation,
  .find_by_assignment = fake_find_by_assignment,
};

#include "conformance/suites/box.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/base/clock.h"
#include "sdk/base/string.h"

#define MIB (UINT64_C (1) << 20)
#define GONE_MS 20000

struct suite_box *
suite_box_new (struct suite_context *suite)
{
  struct suite_box *box = calloc (1, sizeof *box);

  SUITE_REQUIRE (suite, box != NULL, "no memory");
  box->suite = suite;
  if (berth_id_generate (suite->tag, 12, box->sandbox_id, sizeof box->sandbox_id) < 0
      || berth_id_generate ("as-", 20, box->assignment_id, sizeof box->assignment_id) < 0)
    abort ();
  snprintf (box->native_hint, sizeof box->native_hint, "%.50s.1", box->sandbox_id);
  box->next = suite->boxes;
  suite->boxes = box;
  return box;
}

struct suite_box *
suite_box_named (struct suite_context *suite, const char *native_id)
{
  struct suite_box *box = suite_box_new (suite);

  snprintf (box->native_id, sizeof box->native_id, "%s", native_id);
  return box;
}

void
suite_plan_init (struct suite_plan *plan, const struct suite_box *box)
{
  *plan = (struct suite_plan) {
    .policy = { .struct_size = sizeof plan->policy, .default_action = box->suite->network_action },
    .spec = { .struct_size = sizeof plan->spec,
              .asks = BERTH_SPEC_CPU | BERTH_SPEC_MEMORY | BERTH_SPEC_PIDS | BERTH_SPEC_TMP | BERTH_SPEC_OPEN_FILES
                      | BERTH_SPEC_NETWORK | BERTH_SPEC_ENVIRONMENT,
              .sandbox_id = box->sandbox_id,
              .assignment_id = box->assignment_id,
              .installation_id = box->suite->installation_id,
              .native_hint = box->native_hint,
              .cpu_milli = 1000,
              .memory_bytes = 512 * MIB,
              .pids = 256,
              .tmp_bytes = 256 * MIB,
              .open_files = 1024,
              .environment_count = 1 },
    .mark = { .name = "SANDBOX", .value = box->sandbox_id },
  };
  plan->spec.network = &plan->policy;
  plan->spec.environment = &plan->mark;
  plan->spec.image = box->suite->image;
  plan->spec.asks |= plan->spec.image != NULL ? BERTH_SPEC_IMAGE : 0;
}

/* ---- sinks ---- */

static int
take_created (void *context, const struct berth_native *native)
{
  struct suite_box *box = context;

  box->created_calls++;
  if (strlen (native->id) >= sizeof box->native_id || native->private_size > BERTH_PRIVATE_MAX)
    {
      suite_fail (box->suite, __FILE__, __LINE__, "created: an id of %zu bytes, private data of %u", strlen (native->id),
                  native->private_size);
      return -1;
    }
  strcpy (box->native_id, native->id);
  box->private_size = native->private_size;
  if (native->private_size > 0)
    memcpy (box->private_data, native->private_data, native->private_size);
  if (box->on_created != NULL)
    box->on_created (box);
  return box->refuse_created ? -1 : 0;
}

static void
copy_effective (struct berth_effective *to, const struct berth_effective *from)
{
  size_t size = from->struct_size < sizeof *to ? from->struct_size : sizeof *to;

  memset (to, 0, sizeof *to);
  memcpy (to, from, size);
  to->pin = NULL;
  to->runtime = NULL;
}

static int
take_created_effective (void *context, const struct berth_effective *effective)
{
  struct suite_box *box = context;

  box->effective_calls++;
  box->effective_early = box->effective_early || box->created_calls == 0;
  copy_effective (&box->effective, effective);
  return box->refuse_effective ? -1 : 0;
}

static int
take_effective (void *context, const struct berth_effective *effective)
{
  copy_effective (context, effective);
  return 0;
}

/* ---- calls ---- */

struct berth_native
suite_box_native (const struct suite_box *box)
{
  return (struct berth_native) { .struct_size = sizeof (struct berth_native),
                                 .private_size = box->private_size,
                                 .id = box->native_id,
                                 .private_data = box->private_size > 0 ? box->private_data : NULL };
}

uint32_t
suite_box_validate (struct suite_box *box, const struct berth_spec *spec, struct berth_effective *effective)
{
  struct suite_context *suite = box->suite;
  struct berth_effective unused = { 0 };
  struct berth_effective_sink sink = { .struct_size = sizeof sink,
                                       .context = effective != NULL ? effective : &unused,
                                       .effective = take_effective };
  struct suite_call call;
  struct berth_call *made = suite_call_begin (&call, suite, NULL, NULL, 0);

  return suite_call_end (&call, suite->backend->lifecycle->validate (made, suite->state, spec, &sink), &box->error);
}

struct berth_create_sink
suite_box_sink (struct suite_box *box)
{
  return (struct berth_create_sink) { .struct_size = sizeof (struct berth_create_sink),
                                      .context = box,
                                      .created = take_created,
                                      .effective = take_created_effective };
}

uint32_t
suite_box_create (struct suite_box *box, const struct berth_spec *spec)
{
  struct suite_context *suite = box->suite;
  struct berth_create_sink sink = suite_box_sink (box);
  struct suite_call call;
  struct berth_call *made = suite_call_begin (&call, suite, NULL, box->cancel, box->deadline_ms);
  int result = suite->backend->lifecycle->create (made, suite->state, spec, &sink, &box->handle);

  if (result < 0 && (box->refuse_created || box->refuse_effective))
    berth_host_call_fail (&call.host, BERTH_E_CANCELLED, "the sink refused");
  box->made = result == 0;
  return suite_call_end (&call, result, &box->error);
}

struct suite_box *
suite_box_make (struct suite_context *suite)
{
  struct suite_box *box = suite_box_new (suite);
  struct suite_plan plan;
  uint32_t code;

  suite_plan_init (&plan, box);
  code = suite_box_create (box, &plan.spec);
  SUITE_REQUIRE (suite, code == 0, "create: %s: %s", suite_code_name (code), box->error.message);
  SUITE_REQUIRE (suite, box->handle != NULL && box->native_id[0] != '\0', "create told no handle or no id");
  return box;
}

uint32_t
suite_box_connect (struct suite_box *box, struct berth_effective *effective, struct berth_handle **out)
{
  struct suite_context *suite = box->suite;
  struct berth_native native = suite_box_native (box);
  struct berth_effective_sink sink = { .struct_size = sizeof sink, .context = effective, .effective = take_effective };
  struct suite_call call;
  struct berth_call *made = suite_call_begin (&call, suite, native.id, NULL, 0);
  int result
      = suite->backend->lifecycle->connect (made, suite->state, &native, effective != NULL ? &sink : NULL, out);

  return suite_call_end (&call, result, &box->error);
}

void
suite_box_release (struct suite_box *box, struct berth_handle *handle)
{
  struct suite_call call;
  struct berth_call *made = suite_call_begin (&call, box->suite, box->native_id, NULL, 0);

  box->suite->backend->lifecycle->release (made, handle);
  suite_call_end (&call, 0, NULL);
}

uint32_t
suite_box_destroy (struct suite_box *box, bool keep_handle, uint32_t *verdict)
{
  struct suite_context *suite = box->suite;
  struct berth_native native = suite_box_native (box);
  struct berth_destroyed destroyed = { 0 };
  struct suite_call call;
  struct berth_call *made;
  int result;

  if (box->handle != NULL && !keep_handle)
    {
      suite_box_release (box, box->handle);
      box->handle = NULL;
    }
  made = suite_call_begin (&call, suite, native.id, NULL, 0);
  result = suite->backend->lifecycle->destroy (made, suite->state, &native, &destroyed);
  if (verdict != NULL)
    *verdict = destroyed.verdict;
  if (result == 0 && destroyed.verdict == BERTH_GONE)
    box->made = false;
  return suite_call_end (&call, result, &box->error);
}

int
suite_box_is_running (struct suite_box *box)
{
  struct suite_context *suite = box->suite;
  struct berth_native native = suite_box_native (box);
  struct suite_call call;
  struct berth_call *made = suite_call_begin (&call, suite, native.id, NULL, 0);
  int result = suite->backend->lifecycle->is_running (made, suite->state, &native);

  suite_call_end (&call, result, &box->error);
  return result;
}

/* ---- lists ---- */

uint32_t
suite_list (struct suite_context *suite, int (*visit) (void *context, const struct berth_found *found), void *context,
            struct berth_error *error)
{
  struct berth_found_sink sink = { .struct_size = sizeof sink, .context = context, .found = visit };
  struct suite_call call;
  struct berth_call *made = suite_call_begin (&call, suite, NULL, NULL, 0);

  return suite_call_end (&call, suite->backend->lifecycle->list_ids (made, suite->state, &sink), error);
}

struct count
{
  const char *native_id;
  int found;
};

static int
count_found (void *context, const struct berth_found *found)
{
  struct count *count = context;

  if (count->native_id == NULL || strcmp (found->native_id, count->native_id) == 0)
    count->found++;
  return 0;
}

int
suite_count (struct suite_context *suite, const struct suite_box *box)
{
  struct count count = { .native_id = box != NULL ? box->native_id : NULL };
  struct berth_error error;
  uint32_t code = suite_list (suite, count_found, &count, &error);

  if (code == 0)
    return count.found;
  suite_fail (suite, __FILE__, __LINE__, "list_ids: %s: %s", suite_code_name (code), error.message);
  return -1;
}

/* ---- the end ---- */

static void
end_box (struct suite_context *suite, struct suite_box *box)
{
  int64_t until = berth_clock_monotonic_ms () + GONE_MS;
  uint32_t verdict = 0;
  uint32_t code = 0;

  if (!box->made)
    return;
  do
    {
      if (verdict != 0)
        berth_clock_sleep_ms (200);
      code = suite_box_destroy (box, false, &verdict);
    }
  while (code == 0 && verdict != BERTH_GONE && berth_clock_monotonic_ms () < until);
  SUITE_CHECK (suite, code == 0 && verdict == BERTH_GONE, "destroy of %s at the end: %s, verdict %u: %s",
               box->native_id, suite_code_name (code), verdict, box->error.message);
}

void
suite_boxes_end (struct suite_context *suite)
{
  while (suite->boxes != NULL)
    {
      struct suite_box *box = suite->boxes;

      suite->boxes = box->next;
      end_box (suite, box);
      if (box->handle != NULL)
        suite_box_release (box, box->handle);
      free (box);
    }
}

void
suite_boxes_forget (struct suite_context *suite)
{
  while (suite->boxes != NULL)
    {
      struct suite_box *box = suite->boxes;

      suite->boxes = box->next;
      free (box);
    }
}

static int
take_found (void *context, const struct berth_found *found)
{
  struct suite_context *suite = context;
  struct suite_box *box = suite_box_new (suite);

  snprintf (box->native_id, sizeof box->native_id, "%s", found->native_id);
  box->made = true;
  return 0;
}

unsigned int
suite_sweep (struct suite_context *suite)
{
  unsigned int count = 0;

  suite_list (suite, take_found, suite, NULL);
  for (struct suite_box *box = suite->boxes; box != NULL; box = box->next)
    count++;
  suite_boxes_end (suite);
  return count;
}

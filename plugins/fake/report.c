/* report.c - the groups that tell about sandboxes: `metrics`, `diagnostics`, `costs`; and `native`. */
#include <fcntl.h>

#include "plugins/fake/tree.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"

#define REPORT_MAX ((size_t) 16 << 20)

static int
fake_read_metrics (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
                   const struct berth_options *options, const struct berth_metric_sink *sink)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  struct berth_metric metrics[] = {
    { .name = "cpu_ns", .unit = "ns" },
    { .name = "memory_bytes", .unit = "bytes" },
    { .name = "memory_headroom_bytes", .unit = "bytes" },
    { .name = "pids", .unit = "processes", .value = 1 },
    { .name = "disk_bytes", .unit = "bytes" },
  };
  uint64_t disk = 0;

  if (fake_needs (call, state, BERTH_CAP_METRICS, "METRICS") < 0
      || (options != NULL && BERTH_REFUSE_UNKNOWN (call, OPTIONS, options->asks, 0) < 0)
      || fake_point (call, state, "metrics.read") < 0 || fake_box_for_native (call, state, native, &box) < 0
      || fake_tree_bytes (call, box.directory, "tree", &disk) < 0)
    return -1;
  metrics[2].value = fake_number (box.record, "memory");
  metrics[4].value = (int64_t) disk;
  fake_box_close (&box);
  for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
    {
      metrics[i].struct_size = sizeof metrics[i];
      if (sink->metric (sink->context, &metrics[i]) < 0)
        return -1;
    }
  return 0;
}

/* The record without what only its owner may know. */
static int
print_record (struct berth_call *call, struct fake_box *box, struct berth_buffer *text)
{
  if (berth_json_set (box->record, "token", berth_json_new_null ()) < 0
      || berth_json_print (box->record, true, text) < 0)
    return fake_failed (call, "tell a record");
  return 0;
}

static int
fake_read_diagnostics (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
                       const char *scope, const struct berth_options *options, const struct berth_data_sink *sink)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  int inspect = strcmp (scope, "inspect") == 0;

  if (fake_needs (call, state, BERTH_CAP_DIAGNOSTICS, "DIAGNOSTICS") < 0
      || (options != NULL && BERTH_REFUSE_UNKNOWN (call, OPTIONS, options->asks, 0) < 0)
      || fake_point (call, state, "diagnostics.read") < 0 || fake_box_for_native (call, state, native, &box) < 0)
    return -1;
  if (!inspect && strcmp (scope, "logs") != 0 && strcmp (scope, "events") != 0)
    return call->services->fail (call, BERTH_E_INVALID_REQUEST, "no diagnostics `%s` (want logs, events or inspect)",
                                 scope);
  if (inspect && print_record (call, &box, &text) < 0)
    return -1;
  if (!inspect && berth_fs_read (box.directory, "events", &text, REPORT_MAX) < 0)
    return fake_failed (call, "read events");
  fake_box_close (&box);
  return sink->data (sink->context, text.data, text.size);
}

/* --- costs -------------------------------------------------------------------------------------------------- */

struct bill
{
  struct berth_state *state;
  const struct berth_cost_sink *sink;
  int64_t from;
  int64_t to;
};

static int
charge (struct bill *bill, const char *label, int64_t from, int64_t to)
{
  struct berth_cost cost = { .struct_size = sizeof cost, .label = label, .currency = "EUR" };

  from = from > bill->from ? from : bill->from;
  to = to < bill->to ? to : bill->to;
  if (to <= from)
    return 0;
  cost.micros = (to - from) * bill->state->price / 1000;
  return bill->sink->cost (bill->sink->context, &cost);
}

static int
charge_box (void *context, struct berth_call *call, struct fake_box *box)
{
  struct bill *bill = context;
  const char *label = fake_text (box->record, "sandbox_id");
  BERTH_AUTO_FREE char *copy = strdup (label != NULL ? label : box->id);
  int64_t from = fake_number (box->record, "created");

  fake_box_close (box);
  return copy == NULL ? fake_failed (call, "report costs") : charge (bill, copy, from, fake_now_ms (bill->state));
}

/* Lines of the ledger: the label, when it was made, when it was gone. */
static int
charge_past (struct berth_call *call, struct bill *bill)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  char *rest;
  char *line;

  if (berth_fs_read (bill->state->directory, "ledger", &text, REPORT_MAX) < 0)
    return errno == ENOENT ? 0 : fake_failed (call, "read the ledger");
  rest = text.data;
  while (rest != NULL && (line = strsep (&rest, "\n")) != NULL)
    {
      char label[FAKE_ID_MAX + 1];
      long long from;
      long long to;

      if (sscanf (line, "%200s %lld %lld", label, &from, &to) == 3 && charge (bill, label, from, to) < 0)
        return -1;
    }
  return 0;
}

static int
fake_report (struct berth_call *call, struct berth_state *state, int64_t from_wall_ms, int64_t to_wall_ms,
             const struct berth_cost_sink *sink)
{
  struct bill bill = { state, sink, from_wall_ms, to_wall_ms };

  if (fake_needs (call, state, BERTH_CAP_COST_REPORTING, "COST_REPORTING") < 0
      || fake_point (call, state, "costs.report") < 0 || charge_past (call, &bill) < 0)
    return -1;
  return fake_box_each (call, state, NULL, charge_box, &bill);
}

/* --- native -------------------------------------------------------------------------------------------------- */

/* Writes one of the files that go before the settings of their names; null removes it. */
static int
set_override (struct berth_call *call, struct berth_state *state, const struct berth_json *in, const char *name)
{
  const struct berth_json *value = berth_json_get (in, name);
  const char *text = berth_json_string (value);

  if (value == NULL)
    return 0;
  if (text == NULL)
    return unlinkat (state->directory, name, 0) < 0 && errno != ENOENT ? fake_failed (call, "remove an override") : 0;
  return berth_fs_replace (state->directory, name, text, strlen (text), 0600) < 0
             ? fake_failed (call, "write an override")
             : 0;
}

/* What a crash of the runtime makes of a sandbox. */
static int
crash (struct berth_call *call, struct berth_state *state, const struct berth_native *native)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;

  if (fake_box_for_native (call, state, native, &box) < 0)
    return -1;
  if (berth_json_set_int64 (box.record, "life", BERTH_LIFE_FAILED) < 0)
    return fake_failed (call, "write a record");
  return fake_box_save (call, &box);
}

/* Operations: "set" {faults, clock, script} for the instance, "crash" of a sandbox, "echo". */
static int
fake_native_call (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
                  const char *operation, const char *json, const struct berth_data_sink *result)
{
  BERTH_AUTO_JSON struct berth_json *in = NULL;
  char problem[BERTH_JSON_PROBLEM_SIZE];

  if (fake_needs (call, state, BERTH_CAP_NATIVE, "NATIVE") < 0 || fake_point (call, state, "native.call") < 0)
    return -1;
  in = berth_json_parse (json, strlen (json), BERTH_JSON_SIZE, problem);
  if (in == NULL)
    return call->services->fail (call, BERTH_E_INVALID_REQUEST, "not JSON: %s", problem);
  if (strcmp (operation, "echo") == 0)
    return result->data (result->context, json, strlen (json));
  if (strcmp (operation, "crash") == 0)
    return crash (call, state, native) < 0 ? -1 : result->data (result->context, "{}", 2);
  if (strcmp (operation, "set") != 0)
    return call->services->fail (call, BERTH_E_NOT_FOUND, "no operation `%s` (there are: set, crash, echo)", operation);
  if (set_override (call, state, in, "faults") < 0 || set_override (call, state, in, "clock") < 0
      || set_override (call, state, in, "script") < 0)
    return -1;
  return result->data (result->context, "{}", 2);
}

const struct berth_metrics_ops fake_metrics = {
  .struct_size = sizeof fake_metrics,
  .read = fake_read_metrics,
};

const struct berth_diagnostics_ops fake_diagnostics = {
  .struct_size = sizeof fake_diagnostics,
  .read = fake_read_diagnostics,
};

const struct berth_costs_ops fake_costs = {
  .struct_size = sizeof fake_costs,
  .report = fake_report,
};

const struct berth_native_ops fake_native = {
  .struct_size = sizeof fake_native,
  .call = fake_native_call,
};

/* What a platform tells of its sandboxes, and what only it can do. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "conformance/suites/content.h"
#include "conformance/suites/platform.h"
#include "sdk/base/clock.h"
#include "sdk/base/string.h"

#define PATIENCE_MS 60000

/* ---- METRICS ---- */

static int
take_metric (void *context, const struct berth_metric *metric)
{
  unsigned int *told = context;

  *told += metric->name != NULL && *metric->name != '\0' && metric->unit != NULL;
  return 0;
}

void
suite_metrics (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite), *gone = suite_box_named (suite, SUITE_UNKNOWN_ID);
  struct berth_native native = suite_box_native (box), unknown = suite_box_native (gone);
  unsigned int told = 0;
  struct berth_metric_sink sink = { sizeof sink, 0, &told, take_metric };

  SUITE_CHECK_CODE (suite, "read",
                    SUITE_CALL (suite, native.id, suite->backend->metrics->read (made, suite->state, &native, NULL, &sink)), 0);
  SUITE_CHECK (suite, told > 0, "nothing is measured");
  SUITE_CHECK_CODE (suite, "read of an unknown one",
                    SUITE_CALL (suite, unknown.id, suite->backend->metrics->read (made, suite->state, &unknown, NULL, &sink)),
                    BERTH_E_SANDBOX_NOT_FOUND);
}

/* ---- DIAGNOSTICS ---- */

static int
take_bytes (void *context, const void *bytes, size_t size)
{
  return berth_buffer_append (context, bytes, size);
}

void
suite_diagnostics (struct suite_context *suite)
{
  static const char *const scopes[] = { "logs", "events", "inspect" };
  const struct berth_diagnostics_ops *ops = suite->backend->diagnostics;
  struct berth_native native = suite_box_native (suite_box_make (suite));
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  struct berth_data_sink sink = { sizeof sink, 0, &text, take_bytes };

  for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++)
    SUITE_CHECK_CODE (suite, scopes[i],
                      SUITE_CALL (suite, native.id, ops->read (made, suite->state, &native, scopes[i], NULL, &sink)), 0);
  SUITE_CHECK (suite, text.size > 0, "not a word in all of them");
  SUITE_CHECK_CODE (suite, "an unknown scope",
                    SUITE_CALL (suite, native.id, ops->read (made, suite->state, &native, "no-such", NULL, &sink)),
                    BERTH_E_INVALID_REQUEST);
}

/* ---- COST_REPORTING ---- */

struct costs
{
  unsigned int count;
  unsigned int strange;
};

static int
take_cost (void *context, const struct berth_cost *cost)
{
  struct costs *costs = context;

  costs->count++;
  costs->strange += cost->label == NULL || cost->currency == NULL || strlen (cost->currency) != 3 || cost->micros < 0;
  return 0;
}

void
suite_costs (struct suite_context *suite)
{
  struct costs costs = { 0 }, before = { 0 };
  struct berth_cost_sink sink = { sizeof sink, 0, &costs, take_cost };
  int64_t now_ms = berth_clock_wall_ms ();

  suite_box_make (suite);
  berth_clock_sleep_ms (20);
  SUITE_CHECK_CODE (suite, "report",
                    SUITE_CALL (suite, NULL, suite->backend->costs->report (made, suite->state, now_ms - 60000, now_ms + 60000, &sink)),
                    0);
  SUITE_CHECK (suite, costs.count > 0 && costs.strange == 0, "%u costs, %u without a label, currency or sum", costs.count,
               costs.strange);
  sink.context = &before;
  SUITE_CHECK_CODE (suite, "report of long ago",
                    SUITE_CALL (suite, NULL, suite->backend->costs->report (made, suite->state, 1000, 2000, &sink)), 0);
  SUITE_CHECK (suite, before.strange == 0 && before.count == 0, "it tells %u costs of before it was there", before.count);
}

/* ---- NATIVE ---- */

void
suite_native_call (struct suite_context *suite)
{
  struct suite_box *nobody = suite_box_named (suite, "");
  struct berth_native none = suite_box_native (nobody);
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  struct berth_data_sink sink = { sizeof sink, 0, &text, take_bytes };

  SUITE_CHECK_CODE (suite, "an unknown operation",
                    SUITE_CALL (suite, NULL, suite->backend->native->call (made, suite->state, &none, "no-such-operation", "{}", &sink)),
                    BERTH_E_NOT_FOUND);
  SUITE_CHECK (suite, text.size == 0, "an unknown operation has a result");
}

/* ---- FILE_WATCH ---- */

#define SEEN SUITE_WORKSPACE "/seen"

struct watcher
{
  struct suite_box *box;
  struct berth_cancel *cancel;
  pthread_t thread;
  uint32_t code;
  int ended;
  int ready;
  int removed;
  unsigned int created, strange;
};

static int
take_change (void *context, const struct berth_watched *what)
{
  struct watcher *watcher = context;

  watcher->strange += !berth_string_starts_with (what->path, SEEN "/");
  watcher->created += what->event == BERTH_WATCH_CREATED && strcmp (what->path, SEEN "/a") == 0;
  if (what->event == BERTH_WATCH_REMOVED)
    __atomic_store_n (&watcher->removed, 1, __ATOMIC_RELEASE);
  return 0;
}

static int
take_ready (void *context)
{
  struct watcher *watcher = context;

  __atomic_store_n (&watcher->ready, 1, __ATOMIC_RELEASE);
  return 0;
}

static void *
watch (void *context)
{
  struct watcher *watcher = context;
  struct suite_context *suite = watcher->box->suite;
  struct berth_watch_sink sink = { sizeof sink, 0, watcher, take_change, take_ready };
  struct suite_call call;
  struct berth_call *made = suite_call_begin (&call, suite, watcher->box->native_id, watcher->cancel, 0);

  watcher->code
      = suite_call_end (&call, suite->backend->watch->watch (made, watcher->box->handle, SEEN, NULL, &sink), NULL);
  __atomic_store_n (&watcher->ended, 1, __ATOMIC_RELEASE);
  return NULL;
}

/* Until FLAG is set, or no watch is in force any more. */
static bool
await (struct watcher *watcher, const int *flag)
{
  int64_t until = berth_clock_monotonic_ms () + PATIENCE_MS;

  while (__atomic_load_n (flag, __ATOMIC_ACQUIRE) == 0 && __atomic_load_n (&watcher->ended, __ATOMIC_ACQUIRE) == 0
         && berth_clock_monotonic_ms () < until)
    berth_clock_sleep_ms (5);
  return __atomic_load_n (flag, __ATOMIC_ACQUIRE) != 0;
}

void
suite_watch (struct suite_context *suite)
{
  struct watcher watcher = { .box = suite_box_make (suite) };

  SUITE_REQUIRE (suite, berth_cancel_new (&watcher.cancel, NULL) == 0, "no memory");
  SUITE_CHECK_CODE (suite, "make_directory", suite_make_directory (watcher.box, SEEN, 0), 0);
  SUITE_REQUIRE (suite, pthread_create (&watcher.thread, NULL, watch, &watcher) == 0, "no thread");
  if (await (&watcher, &watcher.ready))
    {
      SUITE_CHECK_CODE (suite, "write elsewhere", suite_write_text (watcher.box, SUITE_WORKSPACE "/unseen", "x"), 0);
      SUITE_CHECK_CODE (suite, "write", suite_write_text (watcher.box, SEEN "/a", "x"), 0);
      SUITE_CHECK_CODE (suite, "remove", suite_remove (watcher.box, SEEN "/a", 0), 0);
      SUITE_CHECK (suite, await (&watcher, &watcher.removed), "that a file went is not told");
    }
  berth_cancel_trigger (watcher.cancel);
  pthread_join (watcher.thread, NULL);
  berth_cancel_free (watcher.cancel);
  SUITE_CHECK (suite, watcher.ready != 0, "the watch is never in force");
  SUITE_CHECK_CODE (suite, "the end of the watch", watcher.code, BERTH_E_CANCELLED);
  SUITE_CHECK (suite, watcher.created > 0 && watcher.strange == 0, "the file came %u times, and %u others", watcher.created,
               watcher.strange);
}

/* ---- WORKSPACE_VOLUME ---- */

static int
take_text (void *context, const char *text)
{
  (void) text;
  ++*(unsigned int *) context;
  return 0;
}

void
suite_volume (struct suite_context *suite)
{
  struct suite_box *box = suite_box_new (suite);
  unsigned int routes = 0;
  struct berth_text_sink sink = { sizeof sink, 0, &routes, take_text };
  struct suite_plan plan;

  SUITE_CHECK_CODE (suite, "the route to an unknown volume",
                    SUITE_CALL (suite, NULL, suite->backend->volumes->workspace_route (made, suite->state, "no-such-volume", &sink)),
                    BERTH_E_NOT_FOUND, BERTH_E_CONFIGURATION);
  SUITE_CHECK (suite, routes == 0, "an unknown volume has a route");
  suite_plan_init (&plan, box);
  plan.spec.asks |= BERTH_SPEC_VOLUME;
  plan.spec.must |= BERTH_SPEC_VOLUME;
  plan.spec.volume_route = "no-such-route";
  SUITE_CHECK (suite, suite_box_create (box, &plan.spec) != 0, "a sandbox is made on a route that leads nowhere");
  SUITE_CHECK (suite, suite_count (suite, NULL) == 0, "a refused create left something");
}

/* ---- GPU ---- */

void
suite_i09 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_new (suite), *odd = suite_box_new (suite);
  struct berth_effective effective = { 0 };
  struct suite_plan plan;
  uint32_t code;

  suite_plan_init (&plan, box);
  plan.spec.asks |= BERTH_SPEC_GPU;
  plan.spec.must |= BERTH_SPEC_GPU;
  plan.spec.gpu = "any";
  code = suite_box_validate (box, &plan.spec, &effective);
  SUITE_CHECK_CODE (suite, "a GPU", code, 0, BERTH_E_CAPABILITY_NOT_SUPPORTED);
  SUITE_CHECK (suite, code != 0 || (effective.enforced & BERTH_SPEC_GPU) != 0, "a GPU is accepted and not in force");
  plan.spec.gpu = "no such model";
  SUITE_CHECK_CODE (suite, "a GPU that nobody has", suite_box_validate (odd, &plan.spec, NULL), BERTH_E_CAPABILITY_NOT_SUPPORTED);
  SUITE_CHECK (suite, suite_count (suite, NULL) == 0, "validate made something");
}

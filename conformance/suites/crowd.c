/* L13, L14: many things at once. */
#include "conformance/suites/content.h"
#include "conformance/suites/leftovers.h"
#include "conformance/suites/lifecycle.h"
#include "conformance/suites/run.h"
#include "sdk/base/clock.h"

static int64_t
endless (void *context, void *bytes, size_t size)
{
  (void) context;
  berth_clock_sleep_ms (1);
  memset (bytes, 'x', size);
  return (int64_t) size;
}

struct writer
{
  struct suite_box *box;
  uint32_t code;
};

static void *
write_endlessly (void *context)
{
  struct writer *writer = context;
  struct berth_change how = suite_change (0);
  struct berth_source source
      = { .struct_size = sizeof source, .size = BERTH_UNKNOWN_SIZE, .read = endless };
  struct suite_call call;
  struct berth_call *made = suite_call_begin (&call, writer->box->suite, writer->box->native_id, NULL, 0);

  writer->code = suite_call_end (&call,
                                 writer->box->suite->backend->files->write (
                                     made, writer->box->handle, SUITE_WORKSPACE "/endless", &how, &source),
                                 NULL);
  return NULL;
}

void
suite_l13 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  struct suite_job jobs[2] = { { .command = { .deadline_ms = 20000 } },
                               { .command = { .deadline_ms = 20000, .discard = true } } };
  struct writer writer = { .box = box };
  int64_t started;
  pthread_t thread;

  suite_job_start (&jobs[0], box, "sleep 1000");
  suite_job_start (&jobs[1], box, "while :; do echo on and on; done");
  SUITE_REQUIRE (suite, pthread_create (&thread, NULL, write_endlessly, &writer) == 0, "no thread");
  berth_clock_sleep_ms (500);
  started = berth_clock_monotonic_ms ();
  SUITE_CHECK_CODE (suite, "destroy", suite_box_destroy (box, true, NULL), 0);
  for (int i = 0; i < 2; i++)
    {
      suite_job_join (&jobs[i]);
      SUITE_CHECK (suite, jobs[i].ran.code != 0 && jobs[i].ran.exits == 0, "command %d: %s", i,
                   suite_ran_text (&jobs[i].ran));
      SUITE_CHECK_CODE (suite, "command", jobs[i].ran.code, BERTH_E_SANDBOX_NOT_FOUND, BERTH_E_UNREACHABLE);
      suite_ran_free (&jobs[i].ran);
    }
  pthread_join (thread, NULL);
  SUITE_CHECK_CODE (suite, "write", writer.code, BERTH_E_SANDBOX_NOT_FOUND, BERTH_E_UNREACHABLE);
  SUITE_CHECK (suite, berth_clock_monotonic_ms () - started < 5000, "calls went on for %lld ms",
               (long long) (berth_clock_monotonic_ms () - started));
  suite_check_gone (suite, box->sandbox_id, 2000, "destroy");
}

#define AT_ONCE 20

struct maker
{
  struct suite_box *box;
  uint32_t code;
  uint32_t wrote;
};

static void *
make_one (void *context)
{
  struct maker *maker = context;
  struct suite_plan plan;

  suite_plan_init (&plan, maker->box);
  maker->code = suite_box_create (maker->box, &plan.spec);
  if (maker->code == 0)
    maker->wrote = suite_write_text (maker->box, SUITE_WORKSPACE "/id", maker->box->sandbox_id);
  return NULL;
}

void
suite_l14 (struct suite_context *suite)
{
  struct maker makers[AT_ONCE] = { { 0 } };
  pthread_t threads[AT_ONCE];

  for (int i = 0; i < AT_ONCE; i++)
    makers[i].box = suite_box_new (suite);
  for (int i = 0; i < AT_ONCE; i++)
    SUITE_REQUIRE (suite, pthread_create (&threads[i], NULL, make_one, &makers[i]) == 0, "no thread");
  for (int i = 0; i < AT_ONCE; i++)
    pthread_join (threads[i], NULL);
  SUITE_CHECK (suite, suite_count (suite, NULL) == AT_ONCE, "%d were made, %d are listed", AT_ONCE,
               suite_count (suite, NULL));
  for (int i = 0; i < AT_ONCE; i++)
    {
      SUITE_CHECK (suite, makers[i].code == 0 && makers[i].wrote == 0, "create %d of %d at once: %s: %s", i, AT_ONCE,
                   suite_code_name (makers[i].code != 0 ? makers[i].code : makers[i].wrote),
                   makers[i].box->error.message);
      if (makers[i].code == 0)
        suite_check_content (makers[i].box, SUITE_WORKSPACE "/id", makers[i].box->sandbox_id,
                             strlen (makers[i].box->sandbox_id));
    }
}

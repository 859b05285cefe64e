/* L16, L21, L22: sandboxes that are held, stopped and brought back. */
#include <stdlib.h>
#include <string.h>

#include "conformance/suites/box.h"
#include "conformance/suites/call.h"
#include "conformance/suites/content.h"
#include "conformance/suites/lifecycle.h"
#include "conformance/suites/role.h"
#include "conformance/suites/run.h"
#include "conformance/suites/silence.h"
#include "conformance/suites/tar.h"
#include "sdk/base/clock.h"

#define QUICK_MS 4000 /* a refusal that is not waited for */
#define WATCH_MS 500

enum change
{
  PAUSE = 1,
  RESUME,
  STOP,
  START
};

static uint32_t
change (struct suite_box *box, enum change what)
{
  struct suite_context *suite = box->suite;
  const struct berth_backend *backend = suite->backend;
  const struct berth_options options = { .struct_size = sizeof options };
  struct berth_native native = suite_box_native (box);
  struct suite_call call;
  struct berth_call *made = suite_call_begin (&call, suite, native.id, NULL, 0);
  int result = what == PAUSE    ? backend->pause->pause (made, suite->state, &native, &options)
               : what == RESUME ? backend->pause->resume (made, suite->state, &native)
               : what == STOP   ? backend->restart->stop (made, suite->state, &native, &options)
                                : backend->restart->start (made, suite->state, &native);

  return suite_call_end (&call, result, &box->error);
}

/* What a backend declares, an instance may lack: on a machine that has not what it takes. */
static struct suite_box *
box_with (struct suite_context *suite, uint64_t capability)
{
  struct suite_box *box = suite_box_make (suite);

  if ((box->effective.capabilities & capability) == 0)
    suite_not_applicable (suite, "sandboxes of this machine do not have it");
  return box;
}

struct told
{
  const char *id;
  uint32_t life;
};

static int
note_life (void *context, const struct berth_found *found)
{
  struct told *wanted = context;

  if (strcmp (found->native_id, wanted->id) == 0)
    wanted->life = found->life;
  return 0;
}

static void
check_life (struct suite_box *box, const char *when, uint32_t life)
{
  struct told told = { box->native_id, 0 };
  struct suite_context *suite = box->suite;

  SUITE_CHECK_CODE (suite, "list_ids", suite_list (suite, note_life, &told, &box->error), 0);
  SUITE_CHECK (suite, told.life == life, "%s list_ids tells life %u, not %u", when, told.life, life);
  SUITE_CHECK (suite, suite_box_is_running (box) == (life == BERTH_LIFE_RUNNING), "%s is_running says %d", when,
               suite_box_is_running (box));
}

/* Bytes that the sandbox's clock has written: read while it runs. */
static long
ticks (struct suite_box *box)
{
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };

  suite_sh (box, &ran, 0, "wc -c < ticks");
  return suite_ran_exited (&ran, 0) ? strtol (berth_buffer_string (&ran.out), NULL, 10) : -1;
}

static void
require (struct suite_box *box, const char *what, enum change which)
{
  SUITE_REQUIRE (box->suite, change (box, which) == 0, "%s: %s", what, box->error.message);
}

static void
check_run_refused (struct suite_box *box, const char *when)
{
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  int64_t begin = berth_clock_monotonic_ms ();

  suite_sh (box, &ran, 0, "echo ran");
  SUITE_CHECK_CODE (box->suite, when, ran.code, BERTH_E_WRONG_STATE);
  SUITE_CHECK (box->suite, berth_clock_monotonic_ms () - begin < QUICK_MS, "%s: the refusal took %lld ms", when,
               (long long) (berth_clock_monotonic_ms () - begin));
}

static void
note_file (void *context, const char *name)
{
  *(bool *) context |= strcmp (name, "file") == 0;
}

/* Whole, or refused: nothing of it is told to stand still that does not. */
static void
check_export (struct suite_box *box)
{
  BERTH_AUTO_BUFFER struct berth_buffer tar = { 0 };
  struct berth_tar_report report = { 0 };
  bool found = false;
  uint32_t code = suite_export_paused (box, &tar, &report);

  if (code == BERTH_E_WRONG_STATE || code == BERTH_E_CAPABILITY_NOT_SUPPORTED)
    {
      SUITE_CHECK (box->suite, tar.size == 0, "an export that is refused gave %zu bytes", tar.size);
      return;
    }
  SUITE_CHECK_CODE (box->suite, "export of a paused one", code, 0);
  SUITE_CHECK (box->suite, suite_tar_names (&tar, note_file, &found) && found, "the export of a paused one is not complete");
  SUITE_CHECK (box->suite, (report.has & BERTH_TAR_CHANGED) == 0, "a paused one changed while it was exported");
}

/* A loop that ticks every 20 ms could write some 25 bytes while it is held. */
void
suite_l21 (struct suite_context *suite)
{
  struct suite_box *box = box_with (suite, BERTH_CAP_PAUSE);
  SUITE_AUTO_RAN struct suite_ran clock = { 0 };
  SUITE_AUTO_RAN struct suite_ran after = { 0 };
  int64_t patience = berth_clock_monotonic_ms () + 10000;

  suite_sh (box, &clock, 0, "(while :; do printf x >> ticks; sleep 0.02; done) >/dev/null 2>&1 & echo kept > file");
  SUITE_REQUIRE_EXIT (suite, &clock, 0, "a clock inside");
  while (ticks (box) < 5 && berth_clock_monotonic_ms () < patience)
    berth_clock_sleep_ms (20);
  require (box, "pause", PAUSE);
  require (box, "pause twice", PAUSE);
  check_life (box, "paused,", BERTH_LIFE_PAUSED);
  check_run_refused (box, "run in a paused sandbox");
  check_export (box);
  berth_clock_sleep_ms (WATCH_MS);
  check_run_refused (box, "a second run in a paused sandbox");
  require (box, "resume", RESUME);
  long held = ticks (box);
  require (box, "resume of a running one", RESUME);
  check_life (box, "resumed,", BERTH_LIFE_RUNNING);
  suite_sh (box, &after, 0, "cat file");
  SUITE_CHECK_PRINTED (suite, &after, "kept\n", "files stay");
  patience = berth_clock_monotonic_ms () + 10000;
  while (ticks (box) <= held && berth_clock_monotonic_ms () < patience)
    berth_clock_sleep_ms (20);
  SUITE_CHECK (suite, ticks (box) > held, "the clock does not go on after resume");
}

/* The clock of the sandbox writes its time, so that a gap shows. */
void
suite_l21_gap (struct suite_context *suite)
{
  struct suite_box *box = box_with (suite, BERTH_CAP_PAUSE);
  SUITE_AUTO_RAN struct suite_ran clock = { 0 };
  SUITE_AUTO_RAN struct suite_ran inside = { 0 };

  suite_sh (box, &clock, 0, "(while :; do date +%s%N >> times; sleep 0.02; done) >/dev/null 2>&1 &");
  SUITE_REQUIRE_EXIT (suite, &clock, 0, "a clock inside");
  berth_clock_sleep_ms (200);
  require (box, "pause", PAUSE);
  int64_t from = berth_clock_wall_ms ();
  berth_clock_sleep_ms (WATCH_MS);
  int64_t to = berth_clock_wall_ms ();
  require (box, "resume", RESUME);
  suite_sh (box, &inside, 0, "cat times");
  int seen = 0;
  for (char *at = inside.out.data, *end; at != NULL && *at != '\0'; at = end + strspn (end, "\n"))
    {
      int64_t time = strtoll (at, &end, 10) / 1000000;
      if (end == at)
        break;
      seen++;
      SUITE_CHECK (suite, time <= from || time >= to, "a process wrote %lld ms after the pause, before the resume",
                   (long long) (time - from));
    }
  SUITE_CHECK (suite, seen > 0, "the clock wrote nothing");
}

void
suite_l21_destroy (struct suite_context *suite)
{
  struct suite_box *box = box_with (suite, BERTH_CAP_PAUSE);
  struct suite_box *unknown = suite_box_new (suite);
  uint32_t verdict = 0;

  require (box, "pause", PAUSE);
  SUITE_CHECK_CODE (suite, "destroy of a paused one", suite_box_destroy (box, false, &verdict), 0);
  SUITE_CHECK (suite, verdict == BERTH_GONE, "the verdict on a paused one is %u", verdict);
  strcpy (unknown->native_id, "sb-22222222222222222222.9");
  SUITE_CHECK_CODE (suite, "pause of an unknown one", change (unknown, PAUSE), BERTH_E_SANDBOX_NOT_FOUND);
  SUITE_CHECK_CODE (suite, "resume of an unknown one", change (unknown, RESUME), BERTH_E_SANDBOX_NOT_FOUND);
}

/* A handle of before a stop is not used after the start. */
static void
reconnect (struct suite_box *box, struct berth_effective *effective)
{
  struct berth_handle *handle = NULL;

  if (box->handle != NULL)
    suite_box_release (box, box->handle);
  box->handle = NULL;
  SUITE_REQUIRE (box->suite, suite_box_connect (box, effective, &handle) == 0, "connect after start: %s",
                 box->error.message);
  box->handle = handle;
}

void
suite_l22 (struct suite_context *suite)
{
  struct suite_box *box = box_with (suite, BERTH_CAP_RESTART);
  struct berth_effective now = { 0 };
  SUITE_AUTO_RAN struct suite_ran before = { 0 };
  SUITE_AUTO_RAN struct suite_ran after = { 0 };

  suite_sh (box, &before, 0, "echo kept > file; mkdir d; ln -s file d/link; (sleep 300; touch ended) >/dev/null 2>&1 &");
  SUITE_REQUIRE_EXIT (suite, &before, 0, "a workspace");
  require (box, "stop", STOP);
  require (box, "stop twice", STOP);
  check_life (box, "stopped,", BERTH_LIFE_STOPPED);
  check_run_refused (box, "run in a stopped sandbox");
  require (box, "start", START);
  require (box, "start twice", START);
  check_life (box, "started,", BERTH_LIFE_RUNNING);
  reconnect (box, &now);
  SUITE_CHECK (suite, now.enforced == box->effective.enforced && now.memory_bytes == box->effective.memory_bytes
                   && now.pids == box->effective.pids && now.cpu_milli == box->effective.cpu_milli
                   && now.tmp_bytes == box->effective.tmp_bytes && now.tier == box->effective.tier,
               "other limits or another tier are in force after start");
  suite_sh (box, &after, 0, "cat file; readlink d/link; cat /proc/[0-9]*/comm | grep -c sleep; id -un");
  SUITE_CHECK_PRINTED (suite, &after, "kept\nfile\n0\nsandbox\n", "after start");
}

void
suite_l22_destroy (struct suite_context *suite)
{
  struct suite_box *box = box_with (suite, BERTH_CAP_RESTART);
  struct suite_box *unknown = suite_box_new (suite);
  uint32_t verdict = 0;

  require (box, "stop", STOP);
  SUITE_CHECK_CODE (suite, "destroy of a stopped one", suite_box_destroy (box, false, &verdict), 0);
  SUITE_CHECK (suite, verdict == BERTH_GONE, "the verdict on a stopped one is %u", verdict);
  strcpy (unknown->native_id, "sb-22222222222222222222.9");
  SUITE_CHECK_CODE (suite, "stop of an unknown one", change (unknown, STOP), BERTH_E_SANDBOX_NOT_FOUND);
  SUITE_CHECK_CODE (suite, "start of an unknown one", change (unknown, START), BERTH_E_SANDBOX_NOT_FOUND);
}

/* ---- L16 ---- */

/* What died is seen to be dead, at once or soon, and listed: it has something on disk. */
static void
check_dead (struct suite_box *box, const char *when)
{
  struct told told = { box->native_id, 0 };
  struct suite_context *suite = box->suite;
  int64_t patience = berth_clock_monotonic_ms () + 5000;

  while (suite_box_is_running (box) != 0 && berth_clock_monotonic_ms () < patience)
    berth_clock_sleep_ms (20);
  SUITE_CHECK (suite, suite_box_is_running (box) == 0, "%s is_running says %d", when, suite_box_is_running (box));
  SUITE_CHECK_CODE (suite, "list_ids", suite_list (suite, note_life, &told, &box->error), 0);
  SUITE_CHECK (suite, told.life == BERTH_LIFE_STOPPED || told.life == BERTH_LIFE_FAILED, "%s list_ids tells life %u", when,
               told.life);
}

static void
bring_back (struct suite_box *box)
{
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };

  require (box, "start", START);
  check_life (box, "started again,", BERTH_LIFE_RUNNING);
  reconnect (box, NULL);
  suite_sh (box, &ran, 0, "cat a");
  SUITE_CHECK_PRINTED (box->suite, &ran, "x", "the workspace after it was started again");
}

/* The host that asked before, and one that comes later, hear the same. */
void
suite_l16 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  struct suite_box *beside = suite_box_make (suite);
  uint32_t verdict = 0;

  if (!suite_kill_server (box, NULL))
    suite_not_applicable (suite, "what serves its sandboxes is not on this machine");
  check_dead (box, "killed,");
  suite_box_release (box, box->handle);
  suite_box_release (beside, beside->handle);
  box->handle = beside->handle = NULL;
  suite_close (suite);
  SUITE_REQUIRE (suite, suite_open (suite), "the backend cannot be opened a second time");
  check_dead (box, "to another instance, killed,");
  check_life (beside, "beside it,", BERTH_LIFE_RUNNING);
  if ((box->effective.capabilities & BERTH_CAP_RESTART) != 0)
    bring_back (box);
  SUITE_CHECK_CODE (suite, "destroy", suite_box_destroy (box, false, &verdict), 0);
  SUITE_CHECK (suite, verdict == BERTH_GONE, "the verdict is %u", verdict);
}

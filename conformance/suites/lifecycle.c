/* L: making, finding, keeping and ending sandboxes.  Limits stand in limits.c, other processes in
 * survival.c, many at once in crowd.c. */
#include "conformance/suites/lifecycle.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>

#include "conformance/suites/content.h"
#include "conformance/suites/leftovers.h"
#include "conformance/suites/platform.h"
#include "conformance/suites/role.h"
#include "conformance/suites/run.h"
#include "sdk/base/clock.h"
#include "sdk/base/string.h"

/* ---- L01 to L03 ---- */

static void
l01 (struct suite_context *suite)
{
  unsigned int facts = 0;
  struct berth_error error;
  uint32_t code = suite_ping (suite, &facts, &error);

  SUITE_CHECK (suite, code == 0, "ping: %s: %s", suite_code_name (code), error.message);
}

static void
check_same (struct suite_context *suite, const char *what, const struct berth_effective *got,
            const struct berth_effective *want)
{
  SUITE_CHECK (suite, got->tier == want->tier, "%s: tier %u, validate said %u", what, got->tier, want->tier);
  SUITE_CHECK (suite, got->capabilities == want->capabilities, "%s: capabilities %llx, validate said %llx", what,
               (unsigned long long) got->capabilities, (unsigned long long) want->capabilities);
  SUITE_CHECK (suite, got->enforced == want->enforced && got->posture == want->posture,
               "%s: enforced %llx posture %llx, validate said %llx and %llx", what, (unsigned long long) got->enforced,
               (unsigned long long) got->posture, (unsigned long long) want->enforced,
               (unsigned long long) want->posture);
  SUITE_CHECK (suite,
               got->memory_bytes == want->memory_bytes && got->cpu_milli == want->cpu_milli && got->pids == want->pids
                   && got->tmp_bytes == want->tmp_bytes && got->open_files == want->open_files
                   && got->disk_bytes == want->disk_bytes,
               "%s: other numbers than validate said", what);
}

static void
l02 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_new (suite);
  struct berth_effective told = { 0 };
  struct berth_effective connected = { 0 };
  struct berth_handle *handle = NULL;
  struct suite_plan plan;
  struct suite_plan bad;

  suite_plan_init (&plan, box);
  bad = plan;
  bad.spec.image = "registry.invalid/no-such-image:0";
  bad.spec.asks |= BERTH_SPEC_IMAGE;
  bad.spec.must |= BERTH_SPEC_IMAGE;
  bad.spec.network = &bad.policy;
  if ((suite->backend->flags & BERTH_BACKEND_EXECUTES_NOTHING) == 0)
    SUITE_CHECK (suite, suite_box_validate (box, &bad.spec, NULL) != 0, "an image that nobody has was accepted");
  SUITE_REQUIRE (suite, suite_box_validate (box, &plan.spec, &told) == 0, "validate: %s", box->error.message);
  SUITE_CHECK (suite, suite_count (suite, NULL) == 0, "validate made something that list_ids tells");
  suite_check_gone (suite, suite->tag, 0, "validate");
  SUITE_REQUIRE (suite, suite_box_create (box, &plan.spec) == 0, "create: %s", box->error.message);
  check_same (suite, "create", &box->effective, &told);
  SUITE_REQUIRE (suite, suite_box_connect (box, &connected, &handle) == 0, "connect: %s", box->error.message);
  check_same (suite, "connect", &connected, &told);
  suite_box_release (box, handle);
}

static void
l03 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  uint64_t count = 99;

  SUITE_CHECK (suite, box->created_calls >= 1 && box->effective_calls == 1 && !box->effective_early,
               "created came %u times, effective %u times%s", box->created_calls, box->effective_calls,
               box->effective_early ? " and too early" : "");
  SUITE_CHECK (suite, suite_box_is_running (box) == 1, "is_running does not say 1 after create");
  SUITE_CHECK_CODE (suite, "list /workspace", suite_list_files (box, SUITE_WORKSPACE, NULL, NULL, &count), 0);
  SUITE_CHECK (suite, count == 0, "a new workspace has %llu entries", (unsigned long long) count);
  SUITE_CHECK_CODE (suite, "write", suite_write_text (box, SUITE_WORKSPACE "/a", "x"), 0);
}

static void
l03_inside (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };

  suite_sh (box, &ran, 0,
            "pwd; echo \"$HOME\"; id -un; stat -c %U:%G /workspace; ls -A | wc -l; "
            "echo b > b && mkdir c && cat b");
  SUITE_CHECK_EXIT (suite, &ran, 0, "the first command");
  SUITE_CHECK_PRINTED (suite, &ran, "/workspace\n/workspace\nsandbox\nsandbox:sandbox\n0\nb\n", "the first command");
}

/* ---- L06 and L18: a create that fails ---- */

static void
check_nothing (struct suite_context *suite, const struct suite_box *box, const char *what)
{
  suite_check_gone (suite, box->sandbox_id, 1000, what);
  if (box->native_id[0] != '\0')
    SUITE_CHECK (suite, suite_count (suite, box) == 0, "%s: list_ids still tells it", what);
}

/* The sinks are where a host's own disk may fail. */
static void
l06_sinks (struct suite_context *suite)
{
  for (int step = 0; step < 2; step++)
    {
      struct suite_box *box = suite_box_new (suite);
      struct suite_plan plan;

      box->refuse_created = step == 0;
      box->refuse_effective = step == 1;
      suite_plan_init (&plan, box);
      SUITE_CHECK (suite, suite_box_create (box, &plan.spec) != 0, "create succeeded against its sink's -1");
      check_nothing (suite, box, step == 0 ? "created answered -1" : "effective answered -1");
    }
}

static unsigned int
highest_descriptor (void)
{
  int probe = dup (0);

  if (probe >= 0)
    close (probe);
  return (unsigned int) probe;
}

/* Each open, socket or pipe of create fails once: with no descriptor to spare, with one, with
 * two, until it succeeds. */
static void
l06_steps (struct suite_context *suite)
{
  struct rlimit usual;
  unsigned int base = highest_descriptor ();
  unsigned int spare = 0;
  uint32_t code = 1;

  SUITE_REQUIRE (suite, getrlimit (RLIMIT_NOFILE, &usual) == 0, "getrlimit");
  for (; code != 0 && spare < 100; spare++)
    {
      struct rlimit tight = { .rlim_cur = base + spare, .rlim_max = usual.rlim_max };
      struct suite_box *box = suite_box_new (suite);
      struct suite_plan plan;
      char what[64];

      suite_plan_init (&plan, box);
      setrlimit (RLIMIT_NOFILE, &tight);
      code = suite_box_create (box, &plan.spec);
      setrlimit (RLIMIT_NOFILE, &usual);
      snprintf (what, sizeof what, "create with %u descriptors to spare", spare);
      /* Undoing may have failed for the same reason: the host then destroys what it was told. */
      if (code != 0 && box->native_id[0] != '\0')
        SUITE_CHECK_CODE (suite, "destroy after it", suite_box_destroy (box, false, NULL), 0);
      if (code != 0)
        check_nothing (suite, box, what);
    }
  SUITE_CHECK (suite, code == 0, "create fails with %u descriptors to spare", spare);
}

static void
l06_agent (struct suite_context *suite)
{
  struct suite_box *box;
  struct suite_plan plan;

  suite_close (suite);
  suite->agent_path = "/nonexistent/agent";
  SUITE_REQUIRE (suite, suite_open (suite), "cannot open again");
  box = suite_box_new (suite);
  suite_plan_init (&plan, box);
  if (suite_box_create (box, &plan.spec) != 0)
    {
      SUITE_CHECK (suite, box->error.message[0] != '\0', "no message");
      check_nothing (suite, box, "create without an agent");
    }
}

struct canceller
{
  struct berth_cancel *cancel;
  int64_t after_us;
};

static void *
cancel_later (void *context)
{
  struct canceller *canceller = context;
  struct timespec span = { .tv_sec = canceller->after_us / 1000000, .tv_nsec = canceller->after_us % 1000000 * 1000 };

  nanosleep (&span, NULL);
  berth_cancel_trigger (canceller->cancel);
  return NULL;
}

/* 0 when the create was faster. */
static uint32_t
cancel_create (struct suite_context *suite, int64_t after_us)
{
  struct suite_box *box = suite_box_new (suite);
  struct canceller canceller = { .after_us = after_us };
  struct suite_plan plan;
  pthread_t thread;
  uint32_t code;
  char what[64];

  SUITE_REQUIRE (suite, berth_cancel_new (&canceller.cancel, NULL) == 0, "no cancel token");
  box->cancel = canceller.cancel;
  suite_plan_init (&plan, box);
  SUITE_REQUIRE (suite, pthread_create (&thread, NULL, cancel_later, &canceller) == 0, "no thread");
  code = suite_box_create (box, &plan.spec);
  pthread_join (thread, NULL);
  snprintf (what, sizeof what, "create cancelled after %lld us", (long long) after_us);
  if (code != 0)
    {
      SUITE_CHECK_CODE (suite, what, code, BERTH_E_CANCELLED);
      check_nothing (suite, box, what);
    }
  box->cancel = NULL;
  berth_cancel_free (canceller.cancel);
  return code;
}

static void
l18 (struct suite_context *suite)
{
  static const int64_t spans_us[] = { 0,    300,  700,  1000,  1500,  2000,  2500,  3000,  4000,
                                      5000, 6000, 8000, 10000, 14000, 20000, 30000, 50000, 80000 };
  unsigned int cancelled = 0;

  for (size_t i = 0; i < sizeof spans_us / sizeof *spans_us; i++)
    cancelled += cancel_create (suite, spans_us[i]) != 0;
  SUITE_CHECK (suite, cancelled > 0, "no create was cancelled, not even at once");
}

/* ---- L08 to L11 ---- */

static void
l08 (struct suite_context *suite)
{
  static const char *const unknown[] = { SUITE_IMPOSSIBLE_IDS };
  struct suite_box *box = suite_box_make (suite);
  uint32_t verdict = 0;

  SUITE_CHECK_CODE (suite, "write", suite_write_text (box, SUITE_WORKSPACE "/d/e/f", "stored"), 0);
  for (int round = 0; round < 2; round++)
    {
      SUITE_CHECK_CODE (suite, "destroy", suite_box_destroy (box, false, &verdict), 0);
      SUITE_CHECK (suite, verdict == BERTH_GONE || (round == 0 && verdict == BERTH_ACCEPTED), "destroy %d: verdict %u",
                   round + 1, verdict);
      suite_check_gone (suite, box->sandbox_id, 5000, "destroy");
    }
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
    {
      SUITE_CHECK_CODE (suite, unknown[i], suite_box_destroy (suite_box_named (suite, unknown[i]), false, &verdict), 0);
      SUITE_CHECK (suite, verdict == BERTH_GONE, "destroy of %s: verdict %u", unknown[i], verdict);
    }
}

static uint32_t
probe (struct suite_box *box)
{
  struct suite_context *suite = box->suite;
  struct berth_native native = suite_box_native (box);
  struct berth_presence presence = { 0 };
  struct suite_call call;
  struct berth_call *made = suite_call_begin (&call, suite, native.id, NULL, 0);
  uint32_t code
      = suite_call_end (&call, suite->backend->probe->probe (made, suite->state, &native, &presence), &box->error);

  SUITE_CHECK (suite, code == 0, "probe: %s: %s", suite_code_name (code), box->error.message);
  return presence.verdict;
}

static void
l09 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  uint32_t verdict = 0;

  SUITE_CHECK_CODE (suite, "destroy", suite_box_destroy (box, false, &verdict), 0);
  SUITE_CHECK (suite, verdict == BERTH_GONE || verdict == BERTH_ACCEPTED, "verdict %u", verdict);
  if (verdict == BERTH_GONE)
    suite_check_gone (suite, box->sandbox_id, 0, "destroy said GONE, and there is");
}

static void
l09_probe (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  uint32_t verdict = 0;

  SUITE_CHECK (suite, probe (box) == BERTH_PRESENT, "probe does not see a running sandbox");
  SUITE_CHECK_CODE (suite, "destroy", suite_box_destroy (box, false, &verdict), 0);
  SUITE_CHECK (suite, verdict != BERTH_GONE || probe (box) == BERTH_ABSENT, "destroy said GONE, probe sees it");
  SUITE_CHECK (suite, probe (suite_box_named (suite, SUITE_UNKNOWN_ID)) == BERTH_ABSENT, "probe sees what nobody made");
}

struct labels
{
  const struct suite_box *box;
  unsigned int found;
  bool right;
  uint32_t life;
};

static int
find_labels (void *context, const struct berth_found *found)
{
  struct labels *labels = context;
  const struct suite_box *box = labels->box;

  if (strcmp (found->native_id, box->native_id) != 0)
    return 0;
  labels->found++;
  labels->life = found->life;
  labels->right = (found->has & BERTH_FOUND_LABELS) != 0 && berth_string_equal (found->sandbox_id, box->sandbox_id)
                  && berth_string_equal (found->assignment_id, box->assignment_id)
                  && berth_string_equal (found->installation_id, box->suite->installation_id);
  return 0;
}

static void
l10 (struct suite_context *suite)
{
  struct suite_box *boxes[3];

  SUITE_CHECK (suite, suite_count (suite, NULL) == 0, "something is listed before anything was made");
  for (int i = 0; i < 3; i++)
    boxes[i] = suite_box_make (suite);
  SUITE_CHECK (suite, suite_count (suite, NULL) == 3, "three were made, and as many are not listed");
  for (int i = 0; i < 3; i++)
    {
      struct labels labels = { .box = boxes[i] };

      SUITE_CHECK_CODE (suite, "list_ids", suite_list (suite, find_labels, &labels, NULL), 0);
      SUITE_CHECK (suite, labels.found == 1 && labels.right && labels.life == BERTH_LIFE_RUNNING,
                   "listed %u times, labels %s, life %u", labels.found, labels.right ? "right" : "wrong", labels.life);
    }
  SUITE_CHECK_CODE (suite, "destroy", suite_box_destroy (boxes[1], false, NULL), 0);
  SUITE_CHECK (suite, suite_count (suite, NULL) == 2 && suite_count (suite, boxes[1]) == 0,
               "one of three was destroyed, and two others are not what is listed");
}

static void
l10_others (struct suite_context *suite)
{
  struct suite_context other = *suite;
  BERTH_AUTO_FREE char *state_dir = berth_string_format ("%s/t", suite->directory);
  BERTH_AUTO_FREE char *runtime_dir = berth_string_format ("%s/u", suite->directory);

  suite_box_make (suite);
  SUITE_REQUIRE (suite, state_dir != NULL && runtime_dir != NULL, "no memory");
  other.installation_id = "in-another";
  other.state_dir = state_dir;
  other.runtime_dir = runtime_dir;
  other.boxes = NULL;
  other.registry = NULL;
  SUITE_REQUIRE (suite, suite_open (&other), "no second instance");
  SUITE_CHECK (suite, suite_count (&other, NULL) == 0, "another installation lists our sandbox");
  suite_close (&other);
  SUITE_CHECK (suite, suite_count (suite, NULL) == 1, "ours is not listed any more");
}

static void
l11 (struct suite_context *suite)
{
  static const char *const ids[] = { SUITE_IMPOSSIBLE_IDS };
  struct suite_box *box = suite_box_make (suite);

  SUITE_CHECK (suite, suite_box_is_running (box) == 1, "is_running does not say 1");
  SUITE_CHECK_CODE (suite, "destroy", suite_box_destroy (box, false, NULL), 0);
  SUITE_CHECK (suite, suite_box_is_running (box) == 0, "a destroyed one: %d", suite_box_is_running (box));
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
    {
      struct suite_box *unknown = suite_box_named (suite, ids[i]);

      SUITE_CHECK (suite, suite_box_is_running (unknown) == 0, "%s: %d", ids[i], suite_box_is_running (unknown));
    }
}

static const struct suite_clause clauses[] = {
  { .id = "L01", .title = "ping answers", .run = l01 },
  { .id = "L02", .title = "validate provisions nothing and says what the sandbox then is", .run = l02 },
  { .id = "L03", .title = "create gives a running sandbox with an empty, writable workspace", .run = l03 },
  { .id = "L03-inside", .title = "the workspace is the sandbox user's, who starts there", .flags = SUITE_PROGRAM, .run = l03_inside },
  { .id = "L04", .title = "every limit is in force or refused", .flags = SUITE_PROGRAM | SUITE_SLOW | SUITE_ALONE, .seconds = 240, .run = suite_l04 },
  { .id = "L05", .title = "a default is never unlimited, a limit can be raised", .run = suite_l05 },
  { .id = "D-095", .title = "a fork bomb keeps out neither looking nor ending", .flags = SUITE_PROGRAM | SUITE_SLOW | SUITE_ALONE, .seconds = 90, .run = suite_d095 },
  { .id = "D-096", .title = "descriptors and files have an end by default", .flags = SUITE_PROGRAM | SUITE_ALONE, .run = suite_d096 },
  { .id = "D-097", .title = "out of memory is told when it was, and only then", .flags = SUITE_PROGRAM | SUITE_SLOW | SUITE_ALONE, .run = suite_d097 },
  { .id = "D-098", .title = "the disk's limit counts what is there", .flags = SUITE_PROGRAM | SUITE_SLOW | SUITE_ALONE, .run = suite_d098 },
  { .id = "D-100", .title = "shared memory has a size and is the sandbox's own", .flags = SUITE_PROGRAM, .run = suite_d100 },
  { .id = "D-101", .title = "file watches are counted for each sandbox", .flags = SUITE_PROGRAM | SUITE_ALONE, .seconds = 60, .run = suite_d101 },
  { .id = "L06", .title = "a create that its sink refuses leaves nothing", .run = l06_sinks },
  { .id = "L06-steps", .title = "a create that fails at step 1, 2, 3 leaves nothing", .flags = SUITE_SLOW, .seconds = 60, .run = l06_steps },
  { .id = "L06-agent", .title = "a create without its agent leaves nothing", .run = l06_agent },
  { .id = "L07", .title = "connect from another process reaches the same sandbox", .run = suite_l07 },
  { .id = "L07-unknown", .title = "connect to an unknown id is SANDBOX_NOT_FOUND", .run = suite_l07_unknown },
  { .id = "L08", .title = "destroy removes all of it; a second and an unknown one succeed", .run = l08 },
  { .id = "L09", .title = "destroy says GONE only when it is", .run = l09 },
  { .id = "L09-probe", .title = "probe agrees with destroy", .needs = BERTH_CAP_PROBE, .run = l09_probe },
  { .id = "L10", .title = "list_ids tells every sandbox with its labels", .run = l10 },
  { .id = "L10-others", .title = "list_ids tells nothing of another installation", .run = l10_others },
  { .id = "L11", .title = "is_running is false for unknown and ended ids", .run = l11 },
  { .id = "L12", .title = "a sandbox survives the process that made it", .run = suite_l12 },
  { .id = "L13", .title = "destroy in the middle of everything ends everything", .flags = SUITE_PROGRAM, .run = suite_l13 },
  { .id = "L14", .title = "20 creates at once all succeed", .flags = SUITE_SLOW | SUITE_ALONE, .seconds = 60, .run = suite_l14 },
  { .id = "L15", .title = "the workload harms neither the agent nor its limits", .flags = SUITE_PROGRAM | SUITE_SLOW, .seconds = 120, .run = suite_l15 },
  { .id = "L16", .title = "what was killed is told to be dead, and nothing else is", .flags = SUITE_PROGRAM, .seconds = 60, .run = suite_l16 },
  { .id = "L17", .title = "labels of every legal form come back as stored", .run = suite_l17 },
  { .id = "L18", .title = "a create that is cancelled leaves nothing", .flags = SUITE_SLOW, .seconds = 60, .run = l18 },
  { .id = "L19", .title = "renew moves the end, expires_at tells it", .needs = BERTH_CAP_EXPIRY, .run = suite_l19 },
  { .id = "L19-end", .title = "the backend ends it by itself", .flags = SUITE_SLOW | SUITE_ALONE, .needs = BERTH_CAP_EXPIRY, .seconds = 60, .run = suite_l19_end },
  { .id = "L20", .title = "a create whose answer was lost is found by its assignment id", .needs = BERTH_CAP_CORRELATED_CREATE, .run = suite_l20 },
  { .id = "L21", .title = "paused is held, a run refused, resume goes on (D-046)", .flags = SUITE_PROGRAM | SUITE_SLOW, .needs = BERTH_CAP_PAUSE, .seconds = 90, .run = suite_l21 },
  { .id = "L21-gap", .title = "no process makes progress while paused", .flags = SUITE_PROGRAM | SUITE_SLOW | SUITE_ALONE, .needs = BERTH_CAP_PAUSE, .run = suite_l21_gap },
  { .id = "L21-destroy", .title = "destroy takes a paused one; unknown ids are told (D-046)", .needs = BERTH_CAP_PAUSE, .run = suite_l21_destroy },
  { .id = "L22", .title = "stop keeps the workspace, start brings it back with its limits", .flags = SUITE_PROGRAM, .needs = BERTH_CAP_RESTART, .run = suite_l22 },
  { .id = "L22-destroy", .title = "destroy takes a stopped one; unknown ids are told", .needs = BERTH_CAP_RESTART, .run = suite_l22_destroy },
  { .id = "L23", .title = "pages are complete and stable", .needs = BERTH_CAP_INVENTORY, .run = suite_l23 },
  { .id = "L24", .title = "children are independent and have their own identity", .needs = BERTH_CAP_FORK, .run = suite_l24 },
  { .id = "L25", .title = "a snapshot with memory comes back", .needs = BERTH_CAP_SNAPSHOT_MEMORY, .run = suite_l25 },
  { .id = "L25-disk", .title = "a snapshot of the disk comes back as it was", .needs = BERTH_CAP_SNAPSHOT_DISK, .run = suite_l25_disk },
  { .id = "L04-metrics", .title = "what it uses is measured", .needs = BERTH_CAP_METRICS, .run = suite_metrics },
  { .id = "L26", .title = "after release the sandbox still runs", .run = suite_l26 },
  { .id = "L27", .title = "a crash after `created` loses nothing", .run = suite_l27 },
  { .id = NULL },
};

static const struct suite_role roles[] = {
  { "create", suite_role_create },
  { "connect", suite_role_connect },
  { "die-in-create", suite_role_die_in_create },
  { "lose-answer", suite_role_lose_answer },
  { NULL, NULL },
};

const struct suite suite_lifecycle = { "lifecycle", clauses, roles };

/* What is made, filled or started again keeps its end, its limits and its record. */
#include <string.h>

#include "core/manager/sweep.h"
#include "core/manager/tests/place.h"
#include "core/state/snapshot.h"
#include "sdk/base/clock.h"

static struct berth_sandbox *
make (const struct place *place, int64_t ttl_ms, const char *snapshot)
{
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
  struct berth_sandbox *sandbox = NULL;
  struct berth_error error = { 0 };

  options.ttl_ms = ttl_ms;
  options.snapshot = snapshot;
  options.best_effort = 1;
  if (berth_sandbox_create (place->host, &options, &sandbox, &error) != 0)
    fprintf (stderr, "     %s\n", error.message);
  CU_ASSERT_PTR_NOT_NULL_FATAL (sandbox);
  return sandbox;
}

static void
save (struct berth_sandbox *sandbox, const char *name)
{
  struct berth_snapshot_options options = BERTH_SNAPSHOT_OPTIONS_INIT;

  options.name = name;
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_snapshot (sandbox, &options, NULL, NULL, NULL), 0);
}

static void
load (const struct place *place, const struct berth_sandbox *sandbox, struct berth_record *record)
{
  *record = (struct berth_record) { 0 };
  CU_ASSERT_EQUAL_FATAL (berth_store_load (place->host->store, berth_sandbox_id (sandbox), 0, record, NULL), 0);
}

/* ---- the backend's own end ---- */

/* It was asked for 3 s, and ours was moved since then. */
static void
test_renewed (void)
{
  PLACE place;

  place_make (&place, "fake");
  place_open (&place);
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = make (&place, 3000, NULL);
  save (sandbox, "one");
  CU_ASSERT_EQUAL (berth_sandbox_renew (sandbox, 60 * 1000, NULL, NULL), 0);
  CU_ASSERT_EQUAL (berth_sandbox_rollback (sandbox, "one", NULL, NULL), 0);
  berth_clock_sleep_ms (3200);
  CU_ASSERT_EQUAL (place_run (sandbox, "exit 5", NULL), 5);
}

/* The backend counts from when it made it, which is before it was filled. */
static void
test_filled_slowly (void)
{
  PLACE place;

  place_make (&place, "fake");
  place_open (&place);
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = make (&place, 60 * 1000, NULL);
  save (sandbox, "one");
  place_faults (&place, "workspace.import_tar=slow:2000");
  BERTH_AUTO_SANDBOX struct berth_sandbox *other = make (&place, 4000, "one");
  place_faults (&place, "");
  berth_clock_sleep_ms (2500);
  CU_ASSERT_EQUAL (place_run (other, "exit 5", NULL), 5);
}

/* ---- limits ---- */

static void
note_child (void *context, const struct berth_fork_result *result)
{
  *(bool *) context = result->id != NULL;
}

/* What was made without a limit, on the user's word, is made again without it. */
static void
test_best_effort (void)
{
  PLACE place;
  bool made = false;

  place_make (&place, "fake");
  place.config = "[backend fake]\nunenforced = pids,disk\n";
  place_open (&place);
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = make (&place, 60 * 1000, NULL);
  save (sandbox, "one");
  CU_ASSERT_EQUAL (berth_sandbox_rollback (sandbox, "one", NULL, NULL), 0);
  CU_ASSERT_EQUAL (berth_sandbox_fork (sandbox, NULL, note_child, &made, NULL), 0);
  CU_ASSERT_TRUE (made);
}

/* ---- records ---- */

/* The machine was restarted and the start fails: its time stands still, and nobody ends it. */
static void
test_start_fails (void)
{
  PLACE place;
  BERTH_AUTO_RECORD struct berth_record record;

  place_make (&place, "fake");
  place_open (&place);
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = make (&place, 60 * 1000, NULL);
  load (&place, sandbox, &record);
  free (record.boot_id);
  record.boot_id = strdup ("another boot");
  record.deadline_wall_ms = 1;
  CU_ASSERT_EQUAL (berth_store_update (place.host->store, &record, NULL), 0);
  place_faults (&place, "restart.start=fail:UNREACHABLE");
  CU_ASSERT_EQUAL (berth_sandbox_start (sandbox, NULL, NULL), -1);
  place_faults (&place, "");
  berth_record_clear (&record);
  load (&place, sandbox, &record);
  CU_ASSERT_EQUAL (record.state, BERTH_RECORD_STOPPED);
  CU_ASSERT_EQUAL (record.deadline_wall_ms, 0);
  CU_ASSERT_TRUE (record.left_ms > 0);
}

static void
roll_back_once (const struct place *place, int number)
{
  struct berth_sandbox *sandbox = NULL;
  struct berth_host *host = place_own_host (place);

  (void) number;
  if (berth_sandbox_open (host, "sb-", &sandbox, NULL) == 0)
    berth_sandbox_rollback (sandbox, "one", NULL, NULL);
}

/* What is left of the rollback cannot be cleared away; its end comes all the same. */
static void
test_never_settled (void)
{
  PLACE place;
  BERTH_AUTO_RECORD struct berth_record record;

  place_make (&place, "fake");
  place_open (&place);
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = make (&place, 60 * 1000, NULL);
  save (sandbox, "one");
  place_faults (&place, "workspace.import_tar=kill");
  place_child (roll_back_once, &place, 0);
  load (&place, sandbox, &record);
  CU_ASSERT_EQUAL (record.state, BERTH_RECORD_REPLACING);
  record.deadline_wall_ms = record.deadline_boot_ms = 1;
  CU_ASSERT_EQUAL (berth_store_update (place.host->store, &record, NULL), 0);
  place_faults (&place, "lifecycle.destroy=refuse");
  berth_sweep (place.host);
  berth_record_clear (&record);
  load (&place, sandbox, &record);
  CU_ASSERT_EQUAL (record.state, BERTH_RECORD_DESTROYING);
  place_faults (&place, "");
  berth_sweep (place.host);
  CU_ASSERT_EQUAL (place_records (&place), 0);
}

/* ---- what is recorded of it ---- */

struct events
{
  int failed;
  bool has_bytes;
};

static int
note_event (void *context, const struct berth_event *event)
{
  struct events *events = context;

  events->failed += strstr (event->json, "\"error\":") != NULL && strstr (event->json, "\"error\":null") == NULL;
  events->has_bytes |= strcmp (event->operation, "workspace.export") == 0 && strstr (event->json, "\"bytes_out\":") != NULL;
  return 0;
}

static int
take_nothing (void *context, const void *bytes, size_t size)
{
  (void) context;
  (void) bytes;
  (void) size;
  return 0;
}

static void
test_records (void)
{
  PLACE place;
  struct events events = { 0 };
  bool made = false;

  place_make (&place, "fake");
  place_open (&place);
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = make (&place, 60 * 1000, NULL);
  CU_ASSERT_EQUAL (berth_sandbox_fork (sandbox, NULL, note_child, &made, NULL), 0);
  CU_ASSERT_EQUAL (berth_workspace_export (sandbox, NULL, take_nothing, NULL, NULL, NULL), 0);
  CU_ASSERT_EQUAL (berth_event_list (place.host, NULL, note_event, &events, NULL), 0);
  CU_ASSERT_EQUAL (events.failed, 0);
  CU_ASSERT_TRUE (events.has_bytes);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "a rollback keeps the end of a renewed one, at its backend too", test_renewed },
    { "what is filled slowly ends no sooner than it was told", test_filled_slowly },
    { "L04 what was made with best effort is rolled back and forked", test_best_effort },
    { "L22 a start that fails after a reboot leaves it stopped", test_start_fails },
    { "a rollback that never settles keeps nobody from ending it", test_never_settled },
    { "a fork records no failure, an export its bytes", test_records },
    { NULL, NULL },
  };

  return berth_test_main ("again", tests);
}

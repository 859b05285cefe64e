/* Reaping: what has no right to be there any more, and nothing else. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/manager/inventory.h"
#include "core/manager/lock.h"
#include "core/manager/tests/place.h"
#include "sdk/base/clock.h"
#include "sdk/base/process.h"
#include "sdk/base/string.h"

struct told
{
  unsigned int count;
  unsigned int reasons[7];
  uint32_t outcome; /* of the last */
  char id[64];
  char detail[256];
};

static int
take (void *context, const struct berth_reaped *what)
{
  struct told *told = context;

  told->count++;
  told->reasons[what->reason]++;
  told->outcome = what->outcome;
  snprintf (told->id, sizeof told->id, "%s", what->id != NULL ? what->id : what->backend);
  snprintf (told->detail, sizeof told->detail, "%s", what->detail != NULL ? what->detail : "");
  return 0;
}

static struct told
reap (const struct place *place, const struct berth_reap_options *options, bool kill)
{
  struct berth_reap_options ours = BERTH_REAP_OPTIONS_INIT;
  struct berth_error error = { 0 };
  struct told told = { 0 };

  if (options != NULL)
    ours = *options;
  ours.kill = kill;
  if (berth_reap (place->host, &ours, take, &told, &error) != 0)
    fprintf (stderr, "     %s\n", error.message);
  CU_ASSERT_EQUAL (error.code, 0);
  return told;
}

static struct berth_sandbox *
make (const struct place *place, const char *label, bool owned)
{
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
  struct berth_pair pair = { "team", label, 0, 0 };
  struct berth_sandbox *sandbox = NULL;

  options.labels = &pair;
  options.label_count = 1;
  options.owned = owned;
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place->host, &options, &sandbox, NULL), 0);
  return sandbox;
}

static void
expire (const struct place *place, const char *id)
{
  BERTH_AUTO_RECORD struct berth_record record = { 0 };

  CU_ASSERT_EQUAL_FATAL (berth_store_load (place->host->store, id, 0, &record, NULL), 0);
  record.deadline_wall_ms = berth_clock_wall_ms () - 1;
  record.deadline_boot_ms = berth_clock_boottime_ms () - 1;
  CU_ASSERT_EQUAL (berth_store_update (place->host->store, &record, NULL), 0);
}

/* Its record is lost, it is not. */
static void
orphan (const struct place *place, const char *id)
{
  BERTH_AUTO_RECORD struct berth_record record = { 0 };

  CU_ASSERT_EQUAL_FATAL (berth_store_load (place->host->store, id, 0, &record, NULL), 0);
  CU_ASSERT_EQUAL (berth_store_remove_native (place->host->store, id, record.natives[0].id, NULL), 0);
  CU_ASSERT_EQUAL (berth_store_remove (place->host->store, id, NULL), 0);
}

static void
test_dry_run (void)
{
  PLACE place;

  place_make (&place, "fake");
  place_open (&place);
  BERTH_AUTO_SANDBOX struct berth_sandbox *alive = make (&place, "a", false);
  struct berth_sandbox *expired = make (&place, "a", false), *orphaned = make (&place, "a", false);
  expire (&place, berth_sandbox_id (expired));
  orphan (&place, berth_sandbox_id (orphaned));
  struct told told = reap (&place, NULL, false);
  CU_ASSERT_EQUAL (told.count, 2);
  CU_ASSERT_EQUAL (told.reasons[BERTH_REAP_EXPIRED], 1);
  CU_ASSERT_EQUAL (told.reasons[BERTH_REAP_ORPHANED], 1);
  CU_ASSERT_EQUAL (told.outcome, 0);
  CU_ASSERT_EQUAL (place_sightings (&place), 3);
  CU_ASSERT_EQUAL (place_records (&place), 2);
  told = reap (&place, NULL, true);
  CU_ASSERT_EQUAL (told.count, 2);
  CU_ASSERT_EQUAL (told.outcome, BERTH_OUTCOME_CONFIRMED);
  CU_ASSERT_EQUAL (place_sightings (&place), 1);
  CU_ASSERT_EQUAL (place_records (&place), 1);
  CU_ASSERT_EQUAL (reap (&place, NULL, true).count, 0);
  CU_ASSERT_EQUAL (place_run (alive, "exit 3", NULL), 3);
  berth_sandbox_close (expired);
  berth_sandbox_close (orphaned);
}

static void
test_filters (void)
{
  PLACE place;
  struct berth_reap_options options = BERTH_REAP_OPTIONS_INIT;
  struct berth_pair pair = { "team", "blue", 0, 0 };

  place_make (&place, "fake");
  place_open (&place);
  struct berth_sandbox *blue = make (&place, "blue", false), *red = make (&place, "red", false);
  expire (&place, berth_sandbox_id (blue));
  orphan (&place, berth_sandbox_id (red));
  options.labels = &pair;
  options.label_count = 1;
  CU_ASSERT_STRING_EQUAL (reap (&place, &options, false).id, berth_sandbox_id (blue));
  pair.value = "red";
  CU_ASSERT_STRING_EQUAL (reap (&place, &options, false).id, berth_sandbox_id (red));
  pair.value = NULL;
  CU_ASSERT_EQUAL (reap (&place, &options, false).count, 2);
  pair.name = "nobody";
  CU_ASSERT_EQUAL (reap (&place, &options, true).count, 0);
  options = (struct berth_reap_options) BERTH_REAP_OPTIONS_INIT;
  options.backend = "fake";
  CU_ASSERT_EQUAL (reap (&place, &options, false).count, 2);
  CU_ASSERT_EQUAL (place_sightings (&place), 2);
  CU_ASSERT_EQUAL (reap (&place, NULL, true).count, 2);
  CU_ASSERT_EQUAL (place_sightings (&place), 0);
  berth_sandbox_close (blue);
  berth_sandbox_close (red);
}

/* What could not be asked may hold something, and what is not there was misspelt. */
static void
test_unreachable (void)
{
  PLACE place;
  struct berth_reap_options options = BERTH_REAP_OPTIONS_INIT;
  struct berth_error error = { 0 };
  struct told told;

  place_make (&place, "fake");
  place_open (&place);
  struct berth_sandbox *expired = make (&place, "a", false);
  expire (&place, berth_sandbox_id (expired));
  place_faults (&place, "probe.probe=fail:UNREACHABLE,lifecycle.list_ids=fail:UNREACHABLE");
  told = reap (&place, NULL, false);
  CU_ASSERT_EQUAL (told.count, 2);
  CU_ASSERT_EQUAL (told.reasons[BERTH_REAP_EXPIRED], 1);
  CU_ASSERT_EQUAL (told.reasons[BERTH_REAP_UNREACHABLE], 1);
  CU_ASSERT_STRING_EQUAL (told.id, "fake");
  CU_ASSERT_EQUAL (told.outcome, 0);
  CU_ASSERT_PTR_NOT_NULL (strstr (told.detail, "as the setting `faults` asks"));
  options.backend = "fake";
  CU_ASSERT_EQUAL (reap (&place, &options, false).reasons[BERTH_REAP_UNREACHABLE], 1);
  place_faults (&place, "");
  CU_ASSERT_EQUAL (reap (&place, NULL, true).reasons[BERTH_REAP_UNREACHABLE], 0);
  options.backend = "fakee";
  CU_ASSERT_EQUAL (berth_reap (place.host, &options, take, &told, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_NOT_FOUND, "\"fakee\" is not installed"));
  berth_sandbox_close (expired);
}

/* Only the owner's own, unless all are asked for. */
static void
test_owners (void)
{
  PLACE place;
  struct berth_reap_options options = BERTH_REAP_OPTIONS_INIT;

  place_make (&place, "fake");
  place_open (&place);
  struct berth_sandbox *mine = make (&place, "a", false), *orphaned = make (&place, "a", false);
  expire (&place, berth_sandbox_id (mine));
  orphan (&place, berth_sandbox_id (orphaned));
  berth_sandbox_close (mine);
  berth_sandbox_close (orphaned);
  struct place other = place;
  other.host = place_host (&place, "you", NULL);
  CU_ASSERT_PTR_NOT_NULL_FATAL (other.host);
  CU_ASSERT_EQUAL (reap (&other, NULL, true).count, 0);
  CU_ASSERT_EQUAL (place_sightings (&place), 2);
  options.all_owners = 1;
  CU_ASSERT_EQUAL (reap (&other, &options, true).count, 2);
  CU_ASSERT_EQUAL (place_sightings (&place), 0);
  berth_host_close (other.host);
}

/* What stands still has no end, and what somebody is at is his. */
static void
test_left_alone (void)
{
  PLACE place;
  BERTH_AUTO_LOCK struct berth_lock lock = BERTH_LOCK_NONE;

  place_make (&place, "fake");
  place_open (&place);
  BERTH_AUTO_SANDBOX struct berth_sandbox *stopped = make (&place, "a", false), *paused = make (&place, "a", false);
  struct berth_sandbox *locked = make (&place, "a", false);
  CU_ASSERT_EQUAL (berth_sandbox_stop (stopped, NULL, NULL), 0);
  CU_ASSERT_EQUAL (berth_sandbox_pause (paused, NULL, NULL), 0);
  orphan (&place, berth_sandbox_id (locked));
  CU_ASSERT_EQUAL (berth_lock_try (place.host, berth_sandbox_id (locked), &lock, NULL), 1);
  CU_ASSERT_EQUAL (reap (&place, NULL, true).count, 0);
  CU_ASSERT_EQUAL (place_sightings (&place), 3);
  berth_lock_release (&lock);
  CU_ASSERT_EQUAL (reap (&place, NULL, true).count, 1);
  CU_ASSERT_EQUAL (place_sightings (&place), 2);
  berth_sandbox_close (locked);
  CU_ASSERT_EQUAL (berth_sandbox_start (stopped, NULL, NULL), 0);
  CU_ASSERT_EQUAL (place_run (stopped, "exit 1", NULL), 1);
}

/* A create that takes its time is no orphan, at whatever step it is met. */
static void
create_slowly (const struct place *place, int number)
{
  (void) number;
  berth_sandbox_create (place_own_host (place), NULL, &(struct berth_sandbox *) { NULL }, NULL);
}

static void
test_being_created (void)
{
  PLACE place;
  struct berth_sandbox *sandbox = NULL;

  place_make (&place, "fake");
  place_faults (&place, "lifecycle.create=mute lifecycle.create.2=slow:100 lifecycle.create.4=slow:100"
                        " lifecycle.create.6=slow:100");
  pid_t pid = berth_test_start (create_slowly, &place, 0);
  place_open (&place);
  for (int i = 0; i < 12; i++)
    {
      CU_ASSERT_EQUAL (reap (&place, NULL, true).count, 0);
      berth_clock_sleep_ms (30);
    }
  CU_ASSERT_EQUAL (berth_test_end (pid), 0);
  CU_ASSERT_EQUAL (reap (&place, NULL, true).count, 0);
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_open (place.host, "sb-", &sandbox, NULL), 0);
  berth_sandbox_cleanup (&sandbox);
}

/* An owner is a number and a start: who has the number now is another, and is left in peace. */
static void
test_stale_owner (void)
{
  PLACE place;
  BERTH_AUTO_RECORD struct berth_record record = { 0 };

  place_make (&place, "fake");
  place_open (&place);
  struct berth_sandbox *sandbox = make (&place, "a", true);
  CU_ASSERT_EQUAL (reap (&place, NULL, true).count, 0);
  CU_ASSERT_EQUAL (berth_store_load (place.host->store, berth_sandbox_id (sandbox), 0, &record, NULL), 0);
  CU_ASSERT_EQUAL (record.owner_pid, getpid ());
  record.owner_start++;
  CU_ASSERT_EQUAL (berth_store_update (place.host->store, &record, NULL), 0);
  struct told told = reap (&place, NULL, true);
  CU_ASSERT_EQUAL (told.reasons[BERTH_REAP_OWNER_DIED], 1);
  CU_ASSERT_EQUAL (place_sightings (&place), 0);
  sandbox->creator = false;
  berth_sandbox_close (sandbox);
}

/* ---- whose it is ---- */

static void
test_claims (void)
{
  PLACE place;

  place_make (&place, "fake");
  place_open (&place);
  const char *ours = berth_store_installation_id (place.host->store), *id = "sb-22222222222222222222";
  const struct
  {
    struct berth_found found;
    enum berth_claimant claimant;
  } rows[] = {
    { { .has = BERTH_FOUND_LABELS, .installation_id = ours, .sandbox_id = id }, BERTH_MINE },
    { { .has = BERTH_FOUND_LABELS, .installation_id = "inst-22222222222222222222", .sandbox_id = id }, BERTH_FOREIGN },
    { { .has = BERTH_FOUND_LABELS, .installation_id = ours }, BERTH_UNCLAIMED },
    { { .has = BERTH_FOUND_LABELS, .installation_id = ours, .sandbox_id = "web" }, BERTH_UNCLAIMED },
    { { .has = BERTH_FOUND_LABELS, .sandbox_id = id }, BERTH_UNCLAIMED },
    { { .has = BERTH_FOUND_PARTIAL, .installation_id = ours, .sandbox_id = id }, BERTH_NOT_KNOWN },
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    CU_ASSERT_EQUAL (berth_ownership_of (place.host, &rows[i].found).claimant, rows[i].claimant);
}

/* Half-made before it had labels, by a process that told nobody: nobody can say whose it is. */
static void
test_unknown (void)
{
  PLACE place;
  struct berth_reap_options options = BERTH_REAP_OPTIONS_INIT;

  place_make (&place, "fake");
  place_faults (&place, "lifecycle.create=mute lifecycle.create.2=kill");
  CU_ASSERT_TRUE (WIFSIGNALED (place_child (create_slowly, &place, 0)));
  place_faults (&place, "");
  place_open (&place);
  options.all_owners = 1;
  CU_ASSERT_EQUAL (reap (&place, &options, true).reasons[BERTH_REAP_CREATE_INTERRUPTED], 1);
  CU_ASSERT_EQUAL (reap (&place, &options, true).count, 0);
  CU_ASSERT_EQUAL (place_records (&place), 0);
  CU_ASSERT_EQUAL (place_sightings (&place), 1);
}

static void
test_foreign (void)
{
  PLACE place;
  struct berth_reap_options options = BERTH_REAP_OPTIONS_INIT;

  place_make (&place, "fake");
  place_open (&place);
  berth_sandbox_close (make (&place, "theirs", false));
  place_become_another (&place);
  options.all_owners = 1;
  CU_ASSERT_EQUAL (reap (&place, &options, true).count, 0);
  CU_ASSERT_EQUAL (place_sightings (&place), 1);
}

/* The name given anew does not lead to what the old one left: ids are never used twice. */
static void
test_namesake (void)
{
  PLACE place;
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
  struct berth_sandbox *first = NULL, *second = NULL;

  place_make (&place, "fake");
  place_open (&place);
  options.name = "web";
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, &options, &first, NULL), 0);
  orphan (&place, berth_sandbox_id (first));
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, &options, &second, NULL), 0);
  CU_ASSERT_STRING_NOT_EQUAL (berth_sandbox_id (first), berth_sandbox_id (second));
  struct told told = reap (&place, NULL, true);
  CU_ASSERT_EQUAL (told.count, 1);
  CU_ASSERT_STRING_EQUAL (told.id, berth_sandbox_id (first));
  CU_ASSERT_EQUAL (place_run (second, "exit 8", NULL), 8);
  berth_sandbox_close (first);
  berth_sandbox_cleanup (&second);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "expired and orphaned are told, and destroyed when that is said", test_dry_run },
    { "labels and backend choose", test_filters },
    { "a backend that could not be asked is told, one that is not there refused", test_unreachable },
    { "another owner's are another's", test_owners },
    { "what is paused, stopped or locked is left alone", test_left_alone },
    { "D-105 what is being created is no orphan", test_being_created },
    { "D-117 an owner is known by its number and its start", test_stale_owner },
    { "mine, foreign, unclaimed, not known", test_claims },
    { "what is not known to be ours is never touched", test_unknown },
    { "D-114 another installation's is never touched", test_foreign },
    { "D-109 what a namesake left is not taken over", test_namesake },
    { NULL, NULL },
  };

  return berth_test_main ("reap", tests);
}

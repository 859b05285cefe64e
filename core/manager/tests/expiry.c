/* When a sandbox ends: by one deadline, under one lock, and by no clock that somebody sets. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/manager/expiry.h"
#include "core/manager/lock.h"
#include "core/manager/sweep.h"
#include "core/manager/tests/place.h"
#include "sdk/base/clock.h"
#include "sdk/base/string.h"

static struct berth_sandbox *
make (const struct place *place, int64_t ttl_ms)
{
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
  struct berth_sandbox *sandbox = NULL;
  struct berth_error error = { 0 };

  options.ttl_ms = ttl_ms;
  if (berth_sandbox_create (place->host, &options, &sandbox, &error) != 0)
    fprintf (stderr, "     %s\n", error.message);
  CU_ASSERT_PTR_NOT_NULL_FATAL (sandbox);
  return sandbox;
}

static int64_t
left (const struct place *place, const struct berth_sandbox *sandbox)
{
  BERTH_AUTO_RECORD struct berth_record record;

  place_load (place, sandbox, &record);
  return berth_expiry_left (&record);
}

static bool
about (int64_t value, int64_t wanted)
{
  if (value <= wanted && value > wanted - 5000)
    return true;
  fprintf (stderr, "     got %lld ms, want about %lld\n", (long long) value, (long long) wanted);
  return false;
}

/* The end on record, whatever was there. */
static void
set_end (const struct place *place, const struct berth_sandbox *sandbox, const char *boot_id, int64_t wall_in_ms,
         int64_t boot_in_ms)
{
  BERTH_AUTO_RECORD struct berth_record record;

  place_load (place, sandbox, &record);
  record.deadline_wall_ms = berth_clock_wall_ms () + wall_in_ms;
  record.deadline_boot_ms = berth_clock_boottime_ms () + boot_in_ms;
  if (boot_id != NULL)
    {
      free (record.boot_id);
      record.boot_id = strdup (boot_id);
    }
  CU_ASSERT_EQUAL (berth_store_update (place->host->store, &record, NULL), 0);
}

/* ---- renewing ---- */

static void
test_renew (void)
{
  PLACE place;
  struct berth_expiry expiry = { 0 };
  struct berth_sandbox *again = NULL;

  place_make (&place, "fake");
  place_open (&place);
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = make (&place, 60 * 1000);
  CU_ASSERT_EQUAL (berth_sandbox_renew (sandbox, 3600 * 1000, &expiry, NULL), 0);
  CU_ASSERT_EQUAL (expiry.kind, BERTH_EXPIRES_AT);
  CU_ASSERT_TRUE (about (expiry.remaining_ms, 3600 * 1000));
  CU_ASSERT_TRUE (about (left (&place, sandbox), 3600 * 1000));
  /* without a word: as long as it was made for, and never sooner */
  CU_ASSERT_EQUAL (berth_sandbox_renew (sandbox, BERTH_UNSET, &expiry, NULL), 0);
  CU_ASSERT_TRUE (about (expiry.remaining_ms, 3600 * 1000));
  CU_ASSERT_EQUAL (berth_sandbox_renew (sandbox, 1000 * 1000, &expiry, NULL), 0);
  CU_ASSERT_TRUE (about (left (&place, sandbox), 1000 * 1000));
  /* neither opening nor using it moves its end */
  CU_ASSERT_EQUAL (berth_sandbox_open (place.host, berth_sandbox_id (sandbox), &again, NULL), 0);
  CU_ASSERT_EQUAL (place_run (again, "exit 2", NULL), 2);
  berth_sandbox_close (again);
  CU_ASSERT_TRUE (about (left (&place, sandbox), 1000 * 1000));
}

/* One rule for what a time may be, at create and at renew. */
static void
test_bounds (void)
{
  static const struct
  {
    int64_t ttl_ms;
    bool allowed;
  } rows[] = { { -1, false }, { 0, false }, { 1000, true }, { 86400 * 1000, true }, { 86400 * 1000 + 1, false },
               { INT32_MAX * INT64_C (1000), false }, { INT64_MAX, false }, { INT64_MIN + 1, false } };
  PLACE place;

  place_make (&place, "fake");
  place_open (&place);
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = make (&place, 60 * 1000);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    {
      struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
      struct berth_sandbox *other = NULL;
      struct berth_error at_create = { 0 }, at_renew = { 0 };
      options.ttl_ms = rows[i].ttl_ms;
      CU_ASSERT_EQUAL (berth_sandbox_create (place.host, &options, &other, &at_create), rows[i].allowed ? 0 : -1);
      berth_sandbox_cleanup (&other);
      CU_ASSERT_EQUAL (berth_sandbox_renew (sandbox, rows[i].ttl_ms, NULL, &at_renew), rows[i].allowed ? 0 : -1);
      CU_ASSERT_EQUAL (at_create.code, rows[i].allowed ? 0 : BERTH_E_INVALID_REQUEST);
      CU_ASSERT_STRING_EQUAL (at_create.message, at_renew.message);
      CU_ASSERT_TRUE (left (&place, sandbox) > 0);
    }
}

/* The backend is told first: should it refuse, nothing is promised. */
static void
test_backend_refuses (void)
{
  PLACE place;
  struct berth_error error = { 0 };

  place_make (&place, "fake");
  place_open (&place);
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = make (&place, 60 * 1000);
  place_faults (&place, "expiry.renew=fail:UNREACHABLE");
  CU_ASSERT_EQUAL (berth_sandbox_renew (sandbox, 600 * 1000, NULL, &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_UNREACHABLE);
  CU_ASSERT_TRUE (about (left (&place, sandbox), 60 * 1000));
  place_faults (&place, "");
}

/* ---- the end ---- */

/* What ended is neither renewed nor used, whether it was removed or not yet. */
static void
test_passed (void)
{
  PLACE place;
  struct berth_error error = { 0 };

  place_make (&place, "fake");
  place_open (&place);
  struct berth_sandbox *sandbox = make (&place, 60 * 1000), *again = NULL;
  set_end (&place, sandbox, NULL, -1, -1);
  CU_ASSERT_EQUAL (berth_sandbox_renew (sandbox, BERTH_UNSET, NULL, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_WRONG_STATE, "has passed"));
  CU_ASSERT_EQUAL (berth_sandbox_open (place.host, berth_sandbox_id (sandbox), &again, NULL), 0);
  CU_ASSERT_EQUAL (place_run (again, "exit 0", &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_WRONG_STATE, "has passed"));
  berth_sandbox_close (again);
  berth_sweep (place.host);
  CU_ASSERT_EQUAL (berth_sandbox_renew (sandbox, BERTH_UNSET, NULL, &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_SANDBOX_NOT_FOUND);
  CU_ASSERT_EQUAL (place_sightings (&place), 0);
  berth_sandbox_close (sandbox);
}

/* A handle that knows an older end goes by the newer one. */
static void
test_renewed_elsewhere (void)
{
  PLACE place;
  struct berth_sandbox *other = NULL;

  place_make (&place, "fake");
  place_open (&place);
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = make (&place, 60 * 1000);
  set_end (&place, sandbox, NULL, 2000, 2000);
  CU_ASSERT_EQUAL (berth_sandbox_open (place.host, berth_sandbox_id (sandbox), &other, NULL), 0);
  CU_ASSERT_EQUAL (berth_sandbox_renew (sandbox, 60 * 1000, NULL, NULL), 0);
  berth_clock_sleep_ms (2100);
  CU_ASSERT_EQUAL (place_run (other, "exit 5", NULL), 5);
  berth_sandbox_close (other);
}

/* Within a boot by the clock that no step moves and that counts sleep; across boots by the wall. */
static void
test_clocks (void)
{
  static const struct
  {
    const char *boot_id;
    int64_t wall_in_ms, boot_in_ms;
    bool stays;
  } rows[] = {
    { NULL, 60000, 60000, true },
    { NULL, -3600 * 1000, 60000, true },   /* the wall clock was set forward */
    { NULL, 86400 * 1000, -10, false },    /* or back, which makes nobody immortal */
    { "another boot", 60000, -10, true },
    { "another boot", -10, 86400 * 1000, false },
  };
  PLACE place;

  place_make (&place, "fake");
  place_open (&place);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    {
      struct berth_sandbox *sandbox = make (&place, 60 * 1000);
      set_end (&place, sandbox, rows[i].boot_id, rows[i].wall_in_ms, rows[i].boot_in_ms);
      CU_ASSERT_EQUAL (place_run (sandbox, "exit 0", NULL), 0);
      berth_sweep (place.host);
      CU_ASSERT_EQUAL (place_records (&place), rows[i].stays ? 1 : 0);
      berth_sandbox_cleanup (&sandbox);
    }
}

/* ---- time that does not count ---- */

static void
check_held (const struct place *place, struct berth_sandbox *sandbox,
            int (*hold) (struct berth_sandbox *, struct berth_cancel *, struct berth_error *),
            int (*go_on) (struct berth_sandbox *, struct berth_cancel *, struct berth_error *))
{
  BERTH_AUTO_RECORD struct berth_record record;

  set_end (place, sandbox, NULL, 1500, 1500);
  CU_ASSERT_EQUAL (hold (sandbox, NULL, NULL), 0);
  berth_clock_sleep_ms (1700);
  berth_sweep (place->host);
  CU_ASSERT_EQUAL (place_records (place), 1);
  place_load (place, sandbox, &record);
  CU_ASSERT_EQUAL (record.deadline_wall_ms, 0);
  CU_ASSERT_TRUE (record.left_ms > 0 && record.left_ms <= 1500);
  CU_ASSERT_EQUAL (go_on (sandbox, NULL, NULL), 0);
  CU_ASSERT_TRUE (left (place, sandbox) > 0 && left (place, sandbox) <= 1500);
  /* what it gets while it stands still is what it has when it goes on */
  CU_ASSERT_EQUAL (hold (sandbox, NULL, NULL), 0);
  CU_ASSERT_EQUAL (berth_sandbox_renew (sandbox, 500 * 1000, NULL, NULL), 0);
  CU_ASSERT_EQUAL (go_on (sandbox, NULL, NULL), 0);
  CU_ASSERT_TRUE (about (left (place, sandbox), 500 * 1000));
}

static void
test_held (void)
{
  PLACE place;

  place_make (&place, "fake");
  place_open (&place);
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = make (&place, 60 * 1000);
  check_held (&place, sandbox, berth_sandbox_pause, berth_sandbox_resume);
  check_held (&place, sandbox, berth_sandbox_stop, berth_sandbox_start);
}

/* A process that dies between the pause and its record: the runtime knows, and its time is held. */
static void
pause_and_die (const struct place *place, int number)
{
  struct berth_sandbox *sandbox = NULL;

  (void) number;
  if (berth_sandbox_open (place_own_host (place), "sb-", &sandbox, NULL) == 0)
    berth_sandbox_pause (sandbox, NULL, NULL);
}

static void
test_pause_not_recorded (void)
{
  PLACE place;
  BERTH_AUTO_RECORD struct berth_record record;

  place_make (&place, "fake");
  place_open (&place);
  struct berth_sandbox *sandbox = make (&place, 60 * 1000);
  place_child (pause_and_die, &place, 0);
  CU_ASSERT_EQUAL (berth_store_set_state (place.host->store, berth_sandbox_id (sandbox), BERTH_RECORD_RUNNING, NULL), 0);
  set_end (&place, sandbox, NULL, -1, -1);
  berth_sweep (place.host);
  place_load (&place, sandbox, &record);
  CU_ASSERT_EQUAL (record.state, BERTH_RECORD_PAUSED);
  CU_ASSERT_TRUE (record.left_ms >= 60 * 1000);
  CU_ASSERT_EQUAL (berth_sandbox_resume (sandbox, NULL, NULL), 0);
  CU_ASSERT_EQUAL (place_run (sandbox, "exit 3", NULL), 3);
  berth_sandbox_cleanup (&sandbox);
}

/* ---- renewing against reaping ---- */

struct race
{
  struct place *place;
  struct berth_sandbox *sandbox;
  int renewed;
};

static void *
renew_it (void *context)
{
  struct race *race = context;

  race->renewed = berth_sandbox_renew (race->sandbox, 60 * 1000, NULL, NULL);
  return NULL;
}

/* Around its end, one or the other happens, wholly: renewed and alive, or removed. */
static void
test_race (void)
{
  PLACE place;
  /* too late, about at once, and in time */
  static const int64_t offsets[] = { 0, 1, 2, 3, 2000 };
  int rounds = berth_test_is_long () ? 3000 : 30, renewed = 0, wrong = 0;

  place_make (&place, "fake");
  place_open (&place);
  for (int i = 0; i < rounds; i++)
    {
      struct race race = { &place, make (&place, 60 * 1000), -1 };
      pthread_t thread;
      set_end (&place, race.sandbox, NULL, offsets[i % 5], offsets[i % 5]);
      int64_t end_ms = berth_clock_monotonic_ms () + 4;
      CU_ASSERT_EQUAL_FATAL (pthread_create (&thread, NULL, renew_it, &race), 0);
      while (berth_clock_monotonic_ms () < end_ms)
        berth_sweep (place.host);
      pthread_join (thread, NULL);
      berth_sweep (place.host);
      size_t records = place_records (&place), there = place_sightings (&place);
      renewed += race.renewed == 0;
      wrong += race.renewed == 0 ? records != 1 || there != 1 || left (&place, race.sandbox) < 50 * 1000
                                 : records != 0 || there != 0;
      berth_sandbox_cleanup (&race.sandbox);
    }
  CU_ASSERT_EQUAL (wrong, 0);
  CU_ASSERT_TRUE (renewed > 0 && renewed < rounds);
}

/* Two whose ends have passed.  When the reaper tells of the one that it took first, the other is renewed. */
struct pair
{
  struct place *place;
  struct berth_sandbox *sandboxes[2];
  struct berth_sandbox *renewed;
};

static void
renew_the_other (void *context, uint32_t level, const char *line)
{
  struct pair *pair = context;

  (void) level;
  for (int i = 0; i < 2 && pair->renewed == NULL; i++)
    if (strstr (line, berth_sandbox_id (pair->sandboxes[i])) != NULL)
      {
        pair->renewed = pair->sandboxes[1 - i];
        set_end (pair->place, pair->renewed, NULL, 60000, 60000);
      }
}

static void
test_decision_under_lock (void)
{
  PLACE place;

  place_make (&place, "fake");
  place_open (&place);
  struct pair pair = { &place, { make (&place, 60 * 1000), make (&place, 60 * 1000) }, NULL };
  for (int i = 0; i < 2; i++)
    set_end (&place, pair.sandboxes[i], NULL, -1, -1);
  place.host->log_context = &pair;
  place.host->log = renew_the_other;
  berth_sweep (place.host);
  place.host->log = NULL;
  CU_ASSERT_PTR_NOT_NULL_FATAL (pair.renewed);
  CU_ASSERT_EQUAL (place_records (&place), 1);
  CU_ASSERT_EQUAL (place_sightings (&place), 1);
  CU_ASSERT_TRUE (left (&place, pair.renewed) > 0);
  for (int i = 0; i < 2; i++)
    berth_sandbox_cleanup (&pair.sandboxes[i]);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "L19 renewing moves the end, using does not", test_renew },
    { "D-104 one rule for what a time may be", test_bounds },
    { "a backend that refuses a renewal is believed", test_backend_refuses },
    { "D-103 D-124 what ended is neither renewed nor used", test_passed },
    { "what was renewed elsewhere goes on", test_renewed_elsewhere },
    { "D-106 a clock step neither kills nor immortalises", test_clocks },
    { "time that it is paused or stopped does not count", test_held },
    { "a pause that was not recorded holds its time all the same", test_pause_not_recorded },
    { "D-103 a renewal against the reaper: one of the two, wholly", test_race },
    { "D-108 the reaper decides on what it reads under the lock", test_decision_under_lock },
    { NULL, NULL },
  };

  return berth_test_main ("expiry", tests);
}

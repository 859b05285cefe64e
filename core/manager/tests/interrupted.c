/* Creates that were interrupted: gone on with, undone, or told to be unknown; never made twice. */
#include <stdio.h>
#include <string.h>

#include "core/manager/destroy.h"
#include "core/manager/sweep.h"
#include "core/manager/tests/place.h"
#include "sdk/base/clock.h"
#include "sdk/base/string.h"

static int
repeat (const struct place *place, struct berth_sandbox **sandbox, struct berth_error *error)
{
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;

  *error = (struct berth_error) { 0 };
  options.request_id = "once";
  return berth_sandbox_create (place->host, &options, sandbox, error);
}

static void
create_once (const struct place *place, int number)
{
  struct place own = *place;
  struct berth_sandbox *sandbox = NULL;
  struct berth_error error;

  (void) number;
  own.host = place_own_host (place);
  repeat (&own, &sandbox, &error);
}

/* A create with a request id that dies at STEP, without a word of its native id when MUTE. */
static void
die_at (const struct place *place, int step, bool mute)
{
  BERTH_AUTO_FREE char *faults
      = berth_string_format ("%slifecycle.create.%d=kill", mute ? "lifecycle.create=mute " : "", step);

  place_faults (place, faults);
  int status = place_child (create_once, place, 0);
  CU_ASSERT_TRUE (WIFSIGNALED (status));
  place_faults (place, "");
}

static char *
only_id (const struct place *place)
{
  BERTH_AUTO_IDS struct berth_store_ids ids = { 0 };

  CU_ASSERT_EQUAL (berth_store_list (place->host->store, NULL, NULL, &ids, NULL), 0);
  CU_ASSERT_EQUAL_FATAL (ids.count, 1);
  return strdup (ids.items[0]);
}

/* The answer was lost, the sandbox was not: the same one is given, and it is whole. */
static void
test_lost_answer (void)
{
  PLACE place;
  struct berth_error error;

  place_make (&place, "fake");
  for (int mute = 0; mute <= 1; mute++)
    {
      struct berth_sandbox *sandbox = NULL, *again = NULL;
      die_at (&place, 6, mute != 0);
      place_open (&place);
      BERTH_AUTO_FREE char *id = only_id (&place);
      CU_ASSERT_EQUAL_FATAL (repeat (&place, &sandbox, &error), 0);
      CU_ASSERT_STRING_EQUAL (berth_sandbox_id (sandbox), id);
      CU_ASSERT_EQUAL (place_sightings (&place), 1);
      CU_ASSERT_EQUAL (place_run (sandbox, "exit 7", NULL), 7);
      CU_ASSERT_EQUAL_FATAL (repeat (&place, &again, &error), 0);
      CU_ASSERT_STRING_EQUAL (berth_sandbox_id (again), id);
      BERTH_AUTO_RECORD struct berth_record record = { 0 };
      CU_ASSERT_EQUAL (berth_store_load (place.host->store, id, 0, &record, NULL), 0);
      CU_ASSERT_EQUAL (record.state, BERTH_RECORD_RUNNING);
      CU_ASSERT_EQUAL (record.tier, BERTH_TIER_CONTAINER);
      CU_ASSERT_TRUE (record.deadline_boot_ms > berth_clock_boottime_ms () + 800 * 1000);
      berth_sandbox_close (again);
      berth_sandbox_cleanup (&sandbox);
      berth_host_close (BERTH_STEAL_POINTER (place.host));
    }
}

/* What is half-made is proven gone first, whoever told of it. */
static void
test_half_made (void)
{
  PLACE place;
  struct berth_error error;

  place_make (&place, "fake");
  for (int step = 1; step <= 5; step++)
    {
      struct berth_sandbox *sandbox = NULL;
      die_at (&place, step, step >= 3);
      place_open (&place);
      CU_ASSERT_EQUAL (place_records (&place), 1);
      if (repeat (&place, &sandbox, &error) != 0)
        fprintf (stderr, "     step %d: %s\n", step, error.message);
      CU_ASSERT_PTR_NOT_NULL (sandbox);
      CU_ASSERT_EQUAL (place_sightings (&place), 1);
      CU_ASSERT_EQUAL (place_records (&place), 1);
      berth_sandbox_cleanup (&sandbox);
      berth_host_close (BERTH_STEAL_POINTER (place.host));
    }
}

/* Nobody can say whether it was made: then it is not made again until the user gives it up. */
static void
test_not_correlated (void)
{
  PLACE place;
  struct berth_sandbox *sandbox = NULL;
  struct berth_destruction outcome = { 0 };
  struct berth_error error;

  place_make (&place, "fake");
  place.config = "[backend fake]\ncapabilities = NETWORK_POLICY\n";
  die_at (&place, 1, true);
  place_open (&place);
  for (int i = 0; i < 2; i++)
    {
      CU_ASSERT_EQUAL (repeat (&place, &sandbox, &error), -1);
      CU_ASSERT_TRUE (error_is (&error, BERTH_E_CREATE_INTERRUPTED, "cannot say whether it was made"));
      CU_ASSERT_PTR_NOT_NULL (strstr (error.hint, "berth rm sb-"));
      CU_ASSERT_EQUAL (place_records (&place), 1);
    }
  CU_ASSERT_EQUAL (place_sightings (&place), 0);
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_open (place.host, "sb-", &sandbox, NULL), 0);
  CU_ASSERT_EQUAL (berth_sandbox_destroy (sandbox, &outcome, NULL), 0);
  CU_ASSERT_EQUAL (outcome.outcome, BERTH_OUTCOME_NOTHING_NAMED);
  berth_sandbox_close (BERTH_STEAL_POINTER (sandbox));
  CU_ASSERT_EQUAL (repeat (&place, &sandbox, &error), 0);
  CU_ASSERT_EQUAL (place_sightings (&place), 1);
  berth_sandbox_cleanup (&sandbox);
}

/* Its labels name it, so it is the one. */
static void
test_found_by_label (void)
{
  PLACE place;
  struct berth_sandbox *sandbox = NULL;
  struct berth_error error;

  place_make (&place, "fake");
  place.config = "[backend fake]\ncapabilities = NETWORK_POLICY\n";
  die_at (&place, 6, true);
  place_open (&place);
  BERTH_AUTO_FREE char *id = only_id (&place);
  CU_ASSERT_EQUAL_FATAL (repeat (&place, &sandbox, &error), 0);
  CU_ASSERT_STRING_EQUAL (berth_sandbox_id (sandbox), id);
  CU_ASSERT_EQUAL (place_sightings (&place), 1);
  berth_sandbox_cleanup (&sandbox);
}

static void
set_creation_end (const struct place *place, int64_t in_ms)
{
  BERTH_AUTO_RECORD struct berth_record record = { 0 };
  BERTH_AUTO_FREE char *id = only_id (place);

  CU_ASSERT_EQUAL (berth_store_load (place->host->store, id, 0, &record, NULL), 0);
  record.deadline_wall_ms = berth_clock_wall_ms () + in_ms;
  record.deadline_boot_ms = berth_clock_boottime_ms () + in_ms;
  CU_ASSERT_EQUAL (berth_store_update (place->host->store, &record, NULL), 0);
}

/* The sweep leaves it for the request that will be repeated, for as long as the create might have
 * taken; then it goes, with its place in the quota. */
static void
test_creation_deadline (void)
{
  PLACE place;

  place_make (&place, "fake");
  die_at (&place, 6, true);
  place_open (&place);
  berth_sweep (place.host);
  CU_ASSERT_EQUAL (place_records (&place), 1);
  CU_ASSERT_EQUAL (place_sightings (&place), 1);
  set_creation_end (&place, -1);
  berth_sweep (place.host);
  CU_ASSERT_EQUAL (place_records (&place), 0);
  CU_ASSERT_EQUAL (place_sightings (&place), 0);
}

/* A time-out of the caller's is not the backend's: what was finished later is found and removed. */
static void
test_late_answer (void)
{
  PLACE place;
  struct berth_error error = { 0 };
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
  struct berth_sandbox *sandbox = NULL;

  place_make (&place, "fake");
  place_open (&place);
  place_faults (&place, "lifecycle.create=mute lifecycle.create.6=abandon:UNREACHABLE");
  options.name = "web";
  CU_ASSERT_EQUAL (berth_sandbox_create (place.host, &options, &sandbox, &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_UNREACHABLE);
  CU_ASSERT_EQUAL (place_sightings (&place), 0);
  CU_ASSERT_EQUAL (place_records (&place), 0);
  place_faults (&place, "");
  CU_ASSERT_EQUAL (berth_sandbox_create (place.host, &options, &sandbox, &error), 0);
  berth_sandbox_cleanup (&sandbox);
}

/* At each step, and each way to fail: the name, the quota and the backend are as before. */
static void
test_failing_steps (void)
{
  PLACE place;
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;

  place_make (&place, "fake");
  place.config = "[limits]\nsandboxes = 1\n";
  place_open (&place);
  options.name = "web";
  options.request_id = "same";
  for (int step = 0; step <= 8; step++)
    {
      BERTH_AUTO_FREE char *faults = step > 0 ? berth_string_format ("lifecycle.create.%d=fail", step)
                                              : berth_string_format ("lifecycle.validate=fail");
      struct berth_sandbox *sandbox = NULL;
      place_faults (&place, faults);
      CU_ASSERT_EQUAL (berth_sandbox_create (place.host, &options, &sandbox, NULL), -1);
      CU_ASSERT_EQUAL (place_records (&place), 0);
      CU_ASSERT_EQUAL (place_sightings (&place), 0);
    }
  place_faults (&place, "");
  struct berth_sandbox *sandbox = NULL;
  CU_ASSERT_EQUAL (berth_sandbox_create (place.host, &options, &sandbox, NULL), 0);
  berth_sandbox_cleanup (&sandbox);
}

/* ---- the same key, another request ---- */

static void
check_other (const struct place *place, const struct berth_create_options *options, const char *what)
{
  struct berth_sandbox *sandbox = NULL;
  struct berth_error error = { 0 };
  int result = berth_sandbox_create (place->host, options, &sandbox, &error);

  if (result == 0)
    fprintf (stderr, "     %s is not part of the request\n", what);
  CU_ASSERT_EQUAL (result, -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_CONFLICT, "from another specification"));
  CU_ASSERT_NOT_EQUAL (error.hint[0], '\0');
  berth_sandbox_close (sandbox);
}

static void
test_other_specification (void)
{
  static const struct berth_pair label = { "team", "red", 0, 0 }, environment[] = { { "A", "1", 0, 0 }, { "S", "hide-1", BERTH_PAIR_SECRET, 0 } };
  static const struct berth_policy allow = { .struct_size = sizeof allow, .default_action = BERTH_ALLOW };
  PLACE place;
  BERTH_AUTO_SANDBOX struct berth_sandbox *first = NULL;
  struct berth_sandbox *second = NULL;
  struct berth_error error = { 0 };
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;

  place_make (&place, "fake");
  place_open (&place);
  options.request_id = "once";
  options.environment = environment;
  options.environment_count = 2;
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, &options, &first, &error), 0);
#define OTHER(member, value)                                                                      \
  do                                                                                              \
    {                                                                                             \
      struct berth_create_options other = options;                                                \
      other.member = value;                                                                       \
      check_other (&place, &other, #member);                                                      \
    }                                                                                             \
  while (0)
  OTHER (name, "web");
  OTHER (memory_bytes, 64 << 20);
  OTHER (pids, 17);
  OTHER (cpu_milli, 500);
  OTHER (ttl_ms, 60000);
  OTHER (forbid_root, 1);
  OTHER (best_effort, 1);
  OTHER (minimum_tier, BERTH_TIER_CONTAINER);
  OTHER (network, &allow);
  OTHER (environment_count, 1);
  OTHER (user, "root");
  OTHER (shm_bytes, 1 << 20);
  OTHER (file_size_bytes, 1 << 20);
  OTHER (user_namespaces, 1);
#undef OTHER
  struct berth_create_options labelled = options;
  labelled.labels = &label;
  labelled.label_count = 1;
  check_other (&place, &labelled, "labels");
  /* another value of a secret is the same request: values of secrets are nowhere on record */
  const struct berth_pair renewed[] = { environment[0], { "S", "hide-2", BERTH_PAIR_SECRET, 0 } };
  options.environment = renewed;
  CU_ASSERT_EQUAL (berth_sandbox_create (place.host, &options, &second, &error), 0);
  CU_ASSERT_STRING_EQUAL (berth_sandbox_id (second), berth_sandbox_id (first));
  berth_sandbox_close (second);
  CU_ASSERT_EQUAL (place_sightings (&place), 1);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "L20 D-111 an answer that was lost is found again", test_lost_answer },
    { "D-112 what is half-made goes before it is made anew", test_half_made },
    { "what nobody can find is CREATE_INTERRUPTED, and made once at most", test_not_correlated },
    { "without CORRELATED_CREATE its labels name it", test_found_by_label },
    { "D-105 one that is being created is reaped after its own deadline only", test_creation_deadline },
    { "D-111 what was finished behind a failure is removed", test_late_answer },
    { "D-112 D-126 a create that fails gives back name, key and quota", test_failing_steps },
    { "L14 a request id repeated with another specification is a conflict", test_other_specification },
    { NULL, NULL },
  };

  return berth_test_main ("interrupted", tests);
}

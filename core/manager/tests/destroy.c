/* Destroying: an outcome that says what was proven, and a record that stays until it is. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/manager/destroy.h"
#include "core/manager/sweep.h"
#include "core/manager/tests/place.h"
#include "sdk/base/clock.h"
#include "sdk/base/string.h"

static struct berth_sandbox *
make (const struct place *place)
{
  struct berth_sandbox *sandbox = NULL;

  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place->host, NULL, &sandbox, NULL), 0);
  return sandbox;
}

static void
test_confirmed (void)
{
  PLACE place;
  struct berth_destruction outcome;
  struct berth_error error = { 0 };

  place_make (&place, "fake");
  place_open (&place);
  struct berth_sandbox *sandbox = make (&place);
  CU_ASSERT_EQUAL (berth_sandbox_destroy (sandbox, &outcome, NULL), 0);
  CU_ASSERT_EQUAL (outcome.outcome, BERTH_OUTCOME_CONFIRMED);
  CU_ASSERT_STRING_EQUAL (outcome.detail, "destroyed, and seen to be gone");
  CU_ASSERT_EQUAL (place_records (&place), 0);
  CU_ASSERT_EQUAL (berth_sandbox_destroy (sandbox, &outcome, NULL), 0);
  CU_ASSERT_EQUAL (outcome.outcome, BERTH_OUTCOME_CONFIRMED);
  CU_ASSERT_STRING_EQUAL (outcome.detail, "it was destroyed before");
  CU_ASSERT_EQUAL (place_run (sandbox, "true", &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_SANDBOX_NOT_FOUND);
  berth_sandbox_close (sandbox);
}

/* One row per way that a runtime can answer. */
struct answer
{
  const char *faults;
  uint32_t outcome;
  const char *detail;
};

/* The patience of a real destroy is 20 s; here it is two. */
static void
destroy_briefly (const struct place *place, const char *id, struct berth_destruction *outcome)
{
  BERTH_AUTO_RECORD struct berth_record record = { 0 };
  BERTH_AUTO_LOCK struct berth_lock lock = BERTH_LOCK_NONE;
  struct berth_destroy_budget budget = { .settle_ms = 1500, .deadline_ms = 2500 };
  struct berth_instance *instance = NULL;

  CU_ASSERT_EQUAL (berth_lock_take (place->host, id, 1000, NULL, &lock, NULL), 0);
  CU_ASSERT_EQUAL (berth_store_load (place->host->store, id, 0, &record, NULL), 0);
  CU_ASSERT_EQUAL_FATAL (berth_registry_instance (place->host->registry, place->backend, "a test", &instance, NULL), 0);
  CU_ASSERT_EQUAL (berth_destroy_record_locked (place->host, instance, &record, budget, outcome, NULL), 0);
}

static void
check_answer (const struct place *place, const struct answer *answer)
{
  struct berth_destruction outcome = { 0 };
  struct berth_sandbox *sandbox = make (place);

  place_faults (place, answer->faults);
  destroy_briefly (place, berth_sandbox_id (sandbox), &outcome);
  if (outcome.outcome != answer->outcome || strstr (outcome.detail, answer->detail) == NULL)
    fprintf (stderr, "     %s: got %u \"%s\"\n", answer->faults, outcome.outcome, outcome.detail);
  CU_ASSERT_EQUAL (outcome.outcome, answer->outcome);
  CU_ASSERT_PTR_NOT_NULL (strstr (outcome.detail, answer->detail));
  CU_ASSERT_EQUAL (place_records (place), answer->outcome == BERTH_OUTCOME_CONFIRMED ? 0 : 1);
  place_faults (place, "");
  CU_ASSERT_EQUAL (berth_sandbox_destroy (sandbox, &outcome, NULL), 0);
  CU_ASSERT_EQUAL (outcome.outcome, BERTH_OUTCOME_CONFIRMED);
  CU_ASSERT_EQUAL (place_records (place), 0);
  berth_sandbox_close (sandbox);
}

static void
test_answers (void)
{
  static const struct answer answers[] = {
    { "lifecycle.destroy=lie", BERTH_OUTCOME_UNCONFIRMED, "it is still there" },
    { "lifecycle.destroy=refuse", BERTH_OUTCOME_REFUSED, "is not to be removed" },
    { "lifecycle.destroy=accept:500", BERTH_OUTCOME_CONFIRMED, "seen to be gone" },
    { "lifecycle.destroy=accept", BERTH_OUTCOME_UNCONFIRMED, "it is still there" },
    { "lifecycle.destroy=fail:UNREACHABLE", BERTH_OUTCOME_UNCONFIRMED, "failed, as the setting" },
    { "lifecycle.destroy=hang", BERTH_OUTCOME_UNCONFIRMED, "" },
    { "probe.probe=present", BERTH_OUTCOME_UNCONFIRMED, "it is still there" },
    { "probe.probe=fail:UNREACHABLE", BERTH_OUTCOME_UNCONFIRMED, "probe.probe failed" },
    { "probe.probe=fail:CAPABILITY_NOT_SUPPORTED", BERTH_OUTCOME_CONFIRMED, "the runtime says that it is gone" },
  };
  PLACE place;

  place_make (&place, "fake");
  place_open (&place);
  for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
    check_answer (&place, &answers[i]);
}

/* Without a second observation the delete's own word counts, and an "accepted" is no word. */
static void
test_without_probe (void)
{
  static const struct answer answers[] = {
    { "", BERTH_OUTCOME_CONFIRMED, "the runtime says that it is gone" },
    { "lifecycle.destroy=accept", BERTH_OUTCOME_UNCONFIRMED, "has not said that it is gone" },
  };
  PLACE place;

  place_make (&place, "fake");
  place.config = "[backend fake]\ncapabilities = NETWORK_POLICY\n";
  place_open (&place);
  for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
    check_answer (&place, &answers[i]);
}

/* What is not proven keeps its name, its place in the quota, and is tried again. */
static void
test_unconfirmed_stays (void)
{
  PLACE place;
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
  struct berth_destruction outcome = { 0 };
  struct berth_sandbox *sandbox = NULL, *again = NULL;
  struct berth_error error = { 0 };

  place_make (&place, "fake");
  place_open (&place);
  options.name = "web";
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, &options, &sandbox, NULL), 0);
  place_faults (&place, "lifecycle.destroy=refuse");
  CU_ASSERT_EQUAL (berth_sandbox_destroy (sandbox, &outcome, NULL), 0);
  CU_ASSERT_EQUAL (outcome.outcome, BERTH_OUTCOME_REFUSED);
  berth_sandbox_close (sandbox);
  CU_ASSERT_EQUAL (berth_sandbox_create (place.host, &options, &again, &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_CONFLICT);
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_open (place.host, "web", &again, NULL), 0);
  CU_ASSERT_EQUAL (place_run (again, "true", &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_WRONG_STATE, "is destroying, not running"));
  berth_sandbox_close (again);
  place_faults (&place, "");
  berth_sweep (place.host);
  CU_ASSERT_EQUAL (place_records (&place), 0);
  CU_ASSERT_EQUAL (place_sightings (&place), 0);
}

/* A record without any native id, of a create that died before it was told one. */
static void
test_nothing_named (void)
{
  PLACE place;
  BERTH_AUTO_RECORD struct berth_record record
      = { .id = strdup ("sb-aaaaaaaaaaaaaaaaaaaa"), .owner = strdup ("me"), .backend = strdup ("fake"),
          .state = BERTH_RECORD_CREATING, .generation = 1 };
  struct berth_store_quota quota = { 9, 9 };
  struct berth_sandbox *sandbox = NULL;
  struct berth_destruction outcome = { 0 };
  BERTH_AUTO_FREE char *existing = NULL;

  place_make (&place, "fake");
  place_open (&place);
  CU_ASSERT_EQUAL (berth_store_reserve (place.host->store, &record, &quota, &existing, NULL), 0);
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_open (place.host, record.id, &sandbox, NULL), 0);
  CU_ASSERT_EQUAL (berth_sandbox_destroy (sandbox, &outcome, NULL), 0);
  CU_ASSERT_EQUAL (outcome.outcome, BERTH_OUTCOME_NOTHING_NAMED);
  CU_ASSERT_EQUAL (place_records (&place), 0);
  berth_sandbox_close (sandbox);
}

/* The labels go before the record: what another installation has made in the meantime under that id is
 * not ours, and both stay. */
static void
test_retained (void)
{
  PLACE place;
  struct berth_destruction outcome = { 0 };
  struct berth_sandbox *mine = NULL;

  place_make (&place, "fake");
  place_open (&place);
  struct berth_sandbox *theirs = make (&place);
  BERTH_AUTO_FREE char *native = strdup (berth_record_current (&theirs->record)->id);
  berth_sandbox_close (theirs);
  place_become_another (&place);
  mine = make (&place);
  const struct berth_record_native claimed = { native, (char[]) { "as" }, 2, NULL, 0 };
  CU_ASSERT_EQUAL (berth_store_add_native (place.host->store, berth_sandbox_id (mine), &claimed, NULL), 0);
  CU_ASSERT_EQUAL (berth_sandbox_destroy (mine, &outcome, NULL), 0);
  CU_ASSERT_EQUAL (outcome.outcome, BERTH_OUTCOME_RETAINED);
  CU_ASSERT_EQUAL (place_sightings (&place), 1);
  CU_ASSERT_EQUAL (place_records (&place), 1);
  CU_ASSERT_EQUAL (berth_store_remove_native (place.host->store, berth_sandbox_id (mine), native, NULL), 0);
  CU_ASSERT_EQUAL (berth_sandbox_destroy (mine, &outcome, NULL), 0);
  CU_ASSERT_EQUAL (place_records (&place), 0);
  berth_sandbox_close (mine);
}

/* Somebody else is at it: a destroy waits, a sweep does not. */
static void
test_locked (void)
{
  PLACE place;
  BERTH_AUTO_LOCK struct berth_lock lock = BERTH_LOCK_NONE, other = BERTH_LOCK_NONE;
  struct berth_error error = { 0 };

  place_make (&place, "fake");
  place_open (&place);
  struct berth_sandbox *sandbox = make (&place);
  const char *id = berth_sandbox_id (sandbox);
  CU_ASSERT_EQUAL (berth_lock_try (place.host, id, &lock, NULL), 1);
  CU_ASSERT_EQUAL (berth_lock_try (place.host, id, &other, NULL), 0);
  CU_ASSERT_EQUAL (berth_lock_take (place.host, id, 20, NULL, &other, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_CONFLICT, "just being changed"));
  CU_ASSERT_EQUAL (berth_store_set_state (place.host->store, id, BERTH_RECORD_DESTROYING, NULL), 0);
  berth_sweep (place.host);
  CU_ASSERT_EQUAL (place_records (&place), 1);
  berth_lock_release (&lock);
  CU_ASSERT_EQUAL (berth_lock_take (place.host, id, 20, NULL, &other, &error), 0);
  berth_lock_release (&other);
  CU_ASSERT_EQUAL (berth_sandbox_destroy (sandbox, NULL, NULL), 0);
  berth_sandbox_close (sandbox);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "L08 confirmed, and a second time too", test_confirmed },
    { "L09 every answer of a runtime has its outcome", test_answers },
    { "L09 without a probe the delete's own evidence counts", test_without_probe },
    { "what is not proven stays on record and is tried again", test_unconfirmed_stays },
    { "nothing named", test_nothing_named },
    { "D-107 by its labels another's: it is retained", test_retained },
    { "locks", test_locked },
    { NULL, NULL },
  };

  return berth_test_main ("destroy", tests);
}

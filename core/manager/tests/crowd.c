/* Sixteen processes on one state directory, which all make, use, renew, reap and destroy the same
 * few sandboxes: nobody waits for ever, nobody is told of a failure that is none, and at the end
 * nothing is left.  A moment each time, a minute with BERTH_TEST_LONG=1. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/manager/sweep.h"
#include "core/manager/tests/place.h"
#include "sdk/base/clock.h"
#include "sdk/base/string.h"

#define PROCESSES 16
#define NAMES 12
#define WRONG 3 /* exit status of a child that was told of what cannot be */

static int64_t
duration_ms (void)
{
  return berth_test_is_long () ? 60 * 1000 : 2000;
}

/* What may come of it that others do the same. */
static bool
is_expected (const struct berth_error *error, const uint32_t *codes)
{
  for (; *codes != 0; codes++)
    if (error->code == *codes)
      return true;
  fprintf (stderr, "     [%d] %s: %s\n", (int) getpid (), berth_error_name (error->code), error->message);
  return false;
}
#define EXPECTED(error, ...) is_expected (error, (const uint32_t[]) { __VA_ARGS__, 0 })

static bool
create_it (struct berth_host *host, const char *name)
{
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
  struct berth_sandbox *sandbox = NULL;
  struct berth_error error = { 0 };
  bool is_short = random () % 2 == 0;

  options.name = name;
  options.ttl_ms = is_short ? 300 : 60 * 1000;
  options.request_id = random () % 3 == 0 ? name : NULL;
  /* the end of a short one may come while it is made: the backend's own counts from its beginning */
  if (berth_sandbox_create (host, &options, &sandbox, &error) != 0)
    return EXPECTED (&error, BERTH_E_CONFLICT, BERTH_E_QUOTA_EXCEEDED, is_short ? BERTH_E_SANDBOX_NOT_FOUND : 0);
  berth_sandbox_close (sandbox);
  return true;
}

static bool
run_it (struct berth_sandbox *sandbox)
{
  struct berth_error error = { 0 };
  int status = place_run (sandbox, "exit 5", &error);

  /* destroyed under it, a command is lost, or ends by the signal that ended its sandbox */
  return status == 5 || status == 137
         || (status == -1
             && EXPECTED (&error, BERTH_E_SANDBOX_NOT_FOUND, BERTH_E_WRONG_STATE, BERTH_E_UNREACHABLE));
}

static bool
renew_it (struct berth_sandbox *sandbox)
{
  struct berth_error error = { 0 };

  return berth_sandbox_renew (sandbox, 1000 + random () % 1000, NULL, &error) == 0
         || EXPECTED (&error, BERTH_E_SANDBOX_NOT_FOUND, BERTH_E_WRONG_STATE, BERTH_E_UNREACHABLE);
}

static bool
destroy_it (struct berth_sandbox *sandbox)
{
  struct berth_destruction outcome = { 0 };
  struct berth_error error = { 0 };

  if (berth_sandbox_destroy (sandbox, &outcome, &error) != 0)
    return EXPECTED (&error, BERTH_E_SANDBOX_NOT_FOUND);
  if (outcome.outcome == BERTH_OUTCOME_CONFIRMED || outcome.outcome == BERTH_OUTCOME_NOTHING_NAMED)
    return true;
  fprintf (stderr, "     outcome %u: %s\n", outcome.outcome, outcome.detail);
  return false;
}

static bool
use_it (struct berth_host *host, const char *name, int what)
{
  struct berth_sandbox *sandbox = NULL;
  struct berth_error error = { 0 };

  if (berth_sandbox_open (host, name, &sandbox, &error) != 0)
    return EXPECTED (&error, BERTH_E_SANDBOX_NOT_FOUND);
  bool good = what == 0 ? destroy_it (sandbox) : what == 1 ? renew_it (sandbox) : run_it (sandbox);
  berth_sandbox_close (sandbox);
  return good;
}

static int
take_reaped (void *context, const struct berth_reaped *what)
{
  bool *good = context;

  if (what->outcome != BERTH_OUTCOME_CONFIRMED && what->outcome != BERTH_OUTCOME_NOTHING_NAMED)
    {
      fprintf (stderr, "     reaped with outcome %u: %s\n", what->outcome, what->detail);
      *good = false;
    }
  return 0;
}

static bool
reap (struct berth_host *host)
{
  struct berth_reap_options options = BERTH_REAP_OPTIONS_INIT;
  struct berth_error error = { 0 };
  bool good = true;

  options.kill = 1;
  if (berth_reap (host, &options, take_reaped, &good, &error) != 0)
    return EXPECTED (&error, 0);
  return good;
}

/* A host of its own each time, as a command has. */
static bool
one_round (const struct place *place)
{
  struct berth_host *host = place_own_host (place);
  char name[16];
  int what = (int) (random () % 10);

  snprintf (name, sizeof name, "box-%ld", random () % NAMES);
  bool good = what < 4 ? create_it (host, name) : what == 4 ? reap (host) : use_it (host, name, what - 5);
  berth_host_close (host);
  return good;
}

static void
keep_busy (const struct place *place, int number)
{
  int64_t end_ms = berth_clock_monotonic_ms () + duration_ms ();

  srandom ((unsigned int) (number + getpid ()));
  while (berth_clock_monotonic_ms () < end_ms)
    if (!one_round (place))
      _exit (WRONG);
}

static int
destroy_listed (void *context, const struct berth_sandbox_info *info)
{
  struct berth_host *host = context;
  struct berth_sandbox *sandbox = NULL;

  if (berth_sandbox_open (host, info->id, &sandbox, NULL) == 0)
    {
      CU_ASSERT_TRUE (destroy_it (sandbox));
      berth_sandbox_close (sandbox);
    }
  return 0;
}

static void
crowd (const char *backend)
{
  PLACE place;
  pid_t pids[PROCESSES];

  place_make (&place, backend);
  for (int i = 0; i < PROCESSES; i++)
    pids[i] = berth_test_start (keep_busy, &place, i);
  for (int i = 0; i < PROCESSES; i++)
    CU_ASSERT_EQUAL (berth_test_end (pids[i]), 0);
  place_open (&place);
  CU_ASSERT_TRUE (place_records (&place) <= NAMES);
  /* one that has come to its end by itself is on record until somebody looks */
  CU_ASSERT_TRUE (place_sightings (&place) <= place_records (&place));
  berth_sandbox_list (place.host, NULL, destroy_listed, place.host, NULL);
  CU_ASSERT_TRUE (reap (place.host));
  CU_ASSERT_EQUAL (place_records (&place), 0);
  CU_ASSERT_EQUAL (place_sightings (&place), 0);
}

static void
test_fake (void)
{
  crowd ("fake");
}

static void
test_ns (void)
{
  if (geteuid () != 0 && getenv ("BERTH_TEST_CGROUPS") == NULL)
    berth_test_skip ("needs root, or cgroups that are this user's");
  else
    crowd ("ns");
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "L14 sixteen processes on one state directory, on fake", test_fake },
    { "L14 sixteen processes on one state directory, on ns", test_ns },
    { NULL, NULL },
  };

  return berth_test_main ("crowd", tests);
}

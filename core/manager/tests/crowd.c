/* Sixteen processes on one state directory, which all make, use, renew, reap and destroy the same
 * few sandboxes, some of which are paused, stopped or destroyed as soon as nobody uses them: nobody waits
 * for ever, nobody is told of a failure that is none, and at the end nothing is left.  A moment each time, a
 * minute with BERTH_TEST_LONG=1. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/manager/sweep.h"
#include "core/manager/tests/place.h"
#include "sdk/base/clock.h"
#include "sdk/base/string.h"

#define PROCESSES 16
#define NAMES 12
#define WRONG 3 /* exit status of a child that was told of what cannot be */

#define PATIENCE_MS 60000

/* What all of them together have done, in memory that they share. */
struct done
{
  unsigned int created, ran, renewed, destroyed;
};

static bool
is_all_done (const struct done *done)
{
  const volatile struct done *now = done;

  return now->created > 0 && now->ran > 0 && now->renewed > 0 && now->destroyed > 0;
}

struct crowd
{
  struct place *place;
  struct done *done;
};

static void
count (unsigned int *successes)
{
  __atomic_add_fetch (successes, 1, __ATOMIC_RELAXED);
}

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

/* Every third is idle in no time. */
static void
set_idle (struct berth_create_options *options)
{
  if (random () % 3 != 0)
    return;
  options->idle_ms = 1 + random () % 50;
  options->idle_action = (uint32_t) (BERTH_IDLE_PAUSE + random () % 3);
  options->idle_resume = options->idle_action != BERTH_IDLE_DESTROY && random () % 2 == 0;
}

static bool
create_it (struct berth_host *host, const char *name, struct done *done)
{
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
  struct berth_sandbox *sandbox = NULL;
  struct berth_error error = { 0 };
  bool is_short = random () % 2 == 0;

  options.name = name;
  options.ttl_ms = is_short ? 300 : 60 * 1000;
  options.request_id = random () % 3 == 0 ? name : NULL;
  set_idle (&options);
  /* the end of a short one may come while it is made: the backend's own counts from its beginning */
  if (berth_sandbox_create (host, &options, &sandbox, &error) != 0)
    return EXPECTED (&error, BERTH_E_CONFLICT, is_short ? BERTH_E_SANDBOX_NOT_FOUND : 0);
  berth_sandbox_close (sandbox);
  count (&done->created);
  return true;
}

static bool
run_it (struct berth_sandbox *sandbox, struct done *done)
{
  struct berth_error error = { 0 };
  int status = place_run (sandbox, "exit 5", &error);

  if (status == 5)
    count (&done->ran);
  /* destroyed under it, a command is lost, or ends by the signal that ended its sandbox */
  return status == 5 || status == 137
         || (status == -1
             && EXPECTED (&error, BERTH_E_SANDBOX_NOT_FOUND, BERTH_E_WRONG_STATE, BERTH_E_UNREACHABLE));
}

static bool
renew_it (struct berth_sandbox *sandbox, struct done *done)
{
  struct berth_error error = { 0 };

  if (berth_sandbox_renew (sandbox, 1000 + random () % 1000, NULL, &error) != 0)
    return EXPECTED (&error, BERTH_E_SANDBOX_NOT_FOUND, BERTH_E_WRONG_STATE, BERTH_E_UNREACHABLE);
  count (&done->renewed);
  return true;
}

static bool
destroy_it (struct berth_sandbox *sandbox, struct done *done)
{
  struct berth_destruction outcome = { 0 };
  struct berth_error error = { 0 };

  if (berth_sandbox_destroy (sandbox, &outcome, &error) != 0)
    return EXPECTED (&error, BERTH_E_SANDBOX_NOT_FOUND);
  if (outcome.outcome == BERTH_OUTCOME_CONFIRMED)
    count (&done->destroyed);
  if (outcome.outcome == BERTH_OUTCOME_CONFIRMED || outcome.outcome == BERTH_OUTCOME_NOTHING_NAMED)
    return true;
  fprintf (stderr, "     outcome %u: %s\n", outcome.outcome, outcome.detail);
  return false;
}

static bool
use_it (struct berth_host *host, const char *name, int what, struct done *done)
{
  struct berth_sandbox *sandbox = NULL;
  struct berth_error error = { 0 };

  if (berth_sandbox_open (host, name, &sandbox, &error) != 0)
    return EXPECTED (&error, BERTH_E_SANDBOX_NOT_FOUND);
  bool good = what == 0 ? destroy_it (sandbox, done) : what == 1 ? renew_it (sandbox, done) : run_it (sandbox, done);
  berth_sandbox_close (sandbox);
  return good;
}

static int
take_reaped (void *context, const struct berth_reaped *what)
{
  bool *good = context;

  /* what is paused or stopped has no outcome; one that comes to its end meanwhile can be neither */
  if (what->reason == BERTH_REAP_IDLE && what->action != BERTH_IDLE_DESTROY)
    return 0;
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
one_round (const struct crowd *crowd)
{
  struct berth_host *host = place_own_host (crowd->place);
  char name[16];
  int what = (int) (random () % 10);

  snprintf (name, sizeof name, "box-%ld", random () % NAMES);
  bool good = what < 4    ? create_it (host, name, crowd->done)
              : what == 4 ? reap (host)
                          : use_it (host, name, what - 5, crowd->done);
  berth_host_close (host);
  return good;
}

/* For as long as it should, and on a slow machine until something of each kind has succeeded. */
static void
keep_busy (const struct crowd *crowd, int number)
{
  int64_t now_ms = berth_clock_monotonic_ms ();
  int64_t end_ms = now_ms + duration_ms (), last_ms = now_ms + duration_ms () + PATIENCE_MS;

  srandom ((unsigned int) (number + getpid ()));
  while ((now_ms = berth_clock_monotonic_ms ()) < end_ms || (!is_all_done (crowd->done) && now_ms < last_ms))
    if (!one_round (crowd))
      _exit (WRONG);
}

static int
destroy_listed (void *context, const struct berth_sandbox_info *info)
{
  struct crowd *crowd = context;
  struct berth_sandbox *sandbox = NULL;

  if (berth_sandbox_open (crowd->place->host, info->id, &sandbox, NULL) == 0)
    {
      CU_ASSERT_TRUE (destroy_it (sandbox, crowd->done));
      berth_sandbox_close (sandbox);
    }
  return 0;
}

static void
use_crowd (const char *backend)
{
  PLACE place;
  pid_t pids[PROCESSES];
  struct crowd crowd = { &place, mmap (NULL, sizeof *crowd.done, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) };

  CU_ASSERT_PTR_NOT_EQUAL_FATAL (crowd.done, MAP_FAILED);
  place_make (&place, backend);
  for (int i = 0; i < PROCESSES; i++)
    pids[i] = berth_test_start (keep_busy, &crowd, i);
  for (int i = 0; i < PROCESSES; i++)
    CU_ASSERT_EQUAL (berth_test_end (pids[i]), 0);
  CU_ASSERT_TRUE (is_all_done (crowd.done));
  place_open (&place);
  CU_ASSERT_TRUE (place_records (&place) <= NAMES);
  /* one that has come to its end by itself is on record until somebody looks */
  CU_ASSERT_TRUE (place_sightings (&place) <= place_records (&place));
  berth_sandbox_list (place.host, NULL, destroy_listed, &crowd, NULL);
  CU_ASSERT_TRUE (reap (place.host));
  CU_ASSERT_EQUAL (place_records (&place), 0);
  CU_ASSERT_EQUAL (place_sightings (&place), 0);
  CU_ASSERT_EQUAL (place_marks (&place), 0);
  munmap (crowd.done, sizeof *crowd.done);
}

static void
test_fake (void)
{
  use_crowd ("fake");
}

static void
test_ns (void)
{
  if (geteuid () != 0 && getenv ("BERTH_TEST_CGROUPS") == NULL)
    berth_test_skip ("needs root, or cgroups that are this user's");
  else
    use_crowd ("ns");
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

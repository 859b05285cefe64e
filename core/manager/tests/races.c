/* Many at once: processes on one state directory, threads on one host. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/manager/tests/place.h"
#include "sdk/base/string.h"

#define PROCESSES 8

static void
fail (const char *what, const struct berth_error *error)
{
  fprintf (stderr, "     %s: %s: %s\n", what, berth_error_name (error->code), error->message);
  _exit (1);
}

static int
run_all (void (*work) (const struct place *place, int number), const struct place *place, int statuses[PROCESSES])
{
  pid_t pids[PROCESSES];
  int good = 0;

  for (int i = 0; i < PROCESSES; i++)
    pids[i] = berth_test_start (work, place, i);
  for (int i = 0; i < PROCESSES; i++)
    {
      statuses[i] = berth_test_end (pids[i]);
      good += statuses[i] == 0;
    }
  return good;
}

/* 0 made it, 2 the name was taken. */
static void
take_name (const struct place *place, int number)
{
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
  struct berth_error error = { 0 };
  struct berth_host *host = place_host (place, "me", &error);
  struct berth_sandbox *sandbox = NULL;

  (void) number;
  options.name = "web";
  if (host == NULL)
    fail ("open", &error);
  if (berth_sandbox_create (host, &options, &sandbox, &error) == 0)
    _exit (0);
  if (error.code == BERTH_E_CONFLICT)
    _exit (2);
  fail ("create", &error);
}

static void
test_one_name (void)
{
  PLACE place;
  int statuses[PROCESSES];

  place_make (&place, "fake");
  CU_ASSERT_EQUAL (run_all (take_name, &place, statuses), 1);
  for (int i = 0; i < PROCESSES; i++)
    CU_ASSERT_TRUE (statuses[i] == 0 || statuses[i] == 2 << 8);
  place_open (&place);
  CU_ASSERT_EQUAL (place_sightings (&place), 1);
}

static void
same_request (const struct place *place, int number)
{
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
  struct berth_error error = { 0 };
  struct berth_host *host = place_host (place, "me", &error);
  struct berth_sandbox *sandbox = NULL;
  BERTH_AUTO_FREE char *path = berth_string_format ("ids/%d", number);

  options.request_id = "once";
  if (host == NULL)
    fail ("open", &error);
  if (berth_sandbox_create (host, &options, &sandbox, &error) != 0)
    fail ("create", &error);
  if (place_run (sandbox, "exit 3", &error) != 3)
    fail ("run", &error);
  place_write (place, path, berth_sandbox_id (sandbox));
}

static void
test_one_request (void)
{
  PLACE place;
  int statuses[PROCESSES];
  struct berth_sandbox *sandbox = NULL;

  place_make (&place, "fake");
  place_faults (&place, "lifecycle.create.5=slow:200");
  CU_ASSERT_EQUAL (run_all (same_request, &place, statuses), PROCESSES);
  place_open (&place);
  CU_ASSERT_EQUAL (place_sightings (&place), 1);
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_open (place.host, "sb-", &sandbox, NULL), 0);
  berth_sandbox_cleanup (&sandbox);
}

/* All of them want the last places of the quota. */
static void
take_place (const struct place *place, int number)
{
  struct berth_error error = { 0 };
  struct berth_host *host = place_host (place, "me", &error);
  struct berth_sandbox *sandbox = NULL;

  (void) number;
  if (host == NULL)
    fail ("open", &error);
  if (berth_sandbox_create (host, NULL, &sandbox, &error) == 0)
    _exit (0);
  if (error.code == BERTH_E_QUOTA_EXCEEDED)
    _exit (2);
  fail ("create", &error);
}

static void
test_quota (void)
{
  PLACE place;
  int statuses[PROCESSES];

  place_make (&place, "fake");
  place.config = "[limits]\nsandboxes = 3\n";
  CU_ASSERT_EQUAL (run_all (take_place, &place, statuses), 3);
  for (int i = 0; i < PROCESSES; i++)
    CU_ASSERT_TRUE (statuses[i] == 0 || statuses[i] == 2 << 8);
  place_open (&place);
  CU_ASSERT_EQUAL (place_sightings (&place), 3);
  CU_ASSERT_EQUAL (place_records (&place), 3);
}

/* ---- threads ---- */

struct job
{
  struct place *place;
  struct berth_sandbox *shared;
  int number;
  int failures;
};

static void *
work (void *context)
{
  struct job *job = context;

  for (int i = 0; i < 5; i++)
    {
      BERTH_AUTO_FREE char *line = berth_string_format ("exit %d", 10 + job->number);
      struct berth_sandbox *own = NULL;
      job->failures += place_run (job->shared, line, NULL) != 10 + job->number;
      job->failures += berth_sandbox_create (job->place->host, NULL, &own, NULL) != 0;
      job->failures += own == NULL || place_run (own, line, NULL) != 10 + job->number;
      if (own != NULL)
        berth_sandbox_cleanup (&own);
    }
  return NULL;
}

/* E14: one handle used by all, which connects in whichever thread comes first. */
static void
test_threads (void)
{
  PLACE place;
  struct job jobs[4];
  pthread_t threads[4];
  struct berth_sandbox *made = NULL, *shared = NULL;

  place_make (&place, "fake");
  place_open (&place);
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, NULL, &made, NULL), 0);
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_open (place.host, berth_sandbox_id (made), &shared, NULL), 0);
  for (int i = 0; i < 4; i++)
    {
      jobs[i] = (struct job) { &place, shared, i, 0 };
      CU_ASSERT_EQUAL_FATAL (pthread_create (&threads[i], NULL, work, &jobs[i]), 0);
    }
  for (int i = 0; i < 4; i++)
    {
      pthread_join (threads[i], NULL);
      CU_ASSERT_EQUAL (jobs[i].failures, 0);
    }
  berth_sandbox_close (shared);
  berth_sandbox_cleanup (&made);
  CU_ASSERT_EQUAL (place_records (&place), 0);
  CU_ASSERT_EQUAL (place_sightings (&place), 0);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "L14 D-126 eight processes want one name", test_one_name },
    { "L14 eight processes make one request", test_one_request },
    { "eight processes want three places", test_quota },
    { "E14 threads share a host and a handle", test_threads },
    { NULL, NULL },
  };

  return berth_test_main ("races", tests);
}

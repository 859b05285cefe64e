/* The whole way through on each backend: many processes at once, and death at any moment. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/manager/inventory.h"
#include "core/manager/sweep.h"
#include "core/manager/tests/place.h"
#include "sdk/base/buffer.h"
#include "sdk/base/clock.h"
#include "sdk/base/string.h"

#define PROCESSES 8

/* `ns` has its limits for root, and for who is in cgroups of his: as-ordinary-user says so. */
static bool
can_use (const char *backend)
{
  if (strcmp (backend, "ns") != 0 || geteuid () == 0 || getenv ("BERTH_TEST_CGROUPS") != NULL)
    return true;
  berth_test_skip ("needs root, or cgroups that are this user's");
  return false;
}

/* ---- one after the other ---- */

static void
use_all (const char *backend)
{
  PLACE place;
  struct berth_sandbox *sandbox = NULL;
  struct berth_error error = { 0 };
  struct berth_destruction outcome = { 0 };
  struct place_text text = { "from outside\n", 13 };
  BERTH_AUTO_BUFFER struct berth_buffer got = { 0 };

  if (!can_use (backend))
    return;
  place_make (&place, backend);
  place_open (&place);
  if (berth_sandbox_create (place.host, NULL, &sandbox, &error) != 0)
    fprintf (stderr, "     %s\n", error.message);
  CU_ASSERT_PTR_NOT_NULL_FATAL (sandbox);
  CU_ASSERT_EQUAL (berth_file_write (sandbox, "a", NULL, 13, place_give, &text, &error), 0);
  CU_ASSERT_EQUAL (place_run (sandbox, "cat a > b; exit 7", &error), 7);
  CU_ASSERT_EQUAL (berth_file_read (sandbox, "b", NULL, place_take, &got, &error), 0);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&got), "from outside\n");
  /* another host reaches the same one, as another process would */
  struct berth_host *host = place_host (&place, "me", NULL);
  struct berth_sandbox *found = NULL;
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_open (host, berth_sandbox_id (sandbox), &found, NULL), 0);
  CU_ASSERT_EQUAL (place_run (found, "exit 8", &error), 8);
  CU_ASSERT_EQUAL (berth_sandbox_destroy (found, &outcome, &error), 0);
  CU_ASSERT_EQUAL (outcome.outcome, BERTH_OUTCOME_CONFIRMED);
  CU_ASSERT_EQUAL (place_run (sandbox, "true", &error), -1);
  CU_ASSERT_TRUE (error.code == BERTH_E_SANDBOX_NOT_FOUND || error.code == BERTH_E_UNREACHABLE);
  berth_sandbox_close (found);
  berth_sandbox_close (sandbox);
  berth_host_close (host);
  CU_ASSERT_EQUAL (place_sightings (&place), 0);
}

static void
carry_workspace (const char *backend)
{
  PLACE place;
  struct berth_workspace_options options = BERTH_WORKSPACE_OPTIONS_INIT;
  BERTH_AUTO_BUFFER struct berth_buffer bytes = { 0 }, got = { 0 };
  struct berth_tar_report report = { 0 };
  struct berth_error error = { 0 };
  struct place_text text = { "carried", 7 };

  if (!can_use (backend))
    return;
  place_make (&place, backend);
  place_open (&place);
  BERTH_AUTO_SANDBOX struct berth_sandbox *from = NULL, *to = NULL;
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, NULL, &from, NULL), 0);
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, NULL, &to, NULL), 0);
  CU_ASSERT_EQUAL (berth_file_write (from, "a/b", NULL, BERTH_UNKNOWN_SIZE, place_give, &text, NULL), 0);
  CU_ASSERT_EQUAL (berth_workspace_export (from, NULL, place_take, &bytes, &report, &error), 0);
  CU_ASSERT_TRUE (report.entries >= 2);
  CU_ASSERT_EQUAL (report.bytes, bytes.size);
  struct place_text tar = { bytes.data, bytes.size };
  if (berth_workspace_import (to, NULL, place_give, &tar, &error) != 0)
    fprintf (stderr, "     %s\n", error.message);
  CU_ASSERT_EQUAL (berth_file_read (to, "a/b", NULL, place_take, &got, NULL), 0);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&got), "carried");
  options.max_bytes = 100;
  CU_ASSERT_EQUAL (berth_workspace_export (from, &options, place_take, &got, NULL, &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_PAYLOAD_TOO_LARGE);
  tar = (struct place_text) { bytes.data, bytes.size };
  CU_ASSERT_EQUAL (berth_workspace_import (to, &options, place_give, &tar, &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_PAYLOAD_TOO_LARGE);
}

/* ---- many at once ---- */

static void
fail (const char *what, const struct berth_error *error)
{
  fprintf (stderr, "     %s: %s: %s\n", what, berth_error_name (error->code), error->message);
  _exit (1);
}

static void
live (const struct place *place, int number)
{
  struct berth_error error = { 0 };
  struct berth_host *host = place_own_host (place);

  for (int i = 0; i < 5; i++)
    {
      BERTH_AUTO_FREE char *line = berth_string_format ("exit %d", 10 + number);
      struct berth_sandbox *sandbox = NULL;
      struct berth_destruction outcome;
      if (berth_sandbox_create (host, NULL, &sandbox, &error) != 0)
        fail ("create", &error);
      if (place_run (sandbox, line, &error) != 10 + number)
        fail ("run", &error);
      if (berth_sandbox_destroy (sandbox, &outcome, &error) != 0 || outcome.outcome != BERTH_OUTCOME_CONFIRMED)
        fail (outcome.detail, &error);
      berth_sandbox_close (sandbox);
    }
  berth_host_close (host);
}

static void
many_processes (const char *backend)
{
  PLACE place;
  pid_t pids[PROCESSES];

  if (!can_use (backend))
    return;
  place_make (&place, backend);
  for (int i = 0; i < PROCESSES; i++)
    pids[i] = berth_test_start (live, &place, i);
  for (int i = 0; i < PROCESSES; i++)
    CU_ASSERT_EQUAL (berth_test_end (pids[i]), 0);
  place_check_swept (&place);
}

/* ---- death ---- */

static void
own_and_wait (const struct place *place, int number)
{
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
  struct berth_sandbox *sandbox = NULL;

  (void) number;
  options.owned = 1;
  if (berth_sandbox_create (place_own_host (place), &options, &sandbox, NULL) != 0)
    _exit (1);
  pause ();
}

static void
wait_for_record (const struct place *place, int64_t state)
{
  for (int i = 0; i < 500; i++)
    {
      BERTH_AUTO_IDS struct berth_store_ids ids = { 0 };
      BERTH_AUTO_RECORD struct berth_record record = { 0 };
      berth_store_list (place->host->store, NULL, NULL, &ids, NULL);
      if (ids.count > 0 && berth_store_load (place->host->store, ids.items[0], 0, &record, NULL) == 0
          && record.state == state)
        return;
      berth_clock_sleep_ms (10);
    }
  CU_FAIL ("the record never came");
}

static void
note_state (void *context, const struct berth_sandbox_info *info)
{
  snprintf (context, 16, "%s", info->state);
}

/* By itself, before any host comes by. */
static void
check_ends (struct place *place)
{
  BERTH_AUTO_IDS struct berth_store_ids ids = { 0 };
  struct berth_sandbox *sandbox = NULL;
  char state[16] = "running";
  int64_t deadline = berth_clock_monotonic_ms () + 5000;

  CU_ASSERT_EQUAL (berth_store_list (place->host->store, NULL, NULL, &ids, NULL), 0);
  CU_ASSERT_EQUAL_FATAL (ids.count, 1);
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_open (place->host, ids.items[0], &sandbox, NULL), 0);
  while (strcmp (state, "running") == 0 && berth_clock_monotonic_ms () < deadline)
    {
      berth_clock_sleep_ms (20);
      CU_ASSERT_EQUAL (berth_sandbox_inspect (sandbox, note_state, state, NULL), 0);
    }
  CU_ASSERT_STRING_NOT_EQUAL (state, "running");
  berth_sandbox_close (sandbox);
}

static void
owner_dies (const char *backend)
{
  PLACE place;

  if (!can_use (backend))
    return;
  place_make (&place, backend);
  place_open (&place);
  pid_t pid = berth_test_start (own_and_wait, &place, 0);
  wait_for_record (&place, BERTH_RECORD_RUNNING);
  berth_sweep (place.host);
  CU_ASSERT_EQUAL (place_records (&place), 1);
  kill (pid, SIGKILL);
  berth_test_end (pid);
  check_ends (&place);
  berth_host_close (BERTH_STEAL_POINTER (place.host));
  place_check_swept (&place);
}

static void
live_for_ever (const struct place *place, int number)
{
  struct berth_host *host = place_own_host (place);

  (void) number;
  for (;;)
    {
      struct berth_sandbox *sandbox = NULL;
      if (berth_sandbox_create (host, NULL, &sandbox, NULL) != 0)
        _exit (1);
      if (place_run (sandbox, "true", NULL) != 0)
        _exit (1);
      berth_sandbox_cleanup (&sandbox);
    }
}

/* At random: what is on record afterwards runs, or is swept. */
static void
die_anywhere (const char *backend)
{
  PLACE place;
  unsigned seed = (unsigned) getpid ();

  if (!can_use (backend))
    return;
  place_make (&place, backend);
  for (int round = 0; round < 20; round++)
    {
      pid_t pid = berth_test_start (live_for_ever, &place, 0);
      berth_clock_sleep_ms (10 + rand_r (&seed) % 30);
      kill (pid, SIGKILL);
      CU_ASSERT_TRUE (WIFSIGNALED (berth_test_end (pid)));
      place_open (&place);
      place_sweep (&place);
      CU_ASSERT_TRUE (place_records (&place) <= 1);
      CU_ASSERT_EQUAL (place_records (&place), place_sightings (&place));
      struct berth_sandbox *sandbox = NULL;
      if (berth_sandbox_open (place.host, "sb-", &sandbox, NULL) == 0)
        {
          struct berth_error error = { 0 };
          int code = place_run (sandbox, "exit 6", &error);
          if (code != 6)
            fprintf (stderr, "     exit 6: %d %s: %s\n", code, berth_error_name (error.code), error.message);
          CU_ASSERT_EQUAL (code, 6);
          berth_sandbox_cleanup (&sandbox);
        }
      berth_host_close (BERTH_STEAL_POINTER (place.host));
      place_check_swept (&place);
    }
}

/* ---- many threads of one host ---- */

#define THREADS 6

struct crew
{
  struct place *place;
  struct berth_sandbox *shared;
  int next;
};

static void
expect_done (const char *what, int result, const struct berth_error *error)
{
  if (result != 0)
    fprintf (stderr, "     %s: %s: %s\n", what, berth_error_name (error->code), error->message);
  CU_ASSERT_EQUAL (result, 0);
}

static void
note_snapshot (void *context, const struct berth_snapshot_info *info)
{
  snprintf (context, 64, "%s", info->id);
}

static void
save_it (struct berth_host *host, struct berth_sandbox *sandbox)
{
  struct berth_error error = { 0 };
  char id[64] = "";

  expect_done ("snapshot", berth_sandbox_snapshot (sandbox, NULL, note_snapshot, id, &error), &error);
  expect_done ("removal", berth_snapshot_remove (host, id, &error), &error);
}

static void
write_it (struct berth_sandbox *sandbox, int number)
{
  BERTH_AUTO_FREE char *name = berth_string_format ("file%d", number);
  struct place_text text = { "from a thread", 13 };
  struct berth_error error = { 0 };

  expect_done ("write", berth_file_write (sandbox, name, NULL, text.size, place_give, &text, &error), &error);
  expect_done ("run", place_run (sandbox, "true", &error), &error);
}

static int
see_one (void *context, const struct berth_sandbox_info *info)
{
  (void) info;
  ++*(int *) context;
  return 0;
}

static void
live_beside (struct berth_host *host)
{
  struct berth_sandbox *sandbox = NULL;
  struct berth_error error = { 0 };
  int seen = 0;

  int made = berth_sandbox_create (host, NULL, &sandbox, &error);
  expect_done ("create", made, &error);
  if (made != 0)
    return;
  expect_done ("pause", berth_sandbox_pause (sandbox, NULL, &error), &error);
  expect_done ("resume", berth_sandbox_resume (sandbox, NULL, &error), &error);
  expect_done ("run", place_run (sandbox, "true", &error), &error);
  save_it (host, sandbox);
  expect_done ("list", berth_sandbox_list (host, NULL, see_one, &seen, &error), &error);
  CU_ASSERT_TRUE (seen > 0);
  expect_done ("renew", berth_sandbox_renew (sandbox, BERTH_UNSET, NULL, &error), &error);
  expect_done ("destroy", berth_sandbox_destroy (sandbox, NULL, &error), &error);
  berth_sandbox_close (sandbox);
}

static void *
work_in_thread (void *context)
{
  struct crew *crew = context;
  int number = __atomic_fetch_add (&crew->next, 1, __ATOMIC_RELAXED);
  int rounds = berth_test_is_long () ? 20 : 2;

  for (int i = 0; i < rounds; i++)
    if (number % 3 == 0)
      save_it (crew->place->host, crew->shared);
    else if (number % 3 == 1)
      write_it (crew->shared, number);
    else
      live_beside (crew->place->host);
  return NULL;
}

/* What one holds still for a snapshot another uses at the same time. */
static void
many_threads (const char *backend)
{
  PLACE place;
  struct crew crew = { .place = &place };
  struct berth_error error = { 0 };
  pthread_t threads[THREADS];

  if (!can_use (backend))
    return;
  place_make (&place, backend);
  place_open (&place);
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, NULL, &crew.shared, &error), 0);
  for (int i = 0; i < THREADS; i++)
    CU_ASSERT_EQUAL_FATAL (pthread_create (&threads[i], NULL, work_in_thread, &crew), 0);
  for (int i = 0; i < THREADS; i++)
    pthread_join (threads[i], NULL);
  CU_ASSERT_EQUAL (berth_sandbox_destroy (crew.shared, NULL, NULL), 0);
  berth_sandbox_close (crew.shared);
  CU_ASSERT_EQUAL (place_records (&place), 0);
  CU_ASSERT_EQUAL (place_sightings (&place), 0);
}

static void
test_threads_fake (void)
{
  many_threads ("fake");
}

static void
test_threads_ns (void)
{
  many_threads ("ns");
}

static void
test_use_fake (void)
{
  use_all ("fake");
}

static void
test_use_ns (void)
{
  use_all ("ns");
}

static void
test_workspace_fake (void)
{
  carry_workspace ("fake");
}

static void
test_workspace_ns (void)
{
  carry_workspace ("ns");
}

static void
test_processes_fake (void)
{
  many_processes ("fake");
}

static void
test_processes_ns (void)
{
  many_processes ("ns");
}

static void
test_owner_fake (void)
{
  owner_dies ("fake");
}

static void
test_owner_ns (void)
{
  owner_dies ("ns");
}

static void
test_anywhere_fake (void)
{
  die_anywhere ("fake");
}

static void
test_anywhere_ns (void)
{
  die_anywhere ("ns");
}

/* ---- ns: the agent's own end, should no host come ---- */

static uint32_t
life (const struct place *place)
{
  BERTH_AUTO_INVENTORY struct berth_inventory seen = { 0 };
  struct berth_instance *instance = NULL;

  CU_ASSERT_EQUAL_FATAL (berth_registry_instance (place->host->registry, "ns", "a test", &instance, NULL), 0);
  CU_ASSERT_EQUAL (berth_inventory_read (place->host, instance, 5000, &seen, NULL), 0);
  return seen.count == 1 ? seen.items[0].life : 0;
}

static int64_t
own_end (const struct berth_sandbox *sandbox)
{
  struct berth_manager_call call;
  struct berth_expiry expiry = { 0 };
  struct berth_native native = berth_native_of (sandbox->instance, berth_record_current (&sandbox->record));

  berth_call_begin (&call, sandbox->instance, native.id, NULL, 5000);
  int result = berth_call_backend (&call)->expiry->expires_at (&call.host.call, berth_instance_state (sandbox->instance),
                                                               &native, &expiry);
  CU_ASSERT_EQUAL (berth_call_end (&call, result, NULL), 0);
  return expiry.remaining_ms;
}

static void
test_backstop (void)
{
  PLACE place;

  if (!can_use ("ns"))
    return;
  place_make (&place, "ns");
  place_open (&place);
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  options.ttl_ms = 60 * 1000;
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, &options, &sandbox, NULL), 0);
  CU_ASSERT_TRUE (own_end (sandbox) > 50 * 1000 && own_end (sandbox) <= 60 * 1000);
  CU_ASSERT_EQUAL (berth_sandbox_renew (sandbox, 600 * 1000, NULL, NULL), 0);
  CU_ASSERT_TRUE (own_end (sandbox) > 590 * 1000 && own_end (sandbox) <= 600 * 1000);
  CU_ASSERT_EQUAL (berth_sandbox_renew (sandbox, 800, NULL, NULL), 0);
  if (((uint64_t) sandbox->record.capabilities & BERTH_CAP_PAUSE) != 0)
    {
      /* paused beyond its end and its grace, it lives, and has what it had left */
      CU_ASSERT_EQUAL (berth_sandbox_pause (sandbox, NULL, NULL), 0);
      berth_clock_sleep_ms (1500);
      CU_ASSERT_EQUAL (life (&place), BERTH_LIFE_PAUSED);
      CU_ASSERT_EQUAL (berth_sandbox_resume (sandbox, NULL, NULL), 0);
      CU_ASSERT_EQUAL (life (&place), BERTH_LIFE_RUNNING);
      CU_ASSERT_TRUE (own_end (sandbox) <= 800);
    }
  CU_ASSERT_EQUAL (berth_sandbox_renew (sandbox, 60 * 1000, NULL, NULL), 0);
  CU_ASSERT_EQUAL (place_run (sandbox, "exit 6", NULL), 6);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "L07 L12 create, use, reach and destroy, on fake", test_use_fake },
    { "L07 L12 create, use, reach and destroy, on ns", test_use_ns },
    { "W01 W02 a workspace carried into another sandbox, on fake", test_workspace_fake },
    { "W01 W02 a workspace carried into another sandbox, on ns", test_workspace_ns },
    { "L14 eight processes create, run and destroy, on fake", test_processes_fake },
    { "L14 eight processes create, run and destroy, on ns", test_processes_ns },
    { "E14 threads of one host use, save, pause and destroy, on fake", test_threads_fake },
    { "E14 threads of one host use, save, pause and destroy, on ns", test_threads_ns },
    { "an owned sandbox whose owner is killed, on fake", test_owner_fake },
    { "an owned sandbox whose owner is killed, on ns", test_owner_ns },
    { "L06 L27 kill -9 at any moment, on fake", test_anywhere_fake },
    { "L06 L27 kill -9 at any moment, on ns", test_anywhere_ns },
    { "the agent's own end goes with ours, on ns", test_backstop },
    { NULL, NULL },
  };

  return berth_test_main ("live", tests);
}

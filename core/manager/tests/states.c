/* What each call answers in each state (the table of docs/architecture.md), and hosts that begin at
 * once. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/manager/tests/place.h"
#include "sdk/base/clock.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"

/* ---- states ---- */

enum call
{
  RUN,
  WRITE,
  PAUSE,
  RESUME,
  STOP,
  START,
  RENEW,
  CALLS
};
static const char *const call_names[CALLS] = { "run", "write", "pause", "resume", "stop", "start", "renew" };

static uint32_t
make_call (struct berth_sandbox *sandbox, enum call call)
{
  struct berth_error error = { 0 };
  struct place_text nothing = { "", 0 };
  int result = call == RUN      ? (place_run (sandbox, "exit 3", &error) == 3 ? 0 : -1)
               : call == WRITE  ? berth_file_write (sandbox, "a", NULL, 0, place_give, &nothing, &error)
               : call == PAUSE  ? berth_sandbox_pause (sandbox, NULL, &error)
               : call == RESUME ? berth_sandbox_resume (sandbox, NULL, &error)
               : call == STOP   ? berth_sandbox_stop (sandbox, NULL, &error)
               : call == START  ? berth_sandbox_start (sandbox, NULL, &error)
                                : berth_sandbox_renew (sandbox, 60 * 1000, NULL, &error);

  return result == 0 ? 0 : error.code;
}

struct row
{
  const char *state;
  int64_t recorded; /* set past the manager; 0: by the call `through` */
  enum call through;
  const char *calls; /* y: done, n: WRONG_STATE; in the order above */
};
static const struct row rows[] = {
  { "running", 0, START, "yyyyyyy" },
  { "paused", 0, PAUSE, "nnyyyny" },
  { "stopped", 0, STOP, "nnnnyyy" },
  { "creating", BERTH_RECORD_CREATING, START, "nnnnnnn" },
  { "destroying", BERTH_RECORD_DESTROYING, START, "nnnnnnn" },
  { "failed", BERTH_RECORD_FAILED, START, "nnnnnnn" },
};

/* A new one in that state, and a handle that was made in it. */
static struct berth_sandbox *
make_in_state (const struct place *place, const struct row *row)
{
  struct berth_sandbox *made = NULL, *handle = NULL;

  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place->host, NULL, &made, NULL), 0);
  CU_ASSERT_EQUAL (make_call (made, row->through), 0);
  if (row->recorded != 0)
    CU_ASSERT_EQUAL (berth_store_set_state (place->host->store, berth_sandbox_id (made), row->recorded, NULL), 0);
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_open (place->host, berth_sandbox_id (made), &handle, NULL), 0);
  berth_sandbox_close (made);
  return handle;
}

static void
check_cell (const struct place *place, const struct row *row, enum call call)
{
  struct berth_sandbox *sandbox = make_in_state (place, row);
  uint32_t want = row->calls[call] == 'y' ? 0 : BERTH_E_WRONG_STATE, got = make_call (sandbox, call);

  if (got != want)
    fprintf (stderr, "     %s while %s: got %s\n", call_names[call], row->state, got == 0 ? "done" : berth_error_name (got));
  CU_ASSERT_EQUAL (got, want);
  berth_sandbox_cleanup (&sandbox);
  CU_ASSERT_EQUAL (place_records (place), 0);
  CU_ASSERT_EQUAL (place_sightings (place), 0);
}

static void
test_states (void)
{
  PLACE place;

  place_make (&place, "fake");
  place_open (&place);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (enum call call = RUN; call < CALLS; call++)
      check_cell (&place, &rows[i], call);
}

/* What has ended can only be removed: not kept by pausing it either. */
static void
test_ended (void)
{
  PLACE place;
  BERTH_AUTO_RECORD struct berth_record record = { 0 };
  struct berth_sandbox *sandbox = NULL, *handle = NULL;

  place_make (&place, "fake");
  place_open (&place);
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, NULL, &sandbox, NULL), 0);
  CU_ASSERT_EQUAL (berth_store_load (place.host->store, berth_sandbox_id (sandbox), 0, &record, NULL), 0);
  record.deadline_boot_ms = berth_clock_boottime_ms () - 1;
  CU_ASSERT_EQUAL (berth_store_update (place.host->store, &record, NULL), 0);
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_open (place.host, berth_sandbox_id (sandbox), &handle, NULL), 0);
  for (enum call call = RUN; call < CALLS; call++)
    CU_ASSERT_EQUAL (make_call (handle, call), BERTH_E_WRONG_STATE);
  berth_sandbox_close (handle);
  berth_sandbox_cleanup (&sandbox);
}

/* That it could not be asked is not that it is gone: it is told as unreachable, its name is not free,
 * and nothing is made in its place. */
static void
note_state (void *context, const struct berth_sandbox_info *info)
{
  snprintf (context, 16, "%s", info->state);
}

static void
test_unreachable (void)
{
  PLACE place;
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
  struct berth_sandbox *sandbox = NULL, *other = NULL;
  struct berth_error error = { 0 };
  char state[16] = "";

  place_make (&place, "fake");
  place_open (&place);
  options.name = "web";
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, &options, &sandbox, NULL), 0);
  /* Of one the backend is asked about one. */
  place_faults (&place, "lifecycle.list_ids=fail:UNREACHABLE");
  CU_ASSERT_EQUAL (berth_sandbox_inspect (sandbox, note_state, state, NULL), 0);
  CU_ASSERT_STRING_EQUAL (state, "running");
  place_faults (&place, "lifecycle.list_ids=fail:UNREACHABLE lifecycle.connect=fail:UNREACHABLE"
                        " lifecycle.is_running=fail:UNREACHABLE inventory.describe=fail:UNREACHABLE");
  CU_ASSERT_EQUAL (berth_sandbox_inspect (sandbox, note_state, state, NULL), 0);
  CU_ASSERT_STRING_EQUAL (state, "unreachable");
  CU_ASSERT_EQUAL (berth_sandbox_create (place.host, &options, &other, &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_CONFLICT);
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_open (place.host, "web", &other, NULL), 0);
  CU_ASSERT_EQUAL (place_run (other, "exit 0", &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_UNREACHABLE);
  place_faults (&place, "");
  CU_ASSERT_EQUAL (place_run (other, "exit 4", NULL), 4);
  berth_sandbox_close (other);
  berth_sandbox_cleanup (&sandbox);
}

/* Removed behind our back it is told as failed; its record stays until destroy has proven the same. */
static void
test_vanished (void)
{
  PLACE place;
  struct berth_sandbox *sandbox = NULL;
  struct berth_destruction outcome = { 0 };
  struct berth_error error = { 0 };
  char state[16] = "";

  place_make (&place, "fake");
  place_open (&place);
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, NULL, &sandbox, NULL), 0);
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/backends/fake/sandboxes/%s", place.state,
                                                    berth_record_current (&sandbox->record)->id);
  CU_ASSERT_EQUAL (berth_fs_remove_tree (AT_FDCWD, path), 0);
  CU_ASSERT_EQUAL (berth_sandbox_inspect (sandbox, note_state, state, NULL), 0);
  CU_ASSERT_STRING_EQUAL (state, "failed");
  CU_ASSERT_EQUAL (place_run (sandbox, "exit 0", &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_SANDBOX_NOT_FOUND);
  CU_ASSERT_EQUAL (place_records (&place), 1);
  CU_ASSERT_EQUAL (berth_sandbox_destroy (sandbox, &outcome, NULL), 0);
  CU_ASSERT_EQUAL (outcome.outcome, BERTH_OUTCOME_CONFIRMED);
  CU_ASSERT_EQUAL (place_records (&place), 0);
  berth_sandbox_close (sandbox);
}

/* ---- hosts ---- */

#define HOSTS 20

static void
open_host (const struct place *place, int number)
{
  struct berth_host *host = place_own_host (place);
  BERTH_AUTO_FREE char *path = berth_string_format ("ids/%d", number);

  place_write (place, path, berth_host_fact (host, "installation_id"));
  berth_host_close (host);
}

/* All make the state directory, one makes the installation. */
static void
test_at_once (void)
{
  PLACE place;
  pid_t pids[HOSTS];
  int wrong = 0;

  place_make (&place, "fake");
  for (int i = 0; i < HOSTS; i++)
    pids[i] = berth_test_start (open_host, &place, i);
  for (int i = 0; i < HOSTS; i++)
    CU_ASSERT_EQUAL (berth_test_end (pids[i]), 0);
  place_open (&place);
  for (int i = 0; i < HOSTS; i++)
    {
      BERTH_AUTO_FREE char *path = berth_string_format ("%s/ids/%d", place.directory, i);
      FILE *file = fopen (path, "re");
      char id[64] = "";
      wrong += file == NULL || fgets (id, sizeof id, file) == NULL
               || strcmp (id, berth_host_fact (place.host, "installation_id")) != 0;
      if (file != NULL)
        fclose (file);
    }
  CU_ASSERT_EQUAL (wrong, 0);
}

/* The library leaves the signals of its process as they are. */
static void
test_signals (void)
{
  static const int signals[] = { SIGPIPE, SIGCHLD, SIGINT, SIGTERM, SIGHUP };
  PLACE place;
  struct sigaction before[5], after[5];
  struct berth_sandbox *sandbox = NULL;

  for (int i = 0; i < 5; i++)
    sigaction (signals[i], NULL, &before[i]);
  place_make (&place, "fake");
  place_open (&place);
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, NULL, &sandbox, NULL), 0);
  CU_ASSERT_EQUAL (place_run (sandbox, "exit 4", NULL), 4);
  for (int i = 0; i < 5; i++)
    {
      sigaction (signals[i], NULL, &after[i]);
      CU_ASSERT_PTR_EQUAL ((void *) after[i].sa_handler, (void *) before[i].sa_handler);
    }
  berth_sandbox_cleanup (&sandbox);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "D-124 what each call answers in each state", test_states },
    { "D-124 what has ended can only be removed", test_ended },
    { "D-124 one that cannot be asked is not gone", test_unreachable },
    { "D-107 what vanished behind our back is failed, not forgotten", test_vanished },
    { "D-123 twenty hosts begin at once, and are one installation", test_at_once },
    { "D-119 the signals of the process are left as they are", test_signals },
    { NULL, NULL },
  };

  return berth_test_main ("states", tests);
}

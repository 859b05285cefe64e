/* What becomes of a sandbox that nobody uses: by one decision, under one lock, and by no clock that
 * somebody sets. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/manager/lock.h"
#include "core/manager/sweep.h"
#include "core/manager/tests/place.h"
#include "core/manager/use.h"
#include "core/state/snapshot.h"
#include "sdk/base/clock.h"
#include "sdk/base/string.h"

#define IDLE_MS (600 * 1000)
#define PATIENCE_MS (60 * 1000)

static struct berth_create_options
wish (uint32_t action, bool resume)
{
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;

  options.idle_ms = IDLE_MS;
  options.idle_action = action;
  options.idle_resume = resume;
  return options;
}

static struct berth_sandbox *
make (const struct place *place, uint32_t action, bool resume)
{
  struct berth_create_options options = wish (action, resume);
  struct berth_sandbox *sandbox = NULL;
  struct berth_error error = { 0 };

  if (berth_sandbox_create (place->host, &options, &sandbox, &error) != 0)
    fprintf (stderr, "     %s\n", error.message);
  CU_ASSERT_PTR_NOT_NULL_FATAL (sandbox);
  return sandbox;
}

static int64_t
state (const struct place *place, const struct berth_sandbox *sandbox)
{
  BERTH_AUTO_RECORD struct berth_record record;

  place_load (place, sandbox, &record);
  return record.state;
}

static char *
mark_path (const struct place *place, const char *id)
{
  return berth_string_format ("%s/used/%s", place->state, id);
}

/* As if it had last been used that long ago; negative: by the clock of another boot. */
static void
unused_for (const struct place *place, const struct berth_sandbox *sandbox, int64_t milliseconds)
{
  BERTH_AUTO_FREE char *path = mark_path (place, berth_sandbox_id (sandbox));
  BERTH_AUTO_RECORD struct berth_record record;
  int64_t then_ms = berth_clock_boottime_ms () - milliseconds;
  const struct timespec times[2]
      = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = then_ms / 1000 - (then_ms % 1000 < 0),
                                       .tv_nsec = (then_ms % 1000 + 1000) % 1000 * 1000000 } };

  CU_ASSERT_EQUAL_FATAL (utimensat (AT_FDCWD, path, times, 0), 0);
  place_load (place, sandbox, &record);
  record.idle_look_wall_ms = record.idle_look_boot_ms = 1;
  CU_ASSERT_EQUAL (berth_store_update (place->host->store, &record, NULL), 0);
}

static void
become_idle (const struct place *place, const struct berth_sandbox *sandbox)
{
  unused_for (place, sandbox, IDLE_MS);
}

/* ---- what is done ---- */

static void
test_actions (void)
{
  static const struct
  {
    uint32_t action;
    int64_t becomes; /* 0: gone */
  } rows[] = { { BERTH_IDLE_KEEP, BERTH_RECORD_RUNNING },
               { BERTH_IDLE_PAUSE, BERTH_RECORD_PAUSED },
               { BERTH_IDLE_STOP, BERTH_RECORD_STOPPED },
               { BERTH_IDLE_DESTROY, 0 } };
  PLACE place;

  place_make (&place, "fake");
  place_open (&place);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    {
      struct berth_sandbox *sandbox = make (&place, rows[i].action, false);
      if (rows[i].action != BERTH_IDLE_KEEP)
        {
          unused_for (&place, sandbox, IDLE_MS - 60 * 1000);
          berth_sweep (place.host);
          CU_ASSERT_EQUAL (state (&place, sandbox), BERTH_RECORD_RUNNING);
          become_idle (&place, sandbox);
        }
      berth_sweep (place.host);
      CU_ASSERT_EQUAL_FATAL (place_records (&place), rows[i].becomes != 0 ? 1 : 0);
      if (rows[i].becomes != 0)
        CU_ASSERT_EQUAL (state (&place, sandbox), rows[i].becomes);
      CU_ASSERT_EQUAL (place_sightings (&place), rows[i].becomes != 0 ? 1 : 0);
      berth_sandbox_cleanup (&sandbox);
      CU_ASSERT_EQUAL (place_marks (&place), 0);
    }
}

/* Neither looking at it nor renewing it is a use. */
static int
ignore (void *context, const struct berth_sandbox_info *info)
{
  (void) info;
  ++*(int *) context;
  return 0;
}

static void
look (void *context, const struct berth_sandbox_info *info)
{
  *(int64_t *) context = info->unused_ms;
}

static void
test_no_use (void)
{
  PLACE place;
  struct berth_sandbox *other = NULL;
  int64_t unused_ms = 0;
  int seen = 0;

  place_make (&place, "fake");
  place_open (&place);
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = make (&place, BERTH_IDLE_PAUSE, false);
  unused_for (&place, sandbox, IDLE_MS / 2);
  CU_ASSERT_EQUAL (berth_sandbox_open (place.host, berth_sandbox_id (sandbox), &other, NULL), 0);
  CU_ASSERT_EQUAL (berth_sandbox_inspect (other, look, &unused_ms, NULL), 0);
  CU_ASSERT_TRUE (unused_ms >= IDLE_MS / 2);
  CU_ASSERT_EQUAL (berth_sandbox_list (place.host, NULL, ignore, &seen, NULL), 0);
  CU_ASSERT_EQUAL (seen, 1);
  CU_ASSERT_EQUAL (berth_sandbox_renew (other, 3600 * 1000, NULL, NULL), 0);
  CU_ASSERT_EQUAL (berth_sandbox_inspect (other, look, &unused_ms, NULL), 0);
  CU_ASSERT_TRUE (unused_ms >= IDLE_MS / 2);
  CU_ASSERT_EQUAL (place_run (other, "exit 0", NULL), 0);
  CU_ASSERT_EQUAL (berth_sandbox_inspect (other, look, &unused_ms, NULL), 0);
  CU_ASSERT_TRUE (unused_ms < IDLE_MS / 2);
  berth_sandbox_close (other);
}

/* ---- every use ---- */

static int64_t
give_nothing (void *context, void *bytes, size_t size)
{
  (void) context;
  (void) bytes;
  (void) size;
  return 0;
}

static int
take_any (void *context, const void *bytes, size_t size)
{
  (void) context;
  (void) bytes;
  (void) size;
  return 0;
}

static int
use_run (struct berth_sandbox *sandbox)
{
  return place_run (sandbox, "exit 0", NULL);
}

static int
use_write (struct berth_sandbox *sandbox)
{
  return berth_file_write (sandbox, "f", NULL, 0, give_nothing, NULL, NULL);
}

static int
use_read (struct berth_sandbox *sandbox)
{
  return berth_file_read (sandbox, "f", NULL, take_any, NULL, NULL);
}

static int
use_export (struct berth_sandbox *sandbox)
{
  return berth_workspace_export (sandbox, NULL, take_any, NULL, NULL, NULL);
}

static int
use_snapshot (struct berth_sandbox *sandbox)
{
  return berth_sandbox_snapshot (sandbox, NULL, NULL, NULL, NULL);
}

static void
no_result (void *context, const struct berth_fork_result *result)
{
  struct berth_sandbox *child = NULL;

  if (result->id != NULL && berth_sandbox_open (context, result->id, &child, NULL) == 0)
    berth_sandbox_cleanup (&child);
}

static int
use_fork (struct berth_sandbox *sandbox)
{
  return berth_sandbox_fork (sandbox, NULL, no_result, sandbox->host, NULL);
}

static int
use_rollback (struct berth_sandbox *sandbox)
{
  BERTH_AUTO_IDS struct berth_store_ids ids = { 0 };

  return berth_store_list_snapshots (sandbox->host->store, NULL, NULL, &ids, NULL) != 0 || ids.count == 0
             ? -1
             : berth_sandbox_rollback (sandbox, ids.items[0], NULL, NULL);
}

static const struct
{
  const char *name;
  int (*use) (struct berth_sandbox *sandbox);
} uses[] = { { "run", use_run },           { "write", use_write },       { "read", use_read },
             { "export", use_export },     { "snapshot", use_snapshot }, { "fork", use_fork },
             { "rollback", use_rollback }, { NULL, NULL } };

/* Each of them counts, and each wakes what stands still since it was idle: paused or stopped, also
 * through a handle of before. */
static void
test_uses (void)
{
  static const uint32_t actions[] = { BERTH_IDLE_PAUSE, BERTH_IDLE_STOP };
  PLACE place;

  place_make (&place, "fake");
  place_open (&place);
  for (size_t a = 0; a < 2; a++)
    {
      BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = make (&place, actions[a], true);
      for (size_t i = 0; uses[i].name != NULL; i++)
        {
          int64_t unused_ms = -1;
          unused_for (&place, sandbox, IDLE_MS / 2);
          CU_ASSERT_EQUAL (uses[i].use (sandbox), 0);
          unused_ms = berth_use_unused_ms (place.host, berth_sandbox_id (sandbox));
          if (unused_ms < 0 || unused_ms >= IDLE_MS / 2)
            {
              fprintf (stderr, "     %s does not count\n", uses[i].name);
              CU_FAIL ("it does not count");
            }
          become_idle (&place, sandbox);
          berth_sweep (place.host);
          CU_ASSERT_NOT_EQUAL (state (&place, sandbox), BERTH_RECORD_RUNNING);
          if (uses[i].use (sandbox) != 0 || state (&place, sandbox) != BERTH_RECORD_RUNNING)
            {
              fprintf (stderr, "     %s does not wake\n", uses[i].name);
              CU_FAIL ("it does not wake");
            }
        }
    }
}

/* Without the word for it, and what somebody held by hand, does not go on by itself. */
static void
test_not_woken (void)
{
  PLACE place;
  struct berth_error error = { 0 };

  place_make (&place, "fake");
  place_open (&place);
  struct berth_sandbox *sandbox = make (&place, BERTH_IDLE_PAUSE, false);
  CU_ASSERT_EQUAL (place_run (sandbox, "exit 0", NULL), 0);
  become_idle (&place, sandbox);
  berth_sweep (place.host);
  CU_ASSERT_EQUAL (place_run (sandbox, "exit 0", &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_WRONG_STATE, "is paused, not running"));
  CU_ASSERT_PTR_NOT_NULL (strstr (error.hint, "berth resume"));
  CU_ASSERT_EQUAL (berth_sandbox_resume (sandbox, NULL, NULL), 0);
  berth_sweep (place.host);
  CU_ASSERT_EQUAL (place_run (sandbox, "exit 4", NULL), 4);
  berth_sandbox_cleanup (&sandbox);

  sandbox = make (&place, BERTH_IDLE_PAUSE, true);
  CU_ASSERT_EQUAL (berth_sandbox_pause (sandbox, NULL, NULL), 0);
  CU_ASSERT_EQUAL (place_run (sandbox, "exit 0", &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_WRONG_STATE);
  CU_ASSERT_EQUAL (berth_sandbox_resume (sandbox, NULL, NULL), 0);
  /* what was idle, too, once somebody says so */
  become_idle (&place, sandbox);
  berth_sweep (place.host);
  CU_ASSERT_EQUAL (berth_sandbox_pause (sandbox, NULL, NULL), 0);
  CU_ASSERT_EQUAL (place_run (sandbox, "exit 0", &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_WRONG_STATE);
  berth_sandbox_cleanup (&sandbox);
}

/* Time that it stands still by somebody's word counts for nothing. */
static void
test_held (void)
{
  PLACE place;

  place_make (&place, "fake");
  place_open (&place);
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = make (&place, BERTH_IDLE_DESTROY, false);
  CU_ASSERT_EQUAL (berth_sandbox_pause (sandbox, NULL, NULL), 0);
  become_idle (&place, sandbox);
  berth_sweep (place.host);
  CU_ASSERT_EQUAL_FATAL (place_records (&place), 1);
  CU_ASSERT_EQUAL (berth_sandbox_resume (sandbox, NULL, NULL), 0);
  berth_sweep (place.host);
  CU_ASSERT_EQUAL_FATAL (place_records (&place), 1);
  CU_ASSERT_EQUAL (place_run (sandbox, "exit 4", NULL), 4);
}

/* What its runtime says stands still is not idle, though it is on record as running: somebody who paused it
 * died before the record, or the machine was restarted.  What is dead waits for its end. */
static void
test_stands_still (void)
{
  static const struct
  {
    int (*hold) (struct berth_sandbox *, struct berth_cancel *, struct berth_error *);
    const char *boot_id;
    int64_t becomes;
  } rows[] = { { berth_sandbox_pause, NULL, BERTH_RECORD_PAUSED },
               { berth_sandbox_stop, "another boot", BERTH_RECORD_STOPPED },
               { berth_sandbox_stop, NULL, BERTH_RECORD_RUNNING } };
  PLACE place;

  place_make (&place, "fake");
  place_open (&place);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    {
      BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = make (&place, BERTH_IDLE_DESTROY, false);
      BERTH_AUTO_RECORD struct berth_record record, after;
      place_load (&place, sandbox, &record);
      if (rows[i].boot_id != NULL)
        {
          free (record.boot_id);
          record.boot_id = strdup (rows[i].boot_id);
        }
      CU_ASSERT_EQUAL (rows[i].hold (sandbox, NULL, NULL), 0);
      CU_ASSERT_EQUAL (berth_store_update (place.host->store, &record, NULL), 0);
      become_idle (&place, sandbox);
      berth_sweep (place.host);
      CU_ASSERT_EQUAL_FATAL (place_records (&place), 1);
      place_load (&place, sandbox, &after);
      CU_ASSERT_EQUAL (after.state, rows[i].becomes);
      CU_ASSERT_EQUAL (after.idled, 0);
    }
}

/* ---- clocks ---- */

/* The mark is of the clock that no step moves.  What lies ahead of it is of another boot: then the time
 * begins now. */
static void
test_clocks (void)
{
  static const struct
  {
    int64_t unused_ms, look_wall_in_ms, look_boot_in_ms;
    bool stays;
  } rows[] = {
    { 0, -3600 * 1000, 60000, true },           /* the wall clock was set forward */
    { IDLE_MS, 86400 * 1000, -10, false },      /* or back */
    { IDLE_MS, -10, 86400 * 1000, false },      /* the machine was restarted */
    { -86400 * 1000, -10, 86400 * 1000, true }, /* a mark of before that */
  };
  PLACE place;

  place_make (&place, "fake");
  place_open (&place);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    {
      struct berth_sandbox *sandbox = make (&place, BERTH_IDLE_DESTROY, false);
      BERTH_AUTO_RECORD struct berth_record record;
      unused_for (&place, sandbox, rows[i].unused_ms);
      place_load (&place, sandbox, &record);
      record.idle_look_wall_ms = berth_clock_wall_ms () + rows[i].look_wall_in_ms;
      record.idle_look_boot_ms = berth_clock_boottime_ms () + rows[i].look_boot_in_ms;
      CU_ASSERT_EQUAL (berth_store_update (place.host->store, &record, NULL), 0);
      berth_sweep (place.host);
      CU_ASSERT_EQUAL (place_records (&place), rows[i].stays ? 1 : 0);
      CU_ASSERT_TRUE (!rows[i].stays || berth_use_unused_ms (place.host, berth_sandbox_id (sandbox)) < IDLE_MS / 2);
      berth_sandbox_cleanup (&sandbox);
    }
}

/* ---- a use that is going on ---- */

static void
use_for_ever (const struct place *place, int ready)
{
  struct berth_sandbox *sandbox = NULL;
  struct berth_use use = BERTH_USE_NONE;

  if (berth_sandbox_open (place_own_host (place), "sb-", &sandbox, NULL) != 0
      || berth_use_begin (sandbox, NULL, &use, NULL) != 0 || write (ready, "", 1) != 1)
    _exit (1);
  for (;;)
    pause ();
}

/* A command that runs is a use for as long as it does, and no longer than its process lives. */
static void
test_killed (void)
{
  PLACE place;
  int ready[2];
  char byte;

  place_make (&place, "fake");
  place_open (&place);
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = make (&place, BERTH_IDLE_PAUSE, false);
  CU_ASSERT_EQUAL_FATAL (pipe2 (ready, O_CLOEXEC), 0);
  pid_t child = berth_test_start (use_for_ever, &place, ready[1]);
  CU_ASSERT_EQUAL_FATAL (read (ready[0], &byte, 1), 1);
  become_idle (&place, sandbox);
  CU_ASSERT_EQUAL (berth_use_unused_ms (place.host, berth_sandbox_id (sandbox)), 0);
  berth_sweep (place.host);
  CU_ASSERT_EQUAL (state (&place, sandbox), BERTH_RECORD_RUNNING);
  kill (child, SIGKILL);
  waitpid (child, NULL, 0);
  /* it was seen in use, so the time begins there */
  berth_sweep (place.host);
  CU_ASSERT_EQUAL (state (&place, sandbox), BERTH_RECORD_RUNNING);
  CU_ASSERT_TRUE (berth_use_unused_ms (place.host, berth_sandbox_id (sandbox)) < IDLE_MS / 2);
  become_idle (&place, sandbox);
  berth_sweep (place.host);
  CU_ASSERT_EQUAL (state (&place, sandbox), BERTH_RECORD_PAUSED);
  close (ready[0]);
  close (ready[1]);
}

/* ---- a use against the decision ---- */

struct race
{
  struct place *place;
  struct berth_sandbox *sandbox;
  struct berth_error error;
  int status;
};

static void *
use_it (void *context)
{
  struct race *race = context;

  race->status = place_run (race->sandbox, "exit 5", &race->error);
  return NULL;
}

static void
check_race (const struct race *race, uint32_t action, bool resume)
{
  static const uint32_t codes[] = { BERTH_E_WRONG_STATE, BERTH_E_SANDBOX_NOT_FOUND };
  size_t there = place_sightings (race->place);

  CU_ASSERT_EQUAL (there, race->status != 5 && action == BERTH_IDLE_DESTROY ? 0 : 1);
  if (race->status == 5)
    return;
  CU_ASSERT_FALSE (resume);
  CU_ASSERT_TRUE (race->error.code == codes[0] || race->error.code == codes[1]);
}

/* One or the other, wholly: used and running, or idle and told so; with the word for it always used. */
static void
test_race (void)
{
  static const struct
  {
    uint32_t action;
    bool resume;
  } kinds[] = { { BERTH_IDLE_PAUSE, false }, { BERTH_IDLE_DESTROY, false }, { BERTH_IDLE_PAUSE, true }, { BERTH_IDLE_STOP, true } };
  PLACE place;
  int rounds = berth_test_is_long () ? 2000 : 40;

  place_make (&place, "fake");
  place_open (&place);
  for (int i = 0; i < rounds; i++)
    {
      struct race race = { &place, make (&place, kinds[i % 4].action, kinds[i % 4].resume), { 0 }, -1 };
      pthread_t thread;
      become_idle (&place, race.sandbox);
      CU_ASSERT_EQUAL_FATAL (pthread_create (&thread, NULL, use_it, &race), 0);
      for (int look = 0; look < i % 8; look++)
        sched_yield ();
      berth_sweep (place.host);
      pthread_join (thread, NULL);
      check_race (&race, kinds[i % 4].action, kinds[i % 4].resume);
      berth_sandbox_cleanup (&race.sandbox);
    }
  CU_ASSERT_EQUAL (place_records (&place), 0);
  CU_ASSERT_EQUAL (place_marks (&place), 0);
}

/* A use that comes while it is decided waits for that. */
static void
test_waits (void)
{
  PLACE place;
  pthread_t thread;
  int free = -1;
  int64_t unused_ms = 0, end_ms = berth_clock_monotonic_ms () + PATIENCE_MS;

  place_make (&place, "fake");
  place_open (&place);
  struct race race = { &place, make (&place, BERTH_IDLE_PAUSE, false), { 0 }, -1 };
  const char *id = berth_sandbox_id (race.sandbox);
  become_idle (&place, race.sandbox);
  CU_ASSERT_EQUAL (berth_use_exclude_locked (place.host, id, &free, &unused_ms, NULL), 1);
  CU_ASSERT_TRUE (unused_ms >= IDLE_MS);
  /* one that is cancelled meanwhile */
  struct berth_use use = BERTH_USE_NONE;
  struct berth_cancel *cancel = NULL;
  struct berth_error error = { 0 };
  CU_ASSERT_EQUAL_FATAL (berth_cancel_new (&cancel, NULL), 0);
  berth_cancel_trigger (cancel);
  CU_ASSERT_EQUAL (berth_use_begin (race.sandbox, cancel, &use, &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_CANCELLED);
  berth_cancel_free (cancel);
  CU_ASSERT_EQUAL_FATAL (pthread_create (&thread, NULL, use_it, &race), 0);
  CU_ASSERT_EQUAL (berth_store_set_state (place.host->store, id, BERTH_RECORD_PAUSED, NULL), 0);
  close (free);
  pthread_join (thread, NULL);
  CU_ASSERT_TRUE (berth_clock_monotonic_ms () < end_ms);
  CU_ASSERT_EQUAL (race.status, -1);
  CU_ASSERT_EQUAL (race.error.code, BERTH_E_WRONG_STATE);
  berth_sandbox_cleanup (&race.sandbox);
}

/* ---- what fails, and what is lost ---- */

static void
test_fails (void)
{
  PLACE place;

  place_make (&place, "fake");
  place_open (&place);
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = make (&place, BERTH_IDLE_PAUSE, true);
  BERTH_AUTO_RECORD struct berth_record record;
  become_idle (&place, sandbox);
  place_faults (&place, "pause.pause=fail:UNREACHABLE");
  berth_sweep (place.host);
  place_faults (&place, "");
  place_load (&place, sandbox, &record);
  CU_ASSERT_EQUAL (record.state, BERTH_RECORD_RUNNING);
  CU_ASSERT_EQUAL (record.idled, 0);
  /* not again at once, by everybody's every command */
  CU_ASSERT_TRUE (record.idle_look_boot_ms > berth_clock_boottime_ms () - PATIENCE_MS);
  become_idle (&place, sandbox);
  berth_sweep (place.host);
  CU_ASSERT_EQUAL (state (&place, sandbox), BERTH_RECORD_PAUSED);
  /* what cannot be woken says why, and stays as it is */
  struct berth_error error = { 0 };
  place_faults (&place, "pause.resume=fail:UNREACHABLE");
  CU_ASSERT_EQUAL (place_run (sandbox, "exit 0", &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_UNREACHABLE);
  place_faults (&place, "");
  CU_ASSERT_EQUAL (state (&place, sandbox), BERTH_RECORD_PAUSED);
}

static void
sweep_and_die (const struct place *place, int number)
{
  (void) number;
  berth_sweep (place_own_host (place));
}

/* Whoever does it is killed in the middle: it is done by the next one, or can be undone, and is used as
 * ever. */
static void
test_dies (void)
{
  static const struct
  {
    uint32_t action;
    const char *fault;
    int64_t becomes; /* after the next sweep; 0: gone */
  } rows[] = { { BERTH_IDLE_PAUSE, "pause.pause=kill", BERTH_RECORD_PAUSED },
               { BERTH_IDLE_STOP, "restart.stop=kill", BERTH_RECORD_STOPPED },
               { BERTH_IDLE_DESTROY, "lifecycle.destroy=kill", 0 } };
  PLACE place;

  place_make (&place, "fake");
  place_open (&place);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    {
      BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = make (&place, rows[i].action, rows[i].becomes != 0);
      become_idle (&place, sandbox);
      place_faults (&place, rows[i].fault);
      CU_ASSERT_NOT_EQUAL (place_child (sweep_and_die, &place, 0), 0);
      place_faults (&place, "");
      berth_sweep (place.host);
      CU_ASSERT_EQUAL_FATAL (place_records (&place), rows[i].becomes != 0 ? 1 : 0);
      if (rows[i].becomes == 0)
        continue;
      CU_ASSERT_EQUAL (state (&place, sandbox), rows[i].becomes);
      CU_ASSERT_EQUAL (place_run (sandbox, "exit 6", NULL), 6);
      CU_ASSERT_EQUAL (state (&place, sandbox), BERTH_RECORD_RUNNING);
    }
  CU_ASSERT_EQUAL (place_sightings (&place), 0);
}

/* A mark that somebody removed is made again, and the time begins there. */
static void
test_mark_lost (void)
{
  PLACE place;

  place_make (&place, "fake");
  place_open (&place);
  struct berth_sandbox *sandbox = make (&place, BERTH_IDLE_DESTROY, false);
  BERTH_AUTO_FREE char *path = mark_path (&place, berth_sandbox_id (sandbox));
  become_idle (&place, sandbox);
  CU_ASSERT_EQUAL (unlink (path), 0);
  berth_sweep (place.host);
  CU_ASSERT_EQUAL_FATAL (place_records (&place), 1);
  CU_ASSERT_EQUAL (unlink (path), 0);
  CU_ASSERT_EQUAL (place_run (sandbox, "exit 5", NULL), 5);
  CU_ASSERT_EQUAL (place_marks (&place), 1);
  /* but not of one that is gone */
  struct berth_sandbox *other = NULL;
  struct berth_error error = { 0 };
  CU_ASSERT_EQUAL (berth_sandbox_open (place.host, berth_sandbox_id (sandbox), &other, NULL), 0);
  berth_sandbox_cleanup (&sandbox);
  CU_ASSERT_EQUAL (place_run (other, "exit 5", &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_SANDBOX_NOT_FOUND);
  CU_ASSERT_EQUAL (place_marks (&place), 0);
  berth_sandbox_close (other);
}

/* ---- what may be asked for ---- */

static void
test_refused (void)
{
  static const struct
  {
    int64_t idle_ms;
    uint32_t action, resume;
    const char *message; /* NULL: that is allowed */
  } rows[] = {
    { BERTH_UNSET, 0, 0, NULL },
    { BERTH_UNSET, BERTH_IDLE_KEEP, 0, NULL },
    { 1000, BERTH_IDLE_KEEP, 1, NULL },
    { 1000, BERTH_IDLE_PAUSE, 1, NULL },
    { 86400 * 1000, BERTH_IDLE_DESTROY, 0, NULL },
    { 1000, 0, 0, "what becomes of it" },
    { BERTH_UNSET, BERTH_IDLE_DESTROY, 0, "after how long" },
    { 0, BERTH_IDLE_PAUSE, 0, "idle: got 0, want 1 to" },
    { -1, BERTH_IDLE_PAUSE, 0, "idle: got -1" },
    { 86400 * 1000 + 1, BERTH_IDLE_PAUSE, 0, "idle: got" },
    { 1000, BERTH_IDLE_DESTROY + 1, 0, "no action 5" },
    { 1000, BERTH_IDLE_DESTROY, 1, "can go on again" },
    { BERTH_UNSET, 0, 1, "can go on again" },
  };
  PLACE place;

  place_make (&place, "fake");
  place_open (&place);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    {
      struct berth_create_options options = wish (rows[i].action, rows[i].resume != 0);
      BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
      struct berth_error error = { 0 };
      options.idle_ms = rows[i].idle_ms;
      CU_ASSERT_EQUAL (berth_sandbox_create (place.host, &options, &sandbox, &error), rows[i].message == NULL ? 0 : -1);
      CU_ASSERT_TRUE (rows[i].message == NULL || error_is (&error, BERTH_E_INVALID_REQUEST, rows[i].message));
    }
}

/* PAUSE is not declared: that is said before anything is made. */
static void
test_not_declared (void)
{
  PLACE place;
  struct berth_create_options options = wish (BERTH_IDLE_PAUSE, false);
  struct berth_sandbox *sandbox = NULL;
  struct berth_error error = { 0 };

  place_make (&place, "fake");
  place.config = "[backend fake]\ncapabilities = NETWORK_POLICY\n";
  place_open (&place);
  CU_ASSERT_EQUAL (berth_sandbox_create (place.host, &options, &sandbox, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_CAPABILITY_NOT_SUPPORTED, "PAUSE"));
  options.idle_action = BERTH_IDLE_STOP;
  CU_ASSERT_EQUAL (berth_sandbox_create (place.host, &options, &sandbox, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_CAPABILITY_NOT_SUPPORTED, "RESTART"));
  CU_ASSERT_EQUAL (place_records (&place), 0);
  CU_ASSERT_EQUAL (place_sightings (&place), 0);
  CU_ASSERT_EQUAL (place_marks (&place), 0);
}

/* An environment keeps it, what is said at create goes before, and what is made after the model of one
 * has it too. */
static void
test_environment (void)
{
  PLACE place;
  struct berth_environment_options saved = BERTH_ENVIRONMENT_OPTIONS_INIT;
  struct berth_create_options options = wish (BERTH_IDLE_STOP, true), create = BERTH_CREATE_OPTIONS_INIT;
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL, *other = NULL;
  BERTH_AUTO_RECORD struct berth_record record, second;

  place_make (&place, "fake");
  place_open (&place);
  saved.create = &options;
  CU_ASSERT_EQUAL (berth_environment_save (place.host, "work", &saved, NULL), 0);
  create.base = "work";
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, &create, &sandbox, NULL), 0);
  place_load (&place, sandbox, &record);
  CU_ASSERT_EQUAL (record.idle_ms, IDLE_MS);
  CU_ASSERT_EQUAL (record.idle_action, BERTH_IDLE_STOP);
  CU_ASSERT_EQUAL (record.idle_resume, 1);
  create.idle_action = BERTH_IDLE_KEEP;
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, &create, &other, NULL), 0);
  place_load (&place, other, &second);
  CU_ASSERT_EQUAL (second.idle_action, BERTH_IDLE_KEEP);
  CU_ASSERT_EQUAL (second.idle_resume, 0);
}

/* The same request id with another word about idleness is another request. */
static void
test_request (void)
{
  PLACE place;
  struct berth_create_options options = wish (BERTH_IDLE_STOP, true);
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  struct berth_sandbox *again = NULL;
  struct berth_error error = { 0 };

  place_make (&place, "fake");
  place_open (&place);
  options.request_id = "r1";
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, &options, &sandbox, NULL), 0);
  CU_ASSERT_EQUAL (berth_sandbox_create (place.host, &options, &again, NULL), 0);
  berth_sandbox_close (again);
  options.idle_resume = 0;
  CU_ASSERT_EQUAL (berth_sandbox_create (place.host, &options, &again, &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_CONFLICT);
}

/* ---- by `berth reap`, and on record ---- */

struct told
{
  size_t count;
  uint32_t reason, action, outcome;
  char detail[64];
};

static int
tell (void *context, const struct berth_reaped *what)
{
  struct told *told = context;

  told->count++;
  told->reason = what->reason;
  told->action = what->action;
  told->outcome = what->outcome;
  snprintf (told->detail, sizeof told->detail, "%s", what->detail != NULL ? what->detail : "");
  return 0;
}

static void
test_reap (void)
{
  PLACE place;
  struct berth_reap_options options = BERTH_REAP_OPTIONS_INIT;

  place_make (&place, "fake");
  place_open (&place);
  for (uint32_t action = BERTH_IDLE_PAUSE; action <= BERTH_IDLE_DESTROY; action++)
    {
      struct told told = { 0 }, done = { 0 };
      struct berth_sandbox *sandbox = make (&place, action, false);
      become_idle (&place, sandbox);
      options.kill = 0;
      CU_ASSERT_EQUAL (berth_reap (place.host, &options, tell, &told, NULL), 0);
      CU_ASSERT_EQUAL (told.count, 1);
      CU_ASSERT_EQUAL (told.reason, BERTH_REAP_IDLE);
      CU_ASSERT_EQUAL (told.action, action);
      CU_ASSERT_EQUAL (told.outcome, 0);
      CU_ASSERT_EQUAL (state (&place, sandbox), BERTH_RECORD_RUNNING);
      options.kill = 1;
      CU_ASSERT_EQUAL (berth_reap (place.host, &options, tell, &done, NULL), 0);
      CU_ASSERT_EQUAL (done.count, 1);
      CU_ASSERT_EQUAL (done.outcome, action == BERTH_IDLE_DESTROY ? BERTH_OUTCOME_CONFIRMED : 0);
      if (action != BERTH_IDLE_DESTROY)
        CU_ASSERT_STRING_EQUAL (done.detail, action == BERTH_IDLE_PAUSE ? "paused" : "stopped");
      CU_ASSERT_EQUAL (place_records (&place), action == BERTH_IDLE_DESTROY ? 0 : 1);
      berth_sandbox_cleanup (&sandbox);
    }
}

struct events
{
  size_t pauses, resumes;
};

static int
count_event (void *context, const struct berth_event *event)
{
  struct events *events = context;

  events->pauses += strcmp (event->operation, "pause") == 0 && strstr (event->json, "nobody used it") != NULL;
  events->resumes += strcmp (event->operation, "resume") == 0 && strstr (event->json, "it is used again") != NULL;
  return 0;
}

static void
test_audit (void)
{
  PLACE place;
  struct events events = { 0 };

  place_make (&place, "fake");
  place_open (&place);
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = make (&place, BERTH_IDLE_PAUSE, true);
  become_idle (&place, sandbox);
  berth_sweep (place.host);
  CU_ASSERT_EQUAL (place_run (sandbox, "exit 3", NULL), 3);
  CU_ASSERT_EQUAL (berth_event_list (place.host, NULL, count_event, &events, NULL), 0);
  CU_ASSERT_EQUAL (events.pauses, 1);
  CU_ASSERT_EQUAL (events.resumes, 1);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "idle = keep, pause, stop or destroy", test_actions },
    { "neither looking nor renewing is a use", test_no_use },
    { "every use counts, and wakes what was idle", test_uses },
    { "without the word, or held by hand, it does not go on by itself", test_not_woken },
    { "idle: time that it is paused does not count", test_held },
    { "idle: what merely stands still is not", test_stands_still },
    { "D-106 a clock step makes nothing idle, and nothing used", test_clocks },
    { "a use ends with its process, and is seen", test_killed },
    { "D-105 a use against the decision: one of the two, wholly", test_race },
    { "a use that comes while it is decided waits", test_waits },
    { "an idle action that fails changes no record", test_fails },
    { "an idle action that is killed is done by the next one", test_dies },
    { "a mark that is lost begins anew", test_mark_lost },
    { "what may be asked of idleness", test_refused },
    { "I02 idle = pause is refused at create without PAUSE", test_not_declared },
    { "an environment keeps what becomes of idle ones", test_environment },
    { "idleness is part of a request", test_request },
    { "berth reap tells idle ones, and does what they were made for", test_reap },
    { "what nobody asked for is on record with its reason", test_audit },
    { NULL, NULL },
  };

  return berth_test_main ("idle", tests);
}

/* Real `berth` processes, killed in the middle of what they do: on `fake` at each step, on both at
 * random moments.  Whoever comes next finds no lost sandbox and no leak, makes none twice, and has
 * the whole quota, which is one sandbox here.  A sample each time, hundreds with BERTH_TEST_LONG=1.
 * Built once for each of the backends. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/cli/tests/process.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/string.h"
#include "sdk/base/tests/runner.h"

/* ---- what is there ---- */

static unsigned int
count_entries (const char *name)
{
  BERTH_AUTO_DIR DIR *directory = opendir (process_path (name));
  unsigned int count = 0;

  for (const struct dirent *entry; directory != NULL && (entry = readdir (directory)) != NULL;)
    count += entry->d_name[0] != '.';
  return count;
}

/* What the backend keeps of sandboxes, whatever the records say. */
static unsigned int
count_kept (void)
{
#ifdef EXECUTES
  return count_entries ("state/backends/ns/boxes") + count_entries ("state/backends/ns/ids") + count_entries ("run/ns");
#else
  return count_entries ("state/backends/fake/sandboxes");
#endif
}

static void
expect_nothing (const char *after)
{
  unsigned int records = process_count_sandboxes (), kept = count_kept ();

  if (records != 0 || kept != 0)
    fprintf (stderr, "     after %s: %u on record, %u kept\n", after, records, kept);
  CU_ASSERT_EQUAL (records, 0);
  CU_ASSERT_EQUAL (kept, 0);
}

static void
set_quota (void)
{
  CU_ASSERT_EQUAL (process_write_file ("berth.conf", "[limits]\nsandboxes = 1\n"), 0);
}

/* Makes one; that there is room for it is part of what is tested. */
static void
expect_create (const char *after, const char *key, char id[64])
{
  AUTO_RESULT struct process_result result = { 0 };

  if (key != NULL)
    berth (&result, "create", "--name", "web", "--request-id", key);
  else
    berth (&result, "create", "--name", "web");
  if (result.status != 0)
    fprintf (stderr, "     create after %s: %s", after, berth_buffer_string (&result.err));
  CU_ASSERT_EQUAL (result.status, 0);
  snprintf (id, 64, "%.*s", (int) strcspn (berth_buffer_string (&result.out), "\n"), berth_buffer_string (&result.out));
  CU_ASSERT_EQUAL (process_count_sandboxes (), 1);
}

static void
expect_gone (const char *after, const char *id)
{
  AUTO_RESULT struct process_result result = { 0 };

  berth (&result, "rm", id);
  EXPECT_STATUS (result, 0);
  expect_nothing (after);
}

#ifndef EXECUTES
/* ---- at each step ---- */

static void
expect_killed (const char *faults, const char *const *arguments)
{
  AUTO_RESULT struct process_result result = { 0 };

  process_faults (faults);
  process_run (&result, NULL, arguments);
  if (result.signal != SIGKILL)
    fprintf (stderr, "     %s: not killed, status %d\n", faults, result.status);
  CU_ASSERT_EQUAL (result.signal, SIGKILL);
  process_faults ("");
}

static const char *const create_points[]
    = { "lifecycle.validate", "lifecycle.create",   "lifecycle.create.1", "lifecycle.create.2", "lifecycle.create.3",
        "lifecycle.create.4", "lifecycle.create.5", "lifecycle.create.6", "lifecycle.create.7", "lifecycle.create.8" };

/* A backend that tells the id late has to label what it makes from the first moment: what nobody told
 * of and nobody labelled is nobody's, and left alone. */
static bool
can_be_found (const char *point, bool mute)
{
  return !mute || strcmp (point, "lifecycle.create.2") != 0;
}

/* The request again: the sandbox that the dead one made or, when that was none yet, one. */
static void
kill_create (const char *point, bool keyed, bool mute)
{
  static const char *const plain[] = { "create", "--name", "web", NULL };
  static const char *const with_key[] = { "create", "--name", "web", "--request-id", "once", NULL };
  BERTH_AUTO_FREE char *faults = berth_string_format ("%s%s=kill", mute ? "lifecycle.create=mute " : "", point);
  char id[64];

  expect_killed (faults, keyed ? with_key : plain);
  expect_create (faults, keyed ? "once" : NULL, id);
  CU_ASSERT_EQUAL (count_kept (), 1);
  expect_gone (faults, id);
}

static void
test_create (void)
{
  set_quota ();
  for (size_t i = 0; i < sizeof create_points / sizeof *create_points; i++)
    for (int how = 0; how < 4; how++)
      if ((berth_test_is_long () || (int) (i % 4) == how) && can_be_found (create_points[i], (how & 2) != 0))
        kill_create (create_points[i], (how & 1) != 0, (how & 2) != 0);
}

/* Nobody comes with a request: the reaper finds all of it. */
static void
test_create_reaped (void)
{
  static const char *const arguments[] = { "create", NULL };

  set_quota ();
  for (size_t i = 0; i < sizeof create_points / sizeof *create_points; i++)
    {
      AUTO_RESULT struct process_result result = { 0 };
      bool mute = can_be_found (create_points[i], true);
      BERTH_AUTO_FREE char *faults
          = berth_string_format ("%s%s=kill", mute ? "lifecycle.create=mute " : "", create_points[i]);
      if (!berth_test_is_long () && i % 3 != 0)
        continue;
      expect_killed (faults, arguments);
      berth (&result, "reap", "--kill", "-q");
      EXPECT_STATUS (result, 0);
      CU_ASSERT_EQUAL (count_kept (), 0);
      expect_nothing (faults);
    }
}

static void
test_destroy (void)
{
  static const char *const points[] = { "inventory.describe",  "lifecycle.destroy",   "lifecycle.destroy.1",
                                        "lifecycle.destroy.2", "lifecycle.destroy.3", "probe.probe" };
  static const char *const arguments[] = { "rm", "web", NULL };

  set_quota ();
  for (size_t i = 0; i < sizeof points / sizeof *points; i++)
    for (int how = 0; how < 3; how++)
      {
        BERTH_AUTO_FREE char *faults = berth_string_format ("%s=kill", points[i]);
        AUTO_RESULT struct process_result result = { 0 };
        char id[64];
        if (!berth_test_is_long () && (int) (i % 3) != how)
          continue;
        expect_create ("nothing", NULL, id);
        expect_killed (faults, arguments);
        if (how == 0)
          berth (&result, "rm", "web");
        else if (how == 1)
          berth (&result, "reap", "--kill");
        else
          berth (&result, "create", "--name", "web");
        EXPECT_STATUS (result, 0);
        if (how == 2)
          expect_gone (faults, "web");
        else
          expect_nothing (faults);
      }
}
#endif

/* ---- at any moment ---- */

static void
kill_after (const char *const *arguments, long microseconds)
{
  AUTO_RESULT struct process_result result = { 0 };
  struct timespec pause = { 0, microseconds * 1000 };
  struct process process;

  CU_ASSERT_EQUAL_FATAL (process_start (&process, NULL, arguments), 0);
  nanosleep (&pause, NULL);
  kill (process.pid, SIGKILL);
  process_finish (&process, &result);
}

/* A different one each time, within what such a command takes. */
static long
some_time (void)
{
  return random () % 25000;
}

static void
test_create_anywhere (void)
{
  int rounds = berth_test_is_long () ? 120 : 5;

  set_quota ();
  for (int i = 0; i < rounds; i++)
    {
      BERTH_AUTO_FREE char *key = berth_string_format ("key-%d", i);
      const char *const with_key[] = { "create", "--name", "web", "--request-id", key, NULL };
      const char *const plain[] = { "create", "--name", "web", NULL };
      bool keyed = i % 2 == 0;
      AUTO_RESULT struct process_result result = { 0 };
      char id[64];
      kill_after (keyed ? with_key : plain, some_time ());
      /* without a key it may have been made wholly, and has the name then */
      if (!keyed && process_count_sandboxes () == 1)
        berth (&result, "rm", "web");
      expect_create ("a kill", keyed ? key : NULL, id);
      expect_gone ("a kill in create", id);
    }
}

static void
test_destroy_anywhere (void)
{
  static const char *const arguments[] = { "rm", "web", NULL };
  int rounds = berth_test_is_long () ? 100 : 4;

  set_quota ();
  for (int i = 0; i < rounds; i++)
    {
      char id[64];
      expect_create ("nothing", NULL, id);
      kill_after (arguments, some_time ());
      AUTO_RESULT struct process_result result = { 0 };
      berth (&result, "reap", "--kill");
      EXPECT_STATUS (result, 0);
      /* killed before its first word it is as it was */
      if (process_count_sandboxes () == 1)
        expect_gone ("a kill before destroy", id);
      expect_nothing ("a kill in destroy");
    }
}

/* Whatever was half done, it can be brought to run again, with its end on record. */
static void
test_life_anywhere (void)
{
  static const char *const verbs[] = { "pause", "resume", "stop", "start", "renew" };
  AUTO_RESULT struct process_result result = { 0 };
  int rounds = berth_test_is_long () ? 100 : 5;
  char id[64];

  set_quota ();
  expect_create ("nothing", NULL, id);
  for (int i = 0; i < rounds; i++)
    {
      const char *const arguments[] = { verbs[i % 5], "web", NULL };
      AUTO_RESULT struct process_result listed = { 0 }, run = { 0 };
      kill_after (arguments, some_time ());
      berth (&result, "resume", "web");
      berth (&result, "start", "web");
      EXPECT_STATUS (result, 0);
      berth (&run, "exec", "web", "--", "true");
      EXPECT_STATUS (run, 0);
      berth (&listed, "inspect", "web", "--json");
      EXPECT_IN (listed.out, "\"remaining_ms\":");
    }
  expect_gone ("kills in its life", id);
}

/* ---- snapshot, rollback and fork ---- */

/* One sandbox with a snapshot, in a place where there is room for one more of each. */
struct history
{
  char id[64];
  unsigned int kept; /* of the one sandbox */
};

static void
expect_status (int status, const char *const *arguments, const char *after)
{
  AUTO_RESULT struct process_result result = { 0 };

  process_run (&result, NULL, arguments);
  if (result.status != status)
    fprintf (stderr, "     after %s: berth %s: status %d, want %d\n%s", after, arguments[0], result.status, status,
             berth_buffer_string (&result.err));
  CU_ASSERT_EQUAL (result.status, status);
}
#define EXPECT_AFTER(after, status, ...) expect_status (status, (const char *const[]){ __VA_ARGS__, NULL }, after)

static void
history_begin (struct history *history)
{
  CU_ASSERT_EQUAL (process_write_file ("berth.conf", "[limits]\nsandboxes = 2\nsnapshots_per_owner = 2\n"), 0);
  expect_create ("nothing", NULL, history->id);
  EXPECT_AFTER ("nothing", 0, "write", "web", "note", "--content", "first");
  EXPECT_AFTER ("nothing", 0, "snapshot", "web", "--name", "one");
  EXPECT_AFTER ("nothing", 0, "write", "web", "note", "--content", "second");
  history->kept = count_kept ();
}

static unsigned int
count_snapshots (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  unsigned int count = 0;

  berth (&result, "snapshots", "-q");
  EXPECT_STATUS (result, 0);
  for (const char *line = berth_buffer_string (&result.out); (line = strchr (line, '\n')) != NULL; line++)
    count++;
  return count;
}

/* What was whole before the kill is the user's, and taken away here. */
static void
remove_whole (const struct history *history, const char *after)
{
  AUTO_RESULT struct process_result listed = { 0 };

  berth (&listed, "ls", "-q");
  for (char *line = strtok ((char *) berth_buffer_string (&listed.out), "\n"); line != NULL; line = strtok (NULL, "\n"))
    if (strcmp (line, history->id) != 0)
      EXPECT_AFTER (after, 0, "rm", line);
  if (count_snapshots () > 1)
    EXPECT_AFTER (after, 0, "snapshots", "rm", "two");
}

/* It is there once, runs, and has the one content or the other. */
static void
expect_whole (const struct history *history, const char *after, const char *content)
{
  AUTO_RESULT struct process_result result = { 0 };

  CU_ASSERT_EQUAL (process_count_sandboxes (), 1);
  if (count_kept () != history->kept)
    fprintf (stderr, "     after %s: %u kept, want %u\n", after, count_kept (), history->kept);
  CU_ASSERT_EQUAL (count_kept (), history->kept);
  CU_ASSERT_EQUAL (count_snapshots (), 1);
  CU_ASSERT_EQUAL (count_entries ("state/snapshots"), 1);
  EXPECT_AFTER (after, 0, "exec", "web", "--", "true");
  berth (&result, "read", "web", "note");
  EXPECT_STATUS (result, 0);
  const char *text = berth_buffer_string (&result.out);
  if (content != NULL)
    CU_ASSERT_STRING_EQUAL (text, content);
  CU_ASSERT_TRUE (strcmp (text, "first") == 0 || strcmp (text, "second") == 0);
}

/* All that was killed before counts for nothing: there is room for exactly one more. */
static void
history_end (const struct history *history)
{
  EXPECT_AFTER ("all", 0, "snapshot", "web", "--name", "two");
  EXPECT_AFTER ("all", 125, "snapshot", "web", "--name", "three");
  EXPECT_AFTER ("all", 0, "create", "--name", "more");
  EXPECT_AFTER ("all", 125, "create", "--name", "most");
  EXPECT_AFTER ("all", 0, "rm", "more");
  EXPECT_AFTER ("all", 0, "snapshots", "rm", "one");
  EXPECT_AFTER ("all", 0, "snapshots", "rm", "two");
  CU_ASSERT_EQUAL (count_entries ("state/snapshots"), 0);
  expect_gone ("all", history->id);
}

static const char *const history_verbs[][6] = { { "snapshot", "web", "--name", "two", NULL },
                                                { "rollback", "web", "one", NULL },
                                                { "fork", "web", "--count", "1", NULL } };
enum
{
  SNAPSHOT,
  ROLLBACK,
  FORK,
  VERBS
};

#ifndef EXECUTES
static const char *const saving_points[] = { "pause.pause", "workspace.export_tar", "pause.resume", NULL };
static const char *const filling_points[] = { "workspace.import_tar", NULL };
static const char *const ending_points[] = { "inventory.describe", "lifecycle.destroy", "lifecycle.destroy.1",
                                             "lifecycle.destroy.2", "lifecycle.destroy.3", "probe.probe", NULL };

/* One thing of the list that a verb comes by; MUTE: the backend tells ids late. */
static void
kill_history (const struct history *history, int verb, const char *point, bool mute, bool again)
{
  BERTH_AUTO_FREE char *faults = berth_string_format ("%s%s=kill", mute ? "lifecycle.create=mute " : "", point);
  bool swapped = strstr (point, "destroy") != NULL || strcmp (point, "probe.probe") == 0
                 || strcmp (point, "inventory.describe") == 0;

  expect_killed (faults, history_verbs[verb]);
  if (again)
    expect_status (0, history_verbs[verb], faults);
  else
    EXPECT_AFTER (faults, 0, "reap", "--kill", "-q");
  if (again && verb != ROLLBACK)
    remove_whole (history, faults);
  /* once the swap is on record it is never undone, and before never seen */
  expect_whole (history, faults, verb == ROLLBACK && (again || swapped) ? "first" : "second");
  if (verb == ROLLBACK)
    EXPECT_AFTER (faults, 0, "write", "web", "note", "--content", "second");
}

/* Each on the long way, else every seventh, another one for each verb. */
static void
kill_history_at (const struct history *history, int verb, const char *const *points, bool mute, int *turn)
{
  for (; *points != NULL; points++)
    for (int again = 0; again < 2; again++)
      if (can_be_found (*points, mute) && (berth_test_is_long () || (*turn)++ % 7 == 0))
        kill_history (history, verb, *points, mute, again != 0);
}

static void
test_history (void)
{
  const char *making_points[sizeof create_points / sizeof *create_points + 1] = { NULL };
  struct history history;
  int turn = 0;

  memcpy (making_points, create_points, sizeof create_points);
  history_begin (&history);
  for (int verb = 0; verb < VERBS; verb++)
    {
      if (verb != ROLLBACK)
        kill_history_at (&history, verb, saving_points, false, &turn);
      for (int mute = 0; verb != SNAPSHOT && mute < 2; mute++)
        kill_history_at (&history, verb, making_points, mute != 0, &turn);
      if (verb != SNAPSHOT)
        kill_history_at (&history, verb, filling_points, false, &turn);
      if (verb == ROLLBACK)
        kill_history_at (&history, verb, ending_points, false, &turn);
    }
  history_end (&history);
}
#endif

static void
test_history_anywhere (void)
{
  int rounds = berth_test_is_long () ? 120 : 6;
  struct history history;

  history_begin (&history);
  for (int i = 0; i < rounds; i++)
    {
      int verb = i % VERBS;
      const char *name = history_verbs[verb][0];
      /* a rollback and a fork take twice as long as what they are made of */
      kill_after (history_verbs[verb], verb == SNAPSHOT ? some_time () : 3 * some_time ());
      EXPECT_AFTER (name, 0, "reap", "--kill", "-q");
      if (verb != ROLLBACK)
        remove_whole (&history, name);
      expect_whole (&history, name, verb == ROLLBACK ? NULL : "second");
      EXPECT_AFTER (name, 0, "write", "web", "note", "--content", "second");
    }
  history_end (&history);
}

int
main (void)
{
  static const struct berth_test tests[] = {
#ifndef EXECUTES
    { "L27 D-116 berth create killed at each step, and repeated", test_create },
    { "D-112 berth create killed at each step, and reaped", test_create_reaped },
    { "L08 D-116 berth rm killed at each step", test_destroy },
    { "D-091 berth snapshot, rollback and fork killed at each step", test_history },
#endif
    { "L27 D-116 berth create killed at any moment", test_create_anywhere },
    { "L08 D-115 D-116 berth rm killed at any moment", test_destroy_anywhere },
    { "berth pause, resume, stop, start and renew killed at any moment", test_life_anywhere },
    { "D-091 berth snapshot, rollback and fork killed at any moment", test_history_anywhere },
    { NULL, NULL },
  };

  srandom ((unsigned int) time (NULL));
  return process_main ("crash-" BACKEND, BACKEND, tests);
}

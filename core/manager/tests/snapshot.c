/* Snapshots, rollback and fork. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/manager/info.h"
#include "core/manager/still.h"
#include "core/manager/sweep.h"
#include "core/manager/tests/place.h"
#include "core/state/snapshot.h"
#include "sdk/base/buffer.h"
#include "sdk/base/clock.h"
#include "sdk/base/string.h"

#define PATIENCE_MS 60000
#define BOX                                                                                                            \
  PLACE place;                                                                                                         \
  place_make (&place, "fake");                                                                                         \
  place_open (&place);                                                                                                 \
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;                                                             \
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, NULL, &sandbox, NULL), 0)

struct told
{
  char id[32];
  char checksum[80];
  uint32_t consistent;
  uint64_t bytes, tar_bytes, entries;
  int count;
};

static void
note (void *context, const struct berth_snapshot_info *info)
{
  struct told *told = context;

  snprintf (told->id, sizeof told->id, "%s", info->id);
  snprintf (told->checksum, sizeof told->checksum, "%s", info->checksum);
  told->consistent = info->consistent;
  told->bytes = info->bytes;
  told->tar_bytes = info->tar_bytes;
  told->entries = info->entries;
  told->count++;
}

static int
note_one (void *context, const struct berth_snapshot_info *info)
{
  note (context, info);
  return 0;
}

static int
count_snapshots (const struct place *place)
{
  struct told told = { 0 };

  return berth_snapshot_list (place->host, NULL, note_one, &told, NULL) == 0 ? told.count : -1;
}

static int
save (struct berth_sandbox *sandbox, const char *name, struct told *told, struct berth_error *error)
{
  struct berth_snapshot_options options = BERTH_SNAPSHOT_OPTIONS_INIT;

  options.name = name;
  return berth_sandbox_snapshot (sandbox, &options, note, told, error);
}

static void
put (struct berth_sandbox *sandbox, const char *path, const char *content)
{
  struct place_text text = { content, strlen (content) };

  CU_ASSERT_EQUAL (berth_file_write (sandbox, path, NULL, text.size, place_give, &text, NULL), 0);
}

/* NULL: it is not there. */
static bool
has (struct berth_sandbox *sandbox, const char *path, const char *content)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  int result = berth_file_read (sandbox, path, NULL, place_take, &text, NULL);

  return content != NULL ? result == 0 && strcmp (berth_buffer_string (&text), content) == 0 : result != 0;
}

static size_t
count_files (const struct place *place)
{
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/snapshots", place->state);
  DIR *directory = opendir (path);
  size_t count = 0;

  for (const struct dirent *entry; directory != NULL && (entry = readdir (directory)) != NULL;)
    count += entry->d_name[0] != '.';
  if (directory != NULL)
    closedir (directory);
  return count;
}

/* ---- making ---- */

static void
test_made (void)
{
  BOX;
  struct told told = { 0 }, seen = { 0 };
  struct berth_error error = { 0 };

  put (sandbox, "note", "first");
  CU_ASSERT_EQUAL_FATAL (save (sandbox, "one", &told, NULL), 0);
  CU_ASSERT_EQUAL (told.consistent, 1);
  CU_ASSERT_TRUE (told.bytes > 0 && told.tar_bytes >= 1024 && told.entries >= 1);
  CU_ASSERT_EQUAL (strlen (told.checksum), 64);
  CU_ASSERT_TRUE (place_run (sandbox, "exit 3", NULL) == 3); /* it goes on */
  CU_ASSERT_EQUAL (berth_snapshot_inspect (place.host, "one", note, &seen, NULL), 0);
  CU_ASSERT_STRING_EQUAL (seen.id, told.id);
  CU_ASSERT_EQUAL (save (sandbox, "one", &told, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_CONFLICT, "the name one is taken by snapshot"));
  CU_ASSERT_EQUAL (save (sandbox, "sn-x", &told, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_INVALID_REQUEST, "is an id"));
  CU_ASSERT_EQUAL (count_snapshots (&place), 1);
  CU_ASSERT_EQUAL (count_files (&place), 1);
  CU_ASSERT_EQUAL (berth_snapshot_remove (place.host, "one", NULL), 0);
  CU_ASSERT_EQUAL (berth_snapshot_remove (place.host, "one", &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_NOT_FOUND, "there is no snapshot \"one\""));
  CU_ASSERT_EQUAL (count_files (&place), 0);
}

static void
test_refused (void)
{
  BOX;
  struct berth_snapshot_options options = BERTH_SNAPSHOT_OPTIONS_INIT;
  struct told told = { 0 };
  struct berth_error error = { 0 };

  options.memory = 1;
  CU_ASSERT_EQUAL (berth_sandbox_snapshot (sandbox, &options, NULL, NULL, &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_CAPABILITY_NOT_SUPPORTED);
  options = (struct berth_snapshot_options) BERTH_SNAPSHOT_OPTIONS_INIT;
  options.max_bytes = 0;
  CU_ASSERT_EQUAL (berth_sandbox_snapshot (sandbox, &options, NULL, NULL, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_INVALID_REQUEST, "snapshot: got 0"));
  options.max_bytes = 700;
  put (sandbox, "note", "first");
  CU_ASSERT_EQUAL (berth_sandbox_snapshot (sandbox, &options, NULL, NULL, &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_PAYLOAD_TOO_LARGE);
  CU_ASSERT_EQUAL (berth_sandbox_pause (sandbox, NULL, NULL), 0);
  CU_ASSERT_EQUAL (save (sandbox, NULL, &told, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_WRONG_STATE, "is paused: a snapshot needs one that runs"));
  CU_ASSERT_EQUAL (berth_sandbox_resume (sandbox, NULL, NULL), 0);
  CU_ASSERT_EQUAL (count_files (&place), 0);
  CU_ASSERT_EQUAL (count_snapshots (&place), 0);
}

static void
test_quota (void)
{
  PLACE place;

  place_make (&place, "fake");
  place.config = "[limits]\nsnapshots_per_owner = 2\n";
  place_open (&place);
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  struct told told = { 0 };
  struct berth_error error = { 0 };
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, NULL, &sandbox, NULL), 0);
  CU_ASSERT_EQUAL (save (sandbox, NULL, &told, NULL), 0);
  CU_ASSERT_EQUAL (save (sandbox, NULL, &told, NULL), 0);
  CU_ASSERT_EQUAL (save (sandbox, NULL, &told, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_QUOTA_EXCEEDED, "2 snapshots, the limit is 2"));
  CU_ASSERT_EQUAL (berth_snapshot_remove (place.host, told.id, NULL), 0);
  CU_ASSERT_EQUAL (save (sandbox, NULL, &told, NULL), 0);
}

/* Without a way to hold it still, and where what is paused cannot be exported. */
static void
test_not_still (void)
{
  BOX;
  struct told told = { 0 };

  place_faults (&place, "pause.pause=fail:WRONG_STATE");
  CU_ASSERT_EQUAL (save (sandbox, NULL, &told, NULL), 0);
  CU_ASSERT_EQUAL (told.consistent, 0);
  place_faults (&place, "");
  CU_ASSERT_EQUAL (save (sandbox, NULL, &told, NULL), 0);
  CU_ASSERT_EQUAL (told.consistent, 1);
}

static void
test_export_fails (void)
{
  BOX;
  struct told told = { 0 };
  struct berth_error error = { 0 };

  place_faults (&place, "workspace.export_tar=fail:UNREACHABLE");
  CU_ASSERT_EQUAL (save (sandbox, NULL, &told, &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_UNREACHABLE);
  place_faults (&place, "");
  CU_ASSERT_EQUAL (place_run (sandbox, "exit 3", NULL), 3);
  CU_ASSERT_EQUAL (count_files (&place), 0);
  CU_ASSERT_EQUAL (count_snapshots (&place), 0);
}

/* ---- D-088, D-091: what comes back ---- */

static void
test_create_from (void)
{
  BOX;
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
  BERTH_AUTO_SANDBOX struct berth_sandbox *other = NULL;
  struct told told = { 0 };

  put (sandbox, "note", "first");
  CU_ASSERT_EQUAL_FATAL (save (sandbox, "one", &told, NULL), 0);
  put (sandbox, "note", "second");
  CU_ASSERT_EQUAL (berth_sandbox_destroy (sandbox, NULL, NULL), 0); /* it outlives its sandbox */
  options.snapshot = "one";
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, &options, &other, NULL), 0);
  CU_ASSERT_TRUE (has (other, "note", "first"));
}

/* Changes the byte AT, or, when it is below 0, the length by as much; the last byte is at LAST. */
#define LAST INT64_MAX
static void
damage (const struct place *place, const char *id, int64_t at)
{
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/snapshots/%s.tar.zst", place->state, id);
  BERTH_AUTO_FD int fd = open (path, O_RDWR | O_CLOEXEC);
  struct stat info;
  char byte = 0;

  CU_ASSERT_TRUE_FATAL (fd >= 0 && fstat (fd, &info) == 0);
  if (at < 0)
    {
      CU_ASSERT_EQUAL (ftruncate (fd, info.st_size + at), 0);
      return;
    }
  if (at == LAST)
    at = info.st_size - 1;
  CU_ASSERT_EQUAL (pread (fd, &byte, 1, at), 1);
  byte ^= 1;
  CU_ASSERT_EQUAL (pwrite (fd, &byte, 1, at), 1);
}

static void
test_damaged (void)
{
  BOX;
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
  struct berth_sandbox *other = NULL;
  struct told told = { 0 };
  struct berth_error error = { 0 };

  static const int64_t damages[] = { -1, 20, LAST };
  for (size_t i = 0; i < sizeof damages / sizeof *damages; i++)
    {
      put (sandbox, "note", "first");
      CU_ASSERT_EQUAL_FATAL (save (sandbox, NULL, &told, NULL), 0);
      put (sandbox, "note", "second");
      damage (&place, told.id, damages[i]);
      CU_ASSERT_EQUAL (berth_sandbox_rollback (sandbox, told.id, NULL, &error), -1);
      CU_ASSERT_TRUE (error_is (&error, BERTH_E_CONFIGURATION, i == 0 ? "is damaged: got" : "is damaged: its SHA-256"));
      CU_ASSERT_TRUE (has (sandbox, "note", "second"));
      options.snapshot = told.id;
      CU_ASSERT_EQUAL (berth_sandbox_create (place.host, &options, &other, &error), -1);
      CU_ASSERT_EQUAL (error.code, BERTH_E_CONFIGURATION);
    }
  CU_ASSERT_EQUAL (place_records (&place), 1);
  CU_ASSERT_EQUAL (place_sightings (&place), 1);
}

static void
test_rollback (void)
{
  BOX;
  struct berth_sandbox *other = NULL;
  struct told told = { 0 };

  put (sandbox, "note", "first");
  CU_ASSERT_EQUAL_FATAL (save (sandbox, "one", &told, NULL), 0);
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_open (place.host, berth_sandbox_id (sandbox), &other, NULL), 0);
  for (int i = 0; i < 3; i++)
    {
      put (sandbox, "note", "second");
      put (sandbox, "more", "more");
      CU_ASSERT_EQUAL (berth_sandbox_rollback (sandbox, "one", NULL, NULL), 0);
      CU_ASSERT_TRUE (has (sandbox, "note", "first"));
      CU_ASSERT_TRUE (has (sandbox, "more", NULL));
      CU_ASSERT_EQUAL (place_sightings (&place), 1);
      CU_ASSERT_EQUAL (place_records (&place), 1);
    }
  /* one that was opened before and never used */
  CU_ASSERT_TRUE (has (other, "note", "first"));
  berth_sandbox_close (other);
}

/* D-088: five cycles, of the original and of what was restored. */
static void
test_cycles (void)
{
  BOX;
  struct told told = { 0 };
  char path[16];

  for (int i = 1; i <= 5; i++)
    {
      snprintf (path, sizeof path, "file%d", i);
      put (sandbox, path, path);
      CU_ASSERT_EQUAL_FATAL (save (sandbox, NULL, &told, NULL), 0);
      if (i % 2 == 0)
        CU_ASSERT_EQUAL (berth_sandbox_rollback (sandbox, told.id, NULL, NULL), 0);
      for (int j = 1; j <= i; j++)
        {
          snprintf (path, sizeof path, "file%d", j);
          CU_ASSERT_TRUE (has (sandbox, path, path));
        }
    }
}

/* Whatever fails before the swap, the old one stays and nothing else does. */
static void
test_rollback_fails (void)
{
  static const char *const faults[] = { "lifecycle.validate=fail:UNREACHABLE", "lifecycle.create=fail:UNREACHABLE",
                                        "lifecycle.create.4=fail:UNREACHABLE", "workspace.import_tar=fail:UNREACHABLE" };
  BOX;
  struct told told = { 0 };
  struct berth_error error = { 0 };

  put (sandbox, "note", "first");
  CU_ASSERT_EQUAL_FATAL (save (sandbox, "one", &told, NULL), 0);
  put (sandbox, "note", "second");
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
    {
      place_faults (&place, faults[i]);
      CU_ASSERT_EQUAL (berth_sandbox_rollback (sandbox, "one", NULL, &error), -1);
      CU_ASSERT_EQUAL (error.code, BERTH_E_UNREACHABLE);
      place_faults (&place, "");
      CU_ASSERT_TRUE (has (sandbox, "note", "second"));
      CU_ASSERT_EQUAL (place_sightings (&place), 1);
      CU_ASSERT_EQUAL (place_records (&place), 1);
    }
  CU_ASSERT_EQUAL (berth_sandbox_rollback (sandbox, "none", NULL, &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_NOT_FOUND);
}

static void
test_secrets (void)
{
  PLACE place;
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
  struct berth_pair pair = { "TOKEN", "abc", BERTH_PAIR_SECRET, 0 };
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  struct told told = { 0 };
  struct berth_error error = { 0 };

  place_make (&place, "fake");
  place_open (&place);
  options.environment = &pair;
  options.environment_count = 1;
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, &options, &sandbox, NULL), 0);
  CU_ASSERT_EQUAL (save (sandbox, NULL, &told, NULL), 0);
  CU_ASSERT_EQUAL (berth_sandbox_rollback (sandbox, told.id, NULL, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_WRONG_STATE, "secrets or network rules, which are not kept"));
}

/* ---- fork ---- */

struct children
{
  char ids[4][32];
  int made, failed;
};

static void
note_child (void *context, const struct berth_fork_result *result)
{
  struct children *children = context;

  if (result->id != NULL)
    snprintf (children->ids[children->made++], 32, "%s", result->id);
  else
    children->failed += result->error->code == BERTH_E_QUOTA_EXCEEDED;
}

static void
test_fork (void)
{
  PLACE place;
  struct berth_fork_options options = BERTH_FORK_OPTIONS_INIT;
  struct children children = { 0 };
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;

  place_make (&place, "fake");
  place.config = "[limits]\nsandboxes_per_owner = 3\n";
  place_open (&place);
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, NULL, &sandbox, NULL), 0);
  put (sandbox, "note", "first");
  options.count = 3;
  CU_ASSERT_EQUAL (berth_sandbox_fork (sandbox, &options, note_child, &children, NULL), 0);
  CU_ASSERT_EQUAL (children.made, 2);
  CU_ASSERT_EQUAL (children.failed, 1);
  for (int i = 0; i < children.made; i++)
    {
      BERTH_AUTO_SANDBOX struct berth_sandbox *child = NULL;
      CU_ASSERT_EQUAL_FATAL (berth_sandbox_open (place.host, children.ids[i], &child, NULL), 0);
      CU_ASSERT_TRUE (has (child, "note", "first"));
      put (child, "note", "mine");
      CU_ASSERT_TRUE (has (sandbox, "note", "first"));
    }
  CU_ASSERT_EQUAL (count_files (&place), 0);
}

/* ---- D-091: death ---- */

static void
save_once (const struct place *place, int number)
{
  struct berth_sandbox *sandbox = NULL;
  struct berth_host *host = place_own_host (place);

  (void) number;
  if (berth_sandbox_open (host, "sb-", &sandbox, NULL) == 0)
    berth_sandbox_snapshot (sandbox, NULL, NULL, NULL, NULL);
}

static void
roll_back_once (const struct place *place, int number)
{
  struct berth_sandbox *sandbox = NULL;
  struct berth_host *host = place_own_host (place);

  (void) number;
  if (berth_sandbox_open (host, "sb-", &sandbox, NULL) == 0)
    berth_sandbox_rollback (sandbox, "one", NULL, NULL);
}

static void
kill_at (struct place *place, const char *fault, void (*work) (const struct place *place, int number))
{
  place_faults (place, fault);
  int status = place_child (work, place, 0);
  CU_ASSERT_TRUE (WIFSIGNALED (status) && WTERMSIG (status) == SIGKILL);
  place_faults (place, "");
}

static void
test_save_killed (void)
{
  static const char *const points[] = { "pause.pause=kill", "workspace.export_tar=kill", "pause.resume=kill" };
  BOX;

  put (sandbox, "note", "first");
  for (size_t i = 0; i < sizeof points / sizeof *points; i++)
    {
      kill_at (&place, points[i], save_once);
      CU_ASSERT_EQUAL (count_snapshots (&place), 0);
      CU_ASSERT_EQUAL (count_files (&place), 0);
      CU_ASSERT_EQUAL (place_run (sandbox, "exit 3", NULL), 3); /* it was let go on */
    }
}

/* ---- for everybody else it runs ---- */

struct beside
{
  struct berth_sandbox *sandbox;
  bool is_over;
};

static void *
save_beside (void *context)
{
  struct beside *beside = context;
  struct told told = { 0 };

  CU_ASSERT_EQUAL (save (beside->sandbox, NULL, &told, NULL), 0);
  CU_ASSERT_EQUAL (told.consistent, 1);
  __atomic_store_n (&beside->is_over, true, __ATOMIC_RELEASE);
  return NULL;
}

static bool
is_paused (struct berth_sandbox *sandbox)
{
  BERTH_CLEANUP (berth_sightings_clear) struct berth_sightings seen = { 0 };
  struct berth_instance *instance = NULL;

  if (!berth_still_is_held (sandbox->host, sandbox->record.id) || berth_sandbox_instance (sandbox, &instance, NULL) != 0)
    return false;
  berth_sightings_read (instance, &seen);
  return seen.count == 1 && seen.items[0].life == BERTH_LIFE_PAUSED;
}

/* False: it was not seen so before it was OVER (NULL: it will not be). */
static bool
comes_to_be_held (struct berth_sandbox *sandbox, const bool *over)
{
  for (int64_t end = berth_clock_monotonic_ms () + PATIENCE_MS; berth_clock_monotonic_ms () < end;)
    {
      if (is_paused (sandbox))
        return true;
      if (over != NULL && __atomic_load_n (over, __ATOMIC_ACQUIRE))
        return false;
      berth_clock_sleep_ms (2);
    }
  return false;
}

static int
note_state (void *context, const struct berth_sandbox_info *info)
{
  return snprintf (context, 32, "%s", info->state) < 0;
}

static int
note_size (void *context, const struct berth_file_info *info)
{
  *(uint64_t *) context = info->size;
  return 0;
}

typedef int something (struct berth_sandbox *sandbox);

static int
run_something (struct berth_sandbox *sandbox)
{
  return place_run (sandbox, "exit 0", NULL);
}

static int
write_something (struct berth_sandbox *sandbox)
{
  struct place_text text = { "second", 6 };

  return berth_file_write (sandbox, "note", NULL, text.size, place_give, &text, NULL);
}

static int
stat_something (struct berth_sandbox *sandbox)
{
  uint64_t size = 0;
  int result = berth_file_stat (sandbox, "note", NULL, note_size, &size, NULL);

  return result == 0 && size == strlen ("second") ? 0 : -1;
}

static int
export_something (struct berth_sandbox *sandbox)
{
  BERTH_AUTO_BUFFER struct berth_buffer tar = { 0 };
  struct berth_tar_report report;

  return berth_workspace_export (sandbox, NULL, place_take, &tar, &report, NULL);
}

/* Does it while a snapshot holds the sandbox; false where that was over too soon. */
static bool
do_while_held (struct berth_sandbox *sandbox, something *do_something)
{
  struct beside beside = { sandbox, false };
  char state[32] = "";
  pthread_t thread;

  CU_ASSERT_EQUAL_FATAL (pthread_create (&thread, NULL, save_beside, &beside), 0);
  bool held = comes_to_be_held (sandbox, &beside.is_over);
  if (held)
    {
      CU_ASSERT_EQUAL (berth_sandbox_list (sandbox->host, NULL, note_state, state, NULL), 0);
      CU_ASSERT_TRUE (strcmp (state, "running") == 0 || !is_paused (sandbox));
      CU_ASSERT_EQUAL (do_something (sandbox), 0);
    }
  pthread_join (thread, NULL);
  return held;
}

/* Nobody is told that it is paused: nobody paused it. */
static void
test_others_wait (void)
{
  static something *const all[] = { run_something, write_something, stat_something, export_something };
  BOX;
  int64_t end = berth_clock_monotonic_ms () + PATIENCE_MS;

  put (sandbox, "note", "first");
  place_faults (&place, "workspace.export_tar=slow:200");
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    while (!do_while_held (sandbox, all[i]))
      CU_ASSERT_TRUE_FATAL (berth_clock_monotonic_ms () < end);
  CU_ASSERT_TRUE (has (sandbox, "note", "second"));
}

static void *
run_cancelled (void *context)
{
  struct berth_cancel *cancel = ((void **) context)[1];
  const char *const arguments[] = { "/bin/sh", "-c", "exit 3" };
  struct berth_exec_options options = BERTH_EXEC_OPTIONS_INIT;
  struct berth_exec_result result;
  struct berth_error error = { 0 };

  options.arguments = arguments;
  options.argument_count = 3;
  options.cancel = cancel;
  CU_ASSERT_EQUAL (berth_sandbox_run (((void **) context)[0], &options, &result, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_CANCELLED, "was held still for snapshot sn-"));
  return NULL;
}

/* The next command is enough, whatever that is. */
static void
test_others_let_go (void)
{
  BOX;
  struct berth_cancel *cancel = NULL;
  pthread_t thread, trigger;

  put (sandbox, "note", "first");
  kill_at (&place, "workspace.export_tar=kill", save_once);
  CU_ASSERT_TRUE (berth_still_is_held (place.host, berth_sandbox_id (sandbox)));
  CU_ASSERT_EQUAL (place_run (sandbox, "exit 3", NULL), 3);
  CU_ASSERT_FALSE (berth_still_is_held (place.host, berth_sandbox_id (sandbox)));
  kill_at (&place, "workspace.export_tar=kill", save_once);
  CU_ASSERT_TRUE (has (sandbox, "note", "first"));
  kill_at (&place, "workspace.export_tar=kill", save_once);
  CU_ASSERT_EQUAL (berth_sandbox_renew (sandbox, BERTH_UNSET, NULL, NULL), 0);
  CU_ASSERT_FALSE (berth_still_is_held (place.host, berth_sandbox_id (sandbox)));

  CU_ASSERT_EQUAL_FATAL (berth_cancel_new (&cancel, NULL), 0);
  void *context[] = { sandbox, cancel };
  place_faults (&place, "workspace.export_tar=hang");
  pid_t maker = berth_test_start (save_once, &place, 0);
  CU_ASSERT_TRUE (comes_to_be_held (sandbox, NULL));
  CU_ASSERT_EQUAL_FATAL (pthread_create (&thread, NULL, run_cancelled, context), 0);
  CU_ASSERT_EQUAL_FATAL (pthread_create (&trigger, NULL, place_trigger_later, cancel), 0);
  pthread_join (thread, NULL);
  pthread_join (trigger, NULL);
  kill (maker, SIGKILL);
  berth_test_end (maker);
  place_faults (&place, "");
  CU_ASSERT_EQUAL (place_run (sandbox, "exit 3", NULL), 3);
  CU_ASSERT_EQUAL (count_snapshots (&place), 0);
  berth_cancel_free (cancel);
}

/* One that ended while a dead one held it has ended, and was not paused. */
static void
test_ended_while_held (void)
{
  BOX;
  BERTH_AUTO_RECORD struct berth_record record = { 0 };

  kill_at (&place, "workspace.export_tar=kill", save_once);
  CU_ASSERT_TRUE (berth_still_is_held (place.host, berth_sandbox_id (sandbox)));
  CU_ASSERT_EQUAL (berth_store_load (place.host->store, berth_sandbox_id (sandbox), BERTH_STORE_PAIRS, &record, NULL), 0);
  record.deadline_wall_ms = record.deadline_boot_ms = 1;
  CU_ASSERT_EQUAL (berth_store_update (place.host->store, &record, NULL), 0);
  berth_sweep (place.host);
  CU_ASSERT_EQUAL (count_snapshots (&place), 0);
  CU_ASSERT_EQUAL (place_records (&place), 0);
  CU_ASSERT_EQUAL (place_sightings (&place), 0);
}

static void
test_rollback_killed (void)
{
  static const char *const points[]
      = { "lifecycle.validate=kill", "lifecycle.create=kill",     "lifecycle.create.1=kill",  "lifecycle.create.2=kill",
          "lifecycle.create.3=kill", "lifecycle.create.4=kill",   "lifecycle.create.5=kill",  "lifecycle.create.6=kill",
          "lifecycle.create.7=kill", "workspace.import_tar=kill", "lifecycle.destroy=kill",   "lifecycle.destroy.1=kill",
          "lifecycle.destroy.2=kill" };
  BOX;
  struct told told = { 0 };

  put (sandbox, "note", "first");
  CU_ASSERT_EQUAL_FATAL (save (sandbox, "one", &told, NULL), 0);
  for (size_t i = 0; i < sizeof points / sizeof *points; i++)
    {
      BERTH_AUTO_FREE char *id = strdup (berth_sandbox_id (sandbox));
      struct berth_sandbox *other = NULL;
      BERTH_AUTO_SANDBOX struct berth_sandbox *swept = NULL;
      CU_ASSERT_EQUAL_FATAL (berth_sandbox_open (place.host, id, &other, NULL), 0);
      put (other, "note", "second");
      berth_sandbox_close (other);
      kill_at (&place, points[i], roll_back_once);
      /* any command that looks clears away what is left */
      CU_ASSERT_EQUAL (berth_sandbox_create (place.host, NULL, &swept, NULL), 0);
      CU_ASSERT_EQUAL (berth_sandbox_destroy (swept, NULL, NULL), 0);
      CU_ASSERT_EQUAL (place_sightings (&place), 1);
      CU_ASSERT_EQUAL (place_records (&place), 1);
      CU_ASSERT_EQUAL_FATAL (berth_sandbox_open (place.host, id, &other, NULL), 0);
      /* once the swap is on record it is never undone */
      CU_ASSERT_TRUE (has (other, "note", strstr (points[i], "destroy") != NULL ? "first" : "second"));
      CU_ASSERT_EQUAL (berth_sandbox_pause (other, NULL, NULL), 0);
      CU_ASSERT_EQUAL (berth_sandbox_resume (other, NULL, NULL), 0);
      berth_sandbox_close (other);
    }
}

/* ---- what else may happen in between ---- */

static void
note_error (const struct place *place, uint32_t code)
{
  char text[16];

  snprintf (text, sizeof text, "%u", code);
  place_write (place, "code", text);
}

/* What the quota of a disk does to a file, a limit of this process does too. */
static void
save_little (const struct place *place, int number)
{
  struct berth_sandbox *sandbox = NULL;
  struct berth_host *host = place_own_host (place);
  struct rlimit limit = { (rlim_t) number, (rlim_t) number };
  struct berth_error error = { 0 };

  signal (SIGXFSZ, SIG_IGN);
  if (berth_sandbox_open (host, "sb-", &sandbox, NULL) != 0 || setrlimit (RLIMIT_FSIZE, &limit) != 0)
    return;
  berth_sandbox_snapshot (sandbox, NULL, NULL, NULL, &error);
  note_error (place, error.code);
}

static void
put_noise (struct berth_sandbox *sandbox, const char *path, size_t size)
{
  BERTH_AUTO_FREE char *bytes = malloc (size);
  struct place_text text = { bytes, size };
  uint32_t noise = 1;

  CU_ASSERT_PTR_NOT_NULL_FATAL (bytes);
  for (size_t i = 0; i < size; i++)
    {
      noise = noise * 1664525 + 1013904223;
      bytes[i] = (char) (noise >> 24);
    }
  CU_ASSERT_EQUAL (berth_file_write (sandbox, path, NULL, size, place_give, &text, NULL), 0);
}

static void
test_no_space (void)
{
  BOX;
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/code", place.directory);
  struct told told = { 0 };
  char text[16] = "";

  put_noise (sandbox, "noise", 6 * 1024 * 1024);
  CU_ASSERT_EQUAL (place_child (save_little, &place, 4 * 1024 * 1024), 0);
  BERTH_AUTO_FD int fd = open (path, O_RDONLY | O_CLOEXEC);
  CU_ASSERT_TRUE (fd >= 0 && read (fd, text, sizeof text - 1) > 0);
  CU_ASSERT_EQUAL (atoi (text), BERTH_E_RESOURCE_EXHAUSTED);
  CU_ASSERT_EQUAL (count_files (&place), 0);
  CU_ASSERT_EQUAL (count_snapshots (&place), 0);
  CU_ASSERT_EQUAL (place_run (sandbox, "exit 3", NULL), 3);
  CU_ASSERT_EQUAL (save (sandbox, NULL, &told, NULL), 0);
}

/* Whoever looks while a rollback is unfinished leaves for later what is held still. */
static void
test_held_while_replacing (void)
{
  BOX;
  struct berth_sandbox *other = NULL;

  kill_at (&place, "pause.resume=kill", save_once);
  CU_ASSERT_EQUAL (berth_store_set_state (place.host->store, berth_sandbox_id (sandbox), BERTH_RECORD_REPLACING, NULL), 0);
  CU_ASSERT_EQUAL (count_snapshots (&place), 0);
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, NULL, &other, NULL), 0);
  CU_ASSERT_EQUAL (berth_sandbox_destroy (other, NULL, NULL), 0);
  berth_sandbox_close (other);
  CU_ASSERT_EQUAL (place_run (sandbox, "exit 3", NULL), 3);
  CU_ASSERT_EQUAL (count_files (&place), 0);
}

/* In the middle of the data, and where the sandbox is held still. */
static void
test_cancelled (void)
{
  static const char *const saving[] = { "pause.pause=hang", "workspace.export_tar=hang" };
  static const char *const restoring[] = { "lifecycle.create.4=hang", "workspace.import_tar=hang" };
  BOX;
  struct told told = { 0 };

  put (sandbox, "note", "first");
  CU_ASSERT_EQUAL_FATAL (save (sandbox, "one", &told, NULL), 0);
  put (sandbox, "note", "second");
  for (int i = 0; i < 4; i++)
    {
      struct berth_cancel *cancel = NULL;
      struct berth_snapshot_options how = BERTH_SNAPSHOT_OPTIONS_INIT;
      struct berth_rollback_options back = BERTH_ROLLBACK_OPTIONS_INIT;
      struct berth_error error = { 0 };
      pthread_t thread;
      CU_ASSERT_EQUAL_FATAL (berth_cancel_new (&cancel, NULL), 0);
      how.cancel = back.cancel = cancel;
      place_faults (&place, i < 2 ? saving[i] : restoring[i - 2]);
      CU_ASSERT_EQUAL_FATAL (pthread_create (&thread, NULL, place_trigger_later, cancel), 0);
      CU_ASSERT_EQUAL (i < 2 ? berth_sandbox_snapshot (sandbox, &how, NULL, NULL, &error)
                             : berth_sandbox_rollback (sandbox, "one", &back, &error),
                       -1);
      CU_ASSERT_EQUAL (error.code, BERTH_E_CANCELLED);
      pthread_join (thread, NULL);
      berth_cancel_free (cancel);
      place_faults (&place, "");
      CU_ASSERT_EQUAL (place_run (sandbox, "exit 3", NULL), 3);
      CU_ASSERT_TRUE (has (sandbox, "note", "second"));
      CU_ASSERT_EQUAL (count_files (&place), 1);
      CU_ASSERT_EQUAL (count_snapshots (&place), 1);
      CU_ASSERT_EQUAL (place_sightings (&place), 1);
    }
}

/* Killed in a rollback that has made the replacement. */
static void
make_replacing (struct place *place, struct berth_sandbox *sandbox, const char *faults)
{
  BERTH_AUTO_RECORD struct berth_record record = { 0 };
  struct told told = { 0 };

  CU_ASSERT_EQUAL_FATAL (save (sandbox, "one", &told, NULL), 0);
  kill_at (place, faults, roll_back_once);
  CU_ASSERT_EQUAL (berth_store_load (place->host->store, berth_sandbox_id (sandbox), 0, &record, NULL), 0);
  CU_ASSERT_EQUAL (record.state, BERTH_RECORD_REPLACING);
}

static const char *const replacing_faults[] = { "lifecycle.create.4=kill", "lifecycle.create=mute lifecycle.create.4=kill",
                                                "workspace.import_tar=kill", "lifecycle.destroy=kill" };

static void
test_destroy_replacing (void)
{
  for (size_t i = 0; i < sizeof replacing_faults / sizeof *replacing_faults; i++)
    {
      BOX;
      make_replacing (&place, sandbox, replacing_faults[i]);
      CU_ASSERT_EQUAL (berth_sandbox_destroy (sandbox, NULL, NULL), 0);
      CU_ASSERT_EQUAL (place_records (&place), 0);
      CU_ASSERT_EQUAL (place_sightings (&place), 0);
    }
}

/* First it becomes one again, and that has an end. */
static void
test_end_while_replacing (void)
{
  for (size_t i = 0; i < sizeof replacing_faults / sizeof *replacing_faults; i++)
    {
      BOX;
      BERTH_AUTO_RECORD struct berth_record record = { 0 };
      make_replacing (&place, sandbox, replacing_faults[i]);
      CU_ASSERT_EQUAL_FATAL (berth_store_load (place.host->store, berth_sandbox_id (sandbox), 0, &record, NULL), 0);
      record.deadline_wall_ms = record.deadline_boot_ms = 1;
      CU_ASSERT_EQUAL (berth_store_update (place.host->store, &record, NULL), 0);
      for (int look = 0; look < 2; look++)
        {
          struct berth_sandbox *other = NULL;
          CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, NULL, &other, NULL), 0);
          CU_ASSERT_EQUAL (berth_sandbox_destroy (other, NULL, NULL), 0);
          berth_sandbox_close (other);
        }
      CU_ASSERT_EQUAL (place_records (&place), 0);
      CU_ASSERT_EQUAL (place_sightings (&place), 0);
    }
}

/* What was made is ours, whatever the filling of it says. */
static void
test_import_conflicts (void)
{
  BOX;
  struct told told = { 0 };
  struct berth_error error = { 0 };

  CU_ASSERT_EQUAL_FATAL (save (sandbox, "one", &told, NULL), 0);
  place_faults (&place, "workspace.import_tar=fail:CONFLICT correlation.find_by_assignment=fail:UNREACHABLE"
                        " inventory.list_page=fail:UNREACHABLE");
  CU_ASSERT_EQUAL (berth_sandbox_rollback (sandbox, "one", NULL, &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_CONFLICT);
  place_faults (&place, "");
  CU_ASSERT_EQUAL (place_sightings (&place), 1);
}

static void
ignore_child (void *context, const struct berth_fork_result *result)
{
  (void) context;
  (void) result;
}

static void
fork_once (const struct place *place, int number)
{
  struct berth_fork_options options = BERTH_FORK_OPTIONS_INIT;
  struct berth_sandbox *sandbox = NULL;
  struct berth_host *host = place_own_host (place);

  (void) number;
  options.count = 2;
  if (berth_sandbox_open (host, "sb-", &sandbox, NULL) == 0)
    berth_sandbox_fork (sandbox, &options, ignore_child, NULL, NULL);
}

/* The snapshot that a fork made for itself goes with it. */
static void
test_fork_killed (void)
{
  static const char *const points[] = { "workspace.export_tar=kill", "lifecycle.validate=kill", "lifecycle.create.4=kill",
                                        "workspace.import_tar=kill" };
  BOX;

  for (size_t i = 0; i < sizeof points / sizeof *points; i++)
    {
      kill_at (&place, points[i], fork_once);
      BERTH_AUTO_SANDBOX struct berth_sandbox *other = NULL;
      CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, NULL, &other, NULL), 0);
      CU_ASSERT_EQUAL (berth_sandbox_destroy (other, NULL, NULL), 0);
      CU_ASSERT_EQUAL (count_snapshots (&place), 0);
      CU_ASSERT_EQUAL (count_files (&place), 0);
      CU_ASSERT_EQUAL (place_sightings (&place), 1);
      CU_ASSERT_EQUAL (place_records (&place), 1);
    }
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "a snapshot is made, told, listed, removed", test_made },
    { "what cannot be a snapshot is refused and leaves nothing", test_refused },
    { "snapshots have a quota of their own", test_quota },
    { "one that could not be held still says so", test_not_still },
    { "an export that fails leaves a sandbox that runs", test_export_fails },
    { "a sandbox begins with a snapshot of one that is gone", test_create_from },
    { "D-091 a damaged file is refused and changes nothing", test_damaged },
    { "rollback keeps id and handles, and leaves one sandbox", test_rollback },
    { "D-088 five cycles lose nothing", test_cycles },
    { "a rollback that fails leaves the old one as it is", test_rollback_fails },
    { "what had secrets is not made again without them", test_secrets },
    { "fork gives a result for each child", test_fork },
    { "D-091 a maker that is killed leaves no snapshot and no sandbox held", test_save_killed },
    { "while it is held for a snapshot the calls of others wait", test_others_wait },
    { "what a dead maker holds is let go by the next call, whichever that is", test_others_let_go },
    { "what ends while a dead maker holds it has ended", test_ended_while_held },
    { "a rollback that is killed leaves the old one or the new one", test_rollback_killed },
    { "no space for a snapshot is told, and leaves nothing", test_no_space },
    { "what a dead maker holds still is let go on after a rollback too", test_held_while_replacing },
    { "cancelled in the middle everything is as before", test_cancelled },
    { "what is being rolled back can be destroyed", test_destroy_replacing },
    { "what is being rolled back has its end", test_end_while_replacing },
    { "a replacement that cannot be filled is taken back", test_import_conflicts },
    { "a fork that is killed leaves no snapshot", test_fork_killed },
    { NULL, NULL },
  };

  return berth_test_main ("snapshot", tests);
}

/* What may become of a database: older versions, damage, loss, disks that are full or read-only,
 * backups.  Nothing is made worse, and whose the sandboxes are is never forgotten. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/state/tests/place.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"

/* ---- older versions ---- */

static void
make_v1 (const struct place *place)
{
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/core/state/tests/v1.sql", getenv ("BERTH_TEST_SRCDIR"));
  BERTH_AUTO_BUFFER struct berth_buffer sql = { 0 };

  CU_ASSERT_EQUAL_FATAL (berth_fs_read (AT_FDCWD, path, &sql, 1 << 20), 0);
  place_execute (place, berth_buffer_string (&sql));
}

static void
check_v1 (struct place *place)
{
  BERTH_AUTO_RECORD struct berth_record record = { 0 }, other = { 0 };
  BERTH_AUTO_FREE char *existing = NULL;
  BERTH_AUTO_RECORD struct berth_record again;

  CU_ASSERT_STRING_EQUAL (berth_store_installation_id (place->store), "inst-abcdefghijklmnopqrst");
  CU_ASSERT_EQUAL (berth_store_load (place->store, "sb-22222222222222222222", BERTH_STORE_PAIRS, &record, NULL), 0);
  CU_ASSERT_STRING_EQUAL (record.name, "web");
  CU_ASSERT_EQUAL (record.memory_bytes, 536870912);
  CU_ASSERT_EQUAL (record.deadline_wall_ms, 1700000900000);
  CU_ASSERT_EQUAL (record.request_hash, 0);
  CU_ASSERT_EQUAL (record.left_ms, 0);
  CU_ASSERT_EQUAL_FATAL (record.native_count, 1);
  CU_ASSERT_EQUAL (memcmp (record.natives[0].private_data, "\1\2", 2), 0);
  CU_ASSERT_EQUAL_FATAL (record.labels.count, 1);
  CU_ASSERT_STRING_EQUAL (record.labels.items[0].value, "blue");
  CU_ASSERT_EQUAL (berth_store_load (place->store, "sb-33333333333333333333", 0, &other, NULL), 0);
  CU_ASSERT_EQUAL (other.owner_start, 43);
  /* its hash was never kept: the old request is still the same one */
  place_record (&again, "sb-new", "me", NULL, "once");
  again.request_hash = 99;
  CU_ASSERT_EQUAL (berth_store_reserve (place->store, &again, &place_ample, &existing, NULL), 1);
  CU_ASSERT_STRING_EQUAL (existing, "sb-22222222222222222222");
}

static void
test_migration (void)
{
  PLACE place = { .store = NULL };

  place_make (&place);
  make_v1 (&place);
  place_open (&place);
  check_v1 (&place);
  place_reopen (&place);
  check_v1 (&place);
}

/* An older Berth that runs for hours must not lock out the one that it was upgraded to. */
static void
test_migration_beside_users (void)
{
  PLACE place = { .store = NULL };
  struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };

  place_make (&place);
  make_v1 (&place);
  BERTH_AUTO_FREE char *path = place_file (&place, "berth.lock");
  BERTH_AUTO_FD int fd = open (path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  CU_ASSERT_EQUAL (fcntl (fd, F_OFD_SETLK, &lock), 0);
  place_open (&place);
  check_v1 (&place);
}

static void
open_and_close (const char *directory, int number)
{
  struct berth_store *store = NULL;
  struct berth_error error = { 0 };

  (void) number;
  if (berth_store_open (directory, &store, &error) != 0)
    {
      fprintf (stderr, "%s\n", error.message);
      _exit (1);
    }
  berth_store_close (store);
}

static void
test_migration_at_once (void)
{
  PLACE place = { .store = NULL };
  pid_t pids[8];

  place_make (&place);
  make_v1 (&place);
  for (int i = 0; i < 8; i++)
    pids[i] = berth_test_start (open_and_close, place.directory, i);
  for (int i = 0; i < 8; i++)
    CU_ASSERT_EQUAL (berth_test_end (pids[i]), 0);
  place_open (&place);
  check_v1 (&place);
}

/* ---- damage and loss ---- */

/* A store with one record, closed. */
static void
make_one (struct place *place, char installation[64])
{
  place_open (place);
  place_reserve (place->store, "sb-kept", "me", NULL, NULL, NULL);
  snprintf (installation, 64, "%s", berth_store_installation_id (place->store));
  berth_store_close (BERTH_STEAL_POINTER (place->store));
}

static void
spoil (const struct place *place, const char *name, size_t size)
{
  BERTH_AUTO_FREE char *path = place_file (place, name);
  BERTH_AUTO_FREE char *text = calloc (1, size + 1);

  memset (text, 'x', size);
  CU_ASSERT_EQUAL (berth_fs_replace (AT_FDCWD, path, text, size, 0600), 0);
}

static int
rebuild (struct place *place, char **aside, struct berth_error *error)
{
  *error = (struct berth_error) { 0 };
  return berth_store_rebuild (place->directory, &place->store, aside, error);
}

static void
check_no_rebuild (struct place *place, uint32_t code, const char *part)
{
  BERTH_AUTO_FREE char *aside = NULL;
  struct berth_error error;

  CU_ASSERT_EQUAL (rebuild (place, &aside, &error), -1);
  CU_ASSERT_EQUAL (error.code, code);
  if (strstr (error.message, part) == NULL)
    fprintf (stderr, "got \"%s\", want \"%s\" in it\n", error.message, part);
  CU_ASSERT_PTR_NOT_NULL (strstr (error.message, part));
  CU_ASSERT_PTR_NULL (aside);
}

/* Empty, ours as before, and the damaged one is beside it as it was. */
static void
check_rebuilt (struct place *place, const char *installation)
{
  BERTH_AUTO_IDS struct berth_store_ids ids = { 0 };
  BERTH_AUTO_FREE char *aside = NULL;
  struct berth_error error;

  CU_ASSERT_EQUAL (rebuild (place, &aside, &error), 0);
  if (place->store == NULL)
    fprintf (stderr, "%s\n", error.message);
  CU_ASSERT_PTR_NOT_NULL_FATAL (place->store);
  CU_ASSERT_STRING_EQUAL (berth_store_installation_id (place->store), installation);
  CU_ASSERT_EQUAL (berth_store_list (place->store, NULL, NULL, &ids, NULL), 0);
  CU_ASSERT_EQUAL (ids.count, 0);
  CU_ASSERT_EQUAL (access (aside, F_OK), 0);
  place_reopen (place);
  CU_ASSERT_STRING_EQUAL (berth_store_installation_id (place->store), installation);
  berth_store_close (BERTH_STEAL_POINTER (place->store));
}

static void
test_rebuild (void)
{
  PLACE place = { .store = NULL };
  char installation[64];

  place_make (&place);
  make_one (&place, installation);
  check_no_rebuild (&place, BERTH_E_CONFLICT, "is sound");
  spoil (&place, "berth.db", 8192);
  check_rebuilt (&place, installation);
}

static void
hold_open (const char *directory, int number)
{
  struct berth_store *store = NULL;

  if (berth_store_open (directory, &store, NULL) == 0 && write (number, "x", 1) == 1)
    pause ();
}

static void
test_rebuild_refused (void)
{
  PLACE place = { .store = NULL };
  char installation[64], byte;
  int pipe_fds[2];

  place_make (&place);
  check_no_rebuild (&place, BERTH_E_CONFLICT, "was never made");
  make_one (&place, installation);
  CU_ASSERT_EQUAL_FATAL (pipe2 (pipe_fds, O_CLOEXEC), 0);
  pid_t holder = berth_test_start (hold_open, place.directory, pipe_fds[1]);
  CU_ASSERT_EQUAL (read (pipe_fds[0], &byte, 1), 1);
  check_no_rebuild (&place, BERTH_E_CONFLICT, "is in use");
  kill (holder, SIGKILL);
  berth_test_end (holder);
  close (pipe_fds[0]);
  close (pipe_fds[1]);
  place_execute (&place, "PRAGMA user_version = 999");
  check_no_rebuild (&place, BERTH_E_CONFIGURATION, "has schema 999");
}

/* Without its id nobody can say what is ours: then nothing is begun. */
static void
test_rebuild_without_id (void)
{
  PLACE place = { .store = NULL };
  char installation[64];
  struct stat status;

  place_make (&place);
  make_one (&place, installation);
  BERTH_AUTO_FREE char *kept = place_file (&place, "installation"), *path = place_file (&place, "berth.db");
  CU_ASSERT_EQUAL (unlink (kept), 0);
  spoil (&place, "berth.db", 8192);
  check_no_rebuild (&place, BERTH_E_CONFIGURATION, "installation id");
  CU_ASSERT_EQUAL (stat (path, &status), 0);
  CU_ASSERT_EQUAL (status.st_size, 8192);
}

static void
test_lost (void)
{
  static const char *const names[] = { "berth.db", "berth.db-wal", "berth.db-shm" };
  PLACE place = { .store = NULL };
  char installation[64];

  place_make (&place);
  make_one (&place, installation);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    {
      BERTH_AUTO_FREE char *path = place_file (&place, names[i]);
      unlink (path);
    }
  place_check_refused (place.directory, "is missing or empty");
  place_check_refused (place.directory, "is missing or empty");
  check_rebuilt (&place, installation);
}

/* Whatever is left of it: the record, or a refusal, never an empty one in its place. */
static void
test_truncated (void)
{
  PLACE place = { .store = NULL };
  BERTH_AUTO_BUFFER struct berth_buffer whole = { 0 };
  char installation[64];
  int refused = 0, wrong = 0;

  place_make (&place);
  make_one (&place, installation);
  /* all of it in one file */
  place_execute (&place, "PRAGMA wal_checkpoint (TRUNCATE)");
  BERTH_AUTO_FREE char *path = place_file (&place, "berth.db"), *log = place_file (&place, "berth.db-wal");
  CU_ASSERT_EQUAL (berth_fs_read (AT_FDCWD, path, &whole, 64 << 20), 0);
  for (size_t size = 0; size <= whole.size; size += size < 200 ? 33 : 313)
    {
      struct berth_store *store = NULL;
      BERTH_AUTO_RECORD struct berth_record record = { 0 };
      unlink (log);
      CU_ASSERT_EQUAL (berth_fs_replace (AT_FDCWD, path, whole.data, size, 0600), 0);
      if (berth_store_open (place.directory, &store, NULL) != 0)
        refused++;
      else
        wrong += berth_store_load (store, "sb-kept", 0, &record, NULL) != 0;
      berth_store_close (store);
    }
  CU_ASSERT_TRUE (refused > 10);
  CU_ASSERT_EQUAL (wrong, 0);
  CU_ASSERT_EQUAL (berth_fs_replace (AT_FDCWD, path, whole.data, whole.size, 0600), 0);
  BERTH_AUTO_RECORD struct berth_record record = { 0 };
  place_open (&place);
  CU_ASSERT_EQUAL (berth_store_load (place.store, "sb-kept", 0, &record, NULL), 0);
}

/* Writes that nobody would ever read are refused. */
static void
test_vanished (void)
{
  PLACE place = { .store = NULL };
  struct berth_error error = { 0 };

  place_make (&place);
  place_open (&place);
  CU_ASSERT_EQUAL (place_reserve (place.store, "sb-a", "me", NULL, NULL, &error), 0);
  BERTH_AUTO_FREE char *path = place_file (&place, "berth.db");
  CU_ASSERT_EQUAL (unlink (path), 0);
  CU_ASSERT_EQUAL (place_reserve (place.store, "sb-b", "me", NULL, NULL, &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_CONFIGURATION);
  CU_ASSERT_PTR_NOT_NULL (strstr (error.message, "was removed or replaced"));
  CU_ASSERT_EQUAL (berth_store_set_state (place.store, "sb-a", BERTH_RECORD_RUNNING, &error), -1);
}

/* ---- disks ---- */

/* A small file system at the place's directory, seen by this process alone. */
static bool
mount_small (const struct place *place, const char *options)
{
  if (unshare (CLONE_NEWNS) != 0 || mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
    return false;
  return mount ("berth-test", place->directory, "tmpfs", 0, options) == 0;
}

#define NOT_ALLOWED 77

static void
fill_disk (const char *directory, int number)
{
  struct place place = { .store = NULL };
  struct berth_error error = { 0 };
  int made = 0;

  (void) number;
  snprintf (place.directory, sizeof place.directory, "%s", directory);
  if (!mount_small (&place, "size=260k"))
    _exit (NOT_ALLOWED);
  if (berth_store_open (directory, &place.store, &error) != 0)
    _exit (2);
  while (made < 5000 && error.code == 0)
    {
      BERTH_AUTO_FREE char *id = berth_string_format ("sb-%05d", made);
      if (place_reserve (place.store, id, "me", NULL, NULL, &error) == 0)
        made++;
    }
  BERTH_AUTO_IDS struct berth_store_ids ids = { 0 };
  if (error.code != BERTH_E_RESOURCE_EXHAUSTED || made == 0)
    {
      fprintf (stderr, "after %d: %s\n", made, error.message);
      _exit (3);
    }
  /* all that was said to be written is there, and goes on being used once there is room */
  if (berth_store_list (place.store, NULL, NULL, &ids, &error) != 0 || ids.count != (size_t) made)
    _exit (4);
  berth_store_close (place.store);
  if (mount (NULL, directory, NULL, MS_REMOUNT, "size=4m") != 0)
    _exit (NOT_ALLOWED);
  if (berth_store_open (directory, &place.store, &error) != 0
      || place_reserve (place.store, "sb-more", "me", NULL, NULL, &error) != 0)
    _exit (5);
  berth_store_ids_clear (&ids);
  if (berth_store_list (place.store, NULL, NULL, &ids, &error) != 0 || ids.count != (size_t) made + 1)
    _exit (6);
  berth_store_close (place.store);
}

static void
use_read_only (const char *directory, int number)
{
  struct place place = { .store = NULL };
  struct berth_error error = { 0 };

  (void) number;
  snprintf (place.directory, sizeof place.directory, "%s", directory);
  if (!mount_small (&place, "size=4m") || berth_store_open (directory, &place.store, &error) != 0
      || place_reserve (place.store, "sb-a", "me", NULL, NULL, &error) != 0)
    _exit (NOT_ALLOWED);
  berth_store_close (place.store);
  if (mount (NULL, directory, NULL, MS_REMOUNT | MS_RDONLY, NULL) != 0)
    _exit (NOT_ALLOWED);
  if (berth_store_open (directory, &place.store, &error) == 0)
    _exit (2);
  if (error.code != BERTH_E_CONFIGURATION || strstr (error.message, "Read-only") == NULL || error.hint[0] == '\0')
    _exit (3);
}

static void
check_on_disk (void (*work) (const char *directory, int number))
{
  PLACE place = { .store = NULL };

  place_make (&place);
  int status = berth_test_end (berth_test_start (work, place.directory, 0));
  if (status >> 8 == NOT_ALLOWED)
    berth_test_skip ("needs mounts of its own");
  else if (status != 0)
    fprintf (stderr, "ended with status %d\n", status >> 8);
  CU_ASSERT_TRUE (status == 0 || status >> 8 == NOT_ALLOWED);
}

static void
test_full (void)
{
  check_on_disk (fill_disk);
}

static void
test_read_only (void)
{
  check_on_disk (use_read_only);
}

/* ---- backups ---- */

static void
write_for_ever (const char *directory, int number)
{
  struct berth_store *store = NULL;

  if (berth_store_open (directory, &store, NULL) != 0)
    _exit (1);
  for (int i = 0;; i++)
    {
      BERTH_AUTO_FREE char *id = berth_string_format ("sb-%d-%06d", number, i);
      if (place_reserve (store, id, "me", NULL, NULL, NULL) == 0 && i >= 20)
        {
          BERTH_AUTO_FREE char *old = berth_string_format ("sb-%d-%06d", number, i - 20);
          berth_store_remove (store, old, NULL);
        }
    }
}

/* As `sqlite3 berth.db ".backup FILE"` makes it. */
static int
back_up (const char *from, const char *to)
{
  sqlite3 *source = NULL, *copy = NULL;
  int result = SQLITE_ERROR;

  if (sqlite3_open (from, &source) == SQLITE_OK && sqlite3_open (to, &copy) == SQLITE_OK)
    {
      sqlite3_busy_timeout (source, 10000);
      sqlite3_backup *backup = sqlite3_backup_init (copy, "main", source, "main");
      result = backup != NULL ? sqlite3_backup_step (backup, -1) : SQLITE_ERROR;
      sqlite3_backup_finish (backup);
    }
  sqlite3_close (source);
  sqlite3_close (copy);
  return result == SQLITE_DONE ? 0 : -1;
}

static void
copy_file (const struct place *from, const struct place *to, const char *name)
{
  BERTH_AUTO_FREE char *source = place_file (from, name), *target = place_file (to, name);
  BERTH_AUTO_BUFFER struct berth_buffer bytes = { 0 };

  if (berth_fs_read (AT_FDCWD, source, &bytes, 64 << 20) == 0)
    CU_ASSERT_EQUAL (berth_fs_replace (AT_FDCWD, target, bytes.data, bytes.size, 0600), 0);
}

static void
check_backup (struct place *copy, const char *installation)
{
  BERTH_AUTO_IDS struct berth_store_ids ids = { 0 };

  place_open (copy);
  CU_ASSERT_STRING_EQUAL (berth_store_installation_id (copy->store), installation);
  CU_ASSERT_EQUAL (berth_store_list (copy->store, NULL, NULL, &ids, NULL), 0);
  CU_ASSERT_TRUE (ids.count >= 10);
  CU_ASSERT_EQUAL (place_reserve (copy->store, "sb-after", "me", NULL, NULL, NULL), 0);
}

static void
wait_for_writers (struct place *place)
{
  for (int i = 0; i < 1000; i++)
    {
      BERTH_AUTO_IDS struct berth_store_ids ids = { 0 };
      if (berth_store_list (place->store, NULL, NULL, &ids, NULL) == 0 && ids.count >= 12)
        return;
      usleep (1000);
    }
}

/* By SQLite's own way at any time, and as a snapshot of the files: of one moment, as a file
 * system's is.  The writers go on meanwhile, or would. */
static void
test_backups (void)
{
  PLACE place = { .store = NULL };
  PLACE online = { .store = NULL };
  PLACE snapshot = { .store = NULL };
  pid_t writers[2];

  place_make (&place);
  place_make (&online);
  place_make (&snapshot);
  place_open (&place);
  BERTH_AUTO_FREE char *path = place_file (&place, "berth.db"), *to = place_file (&online, "berth.db");
  for (int i = 0; i < 2; i++)
    writers[i] = berth_test_start (write_for_ever, place.directory, i);
  wait_for_writers (&place);
  CU_ASSERT_EQUAL (back_up (path, to), 0);
  for (int i = 0; i < 2; i++)
    kill (writers[i], SIGSTOP);
  copy_file (&place, &snapshot, "berth.db");
  copy_file (&place, &snapshot, "berth.db-wal");
  for (int i = 0; i < 2; i++)
    {
      kill (writers[i], SIGKILL);
      berth_test_end (writers[i]);
    }
  check_backup (&online, berth_store_installation_id (place.store));
  check_backup (&snapshot, berth_store_installation_id (place.store));
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "a database of the first version is brought up to date", test_migration },
    { "it is brought up to date beside an older Berth that has it open", test_migration_beside_users },
    { "eight at once bring it up to date once", test_migration_at_once },
    { "D-120 a damaged database is set aside, and ours stays ours", test_rebuild },
    { "a sound, a newer and a used database are not set aside", test_rebuild_refused },
    { "without the installation id nothing is rebuilt", test_rebuild_without_id },
    { "D-120 a lost database is not begun anew by itself", test_lost },
    { "D-120 cut off at any length it is refused, or whole", test_truncated },
    { "a database that vanished takes no writes", test_vanished },
    { "D-120 a full disk loses nothing", test_full },
    { "a read-only file system is told", test_read_only },
    { "backups of a running installation", test_backups },
    { NULL, NULL },
  };

  return berth_test_main ("damage", tests);
}

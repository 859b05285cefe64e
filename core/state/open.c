#include "config.h"

#include "core/state/internal.h"

#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#include "sdk/base/clock.h"
#include "sdk/base/path.h"
#include "sdk/base/process.h"
#include "sdk/base/string.h"

#define BUSY_LIMIT_MS 10000
#define LOG_PAGES 200 /* reading more at each opening would cost more than merging it */

/* Several writers that wake at once would meet again: sleep a random part of a growing span. */
static int
wait_for_others (void *context, int attempt)
{
  uint16_t dice = 0;
  int span_ms = attempt < 5 ? 2 << attempt : 50;

  if (attempt * 25 > BUSY_LIMIT_MS || getrandom (&dice, sizeof dice, GRND_NONBLOCK) < 0)
    return 0;
  struct timespec pause = { 0, (long) (dice % (span_ms * 1000) + 100) * 1000 };
  nanosleep (&pause, NULL);
  return 1;
}

static int
pragma_number (sqlite3 *db, const char *pragma, int *value)
{
  sqlite3_stmt *statement = NULL;
  int result = -1;

  if (sqlite3_prepare_v2 (db, pragma, -1, &statement, NULL) == SQLITE_OK && sqlite3_step (statement) == SQLITE_ROW)
    {
      *value = sqlite3_column_int (statement, 0);
      result = 0;
    }
  sqlite3_finalize (statement);
  return result;
}

/* ---- who has it open ----
 * A lock on the whole of berth.lock, shared while the database is open.  Whoever gets it alone
 * is the only one.  The file says how the last one left: the boot's id after a clean end, and
 * nothing while it is open.  So the check is made after an unclean end, and once a boot. */

int
berth_store_lock_users (int fd, short type, int command)
{
  struct flock lock = { .l_type = type, .l_whence = SEEK_SET };
  int result;

  while ((result = fcntl (fd, command, &lock)) != 0 && errno == EINTR)
    continue;
  return result;
}

static bool
was_left_clean (const struct berth_store *store)
{
  char now[BERTH_BOOT_ID_SIZE], left[BERTH_BOOT_ID_SIZE] = "";

  return berth_boot_id (now) == 0 && pread (store->users_fd, left, sizeof left, 0) == sizeof left
         && memcmp (left, now, sizeof left) == 0;
}

static void
mark_clean (const struct berth_store *store)
{
  char now[BERTH_BOOT_ID_SIZE];

  /* one that cannot be written costs a check, no more */
  if (berth_boot_id (now) == 0 && pwrite (store->users_fd, now, sizeof now, 0) < 0)
    return;
}

static void
mark_open (const struct berth_store *store)
{
  if (ftruncate (store->users_fd, 0) != 0)
    return;
}

int
berth_store_check_integrity (struct berth_store *store, struct berth_error *error)
{
  sqlite3_stmt *statement = NULL;
  int result = 0;

  if (sqlite3_prepare_v2 (store->db, "PRAGMA quick_check (1)", -1, &statement, NULL) != SQLITE_OK
      || sqlite3_step (statement) != SQLITE_ROW)
    result = berth_store_fail (store, error);
  else if (strcmp ((const char *) sqlite3_column_text (statement, 0), "ok") != 0)
    {
      result = berth_error_set (error, BERTH_E_CONFIGURATION, "the database %s is damaged: %s", store->path,
                                sqlite3_column_text (statement, 0));
      berth_error_hint (error, BERTH_STORE_DAMAGED_HINT);
      store->is_damaged = true;
    }
  sqlite3_finalize (statement);
  return result;
}

/* ---- the content ---- */

/* How the database stands: its schema, 0 for an empty one; -1 when it is not for us. */
int
berth_store_read_version (struct berth_store *store, int *version, struct berth_error *error)
{
  int application = 0, schema = 0;

  if (pragma_number (store->db, "PRAGMA user_version", version) != 0
      || pragma_number (store->db, "PRAGMA application_id", &application) != 0
      || pragma_number (store->db, "PRAGMA schema_version", &schema) != 0)
    return berth_store_fail (store, error);
  if (application != BERTH_STORE_APPLICATION_ID && (schema != 0 || *version != 0))
    {
      berth_error_set (error, BERTH_E_CONFIGURATION, "%s is the database of another program", store->path);
      berth_error_hint (error, "choose another state directory");
      return -1;
    }
  if (*version > berth_store_schema ())
    {
      berth_error_set (error, BERTH_E_CONFIGURATION, "the database %s has schema %d, this Berth (%s) knows up to %d",
                       store->path, *version, PACKAGE_VERSION, berth_store_schema ());
      berth_error_hint (error, "nothing was changed; install the newer Berth again, or use another state directory");
      return -1;
    }
  return 0;
}

int
berth_store_prepare_alone (struct berth_store *store, struct berth_error *error)
{
  bool clean = was_left_clean (store);
  int version = 0;

  if (berth_store_read_version (store, &version, error) != 0 || (!clean && berth_store_check_integrity (store, error) != 0))
    return -1;
  if (version == 0 && berth_installation_is_known (store))
    {
      store->is_damaged = true;
      berth_error_set (error, BERTH_E_CONFIGURATION, "the database %s is missing or empty, and this installation had one",
                       store->path);
      berth_error_hint (error, BERTH_STORE_DAMAGED_HINT);
      return -1;
    }
  if ((version < berth_store_schema () || berth_installation_read (store) != 0)
      && berth_installation_make (store, version, error) != 0)
    return -1;
  if (berth_installation_keep (store, error) != 0)
    return -1;
  if (berth_store_lock_users (store->users_fd, F_RDLCK, F_OFD_SETLKW) != 0)
    return berth_error_set (error, BERTH_E_INTERNAL, "cannot share the lock of %s: %m", store->path);
  mark_open (store);
  return 0;
}

/* Whoever has it open ends soon or is in the way of what cannot wait. */
static int
lock_alone (struct berth_store *store, struct berth_error *error)
{
  int64_t end_ms = berth_clock_monotonic_ms () + BUSY_LIMIT_MS;

  while (berth_store_lock_users (store->users_fd, F_WRLCK, F_OFD_SETLK) != 0)
    {
      if (errno != EAGAIN && errno != EACCES)
        return berth_error_set (error, BERTH_E_INTERNAL, "cannot lock %s: %m", store->path);
      if (berth_clock_monotonic_ms () > end_ms)
        {
          berth_error_set (error, BERTH_E_CONFLICT, "%s has to be made or brought up to date, and others have it open",
                           store->path);
          berth_error_hint (error, "find them with `fuser %s`, and try again when they have ended", store->path);
          return -1;
        }
      berth_clock_sleep_ms (20);
    }
  return 0;
}

/* One that died half-way through the making leaves work to do: then everybody who finds that
 * lets go and tries to be alone. */
static int
prepare (struct berth_store *store, struct berth_error *error)
{
  int version = 0;

  if (berth_store_lock_users (store->users_fd, F_WRLCK, F_OFD_SETLK) == 0)
    return berth_store_prepare_alone (store, error);
  if (berth_store_lock_users (store->users_fd, F_RDLCK, F_OFD_SETLKW) != 0)
    return berth_error_set (error, BERTH_E_INTERNAL, "cannot lock %s: %m", store->path);
  if (berth_store_read_version (store, &version, error) != 0)
    return -1;
  /* an older Berth that still runs does not keep us waiting: a step changes nothing that it uses */
  if (version > 0 && version < berth_store_schema () && berth_schema_migrate (store->db, version) != 0)
    return berth_store_fail (store, error);
  if (version > 0 && berth_installation_read (store) == 0)
    {
      /* the one before may have left just now, and marked it */
      mark_open (store);
      return 0;
    }
  berth_store_lock_users (store->users_fd, F_UNLCK, F_OFD_SETLK);
  return lock_alone (store, error) != 0 ? -1 : berth_store_prepare_alone (store, error);
}

static int
open_lock (struct berth_store *store, const char *directory, struct berth_error *error)
{
  BERTH_AUTO_FREE char *lock = berth_path_join (directory, "berth.lock");

  store->path = berth_path_join (directory, "berth.db");
  if (store->path == NULL || lock == NULL)
    return berth_error_set (error, BERTH_E_RESOURCE_EXHAUSTED, "no memory left");
  store->users_fd = open (lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (store->users_fd >= 0)
    return 0;
  berth_error_set (error, errno == ENOSPC || errno == EDQUOT ? BERTH_E_RESOURCE_EXHAUSTED : BERTH_E_CONFIGURATION,
                   "cannot open %s: %m", lock);
  berth_error_hint (error, "check that the state directory exists, is yours, and is on a writable file system");
  return -1;
}

int
berth_store_open_database (struct berth_store *store, struct berth_error *error)
{
  /* SQLite would make it with the umask's mode.  Only a file that was not there is closed here:
   * closing another would drop the locks of a host in this very process. */
  int fd = open (store->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd >= 0)
    close (fd);
  if (sqlite3_open_v2 (store->path, &store->db,
                       SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW, NULL)
      != SQLITE_OK)
    return berth_store_fail (store, error);
  sqlite3_extended_result_codes (store->db, 1);
  /* The log is merged now and then (LOG_PAGES), not by each process that ends: that would sync
   * the disk for every `berth exec`. */
  sqlite3_db_config (store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
  sqlite3_wal_autocheckpoint (store->db, LOG_PAGES);
  sqlite3_busy_handler (store->db, wait_for_others, NULL);
  return 0;
}

struct berth_store *
berth_store_new (const char *directory, struct berth_error *error)
{
  struct berth_store *store = calloc (1, sizeof *store);

  if (store == NULL)
    {
      berth_error_set (error, BERTH_E_RESOURCE_EXHAUSTED, "no memory left");
      return NULL;
    }
  pthread_mutex_init (&store->mutex, NULL);
  store->users_fd = -1;
  if (open_lock (store, directory, error) == 0)
    return store;
  berth_store_close (store);
  return NULL;
}

int
berth_store_begin_use (struct berth_store *store, struct berth_error *error)
{
  /* NORMAL: with a write-ahead log a commit survives the death of every process; only a power
   * failure may take the last ones.  A sync for each would cost more than making a sandbox. */
  if (sqlite3_exec (store->db, "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON", NULL, NULL, NULL) != SQLITE_OK
      || berth_installation_read (store) != 0)
    return berth_store_fail (store, error);
  store->is_open = true;
  return 0;
}

int
berth_store_open (const char *directory, struct berth_store **out, struct berth_error *error)
{
  struct berth_store *store = berth_store_new (directory, error);

  if (store == NULL)
    return -1;
  if (berth_store_open_database (store, error) == 0 && prepare (store, error) == 0
      && berth_store_begin_use (store, error) == 0)
    {
      *out = store;
      return 0;
    }
  berth_store_close (store);
  return -1;
}

void
berth_store_close (struct berth_store *store)
{
  if (store == NULL)
    return;
  for (size_t i = 0; i < BERTH_SQL_STATEMENTS; i++)
    sqlite3_finalize (store->statements[i]);
  sqlite3_close (store->db);
  if (store->is_open && berth_store_lock_users (store->users_fd, F_WRLCK, F_OFD_SETLK) == 0)
    mark_clean (store);
  if (store->users_fd >= 0)
    close (store->users_fd);
  pthread_mutex_destroy (&store->mutex);
  free (store->path);
  free (store);
}

const char *
berth_store_installation_id (const struct berth_store *store)
{
  return store->installation_id;
}

/* The store: what goes in comes out, what may not be there twice is not, and nothing that dies
 * or is damaged is made worse. */
#include "core/state/store.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/state/column.h"
#include "core/state/tests/place.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/clock.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"
#include "sdk/base/tests/runner.h"

static void
test_installation (void)
{
  PLACE place = { .store = NULL };
  struct stat status;

  place_make (&place);
  place_open (&place);
  BERTH_AUTO_FREE char *first = strdup (berth_store_installation_id (place.store));
  CU_ASSERT_TRUE (berth_id_is_valid (first, "inst-", 20));
  place_reopen (&place);
  CU_ASSERT_STRING_EQUAL (berth_store_installation_id (place.store), first);
  BERTH_AUTO_FREE char *path = place_file (&place, "berth.db");
  CU_ASSERT_EQUAL (stat (path, &status), 0);
  CU_ASSERT_EQUAL (status.st_mode & 07777, 0600);
}

/* A column that is in the table but not in a statement, or at another place, would show here. */
static void
test_every_column (void)
{
  PLACE place = { .store = NULL };
  BERTH_AUTO_RECORD struct berth_record in = { 0 }, out = { 0 };
  BERTH_AUTO_FREE char *existing = NULL;
  int64_t number = INT64_MIN;

  place_make (&place);
  place_open (&place);
  for (const struct berth_column *column = berth_columns; column->name != NULL; column++)
    if (column->is_text)
      *berth_column_text (column, &in) = berth_string_format ("text of %s", column->name);
    else
      *berth_column_number (column, &in) = number++;
  CU_ASSERT_EQUAL (berth_store_reserve (place.store, &in, &place_ample, &existing, NULL), 0);
  for (const struct berth_column *column = berth_columns; column->name != NULL; column++)
    if (!column->is_text)
      *berth_column_number (column, &in) = number++;
  CU_ASSERT_EQUAL (berth_store_update (place.store, &in, NULL), 0);
  place_reopen (&place);
  CU_ASSERT_EQUAL_FATAL (berth_store_load (place.store, in.id, BERTH_STORE_PAIRS, &out, NULL), 0);
  for (const struct berth_column *column = berth_columns; column->name != NULL; column++)
    if (column->is_text)
      CU_ASSERT_TRUE (berth_string_equal (*berth_column_text (column, &in), *berth_column_text (column, &out)))
    else
      CU_ASSERT_EQUAL (*berth_column_number (column, &in), *berth_column_number (column, &out));
}

static void
test_natives (void)
{
  PLACE place = { .store = NULL };
  BERTH_AUTO_RECORD struct berth_record record = { 0 };
  struct berth_error error = { 0 };
  struct berth_record_native first = { .id = (char[]) { "n.1" }, .assignment_id = (char[]) { "as-1" }, .generation = 1 };
  struct berth_record_native again = { .id = (char[]) { "n.1" }, .assignment_id = (char[]) { "as-1" }, .generation = 1, .private_data = (char[]) { "a\0b" }, .private_size = 3 };
  struct berth_record_native second = { .id = (char[]) { "n.2" }, .assignment_id = (char[]) { "as-2" }, .generation = 2 };

  place_make (&place);
  place_open (&place);
  place_reserve (place.store, "sb-a", "me", NULL, NULL, NULL);
  CU_ASSERT_EQUAL (berth_store_add_native (place.store, "sb-a", &first, NULL), 0);
  CU_ASSERT_EQUAL (berth_store_add_native (place.store, "sb-a", &again, NULL), 0);
  CU_ASSERT_EQUAL (berth_store_add_native (place.store, "sb-a", &second, NULL), 0);
  place_reopen (&place);
  CU_ASSERT_EQUAL (berth_store_load (place.store, "sb-a", 0, &record, NULL), 0);
  CU_ASSERT_EQUAL_FATAL (record.native_count, 2);
  CU_ASSERT_STRING_EQUAL (record.natives[0].id, "n.1");
  CU_ASSERT_EQUAL_FATAL (record.natives[0].private_size, 3);
  CU_ASSERT_EQUAL (memcmp (record.natives[0].private_data, "a\0b", 3), 0);
  CU_ASSERT_EQUAL (record.natives[1].generation, 2);
  /* the record may not go while something may still exist of it */
  CU_ASSERT_EQUAL (berth_store_remove (place.store, "sb-a", &error), -1);
  CU_ASSERT_EQUAL (berth_store_remove_native (place.store, "sb-a", "n.1", NULL), 0);
  CU_ASSERT_EQUAL (berth_store_remove_native (place.store, "sb-a", "n.2", NULL), 0);
  CU_ASSERT_EQUAL (berth_store_remove (place.store, "sb-a", NULL), 0);
  CU_ASSERT_EQUAL (berth_store_load (place.store, "sb-a", 0, &record, &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_SANDBOX_NOT_FOUND);
}

/* Whether any file of the place holds the text. */
static bool
place_holds (const struct place *place, const char *text)
{
  static const char *const names[] = { "berth.db", "berth.db-wal", "berth.db-shm" };
  bool found = false;

  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    {
      BERTH_AUTO_BUFFER struct berth_buffer content = { 0 };
      BERTH_AUTO_FREE char *path = place_file (place, names[i]);
      berth_fs_read (AT_FDCWD, path, &content, 64 << 20);
      found = found || (content.size > 0 && memmem (content.data, content.size, text, strlen (text)) != NULL);
    }
  return found;
}

static void
test_pairs (void)
{
  PLACE place = { .store = NULL };
  const struct berth_pair labels[] = { { "team", "a b\n\xff", 0, 0 }, { "empty", "", 0, 0 }, { "null", NULL, 0, 0 } };
  const struct berth_pair environment[]
      = { { "SHOWN", "shown-value", 0, 0 }, { "TOKEN", "hidden-value", BERTH_PAIR_SECRET, 0 }, { "LAST", "x", 0, 0 } };
  BERTH_AUTO_RECORD struct berth_record in = { 0 }, out = { 0 };
  BERTH_AUTO_FREE char *existing = NULL;

  place_make (&place);
  place_open (&place);
  place_record (&in, "sb-a", "me", NULL, NULL);
  CU_ASSERT_EQUAL (berth_record_set_pairs (&in.labels, labels, 3), 0);
  CU_ASSERT_EQUAL (berth_record_set_pairs (&in.environment, environment, 3), 0);
  CU_ASSERT_EQUAL (berth_store_reserve (place.store, &in, &place_ample, &existing, NULL), 0);
  CU_ASSERT_EQUAL (berth_store_load (place.store, "sb-a", BERTH_STORE_PAIRS, &out, NULL), 0);
  CU_ASSERT_EQUAL_FATAL (out.labels.count, 3);
  CU_ASSERT_STRING_EQUAL (out.labels.items[0].value, "a b\n\xff");
  CU_ASSERT_STRING_EQUAL (out.labels.items[2].value, "");
  CU_ASSERT_EQUAL_FATAL (out.environment.count, 2);
  CU_ASSERT_STRING_EQUAL (out.environment.items[1].name, "LAST");
  CU_ASSERT_TRUE (place_holds (&place, "shown-value"));
  CU_ASSERT_FALSE (place_holds (&place, "hidden-value"));
  CU_ASSERT_FALSE (place_holds (&place, "TOKEN"));
}

static void
test_unique (void)
{
  PLACE place = { .store = NULL };
  struct berth_error error = { 0 };
  BERTH_AUTO_RECORD struct berth_record record;
  BERTH_AUTO_FREE char *existing = NULL;

  place_make (&place);
  place_open (&place);
  CU_ASSERT_EQUAL (place_reserve (place.store, "sb-a", "me", "web", "req", NULL), 0);
  CU_ASSERT_EQUAL (place_reserve (place.store, "sb-b", "you", "web", "req", NULL), 0);
  CU_ASSERT_EQUAL (place_reserve (place.store, "sb-c", "me", "web", NULL, &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_CONFLICT);
  CU_ASSERT_PTR_NOT_NULL (strstr (error.message, "web is taken by sb-a"));
  place_record (&record, "sb-d", "me", "web", "req");
  CU_ASSERT_EQUAL (berth_store_reserve (place.store, &record, &place_ample, &existing, NULL), 1);
  CU_ASSERT_STRING_EQUAL (existing, "sb-a");
  CU_ASSERT_EQUAL (berth_store_remove (place.store, "sb-a", NULL), 0);
  CU_ASSERT_EQUAL (place_reserve (place.store, "sb-e", "me", "web", "req", NULL), 0);
}

static void
test_quota (void)
{
  PLACE place = { .store = NULL };
  const struct berth_store_quota quota = { .host = 3, .owner = 2 };
  static const struct
  {
    const char *id, *owner;
    uint32_t code;
    const char *message;
  } rows[] = {
    { "sb-a", "me", 0, "" },
    { "sb-b", "me", 0, "" },
    { "sb-c", "me", BERTH_E_QUOTA_EXCEEDED, "me has 2 sandboxes, the limit is 2" },
    { "sb-d", "you", 0, "" },
    { "sb-e", "you", BERTH_E_QUOTA_EXCEEDED, "this host has 3 sandboxes, the limit is 3" },
  };

  place_make (&place);
  place_open (&place);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    {
      BERTH_AUTO_RECORD struct berth_record record;
      BERTH_AUTO_FREE char *existing = NULL;
      struct berth_error error = { 0 };
      place_record (&record, rows[i].id, rows[i].owner, NULL, NULL);
      berth_store_reserve (place.store, &record, &quota, &existing, &error);
      CU_ASSERT_EQUAL (error.code, rows[i].code);
      CU_ASSERT_STRING_EQUAL (error.message, rows[i].message);
    }
}

static void
check_found (struct berth_store *store, const char *owner, const char *name, size_t count, const char *first)
{
  BERTH_AUTO_IDS struct berth_store_ids ids = { 0 };

  CU_ASSERT_EQUAL (berth_store_find (store, owner, name, &ids, NULL), 0);
  CU_ASSERT_EQUAL_FATAL (ids.count, count);
  if (count > 0)
    CU_ASSERT_STRING_EQUAL (ids.items[0], first);
}

static void
test_find (void)
{
  PLACE place = { .store = NULL };

  place_make (&place);
  place_open (&place);
  place_reserve (place.store, "sb-abcd", "me", "web", NULL, NULL);
  place_reserve (place.store, "sb-abce", "me", "sb", NULL, NULL);
  place_reserve (place.store, "sb-abzz", "you", NULL, NULL, NULL);
  check_found (place.store, "me", "sb-abcd", 1, "sb-abcd");
  check_found (place.store, "me", "web", 1, "sb-abcd");
  check_found (place.store, "you", "web", 0, NULL);
  check_found (place.store, "me", "sb", 1, "sb-abce");
  check_found (place.store, "me", "sb-abc", 2, "sb-abcd");
  check_found (place.store, "me", "sb-abz", 0, NULL);
  check_found (place.store, "you", "sb-abz", 1, "sb-abzz");
  check_found (place.store, "me", "sb-abzz", 1, "sb-abzz");
  check_found (place.store, "me", "%", 0, NULL);
}

/* ---- damage ---- */

static void
test_newer (void)
{
  PLACE place = { .store = NULL };

  place_make (&place);
  place_open (&place);
  berth_store_close (BERTH_STEAL_POINTER (place.store));
  place_execute (&place, "PRAGMA user_version = 999");
  place_check_untouched (&place, "has schema 999");
}

static void
test_foreign (void)
{
  PLACE place = { .store = NULL };

  place_make (&place);
  place_execute (&place, "CREATE TABLE theirs (x)");
  place_check_untouched (&place, "another program");
}

static void
test_garbage (void)
{
  PLACE place = { .store = NULL };
  char text[8192];

  place_make (&place);
  memset (text, 'x', sizeof text);
  BERTH_AUTO_FREE char *path = place_file (&place, "berth.db");
  CU_ASSERT_EQUAL (berth_fs_replace (AT_FDCWD, path, text, sizeof text, 0600), 0);
  place_check_untouched (&place, "is damaged");
}

static void
test_missing_directory (void)
{
  place_check_refused ("/nonexistent/berth", "cannot open");
}

/* ---- death and company ---- */

static void
write_and_die (const char *directory, int number)
{
  struct berth_store *store = NULL;

  (void) number;
  if (berth_store_open (directory, &store, NULL) == 0 && place_reserve (store, "sb-kept", "me", NULL, NULL, NULL) == 0)
    raise (SIGKILL);
}

/* The log is left behind: the next one to open finds it, checks, and has the record. */
static void
test_killed (void)
{
  PLACE place = { .store = NULL };
  BERTH_AUTO_RECORD struct berth_record record = { 0 };

  place_make (&place);
  CU_ASSERT_TRUE (WIFSIGNALED (berth_test_end (berth_test_start (write_and_die, place.directory, 0))));
  place_open (&place);
  CU_ASSERT_EQUAL (berth_store_load (place.store, "sb-kept", 0, &record, NULL), 0);
}

static int
root_page (const struct place *place, const char *table)
{
  BERTH_AUTO_FREE char *path = place_file (place, "berth.db");
  BERTH_AUTO_FREE char *sql = berth_string_format ("SELECT rootpage FROM sqlite_master WHERE name = '%s'", table);
  sqlite3_stmt *statement = NULL;
  sqlite3 *db = NULL;
  int page = 0;

  CU_ASSERT_EQUAL (sqlite3_open (path, &db), SQLITE_OK);
  CU_ASSERT_EQUAL (sqlite3_prepare_v2 (db, sql, -1, &statement, NULL), SQLITE_OK);
  if (sqlite3_step (statement) == SQLITE_ROW)
    page = sqlite3_column_int (statement, 0);
  sqlite3_finalize (statement);
  sqlite3_close (db);
  return page;
}

/* In a page that nothing reads at an opening: only the check after an unclean end finds it. */
static void
test_damaged_page (void)
{
  PLACE place = { .store = NULL };
  char junk[1024]; /* a page */

  place_make (&place);
  place_open (&place);
  berth_store_close (BERTH_STEAL_POINTER (place.store));
  off_t page = root_page (&place, "pairs");
  CU_ASSERT_TRUE_FATAL (page > 1);
  BERTH_AUTO_FREE char *path = place_file (&place, "berth.db");
  BERTH_AUTO_FD int fd = open (path, O_RDWR | O_CLOEXEC);
  memset (junk, 0xa5, sizeof junk);
  CU_ASSERT_EQUAL (pwrite (fd, junk, sizeof junk, (page - 1) * (off_t) sizeof junk), sizeof junk);
  place_open (&place);
  berth_store_close (BERTH_STEAL_POINTER (place.store));
  CU_ASSERT_TRUE (WIFSIGNALED (berth_test_end (berth_test_start (write_and_die, place.directory, 0))));
  place_check_refused (place.directory, "is damaged");
}

static void
write_many (const char *directory, int number)
{
  struct berth_store *store = NULL;
  struct berth_error error = { 0 };

  if (berth_store_open (directory, &store, &error) != 0)
    {
      fprintf (stderr, "open: %s\n", error.message);
      _exit (1);
    }
  for (int i = 0; i < 20; i++)
    {
      BERTH_AUTO_FREE char *id = berth_string_format ("sb-%d-%d", number, i);
      if (place_reserve (store, id, "me", NULL, NULL, &error) != 0
          || (i % 2 == 0 && berth_store_remove (store, id, &error) != 0))
        {
          fprintf (stderr, "write: %s\n", error.message);
          _exit (1);
        }
    }
  berth_store_close (store);
}

/* Eight make the database at once and write to it at once. */
static void
test_company (void)
{
  PLACE place = { .store = NULL };
  BERTH_AUTO_IDS struct berth_store_ids ids = { 0 };
  pid_t pids[8];

  place_make (&place);
  for (int i = 0; i < 8; i++)
    pids[i] = berth_test_start (write_many, place.directory, i);
  for (int i = 0; i < 8; i++)
    CU_ASSERT_EQUAL (berth_test_end (pids[i]), 0);
  place_open (&place);
  CU_ASSERT_EQUAL (berth_store_list (place.store, NULL, NULL, &ids, NULL), 0);
  CU_ASSERT_EQUAL (ids.count, 8 * 10);
}

static void
write_for_ever (const char *directory, int number)
{
  struct berth_store *store = NULL;

  if (berth_store_open (directory, &store, NULL) != 0)
    _exit (1);
  for (int i = 0;; i++)
    {
      BERTH_AUTO_FREE char *id = berth_string_format ("sb-%d-%06d", number, i);
      struct berth_record_native native = { .id = id, .assignment_id = (char[]) { "as" }, .generation = 1 };
      place_reserve (store, id, "me", NULL, NULL, NULL);
      berth_store_add_native (store, id, &native, NULL);
    }
}

/* Whatever moment it dies at: no gap in what is there, and only the last may lack its native. */
static void
test_killed_anywhere (void)
{
  PLACE place = { .store = NULL };
  int most = 0;

  place_make (&place);
  /* ten moments, and later ones where that was too early to have written */
  for (int round = 0; round < 10 || (most <= 1 && round < 20); round++)
    {
      BERTH_AUTO_IDS struct berth_store_ids ids = { 0 };
      pid_t pid = berth_test_start (write_for_ever, place.directory, round);
      BERTH_AUTO_FREE char *mine = berth_string_format ("sb-%d-", round);
      berth_clock_sleep_ms (round < 10 ? 2 + round * 3 : 40 << (round - 10));
      kill (pid, SIGKILL);
      berth_test_end (pid);
      place_open (&place);
      CU_ASSERT_EQUAL (berth_store_list (place.store, NULL, NULL, &ids, NULL), 0);
      int count = 0, wrong = 0;
      for (size_t i = 0; i < ids.count; i++)
        {
          BERTH_AUTO_RECORD struct berth_record record = { 0 };
          BERTH_AUTO_FREE char *wanted = berth_string_format ("%s%06d", mine, count);
          if (!berth_string_starts_with (ids.items[i], mine))
            continue;
          wrong += strcmp (ids.items[i], wanted) != 0
                   || berth_store_load (place.store, ids.items[i], 0, &record, NULL) != 0
                   || (record.native_count != 1 && i + 1 < ids.count);
          count++;
        }
      CU_ASSERT_EQUAL (wrong, 0);
      most = count > most ? count : most;
      berth_store_close (BERTH_STEAL_POINTER (place.store));
    }
  CU_ASSERT_TRUE (most > 1);
}

struct job
{
  struct berth_store *store;
  int number;
  int failures;
};

static void *
work (void *context)
{
  struct job *job = context;

  for (int i = 0; i < 50; i++)
    {
      BERTH_AUTO_FREE char *id = berth_string_format ("sb-%d-%d", job->number, i);
      BERTH_AUTO_RECORD struct berth_record record = { 0 };
      job->failures += place_reserve (job->store, id, "me", NULL, NULL, NULL) != 0;
      job->failures += berth_store_load (job->store, id, BERTH_STORE_PAIRS, &record, NULL) != 0;
      job->failures += berth_store_remove (job->store, id, NULL) != 0;
    }
  return NULL;
}

static void
test_threads (void)
{
  PLACE place = { .store = NULL };
  struct job jobs[4];
  pthread_t threads[4];

  place_make (&place);
  place_open (&place);
  for (int i = 0; i < 4; i++)
    {
      jobs[i] = (struct job) { place.store, i, 0 };
      CU_ASSERT_EQUAL_FATAL (pthread_create (&threads[i], NULL, work, &jobs[i]), 0);
    }
  for (int i = 0; i < 4; i++)
    {
      pthread_join (threads[i], NULL);
      CU_ASSERT_EQUAL (jobs[i].failures, 0);
    }
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "the installation id is made once, in a private file", test_installation },
    { "every column comes back as it was written", test_every_column },
    { "native ids keep their private data, and hold the record", test_natives },
    { "I04 labels and environment come back, secrets are not stored", test_pairs },
    { "L14 names are unique per owner, a request id finds its sandbox", test_unique },
    { "quotas of host and owner", test_quota },
    { "find by id, name and prefix", test_find },
    { "a newer database is refused and left alone", test_newer },
    { "another program's database is refused and left alone", test_foreign },
    { "a file that is no database is refused and left alone", test_garbage },
    { "a missing directory is told", test_missing_directory },
    { "L27 kill -9 after a write loses nothing", test_killed },
    { "damage is found after an unclean end", test_damaged_page },
    { "eight processes make and use one database", test_company },
    { "kill -9 at any moment keeps the order", test_killed_anywhere },
    { "threads share a store", test_threads },
    { NULL, NULL },
  };

  return berth_test_main ("state", tests);
}

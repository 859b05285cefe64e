/* The id of this installation, which labels carry: made once, synced to disk before anything can
 * be made with it, and kept in a file of its own beside the database, since it alone says which
 * sandboxes are ours when the database is lost. */
#include "core/state/internal.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "sdk/base/fs.h"
#include "sdk/base/string.h"

#define PAGE_SIZE "1024" /* a record takes half of one; the log holds whole pages, and each opening reads it */
#define RANDOM_CHARACTERS 20

int
berth_installation_read (struct berth_store *store)
{
  sqlite3_stmt *statement = NULL;
  int result = -1;

  if (sqlite3_prepare_v2 (store->db, "SELECT value FROM meta WHERE key = 'installation_id'", -1, &statement, NULL)
          == SQLITE_OK
      && sqlite3_step (statement) == SQLITE_ROW)
    {
      snprintf (store->installation_id, sizeof store->installation_id, "%s", sqlite3_column_text (statement, 0));
      result = 0;
    }
  sqlite3_finalize (statement);
  return result;
}

/* "DIRECTORY/installation"; the caller frees it. */
static char *
kept_path (const struct berth_store *store)
{
  return berth_string_format ("%.*s/installation", (int) (strrchr (store->path, '/') - store->path), store->path);
}

bool
berth_installation_is_known (const struct berth_store *store)
{
  BERTH_AUTO_FREE char *path = kept_path (store);

  return path != NULL && access (path, F_OK) == 0;
}

int
berth_installation_recall (struct berth_store *store)
{
  BERTH_AUTO_FREE char *path = kept_path (store);
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };

  if (path == NULL || berth_fs_read (AT_FDCWD, path, &text, 256) != 0)
    return -1;
  char *id = (char *) berth_buffer_string (&text);
  id[strcspn (id, "\n")] = '\0';
  if (!berth_id_is_valid (id, "inst-", RANDOM_CHARACTERS))
    return -1;
  snprintf (store->installation_id, sizeof store->installation_id, "%s", id);
  return 0;
}

int
berth_installation_keep (struct berth_store *store, struct berth_error *error)
{
  BERTH_AUTO_FREE char *path = kept_path (store), *line = NULL;

  if (path == NULL)
    return berth_error_set (error, BERTH_E_RESOURCE_EXHAUSTED, "no memory left");
  if (access (path, F_OK) == 0 || berth_installation_read (store) != 0)
    return 0;
  line = berth_string_format ("%s\n", store->installation_id);
  if (line != NULL && berth_fs_replace (AT_FDCWD, path, line, strlen (line), 0600) == 0)
    return 0;
  return berth_error_set (error, errno == ENOSPC || errno == EDQUOT ? BERTH_E_RESOURCE_EXHAUSTED : BERTH_E_CONFIGURATION,
                          "cannot write %s: %m", path);
}

int
berth_installation_make (struct berth_store *store, int version, struct berth_error *error)
{
  char sql[128];

  if (store->installation_id[0] == '\0'
      && berth_id_generate ("inst-", RANDOM_CHARACTERS, store->installation_id, sizeof store->installation_id) != 0)
    return berth_error_set (error, BERTH_E_RESOURCE_EXHAUSTED, "no random numbers: %m");
  snprintf (sql, sizeof sql, "INSERT OR IGNORE INTO meta VALUES ('installation_id', '%s')", store->installation_id);
  if (sqlite3_exec (store->db,
                    "PRAGMA page_size = " PAGE_SIZE "; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                    " PRAGMA application_id = 1112691784",
                    NULL, NULL, NULL)
          != SQLITE_OK
      || berth_schema_migrate (store->db, version) != 0
      || sqlite3_exec (store->db, sql, NULL, NULL, NULL) != SQLITE_OK
      || sqlite3_exec (store->db, "PRAGMA wal_checkpoint (TRUNCATE)", NULL, NULL, NULL) != SQLITE_OK)
    return berth_store_fail (store, error);
  return 0;
}
_Static_assert (BERTH_STORE_APPLICATION_ID == 1112691784, "the id in the pragma");

#include "core/state/internal.h"

#include <string.h>

#include "core/state/column.h"
#include "sdk/base/buffer.h"

static const char *const texts[BERTH_SQL_STATEMENTS] = {
  [BERTH_SQL_BEGIN] = "BEGIN IMMEDIATE",
  [BERTH_SQL_COMMIT] = "COMMIT",
  [BERTH_SQL_ROLLBACK] = "ROLLBACK",
  [BERTH_SQL_COUNT] = "SELECT count (*), count (CASE WHEN owner = ?1 THEN 1 END) FROM sandboxes",
  [BERTH_SQL_REQUEST] = "SELECT id, request_hash FROM sandboxes WHERE owner = ?1 AND request_id = ?2",
  [BERTH_SQL_NAME] = "SELECT id FROM sandboxes WHERE owner = ?1 AND name = ?2",
  [BERTH_SQL_INSERT_PAIR] = "INSERT INTO pairs SELECT serial, ?2, ?3, ?4, ?5 FROM sandboxes WHERE id = ?1",
  [BERTH_SQL_SET_STATE] = "UPDATE sandboxes SET state = ?2 WHERE id = ?1",
  [BERTH_SQL_ADD_NATIVE] = "INSERT INTO natives SELECT serial, ?2, ?3, ?4, ?5 FROM sandboxes WHERE id = ?1"
                           " ON CONFLICT (sandbox, native_id) DO UPDATE SET private = excluded.private",
  [BERTH_SQL_REMOVE_NATIVE]
  = "DELETE FROM natives WHERE sandbox = (SELECT serial FROM sandboxes WHERE id = ?1) AND native_id = ?2",
  [BERTH_SQL_REMOVE] = "DELETE FROM sandboxes WHERE id = ?1",
  [BERTH_SQL_LOAD_NATIVES] = "SELECT native_id, natives.assignment_id, natives.generation, private FROM natives"
                             " JOIN sandboxes ON sandbox = serial WHERE id = ?1 ORDER BY natives.rowid",
  [BERTH_SQL_LOAD_PAIRS] = "SELECT pairs.name, value FROM pairs JOIN sandboxes ON sandbox = serial"
                           " WHERE id = ?1 AND kind = ?2 ORDER BY position",
  [BERTH_SQL_FIND_ID] = "SELECT id FROM sandboxes WHERE id = ?2"
                        " UNION ALL SELECT id FROM sandboxes WHERE owner = ?1 AND name = ?2 LIMIT 1",
  [BERTH_SQL_FIND_PREFIX] = "SELECT id FROM sandboxes WHERE owner = ?1 AND id >= ?2"
                            " AND substr (id, 1, length (?2)) = ?2 ORDER BY id LIMIT 11",
  [BERTH_SQL_LIST] = "SELECT id FROM sandboxes WHERE (?1 IS NULL OR owner = ?1) AND (?2 IS NULL OR backend = ?2)"
                     " ORDER BY serial",
  /* each create asks it: the index holds all of it, and is a tenth of the table */
  [BERTH_SQL_UNSETTLED] = "SELECT id FROM sandboxes INDEXED BY sandboxes_due WHERE state IN (1, 5, 7) OR owned = 1"
                          " OR deadline_wall_ms BETWEEN 1 AND ?1 OR deadline_boot_ms BETWEEN 1 AND ?2 ORDER BY serial",
  [BERTH_SQL_UNUSED] = "SELECT id FROM sandboxes INDEXED BY sandboxes_idle WHERE state = 2 AND idle_action > 1"
                       " AND (idle_look_wall_ms <= ?1 OR idle_look_boot_ms <= ?2) ORDER BY serial",
#define SNAPSHOT_COLUMNS                                                                                               \
  "id, name, owner, sandbox, backend, image, checksum, state, consistent, frozen, bytes, tar_bytes, entries,"          \
  " created_wall_ms"
  [BERTH_SQL_SNAPSHOT_COUNT] = "SELECT count (*), count (CASE WHEN owner = ?1 THEN 1 END) FROM snapshots",
  [BERTH_SQL_SNAPSHOT_NAME] = "SELECT id FROM snapshots WHERE owner = ?1 AND name = ?2",
  [BERTH_SQL_SNAPSHOT_INSERT] = "INSERT INTO snapshots (" SNAPSHOT_COLUMNS ")"
                                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  [BERTH_SQL_SNAPSHOT_UPDATE] = "UPDATE snapshots SET checksum = ?7, state = ?8, consistent = ?9, frozen = ?10,"
                                " bytes = ?11, tar_bytes = ?12, entries = ?13, created_wall_ms = ?14 WHERE id = ?1",
  [BERTH_SQL_SNAPSHOT_REMOVE] = "DELETE FROM snapshots WHERE id = ?1",
  [BERTH_SQL_SNAPSHOT_LOAD] = "SELECT " SNAPSHOT_COLUMNS " FROM snapshots WHERE id = ?1",
  [BERTH_SQL_SNAPSHOT_FIND] = "SELECT id FROM snapshots WHERE id = ?2"
                              " UNION ALL SELECT id FROM snapshots WHERE owner = ?1 AND name = ?2 LIMIT 1",
  [BERTH_SQL_SNAPSHOT_PREFIX] = "SELECT id FROM snapshots WHERE owner = ?1 AND id >= ?2"
                                " AND substr (id, 1, length (?2)) = ?2 ORDER BY id LIMIT 11",
  [BERTH_SQL_SNAPSHOT_LIST] = "SELECT id FROM snapshots WHERE (?1 IS NULL OR owner = ?1)"
                              " AND (?2 IS NULL OR sandbox = ?2) AND state = 2 ORDER BY serial",
  [BERTH_SQL_SNAPSHOT_UNFINISHED] = "SELECT id FROM snapshots WHERE state <> 2 ORDER BY serial",
  [BERTH_SQL_ENVIRONMENT_INSERT] = "INSERT INTO environments (owner, name, created_wall_ms) VALUES (?, ?, ?)",
  [BERTH_SQL_ENVIRONMENT_ITEM] = "INSERT INTO environment_items SELECT serial, ?3, ?4, ?5, ?6 FROM environments"
                                 " WHERE owner = ?1 AND name = ?2",
  [BERTH_SQL_ENVIRONMENT_REMOVE] = "DELETE FROM environments WHERE owner = ?1 AND name = ?2",
  [BERTH_SQL_ENVIRONMENT_LOAD] = "SELECT created_wall_ms FROM environments WHERE owner = ?1 AND name = ?2",
  [BERTH_SQL_ENVIRONMENT_ITEMS] = "SELECT kind, environment_items.name, value FROM environment_items"
                                  " JOIN environments ON environment = serial"
                                  " WHERE owner = ?1 AND environments.name = ?2 ORDER BY position",
  [BERTH_SQL_ENVIRONMENT_LIST] = "SELECT name FROM environments WHERE owner = ?1 ORDER BY name",
};

/* The three that name every column. */
static void
write_columns (struct berth_buffer *sql, enum berth_statement which)
{
  const char *comma = "";
  int index = 1;

  berth_buffer_append_string (sql, which == BERTH_SQL_UPDATE ? "UPDATE sandboxes SET "
                                   : which == BERTH_SQL_LOAD ? "SELECT "
                                                             : "INSERT INTO sandboxes (");
  for (const struct berth_column *column = berth_columns; column->name != NULL; column++, comma = ", ")
    if (which == BERTH_SQL_UPDATE)
      berth_buffer_appendf (sql, "%s%s = ?%d", comma, column->name, index++);
    else
      berth_buffer_appendf (sql, "%s%s", comma, column->name);
  if (which != BERTH_SQL_INSERT)
    {
      berth_buffer_append_string (sql, which == BERTH_SQL_UPDATE ? " WHERE id = ?1" : " FROM sandboxes WHERE id = ?1");
      return;
    }
  berth_buffer_append_string (sql, ") VALUES (");
  for (const struct berth_column *column = berth_columns; column->name != NULL; column++)
    berth_buffer_append_string (sql, column == berth_columns ? "?" : ", ?");
  berth_buffer_append_string (sql, ")");
}

sqlite3_stmt *
berth_store_statement_locked (struct berth_store *store, enum berth_statement which)
{
  sqlite3_stmt **statement = &store->statements[which];

  if (*statement == NULL)
    {
      BERTH_AUTO_BUFFER struct berth_buffer sql = { 0 };
      if (texts[which] != NULL)
        berth_buffer_append_string (&sql, texts[which]);
      else
        write_columns (&sql, which);
      sqlite3_prepare_v3 (store->db, berth_buffer_string (&sql), -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
      return *statement;
    }
  sqlite3_clear_bindings (*statement);
  return *statement;
}

int
berth_step (sqlite3_stmt *statement)
{
  if (statement == NULL)
    return -1;
  int result = sqlite3_step (statement);
  /* reset repeats the step's error, so that berth_store_fail still finds it */
  sqlite3_reset (statement);
  return result == SQLITE_DONE || result == SQLITE_ROW ? 0 : -1;
}

void
berth_bind_text (sqlite3_stmt *statement, int index, const char *text)
{
  if (statement != NULL)
    sqlite3_bind_text (statement, index, text, -1, SQLITE_TRANSIENT);
}

int
berth_store_begin_locked (struct berth_store *store)
{
  return berth_step (berth_store_statement_locked (store, BERTH_SQL_BEGIN));
}

int
berth_store_end_locked (struct berth_store *store, int result, struct berth_error *error)
{
  if (result == 0)
    {
      result = berth_step (berth_store_statement_locked (store, BERTH_SQL_COMMIT));
      if (result != 0)
        berth_store_fail (store, error);
    }
  if (result != 0 && sqlite3_get_autocommit (store->db) == 0)
    berth_step (berth_store_statement_locked (store, BERTH_SQL_ROLLBACK));
  return result;
}

int
berth_store_fail (struct berth_store *store, struct berth_error *error)
{
  int code = sqlite3_errcode (store->db);

  switch (code & 0xff)
    {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      berth_error_set (error, BERTH_E_CONFIGURATION, "the database %s is damaged: %s", store->path,
                       sqlite3_errmsg (store->db));
      berth_error_hint (error, BERTH_STORE_DAMAGED_HINT);
      store->is_damaged = true;
      return -1;
    case SQLITE_FULL:
      return berth_error_set (error, BERTH_E_RESOURCE_EXHAUSTED, "no space for the database %s", store->path);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      berth_error_set (error, BERTH_E_TIMEOUT, "another process keeps the database %s locked", store->path);
      berth_error_hint (error, "find it with `fuser %s`", store->path);
      return -1;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
    case SQLITE_AUTH:
      berth_error_set (error, BERTH_E_CONFIGURATION, "the database %s cannot be written: %s", store->path,
                       sqlite3_errmsg (store->db));
      berth_error_hint (error, "check that the state directory exists, is yours, and is on a writable file system");
      return -1;
    case SQLITE_NOMEM:
      return berth_error_set (error, BERTH_E_RESOURCE_EXHAUSTED, "no memory left");
    case SQLITE_IOERR:
      if (sqlite3_system_errno (store->db) == ENOSPC || sqlite3_system_errno (store->db) == EDQUOT)
        return berth_error_set (error, BERTH_E_RESOURCE_EXHAUSTED, "no space for the database %s", store->path);
      return berth_error_set (error, BERTH_E_INTERNAL, "the database %s: %s: %s", store->path,
                              sqlite3_errmsg (store->db), strerror (sqlite3_system_errno (store->db)));
    default:
      return berth_error_set (error, BERTH_E_INTERNAL, "the database %s: %s", store->path, sqlite3_errmsg (store->db));
    }
}

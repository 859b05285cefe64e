#include <inttypes.h>
#include <string.h>

#include "core/state/column.h"
#include "core/state/internal.h"

static void
bind_columns (sqlite3_stmt *statement, const struct berth_record *record)
{
  struct berth_record *source = (struct berth_record *) record; /* only read */
  int index = 1;

  for (const struct berth_column *column = berth_columns; column->name != NULL; column++, index++)
    if (column->is_text)
      berth_bind_text (statement, index, *berth_column_text (column, source));
    else if (statement != NULL)
      sqlite3_bind_int64 (statement, index, *berth_column_number (column, source));
}

static int
insert_pairs_locked (struct berth_store *store, const char *id, int kind, const struct berth_record_pairs *pairs)
{
  for (uint64_t i = 0; i < pairs->count; i++)
    {
      sqlite3_stmt *statement = berth_store_statement_locked (store, BERTH_SQL_INSERT_PAIR);
      const struct berth_pair *pair = &pairs->items[i];
      if (statement == NULL)
        return -1;
      berth_bind_text (statement, 1, id);
      sqlite3_bind_int (statement, 2, kind);
      sqlite3_bind_int64 (statement, 3, (sqlite3_int64) i);
      sqlite3_bind_blob (statement, 4, pair->name, (int) strlen (pair->name), SQLITE_TRANSIENT);
      sqlite3_bind_blob (statement, 5, pair->value, (int) strlen (pair->value), SQLITE_TRANSIENT);
      if (berth_step (statement) != 0)
        return -1;
    }
  return 0;
}

/* 1 with the id when there is one, 0, or -1.  HASH gets the second column; it may be NULL. */
static int
find_taken_locked (struct berth_store *store, enum berth_statement which, const char *owner, const char *value, char **id,
                   int64_t *hash)
{
  if (value == NULL)
    return 0;
  sqlite3_stmt *statement = berth_store_statement_locked (store, which);
  if (statement == NULL)
    return -1;
  berth_bind_text (statement, 1, owner);
  berth_bind_text (statement, 2, value);
  int step = sqlite3_step (statement);
  if (step == SQLITE_ROW)
    *id = strdup ((const char *) sqlite3_column_text (statement, 0));
  if (step == SQLITE_ROW && hash != NULL)
    *hash = sqlite3_column_int64 (statement, 1);
  sqlite3_reset (statement);
  if (step == SQLITE_ROW)
    return *id != NULL ? 1 : -1;
  return step == SQLITE_DONE ? 0 : -1;
}

static int
check_quota_locked (struct berth_store *store, const struct berth_record *record, const struct berth_store_quota *quota,
                    struct berth_error *error)
{
  sqlite3_stmt *statement = berth_store_statement_locked (store, BERTH_SQL_COUNT);

  berth_bind_text (statement, 1, record->owner);
  if (statement == NULL || sqlite3_step (statement) != SQLITE_ROW)
    {
      sqlite3_reset (statement);
      return berth_store_fail (store, error);
    }
  int64_t all = sqlite3_column_int64 (statement, 0), owned = sqlite3_column_int64 (statement, 1);
  sqlite3_reset (statement);
  if (owned >= quota->owner)
    return berth_error_set (error, BERTH_E_QUOTA_EXCEEDED, "%s has %" PRId64 " sandboxes, the limit is %" PRId64,
                            record->owner, owned, quota->owner);
  if (all >= quota->host)
    return berth_error_set (error, BERTH_E_QUOTA_EXCEEDED, "this host has %" PRId64 " sandboxes, the limit is %" PRId64,
                            all, quota->host);
  return 0;
}

static int
insert_locked (struct berth_store *store, const struct berth_record *record, struct berth_error *error)
{
  sqlite3_stmt *statement = berth_store_statement_locked (store, BERTH_SQL_INSERT);

  bind_columns (statement, record);
  if (berth_step (statement) != 0
      || insert_pairs_locked (store, record->id, BERTH_PAIR_LABEL, &record->labels) != 0
      || insert_pairs_locked (store, record->id, BERTH_PAIR_ENVIRONMENT, &record->environment) != 0)
    return berth_store_fail (store, error);
  return 0;
}

/* The same key means the same request: what was made for it is given again only to who asks for
 * the same.  Records of before hashes were kept have none. */
static int
check_request (const struct berth_record *record, const char *existing, int64_t hash, struct berth_error *error)
{
  if (hash == 0 || record->request_hash == 0 || hash == record->request_hash)
    return 1;
  berth_error_set (error, BERTH_E_CONFLICT, "request id \"%s\" has made sandbox %s from another specification",
                   record->request_id, existing);
  berth_error_hint (error, "repeat a request as it was, or use a new request id");
  return -1;
}

static int
reserve_locked (struct berth_store *store, const struct berth_record *record, const struct berth_store_quota *quota,
                char **existing, struct berth_error *error)
{
  BERTH_AUTO_FREE char *holder = NULL;
  int64_t hash = 0;
  int found = find_taken_locked (store, BERTH_SQL_REQUEST, record->owner, record->request_id, existing, &hash);

  if (found == 1)
    return check_request (record, *existing, hash, error);
  if (found == 0)
    found = find_taken_locked (store, BERTH_SQL_NAME, record->owner, record->name, &holder, NULL);
  if (found < 0)
    return berth_store_fail (store, error);
  if (found == 1)
    {
      berth_error_set (error, BERTH_E_CONFLICT, "the name %s is taken by %s", record->name, holder);
      berth_error_hint (error, "choose another name, or destroy it with `berth rm %s`", record->name);
      return -1;
    }
  if (check_quota_locked (store, record, quota, error) != 0)
    return -1;
  return insert_locked (store, record, error);
}

/* A database that was removed or replaced while it is open still takes writes, and nobody would
 * ever read them. */
int
berth_store_check_place_locked (struct berth_store *store, struct berth_error *error)
{
  int moved = 0;

  if (sqlite3_file_control (store->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) != SQLITE_OK || moved == 0)
    return 0;
  berth_error_set (error, BERTH_E_CONFIGURATION, "the database %s was removed or replaced while it was in use",
                   store->path);
  berth_error_hint (error, "put the state directory back; if it is lost, `berth doctor --rebuild` finds again what is ours");
  return -1;
}

int
berth_store_reserve (struct berth_store *store, const struct berth_record *record,
                     const struct berth_store_quota *quota, char **existing, struct berth_error *error)
{
  int result = -1;

  pthread_mutex_lock (&store->mutex);
  if (berth_store_check_place_locked (store, error) != 0)
    result = -1;
  else if (berth_store_begin_locked (store) != 0)
    result = berth_store_fail (store, error);
  else
    result = berth_store_end_locked (store, reserve_locked (store, record, quota, existing, error), error);
  pthread_mutex_unlock (&store->mutex);
  return result;
}

int
berth_store_finish_locked (struct berth_store *store, sqlite3_stmt *statement, struct berth_error *error)
{
  int result = berth_store_check_place_locked (store, error);

  if (result == 0 && (result = berth_step (statement)) != 0)
    berth_store_fail (store, error);
  pthread_mutex_unlock (&store->mutex);
  return result;
}

sqlite3_stmt *
berth_store_change_locked (struct berth_store *store, enum berth_statement which, const char *id)
{
  pthread_mutex_lock (&store->mutex);
  sqlite3_stmt *statement = berth_store_statement_locked (store, which);
  berth_bind_text (statement, 1, id);
  return statement;
}

int
berth_store_update (struct berth_store *store, const struct berth_record *record, struct berth_error *error)
{
  sqlite3_stmt *statement = berth_store_change_locked (store, BERTH_SQL_UPDATE, record->id);

  bind_columns (statement, record);
  return berth_store_finish_locked (store, statement, error);
}

int
berth_store_set_state (struct berth_store *store, const char *id, int64_t state, struct berth_error *error)
{
  sqlite3_stmt *statement = berth_store_change_locked (store, BERTH_SQL_SET_STATE, id);

  if (statement != NULL)
    sqlite3_bind_int64 (statement, 2, state);
  return berth_store_finish_locked (store, statement, error);
}

int
berth_store_add_native (struct berth_store *store, const char *id, const struct berth_record_native *native,
                        struct berth_error *error)
{
  sqlite3_stmt *statement = berth_store_change_locked (store, BERTH_SQL_ADD_NATIVE, id);

  if (statement != NULL)
    {
      berth_bind_text (statement, 2, native->id);
      berth_bind_text (statement, 3, native->assignment_id);
      sqlite3_bind_int64 (statement, 4, native->generation);
      sqlite3_bind_blob (statement, 5, native->private_data, (int) native->private_size, SQLITE_TRANSIENT);
    }
  return berth_store_finish_locked (store, statement, error);
}

int
berth_store_remove_native (struct berth_store *store, const char *id, const char *native_id,
                           struct berth_error *error)
{
  sqlite3_stmt *statement = berth_store_change_locked (store, BERTH_SQL_REMOVE_NATIVE, id);

  berth_bind_text (statement, 2, native_id);
  return berth_store_finish_locked (store, statement, error);
}

int
berth_store_remove (struct berth_store *store, const char *id, struct berth_error *error)
{
  return berth_store_finish_locked (store, berth_store_change_locked (store, BERTH_SQL_REMOVE, id), error);
}

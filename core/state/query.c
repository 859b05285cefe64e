#include <string.h>

#include "core/state/column.h"
#include "core/state/internal.h"
#include "sdk/base/clock.h"

static char *
column_copy (sqlite3_stmt *statement, int index)
{
  const char *text = (const char *) sqlite3_column_text (statement, index);

  return text != NULL ? strdup (text) : NULL;
}

/* Blobs, since names and values are any bytes but NUL. */
static char *
blob_copy (sqlite3_stmt *statement, int index)
{
  const void *bytes = sqlite3_column_blob (statement, index);
  size_t size = (size_t) sqlite3_column_bytes (statement, index);
  char *copy = malloc (size + 1);

  if (copy == NULL)
    return NULL;
  if (size > 0)
    memcpy (copy, bytes, size);
  copy[size] = '\0';
  return copy;
}

static int
load_row_locked (struct berth_store *store, const char *id, struct berth_record *record)
{
  sqlite3_stmt *statement = berth_store_statement_locked (store, BERTH_SQL_LOAD);
  int index = 0;

  if (statement == NULL)
    return -1;
  berth_bind_text (statement, 1, id);
  int step = sqlite3_step (statement);
  for (const struct berth_column *column = berth_columns; step == SQLITE_ROW && column->name != NULL; column++, index++)
    if (column->is_text)
      *berth_column_text (column, record) = column_copy (statement, index);
    else
      *berth_column_number (column, record) = sqlite3_column_int64 (statement, index);
  sqlite3_reset (statement);
  return step == SQLITE_ROW ? 1 : step == SQLITE_DONE ? 0 : -1;
}

static int
load_natives_locked (struct berth_store *store, const char *id, struct berth_record *record)
{
  sqlite3_stmt *statement = berth_store_statement_locked (store, BERTH_SQL_LOAD_NATIVES);
  int step = SQLITE_ERROR, result = 0;

  berth_bind_text (statement, 1, id);
  while (result == 0 && statement != NULL && (step = sqlite3_step (statement)) == SQLITE_ROW)
    result = berth_record_add_native (record, (const char *) sqlite3_column_text (statement, 0),
                                      (const char *) sqlite3_column_text (statement, 1),
                                      sqlite3_column_int64 (statement, 2), sqlite3_column_blob (statement, 3),
                                      (uint32_t) sqlite3_column_bytes (statement, 3));
  sqlite3_reset (statement);
  return step == SQLITE_DONE ? result : -1;
}

static int
add_pair (struct berth_record_pairs *pairs, sqlite3_stmt *statement)
{
  struct berth_pair *more = realloc (pairs->items, (pairs->count + 1) * sizeof *more);

  if (more == NULL)
    return -1;
  pairs->items = more;
  struct berth_pair *pair = &more[pairs->count++];
  *pair = (struct berth_pair) { blob_copy (statement, 0), blob_copy (statement, 1), 0, 0 };
  return pair->name != NULL && pair->value != NULL ? 0 : -1;
}

static int
load_pairs_locked (struct berth_store *store, const char *id, int kind, struct berth_record_pairs *pairs)
{
  sqlite3_stmt *statement = berth_store_statement_locked (store, BERTH_SQL_LOAD_PAIRS);
  int step = SQLITE_ERROR, result = 0;

  if (statement == NULL)
    return -1;
  berth_bind_text (statement, 1, id);
  sqlite3_bind_int (statement, 2, kind);
  while (result == 0 && (step = sqlite3_step (statement)) == SQLITE_ROW)
    result = add_pair (pairs, statement);
  sqlite3_reset (statement);
  return step == SQLITE_DONE ? result : -1;
}

int
berth_store_load (struct berth_store *store, const char *id, uint32_t flags, struct berth_record *record,
                  struct berth_error *error)
{
  pthread_mutex_lock (&store->mutex);
  int found = load_row_locked (store, id, record);
  int result = found == 1 ? load_natives_locked (store, id, record) : -1;
  if (result == 0 && (flags & BERTH_STORE_PAIRS) != 0)
    result = load_pairs_locked (store, id, BERTH_PAIR_LABEL, &record->labels) != 0
                     || load_pairs_locked (store, id, BERTH_PAIR_ENVIRONMENT, &record->environment) != 0
                 ? -1
                 : 0;
  if (found == 0)
    berth_error_set (error, BERTH_E_SANDBOX_NOT_FOUND, "there is no sandbox %s", id);
  else if (result != 0)
    berth_store_fail (store, error);
  pthread_mutex_unlock (&store->mutex);
  return result;
}

/* ---- lists of ids ---- */

void
berth_store_ids_clear (struct berth_store_ids *ids)
{
  for (size_t i = 0; i < ids->count; i++)
    free (ids->items[i]);
  free (ids->items);
  *ids = (struct berth_store_ids) { 0 };
}

static int
collect_locked (sqlite3_stmt *statement, struct berth_store_ids *out)
{
  int step = SQLITE_ERROR;

  while (statement != NULL && (step = sqlite3_step (statement)) == SQLITE_ROW)
    {
      char **more = realloc (out->items, (out->count + 1) * sizeof *more);
      if (more == NULL)
        break;
      out->items = more;
      if ((more[out->count] = column_copy (statement, 0)) == NULL)
        break;
      out->count++;
    }
  sqlite3_reset (statement);
  return step == SQLITE_DONE ? 0 : -1;
}

int
berth_store_collect (struct berth_store *store, enum berth_statement which, const char *first, const char *second,
                     struct berth_store_ids *out, struct berth_error *error)
{
  pthread_mutex_lock (&store->mutex);
  sqlite3_stmt *statement = berth_store_statement_locked (store, which);
  berth_bind_text (statement, 1, first);
  berth_bind_text (statement, 2, second);
  int result = collect_locked (statement, out);
  if (result != 0)
    berth_store_fail (store, error);
  pthread_mutex_unlock (&store->mutex);
  return result;
}

int
berth_store_find (struct berth_store *store, const char *owner, const char *name, struct berth_store_ids *out,
                  struct berth_error *error)
{
  int result = berth_store_collect (store, BERTH_SQL_FIND_ID, owner, name, out, error);

  if (result == 0 && out->count == 0)
    result = berth_store_collect (store, BERTH_SQL_FIND_PREFIX, owner, name, out, error);
  return result;
}

int
berth_store_list (struct berth_store *store, const char *owner, const char *backend, struct berth_store_ids *out,
                  struct berth_error *error)
{
  return berth_store_collect (store, BERTH_SQL_LIST, owner, backend, out, error);
}

/* Those that a statement with the two clocks answers. */
static int
collect_due (struct berth_store *store, enum berth_statement which, struct berth_store_ids *out,
             struct berth_error *error)
{
  pthread_mutex_lock (&store->mutex);
  sqlite3_stmt *statement = berth_store_statement_locked (store, which);
  if (statement != NULL)
    {
      sqlite3_bind_int64 (statement, 1, berth_clock_wall_ms ());
      sqlite3_bind_int64 (statement, 2, berth_clock_boottime_ms ());
    }
  int result = collect_locked (statement, out);
  if (result != 0)
    berth_store_fail (store, error);
  pthread_mutex_unlock (&store->mutex);
  return result;
}

int
berth_store_list_unsettled (struct berth_store *store, struct berth_store_ids *out, struct berth_error *error)
{
  return collect_due (store, BERTH_SQL_UNSETTLED, out, error);
}

int
berth_store_list_unused (struct berth_store *store, struct berth_store_ids *out, struct berth_error *error)
{
  return collect_due (store, BERTH_SQL_UNUSED, out, error);
}

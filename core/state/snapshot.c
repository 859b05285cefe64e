#include "core/state/snapshot.h"

#include <inttypes.h>
#include <string.h>

#include "core/state/internal.h"

/* The columns, in the order of every statement below: the texts first. */
enum
{
  TEXTS = 7,
  NUMBERS = 7
};

static char **
text_slot (struct berth_snapshot_record *record, int index)
{
  char **const slots[TEXTS] = { &record->id,      &record->name,  &record->owner,   &record->sandbox,
                                &record->backend, &record->image, &record->checksum };

  return slots[index];
}

static int64_t *
number_slot (struct berth_snapshot_record *record, int index)
{
  int64_t *const slots[NUMBERS] = { &record->state,     &record->consistent, &record->frozen,         &record->bytes,
                                    &record->tar_bytes, &record->entries,    &record->created_wall_ms };

  return slots[index];
}

void
berth_snapshot_record_clear (struct berth_snapshot_record *record)
{
  for (int i = 0; i < TEXTS; i++)
    free (*text_slot (record, i));
  *record = (struct berth_snapshot_record) { 0 };
}

static void
bind_all (sqlite3_stmt *statement, const struct berth_snapshot_record *record)
{
  struct berth_snapshot_record *source = (struct berth_snapshot_record *) record; /* only read */

  for (int i = 0; i < TEXTS; i++)
    berth_bind_text (statement, i + 1, *text_slot (source, i));
  for (int i = 0; statement != NULL && i < NUMBERS; i++)
    sqlite3_bind_int64 (statement, TEXTS + i + 1, *number_slot (source, i));
}

/* ---- changes ---- */

static int
check_name_locked (struct berth_store *store, const struct berth_snapshot_record *record, struct berth_error *error)
{
  sqlite3_stmt *statement = berth_store_statement_locked (store, BERTH_SQL_SNAPSHOT_NAME);

  berth_bind_text (statement, 1, record->owner);
  berth_bind_text (statement, 2, record->name);
  int step = statement != NULL ? sqlite3_step (statement) : SQLITE_ERROR;
  if (step == SQLITE_ROW)
    {
      berth_error_set (error, BERTH_E_CONFLICT, "the name %s is taken by snapshot %s", record->name,
                       (const char *) sqlite3_column_text (statement, 0));
      berth_error_hint (error, "choose another name, or remove it with `berth snapshots rm %s`", record->name);
    }
  sqlite3_reset (statement);
  return step == SQLITE_ROW ? -1 : step == SQLITE_DONE ? 0 : berth_store_fail (store, error);
}

static int
check_quota_locked (struct berth_store *store, const struct berth_snapshot_record *record,
                    const struct berth_store_quota *quota, struct berth_error *error)
{
  sqlite3_stmt *statement = berth_store_statement_locked (store, BERTH_SQL_SNAPSHOT_COUNT);
  int64_t all = 0, owned = 0;

  berth_bind_text (statement, 1, record->owner);
  int step = statement != NULL ? sqlite3_step (statement) : SQLITE_ERROR;
  if (step == SQLITE_ROW)
    {
      all = sqlite3_column_int64 (statement, 0);
      owned = sqlite3_column_int64 (statement, 1);
    }
  sqlite3_reset (statement);
  if (step != SQLITE_ROW)
    return berth_store_fail (store, error);
  if (owned < quota->owner && all < quota->host)
    return 0;
  if (owned >= quota->owner)
    berth_error_set (error, BERTH_E_QUOTA_EXCEEDED, "%s has %" PRId64 " snapshots, the limit is %" PRId64, record->owner,
                     owned, quota->owner);
  else
    berth_error_set (error, BERTH_E_QUOTA_EXCEEDED, "this host has %" PRId64 " snapshots, the limit is %" PRId64, all,
                     quota->host);
  berth_error_hint (error, "`berth snapshots rm` removes what is not needed any more");
  return -1;
}

static int
reserve_locked (struct berth_store *store, const struct berth_snapshot_record *record,
                const struct berth_store_quota *quota, struct berth_error *error)
{
  if ((record->name != NULL && check_name_locked (store, record, error) != 0)
      || check_quota_locked (store, record, quota, error) != 0)
    return -1;
  sqlite3_stmt *statement = berth_store_statement_locked (store, BERTH_SQL_SNAPSHOT_INSERT);
  bind_all (statement, record);
  return berth_step (statement) == 0 ? 0 : berth_store_fail (store, error);
}

int
berth_store_reserve_snapshot (struct berth_store *store, const struct berth_snapshot_record *record,
                              const struct berth_store_quota *quota, struct berth_error *error)
{
  pthread_mutex_lock (&store->mutex);
  int result = berth_store_check_place_locked (store, error);
  if (result == 0 && (result = berth_store_begin_locked (store)) != 0)
    berth_store_fail (store, error);
  else if (result == 0)
    result = berth_store_end_locked (store, reserve_locked (store, record, quota, error), error);
  pthread_mutex_unlock (&store->mutex);
  return result;
}

int
berth_store_update_snapshot (struct berth_store *store, const struct berth_snapshot_record *record,
                             struct berth_error *error)
{
  sqlite3_stmt *statement = berth_store_change_locked (store, BERTH_SQL_SNAPSHOT_UPDATE, record->id);

  bind_all (statement, record);
  return berth_store_finish_locked (store, statement, error);
}

int
berth_store_remove_snapshot (struct berth_store *store, const char *id, struct berth_error *error)
{
  return berth_store_finish_locked (store, berth_store_change_locked (store, BERTH_SQL_SNAPSHOT_REMOVE, id), error);
}

/* ---- questions ---- */

static int
read_row (sqlite3_stmt *statement, struct berth_snapshot_record *record)
{
  for (int i = 0; i < TEXTS; i++)
    {
      const char *text = (const char *) sqlite3_column_text (statement, i);
      if (text != NULL && (*text_slot (record, i) = strdup (text)) == NULL)
        return -1;
    }
  for (int i = 0; i < NUMBERS; i++)
    *number_slot (record, i) = sqlite3_column_int64 (statement, TEXTS + i);
  return 0;
}

int
berth_store_load_snapshot (struct berth_store *store, const char *id, struct berth_snapshot_record *record,
                           struct berth_error *error)
{
  int result = -1;

  pthread_mutex_lock (&store->mutex);
  sqlite3_stmt *statement = berth_store_statement_locked (store, BERTH_SQL_SNAPSHOT_LOAD);
  berth_bind_text (statement, 1, id);
  int step = statement != NULL ? sqlite3_step (statement) : SQLITE_ERROR;
  if (step == SQLITE_DONE)
    berth_error_set (error, BERTH_E_NOT_FOUND, "there is no snapshot %s", id);
  else if (step != SQLITE_ROW)
    berth_store_fail (store, error);
  else if ((result = read_row (statement, record)) != 0)
    berth_error_set (error, BERTH_E_RESOURCE_EXHAUSTED, "no memory left");
  sqlite3_reset (statement);
  pthread_mutex_unlock (&store->mutex);
  return result;
}

int
berth_store_find_snapshot (struct berth_store *store, const char *owner, const char *name,
                           struct berth_store_ids *out, struct berth_error *error)
{
  int result = berth_store_collect (store, BERTH_SQL_SNAPSHOT_FIND, owner, name, out, error);

  if (result == 0 && out->count == 0)
    result = berth_store_collect (store, BERTH_SQL_SNAPSHOT_PREFIX, owner, name, out, error);
  return result;
}

int
berth_store_list_snapshots (struct berth_store *store, const char *owner, const char *sandbox,
                            struct berth_store_ids *out, struct berth_error *error)
{
  return berth_store_collect (store, BERTH_SQL_SNAPSHOT_LIST, owner, sandbox, out, error);
}

int
berth_store_list_unfinished_snapshots (struct berth_store *store, struct berth_store_ids *out,
                                       struct berth_error *error)
{
  return berth_store_collect (store, BERTH_SQL_SNAPSHOT_UNFINISHED, NULL, NULL, out, error);
}

#include "core/state/environment.h"

#include <string.h>

#include "core/state/internal.h"

void
berth_environment_record_clear (struct berth_environment_record *record)
{
  for (size_t i = 0; i < record->count; i++)
    {
      free (record->items[i].name);
      free (record->items[i].value);
    }
  free (record->items);
  free (record->owner);
  free (record->name);
  *record = (struct berth_environment_record) { 0 };
}

int
berth_environment_record_add (struct berth_environment_record *record, int64_t kind, const char *name,
                              const char *value)
{
  struct berth_environment_item *more = realloc (record->items, (record->count + 1) * sizeof *more);

  if (more == NULL)
    return -1;
  record->items = more;
  struct berth_environment_item *item = &more[record->count++];
  *item = (struct berth_environment_item) { kind, strdup (name), value != NULL ? strdup (value) : NULL };
  return item->name == NULL || (value != NULL && item->value == NULL) ? -1 : 0;
}

/* ---- changes ---- */

/* A statement with the owner and the name bound. */
static sqlite3_stmt *
about_locked (struct berth_store *store, enum berth_statement which, const char *owner, const char *name)
{
  sqlite3_stmt *statement = berth_store_statement_locked (store, which);

  berth_bind_text (statement, 1, owner);
  berth_bind_text (statement, 2, name);
  return statement;
}

static int
insert_items_locked (struct berth_store *store, const struct berth_environment_record *record)
{
  int result = 0;

  for (size_t i = 0; i < record->count && result == 0; i++)
    {
      sqlite3_stmt *statement = about_locked (store, BERTH_SQL_ENVIRONMENT_ITEM, record->owner, record->name);
      if (statement != NULL)
        {
          sqlite3_bind_int64 (statement, 3, (int64_t) i);
          sqlite3_bind_int64 (statement, 4, record->items[i].kind);
        }
      berth_bind_text (statement, 5, record->items[i].name);
      berth_bind_text (statement, 6, record->items[i].value);
      result = berth_step (statement);
    }
  return result;
}

static int
save_locked (struct berth_store *store, const struct berth_environment_record *record, struct berth_error *error)
{
  if (berth_step (about_locked (store, BERTH_SQL_ENVIRONMENT_REMOVE, record->owner, record->name)) != 0)
    return berth_store_fail (store, error);
  sqlite3_stmt *statement = about_locked (store, BERTH_SQL_ENVIRONMENT_INSERT, record->owner, record->name);
  if (statement != NULL)
    sqlite3_bind_int64 (statement, 3, record->created_wall_ms);
  return berth_step (statement) != 0 || insert_items_locked (store, record) != 0 ? berth_store_fail (store, error) : 0;
}

int
berth_store_save_environment (struct berth_store *store, const struct berth_environment_record *record,
                              struct berth_error *error)
{
  pthread_mutex_lock (&store->mutex);
  int result = berth_store_check_place_locked (store, error);
  if (result == 0 && (result = berth_store_begin_locked (store)) != 0)
    berth_store_fail (store, error);
  else if (result == 0)
    result = berth_store_end_locked (store, save_locked (store, record, error), error);
  pthread_mutex_unlock (&store->mutex);
  return result;
}

static int
refuse_unknown (const char *name, struct berth_error *error)
{
  berth_error_set (error, BERTH_E_NOT_FOUND, "there is no environment \"%s\"", name);
  berth_error_hint (error, "`berth env ls` lists them");
  return -1;
}

int
berth_store_remove_environment (struct berth_store *store, const char *owner, const char *name,
                                struct berth_error *error)
{
  pthread_mutex_lock (&store->mutex);
  int result = berth_store_check_place_locked (store, error);
  if (result == 0 && berth_step (about_locked (store, BERTH_SQL_ENVIRONMENT_REMOVE, owner, name)) != 0)
    result = berth_store_fail (store, error);
  else if (result == 0 && sqlite3_changes (store->db) == 0)
    result = refuse_unknown (name, error);
  pthread_mutex_unlock (&store->mutex);
  return result;
}

/* ---- questions ---- */

static int
load_items_locked (struct berth_store *store, struct berth_environment_record *out)
{
  sqlite3_stmt *statement = about_locked (store, BERTH_SQL_ENVIRONMENT_ITEMS, out->owner, out->name);
  int step = SQLITE_ERROR;

  while (statement != NULL && (step = sqlite3_step (statement)) == SQLITE_ROW)
    if (berth_environment_record_add (out, sqlite3_column_int64 (statement, 0),
                                      (const char *) sqlite3_column_text (statement, 1),
                                      (const char *) sqlite3_column_text (statement, 2))
        != 0)
      break;
  sqlite3_reset (statement);
  return step == SQLITE_DONE ? 0 : -1;
}

static int
load_locked (struct berth_store *store, const char *owner, const char *name, struct berth_environment_record *out,
             struct berth_error *error)
{
  sqlite3_stmt *statement = about_locked (store, BERTH_SQL_ENVIRONMENT_LOAD, owner, name);
  int step = statement != NULL ? sqlite3_step (statement) : SQLITE_ERROR;

  if (step == SQLITE_ROW)
    out->created_wall_ms = sqlite3_column_int64 (statement, 0);
  sqlite3_reset (statement);
  if (step == SQLITE_DONE)
    return refuse_unknown (name, error);
  out->owner = strdup (owner);
  out->name = strdup (name);
  if (out->owner == NULL || out->name == NULL)
    return berth_error_set (error, BERTH_E_RESOURCE_EXHAUSTED, "no memory left");
  return step != SQLITE_ROW || load_items_locked (store, out) != 0 ? berth_store_fail (store, error) : 0;
}

int
berth_store_load_environment (struct berth_store *store, const char *owner, const char *name,
                              struct berth_environment_record *out, struct berth_error *error)
{
  pthread_mutex_lock (&store->mutex);
  int result = load_locked (store, owner, name, out, error);
  pthread_mutex_unlock (&store->mutex);
  return result;
}

int
berth_store_list_environments (struct berth_store *store, const char *owner, struct berth_store_ids *out,
                               struct berth_error *error)
{
  return berth_store_collect (store, BERTH_SQL_ENVIRONMENT_LIST, owner, NULL, out, error);
}

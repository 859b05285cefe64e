/* internal.h - what the files of this folder share. */
#ifndef CORE_STATE_INTERNAL_H
#define CORE_STATE_INTERNAL_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>

#include "core/registry/error.h"
#include "core/state/store.h"
#include "sdk/base/cleanup.h"

/* Statements that are prepared at first use and kept. */
enum berth_statement
{
  BERTH_SQL_BEGIN,
  BERTH_SQL_COMMIT,
  BERTH_SQL_ROLLBACK,
  BERTH_SQL_COUNT,
  BERTH_SQL_REQUEST,
  BERTH_SQL_NAME,
  BERTH_SQL_INSERT,
  BERTH_SQL_INSERT_PAIR,
  BERTH_SQL_UPDATE,
  BERTH_SQL_SET_STATE,
  BERTH_SQL_ADD_NATIVE,
  BERTH_SQL_REMOVE_NATIVE,
  BERTH_SQL_REMOVE,
  BERTH_SQL_LOAD,
  BERTH_SQL_LOAD_NATIVES,
  BERTH_SQL_LOAD_PAIRS,
  BERTH_SQL_FIND_ID,
  BERTH_SQL_FIND_PREFIX,
  BERTH_SQL_LIST,
  BERTH_SQL_UNSETTLED,
  BERTH_SQL_UNUSED,
  BERTH_SQL_SNAPSHOT_COUNT,
  BERTH_SQL_SNAPSHOT_NAME,
  BERTH_SQL_SNAPSHOT_INSERT,
  BERTH_SQL_SNAPSHOT_UPDATE,
  BERTH_SQL_SNAPSHOT_REMOVE,
  BERTH_SQL_SNAPSHOT_LOAD,
  BERTH_SQL_SNAPSHOT_FIND,
  BERTH_SQL_SNAPSHOT_PREFIX,
  BERTH_SQL_SNAPSHOT_LIST,
  BERTH_SQL_SNAPSHOT_UNFINISHED,
  BERTH_SQL_ENVIRONMENT_INSERT,
  BERTH_SQL_ENVIRONMENT_ITEM,
  BERTH_SQL_ENVIRONMENT_REMOVE,
  BERTH_SQL_ENVIRONMENT_LOAD,
  BERTH_SQL_ENVIRONMENT_ITEMS,
  BERTH_SQL_ENVIRONMENT_LIST,
  BERTH_SQL_STATEMENTS
};

struct berth_store
{
  pthread_mutex_t mutex; /* one statement at a time; never held outside this folder */
  sqlite3 *db;
  int users_fd; /* lock file: who has the database open */
  bool is_open; /* and sound: an end is a clean one */
  bool is_damaged; /* as the last check or statement found */
  char *path;
  char installation_id[32];
  sqlite3_stmt *statements[BERTH_SQL_STATEMENTS];
};

enum
{
  BERTH_PAIR_LABEL = 1,
  BERTH_PAIR_ENVIRONMENT = 2
};

/* The statement, reset and without values; NULL with the reason in the database handle. */
sqlite3_stmt *berth_store_statement_locked (struct berth_store *store, enum berth_statement which);
/* Runs a statement that answers no row; resets it.  0 or -1. */
int berth_step (sqlite3_stmt *statement);
/* NULL binds NULL. */
void berth_bind_text (sqlite3_stmt *statement, int index, const char *text);

int berth_store_begin_locked (struct berth_store *store);
/* Commits, or rolls back when RESULT is not 0; then fills ERROR from the database unless the
 * caller has done so.  Returns RESULT, or -1. */
int berth_store_end_locked (struct berth_store *store, int result, struct berth_error *error);

/* -1 when the database is not any more where it was: what is written would be lost. */
int berth_store_check_place_locked (struct berth_store *store, struct berth_error *error);
/* A change of one statement, which is a transaction of its own: takes the lock and binds ID, and the
 * other runs it and lets the lock go. */
sqlite3_stmt *berth_store_change_locked (struct berth_store *store, enum berth_statement which, const char *id);
int berth_store_finish_locked (struct berth_store *store, sqlite3_stmt *statement, struct berth_error *error);
/* The ids that a statement with two texts answers. */
int berth_store_collect (struct berth_store *store, enum berth_statement which, const char *first, const char *second,
                         struct berth_store_ids *out, struct berth_error *error);

/* What to do about a database that is damaged or lost. */
#define BERTH_STORE_DAMAGED_HINT                                                                  \
  "nothing was changed; put a backup in its place, or let `berth doctor --rebuild` set it aside and find again which"   \
  " sandboxes are ours"
#define BERTH_STORE_APPLICATION_ID 0x42525448 /* "BRTH", so that no other program's database is taken for ours */

/* Says what the database last complained of; returns -1. */
int berth_store_fail (struct berth_store *store, struct berth_error *error);

/* ---- open.c: the steps of opening ---- */

/* With its lock file open, and no database yet; NULL with *ERROR. */
struct berth_store *berth_store_new (const char *directory, struct berth_error *error);
int berth_store_open_database (struct berth_store *store, struct berth_error *error);
int berth_store_lock_users (int fd, short type, int command);
/* How the database stands: its schema, 0 for an empty one; -1 when it is not for us. */
int berth_store_read_version (struct berth_store *store, int *version, struct berth_error *error);
int berth_store_check_integrity (struct berth_store *store, struct berth_error *error);
/* Brings the database up to date, with the lock held alone; leaves the lock shared. */
int berth_store_prepare_alone (struct berth_store *store, struct berth_error *error);
/* The last step. */
int berth_store_begin_use (struct berth_store *store, struct berth_error *error);

/* ---- installation.c ---- */

/* store->installation_id from the database; 0 or -1. */
int berth_installation_read (struct berth_store *store);
/* The same from the file beside it. */
int berth_installation_recall (struct berth_store *store);
/* Whether there is such a file: then there was a database. */
bool berth_installation_is_known (const struct berth_store *store);
/* Writes the file where it is missing. */
int berth_installation_keep (struct berth_store *store, struct berth_error *error);
/* Makes the content of a database of schema VERSION, alone, with the id that STORE has or a new one. */
int berth_installation_make (struct berth_store *store, int version, struct berth_error *error);

/* From FROM to the schema of this library, a transaction a step.  0 or -1. */
int berth_schema_migrate (sqlite3 *db, int from);

#endif

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
  BERTH_SQL_STATEMENTS
};

struct berth_store
{
  pthread_mutex_t mutex; /* one statement at a time; never held outside this folder */
  sqlite3 *db;
  int users_fd; /* lock file: who has the database open */
  bool is_open; /* and sound: an end is a clean one */
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

/* Says what the database last complained of; returns -1. */
int berth_store_fail (struct berth_store *store, struct berth_error *error);

/* From FROM to the schema of this library, a transaction a step.  0 or -1. */
int berth_schema_migrate (sqlite3 *db, int from);

#endif

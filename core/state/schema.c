#include "core/state/internal.h"

/* Step N brings a database from user_version N to N + 1.  Steps are only ever appended. */
static const char *const steps[] = {
  "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
  "CREATE TABLE sandboxes ("
  "  serial INTEGER PRIMARY KEY,"
  "  id TEXT NOT NULL UNIQUE, name TEXT, owner TEXT NOT NULL, backend TEXT NOT NULL, image TEXT, user TEXT,"
  "  request_id TEXT, assignment_id TEXT, pin TEXT, runtime TEXT, evidence_url TEXT, evidence_date TEXT, boot_id TEXT,"
  "  state INTEGER NOT NULL, generation INTEGER NOT NULL, asks INTEGER NOT NULL, must INTEGER NOT NULL,"
  "  tier INTEGER NOT NULL, capabilities INTEGER NOT NULL, enforced INTEGER NOT NULL, run_asks INTEGER NOT NULL,"
  "  posture INTEGER NOT NULL, memory_bytes INTEGER NOT NULL, disk_bytes INTEGER NOT NULL, tmp_bytes INTEGER NOT NULL,"
  "  cpu_milli INTEGER NOT NULL, pids INTEGER NOT NULL, open_files INTEGER NOT NULL, network_default INTEGER NOT NULL,"
  "  created_wall_ms INTEGER NOT NULL, ttl_ms INTEGER NOT NULL, deadline_wall_ms INTEGER NOT NULL,"
  "  deadline_boot_ms INTEGER NOT NULL, owned INTEGER NOT NULL, owner_pid INTEGER NOT NULL,"
  "  owner_start INTEGER NOT NULL);"
  "CREATE UNIQUE INDEX sandboxes_name ON sandboxes (owner, name) WHERE name IS NOT NULL;"
  "CREATE UNIQUE INDEX sandboxes_request ON sandboxes (owner, request_id) WHERE request_id IS NOT NULL;"
  "CREATE TABLE natives ("
  "  sandbox INTEGER NOT NULL REFERENCES sandboxes (serial),"
  "  native_id TEXT NOT NULL, assignment_id TEXT NOT NULL, generation INTEGER NOT NULL, private BLOB,"
  "  UNIQUE (sandbox, native_id));"
  "CREATE TABLE pairs ("
  "  sandbox INTEGER NOT NULL REFERENCES sandboxes (serial) ON DELETE CASCADE,"
  "  kind INTEGER NOT NULL, position INTEGER NOT NULL, name BLOB NOT NULL, value BLOB NOT NULL,"
  "  PRIMARY KEY (sandbox, kind, position)) WITHOUT ROWID;",
};

int
berth_store_schema (void)
{
  return (int) (sizeof steps / sizeof *steps);
}

static int
one_step (sqlite3 *db, int step)
{
  char bump[48];

  snprintf (bump, sizeof bump, "PRAGMA user_version = %d", step + 1);
  if (sqlite3_exec (db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
    return -1;
  if (sqlite3_exec (db, steps[step], NULL, NULL, NULL) == SQLITE_OK
      && sqlite3_exec (db, bump, NULL, NULL, NULL) == SQLITE_OK
      && sqlite3_exec (db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK)
    return 0;
  sqlite3_exec (db, "ROLLBACK", NULL, NULL, NULL);
  return -1;
}

int
berth_schema_migrate (sqlite3 *db, int from)
{
  for (int step = from; step < berth_store_schema (); step++)
    if (one_step (db, step) != 0)
      return -1;
  return 0;
}

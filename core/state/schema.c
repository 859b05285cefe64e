#include "core/state/internal.h"

#include <stdlib.h>

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
  /* The last two are what a sweep and a quota read, so that neither grows with whole records. */
  "ALTER TABLE sandboxes ADD COLUMN request_hash INTEGER NOT NULL DEFAULT 0;"
  "ALTER TABLE sandboxes ADD COLUMN left_ms INTEGER NOT NULL DEFAULT 0;"
  "CREATE INDEX sandboxes_owner ON sandboxes (owner);"
  "CREATE INDEX sandboxes_due ON sandboxes (state, owned, deadline_wall_ms, deadline_boot_ms, serial, id);",
  "ALTER TABLE sandboxes ADD COLUMN unkept INTEGER NOT NULL DEFAULT 0;"
  "CREATE TABLE snapshots ("
  "  serial INTEGER PRIMARY KEY,"
  "  id TEXT NOT NULL UNIQUE, name TEXT, owner TEXT NOT NULL, sandbox TEXT NOT NULL, backend TEXT NOT NULL,"
  "  image TEXT, checksum TEXT, state INTEGER NOT NULL, consistent INTEGER NOT NULL, frozen INTEGER NOT NULL,"
  "  bytes INTEGER NOT NULL, tar_bytes INTEGER NOT NULL, entries INTEGER NOT NULL,"
  "  created_wall_ms INTEGER NOT NULL);"
  "CREATE UNIQUE INDEX snapshots_name ON snapshots (owner, name) WHERE name IS NOT NULL;",
  ("ALTER TABLE sandboxes ADD COLUMN shm_bytes INTEGER NOT NULL DEFAULT 0;"
   "ALTER TABLE sandboxes ADD COLUMN file_size_bytes INTEGER NOT NULL DEFAULT 0;"),
  ("CREATE TABLE environments ("
   "  serial INTEGER PRIMARY KEY, owner TEXT NOT NULL, name TEXT NOT NULL, created_wall_ms INTEGER NOT NULL,"
   "  UNIQUE (owner, name));"
   "CREATE TABLE environment_items ("
   "  environment INTEGER NOT NULL REFERENCES environments (serial) ON DELETE CASCADE,"
   "  position INTEGER NOT NULL, kind INTEGER NOT NULL, name TEXT NOT NULL, value TEXT,"
   "  PRIMARY KEY (environment, position)) WITHOUT ROWID;"),
  /* the index has only those that a look may be due for: the others cost a sweep nothing */
  ("ALTER TABLE sandboxes ADD COLUMN idle_ms INTEGER NOT NULL DEFAULT 0;"
   "ALTER TABLE sandboxes ADD COLUMN idle_action INTEGER NOT NULL DEFAULT 0;"
   "ALTER TABLE sandboxes ADD COLUMN idle_resume INTEGER NOT NULL DEFAULT 0;"
   "ALTER TABLE sandboxes ADD COLUMN idled INTEGER NOT NULL DEFAULT 0;"
   "ALTER TABLE sandboxes ADD COLUMN starts INTEGER NOT NULL DEFAULT 0;"
   "ALTER TABLE sandboxes ADD COLUMN idle_look_wall_ms INTEGER NOT NULL DEFAULT 0;"
   "ALTER TABLE sandboxes ADD COLUMN idle_look_boot_ms INTEGER NOT NULL DEFAULT 0;"
   "CREATE INDEX sandboxes_idle ON sandboxes (idle_look_wall_ms, idle_look_boot_ms, serial, id)"
   "  WHERE state = 2 AND idle_action > 1;"),
};

int
berth_store_schema (void)
{
  return (int) (sizeof steps / sizeof *steps);
}

static int
read_version (void *context, int count, char **values, char **names)
{
  (void) names;
  *(int *) context = count == 1 && values[0] != NULL ? atoi (values[0]) : -1;
  return 0;
}

/* Others may have the database open and take the same step: the first does it. */
static int
one_step (sqlite3 *db, int step)
{
  char bump[48];
  int version = -1;

  snprintf (bump, sizeof bump, "PRAGMA user_version = %d", step + 1);
  if (sqlite3_exec (db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
    return -1;
  if (sqlite3_exec (db, "PRAGMA user_version", read_version, &version, NULL) == SQLITE_OK && version > step)
    return sqlite3_exec (db, "ROLLBACK", NULL, NULL, NULL) == SQLITE_OK ? 0 : -1;
  if (version == step && sqlite3_exec (db, steps[step], NULL, NULL, NULL) == SQLITE_OK
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

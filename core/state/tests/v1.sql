-- A database as the first version of the store left it: never changed, so that its migration is tested.
PRAGMA page_size = 1024;
PRAGMA journal_mode = WAL;
PRAGMA application_id = 1112691784;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE sandboxes ( serial INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT, owner TEXT NOT NULL, backend TEXT NOT NULL, image TEXT, user TEXT, request_id TEXT, assignment_id TEXT, pin TEXT, runtime TEXT, evidence_url TEXT, evidence_date TEXT, boot_id TEXT, state INTEGER NOT NULL, generation INTEGER NOT NULL, asks INTEGER NOT NULL, must INTEGER NOT NULL, tier INTEGER NOT NULL, capabilities INTEGER NOT NULL, enforced INTEGER NOT NULL, run_asks INTEGER NOT NULL, posture INTEGER NOT NULL, memory_bytes INTEGER NOT NULL, disk_bytes INTEGER NOT NULL, tmp_bytes INTEGER NOT NULL, cpu_milli INTEGER NOT NULL, pids INTEGER NOT NULL, open_files INTEGER NOT NULL, network_default INTEGER NOT NULL, created_wall_ms INTEGER NOT NULL, ttl_ms INTEGER NOT NULL, deadline_wall_ms INTEGER NOT NULL, deadline_boot_ms INTEGER NOT NULL, owned INTEGER NOT NULL, owner_pid INTEGER NOT NULL, owner_start INTEGER NOT NULL);
CREATE UNIQUE INDEX sandboxes_name ON sandboxes (owner, name) WHERE name IS NOT NULL;
CREATE UNIQUE INDEX sandboxes_request ON sandboxes (owner, request_id) WHERE request_id IS NOT NULL;
CREATE TABLE natives ( sandbox INTEGER NOT NULL REFERENCES sandboxes (serial), native_id TEXT NOT NULL, assignment_id TEXT NOT NULL, generation INTEGER NOT NULL, private BLOB, UNIQUE (sandbox, native_id));
CREATE TABLE pairs ( sandbox INTEGER NOT NULL REFERENCES sandboxes (serial) ON DELETE CASCADE, kind INTEGER NOT NULL, position INTEGER NOT NULL, name BLOB NOT NULL, value BLOB NOT NULL, PRIMARY KEY (sandbox, kind, position)) WITHOUT ROWID;
INSERT INTO meta VALUES ('installation_id', 'inst-abcdefghijklmnopqrst');
INSERT INTO sandboxes (id,name,owner,backend,request_id,assignment_id,boot_id,state,generation,asks,must,tier,capabilities,enforced,run_asks,posture,memory_bytes,disk_bytes,tmp_bytes,cpu_milli,pids,open_files,network_default,created_wall_ms,ttl_ms,deadline_wall_ms,deadline_boot_ms,owned,owner_pid,owner_start) VALUES ('sb-22222222222222222222', 'web', 'me', 'fake', 'once', 'as-1', 'boot', 2, 1, 7, 3, 10, 255, 7, 15, 1, 536870912, 0, 268435456, 1000, 256, 0, 1, 1700000000000, 900000, 1700000900000, 900000, 0, 0, 0);
INSERT INTO sandboxes (id,name,owner,backend,request_id,assignment_id,boot_id,state,generation,asks,must,tier,capabilities,enforced,run_asks,posture,memory_bytes,disk_bytes,tmp_bytes,cpu_milli,pids,open_files,network_default,created_wall_ms,ttl_ms,deadline_wall_ms,deadline_boot_ms,owned,owner_pid,owner_start) VALUES ('sb-33333333333333333333', NULL, 'you', 'fake', NULL, 'as-2', 'boot', 1, 1, 7, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1700000000000, 900000, 0, 0, 1, 42, 43);
INSERT INTO natives VALUES (1, 'sb-22222222222222222222.1', 'as-1', 1, x'0102');
INSERT INTO pairs VALUES (1, 1, 0, CAST ('team' AS BLOB), CAST ('blue' AS BLOB));
INSERT INTO pairs VALUES (1, 2, 0, CAST ('LANG' AS BLOB), CAST ('C' AS BLOB));
PRAGMA user_version = 1;

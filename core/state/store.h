/* store.h - the records of an installation, in one SQLite database that many processes share.
 *
 * Every function is one transaction, may be called from any thread, and waits for other
 * processes for at most ten seconds.  A change is durable against the death of any process the
 * moment its function returns; against a power failure the last ones may be lost, never the
 * order or the whole: what then runs without a record still carries our labels. */
#ifndef CORE_STATE_STORE_H
#define CORE_STATE_STORE_H

#include <berth/berth.h>

#include "core/state/record.h"

struct berth_store;

/* Opens DIRECTORY/berth.db and makes it on first use; DIRECTORY is there, private and ours.
 * CONFIGURATION for a database that is newer, corrupt or somebody else's: it is left as it is. */
int berth_store_open (const char *directory, struct berth_store **out, struct berth_error *error);
/* For a database that is damaged or lost: sets it aside (*ASIDE is its new name, the caller frees
 * it) and opens an empty one with the same installation id.  CONFLICT when it is sound or in use;
 * CONFIGURATION when it is newer or another program's, or when the id is lost: then nothing is
 * changed. */
int berth_store_rebuild (const char *directory, struct berth_store **out, char **aside, struct berth_error *error);
void berth_store_close (struct berth_store *store);

/* "inst-" and 20 characters: made once, on every label.  Lives as long as the store. */
const char *berth_store_installation_id (const struct berth_store *store);

/* The schema that this library writes. */
int berth_store_schema (void);

/* ---- changes ---- */

struct berth_store_quota
{
  int64_t host;  /* sandboxes of all owners */
  int64_t owner; /* of the record's owner */
};

/* Writes the intent to make a sandbox: checks the quota and inserts RECORD with its labels and
 * environment.  1 with *EXISTING (the caller frees it) when a record of the same owner and
 * request id is there; QUOTA_EXCEEDED; CONFLICT when the name is taken. */
int berth_store_reserve (struct berth_store *store, const struct berth_record *record,
                         const struct berth_store_quota *quota, char **existing, struct berth_error *error);
/* Writes every column of RECORD except its id; not the natives, labels or environment. */
int berth_store_update (struct berth_store *store, const struct berth_record *record, struct berth_error *error);
int berth_store_set_state (struct berth_store *store, const char *id, int64_t state, struct berth_error *error);
/* Again with the same id: its private data is replaced. */
int berth_store_add_native (struct berth_store *store, const char *id, const struct berth_record_native *native,
                            struct berth_error *error);
int berth_store_remove_native (struct berth_store *store, const char *id, const char *native_id,
                               struct berth_error *error);
/* Removes the record when it has no native id left.  SANDBOX_NOT_FOUND is not an error here. */
int berth_store_remove (struct berth_store *store, const char *id, struct berth_error *error);

/* ---- questions ---- */

#define BERTH_STORE_PAIRS 1u /* load labels and environment too */

/* SANDBOX_NOT_FOUND.  RECORD is all zero before and the caller's to clear afterwards. */
int berth_store_load (struct berth_store *store, const char *id, uint32_t flags, struct berth_record *record,
                      struct berth_error *error);

/* Ids in the order they were made. */
struct berth_store_ids
{
  char **items;
  size_t count;
};
#define BERTH_AUTO_IDS BERTH_CLEANUP (berth_store_ids_clear)
void berth_store_ids_clear (struct berth_store_ids *ids);

/* Those that NAME may mean to OWNER: the one with that id, else the one with that name, else all
 * of OWNER's whose id begins with it. */
int berth_store_find (struct berth_store *store, const char *owner, const char *name, struct berth_store_ids *out,
                      struct berth_error *error);
/* Of OWNER and BACKEND; NULL: of every one. */
int berth_store_list (struct berth_store *store, const char *owner, const char *backend, struct berth_store_ids *out,
                      struct berth_error *error);
/* Those that somebody may have to finish: creating or destroying, owned, or past their end. */
int berth_store_list_unsettled (struct berth_store *store, struct berth_store_ids *out, struct berth_error *error);
/* Those that may have been idle for long enough. */
int berth_store_list_unused (struct berth_store *store, struct berth_store_ids *out, struct berth_error *error);

#endif

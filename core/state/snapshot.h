/* snapshot.h - what is on record of one snapshot: the last word on whether its file is one. */
#ifndef CORE_STATE_SNAPSHOT_H
#define CORE_STATE_SNAPSHOT_H

#include "core/state/store.h"

enum berth_snapshot_state
{
  BERTH_SNAPSHOT_MAKING = 1,  /* intent: its lock is held for as long as its maker lives */
  BERTH_SNAPSHOT_READY = 2,
  BERTH_SNAPSHOT_REMOVING = 3, /* the record goes after the file */
  BERTH_SNAPSHOT_LENT = 4      /* whole, for as long as the lock is held: it goes with who made it */
};

/* Owns its texts. */
struct berth_snapshot_record
{
  char *id;
  char *name; /* or NULL; unique per owner */
  char *owner;
  char *sandbox; /* id of the one it was made of, which may be gone */
  char *backend;
  char *image;    /* or NULL */
  char *checksum; /* SHA-256 of the file in hexadecimal; NULL until it is ready */
  int64_t state;
  int64_t consistent; /* nothing ran while it was made */
  int64_t frozen;     /* its maker holds the sandbox still, or did when it died */
  int64_t bytes;      /* of the file */
  int64_t tar_bytes;
  int64_t entries;
  int64_t created_wall_ms;
};

#define BERTH_AUTO_SNAPSHOT BERTH_CLEANUP (berth_snapshot_record_clear)
void berth_snapshot_record_clear (struct berth_snapshot_record *record);

/* Writes the intent: checks the quota and the name.  QUOTA_EXCEEDED, CONFLICT. */
int berth_store_reserve_snapshot (struct berth_store *store, const struct berth_snapshot_record *record,
                                  const struct berth_store_quota *quota, struct berth_error *error);
/* Writes every column but id, name and owner. */
int berth_store_update_snapshot (struct berth_store *store, const struct berth_snapshot_record *record,
                                 struct berth_error *error);
int berth_store_remove_snapshot (struct berth_store *store, const char *id, struct berth_error *error);

/* NOT_FOUND.  RECORD is all zero before and the caller's to clear afterwards. */
int berth_store_load_snapshot (struct berth_store *store, const char *id, struct berth_snapshot_record *record,
                               struct berth_error *error);
/* Those that NAME may mean to OWNER, as berth_store_find. */
int berth_store_find_snapshot (struct berth_store *store, const char *owner, const char *name,
                               struct berth_store_ids *out, struct berth_error *error);
/* Of OWNER, made of SANDBOX (an id); NULL: of every one.  Ready ones, oldest first. */
int berth_store_list_snapshots (struct berth_store *store, const char *owner, const char *sandbox,
                                struct berth_store_ids *out, struct berth_error *error);
/* Those that are not ready: somebody makes or removes them, or died of it. */
int berth_store_list_unfinished_snapshots (struct berth_store *store, struct berth_store_ids *out,
                                           struct berth_error *error);

#endif

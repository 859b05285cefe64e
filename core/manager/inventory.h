/* inventory.h - what a backend holds, and whose it is. */
#ifndef CORE_MANAGER_INVENTORY_H
#define CORE_MANAGER_INVENTORY_H

#include "core/manager/call.h"

/* Labels that the host adds to the user's, so that a record can be made again from them. */
#define BERTH_LABEL_NAME "io.berth.name"
#define BERTH_LABEL_OWNER "io.berth.owner"

/* Whose something is, by its labels.  A struct, so that it cannot be mistaken for a boolean: only
 * MINE licenses its destruction. */
enum berth_claimant
{
  BERTH_MINE = 1,      /* of this installation */
  BERTH_FOREIGN = 2,   /* of another one */
  BERTH_UNCLAIMED = 3, /* the labels name nobody */
  BERTH_NOT_KNOWN = 4  /* the labels could not be read */
};
struct berth_ownership
{
  enum berth_claimant claimant;
};
struct berth_ownership berth_ownership_of (const struct berth_host *host, const struct berth_found *found);

/* The host's own copy of one struct berth_found. */
struct berth_seen
{
  char *native_id;
  char *sandbox_id; /* these two NULL unless it is MINE */
  char *assignment_id;
  struct berth_ownership ownership;
  uint32_t life;
  bool partial; /* half-made */
  int64_t created_wall_ms; /* 0: not told */
  struct berth_expiry expiry; /* kind 0: not told */
  struct berth_record_pairs metadata;
};
struct berth_inventory
{
  struct berth_seen *items;
  size_t count;
};
#define BERTH_AUTO_INVENTORY BERTH_CLEANUP (berth_inventory_clear)
void berth_inventory_clear (struct berth_inventory *inventory);

/* All that the backend holds with our managed label: complete, or -1. */
int berth_inventory_read (struct berth_host *host, struct berth_instance *instance, int64_t milliseconds,
                          struct berth_inventory *out, struct berth_error *error);
/* What the create with this assignment id made; needs CORRELATED_CREATE.  Only what is MINE. */
int berth_inventory_find (struct berth_host *host, struct berth_instance *instance, const char *assignment_id,
                          int64_t milliseconds, struct berth_inventory *out, struct berth_error *error);

/* What an operation that was interrupted made: 1 by its assignment id, 0 by labels, which is what there
 * is without CORRELATED_CREATE; -1. */
int berth_inventory_look (struct berth_host *host, struct berth_instance *instance, const char *assignment_id,
                          struct berth_inventory *out, struct berth_error *error);
/* Whether it is MINE, and of the sandbox of that record. */
bool berth_inventory_is_of (const struct berth_seen *seen, const struct berth_record *record);
/* Puts it on record as a native of that generation, in the store and in *RECORD. */
int berth_inventory_write_down (struct berth_host *host, const struct berth_seen *seen, int64_t generation,
                                struct berth_record *record, struct berth_error *error);

/* The one called NATIVE: 1, 0 when there is none, -1. */
int berth_inventory_describe (struct berth_host *host, struct berth_instance *instance,
                              const struct berth_record_native *native, struct berth_inventory *out,
                              struct berth_error *error);

/* The instances that are enabled, in the order of their names: also those that cannot be used now. */
struct berth_names
{
  char **items;
  size_t count;
};
#define BERTH_AUTO_NAMES BERTH_CLEANUP (berth_names_clear)
void berth_names_clear (struct berth_names *names);
int berth_names_of_backends (struct berth_host *host, struct berth_names *out, struct berth_error *error);

/* Whether LABELS has all of WANTED; a NULL value matches any. */
bool berth_labels_match (const struct berth_record_pairs *labels, const struct berth_pair *wanted, uint64_t count);

/* The value of a label of METADATA, or NULL. */
const char *berth_pairs_value (const struct berth_record_pairs *pairs, const char *name);

#endif

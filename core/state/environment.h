/* environment.h - what is on record of one environment: a specification with a name. */
#ifndef CORE_STATE_ENVIRONMENT_H
#define CORE_STATE_ENVIRONMENT_H

#include "core/state/store.h"

/* One line of it.  What the kinds, names and values mean is the manager's; VALUE may be NULL. */
struct berth_environment_item
{
  int64_t kind;
  char *name;
  char *value;
};

/* Owns its texts. */
struct berth_environment_record
{
  char *owner;
  char *name; /* unique per owner */
  int64_t created_wall_ms;
  struct berth_environment_item *items; /* in the order they were added */
  size_t count;
};

#define BERTH_AUTO_ENVIRONMENT BERTH_CLEANUP (berth_environment_record_clear)
void berth_environment_record_clear (struct berth_environment_record *record);
/* 0, or -1 with errno ENOMEM. */
int berth_environment_record_add (struct berth_environment_record *record, int64_t kind, const char *name,
                                  const char *value);

/* In place of the one that had its name. */
int berth_store_save_environment (struct berth_store *store, const struct berth_environment_record *record,
                                  struct berth_error *error);
/* NOT_FOUND, for both. */
int berth_store_load_environment (struct berth_store *store, const char *owner, const char *name,
                                  struct berth_environment_record *out, struct berth_error *error);
int berth_store_remove_environment (struct berth_store *store, const char *owner, const char *name,
                                    struct berth_error *error);
/* The names of those of OWNER, in their order. */
int berth_store_list_environments (struct berth_store *store, const char *owner, struct berth_store_ids *out,
                                   struct berth_error *error);

#endif

/* place.h - a directory with a store in it, for one test. */
#ifndef CORE_STATE_TESTS_PLACE_H
#define CORE_STATE_TESTS_PLACE_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/state/store.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/tests/runner.h"

struct place
{
  char directory[256];
  struct berth_store *store;
};
/* PLACE place = { .store = NULL }; place_make (&place); - gone at the end of the scope. */
#define PLACE BERTH_CLEANUP (place_leave) struct place

extern const struct berth_store_quota place_ample;

void place_make (struct place *place);
void place_leave (struct place *place);
void place_open (struct place *place);
void place_reopen (struct place *place);
/* The caller frees it. */
char *place_file (const struct place *place, const char *name);

void place_record (struct berth_record *record, const char *id, const char *owner, const char *name,
                   const char *request);
int place_reserve (struct berth_store *store, const char *id, const char *owner, const char *name, const char *request,
                   struct berth_error *error);

/* Opening is refused with a text that has PART in it, and with a hint. */
void place_check_refused (const char *directory, const char *part);
/* The same, and the database is byte for byte as it was. */
void place_check_untouched (const struct place *place, const char *part);
/* SQL on berth.db, past the store. */
void place_execute (const struct place *place, const char *sql);

#endif

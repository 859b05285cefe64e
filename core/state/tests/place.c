#include "core/state/tests/place.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/base/fs.h"
#include "sdk/base/string.h"

const struct berth_store_quota place_ample = { 1000, 1000 };

void
place_make (struct place *place)
{
  const char *base = getenv ("TMPDIR");

  snprintf (place->directory, sizeof place->directory, "%s/berth-test-XXXXXX", base != NULL ? base : "/tmp");
  CU_ASSERT_PTR_NOT_NULL_FATAL (mkdtemp (place->directory));
}

void
place_leave (struct place *place)
{
  berth_store_close (place->store);
  berth_fs_remove_tree (AT_FDCWD, place->directory);
}

void
place_open (struct place *place)
{
  struct berth_error error = { 0 };

  if (berth_store_open (place->directory, &place->store, &error) != 0)
    fprintf (stderr, "%s\n", error.message);
  CU_ASSERT_PTR_NOT_NULL_FATAL (place->store);
}

void
place_reopen (struct place *place)
{
  berth_store_close (BERTH_STEAL_POINTER (place->store));
  place_open (place);
}

char *
place_file (const struct place *place, const char *name)
{
  return berth_string_format ("%s/%s", place->directory, name);
}

void
place_record (struct berth_record *record, const char *id, const char *owner, const char *name, const char *request)
{
  *record = (struct berth_record) { .id = strdup (id), .owner = strdup (owner), .backend = strdup ("fake"),
                                    .name = name != NULL ? strdup (name) : NULL,
                                    .request_id = request != NULL ? strdup (request) : NULL,
                                    .state = BERTH_RECORD_CREATING, .generation = 1 };
}

int
place_reserve (struct berth_store *store, const char *id, const char *owner, const char *name, const char *request,
         struct berth_error *error)
{
  BERTH_AUTO_RECORD struct berth_record record;
  BERTH_AUTO_FREE char *existing = NULL;

  place_record (&record, id, owner, name, request);
  return berth_store_reserve (store, &record, &place_ample, &existing, error);
}

void
place_check_refused (const char *directory, const char *part)
{
  struct berth_store *store = NULL;
  struct berth_error error = { 0 };

  CU_ASSERT_EQUAL (berth_store_open (directory, &store, &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_CONFIGURATION);
  if (strstr (error.message, part) == NULL)
    fprintf (stderr, "got \"%s\", want \"%s\" in it\n", error.message, part);
  CU_ASSERT_PTR_NOT_NULL (strstr (error.message, part));
  CU_ASSERT_NOT_EQUAL (error.hint[0], '\0');
  berth_store_close (store);
}

void
place_check_untouched (const struct place *place, const char *part)
{
  BERTH_AUTO_FREE char *path = place_file (place, "berth.db");
  BERTH_AUTO_BUFFER struct berth_buffer before = { 0 }, after = { 0 };

  CU_ASSERT_EQUAL (berth_fs_read (AT_FDCWD, path, &before, 64 << 20), 0);
  place_check_refused (place->directory, part);
  CU_ASSERT_EQUAL (berth_fs_read (AT_FDCWD, path, &after, 64 << 20), 0);
  CU_ASSERT_EQUAL_FATAL (before.size, after.size);
  CU_ASSERT_EQUAL (memcmp (before.data, after.data, after.size), 0);
}

void
place_execute (const struct place *place, const char *sql)
{
  BERTH_AUTO_FREE char *path = place_file (place, "berth.db");
  sqlite3 *db = NULL;

  CU_ASSERT_EQUAL (sqlite3_open (path, &db), SQLITE_OK);
  CU_ASSERT_EQUAL (sqlite3_exec (db, sql, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close (db);
}

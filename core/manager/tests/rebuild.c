/* Records made again from labels, and installations that do not touch each other. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/manager/snapshot_file.h"
#include "core/manager/tests/place.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"

/* ---- what rebuilding tells ---- */

struct told
{
  unsigned int count[5]; /* by kind */
  char detail[256];      /* of the last that was not recorded */
};

static void
take (void *context, const struct berth_recovery *what)
{
  struct told *told = context;

  told->count[what->kind]++;
  if (what->kind > BERTH_RECOVERY_RECORDED)
    snprintf (told->detail, sizeof told->detail, "%s", what->detail);
}

static int
rebuild (const struct place *place, struct told *told, struct berth_error *error)
{
  struct berth_host_options options = BERTH_HOST_OPTIONS_INIT;
  BERTH_AUTO_FREE char *config = berth_string_format ("%s/berth.conf", place->directory);

  *told = (struct told) { 0 };
  options.flags = BERTH_HOST_ALLOW_TEST_BACKENDS;
  options.state_dir = place->state;
  options.runtime_dir = place->runtime;
  options.config_file = config;
  options.owner = "me";
  return berth_host_rebuild (&options, take, told, error);
}

static void
close_host (struct place *place)
{
  berth_host_close (BERTH_STEAL_POINTER (place->host));
}

static void
spoil (const struct place *place)
{
  place_write (place, "state/berth.db", "no database any more, and far from one");
}

static char *
make (const struct place *place, const char *name, const char *label)
{
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
  struct berth_pair pair = { "team", label, 0, 0 };
  struct berth_sandbox *sandbox = NULL;

  options.name = name;
  options.labels = &pair;
  options.label_count = 1;
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place->host, &options, &sandbox, NULL), 0);
  char *id = strdup (berth_sandbox_id (sandbox));
  berth_sandbox_close (sandbox);
  return id;
}

static void
check_record (const struct place *place, const char *name, const char *id)
{
  BERTH_AUTO_RECORD struct berth_record record = { 0 };

  CU_ASSERT_EQUAL_FATAL (berth_store_load (place->host->store, id, BERTH_STORE_PAIRS, &record, NULL), 0);
  CU_ASSERT_STRING_EQUAL (record.name, name);
  CU_ASSERT_STRING_EQUAL (record.owner, "me");
  CU_ASSERT_EQUAL (record.native_count, 1);
  CU_ASSERT_EQUAL (record.labels.count, 1);
  CU_ASSERT_STRING_EQUAL (record.labels.items[0].value, "blue");
  CU_ASSERT_EQUAL (record.tier, BERTH_TIER_CONTAINER);
  CU_ASSERT_TRUE (record.memory_bytes > 0);
  CU_ASSERT_EQUAL (record.network_default, BERTH_DENY);
  CU_ASSERT_TRUE (record.deadline_wall_ms > 0);
}

static void
test_rebuild (void)
{
  PLACE place;
  struct told told;
  struct berth_error error = { 0 };
  struct berth_sandbox *sandbox = NULL;

  place_make (&place, "fake");
  place_open (&place);
  BERTH_AUTO_FREE char *first = make (&place, "one", "blue"), *second = make (&place, "two", "blue");
  CU_ASSERT_EQUAL (berth_sandbox_open (place.host, "two", &sandbox, NULL), 0);
  CU_ASSERT_EQUAL (berth_sandbox_stop (sandbox, NULL, NULL), 0);
  berth_sandbox_close (BERTH_STEAL_POINTER (sandbox));
  close_host (&place);
  CU_ASSERT_EQUAL (rebuild (&place, &told, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_CONFLICT, "is sound"));
  spoil (&place);
  CU_ASSERT_PTR_NULL (place_host (&place, "me", &error));
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_CONFIGURATION, "is damaged"));
  CU_ASSERT_PTR_NOT_NULL (strstr (error.hint, "berth doctor --rebuild"));
  CU_ASSERT_EQUAL (rebuild (&place, &told, &error), 0);
  CU_ASSERT_EQUAL (told.count[BERTH_RECOVERY_ASIDE], 1);
  CU_ASSERT_EQUAL (told.count[BERTH_RECOVERY_RECORDED], 2);
  CU_ASSERT_EQUAL (told.count[BERTH_RECOVERY_LEFT], 0);
  place_open (&place);
  CU_ASSERT_EQUAL (place_records (&place), 2);
  CU_ASSERT_EQUAL (place_sightings (&place), 2);
  check_record (&place, "one", first);
  CU_ASSERT_EQUAL (berth_sandbox_open (place.host, "one", &sandbox, NULL), 0);
  CU_ASSERT_EQUAL (place_run (sandbox, "exit 4", NULL), 4);
  berth_sandbox_cleanup (&sandbox);
  BERTH_AUTO_RECORD struct berth_record stopped = { 0 };
  CU_ASSERT_EQUAL (berth_store_load (place.host->store, second, 0, &stopped, NULL), 0);
  CU_ASSERT_EQUAL (stopped.state, BERTH_RECORD_STOPPED);
  CU_ASSERT_TRUE (stopped.left_ms > 0);
  CU_ASSERT_EQUAL (place_sightings (&place), 1);
}

/* Half-made things are recorded too, so that somebody can remove them; a backend that cannot be
 * asked is told. */
static void
die_in_create (const struct place *place, int number)
{
  (void) number;
  berth_sandbox_create (place_own_host (place), NULL, &(struct berth_sandbox *) { NULL }, NULL);
}

static void
test_half_made (void)
{
  PLACE place;
  struct told told;
  struct berth_sandbox *sandbox = NULL;
  struct berth_destruction outcome = { 0 };

  place_make (&place, "fake");
  place_faults (&place, "lifecycle.create.6=kill");
  place_child (die_in_create, &place, 0);
  place_faults (&place, "lifecycle.list_ids=fail:UNREACHABLE");
  spoil (&place);
  CU_ASSERT_EQUAL (rebuild (&place, &told, NULL), 0);
  CU_ASSERT_TRUE (told.count[BERTH_RECOVERY_UNREACHABLE] >= 1);
  CU_ASSERT_EQUAL (told.count[BERTH_RECOVERY_RECORDED], 0);
  place_faults (&place, "");
  spoil (&place);
  CU_ASSERT_EQUAL (rebuild (&place, &told, NULL), 0);
  CU_ASSERT_EQUAL (told.count[BERTH_RECOVERY_RECORDED], 1);
  place_open (&place);
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_open (place.host, "sb-", &sandbox, NULL), 0);
  CU_ASSERT_EQUAL (berth_sandbox_destroy (sandbox, &outcome, NULL), 0);
  CU_ASSERT_EQUAL (outcome.outcome, BERTH_OUTCOME_CONFIRMED);
  berth_sandbox_close (sandbox);
  CU_ASSERT_EQUAL (place_sightings (&place), 0);
}

/* ---- another installation with the same backend ---- */

static void
test_foreign (void)
{
  PLACE place;
  struct told told;

  place_make (&place, "fake");
  place_open (&place);
  free (make (&place, "theirs", "blue"));
  place_become_another (&place);
  BERTH_AUTO_FREE char *ours = make (&place, "ours", "blue");
  CU_ASSERT_EQUAL (place_sightings (&place), 2);
  close_host (&place);
  spoil (&place);
  CU_ASSERT_EQUAL (rebuild (&place, &told, NULL), 0);
  CU_ASSERT_EQUAL (told.count[BERTH_RECOVERY_RECORDED], 1);
  CU_ASSERT_EQUAL (told.count[BERTH_RECOVERY_LEFT], 1);
  CU_ASSERT_PTR_NOT_NULL (strstr (told.detail, "another installation"));
  place_open (&place);
  CU_ASSERT_EQUAL (place_records (&place), 1);
  CU_ASSERT_EQUAL (place_sightings (&place), 2);
  check_record (&place, "ours", ours);
}

/* ---- snapshots ---- */

static void
keep_id (void *context, const struct berth_snapshot_info *info)
{
  snprintf (context, 64, "%s", info->id);
}

static void
save (struct berth_sandbox *sandbox, const char *name, char id[64])
{
  struct berth_snapshot_options options = BERTH_SNAPSHOT_OPTIONS_INIT;
  struct place_text text = { name, strlen (name) };

  CU_ASSERT_EQUAL (berth_file_write (sandbox, "file", NULL, text.size, place_give, &text, NULL), 0);
  options.name = name;
  CU_ASSERT_EQUAL (berth_sandbox_snapshot (sandbox, &options, keep_id, id, NULL), 0);
}

static char *
file_of (const struct place *place, const char *id)
{
  return berth_string_format ("%s/snapshots/%s.tar.zst", place->state, id);
}

/* Another byte AT (from the end when negative). */
static void
damage (const struct place *place, const char *id, off_t at)
{
  BERTH_AUTO_FREE char *path = file_of (place, id);
  BERTH_AUTO_FD int fd = open (path, O_RDWR | O_CLOEXEC);
  char byte = 0;

  CU_ASSERT_TRUE_FATAL (fd >= 0);
  off_t where = lseek (fd, at, at < 0 ? SEEK_END : SEEK_SET);
  CU_ASSERT_EQUAL (pread (fd, &byte, 1, where), 1);
  byte ^= 0x20;
  CU_ASSERT_EQUAL (pwrite (fd, &byte, 1, where), 1);
}

static void
check_restored (const struct place *place, const char *snapshot)
{
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  BERTH_AUTO_BUFFER struct berth_buffer content = { 0 };

  options.snapshot = snapshot;
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place->host, &options, &sandbox, NULL), 0);
  CU_ASSERT_EQUAL (berth_file_read (sandbox, "file", NULL, place_take, &content, NULL), 0);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&content), snapshot);
}

static void
check_snapshot (void *context, const struct berth_snapshot_info *info)
{
  ++*(int *) context;
  CU_ASSERT_STRING_EQUAL (info->name, "whole");
  CU_ASSERT_STRING_EQUAL (info->owner, "me");
  CU_ASSERT_STRING_EQUAL (info->backend, "fake");
  CU_ASSERT_EQUAL (info->consistent, 1);
  CU_ASSERT_TRUE (info->entries >= 1 && info->tar_bytes > 0 && info->created_wall_ms > 0);
}

/* Each that is whole comes back as it was; the others are told, and their files stay. */
static void
test_snapshots (void)
{
  static const char *const names[] = { "whole", "packed", "described", "silent", "renamed" };
  enum { WHOLE, PACKED, DESCRIBED, SILENT, RENAMED, ALL };
  PLACE place;
  struct told told;
  struct berth_sandbox *sandbox = NULL;
  char ids[ALL][64];
  int seen = 0;

  place_make (&place, "fake");
  place_open (&place);
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, NULL, &sandbox, NULL), 0);
  for (int i = 0; i < ALL; i++)
    save (sandbox, names[i], ids[i]);
  berth_sandbox_cleanup (&sandbox);
  close_host (&place);
  damage (&place, ids[PACKED], 12);
  damage (&place, ids[DESCRIBED], -100);
  BERTH_AUTO_FREE char *silent = file_of (&place, ids[SILENT]), *renamed = file_of (&place, ids[RENAMED]);
  BERTH_AUTO_FREE char *other = file_of (&place, "sn-aaaaaaaaaaaaaaaaaaaa");
  CU_ASSERT_EQUAL (truncate (silent, 40), 0);
  CU_ASSERT_EQUAL (rename (renamed, other), 0);
  spoil (&place);
  CU_ASSERT_EQUAL (rebuild (&place, &told, NULL), 0);
  CU_ASSERT_EQUAL (told.count[BERTH_RECOVERY_RECORDED], 1);
  CU_ASSERT_EQUAL (told.count[BERTH_RECOVERY_LEFT], 4);
  CU_ASSERT_EQUAL (access (silent, F_OK), 0);
  CU_ASSERT_EQUAL (access (other, F_OK), 0);
  place_open (&place);
  CU_ASSERT_EQUAL (berth_snapshot_inspect (place.host, ids[WHOLE], check_snapshot, &seen, NULL), 0);
  CU_ASSERT_EQUAL (seen, 1);
  CU_ASSERT_EQUAL (berth_snapshot_inspect (place.host, "packed", check_snapshot, &seen, NULL), -1);
  check_restored (&place, "whole");
  CU_ASSERT_EQUAL (berth_snapshot_remove (place.host, "whole", NULL), 0);
}

static void
test_foreign_snapshot (void)
{
  PLACE place;
  struct told told;
  struct berth_sandbox *sandbox = NULL;
  char id[64];

  place_make (&place, "fake");
  place_open (&place);
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, NULL, &sandbox, NULL), 0);
  save (sandbox, "theirs", id);
  berth_sandbox_cleanup (&sandbox);
  place_become_another (&place);
  close_host (&place);
  spoil (&place);
  CU_ASSERT_EQUAL (rebuild (&place, &told, NULL), 0);
  CU_ASSERT_EQUAL (told.count[BERTH_RECOVERY_RECORDED], 0);
  CU_ASSERT_EQUAL (told.count[BERTH_RECOVERY_LEFT], 1);
  CU_ASSERT_PTR_NOT_NULL (strstr (told.detail, "another installation"));
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "D-120 what is ours is on record again, and nothing is destroyed", test_rebuild },
    { "D-116 half-made ones are recorded, a silent backend is told", test_half_made },
    { "D-114 another installation's sandbox is left alone", test_foreign },
    { "D-120 snapshots whose files are whole are on record again", test_snapshots },
    { "D-114 another installation's snapshot is left alone", test_foreign_snapshot },
    { NULL, NULL },
  };

  return berth_test_main ("rebuild", tests);
}

/* Making the records again, from the labels of what is ours and from what the files of snapshots say of
 * themselves, after the database was lost or damaged.  Nothing is destroyed, and what cannot be asked now is told. */
#include "core/manager/rebuild.h"

#include <string.h>

#include "core/manager/answer.h"
#include "core/manager/expiry.h"
#include "core/manager/ids.h"
#include "core/manager/info.h"
#include "core/manager/inventory.h"
#include "core/manager/snapshot_file.h"
#include "sdk/base/clock.h"
#include "sdk/base/process.h"
#include "sdk/base/string.h"

struct rebuilding
{
  struct berth_host *host;
  void (*visit) (void *context, const struct berth_recovery *what);
  void *context;
};

static void
tell (struct rebuilding *rebuilding, uint32_t kind, const char *backend, const struct berth_record *record,
      const char *native_id, const char *detail)
{
  const struct berth_recovery what = {
    .struct_size = sizeof what,
    .kind = kind,
    .backend = backend,
    .id = record != NULL ? record->id : NULL,
    .name = record != NULL ? record->name : NULL,
    .state = record != NULL ? berth_record_state_name (record->state) : NULL,
    .native_id = native_id,
    .detail = detail,
  };

  rebuilding->visit (rebuilding->context, &what);
}

/* ---- one record ---- */

static int64_t
state_of (const struct berth_seen *seen)
{
  if (seen->partial)
    return BERTH_RECORD_FAILED;
  switch (seen->life)
    {
    case BERTH_LIFE_RUNNING:
      return BERTH_RECORD_RUNNING;
    case BERTH_LIFE_PAUSED:
      return BERTH_RECORD_PAUSED;
    case BERTH_LIFE_STOPPED:
      return BERTH_RECORD_STOPPED;
    default:
      return BERTH_RECORD_FAILED;
    }
}

/* "ID.7" is the seventh. */
static int64_t
generation_of (const struct berth_seen *seen)
{
  size_t size = strlen (seen->sandbox_id);
  int64_t generation = 1;

  if (berth_string_starts_with (seen->native_id, seen->sandbox_id) && seen->native_id[size] == '.')
    (void) berth_string_to_int64 (seen->native_id + size + 1, 1, INT32_MAX, &generation);
  return generation;
}

/* The end that its runtime knows, else as if it had been made now: nothing lives for ever because
 * its end was forgotten. */
static void
set_end (const struct berth_host *host, const struct berth_seen *seen, struct berth_record *record)
{
  int64_t left_ms = seen->expiry.kind == BERTH_EXPIRES_AT ? seen->expiry.remaining_ms : host->limits.default_ttl;

  record->ttl_ms = host->limits.default_ttl;
  if (record->state == BERTH_RECORD_PAUSED || record->state == BERTH_RECORD_STOPPED)
    {
      record->left_ms = left_ms > 1 ? left_ms : 1;
      return;
    }
  berth_expiry_set (record, left_ms);
}

/* The user's labels, without those that the host added. */
static int
set_labels (const struct berth_seen *seen, struct berth_record *record)
{
  BERTH_AUTO_FREE struct berth_pair *labels = calloc (seen->metadata.count + 1, sizeof *labels);
  uint64_t count = 0;

  for (uint64_t i = 0; labels != NULL && i < seen->metadata.count; i++)
    if (!berth_string_starts_with (seen->metadata.items[i].name, "io.berth."))
      labels[count++] = seen->metadata.items[i];
  return labels != NULL ? berth_record_set_pairs (&record->labels, labels, count) : -1;
}

static int
fill (const struct berth_host *host, const char *backend, const struct berth_seen *seen, struct berth_record *record)
{
  const char *owner = berth_pairs_value (&seen->metadata, BERTH_LABEL_OWNER);
  const char *name = berth_pairs_value (&seen->metadata, BERTH_LABEL_NAME);
  char boot_id[BERTH_BOOT_ID_SIZE] = "";

  (void) berth_boot_id (boot_id);
  *record = (struct berth_record) {
    .id = strdup (seen->sandbox_id),
    .owner = strdup (owner != NULL ? owner : host->owner),
    .name = name != NULL && berth_name_check (name, NULL) == 0 ? strdup (name) : NULL,
    .backend = strdup (backend),
    .assignment_id = strdup (seen->assignment_id),
    .boot_id = strdup (boot_id),
    .state = state_of (seen),
    .generation = generation_of (seen),
    .unkept = 1, /* nobody knows what it was made with */
    .created_wall_ms = seen->created_wall_ms != 0 ? seen->created_wall_ms : berth_clock_wall_ms (),
  };
  set_end (host, seen, record);
  return record->id == NULL || record->owner == NULL || record->backend == NULL || record->assignment_id == NULL
                 || record->boot_id == NULL || set_labels (seen, record) != 0
             ? -1
             : 0;
}

/* What is in force, where the backend still says so. */
static void
ask_effective (struct berth_instance *instance, const struct berth_record_native *native, struct berth_record *record)
{
  struct berth_answer answer = { 0 };
  struct berth_native named = berth_native_of (instance, native);

  if (berth_answer_ask (instance, &named, &answer) == 0)
    berth_answer_record (&answer, instance, record, NULL);
  berth_answer_clear (&answer);
}

/* The name may have become somebody else's; the sandbox has its id then. */
static int
insert (struct berth_host *host, struct berth_record *record, struct berth_error *error)
{
  const struct berth_store_quota none = { INT64_MAX, INT64_MAX };
  BERTH_AUTO_FREE char *existing = NULL;

  if (berth_store_reserve (host->store, record, &none, &existing, error) == 0)
    return 0;
  if (error->code != BERTH_E_CONFLICT || record->name == NULL)
    return -1;
  free (BERTH_STEAL_POINTER (record->name));
  return berth_store_reserve (host->store, record, &none, &existing, error);
}

static int
record_seen (struct rebuilding *rebuilding, struct berth_instance *instance, const struct berth_seen *seen,
             struct berth_error *error)
{
  struct berth_host *host = rebuilding->host;
  BERTH_AUTO_RECORD struct berth_record record = { 0 }, known = { 0 };
  struct berth_record_native native = { seen->native_id, seen->assignment_id, generation_of (seen), NULL, 0 };
  const char *backend = berth_instance_name (instance);
  uint32_t network = 0; /* not known */

  if (fill (host, backend, seen, &record) != 0
      || berth_record_add_native (&record, native.id, native.assignment_id, native.generation, NULL, 0) != 0)
    return berth_no_memory (error);
  ask_effective (instance, &native, &record);
  berth_info_read_network (instance, &record, &network);
  record.network_default = network;
  /* several of one sandbox: a replacement was being made */
  if (berth_store_load (host->store, record.id, 0, &known, NULL) != 0 && insert (host, &record, error) != 0)
    return -1;
  if (berth_store_add_native (host->store, record.id, &native, error) != 0)
    return -1;
  tell (rebuilding, BERTH_RECOVERY_RECORDED, backend, &record, seen->native_id,
        seen->partial ? "it is half-made" : "recorded again from its labels");
  return 0;
}

/* ---- all of them ---- */

static const char *
why_left (struct berth_ownership ownership)
{
  switch (ownership.claimant)
    {
    case BERTH_FOREIGN:
      return "it belongs to another installation";
    case BERTH_UNCLAIMED:
      return "its labels name nobody";
    default:
      return "its labels cannot be read";
    }
}

static int
rebuild_backend (struct rebuilding *rebuilding, struct berth_instance *instance, struct berth_error *error)
{
  BERTH_AUTO_INVENTORY struct berth_inventory inventory = { 0 };
  const char *backend = berth_instance_name (instance);
  struct berth_error failed = { 0 };

  if (berth_inventory_read (rebuilding->host, instance, BERTH_CONTROL_MS, &inventory, &failed) != 0)
    {
      tell (rebuilding, BERTH_RECOVERY_UNREACHABLE, backend, NULL, NULL, failed.message);
      return 0;
    }
  for (size_t i = 0; i < inventory.count; i++)
    if (inventory.items[i].ownership.claimant != BERTH_MINE)
      tell (rebuilding, BERTH_RECOVERY_LEFT, backend, NULL, inventory.items[i].native_id,
            why_left (inventory.items[i].ownership));
    else if (record_seen (rebuilding, instance, &inventory.items[i], error) != 0)
      return -1;
  return 0;
}

/* ---- snapshots ---- */

static void
tell_snapshot (const struct rebuilding *rebuilding, uint32_t kind, const char *id,
               const struct berth_snapshot_record *record, const char *detail)
{
  const struct berth_recovery what = {
    .struct_size = sizeof what,
    .kind = kind,
    .backend = record->backend,
    .id = id,
    .name = record->name,
    .detail = detail,
  };

  rebuilding->visit (rebuilding->context, &what);
}

/* The name may have become somebody else's here too. */
static int
insert_snapshot (struct berth_host *host, struct berth_snapshot_record *record, struct berth_error *error)
{
  const struct berth_store_quota none = { INT64_MAX, INT64_MAX };

  if (berth_store_reserve_snapshot (host->store, record, &none, error) == 0)
    return 0;
  if (error->code != BERTH_E_CONFLICT || record->name == NULL)
    return -1;
  free (BERTH_STEAL_POINTER (record->name));
  return berth_store_reserve_snapshot (host->store, record, &none, error);
}

static void
record_file (void *context, const char *id)
{
  const struct rebuilding *rebuilding = context;
  BERTH_AUTO_SNAPSHOT struct berth_snapshot_record record = { 0 };
  struct berth_error error = { 0 };

  if (!berth_id_is_valid (id, "sn-", BERTH_ID_CHARACTERS))
    return;
  if (berth_snapshot_file_recall (rebuilding->host, id, &record, &error) != 0
      || insert_snapshot (rebuilding->host, &record, &error) != 0)
    tell_snapshot (rebuilding, BERTH_RECOVERY_LEFT, id, &record, error.message);
  else
    tell_snapshot (rebuilding, BERTH_RECOVERY_RECORDED, id, &record, "a snapshot, recorded again from its file");
}

int
berth_rebuild_records (struct berth_host *host, const char *aside,
                       void (*visit) (void *context, const struct berth_recovery *what), void *context,
                       struct berth_error *error)
{
  struct rebuilding rebuilding = { host, visit, context };
  BERTH_AUTO_NAMES struct berth_names names = { 0 };

  tell (&rebuilding, BERTH_RECOVERY_ASIDE, NULL, NULL, NULL, aside);
  if (berth_names_of_backends (host, &names, error) != 0)
    return -1;
  for (size_t i = 0; i < names.count; i++)
    {
      struct berth_instance *instance = NULL;
      struct berth_error failed = { 0 };
      if (berth_registry_instance (host->registry, names.items[i], "`berth doctor --rebuild`", &instance, &failed) != 0)
        tell (&rebuilding, BERTH_RECOVERY_UNREACHABLE, names.items[i], NULL, NULL, failed.message);
      else if (rebuild_backend (&rebuilding, instance, error) != 0)
        return -1;
    }
  return berth_snapshot_file_list (host, true, record_file, &rebuilding, error);
}

/* snapshots.c - the groups `snapshots` and `fork`. */
#include <fcntl.h>
#include <sys/stat.h>

#include "plugins/fake/tree.h"
#include "sdk/base/fs.h"
#include "sdk/base/path.h"
#include "sdk/base/string.h"

static int
needs_snapshots (struct berth_call *call, struct berth_state *state)
{
  if ((state->capabilities & BERTH_CAP_SNAPSHOT_MEMORY) != 0)
    return 0;
  return fake_needs (call, state, BERTH_CAP_SNAPSHOT_DISK, "SNAPSHOT_DISK");
}

static int
tell (const char *id, const struct berth_json *record, const struct berth_snapshot_sink *sink)
{
  struct berth_snapshot snapshot = { .struct_size = sizeof snapshot,
                                     .kind = (uint32_t) fake_number (record, "kind"),
                                     .has = BERTH_SNAPSHOT_CONSISTENT | BERTH_SNAPSHOT_BYTES | BERTH_SNAPSHOT_CREATED,
                                     .snapshot_id = id,
                                     .sandbox_id = fake_text (record, "sandbox_id"),
                                     .installation_id = fake_text (record, "installation_id"),
                                     .bytes = (uint64_t) fake_number (record, "bytes"),
                                     .created_wall_ms = fake_number (record, "created") };

  return sink->snapshot (sink->context, &snapshot);
}

static struct berth_json *
snapshot_record (struct fake_box *box, const char *name, uint64_t bytes)
{
  BERTH_AUTO_JSON struct berth_json *record = berth_json_new_object ();
  int memory = (box->state->capabilities & BERTH_CAP_SNAPSHOT_MEMORY) != 0
               && fake_number (box->record, "life") != BERTH_LIFE_STOPPED;

  if (berth_json_set_string (record, "sandbox_id", fake_text (box->record, "sandbox_id")) < 0
      || berth_json_set_string (record, "installation_id", fake_text (box->record, "installation_id")) < 0
      || berth_json_set_string (record, "name", name) < 0
      || berth_json_set_int64 (record, "kind", memory ? BERTH_SNAPSHOT_KIND_MEMORY : BERTH_SNAPSHOT_KIND_DISK) < 0
      || berth_json_set_int64 (record, "created", fake_now_ms (box->state)) < 0
      || berth_json_set_int64 (record, "bytes", (int64_t) bytes) < 0)
    return NULL;
  return BERTH_STEAL_POINTER (record);
}

/* Fills the folder of a snapshot; its record comes last, and without one it is none. */
static int
fill_snapshot (struct berth_call *call, struct fake_box *box, int folder, const char *name,
               struct berth_json **record)
{
  uint64_t bytes = 0;

  if (fake_tree_copy (call, box->directory, "tree", folder, "tree") < 0
      || fake_tree_bytes (call, folder, "tree", &bytes) < 0)
    return -1;
  *record = snapshot_record (box, name, bytes);
  if (*record == NULL)
    return fake_failed (call, "make the record of a snapshot");
  if (fake_number (*record, "kind") == BERTH_SNAPSHOT_KIND_MEMORY
      && faccessat (box->directory, "processes", F_OK, 0) == 0
      && fake_tree_copy (call, box->directory, "processes", folder, "processes") < 0)
    return -1;
  return fake_json_save (folder, "record.json", *record) < 0 ? fake_failed (call, "write the record of a snapshot") : 0;
}

static int
make_snapshot (struct berth_call *call, struct fake_box *box, const char *name, char id[32],
               struct berth_json **record)
{
  BERTH_AUTO_FREE char *path = NULL;
  BERTH_AUTO_FD int folder = -1;

  if (berth_id_generate ("snap-", 20, id, 32) < 0)
    return fake_failed (call, "make an id");
  path = berth_path_join ("snapshots", id);
  if (path == NULL || mkdirat (box->state->directory, path, 0700) < 0)
    return fake_failed (call, "make the folder of a snapshot");
  folder = openat (box->state->directory, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (folder < 0)
    fake_failed (call, "open the folder of a snapshot");
  else if (fill_snapshot (call, box, folder, name, record) == 0)
    return 0;
  (void) berth_fs_remove_tree (box->state->directory, path);
  return -1;
}

static int
fake_save (struct berth_call *call, struct berth_state *state, const struct berth_native *native, const char *name,
           const struct berth_options *options, const struct berth_snapshot_sink *sink)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  BERTH_AUTO_JSON struct berth_json *record = NULL;
  char id[32];

  if (needs_snapshots (call, state) < 0
      || (options != NULL && BERTH_REFUSE_UNKNOWN (call, OPTIONS, options->asks, 0) < 0)
      || fake_point (call, state, "snapshots.save") < 0 || fake_box_for_native (call, state, native, &box) < 0
      || make_snapshot (call, &box, name, id, &record) < 0)
    return -1;
  fake_box_close (&box);
  return tell (id, record, sink);
}

static struct berth_json *
load_snapshot (struct berth_state *state, const char *id)
{
  BERTH_AUTO_FREE char *path = fake_id_is_valid (id) ? berth_string_format ("snapshots/%s/record.json", id) : NULL;

  return path != NULL ? fake_json_load (state->directory, path) : NULL;
}

static int
fake_restore (struct berth_call *call, struct berth_state *state, const char *snapshot_id,
              const struct berth_spec *spec, const struct berth_create_sink *sink, struct berth_handle **out)
{
  struct fake_origin origin = { "snapshots.restore", snapshot_id, NULL, NULL };
  BERTH_AUTO_JSON struct berth_json *record = NULL;

  if (needs_snapshots (call, state) < 0)
    return -1;
  record = load_snapshot (state, snapshot_id);
  if (record == NULL)
    return call->services->fail (call, BERTH_E_SNAPSHOT_NOT_FOUND, "no snapshot `%s`", snapshot_id);
  return fake_create (call, state, spec, &origin, sink, out);
}

struct listing
{
  struct berth_call *call;
  struct berth_state *state;
  const struct berth_snapshot_sink *sink;
};

static int
list_one (void *context, const char *name)
{
  struct listing *listing = context;
  BERTH_AUTO_JSON struct berth_json *record = load_snapshot (listing->state, name);

  return record == NULL ? 0 : tell (name, record, listing->sink);
}

static int
fake_list (struct berth_call *call, struct berth_state *state, const struct berth_snapshot_sink *sink)
{
  struct listing listing = { call, state, sink };

  if (needs_snapshots (call, state) < 0 || fake_point (call, state, "snapshots.list") < 0)
    return -1;
  return fake_each_name (call, state, "snapshots", NULL, list_one, &listing);
}

static int
fake_remove (struct berth_call *call, struct berth_state *state, const char *snapshot_id)
{
  BERTH_AUTO_FREE char *path = fake_id_is_valid (snapshot_id) ? berth_path_join ("snapshots", snapshot_id) : NULL;
  BERTH_AUTO_FD int lock = -1;

  if (needs_snapshots (call, state) < 0 || fake_point (call, state, "snapshots.remove") < 0)
    return -1;
  if (path == NULL)
    return 0;
  lock = fake_lock (call, state);
  if (lock < 0)
    return -1;
  return berth_fs_remove_tree (state->directory, path) < 0 ? fake_failed (call, "remove a snapshot") : 0;
}

/* --- fork ----------------------------------------------------------------------------------------------------- */

struct child
{
  const struct berth_children_sink *sink;
  uint64_t index;
  int sink_failed;
};

static int
child_created (void *context, const struct berth_native *native)
{
  struct child *child = context;

  child->sink_failed = child->sink->created (child->sink->context, child->index, native) < 0;
  return child->sink_failed ? -1 : 0;
}

static int
child_effective (void *context, const struct berth_effective *effective)
{
  struct child *child = context;

  child->sink_failed = child->sink->effective (child->sink->context, child->index, effective) < 0;
  return child->sink_failed ? -1 : 0;
}

/* A child that fails is told, and does not fail the others; a sink that fails ends it all. */
static int
fork_child (struct berth_call *call, struct berth_state *state, const char *parent, const struct berth_spec *spec,
            struct child *child)
{
  const struct fake_origin origin = { "fork.fork", NULL, parent, NULL };
  const struct berth_create_sink sink = { sizeof sink, 0, child, child_created, child_effective };
  struct berth_handle *handle = NULL;
  char point[64];
  uint32_t code;

  snprintf (point, sizeof point, "fork.child.%llu", (unsigned long long) child->index);
  if (fake_point (call, state, point) == 0 && fake_create (call, state, spec, &origin, &sink, &handle) == 0)
    {
      fake_handle_free (handle);
      return 0;
    }
  if (child->sink_failed || call->services->cancelled (call) != 0)
    return -1;
  code = call->services->failed (call);
  call->services->forgive (call);
  return child->sink->failed (child->sink->context, child->index, code, "the copy could not be made");
}

static int
fake_fork_all (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
               const struct berth_spec *const *children, uint64_t count, const struct berth_children_sink *sink)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;

  if (fake_needs (call, state, BERTH_CAP_FORK, "FORK") < 0 || fake_point (call, state, "fork.fork") < 0
      || fake_box_for_native (call, state, native, &box) < 0)
    return -1;
  fake_box_close (&box);
  for (uint64_t i = 0; i < count; i++)
    {
      struct child child = { sink, i, 0 };

      if (fork_child (call, state, native->id, children[i], &child) < 0)
        return -1;
    }
  return 0;
}

const struct berth_snapshots_ops fake_snapshots = {
  .struct_size = sizeof fake_snapshots,
  .save = fake_save,
  .restore = fake_restore,
  .list = fake_list,
  .remove = fake_remove,
};

const struct berth_fork_ops fake_fork = {
  .struct_size = sizeof fake_fork,
  .fork = fake_fork_all,
};

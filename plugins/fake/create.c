/* create.c - making a sandbox, step by step, and undoing it.
 *
 * The steps, each a point of faults as lifecycle.create.N (restore, acquire and fork have the
 * same): 1 the id is on the host's disk, 2 the folder, 3 the record, 4 the files, 5 the secrets,
 * 6 it runs, 7 the private data are told, 8 what is in force is told.  Between 2 and 3 it is
 * half-made without labels, until 6 it is half-made with them.
 *
 * lifecycle.create=mute tells the id only at the end, as a service does whose answer may get lost.
 * The action `abandon[:CODE]` of a step fails without undoing; lifecycle.create=tier:NAME makes
 * the sandbox answer another tier than was validated. */
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "plugins/fake/tree.h"
#include "sdk/base/path.h"
#include "sdk/base/string.h"

#define UNDO_MS 5000

struct create
{
  struct berth_call *call;
  struct berth_state *state;
  const struct berth_spec *spec;
  const struct fake_origin *origin;
  const struct berth_create_sink *sink;
  struct berth_handle *handle;
  char token[32];
  unsigned int step;
  int abandoned;
};

static int
next_step (struct create *create)
{
  char point[64];

  create->step++;
  snprintf (point, sizeof point, "%s.%u", create->origin->point, create->step);
  if (fake_fault (create->state, point, "abandon", NULL))
    {
      create->abandoned = 1;
      return create->call->services->fail (create->call, BERTH_E_UNREACHABLE, "%s failed and left what it had made, "
                                           "as the setting `faults` asks", point);
    }
  return fake_point (create->call, create->state, point);
}

int
fake_tell_created (const struct berth_create_sink *sink, const char *id, const char *token)
{
  struct berth_native native = { .struct_size = sizeof native,
                                 .private_size = token != NULL ? (uint32_t) strlen (token) : 0,
                                 .id = id,
                                 .private_data = token };

  return sink->created (sink->context, &native);
}

struct berth_handle *
fake_handle_new (struct berth_call *call, struct berth_state *state, const struct fake_box *box)
{
  struct berth_handle *handle = calloc (1, sizeof *handle);

  if (handle != NULL)
    *handle = (struct berth_handle) { state, strdup (box->id), fake_number (box->record, "boot"), -1 };
  if (handle != NULL && handle->native_id != NULL)
    return handle;
  free (handle);
  fake_failed (call, "make a handle");
  return NULL;
}

/* --- the steps -------------------------------------------------------------------------------------------- */

static int
make_folder (struct create *create, struct fake_box *box)
{
  BERTH_AUTO_FREE char *path = berth_path_join ("sandboxes", create->spec->native_hint);

  box->state = create->state;
  snprintf (box->id, sizeof box->id, "%s", create->spec->native_hint);
  box->lock = fake_lock (create->call, create->state);
  if (box->lock < 0)
    return -1;
  if (path == NULL || mkdirat (create->state->directory, path, 0700) < 0)
    return errno == EEXIST ? create->call->services->fail (create->call, BERTH_E_CONFLICT,
                                                           "sandbox `%s` exists with another assignment", box->id)
                           : fake_failed (create->call, "make a sandbox's folder");
  box->directory = openat (create->state->directory, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  return box->directory < 0 ? fake_failed (create->call, "open a sandbox's folder") : 0;
}

static int
make_record (struct create *create, struct fake_box *box)
{
  char tier[64];

  if (berth_id_generate ("fake-", 20, create->token, sizeof create->token) < 0)
    return fake_failed (create->call, "make a token");
  create->call->services->redact (create->state->instance, create->token, strlen (create->token));
  box->record = fake_spec_record (create->state, create->spec);
  if (box->record == NULL || berth_json_set_string (box->record, "token", create->token) < 0
      || berth_json_set_int64 (box->record, "life", BERTH_LIFE_CREATING) < 0
      || (create->origin->pool != NULL && berth_json_set_string (box->record, "pool", create->origin->pool) < 0))
    return fake_failed (create->call, "make a record");
  if (fake_fault (create->state, create->origin->point, "tier", tier))
    (void) berth_json_set_int64 (box->record, "tier",
                                 strcmp (tier, "unknown") == 0 ? BERTH_TIER_UNKNOWN : BERTH_TIER_CONTAINER);
  return fake_box_save (create->call, box);
}

/* What was copied counts against the disk of the copy. */
static int
count_copy (struct create *create, struct fake_box *box)
{
  uint64_t bytes = 0;

  if (fake_tree_bytes (create->call, box->directory, "tree/workspace", &bytes) < 0)
    return -1;
  return fake_usage_change (create->call, box, "/workspace", (int64_t) bytes);
}

static int
make_files (struct create *create, struct fake_box *box)
{
  const char *snapshot = create->origin->snapshot;
  const char *name = snapshot != NULL ? snapshot : create->origin->sandbox;
  const char *folder = snapshot != NULL ? "snapshots" : "sandboxes";
  BERTH_AUTO_FREE char *tree = NULL;
  BERTH_AUTO_FREE char *processes = NULL;

  if (name == NULL)
    return fake_tree_make (create->call, box);
  tree = berth_string_format ("%s/%s/tree", folder, name);
  processes = berth_string_format ("%s/%s/processes", folder, name);
  if (tree == NULL || processes == NULL)
    return fake_failed (create->call, "copy a stored tree");
  if (fake_tree_copy (create->call, create->state->directory, tree, box->directory, "tree") < 0
      || count_copy (create, box) < 0)
    return -1;
  /* A snapshot has processes when it is one of memory; they go on where they were. */
  if (snapshot == NULL || faccessat (create->state->directory, processes, F_OK, 0) < 0)
    return 0;
  return fake_tree_copy (create->call, create->state->directory, processes, box->directory, "processes");
}

/* An OWNED sandbox ends when the lock on this file does. */
static int
make_owner (struct create *create, struct fake_box *box)
{
  if (fake_number (box->record, "owned") == 0)
    return 0;
  create->handle->owner = openat (box->directory, "owner", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (create->handle->owner < 0 || flock (create->handle->owner, LOCK_EX | LOCK_NB) < 0)
    return fake_failed (create->call, "lock the owner file");
  return 0;
}

static int
make_secrets (struct create *create, struct fake_box *box)
{
  BERTH_AUTO_JSON struct berth_json *secrets = fake_spec_secrets (create->spec);

  if (secrets == NULL)
    return fake_failed (create->call, "keep the secrets");
  if (berth_json_length (secrets) > 0 && fake_json_save (box->directory, "secrets.json", secrets) < 0)
    return fake_failed (create->call, "keep the secrets");
  return 0;
}

static int
make_running (struct create *create, struct fake_box *box)
{
  create->handle = fake_handle_new (create->call, create->state, box);
  if (create->handle == NULL || make_owner (create, box) < 0)
    return -1;
  if (berth_json_set_int64 (box->record, "life", BERTH_LIFE_RUNNING) < 0)
    return fake_failed (create->call, "make a record");
  fake_box_event (box, "created by %s", create->origin->point);
  return fake_box_save (create->call, box);
}

/* The lock is let go between the steps, so that a slow or hanging one keeps nobody else. */
static int
locked_step (struct create *create, int (*make) (struct create *create, struct fake_box *box))
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;

  if (create->step > 1)
    {
      int found = fake_box_find (create->call, create->state, create->spec->native_hint, &box);

      if (found < 0)
        return -1;
      if (found == 0)
        return create->call->services->fail (create->call, BERTH_E_SANDBOX_NOT_FOUND, "sandbox `%s` was destroyed "
                                             "while it was being made", create->spec->native_hint);
    }
  if (make (create, &box) < 0)
    return -1;
  fake_box_close (&box);
  return next_step (create);
}

static int
tell_effective (struct create *create)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  struct berth_effective effective;

  if (fake_tell_created (create->sink, create->spec->native_hint, create->token) < 0 || next_step (create) < 0
      || fake_box_open (create->call, create->state, create->spec->native_hint, &box) < 0)
    return -1;
  fake_effective_from_record (create->state, box.record, &effective);
  fake_box_close (&box);
  if (create->sink->effective (create->sink->context, &effective) < 0)
    return -1;
  return next_step (create);
}

static int
all_steps (struct create *create)
{
  if ((!fake_fault (create->state, create->origin->point, "mute", NULL)
       && fake_tell_created (create->sink, create->spec->native_hint, NULL) < 0)
      || next_step (create) < 0 || locked_step (create, make_folder) < 0
      || locked_step (create, make_record) < 0 || locked_step (create, make_files) < 0 || locked_step (create, make_secrets) < 0
      || locked_step (create, make_running) < 0)
    return -1;
  return tell_effective (create);
}

static void
undo (struct create *create)
{
  struct berth_call *shielded = create->call->services->shield (create->call, UNDO_MS);
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;

  if (fake_box_find (shielded, create->state, create->spec->native_hint, &box) == 1)
    (void) fake_box_remove (shielded, &box);
  create->call->services->unshield (shielded);
}

/* A repeated request meets what it has already made: it goes on with that. */
static int
meet_existing (struct create *create)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  int found = fake_box_find (create->call, create->state, create->spec->native_hint, &box);
  struct berth_effective effective;

  if (found <= 0)
    return found;
  if (!berth_string_equal (fake_text (box.record, "assignment_id"), create->spec->assignment_id)
      || fake_number (box.record, "life") != BERTH_LIFE_RUNNING)
    return create->call->services->fail (create->call, BERTH_E_CONFLICT, "sandbox `%s` exists with another assignment",
                                         create->spec->native_hint);
  create->handle = fake_handle_new (create->call, create->state, &box);
  if (create->handle == NULL)
    return -1;
  snprintf (create->token, sizeof create->token, "%s", fake_text (box.record, "token"));
  fake_effective_from_record (create->state, box.record, &effective);
  fake_box_close (&box);
  if (fake_tell_created (create->sink, create->spec->native_hint, create->token) < 0
      || create->sink->effective (create->sink->context, &effective) < 0)
    return -1;
  return 1;
}

void
fake_handle_free (struct berth_handle *handle)
{
  if (handle == NULL)
    return;
  berth_cleanup_fd (&handle->owner);
  free (handle->native_id);
  free (handle);
}

int
fake_create (struct berth_call *call, struct berth_state *state, const struct berth_spec *spec,
             const struct fake_origin *origin, const struct berth_create_sink *sink, struct berth_handle **out)
{
  struct create create = { call, state, spec, origin, sink, NULL, "", 0, 0 };
  int result;

  if (fake_spec_check (call, state, spec) < 0 || fake_point (call, state, origin->point) < 0)
    return -1;
  if (!fake_id_is_valid (spec->native_hint))
    return call->services->fail (call, BERTH_E_INVALID_REQUEST, "not a native id: `%s`", spec->native_hint);
  result = meet_existing (&create);
  if (result == 0)
    {
      result = all_steps (&create);
      if (result < 0 && !create.abandoned && call->services->failed (call) != BERTH_E_CONFLICT)
        undo (&create);
    }
  if (result < 0)
    fake_handle_free (create.handle);
  else
    *out = create.handle;
  return result < 0 ? -1 : 0;
}

/* isolated.c - the groups `isolated` and `recovery`. */
#include "plugins/fake/tree.h"
#include "sdk/base/path.h"
#include "sdk/base/string.h"

static int
enter (struct berth_call *call, struct berth_handle *handle, uint64_t capability, const char *point,
       struct fake_box *box)
{
  if (fake_needs (call, handle->state, capability, capability == BERTH_CAP_ISOLATED_SESSIONS
                                                       ? "ISOLATED_SESSIONS"
                                                       : "ISOLATED_SESSION_RECOVERY")
          < 0
      || fake_point (call, handle->state, point) < 0)
    return -1;
  return fake_box_for_handle (call, handle, box);
}

static int
fake_prepare (struct berth_call *call, struct berth_handle *handle, const struct berth_isolated_workspace *workspace)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;

  if (BERTH_REFUSE_UNKNOWN (call, ISOLATED, workspace->asks, 0) < 0
      || enter (call, handle, BERTH_CAP_ISOLATED_SESSIONS, "isolated.prepare", &box) < 0)
    return -1;
  if (berth_json_get (box.record, "sessions") == NULL
      && berth_json_set (box.record, "sessions", berth_json_new_object ()) < 0)
    return fake_failed (call, "write a record");
  return fake_box_save (call, &box);
}

static int
make_workspace (struct berth_call *call, struct fake_box *box, const struct berth_isolated_workspace *workspace)
{
  FAKE_AUTO_NODE struct fake_node node = FAKE_NODE_INIT;
  struct fake_attributes attributes = { BERTH_KIND_DIRECTORY, workspace->mode, 1000, 1000,
                                        fake_now_ms (box->state) / 1000, 0 };

  if (fake_node_find (call, box, workspace->path, FAKE_FIND_PARENTS, "/workspace", &node) < 0)
    return -1;
  if (!node.exists)
    return fake_node_make_directory (call, box, &node, &attributes);
  if (node.attributes.kind == BERTH_KIND_DIRECTORY)
    return 0;
  return call->services->fail (call, BERTH_E_CONFLICT, "%s exists and is not a directory", workspace->path);
}

static int
fake_open (struct berth_call *call, struct berth_handle *handle, const struct berth_isolated_workspace *workspace,
           const struct berth_text_sink *session_id)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  struct berth_json *sessions;
  char id[32];

  if (BERTH_REFUSE_UNKNOWN (call, ISOLATED, workspace->asks, 0) < 0
      || enter (call, handle, BERTH_CAP_ISOLATED_SESSIONS, "isolated.open", &box) < 0)
    return -1;
  sessions = berth_json_get (box.record, "sessions");
  if (sessions == NULL)
    return call->services->fail (call, BERTH_E_WRONG_STATE, "sandbox `%s` was not prepared for isolated sessions",
                                 box.id);
  if (make_workspace (call, &box, workspace) < 0)
    return -1;
  if (berth_id_generate ("session-", 10, id, sizeof id) < 0
      || berth_json_set_string (sessions, id, workspace->path) < 0)
    return fake_failed (call, "open an isolated session");
  if (fake_box_save (call, &box) < 0)
    return -1;
  fake_box_close (&box);
  return session_id->text (session_id->context, id);
}

/* The workspace of an open session; the caller frees it. */
static char *
workspace_of (struct berth_call *call, struct fake_box *box, const char *session_id)
{
  const char *path = fake_text (berth_json_get (box->record, "sessions"), session_id);
  char *copy;

  if (path == NULL)
    {
      call->services->fail (call, BERTH_E_NOT_FOUND, "no isolated session `%s`", session_id);
      return NULL;
    }
  copy = strdup (path);
  if (copy == NULL)
    fake_failed (call, "read an isolated session");
  return copy;
}

static int
fake_run (struct berth_call *call, struct berth_handle *handle, const char *session_id, const struct berth_run *run,
          const struct berth_run_sink *sink)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  BERTH_AUTO_FREE char *workspace = NULL;
  struct berth_run inside = *run;

  if (enter (call, handle, BERTH_CAP_ISOLATED_SESSIONS, "isolated.run", &box) < 0)
    return -1;
  workspace = workspace_of (call, &box, session_id);
  fake_box_close (&box);
  if (workspace == NULL)
    return -1;
  if ((run->asks & BERTH_RUN_WORKDIR) == 0)
    {
      inside.asks |= BERTH_RUN_WORKDIR;
      inside.workdir = workspace;
    }
  else if (!berth_path_is_within (run->workdir, workspace))
    return call->services->fail (call, BERTH_E_PATH_REJECTED, "%s lies outside of the session's %s", run->workdir,
                                 workspace);
  return fake_commands.run (call, handle, &inside, sink);
}

/* Copies the sessions but one: JSON objects lose no members. */
struct copy
{
  struct berth_json *to;
  const char *without;
  int failed;
};

static int
copy_session (void *context, const char *key, struct berth_json *value)
{
  struct copy *copy = context;

  if (strcmp (key, copy->without) != 0 && berth_json_set (copy->to, key, berth_json_share (value)) < 0)
    copy->failed = 1;
  return 0;
}

static int
fake_close (struct berth_call *call, struct berth_handle *handle, const char *session_id)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  struct copy copy = { NULL, session_id, 0 };

  if (enter (call, handle, BERTH_CAP_ISOLATED_SESSIONS, "isolated.close", &box) < 0)
    return -1;
  if (fake_text (berth_json_get (box.record, "sessions"), session_id) == NULL)
    return 0;
  copy.to = berth_json_new_object ();
  berth_json_each (berth_json_get (box.record, "sessions"), copy_session, &copy);
  if (berth_json_set (box.record, "sessions", copy.to) < 0 || copy.failed)
    return fake_failed (call, "close an isolated session");
  return fake_box_save (call, &box);
}

static int
fake_count_active (struct berth_call *call, struct berth_handle *handle, uint64_t *out)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;

  if (enter (call, handle, BERTH_CAP_ISOLATED_SESSIONS, "isolated.count_active", &box) < 0)
    return -1;
  *out = berth_json_length (berth_json_get (box.record, "sessions"));
  return 0;
}

static int
fake_read_memory_headroom (struct berth_call *call, struct berth_handle *handle, uint64_t *out)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;

  if (enter (call, handle, BERTH_CAP_ISOLATED_SESSIONS, "isolated.read_memory_headroom", &box) < 0)
    return -1;
  *out = (uint64_t) fake_number (box.record, "memory"); /* nothing uses any */
  return 0;
}

static int
fake_read_listening_ports (struct berth_call *call, struct berth_handle *handle, const struct berth_number_sink *sink)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  BERTH_AUTO_JSON struct berth_json *ports = NULL;
  int64_t port;

  if (enter (call, handle, BERTH_CAP_ISOLATED_SESSIONS, "isolated.read_listening_ports", &box) < 0)
    return -1;
  ports = berth_json_share (berth_json_get (box.record, "ports"));
  fake_box_close (&box);
  for (size_t i = 0; i < berth_json_length (ports); i++)
    if (berth_json_to_int64 (berth_json_at (ports, i), &port) == 0
        && sink->number (sink->context, (uint64_t) port) < 0)
      return -1;
  return 0;
}

struct search
{
  const char *path;
  const struct berth_text_sink *sink;
};

static int
tell_if_same (void *context, const char *key, struct berth_json *value)
{
  struct search *search = context;

  if (!berth_string_equal (berth_json_string (value), search->path))
    return 0;
  return search->sink->text (search->sink->context, key);
}

static int
fake_find_by_workspace (struct berth_call *call, struct berth_handle *handle, const char *path,
                        const struct berth_text_sink *session_id)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  BERTH_AUTO_JSON struct berth_json *sessions = NULL;
  struct search search = { path, session_id };

  if (enter (call, handle, BERTH_CAP_ISOLATED_SESSION_RECOVERY, "recovery.find_by_workspace", &box) < 0)
    return -1;
  sessions = berth_json_share (berth_json_get (box.record, "sessions"));
  fake_box_close (&box);
  return berth_json_each (sessions, tell_if_same, &search);
}

const struct berth_isolated_ops fake_isolated = {
  .struct_size = sizeof fake_isolated,
  .prepare = fake_prepare,
  .open = fake_open,
  .run = fake_run,
  .close = fake_close,
  .count_active = fake_count_active,
  .read_memory_headroom = fake_read_memory_headroom,
  .read_listening_ports = fake_read_listening_ports,
};

const struct berth_recovery_ops fake_recovery = {
  .struct_size = sizeof fake_recovery,
  .find_by_workspace = fake_find_by_workspace,
};

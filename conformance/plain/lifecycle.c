#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conformance/plain/plain.h"
#include "sdk/base/clock.h"
#include "sdk/base/fs.h"

#define SANDBOX_ID 1000
#define END_MS 5000
#define UNDO_MS 10000

static const char passwd[] = "root:x:0:0:root:/root:/bin/sh\n"
                             "daemon:x:1:1:daemon:/:/bin/sh\n"
                             "sandbox:x:1000:1000:sandbox:/workspace:/bin/sh\n"
                             "nobody:x:65534:65534:nobody:/:/bin/sh\n";
static const char group[] = "root:x:0:\ndaemon:x:1:\nsandbox:x:1000:\nnogroup:x:65534:\n";

static int
open_state (struct berth_call *call, struct berth_state **out)
{
  const char *directory = call->services->directory (call->instance, BERTH_DIRECTORY_STATE);
  const char *runtime = call->services->directory (call->instance, BERTH_DIRECTORY_RUNTIME);
  struct berth_state *state = malloc (sizeof *state);

  if (state == NULL || directory == NULL || runtime == NULL)
    {
      free (state);
      return call->services->fail (call, BERTH_E_CONFIGURATION, "the host gives no directory");
    }
  *state = (struct berth_state) { directory, runtime };
  *out = state;
  return 0;
}

static void
close_state (struct berth_call *call, struct berth_state *state)
{
  (void) call;
  free (state);
}

static int
ping (struct berth_call *call, struct berth_state *state, const struct berth_text_sink *facts)
{
  const char *path = call->services->agent_path (call->instance, NULL);

  (void) state;
  if (geteuid () != 0 || path == NULL || access (path, X_OK) < 0)
    {
      call->services->fail (call, BERTH_E_UNREACHABLE, "plain sandboxes need root and an agent");
      call->services->hint (call, "run as root, with BERTH_AGENT set");
      return -1;
    }
  return facts->text (facts->context, path);
}

/* ---- what a specification gets ---- */

/* Everything is allowed here, so that is what can be enforced. */
static uint64_t
enforced_of (const struct berth_spec *spec)
{
  return spec->asks & (PLAIN_ENFORCED | BERTH_SPEC_NETWORK);
}

static int
refuse (struct berth_call *call, uint32_t code, const char *what, const char *hint)
{
  call->services->fail (call, code, "%s", what);
  call->services->hint (call, "%s", hint);
  return -1;
}

static int
check (struct berth_call *call, const struct berth_spec *spec)
{
  if (BERTH_REFUSE_UNKNOWN (call, SPEC, spec->asks, BERTH_SPEC_KNOWN_1_0) < 0)
    return -1;
  if ((spec->asks & BERTH_SPEC_IMAGE) != 0 && strcmp (spec->image, "host") != 0)
    {
      call->services->fail (call, BERTH_E_CAPABILITY_NOT_SUPPORTED, "the image is '%s', plain has only 'host'",
                            spec->image);
      call->services->hint (call, "leave the image out");
      return -1;
    }
  if ((spec->asks & (BERTH_SPEC_GPU | BERTH_SPEC_VOLUME)) != 0)
    return refuse (call, BERTH_E_CAPABILITY_NOT_SUPPORTED, "plain has neither a GPU nor volumes", "leave them out");
  if ((spec->asks & BERTH_SPEC_TIER) != 0 && spec->minimum_tier > BERTH_TIER_UNKNOWN)
    return refuse (call, BERTH_E_CAPABILITY_NOT_SUPPORTED, "plain isolates nothing, a tier is required", "use another backend");
  if ((spec->asks & BERTH_SPEC_NETWORK) != 0
      && (spec->network->default_action != BERTH_ALLOW || spec->network->rules.count > 0))
    return refuse (call, BERTH_E_CAPABILITY_NOT_SUPPORTED, "plain cannot deny the network", "ask for a policy of allow");
  if ((spec->must & ~enforced_of (spec)) != 0)
    return refuse (call, BERTH_E_CONFIGURATION, "plain cannot enforce a limit that is required", "use another backend");
  return 0;
}

static int
tell_effective (const struct berth_effective_sink *sink, const struct plain_facts *facts)
{
  struct berth_effective effective = { .struct_size = sizeof effective,
                                       .tier = BERTH_TIER_UNKNOWN,
                                       .capabilities = PLAIN_CAPABILITIES,
                                       .enforced = facts->enforced,
                                       .run_asks = BERTH_RUN_ENVIRONMENT | BERTH_RUN_WORKDIR | BERTH_RUN_USER
                                                   | BERTH_RUN_TIMEOUT,
                                       .posture = BERTH_POSTURE_NO_CAPABILITIES | BERTH_POSTURE_NO_NEW_PRIVILEGES
                                                  | BERTH_POSTURE_CONTAINED_WRITES | BERTH_POSTURE_EXACT_NAMES
                                                  | BERTH_POSTURE_SEPARATE_USERS,
                                       .runtime = "berth-agent",
                                       .open_files = facts->open_files,
                                       .file_size_bytes = facts->file_size };

  return sink->effective (sink->context, &effective);
}

/* What SPEC alone says of the facts. */
static struct plain_facts
facts_of (const struct berth_spec *spec)
{
  struct plain_facts facts = { .enforced = enforced_of (spec) };

  snprintf (facts.sandbox_id, sizeof facts.sandbox_id, "%s", spec->sandbox_id);
  snprintf (facts.assignment_id, sizeof facts.assignment_id, "%s", spec->assignment_id);
  snprintf (facts.installation_id, sizeof facts.installation_id, "%s", spec->installation_id);
  facts.open_files = (facts.enforced & BERTH_SPEC_OPEN_FILES) != 0 ? spec->open_files : 0;
  facts.file_size = (facts.enforced & BERTH_SPEC_FILE_SIZE) != 0 ? spec->file_size_bytes : 0;
  return facts;
}

static int
validate (struct berth_call *call, struct berth_state *state, const struct berth_spec *spec,
          const struct berth_effective_sink *sink)
{
  struct plain_facts facts;

  (void) state;
  if (check (call, spec) < 0)
    return -1;
  facts = facts_of (spec);
  return tell_effective (sink, &facts);
}

/* ---- create ---- */

static int
make_directory (const struct plain_box *box, const char *name, mode_t mode, uid_t owner)
{
  char path[PATH_MAX + 16];

  snprintf (path, sizeof path, "%s/%s", box->directory, name);
  return mkdir (path, 0700) < 0 || chown (path, owner, owner) < 0 ? -1 : chmod (path, mode);
}

static int
make_folder (const struct plain_box *box)
{
  unsigned char token[PLAIN_TOKEN_SIZE];
  BERTH_AUTO_FD int directory = -1;

  if (getrandom (token, sizeof token, 0) != sizeof token || mkdir (box->directory, 0700) < 0)
    return -1;
  directory = open (box->directory, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (directory < 0 || make_directory (box, "root", 0755, 0) < 0
      || make_directory (box, "workspace", 0755, SANDBOX_ID) < 0 || make_directory (box, "tmp", 01777, 0) < 0)
    return -1;
  if (berth_fs_replace (directory, "token", token, sizeof token, 0600) < 0
      || berth_fs_replace (directory, "passwd", passwd, sizeof passwd - 1, 0644) < 0)
    return -1;
  return berth_fs_replace (directory, "group", group, sizeof group - 1, 0644);
}

static void
end_agent (struct berth_call *call, const struct plain_box *box, const struct plain_facts *facts)
{
  int64_t end = berth_clock_monotonic_ms () + END_MS;
  struct berth_handle *handle;

  if (plain_open_handle (call, box, &handle) == 0)
    {
      agentlink_end (call, &handle->link);
      plain_close_handle (handle);
    }
  call->services->forgive (call);
  while (plain_is_alive (facts) && berth_clock_monotonic_ms () < end)
    berth_clock_sleep_ms (1);
  if (plain_is_alive (facts))
    kill (facts->pid, SIGKILL);
}

static int
remove_box (struct berth_call *call, const struct plain_box *box)
{
  struct plain_facts facts;

  if (plain_facts_read (box, &facts) == 0 && plain_is_alive (&facts))
    end_agent (call, box, &facts);
  unlink (box->socket);
  if (berth_fs_remove_tree (AT_FDCWD, box->directory) == 0)
    return 0;
  return call->services->fail (call, BERTH_E_INTERNAL, "cannot remove '%s': %s", box->directory, strerror (errno));
}

static void
undo (struct berth_call *call, const struct plain_box *box)
{
  struct berth_call *shielded = call->services->shield (call, UNDO_MS);

  remove_box (shielded, box);
  call->services->unshield (shielded);
}

static int
set_up (struct berth_call *call, const struct plain_box *box, const struct berth_spec *spec,
        struct berth_handle **handle)
{
  struct plain_facts facts = facts_of (spec);

  if (plain_facts_write (box, &facts) < 0)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "cannot write the facts: %s", strerror (errno));
  if (plain_launch (call, box, spec, &facts) < 0)
    return -1;
  if (plain_facts_write (box, &facts) < 0)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "cannot write the facts: %s", strerror (errno));
  if (plain_open_handle (call, box, handle) < 0)
    return -1;
  if ((spec->asks & BERTH_SPEC_OWNED) == 0)
    return agentlink_ping (call, &(*handle)->link, NULL);
  (*handle)->owner = agentlink_own (call, &(*handle)->link);
  return (*handle)->owner < 0 ? -1 : 0;
}

static int
create (struct berth_call *call, struct berth_state *state, const struct berth_spec *spec,
        const struct berth_create_sink *sink, struct berth_handle **out)
{
  struct berth_native native = { .struct_size = sizeof native, .id = spec->native_hint };
  struct berth_effective_sink effective = { sizeof effective, 0, sink->context, sink->effective };
  struct berth_handle *handle = NULL;
  struct plain_facts facts;
  struct plain_box box;

  if (check (call, spec) < 0)
    return -1;
  facts = facts_of (spec);
  if (plain_box_find (state, spec->native_hint, &box) < 0)
    return call->services->fail (call, BERTH_E_INVALID_REQUEST, "'%s' cannot be a native id", spec->native_hint);
  if (plain_box_exists (&box))
    return call->services->fail (call, BERTH_E_CONFLICT, "the sandbox '%s' exists", spec->native_hint);
  if (sink->created (sink->context, &native) < 0)
    return -1;
  if (make_folder (&box) < 0)
    call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "cannot make '%s': %s", box.directory, strerror (errno));
  else if (set_up (call, &box, spec, &handle) == 0
           && tell_effective (&effective, &facts) == 0)
    {
      *out = handle;
      return 0;
    }
  if (handle != NULL)
    plain_close_handle (handle);
  undo (call, &box);
  return -1;
}

/* ---- afterwards ---- */

static int
connect_box (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
             const struct berth_effective_sink *sink, struct berth_handle **out)
{
  struct berth_handle *handle;
  struct plain_facts facts;
  struct plain_box box;

  if (plain_box_find (state, native->id, &box) < 0 || plain_facts_read (&box, &facts) < 0)
    return call->services->fail (call, BERTH_E_SANDBOX_NOT_FOUND, "no sandbox '%s'", native->id);
  if (plain_open_handle (call, &box, &handle) < 0)
    return -1;
  if (sink != NULL && tell_effective (sink, &facts) < 0)
    {
      plain_close_handle (handle);
      return -1;
    }
  *out = handle;
  return 0;
}

static void
release (struct berth_call *call, struct berth_handle *handle)
{
  (void) call;
  plain_close_handle (handle);
}

static int
destroy (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
         struct berth_destroyed *out)
{
  struct plain_box box;

  if (plain_box_find (state, native->id, &box) == 0 && plain_box_exists (&box) && remove_box (call, &box) < 0)
    return -1;
  out->verdict = BERTH_GONE;
  return 0;
}

static int
tell_found (const struct berth_found_sink *sink, const struct plain_box *box)
{
  struct berth_found found = { .struct_size = sizeof found, .native_id = box->id, .life = BERTH_LIFE_FAILED };
  struct plain_facts facts;

  found.expiry.kind = BERTH_EXPIRES_NEVER;
  if (plain_facts_read (box, &facts) < 0)
    found.has = BERTH_FOUND_PARTIAL;
  else
    {
      found.has = BERTH_FOUND_LABELS | (facts.started == 0 ? BERTH_FOUND_PARTIAL : 0);
      found.life = plain_is_alive (&facts) ? BERTH_LIFE_RUNNING : BERTH_LIFE_STOPPED;
      found.sandbox_id = facts.sandbox_id;
      found.assignment_id = facts.assignment_id;
      found.installation_id = facts.installation_id;
    }
  return sink->found (sink->context, &found);
}

static int
list_ids (struct berth_call *call, struct berth_state *state, const struct berth_found_sink *sink)
{
  BERTH_AUTO_DIR DIR *dir = opendir (state->directory);
  struct dirent *entry;
  struct plain_box box;

  if (dir == NULL)
    return call->services->fail (call, BERTH_E_INTERNAL, "cannot list '%s': %s", state->directory, strerror (errno));
  while ((entry = readdir (dir)) != NULL)
    if (plain_box_find (state, entry->d_name, &box) == 0 && tell_found (sink, &box) < 0)
      return -1;
  return 0;
}

static int
is_running (struct berth_call *call, struct berth_state *state, const struct berth_native *native)
{
  struct plain_facts facts;
  struct plain_box box;

  (void) call;
  return plain_box_find (state, native->id, &box) == 0 && plain_facts_read (&box, &facts) == 0
         && plain_is_alive (&facts);
}

const struct berth_lifecycle_ops plain_lifecycle = {
  .struct_size = sizeof plain_lifecycle,
  .open = open_state,
  .close = close_state,
  .ping = ping,
  .validate = validate,
  .create = create,
  .connect = connect_box,
  .release = release,
  .destroy = destroy,
  .list_ids = list_ids,
  .is_running = is_running,
};

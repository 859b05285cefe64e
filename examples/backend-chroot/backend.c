/* The table of the backend, and the life of its sandboxes. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "chroot.h"

/* What a specification may ask for and then has; everything may reach the network. */
#define ENFORCED                                                                                  \
  (BERTH_SPEC_IMAGE | BERTH_SPEC_ENVIRONMENT | BERTH_SPEC_USER | BERTH_SPEC_OPEN_FILES | BERTH_SPEC_FORBID_ROOT                \
   | BERTH_SPEC_NETWORK | BERTH_SPEC_OWNED)
#define END_MS 5000
#define UNDO_MS 10000

/* ---- an instance ---- */

static int
open_state (struct berth_call *call, struct berth_state **out)
{
  struct berth_state *state = malloc (sizeof *state);

  if (state == NULL)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "no memory for an instance");
  state->directory = call->services->directory (call->instance, BERTH_DIRECTORY_STATE);
  state->runtime = call->services->directory (call->instance, BERTH_DIRECTORY_RUNTIME);
  if (state->directory == NULL || state->runtime == NULL)
    {
      free (state);
      return call->services->fail (call, BERTH_E_CONFIGURATION, "the host gives no directories");
    }
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
refuse (struct berth_call *call, uint32_t code, const char *what, const char *hint)
{
  call->services->fail (call, code, "%s", what);
  call->services->hint (call, "%s", hint);
  return -1;
}

static int
ping (struct berth_call *call, struct berth_state *state, const struct berth_text_sink *facts)
{
  const char *path = call->services->agent_path (call->instance, NULL);

  (void) state;
  if (geteuid () != 0)
    return refuse (call, BERTH_E_UNREACHABLE, "the backend chroot needs root", "run as root");
  if (path == NULL || access (path, X_OK) < 0)
    return refuse (call, BERTH_E_UNREACHABLE, "there is no agent", "install berth, or set BERTH_AGENT");
  return facts->text (facts->context, path);
}

/* ---- what a specification gets ---- */

static int
check (struct berth_call *call, const struct berth_spec *spec)
{
  if (BERTH_REFUSE_UNKNOWN (call, SPEC, spec->asks, BERTH_SPEC_KNOWN_1_0) < 0)
    return -1;
  if ((spec->asks & BERTH_SPEC_IMAGE) != 0 && strcmp (spec->image, "host") != 0)
    {
      call->services->fail (call, BERTH_E_CAPABILITY_NOT_SUPPORTED, "the image is '%s', chroot has only 'host'", spec->image);
      call->services->hint (call, "leave the image out");
      return -1;
    }
  if ((spec->asks & (BERTH_SPEC_GPU | BERTH_SPEC_VOLUME)) != 0)
    return refuse (call, BERTH_E_CAPABILITY_NOT_SUPPORTED, "chroot has neither a GPU nor volumes", "leave them out");
  if ((spec->asks & BERTH_SPEC_TIER) != 0 && spec->minimum_tier > BERTH_TIER_UNKNOWN)
    return refuse (call, BERTH_E_CAPABILITY_NOT_SUPPORTED, "chroot claims no isolation, a tier is required", "use another backend");
  if ((spec->asks & BERTH_SPEC_NETWORK) != 0
      && (spec->network->default_action != BERTH_ALLOW || spec->network->rules.count > 0))
    return refuse (call, BERTH_E_CAPABILITY_NOT_SUPPORTED, "chroot cannot deny the network", "ask for a policy of allow");
  if ((spec->must & ~(spec->asks & ENFORCED)) != 0)
    return refuse (call, BERTH_E_CONFIGURATION, "chroot cannot enforce a limit that is required", "use another backend");
  return 0;
}

static struct facts
facts_of (const struct berth_spec *spec)
{
  struct facts facts = { .enforced = spec->asks & ENFORCED };

  snprintf (facts.sandbox_id, sizeof facts.sandbox_id, "%s", spec->sandbox_id);
  snprintf (facts.assignment_id, sizeof facts.assignment_id, "%s", spec->assignment_id);
  snprintf (facts.installation_id, sizeof facts.installation_id, "%s", spec->installation_id);
  facts.open_files = (spec->asks & BERTH_SPEC_OPEN_FILES) != 0 ? spec->open_files : 0;
  return facts;
}

static int
tell_effective (const struct berth_effective_sink *sink, const struct facts *facts)
{
  struct berth_effective effective = { .struct_size = sizeof effective,
                                       .tier = BERTH_TIER_UNKNOWN,
                                       .enforced = facts->enforced,
                                       .run_asks = BERTH_RUN_ENVIRONMENT | BERTH_RUN_WORKDIR | BERTH_RUN_USER | BERTH_RUN_TIMEOUT,
                                       .posture = BERTH_POSTURE_NO_CAPABILITIES | BERTH_POSTURE_NO_NEW_PRIVILEGES
                                                  | BERTH_POSTURE_CONTAINED_WRITES | BERTH_POSTURE_EXACT_NAMES
                                                  | BERTH_POSTURE_SEPARATE_USERS,
                                       .runtime = "berth-agent",
                                       .open_files = facts->open_files };

  return sink->effective (sink->context, &effective);
}

static int
validate (struct berth_call *call, struct berth_state *state, const struct berth_spec *spec, const struct berth_effective_sink *sink)
{
  struct facts facts;

  (void) state;
  if (check (call, spec) < 0)
    return -1;
  facts = facts_of (spec);
  return tell_effective (sink, &facts);
}

/* ---- handles ---- */

/* Each operation opens a stream to the agent through this. */
static int
connect_agent (struct berth_call *call, void *context)
{
  struct berth_handle *handle = context;

  if (access (handle->socket, F_OK) == 0)
    return agentlink_connect_unix (call, handle->socket);
  return call->services->fail (call, BERTH_E_SANDBOX_NOT_FOUND, "the sandbox was destroyed");
}

static int
open_handle (struct berth_call *call, const struct box *box, struct berth_handle **out)
{
  struct berth_handle *handle = calloc (1, sizeof *handle);
  const struct agentlink_transport transport = { .context = handle, .connect = connect_agent };

  if (handle == NULL)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "no memory for a handle");
  handle->owner = -1;
  strcpy (handle->socket, box->socket);
  if (token_read (box, handle->token) < 0)
    {
      free (handle);
      return call->services->fail (call, BERTH_E_SANDBOX_NOT_FOUND, "no sandbox '%s'", box->id);
    }
  agentlink_init (&handle->link, &transport, handle->token, sizeof handle->token);
  *out = handle;
  return 0;
}

static void
release (struct berth_call *call, struct berth_handle *handle)
{
  (void) call;
  if (handle->owner >= 0)
    close (handle->owner);
  explicit_bzero (handle->token, sizeof handle->token);
  free (handle);
}

/* ---- ends ---- */

/* The first process of a pid namespace takes all others with it. */
static int
end_agent (struct berth_call *call, const struct facts *facts)
{
  const struct timespec moment = { .tv_nsec = 1000000 };

  if (is_alive (facts))
    kill (facts->pid, SIGKILL);
  for (int i = 0; i < END_MS && is_alive (facts); i++)
    nanosleep (&moment, NULL);
  return is_alive (facts) ? call->services->fail (call, BERTH_E_INTERNAL, "process %d does not die", facts->pid) : 0;
}

static int
remove_box (struct berth_call *call, const struct box *box)
{
  struct facts facts;

  if (facts_read (box, &facts) == 0 && end_agent (call, &facts) < 0)
    return -1;
  unlink (box->socket);
  if (box_remove (box) == 0)
    return 0;
  return call->services->fail (call, BERTH_E_INTERNAL, "cannot remove '%s': %s", box->directory, strerror (errno));
}

static int
destroy (struct berth_call *call, struct berth_state *state, const struct berth_native *native, struct berth_destroyed *out)
{
  struct box box;

  if (box_find (state, native->id, &box) == 0 && box_exists (&box) && remove_box (call, &box) < 0)
    return -1;
  out->verdict = BERTH_GONE;
  return 0;
}

/* ---- create ---- */

static int
set_up (struct berth_call *call, const struct box *box, const struct berth_spec *spec, struct facts *facts,
        struct berth_handle **handle)
{
  if (box_make (box) < 0 || facts_write (box, facts) < 0)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "cannot make '%s': %s", box->directory, strerror (errno));
  if (launch (call, box, spec, facts) < 0)
    return -1;
  if (facts_write (box, facts) < 0)
    {
      end_agent (call, facts);
      return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "cannot write the facts: %s", strerror (errno));
    }
  if (open_handle (call, box, handle) < 0)
    return -1;
  if ((spec->asks & BERTH_SPEC_OWNED) == 0)
    return agentlink_ping (call, &(*handle)->link, NULL);
  (*handle)->owner = agentlink_own (call, &(*handle)->link);
  return (*handle)->owner < 0 ? -1 : 0;
}

/* What was begun is undone even when the call was cancelled. */
static void
undo (struct berth_call *call, const struct box *box)
{
  struct berth_call *shielded = call->services->shield (call, UNDO_MS);

  remove_box (shielded, box);
  call->services->unshield (shielded);
}

static int
create (struct berth_call *call, struct berth_state *state, const struct berth_spec *spec, const struct berth_create_sink *sink,
        struct berth_handle **out)
{
  struct berth_native native = { .struct_size = sizeof native, .id = spec->native_hint };
  struct berth_effective_sink effective = { .struct_size = sizeof effective, .context = sink->context, .effective = sink->effective };
  struct berth_handle *handle = NULL;
  struct facts facts;
  struct box box;

  if (check (call, spec) < 0)
    return -1;
  facts = facts_of (spec);
  if (box_find (state, spec->native_hint, &box) < 0)
    return call->services->fail (call, BERTH_E_INVALID_REQUEST, "'%s' cannot be a native id", spec->native_hint);
  if (box_exists (&box))
    return call->services->fail (call, BERTH_E_CONFLICT, "the sandbox '%s' exists", spec->native_hint);
  if (sink->created (sink->context, &native) < 0)
    return -1;
  if (set_up (call, &box, spec, &facts, &handle) == 0 && tell_effective (&effective, &facts) == 0)
    {
      *out = handle;
      return 0;
    }
  if (handle != NULL)
    release (call, handle);
  undo (call, &box);
  return -1;
}

/* ---- afterwards ---- */

static int
connect_box (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
             const struct berth_effective_sink *sink, struct berth_handle **out)
{
  struct berth_handle *handle;
  struct facts facts;
  struct box box;

  if (box_find (state, native->id, &box) < 0 || facts_read (&box, &facts) < 0)
    return call->services->fail (call, BERTH_E_SANDBOX_NOT_FOUND, "no sandbox '%s'", native->id);
  if (open_handle (call, &box, &handle) < 0)
    return -1;
  if (sink != NULL && tell_effective (sink, &facts) < 0)
    {
      release (call, handle);
      return -1;
    }
  *out = handle;
  return 0;
}

static int
tell_found (const struct berth_found_sink *sink, const struct box *box)
{
  struct berth_found found = { .struct_size = sizeof found, .native_id = box->id, .life = BERTH_LIFE_FAILED, .has = BERTH_FOUND_PARTIAL };
  struct facts facts;

  found.expiry.kind = BERTH_EXPIRES_NEVER;
  if (facts_read (box, &facts) == 0)
    {
      found.has = BERTH_FOUND_LABELS | (facts.pid == 0 ? BERTH_FOUND_PARTIAL : 0);
      found.life = is_alive (&facts) ? BERTH_LIFE_RUNNING : BERTH_LIFE_STOPPED;
      found.sandbox_id = facts.sandbox_id;
      found.assignment_id = facts.assignment_id;
      found.installation_id = facts.installation_id;
    }
  return sink->found (sink->context, &found);
}

static int
list_ids (struct berth_call *call, struct berth_state *state, const struct berth_found_sink *sink)
{
  DIR *stream = opendir (state->directory);
  struct dirent *entry;
  struct box box;
  int result = 0;

  if (stream == NULL)
    return call->services->fail (call, BERTH_E_INTERNAL, "cannot list '%s': %s", state->directory, strerror (errno));
  while (result == 0 && (entry = readdir (stream)) != NULL)
    if (box_find (state, entry->d_name, &box) == 0)
      result = tell_found (sink, &box);
  closedir (stream);
  return result;
}

static int
is_running (struct berth_call *call, struct berth_state *state, const struct berth_native *native)
{
  struct facts facts;
  struct box box;

  (void) call;
  return box_find (state, native->id, &box) == 0 && facts_read (&box, &facts) == 0 && is_alive (&facts);
}

/* ---- the table ---- */

static const struct berth_lifecycle_ops lifecycle = {
  .struct_size = sizeof lifecycle,
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

/* The other three groups are the agent's client's. */
static const struct berth_backend backend = {
  .abi = { BERTH_ABI_MAGIC, sizeof backend, BERTH_ABI_MAJOR, BERTH_ABI_MINOR, 0 },
  .name = "chroot",
  .version = VERSION,
  .summary = "An example: the machine's files in a root and a pid namespace of each sandbox's own, without isolation",
  .concurrency = BERTH_PARALLEL,
  .lifecycle = &lifecycle,
  .commands = &agentlink_commands,
  .files = &agentlink_files,
  .workspace = &agentlink_workspace,
};

const struct berth_backend *
berth_backend_v1 (const struct berth_services *services)
{
  return services != NULL ? &backend : NULL;
}

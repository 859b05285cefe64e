/* create.c - a new sandbox, step by step, each of them undone when a later one fails.
 *
 * Whatever a process that dies leaves behind is found by the native id alone: the record is made
 * first, and the names of cgroups, socket and user ids are made of the id. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plugins/ns/launch.h"
#include "plugins/ns/ns.h"
#include "plugins/ns/plan.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/fd.h"

#define UNDO_MS 10000
#define ARGUMENTS_MAX 24

struct creation
{
  struct berth_call *call;
  struct berth_state *state;
  const struct berth_spec *spec;
  const char *id;
  struct ns_hierarchies hierarchies;
  struct ns_meta meta;
  struct ns_cgroup cgroup;
  struct ns_plan plan;
  struct ns_launched launched;
  int box;
  int listen;
  int seccomp;
  int environment;
  struct berth_handle *handle;
};

static int
begin (struct creation *creation)
{
  struct berth_call *call = creation->call;

  if (ns_hierarchies_find (&creation->hierarchies) < 0)
    return call->services->fail (call, BERTH_E_INTERNAL, "cannot read /proc/self/mountinfo: %m");
  if (ns_resolve (call, &creation->hierarchies, creation->spec, &creation->meta.limits) < 0
      || ns_ids_check (call, creation->state) < 0)
    return -1;
  if (!ns_id_is_possible (creation->state, creation->id))
    return call->services->fail (call, BERTH_E_INVALID_REQUEST,
                                 "the native id %s is no file name, or too long for a socket in %s", creation->id,
                                 creation->state->runtime);
  if (ns_meta_from_spec (&creation->meta, creation->state, creation->spec) < 0)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "no memory");
  return 0;
}

static int
write_meta (struct creation *creation, int (*write) (int, const struct ns_meta *))
{
  if (write (creation->box, &creation->meta) == 0)
    return 0;
  return creation->call->services->fail (creation->call,
                                         errno == ENOSPC || errno == EDQUOT ? BERTH_E_RESOURCE_EXHAUSTED
                                                                            : BERTH_E_INTERNAL,
                                         "cannot write the record of %s: %m", creation->id);
}

static int
make_storage (struct creation *creation)
{
  creation->box = ns_box_make (creation->call, creation->state, creation->id);
  if (creation->box < 0 || write_meta (creation, ns_meta_write) < 0)
    return -1;
  creation->meta.uid_base = ns_ids_take (creation->call, creation->state, creation->id, creation->box);
  if (creation->meta.uid_base == 0)
    return -1;
  return ns_box_fill (creation->call, creation->box, creation->id, creation->meta.uid_base);
}

static int
make_cgroup (struct creation *creation)
{
  BERTH_AUTO_FREE char *name = ns_cgroup_name (creation->state, creation->id);

  if (name == NULL)
    return creation->call->services->fail (creation->call, BERTH_E_RESOURCE_EXHAUSTED, "no memory");
  if (ns_cgroup_make (creation->call, &creation->hierarchies, name, &creation->meta.limits, &creation->cgroup) < 0)
    return -1;
  creation->meta.out_of_memory = BERTH_STEAL_POINTER (creation->cgroup.out_of_memory);
  return 0;
}

/* In memory only, since values may be secret. */
static int
make_environment (struct creation *creation)
{
  const struct berth_spec *spec = creation->spec;
  BERTH_CLEANUP (berth_buffer_erase) struct berth_buffer text = { 0 };

  if (!(spec->asks & BERTH_SPEC_ENVIRONMENT) || spec->environment_count == 0)
    return 0;
  for (uint64_t i = 0; i < spec->environment_count; i++)
    {
      berth_buffer_appendf (&text, "%s=%s", spec->environment[i].name, spec->environment[i].value);
      berth_buffer_append_byte (&text, 0);
    }
  creation->environment = memfd_create ("berth-environment", MFD_CLOEXEC);
  if (text.error != 0 || creation->environment < 0
      || berth_fd_write_all (creation->environment, text.data, text.size) < 0
      || lseek (creation->environment, 0, SEEK_SET) < 0)
    return creation->call->services->fail (creation->call, BERTH_E_RESOURCE_EXHAUSTED,
                                           "no memory for the environment of %s", creation->id);
  return 0;
}

static int
make_socket (struct creation *creation)
{
  BERTH_AUTO_FREE char *path = ns_box_socket (creation->state, creation->id);

  if (path == NULL)
    return creation->call->services->fail (creation->call, BERTH_E_RESOURCE_EXHAUSTED, "no memory");
  creation->listen = agentlink_listen_unix (creation->call, path);
  return creation->listen < 0 ? -1 : 0;
}

/* ---- the agent ---- */

struct arguments
{
  char *word[ARGUMENTS_MAX];
  char number[8][24];
  int words, numbers;
};

static void
add_word (struct arguments *arguments, const char *word)
{
  arguments->word[arguments->words++] = (char *) word;
}

static void
add_number (struct arguments *arguments, const char *option, uint64_t value)
{
  char *text = arguments->number[arguments->numbers++];

  snprintf (text, sizeof arguments->number[0], "%llu", (unsigned long long) value);
  add_word (arguments, option);
  add_word (arguments, text);
}

static void
fill_arguments (const struct creation *creation, struct arguments *arguments)
{
  const struct berth_spec *spec = creation->spec;

  add_word (arguments, "berth-agent");
  add_number (arguments, "--listen-fd", 3);
  add_number (arguments, "--seccomp-fd", 4);
  if (creation->environment >= 0)
    add_number (arguments, "--environment-fd", 5);
  if (spec->asks & BERTH_SPEC_TTL)
    add_number (arguments, "--ttl-ms", (uint64_t) (spec->ttl_ms > 0 ? spec->ttl_ms : 0));
  add_number (arguments, "--limit-open-files", creation->meta.limits.open_files);
  if (spec->asks & BERTH_SPEC_FILE_SIZE)
    add_number (arguments, "--limit-file-size", creation->meta.limits.file_size);
  /* 1 and not 0: a pipe in core_pattern is fed whatever the limit, except this one. */
  add_number (arguments, "--limit-core", 1);
  if (spec->asks & BERTH_SPEC_USER)
    {
      add_word (arguments, "--user");
      add_word (arguments, spec->user);
    }
  if (spec->asks & BERTH_SPEC_FORBID_ROOT)
    add_word (arguments, "--forbid-root");
}

static int
start_agent (struct creation *creation)
{
  struct berth_call *call = creation->call;
  struct arguments arguments = { .words = 0 };
  const struct ns_launch launch = {
    .plan = &creation->plan,
    .cgroup = &creation->cgroup,
    .box = creation->box,
    .uid_base = creation->meta.uid_base,
    .agent = call->services->agent_path (call->instance, NULL),
    .arguments = arguments.word,
    .listen = creation->listen,
    .seccomp = creation->seccomp,
    .environment = creation->environment,
  };

  fill_arguments (creation, &arguments);
  ns_plan_root (&creation->plan, &creation->meta.limits);
  if (creation->plan.error != 0)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "no memory");
  if (ns_launch (call, &launch, &creation->launched) < 0)
    return -1;
  creation->meta.pid = creation->launched.pid;
  creation->meta.pid_start = creation->launched.start;
  creation->meta.ready = true;
  if (berth_boot_id (creation->meta.boot) < 0)
    return call->services->fail (call, BERTH_E_INTERNAL, "cannot read the boot id: %m");
  if (write_meta (creation, ns_meta_append) < 0)
    return -1;
  return ns_launch_finish (call, &creation->launched);
}

/* The first answer shows that it came up; a sandbox with an owner gets it on the owner's line. */
static int
greet_agent (struct creation *creation)
{
  creation->handle = ns_handle_new (creation->call, creation->state, creation->id, creation->meta.out_of_memory);
  if (creation->handle == NULL)
    return -1;
  if (creation->spec->asks & BERTH_SPEC_OWNED)
    {
      creation->handle->own = agentlink_own (creation->call, &creation->handle->link);
      if (creation->handle->own >= 0)
        return 0;
    }
  else if (agentlink_ping (creation->call, &creation->handle->link, NULL) == 0)
    return 0;
  ns_launch_explain (creation->call, &creation->plan, &creation->launched);
  return -1;
}

static int
make (struct creation *creation)
{
  if (make_storage (creation) < 0 || make_cgroup (creation) < 0 || make_environment (creation) < 0
      || make_socket (creation) < 0
      || (creation->seccomp = ns_seccomp_open (creation->call, creation->state)) < 0 || start_agent (creation) < 0)
    return -1;
  /* From here on the agent alone holds it, so that its death is seen at once. */
  close (creation->listen);
  creation->listen = -1;
  return greet_agent (creation);
}

/* ---- ending ---- */

/* A conflict is somebody else's sandbox. */
static void
undo (struct creation *creation)
{
  struct berth_call *call = creation->call;
  const struct berth_native native = { .struct_size = sizeof native, .id = creation->id };
  struct berth_destroyed destroyed;

  if (creation->box < 0)
    return;
  struct berth_call *shielded = call->services->shield (call, UNDO_MS);
  if (ns_destroy (shielded, creation->state, &native, &destroyed) < 0 || destroyed.verdict != BERTH_GONE)
    call->services->log (call->instance, BERTH_LOG_WARNING, "what a failed create made of %s is not all gone",
                         creation->id);
  call->services->unshield (shielded);
}

static void
finish (struct creation *creation)
{
  const int fds[] = { creation->box, creation->listen, creation->seccomp, creation->environment };

  for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
    if (fds[i] >= 0)
      close (fds[i]);
  ns_launched_close (&creation->launched);
  ns_cgroup_free (&creation->cgroup);
  ns_hierarchies_free (&creation->hierarchies);
  ns_plan_free (&creation->plan);
  ns_meta_free (&creation->meta);
}

int
ns_create (struct berth_call *call, struct berth_state *state, const struct berth_spec *spec,
           const struct berth_create_sink *sink, struct berth_handle **out)
{
  BERTH_CLEANUP (finish) struct creation creation = {
    .call = call,
    .state = state,
    .spec = spec,
    .id = spec->native_hint,
    .cgroup = { .into = -1 },
    .launched = { .pidfd = -1, .between = -1, .status = -1, .go = -1, .errors = -1 },
    .box = -1,
    .listen = -1,
    .seccomp = -1,
    .environment = -1,
  };
  const struct berth_native native = { .struct_size = sizeof native, .id = creation.id };

  if (begin (&creation) < 0 || sink->created (sink->context, &native) < 0)
    return -1;
  if (make (&creation) < 0
      || ns_tell_effective (&creation.meta.limits, sink->context, sink->effective) < 0)
    {
      if (creation.handle != NULL)
        ns_release (call, creation.handle);
      ns_launched_kill (&creation.launched);
      ns_launched_close (&creation.launched);
      undo (&creation);
      return -1;
    }
  *out = creation.handle;
  return 0;
}

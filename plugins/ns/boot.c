/* boot.c - from a record to an agent that answers. */
#include "plugins/ns/boot.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "plugins/ns/network.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/fd.h"

#define ARGUMENTS_MAX 24
#define BESIDE 2           /* guard and pasta, where the limit counts those of the sandbox's user namespace */
#define GUARD_KILL_MS 5000

void
ns_boot_begin (struct ns_boot *boot, struct berth_call *call, struct berth_state *state, const char *id)
{
  *boot = (struct ns_boot){
    .call = call,
    .state = state,
    .id = id,
    .cgroup = { .into = -1 },
    .launched = { .pidfd = -1, .status = -1, .go = -1, .errors = -1, .users = -1, .network = -1 },
    .users = { .space = -1 },
    .box = -1,
    .guard = -1,
    .disk = -1,
    .listen = -1,
    .seccomp = -1,
    .environment_fd = -1,
  };
}

int
ns_boot_write_meta (struct ns_boot *boot, int (*write) (int, const struct ns_meta *))
{
  if (write (boot->box, &boot->meta) == 0)
    return 0;
  return boot->call->services->fail (boot->call,
                                     errno == ENOSPC || errno == EDQUOT ? BERTH_E_RESOURCE_EXHAUSTED : BERTH_E_INTERNAL,
                                     "cannot write the record of %s: %m", boot->id);
}

static int
make_cgroup (struct ns_boot *boot)
{
  BERTH_AUTO_FREE char *name = ns_cgroup_name (boot->state, boot->id, NS_CGROUP_OWN);

  if (name == NULL)
    return boot->call->services->fail (boot->call, BERTH_E_RESOURCE_EXHAUSTED, "no memory");
  if (ns_cgroup_make (boot->call, &boot->hierarchies, name, &boot->meta.limits, &boot->cgroup) < 0)
    return -1;
  free (boot->meta.out_of_memory);
  free (boot->meta.freezer);
  boot->meta.out_of_memory = BERTH_STEAL_POINTER (boot->cgroup.out_of_memory);
  boot->meta.freezer = BERTH_STEAL_POINTER (boot->cgroup.freezer);
  return 0;
}

/* In memory only, since values may be secret. */
static int
make_environment (struct ns_boot *boot)
{
  BERTH_CLEANUP (berth_buffer_erase) struct berth_buffer text = { 0 };

  if (boot->environment_count == 0)
    return 0;
  for (uint64_t i = 0; i < boot->environment_count; i++)
    {
      berth_buffer_appendf (&text, "%s=%s", boot->environment[i].name, boot->environment[i].value);
      berth_buffer_append_byte (&text, 0);
    }
  boot->environment_fd = memfd_create ("berth-environment", MFD_CLOEXEC);
  if (text.error != 0 || boot->environment_fd < 0
      || berth_fd_write_file (boot->environment_fd, text.data, text.size) < 0
      || lseek (boot->environment_fd, 0, SEEK_SET) < 0)
    return boot->call->services->fail (boot->call, BERTH_E_RESOURCE_EXHAUSTED, "no memory for the environment of %s", boot->id);
  return 0;
}

static int
make_socket (struct ns_boot *boot)
{
  BERTH_AUTO_FREE char *path = ns_box_socket (boot->state, boot->id);

  if (path == NULL)
    return boot->call->services->fail (boot->call, BERTH_E_RESOURCE_EXHAUSTED, "no memory");
  boot->listen = agentlink_listen_unix (boot->call, path);
  return boot->listen < 0 ? -1 : 0;
}

/* ---- the agent ---- */

struct arguments
{
  char *word[ARGUMENTS_MAX];
  char number[10][24];
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

static bool
has_network (const struct ns_boot *boot)
{
  return boot->meta.limits.network == BERTH_ALLOW;
}

/* What the limit lets run, and beside it what belongs to the sandbox's user namespace too; 0: any. */
static uint32_t
count_processes (const struct ns_boot *boot)
{
  if (!(boot->meta.limits.enforced & BERTH_SPEC_PIDS))
    return 0;
  return boot->meta.limits.pids + (has_network (boot) ? BESIDE : 0);
}

static void
fill_arguments (const struct ns_boot *boot, struct arguments *arguments)
{
  const struct ns_meta *meta = &boot->meta;

  add_word (arguments, "berth-agent");
  add_number (arguments, "--listen-fd", 3);
  add_number (arguments, "--seccomp-fd", 4);
  if (boot->environment_fd >= 0)
    add_number (arguments, "--environment-fd", 5);
  add_number (arguments, "--ready-fd", boot->environment_fd >= 0 ? 6 : 5);
  if (meta->ends)
    add_number (arguments, "--ttl-ms", meta->ttl_ms);
  add_number (arguments, "--limit-open-files", meta->limits.open_files);
  if (meta->limits.enforced & BERTH_SPEC_FILE_SIZE)
    add_number (arguments, "--limit-file-size", meta->limits.file_size);
  /* 1 and not 0: a pipe in core_pattern is fed whatever the limit, except this one. */
  add_number (arguments, "--limit-core", 1);
  add_word (arguments, "--landlock");
  if (boot->users.single)
    {
      add_word (arguments, "--single-user");
      if (count_processes (boot) > 0)
        add_number (arguments, "--limit-processes", count_processes (boot));
    }
  else
    add_number (arguments, "--own-id", NS_AGENT_ID);
  if (meta->user != NULL)
    {
      add_word (arguments, "--user");
      add_word (arguments, meta->user);
    }
  if (meta->forbid_root)
    add_word (arguments, "--forbid-root");
}

static int
start_agent (struct ns_boot *boot)
{
  struct berth_call *call = boot->call;
  struct arguments arguments = { .words = 0 };
  const struct ns_launch launch = {
    .plan = &boot->plan,
    .cgroup = &boot->cgroup,
    .box = boot->box,
    .users = &boot->users,
    .processes = count_processes (boot),
    .network = has_network (boot),
    .agent = call->services->agent_path (call->instance, NULL),
    .arguments = arguments.word,
    .workspace = boot->disk,
    .listen = boot->listen,
    .seccomp = boot->seccomp,
    .environment = boot->environment_fd,
  };

  fill_arguments (boot, &arguments);
  boot->resolver = has_network (boot) ? ns_network_resolver () : NULL;
  ns_plan_root (&boot->plan, &boot->meta.limits, boot->resolver);
  if (boot->plan.error != 0)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "no memory");
  if (boot->plan.odd != NULL)
    return call->services->fail (call, BERTH_E_CONFIGURATION, "%s of this machine is not the device of that name", boot->plan.odd);
  if (ns_launch (call, &launch, &boot->launched) < 0 || (has_network (boot) && ns_network_start (boot) < 0))
    return -1;
  boot->meta.pid = boot->launched.pid;
  boot->meta.pid_start = boot->launched.start;
  boot->meta.ready = true;
  if (berth_boot_id (boot->meta.boot) < 0)
    return call->services->fail (call, BERTH_E_INTERNAL, "cannot read the boot id: %m");
  if (ns_boot_write_meta (boot, ns_meta_append) < 0)
    return -1;
  return ns_launch_finish (call, &boot->launched);
}

/* Its hello shows that it came up; where the sandbox has an owner its answer on the owner's line does. */
static int
greet_agent (struct ns_boot *boot)
{
  boot->handle = ns_handle_new (boot->call, boot->state, boot->id, &boot->meta);
  if (boot->handle == NULL)
    return -1;
  if (boot->owned)
    {
      boot->handle->own = agentlink_own (boot->call, &boot->handle->link);
      if (boot->handle->own >= 0)
        return 0;
    }
  else if (agentlink_await (boot->call, &boot->handle->link, boot->launched.go) == 0)
    return 0;
  ns_launch_explain (boot->call, &boot->plan, &boot->launched);
  return -1;
}

/* A new one is mounted already. */
static int
mount_disk (struct ns_boot *boot)
{
  if (!(boot->meta.limits.enforced & BERTH_SPEC_DISK) || boot->disk >= 0)
    return 0;
  boot->disk = ns_disk_open (boot->call, boot->box, boot->id);
  return boot->disk < 0 ? -1 : 0;
}

int
ns_boot (struct ns_boot *boot)
{
  if (mount_disk (boot) < 0 || make_cgroup (boot) < 0 || make_environment (boot) < 0 || make_socket (boot) < 0
      || (boot->seccomp = ns_seccomp_open (boot->call, boot->state,
                                           boot->meta.limits.enforced & BERTH_SPEC_USER_NAMESPACES))
             < 0
      || start_agent (boot) < 0)
    return -1;
  /* From here on the agent alone holds it, so that its death is seen at once. */
  close (boot->listen);
  boot->listen = -1;
  return greet_agent (boot);
}

void
ns_boot_kill (struct ns_boot *boot)
{
  if (boot->handle != NULL)
    ns_release (boot->call, boot->handle);
  boot->handle = NULL;
  ns_launched_kill (&boot->launched);
  ns_launched_close (&boot->launched);
  if (boot->disk >= 0)
    close (boot->disk); /* or it could not be taken away */
  boot->disk = -1;
  if (boot->guard < 0)
    return;
  syscall (SYS_pidfd_send_signal, boot->guard, SIGKILL, NULL, 0);
  struct berth_call *shielded = boot->call->services->shield (boot->call, GUARD_KILL_MS);
  ns_wait_for_death (shielded, boot->guard);
  boot->call->services->unshield (shielded);
}

void
ns_boot_finish (struct ns_boot *boot)
{
  const int fds[] = { boot->box,     boot->guard,          boot->disk,       boot->listen,
                      boot->seccomp, boot->environment_fd, boot->users.space };

  for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
    if (fds[i] >= 0)
      close (fds[i]);
  ns_launched_close (&boot->launched);
  ns_cgroup_free (&boot->cgroup);
  ns_hierarchies_free (&boot->hierarchies);
  ns_plan_free (&boot->plan);
  ns_meta_free (&boot->meta);
}

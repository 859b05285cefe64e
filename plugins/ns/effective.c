/* effective.c - what a specification gets here, or why it is refused. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "plugins/ns/accounts.h"
#include "plugins/ns/ns.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/string.h"

#define KNOWN_SPEC                                                                                \
  (BERTH_SPEC_IMAGE | BERTH_SPEC_ENVIRONMENT | BERTH_SPEC_METADATA | BERTH_SPEC_USER | BERTH_SPEC_CPU \
   | BERTH_SPEC_MEMORY | BERTH_SPEC_PIDS | BERTH_SPEC_DISK | BERTH_SPEC_TMP | BERTH_SPEC_OPEN_FILES \
   | BERTH_SPEC_NETWORK | BERTH_SPEC_TTL | BERTH_SPEC_TIER | BERTH_SPEC_READ_ONLY_ROOT              \
   | BERTH_SPEC_FILE_SIZE | BERTH_SPEC_SHM | BERTH_SPEC_FORBID_ROOT | BERTH_SPEC_OWNED     \
   | BERTH_SPEC_USER_NAMESPACES)
#define CGROUP_SPEC (BERTH_SPEC_CPU | BERTH_SPEC_MEMORY | BERTH_SPEC_PIDS)

#define MIB (UINT64_C (1) << 20)
#define MEMORY_MINIMUM (8 * MIB) /* the agent and the tables of its root file system */
#define PIDS_MINIMUM 4           /* the agent, a nanny, and a command that forks */
#define DISK_MINIMUM (16 * MIB)  /* ext4 with a journal, and something of use beside it */
#define CPU_MINIMUM 10           /* the kernel's smallest quota in our period */
#define FILES_MINIMUM 16

/* What holds when nobody asks: never "unlimited". */
static const struct ns_limits defaults = {
  .memory = 512 * MIB,
  .tmp = 256 * MIB,
  .shm = 64 * MIB,
  .cpu_milli = 1000,
  .pids = 256,
  .open_files = 1024,
};

static int
refuse_image (struct berth_call *call, const char *image)
{
  if (image == NULL || strcmp (image, "host") == 0)
    return 0;
  call->services->fail (call, BERTH_E_CAPABILITY_NOT_SUPPORTED, "the ns backend has no image %s", image);
  call->services->hint (call, "leave the image out, or name it `host`: this machine's own root file system");
  return -1;
}

static int
refuse_user (struct berth_call *call, const char *user, bool forbid_root, bool single)
{
  int64_t number = ns_account_id (user);

  if (number < 0)
    {
      call->services->fail (call, BERTH_E_INVALID_REQUEST, "the sandbox has no account %s", user);
      call->services->hint (call, "use sandbox, root, nobody, or a number below 65536");
      return -1;
    }
  if (number == 0 && forbid_root)
    return call->services->fail (call, BERTH_E_INVALID_REQUEST, "the user is root, and root is forbidden");
  if (number != NS_SANDBOX_ID && single)
    {
      call->services->fail (call, BERTH_E_CAPABILITY_NOT_SUPPORTED,
                            "the sandbox of an ordinary user has a single account, and %s is another", user);
      call->services->hint (call, "leave the user out; more accounts need a range of subordinate ids (subuid), or root");
      return -1;
    }
  return 0;
}

static int
too_small (struct berth_call *call, const char *what, uint64_t got, uint64_t least)
{
  return call->services->fail (call, BERTH_E_CONFIGURATION, "%s is %llu, and less than %llu does not work", what,
                               (unsigned long long) got, (unsigned long long) least);
}

static int
take_numbers (struct berth_call *call, const struct berth_spec *spec, struct ns_limits *limits)
{
  uint64_t asks = spec->asks;

  if (asks & BERTH_SPEC_MEMORY && (limits->memory = spec->memory_bytes) < MEMORY_MINIMUM)
    return too_small (call, "memory", spec->memory_bytes, MEMORY_MINIMUM);
  if (asks & BERTH_SPEC_CPU && (limits->cpu_milli = spec->cpu_milli) < CPU_MINIMUM)
    return too_small (call, "cpu in thousandths", spec->cpu_milli, CPU_MINIMUM);
  if (asks & BERTH_SPEC_PIDS && (limits->pids = spec->pids) < PIDS_MINIMUM)
    return too_small (call, "pids", spec->pids, PIDS_MINIMUM);
  if (asks & BERTH_SPEC_DISK && (limits->disk = spec->disk_bytes) < DISK_MINIMUM)
    return too_small (call, "the size of /workspace", spec->disk_bytes, DISK_MINIMUM);
  if (asks & BERTH_SPEC_TMP && (limits->tmp = spec->tmp_bytes) < 4096)
    return too_small (call, "the size of /tmp", spec->tmp_bytes, 4096);
  if (asks & BERTH_SPEC_SHM && (limits->shm = spec->shm_bytes) < 4096)
    return too_small (call, "the size of /dev/shm", spec->shm_bytes, 4096);
  if (asks & BERTH_SPEC_OPEN_FILES && (limits->open_files = spec->open_files) < FILES_MINIMUM)
    return too_small (call, "open files", spec->open_files, FILES_MINIMUM);
  if (asks & BERTH_SPEC_FILE_SIZE)
    limits->file_size = spec->file_size_bytes;
  return 0;
}

/* The user wrote it, and it cannot be had: say which, and what would make it possible. */
static int
refuse_unenforced (struct berth_call *call, uint64_t missing)
{
  static const char disk_hint[] = "run it as root, who can make file systems, or leave the limit out";
  static const char cgroup_hint[]
      = "start berth by `systemd-run --user --scope -p Delegate=yes` (cgroup 2), in a cgroup that root gave to this user with none but"
        " his processes, or as root; or leave the limit out";
  static const struct
  {
    uint64_t bit;
    const char *name, *hint;
  } limits[] = {
    { BERTH_SPEC_DISK, "disk", "install mkfs.ext4 (e2fsprogs) and load the kernel's loop module; or leave the limit out" },
    { BERTH_SPEC_MEMORY, "memory",
      "mount the memory controller of cgroup v1 or v2; where there is swap, boot with swapaccount=1" },
    { BERTH_SPEC_CPU, "cpu", "mount the cpu controller of cgroup v1 or v2" },
    { BERTH_SPEC_PIDS, "pids", "mount the pids controller of cgroup v1 or v2" },
  };

  if (missing & BERTH_SPEC_USER_NAMESPACES)
    {
      call->services->fail (call, BERTH_E_CONFIGURATION, "this machine lets no program without privileges make user namespaces");
      call->services->hint (call, "set kernel.unprivileged_userns_clone=1 and kernel.apparmor_restrict_unprivileged_userns=0, where they exist");
      return -1;
    }
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
    if (missing & limits[i].bit)
      {
        call->services->fail (call, BERTH_E_CONFIGURATION, "the limit on %s cannot be enforced on this machine",
                              limits[i].name);
        call->services->hint (call, "%s", !ns_is_ordinary_user ()              ? limits[i].hint
                                    : limits[i].bit == BERTH_SPEC_DISK ? disk_hint
                                                                       : cgroup_hint);
        return -1;
      }
  return 0;
}

/* RLIMIT_NPROC counts a sandbox's own processes and no others where the counter belongs to the user
 * namespace; root's processes are let off, so it is of use to others only. */
static bool
processes_are_counted (void)
{
  struct utsname machine;
  unsigned major, minor;

  return ns_is_ordinary_user () && uname (&machine) == 0 && sscanf (machine.release, "%u.%u", &major, &minor) == 2
         && (major > 5 || (major == 5 && minor >= 14));
}

static bool
setting_is (const char *path, char value)
{
  BERTH_AUTO_FD int fd = open (path, O_RDONLY | O_CLOEXEC);
  char first;

  return fd >= 0 && read (fd, &first, 1) == 1 && first == value;
}

/* What keeps a workload, which has no privileges, from user namespaces whatever its filter says. */
static bool
user_namespaces_are_possible (void)
{
  return !setting_is ("/proc/sys/kernel/unprivileged_userns_clone", '0')
         && !setting_is ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", '1');
}

/* Of the limits that a cgroup gives, those that can be had. */
static uint64_t
limits_there (const struct ns_hierarchies *hierarchies)
{
  return ns_hierarchies_limits (hierarchies) | (processes_are_counted () ? BERTH_SPEC_PIDS : 0);
}

/* One that belongs to a connection ends with it, and secret values are not kept for a second time. */
static bool
can_restart (const struct berth_spec *spec)
{
  if (spec->asks & BERTH_SPEC_OWNED)
    return false;
  for (uint64_t i = 0; spec->asks & BERTH_SPEC_ENVIRONMENT && i < spec->environment_count; i++)
    if (spec->environment[i].flags & BERTH_PAIR_SECRET)
      return false;
  return true;
}

bool
ns_is_single (const struct ns_limits *limits)
{
  return !(limits->posture & BERTH_POSTURE_SEPARATE_USERS);
}

int
ns_still_enforced (struct berth_call *call, const struct ns_hierarchies *hierarchies, const struct ns_limits *limits)
{
  const struct berth_policy policy = { .struct_size = sizeof policy, .default_action = limits->network };
  uint32_t action;

  if (limits->network == BERTH_ALLOW && ns_network_resolve (call, &policy, &action) < 0)
    return -1;
  return refuse_unenforced (call, limits->enforced & CGROUP_SPEC & ~limits_there (hierarchies));
}

int
ns_resolve (struct berth_call *call, const struct ns_hierarchies *hierarchies, bool single, const struct berth_spec *spec,
            struct ns_limits *limits)
{
  uint64_t asks = spec->asks;

  if (BERTH_REFUSE_UNKNOWN (call, SPEC, asks, KNOWN_SPEC) < 0)
    return -1;
  if ((asks & BERTH_SPEC_IMAGE && refuse_image (call, spec->image) < 0)
      || (asks & BERTH_SPEC_USER && refuse_user (call, spec->user, asks & BERTH_SPEC_FORBID_ROOT, single) < 0))
    return -1;
  if (asks & BERTH_SPEC_TIER && spec->minimum_tier > BERTH_TIER_CONTAINER)
    {
      call->services->fail (call, BERTH_E_CAPABILITY_NOT_SUPPORTED, "the ns backend isolates as a container does");
      call->services->hint (call, "a higher tier needs a backend with a kernel of its own");
      return -1;
    }
  *limits = defaults;
  if (take_numbers (call, spec, limits) < 0
      || ns_network_resolve (call, asks & BERTH_SPEC_NETWORK ? spec->network : NULL, &limits->network) < 0)
    return -1;
  limits->enforced = KNOWN_SPEC & ~(BERTH_SPEC_DISK | CGROUP_SPEC);
  if (asks & BERTH_SPEC_DISK && ns_disk_is_possible ())
    limits->enforced |= BERTH_SPEC_DISK;
  if (!(asks & BERTH_SPEC_FILE_SIZE))
    limits->enforced &= ~BERTH_SPEC_FILE_SIZE;
  if (!(asks & BERTH_SPEC_USER_NAMESPACES) || !user_namespaces_are_possible ())
    limits->enforced &= ~BERTH_SPEC_USER_NAMESPACES;
  limits->enforced |= limits_there (hierarchies);
  limits->capabilities = NS_CAPABILITIES;
  if (!ns_hierarchies_freeze (hierarchies))
    limits->capabilities &= ~BERTH_CAP_PAUSE;
  if (!can_restart (spec))
    limits->capabilities &= ~BERTH_CAP_RESTART;
  limits->posture = BERTH_POSTURE_ALL & ~(single ? BERTH_POSTURE_SEPARATE_USERS : 0);
  /* Who makes a user namespace has all of them there. */
  if (limits->enforced & BERTH_SPEC_USER_NAMESPACES)
    limits->posture &= ~BERTH_POSTURE_NO_CAPABILITIES;
  return refuse_unenforced (call, asks & spec->must & ~limits->enforced);
}

int
ns_tell_effective (const struct ns_limits *limits, void *context,
                   int (*effective) (void *, const struct berth_effective *))
{
#define IN_FORCE(bit, value) (limits->enforced & (bit) ? (value) : 0)
  const struct berth_effective told = {
    .struct_size = sizeof told,
    .tier = BERTH_TIER_CONTAINER,
    .capabilities = limits->capabilities,
    .enforced = limits->enforced,
    .run_asks = BERTH_RUN_ENVIRONMENT | BERTH_RUN_WORKDIR | BERTH_RUN_USER | BERTH_RUN_TIMEOUT,
    .posture = limits->posture,
    .runtime = "Linux namespaces",
    .memory_bytes = IN_FORCE (BERTH_SPEC_MEMORY, limits->memory),
    .disk_bytes = IN_FORCE (BERTH_SPEC_DISK, limits->disk),
    .tmp_bytes = IN_FORCE (BERTH_SPEC_TMP, limits->tmp),
    .shm_bytes = IN_FORCE (BERTH_SPEC_SHM, limits->shm),
    .file_size_bytes = IN_FORCE (BERTH_SPEC_FILE_SIZE, limits->file_size),
    .cpu_milli = IN_FORCE (BERTH_SPEC_CPU, limits->cpu_milli),
    .pids = IN_FORCE (BERTH_SPEC_PIDS, limits->pids),
    .open_files = IN_FORCE (BERTH_SPEC_OPEN_FILES, limits->open_files),
  };
#undef IN_FORCE
  return effective (context, &told);
}

int
ns_validate (struct berth_call *call, struct berth_state *state, const struct berth_spec *spec,
             const struct berth_effective_sink *sink)
{
  NS_AUTO_HIERARCHIES struct ns_hierarchies hierarchies = { 0 };
  struct ns_limits limits;
  struct ns_users users;

  if (ns_users_choose (call, state, &users) < 0)
    return -1;
  ns_users_spare (state, &users);
  if (ns_hierarchies_find (state, &hierarchies) < 0)
    return call->services->fail (call, BERTH_E_INTERNAL, "cannot read /proc/self/mountinfo: %m");
  if (ns_resolve (call, &hierarchies, users.single, spec, &limits) < 0 || ns_ids_check (call, state) < 0)
    return -1;
  return ns_tell_effective (&limits, sink->context, sink->effective);
}

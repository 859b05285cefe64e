/* Names that belong to the machine.  Opening them for writing is enough, nothing is written; what
 * is read must have a byte, since a covered file is there and empty. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "conformance/escape/prober.h"

/* A file of /proc that another one lies over. */
static bool
is_covered (int fd, const char *name)
{
  struct statfs system;

  return strncmp (name, "/proc/", 6) == 0 && fstatfs (fd, &system) == 0 && system.f_type != PROC_SUPER_MAGIC;
}

static int
open_name (pid_t target, const struct attempt *self)
{
  const char *name = self->name;
  char byte;
  int fd;

  (void) target;
  while (*name++ != ':')
    continue;
  fd = open (name, (int) self->number | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0)
    return errno == ETXTBSY ? 0 : errno;
  if (is_covered (fd, name))
    return ENODATA;
  if (!self->arguments[0])
    return 0;
  switch (read (fd, &byte, 1))
    {
    case 1:
      return 0;
    case 0:
      return ENODATA;
    default:
      return errno;
    }
}

/* A file of /proc at NAME, which this machine may be without: what the attempt looks for is there then. */
bool
paths_stand_in (const struct attempt *attempt)
{
  const char *name = attempt->name + strcspn (attempt->name, ":") + 1;
  int file = (int) syscall (SYS_open_tree, AT_FDCWD, "/proc/sys/kernel/hostname", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
  bool is_covered_yet = false;
  char path[128];

  if (file < 0 || strlen (name) >= sizeof path)
    return false;
  strcpy (path, name);
  for (char *slash = path; (slash = strchr (slash + 1, '/')) != NULL; *slash = '/')
    {
      char next[128];

      *slash = '\0';
      snprintf (next, sizeof next, "%.*s", (int) (slash + 1 - path + strcspn (slash + 1, "/")), name);
      bool is_last_there = access (next, F_OK) < 0 || strcmp (next, name) == 0;
      if (!is_covered_yet && is_last_there && mount ("none", path, "tmpfs", 0, "mode=755") < 0)
        return false;
      is_covered_yet = is_covered_yet || is_last_there;
      if (is_covered_yet && strcmp (next, name) != 0 && mkdir (next, 0755) < 0)
        return false;
    }
  int fd = open (name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0)
    return false;
  close (fd);
  return syscall (SYS_move_mount, file, "", AT_FDCWD, name, MOVE_MOUNT_F_EMPTY_PATH) == 0;
}

#define WRITE(name) { "write:" name, open_name, O_WRONLY, { 0 } }
#define OPEN(name) { "open:" name, open_name, O_RDONLY, { 0 } }
#define READ(name) { "read:" name, open_name, O_RDONLY, { 1 } }

const struct attempt attempts_paths[] = {
  WRITE ("/proc/sys/kernel/core_pattern"), WRITE ("/proc/sys/kernel/modprobe"), WRITE ("/proc/sys/kernel/hostname"),
  WRITE ("/proc/sys/kernel/sysrq"), WRITE ("/proc/sys/kernel/ns_last_pid"), WRITE ("/proc/sys/kernel/randomize_va_space"),
  WRITE ("/proc/sys/kernel/shmmax"), WRITE ("/proc/sys/vm/drop_caches"), WRITE ("/proc/sys/vm/overcommit_memory"),
  WRITE ("/proc/sys/fs/binfmt_misc/register"), WRITE ("/proc/sys/fs/protected_symlinks"),
  WRITE ("/proc/sys/net/ipv4/ip_forward"), WRITE ("/proc/sys/net/core/somaxconn"), WRITE ("/proc/sys/user/max_user_namespaces"),
  WRITE ("/proc/sysrq-trigger"), WRITE ("/proc/irq/default_smp_affinity"), WRITE ("/proc/mtrr"), WRITE ("/proc/timer_list"),
  WRITE ("/sys/kernel/uevent_helper"), WRITE ("/sys/kernel/mm/transparent_hugepage/enabled"), WRITE ("/sys/power/state"),
  WRITE ("/sys/kernel/mm/ksm/run"), WRITE ("/sys/devices/system/cpu/cpu1/online"), WRITE ("/sys/devices/system/cpu/smt/control"),
  WRITE ("/sys/fs/cgroup/cgroup.procs"), WRITE ("/sys/fs/cgroup/memory/tasks"), WRITE ("/sys/fs/cgroup/pids/tasks"),
  WRITE ("/sys/fs/cgroup/memory/release_agent"), WRITE ("/sys/fs/cgroup/cpu/release_agent"), WRITE ("/sys/kernel/security/lockdown"),
  WRITE ("/etc/passwd"), WRITE ("/etc/ld.so.cache"), WRITE ("/usr/bin/env"), WRITE ("/bin/sh"),
  OPEN ("/dev/mem"), OPEN ("/dev/kmsg"), OPEN ("/dev/port"), OPEN ("/dev/loop-control"), OPEN ("/dev/loop0"), OPEN ("/dev/fuse"),
  OPEN ("/dev/kvm"), OPEN ("/dev/net/tun"), OPEN ("/dev/vsock"), OPEN ("/dev/vhost-net"), OPEN ("/dev/mapper/control"),
  OPEN ("/dev/sda"), OPEN ("/dev/vda"), OPEN ("/dev/nvme0n1"), OPEN ("/dev/snapshot"), OPEN ("/dev/userfaultfd"),
  OPEN ("/dev/cpu/0/msr"), OPEN ("/dev/input"), OPEN ("/dev/block"), OPEN ("/proc/kmsg"), OPEN ("/sys/kernel/debug"),
  OPEN ("/sys/kernel/tracing"), OPEN ("/sys/fs/bpf"), OPEN ("/sys/class"), OPEN ("/sys/module"), OPEN ("/sys/fs/cgroup"),
  READ ("/proc/kcore"), READ ("/proc/kallsyms"), READ ("/proc/keys"), READ ("/proc/key-users"), READ ("/proc/iomem"),
  READ ("/proc/ioports"), READ ("/proc/vmallocinfo"), READ ("/proc/slabinfo"), READ ("/proc/kpagecount"),
  READ ("/proc/kpageflags"), READ ("/proc/pagetypeinfo"), READ ("/proc/buddyinfo"), READ ("/proc/zoneinfo"),
  READ ("/proc/allocinfo"), READ ("/proc/timer_list"), READ ("/proc/sched_debug"),
  READ ("/proc/schedstat"), READ ("/proc/interrupts"), READ ("/proc/softirqs"), READ ("/proc/cmdline"), READ ("/proc/modules"),
  READ ("/proc/swaps"), READ ("/proc/partitions"), READ ("/proc/diskstats"), READ ("/proc/config.gz"), READ ("/proc/consoles"),
  READ ("/proc/locks"), READ ("/proc/fb"), READ ("/proc/misc"), READ ("/proc/dma"), READ ("/proc/pressure/cpu"),
  READ ("/sys/kernel/notes"), READ ("/sys/kernel/vmcoreinfo"), READ ("/sys/class/dmi/id/product_name"),
  READ ("/sys/firmware/acpi/tables/DSDT"), READ ("/etc/shadow"), READ ("/etc/machine-id"), READ ("/etc/hosts.allow"),
  READ ("/var/lib/dpkg/status"),
  { NULL, NULL, 0, { 0 } },
};

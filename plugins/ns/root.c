/* root.c - the plan of a sandbox's root file system.
 *
 * Everything is made on a tmpfs that begins empty, so that what is not named here is absent.  The
 * part that shows the host is made first and closed (read-only, nosuid, nodev) in one step; the
 * sandbox's own file systems are mounted on top of it afterwards. */
#include <fcntl.h>
#include <limits.h>
#include <linux/mount.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "plugins/ns/ns.h"
#include "plugins/ns/plan.h"
#include "sdk/base/cleanup.h"

#define CLOSED (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)
#define BYTES_PER_FILE 2048 /* of a tmpfs; the kernel spends about half of it on each */
#define FILES_MINIMUM 1024
#define INERT (MS_NOSUID | MS_NODEV | MS_NOEXEC)

static void
add (struct ns_plan *plan, uint32_t kind, const char *source, const char *target, uint64_t value)
{
  ns_plan_add (plan, (struct ns_step){ .kind = kind, .source = source, .target = target, .value = value });
}

static void
add_mount (struct ns_plan *plan, const char *type, const char *target, uint64_t flags, const char *data)
{
  ns_plan_add (
      plan, (struct ns_step){ .kind = NS_STEP_MOUNT, .source = type, .target = target, .value = flags, .data = data });
}

void
ns_plan_show (struct ns_plan *plan, const char *source)
{
  const char *target = source + 1;
  struct stat status;
  char link[PATH_MAX];

  if (lstat (source, &status) < 0)
    return;
  if (S_ISLNK (status.st_mode))
    {
      ssize_t size = readlink (source, link, sizeof link - 1);
      if (size > 0)
        add (plan, NS_STEP_LINK, ns_plan_text (plan, "%.*s", (int) size, link), target, 0);
      return;
    }
  if (!S_ISDIR (status.st_mode) && !S_ISREG (status.st_mode))
    return;
  if (S_ISDIR (status.st_mode))
    add (plan, NS_STEP_DIRECTORY, NULL, target, 0755);
  else
    add (plan, NS_STEP_FILE, "", target, 0444);
  ns_plan_add (plan, (struct ns_step){
                         .kind = NS_STEP_BIND, .source = source, .target = target, .flags = NS_STEP_MAY_MISS });
}

/* Programs and libraries, and the little of /sys that they ask about the machine. */
static void
show_host (struct ns_plan *plan)
{
  static const char *const names[]
      = { "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/libo32" };
  static const char *const sys[] = { "/sys/devices/system/cpu", "/sys/devices/system/node",
                                     "/sys/kernel/mm/transparent_hugepage" };
  static const char *const above[] = { "sys", "sys/devices", "sys/devices/system", "sys/kernel", "sys/kernel/mm" };

  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    ns_plan_show (plan, names[i]);
  for (size_t i = 0; i < sizeof above / sizeof *above; i++)
    add (plan, NS_STEP_DIRECTORY, NULL, above[i], 0755);
  for (size_t i = 0; i < sizeof sys / sizeof *sys; i++)
    ns_plan_show (plan, sys[i]);
}

static void
make_directories (struct ns_plan *plan)
{
  static const struct
  {
    const char *name;
    unsigned mode;
  } directories[] = {
    { "dev", 0755 },     { "home", 0755 },    { "mnt", 0755 },       { "opt", 0755 },       { "proc", 0555 },
    { "root", 0700 },    { "run", 0755 },     { "srv", 0755 },       { "tmp", 01777 },      { "var", 0755 },
    { "var/cache", 0755 }, { "var/empty", 0555 }, { "var/lib", 0755 }, { "var/log", 0755 }, { "var/tmp", 01777 },
    { "workspace", 0755 },
  };

  for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
    add (plan, NS_STEP_DIRECTORY, NULL, directories[i].name, directories[i].mode);
  add (plan, NS_STEP_LINK, "/run", "var/run", 0);
  add (plan, NS_STEP_LINK, "/run/lock", "var/lock", 0);
}

static void
cover (struct ns_plan *plan, const char *const *names, size_t count, const char *cover)
{
  for (size_t i = 0; i < count; i++)
    ns_plan_add (plan, (struct ns_step){
                           .kind = NS_STEP_BIND, .source = cover, .target = names[i], .flags = NS_STEP_MAY_MISS });
}

/* A proc of the sandbox's own processes, without what it tells about the machine beside them. */
static void
make_proc (struct ns_plan *plan)
{
  static const char *const files[]
      = { "proc/buddyinfo", "proc/cmdline", "proc/config.gz", "proc/consoles", "proc/diskstats", "proc/dma",
          "proc/interrupts", "proc/iomem", "proc/ioports", "proc/kallsyms", "proc/kcore", "proc/key-users",
          "proc/keys", "proc/kmsg", "proc/latency_stats", "proc/locks", "proc/misc", "proc/modules", "proc/mtrr",
          "proc/partitions", "proc/sched_debug", "proc/schedstat", "proc/softirqs", "proc/swaps", "proc/sysrq-trigger",
          "proc/timer_list", "proc/timer_stats", "proc/zoneinfo" };
  static const char *const directories[]
      = { "proc/acpi", "proc/asound", "proc/bus", "proc/driver", "proc/fs", "proc/irq", "proc/pressure",
          "proc/scsi" };
  static const char *const closed[] = { "proc/sys", "proc/1" };

  add_mount (plan, "proc", "proc", INERT, NULL);
  /* Both covers are on the closed mount, and so are what they cover. */
  cover (plan, files, sizeof files / sizeof *files, NS_EMPTY_FILE);
  cover (plan, directories, sizeof directories / sizeof *directories, "var/empty");
  /* The files of the first process are the sandbox's root's to write, its oom_score_adj one of them. */
  for (size_t i = 0; i < sizeof closed / sizeof *closed; i++)
    {
      add (plan, NS_STEP_BIND, closed[i], closed[i], 0);
      add (plan, NS_STEP_ATTRIBUTES, NULL, closed[i], MOUNT_ATTR_RDONLY);
    }
}

/* A file of nothing costs memory too: SIZE bounds their number as well. */
static const char *
tmpfs_limits (struct ns_plan *plan, const char *mode, uint64_t size)
{
  uint64_t files = size / BYTES_PER_FILE;

  return ns_plan_text (plan, "mode=%s,size=%llu,nr_inodes=%llu", mode, (unsigned long long) size,
                       (unsigned long long) (files > FILES_MINIMUM ? files : FILES_MINIMUM));
}

static void
make_dev (struct ns_plan *plan, const struct ns_limits *limits)
{
  static const struct
  {
    const char *name;
    unsigned major, minor;
  } devices[] = { { "null", 1, 3 }, { "zero", 1, 5 }, { "full", 1, 7 }, { "random", 1, 8 }, { "urandom", 1, 9 }, { "tty", 5, 0 } };
  static const char *const links[][2] = { { "/proc/self/fd", "dev/fd" },
                                          { "/proc/self/fd/0", "dev/stdin" },
                                          { "/proc/self/fd/1", "dev/stdout" },
                                          { "/proc/self/fd/2", "dev/stderr" },
                                          { "pts/ptmx", "dev/ptmx" } };

  add_mount (plan, "tmpfs", "dev", MS_NOSUID | MS_NOEXEC, "mode=755,size=64k");
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
    {
      const char *target = ns_plan_text (plan, "dev/%s", devices[i].name);
      const char *source = ns_plan_text (plan, "/dev/%s", devices[i].name);
      struct stat status;
      /* What a link leads to, or stands there instead, is not shown under the device's name. */
      if (lstat (source, &status) < 0 || !S_ISCHR (status.st_mode)
          || status.st_rdev != makedev (devices[i].major, devices[i].minor))
        plan->odd = source;
      add (plan, NS_STEP_FILE, "", target, 0666);
      add (plan, NS_STEP_BIND, source, target, 0);
    }
  for (size_t i = 0; i < sizeof links / sizeof *links; i++)
    add (plan, NS_STEP_LINK, links[i][0], links[i][1], 0);
  add (plan, NS_STEP_DIRECTORY, NULL, "dev/pts", 0755);
  add (plan, NS_STEP_DIRECTORY, NULL, "dev/shm", 0755);
  /* No file or directory can be added beside the devices, which themselves stay writable. */
  add (plan, NS_STEP_ATTRIBUTES, NULL, "dev", MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
  /* The group tty is there where more than the own group is mapped. */
  add_mount (plan, "devpts", "dev/pts", MS_NOSUID | MS_NOEXEC,
             ns_is_single (limits) ? "newinstance,ptmxmode=0666,mode=0620" : "newinstance,ptmxmode=0666,mode=0620,gid=5");
  add_mount (plan, "tmpfs", "dev/shm", INERT,
             tmpfs_limits (plan, "1777", limits->shm));
}

/* /tmp, /var/tmp, /run and root's home share one tmpfs and so one limit.  It is made at dev, where
 * the devices will cover it: unmounting would wait for every processor. */
static void
make_scratch (struct ns_plan *plan, const struct ns_limits *limits)
{
  static const struct
  {
    const char *inside, *target;
    unsigned mode;
  } parts[] = {
    { "dev/tmp", "tmp", 01777 },
    { "dev/var-tmp", "var/tmp", 01777 },
    { "dev/run", "run", 0755 },
    { "dev/root", "root", 0700 },
  };

  add_mount (plan, "tmpfs", "dev", MS_NOSUID | MS_NODEV,
             tmpfs_limits (plan, "755", limits->tmp));
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    {
      add (plan, NS_STEP_DIRECTORY, NULL, parts[i].inside, parts[i].mode);
      if (strcmp (parts[i].target, "run") == 0)
        add (plan, NS_STEP_DIRECTORY, NULL, "dev/run/lock", 01777);
      add (plan, NS_STEP_BIND, parts[i].inside, parts[i].target, 0);
    }
}

void
ns_plan_root (struct ns_plan *plan, const struct ns_limits *limits, const char *resolver)
{
  add (plan, NS_STEP_PRIVATE, NULL, NULL, 0);
  /* The workspace is the one directory that a box has: it lends its place to the root. */
  if (!(limits->enforced & BERTH_SPEC_DISK))
    add (plan, NS_STEP_HOLD, "workspace", NULL, 0);
  add_mount (plan, "tmpfs", "workspace", MS_NOSUID | MS_NODEV, "mode=755,size=16m");
  add (plan, NS_STEP_ENTER, NULL, "workspace", 0);
  make_directories (plan);
  show_host (plan);
  ns_plan_etc (plan, resolver);
  add (plan, NS_STEP_ATTRIBUTES, NULL, ".", CLOSED);
  make_proc (plan);
  make_scratch (plan, limits);
  make_dev (plan, limits);
  add (plan, NS_STEP_PLACE, NULL, "workspace", 0);
  add (plan, NS_STEP_ATTRIBUTES, NULL, "workspace", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
  add (plan, NS_STEP_HOST_NAME, "sandbox", NULL, 0);
  add (plan, NS_STEP_LOOPBACK, NULL, NULL, 0);
  add (plan, NS_STEP_KEYRING, NULL, NULL, 0);
  add (plan, NS_STEP_PIVOT, NULL, NULL, 0);
}

/* machine.c - what of this machine the local backends need. */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "core/cli/checks.h"
#include "sdk/base/fs.h"
#include "sdk/base/machine.h"
#include "sdk/base/string.h"

#define SMALL ((size_t) 1 << 20)
#define GIB (UINT64_C (1) << 30)
#define SUBORDINATES 65536

/* ---- this machine ---- */

static int
has_openat2 (void)
{
  struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_MAGICLINKS };
  BERTH_AUTO_FD int fd = (int) syscall (SYS_openat2, AT_FDCWD, "/", &how, sizeof how);

  return fd >= 0 ? 0 : errno;
}

static int
has_pidfd (void)
{
  BERTH_AUTO_FD int fd = (int) syscall (SYS_pidfd_open, getpid (), 0);

  return fd >= 0 ? 0 : errno;
}

/* Called wrongly, a call that is there says so. */
static int
has_call (enum cli_call call)
{
  long result = -1;

  switch (call)
    {
    case CLI_CALL_OPENAT2:
      return has_openat2 ();
    case CLI_CALL_PIDFD_OPEN:
      return has_pidfd ();
    case CLI_CALL_CLONE3:
      result = syscall (SYS_clone3, NULL, 0);
      break;
    case CLI_CALL_MOUNT_SETATTR:
      result = syscall (SYS_mount_setattr, -1, "", 0, NULL, 0);
      break;
    case CLI_CALL_SECCOMP:
      result = prctl (PR_GET_SECCOMP, 0, 0, 0, 0);
      break;
    case CLI_CALL_LANDLOCK:
      /* the first version could not let a file be moved, and is not used */
      result = syscall (SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
      if (result >= 0 && result < 2)
        return ENOSYS;
      break;
    }
  return result >= 0 || errno == EINVAL ? 0 : errno;
}

void
cli_this_machine (struct cli_machine *machine, char user[CLI_USER_SIZE])
{
  struct passwd entry, *found = NULL;
  char text[4096];

  if (getpwuid_r (geteuid (), &entry, text, sizeof text, &found) == 0 && found != NULL)
    snprintf (user, CLI_USER_SIZE, "%s", found->pw_name);
  else
    snprintf (user, CLI_USER_SIZE, "%u", (unsigned int) geteuid ());
  *machine = (struct cli_machine){ .root = "", .uid = geteuid (), .user = user, .has_call = has_call, .storage = statfs };
}

/* ---- its files ---- */

void
cli_machine_read (const struct cli_machine *machine, const char *path, struct berth_buffer *text)
{
  BERTH_AUTO_FREE char *whole = berth_string_format ("%s%s", machine->root, path);

  berth_buffer_clear (text);
  if (whole == NULL || berth_fs_read (AT_FDCWD, whole, text, SMALL) < 0)
    berth_buffer_clear (text);
  while (text->size > 0 && text->data[text->size - 1] == '\n')
    text->data[--text->size] = '\0';
}

bool
cli_machine_has (const struct cli_machine *machine, const char *path)
{
  BERTH_AUTO_FREE char *whole = berth_string_format ("%s%s", machine->root, path);
  struct stat status;

  return whole != NULL && lstat (whole, &status) == 0;
}

static bool
says (const struct cli_machine *machine, const char *path, const char *wanted)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };

  cli_machine_read (machine, path, &text);
  return strcmp (berth_buffer_string (&text), wanted) == 0;
}

bool
cli_machine_is (const struct cli_machine *machine, unsigned int major, unsigned int minor)
{
  BERTH_AUTO_BUFFER struct berth_buffer release = { 0 };
  unsigned int got[2] = { 0, 0 };

  cli_machine_read (machine, "/proc/sys/kernel/osrelease", &release);
  return sscanf (berth_buffer_string (&release), "%u.%u", &got[0], &got[1]) == 2
         && (got[0] > major || (got[0] == major && got[1] >= minor));
}

/* ---- the kernel ---- */

static void
check_release (struct cli_checkup *checkup)
{
  BERTH_AUTO_BUFFER struct berth_buffer release = { 0 };

  cli_machine_read (checkup->machine, "/proc/sys/kernel/osrelease", &release);
  cli_found (checkup, "kernel", cli_machine_is (checkup->machine, 5, 12) ? CLI_OK : CLI_BROKEN,
             release.size > 0 ? berth_buffer_string (&release) : "not known: /proc is not mounted", "the ns backend needs Linux 5.12",
             "boot a newer kernel");
}

static void
check_calls (struct cli_checkup *checkup)
{
  static const struct
  {
    const char *name;
    enum cli_call call;
    enum cli_verdict verdict;
    const char *cost, *fix;
  } calls[] = {
    { "openat2", CLI_CALL_OPENAT2, CLI_WARNING, "paths are opened component by component, which is slower",
      "boot Linux 5.6 or newer, or let the filter of the container that this runs in allow it" },
    { "pidfd", CLI_CALL_PIDFD_OPEN, CLI_BROKEN, "the ns backend cannot name a process safely, and makes no sandbox",
      "boot Linux 5.3 or newer, or let the filter of the container that this runs in allow pidfd_open" },
    { "clone3", CLI_CALL_CLONE3, CLI_BROKEN, "the ns backend cannot start a sandbox",
      "boot Linux 5.7 or newer, or let the filter of the container that this runs in allow it" },
    { "mount_setattr", CLI_CALL_MOUNT_SETATTR, CLI_BROKEN, "the ns backend cannot make a root that is only read",
      "boot Linux 5.12 or newer, or let the filter of the container that this runs in allow it" },
    { "landlock", CLI_CALL_LANDLOCK, CLI_WARNING, "commands have one wall less; mounts, users and the filter are there all the same",
      "boot with landlock in the list of lsm=" },
  };

  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    {
      int error = checkup->machine->has_call (calls[i].call);
      cli_found (checkup, calls[i].name, error == 0 ? CLI_OK : calls[i].verdict, error == 0 ? "there" : strerror (error),
                 calls[i].cost, calls[i].fix);
    }
}

static void
check_seccomp (struct cli_checkup *checkup)
{
  BERTH_AUTO_BUFFER struct berth_buffer actions = { 0 };
  bool there = checkup->machine->has_call (CLI_CALL_SECCOMP) == 0;

  cli_machine_read (checkup->machine, "/proc/sys/kernel/seccomp/actions_avail", &actions);
  cli_found (checkup, "seccomp", there && actions.size > 0 ? CLI_OK : CLI_BROKEN,
             there && actions.size > 0 ? berth_buffer_string (&actions) : "none",
             "local backends cannot filter system calls and are refused", "boot a kernel with CONFIG_SECCOMP_FILTER");
}

static void
check_user_namespaces (struct cli_checkup *checkup)
{
  static const struct
  {
    const char *file, *value;
    bool of_root; /* root is stopped by it too */
    const char *found, *fix;
  } stops[] = {
    { "/proc/sys/user/max_user_namespaces", "", true, "the kernel has none", "boot a kernel with CONFIG_USER_NS" },
    { "/proc/sys/user/max_user_namespaces", "0", true, "user.max_user_namespaces is 0", "sysctl -w user.max_user_namespaces=15000" },
    { "/proc/sys/kernel/unprivileged_userns_clone", "0", false, "kernel.unprivileged_userns_clone is 0: for root only",
      "sysctl -w kernel.unprivileged_userns_clone=1, or run as root" },
    { "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", false,
      "kernel.apparmor_restrict_unprivileged_userns is 1: for root only",
      "give berth an AppArmor profile with `userns,`, or sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or run as root" },
  };

  for (size_t i = 0; i < sizeof stops / sizeof *stops; i++)
    if ((stops[i].of_root || checkup->machine->uid != 0) && says (checkup->machine, stops[i].file, stops[i].value))
      {
        cli_found (checkup, "user namespaces", CLI_BROKEN, stops[i].found, "the ns backend cannot make a sandbox", stops[i].fix);
        return;
      }
  cli_found (checkup, "user namespaces", CLI_OK, "there", NULL, NULL);
}

/* A new proc shows what the old one shows; where something covers a part of that the kernel refuses it. */
static void
check_proc (struct cli_checkup *checkup)
{
  BERTH_AUTO_BUFFER struct berth_buffer mounts = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer covered = { 0 };
  char *save = NULL, point[4096];

  cli_machine_read (checkup->machine, "/proc/self/mountinfo", &mounts);
  for (char *line = mounts.size > 0 ? strtok_r (mounts.data, "\n", &save) : NULL; line != NULL; line = strtok_r (NULL, "\n", &save))
    if (sscanf (line, "%*s %*s %*s %*s %4095s", point) == 1 && berth_string_starts_with (point, "/proc/")
        && strcmp (point, "/proc/sys/fs/binfmt_misc") != 0)
      berth_buffer_appendf (&covered, "%s%s", covered.size > 0 ? " " : "covered: ", point);
  cli_found (checkup, "proc", covered.size == 0 ? CLI_OK : CLI_WARNING, covered.size == 0 ? "open" : berth_buffer_string (&covered),
             "the kernel may refuse a sandbox its own /proc, and then the ns backend makes none",
             "run outside of the container, or uncover its /proc (docker: --security-opt systempaths=unconfined)");
}

/* Told for what is run inside and for backends to come: no backend here mounts one, so that it costs nothing. */
static void
check_overlay (struct cli_checkup *checkup)
{
  BERTH_AUTO_BUFFER struct berth_buffer list = { 0 };

  cli_machine_read (checkup->machine, "/proc/filesystems", &list);
  bool there = strstr (berth_buffer_string (&list), "\toverlay") != NULL || cli_machine_has (checkup->machine, "/sys/module/overlay");
  cli_found (checkup, "overlay", CLI_OK, there ? "there" : "not loaded, and no backend here needs it", NULL, NULL);
}

/* ---- subordinate ids ---- */

/* What is missing, in words; "" when nothing. */
static void
find_gap (const struct cli_machine *machine, struct berth_buffer *gap)
{
  static const char *const files[] = { "/etc/subuid", "/etc/subgid" };
  static const char *const programs[] = { "/usr/bin/newuidmap", "/usr/bin/newgidmap" };

  for (int i = 0; i < 2 && gap->size == 0; i++)
    {
      BERTH_AUTO_FREE char *path = berth_string_format ("%s%s", machine->root, programs[i]);
      struct stat status;
      if (path == NULL || stat (path, &status) < 0)
        berth_buffer_appendf (gap, "no %s", programs[i]);
      else if (!(status.st_mode & S_ISUID) && getxattr (path, "security.capability", NULL, 0) <= 0)
        berth_buffer_appendf (gap, "%s is not set-user-ID", programs[i]);
    }
  for (int i = 0; i < 2 && gap->size == 0; i++)
    {
      uint64_t most;
      if (berth_machine_subordinates (machine->root, files[i], machine->user, machine->uid, SUBORDINATES, &most) == 0)
        berth_buffer_appendf (gap, "%s gives %s %llu ids, and %d are needed", files[i], machine->user, (unsigned long long) most,
                              SUBORDINATES);
    }
}

static void
check_subordinate_ids (struct cli_checkup *checkup)
{
  BERTH_AUTO_BUFFER struct berth_buffer gap = { 0 };

  if (checkup->machine->uid != 0)
    find_gap (checkup->machine, &gap);
  BERTH_AUTO_FREE char *fix
      = berth_string_format ("install newuidmap (package uidmap, or shadow-utils), and usermod --add-subuids 100000-165535 "
                             "--add-subgids 100000-165535 %s, or other ids that are free", checkup->machine->user);
  cli_found (checkup, "subordinate ids", gap.size == 0 ? CLI_OK : CLI_WARNING,
             checkup->machine->uid == 0 ? "root needs none" : gap.size == 0 ? "there" : berth_buffer_string (&gap),
             "sandboxes have one account: root and others inside are refused", fix);
}

void
cli_check_kernel (struct cli_checkup *checkup)
{
  check_release (checkup);
  check_calls (checkup);
  check_seccomp (checkup);
  check_user_namespaces (checkup);
  check_subordinate_ids (checkup);
  check_proc (checkup);
  check_overlay (checkup);
}

/* ---- devices and programs ---- */

static void
check_network (struct cli_checkup *checkup)
{
  static const struct
  {
    const char *found, *fix;
  } lacks[] = {
    [BERTH_MACHINE_LACKS_NOTHING] = { "pasta and " BERTH_MACHINE_TUN, NULL },
    [BERTH_MACHINE_LACKS_PROGRAM] = { "no pasta in PATH", "install passt" },
    [BERTH_MACHINE_LACKS_DEVICE] = { "no " BERTH_MACHINE_TUN, "modprobe tun, or give " BERTH_MACHINE_TUN
                                                              " to the container that this runs in" },
    [BERTH_MACHINE_LACKS_RIGHT] = { BERTH_MACHINE_TUN " is not for this user", "chmod 666 " BERTH_MACHINE_TUN
                                                                               ", as systems with udev have it" },
  };
  BERTH_AUTO_FREE char *program = NULL;
  enum berth_machine_lack lack = berth_machine_network (checkup->machine->root, checkup->machine->uid, &program);

  cli_found (checkup, "network", lack == BERTH_MACHINE_LACKS_NOTHING ? CLI_OK : CLI_WARNING, lacks[lack].found,
             "`--net allow` is refused", lacks[lack].fix);
}

static void
check_disk (struct cli_checkup *checkup)
{
  static const struct
  {
    const char *found, *fix;
  } lacks[] = {
    [BERTH_MACHINE_LACKS_NOTHING] = { "loop devices and mkfs.ext4", NULL },
    [BERTH_MACHINE_LACKS_PROGRAM] = { "no mkfs.ext4", "install e2fsprogs" },
    [BERTH_MACHINE_LACKS_DEVICE] = { "no " BERTH_MACHINE_LOOP, "modprobe loop, or give loop devices to the container that this runs in" },
    [BERTH_MACHINE_LACKS_RIGHT] = { "for root only", "run as root where a workspace needs a limit" },
  };
  BERTH_AUTO_FREE char *program = NULL;
  enum berth_machine_lack lack = berth_machine_disk (checkup->machine->root, checkup->machine->uid, &program);

  cli_found (checkup, "disk limits", lack == BERTH_MACHINE_LACKS_NOTHING ? CLI_OK : CLI_WARNING, lacks[lack].found,
             "`--disk` is refused", lacks[lack].fix);
}

void
cli_check_devices (struct cli_checkup *checkup)
{
  check_network (checkup);
  check_disk (checkup);
}

/* ---- storage ---- */

static void
tell_storage (struct cli_checkup *checkup, const char *path, const struct statfs *status)
{
  uint64_t free = (uint64_t) status->f_bavail * (uint64_t) status->f_bsize;
  BERTH_AUTO_BUFFER struct berth_buffer found = { 0 };
  const char *cost = NULL, *fix = "choose another with --state-dir or BERTH_STATE_DIR";

  berth_buffer_appendf (&found, "%s: %.1f GiB free", path, (double) free / (double) GIB);
  if (status->f_flags & ST_NOEXEC)
    {
      berth_buffer_append_string (&found, ", noexec");
      cost = "no program in a workspace can be executed";
    }
  else if (status->f_type == NFS_SUPER_MAGIC || status->f_type == SMB2_SUPER_MAGIC || status->f_type == FUSE_SUPER_MAGIC)
    {
      berth_buffer_append_string (&found, ", on another machine or in a program");
      cost = "files there may not belong to the user ids of sandboxes, which then cannot write them";
    }
  else if (status->f_type == TMPFS_MAGIC || status->f_type == RAMFS_MAGIC)
    {
      berth_buffer_append_string (&found, ", in memory");
      cost = "workspaces take memory, and are gone after a restart of the machine";
    }
  else if (free < GIB || (status->f_files > 0 && status->f_ffree < 10000))
    {
      cost = "workspaces may find it full";
      fix = "make room, or choose another with --state-dir or BERTH_STATE_DIR";
    }
  cli_found (checkup, "state storage", cost == NULL ? CLI_OK : CLI_WARNING, berth_buffer_string (&found), cost, fix);
}

void
cli_check_storage (struct cli_checkup *checkup, const char *path)
{
  struct statfs status;

  if (path != NULL && checkup->machine->storage (path, &status) == 0)
    tell_storage (checkup, path, &status);
  else
    cli_found (checkup, "state storage", CLI_WARNING, path != NULL ? path : "not known", "whether there is room is not known",
               "choose another with --state-dir or BERTH_STATE_DIR");
}

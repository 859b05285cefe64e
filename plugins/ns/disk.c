/* disk.c - a workspace of a limited size: an ext4 file system in a sparse file of the box.
 *
 * It is mounted by descriptor and only in the sandbox's own mount namespace, so that this machine's
 * table of mounts never shows it.  With that namespace the mount goes, with the mount the loop
 * device, which clears itself: no crash leaves one.  The lock that is taken on the open file goes
 * over to the loop device, and tells everybody whether one still has it. */
#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <linux/mount.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugins/ns/ns.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/clock.h"
#include "sdk/base/fs.h"
#include "sdk/base/machine.h"

#define IMAGE "workspace.img"
#define LOOP_TRIES 64
#define FREE_MS 10000
#define POLL_MS 5

bool
ns_disk_is_possible (void)
{
  BERTH_AUTO_FREE char *program = NULL;

  return berth_machine_disk ("", geteuid (), &program) == BERTH_MACHINE_LACKS_NOTHING;
}

/* ---- making ---- */

static int
run_mkfs (struct berth_call *call, int image, const char *id, uint32_t owner)
{
  char options[96];
  const char *const arguments[] = { "mkfs.ext4", "-q", "-F", "-m", "0", "-E", options, NS_PROGRAM_FILE_PATH, NULL };
  BERTH_AUTO_FREE char *path = NULL;
  enum berth_machine_lack lack = berth_machine_disk ("", geteuid (), &path);
  const struct ns_program program = { .path = path, .arguments = arguments, .file = image, .errors = -1 };
  int status;

  if (lack != BERTH_MACHINE_LACKS_NOTHING)
    return call->services->fail (call, BERTH_E_CONFIGURATION, "the disk of %s cannot be made: this machine has no %s", id,
                                 lack == BERTH_MACHINE_LACKS_PROGRAM ? "mkfs.ext4" : BERTH_MACHINE_LOOP);
  snprintf (options, sizeof options, "root_owner=%u:%u,lazy_itable_init=1,lazy_journal_init=1,nodiscard", owner, owner);
  int told = ns_program_run (call, &program, &status);
  if (told < 0)
    return call->services->fail (call, BERTH_E_CONFIGURATION, "cannot execute mkfs.ext4: %m");
  uint32_t code = call->services->cancelled (call);
  if (code != 0)
    return call->services->fail (call, code, "interrupted while the disk of %s was made", id);
  /* Where nothing is told the mount shows. */
  if (told && (!WIFEXITED (status) || WEXITSTATUS (status) != 0))
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "mkfs.ext4 could not make the disk of %s: status %#x", id,
                                 (unsigned) status);
  return 0;
}

int
ns_disk_make (struct berth_call *call, int box, const char *id, uint64_t size, uint32_t owner)
{
  BERTH_AUTO_FD int image = openat (box, IMAGE, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

  if (image < 0 || ftruncate (image, (off_t) size) < 0)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "cannot make a disk of %llu bytes for %s: %m",
                                 (unsigned long long) size, id);
  if (run_mkfs (call, image, id, owner) < 0)
    return -1;
  close (image);
  image = -1;
  BERTH_AUTO_FD int mount = ns_disk_open (call, box, id);
  if (mount < 0)
    return -1;
  if (unlinkat (mount, "lost+found", AT_REMOVEDIR) < 0 && errno != ENOENT)
    return call->services->fail (call, BERTH_E_INTERNAL, "cannot empty the disk of %s: %m", id);
  return BERTH_STEAL_FD (mount);
}

/* ---- mounting ---- */

/* A loop device that shows IMAGE and clears itself at its last close; -1 with errno. */
static int
attach (int image, char *name, size_t name_size)
{
  BERTH_AUTO_FD int control = open (BERTH_MACHINE_LOOP, O_RDWR | O_CLOEXEC);
  const struct loop_config config = { .fd = (uint32_t) image, .info = { .lo_flags = LO_FLAGS_AUTOCLEAR } };

  for (int tries = 0; control >= 0 && tries < LOOP_TRIES; tries++)
    {
      int number = ioctl (control, LOOP_CTL_GET_FREE);
      if (number < 0)
        return -1;
      snprintf (name, name_size, "/dev/loop%d", number);
      BERTH_AUTO_FD int loop = open (name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
      if (loop < 0)
        return -1;
      if (ioctl (loop, LOOP_CONFIGURE, &config) == 0)
        return BERTH_STEAL_FD (loop);
      if (errno != EBUSY)
        return -1;
    }
  return -1;
}

static int
mount_device (const char *device)
{
  BERTH_AUTO_FD int context = (int) syscall (SYS_fsopen, "ext4", FSOPEN_CLOEXEC);

  if (context < 0 || syscall (SYS_fsconfig, context, FSCONFIG_SET_STRING, "source", device, 0) < 0
      || syscall (SYS_fsconfig, context, FSCONFIG_SET_FLAG, "noinit_itable", NULL, 0) < 0
      || syscall (SYS_fsconfig, context, FSCONFIG_SET_FLAG, "discard", NULL, 0) < 0
      || syscall (SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
    return -1;
  return (int) syscall (SYS_fsmount, context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
}

int
ns_disk_open (struct berth_call *call, int box, const char *id)
{
  char device[32] = "a loop device";

  if (ns_disk_wait (call, box, id) <= 0)
    {
      if (call->services->failed (call) == 0)
        call->services->fail (call, BERTH_E_CONFLICT, "the disk of %s is still in use", id);
      return -1;
    }
  BERTH_AUTO_FD int image = openat (box, IMAGE, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (image < 0 || flock (image, LOCK_EX | LOCK_NB) < 0)
    return call->services->fail (call, BERTH_E_INTERNAL, "cannot open the disk of %s: %m", id);
  BERTH_AUTO_FD int loop = attach (image, device, sizeof device);
  int mount = loop >= 0 ? mount_device (device) : -1;
  if (mount >= 0)
    return mount;
  call->services->fail (call, BERTH_E_CONFIGURATION, "cannot mount the disk of %s through %s: %m", id, device);
  call->services->hint (call, "a limited workspace needs loop devices and ext4 in the kernel, and a root that may mount");
  return -1;
}

int
ns_disk_wait (struct berth_call *call, int box, const char *id)
{
  BERTH_AUTO_FD int image = openat (box, IMAGE, O_RDWR | O_NOFOLLOW | O_CLOEXEC);

  if (image < 0)
    return errno == ENOENT ? 1 : call->services->fail (call, BERTH_E_UNREACHABLE, "cannot open the disk of %s: %m", id);
  for (int64_t end = berth_clock_monotonic_ms () + FREE_MS; flock (image, LOCK_EX | LOCK_NB) < 0;)
    {
      uint32_t code = call->services->cancelled (call);
      if (code != 0)
        return call->services->fail (call, code, "interrupted while the disk of %s was given back", id);
      if ((errno != EWOULDBLOCK && errno != EINTR) || berth_clock_monotonic_ms () >= end)
        return 0;
      berth_clock_sleep_ms (POLL_MS);
    }
  return 1;
}

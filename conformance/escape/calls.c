/* System calls that need privileges, or that open so much of the kernel that nobody has them. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "conformance/escape/prober.h"

#define NEW_TIME_NAMESPACE 0x80
#define HIGH_RUBBISH (1L << 40) /* above what the kernel looks at */

static int
call (pid_t target, const struct attempt *self)
{
  const long *a = self->arguments;

  (void) target;
  return syscall (self->number, a[0], a[1], a[2], a[3], a[4]) < 0 ? errno : 0;
}

/* Its child ends at once. */
static int
make_process (pid_t target, const struct attempt *self)
{
  long child = syscall (SYS_clone, self->arguments[0] | SIGCHLD, 0, 0, 0, 0);

  (void) target;
  if (child == 0)
    _exit (0);
  return child < 0 ? errno : 0;
}

static int
make_process_3 (pid_t target, const struct attempt *self)
{
  uint64_t arguments[11] = { (uint64_t) self->arguments[0], 0, 0, 0, SIGCHLD };
  long child = syscall (SYS_clone3, arguments, sizeof arguments);

  (void) target;
  if (child == 0)
    _exit (0);
  return child < 0 ? errno : 0;
}

static int
raise_capabilities (pid_t target, const struct attempt *self)
{
  struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
  struct __user_cap_data_struct data[2];

  (void) target;
  if (syscall (SYS_capget, &header, data) < 0)
    return errno;
  data[0].effective = data[0].permitted = 1u << self->arguments[0];
  data[1].effective = data[1].permitted = 0;
  return syscall (SYS_capset, &header, data) < 0 ? errno : 0;
}

static int
raise_limit (pid_t target, const struct attempt *self)
{
  struct rlimit limit;

  (void) target;
  if (getrlimit ((int) self->arguments[0], &limit) < 0)
    return errno;
  limit.rlim_max = (rlim_t) self->arguments[1];
  if (setrlimit ((int) self->arguments[0], &limit) < 0 || getrlimit ((int) self->arguments[0], &limit) < 0)
    return errno;
  return limit.rlim_max == (rlim_t) self->arguments[1] ? 0 : EPERM; /* it was only told so */
}

/* By both calls, and with a pointer whose lower half is 0, which a filter might take for none. */
static int
lower_core_limit (pid_t target, const struct attempt *self)
{
  struct rlimit *limit = mmap ((void *) (UINT64_C (5) << 32), sizeof *limit, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  struct rlimit now;

  (void) target;
  (void) self;
  if (limit == MAP_FAILED)
    return EBUSY;
  syscall (SYS_setrlimit, RLIMIT_CORE, limit);
  syscall (SYS_prlimit64, 0, RLIMIT_CORE, limit, NULL);
  syscall (SYS_prlimit64, getpid (), RLIMIT_CORE, limit, &now);
  return getrlimit (RLIMIT_CORE, &now) == 0 && now.rlim_max == 0 ? 0 : EPERM;
}

static int
make_device (pid_t target, const struct attempt *self)
{
  char name[] = "/tmp/berth-test-XXXXXX";
  char node[64];
  int result;

  (void) target;
  if (mkdtemp (name) == NULL)
    return EBUSY;
  strcpy (node, name);
  strcat (node, "/node");
  result = mknod (node, (mode_t) self->arguments[0] | 0600, (dev_t) self->arguments[1]) < 0 ? errno : 0;
  unlink (node);
  rmdir (name);
  return result;
}

/* On the terminal of this process itself. */
static int
inject (pid_t target, const struct attempt *self)
{
  char byte = 'x';
  int master = posix_openpt (O_RDWR | O_NOCTTY | O_CLOEXEC);
  int slave;

  (void) target;
  if (master < 0 || grantpt (master) < 0 || unlockpt (master) < 0)
    return EBUSY;
  slave = open (ptsname (master), O_RDWR | O_CLOEXEC);
  if (slave < 0)
    return EBUSY;
  ioctl (slave, TIOCSCTTY, 0);
  return syscall (SYS_ioctl, slave, self->arguments[0], &byte) < 0 ? errno : 0;
}

static int
watch_processor (pid_t target, const struct attempt *self)
{
  struct perf_event_attr event = { .type = PERF_TYPE_SOFTWARE, .size = sizeof event, .config = PERF_COUNT_SW_CPU_CLOCK };

  (void) self;
  return syscall (SYS_perf_event_open, &event, target, -1, -1, 0) < 0 ? errno : 0;
}

static int
make_ring (pid_t target, const struct attempt *self)
{
  char parameters[120] = { 0 };

  (void) target;
  (void) self;
  return syscall (SYS_io_uring_setup, 1, parameters) < 0 ? errno : 0;
}

static int
set_attributes (pid_t target, const struct attempt *self)
{
  uint64_t nothing[4] = { 0 };

  (void) target;
  (void) self;
  return syscall (SYS_mount_setattr, AT_FDCWD, "/", 0, nothing, sizeof nothing) < 0 ? errno : 0;
}

static int
adjust_clock (pid_t target, const struct attempt *self)
{
  struct timex nothing = { 0 };

  (void) target;
  return (self->arguments[0] ? syscall (SYS_clock_adjtime, 0, &nothing) : syscall (SYS_adjtimex, &nothing)) < 0 ? errno : 0;
}

static int
take_processor (pid_t target, const struct attempt *self)
{
  struct sched_param parameters = { .sched_priority = 1 };

  (void) target;
  (void) self;
  return sched_setscheduler (0, SCHED_FIFO, &parameters) < 0 ? errno : 0;
}

#define TEXT(text) ((long) (text))
#define CALL(name, number, ...) { (name), call, (number), { __VA_ARGS__ } }

const struct attempt attempts_calls[] = {
  CALL ("mount", SYS_mount, TEXT ("none"), TEXT ("/proc"), TEXT ("tmpfs")),
  CALL ("mount-bind", SYS_mount, TEXT ("/"), TEXT ("/tmp"), 0, MS_BIND),
  CALL ("mount-writable", SYS_mount, 0, TEXT ("/"), 0, MS_REMOUNT | MS_BIND),
  CALL ("mount-shared", SYS_mount, 0, TEXT ("/"), 0, MS_SHARED | MS_REC),
  CALL ("umount", SYS_umount2, TEXT ("/proc"), MNT_DETACH),
  CALL ("pivot_root", SYS_pivot_root, TEXT ("."), TEXT (".")),
  CALL ("chroot", SYS_chroot, TEXT ("/")),
  CALL ("fsopen", SYS_fsopen, TEXT ("tmpfs"), 0),
  CALL ("fsmount", SYS_fsmount, -1, 0, 0),
  CALL ("fsconfig", SYS_fsconfig, -1, 6, 0, 0, 0),
  CALL ("fspick", SYS_fspick, AT_FDCWD, TEXT ("/"), 0),
  CALL ("open_tree", SYS_open_tree, AT_FDCWD, TEXT ("/"), 1),
  CALL ("move_mount", SYS_move_mount, -1, TEXT (""), -1, TEXT (""), 0x44),
  { "mount_setattr", set_attributes, 0, { 0 } },
  CALL ("open_by_handle_at", SYS_open_by_handle_at, -1, 0, 0),
  CALL ("name_to_handle_at", SYS_name_to_handle_at, AT_FDCWD, TEXT ("/"), 0, 0, 0),
  CALL ("fanotify_init", SYS_fanotify_init, 4, 0),
  CALL ("setns", SYS_setns, -1, 0),
  CALL ("unshare-user", SYS_unshare, CLONE_NEWUSER),
  CALL ("unshare-mount", SYS_unshare, CLONE_NEWNS),
  CALL ("unshare-net", SYS_unshare, CLONE_NEWNET),
  CALL ("unshare-pid", SYS_unshare, CLONE_NEWPID),
  CALL ("unshare-time", SYS_unshare, NEW_TIME_NAMESPACE),
  CALL ("unshare-cgroup-high", SYS_unshare, CLONE_NEWCGROUP | HIGH_RUBBISH),
  { "clone-user", make_process, 0, { CLONE_NEWUSER } },
  { "clone-net", make_process, 0, { CLONE_NEWNET } },
  { "clone-mount-high", make_process, 0, { CLONE_NEWNS | HIGH_RUBBISH } },
  { "clone3-user", make_process_3, 0, { CLONE_NEWUSER } },
  { "clone3", make_process_3, 0, { 0 } },
  CALL ("bpf", SYS_bpf, 0, 0, 0),
  { "perf_event_open", watch_processor, 0, { 0 } },
  CALL ("userfaultfd", SYS_userfaultfd, 0),
  { "io_uring_setup", make_ring, 0, { 0 } },
  CALL ("io_uring_enter", SYS_io_uring_enter, -1, 0, 0, 0, 0),
  CALL ("io_uring_register", SYS_io_uring_register, -1, 0, 0, 0),
  CALL ("keyctl", SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 1),
  CALL ("keyctl-user", SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_KEYRING, 1),
  CALL ("add_key", SYS_add_key, TEXT ("user"), TEXT ("berth-test"), TEXT ("x"), 1, KEY_SPEC_PROCESS_KEYRING),
  CALL ("request_key", SYS_request_key, TEXT ("user"), TEXT ("berth-test"), 0, KEY_SPEC_PROCESS_KEYRING),
  CALL ("kexec_load", SYS_kexec_load, 0, 0, 0, 0x7fff0000),
#ifdef SYS_kexec_file_load
  CALL ("kexec_file_load", SYS_kexec_file_load, -1, -1, 0, 0, 0x7fff),
#endif
  CALL ("init_module", SYS_init_module, 0, 0, 0),
  CALL ("finit_module", SYS_finit_module, -1, TEXT (""), 0),
  CALL ("delete_module", SYS_delete_module, TEXT ("berth_test_none"), 0x800),
  CALL ("reboot", SYS_reboot, 0, 0, 0, 0),
  CALL ("swapon", SYS_swapon, TEXT ("/berth-test-none"), 0),
  CALL ("swapoff", SYS_swapoff, TEXT ("/berth-test-none")),
  CALL ("quotactl", SYS_quotactl, 0x80000700, TEXT ("/berth-test-none"), 0, 0),
  CALL ("acct", SYS_acct, TEXT ("/berth-test-none")),
  CALL ("syslog", SYS_syslog, 10, 0, 0),
#ifdef SYS_iopl
  CALL ("iopl", SYS_iopl, 3),
  CALL ("ioperm", SYS_ioperm, 0x80, 1, 1),
#endif
  CALL ("vhangup", SYS_vhangup, 0),
  CALL ("sethostname", SYS_sethostname, TEXT ("berth"), 5),
  CALL ("setdomainname", SYS_setdomainname, TEXT ("berth"), 5),
  CALL ("clock_settime", SYS_clock_settime, 9999, 0),
  CALL ("settimeofday", SYS_settimeofday, 0, 0),
  { "adjtimex", adjust_clock, 0, { 0 } },
  { "clock_adjtime", adjust_clock, 0, { 1 } },
  CALL ("personality", SYS_personality, 0x0400000),
  CALL ("personality-high", SYS_personality, 0x0400000 | HIGH_RUBBISH),
  CALL ("socket-packet", SYS_socket, AF_PACKET, SOCK_RAW, 0),
  CALL ("socket-raw", SYS_socket, AF_INET, SOCK_RAW, 1),
  CALL ("socket-raw-6", SYS_socket, AF_INET6, SOCK_RAW, 58),
  CALL ("socket-vsock", SYS_socket, AF_VSOCK, SOCK_STREAM, 0),
  CALL ("socket-alg", SYS_socket, AF_ALG, SOCK_SEQPACKET, 0),
  CALL ("socket-key", SYS_socket, AF_KEY, SOCK_RAW, 2),
  CALL ("socket-xdp", SYS_socket, 44, SOCK_RAW, 0),
  CALL ("socket-bluetooth", SYS_socket, AF_BLUETOOTH, SOCK_RAW, 1),
  CALL ("socket-audit", SYS_socket, AF_NETLINK, SOCK_RAW, 9),
  CALL ("socket-netfilter", SYS_socket, AF_NETLINK, SOCK_RAW, 12),
  CALL ("socket-uevent", SYS_socket, AF_NETLINK, SOCK_RAW, 15),
  CALL ("socket-packet-high", SYS_socket, AF_PACKET | HIGH_RUBBISH, SOCK_RAW, 0),
#ifdef SYS_modify_ldt
  CALL ("modify_ldt", SYS_modify_ldt, 0, 0, 0),
#endif
  { "capset", raise_capabilities, 0, { CAP_SYS_ADMIN } },
  CALL ("prctl-mm", SYS_prctl, PR_SET_MM, PR_SET_MM_BRK, 0, 0, 0),
  CALL ("prctl-securebits", SYS_prctl, PR_SET_SECUREBITS, 0, 0, 0, 0),
  CALL ("prctl-bounding", SYS_prctl, PR_CAPBSET_DROP, 0, 0, 0, 0),
  CALL ("setpriority", SYS_setpriority, PRIO_PROCESS, 0, -5),
  CALL ("ioprio", SYS_ioprio_set, 1, 0, 1 << 13 | 4),
  { "scheduler", take_processor, 0, { 0 } },
  { "limit-nice", raise_limit, 0, { RLIMIT_NICE, 40 } },
  { "limit-core", raise_limit, 0, { RLIMIT_CORE, -1 } },
  { "limit-core-0", lower_core_limit, 0, { 0 } },
  { "mknod-block", make_device, 0, { S_IFBLK, 8 << 8 } },
  { "mknod-memory", make_device, 0, { S_IFCHR, 1 << 8 | 1 } },
  { "terminal-input", inject, 0, { TIOCSTI } },
  { "terminal-input-high", inject, 0, { TIOCSTI | HIGH_RUBBISH } },
  { "terminal-selection", inject, 0, { TIOCLINUX } },
  { "terminal-discipline", inject, 0, { TIOCSETD } },
  { NULL, NULL, 0, { 0 } },
};

/* child.c - from clone to the agent.  Only system calls from here on: see plan.h.
 *
 * What libc or a sanitizer does more than the call (cancellation, counting, locks that another
 * thread of the host may have held) is passed by. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/keyctl.h>
#include <linux/mount.h>
#include <linux/sched.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "plugins/ns/plan.h"

#define NAMESPACES                                                                                \
  (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP)
#define GO_SECONDS 60 /* a parent that is stopped this long counts as dead */

/* What the agent needs to act for every account of the sandbox, and to give up the rest itself. */
#define KEPT_CAPABILITIES                                                                         \
  (UINT64_C (1) << CAP_CHOWN | UINT64_C (1) << CAP_DAC_OVERRIDE | UINT64_C (1) << CAP_DAC_READ_SEARCH \
   | UINT64_C (1) << CAP_FOWNER | UINT64_C (1) << CAP_FSETID | UINT64_C (1) << CAP_KILL           \
   | UINT64_C (1) << CAP_SETGID | UINT64_C (1) << CAP_SETUID | UINT64_C (1) << CAP_SETPCAP)

_Noreturn static void
leave (int status)
{
  for (;;)
    syscall (SYS_exit_group, status);
}

static long
write_bytes (int fd, const void *bytes, size_t size)
{
  return syscall (SYS_write, fd, bytes, size);
}

static int
open_file (const char *path, int flags, mode_t mode)
{
  return (int) syscall (SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode);
}

static int
close_file (int fd)
{
  return (int) syscall (SYS_close, fd);
}

/* Whether FD has something to read, or ended. */
static bool
wait_for (int fd)
{
  struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
  struct timespec patience = { .tv_sec = GO_SECONDS };

  return syscall (SYS_ppoll, &poll_fd, 1, &patience, NULL, 0) == 1;
}

static void
tell (const struct ns_child *child, int32_t what, int32_t value, int32_t error)
{
  const struct ns_news news = { what, value, error };

  if (write_bytes (child->status, &news, sizeof news) < 0)
    leave (3);
}

_Noreturn static void
give_up (const struct ns_child *child, int32_t value)
{
  tell (child, NS_NEWS_FAILED, value, errno);
  leave (2);
}

/* One byte, or the end of the process: the parent is gone, and nobody knows of this one. */
static void
wait_for_byte (int fd)
{
  char byte;

  if (!wait_for (fd) || syscall (SYS_read, fd, &byte, 1) != 1)
    leave (3);
}

/* ---- steps ---- */

static int
make_file (const struct ns_step *step)
{
  size_t size = strlen (step->source);

  if (size == 0)
    return (int) syscall (SYS_mknodat, AT_FDCWD, step->target, S_IFREG | (mode_t) step->value, 0);
  int fd = open_file (step->target, O_WRONLY | O_CREAT | O_EXCL, (mode_t) step->value);
  if (fd < 0)
    return -1;
  if (write_bytes (fd, step->source, size) != (long) size)
    {
      close_file (fd);
      return -1;
    }
  return close_file (fd);
}

static int
set_attributes (const char *target, uint64_t attributes, uint64_t propagation)
{
  struct mount_attr change = { .attr_set = attributes, .propagation = propagation };

  return (int) syscall (SYS_mount_setattr, AT_FDCWD, target, AT_RECURSIVE, &change, sizeof change);
}

static int
pivot (void)
{
  /* The new root is mounted over the old one, which then lies below it at the same place. */
  if (syscall (SYS_pivot_root, ".", ".") < 0 || umount2 (".", MNT_DETACH) < 0)
    return -1;
  return chdir ("/");
}

static int
raise_loopback (void)
{
  struct ifreq request = { .ifr_flags = IFF_UP | IFF_RUNNING };
  int fd = (int) syscall (SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

  if (fd < 0)
    return -1;
  memcpy (request.ifr_name, "lo", sizeof "lo");
  int result = (int) syscall (SYS_ioctl, fd, SIOCSIFFLAGS, &request);
  close_file (fd);
  return result;
}

static int
place (int *held, const char *target)
{
  if (syscall (SYS_move_mount, *held, "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH) < 0)
    return -1;
  return close_file (*held);
}

static int
take_step (const struct ns_step *step, int *held)
{
  switch (step->kind)
    {
    case NS_STEP_DIRECTORY:
      return mkdir (step->target, (mode_t) step->value);
    case NS_STEP_FILE:
      return make_file (step);
    case NS_STEP_LINK:
      return symlink (step->source, step->target);
    case NS_STEP_MOUNT:
      return mount (step->source, step->target, step->source, (unsigned long) step->value, step->data);
    case NS_STEP_BIND:
      return mount (step->source, step->target, NULL, MS_BIND | MS_REC, NULL);
    case NS_STEP_ATTRIBUTES:
      return set_attributes (step->target, step->value, 0);
    case NS_STEP_HOLD:
      *held = (int) syscall (SYS_open_tree, AT_FDCWD, step->source, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
      return *held < 0 ? -1 : 0;
    case NS_STEP_PLACE:
      return place (held, step->target);
    case NS_STEP_PRIVATE:
      return set_attributes ("/", 0, MS_PRIVATE);
    case NS_STEP_ENTER:
      return chdir (step->target);
    case NS_STEP_PIVOT:
      return pivot ();
    case NS_STEP_HOST_NAME:
      return sethostname (step->source, strlen (step->source)) < 0 ? -1 : setdomainname ("(none)", 6);
    case NS_STEP_LOOPBACK:
      return raise_loopback ();
    case NS_STEP_KEYRING:
      return syscall (SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 && errno != ENOSYS ? -1 : 0;
    default:
      errno = EINVAL;
      return -1;
    }
}

static void
follow_plan (const struct ns_child *child)
{
  int held = child->workspace;

  for (size_t i = 0; i < child->plan->count; i++)
    {
      const struct ns_step *step = &child->plan->steps[i];
      if (take_step (step, &held) < 0 && !(step->flags & NS_STEP_MAY_MISS && errno == ENOENT))
        give_up (child, (int32_t) i);
    }
}

/* ---- the two processes ---- */

static void
close_others (const struct ns_child *child)
{
  unsigned from = 0;

  for (int i = 0; i < child->keeps; i++)
    {
      unsigned kept = (unsigned) child->keep[i];
      if (kept > from)
        syscall (SYS_close_range, from, kept - 1, 0);
      from = kept + 1;
    }
  syscall (SYS_close_range, from, ~0u, 0);
}

/* An account that is not uid 0 keeps through an execve only what is ambient. */
static void
keep_capabilities (const struct ns_child *child)
{
  struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
  struct __user_cap_data_struct data[2] = { 0 };

  for (int i = 0; i < 2; i++)
    data[i].effective = data[i].permitted = data[i].inheritable = (uint32_t) (KEPT_CAPABILITIES >> 32 * i);
  if (syscall (SYS_capset, &header, data) < 0)
    give_up (child, -NS_STAGE_CAPABILITIES);
  for (int number = 0; number < 64; number++)
    if (KEPT_CAPABILITIES >> number & 1 && syscall (SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, number, 0, 0) < 0)
      give_up (child, -NS_STAGE_CAPABILITIES);
}

/* Not through libc, which would ask the threads that this process had as a copy of the host. */
static void
become_root (const struct ns_child *child)
{
  if (syscall (SYS_setresgid, 0, 0, 0) < 0 || syscall (SYS_setgroups, 0, NULL) < 0
      || syscall (SYS_setresuid, 0, 0, 0) < 0)
    give_up (child, -NS_STAGE_ACCOUNT);
}

static void
drop_capabilities (const struct ns_child *child)
{
  for (int number = 0; number < 64; number++)
    if (!(KEPT_CAPABILITIES >> number & 1) && syscall (SYS_prctl, PR_CAPBSET_DROP, number, 0, 0, 0) < 0)
      {
        if (errno == EINVAL)
          return; /* above the kernel's last one */
        give_up (child, -NS_STAGE_CAPABILITIES);
      }
}

/* All kept descriptors are above the places that they go to. */
static void
place_descriptors (const struct ns_child *child)
{
  int place = 0;

  for (int i = 0; i < NS_AGENT_FDS; i++)
    if (child->fds[i] >= 0 && syscall (SYS_dup3, child->fds[i], place++, 0) < 0)
      give_up (child, -NS_STAGE_DESCRIPTORS);
}

_Noreturn static void
first_process (const struct ns_child *child, const int *mapped)
{
  char *const environment[] = { NULL };
  const uint64_t none = 0;

  close_file (mapped[1]);
  wait_for_byte (mapped[0]);
  if (!child->single)
    become_root (child);
  umask (0);
  if (setsid () < 0)
    give_up (child, -NS_STAGE_ACCOUNT);
  follow_plan (child);
  drop_capabilities (child);
  if (child->single)
    keep_capabilities (child);
  umask (022);
  wait_for_byte (child->go);
  place_descriptors (child);
  syscall (SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none);
  syscall (SYS_execveat, child->agent, "", child->arguments, environment, AT_EMPTY_PATH);
  give_up (child, -NS_STAGE_EXEC);
}

/* "/proc/PID/NAME", where snprintf may not be used. */
static int
open_of_process (long pid, const char *name, int flags)
{
  char path[48] = "/proc/";
  char digits[24];
  size_t count = 0, used = 6;

  do
    digits[count++] = (char) ('0' + pid % 10);
  while ((pid /= 10) > 0);
  while (count > 0)
    path[used++] = digits[--count];
  path[used++] = '/';
  memcpy (path + used, name, strlen (name) + 1);
  return open_file (path, flags, 0);
}

static void
write_of_process (const struct ns_child *child, long pid, const char *name, const char *text)
{
  size_t size = strlen (text);
  int fd = open_of_process (pid, name, O_WRONLY);

  if (fd < 0 || write_bytes (fd, text, size) != (long) size)
    give_up (child, -NS_STAGE_MAP);
  close_file (fd);
}

static void
map_ids (const struct ns_child *child, long pid)
{
  /* Without privilege a group can be mapped only where no group can be left. */
  if (child->single)
    write_of_process (child, pid, "setgroups", "deny");
  write_of_process (child, pid, "uid_map", child->map[0]);
  write_of_process (child, pid, "gid_map", child->map[1]);
}

static void
join_cgroups (const struct ns_child *child)
{
  for (int i = 0; i < child->joins; i++)
    if (write_bytes (child->join[i], "0", 1) != 1)
      give_up (child, -NS_STAGE_JOIN);
}

/* A host that is spared by the out-of-memory killer does not hand that on: as root this is also
 * the lowest that the workload can set for itself. */
static void
forget_oom_score (void)
{
  int fd = open_file ("/proc/self/oom_score_adj", O_WRONLY, 0);

  if (fd < 0)
    return;
  write_bytes (fd, "0", 1);
  close_file (fd);
}

/* What is made from here on is made inside of the user's own namespace, which counts all processes of
 * the sandbox's, of whatever account, against the limit that its maker had. */
static void
enter_space (const struct ns_child *child)
{
  const struct rlimit limit = { child->processes, child->processes };

  if (syscall (SYS_setns, child->space, CLONE_NEWUSER) < 0
      || (child->processes > 0 && syscall (SYS_prlimit64, 0, RLIMIT_NPROC, &limit, NULL) < 0))
    give_up (child, -NS_STAGE_MAP);
}

/* Who makes a user namespace pays for what the kernel counts of users inside: file watches, pending
 * signals, locked memory.  Root of this machine would share one purse with all sandboxes; the
 * sandbox's first account has its own.  Which files may be opened stays as it is. */
static void
become_owner (const struct ns_child *child, uid_t owner)
{
  if (syscall (SYS_setresuid, -1, owner, -1) < 0)
    give_up (child, -NS_STAGE_ACCOUNT);
  syscall (SYS_setfsuid, 0);
}

void
ns_child_hold (pid_t parent)
{
  if (syscall (SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || syscall (SYS_getppid) != parent)
    leave (3);
  for (;;)
    syscall (SYS_ppoll, NULL, 0, NULL, NULL, 0);
}

void
ns_child_enter_cgroup (const struct ns_child *child, struct clone_args *arguments)
{
  if (child->into < 0)
    return;
  arguments->flags |= CLONE_INTO_CGROUP;
  arguments->cgroup = (uint64_t) child->into;
}

/* Handlers of the host's are forgotten with the clone; what the host ignores, the agent forgets. */
static long
clone_first (const struct ns_child *child, int *pidfd)
{
  struct clone_args arguments = {
    .flags = NAMESPACES | CLONE_PIDFD | CLONE_CLEAR_SIGHAND,
    .pidfd = (uint64_t) (uintptr_t) pidfd,
    .exit_signal = SIGCHLD,
  };

  ns_child_enter_cgroup (child, &arguments);
  return syscall (SYS_clone3, &arguments, sizeof arguments);
}

/* The pidfd is the first process for sure, even when it has died by now.  Its namespaces may be opened by
 * whoever made it as long as it is a copy of him: later it is somebody else, or the agent. */
static void
hand_over (const struct ns_child *child, long pid, int pidfd)
{
  int fds[NS_HANDED_MAX] = { pidfd };
  int count = 1;
  union
  {
    struct cmsghdr header;
    unsigned char bytes[CMSG_SPACE (sizeof fds)];
  } control = { .header = { .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS } };
  char byte = 'p';
  struct iovec bytes = { .iov_base = &byte, .iov_len = 1 };

  if (child->network)
    {
      fds[count++] = open_of_process (pid, "ns/user", O_RDONLY);
      fds[count++] = open_of_process (pid, "ns/net", O_RDONLY);
    }
  control.header.cmsg_len = CMSG_LEN (sizeof *fds * (size_t) count);
  memcpy (CMSG_DATA (&control.header), fds, sizeof *fds * (size_t) count);
  const struct msghdr message = { .msg_iov = &bytes,
                                  .msg_iovlen = 1,
                                  .msg_control = &control,
                                  .msg_controllen = CMSG_SPACE (sizeof *fds * (size_t) count) };
  if (syscall (SYS_sendmsg, child->go, &message, MSG_NOSIGNAL) != 1)
    give_up (child, -NS_STAGE_CLONE);
}

/* It has a table of descriptors of its own, so that no lock of a host that dies meanwhile lives on in
 * it; the first process is a copy in every respect, so that what happens to it happens to no host. */
int
ns_child_run (void *context)
{
  const struct ns_child *child = context;
  int mapped[2], pidfd = -1;

  close_others (child);
  forget_oom_score ();
  join_cgroups (child);
  if (fchdir (child->box) < 0 || syscall (SYS_pipe2, mapped, O_CLOEXEC) < 0)
    give_up (child, -NS_STAGE_CLONE);
  if (child->space >= 0)
    enter_space (child);
  if (child->owner != 0)
    become_owner (child, child->owner);
  long pid = clone_first (child, &pidfd);
  if (pid < 0)
    give_up (child, -NS_STAGE_CLONE);
  if (pid == 0)
    first_process (child, mapped);
  if (child->owner != 0)
    become_owner (child, 0);
  hand_over (child, pid, pidfd);
  tell (child, NS_NEWS_STARTED, (int32_t) pid, 0);
  map_ids (child, pid);
  if (write_bytes (mapped[1], "m", 1) != 1)
    give_up (child, -NS_STAGE_MAP);
  leave (0);
}

/* No namespace, no step: the agent's file under another name. */
void
ns_child_run_beside (const struct ns_child *child)
{
  char *const environment[] = { NULL };
  const uint64_t none = 0;

  close_others (child);
  forget_oom_score ();
  join_cgroups (child);
  umask (022);
  if (syscall (SYS_chdir, "/") < 0 || setsid () < 0)
    give_up (child, -NS_STAGE_ACCOUNT);
  place_descriptors (child);
  syscall (SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none);
  syscall (SYS_execveat, child->agent, "", child->arguments, environment, AT_EMPTY_PATH);
  give_up (child, -NS_STAGE_EXEC);
}

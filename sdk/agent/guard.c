/* guard.c - gives a sandbox its network from outside, for as long as the sandbox lives.
 *
 * It starts pasta, which makes the sandbox's interface and turns what leaves by it into sockets of this
 * machine's, puts a filter in between, and waits for the sandbox's first process to end.  Both run in
 * a pid namespace of which the guard is process 1, so that the kernel ends pasta however the guard
 * ends.  Both belong to the sandbox's user namespace, as an id that is
 * nobody's: of this machine they have the right to open sockets, and no other. */
#include "sdk/agent/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define INTERFACE "eth0"
#define TUN "/dev/net/tun"
#define EXIT_FAILED 2
#define OPTIONS_MAX 32
/* What pasta needs over the sandbox: to enter its network and to set the interface up. */
#define OF_PASTA (1u << CAP_SYS_ADMIN | 1u << CAP_NET_ADMIN)
/* And the guard over pasta: to reach its descriptor of the interface. */
#define OF_GUARD (OF_PASTA | 1u << CAP_SYS_PTRACE)
#define PIDS_MAX 64
#define FDS_MAX 256

static _Noreturn void
give_up (const char *what)
{
  fprintf (stderr, "%s: %s\n", what, strerror (errno));
  _exit (EXIT_FAILED);
}

static void
tell (int32_t what, int32_t value)
{
  const struct guard_news news = { what, value, 0 };

  if (write (GUARD_NEWS, &news, sizeof news) != sizeof news)
    _exit (EXIT_FAILED); /* nobody waits for it any more */
}

/* ---- the device ---- */

/* On some machines the device is for root alone, and pasta will not be root: it gets a view with a
 * device for all.  Mounts go on following those of the machine, so that none is kept busy. */
static void
open_device (void)
{
  struct stat status;

  if (stat (TUN, &status) < 0)
    give_up (TUN);
  if (geteuid () != 0)
    return;
  umask (0);
  if (unshare (CLONE_NEWNS) < 0 || mount (NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0
      || mount ("tmpfs", "/dev/net", "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=755,size=64k") < 0
      || mknod (TUN, S_IFCHR | 0666, status.st_rdev) < 0)
    give_up ("a " TUN " of its own");
}

static int
wait_for (pid_t pid)
{
  int status;

  while (waitpid (pid, &status, 0) < 0)
    if (errno != EINTR)
      return -1;
  return status;
}

/* An address of IPv6 is usable at once, instead of being tried on the wire first where there are no
 * neighbours.  A machine may be without the family.  In a process of its own, since there is no way
 * back from the sandbox's network. */
static void
set_up_ipv6 (void)
{
  pid_t pid = fork ();

  if (pid < 0)
    give_up ("a process");
  if (pid == 0)
    {
      if (setns (GUARD_USERS, CLONE_NEWUSER) < 0 || setns (GUARD_NETWORK, CLONE_NEWNET) < 0)
        give_up ("the sandbox's network");
      int fd = open ("/proc/sys/net/ipv6/conf/default/accept_dad", O_WRONLY | O_CLOEXEC);
      if (fd >= 0 && write (fd, "0", 1) != 1)
        give_up ("accept_dad");
      _exit (EXIT_SUCCESS);
    }
  if (wait_for (pid) != 0)
    _exit (EXIT_FAILED); /* it said why */
}

/* ---- rights ---- */

static void
keep_capabilities (uint32_t kept)
{
  struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
  struct __user_cap_data_struct data[2] = { { kept, kept, kept } };

  if (syscall (SYS_capset, &header, data) < 0)
    give_up ("capabilities");
}

/* A sandbox of one id only has that of its maker, who keeps it. */
static void
become_nobody (void)
{
  if (setns (GUARD_USERS, CLONE_NEWUSER) < 0)
    give_up ("the sandbox's user namespace");
  if (setresgid (GUARD_ID, GUARD_ID, GUARD_ID) < 0 && errno == EINVAL)
    return;
  if (prctl (PR_SET_KEEPCAPS, 1) < 0 || setgroups (0, NULL) < 0 || setresgid (GUARD_ID, GUARD_ID, GUARD_ID) < 0
      || setresuid (GUARD_ID, GUARD_ID, GUARD_ID) < 0)
    give_up ("an id of the sandbox's");
}

/* ---- pasta ---- */

static _Noreturn void
become_pasta (const char *network, int count, char **given)
{
  const char *const fixed[] = { given[0],  "--config-net", "--netns-only",       "--netns",     network,    "--ns-ifname",
                                INTERFACE, "--quiet",      "--no-netns-quit",    "--no-dhcp", "--no-dhcpv6", "--no-ra",
                                "-t",           "none",               "-u",          "none",     "-T",
                                "none",    "-U",           "none" };
  size_t used = sizeof fixed / sizeof *fixed;
  char *arguments[OPTIONS_MAX + sizeof fixed / sizeof *fixed + 1], *environment[] = { NULL };
  sigset_t none;

  memcpy (arguments, fixed, sizeof fixed);
  for (int i = 1; i < count && i <= OPTIONS_MAX; i++)
    arguments[used++] = given[i];
  arguments[used] = NULL;
  sigemptyset (&none);
  sigprocmask (SIG_SETMASK, &none, NULL);
  fcntl (GUARD_NETWORK, F_SETFD, 0);
  for (unsigned long number = 0; number < 32; number++)
    if (OF_PASTA >> number & 1 && prctl (PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, number, 0, 0) < 0)
      give_up ("capabilities");
  execve (given[0], arguments, environment);
  give_up (given[0]);
}

/* Whether a pasta that finds the namespace at /proc/OWNER/fd came up: its first process ends when the
 * network is there, and leaves one that stays. */
static bool
try_pasta (const char *owner, int count, char **given)
{
  char network[64];

  snprintf (network, sizeof network, "/proc/%s/fd/%d", owner, GUARD_NETWORK);
  pid_t pid = fork ();
  if (pid < 0)
    give_up ("a process");
  if (pid == 0)
    become_pasta (network, count, given);
  return wait_for (pid) == 0;
}

/* Some pastas close what they inherit; these find it with their parent, which for that may have no more
 * rights than they.  To look into a parent is what AppArmor's profile of older ones forbids. */
static _Noreturn void
be_parent_of_pasta (int count, char **given)
{
  char self[32] = "";

  keep_capabilities (OF_PASTA);
  prctl (PR_SET_DUMPABLE, 1);
  if (readlink ("/proc/self", self, sizeof self - 1) < 0)
    give_up ("/proc/self");
  if (try_pasta ("self", count, given))
    _exit (EXIT_SUCCESS);
  /* Only the last one's words count. */
  if (ftruncate (STDERR_FILENO, 0) == 0)
    lseek (STDERR_FILENO, 0, SEEK_SET);
  _exit (try_pasta (self, count, given) ? EXIT_SUCCESS : EXIT_FAILED);
}

static void
start_pasta (int count, char **given)
{
  pid_t pid = fork ();

  if (pid < 0)
    give_up ("a process");
  if (pid == 0)
    be_parent_of_pasta (count, given);
  if (wait_for (pid) != 0)
    _exit (EXIT_FAILED);
}

/* ---- the filter ---- */

/* Nobody inside can take it off, or go around it: whatever leaves by the interface passes here. */
static bool
filter (int tun, const struct sock_fprog *program)
{
  struct ifreq request;

  if (ioctl (tun, TUNGETIFF, &request) < 0)
    return false;
  if (ioctl (tun, TUNATTACHFILTER, program) < 0)
    give_up ("the filter");
  return true;
}

static bool
filter_all_of (pid_t pid, const struct sock_fprog *program)
{
  int process = (int) syscall (SYS_pidfd_open, pid, 0);
  bool found = false;

  for (int fd = 0; process >= 0 && fd < FDS_MAX; fd++)
    {
      int copy = (int) syscall (SYS_pidfd_getfd, process, fd, 0);
      if (copy < 0 && errno != EBADF && errno != ESRCH)
        give_up ("a descriptor of pasta's");
      found |= copy >= 0 && filter (copy, program);
      if (copy >= 0)
        close (copy);
    }
  if (process >= 0)
    close (process);
  return found;
}

/* It cannot be put on an interface that pasta has yet to open: it counts for the open file. */
static void
filter_pasta (void)
{
  static struct sock_filter code[BPF_MAXINSNS];
  ssize_t size = pread (GUARD_FILTER, code, sizeof code, 0);
  const struct sock_fprog program = { (unsigned short) (size > 0 ? (size_t) size / sizeof *code : 0), code };
  bool found = false;

  /* There is nobody else in this pid namespace. */
  for (pid_t pid = getpid () + 1; pid < PIDS_MAX; pid++)
    found |= filter_all_of (pid, &program);
  errno = ENOENT;
  if (!found)
    give_up ("the interface of pasta's");
}

/* ---- guarding ---- */

/* Nothing is needed from now on but to see two ends. */
static void
shed (void)
{
  int null = open ("/dev/null", O_RDWR | O_CLOEXEC);

  if (null < 0 || dup2 (null, STDERR_FILENO) < 0)
    give_up ("/dev/null");
  for (int fd = GUARD_USERS; fd <= GUARD_NEWS; fd++)
    close (fd);
  keep_capabilities (0);
  prctl (PR_SET_DUMPABLE, 0);
  prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static bool
has_children (void)
{
  pid_t pid;

  while ((pid = waitpid (-1, NULL, WNOHANG)) > 0)
    ;
  return pid == 0;
}

static _Noreturn void
guard (int children)
{
  struct pollfd fds[2] = { { .fd = GUARD_SANDBOX, .events = POLLIN }, { .fd = children, .events = POLLIN } };
  struct signalfd_siginfo info;

  /* Without pasta there is nothing to guard. */
  while (fds[0].revents == 0 && has_children ())
    {
      if (poll (fds, 2, -1) < 0 && errno != EINTR)
        break;
      if (fds[1].revents != 0 && read (children, &info, sizeof info) < 0)
        break;
    }
  _exit (EXIT_SUCCESS);
}

/* Process 1 of its pid namespace. */
static _Noreturn void
be_guard (int count, char **given)
{
  sigset_t child;

  prctl (PR_SET_NAME, GUARD_NAME);
  keep_capabilities (OF_GUARD);
  sigemptyset (&child);
  sigaddset (&child, SIGCHLD);
  sigprocmask (SIG_BLOCK, &child, NULL);
  int children = signalfd (-1, &child, SFD_CLOEXEC);
  if (children < 0)
    give_up ("a descriptor");
  start_pasta (count, given);
  filter_pasta ();
  tell (GUARD_READY, 0);
  shed ();
  guard (children);
}

_Noreturn void
guard_main (int argc, char **argv)
{
  const struct rlimit no_core = { 0, 0 };

  if (argc < 2)
    {
      errno = EINVAL;
      give_up ("the path of pasta");
    }
  for (int fd = GUARD_SANDBOX; fd <= GUARD_NEWS; fd++)
    if (fcntl (fd, F_SETFD, FD_CLOEXEC) < 0)
      give_up ("a descriptor");
  setrlimit (RLIMIT_CORE, &no_core);
  /* Pasta does not start where one is ignored. */
  for (int number = 1; number < NSIG; number++)
    signal (number, SIG_DFL);
  open_device ();
  set_up_ipv6 ();
  become_nobody ();
  if (unshare (CLONE_NEWPID) < 0)
    give_up ("a pid namespace");
  pid_t pid = fork ();
  if (pid < 0)
    give_up ("a process");
  if (pid == 0)
    be_guard (argc - 1, argv + 1);
  tell (GUARD_STARTED, pid);
  _exit (EXIT_SUCCESS); /* no more than that: what a library starts now would be in the other namespace */
}

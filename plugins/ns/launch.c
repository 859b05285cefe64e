/* launch.c - the parent's side of starting a sandbox.
 *
 * The sandbox's first process is the child of a process in between that ends at once, so that it
 * survives the host and never shows up among the host's children.  The one in between works in the
 * host's memory while its thread waits, as after vfork: copying that memory would cost more than all
 * it does.  The first process waits until it is written down, so that a host that dies leaves either
 * nothing or something that is recorded. */
#include "plugins/ns/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/sched.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sdk/base/cleanup.h"
#include "sdk/base/clock.h"
#include "sdk/base/fd.h"
#include "sdk/base/fs.h"

#define LOWEST_FD 16 /* above every place that place_descriptors fills */
#define POLL_MS 100
#define STACK_SIZE 32768

/* A sanitizer keeps books of the memory, which another process must not write. */
#if defined __has_feature
#define HAS_SANITIZER (__has_feature (address_sanitizer) || __has_feature (thread_sanitizer))
#elif defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define HAS_SANITIZER 1
#else
#define HAS_SANITIZER 0
#endif
#if HAS_SANITIZER
#define SHARED 0
#else
#define SHARED (CLONE_VM | CLONE_VFORK)
#endif

/* ---- the agent's file ---- */

/* A copy that nobody can write, for where a mount cannot be had. */
static int
seal_copy (const char *path)
{
  BERTH_AUTO_FD int file = open (path, O_RDONLY | O_CLOEXEC);
  BERTH_AUTO_FD int copy = memfd_create ("berth-agent", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ssize_t size = 1;

  if (file < 0 || copy < 0)
    return -1;
  while (size > 0)
    if ((size = sendfile (copy, file, NULL, 1u << 30)) < 0)
      return -1;
  if (fchmod (copy, 0555) < 0 || fcntl (copy, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
    return -1;
  return BERTH_STEAL_FD (copy);
}

/* The file through a read-only mount of its own: /proc/1/exe inside leads to that mount. */
int
ns_agent_open (struct berth_call *call, const char *path)
{
  struct mount_attr closed = { .attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV };
  BERTH_AUTO_FD int fd = -1;

  if (path == NULL)
    return call->services->fail (call, BERTH_E_CONFIGURATION, "there is no agent for this machine");
  fd = (int) syscall (SYS_open_tree, AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
  if (fd < 0 || syscall (SYS_mount_setattr, fd, "", AT_EMPTY_PATH, &closed, sizeof closed) < 0)
    {
      if (fd >= 0)
        close (fd);
      fd = seal_copy (path);
    }
  if (fd < 0)
    {
      call->services->fail (call, BERTH_E_CONFIGURATION, "cannot open the agent %s: %m", path);
      call->services->hint (call, "install Berth completely, or set BERTH_AGENT");
      return -1;
    }
  return BERTH_STEAL_FD (fd);
}

/* ---- descriptors ---- */

static int
by_number (const void *left, const void *right)
{
  return *(const int *) left - *(const int *) right;
}

static int
add_keep (struct ns_child *child, int *fd)
{
  if (*fd < 0)
    return 0;
  int high = fcntl (*fd, F_DUPFD_CLOEXEC, LOWEST_FD);
  if (high < 0)
    return -1;
  *fd = high;
  child->keep[child->keeps++] = high;
  return 0;
}

/* Copies of everything that the child keeps, at numbers that do not meet the agent's. */
static int
raise_descriptors (struct ns_child *child)
{
  int *const fds[] = { &child->box,   &child->workspace, &child->status, &child->go,
                       &child->agent, &child->space,     &child->into,   &child->fds[0] };

  for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
    if (add_keep (child, fds[i]) < 0)
      return -1;
  for (int i = 2; i < NS_AGENT_FDS; i++)
    if (add_keep (child, &child->fds[i]) < 0)
      return -1;
  for (int i = 0; i < child->joins; i++)
    if (add_keep (child, &child->join[i]) < 0)
      return -1;
  child->fds[1] = child->fds[0];
  qsort (child->keep, (size_t) child->keeps, sizeof *child->keep, by_number);
  return 0;
}

static void
close_copies (const struct ns_child *child)
{
  for (int i = 0; i < child->keeps; i++)
    close (child->keep[i]);
}

static void
close_fd (int *fd)
{
  if (*fd >= 0)
    close (*fd);
  *fd = -1;
}

void
ns_launched_kill (const struct ns_launched *launched)
{
  if (launched->pidfd >= 0)
    syscall (SYS_pidfd_send_signal, launched->pidfd, SIGKILL, NULL, 0);
}

static void
reap (pid_t *between)
{
  while (*between > 0 && waitpid (*between, NULL, __WALL) < 0 && errno == EINTR)
    ;
  *between = *between > 0 ? 0 : *between;
}

void
ns_launched_close (struct ns_launched *launched)
{
  reap (&launched->between);
  close_fd (&launched->go);
  close_fd (&launched->pidfd);
  close_fd (&launched->status);
  close_fd (&launched->errors);
  close_fd (&launched->users);
  close_fd (&launched->network);
}

/* ---- news ---- */

static int
fail_if_over (struct berth_call *call)
{
  uint32_t code = call->services->cancelled (call);

  if (code == 0)
    return 0;
  return call->services->fail (call, code, code == BERTH_E_TIMEOUT ? "the deadline passed while the sandbox was made"
                                                                  : "cancelled while the sandbox was made");
}

int
ns_wait_readable (struct berth_call *call, int fd)
{
  struct pollfd fds[2] = { { .fd = fd, .events = POLLIN }, { .fd = call->services->cancel_fd (call), .events = POLLIN } };

  for (;;)
    {
      if (fail_if_over (call) < 0)
        return -1;
      if (poll (fds, fds[1].fd >= 0 ? 2 : 1, POLL_MS) > 0 && fds[0].revents != 0)
        return 0;
    }
}

int
ns_launch_fail (struct berth_call *call, const struct ns_plan *plan, const struct ns_news *news, const char *where)
{
  char step[320];

  ns_plan_describe (plan, news->value, step, sizeof step);
  errno = news->error;
  call->services->fail (call, errno == ENOMEM || errno == ENOSPC || errno == EAGAIN ? BERTH_E_RESOURCE_EXHAUSTED
                                                                                  : BERTH_E_CONFIGURATION,
                        "cannot %s %s: %m", step, where);
  if (news->value == -NS_STAGE_CLONE)
    call->services->hint (call, "user namespaces must be allowed: see user.max_user_namespaces of sysctl");
  else if (news->value >= 0 && plan->steps[news->value].kind == NS_STEP_MOUNT && news->error == EPERM
           && strcmp (plan->steps[news->value].source, "proc") == 0)
    call->services->hint (call, "parts of this machine's own /proc are covered, as in a container: the kernel then refuses a new one");
  else if (news->value >= 0 && (news->error == EPERM || news->error == EACCES))
    call->services->hint (call, "something forbids it in user namespaces: a security module (AppArmor, SELinux), a container or a filter;"
                                " see kernel.apparmor_restrict_unprivileged_userns");
  else if (news->value == -NS_STAGE_EXEC)
    call->services->hint (call, "the agent must be executable by everybody, and its directory's file system not noexec");
  return -1;
}

static int
fail_step (struct berth_call *call, const struct ns_plan *plan, const struct ns_news *news)
{
  return ns_launch_fail (call, plan, news, "in the new sandbox");
}

/* Whether there is NEWS already. */
static bool
has_news (int status, struct ns_news *news)
{
  struct pollfd poll_fd = { .fd = status, .events = POLLIN };

  return poll (&poll_fd, 1, 0) == 1 && read (status, news, sizeof *news) == (ssize_t) sizeof *news;
}

/* 1 with the NEWS, 0 at the end, -1 after fail. */
static int
next_news (struct berth_call *call, int status, struct ns_news *news)
{
  if (ns_wait_readable (call, status) < 0)
    return -1;
  ssize_t size = read (status, news, sizeof *news);
  return size == (ssize_t) sizeof *news ? 1 : 0;
}

/* ---- launching ---- */

/* Takes hold of the first process.  The one in between is done: what it had to say is there. */
static int
adopt (struct berth_call *call, const struct ns_launch *launch, struct ns_launched *out)
{
  struct ns_news news;
  struct pollfd ended = { .events = POLLIN };
  int fds[NS_HANDED_MAX];
  size_t wanted = launch->network ? NS_HANDED_MAX : 1, count = wanted;
  char byte;

  if (!has_news (out->status, &news))
    return call->services->fail (call, BERTH_E_INTERNAL, "the sandbox's first process died before it began");
  if (news.what == NS_NEWS_FAILED)
    return fail_step (call, launch->plan, &news);
  ssize_t got = berth_fd_receive (out->go, &byte, 1, fds, &count);
  if (got == 1 && count > 0)
    out->pidfd = fds[0];
  if (got == 1 && count == NS_HANDED_MAX)
    {
      out->users = fds[1];
      out->network = fds[2];
    }
  if (got != 1 || count != wanted)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "no descriptor for the sandbox's first process: %m");
  out->pid = news.value;
  out->start = berth_process_start (out->pid);
  ended.fd = out->pidfd;
  /* Asked after its start was read, so that both speak of one process. */
  if (out->start != 0 && poll (&ended, 1, 0) == 0)
    return fail_if_over (call);
  /* It died as quickly as that, but not without saying why. */
  int more = next_news (call, out->status, &news);
  if (more > 0 && news.what == NS_NEWS_FAILED)
    return fail_step (call, launch->plan, &news);
  return more < 0 ? -1 : call->services->fail (call, BERTH_E_INTERNAL, "the sandbox's first process died");
}

/* The kernel notes with the memory whether it may be dumped, and the process in between, which shares
 * it, becomes somebody else for a moment: that must not stay, and no other thread may take it for what
 * the application wants. */
static pthread_mutex_t dumpable_lock = PTHREAD_MUTEX_INITIALIZER;

/* Lets the process in between do its work; signals are blocked, so that no handler of the host's runs in
 * it.  It has said all when it gives the memory back, and is waited for later, when it has long ended. */
static int
run_child (struct ns_child *child, pid_t *between)
{
  _Alignas (16) char stack[STACK_SIZE];
  sigset_t all, before;

  pthread_mutex_lock (&dumpable_lock);
  int dumpable = prctl (PR_GET_DUMPABLE);
  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &before);
  *between = clone (ns_child_run, stack + sizeof stack, SHARED, child);
  int reason = errno;
  if (!(SHARED & CLONE_VM))
    reap (between);
  pthread_sigmask (SIG_SETMASK, &before, NULL);
  if (dumpable == 1)
    prctl (PR_SET_DUMPABLE, 1);
  pthread_mutex_unlock (&dumpable_lock);
  errno = reason;
  return *between < 0 ? -1 : 0;
}

pid_t
ns_clone (struct clone_args *arguments)
{
  sigset_t all, before;

  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &before);
  pid_t pid = (pid_t) syscall (SYS_clone3, arguments, sizeof *arguments);
  if (pid == 0)
    return 0;
  int reason = errno;
  pthread_sigmask (SIG_SETMASK, &before, NULL);
  errno = reason;
  return pid;
}

void
ns_end_child (int pidfd)
{
  siginfo_t info;

  syscall (SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
  while (waitid (P_PIDFD, (id_t) pidfd, &info, WEXITED | __WALL) < 0 && errno == EINTR)
    ;
}

static int
clone_beside (const struct ns_child *child, int *pidfd)
{
  struct clone_args arguments = { .flags = CLONE_PIDFD | CLONE_CLEAR_SIGHAND, .pidfd = (uint64_t) (uintptr_t) pidfd };

  ns_child_enter_cgroup (child, &arguments);
  pid_t pid = ns_clone (&arguments);
  if (pid == 0)
    ns_child_run_beside (child);
  return pid < 0 ? -1 : 0;
}

int
ns_launch_beside (struct ns_child *child, int *pidfd)
{
  int result = raise_descriptors (child);

  if (result == 0)
    result = clone_beside (child, pidfd);
  int reason = errno;
  close_copies (child);
  errno = reason;
  return result;
}

struct pipes
{
  int status[2], go[2];
};

static void
close_pipes (struct pipes *pipes)
{
  for (int i = 0; i < 2; i++)
    {
      close_fd (&pipes->status[i]);
      close_fd (&pipes->go[i]);
    }
}

/* The ids of a range from where its 0 lies, and then those before. */
static void
write_map (char *text, size_t size, uint32_t first)
{
  uint32_t turn = ns_ids_turn (first), above = NS_IDS_PER_SANDBOX - turn;
  int used = snprintf (text, size, "0 %u %u\n", first + turn, above);

  if (turn > 0)
    snprintf (text + used, size - (size_t) used, "%u %u %u\n", above, first, turn);
}

/* Without a range of ids there is the caller's own, which becomes the sandbox's account. */
static void
fill_maps (struct ns_child *child, const struct ns_users *users)
{
  const unsigned own[2] = { geteuid (), getegid () };
  const unsigned first[2] = { users->range.uid, users->range.gid };

  child->single = users->single;
  child->owner = users->single || users->space >= 0 ? 0 : ns_ids_outside (first[0], 0);
  for (int i = 0; i < 2; i++)
    if (child->single)
      snprintf (child->map[i], sizeof child->map[i], "%d %u 1\n", NS_SANDBOX_ID, own[i]);
    else if (users->space >= 0)
      snprintf (child->map[i], sizeof child->map[i], "0 1 %u\n", NS_IDS_PER_SANDBOX);
    else
      write_map (child->map[i], sizeof child->map[i], first[i]);
}

static int
fill_child (struct ns_child *child, const struct ns_launch *launch, const struct pipes *pipes, int null, int errors,
            int agent)
{
  *child = (struct ns_child){
    .plan = launch->plan,
    .box = launch->box,
    .joins = launch->cgroup->joins,
    .into = launch->cgroup->into,
    .workspace = launch->workspace,
    .status = pipes->status[1],
    .go = pipes->go[0],
    .agent = agent,
    .space = launch->users->space,
    .processes = launch->users->space >= 0 ? launch->processes : 0,
    .network = launch->network,
    .fds = { null, null, errors, launch->listen, launch->seccomp, launch->environment, pipes->go[0], -1 },
    .arguments = launch->arguments,
  };
  memcpy (child->join, launch->cgroup->join, sizeof child->join);
  fill_maps (child, launch->users);
  return raise_descriptors (child);
}

int
ns_launch (struct berth_call *call, const struct ns_launch *launch, struct ns_launched *out)
{
  BERTH_CLEANUP (close_pipes) struct pipes pipes = { { -1, -1 }, { -1, -1 } };
  BERTH_AUTO_FD int agent = ns_agent_open (call, launch->agent);
  BERTH_AUTO_FD int null = open ("/dev/null", O_RDWR | O_CLOEXEC);
  struct ns_child child;

  if (agent < 0)
    return -1;
  out->errors = memfd_create ("berth-agent-errors", MFD_CLOEXEC);
  if (null < 0 || out->errors < 0 || pipe2 (pipes.status, O_CLOEXEC) < 0
      || socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pipes.go) < 0)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "no descriptors for a new sandbox: %m");
  int result = fill_child (&child, launch, &pipes, null, out->errors, agent);
  if (result == 0)
    result = run_child (&child, &out->between);
  int reason = errno;
  close_copies (&child);
  if (result < 0)
    {
      errno = reason;
      return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "cannot start a process for a new sandbox: %m");
    }
  close_fd (&pipes.status[1]);
  close_fd (&pipes.go[0]);
  out->status = BERTH_STEAL_FD (pipes.status[0]);
  out->go = BERTH_STEAL_FD (pipes.go[1]);
  /* A first process that is not adopted finds its line closed, and ends. */
  return adopt (call, launch, out);
}

int
ns_launch_finish (struct berth_call *call, const struct ns_launched *launched)
{
  if (send (launched->go, "g", 1, MSG_NOSIGNAL) != 1 && errno != EPIPE && errno != ECONNRESET)
    return call->services->fail (call, BERTH_E_INTERNAL, "cannot let the sandbox's first process go: %m");
  return 0;
}

void
ns_launch_explain (struct berth_call *call, const struct ns_plan *plan, const struct ns_launched *launched)
{
  struct ns_news news;
  char text[256];

  if (has_news (launched->status, &news))
    {
      fail_step (call, plan, &news);
      return;
    }
  ssize_t size = pread (launched->errors, text, sizeof text - 1, 0);

  while (size > 0 && text[size - 1] == '\n')
    size--;
  if (size > 0)
    call->services->hint (call, "the agent said: %.*s", (int) size, text);
}

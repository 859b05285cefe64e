/* The agent itself only forks and reaps: what serves a connection is a process of its own, so that
 * a crash there harms no other operation.  One such process always waits for the next connection
 * and accepts it itself: no operation pays for its fork.
 *
 * Where the workload has the agent's id it can kill these processes.  None waits there, since it
 * would be killed ahead, and the agent accepts and holds each connection too: one that is cut is
 * closed when what cut it is dead, so that the client's next operation does not meet that. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sdk/agent/conn.h"
#include "sdk/agent/tree.h"
#include "sdk/base/clock.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

#define RETRY_MS 10
#define FULL_SECONDS 1 /* how long a connection waits for another's end when all slots are taken */

static struct worker *
find_worker (const struct agent *agent, pid_t pid)
{
  for (size_t i = 0; i < AGENT_WORKERS_MAXIMUM; i++)
    if (agent->workers[i].pid == pid)
      return &agent->workers[i];
  return NULL;
}

static bool
is_worker (const struct agent *agent, pid_t pid)
{
  return find_worker (agent, pid) != NULL;
}

static bool
is_ending (const struct agent *agent, pid_t pid)
{
  struct worker *worker = find_worker (agent, pid);

  return worker != NULL && worker->role == WORKER_ENDING;
}

static bool
anyone_is (const struct agent *agent, enum worker_role role)
{
  for (size_t i = 0; i < AGENT_WORKERS_MAXIMUM; i++)
    if (agent->workers[i].pid != 0 && agent->workers[i].role == role)
      return true;
  return false;
}

/* What the agent has become the parent of because a nanny died before its command's tree did. */
static void
reap_strays (void *context)
{
  const struct agent *agent = context;

  for (size_t round = 0; round < AGENT_WORKERS_MAXIMUM; round++)
    {
      siginfo_t info = { 0 };

      if (waitid (P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == 0
          || is_worker (agent, info.si_pid))
        return;
      waitpid (info.si_pid, NULL, WNOHANG);
    }
}

static void
forget_worker (struct worker *worker)
{
  if (worker->fd > 0)
    close (worker->fd);
  *worker = (struct worker) { 0 };
}

/* Ends what killed workers left. */
static void
clear_up (struct agent *agent)
{
  tree_end (agent, is_worker, reap_strays, agent);
  for (size_t i = 0; i < AGENT_WORKERS_MAXIMUM; i++)
    if (agent->workers[i].pid == WORKER_KILLED)
      forget_worker (&agent->workers[i]);
}

static void
let_go (struct agent *agent)
{
  for (size_t i = 0; i < AGENT_WORKERS_MAXIMUM; i++)
    if (agent->workers[i].fd > 0 && agent->workers[i].role == WORKER_DONE)
      {
        close (agent->workers[i].fd);
        agent->workers[i].fd = 0;
      }
}

/* Takes everything that has ended.  True when that ends the sandbox. */
static bool
reap (struct agent *agent)
{
  bool over = false, died = false;
  int status;
  pid_t pid;

  while ((pid = waitpid (-1, &status, WNOHANG | WUNTRACED)) > 0)
    {
      struct worker *worker = find_worker (agent, pid);

      if (worker == NULL)
        continue;
      if (WIFSTOPPED (status))
        {
          /* Nobody but a workload with the agent's own id does that, to be left alone. */
          kill (pid, SIGKILL);
          continue;
        }
      over = over || worker->role == WORKER_OWNER || worker->role == WORKER_ENDING;
      if (WIFEXITED (status))
        forget_worker (worker);
      else
        worker->pid = WORKER_KILLED;
      died = died || !WIFEXITED (status);
    }
  if (died && !over)
    clear_up (agent);
  if (agent->single_user)
    let_go (agent);
  return over || anyone_is (agent, WORKER_ENDING);
}

/* A peer outside of the agent's pid namespace has no pid here. */
static bool
peer_is_outside (int fd)
{
  struct ucred peer;
  socklen_t size = sizeof peer;

  return getsockopt (fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid == 0;
}

/* The sandbox has no process left for this connection; say so without waiting for anybody. */
static void
turn_away (int fd, int error)
{
  struct failure failure;
  struct conn conn;

  conn_init (&conn, fd);
  wire_add_hello (&conn.out, NULL, 0);
  agent_fail_errno (&failure, error, "the agent cannot start a process");
  conn_add_failure (&conn, &failure);
  if (conn.out.error == 0)
    send (fd, conn.out.data, conn.out.size, MSG_DONTWAIT | MSG_NOSIGNAL);
  berth_buffer_free (&conn.out);
}

/* In the process that waits: takes one connection and serves it.  Returns its exit status. */
static int
wait_and_serve (struct agent *agent, struct worker *self, pid_t parent)
{
  /* Where the agent is no pid namespace's first process, its death does not end its children. */
  if (prctl (PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid () != parent)
    return 1;
  for (;;)
    {
      int fd = accept4 (agent->listener, NULL, NULL, SOCK_CLOEXEC);
      bool outside;

      if (fd < 0)
        {
          if (errno != EINTR && errno != ECONNABORTED) /* no descriptor or memory left on the machine */
            berth_clock_sleep_ms (RETRY_MS);
          continue;
        }
      outside = peer_is_outside (fd);
      if (outside || agent->token_size > 0)
        {
          self->role = WORKER_PLAIN;
          kill (parent, SIGCHLD); /* another one is to wait now */
          return agent_serve_connection (agent, self, fd, outside);
        }
      close (fd);
    }
}

/* False when there can be no process that waits, with errno. */
static bool
fork_waiting (struct agent *agent, struct worker *slot)
{
  pid_t self = getpid (), pid;

  slot->role = WORKER_WAITING;
  pid = fork ();
  if (pid == 0)
    _exit (wait_and_serve (agent, slot, self));
  if (pid < 0)
    slot->role = WORKER_PLAIN;
  else
    slot->pid = pid;
  return pid > 0;
}

/* Nobody waits and there was no process for it: tries once more, now that somebody has come. */
static void
accept_without_process (struct agent *agent, struct worker *slot)
{
  int fd, error;

  if (fork_waiting (agent, slot))
    return;
  error = errno;
  fd = accept4 (agent->listener, NULL, NULL, SOCK_CLOEXEC);
  if (fd < 0)
    return;
  turn_away (fd, error);
  close (fd);
}

/* All slots are taken, and none became free while the connections that wait now did. */
static void
turn_all_away (const struct agent *agent)
{
  struct pollfd waiting = { .fd = agent->listener, .events = POLLIN };

  while (poll (&waiting, 1, 0) > 0)
    {
      int fd = accept4 (agent->listener, NULL, NULL, SOCK_CLOEXEC);

      if (fd < 0)
        return;
      turn_away (fd, EAGAIN);
      close (fd);
    }
}

/* Serves FD, with no descriptor of another connection. */
static int
serve_accepted (struct agent *agent, struct worker *self, int fd, bool outside, pid_t parent)
{
  unsigned first = (unsigned) agent->timer + 1; /* the last that open_own opened */

  if (prctl (PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid () != parent)
    return 1;
  if ((unsigned) fd > first)
    syscall (SYS_close_range, first, (unsigned) fd - 1, 0u);
  /* It may have taken the place of what was closed since the agent began. */
  syscall (SYS_close_range, (unsigned) fd < first ? first : (unsigned) fd + 1, UINT32_MAX, 0u);
  return agent_serve_connection (agent, self, fd, outside);
}

static void
accept_and_fork (struct agent *agent, struct worker *slot)
{
  int fd = accept4 (agent->listener, NULL, NULL, SOCK_CLOEXEC);
  pid_t self = getpid (), pid;
  bool outside;

  if (fd < 0)
    return;
  outside = peer_is_outside (fd);
  if (!outside && agent->token_size == 0)
    {
      close (fd);
      return;
    }
  slot->role = WORKER_PLAIN;
  pid = fork ();
  if (pid == 0)
    _exit (serve_accepted (agent, slot, fd, outside, self));
  if (pid > 0)
    {
      slot->pid = pid;
      slot->fd = fd;
      return;
    }
  turn_away (fd, errno);
  close (fd);
}

/* Whether the agent has to look at the listener itself. */
static bool
accepts (struct agent *agent, struct worker *slot)
{
  if (slot == NULL)
    return false;
  return agent->single_user || (!anyone_is (agent, WORKER_WAITING) && !fork_waiting (agent, slot));
}

static void
ignore_signal (int number)
{
  (void) number;
}

static void
reap_anything (void *context)
{
  (void) context;
  while (waitpid (-1, NULL, WNOHANG) > 0)
    continue;
}

void
agent_serve (struct agent *agent)
{
  const struct timespec patience = { .tv_sec = FULL_SECONDS };
  struct sigaction interrupt = { .sa_handler = ignore_signal };
  sigset_t none;

  /* SIGCHLD is blocked but for the time in ppoll, which it ends. */
  sigemptyset (&none);
  sigaction (SIGCHLD, &interrupt, NULL);
  while (!reap (agent))
    {
      struct worker *slot = find_worker (agent, 0);
      /* One that waits takes what comes, and would leave the agent itself waiting for the next. */
      bool full = slot == NULL && !anyone_is (agent, WORKER_WAITING);
      struct pollfd polled[] = {
        { .fd = agent->timer, .events = POLLIN },
        { .fd = accepts (agent, slot) ? agent->listener : -1, .events = POLLIN },
      };

      int ready = ppoll (polled, 2, full ? &patience : NULL, &none);

      if (ready == 0)
        turn_all_away (agent);
      if (ready <= 0)
        continue;
      if (polled[0].revents != 0)
        break;
      if (polled[1].revents != 0 && agent->single_user)
        accept_and_fork (agent, slot);
      else if (polled[1].revents != 0)
        accept_without_process (agent, slot);
    }
  tree_end (agent, is_ending, reap_anything, NULL);
  tree_end (agent, NULL, reap_anything, NULL);
}

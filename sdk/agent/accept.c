/* The agent itself only accepts, forks and reaps: what serves a connection is a process of its
 * own, so that a crash there harms no other operation. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sdk/agent/conn.h"
#include "sdk/agent/tree.h"

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
anyone_ending (const struct agent *agent)
{
  for (size_t i = 0; i < AGENT_WORKERS_MAXIMUM; i++)
    if (agent->workers[i].pid != 0 && agent->workers[i].role == WORKER_ENDING)
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

/* Takes everything that has ended.  True when that ends the sandbox. */
static bool
reap (struct agent *agent)
{
  bool over = false, died = false;
  int status;
  pid_t pid;

  while ((pid = waitpid (-1, &status, WNOHANG)) > 0)
    {
      struct worker *worker = find_worker (agent, pid);

      if (worker == NULL)
        continue;
      over = over || worker->role != WORKER_PLAIN;
      died = died || !WIFEXITED (status);
      *worker = (struct worker) { 0 };
    }
  if (died && !over)
    tree_end (agent, is_worker, reap_strays, agent);
  return over || anyone_ending (agent);
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

static void
accept_one (struct agent *agent, struct worker *slot)
{
  int fd = accept4 (agent->listener, NULL, NULL, SOCK_CLOEXEC);
  bool outside;
  pid_t pid;

  if (fd < 0)
    return;
  outside = peer_is_outside (fd);
  if (outside || agent->token_size > 0)
    {
      pid = fork ();
      if (pid == 0)
        _exit (agent_serve_connection (agent, slot, fd, outside));
      if (pid > 0)
        slot->pid = pid;
      else
        turn_away (fd, errno);
    }
  close (fd);
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
  struct sigaction interrupt = { .sa_handler = ignore_signal };
  sigset_t none;

  /* SIGCHLD is blocked but for the time in ppoll, which it ends. */
  sigemptyset (&none);
  sigaction (SIGCHLD, &interrupt, NULL);
  while (!reap (agent))
    {
      struct worker *slot = find_worker (agent, 0);
      struct pollfd polled[] = {
        { .fd = agent->timer, .events = POLLIN },
        { .fd = slot == NULL ? -1 : agent->listener, .events = POLLIN },
      };

      if (ppoll (polled, 2, NULL, &none) <= 0)
        continue;
      if (polled[0].revents != 0)
        break;
      if (polled[1].revents != 0)
        accept_one (agent, slot);
    }
  tree_end (agent, is_ending, reap_anything, NULL);
  tree_end (agent, NULL, reap_anything, NULL);
}

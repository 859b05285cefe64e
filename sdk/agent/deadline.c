/* What ends a sandbox: its deadline, its owner's going, a word. */
#include "sdk/agent/deadline.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "sdk/agent/operations.h"
#include "sdk/agent/tree.h"

#define TTL_MAXIMUM_MS (UINT64_C (1) << 50)

int
deadline_set (const struct agent *agent, uint64_t ttl_ms)
{
  struct itimerspec timer = { 0 };
  uint64_t until_ms = ttl_ms + (uint64_t) agent->grace_ms;

  if (ttl_ms > TTL_MAXIMUM_MS)
    {
      errno = EINVAL;
      return -1;
    }
  /* All zero would mean never. */
  timer.it_value.tv_sec = (time_t) (until_ms / 1000);
  timer.it_value.tv_nsec = (long) (until_ms % 1000) * 1000000 + (until_ms == 0);
  return timerfd_settime (agent->timer, 0, &timer, NULL);
}

static int
deadline_clear (const struct agent *agent)
{
  struct itimerspec never = { 0 };

  return timerfd_settime (agent->timer, 0, &never, NULL);
}

int
operation_deadline (struct operation *operation)
{
  struct agent *agent = operation->agent;
  struct itimerspec left;
  size_t frame;

  if (operation->request->operation == WIRE_DEADLINE_SET
      && (request_has (operation->request, WIRE_TAG_TTL_MS) ? deadline_set (agent, operation->request->ttl_ms)
                                                           : deadline_clear (agent))
             < 0)
    return agent_fail_errno (operation->failure, errno, "cannot set the end to %llu ms from now",
                             (unsigned long long) operation->request->ttl_ms);
  if (timerfd_gettime (agent->timer, &left) < 0)
    return agent_fail_errno (operation->failure, errno, "cannot read the end");
  frame = wire_begin (&operation->conn->out, WIRE_FRAME_END);
  if (left.it_value.tv_sec != 0 || left.it_value.tv_nsec != 0)
    wire_add_number (&operation->conn->out, WIRE_TAG_REMAINING_MS,
                     (uint64_t) (left.it_value.tv_sec * 1000 + left.it_value.tv_nsec / 1000000 - agent->grace_ms));
  wire_end (&operation->conn->out, frame);
  return 0;
}

/* Until the client closes its end, or sends what it has no business to send. */
static void
wait_for_close (int fd)
{
  char byte;

  while (recv (fd, &byte, 1, 0) < 0 && errno == EINTR)
    continue;
}

int
operation_own (struct operation *operation)
{
  /* From here on the end of this process, however it comes, ends the sandbox. */
  operation->self->role = WORKER_OWNER;
  conn_add_end (operation->conn);
  if (conn_flush (operation->conn) == 0)
    wait_for_close (operation->conn->fd);
  return CLIENT_GONE;
}

int
operation_shut_down (struct operation *operation)
{
  conn_add_end (operation->conn);
  conn_flush (operation->conn);
  operation->self->role = WORKER_ENDING;
  kill (getppid (), SIGCHLD);
  /* The agent ends this process last, which closes the connection. */
  for (;;)
    pause ();
}

int
operation_ping (struct operation *operation)
{
  struct berth_buffer *out = &operation->conn->out;
  int processes = tree_count (operation->agent, getppid ());
  size_t frame = wire_begin (out, WIRE_FRAME_END);

  wire_add_text (out, WIRE_TAG_VERSION, AGENT_VERSION);
  if (processes >= 0)
    wire_add_number (out, WIRE_TAG_PROCESSES, (uint64_t) processes);
  wire_end (out, frame);
  return 0;
}

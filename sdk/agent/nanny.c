/* The nanny of one command: the process between the agent and the command.  It carries the output,
 * keeps the time, and is the reaper of everything the command starts, so that none of it gets away. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sdk/agent/operations.h"
#include "sdk/agent/spawn.h"
#include "sdk/agent/tree.h"
#include "sdk/base/clock.h"

#define CHUNK_SIZE (64u * 1024)
#define HELLO_MS 1000
#define DRAIN_MS 100

struct stream
{
  int fd; /* -1: at its end */
  enum wire_frame type;
  int owed; /* bytes that were in the pipe when the command ended */
};

struct nanny
{
  struct operation *operation;
  struct stream streams[2];
  struct spawned command;
  int64_t started_ns;
  int64_t ended_ns;
  int64_t deadline_ms; /* of the command; INT64_MAX: none, or passed */
  int64_t hello_ms;    /* when the hello goes out alone; INT64_MAX once it went */
  int64_t drain_ms;    /* when waiting for others' output ends */
  bool ended;          /* the command was reaped */
  bool timed_out;
  bool childless; /* nobody is left */
  int status;
  struct rusage usage;
  size_t sent; /* bytes of the connection's OUT that went already */
};

/* ---- what has ended ---- */

static void
note_end (struct nanny *nanny, int status)
{
  nanny->ended = true;
  nanny->ended_ns = berth_clock_monotonic_ns ();
  nanny->drain_ms = nanny->ended_ns / 1000000 + DRAIN_MS;
  nanny->deadline_ms = INT64_MAX;
  nanny->status = status;
  for (size_t i = 0; i < 2; i++)
    if (nanny->streams[i].fd >= 0)
      ioctl (nanny->streams[i].fd, FIONREAD, &nanny->streams[i].owed);
}

static void
reap (void *context)
{
  struct nanny *nanny = context;
  struct rusage usage;
  int status;
  pid_t pid;

  while ((pid = wait4 (-1, &status, WNOHANG, &usage)) > 0)
    if (pid == nanny->command.pid && !nanny->ended)
      {
        nanny->usage = usage;
        note_end (nanny, status);
      }
  nanny->childless = pid < 0 && errno == ECHILD;
}

/* ---- output ---- */

static void
close_stream (struct stream *stream)
{
  if (stream->fd >= 0)
    close (stream->fd);
  stream->fd = -1;
}

/* Sends without waiting.  -1 when the client is gone. */
static int
send_some (struct nanny *nanny)
{
  struct conn *conn = nanny->operation->conn;
  ssize_t taken;

  if (conn->out.error != 0)
    return -1;
  nanny->hello_ms = INT64_MAX;
  while (nanny->sent < conn->out.size)
    {
      taken = send (conn->fd, conn->out.data + nanny->sent, conn->out.size - nanny->sent,
                    MSG_DONTWAIT | MSG_NOSIGNAL);
      if (taken < 0 && errno == EINTR)
        continue;
      if (taken < 0)
        return errno == EAGAIN ? 0 : -1;
      nanny->sent += (size_t) taken;
    }
  berth_buffer_clear (&conn->out);
  nanny->sent = 0;
  return 0;
}

/* Moves one read of STREAM into the connection's buffer. */
static void
take_output (struct nanny *nanny, struct stream *stream)
{
  ssize_t got = conn_add_from (nanny->operation->conn, stream->type, stream->fd, CHUNK_SIZE);

  if (got > 0)
    stream->owed -= (int) got;
  else if (got == 0 || (errno != EAGAIN && errno != EINTR))
    close_stream (stream);
}

/* The hello waits for company, so that a short command costs one packet. */
static bool
is_time_to_send (const struct nanny *nanny, int64_t now)
{
  size_t size = nanny->operation->conn->out.size;

  return size > WIRE_HEADER_SIZE + WIRE_HELLO_SIZE
         || (size > 0 && (nanny->hello_ms == INT64_MAX || now >= nanny->hello_ms));
}

/* After the command's end: whether all that it wrote was taken, and others had their time. */
static bool
output_is_over (struct nanny *nanny, int64_t now)
{
  bool over = true;

  for (size_t i = 0; i < 2; i++)
    {
      struct stream *stream = &nanny->streams[i];
      int held = 0;

      if (stream->fd < 0)
        continue;
      /* Somebody inside may have read from the pipe too: what is not there is not owed. */
      if (now >= nanny->drain_ms && ioctl (stream->fd, FIONREAD, &held) == 0 && held < stream->owed)
        stream->owed = held;
      over = over && now >= nanny->drain_ms && stream->owed <= 0;
    }
  return over;
}

/* ---- the loop ---- */

static int64_t
next_event_ms (const struct nanny *nanny, int64_t now)
{
  int64_t at = nanny->deadline_ms < nanny->hello_ms ? nanny->deadline_ms : nanny->hello_ms;

  return nanny->ended && nanny->drain_ms > now && nanny->drain_ms < at ? nanny->drain_ms : at;
}

/* Waits for output, the client, a child's end or the time.  -1 when the client is gone. */
static int
wait_for_event (struct nanny *nanny)
{
  struct conn *conn = nanny->operation->conn;
  bool pending = conn->out.size > 0 && nanny->hello_ms == INT64_MAX;
  struct pollfd polled[3] = {
    { .fd = conn->fd, .events = (short) (POLLIN | (pending ? POLLOUT : 0)) },
    { .fd = pending ? -1 : nanny->streams[0].fd, .events = POLLIN },
    { .fd = pending ? -1 : nanny->streams[1].fd, .events = POLLIN },
  };
  int64_t now = berth_clock_monotonic_ms (), at = next_event_ms (nanny, now);
  int64_t left = at == INT64_MAX ? 0 : at - now;
  struct timespec timeout;
  sigset_t none;

  timeout.tv_sec = left > 0 ? (time_t) (left / 1000) : 0;
  timeout.tv_nsec = left > 0 ? (long) (left % 1000) * 1000000 : 0;
  sigemptyset (&none);
  if (ppoll (polled, 3, at == INT64_MAX ? NULL : &timeout, &none) < 0)
    return errno == EINTR ? 0 : -1;
  /* The client says nothing after its request: bytes, or the end of the stream, end the command. */
  if ((polled[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0)
    return -1;
  for (size_t i = 0; i < 2; i++)
    if (polled[i + 1].revents != 0)
      take_output (nanny, &nanny->streams[i]);
  return 0;
}

static void
end_tree (struct nanny *nanny)
{
  tree_end (nanny->operation->agent, NULL, reap, nanny);
  if (!nanny->ended) /* it cannot die: it hangs in the kernel */
    note_end (nanny, SIGKILL);
}

/* Until the command has ended and its output is on its way; -1 when the client is gone. */
static int
watch (struct nanny *nanny)
{
  int64_t now;
  bool over;

  do
    {
      if (wait_for_event (nanny) < 0)
        return -1;
      reap (nanny);
      now = berth_clock_monotonic_ms ();
      if (now >= nanny->deadline_ms)
        {
          nanny->timed_out = true;
          end_tree (nanny);
        }
      over = nanny->ended && output_is_over (nanny, now);
      if (!over && is_time_to_send (nanny, now) && send_some (nanny) < 0)
        return -1;
    }
  while (!over);
  return 0;
}

static void
add_exit (struct nanny *nanny)
{
  struct berth_buffer *out = &nanny->operation->conn->out;
  size_t frame = wire_begin (out, WIRE_FRAME_EXIT);
  int64_t cpu_us = (int64_t) (nanny->usage.ru_utime.tv_sec + nanny->usage.ru_stime.tv_sec) * 1000000
                   + nanny->usage.ru_utime.tv_usec + nanny->usage.ru_stime.tv_usec;
  bool exited = WIFEXITED (nanny->status);

  wire_add_number (out, WIRE_TAG_REASON,
                   nanny->timed_out ? WIRE_REASON_TIMEOUT
                   : exited         ? WIRE_REASON_EXITED
                                    : WIRE_REASON_SIGNAL);
  if (exited && !nanny->timed_out)
    wire_add_number (out, WIRE_TAG_EXIT_CODE, (uint64_t) WEXITSTATUS (nanny->status));
  if (!exited)
    wire_add_number (out, WIRE_TAG_SIGNAL, (uint64_t) WTERMSIG (nanny->status));
  wire_add_number (out, WIRE_TAG_DURATION_NS, (uint64_t) (nanny->ended_ns - nanny->started_ns));
  wire_add_number (out, WIRE_TAG_CPU_NS, (uint64_t) cpu_us * 1000);
  wire_add_number (out, WIRE_TAG_PEAK_MEMORY, (uint64_t) nanny->usage.ru_maxrss * 1024);
  if (nanny->streams[0].fd >= 0 || nanny->streams[1].fd >= 0)
    wire_add_number (out, WIRE_TAG_PIPE_HELD, 1);
  wire_end (out, frame);
}

/* The exit is told; what the command left goes on.  Its output is read and dropped, so that it
 * does not die of SIGPIPE, until the last of it has ended. */
static void
linger (struct nanny *nanny)
{
  static char dropped[CHUNK_SIZE];
  sigset_t none;

  sigemptyset (&none);
  close (nanny->operation->conn->fd);
  nanny->operation->conn->fd = -1;
  if (nanny->operation->agent->single_user)
    {
      nanny->operation->self->role = WORKER_DONE;
      kill (getppid (), SIGCHLD);
    }
  for (reap (nanny); !nanny->childless; reap (nanny))
    {
      struct pollfd polled[2] = {
        { .fd = nanny->streams[0].fd, .events = POLLIN },
        { .fd = nanny->streams[1].fd, .events = POLLIN },
      };

      if (ppoll (polled, 2, NULL, &none) <= 0)
        continue;
      for (size_t i = 0; i < 2; i++)
        if (polled[i].revents != 0 && read (nanny->streams[i].fd, dropped, sizeof dropped) == 0)
          close_stream (&nanny->streams[i]);
    }
}

/* ---- the start ---- */

static int
fail_start (struct nanny *nanny, const struct command *command)
{
  struct failure *failure = nanny->operation->failure;
  int error = nanny->command.error;

  switch (nanny->command.stage)
    {
    case SPAWN_WORKDIR:
      agent_fail_errno (failure, error, "bad working directory %s", agent_quote (command->workdir).text);
      failure->code = BERTH_E_INVALID_REQUEST;
      return -1;
    case SPAWN_ACCOUNT:
      agent_fail_errno (failure, error, "cannot become the account %s", agent_quote (command->account.name).text);
      failure->code = BERTH_E_INVALID_REQUEST;
      return -1;
    case SPAWN_EXECUTE:
      return agent_fail_errno (failure, error, "cannot execute %s", agent_quote (command->arguments[0]).text);
    default:
      agent_fail_errno (failure, error, "cannot start a process");
      if (failure->code != BERTH_E_RESOURCE_EXHAUSTED) /* nothing that the request names is missing */
        failure->code = BERTH_E_INTERNAL;
      return -1;
    }
}

/* What a shell would answer: 127 for what is not there, 126 for what cannot be executed. */
static bool
exit_of_start (struct nanny *nanny)
{
  int error = nanny->command.error;

  if (nanny->command.stage != SPAWN_EXECUTE
      || (error != ENOENT && error != ENOTDIR && error != EACCES && error != ENOEXEC && error != EPERM
          && error != ELIBBAD && error != ETXTBSY && error != ELOOP && error != ENAMETOOLONG))
    return false;
  nanny->status = (error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG ? 127 : 126) << 8;
  nanny->ended_ns = berth_clock_monotonic_ns ();
  return true;
}

static int
start (struct nanny *nanny, const struct command *command)
{
  int output[2] = { -1, -1 }, errors[2] = { -1, -1 };
  int null = open ("/dev/null", O_RDWR | O_CLOEXEC);

  if (null >= 0 && pipe2 (output, O_CLOEXEC) == 0 && pipe2 (errors, O_CLOEXEC) == 0)
    {
      const int standard[3] = { null, output[1], errors[1] };

      nanny->started_ns = berth_clock_monotonic_ns ();
      command_spawn (nanny->operation->agent, command, standard, &nanny->command);
    }
  else
    nanny->command = (struct spawned) { .stage = SPAWN_FORK, .error = errno };
  nanny->streams[0] = (struct stream) { .fd = output[0], .type = WIRE_FRAME_STDOUT };
  nanny->streams[1] = (struct stream) { .fd = errors[0], .type = WIRE_FRAME_STDERR };
  if (output[1] >= 0)
    close (output[1]);
  if (errors[1] >= 0)
    close (errors[1]);
  if (null >= 0)
    close (null);
  return nanny->command.stage == SPAWN_OK ? 0 : -1;
}

static int
nurse (struct nanny *nanny, const struct request *request)
{
  int64_t now = nanny->started_ns / 1000000;

  nanny->hello_ms = now + HELLO_MS;
  nanny->deadline_ms = request->timeout_ms < INT64_MAX / 2 ? now + (int64_t) request->timeout_ms : INT64_MAX;
  if (watch (nanny) < 0)
    {
      end_tree (nanny);
      return CLIENT_GONE;
    }
  add_exit (nanny);
  berth_buffer_consume (&nanny->operation->conn->out, nanny->sent);
  if (conn_flush (nanny->operation->conn) < 0)
    {
      end_tree (nanny);
      return CLIENT_GONE;
    }
  if (!nanny->childless)
    linger (nanny);
  return CLIENT_GONE; /* all is said */
}

int
operation_run (struct operation *operation)
{
  struct nanny nanny = { .operation = operation };
  struct command command COMMAND_AUTO = { 0 };

  if (command_prepare (operation->agent, operation->request, &command, operation->failure) < 0)
    return -1;
  if (prctl (PR_SET_CHILD_SUBREAPER, 1) < 0)
    return agent_fail_errno (operation->failure, errno, "cannot become the reaper of the command");
  if (start (&nanny, &command) == 0)
    return nurse (&nanny, operation->request);
  close_stream (&nanny.streams[0]);
  close_stream (&nanny.streams[1]);
  if (!exit_of_start (&nanny))
    return fail_start (&nanny, &command);
  add_exit (&nanny);
  return 0;
}

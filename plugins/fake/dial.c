/* dial.c - the group `dial`: every port but 1 has an echo behind it. */
#include "plugins/fake/dial.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "plugins/fake/fake.h"
#include "sdk/base/fd.h"
#include "sdk/base/string.h"

#define CLOSED_PORT 1
#define LOOK_MS 100 /* how often a stream looks whether its sandbox is still there */

/* One end of a socket pair and the thread that echoes on it. */
struct fake_pump
{
  struct fake_pump *next;
  struct berth_state *state;
  pthread_t thread;
  char *record; /* path of the sandbox's record, below the state directory */
  int fd;
  atomic_int stop;
  atomic_int done;
};

static int
is_wanted (struct fake_pump *pump)
{
  return !atomic_load (&pump->stop) && faccessat (pump->state->directory, pump->record, F_OK, 0) == 0;
}

/* Waits for EVENTS as long as anybody wants the stream. */
static int
wait_for (struct fake_pump *pump, short events)
{
  struct pollfd poll_fd = { .fd = pump->fd, .events = events };

  while (is_wanted (pump))
    if (poll (&poll_fd, 1, LOOK_MS) > 0)
      return 0;
  return -1;
}

static int
send_back (struct fake_pump *pump, const char *bytes, size_t size)
{
  while (size > 0)
    {
      ssize_t sent = send (pump->fd, bytes, size, MSG_NOSIGNAL);

      if (sent < 0 && errno != EAGAIN && errno != EINTR)
        return -1;
      if (sent < 0)
        {
          if (wait_for (pump, POLLOUT) < 0)
            return -1;
          continue;
        }
      bytes += sent;
      size -= (size_t) sent;
    }
  return 0;
}

static void *
echo (void *context)
{
  struct fake_pump *pump = context;
  char bytes[65536];
  ssize_t got = 1;

  while (got != 0 && wait_for (pump, POLLIN) == 0)
    {
      got = recv (pump->fd, bytes, sizeof bytes, 0);
      if (got < 0 && errno != EAGAIN && errno != EINTR)
        break;
      if (got > 0 && send_back (pump, bytes, (size_t) got) < 0)
        break;
    }
  shutdown (pump->fd, SHUT_RDWR);
  atomic_store (&pump->done, 1);
  return NULL;
}

static void
free_pump (struct fake_pump *pump)
{
  berth_cleanup_fd (&pump->fd);
  free (pump->record);
  free (pump);
}

/* Joins what has ended, or with ALL everything. */
static void
reap (struct berth_state *state, int all)
{
  struct fake_pump **link;

  pthread_mutex_lock (&state->pumps_lock);
  for (link = &state->pumps; *link != NULL;)
    {
      struct fake_pump *pump = *link;

      if (all)
        atomic_store (&pump->stop, 1);
      if (!all && !atomic_load (&pump->done))
        {
          link = &pump->next;
          continue;
        }
      *link = pump->next;
      pthread_join (pump->thread, NULL);
      free_pump (pump);
    }
  pthread_mutex_unlock (&state->pumps_lock);
}

void
fake_pumps_end (struct berth_state *state)
{
  pthread_mutex_lock (&state->pumps_lock);
  for (struct fake_pump *pump = state->pumps; pump != NULL; pump = pump->next)
    {
      atomic_store (&pump->stop, 1);
      shutdown (pump->fd, SHUT_RDWR); /* wakes it */
    }
  pthread_mutex_unlock (&state->pumps_lock);
  reap (state, 1);
}

/* Signals are the host's: the thread takes none. */
static int
start_thread (struct fake_pump *pump)
{
  sigset_t all;
  sigset_t before;
  int result;

  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &before);
  result = pthread_create (&pump->thread, NULL, echo, pump);
  pthread_sigmask (SIG_SETMASK, &before, NULL);
  errno = result;
  return result == 0 ? 0 : -1;
}

static int
start_pump (struct berth_call *call, struct berth_handle *handle, int32_t *fd)
{
  struct berth_state *state = handle->state;
  struct fake_pump *pump = calloc (1, sizeof *pump);
  int ends[2];

  if (pump == NULL)
    return fake_failed (call, "dial");
  pump->state = state;
  pump->fd = -1;
  pump->record = berth_string_format ("sandboxes/%s/record.json", handle->native_id);
  if (pump->record == NULL || socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
    {
      fake_failed (call, "dial");
      free_pump (pump);
      return -1;
    }
  pump->fd = ends[1];
  if (berth_fd_set_nonblocking (pump->fd, true) < 0 || start_thread (pump) < 0)
    {
      fake_failed (call, "dial");
      close (ends[0]);
      free_pump (pump);
      return -1;
    }
  pthread_mutex_lock (&state->pumps_lock);
  pump->next = state->pumps;
  state->pumps = pump;
  pthread_mutex_unlock (&state->pumps_lock);
  *fd = ends[0];
  return 0;
}

int
fake_port_check (struct berth_call *call, struct fake_box *box, uint32_t port)
{
  struct berth_json *ports = berth_json_get (box->record, "ports");
  int64_t listed;

  if (port == 0 || port > 65535)
    return call->services->fail (call, BERTH_E_INVALID_REQUEST, "not a port: %u", port);
  if (ports == NULL)
    return 0;
  for (size_t i = 0; i < berth_json_length (ports); i++)
    if (berth_json_to_int64 (berth_json_at (ports, i), &listed) == 0 && listed == port)
      return 0;
  return call->services->fail (call, BERTH_E_POLICY_DENIED, "port %u is not one of those that sandbox `%s` may show",
                               port, box->id);
}

static int
fake_dial_port (struct berth_call *call, struct berth_handle *handle, uint32_t port,
                const struct berth_options *options, int32_t *fd)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;

  if (fake_needs (call, handle->state, BERTH_CAP_DIAL, "DIAL") < 0
      || (options != NULL && BERTH_REFUSE_UNKNOWN (call, OPTIONS, options->asks, 0) < 0)
      || fake_point (call, handle->state, "dial.dial") < 0 || fake_box_for_handle (call, handle, &box) < 0
      || fake_port_check (call, &box, port) < 0)
    return -1;
  if (port == CLOSED_PORT)
    return call->services->fail (call, BERTH_E_NOT_FOUND, "nothing listens on port %u of sandbox `%s`", port, box.id);
  fake_box_close (&box);
  reap (handle->state, 0);
  return start_pump (call, handle, fd);
}

const struct berth_dial_ops fake_dial = {
  .struct_size = sizeof fake_dial,
  .dial = fake_dial_port,
};

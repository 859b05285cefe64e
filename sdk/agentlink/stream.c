#include "sdk/agentlink/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sdk/base/cleanup.h"
#include "sdk/base/clock.h"

#define FIRST_READ 16384u
#define NEXT_READ (512u * 1024)
#define FLUSH_SIZE (128u * 1024)
#define CANCEL_POLL_MS 100
#define LOOK_MS 1000
#define BUSY_MS 60000
#define WIDE_SIZE (512 << 10) /* with more, what is sent leaves the processor's cache before it is read */

static int
fail (struct stream *stream, uint32_t code, const char *what)
{
  return stream->call->services->fail (stream->call, code, "%s", what);
}

int
stream_fail_protocol (struct stream *stream, const char *what)
{
  return stream->call->services->fail (stream->call, BERTH_E_INTERNAL, "the agent broke its protocol: %s", what);
}

struct agentlink *
agentlink_of (struct berth_call *call, struct berth_handle *handle)
{
  struct agentlink *link = (struct agentlink *) (void *) handle;

  if (link->magic == AGENTLINK_MAGIC)
    return link;
  call->services->fail (call, BERTH_E_INTERNAL, "the backend's handle does not begin with an agentlink");
  return NULL;
}

/* ---- waiting ---- */

/* Whether much more wants to run than there are processors. */
static bool
machine_is_busy (void)
{
  char text[64] = "";
  BERTH_AUTO_FD int fd = open ("/proc/loadavg", O_RDONLY | O_CLOEXEC);
  int running = 0;

  return fd >= 0 && read (fd, text, sizeof text - 1) > 0 && sscanf (text, "%*s %*s %*s %d/", &running) == 1
         && running > 2 * sysconf (_SC_NPROCESSORS_ONLN);
}

/* An overdue hello may be a matter of its turn: of an agent that moves it is awaited as long as the
 * call may last, and on a busy machine for a while. */
static bool
may_still_come (struct stream *stream, int64_t now)
{
  const struct agentlink_transport *transport = &stream->link->transport;
  bool first = stream->mark == 0;
  int moves = transport->is_moving != NULL ? transport->is_moving (transport->context, &stream->mark) : 0;

  if (moves > 0 && !first)
    stream->patience_ms = now + BUSY_MS;
  if (moves < 0 || (moves == 0 && (now >= stream->patience_ms || !machine_is_busy ())))
    return false;
  stream->hello_ms = now + LOOK_MS;
  return true;
}

static int
fail_if_over (struct stream *stream)
{
  uint32_t over = stream->call->services->cancelled (stream->call);
  int64_t now = berth_clock_monotonic_ms ();

  if (over == BERTH_E_CANCELLED)
    return fail (stream, over, "the call was cancelled");
  if (over != 0 || now >= stream->deadline_ms)
    return fail (stream, BERTH_E_TIMEOUT, "the call's deadline passed before the agent was done");
  if (now >= stream->hello_ms && !may_still_come (stream, now))
    return fail (stream, BERTH_E_UNREACHABLE, "the sandbox's agent does not answer");
  return 0;
}

static int
wait_timeout (const struct stream *stream)
{
  int64_t at = stream->deadline_ms < stream->hello_ms ? stream->deadline_ms : stream->hello_ms;
  int timeout = berth_clock_poll_timeout (at);

  if (stream->cancel_fd < 0 && (timeout < 0 || timeout > CANCEL_POLL_MS))
    return CANCEL_POLL_MS;
  return timeout;
}

/* Until one of EVENTS can be done: what can be. */
static int
wait_for (struct stream *stream, short events)
{
  struct pollfd polled[2] = { { .fd = stream->fd, .events = events }, { .fd = stream->cancel_fd, .events = POLLIN } };

  for (;;)
    {
      int ready = poll (polled, 2, wait_timeout (stream));

      if (ready < 0 && errno != EINTR)
        return fail (stream, BERTH_E_RESOURCE_EXHAUSTED, strerror (errno));
      if (ready > 0 && polled[1].revents == 0)
        return polled[0].revents;
      if (fail_if_over (stream) < 0)
        return -1;
    }
}

/* ---- opening ---- */

void
stream_begin (struct stream *stream, struct berth_call *call)
{
  int64_t deadline = call->services->deadline (call);

  *stream = STREAM_NONE;
  stream->call = call;
  stream->cancel_fd = call->services->cancel_fd (call);
  stream->deadline_ms = deadline == BERTH_NO_DEADLINE ? INT64_MAX : deadline / 1000000;
  stream->hello_ms = INT64_MAX;
}

int
stream_open (struct stream *stream, struct berth_call *call, struct agentlink *link, enum wire_operation operation)
{
  stream_begin (stream, call);
  if (link == NULL)
    return -1;
  stream->out.limit = WIRE_REQUEST_MAXIMUM;
  wire_add_hello (&stream->out, link->token, link->token_size);
  stream->request = wire_begin (&stream->out, WIRE_FRAME_REQUEST);
  wire_add_number (&stream->out, WIRE_TAG_OPERATION, operation);
  return 0;
}

void
stream_close_request (struct stream *stream)
{
  wire_end (&stream->out, stream->request);
  stream->out.limit = 0;
}

int
stream_connect (struct stream *stream, struct agentlink *link)
{
  struct berth_call *call = stream->call;

  if (stream->out.error == EMSGSIZE)
    return call->services->fail (call, BERTH_E_INVALID_REQUEST,
                                 "the request has more than %u bytes: argument list too long", WIRE_REQUEST_MAXIMUM);
  if (stream->out.error != 0)
    return fail (stream, BERTH_E_RESOURCE_EXHAUSTED, "no memory for the request");
  if (fail_if_over (stream) < 0)
    return -1;
  int fd = link->transport.connect (call, link->transport.context);
  if (fd < 0)
    return -1;
  stream_adopt (stream, link, fd);
  return 0;
}

void
stream_adopt (struct stream *stream, struct agentlink *link, int fd)
{
  stream->fd = fd;
  stream->link = link;
  stream->hello_ms = berth_clock_monotonic_ms () + AGENTLINK_HELLO_MS;
  stream->patience_ms = stream->hello_ms + BUSY_MS;
}

/* Only root may have more than the machine's usual maximum; the rest take what they get. */
void
stream_widen (struct stream *stream)
{
  const int size = WIDE_SIZE;

  if (setsockopt (stream->fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size) < 0)
    setsockopt (stream->fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
}

int
stream_send_request (struct stream *stream, struct agentlink *link)
{
  stream_close_request (stream);
  return stream_connect (stream, link) < 0 ? -1 : stream_flush (stream);
}

void
stream_close (struct stream *stream)
{
  if (stream->fd >= 0)
    close (stream->fd);
  stream->fd = -1;
  berth_buffer_erase (&stream->out); /* the token, and secrets in the environment */
  berth_buffer_free (&stream->in);
}

/* ---- reading ---- */

/* One recv: how many bytes came, 0 at the end of the stream, -2 when none are there now. */
static ssize_t
read_some (struct stream *stream, size_t wanted)
{
  struct berth_buffer *in = &stream->in;
  size_t room = stream->much ? NEXT_READ : FIRST_READ;
  ssize_t got;

  if (stream->taken > 0)
    {
      berth_buffer_consume (in, stream->taken);
      stream->taken = 0;
    }
  if (berth_buffer_reserve (in, wanted > room ? wanted : room) < 0)
    return fail (stream, BERTH_E_RESOURCE_EXHAUSTED, "no memory for the agent's answer");
  do
    got = recv (stream->fd, in->data + in->size, wanted > room ? wanted : room, MSG_DONTWAIT);
  while (got < 0 && errno == EINTR);
  if (got > 0)
    in->size += (size_t) got;
  stream->much = stream->much || got == FIRST_READ;
  if (got < 0 && errno == EAGAIN)
    return -2;
  return got < 0 ? 0 : got; /* a broken stream has ended, too */
}

/* Until SIZE bytes that were not taken are there. */
static int
fill (struct stream *stream, size_t size)
{
  while (stream->in.size - stream->taken < size)
    {
      ssize_t got = read_some (stream, size - (stream->in.size - stream->taken));

      if (got == 0)
        return fail (stream, BERTH_E_UNREACHABLE, "the agent's stream was cut before its end");
      if (got == -1 || (got == -2 && wait_for (stream, POLLIN) < 0))
        return -1;
    }
  return 0;
}

static int
take_hello (struct stream *stream, const struct wire_header *header, const unsigned char *payload)
{
  struct wire_hello hello;

  if (header->type != WIRE_FRAME_HELLO || wire_get_hello (payload, header->size, &hello) < 0)
    return stream_fail_protocol (stream, "no hello");
  stream->hello_ms = INT64_MAX;
  stream->minor = hello.minor;
  if (hello.major == WIRE_MAJOR)
    return 0;
  stream->call->services->fail (stream->call, BERTH_E_UNREACHABLE,
                                "the sandbox's agent speaks protocol %u, this host speaks %d", hello.major, WIRE_MAJOR);
  stream->call->services->hint (stream->call, "use the version of Berth that made the sandbox, or destroy it");
  return -1;
}

/* Fails with what the agent says. */
static int
take_failure (struct stream *stream, struct wire_reader *payload)
{
  const struct berth_services *services = stream->call->services;
  const char *message = "the agent failed without saying why", *hint = NULL;
  uint64_t code = BERTH_E_INTERNAL;
  struct wire_field field;

  while (wire_next (payload, &field) > 0)
    if (field.tag == WIRE_TAG_CODE)
      wire_number (&field, &code);
    else if (field.tag == WIRE_TAG_MESSAGE && wire_text (&field) != NULL)
      message = wire_text (&field);
    else if (field.tag == WIRE_TAG_HINT)
      hint = wire_text (&field);
  services->fail (stream->call, code == 0 || code > UINT32_MAX ? BERTH_E_INTERNAL : (uint32_t) code, "%s", message);
  if (hint != NULL)
    services->hint (stream->call, "%s", hint);
  return -1;
}

static int
next_frame (struct stream *stream, struct wire_header *header, struct wire_reader *payload)
{
  if (fill (stream, WIRE_HEADER_SIZE) < 0)
    return -1;
  if (wire_get_header (stream->in.data + stream->taken, WIRE_DATA_MAXIMUM, header) < 0)
    return stream_fail_protocol (stream, "an impossible frame");
  if (fill (stream, WIRE_HEADER_SIZE + header->size) < 0)
    return -1;
  payload->next = (unsigned char *) stream->in.data + stream->taken + WIRE_HEADER_SIZE;
  payload->end = payload->next + header->size;
  stream->taken += WIRE_HEADER_SIZE + header->size;
  return 0;
}

int
stream_greet (struct stream *stream)
{
  struct wire_header header;
  struct wire_reader payload;

  if (fail_if_over (stream) < 0 || next_frame (stream, &header, &payload) < 0)
    return -1;
  return take_hello (stream, &header, payload.next);
}

int
stream_next (struct stream *stream, struct wire_header *header, struct wire_reader *payload)
{
  for (;;)
    {
      if (next_frame (stream, header, payload) < 0)
        return -1;
      if (stream->hello_ms == INT64_MAX)
        break;
      if (take_hello (stream, header, payload->next) < 0)
        return -1;
    }
  return header->type == WIRE_FRAME_ERROR ? take_failure (stream, payload) : 0;
}

int
stream_end (struct stream *stream, struct wire_reader *payload)
{
  struct wire_header header;

  if (stream_next (stream, &header, payload) < 0)
    return -1;
  return header.type == WIRE_FRAME_END ? 0 : stream_fail_protocol (stream, "a frame where the end was due");
}

int
stream_closed (struct stream *stream)
{
  ssize_t got;

  while ((got = read_some (stream, 1)) != 0)
    if (got == -1 || (got == -2 && wait_for (stream, POLLIN) < 0))
      return -1;
    else if (got > 0)
      stream->taken = stream->in.size;
  return 0;
}

/* ---- sending ---- */

/* While bytes are still to be sent, the agent has only its hello and a failure to say. */
static int
take_early_answer (struct stream *stream)
{
  struct wire_header header;
  struct wire_reader payload;
  ssize_t got = read_some (stream, WIRE_HEADER_SIZE);

  if (got == -1)
    return -1;
  if (got == -2)
    return 0;
  if (got > 0 && stream->hello_ms != INT64_MAX && stream->in.size == WIRE_HEADER_SIZE + WIRE_HELLO_SIZE
      && wire_get_header (stream->in.data, WIRE_HELLO_SIZE, &header) == 0)
    {
      stream->taken = stream->in.size;
      return take_hello (stream, &header, (unsigned char *) stream->in.data + WIRE_HEADER_SIZE);
    }
  if (stream_next (stream, &header, &payload) < 0)
    return -1;
  return stream_fail_protocol (stream, "an answer before the request was complete");
}

int
stream_flush (struct stream *stream)
{
  size_t sent = 0;

  if (stream->out.error != 0)
    return fail (stream, BERTH_E_RESOURCE_EXHAUSTED, "no memory for the request");
  while (sent < stream->out.size)
    {
      ssize_t taken
          = send (stream->fd, stream->out.data + sent, stream->out.size - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
      int ready;

      if (taken >= 0)
        {
          sent += (size_t) taken;
          continue;
        }
      if (errno == EINTR)
        continue;
      ready = errno == EAGAIN ? wait_for (stream, POLLIN | POLLOUT) : POLLIN;
      if (ready < 0 || ((ready & POLLOUT) == 0 && take_early_answer (stream) < 0))
        return -1;
      if ((ready & POLLIN) != 0 && (ready & POLLOUT) != 0 && take_early_answer (stream) < 0)
        return -1;
    }
  berth_buffer_clear (&stream->out);
  return 0;
}

int
stream_flush_some (struct stream *stream)
{
  return stream->out.size >= FLUSH_SIZE || stream->out.error != 0 ? stream_flush (stream) : 0;
}

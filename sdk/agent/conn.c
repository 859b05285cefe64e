#include "sdk/agent/conn.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sdk/base/clock.h"
#include "sdk/base/fd.h"

#define READ_SIZE (64u * 1024)
#define FLUSH_SIZE (128u * 1024)
#define DRAIN_MS 5000

void
conn_init (struct conn *conn, int fd)
{
  *conn = (struct conn) { .fd = fd };
}

void
conn_free (struct conn *conn)
{
  berth_buffer_free (&conn->in);
  berth_buffer_free (&conn->out);
}

/* Reads until SIZE bytes that were not handed out are there.  1, 0 at the end, -1. */
static int
fill (struct conn *conn, size_t size)
{
  while (conn->in.size - conn->taken < size)
    {
      size_t missing = size - (conn->in.size - conn->taken);
      /* Of a large frame exactly the rest and the next header, so that nothing has to be moved. */
      size_t room = missing > READ_SIZE / 2 ? missing + WIRE_HEADER_SIZE : READ_SIZE;
      ssize_t got;

      if (conn->taken > 0)
        {
          berth_buffer_consume (&conn->in, conn->taken);
          conn->taken = 0;
        }
      if (berth_buffer_reserve (&conn->in, room) < 0)
        return -1;
      do
        got = recv (conn->fd, conn->in.data + conn->in.size, room, 0);
      while (got < 0 && errno == EINTR);
      if (got <= 0)
        return got < 0 || conn->in.size > 0 ? -1 : 0;
      conn->in.size += (size_t) got;
    }
  return 1;
}

int
conn_read (struct conn *conn, uint32_t limit, struct wire_header *header, unsigned char **payload)
{
  int got = fill (conn, WIRE_HEADER_SIZE);

  if (got <= 0)
    return got;
  if (wire_get_header (conn->in.data + conn->taken, limit, header) < 0)
    return -1;
  if (fill (conn, WIRE_HEADER_SIZE + header->size) <= 0)
    return -1;
  *payload = (unsigned char *) conn->in.data + conn->taken + WIRE_HEADER_SIZE;
  conn->taken += WIRE_HEADER_SIZE + header->size;
  return 1;
}

int
conn_keep (struct conn *conn, struct berth_buffer *kept)
{
  *kept = conn->in;
  conn->in = (struct berth_buffer) { 0 };
  if (kept->size > conn->taken)
    berth_buffer_append (&conn->in, kept->data + conn->taken, kept->size - conn->taken);
  conn->taken = 0;
  return conn->in.error == 0 ? 0 : -1;
}

int
conn_flush (struct conn *conn)
{
  int result = conn->out.error != 0 ? -1 : berth_fd_write_all (conn->fd, conn->out.data, conn->out.size);

  berth_buffer_clear (&conn->out);
  return result;
}

int
conn_flush_some (struct conn *conn)
{
  return conn->out.size >= FLUSH_SIZE || conn->out.error != 0 ? conn_flush (conn) : 0;
}

ssize_t
conn_add_from (struct conn *conn, enum wire_frame type, int fd, size_t size)
{
  struct berth_buffer *out = &conn->out;
  ssize_t got;

  if (berth_buffer_reserve (out, WIRE_HEADER_SIZE + size) < 0)
    return -1;
  got = read (fd, out->data + out->size + WIRE_HEADER_SIZE, size);
  if (got > 0)
    {
      wire_put_header (out->data + out->size, type, (size_t) got);
      out->size += WIRE_HEADER_SIZE + (size_t) got;
    }
  return got;
}

void
conn_drain (struct conn *conn)
{
  int64_t deadline = berth_clock_monotonic_ms () + DRAIN_MS;
  char dropped[4096];
  ssize_t got;

  shutdown (conn->fd, SHUT_WR);
  do
    got = recv (conn->fd, dropped, sizeof dropped, MSG_DONTWAIT);
  while (got > 0 || (got < 0 && errno == EAGAIN && berth_fd_wait (conn->fd, POLLIN, deadline) > 0));
}

void
conn_add_failure (struct conn *conn, const struct failure *failure)
{
  size_t frame = wire_begin (&conn->out, WIRE_FRAME_ERROR);

  wire_add_number (&conn->out, WIRE_TAG_CODE, failure->code);
  wire_add_number (&conn->out, WIRE_TAG_ERRNO, (uint64_t) failure->error);
  wire_add_text (&conn->out, WIRE_TAG_MESSAGE, failure->message);
  if (failure->hint[0] != '\0')
    wire_add_text (&conn->out, WIRE_TAG_HINT, failure->hint);
  wire_end (&conn->out, frame);
}

void
conn_add_end (struct conn *conn)
{
  wire_end (&conn->out, wire_begin (&conn->out, WIRE_FRAME_END));
}

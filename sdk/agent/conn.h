/* conn.h - the agent's end of one connection: frames in and out. */
#ifndef BERTH_SDK_AGENT_CONN_H
#define BERTH_SDK_AGENT_CONN_H

#include <sys/stat.h>

#include "sdk/agent/agent.h"
#include "sdk/agent/wire.h"

struct conn
{
  int fd;
  struct berth_buffer out; /* frames not sent yet; conn_flush sends them */
  struct berth_buffer in;
  size_t taken; /* bytes of IN that were handed out already */
};

void conn_init (struct conn *conn, int fd);
/* Leaves the descriptor open. */
void conn_free (struct conn *conn);

/* The next frame; PAYLOAD is valid until the next call and may be changed.  1, 0 when the stream
 * ended between two frames, -1 when it broke, is no frame, or is longer than LIMIT. */
int conn_read (struct conn *conn, uint32_t limit, struct wire_header *header, unsigned char **payload);

/* Gives KEPT the buffer that the last payload lies in, so that it stays valid; what was read
 * beyond it stays to be read.  -1 without memory. */
int conn_keep (struct conn *conn, struct berth_buffer *kept);

/* Sends what is in OUT, waiting for the client; -1 when it is gone. */
int conn_flush (struct conn *conn);

/* The same once there is enough to make a call worth it. */
int conn_flush_some (struct conn *conn);

/* Adds a frame with what one read of FD gives, at most SIZE bytes.  Returns read's result, and
 * adds nothing unless that is above 0. */
ssize_t conn_add_from (struct conn *conn, enum wire_frame type, int fd, size_t size);

/* After a failure: tells the client, and goes on reading for a while, so that it reads the answer
 * before it finds the connection closed. */
void conn_drain (struct conn *conn);

/* The last frame of an operation. */
void conn_add_failure (struct conn *conn, const struct failure *failure);
void conn_add_end (struct conn *conn);

#endif

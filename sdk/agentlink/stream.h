/* stream.h - the client's end of one operation. */
#ifndef BERTH_SDK_AGENTLINK_STREAM_H
#define BERTH_SDK_AGENTLINK_STREAM_H

#include <stdbool.h>

#include "sdk/agent/wire.h"
#include "sdk/agentlink/agentlink.h"

struct stream
{
  struct berth_call *call;
  int fd;
  int cancel_fd;
  int64_t deadline_ms; /* of the call, monotonic; INT64_MAX: none */
  int64_t hello_ms;    /* when the agent's hello is due; INT64_MAX once it came */
  int64_t patience_ms; /* until when a busy machine alone excuses its absence */
  uint64_t mark;       /* of the transport's is_moving */
  struct agentlink *link;
  uint32_t minor;      /* the agent's */
  size_t request; /* where its frame begins in OUT */
  struct berth_buffer out;
  struct berth_buffer in;
  size_t taken;
  bool much; /* a first small room was filled at once */
};

#define STREAM_AUTO __attribute__ ((cleanup (stream_close)))
#define STREAM_NONE ((struct stream) { .fd = -1, .cancel_fd = -1 })

/* All return -1 after services->fail. */

/* Before anything else, where there is no request. */
void stream_begin (struct stream *stream, struct berth_call *call);

/* Begins a request in stream->out; fields follow, then stream_send_request. */
int stream_open (struct stream *stream, struct berth_call *call, struct agentlink *link,
                 enum wire_operation operation);
void stream_close (struct stream *stream);

/* The request is complete; what follows it in stream->out belongs to the operation. */
void stream_close_request (struct stream *stream);

/* Connects.  From now on the agent waits for the request only so long: flush what is there, before
 * anything that may take its time. */
int stream_connect (struct stream *stream, struct agentlink *link);

/* After that, where much is sent: room for more of it, so that the two need fewer turns of the processor. */
void stream_widen (struct stream *stream);

/* All three, for a request that nothing follows. */
int stream_send_request (struct stream *stream, struct agentlink *link);

/* In its place: FD is connected already.  The hello is due from now on. */
void stream_adopt (struct stream *stream, struct agentlink *link, int fd);

/* Waits for the hello alone. */
int stream_greet (struct stream *stream);

/* Sends what is in stream->out; looks for an early answer, which is a failure, meanwhile. */
int stream_flush (struct stream *stream);
int stream_flush_some (struct stream *stream);

/* The next frame, the agent's hello and failures taken care of; PAYLOAD is valid until the next
 * call.  0, or -1. */
int stream_next (struct stream *stream, struct wire_header *header, struct wire_reader *payload);

/* The same where only END may come. */
int stream_end (struct stream *stream, struct wire_reader *payload);

/* Waits until the agent closes the stream. */
int stream_closed (struct stream *stream);

/* The agent said what it must not say. */
int stream_fail_protocol (struct stream *stream, const char *what);

/* The handle's link, or NULL after fail when it is none. */
struct agentlink *agentlink_of (struct berth_call *call, struct berth_handle *handle);

#endif

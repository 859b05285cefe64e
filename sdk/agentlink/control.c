/* What a backend itself asks of the agent. */
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>

#include "sdk/agentlink/stream.h"
#include "sdk/base/clock.h"

/* Sends an operation without a body and reads its END. */
static int
ask (struct stream *stream, struct berth_call *call, struct agentlink *link, enum wire_operation operation,
     const int64_t *ttl_ms, struct wire_reader *payload)
{
  if (stream_open (stream, call, link, operation) < 0)
    return -1;
  if (ttl_ms != NULL && *ttl_ms != BERTH_NO_DEADLINE)
    wire_add_number (&stream->out, WIRE_TAG_TTL_MS, (uint64_t) *ttl_ms);
  if (stream_send_request (stream, link) < 0)
    return -1;
  return stream_end (stream, payload);
}

int
agentlink_ping (struct berth_call *call, struct agentlink *link, struct agentlink_facts *facts)
{
  struct stream stream STREAM_AUTO = STREAM_NONE;
  struct wire_reader payload;
  struct wire_field field;
  uint64_t number;

  if (ask (&stream, call, link, WIRE_PING, NULL, &payload) < 0)
    return -1;
  if (facts == NULL)
    return 0;
  *facts = (struct agentlink_facts) { .minor = stream.minor };
  while (wire_next (&payload, &field) > 0)
    if (field.tag == WIRE_TAG_VERSION && wire_text (&field) != NULL)
      snprintf (facts->version, sizeof facts->version, "%s", wire_text (&field));
    else if (field.tag == WIRE_TAG_PROCESSES && wire_number (&field, &number) == 0)
      facts->processes = (uint32_t) number;
  return 0;
}

int
agentlink_await (struct berth_call *call, struct agentlink *link, int fd)
{
  struct stream stream STREAM_AUTO = STREAM_NONE;

  stream_begin (&stream, call);
  stream_adopt (&stream, link, fd);
  int result = stream_greet (&stream);
  stream.fd = -1;
  return result;
}

static int
ask_deadline (struct berth_call *call, struct agentlink *link, enum wire_operation operation, const int64_t *ttl_ms,
              struct berth_expiry *out)
{
  struct stream stream STREAM_AUTO = STREAM_NONE;
  struct wire_reader payload;
  struct wire_field field;
  uint64_t number;

  if (ask (&stream, call, link, operation, ttl_ms, &payload) < 0)
    return -1;
  *out = (struct berth_expiry) { .kind = BERTH_EXPIRES_NEVER };
  while (wire_next (&payload, &field) > 0)
    if (field.tag == WIRE_TAG_REMAINING_MS && wire_number (&field, &number) == 0)
      *out = (struct berth_expiry) { .kind = BERTH_EXPIRES_AT,
                                     .remaining_ms = (int64_t) number,
                                     .wall_ms = berth_clock_wall_ms () + (int64_t) number };
  return 0;
}

int
agentlink_deadline_set (struct berth_call *call, struct agentlink *link, int64_t ttl_ms, struct berth_expiry *out)
{
  if (ttl_ms < 0)
    return call->services->fail (call, BERTH_E_INVALID_REQUEST, "the time to live is %lld ms, it must not be negative",
                                 (long long) ttl_ms);
  return ask_deadline (call, link, WIRE_DEADLINE_SET, &ttl_ms, out);
}

int
agentlink_deadline_get (struct berth_call *call, struct agentlink *link, struct berth_expiry *out)
{
  return ask_deadline (call, link, WIRE_DEADLINE_GET, NULL, out);
}

int
agentlink_own (struct berth_call *call, struct agentlink *link)
{
  struct stream stream STREAM_AUTO = STREAM_NONE;
  struct wire_reader payload;

  if (ask (&stream, call, link, WIRE_OWN, NULL, &payload) < 0)
    return -1;
  return BERTH_STEAL_FD (stream.fd);
}

int
agentlink_end (struct berth_call *call, struct agentlink *link)
{
  struct stream stream STREAM_AUTO = STREAM_NONE;
  struct wire_reader payload;

  if (ask (&stream, call, link, WIRE_SHUT_DOWN, NULL, &payload) < 0)
    return -1;
  return stream_closed (&stream);
}

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "sdk/agent/operations.h"

/* In time that does not depend on where they differ. */
static bool
same_token (const struct agent *agent, const struct wire_hello *hello)
{
  unsigned char difference = 0;

  if (hello->token_size != agent->token_size)
    return false;
  for (size_t i = 0; i < agent->token_size; i++)
    difference |= (unsigned char) (agent->token[i] ^ hello->token[i]);
  return difference == 0;
}

static int
shake_hands (struct agent *agent, struct conn *conn, bool trusted, struct failure *failure)
{
  struct wire_header header;
  struct wire_hello hello;
  unsigned char *payload;

  if (conn_read (conn, WIRE_HELLO_SIZE + WIRE_TOKEN_MAXIMUM, &header, &payload) <= 0
      || header.type != WIRE_FRAME_HELLO || wire_get_hello (payload, header.size, &hello) < 0)
    return CLIENT_GONE;
  wire_add_hello (&conn->out, NULL, 0);
  if (hello.major != WIRE_MAJOR)
    return agent_fail (failure, BERTH_E_CAPABILITY_NOT_SUPPORTED, "this agent speaks protocol %u, the client %u",
                       WIRE_MAJOR, hello.major);
  if (agent->token_size > 0 ? !same_token (agent, &hello) : !trusted)
    return agent_fail (failure, BERTH_E_UNAUTHORIZED, "the connection did not show the agent's token");
  return 0;
}

static int
dispatch (struct operation *operation)
{
  switch (operation->request->operation)
    {
    case WIRE_PING:
      return operation_ping (operation);
    case WIRE_RUN:
      return operation_run (operation);
    case WIRE_READ:
      return operation_read (operation);
    case WIRE_WRITE:
      return operation_write (operation);
    case WIRE_LIST:
      return operation_list (operation);
    case WIRE_STAT:
      return operation_stat (operation);
    case WIRE_MAKE_DIRECTORY:
      return operation_make_directory (operation);
    case WIRE_MOVE:
      return operation_move (operation);
    case WIRE_REMOVE:
      return operation_remove (operation);
    case WIRE_SET_ATTRIBUTES:
      return operation_set_attributes (operation);
    case WIRE_EXPORT:
      return operation_export (operation);
    case WIRE_IMPORT:
      return operation_import (operation);
    case WIRE_DEADLINE_GET:
    case WIRE_DEADLINE_SET:
      return operation_deadline (operation);
    case WIRE_OWN:
      return operation_own (operation);
    case WIRE_SHUT_DOWN:
      return operation_shut_down (operation);
    }
  return agent_fail (operation->failure, BERTH_E_INTERNAL, "operation %u has no function",
                     operation->request->operation);
}

static void
limit_wait (int fd, time_t milliseconds)
{
  struct timeval wait = { .tv_sec = milliseconds / 1000, .tv_usec = milliseconds % 1000 * 1000 };

  setsockopt (fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
}

static int
serve (struct agent *agent, struct worker *self, struct conn *conn, bool trusted, struct failure *failure)
{
  struct operation operation = { .agent = agent, .self = self, .conn = conn, .failure = failure };
  struct request request REQUEST_AUTO = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer kept = { 0 };
  struct wire_header header;
  unsigned char *payload;
  int result;

  limit_wait (conn->fd, AGENT_HANDSHAKE_MS);
  result = shake_hands (agent, conn, trusted, failure);
  if (result != 0)
    return result;
  if (conn_read (conn, WIRE_REQUEST_MAXIMUM, &header, &payload) <= 0 || header.type != WIRE_FRAME_REQUEST)
    return agent_fail (failure, BERTH_E_INVALID_REQUEST, "no request, or one of more than %u bytes",
                       WIRE_REQUEST_MAXIMUM);
  limit_wait (conn->fd, 0);
  if (conn_keep (conn, &kept) < 0)
    return agent_fail (failure, BERTH_E_RESOURCE_EXHAUSTED, "no memory for the request");
  if (request_decode (payload, header.size, &request, failure) < 0)
    return -1;
  operation.request = &request;
  return dispatch (&operation);
}

int
agent_serve_connection (struct agent *agent, struct worker *self, int fd, bool trusted)
{
  struct failure failure;
  struct conn conn;
  int result;

  close (agent->listener);
  agent->listener = -1;
  conn_init (&conn, fd);
  result = serve (agent, self, &conn, trusted, &failure);
  if (result == -1)
    conn_add_failure (&conn, &failure);
  if (result != CLIENT_GONE && conn_flush (&conn) == 0 && result == -1)
    conn_drain (&conn);
  conn_free (&conn);
  return 0;
}

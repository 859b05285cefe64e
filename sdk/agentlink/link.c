/* The link itself, and the unix sockets that most of them use. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "sdk/agentlink/agentlink.h"
#include "sdk/base/clock.h"
#include "sdk/base/fd.h"

#define BACKLOG 1024 /* as many as an agent serves at once: who finds no room has to poll */
#define CONNECT_MS 60000 /* for a place in the backlog, which only an agent that takes no connection leaves full so long */
#define RETRY_MS 2

void
agentlink_init (struct agentlink *link, const struct agentlink_transport *transport, const void *token,
                size_t token_size)
{
  *link = (struct agentlink) { AGENTLINK_MAGIC, *transport, token, token_size };
}

static int
set_address (struct berth_call *call, const char *path, struct sockaddr_un *address)
{
  size_t size = strlen (path);

  *address = (struct sockaddr_un) { .sun_family = AF_UNIX };
  if (size >= sizeof address->sun_path)
    return call->services->fail (call, BERTH_E_CONFIGURATION, "the socket path '%s' has %zu bytes, at most %zu work",
                                 path, size, sizeof address->sun_path - 1);
  memcpy (address->sun_path, path, size + 1);
  return 0;
}

/* Waits for room in the backlog: 0 to try again, or -1 after fail. */
static int
wait_for_room (struct berth_call *call, int64_t deadline_ms)
{
  uint32_t over = call->services->cancelled (call);

  if (over != 0)
    return call->services->fail (call, over, "the call ended before the agent took the connection");
  if (berth_clock_monotonic_ms () >= deadline_ms)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "%d connections already wait for the sandbox's agent",
                                 BACKLOG);
  berth_clock_sleep_ms (RETRY_MS);
  return 0;
}

int
agentlink_connect_unix (struct berth_call *call, const char *path)
{
  int64_t deadline_ms = berth_clock_monotonic_ms () + CONNECT_MS;
  struct sockaddr_un address;
  BERTH_AUTO_FD int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

  if (fd < 0)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "cannot make a socket: %s", strerror (errno));
  if (set_address (call, path, &address) < 0)
    return -1;
  while (connect (fd, (struct sockaddr *) &address, sizeof address) < 0)
    {
      if (errno != EAGAIN && errno != EINTR)
        return call->services->fail (call, BERTH_E_UNREACHABLE, "cannot reach the sandbox's agent at '%s': %s", path,
                                     strerror (errno));
      if (wait_for_room (call, deadline_ms) < 0)
        return -1;
    }
  return BERTH_STEAL_FD (fd);
}

int
agentlink_listen_unix (struct berth_call *call, const char *path)
{
  struct sockaddr_un address;
  BERTH_AUTO_FD int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

  if (fd < 0)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "cannot make a socket: %s", strerror (errno));
  if (set_address (call, path, &address) < 0)
    return -1;
  /* The mode of the descriptor becomes the mode of the name, so that it is never wider. */
  if (fchmod (fd, 0600) < 0 || bind (fd, (struct sockaddr *) &address, sizeof address) < 0
      || listen (fd, BACKLOG) < 0)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "cannot listen at '%s': %s", path,
                                 strerror (errno));
  return BERTH_STEAL_FD (fd);
}

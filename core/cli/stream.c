#include "core/cli/stream.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/cli/signals.h"
#include "sdk/base/clock.h"
#include "sdk/base/fd.h"

#define LOOK_AROUND_MS 250

/* What a descriptor takes at once without blocking.  The descriptor is shared with others, so
 * that it cannot be made non-blocking; a pipe that has room takes PIPE_BUF bytes. */
static ssize_t
write_some (int fd, const void *bytes, size_t size)
{
  struct iovec piece = { (void *) (size_t) bytes, size };
  struct stat status;
  ssize_t written;

  if (fstat (fd, &status) < 0 || S_ISREG (status.st_mode))
    return write (fd, bytes, size);
  if (S_ISFIFO (status.st_mode) || S_ISSOCK (status.st_mode))
    {
      written = pwritev2 (fd, &piece, 1, -1, RWF_NOWAIT);
      if (written >= 0 || (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL))
        return written;
    }
  return write (fd, bytes, size < PIPE_BUF ? size : PIPE_BUF);
}

/* Waits for EVENTS in short pieces: a signal may come between a look and a wait.  0, or -1. */
static int
wait_for (int fd, short events)
{
  int ready = 0;

  while (ready == 0)
    {
      if (cli_signals_caught () != 0)
        {
          errno = ECANCELED;
          return -1;
        }
      ready = berth_fd_wait (fd, events, berth_clock_monotonic_ms () + LOOK_AROUND_MS);
    }
  return ready < 0 ? -1 : 0;
}

int
cli_stream_put (int fd, const void *bytes, size_t size)
{
  const char *at = bytes;
  const char *end = at + size;

  while (at < end)
    {
      ssize_t written = wait_for (fd, POLLOUT) < 0 ? -1 : write_some (fd, at, (size_t) (end - at));

      if (written < 0 && errno != EINTR && errno != EAGAIN)
        return -1;
      at += written > 0 ? written : 0;
    }
  return 0;
}

ssize_t
cli_stream_take (int fd, void *bytes, size_t size)
{
  ssize_t got;

  do
    got = wait_for (fd, POLLIN) < 0 ? -1 : read (fd, bytes, size);
  while (got < 0 && (errno == EINTR || errno == EAGAIN));
  return got;
}

#include "sdk/base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "sdk/base/clock.h"

/* Whether the call is to be made again: at once after a signal, when ready after EAGAIN. */
static bool
try_again (int fd, short events)
{
  if (errno == EINTR)
    return true;
  return errno == EAGAIN && berth_fd_wait (fd, events, INT64_MAX) > 0;
}

int
berth_fd_write_all (int fd, const void *bytes, size_t size)
{
  const char *at = bytes;
  bool is_socket = true;

  while (size > 0)
    {
      ssize_t taken = is_socket ? send (fd, at, size, MSG_NOSIGNAL) : write (fd, at, size);

      if (taken < 0 && is_socket && errno == ENOTSOCK)
        is_socket = false;
      else if (taken < 0 && !try_again (fd, POLLOUT))
        return -1;
      else if (taken > 0)
        {
          at += taken;
          size -= (size_t) taken;
        }
    }
  return 0;
}

int
berth_fd_write_file (int fd, const void *bytes, size_t size)
{
  const char *at = bytes;

  while (size > 0)
    {
      ssize_t taken = write (fd, at, size);

      if (taken < 0 && errno != EINTR)
        return -1;
      if (taken > 0)
        {
          at += taken;
          size -= (size_t) taken;
        }
    }
  return 0;
}

ssize_t
berth_fd_read_full (int fd, void *bytes, size_t size)
{
  size_t done = 0;

  while (done < size)
    {
      ssize_t got = read (fd, (char *) bytes + done, size - done);

      if (got == 0)
        break;
      if (got > 0)
        done += (size_t) got;
      else if (!try_again (fd, POLLIN))
        return -1;
    }
  return (ssize_t) done;
}

int
berth_fd_read_all (int fd, struct berth_buffer *buffer, size_t limit)
{
  char part[16384];
  size_t total = 0;

  for (;;)
    {
      size_t room = limit - total < sizeof part ? limit - total + 1 : sizeof part;
      ssize_t got = berth_fd_read_full (fd, part, room);

      if (got < 0)
        return -1;
      total += (size_t) got;
      if (total > limit)
        {
          errno = EMSGSIZE;
          return -1;
        }
      if (berth_buffer_append (buffer, part, (size_t) got) < 0)
        return -1;
      if ((size_t) got < room)
        return 0;
    }
}

int
berth_fd_wait (int fd, short events, int64_t deadline_ms)
{
  struct pollfd entry = { .fd = fd, .events = events };

  for (;;)
    {
      int timeout = berth_clock_poll_timeout (deadline_ms);
      int ready = poll (&entry, 1, timeout);

      if (ready > 0)
        return entry.revents;
      if (ready < 0 && errno != EINTR)
        return -1;
      if (ready == 0 && timeout == 0)
        return 0;
    }
}

static int
set_flag (int fd, int get, int set, int flag, bool on)
{
  int flags = fcntl (fd, get);

  if (flags < 0)
    return -1;
  return fcntl (fd, set, on ? flags | flag : flags & ~flag) < 0 ? -1 : 0;
}

int
berth_fd_set_nonblocking (int fd, bool nonblocking)
{
  return set_flag (fd, F_GETFL, F_SETFL, O_NONBLOCK, nonblocking);
}

int
berth_fd_set_cloexec (int fd, bool cloexec)
{
  return set_flag (fd, F_GETFD, F_SETFD, FD_CLOEXEC, cloexec);
}

union control
{
  char bytes[CMSG_SPACE (sizeof (int) * BERTH_FD_SEND_MAX)];
  struct cmsghdr align;
};

int
berth_fd_send (int socket, const void *bytes, size_t size, const int *fds, size_t count)
{
  struct iovec vector = { .iov_base = (void *) bytes, .iov_len = size };
  struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1 };
  union control control;
  ssize_t taken;

  if (size == 0 || count > BERTH_FD_SEND_MAX)
    {
      errno = EINVAL;
      return -1;
    }
  memset (&control, 0, sizeof control);
  if (count > 0)
    {
      message.msg_control = &control;
      message.msg_controllen = CMSG_SPACE (sizeof (int) * count);
      control.align.cmsg_level = SOL_SOCKET;
      control.align.cmsg_type = SCM_RIGHTS;
      control.align.cmsg_len = CMSG_LEN (sizeof (int) * count);
      memcpy (CMSG_DATA (&control.align), fds, sizeof (int) * count);
    }
  do
    taken = sendmsg (socket, &message, MSG_NOSIGNAL);
  while (taken < 0 && try_again (socket, POLLOUT));
  if (taken < 0)
    return -1;
  return berth_fd_write_all (socket, (const char *) bytes + taken, size - (size_t) taken);
}

/* Takes the descriptors of one control message; those beyond `room` are closed.  Returns how many
 * there were. */
static size_t
take_descriptors (struct cmsghdr *part, int *fds, size_t taken, size_t room)
{
  size_t count = (part->cmsg_len - CMSG_LEN (0)) / sizeof (int), i;
  int fd;

  for (i = 0; i < count; i++)
    {
      memcpy (&fd, CMSG_DATA (part) + i * sizeof fd, sizeof fd);
      if (taken + i < room)
        fds[taken + i] = fd;
      else
        close (fd);
    }
  return count;
}

ssize_t
berth_fd_receive (int socket, void *bytes, size_t size, int *fds, size_t *count)
{
  struct iovec vector = { .iov_base = bytes, .iov_len = size };
  union control control;
  struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1,
                            .msg_control = &control, .msg_controllen = sizeof control };
  size_t room = *count, taken = 0;
  struct cmsghdr *part;
  ssize_t got;

  *count = 0;
  do
    got = recvmsg (socket, &message, MSG_CMSG_CLOEXEC);
  while (got < 0 && try_again (socket, POLLIN));
  if (got < 0)
    return -1;
  for (part = CMSG_FIRSTHDR (&message); part != NULL; part = CMSG_NXTHDR (&message, part))
    if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS)
      taken += take_descriptors (part, fds, taken, room);
  if (taken > room || (message.msg_flags & MSG_CTRUNC) != 0)
    {
      for (taken = taken < room ? taken : room; taken > 0; taken--)
        close (fds[taken - 1]);
      errno = EMSGSIZE;
      return -1;
    }
  *count = taken;
  return got;
}

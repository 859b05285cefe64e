/* fd.h - whole transfers over descriptors, and descriptors over sockets. */
#ifndef BERTH_BASE_FD_H
#define BERTH_BASE_FD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sdk/base/buffer.h"

/* Everything, through interruptions; on a socket without SIGPIPE.  On a non-blocking descriptor
 * they wait.  0, or -1 with errno. */
int berth_fd_write_all (int fd, const void *bytes, size_t size);

/* The same to a file, without first asking whether it is a socket, and without waiting: EAGAIN is
 * an answer of /proc's or a cgroup's. */
int berth_fd_write_file (int fd, const void *bytes, size_t size);

/* Up to `size` bytes; fewer only at the end of the stream.  -1 with errno. */
ssize_t berth_fd_read_full (int fd, void *bytes, size_t size);

/* Appends the rest of the stream.  EMSGSIZE when it is longer than `limit` bytes. */
int berth_fd_read_all (int fd, struct berth_buffer *buffer, size_t limit);

/* Waits for `events` (POLLIN, POLLOUT).  Returns what came (POLLHUP and POLLERR too), 0 when the
 * monotonic deadline in ms has passed (INT64_MAX: none), -1 with errno. */
int berth_fd_wait (int fd, short events, int64_t deadline_ms);

int berth_fd_set_nonblocking (int fd, bool nonblocking);
int berth_fd_set_cloexec (int fd, bool cloexec);

/* One message of 1 … bytes that carries up to BERTH_FD_SEND_MAX descriptors, which stay the
 * sender's.  A stream socket may take fewer bytes than given; the rest is then written too. */
#define BERTH_FD_SEND_MAX 16
int berth_fd_send (int socket, const void *bytes, size_t size, const int *fds, size_t count);

/* One message.  *count is the room in `fds` and becomes how many came, all close-on-exec and the
 * caller's.  More descriptors than room: all closed, EMSGSIZE.  0 at the end of the stream. */
ssize_t berth_fd_receive (int socket, void *bytes, size_t size, int *fds, size_t *count);

#endif

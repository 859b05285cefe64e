#include "sdk/base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sdk/base/clock.h"
#include "sdk/base/tests/runner.h"

enum
{
  LARGE = 3 << 20
};

static void *
write_large (void *fd)
{
  char *bytes = malloc (LARGE);
  int i, result = -1;

  if (bytes != NULL)
    {
      for (i = 0; i < LARGE; i++)
        bytes[i] = (char) (i * 31);
      result = berth_fd_write_all (*(int *) fd, bytes, LARGE);
    }
  free (bytes);
  close (*(int *) fd);
  return result == 0 ? fd : NULL;
}

/* A small non-blocking pipe or socket, and a reader slower than the writer. */
static void
check_transfer (int reader, int writer)
{
  BERTH_AUTO_BUFFER struct berth_buffer buffer = { 0 };
  pthread_t thread;
  void *result = NULL;
  bool same = true;
  int i;

  CU_ASSERT_EQUAL (berth_fd_set_nonblocking (writer, true), 0);
  CU_ASSERT_EQUAL (berth_fd_set_nonblocking (reader, true), 0);
  CU_ASSERT_EQUAL_FATAL (pthread_create (&thread, NULL, write_large, &writer), 0);
  CU_ASSERT_EQUAL (berth_fd_read_all (reader, &buffer, LARGE), 0);
  pthread_join (thread, &result);
  CU_ASSERT_PTR_NOT_NULL (result);
  CU_ASSERT_EQUAL_FATAL (buffer.size, LARGE);
  for (i = 0; i < LARGE; i++)
    same = same && buffer.data[i] == (char) (i * 31);
  CU_ASSERT_TRUE (same);
  close (reader);
}

static void
test_pipe (void)
{
  int ends[2];

  CU_ASSERT_EQUAL_FATAL (pipe2 (ends, O_CLOEXEC), 0);
  check_transfer (ends[0], ends[1]);
}

static void
test_socket (void)
{
  int ends[2];

  CU_ASSERT_EQUAL_FATAL (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  check_transfer (ends[0], ends[1]);
}

static void
test_broken_socket (void)
{
  int ends[2];
  struct sigaction old;

  CU_ASSERT_EQUAL_FATAL (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  sigaction (SIGPIPE, NULL, &old);
  CU_ASSERT_TRUE (old.sa_handler == SIG_DFL);
  close (ends[1]);
  CU_ASSERT_EQUAL (berth_fd_write_all (ends[0], "x", 1), -1);
  CU_ASSERT_EQUAL (errno, EPIPE);
  close (ends[0]);
}

static void
test_read_full_and_limit (void)
{
  BERTH_AUTO_BUFFER struct berth_buffer buffer = { 0 };
  int ends[2];
  char bytes[8];

  CU_ASSERT_EQUAL_FATAL (pipe2 (ends, O_CLOEXEC), 0);
  CU_ASSERT_EQUAL (berth_fd_write_all (ends[1], "abcdefghij", 10), 0);
  CU_ASSERT_EQUAL (berth_fd_read_full (ends[0], bytes, 4), 4);
  close (ends[1]);
  CU_ASSERT_EQUAL (berth_fd_read_all (ends[0], &buffer, 5), -1);
  CU_ASSERT_EQUAL (errno, EMSGSIZE);
  CU_ASSERT_EQUAL (berth_fd_read_full (ends[0], bytes, sizeof bytes), 0);
  close (ends[0]);
}

static void
test_file (void)
{
  static char bytes[100000];
  char got[sizeof bytes];
  int ends[2], file = memfd_create ("berth-test", MFD_CLOEXEC);

  memset (bytes, 'x', sizeof bytes);
  CU_ASSERT_FATAL (file >= 0);
  CU_ASSERT_EQUAL (berth_fd_write_file (file, bytes, sizeof bytes), 0);
  CU_ASSERT_EQUAL (pread (file, got, sizeof got, 0), sizeof bytes);
  CU_ASSERT_EQUAL (memcmp (got, bytes, sizeof bytes), 0);
  close (file);
  CU_ASSERT_EQUAL_FATAL (pipe2 (ends, O_CLOEXEC | O_NONBLOCK), 0);
  CU_ASSERT_EQUAL (berth_fd_write_file (ends[1], bytes, sizeof bytes), -1);
  CU_ASSERT_EQUAL (errno, EAGAIN);
  close (ends[0]);
  close (ends[1]);
}

static void
test_wait (void)
{
  int ends[2];
  int64_t before;

  CU_ASSERT_EQUAL_FATAL (pipe2 (ends, O_CLOEXEC), 0);
  before = berth_clock_monotonic_ms ();
  CU_ASSERT_EQUAL (berth_fd_wait (ends[0], POLLIN, before + 30), 0);
  CU_ASSERT_TRUE (berth_clock_monotonic_ms () >= before + 30);
  CU_ASSERT_EQUAL (berth_fd_wait (ends[0], POLLIN, 0), 0);
  close (ends[1]);
  CU_ASSERT_EQUAL (berth_fd_wait (ends[0], POLLIN, INT64_MAX), POLLHUP);
  close (ends[0]);
}

static void
test_descriptors (void)
{
  int ends[2], pipes[2], got[4] = { -1, -1, -1, -1 };
  size_t count = 4;
  char bytes[16];

  CU_ASSERT_EQUAL_FATAL (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  CU_ASSERT_EQUAL_FATAL (pipe2 (pipes, O_CLOEXEC), 0);
  CU_ASSERT_EQUAL (berth_fd_send (ends[0], "hello", 5, pipes, 2), 0);
  CU_ASSERT_EQUAL (berth_fd_receive (ends[1], bytes, sizeof bytes, got, &count), 5);
  CU_ASSERT_EQUAL_FATAL (count, 2);
  CU_ASSERT_EQUAL (fcntl (got[0], F_GETFD), FD_CLOEXEC);
  CU_ASSERT_EQUAL (berth_fd_write_all (got[1], "x", 1), 0);
  CU_ASSERT_EQUAL (read (pipes[0], bytes, 1), 1);
  close (got[0]);
  close (got[1]);

  CU_ASSERT_EQUAL (berth_fd_send (ends[0], "bare", 4, NULL, 0), 0);
  count = 0;
  CU_ASSERT_EQUAL (berth_fd_receive (ends[1], bytes, sizeof bytes, got, &count), 4);
  CU_ASSERT_EQUAL (count, 0);
  close (ends[0]);
  CU_ASSERT_EQUAL (berth_fd_receive (ends[1], bytes, sizeof bytes, got, &count), 0);
  close (ends[1]);
  close (pipes[0]);
  close (pipes[1]);
}

static int
count_descriptors (void)
{
  BERTH_AUTO_DIR DIR *dir = opendir ("/proc/self/fd");
  int count = 0;

  while (dir != NULL && readdir (dir) != NULL)
    count++;
  return count;
}

/* A sender of too many descriptors must not make the receiver keep any. */
static void
test_too_many_descriptors (void)
{
  int ends[2], sent[3], got[1] = { -1 };
  size_t count = 1;
  char bytes[4];
  int before = count_descriptors ();

  CU_ASSERT_EQUAL_FATAL (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  sent[0] = sent[1] = sent[2] = ends[0];
  CU_ASSERT_EQUAL (berth_fd_send (ends[0], "x", 1, sent, 3), 0);
  CU_ASSERT_EQUAL (berth_fd_receive (ends[1], bytes, sizeof bytes, got, &count), -1);
  CU_ASSERT_EQUAL (errno, EMSGSIZE);
  CU_ASSERT_EQUAL (count, 0);
  close (ends[0]);
  close (ends[1]);
  CU_ASSERT_TRUE (before > 0);
  CU_ASSERT_EQUAL (count_descriptors (), before);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "a large transfer through a non-blocking pipe", test_pipe },
    { "a large transfer through a non-blocking socket", test_socket },
    { "a broken socket is EPIPE, not a signal", test_broken_socket },
    { "read_full and the limit of read_all", test_read_full_and_limit },
    { "a file is written whole, and not waited for", test_file },
    { "wait", test_wait },
    { "descriptors over a socket", test_descriptors },
    { "too many descriptors are closed", test_too_many_descriptors },
    { NULL, NULL },
  };

  return berth_test_main ("fd", tests);
}

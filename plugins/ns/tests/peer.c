/* peer.c - services that say which machine they are on: `peer NAME` answers every connection to port 80 and every
 * datagram to port 7 with NAME, and resolves every name to 203.0.113.1 on port 53 of 127.0.0.1.  It
 * prints a line once all of them listen, and runs until it is killed. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define WEB 80
#define ECHO 7
#define NAMES 53

static int
open_port (int type, int port)
{
  int fd = socket (AF_INET6, type | SOCK_CLOEXEC, 0);
  int off = 0;
  const struct sockaddr_in6 address = { .sin6_family = AF_INET6, .sin6_port = htons ((uint16_t) port) };

  if (fd < 0 || setsockopt (fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) < 0
      || bind (fd, (const struct sockaddr *) &address, sizeof address) < 0 || (type == SOCK_STREAM && listen (fd, 64) < 0))
    {
      perror ("peer");
      exit (1);
    }
  return fd;
}

/* The question comes back with one answer, where it is for an address of IPv4. */
static ssize_t
answer (unsigned char *message, ssize_t size)
{
  static const unsigned char address[] = { 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 203, 0, 113, 1 };
  ssize_t end = 12;

  while (end < size && message[end] != 0)
    end += message[end] + 1;
  if (size < 17 || end + 5 > size)
    return size;
  bool wanted = message[end + 2] == 1;
  message[2] = 0x81;
  message[3] = 0x80;
  memset (message + 6, 0, 6);
  message[7] = wanted;
  if (wanted)
    memcpy (message + end + 5, address, sizeof address);
  return end + 5 + (wanted ? (ssize_t) sizeof address : 0);
}

static void
serve (int fd, int port, const char *name)
{
  unsigned char message[600];
  struct sockaddr_storage from;
  socklen_t length = sizeof from;

  if (port == WEB)
    {
      int connection = accept (fd, NULL, NULL);
      if (connection >= 0 && send (connection, name, strlen (name), MSG_NOSIGNAL) >= 0)
        shutdown (connection, SHUT_WR);
      if (connection >= 0)
        close (connection);
      return;
    }
  ssize_t size = recvfrom (fd, message, 512, 0, (struct sockaddr *) &from, &length);
  if (size < 0)
    return;
  if (port == NAMES)
    size = answer (message, size);
  else
    size = snprintf ((char *) message, sizeof message, "%s", name);
  if (sendto (fd, message, (size_t) size, MSG_NOSIGNAL, (struct sockaddr *) &from, length) < 0)
    perror ("peer");
}

/* D-143: a name that no file system has. */
static int
open_abstract (void)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "\0berth-test-peer" };
  int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

  if (fd < 0 || bind (fd, (struct sockaddr *) &address, offsetof (struct sockaddr_un, sun_path) + 16) < 0 || listen (fd, 4) < 0)
    exit (1);
  return fd;
}

int
main (int argc, char **argv)
{
  const int ports[] = { WEB, ECHO, NAMES, WEB };
  struct pollfd fds[4];

  if (argc != 2)
    return 2;
  signal (SIGPIPE, SIG_IGN);
  for (int i = 0; i < 3; i++)
    fds[i] = (struct pollfd) { open_port (ports[i] == WEB ? SOCK_STREAM : SOCK_DGRAM, ports[i]), POLLIN, 0 };
  fds[3] = (struct pollfd) { open_abstract (), POLLIN, 0 };
  puts ("ready");
  fclose (stdout);
  while (poll (fds, 4, -1) >= 0)
    for (int i = 0; i < 4; i++)
      if (fds[i].revents != 0)
        serve (fds[i].fd, ports[i], argv[1]);
  return 1;
}

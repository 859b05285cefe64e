/* probe - a static program that is copied into a sandbox and tries things there.
 *
 *   calls x86-64|x32|i386 PID   each system call of the list, by that entry: NAME RESULT
 *   spin MS                     thousandths of a core that it got
 *   descriptors COUNT           how many it could open
 *   memory BYTES                "ok" once all of it was written
 *   forks COUNT                 how many children it could have at once
 *   swap A B MS COUNT           exchanges two names for MS and at least COUNT times: how often
 *   deepen NAME COUNT           makes a directory, and as many in each other below it
 *   connect ADDRESS PORT        "connected", or the error (TCP)
 *   send ADDRESS PORT           "sent", or the error (UDP)
 *   echo PORT                   sends back what it gets on 127.0.0.1, until it is killed
 *   instances COUNT READY STOP  how many inotify instances it could have; makes READY, and waits for STOP unless it is ""
 *   modes DIRECTORY READY STOP  looks at all files in it until STOP is there, and makes READY: each mode that it saw, and how often
 *   socket PATH                 makes one there
 *   attributes PATH             the names of its extended attributes, a line each
 *
 * RESULT is "ok", an error's name, or "SIGSYS". */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#define X32 0x40000000L
#define NEW_USER_NAMESPACE 0x10000000L
#define SEIZE 0x4206L
#define PID_HERE (-4242L) /* replaced by the argument */

/* A call by its numbers; no argument is a pointer, so that a truncated one means the same.
 * Outside a sandbox each of them succeeds or fails for its arguments. */
struct call
{
  const char *name;
  long x86_64;
  long x32;
  long i386;
  long arguments[5];
};

static const struct call calls[] = {
  { "mount", 165, 165, 21, { 0 } },
  { "unshare-user", 272, 272, 310, { NEW_USER_NAMESPACE } },
  { "clone-user", 56, 56, 120, { NEW_USER_NAMESPACE | SIGCHLD } },
  { "clone3", 435, 435, 435, { 0 } },
  { "keyctl", 250, 250, 288, { 0, -2 } },
  { "add_key", 248, 248, 286, { 0 } },
  { "request_key", 249, 249, 287, { 0 } },
  { "bpf", 321, 321, 357, { 0 } },
  { "perf_event_open", 298, 298, 336, { 0, 0, -1, -1 } },
  { "ptrace", 101, 521, 26, { SEIZE, PID_HERE } },
  { "io_uring_setup", 425, 425, 425, { 1 } },
  { "userfaultfd", 323, 323, 374, { 0 } },
  { "open_by_handle_at", 304, 304, 342, { -1 } },
  { "kexec_load", 246, 528, 283, { 0, 0, 0, 0x1234 } },
};

/* ---- the entries ---- */

#if defined __x86_64__
static long
call_64 (long number, const long *a)
{
  register long r10 __asm__ ("r10") = a[3];
  register long r8 __asm__ ("r8") = a[4];
  long result;

  __asm__ volatile ("syscall"
                    : "=a"(result)
                    : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8)
                    : "rcx", "r11", "memory");
  return result;
}

static long
call_32 (long number, const long *a)
{
  int result;

  /* rbx may be the compiler's own; r8 to r11 do not survive this entry. */
  __asm__ volatile ("push %%rbx\n\tmov %2, %%rbx\n\tint $0x80\n\tpop %%rbx"
                    : "=a"(result)
                    : "a"((int) number), "r"(a[0]), "c"(a[1]), "d"(a[2]), "S"(a[3]), "D"(a[4])
                    : "r8", "r9", "r10", "r11", "memory");
  return result;
}

static long
enter (const struct call *call, char entry, const long *arguments)
{
  return entry == 'i'   ? call_32 (call->i386, arguments)
         : entry == '3' ? call_64 (X32 | call->x32, arguments)
                        : call_64 (call->x86_64, arguments);
}
#else
static long
enter (const struct call *call, char entry, const long *arguments)
{
  (void) call;
  (void) entry;
  (void) arguments;
  return -ENOSYS;
}
#endif

static const char *
error_name (long number)
{
  const char *name = number == 0 ? "ok" : strerrorname_np ((int) number);

  return name != NULL ? name : "unknown";
}

/* In a child: some calls change it, some end it. */
static void
try_call (const struct call *call, char entry, long pid)
{
  int ends[2];
  long result = 0;
  int status = 0;
  pid_t child;

  if (pipe (ends) < 0 || (child = fork ()) < 0)
    exit (1);
  if (child == 0)
    {
      long arguments[5];

      for (int i = 0; i < 5; i++)
        arguments[i] = call->arguments[i] == PID_HERE ? pid : call->arguments[i];
      result = enter (call, entry, arguments);
      if (result == 0 && strcmp (call->name, "clone-user") == 0)
        _exit (0);
      (void) !write (ends[1], &result, sizeof result);
      _exit (0);
    }
  close (ends[1]);
  if (read (ends[0], &result, sizeof result) != sizeof result)
    result = -1000;
  close (ends[0]);
  waitpid (child, &status, 0);
  if (WIFSIGNALED (status))
    printf ("%s SIG%s\n", call->name, sigabbrev_np (WTERMSIG (status)));
  else
    printf ("%s %s\n", call->name, error_name (result < 0 ? -result : 0));
}

static int
try_calls (const char *entry, long pid)
{
  /* x86-64, x32, i386 */
  char kind = entry[0] == 'i' ? 'i' : entry[1] == '3' ? '3' : '8';

  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    {
      fflush (stdout);
      try_call (&calls[i], kind, pid);
    }
  return 0;
}

/* ---- limits ---- */

static int64_t
nanoseconds (clockid_t clock)
{
  struct timespec now;

  clock_gettime (clock, &now);
  return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

static int
spin (long milliseconds)
{
  int64_t wall = nanoseconds (CLOCK_MONOTONIC);
  int64_t cpu = nanoseconds (CLOCK_PROCESS_CPUTIME_ID);
  int64_t until = wall + milliseconds * 1000000;

  while (nanoseconds (CLOCK_MONOTONIC) < until)
    continue;
  printf ("%lld\n", (long long) ((nanoseconds (CLOCK_PROCESS_CPUTIME_ID) - cpu) * 1000
                                 / (nanoseconds (CLOCK_MONOTONIC) - wall)));
  return 0;
}

static int
open_descriptors (long count)
{
  long opened = 0;

  while (opened < count && open ("/dev/null", O_RDONLY) >= 0)
    opened++;
  printf ("%ld %s\n", opened, opened < count ? error_name (errno) : "ok");
  return 0;
}

static int
open_instances (long count, const char *ready, const char *stop)
{
  long opened = 0;
  int reason = 0;

  while (opened < count && inotify_init1 (0) >= 0)
    opened++;
  reason = opened < count ? errno : 0;
  if (mknod (ready, S_IFREG | 0600, 0) < 0)
    return 1;
  while (*stop != '\0' && access (stop, F_OK) < 0)
    usleep (10000);
  printf ("%ld %s\n", opened, error_name (reason));
  return 0;
}

/* One look at everything in DIRECTORY, at names that are there for a moment as well. */
static void
count_modes (const char *directory, long counts[010000])
{
  DIR *dir = opendir (directory);
  const struct dirent *entry;
  struct stat status;

  while (dir != NULL && (entry = readdir (dir)) != NULL)
    if (fstatat (dirfd (dir), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG (status.st_mode))
      counts[status.st_mode & 07777]++;
  if (dir != NULL)
    closedir (dir);
}

static int
watch_modes (const char *directory, const char *ready, const char *stop)
{
  static long counts[010000];

  if (mknod (ready, S_IFREG | 0600, 0) < 0)
    return 1;
  while (access (stop, F_OK) < 0)
    for (int i = 0; i < 100; i++)
      count_modes (directory, counts);
  for (int mode = 0; mode < 010000; mode++)
    if (counts[mode] > 0)
      printf ("%04o %ld\n", mode, counts[mode]);
  return 0;
}

static int
use_memory (long bytes)
{
  volatile char *memory = malloc ((size_t) bytes);

  if (memory == NULL)
    return puts ("ENOMEM") < 0;
  for (long i = 0; i < bytes; i += 512)
    memory[i] = 1;
  return puts ("ok") < 0;
}

static int
fork_children (long count)
{
  pid_t *children = calloc ((size_t) count, sizeof *children);
  long made = 0;
  int reason = 0;

  while (children != NULL && made < count)
    {
      children[made] = fork ();
      if (children[made] == 0)
        {
          pause ();
          _exit (0);
        }
      if (children[made] < 0)
        {
          reason = errno;
          break;
        }
      made++;
    }
  printf ("%ld %s\n", made, error_name (reason));
  for (long i = 0; i < made; i++)
    kill (children[i], SIGKILL);
  free (children);
  return 0;
}

/* ---- a race ---- */

static int
swap (const char *left, const char *right, long milliseconds, long count)
{
  int64_t until = nanoseconds (CLOCK_MONOTONIC) + milliseconds * 1000000;
  long swapped = 0;

  while (swapped < count || nanoseconds (CLOCK_MONOTONIC) < until)
    {
      if (renameat2 (AT_FDCWD, left, AT_FDCWD, right, RENAME_EXCHANGE) < 0)
        return 1;
      swapped++;
    }
  printf ("%ld\n", swapped);
  return 0;
}

/* ---- odd files ---- */

static int
make_socket (const char *path)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  int fd = socket (AF_UNIX, SOCK_STREAM, 0);

  if (fd < 0 || strlen (path) >= sizeof address.sun_path)
    return 1;
  strcpy (address.sun_path, path);
  return bind (fd, (struct sockaddr *) &address, sizeof address) < 0;
}

static int
list_attributes (const char *path)
{
  char names[4096];
  ssize_t size = llistxattr (path, names, sizeof names);

  for (ssize_t at = 0; at < size; at += (ssize_t) strlen (names + at) + 1)
    puts (names + at);
  return size < 0;
}

/* ---- the network ---- */

static int
make_address (const char *text, long port, struct sockaddr_storage *address, socklen_t *size)
{
  struct sockaddr_in *four = (struct sockaddr_in *) address;
  struct sockaddr_in6 *six = (struct sockaddr_in6 *) address;

  memset (address, 0, sizeof *address);
  if (inet_pton (AF_INET, text, &four->sin_addr) == 1)
    {
      four->sin_family = AF_INET;
      four->sin_port = htons ((uint16_t) port);
      *size = sizeof *four;
      return AF_INET;
    }
  if (inet_pton (AF_INET6, text, &six->sin6_addr) != 1)
    return -1;
  six->sin6_family = AF_INET6;
  six->sin6_port = htons ((uint16_t) port);
  *size = sizeof *six;
  return AF_INET6;
}

static const char *
finish_connect (int fd)
{
  struct pollfd wait = { .fd = fd, .events = POLLOUT };
  int error = 0;
  socklen_t size = sizeof error;

  if (poll (&wait, 1, 1500) == 0)
    return "ETIMEDOUT";
  getsockopt (fd, SOL_SOCKET, SO_ERROR, &error, &size);
  return error == 0 ? "connected" : error_name (error);
}

static const char *
reach (const char *text, long port, int type)
{
  struct sockaddr_storage address;
  socklen_t size = 0;
  int family = make_address (text, port, &address, &size);
  int fd = family >= 0 ? socket (family, type | SOCK_NONBLOCK, 0) : -1;

  if (fd < 0)
    return error_name (errno);
  if (type == SOCK_DGRAM)
    return sendto (fd, "?", 1, 0, (struct sockaddr *) &address, size) == 1 ? "sent" : error_name (errno);
  if (connect (fd, (struct sockaddr *) &address, size) == 0)
    return "connected";
  return errno == EINPROGRESS ? finish_connect (fd) : error_name (errno);
}

static void
send_back (int fd)
{
  char bytes[4096];
  ssize_t size;

  while ((size = read (fd, bytes, sizeof bytes)) > 0)
    if (send (fd, bytes, (size_t) size, MSG_NOSIGNAL) != size)
      break;
  close (fd);
}

static int
echo (long port)
{
  struct sockaddr_in address
      = { .sin_family = AF_INET, .sin_port = htons ((uint16_t) port), .sin_addr.s_addr = htonl (INADDR_LOOPBACK) };
  int fd = socket (AF_INET, SOCK_STREAM, 0);

  if (bind (fd, (struct sockaddr *) &address, sizeof address) < 0 || listen (fd, 16) < 0)
    return puts (error_name (errno)) < 0;
  for (int one; (one = accept (fd, NULL, NULL)) >= 0 || errno == ECONNABORTED;)
    if (one >= 0)
      send_back (one);
  return 1;
}

static int
deepen (const char *name, long count)
{
  bool made = mkdir (name, 0755) == 0 && chdir (name) == 0;

  for (; made && count > 0; count--)
    made = mkdir ("a", 0755) == 0 && chdir ("a") == 0;
  return made ? 0 : 1;
}

int
main (int count, char **arguments)
{
  const char *what = count > 2 ? arguments[1] : "";
  long first = count > 2 ? strtol (arguments[2], NULL, 10) : 0;
  long second = count > 3 ? strtol (arguments[3], NULL, 10) : 0;

  if (strcmp (what, "calls") == 0)
    return try_calls (arguments[2], second);
  if (strcmp (what, "spin") == 0)
    return spin (first);
  if (strcmp (what, "descriptors") == 0)
    return open_descriptors (first);
  if (strcmp (what, "instances") == 0 && count > 4)
    return open_instances (first, arguments[3], arguments[4]);
  if (strcmp (what, "modes") == 0 && count > 4)
    return watch_modes (arguments[2], arguments[3], arguments[4]);
  if (strcmp (what, "memory") == 0)
    return use_memory (first);
  if (strcmp (what, "forks") == 0)
    return fork_children (first);
  if (strcmp (what, "swap") == 0 && count > 5)
    return swap (arguments[2], arguments[3], strtol (arguments[4], NULL, 10), strtol (arguments[5], NULL, 10));
  if (strcmp (what, "deepen") == 0)
    return deepen (arguments[2], second);
  if (strcmp (what, "connect") == 0)
    return puts (reach (arguments[2], second, SOCK_STREAM)) < 0;
  if (strcmp (what, "echo") == 0)
    return echo (first);
  if (strcmp (what, "socket") == 0)
    return make_socket (arguments[2]);
  if (strcmp (what, "attributes") == 0)
    return list_attributes (arguments[2]);
  if (strcmp (what, "send") == 0)
    return puts (reach (arguments[2], second, SOCK_DGRAM)) < 0;
  return 2;
}

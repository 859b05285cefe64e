/* prober - a static program that is copied into a sandbox and tries to get out.
 *
 *   calls | paths                  each attempt of the list: a line NAME RESULT
 *   processes | signals | limits | settings | listings [PID]
 *                                  the same, at process PID, or at whoever started this one
 *   connect abstract|path NAME     a unix socket
 *   wait                           for its end
 *   ids                            the effective user id
 *   overwrite PID                  the file that PID executes, once it has ended
 *   grab MS                        the same, at every process that comes and goes: GOT WRITTEN
 *
 * With "outside" as the first argument it is the control: each attempt is made in mount, uts and
 * ipc namespaces of its own, so that nothing happens to the machine, and PID is a process of ours.
 * With "own" as the first argument a user namespace of its own is entered before.
 * RESULT is "ok" or an error's name. */
#include "conformance/escape/prober.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ATTEMPT_SECONDS 10
#define HELD_MAX 200

static const char *
error_name (int number)
{
  const char *name = number == 0 ? "ok" : strerrorname_np (number);

  return name != NULL ? name : "unknown";
}

/* ---- attempts ---- */

static void
go_apart (void)
{
  if (unshare (CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC) < 0 || mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
    _exit (255);
}

static bool
write_text (const char *path, const char *text)
{
  int fd = open (path, O_WRONLY | O_CLOEXEC);
  bool written = fd >= 0 && write (fd, text, strlen (text)) == (ssize_t) strlen (text);

  if (fd >= 0)
    close (fd);
  return written;
}

/* As uid 0 of it. */
static bool
enter_own_namespace (void)
{
  char map[48];

  snprintf (map, sizeof map, "0 %d 1", (int) geteuid ());
  return unshare (CLONE_NEWUSER) == 0 && write_text ("/proc/self/uid_map", map) && geteuid () == 0;
}

static bool
is_path (const struct attempt *attempt)
{
  for (const struct attempt *path = attempts_paths; path->name != NULL; path++)
    if (path == attempt)
      return true;
  return false;
}

/* In mounts of its own.  What the machine itself is without, or root on it, is put there. */
static int
run_outside (const struct attempt *attempt, pid_t target)
{
  int result = attempt->run (target, attempt);

  return result != 0 && is_path (attempt) && paths_stand_in (attempt) ? attempt->run (target, attempt) : result;
}

static void
try_one (const struct attempt *attempt, pid_t target, bool outside)
{
  int status;
  pid_t child;

  fflush (stdout);
  child = fork ();
  if (child == 0)
    {
      alarm (ATTEMPT_SECONDS);
      setsid ();
      if (outside)
        go_apart ();
      _exit (outside ? run_outside (attempt, target) : attempt->run (target, attempt));
    }
  if (child < 0 || waitpid (child, &status, 0) < 0)
    exit (1);
  if (WIFSIGNALED (status))
    printf ("%s SIG%s\n", attempt->name, sigabbrev_np (WTERMSIG (status)));
  else
    printf ("%s %s\n", attempt->name, error_name (WEXITSTATUS (status)));
}

static int
try_all (const struct attempt *attempts, pid_t target, bool outside)
{
  for (const struct attempt *attempt = attempts; attempt->name != NULL; attempt++)
    try_one (attempt, target, outside);
  return 0;
}

/* Somebody to try it at, with four descriptors: what a process may be done to where nothing forbids it. */
static pid_t
start_victim (void)
{
  bool has_fourth = dup2 (STDOUT_FILENO, STDERR_FILENO + 1) >= 0;
  pid_t victim = fork ();

  if (victim == 0)
    {
      prctl (PR_SET_PDEATHSIG, SIGKILL);
      for (;;)
        pause ();
    }
  close (STDERR_FILENO + 1);
  return has_fourth ? victim : -1;
}

/* A victim that an attempt stopped before it ran would not end by itself. */
static int
try_at (const struct attempt *attempts, const char *target, bool outside)
{
  pid_t victim = target == NULL && outside ? start_victim () : 0;
  pid_t pid = target != NULL ? (pid_t) strtol (target, NULL, 10) : outside ? victim : getppid ();
  int result = pid > 0 ? try_all (attempts, pid, outside) : 1;

  if (victim > 0)
    {
      kill (victim, SIGKILL);
      waitpid (victim, NULL, 0);
    }
  return result;
}

static const struct at_process
{
  const char *name;
  const struct attempt *attempts;
} at_processes[] = {
  { "processes", attempts_processes }, { "signals", attempts_signals },   { "limits", attempts_limits },
  { "settings", attempts_settings },   { "listings", attempts_listings }, { NULL, NULL },
};

/* ---- sockets ---- */

static int
connect_to (const char *kind, const char *name)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  bool abstract = strcmp (kind, "abstract") == 0;
  size_t size = strlen (name);
  int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

  if (size + 2 > sizeof address.sun_path)
    return 2;
  memcpy (address.sun_path + (abstract ? 1 : 0), name, size);
  if (fd < 0 || connect (fd, (struct sockaddr *) &address, (socklen_t) (offsetof (struct sockaddr_un, sun_path) + 1 + size)) < 0)
    return puts (error_name (errno)) < 0;
  return puts ("ok") < 0;
}

/* ---- the program of another process ---- */

static bool
is_rewritten (int held)
{
  char path[48];
  int fd;
  bool written;

  snprintf (path, sizeof path, "/proc/self/fd/%d", held);
  fd = open (path, O_WRONLY | O_CLOEXEC);
  written = fd >= 0 && pwrite (fd, "#!", 2, 0) == 2;
  if (fd >= 0)
    close (fd);
  return written;
}

static int
hold_program (pid_t pid)
{
  char path[48];

  snprintf (path, sizeof path, "/proc/%d/exe", (int) pid);
  return open (path, O_RDONLY | O_CLOEXEC);
}

static int
overwrite (pid_t pid)
{
  int held = hold_program (pid);

  if (held < 0)
    return puts (error_name (errno)) < 0;
  kill (pid, SIGKILL);
  for (int i = 0; i < 500; i++)
    {
      if (is_rewritten (held))
        return puts ("ok") < 0;
      usleep (10000);
    }
  return puts (error_name (errno)) < 0;
}

static int
grab_all (int *held, int count, dev_t own_device, ino_t own_inode)
{
  DIR *proc = opendir ("/proc");

  for (struct dirent *entry; proc != NULL && count < HELD_MAX && (entry = readdir (proc)) != NULL;)
    {
      pid_t pid = (pid_t) strtol (entry->d_name, NULL, 10);
      int fd = pid > 0 ? hold_program (pid) : -1;
      struct stat status;

      if (fd >= 0 && (fstat (fd, &status) < 0 || (status.st_dev == own_device && status.st_ino == own_inode)))
        close (fd);
      else if (fd >= 0)
        held[count++] = fd;
    }
  if (proc != NULL)
    closedir (proc);
  return count;
}

static int
grab (long milliseconds)
{
  int held[HELD_MAX];
  int count = 0;
  int written = 0;
  struct stat own;
  struct timespec now, start;

  if (stat ("/proc/self/exe", &own) < 0)
    return 1;
  clock_gettime (CLOCK_MONOTONIC, &start);
  do
    {
      count = grab_all (held, count, own.st_dev, own.st_ino);
      for (int i = 0; i < count; i++)
        written += is_rewritten (held[i]);
      clock_gettime (CLOCK_MONOTONIC, &now);
      /* The oldest ones have been tried long enough. */
      while (count > HELD_MAX / 2)
        close (held[--count]);
    }
  while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < milliseconds);
  return printf ("%d %d\n", count, written) < 0;
}

int
main (int count, char **arguments)
{
  bool outside = count > 1 && strcmp (arguments[1], "outside") == 0;
  bool own = count > 1 && strcmp (arguments[1], "own") == 0;
  int at = 1 + (outside || own);
  const char *what = count > at ? arguments[at] : "";
  const char *first = count > at + 1 ? arguments[at + 1] : NULL;
  const char *second = count > at + 2 ? arguments[at + 2] : NULL;

  if (own && !enter_own_namespace ())
    return 3;
  if (strcmp (what, "calls") == 0)
    return try_all (attempts_calls, 0, outside);
  if (strcmp (what, "paths") == 0)
    return try_all (attempts_paths, 0, outside);
  for (const struct at_process *list = at_processes; list->name != NULL; list++)
    if (strcmp (what, list->name) == 0)
      return try_at (list->attempts, first, outside);
  if (strcmp (what, "connect") == 0 && second != NULL)
    return connect_to (first, second);
  if (strcmp (what, "ids") == 0)
    return printf ("%d\n", (int) geteuid ()) < 0;
  if (strcmp (what, "wait") == 0)
    return pause ();
  if (strcmp (what, "overwrite") == 0 && first != NULL)
    return overwrite ((pid_t) strtol (first, NULL, 10));
  if (strcmp (what, "grab") == 0 && first != NULL)
    return grab (strtol (first, NULL, 10));
  return 2;
}

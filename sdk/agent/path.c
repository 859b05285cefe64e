#include "sdk/agent/path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sdk/base/cleanup.h"
#include "sdk/base/path.h"

#define LINKS_MAXIMUM 40

int
path_open (const struct agent *agent, int root, const char *path, int flags, enum path_scope scope)
{
  struct open_how how = { .flags = (uint64_t) (flags | O_CLOEXEC), .resolve = RESOLVE_NO_MAGICLINKS };
  int fd;

  how.resolve |= scope == PATH_IN_ROOT ? RESOLVE_IN_ROOT : RESOLVE_BENEATH;
  if (scope == PATH_NO_LINKS)
    how.resolve |= RESOLVE_NO_SYMLINKS;
  if (*path == '\0')
    path = ".";
  if (agent->use_openat2)
    {
      /* EAGAIN: something was renamed while the kernel looked; it says to try again. */
      for (int round = 0; round < 100; round++)
        {
          fd = (int) syscall (SYS_openat2, root, path, &how, sizeof how);
          if (fd >= 0 || (errno != EAGAIN && errno != ENOSYS && errno != EPERM))
            return fd;
          if (errno != EAGAIN)
            break;
        }
      if (errno == EAGAIN)
        return -1;
    }
  return path_walk (root, path, flags, scope);
}

int
path_reopen (const struct agent *agent, int fd, int flags)
{
  char link[32];

  snprintf (link, sizeof link, "self/fd/%d", fd);
  return openat (agent->proc, link, flags | O_CLOEXEC);
}

int
path_rename (int from_directory, const char *from, int to_directory, const char *to, bool is_new)
{
  if (!is_new)
    return renameat (from_directory, from, to_directory, to);
  return (int) syscall (SYS_renameat2, from_directory, from, to_directory, to, RENAME_NOREPLACE);
}

/* Splits RELATIVE at its last slash: the directory is opened, the name copied. */
static int
open_place (const struct agent *agent, int root, char *relative, struct path_place *place)
{
  char *slash = strrchr (relative, '/');
  const char *name = slash == NULL ? relative : slash + 1;

  if (!berth_path_is_name (name, strlen (name)))
    {
      errno = strlen (name) > NAME_MAX ? ENAMETOOLONG : EXDEV;
      return -1;
    }
  strcpy (place->name, name);
  if (slash != NULL)
    *slash = '\0';
  place->directory
      = path_open (agent, root, slash == NULL ? "" : relative, O_PATH | O_DIRECTORY, PATH_BENEATH);
  if (slash != NULL)
    *slash = '/';
  return place->directory < 0 ? -1 : 0;
}

/* Replaces RELATIVE by what its last component, a link with TARGET, points to. */
static int
follow_link (const char *root_name, char relative[PATH_MAX], const char *target)
{
  char joined[PATH_MAX];
  char *slash = strrchr (relative, '/');
  int size;

  if (*target == '/' && !berth_path_is_within (target, root_name))
    {
      errno = EXDEV;
      return -1;
    }
  if (*target == '/')
    size = snprintf (joined, sizeof joined, "%s", target + strlen (root_name) + (target[strlen (root_name)] == '/'));
  else if (slash == NULL)
    size = snprintf (joined, sizeof joined, "%s", target);
  else
    size = snprintf (joined, sizeof joined, "%.*s/%s", (int) (slash - relative), relative, target);
  if (size < 0 || (size_t) size >= sizeof joined)
    {
      errno = ENAMETOOLONG;
      return -1;
    }
  memcpy (relative, joined, (size_t) size + 1);
  return 0;
}

int
path_find (const struct agent *agent, int root, const char *root_name, const char *relative, bool follow,
           struct path_place *place)
{
  char path[PATH_MAX], target[PATH_MAX];

  if (strlen (relative) >= sizeof path)
    {
      errno = ENAMETOOLONG;
      return -1;
    }
  strcpy (path, relative);
  for (int links = 0; links <= LINKS_MAXIMUM; links++)
    {
      ssize_t size;

      if (open_place (agent, root, path, place) < 0)
        return -1;
      size = follow ? readlinkat (place->directory, place->name, target, sizeof target - 1) : -1;
      if (size < 0)
        return 0;
      target[size] = '\0';
      close (place->directory);
      if (follow_link (root_name, path, target) < 0)
        return -1;
    }
  errno = ELOOP;
  return -1;
}

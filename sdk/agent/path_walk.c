/* Resolving a path where the kernel has no openat2.  Every component is opened without following
 * it, and the way back up is a stack of what was opened on the way down, never "..": what is moved
 * meanwhile cannot lead out. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sdk/agent/path.h"

#define DEPTH_MAXIMUM 256
#define LINKS_MAXIMUM 40

struct walk
{
  int root;
  int levels[DEPTH_MAXIMUM]; /* below the root; owned */
  int depth;
  int links;
  enum path_scope scope;
  char rest[2 * PATH_MAX]; /* what is still to be gone */
};

static int
fail_with (int error)
{
  errno = error;
  return -1;
}

static int
here (const struct walk *walk)
{
  return walk->depth == 0 ? walk->root : walk->levels[walk->depth - 1];
}

static void
go_to_root (struct walk *walk)
{
  while (walk->depth > 0)
    close (walk->levels[--walk->depth]);
}

static int
go_up (struct walk *walk)
{
  if (walk->depth > 0)
    {
      close (walk->levels[--walk->depth]);
      return 0;
    }
  return walk->scope == PATH_IN_ROOT ? 0 : fail_with (EXDEV);
}

/* Puts the target of the link FD before the rest. */
static int
enter_link (struct walk *walk, int fd)
{
  char target[PATH_MAX];
  ssize_t size = readlinkat (fd, "", target, sizeof target);
  size_t rest = strlen (walk->rest);

  if (size < 0)
    return -1;
  if (walk->scope == PATH_NO_LINKS || ++walk->links > LINKS_MAXIMUM)
    return fail_with (ELOOP);
  if (size == sizeof target || (size_t) size + 1 + rest >= sizeof walk->rest)
    return fail_with (ENAMETOOLONG);
  if (size > 0 && target[0] == '/')
    {
      if (walk->scope != PATH_IN_ROOT)
        return fail_with (EXDEV);
      go_to_root (walk);
    }
  memmove (walk->rest + size + 1, walk->rest, rest + 1);
  memcpy (walk->rest, target, (size_t) size);
  walk->rest[size] = '/';
  return 0;
}

/* Takes the next component off the rest; false when there is none. */
static bool
take_name (struct walk *walk, char name[NAME_MAX + 2], bool *last)
{
  char *from = walk->rest + strspn (walk->rest, "/");
  size_t size = strcspn (from, "/");
  size_t copied = size > NAME_MAX + 1 ? NAME_MAX + 1 : size; /* one too long stays too long */

  if (size == 0)
    return false;
  memcpy (name, from, copied);
  name[copied] = '\0';
  from += size;
  *last = from[strspn (from, "/")] == '\0';
  memmove (walk->rest, from, strlen (from) + 1);
  return true;
}

/* 1: the answer is in *found; 0: go on; -1. */
static int
go_down (struct walk *walk, const char *name, bool last, int flags, int *found)
{
  int fd = openat (here (walk), name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  struct stat status;
  bool is_link;

  if (fd < 0)
    return -1;
  is_link = fstat (fd, &status) == 0 && S_ISLNK (status.st_mode);
  if (is_link && (!last || (flags & O_NOFOLLOW) == 0))
    {
      int entered = enter_link (walk, fd);

      close (fd);
      return entered;
    }
  if (last)
    {
      close (fd);
      *found = openat (here (walk), name, flags | O_NOFOLLOW | O_CLOEXEC);
      return *found < 0 ? -1 : 1;
    }
  if (!S_ISDIR (status.st_mode) || walk->depth == DEPTH_MAXIMUM)
    {
      close (fd);
      return fail_with (S_ISDIR (status.st_mode) ? ENAMETOOLONG : ENOTDIR);
    }
  walk->levels[walk->depth++] = fd;
  return 0;
}

static int
walk_all (struct walk *walk, int flags)
{
  char name[NAME_MAX + 2];
  int found = -1, state = 0;
  bool last;

  while (state == 0 && take_name (walk, name, &last))
    {
      if (strcmp (name, ".") == 0)
        continue;
      if (strcmp (name, "..") == 0)
        state = go_up (walk);
      else
        state = go_down (walk, name, last, flags, &found);
    }
  if (state == 0) /* it ended in "." or "..": where we stand */
    return openat (here (walk), ".", flags | O_CLOEXEC);
  return state < 0 ? -1 : found;
}

int
path_walk (int root, const char *path, int flags, enum path_scope scope)
{
  struct walk *walk;
  int fd, saved;

  if (strlen (path) >= PATH_MAX)
    return fail_with (ENAMETOOLONG);
  if (*path == '/' && scope != PATH_IN_ROOT)
    return fail_with (EXDEV);
  walk = calloc (1, sizeof *walk);
  if (walk == NULL)
    return -1;
  walk->root = root;
  walk->scope = scope;
  strcpy (walk->rest, path);
  fd = walk_all (walk, flags);
  saved = errno;
  go_to_root (walk);
  free (walk);
  errno = saved;
  return fd;
}

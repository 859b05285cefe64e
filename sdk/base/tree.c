/* Removal of a tree that somebody hostile filled: links everywhere, any depth, names of any
 * length, permissions taken away.  Only names relative to an open directory are used, and the
 * way back up is "..", checked against what was there on the way down, so that neither the
 * length of a path nor the number of descriptors bounds the depth. */
#include "sdk/base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A directory on the way down.  Small, since there may be very many. */
struct level
{
  dev_t device;
  ino_t inode;
};

struct walk
{
  struct level *levels;
  size_t depth;
  size_t capacity;
  int first_error;
  DIR *dir; /* the deepest level, open */
};

static void
note_error (struct walk *walk)
{
  if (walk->first_error == 0)
    walk->first_error = errno;
}

/* Gives the owner of the directory `name` all rights.  Through a descriptor and not by name, which
 * may stand for something else by now; chmod takes no descriptor of O_PATH but by way of /proc. */
static int
give_rights (int parent, const char *name)
{
  BERTH_AUTO_FD int fd = openat (parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  char link[64];

  if (fd < 0)
    return -1;
  snprintf (link, sizeof link, "/proc/self/fd/%d", fd);
  return chmod (link, 0700);
}

/* Opens the directory `name` for reading, giving its owner the right first where it is missing. */
static int
open_directory (int parent, const char *name)
{
  int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
  int fd = openat (parent, name, flags);

  if (fd >= 0 || errno != EACCES || give_rights (parent, name) < 0)
    return fd;
  return openat (parent, name, flags);
}

static int
push_level (struct walk *walk, const struct stat *status)
{
  struct level *level;

  if (walk->depth == walk->capacity)
    {
      size_t capacity = walk->capacity == 0 ? 16 : walk->capacity * 2;
      struct level *levels = reallocarray (walk->levels, capacity, sizeof *levels);

      if (levels == NULL)
        return -1;
      walk->levels = levels;
      walk->capacity = capacity;
    }
  level = &walk->levels[walk->depth++];
  level->device = status->st_dev;
  level->inode = status->st_ino;
  return 0;
}

/* Goes down into `name`, a directory of `parent`; from then on walk->dir is that one. */
static int
enter (struct walk *walk, int parent, const char *name)
{
  BERTH_AUTO_FD int fd = open_directory (parent, name);
  struct stat status;
  DIR *dir;

  if (fd < 0 || fstat (fd, &status) < 0)
    return -1;
  if ((status.st_mode & 0700) != 0700)
    (void) fchmod (fd, 0700); /* where that fails, so will what needs it */
  if (push_level (walk, &status) < 0)
    return -1;
  dir = fdopendir (fd);
  if (dir == NULL)
    {
      walk->depth--;
      return -1;
    }
  fd = -1;
  if (walk->dir != NULL)
    closedir (walk->dir);
  walk->dir = dir;
  return 0;
}

/* Goes up one level.  ELOOP when the tree was moved under us and ".." is another directory. */
static int
leave (struct walk *walk)
{
  const struct level *above = &walk->levels[walk->depth - 2];
  BERTH_AUTO_FD int fd = openat (dirfd (walk->dir), "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  struct stat status;
  DIR *dir;

  if (fd < 0 || fstat (fd, &status) < 0)
    return -1;
  if (status.st_dev != above->device || status.st_ino != above->inode)
    {
      errno = ELOOP;
      return -1;
    }
  dir = fdopendir (fd);
  if (dir == NULL)
    return -1;
  fd = -1;
  closedir (walk->dir);
  walk->dir = dir;
  walk->depth--;
  return 0;
}

/* Removes the plain entries of walk->dir.  A mount point is no empty directory and is not entered
 * either: removing it fails with EBUSY.  Stops at the first directory that is not empty and
 * could be entered: 1.  0 when the level is done. */
static int
clear_level (struct walk *walk)
{
  struct dirent *entry;
  int fd = dirfd (walk->dir);

  while ((entry = readdir (walk->dir)) != NULL)
    {
      if (strcmp (entry->d_name, ".") == 0 || strcmp (entry->d_name, "..") == 0)
        continue;
      if (unlinkat (fd, entry->d_name, 0) == 0 || errno == ENOENT)
        continue;
      if (errno != EISDIR && errno != EPERM)
        {
          note_error (walk);
          continue;
        }
      if (unlinkat (fd, entry->d_name, AT_REMOVEDIR) == 0)
        continue;
      if ((errno == ENOTEMPTY || errno == EEXIST) && enter (walk, fd, entry->d_name) == 0)
        return 1;
      note_error (walk);
    }
  return 0;
}

/* Empties the directory that was entered first.  Each level is read again from its start after
 * coming back up to it, which then meets the emptied directory and removes it.  A name that cannot
 * be removed would be met for ever, so the first failure ends the walk. */
static void
empty_tree (struct walk *walk)
{
  while (walk->first_error == 0)
    {
      if (clear_level (walk) == 1)
        continue;
      if (walk->depth == 1)
        return;
      if (leave (walk) < 0)
        note_error (walk);
    }
}

static int
finish (struct walk *walk)
{
  if (walk->dir != NULL)
    closedir (walk->dir);
  free (walk->levels);
  if (walk->first_error == 0)
    return 0;
  errno = walk->first_error;
  return -1;
}

int
berth_fs_remove_content (int directory)
{
  struct walk walk = { 0 };

  if (enter (&walk, directory, ".") < 0)
    note_error (&walk);
  else
    empty_tree (&walk);
  return finish (&walk);
}

int
berth_fs_remove_tree (int directory, const char *path)
{
  struct walk walk = { 0 };
  int fd;

  if (unlinkat (directory, path, 0) == 0 || errno == ENOENT)
    return 0;
  if (errno != EISDIR && errno != EPERM)
    return -1;
  fd = open_directory (directory, path);
  if (fd < 0)
    return -1;
  if (enter (&walk, fd, ".") < 0)
    note_error (&walk);
  else
    empty_tree (&walk);
  close (fd);
  if (walk.first_error == 0 && unlinkat (directory, path, AT_REMOVEDIR) < 0 && errno != ENOENT)
    note_error (&walk);
  return finish (&walk);
}

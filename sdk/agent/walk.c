#include "sdk/agent/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "sdk/base/cleanup.h"

struct walk
{
  walk_visitor *visit;
  void *context;
  struct walk_result *result;
  struct failure *failure;
  char relative[PATH_MAX]; /* of the directory that is being read */
  size_t size;
  int depth;
};

static int walk_directory (struct walk *walk, int fd);

/* Appends NAME to the relative path; the old size, or -1 when it becomes too long. */
static int
enter (struct walk *walk, const char *name)
{
  size_t old = walk->size, size = strlen (name);

  if (old + size + 2 > sizeof walk->relative)
    return agent_fail (walk->failure, BERTH_E_INVALID_REQUEST, "the path of %s has more than %d bytes",
                       agent_quote (name).text, PATH_MAX - 1);
  if (old > 0)
    walk->relative[walk->size++] = '/';
  memcpy (walk->relative + walk->size, name, size + 1);
  walk->size += size;
  return (int) old;
}

static void
leave (struct walk *walk, int old)
{
  walk->size = (size_t) old;
  walk->relative[old] = '\0';
}

static int
walk_entry (struct walk *walk, int directory, const char *name)
{
  struct stat status;
  int old, result, fd;

  if (fstatat (directory, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
    {
      if (errno != ENOENT)
        return agent_fail_errno (walk->failure, errno, "cannot look at all of the directory %s",
                                 agent_quote (walk->relative).text);
      walk->result->changed = 1;
      return 0;
    }
  old = enter (walk, name);
  if (old < 0)
    return -1;
  result = walk->visit (walk->context, directory, name, walk->relative, &status);
  if (result == 0 && S_ISDIR (status.st_mode))
    {
      fd = openat (directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      if (fd >= 0)
        result = walk_directory (walk, fd);
      else if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)
        walk->result->changed = 1;
      else
        result = agent_fail_errno (walk->failure, errno, "cannot read the directory %s",
                                   agent_quote (walk->relative).text);
    }
  leave (walk, old);
  return result;
}

/* FD becomes the walk's. */
static int
walk_directory (struct walk *walk, int fd)
{
  BERTH_AUTO_DIR DIR *dir = fdopendir (fd);
  struct stat before, after;
  struct dirent *entry;
  int result = 0;

  if (dir == NULL || fstat (fd, &before) < 0)
    return agent_fail_errno (walk->failure, errno, "cannot read the directory %s", agent_quote (walk->relative).text);
  if (++walk->depth > WALK_DEPTH_MAXIMUM)
    return agent_fail (walk->failure, BERTH_E_INVALID_REQUEST, "%s is more than %d directories deep",
                       agent_quote (walk->relative).text, WALK_DEPTH_MAXIMUM);
  while (result == 0 && (entry = readdir (dir)) != NULL)
    if (strcmp (entry->d_name, ".") != 0 && strcmp (entry->d_name, "..") != 0)
      result = walk_entry (walk, fd, entry->d_name);
  if (fstat (fd, &after) < 0 || after.st_mtim.tv_sec != before.st_mtim.tv_sec
      || after.st_mtim.tv_nsec != before.st_mtim.tv_nsec)
    walk->result->changed = 1;
  walk->depth--;
  return result;
}

int
walk_tree (int root, walk_visitor *visit, void *context, struct walk_result *result, struct failure *failure)
{
  struct walk walk = { .visit = visit, .context = context, .result = result, .failure = failure };
  int fd = openat (root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

  if (fd < 0)
    return agent_fail_errno (failure, errno, "cannot read the directory");
  return walk_directory (&walk, fd);
}

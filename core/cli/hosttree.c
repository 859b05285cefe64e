#include "core/cli/hosttree.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sdk/base/fd.h"
#include "sdk/base/path.h"
#include "sdk/base/string.h"

#define TEMPORARY_PREFIX ".berth-"
#define TEMPORARY_RANDOM 13

static int
fail (const struct cli_host_tree *tree, const char *name)
{
  uint32_t code = errno == ENOSPC || errno == EDQUOT || errno == EMFILE ? BERTH_E_RESOURCE_EXHAUSTED
                  : errno == EACCES || errno == EPERM                   ? BERTH_E_FORBIDDEN
                                                                        : BERTH_E_INVALID_REQUEST;

  return cli_fail (tree->copy->cli, code, "cannot write %s in %s: %s", name, tree->place, strerror (errno));
}

static int
fail_in_the_way (const struct cli_host_tree *tree, const char *name, const char *what)
{
  return cli_fail (tree->copy->cli, BERTH_E_CONFLICT, "%s of %s is in the way: %s", name, tree->place, what);
}

static int
parent_of (const struct cli_host_tree *tree)
{
  return tree->fds[tree->count - 1];
}

static void
times_of (const struct berth_tar_member *member, struct timespec times[2])
{
  times[0] = (struct timespec) { .tv_nsec = UTIME_OMIT };
  times[1] = (struct timespec) { .tv_sec = (time_t) member->modified_s, .tv_nsec = (long) member->modified_ns };
}

/* The permission bits alone, whatever the sandbox told; the owner is whoever copies. */
static int
set_mode_and_time (int fd, const struct berth_tar_member *member)
{
  struct timespec times[2];

  times_of (member, times);
  return fchmod (fd, (mode_t) member->mode & 0777) < 0 || futimens (fd, times) < 0 ? -1 : 0;
}

/* A file or a link may be replaced; nothing else is. */
static int
check_place (const struct cli_host_tree *tree, const struct berth_tar_member *member)
{
  struct stat status;

  if (fstatat (parent_of (tree), berth_path_last (member->name), &status, AT_SYMLINK_NOFOLLOW) < 0)
    return errno == ENOENT ? 0 : fail (tree, member->name);
  if (S_ISREG (status.st_mode) || S_ISLNK (status.st_mode))
    return 0;
  return fail_in_the_way (tree, member->name, S_ISDIR (status.st_mode) ? "a directory" : "neither file nor directory");
}

/* ---- directories ---- */

static int
enter (void *context, const struct berth_tar_member *member)
{
  struct cli_host_tree *tree = context;
  const char *last = berth_path_last (member->name);
  int fd;

  if (*last == '\0')
    fd = fcntl (parent_of (tree), F_DUPFD_CLOEXEC, 0);
  else if (mkdirat (parent_of (tree), last, 0700) < 0 && errno != EEXIST)
    return fail (tree, member->name);
  else
    fd = openat (parent_of (tree), last, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0)
    return errno == ENOTDIR || errno == ELOOP ? fail_in_the_way (tree, member->name, "no directory") : fail (tree, member->name);
  tree->fds[tree->count++] = fd;
  return 0;
}

static int
leave (void *context, const struct berth_tar_member *member)
{
  struct cli_host_tree *tree = context;
  BERTH_AUTO_FD int fd = tree->fds[--tree->count];

  return *member->name == '\0' || set_mode_and_time (fd, member) == 0 ? 0 : fail (tree, member->name);
}

/* ---- files ---- */

/* Nobody else can read it before it has its mode. */
static int
begin_file (void *context, const struct berth_tar_member *member)
{
  struct cli_host_tree *tree = context;
  int status = check_place (tree, member);

  if (status != 0)
    return status;
  if (berth_id_generate (TEMPORARY_PREFIX, TEMPORARY_RANDOM, tree->temporary, sizeof tree->temporary) < 0)
    return fail (tree, member->name);
  tree->file = openat (parent_of (tree), tree->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  return tree->file >= 0 ? 0 : fail (tree, member->name);
}

static int
write_file (void *context, const void *bytes, size_t size)
{
  struct cli_host_tree *tree = context;

  return berth_fd_write_file (tree->file, bytes, size) == 0 ? 0 : fail (tree, "a file");
}

static int
end_file (void *context, const struct berth_tar_member *member)
{
  struct cli_host_tree *tree = context;
  int result = set_mode_and_time (tree->file, member);

  if (result == 0)
    result = close (BERTH_STEAL_FD (tree->file));
  if (result == 0)
    result = renameat (parent_of (tree), tree->temporary, parent_of (tree), berth_path_last (member->name));
  if (result == 0)
    tree->temporary[0] = '\0';
  return result == 0 ? 0 : fail (tree, member->name);
}

/* ---- links ---- */

static int
make_link (void *context, const struct berth_tar_member *member)
{
  struct cli_host_tree *tree = context;
  const char *last = berth_path_last (member->name);
  struct timespec times[2];
  int status = check_place (tree, member);

  if (status != 0)
    return status;
  times_of (member, times);
  if ((unlinkat (parent_of (tree), last, 0) < 0 && errno != ENOENT) || symlinkat (member->link, parent_of (tree), last) < 0
      || utimensat (parent_of (tree), last, times, AT_SYMLINK_NOFOLLOW) < 0)
    return fail (tree, member->name);
  return 0;
}

/* ---- the tree ---- */

int
cli_host_tree_open (struct cli_host_tree *tree, struct cli_copy *copy, const char *place)
{
  *tree = (struct cli_host_tree) { .copy = copy, .place = place, .file = -1 };
  tree->fds[0] = open (place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (tree->fds[0] < 0)
    return cli_fail (copy->cli, errno == ENOENT ? BERTH_E_PATH_NOT_FOUND : BERTH_E_INVALID_REQUEST, "cannot open the directory %s: %s",
                     place, strerror (errno));
  tree->count = 1;
  return 0;
}

void
cli_host_tree_target (struct cli_host_tree *tree, struct cli_copy_target *target)
{
  *target = (struct cli_copy_target) { .context = tree,
                                       .enter = enter,
                                       .leave = leave,
                                       .file = begin_file,
                                       .data = write_file,
                                       .end = end_file,
                                       .link = make_link };
}

void
cli_host_tree_close (struct cli_host_tree *tree)
{
  if (tree->count > 0 && tree->temporary[0] != '\0')
    unlinkat (parent_of (tree), tree->temporary, 0);
  if (tree->file >= 0)
    close (tree->file);
  while (tree->count > 0)
    close (tree->fds[--tree->count]);
}

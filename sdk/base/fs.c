#include "sdk/base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sdk/base/fd.h"
#include "sdk/base/path.h"
#include "sdk/base/string.h"

int
berth_fs_read (int directory, const char *path, struct berth_buffer *buffer, size_t limit)
{
  BERTH_AUTO_FD int fd = openat (directory, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

  return fd < 0 ? -1 : berth_fd_read_all (fd, buffer, limit);
}

int
berth_fs_write (int directory, const char *path, const void *bytes, size_t size)
{
  BERTH_AUTO_FD int fd = openat (directory, path, O_WRONLY | O_CLOEXEC | O_NOCTTY);

  return fd < 0 ? -1 : berth_fd_write_file (fd, bytes, size);
}

/* Flushes the folder that holds `path`, so that a rename in it outlives the machine. */
static int
sync_parent (int directory, const char *path)
{
  BERTH_AUTO_FREE char *parent = berth_path_parent (path);
  BERTH_AUTO_FD int fd = -1;

  if (parent == NULL)
    return -1;
  fd = openat (directory, parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return fd < 0 ? -1 : fsync (fd);
}

static int
fill_new_file (int directory, const char *path, const void *bytes, size_t size, mode_t mode)
{
  BERTH_AUTO_FD int fd
      = openat (directory, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

  /* fchmod, since the mode given to open is cut by the umask. */
  if (fd < 0 || berth_fd_write_file (fd, bytes, size) < 0 || fchmod (fd, mode) < 0)
    return -1;
  return fsync (fd);
}

int
berth_fs_replace (int directory, const char *path, const void *bytes, size_t size, mode_t mode)
{
  BERTH_AUTO_FREE char *temporary = NULL;
  char suffix[32];
  int saved;

  if (berth_id_generate (".new-", 12, suffix, sizeof suffix) < 0)
    return -1;
  temporary = berth_string_format ("%s%s", path, suffix);
  if (temporary == NULL)
    return -1;
  if (fill_new_file (directory, temporary, bytes, size, mode) == 0
      && renameat (directory, temporary, directory, path) == 0)
    return sync_parent (directory, path);
  saved = errno;
  unlinkat (directory, temporary, 0);
  errno = saved;
  return -1;
}

int
berth_fs_make_directories (int directory, const char *path, mode_t mode)
{
  struct stat status;

  /* mostly there already, which one look tells */
  if (fstatat (directory, path, &status, 0) == 0 && S_ISDIR (status.st_mode))
    return 0;
  BERTH_AUTO_FREE char *copy = strdup (path);
  char *slash = copy;
  if (copy == NULL)
    return -1;
  while (slash != NULL)
    {
      slash = strchr (slash + 1, '/');
      if (slash != NULL)
        *slash = '\0';
      if (mkdirat (directory, copy, mode) < 0 && errno != EEXIST)
        return -1;
      if (slash != NULL)
        *slash = '/';
    }
  if (fstatat (directory, path, &status, 0) < 0)
    return -1;
  if (S_ISDIR (status.st_mode))
    return 0;
  errno = ENOTDIR;
  return -1;
}

/* The root of a plain sandbox: the machine's own directories, with /workspace, /tmp and the accounts
 * replaced.  Runs between fork and exec, so that it allocates nothing and uses no stream. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "conformance/plain/plain.h"

#define NAME_SIZE 256

struct directory_entry
{
  uint64_t inode;
  int64_t offset;
  unsigned short size;
  unsigned char type;
  char name[];
};

static bool
is_replaced (const char *name)
{
  return strcmp (name, ".") == 0 || strcmp (name, "..") == 0 || strcmp (name, "workspace") == 0
         || strcmp (name, "tmp") == 0;
}

/* Brings one entry of the machine's root into the new root, which is the working directory. */
static int
bring (const char *name)
{
  char source[NAME_SIZE + 2] = "/", target[PATH_MAX];
  struct stat status;
  ssize_t size;
  int fd;

  if (strlen (name) >= NAME_SIZE)
    return 0;
  strcat (source, name);
  if (lstat (source, &status) < 0)
    return errno == ENOENT ? 0 : -1;
  if (S_ISLNK (status.st_mode))
    {
      size = readlink (source, target, sizeof target - 1);
      if (size < 0)
        return -1;
      target[size] = '\0';
      return symlink (target, name);
    }
  if (S_ISDIR (status.st_mode))
    return mkdir (name, 0755) < 0 ? -1 : mount (source, name, NULL, MS_BIND | MS_REC, NULL);
  if (!S_ISREG (status.st_mode))
    return 0;
  fd = open (name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0)
    return -1;
  close (fd);
  return mount (source, name, NULL, MS_BIND, NULL);
}

/* getdents, since opendir allocates. */
static int
bring_all (void)
{
  _Alignas (struct directory_entry) char buffer[8192];
  int fd = open ("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  long size;

  while ((size = syscall (SYS_getdents64, fd, buffer, sizeof buffer)) > 0)
    for (long at = 0; at < size;)
      {
        struct directory_entry *entry = (struct directory_entry *) (void *) (buffer + at);

        if (!is_replaced (entry->name) && bring (entry->name) < 0)
          return -1;
        at += entry->size;
      }
  close (fd);
  return (int) size;
}

static int
bind_directory (const char *source, const char *name)
{
  return mkdir (name, 0755) < 0 ? -1 : mount (source, name, NULL, MS_BIND, NULL);
}

int
plain_root_enter (const struct plain_root *root)
{
  if (unshare (CLONE_NEWNS) < 0 || mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0
      || mount ("tmpfs", root->root, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=1m") < 0)
    return -1;
  if (chdir (root->root) < 0 || bring_all () < 0)
    return -1;
  if (bind_directory (root->workspace, "workspace") < 0 || bind_directory (root->temporary, "tmp") < 0
      || mount (root->passwd, "etc/passwd", NULL, MS_BIND, NULL) < 0
      || mount (root->group, "etc/group", NULL, MS_BIND, NULL) < 0)
    return -1;
  if (syscall (SYS_pivot_root, ".", ".") < 0 || umount2 (".", MNT_DETACH) < 0)
    return -1;
  return chdir ("/");
}

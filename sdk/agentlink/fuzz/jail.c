#include "sdk/agentlink/fuzz/jail.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sdk/base/fs.h"

#define NOBODY 65534
#define DEPTH_DESCRIPTORS 32

static const char *const directories[] = { "etc", "outside", "tmp", "workspace" };
static const char *const files[][2] = { { "etc/passwd", "root:x:0:0::/:\nnobody:x:65534:65534::/:\n" },
                                        { "outside/file", "as it was\n" } };
static const char *const watched[] = { ".", "etc", "etc/passwd", "outside", "outside/file", "tmp" };

/* ---- what is watched ---- */

/* The time of change cannot be set back, and shows every change of an entry too. */
static int
describe (const struct jail *jail, struct berth_buffer *out)
{
  struct stat status;

  for (size_t i = 0; i < sizeof watched / sizeof *watched; i++)
    {
      if (fstatat (jail->root, watched[i], &status, AT_SYMLINK_NOFOLLOW) < 0)
        return -1;
      berth_buffer_appendf (out, "%s: inode %llu, mode %o, %u links, owner %u, %lld bytes, changed %lld.%09ld\n", watched[i],
                            (unsigned long long) status.st_ino, (unsigned) status.st_mode, (unsigned) status.st_nlink,
                            (unsigned) status.st_uid, (long long) status.st_size, (long long) status.st_ctim.tv_sec,
                            status.st_ctim.tv_nsec);
    }
  if (fstat (jail->workspace, &status) < 0)
    return -1;
  return berth_buffer_appendf (out, "workspace: mode %o, owner %u\n", (unsigned) status.st_mode, (unsigned) status.st_uid);
}

static int
look_at (const char *path, const struct stat *status, int type, struct FTW *where)
{
  bool is_known = S_ISREG (status->st_mode) || S_ISDIR (status->st_mode) || S_ISLNK (status->st_mode) || S_ISFIFO (status->st_mode);

  (void) where;
  if (type == FTW_NS) /* behind a directory that the archive closed, to who is not root */
    return 0;
  if (is_known && (status->st_mode & 06000) == 0 && (status->st_uid == NOBODY || status->st_uid == getuid ()))
    return 0;
  fprintf (stderr, "the workspace has %s: type %d, mode %o, owner %u\n", path, type, (unsigned) status->st_mode,
           (unsigned) status->st_uid);
  abort ();
}

void
jail_check (const struct jail *jail)
{
  BERTH_AUTO_BUFFER struct berth_buffer after = { 0 };
  char path[sizeof jail->path + 16];

  if (describe (jail, &after) < 0 || after.size != jail->before.size
      || memcmp (after.data, jail->before.data, after.size) != 0)
    {
      fprintf (stderr, "something outside the workspace has changed, from\n%sto\n%s", berth_buffer_string (&jail->before),
               berth_buffer_string (&after));
      abort ();
    }
  snprintf (path, sizeof path, "%s/workspace", jail->path);
  nftw (path, look_at, DEPTH_DESCRIPTORS, FTW_PHYS);
  if (berth_fs_remove_content (jail->workspace) < 0)
    {
      fprintf (stderr, "the workspace cannot be emptied: %s\n", strerror (errno));
      abort ();
    }
}

/* ---- making it ---- */

static int
fill (struct jail *jail)
{
  if (fchown (jail->root, jail->uid, jail->uid) < 0)
    return -1;
  for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
    if (mkdirat (jail->root, directories[i], 0755) < 0 || fchownat (jail->root, directories[i], jail->uid, jail->uid, 0) < 0)
      return -1;
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    if (berth_fs_replace (jail->root, files[i][0], files[i][1], strlen (files[i][1]), 0644) < 0
        || fchownat (jail->root, files[i][0], jail->uid, jail->uid, 0) < 0)
      return -1;
  return 0;
}

int
jail_make (struct jail *jail)
{
  static const struct timespec tick = { .tv_nsec = 20000000 }; /* longer than a file system's */
  const char *top = getenv ("TMPDIR");

  *jail = (struct jail) { .root = -1, .workspace = -1, .uid = geteuid () == 0 ? NOBODY : geteuid () };
  snprintf (jail->path, sizeof jail->path, "%.64s/berth-fuzz-XXXXXX", top != NULL ? top : "/tmp");
  if (mkdtemp (jail->path) == NULL || chmod (jail->path, 0755) < 0)
    return -1;
  jail->root = open (jail->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (jail->root < 0 || fill (jail) < 0)
    return -1;
  jail->workspace = openat (jail->root, "workspace", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (jail->workspace < 0 || describe (jail, &jail->before) < 0)
    return -1;
  return nanosleep (&tick, NULL);
}

void
jail_remove (struct jail *jail)
{
  berth_fs_remove_tree (AT_FDCWD, jail->path);
  close (jail->root);
  close (jail->workspace);
  berth_buffer_free (&jail->before);
}

/* The C library would change all threads. */
int
jail_enter (const struct jail *jail)
{
  if (geteuid () != 0)
    return 0;
  if (unshare (CLONE_FS) < 0 || chroot (jail->path) < 0 || chdir ("/") < 0)
    return -1;
  umask (0);
  if (syscall (SYS_setgroups, 0, NULL) < 0 || syscall (SYS_setresgid, jail->uid, jail->uid, jail->uid) < 0)
    return -1;
  return (int) syscall (SYS_setresuid, jail->uid, jail->uid, jail->uid);
}

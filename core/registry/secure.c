#include "core/registry/secure.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sdk/base/cleanup.h"
#include "sdk/base/path.h"
#include "sdk/base/string.h"

/* A group that was made for the user alone: it bears the user's name and nobody else is in it. */
static bool
is_private_group (gid_t gid)
{
  char user_texts[4096], group_texts[16384];
  struct passwd user, *found_user = NULL;
  struct group group, *found = NULL;

  if (getpwuid_r (geteuid (), &user, user_texts, sizeof user_texts, &found_user) != 0 || found_user == NULL
      || user.pw_gid != gid || getgrgid_r (gid, &group, group_texts, sizeof group_texts, &found) != 0 || found == NULL
      || strcmp (group.gr_name, user.pw_name) != 0)
    return false;
  for (char **member = group.gr_mem; *member != NULL; member++)
    if (strcmp (*member, user.pw_name) != 0)
      return false;
  return true;
}

static bool
is_sticky_of_root (const struct stat *status)
{
  return S_ISDIR (status->st_mode) && status->st_uid == 0 && (status->st_mode & S_ISVTX) != 0;
}

/* WHAT is "the file" or "directory /x". */
static void
check_owner_and_mode (const char *what, const struct stat *status, struct berth_problems *problems)
{
  unsigned int mode = status->st_mode & 07777;

  if (status->st_uid != 0 && status->st_uid != geteuid ())
    berth_problem (problems, "chown it", "%s belongs to uid %u (want root%s)", what, (unsigned int) status->st_uid,
                   geteuid () == 0 ? "" : " or the user itself");
  if (is_sticky_of_root (status))
    return;
  if ((mode & S_IWOTH) != 0)
    berth_problem (problems, "chmod o-w", "%s can be written by everybody (mode %04o)", what, mode);
  if ((mode & S_IWGRP) != 0 && !is_private_group (status->st_gid))
    berth_problem (problems, "chmod g-w", "%s can be written by group %u (mode %04o)", what,
                   (unsigned int) status->st_gid, mode);
}

static void
check_directory (const char *path, struct berth_problems *problems)
{
  BERTH_AUTO_FREE char *what = berth_string_format ("directory %s", path);
  struct stat status;

  if (what != NULL && lstat (path, &status) == 0)
    check_owner_and_mode (what, &status, problems);
  else
    berth_problem (problems, NULL, "directory %s cannot be looked at: %s", path, strerror (errno));
}

/* Every directory of an absolute CHAIN, from the root down: it is cut at each slash in turn. */
static void
check_chain (char *chain, struct berth_problems *problems)
{
  size_t length = strlen (chain), end = 1;

  for (;;)
    {
      char cut = chain[end];

      chain[end] = '\0';
      check_directory (chain, problems);
      chain[end] = cut;
      if (end >= length)
        return;
      end += 1 + strcspn (chain + end + 1, "/");
    }
}

static void
check_directories (const char *path, struct berth_problems *problems)
{
  BERTH_AUTO_FREE char *parent = berth_path_parent (path);
  BERTH_AUTO_FREE char *resolved = parent != NULL ? realpath (parent, NULL) : NULL;

  if (resolved != NULL)
    check_chain (resolved, problems);
  else
    berth_problem (problems, NULL, "directory %s cannot be resolved: %s", parent != NULL ? parent : path, strerror (errno));
}

static void
complain_of_link (const char *path, struct berth_problems *problems)
{
  BERTH_AUTO_FREE char *target = realpath (path, NULL);

  if (target == NULL && errno == ELOOP)
    berth_problem (problems, "install the file itself", "is a symbolic link that leads to itself");
  else
    berth_problem (problems, "install the file itself", "is a symbolic link%s%s", target != NULL ? " to " : "",
                   target != NULL ? target : "");
}

/* Whether the file can be read on; who may write it is told beside that. */
static bool
check_file (int fd, struct berth_problems *problems)
{
  struct stat status;

  if (fstat (fd, &status) < 0)
    berth_problem (problems, NULL, "cannot be looked at: %s", strerror (errno));
  else if (!S_ISREG (status.st_mode))
    berth_problem (problems, "install a shared object", S_ISDIR (status.st_mode) ? "is a directory" : "is not a regular file");
  else
    {
      check_owner_and_mode ("the file", &status, problems);
      return true;
    }
  return false;
}

int
berth_secure_open (const char *path, struct berth_problems *problems)
{
  /* O_NONBLOCK: a FIFO of that name must not stop us. */
  BERTH_AUTO_FD int fd = open (path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);

  if (fd < 0 && errno == ELOOP)
    complain_of_link (path, problems);
  else if (fd < 0)
    berth_problem (problems, errno == EACCES ? "give the user the right to read it" : NULL, "cannot be opened: %s",
                   strerror (errno));
  check_directories (path, problems);
  return fd >= 0 && check_file (fd, problems) ? BERTH_STEAL_FD (fd) : -1;
}

/* Directories made, things moved and removed. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sdk/agent/target.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/fs.h"

#define DEFAULT_MODE 0755

static bool
asks (const struct operation *operation, uint64_t flag)
{
  return (operation->request->flags & flag) != 0;
}

static int
succeed (struct operation *operation)
{
  conn_add_end (operation->conn);
  return 0;
}

/* The directory is there, or something else is. */
static int
settle_existing (struct operation *operation, const struct target *target)
{
  BERTH_AUTO_FD int fd = path_open (operation->agent, target->root, target->relative, O_PATH | O_DIRECTORY,
                                    PATH_BENEATH);

  if (fd >= 0 && !asks (operation, WIRE_FLAG_NEW))
    return succeed (operation);
  return agent_fail (operation->failure, BERTH_E_CONFLICT, "%s exists already%s", agent_quote (target->path).text,
                     fd < 0 ? " and is not a directory" : "");
}

int
operation_make_directory (struct operation *operation)
{
  const struct request *request = operation->request;
  struct target target TARGET_AUTO = TARGET_NONE;
  mode_t mode = request_has (request, WIRE_TAG_MODE) ? (mode_t) request->mode : DEFAULT_MODE;
  struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = (time_t) request->modified_s } };
  BERTH_AUTO_FD int fd = -1;

  if (target_find (operation, request->path, false, &target) < 0
      || target_find_owner (operation, true, &target) < 0)
    return -1;
  if (mkdirat (target.place.directory, target.place.name, 0700) < 0)
    return errno == EEXIST ? settle_existing (operation, &target) : target_fail (operation, &target, "make");
  fd = openat (target.place.directory, target.place.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 || fchown (fd, target.uid, target.gid) < 0 || fchmod (fd, mode) < 0)
    return target_fail (operation, &target, "set owner and mode of");
  if (request_has (request, WIRE_TAG_MODIFIED_S) && futimens (fd, times) < 0)
    return target_fail (operation, &target, "set the time of");
  return succeed (operation);
}

int
operation_move (struct operation *operation)
{
  const struct request *request = operation->request;
  struct target from TARGET_AUTO = TARGET_NONE, to TARGET_AUTO = TARGET_NONE;

  if (target_find (operation, request->path, false, &from) < 0
      || target_find (operation, request->to, false, &to) < 0)
    return -1;
  if (path_rename (from.place.directory, from.place.name, to.place.directory, to.place.name,
                   asks (operation, WIRE_FLAG_NEW))
      == 0)
    return succeed (operation);
  if (errno == EXDEV)
    return agent_fail (operation->failure, BERTH_E_INVALID_REQUEST, "%s and %s are on two file systems",
                       agent_quote (from.path).text, agent_quote (to.path).text);
  return target_fail (operation, errno == ENOENT ? &from : &to, errno == ENOENT ? "move" : "move something to");
}

int
operation_remove (struct operation *operation)
{
  struct target target TARGET_AUTO = TARGET_NONE;
  bool missing_ok = asks (operation, WIRE_FLAG_MISSING_OK);
  struct stat status;
  int result;

  if (target_find (operation, operation->request->path, false, &target) < 0)
    return missing_ok && operation->failure->error == ENOENT ? succeed (operation) : -1;
  if (fstatat (target.place.directory, target.place.name, &status, AT_SYMLINK_NOFOLLOW) < 0)
    return missing_ok && errno == ENOENT ? succeed (operation) : target_fail (operation, &target, "remove");
  if (!S_ISDIR (status.st_mode))
    result = unlinkat (target.place.directory, target.place.name, 0);
  else if (asks (operation, WIRE_FLAG_RECURSIVE))
    {
      /* It may take long: the client shall know that somebody works on it. */
      if (conn_flush (operation->conn) < 0)
        return CLIENT_GONE;
      result = berth_fs_remove_tree (target.place.directory, target.place.name);
    }
  else
    result = unlinkat (target.place.directory, target.place.name, AT_REMOVEDIR);
  if (result == 0 || (missing_ok && errno == ENOENT))
    return succeed (operation);
  target_fail (operation, &target, "remove");
  if (operation->failure->error == ENOTEMPTY)
    agent_hint (operation->failure, "ask for the whole tree to be removed");
  return -1;
}

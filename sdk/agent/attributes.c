/* Mode, owner, group and time of what is there. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "sdk/agent/target.h"
#include "sdk/agent/walk.h"
#include "sdk/base/cleanup.h"

struct attributes
{
  struct operation *operation;
  const struct target *target;
};

/* FD is an O_PATH descriptor, which chmod and utimensat only take by way of /proc. */
static int
apply (const struct attributes *attributes, int fd, mode_t kind)
{
  const struct request *request = attributes->operation->request;
  int proc = attributes->operation->agent->proc;
  struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = (time_t) request->modified_s } };
  char link[32];

  snprintf (link, sizeof link, "self/fd/%d", fd);
  if (fchownat (fd, "", attributes->target->uid, attributes->target->gid, AT_EMPTY_PATH) < 0)
    return -1;
  if (S_ISLNK (kind))
    return 0;
  if (request_has (request, WIRE_TAG_MODE) && fchmodat (proc, link, (mode_t) request->mode, 0) < 0)
    return -1;
  return request_has (request, WIRE_TAG_MODIFIED_S) ? utimensat (proc, link, times, 0) : 0;
}

static int
visit (void *context, int directory, const char *name, const char *relative, const struct stat *status)
{
  struct attributes *attributes = context;
  BERTH_AUTO_FD int fd = openat (directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  struct stat now;

  (void) status;
  if ((fd < 0 && errno != ENOENT) || (fd >= 0 && (fstat (fd, &now) < 0 || apply (attributes, fd, now.st_mode) < 0)))
    return agent_fail_errno (attributes->operation->failure, errno, "cannot set the attributes of %s in %s",
                             agent_quote (relative).text, agent_quote (attributes->target->path).text);
  return 0;
}

/* The children before the directory itself, which the mode might close. */
static int
apply_below (struct attributes *attributes, int fd)
{
  BERTH_AUTO_FD int directory = path_reopen (attributes->operation->agent, fd, O_RDONLY | O_DIRECTORY);
  struct walk_result result = { 0 };

  if (directory < 0)
    return target_fail (attributes->operation, attributes->target, "read");
  return walk_tree (directory, visit, attributes, &result, attributes->operation->failure);
}

int
operation_set_attributes (struct operation *operation)
{
  struct target target TARGET_AUTO = TARGET_NONE;
  struct attributes attributes = { .operation = operation, .target = &target };
  struct stat status;
  BERTH_AUTO_FD int fd = -1;

  if (target_find (operation, operation->request->path, true, &target) < 0
      || target_find_owner (operation, false, &target) < 0)
    return -1;
  fd = openat (target.place.directory, target.place.name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 || fstat (fd, &status) < 0)
    return target_fail (operation, &target, "open");
  if (S_ISDIR (status.st_mode) && (operation->request->flags & WIRE_FLAG_RECURSIVE) != 0
      && apply_below (&attributes, fd) < 0)
    return -1;
  if (apply (&attributes, fd, status.st_mode) < 0)
    return target_fail (operation, &target, "set the attributes of");
  conn_add_end (operation->conn);
  return 0;
}

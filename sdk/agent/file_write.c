/* Writing a file: a temporary one beside it, its attributes, and a rename once all has come. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

#include "sdk/agent/target.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/fd.h"

#define DEFAULT_MODE 0644

struct temporary
{
  int directory; /* the target's */
  int fd;
  char name[32]; /* "" once it was renamed, or never was */
};

#define TEMPORARY_AUTO __attribute__ ((cleanup (drop_temporary)))

static void
drop_temporary (struct temporary *temporary)
{
  berth_cleanup_fd (&temporary->fd);
  if (temporary->name[0] != '\0')
    unlinkat (temporary->directory, temporary->name, 0);
}

static int
make_temporary (int directory, struct temporary *temporary)
{
  uint64_t number;

  temporary->directory = directory;
  if (getrandom (&number, sizeof number, 0) != sizeof number)
    return -1;
  snprintf (temporary->name, sizeof temporary->name, ".berth-%016llx", (unsigned long long) number);
  temporary->fd = openat (directory, temporary->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0);
  if (temporary->fd < 0)
    temporary->name[0] = '\0';
  return temporary->fd < 0 ? -1 : 0;
}

/* What is there now may be replaced when it is a regular file. */
static int
check_replaced (struct operation *operation, const struct target *target)
{
  struct stat status;
  const char *path = target->path;

  if (fstatat (target->place.directory, target->place.name, &status, AT_SYMLINK_NOFOLLOW) < 0)
    return errno == ENOENT ? 0 : target_fail (operation, target, "look at");
  if ((operation->request->flags & WIRE_FLAG_NEW) != 0)
    return agent_fail (operation->failure, BERTH_E_CONFLICT, "%s exists already", agent_quote (path).text);
  if (!S_ISREG (status.st_mode))
    return agent_fail (operation->failure, BERTH_E_INVALID_REQUEST, "%s is %s", agent_quote (path).text,
                       S_ISDIR (status.st_mode) ? "a directory" : "not a regular file");
  return 0;
}

/* Everything up to the client's END. */
static int
receive_content (struct operation *operation, const struct target *target, int fd)
{
  struct wire_header header;
  unsigned char *payload;

  /* The client waits for the hello, however long the content takes. */
  if (conn_flush (operation->conn) < 0)
    return CLIENT_GONE;
  while (conn_read (operation->conn, WIRE_DATA_MAXIMUM, &header, &payload) > 0)
    {
      if (header.type == WIRE_FRAME_END)
        return 0;
      if (header.type != WIRE_FRAME_DATA)
        return agent_fail (operation->failure, BERTH_E_INVALID_REQUEST, "frame %u has no place in a file",
                           (unsigned) header.type);
      if (berth_fd_write_file (fd, payload, header.size) < 0)
        return target_fail (operation, target, "write");
    }
  return CLIENT_GONE;
}

static int
finish (struct operation *operation, const struct target *target, struct temporary *temporary)
{
  const struct request *request = operation->request;
  mode_t mode = request_has (request, WIRE_TAG_MODE) ? (mode_t) request->mode : DEFAULT_MODE;
  struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = (time_t) request->modified_s } };

  /* The owner first: changing it clears the set-id bits. */
  if (fchown (temporary->fd, target->uid, target->gid) < 0 || fchmod (temporary->fd, mode) < 0)
    return target_fail (operation, target, "set owner and mode of");
  if (request_has (request, WIRE_TAG_MODIFIED_S) && futimens (temporary->fd, times) < 0)
    return target_fail (operation, target, "set the time of");
  if (path_rename (temporary->directory, temporary->name, temporary->directory, target->place.name,
                   (request->flags & WIRE_FLAG_NEW) != 0)
      < 0)
    return target_fail (operation, target, "replace");
  temporary->name[0] = '\0';
  return 0;
}

int
operation_write (struct operation *operation)
{
  struct target target TARGET_AUTO = TARGET_NONE;
  struct temporary temporary TEMPORARY_AUTO = { .fd = -1 };
  int result;

  if (target_find (operation, operation->request->path, true, &target) < 0
      || target_find_owner (operation, true, &target) < 0 || check_replaced (operation, &target) < 0)
    return -1;
  if (make_temporary (target.place.directory, &temporary) < 0)
    return target_fail (operation, &target, "make a temporary file beside");
  result = receive_content (operation, &target, temporary.fd);
  if (result == 0)
    result = finish (operation, &target, &temporary);
  if (result == 0)
    conn_add_end (operation->conn);
  return result;
}

/* Looking: read, list, stat. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "sdk/agent/entry.h"
#include "sdk/agent/operations.h"
#include "sdk/agent/path.h"
#include "sdk/base/cleanup.h"

static void
add_entry_frame (struct operation *operation, struct accounts *accounts, const char *name, const struct stat *status,
                 int directory, const char *link_name)
{
  char target[PATH_MAX];
  const char *link = NULL;
  ssize_t size = S_ISLNK (status->st_mode) ? readlinkat (directory, link_name, target, sizeof target - 1) : -1;
  size_t frame = wire_begin (&operation->conn->out, WIRE_FRAME_ENTRY);

  if (size >= 0)
    {
      target[size] = '\0';
      link = target;
    }
  entry_add (&operation->conn->out, accounts, name, status, link);
  wire_end (&operation->conn->out, frame);
}

static int
open_seen (struct operation *operation, int flags, struct stat *status)
{
  const char *path = operation->request->path;
  int fd = path_open (operation->agent, operation->agent->root, path, O_PATH | flags, PATH_IN_ROOT);

  if (fd < 0)
    return agent_fail_errno (operation->failure, errno, "cannot open %s", agent_quote (path).text);
  if (fstat (fd, status) == 0)
    return fd;
  agent_fail_errno (operation->failure, errno, "cannot look at %s", agent_quote (path).text);
  close (fd);
  return -1;
}

int
operation_stat (struct operation *operation)
{
  struct accounts accounts ACCOUNTS_AUTO = { 0 };
  int flags = (operation->request->flags & WIRE_FLAG_FOLLOW) != 0 ? 0 : O_NOFOLLOW;
  struct stat status;
  BERTH_AUTO_FD int fd = open_seen (operation, flags, &status);

  if (fd < 0 || accounts_load (operation->agent, &accounts, operation->failure) < 0)
    return -1;
  add_entry_frame (operation, &accounts, operation->request->path, &status, fd, "");
  conn_add_end (operation->conn);
  return 0;
}

/* How much of the file is asked for; UINT64_MAX when that is to its end, wherever it then is. */
static int
check_size (struct operation *operation, const struct stat *status, uint64_t *wanted)
{
  const struct request *request = operation->request;
  uint64_t size = (uint64_t) status->st_size;
  uint64_t there = request->offset < size ? size - request->offset : 0;

  *wanted = request->length;
  if (*wanted < there)
    there = *wanted;
  if (there > request->max_bytes)
    return agent_fail (operation->failure, BERTH_E_PAYLOAD_TOO_LARGE, "%s has %llu bytes, the limit is %llu",
                       agent_quote (request->path).text, (unsigned long long) there,
                       (unsigned long long) request->max_bytes);
  return 0;
}

static int
send_content (struct operation *operation, int fd, uint64_t wanted)
{
  const struct request *request = operation->request;
  uint64_t sent = 0;

  if (request->offset > INT64_MAX || (request->offset > 0 && lseek (fd, (off_t) request->offset, SEEK_SET) < 0))
    return agent_fail (operation->failure, BERTH_E_INVALID_REQUEST, "%s cannot be read from offset %llu",
                       agent_quote (request->path).text, (unsigned long long) request->offset);
  while (sent < wanted)
    {
      size_t size = wanted - sent < WIRE_DATA_MAXIMUM ? (size_t) (wanted - sent) : WIRE_DATA_MAXIMUM;
      ssize_t got = conn_add_from (operation->conn, WIRE_FRAME_DATA, fd, size);

      if (got < 0)
        return agent_fail_errno (operation->failure, errno, "cannot read %s", agent_quote (request->path).text);
      if (got == 0)
        break;
      sent += (uint64_t) got;
      if (sent > request->max_bytes) /* it grew, or is of /proc and had no size to begin with */
        return agent_fail (operation->failure, BERTH_E_PAYLOAD_TOO_LARGE, "%s has more bytes than the limit of %llu",
                           agent_quote (request->path).text, (unsigned long long) request->max_bytes);
      if (conn_flush_some (operation->conn) < 0)
        return CLIENT_GONE;
    }
  return 0;
}

int
operation_read (struct operation *operation)
{
  struct accounts accounts ACCOUNTS_AUTO = { 0 };
  const char *path = operation->request->path;
  struct stat status;
  uint64_t wanted;
  int result;
  BERTH_AUTO_FD int seen = open_seen (operation, 0, &status);
  BERTH_AUTO_FD int fd = -1;

  if (seen < 0 || accounts_load (operation->agent, &accounts, operation->failure) < 0)
    return -1;
  if (!S_ISREG (status.st_mode))
    return agent_fail (operation->failure, BERTH_E_INVALID_REQUEST, "%s is %s", agent_quote (path).text,
                       S_ISDIR (status.st_mode) ? "a directory" : "not a regular file");
  if (check_size (operation, &status, &wanted) < 0)
    return -1;
  fd = path_reopen (operation->agent, seen, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (fd < 0)
    return agent_fail_errno (operation->failure, errno, "cannot open %s", agent_quote (path).text);
  add_entry_frame (operation, &accounts, path, &status, fd, "");
  result = send_content (operation, fd, wanted);
  if (result == 0)
    conn_add_end (operation->conn);
  return result;
}

int
operation_list (struct operation *operation)
{
  struct accounts accounts ACCOUNTS_AUTO = { 0 };
  const char *path = operation->request->path;
  struct stat status;
  struct dirent *entry;
  int fd;
  BERTH_AUTO_FD int seen = open_seen (operation, 0, &status);
  BERTH_AUTO_DIR DIR *dir = NULL;

  if (seen < 0 || accounts_load (operation->agent, &accounts, operation->failure) < 0)
    return -1;
  if (!S_ISDIR (status.st_mode))
    return agent_fail (operation->failure, BERTH_E_INVALID_REQUEST, "%s is not a directory", agent_quote (path).text);
  fd = path_reopen (operation->agent, seen, O_RDONLY | O_DIRECTORY);
  dir = fd < 0 ? NULL : fdopendir (fd);
  if (dir == NULL)
    return agent_fail_errno (operation->failure, errno, "cannot list %s", agent_quote (path).text);
  for (errno = 0; (entry = readdir (dir)) != NULL; errno = 0)
    {
      if (strcmp (entry->d_name, ".") == 0 || strcmp (entry->d_name, "..") == 0)
        continue;
      if (fstatat (fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        {
          if (errno == ENOENT) /* it went meanwhile */
            continue;
          break;
        }
      add_entry_frame (operation, &accounts, entry->d_name, &status, fd, entry->d_name);
      if (conn_flush_some (operation->conn) < 0)
        return CLIENT_GONE;
    }
  if (errno != 0)
    return agent_fail_errno (operation->failure, errno, "cannot list all of %s", agent_quote (path).text);
  conn_add_end (operation->conn);
  return 0;
}

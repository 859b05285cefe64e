/* The workspace coming in.  Whoever made the archive may be hostile: no name leaves the workspace, no
 * symbolic link is walked through, and what is made belongs to the sandbox's user. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "sdk/agent/account.h"
#include "sdk/agent/member.h"
#include "sdk/agent/operations.h"
#include "sdk/agent/path.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/fd.h"
#include "sdk/base/path.h"

#define LEVELS_MAXIMUM 64

/* A directory whose time is set once the archive has left it. */
struct level
{
  char name[PATH_MAX];
  struct timespec modified;
};

struct import
{
  struct operation *operation;
  int root;
  uid_t uid;
  gid_t gid;
  uint64_t entries;
  uint64_t bytes;
  size_t level_count;
  struct level *levels;
  int parent; /* the directory of the last member, since the next one is mostly in it too; -1: none */
  char parent_name[PATH_MAX];
};

/* ---- directories' times ---- */

static void
set_level_time (struct import *import, const struct level *level)
{
  struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, level->modified };
  BERTH_AUTO_FD int fd
      = path_open (import->operation->agent, import->root, level->name, O_RDONLY | O_DIRECTORY, PATH_NO_LINKS);

  if (fd >= 0)
    futimens (fd, times);
}

static bool
is_inside (const char *name, const char *directory)
{
  size_t size = strlen (directory);

  return strncmp (name, directory, size) == 0 && name[size] == '/';
}

/* Leaves the directories that NAME is not in; "" is in none. */
static void
leave_levels (struct import *import, const char *name)
{
  while (import->level_count > 0 && !is_inside (name, import->levels[import->level_count - 1].name))
    set_level_time (import, &import->levels[--import->level_count]);
}

static void
enter_level (struct import *import, const struct member *member)
{
  struct level *level;

  if (import->level_count == LEVELS_MAXIMUM)
    return;
  level = &import->levels[import->level_count++];
  strcpy (level->name, member->name);
  level->modified.tv_sec = (time_t) member->modified_s;
  level->modified.tv_nsec = (long) member->modified_ns;
}

/* ---- places ---- */

/* An open directory, which the archive need not have told of before what is in it. */
static int
open_directory (struct import *import, char *name)
{
  const struct agent *agent = import->operation->agent;
  int fd = path_open (agent, import->root, name, O_RDONLY | O_DIRECTORY, PATH_NO_LINKS);
  char *slash = strrchr (name, '/');
  int parent;

  if (fd >= 0 || errno != ENOENT || *name == '\0')
    return fd;
  if (slash != NULL)
    *slash = '\0';
  parent = open_directory (import, slash == NULL ? (char[]) { "" } : name);
  if (slash != NULL)
    *slash = '/';
  if (parent < 0)
    return -1;
  if (mkdirat (parent, slash == NULL ? name : slash + 1, 0755) == 0)
    fd = openat (parent, slash == NULL ? name : slash + 1, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  close (parent);
  if (fd >= 0 && fchown (fd, import->uid, import->gid) < 0)
    {
      close (fd);
      return -1;
    }
  return fd;
}

/* The directory that NAME lies in; *LAST is its last component. */
static int
open_parent (struct import *import, char *name, const char **last)
{
  char *slash = strrchr (name, '/');
  int fd;

  if (slash == NULL)
    {
      *last = name;
      return open_directory (import, (char[]) { "" });
    }
  *slash = '\0';
  fd = open_directory (import, name);
  *slash = '/';
  *last = slash + 1;
  return fd;
}

/* The same, kept open for the members that follow.  What the workload does to its name meanwhile leads nowhere
 * else: it stays the directory that was reached without a link. */
static int
reach_parent (struct import *import, char *name, const char **last)
{
  const char *slash = strrchr (name, '/');
  size_t size = slash == NULL ? 0 : (size_t) (slash - name);

  if (import->parent >= 0 && strncmp (import->parent_name, name, size) == 0 && import->parent_name[size] == '\0')
    {
      *last = slash == NULL ? name : slash + 1;
      return import->parent;
    }
  int fd = open_parent (import, name, last);
  if (fd < 0)
    return -1;
  if (import->parent >= 0)
    close (import->parent);
  memcpy (import->parent_name, name, size);
  import->parent_name[size] = '\0';
  return import->parent = fd;
}

/* ---- members ---- */

static int
set_owner_mode_time (struct import *import, const struct member *member, int fd)
{
  struct timespec times[2]
      = { { .tv_nsec = UTIME_OMIT },
          { .tv_sec = (time_t) member->modified_s, .tv_nsec = (long) member->modified_ns } };

  if (fchown (fd, import->uid, import->gid) < 0 || fchmod (fd, (mode_t) member->mode) < 0)
    return -1;
  return futimens (fd, times);
}

static int
make_directory (struct import *import, const struct member *member, int parent, const char *last)
{
  BERTH_AUTO_FD int fd = -1;

  if (mkdirat (parent, last, 0700) < 0 && errno != EEXIST)
    return -1;
  fd = openat (parent, last, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 || set_owner_mode_time (import, member, fd) < 0)
    return -1;
  enter_level (import, member);
  return 0;
}

/* Links and pipes: they have no descriptor that could be opened without harm. */
static int
make_special (struct import *import, const struct member *member, int parent, const char *last)
{
  struct timespec times[2]
      = { { .tv_nsec = UTIME_OMIT },
          { .tv_sec = (time_t) member->modified_s, .tv_nsec = (long) member->modified_ns } };

  if (member->kind == WIRE_KIND_SYMLINK ? symlinkat (member->link, parent, last) < 0
                                        : mkfifoat (parent, last, (mode_t) member->mode) < 0)
    return -1;
  if (fchownat (parent, last, import->uid, import->gid, AT_SYMLINK_NOFOLLOW) < 0)
    return -1;
  return utimensat (parent, last, times, AT_SYMLINK_NOFOLLOW);
}

static int
make_hard_link (struct import *import, struct member *member, int parent, const char *last)
{
  const char *first;
  BERTH_AUTO_FD int source = open_parent (import, member->hard_link, &first);
  struct stat status;

  if (source < 0 || fstatat (source, first, &status, AT_SYMLINK_NOFOLLOW) < 0)
    return -1;
  if (!S_ISREG (status.st_mode))
    {
      errno = EXDEV;
      return -1;
    }
  return linkat (source, first, parent, last, 0);
}

/* A later member of the same name takes the place of an earlier one, as with tar; but nothing takes
 * the place of a directory. */
static int
clear_place (const struct member *member, int parent, const char *last, struct failure *failure)
{
  if (member->kind == WIRE_KIND_DIRECTORY || unlinkat (parent, last, 0) == 0 || errno == ENOENT)
    return 0;
  return member_fail_errno (member, failure, errno == EPERM ? EISDIR : errno, "cannot replace what is there");
}

/* A new file, mostly where there is nothing; -1 after fail. */
static int
create_file (const struct member *member, int parent, const char *last, struct failure *failure)
{
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  int fd = openat (parent, last, flags, 0600);

  if (fd < 0 && errno == EEXIST)
    {
      if (clear_place (member, parent, last, failure) < 0)
        return -1;
      fd = openat (parent, last, flags, 0600);
    }
  return fd >= 0 ? fd : member_fail_errno (member, failure, errno, "cannot make it");
}

/* The member's bytes, from the frames that follow it. */
static int
receive_run (struct import *import, const struct member *member, int fd, const struct entry_run *run)
{
  struct conn *conn = import->operation->conn;
  struct failure *failure = import->operation->failure;
  uint64_t left = run->length;
  struct wire_header header;
  unsigned char *payload;

  if (run->offset > 0 && lseek (fd, (off_t) run->offset, SEEK_SET) < 0)
    return member_fail_errno (member, failure, errno, "cannot write it");
  while (left > 0)
    {
      if (conn_read (conn, WIRE_DATA_MAXIMUM, &header, &payload) <= 0)
        return CLIENT_GONE;
      if (header.type != WIRE_FRAME_DATA || header.size > left)
        return member_fail (member, failure, BERTH_E_INVALID_REQUEST, "it has other data than it claims");
      if (berth_fd_write_file (fd, payload, header.size) < 0)
        return member_fail_errno (member, failure, errno, "cannot write it");
      left -= header.size;
    }
  import->bytes += run->length;
  return 0;
}

static int
make_file (struct import *import, const struct member *member, int parent, const char *last)
{
  struct failure *failure = import->operation->failure;
  struct entry_run whole = { 0, member->size };
  const struct entry_run *runs = member->run_count == 0 ? &whole : member->runs;
  size_t count = member->run_count == 0 ? 1 : member->run_count;
  BERTH_AUTO_FD int fd = create_file (member, parent, last, failure);
  int result = 0;

  if (fd < 0)
    return -1;
  if (member->run_count > 0 && ftruncate (fd, (off_t) member->size) < 0)
    return member_fail_errno (member, failure, errno, "cannot make it");
  for (size_t i = 0; i < count && result == 0; i++)
    result = receive_run (import, member, fd, &runs[i]);
  if (result == 0 && set_owner_mode_time (import, member, fd) < 0)
    return member_fail_errno (member, failure, errno, "cannot set owner, mode and time");
  return result;
}

static int
make_member (struct import *import, struct member *member)
{
  struct failure *failure = import->operation->failure;
  const char *last;
  int result;

  leave_levels (import, member->name);
  int parent = reach_parent (import, member->name, &last);
  if (parent < 0)
    return member_fail_errno (member, failure, errno, errno == ELOOP ? "it lies behind a symbolic link" : "cannot reach it");
  if (member->hard_link != NULL && strcmp (member->hard_link, member->name) == 0)
    return member_fail (member, failure, BERTH_E_PATH_REJECTED, "a hard link to itself");
  if (member->hard_link == NULL && member->kind == WIRE_KIND_FILE)
    return make_file (import, member, parent, last);
  if (clear_place (member, parent, last, failure) < 0)
    return -1;
  if (member->hard_link != NULL)
    result = make_hard_link (import, member, parent, last);
  else if (member->kind == WIRE_KIND_DIRECTORY)
    result = make_directory (import, member, parent, last);
  else
    result = make_special (import, member, parent, last);
  return result < 0 ? member_fail_errno (member, failure, errno, "cannot make it") : 0;
}

static int
import_member (struct import *import, unsigned char *payload, size_t size)
{
  struct berth_buffer kept BERTH_CLEANUP (berth_buffer_free) = { 0 };
  struct member member __attribute__ ((cleanup (member_free))) = { 0 };

  import->entries++;
  /* The member's texts must outlive the reading of its data. */
  berth_buffer_append (&kept, payload, size);
  if (kept.error != 0)
    return agent_fail (import->operation->failure, BERTH_E_RESOURCE_EXHAUSTED, "no memory for entry %llu",
                       (unsigned long long) import->entries);
  if (member_decode ((unsigned char *) kept.data, size, import->entries, &member, import->operation->failure) < 0)
    return -1;
  if (member_is_root (&member)) /* the workspace is there, and stays as it is */
    return 0;
  return make_member (import, &member);
}

static int
import_all (struct import *import)
{
  struct conn *conn = import->operation->conn;
  struct wire_header header;
  unsigned char *payload;
  int result = 0;

  while (result == 0)
    {
      if (conn_read (conn, WIRE_DATA_MAXIMUM, &header, &payload) <= 0)
        return CLIENT_GONE;
      if (header.type == WIRE_FRAME_END)
        return 0;
      if (header.type != WIRE_FRAME_ENTRY)
        return agent_fail (import->operation->failure, BERTH_E_INVALID_REQUEST,
                           "after entry %llu: frame %u where an entry or the end was due",
                           (unsigned long long) import->entries, (unsigned) header.type);
      result = import_member (import, payload, header.size);
    }
  return result;
}

static void
add_report (struct import *import)
{
  struct berth_buffer *out = &import->operation->conn->out;
  size_t frame = wire_begin (out, WIRE_FRAME_END);

  wire_add_number (out, WIRE_TAG_BYTES, import->bytes);
  wire_add_number (out, WIRE_TAG_ENTRIES, import->entries);
  wire_end (out, frame);
}

int
operation_import (struct operation *operation)
{
  const struct agent *agent = operation->agent;
  const struct request *request = operation->request;
  const char *path = request->path == NULL ? agent->workspace : request->path;
  struct accounts accounts ACCOUNTS_AUTO = { 0 };
  struct import import = { .operation = operation, .parent = -1 };
  struct level *levels BERTH_AUTO_FREE = calloc (LEVELS_MAXIMUM, sizeof *levels);
  BERTH_AUTO_FD int root = path_open (agent, agent->root, path, O_PATH | O_DIRECTORY, PATH_IN_ROOT);
  int result;

  if (root < 0 || levels == NULL)
    return agent_fail_errno (operation->failure, errno, "cannot open %s", agent_quote (path).text);
  if (accounts_load (agent, &accounts, operation->failure) < 0
      || account_ids (&accounts, request->owner == NULL ? agent->user : request->owner, NULL, &import.uid,
                      &import.gid, operation->failure)
             < 0)
    return -1;
  import.root = root;
  import.levels = levels;
  result = conn_flush (operation->conn) < 0 ? CLIENT_GONE : import_all (&import);
  leave_levels (&import, "");
  if (import.parent >= 0)
    close (import.parent);
  if (result == 0)
    add_report (&import);
  return result;
}

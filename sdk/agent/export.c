/* The workspace going out: an entry frame for each file, and its data. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sdk/agent/entry.h"
#include "sdk/agent/operations.h"
#include "sdk/agent/path.h"
#include "sdk/agent/walk.h"
#include "sdk/base/cleanup.h"

#define LINKS_MAXIMUM 65536 /* files with several names that are remembered; others are copied */
#define NAMES_MAXIMUM (16u * 1024 * 1024) /* bytes of their names */
#define RUNS_MAXIMUM 1024   /* a file with more holes is sent without them */

/* A file with several names, and the first of them. */
struct linked
{
  dev_t device;
  ino_t inode;
  char *name;
};

struct export
{
  struct operation *operation;
  struct accounts accounts;
  struct linked *links;
  size_t link_count;
  size_t name_bytes;
  struct walk_result walked;
  bool copied_links;
  bool skipped;
  uint64_t entries;
  uint64_t bytes;
};

static const char *
find_link (const struct export *export, const struct stat *status)
{
  for (size_t i = 0; i < export->link_count; i++)
    if (export->links[i].inode == status->st_ino && export->links[i].device == status->st_dev)
      return export->links[i].name;
  return NULL;
}

static void
remember_link (struct export *export, const struct stat *status, const char *name)
{
  size_t count = export->link_count, size = strlen (name);

  if (count == LINKS_MAXIMUM || export->name_bytes + size > NAMES_MAXIMUM)
    {
      export->copied_links = true;
      return;
    }
  if ((count & (count - 1)) == 0)
    {
      struct linked *larger = realloc (export->links, (count == 0 ? 1 : count * 2) * sizeof *larger);

      if (larger == NULL)
        return;
      export->links = larger;
    }
  export->links[count].name = strdup (name);
  export->links[count].device = status->st_dev;
  export->links[count].inode = status->st_ino;
  if (export->links[count].name == NULL)
    return;
  export->link_count++;
  export->name_bytes += size;
}

/* The runs of data of a file with holes; 0 when it is to be sent whole. */
static size_t
find_runs (int fd, off_t size, struct entry_run runs[RUNS_MAXIMUM])
{
  size_t count = 0;
  off_t at = 0, data, hole;

  while (at < size && count < RUNS_MAXIMUM && (data = lseek (fd, at, SEEK_DATA)) >= 0 && data < size)
    {
      hole = lseek (fd, data, SEEK_HOLE);
      if (hole < 0)
        return 0;
      at = hole < size ? hole : size;
      runs[count++] = (struct entry_run) { (uint64_t) data, (uint64_t) (at - data) };
    }
  if (at < size && count == RUNS_MAXIMUM)
    return 0;
  if (count == 0) /* a hole from end to end; where holes are unknown, SEEK_DATA finds data at 0 */
    runs[count++] = (struct entry_run) { (uint64_t) size, 0 };
  return count == 1 && runs[0].length == (uint64_t) size ? 0 : count;
}

static int
send_zeros (struct export *export, uint64_t size)
{
  static const char zeros[65536];

  export->walked.changed = 1;
  while (size > 0)
    {
      size_t part = size < sizeof zeros ? (size_t) size : sizeof zeros;

      wire_add_frame (&export->operation->conn->out, WIRE_FRAME_DATA, zeros, part);
      if (conn_flush_some (export->operation->conn) < 0)
        return CLIENT_GONE;
      size -= part;
    }
  return 0;
}

static int
send_run (struct export *export, int fd, const struct entry_run *run)
{
  uint64_t sent = 0;

  if (lseek (fd, (off_t) run->offset, SEEK_SET) < 0)
    return send_zeros (export, run->length);
  while (sent < run->length)
    {
      uint64_t left = run->length - sent;
      ssize_t got = conn_add_from (export->operation->conn, WIRE_FRAME_DATA, fd,
                                   left < WIRE_DATA_MAXIMUM ? (size_t) left : WIRE_DATA_MAXIMUM);

      if (got <= 0) /* it became shorter, or cannot be read */
        return send_zeros (export, left);
      sent += (uint64_t) got;
      if (conn_flush_some (export->operation->conn) < 0)
        return CLIENT_GONE;
    }
  return 0;
}

static bool
same_content (const struct stat *before, int fd)
{
  struct stat after;

  return fstat (fd, &after) == 0 && after.st_size == before->st_size
         && after.st_mtim.tv_sec == before->st_mtim.tv_sec && after.st_mtim.tv_nsec == before->st_mtim.tv_nsec;
}

static int
send_file (struct export *export, int directory, const char *name, const char *relative, const struct stat *seen)
{
  struct berth_buffer *out = &export->operation->conn->out;
  struct entry_run *runs BERTH_AUTO_FREE = malloc (RUNS_MAXIMUM * sizeof *runs);
  BERTH_AUTO_FD int fd = openat (directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  struct stat status;
  size_t frame, count = 0;
  int result = 0;

  if (fd < 0 || runs == NULL || fstat (fd, &status) < 0 || !S_ISREG (status.st_mode)
      || status.st_ino != seen->st_ino)
    {
      export->walked.changed = 1;
      return 0;
    }
  if ((uint64_t) status.st_blocks * 512 < (uint64_t) status.st_size)
    count = find_runs (fd, status.st_size, runs);
  frame = wire_begin (out, WIRE_FRAME_ENTRY);
  entry_add (out, &export->accounts, relative, &status, NULL);
  for (size_t i = 0; i < count; i++)
    entry_add_run (out, &runs[i]);
  wire_end (out, frame);
  if (count == 0 && status.st_size > 0)
    runs[count++] = (struct entry_run) { 0, (uint64_t) status.st_size };
  for (size_t i = 0; i < count && result == 0; i++)
    {
      result = send_run (export, fd, &runs[i]);
      export->bytes += runs[i].length;
    }
  if (!same_content (&status, fd))
    export->walked.changed = 1;
  return result;
}

/* Everything but the content of a regular file. */
static int
send_entry (struct export *export, const char *relative, const struct stat *status, const char *link,
            const char *hard_link)
{
  struct berth_buffer *out = &export->operation->conn->out;
  size_t frame = wire_begin (out, WIRE_FRAME_ENTRY);

  entry_add (out, &export->accounts, relative, status, link);
  wire_add_text (out, WIRE_TAG_HARD_LINK, hard_link);
  wire_end (out, frame);
  return conn_flush_some (export->operation->conn) < 0 ? CLIENT_GONE : 0;
}

static int
send_link (struct export *export, int directory, const char *name, const char *relative, const struct stat *status)
{
  char target[PATH_MAX];
  ssize_t size = readlinkat (directory, name, target, sizeof target - 1);

  if (size < 0)
    {
      export->walked.changed = 1;
      return 0;
    }
  target[size] = '\0';
  return send_entry (export, relative, status, target, NULL);
}

static int
visit (void *context, int directory, const char *name, const char *relative, const struct stat *status)
{
  struct export *export = context;
  const char *first = S_ISREG (status->st_mode) && status->st_nlink > 1 ? find_link (export, status) : NULL;

  if (!S_ISREG (status->st_mode) && !S_ISDIR (status->st_mode) && !S_ISLNK (status->st_mode)
      && !S_ISFIFO (status->st_mode))
    {
      export->skipped = true;
      return 0;
    }
  export->entries++;
  if (S_ISLNK (status->st_mode))
    return send_link (export, directory, name, relative, status);
  if (!S_ISREG (status->st_mode) || first != NULL)
    return send_entry (export, relative, status, NULL, first);
  if (status->st_nlink > 1)
    remember_link (export, status, relative);
  return send_file (export, directory, name, relative, status);
}

static void
add_report (struct export *export)
{
  struct berth_buffer *out = &export->operation->conn->out;
  size_t frame = wire_begin (out, WIRE_FRAME_END);

  wire_add_number (out, WIRE_TAG_BYTES, export->bytes);
  wire_add_number (out, WIRE_TAG_ENTRIES, export->entries);
  if (export->walked.changed)
    wire_add_number (out, WIRE_TAG_CHANGED, 1);
  if (export->copied_links)
    wire_add_number (out, WIRE_TAG_COPIED_LINKS, 1);
  if (export->skipped)
    wire_add_number (out, WIRE_TAG_SKIPPED, 1);
  wire_end (out, frame);
}

int
operation_export (struct operation *operation)
{
  struct export export = { .operation = operation };
  const struct agent *agent = operation->agent;
  const char *path = operation->request->path == NULL ? agent->workspace : operation->request->path;
  BERTH_AUTO_FD int root = path_open (agent, agent->root, path, O_RDONLY | O_DIRECTORY, PATH_IN_ROOT);
  int result;

  if (root < 0)
    return agent_fail_errno (operation->failure, errno, "cannot open %s", agent_quote (path).text);
  result = accounts_load (agent, &export.accounts, operation->failure);
  if (result == 0)
    result = walk_tree (root, visit, &export, &export.walked, operation->failure);
  if (result == 0)
    add_report (&export);
  accounts_free (&export.accounts);
  for (size_t i = 0; i < export.link_count; i++)
    free (export.links[i].name);
  free (export.links);
  return result;
}

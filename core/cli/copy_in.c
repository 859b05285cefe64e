/* Into a sandbox: a tar that its workspace imports.  It is made, or taken from standard input and
 * given other names, while it is being read. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/cli/signals.h"
#include "core/cli/stream.h"
#include "core/cli/tarcall.h"
#include "sdk/base/path.h"

#define CHUNK_SIZE (256u * 1024)

struct feed
{
  struct cli_copy *copy;
  struct cli_tar_call call;
  struct berth_tar_writer *writer;
  struct berth_buffer out; /* what the writer has made */
  size_t taken;            /* of it */
  int (*step) (struct feed *feed); /* makes more: 1, 0 when there is no more, -1 with `status` */
  bool finished;
  int status; /* of what failed on this side, and was told */
  /* A tree of this machine. */
  struct berth_buffer name;
  DIR *directories[CLI_COPY_LEVELS];
  size_t sizes[CLI_COPY_LEVELS]; /* of the name of each */
  size_t count;
  int file;
  uint64_t left; /* of the file's bytes */
  char *chunk;
  const char *path;  /* of what was named */
  bool merges;       /* it is a directory whose content goes into one that is there */
  /* An archive. */
  struct berth_tar_reader *reader;
  const char *prefix; /* of its names; may be "" */
  bool has_data;      /* its last member may have more */
};

static int
fail_here (struct feed *feed, int status)
{
  feed->status = status;
  return -1;
}

/* What the writer or the reader said. */
static int
fail_tar (struct feed *feed)
{
  if (cli_signals_caught () != 0)
    return fail_here (feed, CLI_FAILED);
  return fail_here (feed, cli_report (feed->copy->cli, &feed->call.error));
}

static int
fail_path (struct feed *feed, const char *name)
{
  uint32_t code = errno == ENOENT ? BERTH_E_PATH_NOT_FOUND
                  : errno == EMFILE || errno == ENOMEM ? BERTH_E_RESOURCE_EXHAUSTED
                  : errno == EACCES || errno == EPERM  ? BERTH_E_FORBIDDEN
                                                       : BERTH_E_INVALID_REQUEST;

  return fail_here (feed, cli_fail (feed->copy->cli, code, "cannot read %s: %s", name, strerror (errno)));
}

/* ---- the stream ---- */

static int
take_made (void *context, const void *bytes, size_t size)
{
  struct feed *feed = context;

  return berth_buffer_append (&feed->out, bytes, size) == 0
             ? 0
             : feed->call.services.fail (&feed->call.call, BERTH_E_RESOURCE_EXHAUSTED, "no memory for an archive");
}

static int
make_more (struct feed *feed)
{
  int more = feed->step (feed);

  if (more != 0)
    return more;
  feed->finished = true;
  return berth_tar_writer_finish (feed->writer) < 0 ? fail_tar (feed) : 0;
}

static int64_t
give (void *context, void *bytes, size_t size)
{
  struct feed *feed = context;

  while (feed->taken == feed->out.size && !feed->finished)
    {
      berth_buffer_clear (&feed->out);
      feed->taken = 0;
      if (make_more (feed) < 0)
        return -1;
    }
  if (size > feed->out.size - feed->taken)
    size = feed->out.size - feed->taken;
  memcpy (bytes, feed->out.data + feed->taken, size);
  feed->taken += size;
  return (int64_t) size;
}

static int
send_all (struct feed *feed)
{
  const struct berth_tar_output output = { feed, take_made };
  struct berth_workspace_options options = BERTH_WORKSPACE_OPTIONS_INIT;
  struct berth_error error;
  int result;

  feed->writer = berth_tar_writer_new (&feed->call.call, &output);
  if (feed->writer == NULL)
    return fail_tar (feed);
  options.cancel = feed->copy->cli->cancel;
  /* The archive has headers beside the bytes that are counted here. */
  options.max_bytes = (int64_t) (feed->copy->max_bytes < INT64_MAX / 2 ? feed->copy->max_bytes * 2 : INT64_MAX);
  result = berth_workspace_import (feed->copy->sandbox, &options, give, feed, &error);
  berth_tar_writer_free (feed->writer);
  if (result == 0 || feed->status != 0)
    return result;
  feed->status = cli_signals_caught () != 0 ? CLI_FAILED : cli_report (feed->copy->cli, &error);
  return -1;
}

static void
feed_end (struct feed *feed)
{
  while (feed->count > 0)
    closedir (feed->directories[--feed->count]);
  if (feed->file >= 0)
    close (feed->file);
  berth_tar_reader_free (feed->reader);
  berth_buffer_free (&feed->out);
  berth_buffer_free (&feed->name);
  free (feed->chunk);
}

static void
feed_begin (struct feed *feed, struct cli_copy *copy, int (*step) (struct feed *feed))
{
  *feed = (struct feed) { .copy = copy, .step = step, .file = -1 };
  cli_tar_call_begin (&feed->call);
}

static int
add_member (struct feed *feed, const struct berth_tar_member *member)
{
  struct cli_copy *copy = feed->copy;
  uint64_t *kind = member->kind == BERTH_TAR_FILE        ? &copy->files
                   : member->kind == BERTH_TAR_DIRECTORY ? &copy->directories
                                                         : &copy->links;

  feed->status = cli_copy_count (copy, kind, member->name);
  if (feed->status != 0)
    return -1;
  return berth_tar_writer_member (feed->writer, member) < 0 ? fail_tar (feed) : 1;
}

/* ---- a tree of this machine ---- */

static struct berth_tar_member
member_of (const struct feed *feed, const struct stat *status)
{
  return (struct berth_tar_member) { .name = berth_buffer_string (&feed->name),
                                     .mode = status->st_mode & 0777,
                                     .modified_s = status->st_mtim.tv_sec,
                                     .modified_ns = (uint32_t) status->st_mtim.tv_nsec };
}

/* Opened first and looked at then: what the name means may change. */
static int
add_file (struct feed *feed, int fd)
{
  struct berth_tar_member member;
  struct stat status;

  feed->file = fd;
  if (fstat (fd, &status) < 0)
    return fail_path (feed, berth_buffer_string (&feed->name));
  if (!S_ISREG (status.st_mode))
    {
      cli_copy_leave_out (feed->copy, berth_buffer_string (&feed->name), "it is no file any more");
      close (BERTH_STEAL_FD (feed->file));
      return 1;
    }
  member = member_of (feed, &status);
  member.kind = BERTH_TAR_FILE;
  member.size = (uint64_t) status.st_size;
  feed->left = member.size;
  return add_member (feed, &member);
}

static int
add_file_data (struct feed *feed)
{
  ssize_t got;

  if (feed->left == 0)
    {
      close (BERTH_STEAL_FD (feed->file));
      return 1;
    }
  got = read (feed->file, feed->chunk, feed->left < CHUNK_SIZE ? (size_t) feed->left : CHUNK_SIZE);
  if (got < 0)
    return errno == EINTR ? 1 : fail_path (feed, berth_buffer_string (&feed->name));
  if (got == 0)
    return fail_here (feed, cli_fail (feed->copy->cli, BERTH_E_CONFLICT, "%s became shorter while it was copied",
                                      berth_buffer_string (&feed->name)));
  feed->left -= (uint64_t) got;
  feed->status = cli_copy_count_bytes (feed->copy, (size_t) got);
  if (feed->status != 0)
    return -1;
  return berth_tar_writer_data (feed->writer, feed->chunk, (size_t) got) < 0 ? fail_tar (feed) : 1;
}

/* Takes FD over. */
static int
enter_directory (struct feed *feed, int fd)
{
  struct berth_tar_member member;
  struct stat status;
  DIR *directory;

  if (feed->count == CLI_COPY_LEVELS)
    {
      close (fd);
      return fail_here (feed, cli_fail (feed->copy->cli, BERTH_E_PAYLOAD_TOO_LARGE, "%s: more than %d directories below each other",
                                        berth_buffer_string (&feed->name), CLI_COPY_LEVELS));
    }
  directory = fdopendir (fd);
  if (directory == NULL || fstat (fd, &status) < 0)
    {
      if (directory != NULL)
        closedir (directory);
      else
        close (fd);
      return fail_path (feed, berth_buffer_string (&feed->name));
    }
  feed->sizes[feed->count] = feed->name.size;
  feed->directories[feed->count++] = directory;
  if (feed->count == 1 && feed->merges)
    return 1;
  member = member_of (feed, &status);
  member.kind = BERTH_TAR_DIRECTORY;
  return add_member (feed, &member);
}

static int
add_link (struct feed *feed, const char *last, const struct stat *status)
{
  struct berth_tar_member member = member_of (feed, status);
  char target[PATH_MAX];
  ssize_t size = readlinkat (dirfd (feed->directories[feed->count - 1]), last, target, sizeof target);

  if (size < 0 || (size_t) size == sizeof target)
    return fail_path (feed, member.name);
  target[size] = '\0';
  member.kind = BERTH_TAR_SYMLINK;
  member.link = target;
  return add_member (feed, &member);
}

static int
add_entry (struct feed *feed, const char *last)
{
  int parent = dirfd (feed->directories[feed->count - 1]);
  const char *name = berth_buffer_string (&feed->name);
  struct stat status;
  int fd;

  if (fstatat (parent, last, &status, AT_SYMLINK_NOFOLLOW) < 0)
    return fail_path (feed, name);
  if (S_ISLNK (status.st_mode))
    return add_link (feed, last, &status);
  if (!S_ISREG (status.st_mode) && !S_ISDIR (status.st_mode))
    {
      cli_copy_leave_out (feed->copy, name, "neither file, directory nor link");
      return 1;
    }
  fd = openat (parent, last, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (S_ISDIR (status.st_mode) ? O_DIRECTORY : 0));
  if (fd < 0)
    return fail_path (feed, name);
  return S_ISDIR (status.st_mode) ? enter_directory (feed, fd) : add_file (feed, fd);
}

static int
step_tree (struct feed *feed)
{
  struct dirent *entry;
  size_t size;

  if (feed->file >= 0)
    return add_file_data (feed);
  if (feed->count == 0)
    return 0;
  size = feed->sizes[feed->count - 1];
  feed->name.size = size;
  if (size > 0)
    feed->name.data[size] = '\0';
  errno = 0;
  entry = readdir (feed->directories[feed->count - 1]);
  if (entry == NULL && errno != 0)
    return fail_path (feed, berth_buffer_string (&feed->name));
  if (entry == NULL)
    {
      closedir (feed->directories[--feed->count]);
      return 1;
    }
  if (strcmp (entry->d_name, ".") == 0 || strcmp (entry->d_name, "..") == 0)
    return 1;
  if (size > 0)
    berth_buffer_append_byte (&feed->name, '/');
  if (berth_buffer_append_string (&feed->name, entry->d_name) < 0)
    return fail_path (feed, entry->d_name);
  return add_entry (feed, entry->d_name);
}

/* The first member is what was named: only there a link is followed, since the user named it. */
static int
step_first (struct feed *feed)
{
  const char *path = feed->path;
  int fd = open (path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat status;

  feed->step = step_tree;
  if (fd < 0 || fstat (fd, &status) < 0)
    return fail_path (feed, path);
  return S_ISDIR (status.st_mode) ? enter_directory (feed, fd) : add_file (feed, fd);
}

int
cli_copy_in (struct cli_copy *copy, const char *path, const char *name, bool merges)
{
  BERTH_AUTO_FREE struct feed *feed = malloc (sizeof *feed);
  int status;

  if (feed == NULL)
    return cli_fail (copy->cli, BERTH_E_RESOURCE_EXHAUSTED, "no memory for a copy");
  feed_begin (feed, copy, step_first);
  feed->path = path;
  feed->merges = merges;
  feed->chunk = malloc (CHUNK_SIZE);
  if (feed->chunk == NULL || berth_buffer_append_string (&feed->name, name) < 0)
    feed->status = cli_fail (copy->cli, BERTH_E_RESOURCE_EXHAUSTED, "no memory for a copy");
  else
    send_all (feed);
  status = feed->status;
  feed_end (feed);
  return status;
}

/* ---- an archive ---- */

static int64_t
read_input (void *context, void *bytes, size_t size)
{
  struct feed *feed = context;
  ssize_t got = cli_stream_take (STDIN_FILENO, bytes, size);

  if (got < 0)
    return feed->call.services.fail (&feed->call.call, BERTH_E_INVALID_REQUEST, "cannot read standard input: %s", strerror (errno));
  return got;
}

/* Where NAME of the archive belongs in the workspace; NULL when it has ways out. */
static const char *
place_of (struct feed *feed, struct berth_buffer *place, const char *name)
{
  const char *at = name;

  if (at[0] == '.' && at[1] == '/')
    at += 2;
  berth_buffer_append_byte (place, '/');
  berth_buffer_append_string (place, feed->prefix);
  if (*feed->prefix != '\0')
    berth_buffer_append_byte (place, '/');
  if (berth_buffer_append_string (place, at) < 0 || !berth_path_is_normal (place->data, place->size))
    {
      fail_here (feed, cli_fail (feed->copy->cli, BERTH_E_PATH_REJECTED, "the archive has an impossible name, \"%s\"", name));
      return NULL;
    }
  return place->data + 1;
}

static int
add_archived (struct feed *feed, struct berth_tar_member *member)
{
  BERTH_AUTO_BUFFER struct berth_buffer name = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer link = { 0 };

  if (member->kind == BERTH_TAR_OTHER)
    return fail_here (feed, cli_fail (feed->copy->cli, BERTH_E_PATH_REJECTED, "the archive has a device, \"%s\"", member->name));
  member->name = place_of (feed, &name, member->name);
  if (member->name == NULL)
    return -1;
  if (member->hard_link != NULL)
    {
      member->hard_link = place_of (feed, &link, member->hard_link);
      if (member->hard_link == NULL)
        return -1;
    }
  return add_member (feed, member);
}

static int
add_archived_data (struct feed *feed, const void *bytes, size_t size)
{
  feed->status = cli_copy_count_bytes (feed->copy, size);
  if (feed->status != 0)
    return -1;
  return berth_tar_writer_data (feed->writer, bytes, size) < 0 ? fail_tar (feed) : 1;
}

static int
step_archive (struct feed *feed)
{
  struct berth_tar_member member;
  const void *bytes;
  size_t size;
  uint64_t offset;
  int more = feed->has_data ? berth_tar_reader_data (feed->reader, &bytes, &size, &offset) : 0;

  if (more < 0)
    return fail_tar (feed);
  if (more > 0)
    return add_archived_data (feed, bytes, size);
  feed->has_data = false;
  more = berth_tar_reader_next (feed->reader, &member);
  if (more <= 0)
    return more < 0 ? fail_tar (feed) : 0;
  if (strcmp (member.name, ".") == 0)
    return 1;
  feed->has_data = member.kind == BERTH_TAR_FILE && member.hard_link == NULL;
  return add_archived (feed, &member);
}

int
cli_copy_in_tar (struct cli_copy *copy, const char *name)
{
  BERTH_AUTO_FREE struct feed *feed = malloc (sizeof *feed);
  struct berth_tar_input input = { feed, read_input };
  int status;

  if (feed == NULL)
    return cli_fail (copy->cli, BERTH_E_RESOURCE_EXHAUSTED, "no memory for a copy");
  feed_begin (feed, copy, step_archive);
  feed->prefix = name;
  feed->reader = berth_tar_reader_new (&feed->call.call, &input);
  if (feed->reader == NULL)
    fail_tar (feed);
  else
    send_all (feed);
  status = feed->status;
  feed_end (feed);
  return status;
}

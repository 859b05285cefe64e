/* journal.c - changes of files, and the group `watch` that tells them. */
#include <fcntl.h>
#include <sys/stat.h>

#include "plugins/fake/fake.h"
#include "plugins/fake/tree.h"
#include "sdk/base/fd.h"
#include "sdk/base/path.h"

/* A journal that has grown this long starts again; watchers are told that events were lost. */
#define JOURNAL_MAX (1 << 20)

/* A record is the event's number, the path and a NUL byte: paths are any other bytes. */
void
fake_journal_add (struct fake_box *box, uint32_t event, const char *path)
{
  BERTH_AUTO_FD int fd
      = openat (box->directory, "journal", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  BERTH_AUTO_BUFFER struct berth_buffer record = { 0 };
  struct stat status;

  if (fd < 0 || fstat (fd, &status) < 0 || (status.st_size > JOURNAL_MAX && ftruncate (fd, 0) < 0))
    return;
  berth_buffer_append_byte (&record, (unsigned char) ('0' + event));
  berth_buffer_append (&record, path, strlen (path) + 1);
  if (record.error == 0)
    (void) berth_fd_write_all (fd, record.data, record.size);
}

static int
tell_records (const struct berth_buffer *news, const char *root, const struct berth_watch_sink *sink)
{
  const char *end = news->data + news->size;

  for (const char *at = news->data; at != NULL && at < end; at += strlen (at) + 1)
    {
      struct berth_watched what = { .struct_size = sizeof what, .event = (uint32_t) (*at - '0'), .path = at + 1 };

      if (berth_path_is_within (at + 1, root) && sink->changed (sink->context, &what) < 0)
        return -1;
    }
  return 0;
}

/* Tells what came after *OFFSET. */
static int
tell_news (struct berth_call *call, int fd, off_t *offset, const char *root, const struct berth_watch_sink *sink)
{
  BERTH_AUTO_BUFFER struct berth_buffer news = { 0 };
  struct berth_watched lost
      = { .struct_size = sizeof lost, .event = BERTH_WATCH_OVERFLOW, .path = root };
  struct stat status;

  if (fstat (fd, &status) < 0)
    return fake_failed (call, "read the journal");
  if (status.st_size < *offset)
    {
      *offset = status.st_size;
      return sink->changed (sink->context, &lost);
    }
  if (lseek (fd, *offset, SEEK_SET) < 0 || berth_fd_read_all (fd, &news, (size_t) 2 * JOURNAL_MAX) < 0)
    return fake_failed (call, "read the journal");
  *offset += (off_t) news.size;
  return tell_records (&news, root, sink);
}

static int
begin_watch (struct berth_call *call, struct berth_handle *handle, const char *path, char **root, int *fd)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  FAKE_AUTO_NODE struct fake_node node = FAKE_NODE_INIT;

  if (fake_point (call, handle->state, "watch.watch") < 0 || fake_box_for_handle (call, handle, &box) < 0
      || fake_node_get (call, &box, path, FAKE_FIND_FOLLOW, NULL, &node) < 0)
    return -1;
  *root = BERTH_STEAL_POINTER (node.path);
  *fd = openat (box.directory, "journal", O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  return *fd < 0 ? fake_failed (call, "open the journal") : 0;
}

/* Whether there is still something to watch. */
static int
still_there (struct berth_call *call, struct berth_handle *handle)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;

  return fake_box_open (call, handle->state, handle->native_id, &box);
}

static int
fake_watch_path (struct berth_call *call, struct berth_handle *handle, const char *path,
                 const struct berth_options *options, const struct berth_watch_sink *sink)
{
  BERTH_AUTO_FREE char *root = NULL;
  BERTH_AUTO_FD int fd = -1;
  off_t offset;

  if (fake_needs (call, handle->state, BERTH_CAP_FILE_WATCH, "FILE_WATCH") < 0
      || (options != NULL && BERTH_REFUSE_UNKNOWN (call, OPTIONS, options->asks, 0) < 0)
      || begin_watch (call, handle, path, &root, &fd) < 0)
    return -1;
  offset = lseek (fd, 0, SEEK_END);
  if (sink->ready (sink->context) < 0)
    return -1;
  while (fake_tick (call) == 0)
    if (tell_news (call, fd, &offset, root, sink) < 0 || still_there (call, handle) < 0)
      return -1;
  return -1;
}

const struct berth_watch_ops fake_watch = {
  .struct_size = sizeof fake_watch,
  .watch = fake_watch_path,
};

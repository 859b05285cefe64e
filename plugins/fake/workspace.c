/* workspace.c - export of the group `workspace`, and the group itself. */
#include "plugins/fake/workspace.h"

#include "plugins/fake/tree.h"
#include "sdk/archive/tar.h"
#include "sdk/base/fd.h"
#include "sdk/base/path.h"
#include "sdk/base/string.h"

#define PIECE 65536

/* An entry as it was when the export began. */
struct entry
{
  char *path;
  struct fake_attributes attributes;
  uint64_t size;
  uint64_t links;
  uint64_t inode;
};

struct export
{
  struct berth_call *call;
  struct berth_handle *handle;
  struct fake_box *box; /* while it is listed */
  const struct berth_tar_limits *limits;
  const struct berth_tar_sink *sink;
  struct entry *entries;
  size_t count;
  const char *directory; /* that is being listed */
  struct berth_tar_report report;
  struct berth_tar_writer *writer;
};

/* A paused sandbox can be exported: that is what FROZEN means. */
static int
open_box (struct export *export, struct fake_box *box)
{
  int64_t life;

  if ((export->limits->asks & BERTH_TAR_FROZEN) == 0)
    return fake_box_for_handle (export->call, export->handle, box);
  if (fake_box_open (export->call, export->handle->state, export->handle->native_id, box) < 0)
    return -1;
  life = fake_number (box->record, "life");
  if (life == BERTH_LIFE_PAUSED || life == BERTH_LIFE_RUNNING)
    return 0;
  return export->call->services->fail (export->call, BERTH_E_WRONG_STATE, "sandbox `%s` neither runs nor is paused",
                                       box->id);
}

/* --- listing -------------------------------------------------------------------------------------------------- */

static int
add_entry (struct export *export, struct fake_node *node)
{
  struct entry *entries;

  if (export->count >= export->limits->max_entries)
    return export->call->services->fail (export->call, BERTH_E_PAYLOAD_TOO_LARGE, "the workspace has more than %llu "
                                         "entries", (unsigned long long) export->limits->max_entries);
  entries = reallocarray (export->entries, export->count + 1, sizeof *entries);
  if (entries == NULL)
    return fake_failed (export->call, "list the workspace");
  export->entries = entries;
  entries[export->count++] = (struct entry) { BERTH_STEAL_POINTER (node->path), node->attributes, node->size,
                                              node->links, node->inode };
  return 0;
}

static int list_directory (struct export *export, const struct fake_node *node);

static int
list_child (void *context, const char *name)
{
  struct export *export = context;
  FAKE_AUTO_NODE struct fake_node node = FAKE_NODE_INIT;
  BERTH_AUTO_FREE char *path = berth_path_join (export->directory, name);
  struct fake_node child;

  if (path == NULL)
    return fake_failed (export->call, "list the workspace");
  if (fake_node_find (export->call, export->box, path, 0, NULL, &node) < 0)
    return -1;
  child = node;
  child.path = path;
  if (add_entry (export, &node) < 0)
    return -1;
  return child.attributes.kind == BERTH_KIND_DIRECTORY ? list_directory (export, &child) : 0;
}

static int
list_directory (struct export *export, const struct fake_node *node)
{
  const char *before = export->directory;
  int result;

  export->directory = node->path;
  result = fake_node_children (export->call, node, list_child, export);
  export->directory = before;
  return result;
}

static int
list_workspace (struct export *export)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  FAKE_AUTO_NODE struct fake_node node = FAKE_NODE_INIT;

  if (open_box (export, &box) < 0
      || fake_node_get (export->call, &box, FAKE_WORKSPACE, FAKE_FIND_FOLLOW, NULL, &node) < 0)
    return -1;
  export->box = &box;
  return list_directory (export, &node);
}

/* --- writing --------------------------------------------------------------------------------------------------- */

static int
write_out (void *context, const void *bytes, size_t size)
{
  struct export *export = context;

  export->report.bytes += size;
  if (export->report.bytes > export->limits->max_bytes)
    return export->call->services->fail (export->call, BERTH_E_PAYLOAD_TOO_LARGE, "the archive has more than %llu "
                                         "bytes", (unsigned long long) export->limits->max_bytes);
  if (fake_check (export->call) < 0)
    return -1;
  return export->sink->data (export->sink->context, bytes, size);
}

/* The name of an entry before INDEX that is the same file, or NULL. */
static const char *
same_file (const struct export *export, size_t index)
{
  if (export->entries[index].attributes.kind != BERTH_KIND_FILE || export->entries[index].links < 2)
    return NULL;
  for (size_t i = 0; i < index; i++)
    if (export->entries[i].attributes.kind == BERTH_KIND_FILE
        && export->entries[i].inode == export->entries[index].inode)
      return export->entries[i].path + strlen (FAKE_WORKSPACE "/");
  return NULL;
}

/* Finds an entry again: what it is now may have changed since it was listed. */
static int
open_entry (struct export *export, const struct entry *entry, struct berth_buffer *target)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  FAKE_AUTO_NODE struct fake_node node = FAKE_NODE_INIT;

  if (open_box (export, &box) < 0)
    return -2;
  if (fake_node_get (export->call, &box, entry->path, 0, NULL, &node) < 0
      || node.attributes.kind != entry->attributes.kind)
    {
      export->call->services->forgive (export->call);
      export->report.has |= BERTH_TAR_CHANGED;
      return -1;
    }
  if (node.inode != entry->inode || node.size != entry->size)
    export->report.has |= BERTH_TAR_CHANGED;
  if (node.attributes.kind == BERTH_KIND_SYMLINK)
    return fake_node_target (export->call, &node, target) < 0 ? -2 : -1;
  return fake_node_open (export->call, &node);
}

/* Exactly SIZE bytes: what is no longer there is zeros. */
static int
write_content (struct export *export, int fd, uint64_t size)
{
  char bytes[PIECE];

  while (size > 0)
    {
      size_t want = size < sizeof bytes ? (size_t) size : sizeof bytes;
      ssize_t got = fd >= 0 ? berth_fd_read_full (fd, bytes, want) : 0;

      if (got < 0)
        return fake_failed (export->call, "read a stored file");
      if ((size_t) got < want)
        {
          memset (bytes + got, 0, want - (size_t) got);
          export->report.has |= BERTH_TAR_CHANGED;
        }
      if (berth_tar_writer_data (export->writer, bytes, want) < 0)
        return -1;
      size -= want;
    }
  return 0;
}

static int
write_entry (struct export *export, size_t index)
{
  const struct entry *entry = &export->entries[index];
  static const enum berth_tar_kind kinds[]
      = { BERTH_TAR_OTHER, BERTH_TAR_FILE, BERTH_TAR_DIRECTORY, BERTH_TAR_SYMLINK, BERTH_TAR_FIFO };
  BERTH_AUTO_BUFFER struct berth_buffer target = { 0 };
  struct berth_tar_member member = { .name = entry->path + strlen (FAKE_WORKSPACE "/"),
                                     .kind = kinds[entry->attributes.kind % 5],
                                     .mode = entry->attributes.mode,
                                     .uid = entry->attributes.uid,
                                     .gid = entry->attributes.gid,
                                     .owner = fake_user_name (entry->attributes.uid),
                                     .group = fake_user_name (entry->attributes.gid),
                                     .hard_link = same_file (export, index),
                                     .modified_s = entry->attributes.modified_s,
                                     .modified_ns = entry->attributes.modified_ns };
  int has_content = member.kind == BERTH_TAR_FILE && member.hard_link == NULL;
  BERTH_AUTO_FD int fd = -1;

  if (has_content || member.kind == BERTH_TAR_SYMLINK)
    {
      fd = open_entry (export, entry, &target);
      if (fd == -2)
        return -1;
    }
  member.size = has_content ? entry->size : 0;
  member.link = member.kind == BERTH_TAR_SYMLINK ? berth_buffer_string (&target) : NULL;
  if (berth_tar_writer_member (export->writer, &member) < 0)
    return -1;
  export->report.entries++;
  return has_content ? write_content (export, fd, entry->size) : 0;
}

static int
write_all (struct export *export)
{
  const struct berth_tar_output output = { export, write_out };

  export->writer = berth_tar_writer_new (export->call, &output);
  if (export->writer == NULL)
    return -1;
  for (size_t i = 0; i < export->count; i++)
    if (write_entry (export, i) < 0)
      return -1;
  return berth_tar_writer_finish (export->writer);
}

static int
fake_export (struct berth_call *call, struct berth_handle *handle, const struct berth_tar_limits *limits,
             const struct berth_tar_sink *sink)
{
  struct export export = { .call = call,
                           .handle = handle,
                           .limits = limits,
                           .sink = sink,
                           .report = { .struct_size = sizeof export.report, .has = BERTH_TAR_NO_SPARSE } };
  int result;

  if (BERTH_REFUSE_UNKNOWN (call, TAR, limits->asks, BERTH_TAR_KNOWN_1_0) < 0
      || fake_point (call, handle->state, "workspace.export_tar") < 0)
    return -1;
  result = list_workspace (&export);
  if (result == 0)
    result = write_all (&export);
  berth_tar_writer_free (export.writer);
  for (size_t i = 0; i < export.count; i++)
    free (export.entries[i].path);
  free (export.entries);
  return result < 0 ? -1 : sink->report (sink->context, &export.report);
}

const struct berth_workspace_ops fake_workspace = {
  .struct_size = sizeof fake_workspace,
  .export_tar = fake_export,
  .import_tar = fake_import,
};

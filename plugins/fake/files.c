/* files.c - the group `files` on the stored tree. */
#include <fcntl.h>
#include <pthread.h>

#include "plugins/fake/tree.h"
#include "sdk/base/clock.h"
#include "sdk/base/fd.h"
#include "sdk/base/path.h"

#define PIECE 65536

/* --- telling --------------------------------------------------------------------------------------- */

static void
fill_info (const struct fake_node *node, const char *name, const char *target, struct berth_file_info *info)
{
  const struct fake_attributes *attributes = &node->attributes;

  *info = (struct berth_file_info) { .struct_size = sizeof *info,
                                     .kind = attributes->kind,
                                     .has = BERTH_FILE_MODE | BERTH_FILE_TIME | BERTH_FILE_IDS,
                                     .name = name,
                                     .size = node->size,
                                     .modified_s = attributes->modified_s,
                                     .modified_ns = attributes->modified_ns,
                                     .mode = attributes->mode,
                                     .uid = attributes->uid,
                                     .gid = attributes->gid };
  info->owner = fake_user_name (attributes->uid);
  info->group = fake_user_name (attributes->gid);
  if (info->owner != NULL && info->group != NULL)
    info->has |= BERTH_FILE_OWNER;
  if (attributes->kind != BERTH_KIND_SYMLINK)
    return;
  info->has |= BERTH_FILE_LINK;
  info->link_target = target;
}

static int
enter (struct berth_call *call, struct berth_handle *handle, const char *point, struct fake_box *box)
{
  if (fake_point (call, handle->state, point) < 0)
    return -1;
  return fake_box_for_handle (call, handle, box);
}

/* --- reading ---------------------------------------------------------------------------------------- */

static int
stream_content (struct berth_call *call, int fd, uint64_t length, const struct berth_read_sink *sink)
{
  char bytes[PIECE];

  while (length > 0)
    {
      ssize_t got = berth_fd_read_full (fd, bytes, length < sizeof bytes ? (size_t) length : sizeof bytes);

      if (got < 0)
        return fake_failed (call, "read a stored file");
      if (got == 0)
        return 0;
      if (fake_check (call) < 0 || sink->data (sink->context, bytes, (size_t) got) < 0)
        return -1;
      length -= (uint64_t) got;
    }
  return 0;
}

/* How many bytes are asked for of SIZE, from *OFFSET on. */
static int
read_span (struct berth_call *call, const char *path, const struct berth_read *how, uint64_t size, uint64_t *offset,
           uint64_t *length)
{
  *offset = 0;
  *length = size;
  if ((how->asks & BERTH_READ_RANGE) != 0)
    {
      *offset = how->offset < size ? how->offset : size;
      *length = how->length < size - *offset ? how->length : size - *offset;
    }
  if (*length <= how->max_bytes)
    return 0;
  return call->services->fail (call, BERTH_E_PAYLOAD_TOO_LARGE, "%s has %llu bytes (at most %llu)", path,
                               (unsigned long long) *length, (unsigned long long) how->max_bytes);
}

static int
fake_read (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_read *how,
           const struct berth_read_sink *sink)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  FAKE_AUTO_NODE struct fake_node node = FAKE_NODE_INIT;
  BERTH_AUTO_FD int fd = -1;
  struct berth_file_info info;
  uint64_t offset;
  uint64_t length;

  if (BERTH_REFUSE_UNKNOWN (call, READ, how->asks, BERTH_READ_KNOWN_1_0) < 0
      || enter (call, handle, "files.read", &box) < 0
      || fake_node_get (call, &box, path, FAKE_FIND_FOLLOW, NULL, &node) < 0)
    return -1;
  if (node.attributes.kind != BERTH_KIND_FILE)
    return call->services->fail (call, BERTH_E_INVALID_REQUEST, "%s is not a regular file", path);
  if (read_span (call, path, how, node.size, &offset, &length) < 0)
    return -1;
  fd = fake_node_open (call, &node);
  if (fd < 0)
    return -1;
  fake_box_close (&box);
  fill_info (&node, path, NULL, &info);
  if (lseek (fd, (off_t) (FAKE_HEADER + offset), SEEK_SET) < 0)
    return fake_failed (call, "read a stored file");
  if (sink->info (sink->context, &info) < 0)
    return -1;
  return stream_content (call, fd, length, sink);
}

static int
fake_stat (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_read *how,
           const struct berth_entry_sink *sink)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  FAKE_AUTO_NODE struct fake_node node = FAKE_NODE_INIT;
  BERTH_AUTO_BUFFER struct berth_buffer target = { 0 };
  struct berth_file_info info;
  unsigned int flags = (how->asks & BERTH_READ_FOLLOW) != 0 ? FAKE_FIND_FOLLOW : 0;

  if (BERTH_REFUSE_UNKNOWN (call, READ, how->asks, BERTH_READ_KNOWN_1_0) < 0
      || enter (call, handle, "files.stat", &box) < 0 || fake_node_get (call, &box, path, flags, NULL, &node) < 0)
    return -1;
  if (node.attributes.kind == BERTH_KIND_SYMLINK && fake_node_target (call, &node, &target) < 0)
    return -1;
  fake_box_close (&box);
  fill_info (&node, path, berth_buffer_string (&target), &info);
  return sink->entry (sink->context, &info);
}

/* A directory as it was while it was locked. */
struct listing
{
  struct berth_call *call;
  struct fake_box *box;
  const char *path;
  struct
  {
    struct fake_node node;
    char *target;
  } *entries;
  size_t count;
};

static void
free_listing (struct listing *listing)
{
  for (size_t i = 0; i < listing->count; i++)
    {
      fake_node_clear (&listing->entries[i].node);
      free (listing->entries[i].target);
    }
  free (listing->entries);
}

static int
list_child (void *context, const char *name)
{
  struct listing *listing = context;
  BERTH_AUTO_FREE char *path = berth_path_join (listing->path, name);
  BERTH_AUTO_BUFFER struct berth_buffer target = { 0 };
  struct fake_node node = FAKE_NODE_INIT;
  void *entries;

  if (path == NULL)
    return fake_failed (listing->call, "list a stored directory");
  if (fake_node_find (listing->call, listing->box, path, 0, NULL, &node) < 0)
    return -1;
  if ((listing->count & (listing->count + 1)) == 0)
    {
      entries = reallocarray (listing->entries, 2 * (listing->count + 1), sizeof *listing->entries);
      if (entries == NULL)
        {
          fake_node_clear (&node);
          return fake_failed (listing->call, "list a stored directory");
        }
      listing->entries = entries;
    }
  if (node.attributes.kind == BERTH_KIND_SYMLINK)
    (void) fake_node_target (listing->call, &node, &target);
  berth_cleanup_fd (&node.parent); /* thousands of entries are not to hold thousands of descriptors */
  node.parent = -1;
  listing->entries[listing->count].node = node;
  listing->entries[listing->count].target = berth_buffer_steal (&target);
  listing->count++;
  return 0;
}

static int
fake_list (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_read *how,
           const struct berth_entry_sink *sink)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  FAKE_AUTO_NODE struct fake_node node = FAKE_NODE_INIT;
  BERTH_CLEANUP (free_listing) struct listing listing = { call, &box, NULL, NULL, 0 };
  struct berth_file_info info;

  if (BERTH_REFUSE_UNKNOWN (call, READ, how->asks, BERTH_READ_KNOWN_1_0) < 0
      || enter (call, handle, "files.list", &box) < 0
      || fake_node_get (call, &box, path, FAKE_FIND_FOLLOW, NULL, &node) < 0)
    return -1;
  if (node.attributes.kind != BERTH_KIND_DIRECTORY)
    return call->services->fail (call, BERTH_E_INVALID_REQUEST, "%s is not a directory", path);
  listing.path = node.path;
  if (fake_node_children (call, &node, list_child, &listing) < 0)
    return -1;
  fake_box_close (&box);
  for (size_t i = 0; i < listing.count; i++)
    {
      fill_info (&listing.entries[i].node, berth_path_last (listing.entries[i].node.path), listing.entries[i].target,
                 &info);
      if (fake_check (call) < 0 || sink->entry (sink->context, &info) < 0)
        return -1;
    }
  return 0;
}

/* --- changing ---------------------------------------------------------------------------------------- */

static unsigned int
find_flags (const struct berth_change *how)
{
  return (how->asks & BERTH_CHANGE_PARENTS) != 0 ? FAKE_FIND_PARENTS : 0;
}

/* Puts what HOW asks for into ATTRIBUTES. */
static int
apply_change (struct berth_call *call, const struct berth_change *how, struct fake_attributes *attributes)
{
  if ((how->asks & BERTH_CHANGE_MODE) != 0)
    attributes->mode = how->mode & 07777;
  if ((how->asks & BERTH_CHANGE_OWNER) != 0 && fake_user_id (how->owner, &attributes->uid) < 0)
    return call->services->fail (call, BERTH_E_PATH_REJECTED, "no account `%s` in the sandbox", how->owner);
  if ((how->asks & BERTH_CHANGE_GROUP) != 0 && fake_user_id (how->group, &attributes->gid) < 0)
    return call->services->fail (call, BERTH_E_PATH_REJECTED, "no group `%s` in the sandbox", how->group);
  if ((how->asks & BERTH_CHANGE_TIME) != 0)
    {
      attributes->modified_s = how->modified_s;
      attributes->modified_ns = 0;
    }
  return 0;
}

static void
fresh_attributes (struct fake_box *box, uint32_t kind, uint32_t mode, struct fake_attributes *attributes)
{
  int64_t now = fake_now_ms (box->state);

  *attributes
      = (struct fake_attributes) { kind, mode, 1000, 1000, now / 1000, (uint32_t) (now % 1000) * UINT32_C (1000000) };
}

static int
take_content (struct berth_call *call, int fd, uint64_t limit, const struct berth_source *source)
{
  char bytes[PIECE];
  uint64_t total = 0;
  int64_t got;

  while ((got = source->read (source->context, bytes, sizeof bytes)) > 0)
    {
      total += (uint64_t) got;
      if (fake_check (call) < 0)
        return -1;
      if (limit > 0 && total > limit)
        return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "a file of more than %llu bytes",
                                     (unsigned long long) limit);
      if (berth_fd_write_all (fd, bytes, (size_t) got) < 0)
        return fake_failed (call, "write a stored file");
    }
  if (got < 0)
    return -1;
  if (source->size != BERTH_UNKNOWN_SIZE && source->size != total)
    return call->services->fail (call, BERTH_E_INVALID_REQUEST, "the content has %llu bytes, %llu were announced",
                                 (unsigned long long) total, (unsigned long long) source->size);
  return 0;
}

static int
place_content (struct berth_call *call, struct fake_box *box, const char *path, const struct berth_change *how,
               const char *incoming, int fd)
{
  FAKE_AUTO_NODE struct fake_node node = FAKE_NODE_INIT;
  struct fake_attributes attributes;

  fresh_attributes (box, BERTH_KIND_FILE, 0644, &attributes);
  if (apply_change (call, how, &attributes) < 0
      || fake_node_find (call, box, path, find_flags (how) | FAKE_FIND_FOLLOW, how->beneath, &node) < 0)
    return -1;
  if (node.exists && node.attributes.kind != BERTH_KIND_FILE)
    return call->services->fail (call, BERTH_E_INVALID_REQUEST, "%s is not a regular file", path);
  if (node.exists && (how->asks & BERTH_CHANGE_NEW) != 0)
    return call->services->fail (call, BERTH_E_CONFLICT, "%s exists already", path);
  if (fake_node_place (call, box, &node, incoming, fd, &attributes) < 0)
    return -1;
  fake_journal_add (box, node.exists ? BERTH_WATCH_MODIFIED : BERTH_WATCH_CREATED, node.path);
  return 0;
}

static int
fake_write (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_change *how,
            const struct berth_source *source)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  FAKE_AUTO_BOX struct fake_box later = FAKE_BOX_INIT;
  BERTH_AUTO_FD int directory = -1;
  BERTH_AUTO_FD int fd = -1;
  char incoming[64];
  uint64_t limit;
  int result;

  if (BERTH_REFUSE_UNKNOWN (call, CHANGE, how->asks, BERTH_CHANGE_KNOWN_1_0) < 0
      || enter (call, handle, "files.write", &box) < 0)
    return -1;
  limit = (uint64_t) fake_number (box.record, "file_size");
  fd = fake_incoming_open (call, &box, incoming);
  directory = fcntl (box.directory, F_DUPFD_CLOEXEC, 0);
  fake_box_close (&box);
  if (fd < 0 || directory < 0)
    return fd < 0 ? -1 : fake_failed (call, "write a stored file");
  result = take_content (call, fd, limit, source);
  if (result == 0)
    result = fake_box_for_handle (call, handle, &later);
  if (result == 0)
    result = place_content (call, &later, path, how, incoming, fd);
  if (result < 0)
    (void) unlinkat (directory, incoming, 0);
  return result;
}

static int
fake_make_directory (struct berth_call *call, struct berth_handle *handle, const char *path,
                     const struct berth_change *how)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  FAKE_AUTO_NODE struct fake_node node = FAKE_NODE_INIT;
  struct fake_attributes attributes;

  if (BERTH_REFUSE_UNKNOWN (call, CHANGE, how->asks, BERTH_CHANGE_KNOWN_1_0) < 0
      || enter (call, handle, "files.make_directory", &box) < 0)
    return -1;
  fresh_attributes (&box, BERTH_KIND_DIRECTORY, 0755, &attributes);
  if (apply_change (call, how, &attributes) < 0
      || fake_node_find (call, &box, path, find_flags (how) | FAKE_FIND_FOLLOW, how->beneath, &node) < 0)
    return -1;
  if (node.exists && node.attributes.kind != BERTH_KIND_DIRECTORY)
    return call->services->fail (call, BERTH_E_CONFLICT, "%s exists and is not a directory", path);
  if (node.exists && (how->asks & BERTH_CHANGE_NEW) != 0)
    return call->services->fail (call, BERTH_E_CONFLICT, "%s exists already", path);
  if (node.exists)
    return 0;
  if (fake_node_make_directory (call, &box, &node, &attributes) < 0)
    return -1;
  fake_journal_add (&box, BERTH_WATCH_CREATED, node.path);
  return 0;
}

/* The write root itself is nothing that can be moved or removed. */
static int
check_not_root (struct berth_call *call, const char *path, const struct berth_change *how)
{
  if (how->beneath == NULL || strcmp (path, how->beneath) != 0)
    return 0;
  return call->services->fail (call, BERTH_E_PATH_REJECTED, "%s is the write root itself", path);
}

static int
check_move (struct berth_call *call, const struct fake_node *from, const struct fake_node *to,
            const struct berth_change *how)
{
  if (berth_path_is_within (to->path, from->path) && strcmp (to->path, from->path) != 0)
    return call->services->fail (call, BERTH_E_INVALID_REQUEST, "%s cannot be moved into itself", from->path);
  if (!to->exists || strcmp (to->path, from->path) == 0)
    return 0;
  if ((how->asks & BERTH_CHANGE_NEW) != 0)
    return call->services->fail (call, BERTH_E_CONFLICT, "%s exists already", to->path);
  if (to->attributes.kind == BERTH_KIND_DIRECTORY || from->attributes.kind == BERTH_KIND_DIRECTORY)
    return call->services->fail (call, BERTH_E_CONFLICT, "%s exists, and only a file replaces a file", to->path);
  return 0;
}

static int
fake_move (struct berth_call *call, struct berth_handle *handle, const char *from, const char *to,
           const struct berth_change *how)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  FAKE_AUTO_NODE struct fake_node source = FAKE_NODE_INIT;
  FAKE_AUTO_NODE struct fake_node target = FAKE_NODE_INIT;
  int64_t replaced;

  if (BERTH_REFUSE_UNKNOWN (call, CHANGE, how->asks, BERTH_CHANGE_KNOWN_1_0) < 0
      || check_not_root (call, from, how) < 0 || check_not_root (call, to, how) < 0
      || enter (call, handle, "files.move", &box) < 0
      || fake_node_get (call, &box, from, 0, how->beneath, &source) < 0
      || fake_node_find (call, &box, to, find_flags (how), how->beneath, &target) < 0
      || check_move (call, &source, &target, how) < 0)
    return -1;
  if (strcmp (source.path, target.path) == 0)
    return 0;
  if (fake_node_usage (call, &target, &replaced) < 0 || fake_usage_change (call, &box, target.path, -replaced) < 0)
    return -1;
  if (renameat (source.parent, source.host, target.parent, target.host) < 0)
    return fake_failed (call, "move a stored file");
  fake_journal_add (&box, BERTH_WATCH_REMOVED, source.path);
  fake_journal_add (&box, target.exists ? BERTH_WATCH_MODIFIED : BERTH_WATCH_CREATED, target.path);
  return fake_node_set (call, &target, &source.attributes); /* a long name stands there */
}

static int
fake_remove (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_change *how)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  FAKE_AUTO_NODE struct fake_node node = FAKE_NODE_INIT;

  if (BERTH_REFUSE_UNKNOWN (call, CHANGE, how->asks, BERTH_CHANGE_KNOWN_1_0) < 0
      || check_not_root (call, path, how) < 0 || enter (call, handle, "files.remove", &box) < 0)
    return -1;
  if (fake_node_get (call, &box, path, 0, how->beneath, &node) < 0)
    {
      if ((how->asks & BERTH_CHANGE_MISSING_OK) == 0 || call->services->failed (call) != BERTH_E_PATH_NOT_FOUND)
        return -1;
      call->services->forgive (call);
      return 0;
    }
  if (fake_node_remove (call, &box, &node, (how->asks & BERTH_CHANGE_RECURSIVE) != 0) < 0)
    return -1;
  fake_journal_add (&box, BERTH_WATCH_REMOVED, node.path);
  return 0;
}

/* --- attributes ------------------------------------------------------------------------------------- */

struct change_tree
{
  struct berth_call *call;
  struct fake_box *box;
  const struct berth_change *how;
  const char *path;
};

static int change_one (struct berth_call *call, struct fake_box *box, const char *path, unsigned int flags,
                       const struct berth_change *how);

static int
change_child (void *context, const char *name)
{
  struct change_tree *tree = context;
  BERTH_AUTO_FREE char *path = berth_path_join (tree->path, name);

  if (path == NULL)
    return fake_failed (tree->call, "change a stored tree");
  return change_one (tree->call, tree->box, path, 0, tree->how);
}

static int
change_one (struct berth_call *call, struct fake_box *box, const char *path, unsigned int flags,
            const struct berth_change *how)
{
  FAKE_AUTO_NODE struct fake_node node = FAKE_NODE_INIT;
  struct change_tree tree = { call, box, how, NULL };

  if (fake_node_get (call, box, path, flags, how->beneath, &node) < 0
      || apply_change (call, how, &node.attributes) < 0 || fake_node_set (call, &node, &node.attributes) < 0)
    return -1;
  fake_journal_add (box, BERTH_WATCH_MODIFIED, node.path);
  tree.path = node.path;
  if ((how->asks & BERTH_CHANGE_RECURSIVE) == 0 || node.attributes.kind != BERTH_KIND_DIRECTORY)
    return 0;
  return fake_node_children (call, &node, change_child, &tree);
}

static int
fake_set_attributes (struct berth_call *call, struct berth_handle *handle, const char *path,
                     const struct berth_change *how)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;

  if (BERTH_REFUSE_UNKNOWN (call, CHANGE, how->asks, BERTH_CHANGE_KNOWN_1_0) < 0
      || enter (call, handle, "files.set_attributes", &box) < 0)
    return -1;
  return change_one (call, &box, path, FAKE_FIND_FOLLOW, how);
}

const struct berth_files_ops fake_files = {
  .struct_size = sizeof fake_files,
  .read = fake_read,
  .write = fake_write,
  .list = fake_list,
  .stat = fake_stat,
  .make_directory = fake_make_directory,
  .move = fake_move,
  .remove = fake_remove,
  .set_attributes = fake_set_attributes,
};

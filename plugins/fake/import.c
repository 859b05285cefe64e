/* import.c - import of the group `workspace`: every entry is hostile until it is checked. */
#include <fcntl.h>

#include "plugins/fake/tree.h"
#include "plugins/fake/workspace.h"
#include "sdk/archive/tar.h"
#include "sdk/base/fd.h"
#include "sdk/base/path.h"
#include "sdk/base/string.h"

#define SET_ID_BITS 06000u

struct import
{
  struct berth_call *call;
  struct berth_handle *handle;
  const struct berth_tar_limits *limits;
  const struct berth_source *source;
  struct berth_tar_reader *reader;
  uint64_t bytes;
  uint64_t entries;
};

static int64_t
read_in (void *context, void *bytes, size_t size)
{
  struct import *import = context;
  int64_t got = fake_check (import->call) < 0 ? -1 : import->source->read (import->source->context, bytes, size);

  if (got <= 0)
    return got;
  import->bytes += (uint64_t) got;
  if (import->bytes > import->limits->max_bytes)
    return import->call->services->fail (import->call, BERTH_E_PAYLOAD_TOO_LARGE, "the archive has more than %llu "
                                         "bytes", (unsigned long long) import->limits->max_bytes);
  return got;
}

static int
refuse (struct import *import, const char *name, const char *why)
{
  return import->call->services->fail (import->call, BERTH_E_PATH_REJECTED, "entry %llu of the archive, `%s`: %s",
                                       (unsigned long long) import->entries, name, why);
}

/* Finds PATH for the entry NAME; what the archive is to blame for is told with the entry. */
static int
find (struct import *import, struct fake_box *box, const char *path, unsigned int flags, const char *name,
      struct fake_node *node)
{
  uint32_t code;

  /* A link may lead out, and parents are made on the way. */
  if (fake_node_find (import->call, box, path, flags, FAKE_WORKSPACE, node) == 0)
    return 0;
  code = import->call->services->failed (import->call);
  if (code == BERTH_E_INVALID_REQUEST || code == BERTH_E_PATH_NOT_FOUND || code == BERTH_E_PATH_REJECTED)
    return refuse (import, name, "a path through a link or a file");
  return -1;
}

/* Where an entry belongs, as an absolute path; NULL with the refusal made. */
static char *
place_of (struct import *import, const char *name, const char *what)
{
  char *path;

  if (berth_string_starts_with (name, "./"))
    name += 2;
  path = berth_path_join (FAKE_WORKSPACE, name);
  if (path == NULL)
    fake_failed (import->call, "unpack an archive");
  else if (*name == '/' || !berth_path_is_normal (path, strlen (path)))
    {
      refuse (import, what, *name == '/' ? "an absolute name" : "a name that leaves its place");
      free (path);
      return NULL;
    }
  return path;
}

/* The content goes to a file beside the tree, with no lock held. */
static int
take_content (struct import *import, const struct berth_tar_member *member, char incoming[64], int *directory)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  BERTH_AUTO_FD int fd = -1;
  const void *bytes;
  size_t size;
  uint64_t offset;
  uint64_t limit;
  int more;

  if (fake_box_for_handle (import->call, import->handle, &box) < 0)
    return -1;
  limit = (uint64_t) fake_number (box.record, "file_size");
  if (limit > 0 && member->size > limit)
    return import->call->services->fail (import->call, BERTH_E_RESOURCE_EXHAUSTED, "entry %llu of the archive, `%s`: a "
                                         "file of more than %llu bytes", (unsigned long long) import->entries,
                                         member->name, (unsigned long long) limit);
  fd = fake_incoming_open (import->call, &box, incoming);
  *directory = fcntl (box.directory, F_DUPFD_CLOEXEC, 0);
  fake_box_close (&box);
  if (fd < 0 || *directory < 0)
    return fd < 0 ? -1 : fake_failed (import->call, "unpack an archive");
  while ((more = berth_tar_reader_data (import->reader, &bytes, &size, &offset)) > 0)
    if (lseek (fd, (off_t) (FAKE_HEADER + offset), SEEK_SET) < 0 || berth_fd_write_all (fd, bytes, size) < 0)
      return fake_failed (import->call, "unpack an archive");
  return more < 0 ? -1 : BERTH_STEAL_FD (fd);
}

static int
place_hard_link (struct import *import, struct fake_box *box, const struct fake_node *node,
                 const struct berth_tar_member *member)
{
  FAKE_AUTO_NODE struct fake_node target = FAKE_NODE_INIT;
  BERTH_AUTO_FREE char *path = place_of (import, member->hard_link, member->name);

  if (path == NULL || find (import, box, path, 0, member->name, &target) < 0)
    return -1;
  if (!target.exists || target.attributes.kind != BERTH_KIND_FILE || strcmp (target.path, path) != 0)
    return refuse (import, member->name, "a hard link to what is no file of the workspace");
  if (linkat (target.parent, target.host, node->parent, node->host, 0) < 0)
    return fake_failed (import->call, "unpack a hard link");
  return 0;
}

static int
place_link_or_pipe (struct import *import, struct fake_box *box, const struct fake_node *node,
                    const struct berth_tar_member *member, const struct fake_attributes *attributes)
{
  char incoming[64];
  BERTH_AUTO_FD int fd = fake_incoming_open (import->call, box, incoming);

  if (fd < 0)
    return -1;
  if (member->link != NULL && berth_fd_write_all (fd, member->link, strlen (member->link)) < 0)
    fake_failed (import->call, "unpack a link");
  else if (fake_node_place (import->call, box, node, incoming, fd, attributes) == 0)
    return 0;
  (void) unlinkat (box->directory, incoming, 0);
  return -1;
}

/* Puts an entry in its place; FD is the content of a file, in INCOMING. */
static int
place_entry (struct import *import, struct fake_box *box, const char *path, const struct berth_tar_member *member,
             int fd, const char *incoming)
{
  FAKE_AUTO_NODE struct fake_node node = FAKE_NODE_INIT;
  static const uint32_t kinds[] = { 0, BERTH_KIND_FILE, BERTH_KIND_DIRECTORY, BERTH_KIND_SYMLINK, BERTH_KIND_OTHER };
  struct fake_attributes attributes = { kinds[member->kind], member->mode & ~SET_ID_BITS & 07777, 1000, 1000,
                                        member->modified_s, member->modified_ns };

  if (find (import, box, path, FAKE_FIND_PARENTS, member->name, &node) < 0)
    return -1;
  if (strcmp (node.path, path) != 0)
    return refuse (import, member->name, "a path through a symbolic link");
  if (node.exists && (node.attributes.kind == BERTH_KIND_DIRECTORY) != (member->kind == BERTH_TAR_DIRECTORY))
    return refuse (import, member->name, "it would replace something of another kind");
  if (member->kind == BERTH_TAR_DIRECTORY)
    return node.exists ? fake_node_set (import->call, &node, &attributes)
                       : fake_node_make_directory (import->call, box, &node, &attributes);
  if (node.exists && fake_node_remove (import->call, box, &node, 0) < 0)
    return -1;
  node.exists = 0;
  if (member->hard_link != NULL)
    return place_hard_link (import, box, &node, member);
  if (member->kind != BERTH_TAR_FILE)
    return place_link_or_pipe (import, box, &node, member, &attributes);
  return fake_node_place (import->call, box, &node, incoming, fd, &attributes);
}

static int
import_file (struct import *import, const char *path, const struct berth_tar_member *member)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  BERTH_AUTO_FD int directory = -1;
  char incoming[64] = "";
  BERTH_AUTO_FD int fd = take_content (import, member, incoming, &directory);
  int result = fd < 0 ? -1 : fake_box_for_handle (import->call, import->handle, &box);

  if (result == 0)
    result = place_entry (import, &box, path, member, fd, incoming);
  if (result < 0 && directory >= 0)
    (void) unlinkat (directory, incoming, 0);
  return result;
}

static int
import_entry (struct import *import, const struct berth_tar_member *member)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  BERTH_AUTO_FREE char *path = NULL;

  import->entries++;
  if (import->entries > import->limits->max_entries)
    return import->call->services->fail (import->call, BERTH_E_PAYLOAD_TOO_LARGE, "the archive has more than %llu "
                                         "entries", (unsigned long long) import->limits->max_entries);
  if (strcmp (member->name, ".") == 0 || strcmp (member->name, "./") == 0)
    return 0;
  if (member->kind == BERTH_TAR_OTHER)
    return refuse (import, member->name, "a device or a socket");
  path = place_of (import, member->name, member->name);
  if (path == NULL)
    return -1;
  if (member->kind == BERTH_TAR_FILE && member->hard_link == NULL)
    return import_file (import, path, member);
  if (fake_box_for_handle (import->call, import->handle, &box) < 0)
    return -1;
  return place_entry (import, &box, path, member, -1, NULL);
}

int
fake_import (struct berth_call *call, struct berth_handle *handle, const struct berth_tar_limits *limits,
             const struct berth_source *source)
{
  struct import import = { .call = call, .handle = handle, .limits = limits, .source = source };
  const struct berth_tar_input input = { &import, read_in };
  struct berth_tar_member member;
  int more;

  if (BERTH_REFUSE_UNKNOWN (call, TAR, limits->asks, 0) < 0
      || fake_point (call, handle->state, "workspace.import_tar") < 0)
    return -1;
  import.reader = berth_tar_reader_new (call, &input);
  if (import.reader == NULL)
    return -1;
  while ((more = berth_tar_reader_next (import.reader, &member)) > 0)
    if (import_entry (&import, &member) < 0)
      {
        more = -1;
        break;
      }
  berth_tar_reader_free (import.reader);
  return more;
}

/* tree.c - finding a path of the sandbox's in its own tree. */
#include "plugins/fake/tree.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "sdk/base/fd.h"
#include "sdk/base/fs.h"
#include "sdk/base/path.h"
#include "sdk/base/string.h"

#define LINKS_MAX 40
#define PATH_LENGTH_MAX 4096

void
fake_node_clear (struct fake_node *node)
{
  berth_cleanup_fd (&node->parent);
  node->parent = -1;
  free (node->path);
  node->path = NULL;
}

/* The file that has a node's attributes: itself, or `.attributes` in a directory. */
static int
open_header (int parent, const char *host, int flags)
{
  BERTH_AUTO_FREE char *inner = NULL;
  struct stat status;

  if (fstatat (parent, host, &status, AT_SYMLINK_NOFOLLOW) < 0)
    return -1;
  if (!S_ISDIR (status.st_mode))
    return openat (parent, host, flags | O_CLOEXEC | O_NOFOLLOW);
  inner = berth_path_join (host, FAKE_ATTRIBUTES);
  return inner != NULL ? openat (parent, inner, flags | O_CLOEXEC | O_NOFOLLOW) : -1;
}

/* NAME (may be NULL) gets the true name that stands in the attributes. */
static int
read_header (int fd, struct fake_attributes *attributes, char name[FAKE_HOST_NAME])
{
  char header[FAKE_HEADER];
  char *text;

  if (pread (fd, header, sizeof header, 0) != (ssize_t) sizeof header)
    return -1;
  header[sizeof header - 1] = '\0';
  if (sscanf (header, "%u %o %u %u %lld %u", &attributes->kind, &attributes->mode, &attributes->uid, &attributes->gid,
              (long long *) &attributes->modified_s, &attributes->modified_ns)
      != 6)
    return -1;
  text = strchr (header, '\n');
  if (name != NULL)
    snprintf (name, FAKE_HOST_NAME, "%s", text != NULL ? text + 1 : "");
  return 0;
}

static int
write_header (int fd, const struct fake_attributes *attributes, const char *name)
{
  char header[FAKE_HEADER] = "";

  snprintf (header, sizeof header, "%u %o %u %u %lld %u\n%s", attributes->kind, attributes->mode, attributes->uid,
            attributes->gid, (long long) attributes->modified_s, attributes->modified_ns, name);
  return pwrite (fd, header, sizeof header, 0) == (ssize_t) sizeof header ? 0 : -1;
}

/* What is at a place: fills `exists`, sizes and attributes. */
static int
look (struct berth_call *call, struct fake_node *node)
{
  struct stat status;
  BERTH_AUTO_FD int fd = -1;
  char name[FAKE_HOST_NAME];

  node->exists = 0;
  if (fstatat (node->parent, node->host, &status, AT_SYMLINK_NOFOLLOW) < 0)
    return errno == ENOENT ? 0 : fake_failed (call, "look at a stored file");
  fd = open_header (node->parent, node->host, O_RDONLY);
  if (fd < 0 || read_header (fd, &node->attributes, name) < 0)
    return fake_failed (call, "read stored attributes");
  if (fake_name_is_long (node->host) && strcmp (name, berth_path_last (node->path)) != 0)
    return call->services->fail (call, BERTH_E_PATH_REJECTED, "two long names share a checksum: %s", node->path);
  node->exists = 1;
  node->links = status.st_nlink;
  node->inode = status.st_ino;
  node->size = S_ISDIR (status.st_mode) ? 0 : (uint64_t) status.st_size - FAKE_HEADER;
  return 0;
}

/* --- walking ------------------------------------------------------------------------------------- */

struct walk
{
  struct berth_call *call;
  struct fake_box *box;
  const char *beneath;
  unsigned int flags;
  unsigned int links;
  struct berth_buffer rest; /* what is still to be walked */
  struct fake_node at;      /* where the walk stands: a directory, once begun */
};

static int
place (struct walk *walk, int parent, const char *host, char *path)
{
  fake_node_clear (&walk->at);
  walk->at.parent = parent;
  walk->at.path = path;
  snprintf (walk->at.host, sizeof walk->at.host, "%s", host);
  if (parent < 0 || path == NULL)
    return fake_failed (walk->call, "walk the stored tree");
  return look (walk->call, &walk->at);
}

static int
place_root (struct walk *walk)
{
  return place (walk, fcntl (walk->box->directory, F_DUPFD_CLOEXEC, 0), "tree", strdup ("/"));
}

/* Steps to a child of where it stands.  The workspace may live on a volume. */
static int
place_child (struct walk *walk, const char *name, size_t size)
{
  int root = strcmp (walk->at.path, "/") == 0;
  const char *volume = root && size == 9 && memcmp (name, "workspace", 9) == 0
                           ? fake_text (walk->box->record, "volume")
                           : NULL;
  char host[FAKE_HOST_NAME];
  char *path = berth_string_format ("%s/%.*s", root ? "" : walk->at.path, (int) size, name);
  int parent;

  if (volume != NULL)
    {
      parent = openat (walk->box->state->directory, "volumes", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      return place (walk, parent, volume, path);
    }
  parent = openat (walk->at.parent, walk->at.host, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  fake_name_encode (name, size, host);
  return place (walk, parent, host, path);
}

/* Steps to a normal path that is known to have no links. */
static int
place_known (struct walk *walk, const char *path)
{
  if (place_root (walk) < 0)
    return -1;
  for (path += strspn (path, "/"); *path != '\0'; path += strspn (path, "/"))
    {
      size_t size = strcspn (path, "/");

      if (place_child (walk, path, size) < 0)
        return -1;
      path += size;
    }
  return 0;
}

/* A link: its target goes before what is left. */
static int
follow (struct walk *walk)
{
  BERTH_AUTO_BUFFER struct berth_buffer target = { 0 };
  BERTH_AUTO_FREE char *back = berth_path_parent (walk->at.path);

  if (++walk->links > LINKS_MAX)
    return walk->call->services->fail (walk->call, BERTH_E_INVALID_REQUEST, "%s: more than %d symbolic links",
                                       walk->at.path, LINKS_MAX);
  if (fake_node_target (walk->call, &walk->at, &target) < 0)
    return -1;
  if (*berth_buffer_string (&target) == '/' ? place_root (walk) < 0
                                            : back == NULL || place_known (walk, back) < 0)
    return -1;
  berth_buffer_append_byte (&target, '/');
  berth_buffer_append (&target, berth_buffer_string (&walk->rest), walk->rest.size);
  berth_buffer_clear (&walk->rest);
  if (berth_buffer_append (&walk->rest, target.data, target.size) < 0 || walk->rest.size > PATH_LENGTH_MAX)
    return walk->call->services->fail (walk->call, BERTH_E_INVALID_REQUEST, "a path grows too long through its links");
  return 0;
}

static int
check_beneath (struct walk *walk, const char *path)
{
  if (walk->beneath == NULL || berth_path_is_within (path, walk->beneath))
    return 0;
  return walk->call->services->fail (walk->call, BERTH_E_PATH_REJECTED, "%s lies outside of %s", path, walk->beneath);
}

static void
make_directory_attributes (struct fake_box *box, struct fake_attributes *attributes)
{
  *attributes = (struct fake_attributes) { BERTH_KIND_DIRECTORY, 0755, 1000, 1000, fake_now_ms (box->state) / 1000, 0 };
}

/* What is on the way must be a directory. */
static int
pass (struct walk *walk)
{
  struct fake_attributes attributes;

  if (walk->at.exists && walk->at.attributes.kind == BERTH_KIND_DIRECTORY)
    return 0;
  if (walk->at.exists)
    return walk->call->services->fail (walk->call, BERTH_E_INVALID_REQUEST, "%s is not a directory", walk->at.path);
  if ((walk->flags & FAKE_FIND_PARENTS) == 0)
    return walk->call->services->fail (walk->call, BERTH_E_PATH_NOT_FOUND, "no such directory: %s", walk->at.path);
  if (check_beneath (walk, walk->at.path) < 0)
    return -1;
  make_directory_attributes (walk->box, &attributes);
  if (fake_node_make_directory (walk->call, walk->box, &walk->at, &attributes) < 0)
    return -1;
  return look (walk->call, &walk->at);
}

/* Takes one component off the rest; its size, 0 at the end. */
static size_t
take_component (struct walk *walk, char name[FAKE_HOST_NAME])
{
  const char *rest = berth_buffer_string (&walk->rest);
  size_t skip = strspn (rest, "/");
  size_t size = strcspn (rest + skip, "/");

  snprintf (name, FAKE_HOST_NAME, "%.*s", (int) size, rest + skip);
  skip += size;
  skip += strspn (rest + skip, "/");
  berth_buffer_consume (&walk->rest, skip);
  return size;
}

static int
step (struct walk *walk, const char *name, size_t size)
{
  if (size > 255)
    return walk->call->services->fail (walk->call, BERTH_E_PATH_REJECTED, "a name of %zu bytes (at most 255): %.40s...",
                                       size, name);
  if (strcmp (name, ".") == 0)
    return 0;
  if (strcmp (name, "..") == 0)
    {
      BERTH_AUTO_FREE char *up = berth_path_parent (walk->at.path);

      return up == NULL ? fake_failed (walk->call, "walk the stored tree") : place_known (walk, up);
    }
  if (place_child (walk, name, size) < 0)
    return -1;
  if (walk->at.exists && walk->at.attributes.kind == BERTH_KIND_SYMLINK
      && (walk->rest.size > 0 || (walk->flags & FAKE_FIND_FOLLOW) != 0))
    return follow (walk);
  return 0;
}

static int
walk_all (struct walk *walk)
{
  char name[FAKE_HOST_NAME];
  size_t size;

  if (place_root (walk) < 0)
    return -1;
  while ((size = take_component (walk, name)) > 0)
    if (pass (walk) < 0 || step (walk, name, size) < 0)
      return -1;
  return check_beneath (walk, walk->at.path);
}

int
fake_node_find (struct berth_call *call, struct fake_box *box, const char *path, unsigned int flags,
                const char *beneath, struct fake_node *node)
{
  struct walk walk = { call, box, beneath, flags, 0, { 0 }, FAKE_NODE_INIT };
  int result;

  if (!berth_path_is_normal (path, strlen (path)))
    return call->services->fail (call, BERTH_E_PATH_REJECTED, "not an absolute, clean path: %s", path);
  if (strlen (path) >= PATH_LENGTH_MAX)
    return call->services->fail (call, BERTH_E_PATH_REJECTED, "a path of %zu bytes (at most %d)", strlen (path),
                                 PATH_LENGTH_MAX - 1);
  result = berth_buffer_append_string (&walk.rest, path) < 0 ? fake_failed (call, "walk the stored tree")
                                                             : walk_all (&walk);
  berth_buffer_free (&walk.rest);
  if (result < 0)
    fake_node_clear (&walk.at);
  else
    *node = walk.at;
  return result;
}

int
fake_node_get (struct berth_call *call, struct fake_box *box, const char *path, unsigned int flags,
               const char *beneath, struct fake_node *node)
{
  if (fake_node_find (call, box, path, flags, beneath, node) < 0)
    return -1;
  return node->exists ? 0 : call->services->fail (call, BERTH_E_PATH_NOT_FOUND, "no such file or directory: %s", path);
}

/* --- what is found --------------------------------------------------------------------------------- */

int
fake_node_open (struct berth_call *call, const struct fake_node *node)
{
  int fd = openat (node->parent, node->host, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

  if (fd >= 0 && lseek (fd, FAKE_HEADER, SEEK_SET) == FAKE_HEADER)
    return fd;
  berth_cleanup_fd (&fd);
  return fake_failed (call, "open a stored file");
}

int
fake_node_target (struct berth_call *call, const struct fake_node *node, struct berth_buffer *target)
{
  BERTH_AUTO_FD int fd = fake_node_open (call, node);

  if (fd < 0)
    return -1;
  return berth_fd_read_all (fd, target, PATH_LENGTH_MAX) < 0 ? fake_failed (call, "read a stored link") : 0;
}

int
fake_node_set (struct berth_call *call, const struct fake_node *node, const struct fake_attributes *attributes)
{
  BERTH_AUTO_FD int fd = open_header (node->parent, node->host, O_RDWR);

  if (fd < 0 || write_header (fd, attributes, berth_path_last (node->path)) < 0)
    return fake_failed (call, "write stored attributes");
  return 0;
}

int
fake_node_children (struct berth_call *call, const struct fake_node *node,
                    int (*child) (void *context, const char *name), void *context)
{
  BERTH_AUTO_DIR DIR *dir = fake_directory_open (node->parent, node->host);
  struct dirent *entry;

  if (dir == NULL)
    return fake_failed (call, "list a stored directory");
  while ((entry = readdir (dir)) != NULL)
    {
      char name[FAKE_HOST_NAME];
      struct fake_attributes attributes;

      if (entry->d_name[0] == '.' && !fake_name_is_long (entry->d_name))
        continue;
      if (!fake_name_decode (entry->d_name, name))
        {
          BERTH_AUTO_FD int header = open_header (dirfd (dir), entry->d_name, O_RDONLY);

          if (header < 0 || read_header (header, &attributes, name) < 0)
            return fake_failed (call, "read stored attributes");
        }
      if (child (context, name) < 0)
        return -1;
    }
  return 0;
}

/* --- making and removing ------------------------------------------------------------------------- */

static void
incoming_name (char name[64])
{
  if (berth_id_generate ("incoming-", 20, name, 64) < 0)
    snprintf (name, 64, "incoming-%ld", (long) getpid ());
}

int
fake_incoming_open (struct berth_call *call, struct fake_box *box, char name[64])
{
  int fd;

  incoming_name (name);
  fd = openat (box->directory, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd >= 0 && lseek (fd, FAKE_HEADER, SEEK_SET) == FAKE_HEADER && ftruncate (fd, FAKE_HEADER) == 0)
    return fd;
  berth_cleanup_fd (&fd);
  return fake_failed (call, "make a stored file");
}

int
fake_node_place (struct berth_call *call, struct fake_box *box, const struct fake_node *node, const char *incoming,
                 int fd, const struct fake_attributes *attributes)
{
  struct stat status;
  int64_t before;

  if (fstat (fd, &status) < 0 || write_header (fd, attributes, berth_path_last (node->path)) < 0)
    return fake_failed (call, "put a stored file in its place");
  if (fake_node_usage (call, node, &before) < 0
      || fake_usage_change (call, box, node->path, status.st_size - FAKE_HEADER - before) < 0)
    return -1;
  if (renameat (box->directory, incoming, node->parent, node->host) < 0)
    return fake_failed (call, "put a stored file in its place");
  return 0;
}

int
fake_node_make_directory (struct berth_call *call, struct fake_box *box, const struct fake_node *node,
                          const struct fake_attributes *attributes)
{
  char name[64];
  BERTH_AUTO_FREE char *inner = NULL;
  BERTH_AUTO_FD int fd = -1;

  incoming_name (name);
  inner = berth_path_join (name, FAKE_ATTRIBUTES);
  if (inner == NULL || mkdirat (box->directory, name, 0700) < 0)
    return fake_failed (call, "make a stored directory");
  fd = openat (box->directory, inner, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd >= 0 && write_header (fd, attributes, berth_path_last (node->path)) == 0
      && renameat (box->directory, name, node->parent, node->host) == 0)
    return 0;
  fake_failed (call, "make a stored directory");
  (void) unlinkat (box->directory, inner, 0);
  (void) unlinkat (box->directory, name, AT_REMOVEDIR);
  return -1;
}

static int
count_child (void *context, const char *name)
{
  *(int *) context += 1;
  return 0;
}

int
fake_node_remove (struct berth_call *call, struct fake_box *box, const struct fake_node *node, int recursive)
{
  int children = 0;
  int64_t bytes;

  if (node->attributes.kind == BERTH_KIND_DIRECTORY && !recursive)
    {
      if (fake_node_children (call, node, count_child, &children) < 0)
        return -1;
      if (children > 0)
        return call->services->fail (call, BERTH_E_CONFLICT, "%s is not empty (%d entries)", node->path, children);
    }
  if (fake_node_usage (call, node, &bytes) < 0)
    return -1;
  if (berth_fs_remove_tree (node->parent, node->host) < 0)
    return fake_failed (call, "remove a stored file");
  return fake_usage_change (call, box, node->path, -bytes);
}

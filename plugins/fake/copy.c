/* copy.c - a fresh tree, and copies of trees. */
#include <fcntl.h>
#include <sys/stat.h>

#include "plugins/fake/tree.h"
#include "sdk/base/fd.h"

#define DEPTH_MAX 2048 /* a path of the sandbox's has no more components */

struct first
{
  const char *path;
  const char *content; /* NULL: a directory */
  uint32_t mode;
  uint32_t uid;
};

static int
make_first (struct berth_call *call, struct fake_box *box, const struct first *first, int64_t now)
{
  FAKE_AUTO_NODE struct fake_node node = FAKE_NODE_INIT;
  struct fake_attributes attributes = { first->content != NULL ? BERTH_KIND_FILE : BERTH_KIND_DIRECTORY, first->mode,
                                        first->uid, first->uid, now / 1000, 0 };
  char incoming[64];
  BERTH_AUTO_FD int fd = -1;

  if (fake_node_find (call, box, first->path, 0, NULL, &node) < 0)
    return -1;
  if (node.exists)
    return 0; /* a volume that was used before */
  if (first->content == NULL)
    return fake_node_make_directory (call, box, &node, &attributes);
  fd = fake_incoming_open (call, box, incoming);
  if (fd < 0)
    return -1;
  if (berth_fd_write_all (fd, first->content, strlen (first->content)) < 0)
    return fake_failed (call, "write a stored file");
  return fake_node_place (call, box, &node, incoming, fd, &attributes);
}

/* The root has no parent to be made in. */
static int
make_root (struct berth_call *call, struct fake_box *box, int64_t now)
{
  struct fake_attributes attributes = { BERTH_KIND_DIRECTORY, 0755, 0, 0, now / 1000, 0 };
  struct fake_node root = { .parent = box->directory, .host = "tree", .path = (char[]){ "/" } };

  return fake_node_make_directory (call, box, &root, &attributes);
}

int
fake_tree_make (struct berth_call *call, struct fake_box *box)
{
  static const struct first list[] = {
    { "/workspace", NULL, 0755, 1000 },
    { "/tmp", NULL, 01777, 0 },
    { "/etc", NULL, 0755, 0 },
    { "/etc/hostname", "fake\n", 0644, 0 },
    { "/etc/passwd",
      "root:x:0:0:root:/root:/bin/sh\ndaemon:x:1:1::/:/bin/false\nsandbox:x:1000:1000::/workspace:/bin/sh\n"
      "nobody:x:65534:65534::/:/bin/false\n",
      0644, 0 },
    { "/etc/group", "root:x:0:\ndaemon:x:1:\nsandbox:x:1000:\nnobody:x:65534:\n", 0644, 0 },
  };
  int64_t now = fake_now_ms (box->state);

  if (make_root (call, box, now) < 0)
    return -1;
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    if (make_first (call, box, &list[i], now) < 0)
      return -1;
  return 0;
}

static int
copy_file (int from, const char *from_name, int to, const char *to_name)
{
  BERTH_AUTO_FD int source = openat (from, from_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  BERTH_AUTO_FD int target = openat (to, to_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  char bytes[65536];
  ssize_t got;

  if (source < 0 || target < 0)
    return -1;
  while ((got = berth_fd_read_full (source, bytes, sizeof bytes)) > 0)
    if (berth_fd_write_all (target, bytes, (size_t) got) < 0)
      return -1;
  return got < 0 ? -1 : 0;
}

static int copy_directory (int from, const char *from_name, int to, const char *to_name, unsigned int depth);

static int
copy_entry (int from, const char *name, int to, unsigned int depth)
{
  struct stat status;

  if (fstatat (from, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
    return -1;
  if (S_ISDIR (status.st_mode))
    return copy_directory (from, name, to, name, depth);
  return S_ISREG (status.st_mode) ? copy_file (from, name, to, name) : 0;
}

static int
copy_directory (int from, const char *from_name, int to, const char *to_name, unsigned int depth)
{
  BERTH_AUTO_DIR DIR *dir = fake_directory_open (from, from_name);
  BERTH_AUTO_FD int target = -1;
  struct dirent *entry;

  if (dir == NULL || depth >= DEPTH_MAX || mkdirat (to, to_name, 0700) < 0)
    return -1;
  target = openat (to, to_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  while (target >= 0 && (entry = readdir (dir)) != NULL)
    if (strcmp (entry->d_name, ".") != 0 && strcmp (entry->d_name, "..") != 0
        && copy_entry (dirfd (dir), entry->d_name, target, depth + 1) < 0)
      return -1;
  return target < 0 ? -1 : 0;
}

int
fake_tree_copy (struct berth_call *call, int from, const char *from_name, int to, const char *to_name)
{
  return copy_directory (from, from_name, to, to_name, 0) < 0 ? fake_failed (call, "copy a stored tree") : 0;
}

static int
add_bytes (int directory, const char *name, unsigned int depth, uint64_t *bytes)
{
  BERTH_AUTO_DIR DIR *dir = fake_directory_open (directory, name);
  struct dirent *entry;
  struct stat status;

  while (dir != NULL && depth < DEPTH_MAX && (entry = readdir (dir)) != NULL)
    {
      if (strcmp (entry->d_name, ".") == 0 || strcmp (entry->d_name, "..") == 0)
        continue;
      if (fstatat (dirfd (dir), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return -1;
      if (S_ISDIR (status.st_mode) && add_bytes (dirfd (dir), entry->d_name, depth + 1, bytes) < 0)
        return -1;
      /* A file counts once, a part for each of its hard links. */
      if (S_ISREG (status.st_mode) && status.st_size > FAKE_HEADER)
        *bytes += ((uint64_t) status.st_size - FAKE_HEADER) / status.st_nlink;
    }
  return dir == NULL || depth >= DEPTH_MAX ? -1 : 0;
}

int
fake_tree_bytes (struct berth_call *call, int directory, const char *name, uint64_t *bytes)
{
  return add_bytes (directory, name, 0, bytes) < 0 ? fake_failed (call, "add up a stored tree") : 0;
}

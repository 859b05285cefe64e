/* usage.c - how much the workspace holds, against the disk that its specification allows. */
#include <fcntl.h>

#include "plugins/fake/tree.h"
#include "sdk/base/path.h"
#include "sdk/base/string.h"

int
fake_node_usage (struct berth_call *call, const struct fake_node *node, int64_t *bytes)
{
  uint64_t sum = 0;

  if (node->exists && node->attributes.kind == BERTH_KIND_DIRECTORY
      && fake_tree_bytes (call, node->parent, node->host, &sum) < 0)
    return -1;
  if (node->exists && node->attributes.kind != BERTH_KIND_DIRECTORY)
    sum = node->size / (node->links > 0 ? node->links : 1);
  *bytes = (int64_t) sum;
  return 0;
}

int
fake_usage_change (struct berth_call *call, struct fake_box *box, const char *path, int64_t bytes)
{
  BERTH_AUTO_FD int fd = -1;
  int64_t disk = fake_number (box->record, "disk");
  char text[24] = "";
  int64_t used = 0;

  /* What a volume holds is the volume's. */
  if (bytes == 0 || !berth_path_is_within (path, "/workspace") || fake_text (box->record, "volume") != NULL)
    return 0;
  fd = openat (box->directory, "used", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0 || pread (fd, text, sizeof text - 1, 0) < 0)
    return fake_failed (call, "count the workspace");
  (void) berth_string_to_int64 (text, 0, INT64_MAX / 2, &used);
  used = used + bytes > 0 ? used + bytes : 0;
  if (bytes > 0 && disk > 0 && used > disk)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "no space for %s: the workspace may hold %lld bytes",
                                 path, (long long) disk);
  snprintf (text, sizeof text, "%lld", (long long) used);
  if (ftruncate (fd, 0) < 0 || pwrite (fd, text, strlen (text), 0) < 0)
    return fake_failed (call, "count the workspace");
  return 0;
}

#include "conformance/suites/leftovers.h"

#include <ctype.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

#include "sdk/base/clock.h"
#include "sdk/base/fs.h"

#define CGROUPS "/sys/fs/cgroup"
#define FILE_LIMIT ((size_t) 4 << 20)

static bool
file_names (int directory, const char *path, const char *tag)
{
  BERTH_AUTO_BUFFER struct berth_buffer content = { 0 };

  berth_fs_read (directory, path, &content, FILE_LIMIT);
  return content.size > 0 && memmem (content.data, content.size, tag, strlen (tag)) != NULL;
}

static bool
link_names (int directory, const char *path, const char *tag)
{
  char target[4096];
  ssize_t size = readlinkat (directory, path, target, sizeof target);

  return size > 0 && memmem (target, (size_t) size, tag, strlen (tag)) != NULL;
}

static bool
process_names (int process, const char *tag)
{
  return file_names (process, "cmdline", tag) || file_names (process, "environ", tag)
         || file_names (process, "cgroup", tag) || link_names (process, "cwd", tag)
         || link_names (process, "root", tag) || link_names (process, "exe", tag);
}

/* A zombie that waits for its parent is nothing of a sandbox's any more. */
static bool
is_zombie (int process)
{
  BERTH_AUTO_BUFFER struct berth_buffer stat = { 0 };
  const char *after;

  if (berth_fs_read (process, "stat", &stat, FILE_LIMIT) < 0)
    return true;
  after = strrchr (berth_buffer_string (&stat), ')');
  return after == NULL || strncmp (after, ") Z", 3) == 0 || strncmp (after, ") X", 3) == 0;
}

static unsigned int
scan_processes (const char *tag, struct berth_buffer *found)
{
  BERTH_AUTO_DIR DIR *proc = opendir ("/proc");
  struct dirent *entry;
  unsigned int count = 0;

  while (proc != NULL && (entry = readdir (proc)) != NULL)
    {
      BERTH_AUTO_FD int process = -1;

      if (!isdigit ((unsigned char) entry->d_name[0]) || strtol (entry->d_name, NULL, 10) == getpid ())
        continue;
      process = openat (dirfd (proc), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      if (process < 0 || !process_names (process, tag) || is_zombie (process))
        continue;
      count++;
      berth_buffer_appendf (found, "process %s; ", entry->d_name);
    }
  return count;
}

static unsigned int
scan_mounts (const char *tag, struct berth_buffer *found)
{
  BERTH_AUTO_FILE FILE *mounts = fopen ("/proc/self/mountinfo", "re");
  BERTH_AUTO_FREE char *line = NULL;
  size_t room = 0;
  unsigned int count = 0;

  while (mounts != NULL && getline (&line, &room, mounts) > 0)
    if (strstr (line, tag) != NULL)
      {
        count++;
        berth_buffer_appendf (found, "mount %s; ", line);
      }
  return count;
}

/* What is looked for below a directory: names that carry TAG, or with `inner` the directories in those. */
struct scan
{
  const char *tag;
  const char *what;
  bool inner;
};

/* nftw hands no context on; depth first without it is a few lines. */
static unsigned int
scan_tree (int parent, const char *name, const struct scan *scan, unsigned int depth, bool inside, struct berth_buffer *found)
{
  BERTH_AUTO_DIR DIR *dir = NULL;
  int fd = openat (parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct dirent *entry;
  unsigned int count = 0;

  if (fd < 0 || (dir = fdopendir (fd)) == NULL)
    return 0;
  while ((entry = readdir (dir)) != NULL)
    {
      bool named = strstr (entry->d_name, scan->tag) != NULL, descends = entry->d_type == DT_DIR;

      if (strcmp (entry->d_name, ".") == 0 || strcmp (entry->d_name, "..") == 0)
        continue;
      if (scan->inner ? inside && descends : named)
        {
          count++;
          berth_buffer_appendf (found, "%s %s/%s; ", scan->what, name, entry->d_name);
        }
      if (descends && depth > 0 && (scan->inner || !named))
        count += scan_tree (fd, entry->d_name, scan, depth - 1, inside || named, found);
    }
  return count;
}

unsigned int
suite_count_inner (const char *tag, struct berth_buffer *found)
{
  return scan_tree (AT_FDCWD, CGROUPS, &(struct scan) { tag, "cgroup", true }, 8, false, found);
}

unsigned int
suite_leftovers (const char *tag, const char *directory, struct berth_buffer *found)
{
  return scan_processes (tag, found) + scan_mounts (tag, found)
         + scan_tree (AT_FDCWD, CGROUPS, &(struct scan) { tag, "cgroup", false }, 8, false, found)
         + (directory != NULL ? scan_tree (AT_FDCWD, directory, &(struct scan) { tag, "file", false }, 16, false, found) : 0);
}

void
suite_check_gone (struct suite_context *suite, const char *tag, int64_t patience_ms, const char *what)
{
  int64_t until = berth_clock_monotonic_ms () + patience_ms;

  for (;;)
    {
      BERTH_AUTO_BUFFER struct berth_buffer found = { 0 };

      if (suite_leftovers (tag, suite->directory, &found) == 0)
        return;
      if (berth_clock_monotonic_ms () >= until)
        {
          suite_fail (suite, __FILE__, __LINE__, "%s left: %s", what, berth_buffer_string (&found));
          return;
        }
      berth_clock_sleep_ms (100);
    }
}

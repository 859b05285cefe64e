/* The folder of a sandbox. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "chroot.h"

#define SANDBOX 1000 /* the account of the sandbox's user */

static const char passwd[] = "root:x:0:0:root:/root:/bin/sh\n"
                             "daemon:x:1:1:daemon:/:/bin/sh\n"
                             "sandbox:x:1000:1000:sandbox:/workspace:/bin/sh\n"
                             "nobody:x:65534:65534:nobody:/:/bin/sh\n";
static const char group[] = "root:x:0:\ndaemon:x:1:\nsandbox:x:1000:\nnogroup:x:65534:\n";

int
box_find (const struct berth_state *state, const char *id, struct box *box)
{
  int size = 0;

  box->id = id;
  if (*id == '\0' || *id == '.' || strchr (id, '/') != NULL || strlen (id) > 64)
    return -1;
  size = snprintf (box->socket, sizeof box->socket, "%s/%s", state->runtime, id);
  if (size < 0 || (size_t) size >= sizeof box->socket)
    return -1;
  size = snprintf (box->directory, sizeof box->directory, "%s/%s", state->directory, id);
  return size > 0 && (size_t) size + 32 < sizeof box->directory ? 0 : -1;
}

bool
box_exists (const struct box *box)
{
  struct stat status;

  return lstat (box->directory, &status) == 0;
}

static int
open_box (const struct box *box)
{
  return open (box->directory, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* The new content or the old, whoever dies meanwhile. */
static int
write_file (const struct box *box, const char *name, const void *bytes, size_t size, mode_t mode)
{
  int directory = open_box (box);
  int fd = directory < 0 ? -1 : openat (directory, "new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  bool done = fd >= 0 && write (fd, bytes, size) == (ssize_t) size && fchmod (fd, mode) == 0
              && renameat (directory, "new", directory, name) == 0;

  if (fd >= 0)
    close (fd);
  if (directory >= 0)
    close (directory);
  return done ? 0 : -1;
}

static ssize_t
read_file (const struct box *box, const char *name, void *bytes, size_t size)
{
  int directory = open_box (box);
  int fd = directory < 0 ? -1 : openat (directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  ssize_t got = fd < 0 ? -1 : read (fd, bytes, size);

  if (fd >= 0)
    close (fd);
  if (directory >= 0)
    close (directory);
  return got;
}

static int
make_folder (int directory, const char *name, mode_t mode, uid_t owner)
{
  return mkdirat (directory, name, 0700) < 0 || fchownat (directory, name, owner, owner, AT_SYMLINK_NOFOLLOW) < 0
             ? -1
             : fchmodat (directory, name, mode, 0);
}

int
box_make (const struct box *box)
{
  unsigned char token[TOKEN_SIZE];
  int directory;
  bool done;

  if (getrandom (token, sizeof token, 0) != sizeof token || mkdir (box->directory, 0700) < 0)
    return -1;
  directory = open_box (box);
  done = directory >= 0 && make_folder (directory, "root", 0755, 0) == 0
         && make_folder (directory, "workspace", 0755, SANDBOX) == 0 && make_folder (directory, "tmp", 01777, 0) == 0;
  if (directory >= 0)
    close (directory);
  return done && write_file (box, "token", token, sizeof token, 0600) == 0
                 && write_file (box, "passwd", passwd, sizeof passwd - 1, 0644) == 0
             ? write_file (box, "group", group, sizeof group - 1, 0644)
             : -1;
}

/* ---- removing: by descriptor, since a path may be too long ---- */

/* Folders so deep are moved to the top first: a tree of any depth needs few descriptors. */
#define DEPTH_MAX 50

struct removal
{
  int top; /* the folder of the sandbox */
  unsigned int moved;
};

static int remove_in (struct removal *removal, int parent, const char *name, unsigned int depth);

static int
empty_folder (struct removal *removal, int fd, unsigned int depth)
{
  DIR *stream = fdopendir (fd);
  struct dirent *entry;
  int result = 0;

  if (stream == NULL)
    {
      close (fd);
      return -1;
    }
  while (result == 0 && (entry = readdir (stream)) != NULL)
    if (strcmp (entry->d_name, ".") != 0 && strcmp (entry->d_name, "..") != 0)
      result = remove_in (removal, dirfd (stream), entry->d_name, depth);
  closedir (stream);
  return result;
}

static int
remove_in (struct removal *removal, int parent, const char *name, unsigned int depth)
{
  char new_name[32];
  int fd;

  if (unlinkat (parent, name, 0) == 0 || errno == ENOENT)
    return 0;
  if (errno != EISDIR && errno != EPERM)
    return -1;
  if (unlinkat (parent, name, AT_REMOVEDIR) == 0)
    return 0;
  if (depth > DEPTH_MAX)
    {
      snprintf (new_name, sizeof new_name, "deep-%u", removal->moved++);
      return renameat (parent, name, removal->top, new_name);
    }
  fd = openat (parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 || empty_folder (removal, fd, depth + 1) < 0)
    return -1;
  return unlinkat (parent, name, AT_REMOVEDIR);
}

int
box_remove (const struct box *box)
{
  struct removal removal = { .top = open_box (box) };
  unsigned int before;
  int result = 0;

  if (removal.top < 0)
    return errno == ENOENT ? 0 : -1;
  do
    {
      int fd = openat (removal.top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

      before = removal.moved;
      result = fd < 0 ? -1 : empty_folder (&removal, fd, 0);
    }
  while (result == 0 && removal.moved != before);
  close (removal.top);
  return result < 0 ? -1 : rmdir (box->directory);
}

/* ---- facts ---- */

int
facts_write (const struct box *box, const struct facts *facts)
{
  char text[4 * LABEL_SIZE];
  int size = snprintf (text, sizeof text, "%s\n%s\n%s\n%llu %u %llu %d\n", facts->sandbox_id, facts->assignment_id,
                       facts->installation_id, facts->enforced, facts->open_files, facts->started, facts->pid);

  return write_file (box, "facts", text, (size_t) size, 0600);
}

int
facts_read (const struct box *box, struct facts *facts)
{
  char text[4 * LABEL_SIZE] = "";

  *facts = (struct facts) { .pid = 0 };
  return read_file (box, "facts", text, sizeof text - 1) > 0
                 && sscanf (text, "%255[^\n]\n%255[^\n]\n%255[^\n]\n%llu %u %llu %d", facts->sandbox_id, facts->assignment_id,
                            facts->installation_id, &facts->enforced, &facts->open_files, &facts->started, &facts->pid)
                        == 7
             ? 0
             : -1;
}

int
token_read (const struct box *box, unsigned char token[TOKEN_SIZE])
{
  return read_file (box, "token", token, TOKEN_SIZE) == TOKEN_SIZE ? 0 : -1;
}

/* Field 22 of /proc/PID/stat, counted from the end of the name, which may hold anything. */
unsigned long long
start_time (int pid)
{
  char path[32], text[1024] = "", state = 'Z';
  unsigned long long started = 0;
  const char *after;
  int fd;

  snprintf (path, sizeof path, "/proc/%d/stat", pid);
  fd = open (path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return 0;
  if (read (fd, text, sizeof text - 1) < 0)
    text[0] = '\0';
  close (fd);
  after = strrchr (text, ')');
  if (after == NULL
      || sscanf (after + 1, " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu", &state, &started)
             != 2)
    return 0;
  return state == 'Z' || state == 'X' ? 0 : started;
}

bool
is_alive (const struct facts *facts)
{
  return facts->pid != 0 && facts->started != 0 && start_time (facts->pid) == facts->started;
}

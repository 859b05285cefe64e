/* cgroup.c - the cgroups of a sandbox, in whatever hierarchies the machine has. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "plugins/ns/ns.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/clock.h"
#include "sdk/base/fd.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"

#define PARENT "berth"
#define MOUNTINFO_LIMIT (16u << 20)
#define REMOVE_TRIES 100
#define REMOVE_PAUSE_MS 5
#define NESTED_MAX 16

/* ---- what there is ---- */

/* PLACE is taken over. */
static void
add_hierarchy (struct ns_hierarchies *out, int version, char *place, uint64_t limits, bool freezes)
{
  BERTH_AUTO_FREE char *mount = place;

  limits &= ~ns_hierarchies_limits (out);
  if ((limits == 0 && !freezes) || out->count == NS_CGROUP_MAX)
    return;
  out->mount[out->count] = BERTH_STEAL_POINTER (mount);
  out->versions[out->count] = version;
  out->freezes[out->count] = freezes;
  out->limits[out->count++] = limits;
}

/* Of v2 any hierarchy can freeze, with controllers or without, and what is frozen there can be
 * killed: it is taken before the freezer of v1. */
static bool
can_freeze (const struct ns_hierarchies *out, int version, const char *mount, const char *options)
{
  for (int i = 0; i < out->count; i++)
    if (out->freezes[i])
      return false;
  return (version == 2 || ns_cgroup_v1_has (options, "freezer")) && access (mount, W_OK) == 0;
}

static uint64_t
limits_below (int version, const char *place, const char *options)
{
  if (version == 1)
    return ns_cgroup_v1_limits (place, options);
  return ns_is_ordinary_user () && !ns_delegated_can_limit (place) ? 0 : ns_cgroup_v2_limits (place);
}

/* "36 35 98:0 /root /mount/point options - type source superoptions" */
static int
read_line (struct ns_hierarchies *out, char *line, int version)
{
  char *rest = strstr (line, " - ");
  char *save = NULL, *root = NULL, *mount = NULL;

  if (rest == NULL)
    return 0;
  *rest = '\0';
  char *type = strtok_r (rest + 3, " ", &save);
  strtok_r (NULL, " ", &save);
  char *options = strtok_r (NULL, " ", &save);
  if (type == NULL || options == NULL || strcmp (type, version == 2 ? "cgroup2" : "cgroup") != 0)
    return 0;
  save = NULL;
  root = strtok_r (line, " ", &save);
  for (int field = 1; field < 4 && root != NULL; field++)
    root = strtok_r (NULL, " ", &save);
  mount = root != NULL ? strtok_r (NULL, " ", &save) : NULL;
  if (mount == NULL || strchr (mount, '\\') != NULL)
    return 0;
  char *place = ns_is_ordinary_user () ? ns_delegated (version, mount, root, options) : strdup (mount);
  if (place == NULL)
    return ns_is_ordinary_user () ? 0 : -1;
  add_hierarchy (out, version, place, limits_below (version, place, options), can_freeze (out, version, place, options));
  return 0;
}

static int
read_mounts (struct ns_hierarchies *out, const char *text, int version)
{
  BERTH_AUTO_FREE char *copy = strdup (text);
  char *save = NULL;

  if (copy == NULL)
    return -1;
  for (char *line = strtok_r (copy, "\n", &save); line != NULL; line = strtok_r (NULL, "\n", &save))
    if (strstr (line, " - cgroup") != NULL && read_line (out, line, version) < 0)
      return -1;
  return 0;
}

static int
read_hierarchies (int mountinfo, struct ns_hierarchies *out)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };

  if (lseek (mountinfo, 0, SEEK_SET) < 0 || berth_fd_read_all (mountinfo, &text, MOUNTINFO_LIMIT) < 0
      || read_mounts (out, berth_buffer_string (&text), 2) < 0)
    return -1;
  /* A cgroup2 mount beside the controllers of v1 has none itself. */
  return ns_hierarchies_limits (out) != 0 ? 0 : read_mounts (out, berth_buffer_string (&text), 1);
}

static int
copy_hierarchies (const struct ns_hierarchies *from, struct ns_hierarchies *out)
{
  *out = *from;
  out->count = 0;
  for (int i = 0; i < from->count; i++)
    if ((out->mount[i] = strdup (from->mount[i])) == NULL)
      return -1;
    else
      out->count++;
  return 0;
}

/* The kernel tells once of each change to the file, so it is read again only then: it is long where
 * much is mounted.  What an ordinary user has depends on where he is, too. */
static int
find_locked (struct ns_mounts *mounts, struct ns_hierarchies *out)
{
  struct pollfd changed = { .events = POLLPRI };

  if (mounts->fd < 0 && (mounts->fd = open ("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)) < 0)
    return -1;
  changed.fd = mounts->fd;
  if (poll (&changed, 1, 0) != 0 || !mounts->known || ns_is_ordinary_user ())
    {
      ns_hierarchies_free (&mounts->hierarchies);
      mounts->hierarchies = (struct ns_hierarchies){ 0 };
      mounts->known = false;
      if (read_hierarchies (mounts->fd, &mounts->hierarchies) < 0)
        return -1;
      mounts->known = true;
    }
  return copy_hierarchies (&mounts->hierarchies, out);
}

int
ns_hierarchies_find (struct berth_state *state, struct ns_hierarchies *out)
{
  pthread_mutex_lock (&state->mounts.mutex);
  int result = find_locked (&state->mounts, out);
  pthread_mutex_unlock (&state->mounts.mutex);
  return result;
}

void
ns_mounts_open (struct ns_mounts *mounts)
{
  pthread_mutex_init (&mounts->mutex, NULL);
  mounts->fd = -1;
}

void
ns_mounts_close (struct ns_mounts *mounts)
{
  ns_hierarchies_free (&mounts->hierarchies);
  if (mounts->fd >= 0)
    close (mounts->fd);
  pthread_mutex_destroy (&mounts->mutex);
}

int
ns_hierarchies_recall (struct berth_state *state, struct ns_hierarchies *out, const struct ns_meta *meta)
{
  char *save = NULL;

  if (!ns_is_ordinary_user () || meta->cgroups == NULL)
    return ns_hierarchies_find (state, out);
  BERTH_AUTO_FREE char *copy = strdup (meta->cgroups);
  if (copy == NULL)
    return -1;
  for (char *place = strtok_r (copy, "\n", &save); place != NULL && out->count < NS_CGROUP_MAX; place = strtok_r (NULL, "\n", &save))
    if ((out->mount[out->count] = strdup (place)) == NULL)
      return -1;
    else
      out->count++;
  return 0;
}

int
ns_hierarchies_note (const struct ns_hierarchies *hierarchies, struct ns_meta *meta)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };

  if (!ns_is_ordinary_user ())
    return 0;
  for (int i = 0; i < hierarchies->count; i++)
    berth_buffer_appendf (&text, "%s\n", hierarchies->mount[i]);
  free (meta->cgroups);
  meta->cgroups = strdup (berth_buffer_string (&text));
  return meta->cgroups != NULL && text.error == 0 ? 0 : -1;
}

void
ns_hierarchies_free (struct ns_hierarchies *hierarchies)
{
  for (int i = 0; i < hierarchies->count; i++)
    free (hierarchies->mount[i]);
}

uint64_t
ns_hierarchies_limits (const struct ns_hierarchies *hierarchies)
{
  uint64_t all = 0;

  for (int i = 0; i < hierarchies->count; i++)
    all |= hierarchies->limits[i];
  return all;
}

int
ns_hierarchies_limiting (const struct ns_hierarchies *hierarchies)
{
  int version = 0;

  for (int i = 0; i < hierarchies->count; i++)
    if (hierarchies->limits[i] != 0)
      version = hierarchies->versions[i];
  return version;
}

bool
ns_hierarchies_freeze (const struct ns_hierarchies *hierarchies)
{
  for (int i = 0; i < hierarchies->count; i++)
    if (hierarchies->freezes[i])
      return true;
  return false;
}

bool
ns_machine_has_swap (void)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };

  if (berth_fs_read (AT_FDCWD, "/proc/swaps", &text, 65536) < 0)
    return true;
  const char *second = strchr (berth_buffer_string (&text), '\n');
  return second != NULL && second[1] != '\0';
}

int
ns_cgroup_write (int directory, const char *file, const char *format, ...)
{
  char text[64];
  va_list arguments;

  va_start (arguments, format);
  int size = vsnprintf (text, sizeof text, format, arguments);
  va_end (arguments);
  return berth_fs_write (directory, file, text, (size_t) size);
}

/* ---- making ---- */

char *
ns_cgroup_name (const struct berth_state *state, const char *id, const char *which)
{
  return berth_string_format ("%s-%s%s", id, state->tag, which);
}

/* Whoever removes the last sandbox takes the parent away, perhaps between the two steps. */
static int
make_directory (int mount, const char *name, const struct ns_hierarchies *hierarchies, int index)
{
  for (int tries = 0;; tries++)
    {
      BERTH_AUTO_FD int parent = openat (mount, PARENT, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      if (parent >= 0
          && (hierarchies->versions[index] != 2 || ns_cgroup_v2_delegate (parent, hierarchies->limits[index]) == 0)
          && mkdirat (parent, name, 0755) == 0)
        return openat (parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      if ((errno != ENOENT && errno != ENODEV) || tries == REMOVE_TRIES
          || (mkdirat (mount, PARENT, 0755) < 0 && errno != EEXIST))
        return -1;
    }
}

static int
make_one (const struct ns_hierarchies *hierarchies, int index, const char *name, const struct ns_limits *limits,
          struct ns_cgroup *out)
{
  BERTH_AUTO_FD int mount = open (hierarchies->mount[index], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  BERTH_AUTO_FD int directory = -1;
  uint64_t which = hierarchies->limits[index];
  int version = hierarchies->versions[index];

  if (mount < 0
      || (version == 2 && ns_delegate (mount, which) < 0)
      || (directory = make_directory (mount, name, hierarchies, index)) < 0)
    return -1;
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/" PARENT "/%s", hierarchies->mount[index], name);
  if (path == NULL
      || (which & BERTH_SPEC_MEMORY
          && (out->out_of_memory
              = berth_string_format ("%s/%s", path, version == 2 ? ns_cgroup_v2_counter : ns_cgroup_v1_counter))
                 == NULL)
      || (hierarchies->freezes[index] && (out->freezer = ns_freezer_path (path, version)) == NULL))
    return -1;
  if (version == 2)
    {
      out->into = BERTH_STEAL_FD (directory);
      return ns_cgroup_v2_limit (out->into, which, limits);
    }
  /* One thread that moves itself by `tasks` waits for nobody; `cgroup.procs` would wait for RCU. */
  int join = openat (directory, "tasks", O_WRONLY | O_CLOEXEC);
  if (join < 0)
    return -1;
  out->join[out->joins++] = join;
  return ns_cgroup_v1_limit (directory, which, limits);
}

int
ns_cgroup_make (struct berth_call *call, const struct ns_hierarchies *hierarchies, const char *name,
                const struct ns_limits *limits, struct ns_cgroup *out)
{
  for (int i = 0; i < hierarchies->count; i++)
    if (make_one (hierarchies, i, name, limits, out) < 0)
      {
        call->services->fail (call, errno == ENOSPC ? BERTH_E_RESOURCE_EXHAUSTED : BERTH_E_CONFIGURATION,
                              "cannot make the cgroup %s in %s with its limits: %m", name, hierarchies->mount[i]);
        call->services->hint (call, "another program may manage this hierarchy, or the limit is above a parent's");
        return -1;
      }
  return 0;
}

void
ns_cgroup_free (struct ns_cgroup *cgroup)
{
  for (int i = 0; i < cgroup->joins; i++)
    close (cgroup->join[i]);
  if (cgroup->into >= 0)
    close (cgroup->into);
  free (cgroup->out_of_memory);
  free (cgroup->freezer);
  *cgroup = (struct ns_cgroup){ .into = -1 };
}

/* ---- ending ---- */

/* One listed process: the pid may be another's by now, so look again once it is pinned. */
static void
kill_listed (int directory, pid_t pid)
{
  BERTH_AUTO_FD int fd = (int) syscall (SYS_pidfd_open, pid, 0);
  BERTH_AUTO_BUFFER struct berth_buffer again = { 0 };
  char needle[16];

  if (fd < 0 || berth_fs_read (directory, "cgroup.procs", &again, 1u << 20) < 0)
    return;
  int size = snprintf (needle, sizeof needle, "%d\n", (int) pid);
  for (const char *at = berth_buffer_string (&again); (at = strstr (at, needle)) != NULL; at += size)
    if (at == berth_buffer_string (&again) || at[-1] == '\n')
      {
        syscall (SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
        return;
      }
}

static void
kill_all (int directory)
{
  BERTH_AUTO_BUFFER struct berth_buffer list = { 0 };

  if (berth_fs_write (directory, "cgroup.kill", "1", 1) == 0
      || berth_fs_read (directory, "cgroup.procs", &list, 1u << 20) < 0)
    return;
  const char *at = berth_buffer_string (&list);
  for (char *end; *at != '\0' && (end = strchr (at, '\n')) != NULL; at = end + 1)
    {
      pid_t pid = (pid_t) strtol (at, NULL, 10);
      if (pid > 0)
        kill_listed (directory, pid);
    }
}

/* Nothing of ours makes a cgroup below that of a sandbox; what somebody made there goes too, the deepest
 * first. */
static void
remove_nested (int directory, int depth)
{
  int again = openat (directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  BERTH_AUTO_DIR DIR *names = again >= 0 ? fdopendir (again) : NULL;

  for (struct dirent *entry; names != NULL && (entry = readdir (names)) != NULL;)
    {
      if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
        continue;
      BERTH_AUTO_FD int nested = openat (directory, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      if (nested < 0)
        continue;
      kill_all (nested);
      if (depth < NESTED_MAX)
        remove_nested (nested, depth + 1);
      unlinkat (directory, entry->d_name, AT_REMOVEDIR);
    }
  if (names == NULL && again >= 0)
    close (again);
}

static int
remove_one (const char *mount, const char *name)
{
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/" PARENT, mount);
  BERTH_AUTO_FD int parent = path != NULL ? open (path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;

  if (parent < 0)
    return path != NULL && errno == ENOENT ? 0 : -1;
  /* A process that has just died holds its cgroup for another moment. */
  for (int tries = 0; unlinkat (parent, name, AT_REMOVEDIR) < 0 && errno != ENOENT; tries++)
    {
      if (errno != EBUSY || tries == REMOVE_TRIES)
        return -1;
      BERTH_AUTO_FD int directory = openat (parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      if (directory >= 0)
        {
          kill_all (directory);
          berth_fs_write (directory, "freezer.state", "THAWED", 6); /* of v1; else it is not there */
          remove_nested (directory, 0);
        }
      berth_clock_sleep_ms (tries == 0 ? 1 : REMOVE_PAUSE_MS);
    }
  rmdir (path); /* succeeds for the last sandbox there: nothing of ours stays */
  return 0;
}

static int
remove_all (const struct ns_hierarchies *hierarchies, const char *name)
{
  int result = 0, reason = 0;

  for (int i = 0; i < hierarchies->count; i++)
    if (remove_one (hierarchies->mount[i], name) < 0)
      {
        result = -1;
        reason = errno;
      }
  errno = reason;
  return result;
}

int
ns_cgroups_remove (const struct ns_hierarchies *hierarchies, const struct berth_state *state, const char *id)
{
  BERTH_AUTO_FREE char *own = ns_cgroup_name (state, id, NS_CGROUP_OWN);
  BERTH_AUTO_FREE char *network = ns_cgroup_name (state, id, NS_CGROUP_NETWORK);

  if (own == NULL || network == NULL)
    return -1;
  return remove_all (hierarchies, own) < 0 || remove_all (hierarchies, network) < 0 ? -1 : 0;
}

int
ns_cgroup_exists (const struct ns_hierarchies *hierarchies, const char *name)
{
  for (int i = 0; i < hierarchies->count; i++)
    {
      BERTH_AUTO_FREE char *path = berth_string_format ("%s/" PARENT "/%s", hierarchies->mount[i], name);
      struct stat status;
      if (path == NULL || lstat (path, &status) == 0)
        return 1;
    }
  return 0;
}

/* "oom_kill 3" in a file of lines; what cannot be read counts as none. */
uint64_t
ns_cgroup_kills (const char *out_of_memory)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };

  if (out_of_memory == NULL || berth_fs_read (AT_FDCWD, out_of_memory, &text, 4096) < 0)
    return 0;
  const char *at = strstr (berth_buffer_string (&text), "oom_kill ");
  return at != NULL ? strtoull (at + strlen ("oom_kill "), NULL, 10) : 0;
}

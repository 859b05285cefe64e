/* delegate.c - the cgroups that an ordinary user may make some in.
 *
 * That is his process's own one, where its directory is his: chowned by root, or delegated by systemd.
 * In a hierarchy of v2 no cgroup with processes gives limits to its children, so there every process
 * of it has to step aside first, into a child beside those of the sandboxes; processes of somebody
 * else are left alone, and then there are no limits. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugins/ns/ns.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/fs.h"
#include "sdk/base/machine.h"
#include "sdk/base/string.h"

#define ASIDE "berth-callers"
#define TRIES 20
#define PROCESSES_LIMIT (1u << 20)

/* The path in a line "NUMBER:CONTROLLERS:PATH" of /proc/self/cgroup when it is of the hierarchy with
 * OPTIONS; v2 has no controllers there. */
static const char *
path_in_line (char *line, int version, const char *options)
{
  char *controllers = strchr (line, ':');
  char *path = controllers != NULL ? strchr (controllers + 1, ':') : NULL;
  char *save = NULL;

  if (path == NULL)
    return NULL;
  *controllers++ = *path++ = '\0';
  if (version == 2)
    return *controllers == '\0' ? path : NULL;
  const char *first = strtok_r (controllers, ",", &save);
  return first != NULL && ns_cgroup_v1_has (options, first) ? path : NULL;
}

/* Where in its hierarchy this process is; NULL with errno. */
static char *
own_path (int version, const char *options)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  char *save = NULL;

  if (berth_fs_read (AT_FDCWD, "/proc/self/cgroup", &text, 65536) < 0 || text.size == 0)
    return NULL;
  errno = ENOENT;
  for (char *line = strtok_r (text.data, "\n", &save); line != NULL; line = strtok_r (NULL, "\n", &save))
    {
      const char *path = path_in_line (line, version, options);
      if (path != NULL)
        return strdup (path);
    }
  return NULL;
}

static bool
is_ours (const char *directory)
{
  BERTH_AUTO_FREE char *processes = berth_string_format ("%s/cgroup.procs", directory);
  struct stat status;

  return processes != NULL && stat (directory, &status) == 0 && status.st_uid == geteuid () && access (directory, W_OK) == 0
         && access (processes, W_OK) == 0 && !berth_machine_is_systemds (directory);
}

char *
ns_delegated (int version, const char *mount, const char *root, const char *options)
{
  BERTH_AUTO_FREE char *path = own_path (version, options);
  size_t above = strcmp (root, "/") == 0 ? 0 : strlen (root);

  if (path == NULL || strncmp (path, root, above) != 0)
    return NULL;
  if (version == 2 && berth_string_ends_with (path, "/" ASIDE))
    path[strlen (path) - strlen ("/" ASIDE)] = '\0';
  const char *below = strlen (path) >= above ? path + above : "";
  BERTH_AUTO_FREE char *directory = berth_string_format ("%s%s", mount, strcmp (below, "/") == 0 ? "" : below);
  return directory != NULL && is_ours (directory) ? BERTH_STEAL_POINTER (directory) : NULL;
}

/* ---- stepping aside ---- */

static bool
is_users (pid_t pid)
{
  char path[32];
  struct stat status;

  snprintf (path, sizeof path, "/proc/%d", (int) pid);
  return stat (path, &status) < 0 || status.st_uid == geteuid ();
}

/* Each process of the cgroup DIRECTORY: 0, or what `each` answered first. */
static int
for_each_process (int directory, int (*each) (int aside, pid_t pid), int aside)
{
  BERTH_AUTO_BUFFER struct berth_buffer list = { 0 };
  int result = berth_fs_read (directory, "cgroup.procs", &list, PROCESSES_LIMIT);

  for (const char *at = berth_buffer_string (&list); result == 0 && *at != '\0'; at = strchrnul (at, '\n'), at += *at == '\n')
    result = each (aside, (pid_t) strtol (at, NULL, 10));
  return result;
}

static int
check_one (int aside, pid_t pid)
{
  errno = EBUSY;
  return is_users (pid) ? 0 : -1;
}

static int
move_one (int aside, pid_t pid)
{
  return ns_cgroup_write (aside, "cgroup.procs", "%d", (int) pid) == 0 || errno == ESRCH ? 0 : -1;
}

bool
ns_delegated_can_limit (const char *directory)
{
  BERTH_AUTO_FD int fd = open (directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

  return fd >= 0 && faccessat (fd, "cgroup.subtree_control", W_OK, 0) == 0 && for_each_process (fd, check_one, -1) == 0;
}

/* What forks meanwhile is met again. */
int
ns_delegate (int directory, uint64_t which)
{
  int result = ns_cgroup_v2_delegate (directory, which);

  for (int tries = 0; result < 0 && errno == EBUSY && ns_is_ordinary_user () && tries < TRIES; tries++)
    {
      if (mkdirat (directory, ASIDE, 0755) < 0 && errno != EEXIST)
        return -1;
      BERTH_AUTO_FD int aside = openat (directory, ASIDE, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      if (aside < 0 || for_each_process (directory, check_one, aside) < 0 || for_each_process (directory, move_one, aside) < 0)
        return -1;
      result = ns_cgroup_v2_delegate (directory, which);
    }
  return result;
}

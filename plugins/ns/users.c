/* users.c - the ids that sandboxes of an ordinary user get.
 *
 * One is always there: the user's own, which becomes the sandbox's account.  Where the user has 65536
 * subordinate ids and newuidmap and newgidmap are installed, there is a user namespace in which he is
 * root over himself and over them:
 *   0            the user himself
 *   1 to 65536   his subordinate ids
 * The namespace of a sandbox is made inside of that one and has 1 to 65536 of it as 0 to 65535, as
 * root's sandboxes have their range: nothing inside has the user's own id.  Its files belong to
 * subordinate ids, which are given and removed from within such a namespace only; it is made anew
 * for each create, start and destroy, so that a process that dies takes nothing with it. */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugins/ns/launch.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/fd.h"
#include "sdk/base/fs.h"
#include "sdk/base/machine.h"
#include "sdk/base/string.h"

#define LOWEST_FD 64

__attribute__ ((format (printf, 3, 4))) static int
because (char *why, size_t size, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  vsnprintf (why, size, format, arguments);
  va_end (arguments);
  return -1;
}

/* ---- what the user was given ---- */

/* The user's range, or -1 and WHY there is none. */
static int
find_range (struct ns_range *range, char *why, size_t size)
{
  char number[16], text[4096];
  struct passwd entry, *found = NULL;
  uint64_t most;

  snprintf (number, sizeof number, "%u", (unsigned) getuid ());
  getpwuid_r (getuid (), &entry, text, sizeof text, &found);
  const char *name = found != NULL ? found->pw_name : number;
  range->uid = berth_machine_subordinates ("", "/etc/subuid", name, getuid (), NS_IDS_PER_SANDBOX, &most);
  range->gid = berth_machine_subordinates ("", "/etc/subgid", name, getuid (), NS_IDS_PER_SANDBOX, &most);
  if (range->uid != 0 && range->gid != 0)
    return 0;
  return because (why, size, "%s gives %s no range of 65536 ids", range->uid == 0 ? "/etc/subuid" : "/etc/subgid", name);
}

/* ---- the namespace ---- */

/* A process in a new user namespace that does nothing, so that the namespace can be mapped. */
static int
start_holder (int *pidfd, pid_t *pid)
{
  struct clone_args arguments
      = { .flags = CLONE_PIDFD | CLONE_NEWUSER, .pidfd = (uint64_t) (uintptr_t) pidfd };
  pid_t parent = getpid ();

  *pid = ns_clone (&arguments);
  if (*pid == 0)
    ns_child_hold (parent);
  return *pid < 0 ? -1 : 0;
}

/* What PATH said goes to WHY where it did not do its work. */
static int
run_mapper (struct berth_call *call, const char *name, pid_t pid, unsigned own, uint32_t first, char *why, size_t size)
{
  char path[32], number[4][16];
  const char *const arguments[]
      = { name, number[0], "0", number[1], "1", "1", number[2], number[3], NULL };
  BERTH_AUTO_FD int errors = memfd_create (name, MFD_CLOEXEC);
  const struct ns_program program = { .path = path, .arguments = arguments, .file = -1, .errors = errors };
  int status;

  snprintf (path, sizeof path, "/usr/bin/%s", name);
  snprintf (number[0], sizeof number[0], "%d", (int) pid);
  snprintf (number[1], sizeof number[1], "%u", own);
  snprintf (number[2], sizeof number[2], "%u", first);
  snprintf (number[3], sizeof number[3], "%u", NS_IDS_PER_SANDBOX);
  int told = ns_program_run (call, &program, &status);
  if (told < 0)
    return because (why, size, "%s cannot be executed: %s", path, strerror (errno));
  if (!told || status == 0)
    return 0; /* where its end is not told the map itself shows */
  char text[160];
  ssize_t said = pread (errors, text, sizeof text - 1, 0);
  while (said > 0 && text[said - 1] == '\n')
    said--;
  return because (why, size, "%s failed: %.*s", name, said > 0 ? (int) said : 0, text);
}

/* A descriptor of the namespace of PID, once both its maps are there. */
static int
open_mapped (pid_t pid, char *why, size_t size)
{
  static const char *const maps[] = { "uid_map", "gid_map" };
  char path[48];

  for (int i = 0; i < 2; i++)
    {
      BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
      snprintf (path, sizeof path, "/proc/%d/%s", (int) pid, maps[i]);
      if (berth_fs_read (AT_FDCWD, path, &text, 4096) < 0 || text.size == 0)
        return because (why, size, "new%s did not map the subordinate ids", i == 0 ? "uidmap" : "gidmap");
    }
  snprintf (path, sizeof path, "/proc/%d/ns/user", (int) pid);
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  return fd >= 0 ? fd : because (why, size, "%s cannot be opened: %s", path, strerror (errno));
}

/* -1 and WHY it cannot be had. */
static int
open_space (struct berth_call *call, const struct ns_range *range, char *why, size_t size)
{
  BERTH_AUTO_FD int pidfd = -1;
  int result = -1;
  pid_t pid;

  if (start_holder (&pidfd, &pid) < 0)
    return because (why, size, "no user namespace can be made: %s", strerror (errno));
  if (run_mapper (call, "newuidmap", pid, geteuid (), range->uid, why, size) == 0
      && run_mapper (call, "newgidmap", pid, getegid (), range->gid, why, size) == 0)
    result = open_mapped (pid, why, size);
  ns_end_child (pidfd);
  return result;
}

int
ns_users_find (struct berth_call *call, const struct berth_state *state, struct ns_range *range, char *why, size_t size)
{
  *range = (struct ns_range){ 0 };
  if (state->uid_map == NS_UID_MAP_SINGLE)
    return because (why, size, "the setting uid_map is single");
  if (find_range (range, why, size) < 0)
    return -1;
  int fd = open_space (call, range, why, size);
  if (fd < 0)
    *range = (struct ns_range){ 0 };
  return fd;
}

/* For one sandbox only, and only while the range is still the user's. */
static int
take_spare (struct berth_state *state, struct ns_range *range)
{
  char why[256];
  struct ns_range now;

  pthread_mutex_lock (&state->spare.mutex);
  BERTH_AUTO_FD int space = state->spare.space;
  *range = state->spare.range;
  state->spare.space = -1;
  pthread_mutex_unlock (&state->spare.mutex);
  if (space < 0 || find_range (&now, why, sizeof why) < 0 || now.uid != range->uid || now.gid != range->gid)
    return -1;
  return BERTH_STEAL_FD (space);
}

void
ns_users_spare (struct berth_state *state, struct ns_users *users)
{
  if (users->space < 0)
    return;
  pthread_mutex_lock (&state->spare.mutex);
  int before = state->spare.space;
  state->spare.space = users->space;
  state->spare.range = users->range;
  pthread_mutex_unlock (&state->spare.mutex);
  users->space = -1;
  if (before >= 0)
    close (before);
}

int
ns_users_choose (struct berth_call *call, struct berth_state *state, struct ns_users *users)
{
  char why[256] = "";

  *users = (struct ns_users){ .space = -1 };
  if (!ns_is_ordinary_user ())
    return 0;
  users->space = take_spare (state, &users->range);
  if (users->space < 0)
    users->space = ns_users_find (call, state, &users->range, why, sizeof why);
  users->single = users->space < 0;
  uint32_t code = call->services->cancelled (call);
  if (code != 0)
    return call->services->fail (call, code, "interrupted while the user ids were mapped");
  if (users->single && state->uid_map == NS_UID_MAP_AUTO)
    call->services->log (call->instance, BERTH_LOG_DEBUG, "sandboxes have one account: %s", why);
  if (!users->single || state->uid_map != NS_UID_MAP_RANGE)
    return 0;
  call->services->fail (call, BERTH_E_CONFIGURATION, "a range of user ids cannot be had: %s", why);
  call->services->hint (call, "install newuidmap (uidmap) and add the user to /etc/subuid and /etc/subgid, or set uid_map of the"
                              " backend to auto");
  return -1;
}

int
ns_users_recall (struct berth_call *call, const struct ns_meta *meta, const char *id, struct ns_users *users)
{
  char why[256] = "";

  *users = (struct ns_users){ .range = { meta->uid_base, meta->gid_base != 0 ? meta->gid_base : meta->uid_base },
                               .space = -1 };
  if (!ns_is_ordinary_user ())
    return 0;
  users->single = meta->uid_base == 0;
  if (users->single || (users->space = open_space (call, &users->range, why, sizeof why)) >= 0)
    return 0;
  call->services->fail (call, BERTH_E_CONFIGURATION, "the user ids from %u on that %s has cannot be mapped any more: %s",
                        meta->uid_base, id, why);
  call->services->hint (call, "give them to the user again in /etc/subuid and /etc/subgid");
  return -1;
}

/* ---- acting for subordinate ids ---- */

/* This is a copy of the host: it lets go of what it has open, and no handler runs in it. */
_Noreturn static void
act (int space, int box, int report, int (*work) (int box, const struct ns_range *range), const struct ns_range *range)
{
  int fds[] = { space, box, report }, result = 0;

  for (int i = 0; i < 3; i++)
    if ((fds[i] = fcntl (fds[i], F_DUPFD_CLOEXEC, LOWEST_FD)) < 0)
      _exit (1);
  /* Each is the lowest free number at that time, so they rise. */
  unsigned from = 3;
  for (int i = 0; i < 3; i++)
    {
      if ((unsigned) fds[i] > from)
        close_range (from, (unsigned) fds[i] - 1, 0);
      from = (unsigned) fds[i] + 1;
    }
  close_range (from, ~0u, 0);
  if (setns (fds[0], CLONE_NEWUSER) < 0 || work (fds[1], range) < 0)
    result = errno;
  _exit (write (fds[2], &result, sizeof result) == (ssize_t) sizeof result ? 0 : 1);
}

/* Not by the host's own process: who enters a user namespace must be alone in his. */
static int
act_inside (int space, int box, int (*work) (int, const struct ns_range *), const struct ns_range *range)
{
  sigset_t all, before;
  int report[2], result = EIO;

  if (pipe2 (report, O_CLOEXEC) < 0)
    return -1;
  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &before);
  pid_t pid = fork ();
  if (pid == 0)
    act (space, box, report[1], work, range);
  int reason = errno;
  pthread_sigmask (SIG_SETMASK, &before, NULL);
  close (report[1]);
  if (pid < 0)
    result = reason;
  else if (berth_fd_read_full (report[0], &result, sizeof result) != (ssize_t) sizeof result)
    result = EIO;
  close (report[0]);
  while (pid > 0 && waitpid (pid, NULL, 0) < 0 && errno == EINTR)
    ;
  errno = result;
  return result == 0 ? 0 : -1;
}

static int
give (int box, const struct ns_range *range)
{
  return fchownat (box, "workspace", 1 + NS_SANDBOX_ID, 1 + NS_SANDBOX_ID, AT_SYMLINK_NOFOLLOW);
}

int
ns_users_give (const struct ns_users *users, int box)
{
  if (!ns_is_ordinary_user ())
    return fchownat (box, "workspace", ns_ids_outside (users->range.uid, NS_SANDBOX_ID),
                     ns_ids_outside (users->range.gid, NS_SANDBOX_ID), AT_SYMLINK_NOFOLLOW);
  return users->single ? 0 : act_inside (users->space, box, give, &users->range);
}

static int
remove_workspace (int box, const struct ns_range *range)
{
  return berth_fs_remove_tree (box, "workspace");
}

/* Whose files the workspace holds; all 0 where they are the user's own, or nobody's. */
static struct ns_range
range_of_workspace (struct berth_call *call, const struct berth_state *state, int box, const struct ns_meta *meta, char *why,
                    size_t size, int *space)
{
  struct ns_range range = { meta->uid_base, meta->gid_base };
  struct stat status;

  *space = -1;
  if (fstatat (box, "workspace", &status, AT_SYMLINK_NOFOLLOW) < 0 || (range.uid == 0 && status.st_uid == geteuid ()))
    return (struct ns_range){ 0 };
  if (range.uid != 0)
    *space = open_space (call, &range, why, size);
  else /* the record is lost: they are the ids that the user has now, or ones that he no more has */
    *space = ns_users_find (call, state, &range, why, size);
  if (range.uid == 0)
    range = (struct ns_range){ status.st_uid - NS_SANDBOX_ID, status.st_gid - NS_SANDBOX_ID };
  return range;
}

int
ns_users_remove (struct berth_call *call, const struct berth_state *state, int box, const char *id, const struct ns_meta *meta)
{
  char why[256] = "";
  BERTH_AUTO_FD int space = -1;
  struct ns_range range = { 0 };

  if (ns_is_ordinary_user ())
    range = range_of_workspace (call, state, box, meta, why, sizeof why, &space);
  if ((space >= 0 && act_inside (space, box, remove_workspace, &range) == 0) || berth_fs_remove_tree (box, "workspace") == 0)
    return 0;
  if (range.uid == 0)
    {
      call->services->fail (call, BERTH_E_INTERNAL, "cannot remove %s/boxes/%s/workspace: %m", state->state, id);
      call->services->hint (call, "free what its file system holds there, as chattr +i does, and destroy the sandbox again");
      return -1;
    }
  call->services->fail (call, BERTH_E_CONFIGURATION,
                        "cannot remove %s/boxes/%s/workspace, whose files belong to the user ids from %u on: %s", state->state, id,
                        range.uid, why[0] != '\0' ? why : strerror (errno));
  call->services->hint (call, "give these ids to the user again in /etc/subuid and /etc/subgid, or remove that directory as root");
  return -1;
}

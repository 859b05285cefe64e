/* restart.c - stopping a sandbox and bringing it back, also after its agent was killed or the
 * machine went down.
 *
 * A stopped sandbox is its record, its workspace and its range of user ids.  Stop and start of one
 * sandbox wait for each other at a lock on its directory, which the host's lock usually saves them. */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "plugins/ns/boot.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/clock.h"

#define UNDO_MS 10000
#define LOCK_POLL_MS 20
#define REMOVE_MS 5000

/* A descriptor that holds the lock: of its own, so that no child gets it. */
static int
take_lock (struct berth_call *call, int box, const char *id)
{
  BERTH_AUTO_FD int lock = openat (box, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

  if (lock < 0)
    return call->services->fail (call, BERTH_E_UNREACHABLE, "cannot open the directory of %s: %m", id);
  while (flock (lock, LOCK_EX | LOCK_NB) < 0)
    {
      uint32_t code = call->services->cancelled (call);
      if (code != 0)
        return call->services->fail (call, code, "interrupted while another stop or start of %s was at work", id);
      if (errno != EWOULDBLOCK && errno != EINTR)
        return call->services->fail (call, BERTH_E_INTERNAL, "cannot lock the directory of %s: %m", id);
      berth_clock_sleep_ms (LOCK_POLL_MS);
    }
  return BERTH_STEAL_FD (lock);
}

/* Fills BOOT with what is there of it, under the lock; -1 after fail. */
static int
find (struct ns_boot *boot, int *lock)
{
  struct berth_call *call = boot->call;

  if ((boot->box = ns_meta_find (call, boot->state, boot->id, &boot->meta)) < 0
      || (*lock = take_lock (call, boot->box, boot->id)) < 0)
    return -1;
  /* Again, since another may have changed it until then. */
  ns_meta_free (&boot->meta);
  if (ns_meta_read (boot->box, &boot->meta) < 0)
    return call->services->fail (call, errno == ENOENT ? BERTH_E_SANDBOX_NOT_FOUND : BERTH_E_UNREACHABLE,
                                 "cannot read the record of %s any more: %m", boot->id);
  if (!(boot->meta.limits.capabilities & BERTH_CAP_RESTART))
    {
      call->services->fail (call, BERTH_E_CAPABILITY_NOT_SUPPORTED, "the sandbox %s cannot be started again", boot->id);
      call->services->hint (call, "one that belongs to its creator, or has secret values in its environment, has one life");
      return -1;
    }
  if (ns_hierarchies_recall (boot->state, &boot->hierarchies, &boot->meta) < 0)
    return call->services->fail (call, BERTH_E_INTERNAL, "cannot read /proc/self/mountinfo: %m");
  return 0;
}

static int
remove_cgroups (struct berth_call *call, const struct ns_boot *boot)
{
  for (int64_t end = berth_clock_monotonic_ms () + REMOVE_MS;
       ns_cgroups_remove (&boot->hierarchies, boot->state, boot->id) < 0;)
    if (errno != EBUSY || berth_clock_monotonic_ms () >= end)
      return call->services->fail (call, BERTH_E_INTERNAL, "cannot remove the cgroups of %s: %m", boot->id);
  return 0;
}

/* Whatever it was before, nothing of it runs afterwards, and its record says so. */
static int
halt (struct berth_call *call, struct ns_boot *boot)
{
  BERTH_AUTO_FREE char *socket = ns_box_socket (boot->state, boot->id);
  int dead = ns_kill_agent (call, &boot->meta);

  if (dead < 0)
    return -1;
  if (dead == 0)
    return call->services->fail (call, BERTH_E_TIMEOUT, "the processes of %s do not die", boot->id);
  if (remove_cgroups (call, boot) < 0)
    return -1;
  if (socket == NULL || (unlink (socket) < 0 && errno != ENOENT))
    return call->services->fail (call, BERTH_E_INTERNAL, "cannot remove the socket of %s: %m", boot->id);
  int given_back = ns_disk_wait (call, boot->box, boot->id);
  if (given_back <= 0)
    return given_back < 0 ? -1 : call->services->fail (call, BERTH_E_TIMEOUT, "the disk of %s stays in use", boot->id);
  if (ns_meta_mend (boot->box) < 0)
    return call->services->fail (call, BERTH_E_INTERNAL, "cannot mend the record of %s: %m", boot->id);
  if (boot->meta.pid == 0)
    return 0;
  boot->meta.pid = 0;
  boot->meta.pid_start = 0;
  boot->meta.guard = 0;
  boot->meta.guard_start = 0;
  return ns_boot_write_meta (boot, ns_meta_append);
}

int
ns_stop (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
         const struct berth_options *options)
{
  NS_AUTO_BOOT struct ns_boot boot;
  BERTH_AUTO_FD int lock = -1;

  ns_boot_begin (&boot, call, state, native->id);
  if (BERTH_REFUSE_UNKNOWN (call, OPTIONS, options != NULL ? options->asks : 0, 0) < 0 || find (&boot, &lock) < 0)
    return -1;
  return halt (call, &boot);
}

/* An ordinary user's cgroups are now where this process is, and that is on record before they are made. */
static int
move_cgroups (struct ns_boot *boot, struct ns_hierarchies *now)
{
  const struct ns_hierarchies before = boot->hierarchies;

  boot->hierarchies = *now;
  *now = before;
  if (ns_hierarchies_note (&boot->hierarchies, &boot->meta) < 0)
    return boot->call->services->fail (boot->call, BERTH_E_RESOURCE_EXHAUSTED, "no memory");
  return ns_is_ordinary_user () ? ns_boot_write_meta (boot, ns_meta_append) : 0;
}

static int
bring_back (struct ns_boot *boot)
{
  NS_AUTO_HIERARCHIES struct ns_hierarchies now = { 0 };
  struct berth_call *call = boot->call;

  if (ns_hierarchies_find (boot->state, &now) < 0)
    return call->services->fail (call, BERTH_E_INTERNAL, "cannot read /proc/self/mountinfo: %m");
  if (ns_ids_check (call, boot->state) < 0 || ns_users_recall (call, &boot->meta, boot->id, &boot->users) < 0
      || ns_still_enforced (call, &now, &boot->meta.limits) < 0 || halt (call, boot) < 0 || move_cgroups (boot, &now) < 0)
    return -1;
  boot->environment = boot->meta.environment;
  boot->environment_count = boot->meta.environment_count;
  if (ns_boot (boot) == 0)
    return 0;
  ns_boot_kill (boot);
  struct berth_call *shielded = call->services->shield (call, UNDO_MS);
  if (halt (shielded, boot) < 0)
    call->services->log (call->instance, BERTH_LOG_WARNING, "what a failed start made of %s is not all gone", boot->id);
  call->services->unshield (shielded);
  return -1;
}

int
ns_start (struct berth_call *call, struct berth_state *state, const struct berth_native *native)
{
  NS_AUTO_BOOT struct ns_boot boot;
  BERTH_AUTO_FD int lock = -1;

  ns_boot_begin (&boot, call, state, native->id);
  if (find (&boot, &lock) < 0)
    return -1;
  BERTH_AUTO_FD int agent = ns_meta_agent (&boot.meta);
  if (agent >= 0 && ns_freezer_is_closed (boot.meta.freezer))
    return call->services->fail (call, BERTH_E_WRONG_STATE, "the sandbox %s is paused, not stopped", native->id);
  if (agent >= 0)
    return 0;
  if (bring_back (&boot) < 0)
    return -1;
  ns_release (call, boot.handle);
  return 0;
}

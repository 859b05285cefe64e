/* destroy.c - the end of a sandbox, in whatever state a dead process may have left it. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "plugins/ns/ns.h"
#include "sdk/agentlink/agentlink.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/clock.h"
#include "sdk/base/fs.h"

#define KILL_MS 5000 /* then the verdict is ACCEPTED */
#define POLL_MS 100

int
ns_wait_for_death (struct berth_call *call, int process)
{
  struct pollfd poll_fd = { .fd = process, .events = POLLIN };

  for (int64_t end = berth_clock_monotonic_ms () + KILL_MS; berth_clock_monotonic_ms () < end;)
    {
      uint32_t code = call->services->cancelled (call);
      if (code != 0)
        return call->services->fail (call, code, "interrupted while the sandbox was killed");
      if (poll (&poll_fd, 1, POLL_MS) == 1)
        return 1;
    }
  return 0;
}

int
ns_kill_agent (struct berth_call *call, const struct ns_meta *meta)
{
  BERTH_AUTO_FD int agent = ns_meta_agent (meta);
  BERTH_AUTO_FD int guard = ns_meta_guard (meta);
  int dead = 1;

  if (agent >= 0)
    syscall (SYS_pidfd_send_signal, agent, SIGKILL, NULL, 0);
  if (guard >= 0)
    syscall (SYS_pidfd_send_signal, guard, SIGKILL, NULL, 0);
  if (agent >= 0)
    {
      ns_freezer_let_die (meta->freezer);
      dead = ns_wait_for_death (call, agent);
    }
  return dead == 1 && guard >= 0 ? ns_wait_for_death (call, guard) : dead;
}

/* Whether somebody listens at PATH. */
static bool
is_answered (const char *path)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  BERTH_AUTO_FD int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

  if (strlen (path) >= sizeof address.sun_path)
    return false; /* nothing was ever made there */
  strcpy (address.sun_path, path);
  return fd < 0 || connect (fd, (struct sockaddr *) &address, sizeof address) == 0
         || (errno != ENOENT && errno != ECONNREFUSED);
}

static int
connect_to (struct berth_call *call, void *path)
{
  return agentlink_connect_unix (call, path);
}

/* The record does not say which process the agent is, so the agent is asked to end itself. 1 when
 * nobody is there any more; one that does not answer is left to the cgroup, where there is one. */
static int
end_unknown_agent (struct berth_call *call, const struct berth_state *state, const char *id, bool has_cgroup)
{
  BERTH_AUTO_FREE char *path = ns_box_socket (state, id);
  struct agentlink_transport transport = { .context = path, .connect = connect_to };
  struct agentlink link;

  if (path == NULL)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "no memory left");
  if (!is_answered (path))
    return 1;
  agentlink_init (&link, &transport, NULL, 0);
  if (agentlink_end (call, &link) == 0)
    return 1;
  call->services->forgive (call);
  return has_cgroup || !is_answered (path);
}

static int
refuse (struct berth_call *call, struct berth_destroyed *out, const char *id, const char *what)
{
  call->services->fail (call, BERTH_E_INTERNAL, "cannot remove %s of %s: %m", what, id);
  out->verdict = BERTH_REFUSED;
  return 0;
}

/* What is below the box, then the names elsewhere, the record last: a crash in between leaves
 * something that is still listed. */
static int
remove_storage (struct berth_call *call, const struct berth_state *state, int box, const char *id, const struct ns_meta *meta,
                struct berth_destroyed *out)
{
  BERTH_AUTO_FREE char *socket = ns_box_socket (state, id);
  BERTH_AUTO_FD int boxes = ns_boxes_open (state, false);

  if (box >= 0 && ns_users_remove (call, state, box, id, meta) < 0)
    {
      out->verdict = BERTH_REFUSED;
      return 0;
    }
  if (socket == NULL || (unlink (socket) < 0 && errno != ENOENT))
    return refuse (call, out, id, "the socket");
  if (ns_ids_release (state, box, meta->uid_base) < 0)
    return refuse (call, out, id, "the user ids");
  if (boxes >= 0 && berth_fs_remove_tree (boxes, id) < 0)
    return refuse (call, out, id, "the record");
  out->verdict = BERTH_GONE;
  return 0;
}

int
ns_destroy (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
            struct berth_destroyed *out)
{
  NS_AUTO_HIERARCHIES struct ns_hierarchies hierarchies = { 0 };
  NS_AUTO_META struct ns_meta meta = { 0 };
  BERTH_AUTO_FREE char *cgroup = ns_cgroup_name (state, native->id, NS_CGROUP_OWN);

  out->verdict = BERTH_GONE;
  if (!ns_id_is_possible (state, native->id))
    return 0;
  BERTH_AUTO_FD int box = ns_box_open (state, native->id);
  if (box < 0 && errno != ENOENT)
    return call->services->fail (call, BERTH_E_UNREACHABLE, "cannot look at the sandbox %s: %m", native->id);
  bool known = box >= 0 && ns_meta_read (box, &meta) == 0;
  if (cgroup == NULL || ns_hierarchies_recall (state, &hierarchies, &meta) < 0)
    return call->services->fail (call, BERTH_E_UNREACHABLE, "cannot read /proc/self/mountinfo: %m");
  int dead = known    ? ns_kill_agent (call, &meta)
             : box >= 0 ? end_unknown_agent (call, state, native->id, ns_cgroup_exists (&hierarchies, cgroup) > 0)
                        : 1;
  if (dead <= 0)
    {
      out->verdict = BERTH_ACCEPTED;
      return dead;
    }
  if (ns_cgroups_remove (&hierarchies, state, native->id) < 0)
    {
      if (errno != EBUSY)
        return refuse (call, out, native->id, "the cgroups");
      out->verdict = BERTH_ACCEPTED;
      return 0;
    }
  int free = box >= 0 ? ns_disk_wait (call, box, native->id) : 1;
  if (free <= 0)
    {
      out->verdict = BERTH_ACCEPTED;
      return free;
    }
  return remove_storage (call, state, box, native->id, &meta, out);
}

int
ns_probe (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
          struct berth_presence *out)
{
  NS_AUTO_HIERARCHIES struct ns_hierarchies hierarchies = { 0 };
  BERTH_AUTO_FREE char *cgroup = ns_cgroup_name (state, native->id, NS_CGROUP_OWN);
  BERTH_AUTO_FREE char *socket = ns_box_socket (state, native->id);
  struct stat status;

  out->verdict = BERTH_ABSENT;
  if (!ns_id_is_possible (state, native->id))
    return 0;
  BERTH_AUTO_FD int box = ns_box_open (state, native->id);
  if (box < 0 && errno != ENOENT)
    return call->services->fail (call, BERTH_E_UNREACHABLE, "cannot look at the sandbox %s: %m", native->id);
  if (cgroup == NULL || socket == NULL || ns_hierarchies_find (state, &hierarchies) < 0)
    return call->services->fail (call, BERTH_E_UNREACHABLE, "cannot read /proc/self/mountinfo: %m");
  /* The record goes last, so an agent that lives always has one. */
  if (box >= 0 || lstat (socket, &status) == 0 || ns_cgroup_exists (&hierarchies, cgroup))
    out->verdict = BERTH_PRESENT;
  return 0;
}

int
ns_is_running (struct berth_call *call, struct berth_state *state, const struct berth_native *native)
{
  NS_AUTO_META struct ns_meta meta = { 0 };

  if (!ns_id_is_possible (state, native->id))
    return 0;
  BERTH_AUTO_FD int box = ns_box_open (state, native->id);
  if (box < 0)
    return errno == ENOENT ? 0
                           : call->services->fail (call, BERTH_E_UNREACHABLE, "cannot look at the sandbox %s: %m",
                                                   native->id);
  if (ns_meta_read (box, &meta) < 0 || !meta.ready)
    return 0;
  BERTH_AUTO_FD int agent = ns_meta_agent (&meta);
  return agent >= 0 && !ns_freezer_is_closed (meta.freezer);
}

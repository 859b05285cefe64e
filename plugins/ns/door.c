/* door.c - the workspace of a paused sandbox, whose agent stands still with the rest.
 *
 * A process of its own joins the sandbox's namespaces and sends what the agent would send
 * (sdk/agent/door.h).  It is started for one export, by whoever wants it, and ends with him. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugins/ns/launch.h"
#include "plugins/ns/ns.h"
#include "sdk/agent/door.h"
#include "sdk/base/cleanup.h"

struct door
{
  int process; /* pidfd of what we started, or -1 */
  int line;    /* our end of its connection, or -1 */
};
#define AUTO_DOOR BERTH_CLEANUP (close_door)

static void
close_door (struct door *door)
{
  siginfo_t info;

  if (door->line >= 0)
    close (door->line);
  if (door->process < 0)
    return;
  syscall (SYS_pidfd_send_signal, door->process, SIGKILL, NULL, 0);
  while (waitid (P_PIDFD, (id_t) door->process, &info, WEXITED | __WALL) < 0 && errno == EINTR)
    ;
  close (door->process);
}

static int
start (struct berth_call *call, const struct berth_state *state, const struct ns_meta *meta, int agent, struct door *door)
{
  static const char *const arguments[] = { DOOR_NAME, NULL };
  BERTH_AUTO_FD int program = ns_agent_open (call, call->services->agent_path (call->instance, NULL));
  BERTH_AUTO_FD int filter
      = program >= 0 ? ns_seccomp_open (call, state, meta->limits.enforced & BERTH_SPEC_USER_NAMESPACES) : -1;
  BERTH_AUTO_FD int null = open ("/dev/null", O_RDWR | O_CLOEXEC);
  int pair[2];

  if (filter < 0)
    return -1;
  if (null < 0 || socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "no descriptors to export a paused sandbox: %m");
  door->line = pair[0];
  BERTH_AUTO_FD int theirs = pair[1];
  struct ns_child child = { .box = -1,
                            .workspace = -1,
                            .into = -1,
                            .go = -1,
                            .space = -1,
                            .status = -1,
                            .agent = program,
                            .fds = { null, null, null, agent, filter, theirs, -1, -1 },
                            .arguments = (char *const *) arguments };
  if (ns_launch_beside (&child, &door->process) < 0)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "cannot start a process to export a paused sandbox: %m");
  return 0;
}

/* ---- the link to it, which has one connection ---- */

static int
take_line (struct berth_call *call, void *context)
{
  struct door *door = context;

  return BERTH_STEAL_FD (door->line);
}

/* While it lives it comes to its turn. */
static int
is_moving (void *context, uint64_t *mark)
{
  struct pollfd ended = { .fd = ((struct door *) context)->process, .events = POLLIN };

  ++*mark;
  return poll (&ended, 1, 0) == 1 ? -1 : 1;
}

static int
export_through (struct berth_call *call, struct door *door, const struct berth_tar_limits *limits,
                const struct berth_tar_sink *sink)
{
  const struct agentlink_transport transport = { .context = door, .connect = take_line, .is_moving = is_moving };
  struct berth_handle way = { .own = -1 };
  struct berth_tar_limits plain = { 0 };

  memcpy (&plain, limits, limits->struct_size < sizeof plain ? limits->struct_size : sizeof plain);
  plain.struct_size = sizeof plain;
  plain.asks &= ~BERTH_TAR_FROZEN;
  agentlink_init (&way.link, &transport, NULL, 0);
  return agentlink_export_tar (call, &way, &plain, sink);
}

/* ---- the whole ---- */

static int
export_paused (struct berth_call *call, const struct berth_handle *handle, const struct berth_tar_limits *limits,
               const struct berth_tar_sink *sink)
{
  NS_AUTO_META struct ns_meta meta = { 0 };
  AUTO_DOOR struct door door = { .process = -1, .line = -1 };
  BERTH_AUTO_FD int box = ns_meta_find (call, handle->state, handle->id, &meta);

  if (box < 0)
    return -1;
  BERTH_AUTO_FD int agent = ns_meta_agent (&meta);
  if (agent < 0 || !ns_freezer_is_closed (meta.freezer))
    return call->services->fail (call, BERTH_E_WRONG_STATE, "the sandbox %s is not paused", handle->id);
  if (ns_freezer_wait (call, meta.freezer, handle->id) < 0 || start (call, handle->state, &meta, agent, &door) < 0
      || export_through (call, &door, limits, sink) < 0)
    return -1;
  if (ns_freezer_is_closed (meta.freezer))
    return 0;
  return call->services->fail (call, BERTH_E_CONFLICT, "the sandbox %s went on while it was exported", handle->id);
}

static int
export_tar (struct berth_call *call, struct berth_handle *handle, const struct berth_tar_limits *limits,
            const struct berth_tar_sink *sink)
{
  if ((limits->asks & BERTH_TAR_FROZEN) == 0)
    return agentlink_export_tar (call, handle, limits, sink);
  return BERTH_REFUSE_UNKNOWN (call, TAR, limits->asks, BERTH_TAR_FROZEN) < 0 ? -1 : export_paused (call, handle, limits, sink);
}

const struct berth_workspace_ops ns_workspace = {
  .struct_size = sizeof ns_workspace,
  .export_tar = export_tar,
  .import_tar = agentlink_import_tar,
};

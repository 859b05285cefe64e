/* door.c - serves one connection from within a sandbox whose own processes all stand still.
 *
 * It belongs to no cgroup of the sandbox's and is not in its pid namespace: what the workload can see
 * or signal it is not, also when the sandbox goes on before it has ended.  Of the sandbox's rights it keeps
 * the one to read what belongs to others. */
#include "sdk/agent/door.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sdk/agent/conn.h"
#include "sdk/agent/harden.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/fd.h"

#define FILTER_MAXIMUM 65536
#define NAMESPACES (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP)

/* As the agent answers who it cannot serve. */
static _Noreturn void
give_up (const char *what)
{
  int reason = errno;
  struct failure failure;
  struct conn conn;

  conn_init (&conn, DOOR_LINE);
  wire_add_hello (&conn.out, NULL, 0);
  agent_fail (&failure, BERTH_E_CAPABILITY_NOT_SUPPORTED, "a paused sandbox cannot be entered: %s: %s", what,
              strerror (reason));
  conn_add_failure (&conn, &failure);
  if (conn_flush (&conn) == 0)
    conn_drain (&conn);
  _exit (EXIT_FAILURE);
}

/* Whoever owns the sandbox's user namespace has all capabilities in it, and may take its ids; where it has
 * but one, that is his own. */
static void
enter (struct agent *agent)
{
  if (setns (DOOR_SANDBOX, NAMESPACES) < 0)
    give_up ("its namespaces");
  if (setresgid (DOOR_ID, DOOR_ID, DOOR_ID) < 0)
    {
      if (errno != EINVAL)
        give_up ("an id of its own");
      agent->single_user = true;
    }
  else if (syscall (SYS_setgroups, 0, NULL) < 0 || harden_identity (DOOR_ID) < 0)
    give_up ("an id of its own");
  agent->root = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (agent->root < 0 || chdir ("/") < 0)
    give_up ("its root");
}

static int
keep_reading (void)
{
  struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
  const uint32_t kept = 1u << CAP_DAC_READ_SEARCH;
  struct __user_cap_data_struct data[2] = { { .effective = kept, .permitted = kept } };

  return (int) syscall (SYS_capset, &header, data);
}

/* It ends with who asked for it, whatever it waits for. */
static void
harden (void)
{
  BERTH_AUTO_BUFFER struct berth_buffer filter = { 0 };

  if (berth_fd_read_all (DOOR_FILTER, &filter, FILTER_MAXIMUM) < 0 || harden_core (0) < 0)
    give_up ("its limits");
  const char *failed = harden_process (filter.data, filter.size);
  if (failed != NULL)
    give_up (failed);
  if (harden_writes (NULL) < 0)
    give_up ("landlock");
  if (keep_reading () < 0 || prctl (PR_SET_PDEATHSIG, SIGKILL) < 0)
    give_up ("capabilities");
}

_Noreturn void
door_main (void)
{
  struct agent agent = { .listener = -1,
                         .timer = -1,
                         .proc = -1,
                         .workspace = "/workspace",
                         .own_id = DOOR_ID,
                         .use_openat2 = true };

  prctl (PR_SET_NAME, DOOR_NAME);
  harden_signals ();
  umask (077);
  enter (&agent);
  harden ();
  _exit (agent_serve_connection (&agent, NULL, DOOR_LINE, true));
}

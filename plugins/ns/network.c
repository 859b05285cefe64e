/* network.c - the network of a sandbox that is allowed one: pasta, and a guard of ours (sdk/agent/guard.h)
 * that filters what it carries and ends with the sandbox. */
#include "plugins/ns/network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plugins/ns/boot.h"
#include "plugins/ns/filter.h"
#include "sdk/agent/guard.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/clock.h"
#include "sdk/base/fd.h"
#include "sdk/base/fs.h"
#include "sdk/base/machine.h"
#include "sdk/base/string.h"

#define RESOLVERS_LIMIT 65536
/* Addresses that are nobody's by definition (RFC 7600, RFC 6666), where pasta answers for the resolver. */
#define RESOLVER_4 "192.0.0.8"
#define RESOLVER_6 "100::53"
/* What carries the traffic of one sandbox gets as much processor as that, and of the rest: */
#define OWN_MEMORY (UINT64_C (128) << 20)
#define OWN_PIDS 16

/* ---- whether it can be had ---- */

/* Refuses, with what would make it possible; 0 with where *PASTA is. */
static int
check_machine (struct berth_call *call, char **pasta)
{
  const char *what, *hint;

  switch (berth_machine_network ("", geteuid (), pasta))
    {
    case BERTH_MACHINE_LACKS_NOTHING:
      return 0;
    case BERTH_MACHINE_LACKS_PROGRAM:
      what = "there is no pasta in PATH to give it";
      hint = "install passt, which has it, or leave the network out";
      break;
    case BERTH_MACHINE_LACKS_DEVICE:
      what = "there is no " BERTH_MACHINE_TUN;
      hint = "load the kernel's module tun";
      break;
    default:
      what = BERTH_MACHINE_TUN " is not for this user";
      hint = "chmod 666 " BERTH_MACHINE_TUN ", as systems with udev have it";
      break;
    }
  call->services->fail (call, BERTH_E_CONFIGURATION, "a network is asked for, and %s", what);
  call->services->hint (call, "%s", hint);
  return -1;
}

int
ns_network_resolve (struct berth_call *call, const struct berth_policy *policy, uint32_t *action)
{
  BERTH_AUTO_FREE char *pasta = NULL;

  *action = policy != NULL ? policy->default_action : BERTH_DENY;
  if (policy != NULL && BERTH_REFUSE_UNKNOWN (call, POLICY, policy->asks, 0) < 0)
    return -1;
  if ((policy != NULL && policy->rules.count > 0) || (*action != BERTH_DENY && *action != BERTH_ALLOW))
    {
      call->services->fail (call, BERTH_E_CAPABILITY_NOT_SUPPORTED, "the ns backend has no rules for the network, and learns none");
      call->services->hint (call, "ask for the policy deny or allow, without rules");
      return -1;
    }
  return *action == BERTH_ALLOW ? check_machine (call, &pasta) : 0;
}

/* ---- names ---- */

const char *
ns_network_resolver (void)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  const char *found = NULL;
  char *save = NULL;
  unsigned char address[16];

  if (berth_fs_read (AT_FDCWD, "/etc/resolv.conf", &text, RESOLVERS_LIMIT) < 0 || text.size == 0)
    return NULL;
  for (char *line = strtok_r (text.data, "\n", &save); line != NULL; line = strtok_r (NULL, "\n", &save))
    {
      char server[INET6_ADDRSTRLEN];
      if (sscanf (line, "nameserver %45s", server) != 1)
        continue;
      if (inet_pton (AF_INET, server, address) == 1)
        return RESOLVER_4;
      if (inet_pton (AF_INET6, server, address) == 1)
        found = RESOLVER_6;
    }
  return found;
}

/* ---- the guard ---- */

/* What becomes the guard tells by the same pipe why it cannot. */
_Static_assert (sizeof (struct guard_news) == sizeof (struct ns_news)
                  && offsetof (struct guard_news, what) == offsetof (struct ns_news, what)
                  && offsetof (struct guard_news, value) == offsetof (struct ns_news, value)
                  && offsetof (struct guard_news, error) == offsetof (struct ns_news, error),
                "the news of both are read as one");
_Static_assert ((int) GUARD_STARTED != (int) NS_NEWS_FAILED && (int) GUARD_READY != (int) NS_NEWS_FAILED, "a failure is no news of the guard's");
_Static_assert (GUARD_ID == NS_AGENT_ID, "the guard has the agent's id");
_Static_assert (GUARD_NEWS < NS_AGENT_FDS, "every descriptor of the guard's has its place");

struct beside
{
  int fds[NS_AGENT_FDS];
  int news;   /* where we read what it says */
  int status; /* the same pipe's other end */
  int agent;
  struct ns_cgroup cgroup;
};

static void
close_beside (struct beside *beside)
{
  for (int i = 0; i < NS_AGENT_FDS; i++)
    if (beside->fds[i] >= 0)
      close (beside->fds[i]);
  if (beside->news >= 0)
    close (beside->news);
  if (beside->agent >= 0)
    close (beside->agent);
  ns_cgroup_free (&beside->cgroup);
}

static int
make_filter (struct berth_call *call)
{
  BERTH_AUTO_FREE struct ns_filter *filter = malloc (sizeof *filter);
  BERTH_AUTO_FD int fd = memfd_create ("berth-filter", MFD_CLOEXEC);

  if (filter == NULL || fd < 0)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "no memory");
  if (ns_filter_make (filter) < 0)
    return call->services->fail (call, BERTH_E_CONFIGURATION, "cannot keep a sandbox from this machine's addresses: %m");
  if (berth_fd_write_file (fd, filter->code, filter->count * sizeof *filter->code) < 0)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "cannot write the filter: %m");
  return BERTH_STEAL_FD (fd);
}

/* Not under the workload's limits, which would let it starve its own, nor under none. */
static int
make_cgroup (struct ns_boot *boot, struct ns_cgroup *out)
{
  BERTH_AUTO_FREE char *name = ns_cgroup_name (boot->state, boot->id, NS_CGROUP_NETWORK);
  struct ns_limits limits = boot->meta.limits;

  limits.memory = OWN_MEMORY;
  limits.pids = OWN_PIDS;
  if (name == NULL)
    return boot->call->services->fail (boot->call, BERTH_E_RESOURCE_EXHAUSTED, "no memory");
  return ns_cgroup_make (boot->call, &boot->hierarchies, name, &limits, out);
}

static int
open_all (struct ns_boot *boot, struct beside *beside)
{
  struct berth_call *call = boot->call;
  int pipes[2];

  if (make_cgroup (boot, &beside->cgroup) < 0
      || (beside->agent = ns_agent_open (call, call->services->agent_path (call->instance, NULL))) < 0
      || (beside->fds[GUARD_FILTER] = make_filter (call)) < 0)
    return -1;
  if (pipe2 (pipes, O_CLOEXEC) < 0)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "no descriptors for a network: %m");
  beside->news = pipes[0];
  beside->fds[GUARD_NEWS] = pipes[1];
  if ((beside->fds[0] = open ("/dev/null", O_RDWR | O_CLOEXEC)) < 0
      || (beside->fds[2] = memfd_create ("berth-guard-errors", MFD_CLOEXEC)) < 0
      || (beside->fds[GUARD_SANDBOX] = fcntl (boot->launched.pidfd, F_DUPFD_CLOEXEC, 0)) < 0
      || (beside->fds[GUARD_USERS] = fcntl (boot->launched.users, F_DUPFD_CLOEXEC, 0)) < 0
      || (beside->fds[GUARD_NETWORK] = fcntl (boot->launched.network, F_DUPFD_CLOEXEC, 0)) < 0)
    return call->services->fail (call, BERTH_E_INTERNAL, "cannot hold the namespaces of %s: %m", boot->id);
  return 0;
}

/* With the first line of what it or pasta said. */
static int
fail_with_words (struct berth_call *call, int errors)
{
  char text[512];
  ssize_t size = pread (errors, text, sizeof text - 1, 0);

  text[size > 0 ? size : 0] = '\0';
  text[strcspn (text, "\n")] = '\0';
  call->services->fail (call, BERTH_E_CONFIGURATION, "cannot give the sandbox a network: %s",
                        text[0] != '\0' ? text : "the guard of the network died");
  call->services->hint (call, "`pasta --config-net true` shows whether pasta works on this machine");
  return -1;
}

/* Until the network is there and the guard's pid is known, which two processes tell, in either order. */
static int
listen_to (struct ns_boot *boot, const struct beside *beside)
{
  struct ns_news news;
  bool ready = false;

  do
    {
      if (ns_wait_readable (boot->call, beside->news) < 0)
        return -1;
      if (read (beside->news, &news, sizeof news) != (ssize_t) sizeof news)
        return fail_with_words (boot->call, beside->fds[2]);
      if (news.what == NS_NEWS_FAILED)
        return ns_launch_fail (boot->call, &boot->plan, &news, "for the guard of the network");
      ready |= news.what == GUARD_READY;
      if (news.what == GUARD_STARTED)
        {
          boot->meta.guard = news.value;
          boot->meta.guard_start = berth_process_start (news.value);
          boot->guard = berth_process_open (boot->meta.guard, boot->meta.guard_start);
        }
    }
  while (!ready || boot->meta.guard == 0);
  return boot->guard >= 0 ? 0 : fail_with_words (boot->call, beside->fds[2]);
}

static int
run_guard (struct ns_boot *boot, struct beside *beside, const char *pasta)
{
  const char *const arguments[]
      = { GUARD_NAME, pasta, "--no-map-gw", boot->resolver != NULL ? "--dns-forward" : NULL, boot->resolver, NULL };
  struct ns_child child = { .box = -1, .workspace = -1, .into = beside->cgroup.into, .go = -1, .space = -1, .agent = beside->agent,
                            .status = beside->fds[GUARD_NEWS], .joins = beside->cgroup.joins, .arguments = (char *const *) arguments };
  int pidfd = -1;

  memcpy (child.join, beside->cgroup.join, sizeof child.join);
  memcpy (child.fds, beside->fds, sizeof child.fds);
  if (ns_launch_beside (&child, &pidfd) < 0)
    return boot->call->services->fail (boot->call, BERTH_E_RESOURCE_EXHAUSTED, "cannot start a process for a network: %m");
  close (beside->fds[GUARD_NEWS]);
  beside->fds[GUARD_NEWS] = -1;
  int result = listen_to (boot, beside);
  /* The guard is its child by now, or will never be; that one ends with the sandbox. */
  ns_end_child (pidfd);
  close (pidfd);
  return result;
}

int
ns_network_start (struct ns_boot *boot)
{
  BERTH_AUTO_FREE char *pasta = NULL;
  struct beside beside = { .news = -1, .agent = -1, .cgroup = { .into = -1 } };

  if (check_machine (boot->call, &pasta) < 0)
    return -1;
  for (int i = 0; i < NS_AGENT_FDS; i++)
    beside.fds[i] = -1;
  int result = open_all (boot, &beside) < 0 ? -1 : run_guard (boot, &beside, pasta);
  /* A sandbox that could not be made has a reason of its own. */
  if (result < 0)
    ns_launch_explain (boot->call, &boot->plan, &boot->launched);
  close_beside (&beside);
  return result;
}

/* ---- what is in force ---- */

/* Nothing that runs a sandbox here needs a network itself. */
static int
admit_runtime_egress (struct berth_call *call, struct berth_state *state, const struct berth_policy *wanted,
                      const struct berth_policy_sink *sink)
{
  uint32_t action;

  return ns_network_resolve (call, wanted, &action) < 0 ? -1 : sink->policy (sink->context, wanted);
}

/* Once its guard is dead, nothing gets out of a sandbox, whatever it was allowed. */
static int
read_policy (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
             const struct berth_policy_sink *sink)
{
  NS_AUTO_META struct ns_meta meta = { 0 };
  struct berth_policy policy = { .struct_size = sizeof policy, .default_action = BERTH_DENY };
  BERTH_AUTO_FD int box = ns_meta_find (call, state, native->id, &meta);

  if (box < 0)
    return -1;
  if (meta.limits.network == BERTH_ALLOW)
    {
      BERTH_AUTO_FD int agent = ns_meta_agent (&meta);
      BERTH_AUTO_FD int guard = ns_meta_guard (&meta);
      policy.default_action = agent < 0 || guard >= 0 ? BERTH_ALLOW : BERTH_DENY;
    }
  return sink->policy (sink->context, &policy);
}

const struct berth_network_ops ns_network = {
  .struct_size = sizeof ns_network,
  .admit_runtime_egress = admit_runtime_egress,
  .read_policy = read_policy,
};

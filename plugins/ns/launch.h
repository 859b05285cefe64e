/* launch.h - starting the first process of a sandbox. */
#ifndef BERTH_PLUGINS_NS_LAUNCH_H
#define BERTH_PLUGINS_NS_LAUNCH_H

#include "plugins/ns/ns.h"
#include "plugins/ns/plan.h"

_Static_assert (NS_JOIN_MAX == NS_CGROUP_MAX, "a child joins as many cgroups as a sandbox has");

struct ns_launch
{
  const struct ns_plan *plan;
  const struct ns_cgroup *cgroup;
  int box;
  const struct ns_users *users;
  uint32_t processes; /* at most, where nothing but the user's count of them can say so; 0: any */
  bool network;    /* hand out its namespaces */
  int workspace;   /* a mount for it, or -1: the directory of the box */
  const char *agent;
  char *const *arguments;
  int listen;      /* become descriptors 3, 4 and 5 of the agent; 5 or 6 is what it says its hello on */
  int seccomp;
  int environment; /* or -1 */
};

/* A first process that waits to become the agent; all -1 or 0 before. */
struct ns_launched
{
  pid_t pid;
  uint64_t start;
  int pidfd;
  pid_t between; /* the process in between, until it is reaped */
  int status;  /* ends when it has become the agent */
  int go;      /* to let it go, and then the agent's hello */
  int errors; /* what the agent writes to its standard error */
  int users;  /* its namespaces, where they were wanted */
  int network;
};

/* A descriptor to execute the agent at PATH from; -1 after fail. */
int ns_agent_open (struct berth_call *call, const char *path);
/* 0 when FD can be read or has ended, -1 after fail. */
int ns_wait_readable (struct berth_call *call, int fd);
/* Fails with the step or stage that the NEWS says could not be taken, and WHERE. */
int ns_launch_fail (struct berth_call *call, const struct ns_plan *plan, const struct ns_news *news, const char *where);
struct clone_args;
/* A copy of the host, in memory too, in which all signals are blocked, so that no handler of the host's runs: 0
 * there, and here its pid, or -1 with errno. */
pid_t ns_clone (struct clone_args *arguments);
/* Kills a process made so, and takes its end. */
void ns_end_child (int pidfd);
/* Starts a process with copies of the descriptors of CHILD that is no child which others could wait for: 0 with
 * its PIDFD, or -1 with errno. */
int ns_launch_beside (struct ns_child *child, int *pidfd);

int ns_launch (struct berth_call *call, const struct ns_launch *launch, struct ns_launched *out);
/* Lets it become the agent, which then answers on its socket, or does not. */
int ns_launch_finish (struct berth_call *call, const struct ns_launched *launched);
/* Says why it does not answer, where that is known, instead of the recorded failure. */
void ns_launch_explain (struct berth_call *call, const struct ns_plan *plan, const struct ns_launched *launched);
/* Ends a first process that is not recorded yet. */
void ns_launched_kill (const struct ns_launched *launched);
void ns_launched_close (struct ns_launched *launched);

#endif

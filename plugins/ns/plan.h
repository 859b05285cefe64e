/* plan.h - what a new sandbox's first process does before it becomes the agent.
 *
 * It is written down here because it is done between clone and exec of a process that may have
 * had threads: nothing there may allocate, lock or look anything up.  The parent prepares every
 * string; child.c only makes system calls. */
#ifndef BERTH_PLUGINS_NS_PLAN_H
#define BERTH_PLUGINS_NS_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sdk/base/buffer.h"

enum ns_step_kind
{
  NS_STEP_DIRECTORY = 1, /* make TARGET with the mode VALUE */
  NS_STEP_FILE,          /* make TARGET with the mode VALUE and the bytes of SOURCE */
  NS_STEP_LINK,          /* make TARGET a symbolic link to SOURCE */
  NS_STEP_MOUNT,         /* a new file system SOURCE on TARGET with the mount flags VALUE and DATA */
  NS_STEP_BIND,          /* SOURCE and all mounted below it on TARGET */
  NS_STEP_ATTRIBUTES,    /* the attributes VALUE on the mount TARGET and all below it */
  NS_STEP_HOLD,          /* a copy of the mount SOURCE and of all below it, for later */
  NS_STEP_PLACE,         /* what is held on TARGET */
  NS_STEP_PRIVATE,       /* no mount event passes in or out */
  NS_STEP_ENTER,         /* TARGET becomes the working directory */
  NS_STEP_PIVOT,         /* the working directory becomes the root, the old root goes */
  NS_STEP_HOST_NAME,     /* SOURCE */
  NS_STEP_LOOPBACK,      /* up */
  NS_STEP_KEYRING        /* an empty session keyring instead of the caller's */
};

/* A step whose SOURCE or TARGET is missing is passed over. */
#define NS_STEP_MAY_MISS 1u

struct ns_step
{
  uint32_t kind;
  uint32_t flags;
  uint64_t value;
  const char *source;
  const char *target;
  const char *data;
};

struct ns_plan
{
  struct ns_step *steps;
  size_t count;
  size_t room;
  char **texts; /* owned: what the steps point at and is not static */
  size_t text_count;
  const char *odd; /* a device of the host's that is another than its name says, or NULL */
  int error;    /* ENOMEM once something could not be added */
};

void ns_plan_free (struct ns_plan *plan);
void ns_plan_add (struct ns_plan *plan, struct ns_step step);
/* A copy that lives as long as the plan, never NULL. */
const char *ns_plan_text (struct ns_plan *plan, const char *format, ...) __attribute__ ((format (printf, 2, 3)));
/* The step in words, for a message. */
void ns_plan_describe (const struct ns_plan *plan, int index, char *text, size_t size);

/* ---- root.c, etc.c ---- */
struct ns_limits;
/* Everything from the copied mounts of the host to the finished root.  RESOLVER is the address of a
 * server of names, or NULL. */
void ns_plan_root (struct ns_plan *plan, const struct ns_limits *limits, const char *resolver);
void ns_plan_etc (struct ns_plan *plan, const char *resolver);
/* Inside, relative to the root that is made: a file that stays empty. */
#define NS_EMPTY_FILE "etc/networks"
/* Shows the host's SOURCE, an absolute path, at the same place: a link as a link, a file or directory
 * bound; nothing when there is none. */
void ns_plan_show (struct ns_plan *plan, const char *source);

/* ---- child.c ---- */
/* Written to the status pipe, each in one piece. */
struct ns_news
{
  int32_t what;  /* NS_NEWS_* */
  int32_t value; /* STARTED: the pid; FAILED: the step, or -NS_STAGE_* */
  int32_t error;
};
enum
{
  NS_NEWS_STARTED = 1,
  NS_NEWS_FAILED = 2
};
enum
{
  NS_STAGE_JOIN = 1,
  NS_STAGE_CLONE,
  NS_STAGE_MAP,
  NS_STAGE_ACCOUNT,
  NS_STAGE_CAPABILITIES,
  NS_STAGE_DESCRIPTORS,
  NS_STAGE_EXEC
};

#define NS_JOIN_MAX 4
#define NS_KEEP_MAX 20
#define NS_HANDED_MAX 3 /* a pidfd of the first process, its user and its network namespace */
#define NS_AGENT_FDS 8
struct ns_child
{
  const struct ns_plan *plan;
  int keep[NS_KEEP_MAX]; /* descriptors that stay open until exec, in rising order */
  int keeps;
  int box;               /* the working directory to begin in */
  int workspace;         /* held from the start, or -1 */
  int join[NS_JOIN_MAX];
  int joins;
  int into;              /* cgroup v2, or -1 */
  int space;             /* a user namespace to make the sandbox's in, or -1 */
  uint32_t processes;    /* as many may the sandbox's user namespace have; 0: any */
  int status;
  int go;                /* a pidfd to the parent; one byte back: it is written down, become the agent, which says its hello there */
  int agent;
  int fds[NS_AGENT_FDS]; /* become 0, 1, 2, 3 and so on; -1: none */
  char map[2][64];       /* for uid_map and gid_map */
  bool network;          /* its namespaces are handed over too */
  bool single;           /* one id is mapped, to the sandbox's account: there is no uid 0 */
  uid_t owner;           /* who makes the user namespace; 0: whoever it is */
  char *const *arguments;
};
/* The process between the caller and the sandbox's first one, of the type that clone wants; it does not
 * return.  It shares the caller's memory, but in a sanitizer's build. */
int ns_child_run (void *child);
/* The new process begins in the cgroup of v2, where there is one: to move there would wait for RCU. */
struct clone_args;
void ns_child_enter_cgroup (const struct ns_child *child, struct clone_args *arguments);
/* A process that is not in the sandbox, and begins in the cgroup of v2. */
_Noreturn void ns_child_run_beside (const struct ns_child *child);
/* A process that keeps its namespaces until it is killed, or PARENT dies. */
_Noreturn void ns_child_hold (pid_t parent);

#endif

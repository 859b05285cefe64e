/* boot.h - bringing up a sandbox that is recorded: what create and start have in common. */
#ifndef BERTH_PLUGINS_NS_BOOT_H
#define BERTH_PLUGINS_NS_BOOT_H

#include "plugins/ns/launch.h"
#include "plugins/ns/ns.h"
#include "plugins/ns/plan.h"

struct ns_boot
{
  /* The caller's. */
  struct berth_call *call;
  struct berth_state *state;
  const char *id;
  int box;
  const struct berth_pair *environment;
  uint64_t environment_count;
  bool owned;
  /* Taken over and freed by ns_boot_finish. */
  struct ns_hierarchies hierarchies;
  struct ns_meta meta;
  struct ns_users users;
  /* What ns_boot makes. */
  struct ns_cgroup cgroup;
  struct ns_plan plan;
  struct ns_launched launched;
  const char *resolver; /* the address inside of a server of names, or NULL */
  int guard; /* of the network, or -1 */
  int disk; /* the mount of a limited workspace, or -1 */
  int listen;
  int seccomp;
  int environment_fd;
  struct berth_handle *handle; /* on success, for the caller */
};
#define NS_AUTO_BOOT BERTH_CLEANUP (ns_boot_finish)

void ns_boot_begin (struct ns_boot *boot, struct berth_call *call, struct berth_state *state, const char *id);
/* Its record says that it runs, and its agent answers; or -1 after fail, with what was made still there. */
int ns_boot (struct ns_boot *boot);
/* Ends what ns_boot started, recorded or not, and gives its handle up. */
void ns_boot_kill (struct ns_boot *boot);
void ns_boot_finish (struct ns_boot *boot);
int ns_boot_write_meta (struct ns_boot *boot, int (*write) (int, const struct ns_meta *));

#endif

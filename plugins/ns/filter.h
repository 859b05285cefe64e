/* filter.h - which frames may leave a sandbox that has a network. */
#ifndef BERTH_PLUGINS_NS_FILTER_H
#define BERTH_PLUGINS_NS_FILTER_H

#include <linux/filter.h>
#include <stdint.h>

struct ns_filter
{
  unsigned count; /* above BPF_MAXINSNS: it did not fit */
  struct sock_filter code[BPF_MAXINSNS];
};

/* For whoever runs it on frames of Ethernet: all but what is this machine's own, or its link's.  0, or -1 with
 * errno: ENOSPC where the machine has too many addresses. */
int ns_filter_make (struct ns_filter *filter);

#endif

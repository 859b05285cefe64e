/* network.h - the network of a sandbox that is allowed one. */
#ifndef BERTH_PLUGINS_NS_NETWORK_H
#define BERTH_PLUGINS_NS_NETWORK_H

#include "plugins/ns/launch.h"

struct ns_boot;

/* The address inside at which the resolver of this machine answers, or NULL when it has none. */
const char *ns_network_resolver (void);
/* Gives the launched sandbox its network; the record in BOOT then says what keeps it.  -1 after fail. */
int ns_network_start (struct ns_boot *boot);

#endif

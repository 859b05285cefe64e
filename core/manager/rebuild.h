/* rebuild.h - records made again from labels. */
#ifndef CORE_MANAGER_REBUILD_H
#define CORE_MANAGER_REBUILD_H

#include "core/manager/manager.h"

/* For a host whose database is new: ASIDE is where the damaged one went. */
int berth_rebuild_records (struct berth_host *host, const char *aside,
                           void (*visit) (void *context, const struct berth_recovery *what), void *context,
                           struct berth_error *error);

#endif

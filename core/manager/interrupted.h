/* interrupted.h - a create whose process died, or whose answer was lost.
 *
 * Its record says "creating" and its lock is free.  Without an assignment id the backend was
 * never asked.  With one, what was made is known by the native ids that were told, and otherwise
 * looked for: by the assignment id (CORRELATED_CREATE), or by labels. */
#ifndef CORE_MANAGER_INTERRUPTED_H
#define CORE_MANAGER_INTERRUPTED_H

#include "core/manager/spec.h"

/* The caller holds the lock.  0 when RECORD now names all that was made, which may be nothing;
 * 1 when that cannot be known yet: a service may be at it still; -1.  *CERTAIN is false when it
 * names nothing and the backend has no way to find a create by its assignment id. */
int berth_interrupted_look_locked (struct berth_host *host, struct berth_instance *instance,
                                   struct berth_record *record, bool *certain, struct berth_error *error);

/* For the request that made RECORD, repeated as WISH, after 0 of the above.  0: it runs and is on
 * record as running; 1: there is nothing, or nothing to go on with: make it anew once what is
 * left is proven gone; -1. */
int berth_interrupted_continue_locked (struct berth_host *host, struct berth_instance *instance,
                                       const struct berth_wish *wish, struct berth_record *record,
                                       struct berth_error *error);

#endif

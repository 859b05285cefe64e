/* rollback.h - what a rollback that was not finished has left. */
#ifndef CORE_MANAGER_ROLLBACK_H
#define CORE_MANAGER_ROLLBACK_H

#include "core/manager/destroy.h"

/* For a record in state REPLACING, whose lock the caller holds: destroys what is not the one in use,
 * told or not; once that is proven gone the record is that of a running sandbox again.  0 when it is. */
int berth_rollback_settle_locked (struct berth_host *host, struct berth_instance *instance, const char *id,
                                  struct berth_destroy_budget budget, struct berth_error *error);

/* Adds to such a record the replacement whose maker died before it was told the id. */
int berth_rollback_find_lost_locked (struct berth_host *host, struct berth_instance *instance,
                                     struct berth_record *record, struct berth_error *error);

#endif

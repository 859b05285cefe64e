/* life.h - what makes a whole sandbox stand still or go on without anybody's word. */
#ifndef CORE_MANAGER_LIFE_H
#define CORE_MANAGER_LIFE_H

#include "core/manager/call.h"

/* Pauses or stops RECORD, which runs: ACTION is BERTH_IDLE_PAUSE or BERTH_IDLE_STOP. */
int berth_life_idle_locked (struct berth_host *host, struct berth_instance *instance, struct berth_record *record,
                            uint32_t action, struct berth_error *error);
/* Somebody is going to use it: 0 when it runs, if need be from now on; else what a use of it is answered. */
int berth_life_wake (struct berth_sandbox *sandbox, struct berth_cancel *cancel, struct berth_error *error);

#endif

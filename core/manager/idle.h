/* idle.h - what becomes of a sandbox that nobody uses: decided under the lock under which its end is, and
 * with every use of it (use.h) held off.  Who began to use it before that wins; who comes then finds what
 * was decided.  Time that it is paused or stopped does not count. */
#ifndef CORE_MANAGER_IDLE_H
#define CORE_MANAGER_IDLE_H

#include "core/manager/destroy.h"

/* Nobody has used RECORD since now; for its owner to write. */
int berth_idle_begin_locked (struct berth_host *host, struct berth_record *record, struct berth_error *error);

/* 1 RECORD runs, nobody has used it for as long as it says, and nobody does until FREE is closed; 0; -1. */
int berth_idle_judge_locked (struct berth_host *host, struct berth_record *record, struct berth_instance **instance,
                             int *free, struct berth_error *error);
/* Does what RECORD says is done then.  OUT, all zero before, tells what became of one that was destroyed. */
int berth_idle_act_locked (struct berth_host *host, struct berth_instance *instance, struct berth_record *record,
                           struct berth_destroy_budget budget, struct berth_destruction *out,
                           struct berth_error *error);

/* All of them; quickly, and what fails is only logged. */
void berth_idle_sweep (struct berth_host *host);

#endif

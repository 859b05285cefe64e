/* sweep.h - finishing what a process that died has left. */
#ifndef CORE_MANAGER_SWEEP_H
#define CORE_MANAGER_SWEEP_H

#include "core/manager/manager.h"

/* Why a sandbox may go, 0: it may not.  As berth.h tells it. */
struct berth_abandonment
{
  uint32_t reason; /* enum berth_reap_reason */
};
/* The caller holds its lock, so nobody is creating or destroying it.  The end of its time is decided
 * elsewhere (expiry.h): EXPIRED here only says that it has passed. */
struct berth_abandonment berth_abandonment_of_locked (const struct berth_record *record);
/* For the log. */
const char *berth_abandonment_text (struct berth_abandonment abandonment);

/* Destroys the sandboxes of this installation that nobody is responsible for any more: a create
 * or a destroy whose process died, an owned one whose owner died, one whose end has passed.  With those
 * that nobody uses it does what they were made for.
 * Tries each once and quickly; what does not go now is for the next time.  Failures are only
 * logged. */
void berth_sweep (struct berth_host *host);

#endif

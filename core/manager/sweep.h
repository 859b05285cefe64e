/* sweep.h - finishing what a process that died has left. */
#ifndef CORE_MANAGER_SWEEP_H
#define CORE_MANAGER_SWEEP_H

#include "core/manager/manager.h"

/* Destroys the sandboxes of this installation that nobody is responsible for any more: a create
 * or a destroy whose process died, an owned one whose owner died, one whose end has passed.
 * Tries each once and quickly; what does not go now is for the next time.  Failures are only
 * logged. */
void berth_sweep (struct berth_host *host);

#endif

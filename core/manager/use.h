/* use.h - that somebody uses a sandbox, for those that something becomes of when nobody does.
 *
 * Each of these has a mark, the empty file STATE/used/ID.  Who uses it holds a shared lock on the mark,
 * which ends with the process, however that ends.  When it was last seen in use is the mark's time of
 * modification, by the clock that no step moves: milliseconds since the machine was booted. */
#ifndef CORE_MANAGER_USE_H
#define CORE_MANAGER_USE_H

#include "core/manager/manager.h"

struct berth_use
{
  int fd; /* of the mark, locked; -1: nobody counts its uses, or it is let go */
};
#define BERTH_USE_NONE { -1 }
#define BERTH_AUTO_USE BERTH_CLEANUP (berth_use_end)

/* From now until the end it is not idle.  What stands still since it was, goes on where it was made
 * so, else that is WRONG_STATE as ever.  The caller holds no lock of it. */
int berth_use_begin (struct berth_sandbox *sandbox, struct berth_cancel *cancel, struct berth_use *use,
                     struct berth_error *error);
void berth_use_end (struct berth_use *use);

/* Makes the mark, or moves it: it was used just now. */
int berth_use_mark_locked (struct berth_host *host, const char *id, struct berth_error *error);
/* The sandbox is gone. */
void berth_use_forget_locked (struct berth_host *host, const char *id);

/* 1 nobody uses it, and who comes waits until FREE is closed; 0 somebody does; -1.  For how long nobody
 * has gets *UNUSED_MS. */
int berth_use_exclude_locked (struct berth_host *host, const char *id, int *free, int64_t *unused_ms,
                              struct berth_error *error);
/* The same for people: 0 while it is used, -1 when nobody knows. */
int64_t berth_use_unused_ms (struct berth_host *host, const char *id);

#endif

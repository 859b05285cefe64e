/* lock.h - one lock per sandbox, between threads and processes.
 *
 * Held around what changes a whole sandbox (create, destroy, and what comes later), never around
 * its data plane.  It ends with the process that holds it: a record that says "creating" whose
 * lock is free tells of a creator that died. */
#ifndef CORE_MANAGER_LOCK_H
#define CORE_MANAGER_LOCK_H

#include "core/manager/manager.h"

struct berth_lock
{
  int fd; /* -1: not held */
};
#define BERTH_LOCK_NONE { -1 }
#define BERTH_AUTO_LOCK BERTH_CLEANUP (berth_lock_release)

/* 1 taken, 0 somebody has it, -1 with *ERROR.  ID is that of a record or a new one. */
int berth_lock_try (struct berth_host *host, const char *id, struct berth_lock *lock, struct berth_error *error);
/* Waits for at most MILLISECONDS: CONFLICT, or CANCELLED. */
int berth_lock_take (struct berth_host *host, const char *id, int64_t milliseconds, struct berth_cancel *cancel,
                     struct berth_lock *lock, struct berth_error *error);
void berth_lock_release (struct berth_lock *lock);

/* The same for the byte AT of any file about sandbox ID: TYPE is F_WRLCK, or F_RDLCK to share it.  It is held
 * for as long as FD is open. */
int berth_lock_try_byte (int fd, short type, off_t at, const char *id, struct berth_error *error);
int berth_lock_wait_byte (int fd, short type, off_t at, const char *id, int64_t milliseconds,
                          struct berth_cancel *cancel, struct berth_error *error);

#endif

/* expiry.h - when a sandbox ends.
 *
 * One deadline on record decides, read and written with the sandbox's lock held.  Within a boot of
 * the machine it counts by the clock that no step moves and that goes on while the machine sleeps;
 * across boots only the wall clock is left.  Time that it is paused or stopped does not count: what is
 * left is on record then, and no deadline.  A backend that can end a sandbox by itself (EXPIRY) is
 * told the same end, for the case that no host comes. */
#ifndef CORE_MANAGER_EXPIRY_H
#define CORE_MANAGER_EXPIRY_H

#include "core/manager/call.h"

/* MILLISECONDS from now, in the record only. */
void berth_expiry_set (struct berth_record *record, int64_t milliseconds);
/* False when it has none. */
bool berth_expiry_has_passed (const struct berth_record *record);
/* Milliseconds until it ends, paused or not; INT64_MAX when it has no end. */
int64_t berth_expiry_left (const struct berth_record *record);
/* As the user is told. */
struct berth_expiry berth_expiry_tell (const struct berth_record *record);

/* In the record: its time stands still from now on, or goes on. */
void berth_expiry_hold (struct berth_record *record);
void berth_expiry_go_on (struct berth_record *record);

/* Moves the backend's own end, where it has one. */
int berth_expiry_tell_backend (struct berth_instance *instance, const struct berth_record *record,
                               int64_t milliseconds, struct berth_error *error);

#endif

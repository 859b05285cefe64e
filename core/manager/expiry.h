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
/* The same, since it was found to stand still in STATE: nobody knows since when, so a minute is left at
 * least. */
void berth_expiry_hold_found (struct berth_record *record, int64_t state);

/* Whether it may be ended since its end has passed, with the lock held.  Its runtime has a word in
 * that: not one that it holds paused, or that another boot of the machine left stopped; RECORD says
 * so then, and its time stands still there.  1, 0, or -1 when it could not be asked. */
int berth_expiry_judge_locked (struct berth_host *host, struct berth_instance *instance, struct berth_record *record,
                               struct berth_error *error);
/* The same, and what is found to stand still is on record as such from now on. */
int berth_expiry_decide_locked (struct berth_host *host, struct berth_instance *instance, struct berth_record *record,
                                struct berth_error *error);

/* Moves the backend's own end, where it has one. */
#define BERTH_EXPIRY_FAR_MS (INT64_C (10) * 365 * 86400 * 1000) /* while its time stands still */
int berth_expiry_tell_backend (struct berth_instance *instance, const struct berth_record *record,
                               int64_t milliseconds, struct berth_error *error);
/* The same where the backend's end only goes with ours: one that does not stand still, or cannot be
 * told, is the backend's, and logged; the record decides.  Nothing for INT64_MAX. */
void berth_expiry_follow (struct berth_host *host, struct berth_instance *instance, const struct berth_record *record,
                          int64_t milliseconds);

#endif

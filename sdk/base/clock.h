/* clock.h - three clocks, in nanoseconds and milliseconds. */
#ifndef BERTH_BASE_CLOCK_H
#define BERTH_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

/* monotonic: deadlines of a call.  boottime: ends that count while the machine sleeps.
 * wall: what a record says, and the only one that means anything after a reboot. */
int64_t berth_clock_monotonic_ns (void);
int64_t berth_clock_monotonic_ms (void);
int64_t berth_clock_boottime_ns (void);
int64_t berth_clock_boottime_ms (void);
int64_t berth_clock_wall_ns (void);
int64_t berth_clock_wall_ms (void);

/* Sleeps through signals. */
void berth_clock_sleep_ms (int64_t milliseconds);

/* What poll takes until a monotonic deadline in ms: 0 when it has passed, -1 for INT64_MAX
 * (none), at most one hour at a time. */
int berth_clock_poll_timeout (int64_t deadline_ms);

/* "2026-05-20T14:03:07.123Z" */
#define BERTH_CLOCK_TEXT_SIZE 40
void berth_clock_format_wall (int64_t wall_ms, char text[BERTH_CLOCK_TEXT_SIZE]);

#endif

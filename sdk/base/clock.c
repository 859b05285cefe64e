#include "sdk/base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static int64_t
read_clock (clockid_t id)
{
  struct timespec now = { 0, 0 };

  clock_gettime (id, &now); /* cannot fail for these clocks */
  return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t
berth_clock_monotonic_ns (void)
{
  return read_clock (CLOCK_MONOTONIC);
}

int64_t
berth_clock_monotonic_ms (void)
{
  return read_clock (CLOCK_MONOTONIC) / 1000000;
}

int64_t
berth_clock_boottime_ns (void)
{
  return read_clock (CLOCK_BOOTTIME);
}

int64_t
berth_clock_boottime_ms (void)
{
  return read_clock (CLOCK_BOOTTIME) / 1000000;
}

int64_t
berth_clock_wall_ns (void)
{
  return read_clock (CLOCK_REALTIME);
}

int64_t
berth_clock_wall_ms (void)
{
  return read_clock (CLOCK_REALTIME) / 1000000;
}

void
berth_clock_sleep_ms (int64_t milliseconds)
{
  struct timespec rest;

  if (milliseconds <= 0)
    return;
  rest.tv_sec = (time_t) (milliseconds / 1000);
  rest.tv_nsec = (long) (milliseconds % 1000) * 1000000;
  while (clock_nanosleep (CLOCK_MONOTONIC, 0, &rest, &rest) == EINTR)
    continue;
}

int
berth_clock_poll_timeout (int64_t deadline_ms)
{
  int64_t rest;

  if (deadline_ms == INT64_MAX)
    return -1;
  rest = deadline_ms - berth_clock_monotonic_ms ();
  return rest <= 0 ? 0 : rest > 3600000 ? 3600000 : (int) rest;
}

void
berth_clock_format_wall (int64_t wall_ms, char text[BERTH_CLOCK_TEXT_SIZE])
{
  int64_t milliseconds = ((wall_ms % 1000) + 1000) % 1000;
  time_t seconds = (time_t) ((wall_ms - milliseconds) / 1000);
  struct tm parts;
  char stamp[32] = "";

  if (gmtime_r (&seconds, &parts) != NULL)
    strftime (stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &parts);
  snprintf (text, BERTH_CLOCK_TEXT_SIZE, "%s.%03dZ", stamp, (int) milliseconds);
}

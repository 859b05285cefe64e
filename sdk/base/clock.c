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

static int64_t
year_days (int64_t year)
{
  return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 366 : 365;
}

/* The date of the day DAYS after 1970-01-01.  gmtime_r would read the machine's time zone first, which
 * costs a process that formats one time more than all the rest of it. */
static void
find_date (int64_t days, int64_t *year, int *month, int *day)
{
  static const int lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
  const int64_t cycle = 146097; /* days of 400 years */
  int64_t cycles = days / cycle - (days % cycle < 0);

  days -= cycles * cycle;
  for (*year = 1970 + cycles * 400; days >= year_days (*year); ++*year)
    days -= year_days (*year);
  for (*month = 0;; ++*month)
    {
      int length = lengths[*month] + (*month == 1 && year_days (*year) == 366);
      if (days < length)
        break;
      days -= length;
    }
  ++*month;
  *day = (int) days + 1;
}

void
berth_clock_format_wall (int64_t wall_ms, char text[BERTH_CLOCK_TEXT_SIZE])
{
  const int64_t day_ms = 24 * 60 * 60 * INT64_C (1000);
  int64_t days = wall_ms / day_ms - (wall_ms % day_ms < 0), year;
  unsigned int rest = (unsigned int) ((wall_ms % day_ms + day_ms) % day_ms);
  int month, day;

  find_date (days, &year, &month, &day);
  snprintf (text, BERTH_CLOCK_TEXT_SIZE, "%d-%02u-%02uT%02u:%02u:%02u.%03uZ", (int) year, (unsigned int) month % 100,
            (unsigned int) day % 100, rest / 3600000 % 24, rest / 60000 % 60, rest / 1000 % 60, rest % 1000);
}

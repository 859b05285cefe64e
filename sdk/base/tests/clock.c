#include "sdk/base/clock.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sdk/base/tests/runner.h"

static void
test_clocks (void)
{
  int64_t monotonic = berth_clock_monotonic_ms (), boottime = berth_clock_boottime_ns ();

  berth_clock_sleep_ms (20);
  CU_ASSERT_TRUE (berth_clock_monotonic_ms () >= monotonic + 20);
  CU_ASSERT_TRUE (berth_clock_boottime_ns () >= boottime + 20000000);
  CU_ASSERT_TRUE (llabs (berth_clock_wall_ms () / 1000 - (int64_t) time (NULL)) <= 2);
  CU_ASSERT_TRUE (llabs (berth_clock_wall_ns () / 1000000 - berth_clock_wall_ms ()) <= 2000);
}

static void
test_poll_timeout (void)
{
  int64_t now = berth_clock_monotonic_ms ();

  CU_ASSERT_EQUAL (berth_clock_poll_timeout (INT64_MAX), -1);
  CU_ASSERT_EQUAL (berth_clock_poll_timeout (now - 1), 0);
  CU_ASSERT_EQUAL (berth_clock_poll_timeout (INT64_MIN / 2), 0);
  CU_ASSERT_EQUAL (berth_clock_poll_timeout (now + 100000000), 3600000);
  CU_ASSERT_TRUE (berth_clock_poll_timeout (now + 10000) > 0);
}

static void
test_format (void)
{
  char text[BERTH_CLOCK_TEXT_SIZE];

  berth_clock_format_wall (1747749787123, text);
  CU_ASSERT_STRING_EQUAL (text, "2025-05-20T14:03:07.123Z");
  berth_clock_format_wall (-1, text);
  CU_ASSERT_STRING_EQUAL (text, "1969-12-31T23:59:59.999Z");
  berth_clock_format_wall (0, text);
  CU_ASSERT_STRING_EQUAL (text, "1970-01-01T00:00:00.000Z");
}

/* Every day of six hundred years, leap ones and not. */
static void
test_dates (void)
{
  char text[BERTH_CLOCK_TEXT_SIZE], want[32];
  struct tm parts;

  for (int64_t day = -100000; day < 120000; day++)
    {
      time_t seconds = (time_t) (day * 86400 + 3661);
      berth_clock_format_wall ((int64_t) seconds * 1000 + 7, text);
      CU_ASSERT_PTR_NOT_NULL_FATAL (gmtime_r (&seconds, &parts));
      strftime (want, sizeof want, "%Y-%m-%dT%H:%M:%S.007Z", &parts);
      if (strcmp (text, want) != 0)
        {
          CU_ASSERT_STRING_EQUAL (text, want);
          break;
        }
    }
  berth_clock_format_wall (INT64_MAX, text);
  CU_ASSERT_STRING_EQUAL (text, "292278994-08-17T07:12:55.807Z");
  berth_clock_format_wall (INT64_MIN + 1, text);
  CU_ASSERT_PTR_NOT_NULL (strchr (text, 'Z'));
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "clocks", test_clocks },
    { "poll timeout", test_poll_timeout },
    { "format", test_format },
    { "every date is that of the C library", test_dates },
    { NULL, NULL },
  };

  return berth_test_main ("clock", tests);
}

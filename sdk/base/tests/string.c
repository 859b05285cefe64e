#include "sdk/base/string.h"

#include <errno.h>
#include <string.h>

#include "sdk/base/cleanup.h"
#include "sdk/base/tests/runner.h"

#define MOST INT64_MAX

static void
test_whole_numbers (void)
{
  int64_t value = 7;
  uint64_t unsigned_value = 7;

  CU_ASSERT_EQUAL (berth_string_to_int64 ("-9223372036854775808", INT64_MIN, MOST, &value), 0);
  CU_ASSERT_EQUAL (value, INT64_MIN);
  CU_ASSERT_EQUAL (berth_string_to_uint64 ("18446744073709551615", 0, UINT64_MAX, &unsigned_value), 0);
  CU_ASSERT_EQUAL (unsigned_value, UINT64_MAX);
  CU_ASSERT_EQUAL (berth_string_to_int64 ("42", 42, 42, &value), 0);
  CU_ASSERT_EQUAL (value, 42);
}

static void
test_not_numbers (void)
{
  static const char *const texts[] = { "", " 1", "1 ", "+1", "0x10", "1.0", "--1", "-", "1e3", "a" };
  int64_t value = 7;
  size_t i;

  for (i = 0; i < sizeof texts / sizeof texts[0]; i++)
    {
      errno = 0;
      CU_ASSERT_EQUAL (berth_string_to_int64 (texts[i], INT64_MIN, MOST, &value), -1);
      CU_ASSERT_EQUAL (errno, EINVAL);
    }
  CU_ASSERT_EQUAL (value, 7);
}

static void
test_number_ranges (void)
{
  static const char *const texts[] = { "9223372036854775808", "-9223372036854775809",
                                       "99999999999999999999999", "11", "-1" };
  int64_t value = 7;
  size_t i;

  for (i = 0; i < sizeof texts / sizeof texts[0]; i++)
    {
      errno = 0;
      CU_ASSERT_EQUAL (berth_string_to_int64 (texts[i], 0, 10, &value), -1);
      CU_ASSERT_EQUAL (errno, ERANGE);
    }
  CU_ASSERT_EQUAL (value, 7);
}

static void
test_thousandths (void)
{
  int64_t value = 0;

  CU_ASSERT_EQUAL (berth_string_to_thousandths ("1.5", 0, MOST, &value), 0);
  CU_ASSERT_EQUAL (value, 1500);
  CU_ASSERT_EQUAL (berth_string_to_thousandths ("0.025", 0, MOST, &value), 0);
  CU_ASSERT_EQUAL (value, 25);
  CU_ASSERT_EQUAL (berth_string_to_thousandths ("4", 0, 4000, &value), 0);
  CU_ASSERT_EQUAL (value, 4000);
  CU_ASSERT_EQUAL (berth_string_to_thousandths ("4.001", 0, 4000, &value), -1);
  CU_ASSERT_EQUAL (errno, ERANGE);
  CU_ASSERT_EQUAL (berth_string_to_thousandths ("1.0001", 0, MOST, &value), -1);
  CU_ASSERT_EQUAL (errno, EINVAL);
  CU_ASSERT_EQUAL (berth_string_to_thousandths ("1.", 0, MOST, &value), -1);
  CU_ASSERT_EQUAL (berth_string_to_thousandths (".5", 0, MOST, &value), -1);
  CU_ASSERT_EQUAL (berth_string_to_thousandths ("9223372036854775.808", 0, MOST, &value), -1);
  CU_ASSERT_EQUAL (errno, ERANGE);
}

struct sample
{
  const char *text;
  uint64_t value;
};

static void
test_sizes (void)
{
  static const struct sample good[] = {
    { "0", 0 }, { "4096", 4096 }, { "10B", 10 }, { "1k", 1024 }, { "1K", 1024 }, { "64KiB", 65536 },
    { "512M", UINT64_C (512) << 20 }, { "1.5G", UINT64_C (3) << 29 }, { "2TB", UINT64_C (1) << 41 },
    { "0.5k", 512 },
  };
  static const char *const bad[] = { "", "M", "1X", "1.5", "1.5B", "-1", "1 M", "1MM", "1Mi", "1kbit" };
  uint64_t value;
  size_t i;

  for (i = 0; i < sizeof good / sizeof good[0]; i++)
    {
      value = 99;
      CU_ASSERT_EQUAL (berth_string_to_size (good[i].text, 0, UINT64_MAX, &value), 0);
      CU_ASSERT_EQUAL (value, good[i].value);
    }
  for (i = 0; i < sizeof bad / sizeof bad[0]; i++)
    {
      CU_ASSERT_EQUAL (berth_string_to_size (bad[i], 0, UINT64_MAX, &value), -1);
      CU_ASSERT_EQUAL (errno, EINVAL);
    }
  CU_ASSERT_EQUAL (berth_string_to_size ("99999999T", 0, UINT64_MAX, &value), -1);
  CU_ASSERT_EQUAL (errno, ERANGE);
  CU_ASSERT_EQUAL (berth_string_to_size ("5M", 0, 4 << 20, &value), -1);
  CU_ASSERT_EQUAL (errno, ERANGE);
}

static void
test_durations (void)
{
  static const struct sample good[] = {
    { "0", 0 }, { "90", 90000 }, { "90s", 90000 }, { "15m", 900000 }, { "250ms", 250 }, { "1.5h", 5400000 },
    { "1h30m", 5400000 }, { "2d", 172800000 }, { "0.5", 500 }, { "1m0.25s", 60250 },
  };
  static const char *const bad[] = { "", "s", "1x", "30m1h", "1h30", "1h1h", "1ms1s", "-5s", "1 h", "1.0001s" };
  int64_t value;
  size_t i;

  for (i = 0; i < sizeof good / sizeof good[0]; i++)
    {
      value = 99;
      CU_ASSERT_EQUAL (berth_string_to_duration (good[i].text, 0, MOST, &value), 0);
      CU_ASSERT_EQUAL ((uint64_t) value, good[i].value);
    }
  for (i = 0; i < sizeof bad / sizeof bad[0]; i++)
    {
      CU_ASSERT_EQUAL (berth_string_to_duration (bad[i], 0, MOST, &value), -1);
      CU_ASSERT_EQUAL (errno, EINVAL);
    }
  CU_ASSERT_EQUAL (berth_string_to_duration ("999999999999999d", 0, MOST, &value), -1);
  CU_ASSERT_EQUAL (errno, ERANGE);
  CU_ASSERT_EQUAL (berth_string_to_duration ("61m", 0, 3600000, &value), -1);
  CU_ASSERT_EQUAL (errno, ERANGE);
}

static void
test_written_forms (void)
{
  static const uint64_t sizes[] = { 0, 1, 1023, 1024, 1536, UINT64_C (512) << 20, UINT64_MAX, UINT64_C (1) << 63 };
  static const int64_t durations[] = { 0, 1, 999, 1000, 90000, 3600000, 86400000, 90061001, MOST };
  char text[BERTH_STRING_NUMBER_SIZE];
  uint64_t size;
  int64_t duration;
  size_t i;

  for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
    {
      berth_string_from_size (sizes[i], text);
      CU_ASSERT_EQUAL (berth_string_to_size (text, 0, UINT64_MAX, &size), 0);
      CU_ASSERT_EQUAL (size, sizes[i]);
    }
  for (i = 0; i < sizeof durations / sizeof durations[0]; i++)
    {
      berth_string_from_duration (durations[i], text);
      CU_ASSERT_EQUAL (berth_string_to_duration (text, 0, MOST, &duration), 0);
      CU_ASSERT_EQUAL (duration, durations[i]);
    }
  berth_string_from_size (UINT64_C (512) << 20, text);
  CU_ASSERT_STRING_EQUAL (text, "512M");
  berth_string_from_duration (900000, text);
  CU_ASSERT_STRING_EQUAL (text, "15m");
  berth_string_from_duration (0, text);
  CU_ASSERT_STRING_EQUAL (text, "0s");
}

static void
test_booleans (void)
{
  bool value = false;

  CU_ASSERT_EQUAL (berth_string_to_boolean ("Yes", &value), 0);
  CU_ASSERT_TRUE (value);
  CU_ASSERT_EQUAL (berth_string_to_boolean ("off", &value), 0);
  CU_ASSERT_FALSE (value);
  CU_ASSERT_EQUAL (berth_string_to_boolean ("2", &value), -1);
  CU_ASSERT_EQUAL (berth_string_to_boolean ("", &value), -1);
}

static void
test_texts (void)
{
  BERTH_AUTO_FREE char *text = berth_string_format ("%s-%d", "a", 5);

  CU_ASSERT_STRING_EQUAL (text, "a-5");
  CU_ASSERT_TRUE (berth_string_starts_with ("abc", "ab"));
  CU_ASSERT_FALSE (berth_string_starts_with ("a", "ab"));
  CU_ASSERT_TRUE (berth_string_ends_with ("abc", "bc"));
  CU_ASSERT_FALSE (berth_string_ends_with ("c", "bc"));
  CU_ASSERT_TRUE (berth_string_equal (NULL, NULL));
  CU_ASSERT_FALSE (berth_string_equal (NULL, ""));
}

static void
test_utf8 (void)
{
  static const char *const good[] = { "", "a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf" };
  static const char *const bad[] = { "\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
                                     "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xe2\x82", "a\xc3" };
  size_t i;

  for (i = 0; i < sizeof good / sizeof good[0]; i++)
    CU_ASSERT_TRUE (berth_utf8_is_valid (good[i], strlen (good[i])));
  for (i = 0; i < sizeof bad / sizeof bad[0]; i++)
    CU_ASSERT_FALSE (berth_utf8_is_valid (bad[i], strlen (bad[i])));
  CU_ASSERT_TRUE (berth_utf8_is_valid ("a\0b", 3));
}

static void
test_ids (void)
{
  char first[32], second[32];

  CU_ASSERT_EQUAL (berth_id_generate ("sb-", 20, first, 24), 0);
  CU_ASSERT_EQUAL (berth_id_generate ("sb-", 20, second, sizeof second), 0);
  CU_ASSERT_STRING_NOT_EQUAL (first, second);
  CU_ASSERT_TRUE (berth_id_is_valid (first, "sb-", 20));
  CU_ASSERT_FALSE (berth_id_is_valid (first, "sb-", 19));
  CU_ASSERT_FALSE (berth_id_is_valid ("sb-aaaaaaaaaaaaaaaaaaa1", "sb-", 20));
  CU_ASSERT_FALSE (berth_id_is_valid ("sb-AAAAAAAAAAAAAAAAAAAA", "sb-", 20));
  CU_ASSERT_FALSE (berth_id_is_valid ("", "sb-", 20));
  CU_ASSERT_EQUAL (berth_id_generate ("sb-", 20, first, 23), -1);
  CU_ASSERT_EQUAL (errno, EINVAL);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "whole numbers", test_whole_numbers },
    { "what is no number is EINVAL", test_not_numbers },
    { "numbers out of range are ERANGE", test_number_ranges },
    { "thousandths", test_thousandths },
    { "sizes", test_sizes },
    { "durations", test_durations },
    { "sizes and durations read back as they were written", test_written_forms },
    { "booleans", test_booleans },
    { "texts", test_texts },
    { "UTF-8", test_utf8 },
    { "ids", test_ids },
    { NULL, NULL },
  };

  return berth_test_main ("string", tests);
}

#include "sdk/base/string.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

static int
fail (int error)
{
  errno = error;
  return -1;
}

/* Reads decimal digits; no sign, no space, at least one.  ERANGE beyond 64 bits. */
static int
take_digits (const char **text, uint64_t *value)
{
  const char *at = *text;
  bool overflow = false;
  uint64_t sum = 0;

  for (; *at >= '0' && *at <= '9'; at++)
    overflow |= __builtin_mul_overflow (sum, 10, &sum)
                || __builtin_add_overflow (sum, (uint64_t) (*at - '0'), &sum);
  if (at == *text)
    return fail (EINVAL);
  *text = at;
  *value = sum;
  return overflow ? fail (ERANGE) : 0;
}

/* "12", "12.5": *thousandths counts the fraction, of which more digits than three are refused. */
static int
take_decimal (const char **text, uint64_t *whole, uint64_t *thousandths)
{
  int weight = 100;

  *thousandths = 0;
  if (take_digits (text, whole) < 0)
    return -1;
  if (**text != '.')
    return 0;
  for (++*text; **text >= '0' && **text <= '9'; ++*text, weight /= 10)
    {
      if (weight == 0)
        return fail (EINVAL);
      *thousandths += (uint64_t) (**text - '0') * (uint64_t) weight;
    }
  return weight == 100 ? fail (EINVAL) : 0;
}

/* whole.thousandths * unit, the fraction rounded down. */
static int
scale (uint64_t whole, uint64_t thousandths, uint64_t unit, uint64_t *value)
{
  uint64_t fraction = unit / 1000 * thousandths + unit % 1000 * thousandths / 1000, product, sum;

  if (__builtin_mul_overflow (whole, unit, &product) || __builtin_add_overflow (product, fraction, &sum))
    return fail (ERANGE);
  *value = sum;
  return 0;
}

int
berth_string_to_uint64 (const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
  uint64_t number;
  int result = take_digits (&text, &number);

  if (result < 0 && errno == EINVAL)
    return -1;
  if (*text != '\0')
    return fail (EINVAL);
  if (result < 0 || number < least || number > most)
    return fail (ERANGE);
  *value = number;
  return 0;
}

int
berth_string_to_int64 (const char *text, int64_t least, int64_t most, int64_t *value)
{
  bool negative = *text == '-';
  uint64_t number;
  int64_t with_sign;

  if (berth_string_to_uint64 (text + negative, 0, (uint64_t) INT64_MAX + negative, &number) < 0)
    return -1;
  with_sign = negative ? (int64_t) (0 - number) : (int64_t) number;
  if (with_sign < least || with_sign > most)
    return fail (ERANGE);
  *value = with_sign;
  return 0;
}

int
berth_string_to_thousandths (const char *text, int64_t least, int64_t most, int64_t *value)
{
  uint64_t whole, thousandths, sum;

  if (take_decimal (&text, &whole, &thousandths) < 0)
    return -1;
  if (*text != '\0')
    return fail (EINVAL);
  if (scale (whole, thousandths, 1000, &sum) < 0)
    return -1;
  if (sum > INT64_MAX || (int64_t) sum < least || (int64_t) sum > most)
    return fail (ERANGE);
  *value = (int64_t) sum;
  return 0;
}

/* The unit at the end of a size, 0 when there is no such unit. */
static uint64_t
size_unit (const char *suffix)
{
  static const char letters[] = "KMGT";
  const char *letter;

  if (*suffix == '\0' || strcasecmp (suffix, "B") == 0)
    return 1;
  letter = strchr (letters, toupper ((unsigned char) *suffix));
  if (letter == NULL)
    return 0;
  if (suffix[1] != '\0' && strcasecmp (suffix + 1, "B") != 0 && strcasecmp (suffix + 1, "iB") != 0)
    return 0;
  return UINT64_C (1) << (10 * (letter - letters + 1));
}

int
berth_string_to_size (const char *text, uint64_t least, uint64_t most, uint64_t *bytes)
{
  uint64_t whole, thousandths, unit, sum;

  if (take_decimal (&text, &whole, &thousandths) < 0)
    return -1;
  unit = size_unit (text);
  if (unit == 0 || (unit == 1 && thousandths != 0))
    return fail (EINVAL);
  if (scale (whole, thousandths, unit, &sum) < 0)
    return -1;
  if (sum < least || sum > most)
    return fail (ERANGE);
  *bytes = sum;
  return 0;
}

struct duration_unit
{
  const char *name;
  uint64_t milliseconds;
};

/* "ms" stands before "m", which begins it. */
static const struct duration_unit duration_units[] = {
  { "ms", 1 }, { "d", 86400000 }, { "h", 3600000 }, { "m", 60000 }, { "s", 1000 },
};

/* The unit at *text, which must be smaller than `below`; 0 when there is none. */
static uint64_t
take_duration_unit (const char **text, uint64_t below)
{
  size_t i;

  for (i = 0; i < sizeof duration_units / sizeof duration_units[0]; i++)
    if (berth_string_starts_with (*text, duration_units[i].name))
      {
        *text += strlen (duration_units[i].name);
        return duration_units[i].milliseconds < below ? duration_units[i].milliseconds : 0;
      }
  return 0;
}

int
berth_string_to_duration (const char *text, int64_t least, int64_t most, int64_t *milliseconds)
{
  uint64_t whole, thousandths, part, sum = 0, unit = UINT64_MAX;
  bool first = true;

  do
    {
      if (take_decimal (&text, &whole, &thousandths) < 0)
        return -1;
      unit = first && *text == '\0' ? 1000 : take_duration_unit (&text, unit);
      if (unit == 0)
        return fail (EINVAL);
      if (scale (whole, thousandths, unit, &part) < 0)
        return -1;
      if (__builtin_add_overflow (sum, part, &sum))
        return fail (ERANGE);
      first = false;
    }
  while (*text != '\0');
  if (sum > INT64_MAX || (int64_t) sum < least || (int64_t) sum > most)
    return fail (ERANGE);
  *milliseconds = (int64_t) sum;
  return 0;
}

int
berth_string_to_boolean (const char *text, bool *value)
{
  static const char *const words[] = { "false", "true", "no", "yes", "off", "on", "0", "1" };
  size_t i;

  for (i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strcasecmp (text, words[i]) == 0)
      {
        *value = i % 2 == 1;
        return 0;
      }
  return fail (EINVAL);
}

void
berth_string_from_size (uint64_t bytes, char text[BERTH_STRING_NUMBER_SIZE])
{
  static const char units[] = { '\0', 'K', 'M', 'G', 'T', '\0' };
  size_t i = 0;

  while (bytes != 0 && bytes % 1024 == 0 && units[i + 1] != '\0')
    {
      bytes /= 1024;
      i++;
    }
  snprintf (text, BERTH_STRING_NUMBER_SIZE, units[i] != '\0' ? "%llu%c" : "%llu",
            (unsigned long long) bytes, units[i]);
}

void
berth_string_from_duration (int64_t milliseconds, char text[BERTH_STRING_NUMBER_SIZE])
{
  static const struct duration_unit order[] = {
    { "d", 86400000 }, { "h", 3600000 }, { "m", 60000 }, { "s", 1000 }, { "ms", 1 },
  };
  size_t i = 0;

  while (i < 4 && (milliseconds == 0 || (uint64_t) milliseconds % order[i].milliseconds != 0))
    i++;
  if (milliseconds == 0)
    i = 3;
  snprintf (text, BERTH_STRING_NUMBER_SIZE, "%lld%s",
            (long long) (milliseconds / (int64_t) order[i].milliseconds), order[i].name);
}

char *
berth_string_vformat (const char *format, va_list arguments)
{
  char *text = NULL;

  if (vasprintf (&text, format, arguments) < 0)
    {
      errno = ENOMEM;
      return NULL;
    }
  return text;
}

char *
berth_string_format (const char *format, ...)
{
  va_list arguments;
  char *text;

  va_start (arguments, format);
  text = berth_string_vformat (format, arguments);
  va_end (arguments);
  return text;
}

bool
berth_string_starts_with (const char *text, const char *prefix)
{
  return strncmp (text, prefix, strlen (prefix)) == 0;
}

bool
berth_string_ends_with (const char *text, const char *suffix)
{
  size_t length = strlen (text), tail = strlen (suffix);

  return length >= tail && strcmp (text + length - tail, suffix) == 0;
}

bool
berth_string_equal (const char *left, const char *right)
{
  if (left == NULL || right == NULL)
    return left == right;
  return strcmp (left, right) == 0;
}

/* The length of the well-formed character at `bytes`, 0 when there is none: no overlong form,
 * no surrogate, nothing above U+10FFFF. */
static size_t
utf8_length (const unsigned char *bytes, size_t size)
{
  static const unsigned int least[] = { 0, 0, 0x80, 0x800, 0x10000 };
  size_t length = bytes[0] < 0xe0 ? 2 : bytes[0] < 0xf0 ? 3 : 4, i;
  unsigned int point;

  if (bytes[0] < 0x80)
    return 1;
  if (bytes[0] < 0xc2 || bytes[0] > 0xf4 || length > size)
    return 0;
  point = bytes[0] & (0x7fU >> length);
  for (i = 1; i < length; i++)
    {
      if ((bytes[i] & 0xc0) != 0x80)
        return 0;
      point = point << 6 | (bytes[i] & 0x3fU);
    }
  return point < least[length] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000) ? 0 : length;
}

bool
berth_utf8_is_valid (const void *bytes, size_t size)
{
  const unsigned char *at = bytes;
  size_t length;

  for (; size > 0; at += length, size -= length)
    {
      length = utf8_length (at, size);
      if (length == 0)
        return false;
    }
  return true;
}

static const char base32[] = "abcdefghijklmnopqrstuvwxyz234567";

int
berth_id_generate (const char *prefix, size_t count, char *id, size_t id_size)
{
  size_t length = strlen (prefix), i;
  unsigned char random[64];

  if (count > sizeof random || id_size <= length + count)
    return fail (EINVAL);
  /* Up to 256 bytes are never interrupted nor short once the pool is ready. */
  if (getrandom (random, count, 0) != (ssize_t) count)
    return -1;
  memcpy (id, prefix, length);
  for (i = 0; i < count; i++)
    id[length + i] = base32[random[i] & 31];
  id[length + count] = '\0';
  return 0;
}

bool
berth_id_is_valid (const char *id, const char *prefix, size_t count)
{
  size_t length = strlen (prefix);

  return berth_string_starts_with (id, prefix) && strlen (id) == length + count
         && strspn (id + length, base32) == count;
}

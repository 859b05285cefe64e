#include "sdk/base/jsonscan.h"

#include <stdint.h>
#include <string.h>

#include "sdk/base/json.h"
#include "sdk/base/string.h"

struct cursor
{
  const char *text;
  size_t size;
  size_t at;
  size_t depth;
  bool nul_in_string; /* the last string had a \u0000 */
};

static const char *
scan_string (struct cursor *cursor)
{
  cursor->nul_in_string = false;
  for (cursor->at++; cursor->at < cursor->size; cursor->at++)
    {
      unsigned char byte = (unsigned char) cursor->text[cursor->at];

      if (byte < 0x20)
        return "control character in a string";
      if (byte == '"')
        {
          cursor->at++;
          return NULL;
        }
      if (byte != '\\')
        continue;
      if (cursor->size - cursor->at > 5 && memcmp (cursor->text + cursor->at, "\\u0000", 6) == 0)
        cursor->nul_in_string = true;
      cursor->at++;
    }
  return "string without an end";
}

static bool
is_word_byte (char byte)
{
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9')
         || byte == '-' || byte == '+' || byte == '.' || byte == '_';
}

static size_t
skip_digits (const char *word, size_t length, size_t at)
{
  while (at < length && word[at] >= '0' && word[at] <= '9')
    at++;
  return at;
}

/* -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][-+]?[0-9]+)?  *whole: without fraction and exponent. */
static bool
is_number (const char *word, size_t length, bool *whole)
{
  size_t at = word[0] == '-' ? 1 : 0, end = skip_digits (word, length, at);

  if (end == at || (word[at] == '0' && end > at + 1))
    return false;
  *whole = end == length;
  if (end < length && word[end] == '.')
    {
      at = end + 1;
      end = skip_digits (word, length, at);
      if (end == at)
        return false;
    }
  if (end < length && (word[end] == 'e' || word[end] == 'E'))
    {
      at = end + 1;
      if (at < length && (word[at] == '+' || word[at] == '-'))
        at++;
      end = skip_digits (word, length, at);
      if (end == at)
        return false;
    }
  return end == length;
}

/* json-c takes "1.", NaN and Infinity, and brings whole numbers that are too large to the nearest
 * it has. */
static const char *
check_number (const char *word, size_t length)
{
  char digits[32];
  int64_t number;
  bool whole;

  if (!is_number (word, length, &whole))
    return "malformed number";
  if (!whole)
    return NULL;
  if (length >= sizeof digits)
    return "number out of range";
  memcpy (digits, word, length);
  digits[length] = '\0';
  return berth_string_to_int64 (digits, INT64_MIN, INT64_MAX, &number) < 0 ? "number out of range" : NULL;
}

/* true, false, null, or a number. */
static const char *
scan_word (struct cursor *cursor)
{
  const char *word = cursor->text + cursor->at, *problem = NULL;
  size_t length = 0;

  while (cursor->at + length < cursor->size && is_word_byte (word[length]))
    length++;
  if (length == 0)
    return "unexpected character";
  if (word[0] == '-' || (word[0] >= '0' && word[0] <= '9'))
    problem = check_number (word, length);
  else if (!(length == 4 && (memcmp (word, "true", 4) == 0 || memcmp (word, "null", 4) == 0))
           && !(length == 5 && memcmp (word, "false", 5) == 0))
    problem = "unknown word";
  if (problem == NULL)
    cursor->at += length;
  return problem;
}

static const char *
scan_token (struct cursor *cursor, struct berth_json_scan *scan)
{
  switch (cursor->text[cursor->at])
    {
    case '{':
    case '[':
      if (++cursor->depth > BERTH_JSON_DEPTH)
        return "nested too deeply";
      break;
    case '}':
    case ']':
      if (cursor->depth-- == 0)
        return "unexpected end of an array or object";
      break;
    case ':':
      if (cursor->nul_in_string)
        return "NUL in a key";
      scan->members++;
      break;
    case ',':
    case ' ':
    case '\t':
    case '\r':
    case '\n':
      break;
    case '"':
      return scan_string (cursor);
    default:
      return scan_word (cursor);
    }
  cursor->at++;
  return NULL;
}

bool
berth_json_scan (const char *text, size_t size, struct berth_json_scan *scan)
{
  struct cursor cursor = { .text = text, .size = size };

  *scan = (struct berth_json_scan){ 0 };
  while (cursor.at < size && scan->problem == NULL)
    scan->problem = scan_token (&cursor, scan);
  scan->at = cursor.at;
  return scan->problem == NULL;
}

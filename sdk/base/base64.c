#include "sdk/base/base64.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int
berth_base64_encode (const void *bytes, size_t size, struct berth_buffer *text)
{
  const unsigned char *at = bytes;

  for (; size > 0; at += 3, size = size > 3 ? size - 3 : 0)
    {
      unsigned int second = size > 1 ? at[1] : 0, third = size > 2 ? at[2] : 0;
      unsigned int group = (unsigned int) at[0] << 16 | second << 8 | third;
      char four[4] = { alphabet[group >> 18], alphabet[group >> 12 & 63],
                       size > 1 ? alphabet[group >> 6 & 63] : '=', size > 2 ? alphabet[group & 63] : '=' };

      if (berth_buffer_append (text, four, 4) < 0)
        return -1;
    }
  return berth_buffer_reserve (text, 0);
}

/* The six bits of a character, 64 for none. */
static unsigned int
six_bits (char character)
{
  const char *found = character != '\0' ? strchr (alphabet, character) : NULL;

  return found != NULL ? (unsigned int) (found - alphabet) : 64;
}

/* Decodes four characters into up to three bytes; 0 when they are not base64.  Bits that no byte
 * takes must be zero, so that each run of bytes has one spelling. */
static size_t
decode_group (const char *four, bool last, unsigned char three[3])
{
  size_t padding = last && four[3] == '=' ? (four[2] == '=' ? 2 : 1) : 0, i;
  unsigned int group = 0;

  for (i = 0; i < 4; i++)
    {
      unsigned int bits = i < 4 - padding ? six_bits (four[i]) : 0;

      if (bits == 64)
        return 0;
      group = group << 6 | bits;
    }
  if ((group & ((1U << (8 * padding)) - 1)) != 0)
    return 0;
  three[0] = (unsigned char) (group >> 16);
  three[1] = (unsigned char) (group >> 8);
  three[2] = (unsigned char) group;
  return 3 - padding;
}

int
berth_base64_decode (const char *text, size_t size, struct berth_buffer *bytes)
{
  unsigned char three[3];
  size_t at, count;

  for (at = 0; at < size; at += 4)
    {
      count = size - at >= 4 ? decode_group (text + at, at + 4 == size, three) : 0;
      if (count == 0)
        {
          errno = EINVAL;
          return -1;
        }
      if (berth_buffer_append (bytes, three, count) < 0)
        return -1;
    }
  return berth_buffer_reserve (bytes, 0);
}

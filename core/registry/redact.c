#include "core/registry/redact.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/base/base64.h"

struct berth_spelling
{
  struct berth_spelling *next;
  size_t size;
  char bytes[];
};

void
berth_redactor_init (struct berth_redactor *redactor)
{
  pthread_mutex_init (&redactor->mutex, NULL);
  redactor->spellings = NULL;
}

void
berth_redactor_clear (struct berth_redactor *redactor)
{
  struct berth_spelling *next;

  for (struct berth_spelling *at = redactor->spellings; at != NULL; at = next)
    {
      next = at->next;
      explicit_bzero (at->bytes, at->size);
      free (at);
    }
  redactor->spellings = NULL;
  pthread_mutex_destroy (&redactor->mutex);
}

static int
insert_locked (struct berth_redactor *redactor, const void *bytes, size_t size)
{
  struct berth_spelling **at = &redactor->spellings, *made;

  if (size < BERTH_REDACT_MIN)
    return 0;
  while (*at != NULL && (*at)->size > size)
    at = &(*at)->next;
  for (struct berth_spelling *same = *at; same != NULL && same->size == size; same = same->next)
    if (memcmp (same->bytes, bytes, size) == 0)
      return 0;
  made = malloc (sizeof *made + size);
  if (made == NULL)
    return -1;
  made->size = size;
  memcpy (made->bytes, bytes, size);
  made->next = *at;
  *at = made;
  return 0;
}

/* Inserts what a speller wrote, and wipes it. */
static int
insert_text_locked (struct berth_redactor *redactor, struct berth_buffer *text)
{
  int result = text->error != 0 ? -1 : insert_locked (redactor, text->data, text->size);

  berth_buffer_erase (text);
  return result;
}

/* The UTF-8 character at BYTES as a code point; 0 when there is none.  *LENGTH is its size. */
static uint32_t
take_character (const unsigned char *bytes, size_t size, size_t *length)
{
  uint32_t point;

  *length = bytes[0] < 0x80 ? 1 : bytes[0] < 0xe0 ? 2 : bytes[0] < 0xf0 ? 3 : 4;
  if (*length > size || !(bytes[0] < 0x80 || (bytes[0] >= 0xc2 && bytes[0] < 0xf5)))
    {
      *length = 1;
      return 0;
    }
  point = *length == 1 ? bytes[0] : bytes[0] & (0x7fU >> *length);
  for (size_t i = 1; i < *length; i++)
    point = point << 6 | (bytes[i] & 0x3fU);
  return point;
}

static void
append_unicode_escape (struct berth_buffer *text, uint32_t point)
{
  if (point >= 0x10000)
    berth_buffer_appendf (text, "\\u%04x\\u%04x", 0xd800 + ((point - 0x10000) >> 10), 0xdc00 + ((point - 0x10000) & 0x3ff));
  else
    berth_buffer_appendf (text, "\\u%04x", point);
}

/* As a JSON writer puts it into a string: they differ in the slash and in what is not ASCII. */
static void
spell_json (struct berth_buffer *text, const unsigned char *bytes, size_t size, int escape_slash, int ascii_only)
{
  static const char special[] = "\"\\\b\f\n\r\t";
  static const char letters[] = "\"\\bfnrt";
  size_t length;

  for (size_t i = 0; i < size; i += length)
    {
      uint32_t point = take_character (bytes + i, size - i, &length);
      const char *found = bytes[i] != 0 ? strchr (special, bytes[i]) : NULL;

      if (found != NULL)
        berth_buffer_appendf (text, "\\%c", letters[found - special]);
      else if (bytes[i] == '/' && escape_slash)
        berth_buffer_append_string (text, "\\/");
      else if (bytes[i] < 0x20 || (ascii_only && point >= 0x80))
        append_unicode_escape (text, point);
      else
        berth_buffer_append (text, bytes + i, length);
    }
}

/* The characters that the secret alone decides when it begins SKIPPED bytes into a group of
 * three; those at the edges depend on its neighbours. */
static void
spell_base64 (struct berth_buffer *text, const void *bytes, size_t size, size_t skipped, int for_urls)
{
  size_t first = (skipped * 8 + 5) / 6, end = (skipped + size) * 8 / 6;
  struct berth_buffer padded = { 0 };

  berth_buffer_append (&padded, "\0\0", skipped);
  berth_buffer_append (&padded, bytes, size);
  if (padded.error != 0 || berth_base64_encode (padded.data, padded.size, text) < 0)
    text->error = ENOMEM;
  else
    {
      text->size = end;
      berth_buffer_consume (text, first);
      for (size_t i = 0; for_urls && i < text->size; i++)
        text->data[i] = text->data[i] == '+' ? '-' : text->data[i] == '/' ? '_' : text->data[i];
    }
  berth_buffer_erase (&padded);
}

#define URL_LOWER 1u
#define URL_PLUS 2u
#define URL_SLASH 4u
static void
spell_url (struct berth_buffer *text, const unsigned char *bytes, size_t size, unsigned int how)
{
  static const char unreserved[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";

  for (size_t i = 0; i < size; i++)
    if ((bytes[i] != 0 && strchr (unreserved, bytes[i]) != NULL) || ((how & URL_SLASH) && bytes[i] == '/'))
      berth_buffer_append_byte (text, bytes[i]);
    else if ((how & URL_PLUS) && bytes[i] == ' ')
      berth_buffer_append_byte (text, '+');
    else
      berth_buffer_appendf (text, how & URL_LOWER ? "%%%02x" : "%%%02X", bytes[i]);
}

/* As the agent quotes what it names in a message. */
static void
spell_quoted (struct berth_buffer *text, const unsigned char *bytes, size_t size)
{
  for (size_t i = 0; i < size; i++)
    if (bytes[i] >= 0x20 && bytes[i] < 0x7f && bytes[i] != '\\')
      berth_buffer_append_byte (text, bytes[i]);
    else
      berth_buffer_appendf (text, "\\x%02x", bytes[i]);
}

static int
add_locked (struct berth_redactor *redactor, const unsigned char *bytes, size_t size)
{
  struct berth_buffer text = { 0 };
  int result = insert_locked (redactor, bytes, size);

  spell_quoted (&text, bytes, size);
  result |= insert_text_locked (redactor, &text);
  for (unsigned int i = 0; i < 4; i++)
    {
      spell_json (&text, bytes, size, i & 1, i & 2);
      result |= insert_text_locked (redactor, &text);
    }
  for (unsigned int i = 0; i < 6; i++)
    {
      spell_base64 (&text, bytes, size, i / 2, i % 2);
      result |= insert_text_locked (redactor, &text);
    }
  for (unsigned int i = 0; i < 8; i++)
    {
      spell_url (&text, bytes, size, i);
      result |= insert_text_locked (redactor, &text);
    }
  return result;
}

int
berth_redactor_add (struct berth_redactor *redactor, const void *bytes, size_t size)
{
  int result;

  if (size < BERTH_REDACT_MIN)
    {
      errno = EINVAL;
      return -1;
    }
  pthread_mutex_lock (&redactor->mutex);
  result = add_locked (redactor, bytes, size);
  pthread_mutex_unlock (&redactor->mutex);
  if (result < 0)
    errno = ENOMEM;
  return result;
}

/* Cuts every occurrence of one spelling; TEXT shrinks or grows in a copy. */
static void
replace (struct berth_buffer *text, const struct berth_spelling *spelling)
{
  struct berth_buffer result = { 0 };
  const char *at = text->data, *end = text->data + text->size, *found;

  if (memmem (at, text->size, spelling->bytes, spelling->size) == NULL)
    return;
  while ((found = memmem (at, (size_t) (end - at), spelling->bytes, spelling->size)) != NULL)
    {
      berth_buffer_append (&result, at, (size_t) (found - at));
      berth_buffer_append_string (&result, BERTH_REDACTED);
      at = found + spelling->size;
    }
  berth_buffer_append (&result, at, (size_t) (end - at));
  berth_buffer_erase (text);
  if (result.error == 0)
    *text = result;
  else
    berth_buffer_free (&result);
}

void
berth_redactor_apply (struct berth_redactor *redactor, struct berth_buffer *text)
{
  pthread_mutex_lock (&redactor->mutex);
  for (const struct berth_spelling *at = redactor->spellings; at != NULL && text->size > 0; at = at->next)
    replace (text, at);
  pthread_mutex_unlock (&redactor->mutex);
}

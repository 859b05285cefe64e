/* buffer.h - a growing run of bytes. */
#ifndef BERTH_BASE_BUFFER_H
#define BERTH_BASE_BUFFER_H

#include <stdarg.h>
#include <stddef.h>

#include "sdk/base/cleanup.h"

/* All zero is an empty buffer.  Once anything was reserved, data[size] is a NUL byte that size
 * does not count.  The first failure stays in `error` (ENOMEM, or EMSGSIZE beyond `limit`) and
 * every later append fails with it, so a long chain of appends is checked once, at its end. */
struct berth_buffer
{
  char *data;
  size_t size;
  size_t capacity;
  size_t limit; /* most bytes it may hold; 0: no limit */
  int error;
};

#define BERTH_AUTO_BUFFER BERTH_CLEANUP (berth_buffer_free)

/* All of these return 0, or -1 with errno; a failed append adds nothing. */
int berth_buffer_reserve (struct berth_buffer *buffer, size_t extra);
int berth_buffer_append (struct berth_buffer *buffer, const void *bytes, size_t size);
int berth_buffer_append_byte (struct berth_buffer *buffer, unsigned char byte);
int berth_buffer_append_string (struct berth_buffer *buffer, const char *text);
int berth_buffer_appendf (struct berth_buffer *buffer, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));
int berth_buffer_vappendf (struct berth_buffer *buffer, const char *format, va_list arguments)
    __attribute__ ((format (printf, 2, 0)));

/* Drops the first `size` bytes: what a parser has taken. */
void berth_buffer_consume (struct berth_buffer *buffer, size_t size);

/* Empties it, error too, and keeps its memory. */
void berth_buffer_clear (struct berth_buffer *buffer);

/* The content as a string, "" when there is none.  Valid until the next change. */
const char *berth_buffer_string (const struct berth_buffer *buffer);

/* The content as a string that the caller frees; NULL with errno when the buffer has failed.
 * The buffer is empty afterwards. */
char *berth_buffer_steal (struct berth_buffer *buffer);

void berth_buffer_free (struct berth_buffer *buffer);

/* The same for secrets: no copy of the content is left in memory that this buffer still holds.
 * Reserve the whole size first, since growing leaves copies behind. */
void berth_buffer_erase (struct berth_buffer *buffer);

#endif

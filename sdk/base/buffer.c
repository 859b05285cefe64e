#include "sdk/base/buffer.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
fail (struct berth_buffer *buffer, int error)
{
  buffer->error = error;
  errno = error;
  return -1;
}

int
berth_buffer_reserve (struct berth_buffer *buffer, size_t extra)
{
  size_t need, capacity;
  char *data;

  if (buffer->error != 0)
    return fail (buffer, buffer->error);
  if (extra > SIZE_MAX / 4 - buffer->size)
    return fail (buffer, ENOMEM);
  need = buffer->size + extra;
  if (buffer->limit != 0 && need > buffer->limit)
    return fail (buffer, EMSGSIZE);
  if (need < buffer->capacity)
    return 0;
  capacity = buffer->capacity < 64 ? 64 : buffer->capacity * 2;
  if (capacity < need + 1)
    capacity = need + 1;
  data = realloc (buffer->data, capacity);
  if (data == NULL)
    return fail (buffer, ENOMEM);
  data[buffer->size] = '\0';
  buffer->data = data;
  buffer->capacity = capacity;
  return 0;
}

int
berth_buffer_append (struct berth_buffer *buffer, const void *bytes, size_t size)
{
  if (berth_buffer_reserve (buffer, size) < 0)
    return -1;
  if (size > 0)
    memcpy (buffer->data + buffer->size, bytes, size);
  buffer->size += size;
  buffer->data[buffer->size] = '\0';
  return 0;
}

int
berth_buffer_append_byte (struct berth_buffer *buffer, unsigned char byte)
{
  return berth_buffer_append (buffer, &byte, 1);
}

int
berth_buffer_append_string (struct berth_buffer *buffer, const char *text)
{
  return berth_buffer_append (buffer, text, strlen (text));
}

int
berth_buffer_vappendf (struct berth_buffer *buffer, const char *format, va_list arguments)
{
  va_list again;
  int length;

  va_copy (again, arguments);
  length = vsnprintf (NULL, 0, format, again);
  va_end (again);
  if (length < 0)
    return fail (buffer, errno);
  if (berth_buffer_reserve (buffer, (size_t) length) < 0)
    return -1;
  vsnprintf (buffer->data + buffer->size, (size_t) length + 1, format, arguments);
  buffer->size += (size_t) length;
  return 0;
}

int
berth_buffer_appendf (struct berth_buffer *buffer, const char *format, ...)
{
  va_list arguments;
  int result;

  va_start (arguments, format);
  result = berth_buffer_vappendf (buffer, format, arguments);
  va_end (arguments);
  return result;
}

void
berth_buffer_consume (struct berth_buffer *buffer, size_t size)
{
  if (size == 0 || buffer->data == NULL)
    return;
  if (size > buffer->size)
    size = buffer->size;
  buffer->size -= size;
  memmove (buffer->data, buffer->data + size, buffer->size + 1);
}

void
berth_buffer_clear (struct berth_buffer *buffer)
{
  buffer->size = 0;
  buffer->error = 0;
  if (buffer->data != NULL)
    buffer->data[0] = '\0';
}

const char *
berth_buffer_string (const struct berth_buffer *buffer)
{
  return buffer->data != NULL ? buffer->data : "";
}

char *
berth_buffer_steal (struct berth_buffer *buffer)
{
  char *data;

  if (berth_buffer_reserve (buffer, 0) < 0)
    return NULL;
  data = buffer->data;
  *buffer = (struct berth_buffer){ .limit = buffer->limit };
  return data;
}

void
berth_buffer_free (struct berth_buffer *buffer)
{
  free (buffer->data);
  *buffer = (struct berth_buffer){ .limit = buffer->limit };
}

void
berth_buffer_erase (struct berth_buffer *buffer)
{
  if (buffer->data != NULL)
    explicit_bzero (buffer->data, buffer->capacity);
  berth_buffer_free (buffer);
}

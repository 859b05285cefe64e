#include "sdk/agent/wire.h"

#include <string.h>

#include "sdk/base/bytes.h"

void
wire_put_header (void *at, enum wire_frame type, size_t size)
{
  unsigned char *bytes = at;

  berth_put_u32 (bytes, (uint32_t) size);
  berth_put_u16 (bytes + 4, (uint16_t) type);
  berth_put_u16 (bytes + 6, 0);
}

size_t
wire_begin (struct berth_buffer *out, enum wire_frame type)
{
  unsigned char header[WIRE_HEADER_SIZE];
  size_t frame = out->size;

  wire_put_header (header, type, 0);
  berth_buffer_append (out, header, sizeof header);
  return frame;
}

void
wire_end (struct berth_buffer *out, size_t frame)
{
  if (out->error == 0)
    berth_put_u32 (out->data + frame, (uint32_t) (out->size - frame - WIRE_HEADER_SIZE));
}

void
wire_add (struct berth_buffer *out, enum wire_tag tag, const void *bytes, size_t size)
{
  unsigned char head[WIRE_FIELD_SIZE];

  berth_put_u16 (head, (uint16_t) tag);
  berth_put_u16 (head + 2, 0);
  berth_put_u32 (head + 4, (uint32_t) size);
  berth_buffer_append (out, head, sizeof head);
  berth_buffer_append (out, bytes, size);
}

void
wire_add_number (struct berth_buffer *out, enum wire_tag tag, uint64_t number)
{
  unsigned char bytes[8];

  berth_put_u64 (bytes, number);
  wire_add (out, tag, bytes, sizeof bytes);
}

void
wire_add_text (struct berth_buffer *out, enum wire_tag tag, const char *text)
{
  if (text != NULL)
    wire_add (out, tag, text, strlen (text) + 1);
}

void
wire_add_hello (struct berth_buffer *out, const void *token, size_t token_size)
{
  unsigned char hello[WIRE_HELLO_SIZE];
  size_t frame = wire_begin (out, WIRE_FRAME_HELLO);

  berth_put_u32 (hello, WIRE_MAGIC);
  berth_put_u16 (hello + 4, WIRE_MAJOR);
  berth_put_u16 (hello + 6, WIRE_MINOR);
  berth_put_u64 (hello + 8, WIRE_FEATURES);
  berth_buffer_append (out, hello, sizeof hello);
  if (token_size > 0)
    berth_buffer_append (out, token, token_size);
  wire_end (out, frame);
}

void
wire_add_frame (struct berth_buffer *out, enum wire_frame type, const void *payload, size_t size)
{
  size_t frame = wire_begin (out, type);

  berth_buffer_append (out, payload, size);
  wire_end (out, frame);
}

int
wire_get_header (const void *at, uint32_t limit, struct wire_header *header)
{
  const unsigned char *bytes = at;

  header->size = berth_get_u32 (bytes);
  header->type = berth_get_u16 (bytes + 4);
  if (berth_get_u16 (bytes + 6) != 0 || header->type == 0)
    return -1;
  return header->size <= limit ? 0 : -1;
}

int
wire_get_hello (const void *payload, size_t size, struct wire_hello *hello)
{
  const unsigned char *bytes = payload;

  if (size < WIRE_HELLO_SIZE || size > WIRE_HELLO_SIZE + WIRE_TOKEN_MAXIMUM
      || berth_get_u32 (bytes) != WIRE_MAGIC)
    return -1;
  hello->major = berth_get_u16 (bytes + 4);
  hello->minor = berth_get_u16 (bytes + 6);
  hello->features = berth_get_u64 (bytes + 8);
  hello->token = bytes + WIRE_HELLO_SIZE;
  hello->token_size = size - WIRE_HELLO_SIZE;
  return 0;
}

int
wire_next (struct wire_reader *reader, struct wire_field *field)
{
  size_t left = (size_t) (reader->end - reader->next);

  if (left == 0)
    return 0;
  if (left < WIRE_FIELD_SIZE)
    return -1;
  field->tag = berth_get_u16 (reader->next);
  field->size = berth_get_u32 (reader->next + 4);
  field->bytes = reader->next + WIRE_FIELD_SIZE;
  if (berth_get_u16 (reader->next + 2) != 0 || field->size > left - WIRE_FIELD_SIZE)
    return -1;
  reader->next = field->bytes + field->size;
  return 1;
}

int
wire_number (const struct wire_field *field, uint64_t *number)
{
  if (field->size != 8)
    return -1;
  *number = berth_get_u64 (field->bytes);
  return 0;
}

char *
wire_text (const struct wire_field *field)
{
  if (field->size == 0 || memchr (field->bytes, 0, field->size) != field->bytes + field->size - 1)
    return NULL;
  return (char *) field->bytes;
}

/* wire.h - frames and fields as bytes; shared by the agent and its client. */
#ifndef BERTH_SDK_AGENT_WIRE_H
#define BERTH_SDK_AGENT_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sdk/agent/protocol.h"
#include "sdk/base/buffer.h"

/* ---- writing: any number of frames into one buffer; look at buffer->error once, at the end ---- */

/* Opens a frame; returns where it begins, for wire_end. */
size_t wire_begin (struct berth_buffer *out, enum wire_frame type);
void wire_end (struct berth_buffer *out, size_t frame);

void wire_add (struct berth_buffer *out, enum wire_tag tag, const void *bytes, size_t size);
void wire_add_number (struct berth_buffer *out, enum wire_tag tag, uint64_t number);
/* Nothing when TEXT is NULL. */
void wire_add_text (struct berth_buffer *out, enum wire_tag tag, const char *text);

/* TOKEN is the client's; the agent sends none. */
void wire_add_hello (struct berth_buffer *out, const void *token, size_t token_size);
void wire_add_frame (struct berth_buffer *out, enum wire_frame type, const void *payload, size_t size);
void wire_put_header (void *at, enum wire_frame type, size_t size);

/* ---- reading ---- */
struct wire_header
{
  uint32_t size;
  uint32_t type;
};

/* -1 when it is no header, or one of more than LIMIT bytes. */
int wire_get_header (const void *at, uint32_t limit, struct wire_header *header);

struct wire_hello
{
  uint16_t major;
  uint16_t minor;
  uint64_t features;
  const unsigned char *token;
  size_t token_size;
};

int wire_get_hello (const void *payload, size_t size, struct wire_hello *hello);

struct wire_reader
{
  unsigned char *next; /* the payload is the reader's to change */
  unsigned char *end;
};

struct wire_field
{
  uint32_t tag;
  uint32_t size;
  unsigned char *bytes;
};

/* 1, 0 at the end, -1 when the rest is no field. */
int wire_next (struct wire_reader *reader, struct wire_field *field);

/* -1 when the field is not a number. */
int wire_number (const struct wire_field *field, uint64_t *number);

/* In place; NULL when the field is not one text. */
char *wire_text (const struct wire_field *field);

#endif

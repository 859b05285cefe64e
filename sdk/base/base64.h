/* base64.h - bytes as text. */
#ifndef BERTH_BASE_BASE64_H
#define BERTH_BASE_BASE64_H

#include <stddef.h>

#include "sdk/base/buffer.h"

/* Base64 with padding; decoding takes nothing else.  0, or -1 with errno. */
int berth_base64_encode (const void *bytes, size_t size, struct berth_buffer *text);
int berth_base64_decode (const char *text, size_t size, struct berth_buffer *bytes);

#endif

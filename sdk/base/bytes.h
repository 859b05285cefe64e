/* bytes.h - whole numbers in a frame, most significant byte first. */
#ifndef BERTH_BASE_BYTES_H
#define BERTH_BASE_BYTES_H

#include <stdint.h>

static inline void
berth_put_u16 (void *to, uint16_t value)
{
  unsigned char *bytes = to;

  bytes[0] = (unsigned char) (value >> 8);
  bytes[1] = (unsigned char) value;
}

static inline void
berth_put_u32 (void *to, uint32_t value)
{
  unsigned char *bytes = to;

  berth_put_u16 (bytes, (uint16_t) (value >> 16));
  berth_put_u16 (bytes + 2, (uint16_t) value);
}

static inline void
berth_put_u64 (void *to, uint64_t value)
{
  unsigned char *bytes = to;

  berth_put_u32 (bytes, (uint32_t) (value >> 32));
  berth_put_u32 (bytes + 4, (uint32_t) value);
}

static inline uint16_t
berth_get_u16 (const void *from)
{
  const unsigned char *bytes = from;

  return (uint16_t) (bytes[0] << 8 | bytes[1]);
}

static inline uint32_t
berth_get_u32 (const void *from)
{
  const unsigned char *bytes = from;

  return (uint32_t) berth_get_u16 (bytes) << 16 | berth_get_u16 (bytes + 2);
}

static inline uint64_t
berth_get_u64 (const void *from)
{
  const unsigned char *bytes = from;

  return (uint64_t) berth_get_u32 (bytes) << 32 | berth_get_u32 (bytes + 4);
}

#endif

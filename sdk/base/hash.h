/* hash.h - a number for bytes, the same in every process (FNV-1a): it names things, and protects
 * nothing. */
#ifndef BERTH_BASE_HASH_H
#define BERTH_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define BERTH_HASH_SEED UINT64_C (0xcbf29ce484222325)

/* Of SEED, which may be the hash of what stands before, and BYTES. */
static inline uint64_t
berth_hash (uint64_t seed, const void *bytes, size_t size)
{
  const unsigned char *byte = bytes;

  for (size_t i = 0; i < size; i++)
    seed = (seed ^ byte[i]) * UINT64_C (0x100000001b3);
  return seed;
}

#endif

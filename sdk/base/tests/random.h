/* random.h - numbers that are the same in each run. */
#ifndef BERTH_TEST_RANDOM_H
#define BERTH_TEST_RANDOM_H

#include <stdint.h>

/* The next one; STATE is never 0. */
static inline uint32_t
berth_test_random (uint32_t *state)
{
  *state ^= *state << 13;
  *state ^= *state >> 17;
  *state ^= *state << 5;
  return *state;
}

#endif

/* Lists no more than a thousand entries. */
#include "conformance/variants/listed.h"

static bool
is_told (const struct listed *listed, const char *name)
{
  (void) name;
  return listed->count < 1000;
}

LISTED ("list-cut", is_told)

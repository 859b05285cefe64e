/* Lists no name that has a newline in it. */
#include "conformance/variants/listed.h"

static bool
is_told (const struct listed *listed, const char *name)
{
  (void) listed;
  return strchr (name, '\n') == NULL;
}

LISTED ("lines-hidden", is_told)

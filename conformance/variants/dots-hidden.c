/* Lists no dotfiles. */
#include "conformance/variants/listed.h"

static bool
is_told (const struct listed *listed, const char *name)
{
  (void) listed;
  return name[0] != '.';
}

LISTED ("dots-hidden", is_told)

#include "config.h"

#include <berth/berth.h>

const char *
berth_version (void)
{
  return PACKAGE_VERSION;
}

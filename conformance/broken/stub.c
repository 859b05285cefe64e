/* A library for backends that need one which is then not there, or is a second Berth. */
#include <berth/abi.h>

BERTH_EXPORT int berth_test_stub (void);
int
berth_test_stub (void)
{
  return -1;
}

BERTH_EXPORT const char *berth_version (void);
const char *
berth_version (void)
{
  return "0";
}

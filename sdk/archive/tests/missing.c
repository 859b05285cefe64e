/* A machine without libarchive: this program's copy of the code names a library that is not there. */
#include <string.h>

#include "sdk/agentlink/tests/support.h"
#include "sdk/archive/library.h"
#include "sdk/base/tests/runner.h"

static void
test_missing (void)
{
  struct recorded recorded;

  recorded_start (&recorded);
  CU_ASSERT_PTR_NULL (berth_libarchive (&recorded.call));
  CU_ASSERT_EQUAL (recorded.code, BERTH_E_CONFIGURATION);
  CU_ASSERT_PTR_NOT_NULL (strstr (recorded.message, "libberth-not-there.so.0"));
  CU_ASSERT_PTR_NOT_NULL (strstr (recorded.hint, "install libarchive"));
}

static const struct berth_test tests[] = {
  { "a missing libarchive says what to install", test_missing },
  { NULL, NULL },
};

int
main (void)
{
  return berth_test_main ("archive library", tests);
}

/* Never comes back from a listing, whatever the call's deadline says. */
#include <unistd.h>

#include "conformance/variants/variant.h"

static int
list (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_read *how,
      const struct berth_entry_sink *sink)
{
  (void) call;
  (void) handle;
  (void) path;
  (void) how;
  (void) sink;
  for (;;)
    pause ();
  return 0;
}

VARIANT ("never-answers", variant.files.list = list)

#include "core/manager/ids.h"

int
berth_sandbox_open (struct berth_host *host, const char *name, struct berth_sandbox **out, struct berth_error *error)
{
  char id[BERTH_ID_SIZE];

  if (berth_id_resolve (host, name, id, error) != 0)
    return -1;
  return berth_sandbox_load (host, id, out, error);
}

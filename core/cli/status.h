/* status.h - how a backend stands. */
#ifndef BERTH_CLI_STATUS_H
#define BERTH_CLI_STATUS_H

#include <berth/berth.h>

static inline const char *
cli_status_name (uint32_t status)
{
  switch (status)
    {
    case BERTH_BACKEND_READY:
      return "ready";
    case BERTH_BACKEND_REFUSED:
      return "refused";
    case BERTH_BACKEND_DISABLED:
      return "disabled";
    case BERTH_BACKEND_MISSING:
      return "missing";
    case BERTH_BACKEND_MISCONFIGURED:
      return "misconfigured";
    default:
      return "unknown";
    }
}

#endif

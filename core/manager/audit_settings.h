/* audit_settings.h - [audit] of berth.conf: where records of operations go. */
#ifndef CORE_MANAGER_AUDIT_SETTINGS_H
#define CORE_MANAGER_AUDIT_SETTINGS_H

#include "core/registry/registry.h"

struct berth_audit_settings
{
  uint32_t target; /* enum berth_audit_target */
  bool required;
  int64_t size;    /* of a file, above which the next one begins */
  int64_t keep;    /* files beside the one that is written to */
  char *socket;    /* of the journal */
};
enum berth_audit_target
{
  BERTH_AUDIT_FILE = 1,
  BERTH_AUDIT_JOURNALD = 2,
  BERTH_AUDIT_OFF = 3
};

/* `socket` is the caller's to free.  CONFIGURATION for a value that is none. */
int berth_audit_read_settings (struct berth_registry *registry, struct berth_audit_settings *out,
                               struct berth_error *error);

#endif

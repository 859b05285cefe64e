#include <stdlib.h>

#include "core/registry/inside.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/string.h"

void
berth_owned_settings (const struct berth_backend *backend, const char *name, struct berth_problems *warnings)
{
  struct berth_setting setting;

  for (uint32_t i = 0; berth_item (&backend->settings, i, &setting, sizeof setting); i++)
    {
      char variable[BERTH_SETTING_VARIABLE_SIZE];
      const char *value;

      if ((setting.flags & BERTH_SETTING_FOREIGN) != 0)
        continue;
      berth_setting_variable (&setting, backend->name, name, variable);
      value = variable[0] != '\0' ? secure_getenv (variable) : NULL;
      if (value != NULL && value[0] != '\0')
        berth_problem (warnings, "add the backend to BERTH_BACKENDS, or unset the variable",
                       "%s is set, and backend \"%s\", whose setting it is, is not enabled", variable, name);
    }
}

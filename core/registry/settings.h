/* Declared settings and the values that an instance has for them. */
#ifndef CORE_REGISTRY_SETTINGS_H
#define CORE_REGISTRY_SETTINGS_H

#include <stdint.h>

#include "core/registry/config.h"
#include "core/registry/problems.h"
#include "core/registry/registry.h"

struct berth_setting_value
{
  char *name;
  char *text;     /* NULL: not set, no default */
  char *origin;   /* "default", "environment BERTH_X", "FILE:LINE"; NULL with text */
  int64_t number;
  uint32_t flags; /* BERTH_SETTING_* */
};

/* All zero is empty. */
struct berth_settings
{
  struct berth_setting_value *values;
  uint32_t count;
};

/* Whether TEXT is a value of TYPE; *NUMBER gets what setting_number answers.  0, or -1 with
 * *WANT, static, saying what would be ("a duration such as 90s or 15m"). */
int berth_setting_parse (const struct berth_setting *setting, const char *text, int64_t *number, const char **want);

/* The variable that sets SETTING of the instance NAME of BACKEND, into VARIABLE; "" when there
 * is none.  An instance with a name of its own has variables of its own: a foreign one belongs
 * to the instance that is named like the backend. */
#define BERTH_SETTING_VARIABLE_SIZE 256
void berth_setting_variable (const struct berth_setting *setting, const char *backend, const char *instance,
                             char variable[BERTH_SETTING_VARIABLE_SIZE]);

/* "BERTH_DOCKER_EU_" for "docker-eu". */
void berth_setting_prefix (const char *name, char prefix[BERTH_SETTING_VARIABLE_SIZE]);

/* The values of an instance: environment, else berth.conf, else the default.  All that is wrong
 * goes to PROBLEMS; keys of the section that are not settings too. */
int berth_settings_read (struct berth_settings *out, const struct berth_backend *backend, const char *instance,
                         const struct berth_config *config, struct berth_problems *problems);
void berth_settings_clear (struct berth_settings *settings);
const struct berth_setting_value *berth_settings_find (const struct berth_settings *settings, const char *name);

#endif

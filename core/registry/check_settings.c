#include <stdbool.h>
#include <string.h>

#include "core/registry/check.h"
#include "core/registry/config.h"
#include "core/registry/settings.h"
#include "sdk/base/string.h"

/* More elements than this are garbage. */
#define MOST_SETTINGS 1024
#define FLAGS_KNOWN (BERTH_SETTING_SECRET | BERTH_SETTING_FOREIGN | BERTH_SETTING_REQUIRED)

static bool
is_setting_name (const char *name)
{
  size_t length;

  if (name == NULL || name[0] < 'a' || name[0] > 'z')
    return false;
  length = strspn (name, "abcdefghijklmnopqrstuvwxyz0123456789_");
  return name[length] == '\0' && length <= 63 && strcmp (name, "plugin") != 0;
}

static bool
is_variable_name (const char *name)
{
  static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";

  return name[0] != '\0' && !(name[0] >= '0' && name[0] <= '9') && strlen (name) < 128
         && name[strspn (name, allowed)] == '\0';
}

/* Variables of the host's own, which a backend called "backend" or "state" would otherwise take. */
static bool
is_of_the_host (const char *variable)
{
  static const char *const ours[] = { "BERTH_BACKEND", "BERTH_BACKENDS", "BERTH_BACKEND_PATH", "BERTH_AGENT",
                                      "BERTH_CONFIG", "BERTH_STATE_DIR", "BERTH_RUNTIME_DIR",
                                      "BERTH_ALLOW_TEST_BACKENDS" };

  for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
    if (strcmp (ours[i], variable) == 0)
      return true;
  return false;
}

static void
check_variable (struct berth_check *check, const struct berth_setting *setting)
{
  bool foreign = (setting->flags & BERTH_SETTING_FOREIGN) != 0;
  char prefix[BERTH_SETTING_VARIABLE_SIZE];

  if (setting->environment == NULL)
    return;
  berth_setting_prefix (berth_name_is_valid (check->backend->name) ? check->backend->name : "", prefix);
  if (!is_variable_name (setting->environment))
    berth_problem (check->problems, "rename the variable", "setting \"%s\": \"%.64s\" cannot name a variable", setting->name,
                   setting->environment);
  else if (is_of_the_host (setting->environment))
    berth_problem (check->problems, "rename the variable", "setting \"%s\": variable %s is the host's own", setting->name,
                   setting->environment);
  else if (foreign && berth_string_starts_with (setting->environment, "BERTH_"))
    berth_problem (check->problems, "leave the flag out",
                   "setting \"%s\": variable %s is flagged foreign and begins with BERTH_", setting->name,
                   setting->environment);
  else if (!foreign && (!berth_string_starts_with (setting->environment, prefix)
                        || setting->environment[strlen (prefix)] == '\0'))
    berth_problem (check->problems, "rename the variable, or flag it foreign",
                   "setting \"%s\": got variable %s (want %s...)", setting->name, setting->environment, prefix);
}

static void
check_default (struct berth_check *check, const struct berth_setting *setting)
{
  const char *want = NULL;
  int64_t number;

  if (setting->type == BERTH_SETTING_CHOICE && (setting->choices == NULL || setting->choices[0] == '\0'))
    berth_problem (check->problems, "list them as \"a|b|c\"", "setting \"%s\" is a choice without choices", setting->name);
  else if (setting->fallback != NULL && berth_setting_parse (setting, setting->fallback, &number, &want) < 0)
    berth_problem (check->problems, "correct the default", "setting \"%s\": default \"%.64s\" is not valid (want %s)",
                   setting->name, setting->fallback, want);
}

/* The name of an earlier setting that has the same name or variable, or NULL. */
static const char *
find_double (struct berth_check *check, uint32_t index, const struct berth_setting *setting, bool by_variable)
{
  struct berth_setting other;

  for (uint32_t i = 0; i < index && berth_item (&check->backend->settings, i, &other, sizeof other); i++)
    if (by_variable ? setting->environment != NULL && berth_string_equal (other.environment, setting->environment)
                    : berth_string_equal (other.name, setting->name))
      return other.name;
  return NULL;
}

static void
check_setting (struct berth_check *check, uint32_t index, const struct berth_setting *setting)
{
  const char *other;

  if (!is_setting_name (setting->name))
    {
      berth_problem (check->problems, "rename the setting",
                     "setting %u: name \"%.64s\" is not valid (want [a-z][a-z0-9_]*, and not \"plugin\")", index,
                     BERTH_CHECK_TEXT (setting->name));
      return;
    }
  if (find_double (check, index, setting, false) != NULL)
    berth_problem (check->problems, "declare it once", "setting \"%s\" is declared twice", setting->name);
  other = find_double (check, index, setting, true);
  if (other != NULL)
    berth_problem (check->problems, "rename the variable", "settings \"%s\" and \"%s\" have the same variable %s",
                   other, setting->name, setting->environment);
  if (setting->help == NULL || setting->help[0] == '\0')
    berth_problem (check->problems, "say what it does", "setting \"%s\" has no help", setting->name);
  if ((setting->flags & ~FLAGS_KNOWN) != 0 && !check->newer)
    berth_problem (check->problems, "leave them out", "setting \"%s\": unknown flags 0x%x", setting->name,
                   setting->flags & ~FLAGS_KNOWN);
  check_variable (check, setting);
  if (setting->type < BERTH_SETTING_TEXT || setting->type > BERTH_SETTING_CHOICE)
    berth_problem (check->problems, "use one of enum berth_setting_type", "setting \"%s\": type %u is not known (want 1 to %u)",
                   setting->name, setting->type, (unsigned int) BERTH_SETTING_CHOICE);
  else
    check_default (check, setting);
}

void
berth_check_settings (struct berth_check *check)
{
  struct berth_setting setting;

  if (!berth_check_array (check, "settings", &check->backend->settings, MOST_SETTINGS, sizeof setting))
    return;
  for (uint32_t i = 0; berth_item (&check->backend->settings, i, &setting, sizeof setting); i++)
    check_setting (check, i, &setting);
}

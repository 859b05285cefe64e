#include "core/registry/settings.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/base/cleanup.h"
#include "sdk/base/nearest.h"
#include "sdk/base/path.h"
#include "sdk/base/string.h"

static bool
is_url (const char *text)
{
  size_t scheme = strspn (text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.");

  return scheme > 0 && isalpha ((unsigned char) text[0]) && berth_string_starts_with (text + scheme, "://")
         && text[scheme + 3] != '\0' && text[strcspn (text, " \t\r\n")] == '\0';
}

static bool
is_choice (const char *choices, const char *text)
{
  size_t length = strlen (text);

  for (const char *at = choices; at != NULL; at = strchr (at, '|') != NULL ? strchr (at, '|') + 1 : NULL)
    if (length > 0 && strncmp (at, text, length) == 0 && (at[length] == '|' || at[length] == '\0'))
      return true;
  return false;
}

static int
parse_number (uint32_t type, const char *text, int64_t *number, const char **want)
{
  uint64_t size;
  bool truth;

  switch (type)
    {
    case BERTH_SETTING_INTEGER:
      *want = "a whole number";
      return berth_string_to_int64 (text, INT64_MIN, INT64_MAX, number);
    case BERTH_SETTING_DURATION:
      *want = "a duration such as 90s or 15m";
      return berth_string_to_duration (text, 0, INT64_MAX, number);
    case BERTH_SETTING_SIZE:
      *want = "a size such as 512M or 1.5G";
      if (berth_string_to_size (text, 0, INT64_MAX, &size) < 0)
        return -1;
      *number = (int64_t) size;
      return 0;
    default:
      *want = "true or false";
      if (berth_string_to_boolean (text, &truth) < 0)
        return -1;
      *number = truth;
      return 0;
    }
}

int
berth_setting_parse (const struct berth_setting *setting, const char *text, int64_t *number, const char **want)
{
  *number = 0;
  switch (setting->type)
    {
    case BERTH_SETTING_INTEGER:
    case BERTH_SETTING_DURATION:
    case BERTH_SETTING_SIZE:
    case BERTH_SETTING_BOOLEAN:
      return parse_number (setting->type, text, number, want);
    case BERTH_SETTING_PATH:
      *want = "an absolute path without \"..\"";
      return berth_path_is_normal (text, strlen (text)) ? 0 : -1;
    case BERTH_SETTING_URL:
      *want = "a URL such as https://host:port";
      return is_url (text) ? 0 : -1;
    case BERTH_SETTING_CHOICE:
      *want = setting->choices;
      return is_choice (setting->choices, text) ? 0 : -1;
    default:
      *want = "a text";
      return 0;
    }
}

void
berth_setting_prefix (const char *name, char prefix[BERTH_SETTING_VARIABLE_SIZE])
{
  size_t length = (size_t) snprintf (prefix, BERTH_SETTING_VARIABLE_SIZE, "BERTH_%.31s_", name);

  for (size_t i = 0; i < length; i++)
    prefix[i] = prefix[i] == '-' ? '_' : (char) toupper ((unsigned char) prefix[i]);
}

void
berth_setting_variable (const struct berth_setting *setting, const char *backend, const char *instance,
                        char variable[BERTH_SETTING_VARIABLE_SIZE])
{
  char prefix[BERTH_SETTING_VARIABLE_SIZE];

  variable[0] = '\0';
  if (setting->environment == NULL)
    return;
  if (strcmp (backend, instance) == 0)
    {
      snprintf (variable, BERTH_SETTING_VARIABLE_SIZE, "%s", setting->environment);
      return;
    }
  berth_setting_prefix (backend, prefix);
  if (!berth_string_starts_with (setting->environment, prefix))
    return;
  berth_setting_prefix (instance, variable);
  strncat (variable, setting->environment + strlen (prefix), BERTH_SETTING_VARIABLE_SIZE - 1 - strlen (variable));
}

/* Where the values of an instance come from. */
struct sources
{
  const char *backend;
  const char *instance;
  const struct berth_config_section *section;
  struct berth_problems *problems;
};

/* The text of a setting with its origin, which the caller frees; NULL when it is not set. */
static const char *
find_text (const struct sources *sources, const struct berth_setting *setting, char **origin)
{
  const struct berth_config_entry *entry = berth_config_entry (sources->section, setting->name);
  char variable[BERTH_SETTING_VARIABLE_SIZE];
  const char *text;

  berth_setting_variable (setting, sources->backend, sources->instance, variable);
  text = variable[0] != '\0' ? secure_getenv (variable) : NULL;
  if (text != NULL && text[0] != '\0')
    {
      *origin = berth_string_format ("environment %s", variable);
      return text;
    }
  if (entry != NULL)
    {
      *origin = strdup (entry->origin);
      if ((setting->flags & BERTH_SETTING_SECRET) != 0 && !entry->private)
        berth_problem (sources->problems, "take the right to read it from others, or set it in the environment",
                       "%s: setting \"%s\" is secret, and others can read the file", entry->origin, setting->name);
      return entry->value;
    }
  *origin = strdup ("default");
  return setting->fallback;
}

static void
complain (const struct sources *sources, const struct berth_setting *setting, const char *origin, const char *text,
          const char *want)
{
  char variable[BERTH_SETTING_VARIABLE_SIZE];

  berth_setting_variable (setting, sources->backend, sources->instance, variable);
  if (want == NULL)
    {
      BERTH_AUTO_FREE char *remedy
          = berth_string_format ("set \"%s\" in [backend %s] of berth.conf%s%s", setting->name, sources->instance,
                                 variable[0] != '\0' ? ", or " : "", variable);

      berth_problem (sources->problems, remedy, "setting \"%s\" is required and not set", setting->name);
    }
  else if ((setting->flags & BERTH_SETTING_SECRET) != 0)
    berth_problem (sources->problems, NULL, "%s: setting \"%s\" is not what it must be (want %s)", origin, setting->name,
                   want);
  else
    berth_problem (sources->problems, NULL, "%s: setting \"%s\": got \"%s\", want %s", origin, setting->name, text, want);
}

static int
read_value (const struct sources *sources, const struct berth_setting *setting, struct berth_setting_value *value)
{
  BERTH_AUTO_FREE char *origin = NULL;
  const char *want = NULL, *text = find_text (sources, setting, &origin);

  value->flags = setting->flags;
  value->name = strdup (setting->name);
  if (value->name == NULL || origin == NULL)
    return -1;
  if (text == NULL)
    {
      if ((setting->flags & BERTH_SETTING_REQUIRED) != 0)
        complain (sources, setting, origin, NULL, NULL);
      return 0;
    }
  if (berth_setting_parse (setting, text, &value->number, &want) < 0)
    complain (sources, setting, origin, text, want);
  value->text = strdup (text);
  value->origin = BERTH_STEAL_POINTER (origin);
  return value->text != NULL ? 0 : -1;
}

/* Keys of the section that are no settings: a misspelt one must not be ignored. */
static int
check_keys (const struct sources *sources, const struct berth_settings *settings)
{
  BERTH_AUTO_FREE const char **names = calloc (settings->count + 2, sizeof *names);

  if (names == NULL)
    return -1;
  names[0] = "plugin";
  for (uint32_t i = 0; i < settings->count; i++)
    names[i + 1] = settings->values[i].name;
  for (uint32_t i = 0; sources->section != NULL && i < sources->section->count; i++)
    {
      const struct berth_config_entry *entry = &sources->section->entries[i];
      const char *nearest = berth_nearest (entry->key, names);

      if (strcmp (entry->key, "plugin") == 0 || berth_settings_find (settings, entry->key) != NULL)
        continue;
      berth_problem (sources->problems, NULL, "%s: backend \"%s\" has no setting \"%s\"%s%s%s", entry->origin,
                     sources->backend, entry->key, nearest != NULL ? ", did you mean \"" : "",
                     nearest != NULL ? nearest : "", nearest != NULL ? "\"?" : "");
    }
  return 0;
}

int
berth_settings_read (struct berth_settings *out, const struct berth_backend *backend, const char *instance,
                     const struct berth_config *config, struct berth_problems *problems)
{
  struct sources sources = { backend->name, instance, berth_config_instance (config, instance), problems };
  struct berth_setting setting;

  memset (out, 0, sizeof *out);
  out->values = calloc (backend->settings.count + 1, sizeof *out->values);
  if (out->values == NULL)
    return -1;
  while (berth_item (&backend->settings, out->count, &setting, sizeof setting))
    if (read_value (&sources, &setting, &out->values[out->count++]) < 0)
      {
        berth_settings_clear (out);
        return -1;
      }
  return check_keys (&sources, out);
}

void
berth_settings_clear (struct berth_settings *settings)
{
  for (uint32_t i = 0; i < settings->count; i++)
    {
      struct berth_setting_value *value = &settings->values[i];

      if (value->text != NULL)
        explicit_bzero (value->text, strlen (value->text)); /* it may be a secret */
      free (value->name);
      free (value->text);
      free (value->origin);
    }
  free (settings->values);
  memset (settings, 0, sizeof *settings);
}

const struct berth_setting_value *
berth_settings_find (const struct berth_settings *settings, const char *name)
{
  for (uint32_t i = 0; i < settings->count; i++)
    if (strcmp (settings->values[i].name, name) == 0)
      return &settings->values[i];
  return NULL;
}

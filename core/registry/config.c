#include "core/registry/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/registry/error.h"
#include "sdk/base/buffer.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/fd.h"
#include "sdk/base/nearest.h"
#include "sdk/base/string.h"

#define LARGEST_FILE ((size_t) 1 << 20)
#define BACKEND_PREFIX "backend "

/* Where the parser is. */
struct parser
{
  struct berth_config *config;
  struct berth_config_section *section; /* NULL before the first */
  const char *file;
  unsigned int line;
  int private;
  struct berth_error *error;
};

static const char *const section_names[] = { "berth", "defaults", "limits", "audit", "backend NAME", NULL };
static const char *const berth_keys[]
    = { "backends", "backend", "state_dir", "runtime_dir", "cache_dir", "owner", NULL };

int
berth_name_is_valid (const char *name)
{
  size_t length;

  if (name == NULL || name[0] < 'a' || name[0] > 'z')
    return 0;
  length = strspn (name, "abcdefghijklmnopqrstuvwxyz0123456789-");
  return name[length] == '\0' && length <= 31;
}

static int fail (struct parser *parser, const char *format, ...) __attribute__ ((format (printf, 2, 3)));
static int
fail (struct parser *parser, const char *format, ...)
{
  BERTH_AUTO_FREE char *what = NULL;
  va_list arguments;

  va_start (arguments, format);
  what = berth_string_vformat (format, arguments);
  va_end (arguments);
  berth_error_set (parser->error, BERTH_E_CONFIGURATION, "%s:%u: %s", parser->file, parser->line,
                   what != NULL ? what : "no memory");
  berth_error_hint (parser->error, "correct the file");
  return -1;
}

static int
is_blank (char character)
{
  return character == ' ' || character == '\t' || character == '\r';
}

/* Cuts the white space off both ends, in place. */
static char *
trim (char *text)
{
  size_t length;

  while (is_blank (*text))
    text++;
  length = strlen (text);
  while (length > 0 && is_blank (text[length - 1]))
    length--;
  text[length] = '\0';
  return text;
}

static int
is_key (const char *key)
{
  return key[0] >= 'a' && key[0] <= 'z' && key[strspn (key, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

static int
check_section_name (struct parser *parser, const char *name)
{
  const struct berth_config_section *same = berth_config_section (parser->config, name);
  const char *nearest;

  if (same != NULL)
    return fail (parser, "section [%s] is already at %s", name, same->origin);
  if (berth_string_starts_with (name, BACKEND_PREFIX))
    {
      if (!berth_name_is_valid (name + strlen (BACKEND_PREFIX)))
        return fail (parser, "\"%s\" is not the name of a backend (want [a-z][a-z0-9-]{0,30})",
                     name + strlen (BACKEND_PREFIX));
      return 0;
    }
  for (size_t i = 0; i < 4; i++)
    if (strcmp (section_names[i], name) == 0)
      return 0;
  nearest = berth_nearest (name, section_names);
  return fail (parser, "unknown section [%s]%s%s%s (want [berth], [defaults], [limits], [audit] or [backend NAME])", name,
               nearest != NULL ? ", did you mean [" : "", nearest != NULL ? nearest : "", nearest != NULL ? "]?" : "");
}

static int
begin_section (struct parser *parser, char *line)
{
  size_t length = strlen (line);
  struct berth_config_section *sections, *section;
  char *name;

  if (line[length - 1] != ']')
    return fail (parser, "a section ends with \"]\", got \"%s\"", line);
  line[length - 1] = '\0';
  name = trim (line + 1);
  if (check_section_name (parser, name) < 0)
    return -1;
  sections = reallocarray (parser->config->sections, parser->config->count + 1, sizeof *sections);
  if (sections == NULL)
    return fail (parser, "no memory");
  parser->config->sections = sections;
  section = &sections[parser->config->count++];
  memset (section, 0, sizeof *section);
  section->name = strdup (name);
  section->origin = berth_string_format ("%s:%u", parser->file, parser->line);
  parser->section = section;
  return section->name != NULL && section->origin != NULL ? 0 : fail (parser, "no memory");
}

static int
check_key (struct parser *parser, const char *key)
{
  const struct berth_config_entry *same = berth_config_entry (parser->section, key);
  const char *nearest;

  if (same != NULL)
    return fail (parser, "\"%s\" is already set at %s", key, same->origin);
  if (strcmp (parser->section->name, "berth") != 0)
    return 0;
  for (size_t i = 0; berth_keys[i] != NULL; i++)
    if (strcmp (berth_keys[i], key) == 0)
      return 0;
  nearest = berth_nearest (key, berth_keys);
  return fail (parser, "unknown key \"%s\" in [berth]%s%s%s", key, nearest != NULL ? ", did you mean \"" : "",
               nearest != NULL ? nearest : "", nearest != NULL ? "\"?" : "");
}

static int
check_plugin (struct parser *parser, const char *key, const char *value)
{
  if (strcmp (key, "plugin") != 0 || berth_config_instance_name (parser->section) == NULL || berth_name_is_valid (value))
    return 0;
  return fail (parser, "\"%s\" is not the name of a backend (want [a-z][a-z0-9-]{0,30})", value);
}

static int
add_entry (struct parser *parser, char *line)
{
  char *equals = strchr (line, '='), *key, *value;
  struct berth_config_entry *entries, *entry;

  if (equals == NULL)
    return fail (parser, "want \"key = value\", got \"%s\"", line);
  *equals = '\0';
  key = trim (line);
  value = trim (equals + 1);
  if (!is_key (key))
    return fail (parser, "\"%s\" is not a key (want [a-z][a-z0-9_]*)", key);
  if (parser->section == NULL)
    return fail (parser, "\"%s\" stands before the first section", key);
  if (check_key (parser, key) < 0 || check_plugin (parser, key, value) < 0)
    return -1;
  entries = reallocarray (parser->section->entries, parser->section->count + 1, sizeof *entries);
  if (entries == NULL)
    return fail (parser, "no memory");
  parser->section->entries = entries;
  entry = &entries[parser->section->count++];
  entry->key = strdup (key);
  entry->value = strdup (value);
  entry->origin = berth_string_format ("%s:%u", parser->file, parser->line);
  entry->private = parser->private;
  return entry->key != NULL && entry->value != NULL && entry->origin != NULL ? 0 : fail (parser, "no memory");
}

static int
parse_line (struct parser *parser, char *line)
{
  line = trim (line);
  if (line[0] == '\0' || line[0] == '#' || line[0] == ';')
    return 0;
  return line[0] == '[' ? begin_section (parser, line) : add_entry (parser, line);
}

static int
parse (struct parser *parser, char *text, size_t size)
{
  const char *nul = memchr (text, '\0', size);

  for (char *line = text, *end; line < text + size; line = end + 1)
    {
      parser->line++;
      end = memchr (line, '\n', (size_t) (text + size - line));
      if (end == NULL)
        end = text + size;
      if (nul != NULL && nul >= line && nul < end)
        return fail (parser, "the line holds a NUL byte");
      *end = '\0';
      if (parse_line (parser, line) < 0)
        return -1;
    }
  return 0;
}

/* Whoever can write it decides what a privileged host loads and where it keeps its state. */
static int
check_file (const char *file, int fd, int *private, struct berth_error *error)
{
  struct stat status;

  if (fstat (fd, &status) < 0)
    return berth_error_set (error, BERTH_E_CONFIGURATION, "%s: %s", file, strerror (errno));
  if (!S_ISREG (status.st_mode))
    return berth_error_set (error, BERTH_E_CONFIGURATION, "%s is not a regular file", file);
  if (status.st_uid != 0 && status.st_uid != geteuid ())
    return berth_error_set (error, BERTH_E_CONFIGURATION, "%s belongs to uid %u (want root or uid %u)", file,
                            (unsigned int) status.st_uid, (unsigned int) geteuid ());
  if ((status.st_mode & 022) != 0)
    {
      berth_error_set (error, BERTH_E_CONFIGURATION, "%s can be written by others (mode %04o)", file,
                       (unsigned int) status.st_mode & 07777);
      berth_error_hint (error, "chmod go-w %s", file);
      return -1;
    }
  *private = (status.st_mode & 044) == 0;
  return 0;
}

static int
read_into (const char *file, struct berth_config *config, struct berth_error *error)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  /* O_NONBLOCK: a FIFO that somebody put there does not stop us. */
  BERTH_AUTO_FD int fd = open (file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  struct parser parser = { .config = config, .file = file, .error = error };

  if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
    return 0;
  if (fd < 0)
    return berth_error_set (error, BERTH_E_CONFIGURATION, "cannot read %s: %s", file, strerror (errno));
  if (check_file (file, fd, &parser.private, error) < 0)
    return -1;
  if (berth_fd_read_all (fd, &text, LARGEST_FILE) < 0)
    return berth_error_set (error, BERTH_E_CONFIGURATION, "cannot read %s: %s", file,
                            errno == EMSGSIZE ? "it is larger than 1 MiB" : strerror (errno));
  return text.size > 0 ? parse (&parser, text.data, text.size) : 0;
}

int
berth_config_read (const char *file, struct berth_config **out, struct berth_error *error)
{
  struct berth_config *config = calloc (1, sizeof *config);

  if (config == NULL)
    return berth_error_set (error, BERTH_E_RESOURCE_EXHAUSTED, "no memory for the configuration");
  if (file != NULL && file[0] != '\0' && read_into (file, config, error) < 0)
    {
      berth_config_free (config);
      return -1;
    }
  *out = config;
  return 0;
}

static void
free_section (struct berth_config_section *section)
{
  for (uint32_t i = 0; i < section->count; i++)
    {
      struct berth_config_entry *entry = &section->entries[i];

      if (entry->value != NULL)
        explicit_bzero (entry->value, strlen (entry->value)); /* it may be a secret */
      free (entry->key);
      free (entry->value);
      free (entry->origin);
    }
  free (section->entries);
  free (section->name);
  free (section->origin);
}

void
berth_config_free (struct berth_config *config)
{
  if (config == NULL)
    return;
  for (uint32_t i = 0; i < config->count; i++)
    free_section (&config->sections[i]);
  free (config->sections);
  free (config);
}

/* Moves it to the end of *LIST; 0 or -1. */
static int
take_section (struct berth_config *config, struct berth_config_section *section)
{
  struct berth_config_section *sections = reallocarray (config->sections, config->count + 1, sizeof *sections);

  if (sections == NULL)
    return -1;
  config->sections = sections;
  sections[config->count++] = *section;
  memset (section, 0, sizeof *section);
  return 0;
}

static int
take_entries (struct berth_config_section *to, struct berth_config_section *from)
{
  struct berth_config_entry *entries = reallocarray (to->entries, to->count + from->count, sizeof *entries);

  if (entries == NULL)
    return -1;
  to->entries = entries;
  for (uint32_t i = 0; i < from->count; i++)
    if (berth_config_entry (to, from->entries[i].key) == NULL)
      {
        entries[to->count++] = from->entries[i];
        memset (&from->entries[i], 0, sizeof from->entries[i]);
      }
  return 0;
}

int
berth_config_read_below (const char *file, struct berth_config *config, struct berth_error *error)
{
  struct berth_config *below = NULL;
  int result = berth_config_read (file, &below, error);

  for (uint32_t i = 0; result == 0 && i < below->count; i++)
    {
      struct berth_config_section *from = &below->sections[i];
      struct berth_config_section *to = (struct berth_config_section *) berth_config_section (config, from->name);
      if (to == NULL)
        result = take_section (config, from);
      else if (from->count > 0)
        result = take_entries (to, from);
      if (result != 0)
        berth_error_set (error, BERTH_E_RESOURCE_EXHAUSTED, "no memory for the configuration");
    }
  berth_config_free (below);
  return result;
}

const struct berth_config_section *
berth_config_section (const struct berth_config *config, const char *name)
{
  for (uint32_t i = 0; config != NULL && i < config->count; i++)
    if (strcmp (config->sections[i].name, name) == 0)
      return &config->sections[i];
  return NULL;
}

const char *
berth_config_instance_name (const struct berth_config_section *section)
{
  return berth_string_starts_with (section->name, BACKEND_PREFIX) ? section->name + strlen (BACKEND_PREFIX) : NULL;
}

const struct berth_config_section *
berth_config_instance (const struct berth_config *config, const char *instance)
{
  for (uint32_t i = 0; config != NULL && i < config->count; i++)
    if (berth_string_equal (berth_config_instance_name (&config->sections[i]), instance))
      return &config->sections[i];
  return NULL;
}

const struct berth_config_entry *
berth_config_entry (const struct berth_config_section *section, const char *key)
{
  for (uint32_t i = 0; section != NULL && i < section->count; i++)
    if (strcmp (section->entries[i].key, key) == 0)
      return &section->entries[i];
  return NULL;
}

/* berth.conf: sections of keys, read strictly.
 *
 *   [berth]              backends, backend, and the host's directories
 *   [backend NAME]       plugin, and the settings of the instance NAME
 *   [defaults] [limits]  the host's numbers
 *
 * A line is a section, "key = value", a comment (# or ; first) or empty.  A value is the rest of
 * the line without the white space around it; there are no quotes and no continuations. */
#ifndef CORE_REGISTRY_CONFIG_H
#define CORE_REGISTRY_CONFIG_H

#include <berth/berth.h>

struct berth_config_entry
{
  char *key;
  char *value;
  char *origin; /* "FILE:LINE" */
  int private;  /* 1: nobody but its owner can read the file */
};
struct berth_config_section
{
  char *name; /* "backend docker-eu" */
  char *origin;
  struct berth_config_entry *entries;
  uint32_t count;
};
struct berth_config
{
  struct berth_config_section *sections;
  uint32_t count;
};

/* Reads FILE (NULL or missing: an empty one).  CONFIGURATION with file and line for everything
 * that is not as above: unknown sections and keys of [berth], doubled ones, bad names, and a
 * file that somebody else can write. */
int berth_config_read (const char *file, struct berth_config **out, struct berth_error *error);
/* Adds what FILE says and CONFIG does not: key by key, so that a user's file needs to hold only
 * what differs from the system's. */
int berth_config_read_below (const char *file, struct berth_config *config, struct berth_error *error);
void berth_config_free (struct berth_config *config);

/* NULL when there is none.  CONFIG may be NULL. */
const struct berth_config_section *berth_config_section (const struct berth_config *config, const char *name);
const struct berth_config_section *berth_config_instance (const struct berth_config *config, const char *instance);
const struct berth_config_entry *berth_config_entry (const struct berth_config_section *section, const char *key);

/* The instance that a section "backend NAME" configures, or NULL for another section. */
const char *berth_config_instance_name (const struct berth_config_section *section);

/* Whether NAME is [a-z][a-z0-9-]{0,30}: a backend's or an instance's. */
int berth_name_is_valid (const char *name);

#endif

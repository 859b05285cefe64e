/* limits.h - defaults and maxima, as [defaults] and [limits] of berth.conf set them. */
#ifndef CORE_MANAGER_LIMITS_H
#define CORE_MANAGER_LIMITS_H

#include "core/registry/registry.h"
#include "sdk/base/string.h"

/* Sizes in bytes, durations in ms, processors in thousandths; all positive. */
struct berth_limits
{
  int64_t default_ttl;
  int64_t default_cpu;
  int64_t default_memory;
  int64_t default_pids;
  int64_t default_tmp;
  int64_t default_timeout;
  int64_t default_output;
  int64_t default_file;
  int64_t default_workspace;
  int64_t default_snapshot;
  int64_t max_ttl;
  int64_t max_cpu;
  int64_t max_memory;
  int64_t max_pids;
  int64_t max_disk;
  int64_t max_tmp;
  int64_t max_shm;
  int64_t max_file_size;
  int64_t max_open_files;
  int64_t max_timeout;
  int64_t max_output;
  int64_t max_file;
  int64_t max_workspace;
  int64_t max_snapshot;
  int64_t max_entries;
  int64_t host_sandboxes;
  int64_t owner_sandboxes;
  int64_t host_snapshots;
  int64_t owner_snapshots;
};

/* CONFIGURATION names the place in berth.conf of a value that is none, or of a default that is
 * above its maximum. */
int berth_limits_read (struct berth_registry *registry, struct berth_limits *out, struct berth_error *error);

/* Number INDEX of them, for people: its section, key and text; false past the end. */
bool berth_limit_describe (const struct berth_limits *limits, size_t index, const char **section, const char **key,
                           char text[BERTH_STRING_NUMBER_SIZE]);

/* VALUE, or FALLBACK when it is BERTH_UNSET; 1 to MAXIMUM, else INVALID_REQUEST that names WHAT. */
int berth_limit_apply (const char *what, int64_t value, int64_t fallback, int64_t maximum, int64_t *out,
                       struct berth_error *error);

#endif

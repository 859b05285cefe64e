/* The registry: finds, checks, refuses and loads backends, and opens instances of them.
 *
 * It knows no backend by name.  Loading is lazy: berth_registry_instance loads one file;
 * berth_registry_scan loads all and makes the checks across backends.  Thread-safe; no lock is
 * held while a backend is called. */
#ifndef CORE_REGISTRY_REGISTRY_H
#define CORE_REGISTRY_REGISTRY_H

#include <berth/backend.h>
#include <berth/berth.h>

struct berth_registry;
struct berth_config;

struct berth_registry_options
{
  const char *backend_path;  /* colon-separated, searched first; may be NULL */
  const char *installed_dir; /* searched last; NULL: the directory of the build's configuration */
  struct berth_config *config; /* berth.conf where it has been read: taken over, with a failure too; else NULL */
  const char *config_file;   /* berth.conf; NULL or missing: none */
  const char *state_dir;     /* instances get STATE_DIR/backends/NAME */
  const char *runtime_dir;   /* instances get RUNTIME_DIR/NAME */
  const char *cache_dir;     /* instances get CACHE_DIR/NAME */
  const char *agent_path;    /* NULL: BERTH_AGENT, else the installed one */
  const char *installation_id;
  uint32_t allow_test_backends; /* 1: backends that execute nothing may be opened */
  void (*log) (void *context, uint32_t level, const char *line);
  void *log_context;
};

/* Reads berth.conf and the environment (BERTH_BACKENDS, BERTH_BACKEND, settings); loads nothing.
 * CONFIGURATION with file and line when berth.conf is malformed. */
int berth_registry_open (const struct berth_registry_options *options, struct berth_registry **out,
                         struct berth_error *error);
/* Closes every instance; backends stay resident. */
void berth_registry_close (struct berth_registry *registry);

/* The instance NAME (NULL: the default one), opened at first use.  It lives as long as the
 * registry.  WHO says for whom in refusals ("sandbox sb-…", "--backend"), may be NULL.
 * BACKEND_DISABLED, CONFIGURATION (every problem of the file, in the message), NOT_FOUND. */
int berth_registry_instance (struct berth_registry *registry, const char *name, const char *who,
                             struct berth_instance **out, struct berth_error *error);
/* What [berth] `backends` or `backend` is, with where that comes from; NULL: not said. */
const char *berth_registry_choice (struct berth_registry *registry, const char *key, const char **origin);
const char *berth_registry_default (struct berth_registry *registry);
/* Every backend and instance, loaded, in the order of names; see berth_backend_list. */
int berth_registry_scan (struct berth_registry *registry, int (*visit) (void *context, const struct berth_backend_info *info),
                         void *context, struct berth_error *error);
/* Effective settings with their origin; see berth_backend_settings. */
int berth_registry_settings (struct berth_registry *registry, const char *instance,
                             int (*visit) (void *context, const char *name, const char *value, const char *origin),
                             void *context, struct berth_error *error);
/* A value of a section of berth.conf that is the host's own ("[defaults] ttl = 15m"), or NULL;
 * ORIGIN ("file:line") may be NULL. */
const char *berth_registry_config (struct berth_registry *registry, const char *section, const char *key,
                                   const char **origin);

/* Whether all keys of a section of the host's own are among KNOWN, which ends with NULL.  CONFIGURATION
 * with file, line and the nearest known key. */
int berth_registry_config_check (struct berth_registry *registry, const char *section, const char *const *known,
                                 struct berth_error *error);

/* ---- an instance, as the host uses it ---- */

/* The host's own copy of the backend's table: groups that are missing or not declared are
 * NULL, whatever the plugin put there. */
const struct berth_backend *berth_instance_backend (const struct berth_instance *instance);
struct berth_state *berth_instance_state (const struct berth_instance *instance);
const char *berth_instance_name (const struct berth_instance *instance);
/* Declared capabilities and those that the host adds. */
uint64_t berth_instance_capabilities (const struct berth_instance *instance);
/* Concurrency as declared: takes what has to be taken for a call on NATIVE_ID (NULL: the
 * instance), gives it back.  Nothing for PARALLEL. */
void berth_instance_enter (struct berth_instance *instance, const char *native_id);
void berth_instance_leave (struct berth_instance *instance, const char *native_id);

/* A line of the log about the instance, redacted.  INSTANCE may be NULL: nothing is logged.
 * errno is kept. */
void berth_instance_log (struct berth_instance *instance, uint32_t level, const char *format, ...) BERTH_FORMAT (3, 4);
/* From now on these bytes (a secret of a specification, private data of a sandbox) are taken out
 * of every message, hint and log line of the instance. */
void berth_instance_redact (struct berth_instance *instance, const void *bytes, size_t size);
/* The same for a text that came from the backend through a sink, such as a fact of `ping`:
 * TEXT redacted, cut to ROOM. */
void berth_instance_clean (struct berth_instance *instance, const char *text, char *to, size_t room);

/* ---- a call, as the host makes it ---- */

/* The host's side of struct berth_call; on the stack of the thread that makes the call. */
struct berth_host_call
{
  struct berth_call call; /* first: services get it back as this */
  struct berth_error error;
  struct berth_cancel *cancel; /* may be NULL */
  int64_t deadline_ns;         /* CLOCK_MONOTONIC, or BERTH_NO_DEADLINE */
  struct berth_host_call *parent; /* of a shielded call */
  void (*progress) (void *context, const char *phase, uint64_t done, uint64_t total);
  void *progress_context;
  uint32_t shields; /* > 0: the call stands in for a shielded one of its own, for lack of memory */
};

void berth_host_call_begin (struct berth_host_call *call, struct berth_instance *instance, struct berth_cancel *cancel,
                            int64_t deadline_ns);
/* RESULT is what the backend returned.  Returns it; when it is -1, *ERROR (may be NULL) gets
 * the recorded reason, or INTERNAL "failed without saying why". */
int berth_host_call_end (struct berth_host_call *call, int result, struct berth_error *error);
/* Records in the call's own slot, for sinks and sources of the host; returns -1. */
int berth_host_call_fail (struct berth_host_call *call, uint32_t code, const char *format, ...) BERTH_FORMAT (3, 4);

/* ---- the capability table ---- */

struct berth_function_row
{
  const char *name; /* "resize" */
  uint32_t offset;  /* in the group's struct */
  uint32_t optional;
};

/* One rule: capability (bit 0: required of all), its group and functions. */
struct berth_rule_row
{
  uint64_t bit;
  const char *name;
  const char *group;     /* NULL: no functions */
  uint32_t pointer;      /* offset of the group's pointer in struct berth_backend */
  uint32_t floor;        /* struct_size of the group at 1.0 */
  uint64_t needs;        /* capabilities it needs */
  const struct berth_function_row *functions; /* ends with a NULL name */
  uint32_t parallel_only; /* needs concurrency PARALLEL */
  uint32_t since;         /* ABI minor */
  uint32_t reserved;      /* 1: reserved bit, refused when declared */
  const char *help;
  uint32_t size; /* struct_size of the group today */
};
extern const struct berth_rule_row berth_rules[];
extern const uint32_t berth_rule_count;
/* The name of a capability bit, or NULL. */
const char *berth_capability_name (uint64_t bit);
/* The name of bit BIT of the asks mask WHICH ("open_files", "workdir"), or NULL. */
const char *berth_asks_name (uint32_t which, uint64_t bit);

/* The whole check of a backend's table against the rules, without loading: the host's copy is
 * written to *OUT (valid until berth_registered_free).  Problems go to PROBLEM in order. */
struct berth_registered;
int berth_backend_check (const char *file, const struct berth_backend *theirs, struct berth_registered **out,
                         void (*problem) (void *context, const char *text),
                         void (*warning) (void *context, const char *text), void *context);
void berth_registered_free (struct berth_registered *registered);
const struct berth_backend *berth_registered_backend (const struct berth_registered *registered);

#endif

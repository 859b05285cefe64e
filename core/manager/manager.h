/* manager.h - the two objects behind the handles of berth.h, and what the duties share. */
#ifndef CORE_MANAGER_MANAGER_H
#define CORE_MANAGER_MANAGER_H

#include <pthread.h>
#include <stdbool.h>

#include "core/manager/audit_settings.h"
#include "core/manager/limits.h"
#include "core/registry/error.h"
#include "core/registry/registry.h"
#include "core/state/store.h"
#include "sdk/base/cleanup.h"

#define BERTH_WORKSPACE "/workspace"

/* Deadlines of calls that nobody gave one. */
#define BERTH_CONTROL_MS (60 * 1000)   /* asking about a sandbox, connecting */
#define BERTH_FILE_MS (10 * 60 * 1000) /* a change of files; transfers have none: their reader sets the pace */
#define BERTH_CREATE_MS (10 * 60 * 1000)

/* Where what is in force of the host's own settings came from: "option", "environment NAME",
 * "FILE:LINE", "default". */
enum berth_origin
{
  BERTH_ORIGIN_CONFIG,
  BERTH_ORIGIN_STATE,
  BERTH_ORIGIN_RUNTIME,
  BERTH_ORIGIN_CACHE,
  BERTH_ORIGIN_OWNER,
  BERTH_ORIGIN_AGENT,
  BERTH_ORIGINS
};

struct berth_host
{
  char *state_dir;
  char *runtime_dir;
  char *cache_dir;
  char *config_file; /* "" when there is none */
  char *system_config_file; /* for keys that the user's file does not have; NULL: none */
  char *origins[BERTH_ORIGINS];
  char *agent;
  char *owner;
  struct berth_store *store;
  struct berth_registry *registry;
  struct berth_limits limits;
  struct berth_audit_settings audit;
  void (*log) (void *context, uint32_t level, const char *line);
  void *log_context;
  pthread_mutex_t mutex; /* of `warned` */
  char **warned;         /* backends whose unknown tier was told, in this process */
  size_t warned_count;
};

/* A record as it was later, kept until the handle is closed, since others may be reading it. */
struct berth_known
{
  struct berth_record record;
  struct berth_known *older;
};

struct berth_sandbox
{
  struct berth_host *host;
  struct berth_record record; /* as it was when the handle was made; never changes */
  bool creator;               /* this handle made it: an owned sandbox ends with it */
  pthread_mutex_t mutex;      /* of those below; never held while a backend is called */
  struct berth_instance *instance;
  struct berth_handle *handle;
  struct berth_handle **retired; /* of before a stop or start; others may still be using them */
  size_t retired_count;
  struct berth_known *known; /* newest first; NULL: `record` is */
  int64_t starts;            /* of the record, when that was last compared */
};

void berth_host_logf (struct berth_host *host, uint32_t level, const char *format, ...) BERTH_FORMAT (3, 4);

int berth_no_memory (struct berth_error *error);

/* Copies the caller's options over OURS, which holds the defaults and its own size: a caller
 * with an older, shorter struct leaves the rest as it is.  THEIRS may be NULL.  -1: the size is
 * no size. */
int berth_options_take (void *ours, const void *theirs, struct berth_error *error);

/* ---- handles ---- */

/* An empty handle: its record is the caller's to fill. */
struct berth_sandbox *berth_sandbox_new (struct berth_host *host);
/* A handle on the record ID. */
int berth_sandbox_load (struct berth_host *host, const char *id, struct berth_sandbox **out, struct berth_error *error);
/* The instance of its backend, opened at first need. */
int berth_sandbox_instance (struct berth_sandbox *sandbox, struct berth_instance **out, struct berth_error *error);
/* The backend's handle, connected at first need; only for a sandbox that runs. */
int berth_sandbox_connect (struct berth_sandbox *sandbox, struct berth_cancel *cancel, struct berth_handle **out,
                           struct berth_error *error);
/* What a use of one with that record is answered: 0 where it runs, else WRONG_STATE. */
int berth_sandbox_check_runs (const struct berth_record *record, struct berth_error *error);
/* Puts the backend's handle aside when somebody has started the sandbox since. */
void berth_sandbox_follow_starts (struct berth_sandbox *sandbox, int64_t starts);
/* Puts the backend's handle aside until the end, so that the next use connects again. */
void berth_sandbox_retire (struct berth_sandbox *sandbox);
/* From now on the handle is one of what REPLACEMENT is, whose handle and record it takes over. */
int berth_sandbox_succeed (struct berth_sandbox *sandbox, struct berth_sandbox *replacement, struct berth_error *error);
/* Lets the backend's handle go, if there is one. */
void berth_sandbox_disconnect (struct berth_sandbox *sandbox);
/* Lets a handle of the backend go. */
void berth_handle_release (struct berth_instance *instance, struct berth_handle *handle);
/* The native of RECORD that is in use, or NULL: nothing has been made. */
const struct berth_record_native *berth_record_current (const struct berth_record *record);

/* The native that the handle was last connected to, or would be; lives as long as the handle. */
const struct berth_record_native *berth_sandbox_native (struct berth_sandbox *sandbox);

/* The network's default for what is made after the model of RECORD: nothing, when nobody knows what
 * it had. */
static inline uint32_t
berth_record_network (const struct berth_record *record)
{
  return record->network_default != 0 ? (uint32_t) record->network_default : BERTH_DENY;
}

/* Whether its boot-time deadline and its owner's number mean anything now. */
bool berth_record_is_of_this_boot (const struct berth_record *record);

/* 0 when every bit of NEEDED is among the capabilities of the sandbox. */
int berth_require_capability (const char *backend, uint64_t have, uint64_t needed, struct berth_error *error);

#endif

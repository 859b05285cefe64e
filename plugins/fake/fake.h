/* fake.h - the parts of the `fake` backend and what they share.
 *
 * Everything about a sandbox is in files below the state directory of the instance, so that
 * several processes see the same sandboxes:
 *
 *   lock                  flock: one reader or writer of facts at a time
 *   faults, clock         override the settings of these names, for tests that change them
 *   sandboxes/ID/         one sandbox: record.json (its facts), tree/ (its files, see tree.h),
 *                         secrets.json, processes/, contexts/, journal, events, owner
 *   snapshots/ID/         record.json and tree/
 *   pools/NAME.json, volumes/NAME/, ledger
 *
 * Nothing is kept in memory but what the settings say.  The lock is never held while a sink or
 * source of the host is called, nor while the backend waits. */
#ifndef BERTH_FAKE_H
#define BERTH_FAKE_H

#include <berth/backend.h>
#include <pthread.h>

#include "sdk/base/buffer.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/json.h"

struct fake_pump;

struct berth_state
{
  struct berth_instance *instance;
  int directory; /* the instance's state directory */
  uint64_t capabilities;
  uint64_t unenforced; /* BERTH_SPEC_* that this instance cannot enforce */
  uint32_t tier;
  int clock; /* -1: the machine's; else a file with milliseconds, read each time */
  int64_t price;
  const char *faults; /* the settings' texts, the host's */
  const char *script;
  const char *gpu;
  const char *volumes;
  int private_required;
  pthread_mutex_t pumps_lock;
  struct fake_pump *pumps; /* of dialled streams; ended by close */
};

struct berth_handle
{
  struct berth_state *state;
  char *native_id;
  int64_t boot; /* handles end with stop and start, see fake_box_for_handle */
  int owner;    /* the locked owner file of a sandbox made OWNED; else -1 */
};

/* --- state.c: the instance, its lock and its clock ------------------------------------------ */

#define FAKE_ID_MAX 200

int64_t fake_now_ms (struct berth_state *state);
/* Locks the facts; closing the descriptor unlocks.  -1 with the reason recorded. */
int fake_lock (struct berth_call *call, struct berth_state *state);
/* An error of the machine's while WHAT was done to the backend's own files: returns -1. */
int fake_failed (struct berth_call *call, const char *what);
/* 0, or -1 with CANCELLED or TIMEOUT recorded. */
int fake_check (struct berth_call *call);
/* Waits a little, for what other processes or the clock do; as fake_check. */
int fake_tick (struct berth_call *call);
/* Waits MILLISECONDS of the machine's time; as fake_check. */
int fake_wait (struct berth_call *call, int64_t milliseconds);
/* Whether ITEM is in a list that is separated by commas or spaces. */
int fake_listed (const char *list, const char *item, size_t size);
/* CAPABILITY_NOT_SUPPORTED unless the instance has it. */
int fake_needs (struct berth_call *call, struct berth_state *state, uint64_t bit, const char *what);
/* A folder of ours to read; NULL with errno. */
DIR *fake_directory_open (int directory, const char *path);
/* The whole of a file of ours as JSON; NULL with errno (ENOENT: none, EINVAL: damaged). */
struct berth_json *fake_json_load (int directory, const char *path);
int fake_json_save (int directory, const char *path, const struct berth_json *json);
/* Members of records; a missing text is NULL and a missing number 0. */
const char *fake_text (const struct berth_json *record, const char *key);
int64_t fake_number (const struct berth_json *record, const char *key);

/* --- faults.c: what the `faults` setting asks for -------------------------------------------- */

/* Does what is asked for at POINT ("files.write", "lifecycle.create.3"): waits, fails, hangs, or
 * ends the process.  0, or -1 with the reason recorded. */
int fake_point (struct berth_call *call, struct berth_state *state, const char *point);
/* Step N of POINT. */
int fake_step (struct berth_call *call, struct berth_state *state, const char *point, unsigned int step);
/* Whether ACTION is asked for at POINT; ARGUMENT (may be NULL) gets its argument or "". */
int fake_fault (struct berth_state *state, const char *point, const char *action, char argument[64]);

/* --- box.c: one sandbox's facts ----------------------------------------------------------------- */

/* A sandbox whose facts are locked: nobody else reads or changes them until fake_box_close. */
struct fake_box
{
  struct berth_state *state;
  int lock;
  int directory; /* sandboxes/ID */
  struct berth_json *record;
  char id[FAKE_ID_MAX + 1];
};
#define FAKE_BOX_INIT { NULL, -1, -1, NULL, "" }
#define FAKE_AUTO_BOX BERTH_CLEANUP (fake_box_close)

int fake_id_is_valid (const char *id);
/* Locks and reads it: 1, with a NULL record when it is half-made; 0 when there is none; -1.  What
 * has come to its end meanwhile is removed first. */
int fake_box_find (struct berth_call *call, struct berth_state *state, const char *id, struct fake_box *box);
/* The same: 0, or -1 with SANDBOX_NOT_FOUND, or WRONG_STATE when it is half-made. */
int fake_box_open (struct berth_call *call, struct berth_state *state, const char *id, struct fake_box *box);
/* The same for the data plane of a handle: WRONG_STATE unless it runs, and no restart since. */
int fake_box_for_handle (struct berth_call *call, struct berth_handle *handle, struct fake_box *box);
/* Of something that the host knows by its native identity: checks the private data. */
int fake_box_for_native (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
                         struct fake_box *box);
int fake_private_check (struct berth_call *call, const struct berth_native *native, const struct fake_box *box);
int fake_box_save (struct berth_call *call, struct fake_box *box);
/* Forgets it and everything of it. */
int fake_box_remove (struct berth_call *call, struct fake_box *box);
void fake_box_close (struct fake_box *box);
/* Appends a line to the file of events that `diagnostics` tells. */
void fake_box_event (struct fake_box *box, const char *format, ...) BERTH_FORMAT (2, 3);
/* Calls VISIT for each name in FOLDER of the state directory, in order after AFTER (may be NULL),
 * until it returns other than 0; returns that. */
int fake_each_name (struct berth_call *call, struct berth_state *state, const char *folder, const char *after,
                    int (*visit) (void *context, const char *name), void *context);
/* The same for sandboxes, half-made ones too; each is locked while it is visited. */
int fake_box_each (struct berth_call *call, struct berth_state *state, const char *after,
                   int (*visit) (void *context, struct berth_call *call, struct fake_box *box), void *context);
void fake_expiry_of (struct berth_state *state, const struct berth_json *record, struct berth_expiry *expiry);
/* Tells a sandbox to TELL; BOX is unlocked first. */
int fake_box_tell (struct fake_box *box, int (*tell) (void *context, const struct berth_found *found), void *context);

/* --- spec.c: what a specification gets ------------------------------------------------------------- */

/* The names of the limits of a specification, as the setting `unenforced` writes them. */
uint64_t fake_limits_parse (const char *list);
uint64_t fake_capabilities_parse (const char *list);
int fake_spec_check (struct berth_call *call, struct berth_state *state, const struct berth_spec *spec);
/* The facts of a new sandbox; secrets are left out.  NULL without memory. */
struct berth_json *fake_spec_record (struct berth_state *state, const struct berth_spec *spec);
/* The specification's secret environment, an array that may be empty.  NULL without memory. */
struct berth_json *fake_spec_secrets (const struct berth_spec *spec);
int fake_spec_lists (struct berth_json *record, const struct berth_spec *spec);
int fake_variable_is_valid (const char *name);
const char *fake_volume_of_route (const char *route); /* a part of ROUTE, or NULL */
void fake_effective_from_record (struct berth_state *state, const struct berth_json *record,
                                 struct berth_effective *effective);

/* --- create.c ---------------------------------------------------------------------------------------- */

/* What creating differs in: where the files come from. */
struct fake_origin
{
  const char *point;    /* of faults */
  const char *snapshot; /* restore: snapshots/ID; else NULL */
  const char *sandbox;  /* fork: sandboxes/ID; else NULL */
  const char *pool;     /* a warm sandbox for a pool; else NULL */
};
int fake_create (struct berth_call *call, struct berth_state *state, const struct berth_spec *spec,
                 const struct fake_origin *origin, const struct berth_create_sink *sink, struct berth_handle **out);
struct berth_handle *fake_handle_new (struct berth_call *call, struct berth_state *state, const struct fake_box *box);
void fake_handle_free (struct berth_handle *handle); /* NULL is allowed */
/* Tells native id and private data of a sandbox, as `created` wants them. */
int fake_tell_created (const struct berth_create_sink *sink, const char *id, const char *token);

/* --- dial.c ----------------------------------------------------------------------------------------------- */

/* INVALID_REQUEST, or POLICY_DENIED when the specification lists ports and not this one. */
int fake_port_check (struct berth_call *call, struct fake_box *box, uint32_t port);

/* --- network.c ------------------------------------------------------------------------------------------ */

int fake_policy_check (struct berth_call *call, struct berth_state *state, const struct berth_policy *policy);
struct berth_json *fake_policy_to_json (const struct berth_policy *policy);
/* Whether the policy of a sandbox lets it reach HOST:PORT; a denial is recorded. */
int fake_policy_admits (struct fake_box *box, const char *host, uint32_t port);

/* --- processes.c ----------------------------------------------------------------------------------------- */

/* Ends every process session of a sandbox, as stop does. */
int fake_processes_end (struct berth_call *call, struct fake_box *box);

/* --- journal.c: changes of files, for watch ----------------------------------------------------------- */

void fake_journal_add (struct fake_box *box, uint32_t event, const char *path);

/* --- the groups ------------------------------------------------------------------------------------------ */

extern const struct berth_lifecycle_ops fake_lifecycle;
extern const struct berth_commands_ops fake_commands;
extern const struct berth_files_ops fake_files;
extern const struct berth_workspace_ops fake_workspace;
extern const struct berth_probe_ops fake_probe;
extern const struct berth_inventory_ops fake_inventory;
extern const struct berth_expiry_ops fake_expiry;
extern const struct berth_correlation_ops fake_correlation;
extern const struct berth_pause_ops fake_pause;
extern const struct berth_restart_ops fake_restart;
extern const struct berth_processes_ops fake_processes;
extern const struct berth_dial_ops fake_dial;
extern const struct berth_endpoints_ops fake_endpoints;
extern const struct berth_signing_ops fake_signing;
extern const struct berth_network_ops fake_network;
extern const struct berth_network_update_ops fake_network_update;
extern const struct berth_credentials_ops fake_credentials;
extern const struct berth_isolated_ops fake_isolated;
extern const struct berth_recovery_ops fake_recovery;
extern const struct berth_pool_ops fake_pool;
extern const struct berth_snapshots_ops fake_snapshots;
extern const struct berth_fork_ops fake_fork;
extern const struct berth_code_ops fake_code;
extern const struct berth_contexts_ops fake_contexts;
extern const struct berth_volumes_ops fake_volumes;
extern const struct berth_metrics_ops fake_metrics;
extern const struct berth_diagnostics_ops fake_diagnostics;
extern const struct berth_watch_ops fake_watch;
extern const struct berth_costs_ops fake_costs;
extern const struct berth_native_ops fake_native;

#endif

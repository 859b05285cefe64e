/* berth/berth.h - the application API of libberth.
 *
 * A host (struct berth_host) is an opened state directory with its backends.  Handles are
 * opaque, every function may be called from any thread, and there are no globals: a process
 * may hold several hosts.  A handle may be used by several threads at once, except that its
 * `close` must be the last call on it.  Functions block; a struct berth_cancel ends them early.
 *
 * Functions return 0, or -1 with *ERROR filled (ERROR may be NULL).  Texts in results live
 * until the callback that was given them returns or, in result structs, until the matching
 * `_clear`; texts given to a function need to live only until it returns.
 *
 * Options are structs that begin with their size and are initialised with their _INIT macro,
 * so that a program compiled today works with a later library.  A number left at BERTH_UNSET
 * takes the default; zero and negative numbers are refused, never read as "unlimited".
 *
 * Everything is since 0.1. */
#ifndef BERTH_BERTH_H
#define BERTH_BERTH_H

#include <berth/errors.h>
#include <berth/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A number that was not given. */
#define BERTH_UNSET INT64_MIN

struct berth_host;
struct berth_sandbox;
struct berth_cancel;

/* Version of the library, such as "0.1.0"; static. */
BERTH_EXPORT const char *berth_version (void);

/* ---- errors ---- */

/* Owned by the caller, plain memory: copy it as you like.  Texts are redacted. */
struct berth_error
{
  uint32_t code;        /* enum berth_error_code */
  uint32_t http_status; /* code / 100, or the service's own where it is known */
  int64_t retry_after_ms; /* with RATE_LIMITED and UNREACHABLE; else 0 */
  char message[1024];   /* names the thing: got, want */
  char hint[512];       /* what to do; may be empty */
  char backend[64];     /* instance that failed; may be empty */
};

/* "SANDBOX_NOT_FOUND" and the like; "UNKNOWN" for a code that this library does not know.
 * Static. */
BERTH_EXPORT const char *berth_error_name (uint32_t code);

/* ---- cancellation ---- */

/* One token may be given to several calls; it stays triggered. */
BERTH_EXPORT int berth_cancel_new (struct berth_cancel **out, struct berth_error *error);
/* Async-signal-safe. */
BERTH_EXPORT void berth_cancel_trigger (struct berth_cancel *cancel);
/* 1 once triggered. */
BERTH_EXPORT int berth_cancel_triggered (const struct berth_cancel *cancel);
/* NULL is allowed; no call may be using it any more. */
BERTH_EXPORT void berth_cancel_free (struct berth_cancel *cancel);

/* ---- the host ---- */

enum berth_host_flag
{
  BERTH_HOST_ALLOW_TEST_BACKENDS = 1 /* backends that execute nothing may be used */
};

struct berth_host_options
{
  uint32_t struct_size;
  uint32_t flags;           /* enum berth_host_flag */
  const char *state_dir;    /* NULL: BERTH_STATE_DIR, else /var/lib/berth or the XDG one */
  const char *runtime_dir;  /* NULL: BERTH_RUNTIME_DIR, else /run/berth or below XDG_RUNTIME_DIR */
  const char *config_file;  /* NULL: BERTH_CONFIG, else the user's, then the system's berth.conf */
  const char *backend_path; /* colon-separated directories searched before the installed one */
  const char *owner;        /* whose sandboxes; NULL: the user's name */
  /* Log lines and warnings (enum berth_level), from any thread; NULL: nothing is logged. */
  void (*log) (void *context, uint32_t level, const char *line);
  void *log_context;
};
#define BERTH_HOST_OPTIONS_INIT                                                                   \
  { sizeof (struct berth_host_options), 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL }

/* Opens the state, making it on first use; loads no backend.  OPTIONS may be NULL. */
BERTH_EXPORT int berth_host_open (const struct berth_host_options *options, struct berth_host **out,
                                  struct berth_error *error);
/* Every sandbox of it must be closed.  Backends stay loaded.  NULL is allowed. */
BERTH_EXPORT void berth_host_close (struct berth_host *host);

/* What rebuilding found; texts that do not apply are NULL. */
enum berth_recovery_kind
{
  BERTH_RECOVERY_ASIDE = 1,      /* the damaged database is now called `detail` */
  BERTH_RECOVERY_RECORDED = 2,   /* a sandbox (or a snapshot, "sn-") of ours, on record again */
  BERTH_RECOVERY_LEFT = 3,       /* not ours, or nobody can say whose: nothing was done */
  BERTH_RECOVERY_UNREACHABLE = 4 /* a backend that could not be asked */
};
struct berth_recovery
{
  uint32_t struct_size;
  uint32_t kind; /* enum berth_recovery_kind */
  const char *backend;
  const char *id;
  const char *name;
  const char *state;
  const char *native_id;
  const char *detail; /* for people */
};

/* For a state directory whose database is damaged or lost: sets it aside, begins a new one of the same
 * installation, and records again the sandboxes that are ours, from their labels, and the snapshots whose
 * files are whole.  Nothing is destroyed.  Private data of backends, environments and specifications are lost with it; an end
 * that nobody knows becomes the default one from now on.  CONFLICT when the database is sound or
 * in use. */
BERTH_EXPORT int berth_host_rebuild (const struct berth_host_options *options,
                                     void (*visit) (void *context, const struct berth_recovery *what), void *context,
                                     struct berth_error *error);

/* ---- sandboxes ---- */

/* What becomes of a sandbox that nobody uses.  What is run in it, its files, archives, a snapshot
 * and a rollback are uses, for as long as they take; resuming and starting it count as one; looking
 * at it (open, list, inspect) and renewing it do not.  Done it is by whoever creates, lists or reaps
 * next, as the end of those whose time has passed; time that it is paused or stopped does not count. */
enum berth_idle
{
  BERTH_IDLE_KEEP = 1,
  BERTH_IDLE_PAUSE = 2, /* needs PAUSE */
  BERTH_IDLE_STOP = 3,  /* needs RESTART */
  BERTH_IDLE_DESTROY = 4
};

struct berth_create_options
{
  uint32_t struct_size;
  uint32_t minimum_tier; /* enum berth_tier; 0: no requirement */
  const char *name;      /* unique per owner; NULL: none.  [a-z0-9]([a-z0-9._-]{0,62}) */
  const char *backend;   /* instance name; NULL: the default one */
  const char *image;     /* NULL: the backend's default */
  const char *user;      /* of commands that name none; NULL: the sandbox user */
  const char *request_id;                /* idempotency key: the same key gives the same sandbox, also after a crash;
                                          * with another specification it is CONFLICT, and CREATE_INTERRUPTED
                                          * where nobody can say what the first try made */
  const struct berth_pair *environment;  /* of every command */
  uint64_t environment_count;
  const struct berth_pair *labels;       /* the caller's metadata */
  uint64_t label_count;
  const struct berth_policy *network;    /* NULL: deny */
  int64_t memory_bytes;
  int64_t cpu_milli;
  int64_t pids;
  int64_t disk_bytes;
  int64_t tmp_bytes;
  int64_t shm_bytes;       /* size of /dev/shm */
  int64_t file_size_bytes; /* largest single file */
  int64_t open_files;
  int64_t ttl_ms;
  int64_t timeout_ms;    /* deadline of the create itself */
  uint32_t owned;        /* 1: ends within seconds when this process goes away or closes the handle */
  uint32_t forbid_root;  /* 1: no command runs as uid 0 */
  uint32_t best_effort;  /* 1: limits that cannot be enforced are left out and shown, not refused */
  uint32_t user_namespaces; /* 1: the workload may make user namespaces, which protects less */
  struct berth_cancel *cancel;
  /* Progress of long work; TOTAL 0: not known.  NULL: none. */
  void (*progress) (void *context, const char *phase, uint64_t done, uint64_t total);
  void *progress_context;
  const char *snapshot; /* id or name of one that the workspace begins with; NULL: it is empty */
  const char *base;     /* name of an environment that holds for what is not said here; NULL: none */
  int64_t idle_ms;      /* when nobody has used it for so long, `idle_action` is done; BERTH_UNSET: never */
  uint32_t idle_action; /* enum berth_idle; 0: not said */
  uint32_t idle_resume; /* 1: what that made stand still goes on by itself when somebody uses it */
};
#define BERTH_CREATE_OPTIONS_INIT                                                                 \
  { sizeof (struct berth_create_options), 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, 0, NULL, BERTH_UNSET, BERTH_UNSET, BERTH_UNSET, \
    BERTH_UNSET, BERTH_UNSET, BERTH_UNSET, BERTH_UNSET, BERTH_UNSET, BERTH_UNSET, BERTH_UNSET, 0, 0, 0, 0, NULL, \
    NULL, NULL, NULL, NULL, BERTH_UNSET, 0, 0 }

/* Makes a sandbox.  On failure nothing is left behind.  OPTIONS may be NULL. */
BERTH_EXPORT int berth_sandbox_create (struct berth_host *host, const struct berth_create_options *options,
                                       struct berth_sandbox **out, struct berth_error *error);

/* Finds one by id, name, or a prefix of an id that only one sandbox has.  SANDBOX_NOT_FOUND;
 * CONFLICT when the prefix is ambiguous (the message names the candidates).  Does not touch
 * the sandbox: it neither resumes it nor moves its end. */
BERTH_EXPORT int berth_sandbox_open (struct berth_host *host, const char *name, struct berth_sandbox **out,
                                     struct berth_error *error);

/* Lets go of the handle; the sandbox lives on, unless it was created `owned`.  NULL is allowed. */
BERTH_EXPORT void berth_sandbox_close (struct berth_sandbox *sandbox);

/* The id, "sb-" and 20 characters; lives as long as the handle. */
BERTH_EXPORT const char *berth_sandbox_id (const struct berth_sandbox *sandbox);

/* What became of a sandbox that was to be destroyed.  A struct, so that it cannot be mistaken
 * for a boolean. */
enum berth_outcome
{
  BERTH_OUTCOME_CONFIRMED = 1,    /* proven gone */
  BERTH_OUTCOME_UNCONFIRMED = 2,  /* asked, not proven: the record is kept */
  BERTH_OUTCOME_REFUSED = 3,      /* the runtime will not remove it: the record is kept */
  BERTH_OUTCOME_RETAINED = 4,     /* not ours to destroy: nothing was done */
  BERTH_OUTCOME_NOTHING_NAMED = 5 /* nothing had been made: only the record was there */
};
struct berth_destruction
{
  uint32_t outcome; /* enum berth_outcome */
  uint32_t reserved;
  char detail[256]; /* for people: what was observed */
};

/* Ends and removes it and proves it.  The outcome tells; -1 only when it could not even be
 * tried.  The handle still has to be closed.  OUT may be NULL. */
BERTH_EXPORT int berth_sandbox_destroy (struct berth_sandbox *sandbox, struct berth_destruction *out,
                                        struct berth_error *error);

/* No process makes progress until resume; its files and id stay.  Twice is harmless.  WRONG_STATE
 * unless it runs or is paused; needs PAUSE.  CANCEL may be NULL. */
BERTH_EXPORT int berth_sandbox_pause (struct berth_sandbox *sandbox, struct berth_cancel *cancel,
                                      struct berth_error *error);
/* Goes on where it was paused; a running one succeeds. */
BERTH_EXPORT int berth_sandbox_resume (struct berth_sandbox *sandbox, struct berth_cancel *cancel,
                                       struct berth_error *error);
/* Ends every process and keeps the workspace.  Twice is harmless; needs RESTART. */
BERTH_EXPORT int berth_sandbox_stop (struct berth_sandbox *sandbox, struct berth_cancel *cancel,
                                     struct berth_error *error);
/* Brings it back with the same id, limits and policy: a stopped one, and one whose machine was
 * restarted or whose first process died.  One that runs succeeds; a paused one is WRONG_STATE. */
BERTH_EXPORT int berth_sandbox_start (struct berth_sandbox *sandbox, struct berth_cancel *cancel,
                                      struct berth_error *error);

/* Its end is TTL_MS from now, sooner or later than before; BERTH_UNSET: as long as it was made for, and
 * no sooner than before.  Time that it is paused or stopped does not count: then it is what it will
 * have left.  WRONG_STATE once its end has passed: what expired is removed.  OUT, which may be
 * NULL, is what now holds. */
BERTH_EXPORT int berth_sandbox_renew (struct berth_sandbox *sandbox, int64_t ttl_ms, struct berth_expiry *out,
                                      struct berth_error *error);

/* Cleanup attribute for scoped use: destroys the sandbox and closes the handle on every way
 * out of the scope.
 *
 *   BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL; */
BERTH_EXPORT void berth_sandbox_cleanup (struct berth_sandbox **sandbox);
#define BERTH_AUTO_SANDBOX __attribute__ ((cleanup (berth_sandbox_cleanup)))

/* Everything that is known of a sandbox.  Numbers are those in force; 0 where nothing is
 * enforced (see `enforced`). */
struct berth_sandbox_info
{
  uint32_t struct_size;
  uint32_t tier; /* enum berth_tier, of this instance */
  const char *id;
  const char *name;    /* or NULL */
  const char *owner;
  const char *backend; /* instance name */
  const char *state;   /* creating running paused stopped destroying failed; "unreachable" when it cannot be asked */
  const char *image;
  const char *native_id;
  const char *runtime; /* for people; or NULL */
  const char *evidence_url;  /* of the tier; or NULL */
  const char *evidence_date; /* or NULL */
  const struct berth_pair *labels;
  uint64_t label_count;
  const struct berth_pair *environment; /* secret values are left out */
  uint64_t environment_count;
  uint64_t capabilities; /* BERTH_CAP_* of this instance */
  uint64_t enforced;     /* BERTH_SPEC_* in force */
  uint64_t posture;      /* BERTH_POSTURE_* that hold */
  int64_t created_wall_ms;
  struct berth_expiry expiry; /* kind 0: not known */
  uint64_t memory_bytes;
  uint64_t disk_bytes;
  uint64_t tmp_bytes;
  uint64_t shm_bytes;
  uint64_t file_size_bytes;
  uint32_t cpu_milli;
  uint32_t pids;
  uint32_t open_files;
  uint32_t network_default; /* enum berth_action; 0: not known */
  int64_t idle_ms;          /* 0: nothing becomes of it however long nobody uses it */
  uint32_t idle_action;     /* enum berth_idle, or 0 */
  uint32_t idle_resume;
  int64_t unused_ms;        /* since it was last used, 0 while it is; -1: nobody counts, or it stands still */
};

/* Calls VISIT once with what is known now; asks the backend for the state. */
BERTH_EXPORT int berth_sandbox_inspect (struct berth_sandbox *sandbox,
                                        void (*visit) (void *context, const struct berth_sandbox_info *info),
                                        void *context, struct berth_error *error);

struct berth_list_options
{
  uint32_t struct_size;
  uint32_t all_owners; /* 1: not only the host's own */
  const char *backend; /* NULL: every one */
  const struct berth_pair *labels; /* all must match; a NULL value matches any */
  uint64_t label_count;
};
#define BERTH_LIST_OPTIONS_INIT                                                                   \
  { sizeof (struct berth_list_options), 0, NULL, NULL, 0 }

/* Calls VISIT for every sandbox, oldest first, until it returns non-zero.  One whose backend
 * cannot be asked is told with state "unreachable".  OPTIONS may be NULL. */
BERTH_EXPORT int berth_sandbox_list (struct berth_host *host, const struct berth_list_options *options,
                                     int (*visit) (void *context, const struct berth_sandbox_info *info),
                                     void *context, struct berth_error *error);

/* Why a sandbox, or what is left of one, has no right to be there any more; or that this is not known. */
enum berth_reap_reason
{
  BERTH_REAP_EXPIRED = 1,             /* its end has passed */
  BERTH_REAP_ORPHANED = 2,            /* ours by its labels, and on no record */
  BERTH_REAP_CREATE_INTERRUPTED = 3,  /* the process that created it died */
  BERTH_REAP_DESTROY_INTERRUPTED = 4, /* it was to be destroyed, and that is not proven */
  BERTH_REAP_OWNER_DIED = 5,          /* it was to end with a process, which has ended */
  BERTH_REAP_UNREACHABLE = 6,         /* no sandbox: `backend` could not be asked for orphans, `detail` says why */
  BERTH_REAP_IDLE = 7                 /* nobody has used it for as long as it was made for */
};
struct berth_reaped
{
  uint32_t struct_size;
  uint32_t reason;   /* enum berth_reap_reason */
  uint32_t outcome;  /* enum berth_outcome; 0: nothing was destroyed */
  uint32_t action;   /* enum berth_idle: what is to become of it, or did; all but IDLE ones are destroyed */
  const char *backend;
  const char *id;        /* NULL of BERTH_REAP_UNREACHABLE only */
  const char *name;      /* this and the next three: or NULL */
  const char *owner;
  const char *native_id;
  const char *detail;    /* of the outcome, for people */
  const struct berth_pair *labels;
  uint64_t label_count;
};
struct berth_reap_options
{
  uint32_t struct_size;
  uint32_t kill;       /* 1: what is to become of them is done; 0: it is only told */
  uint32_t all_owners; /* 1: not only the host's own */
  uint32_t reserved;
  const char *backend; /* NULL: every one */
  const struct berth_pair *labels; /* all must match; a NULL value matches any */
  uint64_t label_count;
};
#define BERTH_REAP_OPTIONS_INIT                                                                   \
  { sizeof (struct berth_reap_options), 0, 0, 0, NULL, NULL, 0 }

/* Calls VISIT for everything of this installation that has no right to be there any more, until it
 * returns non-zero.  Never for what is being created or destroyed just now, for what is paused or
 * stopped, or for what is another installation's or of unknown origin.  A backend that cannot be
 * asked is told as BERTH_REAP_UNREACHABLE; one that is named and not there is an error, after what
 * is on record.  OPTIONS may be NULL: all of the owner's, told only. */
BERTH_EXPORT int berth_reap (struct berth_host *host, const struct berth_reap_options *options,
                             int (*visit) (void *context, const struct berth_reaped *what), void *context,
                             struct berth_error *error);

/* ---- commands ---- */

struct berth_exec_options
{
  uint32_t struct_size;
  uint32_t argument_count;
  const char *const *arguments; /* executed as is, no shell */
  const struct berth_pair *environment;
  uint64_t environment_count;
  const char *workdir;  /* absolute, or relative to /workspace; NULL: /workspace */
  const char *user;     /* NULL: the sandbox's default */
  int64_t timeout_ms;   /* of the command */
  int64_t max_output_bytes; /* both streams together; what is above is counted and dropped */
  struct berth_cancel *cancel;
  /* Output as it comes; non-zero ends the command.  NULL: collected into the result. */
  int (*output) (void *context, uint32_t stream, const void *bytes, size_t size);
  void *output_context;
};
#define BERTH_EXEC_OPTIONS_INIT                                                                   \
  { sizeof (struct berth_exec_options), 0, NULL, NULL, 0, NULL, NULL, BERTH_UNSET, BERTH_UNSET, NULL, NULL, NULL }

/* Owned by the caller; free its memory with berth_exec_result_clear. */
struct berth_exec_result
{
  uint32_t reason;  /* enum berth_reason */
  int32_t code;     /* EXITED: the status; else -1 */
  int32_t signal;   /* 0: none, or not known */
  int32_t status;   /* as a shell tells it: code, 124 timeout, 128 + signal */
  uint32_t streamed;  /* 1: the output went to the callback and the texts are empty */
  uint32_t truncated; /* 1: bytes above the limit were dropped */
  uint32_t pipe_held; /* 1: background processes still hold the output */
  uint32_t memory_kills; /* processes of the sandbox that its memory limit killed meanwhile */
  uint64_t duration_ns;
  uint64_t dropped_bytes;
  char *stdout_bytes; /* NUL-terminated after stdout_size bytes; NULL when streamed */
  size_t stdout_size;
  char *stderr_bytes;
  size_t stderr_size;
};

/* Runs one command with an empty standard input and waits for its end.  A command that fails,
 * times out or is killed is a result, not an error.  Cancelling ends its whole process tree. */
BERTH_EXPORT int berth_sandbox_run (struct berth_sandbox *sandbox, const struct berth_exec_options *options,
                                    struct berth_exec_result *out, struct berth_error *error);
BERTH_EXPORT void berth_exec_result_clear (struct berth_exec_result *result);

/* ---- files ----
 * Paths are literal, absolute or relative to /workspace.  Reads go anywhere the sandbox may
 * read, writes only below /workspace. */

struct berth_file_options
{
  uint32_t struct_size;
  uint32_t flags;      /* BERTH_FILE_OPTION_* */
  const char *owner;   /* account of the sandbox; NULL: the sandbox user */
  const char *group;
  int64_t mode;        /* permission bits; BERTH_UNSET: 0644, directories 0755 */
  int64_t max_bytes;   /* read: PAYLOAD_TOO_LARGE above it */
  int64_t offset;      /* read: from here; BERTH_UNSET: 0 */
  int64_t length;      /* read: at most so many bytes; BERTH_UNSET: to the end */
  struct berth_cancel *cancel;
};
#define BERTH_FILE_OPTION_NEW 1u        /* CONFLICT when it exists */
#define BERTH_FILE_OPTION_PARENTS 2u     /* make missing parents (write does so anyway) */
#define BERTH_FILE_OPTION_RECURSIVE 4u   /* remove, set_attributes: the tree below too */
#define BERTH_FILE_OPTION_MISSING_OK 8u  /* remove: a missing path succeeds */
#define BERTH_FILE_OPTION_FOLLOW 16u     /* stat: the target of a link */
#define BERTH_FILE_OPTIONS_INIT                                                                   \
  { sizeof (struct berth_file_options), 0, NULL, NULL, BERTH_UNSET, BERTH_UNSET, BERTH_UNSET, BERTH_UNSET, NULL }

/* Streams a file; SINK returns non-zero to stop, which makes the call fail with CANCELLED. */
BERTH_EXPORT int berth_file_read (struct berth_sandbox *sandbox, const char *path, const struct berth_file_options *options,
                                  int (*sink) (void *context, const void *bytes, size_t size), void *context,
                                  struct berth_error *error);
/* Streams into a file that appears at once or not at all.  SOURCE returns the bytes it has
 * put into the buffer, 0 at the end, -1 to give up.  SIZE is exact or BERTH_UNKNOWN_SIZE. */
BERTH_EXPORT int berth_file_write (struct berth_sandbox *sandbox, const char *path, const struct berth_file_options *options,
                                   uint64_t size, int64_t (*source) (void *context, void *bytes, size_t size), void *context,
                                   struct berth_error *error);
BERTH_EXPORT int berth_file_list (struct berth_sandbox *sandbox, const char *path, const struct berth_file_options *options,
                                  int (*visit) (void *context, const struct berth_file_info *info), void *context,
                                  struct berth_error *error);
BERTH_EXPORT int berth_file_stat (struct berth_sandbox *sandbox, const char *path, const struct berth_file_options *options,
                                  int (*visit) (void *context, const struct berth_file_info *info), void *context,
                                  struct berth_error *error);
BERTH_EXPORT int berth_file_make_directory (struct berth_sandbox *sandbox, const char *path,
                                            const struct berth_file_options *options, struct berth_error *error);
BERTH_EXPORT int berth_file_move (struct berth_sandbox *sandbox, const char *from, const char *to,
                                  const struct berth_file_options *options, struct berth_error *error);
BERTH_EXPORT int berth_file_remove (struct berth_sandbox *sandbox, const char *path,
                                    const struct berth_file_options *options, struct berth_error *error);
BERTH_EXPORT int berth_file_set_attributes (struct berth_sandbox *sandbox, const char *path,
                                            const struct berth_file_options *options, struct berth_error *error);

/* ---- the workspace ---- */

struct berth_workspace_options
{
  uint32_t struct_size;
  uint32_t reserved;
  int64_t max_bytes; /* PAYLOAD_TOO_LARGE while streaming */
  struct berth_cancel *cancel;
};
#define BERTH_WORKSPACE_OPTIONS_INIT                                                              \
  { sizeof (struct berth_workspace_options), 0, BERTH_UNSET, NULL }

/* A pax tar of /workspace.  REPORT may be NULL; it says what was lost or moved meanwhile. */
BERTH_EXPORT int berth_workspace_export (struct berth_sandbox *sandbox, const struct berth_workspace_options *options,
                                         int (*sink) (void *context, const void *bytes, size_t size), void *context,
                                         struct berth_tar_report *report, struct berth_error *error);
/* What is there stays, unless an entry has its name. */
BERTH_EXPORT int berth_workspace_import (struct berth_sandbox *sandbox, const struct berth_workspace_options *options,
                                         int64_t (*source) (void *context, void *bytes, size_t size), void *context,
                                         struct berth_error *error);

/* ---- snapshots ---- */

/* A snapshot is a workspace at one moment, kept packed in the state directory.  It outlives its
 * sandbox and says its `kind`: "workspace", nothing of processes or memory.  Texts that do not
 * apply are NULL. */
struct berth_snapshot_info
{
  uint32_t struct_size;
  uint32_t consistent; /* 1: nothing ran while it was made; 0: what changed meanwhile may be half in it, or not */
  const char *id;      /* "sn-" and 20 characters */
  const char *name;
  const char *owner;
  const char *kind;
  const char *sandbox; /* id of the one it was made of, which may be gone */
  const char *backend; /* instance name */
  const char *image;
  const char *checksum; /* SHA-256 of what is stored, in hexadecimal */
  int64_t created_wall_ms;
  uint64_t bytes;     /* as stored */
  uint64_t tar_bytes; /* unpacked */
  uint64_t entries;   /* files, directories and links */
};

struct berth_snapshot_options
{
  uint32_t struct_size;
  uint32_t memory;    /* 1: processes and memory too; CAPABILITY_NOT_SUPPORTED where there is nothing for it */
  const char *name;   /* unique among the owner's snapshots, as that of a sandbox; NULL: none */
  int64_t max_bytes;  /* of the workspace as a tar: PAYLOAD_TOO_LARGE above it, and nothing is kept */
  struct berth_cancel *cancel;
  /* As that of create. */
  void (*progress) (void *context, const char *phase, uint64_t done, uint64_t total);
  void *progress_context;
};
#define BERTH_SNAPSHOT_OPTIONS_INIT                                                               \
  { sizeof (struct berth_snapshot_options), 0, NULL, BERTH_UNSET, NULL, NULL, NULL }

/* Makes a snapshot of a running sandbox and tells VISIT of it (which may be NULL).  The sandbox is
 * held still meanwhile where its backend can export what is paused; other calls on it wait for that.  On
 * failure nothing is left.
 * QUOTA_EXCEEDED, CONFLICT when the name is taken.  OPTIONS may be NULL. */
BERTH_EXPORT int berth_sandbox_snapshot (struct berth_sandbox *sandbox, const struct berth_snapshot_options *options,
                                         void (*visit) (void *context, const struct berth_snapshot_info *info),
                                         void *context, struct berth_error *error);

struct berth_snapshot_list_options
{
  uint32_t struct_size;
  uint32_t all_owners; /* 1: not only the host's own */
  const char *sandbox; /* id of the one they were made of; NULL: of every one */
};
#define BERTH_SNAPSHOT_LIST_OPTIONS_INIT                                                          \
  { sizeof (struct berth_snapshot_list_options), 0, NULL }

/* Calls VISIT for every snapshot, oldest first, until it returns non-zero.  OPTIONS may be NULL. */
BERTH_EXPORT int berth_snapshot_list (struct berth_host *host, const struct berth_snapshot_list_options *options,
                                      int (*visit) (void *context, const struct berth_snapshot_info *info),
                                      void *context, struct berth_error *error);
/* By id, name, or a prefix of an id that only one has: NOT_FOUND, CONFLICT. */
BERTH_EXPORT int berth_snapshot_inspect (struct berth_host *host, const char *name,
                                         void (*visit) (void *context, const struct berth_snapshot_info *info),
                                         void *context, struct berth_error *error);
BERTH_EXPORT int berth_snapshot_remove (struct berth_host *host, const char *name, struct berth_error *error);

struct berth_rollback_options
{
  uint32_t struct_size;
  uint32_t reserved;
  struct berth_cancel *cancel;
  void (*progress) (void *context, const char *phase, uint64_t done, uint64_t total);
  void *progress_context;
};
#define BERTH_ROLLBACK_OPTIONS_INIT                                                               \
  { sizeof (struct berth_rollback_options), 0, NULL, NULL, NULL }

/* Takes a running sandbox back to SNAPSHOT (an id or name), which need not be one of its own: a
 * replacement with the same id, name, limits, policy and end is made and filled first, then it
 * takes the place of the old one, which is destroyed with all its processes.  Until then, and on
 * failure, the old one stays as it is.  For that moment the machine holds both.  Handles go on
 * with the new one.  WRONG_STATE for one that is not running, or has secrets in its environment, which
 * nobody kept.  OPTIONS may be NULL. */
BERTH_EXPORT int berth_sandbox_rollback (struct berth_sandbox *sandbox, const char *snapshot,
                                         const struct berth_rollback_options *options, struct berth_error *error);

struct berth_fork_options
{
  uint32_t struct_size;
  uint32_t count;       /* of children, 1 to 1000 */
  const char *snapshot; /* that they begin with; NULL: one that is made now, and removed at the end */
  struct berth_cancel *cancel;
  void (*progress) (void *context, const char *phase, uint64_t done, uint64_t total);
  void *progress_context;
};
#define BERTH_FORK_OPTIONS_INIT                                                                   \
  { sizeof (struct berth_fork_options), 1, NULL, NULL, NULL, NULL }

/* What became of one child. */
struct berth_fork_result
{
  uint32_t struct_size;
  uint32_t index;                  /* from 0 */
  const char *id;                  /* NULL: it was not made */
  const struct berth_error *error; /* NULL: it was made */
};

/* Makes sandboxes with the limits, policy, environment and labels of SANDBOX, and its workspace; each
 * is a sandbox of its own, without a name.  VISIT is called once for each, in order; one that fails does not
 * keep the others from being made.  -1 only when none could be tried.  OPTIONS may be NULL. */
BERTH_EXPORT int berth_sandbox_fork (struct berth_sandbox *sandbox, const struct berth_fork_options *options,
                                     void (*visit) (void *context, const struct berth_fork_result *result),
                                     void *context, struct berth_error *error);

/* ---- environments ---- */

/* How the sandboxes of an environment are going to be used. */
enum berth_sessions
{
  BERTH_SESSIONS_INTERACTIVE = 1, /* programs that are talked to: needs PROCESS_SESSIONS */
  BERTH_SESSIONS_TERMINAL = 2,    /* on a terminal: needs PROCESS_SESSIONS and PTY */
  BERTH_SESSIONS_SHARED = 3       /* by several at once: needs ISOLATED_SESSIONS */
};

struct berth_environment_options
{
  uint32_t struct_size;
  uint32_t sessions;    /* enum berth_sessions; 0: commands only */
  const struct berth_create_options *create; /* NULL: all defaults.  Values of secrets may be NULL */
  const char *pool;             /* prepared capacity to take them from: refused by this version */
  const char *workspace_volume; /* where /workspace is kept: refused by this version */
};
#define BERTH_ENVIRONMENT_OPTIONS_INIT                                                            \
  { sizeof (struct berth_environment_options), 0, NULL, NULL, NULL }

/* Saves options of create under a name, in place of what had it.  What its backend does not declare, or
 * says that it could not make, is refused now: CAPABILITY_NOT_SUPPORTED, CONFIGURATION.  Of secrets only the
 * names are stored; whoever creates from it gives the values. */
BERTH_EXPORT int berth_environment_save (struct berth_host *host, const char *name,
                                         const struct berth_environment_options *options, struct berth_error *error);

struct berth_environment_info
{
  uint32_t struct_size;
  uint32_t sessions; /* enum berth_sessions, or 0 */
  const char *name;
  const char *owner;
  int64_t created_wall_ms;
  const struct berth_create_options *create; /* secrets are marked, and their values NULL */
};
/* Those of the host's owner, by name, until VISIT returns non-zero. */
BERTH_EXPORT int berth_environment_list (struct berth_host *host,
                                         int (*visit) (void *context, const struct berth_environment_info *info),
                                         void *context, struct berth_error *error);
/* NOT_FOUND, for both. */
BERTH_EXPORT int berth_environment_inspect (struct berth_host *host, const char *name,
                                            void (*visit) (void *context, const struct berth_environment_info *info),
                                            void *context, struct berth_error *error);
BERTH_EXPORT int berth_environment_remove (struct berth_host *host, const char *name, struct berth_error *error);

/* ---- events ---- */

/* One record of an operation, as [audit] of berth.conf has it kept. */
struct berth_event
{
  uint32_t struct_size;
  uint32_t reserved;
  int64_t wall_ms;
  const char *operation; /* "exec" and the like */
  const char *sandbox;   /* id, or NULL */
  const char *json;      /* the whole record; see berth(1) */
};

struct berth_event_options
{
  uint32_t struct_size;
  uint32_t all_owners;   /* 1: not only the host's own */
  uint32_t follow;       /* 1: goes on with what is recorded meanwhile, until VISIT says so or it is cancelled */
  uint32_t reserved;
  const char *sandbox;   /* id; NULL: of every one */
  int64_t since_wall_ms; /* 0: all there are */
  struct berth_cancel *cancel;
};
#define BERTH_EVENT_OPTIONS_INIT                                                                  \
  { sizeof (struct berth_event_options), 0, 0, 0, NULL, 0, NULL }

/* Calls VISIT for each record that is kept, oldest first, until it returns non-zero.  CONFIGURATION where
 * records go elsewhere.  OPTIONS may be NULL. */
BERTH_EXPORT int berth_event_list (struct berth_host *host, const struct berth_event_options *options,
                                   int (*visit) (void *context, const struct berth_event *event), void *context,
                                   struct berth_error *error);

/* ---- backends ---- */

/* One capability of the table that drives registration, the harness and every message. */
struct berth_capability_info
{
  uint64_t bit;
  const char *name;  /* "PROCESS_SESSIONS" */
  const char *group; /* "processes"; NULL: no functions */
  const char *help;  /* one line */
  uint64_t needs;    /* other bits */
};
/* Capability INDEX of the table, or NULL past its end.  Static. */
BERTH_EXPORT const struct berth_capability_info *berth_capability (uint32_t index);
/* "container" and the like; "unknown" for a rank that has no name.  Static. */
BERTH_EXPORT const char *berth_tier_name (uint32_t tier);
/* The rank for a name, or -1. */
BERTH_EXPORT int berth_tier_parse (const char *name);
/* 1 when TIER meets MINIMUM; UNKNOWN never does. */
BERTH_EXPORT int berth_tier_satisfies (uint32_t tier, uint32_t minimum);
/* "memory", "pids" and the like for one BERTH_SPEC_* bit; NULL for one without a name.  Static. */
BERTH_EXPORT const char *berth_spec_name (uint64_t bit);

/* How a backend instance stands. */
enum berth_backend_status
{
  BERTH_BACKEND_READY = 1,      /* loaded and opened */
  BERTH_BACKEND_REFUSED = 2,    /* a file that was refused: see `problems` */
  BERTH_BACKEND_DISABLED = 3,   /* installed, not enabled */
  BERTH_BACKEND_MISSING = 4,    /* enabled or configured, but there is no such file */
  BERTH_BACKEND_MISCONFIGURED = 5 /* loaded; its settings are wrong */
};
struct berth_backend_info
{
  uint32_t struct_size;
  uint32_t status;    /* enum berth_backend_status */
  const char *name;   /* of the instance */
  const char *plugin; /* name of the backend it is an instance of */
  const char *file;   /* NULL when missing */
  const char *version;
  const char *summary;
  uint64_t capabilities;
  struct berth_array claims;   /* struct berth_claim of <berth/backend.h> */
  struct berth_array settings; /* struct berth_setting of <berth/backend.h> */
  const char *const *problems; /* what is wrong (got, want), in the order found */
  uint64_t problem_count;
  const char *const *warnings;
  uint64_t warning_count;
  uint16_t abi_major;
  uint16_t abi_minor;
  uint32_t concurrency; /* enum berth_concurrency */
  uint32_t is_default;
  uint32_t executes_nothing;
};

/* Finds and loads every backend and tells each, in the order of names; bad ones too. */
BERTH_EXPORT int berth_backend_list (struct berth_host *host,
                                     int (*visit) (void *context, const struct berth_backend_info *info), void *context,
                                     struct berth_error *error);

/* The effective value of one setting of an instance and where it came from ("default",
 * "environment BERTH_X", "/etc/berth/berth.conf:12"); secrets as "(secret)". */
BERTH_EXPORT int berth_backend_settings (struct berth_host *host, const char *instance,
                                         int (*visit) (void *context, const char *name, const char *value,
                                                       const char *origin),
                                         void *context, struct berth_error *error);

/* Asks the runtime of an instance whether it is there.  FACT is called with what it tells. */
BERTH_EXPORT int berth_backend_ping (struct berth_host *host, const char *instance,
                                     void (*fact) (void *context, const char *text), void *context,
                                     struct berth_error *error);

/* What is in force of the host's own settings, and where each came from: "option", "environment
 * NAME", "FILE:LINE" of the user's or the system's berth.conf, or "default".  SECTION and KEY are
 * those of berth.conf; an empty value says that nothing was said.  Until VISIT returns non-zero. */
BERTH_EXPORT int berth_host_config (struct berth_host *host,
                                    int (*visit) (void *context, const char *section, const char *key,
                                                  const char *value, const char *origin),
                                    void *context, struct berth_error *error);

/* Where things are, for `berth doctor`: state_dir, runtime_dir, config_file (as found, or
 * ""), backend_dir, agent, owner, installation_id.  NULL for another KEY.  Lives as long as
 * the host. */
BERTH_EXPORT const char *berth_host_fact (struct berth_host *host, const char *key);

#ifdef __cplusplus
}
#endif
#endif

/* berth/backend.h - what a backend exports.
 *
 * The control plane (whole sandboxes; paused, stopped or broken ones too) works by native id
 * on a state, the data plane (commands, files, processes, ports) on a handle.  Every function
 * gets the call first and blocks until it is done; the host provides threads, deadlines and
 * cancellation.  It returns 0, or -1 after services->fail with exactly one reason; where 1
 * and 0 mean yes and no, that is said.  `out` pointers are written on success only.
 *
 * Sinks and sources are the host's.  They are called only on the thread of the call, only
 * before it returns, never two at once, with no lock of the plugin's held, and may block as
 * long as their reader likes.  One that returns -1 has recorded the reason: stop at once,
 * undo, return -1 without calling fail.
 *
 * The brackets at the end of a comment name the clauses of the backend contract that the
 * function serves.  Everything is since ABI 1.0. */
#ifndef BERTH_BACKEND_H
#define BERTH_BACKEND_H

#include <berth/services.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Completed by each backend as it likes. */
struct berth_state;      /* one instance: lifecycle.open to close */
struct berth_handle;     /* one sandbox: create, connect, acquire, restore to release */
struct berth_attachment; /* one held process session: attach to detach */

/* ---- sinks and sources ---- */

/* A text, once unless said otherwise. */
struct berth_text_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*text) (void *context, const char *text);
};

/* Bytes, in any number of pieces. */
struct berth_data_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*data) (void *context, const void *bytes, size_t size);
};

/* What a specification gets: once. */
struct berth_effective_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*effective) (void *context, const struct berth_effective *effective);
};

/* Of everything that makes a sandbox.
 *
 * `created` comes before anything with that id exists or, for a service's own ids, straight
 * after the answer that tells it; again, with the same id, when private data becomes known.
 * It is on disk when this returns.  If it returns -1 nothing may be left.  The host destroys
 * every id told by a create that failed, except after CONFLICT, which says that it exists
 * with another assignment id.  `effective` comes once, last. */
struct berth_create_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*created) (void *context, const struct berth_native *native);
  int (*effective) (void *context, const struct berth_effective *effective);
};

/* Sandboxes as the runtime knows them.  `cursor` belongs to inventory.list_page: the next
 * page; NULL or no call says that this was the last. */
struct berth_found_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*found) (void *context, const struct berth_found *found);
  int (*cursor) (void *context, const char *next);
};

/* Output of a command as it comes, then its end: `exit` once, last.  STREAM is enum
 * berth_stream; order holds within a stream, not between the two. */
struct berth_run_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*output) (void *context, uint32_t stream, const void *bytes, size_t size);
  int (*exit) (void *context, const struct berth_exit *exit);
};

/* A file: `info` once, first, then its bytes. */
struct berth_read_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*info) (void *context, const struct berth_file_info *info);
  int (*data) (void *context, const void *bytes, size_t size);
};

/* Directory entries, or the one that was asked for. */
struct berth_entry_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*entry) (void *context, const struct berth_file_info *info);
};

/* A tar stream; `report` once, last: without it the stream is not complete. */
struct berth_tar_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*data) (void *context, const void *bytes, size_t size);
  int (*report) (void *context, const struct berth_tar_report *report);
};

/* Events of a process session.  OFFSET is that of the first byte.  `lost` tells why the
 * attachment is over though the process is not: PROCESS_HELD (taken over),
 * SANDBOX_NOT_FOUND, UNREACHABLE. */
struct berth_event_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*output) (void *context, uint64_t offset, uint32_t stream, const void *bytes, size_t size);
  int (*exit) (void *context, const struct berth_exit *exit);
  int (*lost) (void *context, uint32_t code, const char *why);
};

/* Process sessions. */
struct berth_process_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*process) (void *context, const struct berth_process *process);
};

/* An endpoint, once. */
struct berth_endpoint_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*endpoint) (void *context, const struct berth_endpoint *endpoint);
};

/* A network policy, once. */
struct berth_policy_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*policy) (void *context, const struct berth_policy *policy);
};

/* Denials in the order of their sequence numbers. */
struct berth_denial_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*denial) (void *context, const struct berth_denial *denial);
};

/* Numbers. */
struct berth_number_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*number) (void *context, uint64_t number);
};

/* The state of a pool, once. */
struct berth_pool_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*pool) (void *context, const struct berth_pool_state *state);
};

/* Snapshots. */
struct berth_snapshot_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*snapshot) (void *context, const struct berth_snapshot *snapshot);
};

/* Of fork: like create_sink, for child INDEX; a child that failed does not fail the others. */
struct berth_children_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*created) (void *context, uint64_t index, const struct berth_native *native);
  int (*effective) (void *context, uint64_t index, const struct berth_effective *effective);
  int (*failed) (void *context, uint64_t index, uint32_t code, const char *message);
};

/* Of interpreted code: `exit` once, last; `error` when the code raised one; `rich` only for
 * what the interpreter displays, never made from output. */
struct berth_code_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*output) (void *context, uint32_t stream, const void *bytes, size_t size);
  int (*rich) (void *context, const struct berth_rich *rich);
  int (*error) (void *context, const char *name, const char *value, const char *trace);
  int (*exit) (void *context, const struct berth_exit *exit);
};

/* Interpreter contexts. */
struct berth_context_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*found) (void *context, const struct berth_context *found);
};

/* Measured values. */
struct berth_metric_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*metric) (void *context, const struct berth_metric *metric);
};

/* Changes below a watched path.  `ready` comes once the watch is in force. */
struct berth_watch_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*changed) (void *context, const struct berth_watched *what);
  int (*ready) (void *context);
};

/* Costs. */
struct berth_cost_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*cost) (void *context, const struct berth_cost *cost);
};

/* Bytes that the host provides.  `read` fills at most SIZE bytes and returns how many: 0 is
 * the end, -1 the host failed.  Fewer bytes than a known size are a failure of the source. */
struct berth_source
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  uint64_t size; /* exact, or BERTH_UNKNOWN_SIZE */
  int64_t (*read) (void *context, void *bytes, size_t size);
};

/* ---- the groups ---- */

/* Whole sandboxes.  Required of every backend. */
struct berth_lifecycle_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  /* Makes the state of one instance from its settings; never talks to the runtime and fails
   * only with CONFIGURATION.  May be called several times in a process (instances, hosts);
   * states share nothing that can be written.  [S11 S12] */
  int (*open) (struct berth_call *call, struct berth_state **out);
  /* Frees the state, when no handle of it is left: within a second, ending every thread and
   * descriptor of its own.  [S11] */
  void (*close) (struct berth_call *call, struct berth_state *state);
  /* Is the runtime there? UNREACHABLE with a hint when not.  Tells facts ("docker 28.2 at
   * /run/docker.sock") for `berth doctor`, any number.  [L01] */
  int (*ping) (struct berth_call *call, struct berth_state *state,
               const struct berth_text_sink *facts);
  /* What SPEC would get: tier, capabilities and resources of the instance; or the refusal.
   * Provisions nothing.  Unknown asks bits are refused.  [L02 L04 L05 I01 I09 N02 N06] */
  int (*validate) (struct berth_call *call, struct berth_state *state,
                   const struct berth_spec *spec, const struct berth_effective_sink *sink);
  /* Makes the sandbox: running, with an empty, writable /workspace of the sandbox user's,
   * every limit and the network policy in force before user code runs.  On failure
   * everything made is undone, through `shield`.  [L03 L04 L06 L12 L14 L17 L18 L27 N01 N02] */
  int (*create) (struct berth_call *call, struct berth_state *state, const struct berth_spec *spec,
                 const struct berth_create_sink *sink, struct berth_handle **out);
  /* A handle on a sandbox in any life, from any process; SANDBOX_NOT_FOUND when there is
   * none.  Neither resumes it nor moves its end.  SINK may be NULL; else it is told what is
   * in force.  [L07 L12 L26] */
  int (*connect) (struct berth_call *call, struct berth_state *state,
                  const struct berth_native *native, const struct berth_effective_sink *sink,
                  struct berth_handle **out);
  /* Frees the handle and nothing of the sandbox, except one made with SPEC_OWNED by `create`
   * on this handle.  The host calls it once, when no call and no attachment of the handle is
   * left.  [L26] */
  void (*release) (struct berth_call *call, struct berth_handle *handle);
  /* Ends and removes it with its storage.  GONE only when both are; an unknown or impossible
   * id is GONE.  May run while calls run on handles: those end within a second with
   * SANDBOX_NOT_FOUND or UNREACHABLE.  [L08 L09 L13] */
  int (*destroy) (struct berth_call *call, struct berth_state *state,
                  const struct berth_native *native, struct berth_destroyed *out);
  /* Everything with our managed label that it holds resources for, stopped and half-made
   * ones too: native id, life, and labels as stored or unreadable.  Complete or an error.
   * [L10 L17] */
  int (*list_ids) (struct berth_call *call, struct berth_state *state,
                   const struct berth_found_sink *sink);
  /* 1, 0 (also for unknown, stopped and paused ids) or -1.  [L11] */
  int (*is_running) (struct berth_call *call, struct berth_state *state,
                     const struct berth_native *native);
};

/* Commands.  Required of every backend. */
struct berth_commands_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  /* Runs one command with an empty standard input and returns when it has ended: 0 with
   * exactly one exit, also for a failed or timed-out command; -1 when it could not be told
   * what became of it.  A timeout and a cancellation end its whole process tree.  [E01 to
   * E20] */
  int (*run) (struct berth_call *call, struct berth_handle *handle, const struct berth_run *run,
              const struct berth_run_sink *sink);
};

/* Files inside.  Required of every backend.  Paths are literal, absolute and lexically
 * clean; the real check is made inside the sandbox. */
struct berth_files_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  /* Follows symbolic links inside.  PATH_NOT_FOUND; INVALID_REQUEST for anything but a
   * regular file, without blocking on it; PAYLOAD_TOO_LARGE before the first byte.  [F01 F03
   * F07 F08 F16] */
  int (*read) (struct berth_call *call, struct berth_handle *handle, const char *path,
               const struct berth_read *how, const struct berth_read_sink *sink);
  /* The new content appears at once or not at all, with mode and owner as asked from its
   * first moment; default mode 0644, owner the sandbox user.  Never leaves `beneath`.  [F01
   * F02 F04 F05 F06 F09 F13 F14] */
  int (*write) (struct berth_call *call, struct berth_handle *handle, const char *path,
                const struct berth_change *how, const struct berth_source *source);
  /* Direct children with dotfiles, in any order.  PATH_NOT_FOUND; INVALID_REQUEST for
   * anything but a directory.  [F10 F11 F16] */
  int (*list) (struct berth_call *call, struct berth_handle *handle, const char *path,
               const struct berth_read *how, const struct berth_entry_sink *sink);
  /* One entry; a link itself unless FOLLOW is asked.  [F08 F10] */
  int (*stat) (struct berth_call *call, struct berth_handle *handle, const char *path,
               const struct berth_read *how, const struct berth_entry_sink *sink);
  /* An existing directory succeeds unless NEW is asked; mode default 0755.  [F04 F06 F12] */
  int (*make_directory) (struct berth_call *call, struct berth_handle *handle, const char *path,
                         const struct berth_change *how);
  /* Renames; replaces a file unless NEW is asked.  Both paths lie beneath the write root.
   * [F12] */
  int (*move) (struct berth_call *call, struct berth_handle *handle, const char *from,
               const char *to, const struct berth_change *how);
  /* A file, a link itself, an empty directory; with RECURSIVE a tree.  [F12] */
  int (*remove) (struct berth_call *call, struct berth_handle *handle, const char *path,
                 const struct berth_change *how);
  /* Mode, owner, group and time of an existing file or directory.  [F04 F05] */
  int (*set_attributes) (struct berth_call *call, struct berth_handle *handle, const char *path,
                         const struct berth_change *how);
};

/* The workspace as a whole.  Required of every backend. */
struct berth_workspace_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  /* /workspace as a POSIX pax tar with names relative to it.  [W01 W02 W05 W06] */
  int (*export_tar) (struct berth_call *call, struct berth_handle *handle,
                     const struct berth_tar_limits *limits, const struct berth_tar_sink *sink);
  /* A tar into the workspace, owned by the sandbox user.  An entry takes the place of a file
   * of its name; all else stays.  A hostile entry is refused with its number and changes
   * nothing outside; what came before it stays.  Links are kept as they are, wherever they
   * lead.  [W03 W04] */
  int (*import_tar) (struct berth_call *call, struct berth_handle *handle,
                     const struct berth_tar_limits *limits, const struct berth_source *source);
};

/* PROBE: a second observation, independent of the answer of destroy. */
struct berth_probe_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  /* Is anything of it left? -1 when that could not be found out.  [L09] */
  int (*probe) (struct berth_call *call, struct berth_state *state,
                const struct berth_native *native, struct berth_presence *out);
};

/* INVENTORY. */
struct berth_inventory_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  /* A page of at most LIMIT, from CURSOR (NULL: the first).  Complete and stable; "cannot
   * list" is an error.  [L23] */
  int (*list_page) (struct berth_call *call, struct berth_state *state, const char *cursor,
                    uint32_t limit, const struct berth_found_sink *sink);
  /* One sandbox; SANDBOX_NOT_FOUND.  [L23 L17] */
  int (*describe) (struct berth_call *call, struct berth_state *state,
                   const struct berth_native *native, const struct berth_found_sink *sink);
};

/* EXPIRY. */
struct berth_expiry_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  /* The end is TTL_MS from now; may shorten: the host decides.  OUT is what now holds.
   * [L19] */
  int (*renew) (struct berth_call *call, struct berth_state *state,
                const struct berth_native *native, int64_t ttl_ms, struct berth_expiry *out);
  /* When it ends; a failed read is an error, never NEVER.  [L19] */
  int (*expires_at) (struct berth_call *call, struct berth_state *state,
                     const struct berth_native *native, struct berth_expiry *out);
};

/* CORRELATED_CREATE. */
struct berth_correlation_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  /* What a create with this assignment id made: none, one or several.  [L20] */
  int (*find_by_assignment) (struct berth_call *call, struct berth_state *state,
                             const char *assignment_id, const struct berth_found_sink *sink);
};

/* PAUSE. */
struct berth_pause_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  /* No process makes progress until resume; pausing twice is harmless.  [L21] */
  int (*pause) (struct berth_call *call, struct berth_state *state,
                const struct berth_native *native, const struct berth_options *options);
  /* Goes on where it was; a running one succeeds.  [L21] */
  int (*resume) (struct berth_call *call, struct berth_state *state,
                 const struct berth_native *native);
};

/* RESTART. */
struct berth_restart_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  /* Ends every process and keeps the workspace; idempotent.  [L22] */
  int (*stop) (struct berth_call *call, struct berth_state *state,
               const struct berth_native *native, const struct berth_options *options);
  /* Back with the same id, limits and policy; idempotent.  [L22 L16] */
  int (*start) (struct berth_call *call, struct berth_state *state,
                const struct berth_native *native);
};

/* PROCESS_SESSIONS; `resize` belongs to PTY.  On one attachment `next` runs in one thread,
 * write and close_input one at a time in another, signal and resize beside both, detach
 * alone. */
struct berth_processes_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  /* Starts a long-lived process; it runs when this returns.  [P01] */
  int (*start) (struct berth_call *call, struct berth_handle *handle, const struct berth_run *run,
                const struct berth_text_sink *process_id);
  /* Holds the session, from an offset.  PROCESS_HELD unless TAKEOVER; REPLAY_GAP and
   * OFFSET_BEYOND_END, with POSITION filled; an exited process that was started so runs
   * again.  [P01 P02 P03 P04 P09] */
  int (*attach) (struct berth_call *call, struct berth_handle *handle, const char *process_id,
                 const struct berth_attach *how, struct berth_position *position,
                 struct berth_attachment **out);
  /* Waits for the next event: 1 more may come, 0 it is over, -1.  CANCELLED and TIMEOUT lose
   * nothing.  [P03 P08] */
  int (*next) (struct berth_call *call, struct berth_attachment *attachment,
               const struct berth_event_sink *sink);
  /* Waits until at least one byte is taken; -1 having taken nothing.  [P05] */
  int (*write) (struct berth_call *call, struct berth_attachment *attachment, const void *bytes,
                size_t size, size_t *accepted);
  /* End of input.  [P05] */
  int (*close_input) (struct berth_call *call, struct berth_attachment *attachment);
  /* To the process group; never queued behind unread input.  [P06] */
  int (*signal) (struct berth_call *call, struct berth_attachment *attachment,
                 int32_t linux_signal);
  /* PTY.  [P11] */
  int (*resize) (struct berth_call *call, struct berth_attachment *attachment, uint32_t columns,
                 uint32_t rows);
  /* Lets go; the process lives on.  [P07 P13] */
  void (*detach) (struct berth_call *call, struct berth_attachment *attachment);
  /* Output without starting, holding or taking over.  [P13] */
  int (*view) (struct berth_call *call, struct berth_handle *handle, const char *process_id,
               const struct berth_view *how, struct berth_position *position,
               const struct berth_event_sink *sink);
  /* State and exit status; never starts it.  [P08] */
  int (*inspect) (struct berth_call *call, struct berth_handle *handle, const char *process_id,
                  const struct berth_process_sink *sink);
  /* All sessions, ended ones too.  [P10] */
  int (*list) (struct berth_call *call, struct berth_handle *handle,
               const struct berth_process_sink *sink);
  /* Ends the whole tree and forgets it; PROCESS_NOT_FOUND.  [P10] */
  int (*remove) (struct berth_call *call, struct berth_handle *handle, const char *process_id);
};

/* DIAL. */
struct berth_dial_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  /* A connected stream to a port on the sandbox's loopback: CLOEXEC, blocking, half-closing;
   * it is the host's and lives until closed or the sandbox ends.  [N07 N11] */
  int (*dial) (struct berth_call *call, struct berth_handle *handle, uint32_t port,
               const struct berth_options *options, int32_t *fd);
};

/* ENDPOINTS. */
struct berth_endpoints_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  /* The platform's URL of a port, with the headers that reach it.  [N08 N11] */
  int (*endpoint) (struct berth_call *call, struct berth_handle *handle, uint32_t port,
                   const struct berth_options *options, const struct berth_endpoint_sink *sink);
  /* Which sandbox URL names; no text: it does not say.  [N08] */
  int (*endpoint_names_sandbox) (struct berth_call *call, struct berth_state *state,
                                 const char *url, const struct berth_text_sink *native_id);
};

/* SIGNED_ENDPOINTS. */
struct berth_signing_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  /* A URL that carries its own credential for TTL_MS.  [N09] */
  int (*signed_endpoint) (struct berth_call *call, struct berth_handle *handle, uint32_t port,
                          int64_t ttl_ms, const struct berth_options *options,
                          const struct berth_endpoint_sink *sink);
};

/* NETWORK_POLICY; `read_denials` belongs to NETWORK_RULES. */
struct berth_network_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  /* WANTED with the rules added that the backend's own runtime needs, so that the host can
   * show or refuse them before create.  [N02] */
  int (*admit_runtime_egress) (struct berth_call *call, struct berth_state *state,
                               const struct berth_policy *wanted,
                               const struct berth_policy_sink *sink);
  /* The policy in force.  [N02 N05] */
  int (*read_policy) (struct berth_call *call, struct berth_state *state,
                      const struct berth_native *native, const struct berth_policy_sink *sink);
  /* What was denied since.  [N04] */
  int (*read_denials) (struct berth_call *call, struct berth_state *state,
                       const struct berth_native *native, uint64_t after_sequence,
                       const struct berth_denial_sink *sink);
};

/* NETWORK_UPDATE. */
struct berth_network_update_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  /* Replaces the policy, for new connections at least.  [N05] */
  int (*update_policy) (struct berth_call *call, struct berth_state *state,
                        const struct berth_native *native, const struct berth_policy *policy);
};

/* EGRESS_CREDENTIALS. */
struct berth_credentials_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  /* Sets headers on requests to allowed hosts, outside the sandbox.  [N10] */
  int (*apply_vault) (struct berth_call *call, struct berth_state *state,
                      const struct berth_native *native, const struct berth_vault *vault);
};

/* ISOLATED_SESSIONS: several tenants in one sandbox. */
struct berth_isolated_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  /* Makes a sandbox ready for them.  [I06] */
  int (*prepare) (struct berth_call *call, struct berth_handle *handle,
                  const struct berth_isolated_workspace *workspace);
  /* Opens a session.  [I06] */
  int (*open) (struct berth_call *call, struct berth_handle *handle,
               const struct berth_isolated_workspace *workspace,
               const struct berth_text_sink *session_id);
  /* As commands.run, in the session.  [I06] */
  int (*run) (struct berth_call *call, struct berth_handle *handle, const char *session_id,
              const struct berth_run *run, const struct berth_run_sink *sink);
  /* Ends it with everything of it; unknown succeeds.  [I06] */
  int (*close) (struct berth_call *call, struct berth_handle *handle, const char *session_id);
  /* How many are open.  [I06] */
  int (*count_active) (struct berth_call *call, struct berth_handle *handle, uint64_t *out);
  /* Bytes left.  Optional: else read through commands.  [I06] */
  int (*read_memory_headroom) (struct berth_call *call, struct berth_handle *handle, uint64_t *out);
  /* Optional: else read through commands.  [I06] */
  int (*read_listening_ports) (struct berth_call *call, struct berth_handle *handle,
                               const struct berth_number_sink *sink);
};

/* ISOLATED_SESSION_RECOVERY. */
struct berth_recovery_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  /* The sessions of a workspace, any number.  [I06] */
  int (*find_by_workspace) (struct berth_call *call, struct berth_handle *handle, const char *path,
                            const struct berth_text_sink *session_id);
};

/* CLIENT_POOL: ready sandboxes kept by the platform. */
struct berth_pool_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  /* Makes or changes a pool.  [I07] */
  int (*ensure) (struct berth_call *call, struct berth_state *state, const struct berth_pool *pool);
  /* A ready one; a wish it cannot meet is refused, never bent.  [I07] */
  int (*acquire) (struct berth_call *call, struct berth_state *state, const char *pool,
                  const struct berth_spec *spec, const struct berth_create_sink *sink,
                  struct berth_handle **out);
  /* How many are ready.  [I07] */
  int (*describe) (struct berth_call *call, struct berth_state *state, const char *pool,
                   const struct berth_pool_sink *sink);
  /* Removes a pool and what is unclaimed in it.  [I07] */
  int (*retire) (struct berth_call *call, struct berth_state *state, const char *pool);
  /* 1: it belongs to a pool and nobody has it; 0; -1.  [I07] */
  int (*owns_unclaimed) (struct berth_call *call, struct berth_state *state,
                         const struct berth_native *native);
  /* 1 ready, 0 not yet, -1.  [I07] */
  int (*readiness) (struct berth_call *call, struct berth_state *state, const char *pool);
};

/* SNAPSHOT_DISK, SNAPSHOT_MEMORY: the platform's own snapshots. */
struct berth_snapshots_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  /* Saves it under NAME and tells what kind it became.  [L25] */
  int (*save) (struct berth_call *call, struct berth_state *state,
               const struct berth_native *native, const char *name,
               const struct berth_options *options, const struct berth_snapshot_sink *sink);
  /* A new sandbox from a snapshot; SNAPSHOT_NOT_FOUND.  [L25] */
  int (*restore) (struct berth_call *call, struct berth_state *state, const char *snapshot_id,
                  const struct berth_spec *spec, const struct berth_create_sink *sink,
                  struct berth_handle **out);
  /* All of this installation: complete or an error.  [L10 L25] */
  int (*list) (struct berth_call *call, struct berth_state *state,
               const struct berth_snapshot_sink *sink);
  /* Unknown succeeds.  [L25] */
  int (*remove) (struct berth_call *call, struct berth_state *state, const char *snapshot_id);
};

/* FORK. */
struct berth_fork_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  /* COUNT independent copies with ids of their own; a result per child.  [L24] */
  int (*fork) (struct berth_call *call, struct berth_state *state,
               const struct berth_native *native, const struct berth_spec *const *children,
               uint64_t count, const struct berth_children_sink *sink);
};

/* RUN_CODE. */
struct berth_code_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  /* Runs code in an interpreter of the image's.  [I03 I08] */
  int (*run) (struct berth_call *call, struct berth_handle *handle, const struct berth_code *code,
              const struct berth_code_sink *sink);
};

/* STATEFUL_CODE. */
struct berth_contexts_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  /* State that lasts between runs.  [I08] */
  int (*create) (struct berth_call *call, struct berth_handle *handle, const char *language,
                 const struct berth_text_sink *context_id);
  /* All contexts.  [I08] */
  int (*list) (struct berth_call *call, struct berth_handle *handle,
               const struct berth_context_sink *sink);
  /* NOT_FOUND when unknown.  [I08] */
  int (*remove) (struct berth_call *call, struct berth_handle *handle, const char *context_id);
};

/* WORKSPACE_VOLUME. */
struct berth_volumes_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  /* How spec.volume_route reaches a configured volume.  [W03] */
  int (*workspace_route) (struct berth_call *call, struct berth_state *state, const char *volume,
                          const struct berth_text_sink *route);
};

/* METRICS. */
struct berth_metrics_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  /* What it uses now.  [L04] */
  int (*read) (struct berth_call *call, struct berth_state *state,
               const struct berth_native *native, const struct berth_options *options,
               const struct berth_metric_sink *sink);
};

/* DIAGNOSTICS. */
struct berth_diagnostics_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  /* The runtime's own logs and events about it; SCOPE "logs", "events" or "inspect".  [I05] */
  int (*read) (struct berth_call *call, struct berth_state *state,
               const struct berth_native *native, const char *scope,
               const struct berth_options *options, const struct berth_data_sink *sink);
};

/* FILE_WATCH. */
struct berth_watch_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  /* Tells changes below PATH until cancelled.  [F10] */
  int (*watch) (struct berth_call *call, struct berth_handle *handle, const char *path,
                const struct berth_options *options, const struct berth_watch_sink *sink);
};

/* COST_REPORTING. */
struct berth_costs_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  /* What was charged in a span of Unix time.  [I03] */
  int (*report) (struct berth_call *call, struct berth_state *state, int64_t from_wall_ms,
                 int64_t to_wall_ms, const struct berth_cost_sink *sink);
};

/* NATIVE: outside the stability promise. */
struct berth_native_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  /* An operation that only this backend has, JSON in and out; NATIVE may name no sandbox (id
   * "").  [I05] */
  int (*call) (struct berth_call *call, struct berth_state *state,
               const struct berth_native *native, const char *operation, const char *json,
               const struct berth_data_sink *result);
};

/* ---- the backend ---- */

/* A setting that a backend declares; the host parses, checks and documents it. */
struct berth_setting
{
  const char *name;        /* [a-z][a-z0-9_]*, unique in the backend */
  const char *environment; /* BERTH_<BACKEND>_...; or a foreign one such as DOCKER_HOST; NULL: none */
  const char *fallback;    /* the default as text; NULL: not set unless the user sets it */
  const char *help;        /* one sentence */
  const char *choices;     /* CHOICE: "a|b|c"; else NULL */
  uint32_t type;           /* enum berth_setting_type */
  uint32_t flags;          /* BERTH_SETTING_* flags */
};
#define BERTH_SETTING_SECRET 1u   /* redacted everywhere */
#define BERTH_SETTING_FOREIGN 2u  /* `environment` is not ours: no warning when it is set unused */
#define BERTH_SETTING_REQUIRED 4u /* the instance cannot be opened without it */

/* A tier that the backend can give, one element each.  Above CONTAINER evidence is required:
 * a URL of the provider's documentation and the date it was read.  An instance's tier is one
 * of these or UNKNOWN; a backend without claims has claimed nothing. */
struct berth_claim
{
  const char *when;          /* for people: "runtime runsc" */
  const char *evidence_url;  /* or NULL up to CONTAINER */
  const char *evidence_date; /* YYYY-MM-DD */
  uint32_t tier;             /* enum berth_tier */
  uint32_t reserved;
};

#define BERTH_BACKEND_EXECUTES_NOTHING (UINT64_C (1) << 0) /* for tests: commands are scripted */
#define BERTH_BACKEND_USES_LIBCURL (UINT64_C (1) << 1)     /* the host initialises libcurl before open */
#define BERTH_BACKEND_FLAGS_KNOWN_1_0 ((UINT64_C (1) << 2) - 1)

/* The table of a backend: constant, with static texts; the host copies what it needs. */
struct berth_backend
{
  struct berth_abi abi;
  const char *name;    /* [a-z][a-z0-9-]{0,30}; the file is berth-backend-NAME.so */
  const char *version; /* of the backend; not empty */
  const char *summary; /* one line; not empty */
  uint64_t capabilities;     /* BERTH_CAP_* that some instance can have */
  uint64_t flags;            /* BERTH_BACKEND_* */
  uint32_t concurrency;      /* enum berth_concurrency */
  uint32_t needs_host_minor; /* refused by a host with a lower ABI minor */
  struct berth_array claims;   /* struct berth_claim */
  struct berth_array settings; /* struct berth_setting */
  const struct berth_lifecycle_ops *lifecycle; /* required */
  const struct berth_commands_ops *commands; /* required */
  const struct berth_files_ops *files; /* required */
  const struct berth_workspace_ops *workspace; /* required */
  const struct berth_probe_ops *probe;
  const struct berth_inventory_ops *inventory;
  const struct berth_expiry_ops *expiry;
  const struct berth_correlation_ops *correlation;
  const struct berth_pause_ops *pause;
  const struct berth_restart_ops *restart;
  const struct berth_processes_ops *processes;
  const struct berth_dial_ops *dial;
  const struct berth_endpoints_ops *endpoints;
  const struct berth_signing_ops *signing;
  const struct berth_network_ops *network;
  const struct berth_network_update_ops *network_update;
  const struct berth_credentials_ops *credentials;
  const struct berth_isolated_ops *isolated;
  const struct berth_recovery_ops *recovery;
  const struct berth_pool_ops *pool;
  const struct berth_snapshots_ops *snapshots;
  const struct berth_fork_ops *fork;
  const struct berth_code_ops *code;
  const struct berth_contexts_ops *contexts;
  const struct berth_volumes_ops *volumes;
  const struct berth_metrics_ops *metrics;
  const struct berth_diagnostics_ops *diagnostics;
  const struct berth_watch_ops *watch;
  const struct berth_costs_ops *costs;
  const struct berth_native_ops *native;
};

/* The one exported symbol.  Pure: it returns the same pointer each time, starts nothing, keeps
 * nothing and works while another thread is in it.  SERVICES may be newer or older than the
 * backend was compiled with; NULL refuses. */
typedef const struct berth_backend *berth_backend_function (const struct berth_services *services);
BERTH_EXPORT const struct berth_backend *berth_backend_v1 (const struct berth_services *services);

#ifdef __cplusplus
}
#endif
#endif

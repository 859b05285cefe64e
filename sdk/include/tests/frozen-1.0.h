/* The plugin ABI as it was at 1.0, to hold today's headers against.
 *
 * Until NEWS.md announces 1.0.0 of the package this copy may change together with the headers, deliberately and
 * with the reason in the commit; from then on it never does, and a later minor gets a copy of its own.
 *
 * Only the tags of the structs are new: what a member points at is today's, so that whole types can be compared. */
#ifndef BERTH_TESTS_FROZEN_1_0_H
#define BERTH_TESTS_FROZEN_1_0_H

#include <berth/backend.h>

struct frozen_abi
{
  uint32_t magic;
  uint32_t struct_size;
  uint16_t abi_major;
  uint16_t abi_minor;
  uint32_t reserved;
};

struct frozen_array
{
  const void *first;
  uint32_t count;
  uint32_t stride;
};

struct frozen_destroyed
{
  uint32_t verdict;
};

struct frozen_presence
{
  uint32_t verdict;
};

struct frozen_pair
{
  const char *name;
  const char *value;
  uint32_t flags;
  uint32_t reserved;
};

struct frozen_expiry
{
  uint32_t kind;
  uint32_t reserved;
  int64_t remaining_ms;
  int64_t wall_ms;
};

struct frozen_position
{
  uint64_t oldest;
  uint64_t next;
  uint64_t run;
};

struct frozen_native
{
  uint32_t struct_size;
  uint32_t private_size;
  const char *id;
  const void *private_data;
};

struct frozen_rule
{
  uint32_t action;
  uint32_t target_kind;
  const char *target;
  uint32_t port_low;
  uint32_t port_high;
};

struct frozen_policy
{
  uint32_t struct_size;
  uint32_t default_action;
  uint64_t asks;
  struct berth_array rules;
};

struct frozen_spec
{
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t asks;
  uint64_t must;
  const char *sandbox_id;
  const char *assignment_id;
  const char *installation_id;
  const char *native_hint;
  uint64_t generation;
  const char *image;
  const char *pin;
  const char *const *entrypoint;
  uint64_t entrypoint_count;
  const struct berth_pair *environment;
  uint64_t environment_count;
  const struct berth_pair *metadata;
  uint64_t metadata_count;
  const char *user;
  const char *gpu;
  const struct berth_policy *network;
  const char *volume_route;
  const uint32_t *ports;
  uint64_t port_count;
  uint64_t memory_bytes;
  uint64_t disk_bytes;
  uint64_t tmp_bytes;
  uint64_t shm_bytes;
  uint64_t file_size_bytes;
  int64_t ttl_ms;
  uint32_t cpu_milli;
  uint32_t pids;
  uint32_t open_files;
  uint32_t minimum_tier;
};

struct frozen_effective
{
  uint32_t struct_size;
  uint32_t tier;
  uint64_t has;
  uint64_t capabilities;
  uint64_t enforced;
  uint64_t run_asks;
  uint64_t posture;
  const char *pin;
  const char *runtime;
  uint64_t memory_bytes;
  uint64_t disk_bytes;
  uint64_t tmp_bytes;
  uint64_t shm_bytes;
  uint64_t file_size_bytes;
  int64_t ttl_minimum_ms;
  int64_t ttl_maximum_ms;
  uint32_t cpu_milli;
  uint32_t pids;
  uint32_t open_files;
  uint32_t reserved;
};

struct frozen_found
{
  uint32_t struct_size;
  uint32_t life;
  uint64_t has;
  const char *native_id;
  const char *sandbox_id;
  const char *assignment_id;
  const char *installation_id;
  const struct berth_pair *metadata;
  uint64_t metadata_count;
  int64_t created_wall_ms;
  struct berth_expiry expiry;
};

struct frozen_run
{
  uint32_t struct_size;
  uint32_t argument_count;
  uint64_t asks;
  const char *const *arguments;
  const struct berth_pair *environment;
  uint64_t environment_count;
  const char *workdir;
  const char *user;
  int64_t timeout_ms;
  const char *name;
  uint64_t ring_bytes;
  uint32_t columns;
  uint32_t rows;
};

struct frozen_exit
{
  uint32_t struct_size;
  uint32_t reason;
  uint64_t has;
  int32_t code;
  int32_t signal;
  uint64_t duration_ns;
  uint64_t cpu_ns;
  uint64_t peak_memory_bytes;
  uint64_t memory_kills;
};

struct frozen_file_info
{
  uint32_t struct_size;
  uint32_t kind;
  uint64_t has;
  const char *name;
  const char *owner;
  const char *group;
  const char *link_target;
  uint64_t size;
  int64_t modified_s;
  uint32_t modified_ns;
  uint32_t mode;
  uint32_t uid;
  uint32_t gid;
};

struct frozen_options
{
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t asks;
};

struct frozen_read
{
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t asks;
  uint64_t max_bytes;
  uint64_t offset;
  uint64_t length;
};

struct frozen_change
{
  uint32_t struct_size;
  uint32_t mode;
  uint64_t asks;
  const char *beneath;
  const char *owner;
  const char *group;
  int64_t modified_s;
};

struct frozen_tar_limits
{
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t asks;
  uint64_t max_bytes;
  uint64_t max_entries;
};

struct frozen_tar_report
{
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t has;
  uint64_t bytes;
  uint64_t entries;
};

struct frozen_attach
{
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t asks;
  uint64_t offset;
};

struct frozen_view
{
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t asks;
  uint64_t offset;
};

struct frozen_process
{
  uint32_t struct_size;
  uint32_t running;
  uint64_t has;
  const char *process_id;
  const char *const *arguments;
  uint64_t argument_count;
  struct berth_position position;
  const struct berth_exit *exit;
};

struct frozen_endpoint
{
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t has;
  const char *url;
  const struct berth_pair *headers;
  uint64_t header_count;
  int64_t expires_wall_ms;
};

struct frozen_denial
{
  uint32_t struct_size;
  uint32_t port;
  uint64_t sequence;
  uint64_t count;
  const char *host;
  const char *rule;
  int64_t wall_ms;
};

struct frozen_binding
{
  const char *host;
  const char *header;
  const char *value;
  uint64_t flags;
};

struct frozen_vault
{
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t asks;
  struct berth_array bindings;
};

struct frozen_isolated_workspace
{
  uint32_t struct_size;
  uint32_t mode;
  uint64_t asks;
  const char *path;
  const char *profile;
};

struct frozen_pool
{
  uint32_t struct_size;
  uint32_t wanted;
  uint64_t asks;
  const char *name;
  const struct berth_spec *spec;
};

struct frozen_pool_state
{
  uint32_t struct_size;
  uint32_t ready;
  uint64_t has;
  uint32_t total;
  uint32_t claimed;
};

struct frozen_snapshot
{
  uint32_t struct_size;
  uint32_t kind;
  uint64_t has;
  const char *snapshot_id;
  const char *sandbox_id;
  const char *installation_id;
  uint64_t bytes;
  int64_t created_wall_ms;
};

struct frozen_code
{
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t asks;
  const char *language;
  const char *context_id;
  const char *text;
  uint64_t text_size;
  int64_t timeout_ms;
};

struct frozen_context
{
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t has;
  const char *context_id;
  const char *language;
};

struct frozen_rich
{
  uint32_t struct_size;
  uint32_t main;
  uint64_t has;
  const char *mime_type;
  const void *data;
  uint64_t size;
};

struct frozen_metric
{
  uint32_t struct_size;
  int32_t exponent;
  uint64_t has;
  const char *name;
  const char *unit;
  int64_t value;
};

struct frozen_watched
{
  uint32_t struct_size;
  uint32_t event;
  uint64_t has;
  const char *path;
};

struct frozen_cost
{
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t has;
  const char *label;
  const char *currency;
  int64_t micros;
};

struct frozen_call
{
  uint32_t struct_size;
  uint32_t reserved;
  const struct berth_services *services;
  struct berth_instance *instance;
};

struct frozen_services
{
  struct berth_abi abi;
  int (*fail) (struct berth_call *call, uint32_t code, const char *format, ...);
  int (*vfail) (struct berth_call *call, uint32_t code, const char *format, va_list arguments);
  int (*refuse) (struct berth_call *call, uint32_t which, uint64_t bits);
  void (*hint) (struct berth_call *call, const char *format, ...);
  void (*upstream) (struct berth_call *call, const char *code, int32_t status);
  void (*retry_after) (struct berth_call *call, int64_t milliseconds);
  uint32_t (*failed) (const struct berth_call *call);
  void (*forgive) (struct berth_call *call);
  uint32_t (*cancelled) (struct berth_call *call);
  int (*cancel_fd) (struct berth_call *call);
  int64_t (*deadline) (const struct berth_call *call);
  struct berth_call *(*shield) (struct berth_call *call, int64_t grace_ms);
  void (*unshield) (struct berth_call *shielded);
  void (*log) (struct berth_instance *instance, uint32_t level, const char *format, ...);
  void (*progress) (struct berth_call *call, const char *phase, uint64_t done, uint64_t total);
  void (*redact) (struct berth_instance *instance, const void *bytes, size_t size);
  const char *(*instance_name) (struct berth_instance *instance);
  const char *(*setting) (struct berth_instance *instance, const char *name);
  int64_t (*setting_number) (struct berth_instance *instance, const char *name);
  const char *(*directory) (struct berth_instance *instance, uint32_t which);
  const char *(*installation_id) (struct berth_instance *instance);
  const char *(*agent_path) (struct berth_instance *instance, const char *machine);
};

struct frozen_text_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*text) (void *context, const char *text);
};

struct frozen_data_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*data) (void *context, const void *bytes, size_t size);
};

struct frozen_effective_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*effective) (void *context, const struct berth_effective *effective);
};

struct frozen_create_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*created) (void *context, const struct berth_native *native);
  int (*effective) (void *context, const struct berth_effective *effective);
};

struct frozen_found_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*found) (void *context, const struct berth_found *found);
  int (*cursor) (void *context, const char *next);
};

struct frozen_run_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*output) (void *context, uint32_t stream, const void *bytes, size_t size);
  int (*exit) (void *context, const struct berth_exit *exit);
};

struct frozen_read_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*info) (void *context, const struct berth_file_info *info);
  int (*data) (void *context, const void *bytes, size_t size);
};

struct frozen_entry_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*entry) (void *context, const struct berth_file_info *info);
};

struct frozen_tar_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*data) (void *context, const void *bytes, size_t size);
  int (*report) (void *context, const struct berth_tar_report *report);
};

struct frozen_event_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*output) (void *context, uint64_t offset, uint32_t stream, const void *bytes, size_t size);
  int (*exit) (void *context, const struct berth_exit *exit);
  int (*lost) (void *context, uint32_t code, const char *why);
};

struct frozen_process_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*process) (void *context, const struct berth_process *process);
};

struct frozen_endpoint_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*endpoint) (void *context, const struct berth_endpoint *endpoint);
};

struct frozen_policy_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*policy) (void *context, const struct berth_policy *policy);
};

struct frozen_denial_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*denial) (void *context, const struct berth_denial *denial);
};

struct frozen_number_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*number) (void *context, uint64_t number);
};

struct frozen_pool_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*pool) (void *context, const struct berth_pool_state *state);
};

struct frozen_snapshot_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*snapshot) (void *context, const struct berth_snapshot *snapshot);
};

struct frozen_children_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*created) (void *context, uint64_t index, const struct berth_native *native);
  int (*effective) (void *context, uint64_t index, const struct berth_effective *effective);
  int (*failed) (void *context, uint64_t index, uint32_t code, const char *message);
};

struct frozen_code_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*output) (void *context, uint32_t stream, const void *bytes, size_t size);
  int (*rich) (void *context, const struct berth_rich *rich);
  int (*error) (void *context, const char *name, const char *value, const char *trace);
  int (*exit) (void *context, const struct berth_exit *exit);
};

struct frozen_context_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*found) (void *context, const struct berth_context *found);
};

struct frozen_metric_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*metric) (void *context, const struct berth_metric *metric);
};

struct frozen_watch_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*changed) (void *context, const struct berth_watched *what);
  int (*ready) (void *context);
};

struct frozen_cost_sink
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  int (*cost) (void *context, const struct berth_cost *cost);
};

struct frozen_source
{
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  uint64_t size;
  int64_t (*read) (void *context, void *bytes, size_t size);
};

struct frozen_lifecycle_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  int (*open) (struct berth_call *call, struct berth_state **out);
  void (*close) (struct berth_call *call, struct berth_state *state);
  int (*ping) (struct berth_call *call, struct berth_state *state, const struct berth_text_sink *facts);
  int (*validate) (struct berth_call *call, struct berth_state *state, const struct berth_spec *spec,
                   const struct berth_effective_sink *sink);
  int (*create) (struct berth_call *call, struct berth_state *state, const struct berth_spec *spec,
                 const struct berth_create_sink *sink, struct berth_handle **out);
  int (*connect) (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
                  const struct berth_effective_sink *sink, struct berth_handle **out);
  void (*release) (struct berth_call *call, struct berth_handle *handle);
  int (*destroy) (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
                  struct berth_destroyed *out);
  int (*list_ids) (struct berth_call *call, struct berth_state *state, const struct berth_found_sink *sink);
  int (*is_running) (struct berth_call *call, struct berth_state *state, const struct berth_native *native);
};

struct frozen_commands_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  int (*run) (struct berth_call *call, struct berth_handle *handle, const struct berth_run *run,
              const struct berth_run_sink *sink);
};

struct frozen_files_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  int (*read) (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_read *how,
               const struct berth_read_sink *sink);
  int (*write) (struct berth_call *call, struct berth_handle *handle, const char *path,
                const struct berth_change *how, const struct berth_source *source);
  int (*list) (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_read *how,
               const struct berth_entry_sink *sink);
  int (*stat) (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_read *how,
               const struct berth_entry_sink *sink);
  int (*make_directory) (struct berth_call *call, struct berth_handle *handle, const char *path,
                         const struct berth_change *how);
  int (*move) (struct berth_call *call, struct berth_handle *handle, const char *from, const char *to,
               const struct berth_change *how);
  int (*remove) (struct berth_call *call, struct berth_handle *handle, const char *path,
                 const struct berth_change *how);
  int (*set_attributes) (struct berth_call *call, struct berth_handle *handle, const char *path,
                         const struct berth_change *how);
};

struct frozen_workspace_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  int (*export_tar) (struct berth_call *call, struct berth_handle *handle, const struct berth_tar_limits *limits,
                     const struct berth_tar_sink *sink);
  int (*import_tar) (struct berth_call *call, struct berth_handle *handle, const struct berth_tar_limits *limits,
                     const struct berth_source *source);
};

struct frozen_probe_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  int (*probe) (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
                struct berth_presence *out);
};

struct frozen_inventory_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  int (*list_page) (struct berth_call *call, struct berth_state *state, const char *cursor, uint32_t limit,
                    const struct berth_found_sink *sink);
  int (*describe) (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
                   const struct berth_found_sink *sink);
};

struct frozen_expiry_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  int (*renew) (struct berth_call *call, struct berth_state *state, const struct berth_native *native, int64_t ttl_ms,
                struct berth_expiry *out);
  int (*expires_at) (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
                     struct berth_expiry *out);
};

struct frozen_correlation_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  int (*find_by_assignment) (struct berth_call *call, struct berth_state *state, const char *assignment_id,
                             const struct berth_found_sink *sink);
};

struct frozen_pause_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  int (*pause) (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
                const struct berth_options *options);
  int (*resume) (struct berth_call *call, struct berth_state *state, const struct berth_native *native);
};

struct frozen_restart_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  int (*stop) (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
               const struct berth_options *options);
  int (*start) (struct berth_call *call, struct berth_state *state, const struct berth_native *native);
};

struct frozen_processes_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  int (*start) (struct berth_call *call, struct berth_handle *handle, const struct berth_run *run,
                const struct berth_text_sink *process_id);
  int (*attach) (struct berth_call *call, struct berth_handle *handle, const char *process_id,
                 const struct berth_attach *how, struct berth_position *position, struct berth_attachment **out);
  int (*next) (struct berth_call *call, struct berth_attachment *attachment, const struct berth_event_sink *sink);
  int (*write) (struct berth_call *call, struct berth_attachment *attachment, const void *bytes, size_t size,
                size_t *accepted);
  int (*close_input) (struct berth_call *call, struct berth_attachment *attachment);
  int (*signal) (struct berth_call *call, struct berth_attachment *attachment, int32_t linux_signal);
  int (*resize) (struct berth_call *call, struct berth_attachment *attachment, uint32_t columns, uint32_t rows);
  void (*detach) (struct berth_call *call, struct berth_attachment *attachment);
  int (*view) (struct berth_call *call, struct berth_handle *handle, const char *process_id,
               const struct berth_view *how, struct berth_position *position, const struct berth_event_sink *sink);
  int (*inspect) (struct berth_call *call, struct berth_handle *handle, const char *process_id,
                  const struct berth_process_sink *sink);
  int (*list) (struct berth_call *call, struct berth_handle *handle, const struct berth_process_sink *sink);
  int (*remove) (struct berth_call *call, struct berth_handle *handle, const char *process_id);
};

struct frozen_dial_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  int (*dial) (struct berth_call *call, struct berth_handle *handle, uint32_t port,
               const struct berth_options *options, int32_t *fd);
};

struct frozen_endpoints_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  int (*endpoint) (struct berth_call *call, struct berth_handle *handle, uint32_t port,
                   const struct berth_options *options, const struct berth_endpoint_sink *sink);
  int (*endpoint_names_sandbox) (struct berth_call *call, struct berth_state *state, const char *url,
                                 const struct berth_text_sink *native_id);
};

struct frozen_signing_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  int (*signed_endpoint) (struct berth_call *call, struct berth_handle *handle, uint32_t port, int64_t ttl_ms,
                          const struct berth_options *options, const struct berth_endpoint_sink *sink);
};

struct frozen_network_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  int (*admit_runtime_egress) (struct berth_call *call, struct berth_state *state, const struct berth_policy *wanted,
                               const struct berth_policy_sink *sink);
  int (*read_policy) (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
                      const struct berth_policy_sink *sink);
  int (*read_denials) (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
                       uint64_t after_sequence, const struct berth_denial_sink *sink);
};

struct frozen_network_update_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  int (*update_policy) (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
                        const struct berth_policy *policy);
};

struct frozen_credentials_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  int (*apply_vault) (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
                      const struct berth_vault *vault);
};

struct frozen_isolated_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  int (*prepare) (struct berth_call *call, struct berth_handle *handle,
                  const struct berth_isolated_workspace *workspace);
  int (*open) (struct berth_call *call, struct berth_handle *handle, const struct berth_isolated_workspace *workspace,
               const struct berth_text_sink *session_id);
  int (*run) (struct berth_call *call, struct berth_handle *handle, const char *session_id,
              const struct berth_run *run, const struct berth_run_sink *sink);
  int (*close) (struct berth_call *call, struct berth_handle *handle, const char *session_id);
  int (*count_active) (struct berth_call *call, struct berth_handle *handle, uint64_t *out);
  int (*read_memory_headroom) (struct berth_call *call, struct berth_handle *handle, uint64_t *out);
  int (*read_listening_ports) (struct berth_call *call, struct berth_handle *handle,
                               const struct berth_number_sink *sink);
};

struct frozen_recovery_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  int (*find_by_workspace) (struct berth_call *call, struct berth_handle *handle, const char *path,
                            const struct berth_text_sink *session_id);
};

struct frozen_pool_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  int (*ensure) (struct berth_call *call, struct berth_state *state, const struct berth_pool *pool);
  int (*acquire) (struct berth_call *call, struct berth_state *state, const char *pool, const struct berth_spec *spec,
                  const struct berth_create_sink *sink, struct berth_handle **out);
  int (*describe) (struct berth_call *call, struct berth_state *state, const char *pool,
                   const struct berth_pool_sink *sink);
  int (*retire) (struct berth_call *call, struct berth_state *state, const char *pool);
  int (*owns_unclaimed) (struct berth_call *call, struct berth_state *state, const struct berth_native *native);
  int (*readiness) (struct berth_call *call, struct berth_state *state, const char *pool);
};

struct frozen_snapshots_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  int (*save) (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
               const char *name, const struct berth_options *options, const struct berth_snapshot_sink *sink);
  int (*restore) (struct berth_call *call, struct berth_state *state, const char *snapshot_id,
                  const struct berth_spec *spec, const struct berth_create_sink *sink, struct berth_handle **out);
  int (*list) (struct berth_call *call, struct berth_state *state, const struct berth_snapshot_sink *sink);
  int (*remove) (struct berth_call *call, struct berth_state *state, const char *snapshot_id);
};

struct frozen_fork_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  int (*fork) (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
               const struct berth_spec *const *children, uint64_t count, const struct berth_children_sink *sink);
};

struct frozen_code_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  int (*run) (struct berth_call *call, struct berth_handle *handle, const struct berth_code *code,
              const struct berth_code_sink *sink);
};

struct frozen_contexts_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  int (*create) (struct berth_call *call, struct berth_handle *handle, const char *language,
                 const struct berth_text_sink *context_id);
  int (*list) (struct berth_call *call, struct berth_handle *handle, const struct berth_context_sink *sink);
  int (*remove) (struct berth_call *call, struct berth_handle *handle, const char *context_id);
};

struct frozen_volumes_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  int (*workspace_route) (struct berth_call *call, struct berth_state *state, const char *volume,
                          const struct berth_text_sink *route);
};

struct frozen_metrics_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  int (*read) (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
               const struct berth_options *options, const struct berth_metric_sink *sink);
};

struct frozen_diagnostics_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  int (*read) (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
               const char *scope, const struct berth_options *options, const struct berth_data_sink *sink);
};

struct frozen_watch_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  int (*watch) (struct berth_call *call, struct berth_handle *handle, const char *path,
                const struct berth_options *options, const struct berth_watch_sink *sink);
};

struct frozen_costs_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  int (*report) (struct berth_call *call, struct berth_state *state, int64_t from_wall_ms, int64_t to_wall_ms,
                 const struct berth_cost_sink *sink);
};

struct frozen_native_ops
{
  uint32_t struct_size;
  uint32_t reserved;
  int (*call) (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
               const char *operation, const char *json, const struct berth_data_sink *result);
};

struct frozen_setting
{
  const char *name;
  const char *environment;
  const char *fallback;
  const char *help;
  const char *choices;
  uint32_t type;
  uint32_t flags;
};

struct frozen_claim
{
  const char *when;
  const char *evidence_url;
  const char *evidence_date;
  uint32_t tier;
  uint32_t reserved;
};

struct frozen_backend
{
  struct berth_abi abi;
  const char *name;
  const char *version;
  const char *summary;
  uint64_t capabilities;
  uint64_t flags;
  uint32_t concurrency;
  uint32_t needs_host_minor;
  struct berth_array claims;
  struct berth_array settings;
  const struct berth_lifecycle_ops *lifecycle;
  const struct berth_commands_ops *commands;
  const struct berth_files_ops *files;
  const struct berth_workspace_ops *workspace;
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

#endif

/* The one table that says which function belongs to which capability. */
#include <string.h>

#include "core/registry/table.h"
#include "sdk/base/string.h"

#define REQUIRED(group, function) { #function, offsetof (struct berth_##group##_ops, function), 0 }
#define OPTIONAL(group, function) { #function, offsetof (struct berth_##group##_ops, function), 1 }
#define FUNCTIONS(name, ...) static const struct berth_function_row name##_functions[] = { __VA_ARGS__, { NULL, 0, 0 } }

FUNCTIONS (lifecycle, REQUIRED (lifecycle, open), REQUIRED (lifecycle, close), REQUIRED (lifecycle, ping),
           REQUIRED (lifecycle, validate), REQUIRED (lifecycle, create), REQUIRED (lifecycle, connect),
           REQUIRED (lifecycle, release), REQUIRED (lifecycle, destroy), REQUIRED (lifecycle, list_ids),
           REQUIRED (lifecycle, is_running));
FUNCTIONS (commands, REQUIRED (commands, run));
FUNCTIONS (files, REQUIRED (files, read), REQUIRED (files, write), REQUIRED (files, list), REQUIRED (files, stat),
           REQUIRED (files, make_directory), REQUIRED (files, move), REQUIRED (files, remove),
           REQUIRED (files, set_attributes));
FUNCTIONS (workspace, REQUIRED (workspace, export_tar), REQUIRED (workspace, import_tar));
FUNCTIONS (probe, REQUIRED (probe, probe));
FUNCTIONS (inventory, REQUIRED (inventory, list_page), REQUIRED (inventory, describe));
FUNCTIONS (expiry, REQUIRED (expiry, renew), REQUIRED (expiry, expires_at));
FUNCTIONS (correlation, REQUIRED (correlation, find_by_assignment));
FUNCTIONS (pause, REQUIRED (pause, pause), REQUIRED (pause, resume));
FUNCTIONS (restart, REQUIRED (restart, stop), REQUIRED (restart, start));
FUNCTIONS (processes, REQUIRED (processes, start), REQUIRED (processes, attach), REQUIRED (processes, next),
           REQUIRED (processes, write), REQUIRED (processes, close_input), REQUIRED (processes, signal),
           REQUIRED (processes, detach), REQUIRED (processes, view), REQUIRED (processes, inspect),
           REQUIRED (processes, list), REQUIRED (processes, remove));
FUNCTIONS (pty, REQUIRED (processes, resize));
FUNCTIONS (dial, REQUIRED (dial, dial));
FUNCTIONS (endpoints, REQUIRED (endpoints, endpoint), REQUIRED (endpoints, endpoint_names_sandbox));
FUNCTIONS (signing, REQUIRED (signing, signed_endpoint));
FUNCTIONS (network, REQUIRED (network, admit_runtime_egress), REQUIRED (network, read_policy));
FUNCTIONS (network_rules, REQUIRED (network, read_denials));
FUNCTIONS (network_update, REQUIRED (network_update, update_policy));
FUNCTIONS (credentials, REQUIRED (credentials, apply_vault));
FUNCTIONS (isolated, REQUIRED (isolated, prepare), REQUIRED (isolated, open), REQUIRED (isolated, run),
           REQUIRED (isolated, close), REQUIRED (isolated, count_active), OPTIONAL (isolated, read_memory_headroom),
           OPTIONAL (isolated, read_listening_ports));
FUNCTIONS (recovery, REQUIRED (recovery, find_by_workspace));
FUNCTIONS (pool, REQUIRED (pool, ensure), REQUIRED (pool, acquire), REQUIRED (pool, describe),
           REQUIRED (pool, retire), REQUIRED (pool, owns_unclaimed), REQUIRED (pool, readiness));
FUNCTIONS (snapshots, REQUIRED (snapshots, save), REQUIRED (snapshots, restore), REQUIRED (snapshots, list),
           REQUIRED (snapshots, remove));
FUNCTIONS (fork, REQUIRED (fork, fork));
FUNCTIONS (code, REQUIRED (code, run));
FUNCTIONS (contexts, REQUIRED (contexts, create), REQUIRED (contexts, list), REQUIRED (contexts, remove));
FUNCTIONS (volumes, REQUIRED (volumes, workspace_route));
FUNCTIONS (metrics, REQUIRED (metrics, read));
FUNCTIONS (diagnostics, REQUIRED (diagnostics, read));
FUNCTIONS (watch, REQUIRED (watch, watch));
FUNCTIONS (costs, REQUIRED (costs, report));
FUNCTIONS (native, REQUIRED (native, call));

/* ROW (bit, group, its functions, bits it needs, needs PARALLEL, help) */
#define CAPABILITIES(ROW)                                                                                              \
  ROW (PROBE, probe, probe, 0, 0, "tells independently whether anything of a sandbox is left")                         \
  ROW (INVENTORY, inventory, inventory, 0, 0, "lists sandboxes page by page with their details")                       \
  ROW (EXPIRY, expiry, expiry, 0, 0, "enforces an end of its own")                                                     \
  ROW (CORRELATED_CREATE, correlation, correlation, 0, 0, "finds what an interrupted create has made")                 \
  ROW (PAUSE, pause, pause, 0, 0, "pauses and resumes every process")                                                  \
  ROW (RESTART, restart, restart, 0, 0, "stops a sandbox and starts it with its workspace")                            \
  ROW (PROCESS_SESSIONS, processes, processes, 0, 1, "long-lived processes to attach to, with replay")                 \
  ROW (PTY, processes, pty, BERTH_CAP_PROCESS_SESSIONS, 1, "terminals, with resize")                                   \
  ROW (DIAL, dial, dial, 0, 0, "a byte stream to a port inside")                                                       \
  ROW (ENDPOINTS, endpoints, endpoints, 0, 0, "the platform's own URLs of ports")                                      \
  ROW (SIGNED_ENDPOINTS, signing, signing, BERTH_CAP_ENDPOINTS, 0, "URLs that carry their own credential")             \
  ROW (NETWORK_POLICY, network, network, 0, 0, "denies or allows the network from the first instruction")              \
  ROW (NETWORK_RULES, network, network_rules, BERTH_CAP_NETWORK_POLICY, 0, "allows hosts, networks and ports")         \
  ROW (NETWORK_UPDATE, network_update, network_update, BERTH_CAP_NETWORK_POLICY, 0, "changes the policy at run time")  \
  ROW (EGRESS_CREDENTIALS, credentials, credentials, BERTH_CAP_NETWORK_POLICY, 0, "adds credentials to requests outside") \
  ROW (ISOLATED_SESSIONS, isolated, isolated, 0, 0, "several tenants in one sandbox")                                  \
  ROW (ISOLATED_SESSION_RECOVERY, recovery, recovery, BERTH_CAP_ISOLATED_SESSIONS, 0, "finds a workspace's sessions again") \
  ROW (CLIENT_POOL, pool, pool, 0, 0, "ready sandboxes kept by the platform")                                          \
  ROW (SNAPSHOT_DISK, snapshots, snapshots, 0, 0, "the platform's own snapshots of the disk")                          \
  ROW (SNAPSHOT_MEMORY, snapshots, snapshots, 0, 0, "the platform's own snapshots with memory")                        \
  ROW (FORK, fork, fork, 0, 0, "independent copies of a running sandbox")                                              \
  ROW (RUN_CODE, code, code, 0, 0, "runs code in an interpreter of the image's")                                       \
  ROW (STATEFUL_CODE, contexts, contexts, BERTH_CAP_RUN_CODE, 0, "interpreter state that lasts between runs")          \
  ROW (WORKSPACE_VOLUME, volumes, volumes, 0, 0, "a workspace on a configured volume")                                 \
  ROW (METRICS, metrics, metrics, 0, 0, "measures what a sandbox uses")                                                \
  ROW (DIAGNOSTICS, diagnostics, diagnostics, 0, 0, "the runtime's own logs about a sandbox")                          \
  ROW (FILE_WATCH, watch, watch, 0, 1, "tells changes below a path")                                                   \
  ROW (COST_REPORTING, costs, costs, 0, 0, "what sandboxes have cost")                                                 \
  ROW (NATIVE, native, native, 0, 0, "operations that only this backend has")

static const char gpu_help[] = "accepts a GPU";

/* The floor is the size at ABI 1.0 and stays when a group grows; the size is today's. */
#define GROUP(member)                                                                                                  \
  .group = #member, .pointer = offsetof (struct berth_backend, member), .floor = sizeof (struct berth_##member##_ops), \
  .size = sizeof (struct berth_##member##_ops)
#define ALWAYS(member, text) { .name = #member, GROUP (member), .functions = member##_functions, .help = text }
#define RULE(word, member, list, wanted, parallel, text)                                                               \
  { .bit = BERTH_CAP_##word,                                                                                           \
    .name = #word,                                                                                                     \
    GROUP (member),                                                                                                    \
    .needs = wanted,                                                                                                   \
    .functions = list##_functions,                                                                                     \
    .parallel_only = parallel,                                                                                         \
    .help = text },
#define INFORMATION(word, member, list, wanted, parallel, text) { BERTH_CAP_##word, #word, #member, text, wanted },

const struct berth_rule_row berth_rules[] = {
  ALWAYS (lifecycle, "whole sandboxes: make, reach, destroy, list"),
  ALWAYS (commands, "runs commands"),
  ALWAYS (files, "reads and writes files"),
  ALWAYS (workspace, "exports and imports the workspace"),
  CAPABILITIES (RULE)
  { .bit = BERTH_CAP_GPU, .name = "GPU", .help = gpu_help },
  { .bit = BERTH_CAP_LSP, .name = "LSP", .help = "reserved", .reserved = 1 },
  { .bit = BERTH_CAP_GIT, .name = "GIT", .help = "reserved", .reserved = 1 },
};
const uint32_t berth_rule_count = sizeof berth_rules / sizeof berth_rules[0];

/* First what the four required groups give, and the host therefore adds. */
#define GIVEN_COUNT 4
static const struct berth_capability_info infos[] = {
  { BERTH_CAP_RUN_COMMAND, "RUN_COMMAND", "commands", "runs commands", 0 },
  { BERTH_CAP_STREAMING, "STREAMING", "commands", "output while the command runs", 0 },
  { BERTH_CAP_FILESYSTEM, "FILESYSTEM", "files", "reads and writes files", 0 },
  { BERTH_CAP_UPLOAD_DOWNLOAD, "UPLOAD_DOWNLOAD", "workspace", "exports and imports the workspace", 0 },
  CAPABILITIES (INFORMATION)
  { BERTH_CAP_GPU, "GPU", NULL, gpu_help, 0 },
};

const struct berth_capability_info *
berth_capability (uint32_t index)
{
  return index < sizeof infos / sizeof infos[0] ? &infos[index] : NULL;
}

uint64_t
berth_capabilities_given (void)
{
  uint64_t bits = 0;

  for (uint32_t i = 0; i < GIVEN_COUNT; i++)
    bits |= infos[i].bit;
  return bits;
}

uint64_t
berth_capabilities_known (void)
{
  uint64_t bits = berth_capabilities_given ();

  for (uint32_t i = 0; i < berth_rule_count; i++)
    bits |= berth_rules[i].bit;
  return bits;
}

const char *
berth_capability_name (uint64_t bit)
{
  for (uint32_t i = 0; i < GIVEN_COUNT; i++)
    if (infos[i].bit == bit)
      return infos[i].name;
  for (uint32_t i = 0; i < berth_rule_count; i++)
    if (berth_rules[i].bit == bit && bit != 0)
      return berth_rules[i].name;
  return NULL;
}

int
berth_bits_describe (uint32_t which, uint64_t bits, struct berth_buffer *text)
{
  for (unsigned int n = 0; n < 64; n++)
    {
      uint64_t bit = bits & (UINT64_C (1) << n);
      const char *name = which == 0 ? berth_capability_name (bit) : berth_asks_name (which, bit);

      if (bit == 0)
        continue;
      if (text->size > 0)
        berth_buffer_append_string (text, ", ");
      if (name != NULL)
        berth_buffer_append_string (text, name);
      else
        berth_buffer_appendf (text, which == 0 ? "bit %u" : "bit %u of mask %u", n, which);
    }
  return text->error == 0 ? 0 : -1;
}

uint32_t
berth_rule_first (uint32_t row)
{
  uint32_t first = 0;

  while (!berth_string_equal (berth_rules[first].group, berth_rules[row].group))
    first++;
  return first;
}

uint32_t
berth_group_size (const void *group)
{
  uint32_t size;

  memcpy (&size, group, sizeof size);
  return size;
}

berth_any_function *
berth_group_function (const void *group, const struct berth_function_row *row)
{
  berth_any_function *function = NULL;

  if (berth_group_size (group) >= row->offset + sizeof function)
    memcpy (&function, (const char *) group + row->offset, sizeof function);
  return function;
}

const void *
berth_backend_group (const struct berth_backend *backend, const struct berth_rule_row *rule)
{
  const void *group;

  memcpy (&group, (const char *) backend + rule->pointer, sizeof group);
  return group;
}

/* Names of what crosses the boundary as bits and ranks. */
#include <strings.h>

#include "core/registry/registry.h"
#include "sdk/base/string.h"

struct bit_name
{
  uint64_t bit;
  const char *name;
};

/* The name of a bit is that of the struct's member, or the word the bit is. */
static const struct bit_name spec_bits[] = {
  { BERTH_SPEC_IMAGE, "image" },
  { BERTH_SPEC_PIN, "pin" },
  { BERTH_SPEC_ENTRYPOINT, "entrypoint" },
  { BERTH_SPEC_ENVIRONMENT, "environment" },
  { BERTH_SPEC_METADATA, "metadata" },
  { BERTH_SPEC_USER, "user" },
  { BERTH_SPEC_CPU, "cpu" },
  { BERTH_SPEC_MEMORY, "memory" },
  { BERTH_SPEC_PIDS, "pids" },
  { BERTH_SPEC_DISK, "disk" },
  { BERTH_SPEC_TMP, "tmp" },
  { BERTH_SPEC_OPEN_FILES, "open_files" },
  { BERTH_SPEC_GPU, "gpu" },
  { BERTH_SPEC_NETWORK, "network" },
  { BERTH_SPEC_TTL, "ttl" },
  { BERTH_SPEC_TIER, "tier" },
  { BERTH_SPEC_READ_ONLY_ROOT, "read_only_root" },
  { BERTH_SPEC_VOLUME, "volume" },
  { BERTH_SPEC_PORTS, "ports" },
  { BERTH_SPEC_FILE_SIZE, "file_size" },
  { BERTH_SPEC_SHM, "shm" },
  { BERTH_SPEC_FORBID_ROOT, "forbid_root" },
  { BERTH_SPEC_OWNED, "owned" },
  { BERTH_SPEC_USER_NAMESPACES, "user_namespaces" },
  { 0, NULL },
};
static const struct bit_name run_bits[] = {
  { BERTH_RUN_ENVIRONMENT, "environment" }, { BERTH_RUN_WORKDIR, "workdir" }, { BERTH_RUN_USER, "user" },
  { BERTH_RUN_TIMEOUT, "timeout" },         { BERTH_RUN_TERMINAL, "terminal" }, { BERTH_RUN_RING, "ring" },
  { BERTH_RUN_NAME, "name" },               { BERTH_RUN_RESTART, "restart" }, { 0, NULL },
};
static const struct bit_name change_bits[] = {
  { BERTH_CHANGE_MODE, "mode" },       { BERTH_CHANGE_OWNER, "owner" },     { BERTH_CHANGE_GROUP, "group" },
  { BERTH_CHANGE_TIME, "time" },       { BERTH_CHANGE_NEW, "new" },         { BERTH_CHANGE_PARENTS, "parents" },
  { BERTH_CHANGE_RECURSIVE, "recursive" }, { BERTH_CHANGE_MISSING_OK, "missing_ok" }, { 0, NULL },
};
static const struct bit_name read_bits[] = {
  { BERTH_READ_RANGE, "range" }, { BERTH_READ_FOLLOW, "follow" }, { 0, NULL },
};
static const struct bit_name tar_bits[] = { { BERTH_TAR_FROZEN, "frozen" }, { 0, NULL } };
static const struct bit_name attach_bits[] = {
  { BERTH_ATTACH_TAKEOVER, "takeover" }, { BERTH_ATTACH_ONLY_RUNNING, "only_running" }, { 0, NULL },
};
static const struct bit_name view_bits[] = { { BERTH_VIEW_FOLLOW, "follow" }, { 0, NULL } };
static const struct bit_name policy_bits[] = { { BERTH_POLICY_RUN_TIME, "run_time" }, { 0, NULL } };
static const struct bit_name code_bits[] = {
  { BERTH_CODE_CONTEXT, "context" }, { BERTH_CODE_TIMEOUT, "timeout" }, { 0, NULL },
};
static const struct bit_name no_bits[] = { { 0, NULL } };

static const struct bit_name *const asks_bits[] = {
  [BERTH_ASKS_SPEC] = spec_bits,     [BERTH_ASKS_RUN] = run_bits,     [BERTH_ASKS_CHANGE] = change_bits,
  [BERTH_ASKS_READ] = read_bits,     [BERTH_ASKS_TAR] = tar_bits,     [BERTH_ASKS_ATTACH] = attach_bits,
  [BERTH_ASKS_VIEW] = view_bits,     [BERTH_ASKS_POLICY] = policy_bits, [BERTH_ASKS_VAULT] = no_bits,
  [BERTH_ASKS_ISOLATED] = no_bits,   [BERTH_ASKS_POOL] = no_bits,     [BERTH_ASKS_CODE] = code_bits,
  [BERTH_ASKS_OPTIONS] = no_bits,
};

const char *
berth_asks_name (uint32_t which, uint64_t bit)
{
  const struct bit_name *row;

  if (bit == BERTH_ASKS_HARNESS)
    return "the harness's bit";
  if (which >= sizeof asks_bits / sizeof asks_bits[0] || asks_bits[which] == NULL)
    return NULL;
  for (row = asks_bits[which]; row->name != NULL; row++)
    if (row->bit == bit)
      return row->name;
  return NULL;
}

const char *
berth_spec_name (uint64_t bit)
{
  return bit == BERTH_ASKS_HARNESS ? NULL : berth_asks_name (BERTH_ASKS_SPEC, bit);
}

/* A tier crosses as its rank: comparisons come from here and nowhere else. */
static const struct
{
  uint32_t rank;
  const char *name;
} tiers[] = {
  { BERTH_TIER_UNKNOWN, "unknown" },
  { BERTH_TIER_CONTAINER, "container" },
  { BERTH_TIER_GVISOR, "gvisor" },
  { BERTH_TIER_MICROVM, "microvm" },
};
#define TIER_COUNT (sizeof tiers / sizeof tiers[0])

const char *
berth_tier_name (uint32_t tier)
{
  for (size_t i = 0; i < TIER_COUNT; i++)
    if (tiers[i].rank == tier)
      return tiers[i].name;
  return tiers[0].name;
}

int
berth_tier_parse (const char *name)
{
  for (size_t i = 0; i < TIER_COUNT; i++)
    if (strcasecmp (tiers[i].name, name) == 0)
      return (int) tiers[i].rank;
  return -1;
}

static int
tier_is_known (uint32_t tier)
{
  for (size_t i = 1; i < TIER_COUNT; i++)
    if (tiers[i].rank == tier)
      return 1;
  return 0;
}

int
berth_tier_satisfies (uint32_t tier, uint32_t minimum)
{
  return tier_is_known (tier) && (minimum == BERTH_TIER_UNKNOWN || tier_is_known (minimum)) && tier >= minimum;
}

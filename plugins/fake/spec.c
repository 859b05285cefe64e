/* spec.c - what a specification gets, and what of it is remembered. */
#include "plugins/fake/fake.h"
#include "plugins/fake/tree.h"
#include "sdk/base/string.h"

#define VOLUME_ROUTE "fake-volume:"

struct name
{
  const char *name;
  uint64_t bit;
};

static uint64_t
parse_names (const char *list, const struct name *names)
{
  uint64_t bits = 0;

  for (; names->name != NULL; names++)
    if (fake_listed (list, names->name, strlen (names->name)))
      bits |= names->bit;
  return bits;
}

uint64_t
fake_limits_parse (const char *list)
{
  static const struct name limits[] = {
    { "cpu", BERTH_SPEC_CPU },
    { "memory", BERTH_SPEC_MEMORY },
    { "pids", BERTH_SPEC_PIDS },
    { "disk", BERTH_SPEC_DISK },
    { "tmp", BERTH_SPEC_TMP },
    { "open_files", BERTH_SPEC_OPEN_FILES },
    { "file_size", BERTH_SPEC_FILE_SIZE },
    { "shm", BERTH_SPEC_SHM },
    { "ttl", BERTH_SPEC_TTL },
    { "read_only_root", BERTH_SPEC_READ_ONLY_ROOT },
    { "forbid_root", BERTH_SPEC_FORBID_ROOT },
    { "owned", BERTH_SPEC_OWNED },
    { "ports", BERTH_SPEC_PORTS },
    { "network", BERTH_SPEC_NETWORK },
    { NULL, 0 },
  };

  return parse_names (list, limits);
}

#define FAKE_CAPABILITIES(X)                                                                      \
  X (PROBE) X (INVENTORY) X (EXPIRY) X (CORRELATED_CREATE) X (PAUSE) X (RESTART)                  \
  X (PROCESS_SESSIONS) X (PTY) X (DIAL) X (ENDPOINTS) X (SIGNED_ENDPOINTS) X (NETWORK_POLICY)     \
  X (NETWORK_RULES) X (NETWORK_UPDATE) X (EGRESS_CREDENTIALS) X (ISOLATED_SESSIONS)               \
  X (ISOLATED_SESSION_RECOVERY) X (CLIENT_POOL) X (SNAPSHOT_DISK) X (SNAPSHOT_MEMORY) X (FORK)    \
  X (RUN_CODE) X (STATEFUL_CODE) X (WORKSPACE_VOLUME) X (METRICS) X (DIAGNOSTICS) X (FILE_WATCH)  \
  X (COST_REPORTING) X (NATIVE) X (GPU)

static const struct name capability_names[] = {
#define ROW(name) { #name, BERTH_CAP_##name },
  FAKE_CAPABILITIES (ROW)
#undef ROW
  { NULL, 0 },
};

/* "all", "none", or the names of those that the instance keeps. */
uint64_t
fake_capabilities_parse (const char *list)
{
  uint64_t all = 0;

  for (const struct name *name = capability_names; name->name != NULL; name++)
    all |= name->bit;
  return list == NULL || strcmp (list, "all") == 0 ? all : parse_names (list, capability_names);
}

/* --- checks ------------------------------------------------------------------------------------------ */

/* Zero is never "unlimited". */
static int
check_numbers (struct berth_call *call, const struct berth_spec *spec)
{
  const struct
  {
    uint64_t bit;
    const char *name;
    int64_t value;
  } numbers[] = {
    { BERTH_SPEC_CPU, "cpu", spec->cpu_milli },
    { BERTH_SPEC_MEMORY, "memory", (int64_t) spec->memory_bytes },
    { BERTH_SPEC_PIDS, "pids", spec->pids },
    { BERTH_SPEC_DISK, "disk", (int64_t) spec->disk_bytes },
    { BERTH_SPEC_TMP, "tmp", (int64_t) spec->tmp_bytes },
    { BERTH_SPEC_SHM, "shm", (int64_t) spec->shm_bytes },
    { BERTH_SPEC_FILE_SIZE, "file_size", (int64_t) spec->file_size_bytes },
    { BERTH_SPEC_OPEN_FILES, "open_files", spec->open_files },
    { BERTH_SPEC_TTL, "ttl", spec->ttl_ms },
  };

  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if ((spec->asks & numbers[i].bit) != 0 && numbers[i].value <= 0)
      return call->services->fail (call, BERTH_E_INVALID_REQUEST, "limit %s is %lld (want a number above 0)",
                                   numbers[i].name, (long long) numbers[i].value);
  return 0;
}

static int
check_environment (struct berth_call *call, const struct berth_spec *spec)
{
  for (uint64_t i = 0; (spec->asks & BERTH_SPEC_ENVIRONMENT) != 0 && i < spec->environment_count; i++)
    if (!fake_variable_is_valid (spec->environment[i].name))
      return call->services->fail (call, BERTH_E_INVALID_REQUEST, "not a name of an environment variable: `%s`",
                                   spec->environment[i].name);
  return 0;
}

static int
check_volume (struct berth_call *call, struct berth_state *state, const struct berth_spec *spec)
{
  const char *name;

  if ((spec->asks & BERTH_SPEC_VOLUME) == 0)
    return 0;
  if (fake_needs (call, state, BERTH_CAP_WORKSPACE_VOLUME, "WORKSPACE_VOLUME") < 0)
    return -1;
  name = fake_volume_of_route (spec->volume_route);
  if (name != NULL && fake_listed (state->volumes, name, strlen (name)))
    return 0;
  return call->services->fail (call, BERTH_E_NOT_FOUND, "no volume behind `%s` (the setting `volumes` lists them)",
                               spec->volume_route);
}

static int
check_image (struct berth_call *call, const struct berth_spec *spec)
{
  /* Any image will do, but a test must be able to name one that is not there. */
  if ((spec->asks & BERTH_SPEC_IMAGE) != 0 && berth_string_starts_with (spec->image, "missing"))
    return call->services->fail (call, BERTH_E_NOT_FOUND, "no image `%s`", spec->image);
  return 0;
}

static int
check_user (struct berth_call *call, const struct berth_spec *spec)
{
  uint32_t uid = 1000;

  if ((spec->asks & BERTH_SPEC_USER) == 0)
    return 0;
  if (fake_user_id (spec->user, &uid) < 0)
    return call->services->fail (call, BERTH_E_INVALID_REQUEST, "no account `%s` in the sandbox", spec->user);
  if (uid == 0 && (spec->asks & BERTH_SPEC_FORBID_ROOT) != 0)
    return call->services->fail (call, BERTH_E_INVALID_REQUEST, "user root, but the specification forbids root");
  return 0;
}

static int
check_rest (struct berth_call *call, struct berth_state *state, const struct berth_spec *spec)
{
  if ((spec->asks & BERTH_SPEC_TIER) != 0 && spec->minimum_tier > state->tier)
    return call->services->fail (call, BERTH_E_CAPABILITY_NOT_SUPPORTED, "isolation of tier %u is required, this "
                                 "instance has %u", spec->minimum_tier, state->tier);
  if ((spec->asks & BERTH_SPEC_GPU) == 0)
    return 0;
  if (fake_needs (call, state, BERTH_CAP_GPU, "GPU") < 0)
    return -1;
  if (state->gpu != NULL && (strcmp (spec->gpu, "any") == 0 || strcmp (spec->gpu, state->gpu) == 0))
    return 0;
  return call->services->fail (call, BERTH_E_CAPABILITY_NOT_SUPPORTED, "no GPU `%s` (there is: %s)", spec->gpu,
                               state->gpu != NULL ? state->gpu : "none");
}

static int
check_network (struct berth_call *call, struct berth_state *state, const struct berth_spec *spec)
{
  if ((spec->asks & BERTH_SPEC_NETWORK) != 0)
    return fake_policy_check (call, state, spec->network);
  /* Silence means deny, which this instance must then be able to do. */
  return fake_needs (call, state, BERTH_CAP_NETWORK_POLICY, "NETWORK_POLICY, and the specification does not allow "
                     "the network");
}

int
fake_spec_check (struct berth_call *call, struct berth_state *state, const struct berth_spec *spec)
{
  if (BERTH_REFUSE_UNKNOWN (call, SPEC, spec->asks, BERTH_SPEC_KNOWN_1_0) < 0 || check_numbers (call, spec) < 0
      || check_environment (call, spec) < 0 || check_volume (call, state, spec) < 0 || check_image (call, spec) < 0
      || check_user (call, spec) < 0 || check_network (call, state, spec) < 0)
    return -1;
  return check_rest (call, state, spec);
}

/* --- answers --------------------------------------------------------------------------------------------- */

static uint64_t
enforced_of (struct berth_state *state, uint64_t asks)
{
  uint64_t enforced = asks & ~state->unenforced;

  if ((state->capabilities & BERTH_CAP_EXPIRY) == 0)
    enforced &= ~BERTH_SPEC_TTL;
  return enforced;
}

struct berth_json *
fake_spec_record (struct berth_state *state, const struct berth_spec *spec)
{
  BERTH_AUTO_JSON struct berth_json *record = berth_json_new_object ();
  uint64_t enforced = enforced_of (state, spec->asks);
  int64_t now = fake_now_ms (state);
#define NUMBER(bit, key, value)                                                                   \
  ((enforced & BERTH_SPEC_##bit) != 0 ? berth_json_set_int64 (record, key, (int64_t) (value)) : 0)
#define TEXT(bit, key, value) ((spec->asks & BERTH_SPEC_##bit) != 0 ? berth_json_set_string (record, key, value) : 0)

  if (berth_json_set_string (record, "sandbox_id", spec->sandbox_id) < 0
      || berth_json_set_string (record, "assignment_id", spec->assignment_id) < 0
      || berth_json_set_string (record, "installation_id", spec->installation_id) < 0
      || berth_json_set_int64 (record, "generation", (int64_t) spec->generation) < 0
      || berth_json_set_int64 (record, "created", now) < 0 || berth_json_set_int64 (record, "boot", 1) < 0
      || berth_json_set_int64 (record, "enforced", (int64_t) enforced) < 0
      || berth_json_set_int64 (record, "tier", state->tier) < 0
      || berth_json_set_int64 (record, "capabilities", (int64_t) state->capabilities) < 0
      || TEXT (IMAGE, "image", spec->image) < 0 || TEXT (USER, "user", spec->user) < 0
      || TEXT (GPU, "gpu", spec->gpu) < 0 || TEXT (VOLUME, "volume", fake_volume_of_route (spec->volume_route)) < 0
      || NUMBER (MEMORY, "memory", spec->memory_bytes) < 0 || NUMBER (DISK, "disk", spec->disk_bytes) < 0
      || NUMBER (TMP, "tmp", spec->tmp_bytes) < 0 || NUMBER (SHM, "shm", spec->shm_bytes) < 0
      || NUMBER (FILE_SIZE, "file_size", spec->file_size_bytes) < 0 || NUMBER (CPU, "cpu", spec->cpu_milli) < 0
      || NUMBER (PIDS, "pids", spec->pids) < 0 || NUMBER (OPEN_FILES, "open_files", spec->open_files) < 0
      || NUMBER (TTL, "expires", now + spec->ttl_ms) < 0 || NUMBER (OWNED, "owned", 1) < 0
      || NUMBER (FORBID_ROOT, "forbid_root", 1) < 0
      || berth_json_set (record, "network",
                         fake_policy_to_json ((spec->asks & BERTH_SPEC_NETWORK) != 0 ? spec->network : NULL))
             < 0
      || fake_spec_lists (record, spec) < 0)
    return NULL;
  return BERTH_STEAL_POINTER (record);
#undef NUMBER
#undef TEXT
}

void
fake_effective_from_record (struct berth_state *state, const struct berth_json *record,
                            struct berth_effective *effective)
{
  *effective = (struct berth_effective) {
    .struct_size = sizeof *effective,
    .tier = (uint32_t) fake_number (record, "tier"),
    .has = BERTH_EFFECTIVE_TTL_RANGE,
    .capabilities = (uint64_t) fake_number (record, "capabilities") & state->capabilities,
    .enforced = (uint64_t) fake_number (record, "enforced"),
    .run_asks = BERTH_RUN_ENVIRONMENT | BERTH_RUN_WORKDIR | BERTH_RUN_USER | BERTH_RUN_TIMEOUT,
    .posture = BERTH_POSTURE_ALL, /* nothing ever runs */
    .pin = "fake-1",
    .runtime = "fake: executes nothing",
    .memory_bytes = (uint64_t) fake_number (record, "memory"),
    .disk_bytes = (uint64_t) fake_number (record, "disk"),
    .tmp_bytes = (uint64_t) fake_number (record, "tmp"),
    .shm_bytes = (uint64_t) fake_number (record, "shm"),
    .file_size_bytes = (uint64_t) fake_number (record, "file_size"),
    .ttl_minimum_ms = 1,
    .ttl_maximum_ms = INT64_C (30) * 86400000,
    .cpu_milli = (uint32_t) fake_number (record, "cpu"),
    .pids = (uint32_t) fake_number (record, "pids"),
    .open_files = (uint32_t) fake_number (record, "open_files"),
  };
}

/* --- lists ------------------------------------------------------------------------------------------------- */

/* The variables whose SECRET flag is SECRET, as an array of {name, value}; NULL without memory. */
static struct berth_json *
environment_json (const struct berth_spec *spec, uint32_t secret)
{
  BERTH_AUTO_JSON struct berth_json *array = berth_json_new_array ();

  for (uint64_t i = 0; (spec->asks & BERTH_SPEC_ENVIRONMENT) != 0 && i < spec->environment_count; i++)
    {
      struct berth_json *pair = berth_json_new_object ();

      if ((spec->environment[i].flags & BERTH_PAIR_SECRET) == secret
          && (berth_json_set_string (pair, "name", spec->environment[i].name) < 0
              || berth_json_set_string (pair, "value", spec->environment[i].value) < 0
              || berth_json_append (array, berth_json_share (pair)) < 0))
        {
          berth_json_free (pair);
          return NULL;
        }
      berth_json_free (pair);
    }
  return BERTH_STEAL_POINTER (array);
}

int
fake_spec_lists (struct berth_json *record, const struct berth_spec *spec)
{
  struct berth_json *metadata = berth_json_new_object ();
  struct berth_json *ports;

  if (berth_json_set (record, "metadata", metadata) < 0
      || berth_json_set (record, "environment", environment_json (spec, 0)) < 0)
    return -1;
  for (uint64_t i = 0; (spec->asks & BERTH_SPEC_METADATA) != 0 && i < spec->metadata_count; i++)
    if (berth_json_set_string (metadata, spec->metadata[i].name, spec->metadata[i].value) < 0)
      return -1;
  if ((spec->asks & BERTH_SPEC_PORTS) == 0)
    return 0;
  ports = berth_json_new_array ();
  if (berth_json_set (record, "ports", ports) < 0)
    return -1;
  for (uint64_t i = 0; i < spec->port_count; i++)
    if (berth_json_append (ports, berth_json_new_int64 (spec->ports[i])) < 0)
      return -1;
  return 0;
}

struct berth_json *
fake_spec_secrets (const struct berth_spec *spec)
{
  return environment_json (spec, BERTH_PAIR_SECRET);
}

/* Printable ASCII without `=` and space, as the agent has it. */
int
fake_variable_is_valid (const char *name)
{
  if (name == NULL || *name == '\0')
    return 0;
  for (; *name != '\0'; name++)
    if (*name <= ' ' || *name > '~' || *name == '=')
      return 0;
  return 1;
}

/* --- volumes ------------------------------------------------------------------------------------------------ */

const char *
fake_volume_of_route (const char *route)
{
  return route != NULL && berth_string_starts_with (route, VOLUME_ROUTE) ? route + strlen (VOLUME_ROUTE) : NULL;
}

static int
fake_workspace_route (struct berth_call *call, struct berth_state *state, const char *volume,
                      const struct berth_text_sink *sink)
{
  BERTH_AUTO_FREE char *route = NULL;

  if (fake_needs (call, state, BERTH_CAP_WORKSPACE_VOLUME, "WORKSPACE_VOLUME") < 0
      || fake_point (call, state, "volumes.workspace_route") < 0)
    return -1;
  if (!fake_id_is_valid (volume) || !fake_listed (state->volumes, volume, strlen (volume)))
    return call->services->fail (call, BERTH_E_NOT_FOUND, "no volume `%s` (the setting `volumes` lists them)", volume);
  route = berth_string_format (VOLUME_ROUTE "%s", volume);
  return route == NULL ? fake_failed (call, "name a volume") : sink->text (sink->context, route);
}

const struct berth_volumes_ops fake_volumes = {
  .struct_size = sizeof fake_volumes,
  .workspace_route = fake_workspace_route,
};

#include "core/manager/spec.h"

#include <inttypes.h>
#include <string.h>

#include "core/manager/expiry.h"
#include "core/manager/inventory.h"
#include "sdk/base/clock.h"
#include "sdk/base/process.h"
#include "sdk/base/string.h"

#define LABELS_MAX 64
#define LABEL_NAME_MAX 128
#define LABEL_VALUE_MAX 4096

int
berth_environment_check (const struct berth_pair *pairs, uint64_t count, struct berth_error *error)
{
  for (uint64_t i = 0; i < count; i++)
    if (pairs[i].name == NULL || pairs[i].name[0] == '\0' || strchr (pairs[i].name, '=') != NULL)
      return berth_error_set (error, BERTH_E_INVALID_REQUEST,
                              "environment: \"%.80s\" is no name: want one that is not empty and has no =",
                              pairs[i].name != NULL ? pairs[i].name : "");
    else if (pairs[i].value == NULL)
      return berth_error_set (error, BERTH_E_INVALID_REQUEST, "environment: %.80s has no value", pairs[i].name);
  return 0;
}

static int
check_label (const struct berth_pair *label, struct berth_error *error)
{
  const char *name = label->name != NULL ? label->name : "", *value = label->value != NULL ? label->value : "";
  size_t size = strlen (name);

  if (size < 1 || size > LABEL_NAME_MAX || !berth_utf8_is_valid (name, size))
    return berth_error_set (error, BERTH_E_INVALID_REQUEST, "label: \"%.80s\" is no name: want 1 to %d bytes of UTF-8",
                            name, LABEL_NAME_MAX);
  if (berth_string_starts_with (name, "io.berth."))
    return berth_error_set (error, BERTH_E_INVALID_REQUEST, "label: %.80s: names that begin with io.berth. are Berth's own",
                            name);
  if (strlen (value) > LABEL_VALUE_MAX || !berth_utf8_is_valid (value, strlen (value)))
    return berth_error_set (error, BERTH_E_INVALID_REQUEST, "label %s: want a value of at most %d bytes of UTF-8", name,
                            LABEL_VALUE_MAX);
  return 0;
}

static int
check_labels (const struct berth_pair *labels, uint64_t count, struct berth_error *error)
{
  if (count > LABELS_MAX)
    return berth_error_set (error, BERTH_E_INVALID_REQUEST, "labels: got %" PRIu64 ", want at most %d", count, LABELS_MAX);
  for (uint64_t i = 0; i < count; i++)
    if (check_label (&labels[i], error) != 0)
      return -1;
  return 0;
}

static int
check_texts (const struct berth_create_options *options, struct berth_error *error)
{
  if (options->name != NULL && berth_name_check (options->name, error) != 0)
    return -1;
  if (options->request_id != NULL && berth_request_id_check (options->request_id, error) != 0)
    return -1;
  if ((options->image != NULL && options->image[0] == '\0') || (options->user != NULL && options->user[0] == '\0'))
    return berth_error_set (error, BERTH_E_INVALID_REQUEST, "image and user may be left out, but not empty");
  if (options->minimum_tier != 0 && strcmp (berth_tier_name (options->minimum_tier), "unknown") == 0)
    return berth_error_set (error, BERTH_E_CONFIGURATION, "isolation: rank %" PRIu32 " is no tier that can be required",
                            options->minimum_tier);
  return check_labels (options->labels, options->label_count, error) != 0
                 || berth_environment_check (options->environment, options->environment_count, error) != 0
             ? -1
             : 0;
}

/* ---- numbers ---- */

/* One row per number of the specification; a default of 0 means that none is asked for. */
struct number
{
  const char *what;
  uint64_t bit;
  int64_t given;
  int64_t fallback;
  int64_t maximum;
  void *member;
  size_t size;
};

static int
set_number (struct berth_wish *wish, const struct number *number, struct berth_error *error)
{
  int64_t value = 0;

  if (number->given == BERTH_UNSET && number->fallback == 0)
    return 0;
  if (berth_limit_apply (number->what, number->given, number->fallback, number->maximum, &value, error) != 0)
    return -1;
  wish->spec.asks |= number->bit;
  if (number->given != BERTH_UNSET)
    wish->spec.must |= number->bit;
  uint32_t narrow = (uint32_t) value;
  memcpy (number->member, number->size == sizeof narrow ? (void *) &narrow : (void *) &value, number->size);
  return 0;
}

static int
set_numbers (const struct berth_limits *limits, struct berth_wish *wish, struct berth_error *error)
{
  const struct berth_create_options *options = &wish->options;
  struct berth_spec *spec = &wish->spec;
#define NUMBER(what, bit, given, fallback, maximum, member)                                                            \
  { what, BERTH_SPEC_##bit, options->given, fallback, limits->maximum, &spec->member, sizeof spec->member }
  const struct number numbers[] = {
    NUMBER ("memory", MEMORY, memory_bytes, limits->default_memory, max_memory, memory_bytes),
    NUMBER ("cpus", CPU, cpu_milli, limits->default_cpu, max_cpu, cpu_milli),
    NUMBER ("pids", PIDS, pids, limits->default_pids, max_pids, pids),
    NUMBER ("disk", DISK, disk_bytes, 0, max_disk, disk_bytes),
    NUMBER ("tmp", TMP, tmp_bytes, limits->default_tmp, max_tmp, tmp_bytes),
    NUMBER ("shm", SHM, shm_bytes, 0, max_shm, shm_bytes),
    NUMBER ("file_size", FILE_SIZE, file_size_bytes, 0, max_file_size, file_size_bytes),
    NUMBER ("open_files", OPEN_FILES, open_files, 0, max_open_files, open_files),
    NUMBER ("ttl", TTL, ttl_ms, limits->default_ttl, max_ttl, ttl_ms),
  };
#undef NUMBER
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (set_number (wish, &numbers[i], error) != 0)
      return -1;
  return berth_limit_apply ("create timeout", options->timeout_ms, BERTH_CREATE_MS, limits->max_ttl, &wish->timeout_ms,
                            error);
}

/* A time without an action, or an action without a time, is half a wish: nobody would know of it. */
static int
check_idle (const struct berth_limits *limits, struct berth_create_options *options, struct berth_error *error)
{
  static const char choices[] = "keep, pause, stop or destroy: `--idle-action`, with `--idle` and a time";
  bool timed = options->idle_ms != BERTH_UNSET;

  if (options->idle_action > BERTH_IDLE_DESTROY)
    return berth_error_set (error, BERTH_E_INVALID_REQUEST, "idle: there is no action %" PRIu32, options->idle_action);
  if (options->idle_action == BERTH_IDLE_KEEP)
    options->idle_resume = 0;
  if (timed != (options->idle_action != 0) && options->idle_action != BERTH_IDLE_KEEP)
    {
      berth_error_set (error, BERTH_E_INVALID_REQUEST, timed ? "idle: it was not said what becomes of it then"
                                                             : "idle: it was not said after how long");
      berth_error_hint (error, "%s", choices);
      return -1;
    }
  if (timed && (options->idle_ms < 1 || options->idle_ms > limits->max_ttl))
    {
      berth_error_set (error, BERTH_E_INVALID_REQUEST, "idle: got %" PRId64 ", want 1 to %" PRId64, options->idle_ms,
                       limits->max_ttl);
      berth_error_hint (error, "it is no longer than the longest life time, `ttl` in [limits] of berth.conf");
      return -1;
    }
  if (options->idle_resume == 0 || options->idle_action == BERTH_IDLE_PAUSE || options->idle_action == BERTH_IDLE_STOP)
    return 0;
  return berth_error_set (error, BERTH_E_INVALID_REQUEST, "idle: only what is paused or stopped then can go on again");
}

/* ---- the rest ---- */

/* The network policy is always asked for: silence is "deny", and never the backend's choice. */
static int
set_network (struct berth_wish *wish, struct berth_error *error)
{
  const struct berth_policy *given = wish->options.network;

  wish->network = (struct berth_policy) { .struct_size = sizeof wish->network, .default_action = BERTH_DENY };
  if (given != NULL)
    {
      if (given->struct_size < sizeof *given || given->default_action < BERTH_DENY || given->default_action > BERTH_LEARN)
        return berth_error_set (error, BERTH_E_INVALID_REQUEST, "network: no such policy");
      wish->network = *given;
      wish->network.struct_size = sizeof wish->network;
    }
  wish->spec.network = &wish->network;
  wish->spec.asks |= BERTH_SPEC_NETWORK;
  wish->spec.must |= BERTH_SPEC_NETWORK;
  return 0;
}

static void
set_words (struct berth_wish *wish)
{
  const struct berth_create_options *options = &wish->options;
  struct berth_spec *spec = &wish->spec;
  uint64_t bits = 0;

  if ((spec->image = options->image) != NULL)
    bits |= BERTH_SPEC_IMAGE;
  if ((spec->user = options->user) != NULL)
    bits |= BERTH_SPEC_USER;
  if ((spec->minimum_tier = options->minimum_tier) != 0)
    bits |= BERTH_SPEC_TIER;
  if ((spec->environment_count = options->environment_count) > 0)
    bits |= BERTH_SPEC_ENVIRONMENT;
  if (options->forbid_root != 0)
    bits |= BERTH_SPEC_FORBID_ROOT;
  if (options->owned != 0)
    bits |= BERTH_SPEC_OWNED;
  if (options->user_namespaces != 0)
    bits |= BERTH_SPEC_USER_NAMESPACES;
  spec->environment = options->environment;
  spec->asks |= bits;
  spec->must |= bits;
}

/* The host keeps the labels itself; what the runtime keeps of them is for the day when that is lost. */
static int
set_metadata (struct berth_host *host, struct berth_wish *wish, struct berth_error *error)
{
  const struct berth_create_options *options = &wish->options;
  struct berth_pair *pair = wish->metadata = calloc (options->label_count + 2, sizeof *pair);

  if (pair == NULL)
    return berth_no_memory (error);
  for (uint64_t i = 0; i < options->label_count; i++)
    *pair++ = options->labels[i];
  *pair++ = (struct berth_pair) { BERTH_LABEL_OWNER, host->owner, 0, 0 };
  if (options->name != NULL)
    *pair++ = (struct berth_pair) { BERTH_LABEL_NAME, options->name, 0, 0 };
  wish->spec.metadata = wish->metadata;
  wish->spec.metadata_count = (uint64_t) (pair - wish->metadata);
  wish->spec.asks |= BERTH_SPEC_METADATA;
  return 0;
}

void
berth_wish_clear (struct berth_wish *wish)
{
  free (wish->metadata);
  wish->metadata = NULL;
  berth_saved_clear (&wish->saved);
}

static int
take_options (struct berth_host *host, const struct berth_create_options *options, struct berth_wish *wish,
              struct berth_error *error)
{
  if (berth_options_take (&wish->options, options, error) != 0)
    return -1;
  if (wish->options.base == NULL)
    return 0;
  return berth_saved_load (host, wish->options.base, &wish->saved, error) != 0
             ? -1
             : berth_saved_apply (&wish->saved, &wish->options, error);
}

#define LIMIT_BITS                                                                                                     \
  (BERTH_SPEC_CPU | BERTH_SPEC_MEMORY | BERTH_SPEC_PIDS | BERTH_SPEC_DISK | BERTH_SPEC_TMP | BERTH_SPEC_OPEN_FILES     \
   | BERTH_SPEC_FILE_SIZE | BERTH_SPEC_SHM | BERTH_SPEC_TTL)

int
berth_wish_make (struct berth_host *host, const struct berth_create_options *options, struct berth_wish *wish,
                 struct berth_error *error)
{
  *wish = (struct berth_wish) { .options = BERTH_CREATE_OPTIONS_INIT,
                                .spec = { .struct_size = sizeof wish->spec, .generation = 1 } };
  if (take_options (host, options, wish, error) != 0 || check_texts (&wish->options, error) != 0
      || set_numbers (&host->limits, wish, error) != 0 || check_idle (&host->limits, &wish->options, error) != 0
      || set_network (wish, error) != 0
      || set_metadata (host, wish, error) != 0
      || berth_id_new_sandbox (wish->sandbox_id, error) != 0 || berth_id_new_assignment (wish->assignment_id, error) != 0)
    return -1;
  set_words (wish);
  if (wish->options.best_effort != 0)
    wish->spec.must &= ~LIMIT_BITS;
  berth_id_native_hint (wish->sandbox_id, (int64_t) wish->spec.generation, wish->native_hint);
  wish->spec.sandbox_id = wish->sandbox_id;
  wish->spec.assignment_id = wish->assignment_id;
  wish->spec.native_hint = wish->native_hint;
  wish->spec.installation_id = berth_store_installation_id (host->store);
  return 0;
}

/* ---- the record ---- */

/* 0 when it was given and could not be copied. */
static bool
copy_text (char **to, const char *from)
{
  *to = from != NULL ? strdup (from) : NULL;
  return from == NULL || *to != NULL;
}

static bool
copy_texts (struct berth_host *host, const struct berth_wish *wish, const char *backend, struct berth_record *record)
{
  const struct berth_create_options *options = &wish->options;
  char boot_id[BERTH_BOOT_ID_SIZE] = "";

  /* without one the record is of no boot: its end then counts by the wall clock */
  (void) berth_boot_id (boot_id);
  return copy_text (&record->id, wish->sandbox_id) && copy_text (&record->name, options->name)
         && copy_text (&record->owner, host->owner) && copy_text (&record->backend, backend)
         && copy_text (&record->image, options->image) && copy_text (&record->user, options->user)
         && copy_text (&record->request_id, options->request_id)
         && copy_text (&record->boot_id, boot_id)
         && berth_record_set_pairs (&record->labels, options->labels, options->label_count) == 0
         && berth_record_set_pairs (&record->environment, options->environment, options->environment_count) == 0;
}

static int64_t
count_unkept (const struct berth_wish *wish)
{
  int64_t count = wish->network.rules.count;

  for (uint64_t i = 0; i < wish->options.environment_count; i++)
    count += (wish->options.environment[i].flags & BERTH_PAIR_SECRET) != 0;
  return count;
}

int
berth_wish_record (struct berth_host *host, const struct berth_wish *wish, const char *backend,
                   struct berth_record *record, struct berth_error *error)
{
  const struct berth_spec *spec = &wish->spec;

  *record = (struct berth_record) {
    .state = BERTH_RECORD_CREATING,
    .generation = (int64_t) spec->generation,
    .asks = (int64_t) spec->asks,
    .must = (int64_t) spec->must,
    .network_default = wish->network.default_action,
    .created_wall_ms = berth_clock_wall_ms (),
    .ttl_ms = spec->ttl_ms,
    .owned = wish->options.owned != 0,
    .owner_pid = getpid (),
    .owner_start = (int64_t) berth_process_start (getpid ()),
    .unkept = count_unkept (wish),
    .idle_ms = wish->options.idle_action != 0 && wish->options.idle_ms != BERTH_UNSET ? wish->options.idle_ms : 0,
    .idle_action = wish->options.idle_action,
    .idle_resume = wish->options.idle_resume != 0,
  };
  if (!copy_texts (host, wish, backend, record))
    return berth_no_memory (error);
  /* of the create itself, until it runs */
  berth_expiry_set (record, wish->timeout_ms);
  if (record->request_id != NULL)
    record->request_hash = berth_wish_hash (wish, backend);
  return 0;
}

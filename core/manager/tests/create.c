/* Creating: what is promised, what is refused before anything is made, and that failure leaves
 * nothing. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/manager/tests/place.h"
#include "sdk/base/buffer.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"

static int
create (const struct place *place, const struct berth_create_options *options, struct berth_sandbox **out,
        struct berth_error *error)
{
  *error = (struct berth_error) { 0 };
  *out = NULL;
  return berth_sandbox_create (place->host, options, out, error);
}

/* No record, no sandbox. */
static void
check_empty (const struct place *place)
{
  CU_ASSERT_EQUAL (place_records (place), 0);
  CU_ASSERT_EQUAL (place_sightings (place), 0);
}

static void
check_refused (const struct place *place, const struct berth_create_options *options, uint32_t code, const char *part)
{
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  struct berth_error error;

  CU_ASSERT_EQUAL (create (place, options, &sandbox, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, code, part));
  check_empty (place);
}

/* ---- what one gets ---- */

static void
check_info (void *context, const struct berth_sandbox_info *info)
{
  int *seen = context;

  ++*seen;
  CU_ASSERT_STRING_EQUAL (info->state, "running");
  CU_ASSERT_STRING_EQUAL (info->name, "web");
  CU_ASSERT_STRING_EQUAL (info->owner, "me");
  CU_ASSERT_STRING_EQUAL (info->backend, "fake");
  CU_ASSERT_STRING_EQUAL (info->image, "an-image");
  CU_ASSERT_EQUAL (info->tier, BERTH_TIER_CONTAINER);
  CU_ASSERT_TRUE (berth_string_starts_with (info->native_id, info->id));
  CU_ASSERT_TRUE (berth_string_ends_with (info->native_id, ".1"));
  CU_ASSERT_EQUAL_FATAL (info->label_count, 1);
  CU_ASSERT_STRING_EQUAL (info->labels[0].value, "core");
  CU_ASSERT_EQUAL_FATAL (info->environment_count, 1);
  CU_ASSERT_STRING_EQUAL (info->environment[0].name, "SHOWN");
  CU_ASSERT_EQUAL (info->memory_bytes, 1 << 30);
  CU_ASSERT_EQUAL (info->pids, 256);
  CU_ASSERT_EQUAL (info->cpu_milli, 1000);
  CU_ASSERT_EQUAL (info->network_default, BERTH_DENY);
  CU_ASSERT_EQUAL (info->expiry.kind, BERTH_EXPIRES_AT);
  CU_ASSERT_TRUE (info->expiry.remaining_ms > 890000 && info->expiry.remaining_ms <= 900000);
  CU_ASSERT_TRUE ((info->enforced & BERTH_SPEC_MEMORY) != 0);
}

static int
count_info (void *context, const struct berth_sandbox_info *info)
{
  check_info (context, info);
  return 0;
}

static void
test_create (void)
{
  PLACE place;
  const struct berth_pair labels[] = { { "team", "core", 0, 0 } };
  const struct berth_pair environment[]
      = { { "SHOWN", "shown-value", 0, 0 }, { "TOKEN", "hidden-value", BERTH_PAIR_SECRET, 0 } };
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
  struct berth_error error;
  int seen = 0;

  place_make (&place, "fake");
  place_open (&place);
  {
    BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
    options.name = "web";
    options.image = "an-image";
    options.memory_bytes = 1 << 30;
    options.labels = labels;
    options.label_count = 1;
    options.environment = environment;
    options.environment_count = 2;
    CU_ASSERT_EQUAL_FATAL (create (&place, &options, &sandbox, &error), 0);
    CU_ASSERT_EQUAL (berth_sandbox_inspect (sandbox, check_info, &seen, NULL), 0);
    CU_ASSERT_EQUAL (berth_sandbox_list (place.host, NULL, count_info, &seen, NULL), 0);
    CU_ASSERT_EQUAL (seen, 2);
    CU_ASSERT_EQUAL (place_run (sandbox, "exit 7", NULL), 7);
    struct berth_list_options list = BERTH_LIST_OPTIONS_INIT;
    const struct berth_pair wanted[] = { { "team", "other", 0, 0 } };
    list.labels = wanted;
    list.label_count = 1;
    CU_ASSERT_EQUAL (berth_sandbox_list (place.host, &list, count_info, &seen, NULL), 0);
    CU_ASSERT_EQUAL (seen, 2);
  }
  check_empty (&place);
}

/* The host's half of I04: nothing of its own files or messages holds the secret. */
static void
test_secrets (void)
{
  PLACE place;
  static const char *const files[] = { "state/berth.db", "state/berth.db-wal" };
  const struct berth_pair environment[]
      = { { "TOKEN", "hidden-value", BERTH_PAIR_SECRET, 0 }, { "OTHER", "other-value", BERTH_PAIR_SECRET, 0 } };
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  struct berth_error error;

  place_make (&place, "fake");
  place_open (&place);
  options.environment = environment;
  options.environment_count = 2;
  options.image = "missing-other-value";
  CU_ASSERT_EQUAL (create (&place, &options, &sandbox, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_NOT_FOUND, "missing-(secret)"));
  options.image = NULL;
  CU_ASSERT_EQUAL (create (&place, &options, &sandbox, &error), 0);
  for (size_t i = 0; i < 2; i++)
    {
      BERTH_AUTO_FREE char *path = berth_string_format ("%s/%s", place.directory, files[i]);
      BERTH_AUTO_BUFFER struct berth_buffer content = { 0 };
      berth_fs_read (AT_FDCWD, path, &content, 64 << 20);
      CU_ASSERT_TRUE (content.size > 0);
      CU_ASSERT_PTR_NULL (content.size > 0 ? memmem (content.data, content.size, "hidden-value", 12) : NULL);
    }
}

/* ---- refusals ---- */

static void
test_bad_requests (void)
{
  PLACE place;
  const struct berth_pair reserved[] = { { "io.berth.managed", "x", 0, 0 } };
  const struct berth_pair bad_name[] = { { "A=B", "x", 0, 0 } };

  place_make (&place, "fake");
  place_open (&place);
#define REFUSED(code, part, ...)                                                                                       \
  do                                                                                                                   \
    {                                                                                                                  \
      struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;                                                 \
      __VA_ARGS__;                                                                                                     \
      check_refused (&place, &options, BERTH_E_##code, part);                                                          \
    }                                                                                                                  \
  while (0)
  REFUSED (INVALID_REQUEST, "memory: got 0", options.memory_bytes = 0);
  REFUSED (INVALID_REQUEST, "pids: got -1", options.pids = -1);
  REFUSED (INVALID_REQUEST, "cpus: got 4001, want 1 to 4000", options.cpu_milli = 4001);
  REFUSED (INVALID_REQUEST, "ttl: got 86400001", options.ttl_ms = 86400001);
  REFUSED (INVALID_REQUEST, "create timeout: got 0", options.timeout_ms = 0);
  REFUSED (INVALID_REQUEST, "name: got \"Web\"", options.name = "Web");
  REFUSED (INVALID_REQUEST, "request id", options.request_id = "");
  REFUSED (INVALID_REQUEST, "not empty", options.image = "");
  REFUSED (INVALID_REQUEST, "Berth's own", options.labels = reserved; options.label_count = 1);
  REFUSED (INVALID_REQUEST, "environment: \"A=B\"", options.environment = bad_name; options.environment_count = 1);
  REFUSED (INVALID_REQUEST, "_INIT macro", options.struct_size = 0);
  REFUSED (CONFIGURATION, "rank 15", options.minimum_tier = 15);
  REFUSED (NOT_FOUND, "missing-image", options.image = "missing-image");
#undef REFUSED
}

static void
test_tier (void)
{
  PLACE place;
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
  struct berth_error error;

  place_make (&place, "fake");
  place_open (&place);
  options.minimum_tier = BERTH_TIER_GVISOR;
  check_refused (&place, &options, BERTH_E_CAPABILITY_NOT_SUPPORTED, "isolation");
  options.minimum_tier = BERTH_TIER_CONTAINER;
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  CU_ASSERT_EQUAL (create (&place, &options, &sandbox, &error), 0);
}

static void
count_warnings (void *context, uint32_t level, const char *line)
{
  if (level == BERTH_LOG_WARNING && strstr (line, "no isolation tier") != NULL)
    ++*(int *) context;
}

static void
test_unknown_tier (void)
{
  PLACE place;
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
  struct berth_error error;
  int warnings = 0;

  place_make (&place, "fake");
  place.config = "[backend fake]\ntier = unknown\n";
  place_open (&place);
  place.host->log = count_warnings;
  place.host->log_context = &warnings;
  options.minimum_tier = BERTH_TIER_CONTAINER;
  check_refused (&place, &options, BERTH_E_CAPABILITY_NOT_SUPPORTED, "isolation");
  for (int i = 0; i < 2; i++)
    {
      BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
      CU_ASSERT_EQUAL (create (&place, NULL, &sandbox, &error), 0);
    }
  CU_ASSERT_EQUAL (warnings, 1);
}

static void
check_unenforced (void *context, const struct berth_sandbox_info *info)
{
  (void) context;
  CU_ASSERT_EQUAL (info->enforced & BERTH_SPEC_PIDS, 0);
  CU_ASSERT_EQUAL (info->pids, 0);
  CU_ASSERT_NOT_EQUAL (info->enforced & BERTH_SPEC_MEMORY, 0);
}

/* Refused whether it was written or is the default; `best_effort` is the user's explicit word. */
static void
test_unenforced (void)
{
  PLACE place;
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  struct berth_error error;

  place_make (&place, "fake");
  place.config = "[backend fake]\nunenforced = pids,disk\n";
  place_open (&place);
  check_refused (&place, NULL, BERTH_E_CONFIGURATION, "pids");
  options.pids = 10;
  check_refused (&place, &options, BERTH_E_CONFIGURATION, "pids");
  options.best_effort = 1;
  CU_ASSERT_EQUAL_FATAL (create (&place, &options, &sandbox, &error), 0);
  CU_ASSERT_EQUAL (berth_sandbox_inspect (sandbox, check_unenforced, NULL, NULL), 0);
}

static void
test_network (void)
{
  PLACE place;
  struct berth_policy policy = { .struct_size = sizeof policy, .default_action = BERTH_DENY };
  struct berth_rule rules[] = { { BERTH_ALLOW, BERTH_TARGET_HOST, "example.org", 0, 0 } };
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;

  place_make (&place, "fake");
  place.config = "[backend fake]\ncapabilities = PROBE\n";
  place_open (&place);
  /* without a policy the answer is "deny", and this one cannot */
  check_refused (&place, NULL, BERTH_E_CAPABILITY_NOT_SUPPORTED, "NETWORK_POLICY");
  policy.rules = (struct berth_array) BERTH_ARRAY (rules);
  options.network = &policy;
  check_refused (&place, &options, BERTH_E_CAPABILITY_NOT_SUPPORTED, "NETWORK_");
}

static void
note_network (void *context, const struct berth_sandbox_info *info)
{
  *(uint32_t *) context = info->network_default;
}

/* N02: what inspect tells is what the backend says is in force, and what was asked where it says nothing. */
static void
test_network_in_force (void)
{
  static const char *const configs[]
      = { "[backend fake]\ncapabilities = PROBE,NETWORK_POLICY\n",
          "[backend fake]\ncapabilities = PROBE,NETWORK_POLICY\nfaults = network.read_policy=fail\n" };
  struct berth_policy policy = { .struct_size = sizeof policy };
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;

  options.network = &policy;
  for (size_t i = 0; i < sizeof configs / sizeof *configs; i++)
    for (policy.default_action = BERTH_DENY; policy.default_action <= BERTH_ALLOW; policy.default_action++)
      {
        PLACE place;
        uint32_t seen = 0;
        place_make (&place, "fake");
        place.config = configs[i];
        place_open (&place);
        BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
        CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, &options, &sandbox, NULL), 0);
        CU_ASSERT_EQUAL (berth_sandbox_inspect (sandbox, note_network, &seen, NULL), 0);
        CU_ASSERT_EQUAL (seen, policy.default_action);
      }
}

/* A backend that is silent about the policy has not promised it. */
static void
test_silent_network (void)
{
  PLACE place;

  place_make (&place, "fake");
  place.config = "[backend fake]\nunenforced = network\n";
  place_open (&place);
  check_refused (&place, NULL, BERTH_E_CONFIGURATION, "network");
}

static void
test_disabled (void)
{
  PLACE place;
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  struct berth_error error;

  place_make (&place, "fake");
  place_open (&place);
  options.backend = "nothere";
  CU_ASSERT_EQUAL (create (&place, &options, &sandbox, &error), -1);
  CU_ASSERT_PTR_NOT_NULL (strstr (error.message, "nothere"));
  CU_ASSERT_EQUAL (place_records (&place), 0);
}

/* ---- failures ---- */

/* L06: at each step, undone by the backend or abandoned by it. */
static void
test_failing_steps (void)
{
  static const char *const actions[] = { "fail", "abandon", "fail:UNREACHABLE" };
  PLACE place;

  place_make (&place, "fake");
  place_open (&place);
  for (size_t action = 0; action < sizeof actions / sizeof *actions; action++)
    for (int step = 1; step <= 8; step++)
      {
        BERTH_AUTO_FREE char *fault = berth_string_format ("lifecycle.create.%d=%s", step, actions[action]);
        BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
        struct berth_error error;
        place_faults (&place, fault);
        CU_ASSERT_EQUAL (create (&place, NULL, &sandbox, &error), -1);
        CU_ASSERT_NOT_EQUAL (error.code, 0);
        CU_ASSERT_STRING_EQUAL (error.backend, "fake");
        check_empty (&place);
      }
  place_faults (&place, "");
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  struct berth_error error;
  CU_ASSERT_EQUAL (create (&place, NULL, &sandbox, &error), 0);
}

static void
test_weaker (void)
{
  PLACE place;

  place_make (&place, "fake");
  place_open (&place);
  place_faults (&place, "lifecycle.create=tier:unknown");
  check_refused (&place, NULL, BERTH_E_INTERNAL, "weaker than it had answered: its isolation");
}

static void
test_cancel (void)
{
  PLACE place;
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
  pthread_t thread;

  place_make (&place, "fake");
  place_open (&place);
  for (int step = 1; step <= 8; step += 3)
    {
      BERTH_AUTO_FREE char *fault = berth_string_format ("lifecycle.create.%d=hang", step);
      place_faults (&place, fault);
      CU_ASSERT_EQUAL_FATAL (berth_cancel_new (&options.cancel, NULL), 0);
      CU_ASSERT_EQUAL_FATAL (pthread_create (&thread, NULL, place_trigger_later, options.cancel), 0);
      check_refused (&place, &options, BERTH_E_CANCELLED, "");
      pthread_join (thread, NULL);
      berth_cancel_free (options.cancel);
    }
  options.cancel = NULL;
  options.timeout_ms = 100;
  place_faults (&place, "lifecycle.create.4=hang");
  check_refused (&place, &options, BERTH_E_TIMEOUT, "");
}

/* ---- once only ---- */

static void
test_names (void)
{
  PLACE place;
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
  BERTH_AUTO_SANDBOX struct berth_sandbox *first = NULL, *second = NULL;
  struct berth_error error;

  place_make (&place, "fake");
  place_open (&place);
  options.name = "web";
  CU_ASSERT_EQUAL (create (&place, &options, &first, &error), 0);
  CU_ASSERT_EQUAL (create (&place, &options, &second, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_CONFLICT, "the name web is taken by sb-"));
  CU_ASSERT_EQUAL (place_records (&place), 1);
  CU_ASSERT_EQUAL (place_sightings (&place), 1);
}

static void
test_request_id (void)
{
  PLACE place;
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
  BERTH_AUTO_SANDBOX struct berth_sandbox *first = NULL;
  struct berth_sandbox *second = NULL;
  struct berth_error error;

  place_make (&place, "fake");
  place_open (&place);
  options.request_id = "once";
  options.name = "web";
  CU_ASSERT_EQUAL_FATAL (create (&place, &options, &first, &error), 0);
  CU_ASSERT_EQUAL_FATAL (create (&place, &options, &second, &error), 0);
  CU_ASSERT_STRING_EQUAL (berth_sandbox_id (first), berth_sandbox_id (second));
  CU_ASSERT_EQUAL (place_run (second, "exit 3", NULL), 3);
  CU_ASSERT_EQUAL (place_sightings (&place), 1);
  berth_sandbox_close (second);
}

static void
test_quota (void)
{
  PLACE place;
  BERTH_AUTO_SANDBOX struct berth_sandbox *one = NULL, *two = NULL, *three = NULL;
  struct berth_error error;

  place_make (&place, "fake");
  place.config = "[limits]\nsandboxes = 2\n";
  place_open (&place);
  CU_ASSERT_EQUAL (create (&place, NULL, &one, &error), 0);
  CU_ASSERT_EQUAL (create (&place, NULL, &two, &error), 0);
  CU_ASSERT_EQUAL (create (&place, NULL, &three, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_QUOTA_EXCEEDED, "this host has 2 sandboxes"));
  CU_ASSERT_EQUAL (place_sightings (&place), 2);
  CU_ASSERT_EQUAL (berth_sandbox_destroy (one, NULL, NULL), 0);
  CU_ASSERT_EQUAL (create (&place, NULL, &three, &error), 0);
}

/* ---- the end of a scope, and of an owner ---- */

enum way_out
{
  FALL_THROUGH,
  RETURN,
  GOTO,
  BREAK,
  CONTINUE,
  WAYS_OUT
};

static void
leave_scope (const struct place *place, enum way_out way)
{
  for (int i = 0; i < 1; i++)
    {
      BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
      struct berth_error error;
      CU_ASSERT_EQUAL (create (place, NULL, &sandbox, &error), 0);
      CU_ASSERT_EQUAL (place_sightings (place), 1);
      errno = EDOM;
      if (way == RETURN)
        return;
      if (way == GOTO)
        goto out;
      if (way == BREAK)
        break;
      if (way == CONTINUE)
        continue;
    }
out:
  return;
}

static void
test_scope (void)
{
  PLACE place;

  place_make (&place, "fake");
  place_open (&place);
  for (int way = 0; way < WAYS_OUT; way++)
    {
      leave_scope (&place, way);
      CU_ASSERT_EQUAL (errno, EDOM);
      check_empty (&place);
    }
}

static void
test_owned (void)
{
  PLACE place;
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
  struct berth_sandbox *sandbox = NULL, *other = NULL;
  struct berth_error error;

  place_make (&place, "fake");
  place_open (&place);
  options.owned = 1;
  CU_ASSERT_EQUAL_FATAL (create (&place, &options, &sandbox, &error), 0);
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_open (place.host, berth_sandbox_id (sandbox), &other, NULL), 0);
  CU_ASSERT_EQUAL (place_run (other, "exit 4", NULL), 4);
  berth_sandbox_close (other);
  CU_ASSERT_EQUAL (place_records (&place), 1);
  berth_sandbox_close (sandbox);
  check_empty (&place);
}

/* A program compiled against an older header gives a shorter struct. */
static void
test_old_options (void)
{
  PLACE place;
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  struct berth_error error;

  place_make (&place, "fake");
  place_open (&place);
  options.struct_size = offsetof (struct berth_create_options, backend);
  options.name = "web";
  options.backend = "beyond the end";
  options.memory_bytes = -1;
  CU_ASSERT_EQUAL (create (&place, &options, &sandbox, &error), 0);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "L03 create gives a running sandbox, as asked for", test_create },
    { "I04 secrets are not in the database", test_secrets },
    { "L05 I05 requests that make no sense", test_bad_requests },
    { "I01 a tier that is required is checked before provisioning", test_tier },
    { "I01 UNKNOWN satisfies nothing and is warned of once", test_unknown_tier },
    { "L04 D-099 a limit that cannot be enforced is refused", test_unenforced },
    { "N02 deny is refused where it cannot be enforced", test_network },
    { "N02 inspect tells the policy in force", test_network_in_force },
    { "N06 a policy that is not promised is refused", test_silent_network },
    { "a backend that is not there", test_disabled },
    { "L06 a create that fails at any step leaves nothing", test_failing_steps },
    { "L02 weaker than validated is destroyed and refused", test_weaker },
    { "L18 cancelled or late, a create leaves nothing", test_cancel },
    { "L14 the same name twice", test_names },
    { "L14 the same request id twice", test_request_id },
    { "the quota is reserved and given back", test_quota },
    { "BERTH_AUTO_SANDBOX on every way out of a scope", test_scope },
    { "an owned sandbox ends with the handle that made it", test_owned },
    { "a shorter options struct", test_old_options },
    { NULL, NULL },
  };

  return berth_test_main ("create", tests);
}

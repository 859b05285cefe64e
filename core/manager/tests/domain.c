/* The rules of the domain model (docs/domain-model.md), in its own words, that no other test is about. */
#include <stdio.h>
#include <string.h>

#include "core/manager/tests/place.h"
#include "sdk/base/string.h"

/* ---- entities ---- */

static int
count_id (void *context, const struct berth_sandbox_info *info)
{
  const char *id = ((const char **) context)[0];

  if (strcmp (info->id, id) == 0)
    ((const char **) context)[1] = "seen";
  return 0;
}

static void
test_id (void)
{
  PLACE place;
  BERTH_AUTO_SANDBOX struct berth_sandbox *first = NULL, *second = NULL;

  place_make (&place, "fake");
  place_open (&place);
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, NULL, &first, NULL), 0);
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, NULL, &second, NULL), 0);
  CU_ASSERT_STRING_NOT_EQUAL (berth_sandbox_id (first), berth_sandbox_id (second));
  CU_ASSERT_EQUAL (berth_sandbox_stop (first, NULL, NULL), 0);
  CU_ASSERT_EQUAL (berth_sandbox_start (first, NULL, NULL), 0);
  const char *look[2] = { berth_sandbox_id (first), "gone" };
  CU_ASSERT_EQUAL (berth_sandbox_list (place.host, NULL, count_id, look, NULL), 0);
  CU_ASSERT_STRING_EQUAL (look[1], "seen");
}

static void
note_capabilities (void *context, const struct berth_sandbox_info *info)
{
  *(uint64_t *) context = info->capabilities;
  CU_ASSERT_EQUAL (info->tier, BERTH_TIER_UNKNOWN);
}

static int
note_declared (void *context, const struct berth_backend_info *info)
{
  if (strcmp (info->name, "fake") == 0)
    *(uint64_t *) context = info->capabilities;
  return 0;
}

static void
test_instance (void)
{
  PLACE place;
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  uint64_t has = 0, declared = 0;

  place_make (&place, "fake");
  place.config = "[backend fake]\ncapabilities = NETWORK_POLICY,PAUSE\ntier = unknown\n";
  place_open (&place);
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, NULL, &sandbox, NULL), 0);
  CU_ASSERT_EQUAL (berth_sandbox_inspect (sandbox, note_capabilities, &has, NULL), 0);
  CU_ASSERT_EQUAL (berth_backend_list (place.host, note_declared, &declared, NULL), 0);
  CU_ASSERT_TRUE ((has & BERTH_CAP_PAUSE) != 0);
  CU_ASSERT_TRUE ((has & BERTH_CAP_RESTART) == 0);
  CU_ASSERT_TRUE ((declared & BERTH_CAP_RESTART) != 0);
}

/* ---- value objects ---- */

struct values
{
  uint64_t numbers[8];
  char texts[512];
};

static void
take_values (void *context, const struct berth_sandbox_info *info)
{
  struct values *values = context;
  const uint64_t numbers[8] = { info->tier,     info->capabilities, info->enforced,  info->memory_bytes,
                                info->cpu_milli, info->pids,         info->tmp_bytes, (uint64_t) info->created_wall_ms };

  memcpy (values->numbers, numbers, sizeof numbers);
  snprintf (values->texts, sizeof values->texts, "%s %s %s %s %s", info->id, info->owner, info->backend, info->state,
            info->native_id);
}

/* Also of another host, which shares no memory with the first. */
static void
test_values (void)
{
  PLACE place;
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  struct berth_sandbox *same = NULL;
  struct values first = { .texts = "" }, second = { .texts = "" };

  place_make (&place, "fake");
  place_open (&place);
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, NULL, &sandbox, NULL), 0);
  struct berth_host *other = place_host (&place, "me", NULL);
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_open (other, berth_sandbox_id (sandbox), &same, NULL), 0);
  CU_ASSERT_EQUAL (berth_sandbox_inspect (sandbox, take_values, &first, NULL), 0);
  CU_ASSERT_EQUAL (berth_sandbox_inspect (same, take_values, &second, NULL), 0);
  CU_ASSERT_EQUAL (memcmp (first.numbers, second.numbers, sizeof first.numbers), 0);
  CU_ASSERT_STRING_EQUAL (first.texts, second.texts);
  berth_sandbox_close (same);
  berth_host_close (other);
}

static void
check_caps (void *context, const struct berth_sandbox_info *info)
{
  const uint64_t caps = BERTH_SPEC_MEMORY | BERTH_SPEC_CPU | BERTH_SPEC_PIDS | BERTH_SPEC_TMP;

  (void) context;
  CU_ASSERT_EQUAL (info->enforced & caps, caps);
  CU_ASSERT_EQUAL (info->memory_bytes, UINT64_C (512) << 20);
  CU_ASSERT_EQUAL (info->cpu_milli, 1000);
  CU_ASSERT_EQUAL (info->pids, 256);
  CU_ASSERT_EQUAL (info->tmp_bytes, UINT64_C (256) << 20);
  CU_ASSERT_EQUAL (info->expiry.kind, BERTH_EXPIRES_AT);
}

static void
test_resources (void)
{
  static const int64_t unlimited[] = { 0, -1, INT64_MAX };
  PLACE place;
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;

  place_make (&place, "fake");
  place_open (&place);
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, NULL, &sandbox, NULL), 0);
  CU_ASSERT_EQUAL (berth_sandbox_inspect (sandbox, check_caps, NULL, NULL), 0);
  for (size_t i = 0; i < sizeof unlimited / sizeof *unlimited; i++)
    {
      struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
      struct berth_sandbox *refused = NULL;
      struct berth_error error = { 0 };
      options.memory_bytes = unlimited[i];
      CU_ASSERT_EQUAL (berth_sandbox_create (place.host, &options, &refused, &error), -1);
      CU_ASSERT_TRUE (error_is (&error, BERTH_E_INVALID_REQUEST, "memory: got"));
    }
}

static void
test_learn (void)
{
  const struct berth_policy learn = { .struct_size = sizeof learn, .default_action = BERTH_LEARN };
  PLACE place;
  struct berth_sandbox *refused = NULL;
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
  struct berth_error error = { 0 };

  place_make (&place, "fake");
  place.config = "[backend fake]\ncapabilities = NETWORK_POLICY\n";
  place_open (&place);
  options.network = &learn;
  CU_ASSERT_EQUAL (berth_sandbox_create (place.host, &options, &refused, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_CAPABILITY_NOT_SUPPORTED, "NETWORK_RULES"));
  CU_ASSERT_EQUAL (place_records (&place), 0);
}

/* ---- tiers ---- */

static void
test_ranks (void)
{
  static const uint32_t ranks[] = { BERTH_TIER_CONTAINER, BERTH_TIER_GVISOR, BERTH_TIER_MICROVM };
  static const char *const names[] = { "container", "gvisor", "microvm" };
  size_t found = 0;

  for (uint32_t rank = 1; rank < 256; rank++)
    if (strcmp (berth_tier_name (rank), "unknown") != 0)
      {
        CU_ASSERT_TRUE_FATAL (found < 3);
        CU_ASSERT_EQUAL (rank, ranks[found]);
        CU_ASSERT_STRING_EQUAL (berth_tier_name (rank), names[found]);
        CU_ASSERT_EQUAL (berth_tier_parse (names[found]), (int) rank);
        found++;
      }
  CU_ASSERT_EQUAL (found, 3);
  for (size_t i = 0; i < 3; i++)
    for (size_t j = 0; j < 3; j++)
      CU_ASSERT_EQUAL (berth_tier_satisfies (ranks[i], ranks[j]), i >= j);
}

static void
test_unknown (void)
{
  PLACE place;
  struct berth_sandbox *refused = NULL;
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
  struct berth_error error = { 0 };

  CU_ASSERT_EQUAL (berth_tier_satisfies (BERTH_TIER_UNKNOWN, BERTH_TIER_CONTAINER), 0);
  CU_ASSERT_EQUAL (berth_tier_satisfies (BERTH_TIER_UNKNOWN, BERTH_TIER_UNKNOWN), 0);
  place_make (&place, "fake");
  place_open (&place);
  options.minimum_tier = 1; /* a rank that has no name; 0 asks for nothing */
  CU_ASSERT_EQUAL (berth_sandbox_create (place.host, &options, &refused, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_CONFIGURATION, "no tier that can be required"));
}

/* ---- results ---- */

static int
drop (void *context, uint32_t stream, const void *bytes, size_t size)
{
  (void) stream;
  (void) bytes;
  *(size_t *) context += size;
  return 0;
}

static void
test_streamed (void)
{
  static const char *const arguments[] = { "echo", "hello" };
  PLACE place;
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  struct berth_exec_options options = BERTH_EXEC_OPTIONS_INIT;
  struct berth_exec_result result;
  size_t told = 0;

  place_make (&place, "fake");
  place_open (&place);
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, NULL, &sandbox, NULL), 0);
  options.arguments = arguments;
  options.argument_count = 2;
  CU_ASSERT_EQUAL (berth_sandbox_run (sandbox, &options, &result, NULL), 0);
  CU_ASSERT_EQUAL (result.streamed, 0);
  CU_ASSERT_STRING_EQUAL (result.stdout_bytes, "hello\n");
  berth_exec_result_clear (&result);
  options.output = drop;
  options.output_context = &told;
  CU_ASSERT_EQUAL (berth_sandbox_run (sandbox, &options, &result, NULL), 0);
  CU_ASSERT_EQUAL (result.streamed, 1);
  CU_ASSERT_EQUAL (told, strlen ("hello\n"));
  CU_ASSERT_PTR_NULL (result.stdout_bytes);
  CU_ASSERT_PTR_NULL (result.stderr_bytes);
  CU_ASSERT_EQUAL (result.stdout_size + result.stderr_size, 0);
  berth_exec_result_clear (&result);
}

/* ---- what is listed ---- */

static int
check_listed (void *context, const struct berth_sandbox_info *info)
{
  ++*(int *) context;
  CU_ASSERT_STRING_EQUAL (info->state, "stopped");
  CU_ASSERT_TRUE (info->created_wall_ms > 0);
  CU_ASSERT_EQUAL_FATAL (info->label_count, 1);
  CU_ASSERT_STRING_EQUAL (info->labels[0].name, "Team");
  CU_ASSERT_STRING_EQUAL (info->labels[0].value, " core ");
  return 0;
}

static void
test_listed (void)
{
  const struct berth_pair label = { "Team", " core ", 0, 0 };
  PLACE place;
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
  int count = 0;

  place_make (&place, "fake");
  place_open (&place);
  options.labels = &label;
  options.label_count = 1;
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, &options, &sandbox, NULL), 0);
  CU_ASSERT_EQUAL (berth_sandbox_stop (sandbox, NULL, NULL), 0);
  CU_ASSERT_EQUAL (berth_sandbox_list (place.host, NULL, check_listed, &count, NULL), 0);
  CU_ASSERT_EQUAL (count, 1);
}

static void
test_fake (void)
{
  PLACE place;
  struct berth_host_options options = BERTH_HOST_OPTIONS_INIT;
  struct berth_host *host = NULL;
  struct berth_sandbox *refused = NULL;
  struct berth_create_options create = BERTH_CREATE_OPTIONS_INIT;
  struct berth_error error = { 0 };

  place_make (&place, "fake");
  options.state_dir = place.state;
  options.runtime_dir = place.runtime;
  create.backend = "fake";
  CU_ASSERT_EQUAL_FATAL (berth_host_open (&options, &host, &error), 0);
  CU_ASSERT_EQUAL (berth_sandbox_create (host, &create, &refused, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_BACKEND_DISABLED, "executes nothing"));
  berth_host_close (host);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "a stable id, unique for the sandbox's lifetime", test_id },
    { "capabilities and isolation reflect this instance, not a static backend default", test_instance },
    { "value equality: the same sandbox is told in equal values", test_values },
    { "resources resolve to modest concrete caps, never unlimited", test_resources },
    { "egress=learn is CapabilityNotSupported and does not behave as deny", test_learn },
    { "every tier has a rank, and the rank alone orders", test_ranks },
    { "UNKNOWN satisfies no requirement, and cannot be required", test_unknown },
    { "streamed: stdout and stderr are empty", test_streamed },
    { "labels are listed as stored, with state and created_at", test_listed },
    { "what executes nothing is not used outside tests", test_fake },
    { NULL, NULL },
  };

  return berth_test_main ("domain model", tests);
}

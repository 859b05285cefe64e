/* Saved specifications: what is kept, what goes before it, and what is refused when it is saved. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "core/manager/tests/place.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"

#define SECRET_VALUE "hunter2-hunter2"

static int
save (const struct place *place, const struct berth_environment_options *options, struct berth_error *error)
{
  *error = (struct berth_error) { 0 };
  return berth_environment_save (place->host, "work", options, error);
}

static int
count_one (void *context, const struct berth_environment_info *info)
{
  (void) info;
  ++*(int *) context;
  return 0;
}

static void
check_count (const struct place *place, int want)
{
  int count = 0;

  CU_ASSERT_EQUAL (berth_environment_list (place->host, count_one, &count, NULL), 0);
  CU_ASSERT_EQUAL (count, want);
}

/* ---- there and back ---- */

static void
check_saved (void *context, const struct berth_environment_info *info)
{
  const struct berth_create_options *create = info->create;
  struct berth_rule rule = { 0 };

  ++*(int *) context;
  CU_ASSERT_STRING_EQUAL (info->name, "work");
  CU_ASSERT_STRING_EQUAL (info->owner, "me");
  CU_ASSERT_EQUAL (info->sessions, BERTH_SESSIONS_TERMINAL);
  CU_ASSERT_STRING_EQUAL (create->image, "an-image");
  CU_ASSERT_EQUAL (create->memory_bytes, 1 << 28);
  CU_ASSERT_EQUAL (create->pids, BERTH_UNSET);
  CU_ASSERT_EQUAL (create->minimum_tier, BERTH_TIER_CONTAINER);
  CU_ASSERT_EQUAL (create->forbid_root, 1);
  CU_ASSERT_EQUAL_FATAL (create->environment_count, 2);
  CU_ASSERT_STRING_EQUAL (create->environment[0].value, "1");
  CU_ASSERT_STRING_EQUAL (create->environment[1].name, "TOKEN");
  CU_ASSERT_EQUAL (create->environment[1].flags, BERTH_PAIR_SECRET);
  CU_ASSERT_PTR_NULL (create->environment[1].value);
  CU_ASSERT_EQUAL_FATAL (create->label_count, 1);
  CU_ASSERT_PTR_NOT_NULL_FATAL (create->network);
  CU_ASSERT_EQUAL (create->network->default_action, BERTH_DENY);
  CU_ASSERT_TRUE_FATAL (berth_item (&create->network->rules, 0, &rule, sizeof rule));
  CU_ASSERT_EQUAL (rule.action, BERTH_ALLOW);
  CU_ASSERT_STRING_EQUAL (rule.target, "example.org");
  CU_ASSERT_EQUAL (rule.port_low, 443);
}

static const struct berth_rule rules[]
    = { { .action = BERTH_ALLOW, .target_kind = BERTH_TARGET_HOST, .target = "example.org", .port_low = 443, .port_high = 443 } };
static const struct berth_policy policy
    = { .struct_size = sizeof policy, .default_action = BERTH_DENY, .rules = BERTH_ARRAY (rules) };

static void
save_all (const struct place *place)
{
  const struct berth_pair variables[] = { { "A", "1", 0, 0 }, { "TOKEN", SECRET_VALUE, BERTH_PAIR_SECRET, 0 } };
  const struct berth_pair labels[] = { { "team", "core", 0, 0 } };
  struct berth_create_options create = BERTH_CREATE_OPTIONS_INIT;
  struct berth_environment_options options = BERTH_ENVIRONMENT_OPTIONS_INIT;
  struct berth_error error;

  create.image = "an-image";
  create.memory_bytes = 1 << 28;
  create.minimum_tier = BERTH_TIER_CONTAINER;
  create.forbid_root = 1;
  create.environment = variables;
  create.environment_count = 2;
  create.labels = labels;
  create.label_count = 1;
  create.network = &policy;
  options.create = &create;
  options.sessions = BERTH_SESSIONS_TERMINAL;
  CU_ASSERT_EQUAL (save (place, &options, &error), 0);
  if (error.code != 0)
    fprintf (stderr, "     %s\n", error.message);
}

static void
test_keeping (void)
{
  PLACE place;
  int seen = 0;

  place_make (&place, "fake");
  place_open (&place);
  save_all (&place);
  save_all (&place);
  place_reopen (&place);
  CU_ASSERT_EQUAL (berth_environment_inspect (place.host, "work", check_saved, &seen, NULL), 0);
  CU_ASSERT_EQUAL (seen, 1);
  check_count (&place, 1);
  CU_ASSERT_EQUAL (place_records (&place), 0);
  CU_ASSERT_EQUAL (place_sightings (&place), 0);
  CU_ASSERT_EQUAL (berth_environment_remove (place.host, "work", NULL), 0);
  check_count (&place, 0);
  struct berth_error error = { 0 };
  CU_ASSERT_EQUAL (berth_environment_remove (place.host, "work", &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_NOT_FOUND, "there is no environment \"work\""));
}

/* In the database and in its log. */
static void
test_secrets (void)
{
  static const char *const files[] = { "berth.db", "berth.db-wal" };
  PLACE place;

  place_make (&place, "fake");
  place_open (&place);
  save_all (&place);
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    {
      BERTH_AUTO_FREE char *path = berth_string_format ("%s/%s", place.state, files[i]);
      BERTH_AUTO_BUFFER struct berth_buffer bytes = { 0 };
      if (berth_fs_read (AT_FDCWD, path, &bytes, (size_t) 1 << 24) == 0)
        CU_ASSERT_PTR_NULL (memmem (bytes.data, bytes.size, SECRET_VALUE, strlen (SECRET_VALUE)));
    }
}

static void
test_owners (void)
{
  PLACE place;
  struct berth_error error = { 0 };
  int count = 0;

  place_make (&place, "fake");
  place_open (&place);
  save_all (&place);
  struct berth_host *other = place_host (&place, "you", NULL);
  CU_ASSERT_PTR_NOT_NULL_FATAL (other);
  CU_ASSERT_EQUAL (berth_environment_list (other, count_one, &count, NULL), 0);
  CU_ASSERT_EQUAL (count, 0);
  CU_ASSERT_EQUAL (berth_environment_remove (other, "work", &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_NOT_FOUND);
  berth_host_close (other);
  check_count (&place, 1);
}

/* ---- using it ---- */

static void
check_made (void *context, const struct berth_sandbox_info *info)
{
  ++*(int *) context;
  CU_ASSERT_STRING_EQUAL (info->image, "an-image");
  CU_ASSERT_EQUAL (info->memory_bytes, 1 << 29);
  CU_ASSERT_EQUAL_FATAL (info->label_count, 2);
  CU_ASSERT_STRING_EQUAL (info->labels[0].value, "core");
  CU_ASSERT_STRING_EQUAL (info->labels[1].name, "mine");
  CU_ASSERT_EQUAL_FATAL (info->environment_count, 1);
  CU_ASSERT_STRING_EQUAL (info->environment[0].name, "A");
  CU_ASSERT_STRING_EQUAL (info->environment[0].value, "2");
}

static void
test_using (void)
{
  const struct berth_pair variables[] = { { "A", "2", 0, 0 }, { "TOKEN", SECRET_VALUE, BERTH_PAIR_SECRET, 0 } };
  const struct berth_pair labels[] = { { "mine", "yes", 0, 0 } };
  PLACE place;
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  struct berth_create_options create = BERTH_CREATE_OPTIONS_INIT;
  struct berth_error error = { 0 };
  int seen = 0;

  place_make (&place, "fake");
  place_open (&place);
  save_all (&place);
  create.base = "work";
  create.memory_bytes = 1 << 29;
  create.environment = variables;
  create.environment_count = 1;
  create.labels = labels;
  create.label_count = 1;
  CU_ASSERT_EQUAL (berth_sandbox_create (place.host, &create, &sandbox, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_INVALID_REQUEST, "the secret TOKEN is not given"));
  CU_ASSERT_EQUAL (place_records (&place), 0);
  create.environment_count = 2;
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, &create, &sandbox, &error), 0);
  CU_ASSERT_EQUAL (berth_sandbox_inspect (sandbox, check_made, &seen, NULL), 0);
  CU_ASSERT_EQUAL (seen, 1);
  create.base = "none";
  BERTH_AUTO_SANDBOX struct berth_sandbox *other = NULL;
  CU_ASSERT_EQUAL (berth_sandbox_create (place.host, &create, &other, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_NOT_FOUND, "there is no environment \"none\""));
}

/* The backend does less than when it was saved: that is refused before anything is made. */
static void
test_later (void)
{
  PLACE place;
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  struct berth_environment_options options = BERTH_ENVIRONMENT_OPTIONS_INIT;
  struct berth_create_options create = BERTH_CREATE_OPTIONS_INIT;
  struct berth_error error = { 0 };

  place_make (&place, "fake");
  place_open (&place);
  options.sessions = BERTH_SESSIONS_INTERACTIVE;
  CU_ASSERT_EQUAL (save (&place, &options, &error), 0);
  place.config = "[backend fake]\ncapabilities = NETWORK_POLICY\n";
  place_reopen (&place);
  create.base = "work";
  CU_ASSERT_EQUAL (berth_sandbox_create (place.host, &create, &sandbox, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_CAPABILITY_NOT_SUPPORTED, "PROCESS_SESSIONS"));
  CU_ASSERT_EQUAL (place_records (&place), 0);
  CU_ASSERT_EQUAL (place_sightings (&place), 0);
}

/* ---- refusals ---- */

static void
check_refused (const char *capabilities, const struct berth_environment_options *options, uint32_t code, const char *part)
{
  BERTH_AUTO_FREE char *config = berth_string_format ("[backend fake]\ncapabilities = %s\n", capabilities);
  PLACE place;
  struct berth_error error;

  place_make (&place, "fake");
  place.config = config;
  place_open (&place);
  CU_ASSERT_EQUAL (save (&place, options, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, code, part));
  CU_ASSERT_TRUE (code != BERTH_E_CONFIGURATION || error.hint[0] != '\0');
  check_count (&place, 0);
  CU_ASSERT_EQUAL (place_records (&place), 0);
}

static void
test_refused_rules (void)
{
  struct berth_create_options create = BERTH_CREATE_OPTIONS_INIT;
  struct berth_environment_options options = BERTH_ENVIRONMENT_OPTIONS_INIT;

  create.network = &policy;
  options.create = &create;
  check_refused ("NETWORK_POLICY", &options, BERTH_E_CAPABILITY_NOT_SUPPORTED, "NETWORK_RULES");
}

static void
test_refused_sharing (void)
{
  struct berth_environment_options options = BERTH_ENVIRONMENT_OPTIONS_INIT;

  options.sessions = BERTH_SESSIONS_SHARED;
  check_refused ("NETWORK_POLICY,PROCESS_SESSIONS,PTY", &options, BERTH_E_CAPABILITY_NOT_SUPPORTED, "ISOLATED_SESSIONS");
}

static void
test_refused_idle (void)
{
  struct berth_create_options create = BERTH_CREATE_OPTIONS_INIT;
  struct berth_environment_options options = BERTH_ENVIRONMENT_OPTIONS_INIT;

  options.create = &create;
  create.idle_ms = 60 * 1000;
  create.idle_action = BERTH_IDLE_PAUSE;
  check_refused ("NETWORK_POLICY,RESTART", &options, BERTH_E_CAPABILITY_NOT_SUPPORTED, "PAUSE");
  create.idle_action = BERTH_IDLE_STOP;
  check_refused ("NETWORK_POLICY,PAUSE", &options, BERTH_E_CAPABILITY_NOT_SUPPORTED, "RESTART");
}

static void
test_refused_pool (void)
{
  struct berth_environment_options options = BERTH_ENVIRONMENT_OPTIONS_INIT;

  options.pool = "warm";
  check_refused ("NETWORK_POLICY,PAUSE", &options, BERTH_E_CAPABILITY_NOT_SUPPORTED, "CLIENT_POOL");
  check_refused ("NETWORK_POLICY,CLIENT_POOL", &options, BERTH_E_NOT_FOUND, "no pool `warm`");
}

static void
test_refused_interactive (void)
{
  struct berth_environment_options options = BERTH_ENVIRONMENT_OPTIONS_INIT;

  options.sessions = BERTH_SESSIONS_INTERACTIVE;
  check_refused ("NETWORK_POLICY,PAUSE", &options, BERTH_E_CAPABILITY_NOT_SUPPORTED, "PROCESS_SESSIONS");
  options.sessions = BERTH_SESSIONS_TERMINAL;
  check_refused ("NETWORK_POLICY,PAUSE", &options, BERTH_E_CAPABILITY_NOT_SUPPORTED, "PROCESS_SESSIONS");
}

static void
test_refused_volume (void)
{
  struct berth_environment_options options = BERTH_ENVIRONMENT_OPTIONS_INIT;

  options.workspace_volume = "data";
  check_refused ("NETWORK_POLICY,PAUSE", &options, BERTH_E_CAPABILITY_NOT_SUPPORTED, "WORKSPACE_VOLUME");
  check_refused ("NETWORK_POLICY,WORKSPACE_VOLUME", &options, BERTH_E_CONFIGURATION, "workspaces on volumes");
}

static void
test_refused_validate (void)
{
  struct berth_create_options create = BERTH_CREATE_OPTIONS_INIT;
  struct berth_environment_options options = BERTH_ENVIRONMENT_OPTIONS_INIT;

  options.create = &create;
  create.minimum_tier = BERTH_TIER_MICROVM;
  check_refused ("all", &options, BERTH_E_CAPABILITY_NOT_SUPPORTED, "isolation of tier 30 is required");
}

/* What belongs to one sandbox is no part of what many are made of. */
static void
test_refused_name (void)
{
  struct berth_create_options create = BERTH_CREATE_OPTIONS_INIT;
  struct berth_environment_options options = BERTH_ENVIRONMENT_OPTIONS_INIT;

  options.create = &create;
  create.name = "web";
  check_refused ("all", &options, BERTH_E_INVALID_REQUEST, "belong to one sandbox");
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "an environment comes back as it was saved", test_keeping },
    { "of a secret only the name is stored", test_secrets },
    { "an environment is its owner's", test_owners },
    { "what is said at create goes before what was saved", test_using },
    { "what the backend no longer does is refused before anything is made", test_later },
    { "network rules are refused without NETWORK_RULES", test_refused_rules },
    { "sharing is refused without ISOLATED_SESSIONS", test_refused_sharing },
    { "idle = pause is refused without PAUSE", test_refused_idle },
    { "prepared capacity is refused without a ready pool", test_refused_pool },
    { "an interactive program or terminal is refused without PROCESS_SESSIONS", test_refused_interactive },
    { "a workspace volume is refused without WORKSPACE_VOLUME", test_refused_volume },
    { "what validate refuses is refused", test_refused_validate },
    { "what belongs to one sandbox is refused", test_refused_name },
    { NULL, NULL },
  };

  return berth_test_main ("environments", tests);
}

/* I: tiers, refusals and errors are honest. */
#include <stdio.h>
#include <string.h>

#include "conformance/suites/content.h"
#include "conformance/suites/leftovers.h"
#include "conformance/suites/platform.h"
#include "conformance/suites/refusal.h"
#include "conformance/suites/run.h"

static const uint32_t tiers[] = { BERTH_TIER_CONTAINER, BERTH_TIER_GVISOR, BERTH_TIER_MICROVM };

static void
i01 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_new (suite);
  struct berth_effective effective = { 0 };
  struct suite_plan plan;
  uint32_t tier;

  suite_plan_init (&plan, box);
  SUITE_REQUIRE (suite, suite_box_validate (box, &plan.spec, &effective) == 0, "validate: %s", box->error.message);
  tier = effective.tier;
  for (size_t i = 0; i < sizeof tiers / sizeof *tiers; i++)
    {
      struct suite_box *asking = suite_box_new (suite);
      uint32_t code;

      suite_plan_init (&plan, asking);
      plan.spec.minimum_tier = tiers[i];
      plan.spec.asks |= BERTH_SPEC_TIER;
      plan.spec.must |= BERTH_SPEC_TIER;
      code = suite_box_create (asking, &plan.spec);
      if (tier >= tiers[i])
        SUITE_CHECK (suite, code == 0 && asking->effective.tier >= tiers[i], "tier %u was asked of %u: %s", tiers[i], tier,
                     code != 0 ? asking->error.message : "made with less");
      else
        {
          SUITE_CHECK (suite, code != 0, "tier %u was asked, and a sandbox of tier %u was made", tiers[i], tier);
          SUITE_CHECK (suite, asking->native_id[0] == '\0', "tier %u was asked of %u, and it was refused after provisioning",
                       tiers[i], tier);
          suite_check_gone (suite, asking->sandbox_id, 0, "a refused tier");
        }
    }
}

static void
check_unsupported (struct suite_context *suite, const char *what, uint32_t code)
{
  SUITE_CHECK_CODE (suite, what, code, BERTH_E_CAPABILITY_NOT_SUPPORTED);
}

/* Bit 63 is asked of everything that takes a mask; nothing of it may happen. */
static void
i02 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  struct suite_box *never = suite_box_new (suite);
  struct berth_change how = suite_change (BERTH_ASKS_HARNESS);
  struct suite_entry entry;
  struct suite_plan plan;

  suite_plan_init (&plan, never);
  plan.spec.asks |= BERTH_ASKS_HARNESS;
  check_unsupported (suite, "validate", suite_box_validate (never, &plan.spec, NULL));
  check_unsupported (suite, "create", suite_box_create (never, &plan.spec));
  SUITE_CHECK (suite, suite_count (suite, NULL) == 1, "a refused create made something");
  check_unsupported (suite, "write", suite_write (box, SUITE_WORKSPACE "/never", "x", 1, &how));
  check_unsupported (suite, "make_directory", suite_make_directory (box, SUITE_WORKSPACE "/never", BERTH_ASKS_HARNESS));
  SUITE_CHECK_CODE (suite, "what was refused", suite_stat (box, SUITE_WORKSPACE "/never", false, &entry),
                    BERTH_E_PATH_NOT_FOUND);
  SUITE_CHECK_CODE (suite, "write", suite_write_text (box, SUITE_WORKSPACE "/kept", "x"), 0);
  check_unsupported (suite, "move", suite_move (box, SUITE_WORKSPACE "/kept", SUITE_WORKSPACE "/moved", BERTH_ASKS_HARNESS));
  check_unsupported (suite, "remove", suite_remove (box, SUITE_WORKSPACE "/kept", BERTH_ASKS_HARNESS));
  how.mode = 0600;
  how.asks = BERTH_CHANGE_MODE | BERTH_ASKS_HARNESS;
  check_unsupported (suite, "set_attributes", suite_set_attributes (box, SUITE_WORKSPACE "/kept", &how));
  SUITE_CHECK_CODE (suite, "stat", suite_stat (box, SUITE_WORKSPACE "/kept", false, &entry), 0);
  SUITE_CHECK (suite, entry.info.mode == 0644, "a refused change of mode was made");
}

static int
no_info (void *context, const struct berth_file_info *info)
{
  (void) info;
  ++*(unsigned int *) context;
  return 0;
}

static int
no_data (void *context, const void *bytes, size_t size)
{
  (void) bytes;
  (void) size;
  ++*(unsigned int *) context;
  return 0;
}

static int
no_report (void *context, const struct berth_tar_report *report)
{
  (void) report;
  ++*(unsigned int *) context;
  return 0;
}

static int64_t
no_source (void *context, void *bytes, size_t size)
{
  (void) bytes;
  (void) size;
  ++*(unsigned int *) context;
  return 0;
}

/* What only reads is asked as well; nothing may reach a sink or be taken from a source. */
static void
i02_sinks (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  const struct berth_files_ops *files = suite->backend->files;
  const struct berth_workspace_ops *workspace = suite->backend->workspace;
  struct berth_read how = { .struct_size = sizeof how, .asks = BERTH_ASKS_HARNESS, .max_bytes = 100 };
  struct berth_tar_limits limits
      = { .struct_size = sizeof limits, .asks = BERTH_ASKS_HARNESS, .max_bytes = 100000, .max_entries = 100 };
  unsigned int told = 0;
  struct berth_read_sink reads = { sizeof reads, 0, &told, no_info, no_data };
  struct berth_entry_sink entries = { sizeof entries, 0, &told, no_info };
  struct berth_tar_sink tars = { sizeof tars, 0, &told, no_data, no_report };
  struct berth_source source = { sizeof source, 0, &told, BERTH_UNKNOWN_SIZE, no_source };
  struct suite_call call;
  struct berth_call *made;

  SUITE_CHECK_CODE (suite, "write", suite_write_text (box, SUITE_WORKSPACE "/a", "x"), 0);
  made = suite_call_begin (&call, suite, box->native_id, NULL, 0);
  check_unsupported (suite, "read", suite_call_end (&call, files->read (made, box->handle, SUITE_WORKSPACE "/a", &how, &reads), NULL));
  made = suite_call_begin (&call, suite, box->native_id, NULL, 0);
  check_unsupported (suite, "list", suite_call_end (&call, files->list (made, box->handle, SUITE_WORKSPACE, &how, &entries), NULL));
  made = suite_call_begin (&call, suite, box->native_id, NULL, 0);
  check_unsupported (suite, "stat", suite_call_end (&call, files->stat (made, box->handle, SUITE_WORKSPACE, &how, &entries), NULL));
  made = suite_call_begin (&call, suite, box->native_id, NULL, 0);
  check_unsupported (suite, "export_tar", suite_call_end (&call, workspace->export_tar (made, box->handle, &limits, &tars), NULL));
  made = suite_call_begin (&call, suite, box->native_id, NULL, 0);
  check_unsupported (suite, "import_tar", suite_call_end (&call, workspace->import_tar (made, box->handle, &limits, &source), NULL));
  SUITE_CHECK (suite, told == 0, "sinks and sources were called %u times by what was refused", told);
}

static void
i02_run (struct suite_context *suite)
{
  static const struct
  {
    const char *what;
    uint64_t asks;
  } wishes[] = { { "the harness's bit", BERTH_ASKS_HARNESS },
                 { "a terminal", BERTH_RUN_TERMINAL },
                 { "a ring", BERTH_RUN_RING },
                 { "a name", BERTH_RUN_NAME },
                 { "a restart", BERTH_RUN_RESTART } };
  struct suite_box *box = suite_box_make (suite);
  struct suite_entry entry;

  for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++)
    {
      SUITE_AUTO_RAN struct suite_ran ran = { 0 };

      suite_run (box,
                 &(struct suite_command) { .arguments = (const char *const[]) { "touch", SUITE_WORKSPACE "/ran", NULL },
                                           .more_asks = wishes[i].asks },
                 &ran);
      check_unsupported (suite, wishes[i].what, ran.code);
      SUITE_CHECK (suite, ran.exits == 0, "%s was refused, and an exit was told", wishes[i].what);
    }
  SUITE_CHECK_CODE (suite, "what was refused", suite_stat (box, SUITE_WORKSPACE "/ran", false, &entry),
                    BERTH_E_PATH_NOT_FOUND);
}

static void
i02_groups (struct suite_context *suite)
{
  uint64_t declared = berth_instance_capabilities (suite->instance);
  struct suite_box *box = suite_box_new (suite);
  struct berth_effective effective = { 0 };
  struct suite_plan plan;

  suite_plan_init (&plan, box);
  SUITE_REQUIRE (suite, suite_box_validate (box, &plan.spec, &effective) == 0, "validate: %s", box->error.message);
  SUITE_CHECK (suite, (effective.capabilities & ~declared) == 0, "an instance has capabilities that are not declared: %llx",
               (unsigned long long) (effective.capabilities & ~declared));
  for (uint32_t i = 0; i < berth_rule_count; i++)
    if (berth_rules[i].bit != 0 && (berth_rules[i].bit & declared) == 0)
      suite_check_refusal (suite, berth_rules[i].bit);
}

/* ---- I04, I05 ---- */

static void
i04 (struct suite_context *suite)
{
  static const char secret[] = "correct horse battery staple";
  struct suite_box *box = suite_box_make (suite);
  struct berth_pair pair = { .name = "TOKEN NAME", .value = secret, .flags = BERTH_PAIR_SECRET };
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };

  suite_run (box,
             &(struct suite_command) { .arguments = (const char *const[]) { "true", NULL },
                                       .environment = &pair,
                                       .environment_count = 1 },
             &ran);
  SUITE_CHECK (suite, ran.code != 0 && strstr (ran.error.message, secret) == NULL && strstr (ran.error.hint, secret) == NULL,
               "the secret is in the error: %s", ran.error.message);
}

static void
check_error (struct suite_context *suite, const char *what, const struct berth_error *error, const char *thing)
{
  size_t size = strlen (error->message);

  SUITE_CHECK (suite, strcmp (berth_error_name (error->code), "UNKNOWN") != 0, "%s: code %u is none of ours", what, error->code);
  SUITE_CHECK (suite, size > 0 && error->message[size - 1] != '.' && error->message[size - 1] != '\n', "%s: the message is \"%s\"",
               what, error->message);
  SUITE_CHECK (suite, strstr (error->message, thing) != NULL, "%s: \"%s\" is not named in: %s", what, thing, error->message);
}

static void
i05 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  struct suite_box *unknown = suite_box_new (suite);
  BERTH_AUTO_BUFFER struct berth_buffer bytes = { 0 };
  struct suite_plan plan;

  suite_read (box, SUITE_WORKSPACE "/no-such-file", &bytes);
  check_error (suite, "read", &box->error, "no-such-file");
  suite_list_files (box, SUITE_WORKSPACE "/no-such-folder", NULL, NULL, NULL);
  check_error (suite, "list", &box->error, "no-such-folder");
  strcpy (unknown->native_id, SUITE_UNKNOWN_ID);
  suite_box_connect (unknown, NULL, &unknown->handle);
  check_error (suite, "connect", &unknown->error, SUITE_UNKNOWN_ID);
  unknown->native_id[0] = '\0';
  if ((suite->backend->flags & BERTH_BACKEND_EXECUTES_NOTHING) != 0)
    return;
  suite_plan_init (&plan, unknown);
  plan.spec.image = "registry.invalid/no-such-image:0";
  plan.spec.asks |= BERTH_SPEC_IMAGE;
  plan.spec.must |= BERTH_SPEC_IMAGE;
  suite_box_validate (unknown, &plan.spec, NULL);
  check_error (suite, "validate", &unknown->error, "no-such-image");
  SUITE_CHECK (suite, unknown->error.hint[0] != '\0', "an image that cannot be had, and no hint what to do");
}

static const struct suite_clause clauses[] = {
  { .id = "I01", .title = "a tier above its own is refused before provisioning", .run = i01 },
  { .id = "I02", .title = "an unknown wish is refused and nothing of it happens (D-064)", .run = i02 },
  { .id = "I02-sinks", .title = "reading with an unknown wish is refused and tells nothing", .run = i02_sinks },
  { .id = "I02-run", .title = "a command with a wish it cannot have is refused", .run = i02_run },
  { .id = "I02-groups", .title = "no function of an undeclared capability can be reached", .run = i02_groups },
  { .id = "I03", .title = "what is printed is no result, what is displayed is", .needs = BERTH_CAP_RUN_CODE, .run = suite_i03 },
  { .id = "I03-costs", .title = "costs are told with label, currency and sum", .needs = BERTH_CAP_COST_REPORTING, .run = suite_costs },
  { .id = "I04", .title = "a secret is in no error", .run = i04 },
  { .id = "I05", .title = "errors name the thing and say what to do", .run = i05 },
  { .id = "I05-diagnostics", .title = "what the runtime knows of it can be read", .needs = BERTH_CAP_DIAGNOSTICS, .run = suite_diagnostics },
  { .id = "I05-native", .title = "an unknown operation is told", .needs = BERTH_CAP_NATIVE, .run = suite_native_call },
  { .id = "I06", .title = "sessions see nothing of each other, and are counted", .needs = BERTH_CAP_ISOLATED_SESSIONS, .run = suite_i06 },
  { .id = "I06-recovery", .title = "a workspace's sessions are found again", .needs = BERTH_CAP_ISOLATED_SESSION_RECOVERY, .run = suite_i06_recovery },
  { .id = "I07", .title = "a pool gives ready ones, and bends no wish", .needs = BERTH_CAP_CLIENT_POOL, .run = suite_i07 },
  { .id = "I08", .title = "code prints, displays and raises", .needs = BERTH_CAP_RUN_CODE, .run = suite_i08 },
  { .id = "I08-contexts", .title = "state lasts within a context, and not across", .needs = BERTH_CAP_STATEFUL_CODE, .run = suite_i08_contexts },
  { .id = "I09", .title = "a GPU only where there is one", .needs = BERTH_CAP_GPU, .run = suite_i09 },
  { .id = NULL },
};

const struct suite suite_isolation = { "isolation", clauses, NULL };

/* Each rule of refusal with a backend that breaks it and nothing else, by its whole message. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/broken/tests.h"
#include "sdk/base/string.h"
#include "sdk/base/tests/runner.h"

static void
refused (const char *variant, const char *problems, const char *hint)
{
  struct berth_error error = expect_refused (broken_directory (), variant, problems);

  CU_ASSERT_STRING_EQUAL (error.hint, hint);
}

static void
test_symbol (void)
{
  refused ("no-symbol", "does not export berth_backend_v1: it is not a backend", "define and export that function");
  refused ("other-major", "is for another ABI (got berth_backend_v2, want berth_backend_v1)",
           "install the backend for this version of Berth");
  refused ("data", "berth_backend_v1 is not a function", "define it as a function");
  refused ("entry-null", "its entry function berth_backend_v1 returned NULL: it refuses this host",
           "ask the authors of the backend");
}

static void
test_header (void)
{
  BERTH_AUTO_FREE char *small
      = berth_string_format ("struct_size of the table is 64 (want %zu to 65536, a multiple of %zu)",
                             offsetof (struct berth_backend, workspace) + sizeof (void *), sizeof (void *));
  BERTH_AUTO_FREE char *large
      = berth_string_format ("struct_size of the table is 65544 (want %zu to 65536, a multiple of %zu)",
                             offsetof (struct berth_backend, workspace) + sizeof (void *), sizeof (void *));
  BERTH_AUTO_FREE char *odd
      = berth_string_format ("struct_size of the table is %zu (want %zu to 65536, a multiple of %zu)",
                             sizeof (struct berth_backend) - 1,
                             offsetof (struct berth_backend, workspace) + sizeof (void *), sizeof (void *));
  static const char size_hint[] = "set struct_size to sizeof (struct berth_backend)";

  refused ("magic", "not a backend's table (magic 0x12345678, want 0x42525448)", "build it with <berth/backend.h>");
  refused ("major", "built for ABI 7.0 (want 1.x)", "build the backend for this version of Berth");
  refused ("size-small", small, size_hint);
  refused ("size-large", large, size_hint);
  refused ("size-odd", odd, size_hint);
  refused ("needs-host", "needs ABI 1.3 of the host (have 1.0)", "update Berth");
}

static void
test_identity (void)
{
  refused ("name-bad", "name \"Name Bad\" is not valid (want [a-z][a-z0-9-]{0,30})", "rename the backend");
  refused ("name-other",
           "the table says it is \"another\" (got file berth-backend-name-other.so, want berth-backend-another.so)",
           "rename the file");
  refused ("version-empty", "version is empty (want a text)", "fill it in");
  refused ("summary-null", "summary is NULL (want a text)", "fill it in");
  refused ("concurrency", "concurrency is 0 (want 1 parallel, 2 one call per sandbox or 3 one call at a time)",
           "declare its concurrency");
  refused ("unknown-flag", "unknown flags 0x10000000000 (want only bits of 0x3)", "leave them out");
}

static void
test_groups (void)
{
  BERTH_AUTO_FREE char *size = berth_string_format (
      "struct_size of group `files` is 5 (want 8 to 65536, a multiple of %zu)", sizeof (void *));

  refused ("group-missing", "required group files is missing (`files` is NULL)", "implement it");
  refused ("group-size", size, "set struct_size to its sizeof");
  refused ("function-open", "required group lifecycle: function `lifecycle.open` is missing", "implement it");
  refused ("function-run", "required group commands: function `commands.run` is missing", "implement it");
  refused ("function-stat", "required group files: function `files.stat` is missing", "implement it");
  refused ("function-import", "required group workspace: function `workspace.import_tar` is missing", "implement it");
}

static void
test_capabilities (void)
{
  refused ("half-declared",
           "capability PROBE is declared, its group `probe` is missing; "
           "capability INVENTORY: function `inventory.describe` is missing",
           "implement it, or leave the capability out");
  refused ("needs", "capability NETWORK_UPDATE needs NETWORK_POLICY, which is not declared",
           "declare that too, or leave both out");
  refused ("unknown-bit", "unknown capability: bit 57", "leave it out");
  refused ("reserved-bit", "capability LSP is reserved and has no functions yet", "leave it out");
  refused ("not-parallel",
           "capability FILE_WATCH needs concurrency 1 parallel (got 3): a call that waits would lock out all others",
           "declare BERTH_PARALLEL");
}

static void
test_claims (void)
{
  refused ("tier-evidence",
           "isolation claim 0: tier microvm without evidence (got URL \"(none)\", want http:// or https://)",
           "name the page of the provider's that says so");
  refused ("tier-unknown", "isolation claim 0: tier 17 is not known (want 10 container, 20 gvisor or 30 microvm)",
           "claim one of these, or nothing");
  refused ("tier-date", "isolation claim 0: evidence date \"2026-02-30\" is not a date (want YYYY-MM-DD)",
           "give the day on which the evidence was read");
}

static void
test_settings (void)
{
  BERTH_AUTO_FREE char *stride = berth_string_format (
      "array of settings is not sane (1 elements of 4 bytes, want at most 1024 of at least %zu)", sizeof (struct berth_setting));

  refused ("setting-twice", "setting \"socket\" is declared twice", "declare it once");
  refused ("setting-type", "setting \"socket\": type 99 is not known (want 1 to 8)", "use one of enum berth_setting_type");
  refused ("setting-default", "setting \"wait\": default \"soon\" is not valid (want a duration such as 90s or 15m)",
           "correct the default");
  refused ("setting-variable", "setting \"socket\": got variable DOCKER_HOST (want BERTH_SETTING_VARIABLE_...)",
           "rename the variable, or flag it foreign");
  refused ("setting-of-host", "setting \"path\": variable BERTH_BACKEND_PATH is the host's own", "rename the variable");
  refused ("setting-stride", stride, "use BERTH_ARRAY");
}

static void
test_all_problems (void)
{
  refused ("several",
           "name \"Two\" is not valid (want [a-z][a-z0-9-]{0,30}); version is empty (want a text); "
           "concurrency is 9 (want 1 parallel, 2 one call per sandbox or 3 one call at a time)",
           "rename the backend; fill it in; declare its concurrency");
}

static void
test_binary (void)
{
  refused ("execstack", "wants an executable stack (GNU_STACK is RWE, want RW)", "link it with -Wl,-z,noexecstack");
  refused ("core", "links libberth.so.77, which would put a second Berth into the process",
           "leave -lberth out: a backend gets everything through its services");
  refused ("core-below", "brings a second libberth into the process, through a library that it links",
           "leave that library out: a backend gets everything through its services");
  /* Nothing of it is left that a second host could be deceived by. */
  refused ("core-below", "brings a second libberth into the process, through a library that it links",
           "leave that library out: a backend gets everything through its services");
  refused ("lazy", "is not bound at load time (no BIND_NOW)", "link it with -Wl,-z,now");
  refused ("ltx", "exports berth_backend_ltx_LTX_berth_backend_v1, which libltdl would take for berth_backend_v1",
           "leave that symbol out");
  refused ("curl", "says that it uses libcurl and does not link it", "link libcurl, or leave the flag out");
}

/* D-158: the loader's own words, not libltdl's "file not found". */
static void
test_reasons (void)
{
  BERTH_AUTO_FREE char *undefined = broken_file ("undefined");
  BERTH_AUTO_FREE char *what
      = berth_string_format ("cannot be loaded: %s: undefined symbol: berth_test_symbol_that_nobody_has", undefined);
  static const char hint[] = "install what is missing, or build it with -Wl,-z,defs";

  refused ("undefined", what, hint);
  refused ("dependency",
           "cannot be loaded: libberth-test-missing.so: cannot open shared object file: No such file or directory", hint);
}

static struct berth_instance *
expect_opened (struct berth_registry *registry, const char *name)
{
  struct berth_instance *instance = NULL;
  struct berth_error error = { 0 };

  CU_ASSERT_EQUAL (berth_registry_instance (registry, name, NULL, &instance, &error), 0);
  if (instance == NULL)
    printf ("     %s\n", error.message);
  return instance;
}

static void
test_loads (void)
{
  struct berth_registry *registry = open_registry (broken_directory (), NULL, NULL, NULL);
  struct berth_instance *good = expect_opened (registry, "good"), *older = expect_opened (registry, "older"),
                        *newer = expect_opened (registry, "newer-minor");
  uint64_t given = BERTH_CAP_RUN_COMMAND | BERTH_CAP_STREAMING | BERTH_CAP_FILESYSTEM | BERTH_CAP_UPLOAD_DOWNLOAD;

  CU_ASSERT_PTR_NOT_NULL_FATAL (good);
  CU_ASSERT_PTR_NOT_NULL_FATAL (older);
  CU_ASSERT_PTR_NOT_NULL_FATAL (newer);
  CU_ASSERT_EQUAL (berth_instance_capabilities (good), given);
  CU_ASSERT_PTR_NULL (berth_instance_backend (older)->probe);
  CU_ASSERT_PTR_NOT_NULL (berth_instance_backend (older)->workspace->import_tar);
  CU_ASSERT_EQUAL (berth_instance_backend (newer)->abi.struct_size, sizeof (struct berth_backend));
  CU_ASSERT_EQUAL (berth_instance_backend (newer)->abi.abi_minor, BERTH_ABI_MINOR + 1);
  CU_ASSERT_EQUAL (berth_instance_capabilities (newer), given);
  CU_ASSERT_EQUAL (berth_instance_backend (newer)->flags, 0);
  berth_registry_close (registry);
}

static void
expect_scan (struct berth_registry *registry, const char *name, uint32_t status, const char *text)
{
  BERTH_AUTO_BUFFER struct berth_buffer got = { 0 };

  CU_ASSERT_EQUAL (scan_for (registry, name, &got), status);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&got), text);
  if (strcmp (berth_buffer_string (&got), text) != 0)
    printf ("     %s got:\n%s", name, berth_buffer_string (&got));
}

static void
test_warnings (void)
{
  struct berth_registry *registry = open_registry (broken_directory (), NULL, NULL, NULL);

  expect_scan (registry, "good", BERTH_BACKEND_READY, "");
  expect_scan (registry, "newer-minor", BERTH_BACKEND_READY,
               "warning: flags 0x10000000000 are of ABI 1.1 and left out (have 1.0): update Berth\n"
               "warning: capability bit 57 is of ABI 1.1 and left out (have 1.0): update Berth\n");
  expect_scan (registry, "undeclared", BERTH_BACKEND_READY,
               "warning: group `inventory` has functions of INVENTORY, which is not declared: they are never called: "
               "declare the capability, or leave the functions out\n");
  expect_scan (registry, "exports", BERTH_BACKEND_READY,
               "warning: exports 1 symbol beside berth_backend_v1: malloc: link it with a version script\n");
  expect_scan (registry, "deletable", BERTH_BACKEND_READY,
               "warning: does not say that it stays loaded (no NODELETE): link it with -Wl,-z,nodelete\n");
  berth_registry_close (registry);
}

/* I02 begins here: what is not declared cannot be reached, not even through the pointer. */
static void
test_undeclared (void)
{
  struct berth_registry *registry = open_registry (broken_directory (), NULL, NULL, NULL);
  struct berth_instance *instance = expect_opened (registry, "undeclared");

  CU_ASSERT_PTR_NOT_NULL_FATAL (instance);
  CU_ASSERT_PTR_NULL (berth_instance_backend (instance)->inventory);
  berth_registry_close (registry);
}

static void
expect_open_error (const char *name, uint32_t code, const char *message)
{
  struct berth_registry *registry = open_registry (broken_directory (), NULL, NULL, NULL);
  struct berth_instance *instance = NULL;

  /* The second time it is told from memory: a backend that refused is not called again. */
  for (int i = 0; i < 2; i++)
    {
      struct berth_error error = { 0 };

      CU_ASSERT_EQUAL (berth_registry_instance (registry, name, NULL, &instance, &error), -1);
      CU_ASSERT_EQUAL (error.code, code);
      CU_ASSERT_STRING_EQUAL (error.message, message);
      CU_ASSERT_STRING_EQUAL (error.backend, name);
    }
  CU_ASSERT_PTR_NOT_NULL (expect_opened (registry, "good"));
  berth_registry_close (registry);
}

static void
test_open_fails (void)
{
  expect_open_error ("open-fails", BERTH_E_CONFIGURATION, "the engine is not there");
  expect_open_error ("open-silent", BERTH_E_INTERNAL, "backend \"open-silent\" failed without saying why");
  expect_open_error ("open-nothing", BERTH_E_INTERNAL, "backend \"open-nothing\" said that it opened and gave no state");
}

struct count
{
  unsigned int all, ready, refused, other;
  char last[64];
  int sorted;
};

static int
count_backend (void *context, const struct berth_backend_info *info)
{
  struct count *count = context;

  count->all++;
  count->ready += info->status == BERTH_BACKEND_READY;
  count->refused += info->status == BERTH_BACKEND_REFUSED;
  if (info->status != BERTH_BACKEND_READY && info->problem_count == 0 && info->status != BERTH_BACKEND_DISABLED)
    printf ("     %s has no problem told\n", info->name);
  if (info->status == BERTH_BACKEND_REFUSED)
    CU_ASSERT_TRUE (info->problem_count > 0);
  CU_ASSERT_TRUE (strcmp (count->last, info->name) < 0);
  snprintf (count->last, sizeof count->last, "%s", info->name);
  return 0;
}

static void
test_scan (void)
{
  struct berth_registry *registry = open_registry (broken_directory (), NULL, NULL, NULL);
  struct count count = { 0 };

  CU_ASSERT_EQUAL (berth_registry_scan (registry, count_backend, &count, NULL), 0);
  CU_ASSERT_TRUE (count.refused >= 40);
  CU_ASSERT_TRUE (count.ready >= 8);
  CU_ASSERT_PTR_NOT_NULL (expect_opened (registry, "good"));
  berth_registry_close (registry);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "refusal: the symbol, and its major", test_symbol },
    { "refusal: magic, major, size, host minor", test_header },
    { "refusal: name, version, summary, concurrency, flags", test_identity },
    { "S04 refusal: groups and functions that are required", test_groups },
    { "S05 S06 refusal: capabilities", test_capabilities },
    { "S07 refusal: isolation claims", test_claims },
    { "S08 refusal: settings", test_settings },
    { "refusal: all problems of a file are told", test_all_problems },
    { "S10 D-159 refusal: what the binary is", test_binary },
    { "D-158 L5 the loader's own reason", test_reasons },
    { "an older, smaller and a newer, larger table load", test_loads },
    { "what is odd is told and does not refuse", test_warnings },
    { "I02 an undeclared group cannot be reached", test_undeclared },
    { "D-155 a backend that does not open is not called again", test_open_fails },
    { "one bad file never stops the others", test_scan },
    { NULL, NULL },
  };

  return berth_test_main ("refusals", tests);
}

/* S: what a backend is before any sandbox is made. Nothing here opens it through the registry, which would
 * refuse at the first fault: each clause loads the file itself and looks at its own part. A clause that cannot
 * be looked at because of another's fault says so and is skipped. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/suites/process.h"
#include "conformance/suites/role.h"
#include "core/registry/check.h"
#include "core/registry/elf.h"
#include "core/registry/instance.h"
#include "core/registry/table.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/fs.h"
#include "sdk/base/path.h"
#include "sdk/base/string.h"

/* ---- the file, and its table ---- */

static struct berth_elf_facts
read_elf (struct suite_context *suite)
{
  BERTH_AUTO_FD int fd = open (suite->plugin, O_RDONLY | O_CLOEXEC);
  struct berth_elf_facts facts;

  SUITE_REQUIRE (suite, fd >= 0 && berth_elf_read (fd, &facts) == 0, "%s is no shared object of this machine",
                 suite->plugin);
  return facts;
}

/* The entry of FILE: NULL when it has none. */
static berth_backend_function *
find_entry (struct suite_context *suite, const char *file)
{
  void *handle = dlopen (file, RTLD_NOW | RTLD_LOCAL), *symbol = NULL;
  berth_backend_function *entry;

  if (handle == NULL)
    suite_skip (suite, "it cannot be loaded, see S10");
  symbol = dlsym (handle, BERTH_BACKEND_SYMBOL);
  memcpy (&entry, &symbol, sizeof entry);
  return entry;
}

static berth_backend_function *
need_entry (struct suite_context *suite)
{
  struct berth_elf_facts facts = read_elf (suite);
  berth_backend_function *entry = (facts.flags & BERTH_ELF_ENTRY) != 0 ? find_entry (suite, suite->plugin) : NULL;

  berth_buffer_free (&facts.exports);
  berth_buffer_free (&facts.paths);
  if (entry == NULL)
    suite_skip (suite, "it has no entry, see S01");
  return entry;
}

/* Whether the header of a table can be believed. */
static bool
is_header_sane (const struct berth_abi *abi)
{
  return abi->magic == BERTH_ABI_MAGIC && abi->abi_major == BERTH_ABI_MAJOR
         && abi->struct_size >= offsetof (struct berth_backend, workspace) + sizeof (void *)
         && abi->struct_size <= BERTH_ABI_SIZE_MAX && abi->struct_size % sizeof (void *) == 0;
}

/* A copy of the table, zero where it ends early. */
static struct berth_backend
need_table (struct suite_context *suite)
{
  const struct berth_backend *theirs = need_entry (suite) (berth_services_table ());
  struct berth_backend table = { 0 };

  if (theirs == NULL || !is_header_sane (&theirs->abi))
    suite_skip (suite, "its table cannot be read, see S02");
  memcpy (&table, theirs, theirs->abi.struct_size < sizeof table ? theirs->abi.struct_size : sizeof table);
  return table;
}

static bool
is_group_sane (const void *group)
{
  uint32_t size = berth_group_size (group);

  return size >= 8 && size <= BERTH_ABI_SIZE_MAX && size % sizeof (void *) == 0;
}

static void
fail_each (struct suite_context *suite, const struct berth_problems *problems)
{
  for (uint32_t i = 0; i < problems->count; i++)
    suite_fail (suite, __FILE__, __LINE__, "%s", problems->items[i].text);
}

/* Runs one part of the registry's own check; what it finds are failures. */
static void
run_check (struct suite_context *suite, void (*part) (struct berth_check *check))
{
  struct berth_backend table = need_table (suite);
  BERTH_AUTO_PROBLEMS struct berth_problems problems = { 0 };
  BERTH_AUTO_PROBLEMS struct berth_problems warnings = { 0 };
  struct berth_check check = { &table, &problems, &warnings, table.abi.abi_minor > BERTH_ABI_MINOR };

  part (&check);
  fail_each (suite, &problems);
  for (uint32_t i = 0; i < warnings.count; i++)
    suite_warn (suite, "%s", warnings.items[i].text);
}

/* ---- the clauses ---- */

static void
s01_one_symbol (struct suite_context *suite)
{
  struct berth_elf_facts facts = read_elf (suite);

  SUITE_CHECK (suite, (facts.flags & BERTH_ELF_ENTRY) != 0, "%s is not exported, or is not a function",
               BERTH_BACKEND_SYMBOL);
  SUITE_CHECK (suite, facts.exports.size == 0, "exports more than %s: %s", BERTH_BACKEND_SYMBOL,
               berth_buffer_string (&facts.exports));
  berth_buffer_free (&facts.exports);
  berth_buffer_free (&facts.paths);
}

static void
s02_bounds (struct suite_context *suite)
{
  const struct berth_backend *theirs = need_entry (suite) (berth_services_table ());
  struct berth_backend table;

  SUITE_REQUIRE (suite, theirs != NULL, "%s returned NULL", BERTH_BACKEND_SYMBOL);
  SUITE_REQUIRE (suite, is_header_sane (&theirs->abi), "magic 0x%08x, size %u, major %u (want 0x%08x, %zu to %u, %u)",
                 theirs->abi.magic, theirs->abi.struct_size, theirs->abi.abi_major, BERTH_ABI_MAGIC,
                 offsetof (struct berth_backend, workspace) + sizeof (void *), BERTH_ABI_SIZE_MAX, BERTH_ABI_MAJOR);
  SUITE_CHECK (suite, theirs->abi.reserved == 0, "a reserved word is %u (want 0)", theirs->abi.reserved);
  table = need_table (suite);
  for (uint32_t row = 0; row < berth_rule_count; row++)
    {
      const void *group = berth_rules[row].group != NULL ? berth_backend_group (&table, &berth_rules[row]) : NULL;

      SUITE_CHECK (suite, group == NULL || is_group_sane (group), "struct_size of group `%s` is %u", berth_rules[row].group,
                   berth_group_size (group));
    }
}

static void
check_identity (struct berth_check *check)
{
  BERTH_AUTO_FREE char *file = berth_string_format ("/%s%s%s", BERTH_BACKEND_PREFIX,
                                                    check->backend->name != NULL ? check->backend->name : "",
                                                    BERTH_BACKEND_SUFFIX);

  berth_check_identity (check, file != NULL ? file : "");
}

static char *
describe (const struct berth_backend *table)
{
  return berth_string_format ("%s %s %s", BERTH_CHECK_TEXT (table->name), BERTH_CHECK_TEXT (table->version),
                              BERTH_CHECK_TEXT (table->summary));
}

static void
s03_names (struct suite_context *suite)
{
  struct berth_backend table = need_table (suite), again;
  BERTH_AUTO_FREE char *file = NULL, *first = NULL, *second = NULL;

  run_check (suite, check_identity);
  if (suite->failed)
    return;
  file = berth_string_format ("%s%s%s", BERTH_BACKEND_PREFIX, table.name, BERTH_BACKEND_SUFFIX);
  SUITE_CHECK (suite, berth_string_equal (file, berth_path_last (suite->plugin)), "it says it is \"%s\", the file is %s",
               table.name, berth_path_last (suite->plugin));
  first = describe (&table);
  again = need_table (suite);
  second = describe (&again);
  SUITE_CHECK (suite, again.name == table.name && berth_string_equal (first, second), "its texts change");
}

/* Functions of the rows that TABLE has to have and has not. */
static void
check_functions (struct suite_context *suite, const struct berth_backend *table, const struct berth_rule_row *rule)
{
  const void *group = rule->group != NULL ? berth_backend_group (table, rule) : NULL;

  if (rule->group == NULL || (group != NULL && !is_group_sane (group)))
    return;
  if (group == NULL)
    {
      suite_fail (suite, __FILE__, __LINE__, "%s: group `%s` is missing", rule->name, rule->group);
      return;
    }
  for (const struct berth_function_row *row = rule->functions; row->name != NULL; row++)
    SUITE_CHECK (suite, row->optional || berth_group_function (group, row) != NULL, "%s: function `%s.%s` is missing",
                 rule->name, rule->group, row->name);
}

static void
s04_required (struct suite_context *suite)
{
  struct berth_backend table = need_table (suite);

  for (uint32_t row = 0; row < berth_rule_count; row++)
    if (berth_rules[row].bit == 0)
      check_functions (suite, &table, &berth_rules[row]);
}

static void
s05_declared (struct suite_context *suite)
{
  struct berth_backend table = need_table (suite);

  for (uint32_t row = 0; row < berth_rule_count; row++)
    {
      const struct berth_rule_row *rule = &berth_rules[row];

      if ((rule->bit & table.capabilities) == 0)
        continue;
      check_functions (suite, &table, rule);
      SUITE_CHECK (suite, (rule->needs & ~table.capabilities) == 0, "%s lacks a capability that it needs", rule->name);
      SUITE_CHECK (suite, !rule->parallel_only || table.concurrency == BERTH_PARALLEL || table.concurrency == 0,
                   "%s needs concurrency parallel", rule->name);
    }
}

static void
warn_of_undeclared (struct suite_context *suite, const struct berth_backend *table, const struct berth_rule_row *rule)
{
  const void *group = rule->group != NULL ? berth_backend_group (table, rule) : NULL;

  if (group == NULL || !is_group_sane (group))
    return;
  for (const struct berth_function_row *row = rule->functions; row->name != NULL; row++)
    if (berth_group_function (group, row) != NULL)
      suite_warn (suite, "`%s.%s` is there and %s is not declared", rule->group, row->name, rule->name);
}

static void
s06_bits (struct suite_context *suite)
{
  struct berth_backend table = need_table (suite);

  run_check (suite, berth_check_capabilities);
  for (uint32_t row = 0; row < berth_rule_count; row++)
    {
      const struct berth_rule_row *rule = &berth_rules[row];
      bool declared = (rule->bit & table.capabilities) != 0;

      SUITE_CHECK (suite, !declared || !rule->reserved, "%s is reserved", rule->name);
      if (!declared && rule->bit != 0)
        warn_of_undeclared (suite, &table, rule);
    }
}

static void
s07_claims (struct suite_context *suite)
{
  run_check (suite, berth_check_claims);
}

static void
s08_settings (struct suite_context *suite)
{
  run_check (suite, berth_check_settings);
}

static void
s09_concurrency (struct suite_context *suite)
{
  run_check (suite, berth_check_concurrency);
}

static void
s10_binary (struct suite_context *suite)
{
  struct berth_elf_facts facts = read_elf (suite);
  void *handle;

  SUITE_CHECK (suite, (facts.flags & BERTH_ELF_TEXTREL) == 0, "relocations in its code (TEXTREL)");
  SUITE_CHECK (suite, (facts.flags & BERTH_ELF_STACK) != 0, "its stack is executable");
  SUITE_CHECK (suite, (facts.flags & BERTH_ELF_NOW) != 0, "not bound at load time (no NOW)");
  SUITE_CHECK (suite, (facts.flags & BERTH_ELF_NODELETE) != 0, "does not stay loaded (no NODELETE)");
  if (facts.paths.size > 0 && berth_string_starts_with (suite->plugin, BERTH_BACKENDDIR))
    suite_fail (suite, __FILE__, __LINE__, "installed, and looks for libraries in %s", berth_buffer_string (&facts.paths));
  else if (facts.paths.size > 0)
    suite_warn (suite, "looks for libraries in %s", berth_buffer_string (&facts.paths));
  handle = dlopen (suite->plugin, RTLD_NOW | RTLD_LOCAL);
  SUITE_CHECK (suite, handle != NULL, "%s", dlerror ());
  berth_buffer_free (&facts.exports);
  berth_buffer_free (&facts.paths);
}

/* Loading and registering first, then an instance that comes and goes. */
static void
s11_quiet (struct suite_context *suite)
{
  struct suite_process before, loaded, after;
  struct berth_backend table;

  suite_process_read (suite, &before);
  table = need_table (suite);
  suite_process_read (suite, &loaded);
  suite_process_compare (suite, "loading", &before, &loaded);
  if (!suite->failed && table.lifecycle != NULL && suite_try_open (suite))
    {
      /* What the registry itself leaves open for good is ours: the second time is the backend's. */
      suite_close (suite);
      suite_process_free (&loaded);
      suite_process_read (suite, &loaded);
      if (suite_open (suite))
        suite_close (suite);
      suite_process_read (suite, &after);
      suite_process_compare (suite, "opening and closing", &loaded, &after);
      suite_process_free (&after);
    }
  suite_process_free (&before);
  suite_process_free (&loaded);
}

/* A second file of the same backend, as another one would be. */
static void
check_second_file (struct suite_context *suite, berth_backend_function *entry)
{
  BERTH_AUTO_FREE char *copy = berth_string_format ("%s/%s", suite->directory, berth_path_last (suite->plugin));
  BERTH_AUTO_BUFFER struct berth_buffer content = { 0 };
  berth_backend_function *other;

  SUITE_REQUIRE (suite,
                 copy != NULL && berth_fs_read (AT_FDCWD, suite->plugin, &content, (size_t) 256 << 20) == 0
                     && berth_fs_replace (AT_FDCWD, copy, content.data, content.size, 0755) == 0,
                 "cannot copy the file");
  other = find_entry (suite, copy);
  SUITE_CHECK (suite, other != NULL && other != entry && other (berth_services_table ()) != entry (berth_services_table ()),
               "two files of it see each other's symbols");
}

static int
ignore_found (void *context, const struct berth_found *found)
{
  return 0;
}

static void
s12_twice (struct suite_context *suite)
{
  berth_backend_function *entry = need_entry (suite);
  const struct berth_backend *table = entry (berth_services_table ());
  struct suite_context other = *suite;

  for (int i = 0; i < 3; i++)
    SUITE_CHECK (suite, entry (berth_services_table ()) == table, "another table each time");
  if (table == NULL || !is_header_sane (&table->abi))
    suite_skip (suite, "its table cannot be read, see S02");
  check_second_file (suite, entry);
  if (suite->failed || !suite_try_open (suite) || !suite_open (&other))
    return;
  SUITE_CHECK (suite, suite->state != other.state, "two instances share one state");
  suite_close (suite);
  SUITE_CHECK (suite, suite_list (&other, ignore_found, NULL, NULL) == 0, "an instance ends with another");
  suite_close (&other);
}

static const struct suite_clause clauses[] = {
  { "S01", "exports one symbol, its entry", 0, SUITE_NO_INSTANCE, 0, s01_one_symbol },
  { "S02", "magic, sizes and versions are within bounds", 0, SUITE_NO_INSTANCE, 0, s02_bounds },
  { "S03", "name, version and summary", 0, SUITE_NO_INSTANCE, 0, s03_names },
  { "S04", "the required groups are complete", 0, SUITE_NO_INSTANCE, 0, s04_required },
  { "S05", "what is declared is there, with what it needs", 0, SUITE_NO_INSTANCE, 0, s05_declared },
  { "S06", "no unknown or reserved capability", 0, SUITE_NO_INSTANCE, 0, s06_bits },
  { "S07", "the isolation claims have their evidence", 0, SUITE_NO_INSTANCE, 0, s07_claims },
  { "S08", "the settings are sound", 0, SUITE_NO_INSTANCE, 0, s08_settings },
  { "S09", "concurrency is declared", 0, SUITE_NO_INSTANCE, 0, s09_concurrency },
  { "S10", "the binary is sound", 0, SUITE_NO_INSTANCE, 0, s10_binary },
  { "S11", "loading and opening changes nothing of the process", 0, SUITE_NO_INSTANCE, 0, s11_quiet },
  { "S12", "twice gives the same, and two are independent", 0, SUITE_NO_INSTANCE, 0, s12_twice },
  { NULL, NULL, 0, 0, 0, NULL },
};

const struct suite suite_structure = { "structure", clauses, NULL };

/* Every row of the capability table against a whole backend with that one thing missing. */
#include <string.h>

#include "core/registry/table.h"
#include "core/registry/tests/complete.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/string.h"
#include "sdk/base/tests/runner.h"

static struct complete whole;

static void
expect (int refused, const char *want_problems, const char *want_warnings)
{
  BERTH_AUTO_BUFFER struct berth_buffer problems = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer warnings = { 0 };

  CU_ASSERT_EQUAL (complete_check (&whole, NULL, &problems, &warnings), refused ? -1 : 0);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&problems), want_problems);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&warnings), want_warnings);
  if (strcmp (berth_buffer_string (&problems), want_problems) != 0)
    printf ("     got:  %s     want: %s", berth_buffer_string (&problems), want_problems);
}

static void
test_whole (void)
{
  complete_make (&whole);
  expect (0, "", "");
}

static void
test_each_function (void)
{
  unsigned int tried = 0;

  for (uint32_t row = 0; row < berth_rule_count; row++)
    for (uint32_t i = 0; berth_rules[row].group != NULL && berth_rules[row].functions[i].name != NULL; i++)
      {
        const struct berth_rule_row *rule = &berth_rules[row];
        BERTH_AUTO_BUFFER struct berth_buffer want = { 0 };

        complete_make (&whole);
        complete_drop (&whole, row, i);
        /* Two capabilities may promise the same function. */
        for (uint32_t other = row; other < berth_rule_count; other++)
          if (berth_rules[other].functions == rule->functions && !rule->functions[i].optional)
            berth_buffer_appendf (&want, "%s%s: function `%s.%s` is missing: implement it%s\n",
                                  rule->bit != 0 ? "capability " : "required group ", berth_rules[other].name, rule->group,
                                  rule->functions[i].name, rule->bit != 0 ? ", or leave the capability out" : "");
        if (row > 0 && berth_rules[row - 1].functions == rule->functions)
          continue;
        expect (want.size > 0, berth_buffer_string (&want), "");
        tried++;
      }
  CU_ASSERT_EQUAL (tried, 81);
}

static void
drop_group (uint32_t row)
{
  memset ((char *) &whole + offsetof (struct complete, backend) + berth_rules[row].pointer, 0, sizeof (void *));
}

static void
test_each_group (void)
{
  for (uint32_t row = 0; row < berth_rule_count; row++)
    {
      const struct berth_rule_row *rule = &berth_rules[row];
      BERTH_AUTO_BUFFER struct berth_buffer want = { 0 };

      if (rule->group == NULL)
        continue;
      complete_make (&whole);
      drop_group (row);
      if (rule->bit == 0)
        berth_buffer_appendf (&want, "required group %s is missing (`%s` is NULL): implement it\n", rule->name, rule->group);
      for (uint32_t other = 0; rule->bit != 0 && other < berth_rule_count; other++)
        if (berth_string_equal (berth_rules[other].group, rule->group))
          berth_buffer_appendf (
              &want, "capability %s is declared, its group `%s` is missing: implement it, or leave the capability out\n",
              berth_rules[other].name, rule->group);
      expect (1, berth_buffer_string (&want), "");
    }
}

/* A capability that is left out takes its functions with it, and those that stand on it are refused. */
static void
test_each_bit (void)
{
  for (uint32_t row = 0; row < berth_rule_count; row++)
    {
      BERTH_AUTO_BUFFER struct berth_buffer want = { 0 };
      BERTH_AUTO_BUFFER struct berth_buffer problems = { 0 };
      BERTH_AUTO_BUFFER struct berth_buffer warnings = { 0 };
      const struct berth_rule_row *rule = &berth_rules[row];
      struct berth_registered *registered = NULL;

      if (rule->bit == 0 || rule->reserved || rule->group == NULL)
        continue;
      complete_make (&whole);
      whole.backend.capabilities &= ~rule->bit;
      for (uint32_t other = 0; other < berth_rule_count; other++)
        if ((berth_rules[other].needs & rule->bit) != 0)
          berth_buffer_appendf (
              &want, "capability %s needs %s, which is not declared: declare that too, or leave both out\n",
              berth_rules[other].name, rule->name);
      complete_check (&whole, &registered, &problems, &warnings);
      CU_ASSERT_STRING_EQUAL (berth_buffer_string (&problems), berth_buffer_string (&want));
      CU_ASSERT_PTR_NOT_NULL (strstr (berth_buffer_string (&warnings), rule->name));
      CU_ASSERT_EQUAL (registered == NULL, want.size > 0);
      berth_registered_free (registered);
    }
}

static void
test_reserved (void)
{
  complete_make (&whole);
  whole.backend.capabilities |= BERTH_CAP_LSP | BERTH_CAP_GIT;
  expect (1, "capability LSP is reserved and has no functions yet: leave it out\n"
             "capability GIT is reserved and has no functions yet: leave it out\n", "");
}

/* I02: the host's copy has what is declared, function by function, and nothing else. */
static void
test_copy (void)
{
  BERTH_AUTO_BUFFER struct berth_buffer problems = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer warnings = { 0 };
  struct berth_registered *registered = NULL;
  const struct berth_backend *copy;

  complete_make (&whole);
  whole.backend.capabilities = BERTH_CAP_PROCESS_SESSIONS | BERTH_CAP_NETWORK_POLICY;
  CU_ASSERT_EQUAL_FATAL (complete_check (&whole, &registered, &problems, &warnings), 0);
  copy = berth_registered_backend (registered);
  CU_ASSERT_PTR_NOT_NULL (copy->processes->attach);
  CU_ASSERT_PTR_NULL (copy->processes->resize);
  CU_ASSERT_PTR_NOT_NULL (copy->network->read_policy);
  CU_ASSERT_PTR_NULL (copy->network->read_denials);
  CU_ASSERT_PTR_NULL (copy->network_update);
  CU_ASSERT_PTR_NULL (copy->probe);
  CU_ASSERT_PTR_NULL (copy->native);
  CU_ASSERT_PTR_NOT_EQUAL (copy->processes, whole.backend.processes);
  CU_ASSERT_EQUAL (copy->processes->struct_size, sizeof (struct berth_processes_ops));
  memset (&whole, 0xff, sizeof whole);
  CU_ASSERT_STRING_EQUAL (copy->name, "whole");
  CU_ASSERT_PTR_NOT_NULL (copy->processes->attach);
  berth_registered_free (registered);
}

/* A waiting read would lock out its own writer. */
static void
test_concurrency (void)
{
  static const char want[]
      = "capability PROCESS_SESSIONS needs concurrency 1 parallel (got 2): a call that waits would lock out all others: "
        "declare BERTH_PARALLEL\n"
        "capability PTY needs concurrency 1 parallel (got 2): a call that waits would lock out all others: "
        "declare BERTH_PARALLEL\n"
        "capability FILE_WATCH needs concurrency 1 parallel (got 2): a call that waits would lock out all others: "
        "declare BERTH_PARALLEL\n";

  complete_make (&whole);
  whole.backend.concurrency = BERTH_ONE_PER_SANDBOX;
  expect (1, want, "");
}

/* A group of an older minor is shorter: what is beyond its end is not there. */
static void
test_short_group (void)
{
  uint32_t size = offsetof (struct berth_isolated_ops, read_memory_headroom);

  complete_make (&whole);
  for (uint32_t row = 0; row < berth_rule_count; row++)
    if (berth_rules[row].bit == BERTH_CAP_ISOLATED_SESSIONS)
      memcpy (complete_group (&whole, row), &size, sizeof size);
  expect (0, "", "");
  for (uint32_t row = 0; row < berth_rule_count; row++)
    if (berth_rules[row].bit == BERTH_CAP_DIAL)
      {
        size = offsetof (struct berth_dial_ops, dial);
        memcpy (complete_group (&whole, row), &size, sizeof size);
      }
  expect (1, "capability DIAL: function `dial.dial` is missing: implement it, or leave the capability out\n", "");
}

static void
test_null (void)
{
  struct berth_registered *registered = NULL;

  CU_ASSERT_EQUAL (berth_backend_check ("/x/berth-backend-whole.so", NULL, &registered, NULL, NULL, NULL), -1);
  CU_ASSERT_PTR_NULL (registered);
}

/* Each setting rule that no broken backend of its own has. */
static void
expect_setting (const struct berth_setting *setting, const char *want)
{
  complete_make (&whole);
  whole.backend.settings = (struct berth_array) { setting, 1, sizeof *setting };
  expect (want[0] != '\0', want, "");
}

static void
test_settings (void)
{
  struct berth_setting setting = { "socket", "BERTH_WHOLE_SOCKET", "/run/x", "where", NULL, BERTH_SETTING_PATH, 0 };

  expect_setting (&setting, "");
  setting.fallback = "run/x";
  expect_setting (&setting, "setting \"socket\": default \"run/x\" is not valid (want an absolute path without \"..\"): "
                            "correct the default\n");
  setting.fallback = NULL;
  setting.help = "";
  expect_setting (&setting, "setting \"socket\" has no help: say what it does\n");
  setting.help = "where";
  setting.name = "Socket";
  expect_setting (&setting, "setting 0: name \"Socket\" is not valid (want [a-z][a-z0-9_]*, and not \"plugin\"): rename the "
                            "setting\n");
  setting.name = "plugin";
  expect_setting (&setting, "setting 0: name \"plugin\" is not valid (want [a-z][a-z0-9_]*, and not \"plugin\"): rename the "
                            "setting\n");
  setting.name = "socket";
  setting.type = BERTH_SETTING_CHOICE;
  expect_setting (&setting, "setting \"socket\" is a choice without choices: list them as \"a|b|c\"\n");
  setting.choices = "red|blue";
  setting.fallback = "re";
  expect_setting (&setting, "setting \"socket\": default \"re\" is not valid (want red|blue): correct the default\n");
  setting.fallback = "blue";
  setting.flags = 0x80;
  expect_setting (&setting, "setting \"socket\": unknown flags 0x80: leave them out\n");
  setting.flags = BERTH_SETTING_FOREIGN;
  expect_setting (&setting, "setting \"socket\": variable BERTH_WHOLE_SOCKET is flagged foreign and begins with BERTH_: "
                            "leave the flag out\n");
  setting.environment = "DOCKER HOST";
  expect_setting (&setting, "setting \"socket\": \"DOCKER HOST\" cannot name a variable: rename the variable\n");
  setting.environment = "DOCKER_HOST";
  expect_setting (&setting, "");
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "a whole backend is registered", test_whole },
    { "S04 S05 each function of the table", test_each_function },
    { "S04 S05 each group of the table", test_each_group },
    { "S05 S06 each capability left out", test_each_bit },
    { "S06 reserved capabilities", test_reserved },
    { "I02 the copy has what is declared", test_copy },
    { "S05 S09 concurrency of what waits", test_concurrency },
    { "groups of an older minor", test_short_group },
    { "D-155 no table at all", test_null },
    { "S08 settings", test_settings },
    { NULL, NULL },
  };

  return berth_test_main ("check", tests);
}

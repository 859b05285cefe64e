/* Groups and their functions against the capability table. */
#include <stdlib.h>
#include <string.h>

#include "core/registry/check.h"
#include "core/registry/table.h"
#include "sdk/base/cleanup.h"

/* struct_size and the reserved word after it. */
#define GROUP_HEADER 8u

static int
is_wanted (const struct berth_check *check, const struct berth_rule_row *rule)
{
  return rule->bit == 0 || (check->backend->capabilities & rule->bit) != 0;
}

/* Whether the group may be read at all.  A group of several rows is told once. */
static int
is_sane (const struct berth_check *check, const struct berth_rule_row *rule, const void *group, int told)
{
  uint32_t size = berth_group_size (group);

  if (size >= GROUP_HEADER && size <= BERTH_ABI_SIZE_MAX && size % sizeof (void *) == 0)
    return 1;
  if (!told)
    berth_problem (check->problems, "set struct_size to its sizeof",
                   "struct_size of group `%s` is %u (want %u to %u, a multiple of %zu)", rule->group, size, GROUP_HEADER,
                   BERTH_ABI_SIZE_MAX, sizeof (void *));
  return 0;
}

static void
check_declaration (struct berth_check *check, const struct berth_rule_row *rule)
{
  uint64_t lacking = rule->needs & ~check->backend->capabilities;
  BERTH_AUTO_BUFFER struct berth_buffer names = { 0 };

  if (rule->reserved)
    berth_problem (check->problems, "leave it out", "capability %s is reserved and has no functions yet", rule->name);
  if (lacking != 0)
    {
      berth_bits_describe (0, lacking, &names);
      berth_problem (check->problems, "declare that too, or leave both out", "capability %s needs %s, which is not declared",
                     rule->name, berth_buffer_string (&names));
    }
  if (rule->parallel_only && check->backend->concurrency != BERTH_PARALLEL)
    berth_problem (check->problems, "declare BERTH_PARALLEL",
                   "capability %s needs concurrency 1 parallel (got %u): a call that waits would lock out all others",
                   rule->name, check->backend->concurrency);
}

static void
note_undeclared (struct berth_check *check, const struct berth_rule_row *rule, const void *group)
{
  for (const struct berth_function_row *row = rule->functions; row->name != NULL; row++)
    if (berth_group_function (group, row) != NULL)
      {
        berth_problem (check->warnings, "declare the capability, or leave the functions out",
                       "group `%s` has functions of %s, which is not declared: they are never called", rule->group,
                       rule->name);
        return;
      }
}

/* Copies the functions of one row; those that are missing are problems. */
static void
take_functions (struct berth_check *check, const struct berth_rule_row *rule, const void *group, void *copy)
{
  for (const struct berth_function_row *row = rule->functions; row->name != NULL; row++)
    {
      berth_any_function *function = berth_group_function (group, row);

      if (function != NULL)
        memcpy ((char *) copy + row->offset, &function, sizeof function);
      else if (!row->optional)
        berth_problem (check->problems, rule->bit != 0 ? "implement it, or leave the capability out" : "implement it",
                       "%s%s: function `%s.%s` is missing", rule->bit != 0 ? "capability " : "required group ", rule->name,
                       rule->group, row->name);
    }
}

/* The host's copy of the group: zeroed, as large as ours. */
static void *
make_copy (const struct berth_rule_row *rule)
{
  void *copy = calloc (1, rule->size);

  if (copy != NULL)
    memcpy (copy, &rule->size, sizeof rule->size);
  return copy;
}

static int
check_row (struct berth_check *check, const struct berth_backend *theirs, uint32_t index, void **groups)
{
  const struct berth_rule_row *rule = &berth_rules[index];
  uint32_t first = berth_rule_first (index); /* it holds the copy for all rows of its group */
  const void *group = NULL;

  if (is_wanted (check, rule))
    check_declaration (check, rule);
  if (rule->group == NULL)
    return 0;
  if (theirs->abi.struct_size >= rule->pointer + sizeof group)
    group = berth_backend_group (theirs, rule);
  if (group == NULL)
    {
      if (is_wanted (check, rule))
        berth_problem (check->problems, rule->bit != 0 ? "implement it, or leave the capability out" : "implement it",
                       rule->bit != 0 ? "capability %s is declared, its group `%s` is missing"
                                      : "required group %s is missing (`%s` is NULL)",
                       rule->name, rule->group);
      return 0;
    }
  if (!is_sane (check, rule, group, first != index))
    return 0;
  if (!is_wanted (check, rule))
    {
      note_undeclared (check, rule, group);
      return 0;
    }
  if (groups[first] == NULL && (groups[first] = make_copy (rule)) == NULL)
    return -1;
  take_functions (check, rule, group, groups[first]);
  memcpy ((char *) check->backend + rule->pointer, &groups[first], sizeof groups[first]);
  return 0;
}

/* Until a row has copied its group, the host's table must not lead into the plugin's. */
static void
forget_groups (struct berth_backend *backend)
{
  size_t first = offsetof (struct berth_backend, lifecycle);

  memset ((char *) backend + first, 0, sizeof *backend - first);
}

int
berth_check_groups (struct berth_check *check, const struct berth_backend *theirs, void **groups)
{
  forget_groups (check->backend);
  for (uint32_t i = 0; i < berth_rule_count; i++)
    if (check_row (check, theirs, i, groups) < 0)
      return -1;
  return 0;
}

#include "core/registry/tests/complete.h"

#include <string.h>

#include "core/registry/table.h"
#include "sdk/base/tests/runner.h"

static void
be_anything (void)
{
}

void *
complete_group (struct complete *complete, uint32_t row)
{
  return complete->groups[berth_rule_first (row)];
}

static void
fill_row (struct complete *complete, uint32_t row)
{
  const struct berth_rule_row *rule = &berth_rules[row];
  void *group = complete_group (complete, row);
  berth_any_function *function = be_anything;

  CU_ASSERT_TRUE_FATAL (rule->size <= sizeof complete->groups[0]);
  memcpy (group, &rule->size, sizeof rule->size);
  for (const struct berth_function_row *at = rule->functions; at->name != NULL; at++)
    memcpy ((char *) group + at->offset, &function, sizeof function);
  memcpy ((char *) complete + offsetof (struct complete, backend) + rule->pointer, &group, sizeof group);
}

void
complete_make (struct complete *complete)
{
  struct berth_backend *backend = &complete->backend;

  memset (complete, 0, sizeof *complete);
  CU_ASSERT_TRUE_FATAL (berth_rule_count <= sizeof complete->groups / sizeof complete->groups[0]);
  backend->abi = (struct berth_abi) { BERTH_ABI_MAGIC, sizeof *backend, BERTH_ABI_MAJOR, BERTH_ABI_MINOR, 0 };
  backend->name = "whole";
  backend->version = "1";
  backend->summary = "everything";
  backend->concurrency = BERTH_PARALLEL;
  for (uint32_t row = 0; row < berth_rule_count; row++)
    {
      if (!berth_rules[row].reserved)
        backend->capabilities |= berth_rules[row].bit;
      if (berth_rules[row].group != NULL)
        fill_row (complete, row);
    }
}

void
complete_drop (struct complete *complete, uint32_t row, uint32_t function)
{
  memset ((char *) complete_group (complete, row) + berth_rules[row].functions[function].offset, 0, sizeof (void *));
}

struct lines
{
  struct berth_buffer *problems;
  struct berth_buffer *warnings;
};

static void
note_problem (void *context, const char *text)
{
  berth_buffer_appendf (((struct lines *) context)->problems, "%s\n", text);
}

static void
note_warning (void *context, const char *text)
{
  berth_buffer_appendf (((struct lines *) context)->warnings, "%s\n", text);
}

int
complete_check (const struct complete *complete, struct berth_registered **out, struct berth_buffer *problems,
                struct berth_buffer *warnings)
{
  struct lines lines = { problems, warnings };
  struct berth_registered *registered = NULL;
  int result;

  berth_buffer_clear (problems);
  berth_buffer_clear (warnings);
  result = berth_backend_check ("/x/berth-backend-whole.so", &complete->backend, &registered, note_problem, note_warning,
                                &lines);
  if (out != NULL)
    *out = registered;
  else
    berth_registered_free (registered);
  return result;
}

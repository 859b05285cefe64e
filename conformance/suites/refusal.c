#include "conformance/suites/refusal.h"

#include <stdio.h>
#include <string.h>

#include "conformance/suites/run.h"

void
suite_capability_names (uint64_t mask, char *text, size_t size)
{
  size_t used = 0;

  text[0] = '\0';
  for (unsigned int bit = 0; bit < 64; bit++)
    if ((mask & BERTH_CAP (bit)) != 0 && used < size)
      {
        const char *name = berth_capability_name (BERTH_CAP (bit));

        used += (size_t) snprintf (text + used, size - used, "%s%s", used > 0 ? " " : "", name != NULL ? name : "?");
      }
}

/* A group may serve several capabilities; it is there when one of them is. */
static bool
group_is_declared (struct suite_context *suite, const char *group)
{
  uint64_t have = berth_instance_capabilities (suite->instance);

  for (uint32_t i = 0; i < berth_rule_count; i++)
    if (berth_rules[i].group != NULL && strcmp (berth_rules[i].group, group) == 0
        && (berth_rules[i].bit == 0 || (berth_rules[i].bit & have) != 0))
      return true;
  return false;
}

static void
check_group (struct suite_context *suite, const struct berth_rule_row *rule)
{
  const void *group;

  memcpy (&group, (const char *) suite->backend + rule->pointer, sizeof group);
  SUITE_CHECK (suite, group == NULL || group_is_declared (suite, rule->group),
               "%s is not declared, and the host would still call its group %s", rule->name, rule->group);
}

static void
check_spec (struct suite_context *suite, uint64_t missing)
{
  static const struct berth_rule rules[] = { { BERTH_ALLOW, BERTH_TARGET_HOST, "example.org", 443, 443 } };
  struct suite_box *box = suite_box_new (suite);
  struct suite_plan plan;
  const char *what;

  suite_plan_init (&plan, box);
  if (missing == BERTH_CAP_GPU)
    {
      what = "a GPU";
      plan.spec.gpu = "any";
      plan.spec.asks |= BERTH_SPEC_GPU;
      plan.spec.must |= BERTH_SPEC_GPU;
    }
  else if (missing == BERTH_CAP_NETWORK_RULES)
    {
      what = "rules of the network";
      plan.policy.rules = (struct berth_array) BERTH_ARRAY (rules);
      plan.spec.must |= BERTH_SPEC_NETWORK;
    }
  else
    return;
  SUITE_CHECK_CODE (suite, what, suite_box_validate (box, &plan.spec, NULL), BERTH_E_CAPABILITY_NOT_SUPPORTED);
  SUITE_CHECK_CODE (suite, what, suite_box_create (box, &plan.spec), BERTH_E_CAPABILITY_NOT_SUPPORTED);
  SUITE_CHECK (suite, suite_count (suite, NULL) == 0, "%s was refused, and something is there", what);
}

void
suite_check_refusal (struct suite_context *suite, uint64_t missing)
{
  for (uint32_t i = 0; i < berth_rule_count; i++)
    if (berth_rules[i].bit != 0 && (berth_rules[i].bit & missing) != 0)
      {
        if (berth_rules[i].group != NULL)
          check_group (suite, &berth_rules[i]);
        check_spec (suite, berth_rules[i].bit);
      }
}

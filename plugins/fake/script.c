/* script.c - commands that the test itself scripts.
 *
 * The setting `script` (or the file `script` of the state directory, which goes before it) names a
 * JSON file: an array of rules, the first that matches decides.
 *
 *   { "argv": ["git", "*", "..."], "stdout": "text", "stderr": "text", "delay_ms": 100,
 *     "repeat": 1000, "exit": 3, "signal": 9, "reason": "oom",
 *     "steps": [ { "delay_ms": 50, "stdout": "more" } ] }
 *
 * In argv "*" is any one argument and a last "..." any that follow.  Texts that are no UTF-8 are
 * written {"base64": "..."}.  The steps come after the rule's own output. */
#include <fcntl.h>
#include <unistd.h>

#include "plugins/fake/outcome.h"
#include "sdk/base/string.h"

static int
rule_matches (const struct berth_json *rule, const char *const *arguments, size_t count)
{
  struct berth_json *patterns = berth_json_get (rule, "argv");
  size_t length = berth_json_length (patterns);

  for (size_t i = 0; i < length; i++)
    {
      const char *pattern = berth_json_string (berth_json_at (patterns, i));

      if (pattern == NULL)
        return 0;
      if (i + 1 == length && strcmp (pattern, "...") == 0)
        return 1;
      if (i >= count || (strcmp (pattern, "*") != 0 && strcmp (pattern, arguments[i]) != 0))
        return 0;
    }
  return length == count;
}

static int
add_text (struct fake_outcome *outcome, uint32_t stream, const struct berth_json *text, uint64_t repeat)
{
  BERTH_AUTO_BUFFER struct berth_buffer bytes = { 0 };

  if (text == NULL)
    return 0;
  if (berth_json_to_bytes (text, &bytes) < 0)
    return -1;
  return fake_outcome_add (outcome, stream, berth_buffer_string (&bytes), bytes.size, repeat);
}

static int
add_step (struct fake_outcome *outcome, const struct berth_json *step)
{
  int64_t repeat = fake_number (step, "repeat");

  outcome->delay_ms += fake_number (step, "delay_ms");
  if (repeat <= 0)
    repeat = 1;
  if (add_text (outcome, BERTH_STDOUT, berth_json_get (step, "stdout"), (uint64_t) repeat) < 0)
    return -1;
  return add_text (outcome, BERTH_STDERR, berth_json_get (step, "stderr"), (uint64_t) repeat);
}

static int
fill_outcome (const struct berth_json *rule, struct fake_outcome *outcome)
{
  struct berth_json *steps = berth_json_get (rule, "steps");
  const char *reason = fake_text (rule, "reason");

  if (add_step (outcome, rule) < 0)
    return -1;
  for (size_t i = 0; i < berth_json_length (steps); i++)
    if (add_step (outcome, berth_json_at (steps, i)) < 0)
      return -1;
  outcome->code = (int32_t) fake_number (rule, "exit");
  outcome->signal = (int32_t) fake_number (rule, "signal");
  if (outcome->signal != 0)
    outcome->reason = BERTH_SIGNALLED;
  if (berth_string_equal (reason, "oom"))
    outcome->reason = BERTH_OUT_OF_MEMORY;
  return 0;
}

int
fake_script_match (struct berth_call *call, struct berth_state *state, const char *const *arguments, size_t count,
                   struct fake_outcome *outcome)
{
  BERTH_AUTO_JSON struct berth_json *rules = fake_json_load (state->directory, "script");

  if (rules == NULL && errno == ENOENT)
    {
      if (state->script == NULL)
        return 0;
      rules = fake_json_load (AT_FDCWD, state->script);
    }
  if (rules == NULL)
    return call->services->fail (call, BERTH_E_CONFIGURATION, "setting `script`: cannot read %s: %s",
                                 state->script != NULL ? state->script : "the file of the state directory",
                                 errno == EINVAL ? "not JSON" : strerror (errno));
  for (size_t i = 0; i < berth_json_length (rules); i++)
    if (rule_matches (berth_json_at (rules, i), arguments, count))
      return fill_outcome (berth_json_at (rules, i), outcome) < 0
                 ? call->services->fail (call, BERTH_E_CONFIGURATION, "setting `script`: rule %zu has a malformed text",
                                         i + 1)
                 : 1;
  return 0;
}

/* What makes two requests the same. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "core/manager/spec.h"
#include "sdk/base/buffer.h"

/* NULL and "" are different things; no text runs into the next. */
static void
add_text (struct berth_buffer *text, const char *value)
{
  if (value == NULL)
    berth_buffer_append_string (text, "-;");
  else
    berth_buffer_appendf (text, "%zu:%s;", strlen (value), value);
}

static void
add_pairs (struct berth_buffer *text, const struct berth_pair *pairs, uint64_t count)
{
  berth_buffer_appendf (text, "%" PRIu64 "[", count);
  for (uint64_t i = 0; i < count; i++)
    {
      bool secret = (pairs[i].flags & BERTH_PAIR_SECRET) != 0;
      add_text (text, pairs[i].name);
      add_text (text, secret ? NULL : pairs[i].value);
    }
}

static void
add_network (struct berth_buffer *text, const struct berth_policy *policy)
{
  struct berth_rule rule;

  berth_buffer_appendf (text, "%" PRIu32 "[", policy->default_action);
  for (uint32_t i = 0; berth_item (&policy->rules, i, &rule, sizeof rule); i++)
    {
      berth_buffer_appendf (text, "%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",", rule.action, rule.target_kind,
                            rule.port_low, rule.port_high);
      add_text (text, rule.target);
    }
}

/* An environment counts as what it says, which is among the options by now. */
_Static_assert (offsetof (struct berth_create_options, idle_resume) + sizeof (uint32_t) == sizeof (struct berth_create_options),
                "a new option makes another request: add it here, then move this to it");

int64_t
berth_wish_hash (const struct berth_wish *wish, const char *backend)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  const struct berth_create_options *options = &wish->options;
  const int64_t numbers[] = { (int64_t) (wish->spec.asks & ~BERTH_SPEC_PIN),
                              (int64_t) wish->spec.must,
                              options->minimum_tier,
                              options->memory_bytes,
                              options->cpu_milli,
                              options->pids,
                              options->disk_bytes,
                              options->tmp_bytes,
                              options->shm_bytes,
                              options->file_size_bytes,
                              options->open_files,
                              options->ttl_ms,
                              options->owned,
                              options->forbid_root,
                              options->best_effort,
                              options->user_namespaces };

  add_text (&text, backend);
  add_text (&text, options->name);
  add_text (&text, options->image);
  add_text (&text, options->user);
  add_text (&text, options->snapshot);
  add_pairs (&text, options->environment, options->environment_count);
  add_pairs (&text, options->labels, options->label_count);
  add_network (&text, &wish->network);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    berth_buffer_appendf (&text, "%" PRId64 ",", numbers[i]);
  /* nothing where nothing is said, as before there was anything to say */
  if (options->idle_action != 0)
    berth_buffer_appendf (&text, "idle %" PRIu32 ",%" PRId64 ",%" PRIu32, options->idle_action, options->idle_ms,
                          options->idle_resume);
  int64_t hash = (int64_t) berth_id_hash (berth_buffer_string (&text));
  return hash != 0 ? hash : 1;
}

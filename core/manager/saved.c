/* A specification as lines on record, and back. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "core/manager/environment.h"
#include "sdk/base/string.h"

enum item
{
  FIELD = 1,
  VARIABLE = 2,
  SECRET = 3, /* without a value */
  LABEL = 4,
  RULE = 5
};

#define SESSIONS "sessions"
#define NETWORK "network"

/* ---- the fields of the options ---- */

enum width
{
  TEXT,
  NUMBER, /* int64_t, BERTH_UNSET: not given */
  WORD    /* uint32_t, 0: not given */
};

static const struct field
{
  const char *name;
  enum width width;
  size_t offset;
} fields[] = {
#define MEMBER(width, member) { #member, width, offsetof (struct berth_create_options, member) }
  MEMBER (TEXT, backend),        MEMBER (TEXT, image),        MEMBER (TEXT, user),         MEMBER (TEXT, snapshot),
  MEMBER (NUMBER, memory_bytes), MEMBER (NUMBER, cpu_milli),  MEMBER (NUMBER, pids),       MEMBER (NUMBER, disk_bytes),
  MEMBER (NUMBER, tmp_bytes),    MEMBER (NUMBER, open_files), MEMBER (NUMBER, ttl_ms),     MEMBER (NUMBER, timeout_ms),
  MEMBER (NUMBER, shm_bytes),    MEMBER (NUMBER, file_size_bytes), MEMBER (NUMBER, idle_ms),
  MEMBER (WORD, idle_action),    MEMBER (WORD, idle_resume),
  MEMBER (WORD, minimum_tier),   MEMBER (WORD, forbid_root),  MEMBER (WORD, best_effort),  MEMBER (WORD, user_namespaces),
#undef MEMBER
};
#define FIELDS (sizeof fields / sizeof *fields)
_Static_assert (offsetof (struct berth_create_options, idle_resume) + sizeof (uint32_t) == sizeof (struct berth_create_options),
                "a new option is saved too: add it here, then move this to it");

static void *
slot (const struct berth_create_options *options, const struct field *field)
{
  return (char *) options + field->offset;
}

static bool
is_given (const struct berth_create_options *options, const struct field *field)
{
  const void *at = slot (options, field);

  return field->width == TEXT     ? *(const char *const *) at != NULL
         : field->width == NUMBER ? *(const int64_t *) at != BERTH_UNSET
                                  : *(const uint32_t *) at != 0;
}

static void
copy_field (struct berth_create_options *to, const struct berth_create_options *from, const struct field *field)
{
  memcpy (slot (to, field), slot (from, field),
          field->width == TEXT ? sizeof (char *) : field->width == NUMBER ? sizeof (int64_t) : sizeof (uint32_t));
}

/* ---- writing ---- */

static int
add_number (struct berth_environment_record *record, const char *name, int64_t value)
{
  char text[32];

  snprintf (text, sizeof text, "%" PRId64, value);
  return berth_environment_record_add (record, FIELD, name, text);
}

static int
add_field (struct berth_environment_record *record, const struct berth_create_options *options,
           const struct field *field)
{
  const void *at = slot (options, field);

  if (!is_given (options, field))
    return 0;
  return field->width == TEXT
             ? berth_environment_record_add (record, FIELD, field->name, *(const char *const *) at)
             : add_number (record, field->name,
                           field->width == NUMBER ? *(const int64_t *) at : *(const uint32_t *) at);
}

static int
add_pairs (struct berth_environment_record *record, enum item kind, const struct berth_pair *pairs, uint64_t count)
{
  int result = 0;

  for (uint64_t i = 0; i < count && result == 0; i++)
    {
      bool secret = (pairs[i].flags & BERTH_PAIR_SECRET) != 0;
      result = berth_environment_record_add (record, secret ? SECRET : kind, pairs[i].name,
                                             secret ? NULL : pairs[i].value);
    }
  return result;
}

static int
add_network (struct berth_environment_record *record, const struct berth_policy *policy)
{
  struct berth_rule rule;
  int result = policy != NULL ? add_number (record, NETWORK, policy->default_action) : 0;

  for (uint32_t i = 0; policy != NULL && result == 0 && berth_item (&policy->rules, i, &rule, sizeof rule); i++)
    {
      char text[64];
      snprintf (text, sizeof text, "%" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32, rule.action, rule.target_kind,
                rule.port_low, rule.port_high);
      result = berth_environment_record_add (record, RULE, rule.target != NULL ? rule.target : "", text);
    }
  return result;
}

int
berth_saved_describe (const struct berth_create_options *options, uint32_t sessions,
                      struct berth_environment_record *record)
{
  for (size_t i = 0; i < FIELDS; i++)
    if (add_field (record, options, &fields[i]) != 0)
      return -1;
  return add_pairs (record, VARIABLE, options->environment, options->environment_count) != 0
                 || add_pairs (record, LABEL, options->labels, options->label_count) != 0
                 || add_network (record, options->network) != 0
                 || (sessions != 0 && add_number (record, SESSIONS, sessions) != 0)
             ? -1
             : 0;
}

/* ---- reading ---- */

static void
read_field (struct berth_saved *saved, const struct berth_environment_item *item)
{
  int64_t number = 0;

  (void) berth_string_to_int64 (item->value, INT64_MIN, INT64_MAX, &number);
  if (strcmp (item->name, SESSIONS) == 0)
    saved->sessions = (uint32_t) number;
  else if (strcmp (item->name, NETWORK) == 0)
    {
      saved->network.default_action = (uint32_t) number;
      saved->options.network = &saved->network;
    }
  for (size_t i = 0; i < FIELDS; i++)
    if (strcmp (fields[i].name, item->name) == 0)
      {
        void *at = slot (&saved->options, &fields[i]);
        if (fields[i].width == TEXT)
          *(const char **) at = item->value;
        else if (fields[i].width == NUMBER)
          *(int64_t *) at = number;
        else
          *(uint32_t *) at = (uint32_t) number;
      }
}

static void
read_rule (struct berth_saved *saved, const struct berth_environment_item *item)
{
  struct berth_rule *rule = &saved->rules[saved->network.rules.count++];

  *rule = (struct berth_rule) { .target = item->name[0] != '\0' ? item->name : NULL };
  if (item->value != NULL)
    (void) sscanf (item->value, "%" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu32, &rule->action, &rule->target_kind,
                   &rule->port_low, &rule->port_high);
}

static void
read_item (struct berth_saved *saved, const struct berth_environment_item *item)
{
  struct berth_create_options *options = &saved->options;

  if (item->kind == FIELD && item->value != NULL)
    read_field (saved, item);
  else if (item->kind == RULE)
    read_rule (saved, item);
  else if (item->kind == LABEL)
    saved->labels[options->label_count++] = (struct berth_pair) { item->name, item->value, 0, 0 };
  else if (item->kind == VARIABLE || item->kind == SECRET)
    saved->variables[options->environment_count++]
        = (struct berth_pair) { item->name, item->value, item->kind == SECRET ? BERTH_PAIR_SECRET : 0, 0 };
}

int
berth_saved_load (struct berth_host *host, const char *name, struct berth_saved *out, struct berth_error *error)
{
  *out = (struct berth_saved) { .options = BERTH_CREATE_OPTIONS_INIT, .network = { .struct_size = sizeof out->network } };
  if (berth_store_load_environment (host->store, host->owner, name, &out->record, error) != 0)
    return -1;
  size_t room = out->record.count + 1;
  out->rules = calloc (room, sizeof *out->rules);
  out->variables = calloc (room, sizeof *out->variables);
  out->labels = calloc (room, sizeof *out->labels);
  if (out->rules == NULL || out->variables == NULL || out->labels == NULL)
    return berth_no_memory (error);
  for (size_t i = 0; i < out->record.count; i++)
    read_item (out, &out->record.items[i]);
  out->network.rules.first = out->rules;
  out->network.rules.stride = sizeof *out->rules;
  out->options.environment = out->variables;
  out->options.labels = out->labels;
  return 0;
}

void
berth_saved_clear (struct berth_saved *saved)
{
  berth_environment_record_clear (&saved->record);
  free (saved->rules);
  free (saved->variables);
  free (saved->labels);
  *saved = (struct berth_saved) { 0 };
}

/* ---- using it ---- */

static bool
has_name (const struct berth_pair *pairs, uint64_t count, const char *name)
{
  for (uint64_t i = 0; i < count; i++)
    if (pairs[i].name != NULL && strcmp (pairs[i].name, name) == 0)
      return true;
  return false;
}

/* Those of SAVED that GIVEN does not name, then all of GIVEN, in an array that takes the place of SAVED. */
static int
merge_pairs (struct berth_pair **saved, uint64_t saved_count, const struct berth_pair **given, uint64_t *given_count)
{
  struct berth_pair *merged = calloc (saved_count + *given_count + 1, sizeof *merged);
  uint64_t count = 0;

  if (merged == NULL)
    return -1;
  for (uint64_t i = 0; i < saved_count; i++)
    if (!has_name (*given, *given_count, (*saved)[i].name))
      merged[count++] = (*saved)[i];
  for (uint64_t i = 0; i < *given_count; i++)
    merged[count++] = (*given)[i];
  free (*saved);
  *given = *saved = merged;
  *given_count = count;
  return 0;
}

int
berth_saved_apply (struct berth_saved *saved, struct berth_create_options *options, struct berth_error *error)
{
  for (size_t i = 0; i < FIELDS; i++)
    if (!is_given (options, &fields[i]))
      copy_field (options, &saved->options, &fields[i]);
  if (options->network == NULL)
    options->network = saved->options.network;
  if (merge_pairs (&saved->variables, saved->options.environment_count, &options->environment,
                   &options->environment_count)
          != 0
      || merge_pairs (&saved->labels, saved->options.label_count, &options->labels, &options->label_count) != 0)
    return berth_no_memory (error);
  for (uint64_t i = 0; i < options->environment_count; i++)
    if ((options->environment[i].flags & BERTH_PAIR_SECRET) != 0 && options->environment[i].value == NULL)
      {
        berth_error_set (error, BERTH_E_INVALID_REQUEST, "environment %s: the secret %s is not given",
                         saved->record.name, options->environment[i].name);
        berth_error_hint (error, "give it anew each time, `--secret %s`: its value is never stored",
                          options->environment[i].name);
        return -1;
      }
  return 0;
}

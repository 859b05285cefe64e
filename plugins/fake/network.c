/* network.c - policies: kept, checked, and asked by the builtin `connect`. */
#include <arpa/inet.h>

#include "plugins/fake/fake.h"
#include "sdk/base/string.h"

#define DENIALS_MAX 1000

/* --- checking and keeping -------------------------------------------------------------------------------- */

static int
check_rule (struct berth_call *call, const struct berth_rule *rule, uint32_t index)
{
  if (rule->action != BERTH_DENY && rule->action != BERTH_ALLOW)
    return call->services->fail (call, BERTH_E_INVALID_REQUEST, "network rule %u: unknown action %u", index + 1,
                                 rule->action);
  if (rule->target_kind < BERTH_TARGET_HOST || rule->target_kind > BERTH_TARGET_ANY)
    return call->services->fail (call, BERTH_E_INVALID_REQUEST, "network rule %u: unknown kind of target %u",
                                 index + 1, rule->target_kind);
  if (rule->target_kind != BERTH_TARGET_ANY && (rule->target == NULL || *rule->target == '\0'))
    return call->services->fail (call, BERTH_E_INVALID_REQUEST, "network rule %u: no target", index + 1);
  if (rule->port_low > rule->port_high || rule->port_high > 65535)
    return call->services->fail (call, BERTH_E_INVALID_REQUEST, "network rule %u: ports %u to %u", index + 1,
                                 rule->port_low, rule->port_high);
  return 0;
}

int
fake_policy_check (struct berth_call *call, struct berth_state *state, const struct berth_policy *policy)
{
  struct berth_rule rule;

  if (BERTH_REFUSE_UNKNOWN (call, POLICY, policy->asks, BERTH_POLICY_KNOWN_1_0) < 0)
    return -1;
  if (policy->default_action < BERTH_DENY || policy->default_action > BERTH_LEARN)
    return call->services->fail (call, BERTH_E_INVALID_REQUEST, "network: unknown default action %u",
                                 policy->default_action);
  if (policy->default_action != BERTH_ALLOW
      && fake_needs (call, state, BERTH_CAP_NETWORK_POLICY, "NETWORK_POLICY") < 0)
    return -1;
  if ((policy->rules.count > 0 || policy->default_action == BERTH_LEARN)
      && fake_needs (call, state, BERTH_CAP_NETWORK_RULES, "NETWORK_RULES") < 0)
    return -1;
  if ((policy->asks & BERTH_POLICY_RUN_TIME) != 0
      && fake_needs (call, state, BERTH_CAP_NETWORK_UPDATE, "NETWORK_UPDATE") < 0)
    return -1;
  for (uint32_t i = 0; berth_item (&policy->rules, i, &rule, sizeof rule); i++)
    if (check_rule (call, &rule, i) < 0)
      return -1;
  return 0;
}

static struct berth_json *
rule_to_json (const struct berth_rule *rule)
{
  BERTH_AUTO_JSON struct berth_json *json = berth_json_new_object ();

  if (berth_json_set_int64 (json, "action", rule->action) < 0
      || berth_json_set_int64 (json, "kind", rule->target_kind) < 0
      || berth_json_set_int64 (json, "low", rule->port_low) < 0
      || berth_json_set_int64 (json, "high", rule->port_high) < 0
      || (rule->target != NULL && berth_json_set_string (json, "target", rule->target) < 0))
    return NULL;
  return BERTH_STEAL_POINTER (json);
}

struct berth_json *
fake_policy_to_json (const struct berth_policy *policy)
{
  BERTH_AUTO_JSON struct berth_json *json = berth_json_new_object ();
  struct berth_json *rules = berth_json_new_array ();
  struct berth_rule rule;

  if (berth_json_set (json, "rules", rules) < 0
      || berth_json_set_int64 (json, "default", policy != NULL ? policy->default_action : BERTH_DENY) < 0
      || berth_json_set_int64 (json, "asks", policy != NULL ? (int64_t) policy->asks : 0) < 0)
    return NULL;
  for (uint32_t i = 0; policy != NULL && berth_item (&policy->rules, i, &rule, sizeof rule); i++)
    if (berth_json_append (rules, rule_to_json (&rule)) < 0)
      return NULL;
  return BERTH_STEAL_POINTER (json);
}

static void
rule_from_json (const struct berth_json *json, struct berth_rule *rule)
{
  *rule = (struct berth_rule) { .action = (uint32_t) fake_number (json, "action"),
                                .target_kind = (uint32_t) fake_number (json, "kind"),
                                .target = fake_text (json, "target"),
                                .port_low = (uint32_t) fake_number (json, "low"),
                                .port_high = (uint32_t) fake_number (json, "high") };
}

/* --- deciding ------------------------------------------------------------------------------------------------ */

static int
parse_address (const char *text, unsigned char address[16])
{
  if (inet_pton (AF_INET, text, address) == 1)
    return 4;
  return inet_pton (AF_INET6, text, address) == 1 ? 16 : 0;
}

static int
cidr_has (const char *cidr, const char *host)
{
  const char *slash = strchr (cidr, '/');
  BERTH_AUTO_FREE char *network = strndup (cidr, slash != NULL ? (size_t) (slash - cidr) : strlen (cidr));
  unsigned char want[16];
  unsigned char got[16];
  int size = network != NULL ? parse_address (network, want) : 0;
  int64_t bits = size * 8;

  if (size == 0 || parse_address (host, got) != size
      || (slash != NULL && berth_string_to_int64 (slash + 1, 0, size * 8, &bits) < 0))
    return 0;
  for (int i = 0; i < bits; i++)
    if (((want[i / 8] ^ got[i / 8]) & 128 >> i % 8) != 0)
      return 0;
  return 1;
}

static int
rule_matches (const struct berth_rule *rule, const char *host, size_t size, uint32_t port)
{
  size_t target = rule->target != NULL ? strlen (rule->target) : 0;

  if (rule->port_high != 0 && (port < rule->port_low || port > rule->port_high))
    return 0;
  switch (rule->target_kind)
    {
    case BERTH_TARGET_HOST:
      return size == target && strncasecmp (host, rule->target, size) == 0;
    case BERTH_TARGET_WILDCARD: /* "*.example.org" has ".example.org" at the end, and more before */
      return target > 1 && size > target - 1
             && strncasecmp (host + size - (target - 1), rule->target + 1, target - 1) == 0;
    case BERTH_TARGET_CIDR:
      return cidr_has (rule->target, host);
    default:
      return rule->target_kind == BERTH_TARGET_ANY;
    }
}

static void
record_denial (struct fake_box *box, const char *host, uint32_t port, const char *rule)
{
  struct berth_json *denials = berth_json_get (box->record, "denials");
  BERTH_AUTO_JSON struct berth_json *denial = berth_json_new_object ();

  if (denials == NULL)
    {
      if (berth_json_set (box->record, "denials", berth_json_new_array ()) < 0)
        return;
      denials = berth_json_get (box->record, "denials");
    }
  if (berth_json_length (denials) >= DENIALS_MAX || berth_json_set_string (denial, "host", host) < 0
      || berth_json_set_int64 (denial, "port", port) < 0 || berth_json_set_string (denial, "rule", rule) < 0
      || berth_json_set_int64 (denial, "time", fake_now_ms (box->state)) < 0)
    return;
  (void) berth_json_append (denials, berth_json_share (denial));
  (void) fake_json_save (box->directory, "record.json", box->record);
}

int
fake_policy_admits (struct fake_box *box, const char *host, uint32_t port)
{
  struct berth_json *network = berth_json_get (box->record, "network");
  struct berth_json *rules = berth_json_get (network, "rules");
  size_t size = strlen (host);
  char decided[128] = "default: deny";
  uint32_t action = (uint32_t) fake_number (network, "default");

  if (size > 0 && host[size - 1] == '.')
    size--;
  for (size_t i = 0; i < berth_json_length (rules); i++)
    {
      struct berth_rule rule;

      rule_from_json (berth_json_at (rules, i), &rule);
      if (!rule_matches (&rule, host, size, port))
        continue;
      action = rule.action;
      snprintf (decided, sizeof decided, "rule %zu: deny %s", i + 1, rule.target != NULL ? rule.target : "any");
      break;
    }
  if (action == BERTH_ALLOW || action == BERTH_LEARN)
    return 1;
  record_denial (box, host, port, decided);
  return 0;
}

/* --- the groups ------------------------------------------------------------------------------------------- */

/* The fake needs no egress of its own, so the wish itself is the answer. */
static int
fake_admit (struct berth_call *call, struct berth_state *state, const struct berth_policy *wanted,
            const struct berth_policy_sink *sink)
{
  if (fake_needs (call, state, BERTH_CAP_NETWORK_POLICY, "NETWORK_POLICY") < 0
      || fake_point (call, state, "network.admit_runtime_egress") < 0 || fake_policy_check (call, state, wanted) < 0)
    return -1;
  return sink->policy (sink->context, wanted);
}

static int
fake_read_policy (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
                  const struct berth_policy_sink *sink)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  BERTH_AUTO_JSON struct berth_json *network = NULL;
  BERTH_AUTO_FREE struct berth_rule *list = NULL;
  struct berth_policy policy = { .struct_size = sizeof policy };
  struct berth_json *rules;

  if (fake_needs (call, state, BERTH_CAP_NETWORK_POLICY, "NETWORK_POLICY") < 0
      || fake_point (call, state, "network.read_policy") < 0 || fake_box_for_native (call, state, native, &box) < 0)
    return -1;
  network = berth_json_share (berth_json_get (box.record, "network"));
  fake_box_close (&box);
  rules = berth_json_get (network, "rules");
  list = calloc (berth_json_length (rules) + 1, sizeof *list);
  if (list == NULL)
    return fake_failed (call, "read a policy");
  for (size_t i = 0; i < berth_json_length (rules); i++)
    rule_from_json (berth_json_at (rules, i), &list[i]);
  policy.default_action = (uint32_t) fake_number (network, "default");
  policy.asks = (uint64_t) fake_number (network, "asks");
  policy.rules = (struct berth_array) { list, (uint32_t) berth_json_length (rules), sizeof *list };
  return sink->policy (sink->context, &policy);
}

static int
fake_read_denials (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
                   uint64_t after_sequence, const struct berth_denial_sink *sink)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  BERTH_AUTO_JSON struct berth_json *denials = NULL;

  if (fake_needs (call, state, BERTH_CAP_NETWORK_RULES, "NETWORK_RULES") < 0
      || fake_point (call, state, "network.read_denials") < 0 || fake_box_for_native (call, state, native, &box) < 0)
    return -1;
  denials = berth_json_share (berth_json_get (box.record, "denials"));
  fake_box_close (&box);
  for (size_t i = (size_t) after_sequence; i < berth_json_length (denials); i++)
    {
      struct berth_json *json = berth_json_at (denials, i);
      struct berth_denial denial = { .struct_size = sizeof denial,
                                     .port = (uint32_t) fake_number (json, "port"),
                                     .sequence = i + 1,
                                     .count = 1,
                                     .host = fake_text (json, "host"),
                                     .rule = fake_text (json, "rule"),
                                     .wall_ms = fake_number (json, "time") };

      if (sink->denial (sink->context, &denial) < 0)
        return -1;
    }
  return 0;
}

static int
fake_update_policy (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
                    const struct berth_policy *policy)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;

  if (fake_needs (call, state, BERTH_CAP_NETWORK_UPDATE, "NETWORK_UPDATE") < 0
      || fake_point (call, state, "network_update.update_policy") < 0 || fake_policy_check (call, state, policy) < 0
      || fake_box_for_native (call, state, native, &box) < 0)
    return -1;
  if (berth_json_set (box.record, "network", fake_policy_to_json (policy)) < 0)
    return fake_failed (call, "keep a policy");
  return fake_box_save (call, &box);
}

static int
check_vault (struct berth_call *call, struct fake_box *box, const struct berth_vault *vault)
{
  struct berth_binding binding;

  for (uint32_t i = 0; berth_item (&vault->bindings, i, &binding, sizeof binding); i++)
    {
      if (binding.value != NULL)
        call->services->redact (call->instance, binding.value, strlen (binding.value));
      if (!fake_policy_admits (box, binding.host, 443))
        return call->services->fail (call, BERTH_E_POLICY_DENIED, "a credential for %s, which the network policy denies",
                                     binding.host);
    }
  return 0;
}

/* Hosts and headers are kept, values not: nothing ever sends them. */
static int
fake_apply_vault (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
                  const struct berth_vault *vault)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  struct berth_json *kept = berth_json_new_object ();
  struct berth_binding binding;

  if (fake_needs (call, state, BERTH_CAP_EGRESS_CREDENTIALS, "EGRESS_CREDENTIALS") < 0
      || BERTH_REFUSE_UNKNOWN (call, VAULT, vault->asks, 0) < 0
      || fake_point (call, state, "credentials.apply_vault") < 0 || fake_box_for_native (call, state, native, &box) < 0
      || check_vault (call, &box, vault) < 0)
    {
      berth_json_free (kept);
      return -1;
    }
  if (berth_json_set (box.record, "vault", kept) < 0)
    return fake_failed (call, "keep a vault");
  for (uint32_t i = 0; berth_item (&vault->bindings, i, &binding, sizeof binding); i++)
    if (berth_json_set_string (kept, binding.host, binding.header) < 0)
      return fake_failed (call, "keep a vault");
  return fake_box_save (call, &box);
}

const struct berth_network_ops fake_network = {
  .struct_size = sizeof fake_network,
  .admit_runtime_egress = fake_admit,
  .read_policy = fake_read_policy,
  .read_denials = fake_read_denials,
};

const struct berth_network_update_ops fake_network_update = {
  .struct_size = sizeof fake_network_update,
  .update_policy = fake_update_policy,
};

const struct berth_credentials_ops fake_credentials = {
  .struct_size = sizeof fake_credentials,
  .apply_vault = fake_apply_vault,
};

/* N03 to N11: rules of the network, and ports. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "conformance/suites/platform.h"
#include "conformance/suites/tool.h"
#include "sdk/base/clock.h"
#include "sdk/base/fd.h"
#include "sdk/base/string.h"

#define OPEN_PORT 8080
#define CLOSED_PORT 1

/* ---- NETWORK_RULES ---- */

static const struct berth_rule rules[] = {
  { BERTH_DENY, BERTH_TARGET_HOST, "no.example.org", 0, 0 },
  { BERTH_ALLOW, BERTH_TARGET_HOST, "example.org", 80, 443 },
  { BERTH_ALLOW, BERTH_TARGET_WILDCARD, "*.example.org", 0, 0 },
  { BERTH_ALLOW, BERTH_TARGET_CIDR, "192.0.2.0/28", 0, 0 },
};

static bool
is_allowed (struct suite_box *box, const char *host, const char *port)
{
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };

  suite_argv (box, &ran, (const char *const[]) { "connect", host, port, NULL });
  return suite_ran_printed (&ran, "connected\n");
}

static struct suite_box *
make_with_rules (struct suite_context *suite)
{
  struct suite_box *box = suite_box_new (suite);
  struct suite_plan plan;

  suite_plan_init (&plan, box);
  plan.policy.default_action = BERTH_DENY;
  plan.policy.rules = (struct berth_array) BERTH_ARRAY (rules);
  plan.spec.must |= BERTH_SPEC_NETWORK;
  SUITE_CHECK_CODE (suite, "create with rules", suite_box_create (box, &plan.spec), 0);
  SUITE_REQUIRE (suite, box->handle != NULL, "no handle");
  if ((suite->backend->flags & BERTH_BACKEND_EXECUTES_NOTHING) == 0)
    suite_skip (suite, "whom a program reaches by name needs servers of those names");
  return box;
}

void
suite_n03 (struct suite_context *suite)
{
  static const struct
  {
    const char *host, *port;
    bool allowed;
  } cases[] = {
    { "example.org", "80", true },     { "EXAMPLE.org", "443", true },    { "example.org.", "80", true },
    { "example.org", "8080", false },  { "www.example.org", "22", true }, { "no.example.org", "80", false },
    { "badexample.org", "80", false }, { "example.com", "80", false },    { "192.0.2.15", "80", true },
    { "192.0.2.16", "80", false },     { "169.254.169.254", "80", false },
  };
  struct suite_box *box = make_with_rules (suite);

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    SUITE_CHECK (suite, is_allowed (box, cases[i].host, cases[i].port) == cases[i].allowed, "%s port %s is %s", cases[i].host,
                 cases[i].port, cases[i].allowed ? "denied" : "allowed");
}

struct denials
{
  unsigned int count;
  uint64_t last;
  bool named, ordered;
};

static int
take_denial (void *context, const struct berth_denial *denial)
{
  struct denials *denials = context;

  denials->ordered = denials->ordered && denial->sequence > denials->last;
  denials->last = denial->sequence;
  denials->count++;
  denials->named = denials->named
                   || (strcmp (denial->host, "example.com") == 0 && denial->port == 81 && denial->rule != NULL && *denial->rule != '\0');
  return 0;
}

void
suite_n04 (struct suite_context *suite)
{
  struct suite_box *box = make_with_rules (suite);
  struct berth_native native = suite_box_native (box);
  struct denials denials = { .ordered = true }, later = { .ordered = true };
  struct berth_denial_sink sink = { sizeof sink, 0, &denials, take_denial };

  is_allowed (box, "example.com", "80");
  is_allowed (box, "example.com", "81");
  SUITE_CHECK_CODE (suite, "read_denials",
                    SUITE_CALL (suite, native.id, suite->backend->network->read_denials (made, suite->state, &native, 0, &sink)), 0);
  SUITE_CHECK (suite, denials.count == 2 && denials.named && denials.ordered, "%u denials are told, %s host, port and rule, %s",
               denials.count, denials.named ? "with" : "without", denials.ordered ? "in order" : "not in order");
  sink.context = &later;
  SUITE_CHECK_CODE (suite, "read_denials",
                    SUITE_CALL (suite, native.id,
                                suite->backend->network->read_denials (made, suite->state, &native, denials.last, &sink)),
                    0);
  SUITE_CHECK (suite, later.count == 0, "those that were read are told again");
}

/* ---- NETWORK_UPDATE ---- */

static int
take_policy (void *context, const struct berth_policy *policy)
{
  struct berth_policy *to = context;

  to->default_action = policy->default_action;
  to->rules.count = policy->rules.count;
  return 0;
}

void
suite_n05 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  struct berth_native native = suite_box_native (box);
  struct berth_policy allow = { .struct_size = sizeof allow, .default_action = BERTH_ALLOW };
  struct berth_policy deny = { .struct_size = sizeof deny, .default_action = BERTH_DENY };
  struct berth_policy told = { 0 };
  struct berth_policy_sink sink = { sizeof sink, 0, &told, take_policy };
  const struct berth_policy *const wanted[] = { &allow, &deny };

  for (size_t i = 0; i < 2; i++)
    {
      SUITE_CHECK_CODE (suite, "update_policy",
                        SUITE_CALL (suite, native.id,
                                    suite->backend->network_update->update_policy (made, suite->state, &native, wanted[i])),
                        0);
      SUITE_CHECK_CODE (suite, "read_policy",
                        SUITE_CALL (suite, native.id, suite->backend->network->read_policy (made, suite->state, &native, &sink)), 0);
      SUITE_CHECK (suite, told.default_action == wanted[i]->default_action && told.rules.count == 0,
                   "after the change the default is %u, with %u rules", told.default_action, told.rules.count);
    }
  allow.asks = BERTH_ASKS_HARNESS;
  SUITE_CHECK_CODE (suite, "an unknown wish",
                    SUITE_CALL (suite, native.id, suite->backend->network_update->update_policy (made, suite->state, &native, &allow)),
                    BERTH_E_CAPABILITY_NOT_SUPPORTED);
}

/* ---- EGRESS_CREDENTIALS ---- */

#define SECRET "conform-secret-4711"

void
suite_n10 (struct suite_context *suite)
{
  static const struct berth_rule allowed[] = { { BERTH_ALLOW, BERTH_TARGET_HOST, "example.org", 0, 0 } };
  static const struct berth_binding there[] = { { "example.org", "Authorization", SECRET, 0 } };
  static const struct berth_binding elsewhere[] = { { "example.com", "Authorization", SECRET, 0 } };
  struct berth_vault vault = { .struct_size = sizeof vault, .bindings = BERTH_ARRAY (there) };
  struct suite_box *box = suite_box_new (suite);
  struct suite_plan plan;
  struct berth_native native;
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };

  suite_plan_init (&plan, box);
  plan.policy.default_action = BERTH_DENY;
  plan.policy.rules = (struct berth_array) BERTH_ARRAY (allowed);
  SUITE_CHECK_CODE (suite, "create", suite_box_create (box, &plan.spec), 0);
  SUITE_REQUIRE (suite, box->handle != NULL, "no handle");
  native = suite_box_native (box);
  SUITE_CHECK_CODE (suite, "credentials of an allowed host",
                    SUITE_CALL (suite, native.id, suite->backend->credentials->apply_vault (made, suite->state, &native, &vault)), 0);
  vault.bindings = (struct berth_array) BERTH_ARRAY (elsewhere);
  SUITE_CHECK_CODE (suite, "credentials of a denied host",
                    SUITE_CALL (suite, native.id, suite->backend->credentials->apply_vault (made, suite->state, &native, &vault)),
                    BERTH_E_POLICY_DENIED);
  suite_sh (box, &ran, 0, "env");
  SUITE_CHECK (suite, ran.out.size > 0 && strstr (berth_buffer_string (&ran.out), SECRET) == NULL, "the secret is inside");
}

/* ---- DIAL ---- */

static struct suite_box *
make_with_ports (struct suite_context *suite)
{
  static const uint32_t ports[] = { CLOSED_PORT, OPEN_PORT };
  struct suite_box *box = suite_box_new (suite);
  struct suite_plan plan;

  suite_plan_init (&plan, box);
  plan.spec.asks |= BERTH_SPEC_PORTS;
  plan.spec.must |= BERTH_SPEC_PORTS;
  plan.spec.ports = ports;
  plan.spec.port_count = 2;
  SUITE_CHECK_CODE (suite, "create with ports", suite_box_create (box, &plan.spec), 0);
  SUITE_REQUIRE (suite, box->handle != NULL, "no handle");
  return box;
}

static uint32_t
dial (struct suite_box *box, uint32_t port, int32_t *fd)
{
  *fd = -1;
  return SUITE_CALL (box->suite, box->native_id, box->suite->backend->dial->dial (made, box->handle, port, NULL, fd));
}

/* Something inside that sends back what it gets, until the sandbox ends. */
static void
start_echo (struct suite_box *box)
{
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  int64_t until = berth_clock_monotonic_ms () + SUITE_DEADLINE_MS;
  int32_t fd = -1;

  if ((box->suite->backend->flags & BERTH_BACKEND_EXECUTES_NOTHING) != 0)
    return;
  suite_tool_install (box);
  suite_sh (box, &ran, 0, SUITE_TOOL " echo 8080 >/dev/null 2>&1 &");
  while (dial (box, OPEN_PORT, &fd) != 0 && berth_clock_monotonic_ms () < until)
    berth_clock_sleep_ms (20);
  if (fd >= 0)
    close (fd);
}

static void
check_echo (struct suite_context *suite, int32_t fd)
{
  char bytes[64] = "";

  SUITE_CHECK (suite, berth_fd_write_all (fd, "hello", 5) == 0 && shutdown (fd, SHUT_WR) == 0, "cannot send");
  SUITE_CHECK (suite, berth_fd_read_full (fd, bytes, sizeof bytes) == 5 && strcmp (bytes, "hello") == 0,
               "the listener sends back \"%s\"", bytes);
}

void
suite_n07 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  int32_t fd, none;

  start_echo (box);
  SUITE_CHECK_CODE (suite, "dial", dial (box, OPEN_PORT, &fd), 0);
  SUITE_REQUIRE (suite, fd >= 0, "no stream");
  check_echo (suite, fd);
  close (fd);
  SUITE_CHECK_CODE (suite, "a port that nobody listens on", dial (box, CLOSED_PORT, &none), BERTH_E_NOT_FOUND,
                    BERTH_E_UNREACHABLE);
  SUITE_CHECK_CODE (suite, "port 65536", dial (box, 65536, &none), BERTH_E_INVALID_REQUEST);
}

void
suite_n11 (struct suite_context *suite)
{
  struct suite_box *box = make_with_ports (suite);
  int32_t fd;

  SUITE_CHECK_CODE (suite, "a port that is listed", dial (box, CLOSED_PORT, &fd), BERTH_E_NOT_FOUND, BERTH_E_UNREACHABLE);
  SUITE_CHECK_CODE (suite, "a port that is not", dial (box, 22, &fd), BERTH_E_POLICY_DENIED);
}

/* ---- ENDPOINTS, SIGNED_ENDPOINTS ---- */

#define URL_SIZE 2048

struct told
{
  char url[URL_SIZE];
  unsigned int count;
  uint64_t has;
  int64_t expires_ms;
};

static int
take_endpoint (void *context, const struct berth_endpoint *endpoint)
{
  struct told *told = context;

  told->count++;
  told->has = endpoint->has;
  told->expires_ms = endpoint->expires_wall_ms;
  snprintf (told->url, sizeof told->url, "%s", endpoint->url);
  return 0;
}

static int
take_name (void *context, const char *text)
{
  snprintf (context, URL_SIZE, "%s", text);
  return 0;
}

static bool
is_absolute (const char *url)
{
  return berth_string_starts_with (url, "https://") || berth_string_starts_with (url, "http://");
}

static void
check_names (struct suite_box *box, const char *url, const char *want)
{
  char name[URL_SIZE] = "";
  struct berth_text_sink sink = { sizeof sink, 0, name, take_name };

  SUITE_CHECK_CODE (box->suite, "endpoint_names_sandbox",
                    SUITE_CALL (box->suite, NULL,
                                box->suite->backend->endpoints->endpoint_names_sandbox (made, box->suite->state, url, &sink)),
                    0);
  SUITE_CHECK (box->suite, strcmp (name, want) == 0, "%s names \"%s\", not \"%s\"", url, name, want);
}

void
suite_n08 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  struct told told = { .count = 0 };
  struct berth_endpoint_sink sink = { sizeof sink, 0, &told, take_endpoint };

  SUITE_CHECK_CODE (suite, "endpoint",
                    SUITE_CALL (suite, box->native_id, suite->backend->endpoints->endpoint (made, box->handle, OPEN_PORT, NULL, &sink)), 0);
  SUITE_CHECK (suite, told.count == 1 && is_absolute (told.url), "%u endpoints, \"%s\"", told.count, told.url);
  check_names (box, told.url, box->native_id);
  check_names (box, "https://elsewhere.invalid/", "");
}

static void
sign (struct suite_box *box, uint32_t port, int64_t ttl_ms, struct told *told)
{
  struct berth_endpoint_sink sink = { sizeof sink, 0, told, take_endpoint };

  *told = (struct told) { .count = 0 };
  SUITE_CHECK_CODE (box->suite, "signed_endpoint",
                    SUITE_CALL (box->suite, box->native_id,
                                box->suite->backend->signing->signed_endpoint (made, box->handle, port, ttl_ms, NULL, &sink)),
                    ttl_ms > 0 ? 0 : BERTH_E_INVALID_REQUEST);
}

void
suite_n09 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite), *neighbour = suite_box_make (suite);
  struct told one, port, theirs, none;
  int64_t before_ms = berth_clock_wall_ms ();

  sign (box, OPEN_PORT, 60000, &one);
  sign (box, OPEN_PORT + 1, 60000, &port);
  sign (neighbour, OPEN_PORT, 60000, &theirs);
  sign (box, OPEN_PORT, 0, &none);
  SUITE_CHECK (suite, one.count == 1 && is_absolute (one.url) && none.count == 0, "%u endpoints, \"%s\", and %u for no time",
               one.count, one.url, none.count);
  SUITE_CHECK (suite, strcmp (one.url, port.url) != 0 && strcmp (one.url, theirs.url) != 0,
               "another port's or sandbox's URL is the same");
  SUITE_CHECK (suite, (one.has & BERTH_ENDPOINT_EXPIRES) != 0 && one.expires_ms >= before_ms
                          && one.expires_ms <= berth_clock_wall_ms () + 60000,
               "its end is told as %lld", (long long) one.expires_ms);
}

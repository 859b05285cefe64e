/* L19: the backend's own end. */
#include "conformance/suites/leftovers.h"
#include "conformance/suites/lifecycle.h"
#include "conformance/suites/box.h"
#include "sdk/base/clock.h"

#define SLACK_MS 15000
#define GRACE_MS 40000

static uint32_t
read_end (struct suite_box *box, struct berth_expiry *expiry)
{
  struct suite_context *suite = box->suite;
  struct berth_native native = suite_box_native (box);
  struct suite_call call;
  struct berth_call *made = suite_call_begin (&call, suite, native.id, NULL, 0);

  *expiry = (struct berth_expiry) { 0 };
  return suite_call_end (&call, suite->backend->expiry->expires_at (made, suite->state, &native, expiry), &box->error);
}

static uint32_t
renew (struct suite_box *box, int64_t ttl_ms, struct berth_expiry *expiry)
{
  struct suite_context *suite = box->suite;
  struct berth_native native = suite_box_native (box);
  struct suite_call call;
  struct berth_call *made = suite_call_begin (&call, suite, native.id, NULL, 0);

  *expiry = (struct berth_expiry) { 0 };
  return suite_call_end (&call, suite->backend->expiry->renew (made, suite->state, &native, ttl_ms, expiry),
                         &box->error);
}

static void
check_end (struct suite_context *suite, const char *what, const struct berth_expiry *expiry, int64_t ttl_ms)
{
  int64_t wall_ms = berth_clock_wall_ms () + expiry->remaining_ms;

  SUITE_CHECK (suite,
               expiry->kind == BERTH_EXPIRES_AT && expiry->remaining_ms <= ttl_ms
                   && expiry->remaining_ms > ttl_ms - SLACK_MS,
               "%s: kind %u, %lld ms remain of %lld", what, expiry->kind, (long long) expiry->remaining_ms,
               (long long) ttl_ms);
  if (expiry->kind == BERTH_EXPIRES_AT)
    SUITE_CHECK (suite, expiry->wall_ms > wall_ms - SLACK_MS && expiry->wall_ms < wall_ms + SLACK_MS,
                 "%s: the end for people is another: %lld", what, (long long) expiry->wall_ms);
}

static struct suite_box *
make_with_ttl (struct suite_context *suite, int64_t ttl_ms)
{
  struct suite_box *box = suite_box_new (suite);
  struct suite_plan plan;

  suite_plan_init (&plan, box);
  plan.spec.ttl_ms = ttl_ms;
  plan.spec.asks |= BERTH_SPEC_TTL;
  plan.spec.must |= BERTH_SPEC_TTL;
  SUITE_REQUIRE (suite, suite_box_create (box, &plan.spec) == 0, "create with an end: %s", box->error.message);
  return box;
}

void
suite_l19 (struct suite_context *suite)
{
  struct suite_box *box = make_with_ttl (suite, 60000);
  struct suite_box *endless = suite_box_make (suite);
  struct suite_box *unknown = suite_box_new (suite);
  struct berth_handle *handle = NULL;
  struct berth_expiry expiry;

  SUITE_CHECK_CODE (suite, "expires_at", read_end (box, &expiry), 0);
  check_end (suite, "as made", &expiry, 60000);
  SUITE_CHECK_CODE (suite, "renew", renew (box, 600000, &expiry), 0);
  check_end (suite, "renew's own answer", &expiry, 600000);
  SUITE_CHECK_CODE (suite, "connect", suite_box_connect (box, NULL, &handle), 0);
  if (handle != NULL)
    suite_box_release (box, handle);
  SUITE_CHECK_CODE (suite, "expires_at", read_end (box, &expiry), 0);
  check_end (suite, "after renew and connect", &expiry, 600000);
  SUITE_CHECK_CODE (suite, "renew to less", renew (box, 90000, &expiry), 0);
  check_end (suite, "shortened", &expiry, 90000);
  SUITE_CHECK_CODE (suite, "expires_at of an endless one", read_end (endless, &expiry), 0);
  SUITE_CHECK (suite, expiry.kind == BERTH_EXPIRES_NEVER, "made without an end, and its kind is %u", expiry.kind);
  strcpy (unknown->native_id, SUITE_UNKNOWN_ID);
  SUITE_CHECK_CODE (suite, "expires_at of an unknown one", read_end (unknown, &expiry), BERTH_E_SANDBOX_NOT_FOUND);
  SUITE_CHECK_CODE (suite, "renew of an unknown one", renew (unknown, 1000, &expiry), BERTH_E_SANDBOX_NOT_FOUND);
}

void
suite_l19_end (struct suite_context *suite)
{
  struct suite_box *box = make_with_ttl (suite, 1000);
  struct suite_box *later = make_with_ttl (suite, 120000);
  int64_t until = berth_clock_monotonic_ms () + GRACE_MS;

  while (suite_box_is_running (box) == 1 && berth_clock_monotonic_ms () < until)
    berth_clock_sleep_ms (200);
  SUITE_CHECK (suite, suite_box_is_running (box) == 0, "it still runs %d s after its end", GRACE_MS / 1000);
  SUITE_CHECK (suite, suite_box_is_running (later) == 1, "one whose end is far does not run");
}

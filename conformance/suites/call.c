#include "conformance/suites/call.h"

#include "sdk/base/clock.h"

struct berth_call *
suite_call_begin (struct suite_call *call, struct suite_context *suite, const char *native_id,
                  struct berth_cancel *cancel, int64_t deadline_ms)
{
  int64_t span = deadline_ms != 0 ? deadline_ms : SUITE_DEADLINE_MS;

  call->instance = suite->instance;
  call->native_id = native_id;
  berth_instance_enter (call->instance, native_id);
  berth_host_call_begin (&call->host, suite->instance, cancel, berth_clock_monotonic_ns () + span * 1000000);
  return &call->host.call;
}

uint32_t
suite_call_end (struct suite_call *call, int result, struct berth_error *error)
{
  struct berth_error unused;
  struct berth_error *slot = error != NULL ? error : &unused;

  *slot = (struct berth_error) { 0 };
  result = berth_host_call_end (&call->host, result, slot);
  berth_instance_leave (call->instance, call->native_id);
  return result >= 0 ? 0 : slot->code != 0 ? slot->code : BERTH_E_INTERNAL;
}

const char *
suite_code_name (uint32_t code)
{
  return code == 0 ? "success" : berth_error_name (code);
}

bool
suite_code_is (uint32_t code, const uint32_t *want, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (want[i] == code)
      return true;
  return false;
}

/* call.h - a call into the backend, made as the host makes it: deadlines and cancellation are
 * real. */
#ifndef CONFORMANCE_SUITES_CALL_H
#define CONFORMANCE_SUITES_CALL_H

#include "conformance/suites/suite.h"

#define SUITE_DEADLINE_MS 60000

struct suite_call
{
  struct berth_host_call host; /* &host.call is what the backend gets */
  struct berth_instance *instance;
  const char *native_id;
};

/* CANCEL may be NULL; DEADLINE_MS from now, 0: SUITE_DEADLINE_MS. */
struct berth_call *suite_call_begin (struct suite_call *call, struct suite_context *suite, const char *native_id,
                                     struct berth_cancel *cancel, int64_t deadline_ms);
/* 0, or the code of the error that RESULT -1 stands for.  A positive RESULT is 0 as well.
 * ERROR may be NULL. */
uint32_t suite_call_end (struct suite_call *call, int result, struct berth_error *error);

/* EXPRESSION calls the backend with `made`, about what NATIVE_ID (may be NULL) names, within
 * MILLISECONDS (0: the usual): its code. */
#define SUITE_CALL_WITHIN(suite, native_id, milliseconds, expression)                             \
  ({                                                                                              \
    struct suite_call call_;                                                                      \
    struct berth_call *made = suite_call_begin (&call_, (suite), (native_id), NULL, (milliseconds)); \
    int result_ = (expression);                                                                   \
    suite_call_end (&call_, result_, NULL);                                                       \
  })
#define SUITE_CALL(suite, native_id, expression) SUITE_CALL_WITHIN (suite, native_id, 0, expression)

/* "PATH_NOT_FOUND"; "success" for 0. */
const char *suite_code_name (uint32_t code);

/* CODE is one of the COUNT at WANT. */
bool suite_code_is (uint32_t code, const uint32_t *want, size_t count);

/* The call ended with one of the codes named. */
#define SUITE_CHECK_CODE(suite, what, code, ...)                                                  \
  do                                                                                              \
    {                                                                                             \
      uint32_t got_ = (code);                                                                     \
      const uint32_t want_[] = { __VA_ARGS__ };                                                   \
      SUITE_CHECK ((suite), suite_code_is (got_, want_, sizeof want_ / sizeof *want_),            \
                   "%s: got %s, want %s", (what), suite_code_name (got_),                         \
                   suite_code_name (want_[0]));                                                   \
    }                                                                                             \
  while (0)

#endif

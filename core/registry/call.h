/* The services of a call, for the services table; see <berth/services.h>. */
#ifndef CORE_REGISTRY_CALL_H
#define CORE_REGISTRY_CALL_H

#include "core/registry/registry.h"

/* The host's side of CALL, which is its first member. */
struct berth_host_call *berth_host_call_of (struct berth_call *call);

int berth_call_fail (struct berth_call *call, uint32_t code, const char *format, ...) BERTH_FORMAT (3, 4);
int berth_call_vfail (struct berth_call *call, uint32_t code, const char *format, va_list arguments);
int berth_call_refuse (struct berth_call *call, uint32_t which, uint64_t bits);
void berth_call_hint (struct berth_call *call, const char *format, ...) BERTH_FORMAT (2, 3);
void berth_call_upstream (struct berth_call *call, const char *code, int32_t status);
void berth_call_retry_after (struct berth_call *call, int64_t milliseconds);
uint32_t berth_call_failed (const struct berth_call *call);
void berth_call_forgive (struct berth_call *call);
uint32_t berth_call_cancelled (struct berth_call *call);
int berth_call_cancel_fd (struct berth_call *call);
int64_t berth_call_deadline (const struct berth_call *call);
struct berth_call *berth_call_shield (struct berth_call *call, int64_t grace_ms);
void berth_call_unshield (struct berth_call *shielded);
void berth_call_progress (struct berth_call *call, const char *phase, uint64_t done, uint64_t total);

#endif

/* A call from the host's side: its slot, its end, and the services that belong to it. */
#include "core/registry/call.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/registry/cancel.h"
#include "core/registry/error.h"
#include "core/registry/instance.h"
#include "core/registry/registry.h"
#include "core/registry/table.h"
#include "sdk/base/clock.h"
#include "sdk/base/string.h"

struct berth_host_call *
berth_host_call_of (struct berth_call *call)
{
  return (struct berth_host_call *) call;
}

void
berth_host_call_begin (struct berth_host_call *call, struct berth_instance *instance, struct berth_cancel *cancel,
                       int64_t deadline_ns)
{
  memset (call, 0, sizeof *call);
  call->call.struct_size = sizeof call->call;
  call->call.services = berth_services_table ();
  call->call.instance = instance;
  call->cancel = cancel;
  call->deadline_ns = deadline_ns;
}

int
berth_host_call_end (struct berth_host_call *call, int result, struct berth_error *error)
{
  const char *name = call->call.instance != NULL ? berth_instance_name (call->call.instance) : "";

  if (result >= 0)
    {
      if (call->error.code != 0)
        berth_instance_log (call->call.instance, BERTH_LOG_DEBUG, "a call succeeded though it had recorded %s: %s",
                            berth_error_name (call->error.code), call->error.message);
      return result;
    }
  if (call->error.code == 0)
    {
      berth_error_set (&call->error, BERTH_E_INTERNAL, "backend \"%s\" failed without saying why", name);
      berth_error_hint (&call->error, "please report it to the authors of the backend");
    }
  snprintf (call->error.backend, sizeof call->error.backend, "%s", name);
  if (error != NULL)
    *error = call->error;
  return -1;
}

/* Formats, redacts the whole, and only then cuts: a secret cut in two would not be found. */
static void
format_redacted (struct berth_instance *instance, char *to, size_t room, const char *format, va_list arguments)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };

  berth_buffer_vappendf (&text, format, arguments);
  if (instance != NULL)
    berth_redactor_apply (&instance->redactor, &text);
  snprintf (to, room, "%s", text.error == 0 ? berth_buffer_string (&text) : "(no memory for the message)");
}

int
berth_call_vfail (struct berth_call *call, uint32_t code, const char *format, va_list arguments)
{
  struct berth_host_call *host = berth_host_call_of (call);
  char message[sizeof host->error.message];
  int saved = errno;

  format_redacted (call->instance, message, sizeof message, format, arguments);
  if (code == 0)
    code = BERTH_E_INTERNAL;
  if (host->parent != NULL || host->shields > 0)
    berth_instance_log (call->instance, BERTH_LOG_WARNING, "while undoing: %s: %s", berth_error_name (code), message);
  if (host->shields == 0)
    berth_error_set (&host->error, code, "%s", message);
  errno = saved;
  return -1;
}

int
berth_call_fail (struct berth_call *call, uint32_t code, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  berth_call_vfail (call, code, format, arguments);
  va_end (arguments);
  return -1;
}

int
berth_host_call_fail (struct berth_host_call *call, uint32_t code, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  berth_call_vfail (&call->call, code, format, arguments);
  va_end (arguments);
  return -1;
}

int
berth_call_refuse (struct berth_call *call, uint32_t which, uint64_t bits)
{
  BERTH_AUTO_BUFFER struct berth_buffer names = { 0 };

  berth_bits_describe (which, bits, &names);
  berth_call_fail (call, BERTH_E_CAPABILITY_NOT_SUPPORTED, "backend \"%s\" cannot honour: %s",
                   call->instance != NULL ? berth_instance_name (call->instance) : "",
                   names.error == 0 ? berth_buffer_string (&names) : "what was asked");
  return -1;
}

void
berth_call_hint (struct berth_call *call, const char *format, ...)
{
  struct berth_host_call *host = berth_host_call_of (call);
  va_list arguments;
  int saved = errno;

  if (host->shields > 0)
    return;
  va_start (arguments, format);
  format_redacted (call->instance, host->error.hint, sizeof host->error.hint, format, arguments);
  va_end (arguments);
  errno = saved;
}

void
berth_call_upstream (struct berth_call *call, const char *code, int32_t status)
{
  struct berth_host_call *host = berth_host_call_of (call);
  char message[sizeof host->error.message];

  if (host->shields > 0 || host->error.code == 0)
    return;
  if (status >= 100 && status <= 599)
    host->error.http_status = (uint32_t) status;
  if (code == NULL || code[0] == '\0')
    return;
  memcpy (message, host->error.message, sizeof message);
  {
    BERTH_AUTO_FREE char *text = berth_string_format ("%s (the service says %s)", message, code);
    BERTH_AUTO_BUFFER struct berth_buffer redacted = { 0 };

    if (text == NULL || berth_buffer_append_string (&redacted, text) < 0)
      return;
    if (call->instance != NULL)
      berth_redactor_apply (&call->instance->redactor, &redacted);
    snprintf (host->error.message, sizeof host->error.message, "%s", berth_buffer_string (&redacted));
  }
}

void
berth_call_retry_after (struct berth_call *call, int64_t milliseconds)
{
  struct berth_host_call *host = berth_host_call_of (call);

  if (host->shields == 0 && milliseconds > 0)
    host->error.retry_after_ms = milliseconds;
}

uint32_t
berth_call_failed (const struct berth_call *call)
{
  return ((const struct berth_host_call *) call)->error.code;
}

void
berth_call_forgive (struct berth_call *call)
{
  struct berth_host_call *host = berth_host_call_of (call);

  if (host->shields == 0)
    berth_error_clear (&host->error);
}

uint32_t
berth_call_cancelled (struct berth_call *call)
{
  struct berth_host_call *host = berth_host_call_of (call);

  if (host->shields > 0)
    return 0;
  if (berth_cancel_triggered (host->cancel))
    return BERTH_E_CANCELLED;
  if (host->deadline_ns != BERTH_NO_DEADLINE && berth_clock_monotonic_ns () >= host->deadline_ns)
    return BERTH_E_TIMEOUT;
  return 0;
}

int
berth_call_cancel_fd (struct berth_call *call)
{
  struct berth_host_call *host = berth_host_call_of (call);

  return host->shields > 0 ? -1 : berth_cancel_fd (host->cancel);
}

int64_t
berth_call_deadline (const struct berth_call *call)
{
  const struct berth_host_call *host = (const struct berth_host_call *) call;

  return host->shields > 0 ? BERTH_NO_DEADLINE : host->deadline_ns;
}

/* The end of a grace that begins now; without overflow. */
static int64_t
grace_end (int64_t grace_ms)
{
  int64_t now = berth_clock_monotonic_ns (), end;

  if (__builtin_mul_overflow (grace_ms > 0 ? grace_ms : 0, INT64_C (1000000), &end)
      || __builtin_add_overflow (end, now, &end))
    return BERTH_NO_DEADLINE;
  return end;
}

struct berth_call *
berth_call_shield (struct berth_call *call, int64_t grace_ms)
{
  struct berth_host_call *host = berth_host_call_of (call), *child = malloc (sizeof *child);

  if (child == NULL)
    {
      /* Undoing must go on without memory too: the call shields itself. */
      host->shields++;
      return call;
    }
  berth_host_call_begin (child, call->instance, NULL, grace_end (grace_ms));
  child->parent = host;
  child->progress = host->progress;
  child->progress_context = host->progress_context;
  return &child->call;
}

void
berth_call_unshield (struct berth_call *shielded)
{
  struct berth_host_call *child = berth_host_call_of (shielded);

  if (child->shields > 0)
    child->shields--;
  else if (child->parent != NULL)
    free (child);
}

void
berth_call_progress (struct berth_call *call, const char *phase, uint64_t done, uint64_t total)
{
  struct berth_host_call *host = berth_host_call_of (call);

  if (host->progress != NULL)
    host->progress (host->progress_context, phase, done, total);
}

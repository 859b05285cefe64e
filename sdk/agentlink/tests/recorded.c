#include "sdk/agentlink/tests/recorded.h"

#include <stdio.h>
#include <string.h>

#include "sdk/base/clock.h"

static int
record_vfail (struct berth_call *call, uint32_t code, const char *format, va_list arguments)
{
  struct recorded *recorded = (struct recorded *) call;

  recorded->code = code;
  recorded->hint[0] = '\0';
  vsnprintf (recorded->message, sizeof recorded->message, format, arguments);
  return -1;
}

static int
record_fail (struct berth_call *call, uint32_t code, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  record_vfail (call, code, format, arguments);
  va_end (arguments);
  return -1;
}

static int
record_refusal (struct berth_call *call, uint32_t which, uint64_t bits)
{
  (void) which;
  ((struct recorded *) call)->refused = bits;
  return record_fail (call, BERTH_E_CAPABILITY_NOT_SUPPORTED, "refused");
}

static void
record_hint (struct berth_call *call, const char *format, ...)
{
  struct recorded *recorded = (struct recorded *) call;
  va_list arguments;

  va_start (arguments, format);
  vsnprintf (recorded->hint, sizeof recorded->hint, format, arguments);
  va_end (arguments);
}

static uint32_t
tell_cancelled (struct berth_call *call)
{
  const struct recorded *recorded = (const struct recorded *) call;

  if (recorded->cancelled)
    return BERTH_E_CANCELLED;
  return recorded->deadline_ns != 0 && berth_clock_monotonic_ns () >= recorded->deadline_ns ? BERTH_E_TIMEOUT : 0;
}

static int
tell_cancel_fd (struct berth_call *call)
{
  return ((struct recorded *) call)->cancel_fd;
}

static int64_t
tell_deadline (const struct berth_call *call)
{
  int64_t deadline = ((const struct recorded *) call)->deadline_ns;

  return deadline == 0 ? BERTH_NO_DEADLINE : deadline;
}

/* The instance is the record itself. */
static void
record_log (struct berth_instance *instance, uint32_t level, const char *format, ...)
{
  struct recorded *recorded = (struct recorded *) instance;
  va_list arguments;

  (void) level;
  recorded->logs++;
  va_start (arguments, format);
  vsnprintf (recorded->log, sizeof recorded->log, format, arguments);
  va_end (arguments);
}

static const struct berth_services services = {
  .abi = { BERTH_ABI_MAGIC, sizeof services, BERTH_ABI_MAJOR, BERTH_ABI_MINOR, 0 },
  .fail = record_fail,
  .vfail = record_vfail,
  .refuse = record_refusal,
  .hint = record_hint,
  .cancelled = tell_cancelled,
  .cancel_fd = tell_cancel_fd,
  .deadline = tell_deadline,
  .log = record_log,
};

void
recorded_start (struct recorded *recorded)
{
  *recorded = (struct recorded) { .call = { .struct_size = sizeof recorded->call,
                                            .services = &services,
                                            .instance = (struct berth_instance *) recorded },
                                  .cancel_fd = -1 };
}

static int64_t
read_memory (void *context, void *bytes, size_t size)
{
  struct memory *memory = context;
  size_t left = memory->size - memory->taken;

  if (memory->fail_at != 0 && memory->taken >= memory->fail_at)
    return -1;
  if (size > left)
    size = left;
  if (size > 0)
    memcpy (bytes, memory->bytes + memory->taken, size);
  memory->taken += size;
  return (int64_t) size;
}

struct berth_source
memory_source (struct memory *memory)
{
  return (struct berth_source) { sizeof (struct berth_source), 0, memory, memory->size, read_memory };
}

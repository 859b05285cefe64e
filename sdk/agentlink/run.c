#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "sdk/agentlink/stream.h"

#define RUN_ASKS (BERTH_RUN_ENVIRONMENT | BERTH_RUN_WORKDIR | BERTH_RUN_USER | BERTH_RUN_TIMEOUT)

/* MAX_ARG_STRLEN of Linux, with pages of 4 KiB, which are the smallest. */
#define STRING_MAXIMUM ((size_t) 32 * 4096)

const struct berth_commands_ops agentlink_commands = {
  .struct_size = sizeof agentlink_commands,
  .run = agentlink_run,
};

/* Name, NUL, value, NUL: the agent checks the name, which may hold anything. */
static void
add_pair (struct berth_buffer *out, const struct berth_pair *pair)
{
  BERTH_CLEANUP (berth_buffer_erase) struct berth_buffer text = { 0 };
  size_t name = strlen (pair->name) + 1, value = strlen (pair->value) + 1;

  if (berth_buffer_reserve (&text, name + value) < 0)
    {
      out->error = text.error;
      return;
    }
  berth_buffer_append (&text, pair->name, name);
  berth_buffer_append (&text, pair->value, value);
  wire_add (out, WIRE_TAG_ENVIRONMENT, text.data, text.size);
}

static void
add_run (struct berth_buffer *out, const struct berth_run *run)
{
  for (uint32_t i = 0; i < run->argument_count; i++)
    wire_add_text (out, WIRE_TAG_ARGUMENT, run->arguments[i]);
  if ((run->asks & BERTH_RUN_ENVIRONMENT) != 0)
    for (uint64_t i = 0; i < run->environment_count; i++)
      add_pair (out, &run->environment[i]);
  if ((run->asks & BERTH_RUN_WORKDIR) != 0)
    wire_add_text (out, WIRE_TAG_WORKDIR, run->workdir);
  if ((run->asks & BERTH_RUN_USER) != 0)
    wire_add_text (out, WIRE_TAG_USER, run->user);
  if ((run->asks & BERTH_RUN_TIMEOUT) != 0)
    wire_add_number (out, WIRE_TAG_TIMEOUT_MS, (uint64_t) run->timeout_ms);
}

static int
refuse_long (struct berth_call *call, const char *what, size_t size)
{
  call->services->fail (call, BERTH_E_INVALID_REQUEST, "%s has %zu bytes, and at most %zu are possible: argument too long", what,
                        size, STRING_MAXIMUM - 1);
  call->services->hint (call, "put it into a file of the sandbox");
  return -1;
}

/* What the kernel would refuse without saying which one it is. */
static int
check_sizes (struct berth_call *call, const struct berth_run *run)
{
  char what[160];

  for (uint32_t i = 0; i < run->argument_count; i++)
    if (strlen (run->arguments[i]) >= STRING_MAXIMUM)
      {
        snprintf (what, sizeof what, "argument %u", i);
        return refuse_long (call, what, strlen (run->arguments[i]));
      }
  for (uint64_t i = 0; (run->asks & BERTH_RUN_ENVIRONMENT) != 0 && i < run->environment_count; i++)
    {
      const struct berth_pair *pair = &run->environment[i];
      size_t size = strlen (pair->name) + 1 + strlen (pair->value);

      if (size < STRING_MAXIMUM)
        continue;
      snprintf (what, sizeof what, "the variable %.100s with its value", pair->name);
      return refuse_long (call, what, size);
    }
  return 0;
}

static uint32_t
reason_of (uint64_t reason)
{
  switch (reason)
    {
    case WIRE_REASON_EXITED:
      return BERTH_EXITED;
    case WIRE_REASON_TIMEOUT:
      return BERTH_TIMED_OUT;
    default:
      return BERTH_SIGNALLED; /* unknown: it failed */
    }
}

static uint64_t
memory_kills (const struct agentlink *link)
{
  return link->transport.memory_kills != NULL ? link->transport.memory_kills (link->transport.context) : 0;
}

/* What the limit killed since there were KILLS: the command itself, or something that it or another one started.
 * A counter that fell is gone with its cgroup, or a new one's: it shows no kill. */
static void
add_kills (const struct agentlink *link, uint64_t kills, struct berth_exit *ended)
{
  if (link->transport.memory_kills == NULL)
    return;
  uint64_t now = memory_kills (link);
  ended->memory_kills = now > kills ? now - kills : 0;
  ended->has |= BERTH_EXIT_KILLS;
  if (ended->memory_kills > 0 && ended->reason == BERTH_SIGNALLED && ended->signal == SIGKILL)
    ended->reason = BERTH_OUT_OF_MEMORY;
}

static int
read_exit (struct stream *stream, struct wire_reader *payload, struct berth_exit *ended)
{
  struct wire_field field;
  uint64_t number = 0, code = UINT64_MAX;
  int more;

  *ended = (struct berth_exit) { .struct_size = sizeof *ended, .code = -1 };
  while ((more = wire_next (payload, &field)) > 0)
    {
      if (wire_number (&field, &number) < 0)
        continue;
      if (field.tag == WIRE_TAG_REASON)
        ended->reason = reason_of (number);
      else if (field.tag == WIRE_TAG_EXIT_CODE)
        code = number;
      else if (field.tag == WIRE_TAG_SIGNAL)
        ended->signal = (int32_t) number;
      else if (field.tag == WIRE_TAG_DURATION_NS)
        ended->duration_ns = number, ended->has |= BERTH_EXIT_DURATION;
      else if (field.tag == WIRE_TAG_CPU_NS)
        ended->cpu_ns = number, ended->has |= BERTH_EXIT_CPU;
      else if (field.tag == WIRE_TAG_PEAK_MEMORY)
        ended->peak_memory_bytes = number, ended->has |= BERTH_EXIT_MEMORY;
      else if (field.tag == WIRE_TAG_PIPE_HELD)
        ended->has |= BERTH_EXIT_PIPE_HELD;
    }
  if (more < 0 || ended->reason == 0 || (ended->reason == BERTH_EXITED && code > 255))
    return stream_fail_protocol (stream, "an exit that does not say how");
  if (ended->reason == BERTH_EXITED)
    ended->code = (int32_t) code;
  return 0;
}

static int
follow (struct stream *stream, const struct agentlink *link, uint64_t kills, const struct berth_run_sink *sink)
{
  struct wire_header header;
  struct wire_reader payload;
  struct berth_exit ended;

  for (;;)
    {
      if (stream_next (stream, &header, &payload) < 0)
        return -1;
      if (header.type == WIRE_FRAME_EXIT)
        {
          if (read_exit (stream, &payload, &ended) < 0)
            return -1;
          add_kills (link, kills, &ended);
          return sink->exit (sink->context, &ended);
        }
      if (header.type != WIRE_FRAME_STDOUT && header.type != WIRE_FRAME_STDERR)
        return stream_fail_protocol (stream, "a frame that is no output");
      if (sink->output (sink->context, header.type == WIRE_FRAME_STDOUT ? BERTH_STDOUT : BERTH_STDERR, payload.next,
                        header.size)
          < 0)
        return -1;
    }
}

int
agentlink_run (struct berth_call *call, struct berth_handle *handle, const struct berth_run *run,
               const struct berth_run_sink *sink)
{
  struct agentlink *link = agentlink_of (call, handle);
  struct stream stream STREAM_AUTO = STREAM_NONE;
  uint64_t kills;

  if (BERTH_REFUSE_UNKNOWN (call, RUN, run->asks, RUN_ASKS) < 0)
    return -1;
  if (run->argument_count == 0)
    return call->services->fail (call, BERTH_E_INVALID_REQUEST, "a command needs at least one argument: its name");
  if ((run->asks & BERTH_RUN_TIMEOUT) != 0 && run->timeout_ms <= 0)
    return call->services->fail (call, BERTH_E_INVALID_REQUEST, "the timeout is %lld ms, it must be above 0",
                                 (long long) run->timeout_ms);
  if (check_sizes (call, run) < 0 || stream_open (&stream, call, link, WIRE_RUN) < 0)
    return -1;
  add_run (&stream.out, run);
  kills = memory_kills (link);
  if (stream_send_request (&stream, link) < 0)
    return -1;
  return follow (&stream, link, kills, sink);
}

#include "core/cli/tarcall.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/cli/signals.h"
#include "core/cli/stream.h"

static int keep_failure (struct berth_call *call, uint32_t code, const char *format, ...) BERTH_FORMAT (3, 4);
static void keep_hint (struct berth_call *call, const char *format, ...) BERTH_FORMAT (2, 3);

/* The structs begin with the call. */
static struct berth_error *
slot_of (struct berth_call *call)
{
  return &((struct cli_tar_call *) call)->error;
}

static int
keep_failure (struct berth_call *call, uint32_t code, const char *format, ...)
{
  struct berth_error *error = slot_of (call);
  va_list arguments;

  *error = (struct berth_error) { .code = code, .http_status = code / 100 };
  va_start (arguments, format);
  vsnprintf (error->message, sizeof error->message, format, arguments);
  va_end (arguments);
  return -1;
}

static void
keep_hint (struct berth_call *call, const char *format, ...)
{
  struct berth_error *error = slot_of (call);
  va_list arguments;

  va_start (arguments, format);
  vsnprintf (error->hint, sizeof error->hint, format, arguments);
  va_end (arguments);
}

void
cli_tar_call_begin (struct cli_tar_call *call)
{
  *call = (struct cli_tar_call) { .services = { .fail = keep_failure, .hint = keep_hint } };
  call->call.struct_size = sizeof call->call;
  call->call.services = &call->services;
}

/* ---- out ---- */

static int
put (void *context, const void *bytes, size_t size)
{
  struct cli_tar_out *out = context;

  if (cli_stream_put (STDOUT_FILENO, bytes, size) == 0)
    return 0;
  return keep_failure (&out->call.call, errno == ENOSPC ? BERTH_E_RESOURCE_EXHAUSTED : BERTH_E_INVALID_REQUEST,
                       "cannot write standard output: %s", strerror (errno));
}

static int
answer (struct cli_tar_out *out, int result)
{
  if (result >= 0)
    return 0;
  return cli_signals_caught () != 0 ? CLI_FAILED : cli_report (out->copy->cli, &out->call.error);
}

static int
add_member (void *context, const struct berth_tar_member *member)
{
  struct cli_tar_out *out = context;

  return *member->name == '\0' ? 0 : answer (out, berth_tar_writer_member (out->writer, member));
}

static int
add_data (void *context, const void *bytes, size_t size)
{
  struct cli_tar_out *out = context;

  return answer (out, berth_tar_writer_data (out->writer, bytes, size));
}

static int
pass (void *context, const struct berth_tar_member *member)
{
  (void) context;
  (void) member;
  return 0;
}

int
cli_tar_out_open (struct cli_tar_out *out, struct cli_copy *copy, struct cli_copy_target *target)
{
  const struct berth_tar_output output = { out, put };

  out->copy = copy;
  cli_tar_call_begin (&out->call);
  out->writer = berth_tar_writer_new (&out->call.call, &output);
  if (out->writer == NULL)
    return answer (out, -1);
  *target = (struct cli_copy_target) { .context = out,
                                       .is_archive = true,
                                       .enter = add_member,
                                       .leave = pass,
                                       .file = add_member,
                                       .data = add_data,
                                       .end = pass,
                                       .link = add_member };
  return 0;
}

int
cli_tar_out_close (struct cli_tar_out *out, int status)
{
  if (status == 0)
    status = answer (out, berth_tar_writer_finish (out->writer));
  berth_tar_writer_free (out->writer);
  return status;
}

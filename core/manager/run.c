/* Running one command. */
#include <inttypes.h>
#include <string.h>

#include "core/manager/audit.h"
#include "core/manager/path.h"
#include "core/manager/spec.h"
#include "core/manager/still.h"
#include "core/manager/transfer.h"
#include "sdk/base/buffer.h"

/* The backend's own end of a command that ran out of time may take so long. */
#define GRACE_MS (10 * 1000)

struct running
{
  struct berth_host_call *call;
  const struct berth_exec_options *options;
  struct berth_exec_result *result;
  struct berth_buffer streams[2]; /* stdout and stderr, when they are collected */
  uint64_t left;                  /* bytes that may still be taken */
  uint64_t told;                  /* bytes of both */
  bool ended;
};

/* ---- output ---- */

static int
collect (struct running *running, uint32_t stream, const void *bytes, size_t size)
{
  if (berth_buffer_append (&running->streams[stream - BERTH_STDOUT], bytes, size) == 0)
    return 0;
  return berth_host_call_fail (running->call, BERTH_E_RESOURCE_EXHAUSTED, "no memory for the output");
}

/* What is above the limit is counted and dropped, so that the command is never blocked by it. */
static int
take_output (void *context, uint32_t stream, const void *bytes, size_t size)
{
  struct running *running = context;
  size_t taken = size < running->left ? size : (size_t) running->left;

  if (berth_check_cancel (running->call) != 0)
    return -1;
  if (stream != BERTH_STDOUT && stream != BERTH_STDERR)
    taken = 0;
  running->left -= taken;
  running->told += taken;
  running->result->dropped_bytes += size - taken;
  if (taken == 0)
    return 0;
  if (running->options->output == NULL)
    return collect (running, stream, bytes, taken);
  if (running->options->output (running->options->output_context, stream, bytes, taken) != 0)
    return berth_host_call_fail (running->call, BERTH_E_CANCELLED, "the reader of the output wants no more");
  return 0;
}

/* ---- the end ---- */

/* As a shell tells it; what failed is never 0. */
static int32_t
shell_status (const struct berth_exec_result *result)
{
  if (result->reason == BERTH_EXITED)
    return result->code;
  if (result->reason == BERTH_TIMED_OUT)
    return 124;
  return 128 + (result->signal > 0 && result->signal < 128 ? result->signal : 9);
}

static int
take_exit (void *context, const struct berth_exit *told)
{
  struct running *running = context;
  struct berth_exec_result *result = running->result;
  struct berth_exit end = { 0 };

  memcpy (&end, told, told->struct_size < sizeof end ? told->struct_size : sizeof end);
  if (running->ended)
    return berth_host_call_fail (running->call, BERTH_E_INTERNAL, "the backend told the end of a command twice");
  if (end.reason == BERTH_EXITED && (end.code < 0 || end.code > 255))
    return berth_host_call_fail (running->call, BERTH_E_INTERNAL, "the backend told exit status %" PRId32, end.code);
  running->ended = true;
  result->reason = end.reason;
  result->code = end.reason == BERTH_EXITED ? end.code : -1;
  result->signal = end.reason == BERTH_EXITED ? 0 : end.signal;
  result->status = shell_status (result);
  result->pipe_held = (end.has & BERTH_EXIT_PIPE_HELD) != 0;
  if ((end.has & BERTH_EXIT_KILLS) != 0)
    result->memory_kills = end.memory_kills < UINT32_MAX ? (uint32_t) end.memory_kills : UINT32_MAX;
  result->duration_ns = (end.has & BERTH_EXIT_DURATION) != 0 ? end.duration_ns : 0;
  return 0;
}

/* ---- the request ---- */

struct request
{
  struct berth_run run;
  const char **arguments; /* NULL-terminated, which the caller's need not be */
  char *workdir;
};

static void
request_clear (struct request *request)
{
  free (request->arguments);
  free (request->workdir);
}

static int
set_arguments (const struct berth_exec_options *options, struct request *request, struct berth_error *error)
{
  if (options->argument_count == 0 || options->arguments == NULL)
    return berth_error_set (error, BERTH_E_INVALID_REQUEST, "no command was given");
  request->arguments = calloc ((size_t) options->argument_count + 1, sizeof *request->arguments);
  if (request->arguments == NULL)
    return berth_no_memory (error);
  for (uint32_t i = 0; i < options->argument_count; i++)
    if ((request->arguments[i] = options->arguments[i]) == NULL)
      return berth_error_set (error, BERTH_E_INVALID_REQUEST, "argument %" PRIu32 " of the command is NULL", i);
  if (request->arguments[0][0] == '\0')
    return berth_error_set (error, BERTH_E_INVALID_REQUEST, "the command's name is empty");
  request->run.arguments = request->arguments;
  request->run.argument_count = options->argument_count;
  return 0;
}

static bool
is_root (const char *user)
{
  return strcmp (user, "root") == 0 || (user[0] != '\0' && strspn (user, "0") == strlen (user));
}

static int
set_user (const struct berth_record *record, const char *user, struct request *request, struct berth_error *error)
{
  if (user == NULL)
    return 0;
  if (user[0] == '\0')
    return berth_error_set (error, BERTH_E_INVALID_REQUEST, "the user may be left out, but not empty");
  if (((uint64_t) record->asks & BERTH_SPEC_FORBID_ROOT) != 0 && is_root (user))
    return berth_error_set (error, BERTH_E_POLICY_DENIED, "sandbox %s forbids commands as root", record->id);
  request->run.user = user;
  request->run.asks |= BERTH_RUN_USER;
  return 0;
}

/* What the backend of this sandbox cannot do for a command is refused by its name; only the
 * time limit that nobody wrote may be left to the deadline of the call. */
static int
check_asks (const struct berth_record *record, bool timeout_was_given, struct request *request, struct berth_error *error)
{
  uint64_t missing = request->run.asks & ~(uint64_t) record->run_asks;

  if (!timeout_was_given && (missing & BERTH_RUN_TIMEOUT) != 0)
    {
      request->run.asks &= ~BERTH_RUN_TIMEOUT;
      missing &= ~BERTH_RUN_TIMEOUT;
    }
  if (missing == 0)
    return 0;
  const char *name = berth_asks_name (BERTH_ASKS_RUN, missing & -missing);
  return berth_error_set (error, BERTH_E_CAPABILITY_NOT_SUPPORTED, "backend %s cannot set the %s of a command",
                          record->backend, name != NULL ? name : "unknown option");
}

static int
request_make (struct berth_sandbox *sandbox, const struct berth_exec_options *options, struct request *request,
              struct berth_error *error)
{
  const struct berth_limits *limits = &sandbox->host->limits;
  struct berth_run *run = &request->run;

  run->struct_size = sizeof *run;
  run->asks = BERTH_RUN_TIMEOUT;
  if (set_arguments (options, request, error) != 0
      || berth_limit_apply ("timeout", options->timeout_ms, limits->default_timeout, limits->max_timeout,
                            &run->timeout_ms, error)
             != 0
      || berth_environment_check (options->environment, options->environment_count, error) != 0
      || set_user (&sandbox->record, options->user, request, error) != 0)
    return -1;
  if ((run->environment_count = options->environment_count) > 0)
    run->asks |= BERTH_RUN_ENVIRONMENT;
  run->environment = options->environment;
  if (options->workdir != NULL)
    {
      if ((request->workdir = berth_path_clean (options->workdir, error)) == NULL)
        return -1;
      run->workdir = request->workdir;
      run->asks |= BERTH_RUN_WORKDIR;
    }
  return check_asks (&sandbox->record, options->timeout_ms != BERTH_UNSET, request, error);
}

/* A program that takes the output itself sets its own limit, if it wants one. */
static int
set_output_limit (const struct berth_limits *limits, const struct berth_exec_options *options, struct running *running,
                  struct berth_error *error)
{
  int64_t limit = 0;

  running->left = UINT64_MAX;
  if (options->output != NULL && options->max_output_bytes == BERTH_UNSET)
    return 0;
  if (berth_limit_apply ("output", options->max_output_bytes, limits->default_output,
                         options->output != NULL ? INT64_MAX : limits->max_output, &limit, error)
      != 0)
    return -1;
  running->left = (uint64_t) limit;
  return 0;
}

/* ---- the whole ---- */

static int
run (struct berth_sandbox *sandbox, const struct request *request, struct running *running, struct berth_error *error)
{
  struct berth_manager_call call;
  struct berth_handle *handle = NULL;
  struct berth_run_sink sink
      = { .struct_size = sizeof sink, .context = running, .output = take_output, .exit = take_exit };

  struct berth_still_patience patience = { 0 };
  int result;

  running->call = &call.host;
  do
    {
      if (berth_data_begin (&call, sandbox, running->options->cancel, request->run.timeout_ms + GRACE_MS, &handle, error) != 0)
        return -1;
      berth_keep_secrets (call.instance, request->run.environment, request->run.environment_count);
      result = berth_call_end (
          &call, berth_call_backend (&call)->commands->run (&call.host.call, handle, &request->run, &sink), error);
    }
  while (result != 0 && running->told == 0 && !running->ended
         && berth_still_wait (&patience, sandbox, call.code, running->options->cancel, error));
  if (result != 0)
    return -1;
  if (running->ended)
    return 0;
  return berth_error_set (error, BERTH_E_INTERNAL, "backend %s did not tell how the command ended",
                          sandbox->record.backend);
}

static int
give_streams (struct running *running, struct berth_error *error)
{
  struct berth_exec_result *result = running->result;

  if (running->options->output != NULL)
    return 0;
  for (int i = 0; i < 2; i++)
    if (berth_buffer_reserve (&running->streams[i], 1) != 0)
      return berth_no_memory (error);
  result->stdout_size = running->streams[0].size;
  result->stderr_size = running->streams[1].size;
  result->stdout_bytes = berth_buffer_steal (&running->streams[0]);
  result->stderr_bytes = berth_buffer_steal (&running->streams[1]);
  return 0;
}

int
berth_sandbox_run (struct berth_sandbox *sandbox, const struct berth_exec_options *options,
                   struct berth_exec_result *out, struct berth_error *error)
{
  struct berth_exec_options ours = BERTH_EXEC_OPTIONS_INIT;
  struct request request = { .arguments = NULL };
  struct running running = { .options = &ours, .result = out };

  *out = (struct berth_exec_result) { .code = -1 };
  if (berth_options_take (&ours, options, error) != 0)
    return -1;
  struct berth_audit audit = { .arguments = ours.arguments,
                               .argument_count = ours.argument_count,
                               .secrets = ours.environment,
                               .secret_count = ours.environment_count,
                               .result = out };
  if (berth_audit_begin (&audit, sandbox->host, "exec", sandbox, &error) != 0)
    return -1;
  int result = set_output_limit (&sandbox->host->limits, &ours, &running, error);
  if (result == 0)
    result = request_make (sandbox, &ours, &request, error);
  if (result == 0)
    result = run (sandbox, &request, &running, error);
  if (result == 0)
    result = give_streams (&running, error);
  out->streamed = ours.output != NULL;
  out->truncated = out->dropped_bytes > 0;
  request_clear (&request);
  berth_buffer_free (&running.streams[0]);
  berth_buffer_free (&running.streams[1]);
  audit.bytes_out = running.told;
  return berth_audit_end (&audit, result);
}

void
berth_exec_result_clear (struct berth_exec_result *result)
{
  if (result == NULL)
    return;
  free (result->stdout_bytes);
  free (result->stderr_bytes);
  *result = (struct berth_exec_result) { .code = -1 };
}

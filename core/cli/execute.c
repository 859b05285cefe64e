#include "core/cli/execute.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/cli/output.h"
#include "core/cli/signals.h"
#include "core/cli/stream.h"
#include "sdk/base/json.h"

struct pump
{
  int error; /* errno of the write that failed */
  uint32_t stream;
};

static int
pass_on (void *context, uint32_t stream, const void *bytes, size_t size)
{
  struct pump *pump = context;

  if (cli_stream_put (stream == BERTH_STDERR ? STDERR_FILENO : STDOUT_FILENO, bytes, size) == 0)
    return 0;
  pump->error = errno;
  pump->stream = stream;
  return -1;
}

static const char *
reason_name (uint32_t reason)
{
  switch (reason)
    {
    case BERTH_EXITED:
      return "exited";
    case BERTH_SIGNALLED:
      return "signal";
    case BERTH_TIMED_OUT:
      return "timeout";
    case BERTH_OUT_OF_MEMORY:
      return "oom";
    case BERTH_WAS_CANCELLED:
      return "cancelled";
    default:
      return "unknown";
    }
}

static int
print_result (const struct cli *cli, const struct berth_sandbox *sandbox, const struct berth_exec_result *result)
{
  BERTH_AUTO_JSON struct berth_json *object = berth_json_new_object ();

  berth_json_set_string (object, "sandbox", berth_sandbox_id (sandbox));
  berth_json_set_string (object, "reason", reason_name (result->reason));
  berth_json_set_int64 (object, "status", result->status);
  berth_json_set (object, "code", result->reason == BERTH_EXITED ? berth_json_new_int64 (result->code) : berth_json_new_null ());
  berth_json_set (object, "signal", result->signal != 0 ? berth_json_new_int64 (result->signal) : berth_json_new_null ());
  berth_json_set_int64 (object, "duration_ms", (int64_t) (result->duration_ns / 1000000));
  berth_json_set (object, "stdout", berth_json_new_bytes (result->stdout_bytes, result->stdout_size));
  berth_json_set (object, "stderr", berth_json_new_bytes (result->stderr_bytes, result->stderr_size));
  berth_json_set_boolean (object, "truncated", result->truncated != 0);
  berth_json_set_int64 (object, "dropped_bytes", (int64_t) result->dropped_bytes);
  berth_json_set_boolean (object, "pipe_held", result->pipe_held != 0);
  berth_json_set_int64 (object, "memory_kills", result->memory_kills);
  return cli_print_json (cli, object);
}

static void
remark_on (const struct cli *cli, const struct berth_exec_result *result)
{
  if (result->truncated != 0)
    cli_remark (cli, "%llu bytes of output were dropped", (unsigned long long) result->dropped_bytes);
  if (result->reason == BERTH_TIMED_OUT)
    cli_remark (cli, "the command took longer than its timeout: it was ended with all it started");
  else if (result->reason == BERTH_OUT_OF_MEMORY)
    cli_remark (cli, "the command was killed: the sandbox is out of memory");
  else if (result->memory_kills > 0)
    cli_remark (cli, "%" PRIu32 " processes of the sandbox were killed meanwhile: it is out of memory", result->memory_kills);
  if (result->pipe_held != 0)
    cli_tell (cli, "processes that the command left in the background still hold its output");
}

static int
fail_pump (const struct cli *cli, const struct pump *pump)
{
  return cli_fail (cli, pump->error == ENOSPC ? BERTH_E_RESOURCE_EXHAUSTED : BERTH_E_CANCELLED,
                   "cannot write standard %s: %s; the command was ended", pump->stream == BERTH_STDERR ? "error" : "output",
                   strerror (pump->error));
}

int
cli_execute (struct cli *cli, struct berth_sandbox *sandbox, char **arguments, size_t count)
{
  struct berth_exec_options options = BERTH_EXEC_OPTIONS_INIT;
  struct berth_exec_result result = { 0 };
  struct pump pump = { 0 };
  struct berth_error error;
  int status;

  options.arguments = (const char *const *) arguments;
  options.argument_count = (uint32_t) count;
  options.environment = cli->line.environment.items;
  options.environment_count = cli->line.environment.count;
  options.workdir = cli_text (&cli->line, CLI_WORKDIR);
  options.user = cli_text (&cli->line, CLI_USER);
  options.timeout_ms = cli_number (&cli->line, CLI_TIMEOUT, BERTH_UNSET);
  options.max_output_bytes = cli_number (&cli->line, CLI_MAX_OUTPUT, BERTH_UNSET);
  options.cancel = cli->cancel;
  options.output = cli->json ? NULL : pass_on;
  options.output_context = &pump;
  if (berth_sandbox_run (sandbox, &options, &result, &error) < 0)
    status = cli_signals_caught () != 0 ? CLI_FAILED : pump.error != 0 ? fail_pump (cli, &pump) : cli_report (cli, &error);
  else if (cli_signals_caught () != 0)
    status = result.status;
  else if (pump.error != 0)
    status = fail_pump (cli, &pump);
  else
    {
      status = result.status;
      remark_on (cli, &result);
      if (cli->json && print_result (cli, sandbox, &result) != 0)
        status = CLI_FAILED;
    }
  berth_exec_result_clear (&result);
  return status;
}

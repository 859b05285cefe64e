#include "conformance/suites/run.h"

#include <unistd.h>

#include "sdk/base/clock.h"

#define COLLECT_MAX ((size_t) 128 << 20)

void
suite_ran_free (struct suite_ran *ran)
{
  berth_buffer_free (&ran->out);
  berth_buffer_free (&ran->err);
}

static int
take_output (void *context, uint32_t stream, const void *bytes, size_t size)
{
  struct suite_ran *ran = context;
  int64_t *first = stream == BERTH_STDOUT ? &ran->first_out_ms : &ran->first_err_ms;

  if (ran->first_out_ms < 0 && ran->first_err_ms < 0 && ran->command->at_output != NULL)
    ran->command->at_output (ran->command->context);
  if (ran->exits > 0 || (stream != BERTH_STDOUT && stream != BERTH_STDERR))
    ran->strange++;
  if (*first < 0)
    *first = berth_clock_monotonic_ms () - ran->started_ms;
  *(stream == BERTH_STDOUT ? &ran->out_bytes : &ran->err_bytes) += size;
  if (!ran->command->discard)
    berth_buffer_append (stream == BERTH_STDOUT ? &ran->out : &ran->err, bytes, size);
  if (ran->command->slow_ms > 0)
    berth_clock_sleep_ms (ran->command->slow_ms);
  return 0;
}

static int
take_exit (void *context, const struct berth_exit *exit)
{
  struct suite_ran *ran = context;

  ran->exits++;
  ran->exit_ms = berth_clock_monotonic_ms () - ran->started_ms;
  ran->exit = *exit;
  return 0;
}

static uint32_t
count_arguments (const char *const *arguments)
{
  uint32_t count = 0;

  while (arguments[count] != NULL)
    count++;
  return count;
}

static struct berth_run
fill_run (const struct suite_command *command)
{
  return (struct berth_run) {
    .struct_size = sizeof (struct berth_run),
    .argument_count = count_arguments (command->arguments),
    .asks = command->more_asks | (command->environment_count > 0 ? BERTH_RUN_ENVIRONMENT : 0)
            | (command->workdir != NULL ? BERTH_RUN_WORKDIR : 0) | (command->user != NULL ? BERTH_RUN_USER : 0)
            | (command->timeout_ms != 0 ? BERTH_RUN_TIMEOUT : 0),
    .arguments = command->arguments,
    .environment = command->environment,
    .environment_count = command->environment_count,
    .workdir = command->workdir,
    .user = command->user,
    .timeout_ms = command->timeout_ms,
  };
}

void
suite_run (struct suite_box *box, const struct suite_command *command, struct suite_ran *ran)
{
  struct berth_run run = fill_run (command);
  struct berth_run_sink sink
      = { .struct_size = sizeof sink, .context = ran, .output = take_output, .exit = take_exit };
  int64_t deadline_ms = command->deadline_ms != 0   ? command->deadline_ms
                        : command->timeout_ms != 0 ? command->timeout_ms + 20000
                                                    : 0;
  struct suite_call call;
  struct berth_call *made;
  int result;

  *ran = (struct suite_ran) { .box = box,
                              .out = { .limit = COLLECT_MAX },
                              .err = { .limit = COLLECT_MAX },
                              .command = command,
                              .first_out_ms = -1,
                              .first_err_ms = -1,
                              .exit_ms = -1,
                              .started_ms = berth_clock_monotonic_ms () };
  made = suite_call_begin (&call, box->suite, box->native_id, command->cancel, deadline_ms);
  result = box->suite->backend->commands->run (made, command->handle != NULL ? command->handle : box->handle, &run,
                                               &sink);
  ran->code = suite_call_end (&call, result, &ran->error);
  ran->ended_ms = berth_clock_monotonic_ms () - ran->started_ms;
  ran->command = NULL;
}

void
suite_argv (struct suite_box *box, struct suite_ran *ran, const char *const *arguments)
{
  suite_run (box, &(struct suite_command) { .arguments = arguments, .timeout_ms = 60000 }, ran);
}

void
suite_sh (struct suite_box *box, struct suite_ran *ran, int64_t timeout_ms, const char *script)
{
  const char *const arguments[] = { "/bin/sh", "-c", script, NULL };

  suite_run (box, &(struct suite_command) { .arguments = arguments, .timeout_ms = timeout_ms != 0 ? timeout_ms : 60000 },
             ran);
}

static void *
run_job (void *context)
{
  struct suite_job *job = context;

  suite_run (job->box, &job->command, &job->ran);
  return NULL;
}

void
suite_job_start (struct suite_job *job, struct suite_box *box, const char *script)
{
  job->box = box;
  job->arguments[0] = "/bin/sh";
  job->arguments[1] = "-c";
  job->arguments[2] = script;
  job->arguments[3] = NULL;
  job->command.arguments = job->arguments;
  SUITE_REQUIRE (box->suite, pthread_create (&job->thread, NULL, run_job, job) == 0, "no thread");
}

void
suite_job_join (struct suite_job *job)
{
  pthread_join (job->thread, NULL);
}

bool
suite_ran_exited (const struct suite_ran *ran, int32_t code)
{
  return ran->code == 0 && ran->exits == 1 && ran->strange == 0 && ran->exit.reason == BERTH_EXITED
         && ran->exit.code == code;
}

bool
suite_ran_printed (const struct suite_ran *ran, const char *text)
{
  return ran->out.size == strlen (text) && memcmp (berth_buffer_string (&ran->out), text, ran->out.size) == 0;
}

const char *
suite_ran_text (struct suite_ran *ran)
{
  static const char *const reasons[] = { "?", "EXITED", "SIGNALLED", "TIMED_OUT", "OUT_OF_MEMORY", "WAS_CANCELLED" };
  char *message = ran->error.message;

  if (ran->code == 0)
    snprintf (message, sizeof ran->error.message, "%s code %d signal %d, %u exits, %u strange, after %lld ms, stderr: %.300s",
              reasons[ran->exit.reason < 6 ? ran->exit.reason : 0], ran->exit.code, ran->exit.signal, ran->exits,
              ran->strange, (long long) ran->ended_ms, berth_buffer_string (&ran->err));
  return message;
}

bool
suite_has_own_pids (struct suite_box *box)
{
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  char ours[128] = "";
  ssize_t size = readlink ("/proc/self/ns/pid", ours, sizeof ours - 1);

  suite_sh (box, &ran, 0, "readlink /proc/self/ns/pid");
  return size > 0 && suite_ran_exited (&ran, 0) && strncmp (berth_buffer_string (&ran.out), ours, (size_t) size) != 0;
}

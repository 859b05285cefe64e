/* Runs a program in a sandbox of its own. */
#include <stdio.h>
#include <string.h>

#include <berth/berth.h>

static int
failed (const char *what, const struct berth_error *error)
{
  fprintf (stderr, "berth-example: %s: %s: %s\n", what, berth_error_name (error->code), error->message);
  if (error->hint[0] != '\0')
    fprintf (stderr, "berth-example: %s\n", error->hint);
  return 125;
}

/* The status of the program in ARGUMENTS. */
static int
run (struct berth_host *host, const char *backend, const char *const *arguments, int count)
{
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL; /* destroyed on every way out */
  static const struct berth_policy allow = { .struct_size = sizeof allow, .default_action = BERTH_ALLOW };
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
  struct berth_exec_options command = BERTH_EXEC_OPTIONS_INIT;
  struct berth_exec_result result;
  struct berth_error error;
  int status;

  options.backend = backend;
  if (backend != NULL) /* who names one knows what it can do: what it cannot is shown, not refused */
    {
      options.network = &allow;
      options.best_effort = 1;
    }
  if (berth_sandbox_create (host, &options, &sandbox, &error) < 0)
    return failed ("create", &error);
  command.arguments = arguments;
  command.argument_count = (uint64_t) count;
  if (berth_sandbox_run (sandbox, &command, &result, &error) < 0)
    return failed (arguments[0], &error);
  fwrite (result.stdout_bytes, 1, result.stdout_size, stdout);
  fwrite (result.stderr_bytes, 1, result.stderr_size, stderr);
  status = result.status;
  berth_exec_result_clear (&result);
  return status;
}

int
main (int count, char **arguments)
{
  const char *const *words = (const char *const *) arguments;
  const char *backend = NULL;
  struct berth_host *host;
  struct berth_error error;
  int first = 1;
  int status;

  if (count > 3 && strcmp (arguments[1], "--backend") == 0)
    {
      backend = arguments[2];
      first = 3;
    }
  if (first >= count)
    {
      fputs ("usage: berth-example [--backend NAME] PROGRAM [ARGUMENT]...\n", stderr);
      return 2;
    }
  if (berth_host_open (NULL, &host, &error) < 0)
    return failed ("open", &error);
  status = run (host, backend, words + first, count - first);
  berth_host_close (host);
  return status;
}

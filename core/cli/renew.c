/* berth renew */
#include <stdio.h>

#include "core/cli/output.h"
#include "core/cli/text.h"

static void
add_json (struct berth_json *array, const char *name, const char *id, const struct berth_expiry *expiry,
          const struct berth_error *error)
{
  struct berth_json *object = berth_json_new_object ();

  berth_json_set_string (object, "sandbox", name);
  berth_json_set_string (object, "id", id);
  berth_json_set (object, "expires", error == NULL ? cli_json_expiry (expiry) : berth_json_new_null ());
  berth_json_set_string (object, "error", error != NULL ? berth_error_name (error->code) : NULL);
  berth_json_set_string (object, "detail", error != NULL ? error->message : NULL);
  berth_json_append (array, object);
}

static void
print_text (const struct cli *cli, const char *id, const struct berth_expiry *expiry)
{
  char left[CLI_AGE_SIZE];

  cli_text_age (expiry->remaining_ms, left);
  if (cli->quiet)
    printf ("%s\n", id);
  else if (expiry->kind == BERTH_EXPIRES_AT)
    printf ("%s ends in %s\n", id, left);
  else
    printf ("%s does not end by itself\n", id);
}

/* True when it is done. */
static bool
renew_one (struct cli *cli, const char *name, struct berth_json *array)
{
  CLI_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  struct berth_expiry expiry = { 0 };
  struct berth_error error;
  bool done = berth_sandbox_open (cli->host, name, &sandbox, &error) == 0
              && berth_sandbox_renew (sandbox, cli_number (&cli->line, CLI_TTL, BERTH_UNSET), &expiry, &error) == 0;

  if (array != NULL)
    add_json (array, name, sandbox != NULL ? berth_sandbox_id (sandbox) : NULL, &expiry, done ? NULL : &error);
  else if (done)
    print_text (cli, berth_sandbox_id (sandbox), &expiry);
  else
    cli_report (cli, &error);
  return done;
}

int
cli_renew (struct cli *cli)
{
  struct berth_json *array = NULL;
  int status = cli_open_host (cli), answer = 0;

  if (status != 0)
    return status;
  if (cli->json)
    array = berth_json_new_array ();
  for (size_t i = 0; i < cli->line.word_count; i++)
    if (!renew_one (cli, cli->line.words[i], array))
      answer = CLI_NOT_ALL;
  if (cli->json)
    status = cli_print_json (cli, array);
  berth_json_free (array);
  return status != 0 ? status : answer;
}

/* berth events */
#include <stdio.h>
#include <string.h>

#include "core/cli/output.h"
#include "core/cli/signals.h"
#include "core/cli/text.h"
#include "sdk/base/clock.h"
#include "sdk/base/string.h"

struct showing
{
  struct cli *cli;
  int status;
};

static const char *
text_of (const struct berth_json *record, const char *key)
{
  const char *text = berth_json_string (berth_json_get (record, key));

  return text != NULL ? text : "-";
}

/* The command, or the path, that it was about. */
static void
print_object (const struct berth_json *record)
{
  const struct berth_json *arguments = berth_json_get (record, "argv");
  const char *path = berth_json_string (berth_json_get (record, "path"));
  const char *to = berth_json_string (berth_json_get (record, "to"));

  for (size_t i = 0; i < berth_json_length (arguments); i++)
    {
      const char *text = berth_json_string (berth_json_at (arguments, i));
      putchar (' ');
      cli_text_print (stdout, text != NULL ? text : "?");
    }
  if (path != NULL)
    {
      putchar (' ');
      cli_text_print (stdout, path);
    }
  if (to != NULL)
    {
      putchar (' ');
      cli_text_print (stdout, to);
    }
}

static void
print_end (const struct berth_json *record)
{
  const char *const words[] = { berth_json_string (berth_json_get (record, "error")),
                                berth_json_string (berth_json_get (record, "outcome")),
                                berth_json_string (berth_json_get (record, "reason")) };
  int64_t number = 0;

  if (berth_json_to_int64 (berth_json_get (record, "status"), &number) == 0)
    printf (" status=%lld", (long long) number);
  if (berth_json_to_int64 (berth_json_get (record, "duration_us"), &number) == 0)
    printf (" %lld.%03lldms", (long long) (number / 1000), (long long) (number % 1000));
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (words[i] != NULL)
      printf (" %s", words[i]);
}

/* One line each, so that what follows can be read as it comes. */
static int
show (void *context, const struct berth_event *event)
{
  struct showing *showing = context;

  if (showing->cli->json)
    printf ("%s\n", event->json);
  else
    {
      BERTH_AUTO_JSON struct berth_json *record
          = berth_json_parse (event->json, strlen (event->json), BERTH_JSON_SIZE, NULL);
      printf ("%s %s %s", text_of (record, "time"), text_of (record, "sandbox"), text_of (record, "operation"));
      if (strcmp (text_of (record, "phase"), "begin") == 0)
        fputs (" begins", stdout);
      print_object (record);
      print_end (record);
      putchar ('\n');
    }
  if (fflush (stdout) != 0)
    showing->status = cli_fail_output (showing->cli);
  return showing->status;
}

static int
open_all (struct cli *cli, struct berth_event_options *options)
{
  int64_t since_ms = cli_number (&cli->line, CLI_SINCE, BERTH_UNSET);
  int status = cli_open_host (cli);

  if (status == 0)
    status = cli_signals_catch (cli);
  options->follow = cli_given (&cli->line, CLI_FOLLOW);
  options->all_owners = cli_given (&cli->line, CLI_ALL_OWNERS);
  options->cancel = cli->cancel;
  if (since_ms != BERTH_UNSET)
    options->since_wall_ms = berth_clock_wall_ms () - since_ms;
  else if (options->follow != 0)
    options->since_wall_ms = berth_clock_wall_ms ();
  return status;
}

/* A sandbox that is gone is known by its whole id only. */
static int
find_sandbox (struct cli *cli, const char *word, struct berth_sandbox **sandbox, const char **id)
{
  struct berth_error error;

  *id = word;
  if (berth_sandbox_open (cli->host, word, sandbox, &error) == 0)
    *id = berth_sandbox_id (*sandbox);
  else if (error.code != BERTH_E_SANDBOX_NOT_FOUND || !berth_string_starts_with (word, "sb-"))
    return cli_report (cli, &error);
  return 0;
}

int
cli_events (struct cli *cli)
{
  CLI_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  struct berth_event_options options = BERTH_EVENT_OPTIONS_INIT;
  struct showing showing = { .cli = cli };
  struct berth_error error;
  int status = open_all (cli, &options);

  if (status != 0)
    return status;
  if (cli->line.word_count > 0)
    status = find_sandbox (cli, cli->line.words[0], &sandbox, &options.sandbox);
  if (status != 0)
    return status;
  if (berth_event_list (cli->host, &options, show, &showing, &error) != 0)
    return error.code == BERTH_E_CANCELLED ? 0 : cli_report (cli, &error);
  return showing.status;
}

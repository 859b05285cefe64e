/* What is told on standard error. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/cli/cli.h"
#include "core/cli/progress.h"
#include "core/cli/text.h"
#include "sdk/base/fd.h"
#include "sdk/base/json.h"
#include "sdk/base/string.h"

static int
failure_status (const struct cli *cli, bool usage)
{
  return usage && (cli->line.command == NULL || !cli->line.command->runs) ? CLI_USAGE : CLI_FAILED;
}

static void
report_json (const struct berth_error *error)
{
  BERTH_AUTO_JSON struct berth_json *document = berth_json_new_object ();
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  struct berth_json *inner = berth_json_new_object ();

  if (document == NULL || inner == NULL)
    {
      berth_json_free (inner);
      return;
    }
  berth_json_set_string (inner, "code", berth_error_name (error->code));
  berth_json_set_int64 (inner, "http_status", error->http_status);
  berth_json_set_string (inner, "message", error->message);
  berth_json_set_string (inner, "hint", error->hint);
  berth_json_set_string (inner, "backend", error->backend);
  if (error->retry_after_ms > 0)
    berth_json_set_int64 (inner, "retry_after_ms", error->retry_after_ms);
  berth_json_set (document, "error", inner);
  if (berth_json_print (document, false, &text) == 0 && berth_buffer_append_byte (&text, '\n') == 0)
    berth_fd_write_all (STDERR_FILENO, text.data, text.size);
}

/* One write, so that the lines of several processes do not mix. */
static void
say (const char *start, const char *message, const char *hint)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };

  berth_buffer_append_string (&text, start);
  cli_text_escape (&text, message, CLI_ESCAPE_LINES);
  berth_buffer_append_byte (&text, '\n');
  if (hint != NULL && hint[0] != '\0')
    {
      berth_buffer_append_string (&text, "hint: ");
      cli_text_escape (&text, hint, CLI_ESCAPE_LINES);
      berth_buffer_append_byte (&text, '\n');
    }
  if (text.error == 0)
    berth_fd_write_all (STDERR_FILENO, text.data, text.size);
}

int
cli_report (const struct cli *cli, const struct berth_error *error)
{
  cli_progress_wipe (cli);
  if (cli->json)
    report_json (error);
  else
    say ("berth: ", error->message[0] != '\0' ? error->message : berth_error_name (error->code), error->hint);
  return failure_status (cli, false);
}

int
cli_fail (const struct cli *cli, uint32_t code, const char *format, ...)
{
  struct berth_error error = { .code = code, .http_status = code / 100 };
  va_list arguments;

  va_start (arguments, format);
  vsnprintf (error.message, sizeof error.message, format, arguments);
  va_end (arguments);
  return cli_report (cli, &error);
}

int
cli_refuse_line (const struct cli *cli, const char *problem, const char *hint)
{
  struct berth_error error = { .code = BERTH_E_INVALID_REQUEST, .http_status = BERTH_E_INVALID_REQUEST / 100 };

  snprintf (error.message, sizeof error.message, "%s", problem);
  snprintf (error.hint, sizeof error.hint, "%s", hint);
  cli_report (cli, &error);
  return failure_status (cli, true);
}

int
cli_check_options (const struct cli *cli, const char *word, uint64_t options)
{
  char problem[128], hint[64];

  for (unsigned int i = 0; i < CLI_OPTION_COUNT; i++)
    if (cli->line.values[i].given && ((options | CLI_GLOBAL) & CLI_BIT (i)) == 0)
      {
        snprintf (problem, sizeof problem, "`berth %s %s` takes no --%s", cli->line.command->name, word, cli_options[i].name);
        snprintf (hint, sizeof hint, "`berth help %s`", cli->line.command->name);
        return cli_refuse_line (cli, problem, hint);
      }
  return 0;
}

int
cli_fail_output (const struct cli *cli)
{
  return cli_fail (cli, errno == ENOSPC ? BERTH_E_RESOURCE_EXHAUSTED : BERTH_E_INVALID_REQUEST,
                   "cannot write standard output: %s", strerror (errno));
}

static void
say_formatted (const char *format, va_list arguments)
{
  BERTH_AUTO_FREE char *text = berth_string_vformat (format, arguments);

  if (text != NULL)
    say ("berth: ", text, NULL);
}

void
cli_remark (const struct cli *cli, const char *format, ...)
{
  va_list arguments;

  if (cli->quiet || cli->json)
    return;
  cli_progress_wipe (cli);
  va_start (arguments, format);
  say_formatted (format, arguments);
  va_end (arguments);
}

void
cli_tell (const struct cli *cli, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  if (cli->verbose)
    say_formatted (format, arguments);
  va_end (arguments);
}

bool
cli_has_colours (int fd)
{
  const char *no_colour = getenv ("NO_COLOR");
  const char *terminal = getenv ("TERM");

  return (no_colour == NULL || no_colour[0] == '\0') && terminal != NULL && strcmp (terminal, "dumb") != 0 && isatty (fd);
}

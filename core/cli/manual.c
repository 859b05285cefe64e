#include "core/cli/manual.h"

#include <ctype.h>
#include <string.h>

#define WIDTH 78

/* Appends TEXT in lines that begin at column INDENT; the first one begins at COLUMN. */
static void
append_wrapped (struct berth_buffer *out, const char *text, size_t indent, size_t column)
{
  size_t word, i;

  for (; *text != '\0'; text += word + strspn (text + word, " "))
    {
      word = strcspn (text, " ");
      if (column > indent && column + 1 + word > WIDTH)
        {
          berth_buffer_append_byte (out, '\n');
          for (i = 0; i < indent; i++)
            berth_buffer_append_byte (out, ' ');
          column = indent;
        }
      else if (column > indent)
        {
          berth_buffer_append_byte (out, ' ');
          column++;
        }
      berth_buffer_append (out, text, word);
      column += word;
    }
  berth_buffer_append_byte (out, '\n');
}

static void
append_entry (struct berth_buffer *out, const char *term, const char *help)
{
  size_t column = strlen (term) + 2;

  berth_buffer_appendf (out, "  %s", term);
  if (column + 2 > 28)
    {
      berth_buffer_append_byte (out, '\n');
      column = 0;
    }
  berth_buffer_appendf (out, "%*s", (int) (28 - column), "");
  append_wrapped (out, help, 28, 28);
}

/* "-e, --env KEY[=VALUE]" */
static void
append_term (struct berth_buffer *out, const struct cli_option *option)
{
  if (option->letter != '\0')
    berth_buffer_appendf (out, "-%c, ", option->letter);
  berth_buffer_appendf (out, "--%s", option->name);
  if (option->value != NULL)
    berth_buffer_appendf (out, " %s", option->value);
}

static void
append_options (struct berth_buffer *out, uint64_t options)
{
  unsigned int i;

  for (i = 0; i < CLI_OPTION_COUNT; i++)
    if ((options & CLI_BIT (i)) != 0)
      {
        BERTH_AUTO_BUFFER struct berth_buffer term = { 0 };

        if (cli_options[i].letter == '\0')
          berth_buffer_append_string (&term, "    ");
        append_term (&term, &cli_options[i]);
        append_entry (out, berth_buffer_string (&term), cli_options[i].help);
      }
}

void
cli_manual_overview (struct berth_buffer *text)
{
  size_t i;

  berth_buffer_append_string (text, "usage: berth [OPTION...] COMMAND [ARG...]\n\n"
                                    "Runs programs in isolated sandboxes.\n\nCommands:\n");
  for (i = 0; i < CLI_COMMAND_COUNT; i++)
    append_entry (text, cli_commands[i].name, cli_commands[i].summary);
  berth_buffer_append_string (text, "\nOptions, before or after the command:\n");
  append_options (text, CLI_GLOBAL);
  berth_buffer_append_string (text, "\n`berth COMMAND --help` tells more about a command, berth(1) all.\n");
}

void
cli_manual_command (struct berth_buffer *text, const struct cli_command *command)
{
  berth_buffer_appendf (text, "usage: berth %s [OPTION...]%s%s\n\n", command->name, command->words[0] != '\0' ? " " : "",
                        command->words);
  append_wrapped (text, command->detail, 0, 0);
  if (command->options != 0)
    {
      berth_buffer_append_string (text, "\nOptions:\n");
      append_options (text, command->options);
    }
  berth_buffer_append_string (text, "\nOptions of every command:\n");
  append_options (text, CLI_GLOBAL);
}

/* ---- POD ---- */

/* Text in which < and > would be read as markup. */
static void
append_pod (struct berth_buffer *out, const char *text)
{
  const char *at;
  bool code = false;

  for (at = text; *at != '\0'; at++)
    if (*at == '<')
      berth_buffer_append_string (out, "E<lt>");
    else if (*at == '>')
      berth_buffer_append_string (out, "E<gt>");
    else if (*at == '`')
      {
        code = !code;
        berth_buffer_append_string (out, code ? "C<" : ">");
      }
    else
      berth_buffer_append_byte (out, (unsigned char) *at);
}

static void
append_pod_options (struct berth_buffer *out, uint64_t options)
{
  unsigned int i;

  berth_buffer_append_string (out, "=over 4\n\n");
  for (i = 0; i < CLI_OPTION_COUNT; i++)
    if ((options & CLI_BIT (i)) != 0)
      {
        berth_buffer_append_string (out, "=item B<");
        if (cli_options[i].letter != '\0')
          berth_buffer_appendf (out, "-%c>, B<", cli_options[i].letter);
        berth_buffer_appendf (out, "--%s>", cli_options[i].name);
        if (cli_options[i].value != NULL)
          berth_buffer_appendf (out, " I<%s>", cli_options[i].value);
        berth_buffer_append_string (out, "\n\n");
        berth_buffer_append_byte (out, (unsigned char) toupper ((unsigned char) cli_options[i].help[0]));
        append_pod (out, cli_options[i].help + 1);
        berth_buffer_append_string (out, ".\n\n");
      }
  berth_buffer_append_string (out, "=back\n\n");
}

void
cli_manual_pod (struct berth_buffer *text)
{
  size_t i;

  for (i = 0; i < CLI_COMMAND_COUNT; i++)
    {
      const struct cli_command *command = &cli_commands[i];

      berth_buffer_appendf (text, "=head2 berth %s%s%s%s\n\n", command->name, command->options != 0 ? " [OPTION...]" : "",
                            command->words[0] != '\0' ? " " : "", command->words);
      append_pod (text, command->detail);
      berth_buffer_append_string (text, "\n\n");
      if (command->options != 0)
        append_pod_options (text, command->options);
    }
}

void
cli_manual_pod_globals (struct berth_buffer *text)
{
  append_pod_options (text, CLI_GLOBAL);
}

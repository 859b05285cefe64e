/* shell.c - lines of the very small shell: words, quotes, variables, `;` `&&` `||`, redirections.
 * What it does not know is a syntax error with exit status 2, never a guess. */
#include "plugins/fake/shell.h"

#include <ctype.h>
#include <stdarg.h>

#include "sdk/base/string.h"

#define DEPTH_MAX 8

const char *
fake_shell_variable (const struct fake_shell *shell, const char *name, size_t size)
{
  for (size_t i = shell->environment.count; i > 0; i--)
    if (strncmp (shell->environment.list[i - 1], name, size) == 0 && shell->environment.list[i - 1][size] == '=')
      return shell->environment.list[i - 1] + size + 1;
  return NULL;
}

int
fake_shell_print (struct fake_shell *shell, uint32_t stream, const char *format, ...)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  va_list arguments;

  va_start (arguments, format);
  berth_buffer_vappendf (&text, format, arguments);
  va_end (arguments);
  if (stream == BERTH_STDOUT && shell->capture != NULL)
    return berth_buffer_append (shell->capture, berth_buffer_string (&text), text.size);
  if (stream == BERTH_STDOUT)
    stream = shell->stdout_stream;
  if (text.error != 0 || (text.size > 0 && fake_outcome_add (shell->outcome, stream, text.data, text.size, 1) < 0))
    return fake_failed (shell->call, "script a command");
  return 0;
}

int
fake_shell_command (struct fake_shell *shell, char **arguments, size_t count)
{
  int known = fake_script_match (shell->call, shell->box->state, (const char *const *) arguments, count,
                                 shell->outcome);

  if (known < 0)
    return -1;
  if (known == 0)
    known = fake_builtin (shell, arguments, count);
  else
    shell->status = shell->outcome->code;
  if (known != 0)
    return known < 0 ? -1 : 0;
  shell->status = 127;
  return fake_shell_print (shell, BERTH_STDERR, "%s: not found\n", arguments[0]);
}

/* --- lines ------------------------------------------------------------------------------------------------ */

/* Where a line has been read to, and the command that is being put together. */
struct reader
{
  struct fake_shell *shell;
  const char *at;
  struct fake_words words;
  char *target; /* of > and >> */
  int append;
  int to_stderr; /* >&2 */
};

static void
clear_command (struct reader *reader)
{
  fake_words_free (&reader->words);
  free (reader->target);
  reader->target = NULL;
  reader->append = 0;
  reader->to_stderr = 0;
}

/* $NAME ${NAME} $? $$ */
static int
read_variable (struct reader *reader, struct berth_buffer *word)
{
  const char *name = reader->at;
  size_t size = 0;
  const char *value;

  if (*name == '?' || *name == '$')
    {
      reader->at++;
      return berth_buffer_appendf (word, "%d", *name == '?' ? reader->shell->status : 2);
    }
  if (*name == '{')
    name++;
  while (isalnum ((unsigned char) name[size]) || name[size] == '_')
    size++;
  if (size == 0)
    return berth_buffer_append_byte (word, '$');
  reader->at = name + size + (name != reader->at && name[size] == '}');
  value = fake_shell_variable (reader->shell, name, size);
  return berth_buffer_append_string (word, value != NULL ? value : "");
}

/* A part of a word that is in quotes. */
static int
read_quoted (struct reader *reader, char quote, struct berth_buffer *word)
{
  for (reader->at++; *reader->at != quote; )
    {
      if (*reader->at == '\0')
        return -1;
      if (quote == '"' && *reader->at == '$')
        {
          reader->at++;
          read_variable (reader, word);
          continue;
        }
      if (quote == '"' && *reader->at == '\\' && strchr ("\"\\$`", reader->at[1]) != NULL && reader->at[1] != '\0')
        reader->at++;
      berth_buffer_append_byte (word, (unsigned char) *reader->at++);
    }
  reader->at++;
  return 0;
}

/* 1 a word, 0 none here, -1 a syntax error. */
static int
read_word (struct reader *reader, struct berth_buffer *word)
{
  const char *begin;

  reader->at += strspn (reader->at, " \t");
  begin = reader->at;
  while (*reader->at != '\0' && strchr (" \t\n;&|<>()", *reader->at) == NULL)
    if (*reader->at == '\'' || *reader->at == '"')
      {
        if (read_quoted (reader, *reader->at, word) < 0)
          return -1;
      }
    else if (*reader->at == '$')
      {
        reader->at++;
        read_variable (reader, word);
      }
    else
      {
        if (*reader->at == '\\' && reader->at[1] != '\0')
          reader->at++;
        berth_buffer_append_byte (word, (unsigned char) *reader->at++);
      }
  return reader->at > begin;
}

static int
read_redirection (struct reader *reader)
{
  BERTH_AUTO_BUFFER struct berth_buffer word = { 0 };

  reader->at++;
  if (*reader->at == '>')
    {
      reader->append = 1;
      reader->at++;
    }
  if (strncmp (reader->at, "&2", 2) == 0)
    {
      reader->to_stderr = 1;
      reader->at += 2;
      return 0;
    }
  if (read_word (reader, &word) != 1)
    return -1;
  free (reader->target);
  reader->target = berth_buffer_steal (&word);
  return reader->target == NULL ? -1 : 0;
}

/* Words and redirections up to an operator. */
static int
read_command (struct reader *reader)
{
  for (;;)
    {
      BERTH_AUTO_BUFFER struct berth_buffer word = { 0 };
      int found = read_word (reader, &word);

      if (found < 0)
        return -1;
      if (*reader->at == '>' && (found == 0 || (word.size == 1 && *word.data == '1')))
        {
          if (read_redirection (reader) < 0)
            return -1;
          continue;
        }
      if (found == 0)
        return 0;
      if (fake_words_add (&reader->words, berth_buffer_string (&word), word.size) < 0)
        return -1;
    }
}

static int
run_command (struct reader *reader)
{
  struct fake_shell *shell = reader->shell;
  BERTH_AUTO_BUFFER struct berth_buffer capture = { 0 };
  uint32_t stream = shell->stdout_stream;
  int result;

  if (reader->words.count == 0)
    return 0;
  if (reader->target != NULL)
    shell->capture = &capture;
  if (reader->to_stderr)
    shell->stdout_stream = BERTH_STDERR;
  result = fake_shell_command (shell, reader->words.list, reader->words.count);
  shell->capture = NULL;
  shell->stdout_stream = stream;
  if (result < 0 || reader->target == NULL || strcmp (reader->target, "/dev/null") == 0)
    return result;
  return fake_shell_write (shell, reader->target, &capture, reader->append);
}

/* Takes an operator: 1 go on and run, 2 go on and skip the next command, 0 the end, -1. */
static int
take_operator (struct reader *reader)
{
  int status = reader->shell->status;

  if (*reader->at == '\0')
    return 0;
  if (strncmp (reader->at, "&&", 2) == 0 || strncmp (reader->at, "||", 2) == 0)
    {
      int wants_success = *reader->at == '&';

      reader->at += 2;
      return (status == 0) == wants_success ? 1 : 2;
    }
  if (*reader->at != ';' && *reader->at != '\n' && *reader->at != '&')
    return -1;
  reader->at++;
  return 1;
}

static int
syntax_error (struct reader *reader)
{
  reader->shell->status = 2;
  return fake_shell_print (reader->shell, BERTH_STDERR, "sh: the fake shell does not understand: %s\n", reader->at);
}

static int
read_line (struct reader *reader)
{
  int next = 1;

  while (!reader->shell->done && next > 0)
    {
      clear_command (reader);
      if (read_command (reader) < 0)
        return syntax_error (reader);
      if (next == 1 && run_command (reader) < 0)
        return -1;
      next = take_operator (reader);
    }
  return next < 0 ? syntax_error (reader) : 0;
}

int
fake_shell_line (struct fake_shell *shell, const char *line)
{
  struct reader reader = { shell, line, { NULL, 0 }, NULL, 0, 0 };
  int result;

  if (shell->depth >= DEPTH_MAX)
    return shell->call->services->fail (shell->call, BERTH_E_INVALID_REQUEST, "more than %d shells within each other",
                                        DEPTH_MAX);
  shell->depth++;
  result = read_line (&reader);
  shell->depth--;
  clear_command (&reader);
  return result;
}

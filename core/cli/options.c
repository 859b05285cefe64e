#include "core/cli/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cli/suggest.h"
#include "sdk/base/string.h"

static int complain (struct cli_line *line, const char *format, ...) __attribute__ ((format (printf, 2, 3)));
static void advise (struct cli_line *line, const char *format, ...) __attribute__ ((format (printf, 2, 3)));

static int
complain (struct cli_line *line, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  vsnprintf (line->problem, sizeof line->problem, format, arguments);
  va_end (arguments);
  return -1;
}

static void
advise (struct cli_line *line, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  vsnprintf (line->hint, sizeof line->hint, format, arguments);
  va_end (arguments);
}

static uint64_t
allowed (const struct cli_line *line)
{
  return CLI_GLOBAL | (line->command != NULL ? line->command->options : 0);
}

/* ---- values ---- */

struct kind
{
  const char *noun;    /* "not a size" */
  const char *example; /* what would be one */
};

static struct kind
describe_type (enum cli_type type)
{
  switch (type)
    {
    case CLI_TYPE_SIZE:
      return (struct kind) { "a size", "4096, 512M or 1.5G" };
    case CLI_TYPE_DURATION:
      return (struct kind) { "a time", "90s, 15m or 1h30m" };
    case CLI_TYPE_THOUSANDTHS:
      return (struct kind) { "a number with at most three decimals", "0.5 or 2" };
    case CLI_TYPE_OCTAL:
      return (struct kind) { "an octal mode", "0644" };
    default:
      return (struct kind) { "a whole number", "64" };
    }
}

static int
parse_octal (const char *text, int64_t least, int64_t most, int64_t *value)
{
  char *end;
  long number;

  if (text[0] == '\0' || strspn (text, "01234567") != strlen (text))
    {
      errno = EINVAL;
      return -1;
    }
  errno = 0;
  number = strtol (text, &end, 8);
  if (errno != 0 || number < least || number > most)
    {
      errno = ERANGE;
      return -1;
    }
  *value = number;
  return 0;
}

static int
parse_number (const struct cli_option *option, const char *text, int64_t *value)
{
  uint64_t bytes;

  switch (option->type)
    {
    case CLI_TYPE_SIZE:
      if (berth_string_to_size (text, (uint64_t) option->least, (uint64_t) option->most, &bytes) < 0)
        return -1;
      *value = (int64_t) bytes;
      return 0;
    case CLI_TYPE_DURATION:
      return berth_string_to_duration (text, option->least, option->most, value);
    case CLI_TYPE_THOUSANDTHS:
      return berth_string_to_thousandths (text, option->least, option->most, value);
    case CLI_TYPE_OCTAL:
      return parse_octal (text, option->least, option->most, value);
    default:
      return berth_string_to_int64 (text, option->least, option->most, value);
    }
}

/* The bounds of an option as its own parser would read them. */
static void
format_bound (const struct cli_option *option, int64_t bound, char text[BERTH_STRING_NUMBER_SIZE])
{
  if (option->type == CLI_TYPE_SIZE)
    berth_string_from_size ((uint64_t) bound, text);
  else if (option->type == CLI_TYPE_DURATION)
    berth_string_from_duration (bound, text);
  else if (option->type == CLI_TYPE_THOUSANDTHS)
    snprintf (text, BERTH_STRING_NUMBER_SIZE, "%lld.%03lld", (long long) (bound / 1000), (long long) (bound % 1000));
  else if (option->type == CLI_TYPE_OCTAL)
    snprintf (text, BERTH_STRING_NUMBER_SIZE, "%04llo", (unsigned long long) bound);
  else
    snprintf (text, BERTH_STRING_NUMBER_SIZE, "%lld", (long long) bound);
}

static int
set_number (struct cli_line *line, const struct cli_option *option, struct cli_value *value, const char *text)
{
  struct kind kind = describe_type (option->type);
  char least[BERTH_STRING_NUMBER_SIZE], most[BERTH_STRING_NUMBER_SIZE];

  if (parse_number (option, text, &value->number) == 0)
    return 0;
  if (errno != ERANGE && text[0] != '-')
    return complain (line, "--%s: \"%s\" is not %s, such as %s", option->name, text, kind.noun, kind.example);
  format_bound (option, option->least, least);
  format_bound (option, option->most, most);
  if (option->most == INT64_MAX)
    return complain (line, "--%s: %s is out of range, want at least %s", option->name, text, least);
  return complain (line, "--%s: %s is out of range, want %s to %s", option->name, text, least, most);
}

static int
set_choice (struct cli_line *line, const struct cli_option *option, const char *text)
{
  size_t size = strlen (text);
  const char *at, *end;

  for (at = option->choices; size > 0 && at != NULL; at = end != NULL ? end + 1 : NULL)
    {
      end = strchr (at, '|');
      if ((end != NULL ? (size_t) (end - at) : strlen (at)) == size && memcmp (at, text, size) == 0)
        return 0;
    }
  return complain (line, "--%s: got \"%s\", want one of %s", option->name, text, option->choices);
}

int
cli_pairs_push (struct cli_pairs *pairs, struct berth_pair *pair)
{
  struct berth_pair *grown = realloc (pairs->items, (pairs->count + 1) * sizeof *grown);

  if (grown == NULL)
    {
      free ((char *) pair->name);
      pair->name = NULL;
      return -1;
    }
  pairs->items = grown;
  pairs->items[pairs->count++] = *pair;
  pair->name = NULL;
  return 0;
}

/* Where labels choose among sandboxes, a name alone is enough. */
static bool
filters_labels (const struct cli_line *line, enum cli_option_id id)
{
  return id == CLI_LABEL && line->command != NULL && (line->command->options & CLI_BIT (CLI_NAME)) == 0;
}

int
cli_pairs_add (struct cli_line *line, enum cli_option_id id, const char *text)
{
  const struct cli_option *option = &cli_options[id];
  const char *equals = strchr (text, '=');
  size_t size = equals != NULL ? (size_t) (equals - text) : strlen (text);
  struct berth_pair pair = { NULL, equals != NULL ? equals + 1 : NULL, 0, 0 };
  bool may_lack_value = option->type == CLI_TYPE_SECRET || filters_labels (line, id);
  struct cli_pairs *pairs = id == CLI_LABEL    ? &line->labels
                            : id == CLI_SECRET ? &line->secrets
                                               : &line->environment;

  if (size == 0 && option->type == CLI_TYPE_SECRET)
    return complain (line, "--%s has no name, want %s", option->name, option->value);
  if (size == 0)
    return complain (line, "--%s: \"%s\" has no name, want %s", option->name, text, option->value);
  pair.name = strndup (text, size);
  if (pair.name == NULL)
    return complain (line, "--%s: no memory", option->name);
  if (pair.value == NULL && option->type == CLI_TYPE_VARIABLE)
    pair.value = getenv (pair.name);
  if (pair.value == NULL && option->type == CLI_TYPE_VARIABLE)
    {
      complain (line, "--%s %s: the environment has no such variable, want %s=VALUE", option->name, text, text);
      advise (line, "what `berth env save %s` has saved is taken with --environment %s", text, text);
    }
  else if (pair.value == NULL && !may_lack_value)
    complain (line, "--%s %s: the value is missing, want %s", option->name, text, option->value);
  else if (cli_pairs_push (pairs, &pair) < 0)
    complain (line, "--%s: no memory", option->name);
  else
    return 0;
  free ((char *) pair.name);
  return -1;
}

static int
set_value (struct cli_line *line, enum cli_option_id id, const char *text)
{
  const struct cli_option *option = &cli_options[id];
  struct cli_value *value = &line->values[id];

  value->given = true;
  value->text = text;
  switch (option->type)
    {
    case CLI_TYPE_FLAG:
      return 0;
    case CLI_TYPE_TEXT:
      return text[0] != '\0' || id == CLI_CONTENT ? 0
                                                  : complain (line, "--%s: the value is empty, want %s", option->name, option->value);
    case CLI_TYPE_CHOICE:
      return set_choice (line, option, text);
    case CLI_TYPE_PAIR:
    case CLI_TYPE_VARIABLE:
    case CLI_TYPE_SECRET:
      return cli_pairs_add (line, id, text);
    default:
      return set_number (line, option, value, text);
    }
}

/* ---- words of the line ---- */

static int
refuse_unknown (struct cli_line *line, const char *name, size_t size)
{
  const char *command = line->command != NULL ? line->command->name : "";
  const char *close;
  size_t i;

  for (i = 0; i < CLI_OPTION_COUNT; i++)
    if (strncmp (cli_options[i].name, name, size) == 0 && cli_options[i].name[size] == '\0')
      {
        if (line->command == NULL)
          advise (line, "options of a command come after its name: `berth COMMAND --%.*s`", (int) size, name);
        else
          advise (line, "`berth %s --help` lists its options", command);
        return complain (line, "`berth%s%s` has no option --%.*s", command[0] != '\0' ? " " : "", command, (int) size, name);
      }
  close = cli_suggest_option (name, size, allowed (line));
  if (close != NULL)
    advise (line, "did you mean --%s?", close);
  else
    advise (line, "`berth %s%s--help` lists the options", command, command[0] != '\0' ? " " : "");
  return complain (line, "unknown option --%.*s", (int) size, name);
}

/* The value of option ID is in the same word after INLINE_VALUE, or is the next word. */
static int
take_value (struct cli_line *line, enum cli_option_id id, const char *inline_value, int argc, char **argv, int *at)
{
  if (cli_options[id].type == CLI_TYPE_FLAG || inline_value != NULL)
    return set_value (line, id, inline_value);
  if (*at >= argc)
    return complain (line, "--%s needs a value: --%s %s", cli_options[id].name, cli_options[id].name, cli_options[id].value);
  return set_value (line, id, argv[(*at)++]);
}

static int
take_long (struct cli_line *line, const char *name, int argc, char **argv, int *at)
{
  const char *equals = strchr (name, '=');
  size_t size = equals != NULL ? (size_t) (equals - name) : strlen (name);
  unsigned int i;

  for (i = 0; i < CLI_OPTION_COUNT; i++)
    {
      if ((allowed (line) & CLI_BIT (i)) == 0 || strncmp (cli_options[i].name, name, size) != 0
          || cli_options[i].name[size] != '\0')
        continue;
      if (equals != NULL && cli_options[i].type == CLI_TYPE_FLAG)
        return complain (line, "--%s takes no value, got \"%s\"", cli_options[i].name, equals + 1);
      return take_value (line, i, equals != NULL ? equals + 1 : NULL, argc, argv, at);
    }
  return refuse_unknown (line, name, size);
}

/* "-qv", "-eA=B", "-e A=B" */
static int
take_letters (struct cli_line *line, const char *letters, int argc, char **argv, int *at)
{
  unsigned int i;

  for (; *letters != '\0'; letters++)
    {
      for (i = 0; i < CLI_OPTION_COUNT; i++)
        if ((allowed (line) & CLI_BIT (i)) != 0 && cli_options[i].letter == *letters)
          break;
      if (i == CLI_OPTION_COUNT)
        {
          advise (line, "`berth %s%s--help` lists the options", line->command != NULL ? line->command->name : "",
                  line->command != NULL ? " " : "");
          return complain (line, "unknown option -%c", *letters);
        }
      if (cli_options[i].type != CLI_TYPE_FLAG)
        return take_value (line, i, letters[1] != '\0' ? letters + 1 : NULL, argc, argv, at);
      line->values[i].given = true;
    }
  return 0;
}

int
cli_line_read (struct cli_line *line, int argc, char **argv, int *at)
{
  size_t verbatim_after = line->command != NULL ? line->command->verbatim_after : 0;
  bool only_words = false;
  int result = 0;

  line->words = argv + *at;
  line->word_count = 0;
  while (*at < argc && result == 0)
    {
      char *word = argv[*at];

      if (!only_words && word[0] == '-' && word[1] != '\0')
        {
          ++*at;
          if (strcmp (word, "--") == 0)
            only_words = true;
          else if (word[1] == '-')
            result = take_long (line, word + 2, argc, argv, at);
          else
            result = take_letters (line, word + 1, argc, argv, at);
          continue;
        }
      if (line->word_count == verbatim_after)
        break;
      line->words[line->word_count++] = word;
      ++*at;
    }
  if (line->command == NULL || result < 0)
    return result;
  /* What is left is verbatim, with the NULL at its end. */
  memmove (line->words + line->word_count, argv + *at, (size_t) (argc - *at + 1) * sizeof *argv);
  line->word_count += (size_t) (argc - *at);
  return 0;
}

static int
check_words (struct cli_line *line)
{
  const struct cli_command *command = line->command;

  if (line->word_count < command->least_words)
    complain (line, "`berth %s` needs %s", command->name, command->words);
  else if (line->word_count > command->most_words)
    complain (line, "`berth %s` takes no \"%s\"", command->name, line->words[command->most_words]);
  else
    return 0;
  advise (line, "usage: berth %s [OPTION...] %s", command->name, command->words);
  return -1;
}

int
cli_line_parse (struct cli_line *line, int argc, char **argv)
{
  int at = 1;
  const char *close;

  if (cli_line_read (line, argc, argv, &at) < 0 || at >= argc)
    return line->problem[0] != '\0' ? -1 : 0;
  line->command = cli_command_find (argv[at]);
  if (line->command == NULL)
    {
      close = cli_suggest_command (argv[at]);
      if (close != NULL)
        advise (line, "did you mean `berth %s`?", close);
      else
        advise (line, "`berth help` lists the commands");
      return complain (line, "unknown command \"%s\"", argv[at]);
    }
  at++;
  if (cli_line_read (line, argc, argv, &at) < 0)
    return -1;
  return line->values[CLI_HELP].given ? 0 : check_words (line);
}

void
cli_pairs_free (struct cli_pairs *pairs)
{
  size_t i;

  for (i = 0; i < pairs->count; i++)
    {
      struct berth_pair *pair = &pairs->items[i];

      if ((pair->flags & BERTH_PAIR_SECRET) != 0 && pair->value != NULL)
        {
          explicit_bzero ((char *) pair->value, strlen (pair->value));
          free ((char *) pair->value);
        }
      free ((char *) pair->name);
    }
  free (pairs->items);
}

void
cli_line_free (struct cli_line *line)
{
  cli_pairs_free (&line->environment);
  cli_pairs_free (&line->labels);
  cli_pairs_free (&line->secrets);
  free (line->environment_file);
}

int64_t
cli_number (const struct cli_line *line, enum cli_option_id id, int64_t fallback)
{
  return line->values[id].given ? line->values[id].number : fallback;
}

const char *
cli_text (const struct cli_line *line, enum cli_option_id id)
{
  return line->values[id].text;
}

bool
cli_given (const struct cli_line *line, enum cli_option_id id)
{
  return line->values[id].given;
}

/* Completion scripts.  A sandbox is completed by asking `berth ls -q`. */
#include <errno.h>
#include <string.h>

#include "core/cli/manual.h"

static void
append_names (struct berth_buffer *out)
{
  size_t i;

  for (i = 0; i < CLI_COMMAND_COUNT; i++)
    berth_buffer_appendf (out, "%s%s", i > 0 ? " " : "", cli_commands[i].name);
}

static void
append_flags (struct berth_buffer *out, uint64_t options)
{
  const char *space = "";
  unsigned int i;

  for (i = 0; i < CLI_OPTION_COUNT; i++)
    if ((options & CLI_BIT (i)) != 0)
      {
        berth_buffer_appendf (out, "%s--%s", space, cli_options[i].name);
        space = " ";
      }
}

/* Patterns of the options that take a value of one kind: "--config|--output|-o". */
static void
append_patterns (struct berth_buffer *out, bool (*wanted) (const struct cli_option *option))
{
  const char *bar = "";
  unsigned int i;

  for (i = 0; i < CLI_OPTION_COUNT; i++)
    if (wanted (&cli_options[i]))
      {
        berth_buffer_appendf (out, "%s--%s", bar, cli_options[i].name);
        bar = "|";
        if (cli_options[i].letter != '\0')
          berth_buffer_appendf (out, "|-%c", cli_options[i].letter);
      }
}

static bool
takes_file (const struct cli_option *option)
{
  return option->value != NULL && strcmp (option->value, "FILE") == 0;
}

static bool
takes_other (const struct cli_option *option)
{
  return option->value != NULL && option->choices == NULL && !takes_file (option);
}

static void
append_choice (struct berth_buffer *out, const char *choices)
{
  for (; *choices != '\0'; choices++)
    berth_buffer_append_byte (out, *choices == '|' ? ' ' : (unsigned char) *choices);
}

/* What the word before the cursor asks for. */
static void
append_bash_values (struct berth_buffer *out)
{
  unsigned int i;

  berth_buffer_append_string (out, "  case $previous in\n    ");
  append_patterns (out, takes_file);
  berth_buffer_append_string (out, ") COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n");
  for (i = 0; i < CLI_OPTION_COUNT; i++)
    if (cli_options[i].choices != NULL)
      {
        berth_buffer_appendf (out, "    --%s) COMPREPLY=($(compgen -W '", cli_options[i].name);
        append_choice (out, cli_options[i].choices);
        berth_buffer_append_string (out, "' -- \"$word\")); return ;;\n");
      }
  berth_buffer_append_string (out, "    ");
  append_patterns (out, takes_other);
  berth_buffer_append_string (out, ") return ;;\n  esac\n");
}

static void
append_bash_commands (struct berth_buffer *out)
{
  size_t i;

  berth_buffer_append_string (out, "  case $command in\n");
  for (i = 0; i < CLI_COMMAND_COUNT; i++)
    {
      const struct cli_command *command = &cli_commands[i];

      berth_buffer_appendf (out, "    %s) options='", command->name);
      append_flags (out, command->options | CLI_GLOBAL);
      berth_buffer_append_string (out, "'");
      if (command->names_sandbox)
        berth_buffer_append_string (out, "; words=$(berth ls -q 2>/dev/null)");
      else if (i == CLI_COMMAND_HELP)
        {
          berth_buffer_append_string (out, "; words='");
          append_names (out);
          berth_buffer_append_string (out, "'");
        }
      else if (i == CLI_COMMAND_COMPLETION)
        berth_buffer_append_string (out, "; words='bash zsh fish'");
      berth_buffer_append_string (out, " ;;\n");
    }
  berth_buffer_append_string (out, "    *) options='");
  append_flags (out, CLI_GLOBAL);
  berth_buffer_append_string (out, "'; words='");
  append_names (out);
  berth_buffer_append_string (out, "' ;;\n  esac\n");
}

static void
append_bash (struct berth_buffer *out)
{
  berth_buffer_append_string (out, "# Completion of berth for bash, made by `berth completion bash`.\n"
                                   "_berth ()\n{\n"
                                   "  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
                                   "  local command= options= words= i\n"
                                   "  COMPREPLY=()\n"
                                   "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
                                   "    case ${COMP_WORDS[i]} in\n"
                                   "      --state-dir|--config) ((i++)) ;;\n"
                                   "      -*) ;;\n"
                                   "      *) command=${COMP_WORDS[i]}; break ;;\n"
                                   "    esac\n"
                                   "  done\n");
  append_bash_values (out);
  append_bash_commands (out);
  berth_buffer_append_string (out, "  if [[ $word == -* ]]; then words=$options; fi\n"
                                   "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
                                   "}\n"
                                   "complete -o default -F _berth berth\n");
}

static void
append_zsh (struct berth_buffer *out)
{
  berth_buffer_append_string (out, "#compdef berth\n"
                                   "# Completion of berth for zsh, made by `berth completion zsh`: the one for bash, as zsh reads it.\n"
                                   "autoload -U +X bashcompinit && bashcompinit\n");
  append_bash (out);
  /* From a folder of fpath it is loaded in the middle of the first completion, which it then makes. */
  berth_buffer_append_string (out, "if [[ ${funcstack[1]} = _berth ]]; then _bash_complete -o default -F _berth; fi\n");
}

static void
append_fish_text (struct berth_buffer *out, const char *text)
{
  for (; *text != '\0'; text++)
    berth_buffer_appendf (out, "%s%c", *text == '\'' || *text == '\\' ? "\\" : "", *text);
}

static void
append_fish_option (struct berth_buffer *out, const struct cli_option *option, const char *command)
{
  berth_buffer_append_string (out, "complete -c berth ");
  if (command != NULL)
    berth_buffer_appendf (out, "-n '__fish_seen_subcommand_from %s' ", command);
  berth_buffer_appendf (out, "-l %s ", option->name);
  if (option->letter != '\0')
    berth_buffer_appendf (out, "-s %c ", option->letter);
  if (option->value != NULL)
    berth_buffer_append_string (out, takes_file (option) ? "-r " : "-x ");
  if (option->choices != NULL)
    {
      berth_buffer_append_string (out, "-a '");
      append_choice (out, option->choices);
      berth_buffer_append_string (out, "' ");
    }
  berth_buffer_append_string (out, "-d '");
  append_fish_text (out, option->help);
  berth_buffer_append_string (out, "'\n");
}

static void
append_fish (struct berth_buffer *out)
{
  unsigned int i, j;

  berth_buffer_append_string (out, "# Completion of berth for fish, made by `berth completion fish`.\n"
                                   "complete -c berth -f\n");
  for (j = 0; j < CLI_OPTION_COUNT; j++)
    if ((CLI_GLOBAL & CLI_BIT (j)) != 0)
      append_fish_option (out, &cli_options[j], NULL);
  for (i = 0; i < CLI_COMMAND_COUNT; i++)
    {
      const struct cli_command *command = &cli_commands[i];

      berth_buffer_appendf (out, "complete -c berth -n __fish_use_subcommand -a %s -d '", command->name);
      append_fish_text (out, command->summary);
      berth_buffer_append_string (out, "'\n");
      for (j = 0; j < CLI_OPTION_COUNT; j++)
        if ((command->options & CLI_BIT (j)) != 0)
          append_fish_option (out, &cli_options[j], command->name);
      if (command->names_sandbox)
        berth_buffer_appendf (out, "complete -c berth -n '__fish_seen_subcommand_from %s' -a '(berth ls -q 2>/dev/null)'\n",
                              command->name);
    }
}

int
cli_manual_completion (struct berth_buffer *text, const char *shell)
{
  if (strcmp (shell, "bash") == 0)
    append_bash (text);
  else if (strcmp (shell, "zsh") == 0)
    append_zsh (text);
  else if (strcmp (shell, "fish") == 0)
    append_fish (text);
  else
    {
      errno = EINVAL;
      return -1;
    }
  return text->error != 0 ? -1 : 0;
}

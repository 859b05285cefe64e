#include "core/cli/options.h"

#include <stdlib.h>
#include <string.h>

#include "core/cli/manual.h"
#include "core/cli/suggest.h"
#include "sdk/base/tests/runner.h"

/* Parses the words of one literal, which has no quotes. */
struct parsed
{
  struct cli_line line;
  char *text;
  char *argv[32];
  int result;
};

static void
parse (struct parsed *parsed, const char *text)
{
  int argc = 0;
  char *state = NULL;
  char *word;

  *parsed = (struct parsed) { .text = strdup (text) };
  for (word = strtok_r (parsed->text, " ", &state); word != NULL && argc < 31; word = strtok_r (NULL, " ", &state))
    parsed->argv[argc++] = word;
  parsed->result = cli_line_parse (&parsed->line, argc, parsed->argv);
}

static void
finish (struct parsed *parsed)
{
  cli_line_free (&parsed->line);
  free (parsed->text);
}

static void
expect_problem (const char *text, const char *problem, const char *hint)
{
  struct parsed parsed;

  parse (&parsed, text);
  CU_ASSERT_EQUAL (parsed.result, -1);
  CU_ASSERT_STRING_EQUAL (parsed.line.problem, problem);
  if (hint != NULL)
    CU_ASSERT_STRING_EQUAL (parsed.line.hint, hint);
  finish (&parsed);
}

static void
test_values (void)
{
  struct parsed parsed;

  parse (&parsed, "berth run --memory 512M --cpus=1.5 --pids 64 --ttl 1h30m --timeout=250ms --net allow true");
  CU_ASSERT_EQUAL_FATAL (parsed.result, 0);
  CU_ASSERT_EQUAL (cli_number (&parsed.line, CLI_MEMORY, -1), 512 << 20);
  CU_ASSERT_EQUAL (cli_number (&parsed.line, CLI_CPUS, -1), 1500);
  CU_ASSERT_EQUAL (cli_number (&parsed.line, CLI_PIDS, -1), 64);
  CU_ASSERT_EQUAL (cli_number (&parsed.line, CLI_TTL, -1), 5400000);
  CU_ASSERT_EQUAL (cli_number (&parsed.line, CLI_TIMEOUT, -1), 250);
  CU_ASSERT_EQUAL (cli_number (&parsed.line, CLI_DISK, -1), -1);
  CU_ASSERT_STRING_EQUAL (cli_text (&parsed.line, CLI_NET), "allow");
  finish (&parsed);
  parse (&parsed, "berth write a b --mode 4755");
  CU_ASSERT_EQUAL (cli_number (&parsed.line, CLI_MODE, -1), 04755);
  finish (&parsed);
}

static void
test_value_refusals (void)
{
  expect_problem ("berth run --memory 0 true", "--memory: 0 is out of range, want at least 1", NULL);
  expect_problem ("berth run --memory -5 true", "--memory: -5 is out of range, want at least 1", NULL);
  expect_problem ("berth run --pids 0 true", "--pids: 0 is out of range, want 1 to 4294967295", NULL);
  expect_problem ("berth run --memory 12Q true", "--memory: \"12Q\" is not a size, such as 4096, 512M or 1.5G", NULL);
  expect_problem ("berth run --timeout soon true", "--timeout: \"soon\" is not a time, such as 90s, 15m or 1h30m", NULL);
  expect_problem ("berth run --timeout 0 true", "--timeout: 0 is out of range, want at least 1ms", NULL);
  expect_problem ("berth run --cpus 0.0001 true", "--cpus: \"0.0001\" is not a number with at most three decimals, such as 0.5 or 2", NULL);
  expect_problem ("berth run --pids 99999999999999999999 true", "--pids: 99999999999999999999 is out of range, want 1 to 4294967295", NULL);
  expect_problem ("berth run --net maybe true", "--net: got \"maybe\", want one of deny|allow", NULL);
  expect_problem ("berth run --net den true", "--net: got \"den\", want one of deny|allow", NULL);
  expect_problem ("berth write a b --mode 888", "--mode: \"888\" is not an octal mode, such as 0644", NULL);
  expect_problem ("berth write a b --mode 10000", "--mode: 10000 is out of range, want 0000 to 7777", NULL);
  expect_problem ("berth run --name= true", "--name: the value is empty, want NAME", NULL);
  expect_problem ("berth run --memory", "--memory needs a value: --memory SIZE", NULL);
  expect_problem ("berth ls --json=yes", "--json takes no value, got \"yes\"", NULL);
}

static void
test_pairs (void)
{
  struct parsed parsed;

  setenv ("BERTH_TEST_WORD", "from outside", 1);
  parse (&parsed, "berth run -eA=1 -e B=x=y --env BERTH_TEST_WORD --env=C= --label who=me true");
  CU_ASSERT_EQUAL_FATAL (parsed.result, 0);
  CU_ASSERT_EQUAL_FATAL (parsed.line.environment.count, 4);
  CU_ASSERT_STRING_EQUAL (parsed.line.environment.items[0].name, "A");
  CU_ASSERT_STRING_EQUAL (parsed.line.environment.items[1].value, "x=y");
  CU_ASSERT_STRING_EQUAL (parsed.line.environment.items[2].value, "from outside");
  CU_ASSERT_STRING_EQUAL (parsed.line.environment.items[3].value, "");
  CU_ASSERT_EQUAL (parsed.line.labels.count, 1);
  finish (&parsed);
  unsetenv ("BERTH_TEST_WORD");
  expect_problem ("berth run -e BERTH_TEST_WORD true",
                  "--env BERTH_TEST_WORD: the environment has no such variable, want BERTH_TEST_WORD=VALUE", NULL);
  expect_problem ("berth run -e =x true", "--env: \"=x\" has no name, want KEY[=VALUE]", NULL);
  expect_problem ("berth create --label who", "--label who: the value is missing, want KEY=VALUE", NULL);
  parse (&parsed, "berth ls --label who");
  CU_ASSERT_EQUAL (parsed.result, 0);
  CU_ASSERT_PTR_NULL (parsed.line.labels.items[0].value);
  finish (&parsed);
}

static void
test_words (void)
{
  struct parsed parsed;

  parse (&parsed, "berth run -q sh -c --json -- x");
  CU_ASSERT_EQUAL_FATAL (parsed.result, 0);
  CU_ASSERT_EQUAL (parsed.line.word_count, 5);
  CU_ASSERT_STRING_EQUAL (parsed.line.words[2], "--json");
  CU_ASSERT_STRING_EQUAL (parsed.line.words[3], "--");
  CU_ASSERT_PTR_NULL (parsed.line.words[5]);
  CU_ASSERT (!cli_given (&parsed.line, CLI_JSON));
  finish (&parsed);
  parse (&parsed, "berth exec -w /tmp box -u root -- --odd -- y");
  CU_ASSERT_EQUAL_FATAL (parsed.result, 0);
  CU_ASSERT_EQUAL (parsed.line.word_count, 4);
  CU_ASSERT_STRING_EQUAL (parsed.line.words[0], "box");
  CU_ASSERT_STRING_EQUAL (parsed.line.words[1], "--odd");
  CU_ASSERT_STRING_EQUAL (parsed.line.words[2], "--");
  CU_ASSERT_STRING_EQUAL (cli_text (&parsed.line, CLI_USER), "root");
  finish (&parsed);
  parse (&parsed, "berth rm a -q b --json c");
  CU_ASSERT_EQUAL (parsed.line.word_count, 3);
  CU_ASSERT_STRING_EQUAL (parsed.line.words[2], "c");
  finish (&parsed);
  parse (&parsed, "berth read box -");
  CU_ASSERT_EQUAL (parsed.result, 0);
  CU_ASSERT_STRING_EQUAL (parsed.line.words[1], "-");
  finish (&parsed);
}

static void
test_word_refusals (void)
{
  expect_problem ("berth run", "`berth run` needs [--] COMMAND [ARG...]", "usage: berth run [OPTION...] [--] COMMAND [ARG...]");
  expect_problem ("berth exec box", "`berth exec` needs SANDBOX [--] COMMAND [ARG...]", NULL);
  expect_problem ("berth ls what", "`berth ls` takes no \"what\"", NULL);
  expect_problem ("berth inspekt x", "unknown command \"inspekt\"", "did you mean `berth inspect`?");
  expect_problem ("berth frobnicate", "unknown command \"frobnicate\"", "`berth help` lists the commands");
}

static void
test_globals (void)
{
  struct parsed parsed;

  parse (&parsed, "berth --json --state-dir /x ls -q");
  CU_ASSERT_EQUAL (parsed.result, 0);
  CU_ASSERT (cli_given (&parsed.line, CLI_JSON) && cli_given (&parsed.line, CLI_QUIET));
  CU_ASSERT_STRING_EQUAL (cli_text (&parsed.line, CLI_STATE_DIR), "/x");
  finish (&parsed);
  parse (&parsed, "berth ls --state-dir=/y --json");
  CU_ASSERT_STRING_EQUAL (cli_text (&parsed.line, CLI_STATE_DIR), "/y");
  finish (&parsed);
  parse (&parsed, "berth run --help");
  CU_ASSERT_EQUAL (parsed.result, 0);
  finish (&parsed);
  parse (&parsed, "berth --version");
  CU_ASSERT_EQUAL (parsed.result, 0);
  CU_ASSERT_PTR_NULL (parsed.line.command);
  finish (&parsed);
}

static void
test_suggestions (void)
{
  expect_problem ("berth run --memry 1G true", "unknown option --memry", "did you mean --memory?");
  expect_problem ("berth run --memry=1G true", "unknown option --memry", "did you mean --memory?");
  expect_problem ("berth ls --memory 1G", "`berth ls` has no option --memory", "`berth ls --help` lists its options");
  expect_problem ("berth --memory 1G ls", "`berth` has no option --memory",
                  "options of a command come after its name: `berth COMMAND --memory`");
  expect_problem ("berth run --xyzzy true", "unknown option --xyzzy", "`berth run --help` lists the options");
  expect_problem ("berth ls -qx", "unknown option -x", "`berth ls --help` lists the options");
}

/* Every command, and every option of it, is in each text that is made for people. */
static void
expect_all (const char *text, const char *form)
{
  size_t i, j;

  for (i = 0; i < CLI_COMMAND_COUNT; i++)
    {
      CU_ASSERT_PTR_NOT_NULL (strstr (text, cli_commands[i].name));
      for (j = 0; j < CLI_OPTION_COUNT; j++)
        {
          char flag[64];

          snprintf (flag, sizeof flag, form, cli_options[j].name);
          if (((cli_commands[i].options | CLI_GLOBAL) & CLI_BIT (j)) != 0)
            CU_ASSERT_PTR_NOT_NULL (strstr (text, flag));
        }
    }
}

static void
test_completion (void)
{
  static const char *const shells[] = { "bash", "zsh", "fish" };
  size_t i;

  for (i = 0; i < 3; i++)
    {
      BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };

      CU_ASSERT_EQUAL (cli_manual_completion (&text, shells[i]), 0);
      expect_all (berth_buffer_string (&text), i < 2 ? "--%s" : "-l %s ");
    }
  {
    BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };

    CU_ASSERT_EQUAL (cli_manual_completion (&text, "tcsh"), -1);
  }
}

static void
test_help (void)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  size_t i;
  const char *line, *end;

  cli_manual_overview (&text);
  for (i = 0; i < CLI_COMMAND_COUNT; i++)
    {
      CU_ASSERT_PTR_NOT_NULL (strstr (berth_buffer_string (&text), cli_commands[i].summary));
      cli_manual_command (&text, &cli_commands[i]);
    }
  expect_all (berth_buffer_string (&text), "--%s");
  for (line = text.data; (end = strchr (line, '\n')) != NULL; line = end + 1)
    CU_ASSERT (end - line <= 80);
}

static void
test_man_page (void)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };

  cli_manual_pod (&text);
  cli_manual_pod_globals (&text);
  expect_all (berth_buffer_string (&text), "B<--%s>");
}

/* Two options of one command never share a letter, and no option is left without a command. */
static void
test_tables (void)
{
  uint64_t used = CLI_GLOBAL;
  size_t i, j, k;

  for (i = 0; i < CLI_COMMAND_COUNT; i++)
    {
      uint64_t options = cli_commands[i].options | CLI_GLOBAL;

      used |= options;
      for (j = 0; j < CLI_OPTION_COUNT; j++)
        for (k = j + 1; k < CLI_OPTION_COUNT; k++)
          if ((options & CLI_BIT (j)) != 0 && (options & CLI_BIT (k)) != 0 && cli_options[j].letter != '\0')
            CU_ASSERT_NOT_EQUAL (cli_options[j].letter, cli_options[k].letter);
    }
  CU_ASSERT_EQUAL (used, (UINT64_C (1) << CLI_OPTION_COUNT) - 1);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "values", test_values },
    { "values out of range are refused, by name", test_value_refusals },
    { "KEY=VALUE", test_pairs },
    { "words and --", test_words },
    { "wrong words are refused", test_word_refusals },
    { "global options, before and after the command", test_globals },
    { "suggestions", test_suggestions },
    { "completion knows every command and option", test_completion },
    { "help knows every command and option", test_help },
    { "the man page knows every command and option", test_man_page },
    { "the tables hold together", test_tables },
    { NULL, NULL },
  };

  return berth_test_main ("options", tests);
}

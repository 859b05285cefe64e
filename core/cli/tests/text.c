#include "core/cli/text.h"

#include <stdlib.h>
#include <string.h>

#include "sdk/base/tests/runner.h"

static void
expect_escape (const char *text, unsigned int flags, const char *shown)
{
  BERTH_AUTO_BUFFER struct berth_buffer buffer = { 0 };

  cli_text_escape (&buffer, text, flags);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&buffer), shown);
}

static void
test_escape (void)
{
  expect_escape ("plain \xc3\xa4 \xe2\x82\xac \xf0\x9f\x9a\xa2", 0, "plain \xc3\xa4 \xe2\x82\xac \xf0\x9f\x9a\xa2");
  expect_escape ("\033[2J\r\a\b\x7f", 0, "\\x1b[2J\\x0d\\x07\\x08\\x7f");
  expect_escape ("C1 \xc2\x9b""31m", 0, "C1 \\xc2\\x9b31m");
  expect_escape ("turned \xe2\x80\xae" "txt", 0, "turned \\xe2\\x80\\xaetxt");
  expect_escape ("\xff\xfe cut \xe2\x82", 0, "\\xff\\xfe cut \\xe2\\x82");
  expect_escape ("two\nlines", 0, "two\\x0alines");
  expect_escape ("two\nlines", CLI_ESCAPE_LINES, "two\nlines");
  expect_escape ("a\\x", 0, "a\\x");
  expect_escape ("a\\x\n", CLI_ESCAPE_EXACT, "a\\\\x\\x0a");
}

static void
test_age (void)
{
  static const struct
  {
    int64_t milliseconds;
    const char *text;
  } cases[] = { { -5, "0s" },        { 999, "0s" },       { 119999, "119s" },   { 120000, "2m" },      { 7199000, "119m" },
                { 7200000, "2h" },   { 86400000, "24h" }, { 172800000, "2d" } };
  char text[CLI_AGE_SIZE];
  size_t i;

  for (i = 0; i < sizeof cases / sizeof *cases; i++)
    {
      cli_text_age (cases[i].milliseconds, text);
      CU_ASSERT_STRING_EQUAL (text, cases[i].text);
    }
}

static void
test_mode (void)
{
  char text[CLI_MODE_SIZE];

  cli_text_mode (BERTH_KIND_FILE, 0644, text);
  CU_ASSERT_STRING_EQUAL (text, "-rw-r--r--");
  cli_text_mode (BERTH_KIND_DIRECTORY, 01777, text);
  CU_ASSERT_STRING_EQUAL (text, "drwxrwxrwt");
  cli_text_mode (BERTH_KIND_FILE, 06750, text);
  CU_ASSERT_STRING_EQUAL (text, "-rwsr-s---");
  cli_text_mode (BERTH_KIND_SYMLINK, 0777, text);
  CU_ASSERT_STRING_EQUAL (text, "lrwxrwxrwx");
}

static void
test_table (void)
{
  struct cli_table table = { .columns = 3, .right = 2 };
  char *text = NULL;
  size_t size;
  FILE *file = open_memstream (&text, &size);

  cli_table_add (&table, "ID");
  cli_table_add (&table, "SIZE");
  cli_table_add (&table, "NAME");
  cli_table_add (&table, "sb-\xc3\xa4");
  cli_table_add (&table, "7");
  cli_table_add (&table, "a\033b");
  cli_table_add (&table, "sb-long");
  cli_table_add (&table, NULL);
  cli_table_add (&table, "");
  CU_ASSERT_EQUAL (cli_table_print (&table, file, NULL), 0);
  fclose (file);
  CU_ASSERT_STRING_EQUAL (text, "ID       SIZE  NAME\n"
                                "sb-\xc3\xa4        7  a\\x1bb\n"
                                "sb-long     -  -\n");
  free (text);
}

static void
test_sort (void)
{
  static const char *const cells[] = { "3", "b", "1", "c", "2", "a" };
  struct cli_table table = { .columns = 2 };
  char *text = NULL;
  size_t size, i;
  FILE *file = open_memstream (&text, &size);

  CU_ASSERT_EQUAL (cli_table_sort (&table, 1), 0);
  for (i = 0; i < 6; i++)
    cli_table_add (&table, cells[i]);
  CU_ASSERT_EQUAL (cli_table_sort (&table, 1), 0);
  CU_ASSERT_EQUAL (cli_table_print (&table, file, NULL), 0);
  fclose (file);
  CU_ASSERT_STRING_EQUAL (text, "2  a\n3  b\n1  c\n");
  free (text);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "D-122 control bytes never reach a terminal", test_escape },
    { "age", test_age },
    { "mode", test_mode },
    { "table", test_table },
    { "rows in order", test_sort },
    { NULL, NULL },
  };

  return berth_test_main ("text", tests);
}

/* Faults of others that whole programs show: slow readers, output without end, binary content, copies. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/cli/tests/process.h"
#include "sdk/base/clock.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"
#include "sdk/base/tests/runner.h"

#define BOX "box"
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define MEMORY_KIB (1L << 20)
#else
#define MEMORY_KIB (64L << 10)
#endif

static void
make_box (void)
{
  AUTO_RESULT struct process_result result = { 0 };

  berth (&result, "create", "--name", BOX);
  EXPECT_STATUS (result, 0);
}

static void
remove_box (void)
{
  AUTO_RESULT struct process_result result = { 0 };

  berth (&result, "rm", BOX);
  EXPECT_STATUS (result, 0);
}

/* ---- output ---- */

/* First of all: it looks at the largest child of this process so far. */
static void
test_endless_output (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  BERTH_AUTO_JSON struct berth_json *document = NULL;
  static const char *const times[] = { "1500ms", "6s", "24s" };
  struct rusage usage = { .ru_maxrss = 0 };
  int64_t dropped = 0;

  /* Longer where a machine prints little in that time. */
  for (size_t i = 0; i < sizeof times / sizeof *times && dropped <= 10 << 20; i++)
    {
      berth (&result, "run", "--json", "--timeout", times[i], "--max-output", "1M", "yes");
      EXPECT_STATUS (result, 124);
      berth_json_free (document);
      document = process_json (&result.out);
      CU_ASSERT_EQUAL (berth_json_to_int64 (berth_json_get (document, "dropped_bytes"), &dropped), 0);
    }
  CU_ASSERT_STRING_EQUAL (berth_json_string (berth_json_get (document, "reason")), "timeout");
  CU_ASSERT_EQUAL (strlen (berth_json_string (berth_json_get (document, "stdout"))), 1 << 20);
  CU_ASSERT_EQUAL (berth_json_kind (berth_json_get (document, "truncated")), BERTH_JSON_BOOLEAN);
  CU_ASSERT (dropped > 10 << 20);
  getrusage (RUSAGE_CHILDREN, &usage);
  CU_ASSERT (usage.ru_maxrss > 0 && usage.ru_maxrss < MEMORY_KIB);
  berth (&result, "run", "--max-output", "10", "sh", "-c", "head -c 5000000 /dev/zero; exit 4");
  EXPECT_STATUS (result, 4);
  CU_ASSERT_EQUAL (result.out.size, 10);
  EXPECT_IN (result.err, "4999990 bytes of output were dropped");
}

static void
test_slow_reader (void)
{
  static const char *const arguments[] = { "run", "sh", "-c", "seq 300000; exit 5", NULL };
  AUTO_RESULT struct process_result result = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer seen = { 0 };
  struct process process;
  static char piece[30000];
  long wanted = 1;
  ssize_t got;

  CU_ASSERT_EQUAL_FATAL (process_start (&process, NULL, arguments), 0);
  for (int i = 0; (got = read (process.out, piece, sizeof piece)) > 0; i++)
    {
      berth_buffer_append (&seen, piece, (size_t) got);
      berth_clock_sleep_ms (i < 3 ? 150 : 5);
    }
  process_finish (&process, &result);
  EXPECT_STATUS (result, 5);
  for (char *at = (char *) berth_buffer_string (&seen); *at != '\0' && strtol (at, &at, 10) == wanted; at++)
    wanted++;
  CU_ASSERT_EQUAL (wanted, 300001);
}

/* What ends the sandbox afterwards does not become the end of the command. */
static void
test_first_end (void)
{
  for (int i = berth_test_is_long () ? 300 : 8; i > 0; i--)
    {
      AUTO_RESULT struct process_result result = { 0 };

      berth (&result, "run", "sh", "-c", "sleep 300 & setsid sleep 300 > /dev/null 2>&1 & exit 3");
      EXPECT_STATUS (result, 3);
    }
}

static void
test_default_timeout (void)
{
  AUTO_RESULT struct process_result result = { 0 };

  berth (&result, "help", "exec");
  EXPECT_IN (result.out, "(default 60s)");
  berth (&result, "run", "--timeout", "400ms", "sleep", "30");
  EXPECT_STATUS (result, 124);
  EXPECT_IN (result.err, "timeout");
}

/* ---- content ---- */

static void
expect_bytes (const struct berth_buffer *got, const struct berth_buffer *wanted)
{
  CU_ASSERT_EQUAL (got->size, wanted->size);
  CU_ASSERT (got->size == wanted->size && (got->size == 0 || memcmp (got->data, wanted->data, got->size) == 0));
}

static void
round_trip (const struct berth_buffer *content)
{
  AUTO_RESULT struct process_result result = { 0 };
  BERTH_AUTO_JSON struct berth_json *document = NULL;
  BERTH_AUTO_BUFFER struct berth_buffer bytes = { 0 };
  BERTH_AUTO_FREE char *from = strdup (process_path ("from"));
  BERTH_AUTO_FREE char *to = strdup (process_path ("to"));

  CU_ASSERT_EQUAL (berth_fs_replace (AT_FDCWD, from, content->data, content->size, 0600), 0);
  berth (&result, "write", BOX, "file", "--input", from);
  EXPECT_STATUS (result, 0);
  berth (&result, "read", BOX, "file");
  expect_bytes (&result.out, content);
  berth (&result, "read", BOX, "file", "-o", to);
  EXPECT_STATUS (result, 0);
  CU_ASSERT_EQUAL (berth_fs_read (AT_FDCWD, to, &bytes, 1 << 20), 0);
  expect_bytes (&bytes, content);
  berth_buffer_clear (&bytes);
  berth (&result, "read", BOX, "file", "--json");
  document = process_json (&result.out);
  CU_ASSERT_EQUAL (berth_json_to_bytes (berth_json_get (document, "content"), &bytes), 0);
  expect_bytes (&bytes, content);
  berth (&result, "exec", BOX, "cat", "file");
  expect_bytes (&result.out, content);
  unlink (from);
  unlink (to);
}

static void
test_binary (void)
{
  static const char *const texts[] = { "\r\nline\r\n", "\xef\xbb\xbfmark", "\x89PNG\r\n\x1a\n", "\x80\xbf alone", "" };
  BERTH_AUTO_BUFFER struct berth_buffer content = { 0 };

  make_box ();
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    {
      berth_buffer_clear (&content);
      berth_buffer_append_string (&content, texts[i]);
      round_trip (&content);
    }
  for (int i = 0; i < 70000; i++)
    berth_buffer_append_byte (&content, (unsigned char) (i + i / 256));
  round_trip (&content);
  remove_box ();
}

/* ---- copies ---- */

/* What is below /workspace/w, a name a line. */
static void
expect_tree (const char *wanted)
{
  AUTO_RESULT struct process_result result = { 0 };

  berth (&result, "exec", BOX, "sh", "-c", "cd w && find . -printf '%P%y\\n' | sort | tr '\\n' ' '");
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&result.out), wanted);
  if (strcmp (berth_buffer_string (&result.out), wanted) != 0)
    fprintf (stderr, "%s\n", berth_buffer_string (&result.out));
}

static void
copy_in (const char *from, const char *to, int status)
{
  AUTO_RESULT struct process_result result = { 0 };
  BERTH_AUTO_FREE char *path = berth_string_format ("%s%s", process_path ("tree"), from);

  berth (&result, "cp", path, to);
  EXPECT_STATUS (result, status);
  if (result.status != status)
    fprintf (stderr, "cp %s %s\n", path, to);
}

static void
begin_copies (const char *prepare)
{
  AUTO_RESULT struct process_result result = { 0 };

  make_box ();
  CU_ASSERT_EQUAL (mkdir (process_path ("tree"), 0755), 0);
  CU_ASSERT_EQUAL (mkdir (process_path ("tree/d."), 0755), 0);
  CU_ASSERT_EQUAL (process_write_file ("tree/d./f", "content"), 0);
  berth (&result, "exec", BOX, "sh", "-c", prepare);
  EXPECT_STATUS (result, 0);
}

static void
end_copies (void)
{
  CU_ASSERT_EQUAL (berth_fs_remove_tree (AT_FDCWD, process_path ("tree")), 0);
  remove_box ();
}

/* Each copy is made twice.  A file and the content of a directory come out the same; a directory goes into
 * the one that is there, and so does the second time into the one that it made. */
static void
test_copies_twice (void)
{
  begin_copies ("mkdir -p w/there");
  for (int i = 0; i < 2; i++)
    {
      copy_in ("/d./f", BOX ":w", 0);
      copy_in ("/d./f", BOX ":w/", 0);
      copy_in ("/d./f", BOX ":w/.", 0);
      copy_in ("/d./f", BOX ":/workspace/w/g", 0);
      copy_in ("/d./.", BOX ":w/new", 0);
      copy_in ("/d./", BOX ":w/there", 0);
      copy_in ("/d.", BOX ":w/f", 125);
      copy_in ("/d.", BOX ":w/none/x", 125);
      expect_tree ("d ff gf new/ff newd there/d./ff there/d.d thered ");
    }
  copy_in ("/d.", BOX ":w/made", 0);
  expect_tree ("d ff gf made/ff maded new/ff newd there/d./ff there/d.d thered ");
  copy_in ("/d.", BOX ":w/made", 0);
  expect_tree ("d ff gf made/d./ff made/d.d made/ff maded new/ff newd there/d./ff there/d.d thered ");
  end_copies ();
}

/* A link where a file goes is replaced, nothing is made where it points to.  One on the way is followed, and not
 * out of the workspace. */
static void
test_copies_to_links (void)
{
  static const char *const outwards[] = { "out/x", "up/x", "through/x", "loop/x", "deep/up/x", "out" };
  AUTO_RESULT struct process_result result = { 0 };

  begin_copies ("mkdir -p w/there/deep tmp; cd w; echo old > file; ln -s nowhere a; ln -s ../w/there link; ln -s file named; "
                "ln -s /workspace/w/link/deep far; ln -s /tmp out; ln -s ../../tmp up; ln -s far/../../../../tmp through; ln -s loop loop; "
                "mkdir deep; ln -s ../../../tmp deep/up");
  copy_in ("/d./f", BOX ":w/a/", 125);
  copy_in ("/d.", BOX ":w/a/x", 125);
  copy_in ("/d./f", BOX ":w/file/", 125);
  for (size_t i = 0; i < sizeof outwards / sizeof *outwards; i++)
    {
      BERTH_AUTO_FREE char *to = berth_string_format (BOX ":w/%s", outwards[i]);

      copy_in ("/d./f", to, 125);
      copy_in ("/d./.", to, 125);
    }
  berth (&result, "exec", BOX, "sh", "-c", "ls /tmp; cd w; rm out up through loop deep/up; rmdir deep");
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&result.out), "");
  copy_in ("/d./f", BOX ":w/a", 0);
  copy_in ("/d./f", BOX ":w/named", 0);
  copy_in ("/d./f", BOX ":w/link/x", 0);
  copy_in ("/d./f", BOX ":w/link", 0);
  copy_in ("/d./.", BOX ":w/far/", 0);
  expect_tree ("af d farl filef linkl namedf there/deep/ff there/deepd there/ff there/xf thered ");
  berth (&result, "read", BOX, "w/file");
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&result.out), "old\n");
  end_copies ();
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "D-022 output without end is cut, counted, and not kept", test_endless_output },
    { "D-002 a slow reader gets the last line", test_slow_reader },
    { "D-041 the end of the sandbox is not the command's", test_first_end },
    { "D-035 the timeout is the one that was asked for", test_default_timeout },
    { "D-059 binary content comes back in every way", test_binary },
    { "D-060 copies, each made twice", test_copies_twice },
    { "D-061 copies to links", test_copies_to_links },
    { NULL, NULL },
  };

  return process_main ("cases on " BACKEND, BACKEND, tests);
}

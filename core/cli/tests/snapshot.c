/* snapshot, snapshots, rollback, fork and create --snapshot as whole processes.  Built once for each
 * of the backends it is run on. */
#include <string.h>

#include "core/cli/tests/process.h"
#include "sdk/base/tests/runner.h"

/* The first line of what was printed. */
static void
first_line (const struct process_result *result, char line[64])
{
  snprintf (line, 64, "%.*s", (int) strcspn (berth_buffer_string (&result->out), "\n"), berth_buffer_string (&result->out));
}

static void
expect_content (const char *sandbox, const char *path, const char *content)
{
  AUTO_RESULT struct process_result result = { 0 };

  berth (&result, "read", sandbox, path);
  EXPECT_STATUS (result, 0);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&result.out), content);
}

static void
expect (int status, const char *const *arguments)
{
  AUTO_RESULT struct process_result result = { 0 };

  process_run (&result, NULL, arguments);
  EXPECT_STATUS (result, status);
}
#define EXPECT(status, ...) expect (status, (const char *const[]){ __VA_ARGS__, NULL })

static void
test_there_and_back (void)
{
  AUTO_RESULT struct process_result made = { 0 }, listed = { 0 }, forked = { 0 }, refused = { 0 };
  char id[64];

  EXPECT (0, "create", "--name", "box", "--label", "a=b");
  EXPECT (0, "write", "box", "note", "--content", "first");
  berth (&made, "snapshot", "box", "--name", "one");
  EXPECT_STATUS (made, 0);
  first_line (&made, id);
  CU_ASSERT_EQUAL (strncmp (id, "sn-", 3), 0);
  EXPECT (0, "write", "box", "note", "--content", "second");
  EXPECT (0, "rollback", "box", "one");
  expect_content ("box", "note", "first");
  berth (&listed, "snapshots", "--json");
  EXPECT_STATUS (listed, 0);
  EXPECT_IN (listed.out, "\"name\":\"one\"");
  EXPECT_IN (listed.out, "\"kind\":\"workspace\"");
  berth (&forked, "fork", "box", "--snapshot", "one", "--count", "2");
  EXPECT_STATUS (forked, 0);
  first_line (&forked, id);
  expect_content (id, "note", "first");
  EXPECT (0, "create", "--name", "other", "--snapshot", "one");
  expect_content ("other", "note", "first");
  EXPECT (0, "rm", "--all", "--yes");
  EXPECT (0, "snapshots", "rm", "one");
  berth (&refused, "snapshots", "rm", "one");
  EXPECT_STATUS (refused, 1);
  EXPECT_IN (refused.err, "there is no snapshot \"one\"");
}

static void
test_refusals (void)
{
  EXPECT (2, "snapshots", "list");
  EXPECT (2, "snapshots", "rm");
  EXPECT (2, "rollback", "box");
  EXPECT (2, "fork", "box", "--count", "0");
  EXPECT (125, "snapshot", "none");
  EXPECT (125, "create", "--snapshot", "none");
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "a snapshot, back to it, and others that begin with it", test_there_and_back },
    { "what makes no sense is refused by status", test_refusals },
    { NULL, NULL },
  };

  return process_main ("snapshots on " BACKEND, BACKEND, tests);
}

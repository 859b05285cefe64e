/* What keeps an installation in order: rm and its statuses, renew, reap, config, doctor --rebuild, and
 * secrets.  Built once for each of the backends. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/cli/tests/process.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/clock.h"
#include "sdk/base/fd.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"
#include "sdk/base/tests/runner.h"

static const char *
text_of (const struct berth_json *object, const char *key)
{
  const char *text = berth_json_string (berth_json_get (object, key));

  return text != NULL ? text : "";
}

#ifndef EXECUTES
/* Each outcome has its status, the worst of several is told, and the record stays where it has to. */
static void
test_rm_statuses (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  BERTH_AUTO_JSON struct berth_json *list = NULL;

  berth (&result, "create", "--name", "web");
  process_faults ("lifecycle.destroy=refuse");
  berth (&result, "rm", "web");
  EXPECT_STATUS (result, 4);
  EXPECT_IN (result.err, "refused");
  CU_ASSERT_EQUAL (process_count_sandboxes (), 1);
  berth (&result, "rm", "web", "nobody", "--json");
  EXPECT_STATUS (result, 4);
  list = process_json (&result.out);
  CU_ASSERT_STRING_EQUAL (text_of (berth_json_at (list, 0), "outcome"), "refused");
  CU_ASSERT_STRING_EQUAL (text_of (berth_json_at (list, 1), "error"), "SANDBOX_NOT_FOUND");
  process_faults ("");
  berth (&result, "rm", "web", "nobody");
  EXPECT_STATUS (result, 1);
  EXPECT_IN (result.out, " confirmed\n");
  CU_ASSERT_EQUAL (process_count_sandboxes (), 0);
}

/* Twenty seconds of waiting, since so long it is asked again. */
static void
test_rm_unconfirmed (void)
{
  AUTO_RESULT struct process_result result = { 0 };

  berth (&result, "create", "--name", "web");
  process_faults ("probe.probe=present");
  berth (&result, "rm", "web");
  EXPECT_STATUS (result, 3);
  EXPECT_IN (result.err, "unconfirmed");
  CU_ASSERT_EQUAL (process_count_sandboxes (), 1);
  process_faults ("");
  berth (&result, "rm", "web");
  EXPECT_STATUS (result, 0);
}

static void
test_reap (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  BERTH_AUTO_JSON struct berth_json *list = NULL;

  berth (&result, "create", "--ttl", "1500ms", "--label", "team=a");
  EXPECT_STATUS (result, 0);
  berth_clock_sleep_ms (1600);
  berth (&result, "reap", "--label", "team=b", "--json");
  EXPECT_IN (result.out, "[]");
  berth (&result, "reap", "--label", "team", "--json");
  EXPECT_STATUS (result, 0);
  list = process_json (&result.out);
  CU_ASSERT_EQUAL (berth_json_length (list), 1);
  CU_ASSERT_STRING_EQUAL (text_of (berth_json_at (list, 0), "reason"), "expired");
  CU_ASSERT_STRING_EQUAL (text_of (berth_json_at (list, 0), "outcome"), "");
  berth (&result, "reap", "--kill");
  EXPECT_STATUS (result, 0);
  EXPECT_IN (result.out, "confirmed");
  berth (&result, "create", "--name", "web");
  process_faults ("lifecycle.destroy=refuse");
  berth (&result, "rm", "web");
  berth (&result, "reap", "--kill");
  EXPECT_STATUS (result, 4);
  EXPECT_IN (result.out, "refused");
  process_faults ("");
  berth (&result, "reap", "--kill");
  EXPECT_STATUS (result, 0);
  EXPECT_IN (result.out, "destroy_interrupted");
  EXPECT_IN (result.out, "confirmed");
  CU_ASSERT_EQUAL (process_count_sandboxes (), 0);
}

static void
test_reap_unreachable (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  BERTH_AUTO_JSON struct berth_json *list = NULL;

  process_faults ("lifecycle.list_ids=fail:UNREACHABLE");
  berth (&result, "reap", "--json");
  EXPECT_STATUS (result, 1);
  list = process_json (&result.out);
  CU_ASSERT_EQUAL (berth_json_length (list), 1);
  CU_ASSERT_STRING_EQUAL (text_of (berth_json_at (list, 0), "reason"), "unreachable");
  CU_ASSERT_STRING_EQUAL (text_of (berth_json_at (list, 0), "backend"), "fake");
  CU_ASSERT_STRING_EQUAL (text_of (berth_json_at (list, 0), "id"), "");
  berth (&result, "reap", "--kill");
  EXPECT_STATUS (result, 1);
  EXPECT_IN (result.out, "unreachable");
  berth (&result, "reap", "-q");
  EXPECT_STATUS (result, 1);
  CU_ASSERT_EQUAL (result.out.size, 0);
  EXPECT_IN (result.err, "backend fake could not be asked");
  process_faults ("");
  berth (&result, "reap");
  EXPECT_STATUS (result, 0);
  berth (&result, "reap", "--backend", "fakee", "--json");
  EXPECT_STATUS (result, 125);
  EXPECT_IN (result.err, "\"NOT_FOUND\"");
}

static void
test_rebuild (void)
{
  AUTO_RESULT struct process_result result = { 0 };

  berth (&result, "create", "--name", "web");
  berth (&result, "snapshot", "web", "--name", "before");
  EXPECT_STATUS (result, 0);
  berth (&result, "doctor", "--rebuild");
  EXPECT_STATUS (result, 125);
  EXPECT_IN (result.err, "is sound");
  CU_ASSERT_EQUAL (process_write_file ("state/berth.db", "cut off"), 0);
  berth (&result, "ls");
  EXPECT_STATUS (result, 125);
  EXPECT_IN (result.err, "berth doctor --rebuild");
  berth (&result, "doctor", "--rebuild");
  EXPECT_STATUS (result, 0);
  EXPECT_IN (result.out, "aside ");
  EXPECT_IN (result.out, "recorded ");
  EXPECT_IN (result.out, ": a snapshot, recorded again");
  berth (&result, "rollback", "web", "before");
  EXPECT_STATUS (result, 125);
  EXPECT_IN (result.err, "made again");
  berth (&result, "run", "--snapshot", "before", "true");
  EXPECT_STATUS (result, 0);
  berth (&result, "snapshots", "rm", "before");
  EXPECT_STATUS (result, 0);
  berth (&result, "exec", "web", "--", "true");
  EXPECT_STATUS (result, 0);
  berth (&result, "rm", "web");
  EXPECT_STATUS (result, 0);
}
#endif

static void
test_renew (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  BERTH_AUTO_JSON struct berth_json *list = NULL;
  int64_t left = 0;

  berth (&result, "create", "--name", "web", "--ttl", "5m");
  berth (&result, "renew", "web", "--ttl", "2h", "--json");
  EXPECT_STATUS (result, 0);
  list = process_json (&result.out);
  CU_ASSERT_EQUAL (berth_json_to_int64 (berth_json_get (berth_json_get (berth_json_at (list, 0), "expires"), "remaining_ms"), &left), 0);
  CU_ASSERT_TRUE (left > 7190 * 1000 && left <= 7200 * 1000);
  berth (&result, "renew", "web");
  EXPECT_STATUS (result, 0);
  EXPECT_IN (result.out, " ends in ");
  berth (&result, "renew", "web", "nobody");
  EXPECT_STATUS (result, 1);
  berth (&result, "renew", "web", "--ttl", "30d");
  EXPECT_STATUS (result, 1);
  EXPECT_IN (result.err, "want 1 to ");
  berth (&result, "renew", "web", "--ttl", "0");
  EXPECT_STATUS (result, 2);
  berth (&result, "rm", "web");
}

static void
test_config (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  BERTH_AUTO_JSON struct berth_json *list = NULL;
  int found = 0;

  CU_ASSERT_EQUAL (process_write_file ("berth.conf", "[limits]\nttl = 2h\n"), 0);
  berth (&result, "config", "--json");
  EXPECT_STATUS (result, 0);
  list = process_json (&result.out);
  for (size_t i = 0; i < berth_json_length (list); i++)
    {
      const struct berth_json *row = berth_json_at (list, i);
      const char *section = text_of (row, "section"), *key = text_of (row, "key"), *origin = text_of (row, "origin");
      if (strcmp (section, "limits") == 0 && strcmp (key, "ttl") == 0)
        found += strcmp (text_of (row, "value"), "2h") == 0 && berth_string_ends_with (origin, "/berth.conf:2");
      if (strcmp (section, "defaults") == 0 && strcmp (key, "ttl") == 0)
        found += strcmp (text_of (row, "value"), "15m") == 0 && strcmp (origin, "default") == 0;
      if (strcmp (key, "state_dir") == 0)
        found += strcmp (origin, "environment BERTH_STATE_DIR") == 0;
      if (strcmp (key, "backend") == 0)
        found += strcmp (text_of (row, "value"), BACKEND) == 0 && strcmp (origin, "environment BERTH_BACKEND") == 0;
    }
  CU_ASSERT_EQUAL (found, 4);
  berth (&result, "config", "--state-dir", process_path ("other"));
  EXPECT_IN (result.out, "/other");
  EXPECT_IN (result.out, " option");
  CU_ASSERT_EQUAL (process_write_file ("berth.conf", ""), 0);
}

/* ---- secrets ---- */

#define SECRET "s3cr/et \"va+l\\ue\""

/* In a file below DIRECTORY, in any spelling.  What cannot be searched is a failure. */
static bool
is_kept (const char *directory)
{
  static const char *const spellings[] = { "s3cr/et", "s3cr\\/et", "czNjci9l", "s3cr%2Fet" };
  bool found = false;

  for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
    {
      BERTH_AUTO_FREE char *line = berth_string_format ("grep -rqF -D skip -e '%s' '%s'", spellings[i], directory);
      int status = system (line);
      CU_ASSERT_TRUE (WIFEXITED (status) && (WEXITSTATUS (status) == 0 || WEXITSTATUS (status) == 1));
      found = found || status == 0;
    }
  return found;
}

/* The search itself: each spelling is found where it is, and nothing where none is. */
static void
test_search (void)
{
  static const char *const texts[] = { SECRET, "\"s3cr\\/et\"", "czNjci9ldCAidmErbFx1ZSI=", "/s3cr%2Fet%20" };

  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    {
      CU_ASSERT_EQUAL (process_write_file ("kept", texts[i]), 0);
      CU_ASSERT_TRUE (is_kept (process_path ("kept")));
    }
  CU_ASSERT_EQUAL (process_write_file ("kept", "s3cret"), 0);
  CU_ASSERT_FALSE (is_kept (process_path ("kept")));
  unlink (process_path ("kept"));
}

/* Ends with 3 where TOKEN is the secret inside, whole and nothing else. */
#ifdef EXECUTES
#define LOOK_INSIDE "test \"$TOKEN\" = '" SECRET "' && exit 3"
#else
#define LOOK_INSIDE "exit 3"
#endif

static void
test_secret_sources (void)
{
  static const char *const environment[] = { "TOKEN=" SECRET, NULL };
  const struct process_setup given = { .environment = environment }, input = { .input = SECRET "\n" };
  AUTO_RESULT struct process_result result = { 0 };

  berth_with (&result, &given, "run", "--secret", "TOKEN", "sh", "-c", LOOK_INSIDE);
  EXPECT_STATUS (result, 3);
  berth_with (&result, &input, "run", "--secret", "TOKEN=stdin", "sh", "-c", LOOK_INSIDE);
  EXPECT_STATUS (result, 3);
  CU_ASSERT_EQUAL (process_write_file ("token", SECRET "\n"), 0);
  BERTH_AUTO_FREE char *file = berth_string_format ("TOKEN=file:%s", process_path ("token"));
  berth (&result, "run", "--secret", file, "sh", "-c", LOOK_INSIDE);
  EXPECT_STATUS (result, 3);
  BERTH_AUTO_FD int fd = open (process_path ("token"), O_RDONLY); /* for berth too */
  BERTH_AUTO_FREE char *descriptor = berth_string_format ("TOKEN=fd:%d", fd);
  berth (&result, "run", "--secret", descriptor, "sh", "-c", LOOK_INSIDE);
  EXPECT_STATUS (result, 3);
  unlink (process_path ("token"));
  berth (&result, "run", "--secret", file, "true");
  EXPECT_STATUS (result, 125);
  berth (&result, "run", "--secret", "NOT_THERE", "true");
  EXPECT_STATUS (result, 125);
  EXPECT_IN (result.err, "no such variable");
  berth_with (&result, &given, "run", "--secret", "TOKEN", "--env", "TOKEN=x", "true");
  EXPECT_STATUS (result, 125);
  berth (&result, "run", "--secret", "TOKEN=written-here", "true");
  EXPECT_STATUS (result, 125);
  EXPECT_IN (result.err, "not for the command line");
  CU_ASSERT_PTR_NULL (strstr (berth_buffer_string (&result.err), "written-here"));
}

static void
expect_silent (const struct process_result *result)
{
  CU_ASSERT_PTR_NULL (strstr (berth_buffer_string (&result->err), "s3cr"));
  CU_ASSERT_PTR_NULL (strstr (berth_buffer_string (&result->out), "s3cr"));
}

/* It is inside, and nowhere else: no record, list, log or message has it. */
static void
test_secret_kept (void)
{
  static const char *const environment[] = { "TOKEN=" SECRET, NULL };
  const struct process_setup given = { .environment = environment };
  AUTO_RESULT struct process_result result = { 0 };

  berth_with (&result, &given, "create", "--name", "web", "--secret", "TOKEN", "--request-id", "once", "--verbose");
  EXPECT_STATUS (result, 0);
  expect_silent (&result);
#ifdef EXECUTES
  CU_ASSERT_FALSE (is_kept (process_path ("state")));
  CU_ASSERT_FALSE (is_kept (process_path ("run")));
  berth (&result, "exec", "web", "--", "sh", "-c", "printf %s \"$TOKEN\"");
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&result.out), SECRET);
#else
  /* what plays the sandbox keeps it, where a sandbox would */
  CU_ASSERT_TRUE (is_kept (process_path ("state")));
  CU_ASSERT_FALSE (is_kept (process_path ("state/berth.db")));
  CU_ASSERT_FALSE (access (process_path ("state/berth.db-wal"), F_OK) == 0 && is_kept (process_path ("state/berth.db-wal")));
#endif
  CU_ASSERT_FALSE (is_kept (process_path ("state/audit.jsonl")));
  berth (&result, "inspect", "web", "--json");
  expect_silent (&result);
  berth (&result, "ls", "--json");
  expect_silent (&result);
  berth (&result, "rm", "web");
  EXPECT_STATUS (result, 0);
}

/* A message that repeats it, as it is or spelt otherwise, has something else in its place. */
static void
test_secret_messages (void)
{
  static const char *const environment[] = { "TOKEN=" SECRET, NULL };
  static const char *const places[] = { ("/workspace/" SECRET), "/workspace/s3cr%2Fet%20%22va%2Bl%5Cue%22",
                                        "/workspace/czNjci9ldCAidmErbFx1ZSI=" };
  const struct process_setup given = { .environment = environment };

  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    {
      AUTO_RESULT struct process_result result = { 0 };
      berth_with (&result, &given, "run", "--secret", "TOKEN", "--workdir", places[i], "true");
      EXPECT_STATUS (result, 125);
      expect_silent (&result);
      CU_ASSERT_PTR_NULL (strstr (berth_buffer_string (&result.err), "czNj"));
      EXPECT_IN (result.err, "(secret)");
    }
}

int
main (void)
{
  static const struct berth_test tests[] = {
#ifndef EXECUTES
    { "L09 rm tells each outcome by its status", test_rm_statuses },
    { "L09 rm of what is not proven to be gone", test_rm_unconfirmed },
    { "reap", test_reap },
    { "reap tells a backend that could not be asked", test_reap_unreachable },
    { "D-120 doctor --rebuild", test_rebuild },
#endif
    { "renew", test_renew },
    { "config", test_config },
    { "I04 the search for a secret finds it in each spelling", test_search },
    { "I04 where a secret comes from", test_secret_sources },
    { "I04 a secret is kept nowhere", test_secret_kept },
    { "I04 a secret is in no message", test_secret_messages },
    { NULL, NULL },
  };

  return process_main ("upkeep-" BACKEND, BACKEND, tests);
}

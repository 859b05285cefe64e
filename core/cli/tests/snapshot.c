/* snapshot, snapshots, rollback, fork and create --snapshot as whole processes.  Built once for each
 * of the backends it is run on. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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

/* ---- what was written a moment ago ---- */

/* Nothing waits between the last write and the snapshot, nor asks for it to be on a disk. */
static void
test_just_written (void)
{
  EXPECT (0, "create", "--name", "box");
  EXPECT (0, "write", "box", "note", "--content", "just now");
  EXPECT (0, "snapshot", "box", "--name", "one");
  EXPECT (0, "exec", "box", "--", "sh", "-c", "echo by a command > said");
  EXPECT (0, "snapshot", "box", "--name", "two");
  EXPECT (0, "create", "--name", "first", "--snapshot", "one");
  EXPECT (0, "create", "--name", "second", "--snapshot", "two");
  expect_content ("first", "note", "just now");
  expect_content ("second", "note", "just now");
  expect_content ("second", "said", "by a command\n");
  EXPECT (0, "rm", "--all", "--yes");
  EXPECT (0, "snapshots", "rm", "one", "two");
}

#ifdef EXECUTES
/* A shell LINE in SANDBOX. */
static void
expect_line (const char *sandbox, const char *line)
{
  EXPECT (0, "exec", sandbox, "--", "sh", "-c", line);
}

/* A sandbox that writes to one file and then to the other, for ever. */
static void
make_writer (void)
{
  EXPECT (0, "create", "--name", "box");
  expect_line ("box", "(while :; do echo x >> a; echo x >> b; done) > /dev/null 2>&1 &\n"
                      "until [ -s b ]; do sleep 0.01; done");
}

static void
expect_moving (void)
{
  expect_line ("box", "n=$(wc -l < a); until [ $(wc -l < a) -gt $n ]; do sleep 0.01; done");
}

/* Held still it is caught between two instructions; a snapshot that could not hold it says so, and has whole lines
 * up to some moment of each file. */
static void
save_writer (void)
{
  AUTO_RESULT struct process_result listed = { 0 };

  EXPECT (0, "snapshot", "box", "--name", "one");
  berth (&listed, "snapshots", "--json");
  EXPECT (0, "create", "--name", "other", "--snapshot", "one");
  expect_line ("other", "[ -s a ] && [ -s b ] && [ -z \"$(grep -hvx x a b)\" ]");
  if (strstr (berth_buffer_string (&listed.out), "\"consistent\":true") != NULL)
    expect_line ("other", "d=$(($(wc -l < a) - $(wc -l < b))); [ $d -ge 0 ] && [ $d -le 1 ]");
  else
    EXPECT_IN (listed.out, "\"consistent\":false");
  expect_content ("other", "note", "just now");
  EXPECT (0, "rm", "other");
  EXPECT (0, "snapshots", "rm", "one");
}

static void
test_while_written (void)
{
  int rounds = berth_test_is_long () ? 200 : 4;

  make_writer ();
  EXPECT (0, "write", "box", "note", "--content", "just now");
  for (int i = 0; i < rounds; i++)
    save_writer ();
  expect_moving ();
  EXPECT (0, "rm", "box");
}

/* What it begins with, a rollback and a fork of one that writes has as well. */
static void
test_writer_comes_back (void)
{
  static const char in_step[] = "d=$(($(wc -l < a) - $(wc -l < b))); [ $d -ge 0 ] && [ $d -le 1 ]";
  AUTO_RESULT struct process_result listed = { 0 }, forked = { 0 };
  char id[64];

  make_writer ();
  EXPECT (0, "snapshot", "box", "--name", "one");
  berth (&listed, "snapshots");
  bool still = strstr (berth_buffer_string (&listed.out), "yes") != NULL;
  berth (&forked, "fork", "box", "--count", "1");
  EXPECT_STATUS (forked, 0);
  first_line (&forked, id);
  expect_moving ();
  EXPECT (0, "rollback", "box", "one");
  if (still)
    {
      expect_line (id, in_step);
      expect_line ("box", in_step);
    }
  EXPECT (0, "rm", "--all", "--yes");
  EXPECT (0, "snapshots", "rm", "one");
}

/* Neither gets in the other's way, and what is paused by its owner is not resumed by a snapshot. */
static void
test_in_any_order (void)
{
  make_writer ();
  EXPECT (0, "snapshot", "box", "--name", "one");
  expect_moving ();
  EXPECT (0, "pause", "box");
  EXPECT (125, "snapshot", "box");
  EXPECT (125, "exec", "box", "--", "true");
  EXPECT (0, "pause", "box");
  EXPECT (0, "resume", "box");
  expect_moving ();
  EXPECT (0, "snapshot", "box", "--name", "two");
  EXPECT (0, "pause", "box");
  EXPECT (0, "snapshots", "rm", "one");
  EXPECT (125, "exec", "box", "--", "true");
  EXPECT (0, "resume", "box");
  EXPECT (0, "resume", "box");
  expect_moving ();
  EXPECT (0, "snapshot", "box", "--name", "three");
  EXPECT (0, "stop", "box");
  EXPECT (125, "snapshot", "box");
  EXPECT (0, "start", "box");
  EXPECT (0, "snapshot", "box", "--name", "four");
  expect_line ("box", "true");
  EXPECT (0, "rm", "box");
  EXPECT (0, "snapshots", "rm", "two", "three", "four");
}

/* As long as much is exported, and no longer than a machine needs for all of it. */
static void
kill_some_time_in (const char *const *arguments)
{
  struct timespec pause = { 0, random () % 150 * 1000000 };
  AUTO_RESULT struct process_result result = { 0 };
  struct process process;

  CU_ASSERT_EQUAL_FATAL (process_start (&process, NULL, arguments), 0);
  nanosleep (&pause, NULL);
  kill (process.pid, SIGKILL);
  process_finish (&process, &result);
}

/* Whoever is next, and wants what a paused one refuses, finds it running. */
static void
test_killed_while_held (void)
{
  static const char *const verbs[][5] = { { "snapshot", "box", NULL }, { "fork", "box", "--count", "1", NULL } };
  int rounds = berth_test_is_long () ? 200 : 8;

  make_writer ();
  expect_line ("box", "head -c 30000000 /dev/urandom > much");
  for (int i = 0; i < rounds; i++)
    {
      kill_some_time_in (verbs[i % 2]);
      if (i % 4 < 2)
        expect_moving ();
      else
        EXPECT (0, "write", "box", "note", "--content", "goes on");
    }
  expect_moving ();
  AUTO_RESULT struct process_result listed = { 0 };
  berth (&listed, "snapshots", "-q");
  for (char *line = strtok ((char *) berth_buffer_string (&listed.out), "\n"); line != NULL; line = strtok (NULL, "\n"))
    EXPECT (0, "snapshots", "rm", line);
  EXPECT (0, "rm", "--all", "--yes");
  CU_ASSERT_EQUAL (rmdir (process_path ("state/snapshots")), 0); /* empty */
}

/* What Berth saves on its own account, for a fork, has what a snapshot by hand has, and what is
 * paused has all of it when it goes on. */
static void
test_by_itself (void)
{
  static const char same[] = "sha256sum -c sum";
  AUTO_RESULT struct process_result forked = { 0 };
  char id[64];

  EXPECT (0, "create", "--name", "box");
  expect_line ("box", "head -c 20000000 /dev/urandom > big; sha256sum big > sum");
  berth (&forked, "fork", "box", "--count", "1");
  EXPECT_STATUS (forked, 0);
  first_line (&forked, id);
  EXPECT (0, "snapshot", "box", "--name", "one");
  EXPECT (0, "create", "--name", "other", "--snapshot", "one");
  EXPECT (0, "pause", "box");
  EXPECT (0, "resume", "box");
  expect_line (id, same);
  expect_line ("other", same);
  expect_line ("box", same);
  EXPECT (0, "rm", "--all", "--yes");
  EXPECT (0, "snapshots", "rm", "one");
}

/* ---- what was removed, and made again ---- */

static void
test_removed (void)
{
  EXPECT (0, "create", "--name", "box");
  expect_line ("box", "mkdir -p d/a e && touch d/a/f d/old e/old");
  EXPECT (0, "snapshot", "box", "--name", "zero");
  expect_line ("box", "rm -r d e && mkdir e && touch e/new");
  EXPECT (0, "snapshot", "box", "--name", "one");
  expect_line ("box", "mkdir -p d/a");
  EXPECT (0, "snapshot", "box", "--name", "two");
  EXPECT (0, "rollback", "box", "zero");
  expect_line ("box", "[ -e d/a/f ] && [ -e e/old ]");
  EXPECT (0, "rollback", "box", "one");
  expect_line ("box", "[ ! -e d ] && [ \"$(ls -A e)\" = new ]");
  EXPECT (0, "rollback", "box", "two");
  expect_line ("box", "[ -d d/a ] && [ -z \"$(ls -A d/a)\" ] && [ \"$(ls -A d)\" = a ]");
  EXPECT (0, "create", "--name", "other", "--snapshot", "two");
  expect_line ("other", "[ -d d/a ] && [ -z \"$(ls -A d/a)\" ] && [ \"$(ls -A e)\" = new ]");
  EXPECT (0, "rm", "--all", "--yes");
  EXPECT (0, "snapshots", "rm", "zero", "one", "two");
}

static void
test_names (void)
{
  EXPECT (0, "create", "--name", "box");
  expect_line ("box", "echo a > a.txt && echo note > .wh.note && echo all > .wh..wh..opq && touch note kept");
  EXPECT (0, "snapshot", "box", "--name", "one");
  expect_line ("box", "rm a.txt && ln -s kept a.txt");
  EXPECT (0, "snapshot", "box", "--name", "two");
  EXPECT (0, "rollback", "box", "one");
  expect_line ("box", "[ -f a.txt ] && [ ! -L a.txt ]");
  EXPECT (0, "rollback", "box", "two");
  expect_line ("box", "[ \"$(readlink a.txt)\" = kept ] && [ -e note ] && [ -e kept ]"
                      " && [ \"$(cat .wh.note .wh..wh..opq)\" = \"$(printf 'note\\nall')\" ]");
  EXPECT (0, "rm", "--all", "--yes");
  EXPECT (0, "snapshots", "rm", "one", "two");
}
#endif

int
main (void)
{
  static const struct berth_test tests[] = {
    { "a snapshot, back to it, and others that begin with it", test_there_and_back },
    { "what makes no sense is refused by status", test_refusals },
    { "D-090 what was written just before is in the snapshot", test_just_written },
#ifdef EXECUTES
    { "D-090 what is being written is in it, and it says of which kind", test_while_written },
    { "a rollback and a fork of what is being written", test_writer_comes_back },
    { "pauses and snapshots in any order", test_in_any_order },
    { "D-091 one that is killed while it holds a sandbox still lets it go on", test_killed_while_held },
    { "D-089 what is saved by itself is as complete as by hand", test_by_itself },
    { "D-085 D-086 what was removed and made again stays as it was then", test_removed },
    { "D-087 names like marks of removal are the user's own", test_names },
#endif
    { NULL, NULL },
  };

  srandom ((unsigned int) time (NULL));
  return process_main ("snapshots on " BACKEND, BACKEND, tests);
}

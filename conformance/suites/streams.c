/* E03, E04, E11 to E14, E16, E20: output and exit under load. */
#include <limits.h>
#include <sys/resource.h>

#include "conformance/suites/commands.h"
#include "conformance/suites/content.h"
#include "conformance/suites/leftovers.h"
#include "conformance/suites/run.h"
#include "sdk/base/clock.h"
#include "sdk/base/string.h"
#include "sdk/base/tests/stall.h"

#define MIB ((size_t) 1 << 20)
#define MANY 10000
#define WORKERS 2
#define AT_ONCE 50
#define PATIENCE_MS 30000
#define MANY_VARIABLES 20000
#define LONGEST 131071 /* MAX_ARG_STRLEN less its NUL */

static void
append_numbers (struct berth_buffer *text, const char *prefix)
{
  for (int i = 1; i <= 2000; i++)
    berth_buffer_appendf (text, "%s%d\n", prefix, i);
}

void
suite_e03 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  BERTH_AUTO_BUFFER struct berth_buffer out = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer err = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer bytes = { 0 };
  SUITE_AUTO_RAN struct suite_ran lines = { 0 };
  SUITE_AUTO_RAN struct suite_ran binary = { 0 };

  append_numbers (&out, "o");
  append_numbers (&err, "e");
  suite_sh (box, &lines, 0, "i=0; while [ $i -lt 2000 ]; do i=$((i+1)); echo o$i; echo e$i >&2; done");
  SUITE_CHECK_EXIT (suite, &lines, 0, "lines");
  SUITE_CHECK (suite, suite_ran_printed (&lines, berth_buffer_string (&out)), "stdout is not o1 to o2000");
  SUITE_CHECK (suite, strcmp (berth_buffer_string (&lines.err), berth_buffer_string (&err)) == 0,
               "stderr is not e1 to e2000");
  for (int i = 0; i < 70000; i++)
    berth_buffer_append_byte (&bytes, (unsigned char) (i * 7 + i / 256));
  SUITE_CHECK_CODE (suite, "write", suite_write (box, SUITE_WORKSPACE "/b", bytes.data, bytes.size, NULL), 0);
  suite_sh (box, &binary, 0, "cat b; cat b >&2; printf x");
  SUITE_CHECK (suite,
               binary.out.size == bytes.size + 1 && memcmp (binary.out.data, bytes.data, bytes.size) == 0
                   && binary.out.data[bytes.size] == 'x',
               "stdout is not the bytes and an x");
  SUITE_CHECK (suite, binary.err.size == bytes.size && memcmp (binary.err.data, bytes.data, bytes.size) == 0,
               "stderr is not the bytes");
}

void
suite_e04 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  SUITE_AUTO_RAN struct suite_ran slow = { 0 };
  const char *const arguments[] = { "/bin/sh", "-c", "head -c 3000000 /dev/zero; echo last >&2; exit 5", NULL };

  suite_run (box, &(struct suite_command) { .arguments = arguments, .slow_ms = 3, .timeout_ms = 25000 }, &slow);
  SUITE_CHECK_EXIT (suite, &slow, 5, "a slow reader");
  SUITE_CHECK (suite, slow.out_bytes == 3000000 && strcmp (berth_buffer_string (&slow.err), "last\n") == 0,
               "a slow reader got %llu bytes of 3000000", (unsigned long long) slow.out_bytes);
}

/* Much output, whose last line is long and has no end. */
static void
read_much (struct suite_box *box)
{
  static const char *const arguments[]
      = { "/bin/sh", "-c", "seq 1 2500000; tr '\\0' x < /dev/zero | head -c 3000000; printf end; exit 6", NULL };
  struct suite_context *suite = box->suite;
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  const char *at;
  long line = 1;
  char *end;

  suite_run (box, &(struct suite_command) { .arguments = arguments, .timeout_ms = 45000 }, &ran);
  SUITE_CHECK_EXIT (suite, &ran, 6, "much output");
  at = berth_buffer_string (&ran.out);
  while (line <= 2500000 && strtol (at, &end, 10) == line && *end == '\n')
    at = end + 1, line++;
  SUITE_CHECK (suite, line == 2500001, "after %ld lines there is another one than the next", line - 1);
  SUITE_CHECK (suite, strspn (at, "x") == 3000000 && strcmp (at + strspn (at, "x"), "end") == 0,
               "the last line has %zu bytes and ends with \"%.10s\"", strlen (at), at + strspn (at, "x"));
}

#define SLOW 6

/* More than a socket holds, and about as much as it holds with a pipe: the program is long gone while the
 * last of it waits in the pipe.  How much that is differs. */
static void
read_slowly (struct suite_box *box)
{
  struct suite_context *suite = box->suite;
  struct suite_job jobs[SLOW];
  char scripts[SLOW][96];

  for (int i = 0; i < SLOW; i++)
    {
      snprintf (scripts[i], sizeof scripts[i], "dd if=/dev/zero bs=%d count=1 2> /dev/null; printf end; exit 7", 250000 + i * 25000);
      jobs[i] = (struct suite_job) { .command = { .slow_ms = 200, .timeout_ms = 45000 } };
      suite_job_start (&jobs[i], box, scripts[i]);
    }
  for (int i = 0; i < SLOW; i++)
    {
      struct suite_ran *ran = &jobs[i].ran;
      size_t size = 250000 + (size_t) i * 25000;

      suite_job_join (&jobs[i]);
      SUITE_CHECK_EXIT (suite, ran, 7, "a slow reader");
      SUITE_CHECK (suite, ran->out.size == size + 3 && memcmp (ran->out.data + size, "end", 3) == 0,
                   "a slow reader got %zu bytes of %zu", ran->out.size, size + 3);
      suite_ran_free (ran);
    }
}

void
suite_d002 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);

  read_much (box);
  read_slowly (box);
}

struct worker
{
  struct suite_box *box;
  unsigned int wrong;
  char first_wrong[300];
};

static void *
run_many (void *context)
{
  struct worker *worker = context;

  for (int i = 0; i < MANY / WORKERS; i++)
    {
      SUITE_AUTO_RAN struct suite_ran ran = { 0 };

      suite_argv (worker->box, &ran, (const char *const[]) { "/bin/echo", "0123456789", NULL });
      if (suite_ran_exited (&ran, 0) && suite_ran_printed (&ran, "0123456789\n"))
        continue;
      if (worker->wrong++ == 0)
        snprintf (worker->first_wrong, sizeof worker->first_wrong, "%.20s, %.250s", berth_buffer_string (&ran.out),
                  suite_ran_text (&ran));
    }
  return NULL;
}

void
suite_e04_many (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  struct worker workers[WORKERS] = { { .box = box }, { .box = box } };
  pthread_t threads[WORKERS];

  for (int i = 0; i < WORKERS; i++)
    SUITE_REQUIRE (suite, pthread_create (&threads[i], NULL, run_many, &workers[i]) == 0, "no thread");
  for (int i = 0; i < WORKERS; i++)
    pthread_join (threads[i], NULL);
  for (int i = 0; i < WORKERS; i++)
    SUITE_CHECK (suite, workers[i].wrong == 0, "%u of %d commands went wrong: %s", workers[i].wrong, MANY / WORKERS,
                 workers[i].first_wrong);
}

void
suite_e11 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  uint64_t size = getenv ("BERTH_TEST_LONG") != NULL ? 1024 * MIB : 64 * MIB;
  BERTH_AUTO_FREE char *text = berth_string_format ("%llu", (unsigned long long) size);
  struct rusage before;
  struct rusage after;

  getrusage (RUSAGE_SELF, &before);
  suite_run (box,
             &(struct suite_command) { .arguments = (const char *const[]) { "head", "-c", text, "/dev/zero", NULL },
                                       .timeout_ms = 100000,
                                       .discard = true },
             &ran);
  getrusage (RUSAGE_SELF, &after);
  SUITE_CHECK_EXIT (suite, &ran, 0, "much output");
  SUITE_CHECK (suite, ran.out_bytes == size, "%llu bytes of %s came", (unsigned long long) ran.out_bytes, text);
  SUITE_CHECK (suite, after.ru_maxrss - before.ru_maxrss < 32 * 1024, "%ld KiB more memory for it",
               after.ru_maxrss - before.ru_maxrss);
}

void
suite_e12 (struct suite_context *suite)
{
  static const struct
  {
    const char *script;
    uint64_t out, err;
  } cases[] = {
    { "head -c 65537 /dev/zero", 65537, 0 },
    { "head -c 65537 /dev/zero >&2", 0, 65537 },
    { "head -c 10485760 /dev/zero", 10485760, 0 },
    { "head -c 10485760 /dev/zero >&2", 0, 10485760 },
    { "for i in 1 2 3; do head -c 32768 /dev/zero; head -c 32768 /dev/zero >&2; done", 3 * 32768, 3 * 32768 },
    { "for i in 1 2 3; do head -c 65536 /dev/zero >&2; head -c 65536 /dev/zero; done", 3 * 65536, 3 * 65536 },
    { "for i in 1 2 3; do head -c 65537 /dev/zero; head -c 65537 /dev/zero >&2; done", 3 * 65537, 3 * 65537 },
    { "head -c 10485760 /dev/zero >&2; head -c 10485760 /dev/zero", 10485760, 10485760 },
  };
  struct suite_box *box = suite_box_make (suite);

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    {
      SUITE_AUTO_RAN struct suite_ran ran = { 0 };

      suite_sh (box, &ran, 10000, cases[i].script);
      SUITE_CHECK_EXIT (suite, &ran, 0, cases[i].script);
      SUITE_CHECK (suite, ran.out_bytes == cases[i].out && ran.err_bytes == cases[i].err,
                   "%s: %llu and %llu bytes came", cases[i].script, (unsigned long long) ran.out_bytes,
                   (unsigned long long) ran.err_bytes);
    }
}

void
suite_e13 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  BERTH_AUTO_FREE char *text = malloc (LONGEST + 2);
  SUITE_AUTO_RAN struct suite_ran longest = { 0 };
  SUITE_AUTO_RAN struct suite_ran longer = { 0 };
  const char *arguments[] = { "/usr/bin/printf", "%s", text, NULL };

  SUITE_REQUIRE (suite, text != NULL, "no memory");
  memset (text, 'a', LONGEST + 1);
  text[LONGEST] = '\0';
  suite_argv (box, &longest, arguments);
  SUITE_CHECK_EXIT (suite, &longest, 0, "the longest argument");
  SUITE_CHECK (suite, longest.out_bytes == LONGEST, "%llu bytes of it came back", (unsigned long long) longest.out_bytes);
  text[LONGEST] = 'a';
  text[LONGEST + 1] = '\0';
  suite_argv (box, &longer, arguments);
  SUITE_CHECK (suite, longer.exits == 0, "one byte more: %s", suite_ran_text (&longer));
  SUITE_CHECK_CODE (suite, "one byte more", longer.code, BERTH_E_INVALID_REQUEST, BERTH_E_PAYLOAD_TOO_LARGE);
}

/* Each is named that is too long; all together have a limit that is told as well. */
void
suite_d181 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  BERTH_AUTO_FREE char *text = malloc (LONGEST + 2);
  BERTH_AUTO_FREE struct berth_pair *many = calloc (MANY_VARIABLES, sizeof *many);
  BERTH_AUTO_FREE char (*names)[16] = calloc (MANY_VARIABLES, sizeof *names);
  const char *const count[] = { "/bin/sh", "-c", "env | grep -c ^V[0-9]", NULL };
  const char *const size[] = { "/bin/sh", "-c", "echo ${#A}", NULL };
  const char *whole[34] = { "/bin/true" };
  struct berth_pair pair = { .name = "A", .value = text };
  SUITE_AUTO_RAN struct suite_ran longest = { 0 };
  SUITE_AUTO_RAN struct suite_ran longer = { 0 };
  SUITE_AUTO_RAN struct suite_ran crowd = { 0 };
  SUITE_AUTO_RAN struct suite_ran all = { 0 };
  SUITE_AUTO_RAN struct suite_ran named = { 0 };

  SUITE_REQUIRE (suite, text != NULL && many != NULL && names != NULL, "no memory");
  memset (text, 'a', LONGEST);
  text[LONGEST] = '\0';
  text[LONGEST - 2] = '\0';
  suite_run (box, &(struct suite_command) { .arguments = size, .environment = &pair, .environment_count = 1 }, &longest);
  SUITE_CHECK_PRINTED (suite, &longest, "131069\n", "the longest variable");
  text[LONGEST - 2] = 'a';
  text[LONGEST - 1] = '\0';
  suite_run (box, &(struct suite_command) { .arguments = size, .environment = &pair, .environment_count = 1 }, &longer);
  SUITE_CHECK_CODE (suite, "a variable of one byte more", longer.code, BERTH_E_INVALID_REQUEST);
  SUITE_CHECK (suite, strstr (longer.error.message, " A ") != NULL, "it is not named in: %s", longer.error.message);
  text[LONGEST - 1] = 'a';
  suite_argv (box, &named, (const char *const[]) { "/bin/true", "short", text, NULL });
  SUITE_CHECK_EXIT (suite, &named, 0, "an argument of the longest size");
  for (size_t i = 1; i < 33; i++)
    whole[i] = text;
  suite_argv (box, &all, whole);
  SUITE_CHECK (suite, all.code == BERTH_E_INVALID_REQUEST || all.code == BERTH_E_PAYLOAD_TOO_LARGE, "4 MiB of arguments: %s",
               suite_ran_text (&all));
  SUITE_CHECK (suite, strstr (all.error.message, "too long") != NULL, "4 MiB of arguments: %s", all.error.message);
  for (int i = 0; i < MANY_VARIABLES; i++)
    {
      snprintf (names[i], sizeof names[i], "V%d", i);
      many[i] = (struct berth_pair) { .name = names[i], .value = "x" };
    }
  suite_run (box, &(struct suite_command) { .arguments = count, .environment = many, .environment_count = MANY_VARIABLES }, &crowd);
  SUITE_CHECK_PRINTED (suite, &crowd, "20000\n", "20 000 variables");
}

void
suite_e14 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  struct suite_job jobs[AT_ONCE] = { { 0 } };
  char numbers[AT_ONCE][8];
  struct berth_pair pairs[AT_ONCE];

  for (int i = 0; i < AT_ONCE; i++)
    {
      snprintf (numbers[i], sizeof numbers[i], "%d\n", i);
      pairs[i] = (struct berth_pair) { .name = "N", .value = numbers[i] };
      jobs[i].command = (struct suite_command) { .environment = &pairs[i], .environment_count = 1, .timeout_ms = 40000 };
      suite_job_start (&jobs[i], box, "sleep 0.3; printf %s \"$N\"; exit $N");
    }
  for (int i = 0; i < AT_ONCE; i++)
    {
      suite_job_join (&jobs[i]);
      SUITE_CHECK (suite, suite_ran_exited (&jobs[i].ran, i) && suite_ran_printed (&jobs[i].ran, numbers[i]),
                   "command %d of %d at once: %s", i, AT_ONCE, suite_ran_text (&jobs[i].ran));
      suite_ran_free (&jobs[i].ran);
    }
}

static unsigned int
count_names (const char *directory)
{
  BERTH_AUTO_DIR DIR *dir = opendir (directory);
  unsigned int count = 0;

  while (dir != NULL && readdir (dir) != NULL)
    count++;
  return count;
}

/* What there is of the clause, from outside, where another user's processes do not show whose they are, and
 * from inside. */
static unsigned int
count_all (struct suite_box *box, struct berth_buffer *found)
{
  struct suite_context *suite = box->suite;
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };

  berth_buffer_clear (found);
  suite_sh (box, &ran, 0, "grep -l \"$SANDBOX\" /proc/[0-9]*/environ 2>/dev/null | wc -l");
  berth_buffer_appendf (found, "processes seen from inside: %s; ", berth_buffer_string (&ran.out));
  return suite_leftovers (suite->tag, suite->directory, found) + suite_count_inner (suite->tag, found)
         + (unsigned int) strtoul (berth_buffer_string (&ran.out), NULL, 10);
}

/* What served the last command may still be on its way out. */
static unsigned int
wait_for_rest (struct suite_box *box, unsigned int want, struct berth_buffer *found)
{
  int64_t until = berth_clock_monotonic_ms () + PATIENCE_MS;
  unsigned int left;

  while ((left = count_all (box, found)) > want && berth_clock_monotonic_ms () < until)
    berth_clock_sleep_ms (50);
  return left;
}

/* What counts leftovers sees a command that runs. */
static void
check_sees_commands (struct suite_box *box, unsigned int before)
{
  BERTH_AUTO_BUFFER struct berth_buffer found = { 0 };
  struct suite_job job = { 0 };
  int64_t until = berth_clock_monotonic_ms () + PATIENCE_MS;
  unsigned int now = before;

  suite_job_start (&job, box, "until [ -e stop ]; do sleep 0.05; done");
  while (now <= before && berth_clock_monotonic_ms () < until)
    now = count_all (box, &found);
  SUITE_CHECK (box->suite, now > before, "a command that runs is not seen: nor is what it would leave");
  SUITE_CHECK_CODE (box->suite, "write", suite_write_text (box, SUITE_WORKSPACE "/stop", ""), 0);
  suite_job_join (&job);
  suite_ran_free (&job.ran);
}

static unsigned int
run_thousand (struct suite_box *box)
{
  static const char *const good[] = { "/bin/true", NULL };
  static const char *const missing[] = { "/no/such/command", NULL };
  unsigned int wrong = 0;

  for (int i = 0; i < 1000; i++)
    {
      SUITE_AUTO_RAN struct suite_ran ran = { 0 };

      suite_argv (box, &ran, i % 10 == 0 ? missing : good);
      wrong += !suite_ran_exited (&ran, i % 10 == 0 ? 127 : 0);
    }
  return wrong;
}

void
suite_e16 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  BERTH_AUTO_BUFFER struct berth_buffer found = { 0 };
  unsigned int descriptors = count_names ("/proc/self/fd");
  unsigned int before = wait_for_rest (box, UINT_MAX, &found);
  unsigned int wrong = run_thousand (box);
  unsigned int after = wait_for_rest (box, before, &found);

  SUITE_CHECK (suite, wrong == 0, "%u of 1000 commands went wrong", wrong);
  SUITE_CHECK (suite, count_names ("/proc/self/fd") == descriptors, "%u descriptors before, %u after", descriptors,
               count_names ("/proc/self/fd"));
  SUITE_CHECK (suite, after <= before, "%u processes, mounts, cgroups and files before, %u after: %s", before, after,
               berth_buffer_string (&found));
  check_sees_commands (box, after);
}

#define SLEEP_MS 3000
#define PROMISED_MS 500
#define EXCUSED_MS 2000 /* at most, so that output that comes at the end is never excused */

/* The pause follows what is printed, by the clock of the sandbox; so what came late by some time came
 * that much less than the pause before the exit. */
static void
check_prompt (struct suite_context *suite, const struct suite_ran *ran, int64_t first_ms, int64_t stalled_ms, const char *what)
{
  SUITE_CHECK (suite, first_ms >= 0 && ran->exit_ms - first_ms >= SLEEP_MS - PROMISED_MS - stalled_ms,
               "%s: %lld ms between the first byte and the exit, %d ms apart; the machine withheld %lld ms", what,
               (long long) (ran->exit_ms - first_ms), SLEEP_MS, (long long) stalled_ms);
}

void
suite_e20 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  struct berth_test_stall stall;
  int64_t stalled_ms;

  SUITE_REQUIRE (suite, berth_test_stall_start (&stall), "no thread");
  suite_sh (box, &ran, 25000, "echo line; printf b >&2; sleep 3; printf c");
  stalled_ms = berth_test_stall_ms (&stall);
  stalled_ms = stalled_ms < EXCUSED_MS ? stalled_ms : EXCUSED_MS;
  berth_test_stall_stop (&stall);
  SUITE_CHECK_EXIT (suite, &ran, 0, "the command");
  SUITE_CHECK_PRINTED (suite, &ran, "line\nc", "the command");
  SUITE_CHECK (suite, ran.ended_ms >= SLEEP_MS, "it slept for 3 s and ended after %lld ms", (long long) ran.ended_ms);
  check_prompt (suite, &ran, ran.first_out_ms, stalled_ms, "a line on standard output");
  check_prompt (suite, &ran, ran.first_err_ms, stalled_ms, "a byte without an end of line on standard error");
}

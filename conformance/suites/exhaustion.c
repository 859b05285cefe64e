/* D-095 to D-102: what a sandbox uses up is its own, and that it is used up is told truly. */
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "conformance/suites/content.h"
#include "conformance/suites/files.h"
#include "conformance/suites/lifecycle.h"
#include "conformance/suites/tool.h"
#include "sdk/base/clock.h"
#include "sdk/base/string.h"

#define MIB (UINT64_C (1) << 20)
#define WATCHES_MAX 1024

/* A sandbox with the limits that SET writes, of which it must have BITS; else the clause is not applicable. */
static struct suite_box *
make_limited (struct suite_context *suite, uint64_t bits, void (*set) (struct berth_spec *spec))
{
  struct suite_box *box = suite_box_new (suite);
  struct berth_effective effective = { 0 };
  struct suite_plan plan;

  suite_plan_init (&plan, box);
  plan.spec.asks |= bits;
  plan.spec.must |= bits;
  set (&plan.spec);
  if (suite_box_validate (box, &plan.spec, &effective) != 0 || (effective.enforced & bits) != bits)
    suite_not_applicable (suite, "it does not have this limit here");
  SUITE_REQUIRE (suite, suite_box_create (box, &plan.spec) == 0, "create: %s", box->error.message);
  return box;
}

static void
check_script (struct suite_box *box, const char *what, const char *script, const char *want)
{
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };

  suite_sh (box, &ran, 0, script);
  SUITE_CHECK_PRINTED (box->suite, &ran, want, what);
}

/* ---- D-095: a fork bomb ---- */

static void
set_few_pids (struct berth_spec *spec)
{
  spec->pids = 64;
}

/* While the bomb goes off: an answer, or the reason in a word. */
static void
look_meanwhile (struct suite_box *box, struct suite_box *beside)
{
  struct suite_context *suite = box->suite;
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  SUITE_AUTO_RAN struct suite_ran other = { 0 };
  struct suite_entry entry;
  uint32_t code;

  SUITE_CHECK (suite, suite_box_is_running (box) == 1, "with a bomb inside it is said not to run");
  suite_sh (box, &ran, 5000, "echo here");
  if (ran.code != 0)
    {
      SUITE_CHECK_CODE (suite, "a command beside the bomb", ran.code, BERTH_E_RESOURCE_EXHAUSTED, BERTH_E_UNREACHABLE);
      SUITE_CHECK (suite, ran.exits == 0, "an error and an exit");
    }
  code = suite_stat (box, SUITE_WORKSPACE, false, &entry);
  SUITE_CHECK_CODE (suite, "stat beside the bomb", code, 0, BERTH_E_RESOURCE_EXHAUSTED, BERTH_E_UNREACHABLE);
  suite_sh (beside, &other, 5000, "(echo here | cat) | cat");
  SUITE_CHECK_PRINTED (suite, &other, "here\n", "another sandbox");
}

void
suite_d095 (struct suite_context *suite)
{
  static const char bomb[] = "b () { b | b & }; b; while :; do b; done";
  struct suite_box *box = make_limited (suite, BERTH_SPEC_PIDS, set_few_pids);
  struct suite_box *beside = suite_box_make (suite);
  struct suite_job job = { .command = { .timeout_ms = 20000, .discard = true } };
  struct berth_cancel *cancel;
  int64_t until;
  uint32_t verdict = 0;

  SUITE_REQUIRE (suite, berth_cancel_new (&cancel, NULL) == 0, "no cancel token");
  job.command.cancel = cancel;
  suite_job_start (&job, box, bomb);
  berth_clock_sleep_ms (300);
  look_meanwhile (box, beside);
  berth_cancel_trigger (cancel);
  suite_job_join (&job);
  SUITE_CHECK (suite, job.ran.ended_ms < 20000, "the bomb ended only by its timeout");
  suite_ran_free (&job.ran);
  job.command.cancel = NULL;
  berth_cancel_free (cancel);
  until = berth_clock_monotonic_ms () + 30000;
  SUITE_AUTO_RAN struct suite_ran after = { 0 };
  do
    {
      suite_ran_free (&after);
      suite_sh (box, &after, 5000, "echo usable");
    }
  while (!suite_ran_exited (&after, 0) && berth_clock_monotonic_ms () < until);
  SUITE_CHECK_PRINTED (suite, &after, "usable\n", "after the bomb");
  suite_job_start (&job, box, bomb);
  berth_clock_sleep_ms (200);
  SUITE_CHECK (suite, suite_box_destroy (box, true, &verdict) == 0 && verdict == BERTH_GONE, "a bomb keeps destroy from ending it");
  suite_job_join (&job);
  suite_ran_free (&job.ran);
}

/* ---- D-096: what is not memory ---- */

void
suite_d096 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  uint64_t enforced = box->effective.enforced;
  SUITE_AUTO_RAN struct suite_ran opened = { 0 };

  if (box->effective.tier < BERTH_TIER_CONTAINER)
    suite_not_applicable (suite, "it claims no isolation");
  SUITE_CHECK (suite, (enforced & BERTH_SPEC_OPEN_FILES) != 0, "there is no limit of open files unless it is asked for");
  SUITE_CHECK (suite, (enforced & BERTH_SPEC_TMP) != 0, "there is no limit of /tmp unless it is asked for");
  suite_tool_install (box);
  suite_argv (box, &opened, (const char *const[]) { SUITE_TOOL, "descriptors", "1000000", NULL });
  SUITE_CHECK (suite, strstr (berth_buffer_string (&opened.out), "EMFILE") != NULL, "a million descriptors: %s",
               berth_buffer_string (&opened.out));
  /* Files of nothing are counted where they cost memory; the root is not to be written at all. */
  for (const char *const *place = (const char *const[]) { "/tmp", "/dev/shm", NULL }; *place != NULL; place++)
    {
      BERTH_AUTO_FREE char *script = berth_string_format ("[ $(df --output=itotal %s | tail -n 1) -le 1000000 ] && echo bounded", *place);

      check_script (box, *place, script, "bounded\n");
    }
}

/* ---- D-097: out of memory, told truly ---- */

static void
set_little_memory (struct berth_spec *spec)
{
  spec->memory_bytes = 64 * MIB;
  spec->tmp_bytes = 512 * MIB;
}

static void
check_end (struct suite_box *box, const char *what, const char *script, uint32_t reason, bool kills)
{
  struct suite_context *suite = box->suite;
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };

  suite_sh (box, &ran, reason == BERTH_TIMED_OUT ? 2000 : 30000, script);
  SUITE_CHECK (suite, ran.code == 0 && ran.exits == 1 && ran.exit.reason == reason, "%s: %s", what, suite_ran_text (&ran));
  SUITE_CHECK (suite, (ran.exit.has & BERTH_EXIT_KILLS) == 0 || (ran.exit.memory_kills > 0) == kills, "%s: %llu kills told", what,
               (unsigned long long) ran.exit.memory_kills);
  SUITE_CHECK (suite, !kills || (ran.exit.has & BERTH_EXIT_KILLS) != 0, "%s: that something was killed is not told", what);
}

void
suite_d097 (struct suite_context *suite)
{
  struct suite_box *box = make_limited (suite, BERTH_SPEC_MEMORY | BERTH_SPEC_TMP, set_little_memory);

  suite_tool_install (box);
  check_end (box, "the command itself", "exec " SUITE_TOOL " memory 268435456", BERTH_OUT_OF_MEMORY, true);
  check_end (box, "a kill by hand", "kill -9 $$", BERTH_SIGNALLED, false);
  check_end (box, "a child, and its parent goes on", SUITE_TOOL " memory 268435456; exit 0", BERTH_EXITED, true);
  check_end (box, "a kill by hand after that", "kill -9 $$", BERTH_SIGNALLED, false);
  check_end (box, "a timeout", "sleep 20", BERTH_TIMED_OUT, false);
  /* Its pages stay until the file goes, so it goes with the process: no other has anything to be killed for. */
  check_end (box, "a tmpfs", "exec 3> /tmp/full; rm /tmp/full; exec head -c 300M /dev/zero >&3", BERTH_OUT_OF_MEMORY, true);
  check_script (box, "afterwards", "echo usable", "usable\n");
}

/* ---- D-098: the disk ---- */

static void
set_small_disk (struct berth_spec *spec)
{
  spec->disk_bytes = 32 * MIB;
}

void
suite_d098 (struct suite_context *suite)
{
  static const char used[] = "df -B 1M --output=used . | tail -n 1 | tr -d ' '";
  struct suite_box *box = make_limited (suite, BERTH_SPEC_DISK, set_small_disk);
  BERTH_AUTO_FREE char *bytes = calloc (1, 24 * MIB);
  SUITE_AUTO_RAN struct suite_ran before = { 0 };
  SUITE_AUTO_RAN struct suite_ran full = { 0 };
  uint32_t code;

  SUITE_REQUIRE (suite, bytes != NULL, "no memory");
  suite_sh (box, &before, 0, used);
  /* A hundred megabytes are written in all, of which nothing stays. */
  check_script (box, "writing anew", "for i in $(seq 50); do head -c 1M /dev/zero > a || exit; done; echo fits", "fits\n");
  check_script (box, "writing and removing", "for i in $(seq 50); do head -c 1M /dev/zero > b && rm b || exit; done; echo fits", "fits\n");
  check_script (box, "names, holes and renames",
                "ln a c && ln a d && truncate -s 10G hole && for i in $(seq 50); do head -c 1M /dev/zero > new && mv new a || exit; "
                "done; rm -f a c d hole; sync; echo fits",
                "fits\n");
  check_script (box, "what is used afterwards", used, berth_buffer_string (&before.out));
  /* Together the API and a command meet the same end. */
  SUITE_CHECK_CODE (suite, "write", suite_write (box, SUITE_WORKSPACE "/a", bytes, 16 * MIB, NULL), 0);
  code = suite_write (box, SUITE_WORKSPACE "/b", bytes, 24 * MIB, NULL);
  SUITE_CHECK_CODE (suite, "a file that does not fit", code, BERTH_E_RESOURCE_EXHAUSTED);
  suite_sh (box, &full, 0, "head -c 24M /dev/zero > c");
  SUITE_CHECK (suite, strstr (berth_buffer_string (&full.err), "No space") != NULL, "a file that does not fit: %s", suite_ran_text (&full));
  check_script (box, "room again", "rm -f a b c && head -c 16M /dev/zero > a && echo fits", "fits\n");
}

/* ---- F13: the disk is full in the middle of a write ---- */

static int64_t
read_some (void *context, void *bytes, size_t size)
{
  uint64_t *left = context;

  size = size < *left ? size : (size_t) *left;
  memset (bytes, 'n', size);
  *left -= size;
  return (int64_t) size;
}

void
suite_f13_full (struct suite_context *suite)
{
  static const char path[] = SUITE_WORKSPACE "/file";
  struct suite_box *box = make_limited (suite, BERTH_SPEC_DISK, set_small_disk);
  struct berth_change how = suite_change (0);
  BERTH_AUTO_FREE char *old = malloc (8 * MIB);
  BERTH_AUTO_BUFFER struct berth_buffer bytes = { 0 };
  uint64_t left = 40 * MIB;
  uint64_t before = 0, after = 0;
  /* Of no size that could be refused at once. */
  struct berth_source source = { .struct_size = sizeof source, .context = &left, .size = BERTH_UNKNOWN_SIZE, .read = read_some };

  SUITE_REQUIRE (suite, old != NULL, "no memory");
  memset (old, 'o', 8 * MIB);
  SUITE_CHECK_CODE (suite, "write", suite_write (box, path, old, 8 * MIB, NULL), 0);
  SUITE_CHECK_CODE (suite, "list", suite_list_files (box, SUITE_WORKSPACE, NULL, NULL, &before), 0);
  SUITE_CHECK_CODE (suite, "overwrite with more than fits", suite_write_source (box, path, &how, &source, NULL),
                    BERTH_E_RESOURCE_EXHAUSTED);
  SUITE_CHECK (suite, left <= 32 * MIB, "it was refused before there was much of it: %llu bytes are left, no control",
               (unsigned long long) left);
  suite_check_content (box, path, old, 8 * MIB);
  SUITE_CHECK_CODE (suite, "list", suite_list_files (box, SUITE_WORKSPACE, NULL, NULL, &after), 0);
  SUITE_CHECK (suite, after == before, "%llu files where there were %llu", (unsigned long long) after, (unsigned long long) before);
  /* What was written of it is given back. */
  left = 16 * MIB;
  SUITE_CHECK_CODE (suite, "one that fits", suite_write_source (box, path, &how, &source, NULL), 0);
  SUITE_CHECK_CODE (suite, "read", suite_read (box, path, &bytes), 0);
  SUITE_CHECK (suite, bytes.size == 16 * MIB && memchr (bytes.data, 'o', bytes.size) == NULL, "the new content is not there");
}

/* ---- D-100: shared memory ---- */

static void
set_shared_memory (struct berth_spec *spec)
{
  spec->shm_bytes = 24 * MIB;
}

void
suite_d100 (struct suite_context *suite)
{
  struct suite_box *box = make_limited (suite, BERTH_SPEC_SHM, set_shared_memory);
  BERTH_AUTO_FREE char *name = berth_string_format ("/dev/shm/berth-test-%s", suite->tag);
  BERTH_AUTO_FREE char *script = berth_string_format ("echo x > %s; echo made", name);

  check_script (box, "more than there is", "head -c 100M /dev/zero > /dev/shm/a 2>e; grep -c 'No space' e; stat -c %s /dev/shm/a; rm /dev/shm/a",
                "1\n25165824\n");
  check_script (box, "as much as there is", "head -c 24M /dev/zero > /dev/shm/a && rm /dev/shm/a && echo fits", "fits\n");
  check_script (box, "of its own", script, "made\n");
  SUITE_CHECK (suite, access (name, F_OK) < 0, "%s is this machine's", name);
  unlink (name);
}

/* ---- D-101: file watches ---- */

/* How many more inotify instances this process may have. */
static unsigned int
count_instances (void)
{
  int instances[WATCHES_MAX];
  unsigned int count = 0;

  while (count < WATCHES_MAX && (instances[count] = inotify_init1 (IN_CLOEXEC)) >= 0)
    count++;
  for (unsigned int i = 0; i < count; i++)
    close (instances[i]);
  return count;
}

void
suite_d101 (struct suite_context *suite)
{
  int dumpable = prctl (PR_GET_DUMPABLE);
  struct suite_box *greedy = suite_box_make (suite);
  struct suite_box *other = suite_box_make (suite);
  unsigned int before = count_instances ();
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  struct suite_job job = { 0 };
  struct suite_entry entry;

  if (greedy->effective.tier < BERTH_TIER_CONTAINER)
    suite_not_applicable (suite, "it claims no isolation");
  if ((greedy->effective.posture & BERTH_POSTURE_SEPARATE_USERS) == 0 || geteuid () != 0)
    suite_not_applicable (suite, "its accounts are this user's own");
  if (before < 16)
    suite_skip (suite, "this user may have no more than %u file watches", before);
  SUITE_CHECK (suite, prctl (PR_GET_DUMPABLE) == dumpable, "the host's process could be dumped, and no longer can");
  suite_tool_install (greedy);
  suite_tool_install (other);
  suite_job_start (&job, greedy, "exec " SUITE_TOOL " instances 100000 ready stop");
  for (int i = 0; i < 1000 && suite_stat (greedy, SUITE_WORKSPACE "/ready", false, &entry) != 0; i++)
    berth_clock_sleep_ms (20);
  SUITE_CHECK_CODE (suite, "the file that says it has taken all", suite_stat (greedy, SUITE_WORKSPACE "/ready", false, &entry), 0);
  SUITE_CHECK (suite, count_instances () >= before / 2, "%u file watches before, %u beside a sandbox that takes all", before,
               count_instances ());
  suite_argv (other, &ran, (const char *const[]) { SUITE_TOOL, "instances", "20", "ready", "", NULL });
  SUITE_CHECK_PRINTED (suite, &ran, "20 ok\n", "the watches of another sandbox");
  SUITE_CHECK_CODE (suite, "write", suite_write_text (greedy, SUITE_WORKSPACE "/stop", ""), 0);
  suite_job_join (&job);
  SUITE_CHECK (suite, strstr (berth_buffer_string (&job.ran.out), "EMFILE") != NULL, "it was not held: %s, no control",
               suite_ran_text (&job.ran));
  suite_ran_free (&job.ran);
}

/* F09: a directory that becomes a link out of the write root, and back, while it is written. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "conformance/suites/content.h"
#include "conformance/suites/files.h"
#include "conformance/suites/tool.h"
#include "sdk/base/clock.h"
#include "sdk/base/string.h"

#define SWAPS 100000
#define RACE_MS "6000"
#define CONTROL_MS 20000

/* ---- the control: the same race against check-then-open, on this machine ---- */

struct control
{
  char directory[256];
  char link[256];
  char target[256];
  bool stop;
};

static void *
swap_outside (void *context)
{
  struct control *control = context;

  while (!__atomic_load_n (&control->stop, __ATOMIC_RELAXED))
    renameat2 (AT_FDCWD, control->directory, AT_FDCWD, control->link, RENAME_EXCHANGE);
  return NULL;
}

static void
write_unprotected (const struct control *control)
{
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/x", control->directory);
  struct stat status;

  if (path != NULL && lstat (control->directory, &status) == 0 && S_ISDIR (status.st_mode))
    {
      BERTH_AUTO_FD int fd = open (path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

      (void) fd;
    }
}

/* It must be lost at least once, or the race proves nothing. */
static bool
loses_unprotected (struct suite_context *suite)
{
  struct control control = { .stop = false };
  BERTH_AUTO_FREE char *hit = berth_string_format ("%s/out/x", suite->directory);
  int64_t until = berth_clock_monotonic_ms () + CONTROL_MS;
  struct stat status;
  pthread_t thread;

  snprintf (control.directory, sizeof control.directory, "%s/swapped", suite->directory);
  snprintf (control.link, sizeof control.link, "%s/link", suite->directory);
  snprintf (control.target, sizeof control.target, "%s/out", suite->directory);
  SUITE_REQUIRE (suite,
                 mkdir (control.directory, 0700) == 0 && mkdir (control.target, 0700) == 0
                     && symlink (control.target, control.link) == 0,
                 "no directories for the control");
  SUITE_REQUIRE (suite, pthread_create (&thread, NULL, swap_outside, &control) == 0, "no thread");
  while (lstat (hit, &status) != 0 && berth_clock_monotonic_ms () < until)
    write_unprotected (&control);
  __atomic_store_n (&control.stop, true, __ATOMIC_RELAXED);
  pthread_join (thread, NULL);
  return lstat (hit, &status) == 0;
}

/* ---- the race itself ---- */

static void *
run_swapper (void *context)
{
  struct suite_job *job = context;

  suite_argv (job->box, &job->ran,
              (const char *const[]) { SUITE_TOOL, "swap", SUITE_WORKSPACE "/r/d", SUITE_WORKSPACE "/r/l", RACE_MS, "100000",
                                      NULL });
  __atomic_store_n (&job->command.discard, true, __ATOMIC_RELAXED);
  return NULL;
}

void
suite_f09_race (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  struct suite_job job = { .box = box };
  SUITE_AUTO_RAN struct suite_ran prepare = { 0 };
  SUITE_AUTO_RAN struct suite_ran after = { 0 };
  unsigned int written = 0;
  unsigned int refused = 0;

  SUITE_CHECK (suite, loses_unprotected (suite), "an unprotected write was never misled: the race proves nothing");
  suite_tool_install (box);
  suite_sh (box, &prepare, 0, "rm -rf /tmp/out; mkdir -p r/d /tmp/out && chmod 777 /tmp/out && ln -s ../../tmp/out r/l");
  SUITE_REQUIRE_EXIT (suite, &prepare, 0, "the directories");
  SUITE_REQUIRE (suite, pthread_create (&job.thread, NULL, run_swapper, &job) == 0, "no thread");
  while (!__atomic_load_n (&job.command.discard, __ATOMIC_RELAXED))
    {
      uint32_t code = suite_write_text (box, SUITE_WORKSPACE "/r/d/x", "y");

      written += code == 0;
      refused += code != 0;
    }
  suite_job_join (&job);
  SUITE_CHECK_EXIT (suite, &job.ran, 0, "the swapper");
  SUITE_CHECK (suite, strtol (berth_buffer_string (&job.ran.out), NULL, 10) >= SWAPS, "only %s swaps",
               berth_buffer_string (&job.ran.out));
  SUITE_CHECK (suite, written > 0 && refused > 0, "%u writes succeeded, %u were refused: both must happen", written, refused);
  suite_sh (box, &after, 0, "ls -A /tmp/out; rm -rf /tmp/out; echo looked");
  SUITE_CHECK_PRINTED (suite, &after, "looked\n", "what landed outside the write root");
  suite_ran_free (&job.ran);
}

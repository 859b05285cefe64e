/* bench - what Berth costs, as ratios against what one would take instead, in one run.
 *
 *   bench [--count N] [--json]
 *
 * The two of a pair take turns, so that whatever else the machine does meets both alike; told
 * are medians.  A pair whose other side is not there (no bwrap, not root) is left out and said. */
#include <berth/berth.h>

#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sdk/base/buffer.h"
#include "sdk/base/clock.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"

#define LEAST_COUNT 200
#define TMPFS_MAGIC_NUMBER 0x01021994

extern char **environ;

struct bench
{
  char directory[64];
  char program[4096]; /* berth itself */
  bool directory_is_memory;
  long count;
  struct berth_host *host;
  struct berth_sandbox *sandbox;
};

/* One thing that is measured: 0, or -1 when it did not work. */
typedef int action (struct bench *bench);

struct pair
{
  const char *name;
  const char *left_name;
  action *left;
  const char *right_name;
  action *right;
  double target; /* of left / right; 0: none */
};

/* ---- actions ---- */

static int
spawn_and_wait (const char *const *arguments)
{
  pid_t pid;
  int status = -1;

  if (posix_spawnp (&pid, arguments[0], NULL, NULL, (char *const *) (uintptr_t) arguments, environ) != 0)
    return -1;
  while (waitpid (pid, &status, 0) < 0 && errno == EINTR)
    continue;
  return status == 0 ? 0 : -1;
}

static int
spawn_true (struct bench *bench)
{
  static const char *const arguments[] = { "/bin/true", NULL };

  (void) bench;
  return spawn_and_wait (arguments);
}

static int
run_true (struct bench *bench)
{
  static const char *const arguments[] = { "/bin/true" };
  struct berth_exec_options options = BERTH_EXEC_OPTIONS_INIT;
  struct berth_exec_result result;

  options.arguments = arguments;
  options.argument_count = 1;
  int failed = berth_sandbox_run (bench->sandbox, &options, &result, NULL);
  failed = failed != 0 || result.status != 0;
  berth_exec_result_clear (&result);
  return failed ? -1 : 0;
}

static int
create_run_destroy (struct bench *bench)
{
  struct berth_sandbox *kept = bench->sandbox;
  int failed = berth_sandbox_create (bench->host, NULL, &bench->sandbox, NULL);

  if (failed == 0)
    failed = run_true (bench);
  berth_sandbox_cleanup (&bench->sandbox);
  bench->sandbox = kept;
  return failed;
}

static int
berth_run (struct bench *bench)
{
  const char *const arguments[] = { bench->program, "run", "--", "/bin/true", NULL };

  return spawn_and_wait (arguments);
}

static int
berth_exec (struct bench *bench)
{
  const char *const arguments[] = { bench->program, "exec", berth_sandbox_id (bench->sandbox), "--", "/bin/true", NULL };

  return spawn_and_wait (arguments);
}

static int
bwrap_run (struct bench *bench)
{
  static const char *const arguments[] = { "bwrap", "--ro-bind", "/", "/", "--unshare-all", "--proc", "/proc", "--dev", "/dev",
                                           "/bin/true", NULL };

  (void) bench;
  return spawn_and_wait (arguments);
}

static int
open_and_close_host (struct bench *bench)
{
  struct berth_host *host = NULL;

  (void) bench;
  int failed = berth_host_open (NULL, &host, NULL);
  berth_host_close (host);
  return failed;
}

static const struct pair pairs[] = {
  { "run in an existing sandbox", "libberth", run_true, "posix_spawn + wait", spawn_true, 1.5 },
  { "a whole sandbox for one command", "berth run", berth_run, "bwrap", bwrap_run, 1.0 },
  { "the same through the library", "libberth", create_run_destroy, "bwrap", bwrap_run, 0 },
  { "a command from the shell", "berth exec", berth_exec, "posix_spawn + wait", spawn_true, 0 },
  { "open and close the state", "libberth", open_and_close_host, "posix_spawn + wait", spawn_true, 0 },
};
#define PAIRS (sizeof pairs / sizeof *pairs)

/* ---- measuring ---- */

struct figures
{
  double left_us;
  double right_us;
  const char *left_out; /* why; NULL: measured */
};

static int
compare (const void *left, const void *right)
{
  double a = *(const double *) left, b = *(const double *) right;

  return (a > b) - (a < b);
}

static double
median (double *samples, long count)
{
  qsort (samples, (size_t) count, sizeof *samples, compare);
  return count % 2 != 0 ? samples[count / 2] : (samples[count / 2 - 1] + samples[count / 2]) / 2;
}

static int
timed (struct bench *bench, action *what, double *microseconds)
{
  int64_t start = berth_clock_monotonic_ns ();
  int failed = what (bench);

  *microseconds = (double) (berth_clock_monotonic_ns () - start) / 1000;
  return failed;
}

static void
measure (struct bench *bench, const struct pair *pair, struct figures *out)
{
  BERTH_AUTO_FREE double *left = calloc ((size_t) bench->count, sizeof *left);
  BERTH_AUTO_FREE double *right = calloc ((size_t) bench->count, sizeof *right);

  if (left == NULL || right == NULL)
    {
      out->left_out = "no memory";
      return;
    }
  /* the first of each only warms up */
  if (pair->left (bench) != 0)
    out->left_out = pair->left_name;
  else if (pair->right (bench) != 0)
    out->left_out = pair->right_name;
  for (long i = 0; out->left_out == NULL && i < bench->count; i++)
    if (timed (bench, pair->left, &left[i]) != 0)
      out->left_out = pair->left_name;
    else if (timed (bench, pair->right, &right[i]) != 0)
      out->left_out = pair->right_name;
  if (out->left_out != NULL)
    return;
  out->left_us = median (left, bench->count);
  out->right_us = median (right, bench->count);
}

/* ---- telling ---- */

static void
tell_table (const struct bench *bench, const struct figures *figures)
{
  printf ("medians of %ld, state on %s\n\n", bench->count, bench->directory_is_memory ? "tmpfs" : "disk");
  printf ("%-34s %-11s %9s  %-19s %9s  %6s  %s\n", "", "", "us", "", "us", "ratio", "target");
  for (size_t i = 0; i < PAIRS; i++)
    if (figures[i].left_out != NULL)
      printf ("%-34s left out: %s does not work here\n", pairs[i].name, figures[i].left_out);
    else
      {
        printf ("%-34s %-11s %9.0f  %-19s %9.0f  %6.2f", pairs[i].name, pairs[i].left_name, figures[i].left_us,
                pairs[i].right_name, figures[i].right_us, figures[i].left_us / figures[i].right_us);
        if (pairs[i].target > 0)
          printf ("  %.1f", pairs[i].target);
        printf ("\n");
      }
}

static void
tell_json (const struct bench *bench, const struct figures *figures)
{
  printf ("{\"count\": %ld, \"state\": \"%s\", \"pairs\": [", bench->count, bench->directory_is_memory ? "tmpfs" : "disk");
  for (size_t i = 0; i < PAIRS; i++)
    {
      printf ("%s\n  {\"name\": \"%s\", \"left\": \"%s\", \"right\": \"%s\", ", i > 0 ? "," : "", pairs[i].name,
              pairs[i].left_name, pairs[i].right_name);
      if (figures[i].left_out != NULL)
        printf ("\"left_out\": \"%s\"}", figures[i].left_out);
      else
        printf ("\"left_us\": %.1f, \"right_us\": %.1f, \"ratio\": %.3f}", figures[i].left_us, figures[i].right_us,
                figures[i].left_us / figures[i].right_us);
    }
  printf ("\n]}\n");
}

/* ---- the whole ---- */

/* Memory where there is some, so that the disk is not what is measured. */
static int
make_directory (struct bench *bench)
{
  struct statfs status;
  const char *base = getenv ("BERTH_BENCH_DIR");

  if (base == NULL)
    base = access ("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  snprintf (bench->directory, sizeof bench->directory, "%s/berth-bench-XXXXXX", base);
  if (mkdtemp (bench->directory) == NULL)
    return -1;
  bench->directory_is_memory = statfs (bench->directory, &status) == 0 && status.f_type == TMPFS_MAGIC_NUMBER;
  BERTH_AUTO_FREE char *state = berth_string_format ("%s/state", bench->directory);
  BERTH_AUTO_FREE char *runtime = berth_string_format ("%s/run", bench->directory);
  if (state == NULL || runtime == NULL)
    return -1;
  /* for the processes that are started too */
  return setenv ("BERTH_STATE_DIR", state, 1) != 0 || setenv ("BERTH_RUNTIME_DIR", runtime, 1) != 0 ? -1 : 0;
}

/* In a build tree the program itself, not the script that libtool puts before it; else the
 * installed one. */
static void
find_program (struct bench *bench)
{
  const char *tree = getenv ("BERTH_TEST_BUILDDIR");

  snprintf (bench->program, sizeof bench->program, "%s/core/cli/.libs/berth", tree != NULL ? tree : "");
  if (access (bench->program, X_OK) != 0)
    snprintf (bench->program, sizeof bench->program, "berth");
}

static int
run_pairs (struct bench *bench, struct figures *figures)
{
  struct berth_error error = { 0 };

  if (berth_host_open (NULL, &bench->host, &error) != 0
      || berth_sandbox_create (bench->host, NULL, &bench->sandbox, &error) != 0)
    {
      fprintf (stderr, "bench: %s\n", error.message);
      return -1;
    }
  for (size_t i = 0; i < PAIRS; i++)
    measure (bench, &pairs[i], &figures[i]);
  return 0;
}

int
main (int argc, char **argv)
{
  struct bench bench = { .count = LEAST_COUNT };
  struct figures figures[PAIRS] = { { 0 } };
  bool json = false;
  int64_t count = LEAST_COUNT;

  for (int i = 1; i < argc; i++)
    if (strcmp (argv[i], "--json") == 0)
      json = true;
    else if (strcmp (argv[i], "--count") != 0 || i + 1 == argc
             || berth_string_to_int64 (argv[++i], LEAST_COUNT, 1000000, &count) != 0)
      {
        fprintf (stderr, "usage: bench [--count N] [--json], N at least %d\n", LEAST_COUNT);
        return 2;
      }
  bench.count = (long) count;
  find_program (&bench);
  if (make_directory (&bench) != 0)
    {
      perror ("bench: cannot make a directory");
      return 1;
    }
  int failed = run_pairs (&bench, figures);
  if (failed == 0)
    (json ? tell_json : tell_table) (&bench, figures);
  if (bench.sandbox != NULL)
    berth_sandbox_cleanup (&bench.sandbox);
  berth_host_close (bench.host);
  berth_fs_remove_tree (AT_FDCWD, bench.directory);
  return failed == 0 ? 0 : 1;
}

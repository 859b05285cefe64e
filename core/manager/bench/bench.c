/* bench - what Berth costs, as ratios against what one would take instead, in one run.
 *
 *   bench [--count N] [--pairs] [--json] [--svg FILE]
 *
 * The two of a pair take turns, so that whatever else the machine does meets both alike; told
 * are medians.  With --pairs the amounts, which take minutes, are left out.  A pair whose other side is
 * not there (no bwrap, not root) is left out, and what is missing is said. */
#include "core/manager/bench/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
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

struct pair
{
  const char *name;
  const char *left_name;
  bench_action *left;
  const char *right_name;
  bench_action *right;
  const char *target;
  void (*after) (struct bench *bench); /* what LEFT has left, not measured; NULL: nothing */
};

/* ---- actions ---- */

static int
spawn_and_wait (const char *const *arguments)
{
  pid_t pid;
  int status = -1;

  errno = posix_spawnp (&pid, arguments[0], NULL, NULL, (char *const *) (uintptr_t) arguments, environ);
  if (errno != 0)
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

/* The sandbox stays, in bench->other. */
static int
create_and_run (struct bench *bench)
{
  struct berth_sandbox *kept = bench->sandbox;
  int failed = berth_sandbox_create (bench->host, NULL, &bench->sandbox, NULL);

  if (failed == 0)
    failed = run_true (bench);
  bench->other = bench->sandbox;
  bench->sandbox = kept;
  return failed;
}

static void
destroy_other (struct bench *bench)
{
  berth_sandbox_cleanup (&bench->other);
}

static int
create_run_destroy (struct bench *bench)
{
  int failed = create_and_run (bench);

  destroy_other (bench);
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

int
bench_bwrap (struct bench *bench)
{
  static const char *const arguments[] = { "bwrap", "--ro-bind", "/", "/", "--unshare-all", "--proc", "/proc", "--dev", "/dev",
                                           "/bin/true", NULL };

  if (spawn_and_wait (arguments) == 0)
    return 0;
  bench->missing = errno == ENOENT ? "is not installed (package bubblewrap)" : NULL;
  return -1;
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
  { "run in an existing sandbox", "libberth", run_true, "posix_spawn + wait", spawn_true, "at most 1.5 times", NULL },
  { "a command in it, or a sandbox each", "libberth", run_true, "bwrap", bench_bwrap, NULL, NULL },
  { "the same from the shell", "berth exec", berth_exec, "bwrap", bench_bwrap, NULL, NULL },
  { "from create to the first result", "libberth", create_and_run, "bwrap", bench_bwrap, "faster", destroy_other },
  { "a whole sandbox for one command", "berth run", berth_run, "bwrap", bench_bwrap, NULL, NULL },
  { "the same through the library", "libberth", create_run_destroy, "bwrap", bench_bwrap, NULL, NULL },
  { "a command from the shell", "berth exec", berth_exec, "posix_spawn + wait", spawn_true, NULL, NULL },
  { "open and close the state", "libberth", open_and_close_host, "posix_spawn + wait", spawn_true, NULL, NULL },
};
#define PAIRS (sizeof pairs / sizeof *pairs)

/* ---- measuring ---- */

static int
compare (const void *left, const void *right)
{
  double a = *(const double *) left, b = *(const double *) right;

  return (a > b) - (a < b);
}

double
bench_median (double *samples, long count)
{
  qsort (samples, (size_t) count, sizeof *samples, compare);
  return count % 2 != 0 ? samples[count / 2] : (samples[count / 2 - 1] + samples[count / 2]) / 2;
}

int
bench_time (struct bench *bench, bench_action *what, double *microseconds)
{
  int64_t start = berth_clock_monotonic_ns ();
  int failed = what (bench);

  *microseconds = (double) (berth_clock_monotonic_ns () - start) / 1000;
  return failed;
}

struct figure *
bench_add (struct bench *bench, const char *name)
{
  struct figure *figure = &bench->figures[bench->figure_count++];

  *figure = (struct figure){ .name = name, .unit = "us" };
  return figure;
}

static void
measure (struct bench *bench, const struct pair *pair)
{
  BERTH_AUTO_FREE double *left = calloc ((size_t) bench->count, sizeof *left);
  BERTH_AUTO_FREE double *right = calloc ((size_t) bench->count, sizeof *right);
  struct figure *out = bench_add (bench, pair->name);

  out->left_name = pair->left_name;
  out->right_name = pair->right_name;
  out->target = pair->target;
  if (left == NULL || right == NULL)
    {
      out->left_out = "no memory";
      return;
    }
  /* the first of each only warms up */
  if (pair->left (bench) != 0)
    out->left_out = pair->left_name;
  if (pair->after != NULL)
    pair->after (bench);
  if (out->left_out != NULL)
    return;
  bench->missing = NULL;
  if (pair->right (bench) != 0)
    {
      out->left_out = pair->right_name;
      out->why = bench->missing;
    }
  for (long i = 0; out->left_out == NULL && i < bench->count; i++)
    {
      if (bench_time (bench, pair->left, &left[i]) != 0)
        out->left_out = pair->left_name;
      if (pair->after != NULL)
        pair->after (bench);
      if (bench_time (bench, pair->right, &right[i]) != 0)
        out->left_out = pair->right_name;
    }
  if (out->left_out != NULL)
    return;
  out->left = bench_median (left, bench->count);
  out->right = bench_median (right, bench->count);
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
  BERTH_AUTO_FREE char *config = berth_string_format ("%s/berth.conf", bench->directory);
  static const char text[] = "[berth]\nbackend = ns\n[limits]\nsandboxes = 1100\nsandboxes_per_owner = 1100\n";

  if (state == NULL || runtime == NULL || config == NULL
      || berth_fs_replace (AT_FDCWD, config, text, sizeof text - 1, 0600) != 0 || setenv ("BERTH_CONFIG", config, 1) != 0)
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
run_all (struct bench *bench, bool only_pairs)
{
  struct berth_error error = { 0 };

  if (berth_host_open (NULL, &bench->host, &error) != 0
      || berth_sandbox_create (bench->host, NULL, &bench->sandbox, &error) != 0)
    {
      fprintf (stderr, "bench: %s\n", error.message);
      return -1;
    }
  for (size_t i = 0; i < PAIRS; i++)
    measure (bench, &pairs[i]);
  if (!only_pairs)
    bench_amounts (bench);
  return 0;
}

int
main (int argc, char **argv)
{
  struct bench bench = { .count = LEAST_COUNT };
  const char *drawing = NULL;
  bool json = false, only_pairs = false;
  int64_t count = LEAST_COUNT;

  for (int i = 1; i < argc; i++)
    if (strcmp (argv[i], "--json") == 0)
      json = true;
    else if (strcmp (argv[i], "--pairs") == 0)
      only_pairs = true;
    else if (strcmp (argv[i], "--svg") == 0 && i + 1 < argc)
      drawing = argv[++i];
    else if (strcmp (argv[i], "--count") != 0 || i + 1 == argc
             || berth_string_to_int64 (argv[++i], LEAST_COUNT, 1000000, &count) != 0)
      {
        fprintf (stderr, "usage: bench [--count N] [--pairs] [--json] [--svg FILE], N at least %d\n", LEAST_COUNT);
        return 2;
      }
  bench.count = (long) count;
  find_program (&bench);
  if (make_directory (&bench) != 0)
    {
      perror ("bench: cannot make a directory");
      return 1;
    }
  int failed = run_all (&bench, only_pairs);
  if (failed == 0)
    (json ? bench_tell_json : bench_tell_table) (&bench);
  if (failed == 0 && drawing != NULL && bench_draw (&bench, drawing) != 0)
    {
      perror (drawing);
      failed = -1;
    }
  if (bench.sandbox != NULL)
    berth_sandbox_cleanup (&bench.sandbox);
  berth_host_close (bench.host);
  berth_fs_remove_tree (AT_FDCWD, bench.directory);
  return failed == 0 ? 0 : 1;
}

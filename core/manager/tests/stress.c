/* Many and much on the `ns` backend: a small sample each time, all of it with BERTH_TEST_LONG=1. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/manager/sweep.h"
#include "core/manager/tests/place.h"
#include "sdk/base/clock.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"

#define DISK_BYTES (1u << 20)
#define THREAD_STACK (256u << 10)
#define PLENTY (256u << 20)
#define WRONG 3   /* exit status of a child that saw a wrong result */
#define REFUSED 5 /* and of one that was told in time that there is not enough */

/* A sanitizer ends the process itself when it gets no memory: there only the cycles are tried. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define HAS_SANITIZER 1
#else
#define HAS_SANITIZER 0
#endif

static int
count_of (int sample, int all)
{
  return berth_test_is_long () ? all : sample;
}

static bool
is_root (void)
{
  if (geteuid () == 0)
    return true;
  berth_test_skip ("needs root");
  return false;
}

/* Its number comes back as output and, as far as one byte holds it, as status. */
static bool
run_number (struct berth_sandbox *sandbox, int number, struct berth_error *error)
{
  char line[64], want[16];
  const char *const arguments[] = { "/bin/sh", "-c", line };
  struct berth_exec_options options = BERTH_EXEC_OPTIONS_INIT;
  struct berth_exec_result result;

  snprintf (line, sizeof line, "echo %d; exit %d", number, number % 120);
  snprintf (want, sizeof want, "%d\n", number);
  options.arguments = arguments;
  options.argument_count = 3;
  bool good = berth_sandbox_run (sandbox, &options, &result, error) == 0 && result.reason == BERTH_EXITED
              && result.code == number % 120 && result.stdout_size == strlen (want)
              && memcmp (result.stdout_bytes, want, result.stdout_size) == 0 && result.stderr_size == 0;
  berth_exec_result_clear (&result);
  return good;
}

static struct berth_sandbox *
make (struct berth_host *host, int64_t pids)
{
  struct berth_create_options options = BERTH_CREATE_OPTIONS_INIT;
  struct berth_error error = { 0 };
  struct berth_sandbox *sandbox = NULL;

  options.pids = pids;
  if (berth_sandbox_create (host, &options, &sandbox, &error) != 0)
    fprintf (stderr, "     %s\n", error.message);
  return sandbox;
}

/* ---- commands ---- */

static void
test_sequential (void)
{
  PLACE place;
  int count = count_of (100, 10000), good = 0;

  if (!is_root ())
    return;
  place_make (&place, "ns");
  place_open (&place);
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = make (place.host, BERTH_UNSET);
  CU_ASSERT_PTR_NOT_NULL_FATAL (sandbox);
  for (int i = 0; i < count; i++)
    good += run_number (sandbox, i, NULL);
  CU_ASSERT_EQUAL (good, count);
}

struct runner
{
  struct berth_sandbox *sandbox;
  pthread_barrier_t *barrier;
  pthread_t thread;
  int number;
  bool good;
  struct berth_error error;
};

static void *
run_at_once (void *data)
{
  struct runner *runner = data;

  pthread_barrier_wait (runner->barrier);
  runner->good = run_number (runner->sandbox, runner->number, &runner->error);
  return NULL;
}

static void
test_parallel (void)
{
  PLACE place;
  int count = count_of (40, 1000), good = 0;
  BERTH_AUTO_FREE struct runner *runners = calloc ((size_t) count, sizeof *runners);
  pthread_barrier_t barrier;
  pthread_attr_t attributes;

  if (!is_root ())
    return;
  place_make (&place, "ns");
  place_open (&place);
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = make (place.host, 3 * count + 100);
  CU_ASSERT_PTR_NOT_NULL_FATAL (sandbox);
  CU_ASSERT_PTR_NOT_NULL_FATAL (runners);
  pthread_barrier_init (&barrier, NULL, (unsigned) count);
  pthread_attr_init (&attributes);
  pthread_attr_setstacksize (&attributes, THREAD_STACK);
  for (int i = 0; i < count; i++)
    {
      runners[i] = (struct runner){ .sandbox = sandbox, .barrier = &barrier, .number = i };
      CU_ASSERT_EQUAL_FATAL (pthread_create (&runners[i].thread, &attributes, run_at_once, &runners[i]), 0);
    }
  for (int i = 0; i < count; i++)
    {
      pthread_join (runners[i].thread, NULL);
      good += runners[i].good;
      if (!runners[i].good)
        fprintf (stderr, "     %d: %s\n", i, runners[i].error.message);
    }
  pthread_attr_destroy (&attributes);
  pthread_barrier_destroy (&barrier);
  CU_ASSERT_EQUAL (good, count);
}

/* ---- sandboxes ---- */

static void
test_alive (void)
{
  PLACE place;
  int count = count_of (20, 1000), made = 0, good = 0, gone = 0;
  BERTH_AUTO_FREE struct berth_sandbox **sandboxes = calloc ((size_t) count, sizeof *sandboxes);
  struct berth_destruction outcome;

  if (!is_root ())
    return;
  place_make (&place, "ns");
  place.config = "[limits]\nsandboxes = 1000\nsandboxes_per_owner = 1000\n";
  place_open (&place);
  CU_ASSERT_PTR_NOT_NULL_FATAL (sandboxes);
  while (made < count && (sandboxes[made] = make (place.host, BERTH_UNSET)) != NULL)
    made++;
  CU_ASSERT_EQUAL (made, count);
  CU_ASSERT_EQUAL (place_sightings (&place), (size_t) made);
  for (int i = 0; i < made; i++)
    {
      char line[64];

      snprintf (line, sizeof line, "test -z \"$(ls)\" && echo %d > mine", i);
      good += place_run (sandboxes[i], line, NULL) == 0;
    }
  for (int i = 0; i < made; i++)
    {
      char line[64];

      snprintf (line, sizeof line, "test \"$(cat mine)\" = %d", i);
      good += place_run (sandboxes[i], line, NULL) == 0;
      gone += berth_sandbox_destroy (sandboxes[i], &outcome, NULL) == 0 && outcome.outcome == BERTH_OUTCOME_CONFIRMED;
      berth_sandbox_close (sandboxes[i]);
    }
  CU_ASSERT_EQUAL (good, 2 * made);
  CU_ASSERT_EQUAL (gone, made);
  berth_host_close (BERTH_STEAL_POINTER (place.host));
  place_check_swept (&place);
}

/* ---- pressure ---- */

/* The memory that this process has, in bytes. */
static rlim_t
memory_now (void)
{
  unsigned long pages = 0;
  FILE *file = fopen ("/proc/self/statm", "re");

  if (file == NULL || fscanf (file, "%lu", &pages) != 1)
    pages = 0;
  if (file != NULL)
    fclose (file);
  return (rlim_t) pages * (rlim_t) sysconf (_SC_PAGESIZE);
}

/* What a cycle ended with that did not work.  A backend that cannot be read for lack of memory is refused as any
 * other that cannot be read, with its reason. */
static _Noreturn void
end_refused (const struct berth_error *error)
{
  if (error->code == BERTH_E_RESOURCE_EXHAUSTED
      || (error->code == BERTH_E_CONFIGURATION && strstr (error->message, strerror (ENOMEM)) != NULL))
    _exit (REFUSED);
  fprintf (stderr, "     %s: %s\n", berth_error_name (error->code), error->message);
  _exit (WRONG);
}

/* One cycle, which either works as it should or says what it lacks. */
static void
create_and_run (struct berth_host *host)
{
  struct berth_error error = { 0 };
  struct berth_sandbox *sandbox = NULL;

  if (berth_sandbox_create (host, NULL, &sandbox, &error) != 0)
    end_refused (&error);
  int status = place_run (sandbox, "exit 7", &error);
  if (status == -1)
    end_refused (&error);
  if (status != 7)
    _exit (WRONG);
  berth_sandbox_cleanup (&sandbox);
  berth_host_close (host);
}

/* How many of the cycles worked, and how many did not. */
struct tally
{
  int worked, refused;
};

static bool
count_cycle (struct tally *tally, int status)
{
  tally->worked += status == 0;
  tally->refused += WIFEXITED (status) && WEXITSTATUS (status) == REFUSED;
  return status == 0 || (WIFEXITED (status) && WEXITSTATUS (status) == REFUSED);
}

/* With none left, with plenty, and with little. */
static void
work_with_little (const struct place *place, int number)
{
  rlim_t bytes = memory_now () + (number == 1 ? PLENTY : (rlim_t) (number * 7 % 50) * (128u << 10));
  struct rlimit limit = { .rlim_cur = bytes, .rlim_max = RLIM_INFINITY };
  struct berth_host *host = place_own_host (place);

  if (!HAS_SANITIZER)
    setrlimit (RLIMIT_AS, &limit);
  create_and_run (host);
}

/* All that a cycle may have had to leave, now that there is room. */
static void
destroy_all (struct place *place)
{
  struct berth_destruction outcome;
  BERTH_AUTO_IDS struct berth_store_ids ids = { 0 };

  place_open (place);
  CU_ASSERT_EQUAL (berth_store_list (place->host->store, NULL, NULL, &ids, NULL), 0);
  for (size_t i = 0; i < ids.count; i++)
    {
      BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;

      if (berth_sandbox_open (place->host, ids.items[i], &sandbox, NULL) == 0)
        CU_ASSERT_EQUAL (berth_sandbox_destroy (sandbox, &outcome, NULL), 0);
    }
  berth_host_close (BERTH_STEAL_POINTER (place->host));
}

static void
test_little_memory (void)
{
  PLACE place;
  int count = count_of (10, 100);
  struct tally tally = { 0, 0 };

  if (!is_root ())
    return;
  place_make (&place, "ns");
  place_open (&place);
  berth_host_close (BERTH_STEAL_POINTER (place.host));
  for (int i = 0; i < count; i++)
    CU_ASSERT_TRUE (count_cycle (&tally, place_child (work_with_little, &place, i)));
  CU_ASSERT_TRUE (tally.worked > 0 && (HAS_SANITIZER || tally.refused > 0));
  destroy_all (&place);
  place_check_swept (&place);
}

/* ---- the kernel's own pressure ---- */

/* A cgroup of this test's own whose memory can be limited: its name, and that of its limit. */
struct press
{
  char path[128];
  const char *limit;
};

/* The one of the process OWNER, in the first hierarchy that limits memory: looked for, or made. */
static bool
press_find (struct press *press, pid_t owner, bool make)
{
  static const char *const places[][2] = { { "/sys/fs/cgroup/memory", "memory.limit_in_bytes" }, { "/sys/fs/cgroup", "memory.max" } };

  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    {
      BERTH_AUTO_FREE char *limit = NULL;

      snprintf (press->path, sizeof press->path, "%s/berth-test-%d", places[i][0], (int) owner);
      press->limit = places[i][1];
      if (make && (access (places[i][0], W_OK) != 0 || mkdir (press->path, 0755) != 0))
        continue;
      limit = berth_string_format ("%s/%s", press->path, press->limit);
      if (limit != NULL && access (limit, W_OK) == 0)
        return true;
      if (make)
        rmdir (press->path);
    }
  return false;
}

static bool
press_set (const struct press *press, const char *name, uint64_t value)
{
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/%s", press->path, name);
  char text[32];

  snprintf (text, sizeof text, "%llu", (unsigned long long) value);
  return path != NULL && berth_fs_write (AT_FDCWD, path, text, strlen (text)) == 0;
}

static void
press_end (const struct press *press)
{
  int64_t until = berth_clock_monotonic_ms () + 30000;

  while (rmdir (press->path) != 0 && errno == EBUSY && berth_clock_monotonic_ms () < until)
    berth_clock_sleep_ms (50);
  CU_ASSERT_NOT_EQUAL (access (press->path, F_OK), 0);
}

/* Whatever of it the kernel kills for want of memory, this process too: a result is right or there is none. */
static void
work_under_pressure (const struct place *place, int number)
{
  struct berth_host *host = place_own_host (place);
  struct berth_sandbox *sandbox = NULL;
  struct berth_error error = { 0 };
  struct press press;
  int status;

  (void) number;
  if (!press_find (&press, getppid (), false) || !press_set (&press, "cgroup.procs", (uint64_t) getpid ()))
    _exit (2);
  if (berth_sandbox_create (host, NULL, &sandbox, &error) != 0)
    _exit (error.message[0] != '\0' ? REFUSED : WRONG);
  status = place_run (sandbox, "exit 7", &error);
  if (status != 7)
    _exit (status == -1 && error.message[0] != '\0' ? REFUSED : WRONG);
  berth_sandbox_cleanup (&sandbox);
  berth_host_close (host);
}

static void
test_pressed_memory (void)
{
  PLACE place;
  struct press press;
  struct tally tally = { 0, 0 };
  int count = count_of (10, 100), killed = 0;

  if (!is_root ())
    return;
  if (!press_find (&press, getpid (), true))
    {
      berth_test_skip ("this machine limits no memory");
      return;
    }
  place_make (&place, "ns");
  place_open (&place);
  berth_host_close (BERTH_STEAL_POINTER (place.host));
  for (int i = 0; i < count; i++)
    {
      /* With plenty, and then with ever other amounts that are too little for some step. */
      bool set = press_set (&press, press.limit, i == 0 ? (uint64_t) 1 << 30 : (uint64_t) (64 + i * 7 % 50 * 8) << 10);
      int status = place_child (work_under_pressure, &place, i);

      CU_ASSERT_TRUE (set || i > 0); /* below what is still counted it cannot be set: it stays as it was */
      if (WIFSIGNALED (status) && WTERMSIG (status) == SIGKILL)
        killed++;
      else
        CU_ASSERT_TRUE (count_cycle (&tally, status));
    }
  printf ("     %d worked, %d were refused, %d were killed\n", tally.worked, tally.refused, killed);
  CU_ASSERT_TRUE (tally.worked > 0 && killed + tally.refused > 0);
  destroy_all (&place);
  place_check_swept (&place);
  press_end (&press);
}

/* ---- the disk ---- */

/* Takes all of the disk but SPARE bytes. */
static void
fill_disk (const struct place *place, size_t spare)
{
  static const char zeros[4096];
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/filler", place->directory);
  BERTH_AUTO_FD int fd = open (path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  off_t size = 0;

  CU_ASSERT_TRUE_FATAL (fd >= 0);
  while (write (fd, zeros, sizeof zeros) == (ssize_t) sizeof zeros)
    size += (off_t) sizeof zeros;
  CU_ASSERT_EQUAL (ftruncate (fd, size > (off_t) spare ? size - (off_t) spare : 0), 0);
}

static void
empty_disk (const struct place *place)
{
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/filler", place->directory);

  unlink (path);
}

static void
work_on_full_disk (const struct place *place, int number)
{
  struct berth_error error = { 0 };
  struct berth_host *host = place_host (place, "me", &error);

  (void) number;
  if (host == NULL)
    end_refused (&error);
  create_and_run (host);
}

/* In a mount namespace of its own, so that its disk goes when it ends, however it ends. */
static void
fill_and_work (const struct place *outer, int number)
{
  struct place place = *outer;
  char size[32];
  int count = count_of (10, 100);
  struct tally tally = { 0, 0 };

  (void) number;
  snprintf (size, sizeof size, "size=%u", DISK_BYTES);
  if (unshare (CLONE_NEWNS) != 0 || mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0
      || mount ("tmpfs", place.directory, "tmpfs", 0, size) != 0)
    _exit (2);
  place_open (&place);
  berth_host_close (BERTH_STEAL_POINTER (place.host));
  for (int i = 0; i < count; i++)
    {
      fill_disk (&place, i == 1 ? DISK_BYTES : (size_t) (i * 7 % 50) * 4096);
      CU_ASSERT_TRUE (count_cycle (&tally, place_child (work_on_full_disk, &place, i)));
      empty_disk (&place);
    }
  CU_ASSERT_TRUE (tally.worked > 0 && tally.refused > 0);
  destroy_all (&place);
  place_check_swept (&place);
  _exit (CU_get_number_of_failures () == 0 ? 0 : 4);
}

static void
test_full_disk (void)
{
  PLACE place;

  if (!is_root ())
    return;
  place_make (&place, "ns");
  CU_ASSERT_EQUAL (place_child (fill_and_work, &place, 0), 0);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "commands one after the other in one sandbox", test_sequential },
    { "commands all at once in one sandbox", test_parallel },
    { "a crowd of sandboxes, each with its own", test_alive },
    { "create and destroy while memory runs out", test_little_memory },
    { "create and destroy where the kernel kills for want of memory", test_pressed_memory },
    { "create and destroy while the disk is full", test_full_disk },
    { NULL, NULL },
  };

  return berth_test_main ("stress", tests);
}

/* operations - how many changes of records one database takes from one process, and from sixteen.
 *
 *   operations [--json]
 *
 * A change is what a create and a destroy write: an intent, a native id, the whole record, and the
 * removal of both.  Other options are those of the bench that stands beside it, and not for this. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/state/store.h"
#include "sdk/base/clock.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"

#define MOST 16
#define SECONDS 3
#define WRITES_OF_A_ROUND 5

/* One sandbox's life on record; 0 or -1. */
static int
one_life (struct berth_store *store, const char *id)
{
  const struct berth_store_quota quota = { 1000, 1000 };
  struct berth_record record = { .id = (char *) id, .owner = (char[]) { "bench" }, .backend = (char[]) { "none" },
                                 .state = BERTH_RECORD_CREATING, .generation = 1 };
  const struct berth_record_native native = { .id = (char *) id, .assignment_id = (char[]) { "as" }, .generation = 1 };
  BERTH_AUTO_FREE char *existing = NULL;

  if (berth_store_reserve (store, &record, &quota, &existing, NULL) != 0
      || berth_store_add_native (store, id, &native, NULL) != 0)
    return -1;
  record.state = BERTH_RECORD_RUNNING;
  return berth_store_update (store, &record, NULL) != 0 || berth_store_remove_native (store, id, id, NULL) != 0
                 || berth_store_remove (store, id, NULL) != 0
             ? -1
             : 0;
}

/* Body of a process: tells through FD how many writes it made. */
static void
work (const char *directory, int number, int fd)
{
  int64_t end_ms = berth_clock_monotonic_ms () + SECONDS * 1000, writes = 0;
  BERTH_AUTO_FREE char *id = berth_string_format ("sb-%d", number);
  struct berth_store *store = NULL;

  if (berth_store_open (directory, &store, NULL) != 0)
    _exit (1);
  while (berth_clock_monotonic_ms () < end_ms)
    {
      if (one_life (store, id) != 0)
        _exit (1);
      writes += WRITES_OF_A_ROUND;
    }
  berth_store_close (store);
  _exit (write (fd, &writes, sizeof writes) == sizeof writes ? 0 : 1);
}

/* Writes in a second of COUNT processes together, below 0 when one failed. */
static double
measure (const char *directory, int count)
{
  int64_t all = 0, writes;
  int pipe_fds[2], wrong = 0;

  if (pipe2 (pipe_fds, O_CLOEXEC) != 0)
    return -1;
  for (int i = 0; i < count; i++)
    if (fork () == 0)
      work (directory, i, pipe_fds[1]);
  close (pipe_fds[1]);
  while (read (pipe_fds[0], &writes, sizeof writes) == sizeof writes)
    all += writes;
  close (pipe_fds[0]);
  for (int i = 0; i < count; i++)
    {
      int status = 1;
      wrong += wait (&status) < 0 || status != 0;
    }
  return wrong == 0 ? (double) all / SECONDS : -1;
}

int
main (int argc, char **argv)
{
  char directory[] = "/dev/shm/berth-bench-XXXXXX";
  bool json = false;

  for (int i = 1; i < argc; i++)
    json = json || strcmp (argv[i], "--json") == 0;
  if (mkdtemp (directory) == NULL)
    {
      perror (directory);
      return 1;
    }
  double one = measure (directory, 1), many = measure (directory, MOST);
  if (berth_fs_remove_tree (AT_FDCWD, directory) != 0)
    perror (directory);
  if (json)
    printf ("{\"state_writes_per_second\":{\"1\":%.0f,\"%d\":%.0f}}\n", one, MOST, many);
  else
    printf ("writes of records, in memory: %.0f a second by one process, %.0f by %d together\n", one, many, MOST);
  return one < 0 || many < 0 ? 1 : 0;
}

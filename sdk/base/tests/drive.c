/* A fuzzer without a compiler's help: the main function of a program that has libFuzzer's entry
 * points, for compilers that have no libFuzzer.  Takes its -max_total_time=, -max_len= and -runs=,
 * and directories of seeds; it does not learn. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sdk/base/clock.h"
#include "sdk/base/fd.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"
#include "sdk/base/tests/random.h"

#define SEEDS_MAXIMUM 1024
#define CHANGES_MAXIMUM 8

int LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size);
size_t LLVMFuzzerMutate (uint8_t *bytes, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator (uint8_t *bytes, size_t size, size_t room, unsigned int seed) __attribute__ ((weak));

struct drive
{
  uint64_t seconds; /* 0: until RUNS */
  uint64_t runs;
  uint64_t room;
  uint32_t random;
  size_t seed_count;
  struct berth_buffer seeds[SEEDS_MAXIMUM];
};

/* Signal handlers and libFuzzer's functions take no argument. */
static uint32_t mutations = 20261129;
static const uint8_t *running;
static size_t running_size;

/* One change: a byte, a piece taken out or doubled, another end. */
size_t
LLVMFuzzerMutate (uint8_t *bytes, size_t size, size_t room)
{
  uint32_t what = berth_test_random (&mutations);
  size_t at = size > 0 ? berth_test_random (&mutations) % size : 0;
  size_t length = size > at ? berth_test_random (&mutations) % (size - at) % 600 : 0;

  if (size == 0 || (what % 8 == 0 && size < room))
    {
      memmove (bytes + at + 1, bytes + at, size - at);
      bytes[at] = (uint8_t) (what >> 8);
      return size + 1;
    }
  if (what % 8 == 1 && length > 0)
    {
      memmove (bytes + at, bytes + at + length, size - at - length);
      return size - length;
    }
  if (what % 8 == 2 && length > 0 && size + length <= room)
    {
      memmove (bytes + at + length, bytes + at, size - at);
      return size + length;
    }
  if (what % 8 == 3)
    bytes[at] ^= (uint8_t) (1u << (what >> 8) % 8);
  else
    bytes[at] = (uint8_t) (what >> 8);
  return size;
}

/* What broke it, for the next attempt. */
static void
keep_input (int signal_number)
{
  int fd = open ("crash", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

  if (fd >= 0)
    (void) !write (fd, running, running_size);
  signal (signal_number, SIG_DFL);
  raise (signal_number);
}

static void
take_seeds (struct drive *drive, const char *directory)
{
  DIR *dir = opendir (directory);
  struct dirent *entry;

  while (dir != NULL && drive->seed_count < SEEDS_MAXIMUM && (entry = readdir (dir)) != NULL)
    if (entry->d_type == DT_REG
        && berth_fs_read (dirfd (dir), entry->d_name, &drive->seeds[drive->seed_count], drive->room) == 0)
      drive->seed_count++;
  if (dir != NULL)
    closedir (dir);
}

static void
take_argument (struct drive *drive, const char *argument)
{
  const char *value = strchr (argument, '=');

  if (argument[0] != '-')
    take_seeds (drive, argument);
  else if (value == NULL)
    return;
  else if (berth_string_starts_with (argument, "-max_total_time="))
    berth_string_to_uint64 (value + 1, 0, 86400, &drive->seconds);
  else if (berth_string_starts_with (argument, "-runs="))
    berth_string_to_uint64 (value + 1, 0, UINT32_MAX, &drive->runs);
  else if (berth_string_starts_with (argument, "-max_len="))
    berth_string_to_uint64 (value + 1, 1, 1u << 20, &drive->room);
}

static void
run_once (struct drive *drive, uint8_t *bytes)
{
  const struct berth_buffer *seed = &drive->seeds[berth_test_random (&drive->random) % drive->seed_count];
  uint32_t changes = berth_test_random (&drive->random) % (CHANGES_MAXIMUM + 1);
  size_t size = seed->size;

  if (size > 0)
    memcpy (bytes, seed->data, size);
  for (uint32_t i = 0; i < changes; i++)
    size = LLVMFuzzerCustomMutator != NULL
               ? LLVMFuzzerCustomMutator (bytes, size, drive->room, berth_test_random (&drive->random))
               : LLVMFuzzerMutate (bytes, size, drive->room);
  running = bytes;
  running_size = size;
  LLVMFuzzerTestOneInput (bytes, size);
}

int
main (int count, char **arguments)
{
  static struct drive drive = { .room = 16384, .random = 20261129, .seed_count = 1 }; /* the first is empty */
  int64_t started = berth_clock_monotonic_ms ();
  uint64_t runs = 0;
  uint8_t *bytes;

  for (int i = 1; i < count; i++)
    take_argument (&drive, arguments[i]);
  bytes = malloc (drive.room);
  if (bytes == NULL)
    return 1;
  signal (SIGABRT, keep_input);
  signal (SIGSEGV, keep_input);
  while ((drive.runs == 0 || runs < drive.runs)
         && (drive.seconds == 0 || berth_clock_monotonic_ms () - started < (int64_t) drive.seconds * 1000))
    {
      run_once (&drive, bytes);
      runs++;
    }
  for (size_t i = 0; i < drive.seed_count; i++)
    berth_buffer_free (&drive.seeds[i]);
  free (bytes);
  printf ("Done %llu runs with %zu seeds\n", (unsigned long long) runs, drive.seed_count);
  return 0;
}

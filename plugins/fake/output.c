/* output.c - the output of a process session that is held for replay. */
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "plugins/fake/process.h"
#include "sdk/base/fd.h"
#include "sdk/base/string.h"

#define PAIR 2

static uint64_t
ring_of (const struct fake_process *process)
{
  return (uint64_t) fake_number (process->record, "ring");
}

int
fake_process_is_held (const struct fake_process *process)
{
  BERTH_AUTO_FREE char *suffix
      = berth_string_format ("hold.%lld", (long long) fake_number (process->record, "epoch"));
  BERTH_AUTO_FREE char *path = suffix != NULL ? fake_process_file (process->id, suffix) : NULL;
  BERTH_AUTO_FD int fd
      = path != NULL ? openat (process->box->directory, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW) : -1;

  return fd >= 0 && flock (fd, LOCK_EX | LOCK_NB) < 0;
}

/* While it is held nothing is dropped, so what its holder has not read takes room. */
uint64_t
fake_output_room (const struct fake_process *process)
{
  uint64_t reader = (uint64_t) fake_number (process->record, "reader");
  uint64_t unread = process->next > reader ? process->next - reader : 0;

  if (!fake_process_is_held (process))
    return UINT64_MAX;
  return unread < ring_of (process) ? ring_of (process) - unread : 0;
}

void
fake_process_position (const struct fake_process *process, struct berth_position *position)
{
  uint64_t ring = ring_of (process);

  position->oldest = process->next - process->base > ring ? process->next - ring : process->base;
  position->next = process->next;
  position->run = (uint64_t) fake_number (process->record, "run");
}

/* The file holds up to two rings, so that it is not copied for each byte. */
static int
drop_oldest (struct fake_process *process)
{
  uint64_t ring = ring_of (process);
  BERTH_AUTO_FREE char *bytes = NULL;
  uint64_t drop;

  if (process->next - process->base <= 2 * ring)
    return 0;
  drop = process->next - process->base - ring;
  bytes = malloc ((size_t) (ring * PAIR));
  if (bytes == NULL || lseek (process->output, (off_t) (drop * PAIR), SEEK_SET) < 0
      || berth_fd_read_full (process->output, bytes, (size_t) (ring * PAIR)) != (ssize_t) (ring * PAIR)
      || ftruncate (process->output, 0) < 0 || lseek (process->output, 0, SEEK_SET) < 0
      || berth_fd_write_all (process->output, bytes, (size_t) (ring * PAIR)) < 0)
    return -1;
  process->base += drop;
  return berth_json_set_int64 (process->record, "base", (int64_t) process->base);
}

int
fake_output_append (struct fake_process *process, uint32_t stream, const char *bytes, size_t size)
{
  BERTH_AUTO_FREE char *pairs = malloc (size * PAIR + 1);

  if (pairs == NULL)
    return -1;
  for (size_t i = 0; i < size; i++)
    {
      pairs[i * PAIR] = (char) stream;
      pairs[i * PAIR + 1] = bytes[i];
    }
  if (lseek (process->output, 0, SEEK_END) < 0 || berth_fd_write_all (process->output, pairs, size * PAIR) < 0)
    return -1;
  process->next += size;
  return drop_oldest (process);
}

size_t
fake_process_read (const struct fake_process *process, uint64_t offset, char *bytes, size_t size, uint32_t *stream)
{
  char pairs[8192];
  size_t want = size * PAIR < sizeof pairs ? size * PAIR : sizeof pairs;
  ssize_t got = pread (process->output, pairs, want, (off_t) ((offset - process->base) * PAIR));
  size_t count = 0;

  for (; got > 0 && (count + 1) * PAIR <= (size_t) got && pairs[count * PAIR] == pairs[0]; count++)
    bytes[count] = pairs[count * PAIR + 1];
  *stream = count > 0 ? (uint32_t) pairs[0] : 0;
  return count;
}

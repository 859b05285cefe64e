#include "core/manager/lock.h"

#include <fcntl.h>

#include "core/manager/ids.h"
#include "sdk/base/clock.h"
#include "sdk/base/string.h"

/* One file for all: each sandbox has a byte of it, far apart by the hash of its id.  So nothing
 * is left of a lock, whoever dies.  Should two ever share a byte, one waits for the other. */
static int
open_file (struct berth_host *host, struct berth_error *error)
{
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/sandboxes.lock", host->state_dir);

  if (path == NULL)
    return berth_no_memory (error);
  int fd = open (path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd >= 0)
    return fd;
  if (errno != ENOENT)
    return berth_error_set (error, BERTH_E_CONFIGURATION, "cannot open the locks %s: %m", path);
  berth_error_set (error, BERTH_E_CONFIGURATION, "the state directory %s was removed or replaced while it was in use",
                   host->state_dir);
  berth_error_hint (error, "put it back: sandboxes and their records are not found without it");
  return -1;
}

static off_t
byte_of (const char *id)
{
  return (off_t) (berth_id_hash (id) >> 2);
}

int
berth_lock_try_byte (int fd, short type, off_t at, const char *id, struct berth_error *error)
{
  struct flock byte = { .l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1 };

  /* of the open file, not of the process: it holds between threads as well */
  if (fcntl (fd, F_OFD_SETLK, &byte) == 0)
    return 1;
  return errno == EAGAIN || errno == EACCES || errno == EINTR
             ? 0
             : berth_error_set (error, BERTH_E_INTERNAL, "cannot lock sandbox %s: %m", id);
}

int
berth_lock_try (struct berth_host *host, const char *id, struct berth_lock *lock, struct berth_error *error)
{
  BERTH_AUTO_FD int fd = open_file (host, error);
  int taken = fd >= 0 ? berth_lock_try_byte (fd, F_WRLCK, byte_of (id), id, error) : -1;

  if (taken == 1)
    lock->fd = BERTH_STEAL_FD (fd);
  return taken;
}

int
berth_lock_wait_byte (int fd, short type, off_t at, const char *id, int64_t milliseconds, struct berth_cancel *cancel,
                      struct berth_error *error)
{
  int64_t deadline = berth_clock_monotonic_ms () + milliseconds;
  int taken = berth_lock_try_byte (fd, type, at, id, error);

  for (int64_t pause = 1; taken == 0; pause = pause < 50 ? pause * 2 : 50)
    {
      if (cancel != NULL && berth_cancel_triggered (cancel))
        return berth_error_set (error, BERTH_E_CANCELLED, "cancelled while waiting for sandbox %s", id);
      if (berth_clock_monotonic_ms () >= deadline)
        {
          berth_error_set (error, BERTH_E_CONFLICT, "sandbox %s is just being changed by somebody else", id);
          berth_error_hint (error, "try again when that is done");
          return -1;
        }
      berth_clock_sleep_ms (pause);
      taken = berth_lock_try_byte (fd, type, at, id, error);
    }
  return taken < 0 ? -1 : 0;
}

int
berth_lock_take (struct berth_host *host, const char *id, int64_t milliseconds, struct berth_cancel *cancel,
                 struct berth_lock *lock, struct berth_error *error)
{
  BERTH_AUTO_FD int fd = open_file (host, error);

  if (fd < 0 || berth_lock_wait_byte (fd, F_WRLCK, byte_of (id), id, milliseconds, cancel, error) != 0)
    return -1;
  lock->fd = BERTH_STEAL_FD (fd);
  return 0;
}

void
berth_lock_release (struct berth_lock *lock)
{
  berth_cleanup_fd (&lock->fd);
  lock->fd = -1;
}

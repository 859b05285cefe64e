#include "core/manager/lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "sdk/base/clock.h"
#include "sdk/base/string.h"

static char *
lock_path (struct berth_host *host, const char *id)
{
  return berth_string_format ("%s/locks/%s", host->state_dir, id);
}

/* The file that was locked may have been removed by the one who held it before: then the lock
 * is worth nothing, since the next one makes a new file. */
static bool
is_still_there (int fd, const char *path)
{
  struct stat locked, named;

  return fstat (fd, &locked) == 0 && stat (path, &named) == 0 && locked.st_ino == named.st_ino
         && locked.st_dev == named.st_dev;
}

int
berth_lock_try (struct berth_host *host, const char *id, struct berth_lock *lock, struct berth_error *error)
{
  BERTH_AUTO_FREE char *path = lock_path (host, id);

  if (path == NULL)
    return berth_no_memory (error);
  for (;;)
    {
      BERTH_AUTO_FD int fd = open (path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
      if (fd < 0)
        return berth_error_set (error, BERTH_E_CONFIGURATION, "cannot open the lock %s: %m", path);
      /* flock belongs to the open file, so it holds between threads as well */
      if (flock (fd, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK ? 0 : berth_error_set (error, BERTH_E_INTERNAL, "cannot lock %s: %m", path);
      if (!is_still_there (fd, path))
        continue;
      lock->fd = BERTH_STEAL_FD (fd);
      return 1;
    }
}

int
berth_lock_take (struct berth_host *host, const char *id, int64_t milliseconds, struct berth_cancel *cancel,
                 struct berth_lock *lock, struct berth_error *error)
{
  int64_t deadline = berth_clock_monotonic_ms () + milliseconds;

  for (int64_t pause = 1;; pause = pause < 50 ? pause * 2 : 50)
    {
      int taken = berth_lock_try (host, id, lock, error);
      if (taken != 0)
        return taken < 0 ? -1 : 0;
      if (cancel != NULL && berth_cancel_triggered (cancel))
        return berth_error_set (error, BERTH_E_CANCELLED, "cancelled while waiting for sandbox %s", id);
      if (berth_clock_monotonic_ms () >= deadline)
        {
          berth_error_set (error, BERTH_E_CONFLICT, "sandbox %s is just being changed by somebody else", id);
          berth_error_hint (error, "try again when that is done");
          return -1;
        }
      berth_clock_sleep_ms (pause);
    }
}

void
berth_lock_release (struct berth_lock *lock)
{
  int saved = errno;

  if (lock->fd >= 0)
    close (lock->fd);
  lock->fd = -1;
  errno = saved;
}

void
berth_lock_remove (struct berth_host *host, const char *id, struct berth_lock *lock)
{
  BERTH_AUTO_FREE char *path = lock_path (host, id);

  /* while it is held: who waits for it finds the file gone and looks again */
  if (path != NULL && lock->fd >= 0)
    unlink (path);
  berth_lock_release (lock);
}

#include "core/manager/use.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "core/manager/life.h"
#include "core/manager/lock.h"
#include "sdk/base/clock.h"
#include "sdk/base/string.h"

#define DIRECTORY "used"
#define LOCK_MS (60 * 1000)

/* ---- the mark ---- */

static int
open_mark (struct berth_host *host, const char *id, int flags)
{
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/" DIRECTORY "/%s", host->state_dir, id);

  if (path == NULL)
    {
      errno = ENOMEM;
      return -1;
    }
  return open (path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
}

static int
fail (const char *id, struct berth_error *error)
{
  return berth_error_set (error,
                          errno == ENOSPC || errno == EDQUOT ? BERTH_E_RESOURCE_EXHAUSTED : BERTH_E_CONFIGURATION,
                          "cannot mark that sandbox %s is used: %m", id);
}

/* A time needs no room on the disk, and is changed whole. */
static int
touch (int fd)
{
  int64_t now_ns = berth_clock_boottime_ns ();
  const struct timespec times[2]
      = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = now_ns / 1000000000, .tv_nsec = now_ns % 1000000000 } };

  return futimens (fd, times);
}

/* One that lies ahead is of another boot of the machine: nobody knows, so the time begins now. */
static int64_t
age (int fd)
{
  int64_t now_ms = berth_clock_boottime_ms ();
  struct stat status;

  if (fstat (fd, &status) != 0)
    return 0;
  int64_t then_ms = (int64_t) status.st_mtim.tv_sec * 1000 + status.st_mtim.tv_nsec / 1000000;
  if (then_ms <= now_ms)
    return now_ms - then_ms;
  touch (fd);
  return 0;
}

static int
make_directory (struct berth_host *host)
{
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/" DIRECTORY, host->state_dir);

  if (path == NULL)
    {
      errno = ENOMEM;
      return -1;
    }
  return mkdir (path, 0700) != 0 && errno != EEXIST ? -1 : 0;
}

static int
make_mark (struct berth_host *host, const char *id)
{
  int fd = open_mark (host, id, O_CREAT);

  return fd >= 0 || errno != ENOENT || make_directory (host) != 0 ? fd : open_mark (host, id, O_CREAT);
}

int
berth_use_mark_locked (struct berth_host *host, const char *id, struct berth_error *error)
{
  BERTH_AUTO_FD int fd = make_mark (host, id);

  return fd >= 0 && touch (fd) == 0 ? 0 : fail (id, error);
}

void
berth_use_forget_locked (struct berth_host *host, const char *id)
{
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/" DIRECTORY "/%s", host->state_dir, id);

  if (path != NULL)
    unlink (path);
}

/* ---- using ---- */

/* Somebody removed the mark; of a sandbox that is there it is made again.  With the lock, since it must
 * not come after the end of the sandbox, when nobody would remove it. */
static int
make_again (struct berth_sandbox *sandbox, struct berth_cancel *cancel, struct berth_error *error)
{
  struct berth_host *host = sandbox->host;
  BERTH_AUTO_LOCK struct berth_lock lock = BERTH_LOCK_NONE;
  BERTH_AUTO_RECORD struct berth_record record = { 0 };

  return berth_lock_take (host, sandbox->record.id, LOCK_MS, cancel, &lock, error) != 0
                 || berth_store_load (host->store, sandbox->record.id, 0, &record, error) != 0
             ? -1
             : berth_use_mark_locked (host, sandbox->record.id, error);
}

static int
open_for_use (struct berth_sandbox *sandbox, struct berth_cancel *cancel, struct berth_error *error)
{
  const char *id = sandbox->record.id;
  int fd = open_mark (sandbox->host, id, 0);

  if (fd >= 0)
    return fd;
  if (errno == ENOENT && make_again (sandbox, cancel, error) != 0)
    return -1;
  fd = open_mark (sandbox->host, id, 0);
  return fd >= 0 ? fd : fail (id, error);
}

int
berth_use_begin (struct berth_sandbox *sandbox, struct berth_cancel *cancel, struct berth_use *use,
                 struct berth_error *error)
{
  const char *id = sandbox->record.id;

  use->fd = -1;
  if (sandbox->record.idle_action <= BERTH_IDLE_KEEP)
    return 0;
  BERTH_AUTO_FD int fd = open_for_use (sandbox, cancel, error);
  if (fd < 0 || berth_lock_wait_byte (fd, F_RDLCK, 0, id, LOCK_MS, cancel, error) != 0)
    return -1;
  if (touch (fd) != 0)
    return fail (id, error);
  /* from here on nobody finds it idle: what has been done by now is on record */
  if (berth_life_wake (sandbox, cancel, error) != 0)
    return -1;
  use->fd = BERTH_STEAL_FD (fd);
  return 0;
}

void
berth_use_end (struct berth_use *use)
{
  int saved = errno;

  if (use->fd >= 0)
    {
      touch (use->fd);
      close (BERTH_STEAL_FD (use->fd));
    }
  errno = saved;
}

/* ---- looking ---- */

int
berth_use_exclude_locked (struct berth_host *host, const char *id, int *free, int64_t *unused_ms,
                          struct berth_error *error)
{
  BERTH_AUTO_FD int fd = make_mark (host, id);

  if (fd < 0)
    return fail (id, error);
  int taken = berth_lock_try_byte (fd, F_WRLCK, 0, id, error);
  /* who uses it may be killed before it says when that was */
  if (taken == 0)
    touch (fd);
  *unused_ms = age (fd);
  if (taken == 1)
    *free = BERTH_STEAL_FD (fd);
  return taken;
}

int64_t
berth_use_unused_ms (struct berth_host *host, const char *id)
{
  BERTH_AUTO_FD int fd = open_mark (host, id, 0);
  struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

  if (fd < 0)
    return -1;
  return fcntl (fd, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK ? 0 : age (fd);
}

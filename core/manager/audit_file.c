/* Where records go: a file that many processes append to, or the journal. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "core/manager/audit.h"
#include "core/manager/lock.h"
#include "sdk/base/buffer.h"
#include "sdk/base/string.h"

#define LOCK_NAME "audit"

char *
berth_audit_path (const struct berth_host *host, int64_t number)
{
  return number == 0 ? berth_string_format ("%s/audit.jsonl", host->state_dir)
                     : berth_string_format ("%s/audit.jsonl.%" PRId64, host->state_dir, number);
}

/* ---- the next file ---- */

/* The oldest goes, each other moves up by one.  Who is just writing writes to the file it has opened. */
static void
move_up (const struct berth_host *host)
{
  for (int64_t number = host->audit.keep; number > 0; number--)
    {
      BERTH_AUTO_FREE char *from = berth_audit_path (host, number - 1), *to = berth_audit_path (host, number);
      if (from != NULL && to != NULL)
        (void) rename (from, to);
    }
}

/* Somebody else may have done it since FD was opened. */
static void
rotate (struct berth_host *host, int fd)
{
  BERTH_AUTO_LOCK struct berth_lock lock = BERTH_LOCK_NONE;
  BERTH_AUTO_FREE char *path = berth_audit_path (host, 0);
  struct stat ours, named;

  if (path == NULL || berth_lock_try (host, LOCK_NAME, &lock, NULL) != 1)
    return;
  if (fstat (fd, &ours) == 0 && stat (path, &named) == 0 && ours.st_ino == named.st_ino && ours.st_dev == named.st_dev)
    move_up (host);
}

/* ---- the file ---- */

/* A record that a full disk has cut off ends with what follows it on a line of its own. */
static bool
is_cut (int fd, off_t size)
{
  char last = '\n';

  return size > 0 && pread (fd, &last, 1, size - 1) == 1 && last != '\n';
}

static int
append_to_file (struct berth_host *host, const char *line, size_t size)
{
  BERTH_AUTO_FREE char *path = berth_audit_path (host, 0);
  BERTH_AUTO_FREE char *mended = NULL;
  BERTH_AUTO_FD int fd
      = path != NULL ? open (path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
  struct stat status;

  if (fd < 0 || fstat (fd, &status) != 0)
    return -1;
  if (is_cut (fd, status.st_size))
    {
      if ((mended = berth_string_format ("\n%s", line)) == NULL)
        return -1;
      line = mended;
      size++;
    }
  /* one write, which appends as a whole */
  ssize_t written = write (fd, line, size);
  if (written != (ssize_t) size)
    {
      errno = written < 0 ? errno : ENOSPC;
      return -1;
    }
  if (status.st_size + (off_t) size >= host->audit.size)
    rotate (host, fd);
  return 0;
}

/* ---- the journal ---- */

static int
send_to_journal (const struct berth_host *host, const char *line, size_t size)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  BERTH_AUTO_BUFFER struct berth_buffer entry = { 0 };
  BERTH_AUTO_FD int fd = socket (AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

  if (fd < 0)
    return -1;
  if (strlen (host->audit.socket) >= sizeof address.sun_path)
    {
      errno = ENAMETOOLONG;
      return -1;
    }
  strcpy (address.sun_path, host->audit.socket);
  berth_buffer_append_string (&entry, "PRIORITY=6\nSYSLOG_IDENTIFIER=berth\nMESSAGE=");
  berth_buffer_append (&entry, line, size);
  if (entry.error != 0)
    {
      errno = ENOMEM;
      return -1;
    }
  return sendto (fd, entry.data, entry.size, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *) &address, sizeof address) < 0
             ? -1
             : 0;
}

int
berth_audit_append (struct berth_host *host, const char *line, size_t size)
{
  switch (host->audit.target)
    {
    case BERTH_AUDIT_FILE:
      return append_to_file (host, line, size);
    case BERTH_AUDIT_JOURNALD:
      return send_to_journal (host, line, size);
    default:
      return 0;
    }
}

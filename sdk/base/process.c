#include "sdk/base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sdk/base/cleanup.h"
#include "sdk/base/fs.h"

uint64_t
berth_process_start (pid_t pid)
{
  char path[64];
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };

  snprintf (path, sizeof path, "/proc/%d/stat", (int) pid);
  if (pid <= 0 || berth_fs_read (AT_FDCWD, path, &text, 4096) < 0)
    return 0;
  /* The name may hold anything: the fields begin after its last parenthesis. */
  const char *field = strrchr (berth_buffer_string (&text), ')');
  if (field == NULL || field[1] != ' ' || field[2] == 'Z' || field[2] == 'X')
    return 0;
  field += 1;
  for (int number = 3; number < 22 && field != NULL; number++)
    field = strchr (field + 1, ' ');
  return field != NULL ? strtoull (field + 1, NULL, 10) : 0;
}

int
berth_process_open (pid_t pid, uint64_t start)
{
  BERTH_AUTO_FD int fd = pid > 0 ? (int) syscall (SYS_pidfd_open, pid, 0) : -1;

  if (pid <= 0)
    errno = ESRCH;
  if (fd < 0)
    return -1;
  /* Asked after the descriptor was opened, so that both speak of one process. */
  if (start == 0 || berth_process_start (pid) != start)
    {
      errno = ESRCH;
      return -1;
    }
  return BERTH_STEAL_FD (fd);
}

static int
read_boot_id (char text[BERTH_BOOT_ID_SIZE])
{
  BERTH_AUTO_BUFFER struct berth_buffer got = { 0 };

  if (berth_fs_read (AT_FDCWD, "/proc/sys/kernel/random/boot_id", &got, 64) < 0)
    return -1;
  if (got.size < 36)
    {
      errno = EBADMSG;
      return -1;
    }
  memcpy (text, got.data, 36);
  text[36] = '\0';
  return 0;
}

/* No process outlives its boot.  Filled once, only read afterwards. */
static struct
{
  pthread_once_t once;
  bool known;
  char text[BERTH_BOOT_ID_SIZE];
} boot = { .once = PTHREAD_ONCE_INIT };

static void
load_boot_id (void)
{
  boot.known = read_boot_id (boot.text) == 0;
}

int
berth_boot_id (char text[BERTH_BOOT_ID_SIZE])
{
  pthread_once (&boot.once, load_boot_id);
  if (!boot.known)
    return read_boot_id (text);
  memcpy (text, boot.text, sizeof boot.text);
  return 0;
}

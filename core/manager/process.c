#include "core/manager/process.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "sdk/base/fs.h"
#include "sdk/base/string.h"

void
berth_boot_id (char id[BERTH_BOOT_ID_SIZE])
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };

  id[0] = '\0';
  if (berth_fs_read (AT_FDCWD, "/proc/sys/kernel/random/boot_id", &text, 64) != 0)
    return;
  size_t size = strcspn (berth_buffer_string (&text), "\n");
  if (size < BERTH_BOOT_ID_SIZE)
    snprintf (id, BERTH_BOOT_ID_SIZE, "%.*s", (int) size, text.data);
}

int64_t
berth_process_start (int64_t pid)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  char path[48];
  long long start = -1;

  snprintf (path, sizeof path, "/proc/%lld/stat", (long long) pid);
  if (pid <= 0 || berth_fs_read (AT_FDCWD, path, &text, 4096) != 0)
    return -1;
  /* the name in parentheses may hold anything: fields are counted from its last one */
  const char *rest = strrchr (berth_buffer_string (&text), ')');
  char state = 'X';
  if (rest == NULL
      || sscanf (rest, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %lld", &state, &start)
             != 2)
    return -1;
  return state == 'Z' || state == 'X' ? -1 : start;
}

bool
berth_process_is_alive (int64_t pid, int64_t start, const char *boot_id)
{
  char now[BERTH_BOOT_ID_SIZE];

  berth_boot_id (now);
  if (boot_id == NULL || strcmp (now, boot_id) != 0)
    return false;
  return berth_process_start (pid) == start;
}

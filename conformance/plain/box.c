/* The folder of a sandbox, and what is known of it. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conformance/plain/plain.h"
#include "sdk/base/fs.h"
#include "sdk/base/path.h"

#define FACTS_MAXIMUM 4096

int
plain_box_find (const struct berth_state *state, const char *id, struct plain_box *box)
{
  size_t size = strlen (id);

  box->id = id;
  if (!berth_path_is_name (id, size) || size > 64 || strlen (state->runtime) + size + 2 > sizeof box->socket
      || strlen (state->directory) + size + 2 > sizeof box->directory)
    return -1;
  snprintf (box->directory, sizeof box->directory, "%s/%s", state->directory, id);
  snprintf (box->socket, sizeof box->socket, "%s/%s", state->runtime, id);
  return 0;
}

bool
plain_box_exists (const struct plain_box *box)
{
  struct stat status;

  return lstat (box->directory, &status) == 0;
}

static int
open_box (const struct plain_box *box)
{
  return open (box->directory, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int
plain_facts_write (const struct plain_box *box, const struct plain_facts *facts)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  BERTH_AUTO_FD int directory = open_box (box);

  berth_buffer_appendf (&text, "%s\n%s\n%s\n%" PRIu64 " %" PRIu64 " %" PRIu32 " %" PRIu64 " %d\n", facts->sandbox_id, facts->assignment_id,
                        facts->installation_id, facts->enforced, facts->file_size, facts->open_files, facts->started, (int) facts->pid);
  if (directory < 0 || text.error != 0)
    return -1;
  return berth_fs_replace (directory, "facts", text.data, text.size, 0600);
}

int
plain_facts_read (const struct plain_box *box, struct plain_facts *facts)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  BERTH_AUTO_FD int directory = open_box (box);
  int pid;

  if (directory < 0 || berth_fs_read (directory, "facts", &text, FACTS_MAXIMUM) < 0)
    return -1;
  *facts = (struct plain_facts) { 0 };
  if (sscanf (berth_buffer_string (&text), "%255[^\n]\n%255[^\n]\n%255[^\n]\n%" SCNu64 " %" SCNu64 " %" SCNu32 " %" SCNu64
              " %d",
              facts->sandbox_id, facts->assignment_id, facts->installation_id, &facts->enforced, &facts->file_size,
              &facts->open_files, &facts->started, &pid)
      != 8)
    {
      errno = EBADMSG;
      return -1;
    }
  facts->pid = pid;
  return 0;
}

int
plain_token_read (const struct plain_box *box, unsigned char token[PLAIN_TOKEN_SIZE])
{
  BERTH_CLEANUP (berth_buffer_erase) struct berth_buffer text = { 0 };
  BERTH_AUTO_FD int directory = open_box (box);

  if (directory < 0 || berth_fs_read (directory, "token", &text, PLAIN_TOKEN_SIZE) < 0
      || text.size != PLAIN_TOKEN_SIZE)
    return -1;
  memcpy (token, text.data, PLAIN_TOKEN_SIZE);
  return 0;
}

/* Field 22 of /proc/PID/stat; 0 when there is no such process, or only its corpse. */
uint64_t
plain_start_time (pid_t pid)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  char path[32], state;
  const char *after;
  uint64_t started;

  snprintf (path, sizeof path, "/proc/%d/stat", (int) pid);
  if (berth_fs_read (AT_FDCWD, path, &text, FACTS_MAXIMUM) < 0)
    return 0;
  after = strrchr (berth_buffer_string (&text), ')');
  if (after == NULL
      || sscanf (after + 1,
                 " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNu64, &state,
                 &started)
             != 2
      || state == 'Z' || state == 'X')
    return 0;
  return started;
}

bool
plain_is_alive (const struct plain_facts *facts)
{
  return facts->started != 0 && plain_start_time (facts->pid) == facts->started;
}

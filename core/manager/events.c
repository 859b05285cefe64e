/* Reading the records of operations, from the oldest file to the one that is written to. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "core/manager/audit.h"
#include "core/manager/ids.h"
#include "sdk/base/buffer.h"
#include "sdk/base/clock.h"
#include "sdk/base/json.h"

#define CHUNK ((size_t) 64 << 10)
#define LINE_MAX_SIZE ((size_t) 4 << 20) /* what is longer is no record */
#define LOOK_MS 200

struct reading
{
  struct berth_host *host;
  struct berth_event_options options;
  int (*visit) (void *context, const struct berth_event *event);
  void *context;
  int fd;
  struct stat file; /* that is open */
  struct berth_buffer rest; /* without a line end yet */
  bool stopped;
};

/* ---- one record ---- */

static bool
is_wanted (const struct reading *reading, const struct berth_json *record, int64_t at_ms)
{
  const char *owner = berth_json_string (berth_json_get (record, "owner"));
  const char *sandbox = berth_json_string (berth_json_get (record, "sandbox"));

  if (at_ms < reading->options.since_wall_ms)
    return false;
  if (reading->options.all_owners == 0 && (owner == NULL || strcmp (owner, reading->host->owner) != 0))
    return false;
  return reading->options.sandbox == NULL || (sandbox != NULL && strcmp (sandbox, reading->options.sandbox) == 0);
}

/* What a full disk has cut off is passed over. */
static void
tell (struct reading *reading, const char *line, size_t size)
{
  BERTH_AUTO_JSON struct berth_json *record = berth_json_parse (line, size, LINE_MAX_SIZE, NULL);
  BERTH_AUTO_FREE char *text = strndup (line, size);
  struct berth_event event = { .struct_size = sizeof event, .json = text };

  if (record == NULL || text == NULL || berth_json_to_int64 (berth_json_get (record, "at_ms"), &event.wall_ms) != 0
      || !is_wanted (reading, record, event.wall_ms))
    return;
  event.operation = berth_json_string (berth_json_get (record, "operation"));
  event.sandbox = berth_json_string (berth_json_get (record, "sandbox"));
  if (reading->visit (reading->context, &event) != 0)
    reading->stopped = true;
}

static void
tell_lines (struct reading *reading)
{
  struct berth_buffer *rest = &reading->rest;
  const char *line = rest->data, *end;
  size_t told = 0;

  while (!reading->stopped && told < rest->size && (end = memchr (line + told, '\n', rest->size - told)) != NULL)
    {
      tell (reading, line + told, (size_t) (end - line) - told);
      told = (size_t) (end - line) + 1;
    }
  berth_buffer_consume (rest, told);
  if (rest->size > LINE_MAX_SIZE)
    berth_buffer_clear (rest);
}

/* ---- files ---- */

/* All that is in the open one by now. */
static int
read_open (struct reading *reading, struct berth_error *error)
{
  BERTH_AUTO_FREE char *chunk = malloc (CHUNK);
  ssize_t size = 1;

  if (chunk == NULL)
    return berth_no_memory (error);
  while (!reading->stopped && size > 0)
    {
      size = read (reading->fd, chunk, CHUNK);
      if (size < 0 && errno == EINTR)
        size = 1;
      else if (size < 0)
        return berth_error_set (error, BERTH_E_INTERNAL, "cannot read the records: %m");
      else if (size > 0 && berth_buffer_append (&reading->rest, chunk, (size_t) size) != 0)
        return berth_no_memory (error);
      tell_lines (reading);
    }
  return 0;
}

static bool
open_file (struct reading *reading, int64_t number)
{
  BERTH_AUTO_FREE char *path = berth_audit_path (reading->host, number);
  BERTH_AUTO_FD int fd = path != NULL ? open (path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;

  if (fd < 0 || fstat (fd, &reading->file) != 0)
    return false;
  berth_cleanup_fd (&reading->fd);
  reading->fd = BERTH_STEAL_FD (fd);
  berth_buffer_clear (&reading->rest);
  return true;
}

/* The number that the open file has by now; -1: it is gone, or none is open. */
static int64_t
find_open (const struct reading *reading)
{
  struct stat status;

  for (int64_t number = 0; reading->fd >= 0 && number <= reading->host->audit.keep; number++)
    {
      BERTH_AUTO_FREE char *path = berth_audit_path (reading->host, number);
      if (path != NULL && stat (path, &status) == 0 && status.st_ino == reading->file.st_ino
          && status.st_dev == reading->file.st_dev)
        return number;
    }
  return -1;
}

/* The one after the open one, or the oldest.  False when there is none. */
static bool
open_next (struct reading *reading)
{
  int64_t now = find_open (reading);

  for (int64_t number = now >= 0 ? now - 1 : reading->host->audit.keep; number >= 0; number--)
    if (open_file (reading, number))
      return true;
  return false;
}

/* ---- all ---- */

static int
read_all (struct reading *reading, struct berth_error *error)
{
  while (!reading->stopped)
    {
      if (reading->fd >= 0 && read_open (reading, error) != 0)
        return -1;
      if (reading->stopped || open_next (reading))
        continue;
      if (reading->options.follow == 0)
        break;
      if (reading->options.cancel != NULL && berth_cancel_triggered (reading->options.cancel))
        return berth_error_set (error, BERTH_E_CANCELLED, "cancelled while waiting for records");
      berth_clock_sleep_ms (LOOK_MS);
    }
  return 0;
}

int
berth_event_list (struct berth_host *host, const struct berth_event_options *options,
                  int (*visit) (void *context, const struct berth_event *event), void *context,
                  struct berth_error *error)
{
  struct reading reading
      = { .host = host, .options = BERTH_EVENT_OPTIONS_INIT, .visit = visit, .context = context, .fd = -1 };

  if (berth_options_take (&reading.options, options, error) != 0)
    return -1;
  if (host->audit.target != BERTH_AUDIT_FILE)
    {
      bool off = host->audit.target == BERTH_AUDIT_OFF;
      berth_error_set (error, BERTH_E_CONFIGURATION, "operations are %s", off ? "not recorded" : "recorded in the journal");
      berth_error_hint (error, off ? "remove `to = off` from [audit] of berth.conf" : "`journalctl -t berth` shows them");
      return -1;
    }
  int result = read_all (&reading, error);
  berth_cleanup_fd (&reading.fd);
  berth_buffer_free (&reading.rest);
  return result;
}

#include "core/cli/copy.h"

#include <stdarg.h>
#include <string.h>

#include "core/cli/progress.h"
#include "sdk/base/clock.h"
#include "sdk/base/string.h"

#define SHOW_EVERY_MS 100

void
cli_copy_leave_out (struct cli_copy *copy, const char *name, const char *format, ...)
{
  BERTH_AUTO_FREE char *reason = NULL;
  struct berth_json *object;
  va_list arguments;

  va_start (arguments, format);
  reason = berth_string_vformat (format, arguments);
  va_end (arguments);
  copy->left++;
  if (copy->json == NULL)
    cli_remark (copy->cli, "left out %s: %s", name, reason != NULL ? reason : "");
  if (copy->json == NULL)
    return;
  object = berth_json_new_object ();
  berth_json_set_string (object, "name", name);
  berth_json_set_string (object, "reason", reason);
  berth_json_append (copy->json, object);
}

static void
show (struct cli_copy *copy)
{
  int64_t now = berth_clock_monotonic_ms ();
  char phase[80];

  if (!copy->shows || now - copy->shown_ms < SHOW_EVERY_MS)
    return;
  copy->shown_ms = now;
  snprintf (phase, sizeof phase, "copying: %llu files, %llu MiB", (unsigned long long) copy->files,
            (unsigned long long) (copy->bytes >> 20));
  cli_progress_show (copy->cli, phase, 0, 0);
}

int
cli_copy_count (struct cli_copy *copy, uint64_t *kind, const char *name)
{
  ++*kind;
  show (copy);
  if (copy->files + copy->directories + copy->links + copy->left <= CLI_COPY_ENTRIES)
    return 0;
  return cli_fail (copy->cli, BERTH_E_PAYLOAD_TOO_LARGE, "at %s: more than %llu entries", name,
                   (unsigned long long) CLI_COPY_ENTRIES);
}

int
cli_copy_count_bytes (struct cli_copy *copy, size_t size)
{
  copy->bytes += size;
  show (copy);
  if (copy->bytes <= copy->max_bytes)
    return 0;
  return cli_fail (copy->cli, BERTH_E_PAYLOAD_TOO_LARGE, "more than %llu bytes; --max-bytes allows more",
                   (unsigned long long) copy->max_bytes);
}

bool
cli_copy_link_stays (const char *target, size_t levels)
{
  bool going_up = true;

  if (*target == '/' || *target == '\0')
    return false;
  while (*target != '\0')
    {
      size_t size = strcspn (target, "/");

      if (size == 2 && memcmp (target, "..", 2) == 0)
        {
          if (!going_up || levels-- == 0)
            return false;
        }
      else if (size > 1 || (size == 1 && *target != '.'))
        going_up = false;
      target += size + (target[size] == '/');
    }
  return true;
}

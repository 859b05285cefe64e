/* freezer.c - holding all processes of a sandbox, the agent among them.
 *
 * The file that freezes says which way it works by its name: cgroup.freeze of v2 (there is one in
 * every hierarchy of v2, with controllers or without) or freezer.state of v1. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "plugins/ns/ns.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/clock.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"

#define FREEZE_MS 5000
#define POLL_MS 2
#define STATE_FILE "/freezer.state"
#define FREEZE_FILE "/cgroup.freeze"
#define EVENTS_FILE "/cgroup.events"

char *
ns_freezer_path (const char *directory, int version)
{
  return berth_string_format ("%s%s", directory, version == 2 ? FREEZE_FILE : STATE_FILE);
}

static bool
is_version_1 (const char *freezer)
{
  return berth_string_ends_with (freezer, STATE_FILE);
}

static bool
file_says (const char *path, const char *what)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };

  return berth_fs_read (AT_FDCWD, path, &text, 4096) == 0 && strstr (berth_buffer_string (&text), what) != NULL;
}

bool
ns_freezer_is_closed (const char *freezer)
{
  if (freezer == NULL)
    return false;
  return file_says (freezer, is_version_1 (freezer) ? "FR" : "1"); /* FREEZING, FROZEN */
}

static bool
is_still (const char *freezer)
{
  if (is_version_1 (freezer))
    return file_says (freezer, "FROZEN");
  BERTH_AUTO_FREE char *events
      = berth_string_format ("%.*s" EVENTS_FILE, (int) (strlen (freezer) - strlen (FREEZE_FILE)), freezer);
  return events != NULL && file_says (events, "frozen 1");
}

static int
set (const char *freezer, bool closed)
{
  const char *text = is_version_1 (freezer) ? (closed ? "FROZEN" : "THAWED") : (closed ? "1" : "0");

  return berth_fs_write (AT_FDCWD, freezer, text, strlen (text));
}

void
ns_freezer_let_die (const char *freezer)
{
  if (freezer != NULL && is_version_1 (freezer))
    set (freezer, false);
}

/* Its record, when it is there with an agent that lives. */
static int
find (struct berth_call *call, const struct berth_state *state, const char *id, struct ns_meta *meta)
{
  BERTH_AUTO_FD int box = ns_meta_find (call, state, id, meta);

  if (box < 0)
    return -1;
  BERTH_AUTO_FD int agent = ns_meta_agent (meta);
  if (agent < 0)
    return call->services->fail (call, BERTH_E_WRONG_STATE, "the sandbox %s does not run", id);
  if (meta->freezer != NULL)
    return 0;
  call->services->fail (call, BERTH_E_CAPABILITY_NOT_SUPPORTED, "the sandbox %s was made without a freezer", id);
  call->services->hint (call, "mount cgroup v2, or the freezer of cgroup v1, before it is made");
  return -1;
}

/* A process in the middle of a system call that cannot be interrupted comes later. */
int
ns_freezer_wait (struct berth_call *call, const char *freezer, const char *id)
{
  for (int64_t end = berth_clock_monotonic_ms () + FREEZE_MS; !is_still (freezer);)
    {
      uint32_t code = call->services->cancelled (call);
      if (code != 0)
        return call->services->fail (call, code, "interrupted while the sandbox %s was paused", id);
      if (berth_clock_monotonic_ms () >= end)
        return call->services->fail (call, BERTH_E_TIMEOUT, "a process of the sandbox %s does not stand still", id);
      berth_clock_sleep_ms (POLL_MS);
    }
  return 0;
}

int
ns_pause (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
          const struct berth_options *options)
{
  NS_AUTO_META struct ns_meta meta = { 0 };

  if (BERTH_REFUSE_UNKNOWN (call, OPTIONS, options != NULL ? options->asks : 0, 0) < 0
      || find (call, state, native->id, &meta) < 0)
    return -1;
  bool was_closed = ns_freezer_is_closed (meta.freezer);
  if (set (meta.freezer, true) < 0)
    return call->services->fail (call, BERTH_E_INTERNAL, "cannot freeze the sandbox %s: %m", native->id);
  if (ns_freezer_wait (call, meta.freezer, native->id) == 0)
    return 0;
  if (!was_closed)
    set (meta.freezer, false);
  return -1;
}

int
ns_resume (struct berth_call *call, struct berth_state *state, const struct berth_native *native)
{
  NS_AUTO_META struct ns_meta meta = { 0 };

  if (find (call, state, native->id, &meta) < 0)
    return -1;
  if (set (meta.freezer, false) < 0)
    return call->services->fail (call, BERTH_E_INTERNAL, "cannot thaw the sandbox %s: %m", native->id);
  return 0;
}

/* faults.c - what goes wrong, as the `faults` setting asks.
 *
 * The setting is a list of POINT=ACTION[:ARGUMENT] that is separated by commas or spaces.  A point
 * is a function as GROUP.FUNCTION ("probe.probe") or one of its steps ("lifecycle.create.3");
 * "data" stands for every function of a handle.  Actions of every point:
 *
 *   fail[:CODE]  fails with that code ("UNREACHABLE"; else INTERNAL)
 *   slow:MS      waits so long first
 *   hang         never answers, until it is cancelled or its deadline passes
 *   kill         ends the whole process with SIGKILL
 *
 * Some points know more, which their functions say. */
#include <fcntl.h>
#include <signal.h>

#include "plugins/fake/fake.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"

struct entry
{
  char point[64];
  char action[32];
  char argument[64];
};

static void
copy (char *to, size_t room, const char *from)
{
  size_t size = strnlen (from, room - 1);

  memcpy (to, from, size);
  to[size] = '\0';
}

/* Takes the next entry off *LIST; 0 at its end. */
static int
next_entry (const char **list, struct entry *entry)
{
  size_t size;
  char text[160];
  char *action;
  char *argument;

  *list += strspn (*list, ", \n");
  size = strcspn (*list, ", \n");
  if (size == 0)
    return 0;
  snprintf (text, sizeof text, "%.*s", (int) size, *list);
  *list += size;
  action = strchr (text, '=');
  if (action != NULL)
    *action++ = '\0';
  argument = action != NULL ? strchr (action, ':') : NULL;
  if (argument != NULL)
    *argument++ = '\0';
  copy (entry->point, sizeof entry->point, text);
  copy (entry->action, sizeof entry->action, action != NULL ? action : "fail");
  copy (entry->argument, sizeof entry->argument, argument != NULL ? argument : "");
  return 1;
}

static uint32_t
code_by_name (const char *name)
{
  static const struct
  {
    const char *name;
    uint32_t code;
  } codes[] = {
#define ROW(name, code, meaning, hint) { #name, code },
    BERTH_ERRORS (ROW)
#undef ROW
  };

  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    if (strcmp (codes[i].name, name) == 0)
      return codes[i].code;
  return BERTH_E_INTERNAL;
}

/* The file `faults` of the state directory overrides the setting. */
static const char *
current_faults (struct berth_state *state, struct berth_buffer *text)
{
  if (berth_fs_read (state->directory, "faults", text, 65536) == 0)
    return berth_buffer_string (text);
  return state->faults != NULL ? state->faults : "";
}

static int
act (struct berth_call *call, const struct entry *entry)
{
  int64_t milliseconds;

  if (strcmp (entry->action, "fail") == 0)
    return call->services->fail (call, code_by_name (entry->argument), "%s failed, as the setting `faults` asks",
                                 entry->point);
  if (strcmp (entry->action, "slow") == 0)
    return berth_string_to_int64 (entry->argument, 0, 3600000, &milliseconds) == 0 ? fake_wait (call, milliseconds)
                                                                                  : 0;
  if (strcmp (entry->action, "hang") == 0)
    return fake_wait (call, INT64_MAX / 4);
  if (strcmp (entry->action, "kill") == 0)
    raise (SIGKILL);
  return 0;
}

int
fake_point (struct berth_call *call, struct berth_state *state, const char *point)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  const char *list = current_faults (state, &text);
  struct entry entry;

  if (fake_check (call) < 0)
    return -1;
  while (next_entry (&list, &entry))
    if (strcmp (entry.point, point) == 0 && act (call, &entry) < 0)
      return -1;
  return 0;
}

int
fake_step (struct berth_call *call, struct berth_state *state, const char *point, unsigned int step)
{
  char name[64];

  snprintf (name, sizeof name, "%s.%u", point, step);
  return fake_point (call, state, name);
}

int
fake_fault (struct berth_state *state, const char *point, const char *action, char argument[64])
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  const char *list = current_faults (state, &text);
  struct entry entry;

  while (next_entry (&list, &entry))
    if (strcmp (entry.point, point) == 0 && strcmp (entry.action, action) == 0)
      {
        if (argument != NULL)
          memcpy (argument, entry.argument, sizeof entry.argument);
        return 1;
      }
  return 0;
}

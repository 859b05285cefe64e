/* inventory.c - the sandboxes of this state directory, as they stand. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugins/ns/ns.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/string.h"

struct ids
{
  char **name;
  size_t count;
};
#define AUTO_IDS BERTH_CLEANUP (free_ids)

static void
free_ids (struct ids *ids)
{
  for (size_t i = 0; i < ids->count; i++)
    free (ids->name[i]);
  free (ids->name);
}

static int
by_name (const void *left, const void *right)
{
  return strcmp (*(char *const *) left, *(char *const *) right);
}

static int
add_id (struct ids *ids, const char *name)
{
  char **grown = realloc (ids->name, (ids->count + 1) * sizeof *grown);

  if (grown == NULL)
    return -1;
  ids->name = grown;
  if ((ids->name[ids->count] = strdup (name)) == NULL)
    return -1;
  ids->count++;
  return 0;
}

static int
read_ids (struct berth_call *call, const struct berth_state *state, struct ids *ids)
{
  BERTH_AUTO_FD int boxes = ns_boxes_open (state, false);

  if (boxes < 0 && errno == ENOENT)
    return 0;
  BERTH_AUTO_DIR DIR *directory = boxes >= 0 ? fdopendir (boxes) : NULL;
  if (directory == NULL)
    return call->services->fail (call, BERTH_E_UNREACHABLE, "cannot list the sandboxes in %s: %m", state->state);
  boxes = -1;
  errno = 0;
  for (struct dirent *entry; (entry = readdir (directory)) != NULL; errno = 0)
    if (ns_id_is_possible (state, entry->d_name) && add_id (ids, entry->d_name) < 0)
      return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "no memory");
  if (errno != 0)
    return call->services->fail (call, BERTH_E_UNREACHABLE, "cannot list the sandboxes in %s: %m", state->state);
  if (ids->count > 0)
    qsort (ids->name, ids->count, sizeof *ids->name, by_name);
  return 0;
}

static uint32_t
life_of (const struct ns_meta *meta)
{
  BERTH_AUTO_FD int agent = ns_meta_agent (meta);

  if (!meta->ready)
    return BERTH_LIFE_FAILED;
  if (agent < 0)
    return BERTH_LIFE_STOPPED;
  return ns_freezer_is_closed (meta->freezer) ? BERTH_LIFE_PAUSED : BERTH_LIFE_RUNNING;
}

/* 0 when it is gone meanwhile or not of ASSIGNMENT (NULL: any), 1 told, -1 the sink's failure.
 * WITH_EXPIRY costs a question to the agent. */
static int
tell (struct berth_call *call, struct berth_state *state, const char *id, bool with_expiry, const char *assignment,
      const struct berth_found_sink *sink)
{
  NS_AUTO_META struct ns_meta meta = { 0 };
  struct berth_found found = { .struct_size = sizeof found, .native_id = id, .life = BERTH_LIFE_FAILED };
  BERTH_AUTO_FD int box = ns_box_open (state, id);

  if (box < 0)
    return 0;
  bool known = ns_meta_read (box, &meta) == 0;
  if (assignment != NULL && !(known && berth_string_equal (meta.assignment, assignment)))
    return 0;
  if (known)
    {
      found.life = life_of (&meta);
      found.has = BERTH_FOUND_LABELS | BERTH_FOUND_CREATED | BERTH_FOUND_METADATA;
      found.sandbox_id = meta.sandbox;
      found.assignment_id = meta.assignment;
      found.installation_id = meta.installation;
      found.metadata = meta.metadata;
      found.metadata_count = meta.metadata_count;
      found.created_wall_ms = meta.created_wall_ms;
    }
  if (!meta.ready)
    found.has |= BERTH_FOUND_PARTIAL;
  const struct berth_native native = { .struct_size = sizeof native, .id = id };
  if (with_expiry && found.life == BERTH_LIFE_RUNNING)
    {
      if (ns_expires_at (call, state, &native, &found.expiry) == 0)
        found.has |= BERTH_FOUND_EXPIRY;
      else
        call->services->forgive (call);
    }
  return sink->found (sink->context, &found) < 0 ? -1 : 1;
}

static int
tell_all (struct berth_call *call, struct berth_state *state, const char *assignment, const struct berth_found_sink *sink)
{
  AUTO_IDS struct ids ids = { 0 };

  if (read_ids (call, state, &ids) < 0)
    return -1;
  for (size_t i = 0; i < ids.count; i++)
    if (tell (call, state, ids.name[i], false, assignment, sink) < 0)
      return -1;
  return 0;
}

int
ns_list_ids (struct berth_call *call, struct berth_state *state, const struct berth_found_sink *sink)
{
  return tell_all (call, state, NULL, sink);
}

/* A record that cannot be read says nothing of its assignment: its id was told before anything of
 * it existed, and by that it is destroyed. */
int
ns_find_by_assignment (struct berth_call *call, struct berth_state *state, const char *assignment_id,
                       const struct berth_found_sink *sink)
{
  return tell_all (call, state, assignment_id, sink);
}

/* The cursor is the last id told: a page stays right when sandboxes come and go in between. */
int
ns_list_page (struct berth_call *call, struct berth_state *state, const char *cursor, uint32_t limit,
              const struct berth_found_sink *sink)
{
  AUTO_IDS struct ids ids = { 0 };
  uint32_t told = 0;
  const char *last = NULL;

  if (limit == 0)
    return call->services->fail (call, BERTH_E_INVALID_REQUEST, "a page of no sandboxes");
  if (read_ids (call, state, &ids) < 0)
    return -1;
  for (size_t i = 0; i < ids.count; i++)
    {
      if (cursor != NULL && strcmp (ids.name[i], cursor) <= 0)
        continue;
      if (told == limit)
        return sink->cursor != NULL ? sink->cursor (sink->context, last) : 0;
      int result = tell (call, state, ids.name[i], false, NULL, sink);
      if (result < 0)
        return -1;
      if (result > 0)
        {
          told++;
          last = ids.name[i];
        }
    }
  return 0;
}

int
ns_describe (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
             const struct berth_found_sink *sink)
{
  int result = ns_id_is_possible (state, native->id) ? tell (call, state, native->id, true, NULL, sink) : 0;
  if (result == 0)
    return call->services->fail (call, BERTH_E_SANDBOX_NOT_FOUND, "there is no sandbox %s", native->id);
  return result < 0 ? -1 : 0;
}

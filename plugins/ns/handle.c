/* handle.c - reaching the agent of a sandbox. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugins/ns/ns.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/fs.h"
#include "sdk/base/hash.h"
#include "sdk/base/string.h"

#define STAT_LIMIT 4096

static int
connect_agent (struct berth_call *call, void *context)
{
  const struct berth_handle *handle = context;

  /* It would take the connection and answer nothing. */
  if (ns_freezer_is_closed (handle->freezer))
    {
      call->services->fail (call, BERTH_E_WRONG_STATE, "the sandbox %s is paused", handle->id);
      call->services->hint (call, "resume it first");
      return -1;
    }
  int fd = agentlink_connect_unix (call, handle->socket);

  if (fd >= 0)
    return fd;
  BERTH_AUTO_FD int box = ns_box_open (handle->state, handle->id);
  if (box < 0 && errno == ENOENT)
    return call->services->fail (call, BERTH_E_SANDBOX_NOT_FOUND, "the sandbox %s is gone", handle->id);
  NS_AUTO_META struct ns_meta meta = { 0 };
  if (box >= 0 && ns_meta_read (box, &meta) == 0 && meta.ready && meta.pid == 0)
    {
      call->services->fail (call, BERTH_E_WRONG_STATE, "the sandbox %s is stopped", handle->id);
      call->services->hint (call, "start it first");
    }
  return -1;
}

static uint64_t
memory_kills (void *context)
{
  return ns_cgroup_kills (((const struct berth_handle *) context)->out_of_memory);
}

/* Its own line in /proc tells of every fork that it made and every process that it waited for. */
static int
is_moving (void *context, uint64_t *mark)
{
  const struct berth_handle *handle = context;
  BERTH_AUTO_BUFFER struct berth_buffer line = { 0 };
  NS_AUTO_META struct ns_meta meta = { 0 };
  BERTH_AUTO_FD int box = ns_box_open (handle->state, handle->id);
  BERTH_AUTO_FD int agent = box >= 0 && ns_meta_read (box, &meta) == 0 ? ns_meta_agent (&meta) : -1;
  BERTH_AUTO_FREE char *path = berth_string_format ("/proc/%d/stat", (int) meta.pid);

  if (agent < 0 || path == NULL || berth_fs_read (AT_FDCWD, path, &line, STAT_LIMIT) < 0)
    return -1;
  /* Held after it was reached, it answers when it goes on, as what it is in the middle of. */
  if (ns_freezer_is_closed (handle->freezer))
    {
      ++*mark;
      return 1;
    }
  const char *state = strrchr (berth_buffer_string (&line), ')');
  uint64_t before = *mark;
  *mark = berth_hash (BERTH_HASH_SEED, line.data, line.size);
  if (state != NULL && strncmp (state, ") T", 3) == 0)
    return -1;
  return *mark != before || (state != NULL && strncmp (state, ") R", 3) == 0);
}

void
ns_release (struct berth_call *call, struct berth_handle *handle)
{
  if (handle->own >= 0)
    close (handle->own);
  free (handle->id);
  free (handle->socket);
  free (handle->out_of_memory);
  free (handle->freezer);
  free (handle);
}

struct berth_handle *
ns_handle_new (struct berth_call *call, const struct berth_state *state, const char *id, const struct ns_meta *meta)
{
  struct berth_handle *handle = calloc (1, sizeof *handle);

  if (handle != NULL)
    {
      handle->own = -1;
      handle->state = state;
      handle->id = strdup (id);
      handle->socket = ns_box_socket (state, id);
      handle->out_of_memory = meta->out_of_memory != NULL ? strdup (meta->out_of_memory) : NULL;
      handle->freezer = meta->freezer != NULL ? strdup (meta->freezer) : NULL;
    }
  if (handle == NULL || handle->id == NULL || handle->socket == NULL
      || (meta->out_of_memory != NULL && handle->out_of_memory == NULL)
      || (meta->freezer != NULL && handle->freezer == NULL))
    {
      if (handle != NULL)
        ns_release (call, handle);
      call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "no memory");
      return NULL;
    }
  const struct agentlink_transport transport
      = { .context = handle, .connect = connect_agent, .memory_kills = memory_kills, .is_moving = is_moving };
  agentlink_init (&handle->link, &transport, NULL, 0);
  return handle;
}

/* Also of a sandbox whose agent is dead: then each call on the handle says so. */
int
ns_connect (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
            const struct berth_effective_sink *sink, struct berth_handle **out)
{
  NS_AUTO_META struct ns_meta meta = { 0 };
  BERTH_AUTO_FD int box = ns_meta_find (call, state, native->id, &meta);

  if (box < 0)
    return -1;
  struct berth_handle *handle = ns_handle_new (call, state, native->id, &meta);
  if (handle == NULL)
    return -1;
  if (sink != NULL && ns_tell_effective (&meta.limits, sink->context, sink->effective) < 0)
    {
      ns_release (call, handle);
      return -1;
    }
  *out = handle;
  return 0;
}

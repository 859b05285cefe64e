/* processes.c - the group `processes`. */
#include <fcntl.h>
#include <sys/file.h>

#include "plugins/fake/process.h"
#include "plugins/fake/words.h"
#include "sdk/base/string.h"

struct berth_attachment
{
  struct berth_handle *handle;
  char id[FAKE_ID_MAX + 1];
  int64_t epoch;
  int hold; /* the locked file that says so */
  char *hold_path;
  uint64_t offset; /* of the next byte to tell */
  int over;        /* exit or lost was told */
};

#define START_ASKS                                                                                \
  (BERTH_RUN_ENVIRONMENT | BERTH_RUN_WORKDIR | BERTH_RUN_USER | BERTH_RUN_TERMINAL | BERTH_RUN_RING  \
   | BERTH_RUN_NAME | BERTH_RUN_RESTART)

static int
enter (struct berth_call *call, struct berth_handle *handle, const char *point, struct fake_box *box)
{
  if (fake_needs (call, handle->state, BERTH_CAP_PROCESS_SESSIONS, "PROCESS_SESSIONS") < 0
      || fake_point (call, handle->state, point) < 0)
    return -1;
  return fake_box_for_handle (call, handle, box);
}

static int
fake_start (struct berth_call *call, struct berth_handle *handle, const struct berth_run *run,
            const struct berth_text_sink *process_id)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  char id[FAKE_ID_MAX + 1];

  if (BERTH_REFUSE_UNKNOWN (call, RUN, run->asks, START_ASKS) < 0
      || ((run->asks & BERTH_RUN_TERMINAL) != 0 && fake_needs (call, handle->state, BERTH_CAP_PTY, "PTY") < 0)
      || enter (call, handle, "processes.start", &box) < 0 || fake_run_check (call, &box, run) < 0
      || fake_process_start (call, &box, run, id) < 0)
    return -1;
  fake_box_close (&box);
  return process_id->text (process_id->context, id);
}

/* --- attaching -------------------------------------------------------------------------------------------- */

static int
choose_offset (struct berth_call *call, const char *id, uint64_t wanted, const struct berth_position *position,
               uint64_t *offset)
{
  *offset = wanted == BERTH_OFFSET_LIVE ? position->next : wanted == BERTH_OFFSET_OLDEST ? position->oldest : wanted;
  if (*offset < position->oldest)
    return call->services->fail (call, BERTH_E_REPLAY_GAP, "process session `%s`: offset %llu is no longer held, the "
                                 "oldest is %llu", id, (unsigned long long) wanted,
                                 (unsigned long long) position->oldest);
  if (*offset > position->next)
    return call->services->fail (call, BERTH_E_OFFSET_BEYOND_END, "process session `%s`: offset %llu is beyond the "
                                 "end, %llu", id, (unsigned long long) wanted, (unsigned long long) position->next);
  return 0;
}

static struct berth_attachment *
hold (struct berth_call *call, struct berth_handle *handle, struct fake_process *process, uint64_t offset)
{
  struct berth_attachment *attachment = calloc (1, sizeof *attachment);
  BERTH_AUTO_FREE char *suffix = NULL;

  if (attachment == NULL)
    {
      fake_failed (call, "attach");
      return NULL;
    }
  attachment->handle = handle;
  memcpy (attachment->id, process->id, sizeof attachment->id);
  attachment->epoch = fake_number (process->record, "epoch") + 1;
  attachment->offset = offset;
  suffix = berth_string_format ("hold.%lld", (long long) attachment->epoch);
  attachment->hold_path = suffix != NULL ? fake_process_file (process->id, suffix) : NULL;
  attachment->hold = attachment->hold_path == NULL
                         ? -1
                         : openat (process->box->directory, attachment->hold_path,
                                   O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (attachment->hold >= 0 && flock (attachment->hold, LOCK_EX | LOCK_NB) == 0
      && berth_json_set_int64 (process->record, "epoch", attachment->epoch) == 0
      && berth_json_set_int64 (process->record, "reader", (int64_t) offset) == 0)
    return attachment;
  fake_failed (call, "attach");
  berth_cleanup_fd (&attachment->hold);
  free (attachment->hold_path);
  free (attachment);
  return NULL;
}

static int
fake_attach (struct berth_call *call, struct berth_handle *handle, const char *process_id,
             const struct berth_attach *how, struct berth_position *position, struct berth_attachment **out)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  FAKE_AUTO_PROCESS struct fake_process process = FAKE_PROCESS_INIT;
  struct berth_attachment *attachment;
  uint64_t offset;

  if (BERTH_REFUSE_UNKNOWN (call, ATTACH, how->asks, BERTH_ATTACH_KNOWN_1_0) < 0
      || enter (call, handle, "processes.attach", &box) < 0 || fake_process_open (call, &box, process_id, &process) < 0)
    return -1;
  fake_process_position (&process, position);
  if ((how->asks & BERTH_ATTACH_TAKEOVER) == 0 && fake_process_is_held (&process))
    return call->services->fail (call, BERTH_E_PROCESS_HELD, "process session `%s` is held by another", process_id);
  if ((how->asks & BERTH_ATTACH_ONLY_RUNNING) != 0 && !fake_process_is_running (&process))
    return call->services->fail (call, BERTH_E_PROCESS_EXITED, "the process of session `%s` has ended", process_id);
  if (choose_offset (call, process_id, how->offset, position, &offset) < 0)
    return -1;
  if (!fake_process_is_running (&process) && fake_number (process.record, "restart") != 0)
    {
      if (fake_process_restart (call, &process) < 0)
        return -1;
      position->run++;
    }
  attachment = hold (call, handle, &process, offset);
  if (attachment == NULL)
    return -1;
  if (fake_process_save (call, &process) < 0)
    {
      fake_box_close (&box);
      fake_processes.detach (call, attachment);
      return -1;
    }
  *out = attachment;
  return 0;
}

static void
fake_detach (struct berth_call *call, struct berth_attachment *attachment)
{
  BERTH_AUTO_FREE char *path
      = berth_string_format ("sandboxes/%s/%s", attachment->handle->native_id, attachment->hold_path);

  if (path != NULL)
    (void) unlinkat (attachment->handle->state->directory, path, 0);
  berth_cleanup_fd (&attachment->hold); /* the lock goes with it */
  free (attachment->hold_path);
  free (attachment);
}

/* --- events ------------------------------------------------------------------------------------------------ */

/* What there is to tell: found under the lock, told without it. */
struct event
{
  enum
  {
    EVENT_NONE,
    EVENT_OUTPUT,
    EVENT_EXIT,
    EVENT_LOST
  } kind;
  uint32_t stream;
  size_t size;
  uint32_t code;
  struct berth_exit exit;
  char bytes[4096];
};

static void
look_for_event (struct fake_process *process, uint64_t offset, struct event *event)
{
  event->kind = EVENT_NONE;
  event->size = offset < process->next
                    ? fake_process_read (process, offset, event->bytes, sizeof event->bytes, &event->stream)
                    : 0;
  if (event->size > 0)
    event->kind = EVENT_OUTPUT;
  else if (!fake_process_is_running (process))
    {
      event->kind = EVENT_EXIT;
      fake_process_exit (process, &event->exit);
    }
}

/* Losing a session is an event of it, not a failure of the call. */
static int
lose (struct berth_call *call, struct event *event, uint32_t code)
{
  call->services->forgive (call);
  event->kind = EVENT_LOST;
  event->code = code;
  return 0;
}

static int
held_event (struct berth_call *call, struct berth_attachment *attachment, struct event *event)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  FAKE_AUTO_PROCESS struct fake_process process = FAKE_PROCESS_INIT;

  if (fake_point (call, attachment->handle->state, "processes.next") < 0)
    return -1;
  if (fake_box_open (call, attachment->handle->state, attachment->handle->native_id, &box) < 0)
    return call->services->failed (call) == BERTH_E_SANDBOX_NOT_FOUND
               ? lose (call, event, BERTH_E_SANDBOX_NOT_FOUND)
               : -1;
  if (fake_process_open (call, &box, attachment->id, &process) < 0)
    {
      if (call->services->failed (call) != BERTH_E_PROCESS_NOT_FOUND)
        return -1;
      call->services->forgive (call);
      event->kind = EVENT_EXIT; /* removed, which ends it */
      event->exit = (struct berth_exit) { .struct_size = sizeof event->exit,
                                          .reason = BERTH_SIGNALLED,
                                          .code = -1,
                                          .signal = 9 };
      return 0;
    }
  if (fake_number (process.record, "epoch") != attachment->epoch)
    return lose (call, event, BERTH_E_PROCESS_HELD);
  if ((uint64_t) fake_number (process.record, "reader") != attachment->offset
      && (berth_json_set_int64 (process.record, "reader", (int64_t) attachment->offset) < 0
          || fake_process_save (call, &process) < 0))
    return -1;
  look_for_event (&process, attachment->offset, event);
  return 0;
}

static int
tell (const struct berth_event_sink *sink, uint64_t offset, const struct event *event)
{
  switch (event->kind)
    {
    case EVENT_OUTPUT:
      return sink->output (sink->context, offset, event->stream, event->bytes, event->size);
    case EVENT_EXIT:
      return sink->exit (sink->context, &event->exit);
    case EVENT_LOST:
      return sink->lost (sink->context, event->code,
                         event->code == BERTH_E_PROCESS_HELD ? "another attachment took the session over"
                                                             : "the sandbox is gone");
    default:
      return 0;
    }
}

static int
fake_next (struct berth_call *call, struct berth_attachment *attachment, const struct berth_event_sink *sink)
{
  struct event event = { .kind = EVENT_NONE };

  if (attachment->over)
    return 0;
  for (;;)
    {
      if (held_event (call, attachment, &event) < 0)
        return -1;
      if (event.kind != EVENT_NONE)
        break;
      if (fake_tick (call) < 0)
        return -1;
    }
  if (tell (sink, attachment->offset, &event) < 0)
    return -1;
  attachment->offset += event.kind == EVENT_OUTPUT ? event.size : 0;
  attachment->over = event.kind != EVENT_OUTPUT;
  return !attachment->over;
}

/* --- what the holder does ----------------------------------------------------------------------------------- */

/* The session of an attachment that still holds it and whose process still runs. */
static int
enter_held (struct berth_call *call, struct berth_attachment *attachment, const char *point, struct fake_box *box,
            struct fake_process *process)
{
  if (fake_point (call, attachment->handle->state, point) < 0 || fake_box_for_handle (call, attachment->handle, box) < 0
      || fake_process_open (call, box, attachment->id, process) < 0)
    return -1;
  if (fake_number (process->record, "epoch") != attachment->epoch)
    return call->services->fail (call, BERTH_E_PROCESS_HELD, "process session `%s` was taken over", attachment->id);
  if (!fake_process_is_running (process))
    return call->services->fail (call, BERTH_E_PROCESS_EXITED, "the process of session `%s` has ended",
                                 attachment->id);
  return 0;
}

static int
write_once (struct berth_call *call, struct berth_attachment *attachment, const void *bytes, size_t size,
            size_t *accepted)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  FAKE_AUTO_PROCESS struct fake_process process = FAKE_PROCESS_INIT;

  if (enter_held (call, attachment, "processes.write", &box, &process) < 0)
    return -1;
  return fake_process_input (call, &process, bytes, size, accepted);
}

static int
fake_write (struct berth_call *call, struct berth_attachment *attachment, const void *bytes, size_t size,
            size_t *accepted)
{
  size_t taken = 0;

  while (size > 0 && taken == 0)
    {
      if (write_once (call, attachment, bytes, size, &taken) < 0)
        return -1;
      if (taken == 0 && fake_tick (call) < 0)
        return -1;
    }
  *accepted = taken;
  return 0;
}

static int
fake_close_input (struct berth_call *call, struct berth_attachment *attachment)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  FAKE_AUTO_PROCESS struct fake_process process = FAKE_PROCESS_INIT;

  if (enter_held (call, attachment, "processes.close_input", &box, &process) < 0)
    return -1;
  return fake_process_end_of_input (call, &process);
}

static int
fake_signal (struct berth_call *call, struct berth_attachment *attachment, int32_t linux_signal)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  FAKE_AUTO_PROCESS struct fake_process process = FAKE_PROCESS_INIT;

  if (enter_held (call, attachment, "processes.signal", &box, &process) < 0)
    return -1;
  return fake_process_signal (call, &process, linux_signal);
}

static int
fake_resize (struct berth_call *call, struct berth_attachment *attachment, uint32_t columns, uint32_t rows)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  FAKE_AUTO_PROCESS struct fake_process process = FAKE_PROCESS_INIT;

  if (fake_needs (call, attachment->handle->state, BERTH_CAP_PTY, "PTY") < 0
      || enter_held (call, attachment, "processes.resize", &box, &process) < 0)
    return -1;
  if (fake_number (process.record, "terminal") == 0)
    return call->services->fail (call, BERTH_E_INVALID_REQUEST, "process session `%s` has no terminal",
                                 attachment->id);
  if (berth_json_set_int64 (process.record, "columns", columns) < 0
      || berth_json_set_int64 (process.record, "rows", rows) < 0)
    return fake_failed (call, "resize a terminal");
  return fake_process_save (call, &process);
}

/* --- from outside ------------------------------------------------------------------------------------------- */

static int
view_event (struct berth_call *call, struct berth_handle *handle, const char *process_id, uint64_t *offset,
            struct event *event)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  FAKE_AUTO_PROCESS struct fake_process process = FAKE_PROCESS_INIT;
  struct berth_position position;

  if (fake_box_open (call, handle->state, handle->native_id, &box) < 0
      || fake_process_open (call, &box, process_id, &process) < 0)
    return -1;
  fake_process_position (&process, &position);
  if (*offset < position.oldest)
    *offset = position.oldest; /* a slow viewer slows nobody: it misses bytes, as the offset tells */
  look_for_event (&process, *offset, event);
  return 0;
}

static int
begin_view (struct berth_call *call, struct berth_handle *handle, const char *process_id,
            const struct berth_view *how, struct berth_position *position, uint64_t *offset)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  FAKE_AUTO_PROCESS struct fake_process process = FAKE_PROCESS_INIT;

  if (BERTH_REFUSE_UNKNOWN (call, VIEW, how->asks, BERTH_VIEW_KNOWN_1_0) < 0
      || enter (call, handle, "processes.view", &box) < 0 || fake_process_open (call, &box, process_id, &process) < 0)
    return -1;
  fake_process_position (&process, position);
  return choose_offset (call, process_id, how->offset, position, offset);
}

static int
fake_view (struct berth_call *call, struct berth_handle *handle, const char *process_id,
           const struct berth_view *how, struct berth_position *position, const struct berth_event_sink *sink)
{
  struct event event = { .kind = EVENT_NONE };
  uint64_t offset;

  if (begin_view (call, handle, process_id, how, position, &offset) < 0)
    return -1;
  for (;;)
    {
      if (view_event (call, handle, process_id, &offset, &event) < 0 || tell (sink, offset, &event) < 0)
        return -1;
      offset += event.kind == EVENT_OUTPUT ? event.size : 0;
      if (event.kind == EVENT_EXIT || (event.kind == EVENT_NONE && (how->asks & BERTH_VIEW_FOLLOW) == 0))
        return 0;
      if (event.kind == EVENT_NONE && fake_tick (call) < 0)
        return -1;
    }
}

/* Tells one session; the box is unlocked for that. */
static int
tell_process (struct fake_process *process, const struct berth_process_sink *sink)
{
  struct berth_json *arguments = berth_json_get (process->record, "arguments");
  BERTH_AUTO_FREE const char **list = calloc (berth_json_length (arguments) + 1, sizeof *list);
  struct berth_exit end;
  struct berth_process info = { .struct_size = sizeof info, .process_id = process->id };

  for (size_t i = 0; list != NULL && i < berth_json_length (arguments); i++)
    {
      const char *text = berth_json_string (berth_json_at (arguments, i));

      list[i] = text != NULL ? text : "?";
    }
  info.arguments = list;
  info.argument_count = list != NULL ? berth_json_length (arguments) : 0;
  info.running = (uint32_t) fake_process_is_running (process);
  info.has = (fake_process_is_held (process) ? BERTH_PROCESS_HELD : 0)
             | (fake_number (process->record, "terminal") != 0 ? BERTH_PROCESS_TERMINAL : 0)
             | (fake_number (process->record, "restart") != 0 ? BERTH_PROCESS_RESTART : 0);
  if (!info.running)
    {
      fake_process_exit (process, &end);
      info.exit = &end;
      info.has |= BERTH_PROCESS_EXIT;
    }
  fake_process_position (process, &info.position);
  fake_box_close (process->box);
  return sink->process (sink->context, &info);
}

static int
fake_inspect (struct berth_call *call, struct berth_handle *handle, const char *process_id,
              const struct berth_process_sink *sink)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  FAKE_AUTO_PROCESS struct fake_process process = FAKE_PROCESS_INIT;

  if (enter (call, handle, "processes.inspect", &box) < 0 || fake_process_open (call, &box, process_id, &process) < 0)
    return -1;
  return tell_process (&process, sink);
}

/* The ids of all sessions of a locked sandbox. */
static int
list_ids (struct berth_call *call, struct fake_box *box, struct fake_words *ids)
{
  BERTH_AUTO_DIR DIR *dir = fake_directory_open (box->directory, "processes");
  struct dirent *entry;

  if (dir == NULL)
    return errno == ENOENT ? 0 : fake_failed (call, "list process sessions");
  while ((entry = readdir (dir)) != NULL)
    if (entry->d_name[0] != '.' && fake_words_add (ids, entry->d_name, strlen (entry->d_name)) < 0)
      return fake_failed (call, "list process sessions");
  return 0;
}

static int
fake_list (struct berth_call *call, struct berth_handle *handle, const struct berth_process_sink *sink)
{
  FAKE_AUTO_BOX struct fake_box first = FAKE_BOX_INIT;
  FAKE_AUTO_WORDS struct fake_words ids = { NULL, 0 };

  if (enter (call, handle, "processes.list", &first) < 0 || list_ids (call, &first, &ids) < 0)
    return -1;
  fake_box_close (&first);
  for (size_t i = 0; i < ids.count; i++)
    {
      FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
      FAKE_AUTO_PROCESS struct fake_process process = FAKE_PROCESS_INIT;

      if (fake_box_for_handle (call, handle, &box) < 0)
        return -1;
      if (fake_process_open (call, &box, ids.list[i], &process) < 0)
        {
          if (call->services->failed (call) != BERTH_E_PROCESS_NOT_FOUND)
            return -1;
          call->services->forgive (call); /* removed meanwhile */
        }
      else if (tell_process (&process, sink) < 0)
        return -1;
    }
  return 0;
}

static int
fake_remove (struct berth_call *call, struct berth_handle *handle, const char *process_id)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  FAKE_AUTO_PROCESS struct fake_process process = FAKE_PROCESS_INIT;

  if (enter (call, handle, "processes.remove", &box) < 0 || fake_process_open (call, &box, process_id, &process) < 0)
    return -1;
  return fake_process_remove (call, &box, process_id);
}

int
fake_processes_end (struct berth_call *call, struct fake_box *box)
{
  FAKE_AUTO_WORDS struct fake_words ids = { NULL, 0 };

  if (list_ids (call, box, &ids) < 0)
    return -1;
  for (size_t i = 0; i < ids.count; i++)
    {
      FAKE_AUTO_PROCESS struct fake_process process = FAKE_PROCESS_INIT;

      if (fake_process_open (call, box, ids.list[i], &process) < 0
          || (fake_process_is_running (&process) && fake_process_signal (call, &process, 9) < 0))
        return -1;
    }
  return 0;
}

const struct berth_processes_ops fake_processes = {
  .struct_size = sizeof fake_processes,
  .start = fake_start,
  .attach = fake_attach,
  .next = fake_next,
  .write = fake_write,
  .close_input = fake_close_input,
  .signal = fake_signal,
  .resize = fake_resize,
  .detach = fake_detach,
  .view = fake_view,
  .inspect = fake_inspect,
  .list = fake_list,
  .remove = fake_remove,
};

/* box.c - the facts of one sandbox, and who may touch them. */
#include <fcntl.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "plugins/fake/fake.h"
#include "plugins/fake/words.h"
#include "sdk/base/fd.h"
#include "sdk/base/fs.h"
#include "sdk/base/path.h"
#include "sdk/base/string.h"

int
fake_id_is_valid (const char *id)
{
  size_t size = id != NULL ? strlen (id) : 0;

  return size > 0 && size <= FAKE_ID_MAX && *id != '.'
         && strspn (id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:-") == size;
}

/* What was used is remembered for the costs. */
static void
write_ledger (struct fake_box *box)
{
  BERTH_AUTO_FD int fd
      = openat (box->state->directory, "ledger", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  BERTH_AUTO_BUFFER struct berth_buffer line = { 0 };
  const char *label = fake_text (box->record, "sandbox_id");

  berth_buffer_appendf (&line, "%s %lld %lld\n", label != NULL ? label : box->id,
                        (long long) fake_number (box->record, "created"), (long long) fake_now_ms (box->state));
  if (fd >= 0 && line.error == 0)
    (void) berth_fd_write_all (fd, line.data, line.size);
}

int
fake_box_remove (struct berth_call *call, struct fake_box *box)
{
  BERTH_AUTO_FREE char *path = berth_path_join ("sandboxes", box->id);

  if (path == NULL || berth_fs_remove_tree (box->state->directory, path) < 0)
    return fake_failed (call, "remove a sandbox's files");
  if (box->record != NULL)
    write_ledger (box);
  return 0;
}

/* Whether the process that holds the lock of an OWNED sandbox is no more. */
static int
owner_is_gone (struct fake_box *box)
{
  BERTH_AUTO_FD int fd = openat (box->directory, "owner", O_RDWR | O_CLOEXEC | O_NOFOLLOW);

  return fd < 0 || flock (fd, LOCK_EX | LOCK_NB) == 0;
}

/* A sandbox has come to its end once its time is over, its owner gone or its removal due: there
 * is no process of ours to see to that, so whoever looks next does. */
static int
is_over (struct fake_box *box)
{
  int64_t now = fake_now_ms (box->state);
  int64_t expires = fake_number (box->record, "expires");
  int64_t ending = fake_number (box->record, "ending");

  return (expires > 0 && now >= expires) || (ending > 0 && now >= ending)
         || (fake_number (box->record, "owned") != 0 && fake_number (box->record, "life") != BERTH_LIFE_CREATING
             && owner_is_gone (box));
}

/* 1: it is there; its record is NULL when it is half-made.  0: it is not.  -1. */
int
fake_box_find (struct berth_call *call, struct berth_state *state, const char *id, struct fake_box *box)
{
  BERTH_AUTO_FREE char *path = NULL;

  *box = (struct fake_box) FAKE_BOX_INIT;
  box->state = state;
  if (!fake_id_is_valid (id))
    return 0;
  memcpy (box->id, id, strlen (id) + 1);
  path = berth_path_join ("sandboxes", id);
  box->lock = fake_lock (call, state);
  if (box->lock < 0 || path == NULL)
    return -1;
  box->directory = openat (state->directory, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (box->directory < 0)
    return errno == ENOENT ? 0 : fake_failed (call, "open a sandbox's files");
  box->record = fake_json_load (box->directory, "record.json");
  if (box->record == NULL)
    return errno == ENOENT ? 1 : fake_failed (call, "read a sandbox's record");
  if (!is_over (box))
    return 1;
  return fake_box_remove (call, box) < 0 ? -1 : 0;
}

int
fake_box_open (struct berth_call *call, struct berth_state *state, const char *id, struct fake_box *box)
{
  int found = fake_box_find (call, state, id, box);

  if (found < 0)
    return -1;
  if (found == 0)
    return call->services->fail (call, BERTH_E_SANDBOX_NOT_FOUND, "no sandbox `%s`", id != NULL ? id : "");
  if (box->record == NULL)
    return call->services->fail (call, BERTH_E_WRONG_STATE, "sandbox `%s` is half-made", id);
  return 0;
}

static const char *
life_name (int64_t life)
{
  switch (life)
    {
    case BERTH_LIFE_RUNNING:
      return "running";
    case BERTH_LIFE_PAUSED:
      return "paused";
    case BERTH_LIFE_STOPPED:
      return "stopped";
    case BERTH_LIFE_FAILED:
      return "failed";
    case BERTH_LIFE_ENDING:
      return "ending";
    default:
      return "being created";
    }
}

int
fake_box_for_handle (struct berth_call *call, struct berth_handle *handle, struct fake_box *box)
{
  int64_t life;

  if (fake_point (call, handle->state, "data") < 0 || fake_box_open (call, handle->state, handle->native_id, box) < 0)
    return -1;
  life = fake_number (box->record, "life");
  if (life != BERTH_LIFE_RUNNING)
    return call->services->fail (call, BERTH_E_WRONG_STATE, "sandbox `%s` is %s", box->id, life_name (life));
  if (fake_number (box->record, "boot") != handle->boot)
    return call->services->fail (call, BERTH_E_WRONG_STATE, "sandbox `%s` was started again: connect once more",
                                 box->id);
  return 0;
}

int
fake_private_check (struct berth_call *call, const struct berth_native *native, const struct fake_box *box)
{
  const char *token = fake_text (box->record, "token");

  if (native->private_size == 0 && !box->state->private_required)
    return 0;
  if (token != NULL && native->private_size == strlen (token)
      && memcmp (native->private_data, token, native->private_size) == 0)
    return 0;
  return call->services->fail (call, BERTH_E_UNAUTHORIZED, "the private data of sandbox `%s` are not those that its "
                               "create told (%u bytes)", box->id, native->private_size);
}

int
fake_box_for_native (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
                     struct fake_box *box)
{
  if (fake_box_open (call, state, native->id, box) < 0)
    return -1;
  return fake_private_check (call, native, box);
}

int
fake_box_save (struct berth_call *call, struct fake_box *box)
{
  return fake_json_save (box->directory, "record.json", box->record) < 0 ? fake_failed (call, "write a record") : 0;
}

void
fake_box_close (struct fake_box *box)
{
  berth_json_free (box->record);
  box->record = NULL;
  berth_cleanup_fd (&box->directory);
  box->directory = -1;
  berth_cleanup_fd (&box->lock);
  box->lock = -1;
}

void
fake_box_event (struct fake_box *box, const char *format, ...)
{
  BERTH_AUTO_FD int fd
      = openat (box->directory, "events", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  BERTH_AUTO_BUFFER struct berth_buffer line = { 0 };
  va_list arguments;

  va_start (arguments, format);
  berth_buffer_appendf (&line, "%lld ", (long long) fake_now_ms (box->state));
  berth_buffer_vappendf (&line, format, arguments);
  berth_buffer_append_byte (&line, '\n');
  va_end (arguments);
  if (fd >= 0 && line.error == 0)
    (void) berth_fd_write_all (fd, line.data, line.size);
}

/* --- all of them -------------------------------------------------------------------------------- */

static int
by_name (const void *left, const void *right)
{
  return strcmp (*(char *const *) left, *(char *const *) right);
}

static int
read_names (int directory, const char *path, struct fake_words *names)
{
  BERTH_AUTO_DIR DIR *dir = fake_directory_open (directory, path);
  struct dirent *entry;

  if (dir == NULL)
    return -1;
  while ((entry = readdir (dir)) != NULL)
    if (entry->d_name[0] != '.' && fake_words_add (names, entry->d_name, strlen (entry->d_name)) < 0)
      return -1;
  if (names->count > 0)
    qsort (names->list, names->count, sizeof *names->list, by_name);
  return 0;
}

int
fake_each_name (struct berth_call *call, struct berth_state *state, const char *folder, const char *after,
                int (*visit) (void *context, const char *name), void *context)
{
  FAKE_AUTO_WORDS struct fake_words names = { NULL, 0 };

  if (read_names (state->directory, folder, &names) < 0)
    return fake_failed (call, "list the state directory");
  for (size_t i = 0; i < names.count; i++)
    {
      int result = after == NULL || strcmp (names.list[i], after) > 0 ? visit (context, names.list[i]) : 0;

      if (result != 0)
        return result;
    }
  return 0;
}

struct each
{
  struct berth_call *call;
  struct berth_state *state;
  int (*visit) (void *context, struct berth_call *call, struct fake_box *box);
  void *context;
};

static int
visit_name (void *context, const char *name)
{
  struct each *each = context;
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  int found = fake_check (each->call) < 0 ? -1 : fake_box_find (each->call, each->state, name, &box);

  return found <= 0 ? found : each->visit (each->context, each->call, &box);
}

int
fake_box_each (struct berth_call *call, struct berth_state *state, const char *after,
               int (*visit) (void *context, struct berth_call *call, struct fake_box *box), void *context)
{
  struct each each = { call, state, visit, context };

  return fake_each_name (call, state, "sandboxes", after, visit_name, &each);
}

/* --- telling ------------------------------------------------------------------------------------- */

void
fake_expiry_of (struct berth_state *state, const struct berth_json *record, struct berth_expiry *expiry)
{
  int64_t expires = fake_number (record, "expires");

  *expiry = (struct berth_expiry) { .kind = BERTH_EXPIRES_NEVER };
  if (expires > 0)
    *expiry = (struct berth_expiry) { .kind = BERTH_EXPIRES_AT,
                                      .remaining_ms = expires - fake_now_ms (state),
                                      .wall_ms = expires };
}

struct pairs
{
  struct berth_pair *list;
  size_t count;
  size_t room;
};

static int
add_pair (void *context, const char *key, struct berth_json *value)
{
  struct pairs *pairs = context;

  if (pairs->count < pairs->room)
    pairs->list[pairs->count++] = (struct berth_pair) { .name = key, .value = berth_json_string (value) };
  return 0;
}

static void
fill_found (struct fake_box *box, const struct berth_json *record, struct berth_found *found)
{
  found->life = (uint32_t) fake_number (record, "life");
  found->has |= BERTH_FOUND_LABELS | BERTH_FOUND_CREATED | BERTH_FOUND_EXPIRY | BERTH_FOUND_METADATA;
  if (found->life == BERTH_LIFE_CREATING)
    found->has |= BERTH_FOUND_PARTIAL;
  found->sandbox_id = fake_text (record, "sandbox_id");
  found->assignment_id = fake_text (record, "assignment_id");
  found->installation_id = fake_text (record, "installation_id");
  found->created_wall_ms = fake_number (record, "created");
  fake_expiry_of (box->state, record, &found->expiry);
}

int
fake_box_tell (struct fake_box *box, int (*tell) (void *context, const struct berth_found *found), void *context)
{
  BERTH_AUTO_JSON struct berth_json *record = BERTH_STEAL_POINTER (box->record);
  struct berth_json *metadata = berth_json_get (record, "metadata");
  size_t room = berth_json_length (metadata);
  BERTH_AUTO_FREE struct berth_pair *list = calloc (room + 1, sizeof *list);
  struct pairs pairs = { list, 0, list != NULL ? room : 0 };
  struct berth_found found = { .struct_size = sizeof found, .life = BERTH_LIFE_CREATING, .native_id = box->id };

  if (record == NULL)
    found.has = BERTH_FOUND_PARTIAL;
  else
    fill_found (box, record, &found);
  fake_box_close (box);
  berth_json_each (metadata, add_pair, &pairs);
  found.metadata = pairs.list;
  found.metadata_count = pairs.count;
  return tell (context, &found);
}

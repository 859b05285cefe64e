/* Out of a sandbox.  What it tells of its files may be made up: names are checked before anything is
 * done with them, and everything is counted. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "core/cli/copy.h"
#include "core/cli/signals.h"
#include "sdk/base/path.h"

struct child
{
  char *name;
  char *link; /* NULL: none told */
  struct berth_tar_member member; /* its texts are set when it is copied */
  uint32_t kind;
};

struct children
{
  struct child *items;
  size_t count;
};

struct walk
{
  struct cli_copy *copy;
  const struct cli_copy_target *target;
  struct berth_buffer inside; /* path in the sandbox */
  struct berth_buffer name;   /* of the member */
  struct children *list;      /* that is being filled */
  struct child top;
  size_t levels; /* how many directories are entered */
  uint64_t told; /* entries */
  /* Of the file that is being read. */
  const struct berth_tar_member *member;
  bool begun;
  uint64_t taken;
  int status; /* of what failed in a callback */
};

/* ---- what the sandbox tells ---- */

static void
children_free (struct children *children)
{
  for (size_t i = 0; i < children->count; i++)
    {
      free (children->items[i].name);
      free (children->items[i].link);
    }
  free (children->items);
}

static int
fail_memory (struct walk *walk)
{
  return cli_fail (walk->copy->cli, BERTH_E_RESOURCE_EXHAUSTED, "no memory for the files of %s",
                   berth_buffer_string (&walk->inside));
}

/* What is not told is as for a new file. */
static int
take_info (struct walk *walk, const struct berth_file_info *info, struct child *child)
{
  bool directory = info->kind == BERTH_KIND_DIRECTORY;

  *child = (struct child) { .kind = info->kind, .name = strdup (info->name) };
  child->member = (struct berth_tar_member) {
    .mode = (info->has & BERTH_FILE_MODE) != 0 ? info->mode & 0777 : directory ? 0755 : 0644,
    .uid = (info->has & BERTH_FILE_IDS) != 0 ? info->uid : 0,
    .gid = (info->has & BERTH_FILE_IDS) != 0 ? info->gid : 0,
    .size = info->kind == BERTH_KIND_FILE ? info->size : 0,
    .modified_s = (info->has & BERTH_FILE_TIME) != 0 ? info->modified_s : time (NULL),
    .modified_ns = (info->has & BERTH_FILE_TIME) != 0 && info->modified_ns < 1000000000 ? info->modified_ns : 0,
  };
  if (child->name != NULL && info->kind == BERTH_KIND_SYMLINK && (info->has & BERTH_FILE_LINK) != 0 && info->link_target != NULL)
    {
      child->link = strdup (info->link_target);
      return child->link != NULL ? 0 : fail_memory (walk);
    }
  return child->name != NULL ? 0 : fail_memory (walk);
}

static int
take_child (void *context, const struct berth_file_info *info)
{
  struct walk *walk = context;
  struct children *list = walk->list;

  if (!berth_path_is_name (info->name, strlen (info->name)))
    return walk->status = cli_fail (walk->copy->cli, BERTH_E_PATH_REJECTED, "%s: the sandbox told of an impossible name, \"%s\"",
                                    berth_buffer_string (&walk->inside), info->name);
  if (++walk->told > CLI_COPY_ENTRIES)
    return walk->status = cli_fail (walk->copy->cli, BERTH_E_PAYLOAD_TOO_LARGE, "at %s: more than %llu entries",
                                    berth_buffer_string (&walk->inside), (unsigned long long) CLI_COPY_ENTRIES);
  if ((list->count & (list->count - 1)) == 0)
    {
      struct child *larger = realloc (list->items, (list->count == 0 ? 1 : 2 * list->count) * sizeof *larger);

      if (larger == NULL)
        return walk->status = fail_memory (walk);
      list->items = larger;
    }
  return walk->status = take_info (walk, info, &list->items[list->count++]);
}

static int
take_top (void *context, const struct berth_file_info *info)
{
  struct walk *walk = context;

  return walk->status = take_info (walk, info, &walk->top);
}

/* ---- failures ---- */

/* Files come and go while a tree is copied, and some may not be read: those are left out.  What was
 * asked for by name is not. */
static int
report (struct walk *walk, const struct berth_error *error)
{
  if (cli_signals_caught () != 0 && error->code == BERTH_E_CANCELLED)
    return CLI_FAILED;
  if (walk->levels > 0
      && (error->code == BERTH_E_PATH_NOT_FOUND || error->code == BERTH_E_FORBIDDEN || error->code == BERTH_E_INVALID_REQUEST))
    {
      cli_copy_leave_out (walk->copy, berth_buffer_string (&walk->inside), "%s", error->message);
      return 0;
    }
  return cli_report (walk->copy->cli, error);
}

/* ---- files ---- */

static int
begin_file (struct walk *walk)
{
  walk->begun = true;
  walk->status = walk->target->file (walk->target->context, walk->member);
  return walk->status;
}

static int
take_data (void *context, const void *bytes, size_t size)
{
  struct walk *walk = context;

  if (!walk->begun && begin_file (walk) != 0)
    return -1;
  walk->taken += size;
  walk->status = cli_copy_count_bytes (walk->copy, size);
  if (walk->status == 0)
    walk->status = walk->target->data (walk->target->context, bytes, size);
  return walk->status != 0 ? -1 : 0;
}

/* A file is read up to the size that was told, so that one that grows has an end.  Files of /proc have
 * size 0 and may have content. */
static int
copy_file (struct walk *walk, const struct berth_tar_member *member)
{
  struct berth_file_options options = BERTH_FILE_OPTIONS_INIT;
  struct berth_error error;

  walk->member = member;
  walk->begun = false;
  walk->taken = 0;
  walk->status = 0;
  options.cancel = walk->copy->cli->cancel;
  if (member->size > walk->copy->max_bytes - walk->copy->bytes)
    return cli_fail (walk->copy->cli, BERTH_E_PAYLOAD_TOO_LARGE, "%s: with its %llu bytes more than %llu; --max-bytes allows more",
                     member->name, (unsigned long long) member->size, (unsigned long long) walk->copy->max_bytes);
  if (member->size > 0)
    {
      options.length = (int64_t) member->size;
      options.max_bytes = (int64_t) member->size;
    }
  if ((member->size > 0 || !walk->target->is_archive)
      && berth_file_read (walk->copy->sandbox, berth_buffer_string (&walk->inside), &options, take_data, walk, &error) < 0)
    {
      if (walk->status != 0)
        return walk->status;
      return walk->begun ? cli_report (walk->copy->cli, &error) : report (walk, &error);
    }
  if (!walk->begun && begin_file (walk) != 0)
    return walk->status;
  if (walk->taken < member->size)
    return cli_fail (walk->copy->cli, BERTH_E_CONFLICT, "%s became shorter while it was copied: got %llu bytes, want %llu",
                     berth_buffer_string (&walk->inside), (unsigned long long) walk->taken, (unsigned long long) member->size);
  walk->status = cli_copy_count (walk->copy, &walk->copy->files, member->name);
  return walk->status != 0 ? walk->status : walk->target->end (walk->target->context, member);
}

/* ---- links ---- */

static int
copy_link (struct walk *walk, const struct berth_tar_member *member)
{
  if (member->link == NULL || (!walk->target->is_archive && !cli_copy_link_stays (member->link, walk->levels - 1)))
    {
      cli_copy_leave_out (walk->copy, member->name, "a link that leads out of what is copied: %s",
                          member->link != NULL ? member->link : "its target is not told");
      return 0;
    }
  walk->status = cli_copy_count (walk->copy, &walk->copy->links, member->name);
  return walk->status != 0 ? walk->status : walk->target->link (walk->target->context, member);
}

/* ---- directories ---- */

static int copy_child (struct walk *walk, struct child *child);

static void
cut (struct berth_buffer *buffer, size_t size)
{
  if (buffer->size > size)
    buffer->data[buffer->size = size] = '\0';
}

static int
copy_children (struct walk *walk, const struct children *children)
{
  int status = 0;

  for (size_t i = 0; i < children->count && status == 0; i++)
    {
      size_t inside = walk->inside.size, name = walk->name.size;

      if (inside > 0 && walk->inside.data[inside - 1] != '/')
        berth_buffer_append_byte (&walk->inside, '/');
      berth_buffer_append_string (&walk->inside, children->items[i].name);
      if (name > 0)
        berth_buffer_append_byte (&walk->name, '/');
      berth_buffer_append_string (&walk->name, children->items[i].name);
      status = walk->inside.error != 0 || walk->name.error != 0 ? fail_memory (walk) : copy_child (walk, &children->items[i]);
      cut (&walk->inside, inside);
      cut (&walk->name, name);
    }
  return status;
}

static int
copy_directory (struct walk *walk, const struct berth_tar_member *member)
{
  struct children children BERTH_CLEANUP (children_free) = { 0 };
  struct berth_file_options options = BERTH_FILE_OPTIONS_INIT;
  struct berth_error error;
  int status;

  if (walk->levels == CLI_COPY_LEVELS)
    return cli_fail (walk->copy->cli, BERTH_E_PAYLOAD_TOO_LARGE, "%s: more than %d directories below each other",
                     berth_buffer_string (&walk->inside), CLI_COPY_LEVELS);
  options.cancel = walk->copy->cli->cancel;
  walk->list = &children;
  walk->status = 0;
  if (berth_file_list (walk->copy->sandbox, berth_buffer_string (&walk->inside), &options, take_child, walk, &error) < 0)
    return walk->status != 0 ? walk->status : report (walk, &error);
  status = cli_copy_count (walk->copy, &walk->copy->directories, member->name);
  if (status == 0)
    status = walk->target->enter (walk->target->context, member);
  walk->levels++;
  if (status == 0)
    status = copy_children (walk, &children);
  walk->levels--;
  return status != 0 ? status : walk->target->leave (walk->target->context, member);
}

static int
copy_child (struct walk *walk, struct child *child)
{
  struct berth_tar_member *member = &child->member;

  member->name = berth_buffer_string (&walk->name);
  switch (child->kind)
    {
    case BERTH_KIND_DIRECTORY:
      {
        /* The buffer moves as names are added to it. */
        BERTH_AUTO_FREE char *name = strdup (member->name);

        member->kind = BERTH_TAR_DIRECTORY;
        member->name = name;
        return name == NULL ? fail_memory (walk) : copy_directory (walk, member);
      }
    case BERTH_KIND_FILE:
      member->kind = BERTH_TAR_FILE;
      return copy_file (walk, member);
    case BERTH_KIND_SYMLINK:
      member->kind = BERTH_TAR_SYMLINK;
      member->link = child->link;
      return copy_link (walk, member);
    default:
      cli_copy_leave_out (walk->copy, member->name, "neither file, directory nor link");
      return 0;
    }
}

int
cli_copy_out (struct cli_copy *copy, const char *path, const char *name, const struct cli_copy_target *target)
{
  struct walk walk = { .copy = copy, .target = target };
  struct berth_file_options options = BERTH_FILE_OPTIONS_INIT;
  struct berth_error error;
  int status;

  options.flags = BERTH_FILE_OPTION_FOLLOW;
  options.cancel = copy->cli->cancel;
  berth_buffer_append_string (&walk.inside, path);
  berth_buffer_append_string (&walk.name, name);
  if (walk.inside.error != 0 || walk.name.error != 0)
    status = fail_memory (&walk);
  else if (berth_file_stat (copy->sandbox, path, &options, take_top, &walk, &error) < 0)
    status = walk.status != 0 ? walk.status : report (&walk, &error);
  else if (walk.top.kind != BERTH_KIND_FILE && walk.top.kind != BERTH_KIND_DIRECTORY)
    status = cli_fail (copy->cli, BERTH_E_INVALID_REQUEST, "%s is neither file nor directory", path);
  else
    status = copy_child (&walk, &walk.top);
  free (walk.top.name);
  free (walk.top.link);
  berth_buffer_free (&walk.inside);
  berth_buffer_free (&walk.name);
  return status;
}

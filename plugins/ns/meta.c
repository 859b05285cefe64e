/* meta.c - the record of a sandbox: lines of name=value, in parts with an end mark each.
 *
 * The first part is there under its name at once and whole, one more is added by one write at each
 * start and stop, whose lines hold instead of those before; what has no end mark was never written.  Nothing is synced: the host has the id on disk before anything here is
 * made, and a process that dies loses nothing that was written.  After a power cut a record may
 * be empty; then it says nothing rather than something wrong, and the sandbox is found by its
 * directory's name. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugins/ns/ns.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/clock.h"
#include "sdk/base/fd.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"

#define FIRST_LINE "berth-ns=1"
#define LAST_LINE "end=1"
#define META_LIMIT (4u << 20)

static void
free_pairs (struct berth_pair *pairs, size_t count)
{
  for (size_t i = 0; i < count; i++)
    {
      free ((char *) pairs[i].name);
      free ((char *) pairs[i].value);
    }
  free (pairs);
}

void
ns_meta_free (struct ns_meta *meta)
{
  free (meta->sandbox);
  free (meta->assignment);
  free (meta->installation);
  free (meta->out_of_memory);
  free (meta->freezer);
  free (meta->cgroups);
  free (meta->user);
  free_pairs (meta->metadata, meta->metadata_count);
  free_pairs (meta->environment, meta->environment_count);
  *meta = (struct ns_meta){ 0 };
}

static int
add_pair (struct berth_pair **pairs, size_t *count, const char *name, const char *value)
{
  struct berth_pair *grown = realloc (*pairs, (*count + 1) * sizeof *grown);

  if (grown == NULL)
    return -1;
  *pairs = grown;
  struct berth_pair *pair = &grown[(*count)++];
  *pair = (struct berth_pair){ .name = strdup (name), .value = strdup (value) };
  return pair->name != NULL && pair->value != NULL ? 0 : -1;
}

/* Those that are no secret. */
static int
add_open_pairs (struct berth_pair **pairs, size_t *count, const struct berth_pair *from, uint64_t from_count)
{
  for (uint64_t i = 0; i < from_count; i++)
    if (!(from[i].flags & BERTH_PAIR_SECRET) && add_pair (pairs, count, from[i].name, from[i].value) < 0)
      return -1;
  return 0;
}

static char *
copy (const char *text)
{
  return strdup (text != NULL ? text : "");
}

int
ns_meta_from_spec (struct ns_meta *meta, const struct berth_state *state, const struct berth_spec *spec)
{
  meta->sandbox = copy (spec->sandbox_id);
  meta->assignment = copy (spec->assignment_id);
  meta->installation = copy (spec->installation_id != NULL ? spec->installation_id : state->installation);
  meta->created_wall_ms = berth_clock_wall_ms ();
  if (meta->sandbox == NULL || meta->assignment == NULL || meta->installation == NULL)
    return -1;
  meta->forbid_root = spec->asks & BERTH_SPEC_FORBID_ROOT;
  meta->ends = spec->asks & BERTH_SPEC_TTL;
  meta->ttl_ms = meta->ends && spec->ttl_ms > 0 ? (uint64_t) spec->ttl_ms : 0;
  if (spec->asks & BERTH_SPEC_USER && (meta->user = strdup (spec->user)) == NULL)
    return -1;
  if (spec->asks & BERTH_SPEC_ENVIRONMENT
      && add_open_pairs (&meta->environment, &meta->environment_count, spec->environment, spec->environment_count) < 0)
    return -1;
  return spec->asks & BERTH_SPEC_METADATA
             ? add_open_pairs (&meta->metadata, &meta->metadata_count, spec->metadata, spec->metadata_count)
             : 0;
}

/* ---- writing ---- */

/* Only bytes that cannot end a line or a name stay as they are. */
static void
put_text (struct berth_buffer *out, const char *text)
{
  for (; *text != '\0'; text++)
    if (*text > ' ' && *text < 0x7f && *text != '%' && *text != '=')
      berth_buffer_append_byte (out, (unsigned char) *text);
    else
      berth_buffer_appendf (out, "%%%02x", (unsigned char) *text);
}

static void
put_line (struct berth_buffer *out, const char *name, const char *value)
{
  berth_buffer_appendf (out, "%s=", name);
  put_text (out, value);
  berth_buffer_append_byte (out, '\n');
}

static void
put_number (struct berth_buffer *out, const char *name, uint64_t value)
{
  berth_buffer_appendf (out, "%s=%llu\n", name, (unsigned long long) value);
}

static void
put_pairs (struct berth_buffer *out, const char *name, const struct berth_pair *pairs, size_t count)
{
  for (size_t i = 0; i < count; i++)
    {
      berth_buffer_appendf (out, "%s=", name);
      put_text (out, pairs[i].name);
      berth_buffer_append_byte (out, '=');
      put_text (out, pairs[i].value);
      berth_buffer_append_byte (out, '\n');
    }
}

static void
put_limits (struct berth_buffer *out, const struct ns_limits *limits)
{
  put_number (out, "enforced", limits->enforced);
  put_number (out, "posture", limits->posture);
  put_number (out, "memory", limits->memory);
  put_number (out, "disk", limits->disk);
  put_number (out, "tmp", limits->tmp);
  put_number (out, "shm", limits->shm);
  put_number (out, "file_size", limits->file_size);
  put_number (out, "cpu_milli", limits->cpu_milli);
  put_number (out, "pids", limits->pids);
  put_number (out, "open_files", limits->open_files);
  put_number (out, "network", limits->network);
  put_number (out, "capabilities", limits->capabilities);
}

static void
put_place (struct berth_buffer *out, const struct ns_meta *meta)
{
  put_number (out, "uid_base", meta->uid_base);
  put_number (out, "gid_base", meta->gid_base);
  if (meta->cgroups != NULL)
    put_line (out, "cgroups", meta->cgroups);
}

static void
put_meta (struct berth_buffer *out, const struct ns_meta *meta)
{
  berth_buffer_append_string (out, FIRST_LINE "\n");
  put_line (out, "sandbox", meta->sandbox);
  put_line (out, "assignment", meta->assignment);
  put_line (out, "installation", meta->installation);
  put_number (out, "created", (uint64_t) meta->created_wall_ms);
  put_pairs (out, "metadata", meta->metadata, meta->metadata_count);
  put_pairs (out, "environment", meta->environment, meta->environment_count);
  if (meta->user != NULL)
    put_line (out, "user", meta->user);
  if (meta->forbid_root)
    put_number (out, "forbid_root", 1);
  if (meta->ends)
    put_number (out, "ttl", meta->ttl_ms);
  put_limits (out, &meta->limits);
  put_place (out, meta);
  berth_buffer_append_string (out, LAST_LINE "\n");
}

static void
put_process (struct berth_buffer *out, const struct ns_meta *meta)
{
  put_place (out, meta);
  if (meta->out_of_memory != NULL)
    put_line (out, "out_of_memory", meta->out_of_memory);
  if (meta->freezer != NULL)
    put_line (out, "freezer", meta->freezer);
  put_number (out, "pid", (uint64_t) meta->pid);
  put_number (out, "pid_start", meta->pid_start);
  put_number (out, "guard", (uint64_t) meta->guard);
  put_number (out, "guard_start", meta->guard_start);
  put_line (out, "boot", meta->boot);
  put_number (out, "ready", meta->ready);
  berth_buffer_append_string (out, LAST_LINE "\n");
}

int
ns_meta_write (int box, const struct ns_meta *meta)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };

  put_meta (&text, meta);
  if (text.error != 0)
    {
      errno = text.error;
      return -1;
    }
  BERTH_AUTO_FD int fd = openat (box, "meta.new", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0 || berth_fd_write_file (fd, text.data, text.size) < 0)
    return -1;
  return renameat (box, "meta.new", box, "meta");
}

int
ns_meta_append (int box, const struct ns_meta *meta)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  BERTH_AUTO_FD int fd = openat (box, "meta", O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);

  put_process (&text, meta);
  if (text.error != 0)
    errno = text.error;
  if (fd < 0 || text.error != 0)
    return -1;
  ssize_t written = write (fd, text.data, text.size);
  if (written >= 0 && (size_t) written != text.size)
    errno = ENOSPC;
  return written == (ssize_t) text.size ? 0 : -1;
}

/* ---- reading ---- */

static int
nibble (char letter)
{
  return letter >= '0' && letter <= '9' ? letter - '0' : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

/* Undoes put_text in place; false for what it never writes. */
static bool
take_text (char *text)
{
  char *to = text;

  for (const char *from = text; *from != '\0';)
    if (*from != '%')
      *to++ = *from++;
    else
      {
        int high = nibble (from[1]), low = high >= 0 ? nibble (from[2]) : -1;
        if (low < 0 || high * 16 + low == 0)
          return false;
        *to++ = (char) (high * 16 + low);
        from += 3;
      }
  *to = '\0';
  return true;
}

static int
take_string (char **member, char *value)
{
  if (!take_text (value))
    return -1;
  free (*member); /* a later start tells it anew */
  return (*member = strdup (value)) != NULL ? 0 : -1;
}

static int
take_number (const char *name, const char *text, struct ns_meta *meta)
{
  struct
  {
    const char *name;
    void *member;
    bool wide;
  } numbers[] = {
    { "created", &meta->created_wall_ms, true },
    { "ttl", &meta->ttl_ms, true },
    { "uid_base", &meta->uid_base, false },
    { "gid_base", &meta->gid_base, false },
    { "enforced", &meta->limits.enforced, true },
    { "posture", &meta->limits.posture, true },
    { "memory", &meta->limits.memory, true },
    { "disk", &meta->limits.disk, true },
    { "tmp", &meta->limits.tmp, true },
    { "shm", &meta->limits.shm, true },
    { "file_size", &meta->limits.file_size, true },
    { "cpu_milli", &meta->limits.cpu_milli, false },
    { "pids", &meta->limits.pids, false },
    { "open_files", &meta->limits.open_files, false },
    { "network", &meta->limits.network, false },
    { "capabilities", &meta->limits.capabilities, true },
    { "pid", &meta->pid, false },
    { "pid_start", &meta->pid_start, true },
    { "guard", &meta->guard, false },
    { "guard_start", &meta->guard_start, true },
  };
  uint64_t value;

  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (strcmp (numbers[i].name, name) == 0)
      {
        if (berth_string_to_uint64 (text, 0, numbers[i].wide ? UINT64_MAX : UINT32_MAX, &value) < 0)
          return -1;
        if (numbers[i].wide)
          memcpy (numbers[i].member, &value, sizeof value);
        else
          memcpy (numbers[i].member, &(uint32_t){ (uint32_t) value }, sizeof (uint32_t));
        return 0;
      }
  return -1;
}

static int
take_pair (struct berth_pair **pairs, size_t *count, char *name)
{
  char *value = strchr (name, '=');

  if (value == NULL)
    return -1;
  *value++ = '\0';
  return take_text (name) && take_text (value) ? add_pair (pairs, count, name, value) : -1;
}

static int
take_line (struct ns_meta *meta, char *name, char *value)
{
  if (strcmp (name, "sandbox") == 0)
    return take_string (&meta->sandbox, value);
  if (strcmp (name, "assignment") == 0)
    return take_string (&meta->assignment, value);
  if (strcmp (name, "installation") == 0)
    return take_string (&meta->installation, value);
  if (strcmp (name, "out_of_memory") == 0)
    return take_string (&meta->out_of_memory, value);
  if (strcmp (name, "freezer") == 0)
    return take_string (&meta->freezer, value);
  if (strcmp (name, "cgroups") == 0)
    return take_string (&meta->cgroups, value);
  if (strcmp (name, "ready") == 0)
    {
      meta->ready = strcmp (value, "1") == 0;
      return 0;
    }
  if (strcmp (name, "boot") == 0)
    {
      if (strlen (value) != sizeof meta->boot - 1)
        return -1;
      memcpy (meta->boot, value, sizeof meta->boot);
      return 0;
    }
  if (strcmp (name, "metadata") == 0)
    return take_pair (&meta->metadata, &meta->metadata_count, value);
  if (strcmp (name, "environment") == 0)
    return take_pair (&meta->environment, &meta->environment_count, value);
  if (strcmp (name, "user") == 0)
    return take_string (&meta->user, value);
  if (strcmp (name, "forbid_root") == 0)
    {
      meta->forbid_root = true;
      return 0;
    }
  if (strcmp (name, "ttl") == 0)
    meta->ends = true;
  return take_number (name, value, meta);
}

/* Cuts off what comes after the last end mark; false when there is none. */
static bool
cut_torn_part (char *text)
{
  char *end = NULL;

  for (char *at = text; (at = strstr (at, "\n" LAST_LINE "\n")) != NULL; at++)
    end = at;
  if (end != NULL)
    end[strlen ("\n" LAST_LINE "\n")] = '\0';
  return end != NULL;
}

static int
take_meta (struct ns_meta *meta, char *text)
{
  char *save = NULL;
  char *line = cut_torn_part (text) ? strtok_r (text, "\n", &save) : NULL;

  if (line == NULL || strcmp (line, FIRST_LINE) != 0)
    return -1;
  while ((line = strtok_r (NULL, "\n", &save)) != NULL)
    {
      if (strcmp (line, LAST_LINE) == 0)
        continue;
      char *value = strchr (line, '=');
      if (value == NULL)
        return -1;
      *value++ = '\0';
      if (take_line (meta, line, value) < 0)
        return -1;
    }
  return meta->sandbox != NULL && meta->assignment != NULL && meta->installation != NULL ? 0 : -1;
}

int
ns_meta_read (int box, struct ns_meta *meta)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };

  *meta = (struct ns_meta){ 0 };
  if (berth_fs_read (box, "meta", &text, META_LIMIT) < 0)
    return -1;
  if (text.size > 0 && strlen (text.data) == text.size && take_meta (meta, text.data) == 0)
    return 0;
  ns_meta_free (meta);
  errno = EBADMSG;
  return -1;
}

int
ns_meta_find (struct berth_call *call, const struct berth_state *state, const char *id, struct ns_meta *meta)
{
  BERTH_AUTO_FD int box = -1;

  if (ns_id_is_possible (state, id))
    box = ns_box_open (state, id);
  else
    errno = ENOENT;
  if (box < 0)
    return call->services->fail (call, errno == ENOENT ? BERTH_E_SANDBOX_NOT_FOUND : BERTH_E_UNREACHABLE,
                                 "cannot find the sandbox %s: %m", id);
  if (ns_meta_read (box, meta) < 0 || !meta->ready)
    return call->services->fail (call, BERTH_E_UNREACHABLE, "the sandbox %s is only half made, or its record is damaged",
                                 id);
  return BERTH_STEAL_FD (box);
}

int
ns_meta_mend (int box)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  BERTH_AUTO_FD int fd = openat (box, "meta", O_RDWR | O_NOFOLLOW | O_CLOEXEC);

  if (fd < 0 || berth_fs_read (box, "meta", &text, META_LIMIT) < 0)
    return -1;
  size_t size = text.size;
  if (size == 0 || !cut_torn_part (text.data))
    {
      errno = EBADMSG;
      return -1;
    }
  return strlen (text.data) == size || ftruncate (fd, (off_t) strlen (text.data)) == 0 ? 0 : -1;
}

static int
open_recorded (const struct ns_meta *meta, pid_t pid, uint64_t start)
{
  char boot[37];

  if (pid > 0 && berth_boot_id (boot) < 0)
    return -1;
  if (pid <= 0 || strcmp (boot, meta->boot) != 0)
    {
      errno = ESRCH;
      return -1;
    }
  return berth_process_open (pid, start);
}

int
ns_meta_agent (const struct ns_meta *meta)
{
  return open_recorded (meta, meta->pid, meta->pid_start);
}

int
ns_meta_guard (const struct ns_meta *meta)
{
  return open_recorded (meta, meta->guard, meta->guard_start);
}

#include "conformance/suites/content.h"

#include <string.h>

#define TAR_MAX ((size_t) 512 << 20)

struct bytes
{
  const unsigned char *next;
  size_t left;
};

static int64_t
read_bytes (void *context, void *to, size_t size)
{
  struct bytes *bytes = context;
  size_t take = bytes->left < size ? bytes->left : size;

  if (take > 0)
    memcpy (to, bytes->next, take);
  bytes->next += take;
  bytes->left -= take;
  return (int64_t) take;
}

struct berth_change
suite_change (uint64_t asks)
{
  return (struct berth_change) { .struct_size = sizeof (struct berth_change), .asks = asks, .beneath = SUITE_WORKSPACE };
}

/* ---- write ---- */

uint32_t
suite_write_source (struct suite_box *box, const char *path, const struct berth_change *how,
                    const struct berth_source *source, struct berth_cancel *cancel)
{
  struct suite_call call;
  struct berth_call *made = suite_call_begin (&call, box->suite, box->native_id, cancel, 0);

  return suite_call_end (&call, box->suite->backend->files->write (made, box->handle, path, how, source), &box->error);
}

uint32_t
suite_write (struct suite_box *box, const char *path, const void *bytes, size_t size, const struct berth_change *how)
{
  struct berth_change usual = suite_change (BERTH_CHANGE_PARENTS);
  struct bytes from = { .next = bytes, .left = size };
  struct berth_source source
      = { .struct_size = sizeof source, .context = &from, .size = size, .read = read_bytes };

  return suite_write_source (box, path, how != NULL ? how : &usual, &source, NULL);
}

uint32_t
suite_write_text (struct suite_box *box, const char *path, const char *text)
{
  return suite_write (box, path, text, strlen (text), NULL);
}

/* ---- read ---- */

struct reading
{
  struct berth_buffer *bytes;
  struct suite_entry *entry;
  unsigned int infos;
  bool early; /* data came before info */
};

static void
keep_text (char *to, size_t size, const char *from, const char **member)
{
  to[0] = '\0';
  if (from != NULL)
    strncat (to, from, size - 1);
  *member = from != NULL ? to : NULL;
}

static void
keep_entry (struct suite_entry *entry, const struct berth_file_info *info)
{
  entry->info = *info;
  keep_text (entry->name, sizeof entry->name, info->name, &entry->info.name);
  keep_text (entry->owner, sizeof entry->owner, (info->has & BERTH_FILE_OWNER) != 0 ? info->owner : NULL,
             &entry->info.owner);
  keep_text (entry->group, sizeof entry->group, (info->has & BERTH_FILE_OWNER) != 0 ? info->group : NULL,
             &entry->info.group);
  keep_text (entry->link_target, sizeof entry->link_target,
             (info->has & BERTH_FILE_LINK) != 0 ? info->link_target : NULL, &entry->info.link_target);
}

static int
take_info (void *context, const struct berth_file_info *info)
{
  struct reading *reading = context;

  reading->infos++;
  if (reading->entry != NULL)
    keep_entry (reading->entry, info);
  return 0;
}

static int
take_data (void *context, const void *bytes, size_t size)
{
  struct reading *reading = context;

  reading->early = reading->early || reading->infos != 1;
  return berth_buffer_append (reading->bytes, bytes, size);
}

uint32_t
suite_read_some (struct suite_box *box, const char *path, uint64_t max_bytes, struct berth_buffer *bytes,
                 struct suite_entry *entry)
{
  struct berth_read how = { .struct_size = sizeof how, .max_bytes = max_bytes };
  struct reading reading = { .bytes = bytes, .entry = entry };
  struct berth_read_sink sink
      = { .struct_size = sizeof sink, .context = &reading, .info = take_info, .data = take_data };
  struct suite_call call;
  struct berth_call *made = suite_call_begin (&call, box->suite, box->native_id, NULL, 0);
  uint32_t code
      = suite_call_end (&call, box->suite->backend->files->read (made, box->handle, path, &how, &sink), &box->error);

  if (code == 0)
    SUITE_CHECK (box->suite, reading.infos == 1 && !reading.early, "read %s: info came %u times, or after the data", path,
                 reading.infos);
  return code;
}

uint32_t
suite_read (struct suite_box *box, const char *path, struct berth_buffer *bytes)
{
  return suite_read_some (box, path, (uint64_t) 256 << 20, bytes, NULL);
}

void
suite_check_content (struct suite_box *box, const char *path, const void *bytes, size_t size)
{
  BERTH_AUTO_BUFFER struct berth_buffer got = { 0 };
  uint32_t code = suite_read (box, path, &got);

  SUITE_CHECK_CODE (box->suite, path, code, 0);
  if (code == 0)
    SUITE_CHECK (box->suite, got.size == size && (size == 0 || memcmp (got.data, bytes, size) == 0),
                 "%s: %zu bytes that are not the %zu wanted", path, got.size, size);
}

/* ---- entries ---- */

static int
take_entry (void *context, const struct berth_file_info *info)
{
  keep_entry (context, info);
  return 0;
}

uint32_t
suite_stat (struct suite_box *box, const char *path, bool follow, struct suite_entry *entry)
{
  struct berth_read how = { .struct_size = sizeof how, .asks = follow ? BERTH_READ_FOLLOW : 0 };
  struct berth_entry_sink sink = { .struct_size = sizeof sink, .context = entry, .entry = take_entry };
  struct suite_call call;
  struct berth_call *made = suite_call_begin (&call, box->suite, box->native_id, NULL, 0);

  entry->info.kind = 0;
  return suite_call_end (&call, box->suite->backend->files->stat (made, box->handle, path, &how, &sink), &box->error);
}

struct listing
{
  void (*visit) (void *context, const struct berth_file_info *info);
  void *context;
  uint64_t count;
};

static int
take_listed (void *context, const struct berth_file_info *info)
{
  struct listing *listing = context;

  listing->count++;
  if (listing->visit != NULL)
    listing->visit (listing->context, info);
  return 0;
}

uint32_t
suite_list_files (struct suite_box *box, const char *path,
                  void (*visit) (void *context, const struct berth_file_info *info), void *context, uint64_t *count)
{
  struct berth_read how = { .struct_size = sizeof how };
  struct listing listing = { .visit = visit, .context = context };
  struct berth_entry_sink sink = { .struct_size = sizeof sink, .context = &listing, .entry = take_listed };
  struct suite_call call;
  struct berth_call *made = suite_call_begin (&call, box->suite, box->native_id, NULL, 0);
  uint32_t code
      = suite_call_end (&call, box->suite->backend->files->list (made, box->handle, path, &how, &sink), &box->error);

  if (count != NULL)
    *count = listing.count;
  return code;
}

/* ---- changes ---- */

uint32_t
suite_make_directory (struct suite_box *box, const char *path, uint64_t asks)
{
  struct berth_change how = suite_change (asks);
  struct suite_call call;
  struct berth_call *made = suite_call_begin (&call, box->suite, box->native_id, NULL, 0);

  return suite_call_end (&call, box->suite->backend->files->make_directory (made, box->handle, path, &how), &box->error);
}

uint32_t
suite_move (struct suite_box *box, const char *from, const char *to, uint64_t asks)
{
  struct berth_change how = suite_change (asks);
  struct suite_call call;
  struct berth_call *made = suite_call_begin (&call, box->suite, box->native_id, NULL, 0);

  return suite_call_end (&call, box->suite->backend->files->move (made, box->handle, from, to, &how), &box->error);
}

uint32_t
suite_remove (struct suite_box *box, const char *path, uint64_t asks)
{
  struct berth_change how = suite_change (asks);
  struct suite_call call;
  struct berth_call *made = suite_call_begin (&call, box->suite, box->native_id, NULL, 0);

  return suite_call_end (&call, box->suite->backend->files->remove (made, box->handle, path, &how), &box->error);
}

uint32_t
suite_set_attributes (struct suite_box *box, const char *path, const struct berth_change *how)
{
  struct suite_call call;
  struct berth_call *made = suite_call_begin (&call, box->suite, box->native_id, NULL, 0);

  return suite_call_end (&call, box->suite->backend->files->set_attributes (made, box->handle, path, how), &box->error);
}

/* ---- the workspace ---- */

struct taring
{
  struct berth_buffer *tar;
  struct berth_tar_report *report;
  unsigned int reports;
  bool late; /* data came after the report */
};

static int
take_tar (void *context, const void *bytes, size_t size)
{
  struct taring *taring = context;

  taring->late = taring->late || taring->reports > 0;
  return berth_buffer_append (taring->tar, bytes, size);
}

static int
take_report (void *context, const struct berth_tar_report *report)
{
  struct taring *taring = context;

  taring->reports++;
  if (taring->report != NULL)
    *taring->report = *report;
  return 0;
}

static uint32_t
export_asking (struct suite_box *box, uint64_t asks, uint64_t max_bytes, const struct berth_tar_sink *sink)
{
  struct berth_tar_limits limits
      = { .struct_size = sizeof limits, .asks = asks, .max_bytes = max_bytes, .max_entries = 100000 };
  struct suite_call call;
  struct berth_call *made = suite_call_begin (&call, box->suite, box->native_id, NULL, 0);

  return suite_call_end (&call, box->suite->backend->workspace->export_tar (made, box->handle, &limits, sink), &box->error);
}

uint32_t
suite_export_to (struct suite_box *box, uint64_t max_bytes, const struct berth_tar_sink *sink)
{
  return export_asking (box, 0, max_bytes, sink);
}

static uint32_t
export_into (struct suite_box *box, uint64_t asks, uint64_t max_bytes, struct berth_buffer *tar,
             struct berth_tar_report *report)
{
  struct taring taring = { .tar = tar, .report = report };
  struct berth_tar_sink sink
      = { .struct_size = sizeof sink, .context = &taring, .data = take_tar, .report = take_report };
  uint32_t code = export_asking (box, asks, max_bytes != 0 ? max_bytes : TAR_MAX, &sink);

  SUITE_CHECK (box->suite, taring.reports == (code == 0 ? 1 : 0) && !taring.late, "export: %u reports, result %s",
               taring.reports, suite_code_name (code));
  return code;
}

uint32_t
suite_export (struct suite_box *box, uint64_t max_bytes, struct berth_buffer *tar, struct berth_tar_report *report)
{
  return export_into (box, 0, max_bytes, tar, report);
}

uint32_t
suite_export_paused (struct suite_box *box, struct berth_buffer *tar, struct berth_tar_report *report)
{
  return export_into (box, BERTH_TAR_FROZEN, 0, tar, report);
}

uint32_t
suite_import_from (struct suite_box *box, uint64_t max_bytes, uint64_t max_entries, const struct berth_source *source)
{
  struct berth_tar_limits limits = { .struct_size = sizeof limits, .max_bytes = max_bytes, .max_entries = max_entries };
  struct suite_call call;
  struct berth_call *made = suite_call_begin (&call, box->suite, box->native_id, NULL, 0);

  return suite_call_end (&call, box->suite->backend->workspace->import_tar (made, box->handle, &limits, source),
                         &box->error);
}

uint32_t
suite_import (struct suite_box *box, const void *tar, size_t size, uint64_t max_bytes, uint64_t max_entries)
{
  struct bytes from = { .next = tar, .left = size };
  struct berth_source source
      = { .struct_size = sizeof source, .context = &from, .size = size, .read = read_bytes };

  return suite_import_from (box, max_bytes != 0 ? max_bytes : TAR_MAX, max_entries != 0 ? max_entries : 100000, &source);
}

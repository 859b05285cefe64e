/* content.h - files of a box through the files group. */
#ifndef CONFORMANCE_SUITES_CONTENT_H
#define CONFORMANCE_SUITES_CONTENT_H

#include "conformance/suites/box.h"
#include "sdk/base/buffer.h"

#define SUITE_WORKSPACE "/workspace"
#define SUITE_NAME_SIZE 4096

/* One entry, with its texts kept. */
struct suite_entry
{
  struct berth_file_info info;
  char name[SUITE_NAME_SIZE];
  char owner[64];
  char group[64];
  char link_target[SUITE_NAME_SIZE];
};

/* All of these answer 0 or the code of the error, whose text is in box->error. */

/* HOW may be NULL: missing parents are made, beneath /workspace. */
uint32_t suite_write (struct suite_box *box, const char *path, const void *bytes, size_t size,
                      const struct berth_change *how);
uint32_t suite_write_text (struct suite_box *box, const char *path, const char *text);
uint32_t suite_write_source (struct suite_box *box, const char *path, const struct berth_change *how,
                             const struct berth_source *source, struct berth_cancel *cancel);
/* Appends to BYTES; ENTRY may be NULL. */
uint32_t suite_read_some (struct suite_box *box, const char *path, uint64_t max_bytes, struct berth_buffer *bytes,
                          struct suite_entry *entry);
uint32_t suite_read (struct suite_box *box, const char *path, struct berth_buffer *bytes);
uint32_t suite_stat (struct suite_box *box, const char *path, bool follow, struct suite_entry *entry);
/* VISIT is told each entry; NULL: counted only. */
uint32_t suite_list_files (struct suite_box *box, const char *path,
                           void (*visit) (void *context, const struct berth_file_info *info), void *context,
                           uint64_t *count);
uint32_t suite_make_directory (struct suite_box *box, const char *path, uint64_t asks);
uint32_t suite_move (struct suite_box *box, const char *from, const char *to, uint64_t asks);
uint32_t suite_remove (struct suite_box *box, const char *path, uint64_t asks);
uint32_t suite_set_attributes (struct suite_box *box, const char *path, const struct berth_change *how);

/* A change beneath /workspace with these asks. */
struct berth_change suite_change (uint64_t asks);
/* The file has exactly this content; else a failure is reported. */
void suite_check_content (struct suite_box *box, const char *path, const void *bytes, size_t size);

/* /workspace as a tar, and back.  REPORT may be NULL. */
uint32_t suite_export (struct suite_box *box, uint64_t max_bytes, struct berth_buffer *tar,
                       struct berth_tar_report *report);
/* The same of one that is paused. */
uint32_t suite_export_paused (struct suite_box *box, struct berth_buffer *tar, struct berth_tar_report *report);
uint32_t suite_import (struct suite_box *box, const void *tar, size_t size, uint64_t max_bytes, uint64_t max_entries);
/* The same with a sink and a source of the caller's. */
uint32_t suite_export_to (struct suite_box *box, uint64_t max_bytes, const struct berth_tar_sink *sink);
uint32_t suite_import_from (struct suite_box *box, uint64_t max_bytes, uint64_t max_entries, const struct berth_source *source);

#endif

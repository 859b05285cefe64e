/* tar.h - archives made by hand, since no library writes hostile ones, and their names read
 * back. */
#ifndef CONFORMANCE_SUITES_TAR_H
#define CONFORMANCE_SUITES_TAR_H

#include "conformance/suites/suite.h"
#include "sdk/base/buffer.h"

#define SUITE_TAR_FILE '0'
#define SUITE_TAR_HARD_LINK '1'
#define SUITE_TAR_LINK '2'
#define SUITE_TAR_CHARACTER '3'
#define SUITE_TAR_BLOCK '4'
#define SUITE_TAR_DIRECTORY '5'
#define SUITE_TAR_FIFO '6'

struct suite_tar_entry
{
  const char *name; /* at most 100 bytes */
  char type;
  unsigned int mode;
  const char *target;  /* of links */
  const char *content; /* of files */
  uint64_t claim;      /* another size than the content has; 0: the true one */
};

void suite_tar_append (struct berth_buffer *tar, const struct suite_tar_entry *entry);
/* One more pax record KEY=VALUE. */
void suite_tar_add_record (struct berth_buffer *records, const char *key, const char *value);
/* RECORDS, whatever bytes they are, are about the entry that comes next; they are cleared. */
void suite_tar_append_records (struct berth_buffer *tar, struct berth_buffer *records);
/* The two empty blocks at the end. */
void suite_tar_end (struct berth_buffer *tar);

/* Calls VISIT with each name of a ustar or pax archive.  False when it is not one. */
bool suite_tar_names (const struct berth_buffer *tar, void (*visit) (void *context, const char *name), void *context);

#endif

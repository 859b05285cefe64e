/* tar.h - tar streams, written and read member by member. */
#ifndef BERTH_SDK_ARCHIVE_TAR_H
#define BERTH_SDK_ARCHIVE_TAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <berth/services.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What libberth-sdk shows. */
#pragma GCC visibility push(default)

enum berth_tar_kind
{
  BERTH_TAR_FILE = 1,
  BERTH_TAR_DIRECTORY = 2,
  BERTH_TAR_SYMLINK = 3,
  BERTH_TAR_FIFO = 4,
  BERTH_TAR_OTHER = 5 /* a device, a socket; is read, never written */
};

/* A run of data of a file with holes. */
struct berth_tar_run
{
  uint64_t offset;
  uint64_t length;
};

/* Names are bytes, without a slash at their end. */
struct berth_tar_member
{
  const char *name;
  enum berth_tar_kind kind;
  uint32_t mode; /* 07777 */
  uint32_t uid;
  uint32_t gid;
  const char *owner; /* or NULL; so are the next three */
  const char *group;
  const char *link;      /* target of a SYMLINK */
  const char *hard_link; /* name of an earlier member; no data follow */
  uint64_t size;
  int64_t modified_s;
  uint32_t modified_ns;
  const struct berth_tar_run *runs; /* of data, in order; none: all of it is data */
  size_t run_count;
  bool has_more; /* read: an access list or extended attributes, which are not told */
};

/* All functions return 0 or -1 after services->fail, unless said otherwise. */

/* ---- writing: POSIX pax, no compression ---- */
struct berth_tar_writer;

/* WRITE takes all of SIZE bytes; -1 when it has failed, and said why. */
struct berth_tar_output
{
  void *context;
  int (*write) (void *context, const void *bytes, size_t size);
};

/* NULL after fail. */
struct berth_tar_writer *berth_tar_writer_new (struct berth_call *call, const struct berth_tar_output *output);
int berth_tar_writer_member (struct berth_tar_writer *writer, const struct berth_tar_member *member);
/* The member's data: its SIZE bytes or, where it has runs, theirs. */
int berth_tar_writer_data (struct berth_tar_writer *writer, const void *bytes, size_t size);
/* The end of the archive. */
int berth_tar_writer_finish (struct berth_tar_writer *writer);
/* Without finish, the stream has no end and counts as cut. */
void berth_tar_writer_free (struct berth_tar_writer *writer);

/* ---- reading: ustar, pax, GNU and old tar ---- */
struct berth_tar_reader;

/* READ as that of struct berth_source. */
struct berth_tar_input
{
  void *context;
  int64_t (*read) (void *context, void *bytes, size_t size);
};

struct berth_tar_reader *berth_tar_reader_new (struct berth_call *call, const struct berth_tar_input *input);
/* 1 with the next member, valid until the next call; 0 at the end of the archive, which must be
 * marked: one that is cut is refused.  Failures name the member by number, from 1, and name. */
int berth_tar_reader_next (struct berth_tar_reader *reader, struct berth_tar_member *member);
/* 1 with the next piece of its data, in order; 0 when there is no more. */
int berth_tar_reader_data (struct berth_tar_reader *reader, const void **bytes, size_t *size, uint64_t *offset);
void berth_tar_reader_free (struct berth_tar_reader *reader);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif

/* snapshot_file.h - the file of a snapshot: a workspace's tar, packed with zstd, summed with SHA-256.
 *
 * STATE/snapshots/ID.part while it grows, ID.tar.zst once it is whole and on the disk; then it ends with
 * what it is of (snapshot_trailer.h). */
#ifndef CORE_MANAGER_SNAPSHOT_FILE_H
#define CORE_MANAGER_SNAPSHOT_FILE_H

#include <pthread.h>
#include <stdatomic.h>

#include "core/manager/codec.h"
#include "core/manager/manager.h"
#include "core/state/snapshot.h"

#define BERTH_CHECKSUM_SIZE (2 * SHA256_DIGEST_SIZE + 1)

struct berth_snapshot_writer
{
  const struct berth_codec *codec;
  ZSTD_CCtx *zstd;
  struct sha256_ctx sum;
  int directory;
  int fd;
  void *packed; /* room for what zstd gives */
  const char *id; /* the caller's */
  const char *installation;
  uint64_t tar_bytes;
  uint64_t bytes;
  struct berth_error error; /* of the first write that failed */
};

int berth_snapshot_writer_open (struct berth_host *host, const char *id, struct berth_snapshot_writer *writer,
                                struct berth_error *error);
/* A byte sink; the context is the writer. */
int berth_snapshot_writer_take (void *context, const void *bytes, size_t size);
/* Whole, on the disk and under its own name when this returns.  RECORD is what it says of itself, NULL:
 * nothing. */
int berth_snapshot_writer_finish (struct berth_snapshot_writer *writer, const struct berth_snapshot_record *record,
                                  char checksum[BERTH_CHECKSUM_SIZE], struct berth_error *error);
/* What was not finished is gone. */
void berth_snapshot_writer_clear (struct berth_snapshot_writer *writer);

struct berth_snapshot_reader
{
  const struct berth_codec *codec;
  ZSTD_DCtx *zstd;
  int fd;
  void *packed;
  ZSTD_inBuffer input;
  size_t left; /* 0: zstd has seen the end of the stream */
  uint64_t given;
  void (*progress) (void *context, const char *phase, uint64_t done, uint64_t total);
  void *progress_context;
  uint64_t total; /* for progress */
  struct berth_error error; /* of a read that failed */
  /* A thread sums the file while it is unpacked. */
  pthread_t verifier;
  bool verifies;        /* and was not waited for */
  atomic_bool given_up; /* nobody wants to know any more */
  const char *id;       /* this and CHECKSUM are the caller's */
  const char *checksum;
  struct berth_error verdict;
};
#define BERTH_AUTO_SNAPSHOT_READER BERTH_CLEANUP (berth_snapshot_reader_clear)

/* Opens the file: CONFIGURATION when it is missing, or has not BYTES.  Whether it is the one of CHECKSUM, byte for
 * byte, is found out from now on; READER, ID and CHECKSUM stay where they are until it is cleared. */
int berth_snapshot_reader_open (struct berth_host *host, const char *id, uint64_t bytes, const char *checksum,
                                struct berth_snapshot_reader *reader, struct berth_error *error);
/* A byte source; the context is the reader. */
int64_t berth_snapshot_reader_give (void *context, void *bytes, size_t size);
/* Waits for that: 0, or CONFIGURATION.  Until then nothing that was given may count. */
int berth_snapshot_reader_verdict (struct berth_snapshot_reader *reader, struct berth_error *error);
void berth_snapshot_reader_clear (struct berth_snapshot_reader *reader);

/* Removes both files of ID; missing ones are no failure. */
int berth_snapshot_file_remove (struct berth_host *host, const char *id, struct berth_error *error);
/* Calls VISIT with the id of each file that is whole, or that grows or did when its maker died. */
int berth_snapshot_file_list (struct berth_host *host, bool whole, void (*visit) (void *context, const char *id),
                              void *context, struct berth_error *error);
/* What the file of ID says of itself, when it is whole indeed, and is of this installation: a record that is
 * READY.  CONFIGURATION. */
int berth_snapshot_file_recall (struct berth_host *host, const char *id, struct berth_snapshot_record *out,
                                struct berth_error *error);

#endif

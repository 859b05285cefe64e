#include "core/manager/snapshot_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "core/manager/snapshot_trailer.h"
#include "sdk/base/fd.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"

#define DIRECTORY "snapshots"
#define WHOLE ".tar.zst"
#define GROWING ".part"
#define PIECE (256 * 1024)
#define LEVEL 3
#define WORKERS_MAX 4

/* A new name is on the disk when this returns, as what is put behind it is later. */
static int
make_directory (struct berth_host *host, const char *path, struct berth_error *error)
{
  if (mkdir (path, 0700) == 0)
    {
      BERTH_AUTO_FD int above = open (host->state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      if (above >= 0 && fsync (above) == 0)
        return 0;
    }
  else if (errno == EEXIST)
    return 0;
  return berth_error_set (error,
                          errno == ENOSPC || errno == EDQUOT ? BERTH_E_RESOURCE_EXHAUSTED : BERTH_E_CONFIGURATION,
                          "cannot make the directory of snapshots %s: %m", path);
}

static int
open_directory (struct berth_host *host, struct berth_error *error)
{
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/" DIRECTORY, host->state_dir);

  if (path == NULL)
    return berth_no_memory (error);
  if (make_directory (host, path, error) != 0)
    return -1;
  int fd = open (path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0)
    berth_error_set (error, BERTH_E_CONFIGURATION, "cannot open the directory of snapshots %s: %m", path);
  return fd;
}

static void
file_name (const char *id, const char *ending, char name[64])
{
  snprintf (name, 64, "%s%s", id, ending);
}

static int
fail_write (const char *id, struct berth_error *error)
{
  if (errno != ENOSPC && errno != EDQUOT && errno != EFBIG)
    return berth_error_set (error, BERTH_E_INTERNAL, "cannot write snapshot %s: %m", id);
  berth_error_set (error, BERTH_E_RESOURCE_EXHAUSTED, "no space in the state directory for snapshot %s", id);
  berth_error_hint (error, "`berth snapshots rm` removes what is not needed any more");
  return -1;
}

/* ---- writing ---- */

/* Without its workers zstd packs on our thread; then it is slower, and no worse. */
static int
set_up_zstd (struct berth_snapshot_writer *writer, struct berth_error *error)
{
  long processors = sysconf (_SC_NPROCESSORS_ONLN);

  if ((writer->zstd = writer->codec->ZSTD_createCCtx ()) == NULL || (writer->packed = malloc (PIECE)) == NULL)
    return berth_no_memory (error);
  writer->codec->ZSTD_CCtx_setParameter (writer->zstd, ZSTD_c_compressionLevel, LEVEL);
  writer->codec->ZSTD_CCtx_setParameter (writer->zstd, ZSTD_c_checksumFlag, 1);
  writer->codec->ZSTD_CCtx_setParameter (writer->zstd, ZSTD_c_nbWorkers,
                                         processors > WORKERS_MAX ? WORKERS_MAX : (int) processors);
  writer->codec->nettle_sha256_init (&writer->sum);
  return 0;
}

int
berth_snapshot_writer_open (struct berth_host *host, const char *id, struct berth_snapshot_writer *writer,
                            struct berth_error *error)
{
  char name[64];

  *writer = (struct berth_snapshot_writer) {
    .directory = -1, .fd = -1, .id = id, .installation = berth_store_installation_id (host->store)
  };
  if ((writer->codec = berth_codec (error)) == NULL || set_up_zstd (writer, error) != 0
      || (writer->directory = open_directory (host, error)) < 0)
    return -1;
  file_name (id, GROWING, name);
  writer->fd = openat (writer->directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  return writer->fd >= 0 ? 0 : fail_write (id, error);
}

/* Packs INPUT; at the END until all is out. */
static int
pack (struct berth_snapshot_writer *writer, ZSTD_inBuffer *input, bool end)
{
  const struct berth_codec *codec = writer->codec;
  size_t left;

  do
    {
      ZSTD_outBuffer output = { writer->packed, PIECE, 0 };
      left = codec->ZSTD_compressStream2 (writer->zstd, &output, input, end ? ZSTD_e_end : ZSTD_e_continue);
      if (codec->ZSTD_isError (left))
        return berth_error_set (&writer->error, BERTH_E_INTERNAL, "cannot pack snapshot %s: %s", writer->id,
                                codec->ZSTD_getErrorName (left));
      if (berth_fd_write_file (writer->fd, output.dst, output.pos) != 0)
        return fail_write (writer->id, &writer->error);
      codec->nettle_sha256_update (&writer->sum, output.pos, output.dst);
      writer->bytes += output.pos;
    }
  while (end ? left != 0 : input->pos < input->size);
  return 0;
}

int
berth_snapshot_writer_take (void *context, const void *bytes, size_t size)
{
  struct berth_snapshot_writer *writer = context;
  ZSTD_inBuffer input = { bytes, size, 0 };

  writer->tar_bytes += size;
  return pack (writer, &input, false);
}

static void
tell_checksum (const struct berth_codec *codec, const struct sha256_ctx *sum, char checksum[BERTH_CHECKSUM_SIZE])
{
  uint8_t digest[SHA256_DIGEST_SIZE];
  struct sha256_ctx copy = *sum; /* which the digest begins anew */

  codec->nettle_sha256_digest (&copy, sizeof digest, digest);
  for (size_t i = 0; i < sizeof digest; i++)
    snprintf (checksum + 2 * i, 3, "%02x", digest[i]);
}

static int
append_trailer (struct berth_snapshot_writer *writer, const struct berth_snapshot_record *record)
{
  BERTH_AUTO_BUFFER struct berth_buffer trailer = { 0 };
  char packed[BERTH_CHECKSUM_SIZE];

  if (record == NULL)
    return 0;
  tell_checksum (writer->codec, &writer->sum, packed);
  if (berth_snapshot_trailer_print (record, writer->installation, packed, &trailer) != 0)
    return berth_no_memory (&writer->error);
  if (berth_fd_write_file (writer->fd, trailer.data, trailer.size) != 0)
    return fail_write (writer->id, &writer->error);
  writer->codec->nettle_sha256_update (&writer->sum, trailer.size, (const uint8_t *) trailer.data);
  writer->bytes += trailer.size;
  return 0;
}

int
berth_snapshot_writer_finish (struct berth_snapshot_writer *writer, const struct berth_snapshot_record *record,
                              char checksum[BERTH_CHECKSUM_SIZE], struct berth_error *error)
{
  ZSTD_inBuffer nothing = { 0 };
  char growing[64], whole[64];

  if (pack (writer, &nothing, true) != 0 || append_trailer (writer, record) != 0)
    {
      *error = writer->error;
      return -1;
    }
  tell_checksum (writer->codec, &writer->sum, checksum);
  file_name (writer->id, GROWING, growing);
  file_name (writer->id, WHOLE, whole);
  if (fsync (writer->fd) != 0 || renameat (writer->directory, growing, writer->directory, whole) != 0
      || fsync (writer->directory) != 0)
    return fail_write (writer->id, error);
  berth_cleanup_fd (&writer->fd);
  writer->fd = -1;
  return 0;
}

void
berth_snapshot_writer_clear (struct berth_snapshot_writer *writer)
{
  char name[64];

  if (writer->fd >= 0)
    {
      file_name (writer->id, GROWING, name);
      unlinkat (writer->directory, name, 0);
    }
  berth_cleanup_fd (&writer->fd);
  berth_cleanup_fd (&writer->directory);
  if (writer->zstd != NULL)
    writer->codec->ZSTD_freeCCtx (writer->zstd);
  free (writer->packed);
  writer->zstd = NULL;
  writer->packed = NULL;
}

/* ---- reading ---- */

static int
fail_damaged (const char *id, struct berth_error *error, const char *what)
{
  berth_error_set (error, BERTH_E_CONFIGURATION, "the file of snapshot %s is damaged: %s", id, what);
  berth_error_hint (error, "nothing was changed; put a backup of the file in its place, or remove the snapshot with"
                           " `berth snapshots rm %s`", id);
  return -1;
}

static int
check_size (const struct berth_snapshot_reader *reader, uint64_t bytes, struct berth_error *error)
{
  struct stat status;
  char what[80];

  if (fstat (reader->fd, &status) != 0)
    return berth_error_set (error, BERTH_E_INTERNAL, "cannot look at snapshot %s: %m", reader->id);
  if ((uint64_t) status.st_size == bytes)
    return 0;
  snprintf (what, sizeof what, "got %" PRIu64 " bytes, want %" PRIu64, (uint64_t) status.st_size, bytes);
  return fail_damaged (reader->id, error, what);
}

/* Beside the thread that unpacks: its place in the file stays its own. */
static void *
verify (void *context)
{
  struct berth_snapshot_reader *reader = context;
  BERTH_AUTO_FREE uint8_t *piece = malloc (PIECE);
  char got[BERTH_CHECKSUM_SIZE], what[160];
  struct sha256_ctx sum;
  off_t at = 0;
  ssize_t count = 1;

  if (piece == NULL)
    {
      berth_no_memory (&reader->verdict);
      return NULL;
    }
  reader->codec->nettle_sha256_init (&sum);
  while (!atomic_load (&reader->given_up) && (count = pread (reader->fd, piece, PIECE, at)) != 0)
    if (count > 0)
      {
        reader->codec->nettle_sha256_update (&sum, (size_t) count, piece);
        at += count;
      }
    else if (errno != EINTR)
      {
        berth_error_set (&reader->verdict, BERTH_E_INTERNAL, "cannot read snapshot %s: %m", reader->id);
        return NULL;
      }
  tell_checksum (reader->codec, &sum, got);
  if (reader->checksum != NULL && strcmp (got, reader->checksum) == 0)
    return NULL;
  snprintf (what, sizeof what, "its SHA-256 begins with %.16s, want %.16s", got,
            reader->checksum != NULL ? reader->checksum : "");
  fail_damaged (reader->id, &reader->verdict, what);
  return NULL;
}

/* No signal is handled in the thread; without one it is done here and now. */
static void
begin_to_verify (struct berth_snapshot_reader *reader)
{
  sigset_t all, before;

  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &before);
  reader->verifies = pthread_create (&reader->verifier, NULL, verify, reader) == 0;
  pthread_sigmask (SIG_SETMASK, &before, NULL);
  if (!reader->verifies)
    verify (reader);
}

static void
end_verifier (struct berth_snapshot_reader *reader)
{
  if (reader->verifies)
    pthread_join (reader->verifier, NULL);
  reader->verifies = false;
}

int
berth_snapshot_reader_verdict (struct berth_snapshot_reader *reader, struct berth_error *error)
{
  end_verifier (reader);
  if (reader->verdict.code == 0)
    return 0;
  if (error != NULL)
    *error = reader->verdict;
  return -1;
}

int
berth_snapshot_reader_open (struct berth_host *host, const char *id, uint64_t bytes, const char *checksum,
                            struct berth_snapshot_reader *reader, struct berth_error *error)
{
  BERTH_AUTO_FD int directory = -1;
  char name[64];

  *reader = (struct berth_snapshot_reader) { .fd = -1, .left = 1, .id = id, .checksum = checksum };
  if ((reader->codec = berth_codec (error)) == NULL || (directory = open_directory (host, error)) < 0)
    return -1;
  if ((reader->zstd = reader->codec->ZSTD_createDCtx ()) == NULL || (reader->packed = malloc (PIECE)) == NULL)
    return berth_no_memory (error);
  file_name (id, WHOLE, name);
  if ((reader->fd = openat (directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)) < 0)
    return fail_damaged (id, error, strerror (errno));
  if (check_size (reader, bytes, error) != 0)
    return -1;
  reader->input = (ZSTD_inBuffer) { reader->packed, 0, 0 };
  begin_to_verify (reader);
  return 0;
}

/* 1 with more input, 0 at the end of the file, -1. */
static int
refill (struct berth_snapshot_reader *reader)
{
  ssize_t count = berth_fd_read_full (reader->fd, reader->packed, PIECE);

  if (count < 0)
    return berth_error_set (&reader->error, BERTH_E_INTERNAL, "cannot read the snapshot: %m");
  reader->input = (ZSTD_inBuffer) { reader->packed, (size_t) count, 0 };
  return count > 0;
}

int64_t
berth_snapshot_reader_give (void *context, void *bytes, size_t size)
{
  struct berth_snapshot_reader *reader = context;
  ZSTD_outBuffer output = { bytes, size, 0 };

  while (output.pos == 0 && reader->left != 0)
    {
      if (reader->input.pos == reader->input.size)
        {
          int more = refill (reader);
          if (more <= 0)
            return more < 0 ? -1
                            : berth_error_set (&reader->error, BERTH_E_CONFIGURATION, "the snapshot ends too early");
        }
      reader->left = reader->codec->ZSTD_decompressStream (reader->zstd, &output, &reader->input);
      if (reader->codec->ZSTD_isError (reader->left))
        return berth_error_set (&reader->error, BERTH_E_CONFIGURATION, "the snapshot cannot be unpacked: %s",
                                reader->codec->ZSTD_getErrorName (reader->left));
    }
  reader->given += output.pos;
  if (reader->progress != NULL)
    reader->progress (reader->progress_context, "restoring", reader->given, reader->total);
  return (int64_t) output.pos;
}

void
berth_snapshot_reader_clear (struct berth_snapshot_reader *reader)
{
  atomic_store (&reader->given_up, true);
  end_verifier (reader);
  berth_cleanup_fd (&reader->fd);
  if (reader->zstd != NULL)
    reader->codec->ZSTD_freeDCtx (reader->zstd);
  free (reader->packed);
  reader->zstd = NULL;
  reader->packed = NULL;
}

/* ---- all of them ---- */

int
berth_snapshot_file_remove (struct berth_host *host, const char *id, struct berth_error *error)
{
  BERTH_AUTO_FD int directory = open_directory (host, error);
  char growing[64], whole[64];

  if (directory < 0)
    return -1;
  file_name (id, GROWING, growing);
  file_name (id, WHOLE, whole);
  if ((unlinkat (directory, growing, 0) != 0 && errno != ENOENT)
      || (unlinkat (directory, whole, 0) != 0 && errno != ENOENT))
    return berth_error_set (error, BERTH_E_CONFIGURATION, "cannot remove the file of snapshot %s: %m", id);
  return 0;
}

int
berth_snapshot_file_list (struct berth_host *host, bool whole, void (*visit) (void *context, const char *id),
                          void *context, struct berth_error *error)
{
  int fd = open_directory (host, error);

  if (fd < 0)
    return -1;
  DIR *directory = fdopendir (fd);
  if (directory == NULL)
    {
      close (fd);
      return berth_no_memory (error);
    }
  for (const struct dirent *entry; (entry = readdir (directory)) != NULL;)
    {
      char id[64] = "";
      const char *dot = strchr (entry->d_name, '.');
      if (dot == NULL || strcmp (dot, whole ? WHOLE : GROWING) != 0 || (size_t) (dot - entry->d_name) >= sizeof id)
        continue;
      memcpy (id, entry->d_name, (size_t) (dot - entry->d_name));
      visit (context, id);
    }
  closedir (directory);
  return 0;
}

/* ---- what it is of ---- */

static int
sum_up (const struct berth_codec *codec, int fd, uint64_t packed, char of_packed[BERTH_CHECKSUM_SIZE],
        char of_all[BERTH_CHECKSUM_SIZE])
{
  BERTH_AUTO_FREE void *piece = malloc (PIECE);
  struct sha256_ctx sum;
  ssize_t count = 0;

  codec->nettle_sha256_init (&sum);
  while (piece != NULL && (count = berth_fd_read_full (fd, piece, packed > 0 && packed < PIECE ? packed : PIECE)) > 0)
    {
      codec->nettle_sha256_update (&sum, (size_t) count, piece);
      packed -= packed > 0 ? (uint64_t) count : 0;
      if (packed == 0 && of_packed[0] == '\0')
        tell_checksum (codec, &sum, of_packed);
    }
  tell_checksum (codec, &sum, of_all);
  return piece == NULL || count < 0 ? -1 : 0;
}

static int
check_recalled (struct berth_host *host, const char *id, struct berth_snapshot_trailer *trailer, int fd,
                struct berth_error *error)
{
  char of_packed[BERTH_CHECKSUM_SIZE] = "", of_all[BERTH_CHECKSUM_SIZE];
  const struct berth_codec *codec = berth_codec (error);

  if (codec == NULL)
    return -1;
  if (strcmp (trailer->installation, berth_store_installation_id (host->store)) != 0)
    return berth_error_set (error, BERTH_E_CONFIGURATION, "it belongs to another installation");
  if (strcmp (trailer->record.id, id) != 0)
    return berth_error_set (error, BERTH_E_CONFIGURATION, "it is of snapshot %.40s", trailer->record.id);
  if (sum_up (codec, fd, trailer->packed, of_packed, of_all) != 0)
    return berth_error_set (error, BERTH_E_CONFIGURATION, "it cannot be read: %m");
  if (strcmp (of_packed, trailer->checksum) != 0)
    return berth_error_set (error, BERTH_E_CONFIGURATION, "it is damaged: its SHA-256 begins with %.16s, want %.16s",
                            of_packed, trailer->checksum);
  trailer->record.checksum = strdup (of_all);
  return trailer->record.checksum != NULL ? 0 : berth_no_memory (error);
}

int
berth_snapshot_file_recall (struct berth_host *host, const char *id, struct berth_snapshot_record *out,
                            struct berth_error *error)
{
  BERTH_AUTO_FD int directory = open_directory (host, error);
  BERTH_AUTO_TRAILER struct berth_snapshot_trailer trailer = { 0 };
  const char *problem = NULL;
  struct stat status;
  char name[64];

  if (directory < 0)
    return -1;
  file_name (id, WHOLE, name);
  BERTH_AUTO_FD int fd = openat (directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0 || fstat (fd, &status) != 0 || !S_ISREG (status.st_mode))
    return berth_error_set (error, BERTH_E_CONFIGURATION, "it is no file that can be read");
  if (berth_snapshot_trailer_read (fd, (uint64_t) status.st_size, &trailer, &problem) != 0)
    return berth_error_set (error, BERTH_E_CONFIGURATION, "%s", problem);
  if (check_recalled (host, id, &trailer, fd, error) != 0)
    return -1;
  trailer.record.bytes = status.st_size;
  *out = trailer.record;
  trailer.record = (struct berth_snapshot_record) { 0 };
  return 0;
}

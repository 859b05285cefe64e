#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sdk/archive/library.h"
#include "sdk/archive/tar.h"

#define BLOCK_SIZE 10240
#define ZEROS_SIZE 65536

struct berth_tar_writer
{
  struct berth_call *call;
  const struct berth_libarchive *library;
  struct berth_tar_output output;
  struct archive *archive;
  struct archive_entry *entry;
  /* libarchive wants the whole file, and leaves out of it what the runs do not cover. */
  struct berth_tar_run *runs;
  size_t run_count;
  size_t run;       /* that the next byte belongs to */
  uint64_t in_run;  /* bytes of it that went already */
  uint64_t written; /* bytes of the whole file */
  uint64_t size;
  bool output_failed;
};

/* The output says itself why it fails. */
static int
fail (struct berth_tar_writer *writer, const char *what)
{
  const char *reason = writer->library->archive_error_string (writer->archive);

  if (writer->output_failed)
    return -1;
  return writer->call->services->fail (writer->call, BERTH_E_INTERNAL, "cannot write %s: %s", what,
                                       reason == NULL ? "no reason given" : reason);
}

/* libarchive is not told of a failure, since it would then not free its buffer; what comes after it
 * is dropped, and everybody who calls libarchive looks at output_failed. */
static la_ssize_t
write_output (struct archive *archive, void *context, const void *bytes, size_t size)
{
  struct berth_tar_writer *writer = context;

  (void) archive;
  if (!writer->output_failed && writer->output.write (writer->output.context, bytes, size) < 0)
    writer->output_failed = true;
  return (la_ssize_t) size;
}

struct berth_tar_writer *
berth_tar_writer_new (struct berth_call *call, const struct berth_tar_output *output)
{
  const struct berth_libarchive *library = berth_libarchive (call);
  struct berth_tar_writer *writer = library == NULL ? NULL : calloc (1, sizeof *writer);

  if (library == NULL)
    return NULL;
  if (writer != NULL)
    {
      *writer = (struct berth_tar_writer) { .call = call, .library = library, .output = *output };
      writer->archive = library->archive_write_new ();
      writer->entry = library->archive_entry_new ();
    }
  if (writer == NULL || writer->archive == NULL || writer->entry == NULL
      || library->archive_write_set_format_pax (writer->archive) != ARCHIVE_OK
      || library->archive_write_set_bytes_per_block (writer->archive, BLOCK_SIZE) != ARCHIVE_OK
      || library->archive_write_open (writer->archive, writer, NULL, write_output, NULL) != ARCHIVE_OK)
    {
      call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "no memory for an archive");
      berth_tar_writer_free (writer);
      return NULL;
    }
  return writer;
}

static mode_t
type_of (enum berth_tar_kind kind)
{
  switch (kind)
    {
    case BERTH_TAR_DIRECTORY:
      return AE_IFDIR;
    case BERTH_TAR_SYMLINK:
      return AE_IFLNK;
    case BERTH_TAR_FIFO:
      return AE_IFIFO;
    default:
      return AE_IFREG;
    }
}

static void
fill_entry (struct berth_tar_writer *writer, const struct berth_tar_member *member)
{
  const struct berth_libarchive *library = writer->library;
  struct archive_entry *entry = writer->entry;

  library->archive_entry_clear (entry);
  library->archive_entry_copy_pathname (entry, member->name);
  library->archive_entry_set_filetype (entry, type_of (member->kind));
  library->archive_entry_set_perm (entry, member->mode);
  library->archive_entry_set_uid (entry, member->uid);
  library->archive_entry_set_gid (entry, member->gid);
  library->archive_entry_copy_uname (entry, member->owner);
  library->archive_entry_copy_gname (entry, member->group);
  library->archive_entry_set_mtime (entry, (time_t) member->modified_s, (long) member->modified_ns);
  library->archive_entry_set_size (entry, (la_int64_t) writer->size);
  if (member->kind == BERTH_TAR_SYMLINK)
    library->archive_entry_copy_symlink (entry, member->link);
  if (member->hard_link != NULL)
    library->archive_entry_copy_hardlink (entry, member->hard_link);
  for (size_t i = 0; i < member->run_count; i++)
    library->archive_entry_sparse_add_entry (entry, (la_int64_t) member->runs[i].offset,
                                             (la_int64_t) member->runs[i].length);
}

static int
keep_runs (struct berth_tar_writer *writer, const struct berth_tar_member *member)
{
  free (writer->runs);
  writer->runs = NULL;
  writer->run_count = writer->run = 0;
  writer->in_run = writer->written = 0;
  writer->size = member->kind == BERTH_TAR_FILE && member->hard_link == NULL ? member->size : 0;
  if (member->run_count == 0)
    return 0;
  writer->runs = calloc (member->run_count, sizeof *writer->runs);
  if (writer->runs == NULL)
    return writer->call->services->fail (writer->call, BERTH_E_RESOURCE_EXHAUSTED, "no memory for an archive");
  memcpy (writer->runs, member->runs, member->run_count * sizeof *writer->runs);
  writer->run_count = member->run_count;
  return 0;
}

static int
write_all (struct berth_tar_writer *writer, const void *bytes, size_t size)
{
  const char *at = bytes;

  while (size > 0)
    {
      la_ssize_t taken = writer->library->archive_write_data (writer->archive, at, size);

      if (taken <= 0 || writer->output_failed)
        return fail (writer, "data");
      at += taken;
      size -= (size_t) taken;
      writer->written += (uint64_t) taken;
    }
  return 0;
}

/* libarchive writes the list of runs with the first byte of data.  Without any it leaves it out, and
 * nobody can read what follows. */
static bool
is_all_hole (const struct berth_tar_writer *writer)
{
  for (size_t i = 0; i < writer->run_count; i++)
    if (writer->runs[i].length > 0)
      return false;
  return writer->size > 0;
}

int
berth_tar_writer_member (struct berth_tar_writer *writer, const struct berth_tar_member *member)
{
  locale_t before;
  int result;

  if (keep_runs (writer, member) < 0)
    return -1;
  fill_entry (writer, member);
  before = uselocale (writer->library->writing);
  result = writer->library->archive_write_header (writer->archive, writer->entry);
  uselocale (before);
  /* A warning: the name is no UTF-8 and was marked as bytes. */
  if (writer->output_failed || (result != ARCHIVE_OK && result != ARCHIVE_WARN))
    return fail (writer, member->name);
  return writer->run_count > 0 && is_all_hole (writer) ? write_all (writer, "", 1) : 0;
}

static int
write_hole (struct berth_tar_writer *writer, uint64_t until)
{
  static const char zeros[ZEROS_SIZE];

  while (writer->written < until)
    {
      uint64_t left = until - writer->written;

      if (write_all (writer, zeros, left < sizeof zeros ? (size_t) left : sizeof zeros) < 0)
        return -1;
    }
  return 0;
}

int
berth_tar_writer_data (struct berth_tar_writer *writer, const void *bytes, size_t size)
{
  const char *at = bytes;

  if (writer->run_count == 0)
    return write_all (writer, bytes, size);
  while (size > 0 && writer->run < writer->run_count)
    {
      const struct berth_tar_run *run = &writer->runs[writer->run];
      uint64_t left = run->length - writer->in_run;
      size_t part = size < left ? size : (size_t) left;

      if (write_hole (writer, run->offset + writer->in_run) < 0 || write_all (writer, at, part) < 0)
        return -1;
      at += part;
      size -= part;
      writer->in_run += part;
      if (writer->in_run == run->length)
        {
          writer->run++;
          writer->in_run = 0;
        }
    }
  return 0;
}

int
berth_tar_writer_finish (struct berth_tar_writer *writer)
{
  if (writer->library->archive_write_close (writer->archive) != ARCHIVE_OK || writer->output_failed)
    return fail (writer, "the end of the archive");
  return 0;
}

void
berth_tar_writer_free (struct berth_tar_writer *writer)
{
  if (writer == NULL)
    return;
  writer->output_failed = true; /* freeing writes an end that was not asked for */
  if (writer->archive != NULL)
    writer->library->archive_write_free (writer->archive);
  if (writer->entry != NULL)
    writer->library->archive_entry_free (writer->entry);
  free (writer->runs);
  free (writer);
}

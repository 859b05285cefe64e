#include <stdlib.h>
#include <string.h>

#include "sdk/archive/library.h"
#include "sdk/archive/tar.h"

#define CHUNK_SIZE (256u * 1024)
#define TAR_BLOCK 512
#define RUNS_MAXIMUM 65536

struct berth_tar_reader
{
  struct berth_call *call;
  const struct berth_libarchive *library;
  struct berth_tar_input input;
  struct archive *archive;
  struct archive_entry *entry;
  uint64_t number; /* of the member, from 1 */
  uint64_t taken;  /* bytes of the input */
  bool input_failed;
  struct berth_tar_run *runs;
  char *name; /* without the slash at its end */
  char chunk[CHUNK_SIZE];
};

/* The input says itself why it fails. */
static int
fail (struct berth_tar_reader *reader)
{
  const char *reason = reader->library->archive_error_string (reader->archive);

  if (reader->input_failed)
    return -1;
  return reader->call->services->fail (reader->call, BERTH_E_INVALID_REQUEST, "the archive is damaged at entry %llu: %s",
                                       (unsigned long long) reader->number, reason == NULL ? "no reason given" : reason);
}

static la_ssize_t
read_input (struct archive *archive, void *context, const void **bytes)
{
  struct berth_tar_reader *reader = context;
  int64_t got = reader->input.read (reader->input.context, reader->chunk, sizeof reader->chunk);

  (void) archive;
  *bytes = reader->chunk;
  if (got < 0)
    reader->input_failed = true;
  else
    reader->taken += (uint64_t) got;
  return (la_ssize_t) got;
}

struct berth_tar_reader *
berth_tar_reader_new (struct berth_call *call, const struct berth_tar_input *input)
{
  const struct berth_libarchive *library = berth_libarchive (call);
  struct berth_tar_reader *reader = library == NULL ? NULL : calloc (1, sizeof *reader);

  if (library == NULL)
    return NULL;
  if (reader == NULL)
    {
      call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "no memory for an archive");
      return NULL;
    }
  reader->call = call;
  reader->library = library;
  reader->input = *input;
  reader->archive = library->archive_read_new ();
  if (reader->archive == NULL || library->archive_read_support_format_tar (reader->archive) != ARCHIVE_OK)
    {
      call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "no memory for an archive");
      berth_tar_reader_free (reader);
      return NULL;
    }
  if (library->archive_read_open (reader->archive, reader, NULL, read_input, NULL) != ARCHIVE_OK)
    {
      fail (reader);
      berth_tar_reader_free (reader);
      return NULL;
    }
  return reader;
}

static enum berth_tar_kind
kind_of (mode_t type)
{
  switch (type)
    {
    case AE_IFREG:
      return BERTH_TAR_FILE;
    case AE_IFDIR:
      return BERTH_TAR_DIRECTORY;
    case AE_IFLNK:
      return BERTH_TAR_SYMLINK;
    case AE_IFIFO:
      return BERTH_TAR_FIFO;
    default:
      return BERTH_TAR_OTHER;
    }
}

static int
fail_memory (struct berth_tar_reader *reader)
{
  return reader->call->services->fail (reader->call, BERTH_E_RESOURCE_EXHAUSTED, "no memory for entry %llu",
                                       (unsigned long long) reader->number);
}

static int
take_runs (struct berth_tar_reader *reader, struct berth_tar_member *member)
{
  size_t count = (size_t) reader->library->archive_entry_sparse_reset (reader->entry);
  la_int64_t offset, length;

  free (reader->runs);
  reader->runs = NULL;
  if (count == 0)
    return 0;
  if (count > RUNS_MAXIMUM)
    return reader->call->services->fail (reader->call, BERTH_E_INVALID_REQUEST, "entry %llu, '%s', has %zu holes",
                                         (unsigned long long) reader->number, reader->name, count);
  reader->runs = calloc (count, sizeof *reader->runs);
  if (reader->runs == NULL)
    return fail_memory (reader);
  while (member->run_count < count
         && reader->library->archive_entry_sparse_next (reader->entry, &offset, &length) == ARCHIVE_OK)
    reader->runs[member->run_count++] = (struct berth_tar_run) { (uint64_t) offset, (uint64_t) length };
  member->runs = reader->runs;
  return 0;
}

static int
take_name (struct berth_tar_reader *reader, struct berth_tar_member *member)
{
  const char *name = reader->library->archive_entry_pathname (reader->entry);
  size_t size;

  if (name == NULL)
    return reader->call->services->fail (reader->call, BERTH_E_PATH_REJECTED, "entry %llu has no name that can be read",
                                         (unsigned long long) reader->number);
  free (reader->name);
  reader->name = strdup (name);
  if (reader->name == NULL)
    return fail_memory (reader);
  for (size = strlen (reader->name); size > 1 && reader->name[size - 1] == '/'; size--)
    reader->name[size - 1] = '\0';
  member->name = reader->name;
  return 0;
}

static int
take_member (struct berth_tar_reader *reader, struct berth_tar_member *member)
{
  const struct berth_libarchive *library = reader->library;
  la_int64_t size = library->archive_entry_size (reader->entry);

  *member = (struct berth_tar_member) { 0 };
  if (take_name (reader, member) < 0)
    return -1;
  member->kind = kind_of (library->archive_entry_filetype (reader->entry));
  member->mode = (uint32_t) library->archive_entry_perm (reader->entry) & 07777;
  member->link = library->archive_entry_symlink (reader->entry);
  member->hard_link = library->archive_entry_hardlink (reader->entry);
  if (member->hard_link != NULL)
    member->kind = BERTH_TAR_FILE;
  member->modified_s = library->archive_entry_mtime (reader->entry);
  member->modified_ns = (uint32_t) library->archive_entry_mtime_nsec (reader->entry);
  member->has_more = library->archive_entry_acl_types (reader->entry) != 0 || library->archive_entry_xattr_count (reader->entry) > 0;
  member->size = member->kind == BERTH_TAR_FILE && member->hard_link == NULL && size > 0 ? (uint64_t) size : 0;
  return member->size > 0 ? take_runs (reader, member) : 0;
}

/* The end must be marked by a block of zeros. */
static int
check_end (struct berth_tar_reader *reader)
{
  la_int64_t end = reader->library->archive_read_header_position (reader->archive);

  if (end >= 0 && reader->taken >= (uint64_t) end + TAR_BLOCK)
    return 0;
  return reader->call->services->fail (reader->call, BERTH_E_INVALID_REQUEST,
                                       "the archive ends after entry %llu without its end mark: it was cut",
                                       (unsigned long long) reader->number - 1);
}

int
berth_tar_reader_next (struct berth_tar_reader *reader, struct berth_tar_member *member)
{
  locale_t before = uselocale (reader->library->reading);
  int result;

  reader->number++;
  result = reader->library->archive_read_next_header (reader->archive, &reader->entry);
  if (result == ARCHIVE_EOF)
    result = reader->input_failed ? -1 : check_end (reader);
  else if (result == ARCHIVE_OK || result == ARCHIVE_WARN)
    result = take_member (reader, member) < 0 ? -1 : 1;
  else
    result = fail (reader);
  uselocale (before);
  return result;
}

int
berth_tar_reader_data (struct berth_tar_reader *reader, const void **bytes, size_t *size, uint64_t *offset)
{
  la_int64_t at = 0;
  int result = reader->library->archive_read_data_block (reader->archive, bytes, size, &at);

  *offset = (uint64_t) at;
  if (result == ARCHIVE_EOF)
    return 0;
  return result == ARCHIVE_OK ? 1 : fail (reader);
}

void
berth_tar_reader_free (struct berth_tar_reader *reader)
{
  if (reader == NULL)
    return;
  if (reader->archive != NULL)
    reader->library->archive_read_free (reader->archive);
  free (reader->runs);
  free (reader->name);
  free (reader);
}

/* The workspace as a tar stream: entry frames to the agent and from it, tar to the host. */
#include <stdlib.h>
#include <string.h>

#include "sdk/agentlink/stream.h"
#include "sdk/archive/tar.h"
#include "sdk/base/bytes.h"

#define SET_ID_BITS 06000u

const struct berth_workspace_ops agentlink_workspace = {
  .struct_size = sizeof agentlink_workspace,
  .export_tar = agentlink_export_tar,
  .import_tar = agentlink_import_tar,
};

/* What went over the host's stream, and may. */
struct meter
{
  struct berth_call *call;
  const struct berth_tar_limits *limits;
  uint64_t bytes;
  uint64_t entries;
};

static int
count_bytes (struct meter *meter, uint64_t bytes)
{
  meter->bytes += bytes;
  if (meter->bytes <= meter->limits->max_bytes)
    return 0;
  return meter->call->services->fail (meter->call, BERTH_E_PAYLOAD_TOO_LARGE, "the archive has more than %llu bytes",
                                      (unsigned long long) meter->limits->max_bytes);
}

static int
count_entry (struct meter *meter)
{
  meter->entries++;
  if (meter->entries <= meter->limits->max_entries)
    return 0;
  return meter->call->services->fail (meter->call, BERTH_E_PAYLOAD_TOO_LARGE, "the archive has more than %llu entries",
                                      (unsigned long long) meter->limits->max_entries);
}

/* ---- export ---- */

struct exporter
{
  struct stream *stream;
  struct meter meter;
  const struct berth_tar_sink *sink;
  struct berth_tar_writer *writer;
  struct berth_tar_run *runs;
};

static int
write_sink (void *context, const void *bytes, size_t size)
{
  struct exporter *exporter = context;

  if (count_bytes (&exporter->meter, size) < 0)
    return -1;
  return exporter->sink->data (exporter->sink->context, bytes, size);
}

static enum berth_tar_kind
kind_of (uint64_t kind)
{
  switch (kind)
    {
    case WIRE_KIND_FILE:
      return BERTH_TAR_FILE;
    case WIRE_KIND_DIRECTORY:
      return BERTH_TAR_DIRECTORY;
    case WIRE_KIND_SYMLINK:
      return BERTH_TAR_SYMLINK;
    case WIRE_KIND_FIFO:
      return BERTH_TAR_FIFO;
    default:
      return BERTH_TAR_OTHER;
    }
}

static int
take_run (struct exporter *exporter, struct berth_tar_member *member, const struct wire_field *field)
{
  size_t count = member->run_count;

  if (field->size != 16)
    return -1;
  if ((count & (count - 1)) == 0)
    {
      struct berth_tar_run *larger = realloc (exporter->runs, (count == 0 ? 1 : count * 2) * sizeof *larger);

      if (larger == NULL)
        return -1;
      exporter->runs = larger;
    }
  exporter->runs[member->run_count++]
      = (struct berth_tar_run) { berth_get_u64 (field->bytes), berth_get_u64 (field->bytes + 8) };
  member->runs = exporter->runs;
  return 0;
}

static void
take_number (struct berth_tar_member *member, const struct wire_field *field)
{
  uint64_t number;

  if (wire_number (field, &number) < 0)
    return;
  switch (field->tag)
    {
    case WIRE_TAG_KIND:
      member->kind = kind_of (number);
      break;
    case WIRE_TAG_SIZE:
      member->size = number;
      break;
    case WIRE_TAG_MODE:
      member->mode = (uint32_t) number & 07777;
      break;
    case WIRE_TAG_UID:
      member->uid = (uint32_t) number;
      break;
    case WIRE_TAG_GID:
      member->gid = (uint32_t) number;
      break;
    case WIRE_TAG_MODIFIED_S:
      member->modified_s = (int64_t) number;
      break;
    case WIRE_TAG_MODIFIED_NS:
      member->modified_ns = (uint32_t) number;
      break;
    default:
      break;
    }
}

static void
take_text (struct berth_tar_member *member, const struct wire_field *field)
{
  switch (field->tag)
    {
    case WIRE_TAG_NAME:
      member->name = wire_text (field);
      break;
    case WIRE_TAG_OWNER:
      member->owner = wire_text (field);
      break;
    case WIRE_TAG_GROUP:
      member->group = wire_text (field);
      break;
    case WIRE_TAG_LINK:
      member->link = wire_text (field);
      break;
    case WIRE_TAG_HARD_LINK:
      member->hard_link = wire_text (field);
      break;
    default:
      break;
    }
}

static int
export_member (struct exporter *exporter, struct wire_reader *payload)
{
  struct berth_tar_member member = { 0 };
  struct wire_field field;
  int more;

  while ((more = wire_next (payload, &field)) > 0)
    if (field.tag == WIRE_TAG_SPARSE && take_run (exporter, &member, &field) < 0)
      return stream_fail_protocol (exporter->stream, "a hole that is none");
    else
      {
        take_text (&member, &field);
        take_number (&member, &field);
      }
  if (more < 0 || member.name == NULL || member.kind == 0 || member.kind == BERTH_TAR_OTHER
      || (member.kind == BERTH_TAR_SYMLINK && member.link == NULL))
    return stream_fail_protocol (exporter->stream, "an entry that cannot be archived");
  if (count_entry (&exporter->meter) < 0)
    return -1;
  return berth_tar_writer_member (exporter->writer, &member);
}

static int
report (struct exporter *exporter, struct wire_reader *payload)
{
  struct berth_tar_report told = { .struct_size = sizeof told,
                                   .bytes = exporter->meter.bytes,
                                   .entries = exporter->meter.entries };
  struct wire_field field;

  while (wire_next (payload, &field) > 0)
    if (field.tag == WIRE_TAG_CHANGED)
      told.has |= BERTH_TAR_CHANGED;
    else if (field.tag == WIRE_TAG_COPIED_LINKS)
      told.has |= BERTH_TAR_NO_LINKS;
    else if (field.tag == WIRE_TAG_SKIPPED)
      told.has |= BERTH_TAR_SKIPPED;
  return exporter->sink->report (exporter->sink->context, &told);
}

static int
export_all (struct exporter *exporter)
{
  struct wire_header header;
  struct wire_reader payload;
  int result = 0;

  while (result == 0)
    {
      if (stream_next (exporter->stream, &header, &payload) < 0)
        return -1;
      if (header.type == WIRE_FRAME_ENTRY)
        result = export_member (exporter, &payload);
      else if (header.type == WIRE_FRAME_DATA)
        result = berth_tar_writer_data (exporter->writer, payload.next, header.size);
      else if (header.type != WIRE_FRAME_END)
        return stream_fail_protocol (exporter->stream, "a frame that is no part of a workspace");
      else if (berth_tar_writer_finish (exporter->writer) < 0)
        return -1;
      else
        return report (exporter, &payload);
    }
  return -1;
}

int
agentlink_export_tar (struct berth_call *call, struct berth_handle *handle, const struct berth_tar_limits *limits,
                      const struct berth_tar_sink *sink)
{
  struct agentlink *link = agentlink_of (call, handle);
  struct stream stream STREAM_AUTO = STREAM_NONE;
  struct exporter exporter = { .stream = &stream, .meter = { .call = call, .limits = limits }, .sink = sink };
  const struct berth_tar_output output = { &exporter, write_sink };
  int result = -1;

  if (BERTH_REFUSE_UNKNOWN (call, TAR, limits->asks, BERTH_TAR_FROZEN) < 0)
    return -1;
  if ((limits->asks & BERTH_TAR_FROZEN) != 0)
    return call->services->fail (call, BERTH_E_WRONG_STATE, "the agent cannot export a workspace while it is frozen");
  if (stream_open (&stream, call, link, WIRE_EXPORT) < 0)
    return -1;
  exporter.writer = berth_tar_writer_new (call, &output);
  if (exporter.writer != NULL && stream_send_request (&stream, link) == 0)
    result = export_all (&exporter);
  berth_tar_writer_free (exporter.writer);
  free (exporter.runs);
  return result;
}

/* ---- import ---- */

struct importer
{
  struct stream *stream;
  struct meter meter;
  const struct berth_source *source;
  bool told_loss;
};

static int64_t
read_source (void *context, void *bytes, size_t size)
{
  struct importer *importer = context;
  int64_t got = importer->source->read (importer->source->context, bytes, size);

  if (got < 0 || count_bytes (&importer->meter, (uint64_t) got) < 0)
    return -1;
  if (got == 0 && importer->source->size != BERTH_UNKNOWN_SIZE && importer->meter.bytes < importer->source->size)
    return importer->meter.call->services->fail (importer->meter.call, BERTH_E_INVALID_REQUEST,
                                                 "the source gave %llu bytes, it said %llu",
                                                 (unsigned long long) importer->meter.bytes,
                                                 (unsigned long long) importer->source->size);
  return got;
}

static enum wire_kind
wire_kind_of (enum berth_tar_kind kind)
{
  switch (kind)
    {
    case BERTH_TAR_FILE:
      return WIRE_KIND_FILE;
    case BERTH_TAR_DIRECTORY:
      return WIRE_KIND_DIRECTORY;
    case BERTH_TAR_SYMLINK:
      return WIRE_KIND_SYMLINK;
    case BERTH_TAR_FIFO:
      return WIRE_KIND_FIFO;
    default:
      return WIRE_KIND_OTHER;
    }
}

/* tar writes "./name" for "name". */
static const char *
plain_name (const char *name)
{
  while (name != NULL && name[0] == '.' && name[1] == '/' && name[2] != '\0')
    name += 2;
  return name;
}

static void
add_member (struct berth_buffer *out, const struct berth_tar_member *member)
{
  size_t frame = wire_begin (out, WIRE_FRAME_ENTRY);

  wire_add_text (out, WIRE_TAG_NAME, plain_name (member->name));
  wire_add_number (out, WIRE_TAG_KIND, wire_kind_of (member->kind));
  wire_add_number (out, WIRE_TAG_MODE, member->mode);
  wire_add_number (out, WIRE_TAG_SIZE, member->size);
  wire_add_number (out, WIRE_TAG_MODIFIED_S, (uint64_t) member->modified_s);
  wire_add_number (out, WIRE_TAG_MODIFIED_NS, member->modified_ns);
  wire_add_text (out, WIRE_TAG_LINK, member->link);
  wire_add_text (out, WIRE_TAG_HARD_LINK, plain_name (member->hard_link));
  for (size_t i = 0; i < member->run_count; i++)
    {
      unsigned char run[16];

      berth_put_u64 (run, member->runs[i].offset);
      berth_put_u64 (run + 8, member->runs[i].length);
      wire_add (out, WIRE_TAG_SPARSE, run, sizeof run);
    }
  wire_end (out, frame);
}

/* In frames of the size that the agent takes. */
static int
add_data (struct stream *stream, const char *bytes, size_t size)
{
  while (size > 0)
    {
      size_t part = size < WIRE_DATA_MAXIMUM ? size : WIRE_DATA_MAXIMUM;

      wire_add_frame (&stream->out, WIRE_FRAME_DATA, bytes, part);
      if (stream_flush_some (stream) < 0)
        return -1;
      bytes += part;
      size -= part;
    }
  return 0;
}

/* What an untrusted archive may not bring, or a workspace does not keep; told once. */
static void
tell_loss (struct importer *importer, const struct berth_tar_member *member)
{
  struct berth_call *call = importer->meter.call;

  if (importer->told_loss || (!member->has_more && (member->mode & SET_ID_BITS) == 0))
    return;
  importer->told_loss = true;
  call->services->log (call->instance, BERTH_LOG_WARNING,
                       "entry %llu of the archive, '%s', and maybe others: set-id bits, access lists and extended "
                       "attributes are left out",
                       (unsigned long long) importer->meter.entries, member->name);
}

static int
import_member (struct importer *importer, struct berth_tar_reader *reader, const struct berth_tar_member *member)
{
  const void *bytes;
  uint64_t offset;
  size_t size;
  int more;

  if (count_entry (&importer->meter) < 0)
    return -1;
  tell_loss (importer, member);
  add_member (&importer->stream->out, member);
  if (member->size == 0)
    return stream_flush_some (importer->stream);
  while ((more = berth_tar_reader_data (reader, &bytes, &size, &offset)) > 0)
    if (add_data (importer->stream, bytes, size) < 0)
      return -1;
  return more;
}

static int
import_all (struct importer *importer, struct berth_tar_reader *reader)
{
  struct berth_tar_member member;
  struct wire_reader payload;
  int more;

  while ((more = berth_tar_reader_next (reader, &member)) > 0)
    if (import_member (importer, reader, &member) < 0)
      return -1;
  if (more < 0)
    return -1;
  wire_end (&importer->stream->out, wire_begin (&importer->stream->out, WIRE_FRAME_END));
  return stream_flush (importer->stream) < 0 ? -1 : stream_end (importer->stream, &payload);
}

int
agentlink_import_tar (struct berth_call *call, struct berth_handle *handle, const struct berth_tar_limits *limits,
                      const struct berth_source *source)
{
  struct agentlink *link = agentlink_of (call, handle);
  struct stream stream STREAM_AUTO = STREAM_NONE;
  struct importer importer = { .stream = &stream, .meter = { .call = call, .limits = limits }, .source = source };
  const struct berth_tar_input input = { &importer, read_source };
  struct berth_tar_reader *reader;
  int result = -1;

  if (BERTH_REFUSE_UNKNOWN (call, TAR, limits->asks, 0) < 0 || stream_open (&stream, call, link, WIRE_IMPORT) < 0)
    return -1;
  reader = berth_tar_reader_new (call, &input);
  if (reader != NULL && stream_send_request (&stream, link) == 0)
    result = import_all (&importer, reader);
  berth_tar_reader_free (reader);
  return result;
}

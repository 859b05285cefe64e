#include "sdk/agentlink/stream.h"

#define WRITE_ASKS                                                                                \
  (BERTH_CHANGE_MODE | BERTH_CHANGE_OWNER | BERTH_CHANGE_GROUP | BERTH_CHANGE_TIME | BERTH_CHANGE_NEW | BERTH_CHANGE_PARENTS)
#define MOVE_ASKS (BERTH_CHANGE_NEW | BERTH_CHANGE_PARENTS)
#define REMOVE_ASKS (BERTH_CHANGE_RECURSIVE | BERTH_CHANGE_MISSING_OK)
#define ATTRIBUTES_ASKS                                                                           \
  (BERTH_CHANGE_MODE | BERTH_CHANGE_OWNER | BERTH_CHANGE_GROUP | BERTH_CHANGE_TIME | BERTH_CHANGE_RECURSIVE)
#define PIECE_SIZE (64 * 1024)

const struct berth_files_ops agentlink_files = {
  .struct_size = sizeof agentlink_files,
  .read = agentlink_read,
  .write = agentlink_write,
  .list = agentlink_list,
  .stat = agentlink_stat,
  .make_directory = agentlink_make_directory,
  .move = agentlink_move,
  .remove = agentlink_remove,
  .set_attributes = agentlink_set_attributes,
};

/* ---- requests ---- */

static uint64_t
flags_of (uint64_t asks)
{
  return ((asks & BERTH_CHANGE_NEW) != 0 ? WIRE_FLAG_NEW : 0)
         | ((asks & BERTH_CHANGE_PARENTS) != 0 ? WIRE_FLAG_PARENTS : 0)
         | ((asks & BERTH_CHANGE_RECURSIVE) != 0 ? WIRE_FLAG_RECURSIVE : 0)
         | ((asks & BERTH_CHANGE_MISSING_OK) != 0 ? WIRE_FLAG_MISSING_OK : 0);
}

static void
add_change (struct berth_buffer *out, const char *path, const struct berth_change *how)
{
  wire_add_text (out, WIRE_TAG_PATH, path);
  wire_add_text (out, WIRE_TAG_BENEATH, how->beneath);
  wire_add_number (out, WIRE_TAG_FLAGS, flags_of (how->asks));
  if ((how->asks & BERTH_CHANGE_MODE) != 0)
    wire_add_number (out, WIRE_TAG_MODE, how->mode);
  if ((how->asks & BERTH_CHANGE_OWNER) != 0)
    wire_add_text (out, WIRE_TAG_OWNER, how->owner);
  if ((how->asks & BERTH_CHANGE_GROUP) != 0)
    wire_add_text (out, WIRE_TAG_GROUP, how->group);
  if ((how->asks & BERTH_CHANGE_TIME) != 0)
    wire_add_number (out, WIRE_TAG_MODIFIED_S, (uint64_t) how->modified_s);
}

/* A change that is one request and one END. */
static int
change (struct berth_call *call, struct berth_handle *handle, enum wire_operation operation, const char *path,
        const struct berth_change *how)
{
  struct agentlink *link = agentlink_of (call, handle);
  struct stream stream STREAM_AUTO = STREAM_NONE;
  struct wire_reader payload;

  if (stream_open (&stream, call, link, operation) < 0)
    return -1;
  add_change (&stream.out, path, how);
  return stream_send_request (&stream, link) < 0 ? -1 : stream_end (&stream, &payload);
}

/* ---- answers ---- */

static uint32_t
kind_of (uint64_t kind)
{
  switch (kind)
    {
    case WIRE_KIND_FILE:
      return BERTH_KIND_FILE;
    case WIRE_KIND_DIRECTORY:
      return BERTH_KIND_DIRECTORY;
    case WIRE_KIND_SYMLINK:
      return BERTH_KIND_SYMLINK;
    default:
      return BERTH_KIND_OTHER;
    }
}

static void
take_text (struct berth_file_info *info, const struct wire_field *field)
{
  switch (field->tag)
    {
    case WIRE_TAG_NAME:
      info->name = wire_text (field);
      break;
    case WIRE_TAG_OWNER:
      info->owner = wire_text (field);
      break;
    case WIRE_TAG_GROUP:
      info->group = wire_text (field);
      break;
    case WIRE_TAG_LINK:
      info->link_target = wire_text (field);
      info->has |= BERTH_FILE_LINK;
      break;
    default:
      break;
    }
}

static void
take_number (struct berth_file_info *info, const struct wire_field *field)
{
  uint64_t number;

  if (wire_number (field, &number) < 0)
    return;
  switch (field->tag)
    {
    case WIRE_TAG_KIND:
      info->kind = kind_of (number);
      break;
    case WIRE_TAG_SIZE:
      info->size = number;
      break;
    case WIRE_TAG_MODE:
      info->mode = (uint32_t) number;
      info->has |= BERTH_FILE_MODE;
      break;
    case WIRE_TAG_UID:
      info->uid = (uint32_t) number;
      info->has |= BERTH_FILE_IDS;
      break;
    case WIRE_TAG_GID:
      info->gid = (uint32_t) number;
      break;
    case WIRE_TAG_MODIFIED_S:
      info->modified_s = (int64_t) number;
      info->has |= BERTH_FILE_TIME;
      break;
    case WIRE_TAG_MODIFIED_NS:
      info->modified_ns = (uint32_t) number;
      break;
    default:
      break;
    }
}

static int
read_info (struct stream *stream, struct wire_reader *payload, struct berth_file_info *info)
{
  struct wire_field field;
  int more;

  *info = (struct berth_file_info) { .struct_size = sizeof *info };
  while ((more = wire_next (payload, &field)) > 0)
    {
      take_text (info, &field);
      take_number (info, &field);
    }
  if (more < 0 || info->name == NULL || info->kind == 0)
    return stream_fail_protocol (stream, "an entry without a name or kind");
  if (info->owner != NULL && info->group != NULL)
    info->has |= BERTH_FILE_OWNER;
  return 0;
}

/* ---- looking ---- */

static int
follow_read (struct stream *stream, const struct berth_read_sink *sink)
{
  struct wire_header header;
  struct wire_reader payload;
  struct berth_file_info info;

  if (stream_next (stream, &header, &payload) < 0)
    return -1;
  if (header.type != WIRE_FRAME_ENTRY)
    return stream_fail_protocol (stream, "a file without an entry");
  if (read_info (stream, &payload, &info) < 0 || sink->info (sink->context, &info) < 0)
    return -1;
  for (;;)
    {
      if (stream_next (stream, &header, &payload) < 0)
        return -1;
      if (header.type == WIRE_FRAME_END)
        return 0;
      if (header.type != WIRE_FRAME_DATA)
        return stream_fail_protocol (stream, "a frame that is no data");
      if (sink->data (sink->context, payload.next, header.size) < 0)
        return -1;
    }
}

int
agentlink_read (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_read *how,
                const struct berth_read_sink *sink)
{
  struct agentlink *link = agentlink_of (call, handle);
  struct stream stream STREAM_AUTO = STREAM_NONE;

  if (BERTH_REFUSE_UNKNOWN (call, READ, how->asks, BERTH_READ_RANGE | BERTH_READ_FOLLOW) < 0
      || stream_open (&stream, call, link, WIRE_READ) < 0)
    return -1;
  wire_add_text (&stream.out, WIRE_TAG_PATH, path);
  wire_add_number (&stream.out, WIRE_TAG_MAX_BYTES, how->max_bytes);
  if ((how->asks & BERTH_READ_RANGE) != 0)
    {
      wire_add_number (&stream.out, WIRE_TAG_OFFSET, how->offset);
      wire_add_number (&stream.out, WIRE_TAG_LENGTH, how->length);
    }
  return stream_send_request (&stream, link) < 0 ? -1 : follow_read (&stream, sink);
}

static int
follow_entries (struct stream *stream, const struct berth_entry_sink *sink)
{
  struct wire_header header;
  struct wire_reader payload;
  struct berth_file_info info;

  for (;;)
    {
      if (stream_next (stream, &header, &payload) < 0)
        return -1;
      if (header.type == WIRE_FRAME_END)
        return 0;
      if (header.type != WIRE_FRAME_ENTRY)
        return stream_fail_protocol (stream, "a frame that is no entry");
      if (read_info (stream, &payload, &info) < 0 || sink->entry (sink->context, &info) < 0)
        return -1;
    }
}

int
agentlink_list (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_read *how,
                const struct berth_entry_sink *sink)
{
  struct agentlink *link = agentlink_of (call, handle);
  struct stream stream STREAM_AUTO = STREAM_NONE;

  if (BERTH_REFUSE_UNKNOWN (call, READ, how->asks, BERTH_READ_FOLLOW) < 0
      || stream_open (&stream, call, link, WIRE_LIST) < 0)
    return -1;
  wire_add_text (&stream.out, WIRE_TAG_PATH, path);
  return stream_send_request (&stream, link) < 0 ? -1 : follow_entries (&stream, sink);
}

int
agentlink_stat (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_read *how,
                const struct berth_entry_sink *sink)
{
  struct agentlink *link = agentlink_of (call, handle);
  struct stream stream STREAM_AUTO = STREAM_NONE;

  if (BERTH_REFUSE_UNKNOWN (call, READ, how->asks, BERTH_READ_FOLLOW) < 0
      || stream_open (&stream, call, link, WIRE_STAT) < 0)
    return -1;
  wire_add_text (&stream.out, WIRE_TAG_PATH, path);
  if ((how->asks & BERTH_READ_FOLLOW) != 0)
    wire_add_number (&stream.out, WIRE_TAG_FLAGS, WIRE_FLAG_FOLLOW);
  return stream_send_request (&stream, link) < 0 ? -1 : follow_entries (&stream, sink);
}

/* ---- changing ---- */

/* One piece of the source into stream->out: its size, 0 at the end, or -1 after a failure. */
static int64_t
take_piece (struct stream *stream, const struct berth_source *source)
{
  struct berth_buffer *out = &stream->out;

  /* read where it is sent from: a copy in between would cost a fifth of the whole */
  if (berth_buffer_reserve (out, WIRE_HEADER_SIZE + PIECE_SIZE) < 0)
    return stream->call->services->fail (stream->call, BERTH_E_RESOURCE_EXHAUSTED, "no memory for the content");
  int64_t got = source->read (source->context, out->data + out->size + WIRE_HEADER_SIZE, PIECE_SIZE);
  if (got > 0)
    {
      wire_put_header ((unsigned char *) out->data + out->size, WIRE_FRAME_DATA, (size_t) got);
      out->size += WIRE_HEADER_SIZE + (size_t) got;
    }
  return got;
}

/* The rest of the source after its first piece, of SENT bytes. */
static int
send_source (struct stream *stream, const struct berth_source *source, int64_t sent)
{
  int64_t got = sent;
  uint64_t total = (uint64_t) sent;

  while (got > 0)
    {
      /* The next piece may take its time, unless it is known that none comes. */
      if (total != source->size && stream_flush (stream) < 0)
        return -1;
      got = take_piece (stream, source);
      if (got < 0)
        return -1;
      total += (uint64_t) got;
    }
  if (source->size != BERTH_UNKNOWN_SIZE && total != source->size)
    return stream->call->services->fail (stream->call, BERTH_E_INVALID_REQUEST,
                                         "the source gave %llu bytes, it said %llu", (unsigned long long) total,
                                         (unsigned long long) source->size);
  wire_end (&stream->out, wire_begin (&stream->out, WIRE_FRAME_END));
  return stream_flush (stream);
}

int
agentlink_write (struct berth_call *call, struct berth_handle *handle, const char *path,
                 const struct berth_change *how, const struct berth_source *source)
{
  struct agentlink *link = agentlink_of (call, handle);
  struct stream stream STREAM_AUTO = STREAM_NONE;
  struct wire_reader payload;
  int64_t first;

  if (BERTH_REFUSE_UNKNOWN (call, CHANGE, how->asks, WRITE_ASKS) < 0
      || stream_open (&stream, call, link, WIRE_WRITE) < 0)
    return -1;
  add_change (&stream.out, path, how);
  stream_close_request (&stream);
  first = take_piece (&stream, source);
  if (first < 0 || stream_connect (&stream, link) < 0)
    return -1;
  if (first == PIECE_SIZE)
    stream_widen (&stream);
  if (send_source (&stream, source, first) < 0)
    return -1;
  return stream_end (&stream, &payload);
}

int
agentlink_make_directory (struct berth_call *call, struct berth_handle *handle, const char *path,
                          const struct berth_change *how)
{
  if (BERTH_REFUSE_UNKNOWN (call, CHANGE, how->asks, WRITE_ASKS) < 0)
    return -1;
  return change (call, handle, WIRE_MAKE_DIRECTORY, path, how);
}

int
agentlink_remove (struct berth_call *call, struct berth_handle *handle, const char *path,
                  const struct berth_change *how)
{
  if (BERTH_REFUSE_UNKNOWN (call, CHANGE, how->asks, REMOVE_ASKS) < 0)
    return -1;
  return change (call, handle, WIRE_REMOVE, path, how);
}

int
agentlink_set_attributes (struct berth_call *call, struct berth_handle *handle, const char *path,
                          const struct berth_change *how)
{
  if (BERTH_REFUSE_UNKNOWN (call, CHANGE, how->asks, ATTRIBUTES_ASKS) < 0)
    return -1;
  return change (call, handle, WIRE_SET_ATTRIBUTES, path, how);
}

int
agentlink_move (struct berth_call *call, struct berth_handle *handle, const char *from, const char *to,
                const struct berth_change *how)
{
  struct agentlink *link = agentlink_of (call, handle);
  struct stream stream STREAM_AUTO = STREAM_NONE;
  struct wire_reader payload;

  if (BERTH_REFUSE_UNKNOWN (call, CHANGE, how->asks, MOVE_ASKS) < 0
      || stream_open (&stream, call, link, WIRE_MOVE) < 0)
    return -1;
  add_change (&stream.out, from, how);
  wire_add_text (&stream.out, WIRE_TAG_TO, to);
  return stream_send_request (&stream, link) < 0 ? -1 : stream_end (&stream, &payload);
}

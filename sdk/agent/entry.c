#include "sdk/agent/entry.h"

#include "sdk/base/bytes.h"

static enum wire_kind
kind_of (mode_t mode)
{
  switch (mode & S_IFMT)
    {
    case S_IFREG:
      return WIRE_KIND_FILE;
    case S_IFDIR:
      return WIRE_KIND_DIRECTORY;
    case S_IFLNK:
      return WIRE_KIND_SYMLINK;
    case S_IFIFO:
      return WIRE_KIND_FIFO;
    default:
      return WIRE_KIND_OTHER;
    }
}

void
entry_add (struct berth_buffer *out, struct accounts *accounts, const char *name, const struct stat *status,
           const char *link)
{
  wire_add_text (out, WIRE_TAG_NAME, name);
  wire_add_number (out, WIRE_TAG_KIND, kind_of (status->st_mode));
  wire_add_number (out, WIRE_TAG_SIZE, (uint64_t) status->st_size);
  wire_add_number (out, WIRE_TAG_MODE, status->st_mode & 07777);
  wire_add_number (out, WIRE_TAG_UID, status->st_uid);
  wire_add_number (out, WIRE_TAG_GID, status->st_gid);
  wire_add_text (out, WIRE_TAG_OWNER, account_user_name (accounts, status->st_uid));
  wire_add_text (out, WIRE_TAG_GROUP, account_group_name (accounts, status->st_gid));
  wire_add_number (out, WIRE_TAG_MODIFIED_S, (uint64_t) status->st_mtim.tv_sec);
  wire_add_number (out, WIRE_TAG_MODIFIED_NS, (uint64_t) status->st_mtim.tv_nsec);
  wire_add_text (out, WIRE_TAG_LINK, link);
}

void
entry_add_run (struct berth_buffer *out, const struct entry_run *run)
{
  unsigned char bytes[16];

  berth_put_u64 (bytes, run->offset);
  berth_put_u64 (bytes + 8, run->length);
  wire_add (out, WIRE_TAG_SPARSE, bytes, sizeof bytes);
}

int
entry_get_run (const struct wire_field *field, struct entry_run *run)
{
  if (field->size != 16)
    return -1;
  run->offset = berth_get_u64 (field->bytes);
  run->length = berth_get_u64 (field->bytes + 8);
  return run->offset + run->length >= run->offset ? 0 : -1;
}

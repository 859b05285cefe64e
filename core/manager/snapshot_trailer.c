#include "core/manager/snapshot_trailer.h"

#include <string.h>

#include "core/manager/ids.h"
#include "sdk/base/json.h"
#include "sdk/base/string.h"

#define MAGIC 0x184d2a5bu
#define END "BRTHSNP1"
#define END_SIZE (sizeof END - 1)
#define HEAD_SIZE 8
#define TAIL_SIZE (4 + END_SIZE)
#define JSON_MOST ((size_t) 64 * 1024)
#define FORMAT 1

static void
put_number (unsigned char to[4], uint32_t value)
{
  for (int i = 0; i < 4; i++)
    to[i] = (unsigned char) (value >> (8 * i));
}

static uint32_t
get_number (const unsigned char from[4])
{
  return from[0] | (uint32_t) from[1] << 8 | (uint32_t) from[2] << 16 | (uint32_t) from[3] << 24;
}

/* ---- writing ---- */

static struct berth_json *
describe (const struct berth_snapshot_record *record, const char *installation, const char *checksum)
{
  struct berth_json *object = berth_json_new_object ();

  berth_json_set_int64 (object, "format", FORMAT);
  berth_json_set_string (object, "installation", installation);
  berth_json_set_string (object, "id", record->id);
  berth_json_set_string (object, "name", record->name);
  berth_json_set_string (object, "owner", record->owner);
  berth_json_set_string (object, "sandbox", record->sandbox);
  berth_json_set_string (object, "backend", record->backend);
  berth_json_set_string (object, "image", record->image);
  berth_json_set_boolean (object, "consistent", record->consistent != 0);
  berth_json_set_int64 (object, "tar_bytes", record->tar_bytes);
  berth_json_set_int64 (object, "entries", record->entries);
  berth_json_set_int64 (object, "created_ms", record->created_wall_ms);
  berth_json_set_string (object, "sha256", checksum);
  return object;
}

int
berth_snapshot_trailer_print (const struct berth_snapshot_record *record, const char *installation,
                              const char *checksum, struct berth_buffer *out)
{
  BERTH_AUTO_JSON struct berth_json *object = describe (record, installation, checksum);
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  unsigned char head[HEAD_SIZE], size[4];

  if (object == NULL || berth_json_print (object, false, &text) != 0)
    return -1;
  put_number (head, MAGIC);
  put_number (head + 4, (uint32_t) (text.size + TAIL_SIZE));
  put_number (size, (uint32_t) text.size);
  return berth_buffer_append (out, head, sizeof head) != 0 || berth_buffer_append (out, text.data, text.size) != 0
                 || berth_buffer_append (out, size, sizeof size) != 0
                 || berth_buffer_append (out, END, END_SIZE) != 0
             ? -1
             : 0;
}

/* ---- reading ---- */

static bool
read_at (int fd, void *bytes, size_t size, uint64_t at)
{
  return pread (fd, bytes, size, (off_t) at) == (ssize_t) size;
}

/* The text between the two ends, which must agree. */
static bool
find_text (int fd, uint64_t size, char **text, uint32_t *length)
{
  unsigned char head[HEAD_SIZE], tail[TAIL_SIZE];

  if (size < HEAD_SIZE + TAIL_SIZE || !read_at (fd, tail, sizeof tail, size - TAIL_SIZE)
      || memcmp (tail + 4, END, END_SIZE) != 0)
    return false;
  *length = get_number (tail);
  uint64_t whole = (uint64_t) HEAD_SIZE + *length + TAIL_SIZE;
  if (*length > JSON_MOST || whole > size || !read_at (fd, head, sizeof head, size - whole)
      || get_number (head) != MAGIC || get_number (head + 4) != *length + TAIL_SIZE)
    return false;
  *text = malloc (*length + 1);
  return *text != NULL && read_at (fd, *text, *length, size - whole + HEAD_SIZE);
}

/* Copies of what is a text, NULL for what is null; false: something else, or no memory. */
static bool
take_text (const struct berth_json *object, const char *key, bool needed, char **out)
{
  const struct berth_json *value = berth_json_get (object, key);
  const char *text = berth_json_string (value);

  *out = text != NULL ? strdup (text) : NULL;
  return text != NULL ? *out != NULL : !needed && value != NULL && berth_json_kind (value) == BERTH_JSON_NULL;
}

static bool
take_number (const struct berth_json *object, const char *key, int64_t *out)
{
  return berth_json_to_int64 (berth_json_get (object, key), out) == 0 && *out >= 0;
}

static bool
take_checksum (const struct berth_json *object, char out[BERTH_CHECKSUM_SIZE])
{
  const char *text = berth_json_string (berth_json_get (object, "sha256"));

  if (text == NULL || strlen (text) != BERTH_CHECKSUM_SIZE - 1)
    return false;
  memcpy (out, text, BERTH_CHECKSUM_SIZE);
  return true;
}

static bool
take_all (const struct berth_json *object, struct berth_snapshot_trailer *out)
{
  struct berth_snapshot_record *record = &out->record;
  bool consistent = false;

  if (!take_text (object, "installation", true, &out->installation) || !take_text (object, "id", true, &record->id)
      || !take_text (object, "name", false, &record->name) || !take_text (object, "owner", true, &record->owner)
      || !take_text (object, "sandbox", true, &record->sandbox)
      || !take_text (object, "backend", true, &record->backend) || !take_text (object, "image", false, &record->image)
      || berth_json_to_boolean (berth_json_get (object, "consistent"), &consistent) != 0
      || !take_number (object, "tar_bytes", &record->tar_bytes) || !take_number (object, "entries", &record->entries)
      || !take_number (object, "created_ms", &record->created_wall_ms) || !take_checksum (object, out->checksum))
    return false;
  record->consistent = consistent;
  record->state = BERTH_SNAPSHOT_READY;
  return record->name == NULL || berth_name_check (record->name, NULL) == 0;
}

int
berth_snapshot_trailer_read (int fd, uint64_t size, struct berth_snapshot_trailer *out, const char **problem)
{
  BERTH_AUTO_FREE char *text = NULL;
  BERTH_AUTO_JSON struct berth_json *object = NULL;
  uint32_t length = 0;
  int64_t format = 0;

  *problem = "it does not say what it is of";
  if (!find_text (fd, size, &text, &length))
    return -1;
  object = berth_json_parse (text, length, JSON_MOST, NULL);
  if (berth_json_to_int64 (berth_json_get (object, "format"), &format) != 0)
    return -1;
  if (format > FORMAT)
    *problem = "it is of a newer Berth";
  if (format != FORMAT || !take_all (object, out))
    return -1;
  out->packed = size - HEAD_SIZE - length - TAIL_SIZE;
  return 0;
}

void
berth_snapshot_trailer_clear (struct berth_snapshot_trailer *trailer)
{
  berth_snapshot_record_clear (&trailer->record);
  free (trailer->installation);
  trailer->installation = NULL;
}

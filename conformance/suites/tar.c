#include "conformance/suites/tar.h"

#include <stdio.h>
#include <string.h>

#include "sdk/base/string.h"

#define BLOCK 512

/* POSIX: fields of fixed width, numbers in octal. */
struct header
{
  char name[100];
  char mode[8];
  char uid[8];
  char gid[8];
  char size[12];
  char time[12];
  char sum[8];
  char type;
  char target[100];
  char magic[8];
  char owner[32];
  char group[32];
  char major[8];
  char minor[8];
  char prefix[155];
  char rest[12];
};

static void
put_octal (char *field, size_t size, uint64_t value)
{
  char text[32];

  snprintf (text, sizeof text, "%0*llo", (int) size - 1, (unsigned long long) value);
  memcpy (field, text, size - 1);
}

static void
seal (struct header *header)
{
  const unsigned char *bytes = (const unsigned char *) header;
  unsigned int sum = 0;

  memset (header->sum, ' ', sizeof header->sum);
  for (size_t i = 0; i < sizeof *header; i++)
    sum += bytes[i];
  snprintf (header->sum, sizeof header->sum, "%06o", sum);
}

static void
append (struct berth_buffer *tar, const struct suite_tar_entry *entry, const void *content, size_t size)
{
  static const char zeros[BLOCK];
  struct header header = { .type = entry->type };

  memcpy (header.magic, "ustar\00000", 8);
  memcpy (header.name, entry->name, strnlen (entry->name, sizeof header.name));
  if (entry->target != NULL)
    memcpy (header.target, entry->target, strnlen (entry->target, sizeof header.target));
  put_octal (header.mode, sizeof header.mode, entry->mode);
  put_octal (header.uid, sizeof header.uid, 0);
  put_octal (header.gid, sizeof header.gid, 0);
  put_octal (header.size, sizeof header.size, entry->claim != 0 ? entry->claim : size);
  put_octal (header.time, sizeof header.time, 1000000000);
  put_octal (header.major, sizeof header.major, 1);
  put_octal (header.minor, sizeof header.minor, 3);
  strcpy (header.owner, "root");
  strcpy (header.group, "root");
  seal (&header);
  berth_buffer_append (tar, &header, sizeof header);
  berth_buffer_append (tar, content, size);
  berth_buffer_append (tar, zeros, (BLOCK - size % BLOCK) % BLOCK);
}

void
suite_tar_append (struct berth_buffer *tar, const struct suite_tar_entry *entry)
{
  append (tar, entry, entry->content, entry->content != NULL ? strlen (entry->content) : 0);
}

void
suite_tar_append_records (struct berth_buffer *tar, struct berth_buffer *records)
{
  append (tar, &(const struct suite_tar_entry) { .name = "records", .type = 'x', .mode = 0644 }, records->data, records->size);
  berth_buffer_clear (records);
}

void
suite_tar_add_record (struct berth_buffer *records, const char *key, const char *value)
{
  size_t rest = strlen (key) + strlen (value) + 3;
  size_t size = rest + 1;

  /* A record tells its size, the digits of that included. */
  while ((size_t) snprintf (NULL, 0, "%zu", size) + rest > size)
    size++;
  BERTH_AUTO_FREE char *record = berth_string_format ("%zu %s=%s\n", size, key, value);
  berth_buffer_append_string (records, record);
}

void
suite_tar_end (struct berth_buffer *tar)
{
  static const char zeros[2 * BLOCK];

  berth_buffer_append (tar, zeros, sizeof zeros);
}

/* ---- reading ---- */

/* Sizes above 8 GiB are binary; no test has one. */
static uint64_t
get_octal (const char *field, size_t size)
{
  uint64_t value = 0;

  for (size_t i = 0; i < size && field[i] >= '0' && field[i] <= '7'; i++)
    value = value * 8 + (uint64_t) (field[i] - '0');
  return value;
}

/* The value of KEY among the pax records, into VALUE. */
static void
find_record (const char *records, size_t size, const char *key, char *value, size_t room)
{
  size_t length = strlen (key);

  for (size_t at = 0; at < size;)
    {
      size_t record = 0;
      size_t digits = 0;

      while (at + digits < size && records[at + digits] >= '0' && records[at + digits] <= '9')
        record = record * 10 + (size_t) (records[at + digits++] - '0');
      if (record <= digits + length + 3 || at + record > size)
        return;
      if (memcmp (records + at + digits + 1, key, length) == 0 && records[at + digits + 1 + length] == '=')
        snprintf (value, room, "%.*s", (int) (record - digits - length - 3), records + at + digits + 2 + length);
      at += record;
    }
}

static void
header_name (const struct header *header, const char *pax, char *name, size_t room)
{
  if (pax[0] != '\0')
    snprintf (name, room, "%s", pax);
  else if (header->prefix[0] != '\0')
    snprintf (name, room, "%.155s/%.100s", header->prefix, header->name);
  else
    snprintf (name, room, "%.100s", header->name);
}

bool
suite_tar_names (const struct berth_buffer *tar, void (*visit) (void *context, const char *name), void *context)
{
  char pax[4096] = "";
  char name[4096];

  for (size_t at = 0; at + BLOCK <= tar->size;)
    {
      struct header header;
      uint64_t size;

      memcpy (&header, tar->data + at, sizeof header);
      if (header.name[0] == '\0')
        return true;
      size = get_octal (header.size, sizeof header.size);
      if (memcmp (header.magic, "ustar", 5) != 0 || size > tar->size - at - BLOCK)
        return false;
      if (header.type == 'x')
        find_record (tar->data + at + BLOCK, size, "path", pax, sizeof pax);
      else if (header.type != 'g')
        {
          header_name (&header, pax, name, sizeof name);
          visit (context, name);
          pax[0] = '\0';
        }
      at += BLOCK + (size + BLOCK - 1) / BLOCK * BLOCK;
    }
  return false;
}

/* Mutations of tar archives that keep their checksums right, or nothing behind the first check would
 * ever be reached, and that put in entries made of few names, so that they meet. */
#include <stdio.h>
#include <string.h>

#include "sdk/agentlink/fuzz/import.h"
#include "sdk/base/tests/random.h"

#define BLOCK 512u
#define NAME_OFFSET 0u
#define SIZE_OFFSET 124u
#define SUM_OFFSET 148u
#define TYPE_OFFSET 156u
#define LINK_OFFSET 157u
#define NAME_SIZE 100
#define ENTRY_MAXIMUM (4 * BLOCK)

static const char *const parts[]
    = { "..", ".", "", "l", "m", "d", "d", "f", "tmp", "etc", "outside", "workspace", "passwd", "file", "\xff\x01" };
static const char types[] = "00000112222235555667xxgLKS\0Z";

static void
make_name (uint32_t *random, char *name)
{
  uint32_t what = berth_test_random (random);
  size_t count = 1 + what % 3;
  int size = snprintf (name, NAME_SIZE, "%s", what / 16 % 8 == 0 ? "/" : "");

  for (size_t i = 0; i < count; i++)
    size += snprintf (name + size, (size_t) (NAME_SIZE - size), "%s%s",
                      parts[berth_test_random (random) % (sizeof parts / sizeof *parts)], i + 1 < count ? "/" : "");
  if (what / 128 % 16 == 0)
    snprintf (name + size, (size_t) (NAME_SIZE - size), "/");
}

static uint64_t
claimed_size (const uint8_t *header)
{
  uint64_t size = 0;

  for (size_t i = SIZE_OFFSET; i < SIZE_OFFSET + 12 && header[i] >= '0' && header[i] <= '7'; i++)
    size = size * 8 + (uint64_t) (header[i] - '0');
  return size;
}

static bool
is_end (const uint8_t *header)
{
  static const uint8_t zeros[BLOCK];

  return memcmp (header, zeros, BLOCK) == 0;
}

/* Where the header behind that at AT lies; SIZE when there is none. */
static size_t
next_header (const uint8_t *bytes, size_t size, size_t at)
{
  uint64_t data = (claimed_size (bytes + at) + BLOCK - 1) / BLOCK * BLOCK;

  return data > size - at - BLOCK ? size : at + BLOCK + (size_t) data;
}

static void
seal (uint8_t *bytes, size_t size)
{
  for (size_t at = 0; at + BLOCK <= size && !is_end (bytes + at); at = next_header (bytes, size, at))
    {
      unsigned int sum = 0;

      memset (bytes + at + SUM_OFFSET, ' ', 8);
      for (size_t i = 0; i < BLOCK; i++)
        sum += bytes[at + i];
      snprintf ((char *) bytes + at + SUM_OFFSET, 8, "%06o", sum);
    }
}

/* One of the headers, or the place behind them. */
static size_t
choose_header (uint32_t *random, const uint8_t *bytes, size_t size)
{
  size_t count = berth_test_random (random) % 8;
  size_t at = 0;

  while (count-- > 0 && at + BLOCK <= size && !is_end (bytes + at))
    at = next_header (bytes, size, at);
  return at;
}

/* What the extended header of TYPE says of the next entry; else bytes of a file. */
static size_t
make_content (uint32_t *random, char type, char *content)
{
  static const char *const keys[] = { "path", "linkpath", "size", "GNU.sparse.name", "GNU.sparse.map", "mtime" };
  char name[NAME_SIZE] = "";
  int length;

  make_name (random, name);
  if (type == 'L' || type == 'K')
    return (size_t) snprintf (content, BLOCK, "%s", name) + 1;
  if (type == 'x' || type == 'g')
    {
      const char *key = keys[berth_test_random (random) % (sizeof keys / sizeof *keys)];

      length = (int) (strlen (key) + strlen (name)) + 3;
      length += length + 2 > 99 ? 3 : length + 1 > 9 ? 2 : 1;
      return (size_t) snprintf (content, BLOCK, "%d %s=%s\n", length, key, name);
    }
  memset (content, 'x', BLOCK);
  return type == '0' ? berth_test_random (random) % BLOCK : 0;
}

static void
name_header (uint32_t *random, uint8_t *header)
{
  char name[NAME_SIZE] = "";

  make_name (random, name);
  memcpy (header + NAME_OFFSET, name, NAME_SIZE);
  make_name (random, name);
  memcpy (header + LINK_OFFSET, name, NAME_SIZE);
  header[TYPE_OFFSET] = (uint8_t) types[berth_test_random (random) % (sizeof types - 1)];
}

static size_t
make_entry (uint32_t *random, uint8_t *entry)
{
  uint32_t what = berth_test_random (random);
  size_t size;

  memset (entry, 0, ENTRY_MAXIMUM);
  name_header (random, entry);
  size = make_content (random, (char) entry[TYPE_OFFSET], (char *) entry + BLOCK);
  snprintf ((char *) entry + 100, 8, "%07o", what % 010000);
  snprintf ((char *) entry + 108, 8, "%07o", 0);
  snprintf ((char *) entry + 116, 8, "%07o", 0);
  snprintf ((char *) entry + SIZE_OFFSET, 12, "%011llo", (unsigned long long) size);
  snprintf ((char *) entry + 136, 12, "%011o", what >> 12);
  memcpy (entry + 257, what % 3 == 0 ? "ustar  \0" : "ustar\00000", 8);
  return BLOCK + (size + BLOCK - 1) / BLOCK * BLOCK;
}

/* Puts it before a header, and the end of an archive behind all where there was none. */
static size_t
insert_entry (uint32_t *random, uint8_t *bytes, size_t size, size_t room)
{
  uint8_t entry[ENTRY_MAXIMUM];
  size_t length = make_entry (random, entry);
  size_t at = choose_header (random, bytes, size);
  bool is_new = size < BLOCK;

  if (is_new)
    size = at = 0;
  if (size + length + (is_new ? 2 * BLOCK : 0) > room)
    return size;
  memmove (bytes + at + length, bytes + at, size - at);
  memcpy (bytes + at, entry, length);
  size += length;
  if (is_new)
    {
      memset (bytes + size, 0, 2 * BLOCK);
      size += 2 * BLOCK;
    }
  return size;
}

size_t
LLVMFuzzerCustomMutator (uint8_t *bytes, size_t size, size_t room, unsigned int seed)
{
  uint32_t random = seed * 2654435761u | 1u;
  size_t at;

  switch (berth_test_random (&random) % 4)
    {
    case 0:
      size = LLVMFuzzerMutate (bytes, size, room);
      break;
    case 1:
      at = choose_header (&random, bytes, size);
      if (at + BLOCK <= size && !is_end (bytes + at))
        name_header (&random, bytes + at);
      break;
    default:
      size = insert_entry (&random, bytes, size, room);
    }
  seal (bytes, size);
  return size;
}

/* tar streams without an agent. */
#include <stdlib.h>
#include <string.h>

#include "sdk/agentlink/tests/support.h"
#include "sdk/archive/tar.h"
#include "sdk/base/tests/runner.h"

static int
append (void *context, const void *bytes, size_t size)
{
  return berth_buffer_append (context, bytes, size);
}

static int
refuse (void *context, const void *bytes, size_t size)
{
  struct recorded *recorded = context;

  (void) bytes;
  (void) size;
  return recorded->call.services->fail (&recorded->call, BERTH_E_CANCELLED, "the reader went");
}

static int64_t
read_memory (void *context, void *bytes, size_t size)
{
  struct memory *memory = context;
  size_t left = memory->size - memory->taken;

  if (size > left)
    size = left;
  memcpy (bytes, memory->bytes + memory->taken, size);
  memory->taken += size;
  return (int64_t) size;
}

static void
write_archive (struct recorded *recorded, struct berth_buffer *tar, const struct berth_tar_member *members, size_t count)
{
  const struct berth_tar_output output = { tar, append };
  struct berth_tar_writer *writer = berth_tar_writer_new (&recorded->call, &output);

  CU_ASSERT_PTR_NOT_NULL_FATAL (writer);
  for (size_t i = 0; i < count; i++)
    CU_ASSERT_EQUAL (berth_tar_writer_member (writer, &members[i]), 0);
  CU_ASSERT_EQUAL (berth_tar_writer_finish (writer), 0);
  berth_tar_writer_free (writer);
}

static void
test_names (void)
{
  static const struct berth_tar_member members[] = {
    { .name = "\xff\xfe", .kind = BERTH_TAR_DIRECTORY, .mode = 0700, .modified_s = -7, .modified_ns = 9 },
    { .name = "e\xcc\x81", .kind = BERTH_TAR_SYMLINK, .mode = 0777, .link = "\xc3\xa9/\xff" },
    { .name = "new\nline", .kind = BERTH_TAR_FIFO, .mode = 01666, .modified_s = 1LL << 40 },
    { .name = "hard", .kind = BERTH_TAR_FILE, .hard_link = "e\xcc\x81" },
  };
  BERTH_AUTO_BUFFER struct berth_buffer tar = { 0 };
  struct berth_tar_member member;
  struct berth_tar_reader *reader;
  struct recorded recorded;
  struct memory memory;
  const struct berth_tar_input input = { &memory, read_memory };

  recorded_start (&recorded);
  write_archive (&recorded, &tar, members, 4);
  memory = (struct memory) { tar.data, tar.size, 0, 0 };
  reader = berth_tar_reader_new (&recorded.call, &input);
  CU_ASSERT_PTR_NOT_NULL_FATAL (reader);
  for (size_t i = 0; i < 4; i++)
    {
      CU_ASSERT_EQUAL_FATAL (berth_tar_reader_next (reader, &member), 1);
      CU_ASSERT_STRING_EQUAL (member.name, members[i].name);
      CU_ASSERT_EQUAL (member.kind, members[i].kind);
      CU_ASSERT_EQUAL (member.modified_s, members[i].modified_s);
      CU_ASSERT_EQUAL (member.modified_ns, members[i].modified_ns);
      if (members[i].link != NULL)
        CU_ASSERT_STRING_EQUAL (member.link, members[i].link);
      if (members[i].hard_link != NULL)
        CU_ASSERT_STRING_EQUAL (member.hard_link, members[i].hard_link);
    }
  CU_ASSERT_EQUAL (berth_tar_reader_next (reader, &member), 0);
  berth_tar_reader_free (reader);
}

static void
test_empty (void)
{
  BERTH_AUTO_BUFFER struct berth_buffer tar = { 0 };
  struct berth_tar_member member;
  struct berth_tar_reader *reader;
  struct recorded recorded;
  struct memory memory;
  const struct berth_tar_input input = { &memory, read_memory };

  recorded_start (&recorded);
  write_archive (&recorded, &tar, NULL, 0);
  for (size_t size = 0; size <= tar.size; size += tar.size)
    {
      memory = (struct memory) { tar.data, size, 0, 0 };
      reader = berth_tar_reader_new (&recorded.call, &input);
      /* An archive of nothing is one; nothing is no archive. */
      CU_ASSERT_EQUAL (reader == NULL ? -1 : berth_tar_reader_next (reader, &member), size == 0 ? -1 : 0);
      berth_tar_reader_free (reader);
    }
}

/* A file that is one hole keeps its size, and what comes after it can be read. */
static void
test_all_hole (void)
{
  static const struct berth_tar_run run = { 1 << 20, 0 };
  static const struct berth_tar_member members[] = {
    { .name = "hole", .kind = BERTH_TAR_FILE, .mode = 0644, .size = 1 << 20, .runs = &run, .run_count = 1 },
    { .name = "after", .kind = BERTH_TAR_DIRECTORY, .mode = 0755 },
  };
  BERTH_AUTO_BUFFER struct berth_buffer tar = { 0 };
  struct berth_tar_member member;
  struct berth_tar_reader *reader;
  struct recorded recorded;
  struct memory memory;
  const struct berth_tar_input input = { &memory, read_memory };

  recorded_start (&recorded);
  write_archive (&recorded, &tar, members, 2);
  memory = (struct memory) { tar.data, tar.size, 0, 0 };
  reader = berth_tar_reader_new (&recorded.call, &input);
  CU_ASSERT_PTR_NOT_NULL_FATAL (reader);
  CU_ASSERT_EQUAL_FATAL (berth_tar_reader_next (reader, &member), 1);
  CU_ASSERT_EQUAL (member.size, 1 << 20);
  CU_ASSERT_EQUAL_FATAL (berth_tar_reader_next (reader, &member), 1);
  CU_ASSERT_STRING_EQUAL (member.name, "after");
  CU_ASSERT_EQUAL (berth_tar_reader_next (reader, &member), 0);
  berth_tar_reader_free (reader);
}

static void
test_failing_output (void)
{
  struct berth_tar_member member = { .name = "f", .kind = BERTH_TAR_FILE, .size = 1 << 20 };
  struct recorded recorded;
  const struct berth_tar_output output = { &recorded, refuse };
  struct berth_tar_writer *writer;
  static const char bytes[65536];

  recorded_start (&recorded);
  writer = berth_tar_writer_new (&recorded.call, &output);
  CU_ASSERT_PTR_NOT_NULL_FATAL (writer);
  CU_ASSERT_EQUAL (berth_tar_writer_member (writer, &member), 0);
  CU_ASSERT_EQUAL (berth_tar_writer_data (writer, bytes, sizeof bytes), -1);
  CU_ASSERT_EQUAL (berth_tar_writer_finish (writer), -1);
  CU_ASSERT_EQUAL (recorded.code, BERTH_E_CANCELLED); /* the output's own reason, not another */
  berth_tar_writer_free (writer);
}

static const struct berth_test tests[] = {
  { "W01 names are bytes, times exact", test_names },
  { "W03 an empty archive, and none", test_empty },
  { "D-075 a file that is one hole", test_all_hole },
  { "an output that fails says why", test_failing_output },
  { NULL, NULL },
};

int
main (void)
{
  return berth_test_main ("tar", tests);
}

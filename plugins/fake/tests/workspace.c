#include <fcntl.h>

#include "plugins/fake/tests/host.h"
#include "sdk/archive/tar.h"
#include "sdk/base/string.h"

/* --- what the backend gives and takes -------------------------------------------------------------------- */

struct archive
{
  struct berth_buffer bytes;
  struct berth_tar_report report;
  unsigned int reports;
};

static int
take_data (void *context, const void *bytes, size_t size)
{
  return berth_buffer_append (&((struct archive *) context)->bytes, bytes, size);
}

static int
take_report (void *context, const struct berth_tar_report *report)
{
  struct archive *archive = context;

  archive->report = *report;
  archive->reports++;
  return 0;
}

static int
export (struct host *host, struct berth_handle *handle, uint64_t asks, uint64_t max_bytes, struct archive *archive)
{
  struct berth_tar_limits limits
      = { .struct_size = sizeof limits, .asks = asks, .max_bytes = max_bytes, .max_entries = 1000 };
  struct berth_tar_sink sink = { sizeof sink, 0, archive, take_data, take_report };

  berth_buffer_clear (&archive->bytes);
  archive->reports = 0;
  return host->backend->workspace->export_tar (host_call (host), handle, &limits, &sink);
}

static int
import (struct host *host, struct berth_handle *handle, const struct berth_buffer *archive)
{
  struct berth_tar_limits limits = { .struct_size = sizeof limits, .max_bytes = 1 << 20, .max_entries = 1000 };
  struct bytes bytes = { archive->data, archive->size, 0 };
  struct berth_source source = bytes_source (&bytes);

  return host->backend->workspace->import_tar (host_call (host), handle, &limits, &source);
}

/* An archive of one entry, made by the test. */
static int
write_bytes (void *context, const void *bytes, size_t size)
{
  return berth_buffer_append (context, bytes, size);
}

static void
make_archive (struct host *host, struct berth_buffer *out, const struct berth_tar_member *members, size_t count)
{
  struct berth_tar_output output = { out, write_bytes };
  struct berth_tar_writer *writer = berth_tar_writer_new (host_call (host), &output);

  berth_buffer_clear (out);
  CU_ASSERT_PTR_NOT_NULL_FATAL (writer);
  for (size_t i = 0; i < count; i++)
    {
      CU_ASSERT_EQUAL (berth_tar_writer_member (writer, &members[i]), 0);
      if (members[i].size > 0)
        CU_ASSERT_EQUAL (berth_tar_writer_data (writer, "content", members[i].size), 0);
    }
  CU_ASSERT_EQUAL (berth_tar_writer_finish (writer), 0);
  berth_tar_writer_free (writer);
}

static void
test_round_trip (void)
{
  static const struct berth_tar_member members[] = {
    { .name = "d", .kind = BERTH_TAR_DIRECTORY, .mode = 0700, .modified_s = 1000 },
    { .name = "d/f", .kind = BERTH_TAR_FILE, .mode = 04755, .size = 7, .modified_s = 2000 },
    { .name = "d/g", .kind = BERTH_TAR_FILE, .mode = 0644, .hard_link = "d/f" },
    { .name = "out", .kind = BERTH_TAR_SYMLINK, .mode = 0777, .link = "/etc/passwd" },
    { .name = "\xff\n", .kind = BERTH_TAR_FILE, .mode = 0, .size = 1 },
    { .name = "empty", .kind = BERTH_TAR_DIRECTORY, .mode = 0755 },
  };
  struct host host;
  struct berth_handle *first;
  struct berth_handle *second;
  struct berth_buffer archive = { 0 };
  struct archive exported = { { 0 }, { 0 }, 0 };
  struct archive again = { { 0 }, { 0 }, 0 };
  struct ran ran = { { 0 }, { 0 }, { 0 }, 0 };
  BERTH_AUTO_BUFFER struct berth_buffer list = { 0 };
  struct berth_read how = { .struct_size = sizeof how };
  struct berth_entry_sink sink = entry_sink (&list);

  host_begin (&host, NULL);
  first = host_create (&host, "sb-a.1");
  second = host_create (&host, "sb-b.1");
  make_archive (&host, &archive, members, sizeof members / sizeof *members);
  ASSERT_OK (import (&host, first, &archive));
  ASSERT_OK (host.backend->files->list (host_call (&host), first, "/workspace/d", &how, &sink));
  CU_ASSERT_PTR_NOT_NULL (strstr (berth_buffer_string (&list), "f 1 7 755 sandbox\n")); /* no set-id bit */
  ASSERT_OK (export (&host, first, 0, 1 << 20, &exported));
  CU_ASSERT_EQUAL (exported.reports, 1);
  CU_ASSERT_EQUAL (exported.report.entries, 6);
  CU_ASSERT_EQUAL (exported.report.bytes, exported.bytes.size);
  CU_ASSERT_EQUAL (exported.report.has & BERTH_TAR_CHANGED, 0);
  ASSERT_OK (import (&host, second, &exported.bytes));
  ASSERT_OK (export (&host, second, 0, 1 << 20, &again));
  CU_ASSERT_EQUAL (again.bytes.size, exported.bytes.size);
  ASSERT_OK (host_shell (&host, second, &ran, "cat d/g"));
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&ran.out), "content");
  ran_clear (&ran);
  berth_buffer_free (&archive);
  berth_buffer_free (&exported.bytes);
  berth_buffer_free (&again.bytes);
  host_release (&host, first);
  host_release (&host, second);
  host_end (&host);
}

static void
test_limits (void)
{
  static const struct berth_tar_member member
      = { .name = "f", .kind = BERTH_TAR_FILE, .mode = 0644, .size = 7 };
  struct host host;
  struct berth_handle *handle;
  struct berth_native native = native_of ("sb-a.1");
  struct berth_buffer archive = { 0 };
  struct archive exported = { { 0 }, { 0 }, 0 };

  host_begin (&host, NULL);
  handle = host_create (&host, "sb-a.1");
  make_archive (&host, &archive, &member, 1);
  ASSERT_OK (import (&host, handle, &archive));
  ASSERT_FAILS (PAYLOAD_TOO_LARGE, export (&host, handle, 0, 1000, &exported));
  CU_ASSERT_EQUAL (exported.reports, 0);
  ASSERT_FAILS (CAPABILITY_NOT_SUPPORTED, export (&host, handle, BERTH_ASKS_HARNESS, 1000, &exported));
  ASSERT_OK (host.backend->pause->pause (host_call (&host), host.state, &native, NULL));
  ASSERT_FAILS (WRONG_STATE, export (&host, handle, 0, 1 << 20, &exported));
  ASSERT_OK (export (&host, handle, BERTH_TAR_FROZEN, 1 << 20, &exported));
  ASSERT_OK (host.backend->pause->resume (host_call (&host), host.state, &native));
  archive.size -= 1024; /* the mark of the end, and more */
  archive.size = archive.size > 600 ? 600 : archive.size;
  CU_ASSERT_EQUAL (import (&host, handle, &archive), -1);
  berth_buffer_free (&archive);
  berth_buffer_free (&exported.bytes);
  host_release (&host, handle);
  host_end (&host);
}

static void
test_hostile (void)
{
  static const struct
  {
    struct berth_tar_member members[2];
    size_t count;
    const char *entry; /* that the message names */
  } tricks[] = {
    { { { .name = "../x", .kind = BERTH_TAR_FILE, .mode = 0644, .size = 1 } }, 1, "entry 1 " },
    { { { .name = "a/../../x", .kind = BERTH_TAR_FILE, .mode = 0644, .size = 1 } }, 1, "entry 1 " },
    { { { .name = "/etc/x", .kind = BERTH_TAR_FILE, .mode = 0644, .size = 1 } }, 1, "entry 1 " },
    { { { .name = "l", .kind = BERTH_TAR_SYMLINK, .link = "/etc" },
        { .name = "l/x", .kind = BERTH_TAR_FILE, .mode = 0644, .size = 1 } }, 2, "entry 2 " },
    { { { .name = "l", .kind = BERTH_TAR_SYMLINK, .link = ".." },
        { .name = "l/x", .kind = BERTH_TAR_DIRECTORY, .mode = 0755 } }, 2, "entry 2 " },
    { { { .name = "h", .kind = BERTH_TAR_FILE, .hard_link = "../etc/passwd" } }, 1, "entry 1 " },
    { { { .name = "l", .kind = BERTH_TAR_SYMLINK, .link = "/etc/passwd" },
        { .name = "h", .kind = BERTH_TAR_FILE, .hard_link = "l" } }, 2, "entry 2 " },
    { { { .name = "d", .kind = BERTH_TAR_DIRECTORY, .mode = 0755 },
        { .name = "d", .kind = BERTH_TAR_FILE, .mode = 0644, .size = 1 } }, 2, "entry 2 " },
  };
  struct host host;
  struct berth_buffer archive = { 0 };
  struct berth_read how = { .struct_size = sizeof how };
  BERTH_AUTO_BUFFER struct berth_buffer before = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer after = { 0 };

  host_begin (&host, NULL);
  for (size_t i = 0; i < sizeof tricks / sizeof *tricks; i++)
    {
      struct berth_handle *handle = host_create (&host, "sb-a.1");
      struct berth_entry_sink sink = entry_sink (&before);
      struct berth_entry_sink then = entry_sink (&after);

      make_archive (&host, &archive, tricks[i].members, tricks[i].count);
      berth_buffer_clear (&before);
      berth_buffer_clear (&after);
      ASSERT_OK (host.backend->files->list (host_call (&host), handle, "/etc", &how, &sink));
      ASSERT_FAILS (PATH_REJECTED, import (&host, handle, &archive));
      CU_ASSERT_PTR_NOT_NULL (strstr (host.call.message, tricks[i].entry));
      ASSERT_OK (host.backend->files->list (host_call (&host), handle, "/etc", &how, &then));
      CU_ASSERT_STRING_EQUAL (berth_buffer_string (&before), berth_buffer_string (&after));
      host_release (&host, handle);
      CU_ASSERT_EQUAL (host_destroy (&host, "sb-a.1"), BERTH_GONE);
    }
  berth_buffer_free (&archive);
  host_end (&host);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "W01 W03 a round trip", test_round_trip },
    { "W02 limits, frozen and cut archives", test_limits },
    { "W04 hostile archives", test_hostile },
    { NULL, NULL },
  };

  return berth_test_main ("fake workspace", tests);
}

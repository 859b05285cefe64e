#include "plugins/fake/tests/host.h"
#include "sdk/base/string.h"

/* What a sandbox's folder has when nothing half-written is left: tree, record.json, events, journal, used. */
#define KEPT 5

static int
list (struct host *host, struct berth_handle *handle, const char *path, struct berth_buffer *out)
{
  struct berth_read how = { .struct_size = sizeof how };
  struct berth_entry_sink sink = entry_sink (out);

  berth_buffer_clear (out);
  return host->backend->files->list (host_call (host), handle, path, &how, &sink);
}

static int
stat_one (struct host *host, struct berth_handle *handle, const char *path, struct berth_buffer *out)
{
  struct berth_read how = { .struct_size = sizeof how };
  struct berth_entry_sink sink = entry_sink (out);

  berth_buffer_clear (out);
  return host->backend->files->stat (host_call (host), handle, path, &how, &sink);
}

static void
test_names (void)
{
  struct host host;
  struct berth_handle *handle;
  char longest[256];
  char odd[256];
  const char *const names[] = { " ", "$HOME", "~",  "%41",    "a\nb", "-rf",  "'\"",   "\xc3\xa9",
                                "\xff\xfe", ".hidden", "A.", "...",   longest, odd, ".attributes" };

  memset (longest, 'x', 255);
  longest[255] = '\0';
  memset (odd, '%', 255);
  odd[255] = '\0';
  host_begin (&host, NULL);
  handle = host_create (&host, "sb-a.1");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    {
      BERTH_AUTO_FREE char *path = berth_string_format ("/workspace/%s", names[i]);

      ASSERT_OK (host_write_file (&host, handle, path, names[i]));
    }
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    {
      BERTH_AUTO_FREE char *path = berth_string_format ("/workspace/%s", names[i]);
      BERTH_AUTO_FREE char *line = berth_string_format ("%s 1 %zu 644 sandbox\n", names[i], strlen (names[i]));
      BERTH_AUTO_BUFFER struct berth_buffer content = { 0 };

      ASSERT_OK (host_read_file (&host, handle, path, &content));
      CU_ASSERT_STRING_EQUAL (berth_buffer_string (&content), names[i]);
      ASSERT_OK (list (&host, handle, "/workspace", &content));
      CU_ASSERT_PTR_NOT_NULL (strstr (berth_buffer_string (&content), line));
    }
  host_release (&host, handle);
  host_end (&host);
}

static void
test_write_and_read (void)
{
  struct host host;
  struct berth_handle *handle;
  BERTH_AUTO_BUFFER struct berth_buffer content = { 0 };
  struct berth_read how = { .struct_size = sizeof how, .max_bytes = 3 };
  struct berth_read_sink sink = read_sink (&content);

  host_begin (&host, NULL);
  handle = host_create (&host, "sb-a.1");
  ASSERT_OK (host_write_file (&host, handle, "/workspace/d/e/f", "long content"));
  ASSERT_OK (host_write_file (&host, handle, "/workspace/d/e/f", "short"));
  ASSERT_OK (host_read_file (&host, handle, "/workspace/d/e/f", &content));
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&content), "short");
  ASSERT_OK (stat_one (&host, handle, "/workspace/d", &content));
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&content), "/workspace/d 2 0 755 sandbox\n");
  berth_buffer_clear (&content);
  ASSERT_FAILS (PAYLOAD_TOO_LARGE, host.backend->files->read (host_call (&host), handle, "/workspace/d/e/f", &how, &sink));
  CU_ASSERT_EQUAL (content.size, 0);
  how.asks = BERTH_READ_RANGE;
  how.offset = 1;
  how.length = 3;
  ASSERT_OK (host.backend->files->read (host_call (&host), handle, "/workspace/d/e/f", &how, &sink));
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&content), "hor");
  ASSERT_FAILS (PATH_NOT_FOUND, host_read_file (&host, handle, "/workspace/none", &content));
  ASSERT_FAILS (INVALID_REQUEST, host_read_file (&host, handle, "/workspace/d", &content));
  ASSERT_FAILS (INVALID_REQUEST, list (&host, handle, "/workspace/d/e/f", &content));
  ASSERT_FAILS (PATH_NOT_FOUND, list (&host, handle, "/workspace/none", &content));
  ASSERT_FAILS (PATH_REJECTED, host_write_file (&host, handle, "/etc/passwd", "x"));
  ASSERT_FAILS (PATH_REJECTED, host_write_file (&host, handle, "/workspace/../etc/passwd", "x"));
  host_write (&host, "faults", "data=fail:UNREACHABLE");
  ASSERT_FAILS (UNREACHABLE, list (&host, handle, "/workspace", &content));
  host_release (&host, handle);
  host_end (&host);
}

static void
test_attributes (void)
{
  struct host host;
  struct berth_handle *handle;
  BERTH_AUTO_BUFFER struct berth_buffer out = { 0 };
  struct bytes bytes = { "x", 1, 0 };
  struct berth_source source = bytes_source (&bytes);
  struct berth_change how = { .struct_size = sizeof how,
                              .asks = BERTH_CHANGE_MODE | BERTH_CHANGE_OWNER | BERTH_CHANGE_GROUP,
                              .beneath = "/workspace",
                              .owner = "nobody",
                              .group = "nobody" };

  host_begin (&host, NULL);
  handle = host_create (&host, "sb-a.1");
  ASSERT_OK (host.backend->files->write (host_call (&host), handle, "/workspace/a", &how, &source));
  ASSERT_OK (stat_one (&host, handle, "/workspace/a", &out));
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&out), "/workspace/a 1 1 0 nobody\n");
  how.mode = 04755;
  how.owner = "root";
  ASSERT_OK (host.backend->files->set_attributes (host_call (&host), handle, "/workspace/a", &how));
  ASSERT_OK (stat_one (&host, handle, "/workspace/a", &out));
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&out), "/workspace/a 1 1 4755 root\n");
  how.owner = "mallory";
  ASSERT_FAILS (PATH_REJECTED, host.backend->files->set_attributes (host_call (&host), handle, "/workspace/a", &how));
  how.asks |= BERTH_CHANGE_NEW;
  how.owner = "root";
  bytes.at = 0;
  ASSERT_FAILS (CONFLICT, host.backend->files->write (host_call (&host), handle, "/workspace/a", &how, &source));
  how.asks = BERTH_ASKS_HARNESS;
  ASSERT_FAILS (CAPABILITY_NOT_SUPPORTED,
                host.backend->files->write (host_call (&host), handle, "/workspace/a", &how, &source));
  CU_ASSERT_EQUAL (host_entries (&host, "sandboxes/sb-a.1"), KEPT);
  host_release (&host, handle);
  host_end (&host);
}

static void
test_move_and_remove (void)
{
  struct host host;
  struct berth_handle *handle;
  BERTH_AUTO_BUFFER struct berth_buffer out = { 0 };
  struct berth_change how = { .struct_size = sizeof how, .beneath = "/workspace" };

  host_begin (&host, NULL);
  handle = host_create (&host, "sb-a.1");
  ASSERT_OK (host_write_file (&host, handle, "/workspace/d/a", "1"));
  ASSERT_OK (host_write_file (&host, handle, "/workspace/b", "2"));
  ASSERT_OK (host.backend->files->move (host_call (&host), handle, "/workspace/b", "/workspace/d/a", &how));
  ASSERT_OK (host_read_file (&host, handle, "/workspace/d/a", &out));
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&out), "2");
  ASSERT_FAILS (PATH_NOT_FOUND, host.backend->files->move (host_call (&host), handle, "/workspace/b", "/workspace/c", &how));
  ASSERT_FAILS (INVALID_REQUEST,
                host.backend->files->move (host_call (&host), handle, "/workspace/d", "/workspace/d/x", &how));
  ASSERT_FAILS (CONFLICT, host.backend->files->remove (host_call (&host), handle, "/workspace/d", &how));
  ASSERT_FAILS (PATH_REJECTED, host.backend->files->remove (host_call (&host), handle, "/workspace", &how));
  how.asks = BERTH_CHANGE_RECURSIVE;
  ASSERT_OK (host.backend->files->remove (host_call (&host), handle, "/workspace/d", &how));
  ASSERT_FAILS (PATH_NOT_FOUND, host.backend->files->remove (host_call (&host), handle, "/workspace/d", &how));
  how.asks |= BERTH_CHANGE_MISSING_OK;
  ASSERT_OK (host.backend->files->remove (host_call (&host), handle, "/workspace/d", &how));
  ASSERT_OK (list (&host, handle, "/workspace", &out));
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&out), "");
  host_release (&host, handle);
  host_end (&host);
}

static int64_t
failing_read (void *context, void *bytes, size_t size)
{
  return -1;
}

static void
test_failed_write (void)
{
  struct host host;
  struct berth_handle *handle;
  BERTH_AUTO_BUFFER struct berth_buffer out = { 0 };
  struct berth_source source = { sizeof source, 0, NULL, BERTH_UNKNOWN_SIZE, failing_read };
  struct bytes bytes = { "abc", 3, 0 };
  struct berth_source shorter = bytes_source (&bytes);
  struct berth_change how = { .struct_size = sizeof how, .beneath = "/workspace" };

  host_begin (&host, NULL);
  handle = host_create (&host, "sb-a.1");
  ASSERT_OK (host_write_file (&host, handle, "/workspace/a", "old"));
  CU_ASSERT_EQUAL (host.backend->files->write (host_call (&host), handle, "/workspace/a", &how, &source), -1);
  shorter.size = 4;
  ASSERT_FAILS (INVALID_REQUEST,
                host.backend->files->write (host_call (&host), handle, "/workspace/a", &how, &shorter));
  ASSERT_OK (host_read_file (&host, handle, "/workspace/a", &out));
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&out), "old");
  CU_ASSERT_EQUAL (host_entries (&host, "sandboxes/sb-a.1"), KEPT);
  host_release (&host, handle);
  host_end (&host);
}

static void
test_disk (void)
{
  struct host host;
  struct berth_spec spec = spec_of ("sb-a.1");
  struct made made = { "", "", 0, 0, { 0 } };
  struct berth_create_sink sink = made_sink (&made);
  struct berth_handle *handle = NULL;
  BERTH_AUTO_BUFFER struct berth_buffer out = { 0 };
  struct berth_change how = { .struct_size = sizeof how, .asks = BERTH_CHANGE_RECURSIVE, .beneath = "/workspace" };

  host_begin (&host, NULL);
  spec.asks = BERTH_SPEC_DISK;
  spec.disk_bytes = 10;
  ASSERT_OK (host.backend->lifecycle->create (host_call (&host), host.state, &spec, &sink, &handle));
  ASSERT_OK (host_write_file (&host, handle, "/workspace/a", "12345678"));
  ASSERT_FAILS (RESOURCE_EXHAUSTED, host_write_file (&host, handle, "/workspace/b", "123"));
  ASSERT_FAILS (RESOURCE_EXHAUSTED, host_write_file (&host, handle, "/workspace/a", "12345678901"));
  ASSERT_OK (host_read_file (&host, handle, "/workspace/a", &out));
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&out), "12345678");
  ASSERT_OK (host_write_file (&host, handle, "/workspace/a", "1234567890"));
  ASSERT_OK (host_write_file (&host, handle, "/workspace/a", "1"));
  ASSERT_OK (host_write_file (&host, handle, "/workspace/d/b", "12345"));
  ASSERT_OK (host.backend->files->move (host_call (&host), handle, "/workspace/d/b", "/workspace/a", &how));
  ASSERT_OK (host_write_file (&host, handle, "/workspace/d/c", "12345"));
  ASSERT_FAILS (RESOURCE_EXHAUSTED, host_write_file (&host, handle, "/workspace/e", "1"));
  ASSERT_OK (host.backend->files->remove (host_call (&host), handle, "/workspace/d", &how));
  ASSERT_OK (host_write_file (&host, handle, "/workspace/e", "12345"));
  host_release (&host, handle);
  host_end (&host);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "F03 names are literal", test_names },
    { "F01 F02 F06 F07 F10 F16 write, read, refuse", test_write_and_read },
    { "F04 F05 mode and owner", test_attributes },
    { "F12 move and remove", test_move_and_remove },
    { "F13 a write that fails leaves the old content", test_failed_write },
    { "L04 F13 a full disk", test_disk },
    { NULL, NULL },
  };

  return berth_test_main ("fake files", tests);
}

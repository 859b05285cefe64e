/* Paths, ids, names and limits: what is decided on texts alone. */
#include <stdio.h>
#include <string.h>

#include "core/manager/ids.h"
#include "core/manager/path.h"
#include "core/manager/spec.h"
#include "core/manager/tests/place.h"
#include "sdk/base/buffer.h"
#include "sdk/base/string.h"

#define A255                                                                                                           \
  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"                 \
  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"                 \
  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void
test_paths (void)
{
  static const struct
  {
    const char *path, *clean;
  } rows[] = {
    { "a", "/workspace/a" },
    { "./a//b/", "/workspace/a/b" },
    { ".", "/workspace" },
    { "a/..", "/workspace" },
    { "a/../b", "/workspace/b" },
    { "/", "/" },
    { "//etc///passwd", "/etc/passwd" },
    { "/a/../..", NULL },
    { "/..", NULL },
    { "..", NULL },
    { "a/../../etc", NULL },
    { "", NULL },
    { "~/x", "/workspace/~/x" },
    { "$HOME/*", "/workspace/$HOME/*" },
    { "-rf", "/workspace/-rf" },
    { " ", "/workspace/ " },
    { "%41\n\"'", "/workspace/%41\n\"'" },
    { "\xff\xfe", "/workspace/\xff\xfe" },
    { "...", "/workspace/..." },
    { A255, "/workspace/" A255 },
    { A255 "a", NULL },
  };

  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    {
      struct berth_error error = { 0 };
      BERTH_AUTO_FREE char *clean = berth_path_clean (rows[i].path, &error);
      if (!berth_string_equal (clean, rows[i].clean))
        fprintf (stderr, "     \"%s\": got %s\n", rows[i].path, clean != NULL ? clean : "(refused)");
      CU_ASSERT_TRUE (berth_string_equal (clean, rows[i].clean));
      CU_ASSERT_EQUAL (error.code, rows[i].clean == NULL ? BERTH_E_PATH_REJECTED : 0);
    }
  CU_ASSERT_PTR_NULL (berth_path_clean (NULL, NULL));
}

static void
test_long_path (void)
{
  BERTH_AUTO_BUFFER struct berth_buffer path = { 0 };
  struct berth_error error = { 0 };

  for (int i = 0; i < 2042; i++)
    berth_buffer_append_string (&path, "/a");
  BERTH_AUTO_FREE char *fits = berth_path_clean (berth_buffer_string (&path), &error);
  CU_ASSERT_PTR_NOT_NULL (fits);
  for (int i = 0; i < 10; i++)
    berth_buffer_append_string (&path, "/a");
  BERTH_AUTO_FREE char *too_long = berth_path_clean (berth_buffer_string (&path), &error);
  CU_ASSERT_PTR_NULL (too_long);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_PATH_REJECTED, "too long"));
}

static void
test_write_paths (void)
{
  static const struct
  {
    const char *path;
    bool root_too, allowed;
  } rows[] = {
    { "a", false, true },
    { "/workspace/a", false, true },
    { "/workspacex", false, false },
    { "/etc/passwd", false, false },
    { "/workspace/../etc/passwd", false, false },
    { "/workspace", false, false },
    { "/workspace/a/..", false, false },
    { "/workspace", true, true },
    { ".", true, true },
    { "/", true, false },
  };

  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    {
      const char *beneath = NULL;
      struct berth_error error = { 0 };
      BERTH_AUTO_FREE char *clean = berth_path_clean_for_write (rows[i].path, rows[i].root_too, &beneath, &error);
      CU_ASSERT_EQUAL (clean != NULL, rows[i].allowed);
      CU_ASSERT_EQUAL (error.code, rows[i].allowed ? 0 : BERTH_E_PATH_REJECTED);
      if (clean != NULL)
        CU_ASSERT_STRING_EQUAL (beneath, "/workspace");
    }
}

static void
test_ids (void)
{
  char id[BERTH_ID_SIZE], other[BERTH_ID_SIZE], hint[BERTH_NATIVE_HINT_SIZE];

  CU_ASSERT_EQUAL (berth_id_new_sandbox (id, NULL), 0);
  CU_ASSERT_EQUAL (berth_id_new_sandbox (other, NULL), 0);
  CU_ASSERT_TRUE (berth_id_is_valid (id, "sb-", 20));
  CU_ASSERT_STRING_NOT_EQUAL (id, other);
  berth_id_native_hint ("sb-x", 3, hint);
  CU_ASSERT_STRING_EQUAL (hint, "sb-x.3");
}

static void
test_names (void)
{
  static const struct
  {
    const char *name;
    bool good;
  } rows[] = {
    { "web", true },       { "a", true },     { "0", true },     { "a.b_c-d", true }, { "", false },    { "Web", false },
    { "-a", false },       { ".a", false },   { "a b", false },  { "a/b", false },    { "a\n", false }, { "sb-a", false },
    { "\xc3\xa9", false }, { "sb", true },
  };

  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    CU_ASSERT_EQUAL (berth_name_check (rows[i].name, NULL) == 0, rows[i].good);
  CU_ASSERT_EQUAL (berth_name_check ("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", NULL), 0);
  CU_ASSERT_EQUAL (berth_name_check ("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", NULL), -1);
}

static void
test_native_ids (void)
{
  char longest[257];

  memset (longest, 'a', sizeof longest);
  longest[255] = '\0';
  CU_ASSERT_TRUE (berth_native_id_is_valid (longest));
  longest[255] = 'a';
  longest[256] = '\0';
  CU_ASSERT_FALSE (berth_native_id_is_valid (longest));
  CU_ASSERT_TRUE (berth_native_id_is_valid ("sb-x.1:A_z"));
  CU_ASSERT_FALSE (berth_native_id_is_valid (""));
  CU_ASSERT_FALSE (berth_native_id_is_valid ("a/b"));
  CU_ASSERT_FALSE (berth_native_id_is_valid (NULL));
}

static void
test_environment (void)
{
  const struct berth_pair good[] = { { "A", "", 0, 0 }, { "b c", "\xff=\n", 0, 0 } };
  const struct berth_pair bad[] = { { "", "x", 0, 0 }, { "A=B", "x", 0, 0 }, { NULL, "x", 0, 0 }, { "A", NULL, 0, 0 } };

  CU_ASSERT_EQUAL (berth_environment_check (good, 2, NULL), 0);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    {
      struct berth_error error = { 0 };
      CU_ASSERT_EQUAL (berth_environment_check (&bad[i], 1, &error), -1);
      CU_ASSERT_EQUAL (error.code, BERTH_E_INVALID_REQUEST);
    }
}

static void
test_limit (void)
{
  struct berth_error error = { 0 };
  int64_t out = 0;

  CU_ASSERT_EQUAL (berth_limit_apply ("memory", BERTH_UNSET, 512, 4096, &out, NULL), 0);
  CU_ASSERT_EQUAL (out, 512);
  CU_ASSERT_EQUAL (berth_limit_apply ("memory", 4096, 512, 4096, &out, NULL), 0);
  CU_ASSERT_EQUAL (out, 4096);
  CU_ASSERT_EQUAL (berth_limit_apply ("memory", 4097, 512, 4096, &out, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_INVALID_REQUEST, "memory: got 4097, want 1 to 4096"));
  CU_ASSERT_EQUAL (berth_limit_apply ("memory", 0, 512, 4096, &out, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_INVALID_REQUEST, "memory: got 0"));
  CU_ASSERT_PTR_NOT_NULL (strstr (error.hint, "no \"unlimited\""));
  CU_ASSERT_EQUAL (berth_limit_apply ("memory", -1, 512, 4096, &out, &error), -1);
}

/* The numbers of the design, and those of berth.conf instead. */
static void
test_configured_limits (void)
{
  PLACE place;

  place_make (&place, "fake");
  place_open (&place);
  const struct berth_limits *limits = &place.host->limits;
  CU_ASSERT_EQUAL (limits->default_ttl, 900000);
  CU_ASSERT_EQUAL (limits->max_ttl, 86400000);
  CU_ASSERT_EQUAL (limits->default_cpu, 1000);
  CU_ASSERT_EQUAL (limits->max_cpu, 4000);
  CU_ASSERT_EQUAL (limits->default_memory, 512 << 20);
  CU_ASSERT_EQUAL (limits->max_memory, INT64_C (4096) << 20);
  CU_ASSERT_EQUAL (limits->default_pids, 256);
  CU_ASSERT_EQUAL (limits->max_pids, 4096);
  CU_ASSERT_EQUAL (limits->default_timeout, 60000);
  CU_ASSERT_EQUAL (limits->max_timeout, 3600000);
  CU_ASSERT_EQUAL (limits->default_output, 10 << 20);
  CU_ASSERT_EQUAL (limits->default_file, 50 << 20);
  CU_ASSERT_EQUAL (limits->default_workspace, 1 << 30);
  CU_ASSERT_EQUAL (limits->default_tmp, 256 << 20);
  CU_ASSERT_EQUAL (limits->host_sandboxes, 20);
  CU_ASSERT_EQUAL (limits->owner_sandboxes, 20);
  place.config = "[defaults]\nmemory = 1G\ncpus = 1.5\nttl = 1h30m\n[limits]\nsandboxes = 3\n";
  place_reopen (&place);
  limits = &place.host->limits;
  CU_ASSERT_EQUAL (limits->default_memory, 1 << 30);
  CU_ASSERT_EQUAL (limits->default_cpu, 1500);
  CU_ASSERT_EQUAL (limits->default_ttl, 5400000);
  CU_ASSERT_EQUAL (limits->host_sandboxes, 3);
}

static void
test_bad_limits (void)
{
  static const struct
  {
    const char *config, *part;
  } rows[] = {
    { "[defaults]\nmemory = 0\n", "berth.conf:4: [defaults] memory: got \"0\", want a size" },
    { "[defaults]\nmemory = lots\n", "got \"lots\"" },
    { "[limits]\npids = -1\n", "[limits] pids: got \"-1\", want a whole number" },
    { "[defaults]\ncpus = 1e9\n", "want a number of cores" },
    { "[defaults]\nttl = soon\n", "want a duration" },
    { "[defaults]\nttl = 2d\n", "[defaults] ttl is above [limits] ttl" },
    { "[limits]\nmemroy = 1G\n", "berth.conf:4: unknown key \"memroy\" in [limits], did you mean \"memory\"?" },
  };

  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    {
      PLACE place;
      struct berth_error error = { 0 };
      place_make (&place, "fake");
      place.config = rows[i].config;
      CU_ASSERT_PTR_NULL (place_host (&place, "me", &error));
      CU_ASSERT_TRUE (error_is (&error, BERTH_E_CONFIGURATION, rows[i].part));
      CU_ASSERT_NOT_EQUAL (error.hint[0], '\0');
    }
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "F03 paths are literal and lexically clean", test_paths },
    { "paths of the longest size", test_long_path },
    { "F09 writes stay below the write root, as far as the text tells", test_write_paths },
    { "ids are random base32", test_ids },
    { "names", test_names },
    { "native ids", test_native_ids },
    { "E06 names of the environment", test_environment },
    { "L05 absent is the default, zero is refused, the maximum holds", test_limit },
    { "L05 defaults and maxima, from berth.conf where it has them", test_configured_limits },
    { "limits of berth.conf that are none", test_bad_limits },
    { NULL, NULL },
  };

  return berth_test_main ("manager texts", tests);
}

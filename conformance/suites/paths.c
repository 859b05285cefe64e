/* F03, F08, F09, D-052: which file a path names, and that writing never leaves its root. */
#include <fcntl.h>

#include "conformance/suites/content.h"
#include "conformance/suites/files.h"
#include "conformance/suites/run.h"
#include "conformance/suites/tool.h"
#include "sdk/base/clock.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"

#define PAYLOAD "written through the files of a sandbox"

/* ---- F03 ---- */

struct wanted
{
  const char *name;
  unsigned int times;
};

static void
find_name (void *context, const struct berth_file_info *info)
{
  struct wanted *wanted = context;

  wanted->times += strcmp (info->name, wanted->name) == 0;
}

static void
check_name (struct suite_box *box, const char *name)
{
  BERTH_AUTO_FREE char *path = berth_string_format (SUITE_WORKSPACE "/n/%s", name);
  struct wanted wanted = { .name = name };

  SUITE_CHECK_CODE (box->suite, path, suite_write (box, path, name, strlen (name), NULL), 0);
  suite_check_content (box, path, name, strlen (name));
  SUITE_CHECK_CODE (box->suite, "list", suite_list_files (box, SUITE_WORKSPACE "/n", find_name, &wanted, NULL), 0);
  SUITE_CHECK (box->suite, wanted.times == 1, "\"%s\" is listed %u times", name, wanted.times);
}

void
suite_f03 (struct suite_context *suite)
{
  static const char *const names[]
      = { " a b ", "$HOME", "~",     "%41",   "%2e%2e", "a\nb", "-rf",          "\"'`\\",  "*",
          "$(id)", "...",   "\xc3\xa9", "\xff\xfe", "a\tb",   "#x",   "\xe2\x88\x95", "{a,b}", "!",
          "~root", "a;b",   "a&b",   "CON",   "a:b",    "?",    "[a]" };
  struct suite_box *box = suite_box_make (suite);
  char longest[256];
  uint64_t count = 0;

  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    check_name (box, names[i]);
  memset (longest, 'l', 255);
  longest[255] = '\0';
  check_name (box, longest);
  SUITE_CHECK_CODE (suite, "list", suite_list_files (box, SUITE_WORKSPACE "/n", NULL, NULL, &count), 0);
  SUITE_CHECK (suite, count == sizeof names / sizeof *names + 1, "%llu entries of %zu", (unsigned long long) count,
               sizeof names / sizeof *names + 1);
}

/* ---- F08 ---- */

void
suite_f08 (struct suite_context *suite)
{
  static const char *const odd[] = { "pipe", "loop", "zero", "socket" };
  struct suite_box *box = suite_box_make (suite);
  BERTH_AUTO_BUFFER struct berth_buffer bytes = { 0 };
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  int64_t started;

  suite_tool_install (box);
  suite_sh (box, &ran, 0,
            "mkdir -p s/t; cd s; printf content > f; ln -s f one; ln -s ../one t/two; ln -s /workspace/s/f three; "
            "mkfifo pipe; ln -s loop loop; ln -s /dev/zero zero; " SUITE_TOOL " socket socket && test -S socket");
  SUITE_REQUIRE_EXIT (suite, &ran, 0, "the files");
  suite_check_content (box, SUITE_WORKSPACE "/s/one", "content", 7);
  suite_check_content (box, SUITE_WORKSPACE "/s/t/two", "content", 7);
  suite_check_content (box, SUITE_WORKSPACE "/s/three", "content", 7);
  started = berth_clock_monotonic_ms ();
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
    {
      BERTH_AUTO_FREE char *path = berth_string_format (SUITE_WORKSPACE "/s/%s", odd[i]);

      SUITE_CHECK_CODE (suite, path, suite_read (box, path, &bytes), BERTH_E_INVALID_REQUEST, BERTH_E_PATH_REJECTED);
    }
  SUITE_CHECK (suite, berth_clock_monotonic_ms () - started < 20000, "reading them took %lld ms",
               (long long) (berth_clock_monotonic_ms () - started));
  SUITE_CHECK (suite, bytes.size == 0, "%zu bytes of what is no file", bytes.size);
}

/* ---- F09 ---- */

static bool
is_outside (const char *directory, const char *text)
{
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/canary", directory);
  BERTH_AUTO_BUFFER struct berth_buffer bytes = { 0 };

  return berth_fs_read (AT_FDCWD, path, &bytes, 65536) == 0 && strcmp (berth_buffer_string (&bytes), text) == 0;
}

/* Links from inside; each write through one is refused, or lands inside. */
void
suite_f09 (struct suite_context *suite)
{
  static const char *const paths[] = {
    "/workspace/to-tmp/x",       "/workspace/to-root/tmp/x",      "/workspace/up/tmp/x",   "/workspace/magic/tmp/x",
    "/workspace/file-link",      "/workspace/cwd/../tmp/x",       "/workspace/chain41/x",  "/workspace/var/x",
    "/workspace/deep/er/up/tmp/x",
  };
  struct suite_box *box = suite_box_make (suite);
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  SUITE_AUTO_RAN struct suite_ran after = { 0 };
  SUITE_AUTO_RAN struct suite_ran control = { 0 };

  suite_sh (box, &ran, 0,
            "ln -s /tmp to-tmp; ln -s / to-root; ln -s ../../../../.. up; ln -s /proc/self/root magic; "
            "ln -s /tmp/x file-link; ln -s /proc/self/cwd cwd; ln -s /var/tmp var; mkdir -p deep/er; ln -s ../../.. deep/er/up; "
            "ln -s /tmp chain1; i=1; while [ $i -lt 41 ]; do ln -s chain$i chain$((i+1)); i=$((i+1)); done; "
            "rm -f /tmp/x /var/tmp/x");
  SUITE_REQUIRE_EXIT (suite, &ran, 0, "the links");
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
    {
      uint32_t code = suite_write_text (box, paths[i], PAYLOAD);

      SUITE_CHECK_CODE (suite, paths[i], code, BERTH_E_PATH_REJECTED, BERTH_E_PATH_NOT_FOUND, BERTH_E_INVALID_REQUEST);
    }
  suite_sh (box, &after, 0, "ls /tmp/x /var/tmp/x 2>/dev/null; rm -f /tmp/x /var/tmp/x; echo looked");
  SUITE_CHECK_PRINTED (suite, &after, "looked\n", "outside the write root");
  /* The same paths lead there for a program, so the refusals are not those of broken links. */
  suite_sh (box, &control, 0, "for d in to-tmp to-root/tmp up/tmp magic/tmp; do echo c > $d/x && cat $d/x && rm $d/x; done");
  SUITE_CHECK_PRINTED (suite, &control, "c\nc\nc\nc\n", "the control");
  SUITE_CHECK (suite, suite_move (box, SUITE_WORKSPACE "/deep", SUITE_WORKSPACE "/to-tmp/deep", 0) != 0,
               "a directory was moved out through a link");
  SUITE_CHECK (suite, suite_remove (box, SUITE_WORKSPACE "/to-tmp/.", BERTH_CHANGE_RECURSIVE) != 0
                          || suite_stat (box, "/tmp", false, &(struct suite_entry) { .name = "" }) == 0,
               "/tmp was removed through a link");
}

void
suite_d052 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  BERTH_AUTO_FREE char *canary = berth_string_format ("%s/canary", suite->directory);
  BERTH_AUTO_FREE char *script
      = berth_string_format ("ln -s '%s' out; ln -s '%s/canary' direct; ln -s '/proc/1/root%s' one; "
                             "ln -s '../../../../../../../..%s' up; ln -s loop loop",
                             suite->directory, suite->directory, suite->directory, suite->directory);
  static const char *const paths[] = { "/workspace/out/canary", "/workspace/direct", "/workspace/one/canary",
                                       "/workspace/up/canary", "/workspace/loop" };
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer bytes = { 0 };

  SUITE_REQUIRE (suite, berth_fs_replace (AT_FDCWD, canary, "canary", 6, 0666) == 0, "no canary");
  suite_sh (box, &ran, 0, script);
  SUITE_REQUIRE_EXIT (suite, &ran, 0, "the links");
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
    {
      SUITE_CHECK (suite, suite_write_text (box, paths[i], PAYLOAD) != 0, "%s was written", paths[i]);
      SUITE_CHECK (suite, is_outside (suite->directory, "canary"), "%s: this machine's file was written", paths[i]);
    }
  if (box->effective.tier >= BERTH_TIER_CONTAINER)
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
      SUITE_CHECK (suite, suite_read (box, paths[i], &bytes) != 0, "%s: this machine's file was read", paths[i]);
}

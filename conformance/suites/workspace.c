/* W: the workspace as an archive. */
#include <string.h>
#include <sys/resource.h>

#include "conformance/suites/content.h"
#include "conformance/suites/platform.h"
#include "conformance/suites/run.h"
#include "conformance/suites/tar.h"
#include "conformance/suites/workspace.h"

#define MIB ((uint64_t) 1 << 20)

static const char fill[]
    = "umask 022; mkdir -p empty d/e; printf one > f; printf two > d/two; printf run > run; chmod 755 run; "
      "printf x > private; chmod 600 private; printf y > d/read-only; chmod 444 d/read-only; chmod 700 d/e; "
      "ln -s f link; ln -s /etc/passwd absolute; ln -s nowhere broken; ln f hard; "
      "n=$(printf 'n%.0s' $(seq 200)); mkdir $n; printf long > $n/$n; "
      "printf odd > \"$(printf 'a\\nb \\377\\376')\"; printf star > '*'; printf dash > -dash; printf dot > .dot; "
      "truncate -s 20M sparse; printf end >> sparse; "
      "touch -d '2001-02-03 04:05:06Z' f d/two; touch -d '2010-01-01 00:00:00Z' empty";

/* All that a round trip must keep, in one order. */
static const char tell[]
    = "find . -mindepth 1 -printf '%P|%y|%m|%u|%g|%l|%n\\n' | LC_ALL=C sort; "
      "find . -type f -printf '%P|%s|%Ts\\n' | LC_ALL=C sort; stat -c '%n %Y' empty; "
      "find . -type f -print0 | LC_ALL=C sort -z | xargs -0 cksum";

struct names
{
  unsigned int count;
  char bad[256];
};

static void
check_name (void *context, const char *name)
{
  struct names *names = context;

  names->count++;
  if (name[0] == '/' || strstr (name, "..") != NULL || strncmp (name, "workspace", 9) == 0)
    strncat (names->bad, name, sizeof names->bad - strlen (names->bad) - 1);
}

static void
w01 (struct suite_context *suite)
{
  struct suite_box *from = suite_box_make (suite);
  struct suite_box *to = suite_box_make (suite);
  BERTH_AUTO_BUFFER struct berth_buffer tar = { 0 };
  struct berth_tar_report report = { 0 };
  struct names names = { 0 };
  SUITE_AUTO_RAN struct suite_ran prepare = { 0 };
  SUITE_AUTO_RAN struct suite_ran before = { 0 };
  SUITE_AUTO_RAN struct suite_ran after = { 0 };
  SUITE_AUTO_RAN struct suite_ran blocks = { 0 };

  suite_sh (from, &prepare, 0, fill);
  SUITE_REQUIRE_EXIT (suite, &prepare, 0, "filling the workspace");
  suite_sh (from, &before, 0, tell);
  SUITE_REQUIRE (suite, suite_export (from, 0, &tar, &report) == 0, "export: %s", from->error.message);
  SUITE_CHECK (suite, suite_tar_names (&tar, check_name, &names), "the export is no complete tar");
  SUITE_CHECK (suite, names.bad[0] == '\0' && names.count >= 18, "%u names, not relative: %s", names.count, names.bad);
  SUITE_CHECK (suite, report.bytes == tar.size, "%llu bytes reported, %zu came", (unsigned long long) report.bytes,
               tar.size);
  SUITE_CHECK (suite, (report.has & BERTH_TAR_CHANGED) == 0, "nothing changed, and the report says so");
  SUITE_REQUIRE (suite, suite_import (to, tar.data, tar.size, 0, 0) == 0, "import: %s", to->error.message);
  suite_sh (to, &after, 0, tell);
  SUITE_CHECK (suite, before.out.size > 1000 && suite_ran_printed (&after, berth_buffer_string (&before.out)),
               "the round trip changed something: %s", suite_ran_text (&after));
  suite_sh (to, &blocks, 0, "[ $(stat -c %b sparse) -lt 4000 ] && echo sparse");
  if ((report.has & BERTH_TAR_NO_SPARSE) == 0)
    SUITE_CHECK_PRINTED (suite, &blocks, "sparse\n", "20 MiB of nothing");
}

/* Without programs, the same through the files group. */
static void
w01_files (struct suite_context *suite)
{
  struct suite_box *from = suite_box_make (suite);
  struct suite_box *to = suite_box_make (suite);
  struct berth_change how = suite_change (BERTH_CHANGE_MODE | BERTH_CHANGE_PARENTS);
  BERTH_AUTO_BUFFER struct berth_buffer tar = { 0 };
  struct suite_entry entry;

  how.mode = 0750;
  SUITE_CHECK_CODE (suite, "write", suite_write (from, SUITE_WORKSPACE "/d/e/\xff x", "a\0b", 3, &how), 0);
  SUITE_CHECK_CODE (suite, "write", suite_write (from, SUITE_WORKSPACE "/empty", "", 0, NULL), 0);
  SUITE_CHECK_CODE (suite, "make", suite_make_directory (from, SUITE_WORKSPACE "/nothing", 0), 0);
  SUITE_REQUIRE (suite, suite_export (from, 0, &tar, NULL) == 0, "export: %s", from->error.message);
  SUITE_REQUIRE (suite, suite_import (to, tar.data, tar.size, 0, 0) == 0, "import: %s", to->error.message);
  suite_check_content (to, SUITE_WORKSPACE "/d/e/\xff x", "a\0b", 3);
  suite_check_content (to, SUITE_WORKSPACE "/empty", "", 0);
  SUITE_CHECK_CODE (suite, "stat", suite_stat (to, SUITE_WORKSPACE "/d/e/\xff x", false, &entry), 0);
  SUITE_CHECK (suite, entry.info.mode == 0750, "mode %o of 0750", entry.info.mode);
  SUITE_CHECK_CODE (suite, "stat", suite_stat (to, SUITE_WORKSPACE "/nothing", false, &entry), 0);
  SUITE_CHECK (suite, entry.info.kind == BERTH_KIND_DIRECTORY, "an empty directory became kind %u", entry.info.kind);
}

static void
w02 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  struct suite_box *to = suite_box_make (suite);
  BERTH_AUTO_FREE char *bytes = calloc (1, 8 * MIB);
  BERTH_AUTO_BUFFER struct berth_buffer whole = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer part = { 0 };

  SUITE_REQUIRE (suite, bytes != NULL, "no memory");
  memset (bytes, 'x', 8 * MIB);
  SUITE_CHECK_CODE (suite, "write", suite_write (box, SUITE_WORKSPACE "/big", bytes, 8 * MIB, NULL), 0);
  SUITE_CHECK_CODE (suite, "export", suite_export (box, 16 * MIB, &whole, NULL), 0);
  SUITE_CHECK_CODE (suite, "export of at most 2 MiB", suite_export (box, 2 * MIB, &part, NULL), BERTH_E_PAYLOAD_TOO_LARGE);
  SUITE_CHECK (suite, part.size <= 2 * MIB, "%zu bytes came before the refusal", part.size);
  SUITE_CHECK_CODE (suite, "import of at most 2 MiB", suite_import (to, whole.data, whole.size, 2 * MIB, 0),
                    BERTH_E_PAYLOAD_TOO_LARGE);
  SUITE_CHECK_CODE (suite, "import", suite_import (suite_box_make (suite), whole.data, whole.size, 16 * MIB, 0), 0);
}

static void
check_owner (struct suite_box *box, const char *path)
{
  struct suite_entry entry;

  SUITE_CHECK_CODE (box->suite, path, suite_stat (box, path, false, &entry), 0);
  SUITE_CHECK (box->suite, strcmp (entry.owner, "sandbox") == 0 && strcmp (entry.group, "sandbox") == 0,
               "%s is owned by %s:%s", path, entry.owner, entry.group);
}

static void
w03 (struct suite_context *suite)
{
  static const struct suite_tar_entry entries[] = {
    { "d/", SUITE_TAR_DIRECTORY, 0755, NULL, NULL, 0 },  { "d/f", SUITE_TAR_FILE, 0640, NULL, "content", 0 },
    { "link", SUITE_TAR_LINK, 0777, "d/f", NULL, 0 },    { "without/parent", SUITE_TAR_FILE, 0644, NULL, "x", 0 },
    { "./dotted", SUITE_TAR_FILE, 0644, NULL, "y", 0 },
  };
  struct suite_box *box = suite_box_make (suite);
  BERTH_AUTO_BUFFER struct berth_buffer tar = { 0 };
  struct suite_entry entry;

  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
    suite_tar_append (&tar, &entries[i]);
  suite_tar_end (&tar);
  SUITE_REQUIRE (suite, suite_import (box, tar.data, tar.size, 0, 0) == 0, "import: %s", box->error.message);
  suite_check_content (box, SUITE_WORKSPACE "/d/f", "content", 7);
  suite_check_content (box, SUITE_WORKSPACE "/link", "content", 7);
  suite_check_content (box, SUITE_WORKSPACE "/without/parent", "x", 1);
  suite_check_content (box, SUITE_WORKSPACE "/dotted", "y", 1);
  check_owner (box, SUITE_WORKSPACE "/d");
  check_owner (box, SUITE_WORKSPACE "/d/f");
  check_owner (box, SUITE_WORKSPACE "/link");
  check_owner (box, SUITE_WORKSPACE "/without");
  SUITE_CHECK_CODE (suite, "stat", suite_stat (box, SUITE_WORKSPACE "/d/f", false, &entry), 0);
  SUITE_CHECK (suite, entry.info.mode == 0640 && entry.info.modified_s == 1000000000, "mode %o, modified at %lld",
               entry.info.mode, (long long) entry.info.modified_s);
}

/* The fresh workspace is where it restores all; it is not the only one that takes an archive. */
static void
w03_there (struct suite_context *suite)
{
  static const struct suite_tar_entry entries[] = { { "named", SUITE_TAR_FILE, 0644, NULL, "new", 0 },
                                                    { "d/named", SUITE_TAR_FILE, 0644, NULL, "new", 0 } };
  struct suite_box *box = suite_box_make (suite);
  BERTH_AUTO_BUFFER struct berth_buffer tar = { 0 };

  SUITE_CHECK_CODE (suite, "write", suite_write_text (box, SUITE_WORKSPACE "/named", "what was there"), 0);
  SUITE_CHECK_CODE (suite, "write", suite_write_text (box, SUITE_WORKSPACE "/kept", "kept"), 0);
  SUITE_CHECK_CODE (suite, "make", suite_make_directory (box, SUITE_WORKSPACE "/d", 0), 0);
  SUITE_CHECK_CODE (suite, "write", suite_write_text (box, SUITE_WORKSPACE "/d/kept", "kept"), 0);
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
    suite_tar_append (&tar, &entries[i]);
  suite_tar_end (&tar);
  SUITE_REQUIRE (suite, suite_import (box, tar.data, tar.size, 0, 0) == 0, "import: %s", box->error.message);
  suite_check_content (box, SUITE_WORKSPACE "/named", "new", 3);
  suite_check_content (box, SUITE_WORKSPACE "/d/named", "new", 3);
  suite_check_content (box, SUITE_WORKSPACE "/kept", "kept", 4);
  suite_check_content (box, SUITE_WORKSPACE "/d/kept", "kept", 4);
}

struct appending
{
  struct suite_box *box;
  bool stop;
};

static void *
append_on (void *context)
{
  struct appending *appending = context;
  BERTH_AUTO_FREE char *bytes = calloc (1, 500000);

  while (bytes != NULL && !__atomic_load_n (&appending->stop, __ATOMIC_RELAXED))
    {
      suite_write (appending->box, SUITE_WORKSPACE "/moving", bytes, 500000, NULL);
      suite_write (appending->box, SUITE_WORKSPACE "/moving", bytes, 10, NULL);
      suite_remove (appending->box, SUITE_WORKSPACE "/moving", 0);
    }
  return NULL;
}

static void
w05 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  struct appending appending = { .box = box };
  unsigned int failed = 0;
  unsigned int torn = 0;
  pthread_t thread;

  for (int i = 0; i < 20; i++)
    {
      char path[64];

      snprintf (path, sizeof path, SUITE_WORKSPACE "/still-%d", i);
      SUITE_CHECK_CODE (suite, "write", suite_write_text (box, path, "still"), 0);
    }
  SUITE_REQUIRE (suite, pthread_create (&thread, NULL, append_on, &appending) == 0, "no thread");
  for (int i = 0; i < 20; i++)
    {
      BERTH_AUTO_BUFFER struct berth_buffer tar = { 0 };
      struct names names = { 0 };

      failed += suite_export (box, 0, &tar, NULL) != 0;
      torn += !suite_tar_names (&tar, check_name, &names) || names.count < 20;
    }
  __atomic_store_n (&appending.stop, true, __ATOMIC_RELAXED);
  pthread_join (thread, NULL);
  SUITE_CHECK (suite, failed == 0, "%u of 20 exports failed: %s", failed, box->error.message);
  SUITE_CHECK (suite, torn == 0, "%u of 20 exports are no complete tar", torn);
}

/* ---- W06 ---- */

#define LARGE_BYTE 0xa5 /* in no header */

/* An archive with one large file, made as it is read. */
struct large
{
  struct berth_buffer begin; /* the header, and what is left of it from `at` on */
  size_t at;
  uint64_t left; /* of the content */
  size_t end_left; /* of the empty blocks */
};

static int64_t
read_large (void *context, void *bytes, size_t size)
{
  struct large *large = context;

  if (large->at < large->begin.size)
    {
      size = size < large->begin.size - large->at ? size : large->begin.size - large->at;
      memcpy (bytes, large->begin.data + large->at, size);
      large->at += size;
    }
  else if (large->left > 0)
    {
      size = size < large->left ? size : (size_t) large->left;
      memset (bytes, LARGE_BYTE, size);
      large->left -= size;
    }
  else
    {
      size = size < large->end_left ? size : large->end_left;
      memset (bytes, 0, size);
      large->end_left -= size;
    }
  return (int64_t) size;
}

struct counting
{
  uint64_t bytes;
  uint64_t content;
  unsigned int reports;
};

static int
count_tar (void *context, const void *bytes, size_t size)
{
  struct counting *counting = context;

  counting->bytes += size;
  for (size_t i = 0; i < size; i++)
    counting->content += ((const unsigned char *) bytes)[i] == LARGE_BYTE;
  return 0;
}

static int
count_report (void *context, const struct berth_tar_report *report)
{
  struct counting *counting = context;

  counting->reports++;
  return 0;
}

static void
check_peak (struct suite_context *suite, const char *what, long before)
{
  struct rusage after;

  getrusage (RUSAGE_SELF, &after);
  SUITE_CHECK (suite, after.ru_maxrss - before < 32 * 1024, "%s: %ld KiB more memory for it", what, after.ru_maxrss - before);
}

static void
w06 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  uint64_t size = getenv ("BERTH_TEST_LONG") != NULL ? 1024 * MIB : 64 * MIB;
  struct large large = { .left = size, .end_left = 1024 };
  struct counting counting = { 0 };
  struct berth_source source
      = { .struct_size = sizeof source, .context = &large, .size = BERTH_UNKNOWN_SIZE, .read = read_large };
  struct berth_tar_sink sink
      = { .struct_size = sizeof sink, .context = &counting, .data = count_tar, .report = count_report };
  struct suite_entry entry;
  struct rusage before;
  uint32_t code;

  suite_tar_append (&large.begin, &(const struct suite_tar_entry) { "large", SUITE_TAR_FILE, 0644, NULL, NULL, size });
  getrusage (RUSAGE_SELF, &before);
  code = suite_import_from (box, size + MIB, 10, &source);
  berth_buffer_free (&large.begin);
  SUITE_REQUIRE (suite, code == 0, "import: %s", box->error.message);
  check_peak (suite, "import", before.ru_maxrss);
  SUITE_CHECK_CODE (suite, "stat", suite_stat (box, SUITE_WORKSPACE "/large", false, &entry), 0);
  SUITE_CHECK (suite, entry.info.size == size, "%llu bytes arrived", (unsigned long long) entry.info.size);
  SUITE_CHECK_CODE (suite, "export", suite_export_to (box, size + MIB, &sink), 0);
  check_peak (suite, "export", before.ru_maxrss);
  SUITE_CHECK (suite, counting.reports == 1 && counting.content == size, "%u reports, %llu bytes of the content among %llu",
               counting.reports, (unsigned long long) counting.content, (unsigned long long) counting.bytes);
}

static const struct suite_clause clauses[] = {
  { .id = "W01", .title = "a round trip keeps all of it", .flags = SUITE_PROGRAM, .seconds = 60, .run = w01 },
  { .id = "W01-files", .title = "a round trip keeps bytes, names and modes", .run = w01_files },
  { .id = "W02", .title = "max_bytes stops the stream", .run = w02 },
  { .id = "W03", .title = "import restores into a fresh workspace, owned by the sandbox user", .run = w03 },
  { .id = "W03-there", .title = "import into a workspace in use replaces what it names and leaves the rest", .run = w03_there },
  { .id = "W03-volume", .title = "an unknown volume is refused", .needs = BERTH_CAP_WORKSPACE_VOLUME, .run = suite_volume },
  { .id = "W04", .title = "hostile archives change nothing outside (D-072)", .flags = SUITE_SLOW, .seconds = 120, .run = suite_w04 },
  { .id = "W05", .title = "a workspace that changes meanwhile exports cleanly", .flags = SUITE_SLOW, .run = w05 },
  { .id = "W06", .title = "64 MiB go through in bounded memory, 1 GiB in a long run", .seconds = 240, .run = w06 },
  { .id = "D-070", .title = "a link that an archive left is not written through", .run = suite_d070 },
  { .id = "D-071", .title = "a hard link of an archive changes no other file", .flags = SUITE_PROGRAM, .run = suite_d071 },
  { .id = "D-075", .title = "holes stay holes, and limits count what travels", .flags = SUITE_PROGRAM, .run = suite_d075 },
  { .id = "D-076", .title = "files that come, go and change make no torn archive", .flags = SUITE_PROGRAM | SUITE_SLOW, .seconds = 90, .run = suite_d076 },
  { .id = "D-077", .title = "no archive unpacks beyond its limits", .flags = SUITE_SLOW, .seconds = 60, .run = suite_d077 },
  { .id = "D-078", .title = "malformed records are refused or passed over", .run = suite_d078 },
  { .id = "D-079", .title = "attributes, ids and years that cannot be kept", .flags = SUITE_PROGRAM, .run = suite_d079 },
  { .id = "D-080", .title = "pipes, sockets and loops do not hold up an export", .flags = SUITE_PROGRAM, .run = suite_d080 },
  { .id = "D-081", .title = "an import beside, over and under what is there", .flags = SUITE_PROGRAM, .run = suite_d081 },
  { .id = "D-083", .title = "modes and times are not set through links", .flags = SUITE_PROGRAM, .run = suite_d083 },
  { .id = NULL },
};

const struct suite suite_workspace = { "workspace", clauses, NULL };

/* D-070 to D-083: what archives do to a workspace that is no longer fresh, and what is odd in them. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "conformance/suites/content.h"
#include "conformance/suites/tar.h"
#include "conformance/suites/tool.h"
#include "conformance/suites/workspace.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"
#include "sdk/base/tests/runner.h"

#define MIB (UINT64_C (1) << 20)
#define ENTRIES_MAX 4

#define FILE_ENTRY(name) { (name), SUITE_TAR_FILE, 0644, NULL, "evil", 0 }
#define LINK_ENTRY(name, target) { (name), SUITE_TAR_LINK, 0777, (target), NULL, 0 }
#define HARD_ENTRY(name, target, content) { (name), SUITE_TAR_HARD_LINK, 0644, (target), (content), 0 }
#define DIR_ENTRY(name, mode) { (name), SUITE_TAR_DIRECTORY, (mode), NULL, NULL, 0 }

/* The archive of the entries up to one without a name; at most ENTRIES_MAX. */
static uint32_t
import_entries (struct suite_box *box, const struct suite_tar_entry *entries)
{
  BERTH_AUTO_BUFFER struct berth_buffer tar = { 0 };

  for (size_t i = 0; i < ENTRIES_MAX && entries[i].name != NULL; i++)
    suite_tar_append (&tar, &entries[i]);
  suite_tar_end (&tar);
  return suite_import (box, tar.data, tar.size, 0, 0);
}

static void
require_script (struct suite_box *box, const char *script)
{
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };

  suite_sh (box, &ran, 0, script);
  SUITE_REQUIRE_EXIT (box->suite, &ran, 0, script);
}

static void
check_script (struct suite_box *box, const char *what, const char *script, const char *want)
{
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };

  suite_sh (box, &ran, 0, script);
  SUITE_CHECK_PRINTED (box->suite, &ran, want, what);
}

/* ---- D-070: a link that stays ---- */

struct seeking
{
  const char *name;
  bool found;
};

static void
seek_name (void *context, const struct berth_file_info *info)
{
  struct seeking *seeking = context;

  seeking->found = seeking->found || strcmp (info->name, seeking->name) == 0;
}

static void
check_link_written (struct suite_box *box)
{
  struct suite_context *suite = box->suite;
  struct suite_entry entry;

  SUITE_CHECK (suite, suite_write_text (box, SUITE_WORKSPACE "/d/evil", "x") != 0, "write goes through the link");
  SUITE_CHECK (suite, import_entries (box, (const struct suite_tar_entry[]) { FILE_ENTRY ("d/evil"), { 0 } }) != 0,
               "a second archive goes through the link");
  SUITE_CHECK (suite, suite_make_directory (box, SUITE_WORKSPACE "/d/evil", 0) != 0, "make_directory goes through the link");
  SUITE_CHECK_CODE (suite, "write", suite_write_text (box, SUITE_WORKSPACE "/f", "x"), 0);
  SUITE_CHECK (suite, suite_move (box, SUITE_WORKSPACE "/f", SUITE_WORKSPACE "/d/evil", 0) != 0, "move goes through the link");
  SUITE_CHECK (suite, suite_stat (box, "/tmp/evil", false, &entry) != 0, "there is /tmp/evil");
  SUITE_CHECK_CODE (suite, "what was not moved", suite_stat (box, SUITE_WORKSPACE "/f", false, &entry), 0);
}

void
suite_d070 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  struct suite_box *to = suite_box_make (suite);
  BERTH_AUTO_FREE char *name = berth_string_format ("berth-test-%s", suite->tag);
  BERTH_AUTO_FREE char *here = berth_string_format ("/tmp/%s", name);
  BERTH_AUTO_BUFFER struct berth_buffer tar = { 0 };
  struct seeking seeking = { .name = name };
  struct suite_entry entry = { 0 };

  SUITE_CHECK_CODE (suite, "an archive of a link",
                    import_entries (box, (const struct suite_tar_entry[]) { LINK_ENTRY ("d", "/tmp"), { 0 } }), 0);
  check_link_written (box);
  SUITE_REQUIRE (suite, berth_fs_replace (AT_FDCWD, here, "", 0, 0644) == 0, "cannot write %s", here);
  suite_list_files (box, SUITE_WORKSPACE "/d", seek_name, &seeking, NULL);
  unlink (here);
  SUITE_CHECK (suite, !seeking.found, "the link leads to this machine's /tmp");
  SUITE_REQUIRE (suite, suite_export (box, 0, &tar, NULL) == 0, "export: %s", box->error.message);
  SUITE_REQUIRE (suite, suite_import (to, tar.data, tar.size, 0, 0) == 0, "import: %s", to->error.message);
  SUITE_CHECK_CODE (suite, "stat", suite_stat (to, SUITE_WORKSPACE "/d", false, &entry), 0);
  SUITE_CHECK (suite, strcmp (entry.link_target, "/tmp") == 0, "the link became one to \"%s\"", entry.link_target);
  check_link_written (to);
}

/* ---- D-071: hard links ---- */

void
suite_d071 (struct suite_context *suite)
{
  static const struct
  {
    const char *what;
    bool may_pass;
    struct suite_tar_entry entries[ENTRIES_MAX];
  } archives[] = {
    { "up", false, { HARD_ENTRY ("h", "../tmp/victim", NULL), FILE_ENTRY ("h") } },
    { "up, with data", false, { HARD_ENTRY ("h", "../tmp/victim", "evil"), FILE_ENTRY ("h") } },
    { "absolute", false, { HARD_ENTRY ("h", "/tmp/victim", NULL), FILE_ENTRY ("h") } },
    { "absolute, with data", false, { HARD_ENTRY ("h", "/tmp/victim", "evil"), FILE_ENTRY ("h") } },
    { "at a link out", true, { LINK_ENTRY ("l", "/tmp/victim"), HARD_ENTRY ("h", "l", NULL), FILE_ENTRY ("h") } },
    { "at a link out, with data", true, { LINK_ENTRY ("l", "/tmp/victim"), HARD_ENTRY ("h", "l", "evil"), FILE_ENTRY ("h") } },
    { "inside, with data", true, { HARD_ENTRY ("h", "mine", "evil") } },
  };

  for (size_t i = 0; i < sizeof archives / sizeof *archives; i++)
    {
      struct suite_box *box = suite_box_make (suite);

      require_script (box, "echo precious > /tmp/victim; echo precious > mine");
      SUITE_CHECK (suite, import_entries (box, archives[i].entries) != 0 || archives[i].may_pass, "%s: accepted",
                   archives[i].what);
      check_script (box, archives[i].what, "cat /tmp/victim mine; stat -c %h /tmp/victim", "precious\nprecious\n1\n");
      suite_box_destroy (box, false, NULL);
    }
}

/* ---- D-075: holes ---- */

void
suite_d075 (struct suite_context *suite)
{
  static const char tell[] = "stat -c '%n %s' both hole; head -c 1M both | cksum; tail -c 1M both | cksum";
  struct suite_box *from = suite_box_make (suite);
  struct suite_box *to = suite_box_make (suite);
  BERTH_AUTO_BUFFER struct berth_buffer tar = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer part = { 0 };
  struct berth_tar_report report = { 0 };
  SUITE_AUTO_RAN struct suite_ran before = { 0 };

  require_script (from, "truncate -s 1G both && truncate -s 4G hole && for at in 0 1023; do "
                        "dd if=/dev/urandom of=both bs=1M count=1 seek=$at conv=notrunc status=none || exit; done");
  suite_sh (from, &before, 0, tell);
  SUITE_REQUIRE_EXIT (suite, &before, 0, "telling");
  SUITE_REQUIRE (suite, suite_export (from, 0, &tar, &report) == 0, "export: %s", from->error.message);
  if ((report.has & BERTH_TAR_NO_SPARSE) != 0)
    suite_not_applicable (suite, "it says that it keeps no holes");
  SUITE_CHECK (suite, tar.size < 4 * MIB, "2 MiB of data and holes became %zu bytes", tar.size);
  /* Both limits are about the bytes that travel. */
  SUITE_CHECK_CODE (suite, "one byte less out", suite_export (from, tar.size - 1, &part, NULL), BERTH_E_PAYLOAD_TOO_LARGE);
  SUITE_CHECK_CODE (suite, "one byte less in", suite_import (to, tar.data, tar.size, tar.size - 1, 0),
                    BERTH_E_PAYLOAD_TOO_LARGE);
  SUITE_REQUIRE (suite, suite_import (to, tar.data, tar.size, tar.size, 0) == 0, "import: %s", to->error.message);
  check_script (to, "the files", tell, berth_buffer_string (&before.out));
  check_script (to, "their blocks", "[ $(stat -c %b both) -lt 8192 ] && [ $(stat -c %b hole) -lt 64 ] && echo sparse", "sparse\n");
}

/* ---- D-076: everything moves ---- */

static void
count_still (void *context, const char *name)
{
  *(unsigned int *) context += strncmp (name, "still/", 6) == 0 && name[6] != '\0';
}

void
suite_d076 (struct suite_context *suite)
{
  static const char moving[]
      = "until [ -e stop ]; do head -c 200000 /dev/zero >> grows; [ $(stat -c %s grows) -lt 3000000 ] || : > grows; "
        ": > cut; head -c 300000 /dev/zero > cut; rm -f comes; echo x > comes; mv one two; mv two one; done";
  struct suite_box *box = suite_box_make (suite);
  int rounds = berth_test_is_long () ? 100 : 30;
  struct berth_tar_report report = { 0 };
  unsigned int changed = 0;
  struct suite_job job = { 0 };

  require_script (box, "mkdir -p one still && touch one/a one/b && for i in 1 2 3 4 5; do echo $i > still/$i; done");
  suite_job_start (&job, box, moving);
  for (int i = 0; i < rounds; i++)
    {
      BERTH_AUTO_BUFFER struct berth_buffer tar = { 0 };
      unsigned int still = 0;
      bool whole;

      SUITE_CHECK (suite, suite_export (box, 0, &tar, &report) == 0, "export %d: %s", i, box->error.message);
      whole = suite_tar_names (&tar, count_still, &still);
      SUITE_CHECK (suite, whole && still == 5, "export %d: %s, with %u of 5", i, whole ? "whole" : "no complete tar", still);
      changed += (report.has & BERTH_TAR_CHANGED) != 0;
    }
  SUITE_CHECK_CODE (suite, "write", suite_write_text (box, SUITE_WORKSPACE "/stop", ""), 0);
  suite_job_join (&job);
  SUITE_CHECK_EXIT (suite, &job.ran, 0, "what moves");
  suite_ran_free (&job.ran);
  SUITE_CHECK (suite, changed > 0, "%d exports while all moves, and none says so", rounds);
  BERTH_AUTO_BUFFER struct berth_buffer quiet = { 0 };
  SUITE_CHECK (suite, suite_export (box, 0, &quiet, &report) == 0 && (report.has & BERTH_TAR_CHANGED) == 0,
               "nothing moves any more, and the report says otherwise");
}

/* ---- D-077: more than there is room for ---- */

/* One entry's header, then zeros without end; or entries without end. */
struct flood
{
  struct berth_buffer header;
  uint64_t given;
  bool entries;
};

static int64_t
pour (void *context, void *bytes, size_t size)
{
  struct flood *flood = context;
  size_t whole = flood->header.size;

  size = size - size % whole;
  memset (bytes, 0, size);
  for (size_t at = 0; at < size && (flood->entries || flood->given == 0); at += whole)
    {
      memcpy ((char *) bytes + at, flood->header.data, whole);
      if (!flood->entries)
        break;
    }
  flood->given += size;
  return (int64_t) size;
}

static void
try_flood (struct suite_context *suite, const char *what, bool entries, uint64_t max_bytes, uint64_t max_entries)
{
  struct suite_box *box = suite_box_make (suite);
  struct suite_tar_entry entry = { "f", SUITE_TAR_FILE, 0644, NULL, NULL, entries ? 0 : UINT64_C (8000000000) };
  struct berth_tar_limits limits = { .struct_size = sizeof limits, .max_bytes = max_bytes, .max_entries = max_entries };
  struct flood flood = { .entries = entries };
  struct berth_source source = { sizeof source, 0, &flood, BERTH_UNKNOWN_SIZE, pour };
  struct suite_call call;
  struct berth_call *made;
  struct suite_entry left = { 0 };

  suite_tar_append (&flood.header, &entry);
  made = suite_call_begin (&call, suite, box->native_id, NULL, 0);
  SUITE_CHECK_CODE (suite, what,
                    suite_call_end (&call, suite->backend->workspace->import_tar (made, box->handle, &limits, &source), &box->error),
                    BERTH_E_PAYLOAD_TOO_LARGE);
  SUITE_CHECK (suite, flood.given <= (entries ? 64 : 1) * MIB + max_bytes, "%s: %" PRIu64 " bytes were taken", what, flood.given);
  if (suite_stat (box, SUITE_WORKSPACE "/f", false, &left) == 0)
    SUITE_CHECK (suite, left.info.size <= max_bytes, "%s: the file has %llu bytes", what, (unsigned long long) left.info.size);
  berth_buffer_free (&flood.header);
}

/* What is packed is refused whole, so that there is no small archive of a big tree. */
static void
try_packed (struct suite_context *suite, const char *packer)
{
  struct suite_box *box = suite_box_make (suite);
  struct suite_box *to = suite_box_make (suite);
  BERTH_AUTO_FREE char *script
      = berth_string_format ("command -v %s >/dev/null || exit 9; head -c 20M /dev/zero > f; tar cf t f; %s -c t > p", packer, packer);
  BERTH_AUTO_BUFFER struct berth_buffer plain = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer packed = { 0 };
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  uint64_t count = 1;

  suite_sh (box, &ran, 0, script);
  if (suite_ran_exited (&ran, 9))
    return;
  SUITE_REQUIRE_EXIT (suite, &ran, 0, script);
  SUITE_CHECK_CODE (suite, "read", suite_read (box, SUITE_WORKSPACE "/t", &plain), 0);
  SUITE_CHECK_CODE (suite, "read", suite_read (box, SUITE_WORKSPACE "/p", &packed), 0);
  SUITE_CHECK (suite, packed.size > 0 && packed.size < MIB, "%s makes %zu bytes: no control", packer, packed.size);
  SUITE_CHECK_CODE (suite, packer, suite_import (to, packed.data, packed.size, MIB, 10), BERTH_E_INVALID_REQUEST);
  SUITE_CHECK_CODE (suite, "list", suite_list_files (to, SUITE_WORKSPACE, NULL, NULL, &count), 0);
  SUITE_CHECK (suite, count == 0, "what %s packed is there", packer);
  SUITE_CHECK_CODE (suite, "the same unpacked", suite_import (to, plain.data, plain.size, 0, 0), 0);
}

void
suite_d077 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  BERTH_AUTO_BUFFER struct berth_buffer tar = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer records = { 0 };

  try_flood (suite, "a file without end", false, 4 * MIB, 100);
  try_flood (suite, "entries without end", true, 64 * MIB, 1000);
  suite_tar_add_record (&records, "size", "1152921504606846976");
  suite_tar_append_records (&tar, &records);
  suite_tar_append (&tar, &(const struct suite_tar_entry) FILE_ENTRY ("f"));
  suite_tar_end (&tar);
  SUITE_CHECK (suite, suite_import (box, tar.data, tar.size, MIB, 10) != 0, "a file that claims 2^60 bytes: accepted");
  if ((suite->backend->flags & BERTH_BACKEND_EXECUTES_NOTHING) != 0)
    return;
  try_packed (suite, "gzip");
  try_packed (suite, "zstd");
  try_packed (suite, "xz");
}

/* ---- D-078: records that are none ---- */

#define RECORDS(text) (text), sizeof (text) - 1

static void
try_records (struct suite_context *suite, const char *what, const char *bytes, size_t size, bool kept)
{
  struct suite_box *box = suite_box_make (suite);
  BERTH_AUTO_BUFFER struct berth_buffer records = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer tar = { 0 };
  struct suite_entry entry;
  uint32_t code;

  berth_buffer_append (&records, bytes, size);
  suite_tar_append_records (&tar, &records);
  suite_tar_append (&tar, &(const struct suite_tar_entry) FILE_ENTRY ("f"));
  suite_tar_end (&tar);
  code = suite_import (box, tar.data, tar.size, 0, 0);
  SUITE_CHECK (suite, code == 0 || !kept, "%s: %s", what, box->error.message);
  if (kept)
    SUITE_CHECK_CODE (suite, what, suite_stat (box, SUITE_WORKSPACE "/g", false, &entry), 0);
  SUITE_CHECK (suite, code == 0 || box->error.message[0] != '\0', "%s: refused without a word", what);
  SUITE_CHECK_CODE (suite, what, suite_stat (box, SUITE_WORKSPACE, false, &entry), 0);
  SUITE_CHECK (suite, suite_stat (box, "/tmp/evil", false, &entry) != 0, "%s: there is /tmp/evil", what);
  suite_box_destroy (box, false, NULL);
}

void
suite_d078 (struct suite_context *suite)
{
  static const struct
  {
    const char *what, *bytes;
    size_t size;
    bool kept;
  } records[] = {
    { "the control", RECORDS ("10 path=g\n"), true },
    { "no record", RECORDS (""), false },
    { "a length that is too small", RECORDS ("5 path=/tmp/evil\n"), false },
    { "a length that is too large", RECORDS ("999 path=/tmp/evil\n"), false },
    { "a length that wraps", RECORDS ("18446744073709551626 path=g\n"), false },
    { "a length that is negative", RECORDS ("-10 path=g\n"), false },
    { "a length of nothing", RECORDS ("0 \n"), false },
    { "no number", RECORDS ("xx path=/tmp/evil\n"), false },
    { "no line end", RECORDS ("17 path=/tmp/evil"), false },
    { "no equals sign", RECORDS ("8 pathg\n"), false },
    { "no key", RECORDS ("5 =x\n"), false },
    { "no value", RECORDS ("8 path=\n"), false },
    { "a NUL in the key", RECORDS ("11 pa\0th=g\n"), false },
    { "a NUL in the value", RECORDS ("20 path=g\0/tmp/evil\n"), false },
    { "a size that is negative", RECORDS ("12 size=-10\n"), false },
    { "a size that wraps", RECORDS ("31 size=18446744073709551617000\n"), false },
    { "a time that is none", RECORDS ("19 mtime=yesterday.\n"), false },
    { "a time with many digits", RECORDS ("49 mtime=1.9999999999999999999999999999999999999\n"), false },
    { "holes out of order", RECORDS ("22 GNU.sparse.major=0\n22 GNU.sparse.minor=1\n22 GNU.sparse.size=100\n"
                                     "26 GNU.sparse.numblocks=2\n29 GNU.sparse.map=50,10,0,10\n"), false },
    { "holes beyond the end", RECORDS ("22 GNU.sparse.major=0\n22 GNU.sparse.minor=1\n20 GNU.sparse.size=9\n"
                                       "26 GNU.sparse.numblocks=1\n44 GNU.sparse.map=9223372036854775807,100\n"), false },
    { "a map that is cut", RECORDS ("22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n29 GNU.sparse.realsize=10000\n"), false },
  };
  BERTH_AUTO_FREE char *large = malloc (MIB + 32);
  int size;

  for (size_t i = 0; i < sizeof records / sizeof *records; i++)
    try_records (suite, records[i].what, records[i].bytes, records[i].size, records[i].kept);
  SUITE_REQUIRE (suite, large != NULL, "no memory");
  size = sprintf (large, "%d ", (int) MIB + 13);
  memset (large + size, 'k', MIB);
  strcpy (large + size + MIB, "=v\n");
  try_records (suite, "a key of a megabyte", large, strlen (large), false);
  /* Over the border of two blocks, and as it should be. */
  size = sprintf (large, "711 comment=");
  memset (large + size, 'c', 710 - (size_t) size);
  strcpy (large + 710, "\n10 path=g\n");
  try_records (suite, "a record of two blocks", large, strlen (large), true);
}

/* ---- D-079: attributes ---- */

void
suite_d079 (struct suite_context *suite)
{
  static const char *const records[][2] = {
    { "SCHILY.xattr.security.capability", "\x01\x01\x01\x02\x20\x20\x01\x01" },
    { "SCHILY.xattr.trusted.berth", "x" },
    { "SCHILY.xattr.user.berth", "x" },
    { "LIBARCHIVE.xattr.security.selinux", "eA==" },
    { "SCHILY.acl.access", "user::rwx,user:0:rwx,group::r-x,mask::r-x,other::r-x" },
    { "uid", "4000000000" },
    { "gid", "4000000000" },
    { "uname", "root" },
  };
  struct suite_box *box = suite_box_make (suite);
  BERTH_AUTO_BUFFER struct berth_buffer tar = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer about = { 0 };

  suite_tool_install (box);
  for (size_t i = 0; i < sizeof records / sizeof *records; i++)
    suite_tar_add_record (&about, records[i][0], records[i][1]);
  suite_tar_append_records (&tar, &about);
  suite_tar_append (&tar, &(const struct suite_tar_entry) { "f", SUITE_TAR_FILE, 06755, NULL, "x", 0 });
  suite_tar_add_record (&about, "mtime", "-2208988800");
  suite_tar_append_records (&tar, &about);
  suite_tar_append (&tar, &(const struct suite_tar_entry) FILE_ENTRY ("old"));
  suite_tar_add_record (&about, "mtime", "16725225600");
  suite_tar_append_records (&tar, &about);
  suite_tar_append (&tar, &(const struct suite_tar_entry) FILE_ENTRY ("new"));
  suite_tar_end (&tar);
  SUITE_REQUIRE (suite, suite_import (box, tar.data, tar.size, 0, 0) == 0, "import: %s", box->error.message);
  check_script (box, "owner and mode", "stat -c '%U %G %a' f", "sandbox sandbox 755\n");
  check_script (box, "attributes", SUITE_TOOL " attributes f", "");
  /* Where a file system cannot tell such years, it tells the nearest it can. */
  check_script (box, "1900", "[ $(stat -c %Y old) -le -2147483648 ] && echo old", "old\n");
  check_script (box, "2500", "[ $(stat -c %Y new) -ge 15032385535 ] && echo new", "new\n");
}

/* ---- D-080: what is no file ---- */

static void
note_name (void *context, const char *name)
{
  struct berth_buffer *names = context;

  berth_buffer_append_string (names, name);
  berth_buffer_append_byte (names, '\n');
}

void
suite_d080 (struct suite_context *suite)
{
  static const char *const kept[] = { "dangling", "end", "loop", "other" };
  struct suite_box *box = suite_box_make (suite);
  struct suite_box *to = suite_box_make (suite);
  BERTH_AUTO_BUFFER struct berth_buffer tar = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer names = { 0 };
  struct berth_tar_report report = { 0 };

  suite_tool_install (box);
  require_script (box, "mkfifo pipe; ln -s nowhere dangling; ln -s loop loop; ln -s other end; ln -s end other; " SUITE_TOOL
                       " socket s && [ -S s ] && [ -p pipe ] && rm probe");
  SUITE_REQUIRE (suite, suite_export (box, 0, &tar, &report) == 0, "export: %s", box->error.message);
  SUITE_CHECK (suite, suite_tar_names (&tar, note_name, &names), "no complete tar");
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
    SUITE_CHECK (suite, strstr (berth_buffer_string (&names), kept[i]) != NULL, "%s is not in the archive", kept[i]);
  SUITE_CHECK (suite, strstr (berth_buffer_string (&names), "s\n") == NULL && (report.has & BERTH_TAR_SKIPPED) != 0,
               "a socket is in the archive, or was left out without a word");
  SUITE_REQUIRE (suite, suite_import (to, tar.data, tar.size, 0, 0) == 0, "import: %s", to->error.message);
  check_script (to, "the links", "readlink dangling loop end other", "nowhere\nloop\nother\nend\n");
}

/* ---- D-081: something is in the way ---- */

void
suite_d081 (struct suite_context *suite)
{
  static const struct
  {
    const char *what;
    const char *before;
    bool refused;
    struct suite_tar_entry entries[ENTRIES_MAX];
    const char *tell;
    const char *want;
  } ways[] = {
    { "a file, and a directory comes", "echo old > x", true, { DIR_ENTRY ("x/", 0755) }, "cat x", "old\n" },
    { "a file, and something below it comes", "echo old > x", true, { FILE_ENTRY ("x/f") }, "cat x", "old\n" },
    { "a directory, and a file comes", "mkdir x; echo old > x/f", true, { FILE_ENTRY ("x") }, "cat x/f", "old\n" },
    { "a directory, and a link comes", "mkdir x; echo old > x/f", true, { LINK_ENTRY ("x", "/tmp") }, "cat x/f", "old\n" },
    { "a link, and a file comes", "echo old > y; ln -s y x", false, { FILE_ENTRY ("x") }, "cat y; stat -c %F x", "old\nregular file\n" },
    { "a file with another name, and a file comes", "echo old > y; ln y x", false, { FILE_ENTRY ("x") }, "cat y; cat x", "old\nevil" },
    { "a closed directory", "mkdir x; echo old > x/f; chmod 555 x", false, { FILE_ENTRY ("x/g") }, "cat x/f x/g; stat -c %a x",
      "old\nevil555\n" },
    { "a closed file", "echo old > x; chmod 400 x", false, { FILE_ENTRY ("x") }, "cat x; stat -c %a x", "evil644\n" },
    { "what the archive does not name", "mkdir x; echo old > x/f", false, { DIR_ENTRY ("x/", 0700), FILE_ENTRY ("x/g") },
      "cat x/f x/g; stat -c %a x", "old\nevil700\n" },
  };

  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
    {
      struct suite_box *box = suite_box_make (suite);

      require_script (box, ways[i].before);
      for (int twice = 0; twice < 2; twice++)
        {
          uint32_t code = import_entries (box, ways[i].entries);

          SUITE_CHECK (suite, (code != 0) == ways[i].refused, "%s: %s", ways[i].what, code != 0 ? box->error.message : "accepted");
          SUITE_CHECK (suite, code == 0 || strchr (box->error.message, 'x') != NULL, "%s: not named in: %s", ways[i].what,
                       box->error.message);
          check_script (box, ways[i].what, ways[i].tell, ways[i].want);
        }
      suite_box_destroy (box, false, NULL);
    }
}

/* ---- D-083: modes and times ---- */

void
suite_d083 (struct suite_context *suite)
{
  static const struct
  {
    const char *what;
    struct suite_tar_entry entries[ENTRIES_MAX];
  } archives[] = {
    { "a directory by a link's name", { LINK_ENTRY ("sym", "/tmp/secret"), DIR_ENTRY ("sym/", 0777) } },
    { "one level deeper", { DIR_ENTRY ("a/", 0755), LINK_ENTRY ("a/sym", "/tmp/secret"), DIR_ENTRY ("a/sym/", 0777) } },
    { "below the link", { LINK_ENTRY ("sym", "/tmp"), DIR_ENTRY ("sym/secret/", 0777) } },
    { "the directory first", { DIR_ENTRY ("sym/", 0777), LINK_ENTRY ("sym", "/tmp/secret") } },
    { "the directory first, left and come back to",
      { DIR_ENTRY ("sym/", 0777), FILE_ENTRY ("other"), LINK_ENTRY ("sym", "/tmp/secret"), DIR_ENTRY ("sym/", 0777) } },
    { "the link with a mode and a time of its own", { { "sym", SUITE_TAR_LINK, 0777, "/tmp/secret", NULL, 0 } } },
    { "a hard link to the link", { LINK_ENTRY ("sym", "/tmp/secret"), HARD_ENTRY ("h", "sym", NULL), DIR_ENTRY ("h/", 0777) } },
  };

  for (size_t i = 0; i < sizeof archives / sizeof *archives; i++)
    {
      struct suite_box *box = suite_box_make (suite);

      require_script (box, "mkdir -m 700 /tmp/secret && touch -d @1 /tmp/secret");
      import_entries (box, archives[i].entries);
      check_script (box, archives[i].what, "stat -c '%a %Y %U' /tmp/secret; ls /tmp/secret", "700 1 sandbox\n");
      suite_box_destroy (box, false, NULL);
    }
}

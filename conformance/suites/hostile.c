/* W04: archives that try to leave the workspace.  A row each: the trick, which entry is
 * refused, and after every one of them nothing outside has changed. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "conformance/suites/content.h"
#include "conformance/suites/run.h"
#include "conformance/suites/tar.h"
#include "conformance/suites/workspace.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"

#define ENTRIES_MAX 4
#define INERT 0 /* accepted or refused, as long as nothing is changed */

struct hostile
{
  const char *trick;
  unsigned int refused; /* number of the entry, from 1; INERT */
  struct suite_tar_entry entries[ENTRIES_MAX];
};

#define FILE_ENTRY(name) { (name), SUITE_TAR_FILE, 0644, NULL, "evil", 0 }
#define LINK_ENTRY(name, target) { (name), SUITE_TAR_LINK, 0777, (target), NULL, 0 }
#define HARD_ENTRY(name, target) { (name), SUITE_TAR_HARD_LINK, 0644, (target), NULL, 0 }
#define DIR_ENTRY(name) { (name), SUITE_TAR_DIRECTORY, 0755, NULL, NULL, 0 }

static const struct hostile archives[] = {
  { "parent", 1, { FILE_ENTRY ("../evil") } },
  { "parent of a folder", 1, { FILE_ENTRY ("a/../../evil") } },
  { "parent after a good entry", 2, { FILE_ENTRY ("good"), FILE_ENTRY ("../evil") } },
  { "many parents", 1, { FILE_ENTRY ("../../../../../../../../tmp/evil") } },
  { "parent at the end", 1, { DIR_ENTRY ("a/..") } },
  { "only parent", 1, { DIR_ENTRY ("..") } },
  { "only parent, as a file", 1, { FILE_ENTRY ("..") } },
  { "parent in the middle, back inside", 1, { FILE_ENTRY ("a/../b") } },
  { "dotted parent", 1, { FILE_ENTRY ("./../evil") } },
  { "doubled slash and parent", 1, { FILE_ENTRY ("a//..//../evil") } },
  { "absolute", 1, { FILE_ENTRY ("/tmp/evil") } },
  { "absolute into var", 1, { FILE_ENTRY ("/var/tmp/evil") } },
  { "absolute with two slashes", 1, { FILE_ENTRY ("//tmp/evil") } },
  { "absolute directory", 1, { DIR_ENTRY ("/tmp/evil/") } },
  { "absolute link", 1, { LINK_ENTRY ("/tmp/evil", "x") } },
  { "the workspace by its name", 1, { FILE_ENTRY ("/workspace/evil") } },
  { "through a link to tmp", 2, { LINK_ENTRY ("out", "/tmp"), FILE_ENTRY ("out/evil") } },
  { "through a link up", 2, { LINK_ENTRY ("out", "../tmp"), FILE_ENTRY ("out/evil") } },
  { "through a link to the root", 2, { LINK_ENTRY ("out", "/"), FILE_ENTRY ("out/tmp/evil") } },
  { "through a magic link", 2, { LINK_ENTRY ("out", "/proc/self/root"), FILE_ENTRY ("out/tmp/evil") } },
  { "through a link to a link", 3, { LINK_ENTRY ("b", "/tmp"), LINK_ENTRY ("a", "b"), FILE_ENTRY ("a/evil") } },
  { "far through a link", 2, { LINK_ENTRY ("a", "/tmp"), DIR_ENTRY ("a/b/c/"), FILE_ENTRY ("a/b/c/evil") } },
  { "through a link to nothing", 2, { LINK_ENTRY ("out", "/tmp/evil"), FILE_ENTRY ("out/f") } },
  { "a directory that becomes a link", 2, { DIR_ENTRY ("d"), LINK_ENTRY ("d", "/tmp"), FILE_ENTRY ("d/evil") } },
  { "a directory through a link", 2, { LINK_ENTRY ("out", "/tmp"), DIR_ENTRY ("out/evil/") } },
  { "a link through a link", 2, { LINK_ENTRY ("out", "/tmp"), LINK_ENTRY ("out/evil", "x") } },
  { "a pipe through a link", 2, { LINK_ENTRY ("out", "/tmp"), { "out/evil", SUITE_TAR_FIFO, 0644, NULL, NULL, 0 } } },
  { "a hard link through a link", 3, { FILE_ENTRY ("f"), LINK_ENTRY ("out", "/tmp"), HARD_ENTRY ("out/evil", "f") } },
  { "a link whose name is a directory's", INERT, { LINK_ENTRY ("d", "/tmp"), DIR_ENTRY ("d/"), FILE_ENTRY ("d/evil") } },
  { "a file over a link out", INERT, { LINK_ENTRY ("f", "/tmp/evil"), FILE_ENTRY ("f") } },
  { "a hard link to the outside", 1, { HARD_ENTRY ("evil", "/etc/passwd") } },
  { "a hard link up", 1, { HARD_ENTRY ("evil", "../etc/passwd") } },
  { "a hard link to nothing", 1, { HARD_ENTRY ("evil", "never-made") } },
  { "a hard link over a link out", 2, { LINK_ENTRY ("out", "/etc"), HARD_ENTRY ("evil", "out/passwd") } },
  { "a hard link to a link, then written", INERT, { LINK_ENTRY ("l", "/tmp/evil"), HARD_ENTRY ("h", "l"), FILE_ENTRY ("h") } },
  { "a character device", 1, { { "evil", SUITE_TAR_CHARACTER, 0666, NULL, NULL, 0 } } },
  { "a block device", 1, { { "evil", SUITE_TAR_BLOCK, 0666, NULL, NULL, 0 } } },
  { "a device below a folder", 2, { DIR_ENTRY ("d/"), { "d/evil", SUITE_TAR_BLOCK, 0666, NULL, NULL, 0 } } },
  { "set-uid", INERT, { { "evil", SUITE_TAR_FILE, 04755, NULL, "evil", 0 } } },
  { "set-gid", INERT, { { "evil", SUITE_TAR_FILE, 02755, NULL, "evil", 0 } } },
  { "an empty name", INERT, { FILE_ENTRY ("") } },
  { "a size beyond the archive", INERT, { { "evil", SUITE_TAR_FILE, 0644, NULL, "evil", 1000000 } } },
  { "a size beyond all limits", INERT, { { "evil", SUITE_TAR_FILE, 0644, NULL, "evil", UINT64_C (8000000000) } } },
  { "an unknown kind", INERT, { { "evil", 'Z', 0644, NULL, "evil", 0 } } },
  { "a link to itself, then below it", 2, { LINK_ENTRY ("l", "l"), FILE_ENTRY ("l/evil") } },
  { "a file as a folder", 2, { FILE_ENTRY ("f"), FILE_ENTRY ("f/evil") } },
  { "the workspace as a file", INERT, { FILE_ENTRY (".") } },
  { "the workspace as a link", INERT, { LINK_ENTRY (".", "/tmp"), FILE_ENTRY ("evil") } },
};

/* The entry's number is in the message: "entry 2 …". */
static bool
names_entry (const char *message, unsigned int number)
{
  char text[16];
  size_t size = (size_t) snprintf (text, sizeof text, "%u", number);

  for (const char *at = message; (at = strstr (at, text)) != NULL; at++)
    if ((at == message || at[-1] < '0' || at[-1] > '9') && (at[size] < '0' || at[size] > '9'))
      return true;
  return false;
}

static void
check_outside (struct suite_context *suite, struct suite_box *box, const char *trick, bool programs)
{
  static const char *const outside[] = { "/tmp/evil", "/evil", "/var/tmp/evil" };
  struct suite_entry entry;

  for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
    SUITE_CHECK (suite, suite_stat (box, outside[i], false, &entry) != 0, "%s: there is %s", trick, outside[i]);
  if (programs)
    {
      SUITE_AUTO_RAN struct suite_ran ran = { 0 };

      suite_sh (box, &ran, 0,
                "find . -type b -o -type c -o -perm /6000; find . -type f -links +1 -user root; [ -d . ] || echo gone; echo looked");
      SUITE_CHECK_PRINTED (suite, &ran, "looked\n", trick);
    }
}

static void
make_archive (struct berth_buffer *tar, const struct hostile *hostile)
{
  for (size_t i = 0; i < ENTRIES_MAX && hostile->entries[i].name != NULL; i++)
    suite_tar_append (tar, &hostile->entries[i]);
  suite_tar_end (tar);
}

static void
try_archive (struct suite_context *suite, const struct hostile *hostile, bool programs)
{
  struct suite_box *box = suite_box_make (suite);
  BERTH_AUTO_BUFFER struct berth_buffer tar = { 0 };
  uint32_t code;

  make_archive (&tar, hostile);
  code = suite_import (box, tar.data, tar.size, 1 << 20, 0);
  if (hostile->refused != INERT)
    {
      SUITE_CHECK (suite, code != 0, "%s: accepted", hostile->trick);
      SUITE_CHECK (suite, code == 0 || names_entry (box->error.message, hostile->refused),
                   "%s: entry %u is not named: %s", hostile->trick, hostile->refused, box->error.message);
    }
  check_outside (suite, box, hostile->trick, programs);
  suite_box_destroy (box, false, NULL);
}

/* Names that a record tells instead of the header. */
static void
try_records (struct suite_context *suite, bool programs)
{
  static const struct
  {
    const char *trick;
    char type; /* of the entry "f" that it is about */
    const char *key, *value;
    size_t size; /* with what follows a NUL; 0: to the first */
    bool refused;
  } names[] = {
    { "a recorded parent", SUITE_TAR_FILE, "path", "../evil", 0, true },
    { "a recorded absolute name", SUITE_TAR_FILE, "path", "/tmp/evil", 0, true },
    { "a recorded name with a NUL", SUITE_TAR_FILE, "path", "../evil\0/f", 10, true },
    { "a recorded name that is empty", SUITE_TAR_FILE, "path", "", 0, false },
    { "a recorded target of a file", SUITE_TAR_FILE, "linkpath", "/etc/passwd", 0, false },
    { "the control of recorded hard links", SUITE_TAR_HARD_LINK, "linkpath", "good", 0, false },
    { "a recorded hard link to the outside", SUITE_TAR_HARD_LINK, "linkpath", "/etc/passwd", 0, true },
    { "a recorded hard link up", SUITE_TAR_HARD_LINK, "linkpath", "../etc/passwd", 0, true },
  };

  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    {
      struct suite_box *box = suite_box_make (suite);
      BERTH_AUTO_BUFFER struct berth_buffer records = { 0 };
      BERTH_AUTO_BUFFER struct berth_buffer tar = { 0 };
      bool is_link = names[i].type == SUITE_TAR_HARD_LINK; /* without its record to what is there */
      uint32_t code;

      suite_tar_add_record (&records, names[i].key, names[i].value);
      if (names[i].size > 0)
        {
          berth_buffer_clear (&records);
          /* The 19 are "19 path=", the 10 bytes of the value and the end of the line. */
          berth_buffer_append_string (&records, "19 path=");
          berth_buffer_append (&records, names[i].value, names[i].size);
          berth_buffer_append_byte (&records, '\n');
        }
      suite_tar_append (&tar, &(const struct suite_tar_entry) FILE_ENTRY ("good"));
      suite_tar_append_records (&tar, &records);
      suite_tar_append (&tar, &(const struct suite_tar_entry) { "f", names[i].type, 0644, is_link ? "good" : NULL, is_link ? NULL : "evil", 0 });
      suite_tar_end (&tar);
      code = suite_import (box, tar.data, tar.size, 1 << 20, 0);
      SUITE_CHECK (suite, code != 0 || !names[i].refused, "%s: accepted", names[i].trick);
      SUITE_CHECK (suite, code == 0 || names[i].refused || !is_link, "%s: %s", names[i].trick, box->error.message);
      check_outside (suite, box, names[i].trick, programs);
      suite_box_destroy (box, false, NULL);
    }
}

static void
try_truncated (struct suite_context *suite)
{
  struct suite_tar_entry entry = { "file", SUITE_TAR_FILE, 0644, NULL, "content", 0 };
  static const size_t cuts[] = { 1, 100, 511, 513, 700 };

  for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++)
    {
      struct suite_box *box = suite_box_make (suite);
      BERTH_AUTO_BUFFER struct berth_buffer tar = { 0 };

      suite_tar_append (&tar, &entry);
      SUITE_CHECK (suite, suite_import (box, tar.data, cuts[i], 0, 0) != 0, "an archive cut after %zu bytes: accepted", cuts[i]);
      suite_box_destroy (box, false, NULL);
    }
}

void
suite_w04 (struct suite_context *suite)
{
  bool programs = (suite->backend->flags & BERTH_BACKEND_EXECUTES_NOTHING) == 0;

  for (size_t i = 0; i < sizeof archives / sizeof *archives; i++)
    try_archive (suite, &archives[i], programs);
  try_records (suite, programs);
  try_truncated (suite);
}

bool
suite_w04_write (const char *directory)
{
  for (size_t i = 0; i < sizeof archives / sizeof *archives; i++)
    {
      BERTH_AUTO_BUFFER struct berth_buffer tar = { 0 };
      BERTH_AUTO_FREE char *path = berth_string_format ("%s/%zu.tar", directory, i + 1);

      make_archive (&tar, &archives[i]);
      if (path == NULL || tar.error != 0 || berth_fs_replace (AT_FDCWD, path, tar.data, tar.size, 0644) < 0)
        return false;
    }
  return true;
}

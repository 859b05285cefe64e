/* Cases about names and trees: D-055, D-056, D-057, D-064, D-066, D-067. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conformance/suites/content.h"
#include "conformance/suites/files.h"
#include "conformance/suites/run.h"
#include "conformance/suites/tar.h"
#include "conformance/suites/tool.h"
#include "sdk/base/string.h"

#define PLACE SUITE_WORKSPACE "/n"
#define RAN "berth-name-ran"

/* What a shell, an option parser or a splitter of lines would make something else of. */
static const char *const names[] = {
  "a\nb",   " x ",          "-rf",           "*",   "$(touch " RAN ")", "`touch " RAN "`", "; touch " RAN,
  "\xff\xfe", "\xe2\x88\x95", "'quoted'",      "\"", "\\",               "a\tb",            "|touch " RAN,
  "&",      "--help",       "\n",            "~",   "${HOME}",          "total 0",         "#",
};
#define NAMES (sizeof names / sizeof *names)

struct seen
{
  unsigned int times[NAMES];
  unsigned int kinds[NAMES];
  unsigned int strangers;
};

static void
see (void *context, const struct berth_file_info *info)
{
  struct seen *seen = context;

  for (size_t i = 0; i < NAMES; i++)
    if (strcmp (info->name, names[i]) == 0)
      {
        seen->times[i]++;
        seen->kinds[i] = info->kind;
        return;
      }
  seen->strangers++;
}

/* Files, directories and, where programs run, links that lead nowhere, in turn. */
static uint32_t
kind_of (const struct suite_box *box, size_t i)
{
  bool executes = (box->suite->backend->flags & BERTH_BACKEND_EXECUTES_NOTHING) == 0;

  return i % 3 == 0 ? BERTH_KIND_FILE : i % 3 == 1 || !executes ? BERTH_KIND_DIRECTORY : BERTH_KIND_SYMLINK;
}

static void
make_name (struct suite_box *box, size_t i, const char *path)
{
  const char *const link[] = { "ln", "-s", "--", "nowhere", path, NULL };
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };

  if (kind_of (box, i) == BERTH_KIND_FILE)
    SUITE_CHECK_CODE (box->suite, names[i], suite_write_text (box, path, names[i]), 0);
  else if (kind_of (box, i) == BERTH_KIND_DIRECTORY)
    SUITE_CHECK_CODE (box->suite, names[i], suite_make_directory (box, path, 0), 0);
  else
    {
      suite_argv (box, &ran, link);
      SUITE_CHECK_EXIT (box->suite, &ran, 0, names[i]);
    }
}

static void
check_list (struct suite_box *box)
{
  struct seen seen = { { 0 }, { 0 }, 0 };

  SUITE_CHECK_CODE (box->suite, "list", suite_list_files (box, PLACE, see, &seen, NULL), 0);
  SUITE_CHECK (box->suite, seen.strangers == 0, "%u entries that nobody made", seen.strangers);
  for (size_t i = 0; i < NAMES; i++)
    SUITE_CHECK (box->suite, seen.times[i] == 1 && seen.kinds[i] == kind_of (box, i),
                 "\"%s\" is listed %u times, as kind %u, not %u", names[i], seen.times[i], seen.kinds[i], kind_of (box, i));
}

/* Moves it away and back, and removes it. */
static void
try_name (struct suite_box *box, size_t i, const char *path)
{
  struct suite_context *suite = box->suite;
  struct suite_entry entry;

  SUITE_CHECK_CODE (suite, names[i], suite_stat (box, path, false, &entry), 0);
  SUITE_CHECK (suite, entry.info.kind == kind_of (box, i), "\"%s\" has the kind %u, not %u", names[i], entry.info.kind,
               kind_of (box, i));
  if (kind_of (box, i) == BERTH_KIND_FILE)
    suite_check_content (box, path, names[i], strlen (names[i]));
  SUITE_CHECK_CODE (suite, names[i], suite_move (box, path, SUITE_WORKSPACE "/moved", 0), 0);
  SUITE_CHECK_CODE (suite, names[i], suite_stat (box, path, false, &entry), BERTH_E_PATH_NOT_FOUND);
  SUITE_CHECK_CODE (suite, names[i], suite_move (box, SUITE_WORKSPACE "/moved", path, 0), 0);
  SUITE_CHECK_CODE (suite, names[i], suite_remove (box, path, 0), 0);
  SUITE_CHECK_CODE (suite, names[i], suite_stat (box, path, false, &entry), BERTH_E_PATH_NOT_FOUND);
}

void
suite_d055 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  struct suite_entry entry;
  char *paths[NAMES];
  uint64_t left = 1;

  SUITE_CHECK_CODE (suite, PLACE, suite_make_directory (box, PLACE, 0), 0);
  for (size_t i = 0; i < NAMES; i++)
    {
      paths[i] = berth_string_format (PLACE "/%s", names[i]);
      SUITE_REQUIRE (suite, paths[i] != NULL, "no memory");
      make_name (box, i, paths[i]);
    }
  check_list (box);
  for (size_t i = 0; i < NAMES; i++)
    {
      try_name (box, i, paths[i]);
      free (paths[i]);
    }
  SUITE_CHECK_CODE (suite, "list", suite_list_files (box, PLACE, NULL, NULL, &left), 0);
  SUITE_CHECK (suite, left == 0, "%llu entries are left", (unsigned long long) left);
  SUITE_CHECK_CODE (suite, RAN, suite_stat (box, SUITE_WORKSPACE "/" RAN, false, &entry), BERTH_E_PATH_NOT_FOUND);
  SUITE_CHECK (suite, access (RAN, F_OK) < 0, "a name was run on this machine");
}

/* ---- D-056 ---- */

/* Who may see it all lists it; who may not says so. */
static void
check_closed (struct suite_box *box, const char *path)
{
  uint64_t count = 77;

  if (suite_list_files (box, path, NULL, NULL, &count) == 0)
    SUITE_CHECK (box->suite, count == 1, "%s holds a file, and has %llu entries", path, (unsigned long long) count);
  else
    SUITE_CHECK_CODE (box->suite, path, box->error.code, BERTH_E_PATH_REJECTED, BERTH_E_FORBIDDEN);
}

void
suite_d056 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  BERTH_AUTO_BUFFER struct berth_buffer tar = { 0 };
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  uint64_t count = 77;

  suite_sh (box, &ran, 0,
            "mkdir empty full locked half; touch full/a full/b locked/c half/c; ln -s full link; ln -s nowhere dangling; "
            "ln -s loop loop; chmod 0 locked; chmod 444 half");
  SUITE_REQUIRE_EXIT (suite, &ran, 0, "directories");
  SUITE_CHECK_CODE (suite, "an empty one", suite_list_files (box, SUITE_WORKSPACE "/empty", NULL, NULL, &count), 0);
  SUITE_CHECK (suite, count == 0, "an empty directory has %llu entries", (unsigned long long) count);
  SUITE_CHECK_CODE (suite, "a link to one", suite_list_files (box, SUITE_WORKSPACE "/link", NULL, NULL, &count), 0);
  SUITE_CHECK (suite, count == 2, "a link to two files has %llu", (unsigned long long) count);
  SUITE_CHECK_CODE (suite, "a dangling link", suite_list_files (box, SUITE_WORKSPACE "/dangling", NULL, NULL, NULL),
                    BERTH_E_PATH_NOT_FOUND);
  SUITE_CHECK_CODE (suite, "a loop", suite_list_files (box, SUITE_WORKSPACE "/loop", NULL, NULL, NULL), BERTH_E_PATH_REJECTED,
                    BERTH_E_INVALID_REQUEST);
  check_closed (box, SUITE_WORKSPACE "/locked");
  check_closed (box, SUITE_WORKSPACE "/half");
  if (suite_export (box, 0, &tar, NULL) == 0)
    SUITE_CHECK (suite, memmem (tar.data, tar.size, "half/c", 6) != NULL && memmem (tar.data, tar.size, "locked/c", 8) != NULL,
                 "an export leaves out what it could not look at, and says nothing");
}

/* ---- D-057 ---- */

static void
check_empty_file (struct suite_box *box, const char *path)
{
  struct suite_entry entry = { .info = { .size = 77 } };

  SUITE_CHECK_CODE (box->suite, path, suite_stat (box, path, false, &entry), 0);
  SUITE_CHECK (box->suite, entry.info.kind == BERTH_KIND_FILE && entry.info.size == 0, "%s has the kind %u and %llu bytes", path,
               entry.info.kind, (unsigned long long) entry.info.size);
  suite_check_content (box, path, "", 0);
}

void
suite_d057 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  struct suite_box *other = suite_box_make (suite);
  BERTH_AUTO_BUFFER struct berth_buffer tar = { 0 };
  struct suite_entry entry;

  SUITE_CHECK_CODE (suite, "a new one", suite_write (box, SUITE_WORKSPACE "/made/new", "", 0, NULL), 0);
  check_empty_file (box, SUITE_WORKSPACE "/made/new");
  SUITE_CHECK_CODE (suite, "write", suite_write_text (box, SUITE_WORKSPACE "/old", "content"), 0);
  SUITE_CHECK_CODE (suite, "over content", suite_write (box, SUITE_WORKSPACE "/old", "", 0, NULL), 0);
  check_empty_file (box, SUITE_WORKSPACE "/old");
  suite_tar_append (&tar, &(struct suite_tar_entry) { .name = "d/", .type = SUITE_TAR_DIRECTORY, .mode = 0755 });
  suite_tar_append (&tar, &(struct suite_tar_entry) { .name = "e/f", .type = SUITE_TAR_FILE, .mode = 0644 });
  suite_tar_append (&tar, &(struct suite_tar_entry) { .name = "g", .type = SUITE_TAR_FILE, .mode = 0600, .content = "" });
  suite_tar_end (&tar);
  SUITE_CHECK_CODE (suite, "import", suite_import (other, tar.data, tar.size, 0, 0), 0);
  check_empty_file (other, SUITE_WORKSPACE "/e/f");
  check_empty_file (other, SUITE_WORKSPACE "/g");
  SUITE_CHECK_CODE (suite, "stat", suite_stat (other, SUITE_WORKSPACE "/d", false, &entry), 0);
  SUITE_CHECK (suite, entry.info.kind == BERTH_KIND_DIRECTORY, "an empty directory has the kind %u", entry.info.kind);
}

/* ---- D-066 ---- */

/* What files, directories and archives brought is the user's own. */
void
suite_d066 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  struct berth_change fixed = suite_change (BERTH_CHANGE_MODE | BERTH_CHANGE_OWNER | BERTH_CHANGE_GROUP | BERTH_CHANGE_PARENTS);
  BERTH_AUTO_BUFFER struct berth_buffer tar = { 0 };
  SUITE_AUTO_RAN struct suite_ran own = { 0 };
  SUITE_AUTO_RAN struct suite_ran others = { 0 };

  suite_tar_append (&tar, &(struct suite_tar_entry) { .name = "i/f", .type = SUITE_TAR_FILE, .mode = 0600, .content = "x" });
  suite_tar_end (&tar);
  SUITE_CHECK_CODE (suite, "import", suite_import (box, tar.data, tar.size, 0, 0), 0);
  SUITE_CHECK_CODE (suite, "write", suite_write_text (box, SUITE_WORKSPACE "/w/e/f", "x"), 0);
  SUITE_CHECK_CODE (suite, "make", suite_make_directory (box, SUITE_WORKSPACE "/m/k", BERTH_CHANGE_PARENTS), 0);
  suite_sh (box, &own, 0,
            "set -e; for d in i w/e; do echo y >> $d/f; chmod 700 $d/f; mv $d/f $d/g; cat $d/g; touch $d/h; rm -r $d; done; "
            "chmod 700 m; touch m/k/f; rm -r m; echo done");
  SUITE_CHECK_EXIT (suite, &own, 0, "changing what was brought");
  SUITE_CHECK_PRINTED (suite, &own, "xy\nxy\ndone\n", "changing what was brought");
  if ((box->effective.posture & BERTH_POSTURE_SEPARATE_USERS) == 0)
    return;
  fixed.mode = 0444;
  fixed.owner = fixed.group = "root";
  SUITE_CHECK_CODE (suite, "write for root", suite_write (box, SUITE_WORKSPACE "/r/f", "fixed\n", 6, &fixed), 0);
  suite_sh (box, &others, 0, "(echo y >> r/f) 2>/dev/null || echo kept; (chmod 666 r/f) 2>/dev/null || echo kept; cat r/f");
  SUITE_CHECK_PRINTED (suite, &others, "kept\nkept\nfixed\n", "changing what is root's");
}

/* ---- D-067 ---- */

static void
check_deep (struct suite_box *box, const char *what, const char *script)
{
  struct suite_context *suite = box->suite;
  struct suite_box *copy = suite_box_make (suite);
  BERTH_AUTO_BUFFER struct berth_buffer tar = { 0 };
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  struct suite_entry entry;
  uint64_t count = 0;
  uint32_t code;

  suite_sh (box, &ran, 0, script);
  SUITE_REQUIRE_EXIT (suite, &ran, 0, what);
  SUITE_CHECK_CODE (suite, what, suite_list_files (box, PLACE, NULL, NULL, &count), 0);
  SUITE_CHECK (suite, count == 1, "%s: %llu entries at the top", what, (unsigned long long) count);
  code = suite_export (box, 0, &tar, NULL);
  SUITE_CHECK_CODE (suite, what, code, 0, BERTH_E_INVALID_REQUEST, BERTH_E_PAYLOAD_TOO_LARGE);
  if (code == 0)
    SUITE_CHECK_CODE (suite, "import of what was exported", suite_import (copy, tar.data, tar.size, 0, 0), 0);
  else
    SUITE_CHECK (suite, strlen (box->error.message) > 0, "%s: a refusal without a reason", what);
  SUITE_CHECK_CODE (suite, what, suite_remove (box, PLACE, BERTH_CHANGE_RECURSIVE), 0);
  SUITE_CHECK_CODE (suite, what, suite_stat (box, PLACE, false, &entry), BERTH_E_PATH_NOT_FOUND);
}

void
suite_d067 (struct suite_context *suite)
{
  SUITE_AUTO_RAN struct suite_ran again = { 0 };
  struct suite_box *box = suite_box_make (suite);

  check_deep (box, "60 directories with names of 200 bytes",
              "n=$(printf '%0200d' 7); mkdir n; cd n; i=0; while [ $i -lt 60 ]; do mkdir $n && cd -P $n || exit 9; i=$((i+1)); done; echo x > f");
  box = suite_box_make (suite);
  suite_tool_install (box);
  check_deep (box, "300 directories with names of one byte", "./probe deepen n 300");
  suite_sh (box, &again, 0, "./probe deepen n 1100");
  SUITE_CHECK_EXIT (suite, &again, 0, "more of them, for destroy");
}

/* D-053: a directory that becomes a link and back, while each operation on files looks at it.
 *
 * What changes something must not leave the workspace: the link leads to a folder of the sandbox
 * that is none of its business.  What reads must not see the host: the link has the name of a
 * folder here.  The control is the same race against plain calls by path on this machine, where it
 * must be lost. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conformance/escape/escape.h"
#include "conformance/suites/content.h"
#include "conformance/suites/tar.h"
#include "conformance/suites/tool.h"
#include "sdk/base/clock.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"
#include "sdk/base/tests/runner.h"

#define CONTROL_MS 20000
#define DIRECTORY SUITE_WORKSPACE "/r/d"
#define SECRET "the-secret-of-this-machine"

struct race
{
  const char *name;
  bool reads;                                             /* the link leads to the host's folder */
  uint32_t (*attempt) (struct suite_box *box, bool *saw); /* on names below DIRECTORY */
  bool (*unprotected) (const char *top);                  /* on top/d; true: it was misled for sure */
};

/* ---- the operations ---- */

static uint32_t
race_write (struct suite_box *box, bool *saw)
{
  (void) saw;
  return suite_write_text (box, DIRECTORY "/victim", "changed");
}

static uint32_t
race_make_directory (struct suite_box *box, bool *saw)
{
  uint32_t code = suite_make_directory (box, DIRECTORY "/new/below", BERTH_CHANGE_PARENTS);

  (void) saw;
  suite_remove (box, DIRECTORY "/new", BERTH_CHANGE_RECURSIVE);
  return code;
}

static uint32_t
race_remove (struct suite_box *box, bool *saw)
{
  uint32_t code = suite_remove (box, DIRECTORY "/victim", 0);

  (void) saw;
  suite_write_text (box, DIRECTORY "/victim", "again");
  return code;
}

static uint32_t
race_remove_tree (struct suite_box *box, bool *saw)
{
  (void) saw;
  suite_make_directory (box, DIRECTORY "/folder/deep", BERTH_CHANGE_PARENTS);
  return suite_remove (box, DIRECTORY "/folder", BERTH_CHANGE_RECURSIVE);
}

/* Within the folder: what it leads to is another file system, and a move to there fails anyway. */
static uint32_t
race_move (struct suite_box *box, bool *saw)
{
  uint32_t code = suite_move (box, DIRECTORY "/victim", DIRECTORY "/moved", 0);

  (void) saw;
  return suite_move (box, DIRECTORY "/moved", DIRECTORY "/victim", 0) == 0 ? 0 : code;
}

static uint32_t
race_set_attributes (struct suite_box *box, bool *saw)
{
  struct berth_change how = suite_change (BERTH_CHANGE_MODE);

  (void) saw;
  how.mode = 0777;
  return suite_set_attributes (box, DIRECTORY "/victim", &how);
}

static uint32_t
race_import (struct suite_box *box, bool *saw)
{
  BERTH_AUTO_BUFFER struct berth_buffer tar = { 0 };
  const struct suite_tar_entry entry = { "r/d/victim", SUITE_TAR_FILE, 0777, NULL, "imported", 0 };

  (void) saw;
  suite_tar_append (&tar, &entry);
  suite_tar_end (&tar);
  return suite_import (box, tar.data, tar.size, 0, 0);
}

static uint32_t
race_read (struct suite_box *box, bool *saw)
{
  BERTH_AUTO_BUFFER struct berth_buffer bytes = { 0 };
  uint32_t code = suite_read (box, DIRECTORY "/victim", &bytes);

  *saw |= strstr (berth_buffer_string (&bytes), SECRET) != NULL;
  return code;
}

static void
look_for_secret (void *context, const struct berth_file_info *info)
{
  bool *saw = context;

  *saw |= strcmp (info->name, SECRET) == 0;
}

static uint32_t
race_list (struct suite_box *box, bool *saw)
{
  return suite_list_files (box, DIRECTORY, look_for_secret, saw, NULL);
}

static uint32_t
race_stat (struct suite_box *box, bool *saw)
{
  struct suite_entry entry;
  uint32_t code = suite_stat (box, DIRECTORY "/victim", true, &entry);

  *saw |= code == 0 && entry.info.size == strlen (SECRET);
  return code;
}

static uint32_t
race_export (struct suite_box *box, bool *saw)
{
  BERTH_AUTO_BUFFER struct berth_buffer tar = { 0 };
  uint32_t code = suite_export (box, 0, &tar, NULL);

  *saw |= tar.size > 0 && memmem (tar.data, tar.size, SECRET, strlen (SECRET)) != NULL;
  return code;
}

/* ---- the same by path ---- */

static char *
victim_of (const char *top)
{
  return berth_string_format ("%s/d/victim", top);
}

static bool
plain_write (const char *top)
{
  BERTH_AUTO_FREE char *path = victim_of (top);
  BERTH_AUTO_FD int fd = open (path, O_WRONLY | O_TRUNC | O_CLOEXEC);

  return fd < 0;
}

static bool
plain_make_directory (const char *top)
{
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/d/new", top);

  return mkdir (path, 0700) < 0 && rmdir (path) < 0;
}

static bool
plain_remove (const char *top)
{
  BERTH_AUTO_FREE char *path = victim_of (top);

  unlink (path);
  return false;
}

static bool
plain_move (const char *top)
{
  BERTH_AUTO_FREE char *path = victim_of (top);
  BERTH_AUTO_FREE char *to = berth_string_format ("%s/moved", top);

  return rename (path, to) < 0;
}

static bool
plain_chmod (const char *top)
{
  BERTH_AUTO_FREE char *path = victim_of (top);

  return chmod (path, 0777) < 0;
}

static bool
plain_read (const char *top)
{
  BERTH_AUTO_FREE char *path = victim_of (top);
  BERTH_AUTO_BUFFER struct berth_buffer bytes = { 0 };

  return berth_fs_read (AT_FDCWD, path, &bytes, 1000) == 0 && strcmp (berth_buffer_string (&bytes), SECRET) == 0;
}

static bool
plain_list (const char *top)
{
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/d", top);
  BERTH_AUTO_DIR DIR *directory = opendir (path);
  bool saw = false;

  for (struct dirent *entry; directory != NULL && (entry = readdir (directory)) != NULL;)
    saw |= strcmp (entry->d_name, SECRET) == 0;
  return saw;
}

static bool
plain_stat (const char *top)
{
  BERTH_AUTO_FREE char *path = victim_of (top);
  struct stat status;

  return stat (path, &status) == 0 && status.st_size == (off_t) strlen (SECRET);
}

static const struct race races[] = {
  { "write", false, race_write, plain_write },
  { "make_directory", false, race_make_directory, plain_make_directory },
  { "remove", false, race_remove, plain_remove },
  { "remove of a tree", false, race_remove_tree, plain_remove },
  { "move", false, race_move, plain_move },
  { "set_attributes", false, race_set_attributes, plain_chmod },
  { "import", false, race_import, plain_write },
  { "read", true, race_read, plain_read },
  { "list", true, race_list, plain_list },
  { "stat", true, race_stat, plain_stat },
  { "export", true, race_export, plain_read },
};

/* ---- the control ---- */

struct control
{
  char top[256];
  char out[256];
  bool stop;
};

static void *
swap_outside (void *context)
{
  struct control *control = context;
  BERTH_AUTO_FREE char *directory = berth_string_format ("%s/d", control->top);
  BERTH_AUTO_FREE char *link = berth_string_format ("%s/l", control->top);

  while (!__atomic_load_n (&control->stop, __ATOMIC_RELAXED))
    renameat2 (AT_FDCWD, directory, AT_FDCWD, link, RENAME_EXCHANGE);
  return NULL;
}

static bool
write_text (const char *folder, const char *name, const char *text)
{
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/%s", folder, name);
  BERTH_AUTO_FD int fd = open (path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

  return fd >= 0 && write (fd, text, strlen (text)) == (ssize_t) strlen (text);
}

/* Of the folder that nobody may touch. */
static bool
is_touched (const char *out)
{
  BERTH_AUTO_FREE char *victim = berth_string_format ("%s/victim", out);
  BERTH_AUTO_FREE char *new = berth_string_format ("%s/new", out);
  struct stat status;

  return stat (victim, &status) < 0 || status.st_size != (off_t) strlen (SECRET) || (status.st_mode & 0777) != 0600
         || access (new, F_OK) == 0;
}

/* Checked by name, and then used by name. */
static bool
is_misled (const struct race *race, struct control *control)
{
  BERTH_AUTO_FREE char *directory = berth_string_format ("%s/d", control->top);
  struct stat status;
  bool misled = false;

  if (lstat (directory, &status) == 0 && S_ISDIR (status.st_mode))
    misled = race->unprotected (control->top) && race->reads;
  return misled || (!race->reads && is_touched (control->out));
}

static void
check_control (struct suite_context *suite, const struct race *race)
{
  struct control control = { .stop = false };
  int64_t until = berth_clock_monotonic_ms () + CONTROL_MS;
  bool misled = false;
  pthread_t thread;

  snprintf (control.top, sizeof control.top, "%s/control", suite->directory);
  snprintf (control.out, sizeof control.out, "%s/untouched", suite->directory);
  BERTH_AUTO_FREE char *directory = berth_string_format ("%s/d", control.top);
  BERTH_AUTO_FREE char *link = berth_string_format ("%s/l", control.top);
  SUITE_REQUIRE (suite,
                 mkdir (control.top, 0700) == 0 && mkdir (control.out, 0700) == 0 && mkdir (directory, 0700) == 0
                     && symlink (control.out, link) == 0 && write_text (control.out, "victim", SECRET)
                     && write_text (control.out, SECRET, "") && write_text (directory, "victim", "mine"),
                 "no folders for the control");
  SUITE_REQUIRE (suite, pthread_create (&thread, NULL, swap_outside, &control) == 0, "no thread");
  while (!misled && berth_clock_monotonic_ms () < until)
    misled = is_misled (race, &control);
  __atomic_store_n (&control.stop, true, __ATOMIC_RELAXED);
  pthread_join (thread, NULL);
  SUITE_CHECK (suite, misled, "%s by path was never misled: the race proves nothing", race->name);
  berth_fs_remove_tree (AT_FDCWD, control.top);
  berth_fs_remove_tree (AT_FDCWD, control.out);
}

/* ---- the race ---- */

static const char look[] = "cd /tmp/out && find . -printf '%P %y %m %s %T@ %U\\n' | sort && cat victim";

static void *
run_swapper (void *context)
{
  struct suite_job *job = context;
  bool is_long = berth_test_is_long ();

  suite_argv (job->box, &job->ran,
              (const char *const[]) { SUITE_TOOL, "swap", DIRECTORY, SUITE_WORKSPACE "/r/l", is_long ? "3000" : "500",
                                      is_long ? "100000" : "10000", NULL });
  __atomic_store_n (&job->command.discard, true, __ATOMIC_RELAXED);
  return NULL;
}

static void
run_race (struct suite_box *box, const struct race *race, const char *host_folder)
{
  struct suite_context *suite = box->suite;
  struct suite_job job = { .box = box };
  SUITE_AUTO_RAN struct suite_ran prepare = { 0 };
  SUITE_AUTO_RAN struct suite_ran before = { 0 };
  SUITE_AUTO_RAN struct suite_ran after = { 0 };
  BERTH_AUTO_FREE char *script
      = berth_string_format ("rm -rf r moved /tmp/out; mkdir -p r/d /tmp/out/folder/deep && cd /tmp/out && echo safe > victim && "
                             "chmod 600 victim && cd - && echo mine > r/d/victim && ln -s %s r/l",
                             race->reads ? host_folder : "../../tmp/out");
  unsigned int done = 0;
  unsigned int refused = 0;
  bool saw = false;

  suite_sh (box, &prepare, 0, script);
  SUITE_REQUIRE_EXIT (suite, &prepare, 0, "the folders");
  suite_sh (box, &before, 0, look);
  SUITE_REQUIRE (suite, pthread_create (&job.thread, NULL, run_swapper, &job) == 0, "no thread");
  while (!__atomic_load_n (&job.command.discard, __ATOMIC_RELAXED))
    {
      uint32_t code = race->attempt (box, &saw);

      done += code == 0;
      refused += code != 0;
    }
  suite_job_join (&job);
  SUITE_CHECK_EXIT (suite, &job.ran, 0, race->name);
  SUITE_CHECK (suite, done > 0, "%s: never succeeded in %u times", race->name, refused);
  SUITE_CHECK (suite, !saw, "%s: saw what is the host's", race->name);
  suite_sh (box, &after, 0, look);
  SUITE_CHECK_PRINTED (suite, &after, berth_buffer_string (&before.out), race->name);
  if (berth_test_is_long ())
    suite_warn (suite, "%s: %.20s swaps, %u done, %u refused", race->name, berth_buffer_string (&job.ran.out), done, refused);
  suite_ran_free (&job.ran);
}

void
escape_races (struct suite_context *suite)
{
  struct suite_box *box = escape_box (suite);
  BERTH_AUTO_FREE char *host_folder = berth_string_format ("%s/secrets", suite->directory);

  SUITE_REQUIRE (suite,
                 mkdir (host_folder, 0755) == 0 && write_text (host_folder, "victim", SECRET) && write_text (host_folder, SECRET, ""),
                 "no folder for secrets");
  suite_tool_install (box);
  for (size_t i = 0; i < sizeof races / sizeof *races; i++)
    {
      check_control (suite, &races[i]);
      run_race (box, &races[i], host_folder);
    }
}

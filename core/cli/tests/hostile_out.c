/* D-073, D-074: what a hostile sandbox tells of its files while they are copied out. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/cli/tests/process.h"
#include "sdk/base/fd.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"
#include "sdk/base/tests/runner.h"

static int
count_entries (const char *name)
{
  BERTH_AUTO_DIR DIR *directory = opendir (process_path (name));
  int count = 0;

  while (directory != NULL && readdir (directory) != NULL)
    count++;
  return count - 2;
}

/* Copies tree, or FILE of it, into an empty directory beside another one, which must stay empty. */
static void
copy_out (struct process_result *result, const char *trick, const char *from)
{
  BERTH_AUTO_FREE char *variable = berth_string_format ("BERTH_TEST_TRICK=%s", trick);
  const char *environment[] = { variable, NULL };
  BERTH_AUTO_FREE char *here = strdup (process_path ("here"));

  CU_ASSERT_EQUAL (mkdir (here, 0755), 0);
  CU_ASSERT_EQUAL (mkdir (process_path ("outside"), 0755), 0);
  berth_with (result, (&(struct process_setup){ .environment = environment }), "cp", from, here);
  CU_ASSERT_EQUAL (count_entries ("outside"), 0);
  CU_ASSERT (count_entries ("here") <= 1);
}

/* What there is below "here" in files, in bytes; each counts as one at least. */
static off_t
bytes_here (void)
{
  BERTH_AUTO_FREE char *command
      = berth_string_format ("find '%s' -type f -printf '%%s\\n' | awk '{ sum += $1 > 0 ? $1 : 1 } END { print sum + 0 }'",
                             process_path ("here"));
  FILE *pipe = popen (command, "r");
  long long bytes = -1;

  CU_ASSERT_PTR_NOT_NULL_FATAL (pipe);
  CU_ASSERT_EQUAL (fscanf (pipe, "%lld", &bytes), 1);
  CU_ASSERT_EQUAL (pclose (pipe), 0);
  return (off_t) bytes;
}

static void
clear (void)
{
  CU_ASSERT_EQUAL (berth_fs_remove_tree (AT_FDCWD, process_path ("here")), 0);
  CU_ASSERT_EQUAL (berth_fs_remove_tree (AT_FDCWD, process_path ("outside")), 0);
}

static void
begin (void)
{
  AUTO_RESULT struct process_result result = { 0 };

  berth (&result, "create", "--name", "box");
  EXPECT_STATUS (result, 0);
  berth (&result, "write", "box", "tree/log.txt", "--content", "good");
  EXPECT_STATUS (result, 0);
}

static void
end (void)
{
  AUTO_RESULT struct process_result result = { 0 };

  berth (&result, "rm", "box");
  EXPECT_STATUS (result, 0);
}

static void
test_names (void)
{
  static const char *const tricks[] = { "../.profile", "..", ".", "", "a/b", "/etc/evil" };

  begin ();
  for (size_t i = 0; i < sizeof tricks / sizeof *tricks; i++)
    {
      AUTO_RESULT struct process_result result = { 0 };

      copy_out (&result, tricks[i], "box:tree");
      EXPECT_STATUS (result, 125);
      EXPECT_IN (result.err, "impossible name");
      CU_ASSERT (access (process_path ("here/.profile"), F_OK) < 0 && access (process_path (".profile"), F_OK) < 0);
      clear ();
    }
  end ();
}

/* A name that is told again, as something else, leads nowhere. */
static void
test_twice (void)
{
  AUTO_RESULT struct process_result result = { 0 };

  begin ();
  copy_out (&result, "twice", "box:tree");
  CU_ASSERT_NOT_EQUAL (result.status, 0);
  clear ();
  copy_out (&result, "through", "box:tree");
  CU_ASSERT_NOT_EQUAL (result.status, 0);
  clear ();
  end ();
}

static void
test_floods (void)
{
  static const struct
  {
    const char *trick, *from, *told;
  } floods[] = {
    { "many", "box:tree", "entries" },
    { "huge", "box:tree", "--max-bytes" },
    { "deep", "box:tree", "below each other" },
    { "endless", "box:tree/log.txt", "" },
  };

  begin ();
  for (size_t i = 0; i < sizeof floods / sizeof *floods; i++)
    {
      AUTO_RESULT struct process_result result = { 0 };

      copy_out (&result, floods[i].trick, floods[i].from);
      EXPECT_STATUS (result, 125);
      EXPECT_IN (result.err, floods[i].told);
      CU_ASSERT (bytes_here () <= 65536);
      clear ();
    }
  end ();
}

/* One file was asked for: it is what there is, with rights that its owner may give here. */
static void
test_honest (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  struct stat status = { 0 };

  begin ();
  copy_out (&result, "none", "box:tree");
  EXPECT_STATUS (result, 0);
  CU_ASSERT_EQUAL (stat (process_path ("here/tree/log.txt"), &status), 0);
  CU_ASSERT_EQUAL (status.st_mode & 07000, 0);
  CU_ASSERT_EQUAL (status.st_uid, geteuid ());
  CU_ASSERT_EQUAL (status.st_size, 4);
  CU_ASSERT_EQUAL (bytes_here (), 4);
  clear ();
  end ();
}

static const struct berth_test tests[] = {
  { "D-073 D-074 names that nobody asked for", test_names },
  { "D-074 a name told twice", test_twice },
  { "D-074 floods have an end", test_floods },
  { "D-073 what is copied is the caller's", test_honest },
  { NULL, NULL },
};

int
main (void)
{
  BERTH_AUTO_FREE char *honest = berth_string_format ("%s/plugins/fake/.libs/berth-backend-fake.so", getenv ("BERTH_TEST_BUILDDIR"));
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/core/cli/tests/.libs", getenv ("BERTH_TEST_BUILDDIR"));

  setenv ("BERTH_TEST_HONEST", honest, 1);
  setenv ("BERTH_BACKEND_PATH", path, 1);
  return process_main ("cp from a hostile sandbox", "hostile", tests);
}

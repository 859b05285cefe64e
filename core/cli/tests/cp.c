/* `berth cp`: its rules, and what a hostile sandbox or archive can do to the machine: nothing.  Built
 * once for each of the backends it is run on. */
#include <errno.h>
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

#define BOX "box"
#define BLOCK 512

/* ---- helpers ---- */

/* A path below the test's directory, for as long as the test runs. */
static char *
path_of (const char *name)
{
  return strdup (process_path (name));
}
#define AUTO_PATH(variable, name) BERTH_AUTO_FREE char *variable = path_of (name)

/* A fresh sandbox, an empty directory "here" and one called "outside" with a file in it. */
static void
begin (void)
{
  AUTO_RESULT struct process_result result = { 0 };

  berth (&result, "create", "--name", BOX);
  EXPECT_STATUS (result, 0);
  CU_ASSERT_EQUAL (mkdir (process_path ("here"), 0755), 0);
  CU_ASSERT_EQUAL (mkdir (process_path ("outside"), 0755), 0);
  CU_ASSERT_EQUAL (process_write_file ("outside/file", "untouched"), 0);
}

static bool
has_content (const char *name, const char *content)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };

  return berth_fs_read (AT_FDCWD, process_path (name), &text, 65536) == 0 && text.size == strlen (content)
         && strcmp (berth_buffer_string (&text), content) == 0;
}

static int
count_entries (const char *name)
{
  BERTH_AUTO_DIR DIR *directory = opendir (process_path (name));
  int count = 0;

  while (directory != NULL && readdir (directory) != NULL)
    count++;
  return count - 2;
}

/* Whatever was tried: outside is as it was, and nothing half-written is left. */
static void
finish (void)
{
  AUTO_RESULT struct process_result result = { 0 };

  CU_ASSERT (has_content ("outside/file", "untouched"));
  CU_ASSERT_EQUAL (count_entries ("outside"), 1);
  CU_ASSERT_EQUAL (berth_fs_remove_tree (AT_FDCWD, process_path ("here")), 0);
  CU_ASSERT_EQUAL (berth_fs_remove_tree (AT_FDCWD, process_path ("outside")), 0);
  berth (&result, "rm", BOX);
  EXPECT_STATUS (result, 0);
}

static bool
is_there (const char *name)
{
  struct stat status;

  return lstat (process_path (name), &status) == 0;
}

static mode_t
mode_of (const char *name)
{
  struct stat status;

  return lstat (process_path (name), &status) == 0 ? status.st_mode : 0;
}

static time_t
time_of (const char *name)
{
  struct stat status;

  return lstat (process_path (name), &status) == 0 ? status.st_mtim.tv_sec : 0;
}

/* ---- archives made by hand, since no library would make these ---- */

static void
add_archived (struct berth_buffer *tar, char type, const char *name, const char *link, const char *content)
{
  char block[BLOCK] = "";
  unsigned int sum = 0;
  size_t size = content != NULL ? strlen (content) : 0;

  strncpy (block, name, 100);
  snprintf (block + 100, 8, "%07o", type == '5' ? 0755 : 06644);
  snprintf (block + 108, 8, "%07o", 0);
  snprintf (block + 116, 8, "%07o", 0);
  snprintf (block + 124, 12, "%011o", (unsigned int) size);
  snprintf (block + 136, 12, "%011o", 1000000000);
  memset (block + 148, ' ', 8);
  block[156] = type;
  if (link != NULL)
    strncpy (block + 157, link, 100);
  memcpy (block + 257, "ustar\00000", 8);
  for (size_t i = 0; i < sizeof block; i++)
    sum += (unsigned char) block[i];
  snprintf (block + 148, 8, "%06o", sum);
  berth_buffer_append (tar, block, sizeof block);
  memset (block, 0, sizeof block);
  if (size > 0)
    memcpy (block, content, size);
  if (size > 0)
    berth_buffer_append (tar, block, sizeof block);
}

static void
end_archive (struct berth_buffer *tar)
{
  static const char zeros[2 * BLOCK];

  berth_buffer_append (tar, zeros, sizeof zeros);
}

/* `berth cp - box:PLACE` with the archive as its input, which goes. */
static void
send_archive (struct process_result *result, struct berth_buffer *tar, const char *place)
{
  AUTO_PATH (name, "archive.tar");
  BERTH_AUTO_FD int fd = open (name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

  CU_ASSERT_EQUAL (berth_fd_write_all (fd, tar->data, tar->size), 0);
  CU_ASSERT_EQUAL (lseek (fd, 0, SEEK_SET), 0);
  berth_with (result, (&(struct process_setup){ .in = fd }), "cp", "-", place);
  berth_buffer_clear (tar);
  CU_ASSERT_EQUAL (unlink (name), 0);
}

/* ---- rules ---- */

static void
make_tree (void)
{
  struct timespec times[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };

  CU_ASSERT_EQUAL (mkdir (process_path ("here/tree"), 0755), 0);
  CU_ASSERT_EQUAL (mkdir (process_path ("here/tree/empty"), 0711), 0);
  CU_ASSERT_EQUAL (mkdir (process_path ("here/tree/sub"), 0755), 0);
  CU_ASSERT_EQUAL (process_write_file ("here/tree/sub/file", "content"), 0);
  CU_ASSERT_EQUAL (process_write_file ("here/tree/none", ""), 0);
  CU_ASSERT_EQUAL (chmod (process_path ("here/tree/sub/file"), 0750), 0);
  CU_ASSERT_EQUAL (symlink ("../none", process_path ("here/tree/sub/link")), 0);
  CU_ASSERT_EQUAL (process_write_file ("here/tree/-\n\xff\\ \x1b[31m", "odd"), 0);
  CU_ASSERT_EQUAL (utimensat (AT_FDCWD, process_path ("here/tree/sub/file"), times, 0), 0);
  CU_ASSERT_EQUAL (utimensat (AT_FDCWD, process_path ("here/tree/sub"), times, 0), 0);
}

static void
test_round_trip (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  AUTO_PATH (tree, "here/tree");
  AUTO_PATH (back, "here/back");
  AUTO_PATH (here, "here");
  char link[32] = "";

  begin ();
  make_tree ();
  berth (&result, "cp", tree, BOX ":.");
  EXPECT_STATUS (result, 0);
  CU_ASSERT_EQUAL (result.out.size + result.err.size, 0);
  berth (&result, "cp", BOX ":tree", back);
  EXPECT_STATUS (result, 0);
  CU_ASSERT_EQUAL (mode_of ("here/back/sub/file"), S_IFREG | 0750);
  CU_ASSERT_EQUAL (mode_of ("here/back/empty"), S_IFDIR | 0711);
  CU_ASSERT_EQUAL (time_of ("here/back/sub/file"), 1000000000);
  CU_ASSERT_EQUAL (time_of ("here/back/sub"), 1000000000);
  CU_ASSERT (has_content ("here/back/sub/file", "content"));
  CU_ASSERT (has_content ("here/back/none", ""));
  CU_ASSERT (has_content ("here/back/-\n\xff\\ \x1b[31m", "odd"));
  CU_ASSERT_EQUAL (readlink (process_path ("here/back/sub/link"), link, sizeof link - 1), 7);
  CU_ASSERT_STRING_EQUAL (link, "../none");
  /* Into a directory that is there: under its own name, or the content alone. */
  berth (&result, "cp", "/" BOX ":x", here);
  EXPECT_STATUS (result, 2);
  berth (&result, "cp", BOX ":/workspace/tree/empty/", here);
  EXPECT_STATUS (result, 0);
  CU_ASSERT_EQUAL (mode_of ("here/empty"), S_IFDIR | 0711);
  /* The link in it leads out of what is copied this time. */
  berth (&result, "cp", BOX ":tree/sub/.", here);
  EXPECT_STATUS (result, 1);
  CU_ASSERT (has_content ("here/file", "content"));
  finish ();
}

static void
test_destinations (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  AUTO_PATH (tree, "here/tree");
  AUTO_PATH (content, "here/tree/sub/.");
  AUTO_PATH (file, "here/tree/sub/file");
  AUTO_PATH (none, "here/tree/none");
  AUTO_PATH (nowhere, "here/nowhere/file");
  AUTO_PATH (slash, "here/nowhere/");

  begin ();
  make_tree ();
  berth (&result, "cp", file, BOX ":new");
  EXPECT_STATUS (result, 0);
  berth (&result, "cp", none, BOX ":new");
  EXPECT_STATUS (result, 0);
  berth (&result, "read", BOX, "new");
  CU_ASSERT_EQUAL (result.out.size, 0);
  berth (&result, "cp", file, BOX ":");
  EXPECT_STATUS (result, 0);
  berth (&result, "read", BOX, "file");
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&result.out), "content");
  berth (&result, "cp", content, BOX ":made");
  EXPECT_STATUS (result, 0);
  berth (&result, "read", BOX, "made/file");
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&result.out), "content");
  berth (&result, "cp", file, BOX ":no/such/place");
  EXPECT_STATUS (result, 125);
  EXPECT_IN (result.err, "/workspace/no/such");
  berth (&result, "cp", file, BOX ":nodir/");
  EXPECT_STATUS (result, 125);
  berth (&result, "cp", tree, BOX ":file");
  EXPECT_STATUS (result, 125);
  EXPECT_IN (result.err, "in the way");
  berth (&result, "cp", file, BOX ":/etc/motd");
  EXPECT_STATUS (result, 125);
  berth (&result, "cp", file, BOX ":made/../../../etc/motd");
  EXPECT_STATUS (result, 125);
  berth (&result, "cp", BOX ":file", nowhere);
  EXPECT_STATUS (result, 125);
  berth (&result, "cp", BOX ":file", slash);
  EXPECT_STATUS (result, 125);
  berth (&result, "cp", BOX ":made", none);
  EXPECT_STATUS (result, 125);
  EXPECT_IN (result.err, "in the way");
  berth (&result, "cp", BOX ":missing", tree);
  EXPECT_STATUS (result, 125);
  EXPECT_IN (result.err, "missing");
  berth (&result, "cp", file, tree);
  EXPECT_STATUS (result, 2);
  berth (&result, "cp", BOX ":file", BOX ":other");
  EXPECT_STATUS (result, 2);
  berth (&result, "cp", "--json", BOX ":file", "-");
  EXPECT_STATUS (result, 2);
  finish ();
}

static void
test_json_and_left_out (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  BERTH_AUTO_JSON struct berth_json *document = NULL;
  AUTO_PATH (tree, "here/tree");
  struct berth_json *left;
  int64_t number = 0;

  begin ();
  make_tree ();
  CU_ASSERT_EQUAL (mkfifo (process_path ("here/tree/pipe"), 0644), 0);
  berth (&result, "cp", tree, BOX ":");
  EXPECT_STATUS (result, 1);
  EXPECT_IN (result.err, "left out tree/pipe");
  berth (&result, "cp", "--json", tree, BOX ":again");
  EXPECT_STATUS (result, 1);
  document = process_json (&result.out);
  left = berth_json_get (document, "left_out");
  CU_ASSERT_EQUAL (berth_json_length (left), 1);
  CU_ASSERT_STRING_EQUAL (berth_json_string (berth_json_get (berth_json_at (left, 0), "name")), "again/pipe");
  CU_ASSERT_EQUAL (berth_json_to_int64 (berth_json_get (document, "files"), &number), 0);
  CU_ASSERT_EQUAL (number, 3);
  CU_ASSERT_EQUAL (berth_json_to_int64 (berth_json_get (document, "bytes"), &number), 0);
  CU_ASSERT_EQUAL (number, 10);
  finish ();
}

static void
test_stream (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer tar = { 0 };
  AUTO_PATH (tree, "here/tree");
  AUTO_PATH (back, "here/back");

  begin ();
  make_tree ();
  berth (&result, "cp", tree, BOX ":");
  EXPECT_STATUS (result, 0);
  berth (&result, "cp", BOX ":tree", "-");
  EXPECT_STATUS (result, 0);
  berth_buffer_append (&tar, result.out.data, result.out.size);
  berth (&result, "write", BOX, "unpacked/keep", "--content", "kept");
  EXPECT_STATUS (result, 0);
  send_archive (&result, &tar, BOX ":unpacked");
  EXPECT_STATUS (result, 0);
  berth (&result, "read", BOX, "unpacked/keep");
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&result.out), "kept");
  berth (&result, "cp", BOX ":unpacked/tree", back);
  EXPECT_STATUS (result, 0);
  CU_ASSERT (has_content ("here/back/-\n\xff\\ \x1b[31m", "odd"));
  CU_ASSERT_EQUAL (mode_of ("here/back/sub/file"), S_IFREG | 0750);
  CU_ASSERT_EQUAL (time_of ("here/back/sub/file"), 1000000000);
  finish ();
}

/* ---- hostile archives, on their way in ---- */

struct trick
{
  const char *name;
  char type;
  const char *path;
  const char *link;
};

static void
test_archives_in (void)
{
  static const struct trick tricks[] = {
    { "parent", '0', "../../escaped", NULL },
    { "parent in the middle", '0', "a/../../escaped", NULL },
    { "parent at the end", '5', "a/..", NULL },
    { "dot in the middle", '0', "a/./b", NULL },
    { "absolute", '0', "/workspace/escaped", NULL },
    { "absolute after a dot", '0', ".//etc/escaped", NULL },
    { "hard link out", '1', "escaped", "/etc/passwd" },
    { "hard link up", '1', "escaped", "../../etc/passwd" },
    { "character device", '3', "escaped", NULL },
    { "block device", '4', "escaped", NULL },
    { "through the link before it", '0', "link/escaped", NULL },
    { "hard link through the link before it", '1', "escaped", "link/passwd" },
  };
  AUTO_RESULT struct process_result result = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer tar = { 0 };

  begin ();
  berth (&result, "write", BOX, "inner/keep", "--content", "kept");
  for (size_t i = 0; i < sizeof tricks / sizeof *tricks; i++)
    {
      add_archived (&tar, '2', "link", "/etc", NULL);
      add_archived (&tar, tricks[i].type, tricks[i].path, tricks[i].link, tricks[i].type == '0' ? "evil" : NULL);
      end_archive (&tar);
      send_archive (&result, &tar, BOX ":inner");
      if (result.status != 125)
        fprintf (stderr, "trick \"%s\"\n", tricks[i].name);
      EXPECT_STATUS (result, 125);
      berth (&result, "files", BOX, "/workspace", "-0");
      CU_ASSERT_EQUAL (result.out.size, 6);
      CU_ASSERT_STRING_EQUAL (berth_buffer_string (&result.out), "inner");
      berth (&result, "files", BOX, "/etc/escaped");
      EXPECT_STATUS (result, 125);
      berth (&result, "read", BOX, "inner/escaped");
      EXPECT_STATUS (result, 125);
    }
  add_archived (&tar, '0', "cut", NULL, "content");
  tar.size -= BLOCK / 2;
  send_archive (&result, &tar, BOX ":inner");
  EXPECT_STATUS (result, 125);
  berth (&result, "cp", "-", BOX ":inner");
  EXPECT_STATUS (result, 125);
  finish ();
}

/* ---- hostile sandboxes, on the way out ---- */

/* Links are taken out only where every way through them ends in what was copied. */
static void
test_links_out (void)
{
  static const struct
  {
    const char *name, *target;
    bool copied;
  } links[] = {
    { "tree/absolute", "/etc/passwd", false },
    { "tree/up", "../outside", false },
    { "tree/up-far", "../../../../../../etc/passwd", false },
    { "tree/up-later", "sub/../../outside", false },
    { "tree/up-through-a-link", "deep/../../../outside", false },
    { "tree/sub/up-twice", "../../outside", false },
    { "tree/dots", "./.././outside", false },
    { "tree/root", "/", false },
    { "tree/deep", "sub/further", true },
    { "tree/sub/up-once", "../sub/further", true },
    { "tree/self", ".", true },
    { "tree/dangling", "nothing...", true },
  };
  AUTO_RESULT struct process_result result = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer tar = { 0 };
  AUTO_PATH (here, "here");

  begin ();
  add_archived (&tar, '5', "tree/sub/further", NULL, NULL);
  for (size_t i = 0; i < sizeof links / sizeof *links; i++)
    add_archived (&tar, '2', links[i].name, links[i].target, NULL);
  end_archive (&tar);
  send_archive (&result, &tar, BOX ":");
  EXPECT_STATUS (result, 0);
  berth (&result, "cp", BOX ":tree", here);
  EXPECT_STATUS (result, 1);
  for (size_t i = 0; i < sizeof links / sizeof *links; i++)
    {
      BERTH_AUTO_FREE char *name = berth_string_format ("here/%s", links[i].name);

      CU_ASSERT_EQUAL (is_there (name), links[i].copied);
      if (is_there (name) != links[i].copied)
        fprintf (stderr, "link \"%s\"\n", links[i].name);
    }
  EXPECT_IN (result.err, "leads out");
  /* With all of them, a tar is only a text. */
  berth (&result, "cp", BOX ":tree", "-");
  EXPECT_STATUS (result, 0);
  finish ();
}

/* What a first copy left, or somebody put there, is not walked through by the second. */
static void
test_in_the_way (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  AUTO_PATH (here, "here");
  AUTO_PATH (outside, "outside");
  AUTO_PATH (file, "outside/file");
  AUTO_PATH (planted, "here/tree/sub");
  AUTO_PATH (replaced, "here/tree/file");
  struct stat status;

  begin ();
  berth (&result, "write", BOX, "tree/sub/file", "--content", "evil");
  berth (&result, "write", BOX, "tree/file", "--content", "evil");
  EXPECT_STATUS (result, 0);
  CU_ASSERT_EQUAL (mkdir (process_path ("here/tree"), 0755), 0);
  /* A link where a directory goes. */
  CU_ASSERT_EQUAL (symlink (outside, planted), 0);
  berth (&result, "cp", BOX ":tree", here);
  EXPECT_STATUS (result, 125);
  EXPECT_IN (result.err, "in the way");
  CU_ASSERT (has_content ("outside/file", "untouched"));
  CU_ASSERT_EQUAL (unlink (planted), 0);
  /* A link where a file goes is replaced. */
  unlink (replaced);
  CU_ASSERT_EQUAL (symlink (file, replaced), 0);
  berth (&result, "cp", BOX ":tree", here);
  EXPECT_STATUS (result, 0);
  CU_ASSERT (S_ISREG (mode_of ("here/tree/file")));
  CU_ASSERT (has_content ("here/tree/file", "evil"));
  /* So is a hard link: what else has its content keeps it. */
  CU_ASSERT_EQUAL (unlink (replaced), 0);
  CU_ASSERT_EQUAL (link (file, replaced), 0);
  berth (&result, "cp", BOX ":tree/file", replaced);
  EXPECT_STATUS (result, 0);
  CU_ASSERT_EQUAL (stat (file, &status), 0);
  CU_ASSERT_EQUAL (status.st_nlink, 1);
  /* A pipe, a directory. */
  CU_ASSERT_EQUAL (unlink (replaced), 0);
  CU_ASSERT_EQUAL (mkfifo (replaced, 0644), 0);
  berth (&result, "cp", BOX ":tree", here);
  EXPECT_STATUS (result, 125);
  berth (&result, "cp", BOX ":tree/file", replaced);
  EXPECT_STATUS (result, 125);
  CU_ASSERT (S_ISFIFO (mode_of ("here/tree/file")));
  CU_ASSERT_EQUAL (unlink (replaced), 0);
  CU_ASSERT_EQUAL (mkdir (replaced, 0755), 0);
  berth (&result, "cp", BOX ":tree", here);
  EXPECT_STATUS (result, 125);
  CU_ASSERT (S_ISDIR (mode_of ("here/tree/file")));
  finish ();
}

static void
test_limits (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer path = { 0 };
  AUTO_PATH (here, "here");
  AUTO_PATH (big, "here/big");

  begin ();
  berth (&result, "write", BOX, "big/file", "--content", "12345678901234567890");
  EXPECT_STATUS (result, 0);
  berth (&result, "cp", "--max-bytes", "19", BOX ":big", here);
  EXPECT_STATUS (result, 125);
  EXPECT_IN (result.err, "--max-bytes");
  CU_ASSERT (!is_there ("here/big/file"));
  CU_ASSERT_EQUAL (count_entries ("here/big"), 0);
  berth (&result, "cp", "--max-bytes", "20", BOX ":big", here);
  EXPECT_STATUS (result, 0);
  berth (&result, "cp", "--max-bytes", "19", big, BOX ":copy");
  EXPECT_STATUS (result, 125);
  for (int i = 0; i < 300; i++)
    berth_buffer_append_string (&path, "d/");
  berth_buffer_append_string (&path, "end");
  berth (&result, "write", BOX, berth_buffer_string (&path), "--content", "deep");
  EXPECT_STATUS (result, 0);
  berth (&result, "cp", BOX ":d", here);
  EXPECT_STATUS (result, 125);
  EXPECT_IN (result.err, "below each other");
  finish ();
}

#ifdef EXECUTES /* the fake backend has no such files */
static void
test_odd_files_out (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  AUTO_PATH (here, "here");

  begin ();
  berth (&result, "exec", BOX, "sh", "-c",
         "mkdir -p tree/locked && cd tree && echo x > s && chmod 6755 s && echo y > locked/in && chmod 555 locked && mkfifo p"
         " && truncate -s 1T huge-not && rm huge-not && echo secret > n && chmod 000 n && mkdir sticky && chmod 1777 sticky");
  EXPECT_STATUS (result, 0);
  berth (&result, "cp", BOX ":tree", here);
  EXPECT_STATUS (result, 1);
  EXPECT_IN (result.err, "left out tree/p: ");
  CU_ASSERT_EQUAL (mode_of ("here/tree/s"), S_IFREG | 0755);
  CU_ASSERT_EQUAL (mode_of ("here/tree/locked"), S_IFDIR | 0555);
  CU_ASSERT_EQUAL (mode_of ("here/tree/sticky"), S_IFDIR | 0777);
  CU_ASSERT (has_content ("here/tree/locked/in", "y\n"));
  CU_ASSERT (!is_there ("here/tree/p"));
  /* Holes have no size on the disk of the sandbox, but would have one here. */
  berth (&result, "exec", BOX, "truncate", "-s", "1T", "huge");
  EXPECT_STATUS (result, 0);
  berth (&result, "cp", BOX ":huge", here);
  EXPECT_STATUS (result, 125);
  CU_ASSERT (!is_there ("here/huge"));
  /* A link that is named is followed inside, never here. */
  berth (&result, "exec", BOX, "ln", "-s", "/etc/hostname", "named");
  berth (&result, "cp", BOX ":named", here);
  EXPECT_STATUS (result, 0);
  CU_ASSERT (S_ISREG (mode_of ("here/named")));
  berth (&result, "exec", BOX, "cat", "/etc/hostname");
  CU_ASSERT (has_content ("here/named", berth_buffer_string (&result.out)));
  finish ();
}

/* The sandbox swaps a directory for a link while it is being copied.  Between the list and the look
 * into it the link may be followed, in the sandbox; here it stays a directory. */
static void
test_swap (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  AUTO_PATH (here, "here");
  struct process swapper;
  struct process_result swapped = { 0 };

  begin ();
  berth (&result, "exec", BOX, "sh", "-c", "mkdir -p tree/d other && echo in > tree/d/file && ln -s /etc other/l");
  EXPECT_STATUS (result, 0);
  CU_ASSERT_EQUAL_FATAL (process_start (&swapper, NULL,
                                        (const char *const[]){ "exec", "--timeout", "3s", BOX, "sh", "-c",
                                                               "while :; do mv tree/d x; mv other/l tree/d; mv tree/d other/l; "
                                                               "mv x tree/d; done",
                                                               NULL }),
                         0);
  for (int i = 0; i < 40; i++)
    {
      berth (&result, "cp", BOX ":tree", here);
      CU_ASSERT (!S_ISLNK (mode_of ("here/tree/d")));
    }
  process_finish (&swapper, &swapped);
  CU_ASSERT_EQUAL (swapped.status, 124);
  process_result_free (&swapped);
  finish ();
}
#endif

static const struct berth_test tests[] = {
  { "cp there and back: modes, times, links, odd names", test_round_trip },
  { "cp destinations", test_destinations },
  { "cp --json, and what is left out", test_json_and_left_out },
  { "cp as tar", test_stream },
  { "W04 cp of hostile archives into a sandbox", test_archives_in },
  { "cp of links that lead out", test_links_out },
  { "cp where something is in the way", test_in_the_way },
  { "cp limits", test_limits },
#ifdef EXECUTES
  { "cp of set-user-ID files, pipes, holes and named links", test_odd_files_out },
  { "cp of a directory that is swapped for a link", test_swap },
#endif
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  (void) argc;
  (void) argv;
  return process_main ("cp on " BACKEND, BACKEND, tests);
}

#include "sdk/base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sdk/base/path.h"
#include "sdk/base/string.h"
#include "sdk/base/tests/runner.h"

/* A directory of the test's own; removed by close_place with rm's independent idea of a tree. */
struct place
{
  char *path;
  int fd;
};

static struct place
open_place (void)
{
  const char *top = getenv ("TMPDIR");
  struct place place = { .path = berth_path_join (top != NULL ? top : "/tmp", "berth-test-XXXXXX"), .fd = -1 };

  CU_ASSERT_PTR_NOT_NULL_FATAL (place.path);
  CU_ASSERT_PTR_NOT_NULL_FATAL (mkdtemp (place.path));
  place.fd = open (place.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  CU_ASSERT_TRUE_FATAL (place.fd >= 0);
  return place;
}

static void
close_place (struct place *place)
{
  close (place->fd);
  CU_ASSERT_EQUAL (berth_fs_remove_tree (AT_FDCWD, place->path), 0);
  CU_ASSERT_EQUAL (access (place->path, F_OK), -1);
  free (place->path);
}

static void
put_file (int directory, const char *name)
{
  int fd = openat (directory, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

  CU_ASSERT_TRUE (fd >= 0);
  close (fd);
}

static bool
is_there (int directory, const char *name)
{
  return faccessat (directory, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void
test_read (void)
{
  BERTH_AUTO_BUFFER struct berth_buffer buffer = { 0 };
  struct place place = open_place ();

  CU_ASSERT_EQUAL (berth_fs_replace (place.fd, "f", "content", 7, 0640), 0);
  CU_ASSERT_EQUAL (berth_fs_read (place.fd, "f", &buffer, 7), 0);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&buffer), "content");
  CU_ASSERT_EQUAL (berth_fs_read (place.fd, "f", &buffer, 6), -1);
  CU_ASSERT_EQUAL (errno, EMSGSIZE);
  CU_ASSERT_EQUAL (berth_fs_read (place.fd, "missing", &buffer, 6), -1);
  CU_ASSERT_EQUAL (errno, ENOENT);
  close_place (&place);
}

static void
test_replace (void)
{
  BERTH_AUTO_BUFFER struct berth_buffer buffer = { 0 };
  struct place place = open_place ();
  struct stat status;
  mode_t old = umask (077);

  put_file (place.fd, "target");
  CU_ASSERT_EQUAL (symlinkat ("target", place.fd, "f"), 0);
  CU_ASSERT_EQUAL (berth_fs_replace (place.fd, "f", "new", 3, 0644), 0);
  umask (old);
  CU_ASSERT_EQUAL (fstatat (place.fd, "f", &status, AT_SYMLINK_NOFOLLOW), 0);
  CU_ASSERT_EQUAL (status.st_mode, S_IFREG | 0644);
  CU_ASSERT_EQUAL (berth_fs_read (place.fd, "target", &buffer, 100), 0);
  CU_ASSERT_EQUAL (buffer.size, 0);
  /* A failure leaves the old content and no temporary file. */
  CU_ASSERT_EQUAL (mkdirat (place.fd, "d", 0700), 0);
  CU_ASSERT_EQUAL (berth_fs_replace (place.fd, "d", "new", 3, 0644), -1);
  CU_ASSERT_EQUAL (errno, EISDIR);
  CU_ASSERT_EQUAL (unlinkat (place.fd, "d", AT_REMOVEDIR), 0);
  CU_ASSERT_EQUAL (unlinkat (place.fd, "f", 0), 0);
  CU_ASSERT_EQUAL (unlinkat (place.fd, "target", 0), 0);
  CU_ASSERT_EQUAL (rmdir (place.path), 0);
  CU_ASSERT_EQUAL (mkdir (place.path, 0700), 0);
  close_place (&place);
}

static void
test_make_directories (void)
{
  struct place place = open_place ();
  BERTH_AUTO_FREE char *absolute = berth_path_join (place.path, "x/y");

  CU_ASSERT_EQUAL (berth_fs_make_directories (place.fd, "a/b/c", 0700), 0);
  CU_ASSERT_EQUAL (berth_fs_make_directories (place.fd, "a/b/c", 0700), 0);
  CU_ASSERT_EQUAL (berth_fs_make_directories (place.fd, "a/b/d/", 0700), 0);
  CU_ASSERT_EQUAL (berth_fs_make_directories (AT_FDCWD, absolute, 0700), 0);
  CU_ASSERT_TRUE (is_there (place.fd, "x/y"));
  put_file (place.fd, "a/f");
  CU_ASSERT_EQUAL (berth_fs_make_directories (place.fd, "a/f", 0700), -1);
  CU_ASSERT_EQUAL (errno, ENOTDIR);
  CU_ASSERT_EQUAL (berth_fs_make_directories (place.fd, "a/f/g", 0700), -1);
  close_place (&place);
}

static void
test_remove_links (void)
{
  struct place place = open_place ();

  CU_ASSERT_EQUAL (berth_fs_make_directories (place.fd, "safe/inner", 0700), 0);
  put_file (place.fd, "safe/inner/keep");
  CU_ASSERT_EQUAL (berth_fs_make_directories (place.fd, "tree/sub", 0700), 0);
  CU_ASSERT_EQUAL (symlinkat ("../safe", place.fd, "tree/link"), 0);
  CU_ASSERT_EQUAL (symlinkat (place.path, place.fd, "tree/sub/up"), 0);
  CU_ASSERT_EQUAL (symlinkat ("safe", place.fd, "top"), 0);
  CU_ASSERT_EQUAL (mkfifoat (place.fd, "tree/fifo", 0600), 0);
  CU_ASSERT_EQUAL (berth_fs_remove_tree (place.fd, "tree"), 0);
  CU_ASSERT_EQUAL (berth_fs_remove_tree (place.fd, "top"), 0);
  CU_ASSERT_FALSE (is_there (place.fd, "tree"));
  CU_ASSERT_FALSE (is_there (place.fd, "top"));
  CU_ASSERT_TRUE (is_there (place.fd, "safe/inner/keep"));
  CU_ASSERT_EQUAL (berth_fs_remove_tree (place.fd, "tree"), 0);
  close_place (&place);
}

/* 12 000 bytes of path, three times what one call takes. */
static void
test_remove_deep (void)
{
  struct place place = open_place ();
  int fd = dup (place.fd), next, i;
  char name[201];

  memset (name, 'n', 200);
  name[200] = '\0';
  for (i = 0; i < 60; i++)
    {
      CU_ASSERT_EQUAL (mkdirat (fd, name, 0700), 0);
      put_file (fd, "file");
      next = openat (fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      CU_ASSERT_TRUE_FATAL (next >= 0);
      close (fd);
      fd = next;
    }
  put_file (fd, "last");
  close (fd);
  CU_ASSERT_EQUAL (berth_fs_remove_content (place.fd), 0);
  CU_ASSERT_FALSE (is_there (place.fd, name));
  CU_ASSERT_FALSE (is_there (place.fd, "file"));
  close_place (&place);
}

static void
test_remove_wide (void)
{
  struct place place = open_place ();
  char name[64];
  int i;

  for (i = 0; i < 300; i++)
    {
      snprintf (name, sizeof name, "t/%d/%d", i % 20, i);
      CU_ASSERT_EQUAL (berth_fs_make_directories (place.fd, name, 0700), 0);
      strcat (name, "/f");
      put_file (place.fd, name);
    }
  CU_ASSERT_EQUAL (berth_fs_remove_tree (place.fd, "t"), 0);
  CU_ASSERT_FALSE (is_there (place.fd, "t"));
  close_place (&place);
}

/* As the owner of the files and not as root, for whom modes are nothing. */
static int
remove_locked_as_owner (const char *path)
{
  if (geteuid () == 0 && (setgid (1000) < 0 || setuid (1000) < 0))
    return 2;
  return berth_fs_remove_tree (AT_FDCWD, path) == 0 ? 0 : 1;
}

static void
check_remove_locked (mode_t mode)
{
  struct place place = open_place ();
  BERTH_AUTO_FREE char *tree = berth_path_join (place.path, "tree");
  pid_t pid;
  int status = -1;

  CU_ASSERT_EQUAL (berth_fs_make_directories (place.fd, "tree/locked/in", 0700), 0);
  if (geteuid () == 0)
    {
      CU_ASSERT_EQUAL (chown (place.path, 1000, 1000), 0);
      CU_ASSERT_EQUAL (fchownat (place.fd, "tree", 1000, 1000, 0), 0);
      CU_ASSERT_EQUAL (fchownat (place.fd, "tree/locked", 1000, 1000, 0), 0);
      CU_ASSERT_EQUAL (fchownat (place.fd, "tree/locked/in", 1000, 1000, 0), 0);
    }
  CU_ASSERT_EQUAL (fchmodat (place.fd, "tree/locked", mode, 0), 0);
  pid = fork ();
  if (pid == 0)
    _exit (remove_locked_as_owner (tree));
  CU_ASSERT_EQUAL (waitpid (pid, &status, 0), pid);
  CU_ASSERT_EQUAL (status, 0);
  CU_ASSERT_FALSE (is_there (place.fd, "tree"));
  close_place (&place);
}

static void
test_remove_locked (void)
{
  check_remove_locked (0);
  check_remove_locked (0400);
  check_remove_locked (0500);
  check_remove_locked (0100);
}

/* In a mount namespace of its own: what a mount shows is not touched.  Exit status
 * 0: refused, and what it shows is there; 77: no right to mount here. */
static int
remove_over_mount (const struct place *place)
{
  if (unshare (CLONE_NEWNS) < 0 || mount ("none", "/", "none", MS_REC | MS_PRIVATE, NULL) < 0 || chdir (place->path) < 0
      || mount ("safe", "tree/mount", "none", MS_BIND, NULL) < 0)
    return 77;
  if (berth_fs_remove_tree (AT_FDCWD, "tree") == 0 || errno != EBUSY)
    return 1;
  return is_there (AT_FDCWD, "safe/keep") ? 0 : 2;
}

static void
test_remove_mount (void)
{
  struct place place = open_place ();
  pid_t pid;
  int status = -1;

  CU_ASSERT_EQUAL (berth_fs_make_directories (place.fd, "safe", 0700), 0);
  CU_ASSERT_EQUAL (berth_fs_make_directories (place.fd, "tree/mount", 0700), 0);
  put_file (place.fd, "safe/keep");
  pid = fork ();
  if (pid == 0)
    _exit (remove_over_mount (&place));
  CU_ASSERT_EQUAL (waitpid (pid, &status, 0), pid);
  if (status == 77 << 8)
    berth_test_skip ("needs the right to mount");
  else
    CU_ASSERT_EQUAL (status, 0);
  close_place (&place);
}

static void
test_paths (void)
{
  static const char *const normal[] = { "/", "/a", "/a/b.c", "/..a", "/a/..." };
  static const char *const other[] = { "", "a", "/a/", "//", "/a//b", "/.", "/a/..", "/../a", "/a/./b" };
  BERTH_AUTO_FREE char *joined = berth_path_join ("/a/", "/b"), *parent = berth_path_parent ("/a//b");
  BERTH_AUTO_FREE char *root = berth_path_parent ("/b"), *here = berth_path_parent ("b");
  char longest[258];
  size_t i;

  for (i = 0; i < sizeof normal / sizeof normal[0]; i++)
    CU_ASSERT_TRUE (berth_path_is_normal (normal[i], strlen (normal[i])));
  for (i = 0; i < sizeof other / sizeof other[0]; i++)
    CU_ASSERT_FALSE (berth_path_is_normal (other[i], strlen (other[i])));
  CU_ASSERT_FALSE (berth_path_is_normal ("/a\0b", 4));
  CU_ASSERT_STRING_EQUAL (joined, "/a/b");
  CU_ASSERT_STRING_EQUAL (parent, "/a");
  CU_ASSERT_STRING_EQUAL (root, "/");
  CU_ASSERT_STRING_EQUAL (here, ".");
  CU_ASSERT_STRING_EQUAL (berth_path_last ("/a/b"), "b");
  CU_ASSERT_TRUE (berth_path_is_within ("/workspace/a", "/workspace"));
  CU_ASSERT_TRUE (berth_path_is_within ("/workspace", "/workspace"));
  CU_ASSERT_FALSE (berth_path_is_within ("/workspaces", "/workspace"));
  CU_ASSERT_TRUE (berth_path_is_within ("/a", "/"));
  memset (longest, 'x', sizeof longest);
  CU_ASSERT_TRUE (berth_path_is_name (longest, 255));
  CU_ASSERT_FALSE (berth_path_is_name (longest, 256));
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "read and its limit", test_read },
    { "replace: mode, planted link, nothing left of a failure", test_replace },
    { "make directories", test_make_directories },
    { "remove: links are not followed", test_remove_links },
    { "remove: 60 levels of 200-byte names", test_remove_deep },
    { "remove: many folders", test_remove_wide },
    { "remove: folders without permissions", test_remove_locked },
    { "remove: mounts are not entered", test_remove_mount },
    { "paths as texts", test_paths },
    { NULL, NULL },
  };

  return berth_test_main ("fs", tests);
}

/* Whole workspaces through the real agent, and tar through libarchive. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sdk/agentlink/tests/support.h"
#include "sdk/archive/tar.h"
#include "sdk/base/clock.h"
#include "sdk/base/fs.h"
#include "sdk/base/tests/runner.h"

#define CHANGE_MS 60000 /* until an export surely meets a change */

struct exported
{
  struct berth_buffer tar;
  struct berth_tar_report report;
  int reports;
};

static int
take_data (void *context, const void *bytes, size_t size)
{
  return berth_buffer_append (&((struct exported *) context)->tar, bytes, size);
}

static int
take_report (void *context, const struct berth_tar_report *report)
{
  struct exported *exported = context;

  exported->report = *report;
  exported->reports++;
  return 0;
}

static int
export (struct agent_under_test *agent, uint64_t max_bytes, uint64_t max_entries, struct exported *exported)
{
  struct berth_tar_limits limits
      = { .struct_size = sizeof limits, .max_bytes = max_bytes, .max_entries = max_entries };
  struct berth_tar_sink sink = { sizeof sink, 0, exported, take_data, take_report };

  memset (exported, 0, sizeof *exported);
  return agentlink_export_tar (&agent->recorded.call, &agent->handle, &limits, &sink);
}

static int
import (struct agent_under_test *agent, const void *bytes, size_t size, uint64_t max_bytes, uint64_t max_entries)
{
  struct berth_tar_limits limits
      = { .struct_size = sizeof limits, .max_bytes = max_bytes, .max_entries = max_entries };
  struct memory memory = { bytes, size, 0, 0 };
  struct berth_source source = memory_source (&memory);

  return agentlink_import_tar (&agent->recorded.call, &agent->handle, &limits, &source);
}

static void
expect_failure (struct agent_under_test *agent, int result, uint32_t code, const char *part)
{
  CU_ASSERT_EQUAL (result, -1);
  CU_ASSERT_EQUAL (agent->recorded.code, code);
  CU_ASSERT_PTR_NOT_NULL (strstr (agent->recorded.message, part));
  if (agent->recorded.code != code || strstr (agent->recorded.message, part) == NULL)
    fprintf (stderr, "%u: %s\n", agent->recorded.code, agent->recorded.message);
}

/* ---- a workspace with everything in it ---- */

static void
put (const struct agent_under_test *agent, const char *name, const char *content, mode_t mode, long second)
{
  const struct timespec times[2] = { { second, 123456789 }, { second, 123456789 } };

  CU_ASSERT_EQUAL (berth_fs_replace (AT_FDCWD, in_workspace (agent, name), content, strlen (content), mode), 0);
  CU_ASSERT_EQUAL (chmod (in_workspace (agent, name), mode), 0);
  CU_ASSERT_EQUAL (chown (in_workspace (agent, name), 65534, 65534), 0);
  CU_ASSERT_EQUAL (utimensat (AT_FDCWD, in_workspace (agent, name), times, 0), 0);
}

static void
put_sparse (const struct agent_under_test *agent, const char *name)
{
  BERTH_AUTO_FD int fd = open (in_workspace (agent, name), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

  CU_ASSERT_EQUAL (pwrite (fd, "head", 4, 0), 4);
  CU_ASSERT_EQUAL (pwrite (fd, "middle", 6, 10 << 20), 6);
  CU_ASSERT_EQUAL (ftruncate (fd, 30 << 20), 0);
}

static const char *
long_name (void)
{
  static char name[260];

  memset (name, 'n', 220);
  name[220] = '\0';
  return name;
}

static void
fill (const struct agent_under_test *agent)
{
  const struct timespec times[2] = { { 1111111111, 5 }, { 1111111111, 5 } };

  CU_ASSERT_EQUAL (mkdir (in_workspace (agent, "dir"), 0750), 0);
  CU_ASSERT_EQUAL (mkdir (in_workspace (agent, "empty"), 0711), 0);
  put (agent, "script", "#!/bin/sh\n", 0755, 1000000000);
  put (agent, "dir/secret", "s", 0600, 1000000001);
  put (agent, "dir/\xff\xfe", "bytes", 0644, 1000000002);
  put (agent, "e\xcc\x81", "decomposed", 0644, 1000000003);
  put (agent, "\xc3\xa9", "composed", 0644, 1000000004);
  put (agent, long_name (), "long", 0644, -5);
  put (agent, "new\nline", "n", 0, 1000000006);
  put_sparse (agent, "sparse");
  CU_ASSERT_EQUAL (symlink ("dir/secret", in_workspace (agent, "link")), 0);
  CU_ASSERT_EQUAL (symlink ("e\xcc\x81", in_workspace (agent, "decomposed-\xff")), 0);
  CU_ASSERT_EQUAL (link (in_workspace (agent, "e\xcc\x81"), in_workspace (agent, "dir/e\xcc\x81")), 0);
  CU_ASSERT_EQUAL (symlink ("/usr/bin/env", in_workspace (agent, "outwards")), 0);
  CU_ASSERT_EQUAL (link (in_workspace (agent, "script"), in_workspace (agent, "dir/same")), 0);
  CU_ASSERT_EQUAL (mkfifo (in_workspace (agent, "fifo"), 0600), 0);
  CU_ASSERT_EQUAL (mknod (in_workspace (agent, "device"), S_IFCHR | 0600, 0x103), 0);
  CU_ASSERT_EQUAL (utimensat (AT_FDCWD, in_workspace (agent, "dir"), times, 0), 0);
  CU_ASSERT_EQUAL (utimensat (AT_FDCWD, in_workspace (agent, "empty"), times, 0), 0);
}

/* What ls and cksum say of a workspace, but for what does not travel. */
static char *
describe (const struct agent_under_test *agent)
{
  char command[512];
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  FILE *stream;
  char part[4096];
  size_t got;

  snprintf (command, sizeof command,
            "cd %s && find . -mindepth 1 ! -type c -printf '%%P %%y %%m %%s %%T@ %%l %%u %%g\\n' | sort;"
            "find . -type f ! -perm 0 -exec cksum {} + | sort; find . -type f -links +1 | sort; du -k sparse",
            agent->workspace);
  stream = popen (command, "r");
  while (stream != NULL && (got = fread (part, 1, sizeof part, stream)) > 0)
    berth_buffer_append (&text, part, got);
  if (stream != NULL)
    pclose (stream);
  return berth_buffer_steal (&text);
}

static void
test_round_trip (void)
{
  struct agent_under_test from, to;
  struct exported exported;
  char *before BERTH_AUTO_FREE = NULL, *after BERTH_AUTO_FREE = NULL;

  if (!agent_start (&from, NULL))
    return;
  fill (&from);
  CU_ASSERT_EQUAL (chown (in_workspace (&from, "dir"), 0, 0), 0);
  CU_ASSERT_EQUAL (export (&from, UINT64_MAX, UINT64_MAX, &exported), 0);
  CU_ASSERT_EQUAL (exported.reports, 1);
  CU_ASSERT_EQUAL (exported.report.has, BERTH_TAR_SKIPPED);
  CU_ASSERT_EQUAL (exported.report.entries, 16);
  CU_ASSERT_EQUAL (exported.report.bytes, exported.tar.size);
  CU_ASSERT (exported.tar.size < 2u << 20);
  if (agent_start (&to, NULL))
    {
      CU_ASSERT_EQUAL (import (&to, exported.tar.data, exported.tar.size, UINT64_MAX, UINT64_MAX), 0);
      /* All becomes the sandbox user's, whoever's it was. */
      for (const char *const *name = (const char *const[]) { "dir", "empty", "sparse", "fifo", "link", "outwards", "decomposed-\xff", NULL };
           *name != NULL; name++)
        CU_ASSERT_EQUAL (lchown (in_workspace (&from, *name), 65534, 65534), 0);
      before = describe (&from);
      after = describe (&to);
      CU_ASSERT_STRING_EQUAL (before, after);
      if (before != NULL && after != NULL && strcmp (before, after) != 0)
        fprintf (stderr, "--- before\n%s--- after\n%s", before, after);
      CU_ASSERT_NOT_EQUAL (access (in_workspace (&to, "device"), F_OK), 0);
      agent_stop (&to);
    }
  berth_buffer_free (&exported.tar);
  agent_stop (&from);
}

/* What tar makes of our archive, and we of its. */
static void
test_other_tar (void)
{
  struct agent_under_test agent;
  struct exported exported;
  char command[512];

  if (!agent_start (&agent, NULL))
    return;
  put (&agent, "plain", "content", 0640, 1000000000);
  CU_ASSERT_EQUAL (mkdir (in_workspace (&agent, "dir"), 0755), 0);
  put (&agent, "dir/e\xcc\x81", "x", 0644, 1000000000);
  CU_ASSERT_EQUAL (export (&agent, UINT64_MAX, UINT64_MAX, &exported), 0);
  snprintf (command, sizeof command, "%s/a.tar", agent.directory);
  CU_ASSERT_EQUAL (berth_fs_replace (AT_FDCWD, command, exported.tar.data, exported.tar.size, 0644), 0);
  snprintf (command, sizeof command,
            "cd %s && mkdir out && tar -C out -xf a.tar 2>errors && ! test -s errors && diff -r out workspace"
            " && tar -C workspace -cf b.tar . && rm -r workspace/*",
            agent.directory);
  CU_ASSERT_EQUAL (system (command), 0);
  berth_buffer_free (&exported.tar);
  snprintf (command, sizeof command, "%s/b.tar", agent.directory);
  {
    BERTH_AUTO_BUFFER struct berth_buffer tar = { 0 };

    CU_ASSERT_EQUAL (berth_fs_read (AT_FDCWD, command, &tar, 1 << 20), 0);
    CU_ASSERT_EQUAL (import (&agent, tar.data, tar.size, UINT64_MAX, UINT64_MAX), 0);
    /* Cut within a member, and between two. */
    expect_failure (&agent, import (&agent, tar.data, 700, UINT64_MAX, UINT64_MAX), BERTH_E_INVALID_REQUEST, "entry");
    expect_failure (&agent, import (&agent, tar.data, 512, UINT64_MAX, UINT64_MAX), BERTH_E_INVALID_REQUEST, "end mark");
    expect_failure (&agent, import (&agent, "no archive at all", 17, UINT64_MAX, UINT64_MAX), BERTH_E_INVALID_REQUEST, "");
  }
  snprintf (command, sizeof command, "cd %s && diff -r out workspace", agent.directory);
  CU_ASSERT_EQUAL (system (command), 0);
  agent_stop (&agent);
}

static void
test_limits (void)
{
  struct agent_under_test agent;
  struct exported exported;
  struct berth_buffer whole = { 0 };

  if (!agent_start (&agent, NULL))
    return;
  fill (&agent);
  expect_failure (&agent, export (&agent, 20000, UINT64_MAX, &exported), BERTH_E_PAYLOAD_TOO_LARGE, "20000 bytes");
  CU_ASSERT_EQUAL (exported.reports, 0);
  CU_ASSERT (exported.tar.size <= 20000);
  berth_buffer_free (&exported.tar);
  expect_failure (&agent, export (&agent, UINT64_MAX, 3, &exported), BERTH_E_PAYLOAD_TOO_LARGE, "3 entries");
  berth_buffer_free (&exported.tar);
  CU_ASSERT_EQUAL (export (&agent, UINT64_MAX, UINT64_MAX, &exported), 0);
  whole = exported.tar;
  expect_failure (&agent, import (&agent, whole.data, whole.size, 20000, UINT64_MAX), BERTH_E_PAYLOAD_TOO_LARGE, "bytes");
  expect_failure (&agent, import (&agent, whole.data, whole.size, UINT64_MAX, 3), BERTH_E_PAYLOAD_TOO_LARGE, "entries");
  berth_buffer_free (&whole);
  agent_stop (&agent);
}

/* ---- hostile archives ---- */

struct trick
{
  const char *what;
  struct berth_tar_member members[3];
  int refused; /* number of the member, or 0: it is harmless */
};

#define FILE_MEMBER(n) { .name = n, .kind = BERTH_TAR_FILE, .mode = 0644, .size = 1 }
#define LINK_MEMBER(n, t) { .name = n, .kind = BERTH_TAR_SYMLINK, .mode = 0777, .link = t }
#define HARD_MEMBER(n, t) { .name = n, .kind = BERTH_TAR_FILE, .mode = 0644, .hard_link = t }
#define DIR_MEMBER(n) { .name = n, .kind = BERTH_TAR_DIRECTORY, .mode = 0755 }

static const struct trick tricks[] = {
  { "dots first", { FILE_MEMBER ("../escaped") }, 1 },
  { "dots inside", { FILE_MEMBER ("a/../../escaped") }, 1 },
  { "dots last", { DIR_MEMBER ("a/..") }, 1 },
  { "dots alone", { DIR_MEMBER ("..") }, 1 },
  { "absolute", { FILE_MEMBER ("/tmp/berth-escaped") }, 1 },
  { "double slash", { FILE_MEMBER ("//tmp/berth-escaped") }, 1 },
  { "empty part", { FILE_MEMBER ("a//b") }, 1 },
  { "second member", { FILE_MEMBER ("fine"), FILE_MEMBER ("../escaped") }, 2 },
  { "through an absolute link", { LINK_MEMBER ("l", "/tmp"), FILE_MEMBER ("l/berth-escaped") }, 2 },
  { "through an upward link", { LINK_MEMBER ("l", ".."), FILE_MEMBER ("l/escaped") }, 2 },
  { "through an inward link", { DIR_MEMBER ("d"), LINK_MEMBER ("l", "d"), FILE_MEMBER ("l/f") }, 3 },
  { "through two links", { LINK_MEMBER ("a", ".."), LINK_MEMBER ("b", "a"), FILE_MEMBER ("b/escaped") }, 3 },
  { "directory over a link", { LINK_MEMBER ("l", "/tmp"), DIR_MEMBER ("l") }, 2 },
  { "onto a link", { LINK_MEMBER ("l", "/tmp/berth-escaped"), FILE_MEMBER ("l") }, 0 },
  { "a link to the outside alone", { LINK_MEMBER ("l", "/etc/passwd") }, 0 },
  { "hard link outwards", { HARD_MEMBER ("h", "/etc/passwd") }, 1 },
  { "hard link upwards", { HARD_MEMBER ("h", "../socket") }, 1 },
  { "hard link upwards, then written", { HARD_MEMBER ("h", "../secret"), FILE_MEMBER ("h") }, 1 },
  { "hard link at a link upwards, then written", { LINK_MEMBER ("l", "../secret"), HARD_MEMBER ("h", "l"), FILE_MEMBER ("h") }, 2 },
  { "hard link through a link", { LINK_MEMBER ("l", "/etc"), HARD_MEMBER ("h", "l/passwd") }, 2 },
  { "hard link to a link", { LINK_MEMBER ("l", "/etc/passwd"), HARD_MEMBER ("h", "l") }, 2 },
  { "hard link to nothing", { HARD_MEMBER ("h", "missing") }, 1 },
  { "hard link to itself", { HARD_MEMBER ("h", "h") }, 1 },
  { "file over a directory", { DIR_MEMBER ("d"), FILE_MEMBER ("d") }, 2 },
  { "link over a directory", { DIR_MEMBER ("d"), LINK_MEMBER ("d", "/tmp") }, 2 },
  { "directory over a file", { FILE_MEMBER ("f"), DIR_MEMBER ("f") }, 2 },
  { "below a file", { FILE_MEMBER ("f"), FILE_MEMBER ("f/g") }, 2 },
  { "a link in the place of a directory that was used", { FILE_MEMBER ("d/f"), LINK_MEMBER ("d", "/tmp"), FILE_MEMBER ("d/berth-escaped") }, 2 },
  { "magic link", { LINK_MEMBER ("l", "/proc/self/root/tmp"), FILE_MEMBER ("l/berth-escaped") }, 2 },
  { "twice the same", { FILE_MEMBER ("f"), FILE_MEMBER ("f") }, 0 },
};

static int
append_output (void *context, const void *bytes, size_t size)
{
  return berth_buffer_append (context, bytes, size);
}

static void
make_archive (struct recorded *recorded, const struct berth_tar_member *members, size_t count,
              struct berth_buffer *tar)
{
  const struct berth_tar_output output = { tar, append_output };
  struct berth_tar_writer *writer = berth_tar_writer_new (&recorded->call, &output);

  CU_ASSERT_PTR_NOT_NULL_FATAL (writer);
  for (size_t i = 0; i < count && members[i].name != NULL; i++)
    {
      CU_ASSERT_EQUAL (berth_tar_writer_member (writer, &members[i]), 0);
      if (members[i].size > 0)
        CU_ASSERT_EQUAL (berth_tar_writer_data (writer, "x", 1), 0);
    }
  CU_ASSERT_EQUAL (berth_tar_writer_finish (writer), 0);
  berth_tar_writer_free (writer);
}

static void
try_trick (struct agent_under_test *agent, const struct trick *trick)
{
  BERTH_AUTO_BUFFER struct berth_buffer tar = { 0 };
  char expected[32];
  int result;
  bool as_told;

  make_archive (&agent->recorded, trick->members, 3, &tar);
  result = import (agent, tar.data, tar.size, UINT64_MAX, UINT64_MAX);
  snprintf (expected, sizeof expected, "entry %d, ", trick->refused);
  as_told = trick->refused == 0 ? result == 0 : result == -1 && strncmp (agent->recorded.message, expected, strlen (expected)) == 0;
  CU_ASSERT (as_told);
  if (!as_told)
    fprintf (stderr, "%s: result %d, %s\n", trick->what, result, agent->recorded.message);
  CU_ASSERT_NOT_EQUAL (access ("/tmp/berth-escaped", F_OK), 0);
}

/* Everything of the agent's folder but the workspace is as it was. */
static void
test_hostile (void)
{
  struct agent_under_test agent;
  struct stat passwd_before, passwd_after;
  char escaped[128], secret[128];

  unlink ("/tmp/berth-escaped"); /* of a run that found a defect */
  CU_ASSERT_EQUAL (stat ("/etc/passwd", &passwd_before), 0);
  for (size_t i = 0; i < sizeof tricks / sizeof *tricks; i++)
    {
      if (!agent_start (&agent, NULL))
        return;
      snprintf (secret, sizeof secret, "%s/secret", agent.directory);
      CU_ASSERT_EQUAL (berth_fs_replace (AT_FDCWD, secret, "precious", 8, 0644), 0);
      try_trick (&agent, &tricks[i]);
      CU_ASSERT (stat (secret, &passwd_after) == 0 && passwd_after.st_size == 8 && passwd_after.st_nlink == 1);
      snprintf (escaped, sizeof escaped, "%s/escaped", agent.directory);
      CU_ASSERT_NOT_EQUAL (access (escaped, F_OK), 0);
      agent_stop (&agent);
    }
  CU_ASSERT_EQUAL (stat ("/etc/passwd", &passwd_after), 0);
  CU_ASSERT (passwd_after.st_nlink == passwd_before.st_nlink && passwd_after.st_mtime == passwd_before.st_mtime);
}

static void
seal (char *header)
{
  unsigned sum = 0;

  memset (header + 148, ' ', 8);
  for (size_t i = 0; i < 512; i++)
    sum += (unsigned char) header[i];
  snprintf (header + 148, 8, "%06o", sum);
}

/* The first member of TAR, a plain header, gets an extended attribute. */
static void
make_attributed (struct berth_buffer *tar)
{
  static const char record[] = "29 SCHILY.xattr.user.berth=x\n";
  BERTH_AUTO_BUFFER struct berth_buffer made = { 0 };
  char blocks[1024] = "";

  memcpy (blocks, tar->data, 512);
  blocks[156] = 'x';
  snprintf (blocks + 124, 12, "%011o", (unsigned) sizeof record - 1);
  memcpy (blocks + 512, record, sizeof record - 1);
  seal (blocks);
  berth_buffer_append (&made, blocks, sizeof blocks);
  berth_buffer_append (&made, tar->data, tar->size);
  berth_buffer_clear (tar);
  berth_buffer_append (tar, made.data, made.size);
}

/* Bytes that no writer of ours makes: a device, and a size that is not there. */
static void
test_forged (void)
{
  struct agent_under_test agent;
  struct berth_tar_member member = FILE_MEMBER ("forged");
  struct berth_tar_member plain = FILE_MEMBER ("plain");
  BERTH_AUTO_BUFFER struct berth_buffer tar = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer unharmed = { 0 };
  struct stat status;

  if (!agent_start (&agent, NULL))
    return;
  member.mode = 06755;
  make_archive (&agent.recorded, &member, 1, &tar);
  CU_ASSERT_EQUAL (import (&agent, tar.data, tar.size, UINT64_MAX, UINT64_MAX), 0);
  CU_ASSERT_EQUAL (stat (in_workspace (&agent, "forged"), &status), 0);
  CU_ASSERT_EQUAL (status.st_mode & 07777, 0755);
  /* Told, with the entry; and nothing is told of what lost nothing. */
  CU_ASSERT_EQUAL (agent.recorded.logs, 1);
  CU_ASSERT_PTR_NOT_NULL (strstr (agent.recorded.log, "entry 1 of the archive, 'forged'"));
  make_archive (&agent.recorded, &plain, 1, &unharmed);
  CU_ASSERT_EQUAL (import (&agent, unharmed.data, unharmed.size, UINT64_MAX, UINT64_MAX), 0);
  CU_ASSERT_EQUAL (agent.recorded.logs, 1);
  make_attributed (&unharmed);
  CU_ASSERT_EQUAL (import (&agent, unharmed.data, unharmed.size, UINT64_MAX, UINT64_MAX), 0);
  CU_ASSERT_EQUAL (agent.recorded.logs, 2);
  for (size_t at = 0; at + 512 <= tar.size; at += 512)
    if (strcmp (tar.data + at, "forged") == 0)
      {
        tar.data[at + 156] = '3'; /* a character device */
        memset (tar.data + at + 124, '0', 11);
        seal (tar.data + at);
        memmove (tar.data + at + 512, tar.data + at + 1024, tar.size - at - 1024);
        tar.size -= 512;
        break;
      }
  expect_failure (&agent, import (&agent, tar.data, tar.size, UINT64_MAX, UINT64_MAX), BERTH_E_PATH_REJECTED, "entry 1, 'forged'");
  agent_stop (&agent);
}

/* What is told by turns of directories that nothing told of. */
static void
test_turns (void)
{
  static const struct berth_tar_member members[]
      = { FILE_MEMBER ("a/b/1"), FILE_MEMBER ("a/1"), FILE_MEMBER ("1"),     FILE_MEMBER ("a/b/2"), FILE_MEMBER ("ab/1"),
          FILE_MEMBER ("a/2"),   FILE_MEMBER ("a/2"), FILE_MEMBER ("a/bc/1"), FILE_MEMBER ("2"),    HARD_MEMBER ("a/3", "a/b/1") };
  struct agent_under_test agent;
  BERTH_AUTO_BUFFER struct berth_buffer tar = { 0 };

  if (!agent_start (&agent, NULL))
    return;
  make_archive (&agent.recorded, members, sizeof members / sizeof *members, &tar);
  CU_ASSERT_EQUAL (import (&agent, tar.data, tar.size, UINT64_MAX, UINT64_MAX), 0);
  for (size_t i = 0; i < sizeof members / sizeof *members; i++)
    {
      struct stat status;
      CU_ASSERT (stat (in_workspace (&agent, members[i].name), &status) == 0 && status.st_size == 1);
      CU_ASSERT_EQUAL (status.st_mode & 07777, 0644);
    }
  agent_stop (&agent);
}

static void
test_changing (void)
{
  struct agent_under_test agent;
  struct exported exported;
  pid_t writer;
  bool changed = false;

  if (!agent_start (&agent, NULL))
    return;
  put (&agent, "grows", "x", 0644, 1000000000);
  writer = fork ();
  while (writer == 0)
    {
      put (&agent, "comes", "12345678", 0644, 1000000000);
      unlink (in_workspace (&agent, "comes"));
      CU_ASSERT_EQUAL (truncate (in_workspace (&agent, "grows"), rand () % 3000000), 0);
    }
  for (int64_t end = berth_clock_monotonic_ms () + CHANGE_MS; !changed && berth_clock_monotonic_ms () < end;)
    {
      CU_ASSERT_EQUAL (export (&agent, UINT64_MAX, UINT64_MAX, &exported), 0);
      CU_ASSERT_EQUAL (exported.reports, 1);
      changed = (exported.report.has & BERTH_TAR_CHANGED) != 0;
      berth_buffer_free (&exported.tar);
    }
  CU_ASSERT (changed);
  kill (writer, SIGKILL);
  waitpid (writer, NULL, 0);
  agent_stop (&agent);
}

static const struct berth_test tests[] = {
  { "W01 W03 everything survives a round trip", test_round_trip },
  { "W01 W03 other tars read ours, and we theirs; a cut one is refused", test_other_tar },
  { "W02 limits hold while streaming", test_limits },
  { "W04 D-071 hostile archives change nothing outside", test_hostile },
  { "W04 D-079 set-id bits are cleared, devices refused", test_forged },
  { "W01 members that come by turns lie where they say", test_turns },
  { "W05 a workspace that changes meanwhile", test_changing },
  { NULL, NULL },
};

int
main (void)
{
  return berth_test_main ("agentlink workspace", tests);
}

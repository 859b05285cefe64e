/* Files in the real agent, with openat2 and without. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sdk/agentlink/tests/support.h"
#include "sdk/base/clock.h"
#include "sdk/base/fs.h"
#include "sdk/base/path.h"
#include "sdk/base/string.h"
#include "sdk/base/tests/runner.h"

/* Every test runs twice: the kernel resolves the paths, and the agent does. */
static const char *const *const ways[] = { NULL, (const char *const[]) { "--no-openat2", NULL } };

static void
in_both_ways (void (*test) (struct agent_under_test *agent))
{
  struct agent_under_test agent;

  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
    if (agent_start (&agent, ways[i]))
      {
        test (&agent);
        CU_ASSERT_EQUAL (agent_stop (&agent), 0);
      }
}

static void
expect_failure (struct agent_under_test *agent, int result, uint32_t code)
{
  CU_ASSERT_EQUAL (result, -1);
  CU_ASSERT_EQUAL (agent->recorded.code, code);
  if (agent->recorded.code != code)
    fprintf (stderr, "code %u, wanted %u: %s\n", agent->recorded.code, code, agent->recorded.message);
}

static void
check_content (struct agent_under_test *agent, const char *name, const void *bytes, size_t size)
{
  BERTH_AUTO_BUFFER struct berth_buffer content = { 0 };

  CU_ASSERT_EQUAL (read_file (agent, in_workspace (agent, name), &content), 0);
  CU_ASSERT_EQUAL (content.size, size);
  CU_ASSERT (content.size == size && (size == 0 || memcmp (content.data, bytes, size) == 0));
}

static int
count_entries (const char *path)
{
  BERTH_AUTO_DIR DIR *dir = opendir (path);
  int count = -2;

  while (dir != NULL && readdir (dir) != NULL)
    count++;
  return count;
}

/* ---- round trips ---- */

static void
round_trips (struct agent_under_test *agent)
{
  static const char *const names[]
      = { "plain", "two words", "$HOME", "~", "%41", "new\nline", "-dash", "'\"`\\", "\xc3\xa9t\xc3\xa9", "\xff\xfe" };
  char longest[256];
  size_t size = 50u << 20;
  char *large = malloc (size);

  if (large == NULL)
    return;
  for (size_t i = 0; i < size; i++)
    large[i] = (char) (i * 7 + (i >> 9));
  CU_ASSERT_EQUAL (write_file (agent, in_workspace (agent, "large"), large, size, NULL), 0);
  check_content (agent, "large", large, size);
  free (large);
  CU_ASSERT_EQUAL (write_file (agent, in_workspace (agent, "empty"), "", 0, NULL), 0);
  check_content (agent, "empty", "", 0);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    {
      CU_ASSERT_EQUAL (write_file (agent, in_workspace (agent, names[i]), "a\0b\xff", 4, NULL), 0);
      check_content (agent, names[i], "a\0b\xff", 4);
    }
  memset (longest, 'x', 255);
  longest[255] = '\0';
  CU_ASSERT_EQUAL (write_file (agent, in_workspace (agent, longest), "x", 1, NULL), 0);
  check_content (agent, longest, "x", 1);
}

static void
replacements (struct agent_under_test *agent)
{
  struct memory memory = { "new content", 11, 0, 5 };
  struct berth_change how = { .struct_size = sizeof how, .beneath = agent->workspace };
  struct berth_source source = memory_source (&memory);
  int before;

  CU_ASSERT_EQUAL (write_file (agent, in_workspace (agent, "f"), "a longer text", 13, NULL), 0);
  CU_ASSERT_EQUAL (write_file (agent, in_workspace (agent, "f"), "short", 5, NULL), 0);
  check_content (agent, "f", "short", 5);
  before = count_entries (agent->workspace);
  /* The source fails after its first bytes; one that is shorter than it said fails at its end. */
  CU_ASSERT_EQUAL (agentlink_write (&agent->recorded.call, &agent->handle, in_workspace (agent, "f"), &how, &source), -1);
  memory = (struct memory) { "new content", 11, 0, 0 };
  source = memory_source (&memory);
  source.size = 12;
  expect_failure (agent, agentlink_write (&agent->recorded.call, &agent->handle, in_workspace (agent, "f"), &how, &source),
                  BERTH_E_INVALID_REQUEST);
  for (int64_t until = berth_clock_monotonic_ms () + 30000;
       count_entries (agent->workspace) != before && berth_clock_monotonic_ms () < until;)
    berth_clock_sleep_ms (20);
  check_content (agent, "f", "short", 5);
  CU_ASSERT_EQUAL (count_entries (agent->workspace), before);
  how.asks = BERTH_CHANGE_NEW;
  expect_failure (agent, write_file (agent, in_workspace (agent, "f"), "x", 1, &how), BERTH_E_CONFLICT);
  CU_ASSERT_EQUAL (write_file (agent, in_workspace (agent, "g"), "x", 1, &how), 0);
}

static void
modes_and_owners (struct agent_under_test *agent)
{
  static const mode_t modes[] = { 0600, 0640, 0755, 0, 04755 };
  struct berth_change how = { .struct_size = sizeof how, .asks = BERTH_CHANGE_MODE };
  struct stat status;

  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
    {
      how.mode = modes[i];
      CU_ASSERT_EQUAL (write_file (agent, in_workspace (agent, "f"), "x", 1, &how), 0);
      CU_ASSERT_EQUAL (stat (in_workspace (agent, "f"), &status), 0);
      CU_ASSERT_EQUAL (status.st_mode & 07777, modes[i]);
    }
  CU_ASSERT_EQUAL (write_file (agent, in_workspace (agent, "f"), "x", 1, NULL), 0);
  CU_ASSERT_EQUAL (stat (in_workspace (agent, "f"), &status), 0);
  CU_ASSERT (status.st_uid == 65534 && status.st_gid == 65534 && (status.st_mode & 07777) == 0644);
  how = (struct berth_change) { .struct_size = sizeof how,
                                .asks = BERTH_CHANGE_OWNER | BERTH_CHANGE_GROUP | BERTH_CHANGE_TIME,
                                .owner = "daemon",
                                .group = "bin",
                                .modified_s = 1000000000 };
  CU_ASSERT_EQUAL (write_file (agent, in_workspace (agent, "f"), "x", 1, &how), 0);
  CU_ASSERT_EQUAL (stat (in_workspace (agent, "f"), &status), 0);
  CU_ASSERT (status.st_uid == 1 && status.st_gid == 2 && status.st_mtim.tv_sec == 1000000000);
  how.owner = "nosuch";
  expect_failure (agent, write_file (agent, in_workspace (agent, "f"), "x", 1, &how), BERTH_E_PATH_REJECTED);
  how.owner = "daemon";
  how.group = "nosuch";
  expect_failure (agent, write_file (agent, in_workspace (agent, "f"), "x", 1, &how), BERTH_E_PATH_REJECTED);
}

static void
parents (struct agent_under_test *agent)
{
  struct berth_change how = { .struct_size = sizeof how };
  struct stat status;

  expect_failure (agent, write_file (agent, in_workspace (agent, "a/b/c"), "x", 1, &how), BERTH_E_PATH_NOT_FOUND);
  how.asks = BERTH_CHANGE_PARENTS | BERTH_CHANGE_OWNER;
  how.owner = "root";
  CU_ASSERT_EQUAL (write_file (agent, in_workspace (agent, "a/b/c"), "x", 1, &how), 0);
  CU_ASSERT_EQUAL (stat (in_workspace (agent, "a/b"), &status), 0);
  CU_ASSERT (status.st_uid == 65534 && (status.st_mode & 07777) == 0755);
  CU_ASSERT_EQUAL (stat (in_workspace (agent, "a/b/c"), &status), 0);
  CU_ASSERT_EQUAL (status.st_uid, 0);
  expect_failure (agent, write_file (agent, in_workspace (agent, "a/b/c/d"), "x", 1, &how), BERTH_E_PATH_NOT_FOUND);
}

/* ---- reading what cannot be read ---- */

static void
make_unreadable (struct agent_under_test *agent)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

  CU_ASSERT_EQUAL (mkdir (in_workspace (agent, "dir"), 0755), 0);
  CU_ASSERT_EQUAL (mkfifo (in_workspace (agent, "fifo"), 0666), 0);
  CU_ASSERT_EQUAL (mknod (in_workspace (agent, "device"), S_IFCHR | 0666, 0x105), 0);
  CU_ASSERT_EQUAL (symlink ("loop", in_workspace (agent, "loop")), 0);
  CU_ASSERT_EQUAL (symlink ("nowhere", in_workspace (agent, "dangling")), 0);
  snprintf (address.sun_path, sizeof address.sun_path, "%.90s/sock", agent->workspace);
  CU_ASSERT_EQUAL (bind (fd, (struct sockaddr *) &address, sizeof address), 0);
  close (fd);
}

static void
unreadable (struct agent_under_test *agent)
{
  static const char *const odd[] = { "dir", "fifo", "device", "sock" };
  BERTH_AUTO_BUFFER struct berth_buffer content = { 0 };
  struct berth_read how = { .struct_size = sizeof how };

  make_unreadable (agent);
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
    {
      expect_failure (agent, read_file (agent, in_workspace (agent, odd[i]), &content), BERTH_E_INVALID_REQUEST);
      expect_failure (agent, write_file (agent, in_workspace (agent, odd[i]), "x", 1, NULL), BERTH_E_INVALID_REQUEST);
    }
  expect_failure (agent, read_file (agent, in_workspace (agent, "loop"), &content), BERTH_E_PATH_REJECTED);
  expect_failure (agent, write_file (agent, in_workspace (agent, "loop"), "x", 1, NULL), BERTH_E_PATH_REJECTED);
  expect_failure (agent, read_file (agent, in_workspace (agent, "dangling"), &content), BERTH_E_PATH_NOT_FOUND);
  expect_failure (agent, read_file (agent, in_workspace (agent, "missing"), &content), BERTH_E_PATH_NOT_FOUND);
  CU_ASSERT_EQUAL (write_file (agent, in_workspace (agent, "ten"), "0123456789", 10, NULL), 0);
  {
    struct berth_read_sink sink = { sizeof sink, 0, NULL, NULL, NULL }; /* nothing may come */

    how.max_bytes = 9;
    expect_failure (agent,
                    agentlink_read (&agent->recorded.call, &agent->handle, in_workspace (agent, "ten"), &how, &sink),
                    BERTH_E_PAYLOAD_TOO_LARGE);
  }
  CU_ASSERT_EQUAL (content.size, 0);
  CU_ASSERT_EQUAL (read_file (agent, "/proc/self/comm", &content), 0); /* a file that tells no size */
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&content), "berth-agent\n");
}

struct sighting
{
  const char *name;
  uint32_t kind;
  int times;
};

static int
see_entry (void *context, const struct berth_file_info *info)
{
  struct sighting *sighting = context;

  if (!berth_string_ends_with (info->name, sighting->name)) /* a path, or a name of a list */
    return 0;
  sighting->kind = info->kind;
  sighting->times++;
  return 0;
}

/* None is opened: what holds a pipe open for ever holds nobody up. */
static void
odd_entries (struct agent_under_test *agent)
{
  static const char *const odd[] = { "fifo", "device", "sock" };
  BERTH_AUTO_BUFFER struct berth_buffer content = { 0 };
  struct berth_change how = { .struct_size = sizeof how, .beneath = agent->workspace };
  struct berth_read plain = { .struct_size = sizeof plain };
  struct sighting sighting;
  struct berth_entry_sink sink = { sizeof sink, 0, &sighting, see_entry };
  struct berth_call *call = &agent->recorded.call;
  int writer;

  make_unreadable (agent);
  writer = open (in_workspace (agent, "fifo"), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  CU_ASSERT (writer >= 0);
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
    {
      const char *path = in_workspace (agent, odd[i]);

      sighting = (struct sighting) { .name = odd[i] };
      CU_ASSERT_EQUAL (agentlink_stat (call, &agent->handle, path, &plain, &sink), 0);
      CU_ASSERT_EQUAL (agentlink_list (call, &agent->handle, agent->workspace, &plain, &sink), 0);
      CU_ASSERT (sighting.kind == BERTH_KIND_OTHER && sighting.times == 2);
      expect_failure (agent, read_file (agent, path, &content), BERTH_E_INVALID_REQUEST);
      CU_ASSERT_EQUAL (agentlink_remove (call, &agent->handle, path, &how), 0);
      CU_ASSERT_NOT_EQUAL (access (path, F_OK), 0);
    }
  close (writer);
}

static int
ignore_info (void *context, const struct berth_file_info *info)
{
  (void) context;
  CU_ASSERT_EQUAL (info->size, 10);
  return 0;
}

static int
append (void *context, const void *bytes, size_t size)
{
  return berth_buffer_append (context, bytes, size);
}

static void
check_range (struct agent_under_test *agent, uint64_t offset, uint64_t length, const char *expected)
{
  BERTH_AUTO_BUFFER struct berth_buffer content = { 0 };
  struct berth_read how = { .struct_size = sizeof how, .asks = BERTH_READ_RANGE, .max_bytes = 4 };
  struct berth_read_sink sink = { sizeof sink, 0, &content, ignore_info, append };

  how.offset = offset;
  how.length = length;
  CU_ASSERT_EQUAL (agentlink_read (&agent->recorded.call, &agent->handle, in_workspace (agent, "ten"), &how, &sink), 0);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&content), expected);
}

static void
ranges (struct agent_under_test *agent)
{
  CU_ASSERT_EQUAL (write_file (agent, in_workspace (agent, "ten"), "0123456789", 10, NULL), 0);
  check_range (agent, 0, 4, "0123");
  check_range (agent, 3, 2, "34");
  check_range (agent, 8, BERTH_UNKNOWN_SIZE, "89");
  check_range (agent, 100, 4, "");
}

/* ---- staying inside ---- */

static void
containment (struct agent_under_test *agent)
{
  static const char *const links[][2] = { { "absolute", "/tmp" },
                                          { "upwards", ".." },
                                          { "far", "../../../../../../../.." },
                                          { "magic", "/proc/self/root" },
                                          { "file", "/etc/passwd" } };
  struct berth_change parents_too = { .struct_size = sizeof parents_too, .asks = BERTH_CHANGE_PARENTS };
  struct berth_change how = { .struct_size = sizeof how, .beneath = agent->workspace };
  char path[128], target[128];
  int before = count_entries (agent->directory);

  unlink ("/tmp/berth-escaped"); /* of a run that found a defect */
  for (size_t i = 0; i < sizeof links / sizeof *links; i++)
    {
      CU_ASSERT_EQUAL (symlink (links[i][1], in_workspace (agent, links[i][0])), 0);
      snprintf (path, sizeof path, "%s/berth-escaped", links[i][0]);
      CU_ASSERT_EQUAL (write_file (agent, in_workspace (agent, path), "x", 1, &parents_too), -1);
      CU_ASSERT_EQUAL (agent->recorded.code, BERTH_E_PATH_REJECTED);
      CU_ASSERT_EQUAL (agentlink_make_directory (&agent->recorded.call, &agent->handle, in_workspace (agent, path), &how), -1);
      CU_ASSERT_EQUAL (agentlink_move (&agent->recorded.call, &agent->handle, in_workspace (agent, links[i][0]),
                                       in_workspace (agent, path), &how),
                       -1);
    }
  /* A link as the last component is followed as long as it stays; else it is refused, never replaced. */
  expect_failure (agent, write_file (agent, in_workspace (agent, "file"), "x", 1, NULL), BERTH_E_PATH_REJECTED);
  CU_ASSERT_EQUAL (write_file (agent, in_workspace (agent, "inside"), "old", 3, NULL), 0);
  CU_ASSERT_EQUAL (symlink ("inside", in_workspace (agent, "link")), 0);
  snprintf (target, sizeof target, "%s/inside", agent->workspace);
  CU_ASSERT_EQUAL (symlink (target, in_workspace (agent, "absolute-inside")), 0);
  CU_ASSERT_EQUAL (write_file (agent, in_workspace (agent, "link"), "new", 3, NULL), 0);
  check_content (agent, "inside", "new", 3);
  CU_ASSERT_EQUAL (write_file (agent, in_workspace (agent, "absolute-inside"), "newer", 5, NULL), 0);
  check_content (agent, "inside", "newer", 5);
  expect_failure (agent, write_file (agent, "/tmp/berth-escaped", "x", 1, NULL), BERTH_E_PATH_REJECTED);
  expect_failure (agent, write_file (agent, in_workspace (agent, "../berth-escaped"), "x", 1, NULL), BERTH_E_PATH_REJECTED);
  expect_failure (agent, write_file (agent, agent->workspace, "x", 1, NULL), BERTH_E_INVALID_REQUEST);
  CU_ASSERT_EQUAL (count_entries (agent->directory), before);
  CU_ASSERT_NOT_EQUAL (access ("/tmp/berth-escaped", F_OK), 0);
}

/* Somebody inside swaps a directory for a link to the outside, all the time. */
static pid_t
start_swapping (struct agent_under_test *agent)
{
  char directory[160], link[160], spare[160];
  pid_t pid;

  snprintf (directory, sizeof directory, "%s/swapped", agent->workspace);
  snprintf (link, sizeof link, "%s/other", agent->workspace);
  snprintf (spare, sizeof spare, "%s/outside", agent->directory);
  CU_ASSERT_EQUAL (mkdir (directory, 0777), 0);
  CU_ASSERT_EQUAL (mkdir (spare, 0777), 0);
  CU_ASSERT_EQUAL (symlink (spare, link), 0);
  pid = fork ();
  while (pid == 0)
    renameat2 (AT_FDCWD, directory, AT_FDCWD, link, RENAME_EXCHANGE);
  return pid;
}

static void
race (struct agent_under_test *agent)
{
  pid_t swapper = start_swapping (agent);
  char outside[128], control[160];
  int done = 0, hit = 0;

  snprintf (outside, sizeof outside, "%s/outside", agent->directory);
  for (int i = 0; i < 400; i++)
    done += write_file (agent, in_workspace (agent, "swapped/f"), "x", 1, NULL) == 0;
  CU_ASSERT (done > 0);
  CU_ASSERT_EQUAL (count_entries (outside), 0);
  /* The control: without protection the same goes outside. */
  snprintf (control, sizeof control, "%s/swapped/control", agent->workspace);
  for (int i = 0; i < 2000 && !hit; i++)
    {
      int fd = open (control, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

      if (fd >= 0)
        close (fd);
      hit = count_entries (outside) > 0;
    }
  CU_ASSERT (hit);
  kill (swapper, SIGKILL);
  waitpid (swapper, NULL, 0);
}

/* ---- listing ---- */

struct listing
{
  int count;
  struct berth_file_info last;
  char owner[64];
  char link[64];
};

static int
take_entry (void *context, const struct berth_file_info *info)
{
  struct listing *listing = context;

  listing->count++;
  listing->last = *info;
  snprintf (listing->owner, sizeof listing->owner, "%s", info->owner == NULL ? "" : info->owner);
  snprintf (listing->link, sizeof listing->link, "%s", info->link_target == NULL ? "" : info->link_target);
  return 0;
}

static int
list (struct agent_under_test *agent, const char *path, struct listing *listing)
{
  struct berth_read how = { .struct_size = sizeof how };
  struct berth_entry_sink sink = { sizeof sink, 0, listing, take_entry };

  memset (listing, 0, sizeof *listing);
  return agentlink_list (&agent->recorded.call, &agent->handle, path, &how, &sink);
}

static int
look (struct agent_under_test *agent, const char *path, uint64_t asks, struct listing *listing)
{
  struct berth_read how = { .struct_size = sizeof how, .asks = asks };
  struct berth_entry_sink sink = { sizeof sink, 0, listing, take_entry };

  memset (listing, 0, sizeof *listing);
  return agentlink_stat (&agent->recorded.call, &agent->handle, path, &how, &sink);
}

static void
lists (struct agent_under_test *agent)
{
  struct listing listing;

  CU_ASSERT_EQUAL (list (agent, agent->workspace, &listing), 0);
  CU_ASSERT_EQUAL (listing.count, 0);
  CU_ASSERT_EQUAL (write_file (agent, in_workspace (agent, ".dot"), "12345", 5, NULL), 0);
  CU_ASSERT_EQUAL (list (agent, agent->workspace, &listing), 0);
  CU_ASSERT_EQUAL (listing.count, 1);
  CU_ASSERT_EQUAL (listing.last.kind, BERTH_KIND_FILE);
  CU_ASSERT (listing.last.size == 5 && listing.last.mode == 0644 && listing.last.uid == 65534);
  CU_ASSERT_STRING_EQUAL (listing.owner, "nobody");
  CU_ASSERT (listing.last.modified_s > 1700000000);
  expect_failure (agent, list (agent, in_workspace (agent, ".dot"), &listing), BERTH_E_INVALID_REQUEST);
  expect_failure (agent, list (agent, in_workspace (agent, "missing"), &listing), BERTH_E_PATH_NOT_FOUND);
  CU_ASSERT_EQUAL (symlink (".dot", in_workspace (agent, "link")), 0);
  CU_ASSERT_EQUAL (look (agent, in_workspace (agent, "link"), 0, &listing), 0);
  CU_ASSERT_EQUAL (listing.last.kind, BERTH_KIND_SYMLINK);
  CU_ASSERT_STRING_EQUAL (listing.link, ".dot");
  CU_ASSERT_EQUAL (look (agent, in_workspace (agent, "link"), BERTH_READ_FOLLOW, &listing), 0);
  CU_ASSERT_EQUAL (listing.last.kind, BERTH_KIND_FILE);
  CU_ASSERT_EQUAL (mkfifo (in_workspace (agent, "fifo"), 0600), 0);
  CU_ASSERT_EQUAL (look (agent, in_workspace (agent, "fifo"), 0, &listing), 0);
  CU_ASSERT_EQUAL (listing.last.kind, BERTH_KIND_OTHER);
}

static void
many_entries (struct agent_under_test *agent)
{
  struct listing listing;
  int64_t before;

  for (int i = 0; i < 10000; i++)
    {
      char name[32];
      BERTH_AUTO_FD int fd = -1;

      snprintf (name, sizeof name, "entry-%d", i);
      fd = open (in_workspace (agent, name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
      CU_ASSERT (fd >= 0);
    }
  before = berth_clock_monotonic_ms ();
  CU_ASSERT_EQUAL (list (agent, agent->workspace, &listing), 0);
  CU_ASSERT_EQUAL (listing.count, 10000);
  CU_ASSERT (berth_clock_monotonic_ms () - before < 5000);
}

/* ---- directories, moves, removals, attributes ---- */

static int
make_directory (struct agent_under_test *agent, const char *name, const struct berth_change *how)
{
  return agentlink_make_directory (&agent->recorded.call, &agent->handle, in_workspace (agent, name), how);
}

static int
move (struct agent_under_test *agent, const char *from, const char *to, const struct berth_change *how)
{
  return agentlink_move (&agent->recorded.call, &agent->handle, in_workspace (agent, from), in_workspace (agent, to),
                         how);
}

static int
remove_entry (struct agent_under_test *agent, const char *name, const struct berth_change *how)
{
  return agentlink_remove (&agent->recorded.call, &agent->handle, in_workspace (agent, name), how);
}

static struct berth_change
asking (const struct agent_under_test *agent, uint64_t asks)
{
  return (struct berth_change) { .struct_size = sizeof (struct berth_change), .beneath = agent->workspace, .asks = asks };
}

static void
directories (struct agent_under_test *agent)
{
  struct berth_change how = asking (agent, 0), deep = asking (agent, BERTH_CHANGE_PARENTS);
  struct berth_change fresh = asking (agent, BERTH_CHANGE_NEW);
  struct stat status;

  CU_ASSERT_EQUAL (make_directory (agent, "d", &how), 0);
  CU_ASSERT_EQUAL (stat (in_workspace (agent, "d"), &status), 0);
  CU_ASSERT (status.st_uid == 65534 && (status.st_mode & 07777) == 0755);
  CU_ASSERT_EQUAL (make_directory (agent, "d", &how), 0);
  expect_failure (agent, make_directory (agent, "d", &fresh), BERTH_E_CONFLICT);
  expect_failure (agent, make_directory (agent, "x/y", &how), BERTH_E_PATH_NOT_FOUND);
  CU_ASSERT_EQUAL (make_directory (agent, "x/y", &deep), 0);
  CU_ASSERT_EQUAL (write_file (agent, in_workspace (agent, "f"), "x", 1, NULL), 0);
  expect_failure (agent, make_directory (agent, "f", &how), BERTH_E_CONFLICT);
}

static void
changes (struct agent_under_test *agent)
{
  struct berth_change how = asking (agent, 0), deep = asking (agent, BERTH_CHANGE_PARENTS);
  struct berth_change fresh = asking (agent, BERTH_CHANGE_NEW), tree = asking (agent, BERTH_CHANGE_RECURSIVE);
  struct berth_change lax = asking (agent, BERTH_CHANGE_MISSING_OK);

  CU_ASSERT_EQUAL (make_directory (agent, "d", &how), 0);
  CU_ASSERT_EQUAL (write_file (agent, in_workspace (agent, "d/f"), "1", 1, NULL), 0);
  CU_ASSERT_EQUAL (write_file (agent, in_workspace (agent, "g"), "2", 1, NULL), 0);
  expect_failure (agent, move (agent, "d/f", "g", &fresh), BERTH_E_CONFLICT);
  CU_ASSERT_EQUAL (move (agent, "d/f", "g", &how), 0);
  check_content (agent, "g", "1", 1);
  expect_failure (agent, move (agent, "no", "g", &how), BERTH_E_PATH_NOT_FOUND);
  CU_ASSERT_EQUAL (move (agent, "g", "x/y/z/g", &deep), 0);

  expect_failure (agent, remove_entry (agent, "x", &how), BERTH_E_CONFLICT);
  CU_ASSERT_EQUAL (remove_entry (agent, "x", &tree), 0);
  expect_failure (agent, remove_entry (agent, "x", &how), BERTH_E_PATH_NOT_FOUND);
  CU_ASSERT_EQUAL (remove_entry (agent, "x", &lax), 0);
  CU_ASSERT_EQUAL (remove_entry (agent, "x/deeper/still", &lax), 0);
  CU_ASSERT_EQUAL (remove_entry (agent, "d", &how), 0);
  expect_failure (agent, agentlink_remove (&agent->recorded.call, &agent->handle, agent->workspace, &tree),
                  BERTH_E_INVALID_REQUEST);
}

static void
removals (struct agent_under_test *agent)
{
  struct berth_change tree = asking (agent, BERTH_CHANGE_RECURSIVE);
  char outside[128];

  snprintf (outside, sizeof outside, "%s/kept", agent->directory);
  CU_ASSERT_EQUAL (berth_fs_replace (AT_FDCWD, outside, "x", 1, 0600), 0);
  CU_ASSERT_EQUAL (mkdir (in_workspace (agent, "t"), 0755), 0);
  CU_ASSERT_EQUAL (symlink (agent->directory, in_workspace (agent, "t/out")), 0);
  CU_ASSERT_EQUAL (symlink (outside, in_workspace (agent, "link")), 0);
  CU_ASSERT_EQUAL (remove_entry (agent, "t", &tree), 0);
  CU_ASSERT_EQUAL (remove_entry (agent, "link", &tree), 0);
  CU_ASSERT_EQUAL (access (outside, F_OK), 0);
  CU_ASSERT_EQUAL (count_entries (agent->workspace), 0);
}

static int
set_attributes (struct agent_under_test *agent, const char *name, const struct berth_change *how)
{
  return agentlink_set_attributes (&agent->recorded.call, &agent->handle, in_workspace (agent, name), how);
}

static void
attributes (struct agent_under_test *agent)
{
  struct berth_change how = { .struct_size = sizeof how,
                              .beneath = agent->workspace,
                              .asks = BERTH_CHANGE_MODE | BERTH_CHANGE_OWNER | BERTH_CHANGE_TIME,
                              .mode = 0750,
                              .owner = "daemon",
                              .modified_s = 1234567890 };
  struct stat status;

  CU_ASSERT_EQUAL (mkdir (in_workspace (agent, "d"), 0755), 0);
  CU_ASSERT_EQUAL (write_file (agent, in_workspace (agent, "d/f"), "x", 1, NULL), 0);
  CU_ASSERT_EQUAL (symlink ("/etc/passwd", in_workspace (agent, "d/out")), 0);
  CU_ASSERT_EQUAL (mkfifo (in_workspace (agent, "d/fifo"), 0600), 0);
  CU_ASSERT_EQUAL (set_attributes (agent, "d", &how), 0);
  CU_ASSERT_EQUAL (stat (in_workspace (agent, "d"), &status), 0);
  CU_ASSERT (status.st_uid == 1 && (status.st_mode & 07777) == 0750 && status.st_mtim.tv_sec == 1234567890);
  CU_ASSERT_EQUAL (stat (in_workspace (agent, "d/f"), &status), 0);
  CU_ASSERT_EQUAL (status.st_uid, 65534);
  how.asks |= BERTH_CHANGE_RECURSIVE;
  CU_ASSERT_EQUAL (set_attributes (agent, "d", &how), 0);
  CU_ASSERT_EQUAL (stat (in_workspace (agent, "d/f"), &status), 0);
  CU_ASSERT (status.st_uid == 1 && (status.st_mode & 07777) == 0750);
  CU_ASSERT_EQUAL (stat (in_workspace (agent, "d/fifo"), &status), 0);
  CU_ASSERT_EQUAL (status.st_mode & 07777, 0750);
  CU_ASSERT_EQUAL (stat ("/etc/passwd", &status), 0);
  CU_ASSERT (status.st_uid == 0 && (status.st_mode & 07777) == 0644);
  expect_failure (agent, set_attributes (agent, "no", &how), BERTH_E_PATH_NOT_FOUND);
  expect_failure (agent, set_attributes (agent, "d/out", &how), BERTH_E_PATH_REJECTED);
  how.asks |= BERTH_ASKS_HARNESS;
  expect_failure (agent, set_attributes (agent, "d", &how), BERTH_E_CAPABILITY_NOT_SUPPORTED);
}

#define BOTH(name)                                                                                \
  static void test_##name (void)                                                                  \
  {                                                                                               \
    in_both_ways (name);                                                                          \
  }
BOTH (round_trips)
BOTH (replacements)
BOTH (modes_and_owners)
BOTH (parents)
BOTH (unreadable)
BOTH (odd_entries)
BOTH (ranges)
BOTH (containment)
BOTH (race)
BOTH (lists)
BOTH (many_entries)
BOTH (directories)
BOTH (changes)
BOTH (removals)
BOTH (attributes)

static const struct berth_test tests[] = {
  { "F01 F03 every name and every byte comes back", test_round_trips },
  { "F02 F13 the new content or the old", test_replacements },
  { "F04 F05 mode and owner are exact", test_modes_and_owners },
  { "F06 parents are made when asked", test_parents },
  { "F07 F08 D-054 what is no file is an error at once", test_unreadable },
  { "D-054 F10 F12 what is no file is listed and removed", test_odd_entries },
  { "ranges of a file", test_ranges },
  { "F09 D-052 no write leaves the write root", test_containment },
  { "F09 D-053 not through a race either", test_race },
  { "F10 list and stat", test_lists },
  { "F11 ten thousand entries", test_many_entries },
  { "F12 directories are made", test_directories },
  { "F12 move and remove", test_changes },
  { "F12 removing follows no link", test_removals },
  { "F04 F05 attributes of what is there", test_attributes },
  { NULL, NULL },
};

int
main (void)
{
  return berth_test_main ("agent files", tests);
}

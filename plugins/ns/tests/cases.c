/* cases.c - faults of others in how sandboxes end and what they are made of, tried on ns. */
#include <CUnit/CUnit.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugins/ns/tests/host.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/clock.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"
#include "sdk/base/tests/runner.h"
#include "sdk/base/tests/stall.h"

/* ---- D-044, D-045 ---- */

/* Calls EACH with the directories of GUEST's cgroups; how many there are. */
static int
for_each_cgroup (const struct guest *guest, void (*each) (const char *path, void *context), void *context)
{
  BERTH_AUTO_BUFFER struct berth_buffer state = { 0 };
  char mine[96], *line, *next;
  int count = 0;

  snprintf (mine, sizeof mine, "%s", guest->id);
  machine_state (mine, &state);
  for (line = state.data; line != NULL && (next = strchr (line, '\n')) != NULL; line = next + 1)
    {
      *next = '\0';
      if (strncmp (line, "cgroup ", 7) != 0)
        continue;
      count++;
      if (each != NULL)
        each (line + 7, context);
    }
  return count;
}

/* Processes that are none of the sandbox's. */
struct strangers
{
  pid_t pids[32];
  int count;
};

/* Three levels below, and in the last a stranger.  A cgroup that takes none is passed over. */
static void
nest (const char *path, void *context)
{
  struct strangers *strangers = context;
  char place[512], text[32];

  if (strangers->count == sizeof strangers->pids / sizeof *strangers->pids)
    return;
  snprintf (place, sizeof place, "%s", path);
  for (int level = 0; level < 3; level++)
    {
      strncat (place, "/nested", sizeof place - strlen (place) - 1);
      if (mkdir (place, 0755) < 0)
        return;
    }
  pid_t pid = fork ();
  if (pid < 0)
    return;
  if (pid == 0)
    for (;;)
      pause ();
  strncat (place, "/cgroup.procs", sizeof place - strlen (place) - 1);
  snprintf (text, sizeof text, "%d", (int) pid);
  if (berth_fs_write (AT_FDCWD, place, text, strlen (text)) == 0)
    strangers->pids[strangers->count++] = pid;
  else
    {
      kill (pid, SIGKILL);
      waitpid (pid, NULL, 0);
    }
}

static void
cgroups_with_strangers_go (void)
{
  struct host host;
  struct guest guest;
  struct strangers strangers = { 0 };
  int status;

  if (!guest_alone (&host, &guest, NULL))
    return;
  CU_ASSERT_EQUAL (guest_run (&guest, NULL, "i=0; while [ $i -lt 150 ]; do sleep 1000 >/dev/null 2>&1 & i=$((i+1)); done",
                              NULL, NULL, NULL),
                   0);
  if (for_each_cgroup (&guest, nest, &strangers) == 0)
    berth_test_skip ("this machine gives no cgroup");
  else
    CU_ASSERT_TRUE (strangers.count > 0);
  CU_ASSERT_EQUAL (guest_destroy (&guest), BERTH_GONE);
  guest_release (&guest);
  CU_ASSERT_EQUAL (for_each_cgroup (&guest, NULL, NULL), 0);
  for (int i = 0; i < strangers.count; i++)
    {
      int64_t until = berth_clock_monotonic_ms () + 5000;
      pid_t ended;

      while ((ended = waitpid (strangers.pids[i], &status, WNOHANG)) == 0 && berth_clock_monotonic_ms () < until)
        berth_clock_sleep_ms (10);
      CU_ASSERT (ended == strangers.pids[i] && WIFSIGNALED (status));
      if (ended == 0)
        {
          kill (strangers.pids[i], SIGKILL);
          waitpid (strangers.pids[i], &status, 0);
        }
    }
  host_stop (&host);
}

/* ---- D-051 ---- */

static void
an_agent_that_does_not_move_is_ended (void)
{
  struct berth_test_stall stall;
  struct host host;
  struct guest guest;

  if (!guest_alone (&host, &guest, NULL))
    return;
  guest_run (&guest, NULL, "sleep 1000 >/dev/null 2>&1 &", NULL, NULL, NULL);
  CU_ASSERT_FATAL (berth_test_stall_start (&stall));
  CU_ASSERT_EQUAL (kill (guest.pid, SIGSTOP), 0);
  int64_t begin = berth_clock_monotonic_ms ();
  CU_ASSERT_EQUAL (guest_destroy (&guest), BERTH_GONE);
  CU_ASSERT_EQUAL (guest_destroy (&guest), BERTH_GONE);
  CU_ASSERT (berth_clock_monotonic_ms () - begin < 5000 + berth_test_stall_ms (&stall));
  berth_test_stall_stop (&stall);
  CU_ASSERT_FALSE (guest_is_present (&guest));
  guest_release (&guest);
  host_stop (&host);
}

/* ---- D-062 ---- */

static int
set_immutable (const char *path, bool on)
{
  BERTH_AUTO_FD int fd = open (path, O_RDONLY | O_CLOEXEC);
  int flags = 0;

  if (fd < 0 || ioctl (fd, FS_IOC_GETFLAGS, &flags) < 0)
    return -1;
  flags = on ? flags | FS_IMMUTABLE_FL : flags & ~FS_IMMUTABLE_FL;
  return ioctl (fd, FS_IOC_SETFLAGS, &flags);
}

static void
all_owners_and_modes_go (void)
{
  struct host host;
  struct guest guest;

  if (!guest_alone (&host, &guest, NULL))
    return;
  CU_ASSERT_EQUAL (guest_run (&guest, NULL, "mkdir -p a/b/c open; touch a/b/c/x; chmod 0 a/b/c a/b a; chmod 1777 open", NULL, NULL, NULL), 0);
  if (host_has_accounts ())
    CU_ASSERT_EQUAL (guest_run (&guest, "root", "cd open && mkdir -m 0 locked && umask 077 && mkdir d && touch d/f", NULL, NULL, NULL), 0);
  if (host_has_accounts ())
    CU_ASSERT_EQUAL (guest_run (&guest, "65534", "cd open && mkdir -p n/m && touch n/m/f && chmod 0 n/m n", NULL, NULL, NULL), 0);
  CU_ASSERT_EQUAL (guest_destroy (&guest), BERTH_GONE);
  CU_ASSERT_FALSE (guest_is_present (&guest));
  guest_release (&guest);
  host_stop (&host);
}

/* What cannot be removed is told with its place, and the sandbox stays listed until it can. */
static void
what_cannot_be_removed_stays_listed (void)
{
  struct host host;
  struct guest guest;
  struct host_call call;
  struct berth_destroyed destroyed = { 0 };

  if (!guest_alone (&host, &guest, NULL))
    return;
  guest_run (&guest, NULL, "mkdir d; echo x > d/fixed", NULL, NULL, NULL);
  BERTH_AUTO_FREE char *fixed = berth_string_format ("%s/boxes/%s/workspace/d/fixed", host.directory[0], guest.id);
  if (set_immutable (fixed, true) < 0)
    berth_test_skip ("files of this machine cannot be made immutable");
  else
    {
      const struct berth_native native = { .struct_size = sizeof native, .id = guest.id };

      host_call_start (&host, &call);
      CU_ASSERT_EQUAL (host.backend->lifecycle->destroy (&call.call, host.state, &native, &destroyed), 0);
      CU_ASSERT_EQUAL (destroyed.verdict, BERTH_REFUSED);
      CU_ASSERT_PTR_NOT_NULL (strstr (call.message, guest.id));
      CU_ASSERT_PTR_NOT_NULL (strstr (call.message, host.directory[0]));
      CU_ASSERT_TRUE (guest_is_present (&guest));
      CU_ASSERT_FALSE (guest_is_running (&guest));
      CU_ASSERT_EQUAL (set_immutable (fixed, false), 0);
    }
  CU_ASSERT_EQUAL (guest_destroy (&guest), BERTH_GONE);
  guest_release (&guest);
  host_stop (&host);
}

/* ---- D-068, D-069 ---- */

static int
make_odd_etc (void)
{
  static const char *const links[][2] = {
    { "/no/where", "/etc/timezone" },       { "/root", "/etc/alternatives" }, { "services", "/etc/services" },
    { "/var/lib/odd-secret", "/etc/magic" }, { "../root/x", "/etc/fonts" },    { "/etc", "/etc/perl" },
    { "/nothing", "/etc/ssl" },
  };

  if (mount ("tmpfs", "/etc", "tmpfs", 0, NULL) < 0 || mount ("tmpfs", "/var/lib", "tmpfs", 0, NULL) < 0
      || berth_fs_replace (AT_FDCWD, "/etc/passwd", "root:x:0:0:r:/:/bin/sh\n", 23, 0644) < 0
      || berth_fs_replace (AT_FDCWD, "/var/lib/odd-secret", "secret", 6, 0644) < 0 || mkdir ("/etc/ld.so.conf.d", 0755) < 0)
    return -1;
  for (size_t i = 0; i < sizeof links / sizeof *links; i++)
    if (symlink (links[i][0], links[i][1]) < 0)
      return -1;
  return 0;
}

static int
check_odd_etc (struct host *host)
{
  const struct berth_spec spec = guest_spec ();
  struct host_call call;
  struct guest guest = { 0 };
  int result = 0;

  host_call_start (host, &call);
  if (guest_create_in (host, &guest, &spec, &call) < 0)
    {
      fprintf (stderr, "%s\n", call.message);
      return 1;
    }
  if (strcmp (guest_output (&guest, "cat /etc/magic /etc/services /etc/timezone 2>/dev/null; ls /etc/fonts/ 2>/dev/null; "
                                    "grep -rl secret /var/lib /etc 2>/dev/null; readlink /etc/timezone; test -d /etc/ld.so.conf.d && echo dir"),
              "/no/where\ndir")
      != 0)
    result = 2;
  return guest_destroy (&guest) == BERTH_GONE ? result : 3;
}

static void
links_where_files_are_expected (void)
{
  struct host host;
  int status = -1;

  if (!host_start (&host))
    return;
  pid_t pid = fork ();
  if (pid == 0)
    {
      if (unshare (CLONE_NEWNS) < 0 || mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 || make_odd_etc () < 0)
        _exit (100);
      _exit (check_odd_etc (&host));
    }
  waitpid (pid, &status, 0);
  CU_ASSERT_EQUAL (status, 0);
  if (status != 0)
    fprintf (stderr, "status %#x\n", (unsigned) status);
  host_stop (&host);
}

static void
list_names (struct berth_buffer *names)
{
  static const char *const places[] = { "/", "/dev", "/etc", "/home", "/mnt", "/opt", "/root", "/srv", "/var", "/var/lib", "/var/empty" };

  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    {
      struct dirent **entries = NULL;
      int count = scandir (places[i], &entries, NULL, alphasort);

      berth_buffer_appendf (names, "%s %d\n", places[i], count);
      for (int k = 0; k < count; k++)
        {
          berth_buffer_appendf (names, "%s\n", entries[k]->d_name);
          free (entries[k]);
        }
      free (entries);
    }
}

/* Every target of a mount is made on the sandbox's own file system. */
static void
no_name_is_made_on_the_machine (void)
{
  BERTH_AUTO_BUFFER struct berth_buffer before = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer during = { 0 };
  struct host host;
  struct guest guest;

  list_names (&before);
  if (!guest_alone (&host, &guest, NULL))
    return;
  CU_ASSERT_STRING_EQUAL (guest_output (&guest, "test -d /workspace && test -e /dev/null && test -d /dev/shm && echo made"), "made");
  list_names (&during);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&before), berth_buffer_string (&during));
  guest_alone_end (&host, &guest);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "D-044 D-045 cgroups go with strangers and cgroups inside", cgroups_with_strangers_go },
    { "D-051 an agent that does not move is ended, twice", an_agent_that_does_not_move_is_ended },
    { "D-062 files of all owners and modes go", all_owners_and_modes_go },
    { "D-062 what cannot be removed stays listed", what_cannot_be_removed_stays_listed },
    { "D-068 links where files are expected", links_where_files_are_expected },
    { "D-069 no name is made on the machine", no_name_is_made_on_the_machine },
    { NULL, NULL },
  };

  return host_main_of_root ("ns: cases", tests);
}

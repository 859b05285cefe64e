/* door.c - the workspace of a paused sandbox: whole, and by somebody who can do nothing but read it. */
#include <CUnit/CUnit.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugins/ns/tests/host.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/clock.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"
#include "sdk/base/tests/runner.h"

#define PATIENCE_MS 60000
#define DOOR "berth-door"
/* A line in one file and then one in the other; what lies beside them takes an export a moment. */
#define IN_STEP                                                                                                        \
  "for i in 1 2 3 4 5 6 7 8; do head -c 300000 /dev/urandom > noise$i; done; "                                         \
  "(while :; do echo x >> a; echo x >> b; done) >/dev/null 2>&1 &\n"                                                   \
  "until [ -s b ]; do sleep 0.01; done"

/* ---- exporting ---- */

struct exported
{
  struct berth_buffer tar;
  uint64_t has; /* BERTH_TAR_* of the report */
  int reports;
  struct host_call *call;
  void (*look) (struct exported *exported); /* once, at the first bytes */
  struct guest *guest;
  pid_t door;
};

static int
take_bytes (void *context, const void *bytes, size_t size)
{
  struct exported *exported = context;

  if (exported->look != NULL && exported->tar.size == 0)
    exported->look (exported);
  if (exported->call->cancelled) /* as a host asks at each piece */
    return exported->call->call.services->fail (&exported->call->call, BERTH_E_CANCELLED, "cancelled");
  return berth_buffer_append (&exported->tar, bytes, size);
}

static int
take_report (void *context, const struct berth_tar_report *report)
{
  struct exported *exported = context;

  exported->has = report->has;
  exported->reports++;
  return 0;
}

static int
export (struct guest *guest, uint64_t asks, struct exported *exported, struct host_call *call)
{
  const struct berth_tar_limits limits
      = { .struct_size = sizeof limits, .asks = asks, .max_bytes = 1u << 30, .max_entries = 1000 };
  const struct berth_tar_sink sink
      = { .struct_size = sizeof sink, .context = exported, .data = take_bytes, .report = take_report };

  host_call_start (guest->host, call);
  exported->call = call;
  exported->guest = guest;
  return guest->host->backend->workspace->export_tar (&call->call, guest->handle, &limits, &sink);
}

/* How many lines of two bytes the file NAME has in it; -1: there is none. */
static long
lines_of (const struct exported *exported, const char *name)
{
  const struct berth_buffer *tar = &exported->tar;

  for (size_t at = 0; at + 512 <= tar->size && tar->data[at] != '\0';)
    {
      const char *header = tar->data + at;
      unsigned long long size = strtoull (header + 124, NULL, 8);
      if (strcmp (header, name) == 0 && header[156] == '0')
        return (long) (size / 2);
      at += 512 + (size + 511) / 512 * 512;
    }
  return -1;
}

/* The difference is one where the writer was held between the two. */
static bool
is_in_step (const struct exported *exported)
{
  long first = lines_of (exported, "a"), second = lines_of (exported, "b");

  CU_ASSERT_TRUE (first > 0 && second > 0);
  return first - second == 0 || first - second == 1;
}

/* ---- W01: whole ---- */

static void
as_it_stands (void)
{
  struct host host;
  struct guest guest;
  struct host_call call;
  int rounds = berth_test_is_long () ? 200 : 10;

  if (!guest_pausable (&host, &guest))
    return;
  CU_ASSERT_EQUAL (guest_run (&guest, NULL, IN_STEP, NULL, NULL, NULL), 0);
  for (int i = 0; i < rounds; i++)
    {
      struct exported exported = { .reports = 0 };
      CU_ASSERT_EQUAL (guest_pause (&guest, &call), 0);
      CU_ASSERT_EQUAL (export (&guest, BERTH_TAR_FROZEN, &exported, &call), 0);
      CU_ASSERT_EQUAL (guest_life (&guest), BERTH_LIFE_PAUSED);
      CU_ASSERT_EQUAL (exported.reports, 1);
      CU_ASSERT_EQUAL (exported.has & BERTH_TAR_CHANGED, 0);
      CU_ASSERT_TRUE (is_in_step (&exported));
      CU_ASSERT_EQUAL (guest_resume (&guest, &call), 0);
      berth_buffer_free (&exported.tar);
    }
  guest_alone_end (&host, &guest);
}

/* What the test before would see if nothing were held. */
static void
torn_while_it_runs (void)
{
  struct host host;
  struct guest guest;
  struct host_call call;
  bool torn = false;

  if (!guest_pausable (&host, &guest))
    return;
  CU_ASSERT_EQUAL (guest_run (&guest, NULL, IN_STEP, NULL, NULL, NULL), 0);
  for (int64_t end = berth_clock_monotonic_ms () + PATIENCE_MS; !torn && berth_clock_monotonic_ms () < end;)
    {
      struct exported exported = { .reports = 0 };
      CU_ASSERT_EQUAL (export (&guest, 0, &exported, &call), 0);
      torn = !is_in_step (&exported);
      berth_buffer_free (&exported.tar);
    }
  CU_ASSERT_TRUE (torn);
  guest_alone_end (&host, &guest);
}

/* Nobody says of what moves that it stood still, and the agent of what stands still is not asked. */
static void
only_what_is_paused (void)
{
  struct host host;
  struct guest guest;
  struct host_call call;
  struct exported exported = { .reports = 0 };

  if (!guest_pausable (&host, &guest))
    return;
  CU_ASSERT_EQUAL (export (&guest, BERTH_TAR_FROZEN, &exported, &call), -1);
  CU_ASSERT_EQUAL (call.code, BERTH_E_WRONG_STATE);
  CU_ASSERT_EQUAL (guest_pause (&guest, &call), 0);
  CU_ASSERT_EQUAL (export (&guest, 0, &exported, &call), -1);
  CU_ASSERT_EQUAL (call.code, BERTH_E_WRONG_STATE);
  CU_ASSERT_EQUAL (export (&guest, BERTH_TAR_FROZEN | UINT64_C (1) << 40, &exported, &call), -1);
  CU_ASSERT_EQUAL (call.code, BERTH_E_CAPABILITY_NOT_SUPPORTED);
  CU_ASSERT_EQUAL (guest_resume (&guest, &call), 0);
  guest_kill_agent (&guest);
  CU_ASSERT_EQUAL (export (&guest, BERTH_TAR_FROZEN, &exported, &call), -1);
  CU_ASSERT_EQUAL (call.code, BERTH_E_WRONG_STATE);
  CU_ASSERT_EQUAL (exported.tar.size, 0);
  guest_alone_end (&host, &guest);
}

static void
went_on (struct exported *exported)
{
  struct host_call call;

  CU_ASSERT_EQUAL (guest_resume (exported->guest, &call), 0);
}

static void
somebody_resumes_it (void)
{
  struct host host;
  struct guest guest;
  struct host_call call;
  struct exported exported = { .look = went_on };

  if (!guest_pausable (&host, &guest))
    return;
  CU_ASSERT_EQUAL (guest_run (&guest, NULL, IN_STEP, NULL, NULL, NULL), 0);
  CU_ASSERT_EQUAL (guest_pause (&guest, &call), 0);
  CU_ASSERT_EQUAL (export (&guest, BERTH_TAR_FROZEN, &exported, &call), -1);
  CU_ASSERT_EQUAL (call.code, BERTH_E_CONFLICT);
  berth_buffer_free (&exported.tar);
  guest_alone_end (&host, &guest);
}

/* Whatever its owner took from himself: the rights, names, links and holes of an export by the agent. */
static void
as_the_agent_exports (void)
{
  struct host host;
  struct guest guest;
  struct host_call call;
  struct exported agents = { .reports = 0 }, held = { .reports = 0 };

  if (!guest_pausable (&host, &guest))
    return;
  CU_ASSERT_EQUAL (guest_run (&guest, NULL,
                              "mkdir -p shut/in && echo deep > shut/in/file && ln shut/in/file second && ln -s /etc away && "
                              "mkfifo pipe && truncate -s 3000000 hole && echo end >> hole && chmod 0 shut/in/file shut",
                              NULL, NULL, NULL),
                   0);
  CU_ASSERT_EQUAL (export (&guest, 0, &agents, &call), 0);
  CU_ASSERT_EQUAL (guest_pause (&guest, &call), 0);
  CU_ASSERT_EQUAL (export (&guest, BERTH_TAR_FROZEN, &held, &call), 0);
  CU_ASSERT_TRUE (held.tar.size > 4096);
  CU_ASSERT_EQUAL (held.tar.size, agents.tar.size);
  CU_ASSERT_TRUE (held.tar.size == agents.tar.size && memcmp (held.tar.data, agents.tar.data, held.tar.size) == 0);
  CU_ASSERT_EQUAL (held.has, agents.has);
  berth_buffer_free (&agents.tar);
  berth_buffer_free (&held.tar);
  guest_alone_end (&host, &guest);
}

/* Who has a lease on a file is asked before it is read, and what stands still does not answer. */
static void
not_what_is_leased (void)
{
  struct host host;
  struct guest guest;
  struct host_call call;
  struct exported exported = { .reports = 0 };

  if (!guest_pausable (&host, &guest))
    return;
  CU_ASSERT_EQUAL (guest_run (&guest, NULL,
                              "echo x > leased; (perl -e 'open (F, \"+<\", \"leased\") && fcntl (F, 1024, 1) || exit; "
                              "open (R, \">\", \"ready\"); sleep 1000'; touch over) >/dev/null 2>&1 &\n"
                              "until [ -e ready ] || [ -e over ]; do sleep 0.01; done",
                              NULL, NULL, NULL),
                   0);
  if (strcmp (guest_output (&guest, "ls over"), "over") == 0)
    berth_test_skip ("no perl in the sandbox, or no leases on this file system");
  else
    {
      CU_ASSERT_EQUAL (guest_pause (&guest, &call), 0);
      CU_ASSERT_EQUAL (export (&guest, BERTH_TAR_FROZEN, &exported, &call), 0);
      CU_ASSERT_TRUE (lines_of (&exported, "leased") == -1);
      CU_ASSERT_TRUE ((exported.has & BERTH_TAR_CHANGED) != 0);
      berth_buffer_free (&exported.tar);
    }
  guest_alone_end (&host, &guest);
}

/* Then the host makes its snapshot of what runs, and marks it. */
static void
refused_where_it_cannot_come_in (void)
{
  struct host host;
  struct guest guest;
  struct host_call call;
  struct exported exported = { .reports = 0 };
  /* Who made the namespaces without being root needs nothing to enter them. */
  uint32_t wanted = geteuid () == 0 ? BERTH_E_CAPABILITY_NOT_SUPPORTED : 0;

  if (!guest_pausable (&host, &guest))
    return;
  CU_ASSERT_EQUAL (guest_pause (&guest, &call), 0);
  pid_t child = fork ();
  if (child == 0)
    {
      bool dropped = wanted == 0 || prctl (PR_CAPBSET_DROP, CAP_SYS_PTRACE, 0, 0, 0) == 0;
      int result = export (&guest, BERTH_TAR_FROZEN, &exported, &call);
      bool right = wanted == 0 ? result == 0 && exported.tar.size > 0
                               : result == -1 && call.code == wanted && exported.tar.size == 0;
      if (!right)
        fprintf (stderr, "     result %d, code %u, %zu bytes: %s\n", result, call.code, exported.tar.size, call.message);
      _exit (dropped && right ? 0 : 1);
    }
  int status = -1;
  waitpid (child, &status, 0);
  CU_ASSERT_EQUAL (status, 0);
  CU_ASSERT_EQUAL (guest_resume (&guest, &call), 0);
  guest_alone_end (&host, &guest);
}

/* ---- what it is ---- */

static void
read_of (pid_t pid, const char *name, struct berth_buffer *out)
{
  BERTH_AUTO_FREE char *path = berth_string_format ("/proc/%d/%s", (int) pid, name);

  berth_buffer_clear (out);
  if (berth_fs_read (AT_FDCWD, path, out, 65536) < 0)
    berth_buffer_clear (out);
}

/* The line NAME of its status, without the name and what is blank. */
static void
status_of (pid_t pid, const char *name, char value[128])
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };

  read_of (pid, "status", &text);
  const char *at = strstr (berth_buffer_string (&text), name);
  value[0] = '\0';
  if (at != NULL)
    snprintf (value, 128, "%.*s", (int) strcspn (at + strlen (name) + 1, "\n"), at + strlen (name) + 1);
}

/* The door that PARENT started; 0: there is none. */
static pid_t
door_of (pid_t parent)
{
  BERTH_AUTO_DIR DIR *proc = opendir ("/proc");
  char value[128];

  for (struct dirent *entry; proc != NULL && (entry = readdir (proc)) != NULL;)
    {
      pid_t pid = (pid_t) strtol (entry->d_name, NULL, 10);
      if (pid <= 0)
        continue;
      status_of (pid, "\nPPid:", value);
      if (strtol (value, NULL, 10) != parent)
        continue;
      status_of (pid, "Name:", value);
      if (strstr (value, DOOR) != NULL)
        return pid;
    }
  return 0;
}

static void
expect_status (pid_t pid, const char *name, const char *wanted)
{
  char value[128];

  status_of (pid, name, value);
  const char *got = value + strspn (value, " \t");
  if (strcmp (got, wanted) != 0)
    fprintf (stderr, "     %s of the door: \"%s\", not \"%s\"\n", name + (*name == '\n'), got, wanted);
  CU_ASSERT_STRING_EQUAL (got, wanted);
}

static int
count_fields (const char *text)
{
  int count = 0;

  while (*(text += strspn (text, " \t")) != '\0')
    {
      count++;
      text += strcspn (text, " \t");
    }
  return count;
}

/* Everything was said by the agent before it could be seen: its first bytes have come. */
static void
look_at_it (struct exported *exported)
{
  BERTH_AUTO_BUFFER struct berth_buffer cgroups = { 0 };
  char ours[128], its[128];
  pid_t door = door_of (getpid ());

  CU_ASSERT_TRUE (door > 0);
  exported->door = door;
  expect_status (door, "\nCapEff:", "0000000000000004"); /* CAP_DAC_READ_SEARCH */
  expect_status (door, "\nCapPrm:", "0000000000000004");
  expect_status (door, "\nCapInh:", "0000000000000000");
  expect_status (door, "\nCapBnd:", "0000000000000000");
  expect_status (door, "\nCapAmb:", "0000000000000000");
  expect_status (door, "\nNoNewPrivs:", "1");
  expect_status (door, "\nSeccomp:", "2");
  status_of (getpid (), "\nNSpid:", ours);
  status_of (door, "\nNSpid:", its);
  CU_ASSERT_EQUAL (count_fields (its), count_fields (ours)); /* not in the sandbox's pid namespace */
  read_of (door, "cgroup", &cgroups);
  CU_ASSERT_TRUE (cgroups.size > 0);
  CU_ASSERT_PTR_NULL (strstr (berth_buffer_string (&cgroups), exported->guest->id));
  status_of (getpid (), "\nUid:", ours);
  status_of (door, "\nUid:", its);
  CU_ASSERT_EQUAL (strcmp (ours, its) != 0, host_has_accounts ());
}

static void
it_can_only_read (void)
{
  struct host host;
  struct guest guest;
  struct host_call call;
  struct exported exported = { .look = look_at_it };

  if (!guest_pausable (&host, &guest))
    return;
  /* More than it could have sent before it is looked at. */
  CU_ASSERT_EQUAL (guest_run (&guest, NULL, "head -c 30000000 /dev/zero > big", NULL, NULL, NULL), 0);
  CU_ASSERT_EQUAL (guest_pause (&guest, &call), 0);
  CU_ASSERT_EQUAL (export (&guest, BERTH_TAR_FROZEN, &exported, &call), 0);
  CU_ASSERT_TRUE (exported.tar.size > 30000000);
  CU_ASSERT_EQUAL (door_of (getpid ()), 0);
  berth_buffer_free (&exported.tar);
  guest_alone_end (&host, &guest);
}

/* ---- its end ---- */

static void
cancel_it (struct exported *exported)
{
  exported->door = door_of (getpid ());
  exported->call->cancelled = true;
}

static void
it_ends_with_the_call (void)
{
  struct host host;
  struct guest guest;
  struct host_call call;
  struct exported exported = { .look = cancel_it };

  if (!guest_pausable (&host, &guest))
    return;
  CU_ASSERT_EQUAL (guest_run (&guest, NULL, "head -c 30000000 /dev/zero > big", NULL, NULL, NULL), 0);
  CU_ASSERT_EQUAL (guest_pause (&guest, &call), 0);
  CU_ASSERT_EQUAL (export (&guest, BERTH_TAR_FROZEN, &exported, &call), -1);
  CU_ASSERT_EQUAL (call.code, BERTH_E_CANCELLED);
  CU_ASSERT_TRUE (exported.door > 0);
  CU_ASSERT_EQUAL (door_of (getpid ()), 0);
  berth_buffer_free (&exported.tar);
  guest_alone_end (&host, &guest);
}

static void
tell_and_stay (struct exported *exported)
{
  pid_t door = door_of (getpid ());

  if (write (exported->door, &door, sizeof door) == (ssize_t) sizeof door)
    for (;;)
      pause ();
  _exit (1);
}

static void
it_ends_with_its_host (void)
{
  struct host host;
  struct guest guest;
  struct host_call call;
  int line[2];
  pid_t door = 0;

  if (!guest_pausable (&host, &guest))
    return;
  CU_ASSERT_EQUAL (guest_run (&guest, NULL, "head -c 30000000 /dev/zero > big", NULL, NULL, NULL), 0);
  CU_ASSERT_EQUAL (guest_pause (&guest, &call), 0);
  CU_ASSERT_EQUAL_FATAL (pipe (line), 0);
  pid_t child = fork ();
  if (child == 0)
    {
      struct exported exported = { .look = tell_and_stay, .door = line[1] };
      export (&guest, BERTH_TAR_FROZEN, &exported, &call);
      _exit (1);
    }
  close (line[1]);
  CU_ASSERT_EQUAL (read (line[0], &door, sizeof door), sizeof door);
  CU_ASSERT_TRUE_FATAL (door > 0);
  struct pollfd ended = { .fd = (int) syscall (SYS_pidfd_open, door, 0), .events = POLLIN };
  CU_ASSERT_TRUE (ended.fd >= 0);
  kill (child, SIGKILL);
  waitpid (child, NULL, 0);
  CU_ASSERT_EQUAL (poll (&ended, 1, PATIENCE_MS), 1);
  close (ended.fd);
  close (line[0]);
  CU_ASSERT_EQUAL (guest_resume (&guest, &call), 0);
  guest_expect (&guest, "echo goes on", "goes on");
  guest_alone_end (&host, &guest);
}

/* It holds no part of the sandbox against its end. */
static void
destroyed_meanwhile (struct exported *exported)
{
  CU_ASSERT_EQUAL (guest_destroy (exported->guest), BERTH_GONE);
}

static void
the_end_does_not_wait (void)
{
  struct host host;
  struct guest guest;
  struct host_call call;
  struct exported exported = { .look = destroyed_meanwhile };

  if (!guest_pausable (&host, &guest))
    return;
  CU_ASSERT_EQUAL (guest_run (&guest, NULL, "head -c 30000000 /dev/zero > big", NULL, NULL, NULL), 0);
  CU_ASSERT_EQUAL (guest_pause (&guest, &call), 0);
  CU_ASSERT_EQUAL (export (&guest, BERTH_TAR_FROZEN, &exported, &call), -1);
  berth_buffer_free (&exported.tar);
  CU_ASSERT_FALSE (guest_is_present (&guest));
  guest_release (&guest);
  host_stop (&host);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "W01 what is paused is exported as it stands", as_it_stands },
    { "W01 what runs is not, as a control", torn_while_it_runs },
    { "W01 only what is paused is exported as such", only_what_is_paused },
    { "W01 one that somebody resumed meanwhile is not", somebody_resumes_it },
    { "W01 the tar is the one that the agent would give", as_the_agent_exports },
    { "W01 what could not be read of it is told", not_what_is_leased },
    { "W01 its reader comes in where it may, and is refused elsewhere", refused_where_it_cannot_come_in },
    { "who exports it can read it and nothing else", it_can_only_read },
    { "who exports it ends with a cancelled call", it_ends_with_the_call },
    { "who exports it ends with a killed host", it_ends_with_its_host },
    { "who exports it keeps no sandbox from its end", the_end_does_not_wait },
    { NULL, NULL },
  };

  return berth_test_main ("ns: exports of what is paused", tests);
}

/* E18, E19: what a command may do and what it sees.  Tested as far as it is claimed. */
#include <stdio.h>
#include <sys/utsname.h>

#include "conformance/suites/commands.h"
#include "conformance/suites/tool.h"
#include "sdk/base/string.h"

static void
need_posture (struct suite_context *suite, struct suite_box *box, uint64_t posture)
{
  if ((box->effective.posture & posture) != posture)
    {
      SUITE_CHECK (suite, box->effective.tier < BERTH_TIER_CONTAINER, "a CONTAINER that does not claim posture %llx",
                   (unsigned long long) posture);
      suite_not_applicable (suite, "it does not claim these protections");
    }
}

/* Of the users `sandbox` and `root`, in this order: those that the sandbox has. */
static size_t
user_count (const struct suite_box *box)
{
  return (box->effective.posture & BERTH_POSTURE_SEPARATE_USERS) != 0 ? 2 : 1;
}

/* The same as a user and as root: root inside has no more rights. */
static void
check_as (struct suite_context *suite, struct suite_box *box, const char *user, const char *script, const char *want)
{
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };

  suite_run (box,
             &(struct suite_command) { .arguments = (const char *const[]) { "/bin/sh", "-c", script, NULL },
                                       .user = user,
                                       .timeout_ms = 20000 },
             &ran);
  SUITE_CHECK_PRINTED (suite, &ran, want, user);
}

void
suite_e18 (struct suite_context *suite)
{
  static const char *const users[] = { "sandbox", "root" };
  struct suite_box *box = suite_box_make (suite);

  need_posture (suite, box,
                BERTH_POSTURE_NO_CAPABILITIES | BERTH_POSTURE_NO_NEW_PRIVILEGES | BERTH_POSTURE_SECCOMP);
  for (size_t i = 0; i < user_count (box); i++)
    {
      check_as (suite, box, users[i], "grep -c '^Cap.*:.0000000000000000$' /proc/self/status", "5\n");
      check_as (suite, box, users[i], "grep -E '^(NoNewPrivs|Seccomp):' /proc/self/status | tr '\\t' ' '",
                "NoNewPrivs: 1\nSeccomp: 2\n");
      check_as (suite, box, users[i],
                "for f in /proc/sys/kernel/hostname /proc/sysrq-trigger /proc/sys/kernel/core_pattern "
                "/proc/sys/vm/drop_caches /sys/kernel/uevent_helper /proc/irq/default_smp_affinity; do "
                "if (echo 0 > $f) 2>/dev/null; then echo wrote $f; fi; done; echo tried",
                "tried\n");
      check_as (suite, box, users[i],
                "for f in /proc/kcore /proc/keys /proc/timer_list /proc/latency_stats /proc/sched_debug "
                "/sys/firmware/acpi/tables/DSDT /dev/mem /dev/kmsg; do "
                "[ \"$(head -c 1 $f 2>/dev/null | wc -c)\" = 0 ] || echo read $f; done; echo tried",
                "tried\n");
      check_as (suite, box, users[i],
                "find /dev -type b; find /dev -type c | grep -vE "
                "'^/dev/(null|zero|full|random|urandom|tty|ptmx|console|pts/.*)$'; echo looked",
                "looked\n");
      check_as (suite, box, users[i], "rm -f dev; mknod dev b 7 0 2>/dev/null && echo made; echo tried", "tried\n");
    }
}

/* ---- system calls ---- */

static bool
is_denied (const char *result, const char *name)
{
  if (strcmp (name, "clone3") == 0)
    return strcmp (result, "ENOSYS") == 0 || strcmp (result, "SIGSYS") == 0;
  return strcmp (result, "EPERM") == 0 || strcmp (result, "ENOSYS") == 0 || strcmp (result, "EACCES") == 0
         || strcmp (result, "SIGSYS") == 0;
}

/* How many calls the control shows to be possible here; -1 when the probe did not run inside. */
static int
try_entry (struct suite_context *suite, struct suite_box *box, const char *user, const char *entry, const char *outside)
{
  static const char *const calls[]
      = { "mount",  "unshare-user",    "clone-user", "clone3",         "keyctl",      "add_key",           "request_key",
          "bpf",    "perf_event_open", "ptrace",     "io_uring_setup", "userfaultfd", "open_by_handle_at", "kexec_load" };
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  int shown = 0;

  suite_run (box,
             &(struct suite_command) { .arguments = (const char *const[]) { SUITE_TOOL, "calls", entry, "1", NULL },
                                       .user = user,
                                       .timeout_ms = 20000 },
             &ran);
  SUITE_CHECK_EXIT (suite, &ran, 0, entry);
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    {
      char inside[32];
      char control[32];

      suite_tool_result (berth_buffer_string (&ran.out), calls[i], inside, sizeof inside);
      suite_tool_result (outside, calls[i], control, sizeof control);
      SUITE_CHECK (suite, is_denied (inside, calls[i]), "%s by %s as %s: %s", calls[i], entry, user, inside);
      shown += control[0] != '\0' && !is_denied (control, calls[i]);
    }
  return shown;
}

void
suite_e18_calls (struct suite_context *suite)
{
  static const char *const entries[] = { "x86-64", "x32", "i386" };
  struct suite_box *box = suite_box_make (suite);
  BERTH_AUTO_FREE char *pid = berth_string_format ("%ld", (long) getpid ());

  need_posture (suite, box, BERTH_POSTURE_SECCOMP);
  suite_tool_install (box);
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
    {
      BERTH_AUTO_FREE char *outside = suite_tool_outside (suite, (const char *const[]) { "calls", entries[i], pid, NULL });
      int shown = try_entry (suite, box, "sandbox", entries[i], outside);

      if (user_count (box) > 1)
        try_entry (suite, box, "root", entries[i], outside);
      SUITE_CHECK (suite, i > 0 || geteuid () != 0 || shown >= 8, "only %d calls of %s work outside: no control", shown,
                   entries[i]);
      if (shown == 0)
        suite_warn (suite, "this kernel has no entry %s: its refusals prove nothing", entries[i]);
    }
}

/* ---- E19 ---- */

static void
check_namespace (struct suite_context *suite, struct suite_box *box, const char *name)
{
  BERTH_AUTO_FREE char *path = berth_string_format ("/proc/self/ns/%s", name);
  char ours[128] = "";
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };

  SUITE_REQUIRE (suite, readlink (path, ours, sizeof ours - 2) > 0, "no %s", path);
  strcat (ours, "\n");
  suite_argv (box, &ran, (const char *const[]) { "readlink", path, NULL });
  SUITE_CHECK_EXIT (suite, &ran, 0, path);
  SUITE_CHECK (suite, !suite_ran_printed (&ran, ours), "%s is that of this machine: %s", name, ours);
}

void
suite_e19 (struct suite_context *suite)
{
  static const char *const names[] = { "mnt", "pid", "ipc", "uts", "net", "user", "cgroup" };
  struct suite_box *box = suite_box_make (suite);
  BERTH_AUTO_FREE char *program = berth_string_format ("grep -c berth-conform /proc/[0-9]*/comm /proc/%ld/comm 2>/dev/null "
                                                       "| grep -v ':0$'; hostname > /dev/null; uname -n",
                                                       (long) getpid ());
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  struct utsname here;

  if (box->effective.tier < BERTH_TIER_CONTAINER)
    suite_not_applicable (suite, "it claims no isolation");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    check_namespace (suite, box, names[i]);
  suite_sh (box, &ran, 0, program);
  SUITE_CHECK (suite, strstr (berth_buffer_string (&ran.out), "/proc/") == NULL, "processes of this machine are in sight: %s",
               berth_buffer_string (&ran.out));
  uname (&here);
  SUITE_CHECK (suite, strncmp (berth_buffer_string (&ran.out), here.nodename, strlen (here.nodename)) != 0,
               "its host name is this machine's: %s", here.nodename);
}

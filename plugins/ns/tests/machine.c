/* machine.c - machines that lack something, and records that speak of another time. */
#include <CUnit/CUnit.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugins/ns/tests/host.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/clock.h"
#include "sdk/base/fs.h"
#include "sdk/base/process.h"
#include "sdk/base/string.h"
#include "sdk/base/tests/runner.h"

#define MIB (UINT64_C (1) << 20)

/* Runs CHECK in a child with a mount namespace of its own, changed by CHANGE; its failures are
 * the exit status. */
static void
on_another_machine (struct host *host, int (*change) (void), int (*check) (struct host *host))
{
  int status = -1;
  pid_t pid = fork ();

  if (pid == 0)
    {
      if (unshare (CLONE_NEWNS) < 0 || mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 || change () < 0)
        _exit (100);
      _exit (check (host));
    }
  waitpid (pid, &status, 0);
  if (status != 0)
    fprintf (stderr, "status %#x\n", (unsigned) status);
  CU_ASSERT_EQUAL (status, 0);
}

static void
say (const struct host_call *call)
{
  fprintf (stderr, "%u %s (%s)\n", call->code, call->message, call->hint);
}

/* A create fails, with TOLD in its message and HINT in its hint, and leaves nothing: 0. */
static int
check_refused (struct host *host, const char *told, const char *hint)
{
  const struct berth_spec spec = guest_spec ();
  struct host_call call;
  struct guest guest = { 0 };

  host_call_start (host, &call);
  if (guest_create_in (host, &guest, &spec, &call) == 0)
    return 1;
  if ((call.code != BERTH_E_CONFIGURATION && call.code != BERTH_E_RESOURCE_EXHAUSTED) || strstr (call.message, told) == NULL
      || strstr (call.hint, hint) == NULL)
    {
      say (&call);
      return 2;
    }
  return guest_is_present (&guest) ? 3 : 0;
}

/* ---- ids that are given away while the host is open ---- */

static int
change_nothing (void)
{
  return 0;
}

static int
check_created (struct host *host)
{
  const struct berth_spec spec = guest_spec ();
  struct host_call call;
  struct guest guest = { 0 };

  host_call_start (host, &call);
  if (guest_create_in (host, &guest, &spec, &call) < 0)
    {
      say (&call);
      return 4;
    }
  guest_end (&guest);
  return 0;
}

static int
check_given_ids (struct host *host)
{
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/subuid", host->directory[0]);
  static const char all[] = "anna:1:4294967295\n";
  int result = check_created (host);

  if (result == 0 && (berth_fs_replace (AT_FDCWD, path, all, sizeof all - 1, 0644) < 0 || mount (path, "/etc/subuid", NULL, MS_BIND, NULL) < 0))
    result = 5;
  if (result == 0)
    result = check_refused (host, "anna of /etc/subuid", "uid_base");
  if (result == 0 && umount2 ("/etc/subuid", 0) < 0)
    result = 6;
  unlink (path);
  return result == 0 ? check_created (host) : result;
}

static void
ids_that_somebody_gets_are_noticed (void)
{
  struct host host;

  if (access ("/etc/subuid", F_OK) < 0)
    {
      berth_test_skip ("there is no /etc/subuid");
      return;
    }
  if (!host_start (&host))
    return;
  on_another_machine (&host, change_nothing, check_given_ids);
  host_stop (&host);
}

/* ---- devices and masks ---- */

static int
swap_device (void)
{
  return mount ("/dev/zero", "/dev/full", NULL, MS_BIND, NULL);
}

static int
check_refused_device (struct host *host)
{
  return check_refused (host, "/dev/full", "");
}

static void
another_device (void)
{
  struct host host;

  if (!host_start (&host))
    return;
  on_another_machine (&host, swap_device, check_refused_device);
  host_stop (&host);
}

static void
a_hostile_workspace (void)
{
  static const char tell[] = "stat -c '%n %t:%T' /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty; "
                             "for f in keys kcore timer_list sysrq-trigger; do [ -e /proc/$f ] && wc -c < /proc/$f; done; "
                             "(echo x > /proc/sys/kernel/hostname) 2>/dev/null && echo wrote; readlink /proc/1/exe; echo told";
  struct host host;
  struct guest guest;
  struct host_call call;

  if (!guest_alone (&host, &guest, NULL))
    return;
  BERTH_AUTO_FREE char *before = strdup (guest_output (&guest, tell));
  CU_ASSERT_PTR_NOT_NULL (strstr (before, "/dev/null 1:3"));
  /* Every name that the plan makes below the workspace before it is the root. */
  CU_ASSERT_EQUAL (guest_run (&guest, NULL,
                              "for d in dev proc sys etc tmp run var usr workspace; do ln -s /etc/passwd $d; done; rm dev proc; "
                              "mkdir dev proc; for f in null zero full pts; do ln -s /proc/sys/kernel/core_pattern dev/$f; done; "
                              "ln -s /etc/passwd proc/keys",
                              NULL, NULL, NULL),
                   0);
  CU_ASSERT_EQUAL (guest_stop (&guest, &call), 0);
  CU_ASSERT_EQUAL (guest_start (&guest, &call), 0);
  CU_ASSERT_STRING_EQUAL (guest_output (&guest, tell), before);
  guest_alone_end (&host, &guest);
}

/* ---- steps that are forbidden ---- */

/* From here on this process and all it makes get ERROR from the system call NUMBER. */
static int
forbid (int number, int error)
{
  struct sock_filter rules[] = {
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, nr)),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, (uint32_t) number, 0, 1),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t) error),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = { sizeof rules / sizeof *rules, rules };

  return prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -1 : prctl (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int
forbid_clone (void)
{
  return forbid (SYS_clone3, EPERM);
}

static int
limit_clone (void)
{
  return forbid (SYS_clone3, ENOSPC);
}

static int
forbid_mount (void)
{
  return forbid (SYS_mount, EACCES);
}

static int
forbid_host_name (void)
{
  return forbid (SYS_sethostname, EPERM);
}

/* The loopback is the one ioctl of the way. */
static int
forbid_ioctl (void)
{
  return forbid (SYS_ioctl, EPERM);
}

static int
forbid_pivot (void)
{
  return forbid (SYS_pivot_root, EPERM);
}

/* What is told, in this order: by `forbidden_steps`, which forks for each. */
static const struct forbidden
{
  int (*change) (void);
  const char *told;
  const char *hint;
} steps[] = {
  { forbid_clone, "namespaces", "user.max_user_namespaces" },
  { limit_clone, "namespaces", "user.max_user_namespaces" },
  { forbid_mount, "mount", "AppArmor" },
  { forbid_host_name, "host name", "AppArmor" },
  { forbid_ioctl, "loopback", "AppArmor" },
  { forbid_pivot, "root", "AppArmor" },
};

static void
forbidden_steps (void)
{
  struct host host;

  if (!host_start (&host))
    return;
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
    {
      int status = -1;
      pid_t pid = fork ();

      if (pid == 0)
        _exit (steps[i].change () < 0 ? 100 : check_refused (&host, steps[i].told, steps[i].hint));
      waitpid (pid, &status, 0);
      CU_ASSERT_EQUAL (status, 0);
      if (status != 0)
        fprintf (stderr, "%s: status %#x\n", steps[i].told, (unsigned) status);
    }
  host_stop (&host);
}

/* ---- without cgroups ---- */

static int
take_cgroups_away (void)
{
  int result = umount2 ("/sys/fs/cgroup", MNT_DETACH);

  /* Where it is a mount of its own and then once more. */
  while (umount2 ("/sys/fs/cgroup", MNT_DETACH) == 0)
    ;
  return result;
}

static int
check_without_cgroups (struct host *host)
{
  struct berth_spec spec = guest_spec ();
  struct host_call call;
  struct guest guest = { 0 };

  spec.asks = spec.must = BERTH_SPEC_MEMORY;
  spec.memory_bytes = 64 * MIB;
  host_call_start (host, &call);
  if (guest_create_in (host, &guest, &spec, &call) == 0 || call.code != BERTH_E_CONFIGURATION
      || strstr (call.message, "memory") == NULL || strstr (call.hint, "cgroup") == NULL || guest.created != 0)
    {
      say (&call);
      return 1;
    }
  spec.must = 0;
  guest = (struct guest){ 0 };
  host_call_start (host, &call);
  if (guest_create_in (host, &guest, &spec, &call) < 0)
    {
      say (&call);
      return 2;
    }
  if (guest.effective.capabilities & BERTH_CAP_PAUSE || guest_pause (&guest, &call) == 0
      || call.code != BERTH_E_CAPABILITY_NOT_SUPPORTED)
    return 6;
  if (guest.effective.enforced & (BERTH_SPEC_MEMORY | BERTH_SPEC_PIDS | BERTH_SPEC_CPU) || guest.effective.memory_bytes != 0)
    return 3;
  if (guest_run (&guest, NULL, "exit 5", NULL, NULL, NULL) != 5)
    return 4;
  guest_release (&guest);
  return guest_destroy (&guest) == BERTH_GONE && !guest_is_present (&guest) ? 0 : 5;
}

static void
without_cgroups (void)
{
  struct host host;

  if (!host_start (&host))
    return;
  on_another_machine (&host, take_cgroups_away, check_without_cgroups);
  host_stop (&host);
}

/* ---- with the freezer of cgroup v1 only, or with none ---- */

static int
take_cgroup2_away (void)
{
  umount2 ("/sys/fs/cgroup/unified", MNT_DETACH);
  return 0;
}

static int
count_bytes (void *context, const void *bytes, size_t size)
{
  *(uint64_t *) context += size;
  return 0;
}

static int
take_report (void *context, const struct berth_tar_report *report)
{
  return report->entries == 1 ? 0 : -1;
}

/* Of a sandbox that is paused, with one file of 100000 bytes. */
static bool
is_exported (struct guest *guest, struct host_call *call)
{
  uint64_t bytes = 0;
  const struct berth_tar_limits limits
      = { .struct_size = sizeof limits, .asks = BERTH_TAR_FROZEN, .max_bytes = MIB, .max_entries = 10 };
  const struct berth_tar_sink sink
      = { .struct_size = sizeof sink, .context = &bytes, .data = count_bytes, .report = take_report };

  host_call_start (guest->host, call);
  return guest->host->backend->workspace->export_tar (&call->call, guest->handle, &limits, &sink) == 0 && bytes > 100000;
}

/* A task that the freezer of v1 holds does not die before it is let go. */
static int
check_first_freezer (struct host *host)
{
  struct berth_spec spec = guest_spec ();
  struct host_call call;
  struct guest guest = { 0 };

  host_call_start (host, &call);
  if (guest_create_in (host, &guest, &spec, &call) < 0
      || guest_run (&guest, NULL, "head -c 100000 /dev/zero > file", NULL, NULL, NULL) != 0 || guest_pause (&guest, &call) < 0
      || !is_exported (&guest, &call))
    {
      say (&call);
      return 1;
    }
  if (guest_life (&guest) != BERTH_LIFE_PAUSED || guest_resume (&guest, &call) < 0)
    return 2;
  if (guest_run (&guest, NULL, "exit 5", NULL, NULL, NULL) != 5 || guest_pause (&guest, &call) < 0)
    return 3;
  guest_release (&guest);
  return guest_destroy (&guest) == BERTH_GONE && !guest_is_present (&guest) ? 0 : 4;
}

static void
first_freezer (void)
{
  struct host host;

  if (access ("/sys/fs/cgroup/freezer/tasks", W_OK) < 0)
    {
      berth_test_skip ("this machine has no freezer of cgroup v1");
      return;
    }
  if (!host_start (&host))
    return;
  on_another_machine (&host, take_cgroup2_away, check_first_freezer);
  host_stop (&host);
}

/* ---- in a container, where /proc is covered in part ---- */

static int
cover_proc (void)
{
  return mount ("tmpfs", "/proc/irq", "tmpfs", 0, "size=4k");
}

static int
check_covered_proc (struct host *host)
{
  return check_refused (host, "proc", "");
}

static void
in_a_container (void)
{
  struct host host;

  if (!host_start (&host))
    return;
  on_another_machine (&host, cover_proc, check_covered_proc);
  host_stop (&host);
}

/* ---- records of another time ---- */

/* Puts VALUE behind NAME= in the record. */
static void
rewrite (struct guest *guest, const char *name, const char *value)
{
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/boxes/%s/meta", guest->host->directory[0], guest->id);
  BERTH_AUTO_FREE char *command = berth_string_format ("sed -i 's/^%s=.*/%s=%s/' %s", name, name, value, path);

  CU_ASSERT_EQUAL (system (command), 0);
}

static int
take_life (void *context, const struct berth_found *found)
{
  *(uint32_t *) context = found->life;
  return 0;
}

static uint32_t
life_of (struct guest *guest)
{
  uint32_t life = 0;
  const struct berth_found_sink sink = { .struct_size = sizeof sink, .context = &life, .found = take_life };
  const struct berth_native native = { .struct_size = sizeof native, .id = guest->id };
  struct host_call call;

  host_call_start (guest->host, &call);
  CU_ASSERT_EQUAL (guest->host->backend->inventory->describe (&call.call, guest->host->state, &native, &sink), 0);
  return life;
}

static void
after_a_reboot (void)
{
  const struct berth_spec spec = guest_spec ();
  struct host host;
  struct guest guest;

  if (!host_start (&host))
    return;
  if (guest_create (&host, &guest, &spec))
    {
      CU_ASSERT_EQUAL (life_of (&guest), BERTH_LIFE_RUNNING);
      rewrite (&guest, "boot", "00000000-0000-0000-0000-000000000000");
      CU_ASSERT_FALSE (guest_is_running (&guest));
      CU_ASSERT_EQUAL (life_of (&guest), BERTH_LIFE_STOPPED);
      CU_ASSERT_TRUE (guest_is_present (&guest));
      guest_end (&guest);
      CU_ASSERT_FALSE (guest_is_present (&guest));
    }
  host_stop (&host);
}

static void
a_number_used_again_is_nobodys_death (void)
{
  const struct berth_spec spec = guest_spec ();
  struct host host;
  struct guest guest;
  char number[24];

  if (!host_start (&host))
    return;
  if (guest_create (&host, &guest, &spec))
    {
      /* Start times are counted in hundredths of a second. */
      berth_clock_sleep_ms (50);
      pid_t other = fork ();
      if (other == 0)
        {
          pause ();
          _exit (0);
        }
      snprintf (number, sizeof number, "%d", (int) other);
      rewrite (&guest, "pid", number);
      CU_ASSERT_FALSE (guest_is_running (&guest));
      guest_end (&guest);
      CU_ASSERT_EQUAL (waitpid (other, NULL, WNOHANG), 0);
      kill (other, SIGKILL);
      waitpid (other, NULL, 0);
    }
  host_stop (&host);
}

/* ---- the filter's cache ---- */

static bool
cached_filter (const struct host *host, char *path, size_t size)
{
  BERTH_AUTO_DIR DIR *cache = opendir (host->directory[2]);

  for (struct dirent *entry; cache != NULL && (entry = readdir (cache)) != NULL;)
    if (strncmp (entry->d_name, "seccomp-", 8) == 0)
      return snprintf (path, size, "%s/%s", host->directory[2], entry->d_name) < (int) size;
  return false;
}

/* Makes a sandbox and sees whether it is filtered. */
static void
check_filtered (struct host *host)
{
  const struct berth_spec spec = guest_spec ();
  struct guest guest;

  if (!guest_create (host, &guest, &spec))
    return;
  CU_ASSERT_STRING_EQUAL (guest_output (&guest, "grep ^Seccomp: /proc/self/status | cut -f2"), "2");
  CU_ASSERT_NOT_EQUAL (guest_run (&guest, NULL, "unshare -U true", NULL, NULL, NULL), 0);
  guest_end (&guest);
}

static void
a_damaged_filter_is_made_again (void)
{
  struct host host;
  char path[400];
  static const char allow_all[] = "BERTHbpf\0\0\0\0\0\0\0\0\x06\0\0\0\0\0\xff\x7f";

  if (!host_start (&host))
    return;
  check_filtered (&host);
  CU_ASSERT_TRUE_FATAL (cached_filter (&host, path, sizeof path));
  CU_ASSERT_EQUAL (truncate (path, 100), 0);
  check_filtered (&host);
  CU_ASSERT_EQUAL (truncate (path, 0), 0);
  check_filtered (&host);
  /* Whole, but not what its checksum says. */
  CU_ASSERT_EQUAL (berth_fs_replace (AT_FDCWD, path, allow_all, sizeof allow_all - 1, 0600), 0);
  check_filtered (&host);
  host_stop (&host);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "L04 D-099 without cgroups a limit is refused, or not claimed", without_cgroups },
    { "L21 the freezer of cgroup v1", first_freezer },
    { "L01 in a container it says what is wrong", in_a_container },
    { "ids that somebody gets while the host is open are noticed", ids_that_somebody_gets_are_noticed },
    { "D-168 a device that is another is not shown under its name", another_device },
    { "D-168 what the workload leaves does not change the next root", a_hostile_workspace },
    { "D-171 a machine that forbids a step is told, and nothing runs", forbidden_steps },
    { "L16 after a reboot it is stopped, and can be destroyed", after_a_reboot },
    { "L08 a number used again is nobody's death", a_number_used_again_is_nobodys_death },
    { "E18 a damaged filter is made again", a_damaged_filter_is_made_again },
    { NULL, NULL },
  };

  return host_main_of_root ("ns: machine", tests);
}

/* machine.c - what `berth doctor` finds, each finding on a machine of files that has it and on one that has not. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/cli/checks.h"
#include "sdk/base/fs.h"
#include "sdk/base/path.h"
#include "sdk/base/string.h"
#include "sdk/base/tests/runner.h"

#define FINDINGS 32

struct made
{
  struct cli_checkup checkup; /* first */
  struct cli_machine machine;
  char root[64];
  struct
  {
    char check[32], found[256];
    enum cli_verdict verdict;
    bool has_cost, has_fix;
  } finding[FINDINGS];
  int count;
};

/* What the made machine answers; a test at a time. */
static struct
{
  enum cli_call missing;
  struct statfs storage;
} answers;

static int
has_call (enum cli_call call)
{
  return call == answers.missing ? ENOSYS : 0;
}

static int
storage (const char *path, struct statfs *status)
{
  *status = answers.storage;
  return 0;
}

void
cli_found (struct cli_checkup *checkup, const char *check, enum cli_verdict verdict, const char *found, const char *cost, const char *fix)
{
  struct made *made = (struct made *) checkup;

  CU_ASSERT_FATAL (made->count < FINDINGS);
  snprintf (made->finding[made->count].check, sizeof made->finding[0].check, "%s", check);
  snprintf (made->finding[made->count].found, sizeof made->finding[0].found, "%s", found);
  made->finding[made->count].verdict = verdict;
  made->finding[made->count].has_cost = cost != NULL && cost[0] != '\0';
  made->finding[made->count++].has_fix = fix != NULL && fix[0] != '\0';
}

static void
put (struct made *made, const char *path, const char *content)
{
  BERTH_AUTO_FREE char *whole = berth_string_format ("%s/%s", made->root, path);
  BERTH_AUTO_FREE char *directory = strdup (whole);

  *strrchr (directory, '/') = '\0';
  CU_ASSERT_EQUAL (berth_fs_make_directories (AT_FDCWD, directory, 0755), 0);
  CU_ASSERT_EQUAL (berth_fs_replace (AT_FDCWD, whole, content, strlen (content), 0644), 0);
}

static void
drop (struct made *made, const char *path)
{
  BERTH_AUTO_FREE char *whole = berth_string_format ("%s/%s", made->root, path);

  CU_ASSERT_EQUAL (berth_fs_remove_tree (AT_FDCWD, whole), 0);
}

static void
set_mode (struct made *made, const char *path, mode_t mode)
{
  BERTH_AUTO_FREE char *whole = berth_string_format ("%s/%s", made->root, path);

  CU_ASSERT_EQUAL (chmod (whole, mode), 0);
}

#define V2_MOUNTS                                                                                 \
  "22 1 0:21 / /proc rw - proc proc rw\n30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n"

/* A machine with everything, where an ordinary user is in a cgroup of his. */
static void
make (struct made *made)
{
  const char *tmp = getenv ("TMPDIR");

  *made = (struct made){ .machine = { .root = made->root, .uid = geteuid (), .user = "anna", .has_call = has_call, .storage = storage } };
  made->checkup.machine = &made->machine;
  answers.missing = 0;
  answers.storage = (struct statfs){ .f_type = EXT4_SUPER_MAGIC, .f_bsize = 4096, .f_bavail = 1 << 20, .f_files = 1 << 20, .f_ffree = 1 << 20 };
  snprintf (made->root, sizeof made->root, "%s/berth-test-XXXXXX", tmp != NULL ? tmp : "/tmp");
  CU_ASSERT_PTR_NOT_NULL_FATAL (mkdtemp (made->root));
  put (made, "proc/sys/kernel/osrelease", "6.1.0-57-cloud\n");
  put (made, "proc/sys/kernel/seccomp/actions_avail", "kill_process errno allow\n");
  put (made, "proc/sys/user/max_user_namespaces", "15000\n");
  put (made, "proc/filesystems", "nodev\tproc\nnodev\toverlay\n");
  put (made, "proc/swaps", "Filename Type Size Used Priority\n");
  put (made, "proc/self/mountinfo", V2_MOUNTS);
  put (made, "proc/self/cgroup", "0::/user.slice/mine\n");
  put (made, "sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids\n");
  put (made, "sys/fs/cgroup/user.slice/mine/cgroup.controllers", "cpu memory pids\n");
  put (made, "usr/bin/newuidmap", "");
  put (made, "usr/bin/newgidmap", "");
  set_mode (made, "usr/bin/newuidmap", 04755);
  set_mode (made, "usr/bin/newgidmap", 04755);
  put (made, "etc/subuid", "root:1:2\nanna:100000:65536\n");
  put (made, "etc/subgid", "anna:100000:65536\n");
  put (made, "usr/bin/pasta", "");
  put (made, "usr/sbin/mkfs.ext4", "");
  set_mode (made, "usr/bin/pasta", 0755);
  set_mode (made, "usr/sbin/mkfs.ext4", 0755);
  put (made, "dev/net/tun", "");
  set_mode (made, "dev/net/tun", 0666);
  put (made, "dev/loop-control", "");
}

static void
look (struct made *made)
{
  made->count = 0;
  cli_check_kernel (&made->checkup);
  cli_check_cgroups (&made->checkup);
  cli_check_devices (&made->checkup);
  cli_check_storage (&made->checkup, "/var/lib/berth");
}

static void
end (struct made *made)
{
  CU_ASSERT_EQUAL (berth_fs_remove_tree (AT_FDCWD, made->root), 0);
}

/* CHECK has VERDICT, and says TEXT; whatever is not well says what it costs and what mends it. */
static void
expect (struct made *made, const char *check, enum cli_verdict verdict, const char *text)
{
  int seen = 0;

  look (made);
  for (int i = 0; i < made->count; i++)
    {
      CU_ASSERT (made->finding[i].verdict == CLI_OK || (made->finding[i].has_cost && made->finding[i].has_fix));
      if (strcmp (made->finding[i].check, check) != 0)
        continue;
      seen++;
      if (made->finding[i].verdict != verdict || strstr (made->finding[i].found, text) == NULL)
        fprintf (stderr, "%s: %d \"%s\", not %d \"%s\"\n", check, made->finding[i].verdict, made->finding[i].found, verdict, text);
      CU_ASSERT_EQUAL (made->finding[i].verdict, verdict);
      CU_ASSERT_PTR_NOT_NULL (strstr (made->finding[i].found, text));
    }
  CU_ASSERT_EQUAL (seen, 1);
}

static void
all_is_well (void)
{
  struct made made;

  make (&made);
  look (&made);
  CU_ASSERT_EQUAL (made.count, 18);
  for (int i = 0; i < made.count; i++)
    if (made.machine.uid == 0 || strcmp (made.finding[i].check, "disk limits") != 0)
      {
        if (made.finding[i].verdict != CLI_OK)
          fprintf (stderr, "%s: %s\n", made.finding[i].check, made.finding[i].found);
        CU_ASSERT_EQUAL (made.finding[i].verdict, CLI_OK);
      }
  end (&made);
}

static void
an_old_kernel (void)
{
  struct made made;

  make (&made);
  put (&made, "proc/sys/kernel/osrelease", "5.11.22\n");
  expect (&made, "kernel", CLI_BROKEN, "5.11.22");
  put (&made, "proc/sys/kernel/osrelease", "5.13.1\n");
  expect (&made, "kernel", CLI_OK, "5.13.1");
  expect (&made, "cgroup.kill", CLI_WARNING, "not in this kernel");
  put (&made, "proc/filesystems", "nodev\tproc\n");
  expect (&made, "overlay", CLI_OK, "not loaded");
  put (&made, "proc/filesystems", "nodev\toverlay\n");
  expect (&made, "overlay", CLI_OK, "there");
  put (&made, "proc/sys/kernel/seccomp/actions_avail", "");
  expect (&made, "seccomp", CLI_BROKEN, "none");
  drop (&made, "proc/sys/kernel/osrelease");
  expect (&made, "kernel", CLI_BROKEN, "not known");
  end (&made);
}

static void
calls_that_are_missing (void)
{
  static const struct
  {
    const char *name;
    enum cli_call call;
    enum cli_verdict verdict;
    const char *found;
  } calls[] = {
    { "openat2", CLI_CALL_OPENAT2, CLI_WARNING, "not implemented" },  { "pidfd", CLI_CALL_PIDFD_OPEN, CLI_BROKEN, "not implemented" },
    { "clone3", CLI_CALL_CLONE3, CLI_BROKEN, "not implemented" },     { "mount_setattr", CLI_CALL_MOUNT_SETATTR, CLI_BROKEN, "not implemented" },
    { "landlock", CLI_CALL_LANDLOCK, CLI_WARNING, "not implemented" }, { "seccomp", CLI_CALL_SECCOMP, CLI_BROKEN, "none" },
  };
  struct made made;

  make (&made);
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    {
      answers.missing = calls[i].call;
      expect (&made, calls[i].name, calls[i].verdict, calls[i].found);
    }
  end (&made);
}

static void
user_namespaces_that_are_not_allowed (void)
{
  struct made made;

  make (&made);
  put (&made, "proc/sys/kernel/unprivileged_userns_clone", "0\n");
  made.machine.uid = 0;
  expect (&made, "user namespaces", CLI_OK, "there");
  made.machine.uid = 1234;
  expect (&made, "user namespaces", CLI_BROKEN, "unprivileged_userns_clone");
  put (&made, "proc/sys/kernel/unprivileged_userns_clone", "1\n");
  put (&made, "proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n");
  expect (&made, "user namespaces", CLI_BROKEN, "apparmor");
  put (&made, "proc/sys/user/max_user_namespaces", "0\n");
  made.machine.uid = 0;
  expect (&made, "user namespaces", CLI_BROKEN, "is 0");
  drop (&made, "proc/sys/user/max_user_namespaces");
  expect (&made, "user namespaces", CLI_BROKEN, "none");
  end (&made);
}

static void
subordinate_ids_that_are_missing (void)
{
  struct made made;

  make (&made);
  made.machine.uid = 1234;
  expect (&made, "subordinate ids", CLI_OK, "there");
  put (&made, "etc/subgid", "anna:100000:65535\n");
  expect (&made, "subordinate ids", CLI_WARNING, "/etc/subgid gives anna 65535 ids");
  put (&made, "etc/subgid", "1234:100000:70000\n");
  expect (&made, "subordinate ids", CLI_OK, "there");
  put (&made, "etc/subuid", "other:100000:65536\n");
  expect (&made, "subordinate ids", CLI_WARNING, "/etc/subuid gives anna 0 ids");
  set_mode (&made, "usr/bin/newgidmap", 0755);
  expect (&made, "subordinate ids", CLI_WARNING, "newgidmap is not set-user-ID");
  drop (&made, "usr/bin/newuidmap");
  expect (&made, "subordinate ids", CLI_WARNING, "no /usr/bin/newuidmap");
  made.machine.uid = 0;
  expect (&made, "subordinate ids", CLI_OK, "root needs none");
  end (&made);
}

static void
a_covered_proc (void)
{
  struct made made;

  make (&made);
  put (&made, "proc/self/mountinfo", V2_MOUNTS "40 22 0:50 / /proc/sys/fs/binfmt_misc rw - autofs systemd rw\n");
  expect (&made, "proc", CLI_OK, "open");
  put (&made, "proc/self/mountinfo", V2_MOUNTS "40 22 0:50 / /proc/kcore rw - tmpfs tmpfs rw\n41 22 0:50 / /proc/sys ro - proc proc rw\n");
  expect (&made, "proc", CLI_WARNING, "/proc/kcore /proc/sys");
  end (&made);
}

static void
cgroups_of_another (void)
{
  struct made made;

  make (&made);
  put (&made, "sys/fs/cgroup/cgroup.controllers", "cpuset cpu pids\n");
  made.machine.uid = 0;
  expect (&made, "cgroups", CLI_WARNING, "v2: cpu pids");
  put (&made, "sys/fs/cgroup/cgroup.controllers", "cpuset cpu pids memory\n");
  expect (&made, "cgroups", CLI_OK, "v2: cpu memory pids");
  /* The directory is not the user's, and then in a place that his systemd does not delegate. */
  made.machine.uid = geteuid () + 1;
  expect (&made, "cgroups", CLI_WARNING, "for this user: none");
  expect (&made, "pause", CLI_WARNING, "not for this user");
  put (&made, "proc/self/mountinfo", "22 1 0:21 / /proc rw - proc proc rw\n");
  expect (&made, "cgroups", CLI_WARNING, "not mounted: none");
  expect (&made, "pause", CLI_WARNING, "no freezer");
  end (&made);
}

/* Only an ordinary user is asked for his own place. */
static void
cgroups_of_an_ordinary_user (void)
{
  struct made made;

  make (&made);
  if (made.machine.uid == 0)
    {
      BERTH_AUTO_FREE char *mine = berth_string_format ("%s/sys/fs/cgroup/user.slice/mine", made.root);
      made.machine.uid = 1234;
      CU_ASSERT_EQUAL (chown (mine, 1234, 1234), 0);
    }
  put (&made, "sys/fs/cgroup/user.slice/mine/cgroup.controllers", "memory pids\n");
  expect (&made, "cgroups", CLI_WARNING, "v2: cpu memory pids; for this user: memory pids");
  put (&made, "sys/fs/cgroup/user.slice/mine/cgroup.controllers", "cpu memory pids\n");
  expect (&made, "cgroups", CLI_OK, "v2: cpu memory pids");
  expect (&made, "pause", CLI_OK, "there");
  put (&made, "proc/self/cgroup", "0::/user.slice/gone\n");
  expect (&made, "cgroups", CLI_WARNING, "for this user: none");
  end (&made);
}

static void
cgroups_of_version_1 (void)
{
  struct made made;

  make (&made);
  made.machine.uid = 0;
  put (&made, "proc/self/mountinfo",
       "31 1 0:27 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n32 1 0:28 / /cg/memory rw - cgroup cgroup rw,memory\n"
       "33 1 0:29 / /cg/pids rw - cgroup cgroup rw,pids\n34 1 0:30 / /cg/systemd rw - cgroup cgroup rw,name=systemd\n");
  put (&made, "cg/cpu/tasks", "");
  put (&made, "cg/memory/tasks", "");
  put (&made, "cg/pids/tasks", "");
  expect (&made, "cgroups", CLI_OK, "v1: cpu memory pids");
  expect (&made, "pause", CLI_WARNING, "no freezer");
  expect (&made, "cgroup.kill", CLI_OK, "not in cgroup v1");
  put (&made, "proc/swaps", "Filename Type Size Used Priority\n/dev/vdb partition 1 0 -2\n");
  expect (&made, "swap", CLI_WARNING, "do not count it");
  put (&made, "cg/memory/memory.memsw.limit_in_bytes", "1\n");
  expect (&made, "swap", CLI_OK, "counted");
  end (&made);
}

static void
swap_that_is_not_counted (void)
{
  struct made made;

  make (&made);
  made.machine.uid = 0;
  put (&made, "proc/swaps", "Filename Type Size Used Priority\n/dev/vdb partition 1 0 -2\n");
  expect (&made, "swap", CLI_OK, "counted");
  put (&made, "sys/fs/cgroup/user.slice/memory.max", "max\n");
  expect (&made, "swap", CLI_WARNING, "do not count it");
  put (&made, "sys/fs/cgroup/user.slice/memory.swap.max", "max\n");
  expect (&made, "swap", CLI_OK, "counted");
  end (&made);
}

static void
devices_that_are_missing (void)
{
  struct made made;

  make (&made);
  made.machine.uid = 1234;
  set_mode (&made, "dev/net/tun", 0600);
  expect (&made, "network", CLI_WARNING, "not for this user");
  made.machine.uid = 0;
  expect (&made, "network", CLI_OK, "pasta");
  drop (&made, "dev/net/tun");
  expect (&made, "network", CLI_WARNING, "no /dev/net/tun");
  set_mode (&made, "usr/bin/pasta", 0644);
  expect (&made, "network", CLI_WARNING, "no pasta");
  drop (&made, "usr/bin/pasta");
  expect (&made, "network", CLI_WARNING, "no pasta");
  drop (&made, "usr/sbin/mkfs.ext4");
  expect (&made, "disk limits", CLI_WARNING, "no mkfs.ext4");
  drop (&made, "dev/loop-control");
  expect (&made, "disk limits", CLI_WARNING, "no /dev/loop-control");
  made.machine.uid = 1234;
  expect (&made, "disk limits", CLI_WARNING, "for root only");
  end (&made);
}

static void
storage_that_is_poor (void)
{
  struct made made;
  struct statfs good;

  make (&made);
  expect (&made, "state storage", CLI_OK, "/var/lib/berth: 4.0 GiB free");
  good = answers.storage;
  answers.storage.f_bavail = 1000;
  expect (&made, "state storage", CLI_WARNING, "0.0 GiB free");
  answers.storage = good;
  answers.storage.f_ffree = 10;
  expect (&made, "state storage", CLI_WARNING, "4.0 GiB");
  answers.storage = good;
  answers.storage.f_flags = ST_NOEXEC;
  expect (&made, "state storage", CLI_WARNING, "noexec");
  answers.storage = good;
  answers.storage.f_type = TMPFS_MAGIC;
  expect (&made, "state storage", CLI_WARNING, "in memory");
  answers.storage.f_type = NFS_SUPER_MAGIC;
  expect (&made, "state storage", CLI_WARNING, "another machine");
  end (&made);
}

/* What it says of this machine comes from calls that are really made. */
static void
this_machine (void)
{
  struct cli_machine machine;
  char user[CLI_USER_SIZE];

  cli_this_machine (&machine, user);
  CU_ASSERT_EQUAL (machine.uid, geteuid ());
  CU_ASSERT_STRING_NOT_EQUAL (machine.user, "");
  CU_ASSERT_EQUAL (machine.has_call (CLI_CALL_PIDFD_OPEN), 0);
  CU_ASSERT_EQUAL (machine.has_call (CLI_CALL_SECCOMP), 0);
  CU_ASSERT (cli_machine_is (&machine, 3, 0));
  CU_ASSERT_FALSE (cli_machine_is (&machine, 999, 0));
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "nothing is wrong where everything is there", all_is_well },
    { "an old kernel", an_old_kernel },
    { "calls that are missing", calls_that_are_missing },
    { "user namespaces that are not allowed", user_namespaces_that_are_not_allowed },
    { "subordinate ids that are missing", subordinate_ids_that_are_missing },
    { "a covered /proc", a_covered_proc },
    { "cgroups of another", cgroups_of_another },
    { "cgroups of an ordinary user", cgroups_of_an_ordinary_user },
    { "cgroups of version 1", cgroups_of_version_1 },
    { "swap that is not counted", swap_that_is_not_counted },
    { "devices that are missing", devices_that_are_missing },
    { "storage that is poor", storage_that_is_poor },
    { "this machine", this_machine },
    { NULL, NULL },
  };

  return berth_test_main ("doctor", tests);
}

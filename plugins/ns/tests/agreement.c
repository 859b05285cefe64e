/* agreement.c - one sandbox with everything asked for: what it is said to have, what /proc inside says
 * and what the kernel was told outside are the same. */
#include <CUnit/CUnit.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugins/ns/tests/host.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"
#include "sdk/base/tests/runner.h"

#define MIB (UINT64_C (1) << 20)
#define MEMORY (200 * MIB)
#define DISK (64 * MIB)
#define TMP (16 * MIB)
#define SHM (8 * MIB)
#define FILE_SIZE (4 * MIB)
#define PIDS 50
#define CPU 500
#define OPEN_FILES 100

static void
agree (struct guest *guest, const char *what, const char *script, const char *want)
{
  const char *got = guest_output (guest, script);

  CU_ASSERT_STRING_EQUAL (got, want);
  if (strcmp (got, want) != 0)
    fprintf (stderr, "%s: want \"%s\", got \"%s\"\n", what, want, got);
}

static void
agree_number (struct guest *guest, const char *what, const char *script, uint64_t want)
{
  char text[32];

  snprintf (text, sizeof text, "%" PRIu64, want);
  agree (guest, what, script, text);
}

/* The first line of the sandbox's file of this name, below either kind of hierarchy. */
static void
read_outside (const struct guest *guest, const char *first, const char *second, char line[64])
{
  BERTH_AUTO_FREE char *command
      = berth_string_format ("cat /sys/fs/cgroup/*/berth/%s-*/%s /sys/fs/cgroup/berth/%s-*/%s 2>/dev/null", guest->id, first, guest->id, second);
  FILE *pipe = popen (command, "r");

  line[0] = '\0';
  if (pipe == NULL)
    return;
  if (fgets (line, 64, pipe) != NULL)
    line[strcspn (line, "\n")] = '\0';
  pclose (pipe);
}

/* A limit of v1 is on memory and swap together; v2 has one for swap alone, and nothing may go there.
 * No file: this kernel does not count swap, and then there must be none. */
static void
check_swap (const struct guest *guest)
{
  BERTH_AUTO_BUFFER struct berth_buffer swaps = { 0 };
  char together[64], alone[64];

  read_outside (guest, "memory.memsw.limit_in_bytes", "memory.memsw.limit_in_bytes", together);
  read_outside (guest, "memory.swap.max", "memory.swap.max", alone);
  if (together[0] != '\0')
    CU_ASSERT_EQUAL (strtoull (together, NULL, 10), MEMORY);
  if (alone[0] != '\0')
    CU_ASSERT_STRING_EQUAL (alone, "0");
  if (together[0] != '\0' || alone[0] != '\0')
    return;
  CU_ASSERT_EQUAL (berth_fs_read (AT_FDCWD, "/proc/swaps", &swaps, 65536), 0);
  CU_ASSERT_PTR_NULL (strchr (berth_buffer_string (&swaps), '/'));
}

static void
check_cgroups (const struct guest *guest)
{
  char line[64];

  if (guest->effective.enforced & BERTH_SPEC_MEMORY)
    {
      read_outside (guest, "memory.limit_in_bytes", "memory.max", line);
      CU_ASSERT_EQUAL (strtoull (line, NULL, 10), MEMORY);
      CU_ASSERT_EQUAL (guest->effective.memory_bytes, MEMORY);
      check_swap (guest);
    }
  if (guest->effective.enforced & BERTH_SPEC_PIDS)
    {
      read_outside (guest, "pids.max", "pids.max", line);
      CU_ASSERT_EQUAL (strtoull (line, NULL, 10), PIDS);
      CU_ASSERT_EQUAL (guest->effective.pids, PIDS);
    }
  if (guest->effective.enforced & BERTH_SPEC_CPU)
    {
      read_outside (guest, "cpu.cfs_quota_us", "cpu.max", line);
      CU_ASSERT_EQUAL (strtoull (line, NULL, 10), CPU * 100);
      CU_ASSERT_EQUAL (guest->effective.cpu_milli, CPU);
    }
}

static void
check_limits (struct guest *guest)
{
  const struct berth_effective *effective = &guest->effective;

  CU_ASSERT_EQUAL (effective->open_files, OPEN_FILES);
  CU_ASSERT_EQUAL (effective->tmp_bytes, TMP);
  CU_ASSERT_EQUAL (effective->shm_bytes, SHM);
  agree_number (guest, "open files", "sed -n 's/^Max open files *[0-9]* *\\([0-9]*\\) .*/\\1/p' /proc/self/limits", OPEN_FILES);
  agree_number (guest, "file size", "sed -n 's/^Max file size *[0-9]* *\\([0-9]*\\) .*/\\1/p' /proc/self/limits", FILE_SIZE);
  for (const char *const *place = (const char *const[]) { "/tmp", "/var/tmp", "/run", "/root", NULL }; *place != NULL; place++)
    {
      BERTH_AUTO_FREE char *script = berth_string_format ("sed -n 's|.* %s .*[ ,]size=\\([0-9]*\\)k.*|\\1|p' /proc/self/mountinfo", *place);

      agree_number (guest, *place, script, TMP / 1024);
    }
  agree_number (guest, "/dev/shm", "sed -n 's|.* /dev/shm .*[ ,]size=\\([0-9]*\\)k.*|\\1|p' /proc/self/mountinfo", SHM / 1024);
}

static void
check_disk (struct guest *guest)
{
  CU_ASSERT_EQUAL (guest->effective.disk_bytes, DISK);
  CU_ASSERT_NOT_EQUAL (guest->effective.enforced & BERTH_SPEC_DISK, 0);
  /* The file system's own records are a part of the size. */
  agree (guest, "the workspace", "size=$(df -B 1 --output=size /workspace | tail -n 1); [ $size -le 67108864 ] && [ $size -gt 50000000 ] && echo fits",
         "fits");
}

static void
check_mounts (struct guest *guest)
{
  agree (guest, "what can be written",
         "awk '$6 ~ /^rw/ { print $5 }' /proc/self/mountinfo | sort -u | tr '\\n' ' '",
         "/dev /dev/pts /dev/shm /proc /root /run /tmp /var/tmp /workspace ");
  agree (guest, "mounts with set-user-id files", "awk '$6 !~ /nosuid/' /proc/self/mountinfo | wc -l", "0");
  agree (guest, "mounts with devices", "awk '$6 !~ /nodev/ { print $5 }' /proc/self/mountinfo | grep -cv ^/dev", "0");
  agree (guest, "what spreads", "grep -c 'shared:\\|master:' /proc/self/mountinfo", "0");
  agree (guest, "the root", "(: > /x) 2>/dev/null || echo closed", "closed");
}

static void
check_identity (struct guest *guest)
{
  BERTH_AUTO_FREE char *base = strdup (guest_output (guest, "awk '{ print $2 }' /proc/self/uid_map"));

  agree (guest, "ids", "awk '{ print $1, $3 }' /proc/self/uid_map /proc/self/gid_map", "0 65536\n0 65536");
  CU_ASSERT (strtoull (base, NULL, 10) >= 65536 && strtoull (base, NULL, 10) % 65536 == 0);
  agree (guest, "status",
         "sed -n 's/^\\(Uid\\|Gid\\|Groups\\|CapPrm\\|CapBnd\\|CapAmb\\|NoNewPrivs\\|Seccomp\\|SigIgn\\|SigBlk\\|Umask\\):\\s*/\\1 /p' "
         "/proc/self/status | tr '\\t' ' ' | sed 's/ *$//'",
         "Umask 0022\nUid 1000 1000 1000 1000\nGid 1000 1000 1000 1000\nGroups 1000\nSigBlk 0000000000000000\n"
         "SigIgn 0000000000000000\nCapPrm 0000000000000000\nCapBnd 0000000000000000\nCapAmb 0000000000000000\nNoNewPrivs 1\nSeccomp 2");
  agree (guest, "cgroups", "sed 's/.*://' /proc/self/cgroup | sort -u", "/");
  agree (guest, "names", "cat /proc/sys/kernel/hostname /proc/sys/kernel/domainname", "sandbox\n(none)");
  agree (guest, "the environment", "env | grep ^ASKED=", "ASKED=for");
  agree (guest, "interfaces", "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '", "lo");
  CU_ASSERT_EQUAL (guest->effective.posture, BERTH_POSTURE_ALL);
  CU_ASSERT_NOT_EQUAL (guest_run (guest, "root", "true", NULL, NULL, NULL), 0);
}

static void
all_agrees (void)
{
  const struct berth_policy deny = { .struct_size = sizeof deny, .default_action = BERTH_DENY };
  const struct berth_pair pair = { .name = "ASKED", .value = "for" };
  const uint64_t of_cgroups = BERTH_SPEC_MEMORY | BERTH_SPEC_CPU | BERTH_SPEC_PIDS;
  struct berth_spec spec = guest_spec ();
  struct host host;
  struct guest guest;

  spec.asks = BERTH_SPEC_MEMORY | BERTH_SPEC_CPU | BERTH_SPEC_PIDS | BERTH_SPEC_TMP | BERTH_SPEC_SHM | BERTH_SPEC_OPEN_FILES
              | BERTH_SPEC_FILE_SIZE | BERTH_SPEC_NETWORK | BERTH_SPEC_READ_ONLY_ROOT | BERTH_SPEC_FORBID_ROOT
              | BERTH_SPEC_ENVIRONMENT;
  spec.must = BERTH_SPEC_TMP | BERTH_SPEC_SHM | BERTH_SPEC_OPEN_FILES | BERTH_SPEC_FILE_SIZE | BERTH_SPEC_NETWORK;
  spec.memory_bytes = MEMORY;
  spec.cpu_milli = CPU;
  spec.pids = PIDS;
  spec.tmp_bytes = TMP;
  spec.shm_bytes = SHM;
  spec.open_files = OPEN_FILES;
  spec.file_size_bytes = FILE_SIZE;
  spec.disk_bytes = DISK;
  spec.network = &deny;
  spec.environment = &pair;
  spec.environment_count = 1;
  if (access ("/dev/loop-control", W_OK) == 0 && access ("/usr/sbin/mkfs.ext4", X_OK) == 0)
    spec.asks |= BERTH_SPEC_DISK;
  if (!guest_alone (&host, &guest, &spec))
    return;
  CU_ASSERT_EQUAL (guest.effective.enforced & spec.must, spec.must);
  check_cgroups (&guest);
  check_limits (&guest);
  if (spec.asks & BERTH_SPEC_DISK)
    check_disk (&guest);
  check_mounts (&guest);
  check_identity (&guest);
  if ((spec.asks & BERTH_SPEC_DISK) == 0)
    berth_test_skip ("the size of the workspace was left out: this machine has no loop devices or no mkfs.ext4");
  else if ((guest.effective.enforced & of_cgroups) != of_cgroups)
    berth_test_skip ("limits of cgroups were left out: this machine gives not all of them");
  guest_alone_end (&host, &guest);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "L02 L04 what was asked, what is said and what /proc shows agree", all_agrees },
    { NULL, NULL },
  };

  return host_main_of_root ("ns: agreement", tests);
}

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
#define LIFE_MS INT64_C (3600000)

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
check_swap (const struct guest *guest, uint64_t memory)
{
  BERTH_AUTO_BUFFER struct berth_buffer swaps = { 0 };
  char together[64], alone[64];

  read_outside (guest, "memory.memsw.limit_in_bytes", "memory.memsw.limit_in_bytes", together);
  read_outside (guest, "memory.swap.max", "memory.swap.max", alone);
  if (together[0] != '\0')
    CU_ASSERT_EQUAL (strtoull (together, NULL, 10), memory);
  if (alone[0] != '\0')
    CU_ASSERT_STRING_EQUAL (alone, "0");
  if (together[0] != '\0' || alone[0] != '\0')
    return;
  CU_ASSERT_EQUAL (berth_fs_read (AT_FDCWD, "/proc/swaps", &swaps, 65536), 0);
  CU_ASSERT_PTR_NULL (strchr (berth_buffer_string (&swaps), '/'));
}

static void
check_cgroups (struct guest *guest, const struct berth_effective *want)
{
  char line[64];

  if (guest->effective.enforced & BERTH_SPEC_MEMORY)
    {
      read_outside (guest, "memory.limit_in_bytes", "memory.max", line);
      CU_ASSERT_EQUAL (strtoull (line, NULL, 10), want->memory_bytes);
      CU_ASSERT_EQUAL (guest->effective.memory_bytes, want->memory_bytes);
      check_swap (guest, want->memory_bytes);
    }
  if (guest->effective.enforced & BERTH_SPEC_PIDS)
    {
      read_outside (guest, "pids.max", "pids.max", line);
      /* Without a cgroup the kernel counts for the user namespace. */
      if (line[0] == '\0')
        snprintf (line, sizeof line, "%s", guest_output (guest, "sed -n 's/^Max processes *\\([0-9]*\\) .*/\\1/p' /proc/self/limits"));
      CU_ASSERT_EQUAL (strtoull (line, NULL, 10), want->pids);
      CU_ASSERT_EQUAL (guest->effective.pids, want->pids);
    }
  if (guest->effective.enforced & BERTH_SPEC_CPU)
    {
      read_outside (guest, "cpu.cfs_quota_us", "cpu.max", line);
      CU_ASSERT_EQUAL (strtoull (line, NULL, 10), (uint64_t) want->cpu_milli * 100);
      CU_ASSERT_EQUAL (guest->effective.cpu_milli, want->cpu_milli);
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

/* No wider flags than these, in either of the two lists of a mount: its own, and its file system's. */
static void
check_flags (struct guest *guest)
{
  agree (guest, "mounts of devices and of shared memory, and their programs", "awk '$5 ~ /^.dev./ && $6 !~ /noexec/' /proc/self/mountinfo | wc -l", "0");
  agree (guest, "the directory of devices", "awk '$5 == \"/dev\" { flags = $6 } END { print flags }' /proc/self/mountinfo", "ro,nosuid,noexec,relatime");
  agree (guest, "mounts of proc", "awk '$5 == \"/proc\" { print $6 }' /proc/self/mountinfo", "rw,nosuid,nodev,noexec,relatime");
  agree (guest, "what is closed of it", "awk '($5 ~ /^.proc.sys$/ || $5 == \"/proc/1\") && $6 ~ /^ro,/ { print $5 }' /proc/self/mountinfo | sort | tr '\\n' ' '",
         "/proc/1 /proc/sys ");
  agree (guest, "kinds of file systems", "sed 's/.* - //' /proc/self/mountinfo | awk '$1 ~ /^(cgroup2?|mqueue|debugfs|tracefs|securityfs|bpf|fusectl|configfs|autofs)$/' | wc -l", "0");
  agree (guest, "shared memory", "awk '$5 == \"/dev/shm\" { print $6 }' /proc/self/mountinfo", "rw,nosuid,nodev,noexec,relatime");
}

/* What nobody asks for, and each command has. */
static void
check_process (struct guest *guest)
{
  agree (guest, "core files", "sed -n 's/^Max core file size *\\([0-9a-z]*\\) *\\([0-9a-z]*\\) .*/\\1 \\2/p' /proc/self/limits", "1 1");
  agree (guest, "real time", "sed -n 's/^Max \\(realtime\\|nice\\) priority *\\([0-9]*\\) *\\([0-9]*\\) .*/\\2 \\3/p' /proc/self/limits", "0 0\n0 0");
  agree (guest, "the hard limits are the soft ones",
         "sed -n 's/^Max \\(open files\\|file size\\|processes\\) *\\([0-9]*\\) *\\([0-9]*\\) .*/\\2 \\3/p' /proc/self/limits | awk '$1 != $2' | wc -l", "0");
  /* An ordinary user's single id may not write there: the file belongs to root while the agent cannot be dumped. */
  agree (guest, "who is lost first when memory runs out", "cat /proc/self/oom_score_adj", host_has_accounts () ? "500" : "0");
  agree (guest, "capabilities", "grep -c '^Cap\\(Inh\\|Prm\\|Eff\\|Bnd\\|Amb\\):\\s*0000000000000000$' /proc/self/status", "5");
  agree (guest, "filters", "sed -n 's/^Seccomp_filters:\\s*//p' /proc/self/status", "1");
  agree (guest, "the whole environment", "env | grep -v '^_=' | sort",
         "ASKED=for\nHOME=/workspace\nLANG=C.UTF-8\nLOGNAME=sandbox\nPATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n"
         "PWD=/workspace\nUSER=sandbox");
  agree (guest, "descriptors", "ls /proc/self/fd | tr '\\n' ' '", "0 1 2 3 "); /* the last is the list's own */
}

/* Each namespace is another one than this process has; that of time is shared, and without offsets. */
static void
check_namespaces (struct guest *guest)
{
  static const char *const kinds[] = { "cgroup", "ipc", "mnt", "net", "pid", "user", "uts" };

  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    {
      BERTH_AUTO_FREE char *path = berth_string_format ("/proc/self/ns/%s", kinds[i]);
      BERTH_AUTO_FREE char *script = berth_string_format ("readlink %s", path);
      char ours[64] = "";
      const char *theirs = guest_output (guest, script);

      CU_ASSERT (readlink (path, ours, sizeof ours - 1) > 0);
      CU_ASSERT_EQUAL (strncmp (theirs, kinds[i], strlen (kinds[i])), 0);
      CU_ASSERT_STRING_NOT_EQUAL (theirs, ours);
    }
}

static void
check_life (struct host *host, struct guest *guest)
{
  const struct berth_native native = { .struct_size = sizeof native, .id = guest->id };
  struct berth_expiry expiry = { 0 };
  struct host_call call;

  host_call_start (host, &call);
  CU_ASSERT_EQUAL (host->backend->expiry->expires_at (&call.call, host->state, &native, &expiry), 0);
  CU_ASSERT_EQUAL (expiry.kind, BERTH_EXPIRES_AT);
  CU_ASSERT (expiry.remaining_ms > LIFE_MS / 2 && expiry.remaining_ms <= LIFE_MS);
  CU_ASSERT_NOT_EQUAL (guest->effective.enforced & BERTH_SPEC_TTL, 0);
}

static void
check_ids (struct guest *guest)
{
  /* All of one range that begins at a multiple of 65536, and the 0 of another range elsewhere in it. */
  if (geteuid () == 0)
    agree (guest, "ids",
           "awk '{ at += $3; base = int ($2 / 65536); if ($1 + $3 != at || (NR > 1 && base != was)) print \"odd\"; was = base }"
           " END { print at, (base > 0) }' /proc/self/uid_map; cmp /proc/self/uid_map /proc/self/gid_map",
           "65536 1");
  else
    agree (guest, "ids", "awk '{ print $1, $3 }' /proc/self/uid_map /proc/self/gid_map", host_has_accounts () ? "0 65536\n0 65536" : "1000 1\n1000 1");
  CU_ASSERT_EQUAL (guest->effective.posture, host_has_accounts () ? BERTH_POSTURE_ALL : BERTH_POSTURE_ALL & ~BERTH_POSTURE_SEPARATE_USERS);
}

static void
check_identity (struct guest *guest)
{
  check_ids (guest);
  agree (guest, "status",
         "sed -n 's/^\\(Uid\\|Gid\\|CapPrm\\|CapBnd\\|CapAmb\\|NoNewPrivs\\|Seccomp\\|SigIgn\\|SigBlk\\|Umask\\):\\s*/\\1 /p' "
         "/proc/self/status | tr '\\t' ' ' | sed 's/ *$//'",
         "Umask 0022\nUid 1000 1000 1000 1000\nGid 1000 1000 1000 1000\nSigBlk 0000000000000000\n"
         "SigIgn 0000000000000000\nCapPrm 0000000000000000\nCapBnd 0000000000000000\nCapAmb 0000000000000000\nNoNewPrivs 1\nSeccomp 2");
  agree (guest, "groups", "id -G", "1000");
  agree (guest, "cgroups", "sed 's/.*://' /proc/self/cgroup | sort -u", "/");
  agree (guest, "names", "cat /proc/sys/kernel/hostname /proc/sys/kernel/domainname", "sandbox\n(none)");
  agree (guest, "interfaces", "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '", "lo");
  CU_ASSERT_NOT_EQUAL (guest_run (guest, "root", "true", NULL, NULL, NULL), 0);
}

/* Where there is one account, another one is refused before anything is made. */
static void
refusal_agrees (const struct berth_spec *spec)
{
  struct host host;
  struct guest guest = { 0 };
  struct host_call call;

  if (!host_start (&host))
    return;
  host_call_start (&host, &call);
  CU_ASSERT_EQUAL (guest_create_in (&host, &guest, spec, &call), -1);
  CU_ASSERT_EQUAL (call.code, BERTH_E_CAPABILITY_NOT_SUPPORTED);
  CU_ASSERT_PTR_NOT_NULL (strstr (call.hint, "subuid"));
  CU_ASSERT_EQUAL (guest.created, 0);
  host_stop (&host);
}

/* The account that commands have by themselves, and what becomes of it. */
static void
the_account_agrees (void)
{
  struct berth_spec spec = guest_spec ();
  struct host host;
  struct guest guest;

  spec.asks = spec.must = BERTH_SPEC_USER;
  spec.user = "root";
  if (!host_has_accounts ())
    return refusal_agrees (&spec);
  if (!guest_alone (&host, &guest, &spec))
    return;
  CU_ASSERT_NOT_EQUAL (guest.effective.enforced & BERTH_SPEC_USER, 0);
  agree (&guest, "status", "sed -n 's/^\\(Uid\\|Gid\\|Groups\\|CapEff\\|CapBnd\\):\\s*/\\1 /p' /proc/self/status | tr '\\t' ' ' | sed 's/ *$//'",
         "Uid 0 0 0 0\nGid 0 0 0 0\nGroups 0\nCapEff 0000000000000000\nCapBnd 0000000000000000");
  agree (&guest, "the environment", "echo $HOME $USER $LOGNAME", "/root root root");
  guest_alone_end (&host, &guest);
}

/* Numbers that nobody asked for are in force like any others. */
static void
defaults_agree (void)
{
  struct host host;
  struct guest guest;

  if (!guest_alone (&host, &guest, NULL))
    return;
  agree_number (&guest, "open files", "sed -n 's/^Max open files *[0-9]* *\\([0-9]*\\) .*/\\1/p' /proc/self/limits", guest.effective.open_files);
  agree_number (&guest, "/tmp", "sed -n 's|.* /tmp .*[ ,]size=\\([0-9]*\\)k.*|\\1|p' /proc/self/mountinfo", guest.effective.tmp_bytes / 1024);
  agree_number (&guest, "/dev/shm", "sed -n 's|.* /dev/shm .*[ ,]size=\\([0-9]*\\)k.*|\\1|p' /proc/self/mountinfo", guest.effective.shm_bytes / 1024);
  check_cgroups (&guest, &guest.effective);
  guest_alone_end (&host, &guest);
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
              | BERTH_SPEC_ENVIRONMENT | BERTH_SPEC_TTL;
  spec.must = BERTH_SPEC_TMP | BERTH_SPEC_SHM | BERTH_SPEC_OPEN_FILES | BERTH_SPEC_FILE_SIZE | BERTH_SPEC_NETWORK;
  spec.ttl_ms = LIFE_MS;
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
  check_cgroups (&guest, &(struct berth_effective) { .memory_bytes = MEMORY, .pids = PIDS, .cpu_milli = CPU });
  check_limits (&guest);
  if (spec.asks & BERTH_SPEC_DISK)
    check_disk (&guest);
  check_mounts (&guest);
  check_flags (&guest);
  check_identity (&guest);
  check_process (&guest);
  check_namespaces (&guest);
  check_life (&host, &guest);
  if (geteuid () != 0)
    return guest_alone_end (&host, &guest);
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
    { "E08 the account that was asked for is the one that commands have", the_account_agrees },
    { "L05 what nobody asked for is in force as it is said", defaults_agree },
    { NULL, NULL },
  };

  return berth_test_main ("ns: agreement", tests);
}

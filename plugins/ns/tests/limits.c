/* limits.c - every limit is met by exceeding it; one that cannot be kept is refused. */
#include <CUnit/CUnit.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugins/ns/tests/host.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/clock.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"
#include "sdk/base/tests/runner.h"

#define MIB (UINT64_C (1) << 20)

/* False, with the test skipped, where the machine has no controller for BIT. */
static bool
is_enforced (struct guest *guest, uint64_t bit)
{
  if (guest->effective.enforced & bit)
    return true;
  berth_test_skip ("this machine has no controller for it");
  return false;
}

static void
memory (void)
{
  struct berth_spec spec = guest_spec ();
  struct host host;
  struct guest guest;
  struct berth_exit exit = { 0 };

  spec.asks = BERTH_SPEC_MEMORY;
  spec.memory_bytes = 32 * MIB;
  if (!guest_alone (&host, &guest, &spec))
    return;
  if (is_enforced (&guest, BERTH_SPEC_MEMORY))
    {
      CU_ASSERT_EQUAL (guest.effective.memory_bytes, 32 * MIB);
      CU_ASSERT_EQUAL (guest_run (&guest, NULL, "head -c 8M /dev/zero | tail -c 8M | wc -c", NULL, NULL, NULL), 0);
      guest_run (&guest, NULL, "exec perl -e '$x = \"a\" x 100000000; print length $x'", NULL, NULL, &exit);
      CU_ASSERT_EQUAL (exit.reason, BERTH_OUT_OF_MEMORY);
      CU_ASSERT_STRING_EQUAL (guest_output (&guest, "echo usable"), "usable");
      /* A kill of one's own is not the limit's. */
      guest_run (&guest, NULL, "kill -9 $$", NULL, NULL, &exit);
      CU_ASSERT_EQUAL (exit.reason, BERTH_SIGNALLED);
      /* Files of a tmpfs are memory too. */
      CU_ASSERT_NOT_EQUAL (guest_run (&guest, NULL, "exec head -c 100M /dev/zero > /tmp/big", NULL, NULL, NULL), 0);
    }
  guest_alone_end (&host, &guest);
}

/* The agent outlives its workload, also a workload that makes itself small, and a host that is spared
 * itself does not hand that on. */
static void
the_agent_survives (void)
{
  struct berth_spec spec = guest_spec ();
  struct host host;
  struct guest guest;
  struct berth_exit exit = { 0 };

  spec.asks = BERTH_SPEC_MEMORY;
  spec.memory_bytes = 32 * MIB;
  /* Only with CAP_SYS_RESOURCE. */
  bool spared = berth_fs_write (AT_FDCWD, "/proc/self/oom_score_adj", "-700", 4) == 0;
  bool made = guest_alone (&host, &guest, &spec);
  if (spared)
    CU_ASSERT_EQUAL (berth_fs_write (AT_FDCWD, "/proc/self/oom_score_adj", "0", 1), 0);
  if (!made)
    return;
  CU_ASSERT_STRING_EQUAL (guest_output (&guest, "cat /proc/self/oom_score_adj; (echo -700 > /proc/self/oom_score_adj) 2>/dev/null || echo no"),
                          "500\nno");
  CU_ASSERT_EQUAL (guest_run (&guest, "root", "test \"$(cat /proc/1/oom_score_adj)\" = 0", NULL, NULL, NULL), 0);
  if (is_enforced (&guest, BERTH_SPEC_MEMORY))
    for (int i = 0; i < 3; i++)
      {
        guest_run (&guest, NULL, "for i in 1 2 3 4 5 6; do perl -e '$x = \"a\" x 8000000; sleep 5' & done; "
                                 "exec perl -e '$x = \"a\" x 100000000; print length $x'", NULL, NULL, &exit);
        CU_ASSERT_STRING_EQUAL (guest_output (&guest, "echo usable"), "usable");
      }
  guest_alone_end (&host, &guest);
}

static void
processes (void)
{
  struct berth_spec spec = guest_spec ();
  struct host host;
  struct guest guest;
  BERTH_AUTO_BUFFER struct berth_buffer err = { 0 };

  spec.asks = BERTH_SPEC_PIDS;
  spec.pids = 24;
  if (!guest_alone (&host, &guest, &spec))
    return;
  if (is_enforced (&guest, BERTH_SPEC_PIDS))
    {
      guest_run (&guest, NULL, "for i in $(seq 60); do sleep 1 & done; wait", NULL, &err, NULL);
      CU_ASSERT_PTR_NOT_NULL (strstr (berth_buffer_string (&err), "ork"));
      /* Those that were made live on after the shell that gave up, and hold their places. */
      berth_clock_sleep_ms (1500);
      CU_ASSERT_STRING_EQUAL (guest_output (&guest, "echo usable"), "usable");
    }
  guest_alone_end (&host, &guest);
}

/* The kernel counts how often it held the sandbox back. */
static uint64_t
count_throttled (struct guest *guest)
{
  static const char *const places[] = { "/sys/fs/cgroup/cpu/berth", "/sys/fs/cgroup/berth", "/sys/fs/cgroup/cpu,cpuacct/berth" };

  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    {
      BERTH_AUTO_FREE char *command = berth_string_format ("cat %s/%s-*/cpu.stat 2>/dev/null", places[i], guest->id);
      FILE *pipe = popen (command, "r");
      char line[128];
      uint64_t count = UINT64_MAX;
      while (pipe != NULL && fgets (line, sizeof line, pipe) != NULL)
        if (strncmp (line, "nr_throttled ", 13) == 0)
          count = strtoull (line + 13, NULL, 10);
      if (pipe != NULL)
        pclose (pipe);
      if (count != UINT64_MAX)
        return count;
    }
  return 0;
}

static void
processor (void)
{
  struct berth_spec spec = guest_spec ();
  struct host host;
  struct guest guest;

  spec.asks = BERTH_SPEC_CPU;
  spec.cpu_milli = 100;
  if (!guest_alone (&host, &guest, &spec))
    return;
  if (is_enforced (&guest, BERTH_SPEC_CPU))
    {
      uint64_t before = count_throttled (&guest);
      guest_run (&guest, NULL, "timeout 1 sh -c 'while :; do :; done'", NULL, NULL, NULL);
      CU_ASSERT (count_throttled (&guest) > before);
    }
  guest_alone_end (&host, &guest);
}

static void
sizes (void)
{
  struct berth_spec spec = guest_spec ();
  struct host host;
  struct guest guest;

  spec.asks = BERTH_SPEC_TMP | BERTH_SPEC_SHM | BERTH_SPEC_OPEN_FILES | BERTH_SPEC_FILE_SIZE;
  spec.must = spec.asks;
  spec.tmp_bytes = 4 * MIB;
  spec.shm_bytes = 2 * MIB;
  spec.open_files = 32;
  spec.file_size_bytes = 1 * MIB;
  if (!guest_alone (&host, &guest, &spec))
    return;
  CU_ASSERT_EQUAL (guest.effective.enforced & spec.asks, spec.asks);
  CU_ASSERT_STRING_EQUAL (guest_output (&guest, "for i in 1 2 3 4 5 6 7 8; do head -c 900k /dev/zero > /tmp/$i || break; done 2>&1 | grep -c space"),
                          "1");
  CU_ASSERT_STRING_EQUAL (guest_output (&guest, "head -c 1k /dev/zero > /var/tmp/x 2>/dev/null; rm /tmp/*; head -c 1k /dev/zero > /var/tmp/x && echo shared"),
                          "shared");
  CU_ASSERT_STRING_EQUAL (guest_output (&guest, "for i in 1 2 3 4; do head -c 900k /dev/zero > /dev/shm/$i || break; done 2>&1 | grep -c space"),
                          "1");
  CU_ASSERT_STRING_EQUAL (guest_output (&guest, "ulimit -n; ulimit -Hn"), "32\n32");
  CU_ASSERT_STRING_EQUAL (guest_output (&guest, "perl -e 'while (1) { open (my $file, \"<\", \"/\") or last; push @held, $file } print $! + 0'"),
                          "24");
  CU_ASSERT_NOT_EQUAL (guest_run (&guest, NULL, "head -c 2M /dev/zero > /workspace/large", NULL, NULL, NULL), 0);
  CU_ASSERT_STRING_EQUAL (guest_output (&guest, "stat -c %s /workspace/large"), "1048576");
  /* At 1 no helper of the machine's is fed with a crash: who asks for less hears yes, and it stays. */
  CU_ASSERT_STRING_EQUAL (guest_output (&guest, "grep core /proc/self/limits | tr -s ' ' | cut -d' ' -f5,6"), "1 1");
  CU_ASSERT_STRING_EQUAL (guest_output (&guest, "ulimit -c 0 && prlimit --core=0 true && prlimit --core=0 grep core /proc/self/limits"
                                                " | tr -s ' ' | cut -d' ' -f5,6"), "1 1");
  guest_alone_end (&host, &guest);
}

static void
a_default_is_a_number (void)
{
  struct berth_spec spec = guest_spec ();
  struct host host;
  struct guest guest;

  if (!guest_alone (&host, &guest, &spec))
    return;
  uint64_t in_force = guest.effective.enforced;
  CU_ASSERT (in_force & BERTH_SPEC_TMP && guest.effective.tmp_bytes > 0 && guest.effective.tmp_bytes < UINT64_C (1) << 40);
  CU_ASSERT (in_force & BERTH_SPEC_SHM && guest.effective.shm_bytes > 0);
  CU_ASSERT (in_force & BERTH_SPEC_OPEN_FILES && guest.effective.open_files > 0);
  CU_ASSERT (!(in_force & BERTH_SPEC_MEMORY) || guest.effective.memory_bytes > 0);
  CU_ASSERT (!(in_force & BERTH_SPEC_PIDS) || guest.effective.pids > 0);
  CU_ASSERT (!(in_force & BERTH_SPEC_DISK) && guest.effective.disk_bytes == 0);
  guest_alone_end (&host, &guest);
}

static void
disk (void)
{
  struct berth_spec spec = guest_spec ();
  struct host host;
  struct guest guest;
  struct host_call call;
  BERTH_AUTO_BUFFER struct berth_buffer mounts = { 0 };

  spec.asks = spec.must = BERTH_SPEC_DISK;
  spec.disk_bytes = 32 * MIB;
  if (access ("/dev/loop-control", W_OK) < 0 || access ("/usr/sbin/mkfs.ext4", X_OK) < 0)
    {
      berth_test_skip ("this machine has no loop devices or no mkfs.ext4");
      return;
    }
  if (!guest_alone (&host, &guest, &spec))
    return;
  CU_ASSERT_EQUAL (guest.effective.disk_bytes, 32 * MIB);
  CU_ASSERT_STRING_EQUAL (guest_output (&guest, "ls -A; stat -c '%U %a' .; head -c 8M /dev/zero > a && echo fits; rm a"),
                          "sandbox 755\nfits");
  CU_ASSERT_NOT_EQUAL (guest_run (&guest, NULL, "head -c 40M /dev/zero > a", NULL, NULL, NULL), 0);
  CU_ASSERT_STRING_EQUAL (guest_output (&guest, "rm a; echo kept > file; cat file"), "kept");
  CU_ASSERT_PTR_NOT_NULL (strstr (guest_output (&guest, "grep ' /workspace ' /proc/self/mounts"), "nosuid,nodev"));
  machine_state ("sb-nobody", &mounts);
  CU_ASSERT_PTR_NULL (strstr (berth_buffer_string (&mounts), "loop"));
  CU_ASSERT_EQUAL (machine_loops (&host), 1);
  CU_ASSERT_EQUAL (guest_stop (&guest, &call), 0);
  CU_ASSERT_EQUAL (machine_loops (&host), 0);
  CU_ASSERT_EQUAL (guest_start (&guest, &call), 0);
  CU_ASSERT_STRING_EQUAL (guest_output (&guest, "cat file"), "kept");
  CU_ASSERT_NOT_EQUAL (guest_run (&guest, NULL, "head -c 40M /dev/zero > a", NULL, NULL, NULL), 0);
  guest_kill_agent (&guest);
  CU_ASSERT_EQUAL (guest_start (&guest, &call), 0);
  CU_ASSERT_STRING_EQUAL (guest_output (&guest, "rm a; cat file"), "kept");
  guest_end (&guest);
  CU_ASSERT_EQUAL (machine_loops (&host), 0);
  host_stop (&host);
}

/* Its own mount would keep it from being taken away. */
static void
a_create_that_fails_leaves_no_disk (void)
{
  struct berth_spec spec = guest_spec ();
  struct host host;
  struct guest guest = { 0 };
  struct host_call call;
  char agent[sizeof host.agent];

  spec.asks = spec.must = BERTH_SPEC_DISK;
  spec.disk_bytes = 32 * MIB;
  if (access ("/dev/loop-control", W_OK) < 0 || access ("/usr/sbin/mkfs.ext4", X_OK) < 0)
    {
      berth_test_skip ("this machine has no loop devices or no mkfs.ext4");
      return;
    }
  if (!host_start (&host))
    return;
  memcpy (agent, host.agent, sizeof agent);
  snprintf (host.agent, sizeof host.agent, "/bin/false");
  host_call_start (&host, &call);
  CU_ASSERT_EQUAL (guest_create_in (&host, &guest, &spec, &call), -1);
  CU_ASSERT_EQUAL (guest.created, 1);
  CU_ASSERT_FALSE (guest_is_present (&guest));
  CU_ASSERT_EQUAL (machine_loops (&host), 0);
  memcpy (host.agent, agent, sizeof agent);
  host_stop (&host);
}

/* ---- refusals ---- */

static int
refuse_effective (void *context, const struct berth_effective *effective)
{
  ++*(int *) context;
  return 0;
}

static void
expect_refusal (struct host *host, const struct berth_spec *spec, uint32_t code, const char *names)
{
  int told = 0;
  const struct berth_effective_sink sink = { .struct_size = sizeof sink, .context = &told, .effective = refuse_effective };
  struct host_call call;
  struct guest guest = { 0 };

  host_call_start (host, &call);
  CU_ASSERT_EQUAL (host->backend->lifecycle->validate (&call.call, host->state, spec, &sink), -1);
  CU_ASSERT_EQUAL (call.code, code);
  CU_ASSERT_PTR_NOT_NULL (strstr (call.message, names));
  CU_ASSERT_EQUAL (told, 0);
  host_call_start (host, &call);
  CU_ASSERT_EQUAL (guest_create_in (host, &guest, spec, &call), -1);
  CU_ASSERT_EQUAL (call.code, code);
  CU_ASSERT_EQUAL (guest.created, 0);
  CU_ASSERT_FALSE (guest_is_present (&guest));
}

static void
what_cannot_be_had_is_refused (void)
{
  const struct berth_rule rule = { .action = BERTH_ALLOW, .target_kind = BERTH_TARGET_ANY };
  const struct berth_policy rules = { .struct_size = sizeof rules, .default_action = BERTH_DENY, .rules = { &rule, 1, sizeof rule } };
  struct host host;
  struct berth_spec spec;

  if (!host_start (&host))
    return;
  spec = guest_spec ();
  spec.asks = spec.must = BERTH_SPEC_DISK;
  spec.disk_bytes = MIB;
  expect_refusal (&host, &spec, BERTH_E_CONFIGURATION, "/workspace is 1048576");
  spec = guest_spec ();
  spec.asks = BERTH_SPEC_IMAGE;
  spec.image = "debian:12";
  expect_refusal (&host, &spec, BERTH_E_CAPABILITY_NOT_SUPPORTED, "debian:12");
  spec = guest_spec ();
  spec.asks = BERTH_SPEC_NETWORK;
  spec.network = &rules;
  expect_refusal (&host, &spec, BERTH_E_CAPABILITY_NOT_SUPPORTED, "network");
  spec = guest_spec ();
  spec.asks = BERTH_SPEC_USER;
  spec.user = "postgres";
  expect_refusal (&host, &spec, BERTH_E_INVALID_REQUEST, "postgres");
  spec.asks |= BERTH_SPEC_FORBID_ROOT;
  spec.user = "0";
  expect_refusal (&host, &spec, BERTH_E_INVALID_REQUEST, "root");
  spec = guest_spec ();
  spec.asks = BERTH_SPEC_TIER;
  spec.minimum_tier = BERTH_TIER_GVISOR;
  expect_refusal (&host, &spec, BERTH_E_CAPABILITY_NOT_SUPPORTED, "container");
  spec = guest_spec ();
  spec.asks = BERTH_SPEC_MEMORY;
  spec.memory_bytes = 4096;
  expect_refusal (&host, &spec, BERTH_E_CONFIGURATION, "memory is 4096");
  spec = guest_spec ();
  spec.asks = BERTH_SPEC_PIDS;
  spec.pids = 1;
  expect_refusal (&host, &spec, BERTH_E_CONFIGURATION, "pids is 1");
  const uint64_t unknown[] = { BERTH_SPEC_GPU, BERTH_SPEC_VOLUME, BERTH_SPEC_PORTS, BERTH_SPEC_ENTRYPOINT,
                               BERTH_ASKS_HARNESS };
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
    {
      spec = guest_spec ();
      spec.asks = unknown[i];
      expect_refusal (&host, &spec, BERTH_E_CAPABILITY_NOT_SUPPORTED, "bits");
    }
  host_stop (&host);
}

/* N02: a deny that is asked for is accepted, since it is what there is. */
static void
deny_is_accepted (void)
{
  const struct berth_policy deny = { .struct_size = sizeof deny, .default_action = BERTH_DENY };
  struct berth_spec spec = guest_spec ();
  struct host host;
  struct guest guest;

  spec.asks = spec.must = BERTH_SPEC_NETWORK | BERTH_SPEC_READ_ONLY_ROOT;
  spec.network = &deny;
  if (!guest_alone (&host, &guest, &spec))
    return;
  CU_ASSERT_EQUAL (guest.effective.enforced & spec.must, spec.must);
  guest_alone_end (&host, &guest);
}

static void
ids_of_accounts_are_refused (void)
{
  struct host host;
  struct host_call call;
  struct berth_spec spec = guest_spec ();

  if (!host_start (&host))
    return;
  host_close (&host);
  /* 65534 is somebody's on every machine. */
  host.uid_base = 65536;
  host.uid_count = 65535;
  CU_ASSERT_EQUAL (host_open (&host, &call), -1);
  CU_ASSERT_EQUAL (call.code, BERTH_E_CONFIGURATION);
  CU_ASSERT_PTR_NOT_NULL (strstr (call.message, "uid_count"));
  host.uid_base = 1000;
  CU_ASSERT_EQUAL (host_open (&host, &call), -1);
  CU_ASSERT_PTR_NOT_NULL (strstr (call.message, "uid_base"));
  host.uid_base = 2100035585;
  CU_ASSERT_EQUAL (host_open (&host, &call), -1);
  CU_ASSERT_PTR_NOT_NULL (strstr (call.message, "multiple"));
  /* Room for one. */
  host.uid_base = 2100035584;
  host.uid_count = 65536;
  CU_ASSERT_EQUAL_FATAL (host_open (&host, &call), 0);
  struct guest first, second = { 0 };
  if (guest_create (&host, &first, &spec))
    {
      host_call_start (&host, &call);
      CU_ASSERT_EQUAL (guest_create_in (&host, &second, &spec, &call), -1);
      CU_ASSERT_EQUAL (call.code, BERTH_E_RESOURCE_EXHAUSTED);
      CU_ASSERT_PTR_NOT_NULL (strstr (call.hint, "uid_count"));
      CU_ASSERT_FALSE (guest_is_present (&second));
      guest_end (&first);
      if (guest_create (&host, &second, &spec))
        guest_end (&second);
    }
  host_stop (&host);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "L04 memory, and its exhaustion is told", memory },
    { "E17 the agent outlives its workload", the_agent_survives },
    { "E17 processes, and the sandbox stays usable", processes },
    { "L04 processor", processor },
    { "L04 sizes and descriptors", sizes },
    { "L04 L22 the size of the workspace", disk },
    { "L06 a create that fails leaves no disk", a_create_that_fails_leaves_no_disk },
    { "L05 a default is a number", a_default_is_a_number },
    { "L02 what cannot be had is refused before anything is made", what_cannot_be_had_is_refused },
    { "N02 deny is accepted", deny_is_accepted },
    { "ids of accounts are refused, and ranges run out with a reason", ids_of_accounts_are_refused },
    { NULL, NULL },
  };

  return host_main_of_root ("ns: limits", tests);
}

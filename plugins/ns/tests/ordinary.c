/* ordinary.c - sandboxes of a user who is not root: one id inside, which is the user's own outside. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugins/ns/tests/host.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/clock.h"
#include "sdk/base/string.h"

#define MIB (UINT64_C (1) << 20)

static void
the_own_id_is_the_sandboxes_account (void)
{
  struct host host;
  struct guest guest;
  struct stat status;

  if (!guest_alone (&host, &guest, NULL))
    return;
  CU_ASSERT_EQUAL (guest.effective.posture, BERTH_POSTURE_ALL & ~BERTH_POSTURE_SEPARATE_USERS);
  guest_expect (&guest, "id; pwd", "uid=1000(sandbox) gid=1000(sandbox) groups=1000(sandbox)\n/workspace");
  guest_expect (&guest, "grep -c '^Cap.*:.0000000000000000$' /proc/self/status; grep ^Seccomp: /proc/self/status | cut -f2",
                 "5\n2");
  guest_expect (&guest, "cat /proc/self/setgroups", "deny");
  guest_expect (&guest, "for d in / /usr /etc /dev /sys /proc/sys /var; do (: > $d/x) 2>/dev/null && echo $d; done; echo done",
                 "done");
  CU_ASSERT_EQUAL (guest_run (&guest, NULL, "echo x > mine", NULL, NULL, NULL), 0);
  BERTH_AUTO_FREE char *file = berth_string_format ("%s/boxes/%s/workspace/mine", host.directory[0], guest.id);
  CU_ASSERT_EQUAL (stat (file, &status), 0);
  CU_ASSERT_EQUAL (status.st_uid, geteuid ());
  guest_alone_end (&host, &guest);
}

static void
check_refused (const struct host_call *call)
{
  CU_ASSERT_EQUAL (call->code, BERTH_E_CAPABILITY_NOT_SUPPORTED);
  CU_ASSERT_PTR_NOT_NULL (strstr (call->hint, "subuid"));
}

/* The kernel would say no more than that the id is not valid. */
static void
another_account_is_refused (void)
{
  static const char *const users[] = { "root", "nobody", "0", "1001" };
  const char *const arguments[] = { "/bin/true", NULL };
  struct berth_spec spec = guest_spec ();
  struct host host;
  struct guest guest, none;
  struct host_call call;

  if (!guest_alone (&host, &guest, NULL))
    return;
  for (size_t i = 0; i < sizeof users / sizeof *users; i++)
    {
      const struct berth_run run = { .struct_size = sizeof run, .argument_count = 1, .arguments = arguments,
                                     .asks = BERTH_RUN_USER, .user = users[i] };
      const struct berth_run_sink sink = { .struct_size = sizeof sink };
      host_call_start (&host, &call);
      CU_ASSERT_EQUAL (host.backend->commands->run (&call.call, guest.handle, &run, &sink), -1);
      check_refused (&call);
      spec.asks = BERTH_SPEC_USER;
      spec.user = users[i];
      none = (struct guest){ 0 };
      host_call_start (&host, &call);
      CU_ASSERT_EQUAL (guest_create_in (&host, &none, &spec, &call), -1);
      CU_ASSERT_EQUAL (none.created, 0);
      check_refused (&call);
    }
  guest_alone_end (&host, &guest);
}

static void
limits_of_root_are_refused (void)
{
  static const uint64_t limits[] = { BERTH_SPEC_MEMORY, BERTH_SPEC_CPU, BERTH_SPEC_DISK };
  struct host host;

  if (!host_start (&host))
    return;
  for (size_t i = 0; i < 3; i++)
    {
      struct berth_spec spec = guest_spec ();
      struct guest guest = { 0 };
      struct host_call call;
      spec.asks = spec.must = limits[i];
      spec.memory_bytes = 64 * MIB;
      spec.cpu_milli = 500;
      spec.disk_bytes = 64 * MIB;
      host_call_start (&host, &call);
      CU_ASSERT_EQUAL (guest_create_in (&host, &guest, &spec, &call), -1);
      CU_ASSERT_EQUAL (call.code, BERTH_E_CONFIGURATION);
      CU_ASSERT_PTR_NOT_NULL (strstr (call.hint, "root"));
      CU_ASSERT_EQUAL (guest.created, 0);
      /* Not in `must` it may be left out, and that is told. */
      spec.must = 0;
      if (guest_create (&host, &guest, &spec))
        {
          CU_ASSERT_EQUAL (guest.effective.enforced & limits[i], 0);
          guest_end (&guest);
        }
    }
  host_stop (&host);
}

/* Each sandbox has a counter of its own, whatever else the user runs: what the first may no longer
 * start, the second still can. */
static void
processes_are_counted_for_each_sandbox (void)
{
  struct berth_spec spec = guest_spec ();
  struct host host;
  struct guest first, second;
  BERTH_AUTO_BUFFER struct berth_buffer err = { 0 };

  spec.asks = spec.must = BERTH_SPEC_PIDS;
  spec.pids = 24;
  if (!guest_alone (&host, &first, &spec))
    return;
  CU_ASSERT_EQUAL (first.effective.pids, 24);
  if (guest_create (&host, &second, &spec))
    {
      guest_run (&first, NULL, "for i in $(seq 60); do sleep 2 & done; wait", NULL, &err, NULL);
      CU_ASSERT_PTR_NOT_NULL (strstr (berth_buffer_string (&err), "ork"));
      /* What the agent starts is let in above the limit: this shell, and who serves it. */
      guest_expect (&first, "set -- /proc/[0-9]*; [ $# -le 28 ] && echo few", "few");
      guest_expect (&second, "for i in $(seq 12); do sleep 1 & done; wait; echo all", "all");
      berth_clock_sleep_ms (2500);
      guest_expect (&first, "sleep 0; echo usable", "usable");
      guest_end (&second);
    }
  guest_alone_end (&host, &first);
}

/* The agent has the workload's id outside, and lets it no nearer for that. */
static void
the_agent_is_out_of_reach (void)
{
  struct host host;
  struct guest guest;

  if (!guest_alone (&host, &guest, NULL))
    return;
  guest_expect (&guest,
                 "kill -9 1; kill -STOP 1; kill -TERM 1; for f in mem environ maps exe fd/3 root/etc; do"
                 " head -c 1 /proc/1/$f 2>/dev/null; readlink /proc/1/$f; (: > /proc/1/$f) 2>/dev/null && echo wrote $f;"
                 " (: > /proc/$PPID/$f) 2>/dev/null && echo wrote $f; done; ls /proc/1/fd /proc/$PPID/fd 2>/dev/null; echo alive",
                 "alive");
  guest_expect (&guest, "cat /proc/1/comm", "berth-agent");
  /* Nor by what needs no signal. */
  const char *state = "grep -h 'cpu time' /proc/1/limits; ps -o ni=,cls= -p 1; cat /proc/1/oom_score_adj";
  BERTH_AUTO_FREE char *before = strdup (guest_output (&guest, state));
  CU_ASSERT_PTR_NOT_NULL (strstr (before, "TS\n"));
  guest_output (&guest, "prlimit --pid 1 --cpu=1; renice 19 1; renice 19 -u sandbox; taskset -p 1 1; ionice -c 3 -p 1;"
                        " ionice -c 3 -u 1000; chrt -i -p 0 1; echo 1000 > /proc/1/oom_score_adj");
  guest_expect (&guest, state, before);
  /* The control: of its own processes it can read all that. */
  guest_expect (&guest, "sleep 5 & [ -n \"$(readlink /proc/$!/exe)\" ] && head -c 5 /proc/$!/environ | wc -c; kill $!", "5");
  guest_alone_end (&host, &guest);
}

/* It can stop or kill what serves its own command, and loses that command; not the sandbox, nor time.
 * Once the call has failed nothing of it is left. */
static void
a_stopped_server_is_not_waited_for (void)
{
  static const char *const scripts[] = { "kill -STOP $PPID; sleep 100", "kill -KILL $PPID; sleep 100" };
  struct host host;
  struct guest guest;

  if (!guest_alone (&host, &guest, NULL))
    return;
  for (size_t i = 0; i < 2; i++)
    {
      CU_ASSERT_EQUAL (guest_run (&guest, NULL, scripts[i], NULL, NULL, NULL), -1);
      guest_expect (&guest, "grep -lx sleep /proc/[0-9]*/comm; echo usable", "usable");
    }
  guest_alone_end (&host, &guest);
}

/* Nobody but root passes by the modes of files. */
static void
a_locked_workspace_is_removed (void)
{
  struct host host;
  struct guest guest;

  if (!guest_alone (&host, &guest, NULL))
    return;
  CU_ASSERT_EQUAL (guest_run (&guest, NULL, "mkdir -p a/b/c d; touch a/b/c/x d/y; chmod 0 a/b/c a/b a; chmod 500 d; chmod 0 .",
                              NULL, NULL, NULL),
                   0);
  guest_end (&guest);
  CU_ASSERT_FALSE (guest_is_present (&guest));
  host_stop (&host);
}

/* A process that has ended has no program any more, also before it is reaped. */
static bool
is_alive (pid_t pid)
{
  BERTH_AUTO_FREE char *path = berth_string_format ("/proc/%d/exe", (int) pid);
  char target[8];

  return readlink (path, target, sizeof target) >= 0 || errno == EACCES;
}

/* No cgroup tells which process it was: its own socket does. */
static void
a_damaged_record_ends_its_agent (void)
{
  struct host host;
  struct guest guest;

  if (!guest_alone (&host, &guest, NULL))
    return;
  BERTH_AUTO_FREE char *record = berth_string_format ("%s/boxes/%s/meta", host.directory[0], guest.id);
  pid_t agent = guest.pid;
  CU_ASSERT (agent > 0 && is_alive (agent));
  CU_ASSERT_EQUAL (truncate (record, 40), 0);
  guest_end (&guest);
  CU_ASSERT_FALSE (guest_is_present (&guest));
  for (int tries = 0; tries < 100 && is_alive (agent); tries++)
    berth_clock_sleep_ms (20);
  CU_ASSERT_FALSE (is_alive (agent));
  host_stop (&host);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "E18 the user's own id is the sandbox's account", the_own_id_is_the_sandboxes_account },
    { "E08 another account is refused, with a hint", another_account_is_refused },
    { "L04 limits that need root are refused, or not claimed", limits_of_root_are_refused },
    { "E17 processes are counted for each sandbox", processes_are_counted_for_each_sandbox },
    { "E19 the agent is out of reach", the_agent_is_out_of_reach },
    { "E09 a server that the workload stopped is not waited for", a_stopped_server_is_not_waited_for },
    { "D-062 L08 a locked workspace is removed", a_locked_workspace_is_removed },
    { "L09 a damaged record ends its agent all the same", a_damaged_record_ends_its_agent },
    { NULL, NULL },
  };

  if (geteuid () != 0)
    return berth_test_main ("ns: an ordinary user", tests);
  printf ("SKIP ns: an ordinary user: this is root\n0 passed, 0 failed, 1 skipped\n");
  return 77;
}

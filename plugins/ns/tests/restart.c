/* restart.c - L22, L16: a sandbox that stops and comes back. */
#include <CUnit/CUnit.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugins/ns/tests/host.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"
#include "sdk/base/tests/runner.h"

#define MIB (UINT64_C (1) << 20)

static char *
path_in (struct guest *guest, const char *name)
{
  return berth_string_format ("%s/boxes/%s/%s", guest->host->directory[0], guest->id, name);
}

/* A handle of before says what is the matter. */
static void
expect_stopped (struct guest *guest)
{
  const char *const arguments[] = { "/bin/true", NULL };
  const struct berth_run run = { .struct_size = sizeof run, .argument_count = 1, .arguments = arguments };
  const struct berth_run_sink sink = { .struct_size = sizeof sink };
  struct host_call call;

  host_call_start (guest->host, &call);
  CU_ASSERT_EQUAL (guest->host->backend->commands->run (&call.call, guest->handle, &run, &sink), -1);
  CU_ASSERT_EQUAL (call.code, BERTH_E_WRONG_STATE);
  CU_ASSERT_PTR_NOT_NULL (strstr (call.message, "stopped"));
  CU_ASSERT_EQUAL (guest_life (guest), BERTH_LIFE_STOPPED);
  CU_ASSERT_FALSE (guest_is_running (guest));
  CU_ASSERT_TRUE (guest_is_present (guest));
}

static void
there_and_back (void)
{
  const struct berth_pair environment[] = { { .name = "COLOUR", .value = "two words=%\n" } };
  struct berth_spec spec = guest_spec ();
  struct host host;
  struct guest guest;
  struct host_call call;
  BERTH_AUTO_BUFFER struct berth_buffer state = { 0 };

  spec.asks = BERTH_SPEC_ENVIRONMENT | (host_has_accounts () ? BERTH_SPEC_USER : 0) | BERTH_SPEC_OPEN_FILES | BERTH_SPEC_TMP | BERTH_SPEC_TTL;
  spec.environment = environment;
  spec.environment_count = 1;
  spec.user = "www-data";
  spec.open_files = 77;
  spec.tmp_bytes = 4 * MIB;
  spec.ttl_ms = 600000;
  if (!guest_alone (&host, &guest, &spec))
    return;
  CU_ASSERT_EQUAL (guest_run (&guest, "sandbox", "echo kept > /workspace/file; sleep 600 & touch /tmp/x", NULL, NULL, NULL), 0);
  BERTH_AUTO_FREE char *map = strdup (guest_output (&guest, "cat /proc/self/uid_map"));
  CU_ASSERT_EQUAL (guest_stop (&guest, &call), 0);
  machine_state (guest.id, &state);
  CU_ASSERT_PTR_NULL (strstr (berth_buffer_string (&state), guest.id));
  expect_stopped (&guest);
  CU_ASSERT_EQUAL (guest_stop (&guest, &call), 0);
  CU_ASSERT_EQUAL (guest_start (&guest, &call), 0);
  CU_ASSERT_EQUAL (guest_start (&guest, &call), 0);
  CU_ASSERT_EQUAL (guest_life (&guest), BERTH_LIFE_RUNNING);
  CU_ASSERT_STRING_EQUAL (guest_output (&guest, "cat /workspace/file; id -un; ulimit -n; ls /tmp; printf %s \"$COLOUR\""),
                          host_has_accounts () ? "kept\nwww-data\n77\ntwo words=%" : "kept\nsandbox\n77\ntwo words=%");
  CU_ASSERT_STRING_EQUAL (guest_output (&guest, "cat /proc/self/uid_map"), map);
  CU_ASSERT_STRING_EQUAL (guest_output (&guest, "df -B1 --output=size /tmp | tail -1 | tr -d ' '"), "4194304");
  /* Lines of a second and third start. */
  CU_ASSERT_EQUAL (guest_stop (&guest, &call), 0);
  CU_ASSERT_EQUAL (guest_start (&guest, &call), 0);
  CU_ASSERT_STRING_EQUAL (guest_output (&guest, "cat /workspace/file"), "kept");
  guest_alone_end (&host, &guest);
}

static void
limits_come_back (void)
{
  struct berth_spec spec = guest_spec ();
  struct berth_exit exit = { 0 };
  struct host host;
  struct guest guest;
  struct host_call call;

  spec.asks = BERTH_SPEC_MEMORY;
  spec.memory_bytes = 32 * MIB;
  if (!guest_alone (&host, &guest, &spec))
    return;
  if (!(guest.effective.enforced & BERTH_SPEC_MEMORY) && geteuid () == 0)
    berth_test_skip ("this machine has no controller for it");
  else if (!(guest.effective.enforced & BERTH_SPEC_MEMORY))
    {
      /* What an ordinary user did not get before, a start does not claim. */
      CU_ASSERT_EQUAL (guest_stop (&guest, &call), 0);
      CU_ASSERT_EQUAL (guest_start (&guest, &call), 0);
      CU_ASSERT_EQUAL (guest.effective.enforced & BERTH_SPEC_MEMORY, 0);
    }
  else
    {
      CU_ASSERT_EQUAL (guest_stop (&guest, &call), 0);
      CU_ASSERT_EQUAL (guest_start (&guest, &call), 0);
      CU_ASSERT_EQUAL (guest.effective.memory_bytes, 32 * MIB);
      guest_run (&guest, NULL, "exec perl -e '$x = \"a\" x 100000000; print length $x'", NULL, NULL, &exit);
      CU_ASSERT_EQUAL (exit.reason, BERTH_OUT_OF_MEMORY);
    }
  guest_alone_end (&host, &guest);
}

static void
a_killed_agent (void)
{
  struct berth_spec spec = guest_spec ();
  struct host host;
  struct guest guest;
  struct host_call call;

  if (!guest_alone (&host, &guest, &spec))
    return;
  CU_ASSERT_EQUAL (guest_run (&guest, NULL, "echo kept > /workspace/file", NULL, NULL, NULL), 0);
  guest_kill_agent (&guest);
  CU_ASSERT_EQUAL (guest_life (&guest), BERTH_LIFE_STOPPED);
  CU_ASSERT_EQUAL (guest_start (&guest, &call), 0);
  CU_ASSERT_STRING_EQUAL (guest_output (&guest, "cat /workspace/file"), "kept");
  /* and one that is stopped while it is paused */
  if (guest.effective.capabilities & BERTH_CAP_PAUSE)
    {
      CU_ASSERT_EQUAL (guest_pause (&guest, &call), 0);
      CU_ASSERT_EQUAL (guest_start (&guest, &call), -1);
      CU_ASSERT_EQUAL (call.code, BERTH_E_WRONG_STATE);
      CU_ASSERT_EQUAL (guest_stop (&guest, &call), 0);
      expect_stopped (&guest);
      CU_ASSERT_EQUAL (guest_start (&guest, &call), 0);
      CU_ASSERT_STRING_EQUAL (guest_output (&guest, "cat /workspace/file"), "kept");
    }
  guest_alone_end (&host, &guest);
}

/* What a reboot leaves: the record of another boot, no process, no cgroup, nothing in the runtime
 * directory, and here a torn line at the end as well. */
static void
another_boot (void)
{
  struct berth_spec spec = guest_spec ();
  struct host host;
  struct guest guest;
  struct host_call call;

  if (!guest_alone (&host, &guest, &spec))
    return;
  CU_ASSERT_EQUAL (guest_run (&guest, NULL, "echo kept > /workspace/file", NULL, NULL, NULL), 0);
  guest_kill_agent (&guest);
  BERTH_AUTO_FREE char *meta = path_in (&guest, "meta");
  BERTH_AUTO_FREE char *command = berth_string_format (
      "sed 's/^boot=.*/boot=00000000-0000-0000-0000-000000000000/' %s > %s.copy && cat %s.copy > %s && rm %s.copy && "
      "printf 'pid=12' >> %s; rm -rf %s/*; rmdir /sys/fs/cgroup/*/berth/%s-* /sys/fs/cgroup/berth/%s-* 2>/dev/null; true",
      meta, meta, meta, meta, meta, meta, host.directory[1], guest.id, guest.id);
  CU_ASSERT_EQUAL (system (command), 0);
  CU_ASSERT_EQUAL (guest_life (&guest), BERTH_LIFE_STOPPED);
  CU_ASSERT_EQUAL (guest_start (&guest, &call), 0);
  CU_ASSERT_EQUAL (guest_life (&guest), BERTH_LIFE_RUNNING);
  CU_ASSERT_STRING_EQUAL (guest_output (&guest, "cat /workspace/file"), "kept");
  guest_alone_end (&host, &guest);
}

static void
a_failed_start_leaves_it_stopped (void)
{
  struct berth_spec spec = guest_spec ();
  struct host host;
  struct guest guest;
  struct host_call call;
  BERTH_AUTO_BUFFER struct berth_buffer state = { 0 };

  if (!guest_alone (&host, &guest, &spec))
    return;
  BERTH_AUTO_FREE char *agent = strdup (host.agent);
  CU_ASSERT_EQUAL (guest_stop (&guest, &call), 0);
  snprintf (host.agent, sizeof host.agent, "/bin/true");
  CU_ASSERT_EQUAL (guest_start (&guest, &call), -1);
  CU_ASSERT_EQUAL (guest_life (&guest), BERTH_LIFE_STOPPED);
  machine_state (guest.id, &state);
  CU_ASSERT_PTR_NULL (strstr (berth_buffer_string (&state), guest.id));
  snprintf (host.agent, sizeof host.agent, "%s", agent);
  CU_ASSERT_EQUAL (guest_start (&guest, &call), 0);
  CU_ASSERT_STRING_EQUAL (guest_output (&guest, "echo back"), "back");
  guest_alone_end (&host, &guest);
}

static void
what_has_one_life_says_so (void)
{
  const struct berth_pair environment[] = { { .name = "TOKEN", .value = "hidden-value", .flags = BERTH_PAIR_SECRET } };
  struct berth_spec spec = guest_spec ();
  struct host host;
  struct guest guest, other = { .id = "sb-nobody.1" };
  struct host_call call;
  BERTH_AUTO_BUFFER struct berth_buffer meta = { 0 };

  spec.asks = BERTH_SPEC_ENVIRONMENT;
  spec.environment = environment;
  spec.environment_count = 1;
  if (!guest_alone (&host, &guest, &spec))
    return;
  CU_ASSERT_EQUAL (guest.effective.capabilities & BERTH_CAP_RESTART, 0);
  CU_ASSERT_EQUAL (guest_stop (&guest, &call), -1);
  CU_ASSERT_EQUAL (call.code, BERTH_E_CAPABILITY_NOT_SUPPORTED);
  CU_ASSERT_PTR_NOT_NULL (strstr (call.hint, "secret"));
  CU_ASSERT_STRING_EQUAL (guest_output (&guest, "echo $TOKEN"), "hidden-value");
  BERTH_AUTO_FREE char *path = path_in (&guest, "meta");
  CU_ASSERT_EQUAL (berth_fs_read (AT_FDCWD, path, &meta, 1u << 20), 0);
  CU_ASSERT_PTR_NULL (strstr (berth_buffer_string (&meta), "hidden-value"));
  other.host = &host;
  CU_ASSERT_EQUAL (guest_stop (&other, &call), -1);
  CU_ASSERT_EQUAL (call.code, BERTH_E_SANDBOX_NOT_FOUND);
  CU_ASSERT_EQUAL (guest_start (&other, &call), -1);
  CU_ASSERT_EQUAL (call.code, BERTH_E_SANDBOX_NOT_FOUND);
  guest_alone_end (&host, &guest);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "L22 stop ends all and keeps the workspace, start brings it back as it was", there_and_back },
    { "L22 limits come back", limits_come_back },
    { "L16 L22 after a killed agent", a_killed_agent },
    { "L16 L22 after another boot and a torn record", another_boot },
    { "L22 a failed start leaves it stopped", a_failed_start_leaves_it_stopped },
    { "L22 what has one life says so", what_has_one_life_says_so },
    { NULL, NULL },
  };

  return berth_test_main ("ns: restart", tests);
}

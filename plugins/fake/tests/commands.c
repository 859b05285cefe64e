#include <pthread.h>

#include "plugins/fake/tests/host.h"
#include "sdk/base/clock.h"

struct line
{
  const char *text;
  const char *out;
  const char *err;
  int32_t code;
};

static void
test_shell (void)
{
  static const struct line lines[] = {
    { "true", "", "", 0 },
    { "exit 42", "", "", 42 },
    { "echo one; echo two >&2; false", "one\n", "two\n", 1 },
    { "false && echo no || echo yes", "yes\n", "", 0 },
    { "true || echo no; echo \"$HOME\" '$HOME' $?", "/workspace $HOME 0\n", "", 0 },
    { "cat", "", "", 0 },
    { "cat none", "", "cat: none: no such file, no space, or not a file for that\n", 1 },
    { "echo -n x > a; echo y >> a; cat a", "xy\n", "", 0 },
    { "id -un; pwd", "sandbox\n/workspace\n", "", 0 },
    { "nothing-like-that", "", "nothing-like-that: not found\n", 127 },
    { "sh -c 'exit 3'; echo $?", "3\n", "", 0 },
    { "echo a | cat", "a\n", "sh: the fake shell does not understand: | cat\n", 2 },
    { "seq 3", "1\n2\n3\n", "", 0 },
    { "rm a; ls; touch b; ls", "b\n", "", 0 },
  };
  struct host host;
  struct berth_handle *handle;
  struct ran ran = { { 0 }, { 0 }, { 0 }, 0 };

  host_begin (&host, NULL);
  handle = host_create (&host, "sb-a.1");
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    {
      ASSERT_OK (host_shell (&host, handle, &ran, lines[i].text));
      CU_ASSERT_EQUAL (ran.exits, 1);
      CU_ASSERT_EQUAL (ran.exit.reason, BERTH_EXITED);
      CU_ASSERT_EQUAL (ran.exit.code, lines[i].code);
      CU_ASSERT_STRING_EQUAL (berth_buffer_string (&ran.err), lines[i].err);
      CU_ASSERT_STRING_EQUAL (berth_buffer_string (&ran.out), lines[i].out);
      if (strcmp (berth_buffer_string (&ran.out), lines[i].out) != 0)
        printf ("  %s: %s%s\n", lines[i].text, berth_buffer_string (&ran.out), berth_buffer_string (&ran.err));
    }
  ASSERT_OK (host_shell (&host, handle, &ran, "kill -9 $$"));
  CU_ASSERT_EQUAL (ran.exit.reason, BERTH_SIGNALLED);
  CU_ASSERT_EQUAL (ran.exit.signal, 9);
  CU_ASSERT_EQUAL (ran.exit.code, -1);
  ran_clear (&ran);
  host_release (&host, handle);
  host_end (&host);
}

static void
test_script (void)
{
  static const char *const status[] = { "git", "status", "-s", NULL };
  static const char *const push[] = { "git", "push", NULL };
  static const char *const big[] = { "big", NULL };
  struct host host;
  struct berth_handle *handle;
  struct ran ran = { { 0 }, { 0 }, { 0 }, 0 };

  host_begin (&host, NULL);
  host_write (&host, "script",
              "[{\"argv\":[\"git\",\"push\"],\"stderr\":\"denied\\n\",\"exit\":128},"
              "{\"argv\":[\"git\",\"...\"],\"stdout\":{\"base64\":\"/wA=\"},\"steps\":[{\"delay_ms\":10,\"stdout\":\"z\"}]},"
              "{\"argv\":[\"big\"],\"stdout\":\"0123456789\",\"repeat\":10000,\"reason\":\"oom\",\"signal\":9}]");
  handle = host_create (&host, "sb-a.1");
  ASSERT_OK (host_run (&host, handle, &ran, status));
  CU_ASSERT_EQUAL (ran.out.size, 3);
  CU_ASSERT_EQUAL (memcmp (ran.out.data, "\xff\0z", 3), 0);
  ASSERT_OK (host_run (&host, handle, &ran, push));
  CU_ASSERT_EQUAL (ran.exit.code, 128);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&ran.err), "denied\n");
  ASSERT_OK (host_run (&host, handle, &ran, big));
  CU_ASSERT_EQUAL (ran.out.size, 100000);
  CU_ASSERT_EQUAL (ran.exit.reason, BERTH_OUT_OF_MEMORY);
  host_write (&host, "script", "nonsense");
  ASSERT_FAILS (CONFIGURATION, host_run (&host, handle, &ran, push));
  ran_clear (&ran);
  host_release (&host, handle);
  host_end (&host);
}

static void
test_lost_connection (void)
{
  struct host host;
  struct berth_handle *handle;
  struct ran ran = { { 0 }, { 0 }, { 0 }, 0 };

  host_begin (&host, NULL);
  host_write (&host, "faults", "commands.run=lost:7");
  handle = host_create (&host, "sb-a.1");
  ASSERT_FAILS (UNREACHABLE, host_shell (&host, handle, &ran, "echo 0123456789"));
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&ran.out), "0123456");
  CU_ASSERT_EQUAL (ran.exits, 0);
  ran_clear (&ran);
  host_release (&host, handle);
  host_end (&host);
}

static void
test_run_options (void)
{
  static const char *const env[] = { "printenv", "NAME", NULL };
  static const struct berth_pair pairs[] = { { "NAME", "a=b\nc\xff", 0, 0 } };
  static const struct berth_pair invalid[] = { { "NA ME", "x", 0, 0 } };
  struct host host;
  struct berth_handle *handle;
  struct ran ran = { { 0 }, { 0 }, { 0 }, 0 };
  struct berth_run run = { .struct_size = sizeof run, .argument_count = 2, .arguments = env };
  struct berth_run_sink sink = ran_sink (&ran);

  host_begin (&host, NULL);
  handle = host_create (&host, "sb-a.1");
  run.asks = BERTH_RUN_ENVIRONMENT;
  run.environment = pairs;
  run.environment_count = 1;
  ASSERT_OK (host.backend->commands->run (host_call (&host), handle, &run, &sink));
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&ran.out), "a=b\nc\xff\n");
  run.environment = invalid;
  ASSERT_FAILS (INVALID_REQUEST, host.backend->commands->run (host_call (&host), handle, &run, &sink));
  run.asks = BERTH_RUN_WORKDIR;
  run.workdir = "/workspace/none";
  ASSERT_FAILS (INVALID_REQUEST, host.backend->commands->run (host_call (&host), handle, &run, &sink));
  run.asks = BERTH_RUN_USER;
  run.user = "mallory";
  ASSERT_FAILS (INVALID_REQUEST, host.backend->commands->run (host_call (&host), handle, &run, &sink));
  run.asks = BERTH_RUN_RING;
  ASSERT_FAILS (CAPABILITY_NOT_SUPPORTED, host.backend->commands->run (host_call (&host), handle, &run, &sink));
  ran_clear (&ran);
  host_release (&host, handle);
  host_end (&host);
}

/* Moves the virtual clock on while a command sleeps. */
static void *
advance_clock (void *context)
{
  berth_clock_sleep_ms (50);
  host_write (context, "clock", "3601000");
  return NULL;
}

static void
test_time (void)
{
  static const char *const nap[] = { "sh", "-c", "echo early; sleep 3600; echo late", NULL };
  struct host host;
  struct berth_handle *handle;
  struct ran ran = { { 0 }, { 0 }, { 0 }, 0 };
  struct berth_run run = { .struct_size = sizeof run, .argument_count = 3, .arguments = nap };
  struct berth_run_sink sink = ran_sink (&ran);
  pthread_t thread;

  host_begin (&host, NULL);
  host_write (&host, "clock", "1000");
  handle = host_create (&host, "sb-a.1");
  CU_ASSERT_EQUAL (pthread_create (&thread, NULL, advance_clock, &host), 0);
  ASSERT_OK (host.backend->commands->run (host_call (&host), handle, &run, &sink));
  pthread_join (thread, NULL);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&ran.out), "early\nlate\n");
  CU_ASSERT_EQUAL (ran.exit.duration_ns, UINT64_C (3600000000000));
  run.asks = BERTH_RUN_TIMEOUT;
  run.timeout_ms = 1000;
  ran_clear (&ran);
  host_write (&host, "clock", "1000");
  CU_ASSERT_EQUAL (pthread_create (&thread, NULL, advance_clock, &host), 0);
  ASSERT_OK (host.backend->commands->run (host_call (&host), handle, &run, &sink));
  pthread_join (thread, NULL);
  CU_ASSERT_EQUAL (ran.exit.reason, BERTH_TIMED_OUT);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&ran.out), "early\n");
  ran_clear (&ran);
  host_release (&host, handle);
  host_end (&host);
}

static void *
destroy_soon (void *context)
{
  struct host *host = context;
  struct berth_native native = native_of ("sb-a.1");
  struct berth_destroyed destroyed = { 0 };
  struct call call;

  berth_clock_sleep_ms (50);
  call_begin (&call, host);
  return host->backend->lifecycle->destroy (&call.call, host->state, &native, &destroyed) == 0 ? NULL : host;
}

static void
test_destroyed_meanwhile (void)
{
  struct host host;
  struct berth_handle *handle;
  struct ran ran = { { 0 }, { 0 }, { 0 }, 0 };
  pthread_t thread;
  int64_t begin = berth_clock_monotonic_ms ();
  void *failed = NULL;

  host_begin (&host, NULL);
  handle = host_create (&host, "sb-a.1");
  CU_ASSERT_EQUAL (pthread_create (&thread, NULL, destroy_soon, &host), 0);
  ASSERT_FAILS (SANDBOX_NOT_FOUND, host_shell (&host, handle, &ran, "sleep 60"));
  pthread_join (thread, &failed);
  CU_ASSERT_PTR_NULL (failed);
  CU_ASSERT_EQUAL (ran.exits, 0);
  CU_ASSERT_TRUE (berth_clock_monotonic_ms () - begin < 10000);
  host.call.deadline_ms = 0;
  ran_clear (&ran);
  host_release (&host, handle);
  host_end (&host);
}

static void
test_deadline (void)
{
  static const char *const nap[] = { "sleep", "60", NULL };
  struct host host;
  struct berth_handle *handle;
  struct ran ran = { { 0 }, { 0 }, { 0 }, 0 };
  struct berth_run run = { .struct_size = sizeof run, .argument_count = 2, .arguments = nap };
  struct berth_run_sink sink = ran_sink (&ran);

  host_begin (&host, NULL);
  handle = host_create (&host, "sb-a.1");
  host_call (&host);
  host.call.deadline_ms = berth_clock_monotonic_ms () + 50;
  ASSERT_FAILS (TIMEOUT, host.backend->commands->run (&host.call.call, handle, &run, &sink));
  CU_ASSERT_EQUAL (ran.exits, 0);
  ran_clear (&ran);
  host_release (&host, handle);
  host_end (&host);
}

static void
test_policy (void)
{
  static const struct berth_rule rules[] = {
    { BERTH_DENY, BERTH_TARGET_HOST, "bad.example.org", 0, 0 },
    { BERTH_ALLOW, BERTH_TARGET_WILDCARD, "*.example.org", 443, 443 },
    { BERTH_ALLOW, BERTH_TARGET_CIDR, "192.0.2.0/24", 0, 0 },
  };
  static const struct line lines[] = {
    { "connect www.example.org 443", "connected\n", "", 0 },
    { "connect WWW.Example.ORG. 443", "connected\n", "", 0 },
    { "connect 192.0.2.77 22", "connected\n", "", 0 },
    { "connect www.example.org 80", "", "connect: www.example.org port 80 is denied\n", 1 },
    { "connect example.org 443", "", "connect: example.org port 443 is denied\n", 1 },
    { "connect bad.example.org 443", "", "connect: bad.example.org port 443 is denied\n", 1 },
    { "connect 192.0.3.1 22", "", "connect: 192.0.3.1 port 22 is denied\n", 1 },
  };
  struct berth_policy policy = { sizeof policy, BERTH_DENY, 0, BERTH_ARRAY (rules) };
  struct host host;
  struct berth_spec spec = spec_of ("sb-a.1");
  struct berth_native native = native_of ("sb-a.1");
  struct made made = { "", "", 0, 0, { 0 } };
  struct berth_create_sink sink = made_sink (&made);
  struct berth_handle *handle = NULL;
  struct ran ran = { { 0 }, { 0 }, { 0 }, 0 };

  host_begin (&host, NULL);
  spec.asks = BERTH_SPEC_NETWORK;
  spec.network = &policy;
  ASSERT_OK (host.backend->lifecycle->create (host_call (&host), host.state, &spec, &sink, &handle));
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    {
      ASSERT_OK (host_shell (&host, handle, &ran, lines[i].text));
      CU_ASSERT_STRING_EQUAL (berth_buffer_string (&ran.err), lines[i].err);
      CU_ASSERT_STRING_EQUAL (berth_buffer_string (&ran.out), lines[i].out);
    }
  policy.default_action = BERTH_ALLOW;
  policy.rules.count = 0;
  ASSERT_OK (host.backend->network_update->update_policy (host_call (&host), host.state, &native, &policy));
  ASSERT_OK (host_shell (&host, handle, &ran, lines[6].text));
  CU_ASSERT_EQUAL (ran.exit.code, 0);
  ran_clear (&ran);
  host_release (&host, handle);
  host_end (&host);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "E01 E02 E03 E05 the small shell", test_shell },
    { "scripted commands", test_script },
    { "a lost connection is no exit", test_lost_connection },
    { "E06 E07 E08 environment, workdir, user", test_run_options },
    { "E09 sleep and timeout by the virtual clock", test_time },
    { "L13 a command ends when its sandbox is destroyed", test_destroyed_meanwhile },
    { "a passed deadline is a timeout of the call", test_deadline },
    { "N03 N05 rules decide, and can be changed", test_policy },
    { NULL, NULL },
  };

  return berth_test_main ("fake commands", tests);
}

#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>

#include "plugins/fake/tests/host.h"
#include "sdk/base/clock.h"
#include "sdk/base/string.h"

static struct berth_buffer
list_all (struct host *host)
{
  struct berth_buffer list = { 0 };
  struct berth_found_sink sink = found_sink (&list);

  CU_ASSERT_EQUAL (host->backend->lifecycle->list_ids (host_call (host), host->state, &sink), 0);
  return list;
}

static void
assert_list (struct host *host, const char *want)
{
  BERTH_AUTO_BUFFER struct berth_buffer list = list_all (host);

  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&list), want);
}

static void
test_create_and_destroy (void)
{
  struct host host;
  struct berth_spec spec = spec_of ("sb-a.1");
  struct berth_native native = native_of ("sb-a.1");
  struct made made = { "", "", 0, 0, { 0 } };
  struct berth_create_sink sink = made_sink (&made);
  struct berth_handle *handle = NULL;
  struct berth_handle *second = NULL;

  host_begin (&host, NULL);
  ASSERT_OK (host.backend->lifecycle->create (host_call (&host), host.state, &spec, &sink, &handle));
  CU_ASSERT_STRING_EQUAL (made.id, "sb-a.1");
  CU_ASSERT_EQUAL (made.told, 2);
  CU_ASSERT_EQUAL (made.effective_told, 1);
  CU_ASSERT_EQUAL (made.effective.tier, BERTH_TIER_CONTAINER);
  CU_ASSERT_TRUE (strlen (made.private_data) > 20);
  assert_list (&host, "sb-a.1:2 ");
  CU_ASSERT_EQUAL (host.backend->lifecycle->is_running (host_call (&host), host.state, &native), 1);
  host_release (&host, handle);
  host_reopen (&host);
  ASSERT_OK (host.backend->lifecycle->connect (host_call (&host), host.state, &native, NULL, &second));
  host_release (&host, second);
  CU_ASSERT_EQUAL (host_destroy (&host, "sb-a.1"), BERTH_GONE);
  CU_ASSERT_EQUAL (host_destroy (&host, "sb-a.1"), BERTH_GONE);
  CU_ASSERT_EQUAL (host_destroy (&host, "../../etc"), BERTH_GONE);
  CU_ASSERT_EQUAL (host_entries (&host, "sandboxes"), 0);
  CU_ASSERT_EQUAL (host.backend->lifecycle->is_running (host_call (&host), host.state, &native), 0);
  ASSERT_FAILS (SANDBOX_NOT_FOUND,
                host.backend->lifecycle->connect (host_call (&host), host.state, &native, NULL, &second));
  host_end (&host);
}

/* However far a create gets, what fails leaves nothing; it has fewer steps than 20. */
static void
test_every_step_undone (void)
{
  struct host host;
  struct berth_spec spec = spec_of ("sb-a.1");
  struct made made = { "", "", 0, 0, { 0 } };
  struct berth_create_sink sink = made_sink (&made);
  struct berth_handle *handle = NULL;
  int step;

  host_begin (&host, NULL);
  for (step = 1; step < 20 && handle == NULL; step++)
    {
      BERTH_AUTO_FREE char *fault = berth_string_format ("lifecycle.create.%d=fail:RESOURCE_EXHAUSTED", step);

      host_write (&host, "faults", fault);
      if (host.backend->lifecycle->create (host_call (&host), host.state, &spec, &sink, &handle) == 0)
        break;
      CU_ASSERT_EQUAL (host.call.code, BERTH_E_RESOURCE_EXHAUSTED);
      CU_ASSERT_EQUAL (host_entries (&host, "sandboxes"), 0);
    }
  CU_ASSERT_EQUAL (step, 9);
  CU_ASSERT_PTR_NOT_NULL_FATAL (handle);
  host_release (&host, handle);
  host_end (&host);
}

static void
test_abandoned (void)
{
  struct host host;
  struct berth_spec spec = spec_of ("sb-a.1");
  struct made made = { "", "", 0, 0, { 0 } };
  struct berth_create_sink sink = made_sink (&made);
  struct berth_handle *handle = NULL;

  host_begin (&host, NULL);
  host_write (&host, "faults", "lifecycle.create.2=abandon");
  ASSERT_FAILS (UNREACHABLE, host.backend->lifecycle->create (host_call (&host), host.state, &spec, &sink, &handle));
  assert_list (&host, "sb-a.1:1? ");
  CU_ASSERT_EQUAL (host_destroy (&host, "sb-a.1"), BERTH_GONE);
  host_write (&host, "faults", "lifecycle.create.4=abandon");
  ASSERT_FAILS (UNREACHABLE, host.backend->lifecycle->create (host_call (&host), host.state, &spec, &sink, &handle));
  assert_list (&host, "sb-a.1:1? ");
  CU_ASSERT_EQUAL (host_destroy (&host, "sb-a.1"), BERTH_GONE);
  assert_list (&host, "");
  host_end (&host);
}

/* Killed at each step, a later process still sees what there is, and can remove it. */
static void
test_killed_at_every_step (void)
{
  for (int step = 1; step <= 8; step++)
    {
      struct host host;
      pid_t child;
      int status = 0;

      host_begin (&host, NULL);
      child = fork ();
      if (child == 0)
        {
          BERTH_AUTO_FREE char *fault = berth_string_format ("lifecycle.create.%d=kill", step);

          host_write (&host, "faults", fault);
          (void) host_create (&host, "sb-a.1");
          _exit (0);
        }
      CU_ASSERT_EQUAL (waitpid (child, &status, 0), child);
      CU_ASSERT_TRUE (WIFSIGNALED (status));
      host_write (&host, "faults", NULL);
      assert_list (&host, step == 1 ? "" : step < 6 ? "sb-a.1:1? " : "sb-a.1:2 ");
      CU_ASSERT_EQUAL (host_destroy (&host, "sb-a.1"), BERTH_GONE);
      assert_list (&host, "");
      host_end (&host);
    }
}

static void
test_conflict (void)
{
  struct host host;
  struct berth_spec spec = spec_of ("sb-a.1");
  struct made made = { "", "", 0, 0, { 0 } };
  struct berth_create_sink sink = made_sink (&made);
  struct berth_handle *handle;
  struct berth_handle *again = NULL;

  host_begin (&host, NULL);
  handle = host_create (&host, "sb-a.1");
  ASSERT_OK (host.backend->lifecycle->create (host_call (&host), host.state, &spec, &sink, &again));
  host_release (&host, again);
  spec.assignment_id = "other";
  ASSERT_FAILS (CONFLICT, host.backend->lifecycle->create (host_call (&host), host.state, &spec, &sink, &again));
  assert_list (&host, "sb-a.1:2 ");
  host_release (&host, handle);
  host_end (&host);
}

static void
test_limits (void)
{
  static const char *const settings[] = { "unenforced", "pids,disk", NULL };
  struct host host;
  struct berth_spec spec = spec_of ("sb-a.1");
  struct made made = { "", "", 0, 0, { 0 } };
  struct berth_effective_sink sink = effective_sink (&made);

  host_begin (&host, settings);
  spec.asks = BERTH_SPEC_PIDS | BERTH_SPEC_MEMORY | BERTH_SPEC_DISK;
  spec.pids = 10;
  spec.memory_bytes = 4096;
  spec.disk_bytes = 1;
  ASSERT_OK (host.backend->lifecycle->validate (host_call (&host), host.state, &spec, &sink));
  CU_ASSERT_EQUAL (made.effective.enforced, BERTH_SPEC_MEMORY);
  CU_ASSERT_EQUAL (made.effective.memory_bytes, 4096);
  CU_ASSERT_EQUAL (made.effective.pids, 0);
  spec.pids = 0;
  ASSERT_FAILS (INVALID_REQUEST, host.backend->lifecycle->validate (host_call (&host), host.state, &spec, &sink));
  spec.asks = BERTH_ASKS_HARNESS;
  ASSERT_FAILS (CAPABILITY_NOT_SUPPORTED,
                host.backend->lifecycle->validate (host_call (&host), host.state, &spec, &sink));
  spec.asks = BERTH_SPEC_IMAGE;
  spec.image = "missing:1";
  ASSERT_FAILS (NOT_FOUND, host.backend->lifecycle->validate (host_call (&host), host.state, &spec, &sink));
  spec.asks = BERTH_SPEC_GPU;
  spec.gpu = "any";
  ASSERT_FAILS (CAPABILITY_NOT_SUPPORTED,
                host.backend->lifecycle->validate (host_call (&host), host.state, &spec, &sink));
  CU_ASSERT_EQUAL (host_entries (&host, "sandboxes"), 0);
  host_end (&host);
}

static void
test_tier_lie (void)
{
  struct host host;
  struct berth_spec spec = spec_of ("sb-a.1");
  struct made made = { "", "", 0, 0, { 0 } };
  struct berth_effective_sink validated = effective_sink (&made);
  struct berth_create_sink sink = made_sink (&made);
  struct berth_handle *handle = NULL;

  host_begin (&host, NULL);
  host_write (&host, "faults", "lifecycle.create=tier:unknown");
  ASSERT_OK (host.backend->lifecycle->validate (host_call (&host), host.state, &spec, &validated));
  CU_ASSERT_EQUAL (made.effective.tier, BERTH_TIER_CONTAINER);
  ASSERT_OK (host.backend->lifecycle->create (host_call (&host), host.state, &spec, &sink, &handle));
  CU_ASSERT_EQUAL (made.effective.tier, BERTH_TIER_UNKNOWN);
  host_release (&host, handle);
  host_end (&host);
}

static void
test_destroy_verdicts (void)
{
  struct host host;
  struct berth_native native = native_of ("sb-a.1");
  struct berth_presence presence = { 0 };

  host_begin (&host, NULL);
  host_release (&host, host_create (&host, "sb-a.1"));
  host_write (&host, "faults", "lifecycle.destroy=refuse");
  CU_ASSERT_EQUAL (host_destroy (&host, "sb-a.1"), BERTH_REFUSED);
  CU_ASSERT_EQUAL (host.call.code, BERTH_E_FORBIDDEN);
  host_write (&host, "faults", "lifecycle.destroy=lie");
  CU_ASSERT_EQUAL (host_destroy (&host, "sb-a.1"), BERTH_GONE);
  ASSERT_OK (host.backend->probe->probe (host_call (&host), host.state, &native, &presence));
  CU_ASSERT_EQUAL (presence.verdict, BERTH_PRESENT);
  host_write (&host, "faults", "probe.probe=fail:UNREACHABLE");
  ASSERT_FAILS (UNREACHABLE, host.backend->probe->probe (host_call (&host), host.state, &native, &presence));
  host_write (&host, "clock", "1000");
  host_write (&host, "faults", "lifecycle.destroy=accept:500");
  CU_ASSERT_EQUAL (host_destroy (&host, "sb-a.1"), BERTH_ACCEPTED);
  assert_list (&host, "sb-a.1:6 ");
  host_write (&host, "clock", "1500");
  assert_list (&host, "");
  CU_ASSERT_EQUAL (host_destroy (&host, "sb-a.1"), BERTH_GONE);
  host_write (&host, "faults", "probe.probe=present");
  ASSERT_OK (host.backend->probe->probe (host_call (&host), host.state, &native, &presence));
  CU_ASSERT_EQUAL (presence.verdict, BERTH_PRESENT);
  host_end (&host);
}

static void
test_expiry (void)
{
  struct host host;
  struct berth_spec spec = spec_of ("sb-a.1");
  struct berth_native native = native_of ("sb-a.1");
  struct made made = { "", "", 0, 0, { 0 } };
  struct berth_create_sink sink = made_sink (&made);
  struct berth_handle *handle = NULL;
  struct berth_expiry expiry = { 0 };
  struct ran ran = { { 0 }, { 0 }, { 0 }, 0 };

  host_begin (&host, NULL);
  host_write (&host, "clock", "1000");
  spec.asks = BERTH_SPEC_TTL;
  spec.ttl_ms = 5000;
  ASSERT_OK (host.backend->lifecycle->create (host_call (&host), host.state, &spec, &sink, &handle));
  ASSERT_OK (host.backend->expiry->expires_at (host_call (&host), host.state, &native, &expiry));
  CU_ASSERT_EQUAL (expiry.remaining_ms, 5000);
  host_write (&host, "clock", "5999");
  ASSERT_OK (host.backend->expiry->renew (host_call (&host), host.state, &native, 100, &expiry));
  CU_ASSERT_EQUAL (expiry.wall_ms, 6099);
  host_write (&host, "clock", "6098");
  ASSERT_OK (host_shell (&host, handle, &ran, "true"));
  host_write (&host, "clock", "6099");
  ASSERT_FAILS (SANDBOX_NOT_FOUND, host_shell (&host, handle, &ran, "true"));
  ASSERT_FAILS (SANDBOX_NOT_FOUND, host.backend->expiry->expires_at (host_call (&host), host.state, &native, &expiry));
  CU_ASSERT_EQUAL (host_entries (&host, "sandboxes"), 0);
  host_release (&host, handle);
  handle = host_create (&host, "sb-b.1");
  native.id = "sb-b.1";
  ASSERT_OK (host.backend->expiry->expires_at (host_call (&host), host.state, &native, &expiry));
  CU_ASSERT_EQUAL (expiry.kind, BERTH_EXPIRES_NEVER);
  host_release (&host, handle);
  ran_clear (&ran);
  host_end (&host);
}

static void
test_pause_and_restart (void)
{
  struct host host;
  struct berth_native native = native_of ("sb-a.1");
  struct berth_handle *handle;
  struct berth_handle *fresh = NULL;
  struct ran ran = { { 0 }, { 0 }, { 0 }, 0 };

  host_begin (&host, NULL);
  handle = host_create (&host, "sb-a.1");
  ASSERT_OK (host_write_file (&host, handle, "/workspace/kept", "yes"));
  ASSERT_OK (host.backend->pause->pause (host_call (&host), host.state, &native, NULL));
  ASSERT_OK (host.backend->pause->pause (host_call (&host), host.state, &native, NULL));
  ASSERT_FAILS (WRONG_STATE, host_shell (&host, handle, &ran, "true"));
  CU_ASSERT_EQUAL (host.backend->lifecycle->is_running (host_call (&host), host.state, &native), 0);
  ASSERT_OK (host.backend->pause->resume (host_call (&host), host.state, &native));
  ASSERT_OK (host_shell (&host, handle, &ran, "true"));
  ASSERT_OK (host.backend->restart->stop (host_call (&host), host.state, &native, NULL));
  ASSERT_OK (host.backend->restart->stop (host_call (&host), host.state, &native, NULL));
  ASSERT_FAILS (WRONG_STATE, host.backend->pause->pause (host_call (&host), host.state, &native, NULL));
  ASSERT_OK (host.backend->restart->start (host_call (&host), host.state, &native));
  ASSERT_FAILS (WRONG_STATE, host_shell (&host, handle, &ran, "true"));
  ASSERT_OK (host.backend->lifecycle->connect (host_call (&host), host.state, &native, NULL, &fresh));
  ASSERT_OK (host_shell (&host, fresh, &ran, "cat kept"));
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&ran.out), "yes");
  host_release (&host, handle);
  host_release (&host, fresh);
  ran_clear (&ran);
  host_end (&host);
}

static void
test_owned (void)
{
  struct host host;
  struct berth_spec spec = spec_of ("sb-a.1");
  struct made made = { "", "", 0, 0, { 0 } };
  struct berth_create_sink sink = made_sink (&made);
  struct berth_handle *handle = NULL;
  pid_t child;

  host_begin (&host, NULL);
  spec.asks = BERTH_SPEC_OWNED;
  ASSERT_OK (host.backend->lifecycle->create (host_call (&host), host.state, &spec, &sink, &handle));
  assert_list (&host, "sb-a.1:2 ");
  host_release (&host, handle);
  CU_ASSERT_EQUAL (host_entries (&host, "sandboxes"), 0);
  child = fork ();
  if (child == 0)
    {
      if (host.backend->lifecycle->create (host_call (&host), host.state, &spec, &sink, &handle) != 0)
        _exit (1);
      raise (SIGKILL);
    }
  waitpid (child, NULL, 0);
  CU_ASSERT_EQUAL (host_entries (&host, "sandboxes"), 1);
  assert_list (&host, "");
  CU_ASSERT_EQUAL (host_entries (&host, "sandboxes"), 0);
  host_end (&host);
}

static void
test_private_data (void)
{
  static const char *const settings[] = { "require_private", "1", NULL };
  struct host host;
  struct berth_spec spec = spec_of ("sb-a.1");
  struct berth_native native = native_of ("sb-a.1");
  struct made made = { "", "", 0, 0, { 0 } };
  struct berth_create_sink sink = made_sink (&made);
  struct berth_handle *handle = NULL;
  struct berth_destroyed destroyed = { 0 };

  host_begin (&host, settings);
  ASSERT_OK (host.backend->lifecycle->create (host_call (&host), host.state, &spec, &sink, &handle));
  host_release (&host, handle);
  ASSERT_FAILS (UNAUTHORIZED,
                host.backend->lifecycle->connect (host_call (&host), host.state, &native, NULL, &handle));
  native.private_data = made.private_data;
  native.private_size = (uint32_t) strlen (made.private_data);
  ASSERT_OK (host.backend->lifecycle->connect (host_call (&host), host.state, &native, NULL, &handle));
  host_release (&host, handle);
  ASSERT_OK (host.backend->lifecycle->destroy (host_call (&host), host.state, &native, &destroyed));
  CU_ASSERT_EQUAL (destroyed.verdict, BERTH_GONE);
  host_end (&host);
}

static void
test_find (void)
{
  struct host host;
  BERTH_AUTO_BUFFER struct berth_buffer list = { 0 };
  struct berth_found_sink sink = found_sink (&list);

  host_begin (&host, NULL);
  host_release (&host, host_create (&host, "sb-b.1"));
  host_release (&host, host_create (&host, "sb-a.1"));
  host_release (&host, host_create (&host, "sb-c.1"));
  ASSERT_OK (host.backend->inventory->list_page (host_call (&host), host.state, NULL, 2, &sink));
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&list), "sb-a.1:2 sb-b.1:2 -> sb-b.1");
  berth_buffer_clear (&list);
  ASSERT_OK (host.backend->inventory->list_page (host_call (&host), host.state, "sb-b.1", 2, &sink));
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&list), "sb-c.1:2 ");
  berth_buffer_clear (&list);
  ASSERT_OK (host.backend->correlation->find_by_assignment (host_call (&host), host.state, "sb-b.1", &sink));
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&list), "sb-b.1:2 ");
  host_write (&host, "faults", "lifecycle.list_ids=fail:UNREACHABLE");
  ASSERT_FAILS (UNREACHABLE, host.backend->lifecycle->list_ids (host_call (&host), host.state, &sink));
  host_end (&host);
}

static void *
cancel_soon (void *context)
{
  struct call *call = context;

  berth_clock_sleep_ms (100);
  atomic_store (&call->cancelled, 1);
  return NULL;
}

static void
test_cancelled_create (void)
{
  struct host host;
  struct berth_spec spec = spec_of ("sb-a.1");
  struct made made = { "", "", 0, 0, { 0 } };
  struct berth_create_sink sink = made_sink (&made);
  struct berth_handle *handle = NULL;
  pthread_t thread;

  host_begin (&host, NULL);
  host_write (&host, "faults", "lifecycle.create.5=hang");
  host_call (&host);
  CU_ASSERT_EQUAL (pthread_create (&thread, NULL, cancel_soon, &host.call), 0);
  ASSERT_FAILS (CANCELLED, host.backend->lifecycle->create (&host.call.call, host.state, &spec, &sink, &handle));
  pthread_join (thread, NULL);
  CU_ASSERT_EQUAL (host_entries (&host, "sandboxes"), 0);
  host_end (&host);
}

static void *
create_and_destroy (void *context)
{
  struct host *host = context;
  struct call call;
  struct berth_destroyed destroyed;

  for (int i = 0; i < 5; i++)
    {
      BERTH_AUTO_FREE char *id = berth_string_format ("sb-%lx.%d", (unsigned long) pthread_self (), i);
      struct berth_spec spec = spec_of (id);
      struct berth_native native = native_of (id);
      struct made made = { "", "", 0, 0, { 0 } };
      struct berth_create_sink sink = made_sink (&made);
      struct berth_handle *handle = NULL;

      call_begin (&call, host);
      if (host->backend->lifecycle->create (&call.call, host->state, &spec, &sink, &handle) != 0)
        return (void *) 1;
      host->backend->lifecycle->release (&call.call, handle);
      if (host->backend->lifecycle->destroy (&call.call, host->state, &native, &destroyed) != 0
          || destroyed.verdict != BERTH_GONE)
        return (void *) 1;
    }
  return NULL;
}

static void
test_many_at_once (void)
{
  struct host host;
  pthread_t threads[8];

  host_begin (&host, NULL);
  for (size_t i = 0; i < 8; i++)
    CU_ASSERT_EQUAL_FATAL (pthread_create (&threads[i], NULL, create_and_destroy, &host), 0);
  for (size_t i = 0; i < 8; i++)
    {
      void *result = NULL;

      pthread_join (threads[i], &result);
      CU_ASSERT_PTR_NULL (result);
    }
  CU_ASSERT_EQUAL (host_entries (&host, "sandboxes"), 0);
  host_end (&host);
}

static void
test_two_instances (void)
{
  struct host host;
  struct host other;

  host_begin (&host, NULL);
  host_begin (&other, NULL);
  host_release (&host, host_create (&host, "sb-a.1"));
  assert_list (&host, "sb-a.1:2 ");
  assert_list (&other, "");
  host_end (&other);
  host_end (&host);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "L03 L07 L08 L11 L27 create, connect, destroy", test_create_and_destroy },
    { "L06 a create that fails at any step leaves nothing", test_every_step_undone },
    { "L10 a create that leaves something is listed as half-made", test_abandoned },
    { "L27 a create that is killed at any step can be found and removed", test_killed_at_every_step },
    { "L14 an id is used once", test_conflict },
    { "L02 L05 limits, and those that cannot be enforced", test_limits },
    { "I01 a created tier other than the validated one", test_tier_lie },
    { "L09 verdicts of destroy and probe", test_destroy_verdicts },
    { "L19 expiry by the virtual clock", test_expiry },
    { "L21 L22 pause, resume, stop, start", test_pause_and_restart },
    { "an owned sandbox ends with its owner", test_owned },
    { "private data are asked for", test_private_data },
    { "L20 L23 pages and assignments", test_find },
    { "L18 a cancelled create leaves nothing", test_cancelled_create },
    { "L14 many creates at once", test_many_at_once },
    { "S12 two instances are independent", test_two_instances },
    { NULL, NULL },
  };

  return berth_test_main ("fake lifecycle", tests);
}

#include <pthread.h>
#include <sys/socket.h>

#include "plugins/fake/tests/host.h"
#include "sdk/base/clock.h"
#include "sdk/base/fd.h"
#include "sdk/base/string.h"

static struct berth_data_sink
data_sink (struct berth_buffer *buffer)
{
  return (struct berth_data_sink) { sizeof (struct berth_data_sink), 0, buffer, read_sink (buffer).data };
}

/* --- ports -------------------------------------------------------------------------------------------------- */

static void
test_dial (void)
{
  static const uint32_t ports[] = { 1, 8080 };
  struct host host;
  struct berth_spec spec = spec_of ("sb-a.1");
  struct made made = { "", "", 0, 0, { 0 } };
  struct berth_create_sink sink = made_sink (&made);
  struct berth_handle *handle = NULL;
  char bytes[64] = "";
  int32_t fd = -1;
  int32_t second = -1;

  host_begin (&host, NULL);
  spec.asks = BERTH_SPEC_PORTS;
  spec.ports = ports;
  spec.port_count = 2;
  ASSERT_OK (host.backend->lifecycle->create (host_call (&host), host.state, &spec, &sink, &handle));
  ASSERT_FAILS (NOT_FOUND, host.backend->dial->dial (host_call (&host), handle, 1, NULL, &fd));
  ASSERT_FAILS (POLICY_DENIED, host.backend->dial->dial (host_call (&host), handle, 22, NULL, &fd));
  ASSERT_FAILS (INVALID_REQUEST, host.backend->dial->dial (host_call (&host), handle, 65536, NULL, &fd));
  ASSERT_OK (host.backend->dial->dial (host_call (&host), handle, 8080, NULL, &fd));
  ASSERT_OK (host.backend->dial->dial (host_call (&host), handle, 8080, NULL, &second));
  CU_ASSERT_EQUAL (berth_fd_write_all (fd, "hello", 5), 0);
  CU_ASSERT_EQUAL (shutdown (fd, SHUT_WR), 0);
  CU_ASSERT_EQUAL (berth_fd_read_full (fd, bytes, sizeof bytes), 5);
  CU_ASSERT_STRING_EQUAL (bytes, "hello");
  close (fd);
  host_release (&host, handle);
  CU_ASSERT_EQUAL (berth_fd_write_all (second, "still", 5), 0); /* outlives its handle */
  CU_ASSERT_EQUAL (berth_fd_read_full (second, bytes, 5), 5);
  CU_ASSERT_EQUAL (host_destroy (&host, "sb-a.1"), BERTH_GONE);
  CU_ASSERT_EQUAL (berth_fd_read_full (second, bytes, sizeof bytes), 0); /* but not its sandbox */
  close (second);
  host_end (&host);
}

static int
take_endpoint (void *context, const struct berth_endpoint *endpoint)
{
  return berth_buffer_append_string (context, endpoint->url);
}

static void
test_endpoints (void)
{
  struct host host;
  struct berth_handle *handle;
  BERTH_AUTO_BUFFER struct berth_buffer url = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer id = { 0 };
  struct berth_endpoint_sink sink = { sizeof sink, 0, &url, take_endpoint };
  struct berth_text_sink names = text_sink (&id);

  host_begin (&host, NULL);
  handle = host_create (&host, "sb-a.1");
  ASSERT_OK (host.backend->endpoints->endpoint (host_call (&host), handle, 80, NULL, &sink));
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&url), "https://fake.invalid/sandboxes/sb-a.1/ports/80");
  ASSERT_OK (host.backend->endpoints->endpoint_names_sandbox (host_call (&host), host.state,
                                                              berth_buffer_string (&url), &names));
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&id), "sb-a.1 ");
  berth_buffer_clear (&id);
  ASSERT_OK (host.backend->endpoints->endpoint_names_sandbox (host_call (&host), host.state, "https://elsewhere/",
                                                              &names));
  CU_ASSERT_EQUAL (id.size, 0);
  berth_buffer_clear (&url);
  host_write (&host, "clock", "1000");
  ASSERT_OK (host.backend->signing->signed_endpoint (host_call (&host), handle, 80, 500, NULL, &sink));
  CU_ASSERT_PTR_NOT_NULL (strstr (berth_buffer_string (&url), "?expires=1500&signature="));
  ASSERT_FAILS (INVALID_REQUEST,
                host.backend->signing->signed_endpoint (host_call (&host), handle, 80, 0, NULL, &sink));
  host_release (&host, handle);
  host_end (&host);
}

/* --- network ------------------------------------------------------------------------------------------------- */

static int
take_denial (void *context, const struct berth_denial *denial)
{
  return berth_buffer_appendf (context, "%llu %s:%u %s\n", (unsigned long long) denial->sequence, denial->host,
                               denial->port, denial->rule);
}

static int
take_policy (void *context, const struct berth_policy *policy)
{
  return berth_buffer_appendf (context, "%u+%u ", policy->default_action, policy->rules.count);
}

static void
test_network (void)
{
  static const struct berth_binding bindings[] = { { "example.org", "Authorization", "secret", 0 } };
  static const struct berth_rule rules[] = { { BERTH_ALLOW, BERTH_TARGET_HOST, "example.org", 0, 0 } };
  struct berth_policy policy = { sizeof policy, BERTH_DENY, 0, BERTH_ARRAY (rules) };
  struct berth_vault vault = { sizeof vault, 0, 0, BERTH_ARRAY (bindings) };
  struct host host;
  struct berth_handle *handle;
  struct berth_native native = native_of ("sb-a.1");
  struct ran ran = { { 0 }, { 0 }, { 0 }, 0 };
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  struct berth_denial_sink denials = { sizeof denials, 0, &text, take_denial };
  struct berth_policy_sink policies = { sizeof policies, 0, &text, take_policy };

  host_begin (&host, NULL);
  handle = host_create (&host, "sb-a.1");
  ASSERT_OK (host_shell (&host, handle, &ran, "connect example.org 80; connect example.org 81"));
  ASSERT_OK (host.backend->network->read_denials (host_call (&host), host.state, &native, 1, &denials));
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&text), "2 example.org:81 default: deny\n");
  ASSERT_FAILS (POLICY_DENIED,
                host.backend->credentials->apply_vault (host_call (&host), host.state, &native, &vault));
  ASSERT_OK (host.backend->network_update->update_policy (host_call (&host), host.state, &native, &policy));
  ASSERT_OK (host.backend->credentials->apply_vault (host_call (&host), host.state, &native, &vault));
  berth_buffer_clear (&text);
  ASSERT_OK (host.backend->network->read_policy (host_call (&host), host.state, &native, &policies));
  ASSERT_OK (host.backend->network->admit_runtime_egress (host_call (&host), host.state, &policy, &policies));
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&text), "1+1 1+1 ");
  policy.asks = BERTH_ASKS_HARNESS;
  ASSERT_FAILS (CAPABILITY_NOT_SUPPORTED,
                host.backend->network_update->update_policy (host_call (&host), host.state, &native, &policy));
  ran_clear (&ran);
  host_release (&host, handle);
  host_end (&host);
}

/* --- sessions, pools, snapshots ----------------------------------------------------------------------------- */

static void
test_isolated (void)
{
  static const char *const pwd[] = { "pwd", NULL };
  struct berth_isolated_workspace workspace
      = { .struct_size = sizeof workspace, .mode = 0700, .path = "/workspace/tenants/a" };
  struct host host;
  struct berth_handle *handle;
  BERTH_AUTO_BUFFER struct berth_buffer id = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer found = { 0 };
  struct berth_text_sink sink = text_sink (&id);
  struct berth_text_sink found_ids = text_sink (&found);
  struct ran ran = { { 0 }, { 0 }, { 0 }, 0 };
  struct berth_run run = { .struct_size = sizeof run, .argument_count = 1, .arguments = pwd };
  struct berth_run_sink output = ran_sink (&ran);
  const struct berth_isolated_ops *ops;
  uint64_t count = 9;

  host_begin (&host, NULL);
  ops = host.backend->isolated;
  handle = host_create (&host, "sb-a.1");
  ASSERT_FAILS (WRONG_STATE, ops->open (host_call (&host), handle, &workspace, &sink));
  ASSERT_OK (ops->prepare (host_call (&host), handle, &workspace));
  ASSERT_OK (ops->open (host_call (&host), handle, &workspace, &sink));
  ASSERT_OK (host.backend->recovery->find_by_workspace (host_call (&host), handle, workspace.path, &found_ids));
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&found), berth_buffer_string (&id));
  id.data[id.size - 1] = '\0'; /* the blank that separates texts */
  ASSERT_OK (ops->run (host_call (&host), handle, id.data, &run, &output));
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&ran.out), "/workspace/tenants/a\n");
  run.asks = BERTH_RUN_WORKDIR;
  run.workdir = "/workspace";
  ASSERT_FAILS (PATH_REJECTED, ops->run (host_call (&host), handle, id.data, &run, &output));
  ASSERT_OK (ops->count_active (host_call (&host), handle, &count));
  CU_ASSERT_EQUAL (count, 1);
  ASSERT_OK (ops->close (host_call (&host), handle, id.data));
  ASSERT_OK (ops->close (host_call (&host), handle, id.data));
  ASSERT_OK (ops->count_active (host_call (&host), handle, &count));
  CU_ASSERT_EQUAL (count, 0);
  ASSERT_FAILS (NOT_FOUND, ops->run (host_call (&host), handle, id.data, &run, &output));
  ran_clear (&ran);
  host_release (&host, handle);
  host_end (&host);
}

static int
take_pool (void *context, const struct berth_pool_state *state)
{
  return berth_buffer_appendf (context, "%u/%u ", state->ready, state->claimed);
}

static void
test_pool (void)
{
  struct host host;
  struct berth_spec spec = spec_of ("unused");
  struct berth_pool pool = { .struct_size = sizeof pool, .wanted = 2, .name = "web", .spec = &spec };
  struct berth_spec wish = spec_of ("sb-a.1");
  struct made made = { "", "", 0, 0, { 0 } };
  struct berth_create_sink sink = made_sink (&made);
  struct berth_handle *handle = NULL;
  struct berth_native native;
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  struct berth_pool_sink states = { sizeof states, 0, &text, take_pool };
  const struct berth_pool_ops *ops;

  host_begin (&host, NULL);
  ops = host.backend->pool;
  ASSERT_FAILS (NOT_FOUND, ops->describe (host_call (&host), host.state, "web", &states));
  spec.asks = BERTH_SPEC_MEMORY;
  spec.memory_bytes = 1 << 20;
  ASSERT_OK (ops->ensure (host_call (&host), host.state, &pool));
  ASSERT_OK (ops->ensure (host_call (&host), host.state, &pool));
  CU_ASSERT_EQUAL (ops->readiness (host_call (&host), host.state, "web"), 1);
  wish.asks = BERTH_SPEC_MEMORY;
  wish.memory_bytes = 2 << 20;
  ASSERT_FAILS (CAPABILITY_NOT_SUPPORTED, ops->acquire (host_call (&host), host.state, "web", &wish, &sink, &handle));
  wish.memory_bytes = 1 << 20;
  ASSERT_OK (ops->acquire (host_call (&host), host.state, "web", &wish, &sink, &handle));
  native = native_of (made.id);
  CU_ASSERT_EQUAL (ops->owns_unclaimed (host_call (&host), host.state, &native), 0);
  CU_ASSERT_EQUAL (ops->readiness (host_call (&host), host.state, "web"), 0);
  ASSERT_OK (ops->describe (host_call (&host), host.state, "web", &states));
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&text), "1/1 ");
  ASSERT_OK (ops->retire (host_call (&host), host.state, "web"));
  ASSERT_OK (ops->retire (host_call (&host), host.state, "web"));
  CU_ASSERT_EQUAL (host_entries (&host, "sandboxes"), 1); /* the claimed one stays */
  host_release (&host, handle);
  host_end (&host);
}

static int
take_snapshot (void *context, const struct berth_snapshot *snapshot)
{
  berth_buffer_clear (context);
  return berth_buffer_appendf (context, "%u:%llu:%s", snapshot->kind, (unsigned long long) snapshot->bytes,
                               snapshot->snapshot_id);
}

static void
snapshot_and_restore (const char *capabilities, const char *kind)
{
  const char *const settings[] = { "capabilities", capabilities, NULL };
  struct host host;
  struct berth_handle *handle;
  struct berth_handle *restored = NULL;
  struct berth_native native = native_of ("sb-a.1");
  struct berth_spec spec = spec_of ("sb-b.1");
  struct made made = { "", "", 0, 0, { 0 } };
  struct berth_create_sink sink = made_sink (&made);
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  struct berth_snapshot_sink snapshots = { sizeof snapshots, 0, &text, take_snapshot };
  struct ran ran = { { 0 }, { 0 }, { 0 }, 0 };
  const char *id;

  host_begin (&host, settings);
  handle = host_create (&host, "sb-a.1");
  ASSERT_OK (host_write_file (&host, handle, "/workspace/a", "kept"));
  ASSERT_OK (host.backend->snapshots->save (host_call (&host), host.state, &native, "one", NULL, &snapshots));
  CU_ASSERT_EQUAL (strncmp (berth_buffer_string (&text), kind, strlen (kind)), 0);
  id = strrchr (berth_buffer_string (&text), ':') + 1;
  ASSERT_OK (host_write_file (&host, handle, "/workspace/a", "changed"));
  ASSERT_FAILS (SNAPSHOT_NOT_FOUND,
                host.backend->snapshots->restore (host_call (&host), host.state, "none", &spec, &sink, &restored));
  ASSERT_OK (host.backend->snapshots->restore (host_call (&host), host.state, id, &spec, &sink, &restored));
  ASSERT_OK (host_shell (&host, restored, &ran, "cat a"));
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&ran.out), "kept");
  ASSERT_OK (host.backend->snapshots->list (host_call (&host), host.state, &snapshots));
  CU_ASSERT_EQUAL (host_entries (&host, "snapshots"), 1);
  id = strrchr (berth_buffer_string (&text), ':') + 1;
  ASSERT_OK (host.backend->snapshots->remove (host_call (&host), host.state, id));
  ASSERT_OK (host.backend->snapshots->remove (host_call (&host), host.state, id));
  CU_ASSERT_EQUAL (host_entries (&host, "snapshots"), 0);
  ran_clear (&ran);
  host_release (&host, handle);
  host_release (&host, restored);
  host_end (&host);
}

static void
test_snapshots (void)
{
  snapshot_and_restore ("network_policy,snapshot_disk", "1:");
  snapshot_and_restore ("all", "2:");
}

static int
take_child (void *context, uint64_t index, const struct berth_native *native)
{
  return native->private_size == 0
             ? berth_buffer_appendf (context, "%llu=%s ", (unsigned long long) index, native->id)
             : 0;
}

static int
take_child_effective (void *context, uint64_t index, const struct berth_effective *effective)
{
  return 0;
}

static int
take_child_failure (void *context, uint64_t index, uint32_t code, const char *message)
{
  return berth_buffer_appendf (context, "%llu!%u ", (unsigned long long) index, code);
}

static void
test_fork (void)
{
  struct host host;
  struct berth_handle *handle;
  struct berth_handle *child = NULL;
  struct berth_native native = native_of ("sb-a.1");
  struct berth_native copy = native_of ("sb-d.1");
  struct berth_spec specs[] = { spec_of ("sb-b.1"), spec_of ("sb-c.1"), spec_of ("sb-d.1") };
  const struct berth_spec *const children[] = { &specs[0], &specs[1], &specs[2] };
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  struct berth_children_sink sink
      = { sizeof sink, 0, &text, take_child, take_child_effective, take_child_failure };
  struct ran ran = { { 0 }, { 0 }, { 0 }, 0 };

  host_begin (&host, NULL);
  handle = host_create (&host, "sb-a.1");
  ASSERT_OK (host_write_file (&host, handle, "/workspace/a", "inherited"));
  host_write (&host, "faults", "fork.child.1=fail:RESOURCE_EXHAUSTED");
  ASSERT_OK (host.backend->fork->fork (host_call (&host), host.state, &native, children, 3, &sink));
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&text), "0=sb-b.1 1!50700 2=sb-d.1 ");
  ASSERT_OK (host.backend->lifecycle->connect (host_call (&host), host.state, &copy, NULL, &child));
  ASSERT_OK (host_shell (&host, child, &ran, "cat a; rm a"));
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&ran.out), "inherited");
  ASSERT_OK (host_shell (&host, handle, &ran, "cat a"));
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&ran.out), "inherited");
  ran_clear (&ran);
  host_release (&host, handle);
  host_release (&host, child);
  host_end (&host);
}

/* --- code ---------------------------------------------------------------------------------------------------- */

static int
code_output (void *context, uint32_t stream, const void *bytes, size_t size)
{
  return berth_buffer_append (context, bytes, size);
}

static int
code_rich (void *context, const struct berth_rich *rich)
{
  return berth_buffer_appendf (context, "=%.*s", (int) rich->size, (const char *) rich->data);
}

static int
code_error (void *context, const char *name, const char *value, const char *trace)
{
  return berth_buffer_appendf (context, "!%s:%s", name, value);
}

static int
code_exit (void *context, const struct berth_exit *end)
{
  return berth_buffer_appendf (context, "#%d", end->code);
}

static void
test_code (void)
{
  static const char *const programs[][2] = {
    { "print('hi')", "hi\n#0" },
    { "x = 40\nx + 2", "=42#0" },
    { "'a' + 'b'", "='ab'#0" },
    { "x = 1; print(x + 1); # done", "2\n#0" },
    { "y", "!NameError:y#1" },
    { "print('before'); raise ValueError('bad'); print('after')", "before\n!ValueError:bad#1" },
    { "1 + 'a'", "!TypeError:a number and a text do not add up#1" },
    { "1 2", "!SyntaxError:1 2#1" },
  };
  struct host host;
  struct berth_handle *handle;
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  struct berth_code_sink sink = { sizeof sink, 0, &text, code_output, code_rich, code_error, code_exit };
  struct berth_code code = { .struct_size = sizeof code, .language = "python" };
  BERTH_AUTO_BUFFER struct berth_buffer id = { 0 };
  struct berth_text_sink ids = text_sink (&id);

  host_begin (&host, NULL);
  handle = host_create (&host, "sb-a.1");
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
    {
      berth_buffer_clear (&text);
      code.text = programs[i][0];
      code.text_size = strlen (programs[i][0]);
      ASSERT_OK (host.backend->code->run (host_call (&host), handle, &code, &sink));
      CU_ASSERT_STRING_EQUAL (berth_buffer_string (&text), programs[i][1]);
    }
  ASSERT_OK (host.backend->contexts->create (host_call (&host), handle, "python", &ids));
  id.data[id.size - 1] = '\0';
  code.asks = BERTH_CODE_CONTEXT;
  code.context_id = id.data;
  code.text = "kept = 'yes'";
  code.text_size = strlen (code.text);
  ASSERT_OK (host.backend->code->run (host_call (&host), handle, &code, &sink));
  berth_buffer_clear (&text);
  code.text = "kept";
  code.text_size = strlen (code.text);
  ASSERT_OK (host.backend->code->run (host_call (&host), handle, &code, &sink));
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&text), "='yes'#0");
  ASSERT_OK (host.backend->contexts->remove (host_call (&host), handle, id.data));
  ASSERT_FAILS (NOT_FOUND, host.backend->contexts->remove (host_call (&host), handle, id.data));
  ASSERT_FAILS (NOT_FOUND, host.backend->code->run (host_call (&host), handle, &code, &sink));
  code.asks = 0;
  code.language = "cobol";
  ASSERT_FAILS (CAPABILITY_NOT_SUPPORTED, host.backend->code->run (host_call (&host), handle, &code, &sink));
  host_release (&host, handle);
  host_end (&host);
}

/* --- reports ------------------------------------------------------------------------------------------------- */

static int
take_metric (void *context, const struct berth_metric *metric)
{
  return strcmp (metric->name, "disk_bytes") != 0
             ? 0
             : berth_buffer_appendf (context, "%lld", (long long) metric->value);
}

static int
take_cost (void *context, const struct berth_cost *cost)
{
  return berth_buffer_appendf (context, "%s:%lld ", cost->label, (long long) cost->micros);
}

static void
test_reports (void)
{
  static const char *const settings[] = { "price", "1000", NULL };
  struct host host;
  struct berth_native native = native_of ("sb-a.1");
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  struct berth_metric_sink metrics = { sizeof metrics, 0, &text, take_metric };
  struct berth_cost_sink costs = { sizeof costs, 0, &text, take_cost };
  struct berth_data_sink data = data_sink (&text);
  struct berth_handle *handle;
  long before;

  host_begin (&host, settings);
  host_write (&host, "clock", "10000");
  handle = host_create (&host, "sb-a.1");
  ASSERT_OK (host.backend->metrics->read (host_call (&host), host.state, &native, NULL, &metrics));
  before = strtol (berth_buffer_string (&text), NULL, 10);
  ASSERT_OK (host_write_file (&host, handle, "/workspace/a", "12345"));
  berth_buffer_clear (&text);
  ASSERT_OK (host.backend->metrics->read (host_call (&host), host.state, &native, NULL, &metrics));
  CU_ASSERT_EQUAL (strtol (berth_buffer_string (&text), NULL, 10), before + 5);
  berth_buffer_clear (&text);
  ASSERT_OK (host.backend->diagnostics->read (host_call (&host), host.state, &native, "events", NULL, &data));
  CU_ASSERT_PTR_NOT_NULL (strstr (berth_buffer_string (&text), "created by lifecycle.create"));
  ASSERT_FAILS (INVALID_REQUEST,
                host.backend->diagnostics->read (host_call (&host), host.state, &native, "x", NULL, &data));
  host_release (&host, handle);
  host_write (&host, "clock", "12000");
  CU_ASSERT_EQUAL (host_destroy (&host, "sb-a.1"), BERTH_GONE);
  host_release (&host, host_create (&host, "sb-b.1"));
  host_write (&host, "clock", "15000");
  berth_buffer_clear (&text);
  ASSERT_OK (host.backend->costs->report (host_call (&host), host.state, 11000, 14000, &costs));
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&text), "sb-a.1:1000 sb-b.1:2000 ");
  host_end (&host);
}

static void
test_native (void)
{
  struct host host;
  struct berth_native none = native_of ("");
  struct berth_native native = native_of ("sb-a.1");
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  struct berth_data_sink data = data_sink (&text);
  struct berth_handle *handle;
  struct ran ran = { { 0 }, { 0 }, { 0 }, 0 };

  host_begin (&host, NULL);
  handle = host_create (&host, "sb-a.1");
  ASSERT_OK (host.backend->native->call (host_call (&host), host.state, &none, "echo", "{\"a\":1}", &data));
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&text), "{\"a\":1}");
  ASSERT_FAILS (INVALID_REQUEST, host.backend->native->call (host_call (&host), host.state, &none, "echo", "{", &data));
  ASSERT_FAILS (NOT_FOUND, host.backend->native->call (host_call (&host), host.state, &none, "x", "{}", &data));
  ASSERT_OK (host.backend->native->call (host_call (&host), host.state, &none, "set",
                                         "{\"faults\":\"commands.run=fail:RATE_LIMITED\"}", &data));
  ASSERT_FAILS (RATE_LIMITED, host_shell (&host, handle, &ran, "true"));
  ASSERT_OK (host.backend->native->call (host_call (&host), host.state, &none, "set", "{\"faults\":null}", &data));
  ASSERT_OK (host_shell (&host, handle, &ran, "true"));
  ASSERT_OK (host.backend->native->call (host_call (&host), host.state, &native, "crash", "{}", &data));
  ASSERT_FAILS (WRONG_STATE, host_shell (&host, handle, &ran, "true"));
  ran_clear (&ran);
  host_release (&host, handle);
  host_end (&host);
}

/* --- watch --------------------------------------------------------------------------------------------------- */

struct watcher
{
  struct call call;
  struct berth_buffer events;
  atomic_int ready;
  struct host *host;
  struct berth_handle *handle;
};

static int
take_change (void *context, const struct berth_watched *what)
{
  struct watcher *watcher = context;

  berth_buffer_appendf (&watcher->events, "%u:%s ", what->event, what->path);
  if (what->event == BERTH_WATCH_REMOVED)
    atomic_store (&watcher->call.cancelled, 1);
  return 0;
}

static int
take_ready (void *context)
{
  atomic_store (&((struct watcher *) context)->ready, 1);
  return 0;
}

static void *
watch (void *context)
{
  struct watcher *watcher = context;
  struct berth_watch_sink sink = { sizeof sink, 0, watcher, take_change, take_ready };

  (void) watcher->host->backend->watch->watch (&watcher->call.call, watcher->handle, "/workspace/seen", NULL, &sink);
  return NULL;
}

static void
test_watch (void)
{
  struct host host;
  struct berth_change how = { .struct_size = sizeof how, .beneath = "/workspace" };
  struct watcher watcher = { .host = &host };
  pthread_t thread;

  host_begin (&host, NULL);
  watcher.handle = host_create (&host, "sb-a.1");
  ASSERT_OK (host.backend->files->make_directory (host_call (&host), watcher.handle, "/workspace/seen", &how));
  call_begin (&watcher.call, &host);
  CU_ASSERT_EQUAL_FATAL (pthread_create (&thread, NULL, watch, &watcher), 0);
  for (int i = 0; i < 500 && !atomic_load (&watcher.ready); i++)
    berth_clock_sleep_ms (10);
  CU_ASSERT_TRUE (atomic_load (&watcher.ready));
  ASSERT_OK (host_write_file (&host, watcher.handle, "/workspace/unseen", "x"));
  ASSERT_OK (host_write_file (&host, watcher.handle, "/workspace/seen/a", "x"));
  ASSERT_OK (host_write_file (&host, watcher.handle, "/workspace/seen/a", "y"));
  ASSERT_OK (host.backend->files->remove (host_call (&host), watcher.handle, "/workspace/seen/a", &how));
  pthread_join (thread, NULL);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&watcher.events),
                          "1:/workspace/seen/a 2:/workspace/seen/a 3:/workspace/seen/a ");
  CU_ASSERT_EQUAL (watcher.call.code, BERTH_E_CANCELLED);
  berth_buffer_free (&watcher.events);
  host_release (&host, watcher.handle);
  host_end (&host);
}

/* --- volumes and what is not there ---------------------------------------------------------------------------- */

static void
test_volume (void)
{
  static const char *const settings[] = { "volumes", "data,more", NULL };
  struct host host;
  struct berth_spec spec = spec_of ("sb-a.1");
  struct made made = { "", "", 0, 0, { 0 } };
  struct berth_create_sink sink = made_sink (&made);
  BERTH_AUTO_BUFFER struct berth_buffer route = { 0 };
  struct berth_text_sink routes = text_sink (&route);
  struct berth_handle *handle = NULL;
  struct ran ran = { { 0 }, { 0 }, { 0 }, 0 };

  host_begin (&host, settings);
  ASSERT_FAILS (NOT_FOUND,
                host.backend->volumes->workspace_route (host_call (&host), host.state, "none", &routes));
  ASSERT_OK (host.backend->volumes->workspace_route (host_call (&host), host.state, "data", &routes));
  route.data[route.size - 1] = '\0';
  spec.asks = BERTH_SPEC_VOLUME;
  spec.volume_route = route.data;
  for (int i = 0; i < 2; i++)
    {
      ASSERT_OK (host.backend->lifecycle->create (host_call (&host), host.state, &spec, &sink, &handle));
      ASSERT_OK (host_shell (&host, handle, &ran, "echo once >> log; cat log"));
      host_release (&host, handle);
      CU_ASSERT_EQUAL (host_destroy (&host, "sb-a.1"), BERTH_GONE);
    }
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&ran.out), "once\nonce\n");
  ran_clear (&ran);
  host_end (&host);
}

static void
test_masked (void)
{
  static const char *const settings[] = { "capabilities", "network_policy", NULL };
  struct host host;
  struct berth_handle *handle;
  struct berth_native native = native_of ("sb-a.1");
  struct berth_presence presence;
  struct berth_expiry expiry;
  int32_t fd;

  host_begin (&host, settings);
  handle = host_create (&host, "sb-a.1");
  ASSERT_FAILS (CAPABILITY_NOT_SUPPORTED,
                host.backend->probe->probe (host_call (&host), host.state, &native, &presence));
  ASSERT_FAILS (CAPABILITY_NOT_SUPPORTED,
                host.backend->expiry->expires_at (host_call (&host), host.state, &native, &expiry));
  ASSERT_FAILS (CAPABILITY_NOT_SUPPORTED, host.backend->pause->resume (host_call (&host), host.state, &native));
  ASSERT_FAILS (CAPABILITY_NOT_SUPPORTED, host.backend->restart->start (host_call (&host), host.state, &native));
  ASSERT_FAILS (CAPABILITY_NOT_SUPPORTED, host.backend->dial->dial (host_call (&host), handle, 80, NULL, &fd));
  ASSERT_FAILS (CAPABILITY_NOT_SUPPORTED, host.backend->processes->remove (host_call (&host), handle, "x"));
  ASSERT_FAILS (CAPABILITY_NOT_SUPPORTED, host.backend->pool->retire (host_call (&host), host.state, "x"));
  ASSERT_FAILS (CAPABILITY_NOT_SUPPORTED, host.backend->snapshots->remove (host_call (&host), host.state, "x"));
  ASSERT_FAILS (CAPABILITY_NOT_SUPPORTED, host.backend->contexts->remove (host_call (&host), handle, "x"));
  ASSERT_FAILS (CAPABILITY_NOT_SUPPORTED, host.backend->isolated->close (host_call (&host), handle, "x"));
  host_release (&host, handle);
  host_end (&host);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "N07 N11 dial", test_dial },
    { "N08 N09 endpoints", test_endpoints },
    { "N04 N05 N10 policies, denials, credentials", test_network },
    { "I06 isolated sessions", test_isolated },
    { "I07 pools", test_pool },
    { "L25 snapshots tell their kind", test_snapshots },
    { "L24 fork tells a result for each child", test_fork },
    { "I08 code and contexts", test_code },
    { "metrics, diagnostics, costs", test_reports },
    { "native operations", test_native },
    { "watch tells changes in order", test_watch },
    { "a workspace on a volume outlives its sandbox", test_volume },
    { "I02 masked capabilities are refused", test_masked },
    { NULL, NULL },
  };

  return berth_test_main ("fake groups", tests);
}

#include "plugins/ns/tests/host.h"

#include <CUnit/CUnit.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sdk/base/cleanup.h"
#include "sdk/base/clock.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"
#include "sdk/base/tests/runner.h"

/* ---- services ---- */

static struct host_call *
of (const struct berth_call *call)
{
  return (struct host_call *) call;
}

static int
host_vfail (struct berth_call *call, uint32_t code, const char *format, va_list arguments)
{
  of (call)->code = code;
  of (call)->hint[0] = '\0';
  vsnprintf (of (call)->message, sizeof of (call)->message, format, arguments);
  return -1;
}

static int
host_fail (struct berth_call *call, uint32_t code, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  host_vfail (call, code, format, arguments);
  va_end (arguments);
  return -1;
}

static int
host_refuse (struct berth_call *call, uint32_t which, uint64_t bits)
{
  return host_fail (call, BERTH_E_CAPABILITY_NOT_SUPPORTED, "bits %#llx of %u", (unsigned long long) bits, which);
}

static void
host_hint (struct berth_call *call, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  vsnprintf (of (call)->hint, sizeof of (call)->hint, format, arguments);
  va_end (arguments);
}

static void
host_upstream (struct berth_call *call, const char *code, int32_t status)
{
}

static void
host_retry_after (struct berth_call *call, int64_t milliseconds)
{
}

static uint32_t
host_failed (const struct berth_call *call)
{
  return of (call)->code;
}

static void
host_forgive (struct berth_call *call)
{
  of (call)->code = 0;
}

static uint32_t
host_cancelled (struct berth_call *call)
{
  struct host_call *self = of (call);

  self->asked++;
  if (self->cancel_at != 0 && self->asked >= self->cancel_at)
    self->cancelled = true;
  return self->cancelled ? BERTH_E_CANCELLED : 0;
}

static int
host_cancel_fd (struct berth_call *call)
{
  return -1;
}

static int64_t
host_deadline (const struct berth_call *call)
{
  return BERTH_NO_DEADLINE;
}

static struct berth_call *
host_shield (struct berth_call *call, int64_t grace_ms)
{
  struct host_call *shielded = calloc (1, sizeof *shielded);

  if (shielded == NULL)
    abort ();
  host_call_start ((struct host *) call->instance, shielded);
  return &shielded->call;
}

static void
host_unshield (struct berth_call *shielded)
{
  free (shielded);
}

static void
host_log (struct berth_instance *instance, uint32_t level, const char *format, ...)
{
}

static void
host_progress (struct berth_call *call, const char *phase, uint64_t done, uint64_t total)
{
}

static void
host_redact (struct berth_instance *instance, const void *bytes, size_t size)
{
}

static const char *
host_instance_name (struct berth_instance *instance)
{
  return "ns";
}

static const char *
host_setting (struct berth_instance *instance, const char *name)
{
  const struct host *host = (const struct host *) instance;

  if (strcmp (name, "uid_map") != 0)
    return NULL;
  return host->uid_map != NULL ? host->uid_map : getenv ("BERTH_NS_UID_MAP");
}

static int64_t
host_setting_number (struct berth_instance *instance, const char *name)
{
  const struct host *host = (const struct host *) instance;

  if (strcmp (name, "uid_base") == 0)
    return host->uid_base != 0 ? host->uid_base : 2000224256;
  return host->uid_count != 0 ? host->uid_count : 147128320;
}

static const char *
host_directory (struct berth_instance *instance, uint32_t which)
{
  return which >= 1 && which <= 3 ? ((struct host *) instance)->directory[which - 1] : NULL;
}

static const char *
host_installation_id (struct berth_instance *instance)
{
  return "test-installation";
}

static const char *
host_agent_path (struct berth_instance *instance, const char *machine)
{
  return ((struct host *) instance)->agent;
}

static const struct berth_services services = {
  .abi = { BERTH_ABI_MAGIC, sizeof services, BERTH_ABI_MAJOR, BERTH_ABI_MINOR, 0 },
  .fail = host_fail,
  .vfail = host_vfail,
  .refuse = host_refuse,
  .hint = host_hint,
  .upstream = host_upstream,
  .retry_after = host_retry_after,
  .failed = host_failed,
  .forgive = host_forgive,
  .cancelled = host_cancelled,
  .cancel_fd = host_cancel_fd,
  .deadline = host_deadline,
  .shield = host_shield,
  .unshield = host_unshield,
  .log = host_log,
  .progress = host_progress,
  .redact = host_redact,
  .instance_name = host_instance_name,
  .setting = host_setting,
  .setting_number = host_setting_number,
  .directory = host_directory,
  .installation_id = host_installation_id,
  .agent_path = host_agent_path,
};

void
host_call_start (struct host *host, struct host_call *call)
{
  *call = (struct host_call){ .call = { .struct_size = sizeof call->call,
                                        .services = &services,
                                        .instance = (struct berth_instance *) host } };
}

/* ---- the host ---- */

static const struct berth_backend *
load_backend (void)
{
  const char *build = getenv ("BERTH_TEST_BUILDDIR");
  BERTH_AUTO_FREE char *path
      = berth_string_format ("%s/plugins/ns/.libs/berth-backend-ns.so", build != NULL ? build : ".");
  void *library = dlopen (path, RTLD_NOW | RTLD_LOCAL);
  berth_backend_function *entry = NULL;

  if (library != NULL)
    *(void **) &entry = dlsym (library, BERTH_BACKEND_SYMBOL);
  if (entry == NULL)
    fprintf (stderr, "%s\n", dlerror ());
  return entry != NULL ? entry (&services) : NULL;
}

int
host_open (struct host *host, struct host_call *call)
{
  host_call_start (host, call);
  return host->backend->lifecycle->open (&call->call, &host->state);
}

void
host_close (struct host *host)
{
  struct host_call call;

  host_call_start (host, &call);
  if (host->state != NULL)
    host->backend->lifecycle->close (&call.call, host->state);
  host->state = NULL;
}

bool
host_start (struct host *host)
{
  static const char *const names[] = { "state", "run", "cache" };
  const char *tmp = getenv ("TMPDIR"), *agent = getenv ("BERTH_AGENT");
  struct host_call call;

  *host = (struct host){ .backend = load_backend () };
  snprintf (host->top, sizeof host->top, "%s/berth-test-XXXXXX", tmp != NULL ? tmp : "/tmp");
  CU_ASSERT_PTR_NOT_NULL_FATAL (host->backend);
  CU_ASSERT_PTR_NOT_NULL_FATAL (mkdtemp (host->top));
  for (int i = 0; i < 3; i++)
    {
      snprintf (host->directory[i], sizeof host->directory[i], "%s/%s", host->top, names[i]);
      CU_ASSERT_EQUAL (mkdir (host->directory[i], 0700), 0);
    }
  snprintf (host->agent, sizeof host->agent, "%s", agent != NULL ? agent : "");
  CU_ASSERT_EQUAL_FATAL (host_open (host, &call), 0);
  return true;
}

bool
host_has_accounts (void)
{
  const char *map = getenv ("BERTH_NS_UID_MAP");

  return geteuid () == 0 || (map != NULL && strcmp (map, "range") == 0);
}

int
host_main_of_root (const char *suite, const struct berth_test *tests)
{
  if (geteuid () == 0)
    return berth_test_main (suite, tests);
  printf ("SKIP %s: needs root\n0 passed, 0 failed, 1 skipped\n", suite);
  return 77;
}

static int
destroy_found (void *context, const struct berth_found *found)
{
  struct host *host = context;
  struct guest guest = { .host = host };

  snprintf (guest.id, sizeof guest.id, "%s", found->native_id);
  guest_destroy (&guest);
  return 0;
}

void
host_stop (struct host *host)
{
  struct host_call call;
  const struct berth_found_sink sink = { .struct_size = sizeof sink, .context = host, .found = destroy_found };

  host_call_start (host, &call);
  if (host->state != NULL)
    host->backend->lifecycle->list_ids (&call.call, host->state, &sink);
  host_close (host);
  CU_ASSERT_EQUAL (berth_fs_remove_tree (AT_FDCWD, host->top), 0);
}

/* ---- guests ---- */

struct berth_spec
guest_spec (void)
{
  return (struct berth_spec){ .struct_size = sizeof (struct berth_spec),
                              .sandbox_id = "sb-test",
                              .assignment_id = "as-test",
                              .installation_id = "test-installation",
                              .generation = 1 };
}

static int
sink_created (void *context, const struct berth_native *native)
{
  struct guest *guest = context;

  guest->created++;
  return strcmp (native->id, guest->id) == 0 ? 0 : -1;
}

static int
sink_effective (void *context, const struct berth_effective *effective)
{
  struct guest *guest = context;

  guest->told++;
  guest->effective = *effective;
  return 0;
}

static pid_t
read_pid (struct guest *guest)
{
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/boxes/%s/meta", guest->host->directory[0], guest->id);
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };

  if (berth_fs_read (AT_FDCWD, path, &text, 1u << 20) < 0)
    return 0;
  pid_t pid = 0;
  for (const char *at = berth_buffer_string (&text); (at = strstr (at, "\npid=")) != NULL; at++)
    pid = (pid_t) strtol (at + 5, NULL, 10);
  return pid;
}

int
guest_create_in (struct host *host, struct guest *guest, const struct berth_spec *spec, struct host_call *call)
{
  struct berth_spec copy = *spec;
  const struct berth_create_sink sink = {
    .struct_size = sizeof sink, .context = guest, .created = sink_created, .effective = sink_effective
  };

  if (guest->id[0] == '\0')
    snprintf (guest->id, sizeof guest->id, "sb-test%d.%d", (int) getpid (),
              __atomic_add_fetch (&host->next, 1, __ATOMIC_RELAXED));
  guest->host = host;
  copy.native_hint = guest->id;
  int result = host->backend->lifecycle->create (&call->call, host->state, &copy, &sink, &guest->handle);
  if (result == 0)
    guest->pid = read_pid (guest);
  return result;
}

bool
guest_create (struct host *host, struct guest *guest, const struct berth_spec *spec)
{
  struct host_call call;

  *guest = (struct guest){ 0 };
  host_call_start (host, &call);
  if (guest_create_in (host, guest, spec, &call) == 0)
    return true;
  fprintf (stderr, "create: %s (%s)\n", call.message, call.hint);
  CU_FAIL ("the sandbox was not made");
  return false;
}

void
guest_release (struct guest *guest)
{
  struct host_call call;

  host_call_start (guest->host, &call);
  if (guest->handle != NULL)
    guest->host->backend->lifecycle->release (&call.call, guest->handle);
  guest->handle = NULL;
}

static struct berth_native
native_of (const struct guest *guest)
{
  return (struct berth_native){ .struct_size = sizeof (struct berth_native), .id = guest->id };
}

uint32_t
guest_destroy (struct guest *guest)
{
  struct host_call call;
  struct berth_destroyed destroyed = { 0 };
  const struct berth_native native = native_of (guest);

  host_call_start (guest->host, &call);
  if (guest->host->backend->lifecycle->destroy (&call.call, guest->host->state, &native, &destroyed) < 0
      || destroyed.verdict != BERTH_GONE)
    fprintf (stderr, "destroy: %u %s\n", destroyed.verdict, call.message);
  return destroyed.verdict;
}

void
guest_end (struct guest *guest)
{
  guest_release (guest);
  CU_ASSERT_EQUAL (guest_destroy (guest), BERTH_GONE);
}

bool
guest_alone (struct host *host, struct guest *guest, const struct berth_spec *spec)
{
  const struct berth_spec ordinary = guest_spec ();

  if (!host_start (host))
    return false;
  if (guest_create (host, guest, spec != NULL ? spec : &ordinary))
    return true;
  host_stop (host);
  return false;
}

bool
guest_pausable (struct host *host, struct guest *guest)
{
  if (!guest_alone (host, guest, NULL))
    return false;
  if (guest->effective.capabilities & BERTH_CAP_PAUSE)
    return true;
  berth_test_skip ("this machine has no freezer");
  guest_alone_end (host, guest);
  return false;
}

void
guest_alone_end (struct host *host, struct guest *guest)
{
  guest_end (guest);
  host_stop (host);
}

bool
guest_is_present (struct guest *guest)
{
  struct host_call call;
  struct berth_presence presence = { 0 };
  const struct berth_native native = native_of (guest);

  host_call_start (guest->host, &call);
  CU_ASSERT_EQUAL (guest->host->backend->probe->probe (&call.call, guest->host->state, &native, &presence), 0);
  return presence.verdict != BERTH_ABSENT;
}

bool
guest_is_running (struct guest *guest)
{
  struct host_call call;
  const struct berth_native native = native_of (guest);

  host_call_start (guest->host, &call);
  return guest->host->backend->lifecycle->is_running (&call.call, guest->host->state, &native) == 1;
}

int
guest_pause (struct guest *guest, struct host_call *call)
{
  const struct berth_native native = native_of (guest);
  const struct berth_options options = { .struct_size = sizeof options };

  host_call_start (guest->host, call);
  return guest->host->backend->pause->pause (&call->call, guest->host->state, &native, &options);
}

int
guest_resume (struct guest *guest, struct host_call *call)
{
  const struct berth_native native = native_of (guest);

  host_call_start (guest->host, call);
  return guest->host->backend->pause->resume (&call->call, guest->host->state, &native);
}

int
guest_stop (struct guest *guest, struct host_call *call)
{
  const struct berth_native native = native_of (guest);
  const struct berth_options options = { .struct_size = sizeof options };

  host_call_start (guest->host, call);
  return guest->host->backend->restart->stop (&call->call, guest->host->state, &native, &options);
}

int
guest_start (struct guest *guest, struct host_call *call)
{
  const struct berth_native native = native_of (guest);
  const struct berth_effective_sink sink
      = { .struct_size = sizeof sink, .context = guest, .effective = sink_effective };

  host_call_start (guest->host, call);
  if (guest->host->backend->restart->start (&call->call, guest->host->state, &native) < 0)
    return -1;
  guest_release (guest);
  guest->pid = read_pid (guest);
  return guest->host->backend->lifecycle->connect (&call->call, guest->host->state, &native, &sink, &guest->handle);
}

static int
take_life (void *context, const struct berth_found *found)
{
  *(uint32_t *) context = found->life;
  return 0;
}

uint32_t
guest_life (struct guest *guest)
{
  struct host_call call;
  uint32_t life = 0;
  const struct berth_native native = native_of (guest);
  const struct berth_found_sink sink = { .struct_size = sizeof sink, .context = &life, .found = take_life };

  host_call_start (guest->host, &call);
  guest->host->backend->inventory->describe (&call.call, guest->host->state, &native, &sink);
  return life;
}

void
guest_kill_agent (struct guest *guest)
{
  if (guest->pid > 0)
    kill (guest->pid, SIGKILL);
  for (int i = 0; i < 500 && guest->pid > 0 && kill (guest->pid, 0) == 0; i++)
    berth_clock_sleep_ms (10);
}

struct result
{
  struct berth_buffer *streams[2];
  struct berth_exit exit;
  int exits;
};

static int
take_output (void *context, uint32_t stream, const void *bytes, size_t size)
{
  struct result *result = context;
  struct berth_buffer *to = stream == BERTH_STDOUT || stream == BERTH_STDERR ? result->streams[stream - 1] : NULL;

  return to != NULL ? berth_buffer_append (to, bytes, size) : 0;
}

static int
take_exit (void *context, const struct berth_exit *exit)
{
  struct result *result = context;

  result->exit = *exit;
  result->exits++;
  return 0;
}

int
guest_run (struct guest *guest, const char *user, const char *script, struct berth_buffer *out,
           struct berth_buffer *err, struct berth_exit *exit)
{
  const char *const arguments[] = { "/bin/sh", "-c", script, NULL };
  struct berth_run run = { .struct_size = sizeof run, .argument_count = 3, .arguments = arguments };
  struct result result = { .streams = { out, err } };
  const struct berth_run_sink sink
      = { .struct_size = sizeof sink, .context = &result, .output = take_output, .exit = take_exit };
  struct host_call call;

  if (user != NULL)
    {
      run.asks |= BERTH_RUN_USER;
      run.user = user;
    }
  host_call_start (guest->host, &call);
  if (guest->host->backend->commands->run (&call.call, guest->handle, &run, &sink) < 0)
    {
      fprintf (stderr, "run: %s\n", call.message);
      return -1;
    }
  if (exit != NULL)
    *exit = result.exit;
  return result.exit.reason == BERTH_EXITED ? result.exit.code : 128 + result.exit.signal;
}

const char *
guest_output (struct guest *guest, const char *script)
{
  static _Thread_local struct berth_buffer out;

  berth_buffer_clear (&out);
  /* What it says is judged by the caller; that it ran at all is judged here, since some expect nothing. */
  CU_ASSERT_NOT_EQUAL (guest_run (guest, NULL, script, &out, &out, NULL), -1);
  while (out.size > 0 && out.data[out.size - 1] == '\n')
    out.data[--out.size] = '\0';
  return berth_buffer_string (&out);
}

void
guest_expect (struct guest *guest, const char *script, const char *wanted)
{
  const char *got = guest_output (guest, script);

  if (strcmp (got, wanted) != 0)
    fprintf (stderr, "%s: \"%s\", not \"%s\"\n", script, got, wanted);
  CU_ASSERT_STRING_EQUAL (got, wanted);
}

static int64_t
read_file (void *context, void *bytes, size_t size)
{
  return read (*(int *) context, bytes, size);
}

bool
guest_write (struct guest *guest, const char *path, const char *host_file, uint32_t mode)
{
  BERTH_AUTO_FD int fd = open (host_file, O_RDONLY | O_CLOEXEC);
  const struct berth_change change = { .struct_size = sizeof change,
                                       .asks = BERTH_CHANGE_MODE | BERTH_CHANGE_PARENTS,
                                       .mode = mode,
                                       .beneath = "/workspace" };
  const struct berth_source source
      = { .struct_size = sizeof source, .context = &fd, .size = BERTH_UNKNOWN_SIZE, .read = read_file };
  struct host_call call;

  host_call_start (guest->host, &call);
  return fd >= 0 && guest->host->backend->files->write (&call.call, guest->handle, path, &change, &source) == 0;
}

/* ---- the machine ---- */

static void
list_cgroups (const char *prefix, struct berth_buffer *out)
{
  BERTH_AUTO_DIR DIR *top = opendir ("/sys/fs/cgroup");

  for (struct dirent *entry; top != NULL && (entry = readdir (top)) != NULL;)
    {
      BERTH_AUTO_FREE char *path = berth_string_format ("/sys/fs/cgroup/%s/berth", entry->d_name);
      BERTH_AUTO_DIR DIR *berth = opendir (path);
      for (struct dirent *box; berth != NULL && (box = readdir (berth)) != NULL;)
        if (berth_string_starts_with (box->d_name, prefix))
          berth_buffer_appendf (out, "cgroup %s/%s\n", path, box->d_name);
    }
}

/* Nothing that lives is in a cgroup that was removed: cgroup v2 goes on telling it of what is dead
 * and not reaped by the machine's first process yet. */
static bool
is_inside (const char *cgroups, const char *needle)
{
  for (const char *at = cgroups; (at = strstr (at, needle)) != NULL; at++)
    {
      const char *end = strchrnul (at, '\n');
      if (strncmp (end - strlen (" (deleted)"), " (deleted)", strlen (" (deleted)")) != 0)
        return true;
    }
  return false;
}

/* Agents are the children of others: they are found by their cgroups. */
static void
list_agents (const char *prefix, struct berth_buffer *out)
{
  BERTH_AUTO_FREE char *needle = berth_string_format ("/berth/%s", prefix);
  BERTH_AUTO_DIR DIR *proc = opendir ("/proc");

  for (struct dirent *entry; proc != NULL && (entry = readdir (proc)) != NULL;)
    {
      BERTH_AUTO_FREE char *path = berth_string_format ("/proc/%s/cgroup", entry->d_name);
      BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
      if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && berth_fs_read (AT_FDCWD, path, &text, 65536) == 0
          && is_inside (berth_buffer_string (&text), needle))
        berth_buffer_appendf (out, "process %s of %s\n", entry->d_name, prefix);
    }
}

int
machine_loops (const struct host *host)
{
  glob_t found;
  int count = 0;

  if (glob ("/sys/block/loop*/loop/backing_file", 0, NULL, &found) == 0)
    for (size_t i = 0; i < found.gl_pathc; i++)
      {
        BERTH_AUTO_BUFFER struct berth_buffer file = { 0 };
        if (berth_fs_read (AT_FDCWD, found.gl_pathv[i], &file, 8192) == 0
            && strstr (berth_buffer_string (&file), host->top) != NULL)
          count++;
      }
  globfree (&found);
  return count;
}

void
machine_state (const char *prefix, struct berth_buffer *out)
{
  berth_buffer_clear (out);
  list_cgroups (prefix, out);
  list_agents (prefix, out);
  BERTH_AUTO_BUFFER struct berth_buffer mounts = { 0 };
  if (berth_fs_read (AT_FDCWD, "/proc/self/mountinfo", &mounts, 1u << 24) == 0)
    berth_buffer_append (out, mounts.data, mounts.size);
}

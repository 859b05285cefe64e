#include "plugins/fake/tests/host.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "sdk/base/clock.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"

/* --- services -------------------------------------------------------------------------------------------- */

static int
service_vfail (struct berth_call *call, uint32_t code, const char *format, va_list arguments)
{
  struct call *mine = (struct call *) call;

  mine->code = code;
  vsnprintf (mine->message, sizeof mine->message, format, arguments);
  return -1;
}

static int
service_fail (struct berth_call *call, uint32_t code, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  service_vfail (call, code, format, arguments);
  va_end (arguments);
  return -1;
}

static int
service_refuse (struct berth_call *call, uint32_t which, uint64_t bits)
{
  ((struct call *) call)->refused = bits;
  return service_fail (call, BERTH_E_CAPABILITY_NOT_SUPPORTED, "cannot honour %llx of %u", (unsigned long long) bits,
                       which);
}

static void
service_hint (struct berth_call *call, const char *format, ...)
{
}

static void
service_upstream (struct berth_call *call, const char *code, int32_t status)
{
}

static void
service_retry_after (struct berth_call *call, int64_t milliseconds)
{
}

static uint32_t
service_failed (const struct berth_call *call)
{
  return ((const struct call *) call)->code;
}

static void
service_forgive (struct berth_call *call)
{
  ((struct call *) call)->code = 0;
}

static uint32_t
service_cancelled (struct berth_call *call)
{
  struct call *mine = (struct call *) call;

  if (atomic_load (&mine->cancelled))
    return BERTH_E_CANCELLED;
  return mine->deadline_ms != 0 && berth_clock_monotonic_ms () >= mine->deadline_ms ? BERTH_E_TIMEOUT : 0;
}

static int
service_cancel_fd (struct berth_call *call)
{
  return -1;
}

static int64_t
service_deadline (const struct berth_call *call)
{
  return BERTH_NO_DEADLINE;
}

static struct berth_call *
service_shield (struct berth_call *call, int64_t grace_ms)
{
  struct call *shielded = calloc (1, sizeof *shielded);

  if (shielded == NULL)
    abort ();
  shielded->call = *call;
  return &shielded->call;
}

static void
service_unshield (struct berth_call *shielded)
{
  free (shielded);
}

static void
service_log (struct berth_instance *instance, uint32_t level, const char *format, ...)
{
}

static void
service_progress (struct berth_call *call, const char *phase, uint64_t done, uint64_t total)
{
}

static void
service_redact (struct berth_instance *instance, const void *bytes, size_t size)
{
}

static const char *
service_instance_name (struct berth_instance *instance)
{
  return "fake";
}

static const char *
service_setting (struct berth_instance *instance, const char *name)
{
  for (size_t i = 0; instance->settings[i][0] != NULL; i++)
    if (strcmp (instance->settings[i][0], name) == 0)
      return instance->settings[i][1];
  return NULL;
}

static int64_t
service_setting_number (struct berth_instance *instance, const char *name)
{
  const char *text = service_setting (instance, name);

  return text != NULL ? strtoll (text, NULL, 10) : 0;
}

static const char *
service_directory (struct berth_instance *instance, uint32_t which)
{
  return instance->directory;
}

static const char *
service_installation_id (struct berth_instance *instance)
{
  return "test";
}

static const char *
service_agent_path (struct berth_instance *instance, const char *machine)
{
  return NULL;
}

static const struct berth_services services = {
  .abi = { BERTH_ABI_MAGIC, sizeof services, BERTH_ABI_MAJOR, BERTH_ABI_MINOR, 0 },
  .fail = service_fail,
  .vfail = service_vfail,
  .refuse = service_refuse,
  .hint = service_hint,
  .upstream = service_upstream,
  .retry_after = service_retry_after,
  .failed = service_failed,
  .forgive = service_forgive,
  .cancelled = service_cancelled,
  .cancel_fd = service_cancel_fd,
  .deadline = service_deadline,
  .shield = service_shield,
  .unshield = service_unshield,
  .log = service_log,
  .progress = service_progress,
  .redact = service_redact,
  .instance_name = service_instance_name,
  .setting = service_setting,
  .setting_number = service_setting_number,
  .directory = service_directory,
  .installation_id = service_installation_id,
  .agent_path = service_agent_path,
};

/* --- the host ------------------------------------------------------------------------------------------ */

void
call_begin (struct call *call, struct host *host)
{
  *call = (struct call) { .call = { sizeof call->call, 0, &services, &host->instance } };
}

struct berth_call *
host_call (struct host *host)
{
  call_begin (&host->call, host);
  return &host->call.call;
}

static const struct berth_backend *
load (void)
{
  const char *top = getenv ("BERTH_TEST_BUILDDIR");
  BERTH_AUTO_FREE char *path
      = berth_string_format ("%s/plugins/fake/.libs/berth-backend-fake.so", top != NULL ? top : ".");
  void *module = path != NULL ? dlopen (path, RTLD_NOW | RTLD_LOCAL) : NULL;
  void *symbol = module != NULL ? dlsym (module, BERTH_BACKEND_SYMBOL) : NULL;
  berth_backend_function *entry;

  if (symbol == NULL)
    {
      printf ("cannot load %s: %s\n", path, dlerror ());
      abort ();
    }
  memcpy (&entry, &symbol, sizeof entry);
  return entry (&services);
}

void
host_begin (struct host *host, const char *const *settings)
{
  const char *tmp = getenv ("TMPDIR");

  *host = (struct host) { .backend = load () };
  snprintf (host->instance.directory, sizeof host->instance.directory, "%s/berth-test-XXXXXX",
            tmp != NULL && strlen (tmp) < 40 ? tmp : "/tmp");
  if (mkdtemp (host->instance.directory) == NULL)
    abort ();
  for (size_t i = 0; settings != NULL && settings[i] != NULL && i < 30; i++)
    host->instance.settings[i / 2][i % 2] = settings[i];
  if (host->backend->lifecycle->open (host_call (host), &host->state) != 0)
    {
      printf ("  cannot open: %s\n", host->call.message);
      abort ();
    }
}

void
host_reopen (struct host *host)
{
  host->backend->lifecycle->close (host_call (host), host->state);
  if (host->backend->lifecycle->open (host_call (host), &host->state) != 0)
    abort ();
}

void
host_end (struct host *host)
{
  host->backend->lifecycle->close (host_call (host), host->state);
  CU_ASSERT_EQUAL (berth_fs_remove_tree (AT_FDCWD, host->instance.directory), 0);
}

void
host_write (struct host *host, const char *name, const char *text)
{
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/%s", host->instance.directory, name);

  if (text == NULL)
    unlink (path);
  else if (berth_fs_replace (AT_FDCWD, path, text, strlen (text), 0600) < 0)
    abort ();
}

int
host_entries (struct host *host, const char *folder)
{
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/%s", host->instance.directory, folder);
  BERTH_AUTO_DIR DIR *dir = opendir (path);
  struct dirent *entry;
  int count = 0;

  while (dir != NULL && (entry = readdir (dir)) != NULL)
    count += entry->d_name[0] != '.';
  return dir != NULL ? count : -1;
}

/* --- specifications and what is made of them -------------------------------------------------------- */

struct berth_spec
spec_of (const char *name)
{
  return (struct berth_spec) { .struct_size = sizeof (struct berth_spec),
                               .sandbox_id = name,
                               .assignment_id = name,
                               .installation_id = "test",
                               .native_hint = name,
                               .generation = 1 };
}

struct berth_native
native_of (const char *id)
{
  return (struct berth_native) { .struct_size = sizeof (struct berth_native), .id = id };
}

static int
take_created (void *context, const struct berth_native *native)
{
  struct made *made = context;

  made->told++;
  snprintf (made->id, sizeof made->id, "%s", native->id);
  snprintf (made->private_data, sizeof made->private_data, "%.*s", (int) native->private_size,
            native->private_size > 0 ? (const char *) native->private_data : "");
  return 0;
}

static int
take_effective (void *context, const struct berth_effective *effective)
{
  struct made *made = context;

  made->effective_told++;
  made->effective = *effective;
  return 0;
}

struct berth_create_sink
made_sink (struct made *made)
{
  return (struct berth_create_sink) { sizeof (struct berth_create_sink), 0, made, take_created, take_effective };
}

struct berth_effective_sink
effective_sink (struct made *made)
{
  return (struct berth_effective_sink) { sizeof (struct berth_effective_sink), 0, made, take_effective };
}

struct berth_handle *
host_create (struct host *host, const char *name)
{
  struct berth_spec spec = spec_of (name);
  struct made made = { "", "", 0, 0, { 0 } };
  struct berth_create_sink sink = made_sink (&made);
  struct berth_handle *handle = NULL;

  if (host->backend->lifecycle->create (host_call (host), host->state, &spec, &sink, &handle) != 0)
    printf ("  cannot create %s: %u %s\n", name, host->call.code, host->call.message);
  CU_ASSERT_PTR_NOT_NULL_FATAL (handle);
  return handle;
}

void
host_release (struct host *host, struct berth_handle *handle)
{
  host->backend->lifecycle->release (host_call (host), handle);
}

uint32_t
host_destroy (struct host *host, const char *id)
{
  struct berth_native native = native_of (id);
  struct berth_destroyed destroyed = { 0 };

  if (host->backend->lifecycle->destroy (host_call (host), host->state, &native, &destroyed) != 0)
    return UINT32_MAX;
  return destroyed.verdict;
}

/* --- commands ---------------------------------------------------------------------------------------------- */

static int
take_output (void *context, uint32_t stream, const void *bytes, size_t size)
{
  struct ran *ran = context;

  return berth_buffer_append (stream == BERTH_STDERR ? &ran->err : &ran->out, bytes, size);
}

static int
take_exit (void *context, const struct berth_exit *end)
{
  struct ran *ran = context;

  ran->exit = *end;
  ran->exits++;
  return 0;
}

struct berth_run_sink
ran_sink (struct ran *ran)
{
  return (struct berth_run_sink) { sizeof (struct berth_run_sink), 0, ran, take_output, take_exit };
}

void
ran_clear (struct ran *ran)
{
  berth_buffer_free (&ran->out);
  berth_buffer_free (&ran->err);
  *ran = (struct ran) { { 0 }, { 0 }, { 0 }, 0 };
}

int
host_run (struct host *host, struct berth_handle *handle, struct ran *ran, const char *const *arguments)
{
  struct berth_run run = { .struct_size = sizeof run, .arguments = arguments };
  struct berth_run_sink sink = ran_sink (ran);

  ran_clear (ran);
  while (arguments[run.argument_count] != NULL)
    run.argument_count++;
  return host->backend->commands->run (host_call (host), handle, &run, &sink);
}

int
host_shell (struct host *host, struct berth_handle *handle, struct ran *ran, const char *line)
{
  const char *const arguments[] = { "sh", "-c", line, NULL };

  return host_run (host, handle, ran, arguments);
}

/* --- collecting --------------------------------------------------------------------------------------------- */

static int
take_found (void *context, const struct berth_found *found)
{
  return berth_buffer_appendf (context, "%s:%u%s ", found->native_id, found->life,
                               (found->has & BERTH_FOUND_PARTIAL) != 0 ? "?" : "");
}

static int
take_cursor (void *context, const char *next)
{
  return berth_buffer_appendf (context, "-> %s", next);
}

struct berth_found_sink
found_sink (struct berth_buffer *list)
{
  return (struct berth_found_sink) { sizeof (struct berth_found_sink), 0, list, take_found, take_cursor };
}

static int
take_text (void *context, const char *text)
{
  return berth_buffer_appendf (context, "%s ", text);
}

struct berth_text_sink
text_sink (struct berth_buffer *list)
{
  return (struct berth_text_sink) { sizeof (struct berth_text_sink), 0, list, take_text };
}

static int
take_info (void *context, const struct berth_file_info *info)
{
  return 0;
}

static int
take_data (void *context, const void *bytes, size_t size)
{
  return berth_buffer_append (context, bytes, size);
}

struct berth_read_sink
read_sink (struct berth_buffer *content)
{
  return (struct berth_read_sink) { sizeof (struct berth_read_sink), 0, content, take_info, take_data };
}

static int
take_entry (void *context, const struct berth_file_info *info)
{
  return berth_buffer_appendf (context, "%s %u %llu %o %s\n", info->name, info->kind, (unsigned long long) info->size,
                               info->mode, info->owner != NULL ? info->owner : "?");
}

struct berth_entry_sink
entry_sink (struct berth_buffer *list)
{
  return (struct berth_entry_sink) { sizeof (struct berth_entry_sink), 0, list, take_entry };
}

static int64_t
give_bytes (void *context, void *to, size_t size)
{
  struct bytes *bytes = context;
  size_t left = bytes->size - bytes->at;

  if (size > left)
    size = left;
  memcpy (to, bytes->data + bytes->at, size);
  bytes->at += size;
  return (int64_t) size;
}

struct berth_source
bytes_source (struct bytes *bytes)
{
  return (struct berth_source) { sizeof (struct berth_source), 0, bytes, bytes->size, give_bytes };
}

int
host_write_file (struct host *host, struct berth_handle *handle, const char *path, const char *text)
{
  struct bytes bytes = { text, strlen (text), 0 };
  struct berth_source source = bytes_source (&bytes);
  struct berth_change how = { .struct_size = sizeof how, .asks = BERTH_CHANGE_PARENTS, .beneath = "/workspace" };

  return host->backend->files->write (host_call (host), handle, path, &how, &source);
}

int
host_read_file (struct host *host, struct berth_handle *handle, const char *path, struct berth_buffer *content)
{
  struct berth_read how = { .struct_size = sizeof how, .max_bytes = 1 << 20 };
  struct berth_read_sink sink = read_sink (content);

  berth_buffer_clear (content);
  return host->backend->files->read (host_call (host), handle, path, &how, &sink);
}

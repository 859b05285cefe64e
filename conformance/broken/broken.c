/* A backend that is sound but for one thing: BROKEN_<variant> says which.  Built once per variant, as
 * berth-backend-<variant>.so; BROKEN_NAME is that variant as a text.  `good` has nothing wrong. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <berth/backend.h>

/* ---- what a variant may change ---- */

#if defined BROKEN_magic
#define MAGIC 0x12345678
#elif defined BROKEN_major
#define MAJOR 7
#elif defined BROKEN_size_small
#define SIZE 64
#elif defined BROKEN_size_large
#define SIZE (BERTH_ABI_SIZE_MAX + 8)
#elif defined BROKEN_size_odd
#define SIZE (sizeof (struct berth_backend) - 1)
#elif defined BROKEN_older
#define SIZE (offsetof (struct berth_backend, workspace) + sizeof (void *))
#elif defined BROKEN_name_bad
#define NAME "Name Bad"
#elif defined BROKEN_name_other
#define NAME "another"
#elif defined BROKEN_version_empty
#define VERSION ""
#elif defined BROKEN_summary_null
#define SUMMARY NULL
#elif defined BROKEN_group_missing
#define FILES NULL
#elif defined BROKEN_group_size
#define FILES_SIZE 5
#elif defined BROKEN_function_open
#define OPEN NULL
#elif defined BROKEN_function_run
#define RUN NULL
#elif defined BROKEN_function_stat
#define STAT NULL
#elif defined BROKEN_function_import
#define IMPORT NULL
#elif defined BROKEN_half_declared
#define CAPABILITIES (BERTH_CAP_PROBE | BERTH_CAP_INVENTORY)
#define INVENTORY &half_inventory
#elif defined BROKEN_needs
#define CAPABILITIES (BERTH_CAP_NETWORK_UPDATE)
#define NETWORK_UPDATE &network_update
#elif defined BROKEN_unknown_bit
#define CAPABILITIES BERTH_CAP (57)
#elif defined BROKEN_newer_minor
#define CAPABILITIES BERTH_CAP (57)
#define MINOR (BERTH_ABI_MINOR + 1)
#define FLAGS (UINT64_C (1) << 40)
#elif defined BROKEN_needs_host
#define NEEDS_HOST (BERTH_ABI_MINOR + 3)
#elif defined BROKEN_reserved_bit
#define CAPABILITIES BERTH_CAP_LSP
#elif defined BROKEN_unknown_flag
#define FLAGS (UINT64_C (1) << 40)
#elif defined BROKEN_undeclared
#define INVENTORY &half_inventory
#elif defined BROKEN_tier_evidence
#define CLAIMS { { "always", NULL, "2026-05-20", BERTH_TIER_MICROVM, 0 } }
#elif defined BROKEN_tier_unknown
#define CLAIMS { { "always", NULL, NULL, 17, 0 } }
#elif defined BROKEN_tier_date
#define CLAIMS { { "always", "https://example.org/evidence", "2026-02-30", BERTH_TIER_GVISOR, 0 } }
#elif defined BROKEN_setting_twice
#define SETTINGS { { "socket", "BERTH_SETTING_TWICE_SOCKET", NULL, "where", NULL, BERTH_SETTING_PATH, 0 }, \
                   { "socket", "BERTH_SETTING_TWICE_OTHER", NULL, "where", NULL, BERTH_SETTING_PATH, 0 } }
#elif defined BROKEN_setting_type
#define SETTINGS { { "socket", NULL, NULL, "where", NULL, 99, 0 } }
#elif defined BROKEN_setting_default
#define SETTINGS { { "wait", NULL, "soon", "how long", NULL, BERTH_SETTING_DURATION, 0 } }
#elif defined BROKEN_setting_variable
#define SETTINGS { { "socket", "DOCKER_HOST", NULL, "where", NULL, BERTH_SETTING_TEXT, 0 } }
#elif defined BROKEN_setting_of_host
#define SETTINGS { { "path", "BERTH_BACKEND_PATH", NULL, "where", NULL, BERTH_SETTING_TEXT, 0 } }
#elif defined BROKEN_setting_stride
#define SETTINGS_ARRAY { settings, 1, 4 }
#define SETTINGS { { "socket", NULL, NULL, "where", NULL, BERTH_SETTING_TEXT, 0 } }
#elif defined BROKEN_concurrency
#define CONCURRENCY 0
#elif defined BROKEN_not_parallel
#define CAPABILITIES BERTH_CAP_FILE_WATCH
#define WATCH &watch
#define CONCURRENCY BERTH_ONE_AT_A_TIME
#elif defined BROKEN_several
#define NAME "Two"
#define VERSION ""
#define CONCURRENCY 9
#elif defined BROKEN_curl
#define FLAGS BERTH_BACKEND_USES_LIBCURL
#elif defined BROKEN_nothing
#define FLAGS BERTH_BACKEND_EXECUTES_NOTHING
#elif defined BROKEN_settings
#define SETTINGS { { "engine", "BERTH_SETTINGS_ENGINE", NULL, "which engine", "red|blue", BERTH_SETTING_CHOICE, \
                     BERTH_SETTING_REQUIRED }, \
                   { "wait", "BERTH_SETTINGS_WAIT", "90s", "how long", NULL, BERTH_SETTING_DURATION, 0 }, \
                   { "token", "BERTH_SETTINGS_TOKEN", NULL, "the key", NULL, BERTH_SETTING_TEXT, BERTH_SETTING_SECRET }, \
                   { "host", "SETTINGS_HOST", NULL, "the engine", NULL, BERTH_SETTING_URL, BERTH_SETTING_FOREIGN } }
#elif defined BROKEN_one_at_a_time
#define CONCURRENCY BERTH_ONE_AT_A_TIME
#elif defined BROKEN_one_per_sandbox
#define CONCURRENCY BERTH_ONE_PER_SANDBOX
#endif

#ifndef MAGIC
#define MAGIC BERTH_ABI_MAGIC
#endif
#ifndef MAJOR
#define MAJOR BERTH_ABI_MAJOR
#endif
#ifndef MINOR
#define MINOR BERTH_ABI_MINOR
#endif
#ifndef SIZE
#define SIZE sizeof (struct berth_backend)
#endif
#ifndef NAME
#define NAME BROKEN_NAME
#endif
#ifndef VERSION
#define VERSION "1.0"
#endif
#ifndef SUMMARY
#define SUMMARY "for tests of the registry"
#endif
#ifndef CAPABILITIES
#define CAPABILITIES 0
#endif
#ifndef FLAGS
#define FLAGS 0
#endif
#ifndef NEEDS_HOST
#define NEEDS_HOST 0
#endif
#ifndef CONCURRENCY
#define CONCURRENCY BERTH_PARALLEL
#endif
#ifndef OPEN
#define OPEN open_state
#endif
#ifndef RUN
#define RUN run
#endif
#ifndef STAT
#define STAT look
#endif
#ifndef IMPORT
#define IMPORT import_tar
#endif
#ifndef FILES
#define FILES &files
#endif
#ifndef FILES_SIZE
#define FILES_SIZE sizeof (struct berth_files_ops)
#endif
#ifndef INVENTORY
#define INVENTORY NULL
#endif
#ifndef NETWORK_UPDATE
#define NETWORK_UPDATE NULL
#endif
#ifndef WATCH
#define WATCH NULL
#endif

/* ---- a backend that can be opened and does nothing ---- */

struct berth_state
{
  int opened;
};

#if defined BROKEN_undefined || defined BROKEN_lazy
int berth_test_symbol_that_nobody_has (void);
#endif
#if defined BROKEN_dependency || defined BROKEN_core
int berth_test_stub (void);
#endif

static int
say_no (struct berth_call *call)
{
#if defined BROKEN_undefined || defined BROKEN_lazy
  return berth_test_symbol_that_nobody_has ();
#elif defined BROKEN_dependency || defined BROKEN_core
  return berth_test_stub ();
#else
  return call->services->fail (call, BERTH_E_CAPABILITY_NOT_SUPPORTED, "this backend makes nothing");
#endif
}

#ifdef BROKEN_clings
/* D-156: leaves something behind in the process that points back here. */
static void
be_called (void)
{
}

static void
destroy_value (void *value)
{
}

static void
leave_pointers (void)
{
  pthread_key_t key;

  if (pthread_key_create (&key, destroy_value) == 0)
    pthread_setspecific (key, NAME);
  pthread_atfork (be_called, be_called, be_called);
  atexit (be_called);
}
#endif

/* Only some variants leave it out. */
__attribute__ ((unused)) static int
open_state (struct berth_call *call, struct berth_state **out)
{
#if defined BROKEN_open_fails
  return call->services->fail (call, BERTH_E_CONFIGURATION, "the engine is not there");
#elif defined BROKEN_open_silent
  return -1;
#elif defined BROKEN_open_nothing
  *out = NULL;
  return 0;
#elif defined BROKEN_open_talks
  /* D-160: whatever a host gives may be used from the first function on. */
  call->services->log (call->instance, BERTH_LOG_INFO, "opening %s", call->services->instance_name (call->instance));
  if (call->services->directory (call->instance, BERTH_DIRECTORY_STATE) == NULL)
    return call->services->fail (call, BERTH_E_INTERNAL, "no state directory");
#endif
#ifdef BROKEN_clings
  leave_pointers ();
#endif
  *out = calloc (1, sizeof **out);
  return *out != NULL ? 0 : call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "no memory");
}

static void
close_state (struct berth_call *call, struct berth_state *state)
{
  free (state);
}

static int
ping (struct berth_call *call, struct berth_state *state, const struct berth_text_sink *facts)
{
  return facts->text (facts->context, NAME);
}

static int
validate (struct berth_call *call, struct berth_state *state, const struct berth_spec *spec,
          const struct berth_effective_sink *sink)
{
  return say_no (call);
}

static int
create (struct berth_call *call, struct berth_state *state, const struct berth_spec *spec,
        const struct berth_create_sink *sink, struct berth_handle **out)
{
  return say_no (call);
}

static int
connect_to (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
            const struct berth_effective_sink *sink, struct berth_handle **out)
{
  return call->services->fail (call, BERTH_E_SANDBOX_NOT_FOUND, "no sandbox %s", native->id);
}

static void
release (struct berth_call *call, struct berth_handle *handle)
{
}

static int
destroy (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
         struct berth_destroyed *out)
{
  out->verdict = BERTH_GONE;
  return 0;
}

static int
list_ids (struct berth_call *call, struct berth_state *state, const struct berth_found_sink *sink)
{
  return 0;
}

static int
is_running (struct berth_call *call, struct berth_state *state, const struct berth_native *native)
{
  return 0;
}

static const struct berth_lifecycle_ops lifecycle = {
  .struct_size = sizeof lifecycle,
  .open = OPEN,
  .close = close_state,
  .ping = ping,
  .validate = validate,
  .create = create,
  .connect = connect_to,
  .release = release,
  .destroy = destroy,
  .list_ids = list_ids,
  .is_running = is_running,
};

__attribute__ ((unused)) static int
run (struct berth_call *call, struct berth_handle *handle, const struct berth_run *how, const struct berth_run_sink *sink)
{
  return say_no (call);
}

static const struct berth_commands_ops commands = { .struct_size = sizeof commands, .run = RUN };

static int
read_file (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_read *how,
           const struct berth_read_sink *sink)
{
  return say_no (call);
}

static int
write_file (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_change *how,
            const struct berth_source *source)
{
  return say_no (call);
}

__attribute__ ((unused)) static int
look (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_read *how,
      const struct berth_entry_sink *sink)
{
  return say_no (call);
}

static int
list (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_read *how,
      const struct berth_entry_sink *sink)
{
  return say_no (call);
}

static int
change (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_change *how)
{
  return say_no (call);
}

static int
move (struct berth_call *call, struct berth_handle *handle, const char *from, const char *to,
      const struct berth_change *how)
{
  return say_no (call);
}

__attribute__ ((unused)) static const struct berth_files_ops files = {
  .struct_size = FILES_SIZE,
  .read = read_file,
  .write = write_file,
  .list = list,
  .stat = STAT,
  .make_directory = change,
  .move = move,
  .remove = change,
  .set_attributes = change,
};

static int
export_tar (struct berth_call *call, struct berth_handle *handle, const struct berth_tar_limits *limits,
            const struct berth_tar_sink *sink)
{
  return say_no (call);
}

__attribute__ ((unused)) static int
import_tar (struct berth_call *call, struct berth_handle *handle, const struct berth_tar_limits *limits,
            const struct berth_source *source)
{
  return say_no (call);
}

static const struct berth_workspace_ops workspace
    = { .struct_size = sizeof workspace, .export_tar = export_tar, .import_tar = IMPORT };

static int
list_page (struct berth_call *call, struct berth_state *state, const char *cursor, uint32_t limit,
           const struct berth_found_sink *sink)
{
  return 0;
}

__attribute__ ((unused)) static const struct berth_inventory_ops half_inventory
    = { .struct_size = sizeof half_inventory, .list_page = list_page };

static int
update_policy (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
               const struct berth_policy *policy)
{
  return say_no (call);
}

__attribute__ ((unused)) static const struct berth_network_update_ops network_update
    = { .struct_size = sizeof network_update, .update_policy = update_policy };

static int
watch_path (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_options *options,
            const struct berth_watch_sink *sink)
{
  return say_no (call);
}

__attribute__ ((unused)) static const struct berth_watch_ops watch = { .struct_size = sizeof watch, .watch = watch_path };

#ifdef CLAIMS
static const struct berth_claim claims[] = CLAIMS;
#endif
#ifdef SETTINGS
static const struct berth_setting settings[] = SETTINGS;
#ifndef SETTINGS_ARRAY
#define SETTINGS_ARRAY BERTH_ARRAY (settings)
#endif
#endif

/* A backend of a later minor has a longer table. */
struct longer
{
  struct berth_backend backend;
#ifdef BROKEN_newer_minor
  const void *groups_of_later[4];
#endif
};

#ifdef BROKEN_newer_minor
#undef SIZE
#define SIZE sizeof (struct longer)
#endif

static const struct longer table = {
  .backend = {
    .abi = { MAGIC, (uint32_t) SIZE, MAJOR, MINOR, 0 },
    .name = NAME,
    .version = VERSION,
    .summary = SUMMARY,
    .capabilities = CAPABILITIES,
    .flags = FLAGS,
    .concurrency = CONCURRENCY,
    .needs_host_minor = NEEDS_HOST,
#ifdef CLAIMS
    .claims = BERTH_ARRAY (claims),
#endif
#ifdef SETTINGS
    .settings = SETTINGS_ARRAY,
#endif
    .lifecycle = &lifecycle,
    .commands = &commands,
    .files = FILES,
    .workspace = &workspace,
    .inventory = INVENTORY,
    .network_update = NETWORK_UPDATE,
    .watch = WATCH,
  },
};

/* ---- what it shows ---- */

/* D-154: what a loader runs before anybody asked.  It leaves a trace in the file that is named. */
#if defined BROKEN_constructor || defined BROKEN_constructor_major
__attribute__ ((constructor)) static void
leave_trace (void)
{
  const char *path = getenv ("BERTH_TEST_TRACE");
  FILE *file = path != NULL ? fopen (path, "ae") : NULL;

  if (file != NULL)
    fclose (file);
}
#endif

#ifdef BROKEN_restless
/* S11: everything of the process that is not a backend's to change. */
static void *
linger (void *nothing)
{
  pause ();
  return nothing;
}

static void
disturb (void)
{
  pthread_t thread;

  umask (0);
  setenv ("BERTH_TEST_RESTLESS", "1", 1);
  signal (SIGUSR1, SIG_IGN);
  if (chdir ("/") == 0 && open ("/dev/null", O_RDONLY | O_CLOEXEC) >= 0)
    pthread_create (&thread, NULL, linger, NULL);
}
#endif

#ifdef BROKEN_exports
/* A name that the process has already: with a local load nobody else sees this one. */
BERTH_EXPORT void *malloc (size_t size);
BERTH_EXPORT void *
malloc (size_t size)
{
  abort ();
}
#endif

#ifdef BROKEN_ltx
BERTH_EXPORT const struct berth_backend *berth_backend_ltx_LTX_berth_backend_v1 (const struct berth_services *services);
BERTH_EXPORT const struct berth_backend *
berth_backend_ltx_LTX_berth_backend_v1 (const struct berth_services *services)
{
  return NULL;
}
#endif

#if defined BROKEN_no_symbol
BERTH_EXPORT int berth_test_marker (void);
BERTH_EXPORT int
berth_test_marker (void)
{
  return table.backend.abi.struct_size != 0;
}
#elif defined BROKEN_other_major || defined BROKEN_constructor_major
BERTH_EXPORT const struct berth_backend *berth_backend_v2 (const struct berth_services *services);
BERTH_EXPORT const struct berth_backend *
berth_backend_v2 (const struct berth_services *services)
{
  return &table.backend;
}
#elif defined BROKEN_data
BERTH_EXPORT extern const struct berth_backend *const not_a_function __asm__ (BERTH_BACKEND_SYMBOL);
const struct berth_backend *const not_a_function = &table.backend;
#else
const struct berth_backend *
berth_backend_v1 (const struct berth_services *services)
{
#if defined BROKEN_entry_null
  return services == NULL ? &table.backend : NULL;
#elif defined BROKEN_flips
  static struct longer tables[2];
  static unsigned int calls;

  return memcpy (&tables[calls++ % 2], &table, sizeof table);
#elif defined BROKEN_restless
  disturb ();
  return &table.backend;
#else
  return &table.backend;
#endif
}
#endif

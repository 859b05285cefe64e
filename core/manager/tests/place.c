#include "core/manager/tests/place.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/manager/info.h"
#include "core/manager/sweep.h"
#include "sdk/base/clock.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"

void
place_make (struct place *place, const char *backend)
{
  *place = (struct place) { .backend = backend };
  /* short, since sockets are made below it */
  snprintf (place->directory, sizeof place->directory, "%s/XXXXXX", getenv ("TMPDIR"));
  CU_ASSERT_PTR_NOT_NULL_FATAL (mkdtemp (place->directory));
  snprintf (place->state, sizeof place->state, "%s/state", place->directory);
  snprintf (place->runtime, sizeof place->runtime, "%s/run", place->directory);
}

void
place_leave (struct place *place)
{
  berth_host_close (place->host);
  if (berth_fs_remove_tree (AT_FDCWD, place->directory) != 0)
    fprintf (stderr, "%s is left: %s\n", place->directory, strerror (errno));
}

static void
print_line (void *context, uint32_t level, const char *line)
{
  (void) context;
  if (level <= BERTH_LOG_WARNING && getenv ("BERTH_TEST_VERBOSE") != NULL)
    fprintf (stderr, "     log: %s\n", line);
}

struct berth_host *
place_host (const struct place *place, const char *owner, struct berth_error *error)
{
  struct berth_host_options options = BERTH_HOST_OPTIONS_INIT;
  BERTH_AUTO_FREE char *config = berth_string_format ("%s/berth.conf", place->directory);
  BERTH_AUTO_FREE char *text
      = berth_string_format ("[berth]\nbackend = %s\n%s", place->backend != NULL ? place->backend : "fake",
                             place->config != NULL ? place->config : "");
  struct berth_host *host = NULL;

  place_write (place, "berth.conf", text);
  options.flags = BERTH_HOST_ALLOW_TEST_BACKENDS;
  options.state_dir = place->state;
  options.runtime_dir = place->runtime;
  options.config_file = config;
  options.owner = owner;
  options.log = print_line;
  berth_host_open (&options, &host, error);
  return host;
}

void
place_open (struct place *place)
{
  struct berth_error error = { 0 };

  place->host = place_host (place, "me", &error);
  if (place->host == NULL)
    fprintf (stderr, "%s\n", error.message);
  CU_ASSERT_PTR_NOT_NULL_FATAL (place->host);
}

void
place_reopen (struct place *place)
{
  berth_host_close (BERTH_STEAL_POINTER (place->host));
  place_open (place);
}

void
place_become_another (struct place *place)
{
  static const char *const names[] = { "berth.db", "berth.db-wal", "berth.db-shm", "installation" };

  berth_host_close (BERTH_STEAL_POINTER (place->host));
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    {
      BERTH_AUTO_FREE char *path = berth_string_format ("%s/%s", place->state, names[i]);
      unlink (path);
    }
  place_open (place);
}

struct berth_host *
place_own_host (const struct place *place)
{
  struct berth_error error = { 0 };
  struct berth_host *host = place_host (place, "me", &error);

  if (host == NULL)
    {
      fprintf (stderr, "%s\n", error.message);
      _exit (9);
    }
  return host;
}

/* What a process began whose owner was killed goes on for a moment, and keeps a sandbox locked meanwhile. */
void
place_sweep (const struct place *place)
{
  int64_t until = berth_clock_monotonic_ms () + 30000;

  for (bool settled = false; !settled && berth_clock_monotonic_ms () < until;)
    {
      BERTH_AUTO_IDS struct berth_store_ids ids = { 0 };

      berth_sweep (place->host);
      CU_ASSERT_EQUAL_FATAL (berth_store_list_unsettled (place->host->store, &ids, NULL), 0);
      settled = ids.count == 0;
      if (!settled)
        berth_clock_sleep_ms (20);
    }
}

void
place_check_swept (struct place *place)
{
  place_open (place);
  place_sweep (place);
  CU_ASSERT_EQUAL (place_records (place), 0);
  CU_ASSERT_EQUAL (place_sightings (place), 0);
  berth_host_close (BERTH_STEAL_POINTER (place->host));
}

void *
place_trigger_later (void *cancel)
{
  berth_clock_sleep_ms (PLACE_LATER_MS);
  berth_cancel_trigger (cancel);
  return NULL;
}

void
place_write (const struct place *place, const char *path, const char *text)
{
  BERTH_AUTO_FREE char *whole = berth_string_format ("%s/%s", place->directory, path);
  BERTH_AUTO_FREE char *folder = strndup (whole, (size_t) (strrchr (whole, '/') - whole));

  CU_ASSERT_EQUAL (berth_fs_make_directories (AT_FDCWD, folder, 0700), 0);
  CU_ASSERT_EQUAL (berth_fs_replace (AT_FDCWD, whole, text, strlen (text), 0600), 0);
}

void
place_faults (const struct place *place, const char *faults)
{
  place_write (place, "state/backends/fake/faults", faults);
}

size_t
place_records (const struct place *place)
{
  BERTH_AUTO_IDS struct berth_store_ids ids = { 0 };

  CU_ASSERT_EQUAL (berth_store_list (place->host->store, NULL, NULL, &ids, NULL), 0);
  return ids.count;
}

size_t
place_sightings (const struct place *place)
{
  BERTH_CLEANUP (berth_sightings_clear) struct berth_sightings sightings = { 0 };
  struct berth_instance *instance = NULL;

  CU_ASSERT_EQUAL_FATAL (berth_registry_instance (place->host->registry, place->backend, "a test", &instance, NULL), 0);
  berth_sightings_read (instance, &sightings);
  CU_ASSERT_TRUE (sightings.reached);
  return sightings.count;
}

void
place_load (const struct place *place, const struct berth_sandbox *sandbox, struct berth_record *record)
{
  *record = (struct berth_record) { 0 };
  CU_ASSERT_EQUAL_FATAL (berth_store_load (place->host->store, berth_sandbox_id (sandbox), 0, record, NULL), 0);
}

size_t
place_marks (const struct place *place)
{
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/used", place->state);
  BERTH_AUTO_DIR DIR *directory = opendir (path);
  size_t count = 0;

  for (const struct dirent *entry; directory != NULL && (entry = readdir (directory)) != NULL;)
    count += entry->d_name[0] != '.';
  return count;
}

int
place_run (struct berth_sandbox *sandbox, const char *line, struct berth_error *error)
{
  const char *const arguments[] = { "/bin/sh", "-c", line };
  struct berth_exec_options options = BERTH_EXEC_OPTIONS_INIT;
  struct berth_exec_result result;

  options.arguments = arguments;
  options.argument_count = 3;
  int failed = berth_sandbox_run (sandbox, &options, &result, error);
  int status = failed == 0 ? result.status : -1;
  berth_exec_result_clear (&result);
  return status;
}

int64_t
place_give (void *context, void *bytes, size_t size)
{
  struct place_text *text = context;
  size_t part = text->size < size ? text->size : size;

  memcpy (bytes, text->bytes, part);
  text->bytes += part;
  text->size -= part;
  return (int64_t) part;
}

int
place_take (void *buffer, const void *bytes, size_t size)
{
  return berth_buffer_append (buffer, bytes, size);
}

bool
error_is (const struct berth_error *error, uint32_t code, const char *part)
{
  if (error->code == code && strstr (error->message, part) != NULL)
    return true;
  fprintf (stderr, "     got %s \"%s\", want %s \"%s\"\n", berth_error_name (error->code), error->message,
           berth_error_name (code), part);
  return false;
}

int
place_child (void (*work) (const struct place *place, int number), const struct place *place, int number)
{
  return berth_test_end (berth_test_start (work, place, number));
}

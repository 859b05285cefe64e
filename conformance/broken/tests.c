#include "conformance/broken/tests.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sdk/base/fs.h"
#include "sdk/base/string.h"
#include "sdk/base/tests/runner.h"

void
place_make (struct place *place)
{
  const char *top = getenv ("TMPDIR");

  snprintf (place->path, sizeof place->path, "%.43s/berth-test-XXXXXX", top != NULL ? top : "/tmp");
  CU_ASSERT_PTR_NOT_NULL_FATAL (mkdtemp (place->path));
}

void
place_remove (struct place *place)
{
  CU_ASSERT_EQUAL (berth_fs_remove_tree (AT_FDCWD, place->path), 0);
}

char *
place_file (const struct place *place, const char *name)
{
  char *file = berth_string_format ("%s/%s", place->path, name);

  CU_ASSERT_PTR_NOT_NULL_FATAL (file);
  return file;
}

void
place_write (const struct place *place, const char *name, const void *bytes, size_t size, unsigned int mode)
{
  BERTH_AUTO_FREE char *file = place_file (place, name);

  CU_ASSERT_EQUAL_FATAL (berth_fs_replace (AT_FDCWD, file, bytes, size, (mode_t) mode), 0);
  CU_ASSERT_EQUAL_FATAL (chmod (file, (mode_t) mode), 0);
}

static char backends[4096];

static void
find_directory (void)
{
  const char *top = getenv ("BERTH_TEST_BUILDDIR");

  CU_ASSERT_PTR_NOT_NULL_FATAL (top);
  snprintf (backends, sizeof backends, "%s/conformance/broken/backends", top);
}

const char *
broken_directory (void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;

  pthread_once (&once, find_directory);
  return backends;
}

char *
broken_file (const char *variant)
{
  char *file = berth_string_format ("%s/" BERTH_BACKEND_PREFIX "%s" BERTH_BACKEND_SUFFIX, broken_directory (), variant);

  CU_ASSERT_PTR_NOT_NULL_FATAL (file);
  return file;
}

void
place_copy (const struct place *place, const char *variant, const char *name, struct berth_buffer *content)
{
  BERTH_AUTO_FREE char *from = broken_file (variant);
  BERTH_AUTO_FREE char *to = berth_string_format (BERTH_BACKEND_PREFIX "%s" BERTH_BACKEND_SUFFIX, name);

  berth_buffer_clear (content);
  CU_ASSERT_EQUAL_FATAL (berth_fs_read (AT_FDCWD, from, content, (size_t) 16 << 20), 0);
  place_write (place, to, content->data, content->size, 0755);
}

static void
keep_line (void *context, uint32_t level, const char *line)
{
  berth_buffer_appendf (context, "%u %s\n", level, line);
}

struct berth_registry *
open_registry (const char *path, const struct place *place, const char *config, struct berth_buffer *log)
{
  BERTH_AUTO_FREE char *state = place != NULL ? place_file (place, "state") : NULL;
  BERTH_AUTO_FREE char *run = place != NULL ? place_file (place, "run") : NULL;
  struct berth_registry_options options = { .backend_path = path, .installed_dir = "/nonexistent", .config_file = config,
                                            .state_dir = state, .runtime_dir = run, .installation_id = "test",
                                            .log = log != NULL ? keep_line : NULL, .log_context = log };
  struct berth_registry *registry = NULL;
  struct berth_error error = { 0 };

  if (berth_registry_open (&options, &registry, &error) < 0)
    CU_FAIL_FATAL (error.message);
  return registry;
}

struct berth_error
expect_refused (const char *directory, const char *name, const char *problems)
{
  struct berth_registry *registry = open_registry (directory, NULL, NULL, NULL);
  BERTH_AUTO_FREE char *want = berth_string_format ("backend \"%s\" is refused: %s/" BERTH_BACKEND_PREFIX
                                                    "%s" BERTH_BACKEND_SUFFIX ": %s (asked for by the test)",
                                                    name, directory, name, problems);
  struct berth_instance *instance = NULL;
  struct berth_error error = { 0 };

  CU_ASSERT_EQUAL (berth_registry_instance (registry, name, "the test", &instance, &error), -1);
  CU_ASSERT_PTR_NULL (instance);
  CU_ASSERT_EQUAL (error.code, BERTH_E_CONFIGURATION);
  CU_ASSERT_STRING_EQUAL (error.backend, name);
  CU_ASSERT_STRING_EQUAL (error.message, want);
  if (strcmp (error.message, want) != 0)
    printf ("     got:  %s\n     want: %s\n", error.message, want);
  berth_registry_close (registry);
  return error;
}

struct wanted
{
  const char *name;
  uint32_t status;
  struct berth_buffer *text;
};

static int
note_backend (void *context, const struct berth_backend_info *info)
{
  struct wanted *wanted = context;

  if (strcmp (info->name, wanted->name) != 0)
    return 0;
  wanted->status = info->status;
  for (uint64_t i = 0; i < info->problem_count; i++)
    berth_buffer_appendf (wanted->text, "problem: %s\n", info->problems[i]);
  for (uint64_t i = 0; i < info->warning_count; i++)
    berth_buffer_appendf (wanted->text, "warning: %s\n", info->warnings[i]);
  return 0;
}

uint32_t
scan_for (struct berth_registry *registry, const char *name, struct berth_buffer *text)
{
  struct wanted wanted = { name, 0, text };
  struct berth_error error = { 0 };

  if (berth_registry_scan (registry, note_backend, &wanted, &error) < 0)
    CU_FAIL (error.message);
  return wanted.status;
}

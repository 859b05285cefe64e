#include "core/registry/config.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sdk/base/cleanup.h"
#include "sdk/base/fs.h"
#include "sdk/base/nearest.h"
#include "sdk/base/string.h"
#include "sdk/base/tests/runner.h"

/* Reads TEXT as a file of MODE; its path, which begins every message, is cut off that. */
static struct berth_config *
read_text (const char *text, size_t size, unsigned int mode, char *message, size_t room)
{
  char path[128];
  struct berth_config *config = NULL;
  struct berth_error error = { 0 };
  int fd;

  snprintf (path, sizeof path, "%.64s/berth-test-XXXXXX", getenv ("TMPDIR") != NULL ? getenv ("TMPDIR") : "/tmp");
  fd = mkostemp (path, O_CLOEXEC);
  CU_ASSERT_TRUE_FATAL (fd >= 0 && write (fd, text, size) == (ssize_t) size && fchmod (fd, (mode_t) mode) == 0);
  close (fd);
  if (berth_config_read (path, &config, &error) < 0)
    CU_ASSERT_EQUAL (error.code, BERTH_E_CONFIGURATION);
  snprintf (message, room, "%s",
            berth_string_starts_with (error.message, path) ? error.message + strlen (path) : error.message);
  unlink (path);
  return config;
}

static void
expect_error (const char *text, const char *want)
{
  char message[1024];
  struct berth_config *config = read_text (text, strlen (text), 0600, message, sizeof message);

  CU_ASSERT_PTR_NULL (config);
  CU_ASSERT_STRING_EQUAL (message, want);
  berth_config_free (config);
}

static void
test_values (void)
{
  static const char text[] = "# comment\n; another\n\n[berth]\r\nbackends = ns, docker \nbackend=ns\n"
                             "[backend docker-eu]\nplugin = docker\n  token\t=  a = b # c  \nempty =\n[defaults]\nttl = 15m";
  char message[1024];
  struct berth_config *config = read_text (text, sizeof text - 1, 0600, message, sizeof message);
  const struct berth_config_section *section = berth_config_instance (config, "docker-eu");

  CU_ASSERT_PTR_NOT_NULL_FATAL (config);
  CU_ASSERT_EQUAL (berth_config_entry (section, "plugin")->private, 1);
  CU_ASSERT_PTR_NOT_NULL_FATAL (section);
  CU_ASSERT_STRING_EQUAL (berth_config_entry (section, "plugin")->value, "docker");
  CU_ASSERT_STRING_EQUAL (berth_config_entry (section, "token")->value, "a = b # c");
  CU_ASSERT_STRING_EQUAL (berth_config_entry (section, "empty")->value, "");
  CU_ASSERT_PTR_NULL (berth_config_entry (section, "tokens"));
  CU_ASSERT_STRING_EQUAL (berth_config_entry (berth_config_section (config, "berth"), "backends")->value, "ns, docker");
  CU_ASSERT_STRING_EQUAL (berth_config_entry (berth_config_section (config, "defaults"), "ttl")->value, "15m");
  CU_ASSERT_TRUE (berth_string_ends_with (berth_config_entry (section, "token")->origin, ":9"));
  CU_ASSERT_PTR_NULL (berth_config_section (config, "limits"));
  berth_config_free (config);
}

static void
test_errors (void)
{
  expect_error ("backend = ns\n", ":1: \"backend\" stands before the first section");
  expect_error ("[berth]\nbackend ns\n", ":2: want \"key = value\", got \"backend ns\"");
  expect_error ("[berth]\nBackend = ns\n", ":2: \"Backend\" is not a key (want [a-z][a-z0-9_]*)");
  expect_error ("[berth]\nbackens = ns\n", ":2: unknown key \"backens\" in [berth], did you mean \"backends\"?");
  expect_error ("[berth]\nzzzzzzzz = ns\n", ":2: unknown key \"zzzzzzzz\" in [berth]");
  expect_error ("[berth\n", ":1: a section ends with \"]\", got \"[berth\"");
  expect_error ("[default]\n", ":1: unknown section [default], did you mean [defaults]? (want [berth], [defaults], "
                               "[limits], [audit] or [backend NAME])");
  expect_error ("[backend Docker]\n", ":1: \"Docker\" is not the name of a backend (want [a-z][a-z0-9-]{0,30})");
  expect_error ("[backend a]\nplugin = ../evil\n", ":2: \"../evil\" is not the name of a backend (want [a-z][a-z0-9-]{0,30})");
}

static void
test_doubles (void)
{
  char message[1024];
  static const char keys[] = "[backend a]\nx = 1\nx = 2\n", sections[] = "[limits]\n[berth]\n[limits]\n";

  CU_ASSERT_PTR_NULL (read_text (keys, sizeof keys - 1, 0600, message, sizeof message));
  CU_ASSERT_PTR_NOT_NULL (strstr (message, ":3: \"x\" is already set at /"));
  CU_ASSERT_TRUE (berth_string_ends_with (message, ":2"));
  CU_ASSERT_PTR_NULL (read_text (sections, sizeof sections - 1, 0600, message, sizeof message));
  CU_ASSERT_PTR_NOT_NULL (strstr (message, ":3: section [limits] is already at /"));
}

static void
test_bytes (void)
{
  static const char nul[] = "[berth]\nbackend = n\0s\n";
  char message[1024];

  CU_ASSERT_PTR_NULL (read_text (nul, sizeof nul - 1, 0600, message, sizeof message));
  CU_ASSERT_STRING_EQUAL (message, ":2: the line holds a NUL byte");
}

static void
test_files (void)
{
  struct berth_config *config = NULL;
  struct berth_error error = { 0 };
  char message[1024];

  CU_ASSERT_EQUAL (berth_config_read ("/nonexistent/berth.conf", &config, &error), 0);
  CU_ASSERT_EQUAL (config->count, 0);
  berth_config_free (config);
  CU_ASSERT_EQUAL (berth_config_read (NULL, &config, &error), 0);
  berth_config_free (config);
  config = NULL;
  CU_ASSERT_EQUAL (berth_config_read ("/tmp", &config, &error), -1);
  CU_ASSERT_STRING_EQUAL (error.message, "/tmp is not a regular file");
  CU_ASSERT_PTR_NULL (read_text ("[berth]\n", 8, 0622, message, sizeof message));
  CU_ASSERT_STRING_EQUAL (message, " can be written by others (mode 0622)");
  config = read_text ("[berth]\nowner = x\n", 18, 0644, message, sizeof message);
  CU_ASSERT_PTR_NOT_NULL_FATAL (config);
  CU_ASSERT_EQUAL (config->sections[0].entries[0].private, 0);
  berth_config_free (config);
}

/* Whatever stands in the file: an answer, and no byte read that is not there. */
static void
test_random (void)
{
  static const char letters[] = "[]=#;\n\r\t ab_-\0berthbackendsdefaultsplugin";
  unsigned int seed = 7, accepted = 0;

  for (int i = 0; i < 500; i++)
    {
      char text[96], message[1024];
      size_t size = (size_t) rand_r (&seed) % sizeof text;
      struct berth_config *config;

      for (size_t j = 0; j < size; j++)
        text[j] = letters[(size_t) rand_r (&seed) % (sizeof letters - 1)];
      config = read_text (text, size, 0600, message, sizeof message);
      accepted += config != NULL;
      CU_ASSERT_EQUAL (config == NULL, message[0] != '\0');
      berth_config_free (config);
    }
  CU_ASSERT_TRUE (accepted < 500);
}

static void
test_nearest (void)
{
  static const char *const words[] = { "memory", "cpus", "pids", NULL };

  CU_ASSERT_STRING_EQUAL (berth_nearest ("memroy", words), "memory");
  CU_ASSERT_STRING_EQUAL (berth_nearest ("cpu", words), "cpus");
  CU_ASSERT_PTR_NULL (berth_nearest ("networking", words));
}

static void
write_file (const char *path, const char *text, mode_t mode)
{
  CU_ASSERT_EQUAL_FATAL (berth_fs_replace (AT_FDCWD, path, text, strlen (text), mode), 0);
}

/* Key by key: the user's word goes before the system's, and each says where it stands. */
static void
test_layers (void)
{
  char directory[] = "/tmp/berth-test-XXXXXX";
  struct berth_config *config = NULL;

  CU_ASSERT_PTR_NOT_NULL_FATAL (mkdtemp (directory));
  BERTH_AUTO_FREE char *own = berth_string_format ("%s/own", directory), *below = berth_string_format ("%s/system", directory);
  write_file (own, "[defaults]\nttl = 1h\n[backend a]\ntoken = x\n", 0600);
  write_file (below, "[limits]\nttl = 2d\n[defaults]\nttl = 2h\npids = 5\n[backend a]\nplugin = b\n", 0644);
  CU_ASSERT_EQUAL_FATAL (berth_config_read (own, &config, NULL), 0);
  CU_ASSERT_EQUAL (berth_config_read_below (below, config, NULL), 0);
  const struct berth_config_section *defaults = berth_config_section (config, "defaults");
  const struct berth_config_section *backend = berth_config_instance (config, "a");
  CU_ASSERT_STRING_EQUAL (berth_config_entry (defaults, "ttl")->value, "1h");
  CU_ASSERT_TRUE (berth_string_ends_with (berth_config_entry (defaults, "ttl")->origin, "/own:2"));
  CU_ASSERT_STRING_EQUAL (berth_config_entry (defaults, "pids")->value, "5");
  CU_ASSERT_TRUE (berth_string_ends_with (berth_config_entry (defaults, "pids")->origin, "/system:5"));
  CU_ASSERT_STRING_EQUAL (berth_config_entry (berth_config_section (config, "limits"), "ttl")->value, "2d");
  /* whether others can read it goes with the line, not with the whole */
  CU_ASSERT_EQUAL (berth_config_entry (backend, "token")->private, 1);
  CU_ASSERT_EQUAL (berth_config_entry (backend, "plugin")->private, 0);
  write_file (below, "[nonsense]\n", 0644);
  CU_ASSERT_EQUAL (berth_config_read_below (below, config, NULL), -1);
  berth_config_free (config);
  berth_fs_remove_tree (AT_FDCWD, directory);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "sections, keys and values", test_values },
    { "errors name file, line, and what was wanted", test_errors },
    { "doubled keys and sections", test_doubles },
    { "bytes that are no text", test_bytes },
    { "files that are missing, no files, or other people's", test_files },
    { "random texts", test_random },
    { "the word that was probably meant", test_nearest },
    { "a user's file goes before the system's, key by key", test_layers },
    { NULL, NULL },
  };

  return berth_test_main ("config", tests);
}

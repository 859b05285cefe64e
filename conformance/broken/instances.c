/* What berth.conf and the environment make of sound backends: enabled ones, instances, settings. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/broken/tests.h"
#include "core/registry/error.h"
#include "sdk/base/string.h"
#include "sdk/base/tests/runner.h"

/* A registry over all broken backends with TEXT as berth.conf. */
static struct berth_registry *
open_configured (const struct place *place, const char *text, struct berth_buffer *log)
{
  BERTH_AUTO_FREE char *config = place_file (place, "berth.conf");

  place_write (place, "berth.conf", text, strlen (text), 0600);
  return open_registry (broken_directory (), place, config, log);
}

static struct berth_error
ask (struct berth_registry *registry, const char *name, struct berth_instance **out)
{
  struct berth_error error = { 0 };

  *out = NULL;
  berth_registry_instance (registry, name, NULL, out, &error);
  return error;
}

static void
test_default (void)
{
  AUTO_PLACE struct place place;
  struct berth_registry *registry;
  struct berth_instance *instance;
  struct berth_error error;
  BERTH_AUTO_FREE char *want = NULL;

  place_make (&place);
  registry = open_configured (&place, "[berth]\nbackend = good\n", NULL);
  CU_ASSERT_STRING_EQUAL (berth_registry_default (registry), "good");
  ask (registry, NULL, &instance);
  CU_ASSERT_PTR_NOT_NULL_FATAL (instance);
  CU_ASSERT_STRING_EQUAL (berth_instance_name (instance), "good");
  berth_registry_close (registry);
  setenv ("BERTH_BACKEND", "absent", 1);
  registry = open_configured (&place, "[berth]\nbackend = good\n", NULL);
  error = ask (registry, NULL, &instance);
  CU_ASSERT_EQUAL (error.code, BERTH_E_NOT_FOUND);
  want = berth_string_format ("backend \"absent\" is not installed (looked for berth-backend-absent.so in %s, "
                              "/nonexistent) (asked for by environment BERTH_BACKEND)",
                              broken_directory ());
  CU_ASSERT_STRING_EQUAL (error.message, want);
  berth_registry_close (registry);
  unsetenv ("BERTH_BACKEND");
  registry = open_configured (&place, "", NULL);
  CU_ASSERT_STRING_EQUAL (berth_registry_default (registry), "ns");
  berth_registry_close (registry);
}

static void
test_enabled (void)
{
  AUTO_PLACE struct place place;
  struct berth_registry *registry;
  struct berth_instance *instance;
  struct berth_error error;

  place_make (&place);
  setenv ("BERTH_BACKENDS", "older, newer-minor", 1);
  registry = open_configured (&place, "[berth]\nbackends = good\n", NULL);
  CU_ASSERT_EQUAL (ask (registry, "older", &instance).code, 0);
  CU_ASSERT_EQUAL (ask (registry, "newer-minor", &instance).code, 0);
  error = ask (registry, "good", &instance);
  CU_ASSERT_EQUAL (error.code, BERTH_E_BACKEND_DISABLED);
  CU_ASSERT_STRING_EQUAL (error.message, "backend \"good\" is installed and not enabled by environment BERTH_BACKENDS");
  CU_ASSERT_STRING_EQUAL (error.hint, "add it to BERTH_BACKENDS or to `backends` in berth.conf");
  CU_ASSERT_EQUAL (ask (registry, "absent", &instance).code, BERTH_E_NOT_FOUND);
  CU_ASSERT_EQUAL (ask (registry, "../good", &instance).code, BERTH_E_INVALID_REQUEST);
  berth_registry_close (registry);
  unsetenv ("BERTH_BACKENDS");
}

static void
test_bad_names (void)
{
  struct berth_registry_options options = { .installed_dir = "/nonexistent" };
  struct berth_registry *registry = NULL;
  struct berth_error error = { 0 };

  setenv ("BERTH_BACKENDS", "good ../evil", 1);
  CU_ASSERT_EQUAL (berth_registry_open (&options, &registry, &error), -1);
  CU_ASSERT_STRING_EQUAL (error.message,
                          "environment BERTH_BACKENDS: \"../evil\" is not the name of a backend (want [a-z][a-z0-9-]{0,30})");
  unsetenv ("BERTH_BACKENDS");
  setenv ("BERTH_BACKEND", "No", 1);
  CU_ASSERT_EQUAL (berth_registry_open (&options, &registry, &error), -1);
  CU_ASSERT_STRING_EQUAL (error.message, "environment BERTH_BACKEND: \"No\" is not the name of a backend (want [a-z][a-z0-9-]{0,30})");
  unsetenv ("BERTH_BACKEND");
}

static void
test_executes_nothing (void)
{
  AUTO_PLACE struct place place;
  struct berth_registry *registry;
  struct berth_instance *instance;
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  struct berth_error error;

  place_make (&place);
  registry = open_configured (&place, "", NULL);
  error = ask (registry, "nothing", &instance);
  CU_ASSERT_EQUAL (error.code, BERTH_E_BACKEND_DISABLED);
  CU_ASSERT_STRING_EQUAL (error.message, "backend \"nothing\" executes nothing: it is for tests only");
  CU_ASSERT_EQUAL (scan_for (registry, "nothing", &text), BERTH_BACKEND_DISABLED);
  berth_registry_close (registry);
  setenv ("BERTH_ALLOW_TEST_BACKENDS", "1", 1);
  registry = open_configured (&place, "", NULL);
  CU_ASSERT_EQUAL (ask (registry, "nothing", &instance).code, 0);
  berth_registry_close (registry);
  unsetenv ("BERTH_ALLOW_TEST_BACKENDS");
}

static const char *
setting (struct berth_instance *instance, const char *name)
{
  struct berth_host_call host;

  berth_host_call_begin (&host, instance, NULL, BERTH_NO_DEADLINE);
  return host.call.services->setting (instance, name);
}

static const char *
state_directory (struct berth_instance *instance)
{
  struct berth_host_call host;

  berth_host_call_begin (&host, instance, NULL, BERTH_NO_DEADLINE);
  return host.call.services->directory (instance, BERTH_DIRECTORY_STATE);
}

static void
test_two_instances (void)
{
  AUTO_PLACE struct place place;
  struct berth_registry *registry;
  struct berth_instance *red, *blue;

  place_make (&place);
  setenv ("BERTH_BLUE_WAIT", "2h", 1);
  setenv ("BERTH_SETTINGS_WAIT", "1h", 1);
  setenv ("SETTINGS_HOST", "tcp://host", 1);
  registry = open_configured (&place,
                              "[backend settings]\nengine = red\ntoken = first-key\n"
                              "[backend blue]\nplugin = settings\nengine = blue\nhost = unix:///run/b\n",
                              NULL);
  CU_ASSERT_EQUAL (ask (registry, "settings", &red).code, 0);
  CU_ASSERT_EQUAL (ask (registry, "blue", &blue).code, 0);
  CU_ASSERT_PTR_NOT_NULL_FATAL (red);
  CU_ASSERT_PTR_NOT_NULL_FATAL (blue);
  CU_ASSERT_PTR_NOT_EQUAL (berth_instance_state (red), berth_instance_state (blue));
  CU_ASSERT_STRING_EQUAL (berth_instance_name (blue), "blue");
  CU_ASSERT_STRING_EQUAL (berth_instance_backend (blue)->name, "settings");
  CU_ASSERT_STRING_EQUAL (setting (red, "engine"), "red");
  CU_ASSERT_STRING_EQUAL (setting (blue, "engine"), "blue");
  CU_ASSERT_STRING_EQUAL (setting (red, "wait"), "1h");
  CU_ASSERT_STRING_EQUAL (setting (blue, "wait"), "2h");
  CU_ASSERT_STRING_EQUAL (setting (red, "host"), "tcp://host");
  CU_ASSERT_STRING_EQUAL (setting (blue, "host"), "unix:///run/b");
  CU_ASSERT_PTR_NULL (setting (blue, "token"));
  CU_ASSERT_TRUE (berth_string_ends_with (state_directory (red), "/state/backends/settings"));
  CU_ASSERT_TRUE (berth_string_ends_with (state_directory (blue), "/state/backends/blue"));
  unsetenv ("BERTH_BLUE_WAIT");
  unsetenv ("BERTH_SETTINGS_WAIT");
  unsetenv ("SETTINGS_HOST");
  berth_registry_close (registry);
}

static int
note_setting (void *context, const char *name, const char *value, const char *origin)
{
  const char *last = strrchr (origin, '/');

  berth_buffer_appendf (context, "%s=%s (%s)\n", name, value != NULL ? value : "-", last != NULL ? last + 1 : origin);
  return 0;
}

static void
test_origins (void)
{
  AUTO_PLACE struct place place;
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  struct berth_registry *registry;

  place_make (&place);
  setenv ("BERTH_SETTINGS_ENGINE", "blue", 1);
  registry = open_configured (&place, "[backend settings]\nengine = red\n\ntoken = first-key\n", NULL);
  CU_ASSERT_EQUAL (berth_registry_settings (registry, "settings", note_setting, &text, NULL), 0);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&text), "engine=blue (environment BERTH_SETTINGS_ENGINE)\nwait=90s (default)\n"
                                                       "token=(secret) (berth.conf:4)\nhost=- ()\n");
  unsetenv ("BERTH_SETTINGS_ENGINE");
  berth_registry_close (registry);
}

static void
expect_misconfigured (const char *config, const char *want, const char *hint)
{
  AUTO_PLACE struct place place;
  struct berth_registry *registry;
  struct berth_instance *instance;
  struct berth_error error;
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  BERTH_AUTO_FREE char *message = NULL, *file = NULL;

  place_make (&place);
  file = place_file (&place, "berth.conf");
  registry = open_configured (&place, config, NULL);
  error = ask (registry, "settings", &instance);
  CU_ASSERT_EQUAL (error.code, BERTH_E_CONFIGURATION);
  message = berth_string_format ("backend \"settings\" is not configured: %s%s", want[0] == ':' ? file : "", want);
  CU_ASSERT_STRING_EQUAL (error.message, message);
  CU_ASSERT_STRING_EQUAL (error.hint, hint);
  CU_ASSERT_EQUAL (scan_for (registry, "settings", &text), BERTH_BACKEND_MISCONFIGURED);
  CU_ASSERT_TRUE (berth_string_starts_with (berth_buffer_string (&text), "problem: "));
  CU_ASSERT_EQUAL (ask (registry, "good", &instance).code, 0);
  berth_registry_close (registry);
}

static void
test_misconfigured (void)
{
  expect_misconfigured ("", "setting \"engine\" is required and not set",
                        "set \"engine\" in [backend settings] of berth.conf, or BERTH_SETTINGS_ENGINE");
  expect_misconfigured ("[backend settings]\nengine = green\n", ":2: setting \"engine\": got \"green\", want red|blue",
                        "run `berth doctor`");
  expect_misconfigured ("[backend settings]\nengine = red\nwait = later\n",
                        ":3: setting \"wait\": got \"later\", want a duration such as 90s or 15m", "run `berth doctor`");
  expect_misconfigured ("[backend settings]\nengine = red\ntokens = x\n",
                        ":3: backend \"settings\" has no setting \"tokens\", did you mean \"token\"?", "run `berth doctor`");
}

/* I04: a key stands in no message, and not in a file for everybody. */
static void
test_secrets (void)
{
  static const char text[] = "[backend settings]\nengine = red\ntoken = very/secret\n";
  AUTO_PLACE struct place place;
  BERTH_AUTO_FREE char *config = NULL, *want = NULL;
  struct berth_registry *registry;
  struct berth_instance *instance;
  struct berth_host_call host;
  struct berth_error error;

  place_make (&place);
  registry = open_configured (&place, text, NULL);
  ask (registry, "settings", &instance);
  CU_ASSERT_PTR_NOT_NULL_FATAL (instance);
  berth_host_call_begin (&host, instance, NULL, BERTH_NO_DEADLINE);
  host.call.services->fail (&host.call, BERTH_E_UNAUTHORIZED, "GET /?key=very%%2Fsecret");
  berth_host_call_end (&host, -1, &error);
  CU_ASSERT_STRING_EQUAL (error.message, "GET /?key=(secret)");
  berth_registry_close (registry);
  place_write (&place, "berth.conf", text, sizeof text - 1, 0644);
  config = place_file (&place, "berth.conf");
  registry = open_registry (broken_directory (), &place, config, NULL);
  error = ask (registry, "settings", &instance);
  want = berth_string_format ("backend \"settings\" is not configured: %s:3: setting \"token\" is secret, and others can read "
                              "the file",
                              config);
  CU_ASSERT_STRING_EQUAL (error.message, want);
  berth_registry_close (registry);
}

static void
test_owned (void)
{
  AUTO_PLACE struct place place;
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  struct berth_registry *registry;

  place_make (&place);
  setenv ("BERTH_SETTINGS_WAIT", "1h", 1);
  setenv ("SETTINGS_HOST", "tcp://host", 1);
  registry = open_configured (&place, "[berth]\nbackends = good\nbackend = good\n", NULL);
  CU_ASSERT_EQUAL (scan_for (registry, "settings", &text), BERTH_BACKEND_DISABLED);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&text),
                          "warning: BERTH_SETTINGS_WAIT is set, and backend \"settings\", whose setting it is, is not "
                          "enabled: add the backend to BERTH_BACKENDS, or unset the variable\n");
  berth_registry_close (registry);
  unsetenv ("BERTH_SETTINGS_WAIT");
  unsetenv ("SETTINGS_HOST");
}

static void
test_missing (void)
{
  AUTO_PLACE struct place place;
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  struct berth_registry *registry;

  place_make (&place);
  registry = open_configured (&place, "[berth]\nbackends = good absent\n[backend mine]\nplugin = gone\n", NULL);
  CU_ASSERT_EQUAL (scan_for (registry, "absent", &text), BERTH_BACKEND_MISSING);
  CU_ASSERT_EQUAL (scan_for (registry, "mine", &text), BERTH_BACKEND_MISSING);
  CU_ASSERT_STRING_EQUAL (
      berth_buffer_string (&text),
      "problem: backend \"absent\" is not installed: install it, or take it out of the configuration\n"
      "problem: backend \"gone\" is not installed: install it, or take it out of the configuration\n");
  berth_registry_close (registry);
}

/* The first directory has the name; the second file of it is told and not loaded. */
static void
test_taken (void)
{
  AUTO_PLACE struct place place;
  BERTH_AUTO_BUFFER struct berth_buffer content = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  BERTH_AUTO_FREE char *path = NULL, *want = NULL;
  struct berth_registry *registry;

  place_make (&place);
  place_copy (&place, "good", "good", &content);
  path = berth_string_format ("%s:%s", place.path, broken_directory ());
  registry = open_registry (path, NULL, NULL, NULL);
  CU_ASSERT_EQUAL (scan_for (registry, "good", &text), BERTH_BACKEND_REFUSED);
  want = berth_string_format ("problem: the name \"good\" is taken by %s/berth-backend-good.so: remove one of the two files\n",
                              place.path);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&text), want);
  berth_registry_close (registry);
}

static void
test_config_check (void)
{
  static const char *const known[] = { "ttl", "memory", NULL };
  AUTO_PLACE struct place place;
  struct berth_registry *registry;
  struct berth_error error = { 0 };
  const char *origin = NULL;

  place_make (&place);
  registry = open_configured (&place, "[defaults]\nttl = 15m\nmemroy = 1G\n", NULL);
  CU_ASSERT_STRING_EQUAL (berth_registry_config (registry, "defaults", "ttl", &origin), "15m");
  CU_ASSERT_TRUE (berth_string_ends_with (origin, "/berth.conf:2"));
  CU_ASSERT_PTR_NULL (berth_registry_config (registry, "limits", "ttl", NULL));
  CU_ASSERT_EQUAL (berth_registry_config_check (registry, "limits", known, &error), 0);
  CU_ASSERT_EQUAL (berth_registry_config_check (registry, "defaults", known, &error), -1);
  CU_ASSERT_TRUE (
      berth_string_ends_with (error.message, "/berth.conf:3: unknown key \"memroy\" in [defaults], did you mean \"memory\"?"));
  berth_registry_close (registry);
}

/* D-160: the log of a backend that is being opened reaches an application that asks for the list. */
struct nosy
{
  struct berth_registry *registry;
  unsigned int lines;
  uint32_t code;
};

static int
ignore (void *context, const struct berth_backend_info *info)
{
  return 0;
}

static void
ask_while_opening (void *context, uint32_t level, const char *line)
{
  struct nosy *nosy = context;
  struct berth_instance *instance = NULL;
  struct berth_error error = { 0 };

  if (strstr (line, "opening open-talks") == NULL || nosy->lines++ > 0)
    return;
  berth_registry_instance (nosy->registry, "open-talks", NULL, &instance, &error);
  nosy->code = error.code;
  CU_ASSERT_EQUAL (berth_registry_instance (nosy->registry, "good", NULL, &instance, &error), 0);
  CU_ASSERT_EQUAL (berth_registry_scan (nosy->registry, ignore, NULL, &error), 0);
}

static void
test_no_lock (void)
{
  AUTO_PLACE struct place place;
  struct nosy nosy = { NULL, 0, 0 };
  struct berth_registry_options options = { .backend_path = broken_directory (), .installed_dir = "/nonexistent",
                                            .state_dir = place.path, .log = ask_while_opening, .log_context = &nosy };
  struct berth_instance *instance;

  place_make (&place);
  CU_ASSERT_EQUAL_FATAL (berth_registry_open (&options, &nosy.registry, NULL), 0);
  CU_ASSERT_EQUAL (ask (nosy.registry, "open-talks", &instance).code, 0);
  CU_ASSERT_PTR_NOT_NULL (instance);
  CU_ASSERT_EQUAL (nosy.lines, 1);
  CU_ASSERT_EQUAL (nosy.code, BERTH_E_CONFLICT);
  berth_registry_close (nosy.registry);
}

/* Lazy: one file is looked at, and no directory is listed. */
static void
test_lazy (void)
{
  AUTO_PLACE struct place place;
  BERTH_AUTO_BUFFER struct berth_buffer content = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer log = { 0 };
  struct berth_registry *registry;
  struct berth_instance *instance;

  place_make (&place);
  place_copy (&place, "good", "good", &content);
  place_write (&place, "berth-backend-bad.so", "", 0, 0755);
  place_write (&place, "README", "", 0, 0644);
  registry = open_registry (place.path, NULL, NULL, &log);
  CU_ASSERT_EQUAL (ask (registry, "good", &instance).code, 0);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&log), "");
  berth_registry_close (registry);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "the default backend", test_default },
    { "enabled backends", test_enabled },
    { "names that are none", test_bad_names },
    { "a backend that executes nothing is for tests", test_executes_nothing },
    { "S12 two instances of one backend", test_two_instances },
    { "settings tell where they come from", test_origins },
    { "S08 settings that are wrong", test_misconfigured },
    { "I04 secret settings", test_secrets },
    { "owned settings of a backend that is not enabled", test_owned },
    { "backends that are configured and not installed", test_missing },
    { "a name that is taken", test_taken },
    { "keys of the host's own sections", test_config_check },
    { "D-160 no lock is held while a backend runs", test_no_lock },
    { "one backend is loaded for one", test_lazy },
    { NULL, NULL },
  };

  return berth_test_main ("instances", tests);
}

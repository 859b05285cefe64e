/* Where an installation is: the nearest word counts, what is made is private, and what others
 * could write is refused. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/manager/directories.h"
#include "core/manager/tests/place.h"
#include "sdk/base/path.h"
#include "sdk/base/string.h"

/* Sets a variable for one test; "" in `old` stands for one that was not set. */
struct variable
{
  const char *name;
  char *old;
};
#define VARIABLE __attribute__ ((unused)) BERTH_CLEANUP (variable_restore) struct variable

static struct variable
variable_set (const char *name, const char *value)
{
  const char *old = getenv (name);
  struct variable variable = { name, old != NULL ? strdup (old) : NULL };

  if (value != NULL)
    setenv (name, value, 1);
  else
    unsetenv (name);
  return variable;
}

static void
variable_restore (struct variable *variable)
{
  if (variable->old != NULL)
    setenv (variable->name, variable->old, 1);
  else
    unsetenv (variable->name);
  free (variable->old);
}

static char *
inside (const struct place *place, const char *name)
{
  return berth_path_join (place->directory, name);
}

static void
check_fact (const struct berth_host_options *options, const char *key, const char *value)
{
  struct berth_error error = { 0 };
  struct berth_host *host = NULL;

  if (berth_host_open (options, &host, &error) != 0)
    fprintf (stderr, "     %s\n", error.message);
  CU_ASSERT_PTR_NOT_NULL_FATAL (host);
  CU_ASSERT_STRING_EQUAL (berth_host_fact (host, key), value);
  berth_host_close (host);
}

/* Option, then environment, then berth.conf. */
static void
test_precedence (void)
{
  PLACE place;
  struct berth_host_options options = BERTH_HOST_OPTIONS_INIT;

  place_make (&place, "fake");
  BERTH_AUTO_FREE char *by_option = inside (&place, "o"), *by_environment = inside (&place, "e");
  BERTH_AUTO_FREE char *by_config = inside (&place, "c"), *config = inside (&place, "berth.conf");
  BERTH_AUTO_FREE char *text = berth_string_format ("[berth]\nstate_dir = %s\nruntime_dir = %s\nowner = conf\n",
                                                    by_config, by_config);
  place_write (&place, "berth.conf", text);
  VARIABLE conf = variable_set ("BERTH_CONFIG", config);
  VARIABLE state = variable_set ("BERTH_STATE_DIR", NULL);
  VARIABLE runtime = variable_set ("BERTH_RUNTIME_DIR", NULL);
  check_fact (&options, "config_file", config);
  check_fact (&options, "state_dir", by_config);
  check_fact (&options, "runtime_dir", by_config);
  check_fact (&options, "owner", "conf");
  setenv ("BERTH_STATE_DIR", by_environment, 1);
  setenv ("BERTH_RUNTIME_DIR", by_environment, 1);
  check_fact (&options, "state_dir", by_environment);
  check_fact (&options, "runtime_dir", by_environment);
  options.state_dir = by_option;
  options.runtime_dir = by_option;
  options.owner = "option";
  check_fact (&options, "state_dir", by_option);
  check_fact (&options, "runtime_dir", by_option);
  check_fact (&options, "owner", "option");
}

static void
check_private (const char *path, mode_t kind)
{
  struct stat status;

  CU_ASSERT_EQUAL (stat (path, &status), 0);
  CU_ASSERT_EQUAL (status.st_mode & (S_IFMT | 07777), kind | (kind == S_IFDIR ? 0700 : 0600));
}

static void
test_private (void)
{
  PLACE place;
  mode_t mask = umask (0);

  place_make (&place, "fake");
  place_open (&place);
  umask (mask);
  BERTH_AUTO_FREE char *db = berth_path_join (place.state, "berth.db"), *lock = berth_path_join (place.state, "berth.lock");
  check_private (place.state, S_IFDIR);
  check_private (place.runtime, S_IFDIR);
  check_private (db, S_IFREG);
  check_private (lock, S_IFREG);
}

static void
check_refused (const struct place *place, const char *part)
{
  struct berth_error error = { 0 };

  CU_ASSERT_PTR_NULL (place_host (place, "me", &error));
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_CONFIGURATION, part));
  CU_ASSERT_NOT_EQUAL (error.hint[0], '\0');
}

static void
test_refused (void)
{
  PLACE place;

  place_make (&place, "fake");
  CU_ASSERT_EQUAL (mkdir (place.state, 0700), 0);
  CU_ASSERT_EQUAL (chmod (place.state, 0770), 0);
  check_refused (&place, "can be written by others (mode 0770)");
  CU_ASSERT_EQUAL (rmdir (place.state), 0);
  place_write (&place, "state", "a file");
  check_refused (&place, "cannot make the state directory");
  CU_ASSERT_EQUAL (unlink (place.state), 0);
  CU_ASSERT_EQUAL (symlink ("/tmp", place.state), 0);
  check_refused (&place, "is not a directory");
  CU_ASSERT_EQUAL (unlink (place.state), 0);
  if (geteuid () != 0)
    return;
  CU_ASSERT_EQUAL (mkdir (place.state, 0700), 0);
  CU_ASSERT_EQUAL (chown (place.state, 12345, 12345), 0);
  check_refused (&place, "belongs to uid 12345, want 0");
}

static void
test_named_config (void)
{
  struct berth_host_options options = BERTH_HOST_OPTIONS_INIT;
  struct berth_error error = { 0 };
  struct berth_host *host = NULL;

  options.config_file = "/nonexistent/berth.conf";
  CU_ASSERT_EQUAL (berth_host_open (&options, &host, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_CONFIGURATION, "/nonexistent/berth.conf"));
}

/* Whatever the state directory, a socket's path in the runtime directory fits into 107 bytes. */
static void
test_long_state (void)
{
  PLACE place;
  struct berth_error error = { 0 };
  struct berth_host_options options = BERTH_HOST_OPTIONS_INIT;
  struct berth_host *host = NULL;
  VARIABLE runtime = variable_set ("BERTH_RUNTIME_DIR", NULL);

  place_make (&place, "fake");
  BERTH_AUTO_FREE char *base = inside (&place, "x");
  VARIABLE xdg = variable_set ("XDG_RUNTIME_DIR", NULL);
  BERTH_AUTO_FREE char *deep = berth_string_format (
      "%s/%0200d/%0200d", base, 1, 2);
  options.state_dir = deep;
  options.runtime_dir = deep;
  CU_ASSERT_EQUAL (berth_host_open (&options, &host, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_CONFIGURATION, "want an absolute path of at most"));
  options.runtime_dir = NULL;
  CU_ASSERT_EQUAL_FATAL (berth_host_open (&options, &host, &error), 0);
  BERTH_AUTO_FREE char *made = strdup (berth_host_fact (host, "runtime_dir"));
  CU_ASSERT_TRUE (strlen (made) <= BERTH_RUNTIME_DIR_MAX);
  berth_host_close (host);
  BERTH_AUTO_FREE char *parent = berth_path_parent (made);
  CU_ASSERT_EQUAL (rmdir (made), 0);
  /* shared with other installations: it may hold theirs */
  rmdir (parent);
}

static void
test_facts (void)
{
  PLACE place;

  place_make (&place, "fake");
  place_open (&place);
  CU_ASSERT_TRUE (berth_id_is_valid (berth_host_fact (place.host, "installation_id"), "inst-", 20));
  CU_ASSERT_STRING_NOT_EQUAL (berth_host_fact (place.host, "backend_dir"), "");
  CU_ASSERT_STRING_NOT_EQUAL (berth_host_fact (place.host, "agent"), "");
  CU_ASSERT_PTR_NULL (berth_host_fact (place.host, "nothing"));
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "option, environment, berth.conf", test_precedence },
    { "what is made is private, whatever the umask", test_private },
    { "directories that others could write are refused", test_refused },
    { "a configuration file that was named must be there", test_named_config },
    { "D-118 sockets fit below any state directory", test_long_state },
    { "facts", test_facts },
    { NULL, NULL },
  };

  return berth_test_main ("directories", tests);
}

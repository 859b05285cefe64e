/* berth-conform: the clauses of the backend contract against a backend.  This process never loads
 * it: each clause is a child with directories of its own. */
#include "config.h"

#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>

#include "conformance/conform/conform.h"
#include "conformance/suites/refusal.h"
#include "conformance/suites/role.h"
#include "conformance/suites/workspace.h"
#include "sdk/base/path.h"
#include "sdk/base/string.h"
#include "sdk/base/tests/runner.h"

#define NAMES_MAX 256

enum option_id
{
  OPTION_ACCOUNT = 1,
  OPTION_ARCHIVES,
  OPTION_CLAUSE,
  OPTION_HELP,
  OPTION_IMAGE,
  OPTION_JOBS,
  OPTION_JUNIT,
  OPTION_LIST,
  OPTION_LIST_DECLARED,
  OPTION_LONG,
  OPTION_QUICK,
  OPTION_REPORT,
  OPTION_SETTING,
  OPTION_STRESS,
  OPTION_SUITE,
  OPTION_TIMEOUT,
  OPTION_VERSION,
};

static const struct option long_options[] = {
  { "account", required_argument, NULL, OPTION_ACCOUNT },
  { "archives", required_argument, NULL, OPTION_ARCHIVES },
  { "clause", required_argument, NULL, OPTION_CLAUSE },
  { "help", no_argument, NULL, OPTION_HELP },
  { "image", required_argument, NULL, OPTION_IMAGE },
  { "jobs", required_argument, NULL, OPTION_JOBS },
  { "junit", required_argument, NULL, OPTION_JUNIT },
  { "list", no_argument, NULL, OPTION_LIST },
  { "list-declared", no_argument, NULL, OPTION_LIST_DECLARED },
  { "long", no_argument, NULL, OPTION_LONG },
  { "quick", no_argument, NULL, OPTION_QUICK },
  { "report", required_argument, NULL, OPTION_REPORT },
  { "setting", required_argument, NULL, OPTION_SETTING },
  { "stress", required_argument, NULL, OPTION_STRESS },
  { "suite", required_argument, NULL, OPTION_SUITE },
  { "timeout", required_argument, NULL, OPTION_TIMEOUT },
  { "version", no_argument, NULL, OPTION_VERSION },
  { NULL, 0, NULL, 0 },
};

struct command_line
{
  struct conform *run;
  struct berth_buffer settings;
  bool list_declared;
  int status; /* to end with now, or -1 */
};

static int
usage (FILE *to)
{
  fputs ("usage: berth-conform [OPTION]... /path/berth-backend-NAME.so\n"
         "       berth-conform --list\n"
         "       berth-conform --archives DIRECTORY\n\n"
         "  --setting NAME=VALUE   a setting of the backend, as in berth.conf\n"
         "  --suite NAME,...       only these suites\n"
         "  --clause ID,...        only these clauses, such as E09; those that take long too\n"
         "  --long                 also what takes more than ten seconds\n"
         "  --quick                nothing that takes more than two seconds\n"
         "  --image REF            the image of the sandboxes\n"
         "  --account NAME         an account of that image beside root\n"
         "  --jobs N               how many clauses run at once, at most\n"
         "  --timeout SECONDS      what a clause may take, whatever it says itself\n"
         "  --stress SECONDS       all of it again and again for so long\n"
         "  --junit FILE           write JUnit XML\n"
         "  --report FILE.md       write a report in Markdown\n"
         "  --list                 print every clause: its id, suite and title\n"
         "  --list-declared        print the capabilities that the backend declares\n"
         "  --archives DIRECTORY   write the hostile archives of W04 there\n"
         "  --help, --version\n", to);
  return to == stdout ? 0 : 2;
}

/* ---- roles ---- */

static const struct suite_role *
find_role (const char *name)
{
  for (const struct suite *const *suite = conform_suites; *suite != NULL; suite++)
    for (const struct suite_role *role = (*suite)->roles; role != NULL && role->name != NULL; role++)
      if (strcmp (role->name, name) == 0)
        return role;
  return NULL;
}

/* --role NAME REPORT PLUGIN DIRECTORY INSTALLATION TAG IMAGE ARGUMENTS... */
static int
run_role (struct child_setup *setup, int count, char **arguments)
{
  const struct suite_role *role = count >= 7 ? find_role (arguments[0]) : NULL;
  struct place place = { 0 };
  struct suite_context suite;

  if (role == NULL)
    return 2;
  snprintf (setup->plugin, sizeof setup->plugin, "%s", arguments[2]);
  setup->image = arguments[6][0] != '\0' ? arguments[6] : NULL;
  if (!place_find (&place, arguments[3], arguments[4], arguments[5]))
    return 2;
  suite = child_context (&place, setup, (int) strtol (arguments[1], NULL, 10));
  fcntl (suite.report, F_SETFD, FD_CLOEXEC);
  if (suite_open (&suite))
    role->run (&suite, count - 7, arguments + 7);
  fflush (stdout);
  suite_boxes_forget (&suite);
  suite_close (&suite);
  place_free (&place);
  return suite.failed ? 1 : 0;
}

/* ---- the command line ---- */

static int
wrong (const char *what, const char *value)
{
  fprintf (stderr, "berth-conform: %s: \"%s\"\n", what, value);
  return 2;
}

static int
add_names (struct conform *run, char *list)
{
  for (char *name; (name = strsep (&list, ",")) != NULL;)
    {
      if (run->name_count == NAMES_MAX)
        return wrong ("too many suites and clauses, from here on", name);
      run->names[run->name_count++] = name;
    }
  return -1;
}

/* Settings stand in the section of the backend. */
static int
add_setting (struct berth_buffer *settings, const char *setting)
{
  const char *equals = strchr (setting, '=');

  if (equals == NULL || strchr (setting, '\n') != NULL)
    return wrong ("a setting is NAME=VALUE on one line, not", setting);
  berth_buffer_appendf (settings, "%.*s = %s\n", (int) (equals - setting), setting, equals + 1);
  return -1;
}

static int
take_number (const char *option, const char *text, int64_t least, int64_t most, int64_t *value)
{
  if (berth_string_to_int64 (text, least, most, value) == 0)
    return -1;
  fprintf (stderr, "berth-conform: %s takes a number from %lld to %lld, not \"%s\"\n", option, (long long) least,
           (long long) most, text);
  return 2;
}

/* Texts of the command line stay where they are.  A status to end with, or -1. */
static int
take_choice (struct command_line *line, int option, char *value)
{
  struct conform *run = line->run;
  int64_t number = 0;
  int status;

  switch (option)
    {
    case OPTION_SUITE:
    case OPTION_CLAUSE:
      return add_names (run, value);
    case OPTION_SETTING:
      return add_setting (&line->settings, value);
    case OPTION_STRESS:
      status = take_number ("--stress", value, 1, 86400, &number);
      run->stress_ms = number * 1000;
      return status;
    case OPTION_JOBS:
      status = take_number ("--jobs", value, 1, CONFORM_JOBS_MAX, &number);
      run->jobs = (unsigned int) number;
      return status;
    case OPTION_TIMEOUT:
      status = take_number ("--timeout", value, 1, 86400, &number);
      run->seconds = (unsigned int) number;
      return status;
    case OPTION_ARCHIVES:
      return suite_w04_write (value) ? 0 : 1;
    default:
      return usage (stderr);
    }
}

static int
take_option (struct command_line *line, int option, char *value)
{
  struct conform *run = line->run;

  switch (option)
    {
    case OPTION_HELP:
      return usage (stdout);
    case OPTION_VERSION:
      puts ("berth-conform " PACKAGE_VERSION);
      return 0;
    case OPTION_LIST:
      conform_list ();
      return 0;
    case OPTION_LIST_DECLARED:
      line->list_declared = true;
      return -1;
    case OPTION_LONG:
      run->left_out = 0;
      return -1;
    case OPTION_QUICK:
      run->left_out = SUITE_LONG | SUITE_SLOW;
      return -1;
    case OPTION_ACCOUNT:
      run->setup.account = value;
      return -1;
    case OPTION_IMAGE:
      run->setup.image = value;
      return -1;
    case OPTION_JUNIT:
      run->junit_file = value;
      return -1;
    case OPTION_REPORT:
      run->report_file = value;
      return -1;
    default:
      return take_choice (line, option, value);
    }
}

static bool
begin_config (struct conform *run, const struct berth_buffer *settings)
{
  const char *name = berth_path_last (run->setup.plugin);
  size_t size = strlen (name);

  if (!berth_string_starts_with (name, BERTH_BACKEND_PREFIX) || !berth_string_ends_with (name, BERTH_BACKEND_SUFFIX))
    return true;
  name += strlen (BERTH_BACKEND_PREFIX);
  size -= strlen (BERTH_BACKEND_PREFIX) + strlen (BERTH_BACKEND_SUFFIX);
  return berth_buffer_appendf (&run->setup.config, "[backend %.*s]\n%s", (int) size, name, berth_buffer_string (settings)) == 0;
}

static int
read_command_line (struct command_line *line, int count, char **arguments)
{
  struct conform *run = line->run;
  int option;
  int status = -1;

  while (status < 0 && (option = getopt_long (count, arguments, "", long_options, NULL)) != -1)
    status = take_option (line, option, optarg);
  if (status >= 0)
    return status;
  if (optind != count - 1)
    return usage (stderr);
  if (realpath (arguments[optind], run->setup.plugin) == NULL)
    return wrong (strerror (errno), arguments[optind]);
  return begin_config (run, &line->settings) ? -1 : 1;
}

/* ---- the run ---- */

static int
list_declared (const struct conform *run)
{
  if (!run->backend.opens)
    return wrong ("the host does not open it; run the suite `structure`", run->setup.plugin);
  for (unsigned int bit = 0; bit < 64; bit++)
    if ((run->backend.declared & BERTH_CAP (bit)) != 0)
      puts (berth_capability_name (BERTH_CAP (bit)));
  return 0;
}

static int
run_suites (struct conform *run)
{
  int status;

  if (!conform_choose (run))
    return 2;
  status = conform_run (run);
  if (run->junit_file != NULL && !conform_write_junit (run))
    status = wrong (strerror (errno), run->junit_file);
  if (run->report_file != NULL && !conform_write_report (run))
    status = wrong (strerror (errno), run->report_file);
  return status;
}

static unsigned int
usual_jobs (void)
{
  long processors = sysconf (_SC_NPROCESSORS_ONLN);

  return processors < 1 ? 1 : processors > 4 ? 4 : (unsigned int) processors;
}

static void
free_run (struct conform *run)
{
  for (size_t i = 0; i < run->count; i++)
    {
      free (run->items[i].name);
      free (run->items[i].why_not);
      berth_buffer_free (&run->items[i].report);
    }
  free (run->items);
  free (run->order);
  berth_buffer_free (&run->setup.config);
}

int
main (int count, char **arguments)
{
  static const char *names[NAMES_MAX];
  static struct conform run;
  struct command_line line = { .run = &run };
  int status;

  run.names = names;
  run.left_out = berth_test_is_long () ? 0 : SUITE_LONG;
  run.jobs = usual_jobs ();
  if (realpath ("/proc/self/exe", run.setup.self) == NULL)
    return wrong (strerror (errno), "/proc/self/exe");
  if (count > 2 && strcmp (arguments[1], "--role") == 0)
    return run_role (&run.setup, count - 2, arguments + 2);
  status = read_command_line (&line, count, arguments);
  if (status < 0)
    {
      child_interruptible ();
      conform_ask_backend (&run);
      status = child_interrupted () != 0 ? 128 + child_interrupted () : line.list_declared ? list_declared (&run) : run_suites (&run);
    }
  berth_buffer_free (&line.settings);
  free_run (&run);
  return status;
}

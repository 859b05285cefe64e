/* run-suites [--setting NAME=VALUE]... [--long] PLUGIN.so [SUITE|CLAUSE]...
 *
 * Runs the clauses of the contract against a backend and prints a line each.  This process
 * never loads the backend: each clause is a child with directories of its own. */
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "conformance/suites/leftovers.h"
#include "conformance/suites/refusal.h"
#include "conformance/suites/role.h"
#include "sdk/base/clock.h"
#include "sdk/base/fs.h"
#include "sdk/base/path.h"
#include "sdk/base/string.h"
#include "sdk/base/tests/runner.h"

#define CLAUSE_SECONDS 30
#define SWEEP_SECONDS 30
#define PATIENCE_MS 3000
#define EXIT_MS 10000
#define REPORT_MAX ((size_t) 1 << 20)

static const struct suite *const suites[]
    = { &suite_lifecycle, &suite_commands, &suite_files, &suite_workspace, &suite_network, &suite_isolation };

/* A clause that was chosen, under the name that its line has. */
struct item
{
  const struct suite_clause *clause;
  uint64_t missing; /* capabilities that are not declared: the refusal is tested instead */
  char *name;
};

struct program
{
  char self[PATH_MAX];
  char plugin[PATH_MAX];
  struct berth_buffer config;
  bool with_long;
  bool opens; /* the host's answer: the backend can be opened */
  uint64_t capabilities;
  uint64_t flags;
  char **names; /* what to run, ends with NULL */
  struct item *items;
  size_t count;
};

/* CUnit's functions take no argument. */
static const struct program *running;

/* ---- directories of one clause ---- */

struct place
{
  char directory[PATH_MAX];
  char *state_dir;
  char *runtime_dir;
  char *cache_dir;
  char *config_file;
  char tag[16];
  char installation_id[32];
};

static void
place_free (struct place *place)
{
  free (place->state_dir);
  free (place->runtime_dir);
  free (place->cache_dir);
  free (place->config_file);
}

/* Names are short: a backend puts sockets there. */
static bool
place_name (struct place *place)
{
  place->state_dir = berth_path_join (place->directory, "s");
  place->runtime_dir = berth_path_join (place->directory, "r");
  place->cache_dir = berth_path_join (place->directory, "c");
  place->config_file = berth_path_join (place->directory, "berth.conf");
  return place->state_dir != NULL && place->runtime_dir != NULL && place->cache_dir != NULL
         && place->config_file != NULL;
}

static bool
place_make (struct place *place, const struct program *program)
{
  const char *tmp = getenv ("TMPDIR");

  *place = (struct place) { 0 };
  snprintf (place->directory, sizeof place->directory, "%s/berth-test-XXXXXX", tmp != NULL && *tmp != '\0' ? tmp : "/tmp");
  return mkdtemp (place->directory) != NULL && place_name (place) && mkdir (place->state_dir, 0700) == 0
         && mkdir (place->runtime_dir, 0700) == 0 && mkdir (place->cache_dir, 0700) == 0
         && berth_fs_replace (AT_FDCWD, place->config_file, berth_buffer_string (&program->config),
                              program->config.size, 0600)
                == 0
         && berth_id_generate ("sb-", 8, place->tag, sizeof place->tag) == 0
         && berth_id_generate ("in-", 16, place->installation_id, sizeof place->installation_id) == 0;
}

static struct suite_context
place_context (const struct place *place, const struct program *program, int report)
{
  return (struct suite_context) { .plugin = program->plugin,
                                  .directory = place->directory,
                                  .state_dir = place->state_dir,
                                  .runtime_dir = place->runtime_dir,
                                  .cache_dir = place->cache_dir,
                                  .config_file = place->config_file,
                                  .self = program->self,
                                  .installation_id = place->installation_id,
                                  .tag = place->tag,
                                  .report = report };
}

/* ---- what runs in children ---- */

struct job
{
  void (*run) (struct suite_context *suite, const struct job *job);
  const struct item *item;
};

static void
run_clause (struct suite_context *suite, const struct job *job)
{
  const struct suite_clause *clause = job->item->clause;

  suite->clause = clause;
  if ((clause->flags & SUITE_NO_INSTANCE) != 0)
    {
      clause->run (suite);
      return;
    }
  if (!suite_open (suite))
    return;
  if (job->item->missing != 0)
    suite_check_refusal (suite, job->item->missing);
  else
    clause->run (suite);
  suite_boxes_end (suite);
  suite_close (suite);
}

static void
describe (struct suite_context *suite, const struct job *job)
{
  (void) job;
  if (!suite_open (suite))
    return;
  dprintf (suite->report, "D%llx %llx\n", (unsigned long long) berth_instance_capabilities (suite->instance),
           (unsigned long long) suite->backend->flags);
  suite_close (suite);
}

static int
sweep_found (void *context, const struct berth_found *found)
{
  struct suite_context *suite = context;
  struct suite_box *box = suite_box_new (suite);

  snprintf (box->native_id, sizeof box->native_id, "%s", found->native_id);
  return 0;
}

/* After a crash or a hang: what the clause could not destroy itself. */
static void
sweep (struct suite_context *suite, const struct job *job)
{
  (void) job;
  if (!suite_open (suite))
    return;
  suite_list (suite, sweep_found, suite, NULL);
  suite_boxes_end (suite);
  suite_close (suite);
}

/* ---- a child under its watchdog ---- */

static void
run_child (const struct place *place, const struct program *program, const struct job *job, int report)
{
  struct suite_context suite = place_context (place, program, report);

  setpgid (0, 0);
  signal (SIGPIPE, SIG_IGN);
  job->run (&suite, job);
  exit (0);
}

static bool
read_report (int fd, struct berth_buffer *report, int64_t deadline_ms)
{
  char bytes[4096];

  for (;;)
    {
      struct pollfd wait = { .fd = fd, .events = POLLIN };
      ssize_t size;

      if (report->size > REPORT_MAX || poll (&wait, 1, berth_clock_poll_timeout (deadline_ms)) == 0)
        return false;
      size = read (fd, bytes, sizeof bytes);
      if (size == 0)
        return true;
      if (size > 0)
        berth_buffer_append (report, bytes, (size_t) size);
    }
}

/* Its end comes soon after that of its report; then whatever it started goes as well. */
static int
reap_child (pid_t pid, int64_t patience_ms)
{
  int64_t until = berth_clock_monotonic_ms () + patience_ms;
  siginfo_t info = { 0 };
  int status = 0;

  while (waitid (P_PID, (id_t) pid, &info, WEXITED | WNOWAIT | WNOHANG) == 0 && info.si_pid == 0
         && berth_clock_monotonic_ms () < until)
    berth_clock_sleep_ms (2);
  kill (-pid, SIGKILL);
  waitpid (pid, &status, 0);
  return status;
}

/* The lines that the child reported; true when it came to its end by itself. */
static bool
watch_child (const struct place *place, const struct program *program, const struct job *job, unsigned int seconds,
             struct berth_buffer *report)
{
  int ends[2];
  int status = 0;
  bool ended;
  pid_t pid;

  fflush (NULL);
  if (pipe2 (ends, O_CLOEXEC) < 0)
    return false;
  pid = fork ();
  if (pid == 0)
    run_child (place, program, job, ends[1]);
  close (ends[1]);
  ended = pid > 0 && read_report (ends[0], report, berth_clock_monotonic_ms () + (int64_t) seconds * 1000);
  close (ends[0]);
  if (pid > 0)
    status = reap_child (pid, ended ? EXIT_MS : 0);
  if (!ended)
    berth_buffer_appendf (report, "Frun-suites:0: no end after %u seconds\n", seconds);
  else if (WIFSIGNALED (status))
    berth_buffer_appendf (report, "Frun-suites:0: died of signal %d\n", WTERMSIG (status));
  else if (WIFEXITED (status) && WEXITSTATUS (status) != 0)
    berth_buffer_appendf (report, "Frun-suites:0: ended with status %d\n", WEXITSTATUS (status));
  else
    return ended;
  return false;
}

static void
check_left (const struct place *place, struct berth_buffer *report)
{
  int64_t until = berth_clock_monotonic_ms () + PATIENCE_MS;

  for (;;)
    {
      BERTH_AUTO_BUFFER struct berth_buffer found = { 0 };
      bool late = berth_clock_monotonic_ms () >= until;

      if (suite_leftovers (place->tag, place->directory, &found) == 0)
        break;
      if (late)
        berth_buffer_appendf (report, "Frun-suites:0: left at the end: %s\n", berth_buffer_string (&found));
      if (late)
        break;
      berth_clock_sleep_ms (50);
    }
  if (berth_fs_remove_tree (AT_FDCWD, place->directory) < 0)
    berth_buffer_appendf (report, "Frun-suites:0: cannot remove %s: %s\n", place->directory, strerror (errno));
}

static void
perform (const struct program *program, const struct job *job, unsigned int seconds, struct berth_buffer *report)
{
  struct place place;

  if (!place_make (&place, program))
    berth_buffer_appendf (report, "Frun-suites:0: no directory: %s\n", strerror (errno));
  else
    {
      if (!watch_child (&place, program, job, seconds, report))
        watch_child (&place, program, &(struct job) { .run = sweep }, SWEEP_SECONDS, report);
      check_left (&place, report);
    }
  place_free (&place);
}

/* ---- what the report says ---- */

/* TEXT is "FILE:LINE: what", and is cut there. */
static void
take_failure (char *text)
{
  char *colon = strchr (text, ':');
  unsigned int line = 0;

  if (colon != NULL)
    {
      *colon++ = '\0';
      line = (unsigned int) strtoul (colon, &colon, 10);
    }
  CU_assertImplementation (CU_FALSE, line, colon != NULL ? colon + strspn (colon, ": ") : text, text, "", CU_FALSE);
}

/* Notes stand before the line of their clause. */
static void
take_line (const struct item *item, char *line)
{
  if (line[0] == 'F')
    take_failure (line + 1);
  else if (line[0] == 'S')
    berth_test_skip (line + 1 + strspn (line + 1, ":0 "));
  else if (line[0] == 'N' || line[0] == 'W')
    printf ("     %s: %s: %s\n", item->clause->id, line[0] == 'N' ? "not applicable" : "warning", line + 1);
}

static void
run_test (void)
{
  const char *name = CU_get_current_test ()->pName;
  BERTH_AUTO_BUFFER struct berth_buffer report = { 0 };
  const struct item *item = running->items;
  char *next;

  while (strcmp (item->name, name) != 0)
    item++;
  if ((item->clause->flags & SUITE_ROOT) != 0 && geteuid () != 0)
    {
      berth_test_skip ("needs root");
      return;
    }
  perform (running, &(struct job) { .run = run_clause, .item = item },
           item->clause->seconds != 0 ? item->clause->seconds : CLAUSE_SECONDS, &report);
  if (berth_buffer_append_byte (&report, '\0') < 0)
    CU_FAIL ("no memory");
  next = report.data;
  for (char *line; (line = strsep (&next, "\n")) != NULL;)
    take_line (item, line);
  CU_PASS ("its end was reached");
}

/* ---- which clauses ---- */

static void
open_nothing (struct suite_context *suite)
{
  SUITE_CHECK (suite, suite->state != NULL, "no state");
}

static const struct suite_clause opening
    = { .id = "open", .title = "the host opens an instance of it", .run = open_nothing };

static bool
is_wanted (const struct program *program, const char *suite, const char *id)
{
  if (program->names[0] == NULL)
    return true;
  for (char **name = program->names; *name != NULL; name++)
    if (strcmp (*name, suite) == 0 || strcmp (*name, id) == 0)
      return true;
  return false;
}

static bool
is_named (const struct program *program, const char *id)
{
  return program->names[0] != NULL && is_wanted (program, "", id);
}

static void
choose (struct program *program, const struct suite_clause *clause)
{
  struct item *item = &program->items[program->count];
  char missing[200];

  if ((clause->flags & SUITE_LONG) != 0 && !program->with_long && !is_named (program, clause->id))
    return;
  if (!program->opens && (clause->flags & SUITE_NO_INSTANCE) == 0 && clause != &opening)
    return;
  if ((clause->flags & SUITE_PROGRAM) != 0 && (program->flags & BERTH_BACKEND_EXECUTES_NOTHING) != 0)
    {
      printf ("     %s: not applicable: it executes nothing\n", clause->id);
      return;
    }
  *item = (struct item) { .clause = clause, .missing = clause->needs & ~program->capabilities };
  suite_capability_names (item->missing, missing, sizeof missing);
  item->name = item->missing != 0 ? berth_string_format ("%s refusal: %s is not declared", clause->id, missing)
                                  : berth_string_format ("%s %s", clause->id, clause->title);
  if (item->name != NULL)
    program->count++;
}

static bool
choose_all (struct program *program)
{
  size_t most = 1;

  for (size_t i = 0; i < sizeof suites / sizeof *suites; i++)
    for (const struct suite_clause *clause = suites[i]->clauses; clause->id != NULL; clause++)
      most++;
  program->items = calloc (most, sizeof *program->items);
  if (program->items == NULL)
    return false;
  if (!program->opens || is_wanted (program, "", opening.id))
    choose (program, &opening);
  for (size_t i = 0; i < sizeof suites / sizeof *suites; i++)
    for (const struct suite_clause *clause = suites[i]->clauses; clause->id != NULL; clause++)
      if (is_wanted (program, suites[i]->name, clause->id))
        choose (program, clause);
  return true;
}

static void
ask_backend (struct program *program)
{
  BERTH_AUTO_BUFFER struct berth_buffer report = { 0 };
  unsigned long long capabilities;
  unsigned long long flags;
  const char *answer;

  perform (program, &(struct job) { .run = describe }, CLAUSE_SECONDS, &report);
  answer = berth_buffer_string (&report);
  if (answer[0] != 'D' && strstr (answer, "\nD") != NULL)
    answer = strstr (answer, "\nD") + 1;
  program->opens = sscanf (answer, "D%llx %llx", &capabilities, &flags) == 2;
  program->capabilities = program->opens ? capabilities : 0;
  program->flags = program->opens ? flags : 0;
}

static int
run_program (struct program *program)
{
  struct berth_test *tests;
  int status;

  ask_backend (program);
  tests = choose_all (program) ? calloc (program->count + 1, sizeof *tests) : NULL;
  if (tests == NULL)
    return 1;
  for (size_t i = 0; i < program->count; i++)
    tests[i] = (struct berth_test) { program->items[i].name, run_test };
  running = program;
  status = berth_test_run (berth_path_last (program->plugin), tests, NULL);
  for (size_t i = 0; i < program->count; i++)
    free (program->items[i].name);
  free (program->items);
  free (tests);
  return status;
}

/* ---- roles ---- */

static const struct suite_role *
find_role (const char *name)
{
  for (size_t i = 0; i < sizeof suites / sizeof *suites; i++)
    for (const struct suite_role *role = suites[i]->roles; role != NULL && role->name != NULL; role++)
      if (strcmp (role->name, name) == 0)
        return role;
  return NULL;
}

/* --role NAME REPORT PLUGIN DIRECTORY INSTALLATION TAG ARGUMENTS... */
static int
run_role (struct program *program, int count, char **arguments)
{
  const struct suite_role *role = count >= 6 ? find_role (arguments[0]) : NULL;
  struct place place = { 0 };
  struct suite_context suite;

  if (role == NULL)
    return 2;
  snprintf (program->plugin, sizeof program->plugin, "%s", arguments[2]);
  snprintf (place.directory, sizeof place.directory, "%s", arguments[3]);
  snprintf (place.installation_id, sizeof place.installation_id, "%s", arguments[4]);
  snprintf (place.tag, sizeof place.tag, "%s", arguments[5]);
  if (!place_name (&place))
    return 2;
  suite = place_context (&place, program, (int) strtol (arguments[1], NULL, 10));
  fcntl (suite.report, F_SETFD, FD_CLOEXEC);
  if (suite_open (&suite))
    role->run (&suite, count - 6, arguments + 6);
  fflush (stdout);
  suite_close (&suite);
  place_free (&place);
  return suite.failed ? 1 : 0;
}

/* ---- the command line ---- */

static int
usage (void)
{
  fputs ("usage: run-suites [--setting NAME=VALUE]... [--long] PLUGIN.so [SUITE|CLAUSE]...\n", stderr);
  return 2;
}

/* Settings stand in the section of the backend. */
static bool
add_setting (struct program *program, const char *setting)
{
  const char *equals = strchr (setting, '=');

  return equals != NULL
         && berth_buffer_appendf (&program->config, "%.*s = %s\n", (int) (equals - setting), setting, equals + 1) == 0;
}

static bool
begin_config (struct program *program, const char *plugin)
{
  const char *name = berth_path_last (plugin);
  size_t size = strlen (name);

  if (!berth_string_starts_with (name, BERTH_BACKEND_PREFIX) || !berth_string_ends_with (name, BERTH_BACKEND_SUFFIX))
    return true;
  name += strlen (BERTH_BACKEND_PREFIX);
  size -= strlen (BERTH_BACKEND_PREFIX) + strlen (BERTH_BACKEND_SUFFIX);
  return berth_buffer_appendf (&program->config, "[backend %.*s]\n", (int) size, name) == 0;
}

int
main (int count, char **arguments)
{
  static struct program program;
  int first = 1;
  int status;

  if (realpath ("/proc/self/exe", program.self) == NULL)
    return usage ();
  if (count > 2 && strcmp (arguments[1], "--role") == 0)
    return run_role (&program, count - 2, arguments + 2);
  while (first < count && arguments[first][0] == '-')
    {
      if (strcmp (arguments[first], "--long") == 0)
        program.with_long = true;
      else if (strcmp (arguments[first], "--setting") == 0 && first + 1 < count)
        first++;
      else
        return usage ();
      first++;
    }
  if (first >= count || realpath (arguments[first], program.plugin) == NULL || !begin_config (&program, program.plugin))
    return usage ();
  for (int i = 1; i < first; i++)
    if (strcmp (arguments[i], "--setting") == 0 && !add_setting (&program, arguments[++i]))
      return usage ();
  program.names = arguments + first + 1;
  status = run_program (&program);
  berth_buffer_free (&program.config);
  return status;
}

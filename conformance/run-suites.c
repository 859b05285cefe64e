/* run-suites [--setting NAME=VALUE]... [--long|--quick] PLUGIN.so [SUITE|CLAUSE]...
 * run-suites --archives DIRECTORY
 *
 * The second writes the hostile archives of W04 into a directory.
 *
 * Runs the clauses of the contract against a backend and prints a line each: with --long, or with
 * BERTH_TEST_LONG=1, those of more than ten seconds too, with --quick none of more than two; one that is named always.  This process
 * never loads the backend: each clause is a child with directories of its own. */
#include <fcntl.h>
#include <stdio.h>

#include "conformance/child.h"
#include "conformance/suites/refusal.h"
#include "conformance/suites/role.h"
#include "conformance/suites/workspace.h"
#include "sdk/base/path.h"
#include "sdk/base/string.h"
#include "sdk/base/tests/runner.h"

#define CLAUSE_SECONDS 30

static const struct suite *const suites[]
    = { &suite_structure, &suite_lifecycle, &suite_commands, &suite_files, &suite_workspace, &suite_network, &suite_isolation,
        &suite_escape };

/* A clause that was chosen, under the name that its line has. */
struct item
{
  const struct suite_clause *clause;
  uint64_t missing; /* capabilities that are not declared: the refusal is tested instead */
  char *name;
};

struct program
{
  struct child_setup setup;
  uint32_t left_out; /* flags of clauses that run only when named */
  bool opens; /* the host's answer: the backend can be opened */
  uint64_t capabilities;
  uint64_t flags;
  char **names; /* what to run, ends with NULL */
  struct item *items;
  size_t count;
};

/* CUnit's functions take no argument. */
static const struct program *running;

/* ---- what runs in children ---- */

static void
run_clause (struct suite_context *suite, const struct child_job *job)
{
  const struct suite_clause *clause = job->clause;

  suite->clause = clause;
  if ((clause->flags & SUITE_NO_INSTANCE) != 0)
    {
      clause->run (suite);
      return;
    }
  if (!suite_open (suite))
    return;
  if (job->missing != 0)
    suite_check_refusal (suite, job->missing);
  else
    clause->run (suite);
  suite_boxes_end (suite);
  SUITE_CHECK (suite, suite_sweep (suite) == 0, "list_ids still tells something at the end");
  suite_close (suite);
}

static void
describe (struct suite_context *suite, const struct child_job *job)
{
  (void) job;
  if (!suite_open (suite))
    return;
  dprintf (suite->report, "D%llx %llx\n", (unsigned long long) berth_instance_capabilities (suite->instance),
           (unsigned long long) suite->backend->flags);
  suite_close (suite);
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
  const char *text = line + 1 + strspn (line + 1, ":0 ");

  if (line[0] == 'F')
    take_failure (line + 1);
  else if (line[0] == 'S')
    berth_test_skip (text);
  else if (line[0] == 'N' || line[0] == 'W')
    printf ("     %s: %s: %s\n", item->clause->id, line[0] == 'N' ? "not applicable" : "warning", text);
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
  child_perform (&running->setup, &(struct child_job) { .run = run_clause, .clause = item->clause, .missing = item->missing },
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

  if ((clause->flags & program->left_out) != 0 && !is_named (program, clause->id))
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

  child_perform (&program->setup, &(struct child_job) { .run = describe }, CLAUSE_SECONDS, &report);
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
  status = berth_test_run (berth_path_last (program->setup.plugin), tests, NULL);
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
run_role (struct child_setup *setup, int count, char **arguments)
{
  const struct suite_role *role = count >= 6 ? find_role (arguments[0]) : NULL;
  struct place place = { 0 };
  struct suite_context suite;

  if (role == NULL)
    return 2;
  snprintf (setup->plugin, sizeof setup->plugin, "%s", arguments[2]);
  if (!place_find (&place, arguments[3], arguments[4], arguments[5]))
    return 2;
  suite = child_context (&place, setup, (int) strtol (arguments[1], NULL, 10));
  fcntl (suite.report, F_SETFD, FD_CLOEXEC);
  if (suite_open (&suite))
    role->run (&suite, count - 6, arguments + 6);
  fflush (stdout);
  suite_boxes_forget (&suite);
  suite_close (&suite);
  place_free (&place);
  return suite.failed ? 1 : 0;
}

/* ---- the command line ---- */

static int
usage (void)
{
  fputs ("usage: run-suites [--setting NAME=VALUE]... [--long|--quick] PLUGIN.so [SUITE|CLAUSE]...\n"
         "       run-suites --archives DIRECTORY\n", stderr);
  return 2;
}

/* Settings stand in the section of the backend. */
static bool
add_setting (struct program *program, const char *setting)
{
  const char *equals = strchr (setting, '=');

  return equals != NULL
         && berth_buffer_appendf (&program->setup.config, "%.*s = %s\n", (int) (equals - setting), setting, equals + 1) == 0;
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
  return berth_buffer_appendf (&program->setup.config, "[backend %.*s]\n", (int) size, name) == 0;
}

int
main (int count, char **arguments)
{
  static struct program program;
  int first = 1;
  int status;

  program.left_out = berth_test_is_long () ? 0 : SUITE_LONG;
  if (realpath ("/proc/self/exe", program.setup.self) == NULL)
    return usage ();
  if (count > 2 && strcmp (arguments[1], "--role") == 0)
    return run_role (&program.setup, count - 2, arguments + 2);
  if (count == 3 && strcmp (arguments[1], "--archives") == 0)
    return suite_w04_write (arguments[2]) ? 0 : 1;
  while (first < count && arguments[first][0] == '-')
    {
      if (strcmp (arguments[first], "--long") == 0)
        program.left_out = 0;
      else if (strcmp (arguments[first], "--quick") == 0)
        program.left_out = SUITE_LONG | SUITE_SLOW;
      else if (strcmp (arguments[first], "--setting") == 0 && first + 1 < count)
        first++;
      else
        return usage ();
      first++;
    }
  if (first >= count || realpath (arguments[first], program.setup.plugin) == NULL || !begin_config (&program, program.setup.plugin))
    return usage ();
  for (int i = 1; i < first; i++)
    if (strcmp (arguments[i], "--setting") == 0 && !add_setting (&program, arguments[++i]))
      return usage ();
  program.names = arguments + first + 1;
  status = run_program (&program);
  berth_buffer_free (&program.setup.config);
  return status;
}

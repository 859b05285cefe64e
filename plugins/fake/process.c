/* process.c - one process session. */
#include "plugins/fake/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include "plugins/fake/words.h"
#include "sdk/base/fs.h"
#include "sdk/base/path.h"
#include "sdk/base/string.h"

#define PIPE_SIZE 65536 /* what a process that does not read lets be written */

char *
fake_process_file (const char *id, const char *name)
{
  return berth_string_format ("processes/%s/%s", id, name);
}

int
fake_process_is_running (const struct fake_process *process)
{
  return fake_number (process->record, "running") != 0;
}

int
fake_process_save (struct berth_call *call, struct fake_process *process)
{
  BERTH_AUTO_FREE char *path = fake_process_file (process->id, "record.json");

  if (path == NULL || fake_json_save (process->box->directory, path, process->record) < 0)
    return fake_failed (call, "write a process record");
  return 0;
}

void
fake_process_close (struct fake_process *process)
{
  berth_json_free (process->record);
  process->record = NULL;
  berth_cleanup_fd (&process->output);
  process->output = -1;
}

void
fake_process_exit (const struct fake_process *process, struct berth_exit *out)
{
  struct fake_outcome outcome = FAKE_OUTCOME_INIT;

  outcome.reason = (uint32_t) fake_number (process->record, "reason");
  outcome.code = (int32_t) fake_number (process->record, "code");
  outcome.signal = (int32_t) fake_number (process->record, "signal");
  fake_outcome_exit (&outcome, fake_number (process->record, "duration"), out);
}

/* Its own time: since its start, without what the sandbox was paused. */
static int64_t
elapsed_of (const struct fake_process *process)
{
  const struct berth_json *box = process->box->record;
  int64_t now = fake_number (box, "life") == BERTH_LIFE_PAUSED ? fake_number (box, "paused")
                                                               : fake_now_ms (process->box->state);

  return now - fake_number (process->record, "started")
         - (fake_number (box, "pauses") - fake_number (process->record, "pauses"));
}

int
fake_process_open (struct berth_call *call, struct fake_box *box, const char *id, struct fake_process *process)
{
  BERTH_AUTO_FREE char *record = NULL;
  BERTH_AUTO_FREE char *output = NULL;
  struct stat status;
  int changed;

  *process = (struct fake_process) FAKE_PROCESS_INIT;
  process->box = box;
  if (!fake_id_is_valid (id))
    return call->services->fail (call, BERTH_E_PROCESS_NOT_FOUND, "no process session `%s`", id != NULL ? id : "");
  memcpy (process->id, id, strlen (id) + 1);
  record = fake_process_file (id, "record.json");
  output = fake_process_file (id, "output");
  if (record == NULL || output == NULL)
    return fake_failed (call, "open a process session");
  process->record = fake_json_load (box->directory, record);
  if (process->record == NULL)
    return errno == ENOENT
               ? call->services->fail (call, BERTH_E_PROCESS_NOT_FOUND, "no process session `%s`", id)
               : fake_failed (call, "read a process record");
  process->output = openat (box->directory, output, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (process->output < 0 || fstat (process->output, &status) < 0)
    return fake_failed (call, "open the output of a process session");
  process->base = (uint64_t) fake_number (process->record, "base");
  process->next = process->base + (uint64_t) status.st_size / 2;
  if (!fake_process_is_running (process))
    return 0;
  changed = fake_pending_print (process, elapsed_of (process));
  if (changed < 0)
    return fake_failed (call, "let a process session go on");
  return changed ? fake_process_save (call, process) : 0;
}

/* --- starting ------------------------------------------------------------------------------------------------- */

static struct berth_json *
arguments_json (const struct berth_run *run)
{
  BERTH_AUTO_JSON struct berth_json *array = berth_json_new_array ();

  for (uint32_t i = 0; i < run->argument_count; i++)
    if (berth_json_append (array, berth_json_new_string (run->arguments[i])) < 0)
      return NULL;
  return BERTH_STEAL_POINTER (array);
}

static struct berth_json *
run_json (const struct berth_run *run)
{
  BERTH_AUTO_JSON struct berth_json *json = berth_json_new_object ();
  struct berth_json *pairs = berth_json_new_array ();

  if (berth_json_set (json, "environment", pairs) < 0
      || berth_json_set (json, "arguments", arguments_json (run)) < 0)
    return NULL;
  for (uint64_t i = 0; (run->asks & BERTH_RUN_ENVIRONMENT) != 0 && i < run->environment_count; i++)
    {
      struct berth_json *pair = berth_json_new_object ();

      if (berth_json_append (pairs, pair) < 0
          || berth_json_set_string (pair, "name", run->environment[i].name) < 0
          || berth_json_set_string (pair, "value", run->environment[i].value) < 0)
        return NULL;
    }
  if (((run->asks & BERTH_RUN_USER) != 0 && berth_json_set_string (json, "user", run->user) < 0)
      || ((run->asks & BERTH_RUN_WORKDIR) != 0 && berth_json_set_string (json, "workdir", run->workdir) < 0))
    return NULL;
  return BERTH_STEAL_POINTER (json);
}

/* A command as it was stored; what it points to lives as long as JSON and WORDS. */
static int
run_from_json (const struct berth_json *json, struct fake_words *words, struct berth_pair **pairs,
               struct berth_run *run)
{
  const struct berth_json *arguments = berth_json_get (json, "arguments");
  const struct berth_json *environment = berth_json_get (json, "environment");
  size_t count = berth_json_length (environment);

  *pairs = calloc (count + 1, sizeof **pairs);
  if (*pairs == NULL)
    return -1;
  for (size_t i = 0; i < berth_json_length (arguments) + count; i++)
    {
      BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
      const struct berth_json *value = i < berth_json_length (arguments)
                                           ? berth_json_at (arguments, i)
                                           : berth_json_get (berth_json_at (environment, i - berth_json_length (arguments)),
                                                             "value");

      if (berth_json_to_bytes (value, &text) < 0
          || fake_words_add (words, berth_buffer_string (&text), text.size) < 0)
        return -1;
    }
  *run = (struct berth_run) { .struct_size = sizeof *run,
                              .argument_count = (uint32_t) berth_json_length (arguments),
                              .arguments = (const char *const *) words->list,
                              .environment = *pairs,
                              .environment_count = count,
                              .user = fake_text (json, "user"),
                              .workdir = fake_text (json, "workdir") };
  for (size_t i = 0; i < count; i++)
    (*pairs)[i] = (struct berth_pair) { fake_text (berth_json_at (environment, i), "name"),
                                        words->list[run->argument_count + i], 0, 0 };
  run->asks = BERTH_RUN_ENVIRONMENT | (run->user != NULL ? BERTH_RUN_USER : 0)
              | (run->workdir != NULL ? BERTH_RUN_WORKDIR : 0);
  return 0;
}

/* Does the command read its input? 1 echoes it, 2 is a shell, 0 does not. */
static int
reads_input (const struct berth_run *run)
{
  const char *name = berth_path_last (run->arguments[0]);

  if (run->argument_count > 1 && strcmp (run->arguments[1], "-i") != 0)
    return 0;
  if (strcmp (name, "cat") == 0)
    return 1;
  return strcmp (name, "sh") == 0 || strcmp (name, "bash") == 0 ? 2 : 0;
}

static int
begin_run (struct berth_call *call, struct fake_box *box, struct berth_json *record, const struct berth_run *run)
{
  FAKE_AUTO_OUTCOME struct fake_outcome outcome = FAKE_OUTCOME_INIT;

  fake_pending_clear (record);
  if (reads_input (run) == 0 && fake_command (call, box, run, &outcome) < 0)
    return -1;
  if (berth_json_set_int64 (record, "reads", reads_input (run)) < 0 || berth_json_set_int64 (record, "ends", 0) < 0
      || berth_json_set_int64 (record, "running", 1) < 0 || berth_json_set_int64 (record, "unread", 0) < 0
      || berth_json_set_string (record, "line", "") < 0
      || berth_json_set_int64 (record, "run", fake_number (record, "run") + 1) < 0
      || berth_json_set_int64 (record, "started", fake_now_ms (box->state)) < 0
      || berth_json_set_int64 (record, "pauses", fake_number (box->record, "pauses")) < 0
      || berth_json_set_int64 (record, "due", 0) < 0 || fake_pending_add (record, &outcome) < 0)
    return fake_failed (call, "make a process record");
  return 0;
}

static int
fill_record (struct berth_json *record, const struct berth_run *run)
{
  uint64_t ring = (run->asks & BERTH_RUN_RING) != 0 ? run->ring_bytes : FAKE_RING_DEFAULT;

  if (berth_json_set (record, "arguments", arguments_json (run)) < 0
      || berth_json_set_int64 (record, "ring", (int64_t) ring) < 0
      || berth_json_set_int64 (record, "terminal", (run->asks & BERTH_RUN_TERMINAL) != 0) < 0
      || berth_json_set_int64 (record, "restart", (run->asks & BERTH_RUN_RESTART) != 0) < 0
      || berth_json_set_int64 (record, "columns", run->columns) < 0)
    return -1;
  return berth_json_set_int64 (record, "rows", run->rows);
}

static int
choose_id (struct berth_call *call, struct fake_box *box, const struct berth_run *run, char id[FAKE_ID_MAX + 1])
{
  BERTH_AUTO_FREE char *path = NULL;

  if ((run->asks & BERTH_RUN_NAME) == 0 && berth_id_generate ("p-", 10, id, FAKE_ID_MAX + 1) < 0)
    return fake_failed (call, "make an id");
  if ((run->asks & BERTH_RUN_NAME) != 0)
    {
      if (!fake_id_is_valid (run->name))
        return call->services->fail (call, BERTH_E_INVALID_REQUEST, "not a name of a process session: `%s`",
                                     run->name);
      memcpy (id, run->name, strlen (run->name) + 1);
    }
  path = berth_path_join ("processes", id);
  if (path == NULL || (mkdirat (box->directory, "processes", 0700) < 0 && errno != EEXIST))
    return fake_failed (call, "make the folder of process sessions");
  if (mkdirat (box->directory, path, 0700) == 0)
    return 0;
  return errno == EEXIST
             ? call->services->fail (call, BERTH_E_CONFLICT, "process session `%s` exists already", id)
             : fake_failed (call, "make the folder of a process session");
}

static int
store_start (struct berth_call *call, struct fake_box *box, const struct berth_run *run, const char *id)
{
  BERTH_AUTO_JSON struct berth_json *record = berth_json_new_object ();
  BERTH_AUTO_JSON struct berth_json *stored = run_json (run);
  BERTH_AUTO_FREE char *path = fake_process_file (id, "record.json");
  BERTH_AUTO_FREE char *run_path = fake_process_file (id, "run.json");

  if (path == NULL || run_path == NULL || stored == NULL || record == NULL || fill_record (record, run) < 0)
    return fake_failed (call, "make a process record");
  if (begin_run (call, box, record, run) < 0)
    return -1;
  if (fake_json_save (box->directory, run_path, stored) < 0 || fake_json_save (box->directory, path, record) < 0)
    return fake_failed (call, "write a process record");
  return 0;
}

int
fake_process_start (struct berth_call *call, struct fake_box *box, const struct berth_run *run,
                    char id[FAKE_ID_MAX + 1])
{
  if (choose_id (call, box, run, id) < 0)
    return -1;
  if (store_start (call, box, run, id) == 0)
    return 0;
  (void) fake_process_remove (call, box, id);
  return -1;
}

int
fake_process_restart (struct berth_call *call, struct fake_process *process)
{
  BERTH_AUTO_FREE char *path = fake_process_file (process->id, "run.json");
  BERTH_AUTO_JSON struct berth_json *stored = NULL;
  FAKE_AUTO_WORDS struct fake_words words = { NULL, 0 };
  BERTH_AUTO_FREE struct berth_pair *pairs = NULL;
  struct berth_run run;

  if (path != NULL)
    stored = fake_json_load (process->box->directory, path);
  if (stored == NULL || run_from_json (stored, &words, &pairs, &run) < 0)
    return fake_failed (call, "start a process session again");
  return begin_run (call, process->box, process->record, &run);
}

/* --- input and signals ------------------------------------------------------------------------------------- */

static int
end_process (struct fake_process *process, uint32_t reason, int32_t code, int32_t number)
{
  fake_pending_clear (process->record);
  if (berth_json_set_int64 (process->record, "running", 0) < 0
      || berth_json_set_int64 (process->record, "reason", reason) < 0
      || berth_json_set_int64 (process->record, "code", code) < 0
      || berth_json_set_int64 (process->record, "duration", elapsed_of (process)) < 0)
    return -1;
  return berth_json_set_int64 (process->record, "signal", number);
}

/* A line that was typed at a shell: what it prints comes from now on. */
static int
run_line (struct berth_call *call, struct fake_process *process, const char *line)
{
  FAKE_AUTO_OUTCOME struct fake_outcome outcome = FAKE_OUTCOME_INIT;
  const char *const arguments[] = { "sh", "-c", line, NULL };
  char columns[16];
  char rows[16];
  const struct berth_pair size[] = { { "COLUMNS", columns, 0, 0 }, { "LINES", rows, 0, 0 } };
  struct berth_run run = { .struct_size = sizeof run,
                           .argument_count = 3,
                           .asks = BERTH_RUN_ENVIRONMENT,
                           .arguments = arguments,
                           .environment = size,
                           .environment_count = 2 };
  int64_t now = elapsed_of (process);

  snprintf (columns, sizeof columns, "%d", (int) fake_number (process->record, "columns"));
  snprintf (rows, sizeof rows, "%d", (int) fake_number (process->record, "rows"));
  if (fake_command (call, process->box, &run, &outcome) < 0)
    return -1;
  if (strcmp (line, "exit") == 0 || berth_string_starts_with (line, "exit ") || outcome.reason != BERTH_EXITED)
    (void) berth_json_set_int64 (process->record, "ends", 1);
  if ((fake_number (process->record, "due") < now && berth_json_set_int64 (process->record, "due", now) < 0)
      || fake_pending_add (process->record, &outcome) < 0)
    return fake_failed (call, "make a process record");
  return 0;
}

/* Cuts lines off what was typed. */
static int
type_at_shell (struct berth_call *call, struct fake_process *process, const char *bytes, size_t size)
{
  BERTH_AUTO_BUFFER struct berth_buffer line = { 0 };
  const char *end;

  (void) berth_json_to_bytes (berth_json_get (process->record, "line"), &line);
  if (berth_buffer_append (&line, bytes, size) < 0)
    return fake_failed (call, "take input");
  while ((end = memchr (line.data, '\n', line.size)) != NULL)
    {
      BERTH_AUTO_FREE char *text = strndup (line.data, (size_t) (end - line.data));

      if (text == NULL)
        return fake_failed (call, "take input");
      if (run_line (call, process, text) < 0)
        return -1;
      berth_buffer_consume (&line, (size_t) (end - line.data) + 1);
    }
  if (berth_json_set (process->record, "line", berth_json_new_bytes (berth_buffer_string (&line), line.size)) < 0)
    return fake_failed (call, "take input");
  return 0;
}

int
fake_process_input (struct berth_call *call, struct fake_process *process, const char *bytes, size_t size,
                    size_t *accepted)
{
  int64_t reads = fake_number (process->record, "reads");
  int64_t unread = fake_number (process->record, "unread");
  int echoes = reads == 1 || fake_number (process->record, "terminal") != 0;
  uint64_t room = reads == 0 ? (uint64_t) (PIPE_SIZE - unread) : echoes ? fake_output_room (process) : size;

  if (size > room)
    size = (size_t) room;
  *accepted = size;
  if (size == 0)
    return 0;
  if (echoes && fake_output_append (process, BERTH_STDOUT, bytes, size) < 0)
    return fake_failed (call, "echo input");
  if (reads == 0 && berth_json_set_int64 (process->record, "unread", unread + (int64_t) size) < 0)
    return fake_failed (call, "take input");
  if (reads == 2 && type_at_shell (call, process, bytes, size) < 0)
    return -1;
  return fake_process_save (call, process);
}

int
fake_process_end_of_input (struct berth_call *call, struct fake_process *process)
{
  if (fake_number (process->record, "reads") == 0)
    return 0;
  if (berth_json_set_int64 (process->record, "ends", 1) < 0)
    return fake_failed (call, "end input");
  return fake_process_save (call, process);
}

int
fake_process_signal (struct berth_call *call, struct fake_process *process, int32_t number)
{
  int shell = fake_number (process->record, "reads") == 2;

  if (number < 1 || number > 64)
    return call->services->fail (call, BERTH_E_INVALID_REQUEST, "not a signal: %d", number);
  if (number == SIGCHLD || number == SIGCONT || number == SIGURG || number == SIGWINCH)
    return 0;
  if (shell && (number == SIGINT || number == SIGTERM || number == SIGQUIT))
    fake_pending_clear (process->record); /* what runs in it ends, it does not */
  else if (end_process (process, BERTH_SIGNALLED, -1, number) < 0)
    return fake_failed (call, "end a process");
  return fake_process_save (call, process);
}

int
fake_process_remove (struct berth_call *call, struct fake_box *box, const char *id)
{
  BERTH_AUTO_FREE char *path = berth_path_join ("processes", id);

  if (path == NULL || berth_fs_remove_tree (box->directory, path) < 0)
    return fake_failed (call, "remove a process session");
  return 0;
}

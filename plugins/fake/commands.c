/* commands.c - the group `commands`. */
#include "plugins/fake/shell.h"
#include "plugins/fake/tree.h"
#include "sdk/base/path.h"
#include "sdk/base/string.h"

static const char *
user_of (const struct fake_box *box, const struct berth_run *run)
{
  const char *user = (run->asks & BERTH_RUN_USER) != 0 ? run->user : fake_text (box->record, "user");

  return user != NULL ? user : "sandbox";
}

static const char *
workdir_of (const struct berth_run *run)
{
  return (run->asks & BERTH_RUN_WORKDIR) != 0 ? run->workdir : "/workspace";
}

static int
check_workdir (struct berth_call *call, struct fake_box *box, const char *workdir)
{
  FAKE_AUTO_NODE struct fake_node node = FAKE_NODE_INIT;

  if (berth_path_is_normal (workdir, strlen (workdir))
      && fake_node_get (call, box, workdir, FAKE_FIND_FOLLOW, NULL, &node) == 0
      && node.attributes.kind == BERTH_KIND_DIRECTORY)
    return 0;
  return call->services->fail (call, BERTH_E_INVALID_REQUEST, "working directory %s: no such directory", workdir);
}

int
fake_run_check (struct berth_call *call, struct fake_box *box, const struct berth_run *run)
{
  uint32_t uid;

  if (run->argument_count == 0)
    return call->services->fail (call, BERTH_E_INVALID_REQUEST, "a command without a name");
  if (fake_user_id (user_of (box, run), &uid) < 0)
    return call->services->fail (call, BERTH_E_INVALID_REQUEST, "no account `%s` in the sandbox", user_of (box, run));
  if (uid == 0 && fake_number (box->record, "forbid_root") != 0)
    return call->services->fail (call, BERTH_E_POLICY_DENIED, "the specification of `%s` forbids root", box->id);
  for (uint64_t i = 0; (run->asks & BERTH_RUN_ENVIRONMENT) != 0 && i < run->environment_count; i++)
    if (!fake_variable_is_valid (run->environment[i].name))
      return call->services->fail (call, BERTH_E_INVALID_REQUEST, "not a name of an environment variable: `%s`",
                                   run->environment[i].name);
  return check_workdir (call, box, workdir_of (run));
}

/* --- environment --------------------------------------------------------------------------------------------- */

static int
add_variable (struct fake_words *words, const char *name, const char *value)
{
  BERTH_AUTO_FREE char *pair = berth_string_format ("%s=%s", name, value);

  return pair == NULL ? -1 : fake_words_add (words, pair, strlen (pair));
}

static int
add_stored (struct fake_words *words, const struct berth_json *array)
{
  for (size_t i = 0; i < berth_json_length (array); i++)
    {
      const struct berth_json *pair = berth_json_at (array, i);
      BERTH_AUTO_BUFFER struct berth_buffer value = { 0 };

      if (berth_json_to_bytes (berth_json_get (pair, "value"), &value) < 0
          || add_variable (words, fake_text (pair, "name"), berth_buffer_string (&value)) < 0)
        return -1;
    }
  return 0;
}

/* Later ones win: defaults, the sandbox's, its secrets, the command's. */
static int
fill_environment (struct fake_shell *shell, const struct berth_run *run, const char *user)
{
  struct fake_words *words = &shell->environment;
  BERTH_AUTO_JSON struct berth_json *secrets = fake_json_load (shell->box->directory, "secrets.json");

  if (add_variable (words, "PATH", "/usr/local/bin:/usr/bin:/bin") < 0 || add_variable (words, "HOME", "/workspace") < 0
      || add_variable (words, "USER", user) < 0 || add_variable (words, "LOGNAME", user) < 0
      || add_variable (words, "LANG", "C.UTF-8") < 0
      || add_stored (words, berth_json_get (shell->box->record, "environment")) < 0 || add_stored (words, secrets) < 0)
    return fake_failed (shell->call, "make an environment");
  for (uint64_t i = 0; (run->asks & BERTH_RUN_ENVIRONMENT) != 0 && i < run->environment_count; i++)
    if (add_variable (words, run->environment[i].name, run->environment[i].value) < 0)
      return fake_failed (shell->call, "make an environment");
  return 0;
}

int
fake_command (struct berth_call *call, struct fake_box *box, const struct berth_run *run, struct fake_outcome *outcome)
{
  struct fake_shell shell = { .call = call,
                              .box = box,
                              .outcome = outcome,
                              .workdir = workdir_of (run),
                              .stdout_stream = BERTH_STDOUT };
  int result;

  if (fake_user_id (user_of (box, run), &shell.uid) < 0)
    shell.uid = 1000;
  result = fill_environment (&shell, run, user_of (box, run));
  if (result == 0)
    result = fake_shell_command (&shell, (char **) run->arguments, run->argument_count);
  fake_words_free (&shell.environment);
  if (outcome->reason == BERTH_EXITED)
    outcome->code = shell.status;
  return result;
}

static int
fake_run (struct berth_call *call, struct berth_handle *handle, const struct berth_run *run,
          const struct berth_run_sink *sink)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  FAKE_AUTO_OUTCOME struct fake_outcome outcome = FAKE_OUTCOME_INIT;
  int64_t timeout = (run->asks & BERTH_RUN_TIMEOUT) != 0 ? run->timeout_ms : 0;

  if (BERTH_REFUSE_UNKNOWN (call, RUN, run->asks,
                            BERTH_RUN_ENVIRONMENT | BERTH_RUN_WORKDIR | BERTH_RUN_USER | BERTH_RUN_TIMEOUT)
          < 0
      || fake_point (call, handle->state, "commands.run") < 0 || fake_box_for_handle (call, handle, &box) < 0
      || fake_run_check (call, &box, run) < 0 || fake_command (call, &box, run, &outcome) < 0)
    return -1;
  fake_box_event (&box, "ran %s", run->arguments[0]);
  fake_box_close (&box);
  return fake_outcome_play (call, handle, &outcome, timeout, sink);
}

const struct berth_commands_ops fake_commands = {
  .struct_size = sizeof fake_commands,
  .run = fake_run,
};

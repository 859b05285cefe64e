/* What a command gets: its account, its environment, its place. */
#include <stdlib.h>
#include <string.h>

#include "sdk/agent/spawn.h"
#include "sdk/base/string.h"

#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static size_t
name_size (const char *pair)
{
  return strcspn (pair, "=");
}

/* A later value takes the place of an earlier one of the same name. */
static void
set_variable (char **environment, size_t *count, char *pair)
{
  size_t size = name_size (pair);

  for (size_t i = 0; i < *count; i++)
    if (environment[i][0] == pair[0] && strncmp (environment[i], pair, size + 1) == 0)
      {
        environment[i] = pair;
        return;
      }
  environment[(*count)++] = pair;
  environment[*count] = NULL;
}

static size_t
count_strings (const struct berth_buffer *strings)
{
  size_t count = 0;

  for (size_t at = 0; at < strings->size; at += strlen (strings->data + at) + 1)
    count++;
  return count;
}

static int
make_own (struct command *command)
{
  command->own[0] = berth_string_format ("HOME=%s", command->account.home);
  command->own[1] = berth_string_format ("USER=%s", command->account.name);
  command->own[2] = berth_string_format ("LOGNAME=%s", command->account.name);
  return command->own[0] == NULL || command->own[1] == NULL || command->own[2] == NULL ? -1 : 0;
}

static int
make_environment (const struct agent *agent, const struct request *request, struct command *command,
                  struct failure *failure)
{
  static char path[] = "PATH=" DEFAULT_PATH, lang[] = "LANG=C.UTF-8";
  size_t room = count_strings (&agent->environment) + request->environment_count + 6, count = 0;

  command->environment = calloc (room, sizeof *command->environment);
  if (command->environment == NULL || make_own (command) < 0)
    return agent_fail (failure, BERTH_E_RESOURCE_EXHAUSTED, "no memory for the environment");
  set_variable (command->environment, &count, path);
  set_variable (command->environment, &count, lang);
  for (size_t i = 0; command->own[i] != NULL; i++)
    set_variable (command->environment, &count, command->own[i]);
  for (size_t at = 0; at < agent->environment.size; at += strlen (agent->environment.data + at) + 1)
    set_variable (command->environment, &count, agent->environment.data + at);
  for (size_t i = 0; i < request->environment_count; i++)
    set_variable (command->environment, &count, request->environment[i]);
  command->path = DEFAULT_PATH;
  for (size_t i = 0; i < count; i++)
    if (berth_string_starts_with (command->environment[i], "PATH="))
      command->path = command->environment[i] + 5;
  return 0;
}

int
command_prepare (const struct agent *agent, const struct request *request, struct command *command,
                 struct failure *failure)
{
  struct accounts accounts ACCOUNTS_AUTO = { 0 };
  const char *user = request->user == NULL ? agent->user : request->user;

  if (accounts_load (agent, &accounts, failure) < 0
      || account_find (&accounts, user, &command->account, failure) < 0)
    return -1;
  if (agent->forbid_root && command->account.uid == 0)
    {
      agent_fail (failure, BERTH_E_POLICY_DENIED, "this sandbox runs no command as root");
      agent_hint (failure, "leave the user out, or create the sandbox with root allowed");
      return -1;
    }
  if (agent->own_id != 0 && command->account.uid == agent->own_id)
    return agent_fail (failure, BERTH_E_INVALID_REQUEST, "the account %s has the agent's own number, %lu",
                       agent_quote (user).text, (unsigned long) agent->own_id);
  if (account_check_ids (&accounts, user, command->account.uid, command->account.gid, failure) < 0)
    return -1;
  command->workdir = request->workdir == NULL ? agent->workspace : request->workdir;
  if (command->workdir[0] != '/')
    return agent_fail (failure, BERTH_E_INVALID_REQUEST, "bad working directory %s: it is not absolute",
                       agent_quote (command->workdir).text);
  command->arguments = request->arguments;
  return make_environment (agent, request, command, failure);
}

void
command_free (struct command *command)
{
  free (command->environment);
  for (size_t i = 0; command->own[i] != NULL; i++)
    free (command->own[i]);
}

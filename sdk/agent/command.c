/* What a command gets: its account, its environment, its place. */
#include <stdlib.h>
#include <string.h>

#include "sdk/agent/spawn.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/string.h"

#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static size_t
name_size (const char *pair)
{
  return strcspn (pair, "=");
}

/* An environment that grows, with a table of its names: a request may bring tens of thousands. */
struct growing
{
  char **strings;
  size_t count;
  uint32_t *table; /* numbers of strings, from 1; 0: free */
  size_t mask;     /* the table's size, a power of two and more than twice the strings, less 1 */
};

static size_t
hash_name (const char *pair, size_t size)
{
  uint32_t hash = 2166136261u;

  for (size_t i = 0; i < size; i++)
    hash = (hash ^ (unsigned char) pair[i]) * 16777619u;
  return hash;
}

/* A later value takes the place of an earlier one of the same name. */
static void
set_variable (struct growing *environment, char *pair)
{
  size_t size = name_size (pair);
  size_t at = hash_name (pair, size) & environment->mask;

  for (; environment->table[at] != 0; at = (at + 1) & environment->mask)
    {
      char **earlier = &environment->strings[environment->table[at] - 1];
      if (strncmp (*earlier, pair, size) == 0 && (*earlier)[size] == pair[size])
        {
          *earlier = pair;
          return;
        }
    }
  environment->strings[environment->count++] = pair;
  environment->strings[environment->count] = NULL;
  environment->table[at] = (uint32_t) environment->count;
}

static void
end_growing (struct growing *environment)
{
  free (environment->table);
}

static int
make_growing (struct growing *environment, size_t room)
{
  size_t size = 16;

  while (size < 2 * room)
    size *= 2;
  *environment = (struct growing) { .strings = calloc (room, sizeof *environment->strings),
                                    .table = calloc (size, sizeof *environment->table),
                                    .mask = size - 1 };
  return environment->strings == NULL || environment->table == NULL ? -1 : 0;
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
  size_t room = count_strings (&agent->environment) + request->environment_count + 6;
  BERTH_CLEANUP (end_growing) struct growing environment;
  int made = make_growing (&environment, room);

  command->environment = environment.strings;
  if (made < 0 || make_own (command) < 0)
    return agent_fail (failure, BERTH_E_RESOURCE_EXHAUSTED, "no memory for the environment");
  set_variable (&environment, path);
  set_variable (&environment, lang);
  for (size_t i = 0; command->own[i] != NULL; i++)
    set_variable (&environment, command->own[i]);
  for (size_t at = 0; at < agent->environment.size; at += strlen (agent->environment.data + at) + 1)
    set_variable (&environment, agent->environment.data + at);
  for (size_t i = 0; i < request->environment_count; i++)
    set_variable (&environment, request->environment[i]);
  command->path = DEFAULT_PATH;
  for (size_t i = 0; i < environment.count; i++)
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

/* spawn.h - the start of a command. */
#ifndef BERTH_SDK_AGENT_SPAWN_H
#define BERTH_SDK_AGENT_SPAWN_H

#include "sdk/agent/account.h"
#include "sdk/agent/request.h"

/* Everything a command needs, made before there is a process for it. */
struct command
{
  char **arguments;
  char **environment; /* freed by command_free; its strings are not its own but for OWN */
  char *own[4];       /* HOME, USER, LOGNAME, and a spare end */
  const char *path;   /* the PATH that it is looked up in */
  const char *workdir;
  struct account account;
};

#define COMMAND_AUTO __attribute__ ((cleanup (command_free)))

int command_prepare (const struct agent *agent, const struct request *request, struct command *command,
                     struct failure *failure);
void command_free (struct command *command);

/* Where a start failed. */
enum spawn_stage
{
  SPAWN_OK = 0,
  SPAWN_FORK,
  SPAWN_SETUP,   /* descriptors, limits, session */
  SPAWN_ACCOUNT,
  SPAWN_WORKDIR,
  SPAWN_EXECUTE
};

struct spawned
{
  pid_t pid; /* already reaped when STAGE is not SPAWN_OK */
  enum spawn_stage stage;
  int error;
};

/* Starts COMMAND with the given standard descriptors and returns once it runs or could not. */
void command_spawn (const struct agent *agent, const struct command *command, const int standard[3],
                    struct spawned *spawned);

#endif

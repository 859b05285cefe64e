/* An archive's whole way into a workspace: the client reads it as tar and sends its entries, the agent
 * makes them.  The agent is a thread here that has a jail as its root and no privileges; after
 * each archive nothing outside the workspace may have changed.  Each goes in twice, since
 * the agent has two ways to open a path, and both must come to the same. */
#include "sdk/agentlink/fuzz/import.h"

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sdk/agent/agent.h"
#include "sdk/agentlink/fuzz/jail.h"
#include "sdk/agentlink/tests/recorded.h"

#define NOWHERE (-1)
#define UNASKED (-2) /* what is no archive at all does not get as far as the agent */

/* libFuzzer's functions take no argument. */
static struct
{
  struct jail jail;
  struct agent agent;
  struct berth_handle handle;
  char user[16];
  pthread_t thread;
  sem_t given; /* a connection in FD, or NOWHERE at the end */
  sem_t served;
  int fd;
} fuzz;

static _Noreturn void
give_up (const char *what)
{
  perror (what);
  exit (2);
}

static void
await (sem_t *semaphore)
{
  while (sem_wait (semaphore) < 0)
    continue;
}

/* ---- the agent ---- */

static void *
serve (void *context)
{
  struct worker self = { 0 };

  (void) context;
  if (jail_enter (&fuzz.jail) < 0)
    give_up ("entering the jail");
  for (;;)
    {
      await (&fuzz.given);
      if (fuzz.fd == NOWHERE)
        return NULL;
      agent_serve_connection (&fuzz.agent, &self, fuzz.fd, true);
      close (fuzz.fd);
      sem_post (&fuzz.served);
    }
}

static int
connect_agent (struct berth_call *call, void *context)
{
  int pair[2];

  (void) context;
  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "no socket");
  fuzz.fd = pair[1];
  sem_post (&fuzz.given);
  return pair[0];
}

static void
finish (void)
{
  fuzz.fd = NOWHERE;
  sem_post (&fuzz.given);
  pthread_join (fuzz.thread, NULL);
  jail_remove (&fuzz.jail);
}

static void
start (void)
{
  const struct agentlink_transport transport = { .connect = connect_agent };

  if (jail_make (&fuzz.jail) < 0)
    give_up ("making the jail");
  snprintf (fuzz.user, sizeof fuzz.user, "%u", (unsigned) fuzz.jail.uid);
  fuzz.agent = (struct agent) { .listener = -1,
                                .timer = -1,
                                .proc = open ("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC),
                                .root = fuzz.jail.root,
                                .user = fuzz.user,
                                .workspace = "/workspace" };
  agentlink_init (&fuzz.handle.link, &transport, NULL, 0);
  if (sem_init (&fuzz.given, 0, 0) < 0 || sem_init (&fuzz.served, 0, 0) < 0
      || pthread_create (&fuzz.thread, NULL, serve, NULL) != 0)
    give_up ("starting the agent");
  atexit (finish);
}

/* ---- an archive ---- */

/* The code of its failure, or 0. */
static uint32_t
import (const uint8_t *bytes, size_t size, bool use_openat2)
{
  const struct berth_tar_limits limits = { .struct_size = sizeof limits, .max_bytes = 1 << 20, .max_entries = 1000 };
  struct memory memory = { (const char *) bytes, size, 0, 0 };
  struct berth_source source = memory_source (&memory);
  struct recorded recorded;
  int result;

  fuzz.agent.use_openat2 = use_openat2;
  fuzz.fd = UNASKED;
  recorded_start (&recorded);
  result = agentlink_import_tar (&recorded.call, &fuzz.handle, &limits, &source);
  if (fuzz.fd != UNASKED)
    await (&fuzz.served);
  jail_check (&fuzz.jail);
  if (result == 0 ? recorded.code != 0 : recorded.code == 0 || recorded.code == BERTH_E_INTERNAL || recorded.message[0] == '\0')
    {
      fprintf (stderr, "result %d, code %u: %s\n", result, (unsigned) recorded.code, recorded.message);
      abort ();
    }
  return recorded.code;
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  uint32_t code;

  if (fuzz.agent.user == NULL)
    start ();
  code = import (bytes, size, true);
  if (import (bytes, size, false) != code)
    {
      fprintf (stderr, "openat2 and walking come to different ends\n");
      abort ();
    }
  return 0;
}

/* berth-agent: the first process of a sandbox.  docs/agent-protocol.md describes its options.
 * Under other names it is what keeps a network for one, guard.h, and a way into one that is held, door.h. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "sdk/agent/deadline.h"
#include "sdk/agent/door.h"
#include "sdk/agent/guard.h"
#include "sdk/agent/harden.h"
#include "sdk/agent/wire.h"
#include "sdk/base/fd.h"
#include "sdk/base/string.h"

#define DEFAULT_GRACE_MS 5000
#define ENVIRONMENT_MAXIMUM (2u * 1024 * 1024)
#define FILTER_MAXIMUM 65536
#define LISTENER 3 /* where the inherited socket is moved to */
#define READY 4    /* and what the hello goes to */
#define EXIT_NO_START 2

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

struct options
{
  int listen_fd;
  int token_fd;
  int seccomp_fd;
  int environment_fd;
  int ready_fd;
  uint64_t ttl_ms; /* UINT64_MAX: none */
  struct berth_buffer filter;
};

static _Noreturn void
give_up (const char *what, const char *why)
{
  fprintf (stderr, "berth-agent: %s: %s\n", what, why);
  exit (EXIT_NO_START);
}

static uint64_t
number_of (const char *option, const char *text, uint64_t least, uint64_t most)
{
  uint64_t number;

  if (berth_string_to_uint64 (text, least, most, &number) < 0)
    give_up (option, "not a number, or out of range");
  return number;
}

static int
descriptor_of (const char *option, const char *text)
{
  return (int) number_of (option, text, 3, INT32_MAX);
}

enum known_option
{
  OPTION_LISTEN_FD = 1000,
  OPTION_TOKEN_FD,
  OPTION_SECCOMP_FD,
  OPTION_ENVIRONMENT_FD,
  OPTION_READY_FD,
  OPTION_TTL,
  OPTION_GRACE,
  OPTION_USER,
  OPTION_WORKSPACE,
  OPTION_OPEN_FILES,
  OPTION_PROCESSES,
  OPTION_FILE_SIZE,
  OPTION_CORE,
  OPTION_OWN_ID,
  OPTION_FORBID_ROOT,
  OPTION_SINGLE_USER,
  OPTION_LANDLOCK,
  OPTION_NO_OPENAT2,
  OPTION_VERSION
};

static const struct option known_options[] = {
  { "listen-fd", required_argument, NULL, OPTION_LISTEN_FD },
  { "token-fd", required_argument, NULL, OPTION_TOKEN_FD },
  { "seccomp-fd", required_argument, NULL, OPTION_SECCOMP_FD },
  { "environment-fd", required_argument, NULL, OPTION_ENVIRONMENT_FD },
  { "ready-fd", required_argument, NULL, OPTION_READY_FD },
  { "ttl-ms", required_argument, NULL, OPTION_TTL },
  { "grace-ms", required_argument, NULL, OPTION_GRACE },
  { "user", required_argument, NULL, OPTION_USER },
  { "workspace", required_argument, NULL, OPTION_WORKSPACE },
  { "limit-open-files", required_argument, NULL, OPTION_OPEN_FILES },
  { "limit-processes", required_argument, NULL, OPTION_PROCESSES },
  { "limit-file-size", required_argument, NULL, OPTION_FILE_SIZE },
  { "limit-core", required_argument, NULL, OPTION_CORE },
  { "own-id", required_argument, NULL, OPTION_OWN_ID },
  { "forbid-root", no_argument, NULL, OPTION_FORBID_ROOT },
  { "single-user", no_argument, NULL, OPTION_SINGLE_USER },
  { "landlock", no_argument, NULL, OPTION_LANDLOCK },
  { "no-openat2", no_argument, NULL, OPTION_NO_OPENAT2 },
  { "version", no_argument, NULL, OPTION_VERSION },
  { NULL, 0, NULL, 0 },
};

static void
take_descriptor (struct options *options, int which, const char *text)
{
  switch (which)
    {
    case OPTION_LISTEN_FD:
      options->listen_fd = descriptor_of ("--listen-fd", text);
      break;
    case OPTION_TOKEN_FD:
      options->token_fd = descriptor_of ("--token-fd", text);
      break;
    case OPTION_SECCOMP_FD:
      options->seccomp_fd = descriptor_of ("--seccomp-fd", text);
      break;
    case OPTION_READY_FD:
      options->ready_fd = descriptor_of ("--ready-fd", text);
      break;
    default:
      options->environment_fd = descriptor_of ("--environment-fd", text);
      break;
    }
}

static void
take_limit (struct agent *agent, int which, const char *text)
{
  uint64_t limit = number_of ("--limit", text, 0, INT64_MAX);

  switch (which)
    {
    case OPTION_OPEN_FILES:
      agent->limit_open_files = limit;
      break;
    case OPTION_PROCESSES:
      agent->limit_processes = limit;
      break;
    case OPTION_FILE_SIZE:
      agent->limit_file_size = limit;
      break;
    default:
      agent->limit_core = limit;
      break;
    }
}

static void
take_option (struct agent *agent, struct options *options, int which, const char *text)
{
  switch (which)
    {
    case OPTION_LISTEN_FD:
    case OPTION_TOKEN_FD:
    case OPTION_SECCOMP_FD:
    case OPTION_ENVIRONMENT_FD:
    case OPTION_READY_FD:
      take_descriptor (options, which, text);
      break;
    case OPTION_TTL:
      options->ttl_ms = number_of ("--ttl-ms", text, 0, INT64_MAX);
      break;
    case OPTION_GRACE:
      agent->grace_ms = (int64_t) number_of ("--grace-ms", text, 0, 3600000);
      break;
    case OPTION_USER:
      agent->user = text;
      break;
    case OPTION_WORKSPACE:
      agent->workspace = text;
      break;
    case OPTION_OWN_ID:
      agent->own_id = (uid_t) number_of ("--own-id", text, 1, UINT32_MAX - 1);
      break;
    case OPTION_FORBID_ROOT:
      agent->forbid_root = true;
      break;
    case OPTION_SINGLE_USER:
      agent->single_user = true;
      break;
    case OPTION_LANDLOCK:
      agent->landlock = true;
      break;
    case OPTION_NO_OPENAT2:
      agent->use_openat2 = false;
      break;
    case OPTION_VERSION:
      printf ("berth-agent %s, protocol %d.%d\n", AGENT_VERSION, WIRE_MAJOR, WIRE_MINOR);
      exit (EXIT_SUCCESS);
    case '?':
      exit (EXIT_NO_START);
    default:
      take_limit (agent, which, text);
    }
}

static void
read_options (int argc, char **argv, struct agent *agent, struct options *options)
{
  int which;

  *options = (struct options) { -1, -1, -1, -1, -1, UINT64_MAX, { 0 } };
  while ((which = getopt_long (argc, argv, "", known_options, NULL)) >= 0)
    take_option (agent, options, which, optarg);
  if (optind < argc)
    give_up (argv[optind], "not an option");
  if (options->listen_fd < 0)
    give_up ("--listen-fd", "missing");
}

static void
read_descriptor (int fd, const char *option, struct berth_buffer *buffer, size_t limit)
{
  if (fd < 0)
    return;
  if (berth_fd_read_all (fd, buffer, limit) < 0)
    give_up (option, strerror (errno));
  close (fd);
}

static void
read_token (struct agent *agent, int fd)
{
  BERTH_CLEANUP (berth_buffer_erase) struct berth_buffer token = { 0 };

  if (fd < 0)
    return;
  read_descriptor (fd, "--token-fd", &token, WIRE_TOKEN_MAXIMUM);
  if (token.size < WIRE_TOKEN_MINIMUM)
    give_up ("--token-fd", "fewer than 16 bytes");
  memcpy (agent->token, token.data, token.size);
  agent->token_size = token.size;
}

/* Moves what OPTION names to the PLACE that stays open. */
static void
move_descriptor (int fd, int place, const char *option)
{
  if ((fd != place && dup3 (fd, place, O_CLOEXEC) < 0) || berth_fd_set_cloexec (place, true) < 0)
    give_up (option, strerror (errno));
}

static void
read_inherited (struct agent *agent, struct options *options)
{
  read_token (agent, options->token_fd);
  read_descriptor (options->environment_fd, "--environment-fd", &agent->environment, ENVIRONMENT_MAXIMUM);
  if (agent->environment.size > 0 && agent->environment.data[agent->environment.size - 1] != '\0')
    give_up ("--environment-fd", "the last string has no end");
  read_descriptor (options->seccomp_fd, "--seccomp-fd", &options->filter, FILTER_MAXIMUM);
  /* Out of the listener's way first. */
  if (options->ready_fd >= 0 && (options->ready_fd = fcntl (options->ready_fd, F_DUPFD_CLOEXEC, READY)) < 0)
    give_up ("--ready-fd", strerror (errno));
  move_descriptor (options->listen_fd, LISTENER, "--listen-fd");
  agent->listener = LISTENER;
  if (berth_fd_set_nonblocking (LISTENER, false) < 0)
    give_up ("--listen-fd", strerror (errno));
  if (options->ready_fd >= 0)
    move_descriptor (options->ready_fd, READY, "--ready-fd");
  syscall (SYS_close_range, (options->ready_fd >= 0 ? READY : LISTENER) + 1u, UINT32_MAX, 0u);
}

/* Who started it need not ask.  Its end is closed before anything is forked, and the number stays taken: the
 * first connection would have it, below the timer (open_own). */
static void
say_hello (const struct agent *agent, const struct options *options)
{
  BERTH_AUTO_BUFFER struct berth_buffer hello = { 0 };

  if (options->ready_fd < 0)
    return;
  wire_add_hello (&hello, NULL, 0);
  if (hello.error != 0 || berth_fd_write_all (READY, hello.data, hello.size) < 0)
    give_up ("--ready-fd", strerror (errno));
  if (dup3 (agent->proc, READY, O_CLOEXEC) < 0)
    give_up ("--ready-fd", strerror (errno));
}

/* The timer last: above it are connections only (serve_accepted of accept.c). */
static void
open_own (struct agent *agent, uint64_t ttl_ms)
{
  size_t size = AGENT_WORKERS_MAXIMUM * sizeof *agent->workers;

  agent->proc = open ("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
  agent->root = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (agent->proc < 0 || agent->root < 0 || chdir ("/") < 0)
    give_up ("/proc or /", strerror (errno));
  agent->timer = timerfd_create (CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
  if (agent->timer < 0 || (ttl_ms != UINT64_MAX && deadline_set (agent, ttl_ms) < 0))
    give_up ("--ttl-ms", strerror (errno));
  agent->workers = mmap (NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (agent->workers == MAP_FAILED)
    give_up ("memory", strerror (errno));
}

int
main (int argc, char **argv)
{
  struct agent agent = { .user = "sandbox",
                         .workspace = "/workspace",
                         .limit_open_files = UINT64_MAX,
                         .limit_processes = UINT64_MAX,
                         .limit_file_size = UINT64_MAX,
                         .limit_core = UINT64_MAX,
                         .grace_ms = DEFAULT_GRACE_MS,
                         .use_openat2 = true };
  struct options options;
  const char *failed;

  if (argc > 0 && strcmp (argv[0], GUARD_NAME) == 0)
    guard_main (argc, argv);
  if (argc > 0 && strcmp (argv[0], DOOR_NAME) == 0)
    door_main ();
  read_options (argc, argv, &agent, &options);
  harden_signals ();
  read_inherited (&agent, &options);
  open_own (&agent, options.ttl_ms);
  /* Whatever file it was executed from. */
  prctl (PR_SET_NAME, "berth-agent");
  umask (0);
  if (agent.own_id != 0 && harden_identity (agent.own_id) < 0)
    give_up ("--own-id", strerror (errno));
  if (agent.limit_core != UINT64_MAX && harden_core (agent.limit_core) < 0)
    give_up ("--limit-core", strerror (errno));
  failed = harden_process (options.filter.data, options.filter.size);
  if (failed != NULL)
    give_up (failed, strerror (errno));
  if (agent.landlock && harden_writes (agent.workspace) < 0)
    give_up ("--landlock", strerror (errno));
  berth_buffer_free (&options.filter);
  say_hello (&agent, &options);
  agent_serve (&agent);
  berth_buffer_free (&agent.environment);
  return EXIT_SUCCESS;
}

/* What a backend asks of an agent, and what a bad agent cannot do to it. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sdk/agentlink/stream.h"
#include "sdk/agentlink/tests/support.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/clock.h"
#include "sdk/base/fd.h"
#include "sdk/base/tests/runner.h"

/* Whether the agent ends by itself within MS; its exit status is kept by agent_stop. */
static bool
ends_within (struct agent_under_test *agent, int64_t ms)
{
  int64_t end = berth_clock_monotonic_ms () + ms;
  int status;

  while (berth_clock_monotonic_ms () < end)
    {
      if (waitpid (agent->pid, &status, WNOHANG) == agent->pid)
        {
          agent->pid = -1;
          CU_ASSERT_EQUAL (status, 0);
          return true;
        }
      berth_clock_sleep_ms (5);
    }
  return false;
}

static void
start_background (struct agent_under_test *agent)
{
  struct run_result result;

  run_script (agent, NULL, "setsid sleep 1000 >/dev/null 2>&1 & echo $!", &result);
  CU_ASSERT_EQUAL (result.exit.code, 0);
  run_result_free (&result);
}

/* No process is left whose working directory was the workspace. */
static void
check_nothing_left (const char *workspace)
{
  char command[256];

  snprintf (command, sizeof command, "! ls -l /proc/[0-9]*/cwd 2>/dev/null | grep -q ' -> %s'", workspace);
  CU_ASSERT_EQUAL (system (command), 0);
}

static void
test_ping (void)
{
  struct agent_under_test agent;
  struct agentlink_facts facts;

  if (!agent_start (&agent, NULL))
    return;
  start_background (&agent);
  CU_ASSERT_EQUAL (agentlink_ping (&agent.recorded.call, &agent.handle.link, &facts), 0);
  CU_ASSERT_EQUAL (facts.minor, WIRE_MINOR);
  CU_ASSERT_EQUAL (facts.processes, 1);
  CU_ASSERT (facts.version[0] != '\0');
  CU_ASSERT_EQUAL (agent_stop (&agent), 0);
  check_nothing_left (agent.workspace);
}

static void
test_end (void)
{
  struct agent_under_test agent;

  if (!agent_start (&agent, NULL))
    return;
  start_background (&agent);
  CU_ASSERT_EQUAL (agentlink_end (&agent.recorded.call, &agent.handle.link), 0);
  check_nothing_left (agent.workspace);
  CU_ASSERT (ends_within (&agent, 1000));
  agent_stop (&agent);
}

static void
test_deadline (void)
{
  struct agent_under_test agent;
  struct berth_expiry expiry;
  struct berth_call *call = &agent.recorded.call;
  struct agentlink *link = &agent.handle.link;

  if (!agent_start (&agent, (const char *const[]) { "--ttl-ms", "60000", NULL }))
    return;
  CU_ASSERT_EQUAL (agentlink_deadline_get (call, link, &expiry), 0);
  CU_ASSERT_EQUAL (expiry.kind, BERTH_EXPIRES_AT);
  CU_ASSERT (expiry.remaining_ms > 50000 && expiry.remaining_ms <= 60000);
  CU_ASSERT_EQUAL (agentlink_deadline_set (call, link, BERTH_NO_DEADLINE, &expiry), 0);
  CU_ASSERT_EQUAL (expiry.kind, BERTH_EXPIRES_NEVER);
  CU_ASSERT_EQUAL (agentlink_deadline_get (call, link, &expiry), 0);
  CU_ASSERT_EQUAL (expiry.kind, BERTH_EXPIRES_NEVER);
  CU_ASSERT_EQUAL (agentlink_deadline_set (call, link, -1, &expiry), -1);
  CU_ASSERT_EQUAL (agentlink_deadline_set (call, link, INT64_MAX - 1, &expiry), -1);
  CU_ASSERT_EQUAL (agent.recorded.code, BERTH_E_INVALID_REQUEST);
  start_background (&agent);
  CU_ASSERT_EQUAL (agentlink_deadline_set (call, link, 200, &expiry), 0);
  CU_ASSERT (expiry.remaining_ms <= 200);
  CU_ASSERT (ends_within (&agent, 3000));
  check_nothing_left (agent.workspace);
  agent_stop (&agent);
}

static void
test_own (void)
{
  struct agent_under_test agent;
  int owner;

  if (!agent_start (&agent, NULL))
    return;
  start_background (&agent);
  owner = agentlink_own (&agent.recorded.call, &agent.handle.link);
  CU_ASSERT (owner >= 0);
  CU_ASSERT_FALSE (ends_within (&agent, 200));
  close (owner);
  CU_ASSERT (ends_within (&agent, 5000));
  check_nothing_left (agent.workspace);
  agent_stop (&agent);
}

static void
test_environment (void)
{
  struct agent_under_test agent;
  struct run_result result;
  int pair[2];
  char number[16];

  CU_ASSERT_EQUAL_FATAL (pipe (pair), 0);
  CU_ASSERT_EQUAL (berth_fd_write_all (pair[1], "A=1\0B=two words\0LANG=C", 23), 0);
  close (pair[1]);
  snprintf (number, sizeof number, "%d", pair[0]);
  if (agent_start (&agent, (const char *const[]) { "--environment-fd", number, NULL }))
    {
      run_script (&agent, NULL, "echo $A,$B,$LANG", &result);
      CU_ASSERT_STRING_EQUAL (berth_buffer_string (&result.streams[0]), "1,two words,C\n");
      run_result_free (&result);
      agent_stop (&agent);
    }
  close (pair[0]);
}

static void
test_token (void)
{
  static const char *const wrong[] = { "0123456789abcdef0123456789abcdeX", "0123456789abcdef", "" };
  struct agent_under_test agent;

  if (!agent_start (&agent, NULL))
    return;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    {
      agent.handle.link.token = wrong[i];
      agent.handle.link.token_size = strlen (wrong[i]);
      CU_ASSERT_EQUAL (agentlink_ping (&agent.recorded.call, &agent.handle.link, NULL), -1);
      CU_ASSERT_EQUAL (agent.recorded.code, BERTH_E_UNAUTHORIZED);
    }
  agent.handle.link.token = "0123456789abcdef0123456789abcdef";
  agent.handle.link.token_size = 32;
  CU_ASSERT_EQUAL (agentlink_ping (&agent.recorded.call, &agent.handle.link, NULL), 0);
  agent_stop (&agent);
}

static void
test_peers (void)
{
  struct agent_under_test agent;
  struct run_result result;

  if (agent_start_as (&agent, AGENT_WITHOUT_TOKEN, NULL))
    {
      CU_ASSERT_EQUAL (agentlink_ping (&agent.recorded.call, &agent.handle.link, NULL), -1);
      CU_ASSERT_EQUAL (agent.recorded.code, BERTH_E_UNREACHABLE);
      agent_stop (&agent);
    }
  if (agent_start_as (&agent, AGENT_IN_NAMESPACE, NULL))
    {
      /* It is process 1 there, and what it is told to end is gone with it. */
      run_script (&agent, NULL, "cat /proc/1/comm; kill -KILL 1 2>&1; setsid sleep 1000 >/dev/null 2>&1 &", &result);
      CU_ASSERT_EQUAL (strncmp (berth_buffer_string (&result.streams[0]), "berth-agent\n", 12), 0);
      run_result_free (&result);
      CU_ASSERT_EQUAL (agentlink_ping (&agent.recorded.call, &agent.handle.link, NULL), 0);
      CU_ASSERT_EQUAL (agent_stop (&agent), 0);
      check_nothing_left (agent.workspace);
    }
}

/* ---- the hello of one that was just started ---- */

static void
test_ready (void)
{
  struct agent_under_test agent;
  int pair[2];
  char number[16], byte;
  const char *const options[] = { "--ready-fd", number, NULL };

  CU_ASSERT_EQUAL (socketpair (AF_UNIX, SOCK_STREAM, 0, pair), 0);
  snprintf (number, sizeof number, "%d", pair[1]);
  bool started = agent_start (&agent, options);
  close (pair[1]);
  if (started)
    {
      CU_ASSERT_EQUAL (agentlink_await (&agent.recorded.call, &agent.handle.link, pair[0]), 0);
      /* Neither it nor what it started holds that any more. */
      CU_ASSERT_EQUAL (read (pair[0], &byte, 1), 0);
      agent_stop (&agent);
    }
  close (pair[0]);
}

/* What has SAID bytes, and is gone. */
static int
await (struct recorded *recorded, const struct berth_buffer *said)
{
  struct agentlink link;
  int pair[2];

  recorded_start (recorded);
  agentlink_init (&link, &(struct agentlink_transport){ 0 }, NULL, 0);
  CU_ASSERT_EQUAL (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
  CU_ASSERT_EQUAL (berth_fd_write_all (pair[1], said->data, said->size), 0);
  close (pair[1]);
  int result = agentlink_await (&recorded->call, &link, pair[0]);
  CU_ASSERT_EQUAL (close (pair[0]), 0);
  return result;
}

static void
test_not_ready (void)
{
  BERTH_AUTO_BUFFER struct berth_buffer said = { 0 };
  struct recorded recorded;

  wire_add_hello (&said, NULL, 0);
  CU_ASSERT_EQUAL (await (&recorded, &said), 0);
  said.data[WIRE_HEADER_SIZE + 5]++; /* of its major */
  CU_ASSERT_EQUAL (await (&recorded, &said), -1);
  CU_ASSERT_EQUAL (recorded.code, BERTH_E_UNREACHABLE);
  CU_ASSERT_PTR_NOT_NULL (strstr (recorded.message, "speaks protocol"));
  said.size--;
  CU_ASSERT_EQUAL (await (&recorded, &said), -1);
  CU_ASSERT_EQUAL (recorded.code, BERTH_E_UNREACHABLE);
  CU_ASSERT_PTR_NOT_NULL (strstr (recorded.message, "cut"));
  berth_buffer_clear (&said);
  wire_add_frame (&said, WIRE_FRAME_END, NULL, 0);
  CU_ASSERT_EQUAL (await (&recorded, &said), -1);
  CU_ASSERT_EQUAL (recorded.code, BERTH_E_INTERNAL);
}

/* ---- agents that are none ---- */

/* A transport to a peer that has already said BYTES, and then is silent or gone. */
struct pretender
{
  struct berth_handle handle;
  struct recorded recorded;
  const void *bytes;
  size_t size;
  bool stays;
  int moves; /* how often it is still said to be at work */
  int other;
};

static int
is_moving (void *context, uint64_t *mark)
{
  struct pretender *pretender = context;

  ++*mark;
  return pretender->moves-- > 0 ? 1 : -1;
}

static int
connect_pretender (struct berth_call *call, void *context)
{
  struct pretender *pretender = context;
  int pair[2];

  (void) call;
  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
    return -1;
  if (pretender->size > 0)
    CU_ASSERT_EQUAL (berth_fd_write_all (pair[1], pretender->bytes, pretender->size), 0);
  if (pretender->stays)
    pretender->other = pair[1];
  else
    shutdown (pair[1], SHUT_WR), pretender->other = pair[1];
  return pair[0];
}

static uint32_t
run_on_pretender (const struct berth_buffer *said, bool stays, int64_t deadline_ms, int *exits)
{
  struct pretender pretender = { .bytes = said->data, .size = said->size, .stays = stays, .moves = 2, .other = -1 };
  const struct agentlink_transport transport
      = { .context = &pretender, .connect = connect_pretender, .is_moving = is_moving };
  struct agent_under_test agent = { .pid = -1 };
  struct run_result result;

  recorded_start (&agent.recorded);
  agentlink_init (&agent.handle.link, &transport, NULL, 0);
  if (deadline_ms > 0)
    agent.recorded.deadline_ns = berth_clock_monotonic_ns () + deadline_ms * 1000000;
  run_script (&agent, NULL, "true", &result);
  CU_ASSERT_EQUAL (result.status, -1);
  *exits = result.exits;
  run_result_free (&result);
  close (pretender.other);
  return agent.recorded.code;
}

static void
test_cut_streams (void)
{
  BERTH_AUTO_BUFFER struct berth_buffer said = { 0 };
  int exits;

  CU_ASSERT_EQUAL (run_on_pretender (&said, false, 0, &exits), BERTH_E_UNREACHABLE); /* gone at once */
  CU_ASSERT_EQUAL (run_on_pretender (&said, true, 200, &exits), BERTH_E_TIMEOUT);    /* silent */
  wire_add_hello (&said, NULL, 0);
  CU_ASSERT_EQUAL (run_on_pretender (&said, false, 0, &exits), BERTH_E_UNREACHABLE);
  wire_add_frame (&said, WIRE_FRAME_STDOUT, "some", 4);
  CU_ASSERT_EQUAL (run_on_pretender (&said, false, 0, &exits), BERTH_E_UNREACHABLE);
  CU_ASSERT_EQUAL (exits, 0);
  berth_buffer_append (&said, "\0\0", 2); /* half a header */
  CU_ASSERT_EQUAL (run_on_pretender (&said, false, 0, &exits), BERTH_E_UNREACHABLE);
  berth_buffer_append (&said, "\xff\xff\xff\xff\xff\xff", 6);
  CU_ASSERT_EQUAL (run_on_pretender (&said, true, 0, &exits), BERTH_E_INTERNAL);
  berth_buffer_clear (&said);
  berth_buffer_append_string (&said, "HTTP/1.1 400 Bad Request\r\n\r\n");
  CU_ASSERT_EQUAL (run_on_pretender (&said, true, 0, &exits), BERTH_E_INTERNAL);
  berth_buffer_clear (&said);
  wire_add_hello (&said, NULL, 0);
  said.data[WIRE_HEADER_SIZE + 5] = WIRE_MAJOR + 1;
  CU_ASSERT_EQUAL (run_on_pretender (&said, true, 0, &exits), BERTH_E_UNREACHABLE);
  berth_buffer_clear (&said);
  wire_add_hello (&said, NULL, 0);
  wire_add_frame (&said, WIRE_FRAME_EXIT, "", 0); /* an exit that does not say how is no exit 0 */
  CU_ASSERT_EQUAL (run_on_pretender (&said, true, 0, &exits), BERTH_E_INTERNAL);
  CU_ASSERT_EQUAL (exits, 0);
}

static volatile sig_atomic_t pipes;

static void
count_pipe (int number)
{
  (void) number;
  pipes++;
}

static int
connect_closed (struct berth_call *call, void *context)
{
  int pair[2];

  (void) call;
  (void) context;
  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
    return -1;
  close (pair[1]);
  return pair[0];
}

/* What is sent to somebody who has gone is told by the result; the signal would end most programs. */
static void
test_closed (void)
{
  const struct agentlink_transport transport = { .connect = connect_closed };
  const struct sigaction counting = { .sa_handler = count_pipe };
  struct agent_under_test agent = { .pid = -1, .workspace = "/workspace" };
  struct run_result result;

  CU_ASSERT_EQUAL (sigaction (SIGPIPE, &counting, NULL), 0);
  recorded_start (&agent.recorded);
  agentlink_init (&agent.handle.link, &transport, NULL, 0);
  run_script (&agent, NULL, "true", &result);
  CU_ASSERT_EQUAL (result.status, -1);
  CU_ASSERT_EQUAL (agent.recorded.code, BERTH_E_UNREACHABLE);
  run_result_free (&result);
  CU_ASSERT_EQUAL (write_file (&agent, "/workspace/x", "x", 1, NULL), -1);
  CU_ASSERT_EQUAL (agent.recorded.code, BERTH_E_UNREACHABLE);
  CU_ASSERT_EQUAL (pipes, 0);
  /* The control: here a plain write to such a socket gives the signal. */
  BERTH_AUTO_FD int fd = connect_closed (NULL, NULL);
  CU_ASSERT_TRUE (write (fd, "x", 1) < 0 && pipes == 1);
}

static void
test_silent_agent (void)
{
  BERTH_AUTO_BUFFER struct berth_buffer said = { 0 };
  int64_t before = berth_clock_monotonic_ms (), waited;
  int exits;

  CU_ASSERT_EQUAL (run_on_pretender (&said, true, 0, &exits), BERTH_E_UNREACHABLE);
  waited = berth_clock_monotonic_ms () - before;
  CU_ASSERT (waited >= AGENTLINK_HELLO_MS + 2000); /* it moved twice, and was then stopped */
}

#ifndef __SANITIZE_THREAD__
static void
test_full_agent (void)
{
  enum { CROWD = 1024 };
  struct agent_under_test agent;
  BERTH_AUTO_FREE int *crowd = calloc (CROWD, sizeof *crowd);
  struct rlimit files;
  int64_t end;
  int result;

  CU_ASSERT_FATAL (crowd != NULL && getrlimit (RLIMIT_NOFILE, &files) == 0);
  files.rlim_cur = files.rlim_max;
  setrlimit (RLIMIT_NOFILE, &files);
  if (files.rlim_max < CROWD + 64)
    {
      berth_test_skip ("too few descriptors are allowed");
      return;
    }
  if (!agent_start (&agent, NULL))
    return;
  for (int i = 0; i < CROWD; i++)
    crowd[i] = agentlink_connect_unix (&agent.recorded.call, agent.socket);
  CU_ASSERT_EQUAL (agentlink_ping (&agent.recorded.call, &agent.handle.link, NULL), -1);
  CU_ASSERT_EQUAL (agent.recorded.code, BERTH_E_RESOURCE_EXHAUSTED);
  for (int i = 0; i < CROWD; i++)
    close (crowd[i]);
  end = berth_clock_monotonic_ms () + 30000;
  do
    result = agentlink_ping (&agent.recorded.call, &agent.handle.link, NULL);
  while (result < 0 && agent.recorded.code == BERTH_E_RESOURCE_EXHAUSTED && berth_clock_monotonic_ms () < end);
  CU_ASSERT_EQUAL (result, 0);
  agent_stop (&agent);
}
#endif

/* Whether the agent has said something while the tree was still there. */
static bool
speaks_first (struct agent_under_test *agent)
{
  struct stream stream STREAM_AUTO = STREAM_NONE;
  struct pollfd polled = { .events = POLLIN };
  struct wire_reader payload;
  char command[256];
  bool was_there;

  snprintf (command, sizeof command, "mkdir %s/t && cd %s/t && seq 3000 | xargs touch", agent->workspace, agent->workspace);
  CU_ASSERT_EQUAL (system (command), 0);
  CU_ASSERT_EQUAL (stream_open (&stream, &agent->recorded.call, &agent->handle.link, WIRE_REMOVE), 0);
  wire_add_text (&stream.out, WIRE_TAG_PATH, in_workspace (agent, "t"));
  wire_add_text (&stream.out, WIRE_TAG_BENEATH, agent->workspace);
  wire_add_number (&stream.out, WIRE_TAG_FLAGS, WIRE_FLAG_RECURSIVE);
  CU_ASSERT_EQUAL (stream_send_request (&stream, &agent->handle.link), 0);
  polled.fd = stream.fd;
  CU_ASSERT_EQUAL (poll (&polled, 1, 20000), 1);
  was_there = access (in_workspace (agent, "t"), F_OK) == 0;
  CU_ASSERT_EQUAL (stream_end (&stream, &payload), 0);
  CU_ASSERT_NOT_EQUAL (access (in_workspace (agent, "t"), F_OK), 0);
  return was_there;
}

/* A removal that takes long begins with a word from the agent; a busy machine may look too late. */
static void
test_long_removal (void)
{
  struct agent_under_test agent;
  bool spoke = false;

  if (!agent_start (&agent, NULL))
    return;
  for (int tries = 0; !spoke && tries < 8; tries++)
    spoke = speaks_first (&agent);
  CU_ASSERT (spoke);
  agent_stop (&agent);
}

/* ---- sources that take their time ---- */

/* Nothing may be asked of the agent before there is something to send. */
struct patient
{
  struct agent_under_test *agent;
  struct memory memory;
};

static int
connect_late (struct berth_call *call, void *context)
{
  struct patient *patient = context;

  CU_ASSERT (patient->memory.taken > 0);
  return agentlink_connect_unix (call, patient->agent->socket);
}

static void
test_slow_source (void)
{
  struct agent_under_test agent;
  struct patient patient = { &agent, { "content", 7, 0, 0 } };
  const struct agentlink_transport transport = { .context = &patient, .connect = connect_late };
  struct berth_change how = { .struct_size = sizeof how };
  struct berth_source source = memory_source (&patient.memory);

  if (!agent_start (&agent, NULL))
    return;
  agent.handle.link.transport = transport;
  how.beneath = agent.workspace;
  CU_ASSERT_EQUAL (agentlink_write (&agent.recorded.call, &agent.handle, in_workspace (&agent, "f"), &how, &source), 0);
  agent_stop (&agent);
}

/* ---- kills by the memory limit ---- */

struct counted
{
  struct agentlink_transport real;
  uint64_t kills; /* each reading finds STEP more */
  int64_t step;
};

static int
connect_counted (struct berth_call *call, void *context)
{
  const struct counted *counted = context;

  return counted->real.connect (call, counted->real.context);
}

static uint64_t
count_kills (void *context)
{
  struct counted *counted = context;
  uint64_t kills = counted->kills;

  counted->kills += (uint64_t) counted->step;
  return kills;
}

static void
test_kills (void)
{
  static const struct
  {
    int64_t step;
    uint64_t kills;
    uint32_t reason;
  } cases[] = { { 2, 2, BERTH_OUT_OF_MEMORY }, { 0, 0, BERTH_SIGNALLED }, { -3, 0, BERTH_SIGNALLED } };
  struct agent_under_test agent;

  if (!agent_start (&agent, NULL))
    return;
  const struct agentlink_transport real = agent.handle.link.transport;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    {
      struct counted counted = { real, 3, cases[i].step };
      struct run_result result;

      agent.handle.link.transport = (struct agentlink_transport) {
        .context = &counted, .connect = connect_counted, .memory_kills = count_kills };
      run_script (&agent, NULL, "kill -KILL $$", &result);
      CU_ASSERT_EQUAL (result.status, 0);
      CU_ASSERT_EQUAL (result.exit.reason, cases[i].reason);
      CU_ASSERT_EQUAL (result.exit.memory_kills, cases[i].kills);
      CU_ASSERT ((result.exit.has & BERTH_EXIT_KILLS) != 0);
      run_result_free (&result);
    }
  agent.handle.link.transport = real;
  agent_stop (&agent);
}

static void
test_cancel (void)
{
  struct agent_under_test agent;
  struct run_result result;

  if (!agent_start (&agent, NULL))
    return;
  agent.recorded.cancelled = true;
  run_script (&agent, NULL, "echo ran >ran", &result);
  CU_ASSERT_EQUAL (result.status, -1);
  CU_ASSERT_EQUAL (agent.recorded.code, BERTH_E_CANCELLED);
  CU_ASSERT_NOT_EQUAL (access (in_workspace (&agent, "ran"), F_OK), 0);
  run_result_free (&result);
  agent_stop (&agent);
}

static void
test_unreachable (void)
{
  struct agent_under_test agent;
  BERTH_AUTO_BUFFER struct berth_buffer content = { 0 };
  struct run_result result;

  if (!agent_start (&agent, NULL))
    return;
  kill (agent.pid, SIGKILL);
  waitpid (agent.pid, NULL, 0);
  agent.pid = -1;
  berth_clock_sleep_ms (100);
  run_script (&agent, NULL, "true", &result);
  CU_ASSERT_EQUAL (result.status, -1);
  CU_ASSERT_EQUAL (result.exits, 0);
  CU_ASSERT_EQUAL (agent.recorded.code, BERTH_E_UNREACHABLE);
  run_result_free (&result);
  CU_ASSERT_EQUAL (read_file (&agent, in_workspace (&agent, "x"), &content), -1);
  CU_ASSERT_EQUAL (agent.recorded.code, BERTH_E_UNREACHABLE);
  agent_stop (&agent);
}

static const struct berth_test tests[] = {
  { "ping tells version and processes", test_ping },
  { "L08 an agent that is told to end kills everything", test_end },
  { "L19 the agent keeps an end of its own", test_deadline },
  { "an owned sandbox ends with its owner", test_own },
  { "a new agent says its hello once it serves", test_ready },
  { "what dies before its hello, or speaks another protocol, does not serve", test_not_ready },
  { "E06 the sandbox's own environment", test_environment },
  { "L15 without the token there is no answer", test_token },
  { "L15 without a token, only peers from outside its namespace are served", test_peers },
  { "D-036 E16 F16 a cut stream is never a result", test_cut_streams },
#ifndef __SANITIZE_THREAD__ /* so slow an agent has let the first go when the last come */
  { "an agent that does as much as it can says so", test_full_agent },
#endif
  { "D-119 a closed connection gives no signal", test_closed },
  { "D-036 E16 a silent agent is unreachable", test_silent_agent },
  { "D-067 a long removal is not taken for silence", test_long_removal },
  { "a slow source keeps no agent waiting", test_slow_source },
  { "a count of kills that falls shows none", test_kills },
  { "E15 a cancelled call starts nothing", test_cancel },
  { "E16 F16 a dead agent is unreachable", test_unreachable },
  { NULL, NULL },
};

int
main (void)
{
  return berth_test_main ("agentlink control", tests);
}

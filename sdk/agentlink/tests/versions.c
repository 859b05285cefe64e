/* Hosts and agents of different versions meet when a package is upgraded while sandboxes live. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sdk/agentlink/stream.h"
#include "sdk/agentlink/tests/support.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/fd.h"
#include "sdk/base/tests/runner.h"

#define ANSWER_MAXIMUM 65536

static void
add_hello (struct berth_buffer *out, unsigned major, unsigned minor)
{
  size_t at = out->size + WIRE_HEADER_SIZE;

  wire_add_hello (out, NULL, 0);
  out->data[at + 5] = (char) major;
  out->data[at + 7] = (char) minor;
}

/* ---- agents of another version ---- */

/* It has said BYTES and takes what it hears. */
struct other
{
  const struct berth_buffer *said;
  int fd;
};

static int
connect_other (struct berth_call *call, void *context)
{
  struct other *other = context;
  int pair[2];

  (void) call;
  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
    return -1;
  CU_ASSERT_EQUAL (berth_fd_write_all (pair[1], other->said->data, other->said->size), 0);
  other->fd = pair[1];
  return pair[0];
}

static void
run_on (struct agent_under_test *agent, struct berth_buffer *said, struct run_result *result)
{
  struct other other = { said, -1 };
  const struct agentlink_transport transport = { .context = &other, .connect = connect_other };

  *agent = (struct agent_under_test) { .pid = -1 };
  recorded_start (&agent->recorded);
  agentlink_init (&agent->handle.link, &transport, NULL, 0);
  run_script (agent, NULL, "true", result);
  close (other.fd);
}

static void
test_agent_of_another_major (void)
{
  BERTH_AUTO_BUFFER struct berth_buffer said = { 0 };
  struct agent_under_test agent;
  struct run_result result;
  char wanted[128];

  add_hello (&said, WIRE_MAJOR + 1, 0);
  run_on (&agent, &said, &result);
  CU_ASSERT_EQUAL (result.status, -1);
  CU_ASSERT_EQUAL (result.exits, 0);
  CU_ASSERT_EQUAL (agent.recorded.code, BERTH_E_UNREACHABLE);
  snprintf (wanted, sizeof wanted, "speaks protocol %d, this host speaks %d", WIRE_MAJOR + 1, WIRE_MAJOR);
  CU_ASSERT_PTR_NOT_NULL (strstr (agent.recorded.message, wanted));
  CU_ASSERT_PTR_NOT_NULL (strstr (agent.recorded.hint, "version of Berth"));
  run_result_free (&result);
}

/* One that knows more answers what was asked. */
static void
test_agent_of_newer_minor (void)
{
  BERTH_AUTO_BUFFER struct berth_buffer said = { 0 };
  struct agent_under_test agent;
  struct run_result result;
  size_t frame;

  add_hello (&said, WIRE_MAJOR, WIRE_MINOR + 1);
  frame = wire_begin (&said, WIRE_FRAME_EXIT);
  wire_add_number (&said, WIRE_TAG_REASON, WIRE_REASON_EXITED);
  wire_add_number (&said, WIRE_TAG_EXIT_CODE, 3);
  wire_add_number (&said, (enum wire_tag) 0xfff0, 1); /* that need not be known */
  wire_end (&said, frame);
  run_on (&agent, &said, &result);
  CU_ASSERT_EQUAL (result.status, 0);
  CU_ASSERT_EQUAL (result.exit.code, 3);
  run_result_free (&result);
}

/* One that knows less says so, and that is what the caller hears. */
static void
test_agent_of_older_minor (void)
{
  BERTH_AUTO_BUFFER struct berth_buffer said = { 0 };
  struct agent_under_test agent;
  struct run_result result;
  size_t frame;

  add_hello (&said, WIRE_MAJOR, 0);
  frame = wire_begin (&said, WIRE_FRAME_ERROR);
  wire_add_number (&said, WIRE_TAG_CODE, BERTH_E_CAPABILITY_NOT_SUPPORTED);
  wire_add_text (&said, WIRE_TAG_MESSAGE, "the agent does not know operation 2");
  wire_end (&said, frame);
  run_on (&agent, &said, &result);
  CU_ASSERT_EQUAL (result.status, -1);
  CU_ASSERT_EQUAL (agent.recorded.code, BERTH_E_CAPABILITY_NOT_SUPPORTED);
  CU_ASSERT_PTR_NOT_NULL (strstr (agent.recorded.message, "does not know operation 2"));
  run_result_free (&result);
}

/* ---- clients of another version ---- */

/* Says a hello and one request, and reads all that the agent answers: a hello of its own first, then
 * a frame of TYPE with TEXT in it. */
static void
check_client (struct agent_under_test *agent, unsigned major, unsigned minor, uint64_t operation, enum wire_frame type,
              const char *text)
{
  BERTH_AUTO_BUFFER struct berth_buffer said = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer answer = { 0 };
  BERTH_AUTO_FD int fd = agentlink_connect_unix (&agent->recorded.call, agent->socket);
  struct wire_header header;
  struct wire_hello hello;
  size_t frame, second = WIRE_HEADER_SIZE + WIRE_HELLO_SIZE;

  add_hello (&said, major, minor);
  frame = wire_begin (&said, WIRE_FRAME_REQUEST);
  wire_add_number (&said, WIRE_TAG_OPERATION, operation);
  wire_end (&said, frame);
  CU_ASSERT_FATAL (fd >= 0 && berth_fd_write_all (fd, said.data, said.size) == 0);
  shutdown (fd, SHUT_WR);
  CU_ASSERT_FATAL (berth_fd_read_all (fd, &answer, ANSWER_MAXIMUM) == 0 && answer.size > second + WIRE_HEADER_SIZE);
  CU_ASSERT_EQUAL (wire_get_header (answer.data, WIRE_HELLO_SIZE, &header), 0);
  CU_ASSERT_EQUAL (header.type, WIRE_FRAME_HELLO);
  CU_ASSERT_EQUAL (wire_get_hello (answer.data + WIRE_HEADER_SIZE, WIRE_HELLO_SIZE, &hello), 0);
  CU_ASSERT (hello.major == WIRE_MAJOR && hello.minor == WIRE_MINOR);
  CU_ASSERT_EQUAL (wire_get_header (answer.data + second, ANSWER_MAXIMUM, &header), 0);
  CU_ASSERT_EQUAL (header.type, (uint32_t) type);
  CU_ASSERT_PTR_NOT_NULL (memmem (answer.data + second, answer.size - second, text, strlen (text)));
}

static void
test_clients (void)
{
  struct agent_under_test agent;
  char both[128];

  if (!agent_start_as (&agent, AGENT_IN_NAMESPACE, NULL))
    return;
  snprintf (both, sizeof both, "this agent speaks protocol %d, the client %d", WIRE_MAJOR, WIRE_MAJOR + 1);
  check_client (&agent, WIRE_MAJOR + 1, 0, WIRE_PING, WIRE_FRAME_ERROR, both);
  check_client (&agent, WIRE_MAJOR, WIRE_MINOR + 1, WIRE_PING, WIRE_FRAME_END, PACKAGE_VERSION);
  check_client (&agent, WIRE_MAJOR, WIRE_MINOR + 1, 999, WIRE_FRAME_ERROR, "does not know operation 999");
  check_client (&agent, WIRE_MAJOR, 0, WIRE_PING, WIRE_FRAME_END, PACKAGE_VERSION);
  CU_ASSERT_EQUAL (agent_stop (&agent), 0);
}

static const struct berth_test tests[] = {
  { "an agent of another major is refused, and both are named", test_agent_of_another_major },
  { "an agent of a newer minor is understood", test_agent_of_newer_minor },
  { "an agent of an older minor says what it lacks", test_agent_of_older_minor },
  { "clients of other versions get an answer", test_clients },
  { NULL, NULL },
};

int
main (void)
{
  return berth_test_main ("agentlink versions", tests);
}

/* What people and scripts see of `berth`: statuses, outputs, names, JSON.  Built once for each of
 * the backends it is run on. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/cli/tests/process.h"
#include "sdk/base/clock.h"
#include "sdk/base/fd.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"
#include "sdk/base/tests/runner.h"

#define PATIENCE_MS 60000

#define EXPECT_TEXT(buffer, text) CU_ASSERT_STRING_EQUAL (berth_buffer_string (&(buffer)), text)

/* Makes a sandbox called NAME; its id is in ID (24 bytes). */
static void
make (const char *name, char id[32])
{
  AUTO_RESULT struct process_result result = { 0 };

  berth (&result, "create", "--name", name, "--label", "kind=test", "-e", "COLOUR=blue");
  EXPECT_STATUS (result, 0);
  snprintf (id, 32, "%.*s", 23, berth_buffer_string (&result.out));
}

static void
unmake (const char *name)
{
  AUTO_RESULT struct process_result result = { 0 };

  berth (&result, "rm", name);
  EXPECT_STATUS (result, 0);
}

/* ---- run ---- */

static void
test_exit_status (void)
{
  AUTO_RESULT struct process_result result = { 0 };

  berth (&result, "run", "--", "true");
  EXPECT_STATUS (result, 0);
  berth (&result, "run", "--", "false");
  EXPECT_STATUS (result, 1);
  berth (&result, "run", "sh", "-c", "exit 3");
  EXPECT_STATUS (result, 3);
  berth (&result, "run", "no-such-program");
  EXPECT_STATUS (result, 127);
  berth (&result, "run", "sh", "-c", "kill -9 $$");
  EXPECT_STATUS (result, 137);
  CU_ASSERT_EQUAL (result.signal, 0);
  berth (&result, "run", "--timeout", "300ms", "sleep", "60");
  EXPECT_STATUS (result, 124);
  EXPECT_IN (result.err, "timeout");
  CU_ASSERT_EQUAL (process_count_sandboxes (), 0);
}

#ifdef EXECUTES /* the fake backend executes no files */
static void
test_not_executable (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  char id[32];

  make ("flat", id);
  berth (&result, "write", "flat", "program", "--content", "#!/bin/sh\n");
  EXPECT_STATUS (result, 0);
  berth (&result, "exec", "flat", "/workspace/program");
  EXPECT_STATUS (result, 126);
  unmake ("flat");
}
#endif

static void
test_own_failures (void)
{
  AUTO_RESULT struct process_result result = { 0 };

  berth (&result, "run", "--isolation", "microvm", "true");
  EXPECT_STATUS (result, 125);
  berth (&result, "run", "--memory", "0", "true");
  EXPECT_STATUS (result, 125);
  berth (&result, "run");
  EXPECT_STATUS (result, 125);
  berth (&result, "exec", "no-such-box", "true");
  EXPECT_STATUS (result, 125);
  EXPECT_IN (result.err, "no-such-box");
  EXPECT_IN (result.err, "hint: ");
  berth (&result, "ls", "--bogus");
  EXPECT_STATUS (result, 2);
  berth (&result, "inspect", "no-such-box");
  EXPECT_STATUS (result, 125);
  berth (&result, "run", "-w", "/no/such/directory", "true");
  EXPECT_STATUS (result, 125);
  berth (&result, "nothing");
  EXPECT_STATUS (result, 2);
  CU_ASSERT_EQUAL (process_count_sandboxes (), 0);
}

static void
test_streams (void)
{
  AUTO_RESULT struct process_result result = { 0 };

  berth (&result, "run", "sh", "-c", "echo out; echo err >&2; exit 7");
  EXPECT_STATUS (result, 7);
  EXPECT_TEXT (result.out, "out\n");
  EXPECT_TEXT (result.err, "err\n");
  berth_with (&result, (&(struct process_setup){ .input = "not for the command" }), "run", "cat");
  EXPECT_STATUS (result, 0);
  CU_ASSERT_EQUAL (result.out.size, 0);
}

/* More than what is collected by default: a stream has no such limit. */
static void
test_long_output (void)
{
  AUTO_RESULT struct process_result result = { 0 };

  berth (&result, "run", "seq", "1000000");
  EXPECT_STATUS (result, 0);
  CU_ASSERT_EQUAL (result.out.size, 6888896);
  CU_ASSERT (berth_string_ends_with (berth_buffer_string (&result.out), "\n999999\n1000000\n"));
  berth (&result, "run", "--max-output", "10", "seq", "1000");
  EXPECT_STATUS (result, 0);
  EXPECT_TEXT (result.out, "1\n2\n3\n4\n5\n");
  EXPECT_IN (result.err, "3883 bytes of output were dropped");
}

static void
test_environment (void)
{
  static const char *const outside[] = { "BERTH_TEST_GIVEN=from outside", NULL };
  AUTO_RESULT struct process_result result = { 0 };

  CU_ASSERT_EQUAL (process_write_file ("variables", "# a remark\n\n  FIRST=1\nSECOND=a=b\nTHIRD=x\n"), 0);
  berth_with (&result, (&(struct process_setup){ .environment = outside }), "run", "-e", "BERTH_TEST_GIVEN", "printenv",
              "BERTH_TEST_GIVEN");
  EXPECT_STATUS (result, 0);
  EXPECT_TEXT (result.out, "from outside\n");
  berth_with (&result, (&(struct process_setup){ .environment = outside }), "run", "printenv", "BERTH_TEST_GIVEN");
  EXPECT_STATUS (result, 1);
  berth (&result, "run", "--env-file", process_path ("variables"), "-e", "THIRD=y", "sh", "-c",
         "printenv FIRST; printenv SECOND; printenv THIRD");
  EXPECT_STATUS (result, 0);
  EXPECT_TEXT (result.out, "1\na=b\ny\n");
  CU_ASSERT_EQUAL (process_write_file ("variables", "GOOD=1\n=bad\n"), 0);
  berth (&result, "run", "--env-file", process_path ("variables"), "true");
  EXPECT_STATUS (result, 125);
  EXPECT_IN (result.err, "variables:2:");
}

static void
test_workdir_and_user (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  const char *map = getenv ("BERTH_NS_UID_MAP"); /* as-ordinary-user sets it */

  berth (&result, "run", "sh", "-c", "pwd; id -un");
  EXPECT_TEXT (result.out, "/workspace\nsandbox\n");
  berth (&result, "run", "-w", "/tmp", "-u", "root", "sh", "-c", "pwd; id -u");
  if (map != NULL && strcmp (map, "single") == 0)
    {
      EXPECT_IN (result.err, "subuid");
    }
  else
    {
      EXPECT_TEXT (result.out, "/tmp\n0\n");
    }
  berth (&result, "run", "--no-root", "-u", "root", "id", "-u");
  CU_ASSERT_NOT_EQUAL (result.status, 0);
  CU_ASSERT_EQUAL (result.out.size, 0);
}

#ifdef EXECUTES
static void
test_user_namespaces (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  AUTO_RESULT struct process_result id = { 0 };

  berth (&result, "run", "unshare", "-Ur", "id", "-u");
  EXPECT_STATUS (result, 1);
  EXPECT_IN (result.err, "not permitted");
  berth (&id, "create", "--allow-user-namespaces");
  CU_ASSERT_FATAL (id.status == 0 && id.out.size > 0);
  id.out.data[id.out.size - 1] = '\0';
  berth (&result, "exec", id.out.data, "unshare", "-Ur", "id", "-u");
  EXPECT_TEXT (result.out, "0\n");
  berth (&result, "inspect", id.out.data);
  EXPECT_IN (result.out, "programs may make user namespaces");
  CU_ASSERT_PTR_NULL (strstr (berth_buffer_string (&result.out), "no_capabilities"));
  berth (&result, "rm", id.out.data);
  EXPECT_STATUS (result, 0);
}
#endif

static void
test_run_json (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  BERTH_AUTO_JSON struct berth_json *document = NULL;
  BERTH_AUTO_BUFFER struct berth_buffer bytes = { 0 };
  int64_t number;

  berth (&result, "run", "--json", "sh", "-c", "echo out; echo err >&2; exit 9");
  EXPECT_STATUS (result, 9);
  document = process_json (&result.out);
  CU_ASSERT_STRING_EQUAL (berth_json_string (berth_json_get (document, "reason")), "exited");
  CU_ASSERT_EQUAL (berth_json_to_int64 (berth_json_get (document, "code"), &number), 0);
  CU_ASSERT_EQUAL (number, 9);
  CU_ASSERT_EQUAL (berth_json_kind (berth_json_get (document, "signal")), BERTH_JSON_NULL);
  CU_ASSERT_EQUAL (berth_json_to_bytes (berth_json_get (document, "stdout"), &bytes), 0);
  EXPECT_TEXT (bytes, "out\n");
  CU_ASSERT_STRING_EQUAL (berth_json_string (berth_json_get (document, "stderr")), "err\n");
}

/* ---- sandboxes that stay ---- */

static void
test_names_and_prefixes (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  char id[32], other[32];

  make ("one", id);
  make ("two", other);
  CU_ASSERT_EQUAL (strncmp (id, "sb-", 3), 0);
  CU_ASSERT_EQUAL (strlen (id), 23);
  berth (&result, "exec", "one", "printenv", "COLOUR");
  EXPECT_TEXT (result.out, "blue\n");
  berth (&result, "exec", id, "true");
  EXPECT_STATUS (result, 0);
  id[22] = '\0';
  berth (&result, "exec", id, "true");
  EXPECT_STATUS (result, 0);
  berth (&result, "exec", "sb-", "true");
  EXPECT_STATUS (result, 125);
  EXPECT_IN (result.err, other);
  berth (&result, "create", "--name", "one");
  EXPECT_STATUS (result, 125);
  berth (&result, "rm", "one", "no-such-box", "two");
  EXPECT_STATUS (result, 1);
  EXPECT_IN (result.err, "no-such-box");
  CU_ASSERT_EQUAL (process_count_sandboxes (), 0);
}

static void
test_ls (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  BERTH_AUTO_JSON struct berth_json *list = NULL;
  char id[32];
  BERTH_AUTO_FREE char *line = NULL;

  make ("listed", id);
  line = berth_string_format ("%s\n", id);
  berth (&result, "ls");
  EXPECT_STATUS (result, 0);
  EXPECT_IN (result.out, "ID ");
  EXPECT_IN (result.out, "kind=test");
  EXPECT_IN (result.out, "running");
  berth (&result, "ls", "-q", "--label", "kind=test");
  EXPECT_TEXT (result.out, line);
  berth (&result, "ls", "-q", "--label", "kind");
  EXPECT_TEXT (result.out, line);
  berth (&result, "ls", "-q", "--label", "kind=other");
  EXPECT_TEXT (result.out, "");
  berth (&result, "--json", "ls");
  list = process_json (&result.out);
  CU_ASSERT_EQUAL (berth_json_length (list), 1);
  CU_ASSERT_STRING_EQUAL (berth_json_string (berth_json_get (berth_json_at (list, 0), "id")), id);
  unmake ("listed");
}

static void
test_inspect (void)
{
  static const char *const keys[]
      = { "id",     "name",     "owner",   "backend", "state",        "image",  "native_id",   "runtime",
          "created", "expires", "isolation", "limits", "enforced", "posture", "network", "capabilities", "labels", "environment" };
  AUTO_RESULT struct process_result result = { 0 };
  BERTH_AUTO_JSON struct berth_json *document = NULL;
  char id[32];
  size_t i;

  make ("seen", id);
  berth (&result, "inspect", "seen", "--json");
  EXPECT_STATUS (result, 0);
  document = process_json (&result.out);
  for (i = 0; i < sizeof keys / sizeof *keys; i++)
    CU_ASSERT_PTR_NOT_NULL (berth_json_get (document, keys[i]));
  CU_ASSERT_STRING_EQUAL (berth_json_string (berth_json_get (berth_json_get (document, "isolation"), "tier")), "container");
  CU_ASSERT_STRING_EQUAL (berth_json_string (berth_json_get (berth_json_get (document, "labels"), "kind")), "test");
  berth (&result, "inspect", "seen");
  EXPECT_IN (result.out, id);
  EXPECT_IN (result.out, "COLOUR=blue");
  EXPECT_IN (result.out, "container");
  unmake ("seen");
}

/* An option goes before the environment; what is elsewhere is not seen. */
static void
test_state_dir (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  BERTH_AUTO_FREE char *elsewhere = strdup (process_path ("elsewhere"));

  berth (&result, "--state-dir", elsewhere, "create", "--name", "far");
  EXPECT_STATUS (result, 0);
  CU_ASSERT_EQUAL (process_count_sandboxes (), 0);
  berth (&result, "inspect", "far");
  EXPECT_STATUS (result, 125);
  berth (&result, "rm", "far", "--state-dir", elsewhere);
  EXPECT_STATUS (result, 0);
}

static void
test_config (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  BERTH_AUTO_FREE char *file = strdup (process_path ("other.conf"));

  CU_ASSERT_EQUAL (process_write_file ("other.conf", "[limits]\nmemory = 600M\n"), 0);
  berth (&result, "--config", file, "run", "--memory", "700M", "true");
  EXPECT_STATUS (result, 125);
  berth (&result, "run", "--memory", "700M", "true");
  EXPECT_STATUS (result, 0);
  CU_ASSERT_EQUAL (process_write_file ("other.conf", "[limits]\nmemroy = 1G\n"), 0);
  berth (&result, "ls", "--config", file);
  EXPECT_STATUS (result, 125);
  EXPECT_IN (result.err, "other.conf:2");
}

static void
test_rm_all (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  BERTH_AUTO_JSON struct berth_json *list = NULL;
  char id[32];

  make ("first", id);
  make ("second", id);
  berth (&result, "rm", "--all");
  EXPECT_STATUS (result, 2);
  CU_ASSERT_EQUAL (process_count_sandboxes (), 2);
  berth (&result, "rm");
  EXPECT_STATUS (result, 2);
  berth (&result, "rm", "--all", "--yes", "--json");
  EXPECT_STATUS (result, 0);
  list = process_json (&result.out);
  CU_ASSERT_EQUAL (berth_json_length (list), 2);
  CU_ASSERT_STRING_EQUAL (berth_json_string (berth_json_get (berth_json_at (list, 0), "outcome")), "confirmed");
  CU_ASSERT_EQUAL (process_count_sandboxes (), 0);
}

static void
test_request_id (void)
{
  AUTO_RESULT struct process_result first = { 0 };
  AUTO_RESULT struct process_result second = { 0 };

  berth (&first, "create", "--request-id", "abc");
  berth (&second, "create", "--request-id", "abc");
  EXPECT_STATUS (second, 0);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&first.out), berth_buffer_string (&second.out));
  CU_ASSERT_EQUAL (process_count_sandboxes (), 1);
  berth (&first, "rm", "--all", "-y");
  EXPECT_STATUS (first, 0);
}

/* ---- files ---- */

static void
test_files (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  char id[32];

  make ("files", id);
  berth_with (&result, (&(struct process_setup){ .input = "0123456789" }), "write", "files", "d/data", "--mode", "640");
  EXPECT_STATUS (result, 0);
  berth (&result, "read", "files", "d/data");
  EXPECT_TEXT (result.out, "0123456789");
  berth (&result, "read", "files", "/workspace/d/data", "--offset", "3", "--length", "4");
  EXPECT_TEXT (result.out, "3456");
  berth (&result, "read", "files", "d/data", "--max-bytes", "5");
  EXPECT_STATUS (result, 125);
  berth (&result, "files", "files", "d");
  EXPECT_IN (result.out, "-rw-r-----");
  EXPECT_IN (result.out, "sandbox");
  EXPECT_IN (result.out, "data\n");
  berth (&result, "files", "files", "d/data");
  EXPECT_IN (result.out, "data\n");
  berth (&result, "write", "files", "d/data", "--new", "--content", "x");
  EXPECT_STATUS (result, 125);
  berth (&result, "write", "files", "/etc/data", "--content", "x");
  EXPECT_STATUS (result, 125);
  berth (&result, "write", "files", "x", "--content", "x", "--input", "/dev/null");
  EXPECT_STATUS (result, 2);
  berth (&result, "read", "files", "nothing");
  EXPECT_STATUS (result, 125);
  unmake ("files");
}

static void
test_odd_names (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  BERTH_AUTO_JSON struct berth_json *list = NULL;
  BERTH_AUTO_BUFFER struct berth_buffer name = { 0 };
  char id[32];

  make ("odd", id);
  berth (&result, "write", "odd", "o/a\033[2J\n\\b\xff", "--content", "x");
  EXPECT_STATUS (result, 0);
  berth (&result, "files", "odd", "o");
  EXPECT_IN (result.out, "a\\x1b[2J\\x0a\\\\b\\xff\n");
  berth (&result, "files", "odd", "o", "-0");
  CU_ASSERT_EQUAL (result.out.size, 10);
  CU_ASSERT_EQUAL (memcmp (berth_buffer_string (&result.out), "a\033[2J\n\\b\xff", 10), 0);
  berth (&result, "files", "odd", "o", "--json");
  list = process_json (&result.out);
  CU_ASSERT_EQUAL (berth_json_to_bytes (berth_json_get (berth_json_at (list, 0), "name"), &name), 0);
  EXPECT_TEXT (name, "a\033[2J\n\\b\xff");
  unmake ("odd");
}

static void
test_read_to_file (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer content = { 0 };
  BERTH_AUTO_FREE char *target = strdup (process_path ("target"));
  char id[32];

  make ("out", id);
  berth (&result, "write", "out", "data", "--content", "whole");
  CU_ASSERT_EQUAL (process_write_file ("target", "old"), 0);
  berth (&result, "read", "out", "nothing", "-o", target);
  EXPECT_STATUS (result, 125);
  CU_ASSERT_EQUAL (berth_fs_read (AT_FDCWD, target, &content, 100), 0);
  EXPECT_TEXT (content, "old");
  berth_buffer_clear (&content);
  berth (&result, "read", "out", "data", "-o", target);
  EXPECT_STATUS (result, 0);
  CU_ASSERT_EQUAL (result.out.size, 0);
  CU_ASSERT_EQUAL (berth_fs_read (AT_FDCWD, target, &content, 100), 0);
  EXPECT_TEXT (content, "whole");
  berth (&result, "read", "out", "data", "-o", "/dev/full");
  EXPECT_STATUS (result, 125);
  EXPECT_IN (result.err, "No space left on device");
  unmake ("out");
}

/* ---- what Berth says of itself ---- */

static void
test_json_errors (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  BERTH_AUTO_JSON struct berth_json *document = NULL;
  struct berth_json *error;
  int64_t status = 0;

  berth (&result, "inspect", "no-such-box", "--json");
  EXPECT_STATUS (result, 125);
  CU_ASSERT_EQUAL (result.out.size, 0);
  document = process_json (&result.err);
  error = berth_json_get (document, "error");
  CU_ASSERT_STRING_EQUAL (berth_json_string (berth_json_get (error, "code")), "SANDBOX_NOT_FOUND");
  CU_ASSERT_EQUAL (berth_json_to_int64 (berth_json_get (error, "http_status"), &status), 0);
  CU_ASSERT_EQUAL (status, 404);
  CU_ASSERT_PTR_NOT_NULL (berth_json_string (berth_json_get (error, "hint")));
  berth_json_free (BERTH_STEAL_POINTER (document));
  berth (&result, "--json", "ls", "--bogus");
  EXPECT_STATUS (result, 2);
  document = process_json (&result.err);
  CU_ASSERT_STRING_EQUAL (berth_json_string (berth_json_get (berth_json_get (document, "error"), "code")), "INVALID_REQUEST");
}

/* What `berth ls` writes to a terminal, in TEXT. */
static void
list_on_terminal (const char *no_color, char *text, size_t size)
{
  AUTO_RESULT struct process_result result = { 0 };
  const char *environment[] = { "TERM=xterm", no_color, NULL };
  BERTH_AUTO_FD int terminal = posix_openpt (O_RDWR | O_NOCTTY | O_CLOEXEC);
  BERTH_AUTO_FD int other = -1;
  ssize_t got;

  CU_ASSERT_FATAL (terminal >= 0 && grantpt (terminal) == 0 && unlockpt (terminal) == 0);
  other = open (ptsname (terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
  CU_ASSERT_FATAL (other >= 0);
  berth_with (&result, (&(struct process_setup){ .out = other, .environment = environment }), "ls");
  EXPECT_STATUS (result, 0);
  got = read (terminal, text, size - 1);
  text[got > 0 ? got : 0] = '\0';
}

static void
test_colours (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  char text[4096], id[32];

  make ("bright", id);
  list_on_terminal (NULL, text, sizeof text);
  CU_ASSERT_PTR_NOT_NULL (strstr (text, "\033[32mrunning\033[0m"));
  list_on_terminal ("NO_COLOR=1", text, sizeof text);
  CU_ASSERT_PTR_NOT_NULL (strstr (text, "running"));
  CU_ASSERT_PTR_NULL (strchr (text, '\033'));
  berth (&result, "ls");
  CU_ASSERT_PTR_NULL (memchr (berth_buffer_string (&result.out), '\033', result.out.size));
  unmake ("bright");
}

/* A name from a stranger reaches no terminal as it is. */
static void
test_messages_are_escaped (void)
{
  AUTO_RESULT struct process_result result = { 0 };

  berth (&result, "inspect", "\033]0;title\a");
  CU_ASSERT_NOT_EQUAL (result.status, 0);
  CU_ASSERT_PTR_NULL (memchr (berth_buffer_string (&result.err), '\033', result.err.size));
}

static void
test_backends (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  BERTH_AUTO_JSON struct berth_json *document = NULL;

  berth (&result, "backends");
  EXPECT_STATUS (result, 0);
  EXPECT_IN (result.out, BACKEND);
  EXPECT_IN (result.out, "ready");
  berth (&result, "backends", BACKEND, "--json");
  EXPECT_STATUS (result, 0);
  document = process_json (&result.out);
  CU_ASSERT_STRING_EQUAL (berth_json_string (berth_json_get (document, "status")), "ready");
  CU_ASSERT (berth_json_length (berth_json_get (document, "settings")) > 0);
  CU_ASSERT (berth_json_length (berth_json_get (document, "capabilities")) > 4);
  berth (&result, "backends", BACKEND);
  EXPECT_STATUS (result, 0);
  EXPECT_IN (result.out, "SETTING");
  EXPECT_IN (result.out, "RUN_COMMAND");
  berth (&result, "backends", "no-such-backend");
  EXPECT_STATUS (result, 125);
  berth (&result, "backends", "--matrix");
  EXPECT_IN (result.out, "PROCESS_SESSIONS");
}

/* A bad file is shown with the reason, and stops nothing. */
static void
test_refused_backend (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  const char *path = getenv ("BERTH_BACKEND_PATH");
  BERTH_AUTO_FREE char *longer = berth_string_format ("BERTH_BACKEND_PATH=%s:%s", process_path ("plugins"), path != NULL ? path : "");
  const char *environment[] = { longer, "BERTH_BACKENDS=" BACKEND ",bad", NULL };
  struct process_setup setup = { .environment = environment };

  CU_ASSERT_EQUAL (mkdir (process_path ("plugins"), 0755), 0);
  CU_ASSERT_EQUAL (process_write_file ("plugins/berth-backend-bad.so", "this is no shared object\n"), 0);
  berth_with (&result, &setup, "backends");
  EXPECT_STATUS (result, 0);
  EXPECT_IN (result.out, "refused");
  EXPECT_IN (result.out, "bad: problem: ");
  berth_with (&result, &setup, "run", "true");
  EXPECT_STATUS (result, 0);
  berth_with (&result, &setup, "doctor");
  EXPECT_STATUS (result, 1);
  EXPECT_IN (result.out, "broken   bad: ");
}

static void
test_doctor (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  BERTH_AUTO_JSON struct berth_json *list = NULL;
  int broken = 0;
  size_t i;

  berth (&result, "doctor", "--json");
  list = process_json (&result.out);
  CU_ASSERT (berth_json_length (list) > 8);
  for (i = 0; i < berth_json_length (list); i++)
    {
      const char *verdict = berth_json_string (berth_json_get (berth_json_at (list, i), "verdict"));

      CU_ASSERT_PTR_NOT_NULL_FATAL (verdict);
      broken += strcmp (verdict, "broken") == 0;
    }
  EXPECT_STATUS (result, broken > 0 ? 1 : 0);
}

static void
test_version_and_help (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  BERTH_AUTO_JSON struct berth_json *document = NULL;

  berth (&result, "--version");
  EXPECT_STATUS (result, 0);
  EXPECT_IN (result.out, "plugin ABI 1.");
  berth (&result, "version", "--json");
  document = process_json (&result.out);
  CU_ASSERT_PTR_NOT_NULL (berth_json_get (document, "libberth"));
  berth (&result, "run", "--help");
  EXPECT_STATUS (result, 0);
  EXPECT_IN (result.out, "--memory SIZE");
  berth (&result, "help", "rm");
  EXPECT_IN (result.out, "usage: berth rm");
  berth (&result, "completion", "bash");
  EXPECT_IN (result.out, "complete -o default -F _berth berth");
}

static void
test_saved (void)
{
  const struct process_setup with_secret = { .environment = (const char *const[]){ "TOKEN=hunter2-hunter2", NULL } };
  AUTO_RESULT struct process_result result = { 0 };

  berth (&result, "env", "save", "work", "--memory", "300M", "--env", "A=1", "--label", "team=core");
  EXPECT_STATUS (result, 0);
  berth (&result, "env", "show", "work");
  EXPECT_IN (result.out, "300M");
  EXPECT_IN (result.out, "A=1");
  berth (&result, "create", "--name", "saved", "--environment", "work", "--memory", "200M", "--json");
  EXPECT_STATUS (result, 0);
  EXPECT_IN (result.out, "209715200");
  EXPECT_IN (result.out, "\"team\"");
  unmake ("saved");
  berth (&result, "env", "save", "work", "--secret", "TOKEN");
  EXPECT_STATUS (result, 0);
  berth (&result, "run", "--environment", "work", "true");
  EXPECT_STATUS (result, 125);
  EXPECT_IN (result.err, "the secret TOKEN is not given");
  berth_with (&result, &with_secret, "run", "--environment", "work", "--secret", "TOKEN", "true");
  EXPECT_STATUS (result, 0);
  berth (&result, "env", "save", "work", "--secret", "TOKEN=file:/etc/hostname");
  EXPECT_STATUS (result, 125);
  berth (&result, "run", "--env", "NO_SUCH_VARIABLE", "true");
  EXPECT_STATUS (result, 125);
  EXPECT_IN (result.err, "--environment NO_SUCH_VARIABLE");
  berth (&result, "env", "ls", "-q");
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&result.out), "work\n");
  berth (&result, "env", "rm", "work", "none");
  EXPECT_STATUS (result, 1);
  EXPECT_IN (result.err, "there is no environment \"none\"");
  berth (&result, "env", "show");
  EXPECT_STATUS (result, 2);
}

static const char *
text_of (const struct berth_json *object, const char *key)
{
  const char *text = berth_json_string (berth_json_get (object, key));

  return text != NULL ? text : "";
}

static void
test_saved_as_json (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  BERTH_AUTO_JSON struct berth_json *saved = NULL, *removed = NULL;
  const struct berth_json *pair;
  bool flag = true;

  berth (&result, "env", "save", "work", "--env", "A=1", "--net", "deny", "--json");
  EXPECT_STATUS (result, 0);
  saved = process_json (&result.out);
  CU_ASSERT_STRING_EQUAL (text_of (saved, "name"), "work");
  CU_ASSERT_STRING_EQUAL (text_of (saved, "network"), "deny");
  pair = berth_json_at (berth_json_get (saved, "environment"), 0);
  CU_ASSERT_STRING_EQUAL (text_of (pair, "name"), "A");
  CU_ASSERT_STRING_EQUAL (text_of (pair, "value"), "1");
  CU_ASSERT (berth_json_to_boolean (berth_json_get (pair, "secret"), &flag) == 0 && !flag);
  berth (&result, "env", "rm", "work", "none", "--json");
  EXPECT_STATUS (result, 1);
  removed = process_json (&result.out);
  CU_ASSERT_EQUAL (berth_json_length (removed), 2);
  CU_ASSERT_STRING_EQUAL (text_of (berth_json_at (removed, 0), "environment"), "work");
  CU_ASSERT (berth_json_to_boolean (berth_json_get (berth_json_at (removed, 0), "removed"), &flag) == 0 && flag);
  CU_ASSERT_STRING_EQUAL (text_of (berth_json_at (removed, 1), "error"), "NOT_FOUND");
}

/* An option of another word of the same command would do nothing. */
static void
test_options_of_others (void)
{
  static const struct
  {
    const char *words[6];
    const char *problem;
  } lines[] = {
    { { "env", "ls", "--memory", "1G" }, "`berth env ls` takes no --memory" },
    { { "env", "ls", "--label", "a=b" }, "`berth env ls` takes no --label" },
    { { "env", "ls", "--env", "A=1" }, "`berth env ls` takes no --env" },
    { { "env", "show", "x", "--sessions", "shared" }, "`berth env show` takes no --sessions" },
    { { "env", "rm", "x", "--no-root" }, "`berth env rm` takes no --no-root" },
    { { "snapshots", "rm", "-A", "x" }, "`berth snapshots rm` takes no --all-owners" },
  };

  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    {
      AUTO_RESULT struct process_result result = { 0 };
      process_run (&result, NULL, lines[i].words);
      EXPECT_STATUS (result, 2);
      EXPECT_IN (result.err, lines[i].problem);
    }
}

static void
test_events (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  char id[32];

  make ("watched", id);
  berth (&result, "exec", "watched", "false");
  unmake ("watched");
  berth (&result, "events", id);
  EXPECT_STATUS (result, 0);
  EXPECT_IN (result.out, " create");
  EXPECT_IN (result.out, " exec false status=1");
  EXPECT_IN (result.out, " confirmed");
  berth (&result, "events", "--json", "--since", "1h", id);
  EXPECT_STATUS (result, 0);
  EXPECT_IN (result.out, "\"argv\":[\"false\"]");
  berth (&result, "events", "sb-none");
  EXPECT_STATUS (result, 0);
  CU_ASSERT_EQUAL (result.out.size, 0);
}

/* What is recorded before it listens is not told, so there is something again and again until it speaks. */
static void
test_events_that_follow (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  AUTO_RESULT struct process_result told = { 0 };
  BERTH_AUTO_JSON struct berth_json *record = NULL;
  struct process process;
  int64_t end = berth_clock_monotonic_ms () + PATIENCE_MS;

  berth (&result, "create", "--name", "watched");
  EXPECT_STATUS (result, 0);
  CU_ASSERT_EQUAL_FATAL (process_start (&process, NULL, (const char *const[]){ "events", "-f", "--json", NULL }), 0);
  do
    {
      berth (&result, "renew", "watched", "--ttl", "20m");
      EXPECT_STATUS (result, 0);
    }
  while (berth_fd_wait (process.out, POLLIN, berth_clock_monotonic_ms () + 200) == 0 && berth_clock_monotonic_ms () < end);
  CU_ASSERT_EQUAL (kill (process.pid, SIGINT), 0);
  process_finish (&process, &told);
  EXPECT_STATUS (told, 128 + SIGINT);
  told.out.size = (size_t) (strchrnul (berth_buffer_string (&told.out), '\n') - told.out.data);
  record = process_json (&told.out);
  CU_ASSERT_STRING_EQUAL (text_of (record, "operation"), "renew");
  berth (&result, "rm", "watched");
  EXPECT_STATUS (result, 0);
}

#ifndef EXECUTES
static void
test_life (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  char id[32];

  make ("lively", id);
  berth (&result, "pause", "lively");
  EXPECT_STATUS (result, 0);
  EXPECT_IN (result.out, " paused");
  berth (&result, "exec", "lively", "true");
  EXPECT_STATUS (result, 125);
  EXPECT_IN (result.err, "berth resume");
  berth (&result, "resume", "lively", "-q");
  EXPECT_STATUS (result, 0);
  berth (&result, "stop", "lively", "no-such-box", "--json");
  EXPECT_STATUS (result, 1);
  EXPECT_IN (result.out, "\"stopped\"");
  EXPECT_IN (result.out, "\"SANDBOX_NOT_FOUND\"");
  berth (&result, "start", "lively");
  EXPECT_STATUS (result, 0);
  berth (&result, "exec", "lively", "true");
  EXPECT_STATUS (result, 0);
  berth (&result, "pause");
  EXPECT_STATUS (result, 2);
  unmake ("lively");
}
#endif

int
main (void)
{
  static const struct berth_test tests[] = {
    { "E05 exit status of run", test_exit_status },
#ifdef EXECUTES
    { "E06 a file that is not executable is 126", test_not_executable },
#endif
    { "own failures are 125, usage is 2", test_own_failures },
    { "E03 streams stay apart, input is empty", test_streams },
    { "a stream is not cut, a limit cuts exactly", test_long_output },
    { "environment and its files", test_environment },
    { "workdir and user", test_workdir_and_user },
#ifdef EXECUTES
    { "E18 user namespaces inside are there when asked for", test_user_namespaces },
#endif
    { "run --json", test_run_json },
    { "names and prefixes of ids", test_names_and_prefixes },
    { "ls", test_ls },
    { "inspect", test_inspect },
    { "--state-dir", test_state_dir },
    { "--config", test_config },
    { "rm --all", test_rm_all },
#ifndef EXECUTES
    { "L21 L22 pause, resume, stop, start", test_life },
#endif
    { "env save, show, ls, rm, and create --environment", test_saved },
    { "env save and rm with --json", test_saved_as_json },
    { "options of another word of a command are refused", test_options_of_others },
    { "events", test_events },
    { "events -f tells what happens meanwhile", test_events_that_follow },
    { "L14 the same request id gives the same sandbox", test_request_id },
    { "files, read, write", test_files },
    { "D-055 F04 names of any bytes", test_odd_names },
    { "read into a file: whole or not at all", test_read_to_file },
    { "errors as JSON", test_json_errors },
    { "D-122 control bytes in messages are escaped", test_messages_are_escaped },
    { "colours on a terminal only", test_colours },
    { "backends", test_backends },
    { "a refused backend is shown and stops nothing", test_refused_backend },
    { "doctor", test_doctor },
    { "version, help, completion", test_version_and_help },
    { NULL, NULL },
  };

  return process_main ("berth on " BACKEND, BACKEND, tests);
}

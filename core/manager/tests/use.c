/* Finding, running, files and the workspace: the host's own part of them. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/manager/tests/place.h"
#include "sdk/base/buffer.h"
#include "sdk/base/clock.h"
#include "sdk/base/string.h"
#include "sdk/base/tests/stall.h"

/* A place with one sandbox in it. */
#define BOX                                                                                                            \
  PLACE place;                                                                                                         \
  place_make (&place, "fake");                                                                                         \
  place_open (&place);                                                                                                 \
  __attribute__ ((unused)) BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = box_make (&place)

static struct berth_sandbox *
box_make (const struct place *place)
{
  struct berth_sandbox *sandbox = NULL;
  struct berth_error error = { 0 };

  if (berth_sandbox_create (place->host, NULL, &sandbox, &error) != 0)
    fprintf (stderr, "%s\n", error.message);
  CU_ASSERT_PTR_NOT_NULL_FATAL (sandbox);
  return sandbox;
}

/* ---- finding ---- */

static void
test_open (void)
{
  BOX;
  struct berth_sandbox *found = NULL;
  struct berth_error error = { 0 };
  char prefix[8];

  snprintf (prefix, sizeof prefix, "%.7s", berth_sandbox_id (sandbox));
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_open (place.host, prefix, &found, NULL), 0);
  CU_ASSERT_STRING_EQUAL (berth_sandbox_id (found), berth_sandbox_id (sandbox));
  CU_ASSERT_EQUAL (place_run (found, "exit 5", NULL), 5);
  berth_sandbox_close (found);
  CU_ASSERT_EQUAL (place_sightings (&place), 1);
  CU_ASSERT_EQUAL (berth_sandbox_open (place.host, "sb-nothere", &found, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_SANDBOX_NOT_FOUND, "\"sb-nothere\""));
  CU_ASSERT_EQUAL (berth_sandbox_open (place.host, "", &found, &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_INVALID_REQUEST);
  BERTH_AUTO_SANDBOX struct berth_sandbox *second = box_make (&place);
  CU_ASSERT_EQUAL (berth_sandbox_open (place.host, "sb-", &found, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_CONFLICT, berth_sandbox_id (sandbox)));
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_CONFLICT, berth_sandbox_id (second)));
}

static int
note_state (void *context, const struct berth_sandbox_info *info)
{
  snprintf (context, 16, "%s", info->state);
  return 0;
}

/* I05: an unreachable runtime is told as such, and the sandbox is still listed. */
static void
test_unreachable (void)
{
  BOX;
  char state[16] = "";
  struct berth_error error = { 0 };

  place_faults (&place, "lifecycle.list_ids=fail:UNREACHABLE");
  CU_ASSERT_EQUAL (berth_sandbox_list (place.host, NULL, note_state, state, NULL), 0);
  CU_ASSERT_STRING_EQUAL (state, "unreachable");
  place_faults (&place, "lifecycle.ping=fail:UNREACHABLE");
  CU_ASSERT_EQUAL (berth_backend_ping (place.host, "fake", NULL, NULL, &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_UNREACHABLE);
  CU_ASSERT_NOT_EQUAL (error.hint[0], '\0');
  place_faults (&place, "");
  CU_ASSERT_EQUAL (berth_backend_ping (place.host, "fake", NULL, NULL, &error), 0);
}

static void
test_owners (void)
{
  BOX;
  struct berth_host *host = place_host (&place, "you", NULL);
  struct berth_sandbox *found = NULL;
  struct berth_list_options options = BERTH_LIST_OPTIONS_INIT;
  char state[16] = "";

  CU_ASSERT_EQUAL (berth_sandbox_open (host, "sb-", &found, NULL), -1);
  CU_ASSERT_EQUAL (berth_sandbox_list (host, NULL, note_state, state, NULL), 0);
  CU_ASSERT_STRING_EQUAL (state, "");
  options.all_owners = 1;
  CU_ASSERT_EQUAL (berth_sandbox_list (host, &options, note_state, state, NULL), 0);
  CU_ASSERT_STRING_EQUAL (state, "running");
  CU_ASSERT_EQUAL (berth_sandbox_open (host, berth_sandbox_id (sandbox), &found, NULL), 0);
  berth_sandbox_close (found);
  berth_host_close (host);
}

/* ---- running ---- */

static int
run (struct berth_sandbox *sandbox, const char *line, struct berth_exec_options *options,
     struct berth_exec_result *result, struct berth_error *error)
{
  const char *const arguments[] = { "/bin/sh", "-c", line };

  options->arguments = arguments;
  options->argument_count = 3;
  *error = (struct berth_error) { 0 };
  return berth_sandbox_run (sandbox, options, result, error);
}

static void
test_output (void)
{
  BOX;
  struct berth_exec_options options = BERTH_EXEC_OPTIONS_INIT;
  struct berth_exec_result result;
  struct berth_error error;

  CU_ASSERT_EQUAL (run (sandbox, "echo out; echo err >&2; exit 42", &options, &result, &error), 0);
  CU_ASSERT_EQUAL (result.reason, BERTH_EXITED);
  CU_ASSERT_EQUAL (result.code, 42);
  CU_ASSERT_EQUAL (result.status, 42);
  CU_ASSERT_EQUAL (result.streamed, 0);
  CU_ASSERT_EQUAL (result.truncated, 0);
  CU_ASSERT_STRING_EQUAL (result.stdout_bytes, "out\n");
  CU_ASSERT_EQUAL (result.stdout_size, 4);
  CU_ASSERT_STRING_EQUAL (result.stderr_bytes, "err\n");
  berth_exec_result_clear (&result);
  CU_ASSERT_EQUAL (run (sandbox, "true", &options, &result, &error), 0);
  CU_ASSERT_EQUAL (result.status, 0);
  CU_ASSERT_STRING_EQUAL (result.stdout_bytes, "");
  berth_exec_result_clear (&result);
}

/* E11: cut exactly, the rest counted. */
static void
test_truncation (void)
{
  BOX;
  struct berth_exec_options options = BERTH_EXEC_OPTIONS_INIT;
  struct berth_exec_result result;
  struct berth_error error;

  options.max_output_bytes = 7;
  CU_ASSERT_EQUAL (run (sandbox, "echo 12345; echo 67890", &options, &result, &error), 0);
  CU_ASSERT_EQUAL (result.status, 0);
  CU_ASSERT_EQUAL (result.truncated, 1);
  CU_ASSERT_EQUAL (result.dropped_bytes, 5);
  CU_ASSERT_STRING_EQUAL (result.stdout_bytes, "12345\n6");
  berth_exec_result_clear (&result);
  options.max_output_bytes = 12;
  CU_ASSERT_EQUAL (run (sandbox, "echo 12345; echo 67890", &options, &result, &error), 0);
  CU_ASSERT_EQUAL (result.truncated, 0);
  CU_ASSERT_EQUAL (result.dropped_bytes, 0);
  berth_exec_result_clear (&result);
}

struct reader
{
  struct berth_buffer text;
  int stop_after;
};

static int
read_output (void *context, uint32_t stream, const void *bytes, size_t size)
{
  struct reader *reader = context;

  (void) stream;
  berth_buffer_append (&reader->text, bytes, size);
  return reader->stop_after > 0 && --reader->stop_after == 0;
}

static void
test_streaming (void)
{
  BOX;
  struct berth_exec_options options = BERTH_EXEC_OPTIONS_INIT;
  struct reader reader = { .stop_after = 0 };
  struct berth_exec_result result;
  struct berth_error error;

  options.output = read_output;
  options.output_context = &reader;
  CU_ASSERT_EQUAL (run (sandbox, "echo out", &options, &result, &error), 0);
  CU_ASSERT_EQUAL (result.streamed, 1);
  CU_ASSERT_PTR_NULL (result.stdout_bytes);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&reader.text), "out\n");
  berth_exec_result_clear (&result);
  reader.stop_after = 1;
  CU_ASSERT_EQUAL (run (sandbox, "echo out; echo more", &options, &result, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_CANCELLED, "the reader of the output wants no more"));
  berth_buffer_free (&reader.text);
}

/* E04: what was lost on the way is an error, never an exit status. */
static void
test_lost (void)
{
  BOX;
  struct berth_exec_options options = BERTH_EXEC_OPTIONS_INIT;
  struct berth_exec_result result;
  struct berth_error error;

  place_faults (&place, "commands.run=lost:3");
  CU_ASSERT_EQUAL (run (sandbox, "echo 12345", &options, &result, &error), -1);
  CU_ASSERT_NOT_EQUAL (error.code, 0);
  CU_ASSERT_EQUAL (result.reason, 0);
  CU_ASSERT_EQUAL (result.code, -1);
  berth_exec_result_clear (&result);
}

static void
test_timeout (void)
{
  BOX;
  struct berth_exec_options options = BERTH_EXEC_OPTIONS_INIT;
  struct berth_exec_result result;
  struct berth_error error;

  options.timeout_ms = 100;
  CU_ASSERT_EQUAL (run (sandbox, "echo begun; sleep 60", &options, &result, &error), 0);
  CU_ASSERT_EQUAL (result.reason, BERTH_TIMED_OUT);
  CU_ASSERT_EQUAL (result.status, 124);
  CU_ASSERT_EQUAL (result.code, -1);
  CU_ASSERT_STRING_EQUAL (result.stdout_bytes, "begun\n");
  berth_exec_result_clear (&result);
}

/* E15; how soon is the conformance suites' to say. */
static void
test_cancel (void)
{
  BOX;
  struct berth_exec_options options = BERTH_EXEC_OPTIONS_INIT;
  struct berth_exec_result result;
  struct berth_error error;
  struct berth_test_stall stall;
  pthread_t thread;

  CU_ASSERT_EQUAL_FATAL (berth_cancel_new (&options.cancel, NULL), 0);
  CU_ASSERT_EQUAL_FATAL (pthread_create (&thread, NULL, place_trigger_later, options.cancel), 0);
  CU_ASSERT_FATAL (berth_test_stall_start (&stall));
  int64_t start = berth_clock_monotonic_ms ();
  int failed = run (sandbox, "sleep 60", &options, &result, &error);
  CU_ASSERT_TRUE (berth_clock_monotonic_ms () - start <= PLACE_LATER_MS + 1000 + berth_test_stall_ms (&stall));
  berth_test_stall_stop (&stall);
  CU_ASSERT_TRUE (failed == 0 ? result.reason == BERTH_WAS_CANCELLED && result.status > 128
                              : error.code == BERTH_E_CANCELLED);
  pthread_join (thread, NULL);
  berth_exec_result_clear (&result);
  berth_cancel_free (options.cancel);
}

static void
test_bad_runs (void)
{
  BOX;
  const struct berth_pair bad_name[] = { { "", "x", 0, 0 } };
  struct berth_exec_result result;
  struct berth_error error;

#define REFUSED(code_name, part, ...)                                                                                  \
  do                                                                                                                   \
    {                                                                                                                  \
      struct berth_exec_options options = BERTH_EXEC_OPTIONS_INIT;                                                     \
      __VA_ARGS__;                                                                                                     \
      CU_ASSERT_EQUAL (run (sandbox, "true", &options, &result, &error), -1);                                          \
      CU_ASSERT_TRUE (error_is (&error, BERTH_E_##code_name, part));                                                   \
      berth_exec_result_clear (&result);                                                                               \
    }                                                                                                                  \
  while (0)
  REFUSED (INVALID_REQUEST, "timeout: got 0", options.timeout_ms = 0);
  REFUSED (INVALID_REQUEST, "timeout: got 3600001, want 1 to 3600000", options.timeout_ms = 3600001);
  REFUSED (INVALID_REQUEST, "output: got 0", options.max_output_bytes = 0);
  REFUSED (INVALID_REQUEST, "environment: \"\"", options.environment = bad_name; options.environment_count = 1);
  REFUSED (PATH_REJECTED, "leaves /workspace", options.workdir = "../x");
  REFUSED (INVALID_REQUEST, "user", options.user = "");
#undef REFUSED
  struct berth_exec_options options = BERTH_EXEC_OPTIONS_INIT;
  CU_ASSERT_EQUAL (berth_sandbox_run (sandbox, &options, &result, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_INVALID_REQUEST, "no command was given"));
}

/* I04: also one that was only given to this command. */
static void
test_secret (void)
{
  BOX;
  const struct berth_pair environment[] = { { "TOKEN", "nobody-knows", BERTH_PAIR_SECRET, 0 } };
  struct berth_exec_options options = BERTH_EXEC_OPTIONS_INIT;
  struct berth_exec_result result;
  struct berth_error error;

  options.environment = environment;
  options.environment_count = 1;
  options.user = "nobody-knows";
  CU_ASSERT_EQUAL (run (sandbox, "true", &options, &result, &error), -1);
  CU_ASSERT_PTR_NULL (strstr (error.message, "nobody-knows"));
  CU_ASSERT_PTR_NOT_NULL (strstr (error.message, "(secret)"));
}

static void
test_forbid_root (void)
{
  static const char *const users[] = { "root", "0", "000" };
  PLACE place;
  struct berth_create_options create = BERTH_CREATE_OPTIONS_INIT;
  BERTH_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  struct berth_exec_result result;
  struct berth_error error;

  place_make (&place, "fake");
  place_open (&place);
  create.forbid_root = 1;
  CU_ASSERT_EQUAL_FATAL (berth_sandbox_create (place.host, &create, &sandbox, NULL), 0);
  for (size_t i = 0; i < sizeof users / sizeof *users; i++)
    {
      struct berth_exec_options options = BERTH_EXEC_OPTIONS_INIT;
      options.user = users[i];
      CU_ASSERT_EQUAL (run (sandbox, "true", &options, &result, &error), -1);
      CU_ASSERT_TRUE (error_is (&error, BERTH_E_POLICY_DENIED, "forbids commands as root"));
    }
  struct berth_exec_options options = BERTH_EXEC_OPTIONS_INIT;
  options.user = "sandbox";
  CU_ASSERT_EQUAL (run (sandbox, "true", &options, &result, &error), 0);
  berth_exec_result_clear (&result);
}

/* ---- files ---- */

struct bytes
{
  const char *text;
  size_t left;
  struct berth_buffer got;
};

static int64_t
give_bytes (void *context, void *to, size_t size)
{
  struct bytes *bytes = context;
  size_t count = bytes->left < size ? bytes->left : size;

  memcpy (to, bytes->text, count);
  bytes->text += count;
  bytes->left -= count;
  return (int64_t) count;
}

static int64_t
give_up (void *context, void *to, size_t size)
{
  (void) context, (void) to, (void) size;
  return -1;
}

static int
take_bytes (void *context, const void *bytes, size_t size)
{
  return berth_buffer_append (&((struct bytes *) context)->got, bytes, size);
}

static int
refuse_bytes (void *context, const void *bytes, size_t size)
{
  (void) context, (void) bytes, (void) size;
  return 1;
}

static int
put (struct berth_sandbox *sandbox, const char *path, const char *text, uint64_t size,
     const struct berth_file_options *options, struct berth_error *error)
{
  struct bytes bytes = { .text = text, .left = strlen (text) };

  *error = (struct berth_error) { 0 };
  return berth_file_write (sandbox, path, options, size, give_bytes, &bytes, error);
}

static void
check_content (struct berth_sandbox *sandbox, const char *path, const char *text)
{
  struct bytes bytes = { .left = 0 };

  CU_ASSERT_EQUAL (berth_file_read (sandbox, path, NULL, take_bytes, &bytes, NULL), 0);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&bytes.got), text);
  berth_buffer_free (&bytes.got);
}

static void
test_write_and_read (void)
{
  BOX;
  struct berth_file_options options = BERTH_FILE_OPTIONS_INIT;
  struct berth_error error;

  CU_ASSERT_EQUAL (put (sandbox, "a/b", "hello", 5, NULL, &error), 0);
  check_content (sandbox, "/workspace/a/b", "hello");
  CU_ASSERT_EQUAL (put (sandbox, "a/b", "other", BERTH_UNKNOWN_SIZE, NULL, &error), 0);
  check_content (sandbox, "a/b", "other");
  options.flags = BERTH_FILE_OPTION_NEW;
  CU_ASSERT_EQUAL (put (sandbox, "a/b", "third", 5, &options, &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_CONFLICT);
  CU_ASSERT_EQUAL (berth_file_move (sandbox, "a/b", "c", NULL, &error), 0);
  check_content (sandbox, "c", "other");
  CU_ASSERT_EQUAL (berth_file_remove (sandbox, "c", NULL, &error), 0);
  CU_ASSERT_EQUAL (berth_file_read (sandbox, "c", NULL, take_bytes, NULL, &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_PATH_NOT_FOUND);
}

static void
test_file_limits (void)
{
  BOX;
  struct berth_file_options options = BERTH_FILE_OPTIONS_INIT;
  struct berth_error error;

  CU_ASSERT_EQUAL (put (sandbox, "old", "old", 3, NULL, &error), 0);
  options.max_bytes = 4;
  CU_ASSERT_EQUAL (put (sandbox, "old", "12345", 5, &options, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_PAYLOAD_TOO_LARGE, "got 5 bytes, want at most 4"));
  CU_ASSERT_EQUAL (put (sandbox, "old", "12345", BERTH_UNKNOWN_SIZE, &options, &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_PAYLOAD_TOO_LARGE);
  CU_ASSERT_EQUAL (put (sandbox, "old", "12345", 6, NULL, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_INVALID_REQUEST, "gave only 5 bytes"));
  CU_ASSERT_EQUAL (berth_file_write (sandbox, "old", NULL, 3, give_up, NULL, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_CANCELLED, "gave up"));
  check_content (sandbox, "old", "old");
  CU_ASSERT_EQUAL (berth_file_read (sandbox, "old", NULL, refuse_bytes, NULL, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_CANCELLED, "wants no more"));
  options.max_bytes = 2;
  CU_ASSERT_EQUAL (berth_file_read (sandbox, "old", &options, refuse_bytes, NULL, &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_PAYLOAD_TOO_LARGE);
  options.max_bytes = 0;
  CU_ASSERT_EQUAL (berth_file_read (sandbox, "old", &options, refuse_bytes, NULL, &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_INVALID_REQUEST);
}

static void
test_write_roots (void)
{
  BOX;
  struct berth_file_options options = BERTH_FILE_OPTIONS_INIT;
  struct berth_error error = { 0 };

#define REJECTED(call)                                                                                                 \
  do                                                                                                                   \
    {                                                                                                                  \
      error.code = 0;                                                                                                  \
      CU_ASSERT_EQUAL (call, -1);                                                                                      \
      CU_ASSERT_EQUAL (error.code, BERTH_E_PATH_REJECTED);                                                             \
    }                                                                                                                  \
  while (0)
  REJECTED (put (sandbox, "/etc/passwd", "x", 1, NULL, &error));
  REJECTED (put (sandbox, "/workspace", "x", 1, NULL, &error));
  REJECTED (put (sandbox, "a/..", "x", 1, NULL, &error));
  REJECTED (berth_file_make_directory (sandbox, "/tmp/a", NULL, &error));
  REJECTED (berth_file_remove (sandbox, ".", &options, &error));
  REJECTED (berth_file_move (sandbox, "/etc/passwd", "a", NULL, &error));
  REJECTED (berth_file_move (sandbox, "a", "/etc/passwd", NULL, &error));
  REJECTED (berth_file_set_attributes (sandbox, "/", &options, &error));
#undef REJECTED
  options.mode = 010000;
  CU_ASSERT_EQUAL (berth_file_set_attributes (sandbox, ".", &options, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_INVALID_REQUEST, "mode: got 4096"));
  options.mode = BERTH_UNSET;
  options.flags = 1u << 31;
  CU_ASSERT_EQUAL (berth_file_remove (sandbox, "a", &options, &error), -1);
  CU_ASSERT_TRUE (error_is (&error, BERTH_E_INVALID_REQUEST, "unknown flags 0x80000000"));
}

static int
count_entry (void *context, const struct berth_file_info *info)
{
  (void) info;
  ++*(int *) context;
  return 0;
}

static int
stop_at_entry (void *context, const struct berth_file_info *info)
{
  (void) info;
  return ++*(int *) context == 1;
}

static void
test_list_and_stat (void)
{
  BOX;
  struct berth_error error;
  int count = 0;

  CU_ASSERT_EQUAL (put (sandbox, ".a", "", 0, NULL, &error), 0);
  CU_ASSERT_EQUAL (put (sandbox, "b", "", 0, NULL, &error), 0);
  CU_ASSERT_EQUAL (berth_file_make_directory (sandbox, "c", NULL, &error), 0);
  CU_ASSERT_EQUAL (berth_file_list (sandbox, ".", NULL, count_entry, &count, &error), 0);
  CU_ASSERT_EQUAL (count, 3);
  CU_ASSERT_EQUAL (berth_file_stat (sandbox, "b", NULL, count_entry, &count, &error), 0);
  CU_ASSERT_EQUAL (count, 4);
  count = 0;
  CU_ASSERT_EQUAL (berth_file_list (sandbox, ".", NULL, stop_at_entry, &count, &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_CANCELLED);
  CU_ASSERT_EQUAL (count, 1);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "L07 open by prefix, from a second handle", test_open },
    { "I05 a runtime that cannot be asked is told as such", test_unreachable },
    { "owners see their own", test_owners },
    { "E03 E05 output and status", test_output },
    { "E11 output is cut exactly and counted", test_truncation },
    { "E03 output to a callback, which may stop it", test_streaming },
    { "E04 a lost connection is an error", test_lost },
    { "E09 a timeout is an exit with that reason", test_timeout },
    { "E15 cancellation ends a command", test_cancel },
    { "E06 E07 I05 runs that make no sense", test_bad_runs },
    { "I04 a secret of a command is in no message", test_secret },
    { "E08 root can be forbidden", test_forbid_root },
    { "F01 F12 write, read, move, remove", test_write_and_read },
    { "F07 F13 sizes and limits of files", test_file_limits },
    { "F09 changes stay below the write root", test_write_roots },
    { "F10 list and stat", test_list_and_stat },
    { NULL, NULL },
  };

  return berth_test_main ("use", tests);
}

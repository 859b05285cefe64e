/* The services, as a backend uses them. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/registry/cancel.h"
#include "core/registry/error.h"
#include "core/registry/instance.h"
#include "core/registry/tests/complete.h"
#include "sdk/base/clock.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"
#include "sdk/base/tests/runner.h"

struct berth_state
{
  int open;
};

static struct berth_state the_state;
static struct berth_buffer lines;

static int
open_it (struct berth_call *call, struct berth_state **out)
{
  *out = &the_state;
  the_state.open++;
  return 0;
}

static void
close_it (struct berth_call *call, struct berth_state *state)
{
  state->open--;
}

static void
note_line (void *context, uint32_t level, const char *line)
{
  berth_buffer_appendf (&lines, "%u %s\n", level, line);
}

/* An instance of a backend that is only a table, in a directory of its own. */
struct fixture
{
  char place[128];
  char state_dir[160];
  char runtime_dir[160];
  struct berth_registry_facts facts;
  struct complete whole;
  struct berth_lifecycle_ops lifecycle;
  struct berth_registered *registered;
  struct berth_instance *instance;
};

static void
fixture_open (struct fixture *fixture, const struct berth_config *config)
{
  static const struct berth_setting settings[]
      = { { "token", "BERTH_WHOLE_TOKEN", "hunter2/\"x", "the key", NULL, BERTH_SETTING_TEXT, BERTH_SETTING_SECRET },
          { "wait", "BERTH_WHOLE_WAIT", "90s", "how long", NULL, BERTH_SETTING_DURATION, 0 },
          { "unset", NULL, NULL, "nothing", NULL, BERTH_SETTING_INTEGER, 0 } };
  BERTH_AUTO_PROBLEMS struct berth_problems problems = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer said = { 0 };
  struct berth_settings values;
  struct berth_error error = { 0 };

  memset (fixture, 0, sizeof *fixture);
  snprintf (fixture->place, sizeof fixture->place, "%.64s/berth-test-XXXXXX", getenv ("TMPDIR") != NULL ? getenv ("TMPDIR") : "/tmp");
  CU_ASSERT_PTR_NOT_NULL_FATAL (mkdtemp (fixture->place));
  snprintf (fixture->state_dir, sizeof fixture->state_dir, "%s/state", fixture->place);
  snprintf (fixture->runtime_dir, sizeof fixture->runtime_dir, "%s/run", fixture->place);
  fixture->facts.state_dir = fixture->state_dir;
  fixture->facts.runtime_dir = fixture->runtime_dir;
  fixture->facts.agent_path = fixture->place;
  fixture->facts.installation_id = fixture->place + 5;
  fixture->facts.log = note_line;
  complete_make (&fixture->whole);
  fixture->lifecycle = *fixture->whole.backend.lifecycle;
  fixture->lifecycle.open = open_it;
  fixture->lifecycle.close = close_it;
  fixture->whole.backend.lifecycle = &fixture->lifecycle;
  fixture->whole.backend.settings = (struct berth_array) BERTH_ARRAY (settings);
  CU_ASSERT_EQUAL_FATAL (complete_check (&fixture->whole, &fixture->registered, &said, &said), 0);
  CU_ASSERT_EQUAL_FATAL (
      berth_settings_read (&values, berth_registered_backend (fixture->registered), "whole", config, &problems), 0);
  CU_ASSERT_EQUAL (problems.count, 0);
  CU_ASSERT_EQUAL_FATAL (
      berth_instance_open (&fixture->facts, "whole", fixture->registered, &values, &fixture->instance, &error), 0);
}

static void
fixture_close (struct fixture *fixture)
{
  berth_instance_close (fixture->instance);
  CU_ASSERT_EQUAL (the_state.open, 0);
  berth_registered_free (fixture->registered);
  CU_ASSERT_EQUAL (berth_fs_remove_tree (AT_FDCWD, fixture->place), 0);
  berth_buffer_free (&lines);
}

#define AUTO_FIXTURE BERTH_CLEANUP (fixture_close)

static void
test_fail (void)
{
  AUTO_FIXTURE struct fixture fixture;
  struct berth_host_call host;
  struct berth_call *call = &host.call;
  const struct berth_services *services;
  struct berth_error error = { 0 };

  fixture_open (&fixture, NULL);
  berth_host_call_begin (&host, fixture.instance, NULL, BERTH_NO_DEADLINE);
  services = call->services;
  CU_ASSERT_EQUAL (services->failed (call), 0);
  errno = ENOSPC;
  CU_ASSERT_EQUAL (services->fail (call, BERTH_E_PATH_NOT_FOUND, "no file %s", "/a"), -1);
  CU_ASSERT_EQUAL (errno, ENOSPC);
  CU_ASSERT_EQUAL (services->fail (call, BERTH_E_RATE_LIMITED, "slow down, %d", 7), -1);
  services->retry_after (call, 1500);
  services->upstream (call, "E429", 429);
  services->hint (call, "wait %s", "a bit");
  CU_ASSERT_EQUAL (services->failed (call), BERTH_E_RATE_LIMITED);
  CU_ASSERT_EQUAL (berth_host_call_end (&host, -1, &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_RATE_LIMITED);
  CU_ASSERT_EQUAL (error.http_status, 429);
  CU_ASSERT_EQUAL (error.retry_after_ms, 1500);
  CU_ASSERT_STRING_EQUAL (error.message, "slow down, 7 (the service says E429)");
  CU_ASSERT_STRING_EQUAL (error.hint, "wait a bit");
  CU_ASSERT_STRING_EQUAL (error.backend, "whole");
  services->forgive (call);
  CU_ASSERT_EQUAL (services->failed (call), 0);
}

static void
test_silence (void)
{
  AUTO_FIXTURE struct fixture fixture;
  struct berth_host_call host;
  struct berth_error error = { 0 };

  fixture_open (&fixture, NULL);
  berth_host_call_begin (&host, fixture.instance, NULL, BERTH_NO_DEADLINE);
  CU_ASSERT_EQUAL (berth_host_call_end (&host, -1, &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_INTERNAL);
  CU_ASSERT_STRING_EQUAL (error.message, "backend \"whole\" failed without saying why");
  /* A filled slot of a call that succeeded is nobody's failure. */
  berth_host_call_begin (&host, fixture.instance, NULL, BERTH_NO_DEADLINE);
  berth_error_clear (&error);
  host.call.services->fail (&host.call, BERTH_E_CONFLICT, "already there");
  CU_ASSERT_EQUAL (berth_host_call_end (&host, 1, &error), 1);
  CU_ASSERT_EQUAL (error.code, 0);
}

static void
expect_refusal (struct fixture *fixture, uint32_t which, uint64_t bits, const char *want)
{
  struct berth_host_call host;
  struct berth_error error = { 0 };

  berth_host_call_begin (&host, fixture->instance, NULL, BERTH_NO_DEADLINE);
  CU_ASSERT_EQUAL (host.call.services->refuse (&host.call, which, bits), -1);
  berth_host_call_end (&host, -1, &error);
  CU_ASSERT_EQUAL (error.code, BERTH_E_CAPABILITY_NOT_SUPPORTED);
  CU_ASSERT_STRING_EQUAL (error.message, want);
}

static void
test_refuse (void)
{
  AUTO_FIXTURE struct fixture fixture;

  fixture_open (&fixture, NULL);
  expect_refusal (&fixture, BERTH_ASKS_SPEC, BERTH_SPEC_OPEN_FILES | BERTH_SPEC_GPU,
                  "backend \"whole\" cannot honour: open_files, gpu");
  expect_refusal (&fixture, BERTH_ASKS_RUN, BERTH_RUN_WORKDIR, "backend \"whole\" cannot honour: workdir");
  expect_refusal (&fixture, BERTH_ASKS_CHANGE, BERTH_CHANGE_NEW | BERTH_CAP (40),
                  "backend \"whole\" cannot honour: new, bit 40 of mask 3");
  expect_refusal (&fixture, 99, 1, "backend \"whole\" cannot honour: bit 0 of mask 99");
}

/* Rule 24: undoing has a slot and an end of its own, whatever became of its parent. */
static void
test_shield (void)
{
  AUTO_FIXTURE struct fixture fixture;
  struct berth_cancel *cancel = NULL;
  struct berth_host_call host;
  struct berth_call *shielded, *deeper;
  const struct berth_services *services;
  struct berth_error error = { 0 };

  fixture_open (&fixture, NULL);
  CU_ASSERT_EQUAL_FATAL (berth_cancel_new (&cancel, NULL), 0);
  berth_host_call_begin (&host, fixture.instance, cancel, berth_clock_monotonic_ns () - 1);
  services = host.call.services;
  berth_cancel_trigger (cancel);
  services->fail (&host.call, BERTH_E_UNREACHABLE, "the first reason");
  shielded = services->shield (&host.call, 60000);
  CU_ASSERT_PTR_NOT_NULL_FATAL (shielded);
  CU_ASSERT_EQUAL (services->cancelled (&host.call), BERTH_E_CANCELLED);
  CU_ASSERT_EQUAL (services->cancelled (shielded), 0);
  CU_ASSERT_EQUAL (services->failed (shielded), 0);
  CU_ASSERT_TRUE (services->deadline (shielded) > berth_clock_monotonic_ns ());
  services->fail (shielded, BERTH_E_CONFLICT, "could not undo");
  deeper = services->shield (shielded, 0);
  CU_ASSERT_EQUAL (services->cancelled (deeper), BERTH_E_TIMEOUT);
  services->unshield (deeper);
  CU_ASSERT_EQUAL (services->failed (shielded), BERTH_E_CONFLICT);
  services->unshield (shielded);
  berth_host_call_end (&host, -1, &error);
  CU_ASSERT_STRING_EQUAL (error.message, "the first reason");
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&lines), "2 whole: while undoing: CONFLICT: could not undo\n");
  berth_cancel_free (cancel);
}

static void
test_cancel (void)
{
  AUTO_FIXTURE struct fixture fixture;
  struct berth_cancel *cancel = NULL;
  struct berth_host_call host;
  struct pollfd poll_fd;

  fixture_open (&fixture, NULL);
  CU_ASSERT_EQUAL_FATAL (berth_cancel_new (&cancel, NULL), 0);
  berth_host_call_begin (&host, fixture.instance, cancel, BERTH_NO_DEADLINE);
  poll_fd = (struct pollfd) { host.call.services->cancel_fd (&host.call), POLLIN, 0 };
  CU_ASSERT_EQUAL (poll (&poll_fd, 1, 0), 0);
  CU_ASSERT_EQUAL (host.call.services->cancelled (&host.call), 0);
  CU_ASSERT_EQUAL (host.call.services->deadline (&host.call), BERTH_NO_DEADLINE);
  for (int i = 0; i < 2; i++)
    {
      berth_cancel_trigger (cancel);
      CU_ASSERT_EQUAL (poll (&poll_fd, 1, 0), 1);
      CU_ASSERT_EQUAL (host.call.services->cancelled (&host.call), BERTH_E_CANCELLED);
    }
  CU_ASSERT_EQUAL (fcntl (poll_fd.fd, F_GETFD), FD_CLOEXEC);
  berth_host_call_begin (&host, fixture.instance, NULL, berth_clock_monotonic_ns () - 1);
  CU_ASSERT_EQUAL (host.call.services->cancelled (&host.call), BERTH_E_TIMEOUT);
  CU_ASSERT_EQUAL (host.call.services->cancel_fd (&host.call), -1);
  berth_cancel_free (cancel);
  berth_cancel_free (NULL);
}

static void
expect_message (struct fixture *fixture, const char *text, const char *want)
{
  struct berth_host_call host;
  struct berth_error error = { 0 };

  berth_host_call_begin (&host, fixture->instance, NULL, BERTH_NO_DEADLINE);
  host.call.services->fail (&host.call, BERTH_E_UNAUTHORIZED, "%s", text);
  host.call.services->hint (&host.call, "%s", text);
  berth_host_call_end (&host, -1, &error);
  CU_ASSERT_STRING_EQUAL (error.message, want);
  CU_ASSERT_STRING_EQUAL (error.hint, want);
  berth_buffer_clear (&lines);
  host.call.services->log (fixture->instance, BERTH_LOG_INFO, "%s", text);
  CU_ASSERT_TRUE (berth_string_starts_with (berth_buffer_string (&lines), "3 whole: "));
  CU_ASSERT_EQUAL (strncmp (berth_buffer_string (&lines) + 9, want, strlen (want)), 0);
}

/* I04: a secret in no spelling. */
static void
test_redact (void)
{
  AUTO_FIXTURE struct fixture fixture;
  static const char learned[] = "s3 kr/t+\xc3\xa9~";

  fixture_open (&fixture, NULL);
  expect_message (&fixture, "key hunter2/\"x.", "key (secret).");
  expect_message (&fixture, "{\"key\":\"hunter2/\\\"x\"}", "{\"key\":\"(secret)\"}");
  expect_message (&fixture, "{\"key\":\"hunter2\\/\\\"x\"}", "{\"key\":\"(secret)\"}");
  expect_message (&fixture, "?k=hunter2%2F%22x&", "?k=(secret)&");
  expect_message (&fixture, "?k=hunter2%2f%22x&", "?k=(secret)&");
  expect_message (&fixture, "/hunter2/%22x/", "/(secret)/");
  expect_message (&fixture, learned, learned);
  berth_services_table ()->redact (fixture.instance, learned, sizeof learned - 1);
  expect_message (&fixture, learned, "(secret)");
  expect_message (&fixture, "a s3 kr\\/t+\\u00e9~ b", "a (secret) b");
  expect_message (&fixture, "a s3+kr/t%2B%C3%A9~ b", "a (secret) b");
  expect_message (&fixture, "'s3 kr/t+\\xc3\\xa9~': no such file", "'(secret)': no such file");
  expect_message (&fixture, "twice hunter2/\"xhunter2/\"x", "twice (secret)(secret)");
  /* base64 of "u:" and the first secret, of it alone, and of "ab" and it: the alignments. */
  expect_message (&fixture, "Basic dTpodW50ZXIyLyJ4", "Basic dTp(secret)");
  expect_message (&fixture, "Basic aHVudGVyMi8ieA==", "Basic (secret)A==");
}

/* The cut comes after: half a secret is not one that is found. */
static void
test_redact_cut (void)
{
  AUTO_FIXTURE struct fixture fixture;
  char text[2048], want[sizeof ((struct berth_error *) 0)->message];
  struct berth_host_call host;
  struct berth_error error = { 0 };

  fixture_open (&fixture, NULL);
  memset (text, '.', sizeof text);
  strcpy (text + 1018, "hunter2/\"x");
  memset (want, '.', 1018);
  strcpy (want + 1018, "(secr");
  berth_host_call_begin (&host, fixture.instance, NULL, BERTH_NO_DEADLINE);
  host.call.services->fail (&host.call, BERTH_E_INTERNAL, "%s", text);
  berth_host_call_end (&host, -1, &error);
  CU_ASSERT_STRING_EQUAL (error.message, want);
  berth_buffer_clear (&lines);
  berth_services_table ()->redact (fixture.instance, "abc", 3);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&lines),
                          "2 whole: a secret of 3 bytes cannot be kept out of messages: it is too short\n");
}

static void
test_facts (void)
{
  AUTO_FIXTURE struct fixture fixture;
  const struct berth_services *services = berth_services_table ();
  struct stat status;
  const char *directory;

  fixture_open (&fixture, NULL);
  CU_ASSERT_STRING_EQUAL (services->instance_name (fixture.instance), "whole");
  CU_ASSERT_STRING_EQUAL (services->setting (fixture.instance, "wait"), "90s");
  CU_ASSERT_EQUAL (services->setting_number (fixture.instance, "wait"), 90000);
  CU_ASSERT_PTR_NULL (services->setting (fixture.instance, "unset"));
  CU_ASSERT_EQUAL (services->setting_number (fixture.instance, "unset"), 0);
  CU_ASSERT_PTR_NULL (services->setting (fixture.instance, "undeclared"));
  CU_ASSERT_STRING_EQUAL (services->installation_id (fixture.instance), fixture.facts.installation_id);
  directory = services->directory (fixture.instance, BERTH_DIRECTORY_STATE);
  CU_ASSERT_TRUE (berth_string_ends_with (directory, "/state/backends/whole"));
  CU_ASSERT_EQUAL (stat (directory, &status), 0);
  CU_ASSERT_EQUAL (status.st_mode & 07777, 0700);
  CU_ASSERT_TRUE (berth_string_ends_with (services->directory (fixture.instance, BERTH_DIRECTORY_RUNTIME), "/run/whole"));
  CU_ASSERT_PTR_NULL (services->directory (fixture.instance, BERTH_DIRECTORY_CACHE));
  CU_ASSERT_PTR_NULL (services->directory (fixture.instance, 77));
  CU_ASSERT_STRING_EQUAL (services->agent_path (fixture.instance, NULL), fixture.place);
  CU_ASSERT_PTR_EQUAL (services->agent_path (fixture.instance, NULL), services->agent_path (fixture.instance, NULL));
  CU_ASSERT_PTR_NULL (services->agent_path (fixture.instance, "pdp11"));
  CU_ASSERT_PTR_NULL (services->agent_path (fixture.instance, "../../etc/passwd"));
}

/* A directory that somebody else can look into is closed; one that is a link is refused. */
static void
test_directories (void)
{
  struct fixture fixture;
  struct berth_settings values = { 0 };
  struct berth_instance *instance = NULL;
  struct berth_error error = { 0 };
  char path[192];

  fixture_open (&fixture, NULL);
  snprintf (path, sizeof path, "%s/backends/other", fixture.state_dir);
  CU_ASSERT_EQUAL (symlink ("/etc", path), 0);
  CU_ASSERT_EQUAL (berth_instance_open (&fixture.facts, "other", fixture.registered, &values, &instance, &error), -1);
  CU_ASSERT_EQUAL (error.code, BERTH_E_CONFIGURATION);
  CU_ASSERT_TRUE (berth_string_ends_with (error.message, "/state/backends/other is not a directory"));
  CU_ASSERT_EQUAL (unlink (path), 0);
  CU_ASSERT_EQUAL (mkdir (path, 0777), 0);
  CU_ASSERT_EQUAL (berth_instance_open (&fixture.facts, "other", fixture.registered, &values, &instance, &error), 0);
  {
    struct stat status;

    CU_ASSERT_EQUAL (stat (path, &status), 0);
    CU_ASSERT_EQUAL (status.st_mode & 07777, 0700);
  }
  berth_instance_close (instance);
  fixture_close (&fixture);
}

static void
test_errors (void)
{
  struct berth_error error = { 0 };
  char long_text[3000];

  CU_ASSERT_STRING_EQUAL (berth_error_name (BERTH_E_SANDBOX_NOT_FOUND), "SANDBOX_NOT_FOUND");
  CU_ASSERT_STRING_EQUAL (berth_error_name (12345), "UNKNOWN");
  CU_ASSERT_STRING_EQUAL (berth_error_name (BERTH_E_NONE), "UNKNOWN");
  errno = EIO;
  CU_ASSERT_EQUAL (berth_error_set (&error, BERTH_E_SANDBOX_NOT_FOUND, "no sandbox %s", "x"), -1);
  CU_ASSERT_EQUAL (errno, EIO);
  CU_ASSERT_EQUAL (error.http_status, 404);
  CU_ASSERT_STRING_EQUAL (error.hint, "`berth ls` shows the sandboxes");
  /* Its own message may be an argument. */
  berth_error_set (&error, BERTH_E_CONFLICT, "%s again", error.message);
  CU_ASSERT_STRING_EQUAL (error.message, "no sandbox x again");
  CU_ASSERT_STRING_EQUAL (error.hint, "");
  memset (long_text, 'x', sizeof long_text - 1);
  long_text[sizeof long_text - 1] = '\0';
  berth_error_set (&error, 99999, "%s", long_text);
  CU_ASSERT_EQUAL (strlen (error.message), sizeof error.message - 1);
  CU_ASSERT_EQUAL (error.http_status, 999);
  CU_ASSERT_EQUAL (berth_error_set (NULL, BERTH_E_CONFLICT, "nobody listens"), -1);
  berth_error_hint (NULL, "nobody listens");
}

#define ROW(name, code, meaning, hint) { code, #name, meaning, hint },
static void
test_error_table (void)
{
  static const struct
  {
    uint32_t code;
    const char *name, *meaning, *hint;
  } rows[] = { BERTH_ERRORS (ROW) };

  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    {
      CU_ASSERT_STRING_EQUAL (berth_error_name (rows[i].code), rows[i].name);
      CU_ASSERT_TRUE (rows[i].code / 100 >= 400 && rows[i].code / 100 < 600);
      CU_ASSERT_TRUE (rows[i].meaning[0] != '\0');
      for (size_t j = 0; j < i; j++)
        CU_ASSERT_NOT_EQUAL (rows[i].code, rows[j].code);
    }
}

static void
test_names (void)
{
  CU_ASSERT_STRING_EQUAL (berth_tier_name (BERTH_TIER_GVISOR), "gvisor");
  CU_ASSERT_STRING_EQUAL (berth_tier_name (15), "unknown");
  CU_ASSERT_EQUAL (berth_tier_parse ("MicroVM"), BERTH_TIER_MICROVM);
  CU_ASSERT_EQUAL (berth_tier_parse ("vm"), -1);
  CU_ASSERT_EQUAL (berth_tier_satisfies (BERTH_TIER_MICROVM, BERTH_TIER_CONTAINER), 1);
  CU_ASSERT_EQUAL (berth_tier_satisfies (BERTH_TIER_CONTAINER, BERTH_TIER_CONTAINER), 1);
  CU_ASSERT_EQUAL (berth_tier_satisfies (BERTH_TIER_CONTAINER, BERTH_TIER_GVISOR), 0);
  CU_ASSERT_EQUAL (berth_tier_satisfies (BERTH_TIER_CONTAINER, BERTH_TIER_UNKNOWN), 1);
  CU_ASSERT_EQUAL (berth_tier_satisfies (BERTH_TIER_UNKNOWN, BERTH_TIER_UNKNOWN), 0);
  CU_ASSERT_EQUAL (berth_tier_satisfies (BERTH_TIER_UNKNOWN, BERTH_TIER_CONTAINER), 0);
  CU_ASSERT_EQUAL (berth_tier_satisfies (99, BERTH_TIER_CONTAINER), 0);
  CU_ASSERT_EQUAL (berth_tier_satisfies (BERTH_TIER_MICROVM, 25), 0);
  CU_ASSERT_STRING_EQUAL (berth_capability_name (BERTH_CAP_PTY), "PTY");
  CU_ASSERT_STRING_EQUAL (berth_capability_name (BERTH_CAP_RUN_COMMAND), "RUN_COMMAND");
  CU_ASSERT_PTR_NULL (berth_capability_name (BERTH_CAP (57)));
  CU_ASSERT_PTR_NULL (berth_capability_name (0));
  CU_ASSERT_STRING_EQUAL (berth_spec_name (BERTH_SPEC_OPEN_FILES), "open_files");
  CU_ASSERT_PTR_NULL (berth_spec_name (BERTH_ASKS_HARNESS));
  for (unsigned int n = 0; n < 24; n++)
    CU_ASSERT_PTR_NOT_NULL (berth_spec_name (BERTH_SPEC_KNOWN_1_0 & (UINT64_C (1) << n)));
}

static void
test_capability_list (void)
{
  uint64_t all = 0;

  for (uint32_t i = 0; berth_capability (i) != NULL; i++)
    {
      const struct berth_capability_info *info = berth_capability (i);

      CU_ASSERT_EQUAL (all & info->bit, 0);
      all |= info->bit;
      CU_ASSERT_STRING_EQUAL (berth_capability_name (info->bit), info->name);
      CU_ASSERT_TRUE (info->help[0] != '\0');
    }
  CU_ASSERT_EQUAL (all, (BERTH_CAP (38) - 1) & ~UINT64_C (0xf0));
}

/* ---- concurrency ---- */

struct turn
{
  struct berth_gate gate;
  const char *id;
  int inside, most;
};

static void *
take_turns (void *context)
{
  struct turn *turn = context;

  for (int i = 0; i < 200; i++)
    {
      int now;

      berth_gate_enter (&turn->gate, turn->id);
      now = __atomic_add_fetch (&turn->inside, 1, __ATOMIC_SEQ_CST);
      if (now > turn->most)
        turn->most = now;
      sched_yield ();
      __atomic_sub_fetch (&turn->inside, 1, __ATOMIC_SEQ_CST);
      berth_gate_leave (&turn->gate, turn->id);
    }
  return NULL;
}

static void
test_gate (void)
{
  struct turn turn = { .id = NULL };
  pthread_t threads[4];

  berth_gate_init (&turn.gate, BERTH_ONE_AT_A_TIME);
  for (size_t i = 0; i < 4; i++)
    CU_ASSERT_EQUAL_FATAL (pthread_create (&threads[i], NULL, take_turns, &turn), 0);
  for (size_t i = 0; i < 4; i++)
    pthread_join (threads[i], NULL);
  CU_ASSERT_EQUAL (turn.most, 1);
  berth_gate_clear (&turn.gate);
}

static void *
enter_same (void *context)
{
  struct turn *turn = context;

  berth_gate_enter (&turn->gate, turn->id);
  __atomic_store_n (&turn->inside, 1, __ATOMIC_SEQ_CST);
  berth_gate_leave (&turn->gate, turn->id);
  return NULL;
}

static void
test_gate_per_sandbox (void)
{
  struct turn turn = { .id = "a" };
  pthread_t thread;

  berth_gate_init (&turn.gate, BERTH_ONE_PER_SANDBOX);
  berth_gate_enter (&turn.gate, "a");
  berth_gate_enter (&turn.gate, "b");
  berth_gate_enter (&turn.gate, NULL);
  CU_ASSERT_EQUAL_FATAL (pthread_create (&thread, NULL, enter_same, &turn), 0);
  berth_clock_sleep_ms (50);
  CU_ASSERT_EQUAL (__atomic_load_n (&turn.inside, __ATOMIC_SEQ_CST), 0);
  berth_gate_leave (&turn.gate, NULL);
  berth_gate_leave (&turn.gate, "b");
  berth_gate_leave (&turn.gate, "a");
  pthread_join (thread, NULL);
  CU_ASSERT_EQUAL (turn.inside, 1);
  berth_gate_clear (&turn.gate);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "rule 24 the last failure is the one, with all that belongs to it", test_fail },
    { "rule 23 a failure without a reason", test_silence },
    { "rule 27 a refusal names the members", test_refuse },
    { "rule 24 undoing is shielded", test_shield },
    { "rule 14 cancellation and deadline", test_cancel },
    { "I04 rule 28 secrets are in no text, in any spelling", test_redact },
    { "I04 rule 28 a secret at the cut", test_redact_cut },
    { "facts that a backend is told", test_facts },
    { "directories of an instance", test_directories },
    { "I05 errors of the host", test_errors },
    { "I05 the table of errors", test_error_table },
    { "I01 names and ranks", test_names },
    { "the list of capabilities", test_capability_list },
    { "one call at a time", test_gate },
    { "one call per sandbox", test_gate_per_sandbox },
    { NULL, NULL },
  };

  return berth_test_main ("call", tests);
}

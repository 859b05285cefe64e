/* I06: several tenants in one sandbox. */
#include <stdio.h>
#include <string.h>

#include "conformance/suites/content.h"
#include "conformance/suites/platform.h"
#include "conformance/suites/run.h"

#define TENANT(name) SUITE_WORKSPACE "/tenants/" name

static int
take_id (void *context, const char *text)
{
  snprintf (context, SUITE_ID_SIZE, "%s", text);
  return 0;
}

static uint32_t
open_session (struct suite_box *box, const char *path, char id[SUITE_ID_SIZE])
{
  struct berth_isolated_workspace workspace = { .struct_size = sizeof workspace, .mode = 0700, .path = path };
  const struct berth_isolated_ops *ops = box->suite->backend->isolated;
  struct berth_text_sink sink = { sizeof sink, 0, id, take_id };
  uint32_t code = SUITE_CALL (box->suite, box->native_id, ops->prepare (made, box->handle, &workspace));

  id[0] = '\0';
  return code != 0 ? code : SUITE_CALL (box->suite, box->native_id, ops->open (made, box->handle, &workspace, &sink));
}

static int
take_output (void *context, uint32_t stream, const void *bytes, size_t size)
{
  return stream == BERTH_STDOUT ? berth_buffer_append (context, bytes, size) : 0;
}

static int
ignore_exit (void *context, const struct berth_exit *end)
{
  (void) context, (void) end;
  return 0;
}

/* WORKDIR may be NULL.  OUTPUT gets what it prints. */
static uint32_t
run_in (struct suite_box *box, const char *session, const char *script, const char *workdir, struct berth_buffer *output)
{
  const char *const arguments[] = { "sh", "-c", script, NULL };
  struct berth_run run = { .struct_size = sizeof run, .argument_count = 3, .arguments = arguments,
                           .asks = workdir != NULL ? BERTH_RUN_WORKDIR : 0, .workdir = workdir };
  struct berth_run_sink sink = { sizeof sink, 0, output, take_output, ignore_exit };

  berth_buffer_clear (output);
  return SUITE_CALL (box->suite, box->native_id, box->suite->backend->isolated->run (made, box->handle, session, &run, &sink));
}

static uint64_t
count_active (struct suite_box *box)
{
  uint64_t count = UINT64_MAX;

  SUITE_CHECK_CODE (box->suite, "count_active",
                    SUITE_CALL (box->suite, box->native_id, box->suite->backend->isolated->count_active (made, box->handle, &count)),
                    0);
  return count;
}

void
suite_i06 (struct suite_context *suite)
{
  const struct berth_isolated_ops *ops = suite->backend->isolated;
  struct suite_box *box = suite_box_make (suite);
  BERTH_AUTO_BUFFER struct berth_buffer output = { 0 };
  char one[SUITE_ID_SIZE], other[SUITE_ID_SIZE];

  SUITE_CHECK_CODE (suite, "open", open_session (box, TENANT ("a"), one), 0);
  SUITE_CHECK_CODE (suite, "open", open_session (box, TENANT ("b"), other), 0);
  SUITE_REQUIRE (suite, one[0] != '\0' && other[0] != '\0' && strcmp (one, other) != 0, "sessions \"%s\" and \"%s\"", one, other);
  SUITE_CHECK (suite, count_active (box) == 2, "%llu sessions are counted", (unsigned long long) count_active (box));
  SUITE_CHECK_CODE (suite, "run", run_in (box, one, "pwd; echo mine > file", NULL, &output), 0);
  SUITE_CHECK (suite, strcmp (berth_buffer_string (&output), TENANT ("a") "\n") == 0, "it starts in %s", berth_buffer_string (&output));
  SUITE_CHECK_CODE (suite, "run", run_in (box, other, "cat file", NULL, &output), 0);
  SUITE_CHECK (suite, output.size == 0, "one session reads the other's \"%s\"", berth_buffer_string (&output));
  SUITE_CHECK_CODE (suite, "run in the other's directory", run_in (box, other, "pwd", TENANT ("a"), &output),
                    BERTH_E_PATH_REJECTED);
  for (int i = 0; i < 2; i++)
    SUITE_CHECK_CODE (suite, "close", SUITE_CALL (suite, box->native_id, ops->close (made, box->handle, one)), 0);
  SUITE_CHECK (suite, count_active (box) == 1, "after one was closed %llu are counted", (unsigned long long) count_active (box));
  SUITE_CHECK_CODE (suite, "run in what was closed", run_in (box, one, "pwd", NULL, &output), BERTH_E_NOT_FOUND);
}

struct sought
{
  const char *id;
  unsigned int count, found;
};

static int
take_found (void *context, const char *text)
{
  struct sought *sought = context;

  sought->count++;
  sought->found += strcmp (sought->id, text) == 0;
  return 0;
}

void
suite_i06_recovery (struct suite_context *suite)
{
  const struct berth_recovery_ops *ops = suite->backend->recovery;
  struct suite_box *box = suite_box_make (suite);
  char one[SUITE_ID_SIZE], other[SUITE_ID_SIZE];
  struct sought sought = { .id = one }, nothing = { .id = one };
  struct berth_text_sink sink = { sizeof sink, 0, &sought, take_found };

  SUITE_CHECK_CODE (suite, "open", open_session (box, TENANT ("a"), one), 0);
  SUITE_CHECK_CODE (suite, "open", open_session (box, TENANT ("b"), other), 0);
  SUITE_CHECK_CODE (suite, "find", SUITE_CALL (suite, box->native_id, ops->find_by_workspace (made, box->handle, TENANT ("a"), &sink)), 0);
  SUITE_CHECK (suite, sought.count == 1 && sought.found == 1, "%u are found, %u of them it", sought.count, sought.found);
  sink.context = &nothing;
  SUITE_CHECK_CODE (suite, "find", SUITE_CALL (suite, box->native_id, ops->find_by_workspace (made, box->handle, TENANT ("c"), &sink)), 0);
  SUITE_CHECK (suite, nothing.count == 0, "%u are found where none is", nothing.count);
}

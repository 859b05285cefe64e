/* P: process sessions.  What they run is what every shell has, and what a scripted one knows. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "conformance/suites/role.h"
#include "conformance/suites/run.h"
#include "sdk/base/clock.h"

#define PATIENCE_MS 60000
#define RING_BYTES 4096

/* A session of a box, and what its events told since they were last read. */
struct session
{
  struct suite_box *box;
  const struct berth_processes_ops *ops;
  char id[256];
  struct berth_position position; /* of the last attach or view */
  struct berth_buffer output;
  uint64_t next; /* offset that the next byte must have; UINT64_MAX: whatever it has */
  unsigned int gaps;
  unsigned int exits;
  struct berth_exit exit;
  uint32_t lost;
};

#define CALL(session, expression) SUITE_CALL ((session)->box->suite, (session)->box->native_id, expression)

/* ---- events ---- */

static int
take_output (void *context, uint64_t offset, uint32_t stream, const void *bytes, size_t size)
{
  struct session *session = context;

  session->gaps += session->next != UINT64_MAX && offset != session->next;
  session->gaps += stream != BERTH_STDOUT && stream != BERTH_STDERR;
  session->next = offset + size;
  return berth_buffer_append (&session->output, bytes, size);
}

static int
take_exit (void *context, const struct berth_exit *end)
{
  struct session *session = context;

  session->exits++;
  session->exit = *end;
  return 0;
}

static int
take_lost (void *context, uint32_t code, const char *why)
{
  struct session *session = context;

  (void) why;
  session->lost = code;
  return 0;
}

static struct berth_event_sink
event_sink (struct session *session)
{
  return (struct berth_event_sink) { sizeof (struct berth_event_sink), 0, session, take_output, take_exit, take_lost };
}

static int
take_id (void *context, const char *text)
{
  struct session *session = context;

  snprintf (session->id, sizeof session->id, "%s", text);
  return 0;
}

/* ---- calls ---- */

static uint32_t
start (struct session *session, const char *const *arguments, uint64_t asks)
{
  struct berth_run run = { .struct_size = sizeof run, .asks = asks, .arguments = arguments, .ring_bytes = RING_BYTES,
                           .columns = 80, .rows = 24 };
  struct berth_text_sink sink = { sizeof sink, 0, session, take_id };

  while (arguments[run.argument_count] != NULL)
    run.argument_count++;
  return CALL (session, session->ops->start (made, session->box->handle, &run, &sink));
}

static void
begin (struct suite_context *suite, struct session *session, const char *const *arguments, uint64_t asks)
{
  *session = (struct session) { .next = UINT64_MAX, .ops = suite->backend->processes };
  session->box = suite_box_make (suite);
  SUITE_CHECK_CODE (suite, "start", start (session, arguments, asks), 0);
  SUITE_REQUIRE (suite, session->id[0] != '\0', "start told no id");
}

static void
begin_script (struct suite_context *suite, struct session *session, const char *script, uint64_t asks)
{
  const char *const arguments[] = { "sh", "-c", script, NULL };

  begin (suite, session, arguments, asks);
}

static uint32_t
attach_with (struct session *session, struct berth_handle *handle, uint64_t asks, uint64_t offset,
             struct berth_attachment **attachment)
{
  struct berth_attach how = { .struct_size = sizeof how, .asks = asks, .offset = offset };

  return CALL (session, session->ops->attach (made, handle, session->id, &how, &session->position, attachment));
}

static struct berth_attachment *
attach (struct session *session, uint64_t offset)
{
  struct berth_attachment *attachment = NULL;

  SUITE_CHECK_CODE (session->box->suite, "attach", attach_with (session, session->box->handle, 0, offset, &attachment), 0);
  SUITE_REQUIRE (session->box->suite, attachment != NULL, "no attachment");
  return attachment;
}

static void
detach (struct session *session, struct berth_attachment *attachment)
{
  CALL (session, (session->ops->detach (made, attachment), 0));
}

/* Reads events until SIZE bytes of output came or it is over: what the last `next` returned. */
static int
read_events (struct session *session, struct berth_attachment *attachment, size_t size)
{
  struct berth_event_sink sink = event_sink (session);
  int more = 1;

  berth_buffer_clear (&session->output);
  while (more == 1 && session->output.size < size)
    CALL (session, more = session->ops->next (made, attachment, &sink));
  SUITE_CHECK (session->box->suite, session->gaps == 0, "output came with other offsets than those that follow");
  return more;
}

static void
check_read (struct session *session, struct berth_attachment *attachment, const char *want, const char *what)
{
  read_events (session, attachment, strlen (want));
  SUITE_CHECK (session->box->suite, strcmp (berth_buffer_string (&session->output), want) == 0,
               "%s: got \"%.200s\", want \"%.200s\"", what, berth_buffer_string (&session->output), want);
}

static void
check_end (struct session *session, struct berth_attachment *attachment, int32_t code)
{
  SUITE_CHECK (session->box->suite, read_events (session, attachment, SIZE_MAX) == 0, "more is to come after the end");
  SUITE_CHECK (session->box->suite,
               session->exits == 1 && session->exit.reason == BERTH_EXITED && session->exit.code == code,
               "%u exits, reason %u, code %d; want one with code %d", session->exits, session->exit.reason,
               session->exit.code, code);
}

/* ---- what is told of it ---- */

struct told
{
  const char *id;
  unsigned int count; /* of all */
  unsigned int found; /* of this id */
  uint32_t running;
  uint64_t has;
  struct berth_exit exit;
  struct berth_position position;
};

static int
take_process (void *context, const struct berth_process *process)
{
  struct told *told = context;

  told->count++;
  if (strcmp (process->process_id, told->id) != 0)
    return 0;
  told->found++;
  told->running = process->running;
  told->has = process->has;
  told->position = process->position;
  if (process->exit != NULL)
    told->exit = *process->exit;
  return 0;
}

static uint32_t
inspect (struct session *session, struct told *told)
{
  struct berth_process_sink sink = { sizeof sink, 0, told, take_process };

  *told = (struct told) { .id = session->id };
  return CALL (session, session->ops->inspect (made, session->box->handle, session->id, &sink));
}

static struct told
await_exit (struct session *session)
{
  int64_t until = berth_clock_monotonic_ms () + PATIENCE_MS;
  struct told told;

  do
    {
      SUITE_CHECK_CODE (session->box->suite, "inspect", inspect (session, &told), 0);
      if (told.found == 1 && told.running == 0)
        return told;
      berth_clock_sleep_ms (20);
    }
  while (berth_clock_monotonic_ms () < until && told.found == 1);
  SUITE_REQUIRE (session->box->suite, false, "%s does not end", session->id);
  return told;
}

/* The lines 1 to COUNT. */
static void
count_up (struct berth_buffer *text, unsigned int count)
{
  for (unsigned int i = 1; i <= count; i++)
    berth_buffer_appendf (text, "%u\n", i);
}

/* ---- the clauses ---- */

/* Reads all of a session of another process, from its first byte. */
static void
replay (struct suite_context *suite, int count, char **arguments)
{
  struct session session = { .next = 0, .ops = suite->backend->processes };
  struct berth_attachment *attachment = NULL;

  if (count < 2)
    return;
  session.box = suite_box_load (suite, arguments[0]);
  snprintf (session.id, sizeof session.id, "%s", arguments[1]);
  SUITE_CHECK_CODE (suite, "connect", suite_box_connect (session.box, NULL, &session.box->handle), 0);
  attachment = attach (&session, 0);
  read_events (&session, attachment, SIZE_MAX);
  printf ("%s", berth_buffer_string (&session.output));
  detach (&session, attachment);
  suite_box_release (session.box, session.box->handle);
  berth_buffer_free (&session.output);
}

static void
p01 (struct suite_context *suite)
{
  struct session session;
  BERTH_AUTO_BUFFER struct berth_buffer printed = { 0 };
  BERTH_AUTO_FREE char *saved = NULL;

  begin_script (suite, &session, "echo first; sleep 1; echo second; exit 3", 0);
  saved = suite_box_save (session.box);
  await_exit (&session);
  SUITE_CHECK (suite, suite_role_run (suite, "replay", (const char *const[]) { saved, session.id, NULL }, &printed) == 0,
               "the other client failed");
  SUITE_CHECK (suite, strcmp (berth_buffer_string (&printed), "first\nsecond\n") == 0, "another client reads \"%s\"",
               berth_buffer_string (&printed));
}

static void
p02 (struct suite_context *suite)
{
  struct session session;
  struct berth_attachment *first, *second = NULL;

  begin_script (suite, &session, "echo here; sleep 600", 0);
  first = attach (&session, 0);
  check_read (&session, first, "here\n", "the first holder");
  SUITE_CHECK_CODE (suite, "a second attach", attach_with (&session, session.box->handle, 0, 0, &second),
                    BERTH_E_PROCESS_HELD);
  SUITE_CHECK_CODE (suite, "a takeover", attach_with (&session, session.box->handle, BERTH_ATTACH_TAKEOVER, 0, &second), 0);
  SUITE_REQUIRE (suite, second != NULL, "no attachment");
  SUITE_CHECK (suite, read_events (&session, first, 1) == 0 && session.lost == BERTH_E_PROCESS_HELD,
               "the evicted holder is told %s", suite_code_name (session.lost));
  session.next = 0;
  check_read (&session, second, "here\n", "the second holder");
  detach (&session, first);
  detach (&session, second);
  berth_buffer_free (&session.output);
}

static void
p03 (struct suite_context *suite)
{
  static const uint64_t offsets[] = { 0, 1, 48, 4099, 48893, 48894 };
  BERTH_AUTO_BUFFER struct berth_buffer want = { 0 };
  struct session session;

  count_up (&want, 10000);
  begin (suite, &session, (const char *const[]) { "seq", "10000", NULL }, 0);
  for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++)
    {
      struct berth_attachment *attachment = attach (&session, offsets[i]);

      session.next = offsets[i];
      session.exits = 0;
      check_end (&session, attachment, 0);
      SUITE_CHECK (suite,
                   session.output.size == want.size - offsets[i]
                       && memcmp (berth_buffer_string (&session.output), berth_buffer_string (&want) + offsets[i],
                                  session.output.size)
                              == 0,
                   "from offset %llu come %zu bytes, or others; want %llu", (unsigned long long) offsets[i],
                   session.output.size, (unsigned long long) (want.size - offsets[i]));
      detach (&session, attachment);
    }
  berth_buffer_free (&session.output);
}

static void
p04 (struct suite_context *suite)
{
  BERTH_AUTO_BUFFER struct berth_buffer want = { 0 };
  struct berth_attachment *attachment = NULL;
  struct berth_position position;
  struct session session;

  count_up (&want, 2000);
  begin (suite, &session, (const char *const[]) { "seq", "2000", NULL }, BERTH_RUN_RING);
  await_exit (&session);
  SUITE_CHECK_CODE (suite, "offset 0", attach_with (&session, session.box->handle, 0, 0, &attachment), BERTH_E_REPLAY_GAP);
  position = session.position;
  SUITE_CHECK (suite, position.next == want.size && position.oldest > 0 && position.oldest < position.next,
               "it holds %llu to %llu of %zu", (unsigned long long) position.oldest, (unsigned long long) position.next,
               want.size);
  SUITE_CHECK_CODE (suite, "beyond the end", attach_with (&session, session.box->handle, 0, position.next + 1, &attachment),
                    BERTH_E_OFFSET_BEYOND_END);
  attachment = attach (&session, BERTH_OFFSET_OLDEST);
  session.next = position.oldest;
  check_end (&session, attachment, 0);
  SUITE_CHECK (suite, session.output.size == position.next - position.oldest, "the oldest gives %zu bytes",
               session.output.size);
  detach (&session, attachment);
  berth_buffer_free (&session.output);
}

static void
write_all (struct session *session, struct berth_attachment *attachment, const char *text)
{
  size_t done = 0;

  while (done < strlen (text))
    {
      size_t accepted = 0;

      SUITE_CHECK_CODE (session->box->suite, "write",
                        CALL (session, session->ops->write (made, attachment, text + done, strlen (text) - done, &accepted)), 0);
      SUITE_REQUIRE (session->box->suite, accepted > 0, "a write took nothing and says that it succeeded");
      done += accepted;
    }
}

static void
p05 (struct suite_context *suite)
{
  struct berth_attachment *attachment;
  struct session session;

  begin (suite, &session, (const char *const[]) { "cat", NULL }, 0);
  attachment = attach (&session, 0);
  session.next = 0;
  write_all (&session, attachment, "one\n");
  check_read (&session, attachment, "one\n", "what was put in");
  SUITE_CHECK_CODE (suite, "close_input", CALL (&session, session.ops->close_input (made, attachment)), 0);
  check_end (&session, attachment, 0);
  detach (&session, attachment);
  berth_buffer_free (&session.output);
}

/* Until a deadline of the call's says that nothing is taken any more. */
static void
p05_unread (struct suite_context *suite)
{
  static char much[65536];
  struct berth_attachment *attachment;
  struct session session;
  uint64_t total = 0;
  uint32_t code = 0;

  begin (suite, &session, (const char *const[]) { "sleep", "600", NULL }, 0);
  attachment = attach (&session, 0);
  while (code == 0 && total < UINT64_C (64) << 20)
    {
      size_t accepted = 0;

      code = SUITE_CALL_WITHIN (suite, session.box->native_id, 500,
                                session.ops->write (made, attachment, much, sizeof much, &accepted));
      total += accepted;
    }
  SUITE_CHECK (suite, total > 0, "nothing was taken at all");
  SUITE_CHECK_CODE (suite, "input that nobody reads", code, BERTH_E_TIMEOUT);
  SUITE_CHECK_CODE (suite, "a signal meanwhile", CALL (&session, session.ops->signal (made, attachment, SIGKILL)), 0);
  detach (&session, attachment);
}

static void
p06 (struct suite_context *suite)
{
  struct berth_attachment *attachment;
  struct session session;

  begin (suite, &session, (const char *const[]) { "sleep", "600", NULL }, 0);
  attachment = attach (&session, 0);
  SUITE_CHECK_CODE (suite, "signal 99", CALL (&session, session.ops->signal (made, attachment, 99)), BERTH_E_INVALID_REQUEST);
  SUITE_CHECK_CODE (suite, "signal 15", CALL (&session, session.ops->signal (made, attachment, SIGTERM)), 0);
  SUITE_CHECK (suite, read_events (&session, attachment, SIZE_MAX) == 0 && session.exits == 1, "no exit after the signal");
  SUITE_CHECK (suite, session.exit.reason == BERTH_SIGNALLED && session.exit.signal == SIGTERM,
               "it died with reason %u, signal %d", session.exit.reason, session.exit.signal);
  detach (&session, attachment);
}

static void
p07 (struct suite_context *suite)
{
  struct session session;
  struct told told;

  begin_script (suite, &session, "sleep 1; echo done; exit 5", 0);
  detach (&session, attach (&session, 0));
  suite_box_release (session.box, session.box->handle);
  session.box->handle = NULL;
  SUITE_CHECK_CODE (suite, "connect", suite_box_connect (session.box, NULL, &session.box->handle), 0);
  told = await_exit (&session);
  SUITE_CHECK (suite, told.exit.code == 5 && told.position.next == strlen ("done\n"),
               "let go of, it ended with %d after %llu bytes", told.exit.code, (unsigned long long) told.position.next);
}

static void
p08 (struct suite_context *suite)
{
  struct berth_attachment *attachment;
  struct session session;
  struct told told;

  begin_script (suite, &session, "echo said; exit 42", 0);
  attachment = attach (&session, 0);
  session.next = 0;
  check_end (&session, attachment, 42);
  SUITE_CHECK (suite, read_events (&session, attachment, SIZE_MAX) == 0 && session.exits == 1, "the exit is told again");
  detach (&session, attachment);
  SUITE_CHECK_CODE (suite, "inspect", inspect (&session, &told), 0);
  SUITE_CHECK (suite, told.found == 1 && (told.has & BERTH_PROCESS_EXIT) != 0 && told.exit.code == 42,
               "inspect tells code %d", told.exit.code);
  berth_buffer_free (&session.output);
}

static void
p09 (struct suite_context *suite)
{
  struct berth_attachment *attachment = NULL;
  struct session session;

  begin_script (suite, &session, "echo run; exit 1", BERTH_RUN_RESTART);
  await_exit (&session);
  SUITE_CHECK_CODE (suite, "attach to what runs only",
                    attach_with (&session, session.box->handle, BERTH_ATTACH_ONLY_RUNNING, BERTH_OFFSET_OLDEST, &attachment),
                    BERTH_E_PROCESS_EXITED);
  attachment = attach (&session, BERTH_OFFSET_OLDEST);
  SUITE_CHECK (suite, session.position.run == 2, "after an exit the attach is to run %llu",
               (unsigned long long) session.position.run);
  session.next = UINT64_MAX;
  read_events (&session, attachment, SIZE_MAX);
  SUITE_CHECK (suite, session.exits >= 1 && session.exit.code == 1, "the second run has no exit");
  detach (&session, attachment);
  berth_buffer_free (&session.output);
}

static void
p10 (struct suite_context *suite)
{
  struct session session;
  struct told told = { .id = session.id };
  struct berth_process_sink sink = { sizeof sink, 0, &told, take_process };

  begin_script (suite, &session, "sleep 600", 0);
  SUITE_CHECK_CODE (suite, "list", CALL (&session, session.ops->list (made, session.box->handle, &sink)), 0);
  SUITE_CHECK (suite, told.count == 1 && told.found == 1 && told.running == 1, "list tells %u, %u of them it", told.count,
               told.found);
  SUITE_CHECK_CODE (suite, "remove", CALL (&session, session.ops->remove (made, session.box->handle, session.id)), 0);
  SUITE_CHECK_CODE (suite, "inspect of what was removed", inspect (&session, &told), BERTH_E_PROCESS_NOT_FOUND);
  SUITE_CHECK_CODE (suite, "remove again", CALL (&session, session.ops->remove (made, session.box->handle, session.id)),
                    BERTH_E_PROCESS_NOT_FOUND);
  SUITE_CHECK_CODE (suite, "remove of ../x", CALL (&session, session.ops->remove (made, session.box->handle, "../x")),
                    BERTH_E_PROCESS_NOT_FOUND);
}

/* Echo or not, what was typed stands before the answer. */
static void
check_typed (struct session *session, struct berth_attachment *attachment, const char *line, const char *answer)
{
  BERTH_AUTO_BUFFER struct berth_buffer all = { 0 };
  int more = 1;

  write_all (session, attachment, line);
  while (more == 1 && strstr (berth_buffer_string (&all), answer) == NULL)
    {
      more = read_events (session, attachment, 1);
      berth_buffer_append_string (&all, berth_buffer_string (&session->output));
    }
  SUITE_CHECK (session->box->suite, strstr (berth_buffer_string (&all), answer) != NULL, "%s is answered with \"%s\"", line,
               berth_buffer_string (&all));
}

static void
p11 (struct suite_context *suite)
{
  struct berth_attachment *attachment;
  struct session session;

  begin (suite, &session, (const char *const[]) { "sh", NULL }, BERTH_RUN_TERMINAL);
  attachment = attach (&session, 0);
  session.next = 0;
  check_typed (&session, attachment, "stty size\n", "24 80");
  SUITE_CHECK_CODE (suite, "resize", CALL (&session, session.ops->resize (made, attachment, 100, 50)), 0);
  check_typed (&session, attachment, "stty size\n", "50 100");
  write_all (&session, attachment, "sleep 600; echo nev''er\n");
  SUITE_CHECK_CODE (suite, "interrupt", CALL (&session, session.ops->signal (made, attachment, SIGINT)), 0);
  check_typed (&session, attachment, "echo al''ive\n", "alive");
  write_all (&session, attachment, "exit 7\n");
  check_end (&session, attachment, 7);
  detach (&session, attachment);
  berth_buffer_free (&session.output);
}

static void
p11_none (struct suite_context *suite)
{
  struct berth_attachment *attachment;
  struct session session;

  begin (suite, &session, (const char *const[]) { "sleep", "600", NULL }, 0);
  attachment = attach (&session, 0);
  SUITE_CHECK_CODE (suite, "resize of what has no terminal", CALL (&session, session.ops->resize (made, attachment, 1, 1)),
                    BERTH_E_INVALID_REQUEST);
  detach (&session, attachment);
}

static void
p12 (struct suite_context *suite)
{
  BERTH_AUTO_BUFFER struct berth_buffer want = { 0 };
  struct berth_attachment *attachment;
  struct session session;
  struct told told;

  count_up (&want, 165000);
  SUITE_CHECK (suite, want.size < 1 << 20 && want.size > 1000000, "the test prints %zu bytes", want.size);
  begin (suite, &session, (const char *const[]) { "seq", "165000", NULL }, 0);
  await_exit (&session);
  attachment = attach (&session, 0);
  session.next = 0;
  read_events (&session, attachment, RING_BYTES);
  SUITE_CHECK (suite,
               session.position.oldest == 0 && session.position.next == want.size
                   && memcmp (berth_buffer_string (&session.output), berth_buffer_string (&want), RING_BYTES) == 0,
               "of %zu bytes it holds %llu to %llu, or others", want.size, (unsigned long long) session.position.oldest,
               (unsigned long long) session.position.next);
  detach (&session, attachment);
  SUITE_CHECK_CODE (suite, "start", start (&session, (const char *const[]) { "seq", "165000", NULL }, BERTH_RUN_RING), 0);
  told = await_exit (&session);
  SUITE_CHECK (suite, told.position.next - told.position.oldest <= RING_BYTES, "a ring of %d holds %llu", RING_BYTES,
               (unsigned long long) (told.position.next - told.position.oldest));
  berth_buffer_free (&session.output);
}

static void
p13 (struct suite_context *suite)
{
  struct berth_view how = { .struct_size = sizeof how };
  struct berth_attachment *attachment;
  struct session session, viewer;
  struct berth_event_sink sink = event_sink (&viewer);

  begin_script (suite, &session, "echo seen; sleep 1; echo more; exit 3", 0);
  viewer = session;
  viewer.next = 0;
  attachment = attach (&session, 0);
  session.next = 0;
  check_read (&session, attachment, "seen\n", "the holder");
  SUITE_CHECK_CODE (suite, "view", CALL (&viewer, viewer.ops->view (made, viewer.box->handle, viewer.id, &how, &viewer.position, &sink)), 0);
  SUITE_CHECK (suite, strcmp (berth_buffer_string (&viewer.output), "seen\n") == 0 && viewer.exits == 0,
               "a view tells \"%s\"", berth_buffer_string (&viewer.output));
  how.asks = BERTH_VIEW_FOLLOW;
  how.offset = viewer.next;
  SUITE_CHECK_CODE (suite, "follow", CALL (&viewer, viewer.ops->view (made, viewer.box->handle, viewer.id, &how, &viewer.position, &sink)), 0);
  SUITE_CHECK (suite, strcmp (berth_buffer_string (&viewer.output), "seen\nmore\n") == 0 && viewer.exits == 1 && viewer.gaps == 0,
               "followed it tells \"%s\" and %u exits", berth_buffer_string (&viewer.output), viewer.exits);
  check_end (&session, attachment, 3);
  SUITE_CHECK (suite, session.lost == 0, "the holder was evicted by a view");
  detach (&session, attachment);
  berth_buffer_free (&session.output);
  berth_buffer_free (&viewer.output);
}

#define SESSIONS BERTH_CAP_PROCESS_SESSIONS

static const struct suite_clause clauses[] = {
  { .id = "P01", .title = "another client reads all of it, by its id", .needs = SESSIONS, .run = p01 },
  { .id = "P02", .title = "one holder; a takeover tells the first", .needs = SESSIONS, .run = p02 },
  { .id = "P03", .title = "from an offset exactly what follows comes", .needs = SESSIONS, .run = p03 },
  { .id = "P04", .title = "what is no longer or not yet there is told", .needs = SESSIONS, .run = p04 },
  { .id = "P05", .title = "input arrives, and its end", .needs = SESSIONS, .run = p05 },
  { .id = "P05-unread", .title = "input that nobody reads blocks nobody", .needs = SESSIONS, .run = p05_unread },
  { .id = "P06", .title = "a signal reaches it", .needs = SESSIONS, .run = p06 },
  { .id = "P07", .title = "let go of, it goes on", .needs = SESSIONS, .run = p07 },
  { .id = "P08", .title = "its exit is told once, and inspected afterwards", .needs = SESSIONS, .run = p08 },
  { .id = "P09", .title = "an exited one runs again where that was asked", .needs = SESSIONS, .run = p09 },
  { .id = "P10", .title = "remove ends and forgets it", .needs = SESSIONS, .run = p10 },
  { .id = "P11", .title = "a terminal has a size and an interrupt key (P06)", .needs = SESSIONS | BERTH_CAP_PTY, .run = p11 },
  { .id = "P11-none", .title = "without one there is nothing to resize", .needs = SESSIONS | BERTH_CAP_PTY, .run = p11_none },
  { .id = "P12", .title = "1 MiB is held, and no ring grows", .needs = SESSIONS, .run = p12 },
  { .id = "P13", .title = "a view disturbs nobody", .needs = SESSIONS, .run = p13 },
  { .id = NULL },
};

static const struct suite_role roles[] = { { "replay", replay }, { NULL, NULL } };

const struct suite suite_processes = { "processes", clauses, roles };

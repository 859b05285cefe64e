#include <pthread.h>

#include "plugins/fake/tests/host.h"
#include "sdk/base/clock.h"
#include "sdk/base/string.h"

/* A sandbox with one session, and what its events told. */
struct session
{
  struct host inner;
  struct berth_handle *handle;
  const struct berth_processes_ops *ops;
  char id[256];
  struct berth_buffer output;
  uint64_t expected; /* offset of the next byte; UINT64_MAX: not checked */
  struct berth_exit exit;
  unsigned int exits;
  uint32_t lost;
};

static int
take_output (void *context, uint64_t offset, uint32_t stream, const void *bytes, size_t size)
{
  struct session *session = context;

  if (session->expected != UINT64_MAX)
    {
      CU_ASSERT_EQUAL (offset, session->expected);
      session->expected = offset + size;
    }
  return berth_buffer_append (&session->output, bytes, size);
}

static int
take_exit (void *context, const struct berth_exit *end)
{
  struct session *session = context;

  session->exit = *end;
  session->exits++;
  return 0;
}

static int
take_lost (void *context, uint32_t code, const char *why)
{
  ((struct session *) context)->lost = code;
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
  snprintf (((struct session *) context)->id, 256, "%s", text);
  return 0;
}

static int
start (struct session *session, const char *const *arguments, uint64_t asks, uint64_t ring)
{
  struct berth_run run = { .struct_size = sizeof run, .asks = asks, .arguments = arguments, .ring_bytes = ring,
                           .columns = 80, .rows = 24 };
  struct berth_text_sink sink = { sizeof sink, 0, session, take_id };

  while (arguments[run.argument_count] != NULL)
    run.argument_count++;
  return session->ops->start (host_call (&session->inner), session->handle, &run, &sink);
}

static void
begin (struct session *session, const char *const *arguments, uint64_t asks, uint64_t ring)
{
  *session = (struct session) { .expected = UINT64_MAX };
  host_begin (&session->inner, NULL);
  host_write (&session->inner, "clock", "1000");
  session->handle = host_create (&session->inner, "sb-a.1");
  session->ops = session->inner.backend->processes;
  CU_ASSERT_EQUAL_FATAL (start (session, arguments, asks, ring), 0);
}

static void
end (struct session *session)
{
  berth_buffer_free (&session->output);
  host_release (&session->inner, session->handle);
  host_end (&session->inner);
}

static int
attach (struct session *session, uint64_t asks, uint64_t offset, struct berth_position *position,
        struct berth_attachment **attachment)
{
  struct berth_attach how = { .struct_size = sizeof how, .asks = asks, .offset = offset };

  return session->ops->attach (host_call (&session->inner), session->handle, session->id, &how, position, attachment);
}

/* Reads events until SIZE bytes of output came, or it is over; what the last `next` returned. */
static int
read_events (struct session *session, struct berth_attachment *attachment, size_t size)
{
  struct berth_event_sink sink = event_sink (session);
  int more = 1;

  berth_buffer_clear (&session->output);
  while (more == 1 && session->output.size < size)
    {
      host_call (&session->inner);
      session->inner.call.deadline_ms = berth_clock_monotonic_ms () + 5000;
      more = session->ops->next (&session->inner.call.call, attachment, &sink);
    }
  return more;
}

/* What the assertions call it. */
#define host session.inner

static void
test_replay (void)
{
  static const char *const arguments[] = { "sh", "-c", "echo one; echo two >&2; sleep 1; echo three; exit 4", NULL };
  struct session session;
  struct berth_position position;
  struct berth_attachment *first = NULL;
  struct berth_attachment *second = NULL;

  begin (&session, arguments, 0, 0);
  ASSERT_OK (attach (&session, 0, 0, &position, &first));
  CU_ASSERT_EQUAL (position.next, 8);
  CU_ASSERT_EQUAL (position.run, 1);
  session.expected = 0;
  CU_ASSERT_EQUAL (read_events (&session, first, 8), 1);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&session.output), "one\ntwo\n");
  ASSERT_FAILS (PROCESS_HELD, attach (&session, 0, 0, &position, &second));
  ASSERT_OK (attach (&session, BERTH_ATTACH_TAKEOVER, 4, &position, &second));
  CU_ASSERT_EQUAL (read_events (&session, first, 1), 0);
  CU_ASSERT_EQUAL (session.lost, BERTH_E_PROCESS_HELD);
  session.ops->detach (host_call (&host), first);
  host_write (&host, "clock", "2000");
  session.expected = 4;
  CU_ASSERT_EQUAL (read_events (&session, second, SIZE_MAX), 0);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&session.output), "two\nthree\n");
  CU_ASSERT_EQUAL (session.exits, 1);
  CU_ASSERT_EQUAL (session.exit.code, 4);
  CU_ASSERT_EQUAL (session.exit.duration_ns, 1000000000);
  CU_ASSERT_EQUAL (read_events (&session, second, SIZE_MAX), 0);
  CU_ASSERT_EQUAL (session.exits, 1);
  session.ops->detach (host_call (&host), second);
  ASSERT_FAILS (OFFSET_BEYOND_END, attach (&session, 0, 15, &position, &first));
  CU_ASSERT_EQUAL (position.next, 14);
  end (&session);
}

static void
test_ring (void)
{
  static const char *const arguments[] = { "seq", "1000", NULL };
  struct session session;
  struct berth_position position;
  struct berth_attachment *attachment = NULL;

  begin (&session, arguments, BERTH_RUN_RING, 100);
  ASSERT_FAILS (REPLAY_GAP, attach (&session, 0, 0, &position, &attachment));
  CU_ASSERT_EQUAL (position.oldest, 3793);
  CU_ASSERT_EQUAL (position.next, 3893);
  ASSERT_OK (attach (&session, 0, BERTH_OFFSET_OLDEST, &position, &attachment));
  session.expected = 3793;
  CU_ASSERT_EQUAL (read_events (&session, attachment, SIZE_MAX), 0);
  CU_ASSERT_EQUAL (session.output.size, 100);
  session.ops->detach (host_call (&host), attachment);
  end (&session);
}

/* While it is held, a process waits for its holder: nothing is dropped, however small the ring. */
static void
test_held_keeps_all (void)
{
  static const char *const arguments[] = { "sh", "-c", "sleep 1; seq 1000", NULL };
  struct session session;
  struct berth_position position;
  struct berth_attachment *attachment = NULL;

  begin (&session, arguments, BERTH_RUN_RING, 100);
  ASSERT_OK (attach (&session, 0, 0, &position, &attachment));
  host_write (&host, "clock", "2000");
  session.expected = 0;
  CU_ASSERT_EQUAL (read_events (&session, attachment, SIZE_MAX), 0);
  CU_ASSERT_EQUAL (session.output.size, 3893);
  CU_ASSERT_EQUAL (session.exits, 1);
  session.ops->detach (host_call (&host), attachment);
  end (&session);
}

static void
test_cat (void)
{
  static const char *const arguments[] = { "cat", NULL };
  struct session session;
  struct berth_position position;
  struct berth_attachment *attachment = NULL;
  size_t accepted = 0;

  begin (&session, arguments, 0, 0);
  ASSERT_OK (attach (&session, 0, 0, &position, &attachment));
  ASSERT_OK (session.ops->write (host_call (&host), attachment, "he\0lo", 5, &accepted));
  CU_ASSERT_EQUAL (accepted, 5);
  CU_ASSERT_EQUAL (read_events (&session, attachment, 5), 1);
  CU_ASSERT_EQUAL (memcmp (session.output.data, "he\0lo", 5), 0);
  host_call (&host);
  host.call.deadline_ms = berth_clock_monotonic_ms () + 50;
  struct berth_event_sink sink = event_sink (&session);
  ASSERT_FAILS (TIMEOUT, session.ops->next (&host.call.call, attachment, &sink));
  ASSERT_OK (session.ops->close_input (host_call (&host), attachment));
  CU_ASSERT_EQUAL (read_events (&session, attachment, SIZE_MAX), 0);
  CU_ASSERT_EQUAL (session.exit.code, 0);
  ASSERT_FAILS (PROCESS_EXITED, session.ops->write (host_call (&host), attachment, "x", 1, &accepted));
  session.ops->detach (host_call (&host), attachment);
  end (&session);
}

static void
type (struct session *session, struct berth_attachment *attachment, const char *text)
{
  size_t accepted = 0;

  CU_ASSERT_EQUAL (
      session->ops->write (host_call (&session->inner), attachment, text, strlen (text), &accepted), 0);
  CU_ASSERT_EQUAL (accepted, strlen (text));
}

static void
test_terminal (void)
{
  static const char *const arguments[] = { "sh", NULL };
  struct session session;
  struct berth_position position;
  struct berth_attachment *attachment = NULL;

  begin (&session, arguments, BERTH_RUN_TERMINAL | BERTH_RUN_RESTART, 0);
  ASSERT_OK (attach (&session, 0, 0, &position, &attachment));
  type (&session, attachment, "stty size\n");
  CU_ASSERT_EQUAL (read_events (&session, attachment, 16), 1);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&session.output), "stty size\n24 80\n");
  ASSERT_OK (session.ops->resize (host_call (&host), attachment, 100, 50));
  type (&session, attachment, "stty ");
  type (&session, attachment, "size\n");
  CU_ASSERT_EQUAL (read_events (&session, attachment, 17), 1);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&session.output), "stty size\n50 100\n");
  type (&session, attachment, "sleep 60; echo never\n");
  CU_ASSERT_EQUAL (read_events (&session, attachment, 21), 1);
  ASSERT_OK (session.ops->signal (host_call (&host), attachment, 2));
  type (&session, attachment, "echo alive\n");
  CU_ASSERT_EQUAL (read_events (&session, attachment, 17), 1);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&session.output), "echo alive\nalive\n");
  type (&session, attachment, "exit 7\n");
  CU_ASSERT_EQUAL (read_events (&session, attachment, SIZE_MAX), 0);
  CU_ASSERT_EQUAL (session.exit.code, 7);
  session.ops->detach (host_call (&host), attachment);
  ASSERT_FAILS (PROCESS_EXITED,
                attach (&session, BERTH_ATTACH_ONLY_RUNNING, BERTH_OFFSET_LIVE, &position, &attachment));
  ASSERT_OK (attach (&session, 0, BERTH_OFFSET_LIVE, &position, &attachment));
  CU_ASSERT_EQUAL (position.run, 2);
  type (&session, attachment, "echo again\n");
  session.expected = UINT64_MAX;
  CU_ASSERT_EQUAL (read_events (&session, attachment, 17), 1);
  session.ops->detach (host_call (&host), attachment);
  end (&session);
}

static void
test_signal (void)
{
  static const char *const arguments[] = { "sleep", "60", NULL };
  struct session session;
  struct berth_position position;
  struct berth_attachment *attachment = NULL;

  begin (&session, arguments, 0, 0);
  ASSERT_OK (attach (&session, 0, 0, &position, &attachment));
  ASSERT_FAILS (INVALID_REQUEST, session.ops->signal (host_call (&host), attachment, 99));
  ASSERT_FAILS (INVALID_REQUEST, session.ops->resize (host_call (&host), attachment, 1, 1));
  ASSERT_OK (session.ops->signal (host_call (&host), attachment, 15));
  CU_ASSERT_EQUAL (read_events (&session, attachment, SIZE_MAX), 0);
  CU_ASSERT_EQUAL (session.exit.reason, BERTH_SIGNALLED);
  CU_ASSERT_EQUAL (session.exit.signal, 15);
  session.ops->detach (host_call (&host), attachment);
  end (&session);
}

static void
test_input_without_reader (void)
{
  static const char *const arguments[] = { "sleep", "60", NULL };
  static char much[100000];
  struct session session;
  struct berth_position position;
  struct berth_attachment *attachment = NULL;
  size_t accepted = 0;

  begin (&session, arguments, 0, 0);
  ASSERT_OK (attach (&session, 0, 0, &position, &attachment));
  ASSERT_OK (session.ops->write (host_call (&host), attachment, much, sizeof much, &accepted));
  CU_ASSERT_EQUAL (accepted, 65536);
  host_call (&host);
  host.call.deadline_ms = berth_clock_monotonic_ms () + 50;
  ASSERT_FAILS (TIMEOUT, session.ops->write (&host.call.call, attachment, much, 1, &accepted));
  ASSERT_OK (session.ops->signal (host_call (&host), attachment, 9));
  session.ops->detach (host_call (&host), attachment);
  end (&session);
}

static int
take_process (void *context, const struct berth_process *process)
{
  return berth_buffer_appendf (context, "%s:%u:%d ", process->process_id, process->running,
                               process->exit != NULL ? process->exit->code : -2);
}

static void
test_from_outside (void)
{
  static const char *const arguments[] = { "sh", "-c", "echo seen; sleep 1; exit 3", NULL };
  static const char *const other[] = { "true", NULL };
  struct session session;
  BERTH_AUTO_BUFFER struct berth_buffer list = { 0 };
  BERTH_AUTO_FREE char *id = NULL;
  struct berth_process_sink sink = { sizeof sink, 0, &list, take_process };
  struct berth_event_sink events = event_sink (&session);
  struct berth_view how = { .struct_size = sizeof how };
  struct berth_position position;
  struct berth_attachment *attachment = NULL;

  begin (&session, arguments, 0, 0);
  id = strdup (session.id);
  ASSERT_OK (attach (&session, 0, 0, &position, &attachment));
  ASSERT_OK (session.ops->view (host_call (&host), session.handle, id, &how, &position, &events));
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&session.output), "seen\n");
  CU_ASSERT_EQUAL (session.exits, 0);
  host_write (&host, "clock", "2000");
  how.asks = BERTH_VIEW_FOLLOW;
  ASSERT_OK (session.ops->view (host_call (&host), session.handle, id, &how, &position, &events));
  CU_ASSERT_EQUAL (session.exits, 1);
  ASSERT_OK (start (&session, other, 0, 0));
  ASSERT_OK (session.ops->inspect (host_call (&host), session.handle, id, &sink));
  CU_ASSERT_EQUAL (strncmp (berth_buffer_string (&list), id, strlen (id)), 0);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&list) + strlen (id), ":0:3 ");
  ASSERT_OK (session.ops->remove (host_call (&host), session.handle, id));
  ASSERT_FAILS (PROCESS_NOT_FOUND, session.ops->inspect (host_call (&host), session.handle, id, &sink));
  ASSERT_FAILS (PROCESS_NOT_FOUND, session.ops->remove (host_call (&host), session.handle, "../x"));
  berth_buffer_clear (&list);
  ASSERT_OK (session.ops->list (host_call (&host), session.handle, &sink));
  CU_ASSERT_EQUAL (strncmp (berth_buffer_string (&list), session.id, strlen (session.id)), 0);
  session.ops->detach (host_call (&host), attachment);
  end (&session);
}

static void
test_pause_and_stop (void)
{
  static const char *const arguments[] = { "sh", "-c", "sleep 10; echo done", NULL };
  struct session session;
  struct berth_native native = native_of ("sb-a.1");
  struct berth_position position;
  struct berth_attachment *attachment = NULL;
  BERTH_AUTO_BUFFER struct berth_buffer list = { 0 };
  struct berth_process_sink sink = { sizeof sink, 0, &list, take_process };

  begin (&session, arguments, 0, 0);
  ASSERT_OK (host.backend->pause->pause (host_call (&host), host.state, &native, NULL));
  host_write (&host, "clock", "101000");
  ASSERT_OK (host.backend->pause->resume (host_call (&host), host.state, &native));
  ASSERT_OK (session.ops->inspect (host_call (&host), session.handle, session.id, &sink));
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&list) + strlen (session.id), ":1:-2 ");
  host_write (&host, "clock", "111000");
  ASSERT_OK (attach (&session, 0, 0, &position, &attachment));
  CU_ASSERT_EQUAL (read_events (&session, attachment, SIZE_MAX), 0);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&session.output), "done\n");
  session.ops->detach (host_call (&host), attachment);
  ASSERT_OK (start (&session, arguments, 0, 0));
  ASSERT_OK (attach (&session, 0, 0, &position, &attachment));
  ASSERT_OK (host.backend->restart->stop (host_call (&host), host.state, &native, NULL));
  CU_ASSERT_EQUAL (read_events (&session, attachment, SIZE_MAX), 0);
  CU_ASSERT_EQUAL (session.exit.signal, 9);
  session.ops->detach (host_call (&host), attachment);
  end (&session);
}

static void
test_sandbox_gone (void)
{
  static const char *const arguments[] = { "sleep", "60", NULL };
  struct session session;
  struct berth_position position;
  struct berth_attachment *attachment = NULL;

  begin (&session, arguments, 0, 0);
  ASSERT_OK (attach (&session, 0, 0, &position, &attachment));
  CU_ASSERT_EQUAL (host_destroy (&host, "sb-a.1"), BERTH_GONE);
  CU_ASSERT_EQUAL (read_events (&session, attachment, SIZE_MAX), 0);
  CU_ASSERT_EQUAL (session.lost, BERTH_E_SANDBOX_NOT_FOUND);
  CU_ASSERT_EQUAL (session.exits, 0);
  session.ops->detach (host_call (&host), attachment);
  end (&session);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "P01 P02 P03 P08 replay, takeover, exit", test_replay },
    { "P04 P12 a ring that turned", test_ring },
    { "P03 a held process drops nothing", test_held_keeps_all },
    { "P05 input and its end", test_cat },
    { "P06 P09 P11 a terminal, and another start", test_terminal },
    { "P06 a signal ends it", test_signal },
    { "P05 input that nobody reads", test_input_without_reader },
    { "P10 P13 view, inspect, list, remove", test_from_outside },
    { "L21 L22 paused time does not count, stop ends it", test_pause_and_stop },
    { "L13 the sandbox is destroyed", test_sandbox_gone },
    { NULL, NULL },
  };

  return berth_test_main ("fake processes", tests);
}

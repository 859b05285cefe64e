/* outcome.c - what a command prints and when, and its delivery. */
#include "plugins/fake/outcome.h"

#include "sdk/base/clock.h"
#include "sdk/base/string.h"

#define LOOK_MS 100 /* how often a busy delivery looks whether its sandbox is still there */

int
fake_outcome_add (struct fake_outcome *outcome, uint32_t stream, const void *bytes, size_t size, uint64_t repeat)
{
  struct fake_piece *pieces = reallocarray (outcome->pieces, outcome->count + 1, sizeof *pieces);
  struct fake_piece *piece;

  if (pieces == NULL)
    return -1;
  outcome->pieces = pieces;
  piece = &pieces[outcome->count];
  *piece = (struct fake_piece) { outcome->delay_ms, repeat, stream, size, malloc (size + 1) };
  if (piece->bytes == NULL)
    return -1;
  if (size > 0)
    memcpy (piece->bytes, bytes, size);
  outcome->count++;
  outcome->delay_ms = 0;
  return 0;
}

void
fake_outcome_free (struct fake_outcome *outcome)
{
  for (size_t i = 0; i < outcome->count; i++)
    free (outcome->pieces[i].bytes);
  free (outcome->pieces);
  *outcome = (struct fake_outcome) FAKE_OUTCOME_INIT;
}

void
fake_outcome_exit (const struct fake_outcome *outcome, int64_t elapsed_ms, struct berth_exit *out)
{
  *out = (struct berth_exit) { .struct_size = sizeof *out,
                               .reason = outcome->reason,
                               .has = BERTH_EXIT_DURATION,
                               .code = outcome->reason == BERTH_EXITED ? outcome->code : -1,
                               .signal = outcome->signal,
                               .duration_ns = (uint64_t) elapsed_ms * UINT64_C (1000000) };
}

/* --- delivery -------------------------------------------------------------------------------------------- */

struct play
{
  struct berth_call *call;
  struct berth_handle *handle;
  const struct berth_run_sink *sink;
  int64_t timeout_ms;
  int64_t elapsed_ms; /* while the sandbox ran, by the instance's clock */
  int64_t last_ms;
  int64_t looked_ms; /* machine's time */
  uint64_t left;     /* bytes until the connection is lost */
};

/* Looks after the sandbox and lets time pass. */
static int
look (struct play *play)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  int64_t now = fake_now_ms (play->handle->state);
  int64_t life;

  if (fake_box_open (play->call, play->handle->state, play->handle->native_id, &box) < 0)
    return -1;
  life = fake_number (box.record, "life");
  if (fake_number (box.record, "boot") != play->handle->boot || life == BERTH_LIFE_STOPPED)
    return play->call->services->fail (play->call, BERTH_E_WRONG_STATE, "sandbox `%s` was stopped", box.id);
  if (life == BERTH_LIFE_RUNNING && now > play->last_ms)
    play->elapsed_ms += now - play->last_ms;
  play->last_ms = now;
  play->looked_ms = berth_clock_monotonic_ms ();
  return 0;
}

/* 0 when DUE has come, 1 when the command's timeout came first, -1. */
static int
wait_until (struct play *play, int64_t due)
{
  int times_out = play->timeout_ms > 0 && play->timeout_ms < due;
  int64_t end = times_out ? play->timeout_ms : due;

  while (play->elapsed_ms < end)
    if (fake_tick (play->call) < 0 || look (play) < 0)
      return -1;
  return times_out;
}

static int
deliver (struct play *play, const struct fake_piece *piece)
{
  size_t size = piece->size < play->left ? piece->size : (size_t) play->left;

  if (fake_check (play->call) < 0
      || (size > 0 && play->sink->output (play->sink->context, piece->stream, piece->bytes, size) < 0))
    return -1;
  play->left -= size;
  if (play->left == 0)
    return play->call->services->fail (play->call, BERTH_E_UNREACHABLE, "the connection was lost, as the setting "
                                       "`faults` asks");
  return berth_clock_monotonic_ms () - play->looked_ms > LOOK_MS ? look (play) : 0;
}

/* 0, 1 when the timeout came, -1. */
static int
play_pieces (struct play *play, const struct fake_outcome *outcome)
{
  int64_t due = 0;

  for (size_t i = 0; i < outcome->count; i++)
    {
      int result;

      due += outcome->pieces[i].delay_ms;
      result = wait_until (play, due);
      if (result != 0)
        return result;
      for (uint64_t n = 0; n < outcome->pieces[i].repeat; n++)
        if (deliver (play, &outcome->pieces[i]) < 0)
          return -1;
    }
  return wait_until (play, due + outcome->delay_ms);
}

/* The action commands.run=lost:BYTES: the connection ends after so many bytes of output. */
int
fake_outcome_play (struct berth_call *call, struct berth_handle *handle, const struct fake_outcome *outcome,
                   int64_t timeout_ms, const struct berth_run_sink *sink)
{
  struct play play = { call, handle, sink, timeout_ms, 0, fake_now_ms (handle->state), berth_clock_monotonic_ms (),
                       UINT64_MAX };
  struct berth_exit end;
  char lost[64];
  int result;

  if (fake_fault (handle->state, "commands.run", "lost", lost)
      && (berth_string_to_uint64 (lost, 0, UINT64_MAX, &play.left) < 0 || play.left == 0))
    return call->services->fail (call, BERTH_E_UNREACHABLE, "the connection was lost, as the setting `faults` asks");
  result = play_pieces (&play, outcome);
  if (result < 0)
    return -1;
  fake_outcome_exit (outcome, play.elapsed_ms, &end);
  if (result == 1)
    {
      end.reason = BERTH_TIMED_OUT;
      end.code = -1;
      end.signal = 9;
    }
  return sink->exit (sink->context, &end);
}

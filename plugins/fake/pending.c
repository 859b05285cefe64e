/* pending.c - what a process session will still print, as pieces in its record. */
#include "plugins/fake/process.h"

#define AT_ONCE (4 << 20) /* bytes that one look lets a session print */

/* A piece: {delay, stream, repeat, bytes}; the delay counts from when the piece before was due. */
int
fake_pending_add (struct berth_json *record, const struct fake_outcome *outcome)
{
  struct berth_json *pieces = berth_json_get (record, "pieces");

  for (size_t i = 0; i < outcome->count; i++)
    {
      struct berth_json *piece = berth_json_new_object ();

      if (berth_json_append (pieces, piece) < 0
          || berth_json_set_int64 (piece, "delay", outcome->pieces[i].delay_ms) < 0
          || berth_json_set_int64 (piece, "stream", outcome->pieces[i].stream) < 0
          || berth_json_set_int64 (piece, "repeat", (int64_t) outcome->pieces[i].repeat) < 0
          || berth_json_set (piece, "bytes", berth_json_new_bytes (outcome->pieces[i].bytes, outcome->pieces[i].size))
                 < 0)
        return -1;
    }
  if (berth_json_set_int64 (record, "delay", outcome->delay_ms) < 0
      || berth_json_set_int64 (record, "reason", outcome->reason) < 0
      || berth_json_set_int64 (record, "code", outcome->code) < 0)
    return -1;
  return berth_json_set_int64 (record, "signal", outcome->signal);
}

void
fake_pending_clear (struct berth_json *record)
{
  (void) berth_json_set (record, "pieces", berth_json_new_array ());
  (void) berth_json_set_int64 (record, "piece", 0);
  (void) berth_json_set_int64 (record, "printed", 0);
  (void) berth_json_set_int64 (record, "delay", 0);
}

/* Prints as much of a piece as may be now: 1 when it is done, 0 when something holds it, -1. */
static int
print_piece (struct fake_process *process, const struct berth_json *piece, uint64_t *budget)
{
  BERTH_AUTO_BUFFER struct berth_buffer bytes = { 0 };
  uint64_t repeat = (uint64_t) fake_number (piece, "repeat");
  uint64_t printed = (uint64_t) fake_number (process->record, "printed");

  if (berth_json_to_bytes (berth_json_get (piece, "bytes"), &bytes) < 0)
    return -1;
  while (bytes.size > 0 && printed < repeat * bytes.size)
    {
      uint64_t room = fake_output_room (process);
      size_t at = (size_t) (printed % bytes.size);
      size_t size = bytes.size - at;

      if (room > *budget)
        room = *budget;
      if (size > room)
        size = (size_t) room;
      if (size == 0)
        break;
      if (fake_output_append (process, (uint32_t) fake_number (piece, "stream"), bytes.data + at, size) < 0)
        return -1;
      *budget -= size;
      printed += size;
    }
  if (berth_json_set_int64 (process->record, "printed", (int64_t) printed) < 0)
    return -1;
  return printed >= repeat * bytes.size;
}

static int
print_due (struct fake_process *process, int64_t elapsed_ms)
{
  struct berth_json *pieces = berth_json_get (process->record, "pieces");
  uint64_t budget = AT_ONCE;

  for (;;)
    {
      int64_t index = fake_number (process->record, "piece");
      struct berth_json *piece = berth_json_at (pieces, (size_t) index);
      int64_t due = fake_number (process->record, "due") + fake_number (piece, "delay");
      int done;

      if (piece == NULL)
        return 1;
      if (due > elapsed_ms)
        return 0;
      done = print_piece (process, piece, &budget);
      if (done <= 0)
        return done;
      if (berth_json_set_int64 (process->record, "due", due) < 0
          || berth_json_set_int64 (process->record, "piece", index + 1) < 0
          || berth_json_set_int64 (process->record, "printed", 0) < 0)
        return -1;
    }
}

/* Ends it when there is nothing more to come. */
static int
end_when_due (struct fake_process *process, int64_t elapsed_ms)
{
  /* A session that reads its input ends when that does, or by a command. */
  if (fake_number (process->record, "reads") != 0 && fake_number (process->record, "ends") == 0)
    return 0;
  if (fake_number (process->record, "due") + fake_number (process->record, "delay") > elapsed_ms)
    return 0;
  if (berth_json_set_int64 (process->record, "duration", elapsed_ms) < 0)
    return -1;
  return berth_json_set_int64 (process->record, "running", 0);
}

int
fake_pending_print (struct fake_process *process, int64_t elapsed_ms)
{
  uint64_t next = process->next;
  int64_t piece = fake_number (process->record, "piece");
  int done = print_due (process, elapsed_ms);

  if (done < 0 || (done > 0 && end_when_due (process, elapsed_ms) < 0))
    return -1;
  return process->next != next || fake_number (process->record, "piece") != piece
         || !fake_process_is_running (process);
}

/* process.h - one process session: a folder processes/ID.
 *
 * record.json has the facts: what is still to be printed and when, how it ended, who holds it.
 * output has two bytes for each byte of output that is held: its stream and itself.  run.json has
 * the command, for another start.  Whoever holds the session has locked hold.EPOCH; a takeover
 * makes the next epoch, by which the one before knows.
 *
 * Nothing runs: whoever looks at a session first lets it do what it would have done until now. */
#ifndef BERTH_FAKE_PROCESS_H
#define BERTH_FAKE_PROCESS_H

#include "plugins/fake/outcome.h"

#define FAKE_RING_DEFAULT (UINT64_C (1) << 20)

struct fake_process
{
  struct fake_box *box;
  char id[FAKE_ID_MAX + 1];
  struct berth_json *record;
  int output;
  uint64_t base; /* offset of the first byte in the file */
  uint64_t next;
};
#define FAKE_PROCESS_INIT { NULL, "", NULL, -1, 0, 0 }
#define FAKE_AUTO_PROCESS BERTH_CLEANUP (fake_process_close)

/* "processes/ID/NAME" */
char *fake_process_file (const char *id, const char *name);
int fake_process_start (struct berth_call *call, struct fake_box *box, const struct berth_run *run,
                        char id[FAKE_ID_MAX + 1]);
/* Reads it and lets it come to the present.  PROCESS_NOT_FOUND. */
int fake_process_open (struct berth_call *call, struct fake_box *box, const char *id, struct fake_process *process);
int fake_process_save (struct berth_call *call, struct fake_process *process);
void fake_process_close (struct fake_process *process);
int fake_process_restart (struct berth_call *call, struct fake_process *process);
void fake_process_position (const struct fake_process *process, struct berth_position *position);
int fake_process_is_running (const struct fake_process *process);
/* Whether another attachment than EPOCH's holds it. */
int fake_process_is_held (const struct fake_process *process);
void fake_process_exit (const struct fake_process *process, struct berth_exit *out);
/* Reads up to SIZE bytes of one stream from OFFSET on; how many, and which stream. */
size_t fake_process_read (const struct fake_process *process, uint64_t offset, char *bytes, size_t size,
                          uint32_t *stream);
/* Input: how many bytes were taken, 0 when there is no room; -1. */
int fake_process_input (struct berth_call *call, struct fake_process *process, const char *bytes, size_t size,
                        size_t *accepted);
int fake_process_end_of_input (struct berth_call *call, struct fake_process *process);
int fake_process_signal (struct berth_call *call, struct fake_process *process, int32_t number);
int fake_process_remove (struct berth_call *call, struct fake_box *box, const char *id);

/* --- pending.c: what a session will still print ------------------------------------------------ */

int fake_pending_add (struct berth_json *record, const struct fake_outcome *outcome);
/* Prints what is due by ELAPSED_MS, as far as there is room; ends the process after the last.
 * 1 when the record has changed, 0, -1. */
int fake_pending_print (struct fake_process *process, int64_t elapsed_ms);
void fake_pending_clear (struct berth_json *record);

/* --- output.c: the ring ---------------------------------------------------------------------------- */

uint64_t fake_output_room (const struct fake_process *process);
int fake_output_append (struct fake_process *process, uint32_t stream, const char *bytes, size_t size);

#endif

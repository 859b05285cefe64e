/* outcome.h - what a scripted command does: when it prints what, and how it ends. */
#ifndef BERTH_FAKE_OUTCOME_H
#define BERTH_FAKE_OUTCOME_H

#include "plugins/fake/fake.h"

struct fake_piece
{
  int64_t delay_ms; /* before it */
  uint64_t repeat;
  uint32_t stream;
  size_t size;
  char *bytes;
};

struct fake_outcome
{
  struct fake_piece *pieces;
  size_t count;
  int64_t delay_ms; /* before the next piece, in the end before the exit */
  uint32_t reason;
  int32_t code;
  int32_t signal;
};
#define FAKE_OUTCOME_INIT { NULL, 0, 0, BERTH_EXITED, 0, 0 }
#define FAKE_AUTO_OUTCOME BERTH_CLEANUP (fake_outcome_free)

int fake_outcome_add (struct fake_outcome *outcome, uint32_t stream, const void *bytes, size_t size, uint64_t repeat);
void fake_outcome_free (struct fake_outcome *outcome);
void fake_outcome_exit (const struct fake_outcome *outcome, int64_t elapsed_ms, struct berth_exit *out);

/* Delivers it at its pace: time stands still while the sandbox is paused. */
int fake_outcome_play (struct berth_call *call, struct berth_handle *handle, const struct fake_outcome *outcome,
                       int64_t timeout_ms, const struct berth_run_sink *sink);

/* What the script says about a command: 1, 0 when it says nothing, -1. */
int fake_script_match (struct berth_call *call, struct berth_state *state, const char *const *arguments, size_t count,
                       struct fake_outcome *outcome);

/* What a command does in a sandbox: as the script says, else as a very small shell has it.  Its
 * effects on files happen at once.  The box is locked meanwhile. */
int fake_command (struct berth_call *call, struct fake_box *box, const struct berth_run *run,
                  struct fake_outcome *outcome);
/* Checks user, workdir and environment of a command. */
int fake_run_check (struct berth_call *call, struct fake_box *box, const struct berth_run *run);

#endif

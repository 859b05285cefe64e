/* creation.h - one sandbox that a backend is asked to make, for `create` and for what builds a
 * replacement. */
#ifndef CORE_MANAGER_CREATION_H
#define CORE_MANAGER_CREATION_H

#include "core/manager/answer.h"
#include "core/manager/lock.h"
#include "core/state/snapshot.h"

struct berth_creation
{
  struct berth_host *host;
  struct berth_instance *instance;
  struct berth_wish wish;
  struct berth_sandbox *sandbox; /* its record is that of the sandbox; the natives that are told go there */
  struct berth_lock lock;        /* of the sandbox, from before the intent is written */
  struct berth_snapshot_record snapshot; /* that it begins with; no id: none */
  struct berth_answer validated;
  struct berth_answer got;
  struct berth_host_call *call; /* that runs */
};

/* The wish that OPTIONS are, its backend and its snapshot. */
int berth_creation_prepare (struct berth_creation *creation, const struct berth_create_options *options,
                            struct berth_error *error);
/* Asks the backend what the wish would get, and refuses what will not do.  Nothing is made. */
int berth_creation_validate (struct berth_creation *creation, struct berth_error *error);
/* Has it made.  Each native id that is told is on record at once, with the generation of the
 * sandbox's record, also when this fails. */
int berth_creation_call (struct berth_creation *creation, struct berth_error *error);
/* Fills it with the snapshot that it begins with, if there is one. */
int berth_creation_restore (struct berth_creation *creation, struct berth_error *error);
/* What is in force goes into the sandbox's record, not yet into the database. */
int berth_creation_record (struct berth_creation *creation, int64_t state, struct berth_error *error);
void berth_creation_clear (struct berth_creation *creation);

#endif

/* answer.h - what a backend says that a specification gets, and whether that will do. */
#ifndef CORE_MANAGER_ANSWER_H
#define CORE_MANAGER_ANSWER_H

#include "core/manager/call.h"
#include "core/manager/spec.h"

/* The host's own copy of a struct berth_effective. */
struct berth_answer
{
  struct berth_effective effective; /* its texts are the two below */
  bool given;
  char *pin;
  char *runtime;
  struct berth_host_call *call; /* where a failure is recorded */
};

/* For the `effective` member of a sink whose context is a struct berth_answer. */
int berth_answer_take (void *context, const struct berth_effective *effective);
/* What is in force of one that is there, as connect tells it.  -1 when it does not. */
int berth_answer_ask (struct berth_instance *instance, const struct berth_native *native, struct berth_answer *answer);
void berth_answer_clear (struct berth_answer *answer);

/* Before anything is made: the tier that is required, and every limit in force or refused. */
int berth_answer_check (const struct berth_wish *wish, struct berth_instance *instance,
                        const struct berth_answer *answer, struct berth_error *error);
/* After it was made: nothing may be weaker than what validate had answered. */
int berth_answer_compare (const char *backend, const struct berth_answer *validated, const struct berth_answer *got,
                          struct berth_error *error);
/* Moves it into the record, with the evidence of its tier. */
int berth_answer_record (struct berth_answer *answer, struct berth_instance *instance, struct berth_record *record,
                         struct berth_error *error);

#endif

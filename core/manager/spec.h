/* spec.h - what the caller wants, checked and completed into a specification. */
#ifndef CORE_MANAGER_SPEC_H
#define CORE_MANAGER_SPEC_H

#include "core/manager/environment.h"
#include "core/manager/ids.h"

/* Limits that hold for every sandbox, whether the user wrote them or not: a default that is not
 * in force would be "unlimited". */
#define BERTH_ALWAYS_LIMITED (BERTH_SPEC_CPU | BERTH_SPEC_MEMORY | BERTH_SPEC_PIDS)

/* A specification with what it points to, as far as that is not the caller's. */
struct berth_wish
{
  struct berth_create_options options; /* of this library's size */
  struct berth_spec spec;
  struct berth_policy network;
  struct berth_pair *metadata; /* the labels, and what a record is made again from */
  char sandbox_id[BERTH_ID_SIZE];
  char assignment_id[BERTH_ID_SIZE];
  char native_hint[BERTH_NATIVE_HINT_SIZE];
  int64_t timeout_ms; /* of the create */
  struct berth_saved saved; /* the environment it is made from; no name: none */
};

/* Numbers that were not given become the defaults: asked, but not `must`.  The texts stay the
 * caller's: WISH is good for the length of the create, and cleared after success and failure. */
int berth_wish_make (struct berth_host *host, const struct berth_create_options *options, struct berth_wish *wish,
                     struct berth_error *error);

void berth_wish_clear (struct berth_wish *wish);

/* A number for what is asked of BACKEND: another specification has another one.  Values of secrets
 * are not in it, since it is stored.  Never 0. */
int64_t berth_wish_hash (const struct berth_wish *wish, const char *backend);

/* The record of the intent: without an assignment id, since nothing is asked yet. */
int berth_wish_record (struct berth_host *host, const struct berth_wish *wish, const char *backend,
                       struct berth_record *record, struct berth_error *error);

/* The options that RECORD, which was loaded with its pairs, could be made with again; they point into
 * it.  WRONG_STATE when it had secrets or network rules, which nobody has kept. */
int berth_record_options (const struct berth_record *record, struct berth_create_options *out,
                          struct berth_error *error);
/* The wish for a replacement of RECORD: the same id, the next generation, its limits and what is left
 * of its time. */
int berth_wish_replacement (struct berth_host *host, const struct berth_record *record, struct berth_wish *wish,
                            struct berth_error *error);

/* Environment of a sandbox or of a command: names not empty and without '='. */
int berth_environment_check (const struct berth_pair *pairs, uint64_t count, struct berth_error *error);

#endif

/* environment.h - saved specifications: what is kept of one, and how it goes into a new one. */
#ifndef CORE_MANAGER_ENVIRONMENT_H
#define CORE_MANAGER_ENVIRONMENT_H

#include "core/manager/manager.h"
#include "core/state/environment.h"

/* A record as options again: the arrays are its own, the texts those of the record. */
struct berth_saved
{
  struct berth_environment_record record;
  struct berth_create_options options;
  struct berth_policy network;
  struct berth_rule *rules;
  struct berth_pair *variables; /* secrets without a value */
  struct berth_pair *labels;
  uint32_t sessions; /* enum berth_sessions */
};

#define BERTH_AUTO_SAVED BERTH_CLEANUP (berth_saved_clear)
void berth_saved_clear (struct berth_saved *saved);

/* NOT_FOUND. */
int berth_saved_load (struct berth_host *host, const char *name, struct berth_saved *out, struct berth_error *error);

/* What OPTIONS leave open is as SAVED says; both have to live as long as they do.  A variable or label that
 * both have is that of OPTIONS.  INVALID_REQUEST for a secret that is not given. */
int berth_saved_apply (struct berth_saved *saved, struct berth_create_options *options, struct berth_error *error);

/* Writes them into RECORD, whose name and owner are there. */
int berth_saved_describe (const struct berth_create_options *options, uint32_t sessions,
                          struct berth_environment_record *record);

/* The capabilities that a way of using it takes. */
uint64_t berth_sessions_capabilities (uint32_t sessions);

#endif

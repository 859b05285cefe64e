/* info.h - what is known of a sandbox: from its record, and from its backend. */
#ifndef CORE_MANAGER_INFO_H
#define CORE_MANAGER_INFO_H

#include "core/manager/call.h"

/* How the runtime of one instance sees its sandboxes, read once for a whole list. */
struct berth_sighting
{
  char *native_id;
  uint32_t life;
};
struct berth_sightings
{
  struct berth_sighting *items;
  size_t count;
  bool reached; /* false: it could not be asked */
};

void berth_sightings_read (struct berth_instance *instance, struct berth_sightings *out);
/* Of the one called NATIVE only, where the backend can tell of one alone. */
void berth_sightings_read_one (struct berth_instance *instance, const struct berth_record_native *native, struct berth_sightings *out);
void berth_sightings_clear (struct berth_sightings *sightings);

/* The state to tell for RECORD, with what its runtime says. */
const char *berth_info_state (struct berth_host *host, const struct berth_record *record,
                              const struct berth_sightings *sightings);

/* All but state, expiry and what is unused is the record's: INFO is good for as long as RECORD is. */
void berth_info_fill (struct berth_host *host, const struct berth_record *record, const char *state,
                      struct berth_sandbox_info *info);

/* The network's default in force, where the backend says so: it may be less than what was asked for,
 * since a network can die.  Else *ACTION stays. */
void berth_info_read_network (struct berth_instance *instance, const struct berth_record *record, uint32_t *action);

#endif

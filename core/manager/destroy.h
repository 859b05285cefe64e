/* destroy.h - ending a sandbox, with proof. */
#ifndef CORE_MANAGER_DESTROY_H
#define CORE_MANAGER_DESTROY_H

#include "core/manager/lock.h"

struct berth_destroy_budget
{
  int64_t settle_ms;   /* how long it is asked again, once a second */
  int64_t deadline_ms; /* of everything together */
};
#define BERTH_DESTROY_PATIENT { 20 * 1000, 30 * 1000 }
#define BERTH_DESTROY_QUICK { 0, 5 * 1000 }

/* Destroys every native id of RECORD, whose lock the caller holds; ids proven gone leave the
 * database, and the record with the last of them.  -1 only when it could not be tried. */
int berth_destroy_record_locked (struct berth_host *host, struct berth_instance *instance,
                                 struct berth_record *record, struct berth_destroy_budget budget,
                                 struct berth_destruction *out, struct berth_error *error);

/* The same for what is ours by its labels and on no record: RECORD is made up for it, and names one. */
void berth_destroy_unrecorded_locked (struct berth_host *host, struct berth_instance *instance,
                                      const struct berth_record *record, struct berth_destroy_budget budget,
                                      struct berth_destruction *out);
/* Destroys the natives that RECORD names, and only these: each proven gone leaves the database, the
 * record itself stays as it is. */
int berth_destroy_natives_locked (struct berth_host *host, struct berth_instance *instance,
                                  const struct berth_record *record, struct berth_destroy_budget budget,
                                  struct berth_destruction *out, struct berth_error *error);

#endif

/* The host's copy of a checked backend. */
#ifndef CORE_REGISTRY_REGISTERED_H
#define CORE_REGISTRY_REGISTERED_H

#include "core/registry/problems.h"
#include "core/registry/registry.h"

/* What berth_backend_check does, with what to do about each problem kept apart.  *OUT is set only
 * when there is none. */
int berth_registered_make (const char *file, const struct berth_backend *theirs, struct berth_registered **out,
                           struct berth_problems *problems, struct berth_problems *warnings);

#endif

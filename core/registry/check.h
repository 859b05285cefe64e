/* The parts of the check of a backend's table, each a file of its own. */
#ifndef CORE_REGISTRY_CHECK_H
#define CORE_REGISTRY_CHECK_H

#include "core/registry/problems.h"
#include "core/registry/registry.h"

/* One check on its way. */
struct berth_check
{
  struct berth_backend *backend; /* the host's copy, as far as it is made */
  struct berth_problems *problems;
  struct berth_problems *warnings;
  int newer; /* the plugin's ABI minor is above ours */
};

/* A text in quotes for a message: what a stranger's table points at may be missing or long. */
#define BERTH_CHECK_TEXT(text) (text) != NULL ? (text) : "(none)"

/* Whether ARRAY can be walked: at most MOST elements of at least SIZE bytes.  One that cannot is emptied. */
int berth_check_array (struct berth_check *check, const char *what, struct berth_array *array, uint32_t most, size_t size);

/* Name, version, summary, flags. */
void berth_check_identity (struct berth_check *check, const char *file);
void berth_check_concurrency (struct berth_check *check);
void berth_check_capabilities (struct berth_check *check);
void berth_check_claims (struct berth_check *check);
void berth_check_settings (struct berth_check *check);
/* Groups against the table.  GROUPS has one entry per row of berth_rules; what is sound and declared is
 * copied there, function by function, and the backend's pointers are set to the copies. */
int berth_check_groups (struct berth_check *check, const struct berth_backend *theirs, void **groups);

#endif

/* A backend's table with every group complete, made from the capability table, to take things out of. */
#ifndef CORE_REGISTRY_TESTS_COMPLETE_H
#define CORE_REGISTRY_TESTS_COMPLETE_H

#include "core/registry/registry.h"
#include "sdk/base/buffer.h"

struct complete
{
  struct berth_backend backend; /* name "whole", every capability that is not reserved */
  uint64_t groups[64][32];      /* by row of berth_rules; rows of one group share the first */
};

void complete_make (struct complete *complete);
/* The group of ROW, as the table points at it. */
void *complete_group (struct complete *complete, uint32_t row);
/* Takes one function out. */
void complete_drop (struct complete *complete, uint32_t row, uint32_t function);

/* Checks it as berth-backend-whole.so: all problems, a line each, into PROBLEMS; warnings the same way.  What
 * was registered goes to *OUT (NULL: it is freed).  Returns what the check returned. */
int complete_check (const struct complete *complete, struct berth_registered **out, struct berth_buffer *problems,
                    struct berth_buffer *warnings);

#endif

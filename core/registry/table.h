/* Walking the capability table and what it points at. */
#ifndef CORE_REGISTRY_TABLE_H
#define CORE_REGISTRY_TABLE_H

#include "core/registry/registry.h"
#include "sdk/base/buffer.h"

/* A function of a group whose signature does not matter here. */
typedef void berth_any_function (void);

/* Bits that the host sets for every backend; all bits that have a meaning, reserved ones too. */
uint64_t berth_capabilities_given (void);
uint64_t berth_capabilities_known (void);

/* Appends the names of the bits of the asks mask WHICH, of capabilities where that is 0: "PROBE, EXPIRY";
 * "bit 57" for one without a name. */
int berth_bits_describe (uint32_t which, uint64_t bits, struct berth_buffer *text);

/* The first row that has the group of ROW. */
uint32_t berth_rule_first (uint32_t row);

/* The struct_size that a group begins with. */
uint32_t berth_group_size (const void *group);

/* The function of ROW in GROUP, NULL where it is not set or GROUP ends before it. */
berth_any_function *berth_group_function (const void *group, const struct berth_function_row *row);

/* The group of RULE, which must have one, in BACKEND; NULL when it has none. */
const void *berth_backend_group (const struct berth_backend *backend, const struct berth_rule_row *rule);

#endif

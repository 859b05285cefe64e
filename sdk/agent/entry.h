/* entry.h - a file as an ENTRY frame. */
#ifndef BERTH_SDK_AGENT_ENTRY_H
#define BERTH_SDK_AGENT_ENTRY_H

#include <sys/stat.h>

#include "sdk/agent/account.h"
#include "sdk/agent/wire.h"

/* The fields that a file has by itself, into an open frame.  LINK is its target, or NULL. */
void entry_add (struct berth_buffer *out, struct accounts *accounts, const char *name, const struct stat *status,
                const char *link);

/* Runs of data of a file with holes. */
struct entry_run
{
  uint64_t offset;
  uint64_t length;
};

void entry_add_run (struct berth_buffer *out, const struct entry_run *run);
int entry_get_run (const struct wire_field *field, struct entry_run *run);

#endif

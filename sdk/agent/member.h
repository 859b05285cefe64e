/* member.h - one archive member on its way in, decoded and checked. */
#ifndef BERTH_SDK_AGENT_MEMBER_H
#define BERTH_SDK_AGENT_MEMBER_H

#include "sdk/agent/entry.h"
#include "sdk/agent/failure.h"

struct member
{
  uint64_t number; /* from 1 */
  uint64_t kind;   /* enum wire_kind */
  char *name;      /* relative, every component a file name */
  char *link;
  char *hard_link; /* as name */
  uint64_t size;
  uint64_t mode; /* without set-id bits */
  uint64_t modified_s;
  uint64_t modified_ns;
  struct entry_run *runs; /* of data, in order; freed by member_free */
  size_t run_count;
  uint64_t data; /* bytes of DATA that follow */
};

/* Takes the payload of an ENTRY apart.  0, or -1 with a failure that names the member by number
 * and name; free MEMBER either way. */
int member_decode (unsigned char *payload, size_t size, uint64_t number, struct member *member,
                   struct failure *failure);
void member_free (struct member *member);

/* The workspace itself, which tar calls "." */
bool member_is_root (const struct member *member);

/* -1, with the member's number and name before the reason. */
int member_fail (const struct member *member, struct failure *failure, uint32_t code, const char *reason);
int member_fail_errno (const struct member *member, struct failure *failure, int error, const char *what);

#endif

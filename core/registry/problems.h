/* Everything that is wrong with one thing, each with what to do about it. */
#ifndef CORE_REGISTRY_PROBLEMS_H
#define CORE_REGISTRY_PROBLEMS_H

#include <berth/berth.h>

#include "sdk/base/buffer.h"

struct berth_problem
{
  char *what;   /* what is wrong (got, want) */
  char *remedy; /* what to do; NULL: none */
  char *text;   /* both */
};

/* All zero is empty.  At most BERTH_PROBLEMS_MAX are kept; the rest are counted. */
#define BERTH_PROBLEMS_MAX 64
struct berth_problems
{
  struct berth_problem *items;
  uint32_t count;
  uint32_t dropped;
};
#define BERTH_AUTO_PROBLEMS BERTH_CLEANUP (berth_problems_clear)

void berth_problem (struct berth_problems *problems, const char *remedy, const char *format, ...) BERTH_FORMAT (3, 4);
void berth_problems_clear (struct berth_problems *problems);
/* Whether there are any, also when there was no memory to keep them. */
int berth_problems_any (const struct berth_problems *problems);

/* The texts one after the other into TEXT, separated by "; ": all that fit into ROOM bytes, then
 * how many more there are.  The remedies the same way, each once. */
void berth_problems_describe (const struct berth_problems *problems, size_t room, struct berth_buffer *text);
void berth_problems_remedies (const struct berth_problems *problems, size_t room, struct berth_buffer *text);

#endif

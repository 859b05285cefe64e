/* walk.h - a tree, without following a link. */
#ifndef BERTH_SDK_AGENT_WALK_H
#define BERTH_SDK_AGENT_WALK_H

#include <limits.h>
#include <sys/stat.h>

#include "sdk/agent/failure.h"

#define WALK_DEPTH_MAXIMUM 200

/* One entry: NAME in the open DIRECTORY, RELATIVE from where the walk began.  Not 0 ends the walk with
 * that result. */
typedef int walk_visitor (void *context, int directory, const char *name, const char *relative,
                          const struct stat *status);

struct walk_result
{
  int changed; /* entries went away, or a directory changed, while it was read */
};

/* Visits everything below ROOT, an open directory, parents first.  0, the visitor's result, or -1 with
 * FAILURE. */
int walk_tree (int root, walk_visitor *visit, void *context, struct walk_result *result, struct failure *failure);

#endif

/* hosttree.h - a tree on this machine that a sandbox's files are copied into.
 *
 * Nothing outside it is touched, whatever the sandbox tells: each name is one component in a
 * directory that was opened without following a link, so that a link that is in the way, from an
 * earlier copy or from the sandbox itself, is a conflict or is replaced.  No device, pipe or
 * set-user-ID bit is made. */
#ifndef BERTH_CLI_HOSTTREE_H
#define BERTH_CLI_HOSTTREE_H

#include "core/cli/copy.h"

struct cli_host_tree
{
  struct cli_copy *copy;
  const char *place; /* for messages */
  size_t count;      /* of directories that are entered */
  int fds[CLI_COPY_LEVELS + 1];
  int file;           /* -1: none is being written */
  char temporary[24]; /* its name so far */
};

/* PLACE, a directory that the user named, is where the members go; a link in it is followed. */
int cli_host_tree_open (struct cli_host_tree *tree, struct cli_copy *copy, const char *place);
void cli_host_tree_target (struct cli_host_tree *tree, struct cli_copy_target *target);
/* What was not finished goes. */
void cli_host_tree_close (struct cli_host_tree *tree);

#endif

/* tree.h - the files of a sandbox, kept in a tree of the host's that means nothing there.
 *
 * A directory is a directory with a file `.attributes`, everything else a file: its first
 * FAKE_HEADER bytes are attributes, its content follows (for a symbolic link the target).  Names
 * are written with %XX for every byte but letters, digits, `_`, `-` and an inner dot; one that
 * gets too long for that is stored under a checksum, with its true bytes in the attributes.  Links
 * of the sandbox are resolved in the sandbox's own tree and never by the host's kernel. */
#ifndef BERTH_FAKE_TREE_H
#define BERTH_FAKE_TREE_H

#include "plugins/fake/fake.h"

#define FAKE_HEADER 4096
#define FAKE_HOST_NAME 256
#define FAKE_ATTRIBUTES ".attributes"

struct fake_attributes
{
  uint32_t kind; /* enum berth_kind */
  uint32_t mode;
  uint32_t uid;
  uint32_t gid;
  int64_t modified_s;
  uint32_t modified_ns;
};

/* A place in the tree; there need not be anything there yet. */
struct fake_node
{
  int parent; /* directory of the host's that holds it */
  char host[FAKE_HOST_NAME];
  char *path; /* without links, absolute */
  int exists;
  uint64_t size;
  uint64_t links;
  uint64_t inode;
  struct fake_attributes attributes;
};
#define FAKE_NODE_INIT { -1, "", NULL, 0, 0, 0, 0, { 0, 0, 0, 0, 0, 0 } }
#define FAKE_AUTO_NODE BERTH_CLEANUP (fake_node_clear)

#define FAKE_FIND_FOLLOW 1u  /* a link at the end too */
#define FAKE_FIND_PARENTS 2u /* make missing parents */

/* Finds PATH.  With BENEATH it never leaves that.  PATH_NOT_FOUND when a parent is missing,
 * INVALID_REQUEST when one is not a directory or links go in circles, PATH_REJECTED. */
int fake_node_find (struct berth_call *call, struct fake_box *box, const char *path, unsigned int flags,
                    const char *beneath, struct fake_node *node);
/* The same, but it must exist: PATH_NOT_FOUND. */
int fake_node_get (struct berth_call *call, struct fake_box *box, const char *path, unsigned int flags,
                   const char *beneath, struct fake_node *node);
void fake_node_clear (struct fake_node *node);

/* The content of a file or the target of a link: a descriptor, from FAKE_HEADER on. */
int fake_node_open (struct berth_call *call, const struct fake_node *node);
int fake_node_target (struct berth_call *call, const struct fake_node *node, struct berth_buffer *target);
int fake_node_set (struct berth_call *call, const struct fake_node *node, const struct fake_attributes *attributes);
int fake_node_remove (struct berth_call *call, struct fake_box *box, const struct fake_node *node, int recursive);
/* Makes a directory, or puts the file INCOMING (see fake_incoming_open) in its place. */
int fake_node_make_directory (struct berth_call *call, struct fake_box *box, const struct fake_node *node,
                              const struct fake_attributes *attributes);
int fake_node_place (struct berth_call *call, struct fake_box *box, const struct fake_node *node, const char *incoming,
                     int fd, const struct fake_attributes *attributes);
/* Tells the true names of the children.  CHILD records why it returns -1. */
int fake_node_children (struct berth_call *call, const struct fake_node *node,
                        int (*child) (void *context, const char *name), void *context);

/* A new file beside the tree that content can be written to from FAKE_HEADER on. */
int fake_incoming_open (struct berth_call *call, struct fake_box *box, char name[64]);

/* A fresh tree: /workspace, /tmp and a few files of /etc.  The folder must not exist. */
int fake_tree_make (struct berth_call *call, struct fake_box *box);
/* Copies a folder of ours with everything below, links of the host's excepted. */
int fake_tree_copy (struct berth_call *call, int from, const char *from_name, int to, const char *to_name);

/* Adds up the sizes of the files in a tree. */
int fake_tree_bytes (struct berth_call *call, int directory, const char *name, uint64_t *bytes);
/* Counts a change of what the workspace holds, where PATH lies in it.  RESOURCE_EXHAUSTED when that
 * is more than the specification's disk. */
int fake_usage_change (struct berth_call *call, struct fake_box *box, const char *path, int64_t bytes);
/* What a node and all below it count for. */
int fake_node_usage (struct berth_call *call, const struct fake_node *node, int64_t *bytes);

/* --- names.c -------------------------------------------------------------------------------------- */

void fake_name_encode (const char *name, size_t size, char host[FAKE_HOST_NAME]);
/* The name from what fake_name_encode made; 0 when the attributes must tell it. */
int fake_name_decode (const char *host, char name[FAKE_HOST_NAME]);
int fake_name_is_long (const char *host);

/* Accounts of the sandbox. */
const char *fake_user_name (uint32_t uid); /* NULL: none */
int fake_user_id (const char *name, uint32_t *uid);

#endif

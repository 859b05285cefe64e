/* plain.h - the backend for tests of the agent: the real one, in a directory of its own and a private
 * mount namespace, isolated from nothing. */
#ifndef BERTH_CONFORMANCE_PLAIN_H
#define BERTH_CONFORMANCE_PLAIN_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "sdk/agentlink/agentlink.h"
#include "sdk/base/buffer.h"

#define PLAIN_TOKEN_SIZE 32
#define PLAIN_CAPABILITIES (BERTH_CAP_PROBE | BERTH_CAP_EXPIRY)
#define PLAIN_ENFORCED                                                                            \
  (BERTH_SPEC_IMAGE | BERTH_SPEC_PIN | BERTH_SPEC_ENVIRONMENT | BERTH_SPEC_METADATA | BERTH_SPEC_USER                 \
   | BERTH_SPEC_OPEN_FILES | BERTH_SPEC_FILE_SIZE | BERTH_SPEC_TTL | BERTH_SPEC_FORBID_ROOT | BERTH_SPEC_OWNED)

struct berth_state
{
  const char *directory; /* of the instance; one folder in it for each sandbox */
  const char *runtime;   /* sockets lie here, since a socket's path must be short */
};

struct berth_handle
{
  struct agentlink link; /* first */
  char socket[108];
  unsigned char token[PLAIN_TOKEN_SIZE];
  int owner; /* keeps an owned sandbox alive, or -1 */
};

/* Where one sandbox lies. */
struct plain_box
{
  const char *id;
  char directory[PATH_MAX];
  char socket[108];
};

/* What is known of one, in the file "facts" of its folder. */
struct plain_facts
{
  char sandbox_id[256];
  char assignment_id[256];
  char installation_id[256];
  uint64_t enforced;
  uint64_t file_size; /* limits in force, or 0 */
  uint32_t open_files;
  uint64_t started; /* the agent's start time, which with its pid names it for ever; 0: not started */
  pid_t pid;
};

/* ---- box.c ---- */

/* -1 for an id that can be none of ours; nothing is said. */
int plain_box_find (const struct berth_state *state, const char *id, struct plain_box *box);
bool plain_box_exists (const struct plain_box *box);
int plain_facts_write (const struct plain_box *box, const struct plain_facts *facts);
int plain_facts_read (const struct plain_box *box, struct plain_facts *facts);
uint64_t plain_start_time (pid_t pid);
bool plain_is_alive (const struct plain_facts *facts);
int plain_token_read (const struct plain_box *box, unsigned char token[PLAIN_TOKEN_SIZE]);

/* ---- launch.c ---- */

/* Starts the agent of BOX, whose folder is complete; it survives this process. */
int plain_launch (struct berth_call *call, const struct plain_box *box, const struct berth_spec *spec,
                  struct plain_facts *facts);

/* ---- root.c ---- */

/* What the child of plain_launch needs; all texts are made before the fork. */
struct plain_root
{
  char root[PATH_MAX + 8]; /* becomes "/" */
  char workspace[PATH_MAX + 16];
  char temporary[PATH_MAX + 16];
  char passwd[PATH_MAX + 16];
  char group[PATH_MAX + 16];
};

/* In a new process: a mount namespace with the machine's directories, and ours over some of them.
 * 0, or -1 with errno. */
int plain_root_enter (const struct plain_root *root);

/* ---- lifecycle.c ---- */
extern const struct berth_lifecycle_ops plain_lifecycle;

/* ---- control.c ---- */
extern const struct berth_probe_ops plain_probe;
extern const struct berth_expiry_ops plain_expiry;

int plain_open_handle (struct berth_call *call, const struct plain_box *box, struct berth_handle **out);
void plain_close_handle (struct berth_handle *handle);

#endif

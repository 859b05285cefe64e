/* chroot.h - what the parts of the backend know of each other. */
#ifndef CHROOT_H
#define CHROOT_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include <berth/sdk/agentlink.h>

#define TOKEN_SIZE 32
#define LABEL_SIZE 256

/* An opened instance of the backend. */
struct berth_state
{
  const char *directory; /* a folder in it for each sandbox */
  const char *runtime;   /* sockets lie here, since their paths must be short */
};

/* Somebody's hold on a sandbox. */
struct berth_handle
{
  struct agentlink link; /* first: that is what the agent's client asks for */
  char socket[108];
  unsigned char token[TOKEN_SIZE];
  int owner; /* while it is open a sandbox made with OWNED lives; or -1 */
};

/* Where a sandbox lies. */
struct box
{
  const char *id;
  char directory[PATH_MAX];
  char socket[108];
};

/* What is known of it, in the file "facts" of its folder. */
struct facts
{
  char sandbox_id[LABEL_SIZE];
  char assignment_id[LABEL_SIZE];
  char installation_id[LABEL_SIZE];
  unsigned long long enforced;
  unsigned int open_files;
  unsigned long long started; /* of the agent, in the kernel's ticks: with the pid it names it for ever */
  int pid;                    /* 0: not started */
};

/* ---- box.c ---- */

/* -1 for an id that can be none of ours. */
int box_find (const struct berth_state *state, const char *id, struct box *box);
bool box_exists (const struct box *box);
/* The folder, with all that is in a new one. */
int box_make (const struct box *box);
/* Without what lies in it: -1 with errno. */
int box_remove (const struct box *box);
int facts_write (const struct box *box, const struct facts *facts);
int facts_read (const struct box *box, struct facts *facts);
int token_read (const struct box *box, unsigned char token[TOKEN_SIZE]);
/* When a process was started; 0: there is none, or only its corpse. */
unsigned long long start_time (int pid);
bool is_alive (const struct facts *facts);

/* ---- launch.c ---- */

/* Starts the agent; FACTS gets its pid.  0, or -1 after fail. */
int launch (struct berth_call *call, const struct box *box, const struct berth_spec *spec, struct facts *facts);

#endif

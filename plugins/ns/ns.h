/* ns.h - what the files of the `ns` backend share.
 *
 * On disk, below the instance's directories:
 *   STATE/boxes/ID/meta       what is known of a sandbox; first made, last removed
 *   STATE/boxes/ID/workspace  /workspace; in its own namespace its root is mounted over it first
 *   STATE/boxes/ID/workspace.img  what /workspace is when its size is limited
 *   STATE/ids/UID             a second name of its meta: the range of user ids that it has
 *   RUNTIME/ID                the agent's socket
 *   CACHE/seccomp-KEY         the compiled filter
 * and cgroups berth/ID-TAG, where TAG tells the states of several instances apart, and berth/ID-TAG.net. */
#ifndef BERTH_PLUGINS_NS_NS_H
#define BERTH_PLUGINS_NS_NS_H

#include <berth/backend.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "sdk/agentlink/agentlink.h"
#include "sdk/base/buffer.h"
#include "sdk/base/process.h"

#define NS_NATIVE_MAX 200
#define NS_IDS_PER_SANDBOX UINT32_C (65536)
#define NS_AGENT_ID (NS_IDS_PER_SANDBOX - 1) /* of the agent's own processes, inside: no command's */
#define NS_SANDBOX_ID 1000 /* uid and gid of the account `sandbox`, inside */

/* How many accounts a sandbox of an ordinary user has. */
enum ns_uid_map
{
  NS_UID_MAP_AUTO = 0, /* as many as can be had */
  NS_UID_MAP_SINGLE,
  NS_UID_MAP_RANGE
};

#define NS_CGROUP_MAX 4
/* The directories where cgroups can be made: the mounts of this machine's controllers, or an ordinary user's
 * own cgroups there; all zero: none. */
struct ns_hierarchies
{
  int count;
  char *mount[NS_CGROUP_MAX];
  int versions[NS_CGROUP_MAX];
  uint64_t limits[NS_CGROUP_MAX]; /* BERTH_SPEC_MEMORY, _CPU, _PIDS: what each can hold */
  bool freezes[NS_CGROUP_MAX];    /* one of them at most */
};
/* The hierarchies as they were when the table of mounts last changed. */
struct ns_mounts
{
  pthread_mutex_t mutex;
  int fd; /* of the table, or -1 */
  bool known;
  struct ns_hierarchies hierarchies;
};

/* The files of this machine that give ids away, as they were when they were read and found to give none of ours. */
#define NS_OWNERS 4
struct ns_stamp
{
  dev_t device;
  ino_t inode;
  off_t size;
  struct timespec modified, changed;
};
struct ns_owners
{
  pthread_mutex_t mutex;
  bool read[NS_OWNERS];
  struct ns_stamp stamp[NS_OWNERS];
};

struct ns_range
{
  uint32_t uid;
  uint32_t gid;
};
/* The namespace that a sandbox was promised when its specification was asked about: the create that follows
 * has it mapped already. */
struct ns_spare
{
  pthread_mutex_t mutex;
  int space; /* or -1 */
  struct ns_range range;
};

struct berth_state
{
  struct berth_instance *instance;
  const char *state;   /* directories: the host's texts */
  const char *runtime;
  const char *cache;
  const char *installation;
  char tag[9];
  uint32_t id_base;
  uint32_t id_ranges;
  enum ns_uid_map uid_map;
  struct ns_mounts mounts;
  struct ns_owners owners;
  struct ns_spare spare;
};

/* What is in force; a number counts only where its bit is in `enforced`. */
struct ns_limits
{
  uint64_t enforced; /* BERTH_SPEC_* */
  uint64_t posture;  /* BERTH_POSTURE_* */
  uint64_t memory;
  uint64_t disk;
  uint64_t tmp;
  uint64_t shm;
  uint64_t file_size;
  uint32_t cpu_milli;
  uint32_t pids;
  uint32_t open_files;
  uint32_t network;      /* BERTH_DENY or BERTH_ALLOW */
  uint64_t capabilities; /* BERTH_CAP_* of this very sandbox */
};

/* ---- settings.c ---- */
#define NS_SETTING_COUNT 3
extern const struct berth_setting ns_settings[NS_SETTING_COUNT];
int ns_open (struct berth_call *call, struct berth_state **out);
void ns_close (struct berth_call *call, struct berth_state *state);
/* Nobody but root can give ids to a sandbox that are not his. */
bool ns_is_ordinary_user (void);

/* ---- effective.c: what a specification gets ---- */
#define NS_CAPABILITIES \
  (BERTH_CAP_PROBE | BERTH_CAP_INVENTORY | BERTH_CAP_EXPIRY | BERTH_CAP_CORRELATED_CREATE | BERTH_CAP_PAUSE \
   | BERTH_CAP_RESTART | BERTH_CAP_NETWORK_POLICY)
/* Refuses SPEC or says what it gets. */
int ns_resolve (struct berth_call *call, const struct ns_hierarchies *hierarchies, bool single, const struct berth_spec *spec,
                struct ns_limits *limits);
/* Whether the sandbox has one account, which is the user's own outside. */
bool ns_is_single (const struct ns_limits *limits);
/* Refuses where a limit that was in force can no more be kept. */
int ns_still_enforced (struct berth_call *call, const struct ns_hierarchies *hierarchies, const struct ns_limits *limits);
int ns_tell_effective (const struct ns_limits *limits, void *context,
                       int (*effective) (void *, const struct berth_effective *));
int ns_validate (struct berth_call *call, struct berth_state *state, const struct berth_spec *spec,
                 const struct berth_effective_sink *sink);

/* ---- box.c: names and directories of one sandbox ---- */
bool ns_id_is_possible (const struct berth_state *state, const char *id);
/* A descriptor of STATE/boxes, made when MAKE; -1 with errno. */
int ns_boxes_open (const struct berth_state *state, bool make);
/* A descriptor of its directory; -1 with errno. */
int ns_box_open (const struct berth_state *state, const char *id);
/* Makes it, with its workspace and mount point; returns the descriptor or -1 after fail. */
int ns_box_make (struct berth_call *call, const struct berth_state *state, const char *id);
struct ns_users;
int ns_box_fill (struct berth_call *call, int box, const char *id, const struct ns_users *users);
/* Where the agent listens; the caller frees it, NULL with errno. */
char *ns_box_socket (const struct berth_state *state, const char *id);

/* ---- users.c: the ids of an ordinary user's sandboxes ---- */
/* The first of 65536 ids of the host each; 0: none. */
struct ns_users
{
  struct ns_range range; /* of root's sandboxes it is taken later */
  bool single;
  int space;             /* the namespace where the user may act for the range, or -1 */
};
struct ns_meta;
/* A namespace with the RANGE that the user has now; -1 and WHY it cannot be had. */
int ns_users_find (struct berth_call *call, const struct berth_state *state, struct ns_range *range, char *why, size_t size);
/* What a new sandbox gets, or the one on record; -1 after fail.  USERS->space is the caller's. */
int ns_users_choose (struct berth_call *call, struct berth_state *state, struct ns_users *users);
/* Puts what was chosen aside for the next one; it is no more the caller's. */
void ns_users_spare (struct berth_state *state, struct ns_users *users);
int ns_users_recall (struct berth_call *call, const struct ns_meta *meta, const char *id, struct ns_users *users);
/* Makes the workspace the sandbox's account's.  0, or -1 with errno. */
int ns_users_give (const struct ns_users *users, int box);
/* Removes the workspace, whoever's it is; -1 after fail. */
int ns_users_remove (struct berth_call *call, const struct berth_state *state, int box, const char *id,
                     const struct ns_meta *meta);

/* ---- program.c ---- */
#define NS_PROGRAM_FILE 9
#define NS_PROGRAM_FILE_PATH "/proc/self/fd/9"
struct ns_program
{
  const char *path;
  const char *const *arguments;
  int file;   /* becomes its descriptor NS_PROGRAM_FILE, or -1 */
  int errors; /* becomes its standard error, or -1 */
};
/* 1 with its wait STATUS, 0 when it has ended and the host is not told how, -1 with errno when it cannot be
 * executed.  It is killed when CALL is cancelled. */
int ns_program_run (struct berth_call *call, const struct ns_program *program, int *status);

/* ---- ids.c: ranges of user ids ---- */
/* Takes a free range for the sandbox ID whose record is in BOX: its first id, or 0 after fail. */
uint32_t ns_ids_take (struct berth_call *call, const struct berth_state *state, const char *id, int box);
/* Gives back the range that begins with UID_BASE, or where that is not known (0) what belongs to the record in BOX (-1: none) or to
 * no record.  0 or -1 with errno. */
int ns_ids_release (const struct berth_state *state, int box, uint32_t uid_base);
/* Inside of the range of root's sandboxes at BASE: what the id INSIDE is outside, and how far the ids are turned. */
uint32_t ns_ids_turn (uint32_t base);
uint32_t ns_ids_outside (uint32_t base, uint32_t inside);
/* Whether the configured ids belong to nobody else on this machine; -1 after fail. */
int ns_ids_check (struct berth_call *call, struct berth_state *state);

/* ---- cgroup.c ---- */
void ns_mounts_open (struct ns_mounts *mounts);
void ns_mounts_close (struct ns_mounts *mounts);
#define NS_AUTO_HIERARCHIES BERTH_CLEANUP (ns_hierarchies_free)
int ns_hierarchies_find (struct berth_state *state, struct ns_hierarchies *out);
/* Those that the sandbox has its cgroups in, and back: an ordinary user's are where its maker was. */
int ns_hierarchies_recall (struct berth_state *state, struct ns_hierarchies *out, const struct ns_meta *meta);
int ns_hierarchies_note (const struct ns_hierarchies *hierarchies, struct ns_meta *meta);
void ns_hierarchies_free (struct ns_hierarchies *hierarchies);
uint64_t ns_hierarchies_limits (const struct ns_hierarchies *hierarchies);
/* The version of those with limits: 1 or 2, or 0. */
int ns_hierarchies_limiting (const struct ns_hierarchies *hierarchies);
bool ns_hierarchies_freeze (const struct ns_hierarchies *hierarchies);
/* The cgroups of a sandbox, in each hierarchy that it needs. */
struct ns_cgroup
{
  int into;                      /* v2: a directory for CLONE_INTO_CGROUP, or -1 */
  int join[NS_CGROUP_MAX];       /* v1: files that take "0" */
  int joins;
  char *out_of_memory;           /* the file that counts kills, or NULL */
  char *freezer;                 /* the file that freezes, or NULL */
};
int ns_cgroup_make (struct berth_call *call, const struct ns_hierarchies *hierarchies, const char *name,
                    const struct ns_limits *limits, struct ns_cgroup *out);
void ns_cgroup_free (struct ns_cgroup *cgroup);
/* Kills what is in them and removes them: 0, or -1 with errno (EBUSY: not yet empty). */
int ns_cgroups_remove (const struct ns_hierarchies *hierarchies, const struct berth_state *state, const char *id);
/* 1 something is left of it, 0 nothing. */
int ns_cgroup_exists (const struct ns_hierarchies *hierarchies, const char *name);
/* That of the sandbox's processes, and that of what gives it a network, which may have none. */
#define NS_CGROUP_OWN ""
#define NS_CGROUP_NETWORK ".net"
char *ns_cgroup_name (const struct berth_state *state, const char *id, const char *which);
uint64_t ns_cgroup_kills (const char *out_of_memory);
/* One version each. */
extern const char *const ns_cgroup_v1_counter;
extern const char *const ns_cgroup_v2_counter;
int ns_cgroup_v1_limit (int directory, uint64_t which, const struct ns_limits *limits);
uint64_t ns_cgroup_v1_limits (const char *mount, const char *options);
bool ns_cgroup_v1_has (const char *options, const char *name);
int ns_cgroup_v2_limit (int directory, uint64_t which, const struct ns_limits *limits);
uint64_t ns_cgroup_v2_limits (const char *mount);
int ns_cgroup_v2_delegate (int directory, uint64_t which);
bool ns_machine_has_swap (void);
int ns_cgroup_write (int directory, const char *file, const char *format, ...) __attribute__ ((format (printf, 3, 4)));

/* ---- delegate.c: an ordinary user's own cgroups ---- */
/* The directory of this process in the hierarchy that is mounted on MOUNT and shows ROOT of it, where he may
 * make cgroups; else NULL. */
char *ns_delegated (int version, const char *mount, const char *root, const char *options);
/* Whether cgroups below this one, of v2, can have limits. */
bool ns_delegated_can_limit (const char *directory);
/* Lets them, where processes are in the way too. */
int ns_delegate (int directory, uint64_t which);

/* ---- disk.c: a workspace of a limited size ---- */
bool ns_disk_is_possible (void);
/* Makes the file and an empty file system in it whose root is OWNER's, a uid and gid of the host's: a mount of
 * it that is nowhere yet, or -1 after fail. */
int ns_disk_make (struct berth_call *call, int box, const char *id, uint64_t size, uint32_t owner);
/* Such a mount of one that is there. */
int ns_disk_open (struct berth_call *call, int box, const char *id);
/* 1 when no mount has it or there is none, 0 when one still has, -1 after fail. */
int ns_disk_wait (struct berth_call *call, int box, const char *id);

/* ---- freezer.c ---- */
/* The file below the cgroup DIRECTORY of VERSION that freezes it. */
char *ns_freezer_path (const char *directory, int version);
/* Whether it is frozen, or about to be; what cannot be read is not. */
bool ns_freezer_is_closed (const char *freezer);
/* Waits until all of the frozen sandbox ID stands still.  A signal moves one that does for a moment, within the
 * kernel.  0, or -1 after fail. */
int ns_freezer_wait (struct berth_call *call, const char *freezer, const char *id);
/* Lets what was killed while frozen die, where the kernel does not by itself. */
void ns_freezer_let_die (const char *freezer);
int ns_pause (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
              const struct berth_options *options);
int ns_resume (struct berth_call *call, struct berth_state *state, const struct berth_native *native);

/* ---- door.c ---- */
/* The agent's, and of a paused sandbox its export. */
extern const struct berth_workspace_ops ns_workspace;

/* ---- meta.c ---- */
struct ns_meta
{
  char *sandbox;
  char *assignment;
  char *installation;
  struct berth_pair *metadata;
  size_t metadata_count;
  int64_t created_wall_ms;
  /* What a start needs; secret values are not among them, so what has any cannot be started again. */
  struct berth_pair *environment;
  size_t environment_count;
  char *user; /* NULL: the default */
  bool forbid_root;
  bool ends;  /* after ttl_ms, counted from each start */
  uint64_t ttl_ms;
  uint32_t uid_base; /* first of its host ids; 0: none yet, or the user's own */
  uint32_t gid_base;
  bool ready;    /* it was handed over */
  pid_t pid;     /* the agent; 0: not started yet, or stopped */
  uint64_t pid_start;
  pid_t guard;   /* what gives it a network; 0: nothing does */
  uint64_t guard_start;
  char boot[37];
  char *out_of_memory;
  char *freezer;
  char *cgroups; /* of an ordinary user's: the directories with its cgroups, a line each */
  struct ns_limits limits;
};
#define NS_AUTO_META BERTH_CLEANUP (ns_meta_free)
void ns_meta_free (struct ns_meta *meta);
int ns_meta_from_spec (struct ns_meta *meta, const struct berth_state *state, const struct berth_spec *spec);
/* 0, or -1 with errno: ENOENT none, EBADMSG not readable as one. */
int ns_meta_read (int box, struct ns_meta *meta);
/* The record of a sandbox that is about to be made. */
int ns_meta_write (int box, const struct ns_meta *meta);
/* Adds what is known once its first process is there. */
int ns_meta_append (int box, const struct ns_meta *meta);
/* Removes what a torn write left at the end, so that more can be added.  0 or -1 with errno. */
int ns_meta_mend (int box);
/* The box of a sandbox that was handed over, with its record in META; -1 after fail. */
int ns_meta_find (struct berth_call *call, const struct berth_state *state, const char *id, struct ns_meta *meta);
/* A pidfd of the live agent; -1 with ESRCH when there is none. */
int ns_meta_agent (const struct ns_meta *meta);
/* The same of the guard of its network. */
int ns_meta_guard (const struct ns_meta *meta);

/* ---- network.c ---- */
extern const struct berth_network_ops ns_network;
/* Which of the two POLICY (NULL: none) asks for, or refuses it. */
int ns_network_resolve (struct berth_call *call, const struct berth_policy *policy, uint32_t *action);

/* ---- seccomp.c ---- */
/* A descriptor to read the filter from; -1 after fail. */
int ns_seccomp_open (struct berth_call *call, const struct berth_state *state, bool user_namespaces);

/* ---- handle.c ---- */
struct berth_handle
{
  struct agentlink link; /* first */
  const struct berth_state *state;
  char *id;
  char *socket;
  char *out_of_memory;
  char *freezer;
  int own;        /* the connection whose end ends the sandbox, or -1 */
};
struct berth_handle *ns_handle_new (struct berth_call *call, const struct berth_state *state, const char *id,
                                    const struct ns_meta *meta);
int ns_connect (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
                const struct berth_effective_sink *sink, struct berth_handle **out);
void ns_release (struct berth_call *call, struct berth_handle *handle);

/* ---- create.c, destroy.c, restart.c, inventory.c, expiry.c ---- */
int ns_create (struct berth_call *call, struct berth_state *state, const struct berth_spec *spec,
               const struct berth_create_sink *sink, struct berth_handle **out);
/* 1 once the agent and the guard are dead, and with each everything in its pid namespace; 0 not yet; -1 after
 * fail. */
int ns_kill_agent (struct berth_call *call, const struct ns_meta *meta);
/* The same of one process, by its pidfd, that was killed. */
int ns_wait_for_death (struct berth_call *call, int process);
int ns_stop (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
             const struct berth_options *options);
int ns_start (struct berth_call *call, struct berth_state *state, const struct berth_native *native);
int ns_destroy (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
                struct berth_destroyed *out);
int ns_probe (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
              struct berth_presence *out);
int ns_is_running (struct berth_call *call, struct berth_state *state, const struct berth_native *native);
int ns_list_ids (struct berth_call *call, struct berth_state *state, const struct berth_found_sink *sink);
int ns_list_page (struct berth_call *call, struct berth_state *state, const char *cursor, uint32_t limit,
                  const struct berth_found_sink *sink);
int ns_find_by_assignment (struct berth_call *call, struct berth_state *state, const char *assignment_id,
                           const struct berth_found_sink *sink);
int ns_describe (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
                 const struct berth_found_sink *sink);
int ns_renew (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
              int64_t ttl_ms, struct berth_expiry *out);
int ns_expires_at (struct berth_call *call, struct berth_state *state, const struct berth_native *native,
                   struct berth_expiry *out);

#endif

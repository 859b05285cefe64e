/* record.h - what is on record of one sandbox.
 *
 * A record owns all its texts.  Secrets of the specification never get into one, except the
 * private data of a backend, which nobody but that backend can do without. */
#ifndef CORE_STATE_RECORD_H
#define CORE_STATE_RECORD_H

#include <berth/types.h>

/* Where a sandbox stands, as recorded; what it does right now only its backend knows. */
enum berth_record_state
{
  BERTH_RECORD_CREATING = 1,   /* intent: its lock is held for as long as its creator lives */
  BERTH_RECORD_RUNNING = 2,
  BERTH_RECORD_PAUSED = 3,
  BERTH_RECORD_STOPPED = 4,
  BERTH_RECORD_DESTROYING = 5, /* asked to go; kept until that is proven */
  BERTH_RECORD_FAILED = 6,
  BERTH_RECORD_REPLACING = 7   /* runs, and a rollback is at it: natives of other generations go */
};

/* One native id that a backend told us of, and that exists until it is proven gone. */
struct berth_record_native
{
  char *id;
  char *assignment_id;
  int64_t generation;
  void *private_data;
  uint32_t private_size;
};

/* A name with a value, without its secret flag: secret ones are not recorded. */
struct berth_record_pairs
{
  struct berth_pair *items;
  uint64_t count;
};

struct berth_record
{
  char *id;
  char *name; /* NULL: none */
  char *owner;
  char *backend; /* instance */
  char *image;
  char *user;
  char *request_id;
  char *assignment_id; /* of the last attempt */
  char *pin;
  char *runtime;
  char *evidence_url;
  char *evidence_date;
  char *boot_id; /* of the boot that deadline_boot_ms and the owner's process belong to */
  int64_t state; /* enum berth_record_state */
  int64_t generation;
  int64_t asks; /* of the specification */
  int64_t must;
  int64_t tier; /* from here on: the answer of the backend */
  int64_t capabilities;
  int64_t enforced;
  int64_t run_asks;
  int64_t posture;
  int64_t memory_bytes;
  int64_t disk_bytes;
  int64_t tmp_bytes;
  int64_t shm_bytes;
  int64_t file_size_bytes;
  int64_t cpu_milli;
  int64_t pids;
  int64_t open_files;
  int64_t network_default; /* enum berth_action; 0: not known */
  int64_t created_wall_ms;
  int64_t ttl_ms;
  int64_t deadline_wall_ms; /* 0: none */
  int64_t deadline_boot_ms;
  int64_t owned;
  int64_t owner_pid; /* of the process that made it, with which an owned sandbox ends */
  int64_t owner_start;
  int64_t request_hash; /* of what was asked for with the request id; 0: not known */
  int64_t unkept; /* secrets and network rules that it was made with and that are not here */
  int64_t left_ms;      /* while it is paused or stopped, when the deadlines are 0: what is left of its time */
  int64_t idle_ms;      /* how long nobody uses it until idle_action is done; 0: never */
  int64_t idle_action;  /* enum berth_idle */
  int64_t idle_resume;  /* what that made stand still goes on when somebody uses it */
  int64_t idled;        /* it stands still by that, and by nobody's word */
  int64_t starts;       /* how often it was started after it was made */
  int64_t idle_look_wall_ms; /* sooner it cannot have been idle for so long, by either clock */
  int64_t idle_look_boot_ms;
  struct berth_record_native *natives; /* oldest first */
  uint64_t native_count;
  struct berth_record_pairs labels;
  struct berth_record_pairs environment;
};

#define BERTH_AUTO_RECORD BERTH_CLEANUP (berth_record_clear)

/* Frees what it holds; private data is overwritten first.  Leaves all zero. */
void berth_record_clear (struct berth_record *record);

void berth_record_clear_natives (struct berth_record *record);
void berth_record_clear_pairs (struct berth_record_pairs *pairs);

/* 0, or -1 with errno ENOMEM.  Pairs marked secret are left out. */
int berth_record_set_pairs (struct berth_record_pairs *to, const struct berth_pair *pairs, uint64_t count);
int berth_record_add_native (struct berth_record *record, const char *id, const char *assignment_id, int64_t generation,
                             const void *private_data, uint32_t private_size);

/* "creating" and the like, as berth.h tells them.  Static. */
const char *berth_record_state_name (int64_t state);

#endif

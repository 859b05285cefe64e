/* berth/types.h - values that cross the boundary between the host and a backend.
 *
 * Every enumeration says what a reader does with a value it does not know; 0 never has a
 * meaning.  A struct is written by one side and only read by the other; pointers inside live
 * as long as the struct itself: until the function, or the sink that was given it, returns.
 * All members are since ABI 1.0 unless said otherwise. */
#ifndef BERTH_TYPES_H
#define BERTH_TYPES_H

#include <berth/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- capabilities ----
 * One bit each.  Bits 0 to 3 are set by the host for every backend, since the four required
 * groups give them; 38 and 39 are reserved and refused when declared. */
#define BERTH_CAP(n) (UINT64_C (1) << (n))
#define BERTH_CAP_RUN_COMMAND BERTH_CAP (0)
#define BERTH_CAP_STREAMING BERTH_CAP (1)
#define BERTH_CAP_FILESYSTEM BERTH_CAP (2)
#define BERTH_CAP_UPLOAD_DOWNLOAD BERTH_CAP (3)
#define BERTH_CAP_PROBE BERTH_CAP (8)               /* a second observation of existence */
#define BERTH_CAP_INVENTORY BERTH_CAP (9)           /* pages of sandboxes with their details */
#define BERTH_CAP_EXPIRY BERTH_CAP (10)             /* the backend enforces an end of its own */
#define BERTH_CAP_CORRELATED_CREATE BERTH_CAP (11)  /* an interrupted create can be found again */
#define BERTH_CAP_PAUSE BERTH_CAP (12)
#define BERTH_CAP_RESTART BERTH_CAP (13)            /* stopped and started with its workspace */
#define BERTH_CAP_PROCESS_SESSIONS BERTH_CAP (14)
#define BERTH_CAP_PTY BERTH_CAP (15)
#define BERTH_CAP_DIAL BERTH_CAP (16)               /* a byte stream to a port inside */
#define BERTH_CAP_ENDPOINTS BERTH_CAP (17)          /* the platform's own URL of a port */
#define BERTH_CAP_SIGNED_ENDPOINTS BERTH_CAP (18)
#define BERTH_CAP_NETWORK_POLICY BERTH_CAP (19)     /* deny and allow, from the first instruction */
#define BERTH_CAP_NETWORK_RULES BERTH_CAP (20)      /* lists of hosts, networks and ports */
#define BERTH_CAP_NETWORK_UPDATE BERTH_CAP (21)     /* changes at run time */
#define BERTH_CAP_EGRESS_CREDENTIALS BERTH_CAP (22)
#define BERTH_CAP_ISOLATED_SESSIONS BERTH_CAP (23)
#define BERTH_CAP_ISOLATED_SESSION_RECOVERY BERTH_CAP (24)
#define BERTH_CAP_CLIENT_POOL BERTH_CAP (25)
#define BERTH_CAP_SNAPSHOT_DISK BERTH_CAP (26)
#define BERTH_CAP_SNAPSHOT_MEMORY BERTH_CAP (27)
#define BERTH_CAP_FORK BERTH_CAP (28)
#define BERTH_CAP_RUN_CODE BERTH_CAP (29)
#define BERTH_CAP_STATEFUL_CODE BERTH_CAP (30)
#define BERTH_CAP_WORKSPACE_VOLUME BERTH_CAP (31)
#define BERTH_CAP_METRICS BERTH_CAP (32)
#define BERTH_CAP_DIAGNOSTICS BERTH_CAP (33)
#define BERTH_CAP_FILE_WATCH BERTH_CAP (34)
#define BERTH_CAP_COST_REPORTING BERTH_CAP (35)
#define BERTH_CAP_NATIVE BERTH_CAP (36)             /* what only this backend can do */
#define BERTH_CAP_GPU BERTH_CAP (37)                /* validate accepts a GPU */
#define BERTH_CAP_LSP BERTH_CAP (38)                /* reserved */
#define BERTH_CAP_GIT BERTH_CAP (39)                /* reserved */

/* Which struct an asks mask belongs to; the host knows the names of all its bits.
 * Unknown: the host prints the number. */
enum berth_asks
{
  BERTH_ASKS_SPEC = 1,
  BERTH_ASKS_RUN = 2,
  BERTH_ASKS_CHANGE = 3,
  BERTH_ASKS_READ = 4,
  BERTH_ASKS_TAR = 5,
  BERTH_ASKS_ATTACH = 6,
  BERTH_ASKS_VIEW = 7,
  BERTH_ASKS_POLICY = 8,
  BERTH_ASKS_VAULT = 9,
  BERTH_ASKS_ISOLATED = 10,
  BERTH_ASKS_POOL = 11,
  BERTH_ASKS_CODE = 12,
  BERTH_ASKS_OPTIONS = 13
};

/* What a backend labels everything it makes with, wherever the runtime has labels. */
#define BERTH_LABEL_MANAGED "io.berth.managed" /* always "true" */
#define BERTH_LABEL_INSTALLATION "io.berth.installation"
#define BERTH_LABEL_SANDBOX "io.berth.sandbox"
#define BERTH_LABEL_ASSIGNMENT "io.berth.assignment"

/* ---- small enumerations ---- */

/* Resistance to kernel escape by an adversarial tenant, and nothing else.  The value is the
 * rank: comparisons come from it.  UNKNOWN satisfies no requirement.  Unknown: UNKNOWN. */
enum berth_tier
{
  BERTH_TIER_UNKNOWN = 0,
  BERTH_TIER_CONTAINER = 10,
  BERTH_TIER_GVISOR = 20,
  BERTH_TIER_MICROVM = 30
};

/* How many calls a backend takes at once; the host enforces it.  Unknown: refused. */
enum berth_concurrency
{
  BERTH_PARALLEL = 1,
  BERTH_ONE_PER_SANDBOX = 2,
  BERTH_ONE_AT_A_TIME = 3
};

/* Unknown: dropped and counted. */
enum berth_stream
{
  BERTH_STDOUT = 1,
  BERTH_STDERR = 2
};

/* Unknown: OTHER. */
enum berth_kind
{
  BERTH_KIND_FILE = 1,
  BERTH_KIND_DIRECTORY = 2,
  BERTH_KIND_SYMLINK = 3,
  BERTH_KIND_OTHER = 4
};

/* Why a command ended.  Unknown: it failed, never success. */
enum berth_reason
{
  BERTH_EXITED = 1,
  BERTH_SIGNALLED = 2,
  BERTH_TIMED_OUT = 3,
  BERTH_OUT_OF_MEMORY = 4,
  BERTH_WAS_CANCELLED = 5
};

/* Unknown: it exists and cannot be used. */
enum berth_life
{
  BERTH_LIFE_CREATING = 1,
  BERTH_LIFE_RUNNING = 2,
  BERTH_LIFE_PAUSED = 3,
  BERTH_LIFE_STOPPED = 4,
  BERTH_LIFE_FAILED = 5,
  BERTH_LIFE_ENDING = 6
};

/* Unknown: DENY. */
enum berth_action
{
  BERTH_DENY = 1,
  BERTH_ALLOW = 2,
  BERTH_LEARN = 3
};

/* What the target of a network rule is.  Unknown: the rule is refused. */
enum berth_target
{
  BERTH_TARGET_HOST = 1,
  BERTH_TARGET_WILDCARD = 2, /* *.example.org: sub-domains, not the apex */
  BERTH_TARGET_CIDR = 3,
  BERTH_TARGET_ANY = 4
};

/* Unknown: the backend is refused. */
enum berth_setting_type
{
  BERTH_SETTING_TEXT = 1,
  BERTH_SETTING_INTEGER = 2,
  BERTH_SETTING_BOOLEAN = 3,  /* true, false, yes, no, on, off, 1, 0 */
  BERTH_SETTING_DURATION = 4, /* 90s, 15m, 2h, 1d; read as milliseconds */
  BERTH_SETTING_SIZE = 5,     /* 512M, 1.5G; read as bytes */
  BERTH_SETTING_PATH = 6,     /* absolute */
  BERTH_SETTING_URL = 7,
  BERTH_SETTING_CHOICE = 8
};

/* Verdicts are structs of one word, so that `if (verdict)` does not compile.  0 is "not
 * answered" and counts, like an unknown value, as the weaker of the two. */
enum
{
  BERTH_GONE = 1,     /* the sandbox and its storage are no more, or never were */
  BERTH_ACCEPTED = 2, /* accepted, not yet seen gone; unknown verdicts count as this */
  BERTH_REFUSED = 3   /* the runtime will not remove it; the reason is in the error slot */
};
struct berth_destroyed
{
  uint32_t verdict;
};

enum
{
  BERTH_PRESENT = 1, /* anything of it is left; unknown verdicts count as a failed probe */
  BERTH_ABSENT = 2
};
struct berth_presence
{
  uint32_t verdict;
};

#define BERTH_UNKNOWN_SIZE UINT64_MAX
#define BERTH_NO_DEADLINE INT64_MAX
#define BERTH_OFFSET_LIVE UINT64_MAX         /* attach: nothing old, only what comes */
#define BERTH_OFFSET_OLDEST (UINT64_MAX - 1) /* attach: all that is held, without a gap error */

/* A name with a value: environment, metadata, headers.  Frozen for ever. */
#define BERTH_PAIR_SECRET 1u /* never logged, stored, listed or put into an error */
struct berth_pair
{
  const char *name;
  const char *value;
  uint32_t flags;
  uint32_t reserved;
};

/* A scheduled end.  Frozen for ever: 24 bytes. */
enum
{
  BERTH_EXPIRES_AT = 1,   /* remaining_ms (may be negative) and wall_ms are set */
  BERTH_EXPIRES_NEVER = 2 /* no scheduled end; an end that cannot be read is an error instead */
};
struct berth_expiry
{
  uint32_t kind;
  uint32_t reserved;
  int64_t remaining_ms; /* free of clock skew: what decisions are made on */
  int64_t wall_ms;      /* Unix time by the runtime's own clock: for people */
};

/* Where a process session's output stands: bytes of both streams together since the session
 * was made; offsets survive restarts and never wrap.  Frozen for ever: 24 bytes. */
struct berth_position
{
  uint64_t oldest; /* first offset still held */
  uint64_t next;   /* offset of the next byte */
  uint64_t run;    /* 1, 2, ... per start of the process */
};

/* How a backend knows a sandbox: what the host stored when `created` told it. */
#define BERTH_PRIVATE_MAX 4096u
struct berth_native
{
  uint32_t struct_size;
  uint32_t private_size;    /* bytes; 0 when there are none; at most BERTH_PRIVATE_MAX */
  const char *id;           /* the native id */
  const void *private_data; /* secret, such as a token; stored by the host, never logged */
};

/* ---- network ---- */
struct berth_rule
{
  uint32_t action;      /* enum berth_action: DENY or ALLOW */
  uint32_t target_kind; /* enum berth_target */
  const char *target;   /* lower case, no trailing dot; NULL for ANY */
  uint32_t port_low;    /* both 0: every port */
  uint32_t port_high;
};

#define BERTH_POLICY_RUN_TIME (UINT64_C (1) << 0) /* must be changeable later */
#define BERTH_POLICY_KNOWN_1_0 ((UINT64_C (1) << 1) - 1)
struct berth_policy
{
  uint32_t struct_size;
  uint32_t default_action;  /* enum berth_action, for what no rule matches */
  uint64_t asks;            /* BERTH_POLICY_* */
  struct berth_array rules; /* struct berth_rule; the first match decides */
};

/* ---- the specification ----
 * What a sandbox shall be.  Bits marked (word) have no member: the bit itself is the wish. */
#define BERTH_SPEC_IMAGE (UINT64_C (1) << 0)
#define BERTH_SPEC_PIN (UINT64_C (1) << 1)
#define BERTH_SPEC_ENTRYPOINT (UINT64_C (1) << 2)
#define BERTH_SPEC_ENVIRONMENT (UINT64_C (1) << 3)
#define BERTH_SPEC_METADATA (UINT64_C (1) << 4)
#define BERTH_SPEC_USER (UINT64_C (1) << 5)
#define BERTH_SPEC_CPU (UINT64_C (1) << 6)
#define BERTH_SPEC_MEMORY (UINT64_C (1) << 7)
#define BERTH_SPEC_PIDS (UINT64_C (1) << 8)
#define BERTH_SPEC_DISK (UINT64_C (1) << 9)
#define BERTH_SPEC_TMP (UINT64_C (1) << 10)
#define BERTH_SPEC_OPEN_FILES (UINT64_C (1) << 11)
#define BERTH_SPEC_GPU (UINT64_C (1) << 12)
#define BERTH_SPEC_NETWORK (UINT64_C (1) << 13)
#define BERTH_SPEC_TTL (UINT64_C (1) << 14)
#define BERTH_SPEC_TIER (UINT64_C (1) << 15)
#define BERTH_SPEC_READ_ONLY_ROOT (UINT64_C (1) << 16) /* (word) */
#define BERTH_SPEC_VOLUME (UINT64_C (1) << 17)
#define BERTH_SPEC_PORTS (UINT64_C (1) << 18)
#define BERTH_SPEC_FILE_SIZE (UINT64_C (1) << 19)
#define BERTH_SPEC_SHM (UINT64_C (1) << 20)
#define BERTH_SPEC_FORBID_ROOT (UINT64_C (1) << 21)     /* (word) no command runs as uid 0 */
#define BERTH_SPEC_OWNED (UINT64_C (1) << 22)           /* (word) ends within 5 s when its creating process goes away */
#define BERTH_SPEC_USER_NAMESPACES (UINT64_C (1) << 23) /* (word) the workload may make user namespaces */
#define BERTH_SPEC_KNOWN_1_0 ((UINT64_C (1) << 24) - 1)

struct berth_spec
{
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t asks; /* the members that are set: the user's wishes and the host's defaults */
  uint64_t must; /* those of them that the user wrote: in force as asked, or refused */
  /* Always there. */
  const char *sandbox_id;      /* the host's id */
  const char *assignment_id;   /* of this attempt; a label where the runtime has labels */
  const char *installation_id; /* a label too */
  const char *native_hint;     /* "<sandbox_id>.<generation>": used once and never again */
  uint64_t generation;         /* counts replacements of one sandbox, from 1 */
  /* There when asked. */
  const char *image;               /* IMAGE; "host" means the machine's own root file system */
  const char *pin;                 /* PIN: what validate answered; makes create mean the same */
  const char *const *entrypoint;   /* ENTRYPOINT; count 0 is "none", an absent bit "the image's" */
  uint64_t entrypoint_count;
  const struct berth_pair *environment; /* ENVIRONMENT: of every command, may hold secrets */
  uint64_t environment_count;
  const struct berth_pair *metadata; /* METADATA: the user's labels; a courtesy, the host keeps them */
  uint64_t metadata_count;
  const char *user;                   /* USER: of commands that name none */
  const char *gpu;                    /* GPU: model or "any" */
  const struct berth_policy *network; /* NETWORK: in force before the first user instruction */
  const char *volume_route;           /* VOLUME: an answer of volumes.workspace_route */
  const uint32_t *ports;              /* PORTS: only these may be dialled or exposed */
  uint64_t port_count;
  uint64_t memory_bytes;    /* MEMORY: swap included */
  uint64_t disk_bytes;      /* DISK: size of /workspace */
  uint64_t tmp_bytes;       /* TMP: size of /tmp */
  uint64_t shm_bytes;       /* SHM: size of /dev/shm */
  uint64_t file_size_bytes; /* FILE_SIZE: largest single file */
  int64_t ttl_ms;           /* TTL: the backend's own end, from now; the host's backstop */
  uint32_t cpu_milli;       /* CPU: 1000 is one core */
  uint32_t pids;            /* PIDS: processes and threads at once */
  uint32_t open_files;      /* OPEN_FILES: descriptors of one process */
  uint32_t minimum_tier;    /* TIER: enum berth_tier */
};

/* Protections that an instance has.  A local CONTAINER must claim all of them. */
#define BERTH_POSTURE_NO_CAPABILITIES (UINT64_C (1) << 0)
#define BERTH_POSTURE_NO_NEW_PRIVILEGES (UINT64_C (1) << 1)
#define BERTH_POSTURE_SECCOMP (UINT64_C (1) << 2)
#define BERTH_POSTURE_CONTAINED_WRITES (UINT64_C (1) << 3) /* real check made inside */
#define BERTH_POSTURE_EXACT_NAMES (UINT64_C (1) << 4)      /* byte-exact paths and values */
#define BERTH_POSTURE_SEPARATE_USERS (UINT64_C (1) << 5)   /* other accounts can be used */
#define BERTH_POSTURE_ALL ((UINT64_C (1) << 6) - 1)

/* What a specification would get (validate) or got (create, connect).  What is not in
 * `enforced` is not in force: the host refuses `must & ~enforced`, so that silence never
 * loosens a limit; for a mere default the backend may answer its own concrete number. */
#define BERTH_EFFECTIVE_LOSSY_OUTPUT (UINT64_C (1) << 0) /* run cannot give exact bytes */
#define BERTH_EFFECTIVE_TTL_RANGE (UINT64_C (1) << 1)    /* the two ttl members are set */
struct berth_effective
{
  uint32_t struct_size;
  uint32_t tier;         /* one of the claims, or UNKNOWN */
  uint64_t has;          /* BERTH_EFFECTIVE_* */
  uint64_t capabilities; /* of this instance: a subset of the declared ones */
  uint64_t enforced;     /* BERTH_SPEC_* */
  uint64_t run_asks;     /* BERTH_RUN_* that run will accept */
  uint64_t posture;      /* BERTH_POSTURE_* that hold */
  const char *pin;       /* up to 4095 bytes that the host stores and hands to create; or NULL */
  const char *runtime;   /* for people: what runs it and in which version; or NULL */
  uint64_t memory_bytes; /* the numbers in force; 0 where the bit is not in `enforced` */
  uint64_t disk_bytes;
  uint64_t tmp_bytes;
  uint64_t shm_bytes;
  uint64_t file_size_bytes;
  int64_t ttl_minimum_ms;
  int64_t ttl_maximum_ms;
  uint32_t cpu_milli;
  uint32_t pids;
  uint32_t open_files;
  uint32_t reserved;
};

/* A sandbox as the runtime knows it. */
#define BERTH_FOUND_LABELS (UINT64_C (1) << 0) /* the ids below could be read; else their claim is UNKNOWN */
#define BERTH_FOUND_CREATED (UINT64_C (1) << 1)
#define BERTH_FOUND_EXPIRY (UINT64_C (1) << 2)
#define BERTH_FOUND_METADATA (UINT64_C (1) << 3)
#define BERTH_FOUND_PARTIAL (UINT64_C (1) << 4) /* half-made: a volume without its container */
struct berth_found
{
  uint32_t struct_size;
  uint32_t life; /* enum berth_life */
  uint64_t has;
  const char *native_id;
  const char *sandbox_id; /* NULL: no such label */
  const char *assignment_id;
  const char *installation_id;
  const struct berth_pair *metadata;
  uint64_t metadata_count;
  int64_t created_wall_ms;
  struct berth_expiry expiry;
};

/* ---- running ---- */
#define BERTH_RUN_ENVIRONMENT (UINT64_C (1) << 0)
#define BERTH_RUN_WORKDIR (UINT64_C (1) << 1)
#define BERTH_RUN_USER (UINT64_C (1) << 2)
#define BERTH_RUN_TIMEOUT (UINT64_C (1) << 3)
#define BERTH_RUN_TERMINAL (UINT64_C (1) << 4) /* processes.start only: columns and rows are set */
#define BERTH_RUN_RING (UINT64_C (1) << 5)     /* processes.start only */
#define BERTH_RUN_NAME (UINT64_C (1) << 6)     /* processes.start only */
#define BERTH_RUN_RESTART (UINT64_C (1) << 7)  /* processes.start only: (word) runs again at the next attach */
#define BERTH_RUN_KNOWN_1_0 ((UINT64_C (1) << 8) - 1)
struct berth_run
{
  uint32_t struct_size;
  uint32_t argument_count; /* at least 1 */
  uint64_t asks;
  const char *const *arguments;         /* executed as is, no shell; NULL-terminated as well */
  const struct berth_pair *environment; /* on top of the specification's; the last of a name wins */
  uint64_t environment_count;
  const char *workdir; /* absolute; default /workspace */
  const char *user;    /* account name or number inside; default the sandbox user */
  int64_t timeout_ms;  /* the command's: starts when the command starts */
  const char *name;    /* wished process id */
  uint64_t ring_bytes; /* output held for replay; default 1 MiB */
  uint32_t columns;
  uint32_t rows;
};

#define BERTH_EXIT_DURATION (UINT64_C (1) << 0)
#define BERTH_EXIT_CPU (UINT64_C (1) << 1)
#define BERTH_EXIT_MEMORY (UINT64_C (1) << 2)
#define BERTH_EXIT_PIPE_HELD (UINT64_C (1) << 3) /* other processes still hold the output */
#define BERTH_EXIT_INEXACT (UINT64_C (1) << 4)   /* the output passed a line-wise channel */
#define BERTH_EXIT_KILLS (UINT64_C (1) << 5)
struct berth_exit
{
  uint32_t struct_size;
  uint32_t reason; /* enum berth_reason */
  uint64_t has;
  int32_t code;   /* EXITED: 0 to 255; else -1.  127: not found, 126: not executable */
  int32_t signal; /* Linux number; with another reason than EXITED, 0 means not known */
  uint64_t duration_ns;
  uint64_t cpu_ns;
  uint64_t peak_memory_bytes;
  uint64_t memory_kills; /* processes of the sandbox that its memory limit killed meanwhile, whatever the reason says */
};

/* ---- files ---- */
#define BERTH_FILE_OWNER (UINT64_C (1) << 0) /* owner and group names */
#define BERTH_FILE_MODE (UINT64_C (1) << 1)
#define BERTH_FILE_TIME (UINT64_C (1) << 2)
#define BERTH_FILE_IDS (UINT64_C (1) << 3)
#define BERTH_FILE_LINK (UINT64_C (1) << 4)
struct berth_file_info
{
  uint32_t struct_size;
  uint32_t kind; /* enum berth_kind */
  uint64_t has;
  const char *name; /* list: the entry's own name; stat and read: the path asked for */
  const char *owner;
  const char *group;
  const char *link_target;
  uint64_t size;
  int64_t modified_s; /* Unix time */
  uint32_t modified_ns;
  uint32_t mode; /* permission bits, 07777 */
  uint32_t uid;  /* as seen inside */
  uint32_t gid;
};

/* For functions that need nothing more today, so that the next wish is a bit. */
struct berth_options
{
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t asks;
};

#define BERTH_READ_RANGE (UINT64_C (1) << 0)
#define BERTH_READ_FOLLOW (UINT64_C (1) << 1) /* stat: the target of a link; read always follows */
#define BERTH_READ_KNOWN_1_0 ((UINT64_C (1) << 2) - 1)
struct berth_read
{
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t asks;
  uint64_t max_bytes; /* read: PAYLOAD_TOO_LARGE above it, before the first byte; always set */
  uint64_t offset;    /* RANGE */
  uint64_t length;    /* RANGE; BERTH_UNKNOWN_SIZE: to the end */
};

/* One struct for everything that changes a file.  `asks` is the presence mask, so that mode
 * 0000 can be expressed. */
#define BERTH_CHANGE_MODE (UINT64_C (1) << 0)
#define BERTH_CHANGE_OWNER (UINT64_C (1) << 1)
#define BERTH_CHANGE_GROUP (UINT64_C (1) << 2)
#define BERTH_CHANGE_TIME (UINT64_C (1) << 3)
#define BERTH_CHANGE_NEW (UINT64_C (1) << 4)        /* CONFLICT when it exists */
#define BERTH_CHANGE_PARENTS (UINT64_C (1) << 5)    /* make missing parents, owned by the sandbox user */
#define BERTH_CHANGE_RECURSIVE (UINT64_C (1) << 6)  /* the tree below too */
#define BERTH_CHANGE_MISSING_OK (UINT64_C (1) << 7) /* remove: a missing path succeeds */
#define BERTH_CHANGE_KNOWN_1_0 ((UINT64_C (1) << 8) - 1)
struct berth_change
{
  uint32_t struct_size;
  uint32_t mode; /* MODE: exactly these bits, whatever the umask, and never wider for a moment */
  uint64_t asks;
  const char *beneath; /* the write root that the path lies under; resolved inside, never left */
  const char *owner;   /* OWNER: account of the sandbox; set in the same operation */
  const char *group;   /* GROUP */
  int64_t modified_s;  /* TIME: Unix time */
};

#define BERTH_TAR_FROZEN (UINT64_C (1) << 0) /* export: the sandbox is paused */
#define BERTH_TAR_KNOWN_1_0 ((UINT64_C (1) << 1) - 1)
struct berth_tar_limits
{
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t asks;
  uint64_t max_bytes;   /* of the stream; PAYLOAD_TOO_LARGE while streaming; always set */
  uint64_t max_entries; /* always set */
};

#define BERTH_TAR_CHANGED (UINT64_C (1) << 0)  /* something moved meanwhile */
#define BERTH_TAR_NO_LINKS (UINT64_C (1) << 1) /* hard links became copies */
#define BERTH_TAR_NO_OWNER (UINT64_C (1) << 2) /* owners are not told */
#define BERTH_TAR_NO_SPARSE (UINT64_C (1) << 3)
#define BERTH_TAR_SKIPPED (UINT64_C (1) << 4)  /* sockets, pipes or devices were left out */
struct berth_tar_report
{
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t has;
  uint64_t bytes;
  uint64_t entries;
};

/* ---- processes ---- */
#define BERTH_ATTACH_TAKEOVER (UINT64_C (1) << 0)
#define BERTH_ATTACH_ONLY_RUNNING (UINT64_C (1) << 1) /* PROCESS_EXITED instead of starting it again */
#define BERTH_ATTACH_KNOWN_1_0 ((UINT64_C (1) << 2) - 1)
struct berth_attach
{
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t asks;
  uint64_t offset; /* or BERTH_OFFSET_LIVE, BERTH_OFFSET_OLDEST */
};

#define BERTH_VIEW_FOLLOW (UINT64_C (1) << 0) /* wait for more until the process ends */
#define BERTH_VIEW_KNOWN_1_0 ((UINT64_C (1) << 1) - 1)
struct berth_view
{
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t asks;
  uint64_t offset;
};

#define BERTH_PROCESS_EXIT (UINT64_C (1) << 0)
#define BERTH_PROCESS_HELD (UINT64_C (1) << 1)
#define BERTH_PROCESS_TERMINAL (UINT64_C (1) << 2)
#define BERTH_PROCESS_RESTART (UINT64_C (1) << 3) /* runs again at the next attach */
struct berth_process
{
  uint32_t struct_size;
  uint32_t running; /* 1 or 0 */
  uint64_t has;
  const char *process_id;
  const char *const *arguments; /* NULL: not told */
  uint64_t argument_count;
  struct berth_position position;
  const struct berth_exit *exit; /* EXIT */
};

/* ---- the rest ---- */
#define BERTH_ENDPOINT_EXPIRES (UINT64_C (1) << 0)
struct berth_endpoint
{
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t has;
  const char *url;                  /* absolute http or https */
  const struct berth_pair *headers; /* that every request must carry; may be secret */
  uint64_t header_count;
  int64_t expires_wall_ms; /* EXPIRES: Unix time */
};

struct berth_denial
{
  uint32_t struct_size;
  uint32_t port;
  uint64_t sequence; /* 1, 2, ... per sandbox */
  uint64_t count;    /* how often since the one before */
  const char *host;  /* name or address that was asked for */
  const char *rule;  /* for people: the rule that decided */
  int64_t wall_ms;
};

struct berth_binding
{
  const char *host;   /* a host that the policy allows */
  const char *header; /* set on requests to it */
  const char *value;  /* secret: never inside the sandbox */
  uint64_t flags;     /* 0 */
};

struct berth_vault
{
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t asks;
  struct berth_array bindings; /* struct berth_binding */
};

struct berth_isolated_workspace
{
  uint32_t struct_size;
  uint32_t mode; /* permission bits of its directory */
  uint64_t asks;
  const char *path;
  const char *profile; /* NULL: the backend's default */
};

struct berth_pool
{
  uint32_t struct_size;
  uint32_t wanted; /* ready sandboxes to keep */
  uint64_t asks;
  const char *name;
  const struct berth_spec *spec;
};

struct berth_pool_state
{
  uint32_t struct_size;
  uint32_t ready;
  uint64_t has;
  uint32_t total;
  uint32_t claimed;
};

#define BERTH_SNAPSHOT_CONSISTENT (UINT64_C (1) << 0) /* taken while nothing moved */
#define BERTH_SNAPSHOT_BYTES (UINT64_C (1) << 1)
#define BERTH_SNAPSHOT_CREATED (UINT64_C (1) << 2)
/* Unknown: DISK. */
enum berth_snapshot_kind
{
  BERTH_SNAPSHOT_KIND_DISK = 1,
  BERTH_SNAPSHOT_KIND_MEMORY = 2
};
struct berth_snapshot
{
  uint32_t struct_size;
  uint32_t kind; /* enum berth_snapshot_kind */
  uint64_t has;
  const char *snapshot_id;
  const char *sandbox_id;      /* NULL: not labelled */
  const char *installation_id; /* NULL: not labelled */
  uint64_t bytes;
  int64_t created_wall_ms;
};

#define BERTH_CODE_CONTEXT (UINT64_C (1) << 0) /* needs STATEFUL_CODE */
#define BERTH_CODE_TIMEOUT (UINT64_C (1) << 1)
#define BERTH_CODE_KNOWN_1_0 ((UINT64_C (1) << 2) - 1)
struct berth_code
{
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t asks;
  const char *language;
  const char *context_id;
  const char *text; /* text_size bytes */
  uint64_t text_size;
  int64_t timeout_ms;
};

struct berth_context
{
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t has;
  const char *context_id;
  const char *language;
};

struct berth_rich
{
  uint32_t struct_size;
  uint32_t main; /* 1: the value of the expression, 0: something displayed */
  uint64_t has;
  const char *mime_type;
  const void *data;
  uint64_t size;
};

/* value * 10^exponent, so that no locale and no double is involved. */
struct berth_metric
{
  uint32_t struct_size;
  int32_t exponent;
  uint64_t has;
  const char *name; /* cpu_ns, memory_bytes, memory_headroom_bytes, pids, disk_bytes, ... */
  const char *unit;
  int64_t value;
};

/* Unknown: MODIFIED. */
enum berth_watch_event
{
  BERTH_WATCH_CREATED = 1,
  BERTH_WATCH_MODIFIED = 2,
  BERTH_WATCH_REMOVED = 3,
  BERTH_WATCH_OVERFLOW = 4 /* events were lost: look again */
};
struct berth_watched
{
  uint32_t struct_size;
  uint32_t event;
  uint64_t has;
  const char *path;
};

struct berth_cost
{
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t has;
  const char *label;    /* sandbox id, or another label of the account */
  const char *currency; /* ISO 4217 */
  int64_t micros;       /* millionths of the currency */
};

#ifdef __cplusplus
}
#endif
#endif

/* sdk/agent/protocol.h - numbers of the agent's protocol; docs/agent-protocol.md tells their use.
 *
 * Numbers are never reused.  A new field, operation or frame is a new minor; a change of
 * meaning is a new major. */
#ifndef BERTH_SDK_AGENT_PROTOCOL_H
#define BERTH_SDK_AGENT_PROTOCOL_H

#include <stdint.h>

#define WIRE_MAGIC UINT32_C (0x42525441) /* "BRTA" */
#define WIRE_MAJOR 1
#define WIRE_MINOR 0

#define WIRE_HEADER_SIZE 8                     /* length u32, type u16, reserved u16 */
#define WIRE_HELLO_SIZE 16                     /* magic u32, major u16, minor u16, features u64 */
#define WIRE_TOKEN_MINIMUM 16
#define WIRE_TOKEN_MAXIMUM 64                  /* follows the client's hello */
#define WIRE_DATA_MAXIMUM (256u * 1024)        /* payload of every frame but a request */
#define WIRE_REQUEST_MAXIMUM (8u * 1024 * 1024) /* above the longest argument list of Linux */

#define WIRE_FEATURE_WORKSPACE (UINT64_C (1) << 0) /* export and import */
#define WIRE_FEATURE_OWN (UINT64_C (1) << 1)
#define WIRE_FEATURES (WIRE_FEATURE_WORKSPACE | WIRE_FEATURE_OWN)

enum wire_frame
{
  WIRE_FRAME_HELLO = 1,
  WIRE_FRAME_REQUEST = 2,
  WIRE_FRAME_DATA = 3,
  WIRE_FRAME_STDOUT = 4,
  WIRE_FRAME_STDERR = 5,
  WIRE_FRAME_ENTRY = 6,
  WIRE_FRAME_END = 7,
  WIRE_FRAME_ERROR = 8,
  WIRE_FRAME_EXIT = 9
};

enum wire_operation
{
  WIRE_PING = 1,
  WIRE_RUN = 2,
  WIRE_READ = 3,
  WIRE_WRITE = 4,
  WIRE_LIST = 5,
  WIRE_STAT = 6,
  WIRE_MAKE_DIRECTORY = 7,
  WIRE_MOVE = 8,
  WIRE_REMOVE = 9,
  WIRE_SET_ATTRIBUTES = 10,
  WIRE_EXPORT = 11,
  WIRE_IMPORT = 12,
  WIRE_DEADLINE_GET = 13,
  WIRE_DEADLINE_SET = 14,
  WIRE_OWN = 15,
  WIRE_SHUT_DOWN = 16
};

/* A field is tag u16, reserved u16, length u32, bytes.  A number is 8 bytes. */
#define WIRE_FIELD_SIZE 8
#define WIRE_TAG_MAY_IGNORE 0x8000 /* a reader that does not know the tag goes on */

enum wire_tag
{
  WIRE_TAG_OPERATION = 1, /* first field of a request */
  WIRE_TAG_PATH = 2,
  WIRE_TAG_TO = 3,
  WIRE_TAG_BENEATH = 4,
  WIRE_TAG_USER = 5,
  WIRE_TAG_OWNER = 6,
  WIRE_TAG_GROUP = 7,
  WIRE_TAG_MODE = 8,
  WIRE_TAG_FLAGS = 9,
  WIRE_TAG_MAX_BYTES = 10,
  WIRE_TAG_OFFSET = 11,
  WIRE_TAG_LENGTH = 12,
  WIRE_TAG_MODIFIED_S = 14,
  WIRE_TAG_MODIFIED_NS = 15,
  WIRE_TAG_ARGUMENT = 16,
  WIRE_TAG_ENVIRONMENT = 17, /* name, NUL, value, NUL */
  WIRE_TAG_WORKDIR = 18,
  WIRE_TAG_TIMEOUT_MS = 19,
  WIRE_TAG_TTL_MS = 20, /* absent in DEADLINE_SET: no end */

  WIRE_TAG_KIND = 32,
  WIRE_TAG_NAME = 33,
  WIRE_TAG_SIZE = 34,
  WIRE_TAG_UID = 35,
  WIRE_TAG_GID = 36,
  WIRE_TAG_LINK = 37,      /* target of a symbolic link */
  WIRE_TAG_HARD_LINK = 38, /* name of an earlier entry that is the same file */
  WIRE_TAG_SPARSE = 39,    /* offset u64, length u64 of one run of data; repeated */

  WIRE_TAG_CODE = 48,
  WIRE_TAG_ERRNO = 49,
  WIRE_TAG_MESSAGE = 50,
  WIRE_TAG_HINT = 51,
  WIRE_TAG_REASON = 52,
  WIRE_TAG_EXIT_CODE = 53,
  WIRE_TAG_SIGNAL = 54,
  WIRE_TAG_DURATION_NS = 55,
  WIRE_TAG_CPU_NS = 56,
  WIRE_TAG_PEAK_MEMORY = 57,
  WIRE_TAG_PIPE_HELD = 58,
  WIRE_TAG_BYTES = 59,
  WIRE_TAG_ENTRIES = 60,
  WIRE_TAG_CHANGED = 61,
  WIRE_TAG_VERSION = 62,
  WIRE_TAG_PROCESSES = 63,
  WIRE_TAG_REMAINING_MS = 64, /* absent: no end */
  WIRE_TAG_COPIED_LINKS = 65,
  WIRE_TAG_SKIPPED = 66
};

/* WIRE_TAG_FLAGS */
#define WIRE_FLAG_NEW (UINT64_C (1) << 0)
#define WIRE_FLAG_PARENTS (UINT64_C (1) << 1)
#define WIRE_FLAG_RECURSIVE (UINT64_C (1) << 2)
#define WIRE_FLAG_MISSING_OK (UINT64_C (1) << 3)
#define WIRE_FLAG_FOLLOW (UINT64_C (1) << 4)
#define WIRE_FLAGS_KNOWN ((UINT64_C (1) << 5) - 1)

enum wire_kind
{
  WIRE_KIND_FILE = 1,
  WIRE_KIND_DIRECTORY = 2,
  WIRE_KIND_SYMLINK = 3,
  WIRE_KIND_OTHER = 4,
  WIRE_KIND_FIFO = 5
};

enum wire_reason
{
  WIRE_REASON_EXITED = 1,
  WIRE_REASON_SIGNAL = 2,
  WIRE_REASON_TIMEOUT = 3
};

#endif

/* berth/services.h - what the host gives a backend.
 *
 * Everything comes through tables, so that a backend never needs a symbol of the host's and
 * one process may hold several hosts.  Services may be called from any thread that runs a
 * call of the host's, unless said otherwise; none of them calls back into the backend. */
#ifndef BERTH_SERVICES_H
#define BERTH_SERVICES_H

#include <stdarg.h>

#include <berth/errors.h>
#include <berth/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct berth_instance; /* one configured backend, as the host sees it; opaque to the backend */
struct berth_services;

/* One running function call.  Made by the host, valid until the function returns, used only
 * by the thread that runs it (the cancel descriptor may be polled anywhere).  Frozen. */
struct berth_call
{
  uint32_t struct_size;
  uint32_t reserved;
  const struct berth_services *services;
  struct berth_instance *instance;
};

/* Unknown: INFO. */
enum berth_level
{
  BERTH_LOG_ERROR = 1,
  BERTH_LOG_WARNING = 2,
  BERTH_LOG_INFO = 3,
  BERTH_LOG_DEBUG = 4
};

/* Directories of one instance; made by the host, mode 0700, owned by its user. */
enum berth_directory
{
  BERTH_DIRECTORY_STATE = 1,   /* survives a reboot */
  BERTH_DIRECTORY_RUNTIME = 2, /* gone after a reboot; short enough for socket paths */
  BERTH_DIRECTORY_CACHE = 3    /* may vanish at any time */
};

struct berth_services
{
  struct berth_abi abi;

  /* ---- errors ----
   * Records why the call fails: CODE (enum berth_error_code) and a message that names the
   * thing (got, want).  Always returns -1.  The last record before the return counts.  The
   * host redacts secrets.  MESSAGE has no trailing newline or full stop. */
  int (*fail) (struct berth_call *call, uint32_t code, const char *format, ...) BERTH_FORMAT (3, 4);
  int (*vfail) (struct berth_call *call, uint32_t code, const char *format, va_list arguments);
  /* Refuses BITS of the asks mask WHICH (enum berth_asks); the host writes the message with
   * the names of the members.  Always returns -1. */
  int (*refuse) (struct berth_call *call, uint32_t which, uint64_t bits);
  /* What the user can do about the recorded failure. */
  void (*hint) (struct berth_call *call, const char *format, ...) BERTH_FORMAT (2, 3);
  /* The service's own error code and HTTP status behind the recorded failure; CODE may be NULL. */
  void (*upstream) (struct berth_call *call, const char *code, int32_t status);
  /* With RATE_LIMITED and UNREACHABLE: when to try again, in ms. */
  void (*retry_after) (struct berth_call *call, int64_t milliseconds);
  /* The code in the slot, or 0. */
  uint32_t (*failed) (const struct berth_call *call);
  /* Empties the slot, after something that was allowed to fail. */
  void (*forgive) (struct berth_call *call);

  /* ---- time and cancellation ----
   * 0, BERTH_E_CANCELLED or BERTH_E_TIMEOUT: the call must end within a second with it. */
  uint32_t (*cancelled) (struct berth_call *call);
  /* A descriptor that is readable once the call is cancelled and stays so.  Never read it.
   * -1 when there is none: then poll `cancelled` every 100 ms.  It does not tell deadlines. */
  int (*cancel_fd) (struct berth_call *call);
  /* CLOCK_MONOTONIC in ns, or BERTH_NO_DEADLINE. */
  int64_t (*deadline) (const struct berth_call *call);
  /* A call for undoing: with a slot of its own, neither cancelled nor timed out with its
   * parent, at most GRACE_MS long.  Never NULL; nests.  Its failures are only logged. */
  struct berth_call *(*shield) (struct berth_call *call, int64_t grace_ms);
  void (*unshield) (struct berth_call *shielded);

  /* ---- talking ----
   * LEVEL is enum berth_level.  errno is preserved.  Any thread. */
  void (*log) (struct berth_instance *instance, uint32_t level, const char *format, ...) BERTH_FORMAT (3, 4);
  /* Progress of long work for people and daemons: PHASE such as "pulling image", DONE of
   * TOTAL bytes or steps; TOTAL 0: not known. */
  void (*progress) (struct berth_call *call, const char *phase, uint64_t done, uint64_t total);
  /* From now on these bytes are redacted in every message of this instance.  Any thread. */
  void (*redact) (struct berth_instance *instance, const void *bytes, size_t size);

  /* ---- facts ----
   * The texts live until `close` of the instance.  Any thread. */
  const char *(*instance_name) (struct berth_instance *instance);
  /* The value of a declared setting as text, or NULL when it is not set and has no default. */
  const char *(*setting) (struct berth_instance *instance, const char *name);
  /* The value as a number: INTEGER as is, BOOLEAN 0 or 1, DURATION in ms, SIZE in bytes; 0
   * when it is not set.  The host has checked the syntax before `open`. */
  int64_t (*setting_number) (struct berth_instance *instance, const char *name);
  /* WHICH is enum berth_directory; NULL for an unknown one. */
  const char *(*directory) (struct berth_instance *instance, uint32_t which);
  /* Whose sandboxes these are: the label BERTH_LABEL_INSTALLATION. */
  const char *(*installation_id) (struct berth_instance *instance);
  /* Path of the static agent for MACHINE (uname -m; NULL: this machine), or NULL: none. */
  const char *(*agent_path) (struct berth_instance *instance, const char *machine);
};

/* First statement of every function that takes an asks mask: 0, or -1 with the refusal made.
 * KNOWN is spelled by the author, never taken from "all bits there are". */
#define BERTH_REFUSE_UNKNOWN(call, which, asks, known)                                            \
  (((asks) & ~(uint64_t) (known)) == 0                                                            \
       ? 0                                                                                        \
       : (call)->services->refuse ((call), BERTH_ASKS_##which, (asks) & ~(uint64_t) (known)))

#ifdef __cplusplus
}
#endif
#endif

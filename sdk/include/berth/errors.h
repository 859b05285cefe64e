/* berth/errors.h - stable error codes.
 *
 * A code is HTTP status * 100 + number, so that a host older than the plugin still knows what
 * class an unknown code is of.  Codes are never reused.  The host owns the names and the
 * default hints; whoever fails adds a message that names the thing (got, want) and may add a
 * hint that says what to do. */
#ifndef BERTH_ERRORS_H
#define BERTH_ERRORS_H

#ifdef __cplusplus
extern "C" {
#endif

/* X (name, code, meaning, default hint) */
#define BERTH_ERRORS(X)                                                                           \
  X (INVALID_REQUEST, 40000, "the arguments make no sense", "")                                   \
  X (PATH_REJECTED, 40001, "a path outside the roots, an unknown account, or a name that cannot be carried", \
     "write below /workspace and use accounts of the sandbox")                                    \
  X (CONFIGURATION, 40002, "a setting is wrong, or a limit cannot be enforced", "run `berth doctor`") \
  X (UNAUTHORIZED, 40100, "the runtime does not accept the credential", "check the backend's key setting") \
  X (FORBIDDEN, 40300, "the credential is accepted but may not do this", "")                      \
  X (POLICY_DENIED, 40301, "a policy of the sandbox or of the host forbids this", "")             \
  X (NOT_FOUND, 40400, "what the call names does not exist", "")                                  \
  X (SANDBOX_NOT_FOUND, 40401, "no such sandbox", "`berth ls` shows the sandboxes")               \
  X (PATH_NOT_FOUND, 40402, "no such file or directory", "")                                      \
  X (PROCESS_NOT_FOUND, 40403, "no such process session", "")                                     \
  X (SNAPSHOT_NOT_FOUND, 40404, "no such snapshot", "")                                           \
  X (CONFLICT, 40900, "it exists already, or its state is just being changed", "")                \
  X (WRONG_STATE, 40901, "the sandbox is paused, stopped, or not in a state for this call", "`berth inspect` shows its state") \
  X (CREATE_INTERRUPTED, 40902, "a create was interrupted and the backend cannot tell what became of it", \
     "create a new sandbox; the backend's own expiry reclaims the lost one")                      \
  X (BACKEND_DISABLED, 40903, "the backend is installed but not enabled", "add it to BERTH_BACKENDS or to `backends` in berth.conf") \
  X (PROCESS_HELD, 40904, "another attachment holds the process session", "take it over, or view it") \
  X (PROCESS_EXITED, 40905, "the process of the session has ended", "")                           \
  X (PAYLOAD_TOO_LARGE, 41300, "more bytes or entries than the limit", "")                        \
  X (REPLAY_GAP, 41600, "the offset is no longer held", "attach at the oldest offset that is held") \
  X (OFFSET_BEYOND_END, 41601, "the offset has not been written yet", "")                         \
  X (QUOTA_EXCEEDED, 42900, "a quota of the host or of the owner is used up", "destroy sandboxes that are no longer needed") \
  X (RATE_LIMITED, 42901, "the service asks to slow down", "try again after the time given")      \
  X (CANCELLED, 49900, "the caller cancelled the call", "")                                       \
  X (INTERNAL, 50000, "a defect of Berth, of a backend or of the runtime", "please report it")    \
  X (CAPABILITY_NOT_SUPPORTED, 50100, "this backend or this sandbox cannot do that", "`berth backends` shows what each backend can do") \
  X (UNREACHABLE, 50200, "the runtime, the service or the agent does not answer", "run `berth doctor`") \
  X (TIMEOUT, 50400, "Berth's own deadline passed (a command's timeout is an exit with that reason)", "") \
  X (RESOURCE_EXHAUSTED, 50700, "no space, memory, descriptors or processes left", "free some and try again")

/* Unknown codes are treated by class: code / 100 is an HTTP status. */
enum berth_error_code
{
  BERTH_E_NONE = 0,
#define BERTH_ERROR_ENUM(name, code, meaning, hint) BERTH_E_##name = code,
  BERTH_ERRORS (BERTH_ERROR_ENUM)
#undef BERTH_ERROR_ENUM
  BERTH_E_LAST_IS_NOT_A_CODE = 59999
};

#ifdef __cplusplus
}
#endif
#endif

/* sdk/agentlink/agentlink.h - the client of berth-agent.
 *
 * A backend that can carry a byte stream to an agent begins its struct berth_handle with a
 * struct agentlink and takes the tables below; it overrides one function of a table by
 * writing a table of its own from the names.  No threads, no globals: each operation opens
 * one stream through the transport and closes it. */
#ifndef BERTH_SDK_AGENTLINK_AGENTLINK_H
#define BERTH_SDK_AGENTLINK_AGENTLINK_H

#include <berth/backend.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What libberth-sdk shows. */
#pragma GCC visibility push(default)

#define AGENTLINK_MAGIC UINT64_C (0x6b6e696c746e6761)
#define AGENTLINK_HELLO_MS 5000 /* more where the agent moves or the machine is busy */

struct agentlink_transport
{
  void *context;
  /* A connected stream socket, CLOEXEC, blocking or not, which agentlink closes; or -1 after
   * services->fail.  SANDBOX_NOT_FOUND when the sandbox is known to be gone, else UNREACHABLE. */
  int (*connect) (struct berth_call *call, void *context);
  /* NULL, or how many processes the sandbox's memory limit has killed so far; asked before and after
   * each command.  Tells OUT_OF_MEMORY from a plain signal. */
  uint64_t (*memory_kills) (void *context);
  /* NULL, or asked while a hello is overdue: 1 when the agent has done anything since MARK was noted
   * or waits for a processor, 0 when it did nothing, -1 when it is stopped or gone.  Notes MARK anew; 0
   * is no mark yet. */
  int (*is_moving) (void *context, uint64_t *mark);
};

/* First member of the backend's struct berth_handle.  All pointers stay the backend's. */
struct agentlink
{
  uint64_t magic;
  struct agentlink_transport transport;
  const void *token; /* NULL: the agent looks at the peer's credentials instead */
  size_t token_size;
};

/* Fills LINK; TOKEN may be NULL. */
void agentlink_init (struct agentlink *link, const struct agentlink_transport *transport, const void *token,
                     size_t token_size);

/* A transport's connect for an agent that listens on the unix socket PATH: a descriptor or -1 after fail.
 * Waits for room in the backlog until the call ends.  A missing or dead socket is UNREACHABLE. */
int agentlink_connect_unix (struct berth_call *call, const char *path);

/* A listening unix socket for a new agent, CLOEXEC, mode 0600; -1 after fail.  PATH must not exist. */
int agentlink_listen_unix (struct berth_call *call, const char *path);

/* ---- operation groups ---- */
extern const struct berth_commands_ops agentlink_commands;
extern const struct berth_files_ops agentlink_files;
extern const struct berth_workspace_ops agentlink_workspace;

int agentlink_run (struct berth_call *call, struct berth_handle *handle, const struct berth_run *run,
                   const struct berth_run_sink *sink);
int agentlink_read (struct berth_call *call, struct berth_handle *handle, const char *path,
                    const struct berth_read *how, const struct berth_read_sink *sink);
int agentlink_write (struct berth_call *call, struct berth_handle *handle, const char *path,
                     const struct berth_change *how, const struct berth_source *source);
int agentlink_list (struct berth_call *call, struct berth_handle *handle, const char *path,
                    const struct berth_read *how, const struct berth_entry_sink *sink);
int agentlink_stat (struct berth_call *call, struct berth_handle *handle, const char *path,
                    const struct berth_read *how, const struct berth_entry_sink *sink);
int agentlink_make_directory (struct berth_call *call, struct berth_handle *handle, const char *path,
                              const struct berth_change *how);
int agentlink_move (struct berth_call *call, struct berth_handle *handle, const char *from, const char *to,
                    const struct berth_change *how);
int agentlink_remove (struct berth_call *call, struct berth_handle *handle, const char *path,
                      const struct berth_change *how);
int agentlink_set_attributes (struct berth_call *call, struct berth_handle *handle, const char *path,
                              const struct berth_change *how);
int agentlink_export_tar (struct berth_call *call, struct berth_handle *handle,
                          const struct berth_tar_limits *limits, const struct berth_tar_sink *sink);
int agentlink_import_tar (struct berth_call *call, struct berth_handle *handle,
                          const struct berth_tar_limits *limits, const struct berth_source *source);

/* ---- what a backend itself asks of the agent ---- */
struct agentlink_facts
{
  uint32_t minor;     /* of the agent's protocol */
  uint32_t processes; /* descendants of the agent, its own helpers excluded */
  char version[32];
};

/* FACTS may be NULL. */
int agentlink_ping (struct berth_call *call, struct agentlink *link, struct agentlink_facts *facts);

/* Waits for the hello that a new agent writes to the other end of FD, a socket, which is its --ready-fd and
 * stays the caller's: 0 when it serves and speaks the same protocol. */
int agentlink_await (struct berth_call *call, struct agentlink *link, int fd);

/* The end that the agent itself keeps; TTL_MS counts from now, BERTH_NO_DEADLINE means none. */
int agentlink_deadline_set (struct berth_call *call, struct agentlink *link, int64_t ttl_ms,
                            struct berth_expiry *out);
int agentlink_deadline_get (struct berth_call *call, struct agentlink *link, struct berth_expiry *out);

/* A descriptor whose closing, however it comes about, ends the sandbox within 5 s; or -1. */
int agentlink_own (struct berth_call *call, struct agentlink *link);

/* The agent kills everything and exits; returns 0 once its connection is closed. */
int agentlink_end (struct berth_call *call, struct agentlink *link);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif

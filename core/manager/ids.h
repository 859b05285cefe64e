/* ids.h - the names of sandboxes: ours, the user's, and the backend's. */
#ifndef CORE_MANAGER_IDS_H
#define CORE_MANAGER_IDS_H

#include "core/manager/manager.h"

#define BERTH_ID_CHARACTERS 20    /* after "sb-", "as-" or "sn-" */
#define BERTH_ID_SIZE 32
#define BERTH_NATIVE_HINT_SIZE 48 /* "<id>.<generation>" */

int berth_id_new_sandbox (char id[BERTH_ID_SIZE], struct berth_error *error);
int berth_id_new_snapshot (char id[BERTH_ID_SIZE], struct berth_error *error);
int berth_id_new_assignment (char id[BERTH_ID_SIZE], struct berth_error *error);
void berth_id_native_hint (const char *id, int64_t generation, char hint[BERTH_NATIVE_HINT_SIZE]);

/* A user's name: [a-z0-9]([a-z0-9._-]{0,62}), and nothing that could be an id. */
int berth_name_check (const char *name, struct berth_error *error);
/* A request id: 1 to 128 printable ASCII characters. */
int berth_request_id_check (const char *request_id, struct berth_error *error);
/* What a backend may call its sandbox: [A-Za-z0-9._:-]{1,255}. */
bool berth_native_id_is_valid (const char *id);

/* A number for a text, the same in every process. */
uint64_t berth_id_hash (const char *text);

/* The one sandbox that NAME means to the host's owner: id, name, or unambiguous prefix of an id. */
int berth_id_resolve (struct berth_host *host, const char *name, char id[BERTH_ID_SIZE], struct berth_error *error);

/* The same for snapshots; NOT_FOUND. */
int berth_id_resolve_snapshot (struct berth_host *host, const char *name, char id[BERTH_ID_SIZE],
                               struct berth_error *error);

#endif

/* account.h - the sandbox's own users and groups; the C library's are the wrong ones for a static
 * program, and load code from the sandbox. */
#ifndef BERTH_SDK_AGENT_ACCOUNT_H
#define BERTH_SDK_AGENT_ACCOUNT_H

#include "sdk/agent/agent.h"

#define ACCOUNT_GROUPS_MAXIMUM 64

struct account
{
  uid_t uid;
  gid_t gid;
  char name[64];
  char home[256];
  size_t group_count;
  gid_t groups[ACCOUNT_GROUPS_MAXIMUM];
};

/* /etc/passwd and /etc/group as they were when loaded; a missing file is an empty one. */
struct accounts
{
  struct berth_buffer passwd;
  struct berth_buffer group;
  uint32_t last_id[2]; /* what account_user_name and account_group_name answered last */
  char last_name[2][64];
  bool last_valid[2];
  bool single; /* only the agent's own ids can be had */
};

#define ACCOUNTS_AUTO __attribute__ ((cleanup (accounts_free)))

int accounts_load (const struct agent *agent, struct accounts *accounts, struct failure *failure);
void accounts_free (struct accounts *accounts);

/* USER is a name or a number, with ":GROUP" behind it where wanted; -1 with INVALID_REQUEST. */
int account_find (const struct accounts *accounts, const char *user, struct account *account,
                  struct failure *failure);

/* Ids for an owner and a group (NULL: the owner's own); unknown is PATH_REJECTED. */
int account_ids (const struct accounts *accounts, const char *owner, const char *group, uid_t *uid, gid_t *gid,
                 struct failure *failure);

/* Where a single id is mapped the kernel refuses every other one as not valid: here it is CAPABILITY_NOT_SUPPORTED of WHO. */
int account_check_ids (const struct accounts *accounts, const char *who, uid_t uid, gid_t gid, struct failure *failure);

/* NULL when the number has no name; valid until the next call of the same function. */
const char *account_user_name (struct accounts *accounts, uid_t uid);
const char *account_group_name (struct accounts *accounts, gid_t gid);

#endif

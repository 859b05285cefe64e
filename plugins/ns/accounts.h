/* accounts.h - the accounts that every sandbox has. */
#ifndef BERTH_PLUGINS_NS_ACCOUNTS_H
#define BERTH_PLUGINS_NS_ACCOUNTS_H

#include <stdint.h>

/* The user id of an account by name, or of a number below 65536; -1: there is none. */
int64_t ns_account_id (const char *user);

/* Contents of the sandbox's /etc/passwd and /etc/group. */
extern const char ns_group_file[];
#define NS_PASSWD_FILE_SIZE 1024
const char *ns_passwd_file (char text[NS_PASSWD_FILE_SIZE]);

#endif

/* accounts.c - the accounts that every sandbox has: none of the host's. */
#include "plugins/ns/accounts.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sdk/base/string.h"

static const struct
{
  const char *name;
  unsigned uid, gid;
  const char *home;
} accounts[] = {
  { "root", 0, 0, "/root" },
  { "daemon", 1, 1, "/usr/sbin" },
  { "bin", 2, 2, "/bin" },
  { "sys", 3, 3, "/dev" },
  { "mail", 8, 8, "/var/mail" },
  { "www-data", 33, 33, "/var/www" },
  { "sandbox", 1000, 1000, "/workspace" },
  { "nobody", 65534, 65534, "/nonexistent" },
};

const char ns_group_file[] = "root:x:0:\n"
                             "daemon:x:1:\n"
                             "bin:x:2:\n"
                             "sys:x:3:\n"
                             "adm:x:4:\n"
                             "tty:x:5:\n"
                             "mail:x:8:\n"
                             "www-data:x:33:\n"
                             "users:x:100:\n"
                             "sandbox:x:1000:\n"
                             "nogroup:x:65534:\n";

int64_t
ns_account_id (const char *user)
{
  int64_t number;

  for (size_t i = 0; user != NULL && i < sizeof accounts / sizeof *accounts; i++)
    if (strcmp (accounts[i].name, user) == 0)
      return accounts[i].uid;
  return user != NULL && berth_string_to_int64 (user, 0, 65535, &number) == 0 ? number : -1;
}

const char *
ns_passwd_file (char text[NS_PASSWD_FILE_SIZE])
{
  const char *shell = access ("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh";
  int used = 0;

  for (size_t i = 0; i < sizeof accounts / sizeof *accounts; i++)
    {
      bool person = accounts[i].uid == 0 || accounts[i].uid == 1000;
      used += snprintf (text + used, NS_PASSWD_FILE_SIZE - (size_t) used, "%s:x:%u:%u:%s:%s:%s\n", accounts[i].name,
                        accounts[i].uid, accounts[i].gid, accounts[i].name, accounts[i].home,
                        person ? shell : "/usr/sbin/nologin");
    }
  return text;
}

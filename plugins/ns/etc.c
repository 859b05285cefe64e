/* etc.c - /etc inside: what programs need of the host's by name, and files of our own for the rest.
 *
 * The list is for what is the same for every reader of the machine and holds no secret where it is
 * used as meant.  Accounts, names of machines, resolvers, profiles and package managers' settings
 * are not in it. */
#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "plugins/ns/accounts.h"
#include "plugins/ns/plan.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/string.h"

/* What stands below a directory of its own has that directory before it. */
static const char *const shown[] = {
  "alternatives",  "crypto-policies", "debian_version", "fonts",          "gai.conf",   "ld.so.cache",
  "ld.so.conf",    "ld.so.conf.d",    "locale.alias",   "locale.conf",    "localtime",  "magic",
  "mime.types",    "os-release",      "perl",           "protocols",      "R",          "redhat-release",
  "rpc",           "services",        "system-release", "terminfo",       "timezone",
};
static const char *const shown_below[][2] = {
  { "ssl", "certs" },
  { "ssl", "openssl.cnf" },
  { "pki/tls", "certs" },
  { "pki/tls", "openssl.cnf" },
  { "pki/ca-trust", "extracted" },
};

static void
add_file (struct ns_plan *plan, const char *path, const char *content)
{
  ns_plan_add (plan, (struct ns_step){ .kind = NS_STEP_FILE, .value = 0644, .source = content, .target = path });
}

static void
add_own_files (struct ns_plan *plan)
{
  char passwd[NS_PASSWD_FILE_SIZE];

  add_file (plan, "etc/passwd", ns_plan_text (plan, "%s", ns_passwd_file (passwd)));
  add_file (plan, "etc/group", ns_group_file);
  add_file (plan, "etc/hostname", "sandbox\n");
  add_file (plan, "etc/hosts", "127.0.0.1\tlocalhost\n127.0.1.1\tsandbox\n::1\tlocalhost ip6-localhost ip6-loopback\n");
  add_file (plan, "etc/resolv.conf", "");
  add_file (plan, "etc/host.conf", "multi on\n");
  add_file (plan, "etc/shells", "/bin/sh\n/bin/bash\n");
  add_file (plan, "etc/nsswitch.conf",
            "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nnetworks: files\n"
            "protocols: files\nservices: files\nethers: files\nrpc: files\n");
  ns_plan_add (plan, (struct ns_step){ .kind = NS_STEP_LINK, .source = "/proc/self/mounts", .target = "etc/mtab" });
}

/* Java keeps its own configuration beside its version's name. */
static void
show_java (struct ns_plan *plan)
{
  BERTH_AUTO_DIR DIR *directory = access ("/usr/lib/jvm", F_OK) == 0 ? opendir ("/etc") : NULL;

  for (struct dirent *entry; directory != NULL && (entry = readdir (directory)) != NULL;)
    if (berth_string_starts_with (entry->d_name, "java-"))
      ns_plan_show (plan, ns_plan_text (plan, "/etc/%s", entry->d_name), ns_plan_text (plan, "etc/%s", entry->d_name));
}

void
ns_plan_etc (struct ns_plan *plan)
{
  static const char *const directories[] = { "etc", "etc/ssl", "etc/pki", "etc/pki/tls", "etc/pki/ca-trust" };

  for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
    ns_plan_add (plan, (struct ns_step){ .kind = NS_STEP_DIRECTORY, .value = 0755, .target = directories[i] });
  add_own_files (plan);
  for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
    ns_plan_show (plan, ns_plan_text (plan, "/etc/%s", shown[i]), ns_plan_text (plan, "etc/%s", shown[i]));
  for (size_t i = 0; i < sizeof shown_below / sizeof *shown_below; i++)
    ns_plan_show (plan, ns_plan_text (plan, "/etc/%s/%s", shown_below[i][0], shown_below[i][1]),
                  ns_plan_text (plan, "etc/%s/%s", shown_below[i][0], shown_below[i][1]));
  show_java (plan);
}

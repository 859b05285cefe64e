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

static const char *const shown[] = {
  "/etc/alternatives", "/etc/crypto-policies", "/etc/debian_version", "/etc/fonts", "/etc/gai.conf",
  "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/locale.alias", "/etc/locale.conf",
  "/etc/localtime", "/etc/magic", "/etc/mime.types", "/etc/os-release", "/etc/perl", "/etc/protocols", "/etc/R",
  "/etc/redhat-release", "/etc/rpc", "/etc/services", "/etc/system-release", "/etc/terminfo", "/etc/timezone",
  "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs", "/etc/pki/tls/openssl.cnf",
  "/etc/pki/ca-trust/extracted",
};

static void
add_file (struct ns_plan *plan, const char *path, const char *content)
{
  ns_plan_add (plan, (struct ns_step){ .kind = NS_STEP_FILE, .value = 0644, .source = content, .target = path });
}

static void
add_own_files (struct ns_plan *plan, const char *resolver)
{
  char passwd[NS_PASSWD_FILE_SIZE];

  add_file (plan, "etc/passwd", ns_plan_text (plan, "%s", ns_passwd_file (passwd)));
  add_file (plan, "etc/group", ns_group_file);
  add_file (plan, "etc/hostname", "sandbox\n");
  add_file (plan, "etc/hosts", "127.0.0.1\tlocalhost\n127.0.1.1\tsandbox\n::1\tlocalhost ip6-localhost ip6-loopback\n");
  add_file (plan, "etc/resolv.conf", resolver != NULL ? ns_plan_text (plan, "nameserver %s\n", resolver) : "");
  add_file (plan, NS_EMPTY_FILE, "");
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
      ns_plan_show (plan, ns_plan_text (plan, "/etc/%s", entry->d_name));
}

void
ns_plan_etc (struct ns_plan *plan, const char *resolver)
{
  static const char *const directories[] = { "etc", "etc/ssl", "etc/pki", "etc/pki/tls", "etc/pki/ca-trust" };

  for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
    ns_plan_add (plan, (struct ns_step){ .kind = NS_STEP_DIRECTORY, .value = 0755, .target = directories[i] });
  add_own_files (plan, resolver);
  for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
    ns_plan_show (plan, shown[i]);
  show_java (plan);
}

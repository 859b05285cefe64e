/* network.c - what a sandbox reaches that is allowed a network, and what it does not.  It runs in a world of its
 * own: see in-world. */
#include <CUnit/CUnit.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugins/ns/tests/host.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/clock.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"

#define WORLD "203.0.113.1"
#define WORLD_6 "2001:db8:9::1"
#define AT_ONCE 20
#define KILLS 20

/* How long an answer may take, and how long silence is listened to, in ms. */
#define PATIENCE 30000
#define SILENCE 400

/* Prints who answers at ADDRESS and PORT within so many ms, or nothing.  With DEVICE the socket is bound to
 * that, which goes around every route. */
static const char probe[]
    = "use Socket qw(:all); my ($how, $to, $port, $ms, $device) = @ARGV; my $six = $to =~ /:/;"
      "my $name = $how eq 'unix' ? pack_sockaddr_un (\"\\0$to\")"
      " : $six ? pack_sockaddr_in6 ($port, inet_pton (AF_INET6, $to)) : pack_sockaddr_in ($port, inet_pton (AF_INET, $to));"
      "socket (my $s, $how eq 'unix' ? AF_UNIX : $six ? AF_INET6 : AF_INET, $how eq 'udp' ? SOCK_DGRAM : SOCK_STREAM, 0) or die;"
      "setsockopt ($s, SOL_SOCKET, $_, pack ('qq', int ($ms / 1000), $ms % 1000 * 1000)) for SO_SNDTIMEO, SO_RCVTIMEO;"
      "if ($device) { setsockopt ($s, SOL_SOCKET, 25, $device) or die \"device: $!\"; }"
      "connect ($s, $name) or exit; send ($s, 'hello', MSG_NOSIGNAL) if $how eq 'udp'; recv ($s, my $said, 100, 0); print $said;";

static const char *
quoted_probe (const char *how, const char *address, int port, int ms, const char *device, char **text)
{
  *text = berth_string_format ("perl -e \"$PROBE\" %s %s %d %d %s", how, address, port, ms, device);
  return *text;
}

/* Who answers inside; "" for nobody. */
static const char *
inside (struct guest *guest, const char *how, const char *address, int port, const char *device)
{
  BERTH_AUTO_FREE char *text = NULL;

  return guest_output (guest, quoted_probe (how, address, port, PATIENCE, device, &text));
}

static bool
is_silent (struct guest *guest, const char *how, const char *address, int port, const char *device)
{
  BERTH_AUTO_FREE char *text = NULL;

  return guest_output (guest, quoted_probe (how, address, port, SILENCE, device, &text))[0] == '\0';
}

/* Who answers this machine. */
static const char *
outside (const char *how, const char *address, int port)
{
  static char said[64];
  BERTH_AUTO_FREE char *text = NULL;
  FILE *pipe = popen (quoted_probe (how, address, port, PATIENCE, "", &text), "r");

  said[0] = '\0';
  if (pipe != NULL)
    {
      said[fread (said, 1, sizeof said - 1, pipe)] = '\0';
      pclose (pipe);
    }
  return said;
}

static struct berth_policy
policy_of (uint32_t action)
{
  return (struct berth_policy) { .struct_size = sizeof (struct berth_policy), .default_action = action };
}

/* HOST with GUEST, or with one more of it.  ACTION 0 asks for nothing. */
static bool
start_in (struct host *host, struct guest *guest, uint32_t action, bool (*make) (struct host *, struct guest *, const struct berth_spec *))
{
  static const struct berth_pair environment[] = { { .name = "PROBE", .value = probe } };
  const struct berth_policy policy = policy_of (action);
  struct berth_spec spec = guest_spec ();

  spec.asks |= BERTH_SPEC_ENVIRONMENT;
  spec.environment = environment;
  spec.environment_count = 1;
  if (action != 0)
    {
      spec.asks |= BERTH_SPEC_NETWORK;
      spec.must |= BERTH_SPEC_NETWORK;
      spec.network = &policy;
    }
  return make (host, guest, &spec);
}

static bool
start (struct host *host, struct guest *guest, uint32_t action)
{
  return start_in (host, guest, action, guest_alone);
}

static int
take_policy (void *context, const struct berth_policy *policy)
{
  *(uint32_t *) context = policy->default_action;
  return 0;
}

static uint32_t
policy_in_force (struct guest *guest)
{
  const struct berth_native native = { .struct_size = sizeof native, .id = guest->id };
  struct host_call call;
  uint32_t action = 0;
  const struct berth_policy_sink sink = { .struct_size = sizeof sink, .context = &action, .policy = take_policy };

  host_call_start (guest->host, &call);
  CU_ASSERT_EQUAL (guest->host->backend->network->read_policy (&call.call, guest->host->state, &native, &sink), 0);
  return action;
}

/* ---- processes ---- */

static long
recorded (struct guest *guest, const char *name)
{
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/boxes/%s/meta", guest->host->directory[0], guest->id);
  BERTH_AUTO_FREE char *line = berth_string_format ("\n%s=", name);
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  long value = 0;

  if (berth_fs_read (AT_FDCWD, path, &text, 1u << 20) == 0)
    for (const char *at = berth_buffer_string (&text); (at = strstr (at, line)) != NULL; at++)
      value = strtol (at + strlen (line), NULL, 10);
  return value;
}

/* State and parent of a process; ' ' when there is none. */
static char
state_of (long pid, long *parent)
{
  BERTH_AUTO_FREE char *path = berth_string_format ("/proc/%ld/stat", pid);
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  char state = ' ';

  *parent = 0;
  if (berth_fs_read (AT_FDCWD, path, &text, 4096) < 0)
    return ' ';
  const char *end = strrchr (berth_buffer_string (&text), ')');
  if (end != NULL)
    sscanf (end + 1, " %c %ld", &state, parent);
  return state;
}

static bool
is_alive (long pid)
{
  long parent;
  char state = state_of (pid, &parent);

  return state != ' ' && state != 'Z' && state != 'X';
}

static long
child_of (long pid)
{
  BERTH_AUTO_DIR DIR *directory = opendir ("/proc");

  for (struct dirent *entry; directory != NULL && (entry = readdir (directory)) != NULL;)
    {
      long parent, child = strtol (entry->d_name, NULL, 10);
      if (child > 0 && state_of (child, &parent) != ' ' && parent == pid)
        return child;
    }
  return 0;
}

/* When waiting for a state has an end. */
static int64_t
patience (void)
{
  return berth_clock_monotonic_ms () + PATIENCE;
}

static void
assert_dies (long pid)
{
  for (int64_t until = patience (); is_alive (pid) && berth_clock_monotonic_ms () < until;)
    berth_clock_sleep_ms (10);
  CU_ASSERT_FALSE (is_alive (pid));
}

/* From here on all that comes from this process stays below it, as a child or an orphan. */
static void
take_orphans_in (void)
{
  CU_ASSERT_EQUAL (prctl (PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
}

static bool
is_ours (long pid)
{
  while (pid > 1 && pid != getpid ())
    if (state_of (pid, &pid) == ' ')
      return false;
  return pid == getpid ();
}

/* How many guards and pastas there are that came from here, after take_orphans_in, and are alive. */
static int
count_beside (void)
{
  BERTH_AUTO_DIR DIR *directory = opendir ("/proc");
  int count = 0;

  for (struct dirent *entry; directory != NULL && (entry = readdir (directory)) != NULL;)
    {
      BERTH_AUTO_FREE char *name = berth_string_format ("%s/comm", entry->d_name);
      BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
      long pid = strtol (entry->d_name, NULL, 10);
      if (pid <= 0 || berth_fs_read (dirfd (directory), name, &text, 64) < 0)
        continue;
      bool beside = strncmp (berth_buffer_string (&text), "berth-guard", 11) == 0
                    || strncmp (berth_buffer_string (&text), "pas", 3) == 0;
      count += beside && is_alive (pid) && is_ours (pid);
    }
  return count;
}

/* ---- what is reached ---- */

static void
allow_reaches_a_server (void)
{
  struct host host;
  struct guest guest;

  take_orphans_in ();
  if (!start (&host, &guest, BERTH_ALLOW))
    return;
  /* The very first command. */
  CU_ASSERT_STRING_EQUAL (inside (&guest, "tcp", WORLD, 80, ""), "world");
  CU_ASSERT_STRING_EQUAL (inside (&guest, "udp", WORLD, 7, ""), "world");
  CU_ASSERT_STRING_EQUAL (inside (&guest, "tcp", WORLD_6, 80, ""), "world");
  CU_ASSERT_STRING_EQUAL (inside (&guest, "udp", WORLD_6, 7, ""), "world");
  CU_ASSERT_EQUAL (policy_in_force (&guest), BERTH_ALLOW);
  CU_ASSERT_EQUAL (count_beside (), 2);
  CU_ASSERT_TRUE (guest.effective.enforced & BERTH_SPEC_NETWORK);
  CU_ASSERT_TRUE (guest.effective.capabilities & BERTH_CAP_NETWORK_POLICY);
  guest_alone_end (&host, &guest);
}

static void
check_denied (uint32_t action)
{
  struct host host;
  struct guest guest;

  if (!start (&host, &guest, action))
    return;
  CU_ASSERT_TRUE (is_silent (&guest, "tcp", WORLD, 80, ""));
  CU_ASSERT_TRUE (is_silent (&guest, "udp", WORLD, 7, ""));
  CU_ASSERT_TRUE (is_silent (&guest, "tcp", WORLD_6, 80, ""));
  CU_ASSERT_STRING_EQUAL (guest_output (&guest, "cat /etc/resolv.conf; getent ahostsv4 some.test"), "");
  CU_ASSERT_EQUAL (policy_in_force (&guest), BERTH_DENY);
  CU_ASSERT_EQUAL (recorded (&guest, "guard"), 0);
  guest_alone_end (&host, &guest);
}

static void
deny_and_silence_reach_nothing (void)
{
  CU_ASSERT_STRING_EQUAL (outside ("tcp", WORLD, 80), "world");
  CU_ASSERT_STRING_EQUAL (outside ("udp", WORLD, 7), "world");
  CU_ASSERT_STRING_EQUAL (outside ("tcp", WORLD_6, 80), "world");
  check_denied (BERTH_DENY);
  check_denied (0);
}

/* All at once, since silence takes its time. */
static void
check_closed (struct guest *guest, const char *const *addresses)
{
  static const char *const ways[] = { "tcp %s 80 400", "tcp %s 80 400 eth0", "udp %s 7 400", "udp %s 7 400 eth0" };
  BERTH_AUTO_BUFFER struct berth_buffer script = { 0 };

  for (; *addresses != NULL; addresses++)
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
      {
        BERTH_AUTO_FREE char *way = berth_string_format (ways[i], *addresses);
        berth_buffer_appendf (&script, "perl -e \"$PROBE\" %s | sed 's/^/%s: /' &\n", way, way);
      }
  berth_buffer_append_string (&script, "wait");
  CU_ASSERT_STRING_EQUAL (guest_output (guest, berth_buffer_string (&script)), "");
}

static void
allow_does_not_reach_this_machine (void)
{
  static const char *const own[]
      = { "127.0.0.1", "127.1.2.3", "203.0.113.2", "198.51.100.7", "::1", "2001:db8:9::2", NULL };
  static const char *const metadata[] = { "169.254.169.254", NULL };
  struct host host;
  struct guest guest;

  if (!start (&host, &guest, BERTH_ALLOW))
    return;
  CU_ASSERT_STRING_EQUAL (inside (&guest, "tcp", WORLD, 80, "eth0"), "world");
  CU_ASSERT_STRING_EQUAL (inside (&guest, "udp", WORLD, 7, "eth0"), "world");
  for (size_t i = 0; own[i] != NULL; i++)
    CU_ASSERT_STRING_EQUAL (outside ("tcp", own[i], 80), "host");
  CU_ASSERT_STRING_EQUAL (outside ("tcp", metadata[0], 80), "world");
  check_closed (&guest, own);
  check_closed (&guest, metadata);
  guest_alone_end (&host, &guest);
}

static void
sockets_of_the_host_do_not_answer (void)
{
  struct host host;
  struct guest guest;

  if (!start (&host, &guest, BERTH_ALLOW))
    return;
  CU_ASSERT_STRING_EQUAL (outside ("unix", "berth-test-peer", 0), "host");
  CU_ASSERT_TRUE (is_silent (&guest, "unix", "berth-test-peer", 0, ""));
  CU_ASSERT_STRING_EQUAL (guest_output (&guest, "ls /dev/net /dev/tun /dev/tap* 2>/dev/null"), "");
  guest_alone_end (&host, &guest);
}

static void
names_are_resolved_by_the_machine (void)
{
  struct host host;
  struct guest guest;

  if (!start (&host, &guest, BERTH_ALLOW))
    return;
  CU_ASSERT_STRING_EQUAL (guest_output (&guest, "getent ahostsv4 some.test | grep STREAM | cut -d' ' -f1"), WORLD);
  /* Not its address, which means something else inside. */
  CU_ASSERT_STRING_EQUAL (guest_output (&guest, "cat /etc/resolv.conf"), "nameserver 192.0.0.8");
  CU_ASSERT_STRING_EQUAL (guest_output (&guest, "cat /proc/cmdline /proc/keys"), "");
  guest_alone_end (&host, &guest);
}

#define INSIDE_PORT 8088

/* Leaves a listener in the sandbox on all its addresses that says "inside".  It answers its own sandbox, else
 * nothing is shown by others who hear nothing. */
static void
listen_inside (struct guest *guest, const char *address)
{
  CU_ASSERT_EQUAL (guest_run (guest, NULL,
                              "perl -e 'use Socket; socket (my $l, AF_INET, SOCK_STREAM, 0);"
                              " bind ($l, sockaddr_in (8088, INADDR_ANY)) && listen ($l, 9) or exit 9;"
                              " exit if fork; close STDOUT; close STDERR;"
                              " while (accept (my $c, $l)) { send ($c, \"inside\", 0); close $c }'",
                              NULL, NULL, NULL),
                   0);
  CU_ASSERT_STRING_EQUAL (inside (guest, "tcp", "127.0.0.1", INSIDE_PORT, ""), "inside");
  if (address != NULL)
    CU_ASSERT_STRING_EQUAL (inside (guest, "tcp", address, INSIDE_PORT, ""), "inside");
}

/* The address of IPv4 that GUEST calls its own on the way out. */
static void
own_address (struct guest *guest, char address[64])
{
  snprintf (address, 64, "%s",
            guest_output (guest, "perl -e 'use Socket; socket (my $s, AF_INET, SOCK_DGRAM, 0);"
                                 " connect ($s, sockaddr_in (7, inet_aton (\"" WORLD "\"))) or die $!;"
                                 " print inet_ntoa ((sockaddr_in (getsockname ($s)))[1])'"));
  CU_ASSERT_PTR_NOT_NULL (strchr (address, '.'));
}

static void
sandboxes_do_not_reach_each_other (void)
{
  struct host host;
  struct guest guest, other;
  char address[64];

  if (!start (&host, &guest, BERTH_ALLOW))
    return;
  if (start_in (&host, &other, BERTH_ALLOW, guest_create))
    {
      own_address (&guest, address);
      listen_inside (&guest, address);
      CU_ASSERT_STRING_EQUAL (inside (&other, "tcp", WORLD, 80, ""), "world");
      for (const char *const *at = (const char *const[]) { address, "127.0.0.1", "203.0.113.2", "198.51.100.7", WORLD, NULL }; *at != NULL; at++)
        {
          CU_ASSERT_TRUE (is_silent (&other, "tcp", *at, INSIDE_PORT, ""));
          CU_ASSERT_TRUE (is_silent (&other, "tcp", *at, INSIDE_PORT, "eth0"));
        }
      /* It listened all the time. */
      CU_ASSERT_STRING_EQUAL (inside (&guest, "tcp", address, INSIDE_PORT, ""), "inside");
      guest_end (&other);
    }
  guest_alone_end (&host, &guest);
}

static void
nobody_comes_in (void)
{
  struct host host;
  struct guest guest;

  if (!start (&host, &guest, BERTH_ALLOW))
    return;
  listen_inside (&guest, NULL);
  for (const char *const *at = (const char *const[]) { "127.0.0.1", "203.0.113.2", "198.51.100.7", NULL }; *at != NULL; at++)
    CU_ASSERT_STRING_EQUAL (outside ("tcp", *at, INSIDE_PORT), "");
  BERTH_AUTO_FREE char *socket = berth_string_format ("grep -c ':1F98 ' /proc/net/tcp");
  FILE *pipe = popen (socket, "r");
  char count[16] = "";
  CU_ASSERT_PTR_NOT_NULL (pipe != NULL ? fgets (count, sizeof count, pipe) : NULL);
  if (pipe != NULL)
    pclose (pipe);
  CU_ASSERT_STRING_EQUAL (count, "0\n");
  CU_ASSERT_STRING_EQUAL (inside (&guest, "tcp", "127.0.0.1", INSIDE_PORT, ""), "inside");
  guest_alone_end (&host, &guest);
}

/* ---- what is refused ---- */

static void
check_refused (struct host *host, const struct berth_spec *spec, uint32_t code, const char *hint)
{
  struct guest guest = { 0 };
  struct host_call call;

  host_call_start (host, &call);
  CU_ASSERT_NOT_EQUAL (guest_create_in (host, &guest, spec, &call), 0);
  CU_ASSERT_EQUAL (call.code, code);
  CU_ASSERT_PTR_NOT_NULL (strstr (call.hint, hint));
  CU_ASSERT_EQUAL (guest.created, 0);
  CU_ASSERT_FALSE (guest_is_present (&guest));
}

static void
what_cannot_be_given_is_refused (void)
{
  static const struct berth_rule rules[] = { { BERTH_ALLOW, BERTH_TARGET_HOST, "example.org", 443, 443 } };
  static const uint32_t ports[] = { 80 };
  struct berth_policy policy = policy_of (BERTH_ALLOW);
  struct berth_spec spec = guest_spec ();
  struct host host;

  if (!host_start (&host))
    return;
  spec.asks |= BERTH_SPEC_NETWORK;
  spec.network = &policy;
  BERTH_AUTO_FREE char *path = strdup (getenv ("PATH"));
  setenv ("PATH", "/nonexistent:.", 1);
  check_refused (&host, &spec, BERTH_E_CONFIGURATION, "install passt");
  setenv ("PATH", path, 1);
  policy.default_action = BERTH_LEARN;
  check_refused (&host, &spec, BERTH_E_CAPABILITY_NOT_SUPPORTED, "deny or allow");
  policy.default_action = BERTH_DENY;
  policy.rules = (struct berth_array) { rules, 1, sizeof *rules };
  check_refused (&host, &spec, BERTH_E_CAPABILITY_NOT_SUPPORTED, "deny or allow");
  policy = policy_of (BERTH_ALLOW);
  policy.asks = BERTH_POLICY_RUN_TIME;
  check_refused (&host, &spec, BERTH_E_CAPABILITY_NOT_SUPPORTED, "");
  policy.asks = 0;
  spec.asks |= BERTH_SPEC_PORTS;
  spec.ports = ports;
  spec.port_count = 1;
  check_refused (&host, &spec, BERTH_E_CAPABILITY_NOT_SUPPORTED, "");
  host_stop (&host);
}

/* Creates GUEST with SCRIPT for a pasta.  The subordinate ids of an ordinary user do not get into his home. */
static int
create_with (struct host *host, struct guest *guest, const char *script, struct host_call *call)
{
  const struct berth_policy policy = policy_of (BERTH_ALLOW);
  struct berth_spec spec = guest_spec ();
  BERTH_AUTO_FREE char *path = strdup (getenv ("PATH"));
  const char *for_all = getenv ("BERTH_TEST_FOR_ALL"), *place = for_all != NULL ? for_all : host->top;
  BERTH_AUTO_FREE char *file = berth_string_format ("%s/pasta", place);

  spec.asks |= BERTH_SPEC_NETWORK;
  spec.network = &policy;
  int fd = open (file, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
  CU_ASSERT_TRUE (dprintf (fd, "#!/bin/sh\n%s\n", script) > 0);
  close (fd);
  CU_ASSERT_EQUAL (chmod (host->top, 0755), 0);
  setenv ("PATH", place, 1);
  host_call_start (host, call);
  int result = guest_create_in (host, guest, &spec, call);
  setenv ("PATH", path, 1);
  unlink (file);
  return result;
}

static void
a_pasta_that_fails_leaves_nothing (void)
{
  struct host host;
  struct guest guest = { 0 };
  struct host_call call;

  if (!host_start (&host))
    return;
  CU_ASSERT_NOT_EQUAL (create_with (&host, &guest, "echo no tap today >&2\nexit 1", &call), 0);
  CU_ASSERT_EQUAL (call.code, BERTH_E_CONFIGURATION);
  CU_ASSERT_PTR_NOT_NULL (strstr (call.message, "no tap today"));
  CU_ASSERT_FALSE (guest_is_present (&guest));
  host_stop (&host);
}

/* As those of 2024 do. */
static void
a_pasta_may_close_what_it_inherits (void)
{
  struct host host;
  struct guest guest = { 0 };
  struct host_call call;

  if (!host_start (&host))
    return;
  int result = create_with (&host, &guest, "exec 5>&- && exec /usr/bin/pasta \"$@\"", &call);
  CU_ASSERT_EQUAL (result, 0);
  if (result == 0)
    {
      CU_ASSERT_TRUE (is_alive (child_of (recorded (&guest, "guard"))));
      guest_end (&guest);
    }
  host_stop (&host);
}

/* ---- lives ---- */

static void
the_guard_takes_pasta_along (void)
{
  struct host host;
  struct guest guest;

  if (!start (&host, &guest, BERTH_ALLOW))
    return;
  long guard = recorded (&guest, "guard"), pasta = child_of (guard);
  CU_ASSERT_TRUE (guard > 0 && pasta > 0 && is_alive (pasta));
  kill ((pid_t) guard, SIGKILL);
  assert_dies (guard);
  assert_dies (pasta);
  /* It fails closed, and says so. */
  CU_ASSERT_TRUE (is_silent (&guest, "tcp", WORLD, 80, ""));
  CU_ASSERT_EQUAL (policy_in_force (&guest), BERTH_DENY);
  CU_ASSERT_TRUE (guest_is_running (&guest));
  guest_alone_end (&host, &guest);
}

static void
pasta_may_die (void)
{
  struct host host;
  struct guest guest;

  if (!start (&host, &guest, BERTH_ALLOW))
    return;
  long guard = recorded (&guest, "guard"), pasta = child_of (guard);
  kill ((pid_t) pasta, SIGKILL);
  assert_dies (pasta);
  assert_dies (guard);
  CU_ASSERT_TRUE (is_silent (&guest, "tcp", WORLD, 80, ""));
  CU_ASSERT_EQUAL (guest_destroy (&guest), BERTH_GONE);
  guest_alone_end (&host, &guest);
}

static void
both_end_with_the_sandbox (void)
{
  struct host host;
  struct guest guest;

  if (!start (&host, &guest, BERTH_ALLOW))
    return;
  long guard = recorded (&guest, "guard"), pasta = child_of (guard);
  guest_kill_agent (&guest);
  assert_dies (guard);
  assert_dies (pasta);
  guest_alone_end (&host, &guest);
  if (!start (&host, &guest, BERTH_ALLOW))
    return;
  guard = recorded (&guest, "guard");
  pasta = child_of (guard);
  CU_ASSERT_EQUAL (guest_destroy (&guest), BERTH_GONE);
  /* When it is called gone, not some time after. */
  CU_ASSERT_FALSE (is_alive (guard));
  CU_ASSERT_FALSE (is_alive (pasta));
  guest_alone_end (&host, &guest);
}

static void
a_start_brings_it_back (void)
{
  struct host host;
  struct guest guest;
  struct host_call call;

  if (!start (&host, &guest, BERTH_ALLOW))
    return;
  long guard = recorded (&guest, "guard"), pasta = child_of (guard);
  if (guest.effective.capabilities & BERTH_CAP_PAUSE)
    {
      CU_ASSERT_EQUAL (guest_pause (&guest, &call), 0);
      CU_ASSERT_EQUAL (guest_resume (&guest, &call), 0);
      CU_ASSERT_STRING_EQUAL (inside (&guest, "tcp", WORLD, 80, ""), "world");
    }
  CU_ASSERT_EQUAL (guest_stop (&guest, &call), 0);
  CU_ASSERT_FALSE (is_alive (guard));
  CU_ASSERT_FALSE (is_alive (pasta));
  CU_ASSERT_EQUAL (policy_in_force (&guest), BERTH_ALLOW);
  CU_ASSERT_EQUAL (guest_start (&guest, &call), 0);
  CU_ASSERT_STRING_EQUAL (inside (&guest, "tcp", WORLD, 80, ""), "world");
  guest_alone_end (&host, &guest);
}

struct worker
{
  pthread_t thread;
  struct host *host;
  struct guest guest;
  bool made;
};

static void *
work (void *context)
{
  struct worker *worker = context;
  const struct berth_policy policy = policy_of (BERTH_ALLOW);
  struct berth_spec spec = guest_spec ();
  struct host_call call;

  host_call_start (worker->host, &call);
  spec.asks |= BERTH_SPEC_NETWORK;
  spec.network = &policy;
  worker->made = guest_create_in (worker->host, &worker->guest, &spec, &call) == 0;
  if (!worker->made)
    fprintf (stderr, "create: %s (%s)\n", call.message, call.hint);
  return NULL;
}

static void
many_at_once (void)
{
  static struct worker workers[AT_ONCE];
  long pastas[AT_ONCE] = { 0 };
  struct host host;

  if (!host_start (&host))
    return;
  for (int i = 0; i < AT_ONCE; i++)
    {
      workers[i] = (struct worker) { .host = &host };
      CU_ASSERT_EQUAL (pthread_create (&workers[i].thread, NULL, work, &workers[i]), 0);
    }
  for (int i = 0; i < AT_ONCE; i++)
    pthread_join (workers[i].thread, NULL);
  for (int i = 0; i < AT_ONCE; i++)
    {
      CU_ASSERT_TRUE (workers[i].made);
      if (!workers[i].made)
        continue;
      pastas[i] = child_of (recorded (&workers[i].guest, "guard"));
      CU_ASSERT_TRUE (is_alive (pastas[i]));
      guest_end (&workers[i].guest);
      CU_ASSERT_FALSE (is_alive (pastas[i]));
    }
  host_stop (&host);
}

static void
a_killed_create_leaves_neither (void)
{
  const struct berth_policy policy = policy_of (BERTH_ALLOW);
  struct berth_spec spec = guest_spec ();
  struct host host;
  struct guest control;

  take_orphans_in ();
  if (!start (&host, &control, BERTH_ALLOW))
    return;
  CU_ASSERT_EQUAL (count_beside (), 2);
  guest_end (&control);
  spec.asks |= BERTH_SPEC_NETWORK;
  spec.network = &policy;
  for (int i = 0; i < KILLS; i++)
    {
      struct guest guest = { .host = &host };
      struct host_call call;
      snprintf (guest.id, sizeof guest.id, "sb-test%d.k%d", (int) getpid (), i);
      pid_t pid = fork ();
      if (pid == 0)
        {
          host_call_start (&host, &call);
          guest_create_in (&host, &guest, &spec, &call);
          pause ();
          _exit (0);
        }
      berth_clock_sleep_ms (i * 6);
      kill (pid, SIGKILL);
      waitpid (pid, NULL, 0);
      CU_ASSERT_EQUAL (guest_destroy (&guest), BERTH_GONE);
      CU_ASSERT_FALSE (guest_is_present (&guest));
    }
  /* One that was killed before it wrote its guard down leaves that to end by itself. */
  for (int64_t until = patience (); count_beside () > 0 && berth_clock_monotonic_ms () < until;)
    berth_clock_sleep_ms (10);
  CU_ASSERT_EQUAL (count_beside (), 0);
  while (waitpid (-1, NULL, WNOHANG) > 0)
    continue;
  host_stop (&host);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "N01 N02 allow reaches a server, with the first command", allow_reaches_a_server },
    { "N01 deny and silence reach nothing", deny_and_silence_reach_nothing },
    { "N01 allow does not reach this machine or its metadata", allow_does_not_reach_this_machine },
    { "D-143 sockets of the host do not answer, and no device is there", sockets_of_the_host_do_not_answer },
    { "N01 names are resolved by the machine", names_are_resolved_by_the_machine },
    { "N01 sandboxes do not reach each other", sandboxes_do_not_reach_each_other },
    { "N11 nobody comes in", nobody_comes_in },
    { "N02 N06 N11 what cannot be given is refused", what_cannot_be_given_is_refused },
    { "L06 a pasta that fails leaves nothing", a_pasta_that_fails_leaves_nothing },
    { "N01 a pasta may close what it inherits", a_pasta_may_close_what_it_inherits },
    { "L06 L27 D-113 a killed create leaves neither guard nor pasta", a_killed_create_leaves_neither },
    { "L08 the guard takes pasta along, and it fails closed", the_guard_takes_pasta_along },
    { "L08 pasta may die", pasta_may_die },
    { "L08 L09 D-113 both end with the sandbox", both_end_with_the_sandbox },
    { "L21 L22 a pause keeps it, a start brings it back", a_start_brings_it_back },
    { "L14 many at once", many_at_once },
    { NULL, NULL },
  };

  if (getenv ("BERTH_TEST_WORLD") == NULL)
    {
      printf ("SKIP ns: network: runs in a world of its own (in-world)\n0 passed, 0 failed, 1 skipped\n");
      return 77;
    }
  setenv ("PROBE", probe, 1);
  return berth_test_main ("ns: network", tests);
}

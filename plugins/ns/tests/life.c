/* life.c - beginnings and ends of sandboxes of ns, the violent ones too. */
#include <CUnit/CUnit.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugins/ns/tests/host.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/clock.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"
#include "sdk/base/tests/runner.h"

#define CYCLES 50
#define KILLS 40
#define DISK_KILLS 24
#define AT_ONCE 20

static int
count_fds (void)
{
  BERTH_AUTO_DIR DIR *fds = opendir ("/proc/self/fd");
  int count = 0;

  for (; fds != NULL && readdir (fds) != NULL;)
    count++;
  return count;
}

static int
count_entries (const struct host *host, const char *below)
{
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/%s", host->top, below);
  BERTH_AUTO_DIR DIR *directory = opendir (path);
  int count = 0;

  for (struct dirent *entry; directory != NULL && (entry = readdir (directory)) != NULL;)
    count += entry->d_name[0] != '.';
  return count;
}

/* Nothing of the host's own is on the machine: in its directories, among mounts, cgroups, processes. */
static void
assert_nothing_left (struct host *host)
{
  BERTH_AUTO_BUFFER struct berth_buffer state = { 0 };
  char mine[32];

  snprintf (mine, sizeof mine, "sb-test%d.", (int) getpid ());
  machine_state (mine, &state);
  if (strstr (berth_buffer_string (&state), mine) != NULL)
    fprintf (stderr, "%s\n", berth_buffer_string (&state));
  CU_ASSERT_PTR_NULL (strstr (berth_buffer_string (&state), mine));
  CU_ASSERT_PTR_NULL (strstr (berth_buffer_string (&state), host->top));
  CU_ASSERT_EQUAL (count_entries (host, "state/boxes"), 0);
  CU_ASSERT_EQUAL (count_entries (host, "state/ids"), 0);
  CU_ASSERT_EQUAL (count_entries (host, "run"), 0);
}

static bool
ends_within (struct guest *guest, int64_t milliseconds)
{
  int64_t end = berth_clock_monotonic_ms () + milliseconds;

  while (guest_is_running (guest))
    {
      if (berth_clock_monotonic_ms () > end)
        return false;
      berth_clock_sleep_ms (20);
    }
  return true;
}

static void
nothing_is_left_after_many (void)
{
  const struct berth_spec spec = guest_spec ();
  struct host host;
  struct guest guest;

  if (!host_start (&host))
    return;
  int before = 0;
  for (int i = 0; i < CYCLES; i++)
    {
      if (!guest_create (&host, &guest, &spec))
        break;
      CU_ASSERT_EQUAL (guest_run (&guest, NULL, "exit 7", NULL, NULL, NULL), 7);
      guest_end (&guest);
      CU_ASSERT_FALSE (guest_is_present (&guest));
      if (i == 0)
        before = count_fds ();
    }
  CU_ASSERT_EQUAL (count_fds (), before);
  assert_nothing_left (&host);
  host_stop (&host);
}

/* A whole life in a child of the test, which dies at some moment of it. */
static void
die_while_creating (struct host *host, const struct berth_spec *spec, int64_t after_us)
{
  struct guest guest = { 0 };
  int status;

  snprintf (guest.id, sizeof guest.id, "sb-test%d.k%lld", (int) getpid (), (long long) after_us);
  guest.host = host;
  pid_t pid = fork ();
  if (pid == 0)
    {
      struct host_call call;
      host_call_start (host, &call);
      guest_create_in (host, &guest, spec, &call);
      pause ();
      _exit (0);
    }
  usleep ((useconds_t) after_us);
  kill (pid, SIGKILL);
  waitpid (pid, &status, 0);
  CU_ASSERT_EQUAL (guest_destroy (&guest), BERTH_GONE);
  CU_ASSERT_FALSE (guest_is_present (&guest));
}

static void
a_killed_create_leaves_nothing_that_destroy_misses (void)
{
  const struct berth_spec spec = guest_spec ();
  struct host host;

  if (!host_start (&host))
    return;
  for (int i = 0; i < KILLS; i++)
    die_while_creating (&host, &spec, i * 250);
  assert_nothing_left (&host);
  host_stop (&host);
}

/* The moments go over the making of the file system, its first mount and the start. */
static void
a_killed_create_leaves_no_loop_device (void)
{
  struct berth_spec spec = guest_spec ();
  struct host host;

  spec.asks = BERTH_SPEC_DISK;
  spec.disk_bytes = 32u << 20;
  /* An ordinary user is refused such a disk, as ordinary.c shows. */
  if (geteuid () != 0)
    return;
  if (access ("/dev/loop-control", W_OK) < 0 || access ("/usr/sbin/mkfs.ext4", X_OK) < 0)
    {
      berth_test_skip ("this machine has no loop devices or no mkfs.ext4");
      return;
    }
  if (!host_start (&host))
    return;
  for (int i = 0; i < DISK_KILLS; i++)
    die_while_creating (&host, &spec, i * 4000);
  CU_ASSERT_EQUAL (machine_loops (&host), 0);
  assert_nothing_left (&host);
  host_stop (&host);
}

static void
a_failing_create_leaves_nothing (void)
{
  struct berth_spec spec = guest_spec ();
  struct host host;
  struct host_call call;
  struct guest guest;
  char agent[sizeof host.agent];

  if (!host_start (&host))
    return;
  memcpy (agent, host.agent, sizeof agent);
  static const char *const agents[] = { "/nonexistent/agent", "/etc/hostname", "/bin/true" };
  for (size_t i = 0; i < sizeof agents / sizeof *agents; i++)
    {
      guest = (struct guest){ 0 };
      snprintf (host.agent, sizeof host.agent, "%s", agents[i]);
      host_call_start (&host, &call);
      CU_ASSERT_EQUAL (guest_create_in (&host, &guest, &spec, &call), -1);
      CU_ASSERT (call.code == BERTH_E_CONFIGURATION || call.code == BERTH_E_UNREACHABLE);
      CU_ASSERT (call.message[0] != '\0');
      CU_ASSERT_EQUAL (guest.created, 1);
      CU_ASSERT_EQUAL (guest.told, 0);
    }
  memcpy (host.agent, agent, sizeof agent);
  /* A runtime directory that is not there: the socket cannot be made. */
  char run[sizeof host.directory[1]];
  memcpy (run, host.directory[1], sizeof run);
  CU_ASSERT_EQUAL (rmdir (host.directory[1]), 0);
  guest = (struct guest){ 0 };
  host_call_start (&host, &call);
  CU_ASSERT_EQUAL (guest_create_in (&host, &guest, &spec, &call), -1);
  CU_ASSERT_EQUAL (mkdir (run, 0700), 0);
  assert_nothing_left (&host);
  host_stop (&host);
}

/* L18: cancelled at the first question, the second, and so on, until it succeeds. */
static void
a_cancelled_create_leaves_nothing (void)
{
  struct berth_spec spec = guest_spec ();
  struct host host;
  struct host_call call;
  bool done = false;
  int cancelled = 0;

  if (!host_start (&host))
    return;
  for (int64_t at = 1; at < 200 && !done; at++)
    {
      struct guest guest = { 0 };
      host_call_start (&host, &call);
      call.cancel_at = at;
      done = guest_create_in (&host, &guest, &spec, &call) == 0;
      if (done)
        guest_end (&guest);
      else
        {
          CU_ASSERT_EQUAL (call.code, BERTH_E_CANCELLED);
          cancelled++;
        }
      CU_ASSERT_FALSE (guest_is_present (&guest));
    }
  CU_ASSERT_TRUE (done);
  CU_ASSERT (cancelled >= 2);
  assert_nothing_left (&host);
  host_stop (&host);
}

static void
an_id_that_is_there_is_a_conflict (void)
{
  const struct berth_spec spec = guest_spec ();
  struct host host;
  struct guest guest, again = { 0 };
  struct host_call call;

  if (!host_start (&host))
    return;
  if (guest_create (&host, &guest, &spec))
    {
      memcpy (again.id, guest.id, sizeof again.id);
      host_call_start (&host, &call);
      CU_ASSERT_EQUAL (guest_create_in (&host, &again, &spec, &call), -1);
      CU_ASSERT_EQUAL (call.code, BERTH_E_CONFLICT);
      CU_ASSERT_STRING_EQUAL (guest_output (&guest, "echo alive"), "alive");
      guest_end (&guest);
    }
  host_stop (&host);
}

static void
an_impossible_id_touches_nothing (void)
{
  static const char *const ids[] = { "../../etc", "..", ".", "", "a/b", "sb-unknown.1", "x\n", "boxes" };
  struct host host;

  if (!host_start (&host))
    return;
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
    {
      struct guest guest = { .host = &host };
      snprintf (guest.id, sizeof guest.id, "%s", ids[i]);
      CU_ASSERT_EQUAL (guest_destroy (&guest), BERTH_GONE);
      CU_ASSERT_FALSE (guest_is_present (&guest));
      CU_ASSERT_FALSE (guest_is_running (&guest));
    }
  CU_ASSERT_EQUAL (access ("/etc/passwd", F_OK), 0);
  host_stop (&host);
}

/* ---- owners, ends ---- */

static void
it_survives_its_parent (void)
{
  const struct berth_spec spec = guest_spec ();
  struct host host;
  struct guest guest = { 0 };
  struct host_call call;
  int status;

  if (!host_start (&host))
    return;
  snprintf (guest.id, sizeof guest.id, "sb-test%d.p", (int) getpid ());
  guest.host = &host;
  pid_t pid = fork ();
  if (pid == 0)
    {
      host_call_start (&host, &call);
      _exit (guest_create_in (&host, &guest, &spec, &call) == 0 ? 0 : 1);
    }
  waitpid (pid, &status, 0);
  CU_ASSERT_EQUAL (status, 0);
  CU_ASSERT_TRUE (guest_is_running (&guest));
  host_call_start (&host, &call);
  const struct berth_native native = { .struct_size = sizeof native, .id = guest.id };
  CU_ASSERT_EQUAL_FATAL (host.backend->lifecycle->connect (&call.call, host.state, &native, NULL, &guest.handle), 0);
  CU_ASSERT_STRING_EQUAL (guest_output (&guest, "echo alive"), "alive");
  guest_release (&guest);
  CU_ASSERT_TRUE (guest_is_running (&guest));
  CU_ASSERT_EQUAL (guest_destroy (&guest), BERTH_GONE);
  host_stop (&host);
}

static void
an_owned_one_ends_with_its_owner (void)
{
  struct berth_spec spec = guest_spec ();
  struct host host;
  struct guest guest = { 0 };
  int status;

  spec.asks = BERTH_SPEC_OWNED;
  if (!host_start (&host))
    return;
  if (guest_create (&host, &guest, &spec))
    {
      CU_ASSERT_TRUE (guest_is_running (&guest));
      guest_release (&guest);
      CU_ASSERT_TRUE (ends_within (&guest, 5000));
      CU_ASSERT_TRUE (guest_is_present (&guest));
      CU_ASSERT_EQUAL (guest_destroy (&guest), BERTH_GONE);
    }
  guest = (struct guest){ .host = &host };
  snprintf (guest.id, sizeof guest.id, "sb-test%d.o", (int) getpid ());
  pid_t pid = fork ();
  if (pid == 0)
    {
      struct host_call call;
      host_call_start (&host, &call);
      guest_create_in (&host, &guest, &spec, &call);
      pause ();
      _exit (0);
    }
  int64_t end = berth_clock_monotonic_ms () + 20000;
  while (!guest_is_running (&guest) && berth_clock_monotonic_ms () < end)
    berth_clock_sleep_ms (10);
  CU_ASSERT_TRUE (guest_is_running (&guest));
  berth_clock_sleep_ms (300);
  CU_ASSERT_TRUE (guest_is_running (&guest));
  kill (pid, SIGKILL);
  waitpid (pid, &status, 0);
  CU_ASSERT_TRUE (ends_within (&guest, 5000));
  CU_ASSERT_EQUAL (guest_destroy (&guest), BERTH_GONE);
  host_stop (&host);
}

static void
the_deadline_ends_it (void)
{
  struct berth_spec spec = guest_spec ();
  struct host host;
  struct guest guest;
  struct host_call call;
  struct berth_expiry expiry = { 0 };

  spec.asks = BERTH_SPEC_TTL;
  spec.ttl_ms = 600000;
  if (!host_start (&host))
    return;
  if (guest_create (&host, &guest, &spec))
    {
      const struct berth_native native = { .struct_size = sizeof native, .id = guest.id };
      host_call_start (&host, &call);
      CU_ASSERT_EQUAL (host.backend->expiry->expires_at (&call.call, host.state, &native, &expiry), 0);
      CU_ASSERT_EQUAL (expiry.kind, BERTH_EXPIRES_AT);
      CU_ASSERT (expiry.remaining_ms > 500000 && expiry.remaining_ms <= 600000);
      CU_ASSERT_EQUAL (host.backend->expiry->renew (&call.call, host.state, &native, BERTH_NO_DEADLINE, &expiry), 0);
      CU_ASSERT_EQUAL (expiry.kind, BERTH_EXPIRES_NEVER);
      CU_ASSERT_EQUAL (host.backend->expiry->renew (&call.call, host.state, &native, 200, &expiry), 0);
      CU_ASSERT_EQUAL (expiry.kind, BERTH_EXPIRES_AT);
      /* The grace of the agent for its host comes on top. */
      CU_ASSERT_TRUE (ends_within (&guest, 15000));
      host_call_start (&host, &call);
      CU_ASSERT_EQUAL (host.backend->expiry->expires_at (&call.call, host.state, &native, &expiry), -1);
      CU_ASSERT_EQUAL (call.code, BERTH_E_UNREACHABLE);
      guest_end (&guest);
    }
  host_stop (&host);
}

static void
a_dead_agent_is_told_as_such (void)
{
  const struct berth_spec spec = guest_spec ();
  struct host host;
  struct guest guest;
  struct host_call call;
  struct berth_handle *second = NULL;

  if (!host_start (&host))
    return;
  if (guest_create (&host, &guest, &spec))
    {
      const struct berth_native native = { .struct_size = sizeof native, .id = guest.id };
      kill (guest.pid, SIGKILL);
      CU_ASSERT_TRUE (ends_within (&guest, 5000));
      host_call_start (&host, &call);
      CU_ASSERT_EQUAL (host.backend->lifecycle->connect (&call.call, host.state, &native, NULL, &second), 0);
      CU_ASSERT_EQUAL (guest_run (&guest, NULL, "true", NULL, NULL, NULL), -1);
      host_call_start (&host, &call);
      const struct berth_read how = { .struct_size = sizeof how, .max_bytes = 1 };
      CU_ASSERT_EQUAL (host.backend->files->stat (&call.call, second, "/", &how, NULL), -1);
      CU_ASSERT_EQUAL (call.code, BERTH_E_UNREACHABLE);
      CU_ASSERT_EQUAL (guest_destroy (&guest), BERTH_GONE);
      host_call_start (&host, &call);
      CU_ASSERT_EQUAL (host.backend->files->stat (&call.call, second, "/", &how, NULL), -1);
      CU_ASSERT_EQUAL (call.code, BERTH_E_SANDBOX_NOT_FOUND);
      host.backend->lifecycle->release (&call.call, second);
      guest_release (&guest);
    }
  host_stop (&host);
}

static void
deep_and_hostile_storage_goes (void)
{
  const struct berth_spec spec = guest_spec ();
  struct host host;
  struct guest guest;

  if (!host_start (&host))
    return;
  if (guest_create (&host, &guest, &spec))
    {
      guest_run (&guest, NULL,
                 "n=$(printf '%0200d' 7); i=0; while [ $i -lt 60 ]; do mkdir $n && cd $n || break; i=$((i+1)); done; echo x > f;"
                 " cd /workspace; mkdir locked && echo x > locked/f && chmod 0 locked; ln -s /etc/passwd link; mkfifo pipe;"
                 " setsid sleep 1000 >/dev/null 2>&1 & sleep 0.1",
                 NULL, NULL, NULL);
      guest_end (&guest);
      CU_ASSERT_EQUAL (access ("/etc/passwd", F_OK), 0);
    }
  assert_nothing_left (&host);
  host_stop (&host);
}

/* ---- what is told ---- */

struct listing
{
  int count, partial, labels, running;
  char last[64], cursor[64];
};

static int
list_one (void *context, const struct berth_found *found)
{
  struct listing *listing = context;

  listing->count++;
  listing->partial += (found->has & BERTH_FOUND_PARTIAL) != 0;
  listing->running += found->life == BERTH_LIFE_RUNNING;
  if (found->has & BERTH_FOUND_LABELS)
    listing->labels += strcmp (found->sandbox_id, "sb-test") == 0 && strcmp (found->assignment_id, "as-test") == 0
                       && strcmp (found->installation_id, "test-installation") == 0
                       && (found->metadata_count == 0
                           || (strcmp (found->metadata[0].name, "a key\n") == 0
                               && strcmp (found->metadata[0].value, "=va%lue\xff") == 0));
  CU_ASSERT (strcmp (found->native_id, listing->last) > 0);
  snprintf (listing->last, sizeof listing->last, "%s", found->native_id);
  return 0;
}

static int
list_cursor (void *context, const char *next)
{
  struct listing *listing = context;

  if (next != NULL)
    snprintf (listing->cursor, sizeof listing->cursor, "%s", next);
  return 0;
}

static void
list_all (struct host *host, struct listing *listing)
{
  const struct berth_found_sink sink = { .struct_size = sizeof sink, .context = listing, .found = list_one };
  struct host_call call;

  *listing = (struct listing){ 0 };
  host_call_start (host, &call);
  CU_ASSERT_EQUAL (host->backend->lifecycle->list_ids (&call.call, host->state, &sink), 0);
}

static void
lists_are_complete_and_never_guessed (void)
{
  const struct berth_pair metadata[] = { { "a key\n", "=va%lue\xff", 0, 0 }, { "hidden", "token", BERTH_PAIR_SECRET, 0 } };
  struct berth_spec spec = guest_spec ();
  struct host host;
  struct guest guests[5];
  struct listing listing;
  struct host_call call;

  spec.asks = BERTH_SPEC_METADATA;
  spec.metadata = metadata;
  spec.metadata_count = 2;
  if (!host_start (&host))
    return;
  for (int i = 0; i < 5; i++)
    guest_create (&host, &guests[i], &spec);
  list_all (&host, &listing);
  CU_ASSERT (listing.count == 5 && listing.labels == 5 && listing.running == 5 && listing.partial == 0);
  /* Pages of two, with one gone in between. */
  struct listing page = { 0 };
  const struct berth_found_sink sink
      = { .struct_size = sizeof sink, .context = &page, .found = list_one, .cursor = list_cursor };
  host_call_start (&host, &call);
  CU_ASSERT_EQUAL (host.backend->inventory->list_page (&call.call, host.state, NULL, 2, &sink), 0);
  CU_ASSERT (page.count == 2 && page.cursor[0] != '\0');
  guest_end (&guests[0]);
  CU_ASSERT_EQUAL (host.backend->inventory->list_page (&call.call, host.state, page.cursor, 10, &sink), 0);
  CU_ASSERT_EQUAL (page.count, 5);
  /* One record damaged, one missing. */
  BERTH_AUTO_FREE char *damaged = berth_string_format ("%s/boxes/%s/meta", host.directory[0], guests[1].id);
  BERTH_AUTO_FREE char *missing = berth_string_format ("%s/boxes/%s/meta", host.directory[0], guests[2].id);
  CU_ASSERT_EQUAL (truncate (damaged, 40), 0);
  CU_ASSERT_EQUAL (unlink (missing), 0);
  list_all (&host, &listing);
  CU_ASSERT (listing.count == 4 && listing.labels == 2 && listing.partial == 2);
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  BERTH_AUTO_FREE char *whole = berth_string_format ("%s/boxes/%s/meta", host.directory[0], guests[3].id);
  CU_ASSERT_EQUAL (berth_fs_read (AT_FDCWD, whole, &text, 65536), 0);
  CU_ASSERT_PTR_NULL (strstr (berth_buffer_string (&text), "token"));
  for (int i = 1; i < 5; i++)
    guest_end (&guests[i]);
  assert_nothing_left (&host);
  host_stop (&host);
}

static void
two_states_do_not_meet (void)
{
  const struct berth_spec spec = guest_spec ();
  struct host first, second;
  struct guest one = { 0 }, other = { 0 };
  struct host_call call;
  struct listing listing;

  if (!host_start (&first) || !host_start (&second))
    return;
  snprintf (one.id, sizeof one.id, "sb-test%d.same", (int) getpid ());
  memcpy (other.id, one.id, sizeof other.id);
  host_call_start (&first, &call);
  CU_ASSERT_EQUAL (guest_create_in (&first, &one, &spec, &call), 0);
  host_call_start (&second, &call);
  CU_ASSERT_EQUAL (guest_create_in (&second, &other, &spec, &call), 0);
  guest_run (&one, NULL, "echo one > /workspace/f", NULL, NULL, NULL);
  CU_ASSERT_STRING_EQUAL (guest_output (&other, "ls /workspace | wc -l"), "0");
  guest_end (&one);
  CU_ASSERT_STRING_EQUAL (guest_output (&other, "echo alive"), "alive");
  list_all (&first, &listing);
  CU_ASSERT_EQUAL (listing.count, 0);
  guest_end (&other);
  host_stop (&first);
  host_stop (&second);
}

/* ---- many ---- */

struct worker
{
  pthread_t thread;
  struct host *host;
  struct guest guest;
  bool made;
};

static void *
work (void *argument)
{
  struct worker *worker = argument;
  const struct berth_spec spec = guest_spec ();
  struct host_call call;

  host_call_start (worker->host, &call);
  worker->made = guest_create_in (worker->host, &worker->guest, &spec, &call) == 0;
  if (!worker->made)
    fprintf (stderr, "create: %s\n", call.message);
  return NULL;
}

static void
many_at_once (void)
{
  struct host host;
  struct worker workers[AT_ONCE] = { 0 };

  if (!host_start (&host))
    return;
  for (int i = 0; i < AT_ONCE; i++)
    {
      workers[i].host = &host;
      CU_ASSERT_EQUAL (pthread_create (&workers[i].thread, NULL, work, &workers[i]), 0);
    }
  for (int i = 0; i < AT_ONCE; i++)
    pthread_join (workers[i].thread, NULL);
  for (int i = 0; i < AT_ONCE; i++)
    {
      CU_ASSERT_TRUE (workers[i].made);
      if (workers[i].made)
        {
          CU_ASSERT_EQUAL (guest_run (&workers[i].guest, NULL, "exit 3", NULL, NULL, NULL), 3);
          guest_end (&workers[i].guest);
        }
    }
  assert_nothing_left (&host);
  host_stop (&host);
}

static volatile sig_atomic_t child_signals;

static void
count_signal (int number)
{
  child_signals++;
}

/* The host's children are its own business: no SIGCHLD, nothing for waitpid, no thread, no cwd. */
static void
the_host_is_not_disturbed (void)
{
  const struct berth_spec spec = guest_spec ();
  struct host host;
  struct guest guest;
  char before[512] = "", after[512] = "";

  if (!host_start (&host))
    return;
  struct sigaction action = { .sa_handler = count_signal }, old;
  sigaction (SIGCHLD, &action, &old);
  mode_t mask = umask (077);
  CU_ASSERT_PTR_NOT_NULL (getcwd (before, sizeof before));
  if (guest_create (&host, &guest, &spec))
    {
      CU_ASSERT_EQUAL (child_signals, 0);
      CU_ASSERT_EQUAL (waitpid (-1, NULL, WNOHANG), -1);
      CU_ASSERT_PTR_NOT_NULL (getcwd (after, sizeof after));
      CU_ASSERT_STRING_EQUAL (before, after);
      CU_ASSERT_STRING_EQUAL (guest_output (&guest, "stat -c %a / /workspace /tmp /etc/passwd | tr '\\n' ' '"),
                              "755 755 1777 644 ");
      guest_end (&guest);
    }
  CU_ASSERT_EQUAL (umask (mask), 077);
  sigaction (SIGCHLD, &old, NULL);
  host_stop (&host);
}

static void
the_environment_is_secret_and_inside (void)
{
  const struct berth_pair environment[] = { { "TOKEN", "s3cret-value", BERTH_PAIR_SECRET, 0 }, { "PLAIN", "a b", 0, 0 } };
  struct berth_spec spec = guest_spec ();
  struct host host;
  struct guest guest;

  spec.asks = BERTH_SPEC_ENVIRONMENT;
  spec.environment = environment;
  spec.environment_count = 2;
  if (!host_start (&host))
    return;
  if (guest_create (&host, &guest, &spec))
    {
      CU_ASSERT_STRING_EQUAL (guest_output (&guest, "echo \"$TOKEN $PLAIN\""), "s3cret-value a b");
      BERTH_AUTO_FREE char *command = berth_string_format ("grep -rl s3cret-value %s /proc/%d/cmdline /proc/%d/environ", host.top,
                                                           (int) guest.pid, (int) guest.pid);
      CU_ASSERT_NOT_EQUAL (system (command), 0);
      guest_end (&guest);
    }
  host_stop (&host);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "L08 nothing is left after many", nothing_is_left_after_many },
    { "L27 a killed create leaves nothing that destroy misses", a_killed_create_leaves_nothing_that_destroy_misses },
    { "L27 a killed create with a disk leaves no loop device", a_killed_create_leaves_no_loop_device },
    { "L06 a failing create leaves nothing", a_failing_create_leaves_nothing },
    { "L18 a cancelled create leaves nothing", a_cancelled_create_leaves_nothing },
    { "L01 an id that is there is a conflict, and unharmed", an_id_that_is_there_is_a_conflict },
    { "L08 an impossible id touches nothing", an_impossible_id_touches_nothing },
    { "L12 it survives its parent", it_survives_its_parent },
    { "an owned one ends with its owner", an_owned_one_ends_with_its_owner },
    { "L19 the deadline ends it", the_deadline_ends_it },
    { "F16 a dead agent is told as such", a_dead_agent_is_told_as_such },
    { "L08 deep and hostile storage goes", deep_and_hostile_storage_goes },
    { "L10 L17 L23 lists are complete and never guessed", lists_are_complete_and_never_guessed },
    { "S12 two states do not meet", two_states_do_not_meet },
    { "L14 many at once", many_at_once },
    { "S11 the host is not disturbed", the_host_is_not_disturbed },
    { "I04 the environment is secret, and inside", the_environment_is_secret_and_inside },
    { NULL, NULL },
  };

  return berth_test_main ("ns: life", tests);
}

/* range.c - sandboxes of a user who is not root and has a range of subordinate ids. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugins/ns/tests/host.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"

/* What as-ordinary-user gives. */
#define FIRST_UID 1700000000u
#define FIRST_GID 1800000000u
#define UID_LINE "berth-test:1700000000:65536\n"

/* The file is the test's own, mounted over the machine's. */
static void
give_ids (const char *line)
{
  BERTH_AUTO_FD int fd = open ("/etc/subuid", O_WRONLY | O_TRUNC | O_CLOEXEC);

  CU_ASSERT (fd >= 0);
  CU_ASSERT_EQUAL (write (fd, line, strlen (line)), (ssize_t) strlen (line));
}

static void
status_of (struct guest *guest, const char *name, struct stat *status)
{
  BERTH_AUTO_FREE char *file = berth_string_format ("%s/boxes/%s/workspace/%s", guest->host->directory[0], guest->id, name);

  *status = (struct stat){ 0 };
  CU_ASSERT_EQUAL (lstat (file, status), 0);
}

static void
all_accounts_are_there (void)
{
  struct host host;
  struct guest guest;
  struct stat status;
  BERTH_AUTO_BUFFER struct berth_buffer out = { 0 };

  if (!guest_alone (&host, &guest, NULL))
    return;
  CU_ASSERT_EQUAL (guest.effective.posture, BERTH_POSTURE_ALL);
  guest_expect (&guest, "id; pwd", "uid=1000(sandbox) gid=1000(sandbox) groups=1000(sandbox)\n/workspace");
  guest_expect (&guest, "grep -c '^Cap.*:.0000000000000000$' /proc/self/status", "5");
  CU_ASSERT_EQUAL (guest_run (&guest, "root", "id -u; id -g", &out, NULL, NULL), 0);
  CU_ASSERT_EQUAL (guest_run (&guest, "nobody", "id -u", &out, NULL, NULL), 0);
  CU_ASSERT_EQUAL (guest_run (&guest, "4321", "id -u", &out, NULL, NULL), 0);
  CU_ASSERT_STRING_EQUAL (berth_buffer_string (&out), "0\n0\n65534\n4321\n");
  CU_ASSERT_EQUAL (guest_run (&guest, NULL, "echo x > mine; chmod 600 mine", NULL, NULL, NULL), 0);
  status_of (&guest, "mine", &status);
  CU_ASSERT_EQUAL (status.st_uid, FIRST_UID + 1000);
  CU_ASSERT_EQUAL (status.st_gid, FIRST_GID + 1000);
  /* Accounts are kept from each other, and root is one of them. */
  CU_ASSERT_NOT_EQUAL (guest_run (&guest, "nobody", "cat mine", NULL, NULL, NULL), 0);
  CU_ASSERT_NOT_EQUAL (guest_run (&guest, "root", "cat mine", NULL, NULL, NULL), 0);
  guest_alone_end (&host, &guest);
}

/* Nothing inside has the user's own id, so what the user alone may do is out of reach for that too. */
static void
the_users_own_id_is_not_inside (void)
{
  struct host host;
  struct guest guest;
  char own[32];

  if (!guest_alone (&host, &guest, NULL))
    return;
  snprintf (own, sizeof own, "/proc/%d", (int) guest.pid);
  struct stat status;
  CU_ASSERT_EQUAL (stat (own, &status), 0);
  CU_ASSERT_NOT_EQUAL (status.st_uid, geteuid ());
  guest_expect (&guest, "awk '{ print $1, $3 }' /proc/self/uid_map /proc/self/gid_map", "0 65536\n0 65536");
  guest_expect (&guest, "{ kill -9 1; kill -STOP 1; head -c 1 /proc/1/mem; ls /proc/1/fd; } 2>/dev/null; echo alive",
                 "alive");
  guest_alone_end (&host, &guest);
}

/* Also those that a workload locked, and of every account. */
static void
a_workspace_of_others_is_removed (void)
{
  struct host host;
  struct guest guest;

  if (!guest_alone (&host, &guest, NULL))
    return;
  CU_ASSERT_EQUAL (guest_run (&guest, NULL, "mkdir -p a/b/c d e; chmod 777 e; touch a/b/c/x d/y; chmod 0 a/b/c a/b a; chmod 500 d", NULL,
                              NULL, NULL),
                   0);
  CU_ASSERT_EQUAL (guest_run (&guest, "nobody", "mkdir e/deep; touch e/deep/x; chmod 0 e/deep", NULL, NULL, NULL), 0);
  CU_ASSERT_EQUAL (guest_run (&guest, NULL, "chmod 0 .", NULL, NULL, NULL), 0);
  /* The control: the user cannot do it by himself. */
  BERTH_AUTO_FREE char *box = berth_string_format ("%s/boxes/%s", host.directory[0], guest.id);
  BERTH_AUTO_FREE char *workspace = berth_string_format ("%s/workspace", box);
  CU_ASSERT_EQUAL (berth_fs_remove_tree (AT_FDCWD, workspace), -1);
  guest_end (&guest);
  CU_ASSERT_FALSE (guest_is_present (&guest));
  CU_ASSERT_EQUAL (access (box, F_OK), -1);
  host_stop (&host);
}

/* 24 for all of its accounts together, of each sandbox. */
static void
processes_are_counted_over_all_accounts (void)
{
  struct berth_spec spec = guest_spec ();
  struct host host;
  struct guest first, second;
  BERTH_AUTO_BUFFER struct berth_buffer out = { 0 };

  spec.asks = spec.must = BERTH_SPEC_PIDS;
  spec.pids = 24;
  if (!guest_alone (&host, &first, &spec))
    return;
  CU_ASSERT_EQUAL (first.effective.pids, 24);
  if (guest_create (&host, &second, &spec))
    {
      guest_run (&first, "nobody", "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 3 >/dev/null 2>&1 </dev/null & done", NULL, NULL, NULL);
      guest_run (&first, NULL, "for i in $(seq 60); do sleep 3 >/dev/null 2>&1 & done", NULL, &out, NULL);
      CU_ASSERT_PTR_NOT_NULL (strstr (berth_buffer_string (&out), "ork"));
      berth_buffer_clear (&out);
      CU_ASSERT_EQUAL (guest_run (&second, "4321", "for i in $(seq 12); do sleep 0.1 & done; wait; echo all", &out, NULL, NULL), 0);
      CU_ASSERT_STRING_EQUAL (berth_buffer_string (&out), "all\n");
      guest_end (&second);
    }
  guest_alone_end (&host, &first);
}

static void
it_is_stopped_and_started (void)
{
  struct host host;
  struct guest guest;
  struct host_call call;

  if (!guest_alone (&host, &guest, NULL))
    return;
  CU_ASSERT_EQUAL (guest_run (&guest, "root", "echo of root > /workspace/x 2>/dev/null || echo no", NULL, NULL, NULL), 0);
  CU_ASSERT_EQUAL (guest_run (&guest, NULL, "echo kept > kept", NULL, NULL, NULL), 0);
  CU_ASSERT_EQUAL (guest_stop (&guest, &call), 0);
  /* Where the ids are gone it is not started with others, and tells it. */
  give_ids ("berth-test:1600000000:65536\n");
  CU_ASSERT_EQUAL (guest_start (&guest, &call), -1);
  CU_ASSERT_EQUAL (call.code, BERTH_E_CONFIGURATION);
  CU_ASSERT_PTR_NOT_NULL (strstr (call.message, "1700000000"));
  give_ids (UID_LINE);
  CU_ASSERT_EQUAL (guest_start (&guest, &call), 0);
  guest_expect (&guest, "cat kept; id -u", "kept\n1000");
  guest_kill_agent (&guest);
  CU_ASSERT_EQUAL (guest_start (&guest, &call), 0);
  guest_expect (&guest, "cat kept; stat -c %u kept", "kept\n1000");
  guest_alone_end (&host, &guest);
}

static int
destroy (struct guest *guest, struct host_call *call, struct berth_destroyed *destroyed)
{
  const struct berth_native native = { .struct_size = sizeof native, .id = guest->id };

  *destroyed = (struct berth_destroyed){ 0 };
  host_call_start (guest->host, call);
  return guest->host->backend->lifecycle->destroy (&call->call, guest->host->state, &native, destroyed);
}

/* By another process, with the ids that the record tells; without them it says what stays, and where. */
static void
destroy_needs_its_ids (void)
{
  static const char *const lines[] = { "berth-test:1600000000:65536\n", "berth-test:1700000000:60000\n", "" };
  struct berth_destroyed destroyed;
  struct host_call call;
  struct host host;
  struct guest guest;

  if (!guest_alone (&host, &guest, NULL))
    return;
  CU_ASSERT_EQUAL (guest_run (&guest, NULL, "mkdir d; touch d/x", NULL, NULL, NULL), 0);
  guest_release (&guest);
  host_close (&host);
  CU_ASSERT_EQUAL (host_open (&host, &call), 0);
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    {
      BERTH_AUTO_FREE char *path = berth_string_format ("%s/boxes/%s/workspace", host.directory[0], guest.id);
      give_ids (lines[i]);
      CU_ASSERT (destroy (&guest, &call, &destroyed) < 0 || destroyed.verdict == BERTH_REFUSED);
      CU_ASSERT_EQUAL (call.code, BERTH_E_CONFIGURATION);
      CU_ASSERT_PTR_NOT_NULL (strstr (call.message, path));
      CU_ASSERT_PTR_NOT_NULL (strstr (call.message, "1700000000"));
      CU_ASSERT_PTR_NOT_NULL (strstr (call.hint, "/etc/subuid"));
      CU_ASSERT_TRUE (guest_is_present (&guest));
    }
  give_ids (UID_LINE);
  CU_ASSERT_EQUAL (destroy (&guest, &call, &destroyed), 0);
  CU_ASSERT_EQUAL (destroyed.verdict, BERTH_GONE);
  CU_ASSERT_FALSE (guest_is_present (&guest));
  host_stop (&host);
}

/* The owner of the workspace tells as much as is needed. */
static void
a_damaged_record_hides_no_workspace (void)
{
  struct host host;
  struct guest guest;
  struct host_call call;
  struct berth_destroyed destroyed;

  if (!guest_alone (&host, &guest, NULL))
    return;
  CU_ASSERT_EQUAL (guest_run (&guest, NULL, "mkdir d; touch d/x; chmod 0 d", NULL, NULL, NULL), 0);
  BERTH_AUTO_FREE char *record = berth_string_format ("%s/boxes/%s/meta", host.directory[0], guest.id);
  CU_ASSERT_EQUAL (truncate (record, 40), 0);
  give_ids ("");
  CU_ASSERT (destroy (&guest, &call, &destroyed) < 0 || destroyed.verdict == BERTH_REFUSED);
  CU_ASSERT_PTR_NOT_NULL (strstr (call.message, "1700000000"));
  give_ids (UID_LINE);
  guest_end (&guest);
  CU_ASSERT_FALSE (guest_is_present (&guest));
  host_stop (&host);
}

/* Half a configuration: one account, unless the range was demanded, and then it is said what is missing. */
static void
half_a_configuration (void)
{
  static const char *const lines[] = { "", "berth-test:1700000000:65535\n", "berth-test:1700000000:x\n", "other:1700000000:65536\n" };
  struct berth_spec spec = guest_spec ();
  struct host_call call;
  struct host host;

  if (!host_start (&host))
    return;
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    {
      struct guest guest = { 0 }, none = { 0 };
      give_ids (lines[i]);
      host.uid_map = "auto";
      host_close (&host);
      CU_ASSERT_EQUAL (host_open (&host, &call), 0);
      if (guest_create (&host, &guest, &spec))
        {
          CU_ASSERT_EQUAL (guest.effective.posture, BERTH_POSTURE_ALL & ~BERTH_POSTURE_SEPARATE_USERS);
          /* It stays so for its life. */
          give_ids (UID_LINE);
          CU_ASSERT_EQUAL (guest_stop (&guest, &call), 0);
          CU_ASSERT_EQUAL (guest_start (&guest, &call), 0);
          guest_expect (&guest, "cat /proc/self/setgroups", "deny");
          guest_end (&guest);
        }
      give_ids (lines[i]);
      host.uid_map = "range";
      host_close (&host);
      CU_ASSERT_EQUAL (host_open (&host, &call), 0);
      host_call_start (&host, &call);
      CU_ASSERT_EQUAL (guest_create_in (&host, &none, &spec, &call), -1);
      CU_ASSERT_EQUAL (call.code, BERTH_E_CONFIGURATION);
      CU_ASSERT_PTR_NOT_NULL (strstr (call.message, "/etc/subuid"));
      CU_ASSERT_PTR_NOT_NULL (strstr (call.hint, "newuidmap"));
      CU_ASSERT_EQUAL (none.created, 0);
    }
  give_ids (UID_LINE);
  host_stop (&host);
}

static int
take_effective (void *context, const struct berth_effective *effective)
{
  (void) effective;
  ++*(int *) context;
  return 0;
}

struct creates
{
  struct host *host;
  struct guest *guests; /* two */
  int results[2];
};

/* No program that this thread starts can gain anything, so newuidmap would fail. */
static void *
create_without_mapper (void *context)
{
  struct creates *creates = context;
  struct berth_spec spec = guest_spec ();

  if (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
    return NULL;
  for (int i = 0; i < 2; i++)
    {
      struct host_call call;
      host_call_start (creates->host, &call);
      creates->results[i] = guest_create_in (creates->host, &creates->guests[i], &spec, &call);
    }
  return creates;
}

/* The create that follows a question has what was mapped for that; nobody has it twice. */
static void
ids_are_mapped_once (void)
{
  struct berth_spec spec = guest_spec ();
  struct host host;
  struct host_call call;
  struct guest guests[2] = { { 0 } };
  struct creates creates = { &host, guests, { 1, 1 } };
  int told = 0;
  const struct berth_effective_sink sink = { .struct_size = sizeof sink, .context = &told, .effective = take_effective };
  pthread_t thread;

  if (!host_start (&host))
    return;
  for (int i = 0; i < 2; i++)
    {
      host_call_start (&host, &call);
      CU_ASSERT_EQUAL (host.backend->lifecycle->validate (&call.call, host.state, &spec, &sink), 0);
    }
  CU_ASSERT_EQUAL (told, 2);
  CU_ASSERT_EQUAL_FATAL (pthread_create (&thread, NULL, create_without_mapper, &creates), 0);
  pthread_join (thread, NULL);
  CU_ASSERT_EQUAL (creates.results[0], 0);
  CU_ASSERT_EQUAL (creates.results[1], -1);
  if (creates.results[0] == 0)
    {
      guest_expect (&guests[0], "id -u", "1000");
      guest_end (&guests[0]);
    }
  host_stop (&host);
}

/* Comes last: from here on no program that this process starts can gain anything, so newuidmap fails. */
static void
a_mapper_that_fails (void)
{
  struct berth_spec spec = guest_spec ();
  struct host host;
  struct guest guest = { 0 }, none = { 0 };
  struct host_call call;

  if (!host_start (&host))
    return;
  CU_ASSERT_EQUAL (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  host_call_start (&host, &call);
  CU_ASSERT_EQUAL (guest_create_in (&host, &none, &spec, &call), -1);
  CU_ASSERT_EQUAL (call.code, BERTH_E_CONFIGURATION);
  CU_ASSERT_PTR_NOT_NULL (strstr (call.message, "newuidmap"));
  host.uid_map = "auto";
  host_close (&host);
  CU_ASSERT_EQUAL (host_open (&host, &call), 0);
  if (guest_create (&host, &guest, &spec))
    {
      CU_ASSERT_EQUAL (guest.effective.posture, BERTH_POSTURE_ALL & ~BERTH_POSTURE_SEPARATE_USERS);
      guest_end (&guest);
    }
  host_stop (&host);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "E08 all accounts are there, and kept apart", all_accounts_are_there },
    { "E18 the user's own id is not inside", the_users_own_id_is_not_inside },
    { "L08 a workspace of others is removed", a_workspace_of_others_is_removed },
    { "E17 processes are counted over all accounts of a sandbox", processes_are_counted_over_all_accounts },
    { "L17 it is stopped and started with its own ids", it_is_stopped_and_started },
    { "L09 destroy needs the ids, and says so", destroy_needs_its_ids },
    { "L09 a damaged record hides no workspace", a_damaged_record_hides_no_workspace },
    { "L04 half a configuration gives one account", half_a_configuration },
    { "ids are mapped once for a question and its create", ids_are_mapped_once },
    { "L04 a newuidmap that fails gives one account", a_mapper_that_fails },
    { NULL, NULL },
  };

  if (geteuid () != 0 && access ("/etc/subuid", W_OK) == 0)
    return berth_test_main ("ns: a range of ids", tests);
  printf ("SKIP ns: a range of ids: needs root, who lends the ids\n0 passed, 0 failed, 1 skipped\n");
  return 77;
}

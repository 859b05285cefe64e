/* Ways out that take more than one step. */
#include <fcntl.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "conformance/escape/escape.h"
#include "conformance/suites/content.h"
#include "conformance/suites/tool.h"
#include "sdk/base/fd.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"
#include "sdk/base/tests/runner.h"

#define PROGRAM_MAX ((size_t) 16 << 20)
#define EXECS 60
#define EXECS_LONG 1000

/* ---- sockets ---- */

static int
listen_at (const char *name, bool abstract)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  size_t size = strlen (name);

  if (fd < 0 || size + 2 > sizeof address.sun_path)
    return fd;
  memcpy (address.sun_path + (abstract ? 1 : 0), name, size);
  if (bind (fd, (struct sockaddr *) &address, (socklen_t) (offsetof (struct sockaddr_un, sun_path) + 1 + size)) == 0
      && listen (fd, 8) == 0)
    return fd;
  close (fd);
  return -1;
}

static void
check_socket (struct suite_box *box, const char *kind, const char *name)
{
  BERTH_AUTO_FD int listener = listen_at (name, strcmp (kind, "abstract") == 0);
  BERTH_AUTO_FREE char *outside = NULL;

  SUITE_REQUIRE (box->suite, listener >= 0, "cannot listen at %s", name);
  outside = suite_program_outside (box->suite, ESCAPE_PROBER, (const char *const[]) { "connect", kind, name, NULL });
  SUITE_CHECK (box->suite, outside != NULL && strcmp (outside, "ok\n") == 0, "%s outside: %s: no control", name, outside);
  for (int root = 0; root < 1 + escape_has_root (box); root++)
    {
      SUITE_AUTO_RAN struct suite_ran ran = { 0 };

      suite_run (box,
                 &(struct suite_command) { .arguments = (const char *const[]) { ESCAPE_INSIDE, "connect", kind, name, NULL },
                                           .user = root ? "root" : "sandbox" },
                 &ran);
      SUITE_CHECK_EXIT (box->suite, &ran, 0, name);
      SUITE_CHECK (box->suite, !suite_ran_printed (&ran, "ok\n"), "the %s socket %s answers inside", kind, name);
    }
}

void
escape_sockets (struct suite_context *suite)
{
  struct suite_box *box = escape_box (suite);
  BERTH_AUTO_FREE char *abstract = berth_string_format ("berth-test-%s", suite->tag);
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/socket", suite->directory);
  BERTH_AUTO_FREE char *open = berth_string_format ("/tmp/berth-test-%s.socket", suite->tag);

  suite_program_install (box, ESCAPE_PROBER, ESCAPE_INSIDE);
  check_socket (box, "abstract", abstract);
  check_socket (box, "path", path);
  check_socket (box, "path", open);
  unlink (open);
}

/* ---- set-user-id ---- */

/* What a set-user-id copy of the prober says to be when an ordinary account of this machine runs it: by root in
 * mounts of his, by an ordinary user in a user namespace with his subordinate ids. */
static void
run_setuid_outside (struct suite_context *suite, char *answer, size_t size)
{
  static const char script[] = "exec 3<\"$0\" && mount -t tmpfs -o mode=755 none /tmp && cat <&3 >/tmp/p && chmod 4755 /tmp/p"
                               " && exec setpriv --reuid 1 --regid 1 --clear-groups /tmp/p ids 3<&-";
  BERTH_AUTO_FREE char *prober = suite_program_path (suite, ESCAPE_PROBER);
  BERTH_AUTO_FREE char *command = berth_string_format ("unshare --mount %s sh -c '%s' '%s'",
                                                       geteuid () == 0 ? "" : "--user --map-root-user --map-auto", script, prober);
  FILE *pipe = popen (command, "r");

  SUITE_REQUIRE (suite, pipe != NULL, "no process for the control");
  answer[fread (answer, 1, size - 1, pipe)] = '\0';
  pclose (pipe);
}

void
escape_setuid (struct suite_context *suite)
{
  struct suite_box *box = escape_box (suite);
  SUITE_AUTO_RAN struct suite_ran copy = { 0 };
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  char answer[32];

  if (!escape_has_root (box))
    suite_not_applicable (suite, "there is one account only");
  suite_program_install (box, ESCAPE_PROBER, ESCAPE_INSIDE);
  suite_run (box,
             &(struct suite_command) {
                 .arguments = (const char *const[]) { "/bin/sh", "-c", "cp /workspace/prober /tmp/p && chmod 6755 /tmp/p", NULL },
                 .user = "root" },
             &copy);
  SUITE_CHECK_EXIT (suite, &copy, 0, "a set-user-id file");
  suite_argv (box, &ran, (const char *const[]) { "/tmp/p", "ids", NULL });
  SUITE_CHECK_PRINTED (suite, &ran, "1000\n", "the set-user-id file of the sandbox's root");
  run_setuid_outside (suite, answer, sizeof answer);
  SUITE_CHECK (suite, strcmp (answer, "0\n") == 0, "outside such a file says \"%s\": no control", answer);
}

/* ---- the host's program ---- */

static int64_t
sum_file (const char *path)
{
  BERTH_AUTO_BUFFER struct berth_buffer program = { 0 };
  uint64_t sum = 14695981039346656037u;

  if (path == NULL || berth_fs_read (AT_FDCWD, path, &program, PROGRAM_MAX) < 0)
    return -1;
  for (size_t i = 0; i < program.size; i++)
    sum = (sum ^ (unsigned char) program.data[i]) * 1099511628211u;
  return (int64_t) (sum >> 1);
}

/* Outside the same trick at a copy of the prober must work, or it proves nothing. */
static void
check_overwrite_works (struct suite_context *suite)
{
  BERTH_AUTO_FREE char *source = suite_program_path (suite, ESCAPE_PROBER);
  BERTH_AUTO_FREE char *copy = berth_string_format ("%s/victim", suite->directory);
  BERTH_AUTO_FREE char *command = berth_string_format ("cp %s %s", source, copy);
  const char *const arguments[] = { copy, "wait", NULL };
  pid_t pid;
  int64_t before;

  SUITE_REQUIRE (suite, system (command) == 0, "%s failed", command);
  before = sum_file (copy);
  SUITE_REQUIRE (suite, posix_spawn (&pid, copy, NULL, NULL, (char *const *) arguments, NULL) == 0, "cannot start %s", copy);
  BERTH_AUTO_FREE char *number = berth_string_format ("%ld", (long) pid);
  BERTH_AUTO_FREE char *answer = suite_program_outside (suite, ESCAPE_PROBER, (const char *const[]) { "overwrite", number, NULL });
  waitpid (pid, NULL, 0);
  SUITE_CHECK (suite, strcmp (answer, "ok\n") == 0 && sum_file (copy) != before, "the trick does not work outside: %s", answer);
}

void
escape_program (struct suite_context *suite)
{
  struct suite_box *box = escape_box (suite);
  int execs = berth_test_is_long () ? EXECS_LONG : EXECS;
  BERTH_AUTO_FREE char *script = berth_string_format ("/workspace/prober grab %d", execs * 30);
  const char *agent = suite->agent_path != NULL ? suite->agent_path : getenv ("BERTH_AGENT");
  int64_t before = sum_file (agent);
  struct suite_job job = { 0 };
  unsigned long got = 0, written = 1;

  check_overwrite_works (suite);
  suite_program_install (box, ESCAPE_PROBER, ESCAPE_INSIDE);
  /* What the kernel runs for this file is the program of whoever starts it. */
  SUITE_REQUIRE (suite,
                 suite_write (box, "/workspace/evil", "#!/proc/self/exe\n", 17,
                              &(struct berth_change) { .struct_size = sizeof (struct berth_change),
                                                       .asks = BERTH_CHANGE_MODE,
                                                       .mode = 0755,
                                                       .beneath = SUITE_WORKSPACE })
                     == 0,
                 "cannot write the script: %s", box->error.message);
  suite_job_start (&job, box, script);
  for (int i = 0; i < execs; i++)
    {
      SUITE_AUTO_RAN struct suite_ran ran = { 0 };

      suite_argv (box, &ran, (const char *const[]) { i % 2 ? "/workspace/evil" : "/bin/true", NULL });
    }
  suite_job_join (&job);
  SUITE_CHECK_EXIT (suite, &job.ran, 0, "the one that grabs");
  SUITE_CHECK (suite, sscanf (berth_buffer_string (&job.ran.out), "%lu %lu", &got, &written) == 2 && written == 0,
               "a program was written to: %s", berth_buffer_string (&job.ran.out));
  SUITE_CHECK (suite, got > 0, "no program was ever held: the race proves nothing");
  SUITE_CHECK (suite, before >= 0 && sum_file (agent) == before, "%s has changed", agent);
  suite_ran_free (&job.ran);
}

/* ---- a massacre ---- */

/* What uid 0 inside kills and stops is its own: never what serves commands, so that none is lost. */
static const char *const massacres[] = {
  "kill -9 -1",
  "i=0; while [ $i -lt 40 ]; do sleep 100 & i=$((i+1)); done; kill -9 -1",
  "for p in /proc/[0-9]*; do p=${p#/proc/}; [ $p = $$ ] || for s in 1 2 3 6 11 15 33; do kill -$s $p; done; done",
  "for p in /proc/[0-9]*; do p=${p#/proc/}; [ $p = $$ ] || kill -STOP $p; done",
  /* It goes on when the command has ended. */
  "(trap '' TERM; while :; do kill -9 -1; kill -STOP -1; done) & sleep 0.2",
};
#define COMMANDS_AFTER 20

static void
run_massacre (struct suite_box *other, const char *script)
{
  struct suite_context *suite = other->suite;
  struct suite_box *box = escape_box (suite);
  struct suite_job beside = { 0 };
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  SUITE_AUTO_RAN struct suite_ran elsewhere = { 0 };
  uint32_t verdict = 0;
  uint32_t code;

  suite_job_start (&beside, box, "sleep 0.5; echo unharmed");
  suite_run (box,
             &(struct suite_command) { .arguments = (const char *const[]) { "/bin/sh", "-c", script, NULL },
                                       .user = "root",
                                       .timeout_ms = 3000 },
             &ran);
  SUITE_CHECK (suite, ran.code == 0 && ran.exits == 1, "\"%s\" itself: code %u", script, ran.code);
  for (int i = 0; i < COMMANDS_AFTER; i++)
    {
      SUITE_AUTO_RAN struct suite_ran after = { 0 };

      suite_sh (box, &after, 5000, "echo here");
      SUITE_CHECK_PRINTED (suite, &after, "here\n", script);
    }
  suite_job_join (&beside);
  SUITE_CHECK_PRINTED (suite, &beside.ran, "unharmed\n", script);
  suite_ran_free (&beside.ran);
  suite_sh (other, &elsewhere, 5000, "echo here");
  SUITE_CHECK_PRINTED (suite, &elsewhere, "here\n", "another sandbox");
  code = suite_box_destroy (box, false, &verdict);
  SUITE_CHECK (suite, code == 0 && verdict == BERTH_GONE, "after \"%s\": not gone", script);
}

void
escape_massacre (struct suite_context *suite)
{
  struct suite_box *other = escape_box (suite);

  if (!escape_has_root (other))
    suite_not_applicable (suite, "there is one account only");
  for (size_t i = 0; i < sizeof massacres / sizeof *massacres; i++)
    run_massacre (other, massacres[i]);
}

/* What reaches the user: on a terminal, as text, and from a machine that lacks something. */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "core/cli/tests/process.h"
#include "sdk/base/fd.h"
#include "sdk/base/string.h"
#include "sdk/base/tests/runner.h"

#define PATIENCE_MS 20000

/* ---- a terminal of one's own ---- */

struct terminal
{
  int outer; /* the user's side */
  int inner; /* what programs have */
  struct termios before;
};

static void
terminal_open (struct terminal *terminal)
{
  terminal->outer = posix_openpt (O_RDWR | O_NOCTTY | O_CLOEXEC);
  CU_ASSERT_FATAL (terminal->outer >= 0 && grantpt (terminal->outer) == 0 && unlockpt (terminal->outer) == 0);
  terminal->inner = open (ptsname (terminal->outer), O_RDWR | O_NOCTTY | O_CLOEXEC);
  CU_ASSERT_FATAL (terminal->inner >= 0 && tcgetattr (terminal->inner, &terminal->before) == 0);
  /* So that a single character counts as typed. */
  cfmakeraw (&terminal->before);
  CU_ASSERT_EQUAL (tcsetattr (terminal->inner, TCSANOW, &terminal->before), 0);
}

static void
terminal_close (const struct terminal *terminal)
{
  close (terminal->outer);
  close (terminal->inner);
}

/* Runs a program as a shell on that terminal would: it is the controlling one, and all three of its
 * standard files.  Its status; OUT is what the user saw. */
static int
terminal_run (const struct terminal *terminal, const char *const *arguments, struct berth_buffer *out)
{
  struct pollfd look = { .fd = terminal->outer, .events = POLLIN };
  int status = -1;
  pid_t pid = fork ();

  if (pid == 0)
    {
      if (setsid () < 0 || ioctl (terminal->inner, TIOCSCTTY, 0) < 0)
        _exit (99);
      for (int fd = 0; fd < 3; fd++)
        dup2 (terminal->inner, fd);
      execvp (arguments[0], (char *const *) arguments);
      _exit (98);
    }
  for (int waited = 0; waited < PATIENCE_MS && waitpid (pid, &status, WNOHANG) == 0; waited += 20)
    if (poll (&look, 1, 20) > 0)
      {
        char part[4096];
        ssize_t got = read (terminal->outer, part, sizeof part);

        berth_buffer_append (out, part, got > 0 ? (size_t) got : 0);
      }
  while (poll (&look, 1, 0) > 0)
    {
      char part[4096];
      ssize_t got = read (terminal->outer, part, sizeof part);

      if (got <= 0)
        break;
      berth_buffer_append (out, part, (size_t) got);
    }
  return status;
}

/* How many characters wait to be read by the next program on that terminal. */
static int
count_typed (const struct terminal *terminal)
{
  int count = -1;

  return ioctl (terminal->inner, FIONREAD, &count) < 0 ? -1 : count;
}

static const char type[] = "foreach my $fd (\\*STDIN, \\*STDOUT, \\*STDERR) { foreach my $call (0x5412, 0x100005412, 0x541c, 0x540e) "
                           "{ my $byte = \"x\"; ioctl ($fd, $call, $byte) and $done++ } } "
                           "if (open (my $tty, '+<', '/dev/tty')) { my $byte = \"x\"; ioctl ($tty, 0x5412, $byte) and $done++ } "
                           "print $done + 0, \" done\\n\"";

static void
test_typing (void)
{
  struct terminal terminal;
  struct termios after;
  BERTH_AUTO_BUFFER struct berth_buffer seen = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer control = { 0 };

  terminal_open (&terminal);
  CU_ASSERT_EQUAL (terminal_run (&terminal, (const char *const[]){ process_program (), "run", "perl", "-e", type, NULL }, &seen), 0);
  EXPECT_IN (seen, "0 done");
  CU_ASSERT_EQUAL (count_typed (&terminal), 0);
  CU_ASSERT_EQUAL (tcgetattr (terminal.inner, &after), 0);
  CU_ASSERT (after.c_lflag == terminal.before.c_lflag && after.c_iflag == terminal.before.c_iflag
             && after.c_oflag == terminal.before.c_oflag);
  terminal_close (&terminal);
  /* The same program without a sandbox types, or this kernel lets nobody. */
  terminal_open (&terminal);
  terminal_run (&terminal, (const char *const[]){ "perl", "-e", type, NULL }, &control);
  if (count_typed (&terminal) == 0)
    berth_test_skip ("on this machine nobody can type for another");
  terminal_close (&terminal);
}

/* Names, labels and errors come from strangers; what a command prints is passed on as it is. */
static void
test_names_on_a_terminal (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer seen = { 0 };
  struct terminal terminal;

  berth (&result, "create", "--name", "odd", "--label", "note=\033]0;title\a");
  EXPECT_STATUS (result, 0);
  berth (&result, "exec", "odd", "sh", "-c", "touch \"$(printf 'a\\033]52;c;eA==\\ab\\233c')\"; ln -s \"$(printf '\\033[2J')\" l");
  EXPECT_STATUS (result, 0);
  terminal_open (&terminal);
  terminal_run (&terminal, (const char *const[]){ process_program (), "files", "odd", NULL }, &seen);
  terminal_run (&terminal, (const char *const[]){ process_program (), "inspect", "odd", NULL }, &seen);
  terminal_run (&terminal, (const char *const[]){ process_program (), "read", "odd", "\033[31m", NULL }, &seen);
  terminal_run (&terminal, (const char *const[]){ process_program (), "cp", "odd:l", "/none/\033[31m", NULL }, &seen);
  EXPECT_IN (seen, "a\\x1b]52;c;eA==\\x07b\\x9bc");
  CU_ASSERT_PTR_NULL (strstr (berth_buffer_string (&seen), "\033]"));
  CU_ASSERT_PTR_NULL (strstr (berth_buffer_string (&seen), "\033[31m"));
  CU_ASSERT_PTR_NULL (strstr (berth_buffer_string (&seen), "\033[2J"));
  CU_ASSERT_PTR_NULL (memchr (seen.data, '\a', seen.size));
  seen.size = 0;
  terminal_run (&terminal, (const char *const[]){ process_program (), "exec", "odd", "printf", "\\033[31mred", NULL }, &seen);
  EXPECT_IN (seen, "\033[31mred");
  terminal_close (&terminal);
  berth (&result, "rm", "odd");
}

/* Where people watch it says how far it is, and takes that away again; --quiet says nothing. */
static void
test_progress (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer seen = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer quiet = { 0 };
  struct terminal terminal;

  berth (&result, "create", "--name", "large");
  EXPECT_STATUS (result, 0);
  berth (&result, "exec", "large", "sh", "-c", "head -c 30000000 /dev/urandom > noise");
  EXPECT_STATUS (result, 0);
  terminal_open (&terminal);
  CU_ASSERT_EQUAL (terminal_run (&terminal, (const char *const[]){ process_program (), "snapshot", "large", NULL }, &seen), 0);
  CU_ASSERT_EQUAL (terminal_run (&terminal, (const char *const[]){ process_program (), "snapshot", "-q", "large", NULL }, &quiet), 0);
  terminal_close (&terminal);
  const char *line = strstr (berth_buffer_string (&seen), "\r\033[K"), *last = NULL;
  for (const char *at = line; at != NULL; at = strstr (at + 1, "\r\033[K"))
    last = at;
  CU_ASSERT_PTR_NOT_NULL_FATAL (line);
  CU_ASSERT (line[4] >= 'a' && line[4] <= 'z');
  CU_ASSERT (berth_string_starts_with (last + 4, "sn-"));
  CU_ASSERT_PTR_NULL (strstr (berth_buffer_string (&quiet), "\033[K"));
  berth (&result, "rm", "large");
  EXPECT_STATUS (result, 0);
}

/* ---- characters ---- */

static void
test_characters (void)
{
  AUTO_RESULT struct process_result result = { 0 };
  size_t count = 100000;

  berth (&result, "run", "perl", "-e", "$| = 1; print \"\\xe2\\x82\\xac\" x 100000; print STDERR \"\\xc3\\xa9\" x 40000");
  EXPECT_STATUS (result, 0);
  CU_ASSERT_EQUAL (result.out.size, 3 * count);
  CU_ASSERT_EQUAL (result.err.size, 80000);
  for (size_t i = 0; i < count && i * 3 + 3 <= result.out.size; i++)
    if (memcmp (result.out.data + 3 * i, "\xe2\x82\xac", 3) != 0)
      {
        CU_FAIL ("a character is broken");
        break;
      }
}

/* In JSON a whole text is a string, however it came; one that ends in the middle of a character is not. */
static void
test_characters_in_json (void)
{
  static const struct
  {
    const char *script;
    const char *text;
    bool whole;
  } outputs[] = {
    { "printf '\\360'; sleep .1; printf '\\237\\230\\200'", "\xf0\x9f\x98\x80", true },
    { "printf '\\360\\237'; sleep .1; printf '\\230\\200'", "\xf0\x9f\x98\x80", true },
    { "printf '\\360\\237\\230'; echo err >&2; sleep .1; printf '\\200'", "\xf0\x9f\x98\x80", true },
    { "printf 'a\\360\\237\\230'", "a\xf0\x9f\x98", false },
    { "printf '\\342\\202'", "\xe2\x82", false },
  };

  for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
    {
      AUTO_RESULT struct process_result result = { 0 };
      BERTH_AUTO_JSON struct berth_json *document = NULL;
      BERTH_AUTO_BUFFER struct berth_buffer bytes = { 0 };
      struct berth_json *text;

      berth (&result, "run", "--json", "sh", "-c", outputs[i].script);
      EXPECT_STATUS (result, 0);
      document = process_json (&result.out);
      text = berth_json_get (document, "stdout");
      CU_ASSERT_EQUAL (berth_json_kind (text) == BERTH_JSON_STRING, outputs[i].whole);
      CU_ASSERT_EQUAL (berth_json_to_bytes (text, &bytes), 0);
      CU_ASSERT_STRING_EQUAL (berth_buffer_string (&bytes), outputs[i].text);
    }
}

/* ---- a machine without user namespaces ---- */

/* Its only difference is what is read of one setting, in a mount namespace of the child's own. */
static int
run_without_namespaces (const char *const *arguments, struct berth_buffer *out)
{
  int ends[2];
  int status = -1;
  pid_t pid;

  CU_ASSERT_EQUAL_FATAL (process_write_file ("zero", "0\n"), 0);
  CU_ASSERT_EQUAL_FATAL (pipe2 (ends, O_CLOEXEC), 0);
  pid = fork ();
  if (pid == 0)
    {
      if (unshare (CLONE_NEWNS) < 0 || mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0
          || mount (process_path ("zero"), "/proc/sys/user/max_user_namespaces", NULL, MS_BIND, NULL) < 0)
        _exit (99);
      dup2 (ends[1], STDOUT_FILENO);
      dup2 (ends[1], STDERR_FILENO);
      execv (arguments[0], (char *const *) arguments);
      _exit (98);
    }
  close (ends[1]);
  berth_fd_read_all (ends[0], out, 65536);
  close (ends[0]);
  waitpid (pid, &status, 0);
  return WIFEXITED (status) ? WEXITSTATUS (status) : -1;
}

static void
test_doctor_without_namespaces (void)
{
  BERTH_AUTO_BUFFER struct berth_buffer out = { 0 };

  CU_ASSERT_EQUAL (run_without_namespaces ((const char *const[]){ process_program (), "doctor", NULL }, &out), 1);
  EXPECT_IN (out, "user.max_user_namespaces is 0");
  EXPECT_IN (out, "sysctl -w user.max_user_namespaces");
}

static const struct berth_test tests[] = {
  { "D-169 nothing is typed into the caller's terminal", test_typing },
  { "D-169 names from a sandbox do nothing to a terminal", test_names_on_a_terminal },
  { "progress is shown on a terminal, and wiped away", test_progress },
  { "D-180 characters at the border of a read", test_characters },
  { "D-180 characters in JSON, whole and cut", test_characters_in_json },
  { "D-171 the doctor knows a machine without user namespaces", test_doctor_without_namespaces },
  { NULL, NULL },
};

int
main (void)
{
  return process_main ("terminal on ns", "ns", tests);
}

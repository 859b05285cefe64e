/* E: what a command gets and how its end is told. */
#include "conformance/suites/commands.h"

#include "conformance/suites/content.h"
#include "conformance/suites/run.h"

static void
e01 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  SUITE_AUTO_RAN struct suite_ran literal = { 0 };
  SUITE_AUTO_RAN struct suite_ran shell = { 0 };

  suite_argv (box, &literal,
              (const char *const[]) { "/usr/bin/printf", "[%s]", "a b", "$HOME", "*", "", "`id`", ";exit 3", "\"'\\", "-n",
                                      "\xff\xfe", "x\ny", NULL });
  SUITE_CHECK_EXIT (suite, &literal, 0, "printf");
  SUITE_CHECK_PRINTED (suite, &literal, "[a b][$HOME][*][][`id`][;exit 3][\"'\\][-n][\xff\xfe][x\ny]", "printf");
  suite_argv (box, &shell, (const char *const[]) { "/bin/sh", "-c", "echo \"$0,$1\"; exit 7", "zero", "one two", NULL });
  SUITE_CHECK_EXIT (suite, &shell, 7, "a shell line");
  SUITE_CHECK_PRINTED (suite, &shell, "zero,one two\n", "a shell line");
}

static void
e02 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };

  suite_run (box, &(struct suite_command) { .arguments = (const char *const[]) { "cat", NULL }, .timeout_ms = 10000 },
             &ran);
  SUITE_CHECK_EXIT (suite, &ran, 0, "cat");
  SUITE_CHECK (suite, ran.out_bytes == 0 && ran.ended_ms < 5000, "cat printed %llu bytes and ended after %lld ms",
               (unsigned long long) ran.out_bytes, (long long) ran.ended_ms);
}

/* ---- E05: exits ---- */

struct ending
{
  const char *script;
  uint32_t reason;
  int32_t code;
  int32_t signal;
};

static void
check_endings (struct suite_context *suite, const struct ending *endings, size_t count)
{
  struct suite_box *box = suite_box_make (suite);

  for (size_t i = 0; i < count; i++)
    {
      SUITE_AUTO_RAN struct suite_ran ran = { 0 };
      const struct ending *want = &endings[i];

      suite_sh (box, &ran, 0, want->script);
      SUITE_CHECK (suite,
                   ran.code == 0 && ran.exits == 1 && ran.exit.reason == want->reason && ran.exit.code == want->code
                       && (want->reason == BERTH_EXITED || ran.exit.signal == want->signal),
                   "%s: %s", want->script, suite_ran_text (&ran));
      if (want->reason == BERTH_EXITED)
        SUITE_CHECK (suite, ran.exit.signal == 0, "%s: exited, with signal %d", want->script, ran.exit.signal);
    }
}

static void
e05 (struct suite_context *suite)
{
  static const struct ending endings[] = {
    { "exit 0", BERTH_EXITED, 0, 0 },     { "exit 1", BERTH_EXITED, 1, 0 },
    { "exit 42", BERTH_EXITED, 42, 0 },   { "exit 126", BERTH_EXITED, 126, 0 },
    { "exit 127", BERTH_EXITED, 127, 0 }, { "exit 255", BERTH_EXITED, 255, 0 },
    { "kill -9 $$", BERTH_SIGNALLED, -1, 9 },
  };

  check_endings (suite, endings, sizeof endings / sizeof *endings);
}

static void
d027 (struct suite_context *suite)
{
  static const struct ending endings[] = {
    { "kill -KILL $$", BERTH_SIGNALLED, -1, 9 },  { "kill -TERM $$", BERTH_SIGNALLED, -1, 15 },
    { "kill -SEGV $$", BERTH_SIGNALLED, -1, 11 }, { "kill -PIPE $$", BERTH_SIGNALLED, -1, 13 },
    { "kill -ABRT $$", BERTH_SIGNALLED, -1, 6 },  { "exit 137", BERTH_EXITED, 137, 0 },
    { "exit 143", BERTH_EXITED, 143, 0 },
  };

  check_endings (suite, endings, sizeof endings / sizeof *endings);
}

static void
prepare_programs (struct suite_box *box)
{
  struct berth_change how = suite_change (BERTH_CHANGE_MODE);

  how.mode = 0644;
  SUITE_CHECK_CODE (box->suite, "plain", suite_write (box, SUITE_WORKSPACE "/plain", "#!/bin/sh\n", 10, &how), 0);
  how.mode = 0;
  SUITE_CHECK_CODE (box->suite, "locked", suite_write (box, SUITE_WORKSPACE "/locked", "#!/bin/sh\n", 10, &how), 0);
  how.mode = 0755;
  SUITE_CHECK_CODE (box->suite, "orphan",
                    suite_write (box, SUITE_WORKSPACE "/orphan", "#!/no/such/interpreter\n", 23, &how), 0);
}

static void
d025 (struct suite_context *suite)
{
  static const struct
  {
    const char *program;
    int32_t code;
  } programs[] = {
    { "/no/such/command", 127 },          { "no-such-command-anywhere", 127 }, { "/etc", 126 },
    { SUITE_WORKSPACE "/plain", 126 },    { SUITE_WORKSPACE "/locked", 126 },  { SUITE_WORKSPACE "/orphan", 127 },
  };
  struct suite_box *box = suite_box_make (suite);
  SUITE_AUTO_RAN struct suite_ran empty = { 0 };

  prepare_programs (box);
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
    {
      SUITE_AUTO_RAN struct suite_ran ran = { 0 };

      suite_argv (box, &ran, (const char *const[]) { programs[i].program, NULL });
      SUITE_CHECK_EXIT (suite, &ran, programs[i].code, programs[i].program);
      SUITE_CHECK (suite, ran.out_bytes == 0, "%s: words of the backend's own on stdout", programs[i].program);
    }
  suite_argv (box, &empty, (const char *const[]) { NULL });
  SUITE_CHECK_CODE (suite, "no arguments", empty.code, BERTH_E_INVALID_REQUEST);
}

/* ---- E06: environment ---- */

static bool
holds_line (const struct suite_ran *ran, const char *line)
{
  size_t size = strlen (line) + 1;
  const char *at = ran->out.size > 0 ? memmem (ran->out.data, ran->out.size, line, size) : NULL;

  return at != NULL && (at == ran->out.data || at[-1] == '\0');
}

static void
e06 (struct suite_context *suite)
{
  static const struct berth_pair environment[] = {
    { "A", "x\ny", 0, 0 },           { "B", "", 0, 0 },    { "C", "a=b=c", 0, 0 },
    { "D", "\"'\\$HOME`id`", 0, 0 }, { "E", "\xff", 0, 0 }, { "F", " spaced ", 0, 0 },
    { "G", "first", 0, 0 },          { "G", "last", 0, 0 }, { "_h2", "secret", BERTH_PAIR_SECRET, 0 },
  };
  static const char *const lines[]
      = { "A=x\ny", "B=", "C=a=b=c", "D=\"'\\$HOME`id`", "E=\xff", "F= spaced ", "G=last", "_h2=secret" };
  struct suite_box *box = suite_box_make (suite);
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };

  suite_run (box,
             &(struct suite_command) { .arguments = (const char *const[]) { "env", "-0", NULL },
                                       .environment = environment,
                                       .environment_count = sizeof environment / sizeof *environment,
                                       .timeout_ms = 20000 },
             &ran);
  SUITE_CHECK_EXIT (suite, &ran, 0, "env");
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    SUITE_CHECK (suite, holds_line (&ran, lines[i]), "the environment has no \"%s\"", lines[i]);
  SUITE_CHECK (suite, !holds_line (&ran, "G=first"), "both values of a name are there");
}

static void
e06_names (struct suite_context *suite)
{
  static const char *const names[] = { "", "A B", "A=B", "=" };
  struct suite_box *box = suite_box_make (suite);

  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    {
      struct berth_pair pair = { .name = names[i], .value = "v" };
      SUITE_AUTO_RAN struct suite_ran ran = { 0 };

      suite_run (box,
                 &(struct suite_command) { .arguments = (const char *const[]) { "true", NULL },
                                           .environment = &pair,
                                           .environment_count = 1 },
                 &ran);
      SUITE_CHECK (suite, ran.code == BERTH_E_INVALID_REQUEST && ran.exits == 0, "the name \"%s\": %s", names[i],
                   suite_ran_text (&ran));
    }
}

/* ---- E07, E08 ---- */

static void
run_in (struct suite_box *box, const char *workdir, const char *user, struct suite_ran *ran)
{
  suite_run (box,
             &(struct suite_command) { .arguments = (const char *const[]) { "/bin/sh", "-c", "pwd; id -u >&2; touch /workspace/ran 2> /dev/null; :", NULL },
                                       .workdir = workdir,
                                       .user = user,
                                       .timeout_ms = 20000 },
             ran);
}

static void
e07 (struct suite_context *suite)
{
  static const char *const bad[] = { "/no/such/folder", SUITE_WORKSPACE "/file", SUITE_WORKSPACE "/dangling",
                                     SUITE_WORKSPACE "/locked", "relative" };
  struct suite_box *box = suite_box_make (suite);
  SUITE_AUTO_RAN struct suite_ran prepare = { 0 };
  SUITE_AUTO_RAN struct suite_ran good = { 0 };
  SUITE_AUTO_RAN struct suite_ran outside = { 0 };

  suite_sh (box, &prepare, 0, "mkdir -p 'a b/c' locked && chmod 0 locked && echo > file && ln -s nothing dangling");
  SUITE_REQUIRE_EXIT (suite, &prepare, 0, "mkdir");
  run_in (box, SUITE_WORKSPACE "/a b/c", NULL, &good);
  SUITE_CHECK_PRINTED (suite, &good, "/workspace/a b/c\n", "a folder");
  run_in (box, "/usr", NULL, &outside);
  SUITE_CHECK_PRINTED (suite, &outside, "/usr\n", "a folder outside the workspace");
  SUITE_CHECK_CODE (suite, "remove", suite_remove (box, SUITE_WORKSPACE "/ran", 0), 0);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    {
      SUITE_AUTO_RAN struct suite_ran ran = { 0 };

      run_in (box, bad[i], NULL, &ran);
      SUITE_CHECK (suite, ran.code == BERTH_E_INVALID_REQUEST && ran.exits == 0, "workdir %s: %s %s", bad[i],
                   suite_code_name (ran.code), suite_ran_text (&ran));
      SUITE_CHECK (suite, strstr (ran.error.message, bad[i]) != NULL, "workdir %s is not in the message: %s", bad[i],
                   ran.error.message);
    }
  SUITE_CHECK_CODE (suite, "a bad workdir ran the command", suite_remove (box, SUITE_WORKSPACE "/ran", 0),
                    BERTH_E_PATH_NOT_FOUND);
}

static void
check_user (struct suite_box *box, const char *user, const char *uid)
{
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };

  run_in (box, NULL, user, &ran);
  SUITE_CHECK_EXIT (box->suite, &ran, 0, user != NULL ? user : "the default");
  SUITE_CHECK (box->suite, strcmp (berth_buffer_string (&ran.err), uid) == 0, "user %s has the uid %s",
               user != NULL ? user : "of the default", berth_buffer_string (&ran.err));
}

/* An account of the image by its name, which is not the sandbox user's. */
static void
check_account (struct suite_box *box, const char *account)
{
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };

  run_in (box, NULL, account, &ran);
  SUITE_CHECK_EXIT (box->suite, &ran, 0, account);
  SUITE_CHECK (box->suite, strcmp (berth_buffer_string (&ran.err), "1000\n") != 0, "%s is taken for the sandbox user", account);
}

/* Where there is one account the others are refused, and not taken for it. */
static void
check_no_other_user (struct suite_box *box, const char *user)
{
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };

  run_in (box, NULL, user, &ran);
  SUITE_CHECK (box->suite, ran.exits == 0, "user %s ran: %s", user, suite_ran_text (&ran));
  SUITE_CHECK_CODE (box->suite, user, ran.code, BERTH_E_CAPABILITY_NOT_SUPPORTED);
}

static void
e08 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  SUITE_AUTO_RAN struct suite_ran unknown = { 0 };

  check_user (box, NULL, "1000\n");
  check_user (box, "sandbox", "1000\n");
  check_user (box, "1000", "1000\n");
  run_in (box, NULL, "nobody-has-this-name", &unknown);
  SUITE_CHECK (suite, unknown.code != 0 && unknown.exits == 0, "an unknown user: %s", suite_ran_text (&unknown));
  SUITE_CHECK_CODE (suite, "an unknown user", unknown.code, BERTH_E_INVALID_REQUEST, BERTH_E_PATH_REJECTED);
  if ((box->effective.posture & BERTH_POSTURE_SEPARATE_USERS) != 0)
    {
      check_user (box, "root", "0\n");
      check_user (box, "0", "0\n");
      if (suite->account != NULL)
        check_account (box, suite->account);
    }
  else
    {
      check_no_other_user (box, "root");
      check_no_other_user (box, "65534");
    }
}

static void
e08_forbidden (struct suite_context *suite)
{
  static const char *const users[] = { "root", "0" };
  struct suite_box *box = suite_box_new (suite);
  struct suite_plan plan;

  suite_plan_init (&plan, box);
  plan.spec.asks |= BERTH_SPEC_FORBID_ROOT;
  plan.spec.must |= BERTH_SPEC_FORBID_ROOT;
  if (suite_box_create (box, &plan.spec) != 0)
    {
      SUITE_CHECK_CODE (suite, "a sandbox without root", box->error.code, BERTH_E_CAPABILITY_NOT_SUPPORTED,
                        BERTH_E_CONFIGURATION);
      return;
    }
  check_user (box, NULL, "1000\n");
  for (size_t i = 0; i < 2; i++)
    {
      SUITE_AUTO_RAN struct suite_ran ran = { 0 };

      run_in (box, NULL, users[i], &ran);
      SUITE_CHECK (suite, ran.exits == 0, "user %s ran: %s", users[i], suite_ran_text (&ran));
      SUITE_CHECK_CODE (suite, users[i], ran.code, BERTH_E_POLICY_DENIED);
    }
}

static const struct suite_clause clauses[] = {
  { .id = "E01", .title = "argv is executed as it is", .flags = SUITE_PROGRAM, .run = e01 },
  { .id = "E02", .title = "standard input is empty", .flags = SUITE_PROGRAM, .run = e02 },
  { .id = "E03", .title = "both streams are distinct, byte-exact and in order", .flags = SUITE_PROGRAM, .run = suite_e03 },
  { .id = "E04", .title = "one exit, after the last byte, also for a slow reader", .flags = SUITE_PROGRAM, .run = suite_e04 },
  { .id = "E04-many", .title = "one exit each, after its output, for 10 000 short commands (D-001)", .flags = SUITE_PROGRAM | SUITE_SLOW, .seconds = 240, .run = suite_e04_many },
  { .id = "E05", .title = "exit status", .flags = SUITE_PROGRAM, .run = e05 },
  { .id = "D-025", .title = "what cannot be executed is 127 or 126", .flags = SUITE_PROGRAM, .run = d025 },
  { .id = "D-027", .title = "death by a signal is told as one", .flags = SUITE_PROGRAM, .run = d027 },
  { .id = "E06", .title = "the environment is exact (D-028)", .flags = SUITE_PROGRAM, .run = e06 },
  { .id = "E06-names", .title = "impossible names of variables are refused (D-028)", .flags = SUITE_PROGRAM, .run = e06_names },
  { .id = "E07", .title = "workdir is honoured, or an error before the start (D-026)", .flags = SUITE_PROGRAM, .run = e07 },
  { .id = "E08", .title = "the sandbox user by default, others by name", .flags = SUITE_PROGRAM, .run = e08 },
  { .id = "E08-root", .title = "root where the specification forbids it is refused", .flags = SUITE_PROGRAM, .run = e08_forbidden },
  { .id = "E09", .title = "a timeout kills the whole tree and is told, with what was printed (D-038)", .flags = SUITE_PROGRAM | SUITE_ALONE, .seconds = 90, .run = suite_e09 },
  { .id = "D-033", .title = "nothing goes on after the result of a timeout", .flags = SUITE_PROGRAM | SUITE_ALONE, .seconds = 90, .run = suite_d033 },
  { .id = "D-034", .title = "children that left the session and the group die too", .flags = SUITE_PROGRAM | SUITE_SLOW | SUITE_ALONE, .seconds = 120, .run = suite_d034 },
  { .id = "E10", .title = "a child that keeps the pipe neither delays nor dies", .flags = SUITE_PROGRAM | SUITE_SLOW | SUITE_ALONE, .seconds = 90, .run = suite_e10 },
  { .id = "E11", .title = "64 MiB of output in bounded memory, 1 GiB in a long run", .flags = SUITE_PROGRAM, .seconds = 120, .run = suite_e11 },
  { .id = "E12", .title = "much output on either stream or both does not deadlock (D-006)", .flags = SUITE_PROGRAM, .run = suite_e12 },
  { .id = "E13", .title = "arguments of the longest legal size", .flags = SUITE_PROGRAM, .run = suite_e13 },
  { .id = "D-181", .title = "what is too long is named", .flags = SUITE_PROGRAM, .run = suite_d181 },
  { .id = "E14", .title = "50 commands at once are independent", .flags = SUITE_PROGRAM | SUITE_SLOW, .seconds = 60, .run = suite_e14 },
  { .id = "E15", .title = "cancellation ends the tree within a second", .flags = SUITE_PROGRAM | SUITE_SLOW | SUITE_ALONE, .seconds = 60, .run = suite_e15 },
  { .id = "E15-gone", .title = "a client that vanished ends the tree (D-040, D-042)", .flags = SUITE_PROGRAM | SUITE_SLOW | SUITE_ALONE, .seconds = 60, .run = suite_e15_gone },
  { .id = "E16", .title = "1000 commands leave no process, zombie, cgroup, mount, file or descriptor", .flags = SUITE_PROGRAM | SUITE_SLOW, .seconds = 240, .run = suite_e16 },
  { .id = "E17", .title = "a fork bomb leaves the sandbox usable", .flags = SUITE_PROGRAM | SUITE_SLOW | SUITE_ALONE, .seconds = 120, .run = suite_e17 },
  { .id = "E18", .title = "no privileges, no host devices, /proc masked", .flags = SUITE_PROGRAM | SUITE_SLOW, .run = suite_e18 },
  { .id = "E18-calls", .title = "each dangerous system call fails by every entry", .flags = SUITE_PROGRAM | SUITE_SLOW, .run = suite_e18_calls },
  { .id = "E19", .title = "namespaces of its own, no host process in sight", .flags = SUITE_PROGRAM, .run = suite_e19 },
  { .id = "E20", .title = "output arrives while the command runs", .flags = SUITE_PROGRAM | SUITE_SLOW | SUITE_ALONE, .seconds = 60, .run = suite_e20 },
  { .id = "D-002", .title = "the last of much output reaches a slow reader", .flags = SUITE_PROGRAM | SUITE_SLOW, .seconds = 60, .run = suite_d002 },
  { .id = "D-004", .title = "whoever keeps the output does not delay the result", .flags = SUITE_PROGRAM | SUITE_SLOW | SUITE_ALONE, .run = suite_d004 },
  { .id = "D-005", .title = "what is left behind can go on printing", .flags = SUITE_PROGRAM | SUITE_SLOW | SUITE_ALONE, .run = suite_d005 },
  { .id = "D-035", .title = "the command's time and the call's are two", .flags = SUITE_PROGRAM | SUITE_SLOW | SUITE_ALONE, .seconds = 120, .run = suite_d035 },
  { .id = "D-043", .title = "commands that start while the sandbox ends leave nothing", .flags = SUITE_PROGRAM | SUITE_SLOW, .seconds = 600, .run = suite_d043 },
  { .id = "D-047", .title = "no zombie stays", .flags = SUITE_PROGRAM | SUITE_SLOW, .seconds = 90, .run = suite_d047 },
  { .id = "D-048", .title = "each exit goes to the one who waits for it", .flags = SUITE_PROGRAM | SUITE_SLOW, .run = suite_d048 },
  { .id = NULL },
};

static const struct suite_role roles[] = { { "command", suite_role_command }, { NULL, NULL } };

const struct suite suite_commands = { "commands", clauses, roles };

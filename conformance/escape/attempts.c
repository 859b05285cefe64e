/* The prober's lists: refused inside, to the sandbox's user and to its root; let through outside. */
#include <string.h>

#include "conformance/escape/escape.h"
#include "conformance/suites/tool.h"
#include "sdk/base/string.h"

/* Some calls and files are not on every machine: without a control their refusal proves nothing. */
static bool
is_denied (const char *result, bool named)
{
  static const char *const always[] = { "EPERM",       "EACCES", "ENOSYS", "EROFS", "EAFNOSUPPORT", "EPROTONOSUPPORT", "ESOCKTNOSUPPORT",
                                        "EOPNOTSUPP", "ENXIO",  "ENODEV", "SIGSYS" };
  static const char *const of_names[] = { "ENOENT", "ENOTDIR", "ENODATA", "ESRCH" };

  for (size_t i = 0; i < sizeof always / sizeof *always; i++)
    if (strcmp (result, always[i]) == 0)
      return true;
  for (size_t i = 0; named && i < sizeof of_names / sizeof *of_names; i++)
    if (strcmp (result, of_names[i]) == 0)
      return true;
  return false;
}

/* As the sandbox's user, who is root of a user namespace of its own. */
#define ESCAPE_APART "root of its own"

/* Kernels may be built without these, and the root of a machine that is itself kept in may be without the right
 * to them; nothing can take their place.  Every other attempt has a control. */
static bool
may_lack_control (const char *name)
{
  static const char *const names[] = { "socket-vsock", "socket-alg", "socket-key", "socket-xdp", "socket-bluetooth", "socket-audit",
                                       "socket-netfilter", "socket-uevent", "io_uring_setup", "prctl-mm", "limit-nice" };

  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp (name, names[i]) == 0)
      return true;
  return false;
}

/* Whether it gets through OUTSIDE, or is refused there for another reason than inside: then it is the sandbox
 * that refuses, whatever the machine lacks. */
static bool
has_control (const char *outside, const char *inside, bool named)
{
  if (outside[0] == '\0' || strcmp (outside, "unknown") == 0)
    return false;
  return !is_denied (outside, named) || (!named && strcmp (outside, inside) != 0);
}

/* What somebody has a right to who has a user namespace of his own: it is about that, or about himself. */
static bool
is_own (const char *name)
{
  static const char *const names[] = { "unshare-user", "unshare-mount", "unshare-pid", "unshare-cgroup-high", "clone-user",
                                       "clone-mount-high", "capset", "prctl-securebits", "prctl-bounding" };

  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp (name, names[i]) == 0)
      return true;
  return false;
}

/* Each line of INSIDE against the control's; only root has all of the controls.  How many there are. */
static unsigned int
judge (struct suite_context *suite, const char *user, const char *inside, const char *outside, bool named)
{
  bool apart = strcmp (user, ESCAPE_APART) == 0;
  BERTH_AUTO_FREE char *copy = strdup (inside);
  BERTH_AUTO_BUFFER struct berth_buffer lacking = { 0 };
  unsigned int tried = 0;
  char *next = copy;

  for (char *line; next != NULL && (line = strsep (&next, "\n")) != NULL;)
    {
      char *result = strrchr (line, ' ');
      char control[32];

      if (result == NULL)
        continue;
      *result++ = '\0';
      if (apart && is_own (line))
        continue;
      suite_tool_result (outside, line, control, sizeof control);
      tried++;
      SUITE_CHECK (suite, is_denied (result, named), "%s as %s: %s (outside: %s)", line, user, result, control);
      if (geteuid () != 0 || has_control (control, result, named))
        continue;
      SUITE_CHECK (suite, may_lack_control (line), "%s as %s: %s, as outside: no control", line, user, control);
      berth_buffer_appendf (&lacking, " %s", line);
    }
  if (lacking.size > 0)
    suite_warn (suite, "as %s, no control on this machine:%s", user, berth_buffer_string (&lacking));
  return tried;
}

static void
try_list (struct suite_box *box, const char *user, const char *list, const char *target, const char *outside, bool named)
{
  struct suite_context *suite = box->suite;
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  bool apart = strcmp (user, ESCAPE_APART) == 0;

  suite_run (box,
             &(struct suite_command) { .arguments = apart ? (const char *const[]) { ESCAPE_INSIDE, "own", list, target, NULL }
                                                          : (const char *const[]) { ESCAPE_INSIDE, list, target, NULL },
                                       .user = apart ? "sandbox" : user,
                                       .timeout_ms = 60000 },
             &ran);
  SUITE_CHECK_EXIT (suite, &ran, 0, list);
  SUITE_CHECK (suite, judge (suite, user, berth_buffer_string (&ran.out), outside, named) > 0, "%s: nothing was tried", list);
}

static void
try_both (struct suite_context *suite, const char *list, const char *target, bool named)
{
  struct suite_box *box = escape_box (suite);
  BERTH_AUTO_FREE char *outside = suite_program_outside (suite, ESCAPE_PROBER, (const char *const[]) { "outside", list, NULL });

  suite_program_install (box, ESCAPE_PROBER, ESCAPE_INSIDE);
  try_list (box, "sandbox", list, target, outside, named);
  if (escape_has_root (box))
    try_list (box, "root", list, target, outside, named);
}

void
escape_calls (struct suite_context *suite)
{
  try_both (suite, "calls", NULL, false);
}

void
escape_paths (struct suite_context *suite)
{
  try_both (suite, "paths", NULL, true);
}

/* What of a list is refused at process 1, and at whoever started the prober, to whom. */
static const struct at_process
{
  const char *list;
  bool first_by_root; /* at process 1 to the sandbox's root, as to everybody */
  bool other_by_root;
  bool first_by_one; /* at process 1, where there is one account, which is the agent's too */
  bool other_by_one;
} at_processes[] = {
  { "processes", true, true, true, true },
  /* Process 1 takes no signal that it has not asked for; who serves a command of its own account does. */
  { "signals", true, true, false, false },
  { "limits", true, true, true, false },
  { "settings", true, false, true, true },
  { "listings", false, false, true, true },
};

void
escape_processes (struct suite_context *suite)
{
  struct suite_box *box = escape_box (suite);
  bool has_root = escape_has_root (box);

  suite_program_install (box, ESCAPE_PROBER, ESCAPE_INSIDE);
  for (size_t i = 0; i < sizeof at_processes / sizeof *at_processes; i++)
    {
      const struct at_process *at = &at_processes[i];
      BERTH_AUTO_FREE char *outside = suite_program_outside (suite, ESCAPE_PROBER, (const char *const[]) { "outside", at->list, NULL });

      if (has_root || at->first_by_one)
        try_list (box, "sandbox", at->list, "1", outside, true);
      if (has_root || at->other_by_one)
        try_list (box, "sandbox", at->list, NULL, outside, true);
      if (has_root && at->first_by_root)
        try_list (box, "root", at->list, "1", outside, true);
      if (has_root && at->other_by_root)
        try_list (box, "root", at->list, NULL, outside, true);
    }
}

static const char own_identity[] = "unshare -Ur id -u";

/* A sandbox whose workload may make user namespaces, or the end of the clause. */
static struct suite_box *
open_box (struct suite_context *suite)
{
  struct suite_box *box = suite_box_new (suite);
  struct suite_plan plan;
  uint32_t code;

  suite_plan_init (&plan, box);
  plan.spec.asks |= BERTH_SPEC_USER_NAMESPACES;
  plan.spec.must |= BERTH_SPEC_USER_NAMESPACES;
  code = suite_box_validate (box, &plan.spec, NULL);
  if (code == BERTH_E_CAPABILITY_NOT_SUPPORTED || code == BERTH_E_CONFIGURATION)
    suite_not_applicable (suite, "%s", box->error.message);
  SUITE_REQUIRE (suite, suite_box_create (box, &plan.spec) == 0, "create: %s", box->error.message);
  SUITE_CHECK (suite, (box->effective.enforced & BERTH_SPEC_USER_NAMESPACES) != 0, "it is not told that user namespaces are allowed");
  SUITE_CHECK (suite, (box->effective.posture & BERTH_POSTURE_NO_CAPABILITIES) == 0,
               "nobody is said to have capabilities, and anybody can");
  return box;
}

void
escape_own_namespace (struct suite_context *suite)
{
  struct suite_box *closed = escape_box (suite);
  struct suite_box *box = open_box (suite);
  SUITE_AUTO_RAN struct suite_ran refused = { 0 };
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };

  SUITE_CHECK (suite, (closed->effective.enforced & BERTH_SPEC_USER_NAMESPACES) == 0, "nobody asked for user namespaces");
  suite_sh (closed, &refused, 0, own_identity);
  SUITE_CHECK_PRINTED (suite, &refused, "", "a user namespace that nobody allowed");
  suite_sh (box, &ran, 0, own_identity);
  SUITE_CHECK_PRINTED (suite, &ran, "0\n", own_identity);
  suite_program_install (box, ESCAPE_PROBER, ESCAPE_INSIDE);
  for (size_t i = 0; i < 2; i++)
    {
      const char *list = i == 0 ? "calls" : "paths";
      BERTH_AUTO_FREE char *outside = suite_program_outside (suite, ESCAPE_PROBER, (const char *const[]) { "outside", list, NULL });

      try_list (box, ESCAPE_APART, list, NULL, outside, i == 1);
    }
  for (size_t i = 0; i < sizeof at_processes / sizeof *at_processes; i++)
    {
      const struct at_process *at = &at_processes[i];
      BERTH_AUTO_FREE char *outside = suite_program_outside (suite, ESCAPE_PROBER, (const char *const[]) { "outside", at->list, NULL });

      if (at->first_by_one)
        try_list (box, ESCAPE_APART, at->list, "1", outside, true);
    }
}

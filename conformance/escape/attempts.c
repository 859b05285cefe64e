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

struct tally
{
  unsigned int tried;
  unsigned int shown; /* with a control that got through */
};

/* Each line of INSIDE against the control's. */
static struct tally
judge (struct suite_context *suite, const char *user, const char *inside, const char *outside, bool named)
{
  BERTH_AUTO_FREE char *copy = strdup (inside);
  struct tally tally = { 0, 0 };
  char *next = copy;

  for (char *line; next != NULL && (line = strsep (&next, "\n")) != NULL;)
    {
      char *result = strrchr (line, ' ');
      char control[32];

      if (result == NULL)
        continue;
      *result++ = '\0';
      suite_tool_result (outside, line, control, sizeof control);
      tally.tried++;
      tally.shown += control[0] != '\0' && strcmp (control, "unknown") != 0 && !is_denied (control, named);
      SUITE_CHECK (suite, is_denied (result, named), "%s as %s: %s (outside: %s)", line, user, result, control);
    }
  return tally;
}

static void
try_list (struct suite_box *box, const char *user, const char *list, const char *target, const char *outside, bool named)
{
  struct suite_context *suite = box->suite;
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  struct tally tally;

  suite_run (box,
             &(struct suite_command) { .arguments = (const char *const[]) { ESCAPE_INSIDE, list, target, NULL },
                                       .user = user,
                                       .timeout_ms = 60000 },
             &ran);
  SUITE_CHECK_EXIT (suite, &ran, 0, list);
  tally = judge (suite, user, berth_buffer_string (&ran.out), outside, named);
  SUITE_CHECK (suite, geteuid () != 0 || tally.shown * 5 >= tally.tried * 3,
               "%s: only %u of %u attempts get through outside", list, tally.shown, tally.tried);
  SUITE_CHECK (suite, tally.tried > 0, "%s: nothing was tried", list);
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

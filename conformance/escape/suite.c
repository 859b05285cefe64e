/* What tries to get out, each with a control that shows it works where nothing forbids it. */
#include "conformance/escape/escape.h"

#include "conformance/suites/run.h"

struct suite_box *
escape_box (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);

  if (box->effective.tier < BERTH_TIER_CONTAINER)
    suite_not_applicable (suite, "it claims no isolation");
  return box;
}

bool
escape_has_root (struct suite_box *box)
{
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };

  suite_run (box, &(struct suite_command) { .arguments = (const char *const[]) { "/bin/true", NULL }, .user = "root" }, &ran);
  return suite_ran_exited (&ran, 0);
}

static const struct suite_clause clauses[] = {
  { "X01", "D-169 calls that need privileges, make namespaces or put words into a terminal's mouth are refused", 0, SUITE_PROGRAM,
    90, escape_calls },
  { "X02", "the machine's files, devices and settings are not there", 0, SUITE_PROGRAM, 90, escape_paths },
  { "X03", "the agent and the processes around a command are out of reach", 0, SUITE_PROGRAM, 90, escape_processes },
  { "X04", "a root inside that kills everything harms nobody else", 0, SUITE_PROGRAM, 90, escape_massacre },
  { "X05", "set-user-id files of the workspace are inert", 0, SUITE_PROGRAM, 60, escape_setuid },
  { "X06", "no call of the host's leaves a descriptor", 0, SUITE_PROGRAM, 90, escape_host_descriptors },
  { "X07", "E18 user namespaces are refused unless asked for, and then gain nothing outside of them", 0, SUITE_PROGRAM, 60,
    escape_own_namespace },
  { "D-053", "names that become links while an operation looks lead nowhere", 0, SUITE_PROGRAM | SUITE_SLOW, 600, escape_races },
  { "D-102", "no output is kept on the host", 0, SUITE_PROGRAM, 60, escape_logs },
  { "D-143", "sockets of the host's, named or abstract, do not answer", 0, SUITE_PROGRAM, 60, escape_sockets },
  { "D-166", "the host's program is not reached by /proc/PID/exe", 0, SUITE_PROGRAM | SUITE_SLOW, 600, escape_program },
  { "D-167", "no descriptor comes along, and none is a way out", 0, SUITE_PROGRAM, 60, escape_descriptors },
  { "D-170", "ordinary tools work unchanged", 0, SUITE_PROGRAM | SUITE_SLOW, 900, escape_tools },
  { NULL, NULL, 0, 0, 0, NULL },
};

const struct suite suite_escape = { "escape", clauses, NULL };

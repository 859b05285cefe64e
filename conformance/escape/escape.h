/* escape.h - clauses of what tries to get out, by file. */
#ifndef CONFORMANCE_ESCAPE_ESCAPE_H
#define CONFORMANCE_ESCAPE_ESCAPE_H

#include "conformance/suites/suite.h"

#define ESCAPE_PROBER "escape/prober"
#define ESCAPE_INSIDE "/workspace/prober"

/* Ends the clause where the sandbox is not said to keep anybody in. */
struct suite_box *escape_box (struct suite_context *suite);
/* Where a sandbox has one account only, nobody inside is uid 0. */
bool escape_has_root (struct suite_box *box);

/* attempts.c: the prober's lists, inside and outside. */
void escape_calls (struct suite_context *suite);
void escape_paths (struct suite_context *suite);
void escape_processes (struct suite_context *suite);
void escape_own_namespace (struct suite_context *suite);

/* around.c: what takes more than one step. */
void escape_sockets (struct suite_context *suite);
void escape_setuid (struct suite_context *suite);
void escape_program (struct suite_context *suite);
void escape_massacre (struct suite_context *suite);

/* leaks.c: descriptors. */
void escape_descriptors (struct suite_context *suite);
void escape_host_descriptors (struct suite_context *suite);
void escape_logs (struct suite_context *suite);

/* tools.c: what must go on working. */
void escape_tools (struct suite_context *suite);

/* races.c: names that change while an operation looks. */
void escape_races (struct suite_context *suite);

#endif

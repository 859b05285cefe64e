/* commands.h - clauses about commands, by file. */
#ifndef CONFORMANCE_SUITES_COMMANDS_H
#define CONFORMANCE_SUITES_COMMANDS_H

#include "conformance/suites/suite.h"

/* streams.c: output and exit under load. */
void suite_d002 (struct suite_context *suite);
void suite_e03 (struct suite_context *suite);
void suite_e04 (struct suite_context *suite);
void suite_e04_many (struct suite_context *suite);
void suite_e11 (struct suite_context *suite);
void suite_e12 (struct suite_context *suite);
void suite_e13 (struct suite_context *suite);
void suite_d181 (struct suite_context *suite);
void suite_e14 (struct suite_context *suite);
void suite_e16 (struct suite_context *suite);
void suite_e20 (struct suite_context *suite);

/* tree.c: ending a command with everything it started. */
void suite_e09 (struct suite_context *suite);
void suite_d033 (struct suite_context *suite);
void suite_d034 (struct suite_context *suite);
void suite_e10 (struct suite_context *suite);
void suite_e15 (struct suite_context *suite);
void suite_e15_gone (struct suite_context *suite);
void suite_e17 (struct suite_context *suite);
void suite_role_command (struct suite_context *suite, int count, char **arguments);

/* endings.c: what goes on beside a command, and after it. */
void suite_d004 (struct suite_context *suite);
void suite_d005 (struct suite_context *suite);
void suite_d035 (struct suite_context *suite);
void suite_d043 (struct suite_context *suite);
void suite_d047 (struct suite_context *suite);
void suite_d048 (struct suite_context *suite);

/* confinement.c: what a command is and sees. */
void suite_e18 (struct suite_context *suite);
void suite_e18_calls (struct suite_context *suite);
void suite_e19 (struct suite_context *suite);

#endif

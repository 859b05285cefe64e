/* tool.h - the probe program, inside and outside. */
#ifndef CONFORMANCE_SUITES_TOOL_H
#define CONFORMANCE_SUITES_TOOL_H

#include "conformance/suites/run.h"

#define SUITE_TOOL "/workspace/probe"

/* Puts it at SUITE_TOOL, or ends the clause. */
void suite_tool_install (struct suite_box *box);
/* The same program on this machine, for the control: its output, which the caller frees. */
char *suite_tool_outside (struct suite_context *suite, const char *const *arguments);

/* The result of NAME in lines of "NAME RESULT"; "" when it is not there. */
void suite_tool_result (const char *lines, const char *name, char *result, size_t size);

/* The same for another static program of the build tree: "escape/prober". */
char *suite_program_path (struct suite_context *suite, const char *program);
void suite_program_install (struct suite_box *box, const char *program, const char *at);
char *suite_program_outside (struct suite_context *suite, const char *program, const char *const *arguments);

#endif

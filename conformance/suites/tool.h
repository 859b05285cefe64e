/* tool.h - the probe program, inside and outside. */
#ifndef CONFORMANCE_SUITES_TOOL_H
#define CONFORMANCE_SUITES_TOOL_H

#include "conformance/suites/run.h"

#define SUITE_TOOL "/workspace/probe"

/* Puts it at SUITE_TOOL, or ends the clause. */
void suite_tool_install (struct suite_box *box);
/* The same program on this machine, for the control: its output, which the caller frees. */
char *suite_tool_outside (struct suite_context *suite, const char *const *arguments);

#endif

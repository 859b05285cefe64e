/* workspace.h - clauses of the workspace that stand in files of their own. */
#ifndef CONFORMANCE_SUITES_WORKSPACE_H
#define CONFORMANCE_SUITES_WORKSPACE_H

#include "conformance/suites/suite.h"

/* hostile.c */
void suite_w04 (struct suite_context *suite);
/* Its archives as files 1.tar, 2.tar, … of an existing directory.  False with errno. */
bool suite_w04_write (const char *directory);

/* archives.c */
void suite_d070 (struct suite_context *suite);
void suite_d071 (struct suite_context *suite);
void suite_d075 (struct suite_context *suite);
void suite_d076 (struct suite_context *suite);
void suite_d077 (struct suite_context *suite);
void suite_d078 (struct suite_context *suite);
void suite_d079 (struct suite_context *suite);
void suite_d080 (struct suite_context *suite);
void suite_d081 (struct suite_context *suite);
void suite_d083 (struct suite_context *suite);

#endif

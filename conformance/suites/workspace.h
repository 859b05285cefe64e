/* workspace.h - clauses of the workspace that stand in files of their own. */
#ifndef CONFORMANCE_SUITES_WORKSPACE_H
#define CONFORMANCE_SUITES_WORKSPACE_H

#include "conformance/suites/suite.h"

void suite_w04 (struct suite_context *suite);

#endif
